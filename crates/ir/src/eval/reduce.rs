//! Sums, products, extrema, products of vectors and matrices, sorting: from left to right, so that every engine that
//! keeps the order gives the same bits. Floating-point operations are counted as the interpreter counts them: n - 1 for a
//! sum of n, 2n - 1 for a product of vectors, n - 1 for an extremum.

use super::array::array;
use super::limits::Meter;
use super::scalar::mistyped;
use super::value::{Array, Items, Value};
use crate::op::ArrayOp;
use std::cmp::Ordering;
use wengert_fault::Fault;

/// Extrema: their names, and whether they look for the largest.
const EXTREMA: [(ArrayOp, &str, bool); 4] = [
    (ArrayOp::Maximum, "maximum", true),
    (ArrayOp::ArgMax, "argmax", true),
    (ArrayOp::Minimum, "minimum", false),
    (ArrayOp::ArgMin, "argmin", false),
];

/// An operation that reduces one or two arrays.
pub(super) fn reduce_op(meter: &mut Meter, op: ArrayOp, args: &[Value]) -> Result<Value, Fault> {
    let xs = array(args, 0)?;
    if op == ArrayOp::Sum || op == ArrayOp::Product {
        return total(meter, xs.items(), op == ArrayOp::Product);
    }
    if let Some((_, function, largest)) = EXTREMA.iter().find(|(other, ..)| *other == op) {
        let place = extremum_place(meter, function, xs.items(), *largest)?;
        if op == ArrayOp::ArgMax || op == ArrayOp::ArgMin {
            return Ok(Value::Int(place as i64));
        }
        return xs.items().get(place).ok_or_else(|| mistyped("an element"));
    }
    let ys = array(args, 1)?;
    if op == ArrayOp::Dot {
        if xs.rows() != ys.rows() {
            return Err(Fault::Sizes { function: "dot".into(), first: xs.rows(), second: ys.rows() });
        }
        return dot(meter, xs.items(), ys.items());
    }
    if op == ArrayOp::MatVec { matvec(meter, xs, ys) } else { matmul(meter, xs, ys) }
}

/// Sum or product. The first element starts; a sum is never -0.
fn total(meter: &mut Meter, items: &Items, product: bool) -> Result<Value, Fault> {
    meter.work(items.len())?;
    match items {
        Items::Reals(items) => {
            meter.flops += items.len().saturating_sub(1) as u64;
            let total = items.iter().copied().reduce(|x, y| if product { x * y } else { x + y });
            Ok(Value::Real(if product { total.unwrap_or(1.0) } else { total.unwrap_or(0.0) + 0.0 }))
        }
        Items::Ints(items) => {
            let combine = if product { i64::wrapping_mul } else { i64::wrapping_add };
            Ok(Value::Int(items.iter().copied().reduce(combine).unwrap_or(i64::from(product))))
        }
        Items::Bools(_) | Items::Texts(_) | Items::Units(_) | Items::Data(_) => Err(mistyped("numbers")),
    }
}

/// Where the first largest (or smallest) element is; the first `NaN` is both.
fn extremum_place(meter: &mut Meter, function: &str, items: &Items, largest: bool) -> Result<usize, Fault> {
    if items.is_empty() {
        return Err(Fault::Empty { function: function.into() });
    }
    meter.work(items.len())?;
    match items {
        Items::Ints(items) => {
            let best = items.iter().enumerate().reduce(|best, next| {
                let better = if largest { next.1 > best.1 } else { next.1 < best.1 };
                if better { next } else { best }
            });
            Ok(best.map_or(0, |(place, _)| place))
        }
        Items::Reals(items) => {
            meter.flops += items.len() as u64 - 1;
            let mut best: Option<(usize, f64)> = None;
            for (i, x) in items.iter().copied().enumerate() {
                if x.is_nan() {
                    return Ok(i);
                }
                if best.is_none_or(|(_, y)| if largest { x > y } else { x < y }) {
                    best = Some((i, x));
                }
            }
            Ok(best.map_or(0, |(place, _)| place))
        }
        Items::Bools(_) | Items::Texts(_) | Items::Units(_) | Items::Data(_) => Err(mistyped("numbers")),
    }
}

/// Sum of products.
fn dot(meter: &mut Meter, xs: &Items, ys: &Items) -> Result<Value, Fault> {
    meter.work(xs.len())?;
    match (xs, ys) {
        (Items::Reals(xs), Items::Reals(ys)) => Ok(Value::Real(dot_reals(meter, xs, ys))),
        (Items::Ints(xs), Items::Ints(ys)) => Ok(Value::Int(dot_ints(xs, ys))),
        _ => Err(mistyped("numbers of one kind")),
    }
}

fn dot_reals(meter: &mut Meter, xs: &[f64], ys: &[f64]) -> f64 {
    meter.flops += (2 * xs.len()).saturating_sub(1) as u64;
    xs.iter().zip(ys).map(|(x, y)| x * y).reduce(|x, y| x + y).unwrap_or(0.0) + 0.0
}

fn dot_ints(xs: &[i64], ys: &[i64]) -> i64 {
    xs.iter().zip(ys).fold(0, |total, (x, y)| total.wrapping_add(x.wrapping_mul(*y)))
}

fn product_sizes(function: &str, columns: usize, rows: usize) -> Fault {
    Fault::ProductSizes { function: function.into(), columns, rows }
}

/// Part `i` of a buffer that is cut into parts of that size; size 0 gives empty parts.
fn part<T>(items: &[T], i: usize, size: usize) -> &[T] {
    items.get(i * size..(i + 1) * size).unwrap_or_default()
}

fn matvec(meter: &mut Meter, rows: &Array, vector: &Array) -> Result<Value, Fault> {
    let [n, m] = rows.shape() else { return Err(mistyped("a matrix")) };
    let (n, m) = (*n, *m);
    if n > 0 && m != vector.rows() {
        return Err(product_sizes("matvec", m, vector.rows()));
    }
    meter.work(n * m)?;
    meter.reserve(8 * n as u64)?;
    let items = match (rows.items(), vector.items()) {
        (Items::Reals(xs), Items::Reals(ys)) => {
            Items::Reals((0..n).map(|i| dot_reals(meter, part(xs, i, m), ys)).collect())
        }
        (Items::Ints(xs), Items::Ints(ys)) => {
            Items::Ints((0..n).map(|i| dot_ints(part(xs, i, m), ys)).collect())
        }
        _ => return Err(mistyped("numbers of one kind")),
    };
    Ok(Value::array([n], items))
}

fn matmul(meter: &mut Meter, left: &Array, right: &Array) -> Result<Value, Fault> {
    let ([n, inner], [rows, width]) = (left.shape(), right.shape()) else { return Err(mistyped("matrices")) };
    let (n, inner, rows, width) = (*n, *inner, *rows, *width);
    if n > 0 && inner != rows {
        return Err(product_sizes("matmul", inner, rows));
    }
    let width = if n == 0 { 0 } else { width };
    meter.reserve((n as u64).saturating_mul(width as u64).saturating_mul(8))?;
    fn columns<T: Copy>(items: &[T], width: usize) -> Vec<Vec<T>> {
        (0..width).map(|j| items.iter().skip(j).step_by(width.max(1)).copied().collect()).collect()
    }
    let pairs = || (0..n).flat_map(|i| (0..width).map(move |j| (i, j)));
    let items = match (left.items(), right.items()) {
        (Items::Reals(xs), Items::Reals(ys)) => {
            let (columns, mut items) = (columns(ys, width), Vec::with_capacity(n * width));
            for (i, j) in pairs() {
                meter.work(inner)?;
                let column = columns.get(j).map_or(&[][..], Vec::as_slice);
                items.push(dot_reals(meter, part(xs, i, inner), column));
            }
            Items::Reals(items)
        }
        (Items::Ints(xs), Items::Ints(ys)) => {
            let (columns, mut items) = (columns(ys, width), Vec::with_capacity(n * width));
            for (i, j) in pairs() {
                meter.work(inner)?;
                let column = columns.get(j).map_or(&[][..], Vec::as_slice);
                items.push(dot_ints(part(xs, i, inner), column));
            }
            Items::Ints(items)
        }
        _ => return Err(mistyped("numbers of one kind")),
    };
    Ok(Value::array([n, width], items))
}

/// Adds numbers to as many from that place on.
pub(super) fn add_into(meter: &mut Meter, items: &mut Items, at: usize, more: &Items) -> Result<(), Fault> {
    match (items, more) {
        (Items::Reals(items), Items::Reals(more)) => {
            meter.flops += more.len() as u64;
            let place = items.get_mut(at..at + more.len()).ok_or_else(|| mistyped("a place"))?;
            place.iter_mut().zip(more).for_each(|(x, y)| *x += y);
        }
        (Items::Ints(items), Items::Ints(more)) => {
            let place = items.get_mut(at..at + more.len()).ok_or_else(|| mistyped("a place"))?;
            place.iter_mut().zip(more).for_each(|(x, y)| *x = x.wrapping_add(*y));
        }
        _ => return Err(mistyped("numbers of one kind")),
    }
    Ok(())
}

/// The places of the elements in ascending order: stable, `NaN` last.
pub(super) fn ascending(meter: &mut Meter, xs: &Array) -> Result<Vec<usize>, Fault> {
    let size = xs.rows();
    // A comparison sort makes about this many steps.
    meter.work(size * size.max(1).ilog2() as usize)?;
    meter.reserve(8 * size as u64)?;
    let mut places: Vec<usize> = (0..size).collect();
    match xs.items() {
        Items::Ints(keys) => sort_by(&mut places, keys, Ord::cmp),
        Items::Texts(keys) => sort_by(&mut places, keys, |a, b| a.as_str().cmp(b.as_str())),
        Items::Reals(keys) => {
            sort_by(&mut places, keys, |a, b| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())))
        }
        Items::Bools(_) | Items::Units(_) | Items::Data(_) => return Err(mistyped("what has an order")),
    }
    Ok(places)
}

fn sort_by<K>(places: &mut [usize], keys: &[K], compare: impl Fn(&K, &K) -> Ordering) {
    places.sort_by(|a, b| match (keys.get(*a), keys.get(*b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
}
