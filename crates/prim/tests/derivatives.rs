//! Every derivative rule against numbers that know nothing of it: finite differences of the values at random points,
//! finite differences of the first derivatives for the second ones, closed forms, and edge points.

#![expect(clippy::indexing_slicing, clippy::wildcard_enum_match_arm, reason = "a test may panic")]

use wengert_prim::{Expr, RealOp, Rule, rules};

/// A small deterministic generator (xorshift), so that a failure is the same everywhere.
struct Random(u64);

impl Random {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Where each argument is drawn from: inside the domain, with room for the difference steps.
fn domain(op: RealOp) -> Vec<(f64, f64)> {
    match op {
        RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::MulZero => vec![(-3.0, 3.0), (-3.0, 3.0)],
        RealOp::Div | RealOp::DivZero => vec![(-3.0, 3.0), (0.5, 4.0)],
        RealOp::Neg | RealOp::Exp | RealOp::Expm1 | RealOp::Sin | RealOp::Cos => vec![(-3.0, 3.0)],
        RealOp::Log | RealOp::Log2 | RealOp::Log10 | RealOp::Sqrt | RealOp::Cbrt => vec![(0.3, 5.0)],
        RealOp::Log1p => vec![(-0.7, 4.0)],
        RealOp::Tan | RealOp::Asin | RealOp::Acos | RealOp::Atanh => vec![(-0.8, 0.8)],
        RealOp::Atan | RealOp::Sinh | RealOp::Cosh | RealOp::Tanh | RealOp::Asinh => vec![(-3.0, 3.0)],
        RealOp::Atan2 | RealOp::Hypot => vec![(0.3, 3.0), (-3.0, -0.3)],
        RealOp::Acosh => vec![(1.4, 5.0)],
        RealOp::Abs | RealOp::Sign | RealOp::Relu => vec![(0.3, 2.0)],
        RealOp::Min | RealOp::Max => vec![(0.0, 1.0), (1.3, 2.0)],
        RealOp::PowInt(_) => vec![(0.5, 1.8)],
        RealOp::Pow => vec![(0.4, 3.0), (-3.0, 3.0)],
        RealOp::Gamma | RealOp::Lgamma | RealOp::Digamma | RealOp::Polygamma(_) => vec![(0.8, 5.0)],
        RealOp::Erf | RealOp::Erfc | RealOp::Sigmoid | RealOp::Softplus => vec![(-3.0, 3.0)],
    }
}

/// More points for operations with several regimes.
fn extra_points(op: RealOp) -> Vec<Vec<f64>> {
    match op {
        RealOp::Abs | RealOp::Relu => vec![vec![-1.2]],
        RealOp::Min | RealOp::Max => vec![vec![2.0, 1.0], vec![-1.0, -2.0]],
        RealOp::Atan2 => vec![vec![0.2, 3.0], vec![3.0, 0.2], vec![-2.0, -0.7], vec![-0.7, -2.0]],
        RealOp::PowInt(_) => vec![vec![-1.3], vec![-0.7]],
        RealOp::Gamma | RealOp::Lgamma | RealOp::Digamma => vec![vec![-0.5], vec![-1.4], vec![-3.6]],
        RealOp::Polygamma(_) => vec![vec![-0.5], vec![-1.4]],
        RealOp::Cbrt => vec![vec![-2.0]],
        RealOp::Erf | RealOp::Tanh => vec![vec![4.0]],
        _ => vec![],
    }
}

/// A step in which the function is close to a polynomial of degree 8.
fn step(op: RealOp) -> f64 {
    if matches!(op, RealOp::PowInt(33 | -40)) { 0.004 } else { 0.02 }
}

/// Derivative of `f` at 0 by central differences, extrapolated three times (error of order step⁸).
fn difference(largest_step: f64, f: &dyn Fn(f64) -> f64) -> f64 {
    let mut row: Vec<f64> = (0..4)
        .map(|i| {
            let step = largest_step / f64::from(1 << i);
            (f(step) - f(-step)) / (2.0 * step)
        })
        .collect();
    for order in 1..4 {
        let factor = 4.0_f64.powi(order);
        row = row.windows(2).map(|pair| (factor * pair[1] - pair[0]) / (factor - 1.0)).collect();
    }
    row[0]
}

fn points(op: RealOp) -> Vec<Vec<f64>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ op.ordinal() as u64);
    let mut points = extra_points(op);
    points.extend(
        (0..40).map(|_| domain(op).into_iter().map(|(low, high)| random.uniform(low, high)).collect()),
    );
    points
}

fn shifted(point: &[f64], arg: usize, by: f64) -> Vec<f64> {
    let mut point = point.to_vec();
    point[arg] += by;
    point
}

fn partial(op: RealOp, point: &[f64], arg: usize) -> f64 {
    rules::lookup(op).partial(point, op.eval(point), arg)
}

#[test]
fn first_derivatives_agree_with_finite_differences() {
    for op in RealOp::SAMPLES {
        for point in points(*op) {
            for arg in 0..op.arity() {
                let expected = difference(step(*op), &|by| op.eval(&shifted(&point, arg, by)));
                let actual = partial(*op, &point, arg);
                let scale = 1.0 + expected.abs() + op.eval(&point).abs();
                assert!(
                    (actual - expected).abs() < 1e-9 * scale,
                    "{op:?} at {point:?}, argument {arg}: {actual}, differences give {expected}"
                );
            }
        }
    }
}

/// A number with a tangent, to evaluate the expressions of a rule in.
#[derive(Clone, Copy)]
struct Dual {
    value: f64,
    tangent: f64,
}

fn dual_op(op: RealOp, args: &[Dual]) -> Dual {
    let values: Vec<f64> = args.iter().map(|arg| arg.value).collect();
    let tangents: Vec<f64> = args.iter().map(|arg| arg.tangent).collect();
    let value = op.eval(&values);
    Dual { value, tangent: rules::rule(op).tangent(&values, value, &tangents) }
}

fn dual_expr(expr: &Expr, args: &[Dual], out: Dual) -> Dual {
    match expr {
        Expr::In(i) => args[*i],
        Expr::Out => out,
        Expr::Const(value) => Dual { value: *value, tangent: 0.0 },
        Expr::Op(op, operands) => {
            let operands: Vec<Dual> = operands.iter().map(|operand| dual_expr(operand, args, out)).collect();
            dual_op(*op, &operands)
        }
        Expr::If(test, then, otherwise) => {
            let values: Vec<f64> = args.iter().map(|arg| arg.value).collect();
            dual_expr(if test.holds(&values, out.value) { then } else { otherwise }, args, out)
        }
    }
}

/// The tangent of the partial derivative with respect to `arg`, when `direction` is perturbed: a second derivative.
fn second(op: RealOp, point: &[f64], arg: usize, direction: usize) -> f64 {
    let args: Vec<Dual> = (point.iter().enumerate())
        .map(|(i, value)| Dual { value: *value, tangent: if i == direction { 1.0 } else { 0.0 } })
        .collect();
    let out = dual_op(op, &args);
    let rule = rules::rule(op);
    let (terms, divisor) = rule.select(point, out.value);
    let one = Dual { value: 1.0, tangent: 0.0 };
    let Some(term) = terms.iter().find(|term| term.arg == arg) else { return 0.0 };
    let coef = term.coef.as_ref().map_or(one, |coef| dual_expr(coef, &args, out));
    let signed = if term.negative { dual_op(RealOp::Neg, &[coef]) } else { coef };
    let divisor = divisor.map_or(one, |divisor| dual_expr(divisor, &args, out));
    dual_op(RealOp::Div, &[signed, divisor]).tangent
}

#[test]
fn second_derivatives_through_the_rules_agree_with_finite_differences() {
    for op in RealOp::SAMPLES {
        for point in points(*op) {
            for arg in 0..op.arity() {
                for direction in 0..op.arity() {
                    let expected =
                        difference(step(*op), &|by| partial(*op, &shifted(&point, direction, by), arg));
                    let actual = second(*op, &point, arg, direction);
                    let scale = 1.0 + expected.abs() + partial(*op, &point, arg).abs();
                    assert!(
                        (actual - expected).abs() < 1e-8 * scale,
                        "{op:?} at {point:?}, {arg} {direction}: {actual}, differences give {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn second_derivatives_do_not_depend_on_the_order() {
    for op in RealOp::SAMPLES.iter().filter(|op| op.arity() == 2) {
        for point in points(*op) {
            let (xy, yx) = (second(*op, &point, 0, 1), second(*op, &point, 1, 0));
            assert!((xy - yx).abs() <= 1e-12 * (1.0 + xy.abs()), "{op:?} at {point:?}: {xy}, {yx}");
        }
    }
}

fn close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "{actual} for {expected}");
}

#[test]
fn closed_forms() {
    close(partial(RealOp::Sin, &[0.7], 0), pxfm::f_cos(0.7));
    close(partial(RealOp::Cos, &[0.7], 0), -pxfm::f_sin(0.7));
    close(partial(RealOp::Exp, &[1.5], 0), pxfm::f_exp(1.5));
    close(partial(RealOp::Log, &[4.0], 0), 0.25);
    close(partial(RealOp::Sqrt, &[4.0], 0), 0.25);
    close(partial(RealOp::Cbrt, &[-8.0], 0), 1.0 / 12.0);
    close(partial(RealOp::Atan, &[2.0], 0), 0.2);
    close(partial(RealOp::Tan, &[0.0], 0), 1.0);
    close(partial(RealOp::Pow, &[2.0, 3.0], 0), 12.0);
    close(partial(RealOp::Pow, &[2.0, 3.0], 1), 8.0 * std::f64::consts::LN_2);
    close(partial(RealOp::Hypot, &[3.0, 4.0], 1), 0.8);
    close(partial(RealOp::Atan2, &[1.0, 2.0], 0), 0.4);
    close(partial(RealOp::Atan2, &[1.0, 2.0], 1), -0.2);
    close(partial(RealOp::Lgamma, &[1.0], 0), -0.577_215_664_901_532_9);
    close(partial(RealOp::Digamma, &[1.0], 0), std::f64::consts::PI.powi(2) / 6.0);
    close(partial(RealOp::PowInt(-3), &[2.0], 0), -3.0 / 16.0);
    close(partial(RealOp::Erf, &[0.0], 0), std::f64::consts::FRAC_2_SQRT_PI);
}

#[test]
fn derivatives_stay_accurate_at_saturation() {
    for x in [-800.0, -356.0, -200.0, -20.0, 20.0, 101.0, 200.0, 800.0, f64::INFINITY] {
        assert_eq!(partial(RealOp::Tanh, &[x], 0), 0.0, "{x}");
        assert_eq!(second(RealOp::Tanh, &[x], 0, 0), 0.0, "{x}");
    }
    // It uses its result, and is right to the last digits of 1: the first derivative to 3 units of 2^-53, the second to 6.
    for k in -2400..=2400 {
        let x = f64::from(k) / 100.0;
        let (t, slope) = (pxfm::f_tanh(x), 1.0 / pxfm::f_cosh(x).powi(2));
        assert!((partial(RealOp::Tanh, &[x], 0) - slope).abs() <= 3.4e-16, "{x}");
        assert!((second(RealOp::Tanh, &[x], 0, 0) + 2.0 * t * slope).abs() <= 6.7e-16, "{x}");
    }
    close(partial(RealOp::Sigmoid, &[40.0], 0), pxfm::f_exp(-40.0));
    close(partial(RealOp::Sigmoid, &[-40.0], 0), pxfm::f_exp(-40.0));
    assert_eq!(partial(RealOp::Sigmoid, &[800.0], 0), 0.0);
    assert_eq!(partial(RealOp::Softplus, &[800.0], 0), 1.0);
    close(partial(RealOp::Expm1, &[-40.0], 0), pxfm::f_exp(-40.0));
    close(partial(RealOp::Asin, &[1.0 - 1e-12], 0), 1.0 / f64::sqrt((1.0 - (1.0 - 1e-12)) * (2.0 - 1e-12)));
    assert_eq!(partial(RealOp::Erf, &[1e200], 0), 0.0);
    assert_eq!(partial(RealOp::Atan, &[1e200], 0), 0.0);
    for scale in [1e-200, 1.0, 1e200] {
        close(partial(RealOp::Hypot, &[3.0 * scale, 4.0 * scale], 0), 0.6);
        close(partial(RealOp::Atan2, &[3.0 * scale, 4.0 * scale], 0) * scale, 4.0 / 25.0);
        close(partial(RealOp::Atan2, &[4.0 * scale, 3.0 * scale], 1) * scale, -4.0 / 25.0);
    }
    close(partial(RealOp::Asinh, &[1e200], 0), 1e-200);
    close(partial(RealOp::Acosh, &[1e200], 0), 1e-200);
}

#[test]
fn powers_at_zero_have_all_their_derivatives() {
    // x ** 2 and x ^ 2 at 0: 0, 0, 2.
    for op in [RealOp::PowInt(2), RealOp::PowInt(3), RealOp::PowInt(7)] {
        assert_eq!(partial(op, &[0.0], 0), 0.0);
    }
    assert_eq!(second(RealOp::PowInt(2), &[0.0], 0, 0), 2.0);
    assert_eq!(second(RealOp::PowInt(3), &[0.0], 0, 0), 0.0);
    assert_eq!(second(RealOp::Pow, &[0.0, 2.0], 0, 0), 2.0);
    assert_eq!(second(RealOp::Pow, &[0.0, 3.0], 0, 0), 0.0);
    assert_eq!(second(RealOp::Pow, &[0.0, 1.0], 0, 0), 0.0);
    assert_eq!(second(RealOp::Pow, &[1.0, 1.0], 0, 0), 0.0);
    assert_eq!(partial(RealOp::Pow, &[-2.0, 3.0], 0), 12.0);
    assert_eq!(partial(RealOp::PowInt(i64::MIN), &[-1.0], 0), -(i64::MIN as f64));
    assert_eq!(partial(RealOp::PowInt(i64::MAX), &[1.0], 0), i64::MAX as f64);
}

#[test]
fn a_nan_argument_is_not_lost() {
    for op in RealOp::SAMPLES {
        if matches!(op, RealOp::PowInt(0) | RealOp::Sign | RealOp::PowInt(1) | RealOp::Neg) {
            continue;
        }
        for arg in 0..op.arity() {
            let mut point = vec![2.0; op.arity()];
            point[arg] = f64::NAN;
            assert!(op.eval(&point).is_nan(), "{op:?}");
        }
    }
    for op in [RealOp::Abs, RealOp::Relu, RealOp::Tanh, RealOp::Sqrt, RealOp::Exp] {
        assert!(partial(op, &[f64::NAN], 0).is_nan(), "{op:?}");
    }
    for op in [RealOp::Min, RealOp::Max, RealOp::Hypot, RealOp::Atan2] {
        assert!(partial(op, &[f64::NAN, 1.0], 0).is_nan(), "{op:?}");
        assert!(partial(op, &[1.0, f64::NAN], 1).is_nan(), "{op:?}");
    }
}

#[test]
fn all_operations_are_walked_and_the_table_is_the_function() {
    let mut kinds: Vec<usize> = RealOp::SAMPLES.iter().map(|op| op.ordinal()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, (0..RealOp::KINDS).collect::<Vec<_>>());
    for op in RealOp::SAMPLES {
        assert_eq!(rules::lookup(*op).into_owned(), rules::rule(*op), "{op:?}");
        let wrong_arity = vec![1.0; 3 - op.arity()];
        assert!(op.eval(&wrong_arity).is_nan() && op.eval(&[]).is_nan(), "{op:?}");
        assert_well_formed(&rules::rule(*op), *op);
    }
    for n in [i64::MIN, -33, -32, 0, 32, 33, i64::MAX] {
        assert_eq!(rules::lookup(RealOp::PowInt(n)).into_owned(), rules::rule(RealOp::PowInt(n)));
    }
}

/// Every term names an argument, at most once, and every operation in an expression has its number of operands.
fn assert_well_formed(rule: &Rule, op: RealOp) {
    match rule {
        Rule::Case(_, then, otherwise) => {
            assert_well_formed(then, op);
            assert_well_formed(otherwise, op);
        }
        Rule::Linear { terms, divisor } => {
            let mut args: Vec<usize> = terms.iter().map(|term| term.arg).collect();
            args.dedup();
            assert_eq!(args.len(), terms.len(), "{op:?}");
            assert!(args.iter().all(|arg| *arg < op.arity()), "{op:?}");
            for expr in terms.iter().filter_map(|term| term.coef.as_ref()).chain(divisor) {
                assert_expr_well_formed(expr, op);
            }
        }
    }
}

fn assert_expr_well_formed(expr: &Expr, op: RealOp) {
    match expr {
        Expr::In(i) => assert!(*i < op.arity(), "{op:?}"),
        Expr::Out | Expr::Const(_) => {}
        Expr::Op(inner, operands) => {
            assert_eq!(operands.len(), inner.arity(), "{inner:?} in the rule of {op:?}");
            operands.iter().for_each(|operand| assert_expr_well_formed(operand, op));
        }
        Expr::If(_, then, otherwise) => {
            assert_expr_well_formed(then, op);
            assert_expr_well_formed(otherwise, op);
        }
    }
}

/// What it says of NaN holds, for plain products and quotients in place of those with strong zeros.
#[test]
fn what_hands_on_nan_does() {
    let plain = |op| match op {
        RealOp::MulZero => RealOp::Mul,
        RealOp::DivZero => RealOp::Div,
        op => op,
    };
    let powers = [-3, -1, 1, 2, 7].map(RealOp::PowInt);
    for op in RealOp::SAMPLES.iter().copied().chain(powers).filter(|op| op.hands_on_nan()).map(plain) {
        if op.arity() == 1 {
            assert!(op.eval1(f64::NAN).is_nan(), "{op:?}");
        } else {
            for other in [0.0, 1.0, -2.5, f64::INFINITY] {
                assert!(op.eval2(f64::NAN, other).is_nan() && op.eval2(other, f64::NAN).is_nan(), "{op:?}");
            }
        }
    }
    assert!(!RealOp::Max.hands_on_nan() && !RealOp::PowInt(0).hands_on_nan());
}

#[test]
fn slopes_of_powers_that_underflow_or_overflow_are_right() {
    let inf = f64::INFINITY;
    for (x, y, by_base, by_exponent) in [
        (1e150, 2.5, 2.5e225, inf),
        (1e-150, 2.5, 2.5e-225, 0.0),
        (1e200, 2.0, 2e200, inf),
        (-1e200, 3.0, inf, f64::NAN),
        (0.5, -2000.0, -inf, -inf),
        (inf, 2.5, inf, inf),
        (inf, 1.0, 1.0, inf),
        (inf, 0.5, 0.0, inf),
        (inf, -0.5, -0.0, 0.0),
        (0.0, -0.5, -inf, -inf),
        (0.0, 2.5, 0.0, 0.0),
    ] {
        let rule = rules::rule(RealOp::Pow);
        let out = RealOp::Pow.eval(&[x, y]);
        let found = [0, 1].map(|arg| rule.partial(&[x, y], out, arg));
        let close = |a: f64, b: f64| a == b || (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
        assert!(close(found[0], by_base), "∂/∂x of {x} ** {y} is {}", found[0]);
        assert!(by_exponent.is_nan() || close(found[1], by_exponent), "∂/∂y of {x} ** {y} is {}", found[1]);
    }
}
