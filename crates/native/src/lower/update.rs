//! Updates of arrays: in place, if nobody else looks at them.

use super::uses::Vars;
use super::{ArrayPlace, Lower, Operand, Place, Stmt, Value, Word, kind};
use crate::loops::{Failure, Int, Kind};
use wengert_base::Name;
use wengert_ir::op::{Compare, Requirement};
use wengert_ir::{Atom, Elem, Ty, Var};
use wengert_prim::RealOp;

impl Lower<'_> {
    /// An array that is nobody else's, with the elements of another: that one itself, if it dies here unshared.
    pub(super) fn updatable(&mut self, out: Var, atom: &Atom, dying: &mut Vars) -> ArrayPlace {
        if let Some(place) = self.stable_place(out) {
            self.consume(atom, dying);
            self.places.insert(out, Place::Array(place.clone()));
            return place;
        }
        let source = self.array(atom);
        if self.destinations.contains_key(&out) {
            let made = self.new_array(out, source.dims.clone());
            let size = self.product(Some(&source.dims));
            self.copy_elems(source.first, made.first, size, made.elem);
            return made;
        }
        let place = self.made_unique(atom, dying);
        self.places.insert(out, Place::Array(place.clone()));
        place
    }

    /// The place of a version of a stable array.
    pub(super) fn stable_place(&self, version: Var) -> Option<ArrayPlace> {
        match self.places.get(self.stable.get(&version)?) {
            Some(Place::Array(place)) => Some(place.clone()),
            Some(Place::Plain(_) | Place::Counted(_)) | None => None,
        }
    }

    /// An object of one's own with the elements of an array: that array itself, if it dies here unshared.
    pub(super) fn made_unique(&mut self, atom: &Atom, dying: &mut Vars) -> ArrayPlace {
        let source = self.array(atom);
        let ty = self.ty(atom);
        let mine = self.made.fresh(Word::Ref);
        let given = self.consume(atom, dying);
        self.emit(Stmt::Set(mine, Value::Copy(given)));
        if source.object.is_some() {
            let unique = self.set(Word::Int, Value::Unique(given, kind(ty)));
            let otherwise = self.apart(|this| {
                let copy = this.copy_of(&source);
                this.emit(Stmt::Release(given, kind(ty)));
                this.emit(Stmt::Set(mine, Value::Copy(copy)));
            });
            self.emit(Stmt::If { cond: unique, then: Vec::new(), otherwise });
        }
        let first = self.first(Operand::Local(mine), source.dims.len());
        ArrayPlace { object: Some(mine), first, dims: source.dims, elem: ty.elem() }
    }

    pub(super) fn set_at(
        &mut self,
        out: Var,
        array: &Atom,
        indices: &[Atom],
        value: &Atom,
        dying: &mut Vars,
    ) {
        let source = self.array(array);
        let (place, rest) = self.place_of(&source, indices);
        if rest.is_empty() {
            let value = self.consume(value, dying);
            let made = self.updatable(out, array, dying);
            let kind = kind(Ty::Scalar(made.elem));
            if kind != Kind::Plain {
                let old = self.load(made.first, place, made.elem);
                self.emit(Stmt::Release(old, kind));
            }
            self.put_at(made.first, place, value);
            return;
        }
        let row = self.array(value);
        self.check_rows(Operand::Int(0), &rest, &row.dims);
        let made = self.updatable(out, array, dying);
        let size = self.product(Some(&rest));
        let to = self.set(Word::Address, Value::Address { base: made.first, index: place, offset: 0 });
        let kind = kind(Ty::Scalar(made.elem));
        if kind != Kind::Plain {
            self.for_each(size, false, |this, i| {
                let old = this.load(to, i, made.elem);
                this.emit(Stmt::Release(old, kind));
            });
        }
        self.copy_elems(row.first, to, size, made.elem);
    }

    pub(super) fn add_at(
        &mut self,
        out: Var,
        array: &Atom,
        indices: &[Atom],
        value: &Atom,
        dying: &mut Vars,
    ) {
        let source = self.array(array);
        let (place, rest) = self.place_of(&source, indices);
        let made = self.updatable(out, array, dying);
        if rest.is_empty() {
            let value = self.word(value);
            let old = self.load(made.first, place, made.elem);
            let sum = self.plus(made.elem, old, value);
            self.put_at(made.first, place, sum);
            return;
        }
        let row = self.array(value);
        let to = self.set(Word::Address, Value::Address { base: made.first, index: place, offset: 0 });
        self.add_elems(to, row.first, &row.dims, made.elem);
    }

    /// Adds elements to others.
    fn add_elems(&mut self, to: Operand, from: Operand, dims: &[Operand], elem: Elem) {
        let size = self.product(Some(dims));
        self.for_each(size, true, |this, i| {
            let (x, y) = (this.load(to, i, elem), this.load(from, i, elem));
            let sum = this.plus(elem, x, y);
            this.put_at(to, i, sum);
        });
    }

    /// A sum of two numbers.
    pub(super) fn plus(&mut self, elem: Elem, x: Operand, y: Operand) -> Operand {
        match elem {
            Elem::Real => self.set(Word::Real, Value::Real(RealOp::Add, vec![x, y])),
            Elem::Int | Elem::Bool | Elem::Text | Elem::Unit | Elem::Data(_) => {
                self.set(Word::Int, Value::Int(Int::Add, x, y))
            }
        }
    }

    /// The sum of two arrays, of which one without rows counts as zero.
    pub(super) fn add(&mut self, out: Var, first: &Atom, other: &Atom, dying: &mut Vars) {
        let (a, b) = (self.array(first), self.array(other));
        let (rows_a, rows_b) = (a.dims.first().copied(), b.dims.first().copied());
        let (Some(rows_a), Some(rows_b)) = (rows_a, rows_b) else { return };
        self.destinations.remove(&out);
        let made = self.updatable(out, first, dying);
        let Some(object) = made.object else { return };
        let empty = self.set(Word::Int, Value::CompareInt(Compare::Eq, rows_a, Operand::Int(0)));
        let then = self.apart(|this| {
            this.emit(Stmt::Release(Operand::Local(object), kind(this.func.ty(out))));
            let copy = this.copy_of(&b);
            this.emit(Stmt::Set(object, Value::Copy(copy)));
        });
        let otherwise = self.apart(|this| {
            let some = this.set(Word::Int, Value::CompareInt(Compare::Ne, rows_b, Operand::Int(0)));
            let both = this.apart(|this| this.add_elems(made.first, b.first, &b.dims, a.elem));
            this.emit(Stmt::If { cond: some, then: both, otherwise: Vec::new() });
        });
        self.emit(Stmt::If { cond: empty, then, otherwise });
        self.bind_owned(out, object);
    }

    pub(super) fn scatter_add(
        &mut self,
        out: Var,
        array: &Atom,
        places: &Atom,
        rows: &Atom,
        dying: &mut Vars,
    ) {
        let (target, places, rows) = (self.array(array), self.array(places), self.array(rows));
        let dim = |place: &ArrayPlace| place.dims.first().copied().unwrap_or(Operand::Int(0));
        let (size, count, given) = (dim(&target), dim(&places), dim(&rows));
        let differ = self.set(Word::Int, Value::CompareInt(Compare::Ne, count, given));
        self.fail_if(
            differ,
            Failure::Required(Requirement::SameSize(Name::new("scatter_add"))),
            vec![count, given],
        );
        let made = self.updatable(out, array, dying);
        let row_dims = rows.dims.get(1..).unwrap_or_default().to_vec();
        let stride = self.product(Some(&row_dims));
        self.for_each(count, false, |this, i| {
            let place = this.checked_place(places.first, i, size);
            if row_dims.is_empty() {
                let (x, y) = (this.load(made.first, place, made.elem), this.load(rows.first, i, made.elem));
                let sum = this.plus(made.elem, x, y);
                this.put_at(made.first, place, sum);
                return;
            }
            let to = this.int(Int::Mul, place, stride);
            let to = this.set(Word::Address, Value::Address { base: made.first, index: to, offset: 0 });
            let from = this.int(Int::Mul, i, stride);
            let from = this.set(Word::Address, Value::Address { base: rows.first, index: from, offset: 0 });
            this.add_elems(to, from, &row_dims, made.elem);
        });
    }
}
