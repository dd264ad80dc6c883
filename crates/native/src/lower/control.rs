//! Branches and calls.

use super::in_place::is_bound;
use super::uses::Vars;
use super::{Destination, Kind, Lower, Operand, Passing, Place, Stmt, Value, Word, kind, word};
use crate::loops::Local;
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Op, Ty, Var};

/// Where a result of branches goes.
pub(super) enum Joined {
    /// A variable.
    Word(Local),
    /// It is a row of another array.
    Row(Destination),
}

impl<'a> Lower<'a> {
    /// `if`; what dies in it is released in the branch that does not need it.
    pub(super) fn branch(
        &mut self,
        op: &Op,
        outs: &[Var],
        (cond, then, otherwise): (&Atom, &'a Block, &'a Block),
        dying: &mut Vars,
    ) {
        let cond = self.word(cond);
        let results = self.joined(outs);
        let mine = std::mem::take(dying);
        let then = self.apart(|this| this.arm(then, mine.clone(), &results));
        let otherwise = self.apart(|this| this.arm(otherwise, mine, &results));
        self.emit(Stmt::If { cond, then, otherwise });
        self.bind_joined(op, outs, &results);
    }

    /// Binds variables to the results of branches.
    pub(super) fn bind_joined(&mut self, op: &Op, outs: &[Var], results: &[Joined]) {
        let tail = self.tail_calls.contains(&std::ptr::from_ref(op));
        for (out, result) in outs.iter().zip(results) {
            match result {
                Joined::Row(Destination { place, index: _ }) => {
                    self.in_place.insert(*out);
                    self.places.insert(*out, Place::Array(place.clone()));
                }
                // A branch that starts the function again has no results: they are handed on, and not looked at.
                Joined::Word(result) if tail => {
                    let plain = kind(self.func.ty(*out)) == Kind::Plain;
                    let place = if plain { Place::Plain } else { Place::Counted };
                    self.places.insert(*out, place(Operand::Local(*result)));
                }
                Joined::Word(result) => self.bind_version(*out, *out, *result),
            }
        }
    }

    /// Where results of branches go.
    pub(super) fn joined(&mut self, outs: &[Var]) -> Vec<Joined> {
        let place = |out: &Var| match self.destinations.remove(out) {
            Some(destination) => Joined::Row(destination),
            None => Joined::Word(self.result(*out)),
        };
        outs.iter().map(place).collect()
    }

    /// Variables for results.
    pub(super) fn results(&mut self, outs: &[Var]) -> Vec<Local> {
        outs.iter().map(|out| self.result(*out)).collect()
    }

    fn result(&mut self, out: Var) -> Local {
        let local = self.made.fresh(word(self.func.ty(out)));
        if self.on_the_way.contains(&out) {
            self.borrowed.insert(local);
        }
        local
    }

    /// What goes into a variable: a reference to give away, unless the variable holds one that is not its own.
    pub(super) fn give(&mut self, atom: &Atom, to: Local, dying: &mut Vars) -> Operand {
        if self.borrowed.contains(&to) { self.word(atom) } else { self.consume(atom, dying) }
    }

    /// Binds variables to results that are theirs.
    pub(super) fn bind_results(&mut self, outs: &[Var], results: &[Local]) {
        for (out, result) in outs.iter().zip(results) {
            self.bind_version(*out, *out, *result);
        }
    }

    /// Binds a variable to the place of a version of a stable array, or to what an owned word or object holds if it is none.
    pub(super) fn bind_version(&mut self, var: Var, version: Var, local: Local) {
        match self.stable_place(version) {
            Some(place) => {
                self.places.insert(var, Place::Array(place));
            }
            None => self.bind_owned(var, local),
        }
    }

    /// A block whose results go where those of its branch do.
    pub(super) fn arm(&mut self, block: &'a Block, mine: Vars, results: &[Joined]) {
        // Nothing is freed before a run fails: with it all that it has goes.
        let mine = if only_fails(block) { Vars::default() } else { mine };
        for (result, atom) in results.iter().zip(&block.results) {
            if let (Joined::Row(row), Some(var)) = (result, atom.var())
                && block.results.iter().filter(|other| *other == atom).count() == 1
            {
                self.make_in_place(block, var, row.clone());
            }
        }
        self.block(block, mine, &mut |this, given, dying| {
            for (result, atom) in results.iter().zip(given) {
                match result {
                    Joined::Word(result) => {
                        let value = this.give(atom, *result, dying);
                        this.emit(Stmt::Set(*result, Value::Copy(value)));
                    }
                    Joined::Row(_)
                        if is_bound(block, atom)
                            && atom.var().is_some_and(|var| this.in_place.remove(&var)) => {}
                    Joined::Row(Destination { place, index }) => {
                        let row = this.array(atom);
                        this.check_rows(*index, &place.dims, &row.dims);
                        let size = this.product(Some(&row.dims));
                        this.copy_elems(row.first, place.first, size, row.elem);
                    }
                }
            }
        });
    }

    /// A call. One of the function itself at its end starts it again with other parameters, after what dies with it is gone: the parameters
    /// may hold it.
    pub(super) fn call(&mut self, op: &Op, outs: &[Var], func: FuncId, args: &[Atom], dying: &mut Vars) {
        let mut words = Vec::new();
        self.giving(op, dying, |this, dying| words = this.arguments(func, args, dying));
        if func == self.id && self.tail_calls.contains(&std::ptr::from_ref(op)) {
            self.release_all(std::mem::take(dying));
            self.start_again(words);
            // Nothing looks at these: they are there so that every variable has a place.
            for out in outs {
                let nothing = match word(self.func.ty(*out)) {
                    Word::Real => Operand::Real(0.0),
                    Word::Int | Word::Ref | Word::Address => Operand::Int(1),
                };
                self.places.insert(*out, Place::Plain(nothing));
            }
            return;
        }
        let results = self.results(outs);
        self.emit(Stmt::Call { func, args: words, outs: results.clone() });
        self.bind_results(outs, &results);
    }

    /// What a function is called with.
    fn arguments(&mut self, func: FuncId, args: &[Atom], dying: &mut Vars) -> Vec<Operand> {
        let passing = self.shared.modes.at(func).clone();
        let mut words = Vec::with_capacity(args.len());
        for (arg, passing) in args.iter().zip(passing) {
            match (self.ty(arg), passing) {
                (Ty::Array(..), Passing::Borrowed) => {
                    let array = self.array(arg);
                    words.push(array.first);
                    words.extend(array.dims);
                }
                (_, Passing::Owned) => words.push(self.consume(arg, dying)),
                (Ty::Scalar(_), Passing::Borrowed) => words.push(self.word(arg)),
            }
        }
        words
    }

    fn start_again(&mut self, args: Vec<Operand>) {
        let params = self.made.params.clone();
        let copies: Vec<Operand> = params
            .iter()
            .zip(args)
            .map(|(param, arg)| {
                let word = *self.made.locals.at(*param);
                if arg == Operand::Local(*param) { arg } else { self.set(word, Value::Copy(arg)) }
            })
            .collect();
        for (param, copy) in params.into_iter().zip(copies) {
            if copy != Operand::Local(param) {
                self.emit(Stmt::Set(param, Value::Copy(copy)));
            }
        }
        let again = match self.again {
            Some(again) => again,
            None => {
                let again = self.made.fresh(Word::Int);
                self.again = Some(again);
                again
            }
        };
        self.emit(Stmt::Set(again, Value::Copy(Operand::Int(1))));
    }
}

/// Whether a branch does nothing but fail.
pub(super) fn only_fails(block: &Block) -> bool {
    matches!(block.stmts.as_slice(), [only] if matches!(only.op, Op::Fail { .. }))
}
