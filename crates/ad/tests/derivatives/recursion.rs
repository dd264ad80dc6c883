//! Functions that call others or themselves, and data: tapes, and what of all that nobody makes.

use super::{check, made};
use expect_test::expect;
use wengert_ir::print;

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
