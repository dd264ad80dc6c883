//! Reductions 6 that are taken together, against the same one by one; and what they cost on Church lists.

use super::func::Func;
use super::print::{Notation, print};
use super::reduce::Reducer;
use super::syntax::{Kind, Pat, Term, Type, Var};
use super::theorems::terms::any_pullback;
use super::theorems::{cases, for_all};
use crate::kit::trace::{Limits, Trace};
use wengert_prim::RealOp;

const LIMITS: Limits = Limits { steps: 20_000, size: 200_000, recorded: 0 };

/// The reduction as it is, and with somebody who looks at each step.
fn both(start: &Term, limits: &Limits) -> [(Trace, Term); 2] {
    let mut nothing = |_: &'static str, _: &Term, _: &Term| {};
    let watched = Reducer::new(limits, Notation::Paper).observed(&mut nothing).trace(start);
    [Reducer::new(limits, Notation::Paper).trace(start), watched]
}

fn assert_same(start: &Term, limits: &Limits) -> bool {
    let [(trace, end), (watched, expected)] = both(start, limits);
    if trace.stopped.is_some() && trace.counts.steps > limits.steps {
        // The limit is inside an A-reduction, whose steps are taken together as well.
        return false;
    }
    assert_eq!(trace.counts.by_rule, watched.counts.by_rule, "{}", print(start));
    assert_eq!(trace.counts.more, watched.counts.more, "{}", print(start));
    assert_eq!((trace.stopped, print(&end)), (watched.stopped, print(&expected)), "{}", print(start));
    trace.counts.by_rule.get("6").is_some_and(|count| *count > 3)
}

#[test]
fn steps_taken_together_are_the_same_steps() {
    let mut composed = 0;
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        composed += usize::from(assert_same(&sample.term, &LIMITS));
        Ok(())
    });
    assert!(composed * 20 > cases() as usize, "only {composed} compose maps");
}

#[test]
fn steps_taken_together_stop_at_the_same_step() {
    let start = network(3);
    let [(all, _), _] = both(&start, &LIMITS);
    for steps in 0..=all.counts.steps {
        assert_same(&start, &Limits { steps, ..LIMITS });
    }
}

/// `grad (λ⟨w,u⟩. fold (λ⟨h,x⟩. body) 0 [0.1, 0.2, …])` at ⟨0.5, 0.25⟩, with the list as a Church list.
fn fold(n: usize, body: impl Fn([Term; 4]) -> Term) -> Term {
    let [w, u, h, x] = ["w", "u", "h", "x"].map(|name| Var::named(name, Type::real()));
    let pair = |a: &Var, b: &Var| Pat::pair(Pat::var(a.clone()), Pat::var(b.clone()));
    let body = body([&w, &u, &h, &x].map(|var| Term::var(var.clone())));
    let step = Term::lam(pair(&h, &x), body);
    let (f, d) = (Var::named("f", step.ty().clone()), Var::named("d", Type::real()));
    let items = (0..n).map(|i| Term::real((i % 9 + 1) as f64 / 10.0));
    let call = |state: Term, item: Term| Term::app(Term::var(f.clone()), Term::pair(state, item));
    let list = Term::lam(pair(&f, &d), items.fold(Term::var(d.clone()), call));
    let program = Term::app(list, Term::pair(step, Term::real(0.0)));
    let one = Term::lam(Pat::var(Var::named("x", Type::real())), Term::dual_const(Term::real(1.0)));
    Term::app(Term::pull(pair(&w, &u), program, one), Term::vector(&[0.5, 0.25]))
}

fn operation(op: RealOp, a: Term, b: Term) -> Term {
    Term::fun(Func::Prim(op), Term::pair(a, b))
}

/// A recurrent network.
fn network(n: usize) -> Term {
    fold(n, |[w, u, h, x]| {
        let sum = operation(RealOp::Add, operation(RealOp::Mul, w, h), operation(RealOp::Mul, u, x));
        Term::fun(Func::Prim(RealOp::Tanh), sum)
    })
}

/// `w·h·h + u·x`
fn squares(n: usize) -> Term {
    fold(n, |[w, u, h, x]| {
        let square = operation(RealOp::Mul, operation(RealOp::Mul, w, h.clone()), h);
        operation(RealOp::Add, square, operation(RealOp::Mul, u, x))
    })
}

fn counts(start: &Term) -> (u64, u64) {
    let limits = Limits { recorded: 0, ..Limits::default() };
    let (trace, end) = Reducer::new(&limits, Notation::Paper).trace(start);
    assert!(trace.stopped.is_none() && matches!(end.kind(), Kind::DualConst(_)));
    (trace.counts.steps, trace.counts.max_size)
}

/// 10⁵ nodes: one after the other, the substitutions of 6 would look through a thousand million.
#[test]
fn a_network_over_a_long_list_is_linear() {
    let ((small_steps, small_size), (steps, size)) = (counts(&network(200)), counts(&network(2000)));
    assert!(
        steps <= 10 * small_steps && size <= 10 * small_size,
        "{small_steps} {steps} {small_size} {size}"
    );
    assert!(size > 100_000);
}

/// What 6 costs as the paper has it, where 5 cannot be used because the tuple holds a function: the Jacobian of what comes
/// before stands wherever a variable is used, so that a state that is used twice doubles it.
#[test]
fn a_state_that_is_used_twice_beside_a_function_doubles_the_map() {
    let steps: Vec<u64> = (7..=11).map(|n| counts(&squares(n)).0).collect();
    let growth: Vec<f64> = steps.windows(3).map(|w| (w[2] - w[1]) as f64 / (w[1] - w[0]) as f64).collect();
    assert!(growth.iter().all(|ratio| (1.8..2.2).contains(ratio)), "{steps:?} {growth:?}");
}
