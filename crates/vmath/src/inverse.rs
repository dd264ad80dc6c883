//! The inverse trigonometric functions.
//!
//! `atan` and `atan2`: the angle of a point whose coordinates are not negative is 0, π/4 or π/2 plus the angle of a point
//! within `π/8` of the axis, by `tan (α - π/4) = (tan α - 1) / (tan α + 1)`. One division, whose rounding error is
//! computed and put right, then a polynomial.
//!
//! `asin` and `acos`: a polynomial up to 1/2; beyond, `asin x = π/2 - 2 asin √((1 - x)/2)`, with the root's
//! rounding error put right.

use crate::coefficients::{ASIN, ATAN, HALF_PI, PI, QUARTER_PI, THREE_QUARTER_PI};
use crate::machine::{Machine, Twofold, polynomial, root, sum, sum_ordered};

/// `tan (π/8)`
const NARROW: f64 = 0.414_213_562_373_095_03;
/// `tan (3π/8)`
const WIDE: f64 = 2.414_213_562_373_095;
/// From here on `atan` is π/2.
const FLAT: f64 = 1e18;

/// 2⁹⁰⁰, 2⁻⁶⁰: coordinates above the first are multiplied by the second.
const SHRINK_ABOVE: f64 = 8.452712498170644e270;
const SHRINK: f64 = 8.673617379884035e-19;
/// 2⁻⁷⁰⁰, 2³⁰⁰: coordinates below the first are multiplied by the second.
const GROW_BELOW: f64 = 1.90109156629516e-211;
const GROW: f64 = 2.037035976334486e90;

/// A constant in two parts.
type Parts = [f64; 2];

/// The first, second or third.
#[inline(always)]
fn choose<M: Machine>(
    m: M,
    masks: (M::Mask, M::Mask),
    first: Parts,
    second: Parts,
    third: Parts,
) -> Twofold<M::Real> {
    let part = |k: usize| {
        let at = |parts: Parts| m.real(parts.get(k).copied().unwrap_or(0.0));
        m.select(masks.0, at(first), m.select(masks.1, at(second), at(third)))
    };
    Twofold { high: part(0), low: part(1) }
}

/// `base ± atan (above / below)`, the sign that of `flip`'s choice, for a quotient up to `tan (π/8)`.
#[inline(always)]
fn angle<M: Machine>(
    m: M,
    base: Twofold<M::Real>,
    flip: Option<M::Mask>,
    above: Twofold<M::Real>,
    below: Twofold<M::Real>,
) -> M::Real {
    let ratio = above.high / below.high;
    let left = m.remainder(above.high, ratio, below.high) + (above.low - ratio * below.low);
    let rest = left / below.high;
    let flipped = |x: M::Real| flip.map_or(x, |flip| m.select(flip, -x, x));
    let (ratio, rest) = (flipped(ratio), flipped(rest));
    let z = ratio * ratio;
    let small = m.fma(ratio * z, polynomial(m, z, &ATAN), rest + base.low);
    let total = sum_ordered::<M>(base.high, ratio);
    total.high + (total.low + small)
}

/// The tangent, as a quotient of sums, of the angle of the point `(x, y)` less π/2 (for the first mask), 0 (for the
/// second), or π/4: `-x / y`, `y / x`, `(y - x) / (y + x)`.
#[inline(always)]
fn turned<M: Machine>(
    m: M,
    (wide, narrow): (M::Mask, M::Mask),
    x: M::Real,
    y: M::Real,
) -> (Twofold<M::Real>, Twofold<M::Real>) {
    let zero = m.real(0.0);
    let above = sum::<M>(m.select(wide, zero, y), m.select(narrow, zero, -x));
    let below = sum::<M>(m.select(narrow, zero, y), m.select(wide, zero, x));
    (above, below)
}

/// The inverse tangent.
#[inline(always)]
pub(crate) fn atan<M: Machine>(m: M, x: M::Real) -> M::Real {
    let flat = m.real(FLAT);
    let t = m.abs(x);
    let t = m.select(m.less(flat, t), flat, t);
    let one = m.real(1.0);
    let (wide, narrow) = (m.less(m.real(WIDE), t), m.at_most(t, m.real(NARROW)));
    let (above, below) = turned(m, (wide, narrow), one, t);
    let base = choose(m, (wide, narrow), [HALF_PI[0], HALF_PI[1]], [0.0, 0.0], QUARTER_PI);
    m.copysign(angle(m, base, None, above, below), x)
}

/// Coordinates, not negative, of a point in the same direction, such that nothing overflows and little is lost to
/// subnormal numbers.
#[inline(always)]
fn direction<M: Machine>(m: M, x: M::Real, y: M::Real) -> (M::Real, M::Real) {
    let (zero, one) = (m.real(0.0), m.real(1.0));
    let infinity = m.real(f64::INFINITY);
    let larger = m.select(m.less(x, y), y, x);
    let shrink = m.less(m.real(SHRINK_ABOVE), larger);
    let grow = m.less(larger, m.real(GROW_BELOW));
    let factor = m.select(shrink, m.real(SHRINK), m.select(grow, m.real(GROW), one));
    let infinite = m.equal(larger, infinity);
    let at = |side: M::Real| m.select(infinite, m.select(m.equal(side, infinity), one, zero), side * factor);
    // The origin counts as on the axis.
    (m.select(m.equal(larger, zero), one, at(x)), at(y))
}

/// The angle of the point `(x, y)`.
#[inline(always)]
pub(crate) fn atan2<M: Machine>(m: M, y: M::Real, x: M::Real) -> M::Real {
    let (a, b) = direction(m, m.abs(x), m.abs(y));
    let wide = m.less(a * m.real(WIDE), b);
    let narrow = m.at_most(b, a * m.real(NARROW));
    let (above, below) = turned(m, (wide, narrow), a, b);
    let half = [HALF_PI[0], HALF_PI[1]];
    let right = choose(m, (wide, narrow), half, [0.0, 0.0], QUARTER_PI);
    let left = choose(m, (wide, narrow), half, PI, THREE_QUARTER_PI);
    let behind = m.nonzero(m.shift_right(m.bits(x), 63));
    let base =
        Twofold { high: m.select(behind, left.high, right.high), low: m.select(behind, left.low, right.low) };
    let value = m.copysign(angle(m, base, Some(behind), above, below), y);
    m.select(m.both(m.equal(x, x), m.equal(y, y)), value, x + y)
}

/// What `asin` and `acos` share: whether `|x| > 1/2`, and `asin r = r + rest` with `r = |x|`, or else the root above.
struct Arc<M: Machine> {
    outer: M::Mask,
    r: M::Real,
    rest: M::Real,
}

#[inline(always)]
fn arc<M: Machine>(m: M, x: M::Real) -> Arc<M> {
    let magnitude = m.abs(x);
    let (zero, half) = (m.real(0.0), m.real(0.5));
    let outer = m.less(half, magnitude);
    let distance = (m.real(1.0) - magnitude) * half;
    let side = root(m, Twofold { high: distance, low: zero });
    let z = m.select(outer, distance, x * x);
    let r = m.select(outer, side.high, magnitude);
    let low = m.select(outer, side.low, zero);
    Arc { outer, r, rest: m.fma(r * z, polynomial(m, z, &ASIN), low) }
}

/// The inverse sine.
#[inline(always)]
pub(crate) fn asin<M: Machine>(m: M, x: M::Real) -> M::Real {
    let Arc { outer, r, rest } = arc(m, x);
    let total = sum_ordered::<M>(m.real(HALF_PI[0]), -(r + r));
    let far = total.high + (total.low - ((rest + rest) - m.real(HALF_PI[1])));
    m.copysign(m.select(outer, far, r + rest), x)
}

/// The inverse cosine.
#[inline(always)]
pub(crate) fn acos<M: Machine>(m: M, x: M::Real) -> M::Real {
    let Arc { outer, r, rest } = arc(m, x);
    let zero = m.real(0.0);
    let negative = m.less(x, zero);
    let right = m.both(outer, m.not(negative));
    let base = choose(m, (right, outer), [0.0, 0.0], PI, [HALF_PI[0], HALF_PI[1]]);
    // 0 + 2 asin r; π - 2 asin r; π/2 - asin x
    let factor = m.select(outer, m.real(2.0), m.real(-1.0));
    let factor = m.select(negative, -factor, factor);
    let total = sum_ordered::<M>(base.high, factor * r);
    total.high + (total.low + m.fma(factor, rest, base.low))
}
