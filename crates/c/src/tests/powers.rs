//! Whole numbers in loops that are made of vectors: as exponents, and as reals.

use super::{text_of, with_loops, with_options};
use crate::{Input, Math, source};
use wengert_ir::eval::{Items, Value};

/// Powers of `x`, added up, or one after the other.
fn text(step: &str) -> String {
    format!(
        "func f(xs: []Real, k: Int) -> (Real, []Real) {{
            n = length(xs)
            s, ys = for i < n, s = 0.0, x in xs {{ j = i / n l = j + k {step} yield t, p }}
            return s, ys
        }}
        entry f = f"
    )
}

fn straight(text: &str) -> (wengert_ir::Program, wengert_native::loops::Program) {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let loops = wengert_native::divided(&program, false, false);
    (program, loops)
}

#[test]
fn powers_are_written_out_where_vectors_can_be_made_of_them() {
    for (step, calls) in [("p = power(x, l) t = s + p", 0), ("p = power(s, l) t = x + p", 1)] {
        let (program, loops) = straight(&text(step));
        let entries = program.entries.values().copied().collect();
        let input = Input { program: &loops, entries, kinds: Vec::new() };
        let made = source(&input, Math::Library, &|_| None).text;
        let (_, made) = made.split_once("---- The program").expect("it is there");
        assert_eq!(made.matches("wg_power(").count(), calls, "{made}");
    }
}

fn reals(value: &Value) -> Vec<f64> {
    let Value::Array(array) = value else { return Vec::new() };
    let Items::Reals(xs) = array.items() else { return Vec::new() };
    xs.clone()
}

/// Small, large and negative exponents, odd and even, of numbers on both sides of zero.
#[test]
fn powers_in_vectors_are_right_at_every_edge() {
    let text = text("p = power(x, l) t = s + p");
    let (program, loops) = straight(&text);
    let entry = *program.entries.values().next().expect("it has an entry");
    let options = ["-O3", "-fopenmp-simd", "-march=native"];
    let Some((mut fast, entry)) = with_loops(program, loops, entry, Math::Library, &options) else { return };
    let Some((mut strict, _)) = with_options(&text, Math::Host, &[]) else { return };
    let edges = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.0, -2.0, 0.5, 1.0625];
    for exponent in [0, 1, 2, 3, 32, 33, 34, 1001, -1, -2, -31, -33, -34, -1001, i64::MAX, i64::MIN] {
        let args = [Value::reals(edges.repeat(3)), Value::Int(exponent)];
        let [fast, strict] =
            [&mut fast, &mut strict].map(|library| library.call(entry, &args).expect("it runs"));
        let [fast, strict] = [fast, strict].map(|given| given.last().map(reals).unwrap_or_default());
        assert_eq!(fast.len(), 33);
        for (a, b) in fast.iter().zip(&strict) {
            let near = (a - b).abs() <= 1e-15 * b.abs();
            assert!(
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || near,
                "{exponent}: {a:e} {b:e}"
            );
        }
    }
}

/// Also for processors that have no instruction for it: without options the compiler takes none of those.
#[test]
fn reals_of_integers_in_vectors_are_rounded_once() {
    let text = "func f(ks: []Int) -> []Real {
            n = length(ks)
            ys = each i < n, k in ks { y = real(k) yield y }
            return ys
        }
        entry f = f";
    assert!(text_of(text, Math::Library).contains("] = wg_each_real("));
    let mut ks: Vec<i64> = vec![0, 1, -1, i64::MAX, i64::MIN, i64::MIN + 1, u32::MAX.into(), -(1 << 32)];
    for bit in 0..63 {
        // Beside what reals can be, and half between them.
        ks.extend([-3, -1, 0, 1, 2, 3].map(|more| (1i64 << bit).wrapping_add(more)));
        ks.extend([-3, -1, 0, 1, 2, 3].map(|more| (-1i64 << bit).wrapping_sub(more << (bit / 2))));
    }
    let expected: Vec<f64> = ks.iter().map(|k| *k as f64).collect();
    for options in [&["-O3"][..], &["-O3", "-march=native"]] {
        let Some((mut library, entry)) = with_options(text, Math::Library, options) else { return };
        let given = library.call(entry, &[Value::ints(ks.clone())]).expect("it runs");
        assert_eq!(given.first().map(reals), Some(expected.clone()));
    }
}
