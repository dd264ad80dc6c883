//! The arguments of an entry: takes the parameter types off the entry's type, settles what its type variables stand for
//! by looking at the JSON ([`super::guess`]), and reads each argument (`decode`).

use super::decode::{DataTypes, Decoder};
use super::guess::{self, Numbers, Open};
use super::parse::{Document, NodeKind};
use crate::errors;
use wengert_base::Diagnostic;
use wengert_core::{Kind, Scheme, Type, TypeArg};
use wengert_interp::value::Value;

/// The arguments of an entry, and what they make of its type.
pub struct Arguments {
    /// What the entry's type parameters stand for.
    pub type_args: Vec<TypeArg>,
    /// The arguments.
    pub values: Vec<Value>,
    /// Their types.
    pub types: Vec<Type>,
    /// The type of the entry applied to them.
    pub result: Type,
}

/// Reads the arguments of `entry : scheme` from a document that is an array of them. Fewer arguments than the entry takes
/// are fine: the result is a function.
pub fn arguments(
    document: &Document,
    entry: &str,
    scheme: &Scheme,
    data_types: &DataTypes,
    numbers: Numbers,
) -> Result<Arguments, Diagnostic> {
    let root = document.root();
    if !matches!(document.kind(root), NodeKind::Array { .. }) {
        let found = document.kind(root).describe();
        return Err(errors::input_not_array(document.span(root), found, entry));
    }
    let nodes: Vec<usize> = document.children(root).collect();
    let mut parameters = Vec::new();
    let mut rest = &scheme.ty;
    while let (Type::Fun(from, to), true) = (rest, parameters.len() < nodes.len()) {
        parameters.push(from.as_ref());
        rest = to;
    }
    if let Some(extra) = nodes.get(parameters.len()) {
        let span = document.span(*extra);
        return Err(errors::argument_count(span, entry, &scheme.to_string(), parameters.len(), nodes.len()));
    }
    let pairs: Vec<(usize, &Type)> = nodes.into_iter().zip(parameters).collect();
    let type_args = settle(document, entry, scheme, data_types, &pairs, numbers)?;
    let mut decoder = Decoder::new(document, data_types, scheme, &type_args);
    let mut values = Vec::new();
    for (i, (node, ty)) in pairs.iter().enumerate() {
        values.push(decoder.argument(i, *node, ty)?);
    }
    let type_args = decoder.with_sizes(scheme, &type_args);
    let mut types = Vec::new();
    let mut result = scheme.instantiate(&type_args);
    for _ in &values {
        if let Type::Fun(from, to) = result {
            types.push(Type::clone(&from));
            result = Type::clone(&to);
        }
    }
    Ok(Arguments { type_args, values, types, result })
}

/// What the type and row parameters of the entry stand for, as far as the JSON tells.
fn settle(
    document: &Document,
    entry: &str,
    scheme: &Scheme,
    data_types: &DataTypes,
    pairs: &[(usize, &Type)],
    numbers: Numbers,
) -> Result<Vec<TypeArg>, Diagnostic> {
    let unsettled = scheme.params.iter().any(|param| param.kind != Kind::Size);
    let mut open = Open::default();
    if unsettled {
        let mut decoder = Decoder::new(document, data_types, scheme, &[]);
        for (i, (node, ty)) in pairs.iter().enumerate() {
            // An error here comes again, with better types in its message, when the argument is read in earnest.
            if decoder.argument(i, *node, ty).is_err() {
                break;
            }
        }
        open = decoder.open;
    }
    scheme
        .params
        .iter()
        .map(|param| {
            guess::type_arg(document, param, &open, numbers).map_err(|conflict| {
                let ty = scheme.to_string();
                errors::ambiguous_json(conflict.span, param.name.as_str(), entry, &ty, &conflict.why)
            })
        })
        .collect()
}
