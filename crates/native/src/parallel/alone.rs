//! Whether iterations of a loop need nothing that others have assigned.

use super::reads;
use crate::loops::assigned::Assigned;
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
    let mut known = Assigned::default();
    known.add(index);
    known.extend(sums.iter().copied());
    Walk { inside }.stmts(body, &mut known)
}

struct Walk<'i> {
    inside: &'i FxHashSet<Local>,
}

impl Walk<'_> {
    fn is_known(&self, operand: Operand, known: &Assigned) -> bool {
        let Operand::Local(local) = operand else { return true };
        !self.inside.contains(&local) || known.has(local)
    }

    /// Adds to `known` what is surely assigned; false if something else is read.
    fn stmts(&self, stmts: &[Stmt], known: &mut Assigned) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || stmts.iter().all(|stmt| self.stmt(stmt, known)))
    }

    fn stmt(&self, stmt: &Stmt, known: &mut Assigned) -> bool {
        if let Stmt::While { head, cond, body } = stmt {
            return self.stmts(head, known)
                && self.is_known(*cond, known)
                && self.inside(body, known).is_some();
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
                let count = known.count();
                known.add(*index);
                let alone = self.stmts(body, known);
                known.take_back(count);
                alone
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

    /// What statements assign that need not be done; `None` if something else is read.
    fn inside(&self, stmts: &[Stmt], known: &mut Assigned) -> Option<Vec<Local>> {
        let count = known.count();
        let alone = self.stmts(stmts, known);
        let assigned = known.take_back(count);
        alone.then_some(assigned)
    }

    /// What all branches assign is known after them; one that fails assigns everything, as it were.
    fn branches(&self, branches: &[&[Stmt]], known: &mut Assigned) -> bool {
        let mut all: Option<Vec<Local>> = None;
        for branch in branches {
            let Some(here) = self.inside(branch, known) else { return false };
            if !matches!(branch.last(), Some(Stmt::Fail(..))) {
                all = Some(match all {
                    None => here,
                    Some(mut all) => {
                        let here: FxHashSet<Local> = here.into_iter().collect();
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
