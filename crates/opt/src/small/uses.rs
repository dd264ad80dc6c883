//! Where small arrays come from, and what is asked of them.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed may ask for anything")]

use crate::short::is_short;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};

/// Whether a block lists the elements of an array.
pub(super) fn is_listed(block: &Block, array: &Atom) -> bool {
    let made = |stmt: &&Stmt| array.var().is_some_and(|array| stmt.outs.contains(&array));
    let stmt = block.stmts.iter().find(made);
    stmt.is_some_and(|stmt| matches!(stmt.op, Op::Array(ArrayOp::Literal, _)))
}

/// Whether it does, or will when short loops are written out.
pub(super) fn is_made_of_elements(func: &Func, block: &Block, array: &Atom) -> bool {
    let made = |stmt: &&Stmt| array.var().is_some_and(|array| stmt.outs.contains(&array));
    is_listed(block, array)
        || block.stmts.iter().find(made).is_some_and(|stmt| match &stmt.op {
            Op::Loop(parts) => parts.mode == Mode::Each && is_short(func, parts),
            Op::Array(ArrayOp::Set, args) => is_at_known_place(args),
            _ => false,
        })
}

/// Whether an update is at a place that is known.
fn is_at_known_place(args: &[Atom]) -> bool {
    let places = args.get(1..args.len().saturating_sub(1)).unwrap_or_default();
    places.iter().all(|place| matches!(place, Atom::Int(_)))
}

/// Whether a block asks for no more of an array than for elements at places that are known once short loops are written out. What it gives
/// is not looked at.
pub(super) fn asks_for_elements(func: &Func, block: &Block, array: Var) -> bool {
    Asked { func, indices: FxHashSet::default() }.block(block, array)
}

struct Asked<'f> {
    func: &'f Func,
    /// The indices of short loops around.
    indices: FxHashSet<Var>,
}

impl Asked<'_> {
    fn block(&mut self, block: &Block, array: Var) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            block.stmts.iter().all(|stmt| self.stmt(block, stmt, array))
        })
    }

    fn stmt(&mut self, block: &Block, stmt: &Stmt, array: Var) -> bool {
        let is = |atom: &Atom| atom.var() == Some(array);
        let inner = |pass: &mut Self| {
            stmt.op
                .blocks()
                .into_iter()
                .all(|inner| pass.block(inner, array) && !inner.results.iter().any(is))
        };
        match &stmt.op {
            Op::Array(ArrayOp::Length(_), _) => true,
            Op::Array(ArrayOp::Index, args) if args.first().is_some_and(is) => {
                let known = |place: &Atom| match place {
                    Atom::Int(_) => true,
                    place => place.var().is_some_and(|var| self.indices.contains(&var)),
                };
                let are_known = args.get(1..).is_some_and(|places| places.iter().all(known));
                // A row is looked at in the same way.
                let mut rows = stmt.outs.iter().filter(|out| self.func.ty(**out).rank() > 0);
                let gives = |row: &Var| block.results.iter().any(|result| result.var() == Some(*row));
                are_known && rows.all(|row| self.block(block, *row) && !gives(row))
            }
            Op::Array(ArrayOp::Set, args) if args.first().is_some_and(is) => {
                // What is set at places that are known is a list, too, and looked at in the same way.
                is_at_known_place(args)
                    && !args.iter().skip(1).any(is)
                    && stmt.outs.iter().all(|out| self.block(block, *out))
            }
            Op::Loop(parts) if is_short(self.func, parts) => {
                let index = parts.body.params.first().copied();
                let fresh = index.is_some_and(|index| self.indices.insert(index));
                let fine = !parts.init.iter().any(is) && inner(self);
                index.filter(|_| fresh).inspect(|index| {
                    self.indices.remove(index);
                });
                fine
            }
            op => !op.operand_vars().contains(&array) && inner(self),
        }
    }
}
