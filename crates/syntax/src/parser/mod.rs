//! The parser: recursive descent with operator precedence, one token of lookahead for the grammar itself (more only
//! to recognize slips of the pen). It never fails: where it cannot go on it leaves a hole and a diagnostic.
//!
//! *One mistake, one message.* A diagnostic is dropped if the parser has already complained at the same token, or if
//! the lexer has. Inside brackets the parser resumes at the next comma or closing bracket, elsewhere at the next
//! item.
//!
//! *Depth.* `MAX_DEPTH` bounds the recursion here, and `depth` then bounds the finished trees, so that every later
//! recursion over a tree (its destructor included) is bounded.
//!
//! Names: `expect_x` reports if there is no `x`; `eat` moves on if it can; other functions parse what they say.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a match on the next token lists the tokens that may stand there; all others are errors"
)]

mod atom;
mod depth;
mod expr;
mod input;
mod item;
mod pattern;
mod slip;
mod types;

use crate::ast::{Expr, ExprKind, Ident, Module};
use crate::errors;
use crate::lexer::{Lexed, lex};
use crate::token::{Comment, Token, TokenKind};
use wengert_base::{Diagnostic, Name, SourceId, Span};

pub use input::{Input, ParsedInput, is_incomplete, parse_input};

/// How deep trees may be, and how deep the parser recurses.
pub const MAX_DEPTH: u32 = 2000;

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Parse {
    /// The tree, with holes where something was wrong.
    pub module: Module,
    /// The comments in source order.
    pub comments: Vec<Comment>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct ParsedExpr {
    /// The tree, with holes where something was wrong.
    pub expr: Expr,
    /// The comments in source order.
    pub comments: Vec<Comment>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file.
pub fn parse(source: SourceId, text: &str) -> Parse {
    let mut parser = Parser::new(source, text);
    parser.is_module = true;
    let module = parser.module();
    let (comments, diagnostics) = parser.finish();
    Parse { module, comments, diagnostics }
}

/// Parses a single expression.
pub fn parse_expr(source: SourceId, text: &str) -> ParsedExpr {
    let mut parser = Parser::new(source, text);
    let expr = parser.whole_expr();
    let (comments, diagnostics) = parser.finish();
    ParsedExpr { expr, comments, diagnostics }
}

/// An opening bracket that waits for its closing one.
#[derive(Clone, Copy)]
struct Open {
    closing: TokenKind,
    span: Span,
}

struct Parser<'t> {
    text: &'t str,
    lexed: Lexed,
    /// The index of the next token.
    position: usize,
    diagnostics: Vec<Diagnostic>,
    /// Where the last diagnostic was reported; a second one there would only repeat it.
    last_error: Option<usize>,
    /// Whether the first diagnostic complained about the end of the text: more input could help.
    first_error_at_end: Option<bool>,
    /// After too deep nesting everything up to the next item is skipped in silence.
    quiet: bool,
    depth: u32,
    open: Vec<Open>,
    /// Whether a whole file is parsed: then the file itself shows which words it defines.
    is_module: bool,
    /// Words of other languages that this text uses as names of its own.
    defined_words: Vec<&'static str>,
    /// Whether `and` continues a group of bindings here.
    in_rec_group: bool,
    /// Whether an arm of a `match` is being parsed.
    in_arms: bool,
    /// Whether `elif` can be meant here.
    in_then: bool,
    /// Whether `of` ends the scrutinee of a Haskell-like `case` here.
    in_case: bool,
}

impl<'t> Parser<'t> {
    fn new(source: SourceId, text: &'t str) -> Parser<'t> {
        let lexed = lex(source, text);
        Parser {
            text,
            defined_words: slip::defined_words(&lexed.tokens),
            lexed,
            position: 0,
            diagnostics: Vec::new(),
            last_error: None,
            first_error_at_end: None,
            quiet: false,
            depth: 0,
            open: Vec::new(),
            is_module: false,
            in_rec_group: false,
            in_arms: false,
            in_then: false,
            in_case: false,
        }
    }

    fn finish(self) -> (Vec<Comment>, Vec<Diagnostic>) {
        let mut diagnostics = self.lexed.diagnostics;
        diagnostics.extend(self.diagnostics);
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        (self.lexed.comments, diagnostics)
    }

    /// The token `ahead` places after the next one; past the end it is the end.
    fn token(&self, ahead: usize) -> Token {
        let tokens = &self.lexed.tokens;
        let last = tokens.last().copied().expect("the lexer ends every list of tokens with `End`");
        tokens.get(self.position + ahead).copied().unwrap_or(last)
    }

    fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    fn kind_at(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// The span of the next token.
    fn here(&self) -> Span {
        self.token(0).span
    }

    /// The span of the token before the next one.
    fn previous_span(&self) -> Span {
        let before = self.position.checked_sub(1).and_then(|index| self.lexed.tokens.get(index));
        before.map_or(self.here(), |token| token.span)
    }

    fn span_from(&self, start: Span) -> Span {
        let end = self.previous_span();
        if end.end < start.start { Span { end: start.start, ..start } } else { start.to(end) }
    }

    fn source_text(&self, span: Span) -> &'t str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The next token in words.
    fn found(&self) -> String {
        self.kind().describe(self.source_text(self.here()))
    }

    fn bump(&mut self) -> Token {
        let token = self.token(0);
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let token = self.token(0);
        if !self.quiet && !token.reported && self.last_error != Some(self.position) {
            let at_end = token.kind == TokenKind::End;
            self.first_error_at_end.get_or_insert(at_end);
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.position);
    }

    /// Moves past `kind`, or reports that it was expected (`purpose` says what for) and stays.
    fn expect(&mut self, kind: TokenKind, purpose: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        let diagnostic = errors::expected_token(self.error_span(), kind.text(), purpose, &self.found());
        self.report(diagnostic);
        false
    }

    /// Where to point when something is missing: the next token, or the end of the line if that is on a later line.
    fn error_span(&self) -> Span {
        let token = self.token(0);
        if (token.newline_before || token.kind == TokenKind::End) && self.position > 0 {
            self.previous_span().after()
        } else {
            token.span
        }
    }

    /// Runs `parse` one level deeper, or gives up if the level is too deep.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> T, give_up: impl FnOnce(Span) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            let here = self.here();
            self.report(errors::nested_too_deeply(here));
            self.quiet = true;
            self.skip_to_item();
            return give_up(here);
        }
        self.depth += 1;
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || parse(self));
        self.depth -= 1;
        result
    }

    fn skip_to_item(&mut self) {
        while !self.kind().begins_item() && !self.at(TokenKind::End) {
            self.bump();
        }
    }

    /// An identifier that begins with a small letter; `what` says what it names.
    fn expect_lower(&mut self, what: &str) -> Ident {
        let span = self.here();
        match self.kind() {
            TokenKind::Lower(name) => {
                self.bump();
                Ident { name, span }
            }
            TokenKind::Upper(name) => {
                self.report(errors::needs_small_letter(span, what, name.as_str()));
                self.bump();
                Ident { name, span }
            }
            _ => {
                let diagnostic =
                    errors::expected_name(self.error_span(), what, &self.found(), self.kind().is_word());
                self.report(diagnostic);
                // A keyword in the place of a name is most likely meant as the name.
                if self.kind().is_word() && !self.kind().begins_item() {
                    self.bump();
                }
                Ident { name: Name::new("_"), span: span_start(span) }
            }
        }
    }

    /// An identifier that begins with a capital letter; `what` says what it names.
    fn expect_upper(&mut self, what: &str) -> Ident {
        let span = self.here();
        match self.kind() {
            TokenKind::Upper(name) => {
                self.bump();
                Ident { name, span }
            }
            TokenKind::Lower(name) => {
                self.report(errors::needs_capital_letter(span, what, name.as_str()));
                self.bump();
                Ident { name, span }
            }
            _ => {
                let diagnostic =
                    errors::expected_name(self.error_span(), what, &self.found(), self.kind().is_word());
                self.report(diagnostic);
                Ident { name: Name::new("_"), span: span_start(span) }
            }
        }
    }

    /// Elements between brackets, separated by commas; a comma may follow the last. Precondition: the opening
    /// bracket, of span `opening`, has been read. Returns when the closing one has been read or reported.
    fn comma_list<T>(
        &mut self,
        opening: Span,
        closing: TokenKind,
        what: &str,
        mut element: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let mut elements = Vec::new();
        self.open.push(Open { closing, span: opening });
        while !self.at(closing) && !self.at(TokenKind::End) {
            let before = self.position;
            elements.push(self.in_brackets(&mut element));
            if self.eat(TokenKind::Comma) {
                continue;
            }
            if self.at(TokenKind::Semicolon) {
                self.report(errors::semicolon_in_list(self.here()));
                self.bump();
                continue;
            }
            if self.at(closing) {
                break;
            }
            self.list_trouble(closing, what);
            if !self.eat(TokenKind::Comma) || self.position == before {
                break;
            }
        }
        self.close();
        elements
    }

    /// Forgets for a while in which constructs the bracket stands.
    fn in_brackets<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        let saved = (self.in_arms, self.in_then, self.in_case, self.in_rec_group);
        (self.in_arms, self.in_then, self.in_case, self.in_rec_group) = (false, false, false, false);
        let result = parse(self);
        (self.in_arms, self.in_then, self.in_case, self.in_rec_group) = saved;
        result
    }

    /// Reports what stands where a comma or the closing bracket should, and skips to one of them.
    fn list_trouble(&mut self, closing: TokenKind, what: &str) {
        if self.ends_brackets() {
            return;
        }
        let (here, found) = (self.error_span(), self.found());
        self.report(errors::expected_comma(here, closing.text(), what, &found));
        self.skip_in_brackets(closing);
    }

    /// Skips to a comma or the closing bracket at this level, or to something that surely ends the bracket.
    fn skip_in_brackets(&mut self, closing: TokenKind) {
        let mut nested = 0usize;
        while !self.ends_brackets() || nested > 0 {
            if nested == 0 && (self.at(TokenKind::Comma) || self.at(closing)) {
                return;
            }
            if self.kind().begins_item() || self.at(TokenKind::End) {
                return;
            }
            if self.kind().closing().is_some() {
                nested += 1;
            } else if self.kind().closes() {
                nested = nested.saturating_sub(1);
            }
            self.bump();
        }
    }

    /// Whether the next token shows that the innermost bracket was never closed, or is closed by the wrong one.
    fn ends_brackets(&self) -> bool {
        let kind = self.kind();
        kind.begins_item() || kind == TokenKind::End || kind.closes()
    }

    /// Reads the closing bracket of the innermost open one, or reports that it is missing.
    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if self.eat(open.closing) {
            return;
        }
        let opening = self.source_text(open.span);
        let kind = self.kind();
        let others = self.open.iter().any(|other| other.closing == kind);
        if kind.closes() && !others {
            let (here, found) = (self.here(), self.found());
            self.report(errors::wrong_closing(here, open.closing.text(), &found, open.span, opening));
            self.bump();
            return;
        }
        let (here, found) = (self.error_span(), self.found());
        self.report(errors::unclosed(here, open.closing.text(), &found, open.span, opening));
    }
}

fn span_start(span: Span) -> Span {
    Span { end: span.start, ..span }
}

fn hole(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, span }
}
