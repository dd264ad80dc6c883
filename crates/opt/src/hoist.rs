//! What does not change in a loop is computed before it, if it cannot fail: the loop may have no iteration.

use crate::facts::{is_safe, total};
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Block, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        block(&mut func.body, &total);
    }
}

/// Goes through a block from the innermost loops out, so that what leaves one may leave the next.
fn block(place: &mut Block, total: &FxHashSet<FuncId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            for inner in stmt.op.blocks_mut() {
                block(inner, total);
            }
            match &mut stmt.op {
                Op::Loop(parts) => leave(&mut parts.body, total, &mut out),
                Op::While(parts) => {
                    leave(&mut parts.cond, total, &mut out);
                    leave(&mut parts.body, total, &mut out);
                }
                Op::Copy(_)
                | Op::Real(..)
                | Op::Power { .. }
                | Op::Polygamma { .. }
                | Op::Int(..)
                | Op::Compare(..)
                | Op::Convert(..)
                | Op::Not(_)
                | Op::Select { .. }
                | Op::Text(..)
                | Op::Fail { .. }
                | Op::Require { .. }
                | Op::Make { .. }
                | Op::Match { .. }
                | Op::If { .. }
                | Op::Call { .. }
                | Op::Array(..)
                | Op::Jvp { .. }
                | Op::Linearize { .. }
                | Op::Forward { .. }
                | Op::Backward { .. }
                | Op::Custom(_)
                | Op::StopGradient(_)
                | Op::Taylor { .. } => {}
            }
            out.push(stmt);
        }
        place.stmts = out;
    });
}

/// Moves statements out of a body.
fn leave(body: &mut Block, total: &FxHashSet<FuncId>, out: &mut Vec<Stmt>) {
    let mut inside: FxHashSet<Var> = body.params.iter().copied().collect();
    let mut stay = Vec::with_capacity(body.stmts.len());
    for stmt in std::mem::take(&mut body.stmts) {
        let moves =
            is_moved(&stmt.op, total) && stmt.op.operand_vars().iter().all(|var| !inside.contains(var));
        if moves {
            out.push(stmt);
        } else {
            inside.extend(&stmt.outs);
            stay.push(stmt);
        }
    }
    body.stmts = stay;
}

/// Whether an operation is worth moving. Fresh arrays are not: the body may update them in place.
fn is_moved(op: &Op, total: &FxHashSet<FuncId>) -> bool {
    let fresh = matches!(
        op,
        Op::Array(
            ArrayOp::Zeros | ArrayOp::Replicate | ArrayOp::Iota | ArrayOp::Literal | ArrayOp::Empty(..),
            _
        )
    );
    let simple = op.blocks().is_empty() && !matches!(op, Op::Copy(_) | Op::Call { .. } | Op::Make { .. });
    simple && !fresh && is_safe(op, total)
}
