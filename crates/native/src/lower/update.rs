//! Updates of arrays: in place, if nobody else looks at them.

use super::uses::Vars;
use super::{ArrayPlace, Lower, Operand, Place, Stmt, Value, Word, kind};
use crate::loops::{Failure, Int, Kind, Runtime, walk};
use wengert_base::Name;
use wengert_ir::op::{Compare, Lie, Requirement};
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
        let changed = |var: &Var| self.changed_in_place.contains(var);
        if atom.var().filter(changed).is_some_and(|var| self.in_place.remove(&var)) {
            self.in_place.insert(out);
            self.places.insert(out, Place::Array(source.clone()));
            return source;
        }
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
        let given = self.consume(atom, dying);
        // Nobody can have referred to an object that was made just now, in this iteration of all loops around.
        if source.object.is_some_and(|object| self.fresh.get(&object) == Some(&self.depth)) {
            return source;
        }
        let mine = self.made.fresh(Word::Ref);
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

    /// Adds products of matrices and vectors: the runtime does. Factors that do not fit add nothing.
    pub(super) fn add_product(&mut self, out: Var, lie: Lie, args: &[Atom], dying: &mut Vars) {
        let Some((array, indices, factors)) = self.func.product(args) else { return };
        let source = self.array(array);
        let (place, rest, mut fits) = self.place_if_any(&source, indices);
        let factors: Vec<ArrayPlace> = factors.iter().map(|factor| self.array(factor)).collect();
        let made = self.updatable(out, array, dying);
        let out = self.set(Word::Address, Value::Address { base: made.first, index: place, offset: 0 });
        let [n, more @ ..] = rest.as_slice() else { return };
        let width = more.first().copied().unwrap_or(Operand::Int(1));
        let Some(first) = factors.first() else { return };
        let m = self.sizes_of_factor(first, lie.first, false).1;
        for (place, factor) in factors.iter().enumerate() {
            let row = place % 2 == 1 && first.dims.len() == 1;
            let transposed = if place % 2 == 0 { lie.first } else { lie.second };
            let (rows, columns) = self.sizes_of_factor(factor, transposed, row);
            let expected = if place % 2 == 0 { [*n, m] } else { [m, width] };
            for (size, expected) in [rows, columns].into_iter().zip(expected) {
                if size != expected {
                    let equal = self.set(Word::Int, Value::CompareInt(Compare::Eq, size, expected));
                    fits = Some(self.both(fits, equal));
                }
            }
        }
        let fill = if indices.is_empty() { self.take_fill(&made) } else { None };
        let kind = i64::from(lie.first) + 2 * i64::from(lie.second) + 4 * i64::from(lie.backward) + 8;
        let unfilled = if fill.is_some() { 16 } else { 0 };
        let then = self.apart(|this| {
            for (place, factors) in factors.chunks(4).enumerate() {
                let kind = if place == 0 { kind + unfilled } else { kind };
                let mut args = vec![out, *n, m, width, Operand::Int(kind)];
                args.extend(factors.iter().map(|factor| factor.first));
                args.resize(9, Operand::Int(0));
                this.emit(Stmt::Runtime { call: Runtime::AddProduct, args, out: None });
            }
        });
        match fits {
            Some(cond) => self.emit(Stmt::If { cond, then, otherwise: fill.into_iter().collect() }),
            None => then.into_iter().for_each(|stmt| self.emit(stmt)),
        }
    }

    /// What fills an array with zeros, if nothing has looked at it since: then a product need not add to them.
    fn take_fill(&mut self, array: &ArrayPlace) -> Option<Stmt> {
        let is_fill = |stmt: &Stmt| matches!(stmt, Stmt::Runtime { call: Runtime::ZeroWords, args, .. } if args.first() == Some(&array.first));
        let place = self.code.iter().rposition(is_fill)?;
        let (Operand::Local(first), Some(object)) = (array.first, array.object) else { return None };
        let mut names = vec![first, object];
        for stmt in self.code.get(place + 1..).unwrap_or_default() {
            // As that of what the product is added to.
            if let Stmt::Set(other, Value::Address { base: Operand::Local(base), .. }) = stmt
                && names.contains(base)
                && *base != object
            {
                names.push(*other);
            } else if walk::mentions(stmt, &names) {
                return None;
            }
        }
        Some(self.code.remove(place))
    }

    fn both(&mut self, fits: Option<Operand>, more: Operand) -> Operand {
        match fits {
            Some(fits) => self.set(Word::Int, Value::Int(Int::And, fits, more)),
            None => more,
        }
    }

    /// The place of a part of an array, its sizes, and whether there is such a place, if that is not known.
    fn place_if_any(
        &mut self,
        array: &ArrayPlace,
        indices: &[Atom],
    ) -> (Operand, Vec<Operand>, Option<Operand>) {
        let (mut place, mut there) = (Operand::Int(0), None);
        for (atom, dim) in indices.iter().zip(&array.dims) {
            let index = self.word(atom);
            if !self.is_in_range(index, *dim) {
                let outside = self.set(Word::Int, Value::OutOfRange(index, *dim));
                let inside = self.set(Word::Int, Value::CompareInt(Compare::Eq, outside, Operand::Int(0)));
                there = Some(self.both(there, inside));
            }
            let before = self.int(Int::Mul, place, *dim);
            place = self.int(Int::Add, before, index);
        }
        let rest = array.dims.get(indices.len()..).unwrap_or_default().to_vec();
        let size = self.product(Some(&rest));
        (self.int(Int::Mul, place, size), rest, there)
    }

    /// Rows and columns of a factor; a vector is a row or a column.
    fn sizes_of_factor(&mut self, factor: &ArrayPlace, transposed: bool, row: bool) -> (Operand, Operand) {
        let (rows, columns) = match factor.dims.as_slice() {
            [n] if row => (Operand::Int(1), *n),
            [n] => (*n, Operand::Int(1)),
            [n, m, ..] => (*n, *m),
            [] => (Operand::Int(0), Operand::Int(0)),
        };
        if transposed { (columns, rows) } else { (rows, columns) }
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
