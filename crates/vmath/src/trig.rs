//! Sine, cosine and tangent.
//!
//! `x = n·π/2 + r` with `|r| ≤ π/4` and a little more. Up to [`LIMIT`] the difference of `x` and `n` times the first part
//! of `π/2` is a double, and two more parts make `r`, as a sum of two doubles, right even for the `x` that are nearest
//! to multiples of `π/2`. Beyond, [`crate::huge`] finds `n` and `r` with integers; such arguments are rare, and
//! whoever works on blocks looks after each block whether there were any.
//!
//! Sine and cosine of `r` are polynomials; which is wanted and with what sign is decided by the two lowest bits of `n`.

use crate::coefficients::{COS, HALF_PI, SIN, TWO_OVER_PI};
use crate::exp::SHIFT;
use crate::machine::{Machine, Twofold, polynomial, product, quotient, sum, sum_ordered};

/// The main path takes arguments up to here: 2³⁰.
pub(crate) const LIMIT: f64 = 1_073_741_824.0;

/// Below it sine and tangent are their argument.
const SMALL: f64 = 7.450_580_596_923_828e-9;

/// `n` in the lowest bits, and `r`.
#[derive(Clone, Copy)]
pub(crate) struct Reduced<M: Machine> {
    pub(crate) n: M::Bits,
    pub(crate) r: M::Real,
    pub(crate) low: M::Real,
}

/// Whether an argument is not for the main path.
#[inline(always)]
pub(crate) fn rare<M: Machine>(m: M, x: M::Real) -> M::Mask {
    m.not(m.at_most(m.abs(x), m.real(LIMIT)))
}

#[inline(always)]
pub(crate) fn reduce<M: Machine>(m: M, x: M::Real) -> Reduced<M> {
    let shifted = m.fma(x, m.real(TWO_OVER_PI[0]), m.real(SHIFT));
    let n = shifted - m.real(SHIFT);
    let exact = m.remainder(x, n, m.real(HALF_PI[0]));
    let next = product(m, n, m.real(HALF_PI[1]));
    let difference = sum::<M>(exact, -next.high);
    let low = (difference.low - next.low) - n * m.real(HALF_PI[2]);
    let Twofold { high, low } = sum_ordered::<M>(difference.high, low);
    Reduced { n: m.bits(shifted), r: high, low }
}

/// The sine of `r + low`.
#[inline(always)]
fn sine<M: Machine>(m: M, r: M::Real, low: M::Real) -> M::Real {
    let z = r * r;
    let cubic = r * z;
    // sin (r + low) = sin r + low·cos r
    let rest = m.fma(cubic, polynomial(m, z, &SIN), m.fma(z * m.real(-0.5), low, low));
    r + rest
}

/// The cosine of `r + low`.
#[inline(always)]
fn cosine<M: Machine>(m: M, r: M::Real, low: M::Real) -> M::Real {
    let z = r * r;
    let half = z * m.real(0.5);
    let whole = m.real(1.0) - half;
    let lost = (m.real(1.0) - whole) - half;
    let rest = m.fma(z * z, polynomial(m, z, &COS), lost - r * low);
    whole + rest
}

/// With the sign bit that is the second bit of `n`.
#[inline(always)]
fn signed<M: Machine>(m: M, x: M::Real, n: M::Bits) -> M::Real {
    let sign = m.shift_left(m.and(n, m.word(2)), 62);
    m.float(m.xor(m.bits(x), sign))
}

/// The sine of what was reduced.
#[inline(always)]
pub(crate) fn sin_reduced<M: Machine>(m: M, given: Reduced<M>) -> M::Real {
    let Reduced { n, r, low } = given;
    let odd = m.nonzero(m.and(n, m.word(1)));
    signed(m, m.select(odd, cosine(m, r, low), sine(m, r, low)), n)
}

/// The cosine of what was reduced.
#[inline(always)]
pub(crate) fn cos_reduced<M: Machine>(m: M, given: Reduced<M>) -> M::Real {
    let Reduced { n, r, low } = given;
    let odd = m.nonzero(m.and(n, m.word(1)));
    let value = m.select(odd, sine(m, r, low), cosine(m, r, low));
    signed(m, value, m.add(n, m.word(1)))
}

/// The tangent of what was reduced, as the quotient of sine and cosine, each the sum of two doubles.
#[inline(always)]
pub(crate) fn tan_reduced<M: Machine>(m: M, given: Reduced<M>) -> M::Real {
    let Reduced { n, r, low } = given;
    let odd = m.nonzero(m.and(n, m.word(1)));
    let square = product(m, r, r);
    let z = square.high;
    let rest = m.fma(r * z, polynomial(m, z, &SIN), m.fma(z * m.real(-0.5), low, low));
    let sine = sum_ordered::<M>(r, rest);
    let half = z * m.real(0.5);
    let lost = m.fma(square.low, m.real(-0.5), -(r * low));
    let rest = m.fma(z * z, polynomial(m, z, &COS), lost);
    let whole = sum_ordered::<M>(m.real(1.0), -half);
    let cosine = sum_ordered::<M>(whole.high, whole.low + rest);
    let above =
        Twofold { high: m.select(odd, -cosine.high, sine.high), low: m.select(odd, -cosine.low, sine.low) };
    let below =
        Twofold { high: m.select(odd, sine.high, cosine.high), low: m.select(odd, sine.low, cosine.low) };
    let ratio = quotient(m, above, below);
    ratio.high + ratio.low
}

/// The sine, for `|x| ≤ LIMIT`.
#[inline(always)]
pub(crate) fn sin<M: Machine>(m: M, x: M::Real) -> M::Real {
    let value = sin_reduced(m, reduce(m, x));
    m.select(m.less(m.abs(x), m.real(SMALL)), x, value)
}

/// The cosine, for `|x| ≤ LIMIT`.
#[inline(always)]
pub(crate) fn cos<M: Machine>(m: M, x: M::Real) -> M::Real {
    cos_reduced(m, reduce(m, x))
}

/// The tangent, for `|x| ≤ LIMIT`.
#[inline(always)]
pub(crate) fn tan<M: Machine>(m: M, x: M::Real) -> M::Real {
    let value = tan_reduced(m, reduce(m, x));
    m.select(m.less(m.abs(x), m.real(SMALL)), x, value)
}
