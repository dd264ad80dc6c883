//! From the typed core: the closed term of Figure 1's language that a program is, with every derivative operator replaced
//! by the wrapper of a translation.
//!
//! | core | here |
//! |---|---|
//! | tuples, truth values | products nested to the right, `1 + 1` |
//! | data types | sums of products, nested to the right; recursive ones `μX. A` (section 10.3) |
//! | arrays | `Vector`, with all operations written by `build` and `index` (section 10.2) |
//! | `grad`, `value_and_grad`, `vjp` | `ℛ{e}` of Figure 11, of Figure 15 where the argument is no product of reals |
//! | `derivative`, `jvp` | `ℱ{e}` of Figure 4, or 15 |
//!
//! The function to differentiate must be closed, as the paper's main expression is: the definitions around it become part
//! of it ("e will often start with a nested collection of let-bound auxiliary functions").

#![expect(clippy::wildcard_enum_match_arm, reason = "a value that does not have the type is shown as a term")]

use super::errors;
use super::forward;
use super::monadic;
use super::names;
use super::resolve::children;
use super::syntax::{E, Expr, Kind, Pat, Ty, grow, make};
use super::value::Value;
use crate::kit::ground::Ground;
use crate::kit::simple::{self, Data, Derive, Program, Term, TermKind, Var};
use indexmap::IndexMap;
use make::{app, pair, var};
use primitives::primitive;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};

mod primitives;

type Translated<T> = Result<T, Diagnostic>;

/// Functions that call each other at most: each is written out in the others.
const MUTUAL: usize = 4;

/// The term of a program.
pub(crate) fn translate(program: &Program) -> Translated<E> {
    let mut names = FxHashSet::default();
    names.insert(Name::new("_"));
    let recursive = program.data.keys().filter(|ty| reaches_itself(ty, &program.data)).cloned().collect();
    let mut translator = Translator {
        data: &program.data,
        recursive,
        names: FxHashMap::default(),
        taken: names,
        context: Vec::new(),
        reverse: 0,
        spare: 0,
    };
    translator.term(&program.term)
}

/// What stands around a term.
#[derive(Clone)]
enum Around {
    Let(Name, E),
    LetRec(Name, Option<Ty>, E),
    /// A variable whose value is not known.
    Argument(Name),
}

struct Translator<'a> {
    data: &'a IndexMap<simple::Ty, Data>,
    /// Data types that contain themselves.
    recursive: FxHashSet<simple::Ty>,
    names: FxHashMap<u32, Name>,
    taken: FxHashSet<Name>,
    context: Vec<Around>,
    /// Reverse derivatives around the term.
    reverse: usize,
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
                let body = self.inside(Around::Argument(name), body)?;
                Expr::new(Kind::Lam(Pat::Var(name), Some(ty), body))
            }
            TermKind::App(f, x) => app(self.term(f)?, self.term(x)?),
            TermKind::Let(variable, _, value, body) => {
                let (value, name) = (self.term(value)?, self.name(*variable));
                let body = self.inside(Around::Let(name, Rc::clone(&value)), body)?;
                make::bind(Pat::Var(name), value, body)
            }
            TermKind::LetRec(functions, body) => self.recursive(functions, body, term.span)?,
            TermKind::If(c, a, b) => make::choice(self.term(c)?, self.term(a)?, self.term(b)?),
            TermKind::Tuple(parts) => make::tuple(self.terms(parts)?),
            TermKind::Proj(tuple, at, count) => project(self.term(tuple)?, *at, *count),
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
            named.push((name, self.ty(ty, span)?));
            self.context.push(Around::Argument(name));
        }
        let values: Translated<Vec<E>> = functions.iter().map(|(_, _, value)| self.term(value)).collect();
        self.context.truncate(mark);
        let group: Vec<(Name, Ty, E)> = named.into_iter().zip(values?).map(|((n, t), v)| (n, t, v)).collect();
        let mut definitions = Vec::new();
        for at in 0..group.len() {
            definitions.extend(definition(&group, at, span)?);
        }
        for (name, ty, value) in &definitions {
            self.context.push(Around::LetRec(*name, Some(ty.clone()), Rc::clone(value)));
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
            self.context.extend(names.iter().map(|name| Around::Argument(*name)));
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

    fn derive(&mut self, derive: Derive, args: &[Term], term: &Term) -> Translated<E> {
        let [f, x] = args else { return Err(self.outside("the pullback of a 1-form", term.span)) };
        let simple::Ty::Fun(s, t) = &f.ty else { return Err(self.outside("this derivative", f.span)) };
        let (s, t) = (self.ty(s, f.span)?, self.ty(t, f.span)?);
        if !s.is_first_order() || !t.is_first_order() {
            let ty = super::print::ty(&Ty::fun(s, t));
            return Err(errors::main_expression(f.span, &ty));
        }
        let reverse = match derive {
            Derive::Grad | Derive::ValueAndGrad | Derive::Vjp => true,
            Derive::Derivative | Derive::Jvp => false,
            Derive::Pullback => return Err(self.outside("the pullback of a 1-form", term.span)),
        };
        if reverse && self.reverse > 0 {
            return Err(errors::reverse_of_reverse(term.span));
        }
        let point = self.term(x)?;
        self.reverse += usize::from(reverse);
        let function = self.term(f);
        self.reverse -= usize::from(reverse);
        let e = self.closed(function?, f.span)?;
        let scalar = s.real_arity().is_some() && t == Ty::Real;
        let derivative = match (reverse, scalar) {
            (true, true) => monadic::wrapper(&e, &s)?,
            (true, false) => monadic::general_wrapper(&e, &s, &t)?,
            (false, true) => forward::wrapper(&e, &s)?,
            (false, false) => forward::general_wrapper(&e, &s, &t)?,
        };
        let one = make::real(1.0);
        let p = self.unused("p");
        let at = |value| make::bind(Pat::Var(p), point, value);
        Ok(match derive {
            Derive::Grad | Derive::Derivative => at(app(derivative, pair(var(p), one))),
            Derive::ValueAndGrad => at(pair(app(e, var(p)), app(derivative, pair(var(p), one)))),
            Derive::Jvp => at(pair(app(e, make::fst(var(p))), app(derivative, var(p)))),
            Derive::Vjp | Derive::Pullback => {
                let dt = self.unused("dt");
                let map = Kind::Lam(Pat::Var(dt), Some(t), app(derivative, pair(var(p), var(dt))));
                at(pair(app(e, var(p)), Expr::new(map)))
            }
        })
    }

    /// A function with the definitions around it that it uses.
    fn closed(&self, mut e: E, span: Span) -> Translated<E> {
        let mut free = free_variables(&e);
        for around in self.context.iter().rev() {
            let (Around::Let(name, _) | Around::LetRec(name, ..) | Around::Argument(name)) = around;
            if !free.remove(name) {
                continue;
            }
            e = match around {
                Around::Let(name, value) => {
                    free.extend(free_variables(value));
                    make::bind(Pat::Var(*name), Rc::clone(value), e)
                }
                Around::LetRec(name, ty, value) => {
                    free.extend(free_variables(value));
                    free.remove(name);
                    Expr::new(Kind::LetRec(*name, ty.clone(), Rc::clone(value), e))
                }
                Around::Argument(name) => return Err(errors::open(span, name.as_str())),
            };
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

/// Names of variables in a term that no binder of the term has; all binders of a translated program differ.
fn free_variables(e: &E) -> FxHashSet<Name> {
    let (mut bound, mut used) = (FxHashSet::default(), FxHashSet::default());
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        let mut bind = |name| {
            bound.insert(name);
        };
        match &e.kind {
            Kind::Var(name, _) => {
                used.insert(*name);
            }
            Kind::LetRec(name, ..) => bind(*name),
            Kind::Lam(pat, ..) | Kind::Let(pat, ..) | Kind::Do(pat, ..) => pat.each(&mut bind),
            Kind::Case(_, p, _, q, _) => {
                p.each(&mut bind);
                q.each(&mut bind);
            }
            Kind::App(..) | Kind::Pair(..) | Kind::Fst(_) | Kind::Snd(_) | Kind::Inl(_) | Kind::Inr(_) => {}
            Kind::Roll(..)
            | Kind::Unroll(_)
            | Kind::Ann(..)
            | Kind::Const(_)
            | Kind::Pure(_)
            | Kind::Opaque(_) => {}
        }
        open.extend(children(e));
    }
    used.retain(|name| !bound.contains(name));
    used
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

/// A value of the program's type as plain data.
pub(crate) fn ground(value: &Value, ty: &simple::Ty, data: &IndexMap<simple::Ty, Data>) -> Ground {
    grow(|| match (value, ty) {
        (Value::Real(x), _) => Ground::Real(*x),
        (Value::Int(n), _) => Ground::Int(*n),
        (Value::Str(text), _) => Ground::String(text.to_string()),
        (Value::Inl(_) | Value::Inr(_), simple::Ty::Bool) => Ground::Bool(matches!(value, Value::Inl(_))),
        (_, simple::Ty::Tuple(parts)) => Ground::Tuple(components(value, parts, data)),
        (Value::Vector(items), simple::Ty::Array(ty)) => {
            Ground::Array(items.iter().map(|item| ground(item, ty, data)).collect())
        }
        (_, simple::Ty::Data(..)) => constructed(value, ty, data),
        _ => Ground::Term(super::readback::value(value)),
    })
}

fn components(value: &Value, types: &[simple::Ty], data: &IndexMap<simple::Ty, Data>) -> Vec<Ground> {
    let mut parts = Vec::new();
    let mut value = value;
    for (at, ty) in types.iter().enumerate() {
        match value {
            Value::Pair(cell) if at + 1 < types.len() => {
                parts.push(ground(&cell.a, ty, data));
                value = &cell.b;
            }
            other => parts.push(ground(other, ty, data)),
        }
    }
    parts
}

fn constructed(value: &Value, ty: &simple::Ty, data: &IndexMap<simple::Ty, Data>) -> Ground {
    let Some(declared) = data.get(ty) else { return Ground::Term(super::readback::value(value)) };
    let mut value = value;
    if let Value::Roll(cell, _) = value {
        value = &cell.a;
    }
    let mut at = 0;
    while at + 1 < declared.ctors.len() {
        match value {
            Value::Inr(cell) => {
                value = &cell.a;
                at += 1;
            }
            Value::Inl(cell) => {
                value = &cell.a;
                break;
            }
            _ => break,
        }
    }
    let Some((name, fields)) = declared.ctors.get(at) else {
        return Ground::Term(super::readback::value(value));
    };
    let shown = name.as_str().rsplit('.').next().unwrap_or_default();
    Ground::Ctor(shown.to_string(), components(value, fields, data))
}
