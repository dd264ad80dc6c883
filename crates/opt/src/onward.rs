//! Where the order of iterations does not matter, a loop goes onward.
//!
//! ```text
//! each backward i < n, s += 0.0, x in xs { … }          becomes          each i < n, s += 0.0, x in xs { … }
//! ```
//!
//! Derivatives run backward, but sums are the same in any order but for rounding: it is for where numbers need not be to the last bit what they
//! are elsewhere. What may fail keeps its order, and so do updates of arrays, which loops around may share.

use crate::facts::{is_safe, total};
use crate::sizes::{boxes, in_range_there};
use rustc_hash::FxHashSet;
use wengert_ir::op::{Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Block, Func, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let (total, boxes) = (total(program), boxes(program));
    for (_, func) in program.funcs.iter_mut() {
        let backward = |stmt: &Stmt| matches!(&stmt.op, Op::Loop(parts) if parts.backward);
        if func.body.all_stmts(&mut |stmt| !backward(stmt)) {
            continue;
        }
        let there = in_range_there(func, &boxes);
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body, &total, &there);
        func.body = body;
    }
}

fn block(func: &Func, place: &mut Block, total: &FxHashSet<FuncId>, there: &FxHashSet<Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut place.stmts {
            if let Op::Loop(parts) = &mut stmt.op
                && parts.backward
                && parts.mode == Mode::Each
                && any_order(func, parts, total, there)
            {
                parts.backward = false;
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner, total, there));
        }
    });
}

/// Whether iterations only add numbers, and none of them fails.
fn any_order(func: &Func, parts: &Loop, total: &FxHashSet<FuncId>, there: &FxHashSet<Var>) -> bool {
    let numbers = parts.accs.iter().all(|acc| func.type_of(acc).rank() == 0);
    let is_there = |stmt: &Stmt| !stmt.outs.is_empty() && stmt.outs.iter().all(|out| there.contains(out));
    numbers && parts.body.all_stmts(&mut |stmt| is_safe(&stmt.op, total) || is_there(stmt))
}
