//! Patterns.
//!
//! ```text
//! pattern = applied [ "as" name ]
//! applied = Ctor atom* | atom
//! atom    = "_" | name | literal | "-" number | Ctor | "(" ")" | "(" pattern { "," pattern } ")"
//!         | "(" pattern ":" type ")" | "{" field [ "=" pattern ], … "}"
//! ```

use super::Parser;
use crate::ast::{BinOp, Ident, Literal, Path, Pattern, PatternKind};
use crate::errors;
use crate::token::TokenKind;
use wengert_base::Span;

impl Parser<'_> {
    /// A pattern, or a hole with a report.
    pub(super) fn pattern(&mut self) -> Pattern {
        self.deeper(Parser::as_pattern, pattern_hole)
    }

    fn as_pattern(&mut self) -> Pattern {
        let start = self.here();
        let pattern = self.applied_pattern();
        if !self.eat(TokenKind::As) {
            return pattern;
        }
        let name = self.expect_lower("the whole value");
        let kind = PatternKind::As { pattern: Box::new(pattern), name };
        Pattern { kind, span: self.span_from(start) }
    }

    fn applied_pattern(&mut self) -> Pattern {
        let start = self.here();
        let mut head = self.atom_pattern();
        if let PatternKind::Ctor { args, .. } = &mut head.kind {
            while self.begins_pattern_atom() && !self.at_guard() {
                args.push(self.atom_pattern());
            }
            head.span = self.span_from(start);
        } else if matches!(head.kind, PatternKind::Var(_))
            && self.begins_pattern_atom()
            && !self.at_word(&["when"])
        {
            let name = self.source_text(head.span);
            self.report(errors::small_constructor(head.span, name));
            while self.begins_pattern_atom() {
                self.atom_pattern();
            }
            return pattern_hole(self.span_from(start));
        }
        head
    }

    /// Whether the next token begins an atomic pattern: an argument of a constructor or a parameter.
    pub(super) fn begins_pattern_atom(&self) -> bool {
        let kind = self.kind();
        kind.begins_atom() || matches!(kind, TokenKind::Underscore | TokenKind::Op(BinOp::Sub))
    }

    /// An atomic pattern, or a hole with a report.
    pub(super) fn atom_pattern(&mut self) -> Pattern {
        self.deeper(Parser::atom_pattern_here, pattern_hole)
    }

    fn atom_pattern_here(&mut self) -> Pattern {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Underscore => {
                self.bump();
                PatternKind::Wildcard
            }
            TokenKind::Lower(name) => {
                self.bump();
                match self.qualified(Ident { name, span: start }) {
                    Some(ctor) => PatternKind::Ctor { ctor, args: Vec::new() },
                    None => PatternKind::Var(name),
                }
            }
            TokenKind::Upper(name) => {
                self.bump();
                let ctor = Path { module: None, name: Ident { name, span: start }, span: start };
                PatternKind::Ctor { ctor, args: Vec::new() }
            }
            TokenKind::Op(BinOp::Sub) => self.negative_pattern(),
            TokenKind::LeftParen => self.paren_pattern(),
            TokenKind::LeftBrace => self.record_pattern(),
            TokenKind::LeftBracket => {
                let opening = self.here();
                self.report(errors::array_pattern(opening));
                self.bump();
                self.comma_list(opening, TokenKind::RightBracket, "the elements", Parser::pattern);
                PatternKind::Error
            }
            _ => match self.literal() {
                Some(lit) => PatternKind::Lit { lit, negative: false },
                None => return self.missing_pattern(),
            },
        };
        Pattern { kind, span: self.span_from(start) }
    }

    /// A hole where a pattern should begin.
    fn missing_pattern(&mut self) -> Pattern {
        let (here, found) = (self.error_span(), self.found());
        if self.kind().is_word() && self.kind_at(1) == TokenKind::Equals {
            self.report(errors::expected_name(here, "what is bound", &found, true));
            self.bump();
        } else {
            self.report(errors::expected_pattern(here, &found));
        }
        pattern_hole(here)
    }

    /// `-1`. Precondition: at a minus.
    fn negative_pattern(&mut self) -> PatternKind {
        self.bump();
        match self.kind() {
            TokenKind::Number(_) | TokenKind::Real(_) => match self.literal() {
                Some(lit) => PatternKind::Lit { lit, negative: true },
                None => PatternKind::Error,
            },
            _ => {
                let (here, found) = (self.error_span(), self.found());
                self.report(errors::minus_in_pattern(here, &found));
                if matches!(self.kind(), TokenKind::Lower(_)) {
                    self.bump();
                }
                PatternKind::Error
            }
        }
    }

    /// A literal, if one is next.
    pub(super) fn literal(&mut self) -> Option<Literal> {
        let literal = match self.kind() {
            TokenKind::Number(value) => {
                let after_minus = self.position.checked_sub(1).and_then(|index| self.lexed.tokens.get(index));
                let negated = after_minus.is_some_and(|token| token.kind == TokenKind::Op(BinOp::Sub));
                if value == 1 << 63 && !negated {
                    self.report(errors::int_too_large(self.here(), "9223372036854775808"));
                }
                Literal::Number(value)
            }
            TokenKind::Real(value) => Literal::Real(value),
            TokenKind::Text(index) => {
                Literal::String(self.lexed.strings.get(index as usize).cloned().unwrap_or_default())
            }
            TokenKind::True => Literal::Bool(true),
            TokenKind::False => Literal::Bool(false),
            _ => return None,
        };
        self.bump();
        Some(literal)
    }

    fn paren_pattern(&mut self) -> PatternKind {
        let opening = self.bump().span;
        let what = "the patterns of a tuple";
        let mut patterns = self.comma_list(opening, TokenKind::RightParen, what, Parser::annotated_pattern);
        if patterns.len() == 1
            && let Some((pattern, annotated)) = patterns.pop()
        {
            // `(p : t)` is one node, its parentheses included.
            return if annotated { pattern.kind } else { PatternKind::Paren(Box::new(pattern)) };
        }
        PatternKind::Tuple(patterns.into_iter().map(|(pattern, _)| pattern).collect())
    }

    /// `p` or `p : t` inside parentheses, and whether there was a type.
    fn annotated_pattern(&mut self) -> (Pattern, bool) {
        let start = self.here();
        let pattern = self.pattern();
        if !self.eat(TokenKind::Colon) {
            return (pattern, false);
        }
        let ty = self.type_expr();
        let kind = PatternKind::Annot { pattern: Box::new(pattern), ty };
        (Pattern { kind, span: self.span_from(start) }, true)
    }

    fn record_pattern(&mut self) -> PatternKind {
        let opening = self.bump().span;
        let fields = self.comma_list(opening, TokenKind::RightBrace, "the fields of a record", |parser| {
            let field = parser.expect_lower("a field");
            if parser.at(TokenKind::Colon) {
                parser.report(errors::colon_in_record(parser.here()));
                parser.bump();
                return (field, Some(parser.pattern()));
            }
            let pattern = parser.eat(TokenKind::Equals).then(|| parser.pattern());
            (field, pattern)
        });
        PatternKind::Record(fields)
    }
}

fn pattern_hole(span: Span) -> Pattern {
    Pattern { kind: PatternKind::Error, span }
}
