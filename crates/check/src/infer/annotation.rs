//! Annotations inside definitions. A type variable belongs to the innermost definition or local function that mentions
//! it, unless one around that already does; within its owner it stands for one type, and that type must stay general.

use super::Infer;
use crate::annotate::{Annotator, VarKind, VarUse};
use crate::errors::sizes;
use crate::ty::{Arg, Preds, RowTy, Subst, Ty, UserVar, from_core};
use std::collections::BTreeMap;
use wengert_base::{Name, Span};
use wengert_syntax::ast;

/// The variables that a definition or local function owns.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) owner: u32,
    pub(crate) vars: Vec<(VarUse, Arg)>,
}

impl Infer<'_> {
    /// Opens the scope of the type variables of a definition or local function.
    pub(crate) fn push_frame(&mut self) {
        let owner = self.next_owner;
        self.next_owner += 1;
        self.frames.push(Frame { owner, vars: Vec::new() });
    }

    /// Closes it.
    pub(crate) fn pop_frame(&mut self) {
        self.frames.pop();
    }

    /// The type that an annotation stands for.
    pub(crate) fn annotation(&mut self, ty: &ast::Type) -> Ty {
        let mut annotator = Annotator::new(self.globals);
        let core = annotator.ty(ty);
        let Annotator { uses, diagnostics, broken, .. } = annotator;
        self.failed |= broken;
        diagnostics.into_iter().for_each(|diagnostic| self.report(diagnostic));
        let mut subst = Subst::default();
        for var in uses {
            let arg = self.variable(var);
            subst.insert(var.name, arg);
        }
        from_core(&core, &subst)
    }

    fn variable(&mut self, var: VarUse) -> Arg {
        if let Some((found, span)) = self.find_variable(var.name) {
            let fits = match found {
                Arg::Type(_) => var.kind == VarKind::Type,
                Arg::Row(_) => var.kind == VarKind::Row,
                Arg::Size(_) => var.kind == VarKind::Size,
            };
            if !fits && span != var.span {
                self.report(sizes::variable_of_two_kinds(var.name, var.span, span));
            }
            return found;
        }
        let owner = self.frames.last().map_or(0, |frame| frame.owner);
        let user = Some(UserVar { name: var.name, span: var.span, owner });
        let arg = match var.kind {
            VarKind::Type => Arg::Type(self.store.fresh_with(Preds::default(), user)),
            VarKind::Row => Arg::Row(RowTy { fields: BTreeMap::new(), rest: self.store.fresh_row(user) }),
            VarKind::Size => Arg::Size(self.store.fresh_size(user)),
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.vars.push((var, arg.clone()));
        }
        arg
    }

    fn find_variable(&self, name: Name) -> Option<(Arg, Span)> {
        let mut all = self.frames.iter().rev().flat_map(|frame| &frame.vars);
        all.find(|(var, _)| var.name == name).map(|(var, arg)| (arg.clone(), var.span))
    }
}
