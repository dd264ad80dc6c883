//! Nanoseconds per number of vector math, for each kind of kernel that this processor can run, beside the standard
//! library's functions and the interpreter's. The page `vector-math` of the book has the table.
//!
//! ```sh
//! cargo run --release -p wengert-native --example vector_math
//! ```
#![expect(clippy::print_stdout, reason = "it is a program")]
#![expect(clippy::wildcard_enum_match_arm, reason = "the other functions need nothing special")]

use std::hint::black_box;
use std::time::Instant;
use wengert_native::vector_levels;
use wengert_prim::RealOp;
use wengert_vmath::{Function, function_of};

/// Numbers at a time: they stay in the first cache.
const COUNT: usize = 1024;
const ROUNDS: usize = 15;

fn arguments(function: Function) -> (f64, f64) {
    match function {
        Function::Log | Function::Log2 | Function::Log10 | Function::Sqrt | Function::Cbrt => (0.01, 100.0),
        Function::Log1p => (-0.5, 10.0),
        Function::Asin | Function::Acos | Function::Atanh => (-0.99, 0.99),
        Function::Acosh => (1.0, 100.0),
        Function::Lgamma | Function::Digamma => (0.01, 20.0),
        Function::Pow => (0.1, 10.0),
        _ => (-10.0, 10.0),
    }
}

/// The least time per number of some rounds, in nanoseconds.
fn time(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut count = 0;
        while start.elapsed().as_micros() < 1500 {
            work();
            count += COUNT;
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / count as f64);
    }
    best
}

fn standard(function: Function) -> Option<fn(f64, f64) -> f64> {
    Some(match function {
        Function::Exp => |x, _| x.exp(),
        Function::Exp2 => |x, _| x.exp2(),
        Function::Expm1 => |x, _| x.exp_m1(),
        Function::Log => |x, _| x.ln(),
        Function::Log2 => |x, _| x.log2(),
        Function::Log10 => |x, _| x.log10(),
        Function::Log1p => |x, _| x.ln_1p(),
        Function::Sqrt => |x, _| x.sqrt(),
        Function::Cbrt => |x, _| x.cbrt(),
        Function::Sin => |x, _| x.sin(),
        Function::Cos => |x, _| x.cos(),
        Function::Tan => |x, _| x.tan(),
        Function::Asin => |x, _| x.asin(),
        Function::Acos => |x, _| x.acos(),
        Function::Atan => |x, _| x.atan(),
        Function::Sinh => |x, _| x.sinh(),
        Function::Cosh => |x, _| x.cosh(),
        Function::Tanh => |x, _| x.tanh(),
        Function::Pow => f64::powf,
        Function::Atan2 => f64::atan2,
        Function::Hypot => f64::hypot,
        _ => return None,
    })
}

fn main() {
    let levels = vector_levels();
    let names: Vec<&str> = levels.iter().map(|level| level.name).collect();
    println!("| function | standard library | interpreter | {} |", names.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(names.len()));
    for function in Function::ALL {
        let (low, high) = arguments(*function);
        let step = |k: usize| (k * 7919 % COUNT) as f64 / COUNT as f64;
        let x: Vec<f64> = (0..COUNT).map(|k| low + (high - low) * step(k)).collect();
        let y: Vec<f64> = (0..COUNT).map(|k| -3.0 + 7.0 * step(k + 300)).collect();
        let mut out = x.clone();
        let mut columns = Vec::new();
        let mut scalar = |f: &dyn Fn(f64, f64) -> f64| {
            time(|| {
                for ((to, x), y) in out.iter_mut().zip(black_box(&x)).zip(black_box(&y)) {
                    *to = f(*x, *y);
                }
                black_box(&out);
            })
        };
        columns.push(standard(*function).map_or("–".to_string(), |f| format!("{:.2}", scalar(&f))));
        let op = RealOp::SAMPLES.iter().find(|op| function_of(**op) == Some(*function));
        let interpreter = op.map(|op| match function.arity() {
            1 => scalar(&|x, _| op.eval1(x)),
            _ => scalar(&|x, y| op.eval2(x, y)),
        });
        columns.push(interpreter.map_or("–".to_string(), |ns| format!("{ns:.2}")));
        for level in &levels {
            let ns = time(|| {
                out.copy_from_slice(black_box(&x));
                match function.arity() {
                    1 => (level.unary)(*function, &mut out),
                    _ => (level.binary)(*function, &mut out, black_box(&y)),
                }
                black_box(&out);
            });
            columns.push(format!("{ns:.2}"));
        }
        println!("| {} | {} |", function.name(), columns.join(" | "));
    }
}
