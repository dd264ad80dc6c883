//! Quotients by what has a reciprocal.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_is_divided_by_a_number_with_a_reciprocal_is_multiplied() {
    let text = r"
        func f(xs: []Real, k: Real) -> []Real {
            n = length(xs)
            ys, us = each i < n, x in xs { a = x * k u = sqrt(a) v = u + x y = 1.0 / v yield y, u }
            m = maximum(ys)
            zs = each j < n, x2 in xs, y2 in ys, u2 in us {
                v2 = u2 + x2
                t = m - x2
                z = div_zero(t, v2)
                w = mul_zero(z, y2)
                yield w
            }
            return zs
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        func f(xs: []Real, k: Real) -> []Real {
          n = length(xs)
          ys = each i < n, x in xs {
            a = x * k
            u = sqrt(a)
            v = u + x
            y = 1.0 / v
            yield y
          }
          m = maximum(ys)
          zs = each j < n, x2 in xs, y2 in ys {
            t = m - x2
            z = mul_zero(t, y2)
            w = mul_zero(z, y2)
            yield w
          }
          return zs
        }

        entry f = f
    "#]],
    );
}

#[test]
fn other_quotients_stay() {
    // Another divisor; another row; the reciprocal of something else; quotients of the program itself.
    let program = |y: &str, v: &str, z: &str| {
        format!(
            "func f(xs: []Real, ws: []Real, k: Real) -> []Real {{
                n = length(xs)
                ys, us = each i < n, x in xs {{ a = x * k u = sqrt(a) v = u + x y = {y} / v yield y, u }}
                zs = each j < n, x2 in xs, w2 in ws, y2 in ys, u2 in us {{ v2 = {v} z = {z} t = z * y2 q = t + w2 r = q + u2 yield r }}
                return zs
            }}
            entry f = f"
        )
    };
    let divides = |text: &str| {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        crate::reciprocals::run(&mut program);
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        !wengert_ir::print(&program).contains("mul_zero(")
    };
    assert!(!divides(&program("1.0", "u2 + x2", "div_zero(x2, v2)")));
    assert!(divides(&program("1.0", "u2 + w2", "div_zero(x2, v2)")));
    assert!(divides(&program("1.0", "u2 + k", "div_zero(x2, v2)")));
    assert!(divides(&program("1.0", "u2 - x2", "div_zero(x2, v2)")));
    assert!(divides(&program("2.0", "u2 + x2", "div_zero(x2, v2)")));
    assert!(divides(&program("1.0", "u2 + x2", "x2 / v2")));
}
