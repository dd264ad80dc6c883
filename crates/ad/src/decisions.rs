//! Cases of a rule that only running decides. Where code meets one, all of it is written once more in both branches, with the case decided.

use crate::{Code, scalar};
use wengert_ir::op::{Atom, Compare};
use wengert_prim::Test;

/// A comparison.
type Question = (Compare, Atom, Atom);

/// A case that is not decided: its condition.
pub(crate) struct Undecided(pub(crate) Atom);

/// How cases are decided in what is written at the moment.
#[derive(Default)]
pub(crate) struct Decisions {
    /// How those were decided that are met one after the other.
    decided: Vec<bool>,
    /// Those that were met so far.
    asked: Vec<(Question, bool)>,
}

impl Decisions {
    /// Before all is written once more.
    pub(crate) fn begin(&mut self) {
        self.asked.clear();
    }

    pub(crate) fn count(&self) -> usize {
        self.decided.len()
    }

    /// The case that is met next is decided so.
    pub(crate) fn push(&mut self, decision: bool) {
        self.decided.push(decision);
    }

    pub(crate) fn pop(&mut self) {
        self.decided.pop();
    }

    /// Whether a case applies, with these operands and this result. What is asked once more has the answer that it had.
    pub(crate) fn decide(
        &mut self,
        code: &mut Code<'_>,
        test: &Test,
        args: &[Atom],
        out: &Atom,
    ) -> Result<bool, Undecided> {
        let (op, holds, a, b): (_, fn(&f64, &f64) -> bool, _, _) = match test {
            Test::Eq(a, b) => (Compare::Eq, f64::eq, a, b),
            Test::Lt(a, b) => (Compare::Lt, f64::lt, a, b),
            Test::Le(a, b) => (Compare::Le, f64::le, a, b),
            Test::Or(a, b) => {
                return Ok(self.decide(code, a, args, out)? || self.decide(code, b, args, out)?);
            }
        };
        let [a, b] = [a, b].map(|side| scalar::value(code, side, args, out));
        if let (Atom::Real(a), Atom::Real(b)) = (&a, &b) {
            return Ok(holds(a, b));
        }
        let question = (op, a, b);
        if let Some((_, answer)) = self.asked.iter().find(|(asked, _)| *asked == question) {
            return Ok(*answer);
        }
        match self.decided.get(self.asked.len()) {
            Some(answer) => {
                self.asked.push((question, *answer));
                Ok(*answer)
            }
            None => Err(Undecided(code.b.compare(op, question.1, question.2))),
        }
    }
}
