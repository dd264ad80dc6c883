//! Arrays that a loop updates in place from its first iteration to its last.
//!
//! A carried array is *stable* if each iteration only reads it and updates it, and hands the last version on: nobody keeps an
//! earlier version. It is made the loop's own once, before the loop; in the loop its place never changes, so that
//! updates are plain stores, and reads need not look where it is. Versions pass through inner loops and branches.

#![expect(clippy::wildcard_enum_match_arm, reason = "what does not update an array or hand it on reads it")]

use super::uses;
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Stmt, Var};

/// What a statement does to the version that is followed.
enum Step {
    Reads,
    /// Makes it the next version.
    Becomes(Var),
    /// Keeps it, or hands it to somebody who may.
    Escapes,
}

/// A search for the versions of an array.
pub(super) struct Versions<'v> {
    /// What each view looks into.
    pub(super) views: &'v FxHashMap<Var, Var>,
    pub(super) free: &'v uses::Free,
    /// Whether a call takes over its argument at a place.
    pub(super) taken: &'v dyn Fn(&Op, usize) -> bool,
    /// The versions found.
    pub(super) found: Vec<Var>,
}

impl Versions<'_> {
    /// Whether `start` becomes `end` in a block by updates only.
    pub(super) fn follow(&mut self, block: &Block, start: Var, end: &Atom) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let last = uses::last_uses(block, self.views, self.free);
            let mut current = start;
            self.found.push(start);
            for (place, stmt) in block.stmts.iter().enumerate() {
                match self.step(stmt, current) {
                    Step::Reads => {}
                    Step::Becomes(next) if last.get(&current) == Some(&place) => {
                        self.found.push(next);
                        current = next;
                    }
                    Step::Becomes(_) | Step::Escapes => return false,
                }
            }
            let is_current = |atom: &&Atom| atom.var() == Some(current);
            is_current(&end) && block.results.iter().filter(is_current).count() == 1
        })
    }

    fn step(&mut self, stmt: &Stmt, current: Var) -> Step {
        let before = self.found.len();
        let next = match &stmt.op {
            Op::Array(ArrayOp::Set | ArrayOp::AddAt | ArrayOp::ScatterAdd | ArrayOp::AddProduct(_), args) => {
                let (target, rest) = args.split_at_checked(1).unwrap_or((args, &[]));
                let updates = target.iter().any(|atom| atom.var() == Some(current));
                let apart = !rest.iter().any(|atom| self.looks_into(atom, current));
                stmt.outs.first().copied().filter(|_| updates && apart)
            }
            Op::Loop(parts) => {
                let carried: Vec<&Atom> = parts.init.iter().chain(&parts.accs).collect();
                let apart = !parts.inputs.iter().any(|atom| self.looks_into(atom, current))
                    && self.is_apart(&parts.body, current);
                self.through_loop(stmt, (&carried, 1), &parts.body, current).filter(|_| apart)
            }
            Op::While(parts) => {
                let carried: Vec<&Atom> = parts.init.iter().collect();
                let apart = self.is_apart(&parts.body, current) && self.is_apart(&parts.cond, current);
                let place = carried.iter().position(|atom| atom.var() == Some(current));
                let seen = place.and_then(|place| parts.cond.params.get(place).copied());
                let read = seen.is_none_or(|seen| self.only_reads_in(&parts.cond, seen));
                self.through_loop(stmt, (&carried, 0), &parts.body, current).filter(|_| apart && read)
            }
            Op::If { then, otherwise, .. } => self.through_branches(stmt, &[then, otherwise], current),
            Op::Match { arms, .. } => {
                let arms: Vec<&Block> = arms.iter().collect();
                self.through_branches(stmt, &arms, current)
            }
            _ => None,
        };
        match next {
            Some(next) => Step::Becomes(next),
            None => {
                self.found.truncate(before);
                if self.only_reads(&stmt.op, current) { Step::Reads } else { Step::Escapes }
            }
        }
    }

    /// The result of a loop that carries the array in one place.
    fn through_loop(
        &mut self,
        stmt: &Stmt,
        (carried, skip): (&[&Atom], usize),
        body: &Block,
        current: Var,
    ) -> Option<Var> {
        let mut places =
            (0..carried.len()).filter(|place| carried.get(*place).and_then(|a| a.var()) == Some(current));
        let place = places.next()?;
        if places.next().is_some() {
            return None;
        }
        let param = *body.params.get(place + skip)?;
        self.follow(body, param, body.results.get(place)?).then_some(*stmt.outs.get(place)?)
    }

    /// The result of branches each of which ends with a version.
    fn through_branches(&mut self, stmt: &Stmt, branches: &[&Block], current: Var) -> Option<Var> {
        let before = self.found.len();
        for (place, out) in stmt.outs.iter().enumerate() {
            let all = branches
                .iter()
                .all(|branch| branch.results.get(place).is_some_and(|end| self.follow(branch, current, end)));
            if all {
                return Some(*out);
            }
            self.found.truncate(before);
        }
        None
    }

    fn looks_into(&self, atom: &Atom, current: Var) -> bool {
        atom.var().is_some_and(|var| uses::with_sources(var, self.views).any(|source| source == current))
    }

    /// Whether a block does not mention the array nor anything that looks into it.
    fn is_apart(&self, block: &Block, current: Var) -> bool {
        let free = self.free.of(block);
        !free.iter().any(|var| uses::with_sources(*var, self.views).any(|source| source == current))
    }

    fn only_reads(&self, op: &Op, current: Var) -> bool {
        let taken = uses::takes(op, &|place| (self.taken)(op, place));
        !taken.contains(&current) && op.blocks().into_iter().all(|block| self.only_reads_in(block, current))
    }

    fn only_reads_in(&self, block: &Block, current: Var) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            !block.results.iter().any(|atom| atom.var() == Some(current))
                && block.stmts.iter().all(|stmt| self.only_reads(&stmt.op, current))
        })
    }
}
