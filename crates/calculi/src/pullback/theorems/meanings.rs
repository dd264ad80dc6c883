//! What reductions end in: rows of Jacobians, derivatives at higher types, and values that stay.

use super::terms::{any_pullback, stuck};
use super::{LIMITS, cases, for_all, text};
use crate::pullback::denotation::{Val, close, differential, eval, sample};
use crate::pullback::examples::{reduce, term};
use crate::pullback::print::{Notation, print};
use crate::pullback::reduce::{Reducer, numbers};
use crate::pullback::syntax::{Kind, Pat, Term, Var};

#[test]
fn corollary_4_8_1_rows_of_the_jacobian() {
    for_all(|u| {
        let sample = any_pullback(u, true)?;
        let (rows, columns) = (sample.body.ty().width().unwrap_or(0), sample.y.ty().width().unwrap_or(0));
        for row in 0..rows {
            let e: Vec<f64> = (0..rows).map(|i| if i == row { 1.0 } else { 0.0 }).collect();
            let form = Term::lam(
                Pat::var(Var::named("x", sample.body.ty().clone())),
                Term::dual_const(Term::vector(&e)),
            );
            let pull = Term::pull(Pat::var(sample.y.clone()), sample.body.clone(), form);
            let (trace, end) =
                Reducer::new(&LIMITS, Notation::Paper).trace(&Term::app(pull, sample.at.clone()));
            if trace.stopped.is_some() {
                return Ok(());
            }
            let gradient = match end.kind() {
                Kind::DualConst(vector) => numbers(vector).unwrap_or_default(),
                Kind::Zero => (0..columns).map(|_| 0.0).collect(),
                // Values 1 and 2 of remark 3.6.
                _ if stuck(&end) => return Ok(()),
                _ => panic!("{} ends in {}", text(&sample.term), text(&end)),
            };
            let at = eval(&sample.at, &sample.env);
            let f = |x: &Val| {
                eval(
                    &Term::app(
                        Term::lam(Pat::var(sample.y.clone()), sample.body.clone()),
                        Term::var(sample.y.clone()),
                    ),
                    &std::rc::Rc::new([(sample.y.id(), x.clone())].into_iter().collect()),
                )
            };
            for (column, entry) in gradient.iter().enumerate() {
                let unit: Vec<f64> =
                    (0..columns as usize).map(|i| if i == column { 1.0 } else { 0.0 }).collect();
                let v = eval(&Term::vector(&unit), &sample.env);
                let mut derivative = Vec::new();
                differential(&f, &v, &at).leaves(&mut derivative);
                let expected = derivative[row as usize].plain();
                assert!(
                    (entry - expected).abs() <= 1e-7 * (1.0 + expected.abs()) || expected.abs() > 1e9,
                    "{}: {entry} instead of {expected}",
                    text(&sample.term)
                );
            }
        }
        Ok(())
    });
}

#[test]
fn corollary_4_8_2_derivatives_at_higher_types() {
    let mut seen = 0;
    for_all(|u| {
        let s = any_pullback(u, false)?;
        let (_, end) = Reducer::new(&LIMITS, Notation::Paper).trace(&s.term);
        let Kind::DualMap(v, jacobian, form) = end.kind() else { return Ok(()) };
        match form.kind() {
            Kind::App(f, _) if matches!(f.kind(), Kind::Var(x) if *x == s.omega) => {}
            _ if stuck(&end) => return Ok(()),
            _ => panic!("{}", text(&end)),
        }
        let along = sample(s.y.ty(), 41);
        let found = eval(&Term::lam(v.clone(), jacobian.clone()), &s.env).apply(&along);
        let function = eval(&Term::lam(Pat::var(s.y.clone()), s.body.clone()), &s.env);
        let expected = differential(&|x| function.apply(x), &along, &eval(&s.at, &s.env));
        assert!(close(s.body.ty(), &found, &expected, 3), "{}\n{}", text(&s.term), text(&end));
        seen += 1;
        Ok(())
    });
    assert!(seen > cases() / 10, "only {seen} Jacobians");
}

#[test]
fn value_1_is_reached_by_closed_functions() {
    // Corollary 4.8 (2) assumes the form (λv.P)*·(ω P'); λx.λf. f x does not reach it.
    let end = print(&reduce("{ω : Ω((R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λf. f x) · ω) 3").1);
    assert!(end.starts_with("((Ω λx. λf."), "{end}");
}

#[test]
fn values_of_remark_3_6_say_why_they_stay() {
    let why = |text: &str| {
        let outcome = Reducer::new(&LIMITS, Notation::Paper).outcome(&term(text));
        outcome.stuck.map(|stuck| stuck.note()).unwrap_or_default()
    };
    let value_1 = "a pullback stays: value 1 of remark 3.6, no reduction differentiates ";
    let value_2 = "a pullback stays: value 2 of remark 3.6, no reduction differentiates ";
    let cases = [
        ("{ω : Ω R, g : R ⇒ R} ⊢ ((Ω λx. g x) · ω) 3", value_1, "`g x` where `g` is a variable"),
        ("{ω : Ω R, g : R ⇒ R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨g, 3⟩", value_1, "`f x` where `g` is a variable"),
        ("{ω : Ω((R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λf. f x) · ω) 3", value_1, "`z1 z2` where `f` is a variable"),
        // In a premise of a premise, and in the first of two components.
        (
            "{ω : Ω(R ⇒ (R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λy. λf. f x) · ω) 3",
            value_1,
            "`z1 z2` where `f` is a variable",
        ),
        (
            "{k : R* ⇒ R} ⊢ ⟨k (((Ω λx. (λf. f x)) · (λg. 0)) 3), ((Ω λx. sin(x)) · Ω [1]) 0⟩",
            value_1,
            "`z1 z2` where `f` is a variable",
        ),
        (
            "{ω : Ω R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨J sin · 1, 3⟩",
            value_2,
            "`f x` where `J sin · 1` is no abstraction",
        ),
        (
            "{ω : Ω(R*)} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨(Ω λx. sin(x)) · (λx. [1]*), 3⟩",
            value_2,
            "`f x` where `(Ω λx. sin(x)) · (λx. [1]*)` is no abstraction",
        ),
    ];
    for (text, kind, call) in cases {
        assert_eq!(why(text), format!("{kind}{call}"), "{text}");
    }
    // Known functions, functions of pairs, and what is thrown away do not stay.
    for text in [
        "{ω : Ω R} ⊢ ((Ω λx. (λf. f x) (λy. mult(y, y))) · ω) 3",
        "{ω : Ω((R ⇒ R) × R ⇒ R)} ⊢ ((Ω λx. λ⟨f, y⟩. f y) · ω) 3",
        "{ω : Ω(R ⇒ R)} ⊢ (λu. 5) (((Ω λx. λf. f x) · (λg. 0)) 3)",
        "{ω : Ω R} ⊢ ω",
    ] {
        assert_eq!(why(text), "", "{text}");
    }
}

#[test]
fn curried_lists_cannot_fold_functions() {
    let step = "(λa k. λy. k (mult(a, y)))";
    let curried = format!("((Ω λx. (λf d. f 3 (f 2 d)) {step} (λy. y) x) · Ω [1]) 0.5");
    let paired = "((Ω λx. ((λ⟨f, d⟩. f ⟨3, f ⟨2, d⟩⟩) ⟨λ⟨a, k⟩. λy. k (mult(a, y)), λy. y⟩) x) · Ω [1]) 0.5";
    assert!(print(&reduce(&curried).1).contains("(Ω"), "{}", print(&reduce(&curried).1));
    assert_eq!(print(&reduce(paired).1), "[6]*");
}
