//! Which walks are counted.

use crate::tests::{check, stays};
use expect_test::expect;

const TEXT: &str = r#"
    data List { Nil() Cons(Real, Real, List) }
    func f(list: List, d: Real) -> (Real, List, []Real) {
        rest, y, xs = while l = list, y = 1.0 {
            more = match l { Nil() { yield false } Cons(a, b, r) { yield true } }
            yield more
        } do l, y {
            x, z, s = match l {
                Nil() { u: Real, v: Real, e: List = fail("over") yield u, v, e }
                Cons(a, b, r) { t = a * y yield a, t, r }
            }
            yield s, z, x
        }
        c, rest2, ws = while c = d, l = list {
            more = match l { Nil() { yield false } Cons(a, b, r) { yield true } }
            yield more
        } do c, l {
            w, s = match l {
                Nil() { u: Real, e: List = fail("over") yield u, e }
                Cons(a, b, r) { t = a + c yield t, r }
            }
            k = sin(w)
            yield k, s, w
        }
        return y, rest2, ws
    }
    entry f = f"#;

#[test]
fn the_second_of_two_walks_is_counted() {
    check(
        "walks",
        TEXT,
        &expect![[r#"
            data List {
              Nil()
              Cons(Real, Real, List)
            }

            func f(list: List, d: Real) -> (Real, List, []Real) {
              rest, y, xs = while l = list, y2 = 1.0 {
                more = match l {
                  Nil() {
                    yield false
                  }
                  Cons(a, b, r) {
                    yield true
                  }
                }
                yield more
              } do l2, y3 {
                x, z, s = match l2 {
                  Nil() {
                    u: Real, v: Real, e: List = fail("over")
                    yield u, v, e
                  }
                  Cons(a2, b2, r2) {
                    t = a2 * y3
                    yield a2, t, r2
                  }
                }
                yield s, z, x
              }
              rest2 = rest
              n = length(xs)
              c, ws = for i < n, c2 = d, a3 in xs {
                t2 = a3 + c2
                w = t2
                k = sin(w)
                yield k, w
              }
              return y, rest2, ws
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_walks_stay() {
    let (before, second) = TEXT.split_at(TEXT.find("c, rest2").expect("it is there"));
    let changes = [
        // It begins elsewhere, asks about more, goes another way, or needs what the first one has not collected.
        ("l = list", "l = other"),
        ("Cons(a, b, r) { yield true }", "Cons(a, b, r) { big = a > 9.0 yield big }"),
        ("t = a + c", "t = b + c"),
        ("yield t, r }", "yield t, l }"),
    ];
    for (from, to) in changes {
        assert!(second.contains(from), "{from}");
        let text = format!("{before}{}", second.replacen(from, to, 1))
            .replace("(list: List,", "(list: List, other: List,");
        stays("walks", &text);
    }
}

#[test]
fn loops_from_one_number_to_another_are_counted() {
    let text = r"
        func f(x: Real) -> (Int, Real, []Real, Int, Int, Int, Int) {
            n, y, ys = while n = 5, y = x { c = n != 0 yield c } do n, y {
                m = n - 1
                k = real(n)
                z = y * k
                yield m, z, y
            }
            a = while a = 1 { c = a <= 10 yield c } do a { b = a + 4 yield b }
            a2 = while a = 10 { c = 3 < a yield c } do a { b = a - 3 yield b }
            a3 = while a = 3 { c = a > 3 yield c } do a { b = a + 1 yield b }
            a4 = while a = 7 { c = a == 7 yield c } do a { b = 2 + a yield b }
            return n, y, ys, a, a2, a3, a4
        }
        entry f = f";
    check(
        "walks",
        text,
        &expect![[r#"
        func f(x: Real) -> (Int, Real, []Real, Int, Int, Int, Int) {
          n = 0
          y, ys = for i < 5, y2 = x {
            n2 = 5 - i
            m = n2 - 1
            k = real(n2)
            z = y2 * k
            yield z, y2
          }
          a = 13
          each i2 < 3 {
            t = i2 * 4
            a2 = 1 + t
            b = a2 + 4
          }
          a2_2 = 1
          each i3 < 3 {
            t2 = i3 * -3
            a3 = 10 + t2
            b2 = a3 - 3
          }
          a3_2 = 3
          each i4 < 0 {
            a4 = 3 + i4
            b3 = a4 + 1
          }
          a4_2 = 9
          each i5 < 1 {
            t3 = i5 * 2
            a5 = 7 + t3
            b4 = 2 + a5
          }
          return n, y, ys, a, a2_2, a3_2, a4_2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn loops_without_end_and_long_ones_stay() {
    let text = r"
        func f() -> (Int, Int, Int, Int) {
            a = while a = 5 { c = a != 0 yield c } do a { b = a - 2 yield b }
            a2 = while a = 5 { c = a > 4 yield c } do a { b = a + 1 yield b }
            a3 = while a = 0 { c = a < 1000000 yield c } do a { b = a + 1 yield b }
            a4 = while a = 9223372036854775806 { c = a <= 9223372036854775807 yield c } do a { b = a + 1 yield b }
            return a, a2, a3, a4
        }
        entry f = f";
    check(
        "walks",
        text,
        &expect![[r#"
        func f() -> (Int, Int, Int, Int) {
          a = while a2 = 5 {
            c = a2 != 0
            yield c
          } do a3 {
            b = a3 - 2
            yield b
          }
          a2_2 = while a4 = 5 {
            c2 = a4 > 4
            yield c2
          } do a5 {
            b2 = a5 + 1
            yield b2
          }
          a3_2 = while a6 = 0 {
            c3 = a6 < 1000000
            yield c3
          } do a7 {
            b3 = a7 + 1
            yield b3
          }
          a4_2 = while a8 = 9223372036854775806 {
            c4 = a8 <= 9223372036854775807
            yield c4
          } do a9 {
            b4 = a9 + 1
            yield b4
          }
          return a, a2_2, a3_2, a4_2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn loops_to_a_number_that_only_running_tells_are_counted() {
    let text = r"
        func f(xs: []Real, n: Int, k: Int) -> (Int, Int, Int, Int, Int, Int) {
            m = length(xs)
            last = m - 1
            a = while a = 0 { c = a != m yield c } do a { b = a + 1 yield b }
            a2 = while a = 0 { c = a >= m d = not(c) yield d } do a { b = a + 1 yield b }
            a3 = while a = 1 { c = a <= n yield c } do a { b = a + 1 yield b }
            a4 = while a = last { c = a >= 0 yield c } do a { b = a - 1 yield b }
            a5 = while a = n { c = 3 < a yield c } do a { b = a - 1 yield b }
            a6 = while a = m { c = a > 0 yield c } do a { b = a - 1 yield b }
            return a, a2, a3, a4, a5, a6
        }
        entry f = f";
    check(
        "walks",
        text,
        &expect![[r#"
        func f(xs: []Real, n: Int, k: Int) -> (Int, Int, Int, Int, Int, Int) {
          m = length(xs)
          last = m - 1
          n2 = max(m, 0)
          n3 = n2 - 0
          n4 = 0 + n3
          a = n4
          each i < n3 {
            a2 = 0 + i
            b = a2 + 1
          }
          n5 = max(m, 0)
          n6 = n5 - 0
          n7 = 0 + n6
          a2_2 = n7
          each i2 < n6 {
            a3 = 0 + i2
            b2 = a3 + 1
          }
          n8 = max(n, 0)
          n9 = n8 - 0
          n10 = 1 + n9
          a3_2 = n10
          each i3 < n9 {
            a4 = 1 + i3
            b3 = a4 + 1
          }
          n11 = last + 1
          n12 = max(n11, 0)
          n13 = n12 - 0
          n14 = last - n13
          a4_2 = n14
          each i4 < n13 {
            a5 = last - i4
            b4 = a5 - 1
          }
          n15 = max(n, 3)
          n16 = n15 - 3
          n17 = n - n16
          a5_2 = n17
          each i5 < n16 {
            a6 = n - i5
            b5 = a6 - 1
          }
          n18 = max(m, 0)
          n19 = n18 - 0
          n20 = m - n19
          a6_2 = n20
          each i6 < n19 {
            a7 = m - i6
            b6 = a7 - 1
          }
          return a, a2_2, a3_2, a4_2, a5_2, a6_2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn loops_that_need_not_end_are_not_counted() {
    for (start, cond, step) in [
        // They go around through all integers, or would need more iterations than there are integers.
        ("n", "a != 0", "a - 1"),
        ("0", "a != n", "a + 1"),
        ("0", "a <= n", "a + 1"),
        ("n", "a >= 0", "a - 1"),
        ("n", "a < k", "a + 1"),
        ("1", "a != m", "a + 1"),
        // The limit moves, and steps do not hit it.
        ("0", "a < b", "a + 1"),
        ("0", "a < m", "a + 2"),
    ] {
        let text = format!(
            "func f(xs: []Real, n: Int, k: Int) -> (Int, Int) {{ m = length(xs) \
             a2, b2 = while a = {start}, b = n {{ c = {cond} yield c }} do a, b {{ t = {step} u = b + k yield t, u }} return a2, b2 }} entry f = f"
        );
        stays("walks", &text);
    }
}

/// A row of a sparse matrix begins anywhere, and ends where it says. What it reads tells how often it can go on.
#[test]
fn loops_from_anywhere_are_counted_by_what_they_read() {
    check(
        "walks",
        "func f(xs: []Real, from: Int, to: Int) -> (Real, Real) {
            a, s = while k = from, s = 0.0 { c = k < to yield c } do k, s { x = xs[k] t = s + x j = k + 1 yield j, t }
            b, p = while k = from, p = 1.0 { c = k == to d = not(c) yield d } do k, p {
                x = xs[k]
                c = x > 0.5
                j, q = if c { j = k + 1 q = p * x yield j, q } else { j = k + 1 yield j, p }
                yield j, q
            }
            return s, p
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, from: Int, to: Int) -> (Real, Real) {
              n = max(to, from)
              n2 = n - from
              n3 = length(xs)
              n4 = max(from, 0)
              n5 = max(n3, n4)
              n6 = n5 - n4
              n7 = n6 + 1
              n8 = min(n2, n7)
              n9 = n2 < 0
              n10 = select(n9, n7, n8)
              n11 = from + n10
              a = n11
              s = for i < n10, s2 = 0.0 {
                k = from + i
                x = xs[k]
                t = s2 + x
                j = k + 1
                yield t
              }
              n12 = to - from
              n13 = length(xs)
              n14 = max(from, 0)
              n15 = max(n13, n14)
              n16 = n15 - n14
              n17 = n16 + 1
              n18 = min(n12, n17)
              n19 = n12 < 0
              n20 = select(n19, n17, n18)
              n21 = from + n20
              b = n21
              p = for i2 < n20, p2 = 1.0 {
                k2 = from + i2
                x2 = xs[k2]
                c = x2 > 0.5
                j2, q = if c {
                  j3 = k2 + 1
                  q2 = p2 * x2
                  yield j3, q2
                } else {
                  j4 = k2 + 1
                  yield j4, p2
                }
                yield q
              }
              return s, p
            }

            entry f = f
        "#]],
    );
}

#[test]
fn loops_that_read_elsewhere_or_change_what_they_read_are_not_counted() {
    for body in [
        "x = ys[0] y = x + 0.0 t = ys with [0] = y j = k + 1 yield j, t",
        "x = ys[k] t = ys with [0] = x j = k + 1 yield j, t",
        "c = k == 3 t = if c { x = xs[k] t = ys with [0] = x yield t } else { yield ys } j = k + 1 yield j, t",
        "l = k + 1 x = xs[l] t = ys with [0] = x j = k + 1 yield j, t",
        "x = xs[k] t = ys with [0] = x j = k + 2 yield j, t",
        "x = xs[k] t = ys with [0] = x c = x > 0.0 j = if c { j = k + 1 yield j } else { j = k + 2 yield j } yield j, t",
    ] {
        let text = format!(
            "func f(xs: []Real, ys: []Real, from: Int, to: Int) -> []Real {{ \
             a, zs = while k = from, ys = ys {{ c = k < to yield c }} do k, ys {{ {body} }} return zs }} entry f = f"
        );
        stays("walks", &text);
    }
}

#[test]
fn it_is_counted_where_the_first_one_only_counts() {
    let text = |step: &str| {
        format!(
            "data List {{ Nil() Cons(Real, List) }}
            func f(list: List, d: Real) -> (Int, Real) {{
                rest, n = while l = list, k = 0 {{
                    more = match l {{ Nil() {{ yield false }} Cons(a, r) {{ yield true }} }}
                    yield more
                }} do l, k {{
                    s = match l {{ Nil() {{ e: List = fail(\"over\") yield e }} Cons(a, r) {{ yield r }} }}
                    k2 = k + {step}
                    yield s, k2
                }}
                c, rest2 = while c = d, l = list {{
                    more = match l {{ Nil() {{ yield false }} Cons(a, r) {{ yield true }} }}
                    yield more
                }} do c, l {{
                    s = match l {{ Nil() {{ e: List = fail(\"over\") yield e }} Cons(a, r) {{ yield r }} }}
                    w = sin(c)
                    yield w, s
                }}
                return n, c
            }}
            entry f = f"
        )
    };
    check(
        "walks",
        &text("1"),
        &expect![[r#"
        data List {
          Nil()
          Cons(Real, List)
        }

        func f(list: List, d: Real) -> (Int, Real) {
          rest, n = while l = list, k = 0 {
            more = match l {
              Nil() {
                yield false
              }
              Cons(a, r) {
                yield true
              }
            }
            yield more
          } do l2, k2 {
            s = match l2 {
              Nil() {
                e: List = fail("over")
                yield e
              }
              Cons(a2, r2) {
                yield r2
              }
            }
            k2_2 = k2 + 1
            yield s, k2_2
          }
          rest2 = rest
          c = for i < n, c2 = d {
            w = sin(c2)
            yield w
          }
          return n, c
        }

        entry f = f
    "#]],
    );
    stays("walks", &text("2"));
}
