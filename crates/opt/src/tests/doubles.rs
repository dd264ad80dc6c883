//! Factors of two, and signs.

use super::slopes::check_relaxed;
use expect_test::{Expect, expect};
use std::fmt::Write;

/// The body of a function of three numbers, relaxed.
pub(super) fn check(body: &str, expected: &Expect) {
    let mut program =
        wengert_ir::parse(&format!("func f(x: Real, y: Real, z: Real) -> Real {{ {body} }} entry f = f"))
            .expect("the text is a program");
    crate::relax(&mut program, &crate::Options::default());
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    let text = wengert_ir::print(&program);
    let lines = text.lines().skip(1).take_while(|line| *line != "}");
    let mut shown = String::new();
    lines.for_each(|line| writeln!(shown, "{}", line.trim_start()).expect("a string takes text"));
    expected.assert_eq(&shown);
}

#[test]
fn what_is_divided_and_multiplied_by_constants_is_scaled_once() {
    check(
        "a = x / 3.0 b = a * 6.0 return b",
        &expect![[r#"
            b = x * 2.0
            return b
        "#]],
    );
    check(
        "a = x / 3.0 b = a * 3.0 c = a + b return c",
        &expect![[r#"
            a = x / 3.0
            t = a * 4.0
            return t
        "#]],
    );
    check(
        "a = x / -2.0 b = a * 2.0 c = y * b d = a * c return d",
        &expect![[r#"
            a = x / -2.0
            b = -x
            c = y * b
            d = a * c
            return d
        "#]],
    );
    check(
        "a = x / 8.0 b = a * 2.0 return b",
        &expect![[r#"
            b = x * 0.25
            return b
        "#]],
    );
    // What is rounded already is rounded again.
    check(
        "a = x * 0.5641895835477563 b = a / 1.4142135623730951 return b",
        &expect![[r#"
            b = x * 0.39894228040143265
            return b
        "#]],
    );
    check(
        "a = x * 3.0 b = a * 0.16666666666666666 return b",
        &expect![[r#"
        b = x * 0.5
        return b
    "#]],
    );
    check(
        "a = x * 12.0 b = a / 3.0 return b",
        &expect![[r#"
        b = x * 4.0
        return b
    "#]],
    );
    // A factor that is not exact.
    check(
        "a = x / 3.0 b = a * 7.0 c = x / 6.0 d = c * 3.0 e = b + d return e",
        &expect![[r#"
            a = x / 3.0
            b = a * 7.0
            d = x * 0.5
            e = b + d
            return e
        "#]],
    );
}

#[test]
fn twos_go_into_constants() {
    check(
        "a = x + x b = a / 2.0 return b",
        &expect![[r#"
        return x
    "#]],
    );
    check(
        "a = x + x b = a * 100.0 c = b / 3.0 return c",
        &expect![[r#"
        b = x * 200.0
        c = b / 3.0
        return c
    "#]],
    );
    check(
        "a = x + x b = mul_zero(a, -3.0) return b",
        &expect![[r#"
        b = x * -6.0
        return b
    "#]],
    );
    check(
        "a = x * 4.0 b = a / 6.0 return b",
        &expect![[r#"
        b = x / 1.5
        return b
    "#]],
    );
    check(
        "a = 3.0 / x b = a * 0.5 return b",
        &expect![[r#"
        b = 1.5 / x
        return b
    "#]],
    );
    check(
        "a = x / 6.0 b = a + a return b",
        &expect![[r#"
        b = x / 3.0
        return b
    "#]],
    );
    // Of a root: the two is nowhere left.
    check(
        "a = x + x b = 1.0 / a c = mul_zero(b, y) d = c + c e = mul_zero(b, z) g = e + e h = d * g return h",
        &expect![[r#"
            b = 1.0 / x
            d = mul_zero(b, y)
            g = mul_zero(b, z)
            h = d * g
            return h
        "#]],
    );
    // Through a chain of products.
    check(
        "a = x * 3.0 b = mul_zero(a, y) c = mul_zero(z, b) d = c + c return d",
        &expect![[r#"
        a = x * 6.0
        b = mul_zero(a, y)
        d = mul_zero(z, b)
        return d
    "#]],
    );
}

#[test]
fn constants_of_both_factors_are_one() {
    check(
        "a = x * 3.0 b = y / 2.0 c = mul_zero(a, b) return c",
        &expect![[r#"
        t = mul_zero(x, y)
        c = t * 1.5
        return c
    "#]],
    );
    check(
        "a = x * 0.5 b = y + y c = a * b return c",
        &expect![[r#"
        c = x * y
        return c
    "#]],
    );
    check(
        "a = 3.0 / x b = -1.0 / x c = a * b return c",
        &expect![[r#"
        t = x * x
        c = -3.0 / t
        return c
    "#]],
    );
    check(
        "a = 1.0 / x b = a * a c = -b return c",
        &expect![[r#"
        t = x * x
        c = -1.0 / t
        return c
    "#]],
    );
    // One of them is needed as it is, or the product would be rounded.
    check(
        "a = 1.0 / x b = a * a c = a + b return c",
        &expect![[r#"
        a = 1.0 / x
        b = a * a
        c = a + b
        return c
    "#]],
    );
    check(
        "a = x * 3.0 b = y * 5.0 c = a * b d = b + c return d",
        &expect![[r#"
        a = x * 3.0
        b = y * 5.0
        c = a * b
        d = b + c
        return d
    "#]],
    );
    check(
        "a = x * 0.1 b = y * 0.3 c = a * b return c",
        &expect![[r#"
        a = x * 0.1
        b = y * 0.3
        c = a * b
        return c
    "#]],
    );
}

#[test]
fn what_would_be_rounded_otherwise_or_cost_more_stays() {
    // The product of the constants is rounded.
    check(
        "a = x * 0.1 b = a * 0.3 return b",
        &expect![[r#"
            a = x * 0.1
            b = a * 0.3
            return b
        "#]],
    );
    check(
        "a = x * 3.0 b = a / 5.0 return b",
        &expect![[r#"
        a = x * 3.0
        b = a / 5.0
        return b
    "#]],
    );
    // The quotient is needed as it is: twice it is not another one.
    check(
        "a = 3.0 / x b = a + a c = a * y d = b + c return d",
        &expect![[r#"
        a = 3.0 / x
        b = a + a
        c = a * y
        d = b + c
        return d
    "#]],
    );
    check(
        "a = 3.0 / x b = a * y c = b + b d = a * c return d",
        &expect![[r#"
        a = 3.0 / x
        b = a * y
        c = b + b
        d = a * c
        return d
    "#]],
    );
    // The product is needed as it is.
    check(
        "a = x * 3.0 b = a * y c = b + b d = b * c return d",
        &expect![[r#"
        a = x * 3.0
        b = a * y
        c = b + b
        d = b * c
        return d
    "#]],
    );
    // Constants at the ends of what there is.
    check(
        "a = x + x b = a * 1e308 return b",
        &expect![[r#"
        a = x + x
        b = a * 1e308
        return b
    "#]],
    );
    check(
        "a = x + x b = 2.3e-308 / a return b",
        &expect![[r#"
        a = x + x
        b = 2.3e-308 / a
        return b
    "#]],
    );
}

#[test]
fn signs_go_into_differences_and_constants() {
    check(
        "a = 0.0 - x b = a * y return b",
        &expect![[r#"
        a = -x
        b = a * y
        return b
    "#]],
    );
    check(
        "a = -x b = a + y return b",
        &expect![[r#"
            b = y - x
            return b
        "#]],
    );
    check(
        "a = -x b = y - a return b",
        &expect![[r#"
            b = y + x
            return b
        "#]],
    );
    check(
        "a = -x b = mul_zero(a, y) c = -b return c",
        &expect![[r#"
        c = mul_zero(x, y)
        return c
    "#]],
    );
    check(
        "a = x - y b = -a return b",
        &expect![[r#"
            b = y - x
            return b
        "#]],
    );
    check(
        "a = x * 3.0 b = -a return b",
        &expect![[r#"
        b = x * -3.0
        return b
    "#]],
    );
    check(
        "a = -x b = -y c = div_zero(a, b) return c",
        &expect![[r#"
        c = div_zero(x, y)
        return c
    "#]],
    );
    check(
        "a = -x b = mul_zero(y, a) c = mul_zero(b, z) d = c + z return d",
        &expect![[r#"
            b = mul_zero(y, x)
            c = mul_zero(b, z)
            d = z - c
            return d
        "#]],
    );
    check(
        "a = x - y b = a + a c = -b return c",
        &expect![[r#"
        a = y - x
        c = a + a
        return c
    "#]],
    );
    check(
        "a = mul_zero(x, -3.0) b = y + a return b",
        &expect![[r#"
        a = x * -3.0
        b = y + a
        return b
    "#]],
    );
    check(
        "a = -x b = a + a c = -b return c",
        &expect![[r#"
        c = x + x
        return c
    "#]],
    );
    // A sign that all uses take back.
    check(
        "a = -x b = div_zero(a, y) c = mul_zero(b, z) d = -c e = -b g = d * e return g",
        &expect![[r#"
        b = div_zero(x, y)
        d = mul_zero(b, z)
        g = d * b
        return g
    "#]],
    );
    // What is needed as it is keeps its sign.
    check(
        "a = x - y b = -a c = a * b return c",
        &expect![[r#"
        a = x - y
        b = -a
        c = a * b
        return c
    "#]],
    );
    check(
        "a = -x b = mul_zero(a, y) c = -b d = b * c return d",
        &expect![[r#"
        a = -x
        b = mul_zero(a, y)
        c = -b
        d = b * c
        return d
    "#]],
    );
}

#[test]
fn what_a_loop_adds_up_stays_a_sum() {
    check_relaxed(
        "func f(xs: []Real) -> Real {
            n = length(xs)
            s = for i < n, t = 0.0, x in xs { a = t + x b = -x c = mul_zero(b, x) d = a + c yield d }
            return s
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> Real {
              n = length(xs)
              s = for i < n, t = 0.0, x in xs {
                c = x * x
                sum = x - c
                d = t + sum
                yield d
              }
              return s
            }

            entry f = f
        "#]],
    );
}

#[test]
fn constants_are_one_if_their_product_is_exact() {
    check_relaxed(
        "func f(x: Real, y: Real) -> (Real, Real) {
            a = x * 1.5 b = a * 6.0 c = 0.1 * y d = c * 0.3
            return b, d
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> (Real, Real) {
              b = x * 9.0
              c = 0.1 * y
              d = c * 0.3
              return b, d
            }

            entry f = f
        "#]],
    );
}
