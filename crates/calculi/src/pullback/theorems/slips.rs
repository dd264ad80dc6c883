//! The slips found in the paper.

use super::{LIMITS, well_typed};
use crate::pullback::differential::{Normalizer, translate};
use crate::pullback::examples::{reduce, term};
use crate::pullback::print::{print, print_type};
use crate::pullback::syntax::{Pat, Term, Type, Var};
use crate::pullback::types::{Language, linear, literal_lin};
use wengert_base::SourceId;

#[test]
fn slip_iteration_of_2_1_starts_at_1_3() {
    let g = "fun g⟨x,y⟩ = ⟨add(x,1), add(mult(2,x), pow2(y))⟩;\n";
    let values = |point: &str| print(&reduce(&format!("{g}pow2(mult(g({point})))")).1);
    assert_eq!((values("⟨1,3⟩").as_str(), values("⟨3,1⟩").as_str()), ("484", "784"));
}

#[test]
fn slip_16c_needs_v_for_y() {
    // (λy.(λx.y x)*·…) with y in both places: Figure 3 has (λx.S)*·Vπᵢ, the text (λx.S)*·yπᵢ, in which y is unbound.
    let (trace, end) = reduce("{ω : Ω(R*)} ⊢ ((Ω λ⟨y, k⟩. (λx. (λb. x) y)* · k) · ω) ⟨0.5, [2]*⟩");
    assert!(trace.counts.by_rule.contains_key("16c"), "{:?}", trace.counts.by_rule);
    assert!(!end.mentions(&|_| false) && print(&end).starts_with("(λ⟨v1, v2⟩. "), "{}", print(&end));
    assert!(well_typed(&end) && !print(&end).contains('y'), "{}", print(&end));
}

#[test]
fn slip_lin_of_figure_2_does_not_survive_reduction() {
    // Reduction 20b makes (λv.⟨v,0⟩)*, but lin(0) = ∅ by 3.1.1, so lin(⟨v,0⟩) = ∅.
    let v = Var::named("v", Type::real());
    let pair = Term::pair(Term::var(v.clone()), Term::zero(Type::real()));
    assert!(!literal_lin(&v, &pair) && linear(&Pat::var(v.clone()), &pair));
    // Reductions 16c and 19b make sums under dual maps, and lin(S+P) = ∅.
    let sum = Term::sum(Term::var(v.clone()), Term::var(v.clone()));
    assert!(!literal_lin(&v, &sum) && linear(&Pat::var(v.clone()), &sum));
    // A-reduction turns (λv.π₁ v)* into (λv.let z = v; …)*, and lin(S P) leaves out FV(P).
    let z = Var::named("z", Type::real());
    let series = Term::let_in(z.clone(), Term::var(v.clone()), Term::var(z));
    assert!(!literal_lin(&v, &series) && linear(&Pat::var(v), &series));
}

#[test]
fn a_dual_map_is_linear_in_its_body_or_in_its_form_not_in_both() {
    let v = Var::named("v", Type::real());
    let (there, absent) = (|| Term::var(v.clone()), || Term::real(2.0));
    let dual = |body: Term, form: Term| {
        let term = Term::dual_map(Pat::var(Var::named("y", Type::real())), body, form);
        (linear(&Pat::var(v.clone()), &term), literal_lin(&v, &term))
    };
    assert_eq!(dual(there(), absent()), (true, true));
    assert_eq!(dual(absent(), there()), (true, true));
    assert_eq!(dual(there(), there()), (false, false));
    assert_eq!(dual(absent(), absent()), (false, false));
}

#[test]
fn slip_example_3_2_needs_a_form_on_the_result() {
    let sum = |omega: &str| format!("{{ω : {omega}}} ⊢ ((Ω λl. l (λx y. x + y) 0) · ω) [7, -1]");
    let check = |text: &str| crate::pullback::read(SourceId(0), text, Language::Pullback);
    let ok = check(&sum("Ω R")).expect("ω is a form on the result of sum");
    assert_eq!(print_type(ok.ty()), "((R ⇒ R ⇒ R) ⇒ R ⇒ R)*");
    assert!(check(&sum("Ω(List(R))")).is_err());
}

#[test]
fn slip_lemma_5_1_1_fails_for_functionals() {
    // Reduction 9 gives 0, whose translation is 0; the translation of the redex ends in ω r 0, and ω is any function there.
    let limits = LIMITS;
    let normal = |text: &str| {
        let translated = translate(&term(text));
        Normalizer::new(&limits).normalize(&translated).expect("within limits")
    };
    let redex = normal("{ω : Ω R} ⊢ ((Ω λy. 2) · ω) 3");
    assert_eq!(print(&redex), "λv1. ω 2 0");
    assert_eq!(print(&reduce("{ω : Ω R} ⊢ ((Ω λy. 2) · ω) 3").1), "0");
}
