//! Numbers as text: that of the interpreter, digit by digit.

use super::library;
use wengert_base::real::show;
use wengert_ir::eval::Value;

/// Numbers of all sizes, among them those between two forms of the same length, powers of two, and what is beside the places where another
/// form begins.
fn numbers() -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    };
    let mut all: Vec<f64> = (0..3000).map(|_| f64::from_bits(next())).collect();
    // Sixteen digits before the point and a quarter after it: in the middle.
    all.extend((0..500).map(|k| 656_629_028_354_331.0 + f64::from(k) * 0.125));
    all.extend((0..500).map(|k| 1_125_899_906_842_624.0 + f64::from(k) * 0.25));
    all.extend((-1074..1024).map(|n| f64::powi(2.0, n)));
    for edge in
        [1e-5, 1e-4, 1e-3, 0.1, 1.0, 1e15, 1e16, 1e17, 1e22, 1e23, 5e-324, f64::MAX, f64::MIN_POSITIVE]
    {
        all.extend([edge, edge.next_down(), edge.next_up(), -edge, edge * 2.5]);
    }
    all.extend([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.5e-5, 0.99e-4, 9.5, 0.5]);
    all
}

#[test]
fn reals_are_shown_as_everywhere() {
    let text = "func f(x: Real) -> Text { t = show(x) return t } entry f = f";
    let Some((mut library, entry)) = library(text) else { return };
    for x in numbers() {
        let shown = library.call(entry, &[Value::Real(x)]).expect("it has a form");
        let [Value::Text(text)] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!(text.as_str(), show(x), "{:x}", x.to_bits());
    }
}
