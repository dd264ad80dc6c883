//! Choices between numbers.

use super::doubles::check;
use expect_test::expect;

#[test]
fn slopes_of_extremes_are_choices_and_nan_where_an_argument_is() {
    // That of `relu`.
    check(
        "t = relu(x) c = 0.0 < x
         a = if c { yield 1.0 } else { d = x <= 0.0 e = select(d, 0.0, t) yield e } return a",
        &expect![[r#"
            c = 0.0 < x
            d = x <= 0.0
            e = select(d, 0.0, NaN)
            a = select(c, 1.0, e)
            return a
        "#]],
    );
    // Those of `max`.
    check(
        "t = max(x, y) c = y <= x
         a, b = if c { yield 1.0, 0.0 } else {
             d = x < y e = select(d, 0.0, t) g = select(d, 1.0, t) yield e, g
         }
         k = mul_zero(z, a) l = mul_zero(z, b) m = k + l return m",
        &expect![[r#"
            c = y <= x
            d = x < y
            e = select(d, 0.0, NaN)
            g = select(d, 1.0, NaN)
            a = select(c, 1.0, e)
            b = select(c, 0.0, g)
            k = mul_zero(z, a)
            l = mul_zero(z, b)
            m = k + l
            return m
        "#]],
    );
    // The other argument is a constant.
    check(
        "t = min(x, 2.0) c = x <= 2.0
         a = if c { yield 1.0 } else { d = 2.0 < x e = select(d, 0.0, t) yield e } return a",
        &expect![[r#"
            c = x <= 2.0
            d = 2.0 < x
            e = select(d, 0.0, NaN)
            a = select(c, 1.0, e)
            return a
        "#]],
    );
}

#[test]
fn what_may_be_a_number_is_computed() {
    // Neither is less than the other, but they may be equal.
    check(
        "t = max(x, y) c = y < x
         a = if c { yield 1.0 } else { d = x < y e = select(d, 0.0, t) yield e } return a",
        &expect![[r#"
            t = max(x, y)
            c = y < x
            d = x < y
            e = select(d, 0.0, t)
            a = select(c, 1.0, e)
            return a
        "#]],
    );
    // `z` is not compared.
    check(
        "t = max(x, z) c = y <= x
         a = if c { yield 1.0 } else { d = x < y e = select(d, 0.0, t) yield e } return a",
        &expect![[r#"
            t = max(x, z)
            c = y <= x
            d = x < y
            e = select(d, 0.0, t)
            a = select(c, 1.0, e)
            return a
        "#]],
    );
    // What is NaN may be `y`.
    check(
        "t = relu(x) c = y <= x
         a = if c { yield 1.0 } else { d = x < y e = select(d, 0.0, t) yield e } return a",
        &expect![[r#"
            t = relu(x)
            c = y <= x
            d = x < y
            e = select(d, 0.0, t)
            a = select(c, 1.0, e)
            return a
        "#]],
    );
    // The second comparison is made where the first holds.
    check(
        "t = max(x, y) c = y <= x
         a = if c { d = x < y e = select(d, 0.0, t) yield e } else { yield 1.0 } return a",
        &expect![[r#"
            t = max(x, y)
            c = y <= x
            d = x < y
            e = select(d, 0.0, t)
            a = select(c, e, 1.0)
            return a
        "#]],
    );
}

#[test]
fn what_costs_something_stays_in_its_branch() {
    check(
        "c = x < y a = if c { yield z } else { d = exp(z) yield d } return a",
        &expect![[r#"
        c = x < y
        a = if c {
        yield z
        } else {
        d = exp(z)
        yield d
        }
        return a
    "#]],
    );
}

#[test]
fn what_a_choice_leaves_of_a_number_is_a_choice() {
    check(
        "t = min(x, y) c = x <= y
         s = if c { yield 1.0 } else { d = y < x e = select(d, 0.0, t) yield e }
         r = 1.0 - s  k = mul_zero(z, r) return k",
        &expect![[r#"
            c = x <= y
            d = y < x
            e = select(d, 1.0, NaN)
            s = select(c, 0.0, e)
            k = mul_zero(z, s)
            return k
        "#]],
    );
    // Of the other side nothing is known.
    check(
        "c = x <= y s = select(c, 1.0, x) r = 1.0 - s return r",
        &expect![[r#"
        c = x <= y
        s = select(c, 1.0, x)
        r = 1.0 - s
        return r
    "#]],
    );
}
