//! Which arrays of a block can be made where they are to be: rows of what a loop makes, and what branches give.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is made elsewhere and copied")]

use super::{ArrayPlace, Destination, Lower};
use crate::loops::{self as out, Runtime};
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Stmt, Var};

impl Lower<'_> {
    /// Asks for an array of a block to be made in a destination, if that can be done: the array itself, or where that is nothing but
    /// another one of the block with some elements changed, that one.
    pub(super) fn make_in_place(&mut self, block: &Block, var: Var, destination: Destination) {
        let changed = changed_from(block, var);
        let first = changed.last().copied().unwrap_or(var);
        if makes_in_place(block, first) && !self.destinations.contains_key(&first) {
            self.changed_in_place.extend(changed);
            self.destinations.insert(first, destination);
        }
    }

    /// If each row of an array begins as zeros of which some elements are changed, makes all of it zeros at once: rows may be short.
    pub(super) fn zeros_first(&mut self, made: &ArrayPlace, block: &Block, row: Var) {
        let Some(first) = changed_from(block, row).last().copied() else { return };
        let is_zeros = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::Zeros, _));
        if bound(block, first).is_some_and(is_zeros) {
            let size = self.product(Some(&made.dims));
            self.emit(out::Stmt::Runtime {
                call: Runtime::ZeroWords,
                args: vec![made.first, size],
                out: None,
            });
            self.zeros_there.insert(first);
        }
    }
}

/// The arrays of which this one is a change, the one before it first, as far as nothing else looks at them.
fn changed_from(block: &Block, var: Var) -> Vec<Var> {
    let before = |array: &Var| changed(block, *array);
    std::iter::successors(changed(block, var), before).collect()
}

/// The array of which this one is a change, if nothing else looks at that.
fn changed(block: &Block, var: Var) -> Option<Var> {
    let Stmt { op: Op::Array(ArrayOp::Set | ArrayOp::AddAt, args), .. } = bound(block, var)? else {
        return None;
    };
    let before = args.first().and_then(Atom::var)?;
    (makes_in_place(block, before) && uses(block, before) == 1).then_some(before)
}

/// Whether an array is made in this block: then it is where this block wants it, if it is in a destination. One from around the block may
/// be in another one.
pub(super) fn is_bound(block: &Block, array: &Atom) -> bool {
    array.var().is_some_and(|var| bound(block, var).is_some())
}

fn bound(block: &Block, var: Var) -> Option<&Stmt> {
    block.stmts.iter().find(|stmt| stmt.outs.contains(&var))
}

/// How often a variable of a block is used.
fn uses(block: &Block, var: Var) -> usize {
    let mut count = 0;
    let mut look = |atom: &Atom| count += usize::from(atom.var() == Some(var));
    block.results.iter().for_each(&mut look);
    block.for_each_stmt(&mut |stmt| {
        stmt.op.for_each_atom(&mut look);
        stmt.op.blocks().iter().flat_map(|inner| &inner.results).for_each(&mut look);
    });
    count
}

/// Whether the operation that binds a variable in a block can make it in a destination.
pub(super) fn makes_in_place(block: &Block, var: Var) -> bool {
    let Some(stmt) = bound(block, var) else { return false };
    let place = stmt.outs.iter().position(|out| *out == var);
    let arm = |arm: &Block| {
        let result = place.and_then(|place| arm.results.get(place)?.var());
        result.is_some_and(|result| makes_in_place(arm, result))
    };
    match &stmt.op {
        Op::Loop(parts) => place >= Some(parts.init.len() + parts.accs.len()),
        Op::If { then, otherwise, .. } => arm(then) || arm(otherwise),
        Op::Match { arms, .. } => arms.iter().any(arm),
        Op::Array(op, _) => matches!(
            op,
            ArrayOp::Literal
                | ArrayOp::Set
                | ArrayOp::AddAt
                | ArrayOp::ScatterAdd
                | ArrayOp::AddProduct(_)
                | ArrayOp::Zeros
                | ArrayOp::Iota
                | ArrayOp::Replicate
                | ArrayOp::Concat
                | ArrayOp::Reverse
                | ArrayOp::Sort
                | ArrayOp::ArgSort
                | ArrayOp::MatVec
        ),
        _ => false,
    }
}
