//! Patterns against the type of what they are matched with.

use super::Verifier;
use crate::term::{CtorRef, Lit, Pattern, Var};
use crate::types::{Pred, Scheme, Type};
use rustc_hash::FxHashSet;
use wengert_base::{Name, Span};

impl Verifier<'_, '_> {
    /// Checks a pattern and brings its variables into scope; they are added to `bound`.
    pub(super) fn pattern(&mut self, pattern: &Pattern, ty: &Type, span: Span, bound: &mut Vec<Var>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match pattern {
            Pattern::Wildcard => {}
            Pattern::Bind(binder) => {
                self.well_formed(&binder.ty, span);
                self.agree(ty, &binder.ty, "what this pattern variable matches", span);
                self.bind(binder.var, Scheme::mono(binder.ty.clone()), false, span);
                bound.push(binder.var);
            }
            Pattern::As(inner, binder) => {
                self.pattern(inner, ty, span, bound);
                self.well_formed(&binder.ty, span);
                self.agree(ty, &binder.ty, "what this pattern variable matches", span);
                self.bind(binder.var, Scheme::mono(binder.ty.clone()), false, span);
                bound.push(binder.var);
            }
            Pattern::Lit(lit) => {
                if let Some(found) = self.literal(lit, span) {
                    self.agree(&found, ty, "this literal pattern", span);
                }
            }
            Pattern::Tuple(items) => {
                let Type::Tuple(types) = ty else {
                    self.error::<()>(span, format!("a pattern for {} components meets `{ty}`", items.len()));
                    return;
                };
                if types.len() != items.len() {
                    self.error::<()>(span, format!("a pattern for {} components meets `{ty}`", items.len()));
                }
                for (item, ty) in items.iter().zip(types) {
                    self.pattern(item, ty, span, bound);
                }
            }
            Pattern::Record(fields) => self.record_pattern(fields, ty, span, bound),
            Pattern::Ctor { ctor, args, fields } => {
                let Some((whole, types)) = self.ctor(*ctor, args, span) else { return };
                self.agree(ty, &whole, "what this constructor pattern matches", span);
                if types.len() != fields.len() {
                    let (wanted, given) = (types.len(), fields.len());
                    self.error::<()>(span, format!("`{}` has {wanted} fields, not {given}", ctor.name));
                }
                for (field, ty) in fields.iter().zip(&types) {
                    self.pattern(field, ty, span, bound);
                }
            }
        });
    }

    /// `{x = p, …}`
    fn record_pattern(&mut self, fields: &[(Name, Pattern)], ty: &Type, span: Span, bound: &mut Vec<Var>) {
        let Type::Record(row) = ty else {
            self.error::<()>(span, format!("a record pattern meets `{ty}`"));
            return;
        };
        self.distinct_fields(fields.iter().map(|(name, _)| *name), span);
        for (name, field) in fields {
            match row.fields.get(name) {
                Some(ty) => self.pattern(field, ty, span, bound),
                None => {
                    self.error::<()>(span, format!("`{ty}` has no field `{name}`"));
                }
            }
        }
    }

    /// That no field stands twice.
    pub(super) fn distinct_fields(&mut self, names: impl Iterator<Item = Name>, span: Span) {
        let mut seen = FxHashSet::default();
        for name in names {
            if !seen.insert(name) {
                self.error::<()>(span, format!("the field `{name}` stands twice"));
            }
        }
    }

    /// The data type at `args`, and the types of the constructor's fields.
    pub(super) fn ctor(&mut self, ctor: CtorRef, args: &[Type], span: Span) -> Option<(Type, Vec<Type>)> {
        let Some(data) = self.env.data(ctor.data) else {
            return self.error(span, format!("there is no type `{}`", ctor.data));
        };
        let Some(declared) =
            data.ctors.get(ctor.index as usize).filter(|declared| declared.name == ctor.name)
        else {
            let CtorRef { data, index, name } = ctor;
            return self.error(span, format!("constructor {index} of `{data}` is not `{name}`"));
        };
        let whole = Type::Data(ctor.data, args.to_vec());
        self.well_formed(&whole, span);
        let subst = crate::subst::Subst::of_data(&data.params, args);
        Some((whole, declared.fields.iter().map(|field| subst.ty(field)).collect()))
    }

    /// The type of a literal.
    pub(super) fn literal(&mut self, lit: &Lit, span: Span) -> Option<Type> {
        match lit {
            Lit::Real(_) => Some(Type::Real),
            Lit::Int(_) => Some(Type::Int),
            Lit::Bool(_) => Some(Type::Bool),
            Lit::String(_) => Some(Type::String),
            Lit::Num(n, name) => {
                let ty = Type::Var(*name);
                self.well_formed(&ty, span);
                if !self.satisfies(Pred::Num, &ty) {
                    return self.error(span, format!("the number {n} stands at `{name}`, which is not Num"));
                }
                Some(ty)
            }
        }
    }
}
