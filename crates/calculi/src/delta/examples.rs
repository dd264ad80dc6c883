//! The paper's examples, and ours.

use super::syntax::{Const, E, Kind, Ty, make};
use super::value::{Delta, DeltaNode, Value};
use super::{
    forward, ground, monadic, naive, parse, print, read, reduce, staged, tower, translations, types,
};
use crate::kit::ground::Ground;
use crate::kit::trace::{Counts, Limits};
use std::collections::BTreeMap;
use wengert_base::SourceId;

const SOURCE: SourceId = SourceId(0);

/// Limits that record nothing.
pub(super) fn quiet() -> Limits {
    Limits { recorded: 0, ..Limits::default() }
}

pub(super) fn checked(text: &str) -> (E, Ty) {
    read(SOURCE, text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// The value of a term and its counts.
pub(super) fn evaluate(e: &E) -> (Value, Counts) {
    let reduction =
        reduce::reduce(e, &quiet()).unwrap_or_else(|error| panic!("{}\n{error:?}", print::term(e)));
    assert_eq!(reduction.stopped, None, "{}", print::term(e));
    (reduction.value.unwrap(), reduction.counts)
}

/// All reals of a value, from left to right.
pub(super) fn reals(value: &Value) -> Vec<f64> {
    match value {
        Value::Real(x) => vec![*x],
        Value::Pair(cell) => [reals(&cell.a), reals(&cell.b)].concat(),
        Value::Inl(cell) | Value::Inr(cell) | Value::Roll(cell, _) => reals(&cell.a),
        Value::Vector(items) => items.iter().flat_map(reals).collect(),
        Value::Int(_) | Value::Str(_) | Value::Unit | Value::Closure(_) | Value::Function(..) => Vec::new(),
        Value::Delta(_) | Value::Map(_) | Value::Computation(_) => Vec::new(),
    }
}

/// `f` applied to a pair, and the reals of the result.
pub(super) fn at(f: E, x: &str, dx: &str) -> (Vec<f64>, Counts) {
    let argument = make::pair(checked(x).0, checked(dx).0);
    let (value, counts) = evaluate(&make::app(f, argument));
    (reals(&value), counts)
}

pub(super) fn close(a: &[f64], b: &[f64]) -> bool {
    let near =
        |x: f64, y: f64| (x - y).abs() <= 1e-6 * (1.0 + x.abs().max(y.abs())) || (x.is_nan() && y.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| near(*x, *y))
}

/// The argument type of a main expression.
pub(super) fn source_of(ty: &Ty) -> (Ty, Ty) {
    let Ty::Fun(s, t) = ty else { panic!("{}", print::ty(ty)) };
    ((**s).clone(), (**t).clone())
}

/// All wrappers for `ℝᵃ → ℝ`, by name.
fn gradients(e: &E, s: &Ty) -> Vec<(&'static str, E)> {
    vec![
        ("ℛ¹", naive::wrapper(e, s).unwrap()),
        ("ℛ²", staged::wrapper(e, s).unwrap()),
        ("ℛ", monadic::wrapper(e, s).unwrap()),
        ("ℛ for S → T", monadic::general_wrapper(e, s, &Ty::Real).unwrap()),
    ]
}

#[test]
fn every_translation_of_a_product_has_its_gradient() {
    let (e, ty) = checked("λ(x, y). let z = x × y in sin z + z × x");
    let (s, _) = source_of(&ty);
    let (x, y): (f64, f64) = (0.7, 1.3);
    let expected = [(x * y).cos() * y + 2.0 * x * y, (x * y).cos() * x + x * x];
    for (name, wrapper) in gradients(&e, &s) {
        let (gradient, _) = at(wrapper, "(0.7, 1.3)", "1.0");
        assert!(close(&gradient, &expected), "{name}: {gradient:?}");
    }
    for wrapper in [forward::wrapper(&e, &s).unwrap(), forward::general_wrapper(&e, &s, &Ty::Real).unwrap()] {
        let (tangent, _) = at(wrapper, "(0.7, 1.3)", "(1.0, 2.0)");
        assert!(close(&tangent, &[expected[0] + 2.0 * expected[1]]), "{tangent:?}");
    }
}

#[test]
fn translations_print_parse_and_have_translated_types() {
    let texts = [
        "λ(x, y). let z = x × y in sin z + z × x",
        "λ(x : ℝ + ℝ × ℤ). case x of inl a → a × a, inr (b, n) → if n < 3 then b / 2.0 else sqrt b",
        "λ(f, x). f (f x)",
        "λ(v : Vector ℝ). let n = length v in build (n, λi. index (v, i) ^ 2)",
        "letrec go = λ(x, n). if n == 0 then x else go (x × x, n - 1) in λx. go (x, 3)",
    ];
    for text in texts {
        let (e, ty) = checked(text);
        for (title, translated) in translations(&e, &ty).unwrap() {
            let printed = print::term(&translated);
            let parsed =
                parse::parse(SOURCE, &printed).unwrap_or_else(|error| panic!("{printed}\n{error:?}"));
            assert_eq!(print::term(&parsed), printed, "{title}");
            types::check(&translated).unwrap_or_else(|error| panic!("{title}\n{printed}\n{error:?}"));
        }
    }
}

/// Figure 12, with records as tuples. `real 2` is the figure's `from_float 2.0`.
pub(super) const QUATERNION: &str = "
    let dot = λ((a, b, c), (x, y, z)). a × x + b × y + c × z in
    let plus = λ((a, b, c), (x, y, z)). (a + x, b + y, c + z) in
    let scale = λ(k, (x, y, z)). (k × x, k × y, k × z) in
    let cross = λ((a, b, c), (x, y, z)). (b × z - c × y, c × x - a × z, a × y - b × x) in
    let rotate_vec_by_quat = λ(v, (qx, qy, qz, qw)).
        let u = (qx, qy, qz) in
        let s = qw in
        plus (plus (scale (real 2 × dot (u, v), u), scale (s × s - dot (u, u), v)),
              scale (real 2 × s, cross (u, v))) in
    λ(q, v). fst (rotate_vec_by_quat (v, q))";

/// The names of Figure 12's inputs, in the order of their identifiers.
const INPUTS: [&str; 7] = ["qx", "qy", "qz", "qw", "vx", "vy", "vz"];

/// The right-hand column of Figure 12, one binding per line.
const FIGURE_12: &str = "
x1 = Add (Scale 5.5 qy) (Scale 2.2 vx)
x2 = Add (Scale 6.6 qx) (Scale 1.1 vy)
x3 = Add x2 (Scale -1.0 x1)
x4 = Add (Scale 7.7 qx) (Scale 1.1 vz)
x5 = Add (Scale 5.5 qz) (Scale 3.3 vx)
x6 = Add x5 (Scale -1.0 x4)
x7 = Add (Scale 6.6 qz) (Scale 3.3 vy)
x8 = Add (Scale 7.7 qy) (Scale 2.2 vz)
x9 = Add x8 (Scale -1.0 x7)
x10 = Zero
x11 = Add (Scale 4.4 x10) (Scale 2 qw)
x12 = Add (Scale -4.84 x11) (Scale 8.8 x3)
x13 = Add (Scale 9.68 x11) (Scale 8.8 x6)
x14 = Add (Scale -4.84 x11) (Scale 8.8 x9)
x15 = Add (Scale 3.3 qz) (Scale 3.3 qz)
x16 = Add (Scale 2.2 qy) (Scale 2.2 qy)
x17 = Add (Scale 1.1 qx) (Scale 1.1 qx)
x18 = Add x17 x16
x19 = Add x18 x15
x20 = Add (Scale 4.4 qw) (Scale 4.4 qw)
x21 = Add x20 (Scale -1.0 x19)
x22 = Add (Scale 7.7 x21) (Scale 2.42 vz)
x23 = Add (Scale 6.6 x21) (Scale 2.42 vy)
x24 = Add (Scale 5.5 x21) (Scale 2.42 vx)
x25 = Add (Scale 7.7 qz) (Scale 3.3 vz)
x26 = Add (Scale 6.6 qy) (Scale 2.2 vy)
x27 = Add (Scale 5.5 qx) (Scale 1.1 vx)
x28 = Add x27 x26
x29 = Add x28 x25
x30 = Zero
x31 = Add (Scale 45.98 x30) (Scale 2 x29)
x32 = Add (Scale 3.3 x31) (Scale 91.96 qz)
x33 = Add (Scale 2.2 x31) (Scale 91.96 qy)
x34 = Add (Scale 1.1 x31) (Scale 91.96 qx)
x35 = Add x32 x22
x36 = Add x33 x23
x37 = Add x34 x24
x38 = Add x35 x12
x39 = Add x36 x13
x40 = Add x37 x14";

fn rounded(x: f64) -> String {
    let near = (x * 1e6).round() / 1e6;
    format!("{}", if near == 0.0 { 0.0 } else { near })
}

/// A delta without `Let`s as text, its variables replaced by what they are bound to.
fn unfolded(u: &Delta, bound: &BTreeMap<i64, String>) -> String {
    match &**u {
        DeltaNode::Zero => "Zero".into(),
        DeltaNode::Var(id) => bound[id].clone(),
        DeltaNode::Scale(x, u) => format!("(Scale {} {})", rounded(*x), unfolded(u, bound)),
        DeltaNode::Add(a, b) => format!("(Add {} {})", unfolded(a, bound), unfolded(b, bound)),
        DeltaNode::OneHot(_) | DeltaNode::Let(..) => panic!("no part of a binding"),
    }
}

/// The figure's bindings, unfolded.
fn figure() -> (Vec<String>, String) {
    let mut bound: BTreeMap<String, String> = INPUTS.iter().map(|x| (x.to_string(), x.to_string())).collect();
    let mut last = String::new();
    let mut all = Vec::new();
    for line in FIGURE_12.trim().lines() {
        let (name, delta) = line.split_once(" = ").unwrap();
        let spaced = delta.replace('(', " ( ").replace(')', " ) ");
        let mut words = spaced.split_whitespace().peekable();
        last = figure_delta(&mut words, &bound);
        bound.insert(name.into(), last.clone());
        all.push(last.clone());
    }
    all.sort();
    (all, last)
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn figure_delta(words: &mut Words<'_>, bound: &BTreeMap<String, String>) -> String {
    let inner = |words: &mut Words<'_>| -> String {
        if words.next_if(|w| *w == "(").is_some() {
            let delta = figure_delta(words, bound);
            assert_eq!(words.next(), Some(")"));
            return delta;
        }
        bound[words.next().unwrap()].clone()
    };
    match words.next().unwrap() {
        "Zero" => "Zero".into(),
        "Add" => {
            let a = inner(words);
            format!("(Add {a} {})", inner(words))
        }
        "Scale" => {
            let x: f64 = words.next().unwrap().parse().unwrap();
            format!("(Scale {} {})", rounded(x), inner(words))
        }
        name => bound[name].clone(),
    }
}

#[test]
fn figure_12_has_the_forty_bindings_of_the_paper() {
    let (e, _) = checked(QUATERNION);
    let d = monadic::translate(&e).unwrap();
    let f = wengert_base::Name::new("f");
    let point =
        "((1.1, Var 1), (2.2, Var 2), (3.3, Var 3), (4.4, Var 4)), (5.5, Var 5), (6.6, Var 6), (7.7, Var 7)";
    let point = parse::parse(SOURCE, &format!("({point})")).unwrap();
    let main = make::monadic(super::syntax::Pat::Var(f), d, make::app(make::var(f), point));
    let run = make::apps(make::builtin(super::syntax::Builtin::RunDelta), [make::int(8), main]);
    let (value, _) = evaluate(&run);
    let mut bound: BTreeMap<i64, String> = (1..).zip(INPUTS.map(String::from)).collect();
    let mut all = Vec::new();
    let mut rest = value.delta().unwrap().clone();
    while let DeltaNode::Let(id, u, body) = &*rest.clone() {
        let text = unfolded(u, &bound);
        bound.insert(*id, text.clone());
        all.push(text);
        rest = body.clone();
    }
    let result = unfolded(&rest, &bound);
    all.sort();
    let (figure, figure_result) = figure();
    assert_eq!(all.len(), 40);
    assert_eq!(all, figure);
    assert_eq!(result, figure_result);
}

#[test]
fn figure_12_has_its_value_and_gradient() {
    let (e, ty) = checked(QUATERNION);
    let (s, _) = source_of(&ty);
    let q = "(1.1, 2.2, 3.3, 4.4)";
    let v = "(5.5, 6.6, 7.7)";
    let (value, _) = evaluate(&make::app(e.clone(), checked(&format!("({q}, {v})")).0));
    assert!(close(&reals(&value), &[71.874]));
    let expected = [91.96, 58.08, -77.44, 38.72, 4.84, -24.2, 26.62];
    for (name, wrapper) in gradients(&e, &s) {
        let (gradient, _) = at(wrapper, &format!("({q}, {v})"), "1.0");
        assert!(close(&gradient, &expected), "{name}: {gradient:?}");
    }
}

/// Section 7: `let x₁ = x + x in let x₂ = x₁ + x₁ in …`.
pub(super) fn doubling(n: usize) -> String {
    let lets: String = (1..=n).map(|i| format!("let x{i} = x{0} + x{0} in ", i - 1)).collect();
    format!("λx0. {lets}x{n}")
}

#[test]
fn nested_doublings_are_linear_in_the_final_translation_and_exponential_in_the_second() {
    let count = |n: usize, wrapper: fn(&E, &Ty) -> Result<E, wengert_base::Diagnostic>| {
        let (e, ty) = checked(&doubling(n));
        let (gradient, counts) = at(wrapper(&e, &source_of(&ty).0).unwrap(), "1.0", "1.0");
        assert_eq!(gradient, [2f64.powi(i32::try_from(n).unwrap())]);
        counts
    };
    let steps = |counts: &Counts, prefix: &str| -> u64 {
        counts.by_rule.iter().filter(|(rule, _)| rule.starts_with(prefix)).map(|(_, n)| n).sum()
    };
    for n in [4, 8, 12] {
        // 2ⁿ leaves and 2ⁿ - 1 sums.
        assert_eq!(steps(&count(n, staged::wrapper), "eval₂"), (1 << (n + 1)) - 1);
        // Let, its sum of two variables and what it passes on: five for each binding, and the result.
        let counts = count(n, monadic::wrapper);
        assert_eq!(steps(&counts, "eval-"), 5 * n as u64 + 1);
        // One addition, one binding and one step of each kind for each `let`; nothing else is counted as an operation.
        let of = |rule: &str| counts.by_rule.get(rule).copied().unwrap_or(0);
        assert_eq!([of("op"), of("deltaLet"), of("runDelta")], [n as u64, n as u64, 1]);
        assert_eq!(
            [counts.more["delta bindings"], counts.more["numeric operations"]],
            [n as u64, 3 * n as u64 + 1]
        );
    }
    // Total steps grow by the same amount for each binding.
    let total: Vec<u64> = [100, 200, 300].iter().map(|n| count(*n, monadic::wrapper).steps).collect();
    assert_eq!(total[1] - total[0], total[2] - total[1]);
}

#[test]
fn a_large_program_runs_in_linear_time_and_space() {
    let n = 10_000;
    let (e, ty) = checked(&doubling(n));
    let wrapper = monadic::wrapper(&e, &source_of(&ty).0).unwrap();
    let (gradient, counts) = at(wrapper, "1.0", "0.0");
    assert_eq!(gradient, [0.0]);
    assert!(counts.steps < 40 * n as u64 && counts.max_size < 100 * n as u64, "{counts:?}");
}

#[test]
fn sums_integers_and_texts_go_through_section_11() {
    let text = "λ(x : (ℝ + ℝ × ℝ) × ℤ × String).
        case fst x of inl a → (a × a, inl 1.0), inr (b, c) → (b × c, inr (sin b, 7))";
    let (e, ty) = checked(text);
    let (s, t) = source_of(&ty);
    let reverse = monadic::general_wrapper(&e, &s, &t).unwrap();
    let call = |wrapper: &E, x: &str, d: &str| {
        let call = make::app(
            wrapper.clone(),
            make::pair(parse::parse(SOURCE, x).unwrap(), parse::parse(SOURCE, d).unwrap()),
        );
        let (call, ty) = types::check(&call).unwrap();
        ground(&evaluate(&call).0, &ty)
    };
    let left = call(&reverse, "(inl 3.0, 5, \"k\")", "(2.0, inl 9.0)");
    let shape = |x: Ground| Ground::Tuple(vec![x, Ground::Int(5), Ground::String("k".into())]);
    assert_eq!(left, shape(Ground::Ctor("inl".into(), vec![Ground::Real(12.0)])));
    let right = call(&reverse, "(inr (0.0, 4.0), 5, \"k\")", "(1.0, inr (10.0, 0))");
    let pair = Ground::Tuple(vec![Ground::Real(14.0), Ground::Real(0.0)]);
    assert_eq!(right, shape(Ground::Ctor("inr".into(), vec![pair])));
}

#[test]
fn arrays_recursion_and_recursive_types_have_gradients() {
    let norm = "λ(v : Vector ℝ). letrec go = λi. if i < length v then index (v, i) ^ 2 + go (i + 1) else 0.0 in go 0";
    let list = "λ(l : μL. 1 + ℝ × L).
        letrec product = λ(l : μL. 1 + ℝ × L). case unroll l of inl _ → 1.0, inr (x, rest) → x × product rest in
        product l";
    let power = "letrec power = λ(x, n). if n == 0 then 1.0 else x × power (x, n - 1) in λx. power (x, 5)";
    let cell = |x: &str, rest: &str| format!("roll_{{μL. 1 + ℝ × L}} inr ({x}, {rest})");
    let three = cell("2.0", &cell("3.0", &cell("5.0", "roll_{μL. 1 + ℝ × L} inl ()")));
    let vector = "build (3, λi. real i + 1.0)";
    for (text, x, expected) in [
        (norm, vector, vec![2.0, 4.0, 6.0]),
        (list, three.as_str(), vec![15.0, 10.0, 6.0]),
        (power, "2.0", vec![80.0]),
    ] {
        let (e, ty) = checked(text);
        let (s, t) = source_of(&ty);
        let (gradient, _) = at(monadic::general_wrapper(&e, &s, &t).unwrap(), x, "1.0");
        assert!(close(&gradient, &expected), "{text}: {gradient:?}");
    }
    let (e, ty) =
        checked("λ(x, y). let v = build (4, λi. x ^ 2 × real i + y) in index (v, 2) × index (v, 3)");
    let (gradient, _) = at(monadic::wrapper(&e, &source_of(&ty).0).unwrap(), "(2.0, 1.0)", "1.0");
    assert!(close(&gradient, &[8.0 * 13.0 + 9.0 * 12.0, 13.0 + 9.0]), "{gradient:?}");
}

#[test]
fn towers_hold_derivatives_of_higher_order() {
    let (e, ty) = checked("λx. exp (x × x)");
    let (towers, _) = at(tower::wrapper(&e, &source_of(&ty).0, 3).unwrap(), "0.5", "1.0");
    let v = 0.25f64.exp();
    let expected = [v, v, v * (2.0 + 4.0 * 0.25), v * (12.0 * 0.5 + 8.0 * 0.125)];
    assert!(close(&towers, &expected), "{towers:?} {expected:?}");
}

#[test]
fn reverse_over_forward_agrees_with_the_tower() {
    let (e, ty) = checked("λx. sin x × x + log x");
    let s = source_of(&ty).0;
    let f = forward::wrapper(&e, &s).unwrap();
    let (f, ty) = types::check(&f).unwrap();
    let (pair, _) = source_of(&ty);
    // ∂/∂x of ℱ{e} (x, 1) is the second derivative.
    let (nested, _) = at(monadic::wrapper(&f, &pair).unwrap(), "(0.8, 1.0)", "1.0");
    let (towers, _) = at(tower::wrapper(&e, &s, 2).unwrap(), "0.8", "1.0");
    assert!(close(&nested[..1], &towers[2..]), "{nested:?} {towers:?}");
    let twice = forward::wrapper(&f, &pair).unwrap();
    let (second, _) = at(twice, "(0.8, 1.0)", "(1.0, 0.0)");
    assert!(close(&second, &towers[2..]));
    assert!(monadic::translate(&monadic::wrapper(&e, &s).unwrap()).is_err(), "ℛ{{ℛ{{e}}}} does not exist");
}

#[test]
fn traces_name_their_rules_and_mark_the_redex() {
    let (e, _) = checked("let x = 2.0 in (λy. y × x) 3.0");
    let reduction = reduce::reduce(&e, &Limits::default()).unwrap();
    let rules: Vec<&str> = reduction.steps.iter().map(|step| step.rule).collect();
    assert_eq!(rules, ["let", "β", "op"]);
    let redexes: Vec<&str> =
        reduction.steps.iter().map(|step| &step.before[step.redex.clone().unwrap()]).collect();
    assert_eq!(redexes[2], "3.0 × 2.0");
    assert_eq!(reduction.end, "6.0");
    for pair in reduction.steps.windows(2) {
        assert_eq!(pair[0].after, pair[1].before);
    }
    assert!(matches!(e.kind, Kind::Let(..)) && !matches!(e.kind, Kind::Const(Const::Unit)));
}

#[test]
fn types_that_double_are_refused_in_time() {
    let lets: String = (1..60).map(|i| format!("let x{} = (x{i}, x{i}) in ", i + 1)).collect();
    let errors = read(SOURCE, &format!("let x1 = (1.0, 1.0) in {lets}x60")).unwrap_err();
    assert_eq!(errors[0].code, "E0971");
    let errors = read(SOURCE, &format!("λx1. {lets}x60")).unwrap_err();
    assert_eq!(errors[0].code, "E0971");
}
