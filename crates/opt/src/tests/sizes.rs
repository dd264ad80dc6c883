//! Sizes of arrays, and boxes around them.

use super::{after, check};
use expect_test::expect;

#[test]
fn sizes_drop_what_is_known_and_forget_what_a_block_told() {
    let text = r"
        func f(xs: []Real, ys: []Real, rows: [][]Real, n: Int, b: Bool) -> ([]Real, Int, Int) {
            a = length(xs)
            m = max(a, 0)
            require a == m, count build
            p = max(n, 0)
            require n == p, count build
            c = length(ys)
            k = if b { require a == c, same_size map2 d = length(ys) yield d } else { yield 0 }
            zs = each i < m, x in xs { require a == c, same_size map2 l = c - a one = [x] t = one[l] yield t }
            e = length(zs)
            require e == a, same_size map2
            require c == a, same_size map2
            w = for i < n, w = xs {
                first = [1.0]
                l = length(w)
                o = l - 1
                s = slice(w, 0, o)
                v = concat(first, s)
                q = length(v)
                require a == q, same_size map2
                yield v
            }
            g = length(w)
            r = each i < a, row in rows { u = each j < a { yield 1.0 } yield u }
            h = length(r, 1)
            return w, k, h
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
            func f(xs: []Real, ys: []Real, rows: [][]Real, n: Int, b: Bool) -> ([]Real, Int, Int) {
              a = length(xs)
              c = length(ys)
              m = a
              require n >= 0, count build
              k = if b {
                require a == c, same_size map2
                d = a
                yield d
              } else {
                yield 0
              }
              zs = each i < a, x in xs {
                require a == c, same_size map2
                l = 0
                one = [x]
                t = one[l]
                yield t
              }
              e = a
              require c == a, same_size map2
              w = for i2 < n, w2 = xs {
                first = [1.0]
                l2 = a
                o = l2 - 1
                s = slice(w2, 0, o)
                v = concat(first, s)
                q = a
                yield v
              }
              g = a
              r = each i3 < a, row in rows {
                u = each j < a {
                  yield 1.0
                }
                yield u
              }
              h = a
              return w, k, h
            }

            entry f = f
        "#]],
    );
}

#[test]
fn unbox_opens_boxes_of_one_size() {
    let text = r"
        residual Row { Row([]Real) }
        func f(xs: []Real, n: Int, m: Int) -> (Real, []Real) {
            k = length(xs)
            w, rows, others = for i < n, w = xs {
                v = each j < k, x in w { y = sin(x) yield y }
                row = Row(v)
                z = each j < i { yield 1.0 }
                other = Row(z)
                yield v, row, other
            }
            s = for backward i < n, s = 0.0, row in rows, other in others {
                t = match row { Row(v) { y = v[m] yield y } }
                u = match other { Row(v) { y = v[m] yield y } }
                a = s + t
                b = a + u
                yield b
            }
            return s, w
        }
        entry f = f";
    check(
        "unbox",
        text,
        &expect![[r#"
            residual Row {
              Row([]Real)
            }

            func f(xs: []Real, n: Int, m: Int) -> (Real, []Real) {
              k = length(xs)
              w, rows, others = for i < n, w2 = xs {
                v = each j < k, x in w2 {
                  y = sin(x)
                  yield y
                }
                row = v
                z = each j2 < i {
                  yield 1.0
                }
                other = Row(z)
                yield v, row, other
              }
              s = for backward i2 < n, s2 = 0.0, row2 in rows, other2 in others {
                v2 = row2
                y2 = v2[m]
                t = y2
                u = match other2 {
                  Row(v3) {
                    y3 = v3[m]
                    yield y3
                  }
                }
                a = s2 + t
                b = a + u
                yield b
              }
              return s, w
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sizes_of_parameters_come_first_and_zeros_need_not_what_is_kept() {
    let text = r"
        func f(xs: []Real, rows: [][]Real, s: Int) -> []Real {
            y = zeros(xs)
            n = length(xs)
            z, kept = for i < s, z = y {
                m = length(z)
                require m == n, same_size map2
                u = each j < n, a in xs, b in z { c = a * b yield c }
                yield u, z
            }
            w = for i < s, w = z, row in kept {
                o = zeros(row)
                v = each j < n, a in w, b in o { c = a + b yield c }
                yield v
            }
            return w
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
            func f(xs: []Real, rows: [][]Real, s: Int) -> []Real {
              n = length(xs)
              y = zeros(xs)
              z, kept = for i < s, z2 = y {
                m = n
                u = each j < n, a in xs, b in z2 {
                  c = a * b
                  yield c
                }
                yield u, z2
              }
              w = for i2 < s, w2 = z, row in kept {
                o = zeros(xs)
                v = each j2 < n, a2 in w2, b2 in o {
                  c2 = a2 + b2
                  yield c2
                }
                yield v
              }
              return w
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sizes_are_below_what_no_memory_holds_and_not_below_less() {
    let text = r"
        func f(xs: []Real, n: Int) -> ([]Real, Int) {
            a = length(xs)
            b = a * 2
            m = max(b, 0)
            o = min(m, 8796093022208)
            require b == o, count build
            few = min(a, 3)
            p = max(n, 0)
            q = min(p, 8796093022208)
            require n == q, count build
            ys = each i < o { yield 1.0 }
            return ys, few
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
        func f(xs: []Real, n: Int) -> ([]Real, Int) {
          a = length(xs)
          b = a * 2
          m = max(b, 0)
          o = min(m, 8796093022208)
          few = min(a, 3)
          p = max(n, 0)
          q = min(p, 8796093022208)
          require n == q, count build
          ys = each i < o {
            yield 1.0
          }
          return ys, few
        }

        entry f = f
    "#]],
    );
}

#[test]
fn arrays_whose_rows_agree_are_whole() {
    let text = r"
        func f(xs: []Real, m: [][]Real, h: []Real, c: Bool) -> ([][]Real, [][]Real, [][]Real, [][]Real) {
            n = length(xs)
            same = each i < n { row = each j < n { yield 1.0 } yield row }
            whole(same)
            more = each i < n { row = iota(i) reals = each j < i, k in row { x = real(k) yield x } yield reals }
            whole(more)
            k = length(m)
            rows = each i < k, row in m {
                l = length(row)
                made = each j < l, x in row { y = sin(x) yield y }
                yield made
            }
            whole(rows)
            last, steps = for i < k, s = h, row in m {
                l = length(s)
                next = each j < l, x in s { y = sin(x) yield y }
                yield next, next
            }
            whole(steps)
            grown, longer = for i < k, s = h, row in m {
                next = concat(s, row)
                yield next, next
            }
            whole(longer)
            return same, more, rows, longer
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
            func f(xs: []Real, m: [][]Real, h: []Real, c: Bool) -> ([][]Real, [][]Real, [][]Real, [][]Real) {
              n = length(xs)
              k = length(m)
              same = each i < n {
                row = each j < n {
                  yield 1.0
                }
                yield row
              }
              more = each i2 < n {
                row2 = iota(i2)
                reals = each j2 < i2, k2 in row2 {
                  x = real(k2)
                  yield x
                }
                yield reals
              }
              whole(more)
              rows = each i3 < k, row3 in m {
                l = length(row3)
                made = each j3 < l, x2 in row3 {
                  y = sin(x2)
                  yield y
                }
                yield made
              }
              n2 = length(h)
              last, steps = for i4 < k, s = h, row4 in m {
                l2 = n2
                next = each j4 < n2, x3 in s {
                  y2 = sin(x3)
                  yield y2
                }
                yield next, next
              }
              grown, longer = for i5 < k, s2 = h, row5 in m {
                next2 = concat(s2, row5)
                yield next2, next2
              }
              whole(longer)
              return same, more, rows, longer
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_square_matrix_is_square_with_or_without_rows() {
    // Of the others it is not known that they have no rows on the other side, or it is not their number of rows that is required.
    let text = r"
        func f(x: [][]Real, y: [][]Real, z: [][]Real, w: [][]Real, k: Int) -> (Int, Int, Int, Int) {
            n = length(x)
            some = n > 0
            if some { m = length(x, 1) require n == m, named_size n 1 } else { }
            a = length(x, 1)
            p = a - n
            l = length(y)
            none = l == 0
            if none { } else { m2 = length(y, 1) require m2 == l, named_size l 1 }
            b = length(y, 1)
            q = b - l
            require k >= 0, count build
            few = k > 0
            h = length(z)
            if few { m3 = length(z, 1) require m3 == h, named_size h 1 } else { }
            c = length(z, 1)
            r = c - h
            g = length(w)
            any = g > 0
            if any { m4 = length(w, 1) require n == m4, named_size n 1 } else { }
            d = length(w, 1)
            s = d - n
            return p, q, r, s
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
            func f(x: [][]Real, y: [][]Real, z: [][]Real, w: [][]Real, k: Int) -> (Int, Int, Int, Int) {
              n = length(x)
              a = length(x, 1)
              l = length(y)
              b = length(y, 1)
              h = length(z)
              c = length(z, 1)
              g = length(w)
              d = length(w, 1)
              some = n > 0
              if some {
                m = a
                require n == m, named_size n 1
              } else {
              }
              p = 0
              none = l == 0
              if none {
              } else {
                m2 = b
                require m2 == l, named_size l 1
              }
              q = 0
              require k >= 0, count build
              few = k > 0
              if few {
                m3 = c
                require m3 == h, named_size h 1
              } else {
              }
              r = c - h
              any = g > 0
              if any {
                m4 = d
                require n == m4, named_size n 1
              } else {
              }
              s = d - n
              return p, q, r, s
            }

            entry f = f
        "#]],
    );
}

#[test]
fn comparisons_that_indices_decide_are_not_made() {
    check(
        "sizes",
        "func f(xs: []Real, n: Int) -> ([]Bool, []Bool, []Bool, []Bool, []Bool, []Bool) {
            m = length(xs)
            l = m - 1
            ps, qs, rs, ss, ts, us = each i < m {
                j = i + 1
                h = i - 1
                p = j == 0
                q = h != l
                r = i < m
                s = m <= h
                t = j > i
                k = n + 1
                u = k > n
                yield p, q, r, s, t, u
            }
            vs = each i2 < n { v = i2 == l yield v }
            return ps, qs, rs, ss, ts, vs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, n: Int) -> ([]Bool, []Bool, []Bool, []Bool, []Bool, []Bool) {
              m = length(xs)
              l = m - 1
              ps, qs, rs, ss, ts, us = each i < m {
                j = i + 1
                h = i - 1
                p = false
                q = true
                r = true
                s = false
                t = true
                k = n + 1
                u = k > n
                yield p, q, r, s, t, u
              }
              vs = each i2 < n {
                v = i2 == l
                yield v
              }
              return ps, qs, rs, ss, ts, vs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_kept_for_its_size_alone_is_not_kept() {
    check(
        "sizes",
        "func f(xss: [][]Real, yss: [][]Real, n: Int) -> [][]Real {
            m = length(xss, 1)
            l = length(yss, 1)
            require m == l, same_size map2
            zss = each i < n, xs in xss, ys in yss {
                zeros = zeros(xs)
                a = for j < m, b += zeros, y in ys { c = b with [j] += y yield c }
                yield a
            }
            return zss
        }
        entry f = f",
        &expect![[r#"
            func f(xss: [][]Real, yss: [][]Real, n: Int) -> [][]Real {
              m = length(xss, 1)
              l = length(yss, 1)
              require m == l, same_size map2
              zss = each i < n, xs in xss, ys in yss {
                zeros = zeros(ys)
                a = for j < m, b += zeros, y in ys {
                  c = b with [j] += y
                  yield c
                }
                yield a
              }
              return zss
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_count_of_what_was_made_is_none_below_zero() {
    // Outside of a block what it made says nothing.
    check(
        "sizes",
        "func f(n: Int, k: Int, b: Bool) -> ([]Real, []Real, Int) {
            c = n + 1
            t = replicate(c, 0.0)
            m = max(c, 0)
            o = min(m, 8796093022208)
            require c == o, count build
            ys = each i < o { yield 1.0 }
            zs = if b { us = replicate(k, 1.0) p = max(k, 0) vs = replicate(p, 2.0) yield vs } else { yield ys }
            q = max(k, 0)
            return t, zs, q
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, k: Int, b: Bool) -> ([]Real, []Real, Int) {
              c = n + 1
              t = replicate(c, 0.0)
              m = max(c, 0)
              o = min(m, 8796093022208)
              ys = each i < o {
                yield 1.0
              }
              zs = if b {
                us = replicate(k, 1.0)
                p = k
                vs = replicate(p, 2.0)
                yield vs
              } else {
                yield ys
              }
              q = max(k, 0)
              return t, zs, q
            }

            entry f = f
        "#]],
    );
}

#[test]
fn rows_of_a_known_size_have_it_where_there_are_rows() {
    let text = r"
        func f(x: [][]Real, y: [][]Real) -> (Int, Int, Int, Real, Bool) {
            n = length(x)
            m = length(x, 1)
            some = n > 0
            if some { require 3 == m, named_size n 1 } else { }
            none = n == 0
            k = select(none, 0, m)
            t = length(y)
            require n == t, named_size n 0
            more = t > 0
            if more { u = length(y, 1) require k == u, named_size m 1 } else { }
            v = length(y, 1)
            s = for i < n, s = 0.0, row in y {
                w = for j < v, w = s, z in row { a = w + z yield a }
                yield w
            }
            c = m < 0
            return m, k, v, s, c
        }
        entry f = f";
    check(
        "sizes",
        text,
        &expect![[r#"
        func f(x: [][]Real, y: [][]Real) -> (Int, Int, Int, Real, Bool) {
          n = length(x)
          m = length(x, 1)
          t = length(y)
          v = length(y, 1)
          some = n > 0
          if some {
            require 3 == m, named_size n 1
          } else {
          }
          none = n == 0
          k = m
          require n == t, named_size n 0
          more = t > 0
          if more {
            u = v
            require k == u, named_size m 1
          } else {
          }
          s = for i < n, s2 = 0.0, row in y {
            w = for j < 3, w2 = s2, z in row {
              a = w2 + z
              yield a
            }
            yield w
          }
          c = false
          return m, k, v, s, c
        }

        entry f = f
    "#]],
    );
}

/// Where the least element of a row is, a later loop knows for an index of what is as long; not of something else.
#[test]
fn what_a_loop_finds_is_an_index_for_a_later_one() {
    let text = |read: &str| {
        format!(
            "func f(rows: [][]Real, xs: []Real, ys: []Real) -> []Real {{
                n = length(rows)
                m = length(xs)
                places = each i < n, r in rows {{
                    ts = each k < m, x in xs {{ t = r[k] u = t - x yield u }}
                    p = argmin(ts)
                    yield p
                }}
                zs = each j < n, p2 in places {{ a = {read}[p2] b = sin(a) yield 1.0 }}
                return zs
            }}
            entry f = f"
        )
    };
    assert!(!after("dce", &text("xs")).contains("xs[p2]"));
    assert!(after("dce", &text("ys")).contains("ys[p2]"));
}

#[test]
fn what_only_uses_itself_is_said_to_be_made() {
    let text = r"
        func f(xs: []Real, ys: []Real, c: [][]Real) -> ([][]Real, Real) {
            rows = each i < 2 { first = i < 1 row = select(first, xs, ys) yield row }
            whole(rows)
            last = for i < 2, m = c {
                next = each j < 2, row in m { first = j < 1 some = select(first, row, xs) yield some }
                whole(next)
                yield next
            }
            x = xs[0]
            return rows, x
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    crate::sizes::drop_said(&mut program);
    let made = wengert_ir::print(&program);
    assert!(made.contains("whole(next)") && !made.contains("whole(rows)"), "{made}");
}
