//! Programs in, derivative programs out: what is made should read as if a person had written it.

use expect_test::{Expect, expect};
use std::collections::BTreeSet;
use wengert_ir::verify::verify;
use wengert_ir::{Program, parse, print};

/// The program with its derivatives made, checked before and after, and once more after having been read back.
fn made(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    if let Err(errors) = verify(&program) {
        panic!("before: {errors:#?}");
    }
    let made = wengert_ad::differentiate(program);
    if let Err(errors) = verify(&made) {
        panic!("{}\nafter: {errors:#?}", print(&made));
    }
    parse(&print(&made)).unwrap_or_else(|error| panic!("{}\nread back: {error}", print(&made)))
}

/// What was added to the program, as text.
#[track_caller]
fn check(text: &str, expected: &Expect) {
    let before: BTreeSet<String> = declarations(&print(&parse(text).expect("it is read"))).collect();
    let after = print(&made(text));
    let new: Vec<String> = declarations(&after).filter(|part| !before.contains(part)).collect();
    expected.assert_eq(&format!("{}\n", new.join("\n\n")));
}

fn declarations(text: &str) -> impl Iterator<Item = String> {
    let parts: Vec<String> = text.split("\n\n").map(|part| part.trim_end().to_owned()).collect();
    parts.into_iter().filter(|part| !part.starts_with("entry"))
}

#[test]
fn straight_line_code() {
    let text = "
residual F {}
linear f_map of f(varies, varies) keeps F
func f(x: Real, y: Real) -> Real {
  a = sin(x)
  b = a * y
  c = b / x
  return c
}
func main(x: Real, y: Real) -> (Real, Real, Real, Real) {
  v, r = linearize f_map(x, y)
  gx, gy = backward f_map(r, 1.0)
  z, t = jvp f(x, y; 1.0, _)
  return v, gx, gy, t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(x: Real, y: Real) -> (Real, Real, Real, Real) {
              c, t, a, c2 = primal_f(x, y)
              t2, t3 = back_f(t, y, a, c2, x, 1.0)
              c3, c' = jvp_f(x, y, 1.0)
              return c, t2, t3, c'
            }

            func primal_f(x: Real, y: Real) -> (Real, Real, Real, Real) {
              a = sin(x)
              t = cos(x)
              b = a * y
              c = b / x
              return c, t, a, c
            }

            func back_f(t: Real, y: Real, a: Real, c: Real, x: Real, c_bar: Real) -> (Real, Real) {
              t2 = div_zero(c_bar, x)
              t3 = mul_zero(t2, c)
              x_bar = -t3
              a_bar = mul_zero(t2, y)
              y_bar = mul_zero(t2, a)
              t4 = mul_zero(a_bar, t)
              x_bar2 = x_bar + t4
              return x_bar2, y_bar
            }

            func jvp_f(x: Real, y: Real, x': Real) -> (Real, Real) {
              a = sin(x)
              t = cos(x)
              a' = mul_zero(x', t)
              b = a * y
              b' = mul_zero(a', y)
              c = b / x
              t2 = mul_zero(x', c)
              t3 = b' - t2
              c' = div_zero(t3, x)
              return c, c'
            }
        "#]],
    );
}

#[test]
fn cases_of_a_rule_are_coefficients() {
    let text = "
residual F {}
linear f_map of f(varies, varies) keeps F
func f(x: Real, y: Real) -> Real {
  a = max(x, y)
  b = abs(a)
  return b
}
func main(x: Real, y: Real) -> (Real, Real) {
  v, r = linearize f_map(x, y)
  gx, gy = backward f_map(r, 1.0)
  return gx, gy
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(x: Real, y: Real) -> (Real, Real) {
              b, slope, slope2, t = primal_f(x, y)
              t2, t3 = back_f(slope, slope2, t, 1.0)
              return t2, t3
            }

            func primal_f(x: Real, y: Real) -> (Real, Real, Real, Real) {
              a = max(x, y)
              c = y <= x
              slope = if c {
                yield 1.0
              } else {
                c2 = x < y
                slope2 = select(c2, 0.0, a)
                yield slope2
              }
              slope3 = 1.0 - slope
              b = abs(a)
              t = sign(a)
              return b, slope, slope3, t
            }

            func back_f(slope: Real, slope2: Real, t: Real, b_bar: Real) -> (Real, Real) {
              a_bar = mul_zero(b_bar, t)
              x_bar = mul_zero(a_bar, slope)
              y_bar = mul_zero(a_bar, slope2)
              return x_bar, y_bar
            }
        "#]],
    );
}

/// What only a constructor that nobody makes would make is not made either; what an entry takes or gives may have any.
#[test]
fn what_nobody_makes_goes() {
    let text = "
data Shape { Round(Real); Square(Real); Both(Shape, Shape); None() }
data Known { First(Real); Second(Real); Third() }
func area(s: Shape) -> Real {
  a = match s {
    Round(r) {
      b = r * r
      yield b
    }
    Square(x) {
      yield x
    }
    Both(s2, s3) {
      n = Shape::None()
      c = area(n)
      d = area(s2)
      e = c + d
      yield e
    }
    None() {
      yield 0.0
    }
  }
  return a
}
func f(x: Real, k: Known) -> Real {
  c = x < 0.0
  s = if c {
    s2 = Shape::Round(x)
    yield s2
  } else {
    s3 = Shape::Square(x)
    yield s3
  }
  a = area(s)
  b = match k {
    First(y) {
      yield y
    }
    Second(y2) {
      yield y2
    }
    Third() {
      yield x
    }
  }
  d = a * b
  return d
}
func main(x: Real, k: Known) -> Real {
  y, t = jvp f(x, k; 1.0, _)
  return t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
        data Shape {
          Round(Real)
          Square(Real)
        }

        tangent Shape' of Shape {
          Round'(Real)
          Square'(Real)
        }

        func area(s: Shape) -> Real {
          result: Real = fail("what there is not is taken apart")
          return result
        }

        func f(x: Real, k: Known) -> Real {
          result: Real = fail("what there is not is taken apart")
          return result
        }

        func main(x: Real, k: Known) -> Real {
          d, d' = jvp_f(x, k, 1.0)
          return d'
        }

        func jvp_f(x: Real, k: Known, x': Real) -> (Real, Real) {
          c = x < 0.0
          s, s' = if c {
            s2 = Round(x)
            s2' = Round'(x')
            yield s2, s2'
          } else {
            s3 = Square(x)
            s3' = Square'(x')
            yield s3, s3'
          }
          a, a' = jvp_area(s, s')
          b, b' = match k {
            First(y) {
              yield y, 0.0
            }
            Second(y2) {
              yield y2, 0.0
            }
            Third() {
              yield x, x'
            }
          }
          d = a * b
          t = mul_zero(a', b)
          t2 = mul_zero(b', a)
          d' = t + t2
          return d, d'
        }

        func jvp_area(s: Shape, s': Shape') -> (Real, Real) {
          a, a' = match s {
            Round(r) {
              r' = fields_Round'(s')
              b = r * r
              t = mul_zero(r', r)
              t2 = mul_zero(r', r)
              b' = t + t2
              yield b, b'
            }
            Square(x) {
              x' = fields_Square'(s')
              yield x, x'
            }
          }
          return a, a'
        }

        func fields_Round'(tangent: Shape') -> Real {
          t = match tangent {
            Round'(t2) {
              yield t2
            }
            Square'(t3) {
              t4: Real = fail("a tangent belongs to another constructor")
              yield t4
            }
          }
          return t
        }

        func fields_Square'(tangent: Shape') -> Real {
          t = match tangent {
            Round'(t2) {
              t3: Real = fail("a tangent belongs to another constructor")
              yield t3
            }
            Square'(t4) {
              yield t4
            }
          }
          return t
        }

        func fields_Both'(tangent: Shape') -> (Shape', Shape') {
          result: Shape', result2: Shape' = fail("what there is not is taken apart")
          return result, result2
        }
    "#]],
    );
    let after = print(&made(text));
    let kept = |name: &str| after.contains(&format!("  {name}"));
    assert!(kept("Round(Real)") && !kept("Both(Shape") && kept("Third()"), "{after}");
}

#[test]
fn recursion_has_a_tape() {
    let text = "
data List { Nil(); Cons(Real, List) }
residual S {}
linear norm_map of norm(varies) keeps S
func norm(xs: List) -> Real {
  s = match xs {
    Nil() {
      yield 0.0
    }
    Cons(x, rest) {
      square = x * x
      others = norm(rest)
      total = square + others
      yield total
    }
  }
  return s
}
func main(xs: List) -> List {
  v, r = linearize norm_map(xs)
  g = backward norm_map(r, 1.0)
  return g
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            tangent List' of List {
              Zero()
              Cons'(Real, List')
            }

            residual norm_tape {
              Nil()
              Cons(Real, norm_tape)
            }

            residual Case {}

            func main(xs: List) -> List {
              s, tape = primal_norm(xs)
              d = back_norm(tape, 1.0)
              d2 = surface_of_List(xs, d)
              return d2
            }

            func primal_norm(xs: List) -> (Real, norm_tape) {
              s, tape = match xs {
                Nil() {
                  tape2 = norm_tape::Nil()
                  yield 0.0, tape2
                }
                Cons(x, rest) {
                  square = x * x
                  others, tape3 = primal_norm(rest)
                  total = square + others
                  tape4 = norm_tape::Cons(x, tape3)
                  yield total, tape4
                }
              }
              return s, tape
            }

            func back_norm(tape: norm_tape, s_bar: Real) -> List' {
              xs_bar = match tape {
                Nil() {
                  d = Zero()
                  yield d
                }
                Cons(x, tape2) {
                  rest_bar = back_norm(tape2, s_bar)
                  x_bar = mul_zero(s_bar, x)
                  t = mul_zero(s_bar, x)
                  x_bar2 = x_bar + t
                  d2 = Cons'(x_bar2, rest_bar)
                  yield d2
                }
              }
              return xs_bar
            }

            func surface_of_List(x: List, t: List') -> List {
              d = match x {
                Nil() {
                  d2 = List::Nil()
                  yield d2
                }
                Cons(x2, x3) {
                  t2, d3 = fields_Cons'(t)
                  d4 = surface_of_List(x3, d3)
                  d5 = List::Cons(t2, d4)
                  yield d5
                }
              }
              return d
            }

            func fields_Cons'(tangent: List') -> (Real, List') {
              t, d = match tangent {
                Zero() {
                  d2 = Zero()
                  yield 0.0, d2
                }
                Cons'(t2, t3) {
                  yield t2, t3
                }
              }
              return t, d
            }
        "#]],
    );
}

#[test]
fn arms_compute_cheap_numbers_again() {
    // `p` is a product of what the derivative mentions in any case; the sine is kept.
    let text = "
residual F {}
linear f_map of f(fixed, varies, varies) keeps F
func f(n: Int, x: Real, c: Real) -> Real {
  y2 = for i < n, y = x {
    big = y > 1.0
    z = if big {
      p = c * y
      q = p * y
      yield q
    } else {
      s = sin(y)
      r = s * y
      yield r
    }
    yield z
  }
  return y2
}
func main(n: Int, x: Real, c: Real) -> (Real, Real) {
  v, r = linearize f_map(n, x, c)
  gx, gc = backward f_map(r, 1.0)
  return gx, gc
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(n: Int, x: Real, c: Real) -> (Real, Real) {
              y2, ys, ts, ss = primal_f(n, x, c)
              t, t2 = back_f(ys, ts, ss, c, 1.0)
              return t, t2
            }

            func primal_f(n: Int, x: Real, c: Real) -> (Real, []Real, []Real, []Real) {
              y2, ys, ts, ss = for i < n, y = x {
                big = y > 1.0
                z, t, s = if big {
                  p = c * y
                  q = p * y
                  yield q, 0.0, 0.0
                } else {
                  s2 = sin(y)
                  t2 = cos(y)
                  r = s2 * y
                  yield r, t2, s2
                }
                yield z, y, t, s
              }
              return y2, ys, ts, ss
            }

            func back_f(ys: []Real, ts: []Real, ss: []Real, c: Real, y2_bar: Real) -> (Real, Real) {
              n = length(ys)
              y_bar, c_bar = for backward i < n, y_bar2 = y2_bar, c_bar2 += 0.0, y in ys, t in ts, s in ss {
                big = y > 1.0
                c_bar3, y_bar3 = if big {
                  p = c * y
                  p_bar = mul_zero(y_bar2, y)
                  y_bar4 = mul_zero(y_bar2, p)
                  t2 = mul_zero(p_bar, y)
                  c_bar4 = c_bar2 + t2
                  t3 = mul_zero(p_bar, c)
                  y_bar5 = y_bar4 + t3
                  yield c_bar4, y_bar5
                } else {
                  s_bar = mul_zero(y_bar2, y)
                  y_bar6 = mul_zero(y_bar2, s)
                  t4 = mul_zero(s_bar, t)
                  y_bar7 = y_bar6 + t4
                  yield c_bar2, y_bar7
                }
                yield y_bar3, c_bar3
              }
              return y_bar, c_bar
            }
        "#]],
    );
}

#[test]
fn loops_run_backwards() {
    let text = "
residual F {}
linear f_map of f(varies, varies) keeps F
func f(xs: []Real, c: Real) -> Real {
  n = length(xs)
  ys = each i < n, x in xs {
    y = x * c
    yield y
  }
  s2 = for i < n, s = 0.0, y in ys {
    t = s * y
    u = t + c
    yield u
  }
  return s2
}
func main(xs: []Real, c: Real) -> ([]Real, Real, Real) {
  v, r = linearize f_map(xs, c)
  gxs, gc = backward f_map(r, 1.0)
  z, t = jvp f(xs, c; _, 1.0)
  return gxs, gc, t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(xs: []Real, c: Real) -> ([]Real, Real, Real) {
              s2, ys, ss = primal_f(xs, c)
              ts, t = back_f(xs, c, ys, ss, 1.0)
              s2_2, s2' = jvp_f(xs, c, 1.0)
              return ts, t, s2'
            }

            func primal_f(xs: []Real, c: Real) -> (Real, []Real, []Real) {
              n = length(xs)
              ys = each i < n, x in xs {
                y = x * c
                yield y
              }
              s2, ss = for i2 < n, s = 0.0, y2 in ys {
                t = s * y2
                u = t + c
                yield u, s
              }
              return s2, ys, ss
            }

            func back_f(xs: []Real, c: Real, ys: []Real, ss: []Real, s2_bar: Real) -> ([]Real, Real) {
              n = length(ys)
              s_bar, c_bar, ys_bar = for backward i < n, s_bar2 = s2_bar, c_bar2 += 0.0, y in ys, s in ss {
                c_bar3 = c_bar2 + s_bar2
                s_bar3 = mul_zero(s_bar2, y)
                y_bar = mul_zero(s_bar2, s)
                yield s_bar3, c_bar3, y_bar
              }
              n2 = length(xs)
              c_bar4, xs_bar = each backward i2 < n2, c_bar5 += c_bar, x in xs, ys_bar2 in ys_bar {
                x_bar = mul_zero(ys_bar2, c)
                t = mul_zero(ys_bar2, x)
                c_bar6 = c_bar5 + t
                yield c_bar6, x_bar
              }
              return xs_bar, c_bar4
            }

            func jvp_f(xs: []Real, c: Real, c': Real) -> (Real, Real) {
              n = length(xs)
              ys, ys' = each i < n, x in xs {
                y = x * c
                y' = mul_zero(c', x)
                yield y, y'
              }
              s2, s2' = for i2 < n, s = 0.0, s' = 0.0, y2 in ys, y'2 in ys' {
                t = s * y2
                t2 = mul_zero(s', y2)
                t3 = mul_zero(y'2, s)
                t' = t2 + t3
                u = t + c
                u' = t' + c'
                yield u, u'
              }
              return s2, s2'
            }
        "#]],
    );
}

#[test]
fn products_keep_nothing() {
    let text = "
residual F {}
linear f_map of f(varies, fixed, varies) keeps F
func f(m: [][]Real, k: [][]Real, v: []Real) -> ([][]Real, []Real) {
  p = matmul(m, k)
  q = matvec(m, v)
  return p, q
}
func main(m: [][]Real, k: [][]Real, v: []Real, w: [][]Real, u: []Real) -> ([][]Real, []Real) {
  p, q, r = linearize f_map(m, k, v)
  gm, gv = backward f_map(r, w, u)
  return gm, gv
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(m: [][]Real, k: [][]Real, v: []Real, w: [][]Real, u: []Real) -> ([][]Real, []Real) {
              p, q = primal_f(m, k, v)
              n = length(p)
              n2 = length(w)
              require n == n2, shape vjp
              n3 = length(p, 1)
              n4 = length(w, 1)
              require n3 == n4, shape vjp
              n5 = length(q)
              n6 = length(u)
              require n5 == n6, shape vjp
              ts, ts2 = back_f(k, v, m, w, u)
              return ts, ts2
            }

            func primal_f(m: [][]Real, k: [][]Real, v: []Real) -> ([][]Real, []Real) {
              p = matmul(m, k)
              q = matvec(m, v)
              return p, q
            }

            func back_f(k: [][]Real, v: []Real, m: [][]Real, p_bar: [][]Real, q_bar: []Real) -> ([][]Real, []Real) {
              zeros = zeros(v)
              v_bar = add_product_tn_backward(zeros, m, q_bar)
              zeros2 = zeros(m)
              m_bar = add_product_backward(zeros2, q_bar, v)
              m_bar2 = add_product_nt_backward(m_bar, p_bar, k)
              return m_bar2, v_bar
            }
        "#]],
    );
}

#[test]
fn while_loops_are_counted() {
    let text = "
residual F {}
linear f_map of f(varies) keeps F
func f(x: Real) -> Real {
  y = while a = x {
    c = a < 100.0
    yield c
  } do a {
    b = a * a
    yield b
  }
  z = while a = y {
    c = a < 1000.0
    yield c
  } do a {
    b = a + a
    yield b
  }
  return z
}
func main(x: Real) -> Real {
  v, r = linearize f_map(x)
  g = backward f_map(r, 1.0)
  return g
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func main(x: Real) -> Real {
              z, as, n = primal_f(x)
              t = back_f(as, n, 1.0)
              return t
            }

            func primal_f(x: Real) -> (Real, []Real, Int) {
              y, as = while a = x {
                c = a < 100.0
                yield c
              } do a2 {
                b = a2 * a2
                yield b, a2
              }
              z, n = while a3 = y, n2 = 0 {
                c2 = a3 < 1000.0
                yield c2
              } do a4, n3 {
                b2 = a4 + a4
                n4 = n3 + 1
                yield b2, n4
              }
              return z, as, n
            }

            func back_f(as: []Real, n: Int, z_bar: Real) -> Real {
              a_bar = for backward i < n, a_bar2 = z_bar {
                a_bar3 = a_bar2 + a_bar2
                yield a_bar3
              }
              n2 = length(as)
              a_bar4 = for backward i2 < n2, a_bar5 = a_bar, a in as {
                a_bar6 = mul_zero(a_bar5, a)
                t = mul_zero(a_bar5, a)
                a_bar7 = a_bar6 + t
                yield a_bar7
              }
              return a_bar4
            }
        "#]],
    );
}

#[test]
fn second_derivatives_are_nothing_new() {
    let text = "
residual F {}
linear f_map of f(varies) keeps F
func f(x: Real) -> Real {
  y = exp(x)
  z = y * x
  return z
}
func gradient(x: Real) -> Real {
  v, r = linearize f_map(x)
  g = backward f_map(r, 1.0)
  return g
}
func main(x: Real) -> Real {
  v, t = jvp gradient(x; 1.0)
  return t
}
entry main = main
";
    check(
        text,
        &expect![[r#"
            func gradient(x: Real) -> Real {
              z, y = primal_f(x)
              t = back_f(y, x, 1.0)
              return t
            }

            func main(x: Real) -> Real {
              t, t' = jvp_gradient(x, 1.0)
              return t'
            }

            func primal_f(x: Real) -> (Real, Real) {
              y = exp(x)
              z = y * x
              return z, y
            }

            func back_f(y: Real, x: Real, z_bar: Real) -> Real {
              y_bar = mul_zero(z_bar, x)
              x_bar = mul_zero(z_bar, y)
              t = mul_zero(y_bar, y)
              x_bar2 = x_bar + t
              return x_bar2
            }

            func jvp_gradient(x: Real, x': Real) -> (Real, Real) {
              z, y, z', y' = jvp_primal_f(x, x')
              t, t' = jvp_back_f(y, x, 1.0, y', x')
              return t, t'
            }

            func jvp_primal_f(x: Real, x': Real) -> (Real, Real, Real, Real) {
              y = exp(x)
              y' = mul_zero(x', y)
              z = y * x
              t = mul_zero(y', x)
              t2 = mul_zero(x', y)
              z' = t + t2
              return z, y, z', y'
            }

            func jvp_back_f(y: Real, x: Real, z_bar: Real, y': Real, x': Real) -> (Real, Real) {
              y_bar = mul_zero(z_bar, x)
              y_bar' = mul_zero(x', z_bar)
              x_bar = mul_zero(z_bar, y)
              x_bar' = mul_zero(y', z_bar)
              t = mul_zero(y_bar, y)
              t2 = mul_zero(y_bar', y)
              t3 = mul_zero(y', y_bar)
              t' = t2 + t3
              x_bar2 = x_bar + t
              x_bar'2 = x_bar' + t'
              return x_bar2, x_bar'2
            }
        "#]],
    );
}

/// A leaf keeps no array of tapes, not even an empty one.
#[test]
fn recursion_in_a_loop_has_a_tape_with_a_constructor_for_each_branch() {
    let text = "
residual S {}
linear tree_map of tree(fixed, varies) keeps S
func tree(n: Int, x: Real) -> Real {
  leaf = n == 0
  s = if leaf {
    y = sin(x)
    yield y
  } else {
    m = n - 1
    t = for i < n, t = 0.0 {
      c = tree(m, x)
      d = c * x
      u = t + d
      yield u
    }
    yield t
  }
  return s
}
func main(n: Int, x: Real) -> Real {
  v, r = linearize tree_map(n, x)
  g = backward tree_map(r, 1.0)
  return g
}
entry main = main
";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let made = wengert_ir::print_used(&wengert_ad::differentiate(program));
    let tape = made.split("residual tree_tape {").nth(1).and_then(|rest| rest.split('}').next());
    let lines: Vec<&str> =
        tape.unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(matches!(lines.as_slice(), ["Then(Real)", rest] if rest.starts_with("Else([]")), "{made}");
}

/// What a branch in a loop reads of a parameter of the function is read again, and not kept for each iteration.
#[test]
fn branches_read_parameters_again() {
    let text = "
residual S {}
linear f_map of f(fixed, fixed, varies) keeps S
func f(places: []Int, ws: []Real, xs: []Real) -> []Real {
  n = length(places)
  ys = each i < n, place in places {
    some = 0 < place
    y = if some {
      w = ws[place]
      x = xs[place]
      p = w * x
      yield p
    } else {
      yield 1.0
    }
    yield y
  }
  return ys
}
func main(places: []Int, ws: []Real, xs: []Real, t: []Real) -> []Real {
  v, r = linearize f_map(places, ws, xs)
  g = forward f_map(r, t)
  return g
}
entry main = main
";
    let program = wengert_ir::parse(text).expect("the text is a program");
    let made = wengert_ir::print_used(&wengert_ad::differentiate(program));
    let linear = made.split_once("func linear_f(").map_or("", |(_, rest)| rest);
    assert!(linear.contains("= ws["), "{made}");
    // The first loop gives values, and nothing for the second one.
    assert!(made.contains("  ys = each i < length(places)"), "{made}");
}

#[test]
fn functions_that_call_functions_do_not_hand_on_all_that_they_keep() {
    use std::fmt::Write as _;
    const DEEP: usize = 12;
    let mut text = String::from(
        "residual F {}\nlinear f_map of f12(varies) keeps F\nfunc f0(x: Real) -> Real {\n  return x\n}\n",
    );
    for n in 1..=DEEP {
        // Each keeps nine numbers of its own.
        let _ = writeln!(text, "func f{n}(x: Real) -> Real {{\n  y0 = f{}(x)", n - 1);
        for step in 1..10 {
            let _ = writeln!(text, "  s{step} = sin(y{})\n  y{step} = s{step} * x", step - 1);
        }
        let _ = writeln!(text, "  return y9\n}}");
    }
    text.push_str("func main(x: Real) -> Real {\n  v, r = linearize f_map(x)\n  g = backward f_map(r, 1.0)\n  return g\n}\nentry main = main\n");
    let made = made(&text);
    let most = made.funcs.iter().map(|(_, func)| func.results.len().max(func.body.params.len())).max();
    assert!(most <= Some(24 + 3), "{most:?} values are handed on");
    assert!(made.data.iter().any(|(_, data)| data.name.as_str() == "f2_tape"));
}

/// What is kept of the iterations of a loop in which arrays are made of `y`, by these statements.
fn kept_of_steps(steps: &str) -> String {
    let text = format!(
        "
residual F {{}}
linear f_map of f(varies, varies) keeps F
func f(xs: []Real, ys: []Real) -> []Real {{
  n = length(xs)
  m = n - 1
  zs = for k < 100, y = ys {{
    {steps}
    yield e
  }}
  return zs
}}
func main(xs: []Real, ys: []Real) -> ([]Real, []Real) {{
  v, r = linearize f_map(xs, ys)
  gx, gy = backward f_map(r, xs)
  return gx, gy
}}
entry main = main
"
    );
    let made = print(&made(&text));
    let primal = made.split("func primal_f").nth(1).and_then(|text| text.split("\n}").next());
    let last = primal.and_then(|text| text.lines().rfind(|line| line.contains("    yield")));
    last.unwrap_or("nothing").trim().to_owned()
}

/// Of arrays that can be made of each other at little cost as few as possible are kept, the state at the beginning if that is
/// enough; but what costs something is kept.
#[test]
fn loops_keep_the_fewest_arrays() {
    let cheap = "
    a = each i < n, x in xs, u in y { u1 = x * u yield u1 }
    one = [1.0]
    part = slice(a, 0, m)
    b = concat(one, part)
    c = each j < n, x2 in xs, v in b { v1 = x2 * v v2 = v1 * v yield v2 }
    d = each k2 < n, w in c, w0 in b { w1 = w * w0 yield w1 }
    e = each l < n, z in d, z0 in y { z1 = z * z0 yield z1 }";
    assert_eq!(kept_of_steps(cheap), "yield e, y2");
    // The exponentials are kept, and what is made of them is not.
    let costly = cheap.replace("u1 = x * u yield u1", "t = x * u u1 = exp(t) yield u1");
    assert_eq!(kept_of_steps(&costly), "yield e, y2, u1s, a");
    // Nothing can be had of anything else.
    let costs = cheap.replace("v2 = v1 * v", "v2 = sin(v1)").replace("u1 = x * u", "u1 = sin(u)");
    let costs = costs.replace("w1 = w * w0", "w1 = cos(w)");
    let kept = kept_of_steps(&costs);
    assert_eq!(kept.matches(", ").count(), 6, "{kept}");
    // Two arrays less are worth some work, and not any.
    let sums = |count: usize| {
        let sums: String = (1..=count).map(|i| format!("s{i} = s{} + x2 ", i - 1)).collect();
        format!(
            "
    a = each i < n, x2 in xs, s0 in y {{ {sums} yield s{count} }}
    b = each j < n, x3 in xs, r0 in y {{ r1 = r0 * x3 yield r1 }}
    e = each l < n, z in a, z0 in y, v in b {{ z1 = z * z0 z2 = z1 * v yield z2 }}"
        )
    };
    assert_eq!(kept_of_steps(&sums(14)), "yield e, y2");
    assert_eq!(kept_of_steps(&sums(17)).matches(", ").count(), 3, "{}", kept_of_steps(&sums(17)));
    // Where neighbors are is no work: something is added to them in any case.
    let neighbors = "e = each i < n { i1 = i + 1 r = i1 % n o = i + n l1 = o - 2 l = l1 % n a = y[r] b = y[l] d = a - b p = d * d yield p }";
    assert_eq!(kept_of_steps(neighbors), "yield e, y2");
    let costly = neighbors.replace("d = a - b", "c = sin(a) d = c - b");
    assert_eq!(kept_of_steps(&costly), "yield e, ts, ds, y2");
    // One is not: it is written either way.
    let single = sums(1).replace(", v in b", "").replace("z2 = z1 * v yield z2", "yield z1");
    assert_eq!(kept_of_steps(&single), "yield e, y2, a");
}

/// An array in which a loop puts numbers is not kept for its shape, which it had before the loop; but for what is read in it.
#[test]
fn what_numbers_are_put_in_is_not_kept_for_its_shape() {
    let swaps = "
    a = y[k]
    b = y[m]
    c = a < b
    e = if c { u = y with [k] = b w = u with [m] = a yield w } else { yield y }";
    assert_eq!(kept_of_steps(swaps), "yield e, c");
    let doubles = "
    a = y[k]
    b = 2.0 * a
    e = y with [k] = b";
    assert_eq!(kept_of_steps(doubles), "yield e");
    let squares = doubles.replace("2.0 * a", "a * a");
    assert_eq!(kept_of_steps(&squares), "yield e, a");
    // A row of another shape is another array.
    let other = "
    a = y[k]
    b = a * a
    c = [b, b]
    e = c with [0] = a";
    assert_eq!(kept_of_steps(other), "yield e, y2, c");
}

/// Rows of one shape need no boxes: here the shape is that of an array from around the loop, and one that a number from there says.
#[test]
fn what_a_loop_keeps_of_one_shape_needs_no_boxes() {
    let text = "
residual F {}
linear f_map of f(varies, fixed, fixed) keeps F
func f(x: Real, n: Int, zs: []Real) -> Real {
  y = for i < 3, s = x {
    xs = each k < n {
      t = real(k)
      u = t * s
      v = sin(u)
      yield v
    }
    ws = reverse(zs)
    w = ws[i]
    q = replicate(n, w)
    p = dot(xs, q)
    r = p * s
    yield r
  }
  return y
}
func main(x: Real, n: Int, zs: []Real) -> Real {
  v, r = linearize f_map(x, n, zs)
  gx = backward f_map(r, 1.0)
  return gx
}
entry main = main
";
    let after = print(&made(text));
    assert!(after.contains("for backward") && !after.contains("Row"), "{after}");
}

#[test]
fn what_is_read_beside_an_update_is_added_in_place() {
    let text = "
residual F {}
linear f_map of f(varies) keeps F
func f(x: []Real) -> []Real {
  n = length(x)
  ys = for i < n, xs = x {
    j = n - i
    b = xs[i]
    a = xs[j]
    zs = xs with [i] = a
    ws = zs with [j] = b
    yield ws
  }
  return ys
}
func g(x: []Real, w: []Real) -> []Real {
  y, r = linearize f_map(x)
  x_bar = backward f_map(r, w)
  return x_bar
}
entry g = g
";
    check(
        text,
        &expect![[r#"
        func g(x: []Real, w: []Real) -> []Real {
          ys, n = primal_f(x)
          n2 = length(ys)
          n3 = length(w)
          require n2 == n3, shape vjp
          ts = back_f(n, x, w)
          return ts
        }

        func primal_f(x: []Real) -> ([]Real, Int) {
          n = length(x)
          ys = for i < n, xs = x {
            j = n - i
            b = xs[i]
            a = xs[j]
            zs = xs with [i] = a
            ws = zs with [j] = b
            yield ws
          }
          return ys, n
        }

        func back_f(n: Int, x: []Real, ys_bar: []Real) -> []Real {
          xs_bar = for backward i < n, xs_bar2 = ys_bar {
            j = n - i
            t = xs_bar2[j]
            ts = xs_bar2 with [j] = 0.0
            t2 = ts[i]
            ts2 = ts with [i] = 0.0
            xs_bar3 = ts2 with [i] += t
            xs_bar4 = xs_bar3 with [j] += t2
            yield xs_bar4
          }
          return xs_bar
        }
    "#]],
    );
}

/// The backward function of a loop over `i < n` with a carried array `x`, which begins as zeros, and a body.
fn backward_of(body: &str) -> String {
    let text = format!(
        "
residual F {{}}
linear f_map of f(varies) keeps F
func f(b: []Real) -> []Real {{
  n = length(b)
  start = replicate(n, 0.5)
  y = for {body}
  return y
}}
func g(b: []Real, w: []Real) -> []Real {{
  y, r = linearize f_map(b)
  b_bar = backward f_map(r, w)
  return b_bar
}}
entry g = g
"
    );
    let made = print(&made(&text));
    let (_, back) = made.split_once("func back_f").expect("there is a backward function");
    back.to_owned()
}

/// A sum over a part of the array, of which linear code needs the elements.
const SUM: &str = "s = for k < m, s = 0.0, u in us { v = u * u t = s + v yield t } c = b[i] new = s + c";

#[test]
fn what_is_not_written_any_more_is_read_in_the_end() {
    let back = backward_of(&format!(
        "i < n, x = start {{ us = slice(x, 0, i) m = length(us) {SUM} z = x with [i] = new yield z }}"
    ));
    assert!(back.contains("us = slice(y, 0, i)") && !back.contains("Row"), "{back}");
    // Places fall: as the loop goes backward, or as they are counted from the end.
    let back = backward_of(&format!(
        "backward i < n, x = start {{ j = i + 1 us = slice(x, j, n) m = length(us) {SUM} z = x with [i] = new yield z }}"
    ));
    assert!(back.contains("slice(y, ") && !back.contains("Row"), "{back}");
    let back = backward_of(&format!(
        "i < n, x = start {{ l = n - 1 j = l - i f = n - i us = slice(x, f, n) m = length(us) {SUM} z = x with [j] = new yield z }}"
    ));
    assert!(back.contains("slice(y, ") && !back.contains("Row"), "{back}");
    // Written on one side of a branch, and in a loop inside.
    let back = backward_of(&format!(
        "i < n, x = start {{ us = slice(x, 0, i) m = length(us) {SUM} p = new > 0.5
           z = if p {{ q = x with [i] = new yield q }} else {{ yield x }} yield z }}"
    ));
    assert!(back.contains("us = slice(y, 0, i)") && !back.contains("Row"), "{back}");
    let back = backward_of(&format!(
        "i < n, x = start {{ us = slice(x, 0, i) m = length(us) {SUM}
           z = for k < 2, x2 = x {{ q = x2 with [i] = new yield q }} yield z }}"
    ));
    assert!(back.contains("us = slice(y, 0, i)") && !back.contains("Row"), "{back}");
}

#[test]
fn what_may_be_written_later_is_kept() {
    let kept = [
        // One element too many.
        "i < n, x = start { j = i + 1 us = slice(x, 0, j) m = length(us) SUM z = x with [i] = new yield z }",
        // Places rise as they are counted, and the loop goes backward.
        "backward i < n, x = start { us = slice(x, 0, i) m = length(us) SUM z = x with [i] = new yield z }",
        // On the other side.
        "i < n, x = start { us = slice(x, i, n) m = length(us) SUM z = x with [i] = new yield z }",
        // Two places, one of which moves the other way, and one that stays.
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM l = n - 1 j = l - i z = x with [i] = new q = z with [j] = new yield q }",
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM z = x with [i] = new q = z with [0] = new yield q }",
        // A place that is made of what changes.
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM h = i * i j = h % n z = x with [j] = new yield z }",
        // Another array altogether.
        "i < n, x = start { us = slice(x, 0, i) m = length(us) SUM z = each k < n, e in x { q = e * new yield q } yield z }",
    ];
    for body in kept {
        let back = backward_of(&body.replace("SUM", SUM));
        assert!(back.contains("Row") && !back.contains("slice(y,"), "{body}\n{back}");
    }
}
