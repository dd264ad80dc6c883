//! Which loops need not look whether the program is to stop.

use crate::loops::{Operand, Stmt, Value, walk};
use wengert_prim::real_op::ELEMENTARY_COST;

/// Loops with so many iterations do not look whether to stop.
const LONG: i64 = 1 << 12;

/// Whether a loop looks in each iteration whether to stop; `around` if another one around it does. What is as long as an array in
/// memory is done soon, unless an iteration takes long.
pub(super) fn looks(stmt: &Stmt, is_planned: bool, around: bool) -> bool {
    let Stmt::For { independent, body, .. } = stmt else { return false };
    let is_short = *independent && (is_planned || is_quick(body, around));
    !is_short && iterations(stmt).is_none_or(|count| count > LONG)
}

/// How many iterations a loop and the loops in it have together, if that is known.
fn iterations(stmt: &Stmt) -> Option<i64> {
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

/// Whether an iteration is some arithmetic: no call, no elementary function; and no loop, unless a loop around it looks.
fn is_quick(body: &[Stmt], around: bool) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Set(_, Value::Real(op, _)) => op.cost() < ELEMENTARY_COST,
        Stmt::If { .. } | Stmt::Switch { .. } => stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            walk::parts(stmt).into_iter().all(|part| is_quick(part, around))
        }),
        Stmt::Set(..) | Stmt::Store { .. } | Stmt::Fail(..) => true,
        Stmt::For { .. } => around,
        Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..) => false,
    })
}
