//! Products of vectors and matrices.
//!
//! Plain reals are multiplied in a loop over flat rows. For everything else (integers, perturbed reals) the products
//! are written out in elementary operations, whose derivatives are known.

use super::array::{self, Builder, array};
use super::misplaced;
use super::reduce::combine;
use crate::arith::begun_with_zero;
use crate::compile::instr::NumType;
use crate::errors;
use crate::step::{Context, Failure};
use crate::value::{Array, Value};
use std::rc::Rc;
use wengert_prim::{Prim, RealOp};

/// Calls a primitive of this module.
pub(crate) fn call(
    cx: &mut Context,
    prim: Prim,
    num: NumType,
    [a, b, _]: [Value; 3],
) -> Result<Value, Failure> {
    let (xs, ys) = (array(&a)?, array(&b)?);
    match prim {
        Prim::Dot => {
            if xs.len() != ys.len() {
                return Err(errors::sizes("dot", xs.len(), ys.len()));
            }
            dot(cx, num, xs, ys)
        }
        Prim::MatVec => matvec(cx, num, xs, ys),
        Prim::MatMul => matmul(cx, num, xs, ys),
        other => Err(misplaced(other)),
    }
}

/// Sum of products of two arrays of one size: n multiplications and n - 1 additions.
fn dot(cx: &mut Context, num: NumType, xs: &Array, ys: &Array) -> Result<Value, Failure> {
    cx.work(xs.len() as u64)?;
    if xs.is_empty() {
        return Ok(match num {
            NumType::Int => Value::Int(0),
            NumType::Real => Value::Real(0.0),
        });
    }
    if let (Array::Reals(xs), Array::Reals(ys)) = (xs, ys) {
        let (xs, ys) = (xs.as_slice(), ys.as_slice());
        cx.flops += 2 * xs.len() as u64 - 1;
        let products = xs.iter().zip(ys).map(|(x, y)| x * y);
        return Ok(begun_with_zero(Value::Real(products.reduce(|x, y| x + y).unwrap_or(0.0))));
    }
    let mut total: Option<Value> = None;
    for (x, y) in xs.items().zip(ys.items()) {
        let product = combine(cx, RealOp::Mul, &x, &y)?;
        total = Some(match total {
            Some(total) => combine(cx, RealOp::Add, &total, &product)?,
            None => product,
        });
    }
    Ok(total.map_or(Value::Real(0.0), begun_with_zero))
}

fn matvec(cx: &mut Context, num: NumType, rows: &Array, vector: &Array) -> Result<Value, Failure> {
    let mut result = Builder::new(cx, rows.len())?;
    for row in rows.items() {
        let row = array(&row)?;
        if row.len() != vector.len() {
            return Err(errors::product_sizes("matvec", row.len(), vector.len()));
        }
        result.push(dot(cx, num, row, vector)?);
    }
    result.finish()
}

fn matmul(cx: &mut Context, num: NumType, left: &Array, right: &Array) -> Result<Value, Failure> {
    let inner = match left.get(0) {
        Some(row) => array(&row)?.len(),
        None => return array::from_values(std::iter::empty()),
    };
    if inner != right.len() {
        return Err(errors::product_sizes("matmul", inner, right.len()));
    }
    let width = match right.get(0) {
        Some(row) => array(&row)?.len(),
        // Without inner elements the width of the product is unknown: take it as empty.
        None => 0,
    };
    cx.reserve((left.len() as u64).saturating_mul(width as u64).saturating_mul(size_of::<f64>() as u64))?;
    let right: Result<Vec<Rc<Array>>, Failure> = right.items().map(|row| array(&row).cloned()).collect();
    let right = right?;
    let columns: Vec<Value> = (0..width)
        .map(|j| array::from_values(right.iter().map(|row| row.get(j).unwrap_or(Value::Bool(false)))))
        .collect::<Result<_, Failure>>()?;
    let mut result = Builder::new(cx, left.len())?;
    for row in left.items() {
        let row = array(&row)?;
        let mut products = Builder::new(cx, width)?;
        for column in &columns {
            products.push(dot(cx, num, row, array(column)?)?);
        }
        result.push(products.finish()?);
    }
    result.finish()
}
