//! Rules one by one, on terms chosen by hand: each primitive at ordinary points and at its kinks in every translation, Figure
//! 9 as it prints, numbers and texts, the polytypic functions on values of different shapes, what the shaded constructs are
//! without shade, and terms that have no type.

#![expect(clippy::wildcard_enum_match_arm, reason = "most terms and values have no numbers of variables")]

use super::examples::{at, checked, evaluate, quiet, reals, source_of};
use super::syntax::{Const, E, Kind, Poly, Ty, make};
use super::translate::{Mode, dual_type};
use super::value::{DeltaNode, Value};
use super::{
    forward, monadic, naive, parse, polytypic, print, readback, reduce, resolve, staged, tower, types,
    unshade,
};
use std::rc::Rc;
use wengert_base::SourceId;
use wengert_prim::{RealOp, Rule, Test, rules};

fn near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn agree(what: &str, op: RealOp, args: &[f64], expected: &[f64], found: &[f64]) {
    let same = expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| near(*a, *b));
    assert!(same, "{what}, {} at {args:?}: {found:?} instead of {expected:?}", op.name());
}

/// A primitive as a main expression.
fn main_of(op: RealOp) -> (E, Ty) {
    let names: Vec<_> =
        ["x", "y"].iter().take(op.arity()).map(|name| wengert_base::Name::new(name)).collect();
    let pattern = super::syntax::Pat::tuple(names.iter().map(|n| super::syntax::Pat::Var(*n)).collect());
    let body = make::real_op(op, names.into_iter().map(make::var).collect());
    let s = Ty::tuple(vec![Ty::Real; op.arity()]);
    (types::check(&make::lam(pattern, body)).unwrap_or_else(|error| panic!("{error:?}")).0, s)
}

fn points(op: RealOp) -> Vec<Vec<f64>> {
    const ONE: [f64; 12] = [-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 20.0, -30.0];
    const TWO: [f64; 6] = [-1.5, -1.0, 0.0, 0.5, 1.0, 2.0];
    match op.arity() {
        _ if op == RealOp::MulZero => {
            vec![vec![0.0, f64::INFINITY], vec![3.0, 4.0], vec![f64::INFINITY, 0.0]]
        }
        1 => ONE.iter().map(|x| vec![*x]).collect(),
        _ => TWO.iter().flat_map(|x| TWO.iter().map(|y| vec![*x, *y])).collect(),
    }
}

fn tuple(numbers: &[f64]) -> E {
    make::tuple(numbers.iter().map(|x| make::real(*x)).collect())
}

fn call(f: &E, x: E, dx: E) -> Vec<f64> {
    reals(&evaluate(&make::app(Rc::clone(f), make::pair(x, dx))).0)
}

/// The table of `wengert_prim` is the reference: at kinks, and where a coefficient is infinite and an exact zero wins.
#[test]
fn every_primitive_has_its_derivative_in_every_translation() {
    for op in RealOp::SAMPLES {
        let (e, s) = main_of(*op);
        let rule = rules::lookup(*op);
        let forward = [
            ("ℱ", forward::wrapper(&e, &s).unwrap()),
            ("ℱ for S → T", forward::general_wrapper(&e, &s, &Ty::Real).unwrap()),
        ];
        let order_2 = tower::wrapper(&e, &s, 2).unwrap();
        let reverse = monadic::general_wrapper(&e, &s, &Ty::Real).unwrap();
        let backward = [
            ("ℛ¹", naive::wrapper(&e, &s).unwrap()),
            ("ℛ²", staged::wrapper(&e, &s).unwrap()),
            ("ℛ", monadic::wrapper(&e, &s).unwrap()),
            ("ℛ for S → T", reverse),
        ];
        for args in points(*op) {
            let out = op.eval(&args);
            // 0/0 is 0 for this one, which only rules of derivatives use, and its own derivative there is nobody's.
            if !out.is_finite() || (*op == RealOp::DivZero && args.last() == Some(&0.0)) {
                continue;
            }
            let directions: &[&[f64]] = match op.arity() {
                1 => &[&[1.0], &[-2.0], &[0.0]],
                _ => &[&[1.0, 0.0], &[0.0, 1.0], &[1.5, -2.0], &[0.0, 0.0]],
            };
            for direction in directions {
                let expected = rule.tangent(&args, out, direction);
                for (what, wrapper) in &forward {
                    agree(what, *op, &args, &[expected], &call(wrapper, tuple(&args), tuple(direction)));
                }
                let towers = call(&order_2, tuple(&args), tuple(direction));
                agree("the tower", *op, &args, &[out, expected], &towers[..2]);
            }
            let partials: Vec<f64> = (0..op.arity()).map(|i| rule.partial(&args, out, i)).collect();
            let zeros = vec![0.0; op.arity()];
            for (what, wrapper) in &backward {
                // There ⊗ multiplies a whole gradient, zeros too, by one coefficient.
                if *what == "ℛ¹" && partials.iter().any(|x| !x.is_finite()) {
                    continue;
                }
                agree(what, *op, &args, &partials, &call(wrapper, tuple(&args), make::real(1.0)));
                if *what != "ℛ¹" {
                    agree(what, *op, &args, &zeros, &call(wrapper, tuple(&args), make::real(0.0)));
                }
            }
        }
    }
}

/// How often a primitive stands in the rule of its derivative.
fn in_rule(op: RealOp, rule: &Rule) -> usize {
    fn in_expr(op: RealOp, expr: &wengert_prim::Expr) -> usize {
        match expr {
            wengert_prim::Expr::Op(other, operands) => {
                usize::from(op == *other) + operands.iter().map(|e| in_expr(op, e)).sum::<usize>()
            }
            wengert_prim::Expr::If(test, a, b) => in_test(op, test) + in_expr(op, a) + in_expr(op, b),
            _ => 0,
        }
    }
    fn in_test(op: RealOp, test: &Test) -> usize {
        match test {
            Test::Eq(a, b) | Test::Lt(a, b) | Test::Le(a, b) => in_expr(op, a) + in_expr(op, b),
            Test::Or(a, b) => in_test(op, a) + in_test(op, b),
        }
    }
    match rule {
        Rule::Linear { terms, divisor } => {
            let coefficients = terms.iter().filter_map(|term| term.coef.as_ref());
            coefficients.chain(divisor).map(|e| in_expr(op, e)).sum()
        }
        Rule::Case(test, a, b) => in_test(op, test) + in_rule(op, a) + in_rule(op, b),
    }
}

fn occurrences(e: &E, op: RealOp) -> usize {
    let here = usize::from(matches!(&e.kind, Kind::Const(Const::RealOp(other)) if *other == op));
    here + resolve::children(e).into_iter().map(|child| occurrences(child, op)).sum::<usize>()
}

/// Where a rule mentions the result, the result has a name, and the function is not computed again.
#[test]
fn the_result_of_a_primitive_is_computed_once() {
    let arithmetic = [RealOp::Add, RealOp::Sub, RealOp::Mul, RealOp::Div, RealOp::Neg];
    let zeros = [RealOp::MulZero, RealOp::DivZero];
    for op in RealOp::SAMPLES.iter().filter(|op| !arithmetic.contains(op) && !zeros.contains(op)) {
        let (e, s) = main_of(*op);
        let expected = 1 + in_rule(*op, &rules::lookup(*op));
        for (what, translated) in [
            ("𝒟⃗", forward::translate(&e).unwrap()),
            ("𝒟⃖¹", naive::translate(&e, &s).unwrap()),
            ("𝒟⃖²", staged::translate(&e).unwrap()),
            ("𝒟⃖", monadic::translate(&e).unwrap()),
        ] {
            let found = occurrences(&translated, *op);
            assert_eq!(found, expected, "{what}: {}", print::term(&translated));
        }
    }
}

/// `0 · √0` has an infinite derivative inside, which does not count: in the reverse modes with a trace, written out or not.
#[test]
fn an_exact_zero_wins_over_an_infinite_derivative() {
    for text in ["λx. 0.0 × sqrt (x - x)", "λx. (x - x) × sqrt (x - x)"] {
        let (e, ty) = checked(text);
        let (s, t) = source_of(&ty);
        let general = monadic::general_wrapper(&e, &s, &t).unwrap();
        let plain = unshade::unshade(&types::check(&general).unwrap().0).unwrap();
        for wrapper in [staged::wrapper(&e, &s).unwrap(), monadic::wrapper(&e, &s).unwrap(), general, plain] {
            assert_eq!(call(&wrapper, make::real(2.0), make::real(1.0)), [0.0], "{}", print::term(&wrapper));
        }
    }
}

/// A term for each equation of Figure 9.
const FIGURE_9: &[&str] = &[
    "λx. x",
    "λ(f, x). f x",
    "λx. let y = x in y",
    "λx. (x, 2.0)",
    "λx. fst (x, 1)",
    "λx. snd (x, 1)",
    "λx. x × x",
    "λx. sin x",
    "λx. case x of inl y → y, inr z → 3.0",
    "λx. real 2",
    "λ(v, i). index (v, i) + 1.0",
    "λn. build (n, λi. real i)",
    "letrec f = λx. f x in f 1.0",
    "\"a\" ++ \"b\"",
    "2 +ℤ 3",
    "1.0 <ℝ 2.0",
];

/// Figure 9, equation by equation, and the wrappers of Figures 11 and 15.
#[test]
fn figure_9_prints_as_in_the_paper() {
    let mut shown = String::new();
    for text in FIGURE_9 {
        let (e, _) = checked(text);
        shown += &format!("{}\n    {}\n", print::term(&e), print::term(&monadic::translate(&e).unwrap()));
    }
    let (e, ty) = checked("λ(x, y). x × y");
    let (s, t) = source_of(&ty);
    shown += &format!("{}\n", print::term(&monadic::wrapper(&e, &s).unwrap()));
    shown += &format!("{}\n", print::term(&monadic::general_wrapper(&e, &s, &t).unwrap()));
    shown += &format!("{}\n", print::term(&forward::general_wrapper(&e, &s, &t).unwrap()));
    expect_test::expect![[r#"
        λ(x : ℝ). x
            pure (λ(x : ℝ × Delta). pure x)
        λ((f, x) : (ℝ → ℝ) × ℝ). f x
            pure (λ((f, x) : (ℝ × Delta → M (ℝ × Delta)) × ℝ × Delta). do { f' ← pure f; x' ← pure x; f' x' })
        λ(x : ℝ). let y = x in y
            pure (λ(x : ℝ × Delta). do { y ← pure x; pure y })
        λ(x : ℝ). (x, 2.0)
            pure (λ(x : ℝ × Delta). do { x' ← pure x; y ← pure (2.0, Zero); pure (x', y) })
        λ(x : ℝ). fst (x, 1)
            pure (λ(x : ℝ × Delta). do { x' ← do { x' ← pure x; y ← pure 1; pure (x', y) }; pure (fst x') })
        λ(x : ℝ). snd (x, 1)
            pure (λ(x : ℝ × Delta). do { x' ← do { x' ← pure x; y ← pure 1; pure (x', y) }; pure (snd x') })
        λ(x : ℝ). x × x
            pure (λ(x : ℝ × Delta). do { f ← pure (λ((x', u1), y, u2). do { u ← deltaLet (Add (Scale y u1) (Scale x' u2)); pure (x' × y, Var u) }); x' ← do { x' ← pure x; y ← pure x; pure (x', y) }; f x' })
        λ(x : ℝ). sin x
            pure (λ(x : ℝ × Delta). do { f ← pure (λ(x', u1). do { u ← deltaLet (Scale (cos x') u1); pure (sin x', Var u) }); x' ← pure x; f x' })
        λ(x : ℝ + ℝ). case x of inl y → y, inr z → 3.0
            pure (λ(x : ℝ × Delta + ℝ × Delta). do { x' ← pure x; case x' of inl y → pure y, inr z → pure (3.0, Zero) })
        λ(x : ℝ). real 2
            pure (λ(x : ℝ × Delta). do { f ← pure (λx'. do { u ← deltaLet Zero; pure (real x', Var u) }); x' ← pure 2; f x' })
        λ((v, i) : Vector ℝ × ℤ). index (v, i) + 1.0
            pure (λ((v, i) : Vector (ℝ × Delta) × ℤ). do { f ← pure (λ((x, u1), y, u2). do { u ← deltaLet (Add u1 u2); pure (x + y, Var u) }); x ← do { x ← do { f ← pure (λ(x, y). pure (index (x, y))); x ← do { x ← pure v; y ← pure i; pure (x, y) }; f x }; y ← pure (1.0, Zero); pure (x, y) }; f x })
        λ(n : ℤ). build (n, λ(i : ℤ). real i)
            pure (λ(n : ℤ). do { f ← pure (λ(x, y). sequence (build (x, y))); x ← do { x ← pure n; y ← pure (λ(i : ℤ). do { f ← pure (λx. do { u ← deltaLet Zero; pure (real x, Var u) }); x ← pure i; f x }); pure (x, y) }; f x })
        letrec f : ℝ → ℝ = λ(x : ℝ). f x in f 1.0
            letrec f : ℝ × Delta → M (ℝ × Delta) = λ(x : ℝ × Delta). do { f' ← pure f; x' ← pure x; f' x' } in do { f' ← pure f; x' ← pure (1.0, Zero); f' x' }
        "a" ++ "b"
            do { f ← pure (λ(x, y). pure (x ++ y)); x ← do { x ← pure "a"; y ← pure "b"; pure (x, y) }; f x }
        2 +ℤ 3
            do { f ← pure (λ(x, y). pure (x +ℤ y)); x ← do { x ← pure 2; y ← pure 3; pure (x, y) }; f x }
        1.0 < 2.0
            do { f ← pure (λ((x, _), y, _). pure (x < y)); x ← do { x ← pure (1.0, Zero); y ← pure (2.0, Zero); pure (x, y) }; f x }
        λ((s1, s2), dt). let s0 = ((s1, Var 1), s2, Var 2) in let u = runDelta 3 (do { f ← pure (λ((x, y) : (ℝ × Delta) × ℝ × Delta). do { f ← pure (λ((x', u1), y', u2). do { u ← deltaLet (Add (Scale y' u1) (Scale x' u2)); pure (x' × y', Var u) }); x' ← do { x' ← pure x; y' ← pure y; pure (x', y') }; f x' }); f s0 }) in let finalMap = eval dt u emptyMap in (lookupOrZero 1 finalMap, lookupOrZero 2 finalMap)
        λ(s, dt). let (s0, dv) = initVars_{ℝ^2} (s, 0) in let dt0 = initZeros_{ℝ} dt in let u = runDelta (dv +ℤ 1) (do { f ← pure (λ((s, dt) : ((ℝ × Delta) × ℝ × Delta) × ℝ × Delta). do { f ← pure (λ((x1, y2) : (ℝ × Delta) × ℝ × Delta). do { f ← pure (λ((x', u1), y', u2). do { u ← deltaLet (Add (Scale y' u1) (Scale x' u2)); pure (x' × y', Var u) }); x' ← do { x' ← pure x1; y' ← pure y2; pure (x', y') }; f x' }); x' ← do { x' ← do { f ← pure (λ((x, y) : (ℝ × Delta) × ℝ × Delta). do { f ← pure (λ((x', u1), y', u2). do { u ← deltaLet (Add (Scale y' u1) (Scale x' u2)); pure (x' × y', Var u) }); x' ← do { x' ← pure x; y' ← pure y; pure (x', y') }; f x' }); x' ← pure s; f x' }; y' ← pure dt; pure (x', y') }; f x' }); f (s0, dt0) }) in let finalMap = eval 1.0 u emptyMap in lookup_{ℝ^2} (finalMap, s0)
        λx'. delta_{ℝ} ((λ((x, y) : ℝ^2 × ℝ × ℝ). (λ((x', dx), y', dy). (x' × y', y' × dx + x' × dy)) (x, y)) (zip_{ℝ^2} x'))
    "#]].assert_eq(&shown);
}

/// The value of a term as it prints, or the code of what goes wrong.
fn shown(text: &str) -> String {
    match reduce::reduce(&checked(text).0, &quiet()) {
        Ok(reduction) => reduction.value.as_ref().map(readback::value).unwrap_or_default(),
        Err(error) => error.code.to_string(),
    }
}

#[test]
fn leaves_and_deltas_have_the_values_of_their_figures() {
    let cases = [
        ("1 ≠ℤ 1", "inr ()"),
        ("1 ≠ℤ 2", "inl ()"),
        ("2 ≤ℤ 2", "inl ()"),
        ("2 <ℤ 2", "inr ()"),
        ("NaN ≠ℝ NaN", "inl ()"),
        ("NaN ≤ℝ NaN", "inr ()"),
        ("\"a\" == \"a\"", "inl ()"),
        ("\"a\" < \"a\"", "inr ()"),
        ("7 %ℤ 4", "3"),
        ("7 - 9", "-2"),
        ("-7 / 2", "-3"),
        ("7 / 2", "3"),
        ("negate 2", "-2"),
        ("negate 2.5", "-2.5"),
        ("1 /ℤ 0", "E0976"),
        ("1 %ℤ 0", "E0976"),
        ("floor (-0.5)", "-1"),
        ("floor 2.5", "2"),
        ("real 3", "3.0"),
        ("\"ab\" ++ \"cd\"", "\"abcd\""),
        ("length (build (3, λi. i))", "3"),
        ("build (100000000, λi. i)", "E0975"),
        ("build (-1, λi. i)", "E0975"),
        ("index (build (3, λi. i), 3)", "E0975"),
        ("fail \"no\"", "E0979"),
        // ⊕ keeps the first of two shapes, ⊙ is 0, and pairs of them are none.
        ("(inl 1.0 : ℝ + ℝ) ⊕ inr 2.0", "inl 1.0"),
        ("(inl 1.0 : ℝ + ℝ) ⊙ inr 2.0", "0.0"),
        ("zip_{ℝ + ℝ} (inl 1.0, inr 2.0)", "E0977"),
        ("build (2, λi. 1.0) ⊕ build (3, λi. 1.0)", "E0977"),
        ("build (2, λi. 1.0) ⊙ build (3, λi. 1.0)", "E0977"),
        // Figures 10 and 15.
        ("initVars_{ℝ × ℝ} ((1.5, 2.5), 3)", "(((1.5, Var 4), 2.5, Var 5), 5)"),
        (
            "runDelta 5 (do { u ← deltaLet Zero; v ← deltaLet (Var u); pure (1.0, Var v) })",
            "Let 5 Zero (Let 6 (Var 5) (Var 6))",
        ),
        ("lookupOrZero 1 (eval 1.0 (Let 2 (Scale 2.0 (Var 1)) (Add (Var 2) (Var 2))) emptyMap)", "4.0"),
        ("lookupOrZero 2 (eval 1.0 (Let 2 (Scale 2.0 (Var 1)) (Var 2)) emptyMap)", "0.0"),
        ("lookupOrZero 9 (eval 1.0 (Var 1) emptyMap)", "0.0"),
        ("eval₂ 2.0 (Add (OneHot 1) (Scale 3.0 (OneHot 2))) (1.0, 1.0)", "(3.0, 7.0)"),
        ("onehot_{ℝ × ℝ} 2", "(0.0, 1.0)"),
        ("zero_{ℝ × ℤ}", "(0.0, 0)"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, shown(text)))
        .filter(|(_, expected, found)| **expected != found)
        .map(|(text, expected, found)| format!("{text}: {found} instead of {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the definitions of the polytypic functions say where there is no displacement: the same as the functions.
#[test]
fn definitions_on_different_shapes_are_those_of_the_functions() {
    let sum = Ty::sum(Ty::Real, Ty::Real);
    let (x, y) = (checked("(inl 1.0 : ℝ + ℝ)").0, checked("(inr 2.0 : ℝ + ℝ)").0);
    for (poly, expected) in [(Poly::Add, vec![1.0]), (Poly::Dot, vec![0.0])] {
        for function in [polytypic::definition(poly, &sum), make::poly(poly, &sum)] {
            let argument = make::pair(Rc::clone(&x), Rc::clone(&y));
            assert_eq!(reals(&evaluate(&make::app(function, argument)).0), expected);
        }
    }
    // Pattern matching counts as the projections that it stands for.
    let (_, counts) = evaluate(&checked("(λ(x, y). x) (1.0, 2.0)").0);
    assert_eq!((counts.by_rule.get("fst"), counts.by_rule.get("snd")), (Some(&1), Some(&1)));
}

/// The numbers of variables in dual numbers, and all integers, from left to right.
fn identifiers(value: &Value) -> Vec<i64> {
    match value {
        Value::Int(n) => vec![*n],
        Value::Delta(u) => match &**u {
            DeltaNode::Var(id) => vec![*id],
            _ => Vec::new(),
        },
        Value::Pair(cell) => [identifiers(&cell.a), identifiers(&cell.b)].concat(),
        Value::Inl(cell) | Value::Inr(cell) | Value::Roll(cell, _) => identifiers(&cell.a),
        Value::Vector(items) => items.iter().flat_map(identifiers).collect(),
        _ => Vec::new(),
    }
}

const LIST: &str = "(μL. 1 + (ℝ × L))";

/// Types with values of several numbers each.
fn data() -> Vec<(String, String)> {
    let list = |n: usize| {
        (0..n)
            .fold(format!("roll_{{{LIST}}} inl ()"), |rest, i| format!("roll_{{{LIST}}} inr ({i}.0, {rest})"))
    };
    let mut all = vec![
        ("ℝ × (ℝ × ℝ)".to_string(), "(1.0, 2.0, 3.0)".to_string()),
        ("(ℝ × ℝ) + ℝ".into(), "(inl (1.0, 2.0) : (ℝ × ℝ) + ℝ)".into()),
        ("(ℝ × ℝ) + ℝ".into(), "(inr 3.0 : (ℝ × ℝ) + ℝ)".into()),
        ("((ℝ × ℝ) + ℝ) × ℝ".into(), "((inl (1.0, 2.0) : (ℝ × ℝ) + ℝ), 4.0)".into()),
    ];
    for n in 0..=7 {
        all.push(("(Vector (ℝ × ℝ)) × ℝ".to_string(), format!("(build ({n}, λi. (real i, 2.0)), 5.0)")));
        all.push((format!("{LIST} × ℝ"), format!("({}, 5.0)", list(n))));
    }
    all
}

#[test]
fn variables_are_numbered_alike_without_shaded_constructs() {
    for (ty, v) in data() {
        let (shaded, _) = checked(&format!("initVars_{{{ty}}} ({v}, 3)"));
        let plain = unshade::unshade(&shaded).unwrap();
        let (found, expected) = (evaluate(&plain).0, evaluate(&shaded).0);
        assert_eq!(identifiers(&found), identifiers(&expected), "{ty}: {v}");
        assert_eq!(reals(&found), reals(&expected), "{ty}: {v}");
        // The numbers are used: the gradient of the sum of all reals is 1 everywhere.
        let (sum, s) = checked(&format!("λ(v : {ty}). v ⊙ v"));
        let (s, t) = (source_of(&s).0, source_of(&s).1);
        let wrapper = monadic::general_wrapper(&sum, &s, &t).unwrap();
        let plain = unshade::unshade(&types::check(&wrapper).unwrap().0).unwrap();
        let point = checked(&v).0;
        let twice: Vec<f64> = reals(&evaluate(&point).0).iter().map(|x| 2.0 * x).collect();
        for wrapper in [wrapper, plain] {
            let argument = make::pair(Rc::clone(&point), make::real(1.0));
            assert_eq!(reals(&evaluate(&make::app(wrapper, argument)).0), twice, "{ty}: {v}");
        }
    }
}

#[test]
fn shaded_constructs_are_recognized_and_compute_the_same_without_shade() {
    for (text, expected) in [
        ("runDelta 2 (pure (1.0, Zero))", true),
        ("lookupOrZero 9 (eval 1.0 (Var 1) emptyMap)", true),
        ("lookupOrZero 1 (eval 3.0 (Let 2 (Scale 2.0 (Var 1)) (Add (Var 2) (Var 2))) emptyMap)", true),
        ("lookupOrZero 1 (eval 3.0 (Let 2 (Var 1) (Let 3 (Var 2) (Add (Var 3) (Var 1)))) emptyMap)", true),
        ("lookupOrZero 6 (eval 3.0 (Add (Var 6) (Add (Var 5) (Scale 2.0 (Var 6)))) emptyMap)", true),
        ("λm. do { x ← m; pure (x +ℝ 1.0) }", true),
        ("pure 1.0", true),
        ("λv. sequence v", true),
        ("zip_{ℝ} (1.0, 2.0)", true),
        ("index (build (3, λi. real i), 1)", false),
        ("(1.0, 2.0) ⊕ (1.0, 2.0)", false),
    ] {
        let (e, ty) = checked(text);
        assert_eq!(unshade::is_shaded(&e), expected, "{text}");
        if ty == Ty::Real {
            let plain = unshade::unshade(&e).unwrap();
            assert_eq!(reals(&evaluate(&plain).0), reals(&evaluate(&e).0), "{text}");
        }
    }
}

/// `sequence` runs its computations from left to right, whatever their number: the identifiers come in that order.
#[test]
fn sequences_without_shaded_constructs_keep_their_order() {
    for n in 0..=9 {
        let (e, _) = checked(&format!(
            "lookupOrZero 1 (eval 1.0 (runDelta 2 (do {{
                v ← sequence (build ({n}, λi. deltaLet (Scale (real i) Zero)));
                pure (1.0, letrec go = λi. if i ==ℤ {n} then Zero
                    else Add (Scale (real (index (v, i) ×ℤ (i +ℤ 1))) (Var 1)) (go (i +ℤ 1)) in go 0)
            }})) emptyMap)"
        ));
        let expected: i64 = (1..=n).map(|i| i * (i + 1)).sum();
        for e in [Rc::clone(&e), unshade::unshade(&e).unwrap()] {
            assert_eq!(reals(&evaluate(&e).0), [expected as f64], "{n}");
        }
    }
}

/// Terms without a type, and the kind of mistake.
const UNTYPED: &[(&str, &str)] = &[
    // Typing-App, -Lam, -Let.
    ("(λ(x : ℝ). x) 1", "E0967"),
    ("1.0 2.0", "E0967"),
    ("(λ(x, y). x) 1.0", "E0967"),
    ("let (x, y) = 1.0 in x", "E0967"),
    ("λx. x x", "E0968"),
    ("λ(x : X). x", "E0966"),
    ("λ(f : ℝ → μX. X + Y). f", "E0966"),
    ("((λx. x) : ℝ → Y)", "E0966"),
    ("(λ(x : (μX. X + ℝ) × X). x)", "E0966"),
    // -Fst, -Snd, -Pair
    ("fst 1.0", "E0967"),
    ("snd 1.0", "E0967"),
    ("(fst (1, 2.0)) + 1.0", "E0967"),
    ("(snd (1.0, 2)) + 1.0", "E0967"),
    ("λx. (fst x) + fst (fst x)", "E0968"),
    // -Inl, -Inr, -Case
    ("case 1.0 of inl x → x, inr y → y", "E0967"),
    ("case (inl 1.0 : ℝ + ℤ) of inl x → x, inr y → y", "E0967"),
    ("case (inl 1 : ℤ + ℝ) of inl x → sin x, inr y → y", "E0967"),
    ("(inl 1 : ℝ + ℤ)", "E0967"),
    ("(inr 1 : ℤ + ℝ)", "E0967"),
    ("if 1.0 then 2.0 else 3.0", "E0967"),
    // -OpPlusR, -OpTimesR and the other operators
    ("1.0 + 2", "E0967"),
    ("1 × 2.0", "E0967"),
    ("sin 1", "E0967"),
    ("\"a\" + \"b\"", "E0969"),
    ("negate \"a\"", "E0969"),
    ("(λx. x) ≤ (λx. x)", "E0969"),
    ("(1.0 < 2.0) + 1.0", "E0967"),
    ("1 ++ 2", "E0967"),
    ("\"a\" <_S 1", "E0967"),
    ("real 1.0", "E0967"),
    ("floor 1", "E0967"),
    // Section 10: recursion, arrays.
    ("letrec f = λ(x : ℝ). x in f 1", "E0967"),
    ("letrec f = λ(x : ℝ). f in f", "E0968"),
    ("letrec f : ℝ → X = λx. x in f", "E0966"),
    ("letrec f : ℝ → ℝ = λx. 1 in f", "E0967"),
    ("roll_{ℝ} 1.0", "E0962"),
    ("roll_{μX. 1 + X} 1.0", "E0967"),
    ("roll_{μX. 1 + Y} inl ()", "E0966"),
    ("unroll 1.0", "E0967"),
    ("build (1.0, λi. i)", "E0967"),
    ("index (1.0, 1)", "E0967"),
    ("index (build (1, λi. i), 0) + 1.0", "E0967"),
    ("index (build (1, λi. i), 1.0)", "E0967"),
    ("fail 1", "E0967"),
    ("length 1", "E0967"),
    // The polytypic functions.
    ("primal", "E0970"),
    ("zip_{ℝ × X}", "E0966"),
    ("(λ(f : ℝ → ℝ). f) ⊕ (λ(f : ℝ → ℝ). f)", "E0970"),
    ("zero_{ℝ → ℝ}", "E0970"),
    ("onehot_{ℝ × ℤ} 1", "E0970"),
    ("1 ⊗ 2.0", "E0967"),
    ("(1.0 ⊙ 2.0) ++ \"a\"", "E0967"),
    ("((1.0, 2.0) ⊙ (1.0, 2.0)) ⊕ (1.0, 2.0)", "E0967"),
    ("((1.0, 2.0) ⊕ (1.0, 2.0)) + 1.0", "E0967"),
    // The shaded constructs of Figures 7 to 11.
    ("Scale (Var 1) 1.0", "E0967"),
    ("Var 1.0", "E0967"),
    ("(deltaLet Zero) +ℤ 1", "E0967"),
    ("(pure 1.0) + 1.0", "E0967"),
    ("do { x ← 1.0; pure x }", "E0967"),
    ("do { x ← pure 1.0; x }", "E0967"),
    ("runDelta 1 (pure 1.0)", "E0967"),
    ("eval₂ 1.0 Zero emptyMap ⊕ 1.0", "E0967"),
    ("(lookupOrZero 1 emptyMap) +ℤ 1", "E0967"),
    ("sequence (build (1, λi. i))", "E0967"),
];

#[test]
fn terms_without_a_type_are_refused() {
    let wrong: Vec<String> = UNTYPED
        .iter()
        .map(|(text, expected)| {
            let parsed = parse::parse(SourceId(0), text);
            let found = parsed.and_then(|e| types::check(&e).map(|(_, ty)| print::ty(&ty)));
            (text, expected, found.map_or_else(|error| error.code.to_string(), |ty| format!("type {ty}")))
        })
        .filter(|(_, expected, found)| **expected != found)
        .map(|(text, expected, found)| format!("{text}: {found} instead of {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What has a type, and which.
#[test]
fn terms_have_the_types_of_the_figures() {
    let cases = [
        ("λx. (fst x, snd x)", "ℝ^2 → ℝ^2"),
        ("λx. if x == x then 1 else 2", "ℝ → ℤ"),
        ("λx y. x / y", "ℝ → ℝ → ℝ"),
        ("7 / 2", "ℤ"),
        ("λ(x : ℤ). negate x", "ℤ → ℤ"),
        ("λ(x : String). x < x", "String → 1 + 1"),
        ("λs. \"a\" <_S s", "String → 1 + 1"),
        ("λv. index (v, 0)", "Vector ℝ → ℝ"),
        ("λv. index (v, 0) + 1", "Vector ℤ → ℤ"),
        ("(1.0, 2) ⊙ (3.0, 4)", "ℝ"),
        ("2.0 ⊗ (3.0, 4)", "ℝ × ℤ"),
        ("eval₂ 1.0 Zero (1.0, 2.0)", "ℝ^2"),
        ("initZeros_{ℝ × ℤ}", "ℝ × ℤ → (ℝ × Delta) × ℤ"),
        ("zip_{ℝ × ℤ}", "(ℝ × ℤ) × ℝ × ℤ → ℝ^2 × ℤ"),
        ("λv. sequence v", "Vector (M ℝ) → M (Vector ℝ)"),
        (
            "λ(x : μX. 1 + X). λ(y : μY. 1 + Y). if true then x else y",
            "(μX. 1 + X) → (μY. 1 + Y) → μX. 1 + X",
        ),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, print::ty(&checked(text).1)))
        .filter(|(_, expected, found)| **expected != found)
        .map(|(text, expected, found)| format!("{text}: {found} instead of {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(dual_type(&Ty::Real, &Mode::Naive(Ty::Int)), Ty::prod(Ty::Real, Ty::Int));
    assert_eq!(at(forward::wrapper(&checked("λx. x × x").0, &Ty::Real).unwrap(), "3.0", "1.0").0, [6.0]);
}
