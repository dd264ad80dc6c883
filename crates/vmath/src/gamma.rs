//! The logarithm of the gamma function, and its derivative, of positive numbers.
//!
//! `lgamma` is `z·R(z)` at `2 + z` for `|z| ≤ 1/2`. From there the recurrence leads down:
//!
//! ```text
//! 0   to 1/2    z = x        z·R(z) - log (x·(x + 1))
//! 1/2 to 3/2    z = x - 1    z·R(z) - log x
//! 3/2 to 5/2    z = x - 2    z·R(z)
//! beyond                     (x - 1/2)·(log x - 1) + (log 2π - 1)/2 + S(1/x²)/x
//! ```
//!
//! All logarithms are one, good to a little more than a double, and what cancels is a sum of two doubles.
//!
//! `digamma` is `(y - root)·Q(y)` for `1 ≤ y ≤ 2`, by which it is exact beside its root. From there the recurrence leads
//! to both sides, and the series of Stirling is small enough to be added to the lesser terms of a logarithm:
//!
//! ```text
//! 0 to 1    y = x + 1    (y - root)·Q(y) - 1/x
//! 1 to 2    y = x        (y - root)·Q(y)
//! 2 to 3    y = x - 1    (y - root)·Q(y) + 1/y
//! beyond                 log x - 1/(2x) - P(1/x²)/x²
//! ```
//!
//! A vector computes all of that and chooses; one number at a time only the [`piece`] that it is in, to the same bits. Zero
//! and negative numbers are rare: they are no business of the kernels.

use crate::coefficients::{
    DIGAMMA, DIGAMMA_FAR, DIGAMMA_HEAD, DIGAMMA_ROOT, HALF_LOG_TWO_PI, LGAMMA, LGAMMA_FAR, LGAMMA_HEAD,
    LGAMMA_SECOND,
};
use crate::function::Gamma;
use crate::log;
use crate::machine::{Machine, Twofold, polynomial, product, sum, sum_ordered};

/// The ends of the pieces of `lgamma`.
const LOW: f64 = 1.5;
const MIDDLE: f64 = 2.5;
/// The largest number whose `lgamma` is one.
const LARGEST: f64 = 2.559_983_327_851_638_3e305;
/// From here on the error of a product cannot be computed by splitting factors, and is left out.
const HUGE: f64 = 1e300;

/// The end of the first piece of `digamma`.
const NEAR: f64 = 3.0;
/// The middle of what `Q` is fitted to.
const CENTER: f64 = 1.5;
/// Below it `digamma` is `-1/x`.
const TINY: f64 = 8.673_617_379_884_035e-19;

/// Whether an argument is not for the main path.
#[inline(always)]
pub(crate) fn rare<M: Machine>(m: M, x: M::Real) -> M::Mask {
    m.at_most(x, m.real(0.0))
}

/// Where the pieces end in which one number is computed, but for the last, which has all beyond.
pub(crate) fn ends(function: Gamma) -> &'static [f64] {
    match function {
        Gamma::Lgamma => &[LOW, MIDDLE],
        Gamma::Digamma => &[NEAR],
    }
}

/// The value in the piece of a number, with the bits of the main path.
#[inline(always)]
pub(crate) fn piece<M: Machine>(m: M, function: Gamma, number: usize, x: M::Real) -> M::Real {
    match (function, number) {
        (Gamma::Lgamma, 0) => lesser::<M>(near_two(m, x - low_shift(m, x)), logarithm(m, x)),
        (Gamma::Lgamma, 1) => {
            let value = near_two(m, x - m.real(2.0));
            value.high + value.low
        }
        (Gamma::Lgamma, _) => lgamma_beyond(m, x, log::longer(m, x, None)),
        (Gamma::Digamma, 0) => {
            let pole = Pole::of(m, x);
            digamma_near(m, x, &pole, pole.above / pole.below)
        }
        (Gamma::Digamma, _) => digamma_beyond(m, x, m.real(1.0) / x),
    }
}

/// The logarithm of the absolute value of the gamma function, for `x > 0`.
#[inline(always)]
pub(crate) fn lgamma<M: Machine>(m: M, x: M::Real) -> M::Real {
    let zero = m.real(0.0);
    let log = logarithm(m, x);
    let middle = m.at_most(m.real(LOW), x);
    let shift = m.select(middle, m.real(2.0), low_shift(m, x));
    let subtracted = Twofold { high: m.select(middle, zero, log.high), low: m.select(middle, zero, log.low) };
    let near = lesser::<M>(near_two(m, x - shift), subtracted);
    m.select(m.less(x, m.real(MIDDLE)), near, lgamma_beyond(m, x, log))
}

/// What is to be subtracted from a number of the first piece.
#[inline(always)]
fn low_shift<M: Machine>(m: M, x: M::Real) -> M::Real {
    m.select(m.less(x, m.real(0.5)), m.real(0.0), m.real(1.0))
}

/// The logarithm of `x·(x + 1)` below 1/2, else of `x`.
#[inline(always)]
fn logarithm<M: Machine>(m: M, x: M::Real) -> Twofold<M::Real> {
    let small = m.less(x, m.real(0.5));
    let square = product(m, x, x);
    let whole = sum_ordered::<M>(x, square.high);
    let low = m.select(small, whole.low + square.low, m.real(0.0));
    log::longer(m, m.select(small, whole.high, x), Some(low))
}

/// `lgamma (2 + z)` for `|z| ≤ 1/2`.
#[inline(always)]
fn near_two<M: Machine>(m: M, z: M::Real) -> Twofold<M::Real> {
    let rest = m.fma(z, polynomial(m, z, &LGAMMA), m.real(LGAMMA_SECOND[1]));
    let second = sum_ordered::<M>(m.real(LGAMMA_SECOND[0]), rest);
    let linear = product(m, z, second.high);
    let factor = sum_ordered::<M>(m.real(LGAMMA_HEAD[0]), linear.high);
    let low = m.fma(z, second.low, linear.low + m.real(LGAMMA_HEAD[1]));
    let main = product(m, z, factor.high);
    Twofold { high: main.high, low: m.fma(z, factor.low + low, main.low) }
}

/// The difference.
#[inline(always)]
fn lesser<M: Machine>(from: Twofold<M::Real>, log: Twofold<M::Real>) -> M::Real {
    let total = sum::<M>(from.high, -log.high);
    total.high + (total.low + (from.low - log.low))
}

/// For `x ≥ 5/2`, with its logarithm.
#[inline(always)]
fn lgamma_beyond<M: Machine>(m: M, x: M::Real, log: Twofold<M::Real>) -> M::Real {
    let inverse = m.real(1.0) / x;
    let series = polynomial(m, inverse * inverse, &LGAMMA_FAR);
    // Exact, for the logarithm is more than 1/2.
    let lower = sum_ordered::<M>(log.high, m.real(-1.0));
    let factor = sum_ordered::<M>(x, m.real(-0.5));
    let main = product(m, factor.high, lower.high);
    let lost = m.select(m.less(m.real(HUGE), x), m.real(0.0), main.low);
    let lost = m.fma(factor.high, lower.low + log.low, m.fma(factor.low, lower.high, lost));
    let total = sum::<M>(main.high, m.real(HALF_LOG_TWO_PI[0]));
    let rest = m.fma(inverse, series, lost + m.real(HALF_LOG_TWO_PI[1]));
    let value = total.high + (total.low + rest);
    // Infinity, or NaN.
    m.select(m.at_most(x, m.real(LARGEST)), value, x * m.real(f64::INFINITY))
}

/// The derivative of `lgamma`, for `x > 0`.
#[inline(always)]
pub(crate) fn digamma<M: Machine>(m: M, x: M::Real) -> M::Real {
    let near = m.less(x, m.real(NEAR));
    let pole = Pole::of(m, x);
    let inverse = m.select(near, pole.above, m.real(1.0)) / m.select(near, pole.below, x);
    m.select(near, digamma_near(m, x, &pole, inverse), digamma_beyond(m, x, inverse))
}

/// Between 1 and 2 the number with the same fraction, and the quotient by which the values there differ.
struct Pole<M: Machine> {
    shifted: Twofold<M::Real>,
    above: M::Real,
    below: M::Real,
}

impl<M: Machine> Pole<M> {
    /// For `x < 3`.
    #[inline(always)]
    fn of(m: M, x: M::Real) -> Pole<M> {
        let (zero, one) = (m.real(0.0), m.real(1.0));
        let small = m.less(x, one);
        let large = m.at_most(m.real(2.0), x);
        let above = m.select(small, -one, m.select(large, one, zero));
        let shifted = sum::<M>(x, -above);
        Pole { shifted, above, below: m.select(small, x, shifted.high) }
    }
}

/// For `x < 3`, with the quotient.
#[inline(always)]
fn digamma_near<M: Machine>(m: M, x: M::Real, pole: &Pole<M>, quotient: M::Real) -> M::Real {
    let shifted = pole.shifted;
    let t = shifted.high - m.real(CENTER);
    let rest = m.fma(t, polynomial(m, t, &DIGAMMA), m.real(DIGAMMA_HEAD[1]));
    let factor = sum_ordered::<M>(m.real(DIGAMMA_HEAD[0]), rest);
    let distance = shifted.high - m.real(DIGAMMA_ROOT[0]);
    let main = product(m, distance, factor.high);
    let low = m.fma(shifted.low - m.real(DIGAMMA_ROOT[1]), factor.high, main.low);
    let low = m.fma(distance, factor.low, low);
    let lost = m.remainder(pole.above, quotient, pole.below) * m.abs(quotient);
    let total = sum_ordered::<M>(quotient, main.high);
    let value = total.high + (total.low + (low + lost));
    m.select(m.less(x, m.real(TINY)), quotient, value)
}

/// For `x ≥ 3`, with its inverse.
#[inline(always)]
fn digamma_beyond<M: Machine>(m: M, x: M::Real, inverse: M::Real) -> M::Real {
    let square = inverse * inverse;
    let series = m.fma(square, polynomial(m, square, &DIGAMMA_FAR), inverse * m.real(0.5));
    let value = log::log_and(m, x, Some(-series));
    // Infinity, or NaN.
    m.select(m.less(x, m.real(f64::INFINITY)), value, x)
}
