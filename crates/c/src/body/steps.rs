//! Loops whose steps wait for each other, in derivatives.
//!
//! They make no vectors, and what is carried goes through products with strong zeros: a look at each of these would stand between the
//! steps. So such a loop runs with plain products first. A strong zero makes a difference only where a plain product is not a
//! number, and then what is made of it is none either; if something that comes out of the loop is not finite, it runs again, carefully,
//! from what it began with.
//!
//! What is handed on becomes smaller from step to step where the loop comes to rest, in the end so small that few bits are left of it; and then
//! each step takes some processors ten times as long. From there on it is zero; one looks at that after some steps each.

use super::Body;
use super::control::Run;
use super::finite::not_finite;
use crate::scopes::for_each_operand;
use rustc_hash::FxHashSet;
use wengert_native::loops::{Local, Operand, Stmt, Value, Word};
use wengert_prim::RealOp;

/// After so many steps one looks whether what they hand on is faint.
const STRIP: usize = 32;

/// Where it is noted that what is stored is not finite, or no number.
pub(super) struct Noted {
    pub(super) name: String,
    /// What is looked at.
    pub(super) derived: FxHashSet<Local>,
    /// Whether the loop is made of vectors; then the note is a plain sum.
    pub(super) vectors: bool,
    /// Elements that are noted at the end of the iteration, all at once: each addition to the note waits for the one before.
    pub(super) waiting: Vec<String>,
    /// How deep the statements of the loop itself are.
    pub(super) depth: usize,
}

impl Noted {
    pub(super) fn new(name: String, derived: FxHashSet<Local>, vectors: bool) -> Noted {
        Noted { name, derived, vectors, waiting: Vec::new(), depth: 0 }
    }
}

/// What is known of the body of such a loop.
pub(super) struct Steps {
    /// What products with strong zeros lead to.
    pub(super) derived: FxHashSet<Local>,
    /// Variables from outside that it assigns.
    pub(super) carried: Vec<Local>,
    /// Whether something that is derived is stored.
    pub(super) stores: bool,
}

impl Body<'_, '_> {
    /// The loop twice: as it is for most numbers, and carefully. Whether this is such a loop.
    pub(super) fn steps(&mut self, run: &Run<'_>) -> bool {
        let Some(steps) = self.steps_of(run.index, run.body) else { return false };
        let run = &run.waiting(true);
        let mut saved = Vec::new();
        for local in &steps.carried {
            let (name, before) = (self.name(*local).to_string(), self.unit.temporary());
            self.put(&format!("const {}{before} = {name};", self.declarator(*local)));
            saved.push(format!("{name} = {before};"));
        }
        let mut checks: Vec<String> = Vec::new();
        if steps.stores {
            let note = self.unit.temporary();
            self.put(&format!("double {note} = 0.0;"));
            checks.push(note.clone());
            self.noted = Some(Noted::new(note, steps.derived.clone(), false));
        }
        let before = (self.blocks, self.declared.clone(), self.line);
        self.plain = true;
        self.handed_on(run, &steps.multiplied(run.body));
        self.plain = false;
        self.noted = None;
        (self.blocks, self.declared, self.line) = before;
        let derived = steps.carried.iter().filter(|local| steps.derived.contains(local));
        checks.extend(derived.map(|local| self.name(*local).to_string()));
        self.put(&format!("if (WG_RARELY({})) {{", not_finite(&checks)));
        self.depth += 1;
        saved.iter().for_each(|line| self.put(line));
        self.once(run);
        self.depth -= 1;
        self.put("}");
        true
    }

    /// A loop in strips, after each of which what has become faint of these is zero: to look at each step would be a tenth of it.
    fn handed_on(&mut self, run: &Run<'_>, carried: &[Local]) {
        let known: Option<usize> = run.to.parse().ok();
        if carried.is_empty() || known.is_some_and(|count| count <= STRIP) {
            self.once(run);
            return carried.iter().for_each(|local| self.unless_faint(*local));
        }
        let (from, to) = self.begin_pieces(run, STRIP);
        self.once(&run.piece(from, to));
        carried.iter().for_each(|local| self.unless_faint(*local));
        self.depth -= 1;
        self.put("}");
    }

    /// Begins to go through a loop in pieces of so many iterations, or what is left: from where and to where each goes.
    pub(super) fn begin_pieces(&mut self, run: &Run<'_>, length: usize) -> (String, String) {
        let (from, to) = (self.unit.temporary(), self.unit.temporary());
        let Run { from: begin, to: end, backward, .. } = run;
        self.put(&if *backward {
            format!("for (word {to} = {end}, {from}; {to} > {begin}; {to} = {from}) {{")
        } else {
            format!("for (word {from} = {begin}, {to}; {from} < {end}; {from} = {to}) {{")
        });
        self.depth += 1;
        if run.looks {
            self.put("wg_check_stop(r);");
        }
        self.put(&if *backward {
            format!("{from} = {to} - {begin} > {length} ? {to} - {length} : {begin};")
        } else {
            format!("{to} = {end} - {from} > {length} ? {from} + {length} : {end};")
        });
        (from, to)
    }

    fn unless_faint(&mut self, local: Local) {
        let name = self.name(local).to_string();
        self.put(&format!("{name} = wg_unless_faint({name});"));
    }

    /// What is stored in a loop that runs without looking is noted.
    pub(super) fn note_stored(&mut self, operand: Operand, text: &str) {
        if let (Some(noted), Operand::Local(local)) = (&mut self.noted, operand)
            && noted.derived.contains(&local)
        {
            // In vectors one operation does: it is enough to see whether something is not a number.
            if noted.vectors && noted.depth == self.depth {
                return noted.waiting.push(text.into());
            }
            let name = &noted.name;
            let line = if noted.vectors {
                format!("{name} += {text};")
            } else {
                format!("{name} = wg_fma(0.0, {text}, {name});")
            };
            self.put(&line);
        }
    }

    /// Notes what waits for the end of the iteration.
    pub(super) fn note_waiting(&mut self) {
        if let Some(noted) = &mut self.noted
            && !noted.waiting.is_empty()
        {
            let line = format!("{} += {};", noted.name, std::mem::take(&mut noted.waiting).join(" + "));
            self.put(&line);
        }
    }

    fn steps_of(&self, index: Local, body: &[Stmt]) -> Option<Steps> {
        let (steps, memory) = self.derived(body)?;
        let apart = self.are_apart(index, &memory.loads, &memory.stores);
        (apart && self.waits(body, &steps)).then_some(steps)
    }

    /// What is in a body; nothing if it may do something that depends on a strong zero.
    pub(super) fn derived(&self, body: &[Stmt]) -> Option<(Steps, Memory)> {
        let mut steps = Steps { derived: FxHashSet::default(), carried: Vec::new(), stores: false };
        // What is carried may be derived from what comes later.
        loop {
            let (before, mut memory) = (steps.derived.len(), Memory::default());
            self.look(body, &mut steps, &mut memory)?;
            if steps.derived.len() == before {
                return Some((steps, memory));
            }
        }
    }

    /// Notes what is in statements; `None` if they may do something that depends on a strong zero, or cannot be done again.
    fn look(&self, stmts: &[Stmt], steps: &mut Steps, memory: &mut Memory) -> Option<()> {
        for stmt in stmts {
            match stmt {
                Stmt::Set(local, value) => {
                    if !self.assigned_once(*local)
                        && self.is_from_outside(*local)
                        && !steps.carried.contains(local)
                    {
                        steps.carried.push(*local);
                    }
                    if let Value::Load { base, .. } = value {
                        memory.loads.push(*base);
                    }
                    let strong = matches!(value, Value::Real(RealOp::MulZero | RealOp::DivZero, _));
                    let mut derived = false;
                    for_each_operand(value, &mut |operand| derived |= steps.is_derived(*operand));
                    if derived && !self.hands_on(*local, value, steps) {
                        return None;
                    }
                    if derived || strong {
                        steps.derived.insert(*local);
                    }
                }
                Stmt::Store { base, index: _, offset: _, value } => {
                    memory.stores.push(*base);
                    steps.stores |= steps.is_derived(*value);
                }
                Stmt::If { cond: _, then, otherwise } => {
                    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                        self.look(then, steps, memory)?;
                        self.look(otherwise, steps, memory)
                    })?;
                }
                Stmt::Fail(_, numbers) => {
                    (!numbers.iter().any(|number| steps.is_derived(*number))).then_some(())?;
                }
                Stmt::Switch { .. }
                | Stmt::For { .. }
                | Stmt::Parallel { .. }
                | Stmt::While { .. }
                | Stmt::Call { .. }
                | Stmt::Runtime { .. }
                | Stmt::Retain(..)
                | Stmt::Release(..)
                | Stmt::Free(..) => return None,
            }
        }
        Some(())
    }

    /// Whether a value is not a number if an operand is none that is derived.
    fn hands_on(&self, local: Local, value: &Value, steps: &Steps) -> bool {
        match value {
            Value::Real(op, _) => op.hands_on_nan(),
            Value::Copy(_) => self.word(local) == Word::Real,
            Value::Select(cond, ..) => self.word(local) == Word::Real && !steps.is_derived(*cond),
            Value::Load { .. }
            | Value::Address { .. }
            | Value::Int(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::IntToReal(_)
            | Value::CompareReal(..)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => false,
        }
    }

    /// Whether a variable is declared outside of the loop that is printed next.
    pub(super) fn is_from_outside(&self, local: Local) -> bool {
        self.info(local).declared.is_none_or(|(block, _)| block <= self.blocks)
    }

    /// Whether a step multiplies or divides what the step before has derived.
    fn waits(&self, body: &[Stmt], steps: &Steps) -> bool {
        let derived = |local: &&Local| self.word(**local) == Word::Real && steps.derived.contains(*local);
        let mut from: FxHashSet<Local> = steps.carried.iter().filter(derived).copied().collect();
        let mut found = false;
        super::rare::for_each_set(body, &mut |local, value| {
            let mut uses = false;
            for_each_operand(value, &mut |operand| {
                uses |= matches!(operand, Operand::Local(used) if from.contains(used));
            });
            let factor = matches!(
                value,
                Value::Real(RealOp::Mul | RealOp::MulZero | RealOp::Div | RealOp::DivZero, _)
            );
            found |= uses && factor;
            if uses {
                from.insert(local);
            }
        });
        found
    }
}

impl Steps {
    /// What is carried and multiplied with the slope of the step.
    fn multiplied(&self, body: &[Stmt]) -> Vec<Local> {
        let mut found = FxHashSet::default();
        super::rare::for_each_set(body, &mut |_, value| {
            if let Value::Real(RealOp::MulZero | RealOp::DivZero, args) = value {
                let locals = args.iter().filter_map(|arg| arg.local());
                found.extend(locals.filter(|local| self.carried.contains(local)));
            }
        });
        self.carried
            .iter()
            .filter(|local| found.contains(local) && self.derived.contains(local))
            .copied()
            .collect()
    }

    fn is_derived(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.derived.contains(&local))
    }
}

/// The addresses that a loop reads and writes at.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) loads: Vec<Operand>,
    pub(super) stores: Vec<Operand>,
}
