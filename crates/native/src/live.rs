//! Which variables that a loop assigns are read after it: a walk from the end, with the set of variables whose values are
//! still wanted. What a loop's body reads before it assigns is wanted at the end of the body too.

use crate::loops::walk::{operands, parts};
use crate::loops::{Func, Local, Operand, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::ty::Id;

/// A set of variables.
#[derive(Clone)]
struct Set(Vec<u64>);

impl Set {
    fn place(local: Local) -> (usize, u64) {
        (local.index() / 64, 1 << (local.index() % 64))
    }
    fn add(&mut self, local: Local) {
        let (word, bit) = Set::place(local);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }
    fn remove(&mut self, local: Local) {
        let (word, bit) = Set::place(local);
        if let Some(word) = self.0.get_mut(word) {
            *word &= !bit;
        }
    }
    fn has(&self, local: Local) -> bool {
        let (word, bit) = Set::place(local);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
    fn add_all(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
    fn empty(&self) -> Set {
        Set(vec![0; self.0.len()])
    }
}

/// For each loop for which `wanted` holds, by its address, what it assigns that is read after it.
pub(crate) fn after_loops(
    func: &Func,
    wanted: &dyn Fn(&[Stmt]) -> bool,
) -> FxHashMap<*const Stmt, FxHashSet<Local>> {
    let mut walk = Walk { wanted, found: FxHashMap::default() };
    let mut live = Set(vec![0; func.locals.len().div_ceil(64)]);
    func.results.iter().for_each(|result| live.add(*result));
    walk.back(&func.body, &mut live, true);
    walk.found
}

struct Walk<'w> {
    wanted: &'w dyn Fn(&[Stmt]) -> bool,
    found: FxHashMap<*const Stmt, FxHashSet<Local>>,
}

impl Walk<'_> {
    /// From what is wanted after statements to what is wanted before them; loops are noted if `note`.
    fn back(&mut self, stmts: &[Stmt], live: &mut Set, note: bool) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts.iter().rev() {
                self.one(stmt, live, note);
            }
        });
    }

    fn one(&mut self, stmt: &Stmt, live: &mut Set, note: bool) {
        match stmt {
            Stmt::Set(local, _) => live.remove(*local),
            Stmt::Call { outs, .. } => outs.iter().for_each(|out| live.remove(*out)),
            Stmt::Runtime { out, .. } => out.iter().for_each(|out| live.remove(*out)),
            Stmt::Fail(..) => *live = live.empty(),
            Stmt::If { then, otherwise, .. } => {
                let mut other = live.clone();
                self.back(then, live, note);
                self.back(otherwise, &mut other, note);
                live.add_all(&other);
            }
            Stmt::Switch { cases, .. } => {
                let after = live.clone();
                *live = after.empty();
                for case in cases {
                    let mut before = after.clone();
                    self.back(case, &mut before, note);
                    live.add_all(&before);
                }
            }
            Stmt::For { index, body, .. } => {
                let mut again = live.empty();
                self.back(body, &mut again, false);
                again.remove(*index);
                if note && (self.wanted)(body) {
                    let mut assigned = FxHashSet::from_iter([*index]);
                    assigns(body, &mut assigned);
                    assigned.retain(|local| live.has(*local));
                    self.found.insert(std::ptr::from_ref(stmt), assigned);
                } else if note {
                    let mut inside = live.clone();
                    inside.add_all(&again);
                    self.back(body, &mut inside, true);
                }
                live.add_all(&again);
            }
            Stmt::While { head, cond, body } => {
                let mut again = live.empty();
                add(&mut again, *cond);
                self.back(head, &mut again, false);
                self.back(body, &mut again, false);
                live.add_all(&again);
                add(live, *cond);
                self.back(head, live, false);
                if note {
                    let mut inside = live.clone();
                    self.back(body, &mut inside, true);
                    inside.add_all(live);
                    self.back(head, &mut inside, true);
                }
            }
            Stmt::Store { .. }
            | Stmt::Parallel { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..) => {}
        }
        operands(stmt).into_iter().for_each(|operand| add(live, operand));
    }
}

fn add(live: &mut Set, operand: Operand) {
    if let Operand::Local(local) = operand {
        live.add(local);
    }
}

/// What statements without calls assign.
fn assigns(stmts: &[Stmt], into: &mut FxHashSet<Local>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            if let Stmt::Set(local, _) = stmt {
                into.insert(*local);
            }
            parts(stmt).into_iter().for_each(|part| assigns(part, into));
        }
    });
}
