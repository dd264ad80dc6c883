//! Whether iterations of a loop need nothing that others have assigned.

use super::reads;
use crate::loops::walk::{every, operands, writes};
use crate::loops::{Local, Operand, Stmt};
use rustc_hash::FxHashSet;

/// Whether statements read a variable.
pub(super) fn reads_any(stmts: &[Stmt], local: Local) -> bool {
    let mut found = false;
    every(stmts, &mut |stmt| reads(stmt, &mut |read| found |= read == local));
    found
}

/// Whether the body of a loop assigns each variable of its own, `inside`, before it reads it, except these sums.
pub(super) fn is_alone(body: &[Stmt], index: Local, sums: &[Local], inside: &FxHashSet<Local>) -> bool {
    let mut known: FxHashSet<Local> = FxHashSet::from_iter([index]);
    known.extend(sums);
    Walk { inside }.stmts(body, &mut known)
}

struct Walk<'i> {
    inside: &'i FxHashSet<Local>,
}

impl Walk<'_> {
    fn is_known(&self, operand: Operand, known: &FxHashSet<Local>) -> bool {
        let Operand::Local(local) = operand else { return true };
        !self.inside.contains(&local) || known.contains(&local)
    }

    /// Adds to `known` what is surely assigned; false if something else is read.
    fn stmts(&self, stmts: &[Stmt], known: &mut FxHashSet<Local>) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || stmts.iter().all(|stmt| self.stmt(stmt, known)))
    }

    fn stmt(&self, stmt: &Stmt, known: &mut FxHashSet<Local>) -> bool {
        if let Stmt::While { head, cond, body } = stmt {
            return self.stmts(head, known)
                && self.is_known(*cond, known)
                && self.stmts(body, &mut known.clone());
        }
        if !operands(stmt).into_iter().all(|operand| self.is_known(operand, known)) {
            return false;
        }
        match stmt {
            Stmt::If { cond: _, then, otherwise } => self.branches(&[then, otherwise], known),
            Stmt::Switch { on: _, cases } => {
                let cases: Vec<&[Stmt]> = cases.iter().map(Vec::as_slice).collect();
                self.branches(&cases, known)
            }
            Stmt::For { index, body, .. } => {
                let mut once = known.clone();
                once.insert(*index);
                self.stmts(body, &mut once)
            }
            Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => {
                known.extend(writes(stmt));
                true
            }
        }
    }

    /// What all branches assign is known after them; one that fails assigns everything, as it were.
    fn branches(&self, branches: &[&[Stmt]], known: &mut FxHashSet<Local>) -> bool {
        let mut all: Option<FxHashSet<Local>> = None;
        for branch in branches {
            let mut here = known.clone();
            if !self.stmts(branch, &mut here) {
                return false;
            }
            if !matches!(branch.last(), Some(Stmt::Fail(..))) {
                all = Some(match all {
                    None => here,
                    Some(mut all) => {
                        all.retain(|local| here.contains(local));
                        all
                    }
                });
            }
        }
        known.extend(all.into_iter().flatten());
        true
    }
}
