//! From the typed core: the closed term of Figure 1's language that a program is, with every derivative operator replaced
//! by the wrapper of a translation.
//!
//! | core | here |
//! |---|---|
//! | tuples, truth values | products nested to the right, `1 + 1` |
//! | data types | sums of products, nested to the right; recursive ones `μX. A` (section 10.3) |
//! | arrays | `Vector`, with all operations written by `build` and `index` (section 10.2) |
//! | `grad`, `value_and_grad`, `vjp` | `ℛ{e}` of Figure 11, of Figure 15 where it is not `ℝᵃ → ℝ`, or not closed |
//! | `derivative`, `jvp` | `ℱ{e}` of Figure 4, or 15 |
//!
//! `specialize` first writes out higher-order definitions that differentiate their argument; `derive` has the derivative
//! operators, `primitives` the primitives, `values` the way back.

use super::errors;
use super::names;
use super::syntax::{E, Expr, Kind, Pat, Ty, grow, make};
use crate::kit::simple::{self, Data, Program, Term, TermKind, Var};
use indexmap::IndexMap;
use make::{app, pair, var};
use primitives::primitive;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_prim::Prim;

mod derive;
mod order;
mod primitives;
mod specialize;
mod values;

pub(super) use values::ground;

type Translated<T> = Result<T, Diagnostic>;

/// Functions that call each other at most: each is written out in the others.
const MUTUAL: usize = 4;

/// How reverse derivatives are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// By `ℛ`, Figures 9 to 11.
    Monadic,
    /// By `ℛ¹`, Figures 5 and 6.
    Naive,
    /// By `ℛ²`, Figures 7 and 8.
    Staged,
    /// By `ℱ` in each direction, the Forward Plan of section 3.2.
    Forward,
}

/// The term of a program.
pub(crate) fn translate(program: &Program, method: Method) -> Translated<E> {
    let mut names = FxHashSet::default();
    names.insert(Name::new("_"));
    let recursive = program.data.keys().filter(|ty| reaches_itself(ty, &program.data)).cloned().collect();
    let mut translator = Translator {
        data: &program.data,
        recursive,
        names: FxHashMap::default(),
        taken: names,
        context: Vec::new(),
        method,
        spare: 0,
    };
    translator.term(&specialize::specialize(&program.term))
}

/// What stands around a term.
#[derive(Clone)]
enum Around {
    Let(Name, Ty, E),
    LetRec(Name, Ty, E),
    /// A variable whose value is not known.
    Argument(Name, Ty),
}

struct Translator<'a> {
    data: &'a IndexMap<simple::Ty, Data>,
    /// Data types that contain themselves.
    recursive: FxHashSet<simple::Ty>,
    names: FxHashMap<u32, Name>,
    taken: FxHashSet<Name>,
    context: Vec<Around>,
    method: Method,
    spare: u32,
}

/// Whether a data type occurs in its own fields, or in theirs.
fn reaches_itself(ty: &simple::Ty, data: &IndexMap<simple::Ty, Data>) -> bool {
    let mut seen = FxHashSet::default();
    let fields = |ty: &simple::Ty| -> Vec<simple::Ty> {
        data.get(ty)
            .map(|d| d.ctors.iter().flat_map(|(_, fields)| fields.clone()).collect())
            .unwrap_or_default()
    };
    let mut open = fields(ty);
    while let Some(field) = open.pop() {
        if field == *ty {
            return true;
        }
        if seen.insert(field.clone()) {
            match &field {
                simple::Ty::Tuple(parts) => open.extend(parts.iter().cloned()),
                simple::Ty::Array(a) | simple::Ty::Dual(a) => open.push((**a).clone()),
                simple::Ty::Fun(a, b) => open.extend([(**a).clone(), (**b).clone()]),
                simple::Ty::Data(..) => open.extend(fields(&field)),
                simple::Ty::Real | simple::Ty::Int | simple::Ty::Bool | simple::Ty::String => {}
            }
        }
    }
    false
}

impl Translator<'_> {
    fn outside(&self, what: &str, span: Span) -> Diagnostic {
        errors::outside(span, what, &[])
    }

    /// A name for a variable: the user's where that is possible.
    fn name(&mut self, variable: Var) -> Name {
        if let Some(name) = self.names.get(&variable.id) {
            return *name;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let mut text: String = variable.name.as_str().chars().filter(|c| plain(*c)).collect();
        if !text.starts_with(|c: char| c.is_ascii_alphabetic()) || names::is_reserved(&text) {
            text = format!("v{}", text.trim_start_matches('_'));
        }
        let name = self.unused(&text);
        self.names.insert(variable.id, name);
        name
    }

    fn unused(&mut self, base: &str) -> Name {
        let mut name = Name::new(base);
        while names::is_reserved(name.as_str()) || !self.taken.insert(name) {
            self.spare += 1;
            name = Name::new(&format!("{base}_{}", self.spare));
        }
        name
    }

    fn ty(&self, ty: &simple::Ty, span: Span) -> Translated<Ty> {
        self.ty_under(ty, &mut Vec::new(), span)
    }

    fn ty_under(&self, ty: &simple::Ty, open: &mut Vec<simple::Ty>, span: Span) -> Translated<Ty> {
        grow(|| {
            Ok(match ty {
                simple::Ty::Real => Ty::Real,
                simple::Ty::Int => Ty::Int,
                simple::Ty::Bool => Ty::truth(),
                simple::Ty::String => Ty::String,
                simple::Ty::Tuple(parts) => Ty::tuple(
                    parts.iter().map(|part| self.ty_under(part, open, span)).collect::<Translated<_>>()?,
                ),
                simple::Ty::Array(a) => Ty::Vector(Rc::new(self.ty_under(a, open, span)?)),
                simple::Ty::Fun(a, b) => {
                    Ty::fun(self.ty_under(a, open, span)?, self.ty_under(b, open, span)?)
                }
                simple::Ty::Data(..) => self.data_type(ty, open, span)?,
                simple::Ty::Dual(_) => return Err(self.outside("a linear functional", span)),
            })
        })
    }

    fn data_type(&self, ty: &simple::Ty, open: &mut Vec<simple::Ty>, span: Span) -> Translated<Ty> {
        let at = self.data.get_index_of(ty).unwrap_or(0);
        let name = Name::new(&format!("X{at}"));
        if open.contains(ty) {
            return Ok(Ty::Var(name));
        }
        let recursive = self.recursive.contains(ty);
        if recursive {
            open.push(ty.clone());
        }
        let data = self.data.get(ty).filter(|data| !data.ctors.is_empty());
        let data = data.ok_or_else(|| self.outside("a type without values", span))?;
        let mut summands = Vec::new();
        for (_, fields) in &data.ctors {
            let fields =
                fields.iter().map(|field| self.ty_under(field, open, span)).collect::<Translated<_>>()?;
            summands.push(Ty::tuple(fields));
        }
        let mut summands = summands.into_iter().rev();
        let last = summands.next().unwrap_or(Ty::Unit);
        let sum = summands.fold(last, |rest, ty| Ty::sum(ty, rest));
        if recursive {
            open.pop();
            return Ok(Ty::Rec(name, Rc::new(sum)));
        }
        Ok(sum)
    }

    fn term(&mut self, term: &Term) -> Translated<E> {
        let e = grow(|| self.node(term))?;
        Ok(if e.span.is_nowhere() { Expr::at(e.kind.clone(), term.span) } else { e })
    }

    /// A term in the scope of something.
    fn inside(&mut self, around: Around, term: &Term) -> Translated<E> {
        self.context.push(around);
        let e = self.term(term);
        self.context.pop();
        e
    }

    fn terms(&mut self, terms: &[Term]) -> Translated<Vec<E>> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn node(&mut self, term: &Term) -> Translated<E> {
        Ok(match &term.kind {
            TermKind::Var(variable) => var(self.name(*variable)),
            TermKind::Real(x) => make::real(*x),
            TermKind::Int(n) => make::int(*n),
            TermKind::Bool(b) => truth(*b),
            TermKind::String(text) => make::constant(super::syntax::Const::Str(Rc::clone(text))),
            TermKind::Lam(variable, ty, body) => {
                let (name, ty) = (self.name(*variable), self.ty(ty, term.span)?);
                let body = self.inside(Around::Argument(name, ty.clone()), body)?;
                Expr::new(Kind::Lam(Pat::Var(name), Some(ty), body))
            }
            TermKind::App(f, x) => app(self.term(f)?, self.term(x)?),
            TermKind::Let(variable, ty, value, body) => {
                let ty = self.ty(ty, term.span)?;
                let (value, name) = (self.term(value)?, self.name(*variable));
                let body = self.inside(Around::Let(name, ty, Rc::clone(&value)), body)?;
                make::bind(Pat::Var(name), value, body)
            }
            TermKind::LetRec(functions, body) => self.recursive(functions, body, term.span)?,
            TermKind::If(c, a, b) => make::choice(self.term(c)?, self.term(a)?, self.term(b)?),
            TermKind::Tuple(parts) => make::tuple(self.terms(parts)?),
            TermKind::Proj(tuple, at, count) => project(self.term(tuple)?, *at, *count),
            TermKind::Prim(Prim::Linearize, args) => match args.as_slice() {
                [f, x] => self.linearize(f, x)?,
                _ => return Err(self.outside("this derivative", term.span)),
            },
            TermKind::Prim(Prim::Taylor, args) => match args.as_slice() {
                [Term { kind: TermKind::Int(order), .. }, f, x] => self.taylor(*order, f, x, term.span)?,
                _ => return Err(self.outside("`taylor` with an order that is no literal", term.span)),
            },
            TermKind::Prim(prim, args) => {
                let translated = self.terms(args)?;
                primitive(self, *prim, translated, args, term)?
            }
            TermKind::Derive(derive, args) => self.derive(*derive, args, term)?,
            TermKind::Ctor(at, fields) => self.constructor(*at, fields, term)?,
            TermKind::Case(scrutinee, arms) => self.case(scrutinee, arms)?,
            TermKind::Array(items) => {
                let items = self.terms(items)?;
                self.array(items)
            }
        })
    }

    /// `let`s for the elements around a `build` that finds the element by halving.
    fn array(&mut self, items: Vec<E>) -> E {
        let i = self.unused("i");
        let names: Vec<Name> = items.iter().map(|_| self.unused("a")).collect();
        let count = i64::try_from(names.len()).unwrap_or(i64::MAX);
        let body = if names.is_empty() {
            // No element: a function that would never return, and is never called.
            let (go, x) = (self.unused("go"), self.unused("x"));
            let call = || app(var(go), var(x));
            Expr::new(Kind::LetRec(go, None, make::lam(Pat::Var(x), call()), app(var(go), var(i))))
        } else {
            choose(i, 0, &names)
        };
        let function = make::lam(Pat::Var(i), body);
        let array = app(make::builtin(super::syntax::Builtin::Build), pair(make::int(count), function));
        names
            .into_iter()
            .zip(items)
            .rev()
            .fold(array, |body, (name, item)| make::bind(Pat::Var(name), item, body))
    }

    fn recursive(&mut self, functions: &[(Var, simple::Ty, Term)], body: &Term, span: Span) -> Translated<E> {
        if functions.len() > MUTUAL {
            return Err(
                self.outside(&format!("a group of more than {MUTUAL} functions that call each other"), span)
            );
        }
        let mark = self.context.len();
        let mut named = Vec::new();
        for (variable, ty, _) in functions {
            let name = self.name(*variable);
            let ty = self.ty(ty, span)?;
            named.push((name, ty.clone()));
            self.context.push(Around::Argument(name, ty));
        }
        let values: Translated<Vec<E>> = functions.iter().map(|(_, _, value)| self.term(value)).collect();
        self.context.truncate(mark);
        let group: Vec<(Name, Ty, E)> = named.into_iter().zip(values?).map(|((n, t), v)| (n, t, v)).collect();
        let mut definitions = Vec::new();
        for at in 0..group.len() {
            definitions.extend(definition(&group, at, span)?);
        }
        for (name, ty, value) in &definitions {
            self.context.push(Around::LetRec(*name, ty.clone(), Rc::clone(value)));
        }
        let body = self.term(body);
        self.context.truncate(mark);
        let wrap = |body, (name, ty, value)| Expr::new(Kind::LetRec(name, Some(ty), value, body));
        Ok(definitions.into_iter().rev().fold(body?, wrap))
    }

    fn constructor(&mut self, at: u32, fields: &[Term], term: &Term) -> Translated<E> {
        let fields = self.terms(fields)?;
        let count = self.data.get(&term.ty).map_or(1, |data| data.ctors.len());
        let payload = make::tuple(fields);
        let at = at as usize;
        let inner = if at + 1 == count { payload } else { Expr::new(Kind::Inl(payload)) };
        let injected = (0..at).fold(inner, |e, _| Expr::new(Kind::Inr(e)));
        if self.recursive.contains(&term.ty) {
            return Ok(Expr::new(Kind::Roll(self.ty(&term.ty, term.span)?, injected)));
        }
        Ok(injected)
    }

    fn case(&mut self, scrutinee: &Term, arms: &[(Vec<(Var, simple::Ty)>, Term)]) -> Translated<E> {
        let mut value = self.term(scrutinee)?;
        if self.recursive.contains(&scrutinee.ty) {
            value = Expr::new(Kind::Unroll(value));
        }
        let mut cases = Vec::new();
        for (fields, body) in arms {
            let names: Vec<Name> = fields.iter().map(|(variable, _)| self.name(*variable)).collect();
            let mark = self.context.len();
            for (name, (_, ty)) in names.iter().zip(fields) {
                let ty = self.ty(ty, scrutinee.span)?;
                self.context.push(Around::Argument(*name, ty));
            }
            let body = self.term(body);
            self.context.truncate(mark);
            cases.push((Pat::tuple(names.into_iter().map(Pat::Var).collect()), body?));
        }
        let rest = self.unused("r");
        let Some((pat, body)) = cases.pop() else {
            return Err(self.outside("a case analysis without cases", scrutinee.span));
        };
        if cases.is_empty() {
            return Ok(make::bind(pat, value, body));
        }
        let (mut right, mut e) = (pat, body);
        while let Some((pat, body)) = cases.pop() {
            let scrutinee = if cases.is_empty() { Rc::clone(&value) } else { var(rest) };
            e = make::case(scrutinee, pat, body, right, e);
            right = Pat::Var(rest);
        }
        Ok(e)
    }
}

/// Function `at` of a group, the others of the group written out inside of it as it needs them.
fn definition(group: &[(Name, Ty, E)], at: usize, span: Span) -> Translated<Option<(Name, Ty, E)>> {
    let Some((name, ty, value)) = group.get(at) else { return Ok(None) };
    let Kind::Lam(pat, parameter, body) = &value.kind else {
        return Err(errors::recursion(span, name.as_str()));
    };
    let others: Vec<_> = group.iter().filter(|(other, _, _)| other != name).cloned().collect();
    let mut body = Rc::clone(body);
    for other in (0..others.len()).rev() {
        if let Some((name, ty, value)) = definition(&others, other, span)? {
            body = Expr::new(Kind::LetRec(name, Some(ty), value, body));
        }
    }
    Ok(Some((*name, ty.clone(), Expr::new(Kind::Lam(pat.clone(), parameter.clone(), body)))))
}

fn truth(b: bool) -> E {
    let unit = make::constant(super::syntax::Const::Unit);
    Expr::new(if b { Kind::Inl(unit) } else { Kind::Inr(unit) })
}

/// Component `at` of a tuple of `count`.
fn project(tuple: E, at: usize, count: usize) -> E {
    let rest = (0..at).fold(tuple, |e, _| make::snd(e));
    if at + 1 < count { make::fst(rest) } else { rest }
}

/// The variable `names[i - from]`, found by halving.
fn choose(i: Name, from: i64, names: &[Name]) -> E {
    let half = names.len() / 2;
    match names {
        [] => make::constant(super::syntax::Const::Unit),
        [name] => var(*name),
        names => {
            let middle = from + i64::try_from(half).unwrap_or(0);
            let (left, right) = names.split_at(half);
            let below = super::syntax::LeafOp::CompareInt(super::syntax::Compare::Lt);
            let test = make::leaf_op(below, vec![var(i), make::int(middle)]);
            make::choice(test, choose(i, from, left), choose(i, middle, right))
        }
    }
}
