//! Loops that look after their end whether a check would have failed.

use super::{compare_but_rounded, text_of, with_options};
use crate::Math;
use wengert_ir::eval::{Items, Value};

/// Elements on both sides of numbers, and functions of what lies between.
const BETWEEN: &str = r"
    func f(v: []Real, xs: []Real) -> (Real, []Real) {
        n = length(xs)
        s, ys = for i < n, s = 0.0, x in xs {
            i2 = floor(x)
            r = real(i2)
            t = x - r
            a = v[i2]
            i3 = i2 + 1
            b = v[i3]
            d = b - a
            c = d * t
            y = a + c
            e = exp(y)
            u = s + e
            yield u, e
        }
        return s, ys
    }
    entry f = f";

/// The same in a matrix, without functions.
const ROWS: &str = r"
    func f(m: [][]Real, xs: []Real) -> []Real {
        n = length(xs)
        ys = each i < n, x in xs {
            k = floor(x)
            h = x * 0.5
            j = floor(h)
            a = m[j, k]
            r = real(k)
            t = x - r
            b = a * t
            c = b * b
            d = c - a
            e = d / x
            yield e
        }
        return ys
    }
    entry f = f";

fn numbers(special: Option<(f64, usize)>) -> Value {
    let mut xs: Vec<f64> = (0..53).map(|i| f64::from(i * 37 % 50) * 0.1 + 0.05).collect();
    if let Some((x, at)) = special {
        xs[at] = x;
    }
    Value::reals(xs)
}

#[test]
fn checks_are_looked_at_after_the_loop() {
    let made = text_of(BETWEEN, Math::Library);
    for line in ["double a = v[i2 & (wg_2 - 1)];", "wg_2 |= wg_outside(i2, v_size);", "wg_1 += wg_2;"] {
        assert!(made.contains(line), "{line}\n{made}");
    }
    let made = text_of(ROWS, Math::Library);
    assert!(made.contains("word wg_1 = !WG_GATHERS || m_size0 <= 0 || m_size1 <= 0;"), "{made}");
    // Every operation as it is.
    assert!(!text_of(BETWEEN, Math::Host).contains("wg_2 |= "));
}

/// An index that is greater than that of the loop may be why another element is there, and what a branch reads is not always read.
#[test]
fn other_loops_check_in_each_iteration() {
    let moving = BETWEEN.replace("i2 = floor(x)", "i1 = floor(x) i2 = i1 + i");
    let branch =
        BETWEEN.replace("b = v[i3]", "g = t > 0.5 b = if g { b = v[i3] yield b } else { yield 0.0 }");
    let quotient = BETWEEN.replace("i3 = i2 + 1", "i3 = 7 / i2");
    for text in [moving, branch, quotient] {
        assert!(!text_of(&text, Math::Library).contains("wg_2 |= "), "{text}");
    }
}

#[test]
fn they_fail_where_they_would_have() {
    let specials = [-0.5, 4.97, 5.0, 1e10, 5e15, -1e300, 9.3e18, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let matrix = Value::array([6, 6], Items::Reals((0..36).map(f64::from).collect()));
    let row = Value::reals((0..6).map(f64::from).collect::<Vec<_>>());
    for options in [
        &["-O3", "-fopenmp-simd", "-march=native"][..],
        &["-O3", "-fopenmp-simd", "-mno-avx512f", "-march=native"],
    ] {
        for (text, table) in [(BETWEEN, &row), (ROWS, &matrix)] {
            let Some((mut fast, entry)) = with_options(text, Math::Library, options) else { return };
            let Some((mut strict, _)) = with_options(text, Math::Host, &[]) else { return };
            let places = [0, 26, 52].map(|at| specials.map(|x| Some((x, at))));
            for special in places.into_iter().flatten().chain([None]) {
                let args = [table.clone(), numbers(special)];
                match (fast.call(entry, &args), strict.call(entry, &args)) {
                    (Ok(found), Ok(expected)) => compare_but_rounded(&found, &expected),
                    (found, expected) => assert_eq!(format!("{found:?}"), format!("{expected:?}")),
                }
            }
        }
    }
}

#[test]
fn nothing_is_read_of_an_empty_array() {
    let Some((mut fast, entry)) = with_options(BETWEEN, Math::Library, &["-O3", "-fopenmp-simd"]) else {
        return;
    };
    let none = || Value::reals(Vec::<f64>::new());
    assert!(fast.call(entry, &[none(), numbers(None)]).is_err());
    let Some((mut strict, _)) = with_options(BETWEEN, Math::Host, &[]) else { return };
    let args = [none(), none()];
    assert_eq!(format!("{:?}", fast.call(entry, &args)), format!("{:?}", strict.call(entry, &args)));
}
