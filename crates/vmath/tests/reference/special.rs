//! The error function to any precision.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

type Big = FBig<HalfEven, 2>;

fn int(n: i64, bits: usize) -> Big {
    Big::from(n).with_precision(bits).value()
}

fn widened(x: &Big, bits: usize) -> Big {
    x.clone().with_precision(bits).value()
}

/// The error function for `x ≥ 0` by its power series, whose terms are as large as `exp x²`.
pub(crate) fn erf(x: &Big, bits: usize) -> Big {
    let size = x.to_f64().value();
    let work = bits + 40 + (size * size * 3.0) as usize;
    let x = widened(x, work);
    let square = &x * &x;
    let (mut power, mut sum) = (x.clone(), x.clone());
    for n in 1_i64.. {
        power = -power * &square / int(n, work);
        let term = &power / int(2 * n + 1, work);
        sum += &term;
        // Some terms after the largest, and below all that counts.
        let negligible = sum.clone() >> work as isize;
        if n as f64 > size * size && term < negligible && -term < negligible {
            break;
        }
    }
    let two = int(2, work);
    (sum * two / Big::pi(work).sqrt()).with_precision(bits).value()
}

/// `exp x² · erfc x` for `x > 0`: near 0 from the series, beyond by the continued fraction.
pub(crate) fn erfcx(x: &Big, bits: usize) -> Big {
    let size = x.to_f64().value();
    if size < 3.0 {
        let work = bits + 40;
        let x = widened(x, work);
        let complement = int(1, work) - erf(&x, work);
        return (complement * (&x * &x).exp()).with_precision(bits).value();
    }
    let work = bits + 20;
    let x = widened(x, work);
    let terms = ((work as f64 * 0.7 + 20.0) / (1.4 * size)).powi(2) as i64 + 20;
    // x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))
    let fraction = (1..=terms).rev().fold(x.clone(), |rest, n| &x + int(n, work) / (int(2, work) * rest));
    (int(1, work) / (fraction * Big::pi(work).sqrt())).with_precision(bits).value()
}
