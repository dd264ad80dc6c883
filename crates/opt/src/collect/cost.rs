//! How much work a block is, roughly: in operations on reals.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed costs nothing")]

use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Block, Stmt};
use wengert_prim::RealOp;

/// A loop, a call.
const LARGE: u32 = 1000;
/// A quotient or a root.
const DIVISION: u32 = 6;
/// Another function.
const FUNCTION: u32 = 16;
/// Storing a number in an array, and reading it from there where others have stored it.
pub(super) const STORED: u32 = 8;

/// The work of a block.
pub(super) fn of(block: &Block) -> u32 {
    let mut read = FxHashSet::default();
    let mut cost = 0u32;
    block.for_each_stmt(&mut |stmt| cost = cost.saturating_add(one(stmt, &mut read)));
    cost
}

fn one(stmt: &Stmt, read: &mut FxHashSet<String>) -> u32 {
    match &stmt.op {
        Op::Real(op, _) => match op {
            RealOp::Add
            | RealOp::Sub
            | RealOp::Mul
            | RealOp::Neg
            | RealOp::MulZero
            | RealOp::Abs
            | RealOp::Sign
            | RealOp::Min
            | RealOp::Max => 1,
            RealOp::Div | RealOp::DivZero | RealOp::Sqrt => DIVISION,
            _ => FUNCTION,
        },
        Op::Array(ArrayOp::Index, args) => u32::from(read.insert(format!("{args:?}"))),
        Op::Power { .. } | Op::Polygamma { .. } => FUNCTION,
        Op::Loop(_) | Op::While(_) | Op::Call { .. } | Op::Array(..) | Op::Match { .. } => LARGE,
        _ => 0,
    }
}
