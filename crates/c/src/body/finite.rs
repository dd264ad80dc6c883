//! Derivatives of numbers outside of innermost loops. Zero tangents are strong: that costs a look at each product and quotient,
//! and makes a difference only where one of them is not a number, which then is true of what is made of it, too. So a run of
//! operations is done as plain ones, without looking; if what comes out of it is not finite, the run is done again,
//! carefully.
//!
//! Where numbers need not be to the last bit those of the interpreter, plain products and sums are rounded once.

use super::Body;
use crate::scopes::{Block, for_each_operand};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::ty::Id;
use wengert_native::loops::{Local, Operand, Stmt, Value, Word};

/// So many products and quotients are worth a second text.
const WORTH: usize = 8;

/// The text that is true if one of these reals is not finite.
pub(super) fn not_finite<T: std::borrow::Borrow<str>>(reals: &[T]) -> String {
    match reals {
        [real] => format!("0.0 * {} != 0.0", real.borrow()),
        reals => format!("0.0 * ({}) != 0.0", reals.join(" + ")),
    }
}

/// What products and quotients with strong zeros lead to.
fn derived(stmts: &[Stmt]) -> FxHashSet<Local> {
    let mut derived = FxHashSet::default();
    for stmt in stmts {
        let Stmt::Set(local, value) = stmt else { continue };
        let mut is_derived = stmt.is_strong();
        for_each_operand(value, &mut |operand| {
            is_derived |= matches!(operand, Operand::Local(used) if derived.contains(used));
        });
        if is_derived {
            derived.insert(*local);
        }
    }
    derived
}

impl Body<'_, '_> {
    /// How many statements from the first on are operations that hand on what is not a number, and nothing else.
    pub(super) fn run_length(&self, stmts: &[Stmt]) -> usize {
        if !self.unit.fast || self.unit.in_loop || !self.repeats() {
            return 0;
        }
        stmts.iter().take_while(|stmt| self.is_plain(stmt)).count()
    }

    /// Whether the code is run more than once in a call of the program.
    fn repeats(&self) -> bool {
        self.func.recursive.is_some() || self.loops > 0
    }

    fn is_plain(&self, stmt: &Stmt) -> bool {
        let Stmt::Set(local, value) = stmt else { return false };
        if !self.assigned_once(*local) || self.func.params.contains(local) {
            return false;
        }
        match value {
            Value::Real(op, _) => op.hands_on_nan(),
            Value::Copy(_) | Value::Select(..) => self.word(*local) == Word::Real,
            Value::Load { .. }
            | Value::Address { .. }
            | Value::Int(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::IntToReal(_)
            | Value::Tag(_, true) => true,
            Value::CompareReal(..)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Tag(_, false)
            | Value::Unique(..)
            | Value::Alloc(..) => false,
        }
    }

    /// The variables that such a run sets for others, if it is worth doing it without looking.
    pub(super) fn outcome(&self, stmts: &[Stmt]) -> Option<Vec<Local>> {
        let strong = stmts.iter().filter(|stmt| stmt.is_strong()).count();
        if strong < WORTH {
            return None;
        }
        let mut inside: FxHashMap<Local, usize> = FxHashMap::default();
        for stmt in stmts {
            if let Stmt::Set(_, value) = stmt {
                for_each_operand(value, &mut |operand| {
                    if let Operand::Local(local) = operand {
                        *inside.entry(*local).or_default() += 1;
                    }
                });
            }
        }
        let read_elsewhere =
            |local: &Local| self.info(*local).reads as usize > inside.get(local).copied().unwrap_or(0);
        let set =
            stmts.iter().filter_map(|stmt| if let Stmt::Set(local, _) = stmt { Some(*local) } else { None });
        let outcome: Vec<Local> = set.filter(read_elsewhere).collect();
        let reals = outcome.iter().filter(|local| self.word(**local) == Word::Real).count();
        (reals > 0 && 2 * reals <= strong).then_some(outcome)
    }

    /// Such a run, without looking, and again if that was wrong.
    pub(super) fn without_looking(&mut self, stmts: &[Stmt], outcome: &[Local], place: (Block, u32)) {
        // What waits further out is used further out.
        let depth = self.depth;
        self.flush(|pending| pending.depth >= depth);
        for local in outcome {
            if !self.declared.get(local.index()).copied().unwrap_or(false) {
                let line = format!("{}{};", self.declarator(*local), self.name(*local));
                self.put(&line);
                self.is_declared(*local);
            }
        }
        self.outcome.extend(outcome);
        let before = (self.declared.clone(), self.line);
        self.put("{");
        self.plain = true;
        self.run(stmts, place);
        self.plain = false;
        self.put("}");
        (self.declared, self.line) = before;
        let derived = derived(stmts);
        let checks: Vec<&str> =
            outcome.iter().filter(|local| derived.contains(local)).map(|local| self.name(*local)).collect();
        if !checks.is_empty() {
            let line = format!("if (WG_RARELY({})) {{", not_finite(&checks));
            self.put(&line);
            self.again(stmts, place);
            self.put("}");
        }
        self.outcome.retain(|local| !outcome.contains(local));
    }

    /// The run carefully. It hides from the compiler that it is made of the same numbers: else what both compute would be kept
    /// for this one.
    fn again(&mut self, stmts: &[Stmt], place: (Block, u32)) {
        let mut given: Vec<Local> = Vec::new();
        for stmt in stmts {
            if let Stmt::Set(_, value) = stmt {
                for_each_operand(value, &mut |operand| {
                    if let Operand::Local(local) = operand
                        && !given.contains(local)
                    {
                        given.push(*local);
                    }
                });
            }
        }
        given.retain(|local| {
            let hides = matches!(self.word(*local), Word::Real | Word::Int);
            hides && self.declared.get(local.index()).copied().unwrap_or(false)
        });
        given.retain(|local| !stmts.iter().any(|stmt| matches!(stmt, Stmt::Set(set, _) if set == local)));
        let mut names = Vec::new();
        self.depth += 1;
        for local in given {
            let (name, again) = (self.name(local).to_string(), self.unit.temporary());
            let function = if self.word(local) == Word::Real { "wg_again" } else { "wg_again_word" };
            self.put(&format!("const {}{again} = {function}({name});", self.declarator(local)));
            names.push((local, self.rename(local, again)));
        }
        self.depth -= 1;
        self.run(stmts, place);
        for (local, name) in names {
            self.rename(local, name);
        }
    }

    fn run(&mut self, stmts: &[Stmt], (block, from): (Block, u32)) {
        self.depth += 1;
        for (place, stmt) in (from..).zip(stmts) {
            self.stmt(stmt, (block, place));
        }
        let depth = self.depth;
        self.flush(|pending| pending.depth >= depth);
        self.over.close(self.depth);
        self.depth -= 1;
    }
}
