//! What is divided by roots and by what has a reciprocal.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn a_number_divided_by_its_root_is_the_root() {
    // In one block, and where one loop goes through what another one has made.
    let text = r"
        func f(xs: []Real, y_bar: Real) -> (Real, []Real) {
            n = length(xs)
            s, rs, ss = for i < n, a = 0.0, x in xs {
                s = x + 1.0
                r = sqrt(s)
                b = r * s
                c = a + b
                yield c, r, s
            }
            root = sqrt(s)
            p = mul_zero(y_bar, s)
            z = div_zero(p, root)
            bars = each j < n, r2 in rs, s2 in ss {
                p2 = mul_zero(z, s2)
                t = r2 + r2
                d = 0.0 + t
                x_bar = div_zero(p2, d)
                yield x_bar
            }
            return z, bars
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
            func f(xs: []Real, y_bar: Real) -> (Real, []Real) {
              n = length(xs)
              s, rs = for i < n, a = 0.0, x in xs {
                s2 = x + 1.0
                r = sqrt(s2)
                b = r * s2
                c = a + b
                yield c, r
              }
              root = sqrt(s)
              z = mul_zero(y_bar, root)
              bars = each j < n, r2 in rs {
                t = mul_zero(z, r2)
                x_bar = t * 0.5
                yield x_bar
              }
              return z, bars
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_has_a_reciprocal_is_multiplied_with_it() {
    let text = r"
        func f(x: Real, y_bar: Real) -> (Real, Real, Real) {
            r = 1.0 / x
            a = div_zero(y_bar, x)
            d = x + x
            b = div_zero(a, d)
            return r, a, b
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
            func f(x: Real, y_bar: Real) -> (Real, Real, Real) {
              r = 1.0 / x
              a = mul_zero(y_bar, r)
              t = mul_zero(a, r)
              b = t * 0.5
              return r, a, b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_quotients_are_as_they_were() {
    // The root of something else; a reciprocal that is not always there; a quotient of the function's own.
    let text = r"
        func f(x: Real, y: Real, y_bar: Real, c: Bool) -> (Real, Real, Real) {
            r = sqrt(x)
            p = mul_zero(y_bar, y)
            z = div_zero(p, r)
            q = if c { u = 1.0 / y v = u + y yield v } else { yield y }
            w = div_zero(q, y)
            o = x / r
            return z, w, o
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    let before = wengert_ir::print(&program);
    crate::relax(&mut program, &crate::Options::default());
    assert_eq!(wengert_ir::print(&program), before);
}
