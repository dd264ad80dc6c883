//! Engines agree: whatever the interpreter gives, machine code gives, errors and their places included.
//!
//! Here are the examples, the wrong programs that fail when they run, and generated programs with their derivatives.
//! `WENGERT_ENGINE=native WENGERT_STRICT=true cargo test -p wengert-tests` runs everything else in machine code too: the book, the examples, the
//! tests of the command.

use std::path::{Path, PathBuf};
use wengert_driver::Engine;
use wengert_gen::Config;
use wengert_tests::command::wengert;
use wengert_tests::goldens::{mode, try_program};
use wengert_tests::property::{Case, Verdict, load, property};
use wengert_tests::{parallel, project};

/// The sign of a derivative that is 0 says how it was computed, and nothing else.
fn unsigned(text: &str) -> String {
    let mut parts = text.split("-0.0");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_ascii_digit() || c == 'e');
        plain.push_str(if goes_on { "-0.0" } else { "0.0" });
        plain.push_str(part);
    }
    plain.replace("(0.0)", "0.0")
}

#[test]
fn examples_give_the_same() {
    let mut examples = project::files("examples", "wg");
    examples.retain(|path| !is_one_of(path, NOT_YET));
    parallel::check_all("examples", &examples, |path| {
        let name = project::relative(path);
        let transcript =
            |engine: &str| unsigned(&wengert(&["run", &name, "--engine", engine, "--strict"]).transcript());
        let (expected, found) = (transcript("interp"), transcript("native"));
        if expected == found { Ok(()) } else { Err(format!("{name} gives\n{found}instead of\n{expected}")) }
    });
}

/// Wrong programs whose texts are about limits of the interpreter: machine code counts no steps, and differentiates these.
const OF_THE_INTERPRETER: &[&str] = &["E0715", "E0723", "E0724"];

/// Wrong tangents and cotangents, of which machine code does not say yet where they were given.
const NOT_YET: &[&str] = &["E0720", "E0722"];

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.to_string_lossy().contains(name))
}

#[test]
fn programs_that_fail_fail_in_the_same_words_at_the_same_place() {
    let runs = |path: &PathBuf| {
        let mode = mode(path).unwrap_or_default();
        (mode.starts_with("eval") || mode.starts_with("run"))
            && !is_one_of(path, OF_THE_INTERPRETER)
            && !is_one_of(path, NOT_YET)
    };
    let programs: Vec<PathBuf> = project::files("tests/errors", "wg").into_iter().filter(runs).collect();
    parallel::check_all("wrong programs", &programs, |path| {
        let transcript =
            |engine: &str| try_program(path, &["--engine", engine, "--strict"]).map(|ran| ran.transcript());
        let (expected, found) = (transcript("interp"), transcript("native"));
        let name = project::relative(path);
        if expected == found {
            Ok(())
        } else {
            Err(format!("{name} gives\n{found:?}\ninstead of\n{expected:?}"))
        }
    });
}

/// What is asked of the entry of a generated program at `x`, and whether its sums are made in the interpreter's order.
const QUESTIONS: &[(&str, bool)] = &[
    ("entry x", true),
    ("snd (jvp entry (x, x))", true),
    ("let (y, back) = vjp entry x in back y", false),
    ("let (y, forward) = linearize entry x in forward x", true),
    ("grad (\\x -> norm_squared (entry x)) x", false),
];

fn agree(case: &Case) -> Result<Verdict, String> {
    let mut loaded = load(case, "")?;
    for (question, exact) in QUESTIONS {
        let text = format!("let x = {} in {question}", case.point.text());
        // Errors count too: they are results like others.
        let expected = loaded.eval(&text).unwrap_or_else(Some);
        let found = loaded.eval_by(Engine::Native, &text).unwrap_or_else(Some);
        // Steps and memory are counted in different ways.
        let (Some(expected), Some(found)) = (expected, found) else { return Ok(Verdict::Skipped) };
        let (expected, found) = (unsigned(&expected), unsigned(&found));
        if !same(&expected, &found, *exact) {
            return Err(format!("{question}\nin machine code {found}\nby the interpreter {expected}"));
        }
    }
    Ok(Verdict::Tested)
}

/// Whether two printed values are the same, or if they need not be exact, the same but for rounding.
fn same(a: &str, b: &str, exact: bool) -> bool {
    if exact || a == b {
        return a == b;
    }
    let is_end = |c: char| " ,()[]{}".contains(c);
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(is_end).collect(), b.split(is_end).collect());
    let close = |(a, b): (&&str, &&str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-9 * x.abs().max(1.0),
        (_, _) => a == b,
    };
    a.len() == b.len() && a.iter().zip(&b).all(close)
}

#[test]
fn generated_programs_give_the_same() {
    for config in [Config::default(), Config::smooth()] {
        property(&config, None, 12, agree);
    }
}
