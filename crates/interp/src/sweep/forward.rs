//! A tape that runs forward: see the module above.

use super::backward::call_parts;
use super::{AfterBackward, Awaited, Next, Slots, transpose};
use crate::arith;
use crate::errors;
use crate::perturb;
use crate::step::{Context, Failure};
use crate::tape::{Abstraction, EntryView, LinearEntry, Linearization, Node, Tape};
use crate::value::{Fun, Perturbation, Tag, Value};
use crate::walk::{self, FunAction, Mapper};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_prim::RealOp;

/// A tape that runs forward.
pub(super) struct Forward {
    tape: Rc<Tape>,
    pub(super) tangents: Slots,
    /// The next entry, and where its coefficients begin.
    next: (usize, usize),
    output: Abstraction,
    /// Fresh names for the tags that applications bind.
    renamed: FxHashMap<Tag, Tag>,
}

fn mismatch(x: &Value, t: &Value) -> Failure {
    errors::shapes("linearize", &walk::describe(x), &walk::describe(t))
}

impl Forward {
    /// The run of a recorded map at the tangent `t`.
    pub(super) fn new(cx: &mut Context, map: &Linearization, t: &Value) -> Result<Forward, Failure> {
        let mut tangents = Slots::default();
        let mut input = 0;
        walk::pairs(cx, &map.input, t, &mismatch, &mut |_, _, t| {
            tangents.set(input, t.clone());
            input += 1;
            Ok(())
        })?;
        Ok(Forward {
            tape: Rc::clone(&map.tape),
            tangents,
            next: (0, 0),
            output: map.output.clone(),
            renamed: FxHashMap::default(),
        })
    }

    /// Visits entries until the program is needed.
    pub(super) fn run(&mut self, cx: &mut Context) -> Result<Next, Failure> {
        let (mut slot, mut coefs) = self.next;
        while slot < self.tape.len() {
            let entry = self.tape.entry_after(slot, &mut coefs);
            slot += 1;
            match entry {
                EntryView::Leaf => {}
                EntryView::Linear(entry) => {
                    cx.work(1)?;
                    if let Some(tangent) = self.linear(cx, entry)? {
                        self.tangents.set(slot as u32 - 1, tangent);
                    }
                }
                EntryView::Node(node) => {
                    self.next = (slot, coefs);
                    if let Some(next) = self.node(cx, &node)? {
                        return Ok(next);
                    }
                }
            }
        }
        self.next = (slot, coefs);
        Ok(Next::Finished)
    }

    fn linear(&mut self, cx: &mut Context, entry: LinearEntry) -> Result<Option<Value>, Failure> {
        let mut sum: Option<Value> = None;
        // Positive terms first, so that no negation is needed where a subtraction does.
        for negative in [false, true] {
            for term in entry.terms.iter().filter(|term| term.negative == negative) {
                let Some(tangent) = self.tangents.get(term.slot) else { continue };
                let summand = match &term.coef {
                    Some(coef) => arith::real2(cx, RealOp::MulZero, tangent, coef)?,
                    None => tangent.clone(),
                };
                sum = Some(match (sum, negative) {
                    (None, false) => summand,
                    (None, true) => arith::real1(cx, RealOp::Neg, &summand)?,
                    (Some(sum), false) => arith::real2(cx, RealOp::Add, &sum, &summand)?,
                    (Some(sum), true) => arith::real2(cx, RealOp::Sub, &sum, &summand)?,
                });
            }
        }
        match (sum, &entry.divisor) {
            (Some(sum), Some(divisor)) => arith::real2(cx, RealOp::DivZero, &sum, divisor).map(Some),
            (sum, _) => Ok(sum),
        }
    }

    fn node(&mut self, cx: &mut Context, node: &Node) -> Result<Option<Next>, Failure> {
        match node {
            Node::Apply { slot, point, bound, output } => {
                let Some(function) = self.tangents.get(*slot).cloned() else { return Ok(None) };
                for tag in bound {
                    self.renamed.insert(*tag, cx.fresh_tag());
                }
                let mut point = point.clone();
                for (tag, _) in perturb::tags_above(self.tape.tag(), &point) {
                    if let Some(fresh) = self.renamed.get(&tag) {
                        point = perturb::rename(tag, *fresh, &point)?;
                    }
                }
                Ok(Some(Next::Call(function, point, Awaited::Tangent { output: output.clone() })))
            }
            Node::Custom { pullback, input, output } => {
                if input.slots.iter().all(|slot| self.tangents.get(*slot).is_none()) {
                    return Ok(None);
                }
                let tangent = walk::map(&input.value, &mut TangentsOf { input, tangents: &self.tangents })?;
                let then = AfterBackward::Tangents(Rc::clone(&output.slots));
                transpose(cx, pullback, &output.value, tangent, then).map(Some)
            }
            Node::Checkpoint { call, output } => {
                if call.slots.iter().all(|slot| self.tangents.get(*slot).is_none()) {
                    return Ok(None);
                }
                let tag = cx.fresh_tag();
                let value = perturb::with_tangents(&call.formal, tag, &call.value, &|slot| {
                    self.tangents.get(*call.slots.get(slot as usize)?).cloned()
                })?;
                let (func, arg) = call_parts(&value)?;
                Ok(Some(Next::Call(func, arg, Awaited::Perturbed { tag, output: output.clone() })))
            }
        }
    }

    /// Sets the tangents of a node's outputs from a value of their shape.
    pub(super) fn set_outputs(
        &mut self,
        cx: &mut Context,
        output: &Abstraction,
        value: &Value,
    ) -> Result<(), Failure> {
        let Forward { tangents, renamed, .. } = self;
        walk::pairs(cx, &output.value, value, &mismatch, &mut |_, shape, tangent| {
            if let Value::Fun(fun) = shape
                && let Fun::Reverse { slot, .. } = &**fun
            {
                let slot = output.slot(*slot);
                tangents.set(slot, tangent.clone());
                return Ok(());
            }
            set_real(tangents, renamed, output, shape, tangent)
        })
    }

    /// The tangent of the output.
    pub(super) fn result(self, cx: &mut Context) -> Result<Value, Failure> {
        let Forward { tangents, output, .. } = self;
        let tag = cx.fresh_tag();
        let value = perturb::with_tangents(&output.formal, tag, &output.value, &|slot| {
            tangents.get(*output.slots.get(slot as usize)?).cloned()
        })?;
        perturb::split_forward(cx, tag, &value).map(|(_, tangent)| tangent)
    }
}

fn set_real(
    tangents: &mut Slots,
    renamed: &FxHashMap<Tag, Tag>,
    output: &Abstraction,
    shape: &Value,
    tangent: &Value,
) -> Result<(), Failure> {
    let Value::Active(active) = shape else { return Ok(()) };
    match &active.perturbation {
        Perturbation::Reverse { slot, .. } => {
            let slot = output.slot(*slot);
            tangents.set(slot, tangent.clone());
            Ok(())
        }
        Perturbation::Forward(second) => {
            let tag = renamed.get(&active.tag).copied().unwrap_or(active.tag);
            let (first_part, second_part) = perturb::split_real(tag, tangent)?;
            set_real(tangents, renamed, output, &active.primal, &first_part)?;
            let second_part = second_part.unwrap_or(Value::Real(0.0));
            set_real(tangents, renamed, output, second, &second_part)
        }
        Perturbation::Series(_) => Ok(()),
    }
}

/// The tangent of a node's input: the tangents of its slots, and zeros.
struct TangentsOf<'a> {
    input: &'a Abstraction,
    tangents: &'a Slots,
}

impl Mapper for TangentsOf<'_> {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let formal = arith::slot_under(value, self.input.formal.tag());
        let slot = formal.and_then(|formal| self.input.slots.get(formal as usize));
        Ok(Some(slot.and_then(|slot| self.tangents.get(*slot).cloned()).unwrap_or(Value::Real(0.0))))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(errors::internal("a custom rule's argument that holds a function"))
    }
}
