//! Forward mode: `jvp`, and functions that are perturbed or are tangents.

use super::{call1_then, pair};
use crate::perturb;
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Tag, Value};

/// `jvp f (x, t)`: runs `f` on `x` with the tangent `t` under a fresh tag.
pub(crate) fn jvp(cx: &mut Context, func: Value, point_and_tangent: &Value) -> Result<Step, Failure> {
    let (x, t) = pair(point_and_tangent)?;
    let tag = cx.fresh_tag();
    let arg = perturb::forward_input(cx, tag, &x, &t)?;
    call1_then(func, arg, Split { tag, tangent_only: false })
}

/// The tangent under `tag` of the function `func`, at `arg`: the perturbations in `func` get a name of their own first,
/// because those in `arg` may have the old one.
pub(crate) fn tangent_of(cx: &mut Context, tag: Tag, func: &Value, arg: Value) -> Result<Step, Failure> {
    let fresh = cx.fresh_tag();
    let func = perturb::rename(tag, fresh, func)?;
    call1_then(func, arg, Split { tag: fresh, tangent_only: true })
}

/// Takes the result of a call apart.
struct Split {
    tag: Tag,
    tangent_only: bool,
}

impl Resume for Split {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let (primal, tangent) = perturb::split_forward(cx, self.tag, &value)?;
        Ok(Step::Done(if self.tangent_only { tangent } else { Value::tuple([primal, tangent]) }))
    }
}

/// A function input with a tangent, at `arg`: `primal arg + ε·tangent (arg without ε)`.
pub(crate) fn perturbed_function(
    tag: Tag,
    primal: Value,
    tangent: Value,
    arg: Value,
) -> Result<Step, Failure> {
    let point = perturb::strip(tag, &arg);
    call1_then(primal, arg, AfterPrimal { tag, tangent, point })
}

struct AfterPrimal {
    tag: Tag,
    tangent: Value,
    point: Value,
}

impl Resume for AfterPrimal {
    fn resume(self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        let AfterPrimal { tag, tangent, point } = *self;
        call1_then(tangent, point, AfterTangent { tag, value })
    }
}

struct AfterTangent {
    tag: Tag,
    value: Value,
}

impl Resume for AfterTangent {
    fn resume(self: Box<Self>, cx: &mut Context, tangent: Value) -> Result<Step, Failure> {
        perturb::plus_tangent(cx, self.tag, &self.value, &tangent).map(Step::Done)
    }
}

/// `stop_gradient x`
pub(crate) fn stop_gradient(x: &Value) -> Step {
    Step::Done(perturb::strip_all(x))
}
