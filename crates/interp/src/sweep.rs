//! Running tapes: backward, from cotangents of the outputs to those of the inputs, and forward.
//!
//! Backward, every slot collects its cotangent; entry by entry from the last, `s = slot / d` is added to the slots of the
//! terms, times their coefficients. The first contribution to a slot needs no addition, and zeros contribute nothing. The
//! cotangent of a function slot is a list of pairs (point, cotangent of the result).
//!
//! Some entries need the program (see [`crate::note`]): a custom rule's pullback, a checkpointed function, the function
//! that is the tangent of a function. A run is therefore a state machine ([`Resume`]) that asks for a call and goes
//! on with its result. Running a checkpoint again makes a tape inside the run of another, so the state is a stack of
//! frames; no Rust recursion follows the program's nesting.
//!
//! * A checkpoint, backward: put the remembered `(f, x)` on a new tape, call, seed the result with the cotangent of the
//!   outputs, run the new tape, and add what its inputs collected to the slots that they stand for. Forward: the same
//!   call with forward perturbations.
//! * A custom pullback, backward: call it. Forward: call it on unknown cotangents marked linear, and run *that* tape
//!   backward from the tangent of the input, which transposes the pullback.
//! * A function in the result of a checkpoint, backward: its cotangent is a list of pairs; call it at each point and seed the result.

mod backward;
mod forward;

use crate::arith::{self, is_exact_zero};
use crate::errors;
use crate::perturb;
use crate::step::{Context, Failure, Resume, Step};
use crate::tape::{Abstraction, Linearization, Tape};
use crate::value::{Cotangent, Tag, Value};
use crate::vector;
use crate::walk;
use backward::Backward;
use forward::Forward;
use smallvec::smallvec;
use std::rc::Rc;
use wengert_prim::RealOp;

/// Tangents or cotangents of slots; `None` is zero.
#[derive(Default)]
struct Slots(Vec<Option<Value>>);

impl Slots {
    fn get(&self, slot: u32) -> Option<&Value> {
        self.0.get(slot as usize).and_then(Option::as_ref)
    }

    fn take(&mut self, slot: usize) -> Option<Value> {
        self.0.get_mut(slot).and_then(Option::take)
    }

    fn place(&mut self, slot: u32) -> &mut Option<Value> {
        let slot = slot as usize;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, None);
        }
        // Just made long enough.
        self.0.get_mut(slot).expect("the slot exists")
    }

    fn set(&mut self, slot: u32, value: Value) {
        let value = if is_exact_zero(&value) { None } else { Some(value) };
        *self.place(slot) = value;
    }

    /// Adds to what has accumulated at `slot`.
    fn add(&mut self, cx: &mut Context, slot: u32, value: Value, negative: bool) -> Result<(), Failure> {
        if is_exact_zero(&value) {
            return Ok(());
        }
        let place = self.place(slot);
        *place = Some(match (place.take(), value) {
            (None, value) if negative => arith::real1(cx, RealOp::Neg, &value)?,
            (None, value) => value,
            (Some(Value::Cotangent(old)), Value::Cotangent(new)) => extended(old, &new),
            (Some(old), value) => {
                let op = if negative { RealOp::Sub } else { RealOp::Add };
                arith::real2(cx, op, &old, &value)?
            }
        });
        Ok(())
    }
}

/// The sum of two functionals, made in place where `old` has no other holder.
fn extended(old: Rc<Cotangent>, new: &Cotangent) -> Value {
    match Rc::try_unwrap(old) {
        Ok(mut old) => {
            old.pairs.update(|pairs| pairs.extend(new.pairs.as_slice().iter().cloned()));
            Value::Cotangent(Rc::new(old))
        }
        Err(shared) => vector::joined(&shared, new),
    }
}

/// What becomes of the cotangents of the inputs.
enum AfterBackward {
    /// They are the result, in the shape of this.
    Result { input: Value, dual: bool },
    /// They are added to these slots of the frame below.
    Feed(Vec<u32>),
    /// They are tangents, for these slots of the frame below.
    Tangents(Rc<[u32]>),
}

enum Frame {
    Backward(Backward),
    Forward(Forward),
}

/// What a result of the program is awaited for.
enum Awaited {
    /// To be seeded in the topmost frame.
    Seed { weight: Value, tags: Vec<Tag> },
    /// The cotangent of a custom rule's input.
    Cotangent { input: Abstraction },
    /// The result of a checkpointed function, on the new tape.
    Checkpoint { tape: Rc<Tape>, weight: Value, feeds: Vec<u32> },
    /// The tangent of the output of an application.
    Tangent { output: Abstraction },
    /// The result of a checkpointed function under a forward tag.
    Perturbed { tag: Tag, output: Abstraction },
    /// A pullback at unknown cotangents, to be transposed.
    Transpose { tape: Rc<Tape>, tangent: Value, then: AfterBackward },
}

/// A run.
struct Sweep {
    frames: Vec<Frame>,
    awaited: Option<Awaited>,
}

/// What running a frame ends with.
enum Next {
    /// The function applied to the argument is needed.
    Call(Value, Value, Awaited),
    /// All entries were visited.
    Finished,
}

impl Sweep {
    fn run(mut self: Box<Self>, cx: &mut Context) -> Result<Step, Failure> {
        loop {
            let next = match self.frames.last_mut() {
                Some(Frame::Backward(frame)) => frame.run(cx)?,
                Some(Frame::Forward(frame)) => frame.run(cx)?,
                None => return Err(errors::internal("a run without a tape")),
            };
            match next {
                Next::Call(func, arg, awaited) => {
                    self.awaited = Some(awaited);
                    return Ok(Step::Call { func, args: smallvec![arg], then: Some(self) });
                }
                Next::Finished => {
                    if let Some(result) = self.finish(cx)? {
                        return Ok(Step::Done(result));
                    }
                }
            }
        }
    }

    /// Ends the topmost frame; gives the result of the run if it was the last one.
    fn finish(&mut self, cx: &mut Context) -> Result<Option<Value>, Failure> {
        match self.frames.pop() {
            Some(Frame::Forward(frame)) => frame.result(cx).map(Some),
            Some(Frame::Backward(mut frame)) => {
                match std::mem::replace(&mut frame.then, AfterBackward::Feed(Vec::new())) {
                    AfterBackward::Result { input, dual } => frame.point_cotangent(&input, dual).map(Some),
                    AfterBackward::Feed(slots) => {
                        let Some(Frame::Backward(below)) = self.frames.last_mut() else {
                            return Err(errors::internal("a checkpoint without a tape below"));
                        };
                        for (input, slot) in slots.into_iter().enumerate() {
                            if let Some(cotangent) = frame.cotangents.take(input) {
                                below.cotangents.add(cx, slot, cotangent, false)?;
                            }
                        }
                        Ok(None)
                    }
                    AfterBackward::Tangents(slots) => {
                        let Some(Frame::Forward(below)) = self.frames.last_mut() else {
                            return Err(errors::internal("a transposed rule without a tape below"));
                        };
                        for (input, slot) in slots.iter().enumerate() {
                            if let Some(tangent) = frame.cotangents.take(input) {
                                below.tangents.set(*slot, tangent);
                            }
                        }
                        Ok(None)
                    }
                }
            }
            None => Err(errors::internal("a run without a tape")),
        }
    }

    /// Takes in what was awaited.
    fn receive(&mut self, cx: &mut Context, awaited: Awaited, value: &Value) -> Result<(), Failure> {
        match (awaited, self.frames.last_mut()) {
            (Awaited::Seed { weight, tags }, Some(Frame::Backward(frame))) => {
                frame.seed(cx, value, &weight, &tags, &pullback_mismatch)
            }
            (Awaited::Cotangent { input }, Some(Frame::Backward(frame))) => {
                frame.add_input_cotangent(cx, &input, value)
            }
            (Awaited::Checkpoint { tape, weight, feeds }, _) => {
                let mut frame = Backward::new(tape, AfterBackward::Feed(feeds));
                frame.seed(cx, value, &weight, &[], &pullback_mismatch)?;
                self.frames.push(Frame::Backward(frame));
                Ok(())
            }
            (Awaited::Tangent { output }, Some(Frame::Forward(frame))) => {
                frame.set_outputs(cx, &output, value)
            }
            (Awaited::Perturbed { tag, output }, Some(Frame::Forward(frame))) => {
                let (_, tangent) = perturb::split_forward(cx, tag, value)?;
                frame.set_outputs(cx, &output, &tangent)
            }
            (Awaited::Transpose { tape, tangent, then }, _) => {
                let mut frame = Backward::new(tape, then);
                frame.seed_linear(cx, value, &tangent)?;
                self.frames.push(Frame::Backward(frame));
                Ok(())
            }
            (
                Awaited::Seed { .. }
                | Awaited::Cotangent { .. }
                | Awaited::Tangent { .. }
                | Awaited::Perturbed { .. },
                _,
            ) => Err(errors::internal("a result that nothing waits for")),
        }
    }
}

impl Resume for Sweep {
    fn resume(mut self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        if let Some(awaited) = self.awaited.take() {
            self.receive(cx, awaited, &value)?;
        }
        self.run(cx)
    }

    fn bytes(&self) -> usize {
        let slots = |frame: &Frame| match frame {
            Frame::Backward(frame) => frame.cotangents.0.capacity(),
            Frame::Forward(frame) => frame.tangents.0.capacity(),
        };
        64 + self.frames.iter().map(|frame| 256 + 16 * slots(frame)).sum::<usize>()
    }
}

/// Asks for a pullback at unknown cotangents of the shape of `y`.
fn transpose(
    cx: &mut Context,
    pullback: &Value,
    y: &Value,
    tangent: Value,
    then: AfterBackward,
) -> Result<Next, Failure> {
    let tape = Tape::new(cx.fresh_tag());
    tape.set_rule_name("custom_vjp");
    let unknown = perturb::linear_input(cx, &tape, y)?;
    Ok(Next::Call(pullback.clone(), unknown, Awaited::Transpose { tape, tangent, then }))
}

// Entry points.

/// The linear map recorded on `tape`, from the point `x` (without the tape's tag) to the result `y`.
pub(crate) fn linearization(
    cx: &mut Context,
    tape: &Rc<Tape>,
    x: &Value,
    y: &Value,
) -> Result<Rc<Linearization>, Failure> {
    let output = Abstraction::of(cx, tape, y)?;
    Ok(Rc::new(Linearization { tape: Rc::clone(tape), input: x.clone(), output }))
}

/// A recorded linear map applied to a tangent, or its transpose to a cotangent.
pub(crate) fn apply_linear(
    cx: &mut Context,
    map: &Rc<Linearization>,
    transposed: bool,
    arg: &Value,
) -> Result<Step, Failure> {
    let frame = if transposed {
        let then = AfterBackward::Result { input: map.input.clone(), dual: false };
        let mut frame = Backward::new(Rc::clone(&map.tape), then);
        frame.seed_outputs(cx, &map.output, arg)?;
        Frame::Backward(frame)
    } else {
        Frame::Forward(Forward::new(cx, map, arg)?)
    };
    Box::new(Sweep { frames: vec![frame], awaited: None }).run(cx)
}

/// Pulls the functional `dual` on the result `y`, which is on the tape, back to one on the point `x` (without the tag).
pub(crate) fn pull_back(
    cx: &mut Context,
    tape: &Rc<Tape>,
    x: &Value,
    y: &Value,
    dual: &Value,
) -> Result<Step, Failure> {
    let then = AfterBackward::Result { input: x.clone(), dual: true };
    let mut frame = Backward::new(Rc::clone(tape), then);
    frame.seed(cx, y, &weight_of(dual)?, &[], &pullback_mismatch)?;
    Box::new(Sweep { frames: vec![Frame::Backward(frame)], awaited: None }).run(cx)
}

/// The tangent of the result `y` of a function with a custom rule, from the rule's `pullback` and the tangent `t` of the
/// argument: the pullback transposed.
pub(crate) fn transpose_custom(
    cx: &mut Context,
    pullback: &Value,
    y: &Value,
    t: &Value,
) -> Result<Step, Failure> {
    let then = AfterBackward::Result { input: y.clone(), dual: false };
    let Next::Call(func, arg, awaited) = transpose(cx, pullback, y, t.clone(), then)? else {
        return Err(errors::internal("a pullback that is not called"));
    };
    let sweep = Sweep { frames: Vec::new(), awaited: Some(awaited) };
    Ok(Step::Call { func, args: smallvec![arg], then: Some(Box::new(sweep)) })
}

fn weight_of(dual: &Value) -> Result<Value, Failure> {
    match dual {
        Value::Dual(fields) => fields.get(0).cloned().ok_or_else(|| errors::internal("an empty functional")),
        Value::Real(_)
        | Value::Active(_)
        | Value::Int(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Tuple(_)
        | Value::Record(_)
        | Value::Data(_)
        | Value::Array(_)
        | Value::Fun(_)
        | Value::Cotangent(_) => Err(errors::internal("a functional expected")),
    }
}

fn pullback_mismatch(y: &Value, weight: &Value) -> Failure {
    errors::shapes("pullback", &walk::describe(y), &walk::describe(weight))
}

fn vjp_mismatch(y: &Value, weight: &Value) -> Failure {
    errors::shapes("vjp", &walk::describe(y), &walk::describe(weight))
}

fn rule_mismatch(x: &Value, found: &Value) -> Failure {
    errors::rule_result("custom_vjp", &walk::describe(x), &walk::describe(found))
}
