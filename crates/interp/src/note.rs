//! Noting on a tape what has to be run again when the tape is: custom rules, checkpoints, and applications of functions
//! that checkpoints gave.
//!
//! Such a node has outputs: a slot for each real and each function in the result, whose tangents it defines. The result
//! goes on with these slots added to what it is perturbed by already.
//!
//! # Functions that checkpoints gave
//!
//! If such a function `g` has the unknown tangent `h`, then applying it to `x` gives `g x` plus the tangent `h x`, where
//! `x` counts without the tape's tag (it would give a product of two perturbations). But `x` may be perturbed under
//! *larger* tags: by a `jvp` that runs inside, say with `x = x₀ + ε x₁`. Then `h x = a + ε b`, and the node has two
//! outputs for each real, `a` and `b`. When the tape runs backward with cotangents `ā` and `b̄`, the cotangent of `g` is the
//! functional `h ↦ ā·a + b̄·b`, which is the `ε`-part of `⟨b̄ + ε ā, h x⟩`: weights are swapped, and the pair of point and
//! weight binds the tag of `ε`. With several such tags there is an output for each subset of them.
//!
//! If the result is a function (`g` is curried), what it is applied to later has these tags beside its own.

use crate::arith;
use crate::errors;
use crate::perturb::{self, Mode, active, on_tape};
use crate::step::{Context, Failure};
use crate::tape::{Abstraction, Node, Tape, TapeTerm};
use crate::value::{Fun, Perturbation, Tag, Value};
use crate::walk::{self, FunAction, Mapper};
use smallvec::smallvec;
use std::rc::Rc;
use wengert_prim::RealOp;

/// A real with the tangent in `slot` added. It has no tag larger than the tape's.
pub(crate) fn plus_slot(tape: &Rc<Tape>, y: &Value, slot: u32) -> Result<Value, Failure> {
    let Some(old) = arith::slot_under(y, tape.tag()) else { return Ok(on_tape(tape, y.clone(), slot)) };
    let terms = smallvec![
        TapeTerm { slot: old, negative: false, coef: None },
        TapeTerm { slot, negative: false, coef: None },
    ];
    Ok(on_tape(tape, arith::without(y, tape.tag()), tape.record(terms, None, false)?))
}

/// Gives each real and each function of a result the next output slot, under each subset of the larger tags.
struct AddOutputs<'a> {
    cx: &'a mut Context,
    tape: &'a Rc<Tape>,
    /// Smallest first.
    larger: Rc<[Tag]>,
    /// The first output.
    next: u32,
}

impl AddOutputs<'_> {
    fn slot(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn real_under(&mut self, y: &Value, larger: &[Tag]) -> Result<Value, Failure> {
        let Some((tag, smaller)) = larger.split_last() else {
            let slot = self.slot();
            return plus_slot(self.tape, y, slot);
        };
        let (primal, tangent) = perturb::split_real(*tag, y)?;
        let tangent = tangent.unwrap_or(Value::Real(0.0));
        let primal = self.real_under(&primal, smaller)?;
        let tangent = self.real_under(&tangent, smaller)?;
        Ok(active(*tag, primal, Perturbation::Forward(tangent)))
    }
}

impl Mapper for AddOutputs<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let larger = Rc::clone(&self.larger);
        self.real_under(value, &larger).map(Some)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        let (tape, slot) = (Rc::clone(self.tape), self.slot());
        if !self.larger.is_empty() {
            tape.bind_tags(slot, Rc::clone(&self.larger));
        }
        let primal = Value::Fun(Rc::clone(fun));
        Ok(FunAction::Replace(Value::Fun(Rc::new(Fun::Reverse { tape, slot, primal }))))
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// The shape of a result: placeholders where [`AddOutputs`] gives slots, in the same order.
struct Shape<'a> {
    cx: &'a mut Context,
    formal: Rc<Tape>,
    larger: Rc<[Tag]>,
    count: u32,
}

impl Shape<'_> {
    fn slot(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    fn real_under(&mut self, larger: &[Tag]) -> Value {
        let Some((tag, smaller)) = larger.split_last() else {
            let slot = self.slot();
            return on_tape(&self.formal, Value::Real(0.0), slot);
        };
        let primal = self.real_under(smaller);
        let tangent = self.real_under(smaller);
        active(*tag, primal, Perturbation::Forward(tangent))
    }
}

impl Mapper for Shape<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, _value: &Value) -> Result<Option<Value>, Failure> {
        let larger = Rc::clone(&self.larger);
        Ok(Some(self.real_under(&larger)))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        let (tape, slot) = (Rc::clone(&self.formal), self.slot());
        let primal = Value::Bool(false);
        Ok(FunAction::Replace(Value::Fun(Rc::new(Fun::Reverse { tape, slot, primal }))))
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// Adds a node with the outputs that the result `y` needs, and gives `y` with these.
fn with_outputs(
    cx: &mut Context,
    tape: &Rc<Tape>,
    y: &Value,
    larger: Rc<[Tag]>,
    linear: bool,
    node: impl FnOnce(Abstraction) -> Node,
) -> Result<Value, Failure> {
    let formal = Tape::formal(cx.fresh_tag());
    let mut shape = Shape { cx, formal: Rc::clone(&formal), larger: Rc::clone(&larger), count: 0 };
    let value = walk::map(y, &mut shape)?;
    let count = shape.count;
    if count == 0 {
        return Ok(y.clone());
    }
    let first = tape.len() as u32 + 1;
    let slots: Rc<[u32]> = (first..first + count).collect();
    tape.push_node(node(Abstraction { formal, value, slots }))?;
    for _ in 0..count {
        if linear {
            tape.add_linear_leaf()?
        } else {
            tape.add_leaf()?
        };
    }
    walk::map(y, &mut AddOutputs { cx, tape, larger, next: first })
}

/// The function in `slot` was applied to `x` (as perturbed as it is), and its primal part gave `y`.
pub(crate) fn note_application(
    cx: &mut Context,
    tape: &Rc<Tape>,
    slot: u32,
    x: &Value,
    y: &Value,
) -> Result<Value, Failure> {
    let point = perturb::strip(tape.tag(), x);
    let inherited = tape.bound_tags(slot);
    let mut bound = Vec::new();
    // Largest first: a tape with a larger tag may depend on one with a smaller tag.
    for (tag, mode) in perturb::tags_above(tape.tag(), &point).into_iter().rev() {
        match mode {
            Mode::Forward if inherited.contains(&tag) => {}
            Mode::Forward => bound.push(tag),
            Mode::Reverse(inner) => {
                return stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                    note_in_reverse(cx, tape, slot, &inner, &point, y)
                });
            }
            Mode::Series(_) => {
                return Err(errors::taylor_mode("a function with respect to which is differentiated"));
            }
        }
    }
    let mut larger: Vec<Tag> = inherited.iter().chain(&bound).copied().collect();
    larger.sort_unstable();
    let linear = tape.is_linear(slot);
    with_outputs(cx, tape, y, larger.into(), linear, |output| Node::Apply { slot, point, bound, output })
}

/// As [`note_application`], where the point has slots on another tape with a larger tag, `inner`: a `grad` that runs
/// inside. Then the partial derivatives of the unknown tangent are needed as coefficients on that tape. There is an
/// application for each slot, with that slot alone perturbed, in forward mode. If one of these slots is that of a function, nothing
/// can be noted.
fn note_in_reverse(
    cx: &mut Context,
    tape: &Rc<Tape>,
    slot: u32,
    inner: &Rc<Tape>,
    point: &Value,
    y: &Value,
) -> Result<Value, Failure> {
    if !matches!(y, Value::Real(_) | Value::Active(_)) {
        return Err(errors::dual_tangent());
    }
    let mut sum = y.clone();
    for (i, inner_slot) in perturb::slots_on(inner, point)?.into_iter().enumerate() {
        cx.work(1)?;
        let tag = cx.fresh_tag();
        let chosen = |slot: u32| (slot == inner_slot).then_some(Value::Real(1.0));
        let point = perturb::with_tangents(inner, tag, point, &chosen)?;
        let unknown = note_application(cx, tape, slot, &point, &Value::Real(0.0))?;
        let (value, partial) = perturb::split_real(tag, &unknown)?;
        if i == 0 {
            sum = arith::real2(cx, RealOp::Add, &sum, &value)?;
        }
        if let Some(partial) = partial {
            let tangent = on_tape(inner, Value::Real(0.0), inner_slot);
            let change = arith::real2(cx, RealOp::Mul, &partial, &tangent)?;
            sum = arith::real2(cx, RealOp::Add, &sum, &change)?;
        }
    }
    Ok(sum)
}

/// `custom_vjp`'s rule was run at `x`, which is on the tape, and gave `y` and the pullback, which must not be perturbed
/// under tags larger than the tape's.
pub(crate) fn note_custom(
    cx: &mut Context,
    tape: &Rc<Tape>,
    x: &Value,
    pullback: &Value,
    y: &Value,
) -> Result<Value, Failure> {
    let input = Abstraction::of(cx, tape, x)?;
    refuse_tangents(tape, &input)?;
    let pullback = perturb::strip(tape.tag(), pullback);
    with_outputs(cx, tape, y, Rc::default(), false, |output| Node::Custom { pullback, input, output })
}

/// `checkpoint f x` was run without the tape's perturbations, and gave `y`. `call` is the pair `(f, x)`.
pub(crate) fn note_checkpoint(
    cx: &mut Context,
    tape: &Rc<Tape>,
    call: Abstraction,
    y: &Value,
) -> Result<Value, Failure> {
    refuse_tangents(tape, &call)?;
    with_outputs(cx, tape, y, Rc::default(), false, |output| Node::Checkpoint { call, output })
}

/// What a node does with a tangent that a custom rule got cannot be seen to be linear.
fn refuse_tangents(tape: &Tape, input: &Abstraction) -> Result<(), Failure> {
    if input.slots.iter().any(|slot| tape.is_linear(*slot)) {
        let why = "it gives a tangent to `checkpoint` or to a function with another rule";
        return Err(errors::nonlinear_rule(tape.rule_name(), why));
    }
    Ok(())
}
