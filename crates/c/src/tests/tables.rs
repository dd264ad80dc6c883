//! Arrays of many known numbers.

use super::{gives, real, text_of};
use crate::Math;
use wengert_ir::eval::Value;

/// A program that gives an element of an array of reals and one of an array of integers, of so many.
fn program(count: i32) -> String {
    let reals: Vec<String> = (0..count).map(|i| format!("{:?}", f64::from(i * 7 % 23) - 11.25)).collect();
    let ints: Vec<String> = (0..count).map(|i| (i - 30).to_string()).collect();
    let (reals, ints) = (reals.join(", "), ints.join(", "));
    format!(
        "func f(i: Int) -> (Real, Int) {{ xs = [{reals}] ns = [{ints}] x = xs[i] n = ns[i] return x, n }} entry f = f"
    )
}

#[test]
fn many_known_numbers_are_a_table() {
    let text = program(100);
    for i in [0, 1, 42, 63, 64, 99] {
        let x = real(f64::from(i * 7 % 23) - 11.25);
        gives(&text, &[Value::Int(i64::from(i))], &[x, Value::Int(i64::from(i) - 30)]);
    }
    let made = text_of(&text, Math::Host);
    assert_eq!(made.matches("static const double wg_table[]").count(), 1, "{made}");
    assert_eq!(made.matches("static const word wg_table[]").count(), 1, "{made}");
}

#[test]
fn few_are_stored_one_by_one() {
    let text = program(20);
    gives(&text, &[Value::Int(3)], &[real(9.75), Value::Int(-27)]);
    assert!(!text_of(&text, Math::Host).contains("wg_table"));
}
