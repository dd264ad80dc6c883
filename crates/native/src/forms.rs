//! Integers as sums of variables and a number.

use crate::loops::walk::{every, writes};
use crate::loops::{Int, Local, Operand, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Longer chains of sums are not looked at.
pub(crate) const DEEP: usize = 8;

/// A sum of variables and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form<V = Local> {
    pub(crate) terms: BTreeMap<V, i64>,
    pub(crate) places: i64,
}

impl<V> Default for Form<V> {
    fn default() -> Form<V> {
        Form { terms: BTreeMap::new(), places: 0 }
    }
}

impl<V: Copy + Ord> Form<V> {
    /// Adds another one so many times.
    pub(crate) fn add(&mut self, other: &Form<V>, times: i64) {
        for (var, n) in &other.terms {
            let sum = self.terms.entry(*var).or_default();
            *sum = sum.wrapping_add(n.wrapping_mul(times));
        }
        self.terms.retain(|_, n| *n != 0);
        self.places = self.places.wrapping_add(other.places.wrapping_mul(times));
    }
}

impl Form {
    /// Of what `values` says, sums and differences of which it is one, and numbers of times something.
    pub(crate) fn of(values: &FxHashMap<Local, Value>, operand: Operand, depth: usize) -> Form {
        let local = match operand {
            Operand::Int(places) => return Form { terms: BTreeMap::new(), places },
            Operand::Local(local) => local,
            Operand::Real(_) | Operand::Text(_) => return Form::default(),
        };
        let value = values.get(&local).filter(|_| depth > 0);
        if let Some(Value::Copy(x)) = value {
            return Form::of(values, *x, depth - 1);
        }
        if let Some(Value::Int(op @ (Int::Add | Int::Sub), a, b)) = value {
            let mut sum = Form::of(values, *a, depth - 1);
            sum.add(&Form::of(values, *b, depth - 1), if *op == Int::Add { 1 } else { -1 });
            return sum;
        }
        if let Some(Value::Int(Int::Mul, a, b)) = value {
            let (times, of) = match (a, b) {
                (Operand::Int(times), of) | (of, Operand::Int(times)) => (*times, *of),
                (_, _) => return Form { terms: BTreeMap::from_iter([(local, 1)]), places: 0 },
            };
            let mut sum = Form::default();
            sum.add(&Form::of(values, of, depth - 1), times);
            return sum;
        }
        Form { terms: BTreeMap::from_iter([(local, 1)]), places: 0 }
    }

    /// Writes the sum down, one operation after the other, without what is at a variable.
    pub(crate) fn written(
        &self,
        without: Option<Local>,
        write: &mut dyn FnMut(Int, Operand, Operand) -> Operand,
    ) -> Operand {
        let mut sum = Operand::Int(self.places);
        for (local, times) in self.terms.iter().filter(|(local, _)| Some(**local) != without) {
            let local = Operand::Local(*local);
            sum = match (sum, *times) {
                (Operand::Int(0), 1) => local,
                (sum, 1) => write(Int::Add, sum, local),
                (sum, -1) => write(Int::Sub, sum, local),
                (sum, times) => {
                    let term = write(Int::Mul, local, Operand::Int(times));
                    if sum == Operand::Int(0) { term } else { write(Int::Add, sum, term) }
                }
            };
        }
        sum
    }
}

/// What a body assigns once, but for what its inner loops do.
pub(crate) fn once(body: &[Stmt]) -> FxHashMap<Local, Value> {
    let (mut once, mut twice) = (FxHashSet::default(), FxHashSet::default());
    every(body, &mut |stmt| twice.extend(writes(stmt).into_iter().filter(|local| !once.insert(*local))));
    let mut values = FxHashMap::default();
    collect(body, &mut values);
    values.retain(|local, _| !twice.contains(local));
    values
}

fn collect(stmts: &[Stmt], values: &mut FxHashMap<Local, Value>) {
    for stmt in stmts {
        if let Stmt::Set(local, value) = stmt {
            values.insert(*local, value.clone());
        } else if let Stmt::If { then, otherwise, .. } = stmt {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                collect(then, values);
                collect(otherwise, values);
            });
        }
    }
}
