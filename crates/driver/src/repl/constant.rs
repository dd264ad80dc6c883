//! Values as terms, so that a definition made at the prompt is evaluated once and not at each use.
//!
//! Only values that are small and not nested deeply become terms: trees of terms are walked recursively. The others are
//! computed again when they are used, which is slower but the same, because the language is pure.

use crate::json::decode::DataTypes;
use std::sync::Arc;
use wengert_base::Span;
use wengert_core::{CtorRef, Lit, Subst, Term, TermKind, Type};
use wengert_interp::value::{Array, Value};

const MAX_DEPTH: u32 = 200;
const MAX_NODES: u32 = 200_000;

/// Whether values of this type may be written as terms, as far as the type itself shows.
pub(super) fn is_data(ty: &Type) -> bool {
    match ty {
        Type::Real | Type::Int | Type::Bool | Type::String => true,
        Type::Tuple(items) | Type::Data(_, items) => items.iter().all(is_data),
        Type::Record(row) => row.rest.is_none() && row.fields.values().all(is_data),
        Type::Array(_, elem) => is_data(elem),
        Type::Fun(..) | Type::Dual(_) | Type::Var(_) => false,
    }
}

/// The term for a value of type `ty`, nothing if it is too large or holds a function.
pub(super) fn term(value: &Value, ty: &Type, data_types: &DataTypes, span: Span) -> Option<Term> {
    Writer { data_types, span, left: MAX_NODES }.term(value, ty, 0)
}

struct Writer<'a> {
    data_types: &'a DataTypes,
    span: Span,
    left: u32,
}

impl Writer<'_> {
    fn term(&mut self, value: &Value, ty: &Type, depth: u32) -> Option<Term> {
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let kind = match (value, ty) {
            (Value::Real(x), Type::Real) => TermKind::Lit(Lit::Real(*x)),
            (Value::Int(n), Type::Int) => TermKind::Lit(Lit::Int(*n)),
            (Value::Bool(b), Type::Bool) => TermKind::Lit(Lit::Bool(*b)),
            (Value::String(text), Type::String) => TermKind::Lit(Lit::String(Arc::from(text.as_str()))),
            (Value::Tuple(fields), Type::Tuple(types)) => {
                TermKind::Tuple(self.terms(fields.as_slice(), types, depth)?)
            }
            (Value::Record(record), Type::Record(row)) => {
                let fields = record.names.iter().zip(record.fields.as_slice());
                let fields = fields
                    .map(|(name, value)| Some((*name, self.term(value, row.fields.get(name)?, depth + 1)?)));
                TermKind::Record(fields.collect::<Option<Vec<_>>>()?)
            }
            (Value::Array(array), Type::Array(_, elem)) => {
                TermKind::Array { elem: Type::clone(elem), items: self.items(array, elem, depth)? }
            }
            (Value::Data(data), Type::Data(name, args)) => {
                let declaration = self.data_types.get(name)?.clone();
                let ctor = declaration.ctors.get(data.ctor.index as usize)?;
                let subst = Subst::of_data(&declaration.params, args);
                let types: Vec<Type> = ctor.fields.iter().map(|field| subst.ty(field)).collect();
                let fields = self.terms(data.fields.as_slice(), &types, depth)?;
                let ctor = CtorRef { data: *name, index: data.ctor.index, name: ctor.name };
                TermKind::Ctor { ctor, args: args.clone(), fields }
            }
            _ => return None,
        };
        Some(Term { kind, span: self.span })
    }

    fn terms(&mut self, values: &[Value], types: &[Type], depth: u32) -> Option<Vec<Term>> {
        values.iter().zip(types).map(|(value, ty)| self.term(value, ty, depth + 1)).collect()
    }

    fn items(&mut self, array: &Array, elem: &Type, depth: u32) -> Option<Vec<Term>> {
        match array {
            Array::Reals(items) => {
                items.as_slice().iter().map(|x| self.term(&Value::Real(*x), elem, depth + 1)).collect()
            }
            Array::Ints(items) => {
                items.as_slice().iter().map(|n| self.term(&Value::Int(*n), elem, depth + 1)).collect()
            }
            Array::Values(items) => {
                items.as_slice().iter().map(|value| self.term(value, elem, depth + 1)).collect()
            }
        }
    }
}
