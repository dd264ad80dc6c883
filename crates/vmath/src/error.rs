//! The error function and its complement.
//!
//! Up to 7/8, `erf x = x + x·P(x²)`. From 1/2 on, `erfc x = e^(-x²) · Q(t) / (1 + 2x)` with a polynomial in `t = (x - 4)/(x + 4)`, by
//! which all of the axis has its place in an interval; `x²`, the exponential and the quotient are sums of two doubles.
//! Each of the two is computed from the other where that loses nothing.

use crate::coefficients::{ERF, ERF_HEAD, ERFC, ERFC_HEAD};
use crate::exp::{long, scale};
use crate::machine::{Machine, Twofold, horner, polynomial, product, quotient, sum, sum_ordered, times};

/// Up to here the error function is a polynomial.
const NEAR: f64 = 0.875;
/// Up to here its complement is computed from it.
const NEAREST: f64 = 0.5;
/// From here on its complement is 0.
const FAR: f64 = 28.0;

/// `erf x - x` for `|x| ≤ 7/8`.
#[inline(always)]
fn near<M: Machine>(m: M, x: M::Real) -> M::Real {
    let z = x * x;
    let rest = m.fma(z, polynomial(m, z, &ERF), m.real(ERF_HEAD[1]));
    x * (m.real(ERF_HEAD[0]) + rest)
}

/// `erfc x` for `1/2 ≤ x ≤ 28`.
#[inline(always)]
fn far<M: Machine>(m: M, x: M::Real) -> M::Real {
    let four = m.real(4.0);
    let t = (x - four) / (x + four);
    let rest = m.fma(t, horner(m, t, &ERFC), m.real(ERFC_HEAD[1]));
    let numerator = sum_ordered::<M>(m.real(ERFC_HEAD[0]), rest);
    let ratio = quotient(m, numerator, sum_ordered::<M>(x + x, m.real(1.0)));
    let square = product(m, x, x);
    let power = long(m, -square.high, Some(-square.low));
    let whole = sum_ordered::<M>(m.real(1.0), power.p.high);
    let factor = Twofold { high: whole.high, low: whole.low + power.p.low };
    let value = times(m, ratio, factor);
    scale(m, value.high + value.low, power.n)
}

/// The magnitude, but no more than `bound`; NaN stays.
#[inline(always)]
fn magnitude<M: Machine>(m: M, x: M::Real) -> M::Real {
    let bound = m.real(FAR);
    let size = m.abs(x);
    m.select(m.less(bound, size), bound, size)
}

/// The error function.
#[inline(always)]
pub(crate) fn erf<M: Machine>(m: M, x: M::Real) -> M::Real {
    let size = magnitude(m, x);
    let is_near = m.less(size, m.real(NEAR));
    let beyond = m.real(1.0) - far(m, size);
    m.copysign(m.select(is_near, size + near(m, size), beyond), x)
}

/// One less the error function.
#[inline(always)]
pub(crate) fn erfc<M: Machine>(m: M, x: M::Real) -> M::Real {
    let size = magnitude(m, x);
    let is_near = m.less(size, m.real(NEAREST));
    let rest = sum::<M>(m.real(1.0), -x);
    let inside = rest.high + (rest.low - near(m, x));
    let tail = far(m, size);
    let outside = m.select(m.less(x, m.real(0.0)), m.real(2.0) - tail, tail);
    m.select(is_near, inside, outside)
}
