//! What every iteration of a loop requires holds in every iteration of a later loop that has as many: if that has any, the first had, too.
//!
//! ```text
//! ys = each i < n { require a == b … }
//! zs = each j < n { … }                     here a is b
//! ```
//!
//! And where a loop goes through as many as an array has rows, the array has rows: the size of them is that which all have.

use super::Sizes;
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
        for (left, right) in known.into_iter().chain(self.of_rows(len)) {
            self.learn(&left, &right);
        }
        mark
    }

    /// Sizes of the rows of arrays that have so many rows, and what they are if there are any.
    fn of_rows(&self, len: &Linear) -> Vec<(Linear, Linear)> {
        let size = |(out, array): &(Var, Var)| {
            let shape = self.shape(&Atom::Var(*array));
            let [Some(rows), Some(size), ..] = shape.as_slice() else { return None };
            let out_size = self.settle(Linear::of(*out));
            (self.scope.contains(out) && rows == len && out_size != *size).then(|| (out_size, size.clone()))
        };
        self.of_rows.iter().rev().take(NEAR).filter_map(size).collect()
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
