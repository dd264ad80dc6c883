//! Loops whose parts may all refer to the same objects: they count references atomically.
//!
//! That takes longer than to count alone, and much longer where many want to count the same object at once. So a loop all of whose
//! iterations refer once more to one object that was there before it stays whole, unless there is much else to do in each.

use crate::loops::walk::{every, writes};
use crate::loops::{Func, Kind, Local, Operand, Program, Runtime, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Table;

/// For each function, which of its parameters it refers to once more, itself or through others.
pub(super) struct Held {
    params: Table<FuncId, Vec<bool>>,
}

impl Held {
    pub(super) fn of(program: &Program) -> Held {
        let mut held = Held { params: Table::default() };
        for (_, func) in program.funcs.iter() {
            held.params.push(vec![false; func.params.len()]);
        }
        loop {
            let mut changed = false;
            for (id, func) in program.funcs.iter() {
                let mut found = held.params.at(id).clone();
                let mut note = |object: Operand| {
                    let place = func.params.iter().position(|param| object == Operand::Local(*param));
                    if let Some(known) = place.and_then(|place| found.get_mut(place)) {
                        *known = true;
                    }
                };
                every(&func.body, &mut |stmt| held.objects(stmt).into_iter().for_each(&mut note));
                if found != *held.params.at(id) {
                    *held.params.at_mut(id) = found;
                    changed = true;
                }
            }
            if !changed {
                return held;
            }
        }
    }

    /// What a statement refers to once more.
    fn objects(&self, stmt: &Stmt) -> Vec<Operand> {
        match stmt {
            Stmt::Retain(object, kind) if *kind != Kind::Plain => vec![*object],
            Stmt::Call { func, args, outs: _ } => {
                let held = self.params.get(*func).map_or(&[][..], Vec::as_slice);
                args.iter().zip(held).filter(|(_, held)| **held).map(|(arg, _)| *arg).collect()
            }
            Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => Vec::new(),
        }
    }

    /// Whether iterations of a loop refer once more to an object that is the same in all of them.
    pub(super) fn meet(&self, body: &[Stmt], inside: &FxHashSet<Local>) -> bool {
        let moving = moving(body, inside);
        let same = |object: Operand| object.local().is_some_and(|local| !moving.contains(&local));
        let mut meet = false;
        every(body, &mut |stmt| meet |= self.objects(stmt).into_iter().any(same));
        meet
    }
}

/// The variables of a loop that are not the same in all iterations: all that is not read from what is. What an inner loop of the same
/// length goes through is the same, too, and so is what an array holds to which the same was copied.
fn moving(body: &[Stmt], inside: &FxHashSet<Local>) -> FxHashSet<Local> {
    let mut sets: FxHashMap<Local, usize> = FxHashMap::default();
    let mut values: FxHashMap<Local, Vec<Operand>> = FxHashMap::default();
    every(body, &mut |stmt| {
        writes(stmt).into_iter().for_each(|local| *sets.entry(local).or_default() += 1);
        if let Some((local, read)) = read_from(stmt) {
            values.insert(local, read);
        }
    });
    let mut moving = inside.clone();
    loop {
        let before = moving.len();
        let stays = |local: &Local| {
            let still = |of: &Operand| of.local().is_none_or(|of| !moving.contains(&of));
            sets.get(local) == Some(&1) && values.get(local).is_some_and(|read| read.iter().all(still))
        };
        let staying: Vec<Local> = moving.iter().copied().filter(stays).collect();
        staying.iter().for_each(|local| {
            moving.remove(local);
        });
        if moving.len() == before {
            return moving;
        }
    }
}

/// What a statement makes a variable lead to: what is read from these.
fn read_from(stmt: &Stmt) -> Option<(Local, Vec<Operand>)> {
    match stmt {
        // A constructor without fields is no object.
        Stmt::Set(_, Value::Copy(Operand::Int(_))) => None,
        Stmt::Set(local, Value::Copy(from)) => Some((*local, vec![*from])),
        Stmt::Set(local, Value::Load { base, index, .. } | Value::Address { base, index, .. }) => {
            Some((*local, vec![*base, *index]))
        }
        Stmt::For { index, len, .. } => Some((*index, vec![*len])),
        Stmt::Runtime { call: Runtime::CopyWords, args, .. } => match args.as_slice() {
            [from, Operand::Local(to), ..] => Some((*to, vec![*from])),
            _ => None,
        },
        Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::Parallel { .. }
        | Stmt::While { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => None,
    }
}

/// Marks the functions that parts of such loops run.
pub(super) fn mark(program: &mut Program) {
    let mut todo: Vec<FuncId> =
        program.funcs.iter().filter(|(_, func)| func.shared).map(|(id, _)| id).collect();
    while let Some(id) = todo.pop() {
        let mut called = Vec::new();
        if let Some(func) = program.funcs.get(id) {
            every(&func.body, &mut |stmt| {
                if let Stmt::Call { func, .. } = stmt {
                    called.push(*func);
                }
            });
        }
        for callee in called {
            if program.funcs.get(callee).is_some_and(counts) {
                let func = program.funcs.at_mut(callee);
                if !std::mem::replace(&mut func.shared, true) {
                    todo.push(callee);
                }
            }
        }
    }
}

/// Whether a function counts references or calls something.
fn counts(func: &Func) -> bool {
    let mut counts = false;
    every(&func.body, &mut |stmt| {
        counts |= matches!(
            stmt,
            Stmt::Retain(..) | Stmt::Release(..) | Stmt::Call { .. } | Stmt::Set(_, Value::Unique(..))
        );
    });
    counts
}
