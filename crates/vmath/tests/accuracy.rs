//! How far the functions are from the exact values, in units in the last place.
//!
//! `VMATH_SAMPLES=200000 cargo test --release -p wengert-vmath --test accuracy -- --nocapture` measures what the book says.

mod common;
mod reference;

use common::{Random, input};
use reference::{defined, error_in_ulp, exact, saturates};
use wengert_vmath::{Function, scalar};

/// What is promised.
const BOUND: f64 = 2.5;

fn samples() -> usize {
    std::env::var("VMATH_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

/// The largest error over random inputs, and where.
fn measure(function: Function, evaluate: fn(Function, f64, f64) -> f64) -> (f64, f64, f64) {
    let mut random = Random::new(function as u64 + 1);
    let mut worst = (0.0, 0.0, 0.0);
    for _ in 0..samples() {
        let (x, y) = input(function, &mut random);
        if !defined(function, x, y) || saturates(function, x, y) {
            continue;
        }
        let error = error_in_ulp(evaluate(function, x, y), &exact(function, x, y));
        if error > worst.0 {
            worst = (error, x, y);
        }
    }
    worst
}

#[test]
fn errors_are_below_the_bound() {
    let mut failed = Vec::new();
    // `VMATH_FUNCTION=erfc` measures that one only.
    let only = std::env::var("VMATH_FUNCTION").ok();
    for function in Function::ALL.iter().filter(|f| only.as_ref().is_none_or(|name| f.name() == name)) {
        let fused = measure(*function, scalar::<true>);
        let unfused = measure(*function, scalar::<false>);
        println!(
            "{:10} {:.3} ulp at {:e} {:e}; without fused multiply-add {:.3} at {:e} {:e}",
            function.name(),
            fused.0,
            fused.1,
            fused.2,
            unfused.0,
            unfused.1,
            unfused.2
        );
        if fused.0 > BOUND || unfused.0 > BOUND {
            failed.push(function.name());
        }
    }
    assert!(failed.is_empty(), "beyond {BOUND} ulp: {failed:?}");
}

/// Where nearly all of an argument is a multiple of π/2, all of what is left is in the later parts of the reduction.
#[test]
fn sine_and_tangent_are_exact_beside_multiples_of_half_pi() {
    let mut random = Random::new(99);
    for k in 0..3000 {
        let n = if k < 1000 { f64::from(k + 1) } else { random.magnitude(0, 29).floor() };
        let x = random.signed(n * std::f64::consts::FRAC_PI_2);
        for function in [Function::Sin, Function::Cos, Function::Tan] {
            let expected = exact(function, x, x);
            for ours in [scalar::<true>(function, x, x), scalar::<false>(function, x, x)] {
                let error = error_in_ulp(ours, &expected);
                assert!(error < 1.0, "{} {x:e}: {error} ulp", function.name());
            }
        }
    }
}

/// Beside the zeros most of the terms cancels, and at the borders the formulas change.
#[test]
fn lgamma_and_digamma_are_exact_beside_their_zeros_and_borders() {
    let root = 1.461_632_144_968_362_2_f64;
    // The largest number whose `lgamma` is one is the last.
    let places =
        [1e-310, 1e-18, 0.5, 1.0, root, 1.5, 2.0, 2.5, 3.0, 4503599627370496.0, 2.559983327851638e305];
    let mut random = Random::new(77);
    for place in places {
        for k in 0..200 {
            let scale = 1 << (k % 40);
            let away = if k < 20 { k } else { scale + random.word() % scale };
            for bits in [place.to_bits() - away, place.to_bits() + away] {
                let x = f64::from_bits(bits);
                for function in [Function::Lgamma, Function::Digamma] {
                    let expected = exact(function, x, 0.0);
                    for ours in [scalar::<true>(function, x, 0.0), scalar::<false>(function, x, 0.0)] {
                        let error = error_in_ulp(ours, &expected);
                        assert!(error < 1.5, "{} {x:e}: {error} ulp", function.name());
                    }
                }
            }
        }
    }
}
