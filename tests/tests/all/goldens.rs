//! Every kind of diagnostic has a wrong program in `tests/errors`, and the whole text that the user sees for it.
//!
//! A program `E0301-branches.wg` opens with a line that says how it is tried (`wengert_tests::goldens`); the expected text
//! is in `E0301-branches.txt`.

use std::path::Path;
use wengert_tests::expected::compare_file;
use wengert_tests::goldens::try_program;
use wengert_tests::{parallel, project};

/// Kinds that no program can show: they guard against mistakes of our own, and the fuzzers look out for them.
const GUARDS: [&str; 3] = ["E0713", "E0714", "E0799"];

/// The least number of kinds the project promises.
const KINDS: usize = 60;

#[test]
fn every_wrong_program_shows_its_text() {
    parallel::check_all("wrong programs", &project::files("tests/errors", "wg"), |path| check(path));
}

#[test]
fn every_kind_of_diagnostic_has_a_wrong_program() {
    let programs = project::files("tests/errors", "wg");
    let names: Vec<String> = programs.iter().map(|path| stem(path)).collect();
    let codes = wengert_driver::all_codes();
    let missing: Vec<String> = codes
        .iter()
        .filter(|code| !GUARDS.contains(&code.code) && !names.iter().any(|name| name.starts_with(code.code)))
        .map(|code| format!("{} {}", code.code, code.title))
        .collect();
    assert!(missing.is_empty(), "these kinds have no wrong program in tests/errors:\n{}", missing.join("\n"));
    assert!(codes.len() >= KINDS, "there are only {} kinds of diagnostics", codes.len());
    let foreign: Vec<&String> =
        names.iter().filter(|name| !codes.iter().any(|code| name.starts_with(code.code))).collect();
    assert!(foreign.is_empty(), "these programs are named after no kind: {foreign:?}");
}

#[test]
fn every_expected_text_belongs_to_a_program() {
    parallel::check_all("expected texts", &project::files("tests/errors", "txt"), |path| {
        if path.with_extension("wg").exists() { Ok(()) } else { Err(project::relative(path)) }
    });
}

fn check(path: &Path) -> Result<(), String> {
    let name = project::relative(path);
    let ran =
        try_program(path, &[]).ok_or_else(|| format!("{name} does not open with a line `-- mode: …`"))?;
    let code: String = stem(path).chars().take_while(|c| *c != '-').collect();
    let shown = ran.transcript();
    if !shown.contains(&format!("[{code}]")) && !shown.contains(&format!("\"{code}\"")) {
        return Err(format!("{name} does not give {code}, but:\n{shown}"));
    }
    let wanted_status =
        if shown.contains("\nwarning") || shown.starts_with("warning") { 0..=1 } else { 1..=2 };
    if !wanted_status.contains(&ran.status) {
        return Err(format!("{name} ends with a wrong exit status:\n{shown}"));
    }
    compare_file(&path.with_extension("txt"), &shown)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
