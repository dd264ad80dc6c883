//! A function of what does not change in a loop is computed before the loop also where only a branch in it asks for the value.
//!
//! ```text
//! for i < n, x = 5.0 {                       t = sin(a)
//!   c = x > 1.0                              for i < n, x = 5.0 {
//!   y = if c {                                 c = x > 1.0
//!     t = sin(a)   u = x + t   yield u   becomes   y = if c {
//!   } else { … }                                   u = x + t   yield u
//!   yield y                                    } else { … }
//! }                                            yield y
//!                                            }
//! ```
//!
//! It is right wherever the operation cannot fail: nobody looks at a value on the other side. It costs one function that no
//! iteration may ask for, against one in each that does; so only functions go, and of the arithmetic before them what they need. So do transposed
//! matrices, which are large as what is there.
//! Loops of which it is known that they have few iterations are left alone.

use super::is_moved;
use crate::facts::is_costly;
use crate::walk::mentioned;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Stmt, Var};

/// A loop of fewer iterations is not worth it.
const MANY: i64 = 8;

/// Whether a loop may have so many iterations that functions leave its branches.
pub(super) fn is_worth_it(len: &Atom) -> bool {
    !matches!(len, Atom::Int(count) if *count < MANY)
}

/// Takes such functions out of the branches of a loop's body. The body is what is left of it after all that moves has left.
pub(super) fn leave_branches(func: &Func, total: &FxHashSet<FuncId>, body: &mut Block, out: &mut Vec<Stmt>) {
    let mut found = Found { func, total, inside: FxHashSet::default(), free: Vec::new() };
    if !asks_for_functions(body) {
        return;
    }
    found.inside.extend(&body.params);
    for stmt in &body.stmts {
        found.inside.extend(&stmt.outs);
    }
    for stmt in &body.stmts {
        found.branches(&stmt.op);
    }
    let moving = found.needed();
    if !moving.is_empty() {
        for stmt in &mut body.stmts {
            take(&mut stmt.op, &moving, out);
        }
    }
}

/// Whether there is a function on a side of a branch.
fn asks_for_functions(body: &Block) -> bool {
    let mut sides = body.stmts.iter().flat_map(|stmt| sides(&stmt.op));
    sides.any(|side| side.stmts.iter().any(|stmt| is_worth_moving(&stmt.op)) || asks_for_functions(side))
}

/// Whether something is not to be done in each iteration.
fn is_worth_moving(op: &Op) -> bool {
    is_costly(op) || matches!(op, Op::Array(ArrayOp::Transpose, _))
}

/// The blocks of an operation of which one is done.
fn sides(op: &Op) -> Vec<&Block> {
    if matches!(op, Op::If { .. } | Op::Match { .. }) { op.blocks() } else { Vec::new() }
}

/// What may leave the sides.
struct Found<'f> {
    func: &'f Func,
    total: &'f FxHashSet<FuncId>,
    /// What is not known before the loop, as far as we have come.
    inside: FxHashSet<Var>,
    /// What is, in order, and what it needs.
    free: Vec<Free>,
}

struct Free {
    outs: Vec<Var>,
    needs: Vec<Var>,
    is_wanted: bool,
}

impl Found<'_> {
    fn branches(&mut self, op: &Op) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for side in sides(op) {
                self.inside.extend(&side.params);
                for stmt in &side.stmts {
                    let known = mentioned(&stmt.op).all(|var| !self.inside.contains(&var));
                    if known && self.may_move(stmt) {
                        self.free.push(Free {
                            outs: stmt.outs.clone(),
                            needs: mentioned(&stmt.op).collect(),
                            is_wanted: is_worth_moving(&stmt.op),
                        });
                    } else {
                        self.inside.extend(&stmt.outs);
                        self.branches(&stmt.op);
                    }
                }
            }
        });
    }

    /// Numbers, of which making one takes no memory, and matrices that are there.
    fn may_move(&self, stmt: &Stmt) -> bool {
        let is_number = |var: &Var| self.func.ty(*var).rank() == 0;
        let fits = stmt.outs.iter().all(is_number) || matches!(stmt.op, Op::Array(ArrayOp::Transpose, _));
        fits && is_moved(&stmt.op, self.total)
    }

    /// The functions, and what they need.
    fn needed(&self) -> FxHashSet<Var> {
        let mut needed = FxHashSet::default();
        for free in self.free.iter().rev() {
            if free.is_wanted || free.outs.iter().any(|out| needed.contains(out)) {
                needed.extend(&free.outs);
                needed.extend(&free.needs);
            }
        }
        needed
    }
}

/// Takes what moves out of the sides of a branch, in order.
fn take(op: &mut Op, moving: &FxHashSet<Var>, out: &mut Vec<Stmt>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        if !matches!(op, Op::If { .. } | Op::Match { .. }) {
            return;
        }
        for side in op.blocks_mut() {
            for mut stmt in std::mem::take(&mut side.stmts) {
                if !stmt.outs.is_empty() && stmt.outs.iter().all(|out| moving.contains(out)) {
                    out.push(stmt);
                } else {
                    take(&mut stmt.op, moving, out);
                    side.stmts.push(stmt);
                }
            }
        }
    });
}
