//! Loops with choices in them.

use super::{are_strict_but_rounded, source, with_loops, with_options};
use crate::{Input, Math};
use wengert_ir::eval::Value;
use wengert_prim::RealOp;

/// The text without `exact`: with loops made straight.
fn text_of(text: &str) -> String {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let loops = wengert_native::divided(&program, false, false);
    let entries = program.entries.values().copied().collect();
    source(&Input { program: &loops, entries, kinds: Vec::new() }, Math::Library, &|_| None).text
}

/// The straight loops give what the branches give.
fn is_close(text: &str, args: &[Value]) {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let loops = wengert_native::divided(&program, false, false);
    let entry = *program.entries.values().next().expect("it has an entry");
    let options = ["-O3", "-fopenmp-simd", "-march=native"];
    let Some((mut library, entry)) = with_loops(program, loops, entry, Math::Library, &options) else {
        return;
    };
    are_strict_but_rounded(text, (&mut library, entry), &[args.to_vec()]);
}

/// Numbers of all kinds.
fn numbers() -> Value {
    let some = |i: i32| f64::from(i * 7 % 23) * 0.31 - 3.0;
    Value::reals((0..1003).map(some).chain([0.0, -0.0, 1e9, 1.0, -1.0]).collect::<Vec<_>>())
}

#[test]
fn choices_in_sums_are_made_in_vectors() {
    let huber = r"
        func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            s, d = for i < n, s = 0.0, d = 0.0, x in xs {
                a = abs(x)
                c = a < 1.0
                y, z = if c {
                    b = 0.5 * x k = b * x yield k, x
                } else {
                    k = a - 0.5 p = x > 2.0 m = if p { q = 2.0 * x yield q } else { yield a } yield k, m
                }
                t = s + y
                e = d + z
                yield t, e
            }
            return s, d
        }
        entry f = f";
    let made = text_of(huber);
    assert!(made.contains("#pragma omp simd reduction(+ : s, d)"), "{made}");
    assert!(made.contains("? 0.5 * "), "{made}");
    is_close(huber, &[numbers()]);
    let slopes = r"
        func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                c = x == 0.0
                y = if c { yield 0.0 } else { q = 1.0 / x yield q }
                yield y
            }
            return ys
        }
        entry f = f";
    assert!(text_of(slopes).contains(" == 0.0 ? 0.0 : 1.0 / "), "{}", text_of(slopes));
    is_close(slopes, &[numbers()]);
}

#[test]
fn what_decides_the_next_iteration_stays_a_branch() {
    let text = r"
        func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            s, k = for i < n, s = 0.0, k = 1.0, x in xs {
                c = s > 10.0
                t, m = if c { a = s - k b = k * 0.5 yield a, b } else { a = s + x yield a, k }
                yield t, m
            }
            return s, k
        }
        entry f = f";
    let made = text_of(text);
    assert!(made.contains("} else {") && !made.contains("#pragma omp simd reduction"), "{made}");
    is_close(text, &[numbers()]);
}

/// With functions on both sides, and so many more on one of them.
fn with_functions(more: usize) -> String {
    let steps: String = (0..more).map(|i| format!("e{} = sin(e{i}) ", i + 1)).collect();
    format!(
        "func f(xs: []Real) -> []Real {{
            n = length(xs)
            ys = each i < n, x in xs {{
                c = x <= 1.0
                y = if c {{
                    d = x < 0.0
                    e0 = if d {{ a = exp(x) yield a }} else {{ yield x }} {steps} yield e{more}
                }} else {{ b = log(x) yield b }}
                yield y
            }}
            return ys
        }}
        entry f = f"
    )
}

/// How many branches there are with another side, but for those that every loop has.
fn branches(text: &str) -> usize {
    let count = |text: &str| text_of(text).matches("} else {").count();
    let plain = "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs { y = exp(x) yield y }
            return ys
        }
        entry f = f";
    count(text) - count(plain)
}

#[test]
fn functions_are_computed_on_both_sides_unless_there_are_many() {
    for more in [0, 2] {
        let text = with_functions(more);
        assert_eq!(branches(&text), 0, "{}", text_of(&text));
        is_close(&text, &[numbers()]);
    }
    assert_ne!(branches(&with_functions(3)), 0);
    // What is computed in any case pays for more.
    let text = with_functions(3).replace("c = x <=", "x2 = cos(x) c = x2 <=");
    assert_eq!(branches(&text), 0, "{}", text_of(&text));
    is_close(&text, &[numbers()]);
    assert_ne!(branches(&with_functions(0).replace("log(x)", "gamma(x)")), 0);
}

#[test]
fn the_larger_and_the_lesser_are_the_first_at_ties_and_no_number_if_either_is_none() {
    let text = "func f(xs: []Real, ys: []Real) -> ([]Real, []Real, []Real, []Real, []Real, []Real) {
            n = length(xs)
            a, b, c, d, e, g = each i < n, x in xs, y in ys {
                p = max(x, y) q = min(x, y) r = max(0.0, x) s = max(x, 0.0) t = min(1.0, x) u = min(x, -0.0)
                yield p, q, r, s, t, u
            }
            return a, b, c, d, e, g
        }
        entry f = f";
    // Of a zero only what it divides says which one it is.
    let inverse =
        "v = 1.0 / p w = 1.0 / q z = 1.0 / r k = 1.0 / s l = 1.0 / t m = 1.0 / u yield v, w, z, k, l, m";
    let edges = [0.0, -0.0, 1.0, -1.0, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let xs: Vec<f64> = edges.iter().flat_map(|x| [*x; 8]).collect();
    let ys: Vec<f64> = edges.iter().cycle().take(64).copied().collect();
    let (max, min) = (|x, y| RealOp::Max.eval2(x, y), |x, y| RealOp::Min.eval2(x, y));
    let expected = xs
        .iter()
        .zip(&ys)
        .map(|(x, y)| [max(*x, *y), min(*x, *y), max(0.0, *x), max(*x, 0.0), min(1.0, *x), min(*x, -0.0)]);
    let expected: Vec<[f64; 6]> = expected.collect();
    for (options, inverts) in [
        (&["-O1"][..], false),
        (&["-O1"], true),
        (&["-O3", "-fopenmp-simd", "-march=native"], false),
        (&["-O3", "-fopenmp-simd", "-march=native"], true),
    ] {
        let text = if inverts { text.replace("yield p, q, r, s, t, u", inverse) } else { text.into() };
        let Some((mut library, entry)) = with_options(&text, Math::Library, options) else { return };
        let found = library.call(entry, &[Value::reals(xs.clone()), Value::reals(ys.clone())]);
        for (column, found) in found.expect("it runs").iter().enumerate() {
            let expected = expected.iter().filter_map(|row| row.get(column).copied());
            let expected: Vec<f64> = expected.map(|x| if inverts { 1.0 / x } else { x }).collect();
            assert!(found.same(&Value::reals(expected.clone())), "{column}: {found:?} {expected:?}");
        }
    }
}
