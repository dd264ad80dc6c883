//! Passes on loops: rows, fusion, indices in range.

use super::check;
use expect_test::expect;

#[test]
fn rows_are_gone_through() {
    let text = r"
        func f(xs: []Real, a: [][]Real) -> []Real {
            n = length(xs)
            m = length(a)
            ys = each i < n {
                x = xs[i]
                y = each j < m { z = a[j, i] w = x * z yield w }
                s = sum(y)
                yield s
            }
            return ys
        }
        entry f = f";
    check(
        "rows",
        text,
        &expect![[r#"
            func f(xs: []Real, a: [][]Real) -> []Real {
              n = length(xs)
              m = length(a)
              ys = each i < n, x in xs {
                x2 = x
                y = each j < m, a2 in a {
                  z = a2[i]
                  w = x2 * z
                  yield w
                }
                s = sum(y)
                yield s
              }
              return ys
            }

            entry f = f
        "#]],
    );
}

#[test]
fn fuse_joins_loops_and_sums() {
    let text = r"
        func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            ys = each i < n, x in xs { y = x * x yield y }
            zs = each i < n, y in ys { z = y + 1.0 yield z }
            s = sum(zs)
            ws = each i < n, x in xs { w = exp(x) yield w }
            t = for i < n, acc = 0.0, w in ws { u = acc * w yield u }
            return s, t
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
            func f(xs: []Real) -> (Real, Real) {
              n = length(xs)
              s = for i < n, s2 = 0.0, x in xs {
                y = x * x
                z = y + 1.0
                s3 = s2 + z
                yield s3
              }
              t = for i2 < n, acc = 0.0, x2 in xs {
                w = exp(x2)
                u = acc * w
                yield u
              }
              return s, t
            }

            entry f = f
        "#]],
    );
}

#[test]
fn fuse_keeps_the_order_of_failures() {
    let text = r"
        func f(xs: []Real, is: []Int, js: []Int) -> []Real {
            n = length(is)
            ys = each i < n, k in is { y = xs[k] yield y }
            zs = each i < n, y in ys, j in js { w = xs[j] z = y + w yield z }
            return zs
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: []Real, is: []Int, js: []Int) -> []Real {
          n = length(is)
          ys = each i < n, k in is {
            y = xs[k]
            yield y
          }
          zs = each i2 < n, y2 in ys, j in js {
            w = xs[j]
            z = y2 + w
            yield z
          }
          return zs
        }

        entry f = f
    "#]],
    );
}

/// Neighbors of an array are read in range: so the first loop can become part of the second, and what is added to `t` is not
/// needed.
const NEIGHBORS: &str = r"
    func f(xs: []Real) -> []Real {
        n = length(xs)
        m = n - 1
        ys = each i < m { j = i + 1 a = xs[i] b = xs[j] c = a * b yield c }
        z = zeros(xs)
        s, t = each backward i < m, s += z, t += z, y in ys {
            j = i + 1
            s2 = s with [j] += y
            t2 = t with [j] += y
            yield s2, t2
        }
        return s
    }
    entry f = f";

#[test]
fn fuse_knows_what_is_in_range() {
    check(
        "fuse",
        NEIGHBORS,
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              m = n - 1
              z = zeros(xs)
              s, t = each backward i < m, s2 += z, t2 += z {
                j = i + 1
                a = xs[i]
                b = xs[j]
                c = a * b
                j2 = i + 1
                s2_2 = s2 with [j2] += c
                t2_2 = t2 with [j2] += c
                yield s2_2, t2_2
              }
              return s
            }

            entry f = f
        "#]],
    );
    // Beyond the end the first iteration that fails is another one.
    let beyond = NEIGHBORS.replace("a = xs[i] b = xs[j]", "k = i + 2 a = xs[i] b = xs[k]");
    let mut program = wengert_ir::parse(&beyond).expect("the text is a program");
    let before = wengert_ir::print(&program);
    crate::fuse::run(&mut program);
    assert_eq!(wengert_ir::print(&program), before);
}

#[test]
fn dce_knows_what_is_in_range() {
    check(
        "dce",
        NEIGHBORS,
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              m = n - 1
              ys = each i < m {
                j = i + 1
                a = xs[i]
                b = xs[j]
                c = a * b
                yield c
              }
              z = zeros(xs)
              s = each backward i2 < m, s2 += z, y in ys {
                j2 = i2 + 1
                s2_2 = s2 with [j2] += y
                yield s2_2
              }
              return s
            }

            entry f = f
        "#]],
    );
    let further = "k = i + 2 t2 = t with [k]";
    for (from, to) in [("t2 = t with [j]", further), ("m = n - 1", "m = n - 0")] {
        // What nobody needs comes first: behind the other, which fails in the same place, it would go.
        let beyond = NEIGHBORS
            .replace("s2 = s with [j] += y", "")
            .replace("yield s2", "s2 = s with [j] += y yield s2");
        let beyond = beyond.replace(from, to);
        assert_ne!(beyond, NEIGHBORS);
        let mut program = wengert_ir::parse(&beyond).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::dce::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn rows_are_what_iterations_add_at_their_index() {
    let text = r"
        func f(xs: []Real, rs: [][]Real, keep: []Real) -> ([]Real, [][]Real, []Real, []Real) {
            n = length(xs)
            ys = each i < n, x in xs { y = sin(x) yield y }
            ones = replicate(n, 1.0)
            zs, os, ks = each backward i < n, a += ys, b += ones, c += keep, x in xs {
                t = x * 2.0
                d = a with [i] += t
                e = d with [i] += x
                f = b with [i] += x
                g = c with [i] += x
                yield e, f, g
            }
            j = n - 1
            ts = each i < n, x in xs { t = cos(x) yield t }
            us = each i < n, a += ts { b = a with [j] += 1.0 yield b }
            ws = each i < n, a += us { b = a with [i] += 1.0 yield b }
            vs = each i < n, x in xs { row = replicate(3, x) yield row }
            qs = each i < n, a += vs, r in rs { b = a with [i] += r yield b }
            return zs, qs, ks, ws
        }
        entry f = f";
    check(
        "rows",
        text,
        &expect![[r#"
            func f(xs: []Real, rs: [][]Real, keep: []Real) -> ([]Real, [][]Real, []Real, []Real) {
              n = length(xs)
              ys = each i < n, x in xs {
                y = sin(x)
                yield y
              }
              ones = replicate(n, 1.0)
              ks, zs, os = each backward i2 < n, c += keep, x2 in xs, a in ys {
                t = x2 * 2.0
                d = a + t
                e = d + x2
                f = 1.0 + x2
                g = c with [i2] += x2
                yield g, e, f
              }
              j = n - 1
              ts = each i3 < n, x3 in xs {
                t2 = cos(x3)
                yield t2
              }
              us = each i4 < n, a2 += ts {
                b = a2 with [j] += 1.0
                yield b
              }
              ws = each i5 < n, a3 += us {
                b2 = a3 with [i5] += 1.0
                yield b2
              }
              vs = each i6 < n, x4 in xs {
                row = replicate(3, x4)
                yield row
              }
              qs = each i7 < n, r in rs, a4 in vs {
                b3 = a4 + r
                yield b3
              }
              return zs, qs, ks, ws
            }

            entry f = f
        "#]],
    );
}

#[test]
fn fuse_turns_loops_around_whose_direction_nobody_can_tell() {
    let text = r"
        func f(m: [][]Real, k: Int) -> ([][]Real, [][]Real, [][]Real) {
            n = length(m)
            w = length(m, 1)
            a = each backward i < n, r in m { s = sum(r) t = replicate(w, s) yield t }
            b = each backward i < n, r in m { s = sum(r) t = replicate(k, s) yield t }
            c = each backward i < n, r in m { s = r[k] t = r with [0] += s yield t }
            return a, b, c
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(m: [][]Real, k: Int) -> ([][]Real, [][]Real, [][]Real) {
          n = length(m)
          w = length(m, 1)
          a = each i < n, r in m {
            s = sum(r)
            t = replicate(w, s)
            yield t
          }
          b = each backward i2 < n, r2 in m {
            s2 = sum(r2)
            t2 = replicate(k, s2)
            yield t2
          }
          c = each backward i3 < n, r3 in m {
            s3 = r3[k]
            t3 = r3 with [0] += s3
            yield t3
          }
          return a, b, c
        }

        entry f = f
    "#]],
    );
}

#[test]
fn rows_of_a_while_loop_are_given_once() {
    let text = r"
        func f(x: Real) -> (Real, []Real, []Real, []Real, []Real) {
            y, us, ws, vs, zs, os = while v = x { c = v < 10.0 yield c } do u {
                w = u * 1.5
                yield w, u, w, u, 0.0, -0.0
            }
            return y, us, vs, zs, os
        }
        entry f = f";
    check(
        "ends",
        text,
        &expect![[r#"
            func f(x: Real) -> (Real, []Real, []Real, []Real, []Real) {
              y, us, ws, zs, os = while v = x {
                c = v < 10.0
                yield c
              } do u {
                w = u * 1.5
                yield w, u, w, 0.0, -0.0
              }
              return y, us, us, zs, os
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_a_loop_gives_in_each_iteration_alike_is_known() {
    let text = r"
        func f(n: Int, x: Real, z: Real) -> (Real, Real) {
            y, us, as, bs = while v = x { c = v < 10.0 yield c } do u { w = u * 1.5 yield w, u, 1.0, z }
            m = length(us)
            t, cs = for backward i < m, s = y, u2 in us, a in as, b in bs {
                p = s * a q = b * u2 r = p + q e = i + n
                yield r, n
            }
            k = for j < m, l = 0.0, c2 in cs, u3 in us { d = real(c2) g = d * u3 h = l + g yield h }
            return t, k
        }
        entry f = f";
    check(
        "ends",
        text,
        &expect![[r#"
        func f(n: Int, x: Real, z: Real) -> (Real, Real) {
          y, us, as, bs = while v = x {
            c = v < 10.0
            yield c
          } do u {
            w = u * 1.5
            yield w, u, 1.0, z
          }
          m = length(us)
          t, cs = for backward i < m, s = y, u2 in us {
            p = s * 1.0
            q = z * u2
            r = p + q
            e = i + n
            yield r, n
          }
          k = for j < m, l = 0.0, u3 in us {
            d = real(n)
            g = d * u3
            h = l + g
            yield h
          }
          return t, k
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_is_added_to_one_end_of_zeros_stands_beside_the_rest() {
    let text = r"
        func f(xs: []Real) -> ([]Real, []Real, []Real, []Real) {
            n = length(xs)
            m = n - 1
            start = zeros(xs)
            before = slice(xs, 0, m)
            after = slice(xs, 1, n)
            k = length(before)
            l = length(after)
            as = each backward i < k, a += start, x in before { b = a with [i] += x yield b }
            bs = each i2 < l, a2 += start, x2 in after { j = i2 + 1 b2 = a2 with [j] += x2 yield b2 }
            cs = each i3 < l, a3 += start, x3 in after { y = x3 * x3 b3 = a3 with [i3] += y yield b3 }
            ds = each i4 < l, a4 += xs, x4 in after { b4 = a4 with [i4] += x4 yield b4 }
            return as, bs, cs, ds
        }
        entry f = f";
    check(
        "rows",
        text,
        &expect![[r#"
        func f(xs: []Real) -> ([]Real, []Real, []Real, []Real) {
          n = length(xs)
          m = n - 1
          start = zeros(xs)
          before = slice(xs, 0, m)
          after = slice(xs, 1, n)
          k = length(before)
          l = length(after)
          start2 = [0.0]
          as = concat(before, start2)
          start3 = [0.0]
          bs = concat(start3, after)
          cs = each i3 < l, a3 += start, x3 in after {
            y = x3 * x3
            b3 = a3 with [i3] += y
            yield b3
          }
          ds = each i4 < l, a4 += xs, x4 in after {
            b4 = a4 with [i4] += x4
            yield b4
          }
          return as, bs, cs, ds
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_every_iteration_required_holds_in_a_later_loop_of_as_many() {
    let text = r"
        func f(xs: []Real, n: Int, k: Int, a: Real) -> ([]Real, []Real) {
            m = length(xs)
            ys = each i < n { require m == k, count build yield 1.0 }
            zs = each i2 < n { d = m - k t = real(d) yield t }
            vs = each i3 < k { e = m - k r = real(e) yield r }
            ws = ys + zs
            return ws, vs
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
            func f(xs: []Real, n: Int, k: Int, a: Real) -> ([]Real, []Real) {
              m = length(xs)
              ys = each i < n {
                require m == k, count build
                yield 1.0
              }
              zs = each i2 < n {
                d = 0
                t = real(d)
                yield t
              }
              vs = each i3 < k {
                e = m - k
                r = real(e)
                yield r
              }
              ws = ys + zs
              return ws, vs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_loop_that_goes_the_other_way_is_joined_if_both_fail_alike() {
    // What each iteration requires does not depend on it; an index does, and would fail for another one first.
    let text = r"
        func f(xs: []Real, is: []Int, n: Int, m: Int) -> (Real, Real) {
            ys = each i < n, x in xs { require n == m, count build y = exp(x) yield y }
            s = each backward i2 < n, s += 0.0, y2 in ys { t = s + y2 yield t }
            zs = each i3 < n, place in is { z = xs[place] yield z }
            u = each backward i4 < n, u += 0.0, z2 in zs { v = u + z2 yield v }
            return s, u
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: []Real, is: []Int, n: Int, m: Int) -> (Real, Real) {
          s = each backward i2 < n, s2 += 0.0, x in xs {
            require n == m, count build
            y = exp(x)
            t = s2 + y
            yield t
          }
          zs = each i3 < n, place in is {
            z = xs[place]
            yield z
          }
          u = each backward i4 < n, u2 += 0.0, z2 in zs {
            v = u2 + z2
            yield v
          }
          return s, u
        }

        entry f = f
    "#]],
    );
}

/// What is handed on as it came, through loops inside, is known everywhere; what is not, or is another zero, stays.
#[test]
fn what_is_handed_on_is_what_it_began_with() {
    let text = r"
        func f(xs: []Real, b: Real) -> (Real, Real, Real, Real) {
            n = length(xs)
            a, d, e, z = for i < n, s = 1.0, t = b, p = 2.0, q = -0.0 {
                c, g = for j < n, u = s, v = t { w = v + u yield u, w }
                k = while h = p { ok = h < b yield ok } do m { yield m }
                r = q + c
                yield c, g, k, 0.0
            }
            return a, d, e, z
        }
        entry f = f";
    check(
        "hoist",
        text,
        &expect![[r#"
        func f(xs: []Real, b: Real) -> (Real, Real, Real, Real) {
          n = length(xs)
          ok = 2.0 < b
          a, d, e, z = for i < n, s = 1.0, t = b, p = 2.0, q = -0.0 {
            c, g = for j < n, u = 1.0, v = t {
              w = v + 1.0
              yield 1.0, w
            }
            k = while h = 2.0 {
              yield ok
            } do m {
              yield 2.0
            }
            r = q + 1.0
            yield 1.0, g, 2.0, 0.0
          }
          return 1.0, d, 2.0, z
        }

        entry f = f
    "#]],
    );
}

/// What both of them read is made for both.
#[test]
fn what_loops_read_that_were_one_is_still_made() {
    let text = r"
        func f(xs: []Real, us: []Real, vs: []Real) -> ([]Real, Real, []Real) {
            n = length(xs)
            ts = each i < n, x in xs { t = sin(x) yield t }
            as, bs, cs = each i < n, t in ts { a = t + 1.0 b = t * 2.0 c = -t yield a, b, c }
            p = for i < n, u += us, a in as { q = u with [i] += a yield q }
            s = for i < n, s = 0.0, b in bs { r = s * b yield r }
            w = for i < n, v += vs, c in cs { q = v with [i] += c yield q }
            return p, s, w
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: []Real, us: []Real, vs: []Real) -> ([]Real, Real, []Real) {
          n = length(xs)
          ts = each i < n, x in xs {
            t = sin(x)
            yield t
          }
          p = for i2 < n, u += us, t2 in ts {
            a = t2 + 1.0
            q = u with [i2] += a
            yield q
          }
          s = for i3 < n, s2 = 0.0, t3 in ts {
            b = t3 * 2.0
            r = s2 * b
            yield r
          }
          w = for i4 < n, v += vs, t4 in ts {
            c = -t4
            q2 = v with [i4] += c
            yield q2
          }
          return p, s, w
        }

        entry f = f
    "#]],
    );
}

/// Each array becomes part of the loop for which it is made; what shares much, or may fail, stays together.
#[test]
fn a_loop_that_makes_arrays_for_several_loops_is_one_for_each() {
    let text = r"
        func f(xs: []Real, ys: []Real, t: Real, us: []Real, vs: []Real) -> ([]Real, []Real, []Real, Real, Real) {
            n = length(xs)
            as, bs, ds = each i < n, x in xs, y in ys {
                k = -t a = mul_zero(k, y) b = mul_zero(k, x) d = x + y yield a, b, d
            }
            p = for i < n, u += us, a in as { q = u with [i] += a yield q }
            r = for i < n, v += vs, b in bs { j = i + 1 q = v with [j] += b yield q }
            es, gs = each i < n, x in xs { h = exp(x) e = h * x g = h + x yield e, g }
            s = for i < n, s = 0.0, e in es { o = s + e yield o }
            w = for i < n, w = 1.0, g in gs { o = w * g yield o }
            return p, r, ds, s, w
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
            func f(xs: []Real, ys: []Real, t: Real, us: []Real, vs: []Real) -> ([]Real, []Real, []Real, Real, Real) {
              n = length(xs)
              ds = each i < n, x in xs, y in ys {
                d = x + y
                yield d
              }
              p = for i2 < n, u += us, y2 in ys {
                k = -t
                a = mul_zero(k, y2)
                q = u with [i2] += a
                yield q
              }
              r = for i3 < n, v += vs, x2 in xs {
                k2 = -t
                b = mul_zero(k2, x2)
                j = i3 + 1
                q2 = v with [j] += b
                yield q2
              }
              es, gs = each i4 < n, x3 in xs {
                h = exp(x3)
                e = h * x3
                g = h + x3
                yield e, g
              }
              s = for i5 < n, s2 = 0.0, e2 in es {
                o = s2 + e2
                yield o
              }
              w = for i6 < n, w2 = 1.0, g2 in gs {
                o2 = w2 * g2
                yield o2
              }
              return p, r, ds, s, w
            }

            entry f = f
        "#]],
    );
}
