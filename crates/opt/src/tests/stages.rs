//! Loops that compute functions in loops of their own.

use super::{check, stays};
use expect_test::expect;

#[test]
fn functions_of_what_loops_give_are_computed_after_them() {
    let text = r"
        func f(ws: [][]Real, bs: []Real, x: []Real) -> []Real {
            n = length(ws)
            ys = each i < n, w in ws, b in bs {
                t = dot(w, x)
                u = t + b
                y = tanh(u)
                yield y
            }
            return ys
        }
        entry f = f";
    check(
        "stages",
        text,
        &expect![[r#"
        func f(ws: [][]Real, bs: []Real, x: []Real) -> []Real {
          n = length(ws)
          t = each i < n, w in ws {
            t2 = dot(w, x)
            yield t2
          }
          ys = each i2 < n, b in bs, t3 in t {
            u = t3 + b
            y = tanh(u)
            yield y
          }
          return ys
        }

        entry f = f
    "#]],
    );
}

#[test]
fn steps_do_not_wait_for_functions() {
    // What is computed of an element comes before, what is computed of the states after.
    let text = r"
        func f(xs: []Real, a: Real) -> (Real, Real) {
            n = length(xs)
            v, l = for i < n, v = 1.0, l = 0.0, x in xs {
                e = exp(x)
                s = a * v
                v2 = s + e
                t = log(v2)
                q = x / v2
                u = t + q
                l2 = l + u
                yield v2, l2
            }
            return v, l
        }
        entry f = f";
    check(
        "stages",
        text,
        &expect![[r#"
        func f(xs: []Real, a: Real) -> (Real, Real) {
          n = length(xs)
          e = each i < n, x in xs {
            e2 = exp(x)
            yield e2
          }
          v, v2 = for i2 < n, v3 = 1.0, e3 in e {
            s = a * v3
            v2_2 = s + e3
            yield v2_2, v2_2
          }
          l = for i3 < n, l2 = 0.0, x2 in xs, v2_3 in v2 {
            t = log(v2_3)
            q = x2 / v2_3
            u = t + q
            l2_2 = l2 + u
            yield l2_2
          }
          return v, l
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_may_fail_stands_in_one_loop() {
    let text = r"
        func f(xs: []Real, ks: []Int, ys: []Real) -> (Real, Real) {
            n = length(ks)
            a = for i < n, a = 0.0, k in ks { x = xs[k] y = exp(x) a2 = a + y yield a2 }
            b = for i < n, b = 0.0, k in ks { x = xs[k] y = exp(x) z = ys[k] t = y * z b2 = b + t yield b2 }
            return a, b
        }
        entry f = f";
    check(
        "stages",
        text,
        &expect![[r#"
            func f(xs: []Real, ks: []Int, ys: []Real) -> (Real, Real) {
              n = length(ks)
              x = each i < n, k in ks {
                x2 = xs[k]
                yield x2
              }
              a = for i2 < n, a2 = 0.0, x3 in x {
                y = exp(x3)
                a2_2 = a2 + y
                yield a2_2
              }
              x4, z = each i3 < n, k2 in ks {
                x5 = xs[k2]
                z2 = ys[k2]
                yield x5, z2
              }
              b = for i4 < n, b2 = 0.0, x6 in x4, z3 in z {
                y2 = exp(x6)
                t = y2 * z3
                b2_2 = b2 + t
                yield b2_2
              }
              return a, b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_looked_for_first_fails_first() {
    let text = r"
        func f(xs: []Real, ys: []Real, ks: []Int) -> Real {
            n = length(ks)
            m = length(xs)
            l = length(ys)
            require m == l, same_size map2
            a = for i < n, a = 0.0, k in ks { x = xs[k] z = ys[k] y = exp(z) t = x * y a2 = a + t yield a2 }
            return a
        }
        entry f = f";
    check(
        "stages",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real, ks: []Int) -> Real {
          n = length(ks)
          m = length(xs)
          l = length(ys)
          require m == l, same_size map2
          z, x = each i < n, k in ks {
            x2 = xs[k]
            z2 = ys[k]
            yield z2, x2
          }
          a = for i2 < n, a2 = 0.0, z3 in z, x3 in x {
            y = exp(z3)
            t = x3 * y
            a2_2 = a2 + t
            yield a2_2
          }
          return a
        }

        entry f = f
    "#]],
    );
}

/// A loop that only asks gives nothing, and fails all the same.
#[test]
fn what_asks_in_each_iteration_stays_with_what_relies_on_it() {
    let text = r"
        func f(xs: []Real, n: Int) -> []Real {
            m = length(xs)
            ys = each i < n { require 5 == m, named_size `5` 0 x = xs[1] y = tanh(x) r = real(i) z = y + r yield z }
            return ys
        }
        entry f = f";
    stays("stages", text);
}

#[test]
fn what_needs_all_of_the_memory_or_little_time_stays_together() {
    // No arrays are there, few iterations, a step that needs the function, functions alone.
    let text = r"
        func f(xs: []Real, n: Int) -> (Real, Real, Real, Real) {
            m = length(xs)
            a = for i < n, a = 1.0 { x = real(i) y = exp(x) s = a * 0.5 a2 = s + y yield a2 }
            b = for i < 4, b = 1.0, x in xs { y = exp(x) s = b * 0.5 b2 = s + y yield b2 }
            c = for i < m, c = 1.0, x in xs { y = exp(c) c2 = y + x yield c2 }
            d = for i < m, d = 0.0, x in xs { y = exp(x) d2 = d + y yield d2 }
            return a, b, c, d
        }
        entry f = f";
    check(
        "stages",
        text,
        &expect![[r#"
        func f(xs: []Real, n: Int) -> (Real, Real, Real, Real) {
          m = length(xs)
          a = for i < n, a2 = 1.0 {
            x = real(i)
            y = exp(x)
            s = a2 * 0.5
            a2_2 = s + y
            yield a2_2
          }
          b = for i2 < 4, b2 = 1.0, x2 in xs {
            y2 = exp(x2)
            s2 = b2 * 0.5
            b2_2 = s2 + y2
            yield b2_2
          }
          c = for i3 < m, c2 = 1.0, x3 in xs {
            y3 = exp(c2)
            c2_2 = y3 + x3
            yield c2_2
          }
          d = for i4 < m, d2 = 0.0, x4 in xs {
            y4 = exp(x4)
            d2_2 = d2 + y4
            yield d2_2
          }
          return a, b, c, d
        }

        entry f = f
    "#]],
    );
}

#[test]
fn rows_for_several_loops_are_to_be_near() {
    let text = r"
        func f(xss: [][]Real) -> [][]Real {
            n = length(xss)
            yss = each i < n, xs in xss {
                t = dot(xs, xs)
                y = exp(t)
                k = length(xs)
                ys = each j < k, x in xs { a = y * x yield a }
                yield ys
            }
            return yss
        }
        entry f = f";
    check(
        "stages",
        text,
        &expect![[r#"
            func f(xss: [][]Real) -> [][]Real {
              n = length(xss)
              t = length(xss)
              t2 = length(xss, 1)
              t3 = t * t2
              t4 = t3 <= 32768
              yss = if t4 {
                t5 = each i < n, xs in xss {
                  t6 = dot(xs, xs)
                  yield t6
                }
                y = each i2 < n, t7 in t5 {
                  y2 = exp(t7)
                  yield y2
                }
                yss2 = each i3 < n, xs2 in xss, y3 in y {
                  k = length(xs2)
                  ys = each j < k, x in xs2 {
                    a = y3 * x
                    yield a
                  }
                  yield ys
                }
                yield yss2
              } else {
                yss3 = each i4 < n, xs3 in xss {
                  t8 = dot(xs3, xs3)
                  y4 = exp(t8)
                  k2 = length(xs3)
                  ys2 = each j2 < k2, x2 in xs3 {
                    a2 = y4 * x2
                    yield a2
                  }
                  yield ys2
                }
                yield yss3
              }
              return yss
            }

            entry f = f
        "#]],
    );
}

#[test]
fn in_order_sums_wait_too() {
    let text = r"
        func f(xs: []Real) -> Real {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs { y = exp(x) s2 = s + y yield s2 }
            return s
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    crate::stages::exactly(&mut program);
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    expect![[r#"
        func f(xs: []Real) -> Real {
          n = length(xs)
          y = each i < n, x in xs {
            y2 = exp(x)
            yield y2
          }
          s = for i2 < n, s2 = 0.0, y3 in y {
            s2_2 = s2 + y3
            yield s2_2
          }
          return s
        }

        entry f = f
    "#]]
    .assert_eq(&wengert_ir::print(&program));
}
