//! Loops that count, in one of the ways there are, and which of them look whether the program is to stop.

use super::body::Body;
use super::{lanes, plain};
use crate::loops::{Local, Operand, Stmt, Value, walk};
use cranelift_codegen::ir::{InstBuilder, types};
use wengert_prim::real_op::ELEMENTARY_COST;

/// Loops with so many iterations do not look whether to stop.
const LONG: i64 = 1 << 12;

impl Body<'_, '_, '_> {
    /// A loop that counts.
    pub(super) fn counted(&mut self, stmt: &Stmt) {
        let Stmt::For { index, len, backward, body, .. } = stmt else { return };
        let known = if let Operand::Int(known) = len { Some(*known) } else { None };
        let plan = self.plans.remove(&std::ptr::from_ref(stmt));
        let is_planned = plan.is_some();
        let len = self.operand(*len);
        let counter = self.builder.declare_var(types::I64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(counter, if *backward { len } else { zero });
        let mut made = lanes::Loop {
            index: *index,
            len,
            backward: *backward,
            body,
            counter,
            known,
            stops: looks(stmt, is_planned, self.looks),
        };
        if is_planned && made.stops {
            self.check_stop();
        }
        let is_done = match plan {
            Some(plan) => lanes::vectors(self, &plan, &made),
            None => false,
        };
        // What vectors leave is short, or fails soon.
        made.stops &= !is_planned;
        let around = self.looks;
        self.looks |= made.stops;
        if !is_done && (is_planned || !plain::steps(self, &made)) {
            self.for_loop(&made);
        }
        self.looks = around;
    }
}

/// Whether a loop looks in each iteration whether to stop; `around` if another one around it does. What is as long as an array in
/// memory is done soon, unless an iteration takes long.
fn looks(stmt: &Stmt, is_planned: bool, around: bool) -> bool {
    let Stmt::For { index, independent, body, .. } = stmt else { return false };
    let is_short = (*independent || goes_through(body, *index)) && (is_planned || is_quick(body, around));
    !is_short && iterations(stmt).is_none_or(|count| count > LONG)
}

/// Whether each iteration reads or writes the element of an array that has its number.
fn goes_through(body: &[Stmt], own: Local) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Set(_, Value::Load { index, .. }) | Stmt::Store { index, .. } => *index == Operand::Local(own),
        Stmt::Set(..)
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => false,
    })
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
