//! Arithmetic on reals: simple operations as instructions, exactly as `wengert_prim` defines them, the others as calls.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation that is not listed is a call of its own name"
)]

use super::body::Body;
use crate::runtime::math;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use wengert_prim::RealOp;

/// Powers up to here are products, as in `wengert_prim`.
const MULTIPLIED_OUT: u64 = 32;

/// An operation on values.
pub(super) fn apply(body: &mut Body<'_, '_, '_>, op: RealOp, args: &[Value]) -> Value {
    match (op, args) {
        (op, [x]) => unary(body, op, *x),
        (op, [x, y]) => binary(body, op, *x, *y),
        (_, _) => body.builder.ins().f64const(f64::NAN),
    }
}

/// Whether an operation is instructions, and no call.
pub(super) fn has_instructions(op: RealOp) -> bool {
    match op {
        RealOp::PowInt(n) => n.unsigned_abs() <= MULTIPLIED_OUT,
        RealOp::Polygamma(_) => false,
        op => {
            let mut unary = math::UNARY.iter().map(|(known, _, _)| *known);
            let mut binary = math::BINARY.iter().map(|(known, _, _)| *known);
            unary.all(|known| known != op) && binary.all(|known| known != op)
        }
    }
}

fn unary(body: &mut Body<'_, '_, '_>, op: RealOp, x: Value) -> Value {
    let zero = body.builder.ins().f64const(0.0);
    match op {
        RealOp::Neg => body.builder.ins().fneg(x),
        RealOp::Abs => body.builder.ins().fabs(x),
        RealOp::Sqrt => body.builder.ins().sqrt(x),
        RealOp::Sign => {
            let (one, minus) = (body.builder.ins().f64const(1.0), body.builder.ins().f64const(-1.0));
            let positive = body.builder.ins().fcmp(FloatCC::GreaterThan, x, zero);
            let negative = body.builder.ins().fcmp(FloatCC::LessThan, x, zero);
            let is_zero = body.builder.ins().fcmp(FloatCC::Equal, x, zero);
            let rest = body.builder.ins().select(is_zero, zero, x);
            let rest = body.builder.ins().select(negative, minus, rest);
            body.builder.ins().select(positive, one, rest)
        }
        RealOp::Relu => {
            let low = body.builder.ins().fcmp(FloatCC::LessThanOrEqual, x, zero);
            body.builder.ins().select(low, zero, x)
        }
        RealOp::PowInt(n) if n.unsigned_abs() <= MULTIPLIED_OUT => {
            let one = body.builder.ins().f64const(1.0);
            multiplied_out(body, x, n, one)
        }
        RealOp::PowInt(n) => {
            let n = body.builder.ins().iconst(types::I64, n);
            body.import("power", &[body.state, x, n]).unwrap_or(x)
        }
        RealOp::Polygamma(n) => {
            let n = body.builder.ins().iconst(types::I64, i64::from(n));
            body.import("polygamma", &[body.state, n, x]).unwrap_or(x)
        }
        op => {
            let known = math::UNARY.iter().find(|(known, _, _)| *known == op);
            known.and_then(|(_, name, _)| body.import(name, &[x])).unwrap_or(x)
        }
    }
}

/// An operation on pairs of reals: one of those that have instructions.
pub(super) fn apply_pairs(body: &mut Body<'_, '_, '_>, op: RealOp, args: &[Value]) -> Value {
    let constant = |body: &mut Body<'_, '_, '_>, x: f64| {
        let x = body.builder.ins().f64const(x);
        body.builder.ins().splat(types::F64X2, x)
    };
    match (op, args) {
        (RealOp::Neg, [x]) => body.builder.ins().fneg(*x),
        (RealOp::Abs, [x]) => body.builder.ins().fabs(*x),
        (RealOp::Sqrt, [x]) => body.builder.ins().sqrt(*x),
        (RealOp::PowInt(n), [x]) => {
            let one = constant(body, 1.0);
            multiplied_out(body, *x, n, one)
        }
        (RealOp::Relu, [x]) => {
            let zero = constant(body, 0.0);
            let low = body.builder.ins().fcmp(FloatCC::LessThanOrEqual, *x, zero);
            unless(body, low, *x)
        }
        (RealOp::Sign, [x]) => {
            let (zero, one, minus) = (constant(body, 0.0), constant(body, 1.0), constant(body, -1.0));
            let positive = body.builder.ins().fcmp(FloatCC::GreaterThan, *x, zero);
            let negative = body.builder.ins().fcmp(FloatCC::LessThan, *x, zero);
            let is_zero = body.builder.ins().fcmp(FloatCC::Equal, *x, zero);
            let rest = unless(body, is_zero, *x);
            let rest = choose(body, negative, minus, rest);
            choose(body, positive, one, rest)
        }
        (RealOp::Add, [x, y]) => body.builder.ins().fadd(*x, *y),
        (RealOp::Sub, [x, y]) => body.builder.ins().fsub(*x, *y),
        (RealOp::Mul, [x, y]) => body.builder.ins().fmul(*x, *y),
        (RealOp::Div, [x, y]) => body.builder.ins().fdiv(*x, *y),
        (RealOp::MulZero, [x, y]) => {
            let zero = constant(body, 0.0);
            let product = body.builder.ins().fmul(*x, *y);
            let first = body.builder.ins().fcmp(FloatCC::Equal, *x, zero);
            let second = body.builder.ins().fcmp(FloatCC::Equal, *y, zero);
            let either = body.builder.ins().bor(first, second);
            unless(body, either, product)
        }
        (RealOp::DivZero, [x, y]) => {
            let zero = constant(body, 0.0);
            let quotient = body.builder.ins().fdiv(*x, *y);
            let none = body.builder.ins().fcmp(FloatCC::Equal, *x, zero);
            unless(body, none, quotient)
        }
        (RealOp::Min | RealOp::Max, [x, y]) => {
            let nan = constant(body, f64::NAN);
            // Written so that the choice by this is one instruction.
            let (less, more) = if op == RealOp::Min { (*y, *x) } else { (*x, *y) };
            let better = body.builder.ins().fcmp(FloatCC::LessThan, less, more);
            let found = choose(body, better, *y, *x);
            let none = body.builder.ins().fcmp(FloatCC::Unordered, *x, *y);
            choose(body, none, nan, found)
        }
        (_, _) => args.first().copied().unwrap_or(body.state),
    }
}

/// Reals where a mask has no bits, and 0 where it has.
pub(super) fn unless(body: &mut Body<'_, '_, '_>, mask: Value, x: Value) -> Value {
    let mask = body.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), mask);
    body.builder.ins().band_not(x, mask)
}

/// One pair of reals where a mask has bits, the other where it has none.
pub(super) fn choose(body: &mut Body<'_, '_, '_>, mask: Value, x: Value, y: Value) -> Value {
    let mask = body.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), mask);
    body.builder.ins().bitselect(mask, x, y)
}

/// As `wengert_prim` multiplies: by repeated squaring from the lowest bit.
fn multiplied_out(body: &mut Body<'_, '_, '_>, x: Value, n: i64, one: Value) -> Value {
    let mut rest = n.unsigned_abs();
    let mut square = x;
    let mut power: Option<Value> = None;
    while rest > 0 {
        if rest & 1 == 1 {
            power = Some(match power {
                Some(power) => body.builder.ins().fmul(power, square),
                None => square,
            });
        }
        rest >>= 1;
        if rest > 0 {
            square = body.builder.ins().fmul(square, square);
        }
    }
    let power = power.unwrap_or(one);
    if n < 0 { body.builder.ins().fdiv(one, power) } else { power }
}

fn binary(body: &mut Body<'_, '_, '_>, op: RealOp, x: Value, y: Value) -> Value {
    match op {
        RealOp::Add => body.builder.ins().fadd(x, y),
        RealOp::Sub => body.builder.ins().fsub(x, y),
        RealOp::Mul => body.builder.ins().fmul(x, y),
        RealOp::Div => body.builder.ins().fdiv(x, y),
        // A choice is a branch, which mostly goes the same way: so that nothing waits for it.
        RealOp::MulZero => {
            let zero = body.builder.ins().f64const(0.0);
            let product = body.builder.ins().fmul(x, y);
            let first = body.builder.ins().fcmp(FloatCC::Equal, x, zero);
            let product = body.builder.ins().select(first, zero, product);
            let second = body.builder.ins().fcmp(FloatCC::Equal, y, zero);
            body.builder.ins().select(second, zero, product)
        }
        RealOp::DivZero => {
            let zero = body.builder.ins().f64const(0.0);
            let quotient = body.builder.ins().fdiv(x, y);
            let none = body.builder.ins().fcmp(FloatCC::Equal, x, zero);
            body.builder.ins().select(none, zero, quotient)
        }
        RealOp::Min | RealOp::Max => {
            // Written so that the choice is one instruction, which gives `x` if one is NaN. That mostly none is can be foreseen; not so
            // which one is the least.
            let (less, more) = if op == RealOp::Min { (y, x) } else { (x, y) };
            let better = body.builder.ins().fcmp(FloatCC::LessThan, less, more);
            let found = body.builder.ins().select(better, y, x);
            let nan = body.builder.ins().f64const(f64::NAN);
            let none = body.builder.ins().fcmp(FloatCC::Unordered, x, y);
            body.builder.ins().select(none, nan, found)
        }
        op => {
            let known = math::BINARY.iter().find(|(known, _, _)| *known == op);
            known.and_then(|(_, name, _)| body.import(name, &[x, y])).unwrap_or(x)
        }
    }
}
