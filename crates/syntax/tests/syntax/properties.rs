//! What holds for any text and for any tree.

use crate::picture::{self, FILE};
use crate::random;
use arbtest::arbitrary::{self, Unstructured};
use arbtest::arbtest;
use wengert_base::{Diagnostic, Span};
use wengert_syntax::{format, is_incomplete, parse, parse_expr, parse_input, print_expr, print_module};

/// Pieces of programs, sensible and not.
const PIECES: &[&str] = &[
    "def",
    "type",
    "alias",
    "import",
    "as",
    "let",
    "rec",
    "and",
    "in",
    "if",
    "then",
    "else",
    "match",
    "with",
    "true",
    "false",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    ":",
    "=",
    "->",
    "|",
    "\\",
    "λ",
    "_",
    "+",
    "-",
    "*",
    "×",
    "/",
    "%",
    "^",
    "**",
    "++",
    "|>",
    ">>",
    "==",
    "!=",
    "<",
    "≤",
    "&&",
    "∨",
    "=>",
    ";",
    "x",
    "f",
    "xs",
    "Cons",
    "Nil",
    "m",
    "1",
    "2.5",
    "1e5",
    ".5",
    "5.",
    "\"s\"",
    "'q'",
    "\"open",
    "-- c",
    "# c",
    "\n",
    "\n\n",
    " ",
    "  ",
    "or",
    "fun",
    "lambda",
    "case",
    "of",
    "where",
    "elif",
    "return",
    "²",
    "∇",
    "Ω",
    "\u{feff}",
    "\r\n",
    "!",
    "::",
    "..",
    ":=",
    "/=",
    "9223372036854775808",
    "99999999999999999999",
    "0x1",
    "(*",
    "/*",
    "{-",
    "data",
    "val",
    "\n| ",
    "\ndef f = ",
    "\nlet x = 1",
    "\ntype T = A",
    "f x = 1",
];

fn soup(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut text = String::new();
    let mut any = false;
    while !u.is_empty() {
        text.push_str(u.choose(PIECES)?);
        if any || u.ratio(9, 10)? {
            text.push(' ');
        }
        any = u.ratio(1, 2)?;
    }
    Ok(text)
}

fn check_spans(text: &str, diagnostics: &[Diagnostic]) {
    let check = |span: Span| {
        assert!(span.start <= span.end, "{span:?}");
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} in {text:?}");
    };
    for diagnostic in diagnostics {
        check(diagnostic.primary.span);
        diagnostic.secondary.iter().for_each(|label| check(label.span));
        assert!(wengert_syntax::errors::CODES.iter().any(|code| code.code == diagnostic.code));
    }
}

/// No text makes the parser panic, every place it names is in the text, and the formatter is stable.
fn check_text(text: &str) {
    let parsed = parse(FILE, text);
    check_spans(text, &parsed.diagnostics);
    check_spans(text, &parse_expr(FILE, text).diagnostics);
    check_spans(text, &parse_input(FILE, text).diagnostics);
    is_incomplete(text);
    match format(text, FILE) {
        Ok(once) => {
            assert!(parsed.diagnostics.is_empty());
            assert_eq!(format(&once, FILE).as_ref(), Ok(&once), "not stable for {text:?}");
        }
        Err(problems) => {
            assert!(!parsed.diagnostics.is_empty(), "{text:?}: {}", picture::diagnostics(text, &problems));
        }
    }
}

#[test]
fn any_bytes() {
    arbtest(|u| {
        let bytes = u.bytes(u.len())?;
        check_text(&String::from_utf8_lossy(bytes));
        Ok(())
    });
}

#[test]
fn any_tokens() {
    arbtest(|u| {
        check_text(&soup(u)?);
        Ok(())
    })
    .size_max(4_000)
    .budget_ms(6_000 * budget_factor());
}

#[test]
fn a_printed_tree_is_read_back() {
    arbtest(|u| {
        let module = random::module(u)?;
        let text = print_module(&module);
        let parsed = parse(FILE, &text);
        assert!(
            parsed.diagnostics.is_empty(),
            "{}\n{text}",
            picture::diagnostics(&text, &parsed.diagnostics)
        );
        // Parentheses that the printer added are not in the tree.
        let (given, read) = (picture::module(&module), picture::module(&parsed.module));
        assert_eq!(without_parens(&given), without_parens(&read), "{text}");
        Ok(())
    })
    .size_max(20_000)
    .budget_ms(6_000 * budget_factor());
}

#[test]
fn a_printed_expression_is_read_back() {
    arbtest(|u| {
        let depth = u.int_in_range(1..=6)?;
        let expr = random::expr(u, depth)?;
        let text = print_expr(&expr);
        let parsed = parse_expr(FILE, &text);
        assert!(
            parsed.diagnostics.is_empty(),
            "{}\n{text}",
            picture::diagnostics(&text, &parsed.diagnostics)
        );
        assert_eq!(
            without_parens(&picture::expr(&expr)),
            without_parens(&picture::expr(&parsed.expr)),
            "{text}"
        );
        Ok(())
    })
    .budget_ms(4_000 * budget_factor());
}

/// A program with comments between its tokens.
fn commented(text: &str, u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut out = String::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        for word in line.split_inclusive(' ') {
            out.push_str(word);
            // Strings may hold spaces; lines with strings are left alone.
            let in_string = line.contains('"');
            match u.int_in_range(0..=12)? {
                0 if !in_string => out.push_str(&format!(" -- c{index}\n")),
                1 if !in_string => out.push_str(&format!("\n   -- o{index}\n")),
                2 if !in_string => out.push_str("\n\n"),
                3 if !in_string => out.push_str("   "),
                _ => {}
            }
        }
    }
    Ok(out)
}

#[test]
fn formatting_keeps_comments_and_is_stable() {
    arbtest(|u| {
        let module = random::module(u)?;
        let text = commented(&print_module(&module), u)?;
        let once =
            format(&text, FILE).unwrap_or_else(|e| panic!("{}\n{text}", picture::diagnostics(&text, &e)));
        let count = |text: &str| parse(FILE, text).comments.len();
        assert_eq!(count(&text), count(&once));
        let twice = format(&once, FILE).unwrap();
        assert_eq!(once, twice, "from:\n{text}");
        Ok(())
    })
    .size_max(20_000)
    .budget_ms(8_000 * budget_factor());
}

/// Removes `(paren …)` from a picture of a tree.
fn without_parens(picture: &str) -> String {
    let mut out = String::new();
    let mut stack = Vec::new();
    let mut rest = picture;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("(paren ") {
            stack.push(true);
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c == '"' {
            // A string in the picture: copied as it is.
            let end = string_end(rest);
            out.push(c);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        match c {
            '(' => stack.push(false),
            ')' if stack.pop() == Some(true) => continue,
            _ => {}
        }
        out.push(c);
    }
    out
}

/// The length of the rest of a string, closing quote included.
fn string_end(rest: &str) -> usize {
    let mut escaped = false;
    for (index, c) in rest.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '"' {
            return index + 1;
        }
    }
    rest.len()
}

#[test]
fn deep_trees_are_refused_and_nothing_overflows() {
    let deep = 100_000;
    let texts = [
        "(".repeat(deep),
        "[".repeat(deep) + &"]".repeat(deep),
        " -".repeat(deep) + "1",
        "\\x -> ".repeat(deep) + "x",
        "let x = 1 in ".repeat(deep) + "x",
        "let x = ".repeat(deep) + "x",
        "if a then ".repeat(deep),
        "if a then b else ".repeat(deep) + "c",
        "match ".repeat(deep),
        "match a with | A -> ".repeat(deep) + "x",
        "match a with | ".to_string() + &"(".repeat(deep),
        "match a with | ".to_string() + &"{x = ".repeat(deep),
        "1".to_string() + &" + 1".repeat(deep),
        "1".to_string() + &" ^ 1".repeat(deep),
        "x".to_string() + &".f".repeat(deep),
        "x".to_string() + &"[0]".repeat(deep),
        "x".to_string() + &" |> f".repeat(deep),
        "(x : ".to_string() + &"(".repeat(deep),
        "(x : ".to_string() + &"[]".repeat(deep) + "Real)",
        "(x : ".to_string() + &"a -> ".repeat(deep) + "a)",
        "{x = ".repeat(deep),
        "{x with f = ".repeat(deep),
    ];
    for text in texts {
        let parsed = parse_expr(FILE, &text);
        let some = parsed.diagnostics.iter().any(|d| d.code == "E0132");
        assert!(some, "{} …: {}", &text[..20], picture::diagnostics("", &parsed.diagnostics));
        assert!(parsed.diagnostics.len() < 4, "{} …: {:?}", &text[..20], parsed.diagnostics.len());
        check_text(&format!("def f = {text}\ndef g = 1"));
    }
}

#[test]
fn long_lists_are_not_deep() {
    let text = format!("def f = [{}]\n", vec!["1"; 20_000].join(", "));
    assert!(parse(FILE, &text).diagnostics.is_empty());
    assert!(format_again(&text));
}

fn format_again(text: &str) -> bool {
    format(text, FILE).is_ok_and(|once| format(&once, FILE) == Ok(once))
}

/// How much longer than usual to search, from the environment.
fn budget_factor() -> u64 {
    std::env::var("WENGERT_TEST_BUDGET").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

#[test]
fn time_grows_with_the_length_of_the_text() {
    for piece in [
        "{-",
        "(* ",
        "/*\n",
        "'a ",
        "// ) ",
        "(",
        "'",
        "\"",
        "\\",
        "{x = ",
        "a and b = ",
        "\nwhere x",
        "\nf x = ",
        "case x ",
    ] {
        let start = std::time::Instant::now();
        check_text(&piece.repeat(200_000 / piece.len()));
        assert!(start.elapsed().as_secs() < 20, "{piece:?} takes {:?}", start.elapsed());
    }
}
