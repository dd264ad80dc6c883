//! Arrays of which only an element or two are looked at.

use super::check;
use expect_test::expect;

#[test]
fn of_an_array_only_the_elements_that_are_looked_at_are_made() {
    check(
        "picked",
        "func f(xs: []Real, k: Int, c: Bool) -> (Real, Real) {
            n = length(xs)
            ys, zs = each i < n, x in xs { y = exp(x) r = real(i) z = y * r yield y, z }
            y = ys[0]
            z = if c { z = zs[k] yield z } else { yield 0.0 }
            return y, z
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, k: Int, c: Bool) -> (Real, Real) {
              n = length(xs)
              ys, zs = each i < n, x in xs {
                y = exp(x)
                r = real(i)
                z = y * r
                yield y, z
              }
              x2 = xs[0]
              y2 = exp(x2)
              r2 = real(0)
              z2 = y2 * r2
              y3 = y2
              z3 = if c {
                x3 = xs[k]
                y4 = exp(x3)
                r3 = real(k)
                z4 = y4 * r3
                z5 = z4
                yield z5
              } else {
                yield 0.0
              }
              return y3, z3
            }

            entry f = f
        "#]],
    );
}

#[test]
fn arrays_of_which_more_is_asked_stay() {
    for rest in [
        // Elements in a loop, more than a few, all of them, or one that may fail; and where nothing tells how many there are.
        "s = for j < 3, s = 0.0 { y = ys[j] t = s + y yield t } return s",
        "a = ys[0] b = ys[1] c = ys[2] d = a + b e = d + c return e",
        "a = ys[0] b = sum(ys) c = a + b return c",
        "zs = each i < n, x in xs { y = xs[k] z = y + x yield z } a = zs[0] return a",
        "zs = each i < n { r = real(i) yield r } a = zs[0] return a",
    ] {
        let text = format!(
            "func f(xs: []Real, k: Int) -> Real {{ n = length(xs) ys = each i < n, x in xs {{ y = exp(x) yield y }} {rest} }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        let before = wengert_ir::print(&program);
        crate::picked::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}
