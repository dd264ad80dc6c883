//! The pages of the book that are made from the tables and the wrong programs, so that they cannot disagree with them.
//! `BLESS=1` writes them.

use std::path::Path;
use wengert_base::codes::Code;
use wengert_prim::docs;
use wengert_tests::expected::compare_file;
use wengert_tests::project;

#[test]
fn the_pages_of_the_primitives_are_those_of_the_tables() {
    let pages = [
        ("docs/primitives.md", docs::primitives_page()),
        ("docs/kinks.md", docs::kinks_page()),
        ("docs/costs.md", docs::costs_page()),
    ];
    let complaints: Vec<String> = pages
        .iter()
        .filter_map(|(path, page)| compare_file(&project::root().join(path), page).err())
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn the_index_of_errors_shows_every_kind() {
    let page = error_index(&wengert_driver::all_codes());
    if let Err(complaint) = compare_file(&project::root().join("docs/error-index.md"), &page) {
        panic!("{complaint}");
    }
}

#[test]
fn the_book_lists_the_passes_of_the_optimizer() {
    const HEAD: &str = "| pass | what it does |\n|---|---|\n";
    let path = project::root().join("docs/engine.md");
    let page = project::read(&path);
    let (before, rest) = page.split_once(HEAD).expect("there is a table of passes");
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let rows: String =
        wengert_driver::passes().map(|(name, what)| format!("| `{name}` | {what} |\n")).collect();
    if let Err(complaint) = compare_file(&path, &format!("{before}{HEAD}{rows}\n{after}")) {
        panic!("{complaint}");
    }
}

/// The chapters of the index, by the first three characters of a code.
const CHAPTERS: [(&str, &str); 9] = [
    ("E01", "Syntax"),
    ("E02", "Names and modules"),
    ("E03", "Types"),
    ("E04", "Patterns"),
    ("E05", "Sizes of arrays"),
    ("E06", "Derivatives"),
    ("E07", "While running"),
    ("E08", "Inputs and the command"),
    ("E09", "The calculi"),
];

/// All kinds in order, each with the first of its wrong programs and what is said about it.
fn error_index(codes: &[Code]) -> String {
    let mut codes = codes.to_vec();
    codes.sort_by_key(|code| code.code);
    let programs = project::files("tests/errors", "wg");
    let mut page = String::from(
        "# Index of error messages\n\nEvery kind of message with a program that earns it and the text that its author sees. \
         `wengert explain CODE`\nshows an entry in the terminal. See also [how to read a message](errors.md).\n",
    );
    for (prefix, title) in CHAPTERS {
        page.push_str(&format!("\n## {title}\n"));
        for code in codes.iter().filter(|code| code.code.starts_with(prefix)) {
            page.push_str(&format!("\n### {}: {}\n", code.code, code.title));
            if let Some(program) = programs.iter().find(|path| is_of(path, code)) {
                page.push_str(&entry(program));
            }
        }
    }
    page
}

fn is_of(path: &Path, code: &Code) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(code.code))
}

/// A wrong program and its message.
fn entry(path: &Path) -> String {
    let text = project::read(path);
    let message = project::read(&path.with_extension("txt"));
    let program = text.split_once('\n').map_or("", |(_, program)| program);
    let message: Vec<&str> = message.lines().filter(|line| !line.starts_with("[exit status")).collect();
    let block = |text: &str| format!("\n```text\n{}\n```\n", text.trim_end());
    if program.trim().is_empty() || program.trim() == "def main = 1" {
        block(&message.join("\n"))
    } else {
        block(program) + &block(&message.join("\n"))
    }
}
