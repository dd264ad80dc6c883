//! Integers that are made of others: sums of them, and what is known of quotients.
//!
//! ```text
//! h = n / 2                          2 h is at most n
//! each i < h { … xs[2 i + 1] … }     2 i + 1 is at most 2 h - 1, which is less than n
//! ```

use super::Sizes;
use crate::linear::Linear;
use rustc_hash::FxHashMap;
use wengert_ir::op::IntOp;
use wengert_ir::{Atom, MOST_ELEMENTS, Var};

impl Sizes<'_> {
    /// Notes what an integer is that is made of others.
    pub(super) fn integer(&mut self, op: IntOp, args: &[Atom], out: Var) {
        let values: Option<Vec<Linear>> = args.iter().map(|arg| self.value(arg)).collect();
        let Some(values) = values else { return };
        let value = match (op, values.as_slice()) {
            (IntOp::Add, [x, y]) => Some(x.plus(y)),
            (IntOp::Sub, [x, y]) => Some(x.minus(y)),
            (IntOp::Neg, [x]) => Some(x.times(-1)),
            (IntOp::Mul, [x, y]) => match (x.atom(), y.atom()) {
                (Some(Atom::Int(n)), _) => Some(y.times(n)),
                (_, Some(Atom::Int(n))) => Some(x.times(n)),
                (_, _) => None,
            },
            (IntOp::Max, [x, y]) => match (x.atom(), y.atom()) {
                (Some(Atom::Int(n)), _) if n <= 0 && self.is_natural(y) => Some(y.clone()),
                (_, Some(Atom::Int(n))) if n <= 0 && self.is_natural(x) => Some(x.clone()),
                (Some(Atom::Int(0)), _) => self.positive_part(y, out),
                (_, Some(Atom::Int(0))) => self.positive_part(x, out),
                (_, _) => None,
            },
            // Sizes, and what is counted up to them, are below that, and so are small sums of them.
            (IntOp::Min, [x, y]) => match (x.atom(), y.atom()) {
                (_, Some(Atom::Int(n))) if n >= MOST_ELEMENTS && self.is_natural(x) => Some(x.clone()),
                (_, _) => None,
            },
            (IntOp::Div | IntOp::DivFloor | IntOp::Rem | IntOp::ModFloor, [x, y]) => {
                if matches!(op, IntOp::Rem | IntOp::ModFloor) {
                    self.rest(op, x, y, out);
                }
                if let Some(Atom::Int(by)) = y.atom()
                    && by > 0
                    && self.is_natural(x)
                {
                    self.natural.insert(out);
                    if matches!(op, IntOp::Div | IntOp::DivFloor) {
                        self.quotients.insert(out, (x.clone(), by));
                    }
                }
                None
            }
            (_, _) => None,
        };
        self.values.extend(value.filter(Linear::is_small).map(|value| (out, value)));
    }

    /// What is left of a division is less than what it is divided by. By how often a loop around goes, it is an index of what is so long.
    fn rest(&mut self, op: IntOp, x: &Linear, by: &Linear, out: Var) {
        let positive = match by.atom() {
            Some(Atom::Int(by)) => 0 < by && by <= MOST_ELEMENTS,
            _ => self.is_count_around(by),
        };
        // One less than that is not negative either: `(i + n - 1) % n`.
        let one_less = by.minus(&Linear::constant(1));
        let natural = || self.is_natural(x) || self.is_natural(&self.settle(x.minus(&one_less)));
        if positive && (op == IntOp::ModFloor || natural()) {
            self.natural.insert(out);
            self.limits.insert(out, by.clone());
        }
    }

    /// The larger of 0 and a difference of sizes counts as a size itself.
    fn positive_part(&mut self, form: &Linear, out: Var) -> Option<Linear> {
        if form.is_difference_of(&|var| self.natural.contains(&var)) {
            self.natural.insert(out);
        }
        None
    }

    /// The least that a sum can be, as far as quotients are taken from it.
    pub(super) fn without_quotients(&self, form: &Linear) -> Linear {
        without_quotients(form, &self.quotients)
    }
}

/// The least that a sum can be, as far as quotients are taken from it, which are not negative: so often as they go into what they are of.
pub(crate) fn without_quotients(form: &Linear, quotients: &FxHashMap<Var, (Linear, i64)>) -> Linear {
    let (terms, _) = form.parts();
    let taken = terms.into_iter().filter(|(_, times)| *times < 0);
    taken.fold(form.clone(), |least, (var, times)| match quotients.get(&var) {
        Some((whole, by)) => {
            let often = times / by - i64::from(times % by != 0);
            least.minus(&Linear::of(var).times(times)).plus(&whole.times(often))
        }
        None => least,
    })
}
