//! Functionals: `apply_dual`, `to_dual`, `from_dual`.

use super::closures;
use crate::arith;
use crate::builtins::mistyped;
use crate::errors;
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Tag, Value};
use crate::vector::open_pair;
use crate::{perturb, walk};
use smallvec::smallvec;
use std::rc::Rc;
use wengert_prim::{Prim, RealOp};

/// `to_dual v`
pub(crate) fn to_dual(vector: Value) -> Value {
    Value::Dual(Rc::new([vector].into_iter().collect()))
}

/// The functional as a function on tangents, from what a [`Value::Dual`] (or a part of one) holds: pairs, a structure of
/// such, or already a function. A functional is kept as a function where a tape cannot give pairs, and where it is itself
/// what is differentiated.
pub(crate) fn as_function(functional: &Value) -> Value {
    if let Value::Fun(_) = functional {
        return functional.clone();
    }
    closures::partial(closures::primitive(Prim::ApplyDual, &[0, 1]), [to_dual(functional.clone())])
}

/// Two functionals of one type in one form: a structure, or functions.
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

/// `apply_dual d v`: the sum over all parts, where the part of a function is `Σ ⟨wᵢ, v xᵢ⟩`.
pub(crate) fn apply_dual(cx: &mut Context, functional: &Value, tangent: Value) -> Result<Step, Failure> {
    let cotangent = from_dual(functional)?;
    let todo = vec![Task::Pair(cotangent, tangent, Tags::default())];
    Box::new(Pairing { todo, sum: None, waiting: None }).go(cx)
}

/// Tags that pairs of a functional have bound, see [`crate::vector::BoundPair`].
type Tags = Rc<[Tag]>;

/// What is left to add.
enum Task {
    /// The pairing of a cotangent and a tangent; of it only the tangent under these tags counts.
    Pair(Value, Value, Tags),
    /// The pairing of a weight with the value of a function at a point.
    Call { func: Value, point: Value, weight: Value, tags: Tags },
}

struct Pairing {
    todo: Vec<Task>,
    sum: Option<Value>,
    /// The weight that belongs to the call under way.
    waiting: Option<(Value, Tags)>,
}

impl Pairing {
    fn go(mut self: Box<Self>, cx: &mut Context) -> Result<Step, Failure> {
        while let Some(task) = self.todo.pop() {
            match task {
                Task::Pair(cotangent, tangent, tags) => self.pair(cx, &cotangent, &tangent, &tags)?,
                Task::Call { func, point, weight, tags } => {
                    let open = open_pair(cx, &point, &weight)?;
                    let tags = tags.iter().chain(&open.tags).copied().collect();
                    self.waiting = Some((open.weight, tags));
                    return Ok(Step::Call { func, args: smallvec![open.point], then: Some(self) });
                }
            }
        }
        Ok(Step::Done(self.sum.unwrap_or(Value::Real(0.0))))
    }

    fn pair(
        &mut self,
        cx: &mut Context,
        cotangent: &Value,
        tangent: &Value,
        tags: &Tags,
    ) -> Result<(), Failure> {
        cx.work(1)?;
        match (cotangent, tangent) {
            (Value::Real(_) | Value::Active(_), Value::Real(_) | Value::Active(_)) => {
                let mut product = arith::real2(cx, RealOp::MulZero, cotangent, tangent)?;
                for tag in tags.iter() {
                    product = perturb::split_real(*tag, &product)?.1.unwrap_or(Value::Real(0.0));
                }
                self.sum = Some(match self.sum.take() {
                    Some(sum) => arith::real2(cx, RealOp::Add, &sum, &product)?,
                    None => product,
                });
            }
            (Value::Int(_) | Value::Bool(_) | Value::String(_), _) => {}
            (Value::Fun(_), tangent) => {
                let (func, point, weight) = (cotangent.clone(), tangent.clone(), Value::Real(1.0));
                self.todo.push(Task::Call { func, point, weight, tags: Rc::clone(tags) });
            }
            (Value::Cotangent(cotangent), tangent) => {
                let tangent = as_function(tangent);
                for pair in cotangent.pairs.as_slice().chunks_exact(2).rev() {
                    let [point, weight] = pair else { continue };
                    let (func, point, weight) = (tangent.clone(), point.clone(), weight.clone());
                    self.todo.push(Task::Call { func, point, weight, tags: Rc::clone(tags) });
                }
            }
            (_, Value::Fun(_)) => return Err(errors::dual_tangent()),
            (cotangent, tangent) => {
                let (ws, vs) = (walk::children(cotangent), walk::children(tangent));
                if ws.len() != vs.len() || !same_constructor(cotangent, tangent) {
                    let (point, found) = (walk::describe(cotangent), walk::describe(tangent));
                    return Err(errors::shapes("apply_dual", &point, &found));
                }
                cx.work(ws.len() as u64)?;
                self.todo
                    .extend(ws.into_iter().zip(vs).rev().map(|(w, v)| Task::Pair(w, v, Rc::clone(tags))));
            }
        }
        Ok(())
    }
}

fn same_constructor(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Data(a), Value::Data(b)) => a.ctor.index == b.ctor.index,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

impl Resume for Pairing {
    fn resume(mut self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        if let Some((weight, tags)) = self.waiting.take() {
            self.todo.push(Task::Pair(weight, value, tags));
        }
        self.go(cx)
    }

    fn bytes(&self) -> usize {
        size_of::<Pairing>() + self.todo.capacity() * size_of::<Task>()
    }
}
