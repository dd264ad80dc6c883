//! The derivative operators, as built-in functions: each lifts its argument under a fresh tag ([`crate::perturb`]), calls
//! the function, and takes the result apart. What has to call the program on the way is a state machine.
//!
//! * [`forward`] has `jvp`, perturbed functions, tangents of functions.
//! * [`reverse`] has `vjp`, `linearize`, `pullback`, and the linear maps that they give.
//! * [`dual`] has functionals.
//! * [`custom`] has functions with rules of their own.
//! * [`checkpoint`] and [`segments`] are about running again instead of remembering.
//! * [`closures`] has built-in functions as values.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function names its own primitives, and the types that the checker lets through"
)]

use crate::builtins::{misplaced, mistyped};
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Fun, Value};
use crate::vector;
use smallvec::smallvec;
use std::rc::Rc;
use wengert_prim::Prim;

pub(crate) mod checkpoint;
pub(crate) mod closures;
pub(crate) mod custom;
pub(crate) mod dual;
pub(crate) mod forward;
pub(crate) mod reverse;
pub(crate) mod segments;
pub(crate) mod taylor;

/// Calls a primitive of this chapter.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, b, c]: [Value; 3]) -> Result<Step, Failure> {
    match prim {
        Prim::Jvp => forward::jvp(cx, a, &b),
        Prim::Vjp => reverse::vjp(cx, a, b),
        Prim::Linearize => reverse::linearize(cx, a, b),
        Prim::Pullback => reverse::pullback(cx, a, b, c),
        Prim::ApplyDual => dual::apply_dual(cx, &a, b),
        Prim::ToDual => Ok(Step::Done(dual::to_dual(a))),
        Prim::FromDual => dual::from_dual(&a).map(Step::Done),
        Prim::Taylor => taylor::taylor(cx, &a, b, &c),
        Prim::CustomJvp => custom::custom_jvp(a, b, c),
        Prim::CustomVjp => custom::custom_vjp(a, b, c),
        Prim::StopGradient => Ok(forward::stop_gradient(&a)),
        Prim::Checkpoint => checkpoint::checkpoint(cx, a, b),
        other => Err(misplaced(other)),
    }
}

/// Calls a primitive of the chapter on vectors.
pub(crate) fn vector_call(cx: &mut Context, prim: Prim, [a, b, _]: [Value; 3]) -> Result<Value, Failure> {
    match prim {
        Prim::VecZero => vector::zero(&a),
        Prim::VecAdd => vector::add(cx, &a, &b),
        Prim::VecScale => vector::scale(cx, &a, &b),
        Prim::VecInner => vector::inner(cx, &a, &b),
        Prim::Ravel => vector::ravel(cx, &a),
        Prim::Unravel => vector::unravel(cx, &a, &b),
        other => Err(misplaced(other)),
    }
}

/// Applies a function that derivatives have made.
pub(crate) fn apply(cx: &mut Context, fun: &Rc<Fun>, arg: Value) -> Result<Step, Failure> {
    match &**fun {
        Fun::Forward { tag, primal, tangent } => {
            forward::perturbed_function(*tag, primal.clone(), tangent.clone(), arg)
        }
        Fun::Reverse { tape, slot, primal } => {
            reverse::noted_function(Rc::clone(tape), *slot, primal.clone(), arg)
        }
        Fun::TangentOf { tag, func } => forward::tangent_of(cx, *tag, func, arg),
        Fun::Linear { map, transposed } => reverse::apply_linear(cx, map, *transposed, arg),
        Fun::Closure { .. } | Fun::Partial { .. } => call1(Value::Fun(Rc::clone(fun)), arg),
    }
}

/// A call whose result is the result.
fn call1(func: Value, arg: Value) -> Result<Step, Failure> {
    Ok(Step::Call { func, args: smallvec![arg], then: None })
}

/// A call, and what to do with its result.
fn call1_then(func: Value, arg: Value, then: impl Resume + 'static) -> Result<Step, Failure> {
    Ok(Step::Call { func, args: smallvec![arg], then: Some(Box::new(then)) })
}

/// The two components of a pair.
fn pair(value: &Value) -> Result<(Value, Value), Failure> {
    if let Value::Tuple(items) = value
        && let [a, b] = items.as_slice()
    {
        return Ok((a.clone(), b.clone()));
    }
    Err(mistyped("a pair"))
}
