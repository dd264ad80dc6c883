//! Slips of users of ML, Haskell, Python and JavaScript: recognized, named, and understood as what was meant, so that
//! the rest of the file is still checked.
//!
//! Words such as `fun` or `return` are ordinary names here; they are taken for slips only where no program could use
//! them so, or where the file itself does not define them.

use super::{Parser, hole};
use crate::ast::{BinOp, Expr, ExprKind, Literal, Pattern};
use crate::errors;
use crate::token::{Token, TokenKind};
use wengert_base::Span;

/// How far ahead a slip is looked for.
const LOOKAHEAD: usize = 40;

/// Words with which other languages begin what `def`, `type`, `alias` and `import` begin here.
const ITEM_WORDS: [(&str, TokenKind); 22] = [
    ("val", TokenKind::Def),
    ("var", TokenKind::Def),
    ("const", TokenKind::Def),
    ("fun", TokenKind::Def),
    ("fn", TokenKind::Def),
    ("func", TokenKind::Def),
    ("function", TokenKind::Def),
    ("define", TokenKind::Def),
    ("entry", TokenKind::Def),
    ("data", TokenKind::Type),
    ("newtype", TokenKind::Type),
    ("enum", TokenKind::Type),
    ("datatype", TokenKind::Type),
    ("struct", TokenKind::Alias),
    ("record", TokenKind::Alias),
    ("typedef", TokenKind::Alias),
    ("open", TokenKind::Import),
    ("use", TokenKind::Import),
    ("using", TokenKind::Import),
    ("include", TokenKind::Import),
    ("require", TokenKind::Import),
    ("from", TokenKind::Import),
];

/// Words of other languages that are slips unless the text itself binds them.
const SLIP_WORDS: [&str; 12] =
    ["or", "return", "lambda", "fun", "fn", "function", "case", "switch", "elif", "elsif", "elseif", "of"];

/// Which of these words occur where names are bound: in heads of definitions, parameters and patterns. After an
/// import nobody knows what is bound, so all of them count.
pub(super) fn defined_words(tokens: &[Token]) -> Vec<&'static str> {
    let mut defined = Vec::new();
    let mut in_head = false;
    for token in tokens {
        match token.kind {
            TokenKind::Import => {
                return SLIP_WORDS.into_iter().chain(ITEM_WORDS.iter().map(|(word, _)| *word)).collect();
            }
            TokenKind::Def
            | TokenKind::Let
            | TokenKind::Rec
            | TokenKind::And
            | TokenKind::Lambda
            | TokenKind::Bar => in_head = true,
            TokenKind::Equals | TokenKind::Arrow | TokenKind::In => in_head = false,
            TokenKind::Lower(name) if in_head => {
                let items = ITEM_WORDS.iter().map(|(word, _)| *word);
                defined.extend(SLIP_WORDS.into_iter().chain(items).find(|word| *word == name.as_str()));
            }
            _ => {}
        }
    }
    defined
}

impl Parser<'_> {
    /// Whether the next token is one of these ordinary names.
    pub(super) fn at_word(&self, words: &[&str]) -> bool {
        matches!(self.kind(), TokenKind::Lower(name) if words.contains(&name.as_str()))
    }

    /// Whether the text uses the next token's name as a name of its own: then it is no slip.
    fn is_defined(&self) -> bool {
        self.at_word(&self.defined_words)
    }

    /// Whether the next token begins its line without indentation.
    fn at_margin(&self) -> bool {
        let start = self.here().start as usize;
        let before = self.text.get(..start).unwrap_or("");
        before.is_empty() || before.ends_with(['\n', '\u{feff}'])
    }

    /// Whether an expression surely ends before the next token.
    pub(super) fn ends_expression(&self) -> bool {
        let kind = self.kind();
        if kind.begins_item() {
            return true;
        }
        let TokenKind::Lower(name) = kind else { return false };
        match name.as_str() {
            "elif" | "elsif" | "elseif" if self.in_then && !self.is_defined() => return true,
            "of" if self.in_case && !self.is_defined() => return true,
            "where" if self.open.is_empty() => return self.binding_ahead(1),
            _ => {}
        }
        if !self.is_module || !self.open.is_empty() || !self.token(0).newline_before || !self.at_margin() {
            return false;
        }
        self.foreign_item().is_some_and(|(_, word_begins)| !word_begins || !self.is_defined())
    }

    /// The item that the next tokens are meant to begin, and whether a word of another language begins it (otherwise a
    /// name and `=` stand there without any word).
    pub(super) fn foreign_item(&self) -> Option<(TokenKind, bool)> {
        let TokenKind::Lower(name) = self.kind() else { return None };
        if name.as_str() == "where" {
            return None;
        }
        let known = ITEM_WORDS.iter().find(|(word, _)| *word == name.as_str());
        let named = matches!(self.kind_at(1), TokenKind::Lower(_) | TokenKind::Upper(_) | TokenKind::Text(_));
        if let Some((_, kind)) = known
            && named
            && !self.token(1).newline_before
        {
            let sure = *kind == TokenKind::Import || self.line_contains_equals();
            return sure.then_some((*kind, true));
        }
        self.binding_ahead(0).then_some((TokenKind::Def, false))
    }

    fn line_contains_equals(&self) -> bool {
        (1..LOOKAHEAD)
            .take_while(|ahead| !self.token(*ahead).newline_before && self.kind_at(*ahead) != TokenKind::End)
            .any(|ahead| {
                matches!(self.kind_at(ahead), TokenKind::Equals | TokenKind::Arrow | TokenKind::LeftBrace)
            })
    }

    /// Whether a name, parameters and `=` stand `ahead` tokens ahead, on one line.
    pub(super) fn binding_ahead(&self, ahead: usize) -> bool {
        if !matches!(self.kind_at(ahead), TokenKind::Lower(_)) {
            return false;
        }
        let mut nested = 0usize;
        for ahead in ahead + 1..ahead + LOOKAHEAD {
            let token = self.token(ahead);
            if token.newline_before {
                return false;
            }
            if token.kind.closing().is_some() {
                nested += 1;
            } else if token.kind.closes() && nested > 0 {
                nested -= 1;
            } else if nested == 0 && matches!(token.kind, TokenKind::Equals | TokenKind::Colon) {
                return true;
            } else if nested == 0 && !token.kind.begins_atom() && token.kind != TokenKind::Underscore {
                return false;
            }
        }
        false
    }

    /// The operator at the next token, or the one that a slip stands for; `lhs` is its left operand.
    pub(super) fn operator(&mut self, lhs: &Expr) -> Option<BinOp> {
        match self.kind() {
            TokenKind::Op(op) => Some(op),
            TokenKind::And if !self.in_rec_group && !self.binding_ahead(1) => {
                self.report(errors::word_operator(self.here(), "and", "&&"));
                Some(BinOp::And)
            }
            TokenKind::Equals => {
                let defined = self.missing_binder(lhs);
                let in_record = self.open.last().is_some_and(|open| open.closing == TokenKind::RightBrace);
                self.report(errors::equals_in_expression(self.here(), defined, in_record));
                Some(BinOp::Eq)
            }
            TokenKind::Lower(_) if self.at_or() => {
                self.report(errors::word_operator(self.here(), "or", "||"));
                Some(BinOp::Or)
            }
            _ => None,
        }
    }

    /// For an `=` after `lhs`: the name that it seems to define, if that name begins a line.
    fn missing_binder(&self, lhs: &Expr) -> Option<&'static str> {
        let mut index = self.position.checked_sub(1)?;
        loop {
            let token = self.lexed.tokens.get(index)?;
            if token.span.start < lhs.span.start || !(token.kind.begins_atom() || token.kind.closes()) {
                return None;
            }
            if token.newline_before {
                let TokenKind::Lower(name) = token.kind else { return None };
                return Some(name.as_str());
            }
            index = index.checked_sub(1)?;
        }
    }

    /// Whether the next token is `or` between two operands in a file that does not define `or`.
    pub(super) fn at_or(&self) -> bool {
        if !self.at_word(&["or"]) {
            return false;
        }
        let operand_follows = self.kind_at(1).begins_atom() || self.kind_at(1).begins_open_form();
        operand_follows && self.is_module && !self.is_defined()
    }

    /// `x -> e` and `x => e` without a backslash.
    pub(super) fn arrow_slip(&mut self, lhs: Expr) -> Expr {
        if !matches!(self.kind(), TokenKind::Arrow | TokenKind::FatArrow) {
            return lhs;
        }
        let spelling = self.source_text(self.here());
        self.report(errors::arrow_in_expression(self.here(), spelling, self.in_arms));
        self.bump();
        self.expr();
        hole(lhs.span)
    }

    /// `fun x -> e`, `fn x => e`, `lambda x: e`, `case e of …`, `return e`.
    pub(super) fn foreign_form(&mut self) -> Option<Expr> {
        if self.is_defined() {
            return None;
        }
        if self.at_word(&["fun", "fn", "lambda", "function"]) && self.lambda_continues() {
            return Some(self.foreign_lambda());
        }
        if self.at_word(&["case", "switch"]) && self.case_continues() {
            return Some(self.foreign_case());
        }
        let argument_follows = self.kind_at(1).begins_atom();
        if self.at_word(&["return"]) && argument_follows && self.is_module {
            self.report(errors::return_statement(self.here()));
            self.bump();
            return Some(self.expr());
        }
        None
    }

    /// Whether only parameters stand between the next token and an arrow (or the `:` of Python's `lambda`).
    pub(super) fn lambda_continues(&self) -> bool {
        let python = self.at_word(&["lambda"]);
        let mut nested = 0usize;
        for ahead in 1..LOOKAHEAD {
            let kind = self.kind_at(ahead);
            if kind.closing().is_some() {
                nested += 1;
            } else if kind.closes() {
                if nested == 0 {
                    return false;
                }
                nested -= 1;
            } else if nested == 0 {
                if matches!(kind, TokenKind::Arrow | TokenKind::FatArrow)
                    || (python && kind == TokenKind::Colon)
                {
                    return true;
                }
                if !kind.begins_atom() && !matches!(kind, TokenKind::Underscore | TokenKind::Comma) {
                    return false;
                }
            }
        }
        false
    }

    /// Whether `when` and a condition, not a variable called so, stand before the arrow of an arm.
    pub(super) fn at_guard(&self) -> bool {
        self.at_word(&["when"])
            && (1..LOOKAHEAD)
                .map(|ahead| self.kind_at(ahead))
                .take_while(|kind| !matches!(kind, TokenKind::Arrow | TokenKind::FatArrow | TokenKind::End))
                .any(|kind| matches!(kind, TokenKind::Op(op) if op != BinOp::Sub))
    }

    fn foreign_lambda(&mut self) -> Expr {
        let start = self.here();
        let python = self.at_word(&["lambda"]);
        self.report(errors::foreign_lambda(start, self.source_text(start)));
        self.bump();
        let params: Vec<Pattern> = self.silently(|parser| {
            let params = parser.params();
            let _ = python && parser.eat(TokenKind::Colon);
            let _ = parser.eat(TokenKind::Arrow) || parser.eat(TokenKind::FatArrow);
            params
        });
        let body = self.expr();
        if params.is_empty() {
            return hole(self.span_from(start));
        }
        Expr { kind: ExprKind::Lambda { params, body: Box::new(body) }, span: self.span_from(start) }
    }

    /// Parses without reporting: what is wrong here has been said already.
    pub(super) fn silently<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.quiet, true);
        let result = parse(self);
        self.quiet = outer;
        result
    }

    /// Whether `of` follows before anything that cannot stand in a scrutinee.
    fn case_continues(&self) -> bool {
        self.kind_at(1).begins_atom()
            && (2..LOOKAHEAD)
                .map(|ahead| self.kind_at(ahead))
                .take_while(|kind| {
                    !kind.begins_item() && !matches!(kind, TokenKind::Equals | TokenKind::Arrow)
                })
                .any(|kind| matches!(kind, TokenKind::Lower(name) if name.as_str() == "of"))
    }

    fn foreign_case(&mut self) -> Expr {
        let start = self.here();
        self.report(errors::case_of(start, self.source_text(start)));
        self.bump();
        let outer = std::mem::replace(&mut self.in_case, true);
        let scrutinee = self.expr();
        self.in_case = outer;
        if self.at_word(&["of"]) {
            self.bump();
        }
        self.arms(start, scrutinee)
    }

    /// After the pattern of an arm: guards, alternatives, and other signs than the arrow.
    pub(super) fn arm_slips(&mut self, pattern: &Pattern) {
        if self.at(TokenKind::Bar) {
            self.report(errors::or_pattern(self.here(), self.source_text(pattern.span)));
            while self.eat(TokenKind::Bar) {
                self.pattern();
            }
        }
        if self.at(TokenKind::If) || self.at_word(&["when"]) {
            self.report(errors::guard(self.here(), self.source_text(self.here())));
            self.bump();
            self.silently(|parser| parser.binary(1));
        }
    }

    /// Numbers and strings are no functions: a comma or an operator is missing.
    pub(super) fn check_callee(&mut self, func: &Expr, args: &[Expr]) {
        let ExprKind::Lit(literal) = &func.kind else { return };
        let arm_without_bar = matches!(self.kind(), TokenKind::Arrow | TokenKind::FatArrow) && self.in_arms;
        if arm_without_bar || self.at(TokenKind::Equals) {
            // What is really wrong is said there.
            return;
        }
        let Some(first) = args.first() else { return };
        let in_array = self.open.last().is_some_and(|open| open.closing == TokenKind::RightBracket);
        let elements: Vec<&str> =
            std::iter::once(func).chain(args).map(|element| self.source_text(element.span)).collect();
        let is_number = matches!(literal, Literal::Number(_) | Literal::Real(_));
        let diagnostic = errors::literal_applied(func.span, first.span, &elements, is_number, in_array);
        self.report_once_at(first.span, diagnostic);
    }

    /// Reports something found out after the tokens were read, unless the lexer complained about them.
    fn report_once_at(&mut self, span: Span, diagnostic: wengert_base::Diagnostic) {
        let index = self.lexed.tokens.partition_point(|token| token.span.start < span.start);
        let reported = self.lexed.tokens.get(index).is_some_and(|token| token.reported);
        if !reported && !self.quiet {
            self.first_error_at_end.get_or_insert(false);
            self.diagnostics.push(diagnostic);
        }
    }
}
