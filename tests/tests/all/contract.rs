//! The contract of the language, sentence by sentence, through the `wengert` program: what a user may rely on.
//!
//! Each table gives an expression and exactly what `wengert eval` prints; numbers that a formula gives here are compared
//! up to rounding. Expected values are computed by hand or by Rust's own functions, never taken from the program.

mod command;
mod derivatives;
mod language;

use std::path::PathBuf;
use wengert_tests::command::Ran;
use wengert_tests::{everywhere, parallel, project};

/// Every expression prints exactly this.
pub(crate) fn prints(cases: &[(&str, &str)]) {
    prints_with("", cases);
}

/// Every expression prints exactly this under these definitions.
pub(crate) fn prints_with(definitions: &str, cases: &[(&str, &str)]) {
    let file = definitions_file(definitions);
    parallel::check_all("expressions", cases, |(expression, expected)| {
        let printed = eval(expression, file.as_ref()).value().map_err(|e| format!("{expression}\n{e}"))?;
        if printed == *expected {
            Ok(())
        } else {
            Err(format!("{expression}\n  expected {expected}\n  printed  {printed}"))
        }
    });
}

/// Every expression prints this up to rounding of its numbers.
pub(crate) fn prints_about(cases: &[(&str, String)]) {
    parallel::check_all("expressions", cases, |(expression, expected)| {
        let printed = eval(expression, None).value().map_err(|e| format!("{expression}\n{e}"))?;
        if about(&printed, expected) {
            Ok(())
        } else {
            Err(format!("{expression}\n  expected {expected}\n  printed  {printed}"))
        }
    });
}

/// Every expression is refused with exit status 1 and a message that has these words, and does not crash.
pub(crate) fn refuses(cases: &[(&str, &str)]) {
    refuses_with("", cases);
}

pub(crate) fn refuses_with(definitions: &str, cases: &[(&str, &str)]) {
    let file = definitions_file(definitions);
    parallel::check_all("wrong expressions", cases, |(expression, words)| {
        let ran = eval(expression, file.as_ref());
        let wrong = |why: &str| Err(format!("{expression}: {why}\n{}", ran.transcript()));
        if ran.status != 1 || !ran.stdout.is_empty() {
            return wrong("it is not refused with exit status 1 and only on standard error");
        }
        if !ran.stderr.contains(words) {
            return wrong(&format!("the message does not say `{words}`"));
        }
        if !ran.stderr.contains('^') || !ran.stderr.contains("error[E") {
            return wrong("the message does not underline the place or has no code");
        }
        Ok(())
    });
}

pub(crate) fn definitions_file(definitions: &str) -> Option<PathBuf> {
    if definitions.is_empty() {
        return None;
    }
    let digest = definitions.bytes().fold(5381_u64, |sum, byte| sum.wrapping_mul(33) ^ u64::from(byte));
    let file = project::scratch(&format!("contract-{digest:x}")).join("definitions.wg");
    project::write(&file, definitions);
    Some(file)
}

/// What an expression gives; all engines give the same.
pub(crate) fn eval(expression: &str, file: Option<&PathBuf>) -> Ran {
    let ran = match file {
        Some(file) => everywhere::command(&[expression, "--file", &file.to_string_lossy()]),
        None => everywhere::command(&[expression]),
    };
    ran.unwrap_or_else(|stderr| Ran { status: -1, stdout: String::new(), stderr })
}

/// Whether two texts are the same up to rounding of the numbers in them.
pub(crate) fn about(a: &str, b: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| "()[]{}, =".contains(c)).filter(|w| !w.is_empty()).map(str::to_string).collect()
    };
    let (a, b) = (words(a), words(b));
    let close = |x: f64, y: f64| x == y || (x - y).abs() <= 1e-12 + 1e-10 * y.abs();
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => close(x, y),
            _ => a == b,
        })
}
