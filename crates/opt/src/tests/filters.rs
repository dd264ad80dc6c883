//! Filters: short loops in loops are their iterations, and what goes over tables is collected while it is added to weights that stay.

use super::check;
use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn short_loops_in_loops_are_their_iterations() {
    check(
        "short",
        "func f(ws: []Real, xs: []Real, n: Int) -> ([]Real, Real, [][]Real, [][]Real) {
            ys = each i < n {
                s = for k < 2, t = 0.0 { j = i + k x = xs[j] w = ws[k] y = w * x t2 = t + y yield t2 }
                ds = each k < 3 { j = i + k x = xs[j] d = x * 2.0 yield d }
                m = length(ds)
                t = for k < 3, t = s, d in ds { l = m - 1 e = d * t yield e }
                u = for k < 10, u = t { v = sin(u) yield v }
                yield u
            }
            top = for k < 2, t = 0.0 { w = ws[k] t2 = t + w yield t2 }
            rows = each i < n { row = each k < 2 { x = xs[k] yield x } yield row }
            outer = each i < n { all = each k < 2 { z = for l < n, z = 0.0 { x = xs[l] z2 = x + z yield z2 } yield z } a = all[i] row = each l < 2 { yield a } yield row }
            return ys, top, rows, outer
        }
        entry f = f",
        &expect![[r#"
            func f(ws: []Real, xs: []Real, n: Int) -> ([]Real, Real, [][]Real, [][]Real) {
              ys = each i < n {
                j = i + 0
                x = xs[j]
                w = ws[0]
                y = w * x
                t2 = 0.0 + y
                j2 = i + 1
                x2 = xs[j2]
                w2 = ws[1]
                y2 = w2 * x2
                t2_2 = t2 + y2
                s = t2_2
                j3 = i + 0
                x3 = xs[j3]
                d = x3 * 2.0
                j4 = i + 1
                x4 = xs[j4]
                d2 = x4 * 2.0
                j5 = i + 2
                x5 = xs[j5]
                d3 = x5 * 2.0
                ds = [d, d2, d3]
                m = length(ds)
                d4 = ds[0]
                l = m - 1
                e = d4 * s
                d5 = ds[1]
                l2 = m - 1
                e2 = d5 * e
                d6 = ds[2]
                l3 = m - 1
                e3 = d6 * e2
                t = e3
                u = for k < 10, u2 = t {
                  v = sin(u2)
                  yield v
                }
                yield u
              }
              top = for k2 < 2, t3 = 0.0 {
                w3 = ws[k2]
                t2_3 = t3 + w3
                yield t2_3
              }
              rows = each i2 < n {
                row = each k3 < 2 {
                  x6 = xs[k3]
                  yield x6
                }
                yield row
              }
              outer = each i3 < n {
                all = each k4 < 2 {
                  z = for l4 < n, z2 = 0.0 {
                    x7 = xs[l4]
                    z2_2 = x7 + z2
                    yield z2_2
                  }
                  yield z
                }
                a = all[i3]
                row2 = each l5 < 2 {
                  yield a
                }
                yield row2
              }
              return ys, top, rows, outer
            }

            entry f = f
        "#]],
    );
}

#[test]
fn filters_of_tables_are_collected_beside_weights() {
    check_relaxed(
        "func f(ws: [][]Real, xs: [][]Real, ys: [][]Real) -> ([][]Real, []Real, [][]Real) {
            n = length(xs)
            l = n - 1
            k = max(l, 0) require l == k, count build
            m = length(ys, 1)
            zeros = zeros(ws)
            zeros2 = zeros(xs)
            bias = replicate(m, 0.0)
            us, vs, zs = each i < l, a += zeros, c += bias, b += zeros2 {
                i2 = i + 1
                a2, c2, b2 = each j < m, a3 += a, c3 += c, b3 += b {
                    x = xs[i, j]
                    y = ys[i, j]
                    w = ws[0, 0]
                    v = ws[1, 0]
                    t = w * y
                    s = v * y
                    a4 = a3 with [0, 0] += x
                    c4 = c3 with [j] += y
                    b4 = b3 with [i, j] += t
                    b5 = b4 with [i2, j] += s
                    yield a4, c4, b5
                }
                yield a2, c2, b2
            }
            return us, vs, zs
        }
        entry f = f",
        &expect![[r#"
            func f(ws: [][]Real, xs: [][]Real, ys: [][]Real) -> ([][]Real, []Real, [][]Real) {
              n = length(ws)
              n2 = length(ws, 1)
              n3 = length(xs)
              n4 = length(xs, 1)
              n5 = length(ys)
              n6 = length(ys, 1)
              l = n3 - 1
              k = max(l, 0)
              require l == k, count build
              zeros = zeros(ws)
              bias = replicate(n6, 0.0)
              i = n6 - n4
              c = i >= 0
              i2 = n4 - n6
              c2 = i2 >= 0
              c3 = select(c, c2, false)
              i3 = n5 - k
              c4 = i3 >= 0
              c5 = select(c3, c4, false)
              c6 = n2 >= 1
              c7 = select(c5, c6, false)
              c8 = n >= 2
              c9 = select(c7, c8, false)
              us, vs, zs = if c9 {
                w = ws[0, 0]
                v = ws[1, 0]
                us2, vs2 = each i4 < l, a += zeros, c10 += bias {
                  c2_2, sum = each j < n6, c3_2 += c10, sum2 += 0.0 {
                    x = xs[i4, j]
                    y = ys[i4, j]
                    sum3 = sum2 + x
                    c4_2 = c3_2 with [j] += y
                    yield c4_2, sum3
                  }
                  a2 = a with [0, 0] += sum
                  yield a2, c2_2
                }
                collected = each j2 < n3 {
                  c11 = j2 < l
                  i5 = j2 - 1
                  c12 = j2 >= 1
                  collected2 = each j3 < n4 {
                    from = if c11 {
                      y2 = ys[j2, j3]
                      t = w * y2
                      yield t
                    } else {
                      yield 0.0
                    }
                    from2 = if c12 {
                      y3 = ys[i5, j3]
                      s = v * y3
                      yield s
                    } else {
                      yield 0.0
                    }
                    sum4 = from + from2
                    yield sum4
                  }
                  yield collected2
                }
                yield us2, vs2, collected
              } else {
                zeros2 = zeros(xs)
                us3, vs3, zs2 = each i6 < l, a3 += zeros, c13 += bias, b += zeros2 {
                  i2_2 = i6 + 1
                  c2_3, b2, sum5 = each j4 < n6, c3_3 += c13, b3 += b, sum6 += 0.0 {
                    x2 = xs[i6, j4]
                    y4 = ys[i6, j4]
                    w2 = ws[0, 0]
                    v2 = ws[1, 0]
                    t2 = w2 * y4
                    s2 = v2 * y4
                    sum7 = sum6 + x2
                    c4_3 = c3_3 with [j4] += y4
                    b4 = b3 with [i6, j4] += t2
                    b5 = b4 with [i2_2, j4] += s2
                    yield c4_3, b5, sum7
                  }
                  some = n6 > 0
                  a2_2 = if some {
                    a2_3 = a3 with [0, 0] += sum5
                    yield a2_3
                  } else {
                    yield a3
                  }
                  yield a2_2, c2_3, b2
                }
                yield us3, vs3, zs2
              }
              return us, vs, zs
            }

            entry f = f
        "#]],
    );
}
