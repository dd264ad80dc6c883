//! Slopes at kinks, in vectors.

use super::{gives, text_of};
use crate::Math;
use wengert_ir::eval::{Items, Value};

/// The slope of what is larger, and 1 less that.
fn program(first: &str, second: &str) -> String {
    format!(
        "func f(xs: []Real, ys: []Real) -> []Real {{
            n = length(xs)
            zs = each i < n, x in xs, y in ys {{
                c = {first} d = {second}
                e = select(d, 0.0, NaN) s = select(c, 1.0, e) z = s * 3.0
                yield z
            }}
            return zs
        }}
        entry f = f"
    )
}

#[test]
fn of_two_conditions_none_decides_the_other() {
    let (none, infinity) = (f64::NAN, f64::INFINITY);
    let xs = [1.0, 2.0, 2.0, none, 1.0, -infinity, infinity, -0.0, none];
    let ys = [2.0, 1.0, 2.0, 1.0, none, infinity, infinity, 0.0, none];
    let reals = |numbers: &[f64]| Value::array([numbers.len()], Items::Reals(numbers.to_vec()));
    let expected = |strict: bool| {
        let slope = |x: f64, y: f64| match x.partial_cmp(&y) {
            None => none,
            Some(order) if order.is_lt() || order.is_eq() && !strict => 3.0,
            Some(_) => 0.0,
        };
        let found: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| slope(*x, *y)).collect();
        reals(&found)
    };
    for (first, second, strict) in
        [("x <= y", "y < x", false), ("x < y", "y <= x", true), ("y >= x", "x > y", false)]
    {
        let text = program(first, second);
        assert!(text_of(&text, Math::Host).contains("__builtin_isunordered(x, y) ? "), "{first}");
        gives(&text, &[reals(&xs), reals(&ys)], &[expected(strict)]);
    }
    // Conditions that may both hold, or not.
    for (first, second) in
        [("x <= y", "y <= x"), ("x < y", "y < x"), ("x <= y", "x < y"), ("x == y", "y < x")]
    {
        assert!(!text_of(&program(first, second), Math::Host).contains("isunordered"), "{first} {second}");
    }
}
