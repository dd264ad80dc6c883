//! What is typed at a prompt: items, bindings without a body, or one expression, perhaps not finished yet.

use super::Parser;
use crate::ast::{Expr, Item};
use crate::errors;
use crate::token::{Comment, TokenKind};
use wengert_base::{Diagnostic, SourceId};

/// What was typed.
#[derive(Clone, Debug)]
pub enum Input {
    /// Nothing but space and comments.
    Nothing,
    /// Definitions; `let x = e` without a body counts as one.
    Items(Vec<Item>),
    /// An expression.
    Expr(Expr),
}

/// Parsed input.
#[derive(Clone, Debug)]
pub struct ParsedInput {
    /// The tree, with holes where something was wrong.
    pub input: Input,
    /// The comments in source order.
    pub comments: Vec<Comment>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses what was typed at a prompt.
pub fn parse_input(source: SourceId, text: &str) -> ParsedInput {
    let mut parser = Parser::new(source, text);
    let input = parser.input();
    let (comments, diagnostics) = parser.finish();
    ParsedInput { input, comments, diagnostics }
}

/// Whether more text could make sense of this: a bracket is open, an operator or a keyword waits for what follows it.
pub fn is_incomplete(text: &str) -> bool {
    let mut parser = Parser::new(SourceId(u32::MAX), text);
    parser.input();
    parser.lexed.diagnostics.is_empty() && parser.first_error_at_end == Some(true)
}

impl Parser<'_> {
    fn input(&mut self) -> Input {
        if self.at(TokenKind::End) {
            return Input::Nothing;
        }
        if self.kind().begins_item() {
            return Input::Items(self.items());
        }
        if self.at(TokenKind::Let)
            && let Some(items) = self.open_bindings()
        {
            return Input::Items(items);
        }
        Input::Expr(self.whole_expr())
    }

    /// `let x = e`, once or several times, if nothing follows. Otherwise nothing has been read.
    fn open_bindings(&mut self) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        while self.at(TokenKind::Let) {
            let start = self.bump().span;
            self.eat(TokenKind::Rec);
            self.stray_bindings(&mut items, start);
        }
        if self.at(TokenKind::End) {
            return Some(items);
        }
        self.position = 0;
        self.diagnostics.clear();
        self.last_error = None;
        self.first_error_at_end = None;
        self.quiet = false;
        None
    }

    /// An expression and nothing else.
    pub(super) fn whole_expr(&mut self) -> Expr {
        let mut expr = self.expr();
        self.limit_depth(&mut expr);
        if self.kind().begins_item() {
            self.report(errors::item_in_expression(self.here(), self.kind().text()));
        } else if !self.at(TokenKind::End) {
            if self.at(TokenKind::Semicolon) {
                self.report(errors::semicolon(self.here()));
            }
            self.unexpected(true);
        }
        expr
    }
}
