//! Derivatives of numbers that are computed without looking for zeros first.

use super::{real, text_of, with_options};
use crate::Math;
use wengert_ir::eval::Value;

/// The tangents of roots, and numbers that do not depend on any tangent, from one step to the next.
const ROOTS: &str = r"
    func f(n: Int, p0: Real, q0: Real, t0: Real, u0: Real) -> (Real, Real, Real, Real) {
        p1, q1, t1, u1, n1 = while p = p0, q = q0, t = t0, u = u0, k = n { go = k > 0 yield go } do a, b, v, w, j {
            x = a * a
            r = sqrt(x)
            d = r + r
            v1 = div_zero(v, d)
            w1 = div_zero(w, d)
            v2 = mul_zero(v1, b)
            w2 = mul_zero(w1, b)
            v3 = mul_zero(v2, x)
            w3 = mul_zero(w2, x)
            v4 = mul_zero(v3, b)
            w4 = mul_zero(w3, b)
            a1 = a + 0.5
            s = a * b
            o = -s
            b1 = x + o
            i = j - 1
            yield a1, b1, v4, w4, i
        }
        return p1, q1, t1, u1
    }
    entry f = f";

#[test]
fn only_what_depends_on_tangents_is_looked_at_and_the_careful_text_has_numbers_of_its_own() {
    let made = text_of(ROOTS, Math::Library);
    let check = made.lines().find(|line| line.contains(" != 0.0)) {")).unwrap_or_default();
    // Two tangents, and neither of the two other numbers.
    assert_eq!(check.matches(" + ").count(), 1, "{check}");
    assert_eq!(made.matches(" = wg_again(").count(), 4, "{made}");
    assert_eq!(text_of(ROOTS, Math::Host).matches(" = wg_again(").count(), 0);
}

#[test]
fn the_reciprocal_of_a_root_serves_for_twice_the_root_too() {
    let made = text_of(ROOTS, Math::Library);
    assert!(made.contains("= 0.5 * wg_"), "{made}");
    assert!(!text_of(ROOTS, Math::Host).contains("0.5 * "), "{made}");
}

#[test]
fn a_product_that_is_taken_away_is_rounded_with_the_sum() {
    let made = text_of(ROOTS, Math::Library);
    assert!(made.contains("wg_fma(-p, q, "), "{made}");
    assert!(!text_of(ROOTS, Math::Host).contains("wg_fma(-p"), "{made}");
}

#[test]
fn tangents_of_roots_are_those_of_strict_mode() {
    let Some((mut fast, entry)) = with_options(ROOTS, Math::Library, &["-O3"]) else { return };
    let Some((mut strict, _)) = with_options(ROOTS, Math::Host, &[]) else { return };
    let numbers = [0.0, -0.0, 1.0, -0.5, f64::INFINITY, f64::NAN, 1e150, 1e-150];
    for p in numbers {
        for (t, u) in numbers.into_iter().flat_map(|t| numbers.map(|u| (t, u))) {
            let args = [Value::Int(3), real(p), real(0.75), real(t), real(u)];
            let (a, b) =
                (fast.call(entry, &args).expect("it runs"), strict.call(entry, &args).expect("it runs"));
            for (a, b) in a.iter().zip(&b) {
                let (Value::Real(a), Value::Real(b)) = (a, b) else { continue };
                let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-13 * b.abs();
                assert!(same, "{p} {t} {u}: {a} {b}");
            }
        }
    }
}
