//! Terms of a sum that are the same product but for a constant.

use super::doubles::check;
use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn terms_that_are_alike_become_one() {
    check(
        "a = x * y b = y * x c = z + a d = c + b return d",
        &expect![[r#"
            a = x * y
            t = a * 2.0
            d = z + t
            return d
        "#]],
    );
    check(
        "a = mul_zero(x, y) b = 3.0 * a e = mul_zero(y, x) c = z - b d = c - e return d",
        &expect![[r#"
            a = mul_zero(x, y)
            t = a * -4.0
            d = z + t
            return d
        "#]],
    );
    check(
        "a = x * x b = a * x c = x * a d = b + c e = d + b return e",
        &expect![[r#"
            a = x * x
            b = a * x
            t = b * 3.0
            return t
        "#]],
    );
    // However the square of one number is made, no zero meets anything infinite in it.
    check(
        "a = x * x b = mul_zero(y, a) c = mul_zero(y, x) d = mul_zero(c, x) e = b + z f = e + d return f",
        &expect![[r#"
            a = x * x
            b = mul_zero(y, a)
            t = b * 2.0
            f = t + z
            return f
        "#]],
    );
}

#[test]
fn terms_that_are_not_alike_stay() {
    // They may be infinite.
    check(
        "a = x * y b = 2.0 * a c = z + a d = c - b return d",
        &expect![[r#"
        a = x * y
        b = 2.0 * a
        c = z + a
        d = c - b
        return d
    "#]],
    );
    // A zero wins in one of them only.
    check(
        "a = x * y b = mul_zero(y, x) c = z + a d = c + b return d",
        &expect![[r#"
        a = x * y
        b = mul_zero(y, x)
        c = z + a
        d = c + b
        return d
    "#]],
    );
    check(
        "a = x * y b = mul_zero(a, z) c = mul_zero(y, z) d = mul_zero(x, c) e = b + d return e",
        &expect![[r#"
        a = x * y
        b = mul_zero(a, z)
        c = mul_zero(y, z)
        d = mul_zero(x, c)
        e = b + d
        return e
    "#]],
    );
    // Twice a number is that number and itself.
    check(
        "a = x * y b = a + a return b",
        &expect![[r#"
        a = x * y
        b = a + a
        return b
    "#]],
    );
    // A sum that is needed elsewhere too.
    check(
        "a = x * y b = z + a c = b + a d = b * c return d",
        &expect![[r#"
        a = x * y
        b = z + a
        c = b + a
        d = b * c
        return d
    "#]],
    );
}

#[test]
fn constants_are_added_up_beforehand() {
    check(
        "a = x - 1.0 b = y + a c = b + 3.0 return c",
        &expect![[r#"
        t = y + x
        c = t + 2.0
        return c
    "#]],
    );
    check(
        "a = x + 1.0 b = a - y c = b - 1.0 return c",
        &expect![[r#"
        c = x - y
        return c
    "#]],
    );
    check(
        "a = 1.0 - x b = a - 2.0 return b",
        &expect![[r#"
        b = -1.0 - x
        return b
    "#]],
    );
    // Large ones may be there to round; a sum may be needed as it is.
    check(
        "a = x + 6755399441055744.0 b = a - 6755399441055744.0 return b",
        &expect![[r#"
        a = x + 6755399441055744.0
        b = a - 6755399441055744.0
        return b
    "#]],
    );
    check(
        "a = x + 1.0 b = a - 1.0 c = a * b return c",
        &expect![[r#"
        a = x + 1.0
        b = a - 1.0
        c = a * b
        return c
    "#]],
    );
}

#[test]
fn what_is_added_up_from_step_to_step_is_added_to_last() {
    check_relaxed(
        "func f(xs: []Real, ys: []Real) -> Real {
            n = length(xs)
            s = for i < n, t = 0.0, x in xs, y in ys {
                a = x * y b = y * x c = t + a d = c + y e = d + b yield e
            }
            return s
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, ys: []Real) -> Real {
              n = length(xs)
              s = for i < n, t = 0.0, x in xs, y in ys {
                a = x * y
                t2 = a * 2.0
                sum = t2 + y
                e = t + sum
                yield e
              }
              return s
            }

            entry f = f
        "#]],
    );
}

/// The slope of a step of Newton's method for cube roots.
#[test]
fn the_slope_of_a_quotient_of_powers() {
    check(
        "a = x * x b = 3.0 * x c = b * x d = -1.0 / c q = mul_zero(d, y) p = -q r = mul_zero(p, b) s = 1.0 + r
         t = mul_zero(q, x) u = t * 3.0 v = s - u w = mul_zero(d, x) k = mul_zero(d, a) l = v + k m = mul_zero(w, x)
         n = l + m o = n + m return o",
        &expect![[r#"
            a = x * x
            b = 3.0 * x
            c = b * x
            d = -1.0 / c
            q = mul_zero(d, y)
            t = mul_zero(q, x)
            t2 = t * -6.0
            v = 1.0 + t2
            k = mul_zero(d, a)
            t3 = k * 3.0
            o = v + t3
            return o
        "#]],
    );
}
