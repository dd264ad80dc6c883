//! Short loops around longer ones, and sums over rows that may be zero.

use super::check;
use expect_test::expect;

#[test]
fn loops_inside_of_a_short_one_go_through_once() {
    let text = r"
        func f(xs: []Real, ms: [][][]Real, n: Int, turn: [][]Real, c: Bool) -> ([]Real, []Real) {
            ys = each k < 2 {
                s = for i < n, s = 0.0, x in xs, m in ms {
                    row = m[k]
                    skip = x == 0.0
                    t = if skip { yield 0.0 } else {
                        a = for j < 7, a = 0.0, z in row { b = z * x d = a + b yield d }
                        yield a
                    }
                    u = s + t
                    yield u
                }
                first = k == 0
                v = if first { w = -s yield w } else { yield s }
                yield v
            }
            zs = each k < 2, row in turn { z = for j < 2, z = 0.0, r in row, y in ys { a = r * y b = z + a yield b } yield z }
            return ys, zs
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
        func f(xs: []Real, ms: [][][]Real, n: Int, turn: [][]Real, c: Bool) -> ([]Real, []Real) {
          s, s2 = for i < n, s3 = 0.0, s4 = 0.0, x in xs, m in ms {
            row = m[0]
            skip = x == 0.0
            row2 = m[1]
            t, t2 = if skip {
              yield 0.0, 0.0
            } else {
              a, a2 = for j < 7, a3 = 0.0, a4 = 0.0, z in row, z2 in row2 {
                b = z * x
                d = a3 + b
                b2 = z2 * x
                d2 = a4 + b2
                yield d, d2
              }
              yield a, a2
            }
            u = s3 + t
            u2 = s4 + t2
            yield u, u2
          }
          w = -s
          ys = [w, s2]
          zs = each k < 2, row3 in turn {
            r = row3[0]
            a5 = r * w
            b3 = 0.0 + a5
            r2 = row3[1]
            a6 = r2 * s2
            b4 = b3 + a6
            yield b4
          }
          return ys, zs
        }

        entry f = f
    "#]],
    );
}

#[test]
fn short_loops_stay_where_nothing_is_gained_or_failures_would_come_in_another_order() {
    let text = r"
        func f(xs: []Real, ms: [][][]Real, n: Int, places: []Int) -> ([]Real, []Real, []Real, [][]Real) {
            short = each k < 3 { s = for i < 3, s = 0.0 { x = xs[k] t = s + x yield t } yield s }
            twice = each k < 3 {
                s = for i < n, s = 0.0, m in ms { x = m[k, 0] t = s + x yield t }
                y = xs[k]
                t = s + y
                yield t
            }
            moving = each k < 3 { s = for i < n, s = 0.0, p in places { x = xs[p] t = s + x yield t } yield s }
            rows = each k < 3 { r = each i < n, x in xs { y = real(k) z = x * y yield z } yield r }
            return short, twice, moving, rows
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
        func f(xs: []Real, ms: [][][]Real, n: Int, places: []Int) -> ([]Real, []Real, []Real, [][]Real) {
          short = each k < 3 {
            s = for i < 3, s2 = 0.0 {
              x = xs[k]
              t = s2 + x
              yield t
            }
            yield s
          }
          twice = each k2 < 3 {
            s3 = for i2 < n, s4 = 0.0, m in ms {
              x2 = m[k2, 0]
              t2 = s4 + x2
              yield t2
            }
            y = xs[k2]
            t3 = s3 + y
            yield t3
          }
          moving = each k3 < 3 {
            s5 = for i3 < n, s6 = 0.0, p in places {
              x3 = xs[p]
              t4 = s6 + x3
              yield t4
            }
            yield s5
          }
          rows = each k4 < 3 {
            r = each i4 < n, x4 in xs {
              y2 = real(k4)
              z = x4 * y2
              yield z
            }
            yield r
          }
          return short, twice, moving, rows
        }

        entry f = f
    "#]],
    );
}

#[test]
fn sums_go_past_rows_of_tangents_that_are_zero() {
    let text = r"
        func f(ws: [][]Real, ts: [][][]Real, ps: [][]Real, n: Int, m: Int, k: Int) -> []Real {
            ys = each v < m, w in ws, p in ps {
                y = for i < n, y = 0.0, weight in w, t in ts {
                    row = t[k]
                    skip = weight == 0.0
                    a = if skip { yield 0.0 } else {
                        b = for j < 7, b = 0.0, x in row, q in p { c = mul_zero(x, q) d = b + c yield d }
                        e = mul_zero(b, weight)
                        yield e
                    }
                    z = y + a
                    yield z
                }
                yield y
            }
            return ys
        }
        entry f = f";
    check(
        "still",
        text,
        &expect![[r#"
            func f(ws: [][]Real, ts: [][][]Real, ps: [][]Real, n: Int, m: Int, k: Int) -> []Real {
              n2 = length(ts)
              all, moves = each i < n2, row in ts {
                first = i == 0
                n3 = length(row)
                moves2 = for j < n3, moves3 = first, x in row {
                  n4 = length(x)
                  moves4 = for j2 < n4, moves5 = moves3, x2 in x {
                    moves6 = x2 != 0.0
                    moves7 = select(moves5, true, moves6)
                    yield moves7
                  }
                  yield moves4
                }
                yield i, moves2
              }
              places = filter(all, moves)
              count = length(places)
              ys = each v < m, w in ws, p in ps {
                y = for k2 < count, y2 = 0.0, i2 in places {
                  weight = w[i2]
                  t = ts[i2]
                  row2 = t[k]
                  skip = weight == 0.0
                  a = if skip {
                    yield 0.0
                  } else {
                    b = for j3 < 7, b2 = 0.0, x3 in row2, q in p {
                      c = mul_zero(x3, q)
                      d = b2 + c
                      yield d
                    }
                    e = mul_zero(b, weight)
                    yield e
                  }
                  z = y2 + a
                  yield z
                }
                yield y
              }
              return ys
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sums_stay_that_may_get_something_from_rows_that_are_zero() {
    let text = r"
        func f(ts: [][]Real, ps: [][]Real, us: []Real, n: Int, m: Int, start: Real) -> ([]Real, []Real, []Real, []Real, []Real, Real) {
            plain = each v < m, p in ps {
                y = for i < n, y = 0.0, t in ts { b = for j < 7, b = 0.0, x in t, q in p { c = x * q d = b + c yield d } z = y + b yield z }
                yield y
            }
            more = each v < m, p in ps {
                y = for i < n, y = 0.0, t in ts, u in us { b = for j < 7, b = u, x in t, q in p { c = mul_zero(x, q) d = b + c yield d } z = y + b yield z }
                yield y
            }
            minus = each v < m, p in ps {
                y = for i < n, y = start, t in ts { b = for j < 7, b = 0.0, x in t, q in p { c = mul_zero(x, q) d = b + c yield d } z = y + b yield z }
                yield y
            }
            fails = each v < m, p in ps {
                y = for i < n, y = 0.0, t in ts { b = for j < 7, b = 0.0, x in t { q = p[j] c = mul_zero(x, q) d = b + c yield d } z = y + b yield z }
                yield y
            }
            numbers = each v < m, p in ps {
                y = for i < n, y = 0.0, u in us { b = for j < 7, b = 0.0, q in p { c = mul_zero(u, q) d = b + c yield d } z = y + b yield z }
                yield y
            }
            p = ps[0]
            once = for i < n, y = 0.0, t in ts { b = for j < 7, b = 0.0, x in t, q in p { c = mul_zero(x, q) d = b + c yield d } z = y + b yield z }
            return plain, more, minus, fails, numbers, once
        }
        entry f = f";
    check(
        "still",
        text,
        &expect![[r#"
        func f(ts: [][]Real, ps: [][]Real, us: []Real, n: Int, m: Int, start: Real) -> ([]Real, []Real, []Real, []Real, []Real, Real) {
          plain = each v < m, p in ps {
            y = for i < n, y2 = 0.0, t in ts {
              b = for j < 7, b2 = 0.0, x in t, q in p {
                c = x * q
                d = b2 + c
                yield d
              }
              z = y2 + b
              yield z
            }
            yield y
          }
          more = each v2 < m, p2 in ps {
            y3 = for i2 < n, y4 = 0.0, t2 in ts, u in us {
              b3 = for j2 < 7, b4 = u, x2 in t2, q2 in p2 {
                c2 = mul_zero(x2, q2)
                d2 = b4 + c2
                yield d2
              }
              z2 = y4 + b3
              yield z2
            }
            yield y3
          }
          minus = each v3 < m, p3 in ps {
            y5 = for i3 < n, y6 = start, t3 in ts {
              b5 = for j3 < 7, b6 = 0.0, x3 in t3, q3 in p3 {
                c3 = mul_zero(x3, q3)
                d3 = b6 + c3
                yield d3
              }
              z3 = y6 + b5
              yield z3
            }
            yield y5
          }
          fails = each v4 < m, p4 in ps {
            y7 = for i4 < n, y8 = 0.0, t4 in ts {
              b7 = for j4 < 7, b8 = 0.0, x4 in t4 {
                q4 = p4[j4]
                c4 = mul_zero(x4, q4)
                d4 = b8 + c4
                yield d4
              }
              z4 = y8 + b7
              yield z4
            }
            yield y7
          }
          numbers = each v5 < m, p5 in ps {
            y9 = for i5 < n, y10 = 0.0, u2 in us {
              b9 = for j5 < 7, b10 = 0.0, q5 in p5 {
                c5 = mul_zero(u2, q5)
                d5 = b10 + c5
                yield d5
              }
              z5 = y10 + b9
              yield z5
            }
            yield y9
          }
          p6 = ps[0]
          once = for i6 < n, y11 = 0.0, t5 in ts {
            b11 = for j6 < 7, b12 = 0.0, x5 in t5, q6 in p6 {
              c6 = mul_zero(x5, q6)
              d6 = b12 + c6
              yield d6
            }
            z6 = y11 + b11
            yield z6
          }
          return plain, more, minus, fails, numbers, once
        }

        entry f = f
    "#]],
    );
}

#[test]
fn a_loop_of_one_iteration_is_that() {
    let text = r"
        func f(xs: []Real, n: Int) -> []Real {
            zeros = zeros(xs)
            ys = each backward i < 1, ys += zeros { place = 1 + i sum = ys with [place] += 1.0 yield sum }
            return ys
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
            func f(xs: []Real, n: Int) -> []Real {
              zeros = zeros(xs)
              sum = zeros with [1] += 1.0
              return sum
            }

            entry f = f
        "#]],
    );
}

#[test]
fn elements_of_unit_vectors_are_choices_if_nothing_else_is_asked() {
    let text = r"
        func f(xs: []Real, k: Int, s: Real) -> ([]Real, []Real, [][]Real) {
            n = length(xs)
            a = xs[2]
            ys = each j < n {
                zeros = zeros(xs)
                e = zeros with [j] = 1.0
                x = e[2]
                y = mul_zero(s, x)
                z = x + y
                yield z
            }
            outside = each j < n {
                zeros = zeros(xs)
                e = zeros with [j] = 1.0
                x = e[k]
                yield x
            }
            whole = each j < n {
                zeros = zeros(xs)
                e = zeros with [j] = 1.0
                x = e[1]
                more = e with [0] = x
                yield more
            }
            return ys, outside, whole
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
            func f(xs: []Real, k: Int, s: Real) -> ([]Real, []Real, [][]Real) {
              n = length(xs)
              a = xs[2]
              ys = each j < n {
                at = j == 2
                x = select(at, 1.0, 0.0)
                y = select(at, s, 0.0)
                z = x + y
                yield z
              }
              outside = each j2 < n {
                zeros = zeros(xs)
                e = zeros with [j2] = 1.0
                x2 = e[k]
                yield x2
              }
              whole = each j3 < n {
                zeros2 = zeros(xs)
                e2 = zeros2 with [j3] = 1.0
                x3 = e2[1]
                more = e2 with [0] = x3
                yield more
              }
              return ys, outside, whole
            }

            entry f = f
        "#]],
    );
}
