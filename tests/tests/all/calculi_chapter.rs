//! The chapters on the calculi: their tables and pictures are what the program makes. `BLESS=1` rewrites both.

use std::path::{Path, PathBuf};
use wengert_calculi::kit::trace::Limits;
use wengert_calculi::systems;
use wengert_driver::Session;
use wengert_tests::command::wengert_in;
use wengert_tests::expected::{blessing, compare_file, difference};
use wengert_tests::{book, project};

/// The line before the table that says which calculus takes which program.
const FRAGMENTS: &str = "<!-- fragments -->";

/// The page and a folder with its files.
fn chapter(scratch: &str) -> (PathBuf, String, PathBuf) {
    let path = project::root().join("docs/calculi.md");
    let text = project::read(&path);
    let folder = project::scratch(scratch);
    for block in book::blocks(&text).iter().filter(|block| block.language == "wengert") {
        if !block.title.is_empty() {
            project::write(&folder.join(&block.title), &block.text());
        }
    }
    (path, text, folder)
}

#[test]
fn the_table_of_fragments_is_what_the_calculi_take() {
    let (path, page, folder) = chapter("calculi-fragments");
    let file = folder.join("shapes.wg");
    let mut lines: Vec<String> = page.lines().map(str::to_string).collect();
    let start = page.lines().position(|line| line == FRAGMENTS).expect("the page has the table") + 1;
    // After the names of the columns and the line below them.
    let mut rows = 0;
    for line in lines.iter_mut().skip(start + 2).take_while(|line| line.starts_with('|')) {
        *line = row(line, &file);
        rows += 1;
    }
    assert!(rows > 10, "only {rows} rows");
    let header = format!(
        "| | program | {} |",
        systems().iter().map(|system| system.name()).collect::<Vec<_>>().join(" | ")
    );
    assert_eq!(page.lines().nth(start), Some(header.as_str()), "the columns are the calculi");
    let actual = lines.join("\n") + "\n";
    if actual != page && blessing() {
        project::write(&path, &actual);
    } else {
        assert!(actual == page, "{}", difference(&page, &actual));
    }
}

/// The row with a mark for each calculus that takes its program.
fn row(line: &str, file: &Path) -> String {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [title, program, ..] = cells.as_slice() else { panic!("no program in {line}") };
    let program = program.trim_matches('`');
    let marks: Vec<&str> = systems()
        .iter()
        .map(|system| {
            let mut session = Session::new();
            match session.trace(program, Some(file), *system, &Limits { recorded: 0, ..Limits::default() }) {
                Ok((trace, _)) if trace.stopped.is_none() => "yes",
                Ok(_) => panic!("{program} has no end in {}", system.name()),
                Err(errors) => {
                    let own = errors.iter().all(|error| error.code.starts_with("E09"));
                    assert!(own, "{program} is wrong: {errors:#?}");
                    "–"
                }
            }
        })
        .collect();
    format!("| {title} | `{program}` | {} |", marks.join(" | "))
}

#[test]
fn the_pictures_are_those_of_the_command() {
    let (_, _, folder) = chapter("calculi-pictures");
    let mut complaints = Vec::new();
    let program = "grad f (2.0, 3.0)";
    for calculus in ["pullback", "perturbative", "negation", "delta"] {
        let to = folder.join(format!("{calculus}.svg"));
        let ran = wengert_in(
            &folder,
            &[
                "trace",
                program,
                "--file",
                "f.wg",
                "--in",
                calculus,
                "--steps",
                "0",
                "--svg",
                &to.to_string_lossy(),
            ],
            "",
        );
        assert_eq!(ran.status, 0, "{}", ran.transcript());
        let picture = project::root().join(format!("docs/pictures/{calculus}.svg"));
        complaints.extend(compare_file(&picture, &project::read(&to)).err());
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
