//! Products of matrices and vectors that are added in place: `AddProduct`.
//!
//! Term by term in the order that is asked for, as the loops would do that it stands for. A zero factor is a strong zero.

use super::array::{located, unique};
use super::limits::Meter;
use super::scalar::mistyped;
use super::value::{Array, Items, Value};
use crate::op::Lie;
use std::rc::Rc;
use wengert_fault::Fault;
use wengert_prim::RealOp;

/// A factor: element `(i, j)` stands at `i * down + j * right`.
struct Factor<'a> {
    items: &'a [f64],
    rows: usize,
    columns: usize,
    down: usize,
    right: usize,
}

impl Factor<'_> {
    /// A matrix, or a vector that is taken as one column or one row.
    fn of(array: &Array, transposed: bool, row: bool) -> Option<Factor<'_>> {
        let Items::Reals(items) = array.items() else { return None };
        let (rows, columns) = match array.shape() {
            [n] if row => (1, *n),
            [n] => (*n, 1),
            [n, m] => (*n, *m),
            _ => return None,
        };
        let plain = Factor { items, rows, columns, down: columns, right: 1 };
        Some(if transposed {
            Factor { rows: columns, columns: rows, down: 1, right: columns, ..plain }
        } else {
            plain
        })
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.items.get(i * self.down + j * self.right).copied().unwrap_or(0.0)
    }
}

/// The array with products added at a place; in place if nobody else has it.
pub(super) fn add(meter: &mut Meter, lie: Lie, mut xs: Rc<Array>, rest: &[Value]) -> Result<Value, Fault> {
    let indices = rest.iter().take_while(|value| matches!(value, Value::Int(_))).count();
    let (indices, given) = rest.split_at(indices);
    let Ok((start, shape)) = located(&xs, indices) else { return Ok(Value::Array(xs)) };
    let factors = factors(lie, given)?;
    let Some((first, second)) = factors.first() else { return Ok(Value::Array(xs)) };
    let (n, m, width) = (first.rows, first.columns, second.columns);
    let fit = |(x, y): &Pair<'_>| [x.rows, x.columns, y.rows, y.columns] == [n, m, m, width];
    let place: Vec<usize> = if shape.len() == 1 { [shape.as_slice(), &[1]].concat() } else { shape.to_vec() };
    if place != [n, width] || !factors.iter().all(fit) || n * m * width == 0 {
        return Ok(Value::Array(xs));
    }
    meter.work(n * m * width)?;
    meter.flops += 2 * (n * m * width * factors.len()) as u64;
    unique(meter, &mut xs)?;
    let Some(Items::Reals(items)) = Rc::get_mut(&mut xs).map(Array::items_mut) else {
        return Err(mistyped("an array of reals"));
    };
    for (place, sum) in items.iter_mut().skip(start).take(n * width).enumerate() {
        let (i, j) = (place / width, place % width);
        let term = |l: usize| {
            let products = factors.iter().map(|(x, y)| RealOp::MulZero.eval2(x.at(i, l), y.at(l, j)));
            products.reduce(|a, b| a + b).unwrap_or(0.0)
        };
        for l in 0..m {
            *sum += term(if lie.backward { m - 1 - l } else { l });
        }
    }
    Ok(Value::Array(xs))
}

/// A pair of factors.
type Pair<'a> = (Factor<'a>, Factor<'a>);

fn factors(lie: Lie, given: &[Value]) -> Result<Vec<Pair<'_>>, Fault> {
    given.chunks(2).map(|two| pair(lie, two).ok_or_else(|| mistyped("factors"))).collect()
}

fn pair(lie: Lie, two: &[Value]) -> Option<Pair<'_>> {
    let [Value::Array(x), Value::Array(y)] = two else { return None };
    // Two vectors are a column and a row; a vector after a matrix is a column.
    let row = x.shape().len() == 1;
    Some((Factor::of(x, lie.first, false)?, Factor::of(y, lie.second, row)?))
}
