//! What the statements of a loop's body read and write.

use crate::loops::assigned::Assigned;
use crate::loops::walk::{every_read, operands};
use crate::loops::{Func, Local, Operand, Stmt, Value};
use rustc_hash::FxHashMap;
use wengert_ir::ty::{Id, Table};
use wengert_prim::RealOp;
use wengert_vmath::{Function, function_of};

/// How often each variable of a function is read.
pub(super) type Reads = Table<Local, usize>;

/// A statement of a body and what it does.
pub(super) struct Unit<'a> {
    pub(super) stmt: &'a Stmt,
    pub(super) reads: Vec<Local>,
    pub(super) writes: Vec<Local>,
    /// Whether it reads memory.
    pub(super) loads: bool,
    /// Whether it writes memory.
    pub(super) stores: bool,
    /// Whether it may fail.
    pub(super) guards: bool,
    /// The kernel it calls, if it does no more.
    pub(super) function: Option<Function>,
}

/// How often each variable is read anywhere.
pub(super) fn reads_of(func: &Func) -> Reads {
    let mut counts: Reads = Table::default();
    for _ in func.locals.iter() {
        counts.push(0);
    }
    let mut count = |local: Local| {
        if counts.get(local).is_some() {
            *counts.at_mut(local) += 1;
        }
    };
    func.results.iter().for_each(|result| count(*result));
    every_read(&func.body, &mut count);
    counts
}

/// The statements of a body, if each is one of those that can be put into phases.
pub(super) fn units<'a>(body: &'a [Stmt], all: &Reads) -> Option<Vec<Unit<'a>>> {
    body.iter().map(|stmt| unit(stmt, all)).collect()
}

fn unit<'a>(stmt: &'a Stmt, all: &Reads) -> Option<Unit<'a>> {
    let mut unit = Unit {
        stmt,
        reads: Vec::new(),
        writes: Vec::new(),
        loads: false,
        stores: false,
        guards: false,
        function: None,
    };
    let mut so_far = SoFar::default();
    look(stmt, all, &mut unit, &mut so_far)?;
    unit.writes = so_far.assigned.into_order();
    unit.writes.sort();
    if let Stmt::Set(_, Value::Real(op, _)) = stmt {
        unit.function = kernel(*op);
    }
    Some(unit)
}

/// The kernel for an operation, if that is worth it: roots are instructions.
fn kernel(op: RealOp) -> Option<Function> {
    function_of(op).filter(|function| *function != Function::Sqrt)
}

/// What has been seen of a statement.
#[derive(Default)]
struct SoFar {
    /// The variables that are surely assigned.
    assigned: Assigned,
    /// The reads of each variable, by how many there were of any before.
    reads: FxHashMap<Local, Vec<usize>>,
    before: usize,
}

impl SoFar {
    fn read(&mut self, local: Local) {
        self.reads.entry(local).or_default().push(self.before);
        self.before += 1;
    }

    /// How often a variable was read since there were so many reads.
    fn reads_since(&self, start: usize, local: Local) -> usize {
        self.reads.get(&local).map_or(0, |reads| reads.len() - reads.partition_point(|at| *at < start))
    }
}

/// Adds what a statement does.
fn look(stmt: &Stmt, all: &Reads, unit: &mut Unit<'_>, so_far: &mut SoFar) -> Option<()> {
    for operand in operands(stmt) {
        match operand {
            Operand::Local(local) => {
                so_far.read(local);
                if !so_far.assigned.has(local) {
                    unit.reads.push(local);
                }
            }
            Operand::Real(_) | Operand::Int(_) => {}
            Operand::Text(_) => return None,
        }
    }
    match stmt {
        Stmt::Set(local, value) => {
            match value {
                Value::Load { .. } | Value::Tag(..) => unit.loads = true,
                Value::Unique(..) | Value::Alloc(..) => return None,
                Value::Copy(_)
                | Value::Real(..)
                | Value::Int(..)
                | Value::CompareReal(..)
                | Value::CompareInt(..)
                | Value::OutOfRange(..)
                | Value::Select(..)
                | Value::IntToReal(_)
                | Value::RealToInt(_)
                | Value::Round(..)
                | Value::Bits(_)
                | Value::Address { .. } => {}
            }
            so_far.assigned.add(*local);
            Some(())
        }
        Stmt::Store { .. } => {
            unit.stores = true;
            Some(())
        }
        Stmt::Fail(..) => {
            unit.guards = true;
            Some(())
        }
        Stmt::If { then, otherwise, .. } => look_at_branches([then, otherwise], all, unit, so_far),
        Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::Parallel { .. }
        | Stmt::While { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..) => None,
    }
}

/// What only one branch assigns keeps its old value in the other, that is, reads it, unless it is that branch's alone.
fn look_at_branches(
    branches: [&[Stmt]; 2],
    all: &Reads,
    unit: &mut Unit<'_>,
    so_far: &mut SoFar,
) -> Option<()> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut sides = Vec::new();
        for branch in branches {
            let (count, start) = (so_far.assigned.count(), so_far.before);
            for stmt in branch {
                look(stmt, all, unit, so_far)?;
            }
            let mut inside = so_far.assigned.take_back(count);
            inside.retain(|local| all_reads(all, *local) > so_far.reads_since(start, *local));
            // A branch that fails assigns everything, as it were.
            inside.sort();
            sides.push((inside, matches!(branch.last(), Some(Stmt::Fail(..)))));
        }
        let mut either: Vec<Local> = sides.iter().flat_map(|(inside, _)| inside.iter().copied()).collect();
        either.sort();
        either.dedup();
        for local in either {
            if !sides.iter().all(|(inside, fails)| *fails || inside.binary_search(&local).is_ok()) {
                unit.reads.push(local);
            }
            so_far.assigned.add(local);
        }
        Some(())
    })
}

/// How often the variables are read by these units.
pub(super) fn reads_in(body: &[Stmt]) -> FxHashMap<Local, usize> {
    let mut counts = FxHashMap::default();
    every_read(body, &mut |local| *counts.entry(local).or_insert(0) += 1);
    counts
}

/// How often a variable is read in all of the function.
pub(super) fn all_reads(reads: &Reads, local: Local) -> usize {
    // Variables made since are those of loops that were cut, and read there only.
    if local.index() < reads.len() { reads.get(local).copied().unwrap_or(0) } else { 0 }
}
