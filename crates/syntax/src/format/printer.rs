//! The printer's hands: it writes tokens into the document, one after the other.
//!
//! When it formats a file it walks along the tokens of that file: the tree says which token comes next and where lines
//! may break, the file says how the token is spelled and which comments stand around it. Every comment therefore
//! stays between the two tokens it stood between. A few tokens are optional (`in` before another `let`, the first
//! `|`, a last comma): they are skipped or added as the one layout demands.
//!
//! When it prints a tree without text, tokens have their ASCII spelling.

use super::doc::Op;
use crate::ast::{Ident, Literal};
use crate::token::{Comment, Token, TokenKind};
use std::borrow::Cow;
use wengert_base::real;

/// A place in the text that is formatted.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    /// The next token and the next comment.
    token: usize,
    comment: usize,
    /// Where the last thing written ends.
    end: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, tokens: Vec<Token>, comments: Vec<Comment>) -> Cursor<'t> {
        Cursor { text, tokens, comments, token: 0, comment: 0, end: 0 }
    }

    fn slice(&self, start: u32, end: u32) -> &'t str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Whether an empty line stands between the last thing written and `start`.
    fn blank_before(&self, start: u32) -> bool {
        let between = self.text.get(self.end..start as usize).unwrap_or("");
        let mut lines = between.split('\n');
        lines.next();
        lines.next_back();
        lines.any(|line| line.trim().is_empty())
    }
}

/// Writes tokens into a document.
pub(super) struct Printer<'t> {
    pub(super) ops: Vec<Op<'t>>,
    /// The indentation at the end of the document.
    pub(super) indent: usize,
    /// The text, if there is one.
    pub(super) cursor: Option<Cursor<'t>>,
}

impl<'t> Printer<'t> {
    /// A printer for the text at the cursor, or for a tree without text.
    pub(super) fn new(cursor: Option<Cursor<'t>>) -> Printer<'t> {
        Printer { ops: Vec::new(), indent: 0, cursor }
    }

    pub(super) fn push(&mut self, op: Op<'t>) {
        self.ops.push(op);
    }

    pub(super) fn space(&mut self) {
        self.push(Op::Text(Cow::Borrowed(" ")));
    }

    pub(super) fn line(&mut self) {
        self.push(Op::Line(" "));
    }

    pub(super) fn soft_line(&mut self) {
        self.push(Op::Line(""));
    }

    /// Runs `write` with a deeper indentation.
    pub(super) fn indented(&mut self, more: usize, write: impl FnOnce(&mut Self)) {
        self.push(Op::Indent(more));
        self.indent += more;
        write(self);
        self.indent -= more;
        self.push(Op::Dedent);
    }

    /// Runs `write` inside a group.
    pub(super) fn group(&mut self, widest: usize, write: impl FnOnce(&mut Self)) {
        self.push(Op::Begin(widest));
        write(self);
        self.push(Op::End);
    }

    /// A line break, and an empty line if there was one in the text.
    pub(super) fn hard_line(&mut self) {
        self.push(Op::Hardline);
        if self.blank_next() {
            self.push(Op::Blank);
        }
    }

    /// Whether an empty line stands in the text before the next thing.
    pub(super) fn blank_next(&self) -> bool {
        let Some(cursor) = &self.cursor else { return false };
        let token = cursor.tokens.iter().skip(cursor.token).find(|token| token.kind != TokenKind::In);
        let comment = cursor.comments.get(cursor.comment).map(|comment| comment.span.start);
        let start = token.map_or(u32::MAX, |token| token.span.start).min(comment.unwrap_or(u32::MAX));
        cursor.blank_before(start)
    }

    /// The next token of the text.
    pub(super) fn next_token(&self) -> Option<Token> {
        self.cursor.as_ref().and_then(|cursor| cursor.tokens.get(cursor.token).copied())
    }

    /// Writes a token.
    pub(super) fn token(&mut self, kind: TokenKind) {
        self.token_or(kind.text().into(), |other| other == kind);
    }

    /// Writes the next token if it is an optional one that `matches` accepts, and otherwise `canonical`.
    fn token_or(&mut self, canonical: Cow<'t, str>, matches: impl Fn(TokenKind) -> bool) {
        while let Some(token) = self.next_token() {
            if matches(token.kind) {
                self.leading_comments(token.span.start);
                if let Some(cursor) = &mut self.cursor {
                    cursor.token += 1;
                    cursor.end = token.span.end as usize;
                    let text = cursor.slice(token.span.start, token.span.end);
                    self.ops.push(Op::Text(text.into()));
                }
                self.trailing_comment();
                return;
            }
            if !matches!(token.kind, TokenKind::In | TokenKind::Comma | TokenKind::Bar) {
                break;
            }
            self.skip();
        }
        self.ops.push(Op::Text(canonical));
    }

    /// Leaves the next token of the text out.
    fn skip(&mut self) {
        if let Some(cursor) = &mut self.cursor {
            cursor.token += 1;
        }
    }

    /// Leaves the next token of the text out if it is `kind`.
    pub(super) fn skip_if(&mut self, kind: TokenKind) {
        if self.next_token().is_some_and(|token| token.kind == kind) {
            self.skip();
        }
    }

    /// Writes the comments that stand before `start`, each on its own line.
    pub(super) fn leading_comments(&mut self, start: u32) {
        let mut any = false;
        while let Some(cursor) = &mut self.cursor
            && let Some(comment) = cursor.comments.get(cursor.comment).copied()
            && comment.span.start < start
        {
            if cursor.blank_before(comment.span.start) {
                self.ops.push(Op::Blank);
            }
            let text = cursor.slice(comment.span.start, comment.span.end);
            self.ops.push(Op::OwnComment(text));
            cursor.comment += 1;
            cursor.end = comment.span.end as usize;
            any = true;
        }
        if any && self.cursor.as_ref().is_some_and(|cursor| start != u32::MAX && cursor.blank_before(start)) {
            self.ops.push(Op::Blank);
        }
    }

    /// Writes the comments before a closing bracket, so that they are indented like what the brackets hold.
    pub(super) fn closing_comments(&mut self) {
        let Some(cursor) = &self.cursor else { return };
        let next = cursor.tokens.iter().skip(cursor.token).find(|token| token.kind != TokenKind::Comma);
        let start = next.filter(|token| token.kind.closes()).map(|token| token.span.start);
        let waiting = cursor.comments.get(cursor.comment).map(|comment| comment.span.start);
        if let (Some(start), Some(waiting)) = (start, waiting)
            && waiting < start
        {
            self.ops.push(Op::Hardline);
            self.leading_comments(start);
        }
    }

    /// Writes the comment that stands behind the token just written, on its line.
    fn trailing_comment(&mut self) {
        let Some(cursor) = &mut self.cursor else { return };
        let next = cursor.tokens.get(cursor.token).map_or(u32::MAX, |token| token.span.start);
        if let Some(comment) = cursor.comments.get(cursor.comment).copied()
            && comment.span.start < next
            && !comment.own_line
        {
            let text = cursor.slice(comment.span.start, comment.span.end);
            self.ops.push(Op::TrailingComment(text));
            cursor.comment += 1;
            cursor.end = comment.span.end as usize;
        }
    }

    /// A comma; it goes before a comment that stands behind the element.
    pub(super) fn comma(&mut self) {
        let closing = self.ops.iter().rev().take_while(|op| matches!(op, Op::End | Op::Dedent)).count();
        let at = self.ops.len().saturating_sub(closing + 1);
        if matches!(self.ops.get(at), Some(Op::TrailingComment(_))) {
            self.skip_if(TokenKind::Comma);
            self.ops.insert(at, Op::Text(Cow::Borrowed(",")));
        } else {
            self.token(TokenKind::Comma);
        }
    }

    /// Whether the last thing written is a comment.
    pub(super) fn after_comment(&self) -> bool {
        self.ops.last().is_some_and(|op| matches!(op, Op::TrailingComment(_) | Op::OwnComment(_)))
    }

    pub(super) fn ident(&mut self, ident: Ident) {
        self.name(ident.name);
    }

    pub(super) fn name(&mut self, name: wengert_base::Name) {
        self.token_or(
            name.as_str().into(),
            |kind| matches!(kind, TokenKind::Lower(other) | TokenKind::Upper(other) if other == name),
        );
    }

    pub(super) fn number(&mut self, value: u64) {
        self.token_or(value.to_string().into(), |kind| kind == TokenKind::Number(value));
    }

    pub(super) fn string(&mut self, value: &str) {
        self.token_or(quote(value).into(), |kind| matches!(kind, TokenKind::Text(_)));
    }

    pub(super) fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Number(value) => self.number(*value),
            Literal::Real(value) => {
                self.token_or(real_text(*value).into(), |kind| matches!(kind, TokenKind::Real(_)));
            }
            Literal::String(value) => self.string(value),
            Literal::Bool(value) => self.token(if *value { TokenKind::True } else { TokenKind::False }),
        }
    }
}

/// A real literal. Literals are neither negative nor infinite in trees that the parser made; for others an
/// expression of the same value is written.
fn real_text(value: f64) -> String {
    if value.is_nan() {
        "(0.0 / 0.0)".into()
    } else if value.is_infinite() {
        format!("({}1.0 / 0.0)", if value > 0.0 { "" } else { "-" })
    } else if value.is_sign_negative() {
        format!("({})", real::show(value))
    } else {
        real::show(value)
    }
}

/// A string with quotes and escapes.
fn quote(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '"' | '\\' => text.extend(['\\', c]),
            _ if c.is_control() => text.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}
