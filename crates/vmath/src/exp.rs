//! The exponential and what is made of it.
//!
//! `x = n·log 2 + r` with `|r| ≤ log 2 / 2`: the first part of `log 2` is so short that `n` times it is exact, and so is
//! the difference to `x`. Then `eˣ = 2ⁿ·(1 + p)` with `p = eʳ - 1` by a polynomial. `2ⁿ` is multiplied in two halves, so
//! that results among the subnormal numbers are rounded once and overflow is left to the arithmetic.
//!
//! `expm1`, the hyperbolic functions and the logistic ones want `p` as a sum of two doubles. With `C = 2⁻²ⁿ` and
//! `q = p/(1 + p)`, `e⁻ˣ = 2ⁿ·(C - C·q)`; so that `sinh` and `cosh` are `2ⁿ⁻¹·((1 ∓ C) + p ± C·q)`, where nothing cancels.

use crate::coefficients::{EXPM1, INV_LN_2, LN_2};
use crate::machine::{Machine, Twofold, polynomial, quotient, sum, sum_ordered};

/// Added to a number below 2⁵¹, leaves it rounded to an integer, which stands in the lowest bits.
pub(crate) const SHIFT: f64 = 6_755_399_441_055_744.0;

/// Beyond, `eˣ` is infinite or 0.
const LARGEST: f64 = 800.0;

/// Below it, functions with `f x = x + O(x²)` or better are `x`.
const TINY: f64 = 5.551_115_123_125_783e-17;

/// Below it, functions with `f x = x + O(x³)` are `x`.
const SMALL: f64 = 7.450_580_596_923_828e-9;

/// `n` (as a real, and in the lowest bits of a word) and `r`.
struct Reduced<M: Machine> {
    n: M::Real,
    bits: M::Bits,
    r: M::Real,
    low: M::Real,
}

/// The nearer end for what is outside of `-bound ..= bound`; NaN stays.
#[inline(always)]
fn clamp<M: Machine>(m: M, x: M::Real, bound: f64) -> M::Real {
    let above = m.real(bound);
    let x = m.select(m.less(above, x), above, x);
    let below = m.real(-bound);
    m.select(m.less(x, below), below, x)
}

#[inline(always)]
fn reduce<M: Machine>(m: M, x: M::Real) -> Reduced<M> {
    let shifted = m.fma(x, m.real(INV_LN_2[0]), m.real(SHIFT));
    let n = shifted - m.real(SHIFT);
    let high = m.fma(n, m.real(-LN_2[0]), x);
    let r = m.fma(n, m.real(-LN_2[1]), high);
    let low = m.fma(n, m.real(-LN_2[1]), high - r);
    Reduced { n, bits: m.bits(shifted), r, low }
}

/// 2ⁿ, for `n` in the lowest bits of a word, `-1022 ≤ n ≤ 1023`.
#[inline(always)]
pub(crate) fn power_of_two<M: Machine>(m: M, n: M::Bits) -> M::Real {
    m.float(m.shift_left(m.add(n, m.word(1023)), 52))
}

/// `x·2ⁿ`, rounded once, for `|n| ≤ 2000`.
#[inline(always)]
pub(crate) fn scale<M: Machine>(m: M, x: M::Real, n: M::Real) -> M::Real {
    let half = m.fma(n, m.real(0.5), m.real(SHIFT));
    let rest = (n - (half - m.real(SHIFT))) + m.real(SHIFT);
    x * power_of_two(m, m.bits(half)) * power_of_two(m, m.bits(rest))
}

/// `eˣ`
#[inline(always)]
pub(crate) fn exp<M: Machine>(m: M, x: M::Real) -> M::Real {
    let x = clamp(m, x, LARGEST);
    let Reduced { n, r, .. } = reduce(m, x);
    let p = m.fma(r * r, polynomial(m, r, &EXPM1), r);
    scale(m, m.real(1.0) + p, n)
}

/// `2ˣ`
#[inline(always)]
pub(crate) fn exp2<M: Machine>(m: M, x: M::Real) -> M::Real {
    let x = clamp(m, x, 1200.0);
    let n = (x + m.real(SHIFT)) - m.real(SHIFT);
    let rest = x - n;
    let r = rest * m.real(std::f64::consts::LN_2);
    let low = m.product_error(rest, m.real(std::f64::consts::LN_2), r);
    let low = m.fma(rest, m.real(LN_2_LOW), low);
    let p = r + m.fma(r * r, polynomial(m, r, &EXPM1), low);
    scale(m, m.real(1.0) + p, n)
}

/// `log 2` less the nearest double.
const LN_2_LOW: f64 = (LN_2[0] - std::f64::consts::LN_2) + LN_2[1];

/// `n` and `p`.
pub(crate) struct Long<M: Machine> {
    pub(crate) n: M::Real,
    bits: M::Bits,
    pub(crate) p: Twofold<M::Real>,
}

/// `eˣ⁺ˡᵒʷ = 2ⁿ·(1 + p)`, for `|x| ≤ 800`. The relative error of `p` is about 2⁻⁵⁸.
#[inline(always)]
pub(crate) fn long<M: Machine>(m: M, x: M::Real, low: Option<M::Real>) -> Long<M> {
    let Reduced { n, bits, r, low: rest } = reduce(m, x);
    let (r, rest) = match low {
        None => (r, rest),
        Some(low) => {
            let whole = sum::<M>(r, low);
            (whole.high, whole.low + rest)
        }
    };
    let square = r * r;
    // The derivative of p is 1 + p, of which r is most.
    let tail = m.fma(square, polynomial(m, r, &EXPM1), m.fma(rest, r, rest));
    Long { n, bits, p: sum_ordered::<M>(r, tail) }
}

/// `eˣ⁺ˡᵒʷ`, for `|x| ≤ 800`.
#[inline(always)]
pub(crate) fn exp_of_sum<M: Machine>(m: M, x: M::Real, low: M::Real) -> M::Real {
    let Long { n, p, .. } = long(m, x, Some(low));
    let whole = sum_ordered::<M>(m.real(1.0), p.high);
    scale(m, whole.high + (whole.low + p.low), n)
}

/// `eˣ - 1`
#[inline(always)]
pub(crate) fn expm1<M: Machine>(m: M, x: M::Real) -> M::Real {
    let clamped = clamp(m, x, LARGEST);
    // Below -40 it is -1.
    let bound = m.real(-40.0);
    let clamped = m.select(m.less(clamped, bound), bound, clamped);
    let Long { n, p, .. } = long(m, clamped, None);
    // 2^n·((1 - 2^-n) + p); what is 1 - 2^-n to rounding may stay 1.
    let reciprocal =
        m.select(m.less(n, m.real(100.0)), power_of_two(m, m.bits(m.real(SHIFT) - n)), m.real(0.0));
    let (one, minus) = (m.real(1.0), -reciprocal);
    let head = sum::<M>(one, minus);
    let total = sum::<M>(head.high, p.high);
    let value = scale(m, total.high + (total.low + (head.low + p.low)), n);
    m.select(m.less(m.abs(x), m.real(TINY)), x, value)
}

/// `(1 ∓ C) + p ± C·q` and `n`, see above. For `0 ≤ x ≤ 800`.
struct Halves<M: Machine> {
    n: M::Real,
    p: Twofold<M::Real>,
    square: M::Real,
    mirrored: Twofold<M::Real>,
}

#[inline(always)]
fn halves<M: Machine>(m: M, x: M::Real) -> Halves<M> {
    let Long { n, bits, p } = long(m, x, None);
    let twice = m.sub(m.word(0), m.shift_left(bits, 1));
    let square = m.select(m.less(n, m.real(100.0)), power_of_two(m, twice), m.real(0.0));
    let whole = sum_ordered::<M>(m.real(1.0), p.high);
    let q = quotient(m, p, Twofold { high: whole.high, low: whole.low + p.low });
    // Powers of two: the products are exact.
    let mirrored = Twofold { high: q.high * square, low: q.low * square };
    Halves { n, p, square, mirrored }
}

/// The hyperbolic sine.
#[inline(always)]
pub(crate) fn sinh<M: Machine>(m: M, x: M::Real) -> M::Real {
    let magnitude = clamp(m, m.abs(x), LARGEST);
    let Halves { n, p, square, mirrored } = halves(m, magnitude);
    let head = sum_ordered::<M>(m.real(1.0), -square);
    let total = sum::<M>(head.high, p.high);
    let all = sum::<M>(total.high, mirrored.high);
    let low = (all.low + total.low) + (head.low + p.low + mirrored.low);
    let value = m.copysign(scale(m, all.high + low, n - m.real(1.0)), x);
    m.select(m.less(m.abs(x), m.real(SMALL)), x, value)
}

/// The hyperbolic cosine.
#[inline(always)]
pub(crate) fn cosh<M: Machine>(m: M, x: M::Real) -> M::Real {
    let magnitude = clamp(m, m.abs(x), LARGEST);
    let Halves { n, p, square, mirrored } = halves(m, magnitude);
    let head = sum_ordered::<M>(m.real(1.0), square);
    let total = sum::<M>(head.high, p.high);
    let low = total.low + (head.low + p.low - mirrored.low);
    let all = sum::<M>(total.high, -mirrored.high);
    scale(m, all.high + (all.low + low), n - m.real(1.0))
}

/// The hyperbolic tangent: `t / (t + 2)` with `t = e²ˣ - 1`.
#[inline(always)]
pub(crate) fn tanh<M: Machine>(m: M, x: M::Real) -> M::Real {
    // From 20 on it is 1.
    let magnitude = clamp(m, m.abs(x), 20.0);
    let Long { bits, p, .. } = long(m, magnitude + magnitude, None);
    let power = power_of_two(m, bits);
    // 2^n - 1 is exact where it matters.
    let t = sum::<M>(power - m.real(1.0), power * p.high);
    let low = m.fma(power, p.low, t.low);
    let t = sum_ordered::<M>(t.high, low);
    let below = sum::<M>(m.real(2.0), t.high);
    let value = quotient(m, t, Twofold { high: below.high, low: below.low + t.low });
    let value = m.copysign(value.high + value.low, x);
    m.select(m.less(m.abs(x), m.real(SMALL)), x, value)
}

/// `e^-|x|` as a sum; where it is subnormal, in the first part.
#[inline(always)]
fn decay<M: Machine>(m: M, x: M::Real) -> Twofold<M::Real> {
    let magnitude = clamp(m, m.abs(x), LARGEST);
    let Long { n, p, .. } = long(m, -magnitude, None);
    let whole = sum_ordered::<M>(m.real(1.0), p.high);
    let whole = sum_ordered::<M>(whole.high, whole.low + p.low);
    Twofold { high: scale(m, whole.high, n), low: scale(m, whole.low, n) }
}

/// `1 / (1 + e⁻ˣ)`
#[inline(always)]
pub(crate) fn sigmoid<M: Machine>(m: M, x: M::Real) -> M::Real {
    let e = decay(m, x);
    let below = sum_ordered::<M>(m.real(1.0), e.high);
    let negative = m.less(x, m.real(0.0));
    let above = Twofold {
        high: m.select(negative, e.high, m.real(1.0)),
        low: m.select(negative, e.low, m.real(0.0)),
    };
    let value = quotient(m, above, Twofold { high: below.high, low: below.low + e.low });
    value.high + value.low
}

/// `log (1 + eˣ)`
#[inline(always)]
pub(crate) fn softplus<M: Machine>(m: M, x: M::Real) -> M::Real {
    let e = decay(m, x);
    let whole = sum_ordered::<M>(m.real(1.0), e.high);
    let whole = sum_ordered::<M>(whole.high, whole.low + e.low);
    let log = crate::log::long(m, whole.high, Some(whole.low));
    let ramp = m.select(m.less(m.real(0.0), x), x, m.real(0.0));
    let total = sum_ordered::<M>(ramp, log.high);
    let value = total.high + (total.low + log.low);
    let value = m.select(m.less(x, m.real(-40.0)), e.high, value);
    m.select(m.less(x, m.real(f64::INFINITY)), value, x)
}
