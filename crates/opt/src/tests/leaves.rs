//! Recursion that looks for leaves first, and for what has only leaves after it.

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

#[test]
fn what_has_only_leaves_after_it_is_done_at_once() {
    // With two elements the loop has two iterations, and the list of the leaf one element.
    let text = r"
        func f(xs: []Int, a: []Real) -> Real {
            n = length(xs)
            c = n == 1
            r = if c { k = xs[0] y = a[k] yield y } else {
                m = n - 1
                s = for i < n, s = 0.0, x in xs {
                    e = m == 1
                    t = if e { d = 0 < i o = xs[0] p = xs[1] q = if d { yield o } else { yield p } u = a[q] yield u } else {
                        rest = each j < m { l = j + i o = xs[l] yield o }
                        t = f(rest, a)
                        yield t
                    }
                    v = a[x]
                    w = t * v
                    u = s + w
                    yield u
                }
                yield s
            }
            return r
        }
        entry f = f";
    check(
        "twigs",
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
                s = for i < n, s2 = 0.0, x in xs {
                  e = m == 1
                  t = if e {
                    d = 0 < i
                    o = xs[0]
                    p = xs[1]
                    q = if d {
                      yield o
                    } else {
                      yield p
                    }
                    u = a[q]
                    yield u
                  } else {
                    is_last = m == 2
                    t2 = if is_last {
                      l = 0 + i
                      o2 = xs[l]
                      l2 = 1 + i
                      o3 = xs[l2]
                      rest = [o2, o3]
                      x2 = rest[0]
                      o4 = rest[0]
                      p2 = rest[1]
                      u2 = a[p2]
                      v = a[x2]
                      w = u2 * v
                      u3 = 0.0 + w
                      x3 = rest[1]
                      o5 = rest[0]
                      p3 = rest[1]
                      u4 = a[o5]
                      v2 = a[x3]
                      w2 = u4 * v2
                      u5 = u3 + w2
                      yield u5
                    } else {
                      rest2 = each j < m {
                        l3 = j + i
                        o6 = xs[l3]
                        yield o6
                      }
                      t3 = f(rest2, a)
                      yield t3
                    }
                    yield t2
                  }
                  v3 = a[x]
                  w3 = t * v3
                  u6 = s2 + w3
                  yield u6
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
fn the_number_that_tells_may_be_a_parameter() {
    let text = r"
        func f(n: Int, x: Real) -> Real {
            c = n > 0
            r = if c {
                m = n - 1
                d = m > 0
                s = for i < n, s = x {
                    p = if d { q = f(m, s) yield q } else { q = exp(s) yield q }
                    y = x * p
                    yield y
                }
                yield s
            } else { q = exp(x) yield q }
            return r
        }
        entry f = f";
    check(
        "twigs",
        text,
        &expect![[r#"
        func f(n: Int, x: Real) -> Real {
          c = n > 0
          r = if c {
            m = n - 1
            d = m > 0
            s = for i < n, s2 = x {
              p = if d {
                is_last = m == 1
                q = if is_last {
                  q2 = exp(s2)
                  y = s2 * q2
                  yield y
                } else {
                  q3 = f(m, s2)
                  yield q3
                }
                yield q
              } else {
                q4 = exp(s2)
                yield q4
              }
              y2 = x * p
              yield y2
            }
            yield s
          } else {
            q5 = exp(x)
            yield q5
          }
          return r
        }

        entry f = f
    "#]],
    );
}

#[test]
fn where_it_is_not_known_what_has_only_leaves_after_it_nothing_is_done() {
    for text in [
        // Nobody looks for leaves; the number is no parameter; how many iterations there are is not known; there is no loop.
        "func f(n: Int) -> Int { c = n == 0 r = if c { yield 1 } else { m = n - 1 e = m == 0 s = if e { yield 1 } else { s = f(m) yield s } t = if e { yield 1 } else { t = f(m) yield t } u = s + t yield u } return r } entry f = f",
        "func f(n: Int) -> Int { c = n == 0 r = if c { yield 1 } else { m = n - 1 s = f(m) t = f(m) u = s + t yield u } return r } entry f = f",
        "func f(n: Int) -> Int { h = n * n c = h == 0 r = if c { yield 1 } else { m = n - 1 e = m == 0 s = if e { yield 1 } else { s = f(m) yield s } t = f(s) yield t } return r } entry f = f",
        "func f(n: Int, k: Int) -> Int { c = n == 0 r = if c { yield 1 } else { m = n - 1 e = m == 0 r = for i < k, r = 0 { s = if e { yield 1 } else { s = f(m, r) yield s } t = s + r yield t } yield r } return r } entry f = f",
    ] {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        assert!(!crate::twigs::run(&mut program), "{text}");
        assert_eq!(wengert_ir::print(&program), before);
    }
}

/// A function with its loops unrolled and simplified.
fn unrolled(text: &str) -> String {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        crate::unroll::block(func, &mut body);
        func.body = body;
        crate::simplify::function(func);
    }
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    wengert_ir::print(&program)
}

#[test]
fn short_loops_are_unrolled_in_their_order() {
    let text = "func f(xs: []Real, zs: []Real) -> (Real, []Real, []Real) {
        s, ws, ys = for backward i < 2, s = 1.0, ws += zs, x in xs {
            t = s - x
            y = x * t
            vs = ws with [i] += y
            yield t, vs, y
        }
        return s, ws, ys
    }
    entry f = f";
    expect![[r#"
        func f(xs: []Real, zs: []Real) -> (Real, []Real, []Real) {
          x = xs[1]
          t = 1.0 - x
          y = x * t
          vs = zs with [1] += y
          x2 = xs[0]
          t2 = t - x2
          y2 = x2 * t2
          vs2 = vs with [0] += y2
          ys = [y2, y]
          return t2, vs2, ys
        }

        entry f = f
    "#]]
    .assert_eq(&unrolled(text));
}

#[test]
fn long_loops_and_those_that_make_arrays_of_arrays_stay() {
    for text in [
        "func f(xs: []Real) -> Real { s = for i < 5, s = 0.0, x in xs { t = s + x yield t } return s } entry f = f",
        "func f(k: Int) -> [][]Real { s = each i < 2 { r = replicate(k, 1.0) yield r } return s } entry f = f",
        "func f(xs: []Real) -> Real { s = reduce i < 2, s = 0.0, x in xs { t = s + x yield t } return s } entry f = f",
    ] {
        let program = wengert_ir::parse(text).expect("the text is a program");
        assert_eq!(unrolled(text), wengert_ir::print(&program));
    }
}
