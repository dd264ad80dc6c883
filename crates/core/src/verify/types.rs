//! Well-formed types and instantiations, and when two types agree.

use super::Verifier;
use crate::subst::{Subst, VarSort};
use crate::types::{Kind, Param, Row, Scheme, Size, Type, TypeArg};
use std::sync::Arc;
use wengert_base::{Name, Span};

impl Verifier<'_, '_> {
    /// Variables in scope, data types declared and with the right number of arguments.
    pub(super) fn well_formed(&mut self, ty: &Type, span: Span) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real | Type::Int | Type::Bool | Type::String => {}
            Type::Tuple(items) => items.iter().for_each(|item| self.well_formed(item, span)),
            Type::Record(row) => self.well_formed_row(row, span),
            Type::Array(size, elem) => {
                self.well_formed_size(size, span);
                self.well_formed(elem, span);
            }
            Type::Fun(from, to) => {
                self.well_formed(from, span);
                self.well_formed(to, span);
            }
            Type::Dual(of) => self.well_formed(of, span),
            Type::Var(name) => self.in_scope(VarSort::Type, *name, span),
            Type::Data(name, args) => {
                args.iter().for_each(|arg| self.well_formed(arg, span));
                let Some(data) = self.env.data(*name) else {
                    self.error::<()>(span, format!("there is no type `{name}`"));
                    return;
                };
                if data.params.len() != args.len() {
                    let (wanted, given) = (data.params.len(), args.len());
                    self.error::<()>(span, format!("`{name}` takes {wanted} arguments, not {given}"));
                }
            }
        });
    }

    /// As [`Verifier::well_formed`], for a row.
    fn well_formed_row(&mut self, row: &Row, span: Span) {
        row.fields.values().for_each(|field| self.well_formed(field, span));
        if let Some(rest) = row.rest {
            self.in_scope(VarSort::Row, rest, span);
        }
    }

    /// As [`Verifier::well_formed`], for a size.
    fn well_formed_size(&mut self, size: &Size, span: Span) {
        if let Size::Var(name) = size {
            self.in_scope(VarSort::Size, *name, span);
        }
    }

    /// Whether a variable of that sort is bound here.
    fn in_scope(&mut self, sort: VarSort, name: Name, span: Span) {
        if !self.params.iter().any(|param| param.name == name && param.kind.sort() == sort) {
            self.error::<()>(span, format!("the type variable `{name}` is not in scope"));
        }
    }

    /// The scheme's type at `args`; `what` is instantiated.
    pub(super) fn instantiate(
        &mut self,
        scheme: &Scheme,
        args: &[TypeArg],
        what: &dyn Fn() -> String,
        span: Span,
    ) -> Option<Type> {
        if scheme.params.len() != args.len() {
            let (wanted, given) = (scheme.params.len(), args.len());
            return self.error(span, format!("{} takes {wanted} type arguments, not {given}", what()));
        }
        let mut fits = true;
        for (param, arg) in scheme.params.iter().zip(args) {
            fits &= self.argument_fits(param, arg, what, span).is_some();
        }
        fits.then(|| Subst::of_params(&scheme.params, args).ty(&scheme.ty))
    }

    /// Whether `arg` may stand for `param`.
    fn argument_fits(
        &mut self,
        param: &Param,
        arg: &TypeArg,
        what: &dyn Fn() -> String,
        span: Span,
    ) -> Option<()> {
        match (&param.kind, arg) {
            (Kind::Type(preds), TypeArg::Type(ty)) => {
                self.well_formed(ty, span);
                match preds.iter().find(|pred| !self.satisfies(**pred, ty)) {
                    Some(pred) => self.error(
                        span,
                        format!("{} needs {} {}, which `{ty}` is not", what(), pred.text(), param.name),
                    ),
                    None => Some(()),
                }
            }
            (Kind::Row, TypeArg::Row(row)) => {
                self.well_formed_row(row, span);
                Some(())
            }
            (Kind::Size, TypeArg::Size(size)) => {
                self.well_formed_size(size, span);
                Some(())
            }
            (Kind::Type(_) | Kind::Row | Kind::Size, _) => {
                self.error(span, format!("{}: `{arg}` is of another kind than `{}`", what(), param.name))
            }
        }
    }

    /// Demands that a term of type `found` may stand where `wanted` is.
    pub(super) fn agree(&mut self, found: &Type, wanted: &Type, what: &str, span: Span) -> Option<()> {
        if meet(found, wanted).is_some() {
            return Some(());
        }
        self.error(span, format!("{what} has type `{found}` where `{wanted}` is needed"))
    }
}

/// The type that both agree with, if there is one: equal but for sizes; a size on which they differ is unknown.
pub(super) fn meet(a: &Type, b: &Type) -> Option<Type> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match (a, b) {
        (Type::Tuple(xs), Type::Tuple(ys)) => Some(Type::Tuple(meet_all(xs, ys)?)),
        (Type::Record(x), Type::Record(y)) if x.rest == y.rest && x.fields.len() == y.fields.len() => {
            let fields = x.fields.iter().map(|(name, ty)| Some((*name, meet(ty, y.fields.get(name)?)?)));
            Some(Type::Record(Row { fields: fields.collect::<Option<_>>()?, rest: x.rest }))
        }
        (Type::Array(m, x), Type::Array(n, y)) => Some(Type::array(meet_sizes(m, n)?, meet(x, y)?)),
        (Type::Fun(a, b), Type::Fun(c, d)) => Some(Type::fun(meet(a, c)?, meet(b, d)?)),
        (Type::Data(x, xs), Type::Data(y, ys)) if x == y => Some(Type::Data(*x, meet_all(xs, ys)?)),
        (Type::Dual(x), Type::Dual(y)) => Some(Type::Dual(Arc::new(meet(x, y)?))),
        (Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_), _) if a == b => Some(a.clone()),
        _ => None,
    })
}

/// Component by component.
fn meet_all(xs: &[Type], ys: &[Type]) -> Option<Vec<Type>> {
    if xs.len() != ys.len() {
        return None;
    }
    xs.iter().zip(ys).map(|(x, y)| meet(x, y)).collect()
}

/// Two constants must be equal.
pub(super) fn meet_sizes(m: &Size, n: &Size) -> Option<Size> {
    match (m, n) {
        _ if m == n => Some(m.clone()),
        (Size::Const(_), Size::Const(_)) => None,
        (Size::Const(_) | Size::Var(_) | Size::Unknown, _) => Some(Size::Unknown),
    }
}
