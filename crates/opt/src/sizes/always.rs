//! What every iteration of a loop requires holds in every iteration of a later loop that has as many: if that has any, the first had, too.
//!
//! ```text
//! ys = each i < n { require a == b … }
//! zs = each j < n { … }                     here a is b
//! ```
//!
//! And where a loop goes through as many as an array has rows, the array has rows: the size of them is that which all have.

use super::{Sizes, is_positive};
use crate::linear::Linear;
use rustc_hash::FxHashSet;
use wengert_ir::op::{Loop, Op};
use wengert_ir::{Atom, Var};

/// So many of the sizes that were asked for before are looked at.
const NEAR: usize = 16;

impl Sizes<'_> {
    /// Learns what holds in a loop of this length, as loops before it have shown; gives what is to be unlearned after it.
    pub(super) fn learn_always(&mut self, len: Option<&Linear>) -> usize {
        let mark = self.learned.len();
        let Some(len) = len else { return mark };
        let known: Vec<(Linear, Linear)> = self
            .always
            .iter()
            .filter(|(other, ..)| other == len)
            .map(|(_, left, right)| (self.settle(left.clone()), self.settle(right.clone())))
            .collect();
        known.into_iter().for_each(|(left, right)| self.learn(&left, &right));
        // What is known of one axis may tell that there are rows along another.
        let near = self.of_rows.len().saturating_sub(NEAR);
        for size in self.of_rows.iter().skip(near).copied().collect::<Vec<Var>>() {
            if let Some(is) = self.of_rows(size, len) {
                self.learn(&Linear::of(size), &is);
            }
        }
        mark
    }

    /// What the size of rows is in a loop of this length, if it goes through as many as the array has.
    fn of_rows(&self, size: Var, len: &Linear) -> Option<Linear> {
        let (array, axis) = self.further.get(&size)?;
        let shape = self.shape(&Atom::Var(*array));
        let around = shape.get(1..*axis)?;
        let has_rows = shape.first()?.as_ref() == Some(len) && around.iter().all(is_positive);
        let is = shape.get(*axis)?.clone()?;
        (self.scope.contains(&size) && has_rows && self.settle(Linear::of(size)) != is).then_some(is)
    }

    /// Forgets what was learned since.
    pub(super) fn unlearn(&mut self, mark: usize) {
        for var in self.learned.drain(mark..) {
            self.equal.remove(&var);
        }
    }

    /// Notes what a loop that has ended has required in every iteration.
    pub(super) fn note_always(&mut self, parts: &Loop, len: Option<Linear>) {
        let Some(len) = len else { return };
        let made: FxHashSet<Var> =
            parts.body.stmts.iter().flat_map(|stmt| stmt.outs.iter().copied()).collect();
        let is_outside = |atom: &Atom| {
            atom.var().is_none_or(|var| !made.contains(&var) && !parts.body.params.contains(&var))
        };
        for stmt in &parts.body.stmts {
            if let Op::Require { what: _, left, right } = &stmt.op
                && is_outside(left)
                && is_outside(right)
                && let (Some(left), Some(right)) = (self.value(left), self.value(right))
            {
                self.always.push((len.clone(), left, right));
            }
        }
    }
}
