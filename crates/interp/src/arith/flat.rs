//! The common case, made fast: sums, differences, products and quotients of reals that are perturbed under one tag, with
//! plain numbers inside. The results are those of the rules in `wengert_prim`; a test compares.

use super::{active_real, linearity, with_tangent};
use crate::step::{Context, Failure};
use crate::tape::{Tape, TapeTerm};
use crate::value::{Active, Perturbation, Tag, Value};
use smallvec::SmallVec;
use std::rc::Rc;
use wengert_prim::RealOp;

/// An operand: a number, and its tangent or slot.
#[derive(Clone, Copy)]
struct Operand<'a> {
    primal: f64,
    active: Option<&'a Active>,
}

fn operand(value: &Value) -> Option<Operand<'_>> {
    if let Value::Real(primal) = value {
        return Some(Operand { primal: *primal, active: None });
    }
    let Value::Active(active) = value else { return None };
    let Value::Real(primal) = active.primal else { return None };
    Some(Operand { primal, active: Some(active) })
}

impl Operand<'_> {
    /// Its tangent, `Some(None)` if there is none, `None` if that is no plain number.
    fn tangent(&self) -> Option<Option<f64>> {
        let Some(active) = self.active else { return Some(None) };
        match &active.perturbation {
            Perturbation::Forward(Value::Real(tangent)) => Some(Some(*tangent)),
            Perturbation::Forward(_) | Perturbation::Reverse { .. } | Perturbation::Series(_) => None,
        }
    }

    fn slot(&self) -> Option<u32> {
        match &self.active?.perturbation {
            Perturbation::Reverse { slot, .. } => Some(*slot),
            Perturbation::Forward(_) | Perturbation::Series(_) => None,
        }
    }
}

/// `op x y`, if this is the common case.
pub(super) fn real2(cx: &mut Context, op: RealOp, x: &Value, y: &Value) -> Option<Result<Value, Failure>> {
    if !matches!(op, RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div) {
        return None;
    }
    let (x, y) = (operand(x)?, operand(y)?);
    let active = x.active.or(y.active)?;
    if y.active.is_some_and(|other| other.tag != active.tag) {
        return None;
    }
    match &active.perturbation {
        Perturbation::Forward(_) => forward(cx, op, active.tag, x, y).map(Ok),
        Perturbation::Reverse { tape, .. } => Some(reverse(cx, op, tape, x, y)),
        Perturbation::Series(_) => None,
    }
}

fn forward(cx: &mut Context, op: RealOp, tag: Tag, x: Operand<'_>, y: Operand<'_>) -> Option<Value> {
    let (x_dot, y_dot) = (x.tangent()?, y.tangent()?);
    let out = op.eval2(x.primal, y.primal);
    let mut flops = 1;
    let mut scaled = |tangent: Option<f64>, factor: f64| {
        tangent.map(|tangent| {
            flops += 1;
            RealOp::MulZero.eval2(tangent, factor)
        })
    };
    let (positive, second) = if op == RealOp::Mul {
        (scaled(x_dot, y.primal), scaled(y_dot, x.primal))
    } else if op == RealOp::Div {
        (x_dot, scaled(y_dot, out))
    } else {
        (x_dot, y_dot)
    };
    let subtracts = matches!(op, RealOp::Sub | RealOp::Div);
    let mut tangent = match (positive, second) {
        (None, None) => return Some(Value::Real(out)),
        (Some(tangent), None) => tangent,
        (None, Some(tangent)) if !subtracts => tangent,
        (first, Some(second)) => {
            flops += 1;
            match first {
                Some(first) if subtracts => first - second,
                Some(first) => first + second,
                None => -second,
            }
        }
    };
    if op == RealOp::Div {
        flops += 1;
        tangent = RealOp::DivZero.eval2(tangent, y.primal);
    }
    cx.flops += flops;
    Some(with_tangent(tag, Value::Real(out), Some(Value::Real(tangent))))
}

fn reverse(
    cx: &mut Context,
    op: RealOp,
    tape: &Rc<Tape>,
    x: Operand<'_>,
    y: Operand<'_>,
) -> Result<Value, Failure> {
    let (x_slot, y_slot) = (x.slot(), y.slot());
    let linear = tape.has_linear() && {
        let primals = [Value::Real(x.primal), Value::Real(y.primal)];
        linearity(op, &primals, &[x_slot, y_slot], tape)?
    };
    let out = op.eval2(x.primal, y.primal);
    cx.flops += 1;
    let number = |factor: f64| Some(Value::Real(factor));
    let (x_coef, y_coef) = if op == RealOp::Mul {
        (number(y.primal), number(x.primal))
    } else if op == RealOp::Div {
        (None, number(out))
    } else {
        (None, None)
    };
    let mut terms: SmallVec<[TapeTerm; 2]> = SmallVec::new();
    if let Some(slot) = x_slot {
        terms.push(TapeTerm { slot, negative: false, coef: x_coef });
    }
    if let Some(slot) = y_slot {
        terms.push(TapeTerm { slot, negative: matches!(op, RealOp::Sub | RealOp::Div), coef: y_coef });
    }
    let divisor = if op == RealOp::Div { number(y.primal) } else { None };
    let slot = tape.record(terms, divisor, linear)?;
    Ok(active_real(tape, Value::Real(out), slot))
}
