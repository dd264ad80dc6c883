//! What lies flat, and what keeps its form.

use crate::tests::check;
use expect_test::expect;

#[test]
fn constructors_share_places() {
    let text = r"
        closure Function { scale(Real) shift(Real, Int) nothing() }
        func f(xs: []Real, c: Bool, k: Int) -> Real {
            n = length(xs)
            fs = each i < n, x in xs {
                g = if c { a = scale(x) yield a } else { b = shift(x, k) yield b }
                yield g
            }
            none = nothing()
            y, last = for i < n, y = 1.0, h = none, g in fs {
                z = apply(g, y)
                yield z, g
            }
            w = apply(last, y)
            return w
        }
        func apply(f: Function, x: Real) -> Real {
            y = match f {
                scale(a) { b = a * x yield b }
                shift(a, k) { r = real(k) b = a + r c = b + x yield c }
                nothing() { yield x }
            }
            return y
        }
        entry f = f";
    check(
        "flat",
        text,
        &expect![[r#"
        closure Function {
          scale(Real)
          shift(Real, Int)
          nothing()
        }

        func f(xs: []Real, c: Bool, k: Int) -> Real {
          n = length(xs)
          fs2, fs3, fs4 = each i < n, x in xs {
            g3, g4, g5 = if c {
              yield 0, x, 0
            } else {
              yield 1, x, k
            }
            yield g3, g4, g5
          }
          y2, last2, last3, last4 = for i2 < n, y = 1.0, h2 = 2, h3 = 0.0, h4 = 0, g6 in fs2, g7 in fs3, g8 in fs4 {
            z = apply(g6, g7, g8, y)
            yield z, g6, g7, g8
          }
          w = apply(last2, last3, last4, y2)
          return w
        }

        func apply(f2: Int, f3: Real, f4: Int, x: Real) -> Real {
          c3 = f2 == 0
          y = if c3 {
            b = f3 * x
            yield b
          } else {
            c2 = f2 == 1
            y2 = if c2 {
              r = real(f4)
              b2 = f3 + r
              c = b2 + x
              yield c
            } else {
              yield x
            }
            yield y2
          }
          return y
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_the_outside_knows_and_derivatives_are_asked_of_keeps_its_form() {
    let stays = [
        "data Pair { Pair(Real, Real) } func f(p: Pair) -> Real { s = match p { Pair(x, y) { z = x * y yield z } } return s } entry f = f",
        "data Shape { Round(Real) Square(Real) } func area(s: Shape) -> Real { a = match s { Round(r) { b = r * r yield b } Square(w) { yield w } } return a } func f(x: Real) -> Real { s = Round(x) t = Round(1.0) a, b = jvp area(s; t) return b } entry f = f",
        "data Many { A() B() C() D() E() } func f(n: Int) -> Int { c = n == 0 m = if c { a = A() yield a } else { b = E() yield b } k = match m { A() { yield 1 } B() { yield 2 } C() { yield 3 } D() { yield 4 } E() { yield 5 } } return k } entry f = f",
    ];
    for text in stays {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        super::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}
