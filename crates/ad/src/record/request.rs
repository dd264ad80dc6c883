//! Requests for reverse mode, where cotangents must add up to the last bit as on a tape.
//!
//! ```text
//! y, r = linearize map (x)        xˢ = 1;  y, yˢ, tape, n = recorded_f(x, xˢ, Start, 2);  r = F_map(tape, n, xˢ, yˢ)
//! g = backward map r (w)          match r { F_map(tape, n, xˢ, yˢ) { cells = zeros n;  cells[yˢ] += w;  (sweep(tape, n, cells))[xˢ] } }
//! ```
//!
//! Functions are recorded that are linearized to run backward, with respect to what holds no functions; the others are linearized in
//! parts, as without such demands.

use super::State;
use super::entries::START;
use crate::{Ad, Code, Key};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Op, Rule};
use wengert_ir::program::LinearId;
use wengert_ir::ty::{Ctor, DataId, Elem, Role, Ty};

/// A function recorded for a first-class linear map.
pub(crate) struct Request {
    key: Key,
    tape: DataId,
    /// Types of the residual's fields: tape, count, slots of what varies of parameters and results, points of both.
    fields: Vec<Ty>,
    /// For each active parameter its type, and whether it varies.
    params: Vec<(Ty, bool)>,
    /// The same for each result.
    results: Vec<(Ty, bool)>,
}

impl Ad {
    /// Finds the linear maps that are linearized in parts: those that run forward somewhere, and, where function values give what cannot
    /// be added number by number, those where what is made of them is differentiated with respect to functions.
    pub(crate) fn find_apart(&mut self) {
        for (_, func) in self.program.funcs.iter() {
            func.body.for_each_stmt(&mut |stmt| {
                if let Op::Forward { linear, .. } = &stmt.op {
                    self.apart.insert(*linear);
                }
            });
        }
        self.recorded.adds_up = self.exact && self.adds_up();
        if !self.recorded.adds_up {
            let inside = self.maps_in_functions_of_functions();
            self.is_inexact |= self.exact && !inside.is_empty();
            self.apart.extend(inside);
        }
    }

    /// Whether a linear map is recorded.
    pub(crate) fn is_recorded(&self, linear: LinearId) -> bool {
        if !self.exact || self.apart.contains(&linear) {
            return false;
        }
        let map = self.program.linears.at(linear);
        let func = self.program.funcs.at(map.func);
        let params = func.param_types().into_iter().zip(&map.active).filter(|(_, active)| **active);
        params.map(|(ty, _)| ty).chain(func.results.iter().copied()).all(|ty| self.is_first_order(ty))
    }

    /// Whether values of the type hold no functions.
    pub(crate) fn is_first_order(&self, ty: Ty) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![ty]);
        while let Some(next) = todo.pop() {
            let Elem::Data(data) = next.elem() else { continue };
            if self.program.data.at(data).role != Role::Declared {
                return false;
            }
            if seen.insert(data) {
                todo.extend(self.program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
            }
        }
        true
    }

    /// Whether a tape needs the program to run when it runs: there are rules from cotangents to cotangents, rules that give
    /// data or may be differentiated once more, or checkpoints.
    fn needs_nodes(&self, key: &Key) -> bool {
        self.reaches(key.0, &|op| match op {
            Op::Call { checkpoint, .. } => *checkpoint,
            Op::Custom(parts) => {
                let mut results = self.program.funcs.at(parts.func).results.iter();
                let is_data = |ty: &Ty| matches!(ty.elem(), Elem::Data(_));
                self.is_inside || matches!(parts.rule, Rule::Vjp(..)) || results.any(is_data)
            }
            _ => false,
        })
    }

    /// The type of a tape on which a function is recorded.
    fn tape_for(&mut self, key: &Key) -> DataId {
        if self.needs_nodes(key) {
            let tape = self.new_tape();
            self.recorded.nodes.insert(tape, Vec::new());
            tape
        } else {
            self.plain_tape()
        }
    }

    pub(crate) fn recording(&mut self, id: LinearId) -> Rc<Request> {
        if let Some(known) = self.recorded.requests.get(&id) {
            return Rc::clone(known);
        }
        let linear = self.program.linears.at(id).clone();
        let key = self.recorded_key((linear.func, linear.active.clone()));
        let tape = self.tape_for(&key);
        let types = self.program.funcs.at(key.0).param_types();
        let both = types.into_iter().zip(&key.1).zip(&linear.active);
        let params: Vec<(Ty, bool)> =
            both.filter(|(_, active)| **active).map(|((ty, varies), _)| (ty, *varies)).collect();
        let varies = self.recorded_results(&key);
        let results: Vec<(Ty, bool)> =
            self.program.funcs.at(key.0).results.iter().copied().zip(varies).collect();
        let mut fields = vec![Ty::Scalar(Elem::Data(tape)), Ty::INT];
        for (ty, varies) in params.iter().chain(&results) {
            fields.extend(if *varies { self.slots(*ty) } else { None });
        }
        fields.extend(params.iter().chain(&results).map(|(ty, _)| *ty).filter(|ty| *ty != Ty::REAL));
        let name = self.program.data.at(linear.residual).name;
        self.program.data.at_mut(linear.residual).ctors = vec![Ctor { name, fields: fields.clone() }];
        let request = Rc::new(Request { key, tape, fields, params, results });
        self.recorded.requests.insert(id, Rc::clone(&request));
        request
    }
}

/// A field of a residual, the next of those left.
fn next(fields: &mut std::vec::IntoIter<Atom>) -> Atom {
    fields.next().unwrap_or(Atom::Unit)
}

/// The operation `linearize`.
pub(crate) fn linearize(code: &mut Code<'_>, linear: LinearId, args: &[Atom]) -> Vec<Atom> {
    let request = code.ad.recording(linear);
    let active = code.ad.program.linears.at(linear).active.clone();
    let residual = code.ad.program.linears.at(linear).residual;
    let tape = code.b.called("tape").make(request.tape, START, []);
    let mut state = State { tape, count: Atom::Int(1) };
    let mut slots = Vec::new();
    let points: Vec<Atom> =
        args.iter().zip(&active).filter(|(_, active)| **active).map(|(arg, _)| arg.clone()).collect();
    for (point, (ty, varies)) in points.iter().zip(&request.params) {
        if *varies {
            let (own, count) = code.number(point, *ty, &state.count);
            slots.push(own);
            state.count = count;
        }
    }
    let results = code.ad.program.funcs.at(request.key.0).results.clone();
    let mut values;
    if slots.is_empty() {
        values = code.b.call(request.key.0, args, &results);
    } else {
        let func = code.ad.recorded_function(&request.key, request.tape);
        let types = code.ad.recorded_types(&request.key, request.tape);
        let all: Vec<Atom> = args.iter().chain(&slots).cloned().chain(state.atoms()).collect();
        values = code.b.call(func, all, &types);
        state = State::split_off(&mut values);
        slots.extend(values.split_off(results.len()));
    }
    let [tape, count] = state.atoms();
    let mut fields = vec![tape, count];
    fields.extend(slots);
    fields.extend(points.iter().chain(&values).filter(|atom| code.b.type_of(atom) != Ty::REAL).cloned());
    let residual = code.b.called("residual").make(residual, 0, fields);
    values.into_iter().chain([residual]).collect()
}

/// The operation `backward`.
pub(crate) fn backward(
    code: &mut Code<'_>,
    linear: LinearId,
    residual: &Atom,
    cotangents: &[Atom],
) -> Vec<Atom> {
    let request = code.ad.recording(linear);
    code.b.open();
    let fields = code.field_params("kept", &request.fields);
    let mut fields = fields.into_iter();
    let state = State { tape: next(&mut fields), count: next(&mut fields) };
    let mut slots = Vec::new();
    for (_, varies) in request.params.iter().chain(&request.results) {
        slots.push(varies.then(|| next(&mut fields)));
    }
    let mut points = Vec::new();
    for (ty, _) in request.params.iter().chain(&request.results) {
        points.push(if *ty == Ty::REAL { Atom::Real(0.0) } else { next(&mut fields) });
    }
    let count = request.params.len();
    let results = slots.iter().zip(&points).skip(count).zip(&request.results);
    let mut cells = code.b.called("cells").array(ArrayOp::Replicate, [state.count.clone(), Atom::Real(0.0)]);
    for (((slots, point), (ty, _)), w) in results.zip(cotangents) {
        let tangent = code.inward("vjp".into(), point, w, *ty);
        if let (Some(slots), Some(tangent)) = (slots, tangent) {
            cells = code.seed(slots, &tangent, *ty, &cells);
        }
    }
    let cells = code.run_back(request.tape, &state, &cells);
    let mut found = Vec::new();
    for ((slots, point), (ty, _)) in slots.iter().zip(&points).zip(&request.params) {
        found.push(match slots {
            Some(slots) => code.collect(point, slots, *ty, &cells),
            None => code.outward(point, None, *ty),
        });
    }
    let named: Vec<(Name, Ty)> = found
        .iter()
        .map(|atom| (code.b.name_of(atom).unwrap_or("result".into()), code.b.type_of(atom)))
        .collect();
    let arm = code.b.close(found);
    code.b.named(&named, Op::Match { on: residual.clone(), arms: vec![arm] })
}

/// Cotangents of those arguments of a function that vary, as the user sees them, from cotangents of its results: it is recorded, and the
/// tape runs backward at once. `None` is zero.
pub(crate) fn transpose(
    code: &mut Code<'_>,
    key: &Key,
    args: &[Atom],
    weights: &[Atom],
) -> Vec<Option<Atom>> {
    let key = code.ad.recorded_key(key.clone());
    if !key.1.contains(&true) {
        return vec![None; args.len()];
    }
    let tape = code.ad.tape_for(&key);
    let start = code.b.called("tape").make(tape, START, []);
    let mut state = State { tape: start, count: Atom::Int(1) };
    let mut slots = Vec::new();
    for (arg, active) in args.iter().zip(&key.1) {
        let ty = code.b.type_of(arg);
        slots.push(active.then(|| {
            let (own, count) = code.number(arg, ty, &state.count);
            state.count = count;
            own
        }));
    }
    let func = code.ad.recorded_function(&key, tape);
    let types = code.ad.recorded_types(&key, tape);
    let varies = code.ad.recorded_results(&key);
    let all: Vec<Atom> = args.iter().chain(slots.iter().flatten()).cloned().chain(state.atoms()).collect();
    let mut values = code.b.call(func, all, &types);
    let state = State::split_off(&mut values);
    let mut own = values.split_off(varies.len()).into_iter();
    let mut cells = code.b.called("cells").array(ArrayOp::Replicate, [state.count.clone(), Atom::Real(0.0)]);
    for ((value, weight), varies) in values.iter().zip(weights).zip(varies) {
        let ty = code.b.type_of(value);
        let tangent = code.inward("custom_vjp".into(), value, weight, ty);
        let slots = if varies { own.next() } else { None };
        if let (Some(slots), Some(tangent)) = (slots, tangent) {
            cells = code.seed(&slots, &tangent, ty, &cells);
        }
    }
    let cells = code.run_back(tape, &state, &cells);
    let mut found = Vec::new();
    for (arg, slots) in args.iter().zip(slots) {
        let ty = code.b.type_of(arg);
        found.push(slots.map(|slots| code.collect(arg, &slots, ty, &cells)));
    }
    found
}
