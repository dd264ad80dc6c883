//! What becomes simpler on the sides of a branch.

use super::check;
use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_is_known_on_each_side_is_not_computed() {
    check(
        "sides",
        "func f(p: Bool, x: Real, s: Real) -> (Real, Real) {
            a, b = if p { g = exp(x) yield g, 0.0 } else { yield 0.0, 1.0 }
            c = mul_zero(b, s)
            d = mul_zero(b, a)
            return c, d
        }
        entry f = f",
        &expect![[r#"
            func f(p: Bool, x: Real, s: Real) -> (Real, Real) {
              a, b, c, d = if p {
                g = exp(x)
                yield g, 0.0, 0.0, 0.0
              } else {
                yield 0.0, 1.0, s, 0.0
              }
              return c, d
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_branch_on_what_the_sides_say_becomes_part_of_them() {
    check(
        "sides",
        r#"data Shape { Disk(Real) Box(Real, Real) Dot() }
        func f(x: Shape) -> (Real, Real) {
            k, r, s = match x { Disk(u) { yield 0, u, 0.0 } Box(u2, v) { w = u2 * v yield 1, v, w } Dot() { yield 2, 0.0, 0.0 } }
            c = k == 0
            a, b = if c {
                g = r * 2.0
                yield g, 0.0
            } else {
                d = k == 1
                e, h = if d { l = s + r yield l, s } else { m: Real, n: Real = fail("no such shape") yield m, n }
                yield e, h
            }
            return a, b
        }
        entry f = f"#,
        &expect![[r#"
            data Shape {
              Disk(Real)
              Box(Real, Real)
              Dot()
            }

            func f(x: Shape) -> (Real, Real) {
              k, r, s, c, a, b = match x {
                Disk(u) {
                  g = u * 2.0
                  yield 0, u, 0.0, true, g, 0.0
                }
                Box(u2, v) {
                  w = u2 * v
                  l = w + v
                  yield 1, v, w, false, l, w
                }
                Dot() {
                  k2: Int, r2: Real, s2: Real, c2: Bool, a2: Real, b2: Real = fail("no such shape")
                  yield k2, r2, s2, c2, a2, b2
                }
              }
              return a, b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn two_matches_on_one_value_are_one() {
    // The branch goes to the second match: that needs `t`.
    check(
        "sides",
        "data Shape { Disk(Real) Box(Real, Real) }
        func f(x: Shape, y: Real) -> Shape {
            r = match x { Disk(u) { a = sin(u) yield a } Box(u2, v) { b = u2 * v yield b } }
            t = exp(y)
            d = match x {
                Disk(w) { c = r + w e = c + t g = Shape::Disk(e) yield g }
                Box(h, l) { m = Shape::Box(r, l) yield m }
            }
            return d
        }
        entry f = f",
        &expect![[r#"
            data Shape {
              Disk(Real)
              Box(Real, Real)
            }

            func f(x: Shape, y: Real) -> Shape {
              t = exp(y)
              r, d = match x {
                Disk(u) {
                  a = sin(u)
                  c = a + u
                  e = c + t
                  g = Disk(e)
                  yield a, g
                }
                Box(u2, v) {
                  b = u2 * v
                  m = Box(b, v)
                  yield b, m
                }
              }
              return d
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_would_be_done_twice_or_too_early_stays() {
    // On one side the product is not known.
    check(
        "sides",
        "func f(p: Bool, x: Real, s: Real) -> Real {
            a = if p { g = exp(x) yield g } else { yield 0.0 }
            c = mul_zero(a, s)
            return c
        }
        entry f = f",
        &expect![[r#"
            func f(p: Bool, x: Real, s: Real) -> Real {
              a = if p {
                g = exp(x)
                yield g
              } else {
                yield 0.0
              }
              c = mul_zero(a, s)
              return c
            }

            entry f = f
        "#]],
    );
    // Both sides would do `exp`.
    check(
        "sides",
        "func f(p: Bool, x: Real) -> Real {
            a, b = if p { g = exp(x) yield g, true } else { yield x, true }
            c = if b { h = exp(a) yield h } else { yield x }
            return c
        }
        entry f = f",
        &expect![[r#"
            func f(p: Bool, x: Real) -> Real {
              a, b = if p {
                g = exp(x)
                yield g, true
              } else {
                yield x, true
              }
              c = if b {
                h = exp(a)
                yield h
              } else {
                yield x
              }
              return c
            }

            entry f = f
        "#]],
    );
    // What may fail does not go before something else that may fail, nor behind it.
    check(
        "sides",
        r"func f(p: Bool, xs: []Real, i: Int) -> Real {
            a, b = if p { g = xs[i] yield g, true } else { yield 1.0, false }
            t = xs[2]
            c = if b { h = xs[3] l = h * a yield l } else { yield a }
            d = c + t
            return d
        }
        entry f = f",
        &expect![[r#"
            func f(p: Bool, xs: []Real, i: Int) -> Real {
              a, b = if p {
                g = xs[i]
                yield g, true
              } else {
                yield 1.0, false
              }
              t = xs[2]
              c = if b {
                h = xs[3]
                l = h * a
                yield l
              } else {
                yield a
              }
              d = c + t
              return d
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sums_with_zero_are_known_where_its_sign_does_not_count() {
    let text = "func f(p: Bool, x: Real, s: Real) -> Real {
            a, b = if p { g = exp(x) yield g, 0.0 } else { yield 0.0, s }
            c = a + b
            d = c - a
            return c
        }
        entry f = f";
    check(
        "sides",
        text,
        &expect![[r#"
        func f(p: Bool, x: Real, s: Real) -> Real {
          a, b = if p {
            g = exp(x)
            yield g, 0.0
          } else {
            yield 0.0, s
          }
          c = a + b
          d = c - a
          return c
        }

        entry f = f
    "#]],
    );
    check_relaxed(
        text,
        &expect![[r#"
        func f(p: Bool, x: Real, s: Real) -> Real {
          c = if p {
            g = exp(x)
            yield g
          } else {
            yield s
          }
          return c
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_computed_in_between_goes_with_the_second_branch() {
    check(
        "sides",
        "data Shape { Disk(Real) Box(Real, Real) }
        func f(x: Shape, y: Real) -> (Real, Shape) {
            r = match x { Disk(u) { a = sin(u) yield a } Box(u2, v) { b = u2 * v yield b } }
            t = y + y
            s = r * t
            k = cos(t)
            d = match x {
                Disk(w) { c = s + w g = Shape::Disk(c) yield g }
                Box(h, l) { m = Shape::Box(s, l) yield m }
            }
            n = s + k
            return n, d
        }
        entry f = f",
        &expect![[r#"
            data Shape {
              Disk(Real)
              Box(Real, Real)
            }

            func f(x: Shape, y: Real) -> (Real, Shape) {
              t = y + y
              r, s, d = match x {
                Disk(u) {
                  a = sin(u)
                  s2 = a * t
                  c = s2 + u
                  g = Disk(c)
                  yield a, s2, g
                }
                Box(u2, v) {
                  b = u2 * v
                  s3 = b * t
                  m = Box(s3, v)
                  yield b, s3, m
                }
              }
              k = cos(t)
              n = s + k
              return n, d
            }

            entry f = f
        "#]],
    );
}
