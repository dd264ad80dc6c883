//! Slopes of loops.

use expect_test::{Expect, expect};

/// The program relaxed.
pub(super) fn check_relaxed(text: &str, expected: &Expect) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    crate::relax(&mut program, &crate::Options::default());
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn what_a_loop_hands_on_is_multiplied_with_the_slope_of_the_step() {
    // The cotangent goes through a quotient and a product in each step; a sum takes its part of it, in both branches.
    let text = r"
        func f(xs: []Real, q: Real) -> (Real, Real) {
            n = length(xs)
            x_bar2, q_bar2 = for backward i < n, x_bar = 1.0, q_bar += 0.0, x in xs {
                c = x > 1.0
                y_bar, q_bar3 = if c {
                    a = -x_bar
                    b = div_zero(a, x)
                    d = mul_zero(b, q)
                    e = x_bar + d
                    g = q_bar + b
                    yield e, g
                } else {
                    h = x_bar * 0.5
                    yield h, q_bar
                }
                yield y_bar, q_bar3
            }
            return x_bar2, q_bar2
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
            func f(xs: []Real, q: Real) -> (Real, Real) {
              n = length(xs)
              x_bar2, q_bar2 = for backward i < n, x_bar = 1.0, q_bar += 0.0, x in xs {
                c = x > 1.0
                y_bar, q_bar3 = if c {
                  b = -1.0 / x
                  d = mul_zero(b, q)
                  e = 1.0 + d
                  yield e, b
                } else {
                  yield 0.5, 0.0
                }
                t = mul_zero(x_bar, y_bar)
                t2 = mul_zero(x_bar, q_bar3)
                t3 = q_bar + t2
                yield t, t3
              }
              return x_bar2, q_bar2
            }

            entry f = f
        "#]],
    );
}

#[test]
fn slopes_are_left_where_they_are_no_gain_or_not_all_of_it() {
    // A short way; what else comes in on the way; a condition on the tangent; no derivative at all.
    for body in [
        "a = mul_zero(t, x) yield a",
        "a = mul_zero(t, x) b = a + 1.0 c = mul_zero(b, x) d = c - b yield d",
        "p = t > 0.0 a = mul_zero(t, x) b = a + t c = b - a s = select(p, b, c) yield s",
        "a = t * x b = a + t c = b * x yield c",
        "a = mul_zero(t, x) b = mul_zero(a, t) c = b + t yield c",
    ] {
        let text = format!(
            "func f(xs: []Real) -> Real {{ n = length(xs) t2 = for i < n, t = 1.0, x in xs {{ {body} }} return t2 }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::relax(&mut program, &crate::Options::default());
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn what_goes_into_data_leaves() {
    let text = r"
        data List { Nil() Cons(Real, List) }
        func f(xs: []Real) -> (Real, List) {
            n = length(xs)
            nil = Nil()
            y, l2 = for i < n, t = 1.0, l = nil, x in xs {
                a = mul_zero(t, x) b = a * 0.5 c = b + t d = Cons(b, l) yield c, d
            }
            return y, l2
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        data List {
          Nil()
          Cons(Real, List)
        }

        func f(xs: []Real) -> (Real, List) {
          n = length(xs)
          nil = Nil()
          y, l2 = for i < n, t = 1.0, l = nil, x in xs {
            b = x * 0.5
            c = b + 1.0
            t2 = mul_zero(t, b)
            d = Cons(t2, l)
            t3 = mul_zero(t, c)
            yield t3, d
          }
          return y, l2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn a_slope_that_is_zero_for_an_infinite_divisor_is_no_strong_zero() {
    check_relaxed(
        r"
        func f(xs: []Real, k: Real) -> Real {
            n = length(xs)
            t = for i < n, s = k, x in xs {
                a = div_zero(s, x)
                b = -a
                c = mul_zero(b, 0.5)
                d = div_zero(c, x)
                yield d
            }
            return t
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, k: Real) -> Real {
              n = length(xs)
              t = for i < n, s = k, x in xs {
                c = -0.5 / x
                d = div_zero(c, x)
                t2 = s * d
                c2 = s == 0.0
                t3 = select(c2, 0.0, t2)
                yield t3
              }
              return t
            }

            entry f = f
        "#]],
    );
}
