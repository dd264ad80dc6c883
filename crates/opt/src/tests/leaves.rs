//! Recursion that looks for leaves first.

use super::check;
use expect_test::expect;

#[test]
fn recursion_that_branches_looks_for_leaves_first() {
    let text = r"
        func fib(n: Int, x: Real) -> (Int, Real) {
            c = n < 2
            r, s = if c { y = x * x yield n, y } else {
                a = n - 1
                p, q = fib(a, x)
                b = n - 2
                u, v = fib(b, q)
                w = p + u
                yield w, v
            }
            return r, s
        }
        entry fib = fib";
    check(
        "leaves",
        text,
        &expect![[r#"
        func fib(n: Int, x: Real) -> (Int, Real) {
          c = n < 2
          r, s = if c {
            y = x * x
            yield n, y
          } else {
            a = n - 1
            c2 = a < 2
            p, q = if c2 {
              y2 = x * x
              yield a, y2
            } else {
              p2, q2 = fib(a, x)
              yield p2, q2
            }
            b = n - 2
            c3 = b < 2
            u, v = if c3 {
              y3 = q * q
              yield b, y3
            } else {
              u2, v2 = fib(b, q)
              yield u2, v2
            }
            w = p + u
            yield w, v
          }
          return r, s
        }

        entry fib = fib
    "#]],
    );
}

#[test]
fn the_list_of_a_leaf_is_not_made() {
    let text = r"
        func f(xs: []Int, a: []Real) -> Real {
            n = length(xs)
            c = n == 1
            r = if c { k = xs[0] y = a[k] yield y } else {
                m = n - 1
                s = for i < n, s = 0.0 {
                    rest = each j < m { l = j + i o = xs[l] yield o }
                    t = f(rest, a)
                    u = s + t
                    yield u
                }
                yield s
            }
            return r
        }
        entry f = f";
    check(
        "leaves",
        text,
        &expect![[r#"
            func f(xs: []Int, a: []Real) -> Real {
              n = length(xs)
              c = n == 1
              r = if c {
                k = xs[0]
                y = a[k]
                yield y
              } else {
                m = n - 1
                s = for i < n, s2 = 0.0 {
                  n2 = m
                  c2 = n2 == 1
                  t = if c2 {
                    l = 0 + i
                    o = xs[l]
                    y2 = a[o]
                    yield y2
                  } else {
                    rest = each j < m {
                      l2 = j + i
                      o2 = xs[l2]
                      yield o2
                    }
                    t2 = f(rest, a)
                    yield t2
                  }
                  u = s2 + t
                  yield u
                }
                yield s
              }
              return r
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_recursion_is_left_as_it_is() {
    // One call leads to one leaf, also if there is another one instead; a leaf that is much work; a list that is used again.
    for (text, changes) in [
        (
            "func f(n: Int) -> Int { c = n == 0 r = if c { yield 1 } else { m = n - 1 s = f(m) t = s * n yield t } return r } entry f = f",
            false,
        ),
        (
            "func f(n: Int) -> Int { c = n == 0 r = if c { xs = iota(9) s = sum(xs) yield s } else { m = n - 1 s = f(m) t = f(s) yield t } return r } entry f = f",
            false,
        ),
        (
            "func f(n: Int) -> Int { c = n == 0 r = if c { yield 1 } else { m = n - 1 s = f(m) t = checkpoint f(m) u = s + t yield u } return r } entry f = f",
            false,
        ),
        (
            "func f(n: Int) -> Int { c = n == 0 r = if c { yield 1 } else { m = n - 1 s = f(m) t = f(m) u = s + t yield u } return r } entry f = f",
            true,
        ),
    ] {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        assert_eq!(crate::leaves::run(&mut program), changes, "{text}");
        assert_eq!(wengert_ir::print(&program) != before, changes, "{text}");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
    }
}
