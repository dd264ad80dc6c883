//! Types as written become types of the core: names are resolved, aliases expanded, and every type, row and size
//! variable is noted, so that the caller can decide what it stands for.
//!
//! Where an error was reported, [`hole`] stands in the result; nothing is said about it again.

use crate::errors::{names, sizes, types};
use crate::interface::{AliasInfo, TypeInfo};
use crate::module::Declared;
use crate::scope::{Found, Globals};
use crate::suggest;
use crate::ty::MAX_DEPTH;
use std::collections::BTreeMap;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Row, Size, Type};
use wengert_syntax::ast;

/// What a written variable stands for, as its place tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarKind {
    Type,
    Row,
    Size,
}

/// A variable in a written type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VarUse {
    pub(crate) name: Name,
    pub(crate) kind: VarKind,
    pub(crate) span: Span,
}

/// The type that stands for an error; no variable has this name.
pub(crate) fn hole() -> Type {
    Type::Var(hole_name())
}

fn hole_name() -> Name {
    Name::new("?")
}

/// How many nodes a written type may have once its aliases are expanded.
const MAX_NODES: usize = 10_000;

/// Turns written types into types of the core.
pub(crate) struct Annotator<'g> {
    globals: &'g Globals,
    pub(crate) uses: Vec<VarUse>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether a hole stands somewhere in the result.
    pub(crate) broken: bool,
    nodes: usize,
    depth: u32,
    /// Aliases of the module that are not declared yet: meeting one means it is being expanded within itself.
    pub(crate) pending: &'g [Name],
}

impl<'g> Annotator<'g> {
    pub(crate) fn new(globals: &'g Globals) -> Annotator<'g> {
        Annotator {
            globals,
            uses: Vec::new(),
            diagnostics: Vec::new(),
            broken: false,
            nodes: 0,
            depth: 0,
            pending: &[],
        }
    }

    fn hole(&mut self) -> Type {
        self.broken = true;
        hole()
    }

    /// A written type.
    pub(crate) fn ty(&mut self, ty: &ast::Type) -> Type {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.ty_kind(ty))
    }

    fn ty_kind(&mut self, ty: &ast::Type) -> Type {
        match &ty.kind {
            ast::TypeKind::Var(name) => {
                self.note(*name, VarKind::Type, ty.span);
                Type::Var(*name)
            }
            ast::TypeKind::Named { path, args } => self.named(path, args, ty.span),
            ast::TypeKind::Fun(from, to) => Type::fun(self.ty(from), self.ty(to)),
            ast::TypeKind::Tuple(items) => Type::Tuple(items.iter().map(|item| self.ty(item)).collect()),
            ast::TypeKind::Record { fields, rest } => self.record(fields, *rest),
            ast::TypeKind::Array { size, elem } => {
                let size = match size {
                    ast::SizeExpr::Unknown => Size::Unknown,
                    ast::SizeExpr::Number(n, _) => Size::Const(*n),
                    ast::SizeExpr::Name(ident) => {
                        self.note(ident.name, VarKind::Size, ident.span);
                        Size::Var(ident.name)
                    }
                };
                Type::array(size, self.ty(elem))
            }
            ast::TypeKind::Paren(inner) => self.ty(inner),
            ast::TypeKind::Error => self.hole(),
        }
    }

    fn note(&mut self, name: Name, kind: VarKind, span: Span) {
        if let Some(before) = self.uses.iter().find(|other| other.name == name && other.kind != kind) {
            self.diagnostics.push(sizes::variable_of_two_kinds(name, span, before.span));
        }
        self.uses.push(VarUse { name, kind, span });
    }

    fn record(&mut self, fields: &[(ast::Ident, ast::Type)], rest: Option<ast::Ident>) -> Type {
        let mut row = Row { fields: BTreeMap::new(), rest: rest.map(|ident| ident.name) };
        let mut places: BTreeMap<Name, Span> = BTreeMap::new();
        for (field, ty) in fields {
            let ty = self.ty(ty);
            if let Some(before) = places.insert(field.name, field.span) {
                self.diagnostics.push(names::duplicate_field(field.name, field.span, before));
            }
            row.fields.insert(field.name, ty);
        }
        if let Some(rest) = rest {
            self.note(rest.name, VarKind::Row, rest.span);
        }
        Type::Record(row)
    }

    fn named(&mut self, path: &ast::Path, args: &[ast::Type], span: Span) -> Type {
        let args: Vec<Type> = args.iter().map(|arg| self.ty(arg)).collect();
        let name = path.name.name;
        if let Some(module) = path.module {
            return self.qualified(module, path.name, args, span);
        }
        if let Found::One(alias) = self.globals.alias(name)
            && !self.globals.own.types.contains_key(&name)
        {
            return self.expand(name, &alias, args, span);
        }
        match self.globals.data_type(name) {
            Found::One(info) => return self.data(&info, name, args, span),
            Found::Ambiguous(places) => {
                self.diagnostics.push(names::ambiguous("type", name, span, &places));
                return self.hole();
            }
            Found::Excused => return self.hole(),
            Found::Nothing => {}
        }
        if self.pending.contains(&name) {
            self.diagnostics.push(names::cyclic_alias(name, span));
            return self.hole();
        }
        self.built_in(name, args, span).unwrap_or_else(|| {
            let similar = suggest::type_name(name, self.globals.type_names());
            let library = (self.globals.elsewhere)(Declared::Type, name);
            self.diagnostics.push(names::unknown_type(name, span, similar, library));
            self.hole()
        })
    }

    fn built_in(&mut self, name: Name, args: Vec<Type>, span: Span) -> Option<Type> {
        let plain = match name.as_str() {
            "Real" => Type::Real,
            "Int" => Type::Int,
            "Bool" => Type::Bool,
            "String" => Type::String,
            "Dual" => {
                let given = args.len();
                return Some(match args.into_iter().next() {
                    Some(arg) if given == 1 => Type::Dual(Arc::new(arg)),
                    Some(_) | None => {
                        self.diagnostics.push(types::type_arguments(name, 1, given, span, None));
                        self.hole()
                    }
                });
            }
            _ => return None,
        };
        if !args.is_empty() {
            self.diagnostics.push(types::type_arguments(name, 0, args.len(), span, None));
            return Some(self.hole());
        }
        Some(plain)
    }

    fn qualified(&mut self, module: ast::Ident, name: ast::Ident, args: Vec<Type>, span: Span) -> Type {
        let Some(import) = self.globals.module(module.name) else {
            if !self.globals.has_failed_import() {
                let known = self.globals.imports.iter().filter_map(|import| import.qualifier);
                self.diagnostics.push(names::unknown_module(
                    module.name,
                    module.span,
                    suggest::similar(module.name, known),
                ));
            }
            return self.hole();
        };
        let Some(interface) = import.interface.as_deref() else { return self.hole() };
        if let Some(alias) = interface.aliases.get(&name.name).cloned() {
            return self.expand(name.name, &alias, args, span);
        }
        if let Some(info) = interface.types.get(&name.name).cloned() {
            return self.data(&info, name.name, args, span);
        }
        let known = interface.types.keys().chain(interface.aliases.keys()).copied();
        let similar = suggest::similar(name.name, known);
        self.diagnostics.push(names::not_in_module("type", name.name, name.span, &import.title, similar));
        self.hole()
    }

    fn data(&mut self, info: &Arc<TypeInfo>, name: Name, args: Vec<Type>, span: Span) -> Type {
        let wanted = info.data.params.len();
        if args.len() != wanted {
            let place = Some(info.data.span);
            self.diagnostics.push(types::type_arguments(name, wanted, args.len(), span, place));
            return self.hole();
        }
        Type::Data(info.data.name, args)
    }

    fn expand(&mut self, name: Name, alias: &AliasInfo, args: Vec<Type>, span: Span) -> Type {
        let Some(ty) = &alias.ty else { return self.hole() };
        if args.len() != alias.params.len() {
            let place = Some(alias.span);
            self.diagnostics.push(types::type_arguments(name, alias.params.len(), args.len(), span, place));
            return self.hole();
        }
        let subst: Vec<(Name, Type)> = alias.params.iter().copied().zip(args).collect();
        self.nodes = 0;
        let expanded = self.replace(ty, &subst);
        if self.nodes > MAX_NODES {
            self.diagnostics.push(types::type_too_large(span));
            return self.hole();
        }
        expanded
    }

    /// `ty` with type variables replaced; stops descending when the result gets too large.
    fn replace(&mut self, ty: &Type, subst: &[(Name, Type)]) -> Type {
        self.nodes += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.nodes = MAX_NODES + 1;
        }
        let replaced = if self.nodes > MAX_NODES { self.hole() } else { self.replace_parts(ty, subst) };
        self.depth -= 1;
        replaced
    }

    fn replace_parts(&mut self, ty: &Type, subst: &[(Name, Type)]) -> Type {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real | Type::Int | Type::Bool | Type::String => ty.clone(),
            Type::Var(name) => match subst.iter().find(|(param, _)| param == name) {
                Some((_, arg)) => {
                    self.count(arg);
                    arg.clone()
                }
                None => ty.clone(),
            },
            Type::Tuple(items) => Type::Tuple(items.iter().map(|item| self.replace(item, subst)).collect()),
            Type::Data(name, items) => {
                Type::Data(*name, items.iter().map(|item| self.replace(item, subst)).collect())
            }
            Type::Fun(from, to) => Type::fun(self.replace(from, subst), self.replace(to, subst)),
            Type::Dual(inner) => Type::Dual(Arc::new(self.replace(inner, subst))),
            Type::Array(size, elem) => Type::array(size.clone(), self.replace(elem, subst)),
            Type::Record(row) => {
                let fields = row.fields.iter().map(|(name, ty)| (*name, self.replace(ty, subst))).collect();
                Type::Record(Row { fields, rest: row.rest })
            }
        })
    }

    fn count(&mut self, ty: &Type) {
        self.nodes += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.nodes = MAX_NODES + 1;
        }
        if self.nodes <= MAX_NODES {
            self.count_parts(ty);
        }
        self.depth -= 1;
    }

    fn count_parts(&mut self, ty: &Type) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_) => {}
            Type::Tuple(items) | Type::Data(_, items) => items.iter().for_each(|item| self.count(item)),
            Type::Fun(from, to) => {
                self.count(from);
                self.count(to);
            }
            Type::Array(_, inner) | Type::Dual(inner) => self.count(inner),
            Type::Record(row) => row.fields.values().for_each(|field| self.count(field)),
        });
    }
}
