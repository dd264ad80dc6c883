//! What conditions say on the sides of branches, and what is known where an array has rows.

use super::check;
use expect_test::expect;

#[test]
fn what_a_condition_says_is_there_does_not_fail() {
    // Neither loop fails: the places that they read are there on those sides, so they are one.
    check(
        "fuse",
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            m = n - 1
            t = slice(xs, 1, n)
            ys = each i < n {
                c = i < m
                y = if c { a = t[i] yield a } else { yield 0.0 }
                yield y
            }
            zs = each j < n, y in ys {
                first = j == 0
                last = j == m
                edge = select(first, true, last)
                z = if edge { yield y } else { k = j - 1 l = j + 1 b = xs[k] c = xs[l] d = b + c yield d }
                yield z
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              m = n - 1
              t = slice(xs, 1, n)
              zs = each j < n {
                c = j < m
                y = if c {
                  a = t[j]
                  yield a
                } else {
                  yield 0.0
                }
                first = j == 0
                last = j == m
                edge = select(first, true, last)
                z = if edge {
                  yield y
                } else {
                  k = j - 1
                  l = j + 1
                  b = xs[k]
                  c2 = xs[l]
                  d = b + c2
                  yield d
                }
                yield z
              }
              return zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_no_condition_says_may_fail_still() {
    // On the other side of the condition; and where the sums may be too large for integers: both loops may fail, so they stay two.
    for (condition, place) in [
        ("c = i >= m", "p = i + 1"),
        ("c = i != m", "p = i + 2"),
        ("c = k >= -1", "p = k + 1"),
        ("l = k + i c = l < m", "p = l + 0"),
    ] {
        let text = format!(
            "func f(xs: []Real, k: Int) -> []Real {{
                n = length(xs)
                m = n - 1
                ys = each i < n {{
                    {condition}
                    y = if c {{ {place} a = xs[p] yield a }} else {{ yield 0.0 }}
                    yield y
                }}
                zs = each j < n, y in ys {{ q = j + k b = xs[q] z = b * y yield z }}
                return zs
            }}
            entry f = f"
        );
        let mut program = wengert_ir::parse(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let before = wengert_ir::print(&program);
        crate::fuse::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn rows_of_arrays_that_have_rows_are_as_long_as_is_known() {
    // In a loop through as many as there are rows; elsewhere there may be none, and the size is 0.
    check(
        "sizes",
        "func f(n: Int, m: Int) -> ([]Real, []Real) {
            a = each i < n { r = each j < m { yield 1.0 } yield r }
            k = length(a, 1)
            s = each i < n, row in a { t = for j < k, t = 0.0, x in row { u = t + x yield u } yield t }
            z = each i < 3 { t = for j < k, t = 0.0 { u = t + 1.0 yield u } yield t }
            return s, z
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, m: Int) -> ([]Real, []Real) {
              a = each i < n {
                r = each j < m {
                  yield 1.0
                }
                yield r
              }
              k = length(a, 1)
              s = each i2 < n, row in a {
                t = for j2 < m, t2 = 0.0, x in row {
                  u = t2 + x
                  yield u
                }
                yield t
              }
              z = each i3 < 3 {
                t3 = for j3 < k, t4 = 0.0 {
                  u2 = t4 + 1.0
                  yield u2
                }
                yield t3
              }
              return s, z
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sizes_of_rows_that_are_handed_on_are_asked_for_before() {
    // Where each step keeps them; not where one changes them.
    check(
        "sizes",
        "func f(a: [][]Real) -> ([][]Real, [][]Real) {
            n = length(a)
            b = for k < 10, b = a {
                m = length(b, 1)
                c = each i < n { r = each j < m { yield 2.0 } yield r }
                yield c
            }
            d = for k < 10, b = a {
                m = length(b, 1)
                l = m + 1
                c = each i < n { r = each j < l { yield 2.0 } yield r }
                yield c
            }
            return b, d
        }
        entry f = f",
        &expect![[r#"
            func f(a: [][]Real) -> ([][]Real, [][]Real) {
              n = length(a)
              n2 = length(a, 1)
              b = for k < 10, b2 = a {
                m = n2
                c = each i < n {
                  r = each j < n2 {
                    yield 2.0
                  }
                  yield r
                }
                yield c
              }
              d = for k2 < 10, b3 = a {
                m2 = length(b3, 1)
                l = m2 + 1
                c2 = each i2 < n {
                  r2 = each j2 < l {
                    yield 2.0
                  }
                  yield r2
                }
                yield c2
              }
              return b, d
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_taken_from_a_number_may_be_nothing() {
    // The first of these indices is 2, which is the last place in one array, and beyond the other.
    let text = |array: &str| {
        format!(
            "func f(x: Real) -> Real {{
                xs = {array}
                each i < 2 {{ k = 2 - i a = xs[k] }}
                return x
            }}
            entry f = f"
        )
    };
    check(
        "dce",
        &text("[1.0, 2.0, 3.0]"),
        &expect![[r#"
            func f(x: Real) -> Real {
              return x
            }

            entry f = f
        "#]],
    );
    check(
        "dce",
        &text("[1.0, 2.0]"),
        &expect![[r#"
        func f(x: Real) -> Real {
          xs = [1.0, 2.0]
          each i < 2 {
            k = 2 - i
            a = xs[k]
          }
          return x
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_quotients_say_is_there_does_not_fail() {
    // Pairs of neighbors, and halves: what reads them becomes part of what adds up. Not what is behind the last pair, nor of what may be negative.
    let fused = |size: &str, first: &str, second: &str| {
        let text = format!(
            "func f(xs: []Real, k: Int) -> Real {{
                n = length(xs)
                h = {size}
                l = max(h, 0)
                ys = each i < l {{ t = i * 2 j = {first} k2 = {second} a = xs[j] b = xs[k2] c = a * b yield c }}
                zs = each i < l {{ t = i * 2 j = {first} k2 = {second} a = xs[j] b = xs[k2] c = a - b yield c }}
                s = for i < l, s = 0.0, y in ys, z in zs {{ a = y * z b = s + a yield b }}
                return s
            }}
            entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        crate::optimize(&mut program, &crate::Options::default());
        let printed = wengert_ir::print(&program);
        !printed.contains("each ")
    };
    assert!(fused("n / 2", "t + 0", "t + 1"));
    assert!(fused("n / 2", "i + 0", "i + h"));
    assert!(fused("n / 3", "t + i", "j + 2"));
    assert!(!fused("n / 2", "t + 0", "t + 2"));
    assert!(!fused("n / 2", "i + h", "h + h"));
    assert!(!fused("n / 3", "t + i", "j + 3"));
    assert!(!fused("k / 2", "t + 0", "t + 1"));
}
