//! What nobody needs.

use super::check;
use expect_test::expect;

#[test]
fn dce_narrows_loops_and_keeps_failures() {
    let text = r"
        func unused(x: Real) -> Real { return x }
        func f(xs: []Real, n: Int) -> Real {
            s, p, ys = for i < n, s = 0.0, p = 1.0, x in xs { t = s + x q = p * x yield t, q, q }
            a = sin(s)
            b = xs[7]
            c, d = while v = s, w = s { go = v < 9.0 yield go } do g, h { k = g * 2.0 l = h + g yield k, l }
            return c
        }
        entry f = f";
    check(
        "dce",
        text,
        &expect![[r#"
            func f(xs: []Real, n: Int) -> Real {
              s = for i < n, s2 = 0.0, x in xs {
                t = s2 + x
                yield t
              }
              b = xs[7]
              c = while v = s {
                go = v < 9.0
                yield go
              } do g {
                k = g * 2.0
                yield k
              }
              return c
            }

            entry f = f
        "#]],
    );
}

#[test]
fn dce_drops_what_can_only_fail_where_something_failed_before() {
    let text = r"
        func f(xs: []Real, ys: []Real, c: Bool) -> Real {
            m = maximum(xs)
            at = argmax(xs)
            r = if c { n = maximum(ys) k = argmax(ys) yield m } else { yield 1.0 }
            l = argmin(ys)
            return r
        }
        entry f = f";
    check(
        "dce",
        text,
        &expect![[r#"
            func f(xs: []Real, ys: []Real, c: Bool) -> Real {
              m = maximum(xs)
              r = if c {
                n = maximum(ys)
                yield m
              } else {
                yield 1.0
              }
              l = argmin(ys)
              return r
            }

            entry f = f
        "#]],
    );
}

#[test]
fn dce_goes_through_calls_data_and_loops_inside_of_loops() {
    let text = r"
        residual Kept { Kept([]Real, Real) Other(Int) }
        func f(xs: []Real, n: Int) -> (Real, Kept) {
            s, v, us, vs = for i < n, s = 0.0, u = 1.0, x in xs {
                a, b = for j < n, a = s, b = u { c = a + x d = b * x yield c, d }
                yield a, b, x, a
            }
            kept = Kept(us, s)
            return s, kept
        }
        func g(xs: []Real, n: Int, m: Int) -> Real {
            done = n == m
            s, kept = if done { e, l = f(xs, n) yield e, l } else { other = Other(m) yield 0.0, other }
            t = match kept {
                Kept(us, r) { q = for backward i < n, q = r, u in us { p = q + r yield p } yield q }
                Other(k) { yield 1.0 }
            }
            return t
        }
        func h(xs: []Real) -> Real { n = length(xs) y = g(xs, n, 4) z = g(xs, 3, n) w = y + z return w }
        entry h = h";
    check(
        "dce",
        text,
        &expect![[r#"
            residual Kept {
              Kept(Real)
              Other()
            }

            func f(xs: []Real, n: Int) -> Kept {
              s = for i < n, s2 = 0.0, x in xs {
                a = for j < n, a2 = s2 {
                  c = a2 + x
                  yield c
                }
                yield a
              }
              kept = Kept(s)
              return kept
            }

            func g(xs: []Real, n: Int, m: Int) -> Real {
              done = n == m
              kept = if done {
                l = f(xs, n)
                yield l
              } else {
                other = Other()
                yield other
              }
              t = match kept {
                Kept(r) {
                  q = for backward i < n, q2 = r {
                    p = q2 + r
                    yield p
                  }
                  yield q
                }
                Other() {
                  yield 1.0
                }
              }
              return t
            }

            func h(xs: []Real) -> Real {
              n = length(xs)
              y = g(xs, n, 4)
              z = g(xs, 3, n)
              w = y + z
              return w
            }

            entry h = h
        "#]],
    );
}

#[test]
fn counts_are_checked_without_an_array() {
    check(
        "dce",
        "func f(n: Int, m: Int) -> []Int {
            a = iota(n)
            b = iota(m)
            c = iota(3)
            return b
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, m: Int) -> []Int {
              t = max(n, 0)
              t2 = min(t, 8796093022208)
              require n == t2, count iota
              b = iota(m)
              return b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_was_there_is_there() {
    // The first read may fail, and stays; what nobody needs and is at a place that was there goes.
    check(
        "dce",
        "func f(xs: []Real, ys: []Real, i: Int) -> Real {
            n = length(xs)
            a = xs[i]
            z = zeros(xs)
            b = z with [i] += a
            c = xs[2]
            d = z with [1] += c
            e = z with [3] += c
            g = ys[i]
            h = z with [i] += g
            return a
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, ys: []Real, i: Int) -> Real {
              a = xs[i]
              z = zeros(xs)
              c = xs[2]
              e = z with [3] += c
              g = ys[i]
              return a
            }

            entry f = f
        "#]],
    );
    // On the other side of a branch it was not read.
    check(
        "dce",
        "func f(xs: []Real, p: Bool) -> Real {
            n = length(xs)
            a = if p { b = xs[1] yield b } else { c = xs[0] yield 1.0 }
            d = xs[1]
            return a
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, p: Bool) -> Real {
              a = if p {
                b = xs[1]
                yield b
              } else {
                c = xs[0]
                yield 1.0
              }
              d = xs[1]
              return a
            }

            entry f = f
        "#]],
    );
}

#[test]
fn lengths_are_asked_of_what_is_there_anyway() {
    check(
        "dce",
        "func f(x: Real, m: Int) -> (Real, Int) {
            y, as, bs, cs = while y2 = x { c = y2 < 9.0 yield c } do y3 {
                y4 = y3 * 2.0 a = sin(y3) b = cos(y3) e = exp(y3)
                yield y4, a, b, e
            }
            n = length(as)
            k = length(bs)
            s = for i < k, t = 0.0, b2 in bs { t2 = t + b2 yield t2 }
            p, qs, rs = while p2 = m { d = p2 < 9 yield d } do p3 { p4 = p3 + 1 yield p4, p3, p4 }
            l = length(rs)
            o = n + l
            return s, o
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, m: Int) -> (Real, Int) {
              y, bs = while y2 = x {
                c = y2 < 9.0
                yield c
              } do y3 {
                y4 = y3 * 2.0
                b = cos(y3)
                yield y4, b
              }
              n = length(bs)
              k = length(bs)
              s = for i < k, t = 0.0, b2 in bs {
                t2 = t + b2
                yield t2
              }
              p, qs = while p2 = m {
                d = p2 < 9
                yield d
              } do p3 {
                p4 = p3 + 1
                yield p4, p3
              }
              l = length(qs)
              o = n + l
              return s, o
            }

            entry f = f
        "#]],
    );
}

#[test]
fn rows_that_were_chosen_and_numbers_that_follow_others_are_dropped() {
    let text = r"
        func f(xs: []Real, ys: []Real, rows: [][]Real, keep: []Bool) -> []Int {
            n = length(xs)
            sorted = argsort(xs)
            a = gather(xs, sorted)
            b = gather(ys, sorted)
            all = iota(n)
            some = filter(all, keep)
            c = gather(xs, some)
            d = concat(xs, ys)
            e = concat(rows, rows)
            return some
        }
        entry f = f";
    check(
        "dce",
        text,
        &expect![[r#"
            func f(xs: []Real, ys: []Real, rows: [][]Real, keep: []Bool) -> []Int {
              n = length(xs)
              sorted = argsort(xs)
              b = gather(ys, sorted)
              all = iota(n)
              some = filter(all, keep)
              e = concat(rows, rows)
              return some
            }

            entry f = f
        "#]],
    );
}

#[test]
fn of_a_failure_only_what_is_needed_is_said_to_be_given() {
    let text = r#"
        func f(x: Real, c: Bool) -> Real {
            r, s = if c { yield x, x } else { a: Real, b: Real = fail("no") yield a, b }
            return s
        }
        entry f = f"#;
    check(
        "dce",
        text,
        &expect![[r#"
            func f(x: Real, c: Bool) -> Real {
              s = if c {
                yield x
              } else {
                b: Real = fail("no")
                yield b
              }
              return s
            }

            entry f = f
        "#]],
    );
}
