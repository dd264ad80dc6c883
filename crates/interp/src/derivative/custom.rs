//! `custom_jvp` and `custom_vjp`: functions with rules of their own.
//!
//! Only the largest tag in the argument `x` is handled by the rule; let `p` be `x` without it. Smaller tags in `p` find
//! the rule again, because the value is computed as the same custom function at `p`. So do perturbations that `f` itself
//! has captured: the value comes from `f`, and the rule only adds the contribution of the argument. Only if there is
//! nothing of that kind is the value that the rule computes used, which saves a call.

use super::{call1, call1_then, closures, pair};
use crate::errors;
use crate::perturb::{self, Mode};
use crate::step::{Context, Failure, Resume, Step};
use crate::tape::Tape;
use crate::value::{Tag, Value};
use crate::{note, series, sweep};
use smallvec::smallvec;
use std::rc::Rc;
use wengert_prim::Prim;

/// The function, its rule, and the argument without the tag.
struct Subject {
    prim: Prim,
    func: Value,
    rule: Value,
    point: Value,
}

impl Subject {
    /// Calls `then` with the value at the point, `from_rule` if that is as good.
    fn value(self, cx: &mut Context, from_rule: &Value, then: Box<dyn Resume>) -> Result<Step, Failure> {
        let Subject { prim, func, rule, point } = self;
        if perturb::largest_tag(&func).is_none() && perturb::largest_tag(&point).is_none() {
            return then.resume(cx, perturb::strip_all(from_rule));
        }
        let custom = closures::primitive(prim, &[0, 1, 2]);
        Ok(Step::Call { func: custom, args: smallvec![func, rule, point], then: Some(then) })
    }
}

/// `custom_jvp f rule x`
pub(crate) fn custom_jvp(cx: &mut Context, func: Value, rule: Value, x: Value) -> Result<Step, Failure> {
    let Some((tag, mode)) = perturb::largest_tag(&x) else { return call1(func, x) };
    let point = perturb::strip(tag, &x);
    let (argument, tangent) = match &mode {
        Mode::Forward => (point.clone(), perturb::split_forward(cx, tag, &x)?.1),
        Mode::Reverse(tape) => {
            tape.set_rule_name("custom_jvp");
            let nested = perturb::largest_tag(&point).is_some() || perturb::largest_tag(&rule).is_some();
            (point.clone(), perturb::linear_tangent(cx, tape, &x, nested)?)
        }
        Mode::Series(_) => {
            refuse_captured(tag, &func)?;
            series::differentiate(cx, tag, &x)?
        }
    };
    let subject = Subject { prim: Prim::CustomJvp, func, rule: rule.clone(), point };
    call1_then(rule, Value::tuple([argument, tangent]), AfterRule { tag, mode, subject })
}

fn refuse_captured(tag: Tag, func: &Value) -> Result<(), Failure> {
    if perturb::mentions(tag, func) {
        return Err(errors::taylor_mode(
            "a function with a custom rule that has captured the expanded variable",
        ));
    }
    Ok(())
}

/// Takes back the marks for a rule that does not run to its end.
fn abandon(mode: &Mode) {
    if let Mode::Reverse(tape) = mode {
        tape.end_linear();
    }
}

/// The rule has given the tangent. That is before the value is computed: what that does with tangents which a rule around this one was
/// given is none of this rule's business.
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
    subject: Subject,
}

impl Resume for AfterRule {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let AfterRule { tag, mode, subject } = *self;
        let (y, tangent) = pair(&value)?;
        end(&mode, &tangent)?;
        let rule = "custom_jvp";
        subject.value(cx, &y, Box::new(WithTangent { tag, mode, tangent, rule }))
    }

    fn abandon(&self) {
        abandon(&self.mode);
    }
}

/// The value is there; its tangent is to be added.
struct WithTangent {
    tag: Tag,
    mode: Mode,
    tangent: Value,
    /// The operator.
    rule: &'static str,
}

impl Resume for WithTangent {
    fn resume(self: Box<Self>, cx: &mut Context, y: Value) -> Result<Step, Failure> {
        let WithTangent { tag, mode, tangent, rule } = *self;
        let perturbed = match mode {
            Mode::Forward => perturb::plus_tangent_of_rule(cx, tag, rule, &y, &tangent)?,
            Mode::Reverse(tape) => perturb::add_linear(cx, &tape, &y, &tangent)?,
            Mode::Series(order) => series::integrate(cx, tag, order, &y, &tangent)?,
        };
        Ok(Step::Done(perturbed))
    }
}

/// `custom_vjp f rule x`
pub(crate) fn custom_vjp(cx: &mut Context, func: Value, rule: Value, x: Value) -> Result<Step, Failure> {
    let Some((tag, mode)) = perturb::largest_tag(&x) else { return call1(func, x) };
    let point = perturb::strip(tag, &x);
    let argument = match &mode {
        Mode::Forward | Mode::Reverse(_) => point.clone(),
        Mode::Series(_) => {
            refuse_captured(tag, &func)?;
            series::differentiate(cx, tag, &x)?.0
        }
    };
    let subject = Subject { prim: Prim::CustomVjp, func, rule: rule.clone(), point };
    call1_then(rule, argument, AfterPullback { tag, mode, x, subject })
}

/// The rule of `custom_vjp` has given the value and the function from cotangents to cotangents.
struct AfterPullback {
    tag: Tag,
    mode: Mode,
    x: Value,
    subject: Subject,
}

impl Resume for AfterPullback {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let AfterPullback { tag, mode, x, subject } = *self;
        let (y, pullback) = pair(&value)?;
        let direction = match &mode {
            // A pullback that has captured something under a larger tag cannot wait for the tape to run: by then that
            // tag is gone.
            Mode::Reverse(tape) if !perturb::tags_above(tag, &pullback).is_empty() => {
                tape.set_rule_name("custom_vjp");
                perturb::linear_tangent(cx, tape, &x, true)?
            }
            Mode::Reverse(tape) => {
                let then = NotePullback { tape: Rc::clone(tape), x, pullback };
                return subject.value(cx, &y, Box::new(then));
            }
            Mode::Forward => perturb::split_forward(cx, tag, &x)?.1,
            Mode::Series(_) => series::differentiate(cx, tag, &x)?.1,
        };
        // The tangent is the transpose of the pullback at the tangent of the argument.
        let tangent = sweep::transpose_custom(cx, &pullback, &perturb::strip(tag, &y), &direction)?;
        Ok(tangent.and_then(AfterTranspose { tag, mode, y, subject }))
    }
}

/// In reverse mode the pullback becomes a node of the tape.
struct NotePullback {
    tape: Rc<Tape>,
    x: Value,
    pullback: Value,
}

impl Resume for NotePullback {
    fn resume(self: Box<Self>, cx: &mut Context, y: Value) -> Result<Step, Failure> {
        note::note_custom(cx, &self.tape, &self.x, &self.pullback, &y).map(Step::Done)
    }
}

/// The tangent is there.
struct AfterTranspose {
    tag: Tag,
    mode: Mode,
    y: Value,
    subject: Subject,
}

impl Resume for AfterTranspose {
    fn resume(self: Box<Self>, cx: &mut Context, tangent: Value) -> Result<Step, Failure> {
        let AfterTranspose { tag, mode, y, subject } = *self;
        end(&mode, &tangent)?;
        let rule = "custom_vjp";
        subject.value(cx, &y, Box::new(WithTangent { tag, mode, tangent, rule }))
    }

    fn abandon(&self) {
        abandon(&self.mode);
    }
}
