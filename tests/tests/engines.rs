//! Engines agree: whatever the interpreter gives, machine code gives, errors and their places included.
//!
//! Here are the examples and the wrong programs that fail when they run; `differential` has generated programs.
//! `WENGERT_ENGINE=native WENGERT_STRICT=true cargo test -p wengert-tests` runs everything else in machine code too: the book, the examples, the
//! tests of the command.

use std::path::{Path, PathBuf};
use wengert_tests::command::wengert;
use wengert_tests::goldens::{mode, try_program};
use wengert_tests::text::unsigned;
use wengert_tests::{parallel, project};

#[test]
fn examples_give_the_same() {
    let examples = project::files("examples", "wg");
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

/// A rule that gives something else than a cotangent: machine code shows the rule, the interpreter what runs it.
const AT_THE_RULE: &[&str] = &["E0722"];

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.to_string_lossy().contains(name))
}

#[test]
fn programs_that_fail_fail_in_the_same_words_at_the_same_place() {
    let runs = |path: &PathBuf| {
        let mode = mode(path).unwrap_or_default();
        (mode.starts_with("eval") || mode.starts_with("run")) && !is_one_of(path, OF_THE_INTERPRETER)
    };
    let programs: Vec<PathBuf> = project::files("tests/errors", "wg").into_iter().filter(runs).collect();
    parallel::check_all("wrong programs", &programs, |path| {
        let transcript =
            |engine: &str| try_program(path, &["--engine", engine, "--strict"]).map(|ran| ran.transcript());
        let (mut expected, mut found) = (transcript("interp"), transcript("native"));
        let name = project::relative(path);
        if is_one_of(path, AT_THE_RULE) {
            let message = |text: Option<String>| text.map(|text| text.lines().take(1).collect());
            (expected, found) = (message(expected), message(found));
        }
        if expected == found {
            Ok(())
        } else {
            Err(format!("{name} gives\n{found:?}\ninstead of\n{expected:?}"))
        }
    });
}
