//! The example programs and the standard library: each checks without a warning, is in the one layout, and, where it
//! has a `main`, prints what its lines `-- > …` say.

use std::path::{Path, PathBuf};
use wengert_tests::command::wengert;
use wengert_tests::expected::{blessing, difference};
use wengert_tests::text::unsigned;
use wengert_tests::{parallel, project};

/// The least number of examples the project promises.
const EXAMPLES: usize = 20;

#[test]
fn every_example_checks_is_formatted_and_prints_what_it_says() {
    let examples = project::files("examples", "wg");
    assert!(examples.len() >= EXAMPLES, "there are only {} examples", examples.len());
    parallel::check_all("examples", &examples, |path| {
        checks_and_is_formatted(path)?;
        prints_what_it_says(path)
    });
}

#[test]
fn every_library_module_checks_and_is_formatted() {
    parallel::check_all("library modules", &project::files("lib", "wg"), |path| {
        checks_and_is_formatted(path)
    });
}

#[test]
fn every_example_and_library_module_opens_with_a_comment() {
    let files: Vec<PathBuf> = [project::files("examples", "wg"), project::files("lib", "wg")].concat();
    parallel::check_all("programs", &files, |path| {
        if project::read(path).starts_with("-- ") { Ok(()) } else { Err(project::relative(path)) }
    });
}

fn checks_and_is_formatted(path: &Path) -> Result<(), String> {
    let name = project::relative(path);
    let checked = wengert(&["check", &name]);
    if checked.status != 0 || !checked.stderr.is_empty() {
        return Err(format!("{name} does not check cleanly:\n{}", checked.transcript()));
    }
    let formatted = wengert(&["fmt", "--check", &name]);
    if formatted.status != 0 {
        return Err(format!("{name} is not in the one layout:\n{}", formatted.transcript()));
    }
    Ok(())
}

fn prints_what_it_says(path: &Path) -> Result<(), String> {
    let name = project::relative(path);
    let text = project::read(path);
    let said: String = text
        .lines()
        .filter_map(|line| line.strip_prefix("-- >"))
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    let printed =
        wengert(&["run", &name]).value().map_err(|error| format!("{name} does not run: {error}"))?;
    let printed = format!("{}\n", printed.trim_end());
    // Another engine may have zeros of another sign.
    let by_engine = std::env::var("WENGERT_ENGINE").is_ok_and(|engine| engine != "interp");
    if said == printed || (by_engine && unsigned(&said) == unsigned(&printed)) {
        return Ok(());
    }
    if blessing() {
        let program: String =
            text.lines().filter(|l| !l.starts_with("-- >")).flat_map(|l| [l, "\n"]).collect();
        let comment: String = printed.lines().map(|line| format!("-- > {line}\n")).collect();
        project::write(path, &format!("{}\n\n{comment}", program.trim_end()));
        return Ok(());
    }
    Err(format!("{name} prints something else (- said, + printed):\n{}", difference(&said, &printed)))
}
