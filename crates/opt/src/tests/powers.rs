//! Powers that are products.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn powers_with_a_small_whole_exponent_are_products() {
    check_relaxed(
        "func f(x: Real) -> (Real, Real, Real, Real, Real) {
            a = x ** 1.0  b = x ** 2.0  c = x ** 3.0  d = x ** 4.0  e = x ** -1.0
            return a, b, c, d, e
        } entry f = f",
        &expect![[r#"
            func f(x: Real) -> (Real, Real, Real, Real, Real) {
              b = x ^ 2
              c = x ^ 3
              d = x ^ 4
              e = 1.0 / x
              return x, b, c, d, e
            }

            entry f = f
        "#]],
    );
}

#[test]
fn others_stay() {
    for exponent in ["0.5", "1.5", "-2.0", "5.0", "-0.5", "NaN", "Infinity", "-Infinity"] {
        let text = format!("func f(x: Real) -> Real {{ a = x ** {exponent} return a }} entry f = f");
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert!(!crate::powers::run(&mut program), "{text}");
    }
}

#[test]
fn edges_are_those_of_powers() {
    use wengert_prim::RealOp::{Div, Pow, PowInt};
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e308,
        -1e308,
        5e-324,
        -5e-324,
        1e-200,
    ];
    for x in edges {
        assert_eq!(Pow.eval2(x, 1.0).to_bits(), x.to_bits(), "{x}");
        assert_eq!(Pow.eval2(x, -1.0).to_bits(), Div.eval2(1.0, x).to_bits(), "{x}");
        for n in 2..=4 {
            assert_eq!(Pow.eval2(x, n as f64).to_bits(), PowInt(n).eval1(x).to_bits(), "{x} {n}");
        }
    }
}
