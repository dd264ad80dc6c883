//! The slips in the paper, each with what shows it; `docs/slips.md` tells about them.

use super::equivalence::{Law, equivalents, unfold};
use super::examples::network;
use super::reduce::{Rule, Rules, Strategy, contract, factors_as_printed, normalize, redexes, step};
use super::syntax::{Kind, Tm, Var, add, alpha_eq, app, lam, num, op, pair, sub, var};
use super::tests::read;
use super::{machine, print, transform, types};
use crate::kit::trace::Limits;
use wengert_prim::RealOp;

fn by(tm: &Tm, law: Law) -> Vec<Tm> {
    equivalents(tm).into_iter().filter(|(found, _)| *found == law).map(|(_, tm)| tm).collect()
}

fn reaches(tm: &Tm, rule: Rule, goal: &Tm) -> bool {
    let all = redexes(tm, Rules::of(&[rule]));
    all.iter().filter_map(|redex| step(tm, redex)).any(|after| alpha_eq(&unfold(&after), &unfold(goal)))
}

#[test]
fn proposition_17_needs_the_previous_state() {
    let (items, e, r) = ([0.5, -1.0, 2.0], 0.7, -0.4);
    let net = network(&items);
    let xs = [net.epsilon.clone(), net.rho.clone()];
    let tags = transform::tags(&xs, 1);
    let term = transform::gradient_term(&net.applied, &xs, &tags, &[e, r], 1).unwrap();
    let outcome = machine::run(&term, true, &Limits::default()).ok().unwrap();
    let found = transform::read_back(&outcome.end, &tags).unwrap().gradient;
    // The recurrence, over the items in a given order, with g_ρ from u_i or from u_{i+1}.
    let recurrence = |items: &[f64], printed: bool| {
        let (mut u, mut g_epsilon, mut g_rho) = (0.0, 0.0, 0.0);
        for a in items {
            let next = RealOp::Sigmoid.eval(&[e * a + r * u]);
            let slope = next * (1.0 - next);
            g_epsilon = slope * (a + r * g_epsilon);
            g_rho = slope * (if printed { next } else { u } + r * g_rho);
            u = next;
        }
        [g_epsilon, g_rho]
    };
    let reversed: Vec<f64> = items.iter().rev().copied().collect();
    let agrees = |g: [f64; 2]| (g[0] - found[0]).abs() < 1e-12 && (g[1] - found[1]).abs() < 1e-12;
    assert!(agrees(recurrence(&reversed, false)), "{found:?}");
    assert!(!agrees(recurrence(&reversed, true)), "as printed, with u_{{i+1}}");
    assert!(
        !agrees(recurrence(&items, false)),
        "as printed, a_{{i+1}} in the order of the list: a right fold starts at its end"
    );
}

#[test]
fn section_6_2_leaves_out_the_sigmoid() {
    // G = F(a₁, F(a₂, 0)) with F = σ(ε·x + ρ·h), not ε·x + ρ·h.
    let net = network(&[0.5, -1.0]);
    let point = |tm: Tm| sub(sub(tm, &net.epsilon, num(0.7)), &net.rho, num(-0.4));
    let unfolded = |with_sigmoid: bool| {
        [-1.0, 0.5].iter().fold(num(0.0), |h, a| {
            let sum = add(op(RealOp::Mul, vec![num(0.7), num(*a)]), op(RealOp::Mul, vec![num(-0.4), h]));
            if with_sigmoid { op(RealOp::Sigmoid, vec![sum]) } else { sum }
        })
    };
    let value = |tm: &Tm| print::term(&machine::run(tm, true, &Limits::default()).ok().unwrap().end);
    assert_eq!(value(&point(net.applied.clone())), value(&unfolded(true)));
    assert_ne!(value(&point(net.applied.clone())), value(&unfolded(false)));
}

#[test]
fn lemma_3_fails_for_20_on_what_still_reduces() {
    let tm = read("(x + x)[x:!R := 1 + 2]");
    let goal = read("(x + x)[x:!R := 3]");
    assert!(reaches(&tm, Rule::R12, &goal));
    let split = by(&tm, Law::E20);
    assert!(!split.is_empty());
    assert!(
        split.iter().all(|other| !reaches(other, Rule::R12, &goal)),
        "one step reduces one of the two copies"
    );
}

#[test]
fn lemma_3_fails_for_substitutions_inside_pairs() {
    // ⟨1, 2⟩[y := 3] is a value behind a context, and (9) copies it; ⟨1[y := 3], 2⟩ is none.
    let tm = read("x[x := ⟨1, 2⟩[y := 3]]");
    let inner = read("⟨1, 2⟩[y := 3]");
    let moved = by(&inner, Law::E21).into_iter().next().unwrap();
    let Kind::Sub(t, x, _) = &tm.kind else { panic!() };
    let other = sub(t.clone(), x, moved);
    assert!(!redexes(&tm, Rules::of(&[Rule::R9])).is_empty());
    let copies_pair = redexes(&other, Rules::of(&[Rule::R9])).iter().any(|redex| redex.path.is_empty());
    assert!(!copies_pair, "{}", print::term(&other));
}

#[test]
fn lemma_3_needs_a_context_in_rule_16() {
    // By (19) the context moves between the pair and the whole; as printed, (16) has a redex on one side only.
    let outside = read("x[x := ⟨1, y⟩][y := 3]");
    let inside = by(&outside, Law::E19).into_iter().next().unwrap();
    assert_eq!(print::term(&inside), "x[x:!R × R := ⟨1, y⟩[y:!R := 3]]");
    let Kind::Sub(_, _, p) = &inside.kind else { panic!() };
    assert!(!matches!(p.kind, Kind::Pair(..)), "so the rule without α does not apply");
    assert!(contract(&inside, Rule::R16, 0).is_some(), "and with α it does");
}

#[test]
fn proposition_2_fails_for_linear_substitutions_that_leave_a_sum() {
    let tm = read("λa:R. a + b[b:R := a]");
    assert!(types::infer(&tm).is_ok());
    let Kind::Lam(a, body) = &tm.kind else { panic!() };
    let moved = lam(a, by(body, Law::E22).into_iter().next().unwrap());
    assert_eq!(print::term(&moved), "λa:R. (a + b)[b:R := a]");
    assert!(types::infer(&moved).is_err(), "Table 1 tracks one linear variable, here are two");
    let sum = read("λa:R. ⟨a, 0⟩ + ⟨b, 0⟩[b:R := a]");
    let Kind::Lam(a, body) = &sum.kind else { panic!() };
    let stepped = lam(a, contract(body, Rule::R13, 0).unwrap());
    assert!(types::infer(&sum).is_ok() && types::infer(&stepped).is_err(), "{}", print::term(&stepped));
}

#[test]
fn lemma_14_needs_sums_up_to_order_and_brackets() {
    // (x′ 1 + y′ 2) + x′ 3 has no (17)-redex as printed; the proof factors x′ all the same.
    let sum = read("x:!R^⊥, y:!R^⊥ ⊢ (x 1 + y 2) + x 3");
    let Kind::Add(left, _) = &sum.kind else { panic!() };
    assert!(!factors_as_printed(&sum) && !factors_as_printed(left));
    assert_eq!(print::term(&contract(&sum, Rule::R17, 0).unwrap()), "x (1 + 3) + y 2");
}

#[test]
fn lemma_14_needs_zero_to_be_neutral() {
    // bp_{x,a}(3 + x) has a for x, so J = {x}; the reduction ends in a sum with the 0 of the constant.
    let g = read("x:!R ⊢ 3 + x");
    let xs = super::syntax::free_vars(&g);
    let tags = transform::tags(&xs, 1);
    let (tagged, _) = transform::tagged(&g, &xs, &tags, 1).unwrap();
    let set = Rules::BETA.and(Rules::ETA).and(Rules::LINEAR);
    let run = normalize(&tagged, set, Strategy::Unfolding, &Limits { recorded: 0, ..Limits::default() });
    assert!(run.stopped.is_none());
    assert_eq!(print::term(&run.end), "⟨3 + x, λa:R. 0 + x' a⟩");
}

#[test]
fn lemma_14_needs_all_factoring_before_a_variable_is_replaced() {
    let tm = read("x:!R^⊥ ⊢ λa:R. (z a + z (2 · a))[z := λb:R. x (3 · b)]");
    let set = Rules::BETA.and(Rules::LINEAR);
    let end = |tm: &Tm| {
        let run = normalize(tm, set, Strategy::BodiesFirst, &Limits { recorded: 0, ..Limits::default() });
        assert!(redexes(&run.end, set).is_empty());
        print::plain(&unfold(&run.end))
    };
    assert_eq!(end(&tm), "λa. x (3 · (a + 2 · a))", "as bp has it");
    let replaced = |tm: &Tm| step(tm, redexes(tm, Rules::of(&[Rule::R9])).first().unwrap()).unwrap();
    assert_eq!(end(&replaced(&replaced(&tm))), "λa. x (3 · a + 3 · (2 · a))", "the same map, and not ≡");
}

#[test]
fn lemma_13_needs_rule_8_for_numerals() {
    // D⃖(1 + 2) → D⃖(3) by {(12), (7), (9), (10)}, says the lemma; there is no redex of these in it: (8) must come first.
    let image = transform::reverse(&read("1 + 2"), 1).unwrap();
    assert!(redexes(&image, Rules::of(&[Rule::R12, Rule::R7, Rule::R9, Rule::R10])).is_empty());
    let with_8 = Rules::of(&[Rule::R8, Rule::R12, Rule::R7, Rule::R9, Rule::R10, Rule::R11]);
    let run = normalize(&image, with_8, Strategy::BodiesFirst, &Limits::default());
    assert!(alpha_eq(&run.end, &transform::reverse(&num(3.0), 1).unwrap()), "{}", print::term(&run.end));
}

#[test]
fn proposition_5_needs_23_among_the_evaluation_rules() {
    let tm = read("sin(3)");
    let printed =
        Rules::of(&[Rule::R7, Rule::R8, Rule::R9, Rule::R10, Rule::R11, Rule::R12, Rule::R13, Rule::R14]);
    assert!(redexes(&tm, printed).is_empty() && !tm.is_value);
}

#[test]
fn table_3_has_sums_at_type_r_only() {
    // Table 1 types ⟨1, 2⟩ + ⟨3, 4⟩; with x^{!R} and x′^{!R^⊥} for its parts, D⃖ of it would not be typable.
    let tm = read("⟨1, 2⟩ + ⟨3, 4⟩");
    let image = transform::reverse(&tm, 1).unwrap();
    let expected = transform::reverse_type(&types::infer(&tm).unwrap(), 1).unwrap();
    assert_eq!(types::infer(&image).unwrap(), expected, "part by part it is");
    let (x, y) =
        (Var::exponential("x", super::syntax::Ty::Real), Var::exponential("x'", super::syntax::Ty::Neg(1)));
    let summand = transform::reverse(&read("⟨1, 2⟩"), 1).unwrap();
    let printed = super::syntax::sub_pair(pair(var(&x), app(var(&y), num(1.0))), &x, &y, summand);
    assert!(types::infer(&printed).is_err());
}
