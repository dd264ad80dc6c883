//! Patterns: checked against the type of what they match; their variables come into scope as monomorphic.

use super::Infer;
use crate::errors::{names, patterns};
use crate::interface::{CtorInfo, Interface};
use crate::module::Declared;
use crate::scope::Found;
use crate::suggest;
use crate::ty::{Arg, Rest, RowTy, Source, Subst, Ty, from_core};
use crate::typed::Pat;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::{CtorRef, Lit, Pred};
use wengert_syntax::ast::{Ident, Literal, Path, Pattern, PatternKind};

/// A constructor with fresh arguments for its data type.
pub(crate) struct CtorUse {
    pub(crate) ctor: CtorRef,
    pub(crate) args: Rc<[Ty]>,
    pub(crate) fields: Vec<Ty>,
    pub(crate) result: Ty,
}

impl Infer<'_> {
    /// The pattern, which must match values of type `want`; `matched` is where such a value comes from.
    pub(crate) fn pattern(&mut self, pattern: &Pattern, want: &Ty, matched: Span) -> Pat {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.pattern_kind(pattern, want, matched))
    }

    fn pattern_kind(&mut self, pattern: &Pattern, want: &Ty, matched: Span) -> Pat {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Wildcard => Pat::Wildcard,
            PatternKind::Error => {
                self.failed = true;
                Pat::Wildcard
            }
            PatternKind::Var(name) => Pat::Bind(self.enter_mono(*name, want.clone()), want.clone()),
            PatternKind::Paren(inner) => self.pattern(inner, want, matched),
            PatternKind::As { pattern, name } => {
                let inner = self.pattern(pattern, want, matched);
                let var = self.enter_mono(name.name, want.clone());
                Pat::As(Box::new(inner), var, want.clone())
            }
            PatternKind::Annot { pattern: inner, ty } => {
                let annotated = self.annotation(ty);
                self.fit_pattern(span, want, &annotated, matched);
                self.annotated.push((span, annotated.clone()));
                self.pattern(inner, &annotated, matched)
            }
            PatternKind::Lit { lit, negative } => self.literal_pattern(lit, *negative, span, want, matched),
            PatternKind::Tuple(items) => self.tuple_pattern(items, span, want, matched),
            PatternKind::Record(fields) => self.record_pattern(fields, span, want, matched),
            PatternKind::Ctor { ctor, args } => self.ctor_pattern(ctor, args, span, want, matched),
        }
    }

    fn fit_pattern(&mut self, span: Span, want: &Ty, got: &Ty, matched: Span) {
        if let Err(clash) = self.store.unify(want, got) {
            let (want, got) = self.show_pair(want, got);
            match self.explain_common(&clash, span) {
                Some(diagnostic) => self.report(diagnostic),
                None => self.report(patterns::wrong_type(span, matched, &want, &got)),
            }
        }
    }

    fn literal_pattern(
        &mut self,
        lit: &Literal,
        negative: bool,
        span: Span,
        want: &Ty,
        matched: Span,
    ) -> Pat {
        match lit {
            Literal::Number(value) => {
                let ty = self.store.fresh_pred(Pred::Num, Source::Literal, span);
                self.fit_pattern(span, want, &ty, matched);
                Pat::Number { value: *value, negative, ty: want.clone() }
            }
            Literal::Real(value) => {
                self.fit_pattern(span, want, &Ty::Real, matched);
                Pat::Lit(Lit::Real(if negative { -value } else { *value }))
            }
            Literal::String(text) => {
                self.fit_pattern(span, want, &Ty::String, matched);
                Pat::Lit(Lit::String(Arc::from(text.as_str())))
            }
            Literal::Bool(value) => {
                self.fit_pattern(span, want, &Ty::Bool, matched);
                Pat::Lit(Lit::Bool(*value))
            }
        }
    }

    fn tuple_pattern(&mut self, items: &[Pattern], span: Span, want: &Ty, matched: Span) -> Pat {
        if let Ty::Tuple(parts) = self.store.shallow(want)
            && parts.len() != items.len()
        {
            let shown = self.show(want);
            self.report(patterns::tuple_length(span, matched, items.len(), parts.len(), &shown));
            return self.poisoned(items);
        }
        let parts: Rc<[Ty]> = if let Ty::Tuple(parts) = self.store.shallow(want) {
            parts
        } else {
            let parts: Rc<[Ty]> = items.iter().map(|_| self.store.fresh()).collect();
            self.fit_pattern(span, want, &Ty::Tuple(Rc::clone(&parts)), matched);
            parts
        };
        Pat::Tuple(
            items.iter().zip(parts.iter()).map(|(item, part)| self.pattern(item, part, matched)).collect(),
        )
    }

    /// Brings the variables of patterns into scope that already have an error.
    fn poisoned(&mut self, items: &[Pattern]) -> Pat {
        for item in items {
            self.pattern(item, &Ty::Error, item.span);
        }
        Pat::Wildcard
    }

    fn record_pattern(
        &mut self,
        fields: &[(Ident, Option<Pattern>)],
        span: Span,
        want: &Ty,
        matched: Span,
    ) -> Pat {
        let mut types: BTreeMap<Name, Ty> = BTreeMap::new();
        let mut places: BTreeMap<Name, Span> = BTreeMap::new();
        for (field, _) in fields {
            if let Some(before) = places.insert(field.name, field.span) {
                self.report(names::duplicate_field(field.name, field.span, before));
            }
            types.insert(field.name, self.store.fresh());
        }
        let rest = self.store.fresh_row(None);
        let got = Ty::Record(Rc::new(RowTy { fields: types.clone(), rest }));
        if let Ty::Record(row) = self.store.shallow(want) {
            let flat = self.store.flat_row(&row);
            let missing = fields.iter().find(|(field, _)| !flat.fields.contains_key(&field.name));
            if let (Some((field, _)), Rest::Closed) = (missing, flat.rest) {
                let shown = self.show(want);
                let similar = suggest::similar(field.name, flat.fields.keys().copied());
                self.report(patterns::no_such_field(field.name, field.span, matched, &shown, similar));
                for (field, inner) in fields {
                    match inner {
                        Some(inner) => drop(self.pattern(inner, &Ty::Error, matched)),
                        None => drop(self.enter_mono(field.name, Ty::Error)),
                    }
                }
                return Pat::Wildcard;
            }
        }
        self.fit_pattern(span, want, &got, matched);
        let mut parts = Vec::with_capacity(fields.len());
        for (field, inner) in fields {
            let ty = types.get(&field.name).cloned().unwrap_or(Ty::Error);
            let part = match inner {
                Some(inner) => self.pattern(inner, &ty, matched),
                None => Pat::Bind(self.enter_mono(field.name, ty.clone()), ty),
            };
            parts.push((field.name, part));
        }
        Pat::Record(parts)
    }

    fn ctor_pattern(&mut self, path: &Path, args: &[Pattern], span: Span, want: &Ty, matched: Span) -> Pat {
        let Some(info) = self.resolve_ctor(path) else { return self.poisoned(args) };
        let Some(CtorUse { ctor, args: type_args, fields, result }) = self.instantiate_ctor(&info) else {
            self.failed = true;
            return self.poisoned(args);
        };
        self.fit_pattern(span, want, &result, matched);
        if fields.len() != args.len() {
            let declared = info.info.data.span;
            self.report(patterns::ctor_arguments(ctor.name, fields.len(), args.len(), span, declared));
            return self.poisoned(args);
        }
        let fields = args.iter().zip(&fields).map(|(arg, field)| self.pattern(arg, field, matched)).collect();
        Pat::Ctor { ctor, args: type_args, fields }
    }

    /// The constructor that a path names; reports if there is none.
    pub(crate) fn resolve_ctor(&mut self, path: &Path) -> Option<CtorInfo> {
        let name = path.name.name;
        let found = match path.module {
            Some(module) => {
                let interface = self.module_interface(module)?;
                if let Some(ctor) = interface.ctors.get(&name) {
                    return Some(ctor.clone());
                }
                let similar = suggest::similar(name, interface.ctors.keys().copied());
                let title = module.name.to_string();
                self.report(names::not_in_module("constructor", name, path.name.span, &title, similar));
                return None;
            }
            None => self.globals.ctor(name),
        };
        match found {
            Found::One(ctor) => return Some(ctor),
            Found::Ambiguous(places) => {
                self.report(names::ambiguous("constructor", name, path.span, &places))
            }
            Found::Excused => self.failed = true,
            Found::Nothing => {
                let hint = suggest::constructor(name, self.globals.ctor_names());
                let library = (self.globals.elsewhere)(Declared::Ctor, name);
                self.report(names::unknown_ctor(name, path.span, hint, library));
            }
        }
        None
    }

    /// The interface that a qualifier stands for; reports if there is none.
    pub(crate) fn module_interface(&mut self, module: Ident) -> Option<Arc<Interface>> {
        match self.globals.module(module.name) {
            Some(import) => {
                let interface = import.interface.clone();
                self.failed |= interface.is_none();
                interface
            }
            None => {
                let known = self.globals.imports.iter().filter_map(|import| import.qualifier);
                let similar = suggest::similar(module.name, known);
                self.report(names::unknown_module(module.name, module.span, similar));
                None
            }
        }
    }

    /// Fresh arguments for the type of a constructor; nothing if its declaration has an error.
    pub(crate) fn instantiate_ctor(&mut self, info: &CtorInfo) -> Option<CtorUse> {
        let data = &info.info.data;
        let declared = data.ctors.get(info.index as usize).filter(|_| !info.info.broken)?;
        let mut subst = Subst::default();
        let mut args = Vec::with_capacity(data.params.len());
        for param in &data.params {
            let arg = self.store.fresh();
            subst.insert(*param, Arg::Type(arg.clone()));
            args.push(arg);
        }
        let args: Rc<[Ty]> = args.into();
        Some(CtorUse {
            ctor: CtorRef { data: data.name, index: info.index, name: declared.name },
            fields: declared.fields.iter().map(|field| from_core(field, &subst)).collect(),
            result: Ty::Data(data.name, Rc::clone(&args)),
            args,
        })
    }

    /// All variables of a pattern, in order.
    pub(crate) fn variables_of(pattern: &Pattern, into: &mut Vec<(Name, Span)>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Lit { .. } | PatternKind::Error => {}
            PatternKind::Var(name) => into.push((*name, pattern.span)),
            PatternKind::Paren(inner) => Infer::variables_of(inner, into),
            PatternKind::Annot { pattern, .. } => Infer::variables_of(pattern, into),
            PatternKind::As { pattern, name } => {
                Infer::variables_of(pattern, into);
                into.push((name.name, name.span));
            }
            PatternKind::Tuple(items) | PatternKind::Ctor { args: items, .. } => {
                items.iter().for_each(|item| Infer::variables_of(item, into));
            }
            PatternKind::Record(fields) => {
                for (field, inner) in fields {
                    match inner {
                        Some(inner) => Infer::variables_of(inner, into),
                        None => into.push((field.name, field.span)),
                    }
                }
            }
        });
    }
}
