//! What simple types do not tell: the names of the fields of records, for `show` and for who reads what is made, and which failures are those of sizes that
//! the user named in types. An engine needs both; they are noted on variables.

use super::{Bridge, Typed};
use crate::simple::{Shown, TermKind, Var};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::Type;
use wengert_prim::Prim;

impl Bridge<'_> {
    /// Notes that the `if` in the scope of `wanted` checks the size `name`.
    pub(super) fn note_size(&mut self, wanted: Var, name: Name, axis: u32) {
        if let Some(notes) = &mut self.notes {
            notes.sizes.insert(wanted, (name, axis));
        }
    }

    /// `show arg`; if that names fields, the argument is a variable on which they are noted.
    pub(super) fn show_prim(&mut self, (arg, ty): Typed, span: Span) -> Result<Typed, Diagnostic> {
        if self.notes.is_none() || !self.has_record(&ty) {
            return self.typed(TermKind::Prim(Prim::Show, vec![arg]), Type::String, span);
        }
        let var = self.fresh(Name::new("shown"));
        self.to_show.push((var, ty.clone()));
        let variable = self.node(TermKind::Var(var), &ty, span)?;
        let shown = self.node(TermKind::Prim(Prim::Show, vec![variable]), &Type::String, span)?;
        let kind = TermKind::Let(var, arg.ty.clone(), Rc::new(arg), Rc::new(shown));
        self.typed(kind, Type::String, span)
    }

    /// Notes what the fields of a parameter are called that is a record.
    pub(super) fn note_fields(&mut self, param: Var, ty: &Type) {
        if self.notes.is_some() && matches!(ty, Type::Record(_)) {
            self.to_show.push((param, ty.clone()));
        }
    }

    /// Notes on the variables that are shown how: when all terms are translated, which have to do with the types that are named.
    pub(super) fn note_shown(&mut self) {
        for (var, ty) in std::mem::take(&mut self.to_show) {
            let shown = self.shown(&ty);
            if let Some(notes) = &mut self.notes {
                notes.shown.insert(var, shown);
            }
        }
    }

    /// How values of the type are shown.
    fn shown(&mut self, ty: &Type) -> Shown {
        if !self.has_record(ty) {
            return Shown::Plain;
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Record(row) => {
                let fields = row.fields.iter().map(|(name, ty)| (*name, self.shown(ty)));
                Shown::Record(fields.collect())
            }
            Type::Tuple(items) => Shown::Tuple(items.iter().map(|item| self.shown(item)).collect()),
            Type::Array(_, of) => Shown::Array(Box::new(self.shown(of))),
            Type::Dual(of) => self.shown(of),
            Type::Data(..) => Shown::Data(self.shown_data(ty)),
            Type::Real | Type::Int | Type::Bool | Type::String | Type::Fun(..) | Type::Var(_) => Shown::Plain,
        })
    }

    fn shown_data(&mut self, ty: &Type) -> usize {
        if let Some(known) = self.shown.get(ty) {
            return *known;
        }
        let place = self.notes.as_ref().map_or(0, |notes| notes.shown_data.len());
        self.shown.insert(ty.clone(), place);
        if let Some(notes) = &mut self.notes {
            notes.shown_data.push(Vec::new());
        }
        let mut ctors = Vec::new();
        for fields in self.fields(ty) {
            ctors.push(fields.iter().map(|field| self.shown(field)).collect());
        }
        if let Some(found) = self.notes.as_mut().and_then(|notes| notes.shown_data.get_mut(place)) {
            *found = ctors;
        }
        place
    }

    /// Whether values of the type hold records.
    fn has_record(&mut self, ty: &Type) -> bool {
        let mut todo = vec![ty.clone()];
        let mut seen: FxHashSet<Type> = FxHashSet::default();
        while let Some(ty) = todo.pop() {
            match ty {
                Type::Record(_) => return true,
                Type::Real | Type::Int | Type::Bool | Type::String | Type::Fun(..) | Type::Var(_) => {}
                Type::Tuple(items) => todo.extend(items),
                Type::Array(_, of) | Type::Dual(of) => todo.push(of.as_ref().clone()),
                Type::Data(name, ref args) => {
                    if seen.insert(ty.clone()) {
                        if self.nested.grow.contains(&name) {
                            // Deeper in, parts of the arguments and of the declaration are in what is uniform.
                            todo.extend(args.clone());
                            let declared =
                                self.core.types.get(&name).into_iter().flat_map(|data| &data.ctors);
                            todo.extend(declared.flat_map(|ctor| &ctor.fields).cloned());
                        }
                        todo.extend(self.fields(&ty).into_iter().flatten());
                    }
                }
            }
        }
        false
    }
}
