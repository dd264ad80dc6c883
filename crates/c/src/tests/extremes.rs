//! The largest and the smallest.

use super::{gives, real, text_of};
use crate::Math;
use wengert_ir::eval::{Items, Value};

fn program(op: &str) -> String {
    let ty = if op.starts_with("arg") { "Int" } else { "Real" };
    format!("func f(xs: []Real) -> {ty} {{ y = {op}(xs) return y }} entry f = f")
}

/// As the interpreter looks: the first that is better, and the first that is no number before all.
fn first(xs: &[f64], largest: bool) -> usize {
    let mut best = 0;
    for (place, x) in xs.iter().enumerate() {
        let better = if largest { *x > xs[best] } else { *x < xs[best] };
        if !xs[best].is_nan() && (better || x.is_nan()) {
            best = place;
        }
    }
    best
}

#[test]
fn the_first_best_is_found_without_branches() {
    for (op, largest) in [("maximum", true), ("minimum", false), ("argmax", true), ("argmin", false)] {
        let made = text_of(&program(op), Math::Library);
        let function = if largest { " = wg_first_largest(" } else { " = wg_first_smallest(" };
        assert_eq!(made.matches(function).count(), 1, "{made}");
    }
    assert!(
        !text_of("func f(x: Real) -> Real { return x } entry f = f", Math::Library).contains("wg_first_")
    );
}

#[test]
fn it_is_the_same_element_however_many_there_are() {
    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 7.0, -7.0];
    let programs = ["maximum", "minimum", "argmax", "argmin"].map(|op| (op, program(op)));
    for (op, text) in &programs {
        let Some((mut library, entry)) = super::with_options(text, Math::Host, &["-O3"]) else { return };
        for count in [1, 2, 7, 63, 64, 65, 71, 72, 200] {
            for (special, place) in
                specials.iter().flat_map(|x| [0, 1 % count, count / 2, count - 1].map(|at| (*x, at)))
            {
                // Every number there is many times.
                let mut xs: Vec<f64> = (0..count).map(|i| f64::from(i * 37 % 11) - 5.0).collect();
                let place = usize::try_from(place).unwrap_or(0);
                xs[place] = special;
                // Another one behind it.
                if place + 9 < xs.len() {
                    xs[place + 9] = special;
                }
                let best = first(&xs, op.ends_with("max") || *op == "maximum");
                let expected = if op.starts_with("arg") { Value::Int(best as i64) } else { real(xs[best]) };
                let found = library.call(entry, &[Value::reals(xs.clone())]).expect("it runs");
                let same = found.first().is_some_and(|found| match (found, &expected) {
                    (Value::Real(a), Value::Real(b)) => {
                        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
                    }
                    (a, b) => a.same(b),
                });
                assert!(same, "{op} {count} {special} at {place}: {found:?} {expected:?}");
            }
        }
    }
    // With the rest of the runtime around.
    let text =
        "func f(a: [][]Real) -> Real { b = matmul(a, a) c = b[0] y = maximum(c) return y } entry f = f";
    let matrix = Value::array([2, 2], Items::Reals(vec![1.0, 2.0, 3.0, 4.0]));
    gives(text, &[matrix], &[real(10.0)]);
    gives(&program("argmin"), &[Value::reals([2.0, 1.0, 1.0])], &[Value::Int(1)]);
}

/// The largest and the least of what is computed, and a sum beside them.
const COMPUTED: &str = r"
    func f(xs: []Real, a: Real) -> (Real, Real, Real) {
        n = length(xs)
        m, l, s = for i < n, m = -1e300, l = 1e300, s = 0.0, x in xs {
            y = a * x
            z = y + 1.0
            m2 = max(m, z)
            l2 = min(z, l)
            t = s + z
            yield m2, l2, t
        }
        return m, l, s
    }
    entry f = f";

#[test]
fn the_largest_of_what_is_computed_is_found_in_vectors() {
    let made = super::text_of(COMPUTED, Math::Library);
    let clauses = "#pragma omp simd reduction(+ : s) reduction(wg_max : m) reduction(wg_min : l)";
    assert!(made.contains(clauses), "{made}");
    let number = |i: i32| f64::from(i * 7 % 23) * 0.31 - 3.0;
    let numbers = |count: i32| Value::reals((0..count).map(number).collect::<Vec<_>>());
    let all = [0, 1, 2, 15, 16, 17, 63, 64, 200].map(|count| vec![numbers(count), Value::Real(-0.7)]);
    super::are_close(COMPUTED, &all);
    // One that is no number is the largest and the least, wherever it stands.
    let options = &["-O3", "-fopenmp-simd", "-march=native"];
    let Some((mut library, entry)) = super::with_options(COMPUTED, Math::Library, options) else { return };
    for place in 0..40 {
        let some = |i: i32| if i == place { f64::NAN } else { number(i) };
        let xs = Value::reals((0..40).map(some).collect::<Vec<_>>());
        let found = library.call(entry, &[xs, Value::Real(0.5)]).expect("it runs");
        assert!(found.iter().all(|x| matches!(x, Value::Real(x) if x.is_nan())), "{place}: {found:?}");
    }
}
