//! Types as written.
//!
//! ```text
//! type    = product [ "->" type ]
//! product = applied { "×" applied }
//! applied = Name argument* | "[" size "]" applied | atom
//! argument = atom | "[" size "]" argument
//! atom    = name | Name | "(" ")" | "(" type { "," type } ")" | "{" field : type, … [ "|" name ] "}"
//! ```

use super::Parser;
use crate::ast::{Ident, Path, SizeExpr, Type, TypeKind};
use crate::errors;
use crate::token::TokenKind;
use wengert_base::Span;

impl Parser<'_> {
    /// A type, or a hole with a report.
    pub(super) fn type_expr(&mut self) -> Type {
        self.deeper(Parser::function_type, |span| Type { kind: TypeKind::Error, span })
    }

    fn function_type(&mut self) -> Type {
        let start = self.here();
        let from = self.product_type();
        if self.at(TokenKind::FatArrow) {
            self.report(errors::fat_arrow(self.here()));
        } else if !self.at(TokenKind::Arrow) {
            return from;
        }
        self.bump();
        let to = self.type_expr();
        Type { kind: TypeKind::Fun(Box::new(from), Box::new(to)), span: self.span_from(start) }
    }

    fn product_type(&mut self) -> Type {
        let start = self.here();
        let first = self.applied_type();
        if !self.at(TokenKind::Op(crate::ast::BinOp::Mul)) {
            return first;
        }
        let mut factors = vec![first];
        while self.eat(TokenKind::Op(crate::ast::BinOp::Mul)) {
            factors.push(self.applied_type());
        }
        Type { kind: TypeKind::Tuple(factors), span: self.span_from(start) }
    }

    fn applied_type(&mut self) -> Type {
        let start = self.here();
        if self.at(TokenKind::LeftBracket) {
            return self.array_type(Parser::applied_type);
        }
        let mut head = self.atom_type();
        if let TypeKind::Named { args, .. } = &mut head.kind {
            while self.begins_type_atom() {
                args.push(self.argument_type());
            }
            head.span = self.span_from(start);
        } else if matches!(head.kind, TypeKind::Var(_)) && self.begins_type_atom() {
            self.report(errors::type_variable_applied(self.here(), self.source_text(head.span)));
            while self.begins_type_atom() {
                self.argument_type();
            }
        }
        head
    }

    fn begins_type_atom(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Lower(_)
                | TokenKind::Upper(_)
                | TokenKind::LeftParen
                | TokenKind::LeftBracket
                | TokenKind::LeftBrace
        )
    }

    /// A type that may stand as an argument or as a field of a constructor.
    pub(super) fn argument_type(&mut self) -> Type {
        if self.at(TokenKind::LeftBracket) {
            self.array_type(Parser::argument_type)
        } else {
            self.atom_type()
        }
    }

    /// Whether a field of a constructor may begin here.
    pub(super) fn begins_field_type(&self) -> bool {
        self.begins_type_atom()
    }

    fn array_type(&mut self, element: fn(&mut Self) -> Type) -> Type {
        let start = self.bump().span;
        let Some(size) = self.size(start) else {
            if self.begins_type_atom() {
                self.deeper(element, |span| Type { kind: TypeKind::Error, span });
            }
            return Type { kind: TypeKind::Error, span: self.span_from(start) };
        };
        if !self.begins_type_atom() {
            self.report(errors::array_type_without_element(self.error_span()));
            return Type { kind: TypeKind::Error, span: self.span_from(start) };
        }
        let elem = self.deeper(element, |span| Type { kind: TypeKind::Error, span });
        Type { kind: TypeKind::Array { size, elem: Box::new(elem) }, span: self.span_from(start) }
    }

    /// The size between the brackets, and the closing one. None if that was wrong and reported.
    fn size(&mut self, opening: Span) -> Option<SizeExpr> {
        let span = self.here();
        let size = match self.kind() {
            TokenKind::Number(value) => {
                self.bump();
                SizeExpr::Number(value, span)
            }
            TokenKind::Lower(name) => {
                self.bump();
                SizeExpr::Name(Ident { name, span })
            }
            _ => SizeExpr::Unknown,
        };
        if self.eat(TokenKind::RightBracket) {
            return Some(size);
        }
        if matches!(self.kind(), TokenKind::Upper(_)) {
            self.report(errors::list_type(self.here(), self.source_text(self.here())));
        } else {
            let found = self.found();
            self.report(errors::bad_size(self.here(), &found, opening));
        }
        self.skip_in_brackets(TokenKind::RightBracket);
        self.eat(TokenKind::RightBracket);
        None
    }

    fn atom_type(&mut self) -> Type {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Upper(name) => {
                self.bump();
                let path = Path { module: None, name: Ident { name, span: start }, span: start };
                TypeKind::Named { path, args: Vec::new() }
            }
            TokenKind::Lower(name) => {
                self.bump();
                match self.qualified(Ident { name, span: start }) {
                    Some(path) => TypeKind::Named { path, args: Vec::new() },
                    None => TypeKind::Var(name),
                }
            }
            TokenKind::LeftParen => self.paren_type(),
            TokenKind::LeftBrace => self.record_type(),
            _ => {
                let (here, found) = (self.error_span(), self.found());
                self.report(errors::expected_type(here, &found));
                return Type { kind: TypeKind::Error, span: here };
            }
        };
        Type { kind, span: self.span_from(start) }
    }

    /// The rest of `m.Name`, if the next tokens are a point and a capitalized name.
    pub(super) fn qualified(&mut self, module: Ident) -> Option<Path> {
        let TokenKind::Upper(name) = self.kind_at(1) else { return None };
        if !self.at(TokenKind::Dot) || self.token(0).space_before || self.token(1).space_before {
            return None;
        }
        self.bump();
        let name = Ident { name, span: self.bump().span };
        Some(Path { module: Some(module), name, span: module.span.to(name.span) })
    }

    fn paren_type(&mut self) -> TypeKind {
        let opening = self.bump().span;
        let mut types =
            self.comma_list(opening, TokenKind::RightParen, "the types of a tuple", Parser::type_expr);
        if types.len() == 1
            && let Some(only) = types.pop()
        {
            return TypeKind::Paren(Box::new(only));
        }
        TypeKind::Tuple(types)
    }

    fn record_type(&mut self) -> TypeKind {
        let opening = self.bump().span;
        let mut rest = None;
        let fields =
            self.comma_list(opening, TokenKind::RightBrace, "the fields of a record type", |parser| {
                let field = parser.expect_lower("a field");
                if parser.at(TokenKind::Equals) {
                    parser.report(errors::equals_in_record_type(parser.here()));
                    parser.bump();
                } else {
                    parser.expect(TokenKind::Colon, "between the field and its type");
                }
                let ty = parser.type_expr();
                if parser.eat(TokenKind::Bar) {
                    rest = Some(parser.expect_lower("the rest of the record"));
                }
                (field, ty)
            });
        TypeKind::Record { fields, rest }
    }
}
