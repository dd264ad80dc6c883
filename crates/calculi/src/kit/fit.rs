//! Which growth order a series of counts or times has: constant, linear, n log n, quadratic, cubic or exponential.
//!
//! Each order is a model: its leading term and the lower ones, `a + b n + c n²`. It is fitted by least squares of the
//! *relative* error, so that small counts matter as much as large ones; the base of an exponential is found by search.
//! The error of a model is taken for each point that it does not need itself, and a model whose leading term hardly
//! matters even at the last point is not taken for its order.
//!
//! Counts are exact, but the first of them may be special (a product of one factor has no product). So the last two
//! thirds of the points are tried first: the simplest model that describes them to half a percent is it. If there is none,
//! or the series is of times, there is noise, and all points count: the simplest model is taken whose error is at most five
//! percent, or twice the least of all errors.

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
    /// n³
    Cubic,
    /// Another power of n.
    Power(f64),
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Growth::Constant => f.write_str("1"),
            Growth::Linear => f.write_str("n"),
            Growth::LinearLog => f.write_str("n log n"),
            Growth::Quadratic => f.write_str("n²"),
            Growth::Cubic => f.write_str("n³"),
            Growth::Power(power) => write!(f, "n^{power:.1}"),
            Growth::Exponential(base) => {
                let base = format!("{base:.2}");
                write!(f, "{}ⁿ", base.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

/// A relative error below which a model counts as right.
const RIGHT: f64 = 0.005;
/// A simpler model is taken if its error is at most so many times the least.
const TOLERANCE: f64 = 2.0;
/// The least part of the last value that a leading term makes up.
const SHARE: f64 = 0.05;
/// The same where there is noise, which would find a small cube in anything.
const NOISY_SHARE: f64 = 0.3;
/// Where there is noise, models with a smaller relative error than this are equally good.
const NOISE: f64 = 0.05;
/// The least number of points that tell anything.
const FEWEST: usize = 4;
/// The least number of points that are fitted, if there are so many.
const TAIL: usize = 5;
/// An error of more than this is no description.
const WRONG: f64 = 0.3;
/// The least and the largest base of an exponential.
const BASES: (f64, f64) = (1.1, 64.0);
/// The least and the largest power that is not a whole number.
const POWERS: (f64, f64) = (1.2, 8.0);

/// The order of a series of (n, count), by n, which needs at least four points that are not negative.
pub fn fit(series: &[(f64, f64)]) -> Option<Growth> {
    let usable = |(n, y): &(f64, f64)| n.is_finite() && y.is_finite() && *n >= 1.0 && *y >= 0.0;
    if series.len() < FEWEST || !series.iter().all(usable) {
        return None;
    }
    let kept = (series.len() * 2).div_ceil(3).max(TAIL);
    let tail = series.get(series.len().saturating_sub(kept)..)?;
    let exact = series.iter().all(|(_, y)| y.fract() == 0.0);
    exact
        .then(|| simplest(tail, SHARE, |_| RIGHT))
        .flatten()
        .or_else(|| simplest(series, NOISY_SHARE, |least| (TOLERANCE * least).max(NOISE)))
}

/// The simplest model whose error is at most what `bound` makes of the least error.
fn simplest(series: &[(f64, f64)], share: f64, bound: impl Fn(f64) -> f64) -> Option<Growth> {
    let exponential = searched(series, share, BASES, &Growth::Exponential);
    let mut models =
        vec![Growth::Constant, Growth::Linear, Growth::LinearLog, Growth::Quadratic, exponential];
    if series.len() > FEWEST {
        // Through four points there is always a cubic.
        models.push(Growth::Cubic);
    }
    models.push(searched(series, share, POWERS, &Growth::Power));
    let errors: Vec<(Growth, f64)> =
        models.into_iter().filter_map(|model| Some((model, error(series, share, model)?))).collect();
    let least = errors.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    errors.iter().find(|(_, error)| *error <= bound(least).min(WRONG)).map(|(model, _)| *model)
}

/// The model that fits best of those with a number in it: the best of a row, and then the best in its neighborhood.
fn searched(series: &[(f64, f64)], share: f64, range: (f64, f64), model: &dyn Fn(f64) -> Growth) -> Growth {
    let cost = |log: f64| error(series, share, model(log.exp())).unwrap_or(f64::INFINITY);
    let (mut low, mut high) = (range.0.ln(), range.1.ln());
    for _ in 0..12 {
        let step = (high - low) / 16.0;
        let best = (0..=16)
            .map(|i| low + step * f64::from(i))
            .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
            .unwrap_or(low);
        (low, high) = ((best - step).max(range.0.ln()), (best + step).min(range.1.ln()));
    }
    model(((low + high) / 2.0).exp())
}

/// The relative error of the best model of that order, if its leading term matters and grows.
fn error(series: &[(f64, f64)], share: f64, model: Growth) -> Option<f64> {
    let (largest, last) = *series.last()?;
    let (one, linear, log): (Term, Term, Term) = (&|_| 1.0, &|n| n, &|n: f64| n * n.ln());
    let (square, cube): (Term, Term) = (&|n| n * n, &|n| n * n * n);
    // Relative to the largest n, so that it stays in range.
    let exponential = |base: f64| move |n: f64| base.powf(n - largest);
    let power = |power: f64| move |n: f64| (n / largest).powf(power);
    let found = match model {
        Growth::Constant => return Some(least_squares(series, &[one])?.error),
        Growth::Linear => least_squares(series, &[one, linear]),
        // Minus n, it would be a parabola for small n.
        Growth::LinearLog => match least_squares(series, &[one, log, linear]) {
            Some(found) if found.slope >= 0.0 => least_squares(series, &[one, linear, log]),
            Some(_) | None => least_squares(series, &[one, log]),
        },
        Growth::Quadratic => least_squares(series, &[one, linear, square]),
        Growth::Cubic => least_squares(series, &[one, linear, square, cube]),
        Growth::Exponential(base) => least_squares(series, &[one, &exponential(base)]),
        Growth::Power(exponent) => least_squares(series, &[one, &power(exponent)]),
    }?;
    let leading = match model {
        Growth::Constant | Growth::Exponential(_) | Growth::Power(_) => 1.0,
        Growth::Linear => largest,
        Growth::LinearLog => log(largest),
        Growth::Quadratic => square(largest),
        Growth::Cubic => cube(largest),
    };
    (found.slope * leading > share * last).then_some(found.error)
}

/// A term of a model, as a function of n.
type Term<'a> = &'a dyn Fn(f64) -> f64;

struct Fitted {
    /// The factor of the last term.
    slope: f64,
    /// The relative error.
    error: f64,
}

/// The least squares of the relative errors, by orthogonal columns.
fn least_squares(series: &[(f64, f64)], terms: &[Term]) -> Option<Fitted> {
    // A count of 0 has no relative error; it is compared as if it were 1.
    let weight = |y: f64| if y == 0.0 { 1.0 } else { 1.0 / y };
    let mut rest: Vec<f64> = series.iter().map(|(_, y)| y * weight(*y)).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut slope = 0.0;
    for term in terms {
        let mut column: Vec<f64> = series.iter().map(|(n, y)| term(*n) * weight(*y)).collect();
        let before = dot(&column, &column);
        // Twice, for the rounding errors.
        for other in basis.iter().chain(&basis) {
            let along = dot(other, &column);
            subtract(&mut column, other, along);
        }
        let norm = dot(&column, &column).sqrt();
        if norm * norm <= 1e-20 * before {
            return None;
        }
        column.iter_mut().for_each(|value| *value /= norm);
        let along = dot(&column, &rest);
        subtract(&mut rest, &column, along);
        slope = along / norm;
        basis.push(column);
    }
    let freedom = series.len().saturating_sub(terms.len()).max(1);
    let error = (dot(&rest, &rest) / freedom as f64).sqrt();
    error.is_finite().then_some(Fitted { slope, error })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], what: &[f64], times: f64) {
    for (value, own) in from.iter_mut().zip(what) {
        *value -= own * times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POWERS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
    const STEPS: [f64; 7] = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0];

    fn order(count: impl Fn(f64) -> f64, ns: &[f64]) -> Growth {
        let series: Vec<(f64, f64)> = ns.iter().map(|n| (*n, count(*n).round())).collect();
        fit(&series).unwrap_or_else(|| panic!("no fit"))
    }

    fn is_exponential(growth: Growth, base: f64) -> bool {
        matches!(growth, Growth::Exponential(found) if (found - base).abs() < 0.05 * base)
    }

    #[test]
    fn each_order_is_recognized() {
        for ns in [&POWERS[..], &STEPS[..]] {
            assert_eq!(order(|_| 7.0, ns), Growth::Constant);
            assert_eq!(order(|_| 0.0, ns), Growth::Constant);
            assert_eq!(order(|n| 12.0 * n + 7.0, ns), Growth::Linear);
            assert_eq!(order(|n| 500.0 + 8.0 * n, ns), Growth::Linear);
            assert_eq!(order(|n| n * n + 9.0 * n, ns), Growth::Quadratic);
            assert_eq!(order(|n| 3.0 * n * (n - 1.0) / 2.0 + 5.0, ns), Growth::Quadratic);
            assert_eq!(order(|n| n.powi(3) + 10.0, ns), Growth::Cubic);
        }
        assert_eq!(order(|n| 50.0 * n * n.ln() + 90.0 * n + 3.0, &POWERS), Growth::LinearLog);
        assert!(is_exponential(order(|n| 3.0 * 2f64.powf(n) + 10.0, &STEPS), 2.0));
        assert!(is_exponential(order(|n| 5.0 * 1.5f64.powf(n), &STEPS), 1.5));
        // A series that blew up is short.
        assert!(is_exponential(order(|n| 9.0 * 2f64.powf(n) + 40.0 * n, &POWERS[..5]), 2.0));
        assert!(is_exponential(order(|n| 7.0 * 3f64.powf(n), &STEPS[..4]), 3.0));
    }

    #[test]
    fn the_first_points_do_not_decide() {
        // A product of one factor has no product.
        let late = |n: f64| if n < 2.0 { 4.0 } else { 22.0 * n - 11.0 };
        assert_eq!(order(late, &POWERS), Growth::Linear);
    }

    #[test]
    fn noise_does_not_change_the_order() {
        let mut state = 1u64;
        let mut noise = |size: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1.0 + size * ((state >> 33) as f64 / f64::from(1u32 << 30) - 1.0)
        };
        let mut right = [0; 5];
        for _ in 0..200 {
            let mut of = |count: &dyn Fn(f64) -> f64, ns: &[f64], size: f64| {
                let series: Vec<(f64, f64)> = ns.iter().map(|n| (*n, count(*n) * noise(size))).collect();
                fit(&series)
            };
            right[0] += u32::from(of(&|n| 3.0 * n + 5.0, &POWERS, 0.15) == Some(Growth::Linear));
            right[1] += u32::from(of(&|n| n * n.ln() + 2.0, &POWERS, 0.02) == Some(Growth::LinearLog));
            right[2] += u32::from(of(&|n| n * n + 5.0, &POWERS, 0.15) == Some(Growth::Quadratic));
            let exponential = of(&|n| 2f64.powf(n) + 3.0, &STEPS, 0.15);
            right[3] += u32::from(exponential.is_some_and(|growth| is_exponential(growth, 2.0)));
            right[4] += u32::from(of(&|n| n * n + 5.0, &STEPS, 0.05) == Some(Growth::Quadratic));
        }
        assert!(right.iter().all(|right| *right >= 180), "of 200: {right:?}");
    }

    #[test]
    fn other_powers_are_not_taken_for_exponentials() {
        for power in [1.5, 2.5, 4.0] {
            let found = order(|n| 7.0 * n.powf(power) + 10.0, &POWERS);
            let near = matches!(found, Growth::Power(found) if (found - power).abs() < 0.1);
            assert!(near || power == 2.5 && found == Growth::Cubic, "{power}: {found}");
        }
        // A few points of a steep one.
        let steep = [(2.0, 49.0), (4.0, 369.0), (8.0, 4001.0), (16.0, 52801.0)];
        let found = fit(&steep);
        assert!(matches!(found, Some(Growth::Power(power)) if power > 3.5), "{found:?}");
        // A series that is none of these.
        assert_eq!(fit(&[(1.0, 5.0), (2.0, 900.0), (4.0, 3.0), (8.0, 700.0), (16.0, 2.0)]), None);
    }

    #[test]
    fn times_that_are_nearly_linear_have_no_cube() {
        let times = [0.05, 0.06, 0.07, 0.09, 0.10, 0.12, 0.15, 0.21, 0.28];
        let ns = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0];
        let series: Vec<(f64, f64)> = ns.into_iter().zip(times).collect();
        assert_eq!(fit(&series), Some(Growth::Linear));
        let times = [0.07, 0.14, 0.29, 0.62, 1.27, 2.61, 5.62];
        let ns = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let series: Vec<(f64, f64)> = ns.into_iter().zip(times).collect();
        assert!(matches!(fit(&series), Some(Growth::Linear | Growth::LinearLog)), "{:?}", fit(&series));
    }

    #[test]
    fn orders_are_written_as_on_paper() {
        let shown = [1.5, 2.0, 2.004, 2.16].map(|base| Growth::Exponential(base).to_string());
        assert_eq!(shown, ["1.5ⁿ", "2ⁿ", "2ⁿ", "2.16ⁿ"]);
        assert_eq!(Growth::Quadratic.to_string() + " " + &Growth::LinearLog.to_string(), "n² n log n");
    }

    #[test]
    fn too_little_tells_nothing() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), None);
        assert_eq!(fit(&[(1.0, -1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]), None);
        assert_eq!(fit(&[(1.0, f64::NAN), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]), None);
    }
}
