//! Expressions: operators by precedence climbing, and the forms that extend as far to the right as possible.
//!
//! ```text
//! expr    = operand { operator operand }                     (precedence.rs)
//! operand = "-" operand | open | atom argument*
//! open    = "\" pattern+ "->" expr
//!         | "let" binding [ "in" ] expr                      ("in" may be missing before "let")
//!         | "let" "rec" binding { "and" binding } [ "in" ] expr
//!         | "if" expr "then" expr "else" expr
//!         | "match" expr "with" [ "|" ] arm { "|" arm }
//! arm     = pattern "->" expr
//! binding = ( name pattern+ | pattern ) [ ":" type ] "=" expr
//! ```

use super::{Parser, hole};
use crate::ast::{Arm, BinOp, Binding, Expr, ExprKind, Ident, Pattern, PatternKind, Target};
use crate::errors;
use crate::precedence::{self, LOWEST, POWER, Side};
use crate::token::TokenKind;
use wengert_base::Span;

impl Parser<'_> {
    /// An expression, or a hole with a report.
    pub(super) fn expr(&mut self) -> Expr {
        self.binary(LOWEST)
    }

    /// Operands joined by operators that bind at least as strongly as `least`.
    pub(super) fn binary(&mut self, least: u8) -> Expr {
        self.deeper(|parser| parser.binary_here(least), hole)
    }

    fn binary_here(&mut self, least: u8) -> Expr {
        let start = self.here();
        let mut lhs = self.operand();
        while let Some(op) = self.operator(&lhs) {
            let (strength, side) = precedence::binding(op);
            if strength < least {
                break;
            }
            let op_span = self.bump().span;
            let next = if side == Side::Right { strength } else { strength + 1 };
            let rhs = self.right_operand(op_span, next);
            let span = self.span_from(start);
            lhs =
                Expr { kind: ExprKind::Binary { op, op_span, lhs: Box::new(lhs), rhs: Box::new(rhs) }, span };
            if side == Side::Neither {
                self.check_chain(&lhs);
            }
        }
        if least == LOWEST { self.arrow_slip(lhs) } else { lhs }
    }

    /// The operand after an operator.
    fn right_operand(&mut self, op_span: Span, least: u8) -> Expr {
        if !self.begins_operand() {
            let (here, found) = (self.error_span(), self.found());
            let operator = self.source_text(op_span);
            let in_parens = self.at(TokenKind::RightParen);
            self.report(errors::expected_operand(here, operator, &found, op_span, in_parens));
            return hole(here);
        }
        self.binary(least)
    }

    /// `a < b < c` has no meaning. Precondition: `lhs` is a comparison.
    fn check_chain(&mut self, lhs: &Expr) {
        let TokenKind::Op(op) = self.kind() else { return };
        let ExprKind::Binary { rhs, .. } = &lhs.kind else { return };
        if precedence::binding(op).1 == Side::Neither {
            let (first, middle) = (self.source_text(lhs.span), self.source_text(rhs.span));
            self.report(errors::chained_comparison(
                self.here(),
                self.source_text(self.here()),
                first,
                middle,
            ));
        }
    }

    fn begins_operand(&self) -> bool {
        let kind = self.kind();
        kind.begins_atom() || kind.begins_open_form() || kind == TokenKind::Op(BinOp::Sub)
    }

    fn operand(&mut self) -> Expr {
        let start = self.here();
        match self.kind() {
            TokenKind::Op(BinOp::Sub) => {
                self.bump();
                let inner = self.binary(POWER);
                Expr { kind: ExprKind::Neg(Box::new(inner)), span: self.span_from(start) }
            }
            TokenKind::Lambda => self.lambda(),
            TokenKind::Let => self.let_expr(),
            TokenKind::If => self.if_expr(),
            TokenKind::Match => self.match_expr(),
            TokenKind::Lower(_) if self.ends_expression() => self.missing_expression(),
            TokenKind::Lower(_) => self.foreign_form().unwrap_or_else(|| self.application()),
            _ => self.application(),
        }
    }

    fn application(&mut self) -> Expr {
        let start = self.here();
        let func = self.postfix();
        let mut args = Vec::new();
        let is_literal = matches!(func.kind, ExprKind::Lit(_));
        // A literal takes no arguments; on the next line something else begins, whose beginning was forgotten.
        while self.begins_argument() && !(is_literal && self.token(0).newline_before) {
            if self.kind().begins_open_form() {
                self.report(errors::argument_needs_parentheses(self.here(), self.kind().text()));
                args.push(self.operand());
            } else {
                args.push(self.postfix());
            }
        }
        if args.is_empty() {
            return func;
        }
        self.check_callee(&func, &args);
        Expr { kind: ExprKind::App { func: Box::new(func), args }, span: self.span_from(start) }
    }

    /// Whether an argument follows. `f \x -> e` is included: it gets a message of its own.
    fn begins_argument(&self) -> bool {
        let token = self.token(0);
        let atom = token.kind.begins_atom();
        let misplaced =
            !token.newline_before && token.kind.begins_open_form() && token.kind != TokenKind::Let;
        (atom || misplaced) && !self.ends_expression() && !self.at_or()
    }

    pub(super) fn lambda(&mut self) -> Expr {
        let start = self.bump().span;
        let params = self.lambda_params(start);
        self.arrow("after the parameters of the function");
        let body = self.expr();
        Expr { kind: ExprKind::Lambda { params, body: Box::new(body) }, span: self.span_from(start) }
    }

    fn lambda_params(&mut self, start: Span) -> Vec<Pattern> {
        let mut params = Vec::new();
        loop {
            if self.begins_pattern_atom() {
                params.push(self.atom_pattern());
            } else if self.at(TokenKind::Comma) && !params.is_empty() && self.lambda_continues() {
                self.report(errors::comma_between_params(self.here()));
                self.bump();
            } else if self.at(TokenKind::Colon) && !params.is_empty() {
                self.report(errors::annotation_needs_parentheses(self.here()));
                self.bump();
                self.argument_type();
            } else {
                break;
            }
        }
        if params.is_empty() {
            let (here, found) = (self.error_span(), self.found());
            self.report(errors::lambda_without_params(here, &found));
            params.push(Pattern { kind: PatternKind::Error, span: start });
        }
        params
    }

    /// `->`, with a report where something else stands. A point, as in `λx. e`, is understood.
    pub(super) fn arrow(&mut self, purpose: &str) {
        if self.at(TokenKind::FatArrow) {
            self.report(errors::fat_arrow(self.here()));
            self.bump();
        } else if !self.eat(TokenKind::Arrow) {
            let (here, found) = (self.error_span(), self.found());
            self.report(errors::expected_token(here, "->", purpose, &found));
            if matches!(self.kind(), TokenKind::Dot | TokenKind::Equals | TokenKind::Colon) {
                self.bump();
            }
        }
    }

    fn if_expr(&mut self) -> Expr {
        let start = self.bump().span;
        let cond = self.expr();
        if !self.expect(TokenKind::Then, "after the condition of `if`") {
            self.eat(TokenKind::Colon);
        }
        let outer = std::mem::replace(&mut self.in_then, true);
        let then = self.expr();
        self.in_then = outer;
        let otherwise = self.else_branch(start);
        let kind =
            ExprKind::If { cond: Box::new(cond), then: Box::new(then), otherwise: Box::new(otherwise) };
        Expr { kind, span: self.span_from(start) }
    }

    fn else_branch(&mut self, if_span: Span) -> Expr {
        if self.at(TokenKind::Semicolon) {
            self.report(errors::semicolon(self.here()));
            self.bump();
        }
        if self.at_word(&["elif", "elsif", "elseif"]) {
            self.report(errors::elif(self.here(), self.source_text(self.here())));
            return self.deeper(Parser::if_expr, hole);
        }
        if !self.eat(TokenKind::Else) {
            let (here, found) = (self.error_span(), self.found());
            self.report(errors::if_without_else(here, &found, if_span));
            return hole(here);
        }
        if self.at(TokenKind::Colon) {
            self.report(errors::expected_expression(self.here(), "`:`"));
            self.bump();
        }
        self.expr()
    }

    fn match_expr(&mut self) -> Expr {
        let start = self.bump().span;
        let outer = std::mem::replace(&mut self.in_case, true);
        let scrutinee = self.expr();
        self.in_case = outer;
        if self.at_word(&["of"]) {
            self.report(errors::match_of(self.here()));
            self.bump();
        } else {
            self.expect(TokenKind::With, "after the value to be matched");
        }
        self.arms(start, scrutinee)
    }

    /// The arms of a `match` that begins at `start`.
    pub(super) fn arms(&mut self, start: Span, scrutinee: Expr) -> Expr {
        let mut arms = Vec::new();
        let outer = std::mem::replace(&mut self.in_arms, true);
        if !self.at(TokenKind::Bar) && !self.begins_pattern_atom() {
            let (here, found) = (self.error_span(), self.found());
            self.report(errors::match_without_arms(here, &found, start));
        } else {
            arms.push(self.arm());
            while self.at(TokenKind::Bar) {
                arms.push(self.arm());
            }
        }
        self.in_arms = outer;
        Expr { kind: ExprKind::Match { scrutinee: Box::new(scrutinee), arms }, span: self.span_from(start) }
    }

    fn arm(&mut self) -> Arm {
        let start = self.here();
        self.eat(TokenKind::Bar);
        let pattern = self.pattern();
        self.arm_slips(&pattern);
        self.arrow("between the pattern and its result");
        let body = self.expr();
        Arm { pattern, body, span: self.span_from(start) }
    }

    fn let_expr(&mut self) -> Expr {
        let start = self.bump().span;
        if self.eat(TokenKind::Rec) {
            let bindings = self.rec_bindings();
            let body = self.let_body(start);
            let kind = ExprKind::LetRec { bindings, body: Box::new(body) };
            return Expr { kind, span: self.span_from(start) };
        }
        let binding = self.binding();
        if self.at(TokenKind::And) {
            self.report(errors::and_without_rec(self.here()));
            let body = self.let_expr();
            let kind = ExprKind::Let { binding: Box::new(binding), body: Box::new(body) };
            return Expr { kind, span: self.span_from(start) };
        }
        let body = self.let_body(start);
        let kind = ExprKind::Let { binding: Box::new(binding), body: Box::new(body) };
        Expr { kind, span: self.span_from(start) }
    }

    /// `f x = … and g y = …`
    pub(super) fn rec_bindings(&mut self) -> Vec<Binding> {
        let outer = std::mem::replace(&mut self.in_rec_group, true);
        let mut bindings = vec![self.binding()];
        while self.eat(TokenKind::And) {
            bindings.push(self.binding());
        }
        self.in_rec_group = outer;
        bindings
    }

    fn let_body(&mut self, let_span: Span) -> Expr {
        let semicolon = self.at(TokenKind::Semicolon);
        if semicolon {
            self.report(errors::semicolon(self.here()));
            self.bump();
        }
        let body_of_semicolon = semicolon && self.begins_operand() && !self.binding_ahead(0);
        if self.eat(TokenKind::In) || self.at(TokenKind::Let) || body_of_semicolon {
            return self.expr();
        }
        let (here, found) = (self.error_span(), self.found());
        if let TokenKind::Lower(name) = self.kind()
            && self.binding_ahead(0)
        {
            self.report(errors::missing_let(here, name.as_str()));
            let start = self.here();
            let binding = Box::new(self.binding());
            let body = Box::new(self.deeper(|parser| parser.let_body(let_span), hole));
            return Expr { kind: ExprKind::Let { binding, body }, span: self.span_from(start) };
        }
        let continues = self.begins_operand() && !self.ends_expression();
        self.report(errors::let_without_body(here, &found, let_span, continues));
        if continues { self.expr() } else { hole(here) }
    }

    /// What stands between `let` and `in`.
    pub(super) fn binding(&mut self) -> Binding {
        let start = self.here();
        let target = self.target();
        let result = self.eat(TokenKind::Colon).then(|| self.type_expr());
        self.equals("in this binding");
        let value = self.expr();
        Binding { target, result, value, span: self.span_from(start) }
    }

    /// `=`, with a report where something else stands.
    pub(super) fn equals(&mut self, place: &str) {
        if self.eat(TokenKind::Equals) {
            return;
        }
        let (here, found) = (self.error_span(), self.found());
        self.report(errors::expected_equals(here, place, &found));
        let instead = matches!(
            self.kind(),
            TokenKind::Op(BinOp::Eq) | TokenKind::Arrow | TokenKind::FatArrow | TokenKind::Colon
        );
        if instead {
            self.bump();
        }
    }

    fn target(&mut self) -> Target {
        let start = self.here();
        if let TokenKind::Lower(name) = self.kind()
            && self.kind_at(1) != TokenKind::Dot
        {
            let name = Ident { name, span: start };
            self.bump();
            if self.begins_pattern_atom() {
                return Target::Function { name, params: self.params() };
            }
            self.position -= 1;
        }
        let pattern = self.pattern();
        if self.at(TokenKind::Comma) {
            self.report(errors::tuple_needs_parentheses(self.here()));
            while self.eat(TokenKind::Comma) {
                self.pattern();
            }
        }
        Target::Pattern(pattern)
    }

    /// Parameters up to something that cannot be one.
    pub(super) fn params(&mut self) -> Vec<Pattern> {
        let mut params = Vec::new();
        while self.begins_pattern_atom() {
            params.push(self.atom_pattern());
            if self.at(TokenKind::Comma) {
                self.report(errors::comma_between_params(self.here()));
                self.bump();
            }
        }
        params
    }
}
