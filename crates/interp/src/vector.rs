//! Values as vectors: tangents and cotangents of first-order values can be added, scaled, and multiplied with each other.
//!
//! The vector operations work on the reals in a value; everything else is carried along. Where a tape notes it, sums and multiples are made
//! of each real, also of one that a value holds twice: in which order cotangents add up depends on what a value is, not on what is shared in
//! memory.

use crate::arith;
use crate::errors;
use crate::perturb;
use crate::step::{Context, Failure};
use crate::value::{Array, Cotangent, Fields, Fun, Tag, Value};
use crate::walk::{self, FunAction, Mapper, Zipper};
use std::rc::Rc;
use wengert_prim::RealOp;

/// What the vector operations do with functions: nothing, the types exclude them.
fn no_function() -> Failure {
    errors::internal("a vector that holds a function")
}

struct Zero;

impl Mapper for Zero {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, _value: &Value) -> Result<Option<Value>, Failure> {
        Ok(Some(Value::Real(0.0)))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(no_function())
    }
}

/// The functional that is zero.
pub(crate) fn no_pairs() -> Value {
    Value::Cotangent(Rc::new(Cotangent::default()))
}

/// The zero tangent at a point.
pub(crate) fn zero(x: &Value) -> Result<Value, Failure> {
    walk::map(x, &mut Zero)
}

struct Add<'a>(&'a mut Context);

impl Zipper for Add<'_> {
    const NOTES: bool = true;

    fn reals(&mut self, x: &Value, y: &Value) -> Result<Value, Failure> {
        arith::real2(self.0, RealOp::Add, x, y)
    }

    fn functions(&mut self, _x: &Value, _y: &Value) -> Result<Value, Failure> {
        Err(no_function())
    }

    fn mismatch(&self, x: &Value, y: &Value) -> Failure {
        errors::shapes("add", &walk::describe(x), &walk::describe(y))
    }

    fn work(&mut self, steps: usize) -> Result<(), Failure> {
        self.0.work(steps as u64)
    }
}

/// The sum of two functionals.
pub(crate) fn joined(x: &Cotangent, y: &Cotangent) -> Value {
    let pairs = x.pairs.as_slice().iter().chain(y.pairs.as_slice()).cloned().collect();
    Value::Cotangent(Rc::new(Cotangent { pairs }))
}

/// The sum of two tangents.
pub(crate) fn add(cx: &mut Context, x: &Value, y: &Value) -> Result<Value, Failure> {
    walk::zip(x, y, &mut Add(cx))
}

struct Scale<'a> {
    cx: &'a mut Context,
    factor: &'a Value,
}

impl Mapper for Scale<'_> {
    const NOTES: bool = true;
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        arith::real2(self.cx, RealOp::Mul, self.factor, value).map(Some)
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(no_function())
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// A multiple of a tangent.
pub(crate) fn scale(cx: &mut Context, factor: &Value, x: &Value) -> Result<Value, Failure> {
    walk::map(x, &mut Scale { cx, factor })
}

/// The inner product of two tangents.
pub(crate) fn inner(cx: &mut Context, x: &Value, y: &Value) -> Result<Value, Failure> {
    let mismatch = |x: &Value, y: &Value| errors::shapes("inner", &walk::describe(x), &walk::describe(y));
    let mut sum: Option<Value> = None;
    walk::pairs(cx, x, y, &mismatch, &mut |cx, x, y| {
        if let Value::Fun(_) | Value::Cotangent(_) = x {
            return Err(no_function());
        }
        let product = arith::real2(cx, RealOp::Mul, x, y)?;
        sum = Some(match sum.take() {
            Some(sum) => arith::real2(cx, RealOp::Add, &sum, &product)?,
            None => product,
        });
        Ok(())
    })?;
    let sum = sum.unwrap_or(Value::Real(0.0));
    let is_zero = arith::primal(&sum) == 0.0;
    Ok(if is_zero && begins_with_zero(x) == Some(true) { arith::begun_with_zero(sum) } else { sum })
}

/// Whether the first number of a value stands in an array or in data, whose sums begin with 0; `None` if there is none.
fn begins_with_zero(x: &Value) -> Option<bool> {
    let first = |fields: &Fields| fields.as_slice().iter().find_map(begins_with_zero);
    match x {
        Value::Real(_) | Value::Active(_) => Some(false),
        Value::Tuple(fields) | Value::Dual(fields) => first(fields),
        Value::Record(record) => first(&record.fields),
        Value::Array(array) => match &**array {
            Array::Reals(_) => Some(true),
            Array::Ints(_) => None,
            Array::Values(items) => items.as_slice().iter().find_map(begins_with_zero).map(|_| true),
        },
        Value::Data(_) => Some(true),
        Value::Int(_) | Value::Bool(_) | Value::String(_) | Value::Fun(_) | Value::Cotangent(_) => None,
    }
}

struct Ravel<'a> {
    cx: &'a mut Context,
    reals: Vec<Value>,
}

impl Mapper for Ravel<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.reals.push(value.clone());
        Ok(None)
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(no_function())
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        // The memory meter does not know the vector, which may double, nor the array made of it.
        self.cx.reserve((4 * self.reals.len() * size_of::<Value>()) as u64)?;
        self.cx.work(children as u64)
    }
}

/// All reals of a value, from left to right.
pub(crate) fn ravel(cx: &mut Context, x: &Value) -> Result<Value, Failure> {
    let mut ravel = Ravel { cx, reals: Vec::new() };
    walk::map(x, &mut ravel)?;
    Ok(walk::array(ravel.reals))
}

struct Unravel<'a> {
    cx: &'a mut Context,
    reals: Box<dyn ExactSizeIterator<Item = Value> + 'a>,
    taken: usize,
}

impl Mapper for Unravel<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, _value: &Value) -> Result<Option<Value>, Failure> {
        self.taken += 1;
        Ok(Some(self.reals.next().unwrap_or(Value::Real(f64::NAN))))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(no_function())
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// The value with its reals replaced, from left to right.
pub(crate) fn unravel(cx: &mut Context, x: &Value, reals: &Value) -> Result<Value, Failure> {
    let empty = Array::Values(Fields::default());
    let reals = if let Value::Array(array) = reals { &**array } else { &empty };
    let given = walk::elements(reals).len();
    let mut unravel = Unravel { cx, reals: walk::elements(reals), taken: 0 };
    let result = walk::map(x, &mut unravel)?;
    if unravel.taken != given {
        let count = |n: usize| if n == 1 { "1 `Real`".to_owned() } else { format!("{n} `Real`s") };
        let point = format!("a value that holds {}", count(unravel.taken));
        return Err(errors::shapes("unravel", &point, &format!("an array of {}", count(given))));
    }
    Ok(result)
}

// Functionals on functions.

/// A pair of a [`Cotangent`] whose point and weight are perturbed under a tag of its own: it stands for the functional
/// `h ↦` the tangent under `tag` of `⟨weight, h point⟩`. In the list of pairs it is a [`Fun::TangentOf`] around both, and
/// unit.
pub(crate) struct BoundPair {
    /// The tag, bound here.
    pub(crate) tag: Tag,
    /// The point.
    pub(crate) point: Value,
    /// The cotangent of the result.
    pub(crate) weight: Value,
}

/// The two entries of a bound pair.
pub(crate) fn bound_pair(tag: Tag, point: Value, weight: Value) -> [Value; 2] {
    let pair = Value::Tuple(Rc::new([point, weight].into_iter().collect()));
    let unit = Value::Tuple(Rc::new(Fields::default()));
    [Value::Fun(Rc::new(Fun::TangentOf { tag, func: pair })), unit]
}

/// What two entries of the list of pairs bind, if they do.
pub(crate) fn bound_parts(point: &Value, weight: &Value) -> Option<BoundPair> {
    let (Value::Fun(fun), Value::Tuple(unit)) = (point, weight) else { return None };
    let Fun::TangentOf { tag, func: Value::Tuple(pair) } = &**fun else { return None };
    let [point, weight] = pair.as_slice() else { return None };
    unit.is_empty().then(|| BoundPair { tag: *tag, point: point.clone(), weight: weight.clone() })
}

/// A pair of a functional, ready for use: bound tags are fresh, and listed.
pub(crate) struct OpenPair {
    pub(crate) point: Value,
    pub(crate) weight: Value,
    /// Outermost binder first.
    pub(crate) tags: Vec<Tag>,
}

/// Opens a pair: its bound tags get fresh names.
pub(crate) fn open_pair(cx: &mut Context, point: &Value, weight: &Value) -> Result<OpenPair, Failure> {
    let mut open = OpenPair { point: point.clone(), weight: weight.clone(), tags: Vec::new() };
    while let Some(bound) = bound_parts(&open.point, &open.weight) {
        let fresh = cx.fresh_tag();
        open.point = perturb::rename(bound.tag, fresh, &bound.point)?;
        open.weight = perturb::rename(bound.tag, fresh, &bound.weight)?;
        open.tags.push(fresh);
    }
    Ok(open)
}

#[cfg(test)]
mod tests;
