//! Logarithms.
//!
//! `x = 2ᵉ·μ` with `√½ ≤ μ < √2`, by the bits. With `f = μ - 1` and `s = f/(2 + f)`, `log μ = 2 atanh s = 2s + s·R(s²)`.
//! For `log` itself this is arranged as `f - (f²/2 - s·(f²/2 + R))`, so that the first term is exact.
//! The others compute `s` and the leading terms as sums of two doubles: `log2` and `log10` since they multiply by a
//! constant, `log1p` and the inverse hyperbolic functions since their arguments are such sums.

use crate::coefficients::{INV_LN_2, INV_LN_10, LN_2, LOG, LOG_LONG, LOG_LONG_HEAD, LOG10_2};
use crate::machine::{Machine, Twofold, polynomial, product, quotient, root, sum, sum_ordered, times};

/// The bits of the double next to `√½`.
const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;
/// `2⁵²`: its lowest bits take an integer.
const INTEGERS: u64 = 0x4330_0000_0000_0000;
/// `2⁵² + 1023`
const INTEGERS_BIASED: f64 = 4_503_599_627_371_519.0;
const TWO_54: f64 = 18_014_398_509_481_984.0;
const TINY: f64 = 5.551_115_123_125_783e-17;
const SMALL: f64 = 7.450_580_596_923_828e-9;
/// Its square may overflow or swallow what is added to it.
const LARGE: f64 = 268_435_456.0;

/// What is added to it below 2⁵⁴ is lost.
const HUGE: f64 = 1e300;

/// `e`, `μ`, and the factor `2⁻ᵉ` (0 if it is not a normal number).
struct Split<M: Machine> {
    exponent: M::Real,
    mantissa: M::Real,
    factor: M::Real,
}

/// For positive numbers; something for the others.
#[inline(always)]
fn split<M: Machine>(m: M, x: M::Real) -> Split<M> {
    let subnormal = m.less(x, m.real(f64::MIN_POSITIVE));
    let normal = m.select(subnormal, x * m.real(TWO_54), x);
    let bits = m.bits(normal);
    let biased = m.shift_right(m.add(bits, m.word(ONE - ROOT_HALF)), 52);
    let mantissa = m.float(m.add(m.sub(bits, m.shift_left(biased, 52)), m.word(ONE)));
    let exponent = m.float(m.add(biased, m.word(INTEGERS))) - m.real(INTEGERS_BIASED);
    let exponent = m.select(subnormal, exponent - m.real(54.0), exponent);
    let factor = m.float(m.shift_left(m.sub(m.word(2046), biased), 52));
    Split { exponent, mantissa, factor }
}

/// The value for positive finite numbers, and what logarithms are elsewhere.
#[inline(always)]
fn with_edges<M: Machine>(m: M, x: M::Real, value: M::Real) -> M::Real {
    let zero = m.real(0.0);
    let infinity = m.real(f64::INFINITY);
    let edge = m.select(m.equal(x, zero), m.real(f64::NEG_INFINITY), m.real(f64::NAN));
    let edge = m.select(m.less(zero, x), x, edge);
    m.select(m.both(m.less(zero, x), m.less(x, infinity)), value, edge)
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn log<M: Machine>(m: M, x: M::Real) -> M::Real {
    with_edges(m, x, log_and(m, x, None))
}

/// `log x` and what little is to be added to it, for positive finite `x`.
#[inline(always)]
pub(crate) fn log_and<M: Machine>(m: M, x: M::Real, more: Option<M::Real>) -> M::Real {
    let Split { exponent, mantissa, .. } = split(m, x);
    let f = mantissa - m.real(1.0);
    let s = f / (f + m.real(2.0));
    let z = s * s;
    let rest = z * polynomial(m, z, &LOG);
    let half_square = f * f * m.real(0.5);
    let low = m.fma(s, half_square + rest, exponent * m.real(LN_2[1]));
    let low = more.map_or(low, |more| low + more);
    m.fma(exponent, m.real(LN_2[0]), f - (half_square - low))
}

/// `log μ` for `√½ ≤ μ + low < √2`, to about 2⁻⁷⁰.
#[inline(always)]
fn mantissa_log<M: Machine>(m: M, mantissa: M::Real, low: Option<M::Real>) -> Twofold<M::Real> {
    let f = mantissa - m.real(1.0);
    let below = sum_ordered::<M>(m.real(2.0), f);
    let s = match low {
        None => quotient(m, Twofold { high: f, low: m.real(0.0) }, below),
        Some(low) => {
            let above = sum::<M>(f, low);
            quotient(m, above, Twofold { high: below.high, low: below.low + low })
        }
    };
    let z = times(m, s, s);
    let tail = m.fma(z.high, polynomial(m, z.high, &LOG_LONG), m.real(LOG_LONG_HEAD[1]));
    let factor = sum_ordered::<M>(m.real(LOG_LONG_HEAD[0]), tail);
    let cubic = times(m, times(m, z, factor), s);
    let total = sum_ordered::<M>(s.high + s.high, cubic.high);
    sum_ordered::<M>(total.high, total.low + (cubic.low + (s.low + s.low)))
}

/// `log (x + low)` to about 2⁻⁷⁰, for positive finite `x`.
#[inline(always)]
pub(crate) fn long<M: Machine>(m: M, x: M::Real, low: Option<M::Real>) -> Twofold<M::Real> {
    long_of_product(m, x, low, m.real(0.0))
}

/// The same with a power of two in addition.
#[inline(always)]
fn long_of_product<M: Machine>(m: M, x: M::Real, low: Option<M::Real>, more: M::Real) -> Twofold<M::Real> {
    let Split { exponent, mantissa, factor } = split(m, x);
    let exponent = exponent + more;
    // Next to the largest number there is no such factor, nor does the low part matter.
    let huge = m.less(m.real(HUGE), x);
    let low = low.map(|low| m.select(huge, m.real(0.0), low * factor));
    let log = mantissa_log(m, mantissa, low);
    let total = sum_ordered::<M>(exponent * m.real(LN_2[0]), log.high);
    let low = m.fma(exponent, m.real(LN_2[1]), total.low + log.low);
    sum_ordered::<M>(total.high, low)
}

/// `log (x + low)` to about 2⁻⁵⁸, for positive finite `x`: what [`log`] does, with its leading terms as sums of two doubles.
/// Beyond 2¹⁰²³ there must be no `low`.
#[inline(always)]
pub(crate) fn longer<M: Machine>(m: M, x: M::Real, low: Option<M::Real>) -> Twofold<M::Real> {
    let Split { exponent, mantissa, factor } = split(m, x);
    let f = mantissa - m.real(1.0);
    let s = f / (f + m.real(2.0));
    let z = s * s;
    let square = product(m, f, f);
    let half_square = square.high * m.real(0.5);
    let rest = m.fma(s, half_square + z * polynomial(m, z, &LOG), exponent * m.real(LN_2[1]));
    let rest = m.fma(square.low, m.real(-0.5), rest);
    let rest = match low {
        None => rest,
        // 1/μ = (1 - s)/(1 + s)
        Some(low) => m.fma(low * factor, m.fma(s, s + s - m.real(2.0), m.real(1.0)), rest),
    };
    let first = sum_ordered::<M>(exponent * m.real(LN_2[0]), f);
    let second = sum_ordered::<M>(first.high, -half_square);
    sum_ordered::<M>(second.high, second.low + (first.low + rest))
}

/// The logarithm with base 2: exact for its powers.
#[inline(always)]
pub(crate) fn log2<M: Machine>(m: M, x: M::Real) -> M::Real {
    let Split { exponent, mantissa, .. } = split(m, x);
    let log = mantissa_log(m, mantissa, None);
    let inverse = Twofold { high: m.real(INV_LN_2[0]), low: m.real(INV_LN_2[1]) };
    let scaled = times(m, log, inverse);
    let total = sum_ordered::<M>(exponent, scaled.high);
    with_edges(m, x, total.high + (total.low + scaled.low))
}

/// The logarithm with base 10.
#[inline(always)]
pub(crate) fn log10<M: Machine>(m: M, x: M::Real) -> M::Real {
    let Split { exponent, mantissa, .. } = split(m, x);
    let log = mantissa_log(m, mantissa, None);
    let inverse = Twofold { high: m.real(INV_LN_10[0]), low: m.real(INV_LN_10[1]) };
    let scaled = times(m, log, inverse);
    let total = sum_ordered::<M>(exponent * m.real(LOG10_2[0]), scaled.high);
    let low = m.fma(exponent, m.real(LOG10_2[1]), total.low + scaled.low);
    with_edges(m, x, total.high + low)
}

/// `log (1 + x)`
#[inline(always)]
pub(crate) fn log1p<M: Machine>(m: M, x: M::Real) -> M::Real {
    let whole = sum::<M>(m.real(1.0), x);
    let log = long(m, whole.high, Some(whole.low));
    let value = with_edges(m, whole.high, log.high + log.low);
    m.select(m.less(m.abs(x), m.real(TINY)), x, value)
}

/// `log (x + √(x² + 1))` for `x ≥ 0`, else its negative.
#[inline(always)]
pub(crate) fn asinh<M: Machine>(m: M, x: M::Real) -> M::Real {
    let magnitude = m.abs(x);
    let large = m.less(m.real(LARGE), magnitude);
    let moderate = m.select(large, m.real(LARGE), magnitude);
    let square = product(m, moderate, moderate);
    let whole = sum::<M>(square.high, m.real(1.0));
    let side = root(m, sum_ordered::<M>(whole.high, whole.low + square.low));
    let argument = sum::<M>(side.high, moderate);
    let log = log_or_double(m, magnitude, large, argument, side.low);
    let value = m.select(m.less(magnitude, m.real(f64::INFINITY)), log, magnitude);
    m.select(m.less(magnitude, m.real(SMALL)), x, m.copysign(value, x))
}

/// The logarithm of `argument + low`, or of `2·large` where that is so.
#[inline(always)]
fn log_or_double<M: Machine>(
    m: M,
    x: M::Real,
    large: M::Mask,
    argument: Twofold<M::Real>,
    low: M::Real,
) -> M::Real {
    let (zero, one) = (m.real(0.0), m.real(1.0));
    let argument = sum_ordered::<M>(argument.high, argument.low + low);
    let high = m.select(large, x, argument.high);
    let low = m.select(large, zero, argument.low);
    let log = long_of_product(m, high, Some(low), m.select(large, one, zero));
    log.high + log.low
}

/// `log (x + √(x² - 1))`
#[inline(always)]
pub(crate) fn acosh<M: Machine>(m: M, x: M::Real) -> M::Real {
    let large = m.less(m.real(LARGE), x);
    let moderate = m.select(large, m.real(LARGE), x);
    let square = product(m, moderate, moderate);
    let whole = sum::<M>(square.high, m.real(-1.0));
    let side = root(m, sum::<M>(whole.high, whole.low + square.low));
    let argument = sum_ordered::<M>(moderate, side.high);
    let log = log_or_double(m, x, large, argument, side.low);
    let one = m.real(1.0);
    let inside = m.both(m.at_most(one, x), m.less(x, m.real(f64::INFINITY)));
    let edge = m.select(m.less(x, one), m.real(f64::NAN), x);
    m.select(inside, log, edge)
}

/// `½ log ((1 + x) / (1 - x))`
#[inline(always)]
pub(crate) fn atanh<M: Machine>(m: M, x: M::Real) -> M::Real {
    let magnitude = m.abs(x);
    let one = m.real(1.0);
    let ratio = quotient(m, sum_ordered::<M>(one, magnitude), sum_ordered::<M>(one, -magnitude));
    let log = long(m, ratio.high, Some(ratio.low));
    let edge = m.select(m.equal(magnitude, one), m.real(f64::INFINITY), m.real(f64::NAN));
    let half = m.select(m.less(magnitude, one), (log.high + log.low) * m.real(0.5), edge);
    m.select(m.less(magnitude, m.real(SMALL)), x, m.copysign(half, x))
}
