//! Comparing printed values.

/// Whether two printed values are the same but for rounding: numbers that differ by no more than `tolerance`, relatively or
/// absolutely, and the same text around them.
pub fn close(a: &str, b: &str, tolerance: f64) -> bool {
    let is_end = |c: char| " ,()[]{}\n".contains(c);
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(is_end).collect(), b.split(is_end).collect());
    let near = |(a, b): (&&str, &&str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => {
            x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * x.abs().max(1.0)
        }
        (_, _) => a == b,
    };
    a.len() == b.len() && a.iter().zip(&b).all(near)
}

/// The sign of a derivative that is 0 says how it was computed, and nothing else.
pub fn unsigned(text: &str) -> String {
    let mut parts = text.split("-0.0");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_ascii_digit() || c == 'e');
        plain.push_str(if goes_on { "-0.0" } else { "0.0" });
        plain.push_str(part);
    }
    plain.replace("(0.0)", "0.0")
}
