//! Whatever the text, the checker ends without a panic, and what it accepts is a well-formed core program.

use super::{Loader, library};
use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use std::cell::RefCell;

/// Pieces of programs, chosen so that soup made of them often means something.
const PIECES: &[&str] = &[
    "def ",
    "f ",
    "g ",
    "x ",
    "y ",
    "n ",
    "main ",
    "= ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "-> ",
    "\\",
    "let ",
    "rec ",
    "and ",
    "in ",
    "if ",
    "then ",
    "else ",
    "match ",
    "with ",
    "| ",
    "type ",
    "alias ",
    "T ",
    "A ",
    "B ",
    "Cons ",
    "Nil ",
    "a ",
    "b ",
    ": ",
    "Real ",
    "Int ",
    "Bool ",
    "String ",
    "Dual ",
    "[n]",
    "[3]",
    "[]",
    "1 ",
    "2.5 ",
    "0 ",
    "\"s\" ",
    "true ",
    "_ ",
    "as ",
    "+ ",
    "- ",
    "* ",
    "/ ",
    "^ ",
    "** ",
    "== ",
    "< ",
    "&& ",
    "|| ",
    "++ ",
    "|> ",
    ">> ",
    ".x ",
    "x = ",
    "grad ",
    "jvp ",
    "vjp ",
    "map ",
    "fold ",
    "build ",
    "length ",
    "sin ",
    "show ",
    "zero ",
    "import linalg ",
    "linalg.",
    "\n",
    "\ndef h z = ",
];

fn soup(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(1..=60)? {
        text.push_str(u.choose(PIECES)?);
    }
    Ok(text)
}

/// Words, numbers and signs of a text, with the blanks between them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for pair in chars.windows(2) {
        if class(pair[0].1) != class(pair[1].1) || class(pair[0].1) == 2 {
            tokens.push(&text[start..pair[1].0]);
            start = pair[1].0;
        }
    }
    tokens.push(&text[start..]);
    tokens
}

/// A library module with a few tokens dropped, doubled, or replaced by others of the same file.
fn mutated(u: &mut Unstructured<'_>, files: &[String]) -> Result<String> {
    let mut tokens = tokens(u.choose(files)?);
    for _ in 0..u.int_in_range(1..=6)? {
        let at = u.choose_index(tokens.len())?;
        let other = tokens[u.choose_index(tokens.len())?];
        match u.int_in_range(0..=2)? {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, other),
            _ => tokens[at] = other,
        }
        if tokens.is_empty() {
            break;
        }
    }
    Ok(tokens.concat())
}

#[test]
fn a_type_that_mentions_a_broken_one_is_left_out_with_it() {
    let loaded = Loader::default().load("main", "type Cons\ntype T = A Cons\ntype U = B T\ndef f = 1\n");
    assert!(loaded.checked.program.types.is_empty());
    assert_eq!(loaded.checked.program.defs.len(), 1);
}

#[test]
fn soup_is_checked_without_panic() {
    let loader = RefCell::new(Loader::default());
    arbtest(|u| {
        let text = soup(u)?;
        loader.borrow_mut().load("main", &text);
        Ok(())
    })
    .size_min(64)
    .size_max(512)
    .budget_ms(3_000);
}

#[test]
fn damaged_programs_are_checked_without_panic() {
    let files: Vec<String> = ["list", "linalg", "stats", "optimize", "random", "../examples/language_tour"]
        .iter()
        .map(|name| std::fs::read_to_string(library().join(format!("{name}.wg"))).unwrap())
        .collect();
    let loader = RefCell::new(Loader::default());
    arbtest(|u| {
        let text = mutated(u, &files)?;
        loader.borrow_mut().load("main", &text);
        Ok(())
    })
    .size_min(64)
    .size_max(512)
    .budget_ms(4_000);
}
