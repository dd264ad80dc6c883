//! Derivatives one number at a time without looking for strong zeros first, as [`super::zeros`] explains for vectors.
//!
//! A loop whose steps wait for each other runs as a whole with plain products and quotients. If something that comes out of it is no
//! number, it runs again, carefully, from what it began with; it does nothing that cannot be done again: what it stores goes into arrays of its own that
//! it does not read, and is added up as it is stored, to see whether it is a number. What such a loop hands on may become smaller from step to
//! step, in the end so small that few bits are left of it, and then each step takes some processors ten times as long: from there on it is
//! zero. Outside of such loops, where code
//! is run again and again, the same is done with each run of operations in a line.

use super::body::Body;
use super::lanes::Loop;
use super::zeros::Doubtful;
use crate::compiled::Math;
use crate::loops::walk::{Uses, every, operands, reads};
use crate::loops::{Func, Local, Operand, Stmt, Value as Expr, Word};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many products and quotients of a loop, and of operations in a line, are worth a second text.
const WORTH_OF_STEPS: usize = 2;
const WORTH_OF_LINE: usize = 8;

/// Twice the bits of 2^-1060, less one: what is smaller than that has few bits.
const FAINT: i64 = (1 << 15) - 1;

/// How often the variables of a function are read and assigned, if there are strong zeros in it nobody needs to look for first;
/// else nothing.
pub(super) fn uses(func: &Func, math: Math) -> Uses {
    let mut strong = false;
    every(&func.body, &mut |stmt| strong |= stmt.is_strong());
    if math == Math::Fast && strong { Uses::of(func, &func.body) } else { Uses::default() }
}

/// Of the variables that refer to objects, or to places in them, and are assigned once, where they come from: another such variable, or
/// nowhere if it is a new object.
pub(super) fn origins(func: &Func, uses: &Uses) -> FxHashMap<Local, Option<Local>> {
    let mut origins = FxHashMap::default();
    if uses.sets.is_empty() {
        return origins;
    }
    every(&func.body, &mut |stmt| {
        let Stmt::Set(local, value) = stmt else { return };
        if uses.sets.get(local) != Some(&1) {
            return;
        }
        if let Expr::Address { base: Operand::Local(from), .. } | Expr::Copy(Operand::Local(from)) = value {
            origins.insert(*local, Some(*from));
        } else if let Expr::Alloc(..) = value {
            origins.insert(*local, None);
        }
    });
    origins
}

/// The object of an address: a variable that is new, or a parameter, with whether nothing else leads to it: it is new, or one that only this
/// parameter of a part of a loop leads to.
fn object(body: &Body<'_, '_, '_>, base: Operand) -> Option<(Local, bool)> {
    let mut at = base.local()?;
    loop {
        match body.origins.get(&at) {
            Some(Some(from)) => at = *from,
            Some(None) => return Some((at, true)),
            None => {
                let given = body.func.params.contains(&at) && body.uses.sets.get(&at) == Some(&1);
                let own = body.func.part.as_ref().is_some_and(|own| own.contains(&at));
                return given.then_some((at, own));
            }
        }
    }
}

/// Whether a variable is read elsewhere than in statements that read it so often.
fn elsewhere(uses: &Uses, local: Local, inside: &FxHashMap<Local, usize>) -> bool {
    uses.reads.get(&local) > inside.get(&local)
}

/// Whether what is assigned is no number if an operand that is doubtful is none.
fn keeps(value: &Expr, word: Word, doubtful: &Doubtful) -> bool {
    match value {
        Expr::Real(op, _) => op.hands_on_nan(),
        Expr::Copy(_) => word == Word::Real,
        Expr::Select(cond, ..) => word == Word::Real && !doubtful.is(cond),
        Expr::Int(..)
        | Expr::CompareReal(..)
        | Expr::CompareInt(..)
        | Expr::OutOfRange(..)
        | Expr::IntToReal(_)
        | Expr::RealToInt(_)
        | Expr::Round(..)
        | Expr::Bits(_)
        | Expr::Load { .. }
        | Expr::Address { .. }
        | Expr::Tag(..)
        | Expr::Unique(..)
        | Expr::Alloc(..) => false,
    }
}

/// What is known of the body of a loop.
#[derive(Default)]
struct Steps {
    doubtful: Doubtful,
    /// What is read before it is assigned, and all that is assigned.
    exposed: Vec<Local>,
    assigned: FxHashSet<Local>,
    strong: usize,
    /// Where it reads and where it stores.
    read: Vec<Operand>,
    written: Vec<Operand>,
    /// What it stores that may be no number because nobody has looked.
    stored: FxHashSet<Local>,
}

impl Steps {
    /// `None` if the statements may do something that depends on a strong zero, or that cannot be done again.
    fn look(&mut self, func: &Func, stmts: &[Stmt], before: &mut FxHashSet<Local>) -> Option<()> {
        for stmt in stmts {
            for local in reads(stmt) {
                if !before.contains(&local) && !self.exposed.contains(&local) {
                    self.exposed.push(local);
                }
            }
            match stmt {
                Stmt::Set(local, value) => {
                    let word = func.locals.get(*local).copied()?;
                    let doubtful = operands(stmt).iter().any(|operand| self.doubtful.is(operand));
                    if doubtful && !keeps(value, word, &self.doubtful) || matches!(value, Expr::Alloc(..)) {
                        return None;
                    }
                    self.strong += usize::from(stmt.is_strong());
                    if let Expr::Load { base, .. } = value {
                        self.read.push(*base);
                    }
                    // Once doubtful, always so: a step hands it to the next one.
                    if doubtful || stmt.is_strong() {
                        self.doubtful.add(*local);
                    }
                    before.insert(*local);
                    self.assigned.insert(*local);
                }
                Stmt::If { cond, then, otherwise } => {
                    (!self.doubtful.is(cond)).then_some(())?;
                    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                        let (mut yes, mut no) = (before.clone(), before.clone());
                        self.look(func, then, &mut yes)?;
                        self.look(func, otherwise, &mut no)?;
                        before.extend(yes.intersection(&no));
                        Some(())
                    })?;
                }
                Stmt::Fail(_, numbers) => {
                    if numbers.iter().any(|number| self.doubtful.is(number)) {
                        return None;
                    }
                }
                Stmt::Store { base, index, offset: _, value } => {
                    (!self.doubtful.is(index)).then_some(())?;
                    self.written.push(*base);
                    self.stored.extend(value.local().filter(|local| self.doubtful.has(*local)));
                }
                Stmt::Switch { .. }
                | Stmt::For { .. }
                | Stmt::While { .. }
                | Stmt::Parallel { .. }
                | Stmt::Call { .. }
                | Stmt::Runtime { .. }
                | Stmt::Retain(..)
                | Stmt::Release(..)
                | Stmt::Free(..) => return None,
            }
        }
        Some(())
    }

    /// Whether nothing is read where something is stored, so that this can be done again.
    fn is_apart(&self, body: &Body<'_, '_, '_>) -> bool {
        let new = self.written.iter().map(|base| object(body, *base).filter(|(_, is_new)| *is_new));
        let Some(new) = new.collect::<Option<FxHashSet<_>>>() else { return false };
        let elsewhere = |base: &Operand| object(body, *base).is_some_and(|object| !new.contains(&object));
        new.is_empty() || self.read.iter().all(elsewhere)
    }

    /// What a step hands on that it multiplies with its slope.
    fn multiplied(&self, func: &Func, body: &[Stmt]) -> FxHashSet<Local> {
        let mut found = FxHashSet::default();
        every(body, &mut |stmt| {
            if stmt.is_strong() {
                found.extend(reads(stmt).filter(|local| self.exposed.contains(local)));
            }
        });
        found.retain(|local| self.doubtful.has(*local) && func.locals.get(*local) == Some(&Word::Real));
        found
    }

    fn of(func: &Func, made: &Loop<'_>) -> Option<Steps> {
        let mut doubtful = Doubtful::default();
        // What a step hands on may be doubtful because of what comes later.
        loop {
            let mut steps = Steps { doubtful: doubtful.clone(), ..Steps::default() };
            let mut before = FxHashSet::from_iter([made.index]);
            steps.look(func, made.body, &mut before)?;
            if steps.doubtful.count() == doubtful.count() {
                steps.exposed.retain(|local| steps.assigned.contains(local));
                let worth = steps.strong >= WORTH_OF_STEPS || !steps.multiplied(func, made.body).is_empty();
                return (worth && !steps.assigned.contains(&made.index)).then_some(steps);
            }
            doubtful = steps.doubtful;
        }
    }
}

/// A loop without looking, and again with looking if that was wrong. Whether it is one of those.
pub(super) fn steps(body: &mut Body<'_, '_, '_>, made: &Loop<'_>) -> bool {
    if body.uses.sets.is_empty() || body.plain || body.careful {
        return false;
    }
    let Some(steps) = Steps::of(body.func, made).filter(|steps| steps.is_apart(body)) else { return false };
    let mut inside = FxHashMap::default();
    every(made.body, &mut |stmt| reads(stmt).for_each(|local| *inside.entry(local).or_default() += 1));
    let real =
        |local: &Local| body.func.locals.get(*local) == Some(&Word::Real) && steps.doubtful.has(*local);
    let outlives = |local: &Local| steps.exposed.contains(local) || elsewhere(&body.uses, *local, &inside);
    let mut outcome: Vec<Local> = steps.assigned.iter().copied().filter(real).filter(outlives).collect();
    outcome.sort();
    if outcome.is_empty() && steps.stored.is_empty() {
        return false;
    }
    let note = (!steps.stored.is_empty()).then(|| {
        let (note, zero) = (body.builder.declare_var(types::F64), body.builder.ins().f64const(0.0));
        body.builder.def_var(note, zero);
        (note, steps.stored.clone())
    });
    let before: Vec<Value> = steps.exposed.iter().map(|local| body.read(*local)).collect();
    let counter = body.builder.use_var(made.counter);
    body.plain = true;
    body.note = note;
    body.faint = steps.multiplied(body.func, made.body);
    body.for_loop(made);
    body.plain = false;
    body.faint.clear();
    let note = body.note.take().map(|(note, _)| body.builder.use_var(note));
    let wrong = no_number(body, &outcome, note);
    body.unlikely(wrong, |body| {
        body.careful = true;
        steps.exposed.iter().zip(before).for_each(|(local, value)| body.assign(*local, value));
        body.builder.def_var(made.counter, counter);
        body.for_loop(made);
        body.careful = false;
    });
    true
}

/// A tangent that steps have made so small that few bits are left of it is zero: with numbers as small as that, some processors are slow.
pub(super) fn unless_faint(body: &mut Body<'_, '_, '_>, tangent: Value) -> Value {
    let zero = body.builder.ins().f64const(0.0);
    let bits = body.builder.ins().bitcast(types::I64, MemFlagsData::new(), tangent);
    // Without the sign; and zero is not to be among them.
    let twice = body.builder.ins().iadd(bits, bits);
    let below = body.builder.ins().iadd_imm_s(twice, -1);
    let faint = body.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, below, FAINT);
    // A choice is a branch, which goes the same way for long: nothing waits for it.
    body.builder.ins().select(faint, zero, tangent)
}

/// Whether any of these is no number.
fn no_number(body: &mut Body<'_, '_, '_>, outcome: &[Local], note: Option<Value>) -> Value {
    let values = outcome.iter().map(|local| body.read(*local)).chain(note);
    let values: Vec<Value> = values.collect();
    let sum = values.into_iter().reduce(|a, b| body.builder.ins().fadd(a, b));
    let sum = sum.unwrap_or(body.state);
    body.builder.ins().fcmp(FloatCC::Unordered, sum, sum)
}

/// How many statements from the first on are operations in a line, and what comes out of them that may be no number if nobody looks
/// for zeros, if it is worth doing them so.
pub(super) fn line(body: &Body<'_, '_, '_>, stmts: &[Stmt]) -> (usize, Vec<Local>) {
    if body.uses.sets.is_empty() || body.plain || body.careful || !body.repeats() {
        return (stmts.len(), Vec::new());
    }
    let (mut doubtful, mut strong, mut length) = (Doubtful::default(), 0, 0);
    let mut inside = FxHashMap::default();
    let mut found = Vec::new();
    for stmt in stmts {
        let Stmt::Set(local, value) = stmt else { break };
        let word = body.func.locals.get(*local).copied().unwrap_or(Word::Int);
        let is_doubtful = operands(stmt).iter().any(|operand| doubtful.is(operand));
        let once = body.uses.sets.get(local) == Some(&1);
        let again = !matches!(value, Expr::Alloc(..));
        if !once || !again || is_doubtful && !keeps(value, word, &doubtful) {
            break;
        }
        strong += usize::from(stmt.is_strong());
        reads(stmt).for_each(|local| *inside.entry(local).or_default() += 1);
        if is_doubtful || stmt.is_strong() {
            doubtful.add(*local);
            found.push(*local);
        }
        length += 1;
    }
    found.retain(|local| elsewhere(&body.uses, *local, &inside));
    if strong < WORTH_OF_LINE || 2 * found.len() > strong {
        found.clear();
    }
    (length, found)
}

/// Such a line without looking, and again if that was wrong.
pub(super) fn quickly(body: &mut Body<'_, '_, '_>, stmts: &[Stmt], outcome: &[Local]) {
    body.plain = true;
    stmts.iter().for_each(|stmt| body.stmt(stmt));
    body.plain = false;
    let wrong = no_number(body, outcome, None);
    body.unlikely(wrong, |body| {
        // Each variable is assigned once: it reads what it read before.
        body.careful = true;
        stmts.iter().for_each(|stmt| body.stmt(stmt));
        body.careful = false;
    });
}

#[cfg(test)]
mod tests;
