//! What is lowered, as text, reads well.

use super::oracle::{of_module, verified};

/// A program as text, for reading.
fn shown(text: &str) -> String {
    match of_module(text).and_then(|program| verified(&program)) {
        Ok(lowered) => wengert_ir::print(&lowered.program),
        Err(error) => error,
    }
}

#[test]
fn lowered_code_reads_well() {
    let programs = [
        "def norm (xs : [n]Real) = sqrt (sum (map (\\x -> x * x) xs))\ndef it (xs : []Real) = grad norm xs",
        "type List a = Nil | Cons a (List a)\n\
         def fold_list f z xs = match xs with | Nil -> z | Cons x rest -> fold_list f (f z x) rest\n\
         def it (xs : List Real) = fold_list (\\total x -> total + x) 0 xs",
        "def it (n : Int) = map (\\f -> f 2.0) (build n (\\i -> if i == 0 then sin else \\x -> x * real i))",
        "def f (x, y) = if x > 0.0 then x * sin y else exp y\ndef it (p : (Real, Real)) = let (y, back) = vjp f p in back y",
        "def it (a : Real) = snd (jvp (\\x -> \\y -> x * y) (a, 1.0)) 3.0",
    ];
    let all: String = programs.iter().map(|text| format!("{text}\n\n{}\n", shown(text))).collect();
    expect_test::expect![[r#"
        def norm (xs : [n]Real) = sqrt (sum (map (\x -> x * x) xs))
        def it (xs : []Real) = grad norm xs

        residual Residual {}

        linear norm_map of norm(varies) keeps Residual

        func main(xs: []Real) -> []Real {
          t, residual = linearize norm_map(xs)
          t2 = backward norm_map(residual, 1.0)
          return t2
        }

        func norm(xs: []Real) -> Real {
          t = length(xs)
          t2 = each i < t, x in xs {
            t3 = x * x
            yield t3
          }
          t4 = sum(t2)
          t5 = sqrt(t4)
          return t5
        }

        entry main = main

        type List a = Nil | Cons a (List a)
        def fold_list f z xs = match xs with | Nil -> z | Cons x rest -> fold_list f (f z x) rest
        def it (xs : List Real) = fold_list (\total x -> total + x) 0 xs

        data List {
          Nil()
          Cons(Real, List)
        }

        func main(xs: List) -> Real {
          t = fold_list(0.0, xs)
          return t
        }

        func fold_list(z: Real, xs: List) -> Real {
          t = match xs {
            Nil() {
              yield z
            }
            Cons(x, rest) {
              t2 = z + x
              t3 = fold_list(t2, rest)
              yield t3
            }
          }
          return t
        }

        entry main = main

        def it (n : Int) = map (\f -> f 2.0) (build n (\i -> if i == 0 then sin else \x -> x * real i))

        closure Function {
          `sin`()
          lambda(Int)
        }

        func main(n: Int) -> []Real {
          t = max(n, 0)
          t2 = min(t, 8796093022208)
          require n == t2, count build
          t3 = each i < n {
            t4 = i == 0
            t5 = if t4 {
              t6 = Function::`sin`()
              yield t6
            } else {
              t7 = Function::lambda(i)
              yield t7
            }
            yield t5
          }
          t8 = length(t3)
          t9 = each i2 < t8, f in t3 {
            t10 = apply(f, 2.0)
            yield t10
          }
          return t9
        }

        func apply(f: Function, x: Real) -> Real {
          t = match f {
            `sin`() {
              t2 = `sin`(x)
              yield t2
            }
            lambda(i) {
              t3 = lambda(i, x)
              yield t3
            }
          }
          return t
        }

        func `sin`(x: Real) -> Real {
          t = sin(x)
          return t
        }

        func lambda(i: Int, x: Real) -> Real {
          t = real(i)
          t2 = x * t
          return t2
        }

        entry main = main

        def f (x, y) = if x > 0.0 then x * sin y else exp y
        def it (p : (Real, Real)) = let (y, back) = vjp f p in back y

        residual Residual {}

        linear f_map of f(varies, varies) keeps Residual

        func main(p: Real, p2: Real) -> (Real, Real) {
          y, residual = linearize f_map(p, p2)
          t, t2 = backward f_map(residual, y)
          return t, t2
        }

        func f(x: Real, y: Real) -> Real {
          t = x > 0.0
          t2 = if t {
            t3 = sin(y)
            t4 = x * t3
            yield t4
          } else {
            t5 = exp(y)
            yield t5
          }
          return t2
        }

        entry main = main

        def it (a : Real) = snd (jvp (\x -> \y -> x * y) (a, 1.0)) 3.0

        closure Function {
          lambda(Real)
          tangent_of(Function, Tangent)
        }

        tangent Tangent of Function {}

        func main(a: Real) -> Real {
          p, y = jvp apply(a; 1.0)
          t = apply2(y, 3.0)
          return t
        }

        func apply(x: Real) -> Function {
          t = Function::lambda(x)
          return t
        }

        func apply2(f: Function, x: Real) -> Real {
          t = match f {
            lambda(x2) {
              t2 = lambda(x2, x)
              yield t2
            }
            tangent_of(f2, df) {
              t3, t4 = jvp apply2(f2, x; df, _)
              yield t4
            }
          }
          return t
        }

        func lambda(x: Real, y: Real) -> Real {
          t = x * y
          return t
        }

        entry main = main

    "#]]
    .assert_eq(&all);
}
