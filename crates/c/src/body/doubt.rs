//! Derivatives in innermost loops that are made of vectors.
//!
//! Zero tangents are strong: zero times whatever is zero. To look for zeros at each product and quotient takes several times as long as
//! the product, and stands in the way of sums that are rounded once. It makes a difference only where a plain product is not a
//! number, and then what is made of it is none either. So such a loop runs piece by piece, without looking; what comes
//! out is added up, and if the sum is not a number, the piece runs again, carefully.
//!
//! ```text
//! for each piece:  keep what the piece adds to
//!                  note = 0; for i in the piece: g[i] += a·b; note += g[i]
//!                  if note is not a number: put back what was kept; for i in the piece: g[i] += mul_zero(a, b)
//! ```
//!
//! Where each product has a factor that is the same in all iterations, as those of a row with what it is weighed with, one looks at these factors
//! before: if they are finite and not zero, no zero makes a difference.

use super::Body;
use super::control::Run;
use super::finite::not_finite;
use super::rare::for_each_set;
use super::steps::{Memory, Noted, Steps};
use super::sums::Plan;
use crate::scopes::for_each_operand;
use crate::text::Level;
use rustc_hash::FxHashSet;
use wengert_native::loops::{Int, Local, Operand, Stmt, Value};
use wengert_prim::RealOp;

/// So many products and quotients are worth a second text.
const WORTH: usize = 2;
/// Iterations of a piece. What they add to is kept on the stack.
const PIECE: usize = 512;
/// More arrays than this would be too much to keep.
const MOST: usize = 8;

/// How a loop runs without looking for zeros.
pub(super) struct Doubt {
    /// What products with strong zeros lead to.
    derived: FxHashSet<Local>,
    /// Whether something of that is stored where it can be noted.
    stores: bool,
    /// What is to be as it was if it was wrong.
    kept: Vec<Kept>,
}

/// Elements of an array that a loop writes: from where on, and how far from the index they are.
#[derive(Clone, Copy, PartialEq)]
struct Kept {
    base: Operand,
    offset: i32,
    shift: Option<Operand>,
}

impl Body<'_, '_> {
    /// Whether a loop is worth it and can run again; with the plan if its iterations add something up.
    pub(super) fn doubt(&self, run: &Run<'_>, plan: Option<&Plan>) -> Option<Doubt> {
        let (steps, memory) = self.worth(run.body)?;
        let mut kept = Vec::new();
        let apart = |base: Operand| match plan {
            None => self.are_apart(run.index, &memory.loads, &[base]),
            Some(_) => {
                let object = self.object(base);
                object.is_some() && !memory.loads.iter().any(|load| self.object(*load) == object)
            }
        };
        let assigned = assigned(run.body);
        let fixed = |operand: Operand| !matches!(operand, Operand::Local(local) if assigned.contains(&local));
        for (base, index, offset) in stores(run.body) {
            if apart(base) || self.cell(base, index, offset).is_some() {
                continue;
            }
            // Elsewhere than at the index an element is there for sure only if each iteration stores it.
            let shift = self.shift(index, run.index)?;
            (shift.is_none() || shift.is_some_and(fixed) && self.is_straight(run.body)).then_some(())?;
            // What a plan is made for is read only to be added to.
            let known = plan.is_some() || reads_first(run.body);
            (fixed(base) && known && self.func.recursive.is_none()).then_some(())?;
            let elements = Kept { base, offset, shift };
            if !kept.contains(&elements) {
                kept.push(elements);
            }
        }
        plan.is_none_or(|plan| plan.extremes.is_empty()).then_some(())?;
        let carries = plan.map_or(0, |plan| plan.cells.len() + plan.sums.len());
        let fine = kept.len() <= MOST && steps.carried.len() == plan.map_or(0, |plan| plan.sums.len());
        (fine && (steps.stores || carries > 0)).then_some(Doubt {
            derived: steps.derived,
            stores: steps.stores,
            kept,
        })
    }

    /// What each product and quotient of the body of a loop has that is the same in all iterations, if there are enough of them.
    pub(super) fn steady(&self, body: &[Stmt], index: Local) -> Option<Vec<Operand>> {
        let assigned = assigned(body);
        let is_fixed = |operand: &&Operand| match operand {
            Operand::Local(local) => *local != index && !assigned.contains(local),
            Operand::Real(real) => real.is_normal(),
            Operand::Int(_) | Operand::Text(_) => false,
        };
        let (mut strong, mut steady, mut factors) = (0, true, Vec::new());
        for_each_set(body, &mut |_, value| {
            if let Value::Real(RealOp::MulZero | RealOp::DivZero, args) = value {
                strong += 1;
                // Where both are fixed, one of them may be a number that is known.
                let fixed = args.iter().filter(is_fixed).max_by_key(|arg| arg.local().is_none());
                steady &= fixed.is_some();
                factors.extend(fixed.filter(|factor| factor.local().is_some() && !factors.contains(*factor)));
            }
        });
        (self.unit.fast && !self.plain && steady && strong >= WORTH && factors.len() <= MOST)
            .then_some(factors)
    }

    /// A loop twice: with plain products if these factors are finite and not zero, and carefully. Then nothing need be looked at afterwards.
    pub(super) fn unless_zero(&mut self, factors: &[Operand], make: &mut dyn FnMut(&mut Self)) {
        let names: Vec<String> =
            factors.iter().map(|factor| self.operand(*factor).at(Level::Unary)).collect();
        if names.is_empty() {
            self.plain = true;
            make(self);
            self.plain = false;
            return;
        }
        let mut checks: Vec<String> = names.iter().map(|name| format!("{name} != 0.0")).collect();
        checks.push(format!("!({})", not_finite(&names)));
        self.put(&format!("if (WG_USUALLY({})) {{", checks.join(" && ")));
        self.depth += 1;
        let before = (self.blocks, self.declared.clone(), self.line);
        self.plain = true;
        make(self);
        self.plain = false;
        (self.blocks, self.declared, self.line) = before;
        self.put("} else {");
        make(self);
        self.depth -= 1;
        self.put("}");
    }

    /// Whether a body computes and stores the same in each iteration, and nothing in it fails.
    fn is_straight(&self, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| {
            let skipped = self.skipped.contains(&std::ptr::from_ref(stmt));
            skipped || matches!(stmt, Stmt::Set(..) | Stmt::Store { .. })
        })
    }

    /// How far a place is from the index of a loop, if it is not there.
    fn shift(&self, place: Operand, index: Local) -> Option<Option<Operand>> {
        let index = Operand::Local(index);
        if place == index {
            return Some(None);
        }
        let Value::Int(Int::Add, a, b) = self.values.get(&place.local()?)? else { return None };
        let shift = if *a == index { Some(*b) } else { (*b == index).then_some(*a) };
        shift.map(Some)
    }

    /// What is in the body of a loop, if it has enough products and quotients and hands on what is no number.
    pub(super) fn worth(&self, body: &[Stmt]) -> Option<(Steps, Memory)> {
        let mut strong = 0;
        for_each_set(body, &mut |_, value| {
            strong += usize::from(matches!(value, Value::Real(RealOp::MulZero | RealOp::DivZero, _)));
        });
        (self.unit.fast && strong >= WORTH).then_some(())?;
        self.derived(body)
    }

    /// The loop piece by piece.
    pub(super) fn without_zeros(&mut self, run: &Run<'_>, plan: &Plan, doubt: Doubt) {
        let whole = run.end.parse::<usize>().is_ok_and(|count| count <= PIECE);
        let (from, to) = if whole {
            ("0".into(), run.end.clone())
        } else {
            (self.unit.temporary(), self.unit.temporary())
        };
        if !whole {
            let end = &run.end;
            self.put(&format!("for (word {from} = 0; {from} < {end};) {{"));
            self.depth += 1;
            if run.looks {
                self.put("wg_check_stop(r);");
            }
            self.put(&format!("const word {to} = {end} - {from} > {PIECE} ? {from} + {PIECE} : {end};"));
        }
        let mut back = self.keep(&doubt.kept, &from, &to);
        let mut carried: Vec<String> = plan.sums.iter().map(|sum| self.name(*sum).to_string()).collect();
        carried.extend(plan.cells.iter().map(|cell| cell.name.clone()));
        for name in &carried {
            let before = self.unit.temporary();
            self.put(&format!("const double {before} = {name};"));
            back.push(format!("{name} = {before};"));
        }
        let piece = run.piece(from, to.clone());
        let doubt = self.unseen(run.body, plan, doubt);
        self.twice(&piece, doubt, carried, &back);
        if !whole {
            self.put(&format!("{} = {to};", piece.from));
            self.depth -= 1;
            self.put("}");
        }
    }

    /// The doubt without what need not be looked at: if it is no number, something is none either that is looked at.
    fn unseen(&self, body: &[Stmt], plan: &Plan, doubt: Doubt) -> Doubt {
        let straight = body.iter().all(|stmt| match stmt {
            Stmt::Set(local, _) => self.assigned_once(*local) || plan.sums.contains(local),
            Stmt::Store { .. } => true,
            Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => self.skipped.contains(&std::ptr::from_ref(stmt)),
        });
        if !straight {
            return doubt;
        }
        let mut shown: FxHashSet<Local> = plan.sums.iter().copied().collect();
        let mut stored = Vec::new();
        for stmt in body {
            let Stmt::Store { base, index, offset, value: Operand::Local(value) } = stmt else { continue };
            if self.cell(*base, *index, *offset).is_some() {
                shown.insert(*value);
            } else {
                stored.push(*value);
            }
        }
        show(body, &doubt.derived, &mut shown);
        let mut derived = FxHashSet::default();
        for value in stored {
            if doubt.derived.contains(&value) && shown.insert(value) {
                derived.insert(value);
                show(body, &doubt.derived, &mut shown);
            }
        }
        Doubt { stores: !derived.is_empty(), derived, kept: doubt.kept }
    }

    /// A piece without looking, and again if something that came out is not a number.
    fn twice(&mut self, piece: &Run<'_>, doubt: Doubt, carried: Vec<String>, back: &[String]) {
        let mut looked_at = carried;
        if doubt.stores {
            let note = self.unit.temporary();
            self.put(&format!("double {note} = 0.0;"));
            looked_at.push(note.clone());
            self.noted = Some(Noted::new(note, doubt.derived, true));
        }
        let mut checks: Vec<String> = looked_at.iter().map(|name| format!("{name} != {name}")).collect();
        if self.has_rare(piece.body) {
            let rare = self.unit.temporary();
            self.put(&format!("int {rare} = 0;"));
            checks.push(rare.clone());
            self.rare = Some(rare);
        }
        let before = (self.blocks, self.declared.clone(), self.line);
        self.plain = true;
        self.once(piece);
        self.plain = false;
        (self.noted, self.rare) = (None, None);
        (self.blocks, self.declared, self.line) = before;
        self.put(&format!("if (WG_RARELY({})) {{", checks.join(" || ")));
        self.depth += 1;
        back.iter().for_each(|line| self.put(line));
        self.once(piece);
        self.depth -= 1;
        self.put("}");
    }

    /// Copies elements, and says how to put them back.
    fn keep(&mut self, kept: &[Kept], from: &str, to: &str) -> Vec<String> {
        let mut back = Vec::new();
        for Kept { base, offset, shift } in kept {
            let base = self.address(*base, true).at(Level::Sum);
            let shift = shift.map(|shift| self.integer(shift).at(Level::Product));
            let further = shift.into_iter().chain((*offset != 0).then(|| offset.to_string()));
            let first = further.fold(format!("{base} + {from}"), |first, more| format!("{first} + {more}"));
            let (copy, bytes) = (self.unit.temporary(), format!("({to} - {from}) * sizeof(double)"));
            self.put(&format!("double {copy}[{PIECE}];"));
            self.put(&format!("memcpy({copy}, {first}, {bytes});"));
            back.push(format!("memcpy({first}, {copy}, {bytes});"));
        }
        back
    }
}

/// Adds what is right, or no number, if what is shown is: that of which this is made, and what is made of it without a further doubt.
fn show(body: &[Stmt], derived: &FxHashSet<Local>, shown: &mut FxHashSet<Local>) {
    for stmt in body.iter().rev() {
        if let Stmt::Set(local, value) = stmt
            && shown.contains(local)
            && (matches!(value, Value::Copy(_)) || matches!(value, Value::Real(op, _) if op.hands_on_nan()))
        {
            for_each_operand(value, &mut |operand| {
                shown.extend(match operand {
                    Operand::Local(used) if derived.contains(used) => Some(used),
                    Operand::Local(_) | Operand::Int(_) | Operand::Real(_) | Operand::Text(_) => None,
                });
            });
        }
    }
    for stmt in body {
        let Stmt::Set(local, value) = stmt else { continue };
        let mut fine = derived.contains(local) && !stmt.is_strong();
        for_each_operand(value, &mut |operand| {
            fine &=
                !matches!(operand, Operand::Local(used) if derived.contains(used) && !shown.contains(used));
        });
        if fine {
            shown.insert(*local);
        }
    }
}

/// The variables that statements assign.
pub(super) fn assigned(stmts: &[Stmt]) -> FxHashSet<Local> {
    let mut assigned = FxHashSet::default();
    for_each_set(stmts, &mut |local, _| {
        assigned.insert(local);
    });
    assigned
}

/// Where statements store: base, index and offset.
fn stores(stmts: &[Stmt]) -> Vec<(Operand, Operand, i32)> {
    let mut found = Vec::new();
    for stmt in stmts {
        if let Stmt::Store { base, index, offset, .. } = stmt {
            found.push((*base, *index, *offset));
        } else if let Stmt::If { cond: _, then, otherwise } = stmt {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                found.extend(stores(then).into_iter().chain(stores(otherwise)));
            });
        }
    }
    found
}

/// Whether all is read before anything is stored.
fn reads_first(stmts: &[Stmt]) -> bool {
    let mut stored = false;
    stmts.iter().all(|stmt| {
        let again = stored;
        match stmt {
            Stmt::Store { .. } => stored = true,
            Stmt::If { .. } => return !again && stores(std::slice::from_ref(stmt)).is_empty(),
            Stmt::Set(_, Value::Load { .. }) => return !again,
            Stmt::Set(..)
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => {}
        }
        true
    })
}
