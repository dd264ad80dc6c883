//! What conditions say of integers on the sides of branches: in `if j < n { … xs[j] … }` the element is there.
//!
//! Only comparisons of small sums of sizes and indices count: these are what they look like, for none is too large for an integer.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed says nothing of integers")]

use super::Sizes;
use crate::linear::Linear;
use wengert_ir::op::{Compare, Op};
use wengert_ir::{Atom, Stmt, Ty};

/// What a condition says is looked for so deep in it.
const DEEP: usize = 8;
/// So many of what is said are looked at.
const NEAR: usize = 16;

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
        self.assume_in(cond, holds, DEEP);
    }

    fn assume_in(&mut self, cond: &Atom, holds: bool, depth: usize) {
        let Some(op) = cond.var().and_then(|cond| self.conditions.get(&cond)).cloned() else { return };
        let Some(depth) = depth.checked_sub(1) else { return };
        match (op, holds) {
            (Op::Not(x), _) => self.assume_in(&x, !holds, depth),
            (Op::Select { cond, then: Atom::Bool(true), otherwise }, false) => {
                self.assume_in(&cond, false, depth);
                self.assume_in(&otherwise, false, depth);
            }
            (Op::Select { cond, then, otherwise: Atom::Bool(false) }, true) => {
                self.assume_in(&cond, true, depth);
                self.assume_in(&then, true, depth);
            }
            (Op::Select { cond, then: Atom::Bool(false), otherwise }, true) => {
                self.assume_in(&cond, false, depth);
                self.assume_in(&otherwise, true, depth);
            }
            (Op::Compare(compare, a, b), _) => {
                if let (Some(a), Some(b)) = (self.value(&a), self.value(&b))
                    && self.is_moderate(&a)
                    && self.is_moderate(&b)
                {
                    self.assume_compared(if holds { compare } else { compare.opposite() }, &a.minus(&b));
                }
            }
            _ => {}
        }
    }

    /// Whether a sum is what it looks like, for it is too large for an integer in no case.
    fn is_moderate(&self, form: &Linear) -> bool {
        form.is_difference_of(&|var| self.natural.contains(&var))
    }

    /// How a difference compares with zero.
    fn assume_compared(&mut self, compare: Compare, more: &Linear) {
        let (one, less) = (Linear::constant(1), more.times(-1));
        let known = match compare {
            Compare::Lt => less.minus(&one),
            Compare::Le => less,
            Compare::Gt => more.minus(&one),
            Compare::Ge => more.clone(),
            Compare::Eq => {
                self.at_least_zero.push(more.clone());
                less
            }
            Compare::Ne if self.is_not_negative(more) => more.minus(&one),
            Compare::Ne if self.is_not_negative(&less) => less.minus(&one),
            Compare::Ne => return,
        };
        self.at_least_zero.push(known);
    }

    /// Whether a sum is not negative here.
    pub(super) fn is_not_negative(&self, form: &Linear) -> bool {
        let is_least_natural = |form: &Linear| self.is_natural(form) || self.is_natural(&self.least(form));
        let said = |known: &Linear| is_least_natural(&self.settle(form.minus(known)));
        is_least_natural(form) || self.at_least_zero.iter().rev().take(NEAR).any(said)
    }

    /// The least that a sum can be, as far as there is a limit to the indices that are taken from it.
    fn least(&self, form: &Linear) -> Linear {
        let (terms, _) = form.parts();
        let limited = terms.into_iter().filter(|(_, times)| *times < 0);
        let least = limited.fold(form.clone(), |form, (var, _)| match self.limits.get(&var) {
            Some(limit) => form.replace(var, &limit.minus(&Linear::constant(1))),
            None => form,
        });
        self.settle(least)
    }
}
