//! Loops that look after their end whether a check would have failed.
//!
//! An index that is computed from a number, `xs[floor x]`, is checked in each iteration, and a check keeps a loop from being made in vectors. Where a
//! loop could run twice, it runs without checks first, and notes whether one of them would have failed. In an iteration in which that is so, what is
//! read is the first element, which is there. If something was noted, the loop runs again, with its checks, and fails where it would have.
//!
//! ```text
//! for i: if outside(k, n) fail        for i: wrong = outside(k, n)
//!        y[i] = f(x[k])                      y[i] = f(x[wrong ? 0 : k])
//!                                            note += wrong
//!                                     if note: the loop as it is
//! ```
//!
//! What a loop reads is there because of checks, made in it or before it, and for other reasons. So after a check of an index that is left to the end
//! there may only be reads at such indices, at those that were checked before the loop, and at those that move with the loop: these have nothing to
//! do with an index that data tell.

use super::control::{FEW, Run};
use super::{Body, guards};
use crate::text::{Expr, Level};
use rustc_hash::FxHashSet;
use wengert_native::loops::{Int, Local, Operand, Stmt, Value};
use wengert_prim::real_op::ELEMENTARY_COST;

/// It pays if there are so many operations on numbers for each element that vectors gather.
const WORTH: usize = 4;
/// Longer computations of a place are not looked at.
const MOST: usize = 8;

/// How a loop runs without its checks.
pub(super) struct Trial {
    index: Local,
    /// Where it is noted in how many iterations a check would have failed.
    note: String,
    /// Whether one would have in this iteration.
    wrong: String,
    checks: FxHashSet<*const Stmt>,
    /// Places that are 0 then.
    masked: FxHashSet<Local>,
    /// Sizes that are not to be 0 for that.
    sizes: Vec<Expr>,
    /// Whether it pays though elements are not gathered in vectors.
    functions: bool,
}

/// What is known of a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// It moves with the loop, or stays.
    Moves,
    /// It was checked before the loop.
    Checked,
    /// It is checked in each iteration.
    Tried,
    Unknown,
}

/// What is found in the body of a loop.
struct Search<'b, 'u, 'p> {
    body: &'b Body<'u, 'p>,
    around: guards::Loop<'b, 'u, 'p>,
    checks: FxHashSet<*const Stmt>,
    /// Places that were checked before the loop, and in it.
    before: FxHashSet<Local>,
    inside: FxHashSet<Local>,
    masked: FxHashSet<Local>,
    /// Addresses that lead to what is there whatever a check says.
    there: FxHashSet<Local>,
    sizes: Vec<Expr>,
    loads: Vec<Operand>,
    stores: Vec<Operand>,
    /// Variables that are handed on from one iteration to the next.
    carries: bool,
    gathered: usize,
    work: usize,
    functions: bool,
}

impl Body<'_, '_> {
    /// An innermost loop, of which checks were made before it or not, in vectors if that can be.
    pub(super) fn tried(&mut self, run: &Run<'_>) {
        let Some((trial, sums)) = self.trial(run) else { return self.vector(run) };
        let (note, checks) = (trial.note.clone(), trial.checks.clone());
        let empty = trial.sizes.iter().map(|size| format!("{} <= 0", size.at(Level::Relation)));
        let few =
            (!sums.is_empty() && run.end.parse::<i64>().is_err()).then(|| format!("{} < {FEW}", run.end));
        let gathers = (!trial.functions).then(|| "!WG_GATHERS".to_string());
        let not: Vec<String> = gathers.into_iter().chain(few).chain(empty).collect();
        let first = if not.is_empty() { "0".into() } else { not.join(" || ") };
        self.put(&format!("word {note} = {first};"));
        let mut saved = Vec::new();
        for sum in sums {
            let (name, before) = (self.name(sum).to_string(), self.unit.temporary());
            self.put(&format!("const double {before} = {name};"));
            saved.push(format!("{name} = {before};"));
        }
        let before = (self.blocks, self.declared.clone(), self.line);
        if !not.is_empty() {
            self.put(&format!("if (!{note}) {{"));
            self.depth += 1;
        }
        self.skipped.extend(&checks);
        self.trial = Some(trial);
        self.vector(run);
        self.trial = None;
        self.skipped.retain(|check| !checks.contains(check));
        if !not.is_empty() {
            self.depth -= 1;
            self.put("}");
        }
        (self.blocks, self.declared, self.line) = before;
        self.put(&format!("if (WG_RARELY({note})) {{"));
        self.depth += 1;
        saved.iter().for_each(|line| self.put(line));
        self.once(run);
        self.depth -= 1;
        self.put("}");
    }

    /// How a loop is run without its checks, if it can be and pays, and the sums that it adds to.
    fn trial(&mut self, run: &Run<'_>) -> Option<(Trial, Vec<Local>)> {
        let few = run.end.parse::<i64>().is_ok_and(|count| count < FEW);
        (self.unit.fast && !few && self.may_fail(run.body)).then_some(())?;
        let search = Search::of(self, run)?;
        let apart = self.are_apart(run.index, &search.loads, &search.stores);
        (search.pays() && apart).then_some(())?;
        let (carries, independent) = (search.carries, run.independent());
        let Search { checks, masked, sizes, functions, .. } = search;
        let names = [(); 2].map(|()| self.unit.temporary());
        let [note, wrong] = names;
        let trial = Trial { index: run.index, note, wrong, checks, masked, sizes, functions };
        if independent {
            return (!carries).then_some((trial, Vec::new()));
        }
        let checks = trial.checks.clone();
        self.skipped.extend(&checks);
        self.trial = Some(trial);
        let plan = self.plan(run.body, run.index);
        self.skipped.retain(|check| !checks.contains(check));
        let trial = self.trial.take()?;
        let plan = plan.filter(|plan| plan.again && plan.cells.is_empty())?;
        Some((trial, plan.variables()))
    }

    /// A check that is made elsewhere, or later.
    pub(super) fn pass_over(&mut self, check: &Stmt, cond: Operand) {
        // Its two blocks have their numbers, and nothing waits for its condition any more.
        let cond = self.integer(cond);
        self.blocks += 2;
        if let Some(trial) =
            self.trial.as_ref().filter(|trial| trial.checks.contains(&std::ptr::from_ref(check)))
        {
            let line = format!("{} |= {};", trial.wrong, cond.text);
            self.put(&line);
        }
    }

    /// What an iteration that checks nothing begins with.
    pub(super) fn begin_trial(&mut self, index: Local) {
        if let Some(trial) = self.trial.as_ref().filter(|trial| trial.index == index) {
            let line = format!("word {} = 0;", trial.wrong);
            self.put(&line);
        }
    }

    /// And ends with.
    pub(super) fn end_trial(&mut self, index: Local) {
        if let Some(trial) = self.trial.as_ref().filter(|trial| trial.index == index) {
            let line = format!("{} += {};", trial.note, trial.wrong);
            self.put(&line);
        }
    }

    /// Where a loop that is tried notes what it was.
    pub(super) fn trial_note(&self) -> Option<String> {
        self.trial.as_ref().map(|trial| trial.note.clone())
    }

    /// A place that is 0 if a check would have failed. No choice: compilers would make branches of many of them.
    pub(super) fn masked(&mut self, index: Operand, offset: i32) -> Option<Expr> {
        let trial = self.trial.as_ref()?;
        let masked = offset == 0 && index.local().is_some_and(|local| trial.masked.contains(&local));
        let wrong = masked.then(|| format!("({} - 1)", trial.wrong))?;
        let place = self.integer(index);
        Some(Expr::binary(Level::And, "&", &place, &Expr::primary(wrong)))
    }

    /// The integer of a whole number in a loop that is tried, where numbers that are too far from zero count as wrong.
    pub(super) fn tried_integer(&mut self, x: &Expr) -> Option<Expr> {
        let wrong = self.trial.as_ref()?.wrong.clone();
        let is_name = x.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = if is_name { x.text.clone() } else { self.unit.temporary() };
        if !is_name {
            self.put(&format!("const double {name} = {};", x.text));
        }
        self.put(&format!("{wrong} |= wg_is_far({name});"));
        Some(Expr::call("wg_each_word", &[Expr::primary(name)]))
    }
}

impl<'b, 'u, 'p> Search<'b, 'u, 'p> {
    /// What is in the body of a loop, if that can run without its checks.
    fn of(body: &'b Body<'u, 'p>, run: &Run<'b>) -> Option<Self> {
        let mut search = Search {
            body,
            around: guards::Loop::of(body, run.body, run.index),
            checks: FxHashSet::default(),
            before: FxHashSet::default(),
            inside: FxHashSet::default(),
            masked: FxHashSet::default(),
            there: FxHashSet::default(),
            sizes: Vec::new(),
            loads: Vec::new(),
            stores: Vec::new(),
            carries: false,
            gathered: 0,
            work: 0,
            functions: false,
        };
        for stmt in run.body {
            search.stmt(stmt, run.index)?;
        }
        Some(search)
    }

    fn pays(&self) -> bool {
        self.functions || self.work >= WORTH * self.gathered
    }

    fn stmt(&mut self, stmt: &'b Stmt, index: Local) -> Option<()> {
        match stmt {
            Stmt::Set(local, value) => {
                self.value(*local, value)?;
                if self.body.assigned_once(*local) {
                    self.around.values.insert(*local, value);
                } else {
                    self.carries = true;
                }
                Some(())
            }
            Stmt::Store { base, index: place, offset, value: _ } => {
                self.stores.push(*base);
                (*place == Operand::Local(index) && *offset == 0 && self.is_there(*base)).then_some(())
            }
            Stmt::If { cond: Operand::Local(cond), then, otherwise }
                if matches!(then.last(), Some(Stmt::Fail(..))) && otherwise.is_empty() =>
            {
                self.check(stmt, *cond)
            }
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
            | Stmt::Fail(..) => None,
        }
    }

    /// A check: that of an index which data tell, or one that only looks at numbers.
    fn check(&mut self, stmt: &Stmt, cond: Local) -> Option<()> {
        let skipped = self.body.skipped.contains(&std::ptr::from_ref(stmt));
        let range = if let Some(Value::OutOfRange(place, size)) = self.around.values.get(&cond) {
            Some((*place, *size))
        } else {
            None
        };
        if skipped {
            self.before.extend(range.and_then(|(place, _)| place.local()));
            return Some(());
        }
        self.checks.insert(std::ptr::from_ref(stmt));
        let Some((place, size)) = range else {
            return self.looks_at_numbers(Operand::Local(cond), 0).then_some(());
        };
        self.is_of_data(place, 0).then_some(())?;
        self.inside.insert(place.local()?);
        let size = self.around.fixed(size, 0)?;
        if !self.sizes.iter().any(|other| other.text == size.text)
            && !size.text.parse().is_ok_and(|n: i64| n > 0)
        {
            self.sizes.push(size);
        }
        Some(())
    }

    fn value(&mut self, local: Local, value: &Value) -> Option<()> {
        match value {
            Value::Load { base, index, offset } => {
                self.loads.push(*base);
                let (place, there) = (self.place(*index, 0), self.is_there(*base));
                self.gathered += usize::from(place != Place::Moves || !there);
                self.read(there, place, (*index, *offset))
            }
            Value::Address { base, index, offset } => {
                let (place, there) = (self.place(*index, 0), self.is_there(*base));
                if there && place != Place::Unknown {
                    self.there.insert(local);
                }
                self.read(there, place, (*index, *offset))
            }
            Value::Real(op, _) => {
                self.work += 1;
                self.functions |= op.cost() == ELEMENTARY_COST;
                Some(())
            }
            Value::Round(..) => {
                self.work += 1;
                Some(())
            }
            Value::RealToInt(x) => {
                let whole = x.local().and_then(|local| self.around.values.get(&local));
                matches!(whole, Some(Value::Round(..))).then_some(())
            }
            Value::Int(Int::Div | Int::Rem, _, by) => matches!(by, Operand::Int(1..)).then_some(()),
            Value::Copy(_)
            | Value::Int(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::Select(..)
            | Value::IntToReal(_)
            | Value::Bits(_) => Some(()),
            Value::Tag(..) | Value::Unique(..) | Value::Alloc(..) => None,
        }
    }

    /// Whether something can be read at a place, or an address be made, whatever the checks before say.
    fn read(&mut self, there: bool, place: Place, (index, offset): (Operand, i32)) -> Option<()> {
        if place == Place::Tried {
            (offset == 0).then_some(())?;
            self.masked.insert(index.local()?);
        }
        (self.checks.is_empty() || there && place != Place::Unknown).then_some(())
    }

    /// Whether an address leads to what is there in each iteration.
    fn is_there(&self, base: Operand) -> bool {
        base.local().is_some_and(|local| self.there.contains(&local) || !self.around.is_assigned(local))
    }

    fn place(&self, index: Operand, depth: usize) -> Place {
        let Operand::Local(local) = index else { return Place::Moves };
        if self.inside.contains(&local) {
            return Place::Tried;
        }
        if self.before.contains(&local) {
            return Place::Checked;
        }
        if self.around.moves(index) {
            return Place::Moves;
        }
        // A row and what is in it.
        match self.around.values.get(&local).filter(|_| depth < MOST) {
            Some(Value::Copy(x)) => self.place(*x, depth + 1),
            Some(Value::Int(Int::Mul, row, size)) if self.around.fixed(*size, 0).is_some() => {
                self.place(*row, depth + 1)
            }
            Some(Value::Int(Int::Add, row, column)) if self.is_row(*row) => {
                self.place(*row, depth + 1).max(self.place(*column, depth + 1))
            }
            Some(_) | None => Place::Unknown,
        }
    }

    /// Whether it is where a row begins: so many times its number.
    fn is_row(&self, place: Operand) -> bool {
        let value = place.local().and_then(|local| self.around.values.get(&local));
        matches!(value, Some(Value::Int(Int::Mul, _, size)) if self.around.fixed(*size, 0).is_some())
    }

    /// Whether an index is made of what numbers or arrays tell, and not of the loop's own.
    fn is_of_data(&self, place: Operand, depth: usize) -> bool {
        let Operand::Local(local) = place else { return true };
        match self.around.values.get(&local).filter(|_| depth < MOST) {
            Some(Value::RealToInt(_) | Value::Load { .. }) => true,
            Some(Value::Copy(x)) => self.is_of_data(*x, depth + 1),
            Some(Value::Int(_, a, b) | Value::Select(_, a, b)) => {
                [a, b].into_iter().all(|operand| self.is_of_data(*operand, depth + 1))
            }
            Some(_) => false,
            None => !self.around.is_assigned(local),
        }
    }

    /// Whether a condition tells nothing of integers.
    fn looks_at_numbers(&self, cond: Operand, depth: usize) -> bool {
        let Operand::Local(local) = cond else { return matches!(cond, Operand::Int(_)) };
        match self.around.values.get(&local).filter(|_| depth < MOST) {
            Some(Value::CompareReal(..)) => true,
            Some(Value::CompareInt(_, a, b) | Value::Int(Int::And | Int::Or | Int::Xor, a, b)) => {
                [a, b].into_iter().all(|operand| self.looks_at_numbers(*operand, depth + 1))
            }
            Some(_) | None => false,
        }
    }
}
