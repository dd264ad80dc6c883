//! Function parameters that a recursive function hands on unchanged.
//!
//! ```text
//! let rec walk f t = … walk f left … walk f right …
//!     becomes    let walk f t = let rec step t = … step left … step right … in step t
//! ```
//!
//! After that `walk` is an ordinary function, which can be copied for the functions that it is given.

#![expect(clippy::wildcard_enum_match_arm, reason = "the terms that are looked at are named")]

use super::apply;
use super::copy::{Copies, contains_function};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::Span;
use wengert_mono::simple::{Term, TermKind, Ty, Var};

/// The function that is not recursive, if a function parameter is always handed on.
pub(super) fn split(copies: &mut Copies<'_>, var: Var, value: &Term) -> Option<Term> {
    let mut params: Vec<(Var, Ty)> = Vec::new();
    let mut body = value;
    while let TermKind::Lam(param, ty, inner) = &body.kind {
        params.push((*param, ty.clone()));
        body = inner;
    }
    let mut handed_on: Vec<bool> = params.iter().map(|(_, ty)| contains_function(ty)).collect();
    if !check_calls(var, &params, body, &mut handed_on) {
        return None;
    }
    let stays = |index: usize| !handed_on.get(index).copied().unwrap_or(false);
    let rest: Vec<(Var, Ty)> = params
        .iter()
        .enumerate()
        .filter(|(index, _)| stays(*index))
        .map(|(_, param)| param.clone())
        .collect();
    if rest.len() == params.len() || rest.is_empty() {
        return None;
    }
    let inner = copies.fresh(var.name);
    let inner_ty = rest.iter().rev().fold(body.ty.clone(), |to, (_, from)| fun(from, to));
    let renaming = Renaming { var, inner, inner_ty: inner_ty.clone(), handed_on: &handed_on };
    let span = value.span;
    let body = renaming.term(body);
    let outer: FxHashMap<Var, Var> = rest.iter().map(|(var, _)| (*var, copies.fresh(var.name))).collect();
    let args = rest.iter().map(|(var, ty)| {
        let var = outer.get(var).copied().unwrap_or(*var);
        (Term { kind: TermKind::Var(var), ty: ty.clone(), span }, span)
    });
    let head = Term { kind: TermKind::Var(inner), ty: inner_ty.clone(), span };
    let call = apply(head, args.collect());
    let ty = call.ty.clone();
    let lambda = lambdas(&rest, body, span);
    let kind = TermKind::LetRec(vec![(inner, inner_ty, lambda)], Rc::new(call));
    let params: Vec<(Var, Ty)> =
        params.into_iter().map(|(var, ty)| (outer.get(&var).copied().unwrap_or(var), ty)).collect();
    Some(lambdas(&params, Term { kind, ty, span }, span))
}

fn fun(from: &Ty, to: Ty) -> Ty {
    Ty::Fun(Rc::new(from.clone()), Rc::new(to))
}

fn lambdas(params: &[(Var, Ty)], body: Term, span: Span) -> Term {
    params.iter().rev().fold(body, |body, (var, from)| {
        let ty = fun(from, body.ty.clone());
        Term { kind: TermKind::Lam(*var, from.clone(), Rc::new(body)), ty, span }
    })
}

/// Clears the parameters that some call inside changes; whether all mentions are full calls.
fn check_calls(var: Var, params: &[(Var, Ty)], body: &Term, handed_on: &mut [bool]) -> bool {
    let mut stack = vec![body];
    while let Some(term) = stack.pop() {
        match &term.kind {
            TermKind::Var(found) if *found == var => return false,
            TermKind::App(..) => {
                let mut args = Vec::new();
                let mut head = term;
                while let TermKind::App(func, arg) = &head.kind {
                    args.push(arg.as_ref());
                    head = func;
                }
                args.reverse();
                stack.extend(args.iter().copied());
                let TermKind::Var(found) = &head.kind else {
                    stack.push(head);
                    continue;
                };
                if *found != var {
                    continue;
                }
                if args.len() < params.len() {
                    return false;
                }
                for ((arg, (param, _)), same) in args.iter().zip(params).zip(handed_on.iter_mut()) {
                    *same &= matches!(&arg.kind, TermKind::Var(given) if given == param);
                }
            }
            _ => stack.extend(term.children()),
        }
    }
    true
}

/// Calls of the function become calls of the inner one.
struct Renaming<'a> {
    var: Var,
    inner: Var,
    inner_ty: Ty,
    handed_on: &'a [bool],
}

impl Renaming<'_> {
    fn shared(&self, term: &Term) -> Rc<Term> {
        Rc::new(self.term(term))
    }

    fn all(&self, terms: &[Term]) -> Vec<Term> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn term(&self, term: &Term) -> Term {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let kind = match &term.kind {
                TermKind::Var(_)
                | TermKind::Real(_)
                | TermKind::Int(_)
                | TermKind::Bool(_)
                | TermKind::String(_) => term.kind.clone(),
                TermKind::Lam(var, ty, body) => TermKind::Lam(*var, ty.clone(), self.shared(body)),
                TermKind::App(..) => return self.call(term),
                TermKind::Let(var, ty, value, body) => {
                    TermKind::Let(*var, ty.clone(), self.shared(value), self.shared(body))
                }
                TermKind::LetRec(bindings, body) => {
                    let bindings =
                        bindings.iter().map(|(var, ty, value)| (*var, ty.clone(), self.term(value)));
                    TermKind::LetRec(bindings.collect(), self.shared(body))
                }
                TermKind::If(cond, then, otherwise) => {
                    TermKind::If(self.shared(cond), self.shared(then), self.shared(otherwise))
                }
                TermKind::Tuple(items) => TermKind::Tuple(self.all(items)),
                TermKind::Proj(tuple, index, count) => TermKind::Proj(self.shared(tuple), *index, *count),
                TermKind::Prim(prim, args) => TermKind::Prim(*prim, self.all(args)),
                TermKind::Derive(operator, args) => TermKind::Derive(*operator, self.all(args)),
                TermKind::Ctor(index, fields) => TermKind::Ctor(*index, self.all(fields)),
                TermKind::Case(scrutinee, arms) => {
                    let scrutinee = self.shared(scrutinee);
                    let arms = arms.iter().map(|(vars, body)| (vars.clone(), self.term(body))).collect();
                    TermKind::Case(scrutinee, arms)
                }
                TermKind::Array(items) => TermKind::Array(self.all(items)),
            };
            Term { kind, ty: term.ty.clone(), span: term.span }
        })
    }

    fn call(&self, term: &Term) -> Term {
        let mut args = Vec::new();
        let mut head = term;
        while let TermKind::App(func, arg) = &head.kind {
            args.push((arg, head.span));
            head = func;
        }
        args.reverse();
        let own = matches!(&head.kind, TermKind::Var(found) if *found == self.var);
        let kept = args
            .into_iter()
            .enumerate()
            .filter(|(index, _)| !own || !self.handed_on.get(*index).copied().unwrap_or(false));
        let args = kept.map(|(_, (arg, span))| (self.term(arg), span)).collect();
        let head = if own {
            Term { kind: TermKind::Var(self.inner), ty: self.inner_ty.clone(), span: head.span }
        } else {
            self.term(head)
        };
        apply(head, args)
    }
}
