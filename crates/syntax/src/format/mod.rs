//! The formatter: one layout for every program.
//!
//! The tree decides where lines may break, `doc` where they do, and the tokens of the text how everything is spelled
//! and where the comments stand (see `printer`). Between items there is an empty line if there was one, or if one of
//! the two takes more than a line.
//!
//! The result is parsed again and compared with the original; should it differ in more than layout, the caller gets an
//! error instead of a changed program.

mod doc;
mod erase;
mod expr;
mod item;
mod parens;
mod printer;

pub use erase::{same_expr, same_module};

use crate::ast::{Expr, Item, Module};
use crate::errors;
use crate::lexer::lex;
use crate::parser::{Parse, parse};
use doc::render;
use printer::{Cursor, Printer};
use wengert_base::{Diagnostic, SourceId};

/// The text in the one layout, or what is wrong with it.
pub fn format(text: &str, source: SourceId) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(source, text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parsed.diagnostics);
    }
    let cursor = Cursor::new(text, lex(source, text).tokens, parsed.comments.clone());
    let mut printer = Printer::new(Some(cursor));
    let formatted = printer.module(&parsed.module);
    let again = parse(source, &formatted);
    if same_program(text, &parsed, &formatted, &again) {
        Ok(formatted)
    } else {
        Err(vec![errors::formatter_changed_program(parsed.module.span)])
    }
}

/// Prints a tree without text: ASCII spellings, parentheses where they are needed.
pub fn print_module(module: &Module) -> String {
    Printer::new(None).module(module)
}

/// Prints an expression without text: ASCII spellings, parentheses where they are needed.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::new(None);
    printer.expr(expr);
    render(&printer.ops)
}

/// Whether two files have the same tree and the same comments.
fn same_program(text: &str, parsed: &Parse, formatted: &str, again: &Parse) -> bool {
    fn comments<'a>(text: &'a str, parse: &Parse) -> Vec<&'a str> {
        let slice = |span: wengert_base::Span| text.get(span.start as usize..span.end as usize).unwrap_or("");
        parse.comments.iter().map(|comment| slice(comment.span)).collect()
    }
    again.diagnostics.is_empty()
        && same_module(&parsed.module, &again.module)
        && comments(text, parsed) == comments(formatted, again)
}

impl Printer<'_> {
    /// A whole file.
    fn module(&mut self, module: &Module) -> String {
        let mut out = String::new();
        let mut previous_is_long = false;
        for (index, item) in module.items.iter().enumerate() {
            let blank = self.blank_next();
            self.ops.clear();
            self.item(item);
            let text = render(&self.ops);
            let long = takes_several_lines(&text);
            let both_imports = matches!(item, Item::Import(_))
                && index.checked_sub(1).is_some_and(|i| matches!(module.items.get(i), Some(Item::Import(_))));
            if index > 0 && (blank || ((previous_is_long || long) && !both_imports)) {
                out.push('\n');
            }
            out.push_str(text.trim_start_matches('\n'));
            out.push('\n');
            previous_is_long = long;
        }
        let blank = self.blank_next();
        self.ops.clear();
        self.leading_comments(u32::MAX);
        let rest = render(&self.ops);
        if !rest.is_empty() {
            if blank && !out.is_empty() {
                out.push('\n');
            }
            out.push_str(rest.trim_start_matches('\n'));
            out.push('\n');
        }
        out
    }
}

/// Whether an item takes more than a line, the comments before it not counted.
fn takes_several_lines(text: &str) -> bool {
    text.lines().skip_while(|line| line.is_empty() || line.starts_with("--")).count() > 1
}
