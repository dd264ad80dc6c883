//! Array operations, as the interpreter computes them: the same order of sums, the same errors.
//!
//! The interpreter has arrays of arrays; here they are flat. An index or a row of an array with several axes means what
//! it means there.

use super::limits::Meter;
use super::scalar::mistyped;
use super::value::{Array, Items, Shape, Value, map_items};
use super::{product, reduce};
use crate::op::ArrayOp;
use crate::ty::Elem;
use smallvec::SmallVec;
use std::rc::Rc;
use wengert_fault::Fault;

/// Operands of an operation.
pub(super) type Args = SmallVec<[Value; 4]>;

/// An array operation.
pub(super) fn array_op(meter: &mut Meter, op: ArrayOp, mut args: Args) -> Result<Value, Fault> {
    match op {
        ArrayOp::Literal => literal(meter, args),
        ArrayOp::Empty(elem, rank) => Ok(empty(elem, rank)),
        ArrayOp::Index => index(meter, &args),
        ArrayOp::Set | ArrayOp::AddAt => {
            let Some(row) = args.pop() else { return Err(mistyped("a row")) };
            let Some((first, indices)) = args.split_first_mut() else { return Err(mistyped("an array")) };
            let xs = taken(first)?;
            if op == ArrayOp::Set { set(meter, xs, indices, row) } else { add_at(meter, xs, indices, row) }
        }
        ArrayOp::Iota => {
            let count = int(&args, 0)?;
            let size = meter.storable("iota", count)?;
            meter.work(size)?;
            Ok(Value::ints((0..count).collect::<Vec<i64>>()))
        }
        ArrayOp::Replicate => replicate(meter, &args),
        ArrayOp::Zeros => zeros(meter, &args),
        ArrayOp::Add => {
            let ys = array(&args, 1)?.clone();
            match args.first_mut() {
                Some(first) => add(meter, taken(first)?, &ys),
                None => Err(mistyped("an array")),
            }
        }
        ArrayOp::Length(axis) => {
            let size = array(&args, 0)?.shape().get(usize::from(axis)).copied();
            Ok(Value::Int(size.ok_or_else(|| mistyped("an axis"))? as i64))
        }
        ArrayOp::Concat => concat(meter, &args),
        ArrayOp::Flatten => flatten(meter, array(&args, 0)?),
        ArrayOp::UnflattenLike => {
            let (flat, like) = (array(&args, 0)?, array(&args, 1)?);
            let axes = like.shape().iter().take(2);
            in_shape(meter, flat, axes.chain(flat.row_shape()).copied().collect())
        }
        ArrayOp::Reshape => {
            let shape = array(&args, 1)?.shape().iter().copied().collect();
            in_shape(meter, array(&args, 0)?, shape)
        }
        ArrayOp::Ravel => {
            let xs = array(&args, 0)?;
            meter.work(xs.items().len())?;
            meter.reserve(8 * xs.items().len() as u64)?;
            Ok(Value::Array(Rc::new(Array::vector(xs.items().clone()))))
        }
        ArrayOp::Slice => slice(meter, &args),
        ArrayOp::Reverse => {
            let xs = array(&args, 0)?;
            moved(meter, xs, (0..xs.rows()).rev().collect())
        }
        ArrayOp::Transpose => {
            let transposed = transpose(meter, array(&args, 0)?)?;
            match args.get(1) {
                Some(Value::Array(like)) if like.items().is_empty() => Ok(Value::Array(like.clone())),
                _ => Ok(transposed),
            }
        }
        ArrayOp::Gather => {
            let (xs, places) = (array(&args, 0)?, ints(&args, 1)?);
            meter.work(places.len())?;
            let places =
                places.iter().map(|i| place(*i, xs.rows())).collect::<Result<Vec<usize>, Fault>>()?;
            moved(meter, xs, places)
        }
        ArrayOp::Filter => {
            let xs = array(&args, 0)?;
            let Items::Bools(keep) = array(&args, 1)?.items() else { return Err(mistyped("truth values")) };
            let places = keep.iter().take(xs.rows()).enumerate().filter(|(_, keep)| **keep).map(|(i, _)| i);
            moved(meter, xs, places.collect())
        }
        ArrayOp::Sort => {
            let xs = array(&args, 0)?;
            let places = reduce::ascending(meter, xs)?;
            moved(meter, xs, places)
        }
        ArrayOp::ArgSort => {
            let places = reduce::ascending(meter, array(&args, 0)?)?;
            Ok(Value::ints(places.into_iter().map(|i| i as i64).collect::<Vec<i64>>()))
        }
        ArrayOp::ScatterAdd => {
            let (places, values) = (ints(&args, 1)?.to_vec(), array(&args, 2)?.clone());
            let Some(first) = args.first_mut() else { return Err(mistyped("an array")) };
            scatter_add(meter, taken(first)?, &places, &values)
        }
        ArrayOp::AddProduct(lie) => {
            let Some((first, rest)) = args.split_first_mut() else { return Err(mistyped("an array")) };
            product::add(meter, lie, taken(first)?, rest)
        }
        ArrayOp::Sum
        | ArrayOp::Product
        | ArrayOp::Maximum
        | ArrayOp::Minimum
        | ArrayOp::ArgMax
        | ArrayOp::ArgMin
        | ArrayOp::Dot
        | ArrayOp::MatVec
        | ArrayOp::MatMul => reduce::reduce_op(meter, op, &args),
    }
}

/// The operand that is an array.
pub(super) fn array(args: &[Value], index: usize) -> Result<&Rc<Array>, Fault> {
    match args.get(index) {
        Some(Value::Array(array)) => Ok(array),
        _ => Err(mistyped("an array")),
    }
}

/// The array, taken out of its place.
fn taken(value: &mut Value) -> Result<Rc<Array>, Fault> {
    let Value::Array(array) = std::mem::replace(value, Value::Unit) else { return Err(mistyped("an array")) };
    Ok(array)
}

fn int(args: &[Value], index: usize) -> Result<i64, Fault> {
    match args.get(index) {
        Some(Value::Int(n)) => Ok(*n),
        _ => Err(mistyped("an integer")),
    }
}

fn ints(args: &[Value], index: usize) -> Result<&[i64], Fault> {
    let Items::Ints(items) = array(args, index)?.items() else { return Err(mistyped("integers")) };
    Ok(items)
}

/// `3`, `3 x 2`; after an axis of size 0 there is nothing to say.
pub(super) fn sizes(shape: &[usize]) -> String {
    let end = shape.iter().position(|size| *size == 0).map_or(shape.len(), |zero| zero + 1);
    let shown: Vec<String> = shape.iter().take(end).map(usize::to_string).collect();
    shown.join(" x ")
}

/// Two rows, by their places, that have different shapes.
pub(super) fn ragged(first: (usize, &[usize]), second: (usize, &[usize])) -> Fault {
    let [first, second] = [first, second].map(|(place, shape)| (place, sizes(shape)));
    Fault::Ragged { first, second }
}

/// `an array of 3 elements`
fn described(shape: &[usize]) -> String {
    match shape.first() {
        Some(1) => "an array of 1 element".into(),
        size => format!("an array of {} elements", size.unwrap_or(&0)),
    }
}

/// Two arrays that cannot be added.
fn not_addable(xs: &[usize], ys: &[usize]) -> Fault {
    Fault::Shapes { operation: "add".into(), point: described(xs), tangent: described(ys) }
}

/// An array without rows.
pub(super) fn empty(elem: Elem, rank: u8) -> Value {
    Value::array(std::iter::repeat_n(0, usize::from(rank)), Items::with_capacity(elem, 0))
}

/// An array of these rows, which must agree; there is at least one.
pub(super) fn of_rows(rows: &[Rc<Array>]) -> Result<Value, Fault> {
    let Some((first, rest)) = rows.split_first() else { return Err(mistyped("a row")) };
    if let Some(i) = rest.iter().position(|row| row.shape() != first.shape()) {
        let found = rest.get(i).map_or(&[][..], |row| row.shape());
        return Err(ragged((0, first.shape()), (i + 1, found)));
    }
    let mut items = first.items().empty_like();
    if !rows.iter().all(|row| items.extend(row.items())) {
        return Err(mistyped("rows of one type"));
    }
    Ok(Value::array([rows.len()].into_iter().chain(first.shape().iter().copied()), items))
}

fn literal(meter: &mut Meter, rows: Args) -> Result<Value, Fault> {
    meter.work(rows.len())?;
    if let Some(Value::Array(_)) = rows.first() {
        let rows = (0..rows.len()).map(|i| array(&rows, i).cloned()).collect::<Result<Vec<_>, Fault>>()?;
        return of_rows(&rows);
    }
    let mut items = match rows.first() {
        Some(Value::Real(_)) => Items::Reals(Vec::with_capacity(rows.len())),
        Some(Value::Int(_)) => Items::Ints(Vec::with_capacity(rows.len())),
        Some(Value::Bool(_)) => Items::Bools(Vec::with_capacity(rows.len())),
        Some(Value::Text(_)) => Items::Texts(Vec::with_capacity(rows.len())),
        Some(Value::Data(_)) => Items::Data(Vec::with_capacity(rows.len())),
        _ => Items::Units(Vec::with_capacity(rows.len())),
    };
    if !rows.into_iter().all(|row| items.push(row)) {
        return Err(mistyped("elements of one type"));
    }
    Ok(Value::Array(Rc::new(Array::vector(items))))
}

/// A checked index.
pub(super) fn place(index: i64, size: usize) -> Result<usize, Fault> {
    let place = usize::try_from(index).ok().filter(|place| *place < size);
    place.ok_or(Fault::Index { index, size })
}

/// Where what these indices select begins, and its shape.
pub(super) fn located(xs: &Array, indices: &[Value]) -> Result<(usize, Shape), Fault> {
    let mut start = 0;
    for (axis, size) in xs.shape().iter().take(indices.len()).enumerate() {
        start = start * size + place(int(indices, axis)?, *size)?;
    }
    let shape: Shape = xs.shape().iter().skip(indices.len()).copied().collect();
    Ok((start * shape.iter().product::<usize>(), shape))
}

fn index(meter: &mut Meter, args: &[Value]) -> Result<Value, Fault> {
    let xs = array(args, 0)?;
    let indices = args.get(1..).unwrap_or_default();
    let (start, shape) = located(xs, indices).inspect_err(|_| {
        let good =
            (1..indices.len()).take_while(|n| located(xs, indices.get(..*n).unwrap_or_default()).is_ok());
        meter.indices_after = indices.len() - 1 - good.count();
    })?;
    if shape.is_empty() {
        return xs.items().get(start).ok_or_else(|| mistyped("an element"));
    }
    let size = shape.iter().product();
    meter.work(size)?;
    meter.reserve(8 * size as u64)?;
    let row = xs.items().part(start, size).ok_or_else(|| mistyped("a row"))?;
    Ok(Value::array(shape, row))
}

/// Elements of a value: the array itself, or one element.
fn one_or_many(row: Value, like: &Items) -> Result<(Shape, Items), Fault> {
    if let Value::Array(row) = &row {
        return Ok((row.shape().iter().copied().collect(), row.items().clone()));
    }
    let mut items = like.empty_like();
    if !items.push(row) {
        return Err(mistyped("an element of the array's type"));
    }
    Ok((Shape::new(), items))
}

/// The array with something replaced; in place if nobody else has it.
fn set(meter: &mut Meter, mut xs: Rc<Array>, indices: &[Value], row: Value) -> Result<Value, Fault> {
    let (start, shape) = located(&xs, indices)?;
    let (new_shape, items) = one_or_many(row, xs.items())?;
    if new_shape != shape {
        // An array with one row may change the shape of its rows, and so may that row.
        let mut whole = new_shape;
        for axis in (0..indices.len()).rev() {
            let (size, index) = (xs.shape().get(axis).copied().unwrap_or(0), int(indices, axis)? as usize);
            let old = xs.shape().get(axis + 1..).unwrap_or_default();
            if size > 1 && whole.as_slice() != old {
                let other = if index == 0 { size - 1 } else { 0 };
                return Err(ragged((other, old), (index, &whole)));
            }
            whole.insert(0, size);
        }
        return Ok(Value::array(whole, items));
    }
    meter.work(items.len())?;
    unique(meter, &mut xs)?;
    let changed = Rc::get_mut(&mut xs).is_some_and(|xs| xs.items_mut().replace(start, &items));
    if changed { Ok(Value::Array(xs)) } else { Err(mistyped("a row of the array's type")) }
}

/// Makes a copy if somebody else has the array too.
pub(super) fn unique(meter: &mut Meter, xs: &mut Rc<Array>) -> Result<(), Fault> {
    if Rc::get_mut(xs).is_none() {
        meter.work(xs.items().len())?;
        meter.reserve(8 * xs.items().len() as u64)?;
        *xs = Rc::new(Array::clone(xs));
    }
    Ok(())
}

/// The array with something added to a part; in place if nobody else has it. A row without elements counts as zero.
fn add_at(meter: &mut Meter, mut xs: Rc<Array>, indices: &[Value], row: Value) -> Result<Value, Fault> {
    let (start, shape) = located(&xs, indices)?;
    let (row_shape, row) = one_or_many(row, xs.items())?;
    if row.is_empty() {
        return Ok(Value::Array(xs));
    }
    if row_shape != shape {
        return Err(not_addable(&shape, &row_shape));
    }
    meter.work(row.len())?;
    unique(meter, &mut xs)?;
    let Some(unique) = Rc::get_mut(&mut xs) else { return Err(mistyped("an array")) };
    reduce::add_into(meter, unique.items_mut(), start, &row)?;
    Ok(Value::Array(xs))
}

/// Elementwise sum; an array without elements counts as zero.
fn add(meter: &mut Meter, mut xs: Rc<Array>, ys: &Rc<Array>) -> Result<Value, Fault> {
    if ys.items().is_empty() && ys.rows() <= xs.rows() {
        return Ok(Value::Array(xs));
    }
    if xs.items().is_empty() {
        return Ok(Value::Array(ys.clone()));
    }
    if xs.shape() != ys.shape() {
        return Err(not_addable(xs.shape(), ys.shape()));
    }
    meter.work(ys.items().len())?;
    unique(meter, &mut xs)?;
    let Some(unique) = Rc::get_mut(&mut xs) else { return Err(mistyped("an array")) };
    reduce::add_into(meter, unique.items_mut(), 0, ys.items())?;
    Ok(Value::Array(xs))
}

fn zeros(meter: &mut Meter, args: &[Value]) -> Result<Value, Fault> {
    let Some(Value::Array(xs)) = args.first() else { return Ok(Value::Real(0.0)) };
    let size = xs.items().len();
    meter.work(size)?;
    meter.reserve(8 * size as u64)?;
    Ok(Value::array(xs.shape().iter().copied(), Items::Reals(vec![0.0; size])))
}

fn replicate(meter: &mut Meter, args: &[Value]) -> Result<Value, Fault> {
    let count = meter.storable("replicate", int(args, 0)?)?;
    let Some(Value::Array(row)) = args.get(1) else {
        meter.work(count)?;
        return match args.get(1) {
            Some(Value::Real(x)) => Ok(Value::reals(vec![*x; count])),
            Some(Value::Int(n)) => Ok(Value::ints(vec![*n; count])),
            Some(Value::Bool(truth)) => Ok(Value::array([count], Items::Bools(vec![*truth; count]))),
            Some(Value::Text(text)) => Ok(Value::array([count], Items::Texts(vec![text.clone(); count]))),
            Some(Value::Unit) => Ok(Value::array([count], Items::Units(vec![(); count]))),
            Some(Value::Data(node)) => Ok(Value::array([count], Items::Data(vec![node.clone(); count]))),
            _ => Err(mistyped("an element")),
        };
    };
    let size = row.items().len().saturating_mul(count);
    meter.reserve(8 * size as u64)?;
    meter.work(size.max(count))?;
    let items = map_items!(row.items(), items => items.iter().cycle().take(size).cloned().collect());
    Ok(Value::array([count].into_iter().chain(row.shape().iter().copied()), items))
}

fn concat(meter: &mut Meter, args: &[Value]) -> Result<Value, Fault> {
    let (xs, ys) = (array(args, 0)?, array(args, 1)?);
    if ys.rows() == 0 {
        return Ok(Value::Array(xs.clone()));
    }
    if xs.rows() == 0 {
        return Ok(Value::Array(ys.clone()));
    }
    if xs.row_shape() != ys.row_shape() {
        return Err(ragged((0, xs.row_shape()), (xs.rows(), ys.row_shape())));
    }
    let size = xs.items().len() + ys.items().len();
    meter.work(size)?;
    meter.reserve(8 * size as u64)?;
    let mut items = xs.items().clone();
    items.extend(ys.items());
    Ok(Value::array([xs.rows() + ys.rows()].into_iter().chain(xs.row_shape().iter().copied()), items))
}

fn flatten(meter: &mut Meter, rows: &Array) -> Result<Value, Fault> {
    let size = rows.items().len();
    meter.work(size)?;
    meter.reserve(8 * size as u64)?;
    let [first, second, rest @ ..] = rows.shape() else { return Err(mistyped("an array of arrays")) };
    Ok(Value::array([first * second].into_iter().chain(rest.iter().copied()), rows.items().clone()))
}

/// The elements in another shape; reals that are missing altogether count as zeros.
fn in_shape(meter: &mut Meter, xs: &Array, shape: Shape) -> Result<Value, Fault> {
    let size = shape.iter().product();
    meter.work(size)?;
    meter.reserve(8 * size as u64)?;
    let items = xs.items();
    if items.len() == size {
        return Ok(Value::array(shape, items.clone()));
    }
    if matches!(items, Items::Reals(items) if items.is_empty()) {
        return Ok(Value::array(shape, Items::Reals(vec![0.0; size])));
    }
    Err(Fault::internal(format!("{} elements in the shape {}", items.len(), sizes(&shape))))
}

/// The rows at these places.
fn moved(meter: &mut Meter, xs: &Array, places: Vec<usize>) -> Result<Value, Fault> {
    let row: usize = xs.row_shape().iter().product();
    meter.work(places.len() * row.max(1))?;
    meter.reserve((places.len() * row) as u64 * 8)?;
    let items = map_items!(xs.items(), items => {
        let mut moved = Vec::with_capacity(places.len() * row);
        for place in &places {
            moved.extend_from_slice(items.get(place * row..(place + 1) * row).unwrap_or_default());
        }
        moved
    });
    Ok(Value::array([places.len()].into_iter().chain(xs.row_shape().iter().copied()), items))
}

fn slice(meter: &mut Meter, args: &[Value]) -> Result<Value, Fault> {
    let (xs, from, to) = (array(args, 0)?, int(args, 1)?, int(args, 2)?);
    let size = xs.rows();
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let range = range.filter(|(from, to)| from <= to && *to <= size);
    let (start, end) = range.ok_or(Fault::Slice { from, to, size })?;
    if (start, end) == (0, size) {
        return Ok(Value::Array(xs.clone()));
    }
    moved(meter, xs, (start..end).collect())
}

fn transpose(meter: &mut Meter, rows: &Array) -> Result<Value, Fault> {
    let [n, m, rest @ ..] = rows.shape() else { return Err(mistyped("an array of arrays")) };
    let (n, m, row) = (*n, *m, rest.iter().product::<usize>());
    meter.work(rows.items().len())?;
    meter.reserve(8 * rows.items().len() as u64)?;
    let items = map_items!(rows.items(), items => {
        let mut moved = Vec::with_capacity(items.len());
        for j in 0..m {
            for i in 0..n {
                let place = (i * m + j) * row;
                moved.extend_from_slice(items.get(place..place + row).unwrap_or_default());
            }
        }
        moved
    });
    Ok(Value::array([m, n].into_iter().chain(rest.iter().copied()), items))
}

/// `xs` with each row added at its place; in place if nobody else has it.
fn scatter_add(meter: &mut Meter, mut xs: Rc<Array>, places: &[i64], rows: &Array) -> Result<Value, Fault> {
    if places.len() != rows.rows() {
        return Err(Fault::Sizes {
            function: "scatter_add".into(),
            first: places.len(),
            second: rows.rows(),
        });
    }
    meter.work(xs.rows() + rows.items().len().max(places.len()))?;
    if !places.is_empty() && xs.rows() > 0 && xs.row_shape() != rows.row_shape() {
        return Err(not_addable(xs.row_shape(), rows.row_shape()));
    }
    unique(meter, &mut xs)?;
    let (size, row) = (xs.rows(), xs.row_shape().iter().product::<usize>());
    let Some(unique) = Rc::get_mut(&mut xs) else { return Err(mistyped("an array")) };
    for (i, index) in places.iter().enumerate() {
        let start = place(*index, size)? * row;
        let part = rows.items().part(i * row, row).ok_or_else(|| mistyped("a row"))?;
        reduce::add_into(meter, unique.items_mut(), start, &part)?;
    }
    Ok(Value::Array(xs))
}
