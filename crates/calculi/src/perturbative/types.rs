//! Figure 1: types of terms, found by unification, since the paper's `λ` carries none.
//!
//! `T σ = σ × σ` is an abbreviation of types. A sum needs the same type of all summands, and `0` has every type. Types that
//! nothing decides are atomic ones, `α`, `β`, …. A shared node has one type, so that graphs are checked in linear time.

use super::errors;
use super::syntax::{Half, Kind, Node, Shape, Term, Var, deep};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};

/// A type as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The type of numbers, an atomic type with constants.
    Real,
    /// Another atomic type.
    Atom(Rc<str>),
    /// `σ × τ`
    Prod(Rc<Written>, Rc<Written>),
    /// `σ → τ`
    Fun(Rc<Written>, Rc<Written>),
}

/// A type under unification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type(usize);

#[derive(Clone, Debug)]
enum Shown {
    Unknown,
    Is(Type),
    Real,
    Atom(Rc<str>),
    Prod(Type, Type),
    Fun(Type, Type),
}

/// The types of a term and its variables.
#[derive(Debug, Default)]
pub struct Types {
    all: Vec<Shown>,
    vars: FxHashMap<u32, Type>,
    nodes: FxHashMap<*const Node, Type>,
    annotations: FxHashMap<u32, Written>,
}

type Checked<T> = Result<T, Diagnostic>;

/// How many characters of a type are shown.
const LONGEST: usize = 400;

impl Types {
    /// With types written at binders, by the numbers of the variables.
    pub fn new(annotations: FxHashMap<u32, Written>) -> Types {
        Types { annotations, ..Types::default() }
    }

    fn add(&mut self, shown: Shown) -> Type {
        self.all.push(shown);
        Type(self.all.len() - 1)
    }

    /// A type that is not known yet.
    pub fn unknown(&mut self) -> Type {
        self.add(Shown::Unknown)
    }

    fn fun(&mut self, from: Type, to: Type) -> Type {
        self.add(Shown::Fun(from, to))
    }

    fn prod(&mut self, a: Type, b: Type) -> Type {
        self.add(Shown::Prod(a, b))
    }

    /// The function `T` on types.
    fn tangent(&mut self, of: Type) -> Type {
        self.prod(of, of)
    }

    /// A written type.
    pub fn written(&mut self, written: &Written) -> Type {
        deep(|| match written {
            Written::Real => self.add(Shown::Real),
            Written::Atom(name) => self.add(Shown::Atom(name.clone())),
            Written::Prod(a, b) => {
                let (a, b) = (self.written(a), self.written(b));
                self.prod(a, b)
            }
            Written::Fun(a, b) => {
                let (a, b) = (self.written(a), self.written(b));
                self.fun(a, b)
            }
        })
    }

    /// Gives a free variable its type.
    pub fn declare(&mut self, x: &Var, ty: Type) {
        self.vars.insert(x.id, ty);
    }

    fn find(&mut self, ty: Type) -> (Type, Shown) {
        let mut at = ty;
        loop {
            match self.all.get(at.0) {
                Some(Shown::Is(next)) => at = *next,
                Some(shown) => {
                    let shown = shown.clone();
                    if let (true, Some(entry)) = (at != ty, self.all.get_mut(ty.0)) {
                        *entry = Shown::Is(at);
                    }
                    return (at, shown);
                }
                None => return (at, Shown::Unknown),
            }
        }
    }

    fn link(&mut self, from: Type, to: Type) {
        if let (true, Some(entry)) = (from != to, self.all.get_mut(from.0)) {
            *entry = Shown::Is(to);
        }
    }

    /// Makes two types equal; `None` if they are not.
    pub(super) fn unify(&mut self, a: Type, b: Type) -> Option<()> {
        let ((a, shown_a), (b, shown_b)) = (self.find(a), self.find(b));
        if a == b {
            return Some(());
        }
        match (shown_a, shown_b) {
            (Shown::Unknown, _) => self.link(a, b),
            (_, Shown::Unknown) => self.link(b, a),
            (Shown::Real, Shown::Real) => {}
            (Shown::Atom(x), Shown::Atom(y)) if x == y => {}
            (Shown::Prod(a1, a2), Shown::Prod(b1, b2)) | (Shown::Fun(a1, a2), Shown::Fun(b1, b2)) => {
                self.link(a, b);
                let unified = deep(|| self.unify(a1, b1).and_then(|()| self.unify(a2, b2)));
                if unified.is_none() {
                    // The message shows what it was.
                    let (_, shown) = self.find(b);
                    if let Some(entry) = self.all.get_mut(a.0) {
                        *entry = match shown {
                            Shown::Prod(..) => Shown::Prod(a1, a2),
                            Shown::Unknown | Shown::Is(_) | Shown::Real | Shown::Atom(_) | Shown::Fun(..) => {
                                Shown::Fun(a1, a2)
                            }
                        };
                    }
                    return None;
                }
            }
            (Shown::Is(_) | Shown::Real | Shown::Atom(_) | Shown::Prod(..) | Shown::Fun(..), _) => {
                return None;
            }
        }
        Some(())
    }

    fn same(&mut self, found: Type, expected: Type, span: Span, why: &str) -> Checked<()> {
        match self.unify(found, expected) {
            Some(()) => Ok(()),
            None => {
                let (expected, found) = (self.show(expected), self.show(found));
                Err(errors::mismatch(span, &expected, &found, why))
            }
        }
    }

    /// The type of a term. Types must be finite, see [`Types::finite`].
    pub fn infer(&mut self, term: &Term) -> Checked<Type> {
        if let Some(known) = self.nodes.get(&Rc::as_ptr(term)) {
            return Ok(*known);
        }
        let ty = deep(|| self.node(term))?;
        self.nodes.insert(Rc::as_ptr(term), ty);
        Ok(ty)
    }

    fn node(&mut self, term: &Term) -> Checked<Type> {
        Ok(match term.kind() {
            Kind::Var(x) => match self.vars.get(&x.id) {
                Some(ty) => *ty,
                None => return Err(errors::unbound(term.span, &x.name)),
            },
            Kind::Num(_) => self.add(Shown::Real),
            Kind::Const(c) => {
                let real = self.add(Shown::Real);
                let pair = self.prod(real, real);
                let from = match c.shape() {
                    Shape::Real => real,
                    Shape::Pair => pair,
                    Shape::Pairs => self.prod(pair, pair),
                };
                self.fun(from, real)
            }
            Kind::Lam(x, s) => {
                // Copies of an abstraction share its variable, and have the same type.
                let known = self.vars.get(&x.id).copied();
                let written = self.annotations.get(&x.id).cloned();
                let from = match (known, written) {
                    (Some(known), _) => known,
                    (None, Some(written)) => self.written(&written),
                    (None, None) => self.unknown(),
                };
                self.vars.insert(x.id, from);
                let to = self.infer(&s)?;
                self.fun(from, to)
            }
            Kind::App(s, n) => self.application(&s, &n)?,
            Kind::Push(s) => self.pushforward(&s)?,
            Kind::Inj(k, s) => {
                let (this, other) = (self.infer(&s)?, self.unknown());
                match k {
                    Half::First => self.prod(this, other),
                    Half::Second => self.prod(other, this),
                }
            }
            Kind::Proj(k, s) => {
                let product = self.infer(&s)?;
                let (a, b) = (self.unknown(), self.unknown());
                let wanted = self.prod(a, b);
                self.same(product, wanted, s.span, "what a projection takes")?;
                match k {
                    Half::First => a,
                    Half::Second => b,
                }
            }
            Kind::Sum(parts) => {
                let ty = self.unknown();
                for part in parts.iter() {
                    let found = self.infer(part)?;
                    self.same(found, ty, part.span, "the sum of which it is a part")?;
                }
                ty
            }
            Kind::Same(s) => self.infer(&s)?,
        })
    }

    fn application(&mut self, s: &Term, n: &Term) -> Checked<Type> {
        let function = self.infer(s)?;
        let argument = self.infer(n)?;
        if let (_, Shown::Fun(from, to)) = self.find(function) {
            self.same(argument, from, n.span, "what the function before it takes")?;
            return Ok(to);
        }
        let to = self.unknown();
        let wanted = self.fun(argument, to);
        self.same(function, wanted, s.span, "a function that takes what stands after it")?;
        Ok(to)
    }

    fn pushforward(&mut self, s: &Term) -> Checked<Type> {
        let function = self.infer(s)?;
        let (from, to) = if let (_, Shown::Fun(from, to)) = self.find(function) {
            (from, to)
        } else {
            let (from, to) = (self.unknown(), self.unknown());
            let wanted = self.fun(from, to);
            self.same(function, wanted, s.span, "what T takes")?;
            (from, to)
        };
        let (from, to) = (self.tangent(from), self.tangent(to));
        Ok(self.fun(from, to))
    }

    /// Whether no type contains itself; to be asked once after [`Types::infer`].
    pub fn finite(&mut self, span: Span) -> Checked<()> {
        // 0: not seen, 1: on the way down, 2: done.
        let mut state = vec![0_u8; self.all.len()];
        for start in 0..self.all.len() {
            let mut work = vec![(Type(start), false)];
            while let Some((ty, leave)) = work.pop() {
                let (ty, shown) = self.find(ty);
                let Some(entry) = state.get_mut(ty.0) else { continue };
                match (*entry, leave) {
                    (_, true) => *entry = 2,
                    (0, false) => {
                        *entry = 1;
                        work.push((ty, true));
                        if let Shown::Prod(a, b) | Shown::Fun(a, b) = shown {
                            work.extend([(a, false), (b, false)]);
                        }
                    }
                    (1, false) => return Err(errors::infinite(span)),
                    (_, false) => {}
                }
            }
        }
        Ok(())
    }

    /// A type as text.
    pub fn show(&mut self, ty: Type) -> String {
        let (mut out, mut names) = (String::new(), Vec::new());
        self.write(ty, 0, &mut out, &mut names);
        if out.len() > LONGEST {
            out.push('…');
        }
        out
    }

    fn write(&mut self, ty: Type, level: u8, out: &mut String, names: &mut Vec<Type>) {
        if out.len() > LONGEST {
            return;
        }
        let (ty, shown) = self.find(ty);
        let (a, b, sign, own) = match shown {
            Shown::Real => return out.push('R'),
            Shown::Atom(name) => return out.push_str(&name),
            Shown::Unknown | Shown::Is(_) => {
                let index = names.iter().position(|known| *known == ty).unwrap_or_else(|| {
                    names.push(ty);
                    names.len() - 1
                });
                const GREEK: [char; 8] = ['α', 'β', 'γ', 'δ', 'ζ', 'η', 'θ', 'κ'];
                out.push(GREEK.get(index % GREEK.len()).copied().unwrap_or('α'));
                if index >= GREEK.len() {
                    out.push_str(&(index / GREEK.len() + 1).to_string());
                }
                return;
            }
            Shown::Prod(a, b) => (a, b, " × ", 1),
            Shown::Fun(a, b) => (a, b, " → ", 0),
        };
        if level > own {
            out.push('(');
        }
        deep(|| self.write(a, own + 1, out, names));
        out.push_str(sign);
        deep(|| self.write(b, own, out, names));
        if level > own {
            out.push(')');
        }
    }
}

/// Types a parsed term; gives its type as text.
pub fn check(program: &super::parse::Program) -> Checked<String> {
    let mut types = Types::new(program.annotations.clone());
    for (x, written) in &program.context {
        let ty = types.written(written);
        types.declare(x, ty);
    }
    let ty = types.infer(&program.term)?;
    types.finite(program.term.span)?;
    Ok(types.show(ty))
}
