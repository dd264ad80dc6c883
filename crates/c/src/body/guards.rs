//! Checks that can be made before a loop instead of in it.
//!
//! In an innermost loop a check `if (…) fail` stands in the way of vectors. Where its condition does not depend on the
//! iteration, or asks whether an index that moves with the loop is in range, it can be said before the loop that it
//! never fails. Then the loop runs without it; else the loop runs as it is, and fails where it would have failed.
//!
//! A check that does not depend on the iteration, with nothing before it in the loop but such checks, is made before any
//! loop that has an iteration: there it fails in the first one or never.

use super::Body;
use crate::text::{Expr, Level, int};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_native::loops::{Int, Local, Operand, Stmt, Sum, Value};

/// Longer conditions are no gain.
const MOST: usize = 8;
/// So far apart, or farther, are places of which nothing is said before a loop.
const FAR: u64 = 1 << 16;
/// More checks are no loop that something else could make fast.
const CHECKS: usize = 96;

/// The checks of a loop that need not be in it.
pub(super) struct Guards {
    /// What is to hold for them never to fail.
    pub(super) conditions: Vec<String>,
    /// The statements, by address.
    pub(super) checks: FxHashSet<*const Stmt>,
}

/// A number that moves with the loop: `step·index + start`.
struct Moving {
    step: Step,
    start: Expr,
}

impl Moving {
    /// So many times a number that moves.
    fn times(self, times: &Expr) -> Option<Moving> {
        let product = |a: &Expr| Expr::binary(Level::Product, "*", &Expr::unary("(word)", a), times);
        let start = if self.start.text == "0" { self.start } else { product(&self.start) };
        let by = self.step.number()?;
        let step = match times.text.parse::<i64>() {
            Ok(times) => Step::Known(by.checked_mul(times).filter(|step| step.unsigned_abs() < FAR)?),
            Err(_) if by == 1 => Step::Same(times.clone()),
            Err(_) => Step::Same(product(&int(by))),
        };
        Some(Moving { step, start })
    }
}

/// How far a number moves in an iteration.
enum Step {
    Known(i64),
    /// As far as this, which is the same in each iteration.
    Same(Expr),
}

impl Step {
    fn number(&self) -> Option<i64> {
        if let Step::Known(step) = self { Some(*step) } else { None }
    }

    /// The sum or difference of two.
    fn with(self, sign: &str, other: Step) -> Option<Step> {
        match (self, other) {
            (Step::Known(a), Step::Known(b)) => {
                let step = if sign == "+" { a + b } else { a - b };
                (step.unsigned_abs() < FAR).then_some(Step::Known(step))
            }
            (step, Step::Known(0)) => Some(step),
            (Step::Known(0), step) if sign == "+" => Some(step),
            (a, b) => Some(Step::Same(Expr::binary(Level::Sum, sign, &a.text(), &b.text()))),
        }
    }

    fn text(self) -> Expr {
        match self {
            Step::Known(step) => int(step),
            Step::Same(step) => step,
        }
    }
}

/// The body of a loop and what is known of it.
pub(super) struct Loop<'b, 'u, 'p> {
    body: &'b Body<'u, 'p>,
    index: Local,
    /// What each variable is that is assigned once, in the body of the loop.
    pub(super) values: FxHashMap<Local, &'b Value>,
    /// Variables that are assigned in it at all.
    assigned: FxHashSet<Local>,
}

/// A check that is made before a loop.
pub(super) struct First<'s> {
    /// When it fails.
    pub(super) condition: Expr,
    /// The statement.
    pub(super) stmt: &'s Stmt,
    /// How it fails.
    pub(super) site: u32,
    /// The numbers that belong to the failure.
    pub(super) numbers: &'s [Operand],
}

/// The checks at the begin of a loop that do not depend on the iteration.
pub(super) fn first<'s>(body: &Body<'_, '_>, stmts: &'s [Stmt], index: Local) -> Vec<First<'s>> {
    let is_check =
        |stmt: &Stmt| matches!(stmt, Stmt::If { then, .. } if matches!(then.as_slice(), [Stmt::Fail(..)]));
    if !stmts.iter().take_while(|stmt| is_check(stmt) || matches!(stmt, Stmt::Set(..))).any(is_check) {
        return Vec::new();
    }
    let mut around =
        Loop { body, index, values: FxHashMap::default(), assigned: FxHashSet::from_iter([index]) };
    assigned_inside(stmts, &mut around.assigned);
    let mut found = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::Set(local, value) if body.assigned_once(*local) && !matches!(value, Value::Alloc(..)) => {
                around.values.insert(*local, value);
            }
            Stmt::If { cond: Operand::Local(cond), then, otherwise } if otherwise.is_empty() => {
                let [Stmt::Fail(site, numbers)] = then.as_slice() else { break };
                let fixed = |number: &Operand| match number {
                    Operand::Local(local) => !around.assigned.contains(local),
                    Operand::Int(_) | Operand::Real(_) | Operand::Text(_) => true,
                };
                if around.assigned.contains(cond) && !around.values.contains_key(cond)
                    || !numbers.iter().all(fixed)
                {
                    break;
                }
                let Some(condition) = around.fixed(Operand::Local(*cond), 0) else { break };
                found.push(First { condition, stmt, site: *site, numbers });
            }
            Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => break,
        }
    }
    found
}

/// The variables that are assigned in a loop, however deep.
fn assigned_inside(stmts: &[Stmt], into: &mut FxHashSet<Local>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            match stmt {
                Stmt::Set(local, _) => {
                    into.insert(*local);
                }
                Stmt::Call { outs, .. } => into.extend(outs),
                Stmt::Parallel { sums, .. } => {
                    for sum in sums {
                        if let Sum::Word(local, _) = sum {
                            into.insert(*local);
                        }
                    }
                }
                Stmt::Runtime { out, .. } => into.extend(out),
                Stmt::If { cond: _, then, otherwise } => {
                    assigned_inside(then, into);
                    assigned_inside(otherwise, into);
                }
                Stmt::Switch { on: _, cases } => cases.iter().for_each(|case| assigned_inside(case, into)),
                Stmt::For { index, body, .. } => {
                    into.insert(*index);
                    assigned_inside(body, into);
                }
                Stmt::While { head, cond: _, body } => {
                    assigned_inside(head, into);
                    assigned_inside(body, into);
                }
                Stmt::Store { .. }
                | Stmt::Retain(..)
                | Stmt::Release(..)
                | Stmt::Free(..)
                | Stmt::Fail(..) => {}
            }
        }
    });
}

/// The checks of an innermost loop over `0..end` that can be made before it.
pub(super) fn guards(body: &Body<'_, '_>, stmts: &[Stmt], index: Local, end: &str) -> Guards {
    let mut around = Loop::of(body, stmts, index);
    let mut guards = Guards { conditions: Vec::new(), checks: FxHashSet::default() };
    for stmt in stmts {
        match stmt {
            Stmt::Set(local, value) if body.assigned_once(*local) => {
                around.values.insert(*local, value);
            }
            Stmt::If { cond: Operand::Local(cond), then, otherwise } if otherwise.is_empty() => {
                if body.skipped.contains(&std::ptr::from_ref(stmt)) {
                    continue;
                }
                if !matches!(then.last(), Some(Stmt::Fail(..))) || guards.conditions.len() >= CHECKS {
                    continue;
                }
                let Some(condition) = around.never(*cond, end) else { continue };
                if !guards.conditions.contains(&condition) {
                    guards.conditions.push(condition);
                }
                guards.checks.insert(std::ptr::from_ref(stmt));
            }
            Stmt::Set(..)
            | Stmt::If { .. }
            | Stmt::Store { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => {}
        }
    }
    guards
}

/// The variables that statements assign.
fn assigned(stmts: &[Stmt], into: &mut FxHashSet<Local>) {
    for stmt in stmts {
        if let Stmt::Set(local, _) = stmt {
            into.insert(*local);
        } else if let Stmt::If { cond: _, then, otherwise } = stmt {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                assigned(then, into);
                assigned(otherwise, into);
            });
        }
    }
}

/// Where a number that moves by one is in the last iteration.
fn last(step: i64, start: &Expr, end: &str) -> Expr {
    let last = Expr::binary(Level::Sum, "-", &Expr::primary(end), &int(1));
    if start.text == "0" && step > 0 {
        return last;
    }
    Expr::binary(Level::Sum, if step > 0 { "+" } else { "-" }, start, &last)
}

impl<'b, 'u, 'p> Loop<'b, 'u, 'p> {
    /// A loop of whose values nothing is known yet.
    pub(super) fn of(body: &'b Body<'u, 'p>, stmts: &[Stmt], index: Local) -> Self {
        let mut all = FxHashSet::from_iter([index]);
        assigned(stmts, &mut all);
        Loop { body, index, values: FxHashMap::default(), assigned: all }
    }

    /// Another loop is in it, or around it.
    pub(super) fn also(&mut self, stmts: &[Stmt], index: Local) {
        self.assigned.insert(index);
        assigned(stmts, &mut self.assigned);
    }
}

impl Loop<'_, '_, '_> {
    /// What is to hold for a condition never to be true in the loop.
    pub(super) fn never(&self, cond: Local, end: &str) -> Option<String> {
        if let Some(Value::OutOfRange(place, size)) = self.values.get(&cond) {
            let size = self.fixed(*size, 0)?;
            let Some(place) = self.moving(*place, 0) else {
                return self.between(*place, end, &size);
            };
            let (start, size) = (place.start, size.text);
            return Some(match place.step {
                Step::Known(0) => format!("!wg_outside({}, {size})", start.text),
                Step::Known(step @ (1 | -1)) => {
                    format!("wg_inside({}, {}, {size})", start.text, last(step, &start, end).text)
                }
                Step::Known(step) => format!("wg_inside_steps({}, {step}, {end}, {size})", start.text),
                Step::Same(step) => format!("wg_inside_far({}, {}, {end}, {size})", start.text, step.text),
            });
        }
        let cond = self.fixed(Operand::Local(cond), 0)?;
        Some(format!("!{}", cond.at(Level::Unary)))
    }

    /// A number that is the same in each iteration, of variables from outside of the loop.
    pub(super) fn fixed(&self, operand: Operand, depth: usize) -> Option<Expr> {
        let local = match operand {
            Operand::Int(n) => return Some(int(n)),
            Operand::Local(local) => local,
            Operand::Real(_) | Operand::Text(_) => return None,
        };
        if !self.assigned.contains(&local) {
            let known = self.body.word(local) == wengert_native::loops::Word::Int;
            return known.then(|| Expr::primary(self.body.name(local)));
        }
        if depth > MOST {
            return None;
        }
        let both = |a: &Operand, b: &Operand| Some((self.fixed(*a, depth + 1)?, self.fixed(*b, depth + 1)?));
        match self.values.get(&local)? {
            Value::Copy(x) => self.fixed(*x, depth + 1),
            Value::CompareInt(compare, a, b) => {
                let (a, b) = both(a, b)?;
                Some(Expr::binary(Level::Relation, compare.symbol(), &a, &b))
            }
            Value::Int(op, a, b) => {
                let (a, b) = both(a, b)?;
                match op {
                    Int::Add => Some(Expr::binary(Level::Sum, "+", &a, &b)),
                    Int::Sub => Some(Expr::binary(Level::Sum, "-", &a, &b)),
                    Int::Mul => Some(Expr::binary(Level::Product, "*", &Expr::unary("(word)", &a), &b)),
                    Int::And => Some(Expr::binary(Level::And, "&", &a, &b)),
                    Int::Or => Some(Expr::binary(Level::Or, "|", &a, &b)),
                    Int::Min => Some(Expr::call("wg_min_int", &[a, b])),
                    Int::Max => Some(Expr::call("wg_max_int", &[a, b])),
                    Int::Div | Int::Rem | Int::Xor | Int::ShiftLeft | Int::ShiftRight => None,
                }
            }
            Value::OutOfRange(place, size) => {
                let (place, size) = both(place, size)?;
                Some(Expr::call("wg_outside", &[place, size]))
            }
            Value::Real(..)
            | Value::CompareReal(..)
            | Value::Select(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Load { .. }
            | Value::Address { .. }
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => None,
        }
    }

    /// What is to hold for a place never to be outside, if there are limits to it.
    fn between(&self, place: Operand, end: &str, size: &Expr) -> Option<String> {
        let mut holds = Vec::new();
        let (low, high) = self.limits((place, end), 0, &mut holds);
        holds.push(format!("wg_inside({}, {}, {})", low?.text, high?.text, size.text));
        Some(holds.join(" && "))
    }

    /// What a number is at least, and at most, as far as that can be said before the loop and what is to hold does so: that sums do not go beyond the
    /// largest of integers for some of the numbers in between only.
    fn limits(
        &self,
        (operand, end): (Operand, &str),
        depth: usize,
        holds: &mut Vec<String>,
    ) -> (Option<Expr>, Option<Expr>) {
        let mut in_order = |low: Expr, high: Expr| {
            holds.push(Expr::binary(Level::Relation, "<=", &low, &high).text);
            (Some(low), Some(high))
        };
        if let Some(Moving { step, start }) = self.moving(operand, depth) {
            return match step.number() {
                Some(0) => (Some(start.clone()), Some(start)),
                Some(1) => in_order(start.clone(), last(1, &start, end)),
                Some(-1) => in_order(last(-1, &start, end), start),
                Some(_) | None => (None, None),
            };
        }
        let Operand::Local(local) = operand else { return (None, None) };
        let Some(Value::Int(op, a, b)) = self.values.get(&local).filter(|_| depth < MOST) else {
            return (None, None);
        };
        match op {
            Int::Min | Int::Max => {
                let of = [*a, *b].map(|operand| self.limits((operand, end), depth + 1, holds));
                let [(a, a_high), (b, b_high)] = of;
                let name = if *op == Int::Min { "wg_min_int" } else { "wg_max_int" };
                let both =
                    |a: &Option<Expr>, b: &Option<Expr>| Some(Expr::call(name, &[a.clone()?, b.clone()?]));
                if *op == Int::Min {
                    (both(&a, &b), both(&a_high, &b_high).or(a_high).or(b_high))
                } else {
                    (both(&a, &b).or(a).or(b), both(&a_high, &b_high))
                }
            }
            Int::Add | Int::Sub => {
                let (of, by) = match (self.fixed(*a, depth + 1), self.fixed(*b, depth + 1)) {
                    (_, Some(by)) => (*a, by),
                    (Some(by), None) if *op == Int::Add => (*b, by),
                    (_, None) => return (None, None),
                };
                let sign = if *op == Int::Add { "+" } else { "-" };
                let (Some(low), Some(high)) = self.limits((of, end), depth + 1, holds) else {
                    return (None, None);
                };
                let [low, high] = [low, high].map(|limit| Expr::binary(Level::Sum, sign, &limit, &by));
                holds.push(Expr::binary(Level::Relation, "<=", &low, &high).text);
                (Some(low), Some(high))
            }
            Int::Mul
            | Int::Div
            | Int::Rem
            | Int::And
            | Int::Or
            | Int::Xor
            | Int::ShiftLeft
            | Int::ShiftRight => (None, None),
        }
    }

    /// Whether a variable is assigned in the loop.
    pub(super) fn is_assigned(&self, local: Local) -> bool {
        self.assigned.contains(&local)
    }

    /// Whether a number moves with the loop, each time as far, or not at all.
    pub(super) fn moves(&self, operand: Operand) -> bool {
        self.moving(operand, 0).is_some()
    }

    /// A number that moves with the loop, each time as far, or not at all.
    fn moving(&self, operand: Operand, depth: usize) -> Option<Moving> {
        if operand == Operand::Local(self.index) {
            return Some(Moving { step: Step::Known(1), start: int(0) });
        }
        if let Some(start) = self.fixed(operand, depth) {
            return Some(Moving { step: Step::Known(0), start });
        }
        let Operand::Local(local) = operand else { return None };
        if depth > MOST {
            return None;
        }
        match self.values.get(&local)? {
            Value::Copy(x) => self.moving(*x, depth + 1),
            Value::Int(op @ (Int::Add | Int::Sub), a, b) => {
                let (a, b) = (self.moving(*a, depth + 1)?, self.moving(*b, depth + 1)?);
                let sign = if *op == Int::Add { "+" } else { "-" };
                let step = a.step.with(sign, b.step)?;
                let start = match (a.start.text.as_str(), sign, b.start.text.as_str()) {
                    ("0", "+", _) => b.start,
                    (_, _, "0") => a.start,
                    (_, sign, _) => Expr::binary(Level::Sum, sign, &a.start, &b.start),
                };
                Some(Moving { step, start })
            }
            Value::Int(Int::Mul, a, b) => {
                let (of, times) = match self.fixed(*a, depth + 1) {
                    Some(times) => (*b, times),
                    None => (*a, self.fixed(*b, depth + 1)?),
                };
                self.moving(of, depth + 1)?.times(&times)
            }
            Value::Int(..)
            | Value::Real(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::Select(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Load { .. }
            | Value::Address { .. }
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => None,
        }
    }
}
