//! Derivatives in innermost loops that are made of vectors.

use super::{text_of, with_options};
use crate::Math;
use wengert_ir::eval::{Items, Value};

/// Products with strong zeros of `x`, `c` and `d`.
const PRODUCTS: &str =
    "a = mul_zero(x, c) b = mul_zero(a, d) e = div_zero(b, c) g = mul_zero(e, d) h = g + a";

/// A loop that gives arrays.
fn map() -> String {
    format!(
        "func f(xs: []Real, cs: []Real, ds: []Real) -> ([]Real, []Real) {{
            n = length(xs)
            hs, bs = each i < n, x in xs, c in cs, d in ds {{ {PRODUCTS} yield h, b }}
            return hs, bs
        }}
        entry f = f"
    )
}

/// A loop that adds up.
fn sums() -> String {
    format!(
        "func f(xs: []Real, cs: []Real, ds: []Real) -> (Real, Real) {{
            n = length(xs)
            s, t = for i < n, s0 = 1.0, t0 = 0.0, x in xs, c in cs, d in ds {{ {PRODUCTS} s1 = s0 + h t1 = t0 + b yield s1, t1 }}
            return s, t
        }}
        entry f = f"
    )
}

/// A loop that adds to the elements of arrays that have something in them, at its own place and at one that does not move.
fn cells() -> String {
    format!(
        "func f(xs: []Real, cs: []Real, ds: []Real) -> ([]Real, []Real) {{
            n = length(xs)
            us = each k < n, x0 in xs {{ u = x0 * 0.5 yield u }}
            vs = each k2 < n, d0 in ds {{ v = d0 * 0.25 yield v }}
            p, q = each i < n, p0 += us, q0 += vs, x in xs, c in cs, d in ds {{
                {PRODUCTS}
                p1 = p0 with [i] += h
                q1 = q0 with [i] += b
                p2 = p1 with [3] += a
                yield p2, q1
            }}
            return p, q
        }}
        entry f = f"
    )
}

/// A loop with functions that have rare arguments.
fn rare() -> String {
    map().replace("h = g + a", "s = sin(c) h0 = g + a h = h0 + s")
}

/// A loop that changes an array which it reads.
fn in_place() -> String {
    format!(
        "func f(xs: []Real, cs: []Real, ds: []Real) -> []Real {{
            n = length(xs)
            us = each k < n, x0 in xs {{ u = x0 * 0.5 yield u }}
            w = length(us)
            hs = each i < w, x in us, c in cs, d in ds {{ {PRODUCTS} yield h }}
            return hs
        }}
        entry f = f"
    )
}

fn flat(value: &Value) -> Vec<f64> {
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

/// How often the program looks afterwards whether something is not a number, and how many sums are rounded once.
fn looks(text: &str, math: Math) -> (usize, usize) {
    let made = text_of(text, math);
    let (_, program) = made.split_once("---- The program").expect("it is there");
    let checks = program.lines().filter(|line| line.contains("WG_RARELY(") && line.contains(" != "));
    (checks.count(), program.matches("wg_fma(").count())
}

/// How many numbers, and some of them: place, in the first column, in the second.
type Case = (usize, Vec<(usize, f64, f64)>);

/// The same with and without looking, of so many numbers with these among them.
fn agree(text: &str, cases: &[Case]) {
    let options = ["-O3", "-fopenmp-simd", "-march=native"];
    let Some((mut fast, entry)) = with_options(text, Math::Library, &options) else { return };
    let Some((mut strict, _)) = with_options(text, Math::Host, &[]) else { return };
    for (count, among) in cases {
        let args = arguments(*count, among);
        let (a, b) = (fast.call(entry, &args).expect("it runs"), strict.call(entry, &args).expect("it runs"));
        let (a, b): (Vec<f64>, Vec<f64>) =
            (a.iter().flat_map(flat).collect(), b.iter().flat_map(flat).collect());
        assert_eq!(a.len(), b.len());
        for (place, (a, b)) in a.iter().zip(&b).enumerate() {
            let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * b.abs();
            assert!(same, "{count} {among:?} {place}: {a} {b}\n{text}");
        }
    }
}

fn arguments(count: usize, among: &[(usize, f64, f64)]) -> [Value; 3] {
    let number = |i: usize| 0.25 + (i % 37) as f64 / 16.0;
    let mut columns = [0, 5, 11].map(|from| (0..count).map(|i| number(i + from)).collect::<Vec<f64>>());
    for (place, x, c) in among.iter().filter(|(place, _, _)| *place < count) {
        columns[0][*place] = *x;
        columns[1][*place] = *c;
    }
    columns.map(Value::reals)
}

/// Loops whose products each have a factor that is the same in all iterations: one that adds to its own elements, and one that adds to neighbors.
fn steady() -> [String; 2] {
    ["i", "k"].map(|place| {
        format!(
            "func f(xs: []Real, cs: []Real, ds: []Real) -> []Real {{
                n = length(xs)
                r = xs[0]
                q = cs[0]
                us = each k2 < n, d0 in ds {{ u = d0 * 0.25 yield u }}
                m = n - 1
                p = each i < m, p0 += us {{
                    k = i + 1
                    c = cs[k]
                    d = ds[i]
                    a = mul_zero(r, c)
                    b = mul_zero(d, r)
                    e = div_zero(c, q)
                    g = a + e
                    p1 = p0 with [i] += g
                    p2 = p1 with [{place}] += b
                    yield p2
                }}
                return p
            }}
            entry f = f"
        )
    })
}

#[test]
fn factors_that_stay_are_looked_at_before_the_loop() {
    let [nan, infinite] = [f64::NAN, f64::INFINITY];
    for text in steady() {
        let made = text_of(&text, Math::Library);
        let (_, program) = made.split_once("---- The program").expect("it is there");
        let looks = program.lines().filter(|line| line.contains("!= 0.0 && ") && line.contains("!= 0.0 * ("));
        assert_eq!(looks.count(), 0, "{program}");
        assert_eq!(program.matches("if (WG_USUALLY(r_").count(), 1, "{program}");
        assert!(!text_of(&text, Math::Host).contains("!= 0.0 && "));
        let mut cases: Vec<Case> = Vec::new();
        for count in [2, 15, 17, 513, 1030] {
            cases.push((count, vec![]));
            for (r, q) in [(0.0, 1.0), (0.0, 0.0), (infinite, 2.0), (2.0, infinite), (nan, 1.0), (1.0, nan)] {
                cases.push((count, vec![(0, r, q)]));
                cases
                    .push((count, vec![(0, r, q), (1, 1.0, 0.0), (7, 1.0, infinite), (count - 1, 0.0, nan)]));
            }
        }
        agree(&text, &cases);
    }
}

#[test]
fn loops_of_derivatives_look_for_zeros_only_where_something_is_not_a_number() {
    let infinite = f64::INFINITY;
    for text in [map(), sums(), cells(), rare(), in_place()] {
        // The loop without looking, rounded once, and what follows if it was wrong.
        let (checks, fused) = looks(&text, Math::Library);
        assert!(checks == 1 && fused > 0, "{checks} {fused} {text}");
        assert_eq!(looks(&text, Math::Host), (0, 0));
        // Strong zeros, in one piece and in several, and what is no number anyway.
        let mut cases: Vec<Case> = Vec::new();
        for count in [4, 15, 17, 511, 512, 513, 1030] {
            let among = [
                vec![],
                vec![(2, 0.0, infinite)],
                vec![(0, 0.0, 0.0), (count / 2, infinite, 0.0), (count - 1, 0.0, f64::NAN)],
                vec![(1, f64::NAN, 1.0), (600, 0.0, 0.0)],
                vec![(3, infinite, 2.0), (514, 0.0, infinite), (515, 1e300, 1e300)],
            ];
            cases.extend(among.map(|among| (count, among)));
        }
        agree(&text, &cases);
    }
}

#[test]
fn what_the_numbers_decide_is_decided_with_strong_zeros() {
    let text = map().replace("h = g + a", "p = g > 0.5 h = select(p, x, c)");
    assert_eq!(looks(&text, Math::Library).0, 0);
    agree(&text, &[(40, vec![(2, 0.0, f64::INFINITY), (9, 0.0, 0.0)])]);
}

#[test]
fn what_shows_elsewhere_if_it_is_no_number_is_not_looked_at() {
    // `b` leads to `h`; what is added to the cell is what is added to the row, with the other sign.
    let pairs = cells().replace("p2 = p1 with [3] += a", "m = -h p2 = p1 with [3] += m");
    for (text, notes) in [(map(), 1), (cells(), 1), (pairs, 0)] {
        let made = text_of(&text, Math::Library);
        let (_, program) = made.split_once("---- The program").expect("it is there");
        let is_note = |line: &&str| line.trim_start().starts_with("wg_") && line.contains(" += ");
        assert_eq!(program.lines().filter(is_note).count(), notes, "{program}");
        let infinite = f64::INFINITY;
        agree(&text, &[(40, vec![(2, 0.0, infinite), (9, 0.0, 0.0), (11, infinite, 0.0)])]);
    }
}

/// A loop carries the array that the one inside of it reads, and makes another one: that one stores into none that it reads.
#[test]
fn functions_of_what_a_loop_carries_are_made_in_vectors() {
    let text = "func f(xs: []Real, n: Int) -> []Real {
            m = length(xs)
            ys = for i < n, ys = xs { zs = each j < m, y in ys { z = sin(y) yield z } yield zs }
            return ys
        }
        entry f = f";
    let made = text_of(text, Math::Library);
    assert_eq!(made.matches("= wg_sin_main(").count(), 1, "{made}");
    let options = ["-O3", "-fopenmp-simd", "-march=native"];
    let Some((mut fast, entry)) = with_options(text, Math::Library, &options) else { return };
    let Some((mut strict, _)) = with_options(text, Math::Host, &[]) else { return };
    // One argument is huge.
    let xs: Vec<f64> = (0..37).map(|i| f64::from(i * i) * 1e4 - 7.0).chain([1e300]).collect();
    let args = [Value::reals(xs), Value::Int(3)];
    let [fast, strict] = [&mut fast, &mut strict].map(|library| library.call(entry, &args).expect("it runs"));
    for (a, b) in fast.iter().flat_map(flat).zip(strict.iter().flat_map(flat)) {
        assert!((a - b).abs() < 1e-14, "{a} {b}");
    }
    assert_eq!(flat(&fast[0]).len(), 38);
}
