//! Taylor series and their derivatives, and how large their code is.

use super::given;
use std::path::Path;
use wengert_driver::emit::Stage;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session};
use wengert_tests::property::complaints;
use wengert_tests::text;

/// Series of every operation, through everything that a function is made of.
const SERIES: [&str; 33] = [
    "taylor 9 (\\x -> sin x * exp (x / 3.0) / (1.0 + x * x) - x) 0.4",
    "taylor 12 (\\x -> tanh (x * sqrt (1.0 + x ^ 2))) 0.4",
    "map (\\f -> taylor 6 f 0.4) [sin, cos, tan, exp, expm1, log, log1p, log2, log10, sqrt, cbrt, asin, acos, atan, sinh, cosh, tanh]",
    "map (\\f -> taylor 6 f 0.4) [asinh, atanh, abs, sign, relu, sigmoid, softplus, gamma, lgamma, digamma, erf, erfc]",
    "(taylor 5 acosh 1.7, taylor 5 (\\x -> atan2 x 0.7) 0.3, taylor 5 (\\x -> atan2 0.2 x) 0.3, taylor 5 (atan2 0.3) 0.0)",
    "(taylor 8 (\\x -> x ** 2.5) 0.3, taylor 5 (\\x -> 2.5 ** x) 0.3, taylor 5 (\\x -> x ** x) 0.3, taylor 5 (\\x -> x ** 2.0) 0.0)",
    "(taylor 5 (\\x -> hypot x 0.3) 0.3, taylor 4 (\\x -> x ^ 7) 1.3, taylor 4 (\\x -> x ^ 3) 0.0, taylor 4 (\\x -> x ^ (-2)) 1.3)",
    "(taylor 5 (\\x -> max x (x * x)) 0.3, taylor 5 (\\x -> max x (x * x)) 1.0, taylor 5 (\\x -> min (sin x) (x * x)) 1.3)",
    "(taylor 4 (\\x -> sum (build 6 (\\i -> x ^ i))) 0.7, taylor 4 (\\x -> sum (build 6 (\\i -> x ^ i))) 0.0)",
    "(taylor 4 (\\x -> sum (build 3 (\\i -> polygamma i x))) 1.7, taylor 3 (polygamma 2) 1.7)",
    "(taylor 0 sin 0.3, taylor 1 sin 0.3, taylor 4 (\\x -> 3.0) 0.3, taylor 3 (\\x -> x) 0.3)",
    "(taylor 2 sqrt 0.0, taylor 3 (\\x -> 1.0 / x) 0.0, taylor 3 (\\x -> x / x) 0.0, taylor 3 log 0.0, taylor 4 abs 0.0, taylor 4 relu 0.0)",
    "(taylor 3 (\\x -> (x - x) * (1.0 / 0.0)) 0.5, taylor 4 (\\x -> sqrt (x * 0.0)) 0.3, taylor 4 (\\x -> exp (800.0 * x)) 1.0)",
    "taylor 4 (\\x -> sum (matvec [[x, 1.0], [2.0, x * x]] [sin x, x])) 0.4",
    "taylor 4 (\\x -> sum (flatten (matmul [[x, 1.0], [2.0, x * x]] [[sin x, x], [1.0, x]]))) 0.4",
    "(taylor 3 (\\x -> dot [x, sin x] [x, cos x]) 0.4, taylor 3 (\\x -> product [x, sin x, x, cos x]) 0.4)",
    "(taylor 3 (\\x -> maximum [x, sin x, x * x * 3.0]) 0.4, taylor 3 (\\x -> (sort [x, sin x, x * x * 3.0])[1]) 0.4)",
    "taylor 4 (\\x -> iterate 5 (\\y -> sin (x * y) + y) x) 0.4",
    "(taylor 4 (\\x -> fold (\\a y -> a * y + sin x) 0.3 [1.0, x, 2.0]) 0.4, taylor 3 (\\x -> sum (scan (\\a y -> a * y + sin x) 0.3 [1.0, x])) 0.4)",
    "taylor 4 (\\x -> snd (while_loop (\\(i, y) -> y < 10.0) (\\(i, y) -> (i + 1, y * (1.0 + x))) (0, 1.0))) 0.4",
    "taylor 3 (\\x -> let rec f n y = if n == 0 then y * x else sin (f (n - 1) (y * x)) * y in f 4 x) 0.4",
    "taylor 3 (\\x -> let rec f n y = if n == 0 then y * x else f (n - 1) (sin (y * x)) * f (n - 1) y in f 3 x) 0.4",
    "taylor 3 (\\x -> grad (\\y -> sin (x * y)) x) 0.4",
    "(grad (\\x -> sum (taylor 3 (\\y -> sin (x * y)) x)) 0.4, jvp (taylor 3 sin) (0.3, 1.0))",
    "taylor 2 (\\x -> sum (taylor 3 (\\y -> sin (x * y)) x)) 0.4",
    "map (\\n -> sum (taylor n exp 0.2)) [0, 1, 2, 3, 5, 6, 9, 12]",
    "taylor 3 (\\x -> let f = if x > 0.0 then (\\y -> y * x) else (\\y -> sin y * x) in f (f x)) 0.4",
    "taylor 3 (\\x -> sum (map (\\f -> f x) [sin, cos, \\y -> y * x])) 0.3",
    "taylor 3 (\\x -> total (list 5 (x * x) x)) 0.3",
    "taylor 3 (\\x -> checkpoint (\\y -> sin (y * x)) (stop_gradient x * x)) 0.4",
    "taylor 3 (\\x -> sum (scatter_add [x, x] [1, 1] [x, sin x]) + sum (set [x, x] 0 (x * x)) + sum (gather [x, x * x] [1, 1, 0])) 0.4",
    "taylor 3 (\\x -> sum (transpose [[x, 1.0], [x * x, 2.0]])[0] + sum (filter (\\y -> y > 0.2) [x, 0.1, x * x])) 0.5",
    "taylor 3 (\\x -> norm_squared (build 0 (\\i -> x)) + match Some (x * x) with | Some y -> y * x | None -> x) 0.5",
];

/// Powers whose exponents running tells, functions with rules of their own, and derivatives of series in reverse mode, where the order of
/// everything that a series is made of counts.
const MORE_SERIES: [&str; 64] = [
    "map (\\n -> taylor 5 (\\x -> x ^ n) 0.73) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> taylor 5 (\\x -> (sin x * exp x) ^ n) 0.73) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> taylor 5 (\\x -> x ^ n) 0.0) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> taylor 3 (\\x -> (1.0 + x) ^ n) 0.0) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> taylor 1 (\\x -> sin x ^ n) 0.73) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> grad (\\y -> sum (taylor 3 (\\x -> sin (x * y) ^ n) 0.73)) 0.3) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> derivative (\\y -> sum (taylor 3 (\\x -> sin (x * y) ^ n) 0.73)) 0.3) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "taylor 4 (\\x -> sum (map (\\n -> (x * x + 0.3) ^ n) [0, 1, 2, 3, 4, 5, 7, -1])) 0.3",
    "taylor 4 (custom_jvp (\\x -> exp (x * x)) (\\(x, t) -> let e = exp (x * x) in (e, e * 2.0 * x * t))) 0.73",
    "taylor 4 (\\x -> custom_jvp (\\x -> exp (x * x)) (\\(x, t) -> let e = exp (x * x) in (e, e * 2.0 * x * t)) (sin x * x) / x) 0.73",
    "taylor 5 (\\x -> custom_vjp (\\z -> log (1.0 + exp z)) (\\z -> (log (1.0 + exp z), \\w -> w / (1.0 + exp (-z)))) (x * x * 1.3)) 0.73",
    "taylor 4 (\\x -> let (a, b) = custom_jvp (\\(p, q) -> (p * q, sin p)) (\\((p, q), (u, v)) -> ((p * q, sin p), (u * q + p * v, cos p * u))) (x * x, sin x) in a / b) 0.73",
    "taylor 4 (\\x -> let (a, b) = custom_vjp (\\(p, q) -> (p * q, sin p)) (\\(p, q) -> ((p * q, sin p), \\(u, v) -> (u * q + cos p * v, p * u))) (x * x, sin x) in a / b) 0.73",
    "taylor 3 (\\x -> sum (custom_vjp (\\v -> map (\\a -> a * a * v[0]) v) (\\v -> (map (\\a -> a * a * v[0]) v, \\w -> map2 (\\a b -> a * 2.0 * b * v[0]) v w)) [x, x * x, sin x])) 0.73",
    "map (\\n -> sum (taylor n (\\x -> custom_jvp (\\x -> exp (x * x)) (\\(x, t) -> let e = exp (x * x) in (e, e * 2.0 * x * t)) (sin x * x) / x) 0.73)) [0, 1, 2, 3]",
    "taylor 3 (\\x -> let f = custom_jvp (\\x -> exp (x * x)) (\\(x, t) -> let e = exp (x * x) in (e, e * 2.0 * x * t)) in f (f x * x)) 0.23",
    "taylor 3 (\\x -> custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, 2.0 * y * t * x)) (x * 2.0)) 0.7",
    "taylor 3 (\\x -> let f = (if x > 0.5 then custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, 2.0 * y * t)) else sin) in f (x * x)) 0.7",
    "derivative (\\z -> sum (taylor 3 (\\x -> custom_jvp (\\y -> y * y * z) (\\(y, t) -> (y * y * z, 2.0 * y * t * z)) (x * 2.0 * sin z)) z)) 0.7",
    "grad (\\z -> sum (taylor 3 (\\x -> custom_jvp (\\y -> y * y * z) (\\(y, t) -> (y * y * z, 2.0 * y * t * z)) (x * 2.0 * sin z)) z)) 0.7",
    "grad (\\z -> sum (taylor 3 (\\x -> custom_vjp (\\y -> y * y * z) (\\y -> (y * y * z, \\w -> 2.0 * y * w * z)) (x * 2.0 * sin z)) z)) 0.7",
    "jvp (\\x -> custom_vjp (\\v -> map (\\a -> a * a * v[0]) v) (\\v -> (map (\\a -> a * a * v[0]) v, \\w -> map2 (\\a b -> a * 2.0 * b * v[0] + sum w / v[1] + w[0] * a) v w)) [x, x * x, sin x]) (0.73, 1.0)",
    "jvp (\\(x, y) -> custom_vjp (\\(p, q) -> (p * q, sin p)) (\\(p, q) -> ((p * q, sin p), \\(u, v) -> (u * q + cos p * v + u / q, p * u + v * q + u * 1.7))) (x * y, sin x * y)) ((0.73, 0.3), (1.1, 0.7))",
    "derivative (\\x -> jvp (\\(x, y) -> custom_vjp (\\(p, q) -> (p * q, sin p)) (\\(p, q) -> ((p * q, sin p), \\(u, v) -> (u * q + cos p * v + u / q, p * u + v * q + u * 1.7))) (x * y, sin x * y)) ((x, 0.3), (1.1, x)) |> (\\((a, b), (c, d)) -> a * b * c / d)) 0.73",
    "linearize (\\(x, y) -> custom_vjp (\\(p, q) -> (p * q, sin p)) (\\(p, q) -> ((p * q, sin p), \\(u, v) -> (u * q + cos p * v + u / q, p * u + v * q + u * 1.7))) (x * y, sin x * y)) (0.73, 0.3) |> snd |> (\\f -> f (1.1, 0.7))",
    "taylor 4 (\\x -> let (y, b) = vjp (\\z -> let a = z * x in a * sin a / z + a * z) (x * x) in b (x * y)) 0.73",
    "taylor 4 (\\x -> let (y, b) = linearize (\\z -> let a = z * x in a * sin a / z + a * z) (x * x) in b (x * y)) 0.73",
    "taylor 3 (\\x -> checkpoint (\\z -> let a = z * x in a * sin a / z + a * z) (x * x)) 0.73",
    "taylor 3 (\\x -> grad (\\y -> checkpoint (\\z -> let a = z * x in a * sin a / z + a * z) (x * y)) x) 0.73",
    "map (\\n -> sum (taylor n (\\x -> let a = x * x in a * sin a / x + a * exp x) 0.4)) [0, 1, 2, 3, 5, 7, 10]",
    "map (\\x -> taylor 3 (\\x -> custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, 2.0 * y * t / 0.0)) (if x > 0.5 then x else 0.3)) x) [0.3, 0.7]",
    "map (\\x -> taylor 3 (\\x -> custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, 2.0 * y * t)) (x * x - 2.0 * x)) x) [1.0, 0.7, 0.0]",
    "jvp (custom_vjp (\\x -> sin x) (\\x -> (sin x, \\w -> let m = (if x > 0.5 then w else w * 2.0) in m * x + w / x + m * cos x))) (0.73, 1.3)",
    "map (\\x -> jvp (custom_vjp (\\x -> sin x) (\\x -> (sin x, \\w -> let m = (if x > 0.5 then w else w * 2.0) in m * x + w / x + m * cos x))) (x, 1.3)) [0.41, 0.73, 0.91, 1.37]",
    "map (\\x -> taylor 4 (custom_vjp (\\x -> sin x) (\\x -> (sin x, \\w -> let m = (if x > 0.5 then w else w * 2.0) in m * x + w / x + m * cos x))) x) [0.41, 0.73, 0.91, 1.37]",
    "map (\\x -> grad (\\x -> snd (jvp (custom_vjp (\\x -> sin x) (\\x -> (sin x, \\w -> let m = (if x > 0.5 then w else w * 2.0) in m * x + w / x + m * cos x))) (x, x * x))) x) [0.41, 0.73, 0.91, 1.37]",
    "map (\\x -> derivative (\\x -> snd (jvp (custom_vjp (\\x -> sin x) (\\x -> (sin x, \\w -> let m = (if x > 0.5 then w else w * 2.0) in m * x + w / x + m * cos x))) (x, x * x))) x) [0.41, 0.73, 0.91, 1.37]",
    "map (\\x -> jvp (custom_vjp (\\v -> (sum v, [v[0], v[1] * v[0]])) (\\v -> ((sum v, [v[0], v[1] * v[0]]), \\(a, b) -> let c = concat b [a] in map (\\w -> w * v[0] + a / v[1] + b[0] * v[0] + w) (slice c 0 2)))) ([x, x * x], [1.1, 0.3])) [0.41, 0.73, 0.91, 1.37]",
    "map (\\x -> linearize (custom_vjp (\\v -> (sum v, [v[0], v[1] * v[0]])) (\\v -> ((sum v, [v[0], v[1] * v[0]]), \\(a, b) -> let c = concat b [a] in map (\\w -> w * v[0] + a / v[1] + b[0] * v[0] + w) (slice c 0 2)))) [x, x * x] |> snd |> (\\f -> f [1.1, 0.3])) [0.41, 0.73, 0.91, 1.37]",
    "taylor 2 (\\x -> let r = custom_jvp (\\r -> { a = r.b * r.a, b = r.a }) (\\(r, t) -> ({ a = r.b * r.a, b = r.a }, { a = t.b * r.a + r.b * t.a, b = t.a })) { a = x, b = x * sin x } in r.a * r.b) 0.7",
    "taylor 8 (\\x -> custom_jvp sin (\\(y, t) -> (sin y, cos y * t)) (custom_jvp exp (\\(y, t) -> (exp y, exp y * t)) x * x)) 0.7",
    "taylor 3 (\\x -> custom_jvp (\\y -> custom_jvp sin (\\(y, t) -> (sin y, cos y * t)) (y * y)) (\\(y, t) -> (sin (y * y), custom_jvp sin (\\(y, t) -> (sin y, cos y * t)) (y * y + pi / 2.0) * 2.0 * y * t)) (x * x)) 0.7",
    "map (\\p -> grad (\\y -> sum (taylor 3 (\\x -> sin (x * y) ^ 3) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> sin (x * y) ^ 5) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> (x * y) ^ -2) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> sin (sin x * y)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> tanh (sin x * y)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> asin (sin x * y * 0.5)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> tan (sin x * y * 0.5)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> hypot (sin x) y) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> exp x / (x + y)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> (x * y) ** y) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> lgamma (x * y + x * x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> erf (x * y + x * x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> sigmoid (x * y + x * x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> gamma (x * y + x * x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> log (x * y + x * x) * sqrt (x + y)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> atan2 (x * y) (x * x + y)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> let a = x * y in max a (a * a) * abs (a - x) + cbrt (a * x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> acosh (x * y + 1.3) * asinh (y * x) + atanh (x * y * 0.3) + sinh (x * y) * cosh (y + x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> derivative (\\y -> sum (taylor 4 (\\x -> acosh (x * y + 1.3) * asinh (y * x) + atanh (x * y * 0.3) + sinh (x * y) * cosh (y + x)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> polygamma 1 (x * y) / digamma (x + y)) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> custom_jvp (\\x -> exp (x * y)) (\\(x, t) -> let e = exp (x * y) in (e, e * 2.0 * x * t)) (sin x * x * y) / x) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 4 (\\x -> custom_vjp (\\x -> exp (x * y)) (\\x -> let e = exp (x * y) in (e, \\t -> e * 2.0 * x * t + t * y)) (sin x * x * y) / x) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
];

const DEFINITIONS: &str = "type List = Nil | Cons Real List
type Maybe = None | Some Real
def list n x y = if n == 0 then Nil else Cons (x * y) (list (n - 1) (sin x) y)
def total xs = match xs with | Nil -> 0.0 | Cons x rest -> x * x + total rest";

#[test]
fn taylor_series_are_those_of_the_interpreter_to_the_last_bit() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", DEFINITIONS, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    for program in SERIES.iter().chain(&MORE_SERIES) {
        let mut by = |engine| text::unsigned(&given(&mut session, &scope, engine, program));
        let expected = by(Engine::Interp);
        assert_eq!(by(Engine::Ir), expected, "{program}");
        assert_eq!(by(Engine::Native), expected, "{program}");
    }
}

/// What a function with a rule has captured must not vary in a series: whatever the order, and whatever the engine.
#[test]
fn series_refuse_rules_of_functions_that_vary_themselves() {
    let mut session = Session::new();
    let scope = Scope::of_file(&session.check_text("strict.wg", "", Path::new(".")).modules);
    for order in ["1", "3", "(floor 1.7)", "(floor 2.3)"] {
        let program = format!(
            "taylor {order} (\\x -> custom_jvp (\\y -> y * x) (\\(y, t) -> (y * x, t * x)) (x * x)) 0.7"
        );
        for (engine, strict) in [(Engine::Interp, true), (Engine::Ir, true), (Engine::Native, false)] {
            let options = Options { engine, strict, ..Options::default() };
            let errors = session.eval_in(&scope, "strict.wg", &program, &options).map(|_| program.clone());
            let message = complaints(&errors.expect_err("a series that is refused"));
            assert!(message.contains("E0724"), "{program}: {message}");
        }
    }
}

/// A program with these orders in place of its own.
fn of_order(program: &str, order: impl Fn(&str) -> String) -> String {
    let mut parts = program.split("taylor ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let (own, rest) = part.split_once(' ').expect("an order comes first");
        let own = if own.parse::<u8>().is_ok() { order(own) } else { own.to_string() };
        format!("{text}taylor {own} {rest}")
    })
}

/// So are series whose coefficients are in arrays, since there are many or only running tells how many.
#[test]
fn long_taylor_series_are_those_of_the_interpreter_to_the_last_bit() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", DEFINITIONS, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    // In reverse mode what a step of a loop needs several times is one number here, and several there.
    for program in SERIES.iter().filter(|program| !program.contains("grad (\\x -> ")) {
        let known = of_order(program, |own| format!("{}", 25 + own.parse::<i64>().expect("a number")));
        let dynamic = format!("(\\(n : Int) -> {}) 13", of_order(program, |own| format!("(n + {own})")));
        for program in [known, dynamic] {
            let mut by = |engine| given(&mut session, &scope, engine, &program);
            let expected = by(Engine::Interp);
            assert_eq!(by(Engine::Native), expected, "{program}");
            if program.starts_with("(\\(n") {
                assert_eq!(by(Engine::Ir), expected, "{program}");
            }
        }
    }
}

/// Derivatives of Taylor series whose coefficients are in arrays.
const LONG_SERIES: [&str; 33] = [
    "grad (\\y -> sum (taylor 25 (\\x -> sin (x * y)) 0.73)) 0.3",
    "grad (\\y -> (taylor 25 (\\x -> atan2 (x * y) (x + y)) 0.73)[5]) 0.3",
    "grad (\\y -> (taylor 25 (\\x -> asin (x * y * 0.5)) 0.73)[5]) 0.3",
    "map (\\n -> grad (\\y -> sum (taylor n (\\x -> sin (x * y) * exp x) 0.73)) 0.3) [7, 13, 14]",
    "map (\\p -> grad (\\y -> sum (taylor 25 (\\x -> sin (x * y) ^ 3) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> sum (taylor 25 (\\x -> sin (x * y) ^ 5) 0.73)) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> (x * y) ^ -2) 0.73)[7]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> sin (sin x * y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> tanh (sin x * y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> asin (sin x * y * 0.5)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> tan (sin x * y * 0.5)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> hypot (sin x) y) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> exp x / (x + y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> (x * y) ** y) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> (x * y) ** (x + y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> lgamma (x * y + x * x)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> erf (x * y + x * x)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> sigmoid (x * y + x * x)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> gamma (x * y + x * x)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> log (x * y + x * x) * sqrt (x + y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> atan2 (x * y) (x * x + y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> let a = x * y in max a (a * a) * abs (a - x) + cbrt (a * x)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> acosh (x * y + 1.3) * asinh (y * x) + atanh (x * y * 0.3) + sinh (x * y) * cosh (y + x)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\p -> grad (\\y -> (taylor 25 (\\x -> polygamma 1 (x * y) / digamma (x + y)) 0.73)[9]) p) [0.3, 0.41, 0.77, 1.3]",
    "map (\\n -> grad (\\y -> (taylor 25 (\\x -> sin (x * y) ^ n) 0.73)[7]) 0.3) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> taylor 25 (\\x -> sin (x * 0.3) ^ n) 0.73 |> sum) [0, 1, 2, 3, 4, 5, 7, 33, -1, -2, -3]",
    "map (\\n -> taylor n (\\x -> sin (x * 0.3) ^ 5 + gamma x + hypot x (sin x) + polygamma 2 x + atan2 x (x * x)) 0.73 |> sum) [0, 1, 2, 13, 25, 30]",
    "grad (\\y -> (taylor 25 (\\x -> log1p (x * y) + log2 (x * y) + log10 (x + y) + expm1 (x * y) + acos (x * y * 0.1) + atan (x * y) + cos (x * y) + softplus (x * y) + erfc (x * y)) 0.73)[7]) 0.3",
    "derivative (grad (\\y -> (taylor 25 (\\x -> sin (x * y) * exp x) 0.73)[7])) 0.3",
    "grad (grad (\\y -> (taylor 25 (\\x -> sin (x * y) * exp x) 0.73)[7])) 0.3",
    "taylor 2 (\\y -> (taylor 25 (\\x -> sin (x * y) * exp x) 0.73)[7]) 0.3",
    "(taylor 26 (\\y -> (taylor 25 (\\x -> sin (x * y) * exp x) 0.73)[3]) 0.3)[4]",
    "map (\\n -> grad (\\y -> sum (taylor n (\\x -> x ^ 3 / (1.0 + x * y)) 0.73)) 0.3) [0, 1, 2, 13, 14, 20]",
];

#[test]
fn derivatives_of_long_taylor_series_give_the_interpreters_bits() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in LONG_SERIES {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
}

/// The code of a series grows with the square of the order, also where each order has cases of its own.
#[test]
fn code_of_taylor_series_stays_small() {
    let mut session = Session::new();
    let mut size = |order: usize| {
        let text = format!("\\x -> taylor {order} (\\x -> tanh (sin x * x ** 2.5) / (x + 1.0)) x");
        let code = session.emit(&text, None, Stage::Derivative, &Options::default());
        code.map_err(|errors| complaints(&errors)).expect("code").lines().count()
    };
    let (small, large) = (size(6), size(12));
    assert!(large < 6 * small, "{small} lines to order 6, {large} to order 12");
    let (long, longer) = (size(30), size(60));
    assert!(long == longer && long < 1000, "{long} lines to order 30, {longer} to order 60");
}
