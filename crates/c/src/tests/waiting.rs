//! Loops whose iterations read what those before them have written.

use super::{text_of, with_options};
use crate::Math;
use wengert_ir::eval::Value;

/// Of a row, each element from the one `far` places before it; or the other way round.
fn text(backward: bool, far: usize) -> String {
    let (direction, read, written) = if backward { ("backward ", "far", "i") } else { ("", "i", "far") };
    format!(
        r"
        func f(row: []Real, cs: []Real) -> []Real {{
            n = length(cs)
            ys = for {direction}i < n, xs = row, c in cs {{
                far = i + {far}
                x = xs[{read}]
                d = mul_zero(x, c)
                e = div_zero(d, c)
                y = xs[{written}]
                z = y + e
                next = xs with [{written}] = z
                yield next
            }}
            return ys
        }}
        entry f = f"
    )
}

#[test]
fn what_the_iteration_before_has_written_is_multiplied_without_a_choice() {
    let chosen = |text: &str| text_of(text, Math::Library).matches("wg_each_mul_zero(").count();
    let functions = chosen("func f(x: Real) -> Real { return x } entry f = f");
    for (backward, far) in [(false, 1), (true, 1), (false, 8), (true, 3)] {
        // Where it is not known that the elements are there, nobody waits less.
        assert_eq!(chosen(&text(backward, far)) - functions, 1, "{backward} {far}");
    }
    // So far apart that eight iterations go at once.
    assert_eq!(chosen(&text(false, 9)) - functions, 2);
    // What is read is written later.
    let later =
        text(false, 1).replace("xs[i]", "xs[now]").replace("[far]", "[i]").replace("xs[now]", "xs[far]");
    assert_eq!(chosen(&later) - functions, 2, "{later}");
}

#[test]
fn zeros_stay_strong_where_iterations_wait() {
    let numbers = [0.0, -0.0, 1.0, -0.5, f64::INFINITY, f64::NAN, 1e200];
    for (backward, far) in [(false, 1), (true, 1), (false, 8), (true, 3), (false, 9)] {
        let text = text(backward, far);
        let Some((mut fast, entry)) = with_options(&text, Math::Library, &["-O3"]) else { return };
        let Some((mut strict, _)) = with_options(&text, Math::Host, &[]) else { return };
        for x in numbers {
            for c in numbers {
                let row = (0..32).map(|place| if place % 3 == 0 { x } else { f64::from(place) });
                let cs = (0..20).map(|place| if place % 4 == 1 { c } else { 0.5 });
                let args = [Value::reals(row.collect::<Vec<f64>>()), Value::reals(cs.collect::<Vec<f64>>())];
                let (a, b) =
                    (fast.call(entry, &args).expect("it runs"), strict.call(entry, &args).expect("it runs"));
                let numbers =
                    |values: &[Value]| values.iter().flat_map(super::steps::flat).collect::<Vec<f64>>();
                let same = |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan();
                assert!(numbers(&a).into_iter().zip(numbers(&b)).all(same), "{x} {c} {text}: {a:?} {b:?}");
            }
        }
    }
}
