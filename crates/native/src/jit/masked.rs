//! Choices between reals that are not to be foreseen, without a branch.
//!
//! The machine has no choice between two reals but a branch, or masks, or the least or greatest of them. A branch that mostly goes the same
//! way costs nothing, and what comes after it does not wait for the comparison: so it is for a cotangent that may be zero. But where two or three
//! branches follow from each other, as the tangents of several numbers of which one is the least, and slopes that are 0 or 1, each that
//! is taken wrongly costs as much as twenty sums.

use super::body::Body;
use super::real::{choose, unless};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, ValueDef, types};
use wengert_prim::RealOp;

/// What has made a value; nothing, if it is handed from one step of a loop to the next, or comes from two branches.
fn made_by(body: &Body<'_, '_, '_>, value: Value) -> Option<InstructionData> {
    let dfg = &body.builder.func.dfg;
    match dfg.value_def(dfg.resolve_aliases(value)) {
        ValueDef::Result(inst, _) => Some(dfg.insts[inst]),
        ValueDef::Param(..) | ValueDef::Union(..) => None,
    }
}

/// Whether a value is read from memory or chosen, so that it may be a slope, or what one leaves of 1.
fn may_be_slope(body: &Body<'_, '_, '_>, value: Value) -> bool {
    let made = made_by(body, value);
    let slope = match made {
        Some(InstructionData::Binary { opcode: Opcode::Fsub, args: [_, slope] }) => made_by(body, slope),
        made => made,
    };
    let opcode = slope.map(|made| made.opcode());
    matches!(opcode, Some(Opcode::Load | Opcode::Select | Opcode::Extractlane))
}

/// A vector that begins with a number: the one that it comes from, if it is the first of one.
fn wide(body: &mut Body<'_, '_, '_>, value: Value) -> Value {
    if let Some(InstructionData::BinaryImm8 { opcode: Opcode::Extractlane, arg, imm: 0 }) =
        made_by(body, value)
        && body.builder.func.dfg.value_type(arg) == types::F64X2
    {
        return arg;
    }
    body.builder.ins().scalar_to_vector(types::F64X2, value)
}

fn narrow(body: &mut Body<'_, '_, '_>, value: Value) -> Value {
    body.builder.ins().extractlane(value, 0)
}

/// A product with a strong zero, if a factor may be a slope: that is asked without a branch.
pub(super) fn apply(body: &mut Body<'_, '_, '_>, op: RealOp, args: &[Value]) -> Option<Value> {
    let (RealOp::MulZero, [x, y]) = (op, args) else { return None };
    let slopes = [*x, *y].map(|factor| may_be_slope(body, factor));
    if body.loops() == 0 || slopes == [false, false] {
        return None;
    }
    let zero = body.builder.ins().f64const(0.0);
    let zeros = body.builder.ins().splat(types::F64X2, zero);
    let mut product = body.builder.ins().fmul(*x, *y);
    let mut wholes = None;
    for (factor, is_slope) in [*x, *y].into_iter().zip(slopes) {
        if is_slope {
            let factor = wide(body, factor);
            let none = body.builder.ins().fcmp(FloatCC::Equal, factor, zeros);
            wholes = Some(match wholes {
                None => none,
                Some(other) => body.builder.ins().bor(none, other),
            });
        } else {
            let none = body.builder.ins().fcmp(FloatCC::Equal, factor, zero);
            product = body.builder.ins().select(none, zero, product);
        }
    }
    if let Some(none) = wholes {
        let whole = wide(body, product);
        let rest = unless(body, none, whole);
        product = narrow(body, rest);
    }
    Some(product)
}

/// One of two values.
pub(super) fn select(body: &mut Body<'_, '_, '_>, cond: Value, x: Value, y: Value) -> Value {
    if let Some((how, a, b)) = compared(body, cond, x, y) {
        let [a, b, x, y] = [a, b, x, y].map(|value| wide(body, value));
        let mask = body.builder.ins().fcmp(how, a, b);
        let chosen = choose(body, mask, x, y);
        return narrow(body, chosen);
    }
    body.builder.ins().select(cond, x, y)
}

/// The comparison of reals that a condition is, if the choice is one between reals in a loop of which none is handed on.
fn compared(body: &Body<'_, '_, '_>, cond: Value, x: Value, y: Value) -> Option<(FloatCC, Value, Value)> {
    if body.loops() == 0 || body.builder.func.dfg.value_type(x) != types::F64 {
        return None;
    }
    made_by(body, x).and(made_by(body, y))?;
    let InstructionData::Unary { opcode: Opcode::Uextend, arg } = made_by(body, cond)? else { return None };
    let InstructionData::FloatCompare { opcode: Opcode::Fcmp, args: [a, b], cond } = made_by(body, arg)?
    else {
        return None;
    };
    Some((cond, a, b))
}
