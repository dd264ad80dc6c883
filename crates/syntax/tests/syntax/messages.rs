//! The messages: what was expected, what was found, and what to do. One mistake gives one message.

mod expressions;
mod files;
mod lexical;

use crate::picture::{self, FILE};
use expect_test::Expect;
use wengert_syntax::{parse, parse_expr};

/// The messages for each of some expressions.
fn check(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        let parsed = parse_expr(FILE, text);
        assert!(!parsed.diagnostics.is_empty(), "{text} has no mistake");
        out += &format!("## {}\n{}", text.escape_debug(), picture::diagnostics(text, &parsed.diagnostics));
    }
    expected.assert_eq(&out);
}

/// The messages for each of some files.
fn check_files(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        let parsed = parse(FILE, text);
        assert!(!parsed.diagnostics.is_empty(), "{text} has no mistake");
        let messages = picture::diagnostics(text, &parsed.diagnostics);
        let count = parsed.module.items.len();
        out += &format!("## {} ({count} items)\n{messages}", text.escape_debug());
    }
    expected.assert_eq(&out);
}
