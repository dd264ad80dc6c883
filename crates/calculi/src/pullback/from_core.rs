//! From a core program to DPPL: reals, tuples, functions, `let`, the primitives on reals, derivatives as pullbacks
//! (`duals`), and arrays of known length as Church lists (`arrays`).
//!
//! A *piece* of a program is a term of DPPL with its shape, or something known before the reduction: integers, truth
//! values, arrays and tuples with their elements, and functions on these, which are translated where they are called.
//! Functions of functions are terms, too; or, if that leads to value 1 of remark 3.6, they are translated where they are called.
//! Intermediate results get a `let` of the innermost function around them, in the order of evaluation. `λ⟨x,y⟩` of 3.1.3
//! takes tuples apart, under the user's names.

mod arrays;
mod duals;
mod shape;

pub(crate) use self::shape::{Shape, applied, ground, read};

use self::shape::{component, is_plain, order, tuple};
use super::errors;
use super::func::Func;
use super::subst::deep;
use super::syntax::{Kind, Pat, Term, Var};
use crate::kit::simple::{self, Program, TermKind, Ty};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

/// A program in DPPL.
pub(crate) struct Translated {
    pub(crate) term: Term,
    pub(crate) shape: Shape,
}

type Result<T> = std::result::Result<T, Diagnostic>;

const OTHERS: &str =
    "try `--in negation`, `--in perturbative` or `--in delta`; `explain` says what each of them takes";

fn outside<T>(span: Span, what: &str) -> Result<T> {
    Err(errors::outside(span, what, OTHERS))
}

/// What becomes of functions of functions that the program names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Functionals {
    /// They are terms.
    Named,
    /// They are translated where they are called, and folds whose state is a function are written out.
    Applied,
}

/// Translates, or says which construct has no counterpart.
pub(crate) fn translate(program: &Program, functionals: Functionals) -> Result<Translated> {
    let mut translation = Translation {
        functionals,
        env: Env::default(),
        lets: Vec::new(),
        known: FxHashMap::default(),
        forward: false,
        inside: 0,
        calls: 0,
    };
    let (lets, (term, shape)) = translation.block(|here| {
        let piece = here.piece(&program.term)?;
        here.term_of(piece, program.term.span)
    })?;
    Ok(Translated { term: around(lets, term), shape })
}

/// A part of the program.
#[derive(Clone)]
enum Piece {
    Term(Term, Shape),
    Int(i64),
    Bool(bool),
    Tuple(Rc<Vec<Piece>>),
    Array(Rc<Vec<Piece>>),
    Function(Rc<Closure>),
}

/// A function that is translated where it is called.
struct Closure {
    var: simple::Var,
    ty: Ty,
    body: Rc<simple::Term>,
    env: Env,
}

/// What variables stand for: a list, newest first.
#[derive(Clone, Default)]
struct Env(Option<Rc<(u32, Piece, Env)>>);

impl Env {
    fn with(&self, var: simple::Var, piece: Piece) -> Env {
        Env(Some(Rc::new((var.id, piece, self.clone()))))
    }

    fn get(&self, var: simple::Var) -> Option<Piece> {
        let mut at = self;
        while let Some(entry) = &at.0 {
            if entry.0 == var.id {
                return Some(entry.1.clone());
            }
            at = &entry.2;
        }
        None
    }
}

struct Translation {
    functionals: Functionals,
    env: Env,
    /// The intermediate results of the innermost function.
    lets: Vec<(Var, Term)>,
    /// All intermediate results so far, by variable.
    known: FxHashMap<u32, Term>,
    /// Whether derivatives are wanted as numbers: by `J f · t`, since σ* is not σ.
    forward: bool,
    /// In how many functions that are differentiated.
    inside: u32,
    /// How many calls have been written out.
    calls: u32,
}

/// Calls that are written out at most, where functions of functions are applied before the reduction.
const MAX_CALLS: u32 = 10_000;

/// A term in its `let`s.
fn around(lets: Vec<(Var, Term)>, term: Term) -> Term {
    lets.into_iter().rev().fold(term, |body, (var, value)| Term::let_in(var, value, body))
}

/// Whether the term may stand in several places: variables and tuples of them.
fn is_atom(term: &Term) -> bool {
    match term.kind() {
        Kind::Var(_) => true,
        Kind::Pair(a, b) => is_atom(a) && is_atom(b),
        _ => false,
    }
}

impl Translation {
    /// Translates a scope of its own; gives its intermediate results too.
    fn block<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Vec<(Var, Term)>, T)> {
        let (lets, env) = (std::mem::take(&mut self.lets), self.env.clone());
        let result = inside(self);
        self.env = env;
        Ok((std::mem::replace(&mut self.lets, lets), result?))
    }

    /// Translates with derivatives as numbers, or not.
    fn with_forward<T>(&mut self, forward: bool, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.forward, forward);
        let result = inside(self);
        self.forward = before;
        result
    }

    /// A name for an intermediate result.
    fn named(&mut self, name: &str, term: Term) -> Term {
        if is_atom(&term) {
            return term;
        }
        let var = Var::named(name, term.ty().clone());
        self.known.insert(var.id(), term.clone());
        self.lets.push((var.clone(), term));
        Term::var(var)
    }

    fn piece(&mut self, term: &simple::Term) -> Result<Piece> {
        deep(|| self.piece_inner(term))
    }

    fn piece_inner(&mut self, term: &simple::Term) -> Result<Piece> {
        let span = term.span;
        match &term.kind {
            TermKind::Var(var) => match self.env.get(*var) {
                Some(piece) => Ok(piece),
                None => outside(span, "variable that is bound outside the program"),
            },
            TermKind::Real(x) => Ok(Piece::Term(Term::real(*x), Shape::real())),
            TermKind::Int(n) => Ok(Piece::Int(*n)),
            TermKind::Bool(b) => Ok(Piece::Bool(*b)),
            TermKind::Lam(var, ty, body) => {
                let (body, env) = (body.clone(), self.env.clone());
                Ok(Piece::Function(Rc::new(Closure { var: *var, ty: ty.clone(), body, env })))
            }
            TermKind::App(f, a) => {
                let (f, a) = (self.piece(f)?, self.piece(a)?);
                self.call(f, a, span)
            }
            TermKind::Let(var, _, value, body) => {
                let value = self.piece(value)?;
                let value = self.settled(*var, value, body)?;
                let before = self.env.clone();
                self.env = before.with(*var, value);
                let result = self.piece(body);
                self.env = before;
                result
            }
            TermKind::Tuple(items) if !items.is_empty() => Ok(Piece::Tuple(Rc::new(self.pieces(items)?))),
            TermKind::Array(items) => Ok(Piece::Array(Rc::new(self.pieces(items)?))),
            TermKind::Proj(of, index, _) => {
                let of = self.piece(of)?;
                self.part(of, *index, span)
            }
            TermKind::If(cond, then, otherwise) => match self.piece(cond)? {
                Piece::Bool(true) => self.piece(then),
                Piece::Bool(false) => self.piece(otherwise),
                _ => outside(span, "`if` on what is not known before the reduction"),
            },
            TermKind::Prim(prim, args) => self.prim(*prim, args, term),
            TermKind::Derive(derive, args) => self.derive(*derive, args, span),
            TermKind::Tuple(_) => outside(span, "unit value `()`"),
            TermKind::String(_) => outside(span, "text"),
            TermKind::LetRec(..) => outside(span, "recursion"),
            TermKind::Ctor(..) | TermKind::Case(..) => outside(span, "data types and `match`"),
        }
    }

    fn pieces(&mut self, terms: &[simple::Term]) -> Result<Vec<Piece>> {
        terms.iter().map(|term| self.piece(term)).collect()
    }

    /// A piece as a term.
    fn term_of(&mut self, piece: Piece, span: Span) -> Result<(Term, Shape)> {
        match piece {
            Piece::Term(term, shape) => Ok((term, shape)),
            Piece::Int(_) => outside(span, "integers, except those that are known before the reduction"),
            Piece::Bool(_) => outside(span, "truth values, except those that are known before the reduction"),
            Piece::Tuple(parts) | Piece::Array(parts) if parts.is_empty() => {
                outside(span, "empty arrays as values")
            }
            Piece::Tuple(parts) => {
                let (terms, shapes) = self.terms_of(&parts, span)?;
                Ok((tuple(terms), Shape::Tuple(shapes)))
            }
            Piece::Array(parts) => {
                let (terms, shapes) = self.terms_of(&parts, span)?;
                Ok((tuple(terms), Shape::Array(shapes)))
            }
            Piece::Function(closure) => {
                let from = if is_plain(&closure.ty) { Some(Shape::of(&closure.ty)) } else { None };
                let Some(from) = from else {
                    return outside(span, "functions on arrays, integers or data as values");
                };
                let (term, shape) = self.function(Piece::Function(closure.clone()), &[from], span)?;
                let plain = is_plain(&closure.body.ty) && !shape.has_dual();
                let ty = || Ty::Fun(Rc::new(closure.ty.clone()), Rc::new(closure.body.ty.clone()));
                Ok((term, if plain { Shape::Value(ty()) } else { shape }))
            }
        }
    }

    fn terms_of(&mut self, parts: &[Piece], span: Span) -> Result<(Vec<Term>, Vec<Shape>)> {
        let terms: Result<Vec<_>> = parts.iter().map(|part| self.term_of(part.clone(), span)).collect();
        Ok(terms?.into_iter().unzip())
    }

    /// The translation of a term as a term.
    fn value(&mut self, term: &simple::Term) -> Result<(Term, Shape)> {
        let piece = self.piece(term)?;
        self.term_of(piece, term.span)
    }

    /// A piece that may stand in several places, for the variable that will stand for it in the body.
    fn settled(&mut self, var: simple::Var, piece: Piece, body: &simple::Term) -> Result<Piece> {
        let span = body.span;
        Ok(match piece {
            Piece::Term(term, shape) => Piece::Term(self.named(var.name.as_str(), term), shape),
            Piece::Function(closure) if self.is_named(&closure) => {
                let (term, shape) = self.term_of(Piece::Function(closure), span)?;
                Piece::Term(self.named(var.name.as_str(), term), shape)
            }
            Piece::Tuple(parts) => Piece::Tuple(Rc::new(self.settled_parts(var, &parts, body)?)),
            Piece::Array(parts) => Piece::Array(Rc::new(self.settled_parts(var, &parts, body)?)),
            Piece::Int(_) | Piece::Bool(_) | Piece::Function(_) => piece,
        })
    }

    /// Whether a function becomes a term where the program names it.
    fn is_named(&self, closure: &Closure) -> bool {
        let functional = order(&closure.ty) > 0 || order(&closure.body.ty) > 1;
        let plain = is_plain(&closure.ty) && is_plain(&closure.body.ty);
        plain && (self.functionals == Functionals::Named || !functional)
    }

    fn settled_parts(
        &mut self,
        var: simple::Var,
        parts: &[Piece],
        body: &simple::Term,
    ) -> Result<Vec<Piece>> {
        let names = component_names(body);
        let each = parts.iter().enumerate();
        each.map(|(i, part)| match part {
            Piece::Term(term, _) if matches!(term.kind(), Kind::Real(_)) => Ok(part.clone()),
            _ => self.settled(names.get(&(var.id, i)).copied().unwrap_or(var), part.clone(), body),
        })
        .collect()
    }

    /// Component `index`.
    fn part(&mut self, of: Piece, index: usize, span: Span) -> Result<Piece> {
        match of {
            Piece::Tuple(parts) | Piece::Array(parts) => match parts.get(index) {
                Some(part) => Ok(part.clone()),
                None => outside(span, "component that is not there"),
            },
            Piece::Term(term, Shape::Dual(of)) => self.part_of_dual(&term, &of, index, span),
            Piece::Term(term, shape) => match shape.parts() {
                Some(parts) => match parts.get(index) {
                    Some(part) => Ok(Piece::Term(component(&term, index, parts.len()), part.clone())),
                    None => outside(span, "component that is not there"),
                },
                None => outside(span, "component of what is no tuple"),
            },
            Piece::Int(_) | Piece::Bool(_) | Piece::Function(_) => {
                outside(span, "component of what is no tuple")
            }
        }
    }

    fn call(&mut self, func: Piece, arg: Piece, span: Span) -> Result<Piece> {
        match func {
            Piece::Function(closure) => {
                self.calls += 1;
                if self.functionals == Functionals::Applied && self.calls > MAX_CALLS {
                    return outside(span, "program that is this large when it is written out");
                }
                let arg = self.settled(closure.var, arg, &closure.body)?;
                let before = std::mem::replace(&mut self.env, closure.env.with(closure.var, arg));
                let result = self.piece(&closure.body);
                self.env = before;
                result
            }
            Piece::Term(func, shape) => {
                let result = match shape {
                    Shape::Fun(result) => (*result).clone(),
                    Shape::Value(Ty::Fun(_, to)) => Shape::of(&to),
                    Shape::Value(_) | Shape::Dual(_) | Shape::Tuple(_) | Shape::Array(_) => {
                        return outside(span, "call of what is no function");
                    }
                };
                let (arg, shape) = self.term_of(arg, span)?;
                if shape.has_dual()
                    && *func.ty() != super::syntax::Type::function(arg.ty().clone(), func.ty().result())
                {
                    return Err(errors::not_a_number(span, "the argument of a function on numbers"));
                }
                Ok(Piece::Term(Term::app(func, arg), result))
            }
            Piece::Int(_) | Piece::Bool(_) | Piece::Tuple(_) | Piece::Array(_) => {
                outside(span, "call of what is no function")
            }
        }
    }

    /// A function of arguments of these shapes as a function on their tuple, with the shape of its result in
    /// [`Shape::Fun`], or as a plain value where its type says it all.
    fn function(&mut self, func: Piece, from: &[Shape], span: Span) -> Result<(Term, Shape)> {
        let mut pats = Vec::new();
        let (lets, (body, shape)) = self.block(|here| {
            let mut piece = func;
            for shape in from {
                piece = match piece {
                    Piece::Function(closure) => {
                        let names = component_names(&closure.body);
                        let pat = parameter(closure.var, shape, &names, closure.body.span)?;
                        let arg = Piece::Term(pat.term(), shape.clone());
                        pats.push(pat);
                        here.env = closure.env.with(closure.var, arg);
                        here.piece(&closure.body)?
                    }
                    other => {
                        let pat = Pat::var(Var::named("x", shape.ty(span)?));
                        let arg = Piece::Term(pat.term(), shape.clone());
                        pats.push(pat);
                        here.call(other, arg, span)?
                    }
                };
            }
            here.term_of(piece, span)
        })?;
        let Some(pat) = pats.into_iter().reduce(Pat::pair) else { return Ok((body, shape)) };
        Ok((Term::lam(pat, around(lets, body)), Shape::Fun(Rc::new(shape))))
    }

    /// A primitive.
    fn prim(&mut self, prim: Prim, args: &[simple::Term], term: &simple::Term) -> Result<Piece> {
        if let Some(piece) = self.array_prim(prim, args, term)? {
            return Ok(piece);
        }
        if let Some(piece) = self.dual_prim(prim, args, term.span)? {
            return Ok(piece);
        }
        let pieces = self.pieces(args)?;
        if let Some(known) = arrays::known(prim, &pieces) {
            return Ok(known);
        }
        let name = prim.info().name;
        let op = match (prim, pieces.last()) {
            (Prim::Power, Some(Piece::Int(n))) => Some(RealOp::PowInt(*n)),
            (Prim::Polygamma, _) => match pieces.first() {
                Some(Piece::Int(0)) => Some(RealOp::Digamma),
                Some(Piece::Int(n)) => u32::try_from(*n).ok().map(RealOp::Polygamma),
                _ => None,
            },
            _ => RealOp::SAMPLES
                .iter()
                .find(|op| op.name() == name && op.arity() == args.len())
                .filter(|op| !matches!(op, RealOp::PowInt(_) | RealOp::Polygamma(_)))
                .copied(),
        };
        let reals: Vec<&simple::Term> = args.iter().filter(|arg| arg.ty == Ty::Real).collect();
        match op.filter(|op| op.arity() == reals.len() && term.ty == Ty::Real) {
            Some(op) => self.real_prim(op, args, pieces, term.span),
            None => outside(term.span, &format!("`{name}` at these types")),
        }
    }

    fn real_prim(
        &mut self,
        op: RealOp,
        args: &[simple::Term],
        pieces: Vec<Piece>,
        span: Span,
    ) -> Result<Piece> {
        let mut terms = Vec::new();
        for (arg, piece) in args.iter().zip(pieces) {
            match piece {
                Piece::Term(term, shape) => terms.push((arg, term, shape)),
                _ if arg.ty == Ty::Real => return outside(arg.span, "number of this kind"),
                _ => {}
            }
        }
        if terms.iter().any(|(_, _, shape)| shape.has_dual()) {
            if let Some(piece) = self.linear_prim(op, &terms, span)? {
                return Ok(piece);
            }
            // The derivative once more, as a number.
            let numbers: Result<Vec<_>> = self.with_forward(true, |here| {
                terms.iter().map(|(arg, ..)| Ok((*arg, here.value(arg)?))).collect()
            });
            terms = numbers?.into_iter().map(|(arg, (term, shape))| (arg, term, shape)).collect();
        }
        if let Some((arg, ..)) = terms.iter().find(|(_, _, shape)| shape.has_dual()) {
            return Err(errors::not_a_number(
                arg.span,
                &format!("an argument of `{}`", Func::Prim(op).name()),
            ));
        }
        let terms = terms.into_iter().map(|(_, term, _)| term).collect();
        Ok(Piece::Term(Term::fun(Func::Prim(op), tuple(terms)), Shape::real()))
    }
}

/// The variables that the first `let`s of a body give to components: by the number of the tuple's variable and the place.
fn component_names(mut body: &simple::Term) -> FxHashMap<(u32, usize), simple::Var> {
    let mut names = FxHashMap::default();
    while let TermKind::Let(name, _, value, rest) = &body.kind
        && let TermKind::Proj(of, index, _) = &value.kind
        && let TermKind::Var(of) = &of.kind
    {
        names.entry((of.id, *index)).or_insert(*name);
        body = rest;
    }
    names
}

/// A pattern for a parameter, with its type.
fn parameter(
    var: simple::Var,
    shape: &Shape,
    names: &FxHashMap<(u32, usize), simple::Var>,
    span: Span,
) -> Result<Pat> {
    let Some(parts) = shape.parts().filter(|parts| !parts.is_empty()) else {
        return Ok(Pat::var(Var::named(var.name.as_str(), shape.ty(span)?)));
    };
    let each = parts.iter().enumerate();
    let pats: Result<Vec<Pat>> = each
        .map(|(i, part)| match names.get(&(var.id, i)) {
            Some(name) => parameter(*name, part, names, span),
            None => parameter(simple::Var { id: u32::MAX, ..var }, part, names, span),
        })
        .collect();
    let pat = pats?.into_iter().reduce(Pat::pair);
    Ok(pat.unwrap_or_else(|| Pat::var(Var::named("x", super::syntax::Type::real()))))
}
