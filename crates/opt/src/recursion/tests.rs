//! What becomes a loop, and what stays.

use crate::tests::{check, stays};
use expect_test::expect;

#[test]
fn calls_inside_of_expressions_are_a_way_down_and_a_way_up() {
    let text = r"
        func raise(x: Real, n: Int) -> Real {
            done = n == 0
            p = if done { yield 1.0 } else { m = n - 1 r = raise(x, m) k = real(n) s = r * x q = s + k yield q }
            return p
        }
        entry raise = raise";
    check(
        "recursion",
        text,
        &expect![[r#"
            func raise(x: Real, n: Int) -> Real {
              n2, ns = while n3 = n {
                done = n3 == 0
                c = not(done)
                yield c
              } do n4 {
                done2 = n4 == 0
                m = n4 - 1
                yield m, n4
              }
              done3 = n2 == 0
              k = length(ns)
              r = for backward i < k, r2 = 1.0, n5 in ns {
                k2 = real(n5)
                s = r2 * x
                q = s + k2
                yield q
              }
              return r
            }

            entry raise = raise
        "#]],
    );
}

#[test]
fn calls_at_the_end_keep_nothing() {
    let text = r"
        data List { Nil() Cons(Real, List) }
        func fold(total: Real, xs: List) -> Real {
            r = match xs { Nil() { yield total } Cons(x, rest) { next = total * x s = fold(next, rest) yield s } }
            return r
        }
        entry fold = fold";
    check(
        "recursion",
        text,
        &expect![[r#"
            data List {
              Nil()
              Cons(Real, List)
            }

            func fold(total: Real, xs: List) -> Real {
              total2, xs2 = while total3 = total, xs3 = xs {
                c = match xs3 {
                  Nil() {
                    yield false
                  }
                  Cons(x, rest) {
                    yield true
                  }
                }
                yield c
              } do total4, xs4 {
                t, d = match xs4 {
                  Nil() {
                    t2: Real, d2: List = fail("the loop is over")
                    yield t2, d2
                  }
                  Cons(x2, rest2) {
                    next = total4 * x2
                    yield next, rest2
                  }
                }
                yield t, d
              }
              return total2
            }

            entry fold = fold
        "#]],
    );
}

#[test]
fn several_calls_are_told_apart_by_a_number() {
    let text = r"
        data List { Nil() Cons(Real, List) }
        func positive(xs: List) -> List {
            r = match xs {
                Nil() { n = Nil() yield n }
                Cons(x, rest) {
                    c = x > 0.0
                    l = if c { a = positive(rest) b = Cons(x, a) yield b } else { d = positive(rest) yield d }
                    yield l
                }
            }
            return r
        }
        entry positive = positive";
    check(
        "recursion",
        text,
        &expect![[r#"
            data List {
              Nil()
              Cons(Real, List)
            }

            func positive(xs: List) -> List {
              xs2, calls, xs3 = while xs4 = xs {
                c = match xs4 {
                  Nil() {
                    yield false
                  }
                  Cons(x, rest) {
                    yield true
                  }
                }
                yield c
              } do xs5 {
                d, k, t = match xs5 {
                  Nil() {
                    d2: List, k2: Int, t2: Real = fail("the loop is over")
                    yield d2, k2, t2
                  }
                  Cons(x2, rest2) {
                    c2 = x2 > 0.0
                    d3, k3, t3 = if c2 {
                      yield rest2, 0, x2
                    } else {
                      yield rest2, 1, 0.0
                    }
                    yield d3, k3, t3
                  }
                }
                yield d, k, t
              }
              n = Nil()
              k4 = length(calls)
              a = for backward i < k4, a2 = n, call in calls, x3 in xs3 {
                c3 = call == 0
                d4 = if c3 {
                  b = Cons(x3, a2)
                  yield b
                } else {
                  yield a2
                }
                yield d4
              }
              return a
            }

            entry positive = positive
        "#]],
    );
}

#[test]
fn what_calls_twice_or_asks_much_stays() {
    let stays = [
        "func f(n: Int) -> Int { c = n < 2 r = if c { yield n } else { a = n - 1 x = f(a) b = n - 2 y = f(b) z = x + y yield z } return r } entry f = f",
        "func f(x: Real) -> Real { s = sin(x) c = s > 0.5 r = if c { yield x } else { y = x + 0.1 z = f(y) yield z } return r } entry f = f",
        "func f(n: Int, d: Int) -> Int { q = div(n, d) c = q == 0 r = if c { yield n } else { m = n - 1 z = f(m, d) yield z } return r } entry f = f",
        "func f(n: Int) -> Int { m = n - 1 z = f(m) return z } entry f = f",
        "func f(n: Int, xs: []Real) -> Real { c = n == 0 r = if c { yield 0.0 } else { m = n - 1 ys = concat(xs, xs) s = f(m, ys) t = sum(xs) u = s + t yield u } return r } entry f = f",
    ];
    for text in stays {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        super::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn what_all_blocks_of_a_branch_give_is_known() {
    let text = "func f(x: Real, n: Int) -> (Real, Int) { c = x > 0.0 a, k = if c { yield x, 1 } else { d = n > 1 b, m = if d { yield x, 2 } else { yield x, 3 } yield b, m } y = a * a return y, k } entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    for pass in ["simplify", "simplify"] {
        crate::PASSES.iter().filter(|known| known.name == pass).for_each(|pass| (pass.run)(&mut program));
    }
    assert!(wengert_ir::print(&program).contains("y = x * x"), "{}", wengert_ir::print(&program));
}

#[test]
fn what_all_calls_do_first_and_alike_is_done_once() {
    let text = r"
        func go(ends: []Int, xs: []Real, k: Int, s: Real) -> Real {
            e = ends[0]
            done = k >= e
            r = if done { yield s } else { x = xs[k] t = s + x j = k + 1 r = go(ends, xs, j, t) yield r }
            return r
        }
        entry go = go";
    check(
        "recursion",
        text,
        &expect![[r#"
        func go(ends: []Int, xs: []Real, k: Int, s: Real) -> Real {
          e = ends[0]
          k2, s2 = while k3 = k, s3 = s {
            done = k3 >= e
            c = not(done)
            yield c
          } do k4, s4 {
            done2 = k4 >= e
            x = xs[k4]
            t = s4 + x
            j = k4 + 1
            yield j, t
          }
          done3 = k2 >= e
          return s2
        }

        entry go = go
    "#]],
    );
    // It is another array in each call, or something may fail before.
    for (first, array) in [("e = ends[0]", "none"), ("x = xs[k] e = ends[0]", "ends")] {
        let text = format!(
            "func go(ends: []Int, none: []Int, xs: []Real, k: Int, s: Real) -> Real {{
                {first}
                done = k >= e
                r = if done {{ yield s }} else {{ j = k + 1 r = go({array}, none, xs, j, s) yield r }}
                return r
            }}
            entry go = go"
        );
        stays("recursion", &text);
    }
}
