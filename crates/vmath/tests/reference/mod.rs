//! What is exactly right.
#![expect(clippy::wildcard_enum_match_arm, reason = "the other functions need nothing special")]

mod special;

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use wengert_vmath::Function;

pub(crate) type Big = FBig<HalfEven, 2>;

/// Bits of the reference.
const PRECISION: usize = 160;

fn big(x: f64) -> Big {
    Big::try_from(x).expect("finite").with_precision(PRECISION).value()
}

fn int(n: i64) -> Big {
    Big::from(n).with_precision(PRECISION).value()
}

/// The value of a function, correctly rounded to [`PRECISION`] bits or nearly so, at finite numbers where it has one.
pub(crate) fn exact(function: Function, x: f64, y: f64) -> Big {
    let (a, b) = (big(x), big(y));
    match function {
        Function::Exp => a.exp(),
        Function::Exp2 => (a * int(2).with_precision(PRECISION + 20).value().ln()).exp(),
        Function::Expm1 => a.exp_m1(),
        Function::Log => a.ln(),
        Function::Log2 => a.log2(),
        Function::Log10 => a.log10(),
        Function::Log1p => a.ln_1p(),
        Function::Sqrt => a.sqrt(),
        Function::Cbrt => a.nth_root(3),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Sinh => a.sinh(),
        Function::Cosh => a.cosh(),
        Function::Tanh => a.tanh(),
        Function::Asinh => a.asinh(),
        Function::Acosh => a.acosh(),
        Function::Atanh => a.atanh(),
        Function::Sigmoid if x < 0.0 => int(1) / (int(1) + (-a).exp()),
        Function::Sigmoid => int(1) / (int(1) + (-a).exp()),
        Function::Softplus if x > 0.0 => &a + (-&a).exp().ln_1p(),
        Function::Softplus => a.exp().ln_1p(),
        Function::Erf if x < 0.0 => -exact(function, -x, y),
        Function::Erf if x < 3.0 => special::erf(&a, PRECISION),
        Function::Erf => int(1) - (-(&a * &a)).exp() * special::erfcx(&a, PRECISION),
        Function::Erfc if x < 0.5 => int(1) - exact(Function::Erf, x, y),
        Function::Erfc => (-(&a * &a)).exp() * special::erfcx(&a, PRECISION),
        Function::Lgamma => special::lgamma(&a, PRECISION),
        Function::Digamma => special::digamma(&a, PRECISION),
        Function::Pow if x < 0.0 => {
            let odd = y % 2.0 != 0.0;
            let magnitude = (-a).powf(&b);
            if odd { -magnitude } else { magnitude }
        }
        Function::Pow => a.powf(&b),
        Function::Atan2 => a.atan2(&b),
        Function::Hypot => a.hypot(&b),
    }
}

/// How far a double is from a value, in units in the last place of the value: 2⁻¹⁰⁷⁴ for subnormal ones. Infinity counts
/// as 2¹⁰²⁴.
pub(crate) fn error_in_ulp(found: f64, exact: &Big) -> f64 {
    if found.is_nan() {
        return f64::INFINITY;
    }
    let exponent = if exact.repr().significand().is_zero() {
        -1022
    } else {
        let bits = exact.repr().digits() as isize;
        (exact.repr().exponent() + bits - 1).clamp(-1022, 1023)
    };
    let found = if found.is_infinite() {
        let edge = int(1) << 1024;
        // A value beyond the largest double has infinity as its nearest.
        if found > 0.0 && *exact >= edge || found < 0.0 && *exact <= -&edge {
            return 0.0;
        }
        if found > 0.0 { edge } else { -edge }
    } else {
        big(found)
    };
    let distance = (found - exact) << (52 - exponent);
    distance.to_f64().value().abs()
}

/// Whether a function has a value there which is finite, before rounding.
pub(crate) fn defined(function: Function, x: f64, y: f64) -> bool {
    if !x.is_finite() || !y.is_finite() {
        return false;
    }
    match function {
        Function::Log | Function::Log2 | Function::Log10 | Function::Lgamma | Function::Digamma => x > 0.0,
        Function::Sqrt => x >= 0.0,
        Function::Log1p => x > -1.0,
        Function::Asin | Function::Acos => x.abs() <= 1.0,
        Function::Atanh => x.abs() < 1.0,
        Function::Acosh => x >= 1.0,
        Function::Pow => x != 0.0 && (x > 0.0 || y.round() == y),
        Function::Atan2 => x != 0.0 && y != 0.0,
        _ => true,
    }
}

/// Whether the result is so far beyond the doubles that the reference would take long: then it is known anyway.
pub(crate) fn saturates(function: Function, x: f64, y: f64) -> bool {
    match function {
        Function::Exp | Function::Expm1 | Function::Sinh | Function::Cosh => x.abs() > 800.0,
        Function::Sigmoid | Function::Softplus | Function::Tanh => x.abs() > 800.0,
        Function::Exp2 => x.abs() > 1100.0,
        Function::Erf | Function::Erfc => x.abs() > 30.0,
        Function::Pow => (x.abs().ln() * y).abs() > 800.0,
        _ => false,
    }
}
