//! Sums, products, extrema, and adding at places.

use super::array::{self, array};
use super::{misplaced, rearrange};
use crate::arith::observe;
use crate::arith::{self, begun_with_zero};
use crate::compile::instr::NumType;
use crate::errors;
use crate::step::{Context, Failure};
use crate::value::{Array, Fields, Value};
use std::rc::Rc;
use wengert_prim::{Prim, RealOp};

/// Calls a primitive of this module.
pub(crate) fn call(
    cx: &mut Context,
    prim: Prim,
    num: NumType,
    [a, b, c]: [Value; 3],
) -> Result<Value, Failure> {
    match prim {
        Prim::Sum => total(cx, array(&a)?, num, RealOp::Add),
        Prim::Product => total(cx, array(&a)?, num, RealOp::Mul),
        Prim::Maximum | Prim::Minimum | Prim::ArgMax | Prim::ArgMin => {
            let xs = array(&a)?;
            let largest = matches!(prim, Prim::Maximum | Prim::ArgMax);
            let place = extremum(cx, prim.info().name, xs, largest)?;
            match prim {
                Prim::Maximum | Prim::Minimum => Ok(xs.get(place).unwrap_or(Value::Bool(false))),
                _ => Ok(Value::Int(place as i64)),
            }
        }
        Prim::ScatterAdd => scatter_add(cx, a, array(&b)?, array(&c)?),
        other => Err(misplaced(other)),
    }
}

/// Adds or multiplies two numbers of one type.
pub(crate) fn combine(cx: &mut Context, op: RealOp, a: &Value, b: &Value) -> Result<Value, Failure> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) if op == RealOp::Add => Ok(Value::Int(x.wrapping_add(*y))),
        (Value::Int(x), Value::Int(y)) => Ok(Value::Int(x.wrapping_mul(*y))),
        (a, b) => arith::real2(cx, op, a, b),
    }
}

/// The neutral element of addition or multiplication.
fn neutral(op: RealOp, num: NumType) -> Value {
    let n = if op == RealOp::Add { 0 } else { 1 };
    match num {
        NumType::Int => Value::Int(n),
        NumType::Real => Value::Real(n as f64),
    }
}

/// Sum or product. The first element starts, so that n elements cost n - 1 operations; a sum is what it would be with 0 before it.
pub(crate) fn total(cx: &mut Context, xs: &Array, num: NumType, op: RealOp) -> Result<Value, Failure> {
    cx.work(xs.len() as u64)?;
    let product = op == RealOp::Mul;
    match xs {
        Array::Reals(items) => {
            let items = items.as_slice();
            cx.flops += items.len().saturating_sub(1) as u64;
            let total = items.iter().copied().reduce(|x, y| if product { x * y } else { x + y });
            let total = total.map_or_else(|| neutral(op, num), Value::Real);
            Ok(if product { total } else { begun_with_zero(total) })
        }
        Array::Ints(items) => {
            let combine = if product { i64::wrapping_mul } else { i64::wrapping_add };
            let total = items.as_slice().iter().copied().reduce(combine);
            Ok(total.map_or_else(|| neutral(op, num), Value::Int))
        }
        Array::Values(items) => {
            let Some((first, rest)) = items.as_slice().split_first() else { return Ok(neutral(op, num)) };
            let mut total = first.clone();
            for x in rest {
                total = combine(cx, op, &total, x)?;
            }
            Ok(if product { total } else { begun_with_zero(total) })
        }
    }
}

/// Where the first largest (or smallest) element is; the first `NaN` is both.
fn extremum(cx: &mut Context, function: &str, xs: &Array, largest: bool) -> Result<usize, Failure> {
    if xs.is_empty() {
        return Err(errors::empty(function));
    }
    cx.work(xs.len() as u64)?;
    if let Array::Ints(items) = xs {
        let places = items.as_slice().iter().enumerate();
        let best = places.reduce(|best, next| {
            let better = if largest { next.1 > best.1 } else { next.1 < best.1 };
            if better { next } else { best }
        });
        return Ok(best.map_or(0, |(i, _)| i));
    }
    cx.flops += xs.len() as u64 - 1;
    let mut best: Option<(usize, f64)> = None;
    for (i, x) in xs.items().enumerate() {
        let x = observe(&x)?;
        let better = best.is_none_or(|(_, y)| if largest { x > y } else { x < y });
        if x.is_nan() {
            return Ok(i);
        }
        if better {
            best = Some((i, x));
        }
    }
    Ok(best.map_or(0, |(i, _)| i))
}

/// `xs` with each value added at its place.
fn scatter_add(cx: &mut Context, xs: Value, places: &Array, values: &Array) -> Result<Value, Failure> {
    let target = array(&xs)?;
    let size = target.len();
    if places.len() != values.len() {
        return Err(errors::sizes("scatter_add", places.len(), values.len()));
    }
    cx.work((size + places.len()) as u64)?;
    if let (Array::Reals(items), Array::Reals(more)) = (&**target, values) {
        let mut items = items.as_slice().to_vec();
        for (i, x) in places.items().zip(more.as_slice()) {
            let i = rearrange::place(&i, size)?;
            if let Some(item) = items.get_mut(i) {
                *item += x;
            }
        }
        cx.flops += places.len() as u64;
        return Ok(array::of_reals(items));
    }
    let mut items: Vec<Value> = target.items().collect();
    for (i, x) in places.items().zip(values.items()) {
        let i = rearrange::place(&i, size)?;
        if let Some(item) = items.get_mut(i) {
            *item = combine(cx, RealOp::Add, item, &x)?;
        }
    }
    if items.is_empty() {
        return Ok(Value::Array(Rc::new(Array::Values(Fields::default()))));
    }
    array::from_values(items.into_iter())
}
