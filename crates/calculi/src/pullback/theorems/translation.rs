//! The translation to the differential calculus: lemma 5.1, example 3.9, and how large expressions become there.

use super::terms::{Sample, any_pullback};
use super::{LIMITS, for_all, text, well_typed};
use crate::kit::trace::Limits;
use crate::pullback::denotation::{Val, close, eval};
use crate::pullback::differential::{Normalizer, translate, translate_type};
use crate::pullback::examples::term;
use crate::pullback::print::{Notation, print};
use crate::pullback::reduce::{Reducer, numbers};
use crate::pullback::syntax::{Kind, Pat, Term, Var, each_child};

#[test]
fn lemma_5_1_2_translation_keeps_meaning() {
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let translated = translate(&sample.term);
        assert!(well_typed(&translated), "{}", text(&translated));
        assert!(*translated.ty() == translate_type(sample.term.ty()));
        // Variables of dual types become variables of function types of the same name.
        let (a, b) = (eval(&sample.term, &sample.env), eval_named(&translated, &sample));
        assert!(close(sample.term.ty(), &a, &b, 9), "{}\n{}", text(&sample.term), text(&translated));
        Ok(())
    });
}

/// The translation's own ω has the same meaning as the original.
fn eval_named(translated: &Term, sample: &Sample) -> Val {
    let mut env = (*sample.env).clone();
    let omega = sample.env[&sample.omega.id()].clone();
    let mut stack = vec![translated.clone()];
    while let Some(term) = stack.pop() {
        if let Kind::Var(var) = term.kind()
            && var.name() == "ω"
        {
            env.insert(var.id(), omega.clone());
        }
        each_child(term.kind(), |_, child| stack.push(child.clone()));
    }
    eval(translated, &std::rc::Rc::new(env))
}

#[test]
fn example_3_9_in_the_differential_calculus() {
    let start = term("((Ω λ⟨x,y⟩. pow2(mult(add(x,1), add(mult(2,x), pow2(y))))) · Ω [1]) ⟨1,3⟩");
    for (unit, expected) in [([1.0, 0.0], 660.0), ([0.0, 1.0], 528.0)] {
        let applied = Term::app(translate(&start), Term::vector(&unit));
        let end = Normalizer::new(&LIMITS).normalize(&applied).expect("within limits");
        assert_eq!(numbers(&end), Some(vec![expected]));
    }
}

/// n doublings `let z = mult(x,x) in …`, differentiated at 1.
fn nested(n: usize) -> Term {
    let lets: Vec<String> = (1..=n).map(|i| format!("z{i} = mult(z{}, z{})", i - 1, i - 1)).collect();
    term(&format!("((Ω λz0. let {} in z{n}) · Ω [1]) 1", lets.join("; ")))
}

#[test]
fn expression_swells_there_and_not_here() {
    let mut measured = Vec::new();
    for n in [2, 4, 8] {
        let start = nested(n);
        let (trace, end) = Reducer::new(&LIMITS, Notation::Paper).trace(&start);
        assert_eq!(print(&end), format!("[{}]*", 1 << n));
        let mut normalizer = Normalizer::new(&LIMITS);
        let normal =
            normalizer.normalize(&Term::app(translate(&start), Term::real(1.0))).expect("within limits");
        assert_eq!(numbers(&normal), Some(vec![f64::from(1 << n)]));
        measured.push((trace.counts.steps, normalizer.counts().steps));
    }
    let [(s2, d2), (s4, d4), (s8, d8)] = measured[..] else { panic!("three sizes") };
    // Twice as many lets: at most twice as many steps here, and far more there.
    assert!(s4 <= 2 * s2 && s8 <= 2 * s4, "{measured:?}");
    assert!(d8 > 8 * d4 && d4 > 2 * d2, "{measured:?}");
}

#[test]
fn lemma_5_1_1_translations_of_a_reduction_join_at_vectors() {
    let limits = Limits { steps: 3_000, size: 20_000, recorded: 0 };
    let (mut joined, mut left) = (0, 12);
    for_all(|u| {
        let s = any_pullback(u, true)?;
        let (rows, columns) = (s.body.ty().width().unwrap_or(1), s.y.ty().width().unwrap_or(1));
        if left == 0 || s.term.size() > 24 {
            return Ok(());
        }
        left -= 1;
        let ones = |n: u64| Term::vector(&(0..n).map(|i| 1.0 + i as f64).collect::<Vec<f64>>());
        let form = Term::lam(Pat::var(Var::named("x", s.body.ty().clone())), Term::dual_const(ones(rows)));
        let start = Term::app(Term::pull(Pat::var(s.y.clone()), s.body.clone(), form), s.at.clone());
        let number = |term: &Term| {
            let applied = Term::app(translate(term), ones(columns));
            let normal = Normalizer::new(&limits).normalize(&applied).ok()?;
            numbers(&normal)?.first().copied()
        };
        let Some(first) = number(&start) else { return Ok(()) };
        let mut watch = |rule: &'static str, _: &Term, after: &Term| {
            if let Some(now) = number(after) {
                joined += 1;
                let same = (now - first).abs() <= 1e-7 * (1.0 + first.abs());
                assert!(same || first.abs() > 1e9, "{rule}: {now} instead of {first} at {}", text(after));
            }
        };
        let _ = Reducer::new(&LIMITS, Notation::Paper).observed(&mut watch).trace(&start);
        Ok(())
    });
    assert!(joined > 30, "only {joined} steps");
}
