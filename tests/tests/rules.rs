//! Rules of the user's own in compiled code: which are seen to be linear, and so are not left to the interpreter.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::property::complaints;
use wengert_tests::text;

const DEFINITIONS: &str = "type List = Nil | Cons Real List
def total xs = match xs with | Nil -> 0.0 | Cons x rest -> x + total rest
def filled c xs = match xs with | Nil -> Nil | Cons x rest -> Cons c (filled c rest)
def waves xs = match xs with | Nil -> Nil | Cons x rest -> Cons (sin x) (waves rest)
def slopes xs ts = match (xs, ts) with | (Cons x rest, Cons t more) -> Cons (cos x * t) (slopes rest more) | _ -> Nil
def exponential x = custom_jvp exp (\\(x, t) -> let y = exp x in (y, y * t)) x
def cube x = custom_vjp (\\x -> x ^ 3) (\\x -> (x ^ 3, \\c -> 3.0 * x * x * c)) x
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

/// Not linear, or only running tells.
const OTHER: [&str; 10] = [
    "grad (by (\\x t -> checkpoint (\\u -> u) t)) 0.5",
    "grad (by (\\x t -> if x > 0.0 then t else 1.0)) 0.5",
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
fn rules_that_are_not_seen_to_be_linear_are_left_to_the_interpreter() {
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
