//! Slopes at kinks: one of two numbers, or none where what is compared is none.
//!
//! ```text
//! c ? 1.0 : d ? 0.0 : NAN          becomes          unordered(a, b) ? NAN : c ? 1.0 : 0.0          where c is a <= b, d is b < a
//! ```
//!
//! Of one condition that decides another GCC makes branches, moves into them what is read for them alone, and then makes no vectors. Where
//! iterations wait for each other, so that there are no vectors in any case, it is one number of a vector that is chosen by a mask: a branch that goes
//! the other way costs more than the rest of the iteration.

use super::Body;
use crate::text::Expr;
use wengert_ir::op::Compare;
use wengert_native::loops::{Local, Operand, Value};

impl Body<'_, '_> {
    /// Such a choice, as it is written in loops.
    pub(super) fn slope(
        &mut self,
        local: Local,
        cond: Operand,
        [then, otherwise]: [Operand; 2],
    ) -> Option<Expr> {
        let (then, below) = (number(then)?, *self.values.get(&otherwise.local()?)?);
        let Value::Select(other, Operand::Real(below), Operand::Real(none)) = below else { return None };
        let [(low, high, strict), (high2, low2, strict2)] = [self.order(cond)?, self.order(*other)?];
        let decides = low == low2 && high == high2 && strict != strict2;
        if !decides || !none.is_nan() || below.is_nan() || !self.unit.in_loop {
            return None;
        }
        let below = Operand::Real(*below);
        // It waits for nobody else, if it waits.
        self.copied(local, otherwise);
        let (low, high) = (self.number(low), self.number(high));
        let cond = self.integer(cond);
        let (then, below, none) =
            (self.number(then), self.number(below), self.number(Operand::Real(f64::NAN)));
        if !self.unit.in_vectors {
            let name = if strict { "wg_slope_below" } else { "wg_slope_at_most" };
            return Some(Expr::call(name, &[low, high, then, below]));
        }
        let one = Expr::conditional(&cond, &then, &below);
        Some(Expr::conditional(&Expr::call("__builtin_isunordered", &[low, high]), &none, &one))
    }

    /// What is below what where a condition holds, and whether they are different.
    fn order(&self, cond: Operand) -> Option<(Operand, Operand, bool)> {
        let Value::CompareReal(compare, a, b) = *self.values.get(&cond.local()?)? else { return None };
        match compare {
            Compare::Lt => Some((*a, *b, true)),
            Compare::Le => Some((*a, *b, false)),
            Compare::Gt => Some((*b, *a, true)),
            Compare::Ge => Some((*b, *a, false)),
            Compare::Eq | Compare::Ne => None,
        }
    }
}

/// A constant that is a number.
fn number(operand: Operand) -> Option<Operand> {
    matches!(operand, Operand::Real(x) if !x.is_nan()).then_some(operand)
}
