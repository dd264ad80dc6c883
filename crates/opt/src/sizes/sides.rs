//! What is required of the rows of an array on the side of a branch where it has rows holds after the branch, too: without rows, the size of
//! them is 0, as their number is.
//!
//! ```text
//! n = length(x)
//! if n > 0 { m = length(x, 1)  require n == m }                      here x has n columns
//! ```
//!
//! So a square matrix is known to be square where it is not known whether it has rows, and a matrix to have as many columns as another with
//! as many rows. What is 0 where such an array has no rows, and the size of its rows else, is that size: `select(n == 0, 0, m)` is `m`.

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

    /// What is 0 where a condition holds, or where it does not, and something else otherwise, if that is 0 there, too.
    pub(super) fn also_zero(&self, cond: &Atom, then: &Atom, otherwise: &Atom) -> Option<Linear> {
        let (size, holds) = match (then, otherwise) {
            (Atom::Int(0), size) => (self.value(size)?, false),
            (size, Atom::Int(0)) => (self.value(size)?, true),
            (_, _) => return None,
        };
        let mut zero = self.zero_otherwise(cond, holds).into_iter();
        zero.any(|rows| self.is_also_zero(&size, &vec![Some(rows)], 1)).then_some(size)
    }

    /// At the end of a side: arrays that are there outside, too, of which the size of the rows along an axis is known if there are any. They
    /// have none on the other side, for each of `zero` is 0 there.
    pub(super) fn columns(&self, block: &Block, zero: &[Linear]) -> Vec<Columns> {
        let mut found = Vec::new();
        if zero.is_empty() {
            return found;
        }
        let is_inner = |var: Var| block.stmts.iter().any(|stmt| stmt.outs.contains(&var));
        for stmt in &block.stmts {
            let Op::Require { what: _, left, right } = &stmt.op else { continue };
            for side in [left, right] {
                let Some((array, axis)) = side.var().and_then(|var| self.further.get(&self.named(var)))
                else {
                    continue;
                };
                let shape = self.shape(&Atom::Var(*array));
                let around = Some((*array, axis.saturating_sub(1)));
                let counts_rows = |form: &Linear| {
                    let named =
                        form.atom().and_then(|atom| atom.var()).and_then(|var| self.further.get(&var));
                    named.copied() == around
                };
                if let Some([Some(rows), Some(size)]) = shape.get(axis.saturating_sub(1)..=*axis)
                    && (zero.contains(rows) || zero.iter().any(counts_rows))
                    && !is_inner(*array)
                    && !size.vars().any(is_inner)
                {
                    found.push(Columns { array: *array, axis: *axis, size: size.clone() });
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
    pub(super) fn learn_columns(&mut self, found: Vec<Columns>) {
        for Columns { array, axis, size } in found {
            let mut shape = self.shape(&Atom::Var(array));
            let known = shape.get(axis).cloned().flatten();
            let is_zero = |size: &Linear| self.is_also_zero(size, &shape, axis);
            let named = known.as_ref().and_then(Linear::atom).and_then(|atom| atom.var());
            match (known, named) {
                (Some(known), _) if is_zero(&known) && is_zero(&size) => {
                    self.learn(&known, &size);
                    continue;
                }
                // The size has a name. If there are no rows it is 0, whatever it is if there are.
                (Some(_), Some(named)) if self.further.get(&named) == Some(&(array, axis)) => {
                    self.of_rows.push(named);
                }
                (Some(_), _) => continue,
                (None, _) => {}
            }
            shape.iter_mut().skip(axis).take(1).for_each(|known| *known = Some(size.clone()));
            self.note(array, shape);
        }
    }
}

/// Of which size the rows of an array are along an axis, if it has any.
pub(super) struct Columns {
    array: Var,
    axis: usize,
    size: Linear,
}
