//! The calls that led to a failure of machine code are found by the interpreter, if that does not take long.

use std::time::Duration;
use wengert_base::Diagnostic;
use wengert_driver::{Engine, Options, Session};

/// A moment for machine code, minutes for the interpreter.
const LONG: &str = "let f = (\\(n : Int) -> 1 / n) in \
    let last = while_loop (\\(i, x) -> i < 300_000_000) (\\(i, x) -> (i + 1, x * 5 + i)) (0, 1) in 1 + f (fst last - 300_000_000)";

const SHORT: &str = "let f = (\\(n : Int) -> 1 / n) in 1 + f 0";

fn failure(program: &str, retrace: Option<Duration>) -> Diagnostic {
    let options = Options { engine: Engine::Native, retrace, ..Options::default() };
    let failed = Session::new().eval(program, None, &options);
    failed.err().and_then(|errors| errors.into_iter().next()).expect("a division by zero")
}

#[test]
fn the_interpreter_is_asked_for_the_calls() {
    let alone = failure(SHORT, None);
    let traced = failure(SHORT, Some(Duration::from_secs(60)));
    assert_eq!((alone.code, &alone.message), ("E0702", &traced.message));
    assert_eq!(alone.primary.span, traced.primary.span);
    assert!(traced.secondary.len() > alone.secondary.len(), "{traced:?}");
}

#[test]
fn what_takes_long_is_said_without_them() {
    let alone = failure(LONG, None);
    let traced = failure(LONG, Some(Duration::from_millis(20)));
    assert_eq!((alone.code, &alone.message), ("E0702", &traced.message));
    assert_eq!(alone.primary.span, traced.primary.span);
    assert_eq!(alone.secondary.len(), traced.secondary.len());
}
