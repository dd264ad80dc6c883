//! Comparison, which looks at numbers without their perturbations, and structural equality.

use super::mistyped;
use crate::arith::observe;
use crate::compile::instr::Compare;
use crate::step::{Context, Failure};
use crate::value::{Array, Value};
use std::rc::Rc;

/// Compares what is ordered already.
#[inline]
pub(crate) fn ordered<T: PartialOrd>(op: Compare, x: T, y: T) -> bool {
    match op {
        Compare::Eq => x == y,
        Compare::Ne => x != y,
        Compare::Lt => x < y,
        Compare::Le => x <= y,
        Compare::Gt => x > y,
        Compare::Ge => x >= y,
    }
}

/// Compares any two values of a type that has the comparison.
pub(crate) fn compare(cx: &mut Context, op: Compare, a: &Value, b: &Value) -> Result<bool, Failure> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(ordered(op, x, y)),
        (Value::String(x), Value::String(y)) => Ok(ordered(op, x.as_str(), y.as_str())),
        (Value::Real(_) | Value::Active(_), Value::Real(_) | Value::Active(_)) => {
            Ok(ordered(op, observe(a)?, observe(b)?))
        }
        (a, b) => match op {
            Compare::Eq => equal(cx, a, b),
            Compare::Ne => Ok(!equal(cx, a, b)?),
            Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => Err(mistyped("a number or text")),
        },
    }
}

/// Structural equality of first-order values; a work list instead of recursion, as lists are deep.
pub(crate) fn equal(cx: &mut Context, a: &Value, b: &Value) -> Result<bool, Failure> {
    let mut todo: Vec<(Value, Value)> = Vec::new();
    let mut next = Some((a.clone(), b.clone()));
    while let Some((a, b)) = next.take().or_else(|| todo.pop()) {
        let same = match (&a, &b) {
            (Value::Int(x), Value::Int(y)) => x == y,
            (Value::Bool(x), Value::Bool(y)) => x == y,
            (Value::String(x), Value::String(y)) => x.as_str() == y.as_str(),
            (Value::Real(_) | Value::Active(_), Value::Real(_) | Value::Active(_)) => {
                observe(&a)? == observe(&b)?
            }
            (Value::Tuple(x), Value::Tuple(y)) => push_all(&mut todo, x.as_slice(), y.as_slice()),
            (Value::Record(x), Value::Record(y)) => {
                push_all(&mut todo, x.fields.as_slice(), y.fields.as_slice())
            }
            (Value::Data(x), Value::Data(y)) => {
                x.ctor.index == y.ctor.index && push_all(&mut todo, x.fields.as_slice(), y.fields.as_slice())
            }
            (Value::Array(x), Value::Array(y)) => arrays(cx, &mut todo, x, y)?,
            (Value::Dual(x), Value::Dual(y)) => push_all(&mut todo, x.as_slice(), y.as_slice()),
            _ => return Err(mistyped("two first-order values of one type")),
        };
        cx.work(1)?;
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn push_all(todo: &mut Vec<(Value, Value)>, a: &[Value], b: &[Value]) -> bool {
    todo.extend(a.iter().cloned().zip(b.iter().cloned()).rev());
    a.len() == b.len()
}

fn arrays(
    cx: &mut Context,
    todo: &mut Vec<(Value, Value)>,
    a: &Rc<Array>,
    b: &Rc<Array>,
) -> Result<bool, Failure> {
    cx.work(a.len() as u64)?;
    match (&**a, &**b) {
        (Array::Reals(x), Array::Reals(y)) => Ok(x.as_slice() == y.as_slice()),
        (Array::Ints(x), Array::Ints(y)) => Ok(x.as_slice() == y.as_slice()),
        (x, y) => {
            todo.extend(x.items().zip(y.items()));
            Ok(x.len() == y.len())
        }
    }
}
