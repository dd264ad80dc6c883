//! Functionals: `apply_dual`, `to_dual`, `from_dual`.
//!
//! What a [`Value::Dual`] holds is a vector, or, where functions are in the type, a function on tangents.

use super::{call1, closures};
use crate::arith;
use crate::builtins::mistyped;
use crate::errors;
use crate::step::{Context, Failure, Step};
use crate::value::Value;
use crate::walk;
use std::rc::Rc;
use wengert_prim::{Prim, RealOp};

/// `to_dual v`
pub(crate) fn to_dual(vector: Value) -> Value {
    Value::Dual(Rc::new([vector].into_iter().collect()))
}

/// The functional as a function on tangents, from what a [`Value::Dual`] holds.
pub(crate) fn as_function(functional: &Value) -> Value {
    if let Value::Fun(_) = functional {
        return functional.clone();
    }
    closures::partial(closures::primitive(Prim::ApplyDual, &[0, 1]), [to_dual(functional.clone())])
}

/// Two functionals of one type in one form: vectors, or functions. In a type with functions there may be points without.
pub(crate) fn in_one_form(a: &Value, b: &Value) -> Option<(Value, Value)> {
    let (Value::Dual(x), Value::Dual(y)) = (a, b) else { return None };
    let (x, y) = (x.get(0)?, y.get(0)?);
    let is_function = |value: &Value| matches!(value, Value::Fun(_));
    let is_cotangent = |value: &Value| matches!(value, Value::Cotangent(_));
    let differ = is_function(x) != is_function(y) && !is_cotangent(x) && !is_cotangent(y);
    differ.then(|| (to_dual(as_function(x)), to_dual(as_function(y))))
}

/// `from_dual d`: the vector; of a functional on a first-order type.
pub(crate) fn from_dual(functional: &Value) -> Result<Value, Failure> {
    let Value::Dual(inner) = functional else { return Err(mistyped("a functional")) };
    inner.get(0).cloned().ok_or_else(|| mistyped("a functional"))
}

/// `apply_dual d v`: the function at the tangent, or the inner product.
pub(crate) fn apply_dual(cx: &mut Context, functional: &Value, tangent: Value) -> Result<Step, Failure> {
    let cotangent = from_dual(functional)?;
    if let Value::Fun(_) = cotangent {
        return call1(cotangent, tangent);
    }
    let mut sum: Option<Value> = None;
    walk::pairs(cx, &cotangent, &tangent, &mismatch, &mut |cx, w, v| {
        if let Value::Fun(_) = w {
            return Err(errors::internal("a vector that holds a function"));
        }
        let product = arith::real2(cx, RealOp::MulZero, w, v)?;
        sum = Some(match sum.take() {
            Some(sum) => arith::real2(cx, RealOp::Add, &sum, &product)?,
            None => product,
        });
        Ok(())
    })?;
    Ok(Step::Done(sum.unwrap_or(Value::Real(0.0))))
}

fn mismatch(cotangent: &Value, tangent: &Value) -> Failure {
    errors::shapes("apply_dual", &walk::describe(cotangent), &walk::describe(tangent))
}
