//! Items: what stands at top level.
//!
//! ```text
//! module = item*
//! item   = "import" ( name | string ) [ "as" name ] [ "(" name, … ")" ]
//!        | "def" name pattern* [ ":" type ] "=" expr
//!        | "type" Name name* "=" [ "|" ] ctor { "|" ctor }
//!        | "alias" Name name* "=" type
//! ctor   = Name type-argument*
//! ```

use super::{Parser, hole};
use crate::ast::{
    AliasDecl, CtorDecl, Def, Expr, Ident, Import, ImportSource, Item, Module, Target, TypeDecl,
};
use crate::ast::{Pattern, PatternKind};
use crate::errors;
use crate::token::TokenKind;
use wengert_base::Span;

impl Parser<'_> {
    /// The whole text as a file.
    pub(super) fn module(&mut self) -> Module {
        let items = self.items();
        let end = self.here().end;
        Module { items, span: Span { start: 0, end, ..self.here() } }
    }

    /// Items up to the end.
    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at(TokenKind::End) {
            let before = self.position;
            if self.kind().begins_item() {
                self.quiet = false;
                items.push(self.item());
            } else {
                self.stray_item(&mut items);
            }
            if self.position == before {
                self.bump();
            }
        }
        items
    }

    fn item(&mut self) -> Item {
        match self.kind() {
            TokenKind::Import => self.import(),
            TokenKind::Type => self.type_decl(),
            TokenKind::Alias => self.alias_decl(),
            _ => self.def(),
        }
    }

    /// Something that is no item: reports it, understands it as an item if another language writes one so, and
    /// otherwise skips to the next item.
    fn stray_item(&mut self, items: &mut Vec<Item>) {
        let start = self.here();
        if self.at(TokenKind::Semicolon) {
            self.report(errors::semicolon(start));
            self.bump();
            return;
        }
        if self.at(TokenKind::Let) {
            self.report(errors::let_at_top_level(start));
            self.bump();
            self.eat(TokenKind::Rec);
            self.stray_bindings(items, start);
            if self.eat(TokenKind::In) {
                self.expr();
            }
            return;
        }
        if let Some((kind, word_begins)) = self.foreign_item() {
            let word = self.source_text(start);
            if !word_begins {
                self.report(errors::missing_def(start, word));
                self.stray_bindings(items, start);
                return;
            }
            self.report(errors::foreign_item(start, word, kind.text()));
            if kind != TokenKind::Import {
                items.push(self.item_after_word(kind));
                return;
            }
        }
        self.unexpected(items.last().is_some_and(|item| matches!(item, Item::Def(_))));
        self.quiet = true;
        self.skip_to_item();
        self.quiet = false;
    }

    fn item_after_word(&mut self, kind: TokenKind) -> Item {
        match kind {
            TokenKind::Type => self.type_decl(),
            TokenKind::Alias => self.alias_decl(),
            _ => self.def(),
        }
    }

    /// Bindings without `def`, as definitions.
    pub(super) fn stray_bindings(&mut self, items: &mut Vec<Item>, start: Span) {
        for mut binding in self.rec_bindings() {
            self.limit_depth(&mut binding.value);
            let (name, params) = match binding.target {
                Target::Function { name, params } => (name, params),
                Target::Pattern(Pattern { kind: PatternKind::Var(name), span }) => {
                    (Ident { name, span }, Vec::new())
                }
                Target::Pattern(pattern) => {
                    if !matches!(pattern.kind, PatternKind::Error) && !self.is_module {
                        self.diagnostics.push(errors::pattern_at_top_level(pattern.span));
                    }
                    continue;
                }
            };
            let span = start.to(binding.span);
            items.push(Item::Def(Def { name, params, result: binding.result, body: binding.value, span }));
        }
    }

    /// Reports a token that continues nothing.
    pub(super) fn unexpected(&mut self, after_expr: bool) {
        let (here, found, kind) = (self.here(), self.found(), self.kind());
        if after_expr && self.lexer_complained() {
            return;
        }
        let diagnostic = match kind {
            _ if kind.closes() => errors::unmatched_closing(here, &found),
            TokenKind::Lower(name) if name.as_str() == "where" && after_expr => errors::where_clause(here),
            TokenKind::Dot if after_expr => errors::space_around_point(here),
            TokenKind::Comma | TokenKind::Arrow | TokenKind::Upper(_) if after_expr && self.after_match() => {
                errors::arm_without_bar(here, &found)
            }
            _ if after_expr => errors::unexpected_after_expression(here, &found, kind.text()),
            _ => errors::expected_item(here, &found),
        };
        self.report(diagnostic);
    }

    /// Whether the lexer found a mistake since the last item began: then what follows may only be its consequence.
    fn lexer_complained(&self) -> bool {
        let before = self.lexed.tokens.get(..self.position).unwrap_or(&[]);
        before.iter().rev().take_while(|token| !token.kind.begins_item()).any(|token| token.reported)
    }

    /// Whether there is a `match` in the item that has begun last.
    fn after_match(&self) -> bool {
        let before = self.lexed.tokens.get(..self.position).unwrap_or(&[]);
        let mut item = before.iter().rev().take_while(|token| !token.kind.begins_item());
        item.any(|token| token.kind == TokenKind::Match)
    }

    fn def(&mut self) -> Item {
        let start = self.bump().span;
        let at_rec = self.at(TokenKind::Rec);
        if at_rec {
            self.report(errors::def_rec(self.here()));
            self.bump();
        }
        let name = self.expect_lower("a definition");
        let params = self.params();
        let python = self.at(TokenKind::Colon) && (self.next_is_return() || self.body_after_colon());
        if python {
            self.report(errors::expected_equals(self.here(), "before the body of this definition", "`:`"));
        }
        let result = (!python && self.eat(TokenKind::Colon)).then(|| self.type_expr());
        self.equals("before the body of this definition");
        let mut body = self.def_body();
        self.limit_depth(&mut body);
        Item::Def(Def { name, params, result, body, span: self.span_from(start) })
    }

    /// Whether `: return …` follows, as in Python.
    fn next_is_return(&self) -> bool {
        matches!(self.kind_at(1), TokenKind::Lower(name) if name.as_str() == "return")
    }

    /// Whether the colon ends its line and no type and `=` follow, as in Python. Precondition: at the colon.
    fn body_after_colon(&mut self) -> bool {
        if !self.token(1).newline_before {
            return false;
        }
        let (position, last_error) = (self.position, self.last_error);
        self.bump();
        self.silently(Parser::type_expr);
        let typed = self.at(TokenKind::Equals);
        (self.position, self.last_error) = (position, last_error);
        !typed
    }

    fn def_body(&mut self) -> Expr {
        if self.kind().begins_item() || self.at(TokenKind::End) {
            let here = self.error_span();
            self.report(errors::def_without_body(here));
            return hole(here);
        }
        self.expr()
    }

    fn import(&mut self) -> Item {
        let start = self.bump().span;
        let span = self.here();
        let source = match self.kind() {
            TokenKind::Text(index) => {
                self.bump();
                let path = self.lexed.strings.get(index as usize).cloned().unwrap_or_default();
                ImportSource::File { path, span }
            }
            _ => ImportSource::Library(self.expect_lower("a module")),
        };
        if self.at(TokenKind::Dot) || self.at(TokenKind::Op(crate::ast::BinOp::Div)) {
            self.report(errors::import_path(self.here()));
            while !self.token(0).newline_before && !self.kind().begins_item() && !self.at(TokenKind::End) {
                self.bump();
            }
        }
        let alias = self.eat(TokenKind::As).then(|| self.expect_lower("the alias of a module"));
        let names = self.at(TokenKind::LeftParen).then(|| self.import_names());
        if self.at(TokenKind::Semicolon) {
            self.report(errors::semicolon(self.here()));
            self.bump();
        }
        Item::Import(Import { source, alias, names, span: self.span_from(start) })
    }

    fn import_names(&mut self) -> Vec<Ident> {
        let opening = self.bump().span;
        self.comma_list(opening, TokenKind::RightParen, "the imported names", |parser| match parser.kind() {
            TokenKind::Upper(name) => Ident { name, span: parser.bump().span },
            _ => parser.expect_lower("something to import"),
        })
    }

    fn type_params(&mut self) -> Vec<Ident> {
        let mut params = Vec::new();
        while matches!(self.kind(), TokenKind::Lower(_) | TokenKind::Upper(_)) {
            params.push(self.expect_lower("a type parameter"));
        }
        params
    }

    fn type_decl(&mut self) -> Item {
        let start = self.bump().span;
        let name = self.expect_upper("a type");
        let params = self.type_params();
        self.equals("before the constructors of this type");
        let mut ctors = Vec::new();
        self.eat(TokenKind::Bar);
        if self.begins_field_type() && !matches!(self.kind(), TokenKind::Lower(_) | TokenKind::Upper(_)) {
            self.report(errors::type_needs_constructor(self.here(), name.name.as_str()));
            self.type_expr();
            return Item::Type(TypeDecl { name, params, ctors, span: self.span_from(start) });
        }
        loop {
            let ctor = self.ctor_decl();
            let empty = ctor.span.start == ctor.span.end;
            if !empty {
                ctors.push(ctor);
            }
            if !self.eat(TokenKind::Bar) {
                break;
            }
        }
        Item::Type(TypeDecl { name, params, ctors, span: self.span_from(start) })
    }

    fn ctor_decl(&mut self) -> CtorDecl {
        let start = self.here();
        let name = self.expect_upper("a constructor");
        if name.span.start == name.span.end {
            return CtorDecl { name, fields: Vec::new(), span: name.span };
        }
        let mut fields = Vec::new();
        while self.begins_field_type() && !self.ends_expression() {
            fields.push(self.argument_type());
        }
        CtorDecl { name, fields, span: self.span_from(start) }
    }

    fn alias_decl(&mut self) -> Item {
        let start = self.bump().span;
        let name = self.expect_upper("an alias");
        let params = self.type_params();
        self.equals("before the type that this alias stands for");
        let ty = self.type_expr();
        Item::Alias(AliasDecl { name, params, ty, span: self.span_from(start) })
    }
}
