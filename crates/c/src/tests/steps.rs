//! Loops whose steps wait for each other.

use super::{gives, real, text_of, with_options};
use crate::Math;
use wengert_ir::eval::{Items, Value};

/// Of numbers with zeros and infinities among them, the same by both.
fn agree(text: &str) {
    let Some((mut fast, entry)) = with_options(text, Math::Library, &["-O3"]) else { return };
    let Some((mut strict, _)) = with_options(text, Math::Host, &[]) else { return };
    let numbers = [0.0, -0.0, 1.0, -0.5, f64::INFINITY, f64::NAN, 1e200];
    for x in numbers {
        for (y, z) in numbers.into_iter().flat_map(|y| numbers.map(|z| (y, z))) {
            let args = [Value::reals([0.5, x, 2.0, y]), Value::reals([1.0, z, 0.25, 3.0])];
            let (a, b) =
                (fast.call(entry, &args).expect("it runs"), strict.call(entry, &args).expect("it runs"));
            for (a, b) in a.iter().flat_map(flat).zip(b.iter().flat_map(flat)) {
                let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-13 * b.abs();
                assert!(same, "{x} {y} {z}: {a} {b}");
            }
        }
    }
}

pub(super) fn flat(value: &Value) -> Vec<f64> {
    if let Value::Real(x) = value {
        vec![*x]
    } else if let Value::Array(array) = value
        && let Items::Reals(xs) = array.items()
    {
        xs.clone()
    } else {
        Vec::new()
    }
}

#[test]
fn steps_of_derivatives_do_not_look_at_zeros_first() {
    let text = r"
        func f(xs: []Real, cs: []Real) -> (Real, Real, []Real) {
            n = length(xs)
            t2, s2, rows = for backward i < n, t = 1.0, s += 0.0, x in xs, c in cs {
                p = x > 0.75
                a = if p { d = mul_zero(t, c) e = div_zero(d, x) yield e } else { e = mul_zero(t, x) yield e }
                b = mul_zero(a, c)
                u = s + b
                yield a, u, b
            }
            return t2, s2, rows
        }
        entry f = f";
    let made = text_of(text, Math::Library);
    assert_eq!(
        (made.matches("!= 0.0)) {").count(), made.matches("_mul_zero(").count() > 3),
        (1, true),
        "{made}"
    );
    assert_eq!(text_of(text, Math::Host).matches("!= 0.0)) {").count(), 0);
    agree(text);
}

#[test]
fn what_depends_on_a_derived_number_or_cannot_run_again_looks_at_each() {
    // A condition on what is carried, and an array that is read and written.
    let condition = r"
        func f(xs: []Real, cs: []Real) -> Real {
            n = length(xs)
            t2 = for i < n, t = 1.0, x in xs, c in cs {
                a = mul_zero(t, x)
                p = a > 0.5
                b = if p { d = mul_zero(a, c) yield d } else { yield a }
                yield b
            }
            return t2
        }
        entry f = f";
    let again = r"
        func f(xs: []Real, cs: []Real) -> (Real, []Real) {
            n = length(xs)
            zeros = zeros(xs)
            t2, ys2 = for i < n, t = 1.0, ys = zeros, x in xs, c in cs {
                a = mul_zero(t, x)
                y = ys[i]
                z = y + a
                ys3 = ys with [0] = z
                yield a, ys3
            }
            return t2, ys2
        }
        entry f = f";
    for text in [condition, again] {
        let made = text_of(text, Math::Library);
        assert_eq!(made.matches("!= 0.0)) {").count(), 0, "{made}");
        agree(text);
    }
}

#[test]
fn what_steps_make_very_small_is_zero() {
    let text = r"
        func f(n: Int, x: Real, y: Real) -> Real {
            r, s = for i < n, t = 1.0, s += 0.0 { a = mul_zero(t, x) b = mul_zero(t, y) u = s + b yield a, u }
            v = r + s
            return r
        }
        entry f = f";
    let least = 0.5_f64.powi(1060);
    for (math, n, expected) in [
        (Math::Library, 1060, least),
        (Math::Library, 1061, 0.0),
        (Math::Host, 1060, least),
        (Math::Host, 1061, least / 2.0),
    ] {
        let Some((mut compiled, entry)) = with_options(text, math, &[]) else { return };
        let given = compiled.call(entry, &[Value::Int(n), real(0.5), real(1.0)]).expect("it runs");
        assert!(matches!(given.as_slice(), [Value::Real(r)] if *r == expected), "{math:?} {n}: {given:?}");
    }
}

#[test]
fn the_product_that_changes_is_the_one_that_is_rounded_with_the_sum() {
    let text = r"
        func f(n: Int, a: Real) -> Real {
            y = for i < n, x = 0.7 { b = x * 0.5 c = a * a d = b - c yield d }
            return y
        }
        entry f = f";
    let made = text_of(text, Math::Library);
    assert!(made.contains("wg_fma(x, 0.5, -(a * a))"), "{made}");
}

#[test]
fn the_columns_of_a_while_loop_grow_together() {
    let text = r"
        func f(x: Real) -> (Real, Real, Real, Int) {
            y, us, ws = while v = x { c = v < 1000000000.0 yield c } do u { w = u * 1.5 yield w, u, w }
            n = length(us)
            m = length(ws)
            k = n + m
            s = sum(us)
            t = sum(ws)
            return y, s, t, k
        }
        entry f = f";
    let made = text_of(text, Math::Host);
    assert_eq!(made.matches(" >= n").count(), 1, "{made}");
    // What is carried is put down before the next is computed.
    let (put, next) = (made.find("] = v;"), made.find("* 1.5"));
    assert!(put.is_some() && put < next, "{made}");
    let (mut us, mut u) = (Vec::new(), 1.0);
    while u < 1e9 {
        us.push(u);
        u *= 1.5;
    }
    let (s, count) = (us.iter().sum::<f64>(), us.len() as i64);
    let t = us.iter().map(|u| u * 1.5).fold(0.0, |t, w| t + w);
    assert!(count > 30);
    gives(text, &[real(1.0)], &[real(u), real(s), real(t), Value::Int(2 * count)]);
}

#[test]
fn what_only_computes_is_called_on_the_callers_stack() {
    let direct = "func f(x: Real) -> Real { c = x > 0.0 y = if c { s = sin(x) yield s } else { yield x } return y } entry f = f";
    let fails = "func f(n: Int) -> Int { m = 6 / n return m } entry f = f";
    let made = "func f(x: Real) -> []Real { xs = [x, 1.0] return xs } entry f = f";
    for (text, expected) in
        [(direct, "wg_direct[] = {1}"), (fails, "wg_direct[] = {0}"), (made, "wg_direct[] = {0}")]
    {
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let loops = wengert_native::lower::lower(&program);
        let entries = program.entries.values().copied().collect();
        let text =
            crate::source(&crate::Input { program: &loops, entries, kinds: Vec::new() }, Math::Host, &|_| {
                None
            })
            .text;
        assert!(text.contains(expected), "{text}");
    }
    gives(direct, &[real(-2.0)], &[real(-2.0)]);
    gives(fails, &[Value::Int(4)], &[Value::Int(1)]);
}
