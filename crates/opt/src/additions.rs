//! An element or a row that is set to itself and something more is added to: once, before derivatives are made.
//!
//! ```text
//! x = xs[i]   y = x + z   ys = xs with [i] = y          becomes          ys = xs with [i] += z
//! ```
//!
//! The cotangent of what is set comes from nowhere else, so it is taken out of its array; that of what is added to stays there, and the loop that
//! goes backward only reads.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no sum")]

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Program, Stmt, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let sets = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::Set, _));
        if !func.body.all_stmts(&mut |stmt| !sets(stmt)) {
            let uses = count_uses(&func.body);
            changed |= block(&mut func.body, &uses);
        }
    }
    changed
}

fn block(place: &mut Block, uses: &FxHashMap<Var, usize>) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for at in 0..place.stmts.len() {
            let (before, from) = place.stmts.split_at_mut(at);
            let Some(stmt) = from.first_mut() else { continue };
            for inner in stmt.op.blocks_mut() {
                changed |= block(inner, uses);
            }
            if let Some(added) = added(before, &stmt.op, uses) {
                stmt.op = added;
                changed = true;
            }
        }
        changed
    })
}

/// The update that adds.
fn added(before: &[Stmt], op: &Op, uses: &FxHashMap<Var, usize>) -> Option<Op> {
    let Op::Array(ArrayOp::Set, args) = op else { return None };
    let [place @ .., Atom::Var(sum)] = args.as_slice() else { return None };
    let made = |var: &Var| {
        let once = uses.get(var) == Some(&1);
        before.iter().rfind(|stmt| once && stmt.outs.as_slice() == [*var]).map(|stmt| &stmt.op)
    };
    let summands = match made(sum)? {
        Op::Real(RealOp::Add, summands) | Op::Array(ArrayOp::Add, summands) => summands,
        _ => return None,
    };
    let was_there = |x: &Atom| {
        let read = x.var().and_then(|var| made(&var));
        matches!(read, Some(Op::Array(ArrayOp::Index, read)) if read.as_slice() == place)
    };
    let more = match summands.as_slice() {
        [x, more] | [more, x] if was_there(x) => more,
        _ => return None,
    };
    let args = place.iter().chain([more]).cloned().collect();
    Some(Op::Array(ArrayOp::AddAt, args))
}
