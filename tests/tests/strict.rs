//! In strict mode derivatives in reverse mode are the interpreter's to the last bit: sums are added up in the order of the
//! source, whatever the optimizer would make one computation of.

use std::path::Path;
use wengert_driver::emit::Stage;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::property::complaints;
use wengert_tests::{project, text};

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

const NAMES: &str = "type Tree = Leaf Real | Node Tree Tree
type List = Nil | Cons Real List
type Maybe = None | Some Real
def total t = match t with | Leaf x -> x * x * sin x | Node l r -> total l + total r * 1.1
def squares t = match t with | Leaf x -> x * exp x | Node l r -> squares l * squares r
def horner l x = match l with | Nil -> 0.0 | Cons c r -> c * c + x * horner r x
def bumps l = match l with | Nil -> 0.2 | Cons x r -> x * sin x + bumps r * x
def mapped f l = match l with | Nil -> Nil | Cons x r -> Cons (f x) (mapped f r)
def look n l = match l with | Nil -> 0.3 | Cons x r -> if n == 0 then x else look (n - 1) r
def orelse d o = match o with | None -> d | Some x -> x
def half x y = if y > 0.5 then Some (x / y) else if y > 0.3 then Some x else None
def turns n x y = if n == 0 then x else turns (n - 1) y (x * y)
def power n x = if n == 1 then x else let h = power (n / 2) x in if n % 2 == 0 then h * h else h * h * x
def rule x = custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, 2.0 * x * t)) x
def stepped (p, v) = let a = -(p * 1.7) - p * p * 0.3 in (p + v * 0.1, v + a * 0.1)";

/// Numbers that go by several names: a branch or a loop hands them on, they stand in data or in several arrays, functions give them back.
const HANDED_ON: [&str; 31] = [
    "if x > y then x else y",
    "if x > y then x * y else if x * 2.0 > y then y else x",
    "max x (if x < 0.4 then 0.4 else if x > y then y else x)",
    "iterate 3 (\\p -> p * x + p * p * 0.1) x",
    "fold (\\a z -> a * z + sin a * a) x [x, y, x * y]",
    "fst (while_loop (\\(p, i) -> i < 3) (\\(p, i) -> (p * y + p * p, i + 1)) (x, 0))",
    "iterate 3 (\\p -> p - (p * p - x) / derivative (\\q -> q * q - x * q) p) y",
    "let (p, v) = iterate 4 stepped (x, y) in p * v + p",
    "turns 0 x y * turns 3 y x + turns 1 x y",
    "power 1 x * power 3 y",
    "let t = Node (Node (Leaf x) (Leaf y)) (Leaf (x * y)) in total t * squares t",
    "let t = Node (Leaf x) (Leaf y) in total t + x * squares t * total t",
    "orelse y (half x y) * orelse x (half y x)",
    "let f = if x > y then (\\z -> x * z * z) else (\\z -> y * sin (x * z)) in f y * f x",
    "let s = if x > y then { w = x, h = y } else { w = y, h = x * y } in s.w * s.w * s.h",
    "let a = [x, y, x * y] in sum (map (\\v -> v * v * x) a) * a[0] * a[1]",
    "let a = sort [y, x, x * y] in a[0] * a[1] * a[1] + sum (map (\\v -> v * sin v) a)",
    "let a = [x, y, x * y] in let b = reverse a in sum (map2 (\\p q -> p * q * q) a b) + dot a b * b[0]",
    "let a = [x, y, x * y, x + y] in let d = map2 (\\p q -> (q - p) * p) (slice a 0 3) (slice a 1 4) in dot d d * a[1]",
    "let a = [x, y] in let b = concat a (map (\\v -> v * v) a) in sum (map (\\v -> v * v * x) b) * a[0]",
    "let a = [x, y, x * y] in sum (map (\\v -> v * v) (gather a [2, 0, 0, 1])) * dot a a",
    "let a = [[x, y], [y * y, x * y]] in let v = flatten a in dot v v * a[0][1] + sum (map (\\z -> z * z * y) v)",
    "let a = [x, y] in dot a (iterate 3 (\\v -> map2 (\\p q -> p * 0.7 + q * q) v a) a)",
    "let a = [[x, 0.3], [y, 0.7]] in let b = iterate 3 (\\p -> map (map (\\v -> v * 0.5)) (matmul p a)) a in b[0][0] * b[1][0] * a[0][0]",
    "let a = [x, y, 0.8] in let s = scan (\\p q -> p * p * q + q) a[0] a in dot s a * s[1]",
    "let a = [x, y, 0.8] in let (s, m) = fold (\\(s, m) v -> (s + v * m, max m (v * v))) (a[0], a[0]) a in s * m",
    "rule x * rule y * x",
    "checkpoint (\\z -> iterate 2 (\\w -> sin (w * z) + w) z) x * x",
    "let (u, v) = vjp (\\z -> z * z * x) y in u * v x",
    "let l = Cons x (Cons y (Cons (x * y) Nil)) in horner l x * bumps l",
    "derivative (\\z -> z * z * x + sin (z * y)) x",
];

/// What uses such a number, beside those that it may be.
const USES: [&str; 4] = [
    "m * m * sin x + exp m * x * y",
    "m * x + y * m * m * x",
    "sin (m * y) * m * x * x + y",
    "x * y * m * m + x * x * m * y",
];

/// A number that is only handed on is the same number: all its uses add to one sum, in the order of the tape.
#[test]
fn what_is_only_handed_on_has_one_sum() {
    let mut session = Session::new();
    let report = session.check_text("names.wg", NAMES, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    let mut by = |engine, handed: &str| {
        let one = |used: &&str| format!("grad (\\(x, y) -> let m = {handed} in {used}) p");
        let twice = format!(
            "grad (\\(x, y) -> let m = {handed} in let n = (let (x, y) = (y, x) in {handed}) in m * n * x * y + m * sin n) p"
        );
        let all: Vec<String> = USES.iter().map(one).chain([twice]).collect();
        let text = format!(
            "map (\\i -> let p = (0.31 + 0.173 * real i, 1.27 - 0.211 * real i) in ({})) (iota 6)",
            all.join(", ")
        );
        given(&mut session, &scope, engine, &text)
    };
    for handed in HANDED_ON {
        let expected = by(Engine::Interp, handed);
        assert_eq!(by(Engine::Native, handed), expected, "{handed}");
        assert_eq!(by(Engine::Ir, handed), expected, "{handed}");
    }
}

/// Definitions, and programs with them: a tape has what a program did, through branches, data, arrays, closures, rules, checkpoints with
/// loops of any length, derivatives of derivatives and with respect to functions; in the order of the source, whatever loops are joined.
const RECORDED: [(&str, &[&str]); 11] = [
    (
        "",
        &[
            "map (snd (vjp (\\x -> iterate 3 (\\v -> v / v) x) 1.0)) [1.0, 1.0 / 0.0, 0.0 / 0.0]",
            "map (grad (\\x -> x * x - x * x)) [1.0, 1.0 / 0.0, 0.0 / 0.0]",
            "map (grad (\\x -> sin x * 3.0 - 3.0 * sin x)) [1.0, 1.0 / 0.0, 0.0 / 0.0]",
            "grad (\\(x, y) -> let a = (if x > 0.5 then [x, y] else [y, x]) in sum (map (\\t -> sin (t * x) + t / y) a) + a[0] * exp a[1]) (0.7, 1.3)",
            "grad (\\xs -> let m = fold (\\a x -> if x > a then x else a) 0.0 xs in sum (map (\\x -> exp (x - m)) xs) * m) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> let ys = reverse xs in dot xs ys / sqrt (dot ys ys) + sum (map sin ys) * xs[1]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\m -> let t = transpose m in sum (map (\\r -> exp (sum r)) t) * sum (map (\\r -> sin (sum r) / r[0]) m)) [[0.3, 1.7], [1.1, 0.9]]",
            "grad (\\(m, v) -> let w = matvec m v in dot w w + sum (map (\\r -> tanh (dot r w)) m)) ([[0.3, 1.7], [1.1, 0.9]], [0.2, 0.7])",
            "grad (\\(a, b) -> sum (map (\\r -> log (1.0 + dot r r)) (matmul a b)) / a[0][1]) ([[0.3, 1.7], [1.1, 0.9]], [[0.2, 0.7], [1.3, 0.31]])",
            "grad (\\x -> let s = while_loop (\\(a, b, i) -> i < 5) (\\(a, b, i) -> (b, a * 0.7 + sin (b * x), i + 1)) (x, x * x, 0) in (\\(a, b, i) -> a * b + a / b) s) 0.83",
            "grad (\\xs -> let ys = scan (\\a x -> a * 0.9 + x * x) 0.1 xs in sum ys * ys[2] + xs[0]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\x -> taylor 3 (\\t -> sin (t * x)) 0.3 |> sum) 0.4",
            "hessian (\\(v : [3]Real) -> exp (v[0] * v[1]) * v[2] + sin (v[0] * v[2]) / v[1]) [1.1, 0.7, 0.3]",
            "grad (\\x -> grad (\\y -> exp (x * y) * sin y / x) (x * 0.3) * x) 0.7",
            "grad (grad (grad (\\x -> exp (sin x) * x / (1.0 + x * x)))) 0.83",
            "jvp (grad (\\(x, y) -> sin (x * y) * x / y)) ((0.3, 0.7), (1.1, 0.2))",
            "grad (\\x -> let (y, t) = jvp (\\z -> z * sin (z * x)) (x, x * x) in y * t + t / x) 0.77",
            "grad (\\xs -> maximum (map (\\x -> x * x) xs) * minimum xs + sum (sort xs |> map (\\x -> x * xs[0]))) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> let f = filter (\\x -> x > 0.5) xs in sum (map (\\x -> x * x * xs[1]) f) / f[0]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\(x, n) -> x ^ 3 + x ^ 2 * sin x + x ** n) (1.3, 2.2)",
            "grad (\\xs -> reduce (\\a b -> a * b + sin a) 1.0 xs) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> (set xs 1 (xs[0] * xs[2])) |> map (\\x -> exp x * xs[1]) |> sum) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> sum (scatter_add xs [0, 1, 1, 2] (map (\\x -> x * x) xs) |> map sin) * xs[3]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\x -> let a = x * 1.7 in let b = a in let c = (a, b) in (\\(p, q) -> p * sin q + q / p + a * b) c) 0.9",
            "vjp (\\(x, ys) -> (map (\\y -> y * x + sin (y / x)) ys, sum ys * x)) (0.7, [0.3, 0.9]) |> (\\(v, b) -> b ([1.1, 0.3], 0.7))",
        ],
    ),
    (
        "type T = L Real | N T T\n\
        def leaf x = L x\n\
        def total t = match t with | L x -> sin x | N a b -> total a * total b + total a\n\
        def mapt f t = match t with | L x -> L (f x) | N a b -> N (mapt f a) (mapt f b)\n\
        def pick t = match t with | L x -> x | N a b -> if total a > total b then pick a else pick b",
        &[
            "grad (\\x -> total (N (L x) (N (L (x * x)) (L x)))) 0.7",
            "grad (\\t -> total t + pick t * total (mapt (\\x -> x * pick t) t)) (N (L 0.3) (N (L 0.7) (L 1.1)))",
            "grad (\\x -> let t = N (L x) (N (L x) (L (x * 2.0))) in total (mapt (\\y -> y * y + x) t) * pick t / x) 0.3",
            "grad (grad (\\x -> total (N (L x) (N (L (x * x)) (L x))))) 0.7",
        ],
    ),
    (
        "type L = Nil | Cons Real L\n\
        def len l = match l with | Nil -> 0.0 | Cons x r -> x * x + len r * x\n\
        def push l x = Cons x l\n\
        def last l = match l with | Nil -> 0.0 | Cons x r -> (match r with | Nil -> x | Cons y q -> last r)",
        &[
            "grad (\\x -> len (push (push (push Nil x) (x * x)) x)) 0.7",
            "grad (\\(a, b) -> let l = fold (\\l i -> push l (last l * a + b)) (Cons a Nil) [1, 2, 3] in len l * last l) (0.7, 0.3)",
            "hessian (\\(v : [2]Real) -> let l = fold (\\l i -> push l (last l * v[0] + v[1])) (Cons v[0] Nil) [1, 2, 3] in len l * last l) [0.7, 0.3]",
            "grad (\\x -> let r = { a = x, b = x * x, c = [x, sin x] } in let s = { r with a = r.b } in s.a * r.a + sum r.c * s.c[0] / r.b) 0.9",
        ],
    ),
    (
        "def norm2 v = custom_jvp (\\x -> sqrt (dot x x)) (\\(x, t) -> (sqrt (dot x x), dot x t / sqrt (dot x x))) v\n\
        def soft x = custom_vjp (\\z -> log (1.0 + exp z)) (\\z -> (log (1.0 + exp z), \\w -> w / (1.0 + exp (-z)))) x\n\
        def ck f x = checkpoint f x",
        &[
            "grad (\\xs -> norm2 xs * soft (xs[0] * xs[1]) + soft xs[0] / norm2 xs) [0.3, 0.7]",
            "grad (\\x -> soft (soft x * x) * x + soft x) 0.7",
            "hessian (\\(v : [2]Real) -> soft (v[0] * v[1]) * v[0] + sin (soft v[1])) [0.7, 0.3]",
            "grad (\\(x, y) -> checkpoint (\\(a, b) -> a * sin b + a / b * a) (x * y, x) * x + checkpoint (\\a -> a * a * y) x) (0.7, 0.3)",
            "grad (\\xs -> fold (\\s i -> checkpoint (\\t -> t * 0.9 + sin (t * xs[i])) s) xs[0] [0, 1, 2]) [0.3, 0.7, 1.1]",
            "grad (grad (\\x -> checkpoint (\\a -> exp a * a * x) (x * x))) 0.3",
            "grad (\\y -> norm_squared (grad (\\((a, b), t) -> custom_jvp (\\v -> product (build 4 (\\i -> a + b))) (jvp (\\v -> product (build 4 (\\i -> a + b)))) 0.5) y)) ((1.9375, 1.1875), \"t\")",
        ],
    ),
    (
        "",
        &[
            "grad (\\x -> sum (map (\\i -> jvp (\\z -> z * sin z * x) (x * real i, 1.0) |> snd) (iota 4))) 0.7",
            "grad (\\xs -> let (y, t) = jvp (\\v -> matvec [v, reverse v] v) (xs, map (\\x -> x * x) xs) in dot y t) [0.3, 0.9]",
            "grad (\\xs -> let (y, b) = vjp (\\v -> map (\\a -> a * sum v) v) xs in dot (b y) xs) [0.3, 0.9, 1.3]",
            "hessian (\\(v : [3]Real) -> dot v (matvec [v, reverse v, v] v)) [0.3, 0.9, 1.1]",
            "hessian (\\(v : [2]Real) -> sum (map (\\r -> exp (sum r)) (matmul [v, v] [v, reverse v]))) [0.3, 0.9]",
            "grad (\\x -> sum (grad (\\(v : [3]Real) -> dot v v * x + v[0]) [x, x * x, 1.0])) 0.3",
            "grad (\\x -> maximum (grad (\\v -> max v[0] v[1] * v[2] + abs (v[0] - v[1]) ) [x, x * x, sin x])) 0.3",
            "hessian (\\(v : [2]Real) -> max (v[0] * v[1]) (v[0] - v[1]) + abs v[0] * relu v[1] + min v[0] (v[1] * v[0])) [0.3, 0.9]",
            "hessian (\\(v : [2]Real) -> atan2 v[0] v[1] * hypot v[0] v[1] + v[0] ** v[1]) [0.3, 0.9]",
            "hessian (\\(v : [3]Real) -> sqrt (v[0] * v[0] + v[1] * v[1]) / v[2] + v[2] * log v[0]) [0.3, 0.9, 1.1]",
            "grad (\\x -> let fs = [\\y -> y * x, \\y -> y + x * x, \\y -> sin y] in fold (\\a f -> f a) x fs) 0.7",
            "grad (\\x -> let f = (if x > 0.5 then (\\y -> y * x) else (\\y -> y / x)) in f (f x) * f 1.0) 0.7",
            "grad (\\(x, y) -> let c = (\\a b -> a * x + b * y) in let d = c y in d x * d y) (0.7, 0.3)",
            "grad (\\xs -> sum (map (\\(a, b) -> a * b + sin a) (zip xs (map (\\x -> x * x) xs)))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (map (\\row -> maximum row * sum row) (build 3 (\\i -> build 2 (\\j -> xs[i] * xs[j] + xs[j]))))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> (\\(a, b) -> a / b) (fold (\\(a, b) x -> (a * x + b, b + sin (a * x))) (1.0, xs[0]) xs)) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (concat xs (reverse xs) |> map (\\x -> x * xs[0]))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (slice xs 1 3 |> map (\\x -> x * x / xs[1]))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (replicate 4 (xs[0] * xs[1]) |> map sin) * xs[0]) [0.3, 0.9, 1.1]",
            "grad (\\xs -> product xs * xs[0] + product (map sin xs)) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (map (\\i -> xs[i] * xs[2 - i]) [0, 1, 2, 0])) [0.3, 0.9, 1.1]",
            "jacrev (\\xs -> map (\\x -> x * sum xs / xs[0]) xs) [0.3, 0.9, 1.1]",
            "grad (\\x -> stop_gradient (x * x) * x + x * stop_gradient x) 0.7",
            "grad (\\x -> iterate 6 (\\y -> y - (y * y - x) / (2.0 * y)) x) 2.3",
            "grad (\\x -> let r = iterate 5 (\\(a, b) -> (b * x, a + b)) (x, x) in fst r * snd r) 0.3",
            "grad (\\x -> grad (\\y -> while_loop (\\(a, i) -> i < 3) (\\(a, i) -> (a * y + x, i + 1)) (y, 0) |> fst) x) 0.3",
            "grad (\\x -> polygamma 1 x * lgamma x + x ^ 2 * erf x) 1.3",
            "hessian (\\(v : [2]Real) -> gamma v[0] * digamma v[1] + tanh (v[0] * v[1]) + softplus v[0] * sigmoid v[1]) [1.3, 0.9]",
            "grad (\\(x, n) -> x ^ floor n + x ^ 1 + x ^ 0 * n) (1.3, 2.7)",
            "grad (\\x -> let n = floor (x * 3.0) in x ^ n * x ^ (n - 1) * x ^ (n - 2)) 0.9",
            "grad (grad (\\x -> let n = floor (x * 3.0) in x ^ n * x ^ (n - 1) * x ^ (n - 2))) 0.9",
            "vjp (\\xs -> (sort xs, maximum xs)) [0.3, 0.1, 0.7] |> (\\(v, b) -> b ([1.0, 2.0, 3.0], 0.5))",
            "grad (\\(m : [2][2]Real) -> sum (map sum (transpose m)) * m[0][1] + sum (flatten m |> map (\\x -> x * m[1][1]))) [[0.3, 0.9], [1.1, 0.2]]",
        ],
    ),
    (
        "type E = Lit Real | Var Int | Add E E | Mul E E | Sin E | Let E E\n\
        def look env i = env[i]\n\
        def ev env e = match e with | Lit x -> x | Var i -> look env i | Add a b -> ev env a + ev env b | Mul a b -> ev env a * ev env b | Sin a -> sin (ev env a) | Let a b -> let v = ev env a in ev (concat env [v]) b\n\
        def prog = Let (Mul (Var 0) (Var 1)) (Add (Sin (Var 2)) (Mul (Var 2) (Add (Var 0) (Lit 2.0))))",
        &[
            "grad (\\env -> ev env prog) [0.3, 0.7]",
            "hessian (\\(env : [2]Real) -> ev env prog) [0.3, 0.7]",
            "grad (\\(e, env) -> ev env e) (prog, [0.3, 0.7])",
            "grad (\\x -> grad (\\e -> ev [x, x * x] e * x) prog |> (\\g -> ev [x, 1.0] g)) 0.3",
        ],
    ),
    (
        "type L = Nil | Cons Real L\n\
        def fromA xs = fold (\\l x -> Cons x l) Nil xs\n\
        def mapl f l = match l with | Nil -> Nil | Cons x r -> Cons (f x) (mapl f r)\n\
        def suml l = match l with | Nil -> 0.0 | Cons x r -> x + suml r\n\
        def foldl f a l = match l with | Nil -> a | Cons x r -> foldl f (f a x) r\n\
        def app a b = match a with | Nil -> b | Cons x r -> Cons x (app r b)\n\
        def ins x l = match l with | Nil -> Cons x Nil | Cons y r -> if x < y then Cons x l else Cons y (ins x r)\n\
        def sortl l = foldl (\\a x -> ins x a) Nil l\n\
        def nth l i = match l with | Nil -> 0.0 | Cons x r -> if i == 0 then x else nth r (i - 1)",
        &[
            "grad (\\xs -> let l = fromA xs in suml (mapl (\\x -> x * x + suml l) (app l l)) * nth l 1) [0.3, 0.9, 0.5]",
            "grad (\\xs -> let l = sortl (fromA xs) in nth l 0 * nth l 1 / nth l 2 + suml (mapl sin l)) [0.3, 0.9, 0.5]",
            "grad (\\l -> suml (mapl (\\x -> x * nth l 1) (sortl l)) * suml l) (Cons 0.3 (Cons 0.1 (Cons 0.7 Nil)))",
            "hessian (\\(xs : [3]Real) -> let l = sortl (fromA xs) in nth l 0 * nth l 1 / nth l 2 + suml (mapl sin l)) [0.3, 0.9, 0.5]",
            "grad (\\xs -> foldl (\\a x -> if x > a then x * xs[0] else a) 0.0 (fromA xs) * xs[1]) [0.3, 0.9, 0.5]",
        ],
    ),
    (
        "def kstep ((x, p), z) = let pp = p + 0.1 in let k = pp / (pp + 0.5) in ((x + k * (z - x), (1.0 - k) * pp), (x - z) * (x - z) / pp)\n\
        def kalman (q, r, zs) = let s = fold (\\((x, p), acc) z -> let pp = p + q in let k = pp / (pp + r) in let e = z - x in ((x + k * e, (1.0 - k) * pp), acc + e * e / (pp + r) + log (pp + r))) ((zs[0], q * r), 0.0) zs in snd s\n\
        def newton f x = iterate 8 (\\y -> y - f y / grad f y) x\n\
        def ode f y0 n = iterate n (\\(y, t) -> let k1 = f (y, t) in let k2 = f (y + 0.05 * k1, t + 0.05) in let k3 = f (y + 0.05 * k2, t + 0.05) in let k4 = f (y + 0.1 * k3, t + 0.1) in (y + 0.1 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), t + 0.1)) (y0, 0.0) |> fst",
        &[
            "grad kalman (0.3, 0.7, [0.1, 0.9, 1.3, 0.4])",
            "grad (\\a -> newton (\\x -> x * x * x - a) a) 2.3",
            "grad (grad (\\a -> newton (\\x -> x * x * x - a) a)) 2.3",
            "grad (\\(k, y) -> ode (\\(y, t) -> k * y * (1.0 - y) + sin t * k) y 5) (0.9, 0.2)",
            "hessian (\\(v : [2]Real) -> ode (\\(y, t) -> v[0] * y * (1.0 - y)) v[1] 3) [0.9, 0.2]",
        ],
    ),
    (
        "",
        &[
            "grad (\\a -> snd (jvp (\\g -> g (g a) * a + g (a * a)) (\\x -> sin (a * x), \\x -> x * x / a))) 0.8",
            "grad (\\x -> snd (jvp (\\gs -> fold (\\a g -> g a * a + x) x gs) ([sin, \\y -> x * y], [cos, \\y -> x + y]))) 0.5",
            "grad (\\x -> apply_dual (pullback (\\f -> f (x * 2.0) * f 3.0 / (1 + f x)) to_dual (\\y -> sin (x * y))) cos) 0.7",
            "grad (\\x -> snd (linearize (\\g -> g (g x)) (\\y -> sin (x * y))) (\\y -> cos y * x)) 0.4",
            "grad (\\xs -> sum (map (\\x -> snd (jvp (\\g -> g (g x)) (\\z -> z * xs[0], cos))) xs)) [0.3, 0.7, 1.9]",
            "let f x = sin x * x / 3 + exp (x * x) in (grad f 1.1, jvp (\\g -> g (g 1.0)) (sin, cos), grad (\\x -> f (f x)) 0.3)",
        ],
    ),
    (
        "",
        &[
            "grad (\\(x, y) -> checkpoint (\\z -> iterate (floor (y * 4)) (\\w -> sin (w * z) + w * y / x) z) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> iterate (floor (y * 8000)) (\\w -> sin (w * z) * 0.5 + w * y / x * 0.1) z) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> fold (\\a i -> sin (a * z) * 0.5 + y * real i / 9000) z (iota (floor (y * 7000)))) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\(a, b) -> fold (\\s v -> sin (s * a) * 0.5 + b * v) a (map (\\i -> real i / 9000 * b) (iota 5000))) (x, y) * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> fst (while_loop (\\(w, i) -> i < floor (y * 6000)) (\\(w, i) -> (sin (w * z) * 0.5 + w * y / x * 0.1, i + 1)) (z, 0))) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> fst (while_loop (\\(w, i) -> i < floor (y * 6)) (\\(w, i) -> (sin (w * z) * 0.5 + w * y / x * 0.1, i + 1)) (z, 0))) x * x) (0.7, 1.3)",
            "grad (\\xs -> checkpoint (\\v -> iterate 5000 (\\w -> map2 (\\a b -> sin (a * b) * 0.5 + 0.1 * sum v / 3) w v) v) xs |> sum) [0.3, 0.9, 1.3]",
            "grad (\\xs -> sum (checkpoint (\\v -> iterate (length xs * 1700) (\\(a, b) -> (sin (a * b) * 0.5 + 0.1 * sum v, b * 0.99 + a * v[0] * 0.01)) (v[0], v[1]) |> (\\(a, b) -> [a, b])) xs)) [0.3, 0.9, 1.3]",
            "grad (grad (\\x -> checkpoint (\\z -> iterate (floor (x * 10)) (\\w -> sin (w * z) + w / x) z) x * x)) 0.7",
            "derivative (grad (\\x -> checkpoint (\\z -> iterate (floor (x * 10000)) (\\w -> sin (w * z) * 0.5 + w / x * 0.1) z) x * x)) 0.7",
            "grad (\\x -> checkpoint (\\z -> iterate (floor (x * 10)) (\\w -> derivative (\\u -> iterate (floor (x * 10)) (\\t -> sin (t * u) * x) u) w) z) x) 0.7",
            "grad (\\x -> checkpoint (\\z -> iterate 3 (\\w -> grad (\\u -> iterate (floor (x * 10)) (\\t -> sin (t * u) * x) u) w) z) x) 0.7",
            "grad (\\x -> checkpoint (\\z -> let g = (if x > 0.5 then (\\t -> sin (t * z)) else (\\t -> t * x)) in iterate (floor (x * 10)) g z) x) 0.7",
            "grad (\\x -> checkpoint (\\(a, b) -> iterate (floor (x * 10)) (\\t -> sin (t * a) * b + a) b) (x, x)) 0.7",
            "grad (\\x -> checkpoint (\\z -> iterate (floor (x * 100)) (\\w -> checkpoint (\\u -> iterate (floor (x * 50)) (\\t -> sin (t * u) * 0.9) u) w + z) z) x) 0.7",
            "grad (\\x -> checkpoint (\\z -> let s = scan (\\a i -> sin (a * z) + real i / 100) z (iota (floor (x * 50))) in fold (+) 0.0 s * s[3] + reduce (\\a b -> a * b / (a + b + z)) 1.0 s) x) 0.7",
            "grad (\\x -> checkpoint (\\(a, (b, c)) -> a * sin (b * c) / a + c * a * b) (x, (x * x, x))) 0.7",
            "grad (\\xs -> checkpoint (\\(v, w) -> dot v w * v[0] / w[1] + sin (v[1] * w[0])) (xs, reverse xs)) [0.3, 0.7]",
            "grad (grad (\\x -> checkpoint (\\(a, b) -> iterate (floor (x * 10)) (\\t -> sin (t * a) * b + a) b) (x, x))) 0.7",
            "grad (\\(x, b) -> sum (map (\\v -> sin (v * b)) (map (\\i -> sin (real i * b) * x) (iota 50)))) (0.7, 1.3)",
            "grad (\\(x, b) -> fold (\\s v -> sin (s * x) * 0.5 + b * v) x (map (\\i -> real i / 9000 * b) (iota 50))) (0.7, 1.3)",
            "grad (\\(x, b) -> fold (\\s v -> sin (s * x) * 0.5 + b * v) x (map (\\i -> sin (real i / 9000 * b)) (iota 50))) (0.7, 1.3)",
            "grad (\\(xs, b) -> fold (\\s v -> sin (s * b) * 0.5 + b * v) b (map (\\x -> x * b) xs)) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> fold (\\s v -> sin (s * b) * 0.5 + b * v) b (map (\\x -> sin (x * b)) (map (\\x -> x * b) xs))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(x, b) -> let a = (if x > 0.5 then sin (x * b) else x) in let d = sin (b * b * x) in let e = (if x > 0.5 then sin (a * b) / b else a) in d * e * b) (0.7, 1.3)",
            "grad (\\(x, b) -> let a = (if x > 0.5 then (sin (x * b), b * b) else (x, b)) in let d = sin (b * b * x) / b in match a with (u, v) -> if u > 0.1 then u * v * d * b else u) (0.7, 1.3)",
            "grad (\\(xs, b) -> let ys = map (\\x -> x * b) xs in let z = sin b * b in sum (map2 (\\x y -> sin (x * y * b) * z) xs ys) * b) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let ys = map (\\x -> x * b) xs in let n = length ys in let g i = ys[i] * b / sin b in sum (build n g) + sum (build n (\\i -> xs[i] * b * ys[n - 1 - i]))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let ys = scan (\\a x -> a * x * b) b xs in fold (\\a y -> a * b + y * sin (b * y)) b ys) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let m = map (\\x -> map (\\y -> x * y * b) xs) xs in sum (map (\\r -> sin (sum r * b)) m) + sum (map (\\r -> maximum r * b) (transpose m))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> sum (map (\\(p, q) -> p * q * b) (zip (map (\\x -> x * b) xs) (map (\\x -> sin (x + b)) xs)))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let h = (\\x -> x * b * x) in let k = (\\x -> sin (x * b)) in sum (map (h >> k >> h) xs) * h b) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let n = length xs in sum (map (\\i -> sum (map (\\j -> xs[i] * xs[j] * b / (b + xs[j])) (iota n))) (iota n))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> dot (map (\\x -> x * b) xs) (map (\\x -> sin x / b) xs) * dot xs (map (\\x -> b) xs)) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let ys = filter (\\x -> x > 0.5) (map (\\x -> x * b) xs) in sum (map (\\y -> y * b * sin (y * b)) ys)) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> sum (concat (map (\\x -> x * b) xs) (map (\\x -> sin (x * b)) (reverse (map (\\x -> x / b) xs))))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
        ],
    ),
    (
        "type Tree = Leaf Real | Node Tree Tree\n\
        type List = Nil | Cons Real List\n\
        def mapt f t = match t with | Leaf x -> Leaf (f x) | Node l r -> Node (mapt f l) (mapt f r)\n\
        def total f t = match t with | Leaf x -> f x | Node l r -> total f l + total f r\n\
        def mapl f l = match l with | Nil -> Nil | Cons x r -> Cons (f x) (mapl f r)\n\
        def suml f l = match l with | Nil -> 0.0 | Cons x r -> f x + suml f r\n\
        def t b = Node (Node (Leaf b) (Leaf (b * b))) (Node (Leaf 0.3) (Leaf 1.7))\n\
        def l b = Cons b (Cons (b * b) (Cons 0.3 (Cons 1.7 Nil)))\n\
        type Shape = Disk Real | Rect Real Real",
        &[
            "grad (\\(x, b) -> total (\\v -> sin (v * b)) (mapt (\\v -> v * b / x) (t x))) (0.7, 1.3)",
            "grad (\\(x, b) -> suml (\\v -> sin (v * b) / x) (mapl (\\v -> v * b / x) (l x))) (0.7, 1.3)",
            "grad (\\(x, b) -> suml (\\v -> sin (v * b) / x) (mapl (\\v -> v * b / x) (mapl (\\v -> sin (v * b) * x) (l x)))) (0.7, 1.3)",
            "grad (\\(x, b) -> let d = (if x > 0.5 then Disk (x * b * sin b) else Rect (x * b) b) in let k = sin (x * b) / b in let z = (match d with | Disk r -> r * b * k | Rect u v -> u * v * b) in z * b * x) (0.7, 1.3)",
            "grad (\\(x, b) -> let c = (if x > 0.5 then cos (x * b) / b else b) in let k = sin (x * b) / b * b in let d = (if x > 0.5 then c * x else x + x) in k * d * b) (0.7, 1.3)",
        ],
    ),
];

/// What uses reverse mode or series, differentiated with respect to functions that are applied inside of it: tapes have what the functions
/// that are given as tangents do, as the interpreter's have.
const BY_FUNCTIONS: [&str; 46] = [
    "jvp (\\f -> grad (\\x -> let a = f x in a * sin a / x + f (a * x) * a) 0.7) (sin, cos)",
    "jvp (\\f -> grad f 0.7) (\\x -> let a = x * x in a * sin a / x + a * exp x, cos)",
    "jvp (\\f -> grad (\\x -> f x * x + f (x * x)) 0.7) (\\x -> let a = x * x in a * sin a / x + a * exp x, \\x -> let a = x / 3.0 in a * sin a / x + a * exp (a * x))",
    "jvp (\\f -> grad (\\xs -> let ys = map f xs in dot ys xs * ys[0]) [0.3, 0.7]) (sin, cos)",
    "jvp (\\f -> grad (\\(x, y) -> let a = f (x * y) in f a * a / y + x * f x) (0.3, 0.7)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> let (y, b) = vjp (\\x -> f x * f (x * x) / x) 0.7 in b y) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> snd (linearize (\\x -> f x * f (x * x) / x) 0.7) 1.3) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> iterate 4 (\\x -> x - grad f x * 0.1) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> iterate 3 (\\y -> f (x * y) + y) x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (grad (\\x -> f x * x + f (x * x))) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> derivative f (x * x) * f x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> derivative (\\x -> grad f (x * x) * f x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> f (x, x * x) * x) 0.7) (\\(x, y) -> x * y * sin y + x / y, \\(x, y) -> x * exp y / 3.0 + y * x)",
    "jvp (\\f -> let (y, b) = vjp f (0.3, 0.7) in b y) (\\(x, y) -> (x * y * sin y + x / y, x * x / y + y), \\(x, y) -> (x * exp y / 3.0 + y * x, y * sin x / x))",
    "jvp (\\f -> jacrev f [0.3, 0.7]) (\\v -> map (\\x -> x * v[0] * sin (x * v[1])) v, \\v -> map (\\x -> x / v[0] * exp (x * v[1]) + x * x) v)",
    "jvp (\\f -> grad (\\x -> let rec g n x = if n == 0 then f x else f (g (n - 1) (x * 0.9)) * x in g 3 x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> checkpoint f x * x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\fs -> grad (\\x -> fold (\\a f -> f a * x + a) x fs) 0.7) ([sin, \\x -> x * x * sin x], [cos, \\x -> x * exp x / 3.0])",
    "grad (\\z -> snd (jvp (\\f -> grad (\\x -> f x * x + f (x * z)) z) (\\x -> x * x * sin (x * z), \\x -> x * exp (x * z) / z))) 0.7",
    "snd (jvp (\\f y -> grad (\\x -> f x * x + f (x * y)) y) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)) 0.7",
    "jvp (\\(f, z) -> grad (\\x -> f x * x + f (x * z)) z) ((\\x -> x * x * sin x, 0.7), (\\x -> x * exp x / 3.0, 1.3))",
    "hessian (\\(v : [2]Real) -> snd (jvp (\\f -> f v[0] * f (v[1] * v[0])) (\\x -> x * sin x * v[0], \\x -> exp x * x / v[1]))) [0.3, 0.7]",
    "jvp (\\f -> grad f 0.7) (\\x -> sin x, \\x -> let a = sin x in let b = a * x in b * a / x + b * exp a * a)",
    "jvp (\\f -> sum (taylor 3 f 0.7)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> sum (taylor 3 (\\x -> f x * f (x * x)) 0.7)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> derivative (\\x -> derivative (\\x -> grad (\\y -> f (x * y) * y) (x * x) * f x) x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> jvp (\\y -> f (x * y) * f y) (x, x * x) |> snd) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> hessian (\\(v : [2]Real) -> f v[0] * f (v[1] * v[0])) [0.3, 0.7]) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\xs -> sum (f xs) * xs[0]) [0.3, 0.7]) (\\v -> map (\\x -> x * v[0] * sin x) v, \\v -> map (\\x -> x / v[1]) v)",
    "snd (jvp (\\f -> jvp (\\g -> grad (\\x -> f x * g (x * x)) 0.7) (\\x -> x * x * sin x, f)) (sin, \\x -> x * exp x / 3.0))",
    "jvp (\\f -> grad (\\x -> f x 0.3 * f 0.3 x) 0.7) (\\a b -> a * b * sin (a * b), \\a b -> a / b * exp (a * b))",
    "jvp (\\r -> grad (\\x -> r.f x * r.g (x * r.a)) 0.7) ({ f = sin, g = exp, a = 0.3 }, { f = \\x -> x * sin x * x, g = cos, a = 1.1 })",
    "jvp (\\f -> grad (\\x -> checkpoint (\\z -> f z * f (z * x)) (x * x) * x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (custom_vjp (\\x -> f x * x) (\\x -> (f x * x, \\w -> w * (grad f x * x + f x)))) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> let (y, p) = vjp (\\xs -> map f xs) [0.3, 0.7] in p (map (\\t -> t * y[0]) y)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> sum (taylor 2 (\\z -> grad f (z * 0.7)) 0.3)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> while_loop (\\y -> y < 3.0) (\\y -> y + f y * x + 0.5) x) 0.7) (sin, cos)",
    "jvp (\\f -> taylor 4 (\\x -> f x * f (x * x)) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> taylor 7 (\\x -> f x * f (f x * x)) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\y -> sum (taylor 3 (\\x -> f (x * y) * f (x * x)) y)) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> taylor 2 (\\y -> jvp (\\x -> f (x * y) * f (x * x)) (y, y * y) |> snd) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "taylor 3 (\\x -> snd (jvp (\\g -> g (g x) * x) (\\y -> x * y * sin y, \\y -> y * y * x))) 0.7",
    "taylor 3 (\\x -> snd (jvp (\\g -> grad (\\z -> g (g x) * z) x) (\\y -> x * y * sin y, \\y -> y * y * x))) 0.7",
    "jvp (\\f -> map (\\n -> sum (taylor n (\\x -> f x * f (x * x)) 0.7)) [0, 1, 3]) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> taylor 3 (\\x -> snd (jvp (\\g -> g (g x) * f x) (\\y -> x * y * sin y, \\y -> y * y * x))) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "grad (\\y -> norm_squared (grad (\\((a, b), t) -> custom_jvp (\\v -> product (build 4 (\\i -> a + b))) (jvp (\\v -> product (build 4 (\\i -> a + b)))) 0.5) y)) ((1.9375, 1.1875), \"t\")",
];

/// Zeros are strong in derivatives, and never -0; sums begin with 0; no integer is -0.
const SIGNS: &[&str] = &[
    "map (\\x -> (derivative (\\x -> x * x) x, derivative (\\x -> x ** 2) x, derivative (\\x -> x ^ 2) x, derivative cos x)) [0.0, -0.0]",
    "map (\\x -> (derivative (\\x -> -(x * x)) x, derivative (derivative cos) x, derivative (\\x -> 0.5 * cos x - 1.0) x)) [0.0, -0.0]",
    "map (\\y -> (derivative (\\x -> x * y) 1.0, grad (\\x -> x * y) 1.0, derivative (\\x -> x / y) 1.0)) [-0.0, -1.0 / 0.0]",
    "map (derivative (\\x -> if x > 0.0 then x else cos x)) [0.0, -0.0]",
    "map (\\x -> (sum [x, x], sum (map (\\y -> y * x) [1.0, 2.0]), fold (+) x [x], reduce (+) 0.0 [x])) [-0.0]",
    "map (\\x -> (dot [x] [1.0], matvec [[x]] [1.0], matmul [[x]] [[1.0]])) [-0.0]",
    "map (\\x -> (inner x 1.0, inner [x] [1.0], inner (x, x) (1.0, 1.0), inner (x, [x]) (1.0, [1.0]), inner ([x], x) ([1.0], 1.0))) [-0.0]",
    "map (\\x -> jvp (\\x -> (sum [x, x], inner [x] [x])) (x, 1.0)) [-0.0]",
    "map (\\x -> taylor 3 (\\x -> -(cos x)) x) [0.0]",
    "map (\\x -> (real (floor x), real (ceil x), real (round x), real (truncate x), round_to 9 (1e-9 * x))) [-0.3, -0.0, -1.7, 2.5]",
];

/// What a program with its derivative gives by an engine, in strict mode.
fn given(session: &mut Session, scope: &Scope, engine: Engine, program: &str) -> String {
    let options = Options { engine, strict: true, ..Options::default() };
    let evaluated = session.eval_in(scope, "strict.wg", program, &options);
    let evaluated = evaluated.map_err(|errors| complaints(&errors)).expect(program);
    assert_eq!(evaluated.engine, engine, "nothing of {program} is left to the interpreter");
    show(&evaluated.value)
}

#[test]
fn zeros_have_the_interpreters_signs() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    // C takes long to compile: it is given all at once.
    let all = format!("({})", SIGNS.join(", "));
    for program in SIGNS {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
    if Engine::C.require().is_ok() {
        let expected = given(&mut session, &scope, Engine::Interp, &all);
        assert_eq!(given(&mut session, &scope, Engine::C, &all), expected);
    }
}

#[test]
fn tapes_give_the_interpreters_bits() {
    for (definitions, programs) in RECORDED {
        let mut session = Session::new();
        let report = session.check_text("strict.wg", definitions, Path::new("."));
        assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
        let scope = Scope::of_file(&report.modules);
        for program in programs {
            let expected = given(&mut session, &scope, Engine::Interp, program);
            for engine in [Engine::Native, Engine::Ir] {
                assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
            }
        }
    }
}

#[test]
fn what_is_differentiated_by_functions_gives_the_interpreters_bits() {
    let mut session = Session::new();
    let scope = Scope::of_file(&session.check_text("strict.wg", "", Path::new(".")).modules);
    for program in BY_FUNCTIONS {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
}

/// The code of a series grows with the square of the order, also where each order has cases of its own.
/// Functionals on functions, and what is made of them by further derivatives.
const PULLED_BACK: [&str; 21] = [
    "apply_dual (pullback (\\f -> f (f 0.7)) to_dual sin) cos",
    "apply_dual (pullback (\\g -> sum (map g [0.1, 0.2, 0.3, 0.7, 0.9])) to_dual sin) exp",
    "apply_dual (pullback (\\g -> iterate 7 g 0.7) to_dual sin) cos",
    "apply_dual (pullback (\\g -> derivative (\\x -> g (g x) * x) 0.8) to_dual sin) cos",
    "apply_dual (pullback (\\g -> grad (\\x -> g (g x) * x) 0.8) to_dual sin) cos",
    "apply_dual (pullback (\\(g, a) -> g (g a * a)) to_dual (sin, 1.3)) (cos, 0.7)",
    "apply_dual (pullback (\\(a, g) -> g (g a * a) * a) to_dual (1.3, sin)) (0.7, cos)",
    "apply_dual (pullback (\\gs -> sum (map (\\g -> g 0.5 * g 0.3) gs)) to_dual [sin, cos]) [cos, exp]",
    "apply_dual (pullback (\\g -> g 1.3 2.1 * g 0.3 0.4) to_dual (\\x y -> x * sin y)) (\\x y -> x + cos y)",
    "grad (\\a -> apply_dual (pullback (\\f -> f (f (a * 0.7)) * a) to_dual (\\x -> sin (a * x))) (\\y -> a * cos y)) 0.83",
    "grad (\\a -> apply_dual (pullback (\\f -> f (f (a * 0.7)) * a) (\\y -> to_dual (y * a)) (\\x -> sin (a * x))) (\\y -> a * cos y)) 0.83",
    "grad (\\(a, b) -> apply_dual (pullback (\\(f, c) -> f (f (a * c)) * b) (\\y -> to_dual (y * a)) ((\\x -> sin (a * x)), b)) ((\\y -> a * cos y), a * b)) (0.83, 0.37)",
    "taylor 4 (\\a -> apply_dual (pullback (\\f -> f (f (a * 0.7)) * a) to_dual (\\x -> sin (a * x))) (\\y -> a * cos y)) 0.83",
    "hessian (\\v -> apply_dual (pullback (\\(f, c) -> f (f (v[0] * c)) * v[1]) (\\y -> to_dual (y * v[0])) ((\\x -> sin (v[1] * x)), v[1])) ((\\y -> v[0] * cos y), v[0] * v[1])) [0.83, 0.37]",
    "apply_dual (pullback (\\f -> checkpoint (\\x -> f (f x * x)) 0.3 * f 0.7) to_dual sin) cos",
    "apply_dual (pullback (\\f -> custom_jvp (\\x -> f (f x * x)) (\\(x, t) -> (f x, f x * t)) 0.3 * f 0.7) to_dual sin) cos",
    "grad (\\c -> apply_dual (pullback (\\f -> (\\f -> f 0.3 * f 0.7) (custom_jvp (\\x -> f (f x * x)) (\\(x, t) -> (f x, f x * t)))) to_dual (\\y -> sin (c * y))) cos) 0.7",
    "apply_dual (pullback (\\d -> apply_dual d cos * apply_dual d exp) to_dual (pullback (\\f -> f (f 0.7)) to_dual sin)) (pullback (\\f -> f (f 0.3)) to_dual sin)",
    "snd (jvp (\\g -> apply_dual (pullback (\\f -> f (f 0.7) * g 0.3) to_dual (\\x -> sin (g x))) (\\y -> g y)) (exp, cos))",
    "snd (jvp (\\g -> apply_dual (pullback (\\f -> f (f 0.7) * g 0.3) to_dual g) g) (exp, cos))",
    "grad (\\x -> sum (map (\\t -> apply_dual (pullback (\\f -> f (f (x * t)) * f t) to_dual (\\y -> sin (x * y))) (\\y -> y * x)) [0.3, 0.7, 1.1])) 0.9",
];

#[test]
fn functionals_and_mixed_derivatives_give_the_interpreters_bits() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in PULLED_BACK.into_iter().chain(MIXED) {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
}

/// Derivatives of derivatives of functions whose rules have captured what varies, with infinite slopes, and third derivatives, too.
const MIXED: [&str; 21] = [
    "let rec f n a x = if n == 0 then x else custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, a * a * t)) (f (n - 1) a x) in hessian (\\(v : [2]Real) -> f 3 v[0] v[1]) [0.9, 1.1]",
    "let rec f n a x = if n == 0 then x else custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> a * a * t)) (f (n - 1) a x) in hessian (\\(v : [2]Real) -> f 3 v[0] v[1]) [0.9, 1.1]",
    "hessian (\\(v : [3]Real) -> let (a, b) = (v[0], v[2]) in fold (\\s x -> custom_jvp (\\y -> a * y * y * sin b) (\\(y, t) -> (y * y, a * b * t * sin (a * y) + b * t)) (x * a * s) * a) 0.3 v) [0.9, 1.1, 0.3]",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t) * c * a + t * c)) x) (0.7, 1.3) in let (p, q) = b 1.0 in y * p + q * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t) * c * a + t * c)) x) ((0.7, 1.3), (0.3, 0.9)) in y * p + p * y * y) 0.9",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.9",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.41",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.41",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y) 0.41",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.41",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.57",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.57",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t) * c * a + t * c)) x) (0.7, 1.3) in let (p, q) = b 1.0 in y * p + q * y * y) 1.13",
    "hessian (\\(v : [2]Real) -> let a = v[0] in sum (custom_vjp (\\y -> map (\\q -> a * q * sin a) y) (\\y -> (y, \\t -> map2 (\\q u -> a * q * u * a + u * sin a) y t)) [v[1] * a, v[0], v[1]])) [0.9, 1.1]",
    "grad (\\b -> grad (\\a -> custom_jvp (\\y -> a * sqrt y) (\\(y, t) -> (y, a * t / (2.0 * sqrt y))) 0.0) b) 0.7",
    "derivative (\\b -> grad (\\a -> custom_jvp (\\y -> a * sqrt y) (\\(y, t) -> (y, a * t / (2.0 * sqrt y))) (b - 0.7)) b) 0.7",
    "grad (\\z -> sum (flatten (hessian (\\(v : [2]Real) -> let a = v[0] * z in custom_jvp (\\y -> a * y * sin y) (\\(y, t) -> (y, a * y * t * a + t * sin a)) (a * v[1])) [z, 1.1]))) 0.9",
    "derivative (\\z -> grad (\\x -> grad (\\a -> custom_jvp (\\y -> a * y * sin y * z) (\\(y, t) -> (y, a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) 0.9",
];

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

const SKIN: &str = "def skin weights points angles =
  let turns = map (\\a -> [[cos a, -(sin a), a * a], [sin a, cos a, 0.5]]) angles
  in map2 (\\ws p -> build 2 (\\k -> sum (map2 (\\w t -> w * dot t[k] p) ws turns))) weights points
def jacobian weights points angles =
  let (_, along) = linearize (skin weights points) angles
  in build (length angles) (\\i -> along (set (zero angles) i 1.0))
def weights m n = build m (\\i -> build n (\\j -> if (i + j) % 3 == 0 then 0.0 else 0.3 * real (i - j)))
def points m x = build m (\\i -> [0.1 * real i, x, 1.5])
def angles n = build n (\\i -> 0.1 * real i)";

/// In a Jacobian each direction moves few rows, and only those are gone through. Elsewhere, and where something fails, all is as it was.
#[test]
fn rows_of_tangents_that_are_zero_are_left_out_and_nothing_else() {
    let mut session = Session::new();
    let report = session.check_text("skin.wg", SKIN, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    let file = project::root().join("bench/gradbench/ht.wg");
    let code = session.emit("jacobian", Some(&file), Stage::Derivative, &Options::default());
    let code = code.map_err(|errors| complaints(&errors)).expect("code");
    assert!(code.contains("in places {"), "{code}");
    for program in [
        "jacobian (weights 5 12) (points 5 0.7) (angles 12)",
        "jacobian (weights 5 12) (points 5 (1.0 / 0.0)) (angles 12)",
        "jacobian (weights 4 9) (points 4 (0.0 / 0.0)) (map (\\a -> if a > 0.4 then 1.0 / 0.0 else a) (angles 9))",
        "jacobian (weights 0 0) (points 0 0.7) (angles 9)",
        "jacobian (weights 5 12) (points 5 0.7) (angles 11)",
        "jacobian (weights 5 12) (map (\\p -> slice p 0 2) (points 5 0.7)) (angles 12)",
        "let (_, along) = linearize (skin (weights 5 12) (points 5 0.7)) (angles 12) in along (map sin (angles 12))",
        "derivative (\\x -> sum (flatten (flatten (jacobian (weights 3 9) (points 3 x) (map (\\a -> a * x) (angles 9)))))) 0.7",
    ] {
        let mut by = |engine, strict| {
            let options = Options { engine, strict, ..Options::default() };
            match session.eval_in(&scope, "skin.wg", program, &options) {
                Ok(evaluated) => text::unsigned(&show(&evaluated.value)),
                Err(errors) => complaints(&errors),
            }
        };
        let expected = by(Engine::Interp, true);
        let mut engines = vec![Engine::Ir, Engine::Native];
        engines.extend(Engine::C.require().is_ok().then_some(Engine::C));
        for engine in engines {
            assert_eq!(by(engine, true), expected, "{program}");
            let fast = by(engine, false);
            assert!(text::close(&expected, &fast, 1e-9), "{program}: {fast} instead of {expected}");
        }
    }
}
