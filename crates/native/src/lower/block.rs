//! Blocks and statements: who owns what.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed is an operation on scalars, and those that are none fail there"
)]

use super::uses::{self, Vars};
use super::{ArrayPlace, Kind, Lower, Operand, Passing, Place, Stmt, Value, Word, kind, word};
use crate::loops::Runtime;
use wengert_ir::op::{Op, TextOp};
use wengert_ir::{Atom, Block, Var};

/// What is done with the results of a block: they are taken from the variables that die with it.
pub(super) type Give<'g, 'a> = &'g mut dyn FnMut(&mut Lower<'a>, &[Atom], &mut Vars);

impl<'a> Lower<'a> {
    /// The statements of a block that owns `mine`.
    pub(super) fn block(&mut self, block: &'a Block, mut mine: Vars, give: Give<'_, 'a>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let (around, known, extremes) = (self.span, self.in_range.len(), self.extremes.len());
            let last = uses::last_uses(block, &self.views, &self.free);
            let mut ends: Vec<Vec<Var>> = vec![Vec::new(); block.stmts.len() + 1];
            // They go into ordered sets, in whatever order they come.
            last.iter().for_each(|(var, place)| {
                ends.get_mut(*place).into_iter().for_each(|ends| ends.push(*var));
            });
            let unused = mine.extract_if(.., |var| !last.contains_key(var)).collect();
            self.release_all(unused);
            for (place, stmt) in block.stmts.iter().enumerate() {
                self.span = stmt.span;
                self.mark(stmt.span);
                let ends = ends.get(place).into_iter().flatten();
                let mut dying: Vars = ends.filter(|var| mine.remove(*var)).copied().collect();
                self.statement(stmt, &mut dying);
                self.release_all(dying);
                for out in &stmt.outs {
                    if !self.is_counted(*out) {
                        continue;
                    }
                    if last.contains_key(out) {
                        mine.insert(*out);
                    } else {
                        self.release_all(Vars::from([*out]));
                    }
                }
                if stmt.op.never_returns() {
                    self.in_range.truncate(known);
                    self.extremes.truncate(extremes);
                    return;
                }
            }
            self.span = around;
            give(self, &block.results, &mut mine);
            self.release_all(mine);
            self.in_range.truncate(known);
            self.extremes.truncate(extremes);
        });
    }

    /// Whether a variable holds a reference of its own.
    fn is_counted(&self, var: Var) -> bool {
        match self.places.get(&var) {
            Some(Place::Counted(Operand::Local(local))) => !self.borrowed.contains(local),
            Some(Place::Array(array)) => array.object.is_some(),
            Some(Place::Plain(_) | Place::Counted(_)) | None => false,
        }
    }

    pub(super) fn release_all(&mut self, vars: Vars) {
        for var in vars {
            let kind = kind(self.func.ty(var));
            match self.place(var) {
                Place::Counted(operand) => self.emit(Stmt::Release(operand, kind)),
                Place::Array(ArrayPlace { object: Some(object), .. }) => {
                    self.emit(Stmt::Release(Operand::Local(object), kind));
                }
                Place::Array(_) | Place::Plain(_) => {}
            }
        }
    }

    /// A reference (or number) to give away: the variable's own if it dies here, else one more; of a view a copy.
    pub(super) fn consume(&mut self, atom: &Atom, dying: &mut Vars) -> Operand {
        let Some(var) = atom.var() else { return self.word(atom) };
        let kind = kind(self.func.ty(var));
        match self.place(var) {
            Place::Plain(operand) => operand,
            Place::Counted(operand) => {
                if !dying.remove(&var) {
                    self.emit(Stmt::Retain(operand, kind));
                }
                operand
            }
            Place::Array(array) => match array.object {
                Some(object) => {
                    if !dying.remove(&var) {
                        self.emit(Stmt::Retain(Operand::Local(object), kind));
                    }
                    Operand::Local(object)
                }
                None => self.copy_of(&array),
            },
        }
    }

    /// Without the variables that the operation also reads: they must outlive it.
    pub(super) fn without_read(&self, op: &Op, dying: &Vars) -> Vars {
        let passing = |place: usize| self.passes_on(op, place);
        let mut taken = uses::takes(op, &passing);
        let mut read = Vars::new();
        op.for_each_atom(&mut |atom| {
            let Some(var) = atom.var() else { return };
            match taken.iter().position(|other| *other == var) {
                Some(place) => {
                    taken.swap_remove(place);
                    // A view that is taken over is copied: what it looks into is read.
                    read.extend(uses::with_sources(var, &self.views).skip(1));
                }
                None => read.extend(uses::with_sources(var, &self.views)),
            }
        });
        if matches!(op, Op::Loop(_) | Op::While(_)) {
            for var in op.blocks().into_iter().flat_map(Block::free_vars) {
                read.extend(uses::with_sources(var, &self.views));
            }
        }
        dying.difference(&read).copied().collect()
    }

    /// Whether a call takes over its argument.
    pub(super) fn passes_on(&self, op: &Op, place: usize) -> bool {
        let Op::Call { func, .. } = op else { return false };
        self.shared.modes.get(*func).and_then(|modes| modes.get(place)) == Some(&Passing::Owned)
    }

    /// Does `work` with those variables of `dying` that may be given away in it.
    pub(super) fn giving(&mut self, op: &Op, dying: &mut Vars, work: impl FnOnce(&mut Self, &mut Vars)) {
        let mut free = self.without_read(op, dying);
        let before = free.clone();
        work(self, &mut free);
        for given in before.difference(&free) {
            dying.remove(given);
        }
    }

    fn statement(&mut self, stmt: &'a wengert_ir::Stmt, dying: &mut Vars) {
        let outs = stmt.outs.as_slice();
        match &stmt.op {
            Op::Copy(atom) => {
                let Some(out) = outs.first() else { return };
                self.giving(&stmt.op, dying, |this, dying| {
                    let value = this.consume(atom, dying);
                    this.own(*out, value);
                });
            }
            Op::Make { data: _, ctor, fields } => {
                let Some(out) = outs.first() else { return };
                self.giving(&stmt.op, dying, |this, dying| this.make(*out, *ctor, fields, dying));
            }
            Op::Match { on, arms } => self.match_data(&stmt.op, outs, (on, arms), dying),
            Op::If { cond, then, otherwise } => self.branch(&stmt.op, outs, (cond, then, otherwise), dying),
            Op::Call { func, args, checkpoint: _ } => self.call(&stmt.op, outs, *func, args, dying),
            Op::Loop(parts) => {
                let drained = self.drained(parts, dying);
                let alike = if drained.is_empty() { self.wanted_alike(outs, parts) } else { Vec::new() };
                if !alike.is_empty() {
                    return self.loop_by_sizes(outs, parts, alike, dying);
                }
                self.giving(&stmt.op, dying, |this, dying| this.loop_over(outs, parts, drained, dying));
            }
            Op::While(parts) => {
                self.giving(&stmt.op, dying, |this, dying| this.while_holds(outs, parts, dying))
            }
            Op::Array(op, args) => {
                self.giving(&stmt.op, dying, |this, dying| this.array_op(outs, *op, args, dying));
            }
            Op::Select { cond, then, otherwise } => {
                let Some(out) = outs.first() else { return };
                self.select(*out, cond, then, otherwise);
            }
            Op::Text(TextOp::Append, args) => self.append(&stmt.op, outs, args, dying),
            // The array was made, which is all.
            Op::Whole(_) => {}
            op => self.scalar(outs, op),
        }
    }

    /// One text after another. If the first dies here, its memory may be the result's.
    fn append(&mut self, op: &Op, outs: &[Var], args: &[Atom], dying: &Vars) {
        let Some(out) = outs.first() else { return };
        let first = args.first().and_then(Atom::var);
        let dies = first.is_some_and(|first| self.without_read(op, dying).contains(&first));
        let call = if dies { Runtime::TextExtend } else { Runtime::TextAppend };
        self.text_op(*out, call, args);
    }

    /// Binds a variable to a reference that is its own, or a number.
    pub(super) fn own(&mut self, var: Var, value: Operand) {
        if let (Operand::Local(local), true) = (value, word(self.func.ty(var)) == Word::Ref) {
            self.bind_owned(var, local);
        } else {
            self.bind(var, Value::Copy(value));
        }
    }

    /// Both are computed already. Neither is given away: if one dies here, it is released after the statement.
    fn select(&mut self, out: Var, cond: &Atom, then: &Atom, otherwise: &Atom) {
        let cond = self.word(cond);
        if kind(self.func.ty(out)) == Kind::Plain {
            let (then, otherwise) = (self.word(then), self.word(otherwise));
            self.bind(out, Value::Select(cond, then, otherwise));
            return;
        }
        let result = self.made.fresh(Word::Ref);
        let mut none = Vars::new();
        let then = self.apart(|this| {
            let value = this.consume(then, &mut none);
            this.emit(Stmt::Set(result, Value::Copy(value)));
        });
        let otherwise = self.apart(|this| {
            let value = this.consume(otherwise, &mut none);
            this.emit(Stmt::Set(result, Value::Copy(value)));
        });
        self.emit(Stmt::If { cond, then, otherwise });
        self.bind_owned(out, result);
    }
}
