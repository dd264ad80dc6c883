//! What a function is described with: straight-line operations on reals, words and truth values.
//!
//! A function of this crate is written once, generic over a [`Machine`]. Run on [`Plain`] it computes; inlined into a
//! loop it has no branch and no call, so that the compiler makes vector code of it. Run on `text::Tracer` it
//! writes itself down, and that is printed as C. Both do the same operations in the same order, so that both give the
//! same bits.
//!
//! The one thing that machines differ in is whether they have a fused multiply-add. With it [`Machine::fma`] rounds once
//! and exact products cost two instructions; without it `fma` rounds twice, exact products are computed by splitting the
//! factors in halves (Dekker), and results may differ in the last bit.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Operations on 64-bit floats, on their bits, and on truth values.
pub trait Machine: Copy {
    /// A double.
    type Real: Copy
        + Add<Output = Self::Real>
        + Sub<Output = Self::Real>
        + Mul<Output = Self::Real>
        + Div<Output = Self::Real>
        + Neg<Output = Self::Real>;
    /// A word of 64 bits.
    type Bits: Copy;
    /// A truth value.
    type Mask: Copy;

    /// A constant.
    fn real(self, x: f64) -> Self::Real;
    /// A constant.
    fn word(self, x: u64) -> Self::Bits;
    /// `a·b + c`, rounded once if the machine can.
    fn fma(self, a: Self::Real, b: Self::Real, c: Self::Real) -> Self::Real;
    /// `a·b - p` exactly, for `p` the rounded product.
    fn product_error(self, a: Self::Real, b: Self::Real, p: Self::Real) -> Self::Real;
    /// `x - a·b` exactly, where that is a double.
    fn remainder(self, x: Self::Real, a: Self::Real, b: Self::Real) -> Self::Real;
    /// The square root.
    fn sqrt(self, x: Self::Real) -> Self::Real;
    /// Without its sign.
    fn abs(self, x: Self::Real) -> Self::Real;
    /// The magnitude of the first with the sign of the second.
    fn copysign(self, x: Self::Real, sign: Self::Real) -> Self::Real;
    /// The bits of a double.
    fn bits(self, x: Self::Real) -> Self::Bits;
    /// The double with these bits.
    fn float(self, b: Self::Bits) -> Self::Real;
    /// Wraps.
    fn add(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Wraps.
    fn sub(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Bit by bit.
    fn and(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Bit by bit.
    fn xor(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// By less than 64, filling with zeros.
    fn shift_left(self, a: Self::Bits, by: u32) -> Self::Bits;
    /// By less than 64, filling with zeros.
    fn shift_right(self, a: Self::Bits, by: u32) -> Self::Bits;
    /// Whether a bit is set.
    fn nonzero(self, a: Self::Bits) -> Self::Mask;
    /// `a < b`
    fn less(self, a: Self::Real, b: Self::Real) -> Self::Mask;
    /// `a ≤ b`
    fn at_most(self, a: Self::Real, b: Self::Real) -> Self::Mask;
    /// `a = b`
    fn equal(self, a: Self::Real, b: Self::Real) -> Self::Mask;
    /// Both.
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// One or both.
    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Not.
    fn not(self, a: Self::Mask) -> Self::Mask;
    /// The second if the first holds, else the third.
    fn select(self, mask: Self::Mask, a: Self::Real, b: Self::Real) -> Self::Real;
}

/// Computes with doubles, with a fused multiply-add or without.
#[derive(Clone, Copy, Debug)]
pub struct Plain<const FUSED: bool>;

/// `2²⁷ + 1`: the product with it splits a double in halves.
pub(crate) const SPLITTER: f64 = 134_217_729.0;

impl<const FUSED: bool> Machine for Plain<FUSED> {
    type Real = f64;
    type Bits = u64;
    type Mask = bool;

    #[inline(always)]
    fn real(self, x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn word(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn fma(self, a: f64, b: f64, c: f64) -> f64 {
        if FUSED { a.mul_add(b, c) } else { a * b + c }
    }
    #[inline(always)]
    fn product_error(self, a: f64, b: f64, p: f64) -> f64 {
        if FUSED {
            return a.mul_add(b, -p);
        }
        let (ah, bh) = (upper_half(a), upper_half(b));
        let (al, bl) = (a - ah, b - bh);
        ((ah * bh - p) + ah * bl + al * bh) + al * bl
    }
    #[inline(always)]
    fn remainder(self, x: f64, a: f64, b: f64) -> f64 {
        if FUSED {
            return (-a).mul_add(b, x);
        }
        let p = a * b;
        (x - p) - self.product_error(a, b, p)
    }
    #[inline(always)]
    fn sqrt(self, x: f64) -> f64 {
        x.sqrt()
    }
    #[inline(always)]
    fn abs(self, x: f64) -> f64 {
        x.abs()
    }
    #[inline(always)]
    fn copysign(self, x: f64, sign: f64) -> f64 {
        x.copysign(sign)
    }
    #[inline(always)]
    fn bits(self, x: f64) -> u64 {
        x.to_bits()
    }
    #[inline(always)]
    fn float(self, b: u64) -> f64 {
        f64::from_bits(b)
    }
    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }
    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }
    #[inline(always)]
    fn shift_left(self, a: u64, by: u32) -> u64 {
        a << by
    }
    #[inline(always)]
    fn shift_right(self, a: u64, by: u32) -> u64 {
        a >> by
    }
    #[inline(always)]
    fn nonzero(self, a: u64) -> bool {
        a != 0
    }
    #[inline(always)]
    fn less(self, a: f64, b: f64) -> bool {
        a < b
    }
    #[inline(always)]
    fn at_most(self, a: f64, b: f64) -> bool {
        a <= b
    }
    #[inline(always)]
    fn equal(self, a: f64, b: f64) -> bool {
        a == b
    }
    #[inline(always)]
    fn both(self, a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn either(self, a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn not(self, a: bool) -> bool {
        !a
    }
    #[inline(always)]
    fn select(self, mask: bool, a: f64, b: f64) -> f64 {
        if mask { a } else { b }
    }
}

#[inline(always)]
fn upper_half(a: f64) -> f64 {
    let scaled = a * SPLITTER;
    scaled - (scaled - a)
}

/// A value as the unevaluated sum of two doubles, the second at most about half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twofold<R> {
    pub(crate) high: R,
    pub(crate) low: R,
}

/// `a + b` exactly.
#[inline(always)]
pub(crate) fn sum<M: Machine>(a: M::Real, b: M::Real) -> Twofold<M::Real> {
    let high = a + b;
    let b_part = high - a;
    let a_part = high - b_part;
    Twofold { high, low: (a - a_part) + (b - b_part) }
}

/// `a + b` exactly if `|a| ≥ |b|`, or `a` is 0.
#[inline(always)]
pub(crate) fn sum_ordered<M: Machine>(a: M::Real, b: M::Real) -> Twofold<M::Real> {
    let high = a + b;
    Twofold { high, low: b - (high - a) }
}

/// `a·b` exactly.
#[inline(always)]
pub(crate) fn product<M: Machine>(m: M, a: M::Real, b: M::Real) -> Twofold<M::Real> {
    let high = a * b;
    Twofold { high, low: m.product_error(a, b, high) }
}

/// The product of two sums, good to about 2⁻¹⁰².
#[inline(always)]
pub(crate) fn times<M: Machine>(m: M, a: Twofold<M::Real>, b: Twofold<M::Real>) -> Twofold<M::Real> {
    let main = product(m, a.high, b.high);
    let low = main.low + m.fma(a.high, b.low, a.low * b.high);
    sum_ordered::<M>(main.high, low)
}

/// The quotient of two sums, good to about 2⁻¹⁰⁰.
#[inline(always)]
pub(crate) fn quotient<M: Machine>(m: M, a: Twofold<M::Real>, b: Twofold<M::Real>) -> Twofold<M::Real> {
    let inverse = m.real(1.0) / b.high;
    let high = a.high * inverse;
    let left = m.remainder(a.high, high, b.high) + (a.low - high * b.low);
    sum_ordered::<M>(high, left * inverse)
}

/// The square root of a sum that is not negative; 0 of 0.
#[inline(always)]
pub(crate) fn root<M: Machine>(m: M, a: Twofold<M::Real>) -> Twofold<M::Real> {
    let high = m.sqrt(a.high);
    let left = m.remainder(a.high, high, high) + a.low;
    // The smallest number keeps 0/0 away and changes nothing else.
    Twofold { high, low: left / (high + high + m.real(f64::MIN_POSITIVE)) }
}

/// A polynomial, even and odd powers apart: half as many operations wait for each other.
#[inline(always)]
pub(crate) fn polynomial<M: Machine, const N: usize>(m: M, x: M::Real, coefficients: &[f64; N]) -> M::Real {
    let square = x * x;
    let even = every_second(m, square, coefficients, 0);
    let odd = every_second(m, square, coefficients, 1);
    let zero = m.real(0.0);
    m.fma(x, odd.unwrap_or(zero), even.unwrap_or(zero))
}

/// A polynomial of every second coefficient. A loop that did both halves could be too long for the compiler to unroll it, and
/// then there are no vectors.
#[inline(always)]
fn every_second<M: Machine, const N: usize>(
    m: M,
    x: M::Real,
    coefficients: &[f64; N],
    first: usize,
) -> Option<M::Real> {
    let chosen = coefficients.iter().skip(first).step_by(2);
    chosen.rev().fold(None, |sum, c| Some(step(m, sum, x, *c)))
}

/// A polynomial of seven coefficients in which as little as possible waits for something else (Estrin): for what stands in
/// chains of calls, each of which waits for the one before.
#[inline(always)]
pub(crate) fn estrin<M: Machine>(m: M, x: M::Real, coefficients: &[f64; 7]) -> M::Real {
    let [c0, c1, c2, c3, c4, c5, c6] = coefficients.map(|c| m.real(c));
    let square = x * x;
    let low = m.fma(m.fma(c3, x, c2), square, m.fma(c1, x, c0));
    let high = m.fma(c6, square, m.fma(c5, x, c4));
    m.fma(high, square * square, low)
}

/// A polynomial.
#[inline(always)]
pub(crate) fn horner<M: Machine, const N: usize>(m: M, x: M::Real, coefficients: &[f64; N]) -> M::Real {
    let sum = coefficients.iter().rev().fold(None, |sum, c| Some(step(m, sum, x, *c)));
    sum.unwrap_or(m.real(0.0))
}

/// The next coefficient of a polynomial by Horner's rule.
#[inline(always)]
fn step<M: Machine>(m: M, sum: Option<M::Real>, x: M::Real, coefficient: f64) -> M::Real {
    let c = m.real(coefficient);
    match sum {
        Some(sum) => m.fma(sum, x, c),
        None => c,
    }
}
