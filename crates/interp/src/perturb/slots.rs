//! Putting values on tapes, marking tangents for custom rules, and moving slots between tapes.

use super::{is_formal, map_parts, mentions, on_tape};
use crate::arith::{self, is_exact_zero, with_tangent};
use crate::errors;
use crate::note::plus_slot;
use crate::step::{Context, Failure};
use crate::tape::Tape;
use crate::value::{Fun, Perturbation, Tag, Value};
use crate::walk::{self, FunAction, Mapper, Wrapper, Zipper};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_prim::RealOp;

struct ToTape<'a> {
    cx: &'a mut Context,
    tape: &'a Rc<Tape>,
    linear: bool,
}

impl ToTape<'_> {
    fn slot(&self) -> Result<u32, Failure> {
        if self.linear { self.tape.add_linear_leaf() } else { self.tape.add_leaf() }
    }
}

impl Mapper for ToTape<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let primal = if self.linear { Value::Real(0.0) } else { value.clone() };
        Ok(Some(on_tape(self.tape, primal, self.slot()?)))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(errors::internal("a function as an input of a tape"))
    }

    // What is shared has a slot for each occurrence, so this walk may be much longer than the value is large.
    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// The point with each real in a slot of the tape, from left to right. It holds no functions.
pub(crate) fn reverse_input(cx: &mut Context, tape: &Rc<Tape>, x: &Value) -> Result<Value, Failure> {
    walk::map(x, &mut ToTape { cx, tape, linear: false })
}

/// Unknown cotangents of the shape of `x` on an empty tape, marked linear.
pub(crate) fn linear_input(cx: &mut Context, tape: &Rc<Tape>, x: &Value) -> Result<Value, Failure> {
    walk::map(x, &mut ToTape { cx, tape, linear: true })
}

struct LinearTangent<'a> {
    cx: &'a mut Context,
    tape: &'a Rc<Tape>,
    nested: bool,
}

impl Mapper for LinearTangent<'_> {
    // A number that is given twice is two numbers, as in compiled code.
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        if let Value::Active(active) = value
            && let Perturbation::Reverse { slot, .. } = &active.perturbation
            && active.tag == self.tape.tag()
        {
            if self.tape.is_linear(*slot) {
                return Err(errors::nonlinear_rule(
                    "custom_jvp",
                    "it gives a tangent to a function with another rule",
                ));
            }
            let slot = self.tape.mark_linear(*slot)?;
            return Ok(Some(on_tape(self.tape, Value::Real(0.0), slot)));
        }
        if self.nested {
            return Ok(Some(on_tape(self.tape, Value::Real(0.0), self.tape.add_linear_leaf()?)));
        }
        Ok(Some(Value::Real(0.0)))
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        // A function whose value is zero everywhere: the tangent under a tag that does not occur.
        let func = Value::Fun(Rc::clone(fun));
        if let Fun::Reverse { tape, slot, primal } = &**fun
            && tape.tag() == self.tape.tag()
            && !mentions(self.tape.tag(), primal)
        {
            let zero = Fun::TangentOf { tag: self.cx.fresh_tag(), func: primal.clone() };
            let slot = self.tape.mark_linear(*slot)?;
            let primal = Value::Fun(Rc::new(zero));
            return Ok(FunAction::Replace(Value::Fun(Rc::new(Fun::Reverse {
                tape: Rc::clone(self.tape),
                slot,
                primal,
            }))));
        }
        if mentions(self.tape.tag(), &func) {
            let why = "it is given a function that has captured differentiated variables";
            return Err(errors::nonlinear_rule("custom_jvp", why));
        }
        let zero = Fun::TangentOf { tag: self.cx.fresh_tag(), func };
        Ok(FunAction::Replace(Value::Fun(Rc::new(zero))))
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// The tangent of `x`, which is on the tape, for a custom rule: its slots again, marked linear, around zeros.
///
/// Where `x` does not depend on the tape, the tangent is a plain zero, unless there are other perturbations about
/// (`nested`): a plain zero times a perturbed number is a perturbed zero, which no longer shows that it is a tangent. So
/// there it is a slot to which nothing leads.
pub(crate) fn linear_tangent(
    cx: &mut Context,
    tape: &Rc<Tape>,
    x: &Value,
    nested: bool,
) -> Result<Value, Failure> {
    tape.begin_linear();
    walk::map(x, &mut LinearTangent { cx, tape, nested })
}

struct CheckLinear<'a> {
    tape: &'a Rc<Tape>,
}

impl CheckLinear<'_> {
    /// Whether a tangent is linear in the slots of the tape. Under larger tags, which the rule has captured, each part is.
    fn tower(&self, value: &Value) -> bool {
        let Value::Active(active) = value else { return is_exact_zero(value) };
        if arith::stays_zero(value) {
            return true;
        }
        if active.tag == self.tape.tag() {
            return arith::slot_under(value, active.tag).is_some_and(|slot| self.tape.is_linear(slot));
        }
        let second = match &active.perturbation {
            Perturbation::Forward(tangent) => self.tower(tangent),
            Perturbation::Series(coefs) => coefs.as_slice().iter().all(|coef| self.tower(coef)),
            Perturbation::Reverse { .. } => true,
        };
        active.tag > self.tape.tag() && second && self.tower(&active.primal)
    }
}

impl Mapper for CheckLinear<'_> {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        if self.tower(value) {
            return Ok(None);
        }
        let why = "its tangent does not vanish with the tangent it is given";
        Err(errors::nonlinear_rule(self.tape.rule_name(), why))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        let why = "its tangent holds a function, which reverse mode does not support";
        Err(errors::nonlinear_rule(self.tape.rule_name(), why))
    }
}

struct AddLinear<'a> {
    cx: &'a mut Context,
    tape: &'a Rc<Tape>,
}

impl Zipper for AddLinear<'_> {
    fn reals(&mut self, y: &Value, dy: &Value) -> Result<Value, Failure> {
        if is_exact_zero(dy) {
            return Ok(y.clone());
        }
        let is_below = !matches!(y, Value::Active(active) if active.tag > self.tape.tag());
        match arith::slot_under(dy, self.tape.tag()) {
            Some(slot) if is_below => plus_slot(self.tape, y, slot),
            Some(_) | None => arith::real2(self.cx, RealOp::Add, y, dy),
        }
    }

    fn functions(&mut self, _y: &Value, _dy: &Value) -> Result<Value, Failure> {
        Err(errors::internal("a linear tangent that holds a function"))
    }

    fn mismatch(&self, y: &Value, dy: &Value) -> Failure {
        errors::rule_result(self.tape.rule_name(), &walk::describe(y), &walk::describe(dy))
    }

    fn work(&mut self, steps: usize) -> Result<(), Failure> {
        self.cx.work(steps as u64)
    }
}

/// A custom rule has given the tangent `dy`, which must be linear on the tape. The slots that were marked for the rule lose their
/// mark.
pub(crate) fn end_linear(tape: &Rc<Tape>, dy: &Value) -> Result<(), Failure> {
    let checked = walk::map(dy, &mut CheckLinear { tape });
    tape.end_linear();
    checked.map(|_| ())
}

/// The value `y` with the tangent `dy` that a custom rule gave.
pub(crate) fn add_linear(cx: &mut Context, tape: &Rc<Tape>, y: &Value, dy: &Value) -> Result<Value, Failure> {
    walk::zip(y, dy, &mut AddLinear { cx, tape })
}

// Moving between tapes.

struct Transfer<'a> {
    cx: &'a mut Context,
    from: &'a Rc<Tape>,
    to: &'a Rc<Tape>,
    /// Slots of `from` in the order met.
    slots: Vec<u32>,
    /// Slots of `to` for them.
    moved: FxHashMap<u32, u32>,
}

impl Transfer<'_> {
    fn slot(&mut self, slot: u32) -> Result<u32, Failure> {
        if let Some(moved) = self.moved.get(&slot) {
            return Ok(*moved);
        }
        let moved = if self.to.is_formal() { self.slots.len() as u32 } else { self.to.add_leaf()? };
        self.slots.push(slot);
        self.moved.insert(slot, moved);
        Ok(moved)
    }

    fn tower(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        if active.tag == self.from.tag() {
            let Perturbation::Reverse { slot, .. } = &active.perturbation else { return Ok(None) };
            let slot = self.slot(*slot)?;
            return Ok(Some(on_tape(self.to, active.primal.clone(), slot)));
        }
        let mapped = map_parts(active, &mut |part| self.tower(part))?;
        // The tape's tag is the largest that is free in the value, so a larger one is bound.
        let is_bound = is_formal(active) || matches!(active.perturbation, Perturbation::Forward(_));
        if mapped.is_some() && !is_bound {
            return Err(errors::internal("a slot below a larger tag is moved to another tape"));
        }
        Ok(mapped)
    }
}

impl Mapper for Transfer<'_> {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        if let Fun::Reverse { tape, slot, .. } = &**fun
            && tape.tag() == self.from.tag()
        {
            return Ok(FunAction::Primal(Wrapper::Reverse(Rc::clone(self.to), self.slot(*slot)?)));
        }
        Ok(FunAction::Descend)
    }

    fn enter(&mut self, children: usize) -> Result<(), Failure> {
        self.cx.work(children as u64)
    }
}

/// The value with its slots on `from` replaced by new inputs of `to`. The slots they stand for are returned in the order
/// of the new ones.
pub(crate) fn transfer(
    cx: &mut Context,
    from: &Rc<Tape>,
    to: &Rc<Tape>,
    value: &Value,
) -> Result<(Value, Vec<u32>), Failure> {
    let mut transfer = Transfer { cx, from, to, slots: Vec::new(), moved: FxHashMap::default() };
    let value = walk::map(value, &mut transfer)?;
    Ok((value, transfer.slots))
}

struct WithTangents<'a> {
    tape: &'a Tape,
    tag: Tag,
    tangents: &'a dyn Fn(u32) -> Option<Value>,
}

impl WithTangents<'_> {
    /// The part of a real without the tape's tag, and the tangent that its slots stand for.
    fn split(&self, value: &Value) -> Result<(Value, Option<Value>), Failure> {
        let Value::Active(active) = value else { return Ok((value.clone(), None)) };
        if active.tag == self.tape.tag()
            && let Perturbation::Reverse { slot, .. } = &active.perturbation
        {
            return Ok((active.primal.clone(), (self.tangents)(*slot)));
        }
        let Perturbation::Forward(second) = &active.perturbation else { return Ok((value.clone(), None)) };
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let (primal, primal_dot) = self.split(&active.primal)?;
            let (second, second_dot) = self.split(second)?;
            let tangent = match (primal_dot, second_dot) {
                (None, None) => None,
                (primal, second) => {
                    Some(with_tangent(active.tag, primal.unwrap_or(Value::Real(0.0)), second))
                }
            };
            Ok((with_tangent(active.tag, primal, Some(second)), tangent))
        })
    }

    fn tower(&self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        if is_formal(active) && active.tag != self.tape.tag() {
            return map_parts(active, &mut |part| self.tower(part));
        }
        let (primal, tangent) = self.split(value)?;
        Ok(Some(with_tangent(self.tag, primal, tangent)))
    }
}

impl Mapper for WithTangents<'_> {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        if let Fun::Reverse { tape, slot, .. } = &**fun
            && tape.tag() == self.tape.tag()
        {
            let tangent = (self.tangents)(*slot);
            return Ok(FunAction::Primal(
                tangent.map_or(Wrapper::None, |tangent| Wrapper::Forward(self.tag, tangent)),
            ));
        }
        Ok(FunAction::Descend)
    }
}

/// The value with its slots on `tape` replaced by forward perturbations under the fresh `tag`.
pub(crate) fn with_tangents(
    tape: &Rc<Tape>,
    tag: Tag,
    value: &Value,
    tangents: &dyn Fn(u32) -> Option<Value>,
) -> Result<Value, Failure> {
    walk::map(value, &mut WithTangents { tape, tag, tangents })
}

struct SlotsOn<'a> {
    tape: &'a Tape,
    found: Vec<u32>,
}

impl SlotsOn<'_> {
    fn tower(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        if active.tag == self.tape.tag()
            && let Perturbation::Reverse { slot, .. } = &active.perturbation
        {
            self.found.push(*slot);
        }
        map_parts(active, &mut |part| self.tower(part))
    }
}

impl Mapper for SlotsOn<'_> {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        if let Fun::Reverse { tape, .. } = &**fun
            && tape.tag() == self.tape.tag()
        {
            // Its cotangent is no number.
            return Err(errors::dual_tangent());
        }
        Ok(FunAction::Descend)
    }
}

/// The slots of `tape` in a value, each once, in ascending order; all must be of numbers.
pub(crate) fn slots_on(tape: &Tape, value: &Value) -> Result<Vec<u32>, Failure> {
    let mut slots = SlotsOn { tape, found: Vec::new() };
    walk::map(value, &mut slots)?;
    slots.found.sort_unstable();
    slots.found.dedup();
    Ok(slots.found)
}
