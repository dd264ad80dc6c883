//! Two branches on one condition become one: what the first makes for the second stands where it is used, and nothing stands
//! for what is not there.
//!
//! ```text
//! c = if p { yield 0.0 } else { c = cos(x) yield c }
//! d = if p { y = x + x yield y } else { yield c }         d = if p { y = x + x yield y } else { c = cos(x) yield c }
//! ```
//!
//! The first goes to the place of the second, so nothing else may use what it makes, and either nothing in it fails, or nothing
//! in between.

use crate::facts::{is_quiet, is_total, total};
use crate::stands::stands_alone;
use crate::walk::{Names, count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::program::FuncId;
use wengert_ir::{Block, Program, Stmt, Var};

/// How many statements after a branch are looked at.
const NEAR: usize = 24;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let uses = count_uses(&func.body);
        block(&mut func.body, &uses, &total);
    }
}

fn block(place: &mut Block, uses: &FxHashMap<Var, usize>, total: &FxHashSet<FuncId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut at = 0;
        while at < place.stmts.len() {
            match partner(&place.stmts, at, uses, total) {
                Some(second) => {
                    let first = place.stmts.remove(at);
                    if let Some(second) = place.stmts.get_mut(second - 1) {
                        join(first, second);
                    }
                }
                None => at += 1,
            }
        }
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                block(inner, uses, total);
            }
        }
    });
}

/// The statement after `at` that branches on the same condition and alone uses what that one makes.
fn partner(
    stmts: &[Stmt],
    at: usize,
    uses: &FxHashMap<Var, usize>,
    total: &FxHashSet<FuncId>,
) -> Option<usize> {
    let first = stmts.get(at)?;
    let Op::If { cond, .. } = &first.op else { return None };
    // A branch that only fails has to come first.
    if first.outs.is_empty() {
        return None;
    }
    let same = |stmt: &Stmt| matches!(&stmt.op, Op::If { cond: other, .. } if other == cond);
    let second = (at + 1..stmts.len().min(at + NEAR)).find(|place| stmts.get(*place).is_some_and(same))?;
    let Op::If { then: with, otherwise: without, .. } = &stmts.get(second)?.op else { return None };
    let (inside, beside) = (count_uses(with), count_uses(without));
    let of = |uses: &FxHashMap<Var, usize>, out: &Var| uses.get(out).copied().unwrap_or(0);
    let all_inside = first.outs.iter().all(|out| of(&inside, out) + of(&beside, out) == of(uses, out));
    let some = first.outs.iter().any(|out| of(uses, out) > 0);
    let between = stmts.get(at + 1..second)?;
    (all_inside && some && may_move(first, between, total)).then_some(second)
}

/// Whether branches can be done after these statements, which use nothing of what they give.
pub(crate) fn may_move(first: &Stmt, between: &[Stmt], total: &FxHashSet<FuncId>) -> bool {
    if between.is_empty() {
        return true;
    }
    // What fails in the branches may look at sizes that a loop in between needs.
    let quiet = |stmt: &Stmt| is_quiet(&stmt.op, total) && stands_alone(stmt);
    // What is updated in between must not be looked at later than it was.
    let looked_at: FxHashSet<Var> = first.op.blocks().into_iter().flat_map(Block::free_vars).collect();
    let touches = |stmt: &Stmt| mentioned(&stmt.op).any(|var| looked_at.contains(&var));
    let takes =
        |stmt: &Stmt| !stmt.op.blocks().is_empty() || matches!(stmt.op, Op::Array(..) | Op::Call { .. });
    if between.iter().any(|stmt| takes(stmt) && touches(stmt)) {
        return false;
    }
    first.op.blocks().into_iter().all(|block| is_total(block, total)) || between.iter().all(quiet)
}

/// Puts the blocks of the first before those of the second.
fn join(first: Stmt, second: &mut Stmt) {
    let Op::If { then, otherwise, .. } = first.op else { return };
    let Op::If { then: with, otherwise: without, .. } = &mut second.op else { return };
    for (from, to) in [(then, with), (otherwise, without)] {
        let Block { params: _, mut stmts, results } = from;
        // What a block that fails is said to give is not there.
        if results.len() != first.outs.len() {
            *to = Block { params: Vec::new(), stmts, results };
            continue;
        }
        first.outs.iter().copied().zip(results).collect::<Names>().replace_inside(to);
        stmts.append(&mut to.stmts);
        to.stmts = stmts;
    }
}
