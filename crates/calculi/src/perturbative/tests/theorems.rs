//! Lemma 4.1, Theorem 5.6, and what section 6 leaves open, on generated terms; the examples of section 2.
//!
//! `WENGERT_PROPERTY_CASES` sets how many terms each property is tried on.

use super::generate::{self, Context, fun, prod, tangent};
use super::model::{self, denotation};
use crate::kit::ground::Ground;
use crate::kit::trace::{Limits, Stopped, Trace};
use crate::perturbative::canon::{canonical, copy, whole, written_size};
use crate::perturbative::parse::parse;
use crate::perturbative::reduce::{Order, reduce};
use crate::perturbative::step::{redexes, step};
use crate::perturbative::subst::substitute;
use crate::perturbative::syntax::{Half, Term, Var, inj, lam, proj};
use crate::perturbative::types::{Types, Written, check};
use crate::perturbative::{examples, naive, print, quiet, subst};
use arbitrary::{Result, Unstructured};
use rustc_hash::FxHashMap;
use wengert_base::SourceId;

pub(super) const REAL: Written = Written::Real;

pub(super) fn read(text: &str) -> Term {
    let program = parse(SourceId(0), text).unwrap_or_else(|e| panic!("{}: {text}", e.message));
    check(&program).unwrap_or_else(|e| panic!("{}: {text}", e.message));
    program.term
}

pub(super) fn reduced(term: &Term) -> Trace {
    reduce(term, Order::BodyFirst, &quiet())
}

pub(super) fn value(text: &str) -> Ground {
    reduced(&read(text)).result.unwrap_or_else(|| panic!("no value"))
}

pub(super) fn reals<const N: usize>(numbers: [f64; N]) -> Ground {
    Ground::Tuple(numbers.map(Ground::Real).to_vec())
}

/// Tries a property on generated data of a fixed pseudo-random sequence.
pub(super) fn cases(default: u64, mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let count = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..count {
        let mut bytes = Vec::with_capacity(1024);
        for _ in 0..128 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
        }
        let _out_of_data = property(&mut Unstructured::new(&bytes));
    }
}

pub(super) fn has_type(term: &Term, context: &Context, ty: &Written) -> bool {
    let mut types = Types::new(FxHashMap::default());
    for (x, written) in context {
        let ty = types.written(written);
        types.declare(x, ty);
    }
    let wanted = types.written(ty);
    types
        .infer(term)
        .is_ok_and(|found| types.unify(found, wanted).is_some() && types.finite(term.span).is_ok())
}

/// A context of a few variables.
pub(super) fn context(u: &mut Unstructured<'_>) -> Result<Context> {
    let mut context = Context::new();
    for name in ["a", "b"] {
        context.push((Var::fresh(name), generate::ty(u, 2)?));
    }
    Ok(context)
}

#[test]
fn section_2_pushes_a_square_forward() {
    assert_eq!(value(examples::SQUARE_PLUS_ONE), reals([6.0, 10.0]));
    assert_eq!(value("T (\\x. x^2 + 1) <1, 3>"), reals([6.0, 10.0]));
}

#[test]
fn section_2_perturbations_are_not_confused_but_by_naive_dual_numbers() {
    let term = read(examples::CONFUSION);
    let confused = naive::value(&term);
    assert!(matches!(confused, Some(naive::Value::Dual(1.0, 0.0))), "{confused:?}");
    assert_eq!(reduced(&term).result, Some(Ground::Real(0.0)));
    // Without nesting the naive method is right.
    let square = naive::value(&read(examples::SQUARE_PLUS_ONE));
    let Some(naive::Value::Pair(tangent, primal)) = square else { panic!("{square:?}") };
    assert!(matches!(
        (tangent.as_ref(), primal.as_ref()),
        (naive::Value::Dual(6.0, _), naive::Value::Dual(10.0, _))
    ));
}

#[test]
fn derivatives_of_higher_order_and_of_higher_type() {
    assert_eq!(value("D (D (λx. x^3)) 2"), Ground::Real(12.0));
    assert_eq!(value("D (λx. D (λy. x·y·y) 3) 5"), Ground::Real(6.0));
    assert_eq!(value("D (λx. (λf. f (f x)) (λy. x·y)) 2"), Ground::Real(12.0));
    // A derivative operator applied to what it made: the same perturbation must not be used twice.
    assert_eq!(value("(λd. d (d (λx. x·x·x)) 2) (λh. λy. D (λu. h (y + u)) 0)"), Ground::Real(12.0));
    assert_eq!(value(examples::CHURCH_SUM), Ground::Real(1.0));
    assert_eq!(value("T (λl. l (λx. λy. x·y) 1) ⟨[1, 1], [3, 4]⟩"), reals([1.0, 12.0]));
}

/// Copies of an abstraction share its variable, so one may come to stand inside of the other: `λx. (λx. x · x) x + x`.
#[test]
fn a_binder_inside_of_one_of_the_same_variable_is_another() {
    use crate::perturbative::syntax::{app, op, push, sum, var};
    for order in [Order::BodyFirst, Order::Outermost] {
        let x = Var::fresh("x");
        let square = lam(&x, op(wengert_prim::RealOp::Mul, &[var(&x), var(&x)]));
        let nested = lam(&x, sum([app(square.clone(), var(&x)), var(&x)]));
        let term = app(push(nested), read("⟨1, 3⟩"));
        assert_eq!(reduce(&term, order, &quiet()).result, Some(reals([7.0, 12.0])), "{order:?}");
        // `T_x (λx. x · x)`, the pushforward of a constant function.
        let pushed = subst::tangent(&x, &x.renamed(), &square);
        let value = app(app(lam(&x, proj(Half::First, pushed)), read("5")), read("3"));
        assert_eq!(reduced(&value).result, Some(Ground::Real(0.0)));
    }
}

/// The linear places of section 4, with summands that are no abstractions.
#[test]
fn sums_of_functions_are_linear() {
    assert_eq!(value("(sin + cos) 0"), Ground::Real(1.0));
    assert_eq!(value("T (sin + cos) ⟨1, 0⟩"), reals([1.0, 1.0]));
    assert_eq!(value("(λf. λg. (f + g + λx. x) 0) sin cos"), Ground::Real(1.0));
    assert_eq!(value("π1 ((λp. p + p) ⟨1, 2⟩ + ι1 4)"), Ground::Real(6.0));
}

/// `λp. π₁ (2ⁿ p)`, with `n` bags that hold the one before twice.
#[test]
fn projections_of_shared_bags_are_shared() {
    let n = 40;
    let (lets, values): (String, Vec<String>) =
        (1..=n).map(|i| (format!("(λx{i}. "), format!(") (x{} + x{})", i - 1, i - 1))).unzip();
    let values: String = values.into_iter().rev().collect();
    let term = read(&format!("λx0. {lets}π1 x{n}{values}"));
    let trace = reduce(&term, Order::BodyFirst, &Limits { size: 5_000, ..quiet() });
    assert_eq!(trace.stopped, None);
}

#[test]
fn rules_of_primitives_come_from_the_table() {
    for (text, expected) in [
        ("D sin 0.5", 0.5_f64.cos()),
        ("D (λx. x / (1 + x)) 1", 0.25),
        ("D tanh 0.5", 1.0 - 0.5_f64.tanh().powi(2)),
        ("D (λx. max ⟨x, 2⟩) 3", 1.0),
        ("D (λx. max ⟨x, 2⟩) 1", 0.0),
        ("D abs -2", -1.0),
        ("D (D sin) 0.5", -(0.5_f64.sin())),
        ("D (λx. pow ⟨x, x⟩) 2", 4.0 * (2.0_f64.ln() + 1.0)),
        ("D (λx. x^-1) 2", -0.25),
    ] {
        let text = text.replace("abs -2", "abs (-2)");
        let Ground::Real(found) = value(&text) else { panic!("{text}") };
        assert!((found - expected).abs() < 1e-12, "{text}: {found} instead of {expected}");
    }
}

#[test]
fn lemma_4_1_a_substitution_preserves_types() {
    cases(2_000, |u| {
        let mut context = context(u)?;
        let (from, to) = (generate::ty(u, 2)?, generate::ty(u, 2)?);
        let n = generate::term(u, &mut context, &from, 5)?;
        let x = Var::fresh("x");
        context.push((x.clone(), from));
        let m = generate::term(u, &mut context, &to, 8)?;
        assert!(has_type(&m, &context, &to), "{}", print::term(&m));
        context.pop();
        let substituted = substitute(&m, &x, &n);
        assert!(has_type(&substituted, &context, &to), "{}", print::term(&substituted));
        Ok(())
    });
}

#[test]
fn lemma_4_1_b_the_pushforward_of_a_term_has_the_tangent_type() {
    cases(2_000, |u| {
        let mut context = context(u)?;
        let (from, to) = (generate::ty(u, 2)?, generate::ty(u, 2)?);
        let x = Var::fresh("x");
        context.push((x.clone(), from.clone()));
        let m = generate::term(u, &mut context, &to, 8)?;
        context.pop();
        let fresh = x.renamed();
        let pushed = subst::tangent(&x, &fresh, &m);
        context.push((fresh, tangent(&from)));
        assert!(has_type(&pushed, &context, &tangent(&to)), "{}", print::term(&pushed));
        Ok(())
    });
}

#[test]
fn lemma_4_1_c_a_projected_injection_has_the_type_of_what_is_injected() {
    cases(2_000, |u| {
        let mut context = context(u)?;
        let ty = generate::ty(u, 2)?;
        let n = generate::term(u, &mut context, &ty, 6)?;
        for k in [Half::First, Half::Second] {
            let redex = proj(k, inj(k, n.clone()));
            assert!(has_type(&redex, &context, &ty) && has_type(&n, &context, &ty));
            let other = proj(if k == Half::First { Half::Second } else { Half::First }, inj(k, n.clone()));
            assert!(has_type(&other, &context, &REAL));
        }
        Ok(())
    });
}

#[test]
fn lemma_4_1_d_every_step_preserves_the_type() {
    cases(1_000, |u| {
        let mut context = context(u)?;
        let ty = generate::ty(u, 2)?;
        let term = generate::term(u, &mut context, &ty, 7)?;
        let Some(term) = strict(&term) else { return Ok(()) };
        for index in 0..redexes(&term) {
            let (rule, after) = step(&term, index).unwrap_or_else(|| panic!("no redex {index}"));
            assert!(has_type(&after, &context, &ty), "{rule}: {}", print::term(&term));
        }
        let normal = copy(&term);
        let _trace = reduce(&normal, Order::BodyFirst, &small());
        assert!(has_type(&normal, &context, &ty), "{}", print::term(&term));
        Ok(())
    });
}

pub(super) fn small() -> Limits {
    Limits { steps: 20_000, size: 200_000, recorded: 0 }
}

fn numbers(value: &model::Value, ty: &Written) -> Vec<f64> {
    match ty {
        Written::Prod(a, b) => {
            let mut all = numbers(&value.half(Half::First), a);
            all.extend(numbers(&value.half(Half::Second), b));
            all
        }
        Written::Real | Written::Atom(_) | Written::Fun(..) => vec![value.number().standard()],
    }
}

fn same(a: &[f64], b: &[f64]) -> bool {
    let close =
        |x: &f64, y: &f64| !(x.abs() < 1e12 && y.abs() < 1e12) || (x - y).abs() <= 1e-9 * (1.0 + x.abs());
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| close(x, y))
}

fn denoted(term: &Term, ty: &Written) -> Vec<f64> {
    numbers(&denotation(term, &None), ty)
}

pub(super) fn observable(u: &mut Unstructured<'_>) -> Result<Written> {
    Ok(if u.arbitrary()? { REAL } else { prod(&REAL, &REAL) })
}

#[test]
fn theorem_5_6_every_step_preserves_the_denotation() {
    let (mut steps, mut terms) = (0, 0);
    cases(1_500, |u| {
        let ty = observable(u)?;
        let Some(mut term) = strict(&generate::term(u, &mut Context::new(), &ty, 7)?) else { return Ok(()) };
        let meaning = denoted(&term, &ty);
        terms += 1;
        for _ in 0..12 {
            let count = redexes(&term);
            if count == 0 {
                break;
            }
            let (rule, after) = step(&term, u.choose_index(count)?).unwrap_or_else(|| panic!("no redex"));
            let found = denoted(&after, &ty);
            assert!(same(&found, &meaning), "{rule} {}: {meaning:?}, then {found:?}", print::term(&term));
            steps += 1;
            match strict(&after) {
                Some(after) if written_size(&after) <= 400 => term = after,
                _ => break,
            }
        }
        Ok(())
    });
    assert!(steps > 2 * terms, "only {steps} steps were tried");
}

#[test]
fn the_reducer_computes_the_denotation_in_both_orders() {
    cases(2_000, |u| {
        let ty = observable(u)?;
        let term = generate::term(u, &mut Context::new(), &ty, 9)?;
        let meaning = denoted(&term, &ty);
        for order in [Order::BodyFirst, Order::Outermost] {
            let own = copy(&term);
            let trace = reduce(&own, order, &small());
            if trace.stopped.is_none() {
                let found = numbers_of(&own, &ty);
                assert!(same(&found, &meaning), "{order:?} {}: {meaning:?}, {found:?}", trace.start);
            }
        }
        Ok(())
    });
}

/// The numbers of a normal form, which must be made of numbers.
fn numbers_of(term: &Term, ty: &Written) -> Vec<f64> {
    fn flat(ground: &Ground, out: &mut Vec<f64>) {
        match ground {
            Ground::Real(r) => out.push(*r),
            Ground::Tuple(items) => items.iter().for_each(|item| flat(item, out)),
            Ground::Int(_)
            | Ground::Bool(_)
            | Ground::String(_)
            | Ground::Array(_)
            | Ground::Ctor(..)
            | Ground::Term(_) => {
                panic!("no number: {ground:?}")
            }
        }
    }
    let mut out = Vec::new();
    flat(&crate::perturbative::reduce::ground(term), &mut out);
    if out == [0.0] && *ty != REAL { vec![0.0, 0.0] } else { out }
}

#[test]
fn what_is_printed_parses_back() {
    cases(2_000, |u| {
        let ty = generate::ty(u, 2)?;
        let term = generate::term(u, &mut Context::new(), &ty, 9)?;
        let text = print::term(&term);
        let back = parse(SourceId(0), &text).unwrap_or_else(|e| panic!("{}: {text}", e.message)).term;
        assert_eq!(canonical(&back), canonical(&term), "{text}");
        Ok(())
    });
}

/// The term in the strict grammar, unless it is large there.
pub(super) fn strict(term: &Term) -> Option<Term> {
    (written_size(term) <= 2_000).then(|| whole(term))
}

#[test]
fn limits_stop_a_reduction() {
    let limits = Limits { steps: 5, ..Limits::default() };
    let trace = reduce(&read(examples::SQUARE_PLUS_ONE), Order::BodyFirst, &limits);
    assert_eq!((trace.stopped, trace.counts.steps, trace.result), (Some(Stopped::Steps), 5, None));
    let limits = Limits { size: 5, ..Limits::default() };
    let trace = reduce(&read(examples::CONFUSION), Order::BodyFirst, &limits);
    assert_eq!(trace.stopped, Some(Stopped::Size));
}

#[test]
fn mistakes_are_explained() {
    let message = |text: &str| {
        let result = parse(SourceId(0), text).and_then(|program| check(&program));
        let error = result.err().unwrap_or_else(|| panic!("accepted: {text}"));
        format!("{} {}..{} {}", error.code, error.primary.span.start, error.primary.span.end, error.message)
    };
    let expected = expect_test::expect![[r#"
        E0921 7..7 this is no term: found the end, expected `)`
        E0923 5..6 the variable `y` is not bound here
        E0925 0..8 a part of this term would have a type that contains itself
        E0924 4..14 this term has type R × R, but what the function before it takes has type R
        E0924 2..3 this term has type R, but what T takes has type α → β
        E0924 5..11 this term has type α → α, but what a projection takes has type α × β
        E0924 4..14 this term has type R × R, but the sum of which it is a part has type R
        E0921 2..3 this is no term: found `1`, expected the name of a variable
        E0924 9..10 this term has type R, but a function that takes what stands after it has type R → α
    "#]];
    let texts = [
        "λx. (x",
        "λx. y",
        "λx. x x",
        "sin ⟨1, 2⟩",
        "T 1",
        "π1 (λx. x)",
        "1 + ⟨1, 2⟩",
        "λ1. x",
        "x : R |- x x",
    ];
    expected.assert_eq(&texts.map(|text| message(text) + "\n").concat());
    let deep = "(".repeat(100_000);
    assert!(message(&deep).starts_with("E0922"));
    let long = format!("λf. f{}", " 1".repeat(100_000));
    assert!(message(&long).starts_with("E0922"));
}

#[test]
fn functions_are_typed_as_in_figure_1() {
    let ty = |text: &str| {
        parse(SourceId(0), text).and_then(|p| check(&p)).unwrap_or_else(|e| panic!("{}", e.message))
    };
    assert_eq!(ty("λf. T f"), "(α → β) → α × α → β × β");
    assert_eq!(ty("D"), "(R → α) → R → α");
    assert_eq!(ty("λx:T R. ι1 x"), "R × R → (R × R) × α");
    assert_eq!(ty("f : α -> R, x : α |- T f ⟨x, 0⟩"), "R × R");
    let f = Var::fresh("f");
    assert!(!has_type(
        &lam(&f, crate::perturbative::syntax::var(&f)),
        &Context::new(),
        &fun(&REAL, &prod(&REAL, &REAL))
    ));
}

/// A program in the text form of the core, translated and reduced.
fn traced(text: &str) -> std::result::Result<Ground, String> {
    use crate::kit::system::System;
    let core = wengert_core::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let message = |errors: Vec<wengert_base::Diagnostic>| {
        errors.into_iter().map(|error| error.message).collect::<String>()
    };
    let program = crate::kit::bridge::bridge(&core, wengert_base::Name::new("it")).map_err(message)?;
    let (term, _) = crate::perturbative::from_core::translate(&program).map_err(|error| error.message)?;
    assert!(Types::new(FxHashMap::default()).infer(&term).is_ok(), "{}", print::term(&term));
    let trace = crate::perturbative::Perturbative.trace(&program, &quiet()).map_err(message)?;
    trace.result.ok_or_else(|| "stopped".to_owned())
}

#[test]
fn programs_are_translated() {
    let function = "\\(x%0 : Real) -> #+ @Real (#* @Real x%0 x%0) (#sin x%0)";
    let slope = traced(&format!("def it : (Real, Real) = #jvp @Real @Real ({function}) (2.0, 1.0)"));
    assert_eq!(slope, Ok(reals([4.0 + 2.0_f64.sin(), 4.0 + 2.0_f64.cos()])));
    let text =
        "def it : (Real, Real, Real) = (1.0, #max @Real 2.0 3.0, let x%0 : Real = 3.0 in #* @Real x%0 x%0)";
    assert_eq!(traced(text), Ok(reals([1.0, 3.0, 9.0])));
    let text = "def it : Real = if #< @Real 1.0 2.0 then #sin 0.0 else 7.0";
    assert_eq!(traced(text), Ok(Ground::Real(0.0)));
    let refused = traced("def it : Int = 1");
    assert_eq!(refused, Err("an integer is outside of the perturbative calculus".to_owned()));
}
