//! The error function, the logarithm of the gamma function and its derivative to any precision.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use std::cell::OnceCell;

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

/// From here on the series of Stirling are good to more bits than are asked for.
const FAR: i64 = 100;
/// So many of their terms are known: at [`FAR`] the last is below 2⁻⁴⁴⁰.
const TERMS: usize = 60;
/// Bits of the Bernoulli numbers.
const BERNOULLI_BITS: usize = 500;
/// Values near a zero have fewer bits than those whose difference they are.
const CANCELLED: usize = 80;

/// `B₂ₖ/(2k)` for `k = 1, 2, …`, from the numbers of the tangent, all of which are sums of positive numbers:
/// `B₂ₖ = (-1)ᵏ⁻¹·2k·Tₖ/(4ᵏ·(4ᵏ - 1))`.
fn bernoulli() -> Vec<Big> {
    let number = |n: usize| int(n as i64, BERNOULLI_BITS);
    let mut factorial = number(1);
    let mut tangents = Vec::new();
    for k in 1..=TERMS {
        tangents.push(factorial.clone());
        factorial *= number(k);
    }
    for k in 1..TERMS {
        let mut last = number(0);
        for (steps, tangent) in tangents.iter_mut().skip(k).enumerate() {
            *tangent = number(steps) * last + number(steps + 2) * &*tangent;
            last = tangent.clone();
        }
    }
    let term = |(k, tangent): (usize, &Big)| {
        let power = int(1, BERNOULLI_BITS) << (2 * k as isize + 2);
        let value = tangent / (&power * (&power - int(1, BERNOULLI_BITS)));
        if k % 2 == 0 { value } else { -value }
    };
    tangents.iter().enumerate().map(term).collect()
}

thread_local! {
    static BERNOULLI: OnceCell<Vec<Big>> = const { OnceCell::new() };
}

/// `Σ B₂ₖ/(2k·f(k)) / x²ᵏ`, to some bits below 1.
fn stirling(x: &Big, bits: usize, f: impl Fn(i64) -> i64) -> Big {
    let square = x * x;
    let (mut power, mut sum) = (int(1, bits), int(0, bits));
    let least = int(1, bits) >> bits as isize;
    BERNOULLI.with(|known| {
        for (k, number) in (1_i64..).zip(known.get_or_init(bernoulli)) {
            power /= &square;
            let term = widened(number, bits) * &power / int(f(k), bits);
            sum += &term;
            if term < least && -term < least {
                break;
            }
        }
    });
    sum
}

/// The logarithm of the gamma function for `x > 0`.
pub(crate) fn lgamma(x: &Big, bits: usize) -> Big {
    let work = bits + CANCELLED;
    let (mut x, mut product) = (widened(x, work), int(1, work));
    while x < int(FAR, work) {
        product *= &x;
        x += int(1, work);
    }
    let two = int(2, work);
    let half_log = (Big::pi(work) * &two).ln() / &two;
    let main = (&x - int(1, work) / two) * x.ln() - &x + half_log;
    let series = stirling(&x, work, |k| 2 * k - 1) * &x;
    (main + series - product.ln()).with_precision(bits).value()
}

/// Its derivative.
pub(crate) fn digamma(x: &Big, bits: usize) -> Big {
    let work = bits + CANCELLED;
    let (mut x, mut poles) = (widened(x, work), int(0, work));
    while x < int(FAR, work) {
        poles += int(1, work) / &x;
        x += int(1, work);
    }
    let main = x.ln() - int(1, work) / (int(2, work) * &x);
    (main - stirling(&x, work, |_| 1) - poles).with_precision(bits).value()
}
