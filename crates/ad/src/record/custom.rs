//! What a tape must run again when it runs: rules of the user's own from cotangents to cotangents, and checkpoints.
//!
//! ```text
//! Tape = Start | One … | Two … | Rule first back y yˢ x xˢ rest | Both first y yˢ aˢ bˢ rest | Checkpoint first x xˢ yˢ rest
//! ```
//!
//! The results of such a *node* have slots of their own, from `first` on. A rule is given what their cells hold and gives what is added
//! to the cells of its point. A checkpoint runs its function again, on a tape of its own that runs backward at once; what its arguments'
//! cells hold then is added to those of the slots that they stand for. A tape with nodes has a type of its own.
//!
//! Long loops of it run in [`super::segments`], because a tape of all rounds is what the checkpoint is to avoid.
//!
//! A rule from tangents to tangents is recorded where it is run, at tangents whose slots are those of the point.

use super::entries::{NODES, START};
use super::slots::CELLS;
use super::{Record, State, state_types};
use crate::{Ad, BEYOND, Code, Key};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, DataId, Elem, Ty};

/// What stands on a tape and needs the program to run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// `custom_vjp`: `apply` applies what the rule gave to cotangents of the values. Of each point: whether it has slots. A function
    /// that was made takes and gives cotangents as derivatives use them.
    Rule { apply: FuncId, made: bool, back: Ty, values: Vec<Ty>, points: Vec<(Ty, bool)> },
    /// Data of this type that varies in two ways.
    Both(Ty),
    /// A function to be run again, with its types of arguments and the results that vary.
    Checkpoint { key: Key, args: Vec<Ty>, results: Vec<Ty> },
}

/// What a checkpoint keeps.
struct Kept<'f> {
    /// The arguments.
    given: &'f [Atom],
    /// The types of those that vary.
    varying: Vec<Ty>,
    /// Their slots.
    slots: &'f [Atom],
    /// The slots of the results that vary.
    outputs: &'f [Atom],
}

impl<'f> Kept<'f> {
    fn of(key: &Key, args: &[Ty], results: &[Ty], mut fields: &'f [Atom]) -> Kept<'f> {
        let varying: Vec<Ty> =
            args.iter().zip(&key.1).filter(|(_, active)| **active).map(|(ty, _)| *ty).collect();
        let given = take(&mut fields, args.len());
        let slots = take(&mut fields, varying.len());
        Kept { given, varying, slots, outputs: take(&mut fields, results.len()) }
    }
}

/// Takes so many fields.
fn take<'f>(fields: &mut &'f [Atom], count: usize) -> &'f [Atom] {
    let (taken, rest) = fields.split_at_checked(count).unwrap_or_default();
    *fields = rest;
    taken
}

impl Ad {
    /// The constructor of a node, and its number.
    fn node_ctor(&mut self, tape: DataId, node: Node) -> u32 {
        let nodes = self.recorded.nodes.entry(tape).or_default();
        if let Some(known) = nodes.iter().position(|other| *other == node) {
            return NODES + known as u32;
        }
        let number = nodes.len();
        nodes.push(node.clone());
        let (name, mut fields) = ("Node".to_owned() + &number.to_string(), vec![Ty::INT]);
        match &node {
            Node::Rule { back, values, points, .. } => {
                fields.push(*back);
                fields.extend(values);
                fields.extend(values.iter().filter_map(|ty| self.slots(*ty)));
                fields.extend(points.iter().map(|(ty, _)| *ty));
                let varying = points.iter().filter(|(_, varies)| *varies);
                fields.extend(varying.filter_map(|(ty, _)| self.slots(*ty)));
            }
            Node::Both(ty) => {
                fields.push(*ty);
                fields.extend(self.slots(*ty).into_iter().flat_map(|slots| [slots; 3]));
            }
            Node::Checkpoint { key, args, results } => {
                fields.extend(args);
                let varying = args.iter().zip(&key.1).filter(|(_, active)| **active);
                fields.extend(varying.filter_map(|(ty, _)| self.slots(*ty)));
                fields.extend(results.iter().filter_map(|ty| self.slots(*ty)));
            }
        }
        fields.push(Ty::Scalar(Elem::Data(tape)));
        self.program.data.at_mut(tape).ctors.push(Ctor { name: Name::new(&name), fields });
        NODES + number as u32
    }
}

impl Record<'_, '_> {
    /// Whether the tape has nodes, and what such a node has to do with holds no functions: whose slots are not to be gone through one
    /// by one, because there may be tangents of functions in functions, and so on.
    pub(super) fn can_be_node(&self, stmt: &Stmt, args: &[Atom]) -> bool {
        let outs = stmt.outs.iter().copied().map(Atom::Var);
        let mut types = outs.chain(args.iter().cloned()).map(|atom| self.code.b.type_of(&atom));
        self.code.ad.recorded.nodes.contains_key(&self.tape)
            && types.all(|ty| self.code.ad.is_first_order(ty))
    }

    /// A call whose function is run again when the tape runs.
    pub(super) fn checkpoint(&mut self, stmt: &Stmt, key: &Key, args: &[Atom]) {
        // For derivatives of what is recorded it is a call like others.
        let op = Op::Call { func: key.0, args: args.to_vec(), checkpoint: false };
        self.code.b.push(Stmt { op, ..stmt.clone() });
        let key = (self.code.ad.in_segments(key.0), key.1.clone());
        let varies = self.code.ad.recorded_results(&key);
        let varying: Vec<Var> =
            stmt.outs.iter().zip(varies).filter(|(_, varies)| *varies).map(|(out, _)| *out).collect();
        let results: Vec<Ty> = varying.iter().map(|out| self.code.b.func().ty(*out)).collect();
        let first = self.state.count.clone();
        let own = self.outputs(&varying);
        let types = args.iter().map(|arg| self.code.b.type_of(arg)).collect();
        let mut fields = vec![first];
        fields.extend(args.iter().cloned());
        for (arg, _) in args.iter().zip(&key.1).filter(|(_, active)| **active) {
            fields.push(self.slots_or_none(arg));
        }
        fields.extend(own.iter().cloned());
        // What it notes itself when it is run again belongs to the same type of tapes.
        self.code.ad.recorded_function(&key, self.tape);
        self.push_node(Node::Checkpoint { key, args: types, results }, fields);
        for (out, slots) in varying.into_iter().zip(own) {
            self.note(out, Some(slots));
        }
    }

    /// Fresh slots for the results of a node.
    fn outputs(&mut self, outs: &[Var]) -> Vec<Atom> {
        let mut slots = Vec::new();
        for out in outs {
            let ty = self.code.b.func().ty(*out);
            let (own, count) = self.code.number(&Atom::Var(*out), ty, &self.state.count);
            self.state.count = count;
            slots.push(own);
        }
        slots
    }

    fn push_node(&mut self, node: Node, mut fields: Vec<Atom>) {
        let ctor = self.code.ad.node_ctor(self.tape, node);
        fields.push(self.state.tape.clone());
        self.state.tape = self.code.b.called("tape").make(self.tape, ctor, fields);
    }

    /// A function with a rule: what is captured contributes by the function, the point by the rule.
    pub(super) fn custom(&mut self, stmt: &Stmt, parts: &Custom) {
        if let Some(delay) = self.code.ad.delay(parts) {
            if self.code.passed(stmt, parts, delay) {
                for (out, x) in stmt.outs.iter().zip(&parts.point) {
                    let ty = self.code.b.type_of(x);
                    let slots = self.slots_of(x).map(|slots| self.marked(slots, ty));
                    self.note(*out, slots);
                }
            }
            return;
        }
        self.by_captures(stmt, parts);
        if parts.point.iter().all(|x| self.slots_of(x).is_none()) {
            return;
        }
        let found = match parts.rule {
            Rule::Jvp(rule) => self.by_tangents(stmt, parts, rule),
            Rule::Vjp(rule, apply) => self.by_cotangents(stmt, parts, rule, apply),
        };
        self.add_slots(stmt, found);
    }

    /// Slots that contribute to what a statement gives.
    pub(super) fn add_slots(&mut self, stmt: &Stmt, found: Vec<Option<Atom>>) {
        for (out, slots) in stmt.outs.iter().zip(found) {
            let Some(slots) = slots else { continue };
            let ty = self.code.b.func().ty(*out);
            let all = match self.slots_of(&Atom::Var(*out)) {
                None => slots,
                Some(old) if matches!(ty.elem(), Elem::Data(_)) => self.both(stmt, *out, old, slots),
                Some(old) => self.sum_of_arrays(*out, (&old, &slots), ty),
            };
            self.note(*out, Some(all));
        }
    }

    /// Slots of data that has these and those.
    fn both(&mut self, stmt: &Stmt, out: Var, these: Atom, those: Atom) -> Atom {
        if !self.can_be_node(stmt, &[]) {
            self.code.fail(&[], BEYOND);
            return these;
        }
        let ty = self.code.b.func().ty(out);
        let first = self.state.count.clone();
        let mut fields = vec![first, Atom::Var(out)];
        fields.extend(self.outputs(&[out]));
        fields.extend([these, those]);
        let own = fields.get(2).cloned().unwrap_or(Atom::Unit);
        self.push_node(Node::Both(ty), fields);
        own
    }

    pub(super) fn by_captured(&mut self, stmt: &Stmt, parts: &Custom) {
        let mut active: Vec<bool> = parts.captured.iter().map(|x| self.slots_of(x).is_some()).collect();
        let args: Vec<Atom> = parts.captured.iter().cloned().chain(self.code.still(&parts.point)).collect();
        active.resize(args.len(), false);
        let key = self.code.ad.recorded_key((parts.func, active));
        if key.1.contains(&true) {
            let slots = parts.captured.iter().filter_map(|x| self.slots_of(x)).collect();
            let (_, found) = self.recorded_call(&key, args, slots);
            for (out, slots) in stmt.outs.iter().zip(found) {
                self.note(*out, slots);
            }
        }
    }

    /// The results of a function that records, and their slots.
    pub(super) fn recorded_call(
        &mut self,
        key: &Key,
        args: Vec<Atom>,
        slots: Vec<Atom>,
    ) -> (Vec<Atom>, Vec<Option<Atom>>) {
        let recorded = self.code.ad.recorded_function(key, self.tape);
        let varies = self.code.ad.recorded_results(key);
        let types = self.code.ad.recorded_types(key, self.tape);
        let all = args.into_iter().chain(slots).chain(self.state.atoms()).collect::<Vec<_>>();
        let mut found = self.code.b.call(recorded, all, &types);
        self.state = State::split_off(&mut found);
        let mut own = found.split_off(varies.len()).into_iter();
        let slots = varies.iter().map(|varies| if *varies { own.next() } else { None });
        (found, slots.collect())
    }

    /// The rule maps point and tangent to value and tangent.
    fn by_tangents(&mut self, stmt: &Stmt, parts: &Custom, rule: FuncId) -> Vec<Option<Atom>> {
        let mut args: Vec<Atom> = parts.rule_captured.iter().chain(&parts.point).cloned().collect();
        let fixed = args.len();
        let mut active = vec![false; fixed];
        let mut slots = Vec::new();
        for x in &parts.point {
            let ty = self.code.b.type_of(x);
            args.push(self.code.outward(x, None, ty));
            let own = self.slots_of(x);
            active.push(own.is_some());
            slots.extend(own.map(|own| self.marked(own, ty)));
        }
        let key = (rule, active);
        if !self.code.ad.is_linear(&key, stmt.outs.len(), fixed) {
            self.code.watch(&key, &args, stmt.outs.len(), fixed);
        }
        let key = self.code.ad.recorded_key(key);
        let (mut values, mut found) = self.recorded_call(&key, args, slots);
        let count = stmt.outs.len();
        // Tangents that a rule gives must belong to the values.
        for (out, tangent) in stmt.outs.iter().zip(values.drain(count.min(values.len())..)) {
            let ty = self.code.b.func().ty(*out);
            if ty != Ty::REAL && self.code.ad.is_first_order(ty) {
                self.code.inward("custom_jvp".into(), &Atom::Var(*out), &tangent, ty);
            }
        }
        found.drain(count.min(found.len())..).collect()
    }

    /// The rule maps the point to the value and a function from cotangents to cotangents.
    fn by_cotangents(
        &mut self,
        stmt: &Stmt,
        parts: &Custom,
        rule: FuncId,
        apply: FuncId,
    ) -> Vec<Option<Atom>> {
        let Custom { rule_captured, point, .. } = parts;
        let args: Vec<Atom> = rule_captured.iter().chain(point).cloned().collect();
        let types = self.code.ad.program.funcs.at(rule).results.clone();
        let Some(back) = self.code.b.call(rule, args, &types).pop() else { return Vec::new() };
        self.rule_node(stmt, (apply, false), back, &stmt.outs, point)
    }

    /// What the rule has captured contributes by the derivative of the rule, where that is differentiated.
    pub(super) fn by_captured_of_rule(&mut self, stmt: &Stmt, parts: &Custom) -> Option<Vec<Option<Atom>>> {
        let captured: Vec<bool> = parts.rule_captured.iter().map(|x| self.slots_of(x).is_some()).collect();
        let values: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let map = self.code.mixed_map(&values, parts, &captured)?;
        let varying = parts.rule_captured.iter().zip(&captured).filter(|(_, varies)| **varies);
        let varying: Vec<Atom> = varying.map(|(x, _)| x.clone()).collect();
        let outs: Vec<Var> = map.values.iter().filter_map(Atom::var).collect();
        let mut found = self.rule_node(stmt, (map.backward, true), map.back, &outs, &varying).into_iter();
        Some(map.reach.iter().map(|there| if *there { found.next().flatten() } else { None }).collect())
    }

    /// A node for these values of a statement; their slots.
    fn rule_node(
        &mut self,
        stmt: &Stmt,
        (apply, made): (FuncId, bool),
        back: Atom,
        outs: &[Var],
        point: &[Atom],
    ) -> Vec<Option<Atom>> {
        if !self.can_be_node(stmt, point) {
            self.code.fail(&[], BEYOND);
            return Vec::new();
        }
        let first = self.state.count.clone();
        let own = self.outputs(outs);
        let values: Vec<Ty> = outs.iter().map(|out| self.code.b.func().ty(*out)).collect();
        let (mut fields, mut points) = (vec![first, back.clone()], Vec::new());
        fields.extend(outs.iter().copied().map(Atom::Var));
        let mut given = Vec::new();
        for (slots, ty) in own.into_iter().zip(&values) {
            given.push(self.code.ad.slots(*ty).map(|_| slots));
        }
        fields.extend(given.iter().flatten().cloned());
        fields.extend(point.iter().cloned());
        for x in point {
            let slots = self.slots_of(x);
            points.push((self.code.b.type_of(x), slots.is_some()));
            fields.extend(slots);
        }
        let back = self.code.b.type_of(&back);
        self.push_node(Node::Rule { apply, made, back, values, points }, fields);
        given
    }
}

impl Code<'_> {
    /// Cells after a node has run, with the tape and the count before it; and places.
    pub(super) fn node_back(
        &mut self,
        tape: DataId,
        ctor: u32,
        fields: &[Atom],
        (cells, places): (&Atom, &Atom),
    ) -> (Vec<Atom>, Atom) {
        let node = self
            .ad
            .recorded
            .nodes
            .get(&tape)
            .and_then(|nodes| nodes.get(ctor.saturating_sub(NODES) as usize));
        let (Some(node), [first, inner @ .., rest]) = (node.cloned(), fields) else {
            return (Vec::new(), places.clone());
        };
        let (cells, places) = match node {
            Node::Rule { apply, made, values, points, .. } => {
                (self.rule_back((apply, made), &values, &points, inner, cells), places.clone())
            }
            Node::Both(ty) => (self.both_back(ty, inner, cells), places.clone()),
            Node::Checkpoint { key, args, results } => {
                let kept = Kept::of(&key, &args, &results, inner);
                self.checkpoint_back(tape, &key, &results, &kept, (cells, places))
            }
        };
        (vec![rest.clone(), first.clone(), cells], places)
    }

    fn rule_back(
        &mut self,
        (apply, made): (FuncId, bool),
        values: &[Ty],
        points: &[(Ty, bool)],
        mut fields: &[Atom],
        cells: &Atom,
    ) -> Atom {
        let [back] = take(&mut fields, 1) else { return cells.clone() };
        let ys = take(&mut fields, values.len());
        let mut bars = Vec::new();
        for (y, ty) in ys.iter().zip(values) {
            if self.ad.slots(*ty).is_none() {
                bars.push(None);
                continue;
            }
            let slots = take(&mut fields, 1);
            let bar = slots.first().map(|slots| self.collect(y, slots, *ty, cells));
            bars.push(bar.and_then(|bar| self.inward("vjp".into(), y, &bar, *ty)));
        }
        let xs = take(&mut fields, points.len());
        let found = if made {
            self.pull_inside(apply, back, ys, &bars)
        } else {
            self.pull_back(apply, back, ys, &bars, xs)
        };
        let mut cells = cells.clone();
        for (tangent, (ty, varies)) in found.into_iter().zip(points) {
            if let (true, Some(tangent), [slots]) =
                (*varies, tangent, take(&mut fields, usize::from(*varies)))
            {
                cells = self.seed(slots, &tangent, *ty, &cells);
            }
        }
        cells
    }

    fn both_back(&mut self, ty: Ty, fields: &[Atom], cells: &Atom) -> Atom {
        let [value, own, these, those] = fields else { return cells.clone() };
        let bar = self.collect(value, own, ty, cells);
        let Some(bar) = self.inward("vjp".into(), value, &bar, ty) else { return cells.clone() };
        let cells = self.seed(these, &bar, ty, cells);
        self.seed(those, &bar, ty, &cells)
    }

    fn checkpoint_back(
        &mut self,
        tape: DataId,
        key: &Key,
        results: &[Ty],
        kept: &Kept<'_>,
        (cells, places): (&Atom, &Atom),
    ) -> (Atom, Atom) {
        let Kept { given, varying, slots, outputs } = kept;
        let args = [places.clone(), Atom::Int(0), Atom::Int(1)];
        let mut places = self.b.called("places").array(ArrayOp::Set, args);
        let mut fresh = Vec::new();
        for (slots, ty) in slots.iter().zip(varying) {
            let (own, next) = self.moved(slots, *ty, &places);
            fresh.push(own);
            places = next;
        }
        let count = self.b.called("n").array(ArrayOp::Index, [places.clone(), Atom::Int(0)]);
        let start = self.b.called("tape").make(tape, START, []);
        let recorded = self.ad.recorded_function(key, tape);
        let types = self.ad.recorded_types(key, tape);
        let all: Vec<Atom> = given.iter().chain(&fresh).cloned().chain([start, count]).collect();
        let mut found = self.b.call(recorded, all, &types);
        let State { tape: list, count } = State::split_off(&mut found);
        let own = found.split_off(found.len().saturating_sub(results.len()));
        let mut inner = self.b.called("cells").array(ArrayOp::Replicate, [count.clone(), Atom::Real(0.0)]);
        for ((own, output), ty) in own.iter().zip(*outputs).zip(results) {
            inner = self.feed(own, output, *ty, &inner, cells);
        }
        let inner = self.run_back(tape, &State { tape: list, count }, &inner);
        let mut cells = cells.clone();
        for (slots, ty) in slots.iter().zip(varying) {
            (cells, places) = self.returned(slots, *ty, (&cells, &places), &inner);
        }
        (cells, places)
    }

    /// Cells after a tape has run backward.
    pub(super) fn run_back(&mut self, tape: DataId, state: &State, cells: &Atom) -> Atom {
        let sweep = self.ad.sweep_function(tape);
        let [list, count] = state.atoms();
        debug_assert_eq!(self.b.type_of(&list), state_types(tape)[0]);
        let op = Op::Call { func: sweep, args: vec![list, count, cells.clone()], checkpoint: false };
        self.b.called("cells").typed1(CELLS, op)
    }
}
