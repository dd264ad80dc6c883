//! Each step of a reduction keeps meaning and type, there is one next step, and the last one is there: 3.8, 4.6, 4.7, 5.2, figure 3.

use super::terms::any_pullback;
use super::{LIMITS, cases, for_all, text, well_typed};
use crate::kit::trace::Limits;
use crate::pullback::denotation::{Env, close, environment, eval};
use crate::pullback::examples::{reduce, term};
use crate::pullback::func::Func;
use crate::pullback::print::{Notation, print, print_marked, print_type};
use crate::pullback::reduce::{Reducer, decompose, plug};
use crate::pullback::subst::alpha_equal;
use crate::pullback::syntax::{Binder, Kind, Pat, Term, Type, Var, each_child};
use crate::pullback::types::Language;
use wengert_base::SourceId;
use wengert_prim::RealOp;

/// Terms for the rules that generated terms meet rarely or never.
const DIRECTED: &[&str] = &[
    // 9
    "{ω : Ω R} ⊢ ((Ω λy. 2) · ω) 3",
    // 10a, 10b
    "{ω : Ω R, c : R} ⊢ ((Ω λy. y + c) · ω) 3",
    "{ω : Ω R, c : R} ⊢ ((Ω λy. c + y) · ω) 3",
    "{ω : Ω R} ⊢ ((Ω λ⟨x, y⟩. x + y) · ω) ⟨3, 4⟩",
    // 11, 12
    "{ω : Ω (R × R)} ⊢ ((Ω λ⟨x, y⟩. ⟨x, y⟩) · ω) ⟨3, 4⟩",
    "{ω : Ω R} ⊢ ((Ω λ⟨x, y⟩. y) · ω) ⟨3, 4⟩",
    // 13a, 13b, 13c
    "{ω : Ω (R × R), c : R} ⊢ ((Ω λ⟨x, y⟩. ⟨y, c⟩) · ω) ⟨3, 4⟩",
    "{ω : Ω (R × R), c : R} ⊢ ((Ω λy. ⟨c, y⟩) · ω) 3",
    "{ω : Ω (R × R)} ⊢ ((Ω λ⟨x, y⟩. ⟨y, x⟩) · ω) ⟨3, 4⟩",
    // 14, 15
    "{ω : Ω (R ⇒ R)} ⊢ ((Ω λy. J sin · y) · ω) 3",
    "{ω : Ω R} ⊢ ((Ω λ⟨x, y⟩. mult(⟨x, y⟩)) · ω) ⟨3, 4⟩",
    // 16a, 16b, 16c
    "{ω : Ω (R*)} ⊢ ((Ω λk. (λx. ⟨x, x⟩)* · k) · ω) [2; 3]*",
    "{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. (J mult · ⟨x, x⟩) ⟨y, y⟩)* · k) · ω) 0.5",
    "{ω : Ω (R*)} ⊢ ((Ω λ⟨y, k⟩. (λx. (J sin · x) y)* · k) · ω) ⟨0.5, [2]*⟩",
    "{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. let b = y; z = x in z)* · k) · ω) 0.5",
    "{ω : Ω (R*)} ⊢ ((Ω λy. (λx. (J mult · ⟨x, x⟩) ⟨y, y⟩)* · [2]*) · ω) 0.5",
    "{ω : Ω ((R ⇒ R)*)} ⊢ ((Ω λ⟨y, k⟩. (λx. x (sin(y)))* · k) · ω) ⟨0.5, [2]*⟩",
    "{ω : Ω (R*)} ⊢ ((Ω λ⟨y, k⟩. (λx. (λb. x) y)* · k) · ω) ⟨0.5, [2]*⟩",
    // 17
    "{ω : Ω (Ω R)} ⊢ ((Ω λk. (Ω λx. sin(x)) · k) · ω) (λu. [2]*)",
    "{ω : Ω (Ω R)} ⊢ ((Ω λk. (Ω λx. 3) · k) · ω) (λu. [2]*)",
    "{ω : Ω (R*), k : Ω R} ⊢ ((Ω λy. ((Ω λx. mult(x, y)) · k) 2) · ω) 3",
    // 18, 19a, 19b, 19c
    "{ω : Ω (R ⇒ R)} ⊢ ((Ω λy. λx. mult(x, y)) · ω) 3",
    "{ω : Ω R, c : R} ⊢ ((Ω λf. f c) · ω) (λx. sin(x))",
    "{ω : Ω R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. sin(x), 3⟩",
    "{ω : Ω R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. 7, 3⟩",
    // 18 with x ∈ FV(V): c's own b is free in what c is given.
    "{ω : Ω (R ⇒ R ⇒ R)} ⊢ ((Ω λy. let c = λf a b. f (f a b) b in c (c (λp q. mult(y, mult(p, q))))) · ω) 0.5",
    // 20a, 20b, 1 to 6
    "{ω : Ω R} ⊢ ((Ω λx. let a = 2; b = mult(a, x); c = sin(b) in mult(b, c)) · ω) 3",
    "((Ω λx. let a = 2; b = mult(a, x); c = sin(b) in mult(b, c)) · Ω [1]) 3",
    "{ω : Ω R} ⊢ ((Ω λp. mult(π1(p), π2(p))) · ω) ⟨(J sin · 2) 3, π2(⟨1, 4⟩)⟩",
    "{k : (R × R)*} ⊢ (λx. ⟨x, x⟩)* · (λ⟨a, b⟩. ⟨b, a⟩)* · k",
    "[2]* + [3]*",
    "{k : R*} ⊢ (λx. 0 + x)* · (0 + k)",
];

/// Variables that are free in a term.
fn free_vars(term: &Term) -> Vec<Var> {
    let (mut bound, mut seen, mut stack) =
        (std::collections::HashSet::new(), Vec::<Var>::new(), vec![term.clone()]);
    while let Some(term) = stack.pop() {
        if let Kind::Var(var) = term.kind() {
            seen.push(var.clone());
        }
        each_child(term.kind(), |binder, child| {
            match binder {
                Binder::None => {}
                Binder::Var(var) => drop(bound.insert(var.id())),
                Binder::Pat(pat) => bound.extend(pat.vars().iter().map(Var::id)),
            }
            stack.push(child.clone());
        });
    }
    seen.retain(|var| !bound.contains(&var.id()));
    seen
}

/// Theorem 4.6 and corollary 4.7 along the reduction of one term. Gives the rules by which it went, also in premises.
fn steps_keep_meaning_and_type(term: &Term, env: &Env, rules: &mut std::collections::BTreeSet<&'static str>) {
    assert!(well_typed(term), "{}", text(term));
    let (meaning, ty) = (eval(term, env), term.ty().clone());
    let mut watch = |rule: &'static str, before: &Term, after: &Term| {
        assert!(*after.ty() == ty && well_typed(after), "{rule}:\n{}\n{}", text(before), text(after));
        if after.size() < 3000 {
            let now = eval(after, env);
            assert!(close(&ty, &meaning, &now, 5), "{rule}:\n{}\n{}", text(before), text(after));
        }
    };
    let (trace, _) = Reducer::new(&LIMITS, Notation::Paper).observed(&mut watch).trace(term);
    rules.extend(trace.counts.by_rule.keys());
}

#[test]
fn theorem_4_6_and_corollary_4_7_every_step_keeps_meaning_and_type() {
    let mut rules = std::collections::BTreeSet::new();
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        steps_keep_meaning_and_type(&sample.term, &sample.env, &mut rules);
        Ok(())
    });
    for text in DIRECTED {
        let term = term(text);
        let env = environment(&free_vars(&term));
        steps_keep_meaning_and_type(&term, &env, &mut rules);
    }
    // Every rule that the command lists was used: Figure 3, 1 to 6, and the A-reductions.
    let missing: Vec<&str> = crate::pullback::rules::RULES
        .iter()
        .map(|rule| rule.name)
        .filter(|name| !rules.contains(name))
        .collect();
    assert!(missing.is_empty(), "never used: {missing:?}");
}

#[test]
fn lemma_3_8_decomposition_is_unique() {
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let mut terms = Vec::new();
        let mut watch = |_: &'static str, before: &Term, _: &Term| {
            if terms.len() < 40 && before.size() < 2000 {
                terms.push(before.clone());
            }
        };
        let (_, end) = Reducer::new(&LIMITS, Notation::Paper).observed(&mut watch).trace(&sample.term);
        let limits = LIMITS;
        for term in &terms {
            let mut reducer = Reducer::new(&limits, Notation::Paper);
            let found = decompose(term, &mut reducer);
            let (frames, redex) = found.unwrap_or_else(|| panic!("no redex in {}", text(term)));
            assert!(alpha_equal(&plug(&frames, redex), term), "{}", text(term));
        }
        let mut reducer = Reducer::new(&limits, Notation::Paper);
        assert!(decompose(&end, &mut reducer).is_none(), "{} is no value", text(&end));
        Ok(())
    });
}

#[test]
fn corollary_5_2_reduction_ends() {
    let far = Limits { steps: 5_000_000, size: 50_000_000, recorded: 0 };
    let mut met = Vec::new();
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let (trace, _) = Reducer::new(&LIMITS, Notation::Paper).trace(&sample.term);
        // A term that outgrows the limits of the other tests still has an end.
        if let Some(stopped) = trace.stopped {
            let (trace, _) = Reducer::new(&far, Notation::Paper).trace(&sample.term);
            assert!(trace.stopped.is_none(), "no end within {} steps: {}", far.steps, text(&sample.term));
            met.push((stopped, trace.counts.steps, trace.counts.max_size));
        }
        Ok(())
    });
    eprintln!("runs beyond the limits of the other tests: {met:?}");
    assert!(met.len() as u32 <= cases() / 100, "{met:?}");
}

#[test]
fn printing_and_parsing_are_inverse() {
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let header = format!("{{ω : {}, c : R}} ⊢ ", print_type(sample.omega.ty()));
        let check = |term: &Term| {
            let text = text(term);
            let parsed = crate::pullback::read(SourceId(0), &format!("{header}{text}"), Language::Pullback);
            let parsed = parsed.unwrap_or_else(|errors| panic!("{header}{text}: {errors:?}"));
            assert_eq!(print_marked(&parsed, None, Notation::Typed).0, text);
            assert!(term.is_zero() || parsed.ty() == term.ty());
        };
        check(&sample.term);
        check(&Reducer::new(&LIMITS, Notation::Paper).trace(&sample.term).1);
        Ok(())
    });
}

#[test]
fn a_long_let_series_is_linear() {
    let series = |n: usize| {
        let x = Var::named("x", Type::real());
        let mut last = x.clone();
        let mut lets = Vec::new();
        for _ in 0..n {
            let next = Var::named("z", Type::real());
            lets.push((next.clone(), Term::fun(Func::Prim(RealOp::Sin), Term::var(last))));
            last = next;
        }
        let body =
            lets.into_iter().rev().fold(Term::var(last), |body, (var, value)| Term::let_in(var, value, body));
        let form = Term::lam(Pat::var(Var::named("x", Type::real())), Term::dual_const(Term::real(1.0)));
        Term::app(Term::pull(Pat::var(x), body, form), Term::real(0.5))
    };
    let limits = Limits { recorded: 0, ..Limits::default() };
    let count = |n: usize| {
        let (trace, end) = Reducer::new(&limits, Notation::Paper).trace(&series(n));
        assert!(trace.stopped.is_none() && matches!(end.kind(), Kind::DualConst(_)));
        (trace.counts.steps as usize, trace.counts.max_size as usize)
    };
    let ((small_steps, small_size), (steps, size)) = (count(1000), count(10_000));
    assert_eq!(steps, 10 * small_steps);
    assert!(size <= 11 * small_size, "{small_size} {size}");
}

/// The premise of 19b, where the function is a sum of one that is constant and one that is not.
#[test]
fn a_constant_summand_of_a_function_does_not_hide_the_other() {
    for sum in ["(λy. sin(y)) + (λy. 7)", "(λy. 7) + (λy. sin(y))"] {
        let end = print(&reduce(&format!("{{ω : Ω R}} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨{sum}, 3⟩")).1);
        assert!(end.contains("v1 3 + (J sin · v2) 3"), "{end}");
    }
}

#[test]
fn deep_terms_do_not_overflow() {
    let limits = Limits { recorded: 0, ..Limits::default() };
    let x = Var::named("x", Type::real());
    let sin = |term: Term| Term::fun(Func::Prim(RealOp::Sin), term);
    let body = (0..20_000).fold(Term::var(x.clone()), |term, _| sin(term));
    let form = Term::lam(Pat::var(Var::named("w", Type::real())), Term::dual_const(Term::real(1.0)));
    let start = Term::app(Term::pull(Pat::var(x), body, form), Term::real(0.5));
    let (trace, end) = Reducer::new(&limits, Notation::Paper).trace(&start);
    assert!(trace.stopped.is_none() && matches!(end.kind(), Kind::DualConst(_)));
}

#[test]
fn premise_of_16b_finds_zero_or_is_stuck() {
    for (text, expected) in [
        ("{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. let b = y; z = x in z)* · k) · ω) 0.5", "0"),
        // x at something with y: value 1 in the premise.
        ("{ω : Ω ((R ⇒ R)*), k : R*} ⊢ ((Ω λy. (λx. let a = x; b = y; z = a b in z)* · k) · ω) 0.5", "((Ω"),
        // J f·x at something with y: value 2.
        ("{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. let a = J sin · x; b = y; z = a b in z)* · k) · ω) 0.5", "((Ω"),
    ] {
        let (trace, end) = reduce(text);
        assert!(print(&end).starts_with(expected), "{text}: {}", print(&end));
        assert_eq!(trace.counts.by_rule.contains_key("16b"), expected == "0", "{text}");
    }
}

/// Rule and reduct of the first step outside premises that names nothing and splits nothing, and the end.
#[test]
fn figure_3_rule_by_rule() {
    let limits = LIMITS;
    let mut shown = String::new();
    for text in DIRECTED {
        let steps = Reducer::new(&limits, Notation::Paper).redexes(&term(text), 40);
        let first = steps.iter().find(|(rule, ..)| !rule.starts_with("A-") && !["7", "8"].contains(rule));
        match first {
            Some((rule, redex, reduct)) if redex.size() < 40 => {
                shown += &format!("{rule:4} {}\n     {}\n", print(redex), print(reduct));
            }
            Some(_) => {}
            None => shown += "none\n",
        }
        let end = print(&reduce(text).1);
        shown += &format!("     … {}\n", end.chars().take(200).collect::<String>());
    }
    expect_test::expect![[r#"
        9    ((Ω λy. 2) · ω) 3
             0
             … 0
        10a  ((Ω λy. y + c) · ω) 3
             (λv1. v1)* · ω (3 + c)
             … (λv1. v1)* · ω (3 + c)
        10a  ((Ω λy. c + y) · ω) 3
             (λv1. v1)* · ω (c + 3)
             … (λv1. v1)* · ω (c + 3)
        10b  ((Ω λ⟨x, y⟩. x + y) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. v1 + v2)* · ω (3 + 4)
             … (λ⟨v1, v2⟩. v1 + v2)* · ω 7
        11   ((Ω λ⟨x, y⟩. ⟨x, y⟩) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v1, v2⟩)* · ω ⟨3, 4⟩
             … (λ⟨v1, v2⟩. ⟨v1, v2⟩)* · ω ⟨3, 4⟩
        12   ((Ω λ⟨x, y⟩. y) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. v2)* · ω 4
             … (λ⟨v1, v2⟩. v2)* · ω 4
        13a  ((Ω λ⟨x, y⟩. ⟨y, c⟩) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v2, 0⟩)* · ω ⟨4, c⟩
             … (λ⟨v1, v2⟩. ⟨v2, 0⟩)* · ω ⟨4, c⟩
        13b  ((Ω λy. ⟨c, y⟩) · ω) 3
             (λv1. ⟨0, v1⟩)* · ω ⟨c, 3⟩
             … (λv1. ⟨0, v1⟩)* · ω ⟨c, 3⟩
        13c  ((Ω λ⟨x, y⟩. ⟨y, x⟩) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v2, v1⟩)* · ω ⟨4, 3⟩
             … (λ⟨v1, v2⟩. ⟨v2, v1⟩)* · ω ⟨4, 3⟩
        14   ((Ω λy. J sin · y) · ω) 3
             (λv1. J sin · v1)* · ω (J sin · 3)
             … (λv1. J sin · v1)* · ω (J sin · 3)
        20a  ((Ω λ⟨x, y⟩. ⟨x, y, ⟨x, y⟩⟩) · (Ω λ⟨x, y, z1⟩. mult(z1)) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · ((Ω λ⟨x, y, z1⟩. mult(z1)) · ω) ⟨3, 4, ⟨3, 4⟩⟩
             … (λ⟨v1, v2⟩. (J mult · ⟨v1, v2⟩) ⟨3, 4⟩)* · ω 12
        16a  ((Ω λk. (λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩ in z3)* · k) · ω) [2; 3]*
             (λv1. (λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩ in z3)* · v1)* · ω ((λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩ in z3)* · [2; 3]*)
             … (λv1. (λx. ⟨x, x⟩)* · v1)* · ω [5]*
        none
             … ((Ω λy. (λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩; z4 = J mult · z3; z5 = y; z6 = y; z7 = ⟨z5, z6⟩; z8 = z4 z7 in z8)* · k) · ω) 0.5
        none
             … ((Ω λ⟨y, k⟩. (λx. let z1 = x; z2 = J sin · z1; z3 = y; z4 = z2 z3 in z4)* · k) · ω) ⟨0.5, [2]*⟩
        16b  ((Ω λy. (λx. let b = y; z = x in z)* · k) · ω) 0.5
             (λv1. (λx. 0)* · k)* · ω ((λx. let b = 0.5; z = x in z)* · k)
             … 0
        20b  ((Ω λy. ⟨y, [2]*⟩) · (Ω λ⟨y, z1⟩. (λx. let z2 = x; z3 = x; z4 = ⟨z2, z3⟩; z5 = J mult · z4; z6 = y; z7 = y; z8 = ⟨z6, z7⟩; z9 = z5 z8 in z9)* · z1) · ω) 0.5
             (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. (λx. let z2 = x; z3 = x; z4 = ⟨z2, z3⟩; z5 = J mult · z4; z6 = y; z7 = y; z8 = ⟨z6, z7⟩; z9 = z5 z8 in z9)* · z1) · ω) ⟨0.5, [2]*⟩
             … (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. (λx. let z2 = x; z3 = x; z4 = ⟨z2, z3⟩; z5 = J mult · z4; z6 = y; z7 = y; z8 = ⟨z6, z7⟩; z9 = z5 z8 in z9)* · z1) · ω) ⟨0.5, [2]*⟩
        none
             … ((Ω λ⟨y, k⟩. (λx. let z1 = x; z2 = y; z3 = sin(z2); z4 = z1 z3 in z4)* · k) · ω) ⟨0.5, [2]*⟩
        16c  ((Ω λ⟨y, k⟩. (λx. let b = y; z1 = x in z1)* · k) · ω) ⟨0.5, [2]*⟩
             (λ⟨v1, v2⟩. (λx. let b = 0.5; z1 = x in z1)* · v2 + (λx. 0)* · [2]*)* · ω ((λx. let b = 0.5; z1 = x in z1)* · [2]*)
             … (λ⟨v1, v2⟩. (λx. x)* · v2)* · ω [2]*
        17   ((Ω λk. (Ω λx. let z1 = x; z2 = sin(z1) in z2) · k) · ω) (λu. [2]*)
             ((Ω λk. λa1. let z1 = k; z2 = a1; z3 = sin(z2); z4 = z1 z3; z5 = (λv1. let z5 = v1; z6 = J sin · z5; z7 = a1; z8 = z6 z7 in z8)* · z4 in z5) · ω) (λu. [2]*)
             … (λv1. λa1. (λv2. (J sin · v2) a1)* · v1 sin(a1))* · ω (λa1. let z1 = λu. [2]*; z2 = a1; z3 = sin(z2); z4 = z1 z3; z5 = (λv1. let z5 = v1; z6 = J sin · z5; z7 = a1; z8 = z6 z7 in z8)* · z4 in z5)
        17   ((Ω λk. (Ω λx. let z1 = 3 in z1) · k) · ω) (λu. [2]*)
             ((Ω λk. λa1. let z1 = 0 in z1) · ω) (λu. [2]*)
             … 0
        20b  ((Ω λy. ⟨y, k⟩) · (Ω λ⟨y, z1⟩. ⟨y, z1, (Ω λx. let z2 = x; z3 = y; z4 = ⟨z2, z3⟩; z5 = mult(z4) in z5) · z1⟩) · (Ω λ⟨y, z1, z2⟩. ⟨y, z1, z2, 2⟩) · (Ω λ⟨y, z1, z2, z3⟩. z2 z3) · ω) 3
             (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. ⟨y, z1, (Ω λx. let z2 = x; z3 = y; z4 = ⟨z2, z3⟩; z5 = mult(z4) in z5) · z1⟩) · (Ω λ⟨y, z1, z2⟩. ⟨y, z1, z2, 2⟩) · (Ω λ⟨y, z1, z2, z3⟩. z2 z3) · ω) ⟨3, k⟩
             … (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. ⟨y, z1, λa1. let z2 = z1; z3 = a1; z4 = y; z5 = ⟨z3, z4⟩; z6 = mult(z5); z7 = z2 z6; z8 = (λv1. let z8 = v1; z9 = 0; z10 = ⟨z8, z9⟩; z11 = J mult · z10; z12 = a1; z13 =
        18   ((Ω λy. λx. let z1 = x; z2 = y; z3 = ⟨z1, z2⟩; z4 = mult(z3) in z4) · ω) 3
             (λv1. λx. (J mult · ⟨0, v1⟩) ⟨x, 3⟩)* · ω (λx. let z1 = x; z2 = 3; z3 = ⟨z1, z2⟩; z4 = mult(z3) in z4)
             … (λv1. λx. (J mult · ⟨0, v1⟩) ⟨x, 3⟩)* · ω (λx. let z1 = x; z2 = 3; z3 = ⟨z1, z2⟩; z4 = mult(z3) in z4)
        19a  ((Ω λf. f c) · ω) (λx. sin(x))
             (λv1. v1 c)* · ω ((λx. sin(x)) c)
             … (λv1. v1 c)* · ω sin(c)
        19b  ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. sin(x), 3⟩
             (λ⟨v1, v2⟩. v1 3 + (J sin · v2) 3)* · ω ((λx. sin(x)) 3)
             … (λ⟨v1, v2⟩. v1 3 + (J sin · v2) 3)* · ω 0.1411200080598672
        19c  ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. 7, 3⟩
             (λ⟨v1, v2⟩. v1 3)* · ω ((λx. 7) 3)
             … (λ⟨v1, v2⟩. v1 3)* · ω 7
             … (λv1. λa. λb. ((0 (λp. let z1 = λq. let z1 = 0.5; z2 = p; z3 = q; z4 = ⟨z2, z3⟩; z5 = mult(z4); z6 = ⟨z1, z5⟩; z7 = mult(z6) in z7 in z1) + (λa1. λb1. ((λp. λq. (J mult · ⟨v1, (J mult · ⟨0, 0⟩) ⟨p, q⟩
             … (λv1. (J mult · ⟨(J mult · ⟨0, v1⟩) ⟨2, 3⟩, (J sin · (J mult · ⟨0, v1⟩) ⟨2, 3⟩) 6⟩) ⟨6, -0.27941549819892586⟩)* · ω -1.6764929891935552
             … [10.96321244340654]*
        4    (J sin · 2) 3
             -1.9799849932008908
             … (λv1. (J mult · ⟨π1(v1), π2(v1)⟩) ⟨-1.9799849932008908, 4⟩)* · ω -7.919939972803563
        6    (λx. ⟨x, x⟩)* · (λ⟨a, b⟩. ⟨b, a⟩)* · k
             (λx. ⟨x, x⟩)* · k
             … (λx. ⟨x, x⟩)* · k
        +    [2]* + [3]*
             [5]*
             … [5]*
        ≡0   0 + k
             k
             … (λx. x)* · k
    "#]].assert_eq(&shown);
}
