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
              fs, as, ks = each i < n, x in xs {
                g, a, k2 = if c {
                  yield 0, x, 0
                } else {
                  yield 1, x, k
                }
                yield g, a, k2
              }
              y, last, a2, k3 = for i2 < n, y2 = 1.0, h = 2, a3 = 0.0, k4 = 0, g2 in fs, a4 in as, k5 in ks {
                z = apply(g2, a4, k5, y2)
                yield z, g2, a4, k5
              }
              w = apply(last, a2, k3, y)
              return w
            }

            func apply(f: Int, a: Real, k: Int, x: Real) -> Real {
              c = f == 0
              y = if c {
                b = a * x
                yield b
              } else {
                c2 = f == 1
                y2 = if c2 {
                  r = real(k)
                  b2 = a + r
                  c3 = b2 + x
                  yield c3
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
