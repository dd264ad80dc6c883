//! The derivative rule of every operation on reals, once, for all modes and engines.
//!
//! Three things shape them. *Accuracy*: no rule loses digits or turns to NaN where the derivative is well defined, so
//! `asin` does not go through `1 - x²`. (That of `tanh` uses its result, and so is right to the last digits of 1, not of itself:
//! beyond 19 it is 0, as `tanh` is 1.) *Cost*: a tangent costs at most 4 and a cotangent
//! at most 6 times the operation ([`crate::cost`] counts, a test compares), hence the common divisors. *Kinks*: where the
//! derivative does not exist, the cases give the values that [`crate::kinks`] documents.
//!
//! A NaN argument gives a NaN result and a NaN derivative.

use crate::{Expr, RealOp, Rule, Term, Test};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Exponents up to this magnitude have their rule in the table.
const TABULATED_POWERS: i64 = 32;

static PLAIN_RULES: LazyLock<Vec<Option<Rule>>> = LazyLock::new(|| {
    let mut table: Vec<Option<Rule>> = vec![None; RealOp::KINDS];
    for op in RealOp::SAMPLES {
        let parametric = matches!(op, RealOp::PowInt(_) | RealOp::Polygamma(_));
        if let (false, Some(entry)) = (parametric, table.get_mut(op.ordinal())) {
            *entry = Some(rule(*op));
        }
    }
    table
});

static POWER_RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| (-TABULATED_POWERS..=TABULATED_POWERS).map(power_rule).collect());

/// The rule of an operation, without building it anew where it is in a table.
pub fn lookup(op: RealOp) -> Cow<'static, Rule> {
    let tabulated = if let RealOp::PowInt(n) = op {
        usize::try_from(n.saturating_add(TABULATED_POWERS)).ok().and_then(|index| POWER_RULES.get(index))
    } else {
        PLAIN_RULES.get(op.ordinal()).and_then(Option::as_ref)
    };
    tabulated.map_or_else(|| Cow::Owned(rule(op)), Cow::Borrowed)
}

/// The rule of an operation.
pub fn rule(op: RealOp) -> Rule {
    match op {
        RealOp::Add => linear(vec![plus(0), plus(1)]),
        RealOp::Sub => linear(vec![plus(0), minus(1)]),
        RealOp::Mul | RealOp::MulZero => linear(vec![plus_times(0, y()), plus_times(1, x())]),
        RealOp::Div | RealOp::DivZero => divided(vec![plus(0), minus_times(1, z())], y()),
        RealOp::Neg => linear(vec![minus(0)]),
        RealOp::Exp => linear(vec![plus_times(0, z())]),
        // `z + 1` would lose all digits for large negative arguments.
        RealOp::Expm1 => linear(vec![plus_times(0, unary(RealOp::Exp, x()))]),
        RealOp::Log => divided(vec![plus(0)], x()),
        RealOp::Log1p => divided(vec![plus(0)], add(number(1.0), x())),
        RealOp::Log2 => divided(vec![plus(0)], mul(x(), number(std::f64::consts::LN_2))),
        RealOp::Log10 => divided(vec![plus(0)], mul(x(), number(std::f64::consts::LN_10))),
        // Adding 0 makes the root of -0 positive, so that the derivative there is Infinity, not -Infinity.
        RealOp::Sqrt => divided(vec![plus(0)], add(number(0.0), add(z(), z()))),
        RealOp::Cbrt => divided(vec![plus(0)], mul(number(3.0), square(z()))),
        RealOp::Sin => linear(vec![plus_times(0, unary(RealOp::Cos, x()))]),
        RealOp::Cos => linear(vec![minus_times(0, unary(RealOp::Sin, x()))]),
        RealOp::Tan => linear(vec![plus_times(0, add(number(1.0), square(z())))]),
        RealOp::Asin => divided(vec![plus(0)], unary(RealOp::Sqrt, one_minus_square(x()))),
        RealOp::Acos => divided(vec![minus(0)], unary(RealOp::Sqrt, one_minus_square(x()))),
        RealOp::Atan => divided(vec![plus(0)], add(number(1.0), square(x()))),
        RealOp::Atan2 => atan2_rule(),
        RealOp::Sinh => linear(vec![plus_times(0, unary(RealOp::Cosh, x()))]),
        RealOp::Cosh => linear(vec![plus_times(0, unary(RealOp::Sinh, x()))]),
        RealOp::Tanh => linear(vec![plus_times(0, one_minus_square(z()))]),
        RealOp::Asinh => divided(vec![plus(0)], binary(RealOp::Hypot, number(1.0), x())),
        RealOp::Acosh => divided(vec![plus(0)], acosh_divisor()),
        RealOp::Atanh => divided(vec![plus(0)], one_minus_square(x())),
        RealOp::Abs => abs_rule(),
        RealOp::Sign => linear(vec![]),
        RealOp::Min => choice_rule(x(), y()),
        RealOp::Max => choice_rule(y(), x()),
        RealOp::PowInt(n) => power_rule(n),
        RealOp::Pow => pow_rule(),
        RealOp::Hypot => case(
            equal(z(), number(0.0)),
            linear(vec![]),
            linear(vec![plus_times(0, div(x(), z())), plus_times(1, div(y(), z()))]),
        ),
        RealOp::Gamma => linear(vec![plus_times(0, mul(z(), unary(RealOp::Digamma, x())))]),
        RealOp::Lgamma => linear(vec![plus_times(0, unary(RealOp::Digamma, x()))]),
        RealOp::Digamma => linear(vec![plus_times(0, unary(RealOp::Polygamma(1), x()))]),
        RealOp::Polygamma(n) => {
            linear(vec![plus_times(0, unary(RealOp::Polygamma(n.saturating_add(1)), x()))])
        }
        RealOp::Erf => linear(vec![plus_times(0, gaussian())]),
        RealOp::Erfc => linear(vec![minus_times(0, gaussian())]),
        RealOp::Relu => relu_rule(),
        // Not `z (1 - z)`, which is 0 already where the sigmoid only rounds to 1.
        RealOp::Sigmoid => {
            linear(vec![plus_times(0, mul(z(), unary(RealOp::Sigmoid, unary(RealOp::Neg, x()))))])
        }
        RealOp::Softplus => linear(vec![plus_times(0, unary(RealOp::Sigmoid, x()))]),
    }
}

/// `x ^ n`.
fn power_rule(n: i64) -> Rule {
    match n {
        0 => linear(vec![]),
        1 => linear(vec![plus(0)]),
        2 => linear(vec![plus_times(0, add(x(), x()))]),
        // One less than the smallest exponent is no exponent.
        i64::MIN => linear(vec![plus_times(0, mul(number(n as f64), div(z(), x())))]),
        _ => linear(vec![plus_times(0, mul(number(n as f64), unary(RealOp::PowInt(n - 1), x())))]),
    }
}

/// `z = x ** y`: `∂x = y z / x` and `∂y = z log x`, but where `z` is 0 or infinite the first is had of another power: a result that
/// underflows or overflows says nothing of `x ** (y - 1)`, which need not. That is also so where the base is 0 and the exponent is not.
fn pow_rule() -> Rule {
    let slopes = |by_base: Expr, by_exponent: Expr| {
        // `mul_zero`, because `x ** 0` is 1 everywhere, also where `1 / x` is infinite.
        linear(vec![plus_times(0, binary(RealOp::MulZero, y(), by_base)), plus_times(1, by_exponent)])
    };
    let lost = slopes(
        binary(RealOp::Pow, x(), binary(RealOp::Sub, y(), number(1.0))),
        // Only the sign of the logarithm counts, which is that of `x - 1`; and `0 ** y` has the limit 0 for `y > 0`.
        binary(RealOp::MulZero, z(), binary(RealOp::Sub, x(), number(1.0))),
    );
    // Only 0 and the infinities are twice themselves.
    case(equal(add(z(), z()), z()), lost, slopes(div(z(), x()), mul(z(), unary(RealOp::Log, x()))))
}

/// `atan2 y x`, so here `x()` is the ordinate and `y()` the abscissa. Divides by the larger of the two first: the sum of
/// their squares may overflow or underflow. At the origin, where there is no derivative, it is 0.
fn atan2_rule() -> Rule {
    let (ordinate, abscissa) = (x, y);
    let flat = || div(ordinate(), abscissa());
    let steep = || div(abscissa(), ordinate());
    case(
        Test::Lt(Box::new(unary(RealOp::Abs, ordinate())), Box::new(unary(RealOp::Abs, abscissa()))),
        divided(vec![plus(0), minus_times(1, flat())], mul(abscissa(), add(number(1.0), square(flat())))),
        case(
            // Here the ordinate is the larger one, so this is the origin.
            equal(ordinate(), number(0.0)),
            linear(vec![]),
            divided(
                vec![plus_times(0, steep()), minus(1)],
                mul(ordinate(), add(number(1.0), square(steep()))),
            ),
        ),
    )
}

/// The root in two factors, because the product of the radicands may overflow.
fn acosh_divisor() -> Expr {
    let root = |radicand| unary(RealOp::Sqrt, radicand);
    mul(root(binary(RealOp::Sub, x(), number(1.0))), root(add(x(), number(1.0))))
}

/// At 0 the sign is 0, and that is a strong zero; at NaN it is NaN.
fn abs_rule() -> Rule {
    linear(vec![plus_times(0, unary(RealOp::Sign, x()))])
}

fn relu_rule() -> Rule {
    let not_positive = case(at_most(x(), number(0.0)), linear(vec![]), not_a_number(1));
    case(less(number(0.0), x()), linear(vec![plus(0)]), not_positive)
}

/// `min x y` with `low = x` and `high = y`, or `max x y` the other way round: the argument that is the result, and the
/// first one at ties.
fn choice_rule(low: Expr, high: Expr) -> Rule {
    case(
        at_most(low.clone(), high.clone()),
        linear(vec![plus(0)]),
        case(less(high, low), linear(vec![plus(1)]), not_a_number(2)),
    )
}

/// The rule at a NaN: the result, which is NaN, as every partial derivative.
fn not_a_number(arity: usize) -> Rule {
    linear((0..arity).map(|arg| plus_times(arg, z())).collect())
}

/// `2/√π exp (-x²)`.
fn gaussian() -> Expr {
    mul(number(std::f64::consts::FRAC_2_SQRT_PI), unary(RealOp::Exp, unary(RealOp::Neg, square(x()))))
}

/// `(1 - e) (1 + e)`: `1 - e²` without cancellation.
fn one_minus_square(e: Expr) -> Expr {
    mul(binary(RealOp::Sub, number(1.0), e.clone()), add(number(1.0), e))
}

fn x() -> Expr {
    Expr::In(0)
}

fn y() -> Expr {
    Expr::In(1)
}

fn z() -> Expr {
    Expr::Out
}

fn number(value: f64) -> Expr {
    Expr::Const(value)
}

fn unary(op: RealOp, e: Expr) -> Expr {
    Expr::Op(op, vec![e])
}

fn binary(op: RealOp, a: Expr, b: Expr) -> Expr {
    Expr::Op(op, vec![a, b])
}

fn add(a: Expr, b: Expr) -> Expr {
    binary(RealOp::Add, a, b)
}

fn mul(a: Expr, b: Expr) -> Expr {
    binary(RealOp::Mul, a, b)
}

fn div(a: Expr, b: Expr) -> Expr {
    binary(RealOp::Div, a, b)
}

fn square(e: Expr) -> Expr {
    unary(RealOp::PowInt(2), e)
}

fn plus(arg: usize) -> Term {
    Term { arg, negative: false, coef: None }
}

fn minus(arg: usize) -> Term {
    Term { arg, negative: true, coef: None }
}

fn plus_times(arg: usize, coef: Expr) -> Term {
    Term { arg, negative: false, coef: Some(coef) }
}

fn minus_times(arg: usize, coef: Expr) -> Term {
    Term { arg, negative: true, coef: Some(coef) }
}

fn linear(terms: Vec<Term>) -> Rule {
    Rule::Linear { terms, divisor: None }
}

fn divided(terms: Vec<Term>, divisor: Expr) -> Rule {
    Rule::Linear { terms, divisor: Some(divisor) }
}

fn case(test: Test, then: Rule, otherwise: Rule) -> Rule {
    Rule::Case(test, Box::new(then), Box::new(otherwise))
}

fn equal(a: Expr, b: Expr) -> Test {
    Test::Eq(Box::new(a), Box::new(b))
}

fn less(a: Expr, b: Expr) -> Test {
    Test::Lt(Box::new(a), Box::new(b))
}

fn at_most(a: Expr, b: Expr) -> Test {
    Test::Le(Box::new(a), Box::new(b))
}
