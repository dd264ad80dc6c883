//! A tape that runs backward: see the module above.

use super::{AfterBackward, Awaited, Next, Slots, rule_mismatch, vjp_mismatch};
use crate::arith::{self, is_exact_zero, with_tangent};
use crate::derivative::dual::as_function;
use crate::errors;
use crate::perturb;
use crate::step::{Context, Failure};
use crate::tape::{Abstraction, EntryView, LinearEntry, Node, Tape};
use crate::value::{Cotangent, Fun, Perturbation, Tag, Value};
use crate::vector;
use crate::walk::{self, FunAction, Mapper};
use std::rc::Rc;
use wengert_prim::RealOp;

/// How two values of different shapes are reported.
type Mismatch<'a> = &'a dyn Fn(&Value, &Value) -> Failure;

/// A tape that runs backward.
pub(super) struct Backward {
    pub(super) tape: Rc<Tape>,
    pub(super) cotangents: Slots,
    /// Results of functions still to be seeded.
    calls: Vec<SeedCall>,
    /// How many entries, and of their coefficients, are still to be visited; `None` before the first.
    left: Option<(usize, usize)>,
    pub(super) then: AfterBackward,
}

/// A function on the tape whose result at `point` has the cotangent `weight`.
struct SeedCall {
    func: Value,
    point: Value,
    weight: Value,
    /// Tags under which only the tangent of the product of weight and result counts.
    tags: Vec<Tag>,
}

impl Backward {
    pub(super) fn new(tape: Rc<Tape>, then: AfterBackward) -> Backward {
        Backward { tape, cotangents: Slots::default(), calls: Vec::new(), left: None, then }
    }

    /// Gives the outputs of a recorded map the cotangent `weight`.
    pub(super) fn seed_outputs(
        &mut self,
        cx: &mut Context,
        output: &Abstraction,
        weight: &Value,
    ) -> Result<(), Failure> {
        let Backward { cotangents, .. } = self;
        walk::pairs(cx, &output.value, weight, &vjp_mismatch, &mut |cx, y, weight| match arith::slot_under(
            y,
            output.formal.tag(),
        ) {
            Some(formal) => cotangents.add(cx, output.slot(formal), weight.clone(), false),
            None => Ok(()),
        })
    }

    /// Gives `y`, which is on the tape, the cotangent `weight`; under `tags`, only the tangent of their product counts.
    pub(super) fn seed(
        &mut self,
        cx: &mut Context,
        y: &Value,
        weight: &Value,
        tags: &[Tag],
        mismatch: Mismatch<'_>,
    ) -> Result<(), Failure> {
        let Backward { tape, cotangents, calls, .. } = self;
        walk::pairs(cx, y, weight, mismatch, &mut |cx, y, weight| {
            let Value::Cotangent(functional) = weight else {
                // The cotangent of a function that is known only as a function: the slots are not to be had from it.
                if let Value::Fun(_) = weight {
                    return Err(errors::dual_tangent());
                }
                return seed_real(cx, tape, cotangents, y, weight, tags);
            };
            for pair in functional.pairs.as_slice().chunks_exact(2) {
                let [point, weight] = pair else { continue };
                let open = vector::open_pair(cx, point, weight)?;
                let tags = tags.iter().copied().chain(open.tags).collect();
                calls.push(SeedCall { func: as_function(y), point: open.point, weight: open.weight, tags });
            }
            Ok(())
        })
    }

    /// Gives a linear function of unknown cotangents the tangent `t` of the input, to transpose it.
    pub(super) fn seed_linear(&mut self, cx: &mut Context, x_bar: &Value, t: &Value) -> Result<(), Failure> {
        let Backward { tape, cotangents, .. } = self;
        walk::pairs(cx, x_bar, t, &rule_mismatch, &mut |cx, x_bar, t| {
            if is_exact_zero(x_bar) {
                return Ok(());
            }
            let slot = arith::slot_under(x_bar, tape.tag()).filter(|slot| tape.is_linear(*slot));
            let why = "its cotangent does not vanish with the cotangent it is given";
            let slot = slot.ok_or_else(|| errors::nonlinear_rule("custom_vjp", why))?;
            cotangents.add(cx, slot, t.clone(), false)
        })
    }

    /// Adds what a custom pullback gave to the slots of the rule's input.
    pub(super) fn add_input_cotangent(
        &mut self,
        cx: &mut Context,
        input: &Abstraction,
        x_bar: &Value,
    ) -> Result<(), Failure> {
        let Backward { cotangents, .. } = self;
        walk::pairs(cx, &input.value, x_bar, &rule_mismatch, &mut |cx, x, x_bar| match arith::slot_under(
            x,
            input.formal.tag(),
        ) {
            Some(formal) => cotangents.add(cx, input.slot(formal), x_bar.clone(), false),
            None => Ok(()),
        })
    }

    /// Visits entries until the program is needed.
    pub(super) fn run(&mut self, cx: &mut Context) -> Result<Next, Failure> {
        if let Some(SeedCall { func, point, weight, tags }) = self.calls.pop() {
            return Ok(Next::Call(func, point, Awaited::Seed { weight, tags }));
        }
        let (mut entries, mut coefs) = self.left.unwrap_or_else(|| (self.tape.len(), self.tape.coef_len()));
        while let Some(slot) = entries.checked_sub(1) {
            entries = slot;
            let is_zero = self.cotangents.get(slot as u32).is_none();
            if is_zero && self.tape.skip_before(slot, &mut coefs) {
                continue;
            }
            match self.tape.entry_before(slot, &mut coefs) {
                EntryView::Leaf => {}
                EntryView::Linear(entry) => {
                    cx.work(1)?;
                    if let Some(cotangent) = self.cotangents.take(slot) {
                        self.linear(cx, entry, cotangent)?;
                    }
                }
                EntryView::Node(node) => {
                    self.left = Some((entries, coefs));
                    if let Some(next) = self.node(cx, &node)? {
                        return Ok(next);
                    }
                }
            }
        }
        Ok(Next::Finished)
    }

    fn linear(&mut self, cx: &mut Context, entry: LinearEntry, cotangent: Value) -> Result<(), Failure> {
        let scaled = match &entry.divisor {
            Some(divisor) => arith::real2(cx, RealOp::DivZero, &cotangent, divisor)?,
            None => cotangent,
        };
        for term in entry.terms {
            let summand = match &term.coef {
                Some(coef) => arith::real2(cx, RealOp::MulZero, &scaled, coef)?,
                None => scaled.clone(),
            };
            self.cotangents.add(cx, term.slot, summand, term.negative)?;
        }
        Ok(())
    }

    fn node(&mut self, cx: &mut Context, node: &Node) -> Result<Option<Next>, Failure> {
        match node {
            Node::Apply { slot, point, bound, output } => {
                let Some(weight) = self.output_cotangent(output)? else { return Ok(None) };
                let mut pair = [point.clone(), weight];
                for tag in bound {
                    let [point, weight] = pair;
                    pair = vector::bound_pair(*tag, point, weight);
                }
                let pairs = pair.into_iter().collect();
                let functional = Value::Cotangent(Rc::new(Cotangent { pairs }));
                self.cotangents.add(cx, *slot, functional, false)?;
                Ok(None)
            }
            Node::Custom { pullback, input, output } => {
                let Some(weight) = self.output_cotangent(output)? else { return Ok(None) };
                let awaited = Awaited::Cotangent { input: input.clone() };
                Ok(Some(Next::Call(pullback.clone(), weight, awaited)))
            }
            Node::Checkpoint { call, output } => {
                let Some(weight) = self.output_cotangent(output)? else { return Ok(None) };
                let tape = Tape::new(cx.fresh_tag());
                tape.remat.set(true);
                let (value, formal_slots) = perturb::transfer(cx, &call.formal, &tape, &call.value)?;
                let feeds = formal_slots.into_iter().map(|formal| call.slot(formal)).collect();
                let (func, arg) = call_parts(&value)?;
                Ok(Some(Next::Call(func, arg, Awaited::Checkpoint { tape, weight, feeds })))
            }
        }
    }

    /// The cotangent that the outputs of a node have collected; `None` if it is zero.
    fn output_cotangent(&mut self, output: &Abstraction) -> Result<Option<Value>, Failure> {
        if output.slots.iter().all(|slot| self.cotangents.get(*slot).is_none()) {
            return Ok(None);
        }
        let mut collect = Collect { output, cotangents: &mut self.cotangents };
        walk::map(&output.value, &mut collect).map(Some)
    }

    /// The cotangent of the point: what the inputs have collected, in its shape.
    pub(super) fn point_cotangent(mut self, input: &Value, dual: bool) -> Result<Value, Failure> {
        let value = walk::map(input, &mut Inputs { cotangents: &mut self.cotangents, next: 0 })?;
        Ok(if dual { Value::Dual(Rc::new(std::iter::once(value).collect())) } else { value })
    }
}

/// The function and the argument of a checkpoint.
pub(super) fn call_parts(value: &Value) -> Result<(Value, Value), Failure> {
    if let Value::Tuple(parts) = value
        && let [func, arg] = parts.as_slice()
    {
        return Ok((func.clone(), arg.clone()));
    }
    Err(errors::internal("a checkpoint of something else"))
}

/// Adds the tangent under all `tags` of `weight · y` to the slots of the tape.
fn seed_real(
    cx: &mut Context,
    tape: &Rc<Tape>,
    cotangents: &mut Slots,
    y: &Value,
    weight: &Value,
    tags: &[Tag],
) -> Result<(), Failure> {
    if let Some((tag, rest)) = tags.split_first() {
        let (y, y_dot) = perturb::split_real(*tag, y)?;
        let (weight, weight_dot) = perturb::split_real(*tag, weight)?;
        if let Some(y_dot) = y_dot {
            seed_real(cx, tape, cotangents, &y_dot, &weight, rest)?;
        }
        return match weight_dot {
            Some(weight_dot) => seed_real(cx, tape, cotangents, &y, &weight_dot, rest),
            None => Ok(()),
        };
    }
    match arith::slot_under(y, tape.tag()) {
        Some(slot) => cotangents.add(cx, slot, weight.clone(), false),
        None => Ok(()),
    }
}

/// Puts the cotangents of a node's outputs into the shape of its result. Under the tags that the node binds, the two
/// parts change places: see [`crate::note`].
struct Collect<'a> {
    output: &'a Abstraction,
    cotangents: &'a mut Slots,
}

impl Collect<'_> {
    fn take(&mut self, formal: u32) -> Option<Value> {
        let slot = self.output.slots.get(formal as usize)?;
        self.cotangents.take(*slot as usize)
    }

    fn tower(&mut self, value: &Value) -> Value {
        let Value::Active(active) = value else { return Value::Real(0.0) };
        match &active.perturbation {
            Perturbation::Reverse { slot, .. } => self.take(*slot).unwrap_or(Value::Real(0.0)),
            Perturbation::Forward(tangent) => {
                let (tangent, primal) = (self.tower(&active.primal), self.tower(tangent));
                with_tangent(active.tag, primal, Some(tangent))
            }
            Perturbation::Series(_) => Value::Real(0.0),
        }
    }
}

impl Mapper for Collect<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        Ok(Some(self.tower(value)))
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        let Fun::Reverse { slot, .. } = &**fun else {
            return Err(errors::internal("a result without a slot"));
        };
        Ok(FunAction::Replace(self.take(*slot).unwrap_or_else(vector::no_pairs)))
    }
}

/// Puts the cotangents of the first slots into the shape of the point.
struct Inputs<'a> {
    cotangents: &'a mut Slots,
    next: usize,
}

impl Inputs<'_> {
    fn take(&mut self) -> Option<Value> {
        self.next += 1;
        self.cotangents.take(self.next - 1)
    }
}

impl Mapper for Inputs<'_> {
    const SHARES: bool = false;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, _value: &Value) -> Result<Option<Value>, Failure> {
        Ok(Some(self.take().unwrap_or(Value::Real(0.0))))
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Err(errors::internal("a function as an input of a tape"))
    }
}
