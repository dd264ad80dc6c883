//! Slopes of powers.

use super::slopes::check_relaxed;
use expect_test::expect;

/// What the rule says of `x ** p`, in a function that gives `results`.
fn slope(then: &str, otherwise: &str, results: &str) -> String {
    format!(
        "func f(x: Real) -> (Real, Real) {{
            t = x ** 2.5
            d = t + t
            c = d == t
            slope = if c {{ {then} }} else {{ {otherwise} }}
            return {results}
        }} entry f = f"
    )
}

#[test]
fn the_slope_of_a_power_that_is_not_needed_is_a_power() {
    check_relaxed(
        &slope("a = x ** 1.5  b = a * 2.5 yield b", "a = t / x  b = 2.5 * a  yield b", "slope, x"),
        &expect![[r#"
            func f(x: Real) -> (Real, Real) {
              a = x ** 1.5
              b = a * 2.5
              return b, x
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_multiplied_elsewhere_is_a_power_too() {
    check_relaxed(
        &slope("a = x ** 1.5  yield a", "a = t / x  yield a", "slope, x"),
        &expect![[r#"
        func f(x: Real) -> (Real, Real) {
          a = x ** 1.5
          return a, x
        }

        entry f = f
    "#]],
    );
}

#[test]
fn a_power_that_is_needed_stays_and_its_slope_is_had_from_it() {
    check_relaxed(
        &slope("a = x ** 1.5  b = a * 2.5 yield b", "a = t / x  b = 2.5 * a  yield b", "slope, t"),
        &expect![[r#"
            func f(x: Real) -> (Real, Real) {
              t = x ** 2.5
              d = t + t
              c = d == t
              slope = if c {
                a = x ** 1.5
                b = a * 2.5
                yield b
              } else {
                a2 = t / x
                b2 = 2.5 * a2
                yield b2
              }
              return slope, t
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_not_the_same_on_both_sides_stays() {
    for (then, otherwise) in [
        ("a = x ** 1.5  b = a * 3.5 yield b", "a = t / x  b = 2.5 * a  yield b"),
        ("a = x ** 2.0  b = a * 2.5 yield b", "a = t / x  b = 2.5 * a  yield b"),
        ("a = x ** 1.5  b = a * a yield b", "a = t / x  b = a * a  yield b"),
        ("a = x ** 1.5  b = a * 2.5 yield b", "a = x / t  b = 2.5 * a  yield b"),
        ("a = x ** 1.5  b = sin(a) yield b", "a = t / x  b = sin(a)  yield b"),
    ] {
        let text = slope(then, otherwise, "slope, x");
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        assert!(!crate::powers::run(&mut program), "{text}");
        assert_eq!(wengert_ir::print(&program), before);
    }
}
