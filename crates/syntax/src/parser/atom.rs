//! Atoms, and what may follow one without space: `.field` and `[index]`.
//!
//! ```text
//! postfix = atom { "." name | "[" expr { "," expr } "]" }    (no space before "[")
//! atom    = name | Ctor | m.Ctor | literal | "(" operator ")"
//!         | "(" ")" | "(" expr ")" | "(" expr ":" type ")" | "(" expr "," … ")"
//!         | "[" expr, … "]" | "{" field "=" expr, … "}" | "{" expr "with" field "=" expr, … "}"
//! ```

use super::{Open, Parser, hole};
use crate::ast::{Expr, ExprKind, Ident, Path};
use crate::errors;
use crate::token::TokenKind;
use wengert_base::{Name, Span};

impl Parser<'_> {
    /// An atom with its selections.
    pub(super) fn postfix(&mut self) -> Expr {
        let start = self.here();
        let mut base = self.atom();
        if matches!(base.kind, ExprKind::Error) && base.span.start == base.span.end {
            return base;
        }
        loop {
            let token = self.token(0);
            let kind = if token.kind == TokenKind::Dot && !self.ends_expression() {
                self.selection(base)
            } else if token.kind == TokenKind::LeftBracket && !token.space_before {
                self.index(base)
            } else {
                return base;
            };
            base = Expr { kind, span: self.span_from(start) };
        }
    }

    /// `base.field`, or `m.Ctor` if `base` is a name. Precondition: at the point.
    fn selection(&mut self, base: Expr) -> ExprKind {
        let point = self.token(0);
        let after = self.token(1);
        if point.space_before || after.space_before {
            self.report(errors::space_around_point(point.span));
        }
        self.bump();
        match self.kind() {
            TokenKind::Lower(name) => {
                if let ExprKind::Ctor(Path { module: None, name: module, .. }) = base.kind {
                    self.report(errors::capital_module(module.span, module.name.as_str()));
                }
                self.bump();
                ExprKind::Field { base: Box::new(base), field: Ident { name, span: after.span } }
            }
            TokenKind::Upper(name) => {
                let name = Ident { name, span: after.span };
                let module = match base.kind {
                    ExprKind::Var(module) => Ident { name: module, span: base.span },
                    _ => {
                        self.report(errors::capital_field(after.span, name.name.as_str()));
                        self.bump();
                        return ExprKind::Field { base: Box::new(base), field: name };
                    }
                };
                self.bump();
                ExprKind::Ctor(Path { module: Some(module), name, span: base.span.to(after.span) })
            }
            TokenKind::Number(position) => {
                self.report(errors::tuple_position(after.span, position));
                self.bump();
                ExprKind::Error
            }
            _ => {
                let (here, found) = (self.error_span(), self.found());
                self.report(errors::expected_field(here, &found, self.kind().is_word()));
                if self.kind().is_word() && !self.token(0).space_before {
                    self.bump();
                }
                ExprKind::Error
            }
        }
    }

    /// `base[i, j]`. Precondition: at the bracket.
    fn index(&mut self, base: Expr) -> ExprKind {
        let opening = self.bump().span;
        if self.at(TokenKind::RightBracket) {
            self.report(errors::empty_index(self.here(), self.source_text(base.span)));
        }
        let indices = self.comma_list(opening, TokenKind::RightBracket, "the indices", Parser::expr);
        if indices.is_empty() {
            return ExprKind::Error;
        }
        ExprKind::Index { base: Box::new(base), indices }
    }

    fn atom(&mut self) -> Expr {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Lower(name) => {
                self.bump();
                ExprKind::Var(name)
            }
            TokenKind::Upper(name) => {
                self.bump();
                ExprKind::Ctor(Path { module: None, name: Ident { name, span: start }, span: start })
            }
            TokenKind::LeftParen => self.paren(),
            TokenKind::LeftBracket => {
                self.bump();
                ExprKind::Array(self.comma_list(start, TokenKind::RightBracket, "the elements", Parser::expr))
            }
            TokenKind::LeftBrace => self.record(),
            TokenKind::Underscore => {
                self.report(errors::underscore_in_expression(start));
                self.bump();
                ExprKind::Error
            }
            _ => match self.literal() {
                Some(literal) => ExprKind::Lit(literal),
                None => return self.missing_expression(),
            },
        };
        Expr { kind, span: self.span_from(start) }
    }

    /// A hole where an expression should begin.
    pub(super) fn missing_expression(&mut self) -> Expr {
        let (here, found) = (self.error_span(), self.found());
        if matches!(self.kind(), TokenKind::Op(_)) && self.previous_is(TokenKind::LeftParen) {
            self.report(errors::operator_section(self.here(), self.source_text(self.here())));
            self.bump();
            if !self.at(TokenKind::RightParen) {
                self.expr();
            }
            return hole(self.span_from(here));
        }
        self.report(errors::expected_expression(here, &found));
        let mut span = here;
        // An operator without a left operand, or a stray `|`: go on with what stands behind it.
        if matches!(self.kind(), TokenKind::Op(_)) {
            self.bump();
            let rest = self.binary(0);
            span = rest.span;
        }
        hole(Span { end: span.start, ..span })
    }

    /// Whether the token before the next one is `kind`.
    pub(super) fn previous_is(&self, kind: TokenKind) -> bool {
        let before = self.position.checked_sub(1).and_then(|index| self.lexed.tokens.get(index));
        before.is_some_and(|token| token.kind == kind)
    }

    /// Everything that begins with a parenthesis.
    fn paren(&mut self) -> ExprKind {
        let opening = self.bump().span;
        if let TokenKind::Op(op) = self.kind()
            && self.kind_at(1) == TokenKind::RightParen
        {
            self.bump();
            self.bump();
            return ExprKind::Op(op);
        }
        let what = "the elements of a tuple";
        let mut elements = self.comma_list(opening, TokenKind::RightParen, what, Parser::annotated);
        if elements.len() == 1
            && let Some((expr, annotated)) = elements.pop()
        {
            let trailing_comma = self.lexed.tokens.get(self.position.wrapping_sub(2));
            if trailing_comma.is_some_and(|token| token.kind == TokenKind::Comma) {
                self.diagnostics.push(errors::tuple_of_one(self.span_from(opening)));
            }
            // `(e : t)` is one node, its parentheses included.
            return if annotated { expr.kind } else { ExprKind::Paren(Box::new(expr)) };
        }
        ExprKind::Tuple(elements.into_iter().map(|(expr, _)| expr).collect())
    }

    /// `e` or `e : t` inside parentheses, and whether there was a type.
    fn annotated(&mut self) -> (Expr, bool) {
        let start = self.here();
        let expr = self.expr();
        if !self.eat(TokenKind::Colon) {
            return (expr, false);
        }
        let ty = self.type_expr();
        let kind = ExprKind::Annot { expr: Box::new(expr), ty };
        (Expr { kind, span: self.span_from(start) }, true)
    }

    /// Everything that begins with a brace.
    fn record(&mut self) -> ExprKind {
        let opening = self.bump().span;
        let named = matches!(self.kind(), TokenKind::Lower(_) | TokenKind::Upper(_) | TokenKind::Text(_));
        let is_record = self.at(TokenKind::RightBrace)
            || ((named || self.kind().is_word())
                && matches!(
                    self.kind_at(1),
                    TokenKind::Equals | TokenKind::Colon | TokenKind::Comma | TokenKind::RightBrace
                ));
        if is_record {
            let what = "the fields of a record";
            return ExprKind::Record(self.comma_list(opening, TokenKind::RightBrace, what, Parser::field));
        }
        self.open.push(Open { closing: TokenKind::RightBrace, span: opening });
        let base = self.in_brackets(Parser::expr);
        self.open.pop();
        if !self.expect(TokenKind::With, "or `=` in a record") {
            self.open.push(Open { closing: TokenKind::RightBrace, span: opening });
            self.skip_in_brackets(TokenKind::RightBrace);
            while self.eat(TokenKind::Comma) {
                self.skip_in_brackets(TokenKind::RightBrace);
            }
            self.close();
            return ExprKind::Error;
        }
        if self.at(TokenKind::RightBrace) {
            let found = self.found();
            self.report(errors::expected_name(self.here(), "a field to be changed", &found, false));
        }
        let fields = self.comma_list(opening, TokenKind::RightBrace, "the new fields", Parser::field);
        ExprKind::Update { base: Box::new(base), fields }
    }

    /// `x = e`
    fn field(&mut self) -> (Ident, Expr) {
        if let TokenKind::Text(_) = self.kind() {
            let span = self.here();
            self.report(errors::quoted_field(span));
            self.bump();
            let _ = self.eat(TokenKind::Colon) || self.eat(TokenKind::Equals);
            return (Ident { name: Name::new("_"), span }, self.expr());
        }
        let name = self.expect_lower("a field");
        if self.at(TokenKind::Colon) {
            self.report(errors::colon_in_record(self.here()));
            self.bump();
        } else if matches!(self.kind(), TokenKind::Comma | TokenKind::RightBrace) {
            self.report(errors::field_without_value(name.span, name.name.as_str()));
            return (name, Expr { kind: ExprKind::Var(name.name), span: name.span });
        } else {
            self.expect(TokenKind::Equals, "between the field and its value");
        }
        (name, self.expr())
    }
}
