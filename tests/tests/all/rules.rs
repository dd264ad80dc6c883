//! Rules of the user's own in compiled code: which are seen to be linear, and so are not left to the interpreter.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::property::complaints;
use wengert_tests::{everywhere, parallel, text};

const DEFINITIONS: &str = "type List = Nil | Cons Real List
def total xs = match xs with | Nil -> 0.0 | Cons x rest -> x + total rest
def filled c xs = match xs with | Nil -> Nil | Cons x rest -> Cons c (filled c rest)
def waves xs = match xs with | Nil -> Nil | Cons x rest -> Cons (sin x) (waves rest)
def slopes xs ts = match (xs, ts) with | (Cons x rest, Cons t more) -> Cons (cos x * t) (slopes rest more) | _ -> Nil
def exponential x = custom_jvp exp (\\(x, t) -> let y = exp x in (y, y * t)) x
def cube x = custom_vjp (\\x -> x ^ 3) (\\x -> (x ^ 3, \\c -> 3.0 * x * x * c)) x
def leave_one_out xs = custom_jvp product (\\(x, t) -> (product x, sum (build (length x) (\\i -> product (build (length x) (\\j -> if i == j then t[j] else x[j])))))) xs
def by rule x = custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, rule x t)) x";

/// Linear, through everything that a rule is made of.
const LINEAR: [&str; 27] = [
    // What is zero whatever varies may be added.
    "grad (\\x -> by (\\y t -> 2.0 * y * t + 0.0 * x) x) 0.5",
    "grad (grad (\\x -> by (\\y t -> 2.0 * y * t + 0.0 * x) x)) 0.5",
    "grad (grad (\\x -> by (\\y t -> 2.0 * y * t * x - 0.0 * (y * x)) x)) 0.5",
    "grad (grad (\\x -> by (\\y t -> dot [0.0, t] [x, y]) x)) 0.5",
    "grad (grad (\\x -> by (\\y t -> sum [t, 0.0 * x, 2.0 * t * x]) x)) 0.5",
    "grad (by (\\x t -> 2.0 * x * t)) 0.5",
    "grad (by (\\x t -> if x > 0.0 then t else 0.0)) 0.5",
    "grad (by (\\x t -> sum (map (\\c -> c * t) [1.0, x]))) 0.5",
    "grad (by (\\x t -> fold (\\a c -> a + c * t) 0.0 [1.0, x])) 0.5",
    "grad (by (\\x t -> let rec f n a = if n == 0 then a else f (n - 1) (a * x) in f 3 t)) 0.5",
    "grad (by (\\x t -> let rec f n a = if n == 0 then 0.0 else f (n - 1) a + a in f 3 t)) 0.5",
    "grad (by (\\x t -> let rec f n a = if n == 0 then a else f (n - 1) (a * x) + f (n - 1) a in f 3 t)) 0.5",
    "grad (by (\\x t -> let rec f n a b = if n == 0 then a else f (n - 1) (b * x) (a + b) in f 3 t 0.0)) 0.5",
    "grad (by (\\x t -> snd (while_loop (\\(i, a) -> i < 3) (\\(i, a) -> (i + 1, a * x + t)) (0, t)))) 0.5",
    "grad (by (\\x t -> total (Cons t (Cons t Nil)))) 0.5",
    "grad (by (\\x t -> stop_gradient t + t)) 0.5",
    "grad (by (\\x t -> (\\f -> f t) (if x > 0.0 then (\\u -> u * x) else (\\u -> 2.0 * u)))) 0.5",
    "grad (custom_jvp total (\\(xs, ts) -> (total xs, total ts))) (Cons 1.0 (Cons 2.0 Nil))",
    "derivative (\\x -> custom_vjp total (\\xs -> (total xs, \\c -> filled c xs)) (Cons x (Cons x Nil))) 2.0",
    "derivative (\\x -> custom_vjp sum (\\xs -> (sum xs, \\c -> build (length xs) (\\i -> c))) [x, x]) 2.0",
    "grad (\\xs -> total (custom_jvp waves (\\(xs, ts) -> (waves xs, slopes xs ts)) xs)) (Cons 1.0 (Cons 2.0 Nil))",
    "grad (by (\\x t -> snd (jvp exponential (x, t)))) 0.5",
    "grad (grad (\\x -> by (\\x t -> snd (jvp exponential (x, t))) x * x)) 0.5",
    "grad (by (\\x t -> snd (jvp (\\y -> cube (exponential y)) (x, t)))) 0.5",
    "grad (by (\\x t -> snd (linearize cube x) t)) 0.5",
    "derivative (\\x -> custom_vjp cube (\\x -> (cube x, snd (vjp cube x))) x) 2.0",
    "grad (by (\\x t -> fold (\\a c -> a + c * t) (if x > 0.0 then 0.0 else 0.0 * t) [1.0, x])) 0.5",
];

/// Linear, as only running tells, with what they give.
const WATCHED: &[(&str, &str)] = &[
    ("grad (by (\\x t -> if x > 0.0 then t else 1.0)) 0.5", "1.0"),
    ("grad leave_one_out [1.0, 2.0, 3.0]", "[6.0, 3.0, 2.0]"),
    ("hessian leave_one_out [1.0, 2.0, 3.0]", "[[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]]"),
    ("grad (by (\\x t -> grad (\\y -> y * y * t) x)) 0.5", "1.0"),
    ("grad (by (\\x t -> product [t, 2.0, x] + 0.0 * x)) 0.5", "1.0"),
    ("grad (by (\\x t -> (build 3 (\\i -> if i == 1 then 2.0 * t else 1.0))[1])) 0.5", "2.0"),
    (
        "grad (by (\\x t -> let (a, b) = if x > 0.0 then (x, t) else (t, x) in if x > 0.0 then 2.0 * b else 2.0 * a)) 0.5",
        "2.0",
    ),
    ("grad (by (\\x t -> total (Cons t (Cons (if x > 0.0 then 2.0 * t else 1.0) Nil)))) 0.5", "3.0"),
    (
        "grad (by (\\x t -> fold (\\a f -> f a) t [\\u -> u * x, \\u -> (if x > 0.0 then 0.0 else 1.0) + u])) 0.5",
        "0.5",
    ),
    // An inner rule that has captured the tangent.
    (
        "grad (by (\\x t -> custom_jvp (\\y -> t * y) (\\(y, s) -> (t * y, t * s)) x + (if x > 0.0 then t else 1.0))) 0.5",
        "1.5",
    ),
    // Rules from cotangents to cotangents, forward.
    (
        "derivative (\\x -> custom_vjp sum (\\xs -> (sum xs, \\c -> build 2 (\\i -> product [c, 1.0]))) [x, x]) 2.0",
        "2.0",
    ),
    (
        "grad (derivative (\\x -> custom_vjp (\\y -> y * y) (\\y -> (y * y, \\c -> product [c, 2.0 * y])) x)) 0.5",
        "2.0",
    ),
    // Differentiated once more, by what is captured as well.
    (
        "hessian (\\(v : [2]Real) -> by (\\x t -> product (build 3 (\\j -> if j == 0 then t else if j == 1 then v[1] else x))) (v[0] * v[1])) [0.5, 2.0]",
        "[[8.0, 6.0], [6.0, 1.5]]",
    ),
    ("grad (\\x -> fold (\\a y -> by (\\z t -> product [t, 2.0 * z]) (a * y)) x [1.0, 2.0]) 1.0", "16.0"),
    ("grad (\\x -> checkpoint (\\x -> by (\\z t -> product [t, 2.0 * z]) (x * 2.0)) x) 0.25", "2.0"),
    (
        "grad (custom_jvp (\\(m, v) -> sum (matvec m v)) (\\((m, v), (dm, dv)) -> (sum (matvec m v), product [sum (matvec dm v) + sum (matvec m dv), 1.0]))) ([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.25])",
        "([[0.5, 0.25], [0.5, 0.25]], [4.0, 6.0])",
    ),
];

/// Not linear, or the interpreter alone tells.
const OTHER: &[&str] = &[
    "grad (by (\\x t -> sin t)) 0.5",
    "grad (by (\\x t -> t * t)) 0.5",
    "grad (by (\\x t -> t + x)) 0.5",
    "grad (\\x -> by (\\y t -> t + x) x) 0.5",
    "grad (by (\\x t -> x / t)) 0.5",
    "grad (by (\\x t -> if t > 0.0 then t else 2.0 * t)) 0.5",
    "grad (by (\\x t -> real (floor t) + t)) 0.5",
    "grad (by (\\x t -> maximum [t, 2.0 * t])) 0.5",
    "grad (by (\\x t -> sum (sort [t, 2.0 * t]))) 0.5",
    "grad (by (\\x t -> by (\\y s -> s) t)) 0.5",
    "grad (by (\\x t -> grad (\\y -> y * t * t) x)) 0.5",
    "grad (by (\\x t -> grad (\\y -> y * y * t + y) x)) 0.5",
    "grad (by (\\x t -> fold (\\a f -> f a) t [\\u -> u * x, \\u -> 2.0 + u])) 0.5",
    "derivative (\\x -> custom_vjp (\\y -> y * y) (\\y -> (y * y, \\c -> product [c, 2.0 * y] + 1.0)) x) 0.5",
    "grad (\\xs -> total (custom_jvp (\\xs -> Cons xs[0] Nil) (\\(x, t) -> (Cons x[0] Nil, Cons (product [2.0, x[0]]) Nil)) xs)) [0.1, 0.2]",
    "grad (\\x -> custom_jvp (\\(f, y) -> f y) (\\((f, y), (g, t)) -> (f y, g y + t * derivative f y)) ((\\z -> z * x), x)) 0.4",
    "grad (by (\\x t -> checkpoint (\\u -> u) t)) 0.5",
    "grad (by (\\x t -> if x < 0.0 then t else 1.0)) 0.5",
    "grad (by (\\x t -> let rec f a = if a > 1.0 then a else f (a + 1.0) in f t)) 0.5",
    "grad (by (\\x t -> while_loop (\\a -> a < 1.0) (\\a -> a + 1.0) t)) 0.5",
    "grad (by (\\x t -> let rec f n a b = if n == 0 then a else f (n - 1) (b * x) (a * b) in f 3 t 2.0)) 0.5",
    "grad (by (\\x t -> total (Cons t (Cons 1.0 Nil)))) 0.5",
    "grad (by (\\x t -> snd (while_loop (\\(i, a) -> i < 3) (\\(i, a) -> (i + 1, a * a)) (0, t)))) 0.5",
    "grad (by (\\x t -> stop_gradient t + 1.0)) 0.5",
    "grad (\\x -> (custom_jvp (\\x -> \\y -> x * y) (\\(x, t) -> (\\y -> x * y, \\y -> t * y)) x) 2.0) 0.5",
];

fn evaluated(
    session: &mut Session,
    scope: &Scope,
    program: &str,
    engine: Engine,
) -> (Result<String, String>, bool) {
    let options = Options { engine, strict: true, ..Options::default() };
    match session.eval_in(scope, "rules.wg", program, &options) {
        Ok(evaluated) => (Ok(text::unsigned(&show(&evaluated.value))), evaluated.engine == engine),
        Err(errors) => (Err(complaints(&errors)), false),
    }
}

#[test]
fn rules_through_lists_loops_and_recursion_are_seen_to_be_linear() {
    let mut session = Session::new();
    let report = session.check_text("rules.wg", DEFINITIONS, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in LINEAR {
        let expected = evaluated(&mut session, &scope, program, Engine::Interp).0;
        assert!(expected.is_ok(), "{program}: {expected:?}");
        for engine in [Engine::Ir, Engine::Native] {
            assert_eq!(
                evaluated(&mut session, &scope, program, engine),
                (expected.clone(), true),
                "{program}"
            );
        }
    }
}

#[test]
fn rules_that_only_running_shows_to_be_linear_are_compiled() {
    parallel::check_all("programs", WATCHED, |(program, expected)| {
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        let found = everywhere::compiled(&mut session, &scope, program, &[false, true])?;
        if found == *expected { Ok(()) } else { Err(format!("{program}\ngives {found}, not {expected}")) }
    });
}

#[test]
fn rules_that_are_not_linear_are_left_to_the_interpreter() {
    let mut session = Session::new();
    let report = session.check_text("rules.wg", DEFINITIONS, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in OTHER {
        let expected = evaluated(&mut session, &scope, program, Engine::Interp).0;
        for engine in [Engine::Ir, Engine::Native] {
            assert_eq!(
                evaluated(&mut session, &scope, program, engine),
                (expected.clone(), false),
                "{program}"
            );
        }
    }
}
