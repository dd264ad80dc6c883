//! `custom_jvp` and `custom_vjp`: functions with rules of their own.
//!
//! Only the largest tag in the argument `x` is handled by the rule; let `p` be `x` without it. The value is that of the function,
//! whatever the rule says, and is computed first; the rule only adds the contribution of the argument. Smaller tags in `p`, and
//! perturbations that `f` itself has captured, find the rule again, because the value is computed as the same custom function at `p`.

use super::{call1, call1_then, closures, pair};
use crate::errors;
use crate::perturb::{self, Mode};
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Tag, Value};
use crate::{note, series, sweep};
use smallvec::smallvec;
use wengert_prim::Prim;

/// `custom_jvp f rule x`
pub(crate) fn custom_jvp(func: Value, rule: Value, x: Value) -> Result<Step, Failure> {
    value_first(Prim::CustomJvp, func, rule, x)
}

/// `custom_vjp f rule x`
pub(crate) fn custom_vjp(func: Value, rule: Value, x: Value) -> Result<Step, Failure> {
    value_first(Prim::CustomVjp, func, rule, x)
}

/// Calls for the value at the point; the rule comes after that.
fn value_first(prim: Prim, func: Value, rule: Value, x: Value) -> Result<Step, Failure> {
    let Some((tag, mode)) = perturb::largest_tag(&x) else { return call1(func, x) };
    if let Mode::Series(_) = &mode {
        refuse_captured(tag, &func)?;
    }
    let point = perturb::strip(tag, &x);
    let then = AfterValue { prim, tag, mode, rule: rule.clone(), x, point: point.clone() };
    if perturb::largest_tag(&func).is_none() && perturb::largest_tag(&point).is_none() {
        return call1_then(func, point, then);
    }
    let custom = closures::primitive(prim, &[0, 1, 2]);
    Ok(Step::Call { func: custom, args: smallvec![func, rule, point], then: Some(Box::new(then)) })
}

/// The value is there; the rule is to be called.
struct AfterValue {
    prim: Prim,
    tag: Tag,
    mode: Mode,
    rule: Value,
    x: Value,
    point: Value,
}

impl Resume for AfterValue {
    fn resume(self: Box<Self>, cx: &mut Context, y: Value) -> Result<Step, Failure> {
        let AfterValue { prim, tag, mode, rule, x, point } = *self;
        // What the rule has captured does not move here: that it does is in the value. Else products of tangents would be asked for,
        // which a tape refuses.
        let rule = match &mode {
            Mode::Forward | Mode::Reverse(_) => perturb::strip(tag, &rule),
            Mode::Series(_) => rule,
        };
        if prim == Prim::CustomVjp {
            let argument = match &mode {
                Mode::Forward | Mode::Reverse(_) => point,
                Mode::Series(_) => series::differentiate(cx, tag, &x)?.0,
            };
            return call1_then(rule, argument, AfterPullback { tag, mode, x, y });
        }
        let (argument, tangent) = match &mode {
            Mode::Forward => (point, perturb::split_forward(cx, tag, &x)?.1),
            Mode::Reverse(tape) => {
                tape.set_rule_name("custom_jvp");
                let nested = perturb::largest_tag(&point).is_some() || perturb::largest_tag(&rule).is_some();
                (point, perturb::linear_tangent(cx, tape, &x, nested)?)
            }
            Mode::Series(_) => series::differentiate(cx, tag, &x)?,
        };
        call1_then(rule, Value::tuple([argument, tangent]), AfterRule { tag, mode, y })
    }
}

fn refuse_captured(tag: Tag, func: &Value) -> Result<(), Failure> {
    if perturb::mentions(tag, func) {
        return Err(errors::taylor_mode(
            "a function with a custom rule that has captured the expanded variable",
        ));
    }
    Ok(())
}

/// The rule has given the tangent.
fn end(mode: &Mode, tangent: &Value) -> Result<(), Failure> {
    match mode {
        Mode::Reverse(tape) => perturb::end_linear(tape, tangent),
        Mode::Forward | Mode::Series(_) => Ok(()),
    }
}

/// The rule of `custom_jvp` has given value and tangent.
struct AfterRule {
    tag: Tag,
    mode: Mode,
    y: Value,
}

impl Resume for AfterRule {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let AfterRule { tag, mode, y } = *self;
        let (_, tangent) = pair(&value)?;
        end(&mode, &tangent)?;
        with_tangent(cx, (tag, &mode), "custom_jvp", &y, &tangent)
    }
}

/// The value with the tangent that the rule of this operator gave.
fn with_tangent(
    cx: &mut Context,
    (tag, mode): (Tag, &Mode),
    rule: &'static str,
    y: &Value,
    tangent: &Value,
) -> Result<Step, Failure> {
    let perturbed = match mode {
        Mode::Forward => perturb::plus_tangent_of_rule(cx, tag, rule, y, tangent)?,
        Mode::Reverse(tape) => perturb::add_linear(cx, tape, y, tangent)?,
        Mode::Series(order) => series::integrate(cx, tag, *order, y, tangent)?,
    };
    Ok(Step::Done(perturbed))
}

/// The rule of `custom_vjp` has given the value and the function from cotangents to cotangents.
struct AfterPullback {
    tag: Tag,
    mode: Mode,
    x: Value,
    y: Value,
}

impl Resume for AfterPullback {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let AfterPullback { tag, mode, x, y } = *self;
        let (_, pullback) = pair(&value)?;
        let direction = match &mode {
            // A pullback that has captured something under a larger tag cannot wait for the tape to run: by then that
            // tag is gone. So it is where the function has, whose value is no number of the tape then.
            Mode::Reverse(tape)
                if [&pullback, &y].iter().any(|of| !perturb::tags_above(tag, of).is_empty()) =>
            {
                tape.set_rule_name("custom_vjp");
                perturb::linear_tangent(cx, tape, &x, true)?
            }
            // It becomes a node of the tape.
            Mode::Reverse(tape) => return note::note_custom(cx, tape, &x, &pullback, &y).map(Step::Done),
            Mode::Forward => perturb::split_forward(cx, tag, &x)?.1,
            Mode::Series(_) => series::differentiate(cx, tag, &x)?.1,
        };
        // The tangent is the transpose of the pullback at the tangent of the argument.
        let tangent = sweep::transpose_custom(cx, &pullback, &perturb::strip(tag, &y), &direction)?;
        Ok(tangent.and_then(AfterTranspose { tag, mode, y }))
    }
}

/// The tangent is there.
struct AfterTranspose {
    tag: Tag,
    mode: Mode,
    y: Value,
}

impl Resume for AfterTranspose {
    fn resume(self: Box<Self>, cx: &mut Context, tangent: Value) -> Result<Step, Failure> {
        let AfterTranspose { tag, mode, y } = *self;
        end(&mode, &tangent)?;
        with_tangent(cx, (tag, &mode), "custom_vjp", &y, &tangent)
    }
}
