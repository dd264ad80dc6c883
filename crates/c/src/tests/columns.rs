//! Loops around loops that go down columns.

use super::{text_of, with_options};
use crate::Math;
use wengert_ir::eval::{Items, Value};

/// The best way to each place: what it costs to be at another one before, and to go from there.
const BEST: &str = r"
    func f(v: []Real, m: [][]Real, e: []Real) -> []Real {
        k = length(v)
        n = length(e)
        ys = each j < n {
            s, q = for i < k, s = -1000.0, q = 0.5, row in m {
                x = v[i]
                y = row[j]
                t = x + y
                s2 = max(s, t)
                u = q * 0.5
                q2 = u + t
                yield s2, q2
            }
            z = e[j]
            a = s + z
            b = a * q
            yield b
        }
        return ys
    }
    entry f = f";

fn numbers(count: usize, factor: f64) -> Vec<f64> {
    (0..count).map(|i| f64::from(u32::try_from(i * 37 % 50).unwrap_or(0)) * factor - 1.0).collect()
}

#[test]
fn columns_beside_each_other_are_done_at_once() {
    let made = text_of(BEST, Math::Library);
    let own = made.split("f_f(wg_run *r, double *restrict v").last().unwrap_or_default();
    assert!(own.contains("if (e_size >= 8 && "), "{own}");
    assert!(own.contains("[512];"), "{own}");
    // What goes along rows, what is written inside, and where each operation is as it is.
    let along = BEST
        .replace("row in m", "")
        .replace("-1000.0, q = 0.5,", "-1000.0, q = 0.5")
        .replace("row[j]", "m[j, i]");
    for (text, math) in [(along.as_str(), Math::Library), (BEST, Math::Host)] {
        assert!(!text_of(text, math).contains(" >= 8 && "), "{text}");
    }
}

#[test]
fn they_give_what_one_after_the_other_gives() {
    let Some((mut fast, entry)) =
        with_options(BEST, Math::Library, &["-O3", "-fopenmp-simd", "-march=native"])
    else {
        return;
    };
    let Some((mut strict, _)) = with_options(BEST, Math::Host, &[]) else { return };
    let sizes = [
        (12, 12, 12, 12),
        (0, 12, 12, 12),
        (12, 7, 12, 7),
        (5, 1100, 5, 1100),
        (12, 12, 12, 11),
        (3, 0, 3, 0),
    ];
    for special in [0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (k, n, rows, width) in sizes {
            let mut m = numbers(rows * width, 0.125);
            if let Some(x) = m.get_mut(rows * width / 2) {
                *x = special;
            }
            let args = [
                Value::reals(numbers(k, 0.25)),
                Value::array([rows, width], Items::Reals(m)),
                Value::reals(numbers(n, 0.5)),
            ];
            // No number has too many digits to be exact.
            let [found, expected] = [&mut fast, &mut strict].map(|library| library.call(entry, &args));
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{k} {n} {special}");
        }
    }
}
