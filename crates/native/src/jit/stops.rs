//! Which loops need not look whether the program is to stop.

use crate::loops::{Operand, Stmt, Value, walk};
use wengert_prim::real_op::ELEMENTARY_COST;

/// How many iterations a loop and the loops in it have together, if that is known.
pub(super) fn iterations(stmt: &Stmt) -> Option<i64> {
    let inside = |stmt: &Stmt| {
        let parts = walk::parts(stmt).into_iter().flatten();
        parts.map(iterations).try_fold(0_i64, |sum, count| Some(sum.saturating_add(count?)))
    };
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match stmt {
        Stmt::For { len: Operand::Int(len), .. } => Some(inside(stmt)?.max(1).saturating_mul(*len)),
        Stmt::For { .. } | Stmt::While { .. } | Stmt::Parallel { .. } => None,
        Stmt::If { .. } | Stmt::Switch { .. } => inside(stmt),
        Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => Some(0),
    })
}

/// Whether an iteration is some arithmetic: no loop, no call, no elementary function.
pub(super) fn is_quick(body: &[Stmt]) -> bool {
    let mut quick = true;
    walk::every(body, &mut |stmt| {
        quick &= match stmt {
            Stmt::Set(_, Value::Real(op, _)) => op.cost() < ELEMENTARY_COST,
            Stmt::Set(..) | Stmt::Store { .. } | Stmt::If { .. } | Stmt::Switch { .. } | Stmt::Fail(..) => {
                true
            }
            Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..) => false,
        };
    });
    quick
}
