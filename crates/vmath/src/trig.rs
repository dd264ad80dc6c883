//! Sine, cosine and tangent.
//!
//! `x = n·π/2 + r` with `|r| ≤ π/4` and a little more. Up to [`LIMIT`] the difference of `x` and `n` times the first part
//! of `π/2` is a double, and two more parts make `r`, as a sum of two doubles, right even for the `x` that are nearest
//! to multiples of `π/2` (there the second is not small beside the first, which is so small itself that its square does
//! not count). Of arguments near to zero `n` is 0 and `r` is `x`: one number at a time they skip the reduction and get the
//! same bits. Beyond, [`crate::huge`] finds `n` and `r` with integers; such arguments are rare, and
//! whoever works on blocks looks after each block whether there were any.
//!
//! Sine and cosine of `r` are polynomials; which is wanted and with what sign is decided by the two lowest bits of `n`.

use crate::coefficients::{COS, HALF_PI, SIN, TWO_OVER_PI};
use crate::exp::SHIFT;
use crate::machine::{Machine, Twofold, estrin, product, quotient, sum, sum_ordered};

/// The main path takes arguments up to here: 2³⁰.
pub(crate) const LIMIT: f64 = 1_073_741_824.0;

/// Up to here `n` is 0, whatever the rounding: a little less than π/4.
const NEAR: f64 = 0.785;

/// Below it sine and tangent are their argument.
const SMALL: f64 = 7.450_580_596_923_828e-9;

/// `n` in the lowest bits, and `r`, of which `low` is what the first part has lost.
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

/// Whether an argument is its own `r`.
#[inline(always)]
pub(crate) fn near<M: Machine>(m: M, x: M::Real) -> M::Mask {
    m.at_most(m.abs(x), m.real(NEAR))
}

/// What [`reduce`] makes of an argument that is near to zero.
#[inline(always)]
fn reduced_near<M: Machine>(m: M, x: M::Real) -> Reduced<M> {
    Reduced { n: m.word(0), r: x, low: m.real(0.0) }
}

#[inline(always)]
pub(crate) fn reduce<M: Machine>(m: M, x: M::Real) -> Reduced<M> {
    let shifted = m.fma(x, m.real(TWO_OVER_PI[0]), m.real(SHIFT));
    let n = shifted - m.real(SHIFT);
    let exact = m.remainder(x, n, m.real(HALF_PI[0]));
    let next = product(m, n, m.real(HALF_PI[1]));
    let difference = sum::<M>(exact, -next.high);
    let low = (difference.low - next.low) - n * m.real(HALF_PI[2]);
    Reduced { n: m.bits(shifted), r: difference.high, low }
}

/// The sine of `r + low`.
#[inline(always)]
fn sine<M: Machine>(m: M, r: M::Real, low: M::Real) -> M::Real {
    let z = r * r;
    let cubic = r * z;
    // sin (r + low) = sin r + low·cos r
    let rest = m.fma(cubic, estrin(m, z, &SIN), m.fma(z * m.real(-0.5), low, low));
    r + rest
}

/// The cosine of `r + low`.
#[inline(always)]
fn cosine<M: Machine>(m: M, r: M::Real, low: M::Real) -> M::Real {
    let z = r * r;
    let half = z * m.real(0.5);
    let whole = m.real(1.0) - half;
    let lost = (m.real(1.0) - whole) - half;
    let rest = m.fma(z * z, estrin(m, z, &COS), lost - r * low);
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
    let rest = m.fma(r * z, estrin(m, z, &SIN), m.fma(z * m.real(-0.5), low, low));
    let sine = sum_ordered::<M>(r, rest);
    let half = z * m.real(0.5);
    let lost = m.fma(square.low, m.real(-0.5), -(r * low));
    let rest = m.fma(z * z, estrin(m, z, &COS), lost);
    let whole = sum_ordered::<M>(m.real(1.0), -half);
    let cosine = sum_ordered::<M>(whole.high, whole.low + rest);
    let above =
        Twofold { high: m.select(odd, -cosine.high, sine.high), low: m.select(odd, -cosine.low, sine.low) };
    let below =
        Twofold { high: m.select(odd, sine.high, cosine.high), low: m.select(odd, sine.low, cosine.low) };
    let ratio = quotient(m, above, below);
    ratio.high + ratio.low
}

/// The sine of a number and what was reduced of it.
#[inline(always)]
fn sin_of<M: Machine>(m: M, x: M::Real, reduced: Reduced<M>) -> M::Real {
    m.select(m.less(m.abs(x), m.real(SMALL)), x, sin_reduced(m, reduced))
}

/// The tangent of a number and what was reduced of it.
#[inline(always)]
fn tan_of<M: Machine>(m: M, x: M::Real, reduced: Reduced<M>) -> M::Real {
    m.select(m.less(m.abs(x), m.real(SMALL)), x, tan_reduced(m, reduced))
}

/// The sine, for `|x| ≤ LIMIT`.
#[inline(always)]
pub(crate) fn sin<M: Machine>(m: M, x: M::Real) -> M::Real {
    sin_of(m, x, reduce(m, x))
}

/// The cosine, for `|x| ≤ LIMIT`.
#[inline(always)]
pub(crate) fn cos<M: Machine>(m: M, x: M::Real) -> M::Real {
    cos_reduced(m, reduce(m, x))
}

/// The tangent, for `|x| ≤ LIMIT`.
#[inline(always)]
pub(crate) fn tan<M: Machine>(m: M, x: M::Real) -> M::Real {
    tan_of(m, x, reduce(m, x))
}

/// The sine of what is [`near`], with the bits of [`sin`].
#[inline(always)]
pub(crate) fn sin_near<M: Machine>(m: M, x: M::Real) -> M::Real {
    sin_of(m, x, reduced_near(m, x))
}

/// The cosine of what is [`near`], with the bits of [`cos`].
#[inline(always)]
pub(crate) fn cos_near<M: Machine>(m: M, x: M::Real) -> M::Real {
    cos_reduced(m, reduced_near(m, x))
}

/// The tangent of what is [`near`], with the bits of [`tan`].
#[inline(always)]
pub(crate) fn tan_near<M: Machine>(m: M, x: M::Real) -> M::Real {
    tan_of(m, x, reduced_near(m, x))
}
