//! What was computed before, and parts and places of which it is known that they are there.

use super::{after, check, stays};
use expect_test::expect;

#[test]
fn a_call_and_a_loop_are_done_once() {
    check(
        "cse",
        "func g(xs: []Real) -> ([]Real, Real) { x = xs[0] return xs, x }
        func f(xs: []Real) -> Real {
            n = length(xs)
            ys, a = g(xs)
            s = for i < n, s = 0.0, y in ys { k = n - i l = k - 1 z = xs[l] p = z * y t = s + p yield t }
            zs, b = g(xs)
            m = length(xs)
            r = for j < m, r = 0.0, z in zs { k = n - j l = k - 1 y = xs[l] p = y * z t = r + p yield t }
            c = a + b
            d = s + r
            e = c * d
            return e
        }
        entry f = f",
        &expect![[r#"
            func g(xs: []Real) -> ([]Real, Real) {
              x = xs[0]
              return xs, x
            }

            func f(xs: []Real) -> Real {
              n = length(xs)
              ys, a = g(xs)
              s = for i < n, s2 = 0.0, y in ys {
                k = n - i
                l = k - 1
                z = xs[l]
                p = z * y
                t = s2 + p
                yield t
              }
              c = a + a
              d = s + s
              e = c * d
              return e
            }

            entry f = f
        "#]],
    );
}

/// Calls that run again on the way back, loops that do something else or begin elsewhere, and what a branch may not have done.
#[test]
fn what_is_not_the_same_is_done() {
    let sum = "a = for i < n, s = 0.0, x in xs { t = s + x yield t }";
    for (first, second) in [
        ("a = checkpoint g(xs)", "b = checkpoint g(xs)"),
        ("a = g(xs)", "b = g(ys)"),
        (sum, "b = for i < n, s = 1.0, x in xs { t = s + x yield t }"),
        (sum, "b = for i < n, s = 0.0, x in xs { t = s - x yield t }"),
        (sum, "b = for i < n, s = 0.0, x in xs { t = s + y yield t }"),
        (sum, "b = for backward i < n, s = 0.0, x in xs { t = s + x yield t }"),
        ("a = if c { a = g(xs) yield a } else { yield 1.0 }", "b = g(xs)"),
    ] {
        let text = format!(
            "func g(xs: []Real) -> Real {{ x = xs[0] y = exp(x) return y }}
            func f(xs: []Real, ys: []Real, y: Real, c: Bool) -> (Real, Real) {{
                n = length(xs) {first} {second} return a, b
            }}
            entry f = f"
        );
        stays("cse", &text);
    }
}

/// What is left of a function that only asks whether something is there.
fn left(params: &str, body: &str) -> bool {
    let text = format!("func f({params}) -> Int {{ {body} return n }} entry f = f");
    let made = after("dce", &text);
    ["slice(", "gather(", "matvec("].iter().any(|op| made.contains(op))
}

#[test]
fn parts_that_are_there_are_not_asked_for() {
    let xs = "xs: []Real, k: Int";
    for there in [
        "n = length(xs) each i < n { a = slice(xs, 0, i) b = slice(xs, i, n) }",
        "n = length(xs) each i < n { j = i + 1 a = slice(xs, j, n) b = slice(xs, 0, j) }",
        "n = length(xs) m = n - 2 require m >= 0, count build each i < m { j = i + 3 k = i + 1 a = slice(xs, k, j) }",
    ] {
        assert!(!left(xs, there), "{there}");
    }
    for perhaps in [
        "n = length(xs) a = slice(xs, 0, k)",
        "n = length(xs) each i < n { a = slice(xs, k, n) }",
        "n = length(xs) each i < n { j = i + 2 a = slice(xs, j, n) }",
        "n = length(xs) each i < n { j = n + i a = slice(xs, 0, j) }",
        "n = length(xs) each i < n { j = i + 1 a = slice(xs, j, i) }",
        "n = length(xs) each i < n { j = i - 1 a = slice(xs, j, n) }",
    ] {
        assert!(left(xs, perhaps), "{perhaps}");
    }
}

#[test]
fn what_was_chosen_before_is_there() {
    let arrays = "xs: []Real, ys: []Real, places: []Int, c: Bool";
    let count = |body: &str| {
        let text = format!("func f({arrays}) -> Int {{ {body} return n }} entry f = f");
        after("dce", &text).matches("gather(").count()
    };
    assert_eq!(count("n = length(xs) a = gather(xs, places) b = gather(xs, places)"), 1);
    assert_eq!(
        count("n = length(xs) zs = each i < n { yield 1.0 } a = gather(xs, places) b = gather(zs, places)"),
        1
    );
    // Of another array, and on one side only.
    assert_eq!(count("n = length(xs) a = gather(xs, places) b = gather(ys, places)"), 2);
    assert_eq!(count("n = length(xs) if c { a = gather(xs, places) } else { } b = gather(xs, places)"), 2);
}

#[test]
fn a_matrix_that_fits_is_not_multiplied_for_nothing() {
    let arrays = "a: [][]Real, x: []Real";
    assert!(left(arrays, "n = length(x) y = matvec(a, x)"));
    assert!(!left(
        arrays,
        "n = length(x) m = length(a) row = zeros(x) b = each i < m { yield row } y = matvec(b, x)"
    ));
}

#[test]
fn sums_and_products_of_what_a_loop_has_made_are_loops() {
    check(
        "rows",
        "func f(xs: []Real, ys: []Real, zs: []Real) -> (Real, Real, []Real) {
            n = length(xs)
            m = length(ys)
            as = each i < n, x in xs { a = exp(x) yield a }
            s = dot(as, as)
            bs = each i < n, x in xs { b = sin(x) yield b }
            require m == n, same_size dot
            t = dot(ys, bs)
            cs = each i < n, x in xs { c = cos(x) yield c }
            ds = ys + cs
            return s, t, ds
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, ys: []Real, zs: []Real) -> (Real, Real, []Real) {
              n = length(xs)
              m = length(ys)
              as = each i < n, x in xs {
                a = exp(x)
                yield a
              }
              s = for i2 < n, s2 = 0.0, x2 in as {
                t = x2 * x2
                s3 = s2 + t
                yield s3
              }
              bs = each i3 < n, x3 in xs {
                b = sin(x3)
                yield b
              }
              require m == n, same_size dot
              t2 = for i4 < m, t3 = 0.0, x4 in ys, y in bs {
                t4 = x4 * y
                t5 = t3 + t4
                yield t5
              }
              cs = each i5 < n, x5 in xs {
                c = cos(x5)
                yield c
              }
              ds = each i6 < m, ds2 in ys, ds3 in cs {
                ds4 = ds2 + ds3
                yield ds4
              }
              return s, t2, ds
            }

            entry f = f
        "#]],
    );
    // One is used elsewhere too, nothing has made it, or the sizes need not be equal.
    for body in [
        "bs = each i < n, x in xs { b = sin(x) yield b } s = dot(xs, bs) b = bs[0] t = s + b",
        "t = dot(xs, xs)",
        "bs = each i < n, x in xs { b = sin(x) yield b } t = dot(ys, bs)",
    ] {
        let text = format!(
            "func f(xs: []Real, ys: []Real) -> Real {{ n = length(xs) {body} return t }} entry f = f"
        );
        assert!(after("rows", &text).contains("dot("), "{body}");
    }
}

#[test]
fn an_element_of_what_is_the_same_everywhere_is_that() {
    check(
        "simplify",
        "func f(x: Real) -> (Real, Real) { xs = replicate(2, x) a = xs[1] b = xs[2] return a, b } entry f = f",
        &expect![[r#"
            func f(x: Real) -> (Real, Real) {
              xs = replicate(2, x)
              b = xs[2]
              return x, b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_two_comparisons_of_reals_say_is_a_choice() {
    check(
        "branches",
        "func f(x: Real, y: Real) -> Bool { c = x > 0.0 d = if c { e = x < y yield e } else { yield false } return d } entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> Bool {
              c = x > 0.0
              e = x < y
              d = select(c, e, false)
              return d
            }

            entry f = f
        "#]],
    );
}
