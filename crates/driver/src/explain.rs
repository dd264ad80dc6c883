//! The index of error messages: all codes, and what `explain` says about one.
//!
//! The examples are those of the page `docs/error-index.md`, which the tests keep equal to what the program says.

use crate::errors::CODES;
use wengert_base::codes::Code;

/// The page with an example of each code: chapters of sections `### E0101: title` with fenced blocks of text.
const PAGE: &str = include_str!("../../../docs/error-index.md");

/// The kinds of all diagnostics, in the order of their codes.
pub fn all_codes() -> Vec<Code> {
    let lists = [
        wengert_syntax::errors::CODES,
        wengert_check::errors::CODES,
        wengert_fault::CODES,
        wengert_mono::errors::CODES,
        CODES,
    ];
    let systems = wengert_calculi::systems();
    let shared = if systems.is_empty() { &[] } else { wengert_calculi::kit::errors::CODES };
    let calculi = systems.iter().flat_map(|system| system.codes()).chain(shared);
    let mut codes: Vec<Code> = lists.into_iter().flatten().chain(calculi).copied().collect();
    codes.sort_by_key(|code| code.code);
    codes
}

/// The kind with that code; `e301`, `301` and `E0301` are one.
pub fn find_code(text: &str) -> Option<Code> {
    let digits = text.trim_start_matches(['E', 'e']);
    all_codes().into_iter().find(|code| {
        code.code.trim_start_matches(['E']).trim_start_matches('0') == digits.trim_start_matches('0')
    })
}

/// What a code means: its title, what its family has in common, and a program that earns it with the message.
pub fn explain(code: Code) -> String {
    let family = match code.code.get(..3) {
        Some("E01") => {
            "The text is not Wengert: a token or a piece of grammar is missing, left over or misspelt. The parser goes on \
             after it, so several such messages may come at once; mend the first one first."
        }
        Some("E02") => {
            "A name means nothing here, or too many things: it is misspelt, not imported, defined twice, or two imports \
             bring it."
        }
        Some("E03") => {
            "The types do not fit. Every expression has one type, found without annotations; the message shows the two \
             that met and where each comes from. There is no conversion behind your back: `real n` makes a Real of an Int."
        }
        Some("E04") => {
            "A pattern is wrong, or a match does not cover every case. A match must have an arm for every value its \
             type allows, and no arm that can never be reached."
        }
        Some("E05") => {
            "Array sizes contradict each other. Sizes are part of array types; two different known sizes are an error \
             before the program runs, the rest is checked while it runs."
        }
        Some("E06") => {
            "A derivative is asked for where there is none: of something that holds no Real, or in reverse mode of something \
             that holds a function."
        }
        Some("E07") => {
            "The program was accepted and stopped while it ran: an index or a size was wrong, a number had no result, a \
             limit was reached, or the program itself called `fail`."
        }
        Some("E08") => {
            "Something around the program is wrong: a file, an import, the JSON given as input, or the use of the command."
        }
        Some("E09") => {
            "A term of a calculus, or a program that is to be traced in one, is wrong or outside of what the calculus is \
             about. The calculi are those of the papers: each has only the constructs that its paper has."
        }
        _ => "",
    };
    let mut text = format!("{}: {}\n\n{}\n", code.code, code.title, wrapped(family));
    let example = example(code);
    if !example.is_empty() {
        text.push_str("\nFor example:\n\n");
        text.push_str(&example);
    }
    text
}

/// The section of the page about a code, its blocks indented.
fn example(code: Code) -> String {
    let heading = format!("\n### {}: ", code.code);
    let Some((_, section)) = PAGE.split_once(heading.as_str()) else { return String::new() };
    let mut out = String::new();
    let mut in_block = false;
    for line in section.lines().skip(1) {
        if line.starts_with("```") {
            in_block = !in_block;
            continue;
        }
        if !in_block && line.starts_with('#') {
            break;
        }
        match (in_block, line.is_empty()) {
            (true, false) => out.push_str(&format!("    {line}\n")),
            (true, true) => out.push('\n'),
            (false, _) if out.is_empty() || out.ends_with("\n\n") => {}
            (false, _) => out.push('\n'),
        }
    }
    match out.trim_end() {
        "" => String::new(),
        example => format!("{example}\n"),
    }
}

/// Words in lines of at most 100 characters.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 {
            let full = column + 1 + width > 100;
            out.push(if full { '\n' } else { ' ' });
            column = if full { 0 } else { column + 1 };
        }
        out.push_str(word);
        column += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_and_its_example_is_its_own() {
        let codes = all_codes();
        assert!(codes.windows(2).all(|pair| pair[0].code < pair[1].code), "two kinds have one code");
        for code in &codes {
            let text = explain(*code);
            assert!(text.starts_with(&format!("{}: {}\n\n", code.code, code.title)), "{text}");
            assert!(text.lines().nth(2).is_some_and(|line| line.len() > 40), "{text}");
            if let Some((_, example)) = text.split_once("For example:") {
                assert!(example.contains(&format!("[{}]: ", code.code)), "{text}");
            }
        }
        assert!(
            codes.iter().filter(|code| explain(**code).contains("For example:")).count() > codes.len() / 2
        );
    }

    #[test]
    fn codes_are_found_however_they_are_written() {
        assert_eq!(find_code("e810").map(|code| code.code), Some("E0810"));
        assert_eq!(find_code("0810").map(|code| code.code), Some("E0810"));
        assert_eq!(find_code("E0810").map(|code| code.code), Some("E0810"));
        assert_eq!(find_code("E9999"), None);
        assert_eq!(find_code(""), None);
    }
}
