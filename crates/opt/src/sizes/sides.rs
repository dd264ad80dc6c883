//! What is required of the rows of an array on the side of a branch where it has rows holds after the branch, too: without rows, the size of
//! them is 0, as their number is.
//!
//! ```text
//! n = length(x)
//! if n > 0 { m = length(x, 1)  require n == m }                      here x has n columns
//! ```
//!
//! So a square matrix is known to be square where it is not known whether it has rows.

use super::Sizes;
use crate::linear::Linear;
use crate::said;
use wengert_ir::op::{Compare, Op};
use wengert_ir::{Atom, Block, Var};

impl Sizes<'_> {
    /// The integers that are 0 wherever a condition does not hold, or, if it does not hold on this side, wherever it does.
    pub(super) fn zero_otherwise(&self, cond: &Atom, holds: bool) -> Vec<Linear> {
        let is = |form: &Linear, n| form.atom() == Some(Atom::Int(n));
        let none = |(compare, a, b): (Compare, Atom, Atom)| {
            let (a, b) = (self.value(&a)?, self.value(&b)?);
            let (form, fits) = match compare {
                Compare::Eq if is(&a, 0) => (b, true),
                Compare::Eq | Compare::Le => (a, is(&b, 0)),
                Compare::Ge => (b, is(&a, 0)),
                Compare::Lt => (a, is(&b, 1)),
                Compare::Gt => (b, is(&a, 1)),
                Compare::Ne => return None,
            };
            (fits && self.is_natural(&form)).then_some(form)
        };
        said::comparisons(cond, !holds, &self.conditions).into_iter().filter_map(none).collect()
    }

    /// At the end of a side: arrays that are there outside, too, and have as many columns as rows if they have rows. They have none on the
    /// other side, for each of `zero` is 0 there.
    pub(super) fn square(&self, block: &Block, zero: &[Linear]) -> Vec<(Var, Linear)> {
        let mut found = Vec::new();
        if zero.is_empty() {
            return found;
        }
        let is_inner = |var: Var| block.stmts.iter().any(|stmt| stmt.outs.contains(&var));
        for stmt in &block.stmts {
            let Op::Require { what: _, left, right } = &stmt.op else { continue };
            for side in [left, right] {
                let Some(array) = side.var().and_then(|var| self.further.get(&self.named(var))) else {
                    continue;
                };
                let shape = self.shape(&Atom::Var(*array));
                if let [Some(rows), Some(columns), ..] = shape.as_slice()
                    && rows == columns
                    && zero.contains(rows)
                    && !is_inner(*array)
                    && !rows.vars().any(is_inner)
                {
                    found.push((*array, rows.clone()));
                }
            }
        }
        found
    }

    /// What a size was called when it was asked for.
    fn named(&self, size: Var) -> Var {
        self.values.get(&size).and_then(Linear::atom).and_then(|atom| atom.var()).unwrap_or(size)
    }

    /// After the branch.
    pub(super) fn learn_square(&mut self, found: Vec<(Var, Linear)>) {
        for (array, rows) in found {
            let mut shape = self.shape(&Atom::Var(array));
            let known = shape.get(1).cloned().flatten();
            match known {
                Some(known) if self.is_also_zero(&known, &shape, 1) => self.learn(&known, &rows),
                Some(_) => {}
                None => {
                    shape.iter_mut().skip(1).take(1).for_each(|size| *size = Some(rows.clone()));
                    self.note(array, shape);
                }
            }
        }
    }
}
