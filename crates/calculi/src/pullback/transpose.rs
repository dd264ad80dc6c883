//! Reduction 5 on every linear map between Rⁿ and Rᵐ that reductions 9 to 20b make: `(λv.S)*·r*` is a vector.
//!
//! The paper states 5 for `λv.(J f·v) r` only, but uses it on `λ⟨v₁,…,v₅⟩.(J pow2·v₅) 22` and on tuples (example 3.9): the
//! map is the Jacobian of an easily differentiable function all the same. Its transpose is found by sending r back
//! through S, each shared node once. If S is the mirrored tuple with one more component, as after 20a, only the
//! entries of that component's variables change, so a step costs no more than the way to them.

use super::reduce::numbers;
use super::syntax::{Kind, Pat, PatKind, Term};
use rustc_hash::FxHashMap;
use wengert_prim::RealOp;

/// `w` such that `(λpat.body)*·vector* = w*`; `None` if the body is not of the forms above.
pub(crate) fn transpose(pat: &Pat, body: &Term, vector: &Term, flops: &mut u64) -> Option<Term> {
    pat.ty().width()?;
    let tuple = pat.term();
    let mut order = Vec::new();
    topological(body, &tuple, &mut order)?;
    let mut weights: FxHashMap<*const (), Term> = FxHashMap::default();
    weights.insert(body.ptr(), vector.clone());
    let mut result = Term::zero(pat.ty().clone());
    let mut entries = Vec::new();
    while let Some(term) = order.pop() {
        let Some(weight) = weights.remove(&term.ptr()) else { continue };
        if term.ptr() == tuple.ptr() {
            result = weight;
            continue;
        }
        let mut send = |to: &Term, weight: Term, flops: &mut u64| {
            let weight = match weights.remove(&to.ptr()) {
                Some(before) => add(&before, &weight, flops),
                None => weight,
            };
            weights.insert(to.ptr(), weight);
        };
        match term.kind() {
            Kind::Var(var) => entries.push((var.id(), weight)),
            Kind::Pair(a, b) => {
                send(a, weight.project(1), flops);
                send(b, weight.project(2), flops);
            }
            Kind::Proj(index, a) => {
                let (first, second) = a.ty().parts();
                let padded = if *index == 1 {
                    Term::pair(weight, Term::zero(second))
                } else {
                    Term::pair(Term::zero(first), weight)
                };
                send(a, padded, flops);
            }
            Kind::Sum(a, b) => {
                send(a, weight.clone(), flops);
                send(b, weight, flops);
            }
            Kind::App(jacobian, point) => {
                let Kind::Jac(f, along) = jacobian.kind() else { return None };
                let (point, weight) = (numbers(point)?, numbers(&weight)?);
                *flops += 2 * f.cost();
                send(along, Term::vector(&f.cotangent(&point, &weight)), flops);
            }
            _ => {}
        }
    }
    for (id, weight) in entries {
        result = add_at(pat, &result, id, &weight, flops);
    }
    Some(result)
}

/// The nodes of the linear map, arguments before users.
fn topological(body: &Term, tuple: &Term, order: &mut Vec<Term>) -> Option<()> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack = vec![(body.clone(), false)];
    while let Some((term, done)) = stack.pop() {
        if done {
            order.push(term);
            continue;
        }
        if !seen.insert(term.ptr()) {
            continue;
        }
        stack.push((term.clone(), true));
        if term.ptr() == tuple.ptr() {
            continue;
        }
        match term.kind() {
            Kind::Zero => {}
            Kind::Real(x) if *x == 0.0 => {}
            Kind::Var(_) => {
                term.ty().width()?;
            }
            Kind::Pair(a, b) | Kind::Sum(a, b) => {
                stack.push((b.clone(), false));
                stack.push((a.clone(), false));
            }
            Kind::Proj(_, a) => stack.push((a.clone(), false)),
            Kind::App(f, point) => {
                let Kind::Jac(_, along) = f.kind() else { return None };
                numbers(point)?;
                stack.push((along.clone(), false));
            }
            Kind::Lam(..)
            | Kind::Let(..)
            | Kind::Real(_)
            | Kind::Fun(..)
            | Kind::Jac(..)
            | Kind::DualMap(..)
            | Kind::DualConst(_)
            | Kind::Pull(..)
            | Kind::Diff(..) => return None,
        }
    }
    Some(())
}

/// The sum of two vectors; zeros of any width are shared.
pub(crate) fn add(a: &Term, b: &Term, flops: &mut u64) -> Term {
    super::subst::deep(|| match (a.kind(), b.kind()) {
        (Kind::Zero, _) => b.clone(),
        (_, Kind::Zero) => a.clone(),
        (Kind::Real(x), Kind::Real(y)) => {
            *flops += RealOp::Add.cost();
            Term::real(RealOp::Add.eval2(*x, *y))
        }
        _ => Term::pair(add(&a.project(1), &b.project(1), flops), add(&a.project(2), &b.project(2), flops)),
    })
}

/// `vector` with `weight` added at the place of a variable of the pattern.
fn add_at(pat: &Pat, vector: &Term, id: u32, weight: &Term, flops: &mut u64) -> Term {
    let (mut spine, mut here, mut value) = (Vec::new(), pat.clone(), vector.clone());
    while let PatKind::Pair(first, second) = here.kind() {
        let (first, second) = (first.clone(), second.clone());
        let last = second.binds(id);
        let (down, kept) = if last { (2, value.project(1)) } else { (1, value.project(2)) };
        spine.push((last, kept));
        value = value.project(down);
        here = if last { second } else { first };
    }
    let found = matches!(here.kind(), PatKind::Var(var) if var.id() == id);
    let changed = if found { add(&value, weight, flops) } else { value };
    spine.into_iter().rev().fold(
        changed,
        |part, (last, kept)| {
            if last { Term::pair(kept, part) } else { Term::pair(part, kept) }
        },
    )
}
