//! Loops.
//!
//! Carried values live in variables that are set at the end of an iteration. The rows of outputs are made in their places
//! where the size of a row is known before the loop; else the output is made in the first iteration, when it is known.

use super::drain::Drained;
use super::in_place::is_bound;
use super::stable::Versions;
use super::uses::Vars;
use super::{ArrayPlace, Destination, Lower, Operand, Place, Stmt, Value, Word, kind, word};
use crate::loops::{Failure, Int, Kind, Local};
use wengert_ir::op::{Compare, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Ty, Var};

/// An output of a loop.
struct Output {
    out: Var,
    /// What the body gives.
    row: Atom,
    /// Whether it is made in the body.
    own: bool,
    /// The object, if it is made in the loop.
    object: Local,
    /// Where elements go, if the object is made before the loop, and the sizes of a row.
    made: Option<(ArrayPlace, Vec<Operand>)>,
}

impl<'a> Lower<'a> {
    /// `for`
    pub(super) fn loop_over(
        &mut self,
        outs: &[Var],
        parts: &'a Loop,
        mut drained: Vec<Drained>,
        dying: &mut Vars,
    ) {
        let len = self.word(&parts.len);
        let carried: Vec<&Atom> = parts.init.iter().chain(&parts.accs).collect();
        let (params, row_params) = split(&parts.body, 1, carried.len());
        let index = self.made.fresh(Word::Int);
        if let Some(param) = parts.body.params.first() {
            self.places.insert(*param, Place::Plain(Operand::Local(index)));
        }
        let inputs: Vec<ArrayPlace> = parts.inputs.iter().map(|input| self.array(input)).collect();
        let locals = self.start_carried(&carried, params, &parts.body, dying);
        let strides: Vec<Operand> = inputs.iter().map(|input| self.product(input.dims.get(1..))).collect();
        let rows = parts.body.results.get(carried.len()..).unwrap_or_default();
        let made = outs.get(carried.len()..).unwrap_or_default();
        let backward = parts.backward;
        self.start_draining(&mut drained);
        let outputs = self.outputs(made, rows, len, &parts.body, (row_params, &inputs));
        for output in &outputs {
            if let (Some((made, _)), Some(row)) = (&output.made, output.row.var()) {
                self.zeros_first(made, &parts.body, row);
            }
        }
        let known = self.in_range.len();
        let body = self.inside(|this| {
            this.in_range.push((Operand::Local(index), len));
            this.bind_carried(params, &locals);
            for ((param, input), stride) in row_params.iter().zip(&inputs).zip(&strides) {
                this.bind_row(*param, input, Operand::Local(index), *stride);
            }
            for output in &outputs {
                this.row_destination(output, &parts.body, Operand::Local(index));
            }
            let mut mine = this.counted_params(params, &locals);
            mine.extend(drained.iter().map(|array| array.row));
            let (early, late): (Vec<&Output>, Vec<&Output>) =
                outputs.iter().partition(|output| this.is_carried_number(&output.row, params));
            for output in early {
                this.put(output, Operand::Local(index), len, &mut Vars::new());
            }
            this.block(&parts.body, mine, &mut |this, given, dying| {
                for output in &late {
                    this.put(output, Operand::Local(index), len, dying);
                }
                this.end_carried(given, &locals, dying);
            });
            this.in_range.truncate(known);
        });
        let independent = parts.mode == Mode::Each && carried.is_empty() || self.are_apart(parts);
        let in_place = outputs.iter().all(|output| output.made.is_some());
        let sums = if in_place { self.sums(parts, params, &locals) } else { Vec::new() };
        self.emit(Stmt::For { index, len, backward, independent, sums, body });
        self.end_draining(drained);
        self.bind_after(outs, params, &locals);
        self.finish_outputs(outputs);
    }

    /// Carried values before the first iteration.
    pub(super) fn start_carried(
        &mut self,
        init: &[&Atom],
        params: &[Var],
        body: &Block,
        dying: &mut Vars,
    ) -> Vec<Local> {
        let mut locals = Vec::with_capacity(init.len());
        // What dies here is kept by nobody, also where the loop begins with it twice and the first has taken it over.
        let dies = dying.clone();
        for (place, ((atom, param), end)) in init.iter().zip(params).zip(&body.results).enumerate() {
            // What a later one begins with, too, is that one's to take over: until then somebody else refers to it.
            let again = init.iter().skip(place + 1).any(|other| other == atom);
            let later = atom.var().filter(|var| again && dying.remove(var));
            locals.extend(self.start(atom, *param, (body, end), dying, &dies));
            dying.extend(later);
        }
        locals
    }

    /// One of them: the variable that it lives in, unless that is where an array is.
    fn start(
        &mut self,
        atom: &Atom,
        param: Var,
        (body, end): (&Block, &Atom),
        dying: &mut Vars,
        dies: &Vars,
    ) -> Option<Local> {
        if let Some(place) = self.start_stable(atom, param, (body, end), dying) {
            let object = place.object;
            self.places.insert(param, Place::Array(place));
            return object;
        }
        if let Some(local) = self.start_cursor(atom, param, (body, end), dies) {
            return Some(local);
        }
        let value = self.consume(atom, dying);
        let local = self.made.fresh(word(self.func.ty(param)));
        self.emit(Stmt::Set(local, Value::Copy(value)));
        Some(local)
    }

    /// The place of a carried array that is updated in place, if it is.
    fn start_stable(
        &mut self,
        atom: &Atom,
        param: Var,
        (body, end): (&Block, &Atom),
        dying: &mut Vars,
    ) -> Option<ArrayPlace> {
        if let Some(place) = self.stable_place(param) {
            self.consume(atom, dying);
            return Some(place);
        }
        if !matches!(self.func.ty(param), Ty::Array(..)) {
            return None;
        }
        let taken = |op: &Op, place: usize| self.passes_on(op, place);
        let mut versions =
            Versions { views: &self.views, free: &self.free, taken: &taken, found: Vec::new() };
        if !versions.follow(body, param, end) {
            return None;
        }
        let found = versions.found;
        self.stable.extend(found.into_iter().map(|version| (version, param)));
        Some(self.made_unique(atom, dying))
    }

    pub(super) fn bind_carried(&mut self, params: &[Var], locals: &[Local]) {
        for (param, local) in params.iter().zip(locals) {
            if !self.stable.contains_key(param) {
                self.bind_owned(*param, *local);
            }
        }
    }

    /// What was carried, after the loop.
    pub(super) fn bind_after(&mut self, outs: &[Var], params: &[Var], locals: &[Local]) {
        for ((out, param), local) in outs.iter().zip(params).zip(locals) {
            let local = self.end_cursor(*local, self.func.ty(*out));
            self.bind_version(*out, *param, local);
        }
    }

    /// Whether a row is a number that is carried into the iteration: it is put into its place before anything else, for then it
    /// needs no place of its own while the next one is computed.
    pub(super) fn is_carried_number(&self, row: &Atom, params: &[Var]) -> bool {
        row.var().is_some_and(|row| params.contains(&row) && kind(self.func.ty(row)) == Kind::Plain)
    }

    /// The carried values that an iteration owns.
    pub(super) fn counted_params(&self, params: &[Var], locals: &[Local]) -> Vars {
        let counted = |(param, local): &(&Var, &Local)| {
            kind(self.func.ty(**param)) != Kind::Plain && !self.borrowed.contains(local)
        };
        params.iter().zip(locals).filter(counted).map(|(param, _)| *param).collect()
    }

    /// Carried values for the next iteration. All are computed before the first is set.
    pub(super) fn end_carried(&mut self, given: &[Atom], locals: &[Local], dying: &mut Vars) {
        let mut values = Vec::with_capacity(locals.len());
        for (atom, local) in given.iter().zip(locals) {
            let value = self.give(atom, *local, dying);
            let changes = value != Operand::Local(*local);
            // One value is set at once; several may be each other's old values.
            let value = if changes && locals.len() > 1 {
                self.set(*self.made.locals.at(*local), Value::Copy(value))
            } else {
                value
            };
            values.push((*local, value));
        }
        // What dies with the iteration may be what was carried into it, which is known by the variables that are set now.
        self.release_all(std::mem::take(dying));
        for (local, value) in values {
            if value != Operand::Local(local) {
                self.emit(Stmt::Set(local, Value::Copy(value)));
            }
        }
    }

    /// Row `index` of an array.
    pub(super) fn bind_row(&mut self, row: Var, array: &ArrayPlace, index: Operand, stride: Operand) {
        match self.func.ty(row) {
            Ty::Scalar(_) => {
                let value = Value::Load { base: array.first, index, offset: 0 };
                self.bind(row, value);
            }
            Ty::Array(elem, _) => {
                let index = self.int(Int::Mul, index, stride);
                let first = self.set(Word::Address, Value::Address { base: array.first, index, offset: 0 });
                let dims = array.dims.get(1..).unwrap_or_default().to_vec();
                self.places.insert(row, Place::Array(ArrayPlace { object: None, first, dims, elem }));
            }
        }
    }

    /// Makes the outputs whose rows have a size that is known.
    fn outputs(
        &mut self,
        outs: &[Var],
        rows: &[Atom],
        len: Operand,
        body: &Block,
        inputs: (&[Var], &[ArrayPlace]),
    ) -> Vec<Output> {
        let mut outputs = Vec::with_capacity(outs.len());
        for (out, row) in outs.iter().zip(rows) {
            let known = match self.ty(row) {
                Ty::Scalar(_) => Some(Vec::new()),
                Ty::Array(..) => self.row_dims(row, body, inputs),
            };
            let object = self.made.fresh(Word::Ref);
            let made = match known {
                Some(row_dims) => {
                    let dims = self.with_rows(len, &row_dims);
                    let place = self.new_array(*out, dims);
                    Some((place, row_dims))
                }
                None => {
                    self.emit(Stmt::Set(object, Value::Copy(Operand::Int(1))));
                    None
                }
            };
            let own = is_bound(body, row);
            outputs.push(Output { out: *out, row: row.clone(), own, object, made });
        }
        outputs
    }

    /// Asks for the row of an output to be made in its place, if the operation that makes it can.
    fn row_destination(&mut self, output: &Output, body: &Block, index: Operand) {
        let (Some((made, dims)), Some(row)) = (&output.made, output.row.var()) else { return };
        if dims.is_empty() || !super::in_place::makes_in_place(body, row) {
            return;
        }
        let stride = self.product(Some(dims));
        let start = self.int(Int::Mul, index, stride);
        let first = self.set(Word::Address, Value::Address { base: made.first, index: start, offset: 0 });
        let place = ArrayPlace { object: None, first, dims: dims.clone(), elem: made.elem };
        self.make_in_place(body, row, Destination { place, index });
    }

    /// Puts a row into its place.
    fn put(&mut self, output: &Output, index: Operand, len: Operand, dying: &mut Vars) {
        let row_ty = self.ty(&output.row);
        let Ty::Array(elem, _) = row_ty else {
            let value = self.consume(&output.row, dying);
            if let Some((made, _)) = &output.made {
                self.emit(Stmt::Store { base: made.first, index, offset: 0, value });
            }
            return;
        };
        let row = self.array(&output.row);
        if let Some((made, dims)) = &output.made {
            if output.own && output.row.var().is_some_and(|row| self.in_place.remove(&row)) {
                return;
            }
            self.check_rows(index, dims, &row.dims);
            self.copy_row(&row, made.first, index, elem);
            return;
        }
        let object = Operand::Local(output.object);
        let missing = self.set(Word::Int, Value::CompareInt(Compare::Eq, object, Operand::Int(1)));
        let dims = self.with_rows(len, &row.dims);
        let then = self.apart(|this| {
            let made = this.alloc_array(&dims);
            this.emit(Stmt::Set(output.object, Value::Copy(made)));
        });
        self.emit(Stmt::If { cond: missing, then, otherwise: Vec::new() });
        let rank = u8::try_from(dims.len()).unwrap_or(u8::MAX);
        if let Place::Array(made) = self.array_at(output.object, elem, rank) {
            let expected = made.dims.get(1..).unwrap_or_default().to_vec();
            self.check_rows(index, &expected, &row.dims);
            self.copy_row(&row, made.first, index, elem);
        }
    }

    /// Copies a row to its place.
    pub(super) fn copy_row(&mut self, row: &ArrayPlace, to: Operand, index: Operand, elem: Elem) {
        let size = self.product(Some(&row.dims));
        let index = self.int(Int::Mul, index, size);
        let to = self.set(Word::Address, Value::Address { base: to, index, offset: 0 });
        self.copy_elems(row.first, to, size, elem);
    }

    fn finish_outputs(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            if output.made.is_some() {
                continue;
            }
            // A loop without iterations has made nothing.
            let object = Operand::Local(output.object);
            let missing = self.set(Word::Int, Value::CompareInt(Compare::Eq, object, Operand::Int(1)));
            let rank = usize::from(self.func.ty(output.out).rank());
            let then = self.apart(|this| {
                let made = this.alloc_array(&vec![Operand::Int(0); rank]);
                this.emit(Stmt::Set(output.object, Value::Copy(made)));
            });
            self.emit(Stmt::If { cond: missing, then, otherwise: Vec::new() });
            self.bind_owned(output.out, output.object);
        }
    }

    /// Fails unless a row has the sizes of row 0.
    pub(super) fn check_rows(&mut self, index: Operand, expected: &[Operand], found: &[Operand]) {
        for (want, have) in expected.iter().zip(found) {
            if want == have {
                continue;
            }
            let differ = self.set(Word::Int, Value::CompareInt(Compare::Ne, *want, *have));
            let numbers = std::iter::once(index).chain(expected.iter().copied()).chain(found.iter().copied());
            let axes = u8::try_from(expected.len()).unwrap_or(u8::MAX);
            self.fail_if(differ, Failure::Ragged(axes), numbers.collect());
        }
    }
}

/// The parameters of a body after `skip`: those for what is carried, and the others.
pub(super) fn split(body: &Block, skip: usize, carried: usize) -> (&[Var], &[Var]) {
    let params = body.params.get(skip..).unwrap_or_default();
    params.split_at_checked(carried).unwrap_or((params, &[]))
}
