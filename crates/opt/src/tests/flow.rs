//! Calls, and where things are computed.

use super::check;
use expect_test::expect;

#[test]
fn inline_copies_small_functions_and_leaves_recursive_ones() {
    let text = r"
        func square(x: Real) -> Real { y = x * x return y }
        func pow(x: Real, n: Int) -> Real {
            done = n == 0
            p = if done { yield 1.0 } else { m = n - 1 r = pow(x, m) p = r * x yield p }
            return p
        }
        func f(x: Real) -> Real { a = square(x) b = square(a) c = pow(b, 3) return c }
        entry f = f";
    check(
        "inline",
        text,
        &expect![[r#"
            func square(x: Real) -> Real {
              y = x * x
              return y
            }

            func pow(x: Real, n: Int) -> Real {
              done = n == 0
              p = if done {
                yield 1.0
              } else {
                m = n - 1
                r = pow(x, m)
                p2 = r * x
                yield p2
              }
              return p
            }

            func f(x: Real) -> Real {
              y = x * x
              a = y
              y2 = a * a
              b = y2
              c = pow(b, 3)
              return c
            }

            entry f = f
        "#]],
    );
}

#[test]
fn hoist_moves_what_cannot_fail() {
    let text = r"
        func f(x: Real, xs: []Real, n: Int) -> []Real {
            ys = each i < n {
                a = exp(x)
                b = xs[0]
                c = real(i)
                d = a * b
                e = d + c
                yield e
            }
            return ys
        }
        entry f = f";
    check(
        "hoist",
        text,
        &expect![[r#"
        func f(x: Real, xs: []Real, n: Int) -> []Real {
          a = exp(x)
          ys = each i < n {
            b = xs[0]
            c = real(i)
            d = a * b
            e = d + c
            yield e
          }
          return ys
        }

        entry f = f
    "#]],
    );
}

#[test]
fn strong_looks_at_the_other_factor_before_a_loop() {
    let text = r"
        func f(xs: []Real, w: Real, y: Real, n: Int) -> (Real, Real, []Real, Real) {
            a = for i < n, a = 0.0, x in xs { b = a + x yield b }
            c = mul_zero(a, w)
            d = for i < n, d = 0.0, x in xs { e = x * y g = d + e yield g }
            z = mul_zero(w, d)
            h = for i < n, h = 0.0, x in xs { k = h - x yield k }
            m = mul_zero(h, w)
            t = m + h
            o = for i < n, o = 0.0, x in xs { p = o - x yield p }
            us = xs with [0] = y
            q = mul_zero(o, w)
            r = for i < n, r = 0.0 { v = us[i] u = r + v yield u }
            s = mul_zero(r, w)
            e2 = c + z
            g2 = q + s
            return e2, t, us, g2
        }
        entry f = f";
    // `h` is used twice, what `o` is made of is changed before its product, and `r` may fail.
    check(
        "strong",
        text,
        &expect![[r#"
            func f(xs: []Real, w: Real, y: Real, n: Int) -> (Real, Real, []Real, Real) {
              skip = w == 0.0
              c = if skip {
                yield 0.0
              } else {
                a = for i < n, a2 = 0.0, x in xs {
                  b = a2 + x
                  yield b
                }
                c2 = mul_zero(a, w)
                yield c2
              }
              skip2 = w == 0.0
              z = if skip2 {
                yield 0.0
              } else {
                d = for i2 < n, d2 = 0.0, x2 in xs {
                  e = x2 * y
                  g = d2 + e
                  yield g
                }
                z2 = mul_zero(w, d)
                yield z2
              }
              h = for i3 < n, h2 = 0.0, x3 in xs {
                k = h2 - x3
                yield k
              }
              m = mul_zero(h, w)
              t = m + h
              o = for i4 < n, o2 = 0.0, x4 in xs {
                p = o2 - x4
                yield p
              }
              us = xs with [0] = y
              q = mul_zero(o, w)
              r = for i5 < n, r2 = 0.0 {
                v = us[i5]
                u = r2 + v
                yield u
              }
              s = mul_zero(r, w)
              e2 = c + z
              g2 = q + s
              return e2, t, us, g2
            }

            entry f = f
        "#]],
    );
}

#[test]
fn inline_copies_larger_functions_to_calls_with_numbers() {
    let body: String = (0..60).map(|i| format!("x{} = x{i} * y ", i + 1)).collect();
    let text = format!(
        "func g(x0: Real, y: Real) -> Real {{ {body} return x60 }}
         func f(x: Real) -> (Real, Real, Real) {{ a = g(x, 1.0) b = g(1.0, x) c = g(x, a) return a, b, c }}
         entry f = f"
    );
    let mut program = wengert_ir::parse(&text).expect("the text is a program");
    crate::inline::run(&mut program);
    let text = wengert_ir::print(&program);
    // Two calls were with a number; the third stays a call.
    assert_eq!((text.matches("g(x, a)").count(), text.matches("= g(").count()), (1, 1), "{text}");
}

#[test]
fn inline_leaves_one_function_of_a_circle() {
    let text = r"
        func even(n: Int) -> Bool {
            z = n == 0
            r = if z { yield true } else { m = n - 1 o = odd(m) yield o }
            return r
        }
        func odd(n: Int) -> Bool {
            z = n == 0
            r = if z { yield false } else { m = n - 1 e = even(m) yield e }
            return r
        }
        func f(n: Int) -> Bool { e = even(n) return e }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    crate::inline::run(&mut program);
    crate::dce::run(&mut program);
    let text = wengert_ir::print(&program);
    // `even` calls itself now; nobody needs `odd`.
    assert_eq!((text.matches("= even(").count(), text.matches("odd(").count()), (2, 0), "{text}");
}

#[test]
fn functions_of_what_does_not_change_leave_the_branches_of_loops() {
    let text = r"
        func f(a: Real, xs: []Real, n: Int) -> (Real, Real, Real) {
            x = for i < n, x = 5.0 {
                c = 1.0 < x
                y = if c {
                    b = a * a
                    s = sin(b)
                    d = x + s
                    yield d
                } else {
                    p = x < 0.5
                    z = if p { l = log(a) m = x * l yield m } else {
                        q = a + a
                        r = sqrt(q)
                        e = exp(x)
                        h = e + r
                        yield h
                    }
                    yield z
                }
                yield y
            }
            u = for i2 < n, u = 0.0 {
                c2 = u < a
                v = if c2 { w = xs[0] k = sin(w) yield k } else { yield a }
                yield v
            }
            o = for i3 < 3, o = 0.0 {
                c3 = o < a
                j = if c3 { g = sin(a) yield g } else { yield o }
                yield j
            }
            return x, u, o
        }
        entry f = f";
    check(
        "hoist",
        text,
        &expect![[r#"
        func f(a: Real, xs: []Real, n: Int) -> (Real, Real, Real) {
          b = a * a
          s = sin(b)
          l = log(a)
          x = for i < n, x2 = 5.0 {
            c = 1.0 < x2
            y = if c {
              d = x2 + s
              yield d
            } else {
              p = x2 < 0.5
              z = if p {
                m = x2 * l
                yield m
              } else {
                q = a + a
                r = sqrt(q)
                e = exp(x2)
                h = e + r
                yield h
              }
              yield z
            }
            yield y
          }
          u = for i2 < n, u2 = 0.0 {
            c2 = u2 < a
            v = if c2 {
              w = xs[0]
              k = sin(w)
              yield k
            } else {
              yield a
            }
            yield v
          }
          o = for i3 < 3, o2 = 0.0 {
            c3 = o2 < a
            j = if c3 {
              g = sin(a)
              yield g
            } else {
              yield o2
            }
            yield j
          }
          return x, u, o
        }

        entry f = f
    "#]],
    );
}
