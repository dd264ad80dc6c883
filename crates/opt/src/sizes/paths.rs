//! What conditions say of integers on the sides of branches: in `if j < n { … xs[j] … }` the element is there.
//!
//! Only comparisons of small sums of sizes and indices count: these are what they look like, for none is too large for an integer.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed says nothing of integers")]

use super::{NEAR, Sizes};
use crate::linear::Linear;
use crate::said;
use wengert_ir::op::Op;
use wengert_ir::{Atom, Stmt, Ty};

impl Sizes<'_> {
    /// Notes a condition.
    pub(super) fn note_condition(&mut self, stmt: &Stmt) {
        let [out] = stmt.outs.as_slice() else { return };
        match &stmt.op {
            Op::Compare(_, a, _) if self.func.type_of(a) == Ty::INT => {
                self.conditions.insert(*out, stmt.op.clone());
            }
            Op::Not(_) | Op::Select { .. } if self.func.ty(*out) == Ty::BOOL => {
                self.conditions.insert(*out, stmt.op.clone());
            }
            _ => {}
        }
    }

    /// A condition holds here, or it does not.
    pub(super) fn assume(&mut self, cond: &Atom, holds: bool) {
        for (compare, a, b) in said::comparisons(cond, holds, &self.conditions) {
            if let (Some(a), Some(b)) = (self.value(&a), self.value(&b))
                && self.is_moderate(&a)
                && self.is_moderate(&b)
            {
                let known = said::not_negative(compare, &a.minus(&b), |form| self.is_not_negative(form));
                self.at_least_zero.extend(known);
            }
        }
    }

    /// Whether a sum is what it looks like, for it is too large for an integer in no case.
    fn is_moderate(&self, form: &Linear) -> bool {
        form.is_difference_of(&|var| self.natural.contains(&var))
    }

    /// Whether a sum is not negative here.
    pub(super) fn is_not_negative(&self, form: &Linear) -> bool {
        let is_least_natural = |form: &Linear| self.is_sum(form) || self.is_sum(&self.least(form));
        let said = |known: &Linear| is_least_natural(&self.settle(form.minus(known)));
        is_least_natural(form) || self.at_least_zero.iter().rev().take(NEAR).any(said)
    }

    /// The least that a sum can be, as far as there is a limit to the indices that are taken from it.
    pub(super) fn least(&self, form: &Linear) -> Linear {
        let (terms, _) = form.parts();
        let limited = terms.into_iter().filter(|(_, times)| *times < 0);
        let least = limited.fold(form.clone(), |form, (var, _)| match self.limits.get(&var) {
            Some(limit) => form.replace(var, &limit.minus(&Linear::constant(1))),
            None => form,
        });
        let least = self.settle(least);
        if self.quotients.is_empty() { least } else { self.settle(self.without_quotients(&least)) }
    }
}
