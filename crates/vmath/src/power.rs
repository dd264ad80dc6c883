//! Powers, cube roots and lengths.
//!
//! `x ** y = e^(y·log |x|)` with the logarithm and the product as sums of two doubles: an error of `log x` is multiplied
//! by `y`, that is by up to 745 relative to the result. Whether `y` is an odd integer gives the sign.

use crate::coefficients::CBRT;
use crate::exp::{SHIFT, exp_of_sum, power_of_two};
use crate::log::long;
use crate::machine::{Machine, horner, product, root, sum_ordered};

/// 2⁶⁶: a larger exponent does nothing else.
const LARGEST_EXPONENT: f64 = 73_786_976_294_838_206_464.0;
/// `e` to more than that is infinite, and 0 to less than its negative.
const LARGEST: f64 = 800.0;
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// Whether a number that is not negative is an integer; all from 2⁵² on are.
#[inline(always)]
fn is_integer<M: Machine>(m: M, x: M::Real) -> M::Mask {
    let rounded = (x + m.real(TWO_52)) - m.real(TWO_52);
    m.either(m.equal(rounded, x), m.at_most(m.real(TWO_52), x))
}

/// `x ** y`, with the special cases of the floating-point standard.
#[inline(always)]
pub(crate) fn pow<M: Machine>(m: M, x: M::Real, y: M::Real) -> M::Real {
    let (zero, one) = (m.real(0.0), m.real(1.0));
    let infinity = m.real(f64::INFINITY);
    let (base, exponent) = (m.abs(x), m.abs(y));
    let bounded =
        m.select(m.less(exponent, m.real(LARGEST_EXPONENT)), y, m.copysign(m.real(LARGEST_EXPONENT), y));
    let log = long(m, base, None);
    let edge = m.select(m.equal(base, zero), -infinity, infinity);
    let ordinary = m.both(m.less(zero, base), m.less(base, infinity));
    let log_high = m.select(ordinary, log.high, edge);
    let main = bounded * log_high;
    let low = m.fma(bounded, log.low, m.product_error(bounded, log_high, main));
    let bound = m.real(LARGEST);
    let inside = m.less(m.abs(main), bound);
    let argument = m.select(inside, main, m.copysign(bound, main));
    let magnitude = exp_of_sum(m, argument, m.select(inside, low, zero));

    let integer = is_integer(m, exponent);
    let half_integer = is_integer(m, exponent * m.real(0.5));
    let odd = m.both(integer, m.not(half_integer));
    // Not a choice by `odd`: where `y` is the same in a whole loop, C compilers compute `odd` before the loop, and then
    // make no vectors of a choice by it.
    let sign = m.and(m.bits(x), m.bits(m.select(odd, m.real(-0.0), zero)));
    let value = m.float(m.xor(m.bits(magnitude), sign));
    let finite_negative = m.both(m.less(x, zero), m.less(base, infinity));
    let value = m.select(m.both(finite_negative, m.not(integer)), m.real(f64::NAN), value);
    let value = m.select(m.both(m.equal(x, x), m.equal(y, y)), value, x + y);
    m.select(m.either(m.equal(y, zero), m.equal(x, one)), one, value)
}

/// The cube root: a polynomial, a step of Halley's method, and one of Newton's from an exact residual.
#[inline(always)]
pub(crate) fn cbrt<M: Machine>(m: M, x: M::Real) -> M::Real {
    let magnitude = m.abs(x);
    let subnormal = m.less(magnitude, m.real(f64::MIN_POSITIVE));
    // 2^54 is a cube.
    let normal = m.select(subnormal, magnitude * m.real(18_014_398_509_481_984.0), magnitude);
    let bits = m.bits(normal);
    let biased = m.shift_right(bits, 52);
    let exponent = m.float(m.add(biased, m.word(0x4330_0000_0000_0000)));
    let exponent = exponent - m.real(4_503_599_627_371_519.0);
    let shifted = m.fma(exponent, m.real(1.0 / 3.0), m.real(SHIFT));
    let third = shifted - m.real(SHIFT);
    let left = m.fma(third, m.real(-3.0), exponent);
    let mantissa = m.float(m.add(m.and(bits, m.word(0x000f_ffff_ffff_ffff)), m.word(0x3ff0_0000_0000_0000)));
    // 2^-1, 1 or 2 times the mantissa, and about its root.
    let less = m.less(left, m.real(-0.5));
    let more = m.less(m.real(0.5), left);
    let pick = |a: f64, b: f64, c: f64| m.select(less, m.real(a), m.select(more, m.real(c), m.real(b)));
    let w = mantissa * pick(0.5, 1.0, 2.0);
    let guess = horner(m, mantissa, &CBRT) * pick(0.793_700_525_984_099_7, 1.0, 1.259_921_049_894_873_2);
    let cube = guess * guess * guess;
    let better = guess * ((cube + (w + w)) / ((cube + cube) + w));
    let square = product(m, better, better);
    let cube = product(m, square.high, better);
    let residual = (cube.high - w) + m.fma(square.low, better, cube.low);
    let value = better - residual / (square.high * m.real(3.0));
    let scaled = value * power_of_two(m, m.bits(shifted));
    let scaled = m.select(subnormal, scaled * m.real(3.814_697_265_625e-6), scaled);
    let ordinary = m.both(m.less(m.real(0.0), magnitude), m.less(magnitude, m.real(f64::INFINITY)));
    m.select(ordinary, m.copysign(scaled, x), x)
}

/// `√(x² + y²)`; infinite if either is.
#[inline(always)]
pub(crate) fn hypot<M: Machine>(m: M, x: M::Real, y: M::Real) -> M::Real {
    let (a, b) = (m.abs(x), m.abs(y));
    let swap = m.less(a, b);
    let (large, small) = (m.select(swap, b, a), m.select(swap, a, b));
    let shrink = m.less(m.real(1e150), large);
    let grow = m.less(large, m.real(1e-140));
    // Powers of two, and their reciprocals.
    let pick = |a: f64, b: f64| m.select(shrink, m.real(a), m.select(grow, m.real(b), m.real(1.0)));
    let factor = pick(TINY, HUGE);
    let back = pick(HUGE, TINY);
    let (large, small) = (large * factor, small * factor);
    let (first, second) = (product(m, large, large), product(m, small, small));
    let total = sum_ordered::<M>(first.high, second.high);
    let square = sum_ordered::<M>(total.high, total.low + (first.low + second.low));
    let side = root(m, square);
    let value = (side.high + side.low) * back;
    let infinity = m.real(f64::INFINITY);
    let infinite = m.either(m.equal(a, infinity), m.equal(b, infinity));
    m.select(infinite, infinity, value)
}

/// 2⁻⁶⁰⁰
const TINY: f64 = 2.409919865102884e-181;
/// 2⁶⁰⁰
const HUGE: f64 = 4.149515568880993e180;
