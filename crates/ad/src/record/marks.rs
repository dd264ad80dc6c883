//! What varies when it runs: beside what may vary there are slots as on a tape, but no tape, so that a rule of the user's own can be left out
//! for a tangent that is zero and does not vary, as the interpreter does. Linearization needs that where such tangents are chosen by
//! branches, or come out of data:
//!
//! ```text
//! t = if k > 0 { x } else { 0 };  guarded_rule(y, t)           tˢ = if k > 0 { 1 } else { 0 };  if t == 0 && tˢ == 0 { 0 } else { rule(y, t) }
//! ```
//!
//! Most of what may vary does, as far as the text shows: it is *sure*, has the slot 1 for each number, and functions that are given
//! nothing else stay as they are. So do loops ([`super::rounds`]).

use super::entries::START;
use super::{Record, State};
use crate::requests::callees;
use crate::scoped::Scoped;
use crate::types::Helper;
use crate::{Ad, Code, Key, deep};
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, VarInfo};
use wengert_ir::ty::{DataId, Elem, Ty};
use wengert_prim::{Rule, rules};

/// What is known of variables while marks are written.
#[derive(Default)]
pub(super) struct Marks {
    /// What surely varies.
    sure: FxHashSet<Var>,
    /// Of each result of the blocks of a branch, whether it does.
    arms: Vec<Vec<bool>>,
}

/// A function with marks: from those of its parameters that may vary and are not sure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Marked {
    key: Key,
    sure: Vec<bool>,
    /// Whether it gives the marks of its results.
    gives: bool,
}

impl Ad {
    /// The function that is to be linearized in place of one: it asks what varies, where that matters.
    pub(crate) fn with_marks(&mut self, key: Key) -> Key {
        let by_functions = !self.given.is_empty() || !self.applications.is_empty();
        if self.exact || by_functions || self.guards.is_empty() || !self.tests_zeros(key.0) {
            return key;
        }
        let (func, active) = self.recorded_key(key.clone());
        let marked = Marked { sure: active.clone(), key: (func, active), gives: false };
        (self.marked_function(&marked).0, key.1)
    }

    /// Whether a function asks for zeros among what may vary.
    fn asks(&self, (func, active): &Key) -> bool {
        let idle = match self.guards.get(func) {
            Some(_) => self.unguarded((*func, active.clone())).0 == *func,
            None => false,
        };
        active.contains(&true) && self.tests_zeros(if idle { self.within(*func) } else { *func })
    }

    /// Whether a function asks whether something is zero and nothing else.
    fn tests_zeros(&self, func: FuncId) -> bool {
        self.reaches(func, &|op| matches!(op, Op::Call { func, .. } if self.zero_tests.contains(func)))
    }

    /// The same of what an operation calls.
    pub(super) fn has_tests(&self, op: &Op) -> bool {
        callees(op).into_iter().any(|func| self.zero_tests.contains(&func) || self.tests_zeros(func))
    }

    /// The type of the tape where there is none.
    fn no_tape(&mut self) -> DataId {
        if let Some(known) = self.recorded.no_tape {
            return known;
        }
        let tape = self.new_tape();
        self.recorded.no_tape = Some(tape);
        tape
    }

    pub(super) fn is_no_tape(&self, tape: DataId) -> bool {
        self.recorded.no_tape == Some(tape)
    }

    /// A function with marks, and which of its results are sure.
    fn marked_function(&mut self, marked: &Marked) -> (FuncId, Vec<bool>) {
        if let Some((id, sure)) = self.recorded.marked.get(marked) {
            return (*id, sure.clone());
        }
        let mut results = self.program.funcs.at(marked.key.0).results.clone();
        if marked.gives {
            let varies = self.recorded_results(&marked.key);
            let varying = results.iter().zip(varies).filter(|(_, varies)| *varies);
            let varying: Vec<Ty> = varying.map(|(ty, _)| *ty).collect();
            results.extend(varying.into_iter().filter_map(|ty| self.slots(ty)));
        }
        let id = self.reserve(results);
        self.settled.insert(id);
        // Where it calls itself all is sure, as long as nothing speaks against it.
        let mut known = vec![true; self.program.funcs.at(marked.key.0).results.len()];
        loop {
            self.recorded.marked.insert(marked.clone(), (id, known.clone()));
            let (func, sure) = deep(|| self.make_marked(marked));
            *self.program.funcs.at_mut(id) = func;
            if sure == known || !self.is_recursive(marked.key.0) {
                self.recorded.marked.insert(marked.clone(), (id, sure.clone()));
                return (id, sure);
            }
            known = sure.iter().zip(known).map(|(sure, known)| *sure && known).collect();
        }
    }

    fn make_marked(&mut self, marked: &Marked) -> (Func, Vec<bool>) {
        let Marked { key, sure, gives } = marked;
        let prepared = self.prepare(key);
        let func = &prepared.func;
        let varies = self.recorded_results(key);
        let tape = self.no_tape();
        let mut code = Code::like(self, func, func.name.as_str());
        let mut slots = Scoped::default();
        let mut surely = Vec::new();
        for ((param, active), sure) in func.body.params.iter().zip(&key.1).zip(sure) {
            let VarInfo { name, ty } = *func.vars.at(*param);
            match code.ad.slots(ty).filter(|_| *active) {
                Some(_) if *sure => surely.push(*param),
                Some(own) => slots.insert(*param, code.b.param(super::slot_name(name), own)),
                None => {}
            }
        }
        let state = State { tape: code.b.called("tape").make(tape, START, []), count: Atom::Int(1) };
        let marks = Some(Marks::default());
        let mut record = Record { code: &mut code, active: &prepared.active, slots, tape, state, marks };
        surely.into_iter().for_each(|param| record.surely(param));
        record.block(&func.body);
        let mut results = func.body.results.clone();
        let sure = func.body.results.iter().map(|atom| record.is_sure(atom)).collect();
        for (atom, _) in func.body.results.iter().zip(varies).filter(|(_, varies)| *gives && *varies) {
            results.push(record.slots_or_none(atom));
        }
        (code.finish(results), sure)
    }
}

impl Code<'_> {
    /// Slots of a value, all of which vary.
    pub(super) fn marks(&mut self, value: &Atom, ty: Ty) -> Atom {
        match ty {
            Ty::Scalar(Elem::Real) => Atom::Int(1),
            Ty::Array(Elem::Real, 1) => {
                let len = self.length(value);
                self.b.called("slots").array(ArrayOp::Replicate, [len, Atom::Int(1)])
            }
            Ty::Scalar(Elem::Data(data)) => match self.ad.all_ctor(data) {
                Some((slots, all)) => self.b.called("slots").make(slots, all, []),
                None => Atom::Unit,
            },
            Ty::Scalar(_) => Atom::Unit,
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), self.ad.slots(ty)) else { return Atom::Unit };
                let len = self.length(value);
                let rows = self.open_rows(&[("row", row)]);
                let slots = rows.first().map_or(Atom::Unit, |x| self.marks(x, row));
                let body = self.b.close(vec![slots]);
                self.each(len, vec![value.clone()], Vec::new(), body, &[("slots".into(), own)]).remove(0)
            }
        }
    }
}

impl Record<'_, '_> {
    /// Whether a variable surely varies.
    pub(super) fn is_sure(&self, atom: &Atom) -> bool {
        self.marks.as_ref().zip(atom.var()).is_some_and(|(marks, var)| marks.sure.contains(&var))
    }

    /// Notes that a variable surely varies, if it has slots.
    pub(super) fn surely(&mut self, var: Var) {
        let Some(marks) = &mut self.marks else { return };
        marks.sure.insert(var);
        let ty = self.code.b.func().ty(var);
        if self.code.ad.slots(ty).is_some() {
            let slots = self.code.marks(&Atom::Var(var), ty);
            self.slots.insert(var, slots);
        }
    }

    /// Which results of a block of a branch are sure, is noted for [`Record::sure_of_arms`]. One that fails gives none that is not.
    pub(super) fn note_arm(&mut self, block: &Block) {
        let fails = block.stmts.iter().any(|stmt| matches!(stmt.op, Op::Fail { .. }));
        let sure = block.results.iter().map(|atom| fails || self.is_sure(atom)).collect();
        if let Some(marks) = &mut self.marks {
            marks.arms.push(sure);
        }
    }

    /// What all of so many blocks give that is sure is sure.
    pub(super) fn sure_of_arms(&mut self, stmt: &Stmt, count: usize) {
        let Some(marks) = &mut self.marks else { return };
        let arms = marks.arms.split_off(marks.arms.len().saturating_sub(count));
        for (i, out) in stmt.outs.iter().enumerate() {
            if self.slot_type(*out).is_some() && arms.iter().all(|sure| sure.get(i) == Some(&true)) {
                self.surely(*out);
            }
        }
    }

    /// Where there are marks and no tape: appends a statement whose result is sure, or a loop, a call, a function with a rule; whether
    /// that is done.
    pub(super) fn mark(&mut self, stmt: &Stmt) -> bool {
        let outs = self.numbered(&stmt.outs);
        if self.marks.is_none() || outs.is_empty() {
            return false;
        }
        let sure = match &stmt.op {
            Op::Copy(x) | Op::Power { base: x, .. } | Op::Polygamma { x, .. } => self.is_sure(x),
            Op::Real(op, args) if matches!(*rules::lookup(*op), Rule::Case(..)) => {
                args.iter().all(|arg| self.is_sure(arg))
            }
            Op::Real(_, args) => args.iter().any(|arg| self.is_sure(arg)),
            Op::Select { then, otherwise, .. } => self.is_sure(then) && self.is_sure(otherwise),
            Op::Make { fields, .. } => self.all_sure(fields),
            Op::Array(op, args) => self.all_sure(args) || !self.moves_only(*op),
            Op::Custom(_) | Op::Call { checkpoint: true, .. } => true,
            Op::Loop(parts) => {
                self.marked_loop(stmt, parts);
                return true;
            }
            Op::While(parts) => {
                self.marked_while(stmt, parts);
                return true;
            }
            Op::Call { func, args, .. } => {
                self.marked_call(stmt, *func, args);
                return true;
            }
            Op::If { .. } | Op::Match { .. } => false,
            _ => true,
        };
        if sure {
            self.code.b.push(stmt.clone());
            outs.into_iter().for_each(|(out, _)| self.surely(out));
        }
        sure
    }

    /// What is sure at this place.
    pub(super) fn sure_now(&self) -> FxHashSet<Var> {
        self.marks.as_ref().map(|marks| marks.sure.clone()).unwrap_or_default()
    }

    /// Nothing else is sure again.
    pub(super) fn sure_again(&mut self, sure: FxHashSet<Var>) {
        if let Some(marks) = &mut self.marks {
            marks.sure = sure;
        }
    }

    /// Whether all operands that hold reals are sure.
    fn all_sure(&mut self, atoms: &[Atom]) -> bool {
        atoms.iter().all(|atom| {
            let ty = self.code.b.type_of(atom);
            self.code.ad.slots(ty).is_none() || self.is_sure(atom)
        })
    }

    /// A call: of the function with marks, if that matters.
    fn marked_call(&mut self, stmt: &Stmt, func: FuncId, args: &[Atom]) {
        let helper = self.code.ad.linear_helpers.get(&func).copied();
        let asked = match helper {
            Some(Helper::Sum(tangent)) => self.code.ad.sum_to_record(tangent),
            _ => self.code.ad.within_sure(func, args.iter().map(|arg| self.is_sure(arg)).collect()),
        };
        let active: Vec<bool> = args.iter().map(|arg| self.slots_of(arg).is_some()).collect();
        let key = self.code.ad.recorded_key((asked, active));
        let sure: Vec<bool> =
            args.iter().zip(&key.1).map(|(arg, active)| *active && self.is_sure(arg)).collect();
        let varies = self.code.ad.recorded_results(&key);
        let varying: Vec<Var> =
            stmt.outs.iter().zip(&varies).filter(|(_, varies)| **varies).map(|(out, _)| *out).collect();
        let stays = helper.is_some() || !self.code.ad.asks(&key);
        let marked = Marked { key: key.clone(), sure: sure.clone(), gives: true };
        if stays && sure == key.1 && (helper.is_some() || self.gives_sure(&marked, &varying)) {
            let op = Op::Call {
                func: if helper.is_some() { func } else { asked },
                args: args.to_vec(),
                checkpoint: false,
            };
            self.code.b.push(Stmt { outs: stmt.outs.clone(), op, span: stmt.span });
            varying.into_iter().for_each(|out| self.surely(out));
            return;
        }
        let (marked, sure_results) = self.code.ad.marked_function(&marked);
        let mut all = args.to_vec();
        for ((arg, active), sure) in args.iter().zip(&key.1).zip(&sure) {
            all.extend(self.slots_of(arg).filter(|_| *active && !*sure));
        }
        let mut outs = stmt.outs.clone();
        if helper.is_some() {
            // It stays what it is, for it is linear.
            self.code.b.push(stmt.clone());
            let infos: Vec<VarInfo> = outs.iter().map(|out| *self.code.b.func().vars.at(*out)).collect();
            outs = infos.into_iter().map(|VarInfo { name, ty }| self.code.b.fresh(name, ty)).collect();
        }
        for out in &varying {
            outs.extend(self.fresh_slots(*out));
        }
        let op = Op::Call { func: marked, args: all, checkpoint: false };
        self.code.b.push(Stmt { outs, op, span: stmt.span });
        for (out, sure) in stmt.outs.iter().zip(sure_results) {
            if sure && varying.contains(out) {
                self.surely(*out);
            }
        }
    }

    /// Whether what a function that is given nothing else gives here is sure. Numbers are; of what holds several the function tells.
    fn gives_sure(&mut self, marked: &Marked, outs: &[Var]) -> bool {
        if outs.iter().all(|out| self.code.b.func().ty(*out) == Ty::REAL) {
            return true;
        }
        let (_, sure) = self.code.ad.marked_function(marked);
        let varies = self.code.ad.recorded_results(&marked.key);
        sure.iter().zip(varies).all(|(sure, varies)| *sure || !varies)
    }

    /// The mark of what has terms with these slots.
    pub(super) fn any_of(&mut self, slots: impl IntoIterator<Item = Atom>) -> Option<Atom> {
        let mut any: Option<Atom> = None;
        for slot in slots {
            any = Some(match any {
                None => slot,
                Some(first) => self.code.either(first, slot),
            });
        }
        any
    }
}

impl Code<'_> {
    /// The first of two slots that is one of something that varies.
    pub(super) fn either(&mut self, a: Atom, b: Atom) -> Atom {
        if let Atom::Int(slot) = a {
            return if slot == 0 { b } else { a };
        }
        let none = self.b.compare(Compare::Eq, a.clone(), Atom::Int(0));
        self.b.select(none, b, a)
    }
}

impl Ad {
    /// A function without its guards for tangents that surely vary.
    fn within_sure(&self, func: FuncId, sure: Vec<bool>) -> FuncId {
        self.unguarded((func, sure)).0
    }
}
