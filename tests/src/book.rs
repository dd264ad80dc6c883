//! The pages of the book, whose code blocks are tests.
//!
//! The word after the opening fence says what a block is:
//!
//! - `wengert`: definitions. All such blocks of a page, in order, are one program, which must check.
//! - `wengert NAME.wg`: a file of its own, which must check; the page's transcripts find it under that name.
//! - `wengert-eval`: expressions, each followed by lines `-- > …` with what it prints, under the page's definitions.
//! - `wengert-error`: a program, or a line `eval: EXPR`, that is refused with the code in its line `-- ! E0301`; a text
//!   after the code, `-- ! E0301 text`, must be part of the message.
//! - `console`: lines `$ wengert …`, each followed by exactly what it prints, run where `examples/` and `lib/` are.
//! - `text`, `sh`, `json`, `ebnf`, `toml`, `rust`: shown, not run. No other word is allowed.

use std::path::{Path, PathBuf};

/// The words that may stand after a fence.
pub const LANGUAGES: &[&str] =
    &["wengert", "wengert-eval", "wengert-error", "console", "text", "sh", "json", "ebnf", "toml", "rust"];

/// A block of code of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first word after the fence.
    pub language: String,
    /// What follows that word.
    pub title: String,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// The lines between the fences.
    pub lines: Vec<String>,
}

impl Block {
    /// The lines as one text.
    pub fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

/// A page and its blocks.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it is.
    pub path: PathBuf,
    /// Its path from the root.
    pub name: String,
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// Something in a block that prints something: an expression or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The expression or command.
    pub source: String,
    /// The line in the page where it starts.
    pub line: usize,
    /// What it is said to print, without marks.
    pub expected: Vec<String>,
    /// The lines of the page (from 1, end excluded) that hold the expected text.
    pub place: std::ops::Range<usize>,
}

/// All pages: the README and everything in `docs/`.
pub fn pages() -> Vec<Page> {
    let mut paths = crate::project::files("docs", "md");
    paths.push(crate::project::root().join("README.md"));
    paths.iter().filter(|path| path.exists()).map(|path| page(path)).collect()
}

fn page(path: &Path) -> Page {
    let text = crate::project::read(path);
    Page { path: path.to_path_buf(), name: crate::project::relative(path), blocks: blocks(&text) }
}

/// The blocks of a page. A fence inside a longer fence is text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Option<(String, Block)> = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let ticks: String = trimmed.chars().take_while(|c| *c == '`').collect();
        match open.take() {
            Some((fence, block)) if trimmed.trim_end() == fence => found.push(block),
            Some((fence, mut block)) => {
                block.lines.push(line.to_string());
                open = Some((fence, block));
            }
            None if ticks.len() >= 3 => {
                let info = trimmed.trim_start_matches('`').trim();
                let (language, title) = info.split_once(' ').unwrap_or((info, ""));
                let block = Block {
                    language: language.to_string(),
                    title: title.trim().to_string(),
                    line: index + 1,
                    lines: Vec::new(),
                };
                open = Some((ticks, block));
            }
            None => {}
        }
    }
    found
}

/// The expressions of a `wengert-eval` block and what they are said to print.
pub fn eval_cases(block: &Block) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut source: Vec<String> = Vec::new();
    let mut start = 0;
    for (index, line) in block.lines.iter().enumerate() {
        let number = block.line + 1 + index;
        if let Some(output) = line.strip_prefix("-- >") {
            let output = output.strip_prefix(' ').unwrap_or(output).to_string();
            if source.is_empty() {
                if let Some(Case { expected, place, .. }) = cases.last_mut() {
                    expected.push(output);
                    place.end = number + 1;
                }
            } else {
                let case = Case {
                    source: source.join("\n"),
                    line: start,
                    expected: vec![output],
                    place: number..number + 1,
                };
                cases.push(case);
                source.clear();
            }
        } else if !line.trim().is_empty() || !source.is_empty() {
            if source.is_empty() {
                start = number;
            }
            source.push(line.clone());
        }
    }
    if !source.is_empty() {
        let end = block.line + 1 + block.lines.len();
        cases.push(Case { source: source.join("\n"), line: start, expected: Vec::new(), place: end..end });
    }
    cases
}

/// The commands of a `console` block and what they are said to print. A line that ends in `\` continues.
pub fn console_cases(block: &Block) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut continues = false;
    for (index, line) in block.lines.iter().enumerate() {
        let number = block.line + 1 + index;
        if let Some(command) = line.strip_prefix("$ ") {
            let place = number + 1..number + 1;
            cases.push(Case { source: command.to_string(), line: number, expected: Vec::new(), place });
            continues = command.ends_with('\\');
        } else if let Some(case) = cases.last_mut() {
            case.place.end = number + 1;
            if continues {
                case.source.push('\n');
                case.source.push_str(line);
                case.place.start = number + 1;
                continues = line.ends_with('\\');
            } else {
                case.expected.push(line.clone());
            }
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_falls_into_blocks_and_cases() {
        let page = "# T\n```wengert-eval\n1 + 1\n-- > 2\n\nlet x = 1\nin x\n-- > 1\n-- > more\n```\n\
                    ````text\n```\n````\n```console\n$ a \\\n  b\nout\n$ c\n```\n";
        let found = blocks(page);
        let names: Vec<_> = found.iter().map(|b| (b.language.as_str(), b.line)).collect();
        assert_eq!(names, [("wengert-eval", 2), ("text", 11), ("console", 14)]);
        let cases = eval_cases(&found[0]);
        assert_eq!((cases[0].source.as_str(), cases[0].place.clone()), ("1 + 1", 4..5));
        assert_eq!((cases[1].source.as_str(), cases[1].line), ("let x = 1\nin x", 6));
        assert_eq!(cases[1].expected, ["1", "more"]);
        assert_eq!(cases[1].place, 8..10);
        let commands = console_cases(&found[2]);
        assert_eq!((commands[0].source.as_str(), commands[0].place.clone()), ("a \\\n  b", 17..18));
        assert_eq!((commands[1].expected.len(), commands[1].place.clone()), (0, 19..19));
    }
}
