//! Block execution beside scalar machine code and beside kernels called by hand: milliseconds of a run.
//!
//! ```sh
//! cargo run --release -p wengert-native --example blocks
//! ```
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::sync::Arc;
use std::time::Instant;
use wengert_ir::eval::{Items, Value};
use wengert_native::{Compiled, Math, vector_levels};
use wengert_vmath::Function;

const COUNT: usize = 1_000_000;
const ROUNDS: usize = 25;

const CHAIN: &str = "
    func f(xs: []Real) -> []Real {
        n = length(xs)
        ys = each i < n, x in xs {
            e = exp(x)
            a = e + 1.0
            l = log(a)
            t = tanh(l)
            s = sin(t)
            yield s
        }
        return ys
    }
    entry f = f";

const SUM: &str = "
    func f(xs: []Real) -> Real {
        n = length(xs)
        s = for i < n, s = 0.0, x in xs { e = exp(x) t = s + e yield t }
        l = log(s)
        return l
    }
    entry f = f";

const GRADIENT: &str = "
    func f(xs: []Real) -> []Real {
        n = length(xs)
        ys = each i < n, x in xs {
            s = sin(x)
            c = cos(x)
            e = exp(s)
            d = e * c
            q = x * x
            r = 1.0 + q
            w = d / r
            z = w - s
            yield z
        }
        return ys
    }
    entry f = f";

fn best(mut run: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run();
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    least
}

fn compiled(text: &str, math: Math, xs: &[f64]) -> f64 {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    wengert_ir::verify::verify(&program).expect("it is well formed");
    let mut compiled = Compiled::with_math(program, math, 1 << 33, Arc::default()).expect("it compiles");
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let arg = Value::array(vec![xs.len()], Items::Reals(xs.to_vec()));
    let mut loaded = compiled.load(entry, &[arg]).expect("there is memory");
    let time = best(|| {
        compiled.call_loaded(&mut loaded).expect("it runs");
        compiled.forget(&mut loaded);
    });
    compiled.unload(loaded);
    time
}

/// The chain by hand: kernels on strips that stay in the cache, the addition a vector loop.
fn chain_by_hand(xs: &[f64]) -> f64 {
    let Some(level) = vector_levels().pop() else { return f64::NAN };
    let unary = level.unary;
    let mut ys = vec![0.0; xs.len()];
    best(|| {
        for (x, y) in xs.chunks(512).zip(ys.chunks_mut(512)) {
            y.copy_from_slice(x);
            unary(Function::Exp, y);
            y.iter_mut().for_each(|y| *y += 1.0);
            for function in [Function::Log, Function::Tanh, Function::Sin] {
                unary(function, y);
            }
        }
        std::hint::black_box(&ys);
    })
}

fn main() {
    let xs: Vec<f64> = (0..COUNT).map(|k| ((k * 7919) % COUNT) as f64 / COUNT as f64 * 8.0 - 4.0).collect();
    println!("chain of exp, log, tanh and sin, by hand: {:.2} ms", chain_by_hand(&xs));
    for (name, text) in [("chain", CHAIN), ("sum of exp", SUM), ("sin, cos, exp and arithmetic", GRADIENT)] {
        let (fast, strict) = (compiled(text, Math::Fast, &xs), compiled(text, Math::Strict, &xs));
        println!("{name}: blocks {fast:.2} ms, scalar {strict:.2} ms");
    }
}
