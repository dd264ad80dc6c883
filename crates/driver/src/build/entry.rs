//! The definition that a library is made of: the types at which C calls it, or why C cannot call it.
//!
//! `def square x = x * x` has the type `Num a => a -> a` and is built as `Real -> Real`: numbers whose type the program leaves open
//! are `Real`, whether derivatives are asked for or not. Other types that are left open have no form in C.

use crate::errors;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Def, Kind, Param, Pred, Row, Size, Type, TypeArg};
use wengert_engine::{NO_DATA, NO_TEXTS};

/// A definition that C can call.
pub(super) struct Entry {
    /// Its qualified name.
    pub(super) def: Name,
    /// Where it is defined.
    pub(super) span: Span,
    /// What its type parameters stand for.
    pub(super) type_args: Vec<TypeArg>,
    /// Its type.
    pub(super) ty: Type,
    /// The types of its arguments: all that it takes.
    pub(super) params: Vec<Type>,
    /// The type of its result, which is no function.
    pub(super) result: Type,
}

/// A definition, by its name in the file, as C calls it.
pub(super) fn entry(name: &str, def: &Def) -> Result<Entry, Diagnostic> {
    let (params, result) = parts(&def.scheme.ty);
    let not_for_c = |why: &str| errors::not_for_c(def.span, name, &def.scheme.to_string(), why);
    if let Some(why) = params.iter().chain([&result]).find_map(without_form) {
        return Err(not_for_c(why));
    }
    let open =
        |param: &Param| errors::open_for_c(def.span, name, &def.scheme.to_string(), param.name.as_str());
    let settled = def.scheme.params.iter().map(|param| settled(param).ok_or_else(|| open(param)));
    let type_args = settled.collect::<Result<Vec<_>, _>>()?;
    let ty = def.scheme.instantiate(&type_args);
    let (params, result) = parts(&ty);
    Ok(Entry { def: def.name, span: def.span, type_args, ty, params, result })
}

/// What a type parameter stands for; nothing if that is for the user to say.
fn settled(param: &Param) -> Option<TypeArg> {
    match &param.kind {
        Kind::Size => Some(TypeArg::Size(Size::Unknown)),
        // Of a record that may have more fields nobody looks at those.
        Kind::Row => Some(TypeArg::Row(Row::default())),
        Kind::Type(preds) => {
            let is_number = preds.contains(&Pred::Num) || preds.contains(&Pred::Smooth);
            is_number.then_some(TypeArg::Type(Type::Real))
        }
    }
}

/// The types of the arguments of a function, and of its result.
fn parts(ty: &Type) -> (Vec<Type>, Type) {
    let (mut rest, mut params) = (ty, Vec::new());
    while let Type::Fun(from, to) = rest {
        params.push(Type::clone(from));
        rest = to;
    }
    (params, rest.clone())
}

/// Why values of a type have no form in C, if it is so.
fn without_form(ty: &Type) -> Option<&'static str> {
    let mut open = vec![(ty, false)];
    while let Some((ty, in_array)) = open.pop() {
        match ty {
            Type::Fun(..) | Type::Data(..) => return Some(NO_DATA),
            Type::String if in_array => return Some(NO_TEXTS),
            Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_) => {}
            Type::Tuple(items) => open.extend(items.iter().map(|item| (item, in_array))),
            Type::Record(row) => open.extend(row.fields.values().map(|field| (field, in_array))),
            Type::Array(_, elem) => open.push((elem, true)),
            Type::Dual(of) => open.push((of, in_array)),
        }
    }
    None
}
