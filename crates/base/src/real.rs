//! How a `Real` is written: the shortest decimal form that reads back to the same number, always with a point
//! or an exponent so that it is never mistaken for an `Int`.
//!
//! ```
//! use wengert_base::real::show;
//! assert_eq!(show(660.0), "660.0");
//! assert_eq!(show(1e-9), "1e-9");
//! assert_eq!(show(-0.0), "-0.0");
//! assert_eq!(show(f64::NEG_INFINITY), "-Infinity");
//! ```

/// Below this magnitude, and from `1e16` on, exponent notation is used.
const SMALLEST_PLAIN: f64 = 1e-4;
const LARGEST_PLAIN: f64 = 1e16;

/// The shortest form that reads back.
pub fn show(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let magnitude = x.abs();
    if magnitude != 0.0 && !(SMALLEST_PLAIN..LARGEST_PLAIN).contains(&magnitude) {
        return format!("{x:e}");
    }
    format!("{x:?}")
}

#[cfg(test)]
mod tests {
    use super::show;

    #[test]
    fn every_form_reads_back() {
        for x in [0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 1.5e16, 1e-4, 1e-5, 9e-6, 5e-324, f64::MAX, 123456.789] {
            let text = show(x);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{text}");
            assert!(text.contains(['.', 'e']), "{text}");
        }
        assert_eq!(show(f64::NAN), "NaN");
        assert_eq!(show(1e16), "1e16");
        assert_eq!([1e-4, 0.99e-4, 1e-5].map(show), ["0.0001", "9.9e-5", "1e-5"]);
    }
}
