//! A loop that adds to an array at several places that move with its index is one loop for each of them: rows, each of which is a vector.
//!
//! ```text
//! for j in 0..n { t = …  g[i, j] += a t  g[k, j] += b t  g[i, k] += c t }
//!
//! s = 0.0
//! for j in 0..n { t = …  s = s + c t  g[i, j] += a t }
//! for j in 0..n { t = …  g[k, j] += b t }
//! if n > 0 { g[i, k] += s }
//! ```
//!
//! The rows may be one and the same, so in one loop no iteration could begin before the one before it has ended. So it is in what goes backward
//! through steps of elimination, or of shortest paths. The loop may do nothing else with the array but add to elements of it: numbers are
//! added in another order then, and in strict mode this is not done. What is added is computed again where that is cheap. The first
//! loop has all checks: if one of them fails, nobody sees what was stored.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not computed again")]

use crate::cells::{Facts, Update, add_totals, fixed_places, stores_last, updates};
use crate::forms::Form;
use crate::loops::walk::{map_parts, operands, renamed};
use crate::loops::{Func, Int, Local, Operand, Program, Stmt, Sum, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_prim::RealOp;

/// Loops with fewer iterations, as far as that is known, stay as they are.
const SHORT: i64 = 8;
/// So many statements are done again in a loop at most.
const MOST: usize = 24;
/// So many loops are made of one at most.
const MANY: usize = 4;
/// Longer computations of a place are not looked at.
const DEEP: usize = 8;

/// See the module. Whether there was such a loop.
pub(crate) fn split(program: &mut Program) -> bool {
    let mut any = false;
    for (_, func) in program.funcs.iter_mut() {
        let body = std::mem::take(&mut func.body);
        func.body = stmts(func, body, &mut any);
    }
    any
}

fn stmts(func: &mut Func, body: Vec<Stmt>, any: &mut bool) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut made = Vec::with_capacity(body.len());
        for stmt in body {
            match strands(&stmt) {
                Some((before, stmt, found)) => {
                    made.extend(before);
                    found.split(func, &stmt, &mut made);
                    *any = true;
                }
                None => made.push(map_parts(stmt, &mut |inner| stmts(func, inner, any))),
            }
        }
        made
    })
}

/// A loop that adds at several places, and before it what is the same in all of its iterations.
fn strands(stmt: &Stmt) -> Option<(Vec<Stmt>, Stmt, Body)> {
    let Stmt::For { index, sums, body, .. } = stmt else { return None };
    updates(body, sums, &Facts::of(body)).filter(|updates| updates.len() > 1)?;
    let (before, body) = fixed_places(body, *index);
    let (before, body) = once(before, &body);
    let stmt = with_body(stmt, body, sums.clone());
    let found = Body::of(&stmt)?;
    Some((before, stmt, found))
}

/// What is computed before a body, each once.
fn once(before: Vec<Stmt>, body: &[Stmt]) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut names: FxHashMap<Local, Local> = FxHashMap::default();
    let mut made: Vec<Stmt> = Vec::new();
    for stmt in before {
        let Stmt::Set(local, value) = &stmt else { continue };
        let known = Stmt::Set(*local, value.clone());
        let known = renamed(&[known], &mut |local| names.get(&local).copied().unwrap_or(local));
        let same = known.iter().find_map(|known| match known {
            Stmt::Set(_, value) => made.iter().find_map(|other| match other {
                Stmt::Set(first, before) if before == value => Some(*first),
                _ => None,
            }),
            _ => None,
        });
        match same {
            Some(first) => {
                names.insert(*local, first);
            }
            None => made.extend(known),
        }
    }
    (made, renamed(body, &mut |local| names.get(&local).copied().unwrap_or(local)))
}

/// Updates at one place, which moves with the index.
struct Row {
    array: Local,
    place: Form,
    updates: Vec<Update>,
    /// What is computed for them, in a loop of their own; nothing for those that stay.
    needed: Option<FxHashSet<Local>>,
}

/// The body of a loop that adds at several places.
struct Body {
    cells: Vec<Update>,
    rows: Vec<Row>,
}

impl Body {
    fn of(stmt: &Stmt) -> Option<Body> {
        let Stmt::For { index, len, independent: false, sums, body, .. } = stmt else { return None };
        if matches!(len, Operand::Int(n) if *n < SHORT) {
            return None;
        }
        let facts = Facts::of(body);
        let updates = updates(body, sums, &facts)?;
        let inside = Inside::of(body, *index, &facts);
        let (mut cells, mut rows): (Vec<Update>, Vec<Row>) = (Vec::new(), Vec::new());
        for update in &updates {
            match inside.slope(update.index, DEEP)? {
                0 => cells.push(*update),
                1 => inside.add_to_row(*update, &mut rows)?,
                _ => return None,
            }
        }
        let mut begun: FxHashSet<Local> = FxHashSet::default();
        for row in &mut rows {
            if !begun.insert(row.array) {
                row.needed = Some(inside.needed(&row.updates)?);
            }
        }
        let moved = rows.iter().filter(|row| row.needed.is_some()).count();
        let is_beside = |cell: &Update| begun.contains(&cell.array);
        // What else is stored may lie where something was that is read again.
        let its = |place: usize| updates.iter().any(|update| update.store == place);
        let others = |(place, stmt): (usize, &Stmt)| matches!(stmt, Stmt::Store { .. }) && !its(place);
        let alone = moved == 0 || !body.iter().enumerate().any(others);
        // Rows alone go strip by strip.
        let adds_up = sums.iter().any(|sum| matches!(sum, Sum::Word(..)));
        let gains = alone && (moved > 0 && adds_up || cells.iter().any(is_beside));
        (gains && moved < MANY && stores_last(body, &updates)).then_some(Body { cells, rows })
    }

    /// The loops.
    fn split(&self, func: &mut Func, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let Stmt::For { len, sums, body, .. } = stmt else { return };
        let totals: Vec<Local> = self.cells.iter().map(|_| func.fresh(Word::Real)).collect();
        let zero = Value::Copy(Operand::Real(0.0));
        made.extend(totals.iter().map(|total| Stmt::Set(*total, zero.clone())));
        made.push(with_body(stmt, self.rest(body, &totals), sums.clone()));
        for row in &self.rows {
            if let Some(needed) = &row.needed {
                made.push(row.own(func, stmt, needed));
            }
        }
        if !totals.is_empty() {
            add_totals(func, *len, self.cells.iter().copied().zip(totals), made);
        }
    }

    /// The body of the first loop.
    fn rest(&self, body: &[Stmt], totals: &[Local]) -> Vec<Stmt> {
        let moved: Vec<&Update> =
            self.rows.iter().filter(|row| row.needed.is_some()).flat_map(|row| &row.updates).collect();
        let (mut made, mut stores) = (Vec::new(), Vec::new());
        for (place, stmt) in body.iter().enumerate() {
            let of = |update: &Update| [update.load, update.sum, update.store].contains(&place);
            if let Some((cell, total)) = self.cells.iter().zip(totals).find(|(cell, _)| of(cell)) {
                if cell.sum == place {
                    let sum = vec![Operand::Local(*total), cell.more];
                    made.push(Stmt::Set(*total, Value::Real(RealOp::Add, sum)));
                }
            } else if moved.iter().any(|update| of(update)) {
                // It is done in a loop of its own.
            } else if let Some((before, update)) = self.stays(place) {
                let next = before.filter(|_| update.load == place);
                match (stmt, next.and_then(|before| body.get(before.sum))) {
                    // What the update before has given.
                    (Stmt::Set(old, _), Some(Stmt::Set(sum, _))) => {
                        made.push(Stmt::Set(*old, Value::Copy(Operand::Local(*sum))));
                    }
                    (Stmt::Store { .. }, _) => {
                        if self.is_last(update) {
                            stores.push(stmt.clone());
                        }
                    }
                    _ => made.push(stmt.clone()),
                }
            } else if matches!(stmt, Stmt::Store { .. }) {
                stores.push(stmt.clone());
            } else {
                made.push(stmt.clone());
            }
        }
        made.append(&mut stores);
        made
    }

    /// The update of a row that stays to which a statement belongs, and the one before it at the same place.
    fn stays(&self, place: usize) -> Option<(Option<&Update>, &Update)> {
        let rows = self.rows.iter().filter(|row| row.needed.is_none());
        rows.flat_map(|row| {
            let before = std::iter::once(None).chain(row.updates.iter().map(Some));
            before.zip(&row.updates)
        })
        .find(|(_, update)| [update.load, update.sum, update.store].contains(&place))
    }

    fn is_last(&self, update: &Update) -> bool {
        self.rows.iter().any(|row| row.updates.last().is_some_and(|last| last.store == update.store))
    }
}

impl Row {
    /// The loop of these updates alone, with variables of its own.
    fn own(&self, func: &mut Func, stmt: &Stmt, needed: &FxHashSet<Local>) -> Stmt {
        let Stmt::For { index, sums, body, .. } = stmt else { return stmt.clone() };
        let mut own = Vec::new();
        for (place, stmt) in body.iter().enumerate() {
            let its = |update: &Update| [update.load, update.sum, update.store].contains(&place);
            let wanted = matches!(stmt, Stmt::Set(local, _) if needed.contains(local));
            if wanted || self.updates.iter().any(its) {
                own.push(stmt.clone());
            }
        }
        let mut names: FxHashMap<Local, Local> = FxHashMap::default();
        let set =
            own.iter().filter_map(|stmt| if let Stmt::Set(local, _) = stmt { Some(*local) } else { None });
        for local in std::iter::once(*index).chain(set) {
            names.insert(local, func.another(local));
        }
        let sum = sums.iter().filter(|sum| match sum {
            Sum::Array { first, .. } | Sum::Near(first) => *first == self.array,
            Sum::Word(..) => false,
        });
        let alone = with_body(stmt, own, sum.cloned().collect());
        let made =
            renamed(std::slice::from_ref(&alone), &mut |local| names.get(&local).copied().unwrap_or(local));
        made.into_iter().next().unwrap_or(alone)
    }
}

/// A loop with another body.
fn with_body(stmt: &Stmt, body: Vec<Stmt>, sums: Vec<Sum>) -> Stmt {
    match stmt {
        Stmt::For { index, len, backward, independent, .. } => {
            Stmt::For { index: *index, len: *len, backward: *backward, independent: *independent, sums, body }
        }
        other => other.clone(),
    }
}

/// What a body assigns once.
struct Inside<'s> {
    index: Local,
    values: FxHashMap<Local, &'s Value>,
    /// Those that are sums of integers.
    sums: FxHashMap<Local, Value>,
    /// What it assigns.
    facts: &'s Facts,
}

impl<'s> Inside<'s> {
    fn of(body: &'s [Stmt], index: Local, facts: &'s Facts) -> Inside<'s> {
        let set = body.iter().filter_map(|stmt| match stmt {
            Stmt::Set(local, value) if facts.assigned.get(local) == Some(&1) => Some((*local, value)),
            _ => None,
        });
        let values: FxHashMap<Local, &Value> = set.collect();
        let is_sum = |value: &&Value| matches!(value, Value::Copy(_) | Value::Int(Int::Add | Int::Sub, ..));
        let sums = values.iter().filter(|(_, value)| is_sum(value));
        let sums = sums.map(|(local, value)| (*local, Value::clone(value))).collect();
        Inside { index, values, sums, facts }
    }

    /// By how much an index grows from one iteration to the next.
    fn slope(&self, operand: Operand, depth: usize) -> Option<i64> {
        let local = match operand {
            Operand::Local(local) => local,
            Operand::Int(_) => return Some(0),
            Operand::Real(_) | Operand::Text(_) => return None,
        };
        if local == self.index {
            return Some(1);
        }
        if !self.facts.assigned.contains_key(&local) {
            return Some(0);
        }
        let depth = depth.checked_sub(1)?;
        match self.values.get(&local)? {
            Value::Copy(of) => self.slope(*of, depth),
            Value::Int(op, a, b) => match (op, self.slope(*a, depth)?, self.slope(*b, depth)?) {
                (Int::Add, a, b) => a.checked_add(b),
                (Int::Sub, a, b) => a.checked_sub(b),
                (_, 0, 0) => Some(0),
                (..) => None,
            },
            _ => None,
        }
    }

    /// Puts an update to those at the same place. Places that are a number apart are neighbors, which have loops of another kind.
    fn add_to_row(&self, update: Update, rows: &mut Vec<Row>) -> Option<()> {
        let (array, place) = (update.array, Form::of(&self.sums, update.index, DEEP));
        let near = |row: &&mut Row| row.array == array && row.place.terms == place.terms;
        if let Some(row) = rows.iter_mut().find(near) {
            return (row.place == place).then(|| row.updates.push(update));
        }
        rows.push(Row { array, place, updates: vec![update], needed: None });
        Some(())
    }

    /// What is computed in an iteration for updates, if that can be done again at little cost.
    fn needed(&self, updates: &[Update]) -> Option<FxHashSet<Local>> {
        let mut needed = FxHashSet::default();
        let mut todo: Vec<Operand> = updates.iter().flat_map(|update| [update.more, update.index]).collect();
        while let Some(operand) = todo.pop() {
            let Operand::Local(local) = operand else { continue };
            if local == self.index || !self.facts.assigned.contains_key(&local) || !needed.insert(local) {
                continue;
            }
            let value = self.values.get(&local).filter(|value| is_cheap(value))?;
            todo.extend(operands(&Stmt::Set(local, Value::clone(value))));
        }
        (needed.len() <= MOST).then_some(needed)
    }
}

/// Whether something can be computed again, and costs little.
fn is_cheap(value: &Value) -> bool {
    match value {
        Value::Real(op, _) => op.cost() <= 1 && !matches!(op, RealOp::Div | RealOp::DivZero),
        Value::Copy(_)
        | Value::Int(Int::Add | Int::Sub | Int::Mul, ..)
        | Value::CompareReal(..)
        | Value::CompareInt(..)
        | Value::Select(..)
        | Value::IntToReal(_)
        | Value::Load { .. }
        | Value::Address { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
