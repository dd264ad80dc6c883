//! Which loops are turned inside out, and what is asked before.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed has no loops")]

use super::smooth;
use crate::collect::facts::{Facts, Walk};
use crate::linear::Linear;
use crate::walk::{added, mentioned};
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};

/// Bodies with more statements are not copied.
const MOST: usize = 100;
/// So many iterations at least, and so many at most of a loop inside that can be vectors itself.
pub(super) const LONG: i64 = 32;
const SHORT: i64 = 48;
/// So many at least where loops inside go down columns: they are no good vectors, however long.
const COLUMNS: i64 = 8;
/// How many iterations are done at once, and how many if rows of what loops inside give are kept.
const BLOCK: i64 = 1024;
const ROWS: i64 = 128;

/// What is to be known of a loop before.
pub(super) struct Plan {
    /// What must not be negative, else something may fail.
    pub(super) needed: Vec<Linear>,
    /// What must not be negative, else it does not pay.
    pub(super) wanted: Vec<Linear>,
    /// How many iterations are done at once.
    pub(super) size: i64,
}

/// Whether it is a loop around loops, and not a large one: nothing else is looked at.
pub(super) fn is_candidate(stmt: &Stmt) -> bool {
    let Op::Loop(parts) = &stmt.op else { return false };
    let holds = |stmt: &Stmt| matches!(&stmt.op, Op::Loop(inner) if inner.mode != Mode::Reduce);
    parts.mode != Mode::Reduce
        && parts.body.stmts.iter().any(holds)
        && parts.body.size() <= MOST
        && parts.body.stmts.iter().all(|stmt| {
            let fine = |stmt: &Stmt| is_plain(&stmt.op) || holds(stmt);
            let inside = || stmt.op.blocks().into_iter().all(|block| block.all_stmts(&mut |stmt| fine(stmt)));
            smooth::has_side(stmt) || fine(stmt) && inside()
        })
}

/// Operations between numbers, and what reads an array or adds to one.
pub(super) fn is_plain(op: &Op) -> bool {
    match op {
        Op::Copy(_)
        | Op::Real(..)
        | Op::Int(..)
        | Op::Compare(..)
        | Op::Convert(..)
        | Op::Not(_)
        | Op::Select { .. }
        | Op::Power { .. }
        | Op::Require { .. } => true,
        Op::Array(op, _) => matches!(op, ArrayOp::Index | ArrayOp::AddAt | ArrayOp::Length(_)),
        _ => false,
    }
}

impl Plan {
    pub(super) fn of(from: &Func, facts: &Facts<'_>, parts: &Loop) -> Option<Plan> {
        let mut walk = Walk::new(facts, &[]);
        walk.enter(parts)?;
        walk.block(&parts.body)?;
        let mut plan = Plan { needed: walk.needed, wanted: Vec::new(), size: BLOCK };
        let len = facts.value(&parts.len)?;
        let columns = plan.look((from, facts), &parts.body, &len)?;
        let inside = std::mem::take(&mut plan.wanted);
        plan.want(&len.minus(&Linear::constant(if columns { COLUMNS } else { LONG })))?;
        inside.iter().try_for_each(|form| plan.want(form))?;
        Some(plan)
    }

    fn want(&mut self, form: &Linear) -> Option<()> {
        match form.atom() {
            Some(Atom::Int(n)) => (n >= 0).then_some(()),
            _ => {
                if !self.wanted.contains(form) {
                    self.wanted.push(form.clone());
                }
                Some(())
            }
        }
    }

    /// Looks at the loops inside. Whether all innermost ones go down columns.
    fn look(&mut self, (from, facts): (&Func, &Facts<'_>), block: &Block, around: &Linear) -> Option<bool> {
        let mut columns = true;
        for stmt in &block.stmts {
            let Op::Loop(parts) = &stmt.op else { continue };
            if stmt.outs.len() > parts.init.len() + parts.accs.len() {
                self.size = ROWS;
            }
            columns &= self.look((from, facts), &parts.body, around)?;
            let innermost = parts.body.stmts.iter().all(|stmt| stmt.op.blocks().is_empty());
            if !innermost || goes_down(from, parts) {
                continue;
            }
            columns = false;
            let sums = (0..parts.init.len()).all(|at| sum(parts, at).is_some());
            if sums {
                let len = facts.value(&parts.len)?;
                if len == *around {
                    return None;
                }
                self.want(&Linear::constant(SHORT).minus(&len))?;
            }
        }
        Some(columns)
    }
}

/// Whether a loop reads one element of each row of an array, always the same, or adds to it.
fn goes_down(from: &Func, parts: &Loop) -> bool {
    let carried = 1 + parts.init.len() + parts.accs.len();
    let rows = parts.body.params.iter().skip(carried).filter(|row| from.ty(**row).rank() > 0);
    let rows: FxHashSet<Var> = rows.copied().collect();
    let mut moving: FxHashSet<Var> = parts.body.params.first().copied().into_iter().collect();
    parts.body.stmts.iter().any(|stmt| {
        if mentioned(&stmt.op).any(|var| moving.contains(&var)) {
            moving.extend(&stmt.outs);
        }
        let moves = |atom: &Atom| atom.var().is_some_and(|var| moving.contains(&var));
        match &stmt.op {
            Op::Array(op @ (ArrayOp::Index | ArrayOp::AddAt), args) => {
                let count = args.len() - usize::from(*op == ArrayOp::AddAt);
                let Some([array, before @ .., last]) = args.get(..count) else { return false };
                let in_row = array.var().is_some_and(|var| rows.contains(&var));
                !moves(last) && (in_row || before.iter().any(moves))
            }
            _ => false,
        }
    })
}

/// If what a loop carries there is a sum of reals that nobody looks at inside: which statement adds to it, and what it adds.
pub(super) fn sum(parts: &Loop, at: usize) -> Option<(&Stmt, &Atom)> {
    let (stmt, more) = added(&parts.body, at)?;
    let (param, result) = (*parts.body.params.get(1 + at)?, *stmt.outs.first()?);
    let mut uses = 0;
    let mut see = |atom: &Atom, var| uses += usize::from(atom.var() == Some(var));
    for var in [param, result] {
        parts.body.results.iter().for_each(|atom| see(atom, var));
        parts.body.for_each_stmt(&mut |stmt| {
            stmt.op.for_each_atom(&mut |atom| see(atom, var));
            stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).for_each(|atom| see(atom, var));
        });
    }
    (uses == 2).then_some((stmt, more))
}
