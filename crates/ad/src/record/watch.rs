//! Whether a rule is linear in its tangents, where that is not seen: it is run once more beside them, with a *state* beside each number
//! that says whether that is a tangent, as the interpreter marks slots. What is not linear in tangents ends the run with [`UNSEEN`].
//!
//! ```text
//! rule(x, t) = { ys = build 2 (\j -> if j == i { t } else { x }) in product ys }
//! watched_rule(x, t) = { ysˢ = build 2 (\j -> if j == i { 2 } else { 0 });  s = 1;  for y in ysˢ { s = product_state(s, y) };  s != 0 }
//! ```
//!
//! States stand where [slots](super::slots) stand on a tape, and there is no tape. Each number has one: what comes from neither tangents
//! nor anything that may vary elsewhere is zero and stays so, or is something else, as its value says.

use super::entries::START;
use super::{Helper, Record, State};
use crate::{Ad, Code, Key, UNSEEN};
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Op, Stmt, Var, While};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Ty};
use wengert_prim::RealOp;

/// Something that may vary in other ways than tangents do.
const OTHER: i64 = 0;
/// Zero, whatever varies.
pub(super) const ZERO: i64 = 1;
/// Linear in tangents.
const TANGENT: i64 = 2;

/// What is done with states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Watched {
    /// Those of two numbers that are added.
    Sum,
    /// Those of two numbers that are multiplied, and the product.
    Product,
    /// The same of a quotient.
    Quotient,
}

impl Ad {
    /// The type of the tape where there are states.
    fn watched_tape(&mut self) -> DataId {
        if let Some(known) = self.recorded.watched_tape {
            return known;
        }
        let tape = self.new_tape();
        self.recorded.watched_tape = Some(tape);
        tape
    }

    pub(super) fn is_watched(&self, tape: DataId) -> bool {
        self.recorded.watched_tape == Some(tape)
    }

    /// The state that an operation on two numbers gives.
    fn state_function(&mut self, what: Watched) -> FuncId {
        self.recording_helper(Helper::Watched(what), vec![Ty::INT], |ad| {
            let name = match what {
                Watched::Sum => "state_of_sum",
                Watched::Product => "state_of_product",
                Watched::Quotient => "state_of_quotient",
            };
            let mut code = Code::new(ad, name);
            let [a, b] = ["a", "b"].map(|name| code.b.param(name.into(), Ty::INT));
            let any_is = |code: &mut Code<'_>, state: i64| {
                let first = code.b.compare(Compare::Eq, a.clone(), Atom::Int(state));
                let second = code.b.compare(Compare::Eq, b.clone(), Atom::Int(state));
                code.b.select(first, Atom::Bool(true), second)
            };
            let (wrong, zero) = match what {
                Watched::Sum => {
                    let zero = code.b.int(IntOp::Mul, [a.clone(), b.clone()]);
                    (any_is(&mut code, OTHER), code.b.compare(Compare::Eq, zero, Atom::Int(ZERO)))
                }
                Watched::Product => {
                    let z = code.b.param("z".into(), Ty::REAL);
                    let zero = vec![any_is(&mut code, ZERO), code.is_zero(&z)];
                    (code.b.compare(Compare::Eq, a.clone(), b.clone()), code.all_of(zero))
                }
                Watched::Quotient => {
                    let z = code.b.param("z".into(), Ty::REAL);
                    let first = code.b.compare(Compare::Eq, a.clone(), Atom::Int(ZERO));
                    let zero = vec![first, code.is_zero(&z)];
                    (code.b.compare(Compare::Eq, b.clone(), Atom::Int(TANGENT)), code.all_of(zero))
                }
            };
            let tangents = any_is(&mut code, TANGENT);
            code.b.open();
            code.refuse_if(wrong);
            let then = code.b.close(vec![Atom::Int(TANGENT)]);
            code.b.open();
            let state = code.b.select(zero, Atom::Int(ZERO), Atom::Int(OTHER));
            let otherwise = code.b.close(vec![state]);
            let state = code.b.called("state").typed1(Ty::INT, Op::If { cond: tangents, then, otherwise });
            code.finish(vec![state])
        })
    }

    /// The function that runs another one beside its tangents, which are marked, and looks at its results from `first` on. Of parameters
    /// before `tangents` nothing is known; what does not vary of the others is what it is.
    fn watched_function(&mut self, key: &Key, first: usize, tangents: usize) -> FuncId {
        let known = (key.clone(), first, tangents);
        if let Some(id) = self.recorded.watched.get(&known) {
            return *id;
        }
        let id = self.reserve(Vec::new());
        self.recorded.watched.insert(known, id);
        let tape = self.watched_tape();
        let func = self.program.funcs.at(key.0);
        let (name, params, span) = (func.name, func.param_types(), func.span);
        let all = self.recorded_key((key.0, vec![true; params.len()]));
        let varies = self.recorded_results(&all);
        let recorded = self.recorded_function(&all, tape);
        let types = self.recorded_types(&all, tape);
        let results = self.program.funcs.at(key.0).results.clone();
        let mut code = Code::new(self, &format!("watched_{name}"));
        code.b.set_func_span(span);
        code.b.set_span(span);
        let args = code.field_params("x", &params);
        let mut given = args.clone();
        for (i, ((arg, ty), has_slots)) in args.iter().zip(&params).zip(&all.1).enumerate() {
            let state = match key.1.get(i) {
                _ if i < tangents => Some(OTHER),
                Some(true) => Some(TANGENT),
                Some(false) | None => None,
            };
            if *has_slots {
                given.push(code.states(arg, *ty, state));
            }
        }
        let start = code.b.called("tape").make(tape, START, []);
        given.extend([start, Atom::Int(1)]);
        let mut values = code.b.call(recorded, given, &types);
        State::split_off(&mut values);
        let mut own = values.split_off(results.len()).into_iter();
        for (i, ((value, ty), varies)) in values.iter().zip(&results).zip(varies).enumerate() {
            let slots = if varies { own.next() } else { None };
            if i < first || code.ad.slots(*ty).is_none() {
                continue;
            }
            let slots = match slots {
                Some(slots) => slots,
                None => code.states(value, *ty, None),
            };
            let fine = code.none_is(&slots, *ty, OTHER);
            code.refuse_unless(fine);
        }
        let made = code.finish(Vec::new());
        *self.program.funcs.at_mut(id) = made;
        id
    }

    /// The slots of a value of a data type that all have this state; without one, as their values say.
    fn states_function(&mut self, data: DataId, slots: DataId, state: Option<i64>) -> FuncId {
        self.whole_slots(data);
        let own = Ty::Scalar(Elem::Data(slots));
        self.recording_helper(Helper::States(data, state), vec![own], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("states_{name}"));
            let value = code.b.param("x".into(), Ty::Scalar(Elem::Data(data)));
            let mut arms = Vec::new();
            for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let xs = code.field_params("x", fields);
                let mut parts = Vec::new();
                for (x, ty) in xs.iter().zip(fields) {
                    if code.ad.slots(*ty).is_some() {
                        parts.push(code.states(x, *ty, state));
                    }
                }
                let made = code.b.make(slots, i as u32 + 1, parts);
                arms.push(code.b.close(vec![made]));
            }
            let found = code.b.called("slots").typed1(own, Op::Match { on: value, arms });
            code.finish(vec![found])
        })
    }

    /// The function that tells whether no number of a value of this type has a state, from its slots.
    fn none_is_function(&mut self, ty: Ty, state: i64) -> Option<FuncId> {
        let own = self.slots(ty)?;
        if let Ty::Scalar(Elem::Data(data)) = ty {
            self.whole_slots(data);
        }
        Some(self.recording_helper(Helper::NoneIs(ty, state), vec![Ty::BOOL], |ad| {
            ad.make_none_is(ty, own, state)
        }))
    }

    fn make_none_is(&mut self, ty: Ty, own: Ty, state: i64) -> Func {
        let mut code = Code::new(self, "none_is");
        let slots = code.b.param("slots".into(), own);
        let none = match (ty, own) {
            (Ty::Scalar(Elem::Data(data)), Ty::Scalar(Elem::Data(own))) => {
                let ctors = code.ad.program.data.at(own).ctors.clone();
                let mut arms = Vec::new();
                for (i, made) in ctors.iter().enumerate() {
                    code.b.open();
                    let params = code.field_params("slot", &made.fields);
                    let types = match i.checked_sub(1) {
                        Some(ctor) => code.ad.types_with_slots(data, ctor as u32),
                        None => Vec::new(),
                    };
                    let none =
                        params.iter().zip(types).map(|(slots, ty)| code.none_is(slots, ty, state)).collect();
                    let none = code.all_of(none);
                    arms.push(code.b.close(vec![none]));
                }
                code.b.called("none").typed1(Ty::BOOL, Op::Match { on: slots, arms })
            }
            _ => code.all_rows(&slots, |code, row| match ty.at(1) {
                Some(ty) => code.none_is(row, ty, state),
                None => Atom::Bool(true),
            }),
        };
        code.finish(vec![none])
    }
}

impl Code<'_> {
    /// Ends the run if a function is not linear in those parameters that vary, from `tangents` on, with these arguments, where they are
    /// zero. The results from `first` on are looked at.
    pub(crate) fn watch(&mut self, key: &Key, args: &[Atom], first: usize, tangents: usize) {
        let functions = self.ad.is_of_functions(key, first, tangents) || self.ad.is_given_own_tangents(key.0);
        if functions || self.ad.is_long() || !self.ad.is_ready(key.0) {
            self.fail(&[], UNSEEN);
            return;
        }
        let func = self.ad.watched_function(key, first, tangents);
        self.b.call(func, args.to_vec(), &[]);
    }

    fn refuse_if(&mut self, cond: Atom) {
        if cond == Atom::Bool(false) {
            return;
        }
        self.b.open();
        self.fail(&[], UNSEEN);
        let then = self.b.close(Vec::new());
        self.b.typed(&[], Op::If { cond, then, otherwise: Block::default() });
    }

    fn refuse_unless(&mut self, cond: Atom) {
        if cond == Atom::Bool(true) {
            return;
        }
        self.b.open();
        self.fail(&[], UNSEEN);
        let otherwise = self.b.close(Vec::new());
        self.b.typed(&[], Op::If { cond, then: Block::default(), otherwise });
    }

    /// Slots for a value that all have this state; without one each says whether its number is zero.
    pub(super) fn states(&mut self, value: &Atom, ty: Ty, state: Option<i64>) -> Atom {
        match (ty, state) {
            (Ty::Scalar(Elem::Real), Some(state)) => Atom::Int(state),
            (Ty::Scalar(Elem::Real), None) => match value {
                Atom::Real(x) => Atom::Int(if *x == 0.0 { ZERO } else { OTHER }),
                _ => {
                    let zero = self.is_zero(value);
                    self.b.called("state").select(zero, Atom::Int(ZERO), Atom::Int(OTHER))
                }
            },
            (Ty::Array(Elem::Real, 1), Some(state)) => {
                let len = self.length(value);
                self.b.called("slots").array(ArrayOp::Replicate, [len, Atom::Int(state)])
            }
            (Ty::Scalar(Elem::Data(data)), _) => match self.ad.slots_data(data) {
                Some(slots) => {
                    let func = self.ad.states_function(data, slots, state);
                    let own = Ty::Scalar(Elem::Data(slots));
                    self.b.called("slots").call(func, [value.clone()], &[own]).remove(0)
                }
                None => Atom::Unit,
            },
            (Ty::Scalar(_), _) => Atom::Unit,
            (Ty::Array(..), _) => {
                let (Some(row), Some(own)) = (ty.at(1), self.ad.slots(ty)) else { return Atom::Unit };
                let len = self.length(value);
                let rows = self.open_rows(&[("row", row)]);
                let slots = rows.first().map_or(Atom::Unit, |x| self.states(x, row, state));
                let body = self.b.close(vec![slots]);
                self.each(len, vec![value.clone()], Vec::new(), body, &[("slots".into(), own)]).remove(0)
            }
        }
    }

    /// Whether no number of a value of this type has a state, from its slots.
    fn none_is(&mut self, slots: &Atom, ty: Ty, state: i64) -> Atom {
        match (ty, slots) {
            (Ty::Scalar(Elem::Real), Atom::Int(slot)) => Atom::Bool(*slot != state),
            (Ty::Scalar(Elem::Real), _) => self.b.compare(Compare::Ne, slots.clone(), Atom::Int(state)),
            (_, _) => match self.ad.none_is_function(ty, state) {
                Some(func) => self.b.called("none").call(func, [slots.clone()], &[Ty::BOOL]).remove(0),
                None => Atom::Bool(true),
            },
        }
    }
}

impl Record<'_, '_> {
    /// Whether there are states.
    pub(super) fn watches(&self) -> bool {
        self.code.ad.is_watched(self.tape)
    }

    /// Appends a statement, with states, if there are such; whether there are.
    pub(super) fn watched(&mut self, stmt: &Stmt) -> bool {
        if !self.watches() {
            return false;
        }
        match &stmt.op {
            Op::Copy(_) | Op::Select { .. } | Op::Make { .. } => return false,
            Op::Match { on, arms } => self.match_on(stmt, on, arms),
            Op::If { cond, then, otherwise } => {
                let then = self.arm(stmt, then, None);
                let otherwise = self.arm(stmt, otherwise, None);
                self.replace(stmt, Op::If { cond: cond.clone(), then, otherwise });
            }
            Op::Loop(parts) => self.repeat(stmt, parts),
            Op::While(parts) => {
                self.watched_cond(parts);
                self.while_loop(stmt, parts);
            }
            Op::Call { .. } if self.code.ad.exact_zero_of(stmt).is_some() => self.watched_test(stmt),
            Op::Call { func, .. } if self.code.ad.recorded.watched.values().any(|id| id == func) => {
                self.code.b.push(stmt.clone());
            }
            Op::Call { func, args, checkpoint } => {
                if *checkpoint {
                    self.refuse_tangents(args);
                }
                self.watched_call(stmt, *func, args);
            }
            Op::Custom(parts) => {
                self.refuse_tangents(&parts.point);
                let args: Vec<Atom> = parts.captured.iter().chain(&parts.point).cloned().collect();
                self.watched_call(stmt, parts.func, &args);
            }
            Op::Real(op, args) => {
                self.code.b.push(stmt.clone());
                self.watched_arithmetic(stmt, *op, args);
            }
            Op::Array(op, args) => return self.watched_array(stmt, *op, args),
            Op::StopGradient(_) | Op::Whole(_) => self.code.b.push(stmt.clone()),
            op => {
                let mut atoms = Vec::new();
                op.for_each_atom(&mut |atom| atoms.push(atom.clone()));
                self.others(stmt, &atoms);
            }
        }
        true
    }

    /// Appends a statement that must not be given tangents.
    fn others(&mut self, stmt: &Stmt, operands: &[Atom]) {
        self.refuse_tangents(operands);
        self.code.b.push(stmt.clone());
        self.note_states(&stmt.outs, OTHER);
    }

    fn note_states(&mut self, outs: &[Var], state: i64) {
        for out in outs {
            if self.slot_type(*out).is_some() {
                let ty = self.code.b.func().ty(*out);
                let states = self.code.states(&Atom::Var(*out), ty, Some(state));
                self.note(*out, Some(states));
            }
        }
    }

    /// Whether none of the numbers in an operand has a state.
    fn no(&mut self, atom: &Atom, state: i64) -> Atom {
        let ty = self.code.b.type_of(atom);
        if self.code.ad.slots(ty).is_none() {
            return Atom::Bool(true);
        }
        let slots = self.slots_or_none(atom);
        self.code.none_is(&slots, ty, state)
    }

    fn refuse_tangents(&mut self, atoms: &[Atom]) {
        for atom in atoms {
            if self.slots_of(atom).is_some() {
                let none = self.no(atom, TANGENT);
                self.code.refuse_unless(none);
            }
        }
    }

    /// A question whether something is zero and nothing else: a tangent is not.
    fn watched_test(&mut self, stmt: &Stmt) {
        let x = self.code.ad.exact_zero_of(stmt).cloned();
        let (Some(x), [out]) = (x, stmt.outs.as_slice()) else { return };
        let both = vec![self.code.is_zero(&x), self.no(&x, TANGENT)];
        let zero = self.code.all_of(both);
        self.code.b.push(Stmt { outs: vec![*out], op: Op::Copy(zero), span: stmt.span });
    }

    /// The condition of a loop must not look at tangents.
    fn watched_cond(&mut self, parts: &While) {
        let (mut used, mut taken): (Vec<Atom>, Vec<(Atom, Vec<Var>)>) = (Vec::new(), Vec::new());
        parts.cond.for_each_stmt(&mut |stmt| {
            used.extend(stmt.op.blocks().into_iter().flat_map(|block| &block.results).cloned());
            match &stmt.op {
                Op::Array(ArrayOp::Length(_), _) => {}
                Op::Match { on, arms } => {
                    let params = arms.iter().flat_map(|arm| &arm.params).copied();
                    taken.push((on.clone(), params.collect()));
                }
                op => op.for_each_atom(&mut |atom| used.push(atom.clone())),
            }
        });
        // Which constructor it is does not depend on tangents.
        for (on, params) in taken.into_iter().rev() {
            if params.into_iter().any(|param| used.contains(&Atom::Var(param))) {
                used.push(on);
            }
        }
        let own = parts.cond.params.iter().zip(&parts.init);
        let own: Vec<Atom> = own
            .filter(|(param, _)| used.contains(&Atom::Var(**param)))
            .map(|(_, init)| init.clone())
            .collect();
        self.refuse_tangents(&used);
        self.refuse_tangents(&own);
    }

    fn watched_call(&mut self, stmt: &Stmt, func: FuncId, args: &[Atom]) {
        let asked = match self.code.ad.linear_helpers.get(&func).copied() {
            Some(crate::types::Helper::Sum(tangent)) => self.code.ad.sum_to_record(tangent),
            _ => func,
        };
        let key = self.code.ad.recorded_key((asked, vec![true; args.len()]));
        if !key.1.contains(&true) {
            let op = Op::Call { func, args: args.to_vec(), checkpoint: false };
            self.code.b.push(Stmt { op, ..stmt.clone() });
            return;
        }
        let recorded = self.code.ad.recorded_function(&key, self.tape);
        let mut all = args.to_vec();
        for (arg, _) in args.iter().zip(&key.1).filter(|(_, has_slots)| **has_slots) {
            all.push(self.slots_or_none(arg));
        }
        all.extend(self.state.atoms());
        let varies = self.code.ad.recorded_results(&key);
        let mut outs = stmt.outs.clone();
        for (out, _) in stmt.outs.iter().zip(varies).filter(|(_, varies)| *varies) {
            let ty = self.code.b.func().ty(*out);
            let Some(own) = self.code.ad.slots(ty) else { continue };
            let name = super::slot_name(self.code.name(*out));
            let fresh = self.code.b.fresh(name, own);
            self.note(*out, Some(Atom::Var(fresh)));
            outs.push(fresh);
        }
        outs.extend(self.fresh_state());
        self.code.b.push(Stmt {
            outs,
            op: Op::Call { func: recorded, args: all, checkpoint: false },
            span: stmt.span,
        });
    }

    fn watched_arithmetic(&mut self, stmt: &Stmt, op: RealOp, args: &[Atom]) {
        let [out] = stmt.outs.as_slice() else { return };
        if args.iter().all(|arg| self.slots_of(arg).is_none()) {
            return;
        }
        let what = match op {
            RealOp::Add | RealOp::Sub => Watched::Sum,
            RealOp::Mul | RealOp::MulZero => Watched::Product,
            RealOp::Div | RealOp::DivZero => Watched::Quotient,
            RealOp::Neg => {
                let state = args.first().and_then(|x| self.slots_of(x));
                return self.note(*out, state);
            }
            _ => {
                self.refuse_tangents(args);
                return self.note_states(&[*out], OTHER);
            }
        };
        let mut given: Vec<Atom> = args.iter().map(|arg| self.slots_or_none(arg)).collect();
        given.extend((what != Watched::Sum).then_some(Atom::Var(*out)));
        let state = self.state_of(what, given);
        self.note(*out, Some(state));
    }

    fn state_of(&mut self, what: Watched, given: Vec<Atom>) -> Atom {
        let func = self.code.ad.state_function(what);
        self.code.b.called("state").call(func, given, &[Ty::INT]).remove(0)
    }

    /// The state of the sum of two numbers with these.
    pub(super) fn watched_sum(&mut self, a: Atom, b: Atom) -> Atom {
        self.state_of(Watched::Sum, vec![a, b])
    }

    fn watched_array(&mut self, stmt: &Stmt, op: ArrayOp, args: &[Atom]) -> bool {
        match op {
            ArrayOp::Maximum
            | ArrayOp::Minimum
            | ArrayOp::Sort
            | ArrayOp::ArgMax
            | ArrayOp::ArgMin
            | ArrayOp::ArgSort
            | ArrayOp::Product
            | ArrayOp::Dot
            | ArrayOp::MatVec
            | ArrayOp::MatMul => self.others(stmt, args),
            ArrayOp::AddProduct(_) => self.watched_products(stmt, args),
            _ => return false,
        }
        true
    }

    /// Products that are added to an array: if there are tangents at all, one factor of each consists of such, and all of the array.
    fn watched_products(&mut self, stmt: &Stmt, args: &[Atom]) {
        self.code.b.push(stmt.clone());
        let [out] = stmt.outs.as_slice() else { return };
        let parts = self.code.b.func().product(args);
        let Some((sum, factors)) = parts.map(|(sum, _, factors)| (sum.clone(), factors.to_vec())) else {
            return;
        };
        let none: Vec<Atom> =
            std::iter::once(&sum).chain(&factors).map(|factor| self.no(factor, TANGENT)).collect();
        let none = self.code.all_of(none);
        let ty = self.code.b.func().ty(*out);
        let Some(own) = self.code.ad.slots(ty) else { return };
        self.code.b.open();
        let others = self.code.states(&Atom::Var(*out), ty, Some(OTHER));
        let then = self.code.b.close(vec![others]);
        self.code.b.open();
        let linear = self.no(&sum, OTHER);
        self.code.refuse_unless(linear);
        for pair in factors.chunks(2) {
            let [a, b] = pair else { continue };
            let quiet = [self.no(a, TANGENT), self.no(b, TANGENT)];
            let linear = [self.no(a, OTHER), self.no(b, OTHER)];
            let [of_a, of_b] = quiet;
            let [a, b] = linear;
            let either = [vec![of_a, b], vec![a, of_b]].map(|both| self.code.all_of(both));
            let [first, second] = either;
            let fine = self.code.b.select(first, Atom::Bool(true), second);
            self.code.refuse_unless(fine);
        }
        let tangents = self.code.states(&Atom::Var(*out), ty, Some(TANGENT));
        let otherwise = self.code.b.close(vec![tangents]);
        let slots = self.code.b.called("slots").typed1(own, Op::If { cond: none, then, otherwise });
        self.note(*out, Some(slots));
    }
}
