//! Reduction by multiples of π/2 for arguments of any size, with integers (Payne and Hanek).
//!
//! `x = k·2ᵉ` with a 53-bit integer `k`. Of `2/π` only 192 bits matter: those of higher value make multiples of 4, that is
//! whole turns, those of lower value do not reach the result. `k` times these bits, modulo 4, is the angle in quarter
//! turns with 190 bits behind the point, of which 137 are right: enough, since no double comes nearer than 2⁻⁶² to a
//! multiple of π/2, relative to which that is 2⁻⁷⁵.
//!
//! `huge.c.txt` is the same in C, statement by statement; a test compares them.

use crate::coefficients::{HALF_PI, TWO_OVER_PI_BITS};
use crate::machine::{Plain, product, sum_ordered};
use crate::trig::Reduced;

/// Angles are computed with exact products, which need no fused operation.
const MACHINE: Plain<false> = Plain;

/// `n` in the lowest bits and `x - n·π/2` as a sum of two doubles, for `|x| ≥ 2³⁰`; NaN for infinities and NaN.
pub(crate) fn reduce<const FUSED: bool>(x: f64) -> Reduced<Plain<FUSED>> {
    if !x.is_finite() {
        return Reduced { n: 0, r: f64::NAN, low: f64::NAN };
    }
    let bits = x.to_bits();
    let integer = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    // x = integer·2^(exponent - 1075); the first bit that matters has the value 2.
    let exponent = (bits >> 52) & 0x7ff;
    let [w0, w1, w2] = window(exponent - 1013);
    let low = u128::from(integer) * u128::from(w2);
    let middle = u128::from(integer) * u128::from(w1) + (low >> 64);
    let high = integer.wrapping_mul(w0).wrapping_add((middle >> 64) as u64);
    // The angle modulo 4 in units of 2^-190; then what is behind the point, as a signed number of 2^-192.
    let mut n = high >> 62;
    let mut top = u128::from(high) << 64 | (middle & u128::from(u64::MAX));
    let mut rest = low as u64;
    top = top << 2 | u128::from(rest >> 62);
    rest <<= 2;
    let negative = top >> 127 != 0;
    if negative {
        n += 1;
        top = !top;
        rest = !rest;
    }
    let zeros = top.leading_zeros();
    let wide = if zeros == 0 { top } else { top << zeros | u128::from(rest) << 64 >> (128 - zeros) };
    let factor = f64::from_bits((1023 - u64::from(zeros)) << 52);
    let head = (wide >> 75) as f64 * (UNIT * factor);
    let tail = ((wide >> 22) as u64 & 0x001f_ffff_ffff_ffff) as f64 * (UNIT * UNIT * factor);
    let main = product(MACHINE, head, HALF_PI[0]);
    let sum = sum_ordered::<Plain<false>>(main.high, main.low + (head * HALF_PI[1] + tail * HALF_PI[0]));
    if negative != (x < 0.0) {
        Reduced { n: if x < 0.0 { 0_u64.wrapping_sub(n) } else { n }, r: -sum.high, low: -sum.low }
    } else {
        Reduced { n: if x < 0.0 { 0_u64.wrapping_sub(n) } else { n }, r: sum.high, low: sum.low }
    }
}

/// 2⁻⁵³
const UNIT: f64 = 1.1102230246251565e-16;

/// 192 bits of the table from a given one on.
fn window(start: u64) -> [u64; 3] {
    let word = |k: u64| {
        let place = usize::try_from(start / 64 + k).unwrap_or(usize::MAX);
        TWO_OVER_PI_BITS.get(place).copied().unwrap_or(0)
    };
    let shift = start % 64;
    let at = |k: u64| if shift == 0 { word(k) } else { word(k) << shift | word(k + 1) >> (64 - shift) };
    [at(0), at(1), at(2)]
}
