//! Elements are updated where they are: what is read of an array that is updated is read before, and a changed row that is put back is a
//! change of the array.
//!
//! ```text
//! ys = xs with [i] = a              b = xs[i]
//! b = xs[i]                         ys = xs with [i] = a
//!
//! row = xs[i]
//! new = row with [j] = a
//! ys = xs with [i] = new            ys = xs with [i, j] = a
//! ```
//!
//! An array is updated in place if nobody looks at it later; a row looks at its array. So an exchange of two elements, and an update of
//! a table, take the same time whatever the size of the array.
//!
//! What is read at the place of the update is there if the update does not fail, and if that fails, it fails for the same reason: it takes over
//! the place in the source. Other reads go before the update only if nothing fails from the update on until they are reached; to ask for a size
//! never fails.

use crate::facts::{Quiet, total};
use crate::sizes::{boxes, in_range_there};
use crate::walk::{count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, FuncId, Program, Stmt, Var};

/// So many statements after an update are looked at.
const FAR: usize = 64;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let (total, boxes) = (total(program), boxes(program));
    for (_, func) in program.funcs.iter_mut() {
        let updates = |stmt: &Stmt| update(&stmt.op).is_some();
        if func.body.all_stmts(&mut |stmt| !updates(stmt)) {
            continue;
        }
        let uses = count_uses(&func.body);
        // Finding out takes time, and is asked only of what is read late.
        let late = reads_late(&func.body, &uses);
        let inside = if late { in_range_there(func, &boxes) } else { FxHashSet::default() };
        let mut body = std::mem::take(&mut func.body);
        Elements { func, uses, total: &total, inside }.block(&mut body);
        func.body = body;
    }
}

/// An update: the operation, the array, the indices, and what is set or added there.
fn update(op: &Op) -> Option<(ArrayOp, Var, &[Atom], &Atom)> {
    let Op::Array(op @ (ArrayOp::Set | ArrayOp::AddAt), args) = op else { return None };
    let [Atom::Var(array), indices @ .., value] = args.as_slice() else { return None };
    Some((*op, *array, indices, value))
}

/// What is read of an array: the array and the indices.
fn read(op: &Op) -> Option<(Var, &[Atom])> {
    let Op::Array(ArrayOp::Index, args) = op else { return None };
    let [Atom::Var(array), indices @ ..] = args.as_slice() else { return None };
    Some((*array, indices))
}

/// The array that is asked for its size.
fn length(op: &Op) -> Option<Var> {
    let Op::Array(ArrayOp::Length(_), args) = op else { return None };
    args.first().and_then(Atom::var)
}

/// Whether something is read of an array after an update of it, in some block.
fn reads_late(block: &Block, uses: &FxHashMap<Var, usize>) -> bool {
    let mut updated: FxHashSet<Var> = FxHashSet::default();
    block.stmts.iter().any(|stmt| {
        let late = read(&stmt.op).is_some_and(|(array, _)| updated.contains(&array));
        let array = update(&stmt.op).map(|(_, array, _, _)| array);
        updated.extend(array.filter(|array| uses.get(array) != Some(&1)));
        let deep =
            |block: &Block| stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || reads_late(block, uses));
        late || stmt.op.blocks().into_iter().any(deep)
    })
}

struct Elements<'p> {
    func: &'p mut Func,
    uses: FxHashMap<Var, usize>,
    total: &'p FxHashSet<FuncId>,
    /// Elements that are there.
    inside: FxHashSet<Var>,
}

/// A row that was read, changed, and put back.
struct Change {
    array: Var,
    /// Where the row stands in it.
    place: Vec<Atom>,
    /// The statements that change the row.
    steps: Vec<usize>,
}

impl Elements<'_> {
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for inner in block.stmts.iter_mut().flat_map(|stmt| stmt.op.blocks_mut()) {
                self.block(inner);
            }
            if block.stmts.iter().any(|stmt| update(&stmt.op).is_some()) {
                self.changed_rows(block);
                self.reads_before(block);
            }
        });
    }

    /// Makes changes of rows that are put back changes of their arrays.
    fn changed_rows(&mut self, block: &mut Block) {
        let mut at = 0;
        while at < block.stmts.len() {
            match self.put_back(block, at) {
                Some(change) => self.change_in_place(block, at, &change),
                None => at += 1,
            }
        }
    }

    /// What the statement puts back, if that is a changed row and nothing else looks at the array in the meantime.
    fn put_back(&self, block: &Block, at: usize) -> Option<Change> {
        let stmt = block.stmts.get(at)?;
        let (ArrayOp::Set, array, place, Atom::Var(row)) = update(&stmt.op)? else { return None };
        let before = block.stmts.get(at.saturating_sub(FAR)..at)?;
        let first = at - before.len();
        let made = |row: Var| before.iter().rposition(|stmt| stmt.outs.as_slice() == [row]);
        let (mut row, mut steps) = (*row, Vec::new());
        while let Some(found) = made(row) {
            let op = &before.get(found)?.op;
            if let Some((_, from, _, _)) = update(op)
                && self.uses.get(&row) == Some(&1)
            {
                steps.push(first + found);
                row = from;
            } else {
                let same = read(op).is_some_and(|(from, indices)| from == array && indices == place);
                let start = *steps.last().filter(|_| same)?;
                let looks = |stmt: &Stmt| mentioned(&stmt.op).any(|var| var == array || var == row);
                let mut between = block.stmts.iter().enumerate().take(at).skip(start);
                let alone = between.all(|(at, stmt)| steps.contains(&at) || !looks(stmt));
                steps.reverse();
                return alone.then(|| Change { array, place: place.to_vec(), steps });
            }
        }
        None
    }

    fn change_in_place(&mut self, block: &mut Block, at: usize, change: &Change) {
        let Change { array, place, steps } = change;
        let outs = block.stmts.remove(at).outs;
        let mut current = *array;
        for (count, step) in steps.iter().enumerate() {
            let Some(stmt) = block.stmts.get_mut(*step) else { return };
            let whole = match outs.first() {
                Some(out) if count + 1 == steps.len() => *out,
                _ => {
                    let VarInfo { name, ty } = *self.func.vars.at(current);
                    self.func.fresh(name, ty)
                }
            };
            if let Op::Array(_, args) = &mut stmt.op {
                args.splice(..1, [Atom::Var(current)].into_iter().chain(place.iter().cloned()));
            }
            stmt.outs = vec![whole];
            self.uses.insert(whole, self.uses.get(&whole).copied().unwrap_or(1));
            current = whole;
        }
    }

    /// Reads elements before the array is updated.
    fn reads_before(&self, block: &mut Block) {
        let mut at = 0;
        while at < block.stmts.len() {
            let reads = self.late_reads(block, at).unwrap_or_default();
            for (moved, (from, span)) in reads.iter().enumerate() {
                let mut stmt = block.stmts.remove(*from);
                stmt.span = span.unwrap_or(stmt.span);
                block.stmts.insert(at + moved, stmt);
            }
            at += reads.len() + 1;
        }
    }

    /// What is read of the array after an update: where, and the place in the source that it gets. `None` if something else looks at
    /// the array then, or if it cannot be read before.
    fn late_reads(&self, block: &Block, at: usize) -> Option<Vec<(usize, Option<Span>)>> {
        let stmt = block.stmts.get(at)?;
        let (_, array, place, _) = update(&stmt.op)?;
        if self.uses.get(&array) == Some(&1) || block.results.contains(&Atom::Var(array)) {
            return None;
        }
        let mut bound: FxHashSet<Var> = stmt.outs.iter().copied().collect();
        let (mut found, mut quiet) = (Vec::new(), self.is_quiet(stmt));
        for (from, later) in block.stmts.iter().enumerate().skip(at + 1) {
            if length(&later.op) == Some(array) {
                found.push((from, None));
            } else if mentioned(&later.op).any(|var| var == array) {
                let (other, indices) = read(&later.op)?;
                let known = indices.iter().filter_map(Atom::var).all(|var| !bound.contains(&var));
                let same = indices == place;
                if other != array || !known || !(same || quiet) || from > at + FAR {
                    return None;
                }
                found.push((from, same.then_some(stmt.span)));
            } else {
                quiet &= self.is_quiet(later);
            }
            bound.extend(&later.outs);
        }
        Some(found)
    }

    /// Whether a statement neither fails nor goes on forever where it stands.
    fn is_quiet(&self, stmt: &Stmt) -> bool {
        Quiet { total: self.total, inside: &self.inside }.stmt(stmt)
    }
}
