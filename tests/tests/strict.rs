//! In strict mode derivatives in reverse mode are the interpreter's to the last bit: sums are added up in the order of the
//! source, whatever the optimizer would make one computation of.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};

/// Each gives another last digit if cotangents are added up in another order.
const PROGRAMS: [&str; 9] = [
    // What stands there twice is computed once.
    "grad (\\(b, c) -> let a = 0.3 in let x = a * b in (c * b) * (a * b) + exp (0.1 * (b * c)) + (c * b) * (b * c) + exp (0.1 * (c - c / 3.0)) + exp (0.1 * sin c)) (0.2, 0.5)",
    "grad (\\(a, b) -> let m = max a b in m + log (exp (a - m) + exp (b - m))) (0.3, 0.2)",
    "grad (\\(a, b, c) -> let soft = \\x y -> let m = max x y in m + log (exp (x - m) + exp (y - m)) in soft a b * soft a c * soft b c) (0.3, 0.2, 0.1)",
    "grad (\\a -> let m = abs a in m * a + log (exp (a - m) + exp (a + m)) * a * m) 0.3",
    // What does not change in a loop is computed before it.
    "grad (\\(a, b) -> sum (map (\\x -> x * sin (sin a) + sin (x * (exp a * (a * 0.7)))) [0.1, 0.2, 0.3]) * (sin 1.3 + sin b)) (0.3, 1.3)",
    "grad (\\(a, b) -> fold (\\y x -> y * x * ((1.3 * 1.3) * (b + b)) + sin (exp 1.3)) 0.9 [0.1, 0.7, 1.3] * a * b) (0.3, 0.2)",
    // Recursion becomes a loop.
    "grad (\\b -> let rec f n y = if n == 0 then y * 1.1 else sin (f (n - 1) (y * 0.3)) * y in f 3 b * b * sin b) 0.2",
    // Recursion that branches is unrolled.
    "let rec fib n x = if n <= 1 then x * 0.9 else fib (n - 1) (x * 1.01) * 0.7 + (x + 1.1) * (1.1 * x) * sin (fib (n - 2) x) * x in \
        grad (\\x -> fib 6 x * (sin x * (x * x)) * x * sin x) 0.3",
    // Loops over the same indices become one.
    "grad (\\(a, b) -> let p = build 3 (\\i -> sin (real i * a) * sin 0.49) in let q = build 3 (\\i -> exp (a * real i) * sin (b * a)) in \
        (p[1] * p[0] + p[2]) * (q[1] + q[2] * q[0]) * (sin 1.3 * (a * a))) (0.3, 0.2)",
];

#[test]
fn strict_reverse_mode_gives_the_interpreters_bits() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in PROGRAMS {
        let mut by = |engine| {
            let options = Options { engine, strict: true, ..Options::default() };
            let evaluated = session.eval_in(&scope, "strict.wg", program, &options);
            show(&evaluated.expect("a program without mistakes").value)
        };
        let expected = by(Engine::Interp);
        assert_eq!(by(Engine::Ir), expected, "{program}");
        assert_eq!(by(Engine::Native), expected, "{program}");
    }
}
