//! Slopes at kinks.

use super::{gives, text_of, with_options};
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

#[test]
fn where_iterations_wait_slopes_and_the_least_are_chosen_without_branches() {
    let text = |first: &str, second: &str| {
        format!(
            "func f(xs: []Real, ys: []Real) -> ([]Real, []Real) {{
                n = length(xs)
                s, t, us, vs = for i < n, s = 0.5, t = 1.0, x in xs, y in ys {{
                    c = {first} d = {second}
                    e = select(d, 0.0, NaN) slope = select(c, 1.0, e)
                    m = min(x, y) k = max(s, m)
                    a = mul_zero(t, slope) b = a + 1.0
                    yield k, b, k, b
                }}
                return us, vs
            }}
            entry f = f"
        )
    };
    let numbers = [1.0, -0.0, 0.0, 2.0, f64::NAN, f64::INFINITY];
    let pairs = |of: fn(f64, f64) -> f64| {
        Value::reals(numbers.into_iter().flat_map(|x| numbers.map(|y| of(x, y))).collect::<Vec<f64>>())
    };
    let args = [pairs(|x, _| x), pairs(|_, y| y)];
    for (first, second, name) in [
        ("x <= y", "y < x", "wg_slope_at_most(x, y, 1.0, 0.0)"),
        ("y > x", "x >= y", "wg_slope_below(x, y, 1.0, 0.0)"),
    ] {
        let text = text(first, second);
        let made = text_of(&text, Math::Library);
        assert!(made.contains(name) && made.contains("wg_min(") && made.contains("wg_max("), "{made}");
        let body = made.split_once("f_f(").map_or("", |(_, body)| body);
        assert!(!body.contains("wg_each_min(") && !body.contains("wg_each_max("), "{made}");
        let Some((mut fast, entry)) = with_options(&text, Math::Library, &["-O3"]) else { return };
        let Some((mut strict, _)) = with_options(&text, Math::Host, &[]) else { return };
        let [a, b] = [&mut fast, &mut strict].map(|program| program.call(entry, &args).expect("it runs"));
        let same = |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan();
        let (a, b) = (a.iter().flat_map(super::steps::flat), b.iter().flat_map(super::steps::flat));
        assert!(a.zip(b).all(same), "{text}");
    }
}
