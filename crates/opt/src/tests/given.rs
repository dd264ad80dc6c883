//! Functions that are copied for the functions that they are given.

use super::check;
use expect_test::expect;

const TEXT: &str = r"
    closure F { outer(G) double() }
    closure G { twice(F) square() }
    residual R { }
    linear apply_map of apply(fixed, varies) keeps R
    func main(x: Real, b: Bool) -> Real {
        s = G::square()
        d = if b { a = F::outer(s) yield a } else { a = F::double() yield a }
        t = G::twice(d)
        y = operator(t, x)
        return y
    }
    func operator(g: G, x: Real) -> Real {
        y, r = linearize apply_map(g, x)
        z = backward apply_map(r, 1.0)
        return z
    }
    func apply(g: G, x: Real) -> Real {
        y = match g {
            twice(f) {
                a = match f {
                    outer(h) { b = operator(h, x) yield b }
                    double() { b = x + x yield b }
                }
                yield a
            }
            square() { a = x * x yield a }
        }
        return y
    }
    entry main = main";

#[test]
fn each_function_that_is_given_has_its_derivative() {
    check(
        "known",
        TEXT,
        &expect![[r#"
        closure F {
          outer(G)
          double()
        }

        closure G {
          twice(F)
          square()
        }

        residual R {}

        residual R2 {}

        residual R3 {}

        linear apply_map of apply(varies) keeps R2

        linear apply_map2 of apply2(fixed, varies) keeps R3

        func main(x: Real, b: Bool) -> Real {
          s = square()
          d = if b {
            a = outer(s)
            yield a
          } else {
            a2 = double()
            yield a2
          }
          t = twice(d)
          y = operator2(d, x)
          return y
        }

        func operator(x: Real) -> Real {
          g = square()
          y, r = linearize apply_map(x)
          z = backward apply_map(r, 1.0)
          return z
        }

        func apply(x: Real) -> Real {
          g = square()
          a = x * x
          return a
        }

        func operator2(g: F, x: Real) -> Real {
          g2 = twice(g)
          y, r = linearize apply_map2(g, x)
          z = backward apply_map2(r, 1.0)
          return z
        }

        func apply2(g: F, x: Real) -> Real {
          g2 = twice(g)
          a = match g {
            outer(h) {
              h2 = square()
              b = operator(x)
              yield b
            }
            double() {
              b2 = x + x
              yield b2
            }
          }
          return a
        }

        entry main = main
    "#]],
    );
}
