//! Arrays: how they are stored, elements, and the functions that make them from a count.
//!
//! Plain reals and integers are stored flat; everything else, perturbed reals included, as values. The elements of an
//! array of arrays all have the same sizes: whatever makes an array checks that.

use super::{int, misplaced, mistyped};
use crate::errors;
use crate::step::{Context, Failure};
use crate::value::{Array, Buffer, Fields, Value};
use std::rc::Rc;
use wengert_base::Name;
use wengert_fault::MOST_ELEMENTS;
use wengert_prim::Prim;

/// An array under construction; picks the representation as elements come.
pub(crate) enum Builder {
    /// Only plain reals so far.
    Reals(Vec<f64>),
    /// Only integers so far.
    Ints(Vec<i64>),
    /// Anything.
    Values(Fields),
}

impl Builder {
    /// For about `capacity` elements.
    pub(crate) fn new(cx: &mut Context, capacity: usize) -> Result<Builder, Failure> {
        const ALWAYS_FINE: usize = 1024;
        if capacity > ALWAYS_FINE {
            cx.reserve(capacity as u64 * size_of::<f64>() as u64)?;
        }
        // The first element decides; flat reals are the common case and as large as integers.
        Ok(Builder::Reals(Vec::with_capacity(capacity.min(ALWAYS_FINE))))
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Builder::Reals(items) => items.len(),
            Builder::Ints(items) => items.len(),
            Builder::Values(items) => items.len(),
        }
    }

    /// Appends an element.
    pub(crate) fn push(&mut self, value: Value) {
        match (&mut *self, value) {
            (Builder::Reals(items), Value::Real(x)) => items.push(x),
            (Builder::Ints(items), Value::Int(n)) => items.push(n),
            (Builder::Reals(items), Value::Int(n)) if items.is_empty() => {
                let mut ints = Vec::with_capacity(items.capacity());
                ints.push(n);
                *self = Builder::Ints(ints);
            }
            (Builder::Values(items), value) => items.update(|items| items.push(value)),
            (Builder::Reals(items), value) => {
                let values = items.iter().map(|x| Value::Real(*x)).chain([value]);
                *self = Builder::Values(values.collect());
            }
            (Builder::Ints(items), value) => {
                let values = items.iter().map(|n| Value::Int(*n)).chain([value]);
                *self = Builder::Values(values.collect());
            }
        }
    }

    /// The array.
    pub(crate) fn finish(self) -> Result<Value, Failure> {
        let array = match self {
            Builder::Reals(items) if items.is_empty() => Array::Values(Fields::default()),
            Builder::Reals(items) => Array::Reals(Buffer::new(items)),
            Builder::Ints(items) => Array::Ints(Buffer::new(items)),
            Builder::Values(items) => {
                check_regular(items.as_slice())?;
                Array::Values(items)
            }
        };
        Ok(Value::Array(Rc::new(array)))
    }

    /// About how many bytes it holds beyond what the memory meter knows.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Builder::Reals(items) => items.capacity() * size_of::<f64>(),
            Builder::Ints(items) => items.capacity() * size_of::<i64>(),
            Builder::Values(_) => 0,
        }
    }
}

/// An array of these elements.
pub(crate) fn from_values(values: impl Iterator<Item = Value>) -> Result<Value, Failure> {
    let mut builder = Builder::Reals(Vec::with_capacity(values.size_hint().0));
    values.for_each(|value| builder.push(value));
    builder.finish()
}

/// An array of plain reals.
pub(crate) fn of_reals(items: Vec<f64>) -> Value {
    Value::Array(Rc::new(Array::Reals(Buffer::new(items))))
}

/// An array of integers.
pub(crate) fn of_ints(items: Vec<i64>) -> Value {
    Value::Array(Rc::new(Array::Ints(Buffer::new(items))))
}

/// The array that the type promises.
pub(crate) fn array(value: &Value) -> Result<&Rc<Array>, Failure> {
    match value {
        Value::Array(array) => Ok(array),
        _ => Err(mistyped("an array")),
    }
}

/// Refuses rows of different sizes.
fn check_regular(items: &[Value]) -> Result<(), Failure> {
    let Some((Value::Array(first), rest)) = items.split_first() else { return Ok(()) };
    for (i, row) in rest.iter().enumerate() {
        let row = array(row)?;
        if !Rc::ptr_eq(first, row) && !same_sizes(first, row) {
            return Err(errors::ragged((0, &sizes(first)), (i + 1, &sizes(row))));
        }
    }
    Ok(())
}

/// Whether two arrays, themselves regular, have the same sizes in all dimensions.
pub(crate) fn same_sizes(a: &Array, b: &Array) -> bool {
    let (mut a, mut b) = (a, b);
    loop {
        if a.len() != b.len() {
            return false;
        }
        match (a, b) {
            (Array::Values(x), Array::Values(y)) => match (x.get(0), y.get(0)) {
                (Some(Value::Array(x)), Some(Value::Array(y))) => (a, b) = (x, y),
                _ => return true,
            },
            _ => return true,
        }
    }
}

/// `3`, `3 x 2`
fn sizes(array: &Array) -> String {
    let mut text = array.len().to_string();
    let mut array = array;
    while let Array::Values(items) = array
        && let Some(Value::Array(inner)) = items.get(0)
    {
        text += &format!(" x {}", inner.len());
        array = inner;
    }
    text
}

impl Array {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Array::Reals(items) => items.as_slice().len(),
            Array::Ints(items) => items.as_slice().len(),
            Array::Values(items) => items.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `i`.
    pub fn get(&self, i: usize) -> Option<Value> {
        match self {
            Array::Reals(items) => items.as_slice().get(i).map(|x| Value::Real(*x)),
            Array::Ints(items) => items.as_slice().get(i).map(|n| Value::Int(*n)),
            Array::Values(items) => items.get(i).cloned(),
        }
    }

    /// The elements.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + '_ {
        (0..self.len()).map(|i| self.get(i).unwrap_or(Value::Bool(false)))
    }
}

/// `xs[i]`
#[inline]
pub(crate) fn element(xs: &Value, index: &Value) -> Result<Value, Failure> {
    let (xs, index) = (array(xs)?, int(index)?);
    let found = usize::try_from(index).ok().and_then(|i| xs.get(i));
    found.ok_or_else(|| errors::index(index, xs.len()))
}

/// A count from the program, as a size.
pub(crate) fn count(function: &str, n: i64) -> Result<usize, Failure> {
    usize::try_from(n).map_err(|_| errors::negative_count(function, n))
}

/// A count of elements that will be stored.
pub(crate) fn storable_count(cx: &mut Context, function: &str, n: i64) -> Result<usize, Failure> {
    let count = count(function, n)?;
    if n > MOST_ELEMENTS {
        return Err(errors::too_large(function, n));
    }
    let bytes = (count as u64).saturating_mul(size_of::<f64>() as u64);
    cx.reserve(bytes)?;
    Ok(count)
}

/// An empty vector that surely has room, unless memory is out.
pub(crate) fn vector<T>(cx: &mut Context, function: &str, n: usize) -> Result<Vec<T>, Failure> {
    cx.reserve((n * size_of::<T>()) as u64)?;
    let mut items = Vec::new();
    items.try_reserve_exact(n).map_err(|_| errors::too_large(function, n as i64))?;
    Ok(items)
}

/// Checks a size that a type annotation names.
pub(crate) fn check_size(value: &Value, expected: &Value, axis: u32, name: Name) -> Result<(), Failure> {
    let expected = int(expected)?;
    let mut array = array(value)?;
    for _ in 0..axis {
        match &**array {
            Array::Values(items) => match items.get(0) {
                Some(Value::Array(inner)) => array = inner,
                // No row has a size that could be wrong.
                _ => return Ok(()),
            },
            Array::Reals(_) | Array::Ints(_) => return Ok(()),
        }
    }
    if i64::try_from(array.len()) == Ok(expected) {
        Ok(())
    } else {
        Err(errors::named_size(name, expected, array.len(), axis))
    }
}

/// Calls a primitive of this module.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, b, c]: [Value; 3]) -> Result<Value, Failure> {
    match prim {
        Prim::Length => Ok(Value::Int(array(&a)?.len() as i64)),
        Prim::Index => element(&a, &b),
        Prim::Iota => {
            let n = storable_count(cx, "iota", int(&a)?)?;
            cx.work(n as u64)?;
            let mut items = vector(cx, "iota", n)?;
            items.extend(0..n as i64);
            Ok(of_ints(items))
        }
        Prim::Replicate => replicate(cx, int(&a)?, b),
        Prim::SetIndex => set(a, int(&b)?, c),
        other => Err(misplaced(other)),
    }
}

fn replicate(cx: &mut Context, n: i64, value: Value) -> Result<Value, Failure> {
    let n = storable_count(cx, "replicate", n)?;
    cx.work(n as u64)?;
    let array = match value {
        Value::Real(x) => {
            let mut items = vector(cx, "replicate", n)?;
            items.resize(n, x);
            Array::Reals(Buffer::new(items))
        }
        Value::Int(x) => {
            let mut items = vector(cx, "replicate", n)?;
            items.resize(n, x);
            Array::Ints(Buffer::new(items))
        }
        value => {
            let mut items = vector(cx, "replicate", n)?;
            items.resize(n, value);
            Array::Values(Fields::new(items.into()))
        }
    };
    Ok(Value::Array(Rc::new(array)))
}

/// The array with one element replaced; in place if nobody else has it.
fn set(xs: Value, index: i64, value: Value) -> Result<Value, Failure> {
    let Value::Array(mut xs) = xs else { return Err(mistyped("an array")) };
    let size = xs.len();
    let place = usize::try_from(index).ok().filter(|i| *i < size);
    let i = place.ok_or_else(|| errors::index(index, size))?;
    let other = if i == 0 { size - 1 } else { 0 };
    if let (Value::Array(new), Some(Value::Array(old))) = (&value, xs.get(other))
        && size > 1
        && !same_sizes(&old, new)
    {
        return Err(errors::ragged((other, &sizes(&old)), (i, &sizes(new))));
    }
    let fits = match (&*xs, &value) {
        (Array::Reals(_), Value::Real(_)) | (Array::Ints(_), Value::Int(_)) | (Array::Values(_), _) => true,
        (Array::Reals(_) | Array::Ints(_), _) => false,
    };
    if !fits {
        xs = Rc::new(Array::Values(xs.items().collect()));
    } else if Rc::get_mut(&mut xs).is_none() {
        xs = Rc::new(copy(&xs));
    }
    match (Rc::get_mut(&mut xs), value) {
        (Some(Array::Reals(items)), Value::Real(x)) => {
            items.as_mut_slice().get_mut(i).into_iter().for_each(|place| *place = x);
        }
        (Some(Array::Ints(items)), Value::Int(n)) => {
            items.as_mut_slice().get_mut(i).into_iter().for_each(|place| *place = n);
        }
        (Some(Array::Values(items)), value) => {
            items.update(|items| {
                if let Some(place) = items.get_mut(i) {
                    *place = value;
                }
            });
        }
        _ => return Err(errors::internal("an array that cannot be updated")),
    }
    Ok(Value::Array(xs))
}

fn copy(array: &Array) -> Array {
    match array {
        Array::Reals(items) => Array::Reals(Buffer::new(items.as_slice().to_vec())),
        Array::Ints(items) => Array::Ints(Buffer::new(items.as_slice().to_vec())),
        Array::Values(items) => Array::Values(items.as_slice().iter().cloned().collect()),
    }
}
