//! Every code block of the book and of the README is run; see `wengert_tests::book` for what each kind of block means.
//! `BLESS=1` rewrites the printed outputs in the pages.

use std::path::Path;
use wengert_tests::book::{Block, Case, LANGUAGES, Page, console_cases, eval_cases, pages};
use wengert_tests::command::{shell_in, wengert_in};
use wengert_tests::expected::{blessing, difference};
use wengert_tests::{everywhere, parallel, project};

#[test]
fn every_block_has_a_known_language() {
    let pages = pages();
    let unknown: Vec<String> = pages
        .iter()
        .flat_map(|page| page.blocks.iter().map(move |block| (page, block)))
        .filter(|(_, block)| !LANGUAGES.contains(&block.language.as_str()))
        .map(|(page, block)| format!("{}:{}: `{}`", page.name, block.line, block.language))
        .collect();
    assert!(
        unknown.is_empty(),
        "these blocks have no known language: {}\nknown: {LANGUAGES:?}",
        unknown.join(", ")
    );
    assert!(pages.iter().any(|page| page.blocks.iter().any(|block| block.language == "wengert-eval")));
}

#[test]
fn every_page_says_what_the_program_does() {
    let pages = pages();
    parallel::check_all("pages", &pages, check_page);
}

/// A change of the page: these lines (from 1, end excluded) become those.
struct Edit {
    place: std::ops::Range<usize>,
    lines: Vec<String>,
}

fn check_page(page: &Page) -> Result<(), String> {
    let folder = project::scratch(&format!("book-{}", page.name.replace('/', "-")));
    copy_programs(&folder);
    let mut complaints = Vec::new();
    let mut edits = Vec::new();
    let mut definitions = String::new();
    for block in &page.blocks {
        let at = |line: usize| format!("{}:{line}", page.name);
        match block.language.as_str() {
            "wengert" if block.title.is_empty() => definitions.push_str(&format!("{}\n", block.text())),
            "wengert" => complaints
                .extend(check_file(&folder, block).map_err(|e| format!("{}: {e}", at(block.line))).err()),
            "wengert-eval" => {
                let cases = eval_cases(block);
                project::write(&folder.join("page.wg"), &definitions);
                for (case, complaint) in cases.iter().zip(parallel::map(&cases, |case| eval(&folder, case))) {
                    note(complaint, case, "-- > ", &mut edits, &mut complaints, &at(case.line));
                }
            }
            "wengert-error" => {
                complaints.extend(
                    refused(&folder, &definitions, block)
                        .map_err(|e| format!("{}: {e}", at(block.line)))
                        .err(),
                );
            }
            "console" => {
                for case in &console_cases(block) {
                    let outcome = Ok(shell_in(&folder, &format!("({}) 2>&1", case.source)).stdout);
                    note(outcome, case, "", &mut edits, &mut complaints, &at(case.line));
                }
            }
            _ => {}
        }
    }
    complaints
        .extend(check_definitions(&folder, &definitions).map_err(|e| format!("{}: {e}", page.name)).err());
    if blessing() {
        bless(&page.path, edits);
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

/// Compares what was printed with what the page says; when blessing, notes the edit instead.
fn note(
    outcome: Result<String, String>,
    case: &Case,
    mark: &str,
    edits: &mut Vec<Edit>,
    complaints: &mut Vec<String>,
    at: &str,
) {
    let actual = match outcome {
        Ok(actual) => actual,
        Err(error) => {
            complaints.push(format!("{at}: {}\n{error}", case.source));
            return;
        }
    };
    let expected = case.expected.join("\n");
    if expected.trim_end() == actual.trim_end() {
        return;
    }
    if blessing() {
        let lines =
            actual.trim_end().lines().map(|line| format!("{mark}{line}").trim_end().to_string()).collect();
        edits.push(Edit { place: case.place.clone(), lines });
    } else {
        complaints.push(format!("{at}: {}\n{}", case.source, difference(&expected, &actual)));
    }
}

fn eval(folder: &Path, case: &Case) -> Result<String, String> {
    if case.expected.is_empty() && !blessing() {
        return Err("there is no line `-- > …` after the expression".into());
    }
    everywhere::command_in(folder, &[&case.source, "--file", "page.wg"])?.value()
}

fn check_definitions(folder: &Path, definitions: &str) -> Result<(), String> {
    if definitions.is_empty() {
        return Ok(());
    }
    project::write(&folder.join("page.wg"), definitions);
    wengert_in(folder, &["check", "page.wg"], "").value().map(|_| ())
}

fn check_file(folder: &Path, block: &Block) -> Result<(), String> {
    project::write(&folder.join(&block.title), &block.text());
    wengert_in(folder, &["check", &block.title], "").value().map(|_| ())
}

fn refused(folder: &Path, definitions: &str, block: &Block) -> Result<(), String> {
    let (wanted, program): (Vec<&String>, Vec<&String>) =
        block.lines.iter().partition(|line| line.starts_with("-- !"));
    if wanted.is_empty() {
        return Err("there is no line `-- ! CODE`".into());
    }
    let text: String = program.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let ran = match text.trim().strip_prefix("eval: ") {
        Some(expression) => {
            project::write(&folder.join("page.wg"), definitions);
            wengert_in(folder, &["eval", expression, "--file", "page.wg"], "")
        }
        None => {
            project::write(&folder.join("wrong.wg"), &text);
            wengert_in(folder, &["check", "wrong.wg"], "")
        }
    };
    if ran.status != 1 {
        return Err(format!("it was not refused, but: {}", ran.transcript()));
    }
    for line in wanted {
        let words = line.trim_start_matches("-- !").trim();
        let (code, part) = words.split_once(' ').unwrap_or((words, ""));
        if !ran.stderr.contains(code) || !ran.stderr.contains(part.trim()) {
            return Err(format!("the message does not have `{words}`:\n{}", ran.stderr));
        }
    }
    Ok(())
}

/// Transcripts find the examples and the library where a reader has them.
fn copy_programs(folder: &Path) {
    for name in ["examples", "lib"] {
        let to = folder.join(name);
        std::fs::create_dir_all(&to).expect("a scratch folder can be made");
        for file in ["wg", "c"].into_iter().flat_map(|ending| project::files(name, ending)) {
            let file_name = file.file_name().expect("a file has a name");
            std::fs::copy(&file, to.join(file_name)).expect("a program can be copied");
        }
    }
}

fn bless(path: &Path, mut edits: Vec<Edit>) {
    if edits.is_empty() {
        return;
    }
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.place.start));
    let text = project::read(path);
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for edit in edits {
        lines.splice(edit.place.start - 1..edit.place.end - 1, edit.lines);
    }
    lines.push(String::new());
    project::write(path, &lines.join("\n"));
}
