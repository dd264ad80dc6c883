//! Two constants of which one is made.

use super::binary;
use wengert_base::real;
use wengert_ir::Atom;
use wengert_ir::op::Op;
use wengert_prim::RealOp;

/// Whether a number is a power of two, so that nothing is rounded that is multiplied with it.
pub(super) fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x.to_bits() & ((1 << 52) - 1) == 0
}

/// Constants in one, if that is exact whatever they are multiplied with.
pub(super) fn together(a: f64, b: f64, product: f64) -> Option<Atom> {
    let exact = (is_power_of_two(a) || is_power_of_two(b)) && a.is_normal() && b.is_normal();
    (exact && product.is_normal()).then_some(Atom::Real(product))
}

/// The product of two constants, if it is exact: what is multiplied with it is rounded once then, and not twice.
pub(super) fn product(a: f64, b: f64) -> Option<Atom> {
    let product = a * b;
    let exact = a.mul_add(b, -product) == 0.0 && a.is_normal() && b.is_normal();
    (exact && product.is_normal()).then_some(Atom::Real(product))
}

/// Constants in one, `of` them, if one of them is rounded already, or it takes no more digits to write it.
fn as_long(a: f64, b: f64, of: f64) -> Option<Atom> {
    let short = digits(of) <= digits(a).max(digits(b));
    let fits = a.is_normal() && b.is_normal() && of.is_normal();
    (fits && (short || is_rounded(a) || is_rounded(b))).then_some(Atom::Real(of))
}

fn digits(x: f64) -> usize {
    real::show(x).trim_start_matches('-').len()
}

/// Whether a number is rounded already, as it seems: so many digits has nobody written.
fn is_rounded(x: f64) -> bool {
    digits(x) > 14
}

/// `x * a * b` with one constant, if nothing is lost.
pub(super) fn in_one(a: f64, b: f64) -> Option<Atom> {
    together(a, b, a * b).or_else(|| product(a, b)).or_else(|| as_long(a, b, a * b))
}

/// `y / k * c`, if the constants make one that is exact, or rounded as they are.
pub(super) fn scaled(y: &Atom, c: f64, k: f64) -> Option<Op> {
    let factor = c / k;
    let exact = c.is_normal() && k.is_normal() && (c % k == 0.0 || (k % c == 0.0 && is_power_of_two(factor)));
    // Whole numbers may be divided without being rounded.
    let rounded = (is_rounded(c) || is_rounded(k)) && as_long(c, k, factor).is_some();
    if !(exact || rounded) || !factor.is_normal() {
        None
    } else if factor == 1.0 {
        Some(Op::Copy(y.clone()))
    } else if factor == -1.0 {
        Some(Op::Real(RealOp::Neg, vec![y.clone()]))
    } else {
        binary(RealOp::Mul, y, &Atom::Real(factor))
    }
}
