//! Limits on every engine: memory that is not enough is said in the same words at the same place, and whatever takes too long is
//! stopped, compiling as well as running.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wengert_base::Diagnostic;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::parallel;
use wengert_tests::property::complaints;

/// The compiling engines that this machine has.
fn engines() -> Vec<Engine> {
    let c = Engine::C.require().is_ok().then_some(Engine::C);
    [Engine::Ir, Engine::Native].into_iter().chain(c).collect()
}

/// Checks definitions, and gives a function that evaluates expressions in their scope.
fn evaluator(definitions: &str) -> impl FnMut(&str, &Options) -> Result<String, Vec<Diagnostic>> {
    let mut session = Session::new();
    let report = session.check_text("limits.wg", definitions, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    move |text, options| {
        session.eval_in(&scope, "it.wg", text, options).map(|evaluated| show(&evaluated.value))
    }
}

const GREEDY: &str = "\
type L = Nil | Cons Real L
def deep x = 1.0 + deep (x + 1.0)
def odd x = 1.0 + even (x + 1.0)
def even x = 2.0 * odd (x + 1.0)
def tree x = tree (x + 1.0) * tree (x + 2.0)
def some xs = match xs with | Nil -> 0.0 | Cons x rest -> x + some rest
def endless n xs = if n == 0 then some xs else endless (n + 1) (Cons (real n) xs)
def double k xs = iterate k (\\ys -> concat ys ys) xs
def words k s = iterate k (\\s -> s ++ s) s
def longer n = fold (\\s i -> s ++ \"0123456789012345678901234567890123456789\") \"\" (iota n)
def squares n = let xs = build n (\\i -> real i) in xs[n - 1] * sum xs
def table n = let xs = build n (\\i -> build n (\\j -> real (i * j))) in xs[n - 1][0] + sum (flatten xs)
";

/// Expressions that need more memory than there is.
const TOO_MUCH: &[&str] = &[
    "deep 1.0",
    "odd 1.0",
    "length (double 40 [1.0])",
    "sum (double 40 [1.0])",
    "string_length (words 40 \"ab\")",
    "squares 100000000",
    "string_length (longer 2000000)",
    "(iota 100000000)[5]",
    "sum (sort (replicate 100000000 1.0))",
    "let f x = sum (double 40 [x]) in derivative f 1.0",
];

/// Others, of which the engines make other parts first: somewhere inside of the definitions there is not enough.
const ANYWHERE: &[&str] = &["tree 1.0", "endless 1 Nil", "table 100000"];

#[test]
fn memory_that_is_not_enough_is_said_at_the_same_place() {
    let expressions: Vec<&str> = TOO_MUCH.iter().chain(ANYWHERE).copied().collect();
    parallel::check_all("expressions", &expressions, |text| {
        let mut eval = evaluator(GREEDY);
        let mut said = |engine| {
            let options = Options {
                engine,
                max_memory: Some(64 << 20),
                timeout: Some(Duration::from_secs(10)),
                strict: true,
                ..Options::default()
            };
            let errors = eval(text, &options).err().unwrap_or_default();
            errors.first().map(|error| (error.code, error.message.clone(), error.primary.span))
        };
        let expected = said(Engine::Interp);
        if expected.as_ref().is_none_or(|(code, ..)| *code != "E0716") {
            return Err(format!("{text} gives {expected:?}"));
        }
        for engine in engines() {
            let mut found = said(engine);
            if let (true, Some((.., span)), Some((.., place))) =
                (ANYWHERE.contains(text), &mut found, &expected)
                && !span.is_nowhere()
            {
                *span = *place;
            }
            if found != expected {
                return Err(format!("{text} by {}: {found:?}\ninstead of {expected:?}", engine.name()));
            }
        }
        Ok(())
    });
}

/// Counts that no machine has memory for fail everywhere, also if nobody needs the array.
#[test]
fn absurd_counts_fail_whether_or_not_the_array_is_made() {
    let mut eval = evaluator("def many n = length (build n (\\i -> i))\ndef total n = sum (build n real)");
    for text in ["many 1000000000000000000", "total 1000000000000000000", "many (-1)", "total (-5)"] {
        let mut said = |engine| {
            let errors = eval(text, &Options { engine, ..Options::default() }).err().unwrap_or_default();
            errors.first().map(|error| (error.code, error.message.clone(), error.primary.span))
        };
        let expected = said(Engine::Interp);
        assert!(expected.as_ref().is_some_and(|(code, ..)| *code == "E0710"), "{text}: {expected:?}");
        for engine in engines() {
            assert_eq!(said(engine), expected, "{text} by {}", engine.name());
        }
    }
}

/// Programs that take too long: to differentiate, to optimize, to compile, or to run, though nothing in them is a loop or calls itself.
fn long_programs() -> Vec<(&'static str, String)> {
    let function = "def f x = sin (x * cos x) * exp (x / (1.0 + x * x))\n";
    let nested = (0..24).fold("f".to_string(), |inner, _| format!("(\\y -> grad {inner} y)"));
    let mut calls = "def g0 x = sin x * x\n".to_string();
    let mut closures = "def k0 f x = f (f x)\n".to_string();
    for i in 1..40 {
        let below = i - 1;
        calls.push_str(&format!("def g{i} x = g{below} (g{below} x) + g{below} (x * 0.5)\n"));
        if i < 9 {
            let rest = format!("k{below} (\\y -> f y * x) x");
            closures.push_str(&format!("def k{i} f x = k{below} (k{below} f) x + {rest}\n"));
        }
    }
    vec![
        ("derivatives of derivatives", format!("{function}def main (x : Real) = {nested} x\n")),
        ("calls", format!("{calls}def main x = derivative g39 x\n")),
        ("functions of functions", format!("{closures}def main x = derivative (k8 (\\y -> y * sin x)) x\n")),
        (
            "maps of a large array",
            "def main (x : Real) = sum (iterate 1000 (map (\\y -> exp (sin y))) (replicate 3000000 x))\n".to_owned(),
        ),
        (
            "a product of matrices",
            "def main (x : Real) = let a = replicate 5000 (replicate 5000 x) in sum (matmul a (matmul a a))[0]\n".to_owned(),
        ),
    ]
}

#[test]
fn what_takes_too_long_is_stopped_wherever_it_is() {
    let mut cases = Vec::new();
    for (what, program) in long_programs() {
        for engine in engines().into_iter().chain([Engine::Interp]) {
            let ways = [(true, false), (true, true), (false, false)];
            cases.extend(ways.map(|way| (what, program.clone(), engine, way)));
        }
    }
    parallel::check_all("programs", &cases, |(what, program, engine, (by_time, strict))| {
        let mut eval = evaluator(program);
        let interrupt = Arc::new(AtomicBool::new(false));
        let after = Duration::from_millis(300);
        let options = Options {
            engine: *engine,
            timeout: by_time.then_some(after),
            interrupt: interrupt.clone(),
            strict: *strict,
            ..Options::default()
        };
        if !by_time {
            std::thread::spawn(move || {
                std::thread::sleep(after);
                interrupt.store(true, Ordering::Relaxed);
            });
        }
        let begin = Instant::now();
        let code = eval("main 0.5", &options).err().and_then(|errors| errors.first().map(|error| error.code));
        let (took, expected) = (begin.elapsed(), if *by_time { "E0717" } else { "E0718" });
        if code != Some(expected) || took > Duration::from_secs(20) {
            return Err(format!("{what} by {}: {code:?} after {took:?}", engine.name()));
        }
        Ok(())
    });
}

/// What was stopped is not taken for an answer when somebody asks again.
#[test]
fn what_was_stopped_can_be_asked_again() {
    let mut eval = evaluator("def f (x : Real) = iterate 3 (\\y -> sin (x * y)) x");
    for engine in engines() {
        let interrupt = Arc::new(AtomicBool::new(true));
        let stopped = Options { engine, interrupt, ..Options::default() };
        // Machine code may be ready before anybody looks.
        let _ = eval("grad f 0.5", &stopped);
        let options = Options { engine, ..Options::default() };
        let found = eval("grad f 0.5", &options).map_err(|errors| complaints(&errors));
        assert!(found.as_ref().is_ok_and(|text| text.starts_with("0.")), "{}: {found:?}", engine.name());
    }
}
