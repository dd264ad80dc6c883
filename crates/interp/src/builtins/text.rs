//! Truth values and text.

use super::{misplaced, mistyped};
use crate::errors;
use crate::show;
use crate::step::{Context, Failure};
use crate::value::{Text, Value};
use std::rc::Rc;
use wengert_prim::Prim;

/// Calls a primitive of this chapter.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, b, _]: [Value; 3]) -> Result<Value, Failure> {
    match prim {
        Prim::Not => match a {
            Value::Bool(truth) => Ok(Value::Bool(!truth)),
            _ => Err(mistyped("a Bool")),
        },
        Prim::Append => append(cx, a, &b),
        Prim::StringLength => {
            let text = text(&a)?;
            cx.work(text.len() as u64 / 64)?;
            Ok(Value::Int(text.chars().count() as i64))
        }
        Prim::Show => {
            let shown = show::show_within(cx, &a)?;
            Ok(Value::String(Rc::new(Text::new(shown))))
        }
        Prim::Fail => Err(errors::failed(text(&a)?)),
        other => Err(misplaced(other)),
    }
}

fn text(value: &Value) -> Result<&str, Failure> {
    match value {
        Value::String(text) => Ok(text.as_str()),
        _ => Err(mistyped("a String")),
    }
}

/// `a ++ b`; appends in place if nobody else has `a`.
fn append(cx: &mut Context, a: Value, b: &Value) -> Result<Value, Failure> {
    let more = text(b)?;
    let Value::String(mut first) = a else { return Err(mistyped("a String")) };
    cx.reserve(2 * (first.as_str().len() + more.len()) as u64)?;
    cx.work(more.len() as u64 / 64)?;
    if let Some(unique) = Rc::get_mut(&mut first) {
        unique.push_str(more);
        return Ok(Value::String(first));
    }
    let mut joined = String::with_capacity(first.as_str().len() + more.len());
    joined.push_str(first.as_str());
    joined.push_str(more);
    Ok(Value::String(Rc::new(Text::new(joined))))
}
