//! Reverse mode to the last bit: a function that notes what it does on a tape, as the interpreter does.
//!
//! ```text
//! def f(x, y) = let a = sin x in a * y
//!
//! recorded_f(x, y, xˢ, yˢ, tape, n) = a = sin x;  c = cos x;  aˢ, tape, n = one(tape, n, c, xˢ)
//!                                     z = a * y;              zˢ, tape, n = two(tape, n, y, aˢ, a, yˢ)
//! ```
//!
//! Beside each real there is its *slot*, an integer: which cell holds its cotangent when the tape runs backward ([`sweep`]). Slot 0 is
//! that of all numbers that do not vary. Other operations do with slots what they do with the numbers, so a number that is handed on, in
//! whatever way, has one cell: there its cotangents add up in the order that the tape says, the last entry first. The types of slots
//! are in [`slots`]: of a real an integer, of an array an array, and so on.
//!
//! Where functions are linearized instead, they have [`marks`] if it matters what varies: slots, but no tape. And where it is not seen
//! whether a rule is linear, it has states ([`watch`]), which stand where slots do.
//!
//! A tape is a list, the last entry first; how many slots there are is handed on beside it ([`State`]). What is differentiated again is
//! recorded again, or gets tangents, as any other function.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations with blocks and calls are named, the others have a rule"
)]

mod again;
mod arith;
mod arrays;
mod beside;
mod control;
mod custom;
mod entries;
mod marks;
mod moved;
mod plus;
mod request;
mod rounds;
mod segments;
mod slots;
mod sweep;
mod watch;
mod zeros;

use crate::scoped::{Begin, Scoped};
use crate::types::Helper as TangentHelper;
use crate::{Ad, Code, Key, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir::op::{Atom, Block, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, LinearId, VarInfo};
use wengert_ir::ty::{DataId, Elem, Role, Ty};

/// What was made for recording so far.
#[derive(Default)]
pub(crate) struct Made {
    /// Types of the slots of data types; `None` if they hold no reals.
    slots: FxHashMap<DataId, Option<DataId>>,
    /// Those of them that have all their constructors.
    whole: FxHashSet<DataId>,
    /// Functions that record on a tape of this type.
    functions: FxHashMap<(Key, DataId), FuncId>,
    /// What these record, and on which tape.
    of: FxHashMap<FuncId, (Key, DataId)>,
    /// Functions on series, and up to which orders: that of what is given, and that of what they give.
    series: FxHashMap<FuncId, (Key, usize, usize)>,
    /// Whether what function values give adds up number by number wherever it has to.
    adds_up: bool,
    /// Functions that apply function values, and others besides with a weight.
    plus: FxHashMap<FuncId, Option<plus::Plus>>,
    /// Functions as they are when checkpoints run them again.
    again: FxHashMap<FuncId, FuncId>,
    helpers: FxHashMap<Helper, FuncId>,
    /// The type of tapes without nodes.
    plain_tape: Option<DataId>,
    /// The same where nothing is differentiated of them.
    last_tape: Option<DataId>,
    /// All tapes that nothing is differentiated of.
    last: FxHashSet<DataId>,
    /// What the nodes of tapes with nodes are, a constructor each.
    nodes: FxHashMap<DataId, Vec<custom::Node>>,
    requests: FxHashMap<LinearId, Rc<request::Request>>,
    /// The type of tapes where there are none.
    no_tape: Option<DataId>,
    /// The same where there are states.
    watched_tape: Option<DataId>,
    /// Functions that look whether others are linear: of which parameters, in which results, from which parameter on.
    watched: FxHashMap<(Key, usize, usize), FuncId>,
    /// Functions that know which numbers vary, and which of their results surely do.
    marked: FxHashMap<marks::Marked, (FuncId, Vec<bool>)>,
}

/// A function that is made once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Helper {
    /// The slots of the fields of a constructor, from those of the whole.
    Fields(DataId, u32),
    /// Fresh slots for a value.
    Number(DataId),
    /// Cells with a tangent added at slots.
    Seed(DataId),
    /// A value with what the cells have in place of its reals.
    Collect(DataId),
    /// Slots on another tape of what has these.
    Moved(DataId),
    /// Cells with what the other tape's cells hold for these added.
    Returned(DataId),
    /// Cells with what other cells have at other slots added.
    Feed(DataId),
    /// Slots of data once more, on top of a tape.
    Again(DataId, DataId),
    /// Data with other data of its shape added, times a weight.
    Plus(DataId),
    /// An entry of a tape, with these flags.
    Entry(DataId, i64),
    /// An entry of a product, or of a quotient, in which zeros are strong.
    Strong(DataId, bool),
    /// A tape that runs backward.
    Sweep(DataId),
    /// The sum of two tangents.
    Sum(DataId),
    /// Whether all slots of a value of this type are those of what does not vary.
    None(Ty),
    /// The state that an operation gives.
    Watched(watch::Watched),
    /// The states of a value.
    States(DataId, Option<i64>),
    /// Whether no number of a value of this type has a state.
    NoneIs(Ty, i64),
}

/// A tape under way: its entries, and how many slots there are.
#[derive(Clone)]
struct State {
    tape: Atom,
    count: Atom,
}

/// Writes a function that records.
struct Record<'a, 'c> {
    code: &'a mut Code<'c>,
    active: &'a FxHashSet<Var>,
    /// Slots of what may vary; what is not here does not.
    slots: Scoped,
    /// The type of the tape.
    tape: DataId,
    state: State,
    /// Where there are marks instead of a tape.
    marks: Option<marks::Marks>,
}

pub(crate) use request::{backward, linearize, transpose};
pub(crate) use segments::run_again;

impl Ad {
    /// The sum of tangents, made at once.
    fn sum_to_record(&mut self, tangent: DataId) -> FuncId {
        if let Role::Tangent(of) = self.program.data.at(tangent).role {
            self.whole_tangent(of);
        }
        let own = Ty::Scalar(Elem::Data(tangent));
        self.recording_helper(Helper::Sum(tangent), vec![own], |ad| ad.make_sum(tangent, true))
    }

    /// The key with those parameters only that have slots.
    fn recorded_key(&mut self, key: Key) -> Key {
        let (func, active) = key;
        let types = self.program.funcs.at(func).param_types();
        let active =
            types.into_iter().zip(active).map(|(ty, active)| active && self.slots(ty).is_some()).collect();
        (func, active)
    }

    /// Which results of a function have slots.
    fn recorded_results(&mut self, key: &Key) -> Vec<bool> {
        let reach = self.varying_results(key.0, &key.1);
        let types = self.program.funcs.at(key.0).results.clone();
        types.into_iter().zip(reach).map(|(ty, active)| active && self.slots(ty).is_some()).collect()
    }

    /// A function that records. Parameters: those of the function, slots of those that vary, tape and count. Results: those of the
    /// function, slots of those that vary, tape and count.
    fn recorded_function(&mut self, key: &Key, tape: DataId) -> FuncId {
        let known = (key.clone(), tape);
        if let Some(id) = self.recorded.functions.get(&known) {
            return *id;
        }
        let results = self.recorded_types(key, tape);
        let id = self.reserve(results);
        self.recorded.of.insert(id, known.clone());
        self.recorded.functions.insert(known, id);
        let made = deep(|| self.make_recorded(key, tape));
        *self.program.funcs.at_mut(id) = made;
        id
    }

    fn recorded_types(&mut self, key: &Key, tape: DataId) -> Vec<Ty> {
        let mut results = self.program.funcs.at(key.0).results.clone();
        let varies = self.recorded_results(key);
        let types: Vec<Ty> =
            results.iter().zip(varies).filter(|(_, varies)| *varies).map(|(ty, _)| *ty).collect();
        results.extend(types.into_iter().filter_map(|ty| self.slots(ty)));
        results.extend(state_types(tape));
        results
    }

    fn make_recorded(&mut self, key: &Key, tape: DataId) -> Func {
        let watched = self.is_watched(tape);
        let prepared = if watched { self.prepare_products(key) } else { self.prepare(key) };
        let func = &prepared.func;
        let varies = self.recorded_results(key);
        let types = self.recorded_types(key, tape);
        let mut code = Code::like(self, func, &format!("recorded_{}", func.name));
        let mut slots = Scoped::default();
        for (param, _) in func.body.params.iter().zip(&key.1).filter(|(_, active)| **active) {
            let VarInfo { name, ty } = *func.vars.at(*param);
            if let Some(own) = code.ad.slots(ty) {
                slots.insert(*param, code.b.param(slot_name(name), own));
            }
        }
        let state = code.state_params(tape);
        if code.ad.is_full() || (!watched && code.ad.misses(key.0, &key.1)) {
            let none = code.fail(&types, if watched { crate::UNSEEN } else { crate::BEYOND });
            return code.finish(none);
        }
        let marks = None;
        let mut record = Record { code: &mut code, active: &prepared.active, slots, tape, state, marks };
        record.block(&func.body);
        let mut results = func.body.results.clone();
        for (atom, _) in func.body.results.iter().zip(varies).filter(|(_, varies)| *varies) {
            results.push(record.slots_or_none(atom));
        }
        results.extend(record.state.atoms());
        code.finish(results)
    }
}

/// The types of tape and count.
fn state_types(tape: DataId) -> [Ty; 2] {
    [Ty::Scalar(Elem::Data(tape)), Ty::INT]
}

/// What the slots of something are called.
fn slot_name(name: Name) -> Name {
    Name::new(&format!("{name}_slot"))
}

impl State {
    fn atoms(&self) -> [Atom; 2] {
        [self.tape.clone(), self.count.clone()]
    }

    /// Takes tape and count away from the end.
    fn split_off(atoms: &mut Vec<Atom>) -> State {
        let count = atoms.pop().unwrap_or(Atom::Unit);
        State { tape: atoms.pop().unwrap_or(Atom::Unit), count }
    }
}

impl Code<'_> {
    fn state_params(&mut self, tape: DataId) -> State {
        let [of_tape, of_count] = state_types(tape);
        State { tape: self.b.param("tape".into(), of_tape), count: self.b.param("n".into(), of_count) }
    }
}

impl Record<'_, '_> {
    fn block(&mut self, block: &Block) {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt)));
    }

    /// The slots of an operand, if it may vary.
    fn slots_of(&self, atom: &Atom) -> Option<Atom> {
        self.slots.get(&atom.var()?).cloned()
    }

    fn slots_or_none(&mut self, atom: &Atom) -> Atom {
        match self.slots_of(atom) {
            Some(slots) => slots,
            None => {
                let ty = self.code.b.type_of(atom);
                if self.watches() {
                    return self.code.states(atom, ty, None);
                }
                self.code.no_slots(atom, ty)
            }
        }
    }

    /// The type of the slots of a variable that varies.
    fn slot_type(&mut self, var: Var) -> Option<Ty> {
        let ty = self.code.b.func().ty(var);
        if self.active.contains(&var) { self.code.ad.slots(ty) } else { None }
    }

    /// The variables that have slots, with what stands beside them.
    fn with_slots<T>(&mut self, vars: impl IntoIterator<Item = (Var, T)>) -> Vec<(Var, T)> {
        vars.into_iter().filter(|(var, _)| self.slot_type(*var).is_some()).collect()
    }

    /// A variable for the slots of a variable, not bound yet.
    fn fresh_slots(&mut self, var: Var) -> Option<Var> {
        let ty = self.slot_type(var)?;
        let name = slot_name(self.code.name(var));
        let fresh = self.code.b.fresh(name, ty);
        self.slots.insert(var, Atom::Var(fresh));
        Some(fresh)
    }

    /// Variables for tape and count, not bound yet.
    fn fresh_state(&mut self) -> [Var; 2] {
        let [tape, count] = state_types(self.tape);
        let vars = [self.code.b.fresh("tape".into(), tape), self.code.b.fresh("n".into(), count)];
        let [tape, count] = vars.map(Atom::Var);
        self.state = State { tape, count };
        vars
    }

    fn begin(&mut self) -> (Begin, State) {
        (self.slots.begin(), self.state.clone())
    }

    fn end(&mut self, (begin, state): (Begin, State)) {
        self.slots.end(begin);
        self.state = state;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.code.b.set_span(stmt.span);
        if self.watched(stmt) || self.tests_zero(stmt) || self.mark(stmt) {
            return;
        }
        if let Op::Call { func, args, .. } = &stmt.op {
            let active: Vec<bool> = args.iter().map(|arg| self.slots_of(arg).is_some()).collect();
            if self.code.ad.misses(*func, &active) {
                self.code.fail(&[], crate::BEYOND);
            }
        }
        let outs = self.with_slots(stmt.outs.iter().map(|out| (*out, ())));
        let Some((out, ())) = outs.first().copied() else {
            self.code.b.push(stmt.clone());
            return;
        };
        match &stmt.op {
            Op::Copy(x) => {
                self.code.b.push(stmt.clone());
                let slots = self.slots_of(x);
                self.note(out, slots);
            }
            Op::Real(op, args) => {
                self.code.b.push(stmt.clone());
                self.arithmetic(out, *op, args);
            }
            Op::Power { base, exponent } => {
                self.code.b.push(stmt.clone());
                self.power(out, base, exponent);
            }
            Op::Polygamma { order, x } => {
                self.code.b.push(stmt.clone());
                self.polygamma(out, order, x);
            }
            Op::Select { cond, then, otherwise } => {
                self.code.b.push(stmt.clone());
                let (then, otherwise) = (self.slots_or_none(then), self.slots_or_none(otherwise));
                let slots = self.code.b.select(cond.clone(), then, otherwise);
                self.note(out, Some(slots));
            }
            Op::Make { data, ctor, fields } => {
                self.code.b.push(stmt.clone());
                self.make(out, *data, *ctor, fields);
            }
            Op::Array(op, args) => self.array(stmt, out, *op, args),
            Op::Match { on, arms } => self.match_on(stmt, on, arms),
            Op::If { cond, then, otherwise } => {
                let then = self.arm(stmt, then, None);
                let otherwise = self.arm(stmt, otherwise, None);
                self.replace(stmt, Op::If { cond: cond.clone(), then, otherwise });
            }
            Op::Loop(parts) => self.repeat(stmt, parts),
            Op::While(parts) => self.while_loop(stmt, parts),
            Op::Call { func, args, checkpoint } => self.call(stmt, *func, args, *checkpoint),
            Op::Custom(parts) => self.custom(stmt, parts),
            _ => self.code.b.push(stmt.clone()),
        }
    }

    /// The slots of a variable are these; of none, if there are none.
    fn note(&mut self, out: Var, slots: Option<Atom>) {
        if let Some(slots) = slots {
            self.slots.insert(out, slots);
        }
    }

    fn make(&mut self, out: Var, data: DataId, ctor: u32, fields: &[Atom]) {
        let Some(own) = self.code.ad.whole_slots(data) else { return };
        if fields.iter().all(|field| self.slots_of(field).is_none()) {
            return;
        }
        let mut parts = Vec::new();
        for field in fields {
            let ty = self.code.b.type_of(field);
            if self.code.ad.slots(ty).is_some() {
                parts.push(self.slots_or_none(field));
            }
        }
        let slots = self.code.b.called("slots").make(own, ctor + 1, parts);
        self.note(out, Some(slots));
    }

    fn call(&mut self, stmt: &Stmt, func: FuncId, args: &[Atom], checkpoint: bool) {
        let func = match self.code.ad.linear_helpers.get(&func).copied() {
            Some(TangentHelper::Sum(tangent)) => self.code.ad.sum_to_record(tangent),
            _ => func,
        };
        let active = args.iter().map(|arg| self.slots_of(arg).is_some()).collect();
        let key = self.code.ad.recorded_key((func, active));
        if !key.1.contains(&true) {
            self.code.b.push(stmt.clone());
            return;
        }
        if checkpoint && self.can_be_node(stmt, args) {
            self.checkpoint(stmt, &key, args);
            return;
        }
        let recorded = self.code.ad.recorded_function(&key, self.tape);
        let mut all = args.to_vec();
        all.extend(
            args.iter().zip(&key.1).filter(|(_, active)| **active).filter_map(|(arg, _)| self.slots_of(arg)),
        );
        all.extend(self.state.atoms());
        // The callee knows best which results vary.
        let varies = self.code.ad.recorded_results(&key);
        let mut outs = stmt.outs.clone();
        for (out, _) in stmt.outs.iter().zip(varies).filter(|(_, varies)| *varies) {
            outs.extend(self.fresh_slots(*out));
        }
        outs.extend(self.fresh_state());
        let op = Op::Call { func: recorded, args: all, checkpoint: false };
        self.code.b.push(Stmt { outs, op, span: stmt.span });
    }
}
