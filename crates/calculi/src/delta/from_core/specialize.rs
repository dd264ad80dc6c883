//! Higher-order definitions that differentiate their argument, written out where they are used.
//!
//! A translation needs the text of what it differentiates. In `let newton = \f -> \x -> x - f x / derivative f x in newton g 1.0`
//! the text of `f` is known only at the call, so that the call becomes `let f = g in let x = 1.0 in …`. Definitions that only
//! call their functional arguments stay what they are: the translations are higher-order.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "functions and `let`s are looked for, the others are alike"
)]

use super::super::syntax::grow;
use crate::kit::simple::{Term, TermKind, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Copies of definitions at most; what is beyond is refused later, as a function that is not known.
const MAX_COPIES: u32 = 500;

/// The program with these definitions written out.
pub(super) fn specialize(term: &Term) -> Term {
    let mut pass = Pass {
        next: largest(term),
        copies: 0,
        known: FxHashMap::default(),
        definitions: FxHashMap::default(),
    };
    pass.term(term)
}

fn largest(term: &Term) -> u32 {
    let mut largest = 0;
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        each_binder(term, &mut |var| largest = largest.max(var.id));
        open.extend(term.children());
    }
    largest
}

fn each_binder(term: &Term, f: &mut dyn FnMut(Var)) {
    match &term.kind {
        TermKind::Lam(var, ..) | TermKind::Let(var, ..) => f(*var),
        TermKind::LetRec(functions, _) => functions.iter().for_each(|(var, _, _)| f(*var)),
        TermKind::Case(_, arms) => {
            arms.iter().flat_map(|(fields, _)| fields).for_each(|(var, _)| f(*var));
        }
        TermKind::Var(_) | TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) => {}
        TermKind::String(_) | TermKind::App(..) | TermKind::If(..) | TermKind::Tuple(_) => {}
        TermKind::Proj(..) | TermKind::Prim(..) | TermKind::Derive(..) | TermKind::Ctor(..) => {}
        TermKind::Array(_) => {}
    }
}

/// Whether values of the type are data without functions.
fn is_data(ty: &Ty) -> bool {
    match ty {
        Ty::Real | Ty::Int | Ty::Bool | Ty::String => true,
        Ty::Tuple(parts) | Ty::Data(_, parts) => parts.iter().all(|part| grow(|| is_data(part))),
        Ty::Array(a) => grow(|| is_data(a)),
        Ty::Fun(..) | Ty::Dual(_) => false,
    }
}

/// Whether a function differentiates one of its parameters, or what it makes of it.
fn differentiates_a_parameter(term: &Term) -> bool {
    let mut parameters = FxHashSet::default();
    let mut body = term;
    while let TermKind::Lam(var, ty, inner) = &body.kind {
        if !is_data(ty) {
            parameters.insert(*var);
        }
        body = inner;
    }
    if parameters.is_empty() {
        return false;
    }
    let mut values: FxHashMap<Var, &Term> = FxHashMap::default();
    let mut reached: Vec<&Term> = Vec::new();
    let mut open = vec![body];
    while let Some(term) = open.pop() {
        if let TermKind::Let(var, _, value, _) = &term.kind {
            values.insert(*var, value);
        }
        if let TermKind::Derive(_, args) = &term.kind {
            reached.extend(args.first());
        }
        open.extend(term.children());
    }
    let mut seen = FxHashSet::default();
    while let Some(term) = reached.pop() {
        if let TermKind::Var(var) = &term.kind {
            if parameters.contains(var) {
                return true;
            }
            if seen.insert(*var) {
                reached.extend(values.get(var));
            }
        }
        reached.extend(term.children());
    }
    false
}

struct Pass {
    next: u32,
    copies: u32,
    /// Definitions to be written out.
    known: FxHashMap<Var, Rc<Term>>,
    /// The other definitions, which are written out where they get a function of `known` as an argument.
    definitions: FxHashMap<Var, Rc<Term>>,
}

impl Pass {
    fn term(&mut self, term: &Term) -> Term {
        grow(|| self.node(term))
    }

    fn shared(&mut self, term: &Term) -> Rc<Term> {
        Rc::new(self.term(term))
    }

    fn all(&mut self, terms: &[Term]) -> Vec<Term> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn node(&mut self, term: &Term) -> Term {
        let kind = match &term.kind {
            TermKind::Var(var) => match self.copy_of(*var) {
                Some(copy) => return copy,
                None => term.kind.clone(),
            },
            TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) | TermKind::String(_) => {
                term.kind.clone()
            }
            TermKind::Let(var, ty, value, body) => {
                let value = self.shared(value);
                if differentiates_a_parameter(&value) {
                    self.known.insert(*var, value);
                    return self.term(body);
                }
                if matches!(value.kind, TermKind::Lam(..)) {
                    self.definitions.insert(*var, Rc::clone(&value));
                }
                TermKind::Let(*var, ty.clone(), value, self.shared(body))
            }
            TermKind::App(func, arg) => {
                let written = self.is_known(func);
                let arg = self.term(arg);
                if differentiates_a_parameter(&arg)
                    && let Some(copy) = self.definition(func)
                {
                    let whole = applied(copy, arg, term);
                    return self.term(&whole);
                }
                let func = self.term(func);
                if written || differentiates_a_parameter(&func) {
                    return applied(func, arg, term);
                }
                TermKind::App(func.into(), arg.into())
            }
            TermKind::Lam(var, ty, body) => TermKind::Lam(*var, ty.clone(), self.shared(body)),
            TermKind::LetRec(functions, body) => {
                let functions =
                    functions.iter().map(|(var, ty, value)| (*var, ty.clone(), self.term(value))).collect();
                TermKind::LetRec(functions, self.shared(body))
            }
            TermKind::If(c, a, b) => TermKind::If(self.shared(c), self.shared(a), self.shared(b)),
            TermKind::Tuple(items) => TermKind::Tuple(self.all(items)),
            TermKind::Proj(tuple, at, count) => TermKind::Proj(self.shared(tuple), *at, *count),
            TermKind::Prim(prim, args) => TermKind::Prim(*prim, self.all(args)),
            TermKind::Derive(derive, args) => TermKind::Derive(*derive, self.all(args)),
            TermKind::Ctor(at, fields) => TermKind::Ctor(*at, self.all(fields)),
            TermKind::Case(scrutinee, arms) => {
                let scrutinee = self.shared(scrutinee);
                TermKind::Case(
                    scrutinee,
                    arms.iter().map(|(fields, body)| (fields.clone(), self.term(body))).collect(),
                )
            }
            TermKind::Array(items) => TermKind::Array(self.all(items)),
        };
        Term { kind, ty: term.ty.clone(), span: term.span }
    }

    /// Whether a term is a definition to be written out, or that applied to arguments.
    fn is_known(&self, term: &Term) -> bool {
        let mut head = term;
        while let TermKind::App(func, _) = &head.kind {
            head = func;
        }
        if let TermKind::Var(var) = &head.kind { self.known.contains_key(var) } else { false }
    }

    /// A function that is a definition.
    fn definition(&mut self, func: &Term) -> Option<Term> {
        let TermKind::Var(var) = &func.kind else { return None };
        let value = self.definitions.get(var).cloned()?;
        self.copy(&value)
    }

    fn copy_of(&mut self, var: Var) -> Option<Term> {
        let value = self.known.get(&var).cloned()?;
        self.copy(&value)
    }

    /// A definition with variables of its own.
    fn copy(&mut self, value: &Term) -> Option<Term> {
        self.copies += 1;
        if self.copies > MAX_COPIES {
            return None;
        }
        Some(self.renamed(value, &mut FxHashMap::default()))
    }

    fn renamed(&mut self, term: &Term, names: &mut FxHashMap<Var, Var>) -> Term {
        grow(|| {
            each_binder(term, &mut |var| {
                self.next += 1;
                names.insert(var, Var { name: var.name, id: self.next });
            });
            let of = |var: &Var, names: &FxHashMap<Var, Var>| names.get(var).copied().unwrap_or(*var);
            let mut on = |term: &Term| self.renamed(term, names);
            let kind = match &term.kind {
                TermKind::Var(var) => TermKind::Var(of(var, names)),
                TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) | TermKind::String(_) => {
                    term.kind.clone()
                }
                TermKind::Lam(var, ty, body) => {
                    let body = on(body).into();
                    TermKind::Lam(of(var, names), ty.clone(), body)
                }
                TermKind::App(f, x) => TermKind::App(on(f).into(), on(x).into()),
                TermKind::Let(var, ty, value, body) => {
                    let (value, body) = (on(value).into(), on(body).into());
                    TermKind::Let(of(var, names), ty.clone(), value, body)
                }
                TermKind::LetRec(functions, body) => {
                    let values: Vec<Term> = functions.iter().map(|(_, _, value)| on(value)).collect();
                    let body = on(body).into();
                    let named = functions.iter().zip(values);
                    let functions =
                        named.map(|((var, ty, _), value)| (of(var, names), ty.clone(), value)).collect();
                    TermKind::LetRec(functions, body)
                }
                TermKind::If(c, a, b) => TermKind::If(on(c).into(), on(a).into(), on(b).into()),
                TermKind::Tuple(items) => TermKind::Tuple(items.iter().map(on).collect()),
                TermKind::Proj(tuple, at, count) => TermKind::Proj(on(tuple).into(), *at, *count),
                TermKind::Prim(prim, args) => TermKind::Prim(*prim, args.iter().map(on).collect()),
                TermKind::Derive(derive, args) => TermKind::Derive(*derive, args.iter().map(on).collect()),
                TermKind::Ctor(at, fields) => TermKind::Ctor(*at, fields.iter().map(on).collect()),
                TermKind::Case(scrutinee, arms) => {
                    let scrutinee = on(scrutinee).into();
                    let bodies: Vec<Term> = arms.iter().map(|(_, body)| on(body)).collect();
                    let field = |(var, ty): &(Var, Ty)| (of(var, names), ty.clone());
                    let arms = arms
                        .iter()
                        .zip(bodies)
                        .map(|((fields, _), body)| (fields.iter().map(field).collect(), body))
                        .collect();
                    TermKind::Case(scrutinee, arms)
                }
                TermKind::Array(items) => TermKind::Array(items.iter().map(on).collect()),
            };
            Term { kind, ty: term.ty.clone(), span: term.span }
        })
    }
}

/// `func arg`, where a written-out function becomes a `let`, below the `let`s for its other arguments.
fn applied(func: Term, arg: Term, term: &Term) -> Term {
    let whole = |kind| Term { kind, ty: term.ty.clone(), span: term.span };
    match func.kind {
        TermKind::Lam(var, ty, body) => whole(TermKind::Let(var, ty, arg.into(), body)),
        TermKind::Let(var, ty, value, body) => {
            // Variables are unique, so that nothing of `arg` is captured.
            let body = grow(|| applied(body.as_ref().clone(), arg, term));
            whole(TermKind::Let(var, ty, value, body.into()))
        }
        kind => whole(TermKind::App(Rc::new(Term { kind, ..func }), arg.into())),
    }
}
