//! Layout of items, types and patterns.

use super::doc::Op;
use super::printer::Printer;
use crate::ast::{
    AliasDecl, BinOp, CtorDecl, Def, Ident, Import, ImportSource, Item, Path, Pattern, PatternKind, SizeExpr,
    Type, TypeDecl, TypeKind,
};
use crate::token::TokenKind;

const STEP: usize = 2;
const ANY: usize = usize::MAX;

/// How strongly a type must bind at its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Any type.
    Function,
    /// The left side of an arrow.
    Product,
    /// A factor of a product, the element of an array.
    Applied,
    /// An argument.
    Atom,
}

impl Printer<'_> {
    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Import(import) => self.import(import),
            Item::Def(def) => self.def(def),
            Item::Type(decl) => self.type_decl(decl),
            Item::Alias(decl) => self.alias_decl(decl),
        }
    }

    fn import(&mut self, import: &Import) {
        self.token(TokenKind::Import);
        self.space();
        match &import.source {
            ImportSource::Library(name) => self.ident(*name),
            ImportSource::File { path, .. } => self.string(path),
        }
        if let Some(alias) = import.alias {
            self.space();
            self.token(TokenKind::As);
            self.space();
            self.ident(alias);
        }
        if let Some(names) = &import.names {
            self.space();
            self.token(TokenKind::LeftParen);
            self.separated(1, names, |printer, name| printer.ident(*name));
            self.token(TokenKind::RightParen);
        }
    }

    /// Elements with commas between them, broken all or none.
    fn separated<T>(&mut self, indent: usize, elements: &[T], write: impl Fn(&mut Self, &T)) {
        self.group(ANY, |printer| {
            printer.indented(indent, |printer| {
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        printer.comma();
                        printer.line();
                    }
                    write(printer, element);
                }
            });
        });
    }

    fn def(&mut self, def: &Def) {
        self.token(TokenKind::Def);
        self.space();
        self.ident(def.name);
        self.params(&def.params);
        self.result_type(def.result.as_ref());
        self.space();
        self.token(TokenKind::Equals);
        self.body(&def.body, super::parens::Follow::Nothing);
    }

    /// Parameters with spaces before them.
    pub(super) fn params(&mut self, params: &[Pattern]) {
        self.group(ANY, |printer| {
            printer.indented(2 * STEP, |printer| {
                for param in params {
                    printer.line();
                    printer.atom_pattern(param);
                }
            });
        });
    }

    /// `: type`, with a space before it.
    pub(super) fn result_type(&mut self, ty: Option<&Type>) {
        if let Some(ty) = ty {
            self.space();
            self.token(TokenKind::Colon);
            self.space();
            self.indented(2 * STEP, |printer| printer.ty(ty));
        }
    }

    fn type_head(&mut self, keyword: TokenKind, name: Ident, params: &[Ident]) {
        self.token(keyword);
        self.space();
        self.ident(name);
        for param in params {
            self.space();
            self.ident(*param);
        }
        self.space();
        self.token(TokenKind::Equals);
    }

    fn type_decl(&mut self, decl: &TypeDecl) {
        self.type_head(TokenKind::Type, decl.name, &decl.params);
        self.group(ANY, |printer| {
            printer.indented(STEP, |printer| {
                for (index, ctor) in decl.ctors.iter().enumerate() {
                    printer.line();
                    if index == 0 {
                        printer.push(Op::IfBroken("| "));
                        printer.skip_if(TokenKind::Bar);
                    } else {
                        printer.token(TokenKind::Bar);
                        printer.space();
                    }
                    printer.ctor_decl(ctor);
                }
            });
        });
    }

    fn ctor_decl(&mut self, ctor: &CtorDecl) {
        self.ident(ctor.name);
        self.group(ANY, |printer| {
            printer.indented(2 * STEP, |printer| {
                for field in &ctor.fields {
                    printer.line();
                    printer.ty_at(field, Level::Atom);
                }
            });
        });
    }

    fn alias_decl(&mut self, decl: &AliasDecl) {
        self.type_head(TokenKind::Alias, decl.name, &decl.params);
        self.group(ANY, |printer| {
            printer.indented(STEP, |printer| {
                printer.line();
                printer.ty(&decl.ty);
            });
        });
    }

    pub(super) fn path(&mut self, path: &Path) {
        if let Some(module) = path.module {
            self.ident(module);
            self.token(TokenKind::Dot);
        }
        self.ident(path.name);
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        self.ty_at(ty, Level::Function);
    }

    fn ty_at(&mut self, ty: &Type, level: Level) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let parens = self.cursor.is_none() && type_level(ty) < level;
            self.opening_if(parens);
            self.bare_type(ty);
            self.closing_if(parens);
        });
    }

    fn bare_type(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Var(name) => self.name(*name),
            TypeKind::Named { path, args } => {
                self.path(path);
                for arg in args {
                    self.space();
                    self.ty_at(arg, Level::Atom);
                }
            }
            TypeKind::Fun(from, to) => self.group(ANY, |printer| {
                printer.ty_at(from, Level::Product);
                printer.line();
                printer.token(TokenKind::Arrow);
                printer.space();
                printer.ty(to);
            }),
            TypeKind::Tuple(types) => self.tuple_type(ty, types),
            TypeKind::Record { fields, rest } => self.record_type(fields, *rest),
            TypeKind::Array { size, elem } => {
                self.token(TokenKind::LeftBracket);
                match size {
                    SizeExpr::Unknown => {}
                    SizeExpr::Number(value, _) => self.number(*value),
                    SizeExpr::Name(name) => self.ident(*name),
                }
                self.token(TokenKind::RightBracket);
                self.ty_at(elem, Level::Applied);
            }
            TypeKind::Paren(inner) => {
                self.token(TokenKind::LeftParen);
                self.indented(1, |printer| printer.ty(inner));
                self.token(TokenKind::RightParen);
            }
            TypeKind::Error => self.token(TokenKind::Underscore),
        }
    }

    /// `(a, b)`, or `a × b` if it is written so.
    fn tuple_type(&mut self, ty: &Type, types: &[Type]) {
        let as_product =
            self.cursor.is_some() && types.first().is_some_and(|first| first.span.start == ty.span.start);
        if as_product {
            for (index, factor) in types.iter().enumerate() {
                if index > 0 {
                    self.space();
                    self.token(TokenKind::Op(BinOp::Mul));
                    self.space();
                }
                self.ty_at(factor, Level::Applied);
            }
            return;
        }
        self.token(TokenKind::LeftParen);
        self.separated(1, types, |printer, ty| printer.ty(ty));
        self.token(TokenKind::RightParen);
    }

    fn record_type(&mut self, fields: &[(Ident, Type)], rest: Option<Ident>) {
        self.group(ANY, |printer| {
            printer.token(TokenKind::LeftBrace);
            printer.indented(STEP, |printer| {
                for (index, (name, ty)) in fields.iter().enumerate() {
                    if index > 0 {
                        printer.line();
                    } else {
                        printer.soft_line();
                    }
                    printer.ident(*name);
                    printer.space();
                    printer.token(TokenKind::Colon);
                    printer.space();
                    printer.ty(ty);
                    if index + 1 < fields.len() {
                        printer.comma();
                    }
                }
                if let Some(rest) = rest {
                    printer.line();
                    printer.token(TokenKind::Bar);
                    printer.space();
                    printer.ident(rest);
                }
            });
            if !fields.is_empty() {
                printer.soft_line();
            }
            printer.token(TokenKind::RightBrace);
        });
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        self.pattern_at(pattern, false, false);
    }

    /// A pattern as a parameter or as an argument of a constructor.
    pub(super) fn atom_pattern(&mut self, pattern: &Pattern) {
        self.pattern_at(pattern, true, true);
    }

    /// A pattern; as an atom, an application and an `as` need parentheses.
    fn pattern_at(&mut self, pattern: &Pattern, atom: bool, no_as: bool) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let is_applied = matches!(&pattern.kind, PatternKind::Ctor { args, .. } if !args.is_empty());
            let weak = (atom && is_applied) || (no_as && matches!(pattern.kind, PatternKind::As { .. }));
            let parens = weak && self.cursor.is_none();
            self.opening_if(parens);
            self.bare_pattern(pattern);
            self.closing_if(parens);
        });
    }

    fn bare_pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => self.token(TokenKind::Underscore),
            PatternKind::Var(name) => self.name(*name),
            PatternKind::Lit { lit, negative } => {
                if *negative {
                    self.token(TokenKind::Op(BinOp::Sub));
                }
                self.literal(lit);
            }
            PatternKind::Ctor { ctor, args } => {
                self.path(ctor);
                for arg in args {
                    self.space();
                    self.atom_pattern(arg);
                }
            }
            PatternKind::Tuple(patterns) => {
                self.token(TokenKind::LeftParen);
                self.separated(1, patterns, Printer::pattern);
                self.token(TokenKind::RightParen);
            }
            PatternKind::Record(fields) => {
                self.token(TokenKind::LeftBrace);
                self.separated(1, fields, |printer, (name, pattern)| {
                    printer.ident(*name);
                    if let Some(pattern) = pattern {
                        printer.space();
                        printer.token(TokenKind::Equals);
                        printer.space();
                        printer.pattern(pattern);
                    }
                });
                self.token(TokenKind::RightBrace);
            }
            PatternKind::As { pattern, name } => {
                self.pattern_at(pattern, false, true);
                self.space();
                self.token(TokenKind::As);
                self.space();
                self.ident(*name);
            }
            PatternKind::Annot { pattern: inner, ty } => {
                let parens = self.opens_own_paren(pattern.span, inner.span);
                self.opening_if(parens);
                self.pattern(inner);
                self.space();
                self.token(TokenKind::Colon);
                self.space();
                self.ty(ty);
                self.closing_if(parens);
            }
            PatternKind::Paren(inner) => {
                self.token(TokenKind::LeftParen);
                self.indented(1, |printer| printer.pattern(inner));
                self.token(TokenKind::RightParen);
            }
        }
    }
}

/// How strongly a type binds.
fn type_level(ty: &Type) -> Level {
    match &ty.kind {
        TypeKind::Fun(..) => Level::Function,
        TypeKind::Named { args, .. } if !args.is_empty() => Level::Applied,
        TypeKind::Array { elem, .. } => type_level(elem).max(Level::Applied),
        TypeKind::Var(_)
        | TypeKind::Named { .. }
        | TypeKind::Tuple(_)
        | TypeKind::Record { .. }
        | TypeKind::Paren(_)
        | TypeKind::Error => Level::Atom,
    }
}
