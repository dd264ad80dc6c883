//! What is known, and what it makes simpler: numbers, sums, comparisons, parts of tuples.

use super::check;
use expect_test::expect;

#[test]
fn simplify_uses_what_is_known() {
    let text = r"
        data Shape { Circle(Real); Square(Real) }
        func f(x: Real, n: Int) -> (Real, Int, Int) {
            s = Circle(x)
            a = match s { Circle(r) { b = r * r yield b } Square(w) { yield w } }
            c = 1 < 2
            d = if c { yield a } else { yield 0.0 }
            xs = [x, d]
            g = xs[1]
            k = length(xs)
            m = k * 1
            p = bit_and(13, 6)
            q = p + m
            h = mul_zero(g, 2.0)
            j = h * 1.0
            return j, m, q
        }
        entry f = f";
    check(
        "simplify",
        text,
        &expect![[r#"
        data Shape {
          Circle(Real)
          Square(Real)
        }

        func f(x: Real, n: Int) -> (Real, Int, Int) {
          s = Circle(x)
          b = x * x
          xs = [x, b]
          h = b * 2.0
          return h, 2, 6
        }

        entry f = f
    "#]],
    );
}

#[test]
fn cse_stays_inside_of_its_block() {
    let text = r"
        func f(x: Real, c: Bool) -> Real {
            a = sin(x)
            b = if c { d = sin(x) e = cos(x) g = d + e yield g } else { h = cos(x) yield h }
            k = cos(x)
            l = a + b
            m = l * k
            return m
        }
        entry f = f";
    check(
        "cse",
        text,
        &expect![[r#"
        func f(x: Real, c: Bool) -> Real {
          a = sin(x)
          b = if c {
            e = cos(x)
            g = a + e
            yield g
          } else {
            h = cos(x)
            yield h
          }
          k = cos(x)
          l = a + b
          m = l * k
          return m
        }

        entry f = f
    "#]],
    );
}

#[test]
fn sums_and_products_are_the_same_either_way() {
    let text = r"
        func f(x: Real, y: Real) -> (Real, Real, Real) {
            a = x * y b = y * x c = 0.5 * a d = b * 0.5 e = x - y g = y - x h = d + c
            return h, e, g
        }
        entry f = f";
    check(
        "cse",
        text,
        &expect![[r#"
            func f(x: Real, y: Real) -> (Real, Real, Real) {
              a = x * y
              c = 0.5 * a
              e = x - y
              g = y - x
              h = c + c
              return h, e, g
            }

            entry f = f
        "#]],
    );
}

#[test]
fn known_numbers_and_fields_given_twice_are_bound_where_they_are_needed() {
    let text = r"
        data Tape { End(Real); More(Real, Real, Real, Int, Tape) }
        func go(n: Int, x: Real, step: Real) -> Tape {
            z = n == 0
            t = if z { e = End(x) yield e } else {
                m = n - 1
                y = x * step
                rest = go(m, y, step)
                a = More(y, step, y, 3, rest)
                yield a
            }
            return t
        }
        func back(t: Tape, w: Real) -> Real {
            s = match t {
                End(x) { yield x }
                More(a, b, c, k, rest) {
                    r = back(rest, a)
                    d = b * c
                    q = real(k)
                    u = d + q
                    v = u * r
                    yield v
                }
            }
            return s
        }
        func f(x: Real, n: Int) -> Real { t = go(n, x, 0.5) r = back(t, 1.0) return r }
        entry f = f";
    check(
        "known",
        text,
        &expect![[r#"
            data Tape {
              End(Real)
              More(Real, Real, Real, Int, Tape)
            }

            func go(n: Int, x: Real, step: Real) -> Tape {
              step2 = 0.5
              z = n == 0
              t = if z {
                e = End(x)
                yield e
              } else {
                m = n - 1
                y = x * step2
                rest = go(m, y, step2)
                a = More(y, step2, y, 3, rest)
                yield a
              }
              return t
            }

            func back(t: Tape, w: Real) -> Real {
              s = match t {
                End(x) {
                  yield x
                }
                More(a, b, c, k, rest) {
                  b2 = 0.5
                  c2 = a
                  k2 = 3
                  r = back(rest, a)
                  d = b2 * c2
                  q = real(k2)
                  u = d + q
                  v = u * r
                  yield v
                }
              }
              return s
            }

            func f(x: Real, n: Int) -> Real {
              t = go(n, x, 0.5)
              r = back(t, 1.0)
              return r
            }

            entry f = f
        "#]],
    );
}

#[test]
fn known_leaves_data_that_is_given_from_outside() {
    let text = r"
        data Pair { Pair(Real, Real) }
        func f(p: Pair, x: Real) -> (Real, Pair) {
            q = Pair(x, x)
            a = match p { Pair(u, v) { w = u - v yield w } }
            return a, q
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    let before = wengert_ir::print(&program);
    crate::known::run(&mut program);
    assert_eq!(wengert_ir::print(&program), before);
}

#[test]
fn branches_on_one_condition_become_one() {
    let text = r"
        func f(x: Real, n: Int) -> (Real, Real) {
            p = x > 0.0
            c = if p { yield 0.0 } else { k = cos(x) yield k }
            z = x * x
            d = if p { y = z + x yield y } else { yield c }
            a = if p { i = div(2, n) yield i } else { yield n }
            j = div(1, n)
            e = if p { r = real(a) yield r } else { yield z }
            return d, e
        }
        entry f = f";
    check(
        "branches",
        text,
        &expect![[r#"
        func f(x: Real, n: Int) -> (Real, Real) {
          p = x > 0.0
          z = x * x
          d = if p {
            y = z + x
            yield y
          } else {
            k = cos(x)
            yield k
          }
          a = if p {
            i = div(2, n)
            yield i
          } else {
            yield n
          }
          j = div(1, n)
          e = if p {
            r = real(a)
            yield r
          } else {
            yield z
          }
          return d, e
        }

        entry f = f
    "#]],
    );
    // What else is used stays where it is, and so does what may fail before something that may.
    let stays = [("return d, e", "g = d + c return g, e"), ("z = x * x", "z = x * c")];
    for (from, to) in stays {
        let text = text.replace(from, to);
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::branches::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

#[test]
fn sums_with_zero_are_dropped_where_nothing_is_minus_zero() {
    let text = r"
        func f(x: Real, y: Real) -> (Real, Real, Real, Real) {
            a = x * x
            b = 0.0 + a
            c = sqrt(b)
            d = c + 0.0
            e = 0.0 - y
            g = e + 0.0
            h = -y
            i = 0.0 + h
            j = x - h
            k = h + d
            l = y + 0.0
            m = g + i
            return d, m, j, k, l
        }
        entry f = f"
        .replace("(Real, Real, Real, Real)", "(Real, Real, Real, Real, Real)");
    check(
        "simplify",
        &text,
        &expect![[r#"
        func f(x: Real, y: Real) -> (Real, Real, Real, Real, Real) {
          a = x * x
          c = sqrt(a)
          e = 0.0 - y
          h = -y
          i = 0.0 + h
          j = x - h
          k = h + c
          l = y + 0.0
          m = e + i
          return c, m, j, k, l
        }

        entry f = f
    "#]],
    );
}

#[test]
fn parts_of_a_tuple_get_the_names_of_the_function_that_takes_it_apart() {
    let text = r"
        func main(p: Real, p2: Real, q: Real) -> Real {
            a = f(p, p2, q)
            return a
        }
        func f(u: Real, v: Real, w: Real) -> Real {
            b = u * v
            c = b * w
            return c
        }
        entry main = main";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    // As the parts of a parameter that was a tuple.
    let main = program.funcs.ids().next().expect("a function");
    let func = program.funcs.at_mut(main);
    let [first, second] = [0, 1].map(|i| func.body.params.get(i).copied().expect("a parameter"));
    func.vars.at_mut(second).name = func.vars.at(first).name;
    crate::inline::run(&mut program);
    expect![[r#"
        func main(u: Real, v: Real, q: Real) -> Real {
          b = u * v
          c = b * q
          a = c
          return a
        }

        func f(u: Real, v: Real, w: Real) -> Real {
          b = u * v
          c = b * w
          return c
        }

        entry main = main
    "#]]
    .assert_eq(&wengert_ir::print(&program));
}

#[test]
fn what_is_not_equal_differs() {
    check(
        "simplify",
        "func f(n: Int, x: Real) -> (Bool, Bool, Real, Bool) {
            a = n == 0 b = not(a) c = x != 1.0 d = not(c) e = x < 1.0 g = not(e)
            y = if b { yield x } else { z = exp(x) yield z }
            h = not(b)
            return d, g, y, h
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, x: Real) -> (Bool, Bool, Real, Bool) {
              a = n == 0
              b = n != 0
              c = x != 1.0
              d = x == 1.0
              e = x < 1.0
              g = not(e)
              y = if a {
                z = exp(x)
                yield z
              } else {
                yield x
              }
              return d, g, y, a
            }

            entry f = f
        "#]],
    );
}

/// What is added to an integer and subtracted again; where it goes around the end, too.
#[test]
fn there_and_back_is_nothing() {
    let text = r"
        func f(n: Int, k: Int) -> (Int, Int, Int, Int) {
            a = n - 1 b = a + 1
            c = 9223372036854775807 + n d = c - 9223372036854775807
            e = n + 2 g = e - 1
            h = n + k i = h - 1
            return b, d, g, i
        }
        entry f = f";
    check(
        "simplify",
        text,
        &expect![[r#"
        func f(n: Int, k: Int) -> (Int, Int, Int, Int) {
          a = n - 1
          c = 9223372036854775807 + n
          e = n + 2
          g = e - 1
          h = n + k
          i = h - 1
          return n, n, g, i
        }

        entry f = f
    "#]],
    );
}
