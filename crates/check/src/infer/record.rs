//! Records: literals, fields (and names qualified by a module, which look the same), updates.

use super::{Infer, Why};
use crate::errors::{names, types};
use crate::scope::{Found, Value};
use crate::suggest;
use crate::ty::{Rest, Ty};
use crate::typed::{Node, NodeKind};
use std::collections::BTreeMap;
use wengert_base::{Diagnostic, Name, Span};
use wengert_syntax::ast::{Expr, ExprKind, Ident};

impl Infer<'_> {
    pub(crate) fn record_literal(&mut self, fields: &[(Ident, Expr)], span: Span) -> (Node, Ty) {
        let mut nodes = Vec::with_capacity(fields.len());
        let mut types: BTreeMap<Name, Ty> = BTreeMap::new();
        let mut places: BTreeMap<Name, Span> = BTreeMap::new();
        for (field, value) in fields {
            let (node, ty) = self.infer(value);
            if let Some(before) = places.insert(field.name, field.span) {
                self.report(names::duplicate_field(field.name, field.span, before));
            }
            nodes.push((field.name, node));
            types.insert(field.name, ty);
        }
        (Node::new(NodeKind::Record(nodes), span), Infer::record(types))
    }

    pub(crate) fn record_update(&mut self, base: &Expr, fields: &[(Ident, Expr)], span: Span) -> (Node, Ty) {
        let (record, ty) = self.infer(base);
        let mut nodes = Vec::with_capacity(fields.len());
        let mut places: BTreeMap<Name, Span> = BTreeMap::new();
        for (field, value) in fields {
            if let Some(before) = places.insert(field.name, field.span) {
                self.report(names::duplicate_field(field.name, field.span, before));
            }
            let wanted = self.field_type(&ty, *field, base.span);
            let node = self.check(value, &wanted, &Why::Update(field.name));
            nodes.push((field.name, node));
        }
        (Node::new(NodeKind::Update(Box::new(record), nodes), span), ty)
    }

    pub(crate) fn field(&mut self, base: &Expr, field: Ident, span: Span) -> (Node, Ty) {
        if let Some(module) = self.qualifier(base) {
            return self.qualified(module, field, span);
        }
        if let Some(diagnostic) = self.forgotten_import(base) {
            self.report(diagnostic);
            return (Node::error(span), Ty::Error);
        }
        let (record, ty) = self.infer(base);
        let found = self.field_type(&ty, field, base.span);
        (Node::new(NodeKind::Field(Box::new(record), field.name), span), found)
    }

    /// The module that an expression before a point names, if it does.
    pub(crate) fn qualifier(&self, base: &Expr) -> Option<Ident> {
        let ExprKind::Var(name) = &base.kind else { return None };
        let hidden = self.local(*name).is_some() || self.globals.own_values.contains_key(name);
        (!hidden && self.globals.module(*name).is_some()).then_some(Ident { name: *name, span: base.span })
    }

    /// `linalg.solve` without an import of `linalg`: nothing else is called so, and nothing is spelt like it.
    fn forgotten_import(&self, base: &Expr) -> Option<Diagnostic> {
        let ExprKind::Var(name) = &base.kind else { return None };
        if self.local(*name).is_some() || !matches!(self.globals.value(*name), Found::Nothing) {
            return None;
        }
        let known: Vec<Name> = self.local_names().chain(self.globals.value_names()).collect();
        if !names::is_foreign_module(*name) && suggest::value(*name, known.into_iter()).is_some() {
            return None;
        }
        let modules = self.globals.imports.iter().filter_map(|import| import.qualifier);
        Some(names::unknown_module(*name, base.span, suggest::similar(*name, modules)))
    }

    /// The value `module.name`; reports if there is none.
    pub(crate) fn qualified_value(&mut self, module: Ident, name: Ident) -> Option<Value> {
        let interface = self.module_interface(module)?;
        if let Some(value) = interface.values.get(&name.name) {
            return Some(Value::Done(value.clone()));
        }
        let similar = suggest::similar(name.name, interface.values.keys().copied());
        self.report(names::not_in_module("definition", name.name, name.span, module.name.as_str(), similar));
        None
    }

    fn qualified(&mut self, module: Ident, name: Ident, span: Span) -> (Node, Ty) {
        match self.qualified_value(module, name) {
            Some(value) => self.use_global(&value, name.name, span),
            None => (Node::error(span), Ty::Error),
        }
    }

    /// The type of a field of a record of type `ty`; reports if it has none.
    fn field_type(&mut self, ty: &Ty, field: Ident, record: Span) -> Ty {
        let found = self.store.fresh();
        let wanted = self.open_record(field.name, found.clone());
        let Err(clash) = self.store.unify(ty, &wanted) else { return found };
        let shown = self.show(ty);
        if let Ty::Record(row) = self.store.shallow(ty) {
            let flat = self.store.flat_row(&row);
            let closed = !matches!(flat.rest, Rest::Error);
            let similar = suggest::similar(field.name, flat.fields.keys().copied());
            if closed && !flat.fields.contains_key(&field.name) {
                self.report(types::no_such_field(field.name, field.span, record, &shown, similar));
                return Ty::Error;
            }
        }
        match self.explain_common(&clash, record) {
            Some(diagnostic) => self.report(diagnostic),
            None => {
                let is_function = !matches!(self.globals.value(field.name), Found::Nothing);
                self.report(types::not_a_record(field.name, field.span, record, &shown, is_function));
            }
        }
        Ty::Error
    }
}
