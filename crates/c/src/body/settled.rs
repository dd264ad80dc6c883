//! Loops that add up what depends on choices that are settled before the loop.
//!
//! GCC makes of such a loop one for each way that the choices may go, so that nothing is chosen in it, but of those with a sum in any order
//! only one becomes vectors. So such a loop keeps what it adds, which has no sum in it, and another one adds that up.
//!
//! ```text
//! for i: s += n ? x[i] : 1        for each strip of iterations: for i: kept[i] = n ? x[i] : 1
//!                                                               for i: s += kept[i]
//! ```

use super::Body;
use super::control::Run;
use super::doubt::assigned;
use super::rare::for_each_set;
use crate::scopes::for_each_operand;
use rustc_hash::FxHashSet;
use wengert_native::loops::{Local, Operand, Stmt, Value};
use wengert_prim::RealOp;

/// Iterations of a strip. What they add is kept on the stack.
const STRIP: usize = 512;
/// More sums than this would be too much to keep.
const MOST: usize = 8;
/// Of longer loops GCC makes no others.
const LONG: usize = 50;

impl Body<'_, '_> {
    /// Whether what a loop adds up is kept first.
    pub(super) fn is_kept(&self, run: &Run<'_>) -> bool {
        let sums = self.plan.sums.len() + self.plan.cells.len() + usize::from(self.noted.is_some());
        let noted = self.noted.as_ref().is_none_or(|noted| noted.vectors);
        (1..=MOST).contains(&sums)
            && noted
            && self.plan.extremes.is_empty()
            && self.rare.is_none()
            && run.body.len() <= LONG
            && self.is_settled(run.index, run.body)
    }

    /// Whether something in the body of a loop depends on a choice that is the same in all iterations.
    fn is_settled(&self, index: Local, body: &[Stmt]) -> bool {
        // What is assigned and not the same in all iterations.
        let mut changing = assigned(body);
        changing.insert(index);
        let is_same = |operand: &Operand, changing: &FxHashSet<Local>| match operand {
            Operand::Local(local) => !changing.contains(local),
            Operand::Int(_) | Operand::Real(_) | Operand::Text(_) => true,
        };
        let mut settled = false;
        for_each_set(body, &mut |local, value| {
            let mut same =
                self.assigned_once(local) && !matches!(value, Value::Load { .. } | Value::Alloc(..));
            for_each_operand(value, &mut |operand| same &= is_same(operand, &changing));
            // Zeros are looked for.
            if let Value::Real(RealOp::MulZero | RealOp::DivZero, args) = value {
                let factor = |arg: &Operand| arg.local().is_some() && is_same(arg, &changing);
                settled |= !same && !self.plain && args.iter().any(factor);
            } else if let Value::Select(cond, ..) = value {
                settled |= !same && is_same(cond, &changing);
            }
            if same {
                changing.remove(&local);
            }
        });
        let branches = |stmt: &Stmt| matches!(stmt, Stmt::If { cond, .. } if is_same(cond, &changing));
        settled || body.iter().any(|stmt| !self.skipped.contains(&std::ptr::from_ref(stmt)) && branches(stmt))
    }

    /// Such a loop. Its sums are variables of the iteration, too, while it lasts.
    pub(super) fn kept(&mut self, run: &Run<'_>) {
        let sums = self.added_up();
        let kept: Vec<String> = sums.iter().map(|_| self.unit.temporary()).collect();
        let known = run.from == "0" && run.to.parse::<usize>().is_ok_and(|count| count <= STRIP);
        let arrays: Vec<String> = kept.iter().map(|kept| format!("{kept}[{STRIP}]")).collect();
        self.put(&format!("double {};", arrays.join(", ")));
        let (from, to) =
            if known { (run.from.clone(), run.to.clone()) } else { self.begin_pieces(run, STRIP) };
        let (counter, own) = self.counter(run.index);
        let head = format!("for (word {counter} = {from}; {counter} < {to}; {counter}++) {{");
        let at = if from == "0" { counter.clone() } else { format!("{counter} - {from}") };
        self.put("WG_INDEPENDENT");
        self.put(&head);
        self.depth += 1;
        // Nothing changes when it is added to this.
        let begun: Vec<String> = sums.iter().map(|sum| format!("{sum} = -0.0")).collect();
        self.put(&format!("double {};", begun.join(", ")));
        self.depth -= 1;
        self.body_of(run, (&counter, own), false);
        self.depth += 1;
        for (sum, kept) in sums.iter().zip(&kept) {
            self.put(&format!("{kept}[{at}] = {sum};"));
        }
        self.depth -= 1;
        self.put("}");
        self.hint(true);
        self.put(&head);
        self.depth += 1;
        for (sum, kept) in sums.iter().zip(&kept) {
            self.put(&format!("{sum} = {sum} + {kept}[{at}];"));
        }
        self.depth -= 1;
        self.put("}");
        if !known {
            self.depth -= 1;
            self.put("}");
        }
    }
}
