//! Functions that move elements without looking at them. Derivatives need nothing special here: a perturbed element
//! carries its perturbation along.

use super::array::{self, Builder, array, count};
use super::{int, misplaced, mistyped};
use crate::errors;
use crate::step::{Context, Failure};
use crate::value::{Array, Fields, Value};
use std::rc::Rc;
use wengert_prim::Prim;

/// Calls a primitive of this module.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, b, c]: [Value; 3]) -> Result<Value, Failure> {
    let xs = array(&a)?;
    cx.work(xs.len() as u64)?;
    cx.reserve(xs.len() as u64 * size_of::<Value>() as u64)?;
    match prim {
        Prim::Zip => {
            let ys = array(&b)?;
            if xs.len() != ys.len() {
                return Err(errors::sizes("zip", xs.len(), ys.len()));
            }
            let pairs = xs.items().zip(ys.items());
            let pairs = pairs.map(|(x, y)| Value::Tuple(Rc::new([x, y].into_iter().collect())));
            Ok(Value::Array(Rc::new(Array::Values(pairs.collect()))))
        }
        Prim::Unzip => unzip(cx, xs),
        Prim::Concat => {
            let ys = array(&b)?;
            cx.work(ys.len() as u64)?;
            concat(cx, &a, &b, xs.len() + ys.len())
        }
        Prim::Flatten => flatten(cx, xs),
        Prim::Slice => slice(cx, &a, xs, int(&b)?, int(&c)?),
        Prim::Reverse => rearranged(cx, xs, (0..xs.len()).rev()),
        Prim::Gather => {
            let places = array(&b)?;
            cx.work(places.len() as u64)?;
            let places: Result<Vec<usize>, Failure> = places.items().map(|i| place(&i, xs.len())).collect();
            rearranged(cx, xs, places?.into_iter())
        }
        Prim::Transpose => transpose(cx, xs),
        other => Err(misplaced(other)),
    }
}

/// A checked index.
pub(crate) fn place(index: &Value, size: usize) -> Result<usize, Failure> {
    let index = int(index)?;
    usize::try_from(index).ok().filter(|i| *i < size).ok_or_else(|| errors::index(index, size))
}

/// The elements at these places.
pub(crate) fn rearranged(
    cx: &mut Context,
    xs: &Array,
    places: impl ExactSizeIterator<Item = usize>,
) -> Result<Value, Failure> {
    let size = places.len();
    match xs {
        Array::Reals(items) if size > 0 => {
            let mut moved = array::vector(cx, "gather", size)?;
            moved.extend(places.filter_map(|i| items.as_slice().get(i)));
            Ok(array::of_reals(moved))
        }
        Array::Ints(items) if size > 0 => {
            let mut moved = array::vector(cx, "gather", size)?;
            moved.extend(places.filter_map(|i| items.as_slice().get(i)));
            Ok(array::of_ints(moved))
        }
        xs => {
            cx.reserve((size * size_of::<Value>()) as u64)?;
            let moved: Fields = places.filter_map(|i| xs.get(i)).collect();
            Ok(Value::Array(Rc::new(Array::Values(moved))))
        }
    }
}

fn unzip(cx: &mut Context, pairs: &Array) -> Result<Value, Failure> {
    let mut first = Builder::new(cx, pairs.len())?;
    let mut second = Builder::new(cx, pairs.len())?;
    for pair in pairs.items() {
        let Value::Tuple(pair) = pair else { return Err(mistyped("a pair")) };
        let [x, y] = pair.as_slice() else { return Err(mistyped("a pair")) };
        first.push(x.clone());
        second.push(y.clone());
    }
    Ok(Value::Tuple(Rc::new([first.finish()?, second.finish()?].into_iter().collect())))
}

fn concat(cx: &mut Context, a: &Value, b: &Value, size: usize) -> Result<Value, Failure> {
    let (xs, ys) = (array(a)?, array(b)?);
    if ys.is_empty() {
        return Ok(a.clone());
    }
    if xs.is_empty() {
        return Ok(b.clone());
    }
    let mut joined = Builder::new(cx, size)?;
    xs.items().chain(ys.items()).for_each(|x| joined.push(x));
    joined.finish()
}

fn flatten(cx: &mut Context, rows: &Array) -> Result<Value, Failure> {
    let mut size = 0;
    for row in rows.items() {
        size += array(&row)?.len();
    }
    cx.work(size as u64)?;
    let mut flat = Builder::new(cx, size)?;
    for row in rows.items() {
        array(&row)?.items().for_each(|x| flat.push(x));
    }
    flat.finish()
}

fn slice(cx: &mut Context, whole: &Value, xs: &Array, from: i64, to: i64) -> Result<Value, Failure> {
    let size = xs.len();
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let range = range.filter(|(from, to)| from <= to && *to <= size);
    let (start, end) = range.ok_or_else(|| errors::slice(from, to, size))?;
    if (start, end) == (0, size) {
        return Ok(whole.clone());
    }
    rearranged(cx, xs, start..end)
}

fn transpose(cx: &mut Context, rows: &Array) -> Result<Value, Failure> {
    let Some(first) = rows.get(0) else { return Ok(Value::Array(Rc::new(Array::Values(Fields::default())))) };
    let columns = count("transpose", array(&first)?.len() as i64)?;
    cx.work((columns * rows.len()) as u64)?;
    cx.reserve((columns * rows.len() * size_of::<f64>()) as u64)?;
    let rows: Result<Vec<Rc<Array>>, Failure> = rows.items().map(|row| array(&row).cloned()).collect();
    let rows = rows?;
    let mut result = Builder::new(cx, columns)?;
    for j in 0..columns {
        let column = rows.iter().map(|row| row.get(j).unwrap_or(Value::Bool(false)));
        result.push(array::from_values(column)?);
    }
    result.finish()
}
