//! Inputs.
#![expect(clippy::wildcard_enum_match_arm, reason = "the other functions need nothing special")]

use wengert_vmath::Function;

/// A simple generator of pseudo-random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.word() >> 11) as f64 / 9_007_199_254_740_992.0)
    }

    /// A magnitude between two powers of 2, each exponent as likely as the others.
    pub(crate) fn magnitude(&mut self, low: i32, high: i32) -> f64 {
        let exponent = low + (self.word() % u64::try_from(high - low).expect("ordered")) as i32;
        let mantissa = self.between(1.0, 2.0);
        if exponent < -1022 {
            mantissa * 2f64.powi(-1000) * 2f64.powi(exponent + 1000)
        } else {
            mantissa * 2f64.powi(exponent)
        }
    }

    pub(crate) fn signed(&mut self, x: f64) -> f64 {
        if self.word() & 1 == 0 { x } else { -x }
    }
}

/// A random input: mostly where the function does something, sometimes anywhere.
pub(crate) fn input(function: Function, random: &mut Random) -> (f64, f64) {
    let anywhere = random.word().is_multiple_of(4);
    let x = if anywhere {
        let x = random.magnitude(-1074, 1024);
        random.signed(x)
    } else {
        ordinary(function, random)
    };
    let y = match function {
        Function::Pow => return power_input(x, random),
        Function::Atan2 | Function::Hypot => {
            let factor = random.magnitude(-60, 60);
            random.signed((x.abs() * factor).clamp(5e-324, f64::MAX))
        }
        _ => 0.0,
    };
    (x, y)
}

fn ordinary(function: Function, random: &mut Random) -> f64 {
    let near_one = random.word().is_multiple_of(3);
    match function {
        Function::Exp | Function::Expm1 | Function::Sigmoid | Function::Softplus => {
            let bound = if near_one { 3.0 } else { 746.0 };
            random.between(-bound, bound)
        }
        Function::Sinh | Function::Cosh => {
            let bound = if near_one { 3.0 } else { 711.0 };
            random.between(-bound, bound)
        }
        Function::Exp2 => random.between(-1076.0, 1025.0),
        Function::Log | Function::Log2 | Function::Log10 | Function::Sqrt | Function::Cbrt => {
            if near_one {
                random.between(0.6, 1.6)
            } else {
                random.between(0.0, 100.0)
            }
        }
        Function::Log1p => random.between(-1.0, if near_one { 1.0 } else { 50.0 }),
        Function::Sin | Function::Cos | Function::Tan => near_multiple(random, near_one),
        Function::Asin | Function::Acos | Function::Atanh => random.between(-1.0, 1.0),
        Function::Atan | Function::Asinh | Function::Tanh => {
            let bound = if near_one { 1.0 } else { 20.0 };
            random.between(-bound, bound)
        }
        Function::Erf | Function::Erfc => random.between(-6.0, if near_one { 2.0 } else { 27.5 }),
        Function::Lgamma | Function::Digamma => gamma_input(random, near_one),
        Function::Acosh => 1.0 + random.magnitude(-52, 6),
        Function::Pow | Function::Atan2 | Function::Hypot => random.between(-4.0, 4.0),
    }
}

/// Angles, some of them next to multiples of π/2.
fn near_multiple(random: &mut Random, near: bool) -> f64 {
    if !near {
        return random.between(-100.0, 100.0);
    }
    let n = random.magnitude(0, 40).round();
    let x = n * std::f64::consts::FRAC_PI_2;
    f64::from_bits(x.to_bits() + random.word() % 3)
}

/// Numbers, some of them next to the zeros of `lgamma` and `digamma`.
fn gamma_input(random: &mut Random, near: bool) -> f64 {
    if !near {
        let bound = if random.word().is_multiple_of(2) { 3.5 } else { 100.0 };
        return random.between(0.0, bound);
    }
    let zero = match random.word() % 3 {
        0 => 1.0,
        1 => 2.0,
        _ => 1.461_632_144_968_362_2,
    };
    let distance = random.magnitude(-53, -1);
    zero + random.signed(distance)
}

fn power_input(x: f64, random: &mut Random) -> (f64, f64) {
    match random.word() % 4 {
        0 => (x, random.between(-8.0, 8.0).round()),
        1 => {
            // A result anywhere.
            let base = x.abs();
            (base, random.between(-745.0, 710.0) / base.ln())
        }
        2 => (1.0 + random.between(-1e-3, 1e-3), random.between(-1e6, 1e6)),
        _ => (x.abs(), random.between(-5.0, 5.0)),
    }
}
