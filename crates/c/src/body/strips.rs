//! Loops that add to elements which other iterations add to, too, a fixed number of places away: the derivative of what looks at
//! neighbors.
//!
//! ```text
//! for i from the last: g[i] += a; g[i + 1] += b        for each strip of iterations: g[i] += a and b of each, in vectors;
//!                                                      then g[i + 1] += b of each i, in vectors
//! ```
//!
//! Each element gets what it gets in the same order as before: from the iteration that comes first. So no bit changes. Where the order does
//! not matter, strips go upward, as memory is read ahead, as much as can be is added where it is computed, only running need tell how
//! far neighbors are from each other, and the loop may add to variables, too.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is in no loop of this kind")]

use super::Body;
use super::control::Run;
use crate::scopes::for_each_operand;
use crate::text::{Expr, Level};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use wengert_native::loops::{Int, Local, Operand, Stmt, Value};
use wengert_prim::RealOp;

/// Iterations of a strip. What they add is kept on the stack.
const STRIP: usize = 512;
/// More updates than this would be too much to keep.
const MOST: usize = 16;
/// Longer chains of sums of indices are no neighbors.
const DEEP: usize = 8;

/// `base[place] = base[place] + value`
#[derive(Clone, Debug)]
pub(super) struct Update {
    base: Operand,
    place: Operand,
    /// The place, where `@` is the number of the iteration.
    text: String,
    value: Operand,
    /// The variables with what was there, and with the sum.
    old: Local,
    sum: Local,
    /// The object, and how many places from the iteration's own.
    object: Local,
    shift: Shift,
    /// Where the strip's values are; nowhere if they are added at once.
    kept: Option<String>,
}

/// All that a loop adds, if it does nothing else.
#[derive(Clone, Debug)]
pub(super) struct Added {
    /// To elements of its iterations.
    updates: Vec<Update>,
    /// To variables.
    sums: Vec<Local>,
    /// To elements that do not move, which are summed in variables.
    cells: Vec<Update>,
}

impl Added {
    /// Whether what comes first of what an element or a variable gets is not always the same.
    pub(super) fn in_any_order(&self) -> bool {
        !self.sums.is_empty() || !self.cells.is_empty()
    }
}

/// The body of a strip.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    updates: Vec<Update>,
    /// What is computed for these values.
    needed: FxHashSet<Local>,
    /// The number of the iteration, and the place in the strip.
    counter: String,
    at: String,
    /// What is added at once to one of several elements of an object: all of them are read before.
    last: Vec<String>,
}

/// A sum of variables and a number.
type Form = (BTreeMap<Local, i64>, i64);

/// How far a place is from others of its object: which of those it is that are a number of places from each other, and this number. Where an
/// index goes into places several times, it is that of all to which no two iterations add the same element.
type Shift = (usize, i64);
/// It goes into them so often at most.
const FAR: i64 = 64;

impl Body<'_, '_> {
    /// A loop in strips.
    pub(super) fn strips(&mut self, run: &Run<'_>, Added { mut updates, sums, cells }: Added) {
        // Where nobody looks at the order, strips go upward.
        let run = &if self.unit.fast { run.upward() } else { run.clone() };
        let at_once = at_once(&updates, run.backward, self.unit.fast);
        for update in &mut updates {
            let now = at_once.get(&update.object) == Some(&update.shift);
            update.kept = (!now).then(|| self.unit.temporary());
        }
        let kept = updates.iter().filter_map(|update| update.kept.as_ref());
        let names: Vec<String> = kept.map(|kept| format!("{kept}[{STRIP}]")).collect();
        if !names.is_empty() {
            self.put(&format!("double {};", names.join(", ")));
        }
        for cell in &cells {
            self.plan.add_cell((cell.base, cell.place), cell.old, || self.unit.temporary());
        }
        self.begin_cells();
        let (from, to) = (self.unit.temporary(), self.unit.temporary());
        let (end, next) = (&run.end, format!("{from} + {STRIP}"));
        self.put(&if run.backward {
            format!("for (word {to} = {end}; {to} > 0;) {{")
        } else {
            format!("for (word {from} = 0; {from} < {end};) {{")
        });
        self.depth += 1;
        if run.looks {
            self.put("wg_check_stop(r);");
        }
        self.put(&if run.backward {
            format!("const word {from} = {to} > {STRIP} ? {to} - {STRIP} : 0;")
        } else {
            format!("const word {to} = {end} - {from} > {STRIP} ? {next} : {end};")
        });
        let needed =
            needed(run.body, &updates, sums.iter().copied().chain(cells.iter().map(|cell| cell.sum)));
        self.plan.sums = sums;
        self.hint(true);
        let (counter, own) = self.counter(run.index);
        let head = format!("for (word {counter} = {from}; {counter} < {to}; {counter}++) {{");
        self.put(&head);
        let (at, updating) = (format!("{counter} - {from}"), updates.clone());
        let last = Vec::new();
        self.strip = Some(Strip { updates: updating, needed, counter: counter.clone(), at, last });
        self.body_of(run, (&counter, own), false);
        let last = self.strip.take().map(|strip| strip.last).unwrap_or_default();
        self.depth += 1;
        last.iter().for_each(|line| self.put(line));
        self.depth -= 1;
        self.put("}");
        let plan = std::mem::take(&mut self.plan);
        self.add_later(&updates, run.backward, (&head, &counter, &from));
        let (next, reached) = if run.backward { (&to, &from) } else { (&from, &to) };
        self.put(&format!("{next} = {reached};"));
        self.depth -= 1;
        self.put("}");
        self.end_cells(&plan.cells);
    }

    /// Adds what was kept, from the iterations that come first on.
    fn add_later(&mut self, updates: &[Update], backward: bool, (head, counter, from): (&str, &str, &str)) {
        let later = |update: &&Update| update.kept.is_some();
        let mut shifts: Vec<Shift> =
            updates.iter().filter(later).map(|update| order(update, backward)).collect();
        shifts.sort_unstable();
        shifts.dedup();
        for shift in shifts {
            self.hint(true);
            self.put(head);
            self.depth += 1;
            for update in updates.iter().filter(|update| order(update, backward) == shift) {
                if let Some(kept) = &update.kept {
                    let element = self.updated(update, counter);
                    self.put(&format!("{element} = {element} + {kept}[{counter} - {from}];"));
                }
            }
            self.depth -= 1;
            self.put("}");
        }
    }

    /// A statement of a strip: whether it is one of those that update, and done.
    pub(super) fn update(&mut self, stmt: &Stmt) -> bool {
        let Some(Strip { updates, needed, counter, at, last: _ }) = &self.strip else { return false };
        match stmt {
            Stmt::Set(local, _) if !needed.contains(local) => {
                self.is_declared(*local);
            }
            Stmt::Store { value: Operand::Local(sum), .. } => {
                let Some(update) = updates.iter().find(|update| update.sum == *sum) else { return false };
                let (update, updates) = (update.clone(), updates.clone());
                let (counter, at) = (counter.clone(), at.clone());
                let beside = |other: &&Update| other.kept.is_none() && other.object == update.object;
                let several = update.kept.is_none() && updates.iter().filter(beside).count() > 1;
                let mut value = self.operand(update.value);
                self.flush(|pending| pending.reads);
                if several {
                    let name = self.unit.temporary();
                    self.put(&format!("const double {name} = {};", value.text));
                    value = Expr::primary(name);
                }
                let line = match &update.kept {
                    Some(kept) => format!("{kept}[{at}] = {};", value.text),
                    None => {
                        let element = self.updated(&update, &counter);
                        format!("{element} = {element} + {};", value.at(Level::Product))
                    }
                };
                match &mut self.strip {
                    Some(strip) if several => strip.last.push(line),
                    Some(_) | None => self.put(&line),
                }
            }
            _ => return false,
        }
        true
    }

    /// The element to which an iteration adds.
    fn updated(&mut self, update: &Update, counter: &str) -> String {
        let base = self.address(update.base, true).at(Level::Primary);
        format!("{base}[{}]", update.text.replace('@', counter))
    }

    /// What the loop adds where, if that is all that it does.
    pub(super) fn added(&self, run: &Run<'_>) -> Option<Added> {
        let mut inside: FxHashMap<Local, &Value> = FxHashMap::default();
        let mut carries = false;
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        for stmt in run.body {
            match stmt {
                Stmt::Set(local, value)
                    if self.assigned_once(*local) && !matches!(value, Value::Alloc(..)) =>
                {
                    inside.insert(*local, value);
                    if let Value::Load { base, index, offset } = value {
                        (*offset == 0).then_some(())?;
                        loads.push((*local, *base, *index));
                    }
                }
                Stmt::Set(local, _) if self.unit.fast && !self.assigned_once(*local) => carries = true,
                Stmt::Store { base, index, offset: 0, value } => stores.push((*base, *index, *value)),
                check if self.skipped.contains(&std::ptr::from_ref(check)) => {}
                _ => return None,
            }
        }
        let moves = |operand: Operand| {
            let times = self.form(operand, DEEP).0.get(&run.index).copied();
            times.is_some_and(|times| {
                times == 1 || self.unit.fast && times.unsigned_abs() <= FAR.unsigned_abs()
            })
        };
        let (mut updates, mut cells) = (Vec::new(), Vec::new());
        for (base, place, value) in &stores {
            let mut update = self.update_of((*base, *place, *value), &loads, &inside)?;
            (!self.is_inside(*base, &inside)).then_some(())?;
            if self.unit.fast && !self.is_inside(*place, &inside) && *place != Operand::Local(run.index) {
                cells.push(update);
                continue;
            }
            moves(*place).then_some(())?;
            update.text = self.index_text(*place, run.index, (&inside, DEEP))?;
            updates.push(update);
        }
        // All that is written is only added to; the places are so far from each other as is known.
        let all = || updates.iter().chain(&cells);
        let written: FxHashSet<Local> = all().map(|update| update.object).collect();
        let other = loads.iter().filter(|(local, _, _)| all().all(|update| update.old != *local));
        let apart =
            other.clone().all(|(_, base, _)| self.object(*base).is_none_or(|o| !written.contains(&o)));
        let steady = other.clone().all(|(_, base, place)| {
            !self.is_inside(*base, &inside) && (moves(*place) || !self.is_inside(*place, &inside))
        });
        // Elements at the iteration's own place alone need no strips.
        let elsewhere = updates.iter().any(|update| update.text != "@");
        let fine = elsewhere && apart && steady && (1..=MOST).contains(&updates.len());
        fine.then_some(())?;
        self.set_shifts(&mut updates, run.index)?;
        (!self.are_rows(&updates)).then_some(())?;
        let sums = if carries { self.sums_of(run.body, run.index)? } else { Vec::new() };
        Some(Added { updates, sums, cells })
    }

    fn is_inside(&self, operand: Operand, inside: &FxHashMap<Local, &Value>) -> bool {
        matches!(operand, Operand::Local(local) if inside.contains_key(&local))
    }

    fn update_of(
        &self,
        (base, place, value): (Operand, Operand, Operand),
        loads: &[(Local, Operand, Operand)],
        inside: &FxHashMap<Local, &Value>,
    ) -> Option<Update> {
        let Operand::Local(sum) = value else { return None };
        let Value::Real(RealOp::Add, args) = inside.get(&sum)? else { return None };
        let [Operand::Local(old), value] = *args.as_slice() else { return None };
        let is_old = |(local, from, index): &&(Local, Operand, Operand)| {
            *local == old && *from == base && *index == place && self.info(*local).reads == 1
        };
        loads.iter().find(is_old)?;
        (self.info(sum).reads == 1 && value != Operand::Local(old)).then_some(())?;
        let object = self.object(base)?;
        let text = String::new();
        Some(Update { base, place, text, value, old, sum, object, shift: (0, 0), kept: None })
    }

    /// How far each place is from the first one of its object. Where only running tells, it does not matter if the order does not.
    fn set_shifts(&self, updates: &mut [Update], index: Local) -> Option<()> {
        let mut first: FxHashMap<Local, Vec<Form>> = FxHashMap::default();
        for update in updates.iter_mut() {
            let mut form = self.form(update.place, DEEP);
            self.add_offset(update.base, &mut form);
            let times = form.0.get(&index).copied().filter(|times| *times != 0)?;
            let begun = first.entry(update.object).or_default();
            let which = begun.iter().position(|begin| begin.0 == form.0);
            let which = which.unwrap_or_else(|| {
                begun.push(form.clone());
                begun.len() - 1
            });
            (which == 0 || self.unit.fast).then_some(())?;
            update.shift = (which, form.1.div_euclid(times.abs()));
        }
        Some(())
    }

    /// Whether each update of an object is in another row: then they are so far from each other that the compiler looks whether they are, and
    /// makes vectors at once.
    fn are_rows(&self, updates: &[Update]) -> bool {
        let forms: Vec<(Local, BTreeMap<Local, i64>)> =
            updates.iter().map(|update| (update.object, self.form(update.place, DEEP).0)).collect();
        let begins_row = |local: &Local| matches!(self.values.get(local), Some(Value::Int(Int::Mul, ..)));
        let far = |a: &BTreeMap<Local, i64>, b: &BTreeMap<Local, i64>| {
            let own = |a: &BTreeMap<Local, i64>, b: &BTreeMap<Local, i64>| {
                a.iter().any(|(local, times)| b.get(local) != Some(times) && begins_row(local))
            };
            own(a, b) || own(b, a)
        };
        let pairs = forms.iter().enumerate().flat_map(|(at, first)| {
            forms
                .iter()
                .skip(at + 1)
                .filter(|other| other.0 == first.0)
                .map(move |other| (&first.1, &other.1))
        });
        let mut pairs = pairs.peekable();
        pairs.peek().is_some() && pairs.all(|(a, b)| far(a, b))
    }

    /// Adds where in its object an address is.
    pub(super) fn add_offset(&self, base: Operand, form: &mut Form) {
        let Operand::Local(mut local) = base else { return };
        loop {
            match self.values.get(&local) {
                Some(Value::Address { base: Operand::Local(base), index, offset }) => {
                    let (terms, constant) = self.form(*index, DEEP);
                    add(form, &terms, constant.wrapping_add(i64::from(*offset)), 1);
                    local = *base;
                }
                Some(Value::Copy(Operand::Local(base))) => local = *base,
                _ => return,
            }
        }
    }

    /// An index as a sum of variables.
    pub(super) fn form(&self, operand: Operand, depth: usize) -> Form {
        let local = match operand {
            Operand::Int(n) => return (BTreeMap::new(), n),
            Operand::Local(local) => local,
            Operand::Real(_) | Operand::Text(_) => return (BTreeMap::new(), 0),
        };
        match self.values.get(&local) {
            Some(Value::Copy(x)) if depth > 0 => self.form(*x, depth - 1),
            Some(Value::Int(op @ (Int::Add | Int::Sub), a, b)) if depth > 0 => {
                let (mut sum, (terms, constant)) = (self.form(*a, depth - 1), self.form(*b, depth - 1));
                add(&mut sum, &terms, constant, if *op == Int::Add { 1 } else { -1 });
                sum
            }
            Some(
                Value::Int(Int::Mul, Operand::Int(times), of) | Value::Int(Int::Mul, of, Operand::Int(times)),
            ) if depth > 0 => {
                let (mut sum, (terms, constant)) = ((BTreeMap::new(), 0), self.form(*of, depth - 1));
                add(&mut sum, &terms, constant, *times);
                sum
            }
            _ => (BTreeMap::from_iter([(local, 1)]), 0),
        }
    }

    /// The text of an index, made of what is there outside of the loop.
    fn index_text(
        &self,
        operand: Operand,
        index: Local,
        (inside, depth): (&FxHashMap<Local, &Value>, usize),
    ) -> Option<String> {
        match operand {
            Operand::Local(local) if local == index => Some("@".into()),
            Operand::Local(local) => match inside.get(&local) {
                None => Some(self.name(local).to_string()),
                Some(Value::Copy(x)) if depth > 0 => self.index_text(*x, index, (inside, depth - 1)),
                Some(Value::Int(op @ (Int::Add | Int::Sub), a, b)) if depth > 0 => {
                    let a = self.index_text(*a, index, (inside, depth - 1))?;
                    let b = self.index_text(*b, index, (inside, depth - 1))?;
                    let b = if b.contains(' ') { format!("({b})") } else { b };
                    Some(format!("{a} {} {b}", if *op == Int::Add { "+" } else { "-" }))
                }
                Some(
                    Value::Int(Int::Mul, Operand::Int(times), of)
                    | Value::Int(Int::Mul, of, Operand::Int(times)),
                ) if depth > 0 && (1..=FAR).contains(times) => {
                    let of = self.index_text(*of, index, (inside, depth - 1))?;
                    let of = if of.contains(' ') { format!("({of})") } else { of };
                    Some(format!("{times} * {of}"))
                }
                Some(_) => None,
            },
            Operand::Int(n) => Some(n.to_string()),
            Operand::Real(_) | Operand::Text(_) => None,
        }
    }
}

/// Which of the updates of an element comes first: that of the iteration that does.
fn order(update: &Update, backward: bool) -> Shift {
    let (which, shift) = update.shift;
    (which, if backward { shift } else { -shift })
}

/// Of each object, the shift of what is added to it where it is computed: what comes first, or most of it if any order will do.
fn at_once(updates: &[Update], backward: bool, any_order: bool) -> FxHashMap<Local, Shift> {
    let mut found: FxHashMap<Local, Shift> = FxHashMap::default();
    let count = |update: &Update| {
        let same = |other: &&Update| (other.object, other.shift) == (update.object, update.shift);
        if any_order { updates.iter().filter(same).count() } else { 0 }
    };
    let mut sorted: Vec<&Update> = updates.iter().collect();
    sorted.sort_by_key(|update| (std::cmp::Reverse(count(update)), order(update, backward)));
    for update in sorted {
        found.entry(update.object).or_insert(update.shift);
    }
    found
}

/// What is computed for the values that are added, and these sums.
fn needed(body: &[Stmt], updates: &[Update], sums: impl Iterator<Item = Local>) -> FxHashSet<Local> {
    let local = |operand: &Operand| if let Operand::Local(local) = operand { Some(*local) } else { None };
    let mut needed: FxHashSet<Local> = updates.iter().filter_map(|update| local(&update.value)).collect();
    needed.extend(sums);
    for stmt in body.iter().rev() {
        if let Stmt::Set(set, value) = stmt
            && needed.contains(set)
        {
            for_each_operand(value, &mut |operand| needed.extend(local(operand)));
        }
    }
    needed
}

fn add(form: &mut Form, terms: &BTreeMap<Local, i64>, constant: i64, times: i64) {
    for (local, n) in terms {
        let sum = form.0.entry(*local).or_insert(0);
        *sum = sum.wrapping_add(n.wrapping_mul(times));
    }
    form.0.retain(|_, n| *n != 0);
    form.1 = form.1.wrapping_add(constant.wrapping_mul(times));
}
