//! Innermost loops whose iterations wait for each other, so that no vectors come of them: a number is handed on, or an element is
//! read that one of the iterations just before has written.
//!
//! ```text
//! for i < n: row[i + 1] = min(row[i] + 1, …)
//! ```
//!
//! In vectors a strong zero is a choice. Where there are none, a branch that is nearly never taken costs less: nothing waits for it,
//! and factors that are zero in every second iteration are not guessed.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed reads and writes no element")]

use super::Body;
use super::control::Run;
use wengert_native::loops::{Local, Operand, Stmt, Value, Word};

/// What is written so many iterations before, or fewer, is waited for: vectors have as many elements at most.
const NEAR: i64 = 8;
/// Longer sums of indices are not looked through.
const DEEP: usize = 8;

/// An element: an address, and the place from there on.
type Place = (Operand, Operand);

/// What the iterations of a loop may hand on.
#[derive(Debug, Default)]
struct Handed {
    loads: Vec<Place>,
    stores: Vec<Place>,
    numbers: Vec<Local>,
}

impl Body<'_, '_> {
    /// See the module.
    pub(super) fn waits_for_itself(&self, run: &Run<'_>) -> bool {
        let mut handed = Handed::default();
        self.handed(run.body, &mut handed);
        !handed.numbers.is_empty()
            || handed.stores.iter().any(|store| self.is_read_next(*store, &handed.loads, run))
    }

    fn handed(&self, stmts: &[Stmt], handed: &mut Handed) {
        for stmt in stmts {
            match stmt {
                Stmt::Set(_, Value::Load { base, index, offset: 0 }) => handed.loads.push((*base, *index)),
                Stmt::Set(local, _) if self.is_handed_on(*local) => handed.numbers.push(*local),
                Stmt::Store { base, index, offset: 0, value: _ } => handed.stores.push((*base, *index)),
                Stmt::If { cond: _, then, otherwise } => {
                    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                        self.handed(then, handed);
                        self.handed(otherwise, handed);
                    });
                }
                _ => {}
            }
        }
    }

    /// Whether a real from outside of the loop is assigned in it.
    fn is_handed_on(&self, local: Local) -> bool {
        self.word(local) == Word::Real && !self.assigned_once(local) && self.is_from_outside(local)
    }

    /// Whether one of the next iterations reads what this one writes.
    fn is_read_next(&self, (base, place): Place, loads: &[Place], run: &Run<'_>) -> bool {
        let Some(object) = self.object(base) else { return false };
        let form = |(base, place): Place| {
            let mut form = self.form(place, DEEP);
            self.add_offset(base, &mut form);
            form
        };
        let (terms, written) = form((base, place));
        let Some(step) = terms.get(&run.index).copied().filter(|step| *step != 0) else { return false };
        loads.iter().filter(|(base, _)| self.object(*base) == Some(object)).any(|load| {
            let (same, read) = form(*load);
            let far = written.wrapping_sub(read);
            let later = if run.backward { far.wrapping_neg() } else { far };
            same == terms && later % step == 0 && (1..=NEAR).contains(&(later / step))
        })
    }
}
