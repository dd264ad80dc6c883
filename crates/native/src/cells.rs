//! Elements that do not move and to which a loop adds are summed in a variable, and the sum is added after the loop.
//!
//! ```text
//! for i in 0..n { x = …  a = p[k]  b = a + x  p[k] = b }
//!
//! s = 0.0
//! for i in 0..n { x = …  s = s + x }
//! if n > 0 { a = p[k]  b = a + s  p[k] = b }
//! ```
//!
//! The loop may do nothing else with that array but add to elements of it: then it does not matter that an element which moves comes to stand on
//! the one that does not. Numbers are added in another order then: in strict mode this is not done.
//!
//! What is left is stored at the end of the body, so that all checks come before: when one of them fails, nobody sees what
//! was stored. If each iteration then adds only to elements of its own, iterations are independent.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed neither reads nor writes memory")]

use crate::loops::walk::{is_straight, map_parts, operands, parts, writes};
use crate::loops::{Func, Int, Join, Local, Operand, Program, Stmt, Sum, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;
use wengert_prim::RealOp;

/// Sums the cells of all innermost loops.
pub(crate) fn gather(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let body = std::mem::take(&mut func.body);
        func.body = stmts(func, body);
    }
}

fn stmts(func: &mut Func, body: Vec<Stmt>) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut made = Vec::with_capacity(body.len());
        body.into_iter().for_each(|stmt| one(func, stmt, &mut made));
        made
    })
}

fn one(func: &mut Func, stmt: Stmt, made: &mut Vec<Stmt>) {
    if let Stmt::For { index, len, backward, independent: false, sums, body } = &stmt {
        let made_of = || Loop { index: *index, len: *len, backward: *backward, sums: sums.clone() };
        if let Some(found) = Body::of(body, *index, sums) {
            return found.gathered(func, made_of(), made);
        }
        if sums.iter().any(|sum| !matches!(sum, Sum::Word(..)))
            && let (before, body) = fixed_places(body, *index)
            && !before.is_empty()
            && let Some(found) = Body::of(&body, *index, sums)
        {
            made.extend(before);
            return found.gathered(func, made_of(), made);
        }
    }
    made.push(map_parts(stmt, &mut |inner| stmts(func, inner)));
}

/// Sums and products of integers that are the same in all iterations, and the body without them: places of elements along several axes.
pub(crate) fn fixed_places(body: &[Stmt], index: Local) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut sets: FxHashMap<Local, usize> = FxHashMap::default();
    body.iter().flat_map(writes).for_each(|local| *sets.entry(local).or_default() += 1);
    let (mut before, mut rest) = (Vec::new(), Vec::new());
    for stmt in body {
        let fixed = |operand: &Operand| match operand {
            Operand::Local(local) => *local != index && !sets.contains_key(local),
            Operand::Int(_) => true,
            Operand::Real(_) | Operand::Text(_) => false,
        };
        match stmt {
            Stmt::Set(local, Value::Int(Int::Add | Int::Sub | Int::Mul, a, b))
                if fixed(a) && fixed(b) && sets.get(local) == Some(&1) =>
            {
                sets.remove(local);
                before.push(stmt.clone());
            }
            _ => rest.push(stmt.clone()),
        }
    }
    (before, rest)
}

/// A loop without its body.
struct Loop {
    index: Local,
    len: Operand,
    backward: bool,
    sums: Vec<Sum>,
}

/// An addition to an element: three statements.
#[derive(Clone, Copy)]
pub(crate) struct Update {
    pub(crate) array: Local,
    pub(crate) index: Operand,
    pub(crate) load: usize,
    pub(crate) sum: usize,
    pub(crate) store: usize,
    /// What is added.
    pub(crate) more: Operand,
}

/// The body of a loop with cells.
struct Body<'s> {
    stmts: &'s [Stmt],
    cells: Vec<Update>,
    /// Whether, without the cells, what is stored is stored by each iteration for itself.
    alone: bool,
    /// Whether all can be stored at the end.
    apart: bool,
    /// The arrays to whose other elements it adds.
    others: FxHashSet<Local>,
}

impl<'s> Body<'s> {
    /// The body, if it has cells and is straight.
    fn of(stmts: &'s [Stmt], index: Local, sums: &[Sum]) -> Option<Body<'s>> {
        let facts = Facts::of(stmts);
        let updates = updates(stmts, sums, &facts)?;
        let fixed = |operand: Operand| match operand {
            Operand::Local(local) => local != index && !facts.assigned.contains_key(&local),
            Operand::Int(_) => true,
            Operand::Real(_) | Operand::Text(_) => false,
        };
        let (cells, elements): (Vec<Update>, Vec<Update>) =
            updates.into_iter().partition(|update| fixed(update.index));
        let mut own = FxHashSet::default();
        let alone =
            elements.iter().all(|update| update.index == Operand::Local(index) && own.insert(update.array));
        let apart = stores_last(stmts, &cells);
        let others = elements.iter().map(|update| update.array).collect();
        // Else what is stored stays where it is, if no check comes after it.
        (!cells.is_empty() && (apart || checks_first(stmts))).then_some(Body {
            stmts,
            cells,
            alone,
            apart,
            others,
        })
    }

    /// The loop, and the sums before and after it.
    fn gathered(self, func: &mut Func, made_of: Loop, made: &mut Vec<Stmt>) {
        let Loop { index, len, backward, mut sums } = made_of;
        let totals: Vec<Local> = self.cells.iter().map(|_| func.fresh(Word::Real)).collect();
        let (mut body, mut stored) = (Vec::new(), Vec::new());
        for (place, stmt) in self.stmts.iter().enumerate() {
            let gone = |update: &Update| update.load == place || update.store == place;
            let adds = self.cells.iter().zip(&totals).find(|(update, _)| update.sum == place);
            if let Some((update, total)) = adds {
                let sum = Value::Real(RealOp::Add, vec![Operand::Local(*total), update.more]);
                body.push(Stmt::Set(*total, sum));
            } else if self.cells.iter().any(gone) {
                // The element is looked at after the loop.
            } else if self.apart && matches!(stmt, Stmt::Store { .. }) {
                stored.push(stmt.clone());
            } else {
                body.push(stmt.clone());
            }
        }
        body.append(&mut stored);
        let zero = Value::Copy(Operand::Real(0.0));
        made.extend(totals.iter().map(|total| Stmt::Set(*total, zero.clone())));
        sums.retain(|sum| match sum {
            Sum::Array { first, .. } | Sum::Near(first) => self.others.contains(first),
            Sum::Word(..) => true,
        });
        sums.extend(totals.iter().map(|total| Sum::Word(*total, Join::Add)));
        made.push(Stmt::For { index, len, backward, independent: self.alone, sums, body });
        add_totals(func, len, self.cells.iter().copied().zip(totals), made);
    }
}

/// What a straight body adds to the arrays that its loop only adds to, if there are such and nothing else is done with them.
pub(crate) fn updates(stmts: &[Stmt], sums: &[Sum], facts: &Facts) -> Option<Vec<Update>> {
    let arrays: Vec<Local> = sums
        .iter()
        .filter_map(|sum| match sum {
            Sum::Array { first, .. } | Sum::Near(first) => Some(*first),
            Sum::Word(..) => None,
        })
        .collect();
    if arrays.is_empty() || !stmts.iter().all(is_straight) {
        return None;
    }
    let is_array = |base: &Operand| matches!(base, Operand::Local(base) if arrays.contains(base));
    let mut updates: Vec<Update> = Vec::new();
    for (place, stmt) in stmts.iter().enumerate() {
        match stmt {
            Stmt::Set(_, Value::Load { base, .. }) if is_array(base) => {
                updates.push(facts.update(stmts, place)?);
            }
            Stmt::Store { base, .. } if is_array(base) => {
                updates.iter().find(|update| update.store == place)?;
            }
            _ if operands(stmt).iter().any(|operand| is_array(operand) && !is_access(stmt, operand)) => {
                return None;
            }
            _ => {}
        }
    }
    Some(updates)
}

/// Adds sums of cells to these, after a loop of this length: where it has not run, cells need not be there.
pub(crate) fn add_totals(
    func: &mut Func,
    len: Operand,
    totals: impl Iterator<Item = (Update, Local)>,
    made: &mut Vec<Stmt>,
) {
    let mut then = Vec::new();
    for (update, total) in totals {
        let (old, sum) = (func.fresh(Word::Real), func.fresh(Word::Real));
        let (base, index) = (Operand::Local(update.array), update.index);
        then.push(Stmt::Set(old, Value::Load { base, index, offset: 0 }));
        let args = vec![Operand::Local(old), Operand::Local(total)];
        then.push(Stmt::Set(sum, Value::Real(RealOp::Add, args)));
        then.push(Stmt::Store { base, index, offset: 0, value: Operand::Local(sum) });
    }
    let some = func.fresh(Word::Int);
    made.push(Stmt::Set(some, Value::CompareInt(Compare::Gt, len, Operand::Int(0))));
    made.push(Stmt::If { cond: Operand::Local(some), then, otherwise: Vec::new() });
}

/// Whether a statement uses an operand only as the address that it reads or writes at.
fn is_access(stmt: &Stmt, operand: &Operand) -> bool {
    match stmt {
        Stmt::Set(_, Value::Load { base, index, .. }) => base == operand && index != operand,
        Stmt::Store { base, index, value, .. } => base == operand && index != operand && value != operand,
        _ => false,
    }
}

/// Whether nothing is read from an array after something was stored there, cells aside: then all can be stored at the end.
pub(crate) fn stores_last(stmts: &[Stmt], cells: &[Update]) -> bool {
    let mut stored: Vec<Operand> = Vec::new();
    stmts.iter().enumerate().all(|(place, stmt)| {
        if cells.iter().any(|cell| cell.load == place || cell.store == place) {
            return true;
        }
        match stmt {
            Stmt::Set(_, Value::Load { base, .. } | Value::Tag(base, true)) => !stored.contains(base),
            Stmt::Set(_, Value::Alloc(..) | Value::Tag(_, false) | Value::Unique(..)) => false,
            Stmt::Store { base, .. } => {
                stored.push(*base);
                true
            }
            _ => true,
        }
    })
}

/// Whether all that is checked is checked before anything is stored.
fn checks_first(stmts: &[Stmt]) -> bool {
    let first = stmts.iter().position(|stmt| matches!(stmt, Stmt::Store { .. })).unwrap_or(stmts.len());
    stmts.iter().skip(first).all(|stmt| matches!(stmt, Stmt::Set(..) | Stmt::Store { .. }))
}

/// What is known of a body.
pub(crate) struct Facts {
    /// How often each variable is assigned.
    pub(crate) assigned: FxHashMap<Local, usize>,
    /// How often each is read.
    reads: FxHashMap<Local, usize>,
}

impl Facts {
    pub(crate) fn of(stmts: &[Stmt]) -> Facts {
        let mut facts = Facts { assigned: FxHashMap::default(), reads: FxHashMap::default() };
        facts.look(stmts);
        facts
    }

    fn look(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            for operand in operands(stmt) {
                if let Operand::Local(local) = operand {
                    *self.reads.entry(local).or_default() += 1;
                }
            }
            writes(stmt).into_iter().for_each(|local| *self.assigned.entry(local).or_default() += 1);
            // Checks are not deep.
            parts(stmt).into_iter().for_each(|part| self.look(part));
        }
    }

    /// Assigned once and read once.
    fn is_once(&self, local: Local) -> bool {
        self.assigned.get(&local) == Some(&1) && self.reads.get(&local) == Some(&1)
    }

    /// The update that begins with this load.
    fn update(&self, stmts: &[Stmt], load: usize) -> Option<Update> {
        let Some(Stmt::Set(old, Value::Load { base: Operand::Local(array), index, offset: 0 })) =
            stmts.get(load)
        else {
            return None;
        };
        let (old, base) = (*old, Operand::Local(*array));
        let after = stmts.iter().enumerate().skip(load + 1);
        let adds = |stmt: &Stmt| match stmt {
            Stmt::Set(sum, Value::Real(RealOp::Add, args)) => match args.as_slice() {
                [a, b] if *a == Operand::Local(old) => Some((*sum, *b)),
                [a, b] if *b == Operand::Local(old) => Some((*sum, *a)),
                _ => None,
            },
            _ => None,
        };
        let (place, (sum, more)) = after.clone().find_map(|(place, stmt)| Some((place, adds(stmt)?)))?;
        let touches = |stmt: &Stmt| operands(stmt).contains(&base);
        let (store, stmt) = after.clone().find(|(_, stmt)| touches(stmt))?;
        let is_stored = *stmt == Stmt::Store { base, index: *index, offset: 0, value: Operand::Local(sum) };
        let index_stays = match index {
            Operand::Local(index) => self.assigned.get(index).is_none_or(|count| *count == 1),
            Operand::Int(_) | Operand::Real(_) | Operand::Text(_) => true,
        };
        let fine = is_stored && index_stays && place < store && self.is_once(old) && self.is_once(sum);
        fine.then_some(Update { array: *array, index: *index, load, sum: place, store, more })
    }
}

#[cfg(test)]
mod tests;
