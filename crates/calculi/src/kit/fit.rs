//! Which growth order a series of counts has: constant, linear, n log n, quadratic or exponential.
//!
//! Each order is a model `a + b·g(n)`, fitted by least squares of the *relative* error, so that small counts matter as
//! much as large ones. Of the models that describe the counts to a percent the simplest is chosen, else the one with the
//! least error. The base of an exponential is the ratio of the last two increases.

use std::fmt;

/// A growth order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Does not depend on n.
    Constant,
    /// n
    Linear,
    /// n log n
    LinearLog,
    /// n²
    Quadratic,
    /// Multiplied by this for each step of n.
    Exponential(f64),
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Growth::Constant => f.write_str("1"),
            Growth::Linear => f.write_str("n"),
            Growth::LinearLog => f.write_str("n log n"),
            Growth::Quadratic => f.write_str("n²"),
            Growth::Exponential(base) => write!(f, "{base:.2}ⁿ"),
        }
    }
}

/// A relative error (root of the mean square) below which a model counts as right.
const RIGHT: f64 = 0.01;

/// The order of a series of (n, count), which needs at least four points with positive counts.
pub fn fit(series: &[(f64, f64)]) -> Option<Growth> {
    if series.len() < 4
        || series.iter().any(|(n, y)| !n.is_finite() || !y.is_finite() || *n < 1.0 || *y <= 0.0)
    {
        return None;
    }
    let mut models = vec![Growth::Constant, Growth::Linear, Growth::LinearLog, Growth::Quadratic];
    models.extend(base(series).map(Growth::Exponential));
    let errors: Vec<(Growth, f64)> =
        models.into_iter().filter_map(|model| Some((model, error(series, model)?))).collect();
    let right = errors.iter().find(|(_, error)| *error < RIGHT);
    let least = errors.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    right.or(least).map(|(model, _)| *model)
}

/// The ratio of the last two increases, for a step of 1.
fn base(series: &[(f64, f64)]) -> Option<f64> {
    let [.., (n0, a), (n1, b), (n2, c)] = series else { return None };
    let (first, second) = ((b - a) / (n1 - n0), (c - b) / (n2 - n1));
    let base = (second / first).powf(1.0 / (n2 - n1));
    (base.is_finite() && base > 1.05).then_some(base)
}

/// The error of the best `a + b·g(n)` with `b` not negative.
fn error(series: &[(f64, f64)], model: Growth) -> Option<f64> {
    let largest = series.last()?.0;
    let shape = |n: f64| match model {
        Growth::Constant => 0.0,
        Growth::Linear => n,
        Growth::LinearLog => n * n.ln(),
        Growth::Quadratic => n * n,
        // Relative to the largest n, so that it stays in range.
        Growth::Exponential(base) => base.powf(n - largest),
    };
    // Normal equations of Σ ((a + b·g − y) / y)².
    let (mut s1, mut sg, mut sgg, mut sy, mut sgy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (n, y) in series {
        let (g, w) = (shape(*n), 1.0 / (y * y));
        s1 += w;
        sg += w * g;
        sgg += w * g * g;
        sy += w * y;
        sgy += w * g * y;
    }
    let determinant = s1 * sgg - sg * sg;
    let slope = if determinant.abs() < 1e-12 * s1 * sgg || sgg == 0.0 {
        0.0
    } else {
        (s1 * sgy - sg * sy) / determinant
    };
    let slope = slope.max(0.0);
    let level = (sy - slope * sg) / s1;
    let square: f64 = series.iter().map(|(n, y)| ((level + slope * shape(*n) - y) / y).powi(2)).sum();
    let error = (square / series.len() as f64).sqrt();
    error.is_finite().then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: impl Fn(f64) -> f64, ns: &[f64]) -> Growth {
        fit(&ns.iter().map(|n| (*n, count(*n).round())).collect::<Vec<_>>())
            .unwrap_or_else(|| panic!("no fit"))
    }

    #[test]
    fn each_order_is_recognized() {
        let powers = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        assert_eq!(of(|_| 7.0, &powers), Growth::Constant);
        assert_eq!(of(|n| 12.0 * n + 7.0, &powers), Growth::Linear);
        assert_eq!(of(|n| 5.0 * n * n.ln() + 3.0, &powers), Growth::LinearLog);
        assert_eq!(of(|n| n * n + 9.0 * n, &[16.0, 32.0, 64.0, 128.0, 256.0]), Growth::Quadratic);
        let Growth::Exponential(base) = of(|n| 3.0 * 2f64.powf(n) + 10.0, &steps) else { panic!() };
        assert!((base - 2.0).abs() < 0.01, "{base}");
        assert_eq!(Growth::Exponential(2.0).to_string(), "2.00ⁿ");
    }

    #[test]
    fn too_little_tells_nothing() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), None);
        assert_eq!(fit(&[(1.0, 0.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]), None);
    }
}
