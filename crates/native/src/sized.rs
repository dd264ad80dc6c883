//! Sizes that are checked to be some number are that number from there on; sizes of rows that are checked if there are rows are, in loops through
//! the rows.
//!
//! ```text
//! c = n > 0  if c { d = 3 != m  if d { fail } }              c = n > 0  if c { d = 3 != m  if d { fail } }
//! for i in 0..n {                                            for i in 0..n {
//!     j = i * m  p = &x[j]  … out_of_range(2, m) …  becomes      j = i * 3  p = &x[j]  …
//! }                                                          }
//! ```
//!
//! So rows of known size lie at known distances, and their elements are there.

#![expect(clippy::wildcard_enum_match_arm, reason = "of what is not listed nothing is known")]

use crate::loops::walk::{Uses, each_operand, every, is_failure, parts_mut};
use crate::loops::{Func, Int, Local, Operand, Program, Stmt, Value};
use rustc_hash::FxHashMap;
use wengert_ir::op::Compare;

/// Does that in all functions of a program.
pub(crate) fn use_numbers(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut checks = false;
        every(&func.body, &mut |stmt| checks |= matches!(stmt, Stmt::If { then, .. } if is_failure(then)));
        if checks {
            let mut body = std::mem::take(&mut func.body);
            Sized::of(func, &body).block(&mut body);
            func.body = body;
        }
    }
}

/// What is known at a place. Only of what is assigned once.
struct Sized {
    sets: FxHashMap<Local, usize>,
    known: FxHashMap<Local, i64>,
    /// What was known before, to be known again after a block.
    before: Vec<(Local, Option<i64>)>,
    /// Conditions: that something is not 0, and that something is not some number.
    some: FxHashMap<Local, Local>,
    differ: FxHashMap<Local, (Local, i64)>,
    /// What is some number if something is not 0: that, what, and the number. It was checked in this block or in one around it.
    implied: Vec<(Local, Local, i64)>,
}

impl Sized {
    fn of(func: &Func, body: &[Stmt]) -> Sized {
        Sized {
            sets: Uses::of(func, body).sets,
            known: FxHashMap::default(),
            before: Vec::new(),
            some: FxHashMap::default(),
            differ: FxHashMap::default(),
            implied: Vec::new(),
        }
    }

    fn is_fixed(&self, local: Local) -> bool {
        self.sets.get(&local) == Some(&1)
    }

    fn learn(&mut self, local: Local, number: i64) {
        self.before.push((local, self.known.insert(local, number)));
    }

    fn forget(&mut self, mark: usize) {
        for (local, number) in self.before.drain(mark..).rev() {
            match number {
                Some(number) => self.known.insert(local, number),
                None => self.known.remove(&local),
            };
        }
    }

    /// There is something of this: what follows from that.
    fn assume(&mut self, count: Local) {
        let mut todo = vec![count];
        while let Some(count) = todo.pop() {
            for at in 0..self.implied.len() {
                let Some((of, local, number)) = self.implied.get(at).copied() else { break };
                if of == count && !self.known.contains_key(&local) {
                    self.learn(local, number);
                    todo.extend((number > 0).then_some(local));
                }
            }
        }
    }

    fn block(&mut self, stmts: &mut Vec<Stmt>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let (mark, implied) = (self.before.len(), self.implied.len());
            self.inside(stmts);
            self.forget(mark);
            self.implied.truncate(implied);
        });
    }

    /// A block, of which what is known at its end is not forgotten.
    fn inside(&mut self, stmts: &mut Vec<Stmt>) {
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in std::mem::take(stmts) {
            each_operand(&mut stmt, &mut |operand| {
                if let Operand::Local(local) = operand
                    && let Some(number) = self.known.get(local)
                {
                    *operand = Operand::Int(*number);
                }
            });
            match &mut stmt {
                Stmt::Set(local, value) => self.note(*local, value),
                // What is known to hold, or not to, is not asked.
                Stmt::If { cond: Operand::Int(cond), then, otherwise } => {
                    let side = if *cond == 0 { otherwise } else { then };
                    self.inside(side);
                    out.append(side);
                    continue;
                }
                Stmt::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
                Stmt::For { len, body, .. } => {
                    let mark = self.before.len();
                    if let Operand::Local(len) = len {
                        self.assume(*len);
                    }
                    self.block(body);
                    self.forget(mark);
                }
                stmt => parts_mut(stmt).into_iter().for_each(|part| self.block(part)),
            }
            out.push(stmt);
        }
        *stmts = out;
    }

    fn branch(&mut self, cond: Operand, then: &mut Vec<Stmt>, otherwise: &mut Vec<Stmt>) {
        let Operand::Local(cond) = cond else { return };
        if let (Some((local, number)), true, []) =
            (self.differ.get(&cond).copied(), is_failure(then), otherwise.as_slice())
        {
            self.block(then);
            self.learn(local, number);
            return;
        }
        let (mark, implied) = (self.before.len(), self.implied.len());
        let count = self.some.get(&cond).copied();
        count.into_iter().for_each(|count| self.assume(count));
        let assumed = self.before.len();
        self.inside(then);
        let told = self.before.iter().skip(assumed);
        let told: Vec<(Local, i64)> =
            told.filter_map(|(local, _)| Some((*local, *self.known.get(local)?))).collect();
        self.forget(mark);
        self.implied.truncate(implied);
        self.block(otherwise);
        // What was checked where there is something holds wherever there is.
        self.implied.extend(
            count
                .into_iter()
                .flat_map(|count| told.iter().map(move |(local, number)| (count, *local, *number))),
        );
    }

    /// What an assignment tells.
    fn note(&mut self, local: Local, value: &mut Value) {
        if !self.is_fixed(local) {
            return;
        }
        if let Some(number) = folded(value) {
            *value = Value::Copy(Operand::Int(number));
            self.learn(local, number);
            return;
        }
        match value {
            Value::CompareInt(Compare::Gt, Operand::Local(count), Operand::Int(0))
                if self.is_fixed(*count) =>
            {
                self.some.insert(local, *count);
            }
            Value::CompareInt(Compare::Ne, Operand::Local(size), Operand::Int(number))
            | Value::CompareInt(Compare::Ne, Operand::Int(number), Operand::Local(size))
                if self.is_fixed(*size) =>
            {
                self.differ.insert(local, (*size, *number));
            }
            _ => {}
        }
    }
}

/// What comes of numbers.
fn folded(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Copy(Operand::Int(number)) => *number,
        Value::Int(op, Operand::Int(a), Operand::Int(b)) => match op {
            Int::Add => a.wrapping_add(*b),
            Int::Sub => a.wrapping_sub(*b),
            Int::Mul => a.wrapping_mul(*b),
            Int::And => a & b,
            Int::Or => a | b,
            Int::Min => *a.min(b),
            Int::Max => *a.max(b),
            _ => return None,
        },
        Value::CompareInt(compare, Operand::Int(a), Operand::Int(b)) => i64::from(compare.holds(a, b)),
        Value::OutOfRange(Operand::Int(index), Operand::Int(size)) => i64::from(!(0..*size).contains(index)),
        _ => return None,
    };
    Some(number)
}

#[cfg(test)]
mod tests;
