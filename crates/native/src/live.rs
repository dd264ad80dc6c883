//! Which variables that a loop assigns are read after it: a walk from the end, with the set of variables whose values are
//! still wanted. What a loop's body reads before it assigns is wanted at the end of the body too.

use crate::loops::walk::{every, operands, parts, writes};
use crate::loops::{Func, Local, Operand, Stmt, Sum};
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
    fn keep(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }
    fn empty(&self) -> Set {
        Set(vec![0; self.0.len()])
    }
    fn of(func: &Func) -> Set {
        Set(vec![0; func.locals.len().div_ceil(64)])
    }
    /// Those that are in it, in their order.
    fn all(&self) -> Vec<Local> {
        let bits = |(word, bits): (usize, &u64)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| Local::new(64 * word + bit))
        };
        self.0.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(bits).collect()
    }
}

/// For each loop for which `wanted` holds, by its address, what it assigns that is read after it.
pub(crate) fn after_loops(
    func: &Func,
    wanted: &dyn Fn(&[Stmt]) -> bool,
) -> FxHashMap<*const Stmt, FxHashSet<Local>> {
    let mut walk = Walk { wanted, found: FxHashMap::default(), around: None };
    walk.function(func);
    walk.found
}

/// What a loop has to do with what is around it.
pub(crate) struct Around {
    /// What it reads of what was there before, in the order of the variables.
    pub(crate) needs: Vec<Local>,
    /// What it assigns that is read after it, in the order of the variables.
    pub(crate) gives: Vec<Local>,
}

/// The same and more for each loop of a function, by its address.
pub(crate) fn around_loops(func: &Func) -> FxHashMap<*const Stmt, Around> {
    let around = Some(FxHashMap::default());
    let mut walk = Walk { wanted: &|_| false, found: FxHashMap::default(), around };
    walk.function(func);
    walk.around.unwrap_or_default()
}

struct Walk<'w> {
    wanted: &'w dyn Fn(&[Stmt]) -> bool,
    found: FxHashMap<*const Stmt, FxHashSet<Local>>,
    around: Option<FxHashMap<*const Stmt, Around>>,
}

impl Walk<'_> {
    fn function(&mut self, func: &Func) {
        let mut live = Set::of(func);
        func.results.iter().for_each(|result| live.add(*result));
        self.back(&func.body, &mut live, true);
    }

    /// Notes a loop before which these are wanted if nothing is after it, and after which those are.
    fn note(&mut self, stmt: &Stmt, before: &Set, after: &Set) {
        let Some(around) = &mut self.around else { return };
        let mut assigned = before.empty();
        every(std::slice::from_ref(stmt), &mut |stmt| {
            writes(stmt).into_iter().for_each(|local| assigned.add(local));
        });
        assigned.keep(after);
        let found = Around { needs: before.all(), gives: assigned.all() };
        around.insert(std::ptr::from_ref(stmt), found);
    }

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
            Stmt::For { index, body, .. } => self.counted(stmt, *index, body, live, note),
            Stmt::While { head, cond, body } => self.repeated(stmt, (head, *cond, body), live, note),
            Stmt::Store { .. }
            | Stmt::Parallel { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..) => {}
        }
        operands(stmt).into_iter().for_each(|operand| add(live, operand));
    }

    fn counted(&mut self, stmt: &Stmt, index: Local, body: &[Stmt], live: &mut Set, note: bool) {
        let mut again = live.empty();
        self.back(body, &mut again, false);
        again.remove(index);
        if self.around.is_some() {
            read_by_sums(stmt).into_iter().for_each(|local| again.add(local));
        }
        if note && self.around.is_some() {
            let mut before = again.clone();
            operands(stmt).into_iter().for_each(|operand| add(&mut before, operand));
            self.note(stmt, &before, live);
        }
        if note && (self.wanted)(body) {
            let mut assigned = FxHashSet::from_iter([index]);
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

    fn repeated(
        &mut self,
        stmt: &Stmt,
        (head, cond, body): (&[Stmt], Operand, &[Stmt]),
        live: &mut Set,
        note: bool,
    ) {
        let mut again = live.empty();
        add(&mut again, cond);
        self.back(head, &mut again, false);
        self.back(body, &mut again, false);
        if note && self.around.is_some() {
            let mut before = again.clone();
            add(&mut before, cond);
            self.back(head, &mut before, false);
            self.note(stmt, &before, live);
        }
        live.add_all(&again);
        add(live, cond);
        self.back(head, live, false);
        if note {
            let mut inside = live.clone();
            self.back(body, &mut inside, true);
            inside.add_all(live);
            self.back(head, &mut inside, true);
        }
    }
}

/// What a loop says of what its iterations add to.
fn read_by_sums(stmt: &Stmt) -> Vec<Local> {
    let Stmt::For { sums, .. } = stmt else { return Vec::new() };
    let of = |sum: &Sum| match sum {
        Sum::Word(local, _) | Sum::Near(local) => vec![*local],
        Sum::Array { object, first, size } => {
            object.iter().copied().chain([*first]).chain(size.local()).collect()
        }
    };
    sums.iter().flat_map(of).collect()
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
