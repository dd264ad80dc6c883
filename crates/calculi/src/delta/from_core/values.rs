//! Values of the calculus as plain data, by the type that the program gives them.

#![expect(clippy::wildcard_enum_match_arm, reason = "a value that does not have the type is shown as a term")]

use super::super::readback;
use super::super::syntax::grow;
use super::super::value::Value;
use crate::kit::ground::Ground;
use crate::kit::simple::{self, Data};
use indexmap::IndexMap;

/// A value of the program's type as plain data.
pub(crate) fn ground(value: &Value, ty: &simple::Ty, data: &IndexMap<simple::Ty, Data>) -> Ground {
    grow(|| match (value, ty) {
        (Value::Real(x), _) => Ground::Real(*x),
        (Value::Int(n), _) => Ground::Int(*n),
        (Value::Str(text), _) => Ground::String(text.to_string()),
        (Value::Inl(_) | Value::Inr(_), simple::Ty::Bool) => Ground::Bool(matches!(value, Value::Inl(_))),
        (_, simple::Ty::Tuple(parts)) => Ground::Tuple(components(value, parts, data)),
        (Value::Vector(items), simple::Ty::Array(ty)) => {
            Ground::Array(items.iter().map(|item| ground(item, ty, data)).collect())
        }
        (_, simple::Ty::Data(..)) => constructed(value, ty, data),
        _ => Ground::Term(readback::value(value)),
    })
}

fn components(value: &Value, types: &[simple::Ty], data: &IndexMap<simple::Ty, Data>) -> Vec<Ground> {
    let mut parts = Vec::new();
    let mut value = value;
    for (at, ty) in types.iter().enumerate() {
        match value {
            Value::Pair(cell) if at + 1 < types.len() => {
                parts.push(ground(&cell.a, ty, data));
                value = &cell.b;
            }
            other => parts.push(ground(other, ty, data)),
        }
    }
    parts
}

fn constructed(value: &Value, ty: &simple::Ty, data: &IndexMap<simple::Ty, Data>) -> Ground {
    let Some(declared) = data.get(ty) else { return Ground::Term(readback::value(value)) };
    let mut value = value;
    if let Value::Roll(cell, _) = value {
        value = &cell.a;
    }
    let mut at = 0;
    while at + 1 < declared.ctors.len() {
        match value {
            Value::Inr(cell) => {
                value = &cell.a;
                at += 1;
            }
            Value::Inl(cell) => {
                value = &cell.a;
                break;
            }
            _ => break,
        }
    }
    let Some((name, fields)) = declared.ctors.get(at) else {
        return Ground::Term(readback::value(value));
    };
    let shown = name.as_str().rsplit('.').next().unwrap_or_default();
    Ground::Ctor(shown.to_string(), components(value, fields, data))
}
