//! Fits the polynomials of this crate: writes `src/coefficients.rs`.
//!
//! ```sh
//! cargo run --release -p wengert-vmath --example fit > crates/vmath/src/coefficients.rs
//! ```
//!
//! Each polynomial `P` of given degree is the one with the smallest largest `|w(t)·(P(t) − g(t))|` on an interval, found by
//! Remez's exchange algorithm in 240-bit arithmetic: solve for the polynomial whose weighted error is `±E` with alternating
//! signs at n + 2 points, move the points to the largest errors between the zeros, repeat. Then the lowest coefficient
//! is rounded to a double (or to a sum of two) and the others are fitted again to what remains, and so on: so that
//! rounding costs almost nothing. The error that is left, all coefficients rounded, stands beside each table.
#![expect(clippy::indexing_slicing, clippy::needless_range_loop, reason = "matrices")]
#![expect(clippy::print_stdout, reason = "it is a program")]

#[path = "../tests/reference/special.rs"]
mod special;

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

type Big = FBig<HalfEven, 2>;

const PRECISION: usize = 240;
/// Points at which errors are looked at.
const GRID: usize = 1500;
const ROUNDS: usize = 25;

fn big(x: f64) -> Big {
    Big::try_from(x).expect("finite").with_precision(PRECISION).value()
}

fn int(n: i64) -> Big {
    Big::from(n).with_precision(PRECISION).value()
}

fn small(x: &Big) -> f64 {
    x.to_f64().value()
}

/// A polynomial to be fitted.
struct Fit {
    name: &'static str,
    doc: &'static str,
    /// The function and the weight.
    target: fn(&Big) -> (Big, Big),
    from: Big,
    to: Big,
    degree: usize,
    /// So many of the lowest coefficients are sums of two doubles.
    doubled: usize,
    /// Round all at once: where 0 lies inside of the interval, powers that vanish there cannot put right what rounding lost.
    at_once: bool,
}

fn fits() -> Vec<Fit> {
    let eighth = Big::pi(PRECISION) / int(8);
    let root_half = int(2).sqrt() / int(2);
    let widest = (int(1) - &root_half) / (int(1) + &root_half);
    let half_ln2 = int(2).ln() / int(2) * big(1.001);
    let quarter_pi = Big::pi(PRECISION) / int(4) * big(1.001);
    vec![
        Fit {
            name: "EXPM1",
            doc: "`(eʳ - 1 - r) / r²` for `|r| ≤ log 2 / 2`.",
            target: |r| (r.exp_m1() / r / r - int(1) / r, r * r / r.exp_m1()),
            from: -half_ln2.clone(),
            to: half_ln2,
            degree: 11,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "LOG",
            doc: "`(2 atanh s / s - 2) / z` with `z = s²`, for `s = (m - 1) / (m + 1)` and `√½ ≤ m ≤ √2`.",
            target: |z| ((int(2) * atanh_ratio(z) - int(2)) / z, z / atanh_ratio(z)),
            from: int(0),
            to: (&widest * &widest) * big(1.001),
            degree: 7,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "LOG_LONG",
            doc: "As `LOG`, behind the lowest coefficient, which is `LOG_LONG_HEAD`.",
            target: |z| ((int(2) * atanh_ratio(z) - int(2)) / z, z / atanh_ratio(z)),
            from: int(0),
            to: (&widest * &widest) * big(1.001),
            degree: 9,
            doubled: 1,
            at_once: false,
        },
        Fit {
            name: "SIN",
            doc: "`(sin r / r - 1) / z` with `z = r²`, for `|r| ≤ π/4`.",
            target: |z| ((sin_ratio(z) - int(1)) / z, z / sin_ratio(z)),
            from: int(0),
            to: &quarter_pi * &quarter_pi,
            degree: 6,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "COS",
            doc: "`(cos r - 1 + z/2) / z²` with `z = r²`, for `|r| ≤ π/4`.",
            target: |z| ((z.sqrt().cos() - int(1) + z / int(2)) / (z * z), z * z / z.sqrt().cos()),
            from: int(0),
            to: &quarter_pi * &quarter_pi,
            degree: 6,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "ATAN",
            doc: "`(atan r / r - 1) / z` with `z = r²`, for `|r| ≤ tan (π/8)`.",
            target: |z| ((atan_ratio(z) - int(1)) / z, z / atan_ratio(z)),
            from: int(0),
            to: eighth.tan() * eighth.tan() * big(1.001),
            degree: 11,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "ASIN",
            doc: "`(asin r / r - 1) / z` with `z = r²`, for `|r| ≤ 1/2`.",
            target: |z| ((asin_ratio(z) - int(1)) / z, z / asin_ratio(z)),
            from: int(0),
            to: big(0.2501),
            degree: 12,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "ERF",
            doc: "`erf x / x - 1`, behind the lowest coefficient, with `z = x²`, for `|x| ≤ 7/8`.",
            target: |z| {
                let x = z.sqrt();
                let ratio = special::erf(&x, PRECISION) / x;
                (&ratio - int(1), int(1) / ratio)
            },
            from: int(0),
            to: big(0.7657),
            degree: 11,
            doubled: 1,
            at_once: false,
        },
        Fit {
            name: "ERFC",
            doc: "`(1 + 2x) exp x² erfc x`, behind the lowest coefficient, with `t = (x - 4) / (x + 4)`, for `1/2 ≤ x ≤ 28`.",
            target: scaled_erfc,
            from: (big(0.499) - int(4)) / big(4.499),
            to: big(24.01) / big(32.01),
            degree: 24,
            doubled: 1,
            at_once: true,
        },
        Fit {
            name: "CBRT",
            doc: "The cube root, roughly, for `1 ≤ x < 2`.",
            target: |x| (x.nth_root(3), int(1) / x.nth_root(3)),
            from: int(1),
            to: int(2),
            degree: 4,
            doubled: 0,
            at_once: false,
        },
    ]
}

fn gamma_fits() -> Vec<Fit> {
    let half = int(1) / int(2);
    vec![
        Fit {
            name: "LGAMMA",
            doc: "`lgamma (2 + z) / z`, behind the lowest two coefficients, for `|z| ≤ 1/2`.",
            // The least of `|lgamma x / z|` for `z = x - 2` and `z = x - 1` is a quarter.
            target: |z| (special::lgamma(&(int(2) + z), PRECISION) / z, int(4)),
            from: -half.clone(),
            to: half,
            degree: 18,
            doubled: 2,
            at_once: true,
        },
        Fit {
            name: "LGAMMA_FAR",
            doc: "`x·(lgamma x - (x - 1/2)·(log x - 1) - (log 2π - 1) / 2)` with `z = 1/x²`, for `x ≥ 5/2`.",
            target: |z| {
                let x = int(1) / z.sqrt();
                let value = special::lgamma(&x, PRECISION);
                let main = (&x - int(1) / int(2)) * (x.ln() - int(1)) + half_log_two_pi();
                ((&value - main) * &x, int(1) / (x * value))
            },
            from: int(0),
            to: big(0.160_01),
            degree: 11,
            doubled: 0,
            at_once: false,
        },
        Fit {
            name: "DIGAMMA",
            doc: "`digamma x / (x - DIGAMMA_ROOT)`, behind the lowest coefficient, with `t = x - 3/2`, for `1 ≤ x ≤ 2`.",
            target: |t| {
                let x = int(3) / int(2) + t;
                let value = special::digamma(&x, PRECISION) / (x - digamma_root());
                let weight = int(1) / &value;
                (value, weight)
            },
            from: big(-0.500_01),
            to: big(0.500_01),
            degree: 21,
            doubled: 1,
            at_once: true,
        },
        Fit {
            name: "DIGAMMA_FAR",
            doc: "`x²·(log x - 1/(2x) - digamma x)` with `z = 1/x²`, for `x ≥ 3`.",
            target: |z| {
                let x = int(1) / z.sqrt();
                let value = special::digamma(&x, PRECISION);
                let rest = x.ln() - int(1) / (int(2) * &x) - &value;
                (rest / z, z / value)
            },
            from: int(0),
            to: big(0.111_12),
            degree: 10,
            doubled: 0,
            at_once: false,
        },
    ]
}

/// `(log 2π - 1) / 2`
fn half_log_two_pi() -> Big {
    ((int(2) * Big::pi(PRECISION)).ln() - int(1)) / int(2)
}

/// Where `digamma` is 0, by Newton's method.
fn digamma_root() -> Big {
    let slope = |x: &Big| {
        let step = int(1) >> 80;
        (special::digamma(&(x + &step), PRECISION) - special::digamma(&(x - &step), PRECISION))
            / step
            / int(2)
    };
    let start = big(1.461_632_144_968_362_2);
    (0..3).fold(start, |x, _| &x - special::digamma(&x, PRECISION) / slope(&x))
}

/// See `ERFC`.
fn scaled_erfc(t: &Big) -> (Big, Big) {
    let x = int(4) * (int(1) + t) / (int(1) - t);
    let value = (int(1) + int(2) * &x) * special::erfcx(&x, PRECISION);
    let weight = int(1) / &value;
    (value, weight)
}

fn atanh_ratio(z: &Big) -> Big {
    z.sqrt().atanh() / z.sqrt()
}

fn sin_ratio(z: &Big) -> Big {
    z.sqrt().sin() / z.sqrt()
}

fn atan_ratio(z: &Big) -> Big {
    z.sqrt().atan() / z.sqrt()
}

fn asin_ratio(z: &Big) -> Big {
    z.sqrt().asin() / z.sqrt()
}

/// A point of the grid: where, the function, the weight.
struct Point {
    t: Big,
    target: Big,
    weight: Big,
}

impl Fit {
    /// Points as dense at the ends as the extrema of Chebyshev's polynomials are; the ends themselves, where the
    /// formulas may be 0/0, are left out by a hair.
    fn grid(&self) -> Vec<Point> {
        let (middle, radius) = ((&self.from + &self.to) / int(2), (&self.to - &self.from) / int(2));
        (0..GRID)
            .map(|k| {
                let angle = std::f64::consts::PI * (k as f64 + 0.5) / GRID as f64;
                let t = &middle - &radius * big(angle.cos());
                let (target, weight) = (self.target)(&t);
                Point { t, target, weight }
            })
            .collect()
    }

    /// The coefficients, each as parts that are doubles, and the largest weighted error.
    fn solve(&self) -> (Vec<Vec<f64>>, f64) {
        let grid = self.grid();
        let mut rest: Vec<Big> = grid.iter().map(|point| point.target.clone()).collect();
        let mut coefficients = Vec::new();
        let mut polynomial = remez(&grid, &rest, 0, self.degree);
        for low in 0..=self.degree {
            if low > 0 && !self.at_once {
                polynomial = remez(&grid, &rest, low, self.degree);
            }
            let mut left = polynomial[if self.at_once { low } else { 0 }].clone();
            let mut parts = Vec::new();
            for _ in 0..if low < self.doubled { 2 } else { 1 } {
                parts.push(small(&left));
                left -= big(small(&left));
            }
            let rounded = parts.iter().fold(int(0), |sum, part| sum + big(*part));
            for (rest, point) in rest.iter_mut().zip(&grid) {
                *rest -= &rounded * power(&point.t, low);
            }
            coefficients.push(parts);
        }
        let errors = rest.iter().zip(&grid).map(|(rest, point)| small(&(rest * &point.weight)).abs());
        (coefficients, errors.fold(0.0, f64::max))
    }
}

fn power(t: &Big, n: usize) -> Big {
    (0..n).fold(int(1), |product, _| product * t)
}

/// The coefficients of `tˡᵒʷ … tᵈᵉᵍʳᵉᵉ` of the best approximation of `values` on the grid.
fn remez(grid: &[Point], values: &[Big], low: usize, degree: usize) -> Vec<Big> {
    let unknowns = degree - low + 1;
    let mut at: Vec<usize> = (0..=unknowns).map(|k| k * (grid.len() - 1) / unknowns).collect();
    let mut best = Vec::new();
    for _ in 0..ROUNDS {
        best = alternating(grid, values, low, unknowns, &at);
        let errors: Vec<f64> = grid
            .iter()
            .zip(values)
            .map(|(point, value)| {
                let polynomial = best.iter().take(unknowns).rev().fold(int(0), |sum, c| sum * &point.t + c);
                small(&((polynomial * power(&point.t, low) - value) * &point.weight * big(2f64.powi(80))))
            })
            .collect();
        let next = extrema(&errors, unknowns + 1);
        if next.len() != unknowns + 1 || next == at {
            break;
        }
        at = next;
    }
    best.truncate(unknowns);
    best
}

/// The polynomial whose weighted errors at the given points are `E, -E, E, …`, and `E`.
fn alternating(grid: &[Point], values: &[Big], low: usize, unknowns: usize, at: &[usize]) -> Vec<Big> {
    let mut rows: Vec<Vec<Big>> = Vec::new();
    for (k, place) in at.iter().enumerate() {
        let point = &grid[*place];
        let mut row: Vec<Big> = (0..unknowns).map(|j| power(&point.t, low + j) * &point.weight).collect();
        row.push(int(if k % 2 == 0 { 1 } else { -1 }));
        row.push(&values[*place] * &point.weight);
        rows.push(row);
    }
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|a, b| small(&rows[*a][column]).abs().total_cmp(&small(&rows[*b][column]).abs()))
            .expect("rows are left");
        rows.swap(column, pivot);
        for row in column + 1..n {
            let factor = &rows[row][column] / &rows[column][column];
            for k in column..=n {
                let change = &factor * &rows[column][k];
                rows[row][k] -= change;
            }
        }
    }
    let mut solution = vec![int(0); n];
    for row in (0..n).rev() {
        let sum = (row + 1..n).fold(rows[row][n].clone(), |sum, k| sum - &rows[row][k] * &solution[k]);
        solution[row] = sum / &rows[row][row];
    }
    solution
}

/// The places of the largest errors of alternating signs: the largest of each run of one sign, and of these, if there are
/// more than needed, without the smallest at the ends.
fn extrema(errors: &[f64], count: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for (k, error) in errors.iter().enumerate() {
        match found.last() {
            Some(last) if errors[*last].signum() == error.signum() => {
                if error.abs() > errors[*last].abs() {
                    found.pop();
                    found.push(k);
                }
            }
            _ => found.push(k),
        }
    }
    while found.len() > count {
        let (first, last) = (found[0], found[found.len() - 1]);
        found.remove(if errors[first].abs() < errors[last].abs() { 0 } else { found.len() - 1 });
    }
    found
}

fn main() {
    println!("//! Polynomials, lowest coefficient first, and constants in parts.");
    println!("//!");
    println!("//! Written by `cargo run --release -p wengert-vmath --example fit`, which explains how.");
    println!();
    println!("#![expect(");
    println!("    clippy::approx_constant,");
    println!("    reason = \"printed by a program, the shortest digits that give each number\"");
    println!(")]");
    for fit in fits().into_iter().chain(gamma_fits()) {
        let (coefficients, error) = fit.solve();
        let (heads, tails) = coefficients.split_at(fit.doubled);
        let numbers: Vec<f64> = tails.iter().flatten().copied().collect();
        println!();
        println!("/// {} Largest weighted error: 2^{:.1}.", fit.doc, error.log2());
        println!("#[rustfmt::skip]");
        println!("pub(crate) const {}: [f64; {}] = [", fit.name, numbers.len());
        for number in numbers {
            println!("    {number:?},");
        }
        println!("];");
        for (head, (name, which)) in heads.iter().zip([("HEAD", "lowest"), ("SECOND", "second")]) {
            table(&format!("{}_{name}", fit.name), &format!("The {which} coefficient of the above"), head);
        }
    }
    constants();
    bits_of_two_over_pi();
}

/// A constant as a sum of doubles.
fn parts(value: &Big, count: usize) -> Vec<f64> {
    let mut left = value.clone();
    (0..count)
        .map(|_| {
            let part = small(&left);
            left -= big(part);
            part
        })
        .collect()
}

fn constants() {
    let pi = Big::pi(PRECISION);
    let ln2 = int(2).ln();
    // So few bits that its products with exponents are exact.
    let head = (small(&ln2) * 2f64.powi(41)).round() * 2f64.powi(-41);
    let log10_2 = &ln2 / int(10).ln();
    let log10_head = (small(&log10_2) * 2f64.powi(41)).round() * 2f64.powi(-41);
    table(
        "LN_2",
        "log 2: the first part has 41 bits, its products with exponents are exact",
        &[head, small(&(&ln2 - big(head)))],
    );
    table(
        "LOG10_2",
        "log 2 / log 10: the first part has 40 bits",
        &[log10_head, small(&(&log10_2 - big(log10_head)))],
    );
    for (name, doc, value, count) in [
        ("INV_LN_2", "1 / log 2", int(1) / &ln2, 2),
        ("INV_LN_10", "1 / log 10", int(1) / int(10).ln(), 2),
        ("HALF_PI", "π/2", &pi / int(2), 4),
        ("PI", "π", pi.clone(), 2),
        ("QUARTER_PI", "π/4", &pi / int(4), 2),
        ("THREE_QUARTER_PI", "3π/4", &pi * int(3) / int(4), 2),
        ("TWO_OVER_PI", "2/π", int(2) / &pi, 1),
        ("HALF_LOG_TWO_PI", "(log 2π - 1) / 2", half_log_two_pi(), 2),
        ("DIGAMMA_ROOT", "The positive root of `digamma`", digamma_root(), 2),
    ] {
        table(name, doc, &parts(&value, count));
    }
}

/// The bits of 2/π in words, behind a word of zeros.
fn bits_of_two_over_pi() {
    const WORDS: usize = 19;
    let pi = Big::pi(64 * WORDS + 100);
    let two = Big::from(2).with_precision(64 * WORDS + 100).value();
    let mut rest = two / pi;
    println!();
    println!("/// 64 zeros, then the bits of 2/π behind the point.");
    println!("#[rustfmt::skip]");
    println!("pub(crate) const TWO_OVER_PI_BITS: [u64; {}] = [", WORDS + 1);
    println!("    0,");
    for _ in 0..WORDS {
        rest <<= 64;
        let word = rest.trunc();
        let digits = word.to_int().value();
        println!("    {:#018x},", u64::try_from(digits).expect("a word"));
        rest -= word;
    }
    println!("];");
}

fn table(name: &str, doc: &str, parts: &[f64]) {
    println!();
    println!("/// {doc}, in parts whose sum it is.");
    println!("#[rustfmt::skip]");
    println!("pub(crate) const {name}: [f64; {}] = {parts:?};", parts.len());
}
