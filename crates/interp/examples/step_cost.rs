//! How long a simple step takes. Run with `cargo run --release -p wengert-interp --example step_cost`.

use std::time::Instant;
use wengert_core::parse::parse;
use wengert_interp::{Interp, Limits};

const PROGRAMS: &[(&str, &str)] = &[
    (
        "tail-recursive loop on Int",
        "def main.go : Int -> Int -> Int = \\(n%0 : Int) -> \\(acc%1 : Int) ->
           if #== @Int n%0 0 then acc%1 else main.go (#- @Int n%0 1) (#+ @Int acc%1 n%0)
         def main.main : Int = main.go 10000000 0",
    ),
    (
        "fib 30",
        "def main.fib : Int -> Int = \\(n%0 : Int) ->
           if #< @Int n%0 2 then n%0 else #+ @Int (main.fib (#- @Int n%0 1)) (main.fib (#- @Int n%0 2))
         def main.main : Int = main.fib 30",
    ),
    (
        "iterate with a closure on Real",
        "def main.main : Real = let k%2 : Real = 0.999999 in
           #iterate @Real 5000000 (\\(x%0 : Real) -> #+ @Real (#* @Real x%0 k%2) 1.0) 0.0",
    ),
];

fn main() {
    for (name, text) in PROGRAMS {
        let program = parse(text).expect("the programs above are right");
        let mut interp = Interp::new(&program, Limits::default());
        let start = Instant::now();
        let result = interp.eval_global("main.main".into(), &[], Vec::new());
        let nanoseconds = start.elapsed().as_nanos() as f64;
        let steps = interp.steps();
        let per_step = nanoseconds / steps as f64;
        #[expect(clippy::print_stdout, reason = "this is what the example is for")]
        {
            println!("{name}: {result:?}, {steps} steps, {per_step:.1} ns a step");
        }
    }
}
