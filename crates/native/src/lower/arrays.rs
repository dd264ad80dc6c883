//! Array operations.

use super::uses::Vars;
use super::{ArrayPlace, Destination, Lower, Operand, Place, Stmt, Value, Word, kind, word};
use crate::loops::{Failure, Int, Kind, Runtime, Sum};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare};
use wengert_ir::{Atom, Elem, MOST_ELEMENTS, Ty, Var};
use wengert_prim::RealOp;

/// So many of the places that were asked for are looked at.
const NEAR: usize = 64;

impl Lower<'_> {
    /// An array operation.
    pub(super) fn array_op(&mut self, outs: &[Var], op: ArrayOp, args: &[Atom], dying: &mut Vars) {
        let (Some(out), [first, rest @ ..]) = (outs.first().copied(), args) else {
            if let (Some(out), ArrayOp::Empty(_, rank)) = (outs.first().copied(), op) {
                self.new_array(out, vec![Operand::Int(0); usize::from(rank)]);
            }
            return;
        };
        match (op, rest) {
            (ArrayOp::Literal, _) => self.literal(out, args, dying),
            (ArrayOp::Length(axis), _) => {
                let size = self.array(first).dims.get(usize::from(axis)).copied();
                self.bind_word(out, size.unwrap_or(Operand::Int(0)));
            }
            (ArrayOp::Index, indices) => self.index(out, first, indices),
            (ArrayOp::Set, [indices @ .., value]) => self.set_at(out, first, indices, value, dying),
            (ArrayOp::AddAt, [indices @ .., value]) => self.add_at(out, first, indices, value, dying),
            (ArrayOp::Add, [other]) => self.add(out, first, other, dying),
            (ArrayOp::Zeros, _) => self.zeros(out, first),
            (ArrayOp::Iota, _) => self.iota(out, first),
            (ArrayOp::Replicate, [row]) => self.replicate(out, first, row),
            (ArrayOp::Concat, [other]) => self.concat(out, first, other),
            (ArrayOp::Flatten | ArrayOp::Ravel | ArrayOp::Reshape | ArrayOp::UnflattenLike, _) => {
                self.reshaped(out, op, first, rest.first());
            }
            (ArrayOp::Slice, [from, to]) => self.slice(out, first, from, to),
            (ArrayOp::Reverse, _) => self.reversed(out, first),
            (ArrayOp::Transpose, like) => self.transposed(out, first, like.first()),
            (ArrayOp::Gather, [places]) => self.gather(out, first, places),
            (ArrayOp::ScatterAdd, [places, rows]) => self.scatter_add(out, first, places, rows, dying),
            (ArrayOp::AddProduct(lie), _) => self.add_product(out, lie, args, dying),
            (ArrayOp::Filter, [mask]) => self.filter(out, first, mask),
            (ArrayOp::Sort | ArrayOp::ArgSort, _) => self.sort(out, op, first),
            _ => self.reduction(out, op, first, rest.first()),
        }
    }

    /// A new array for a variable, its elements unset: in its destination, if there is one, else an object of its own.
    pub(super) fn new_array(&mut self, out: Var, dims: Vec<Operand>) -> ArrayPlace {
        let elem = self.func.ty(out).elem();
        if let Some(Destination { place, index }) = self.destinations.remove(&out) {
            self.check_rows(index, &place.dims, &dims);
            self.in_place.insert(out);
            self.places.insert(out, Place::Array(place.clone()));
            return place;
        }
        if let Some(place) = self.with_room(out, &dims) {
            return place;
        }
        let object = self.alloc_array(&dims);
        let Operand::Local(local) = object else {
            return ArrayPlace { object: None, first: object, dims, elem };
        };
        let first = self.first(object, dims.len());
        let place = ArrayPlace { object: Some(local), first, dims, elem };
        self.places.insert(out, Place::Array(place.clone()));
        place
    }

    /// The address of the first element of an object.
    pub(super) fn first(&mut self, object: Operand, rank: usize) -> Operand {
        let offset = i32::try_from(rank).unwrap_or(i32::MAX - 1) + 1;
        self.set(Word::Address, Value::Address { base: object, index: Operand::Int(0), offset })
    }

    /// A new object of these sizes, its elements unset.
    pub(super) fn alloc_array(&mut self, dims: &[Operand]) -> Operand {
        let size = self.size(dims);
        let header = i64::try_from(dims.len()).unwrap_or(0) + 1;
        let words = self.int(Int::Add, size, Operand::Int(header));
        let object = self.alloc(words);
        if let Operand::Local(local) = object {
            self.fresh.insert(local, self.depth);
        }
        for (offset, dim) in (1..).zip(dims) {
            self.store(object, offset, *dim);
        }
        object
    }

    /// The number of elements of an array that is to be made: one that no memory has, if the product is none that an integer holds.
    fn size(&mut self, dims: &[Operand]) -> Operand {
        const MOST: i64 = 1 << 48;
        let size = self.product(Some(dims));
        // One size is in range, whoever gave it; so is a small multiple.
        let known = |dim: &Operand| if let Operand::Int(n) = dim { Some(*n as f64) } else { None };
        let multiple: f64 = dims.iter().filter_map(known).product();
        if dims.iter().filter(|dim| known(dim).is_none()).count() < 2 && multiple < 65_536.0 {
            return size;
        }
        let reals: Vec<Operand> =
            dims.iter().map(|dim| self.set(Word::Real, Value::IntToReal(*dim))).collect();
        let times = |this: &mut Self, a, b| this.set(Word::Real, Value::Real(RealOp::Mul, vec![a, b]));
        let product = reals.into_iter().fold(Operand::Real(1.0), |a, b| times(self, a, b));
        let most = Operand::Real(MOST as f64);
        let over = self.set(Word::Int, Value::CompareReal(Compare::Gt, product, most));
        self.set(Word::Int, Value::Select(over, Operand::Int(MOST), size))
    }

    /// The product of sizes.
    pub(super) fn product(&mut self, dims: Option<&[Operand]>) -> Operand {
        let dims = dims.unwrap_or_default();
        dims.iter().fold(Operand::Int(1), |product, dim| self.int(Int::Mul, product, *dim))
    }

    /// A copy in an object of its own.
    pub(super) fn copy_of(&mut self, array: &ArrayPlace) -> Operand {
        let object = self.alloc_array(&array.dims);
        let to = self.first(object, array.dims.len());
        let size = self.product(Some(&array.dims));
        self.copy_elems(array.first, to, size, array.elem);
        object
    }

    /// Copies elements to where there are none.
    pub(super) fn copy_elems(&mut self, from: Operand, to: Operand, count: Operand, elem: Elem) {
        self.emit(Stmt::Runtime { call: Runtime::CopyWords, args: vec![from, to, count], out: None });
        let kind = kind(Ty::Scalar(elem));
        if kind != Kind::Plain {
            self.for_each(count, false, |this, i| {
                let value = this.load(to, i, elem);
                this.emit(Stmt::Retain(value, kind));
            });
        }
    }

    /// A loop.
    pub(super) fn for_each(
        &mut self,
        len: Operand,
        independent: bool,
        body: impl FnOnce(&mut Self, Operand),
    ) {
        let index = self.made.fresh(Word::Int);
        let body = self.apart(|this| body(this, Operand::Local(index)));
        self.emit(Stmt::For { index, len, backward: false, independent, sums: Vec::new(), body });
    }

    /// The same, where iterations add to something.
    pub(super) fn for_each_adding(
        &mut self,
        len: Operand,
        sums: Vec<Sum>,
        body: impl FnOnce(&mut Self, Operand),
    ) {
        let index = self.made.fresh(Word::Int);
        let body = self.apart(|this| body(this, Operand::Local(index)));
        self.emit(Stmt::For { index, len, backward: false, independent: false, sums, body });
    }

    pub(super) fn load(&mut self, base: Operand, index: Operand, elem: Elem) -> Operand {
        self.set(word(Ty::Scalar(elem)), Value::Load { base, index, offset: 0 })
    }

    pub(super) fn put_at(&mut self, base: Operand, index: Operand, value: Operand) {
        self.emit(Stmt::Store { base, index, offset: 0, value });
    }

    /// Elements between places that `places` maps: result place to source place, rows of `size` words.
    fn copy_rows(
        &mut self,
        (from, to): (&ArrayPlace, &ArrayPlace),
        rows: Operand,
        source: impl FnOnce(&mut Self, Operand) -> Operand,
    ) {
        let size = self.product(from.dims.get(1..));
        let (base, target, elem) = (from.first, to.first, from.elem);
        let scalar = from.dims.len() == 1;
        let kind = kind(Ty::Scalar(elem));
        self.for_each(rows, scalar && kind == Kind::Plain, |this, i| {
            let place = source(this, i);
            if scalar {
                let value = this.load(base, place, elem);
                this.emit_retain(value, kind);
                this.put_at(target, i, value);
                return;
            }
            let from = this.int(Int::Mul, place, size);
            let from = this.set(Word::Address, Value::Address { base, index: from, offset: 0 });
            let to = this.int(Int::Mul, i, size);
            let to = this.set(Word::Address, Value::Address { base: target, index: to, offset: 0 });
            this.copy_elems(from, to, size, elem);
        });
    }

    fn emit_retain(&mut self, value: Operand, kind: Kind) {
        if kind != Kind::Plain {
            self.emit(Stmt::Retain(value, kind));
        }
    }

    fn literal(&mut self, out: Var, rows: &[Atom], dying: &mut Vars) {
        let count = Operand::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX));
        let Some(first) = rows.first() else { return };
        if self.written.is_row(out) {
            return;
        }
        if let Some((sizes, elements)) = self.written.whole(out).cloned() {
            let size = |size: usize| Operand::Int(i64::try_from(size).unwrap_or(i64::MAX));
            let made = self.new_array(out, sizes.into_iter().map(size).collect());
            for (i, element) in (0..).zip(&elements) {
                let value = self.word(element);
                self.put_at(made.first, Operand::Int(i), value);
            }
            return;
        }
        if self.ty(first).rank() == 0 {
            let made = self.new_array(out, vec![count]);
            for (i, row) in (0..).zip(rows) {
                let value = self.consume(row, dying);
                self.put_at(made.first, Operand::Int(i), value);
            }
            return;
        }
        let row_dims = self.array(first).dims;
        let dims = std::iter::once(count).chain(row_dims.iter().copied()).collect();
        let made = self.new_array(out, dims);
        let size = self.product(Some(&row_dims));
        for (i, row) in (0..).zip(rows) {
            let row = self.array(row);
            self.check_rows(Operand::Int(i), &row_dims, &row.dims);
            let index = self.int(Int::Mul, Operand::Int(i), size);
            let to = self.set(Word::Address, Value::Address { base: made.first, index, offset: 0 });
            self.copy_elems(row.first, to, size, made.elem);
        }
    }

    /// Whether an index is that of a loop over something of this size, or was asked for before.
    pub(super) fn is_in_range(&self, index: Operand, size: Operand) -> bool {
        self.in_range.iter().rev().take(NEAR).any(|known| *known == (index, size))
    }

    /// The place of what indices select, in elements, after checking them; and the sizes of what is there.
    pub(super) fn place_of(&mut self, array: &ArrayPlace, indices: &[Atom]) -> (Operand, Vec<Operand>) {
        let mut place = Operand::Int(0);
        let whole = self.span;
        for (i, (atom, dim)) in indices.iter().zip(&array.dims).enumerate() {
            let index = self.word(atom);
            if !self.is_in_range(index, *dim) {
                self.span = self.program.indexed(whole, indices.len() - i - 1);
                let outside = self.set(Word::Int, Value::OutOfRange(index, *dim));
                self.fail_if(outside, Failure::Index, vec![index, *dim]);
                self.span = whole;
                self.in_range.push((index, *dim));
            }
            let before = self.int(Int::Mul, place, *dim);
            place = self.int(Int::Add, before, index);
        }
        let rest = array.dims.get(indices.len()..).unwrap_or_default().to_vec();
        let size = self.product(Some(&rest));
        (self.int(Int::Mul, place, size), rest)
    }

    fn index(&mut self, out: Var, array: &Atom, indices: &[Atom]) {
        let array = self.array(array);
        let (place, rest) = self.place_of(&array, indices);
        match self.func.ty(out) {
            Ty::Scalar(elem) => {
                let value = self.load(array.first, place, elem);
                let kind = kind(Ty::Scalar(elem));
                self.emit_retain(value, kind);
                self.bind_word(out, value);
            }
            Ty::Array(elem, _) => {
                let first =
                    self.set(Word::Address, Value::Address { base: array.first, index: place, offset: 0 });
                self.places.insert(out, Place::Array(ArrayPlace { object: None, first, dims: rest, elem }));
            }
        }
    }

    fn zeros(&mut self, out: Var, like: &Atom) {
        if self.func.ty(out).rank() == 0 {
            return self.bind(out, Value::Copy(Operand::Real(0.0)));
        }
        let dims = self.array(like).dims;
        let there = self.zeros_there.contains(&out) && self.destinations.contains_key(&out);
        let made = self.new_array(out, dims);
        if !there {
            self.fill_with_zeros(out, &made);
        }
    }

    fn fill_with_zeros(&mut self, out: Var, made: &ArrayPlace) {
        let size = self.product(Some(&made.dims));
        self.emit(Stmt::Runtime { call: Runtime::ZeroWords, args: vec![made.first, size], out: None });
        self.zeros.insert(out);
    }

    /// Whether all words are zero.
    fn is_zero(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Real(x) => x.to_bits() == 0,
            Atom::Int(n) => *n == 0,
            Atom::Bool(b) => !b,
            Atom::Var(var) => self.zeros.contains(var),
            Atom::Text(_) | Atom::Unit => false,
        }
    }

    /// A count of elements that will be stored.
    fn count(&mut self, function: &str, atom: &Atom) -> Operand {
        let n = self.word(atom);
        let is_size = matches!(n, Operand::Local(local) if self.sizes.contains(&local));
        if is_size || matches!(n, Operand::Int(0..=0xFFFF)) {
            return n;
        }
        let negative = self.set(Word::Int, Value::CompareInt(Compare::Lt, n, Operand::Int(0)));
        self.fail_if(negative, Failure::NegativeCount(Name::new(function)), vec![n]);
        let huge = self.set(Word::Int, Value::CompareInt(Compare::Gt, n, Operand::Int(MOST_ELEMENTS)));
        self.fail_if(huge, Failure::TooLarge(Name::new(function)), vec![n]);
        n
    }

    fn iota(&mut self, out: Var, n: &Atom) {
        let n = self.count("iota", n);
        let made = self.new_array(out, vec![n]);
        self.for_each(n, true, |this, i| this.put_at(made.first, i, i));
    }

    fn replicate(&mut self, out: Var, n: &Atom, row: &Atom) {
        let n = self.count("replicate", n);
        if self.ty(row).rank() == 0 {
            let kind = kind(self.ty(row));
            let value = self.word(row);
            let made = self.new_array(out, vec![n]);
            if self.is_zero(row) {
                return self.fill_with_zeros(out, &made);
            }
            self.for_each(n, kind == Kind::Plain, |this, i| {
                this.emit_retain(value, kind);
                this.put_at(made.first, i, value);
            });
            return;
        }
        let is_zero = self.is_zero(row);
        let row = self.array(row);
        let dims = self.with_rows(n, &row.dims);
        let made = self.new_array(out, dims);
        if is_zero {
            return self.fill_with_zeros(out, &made);
        }
        let size = self.product(Some(&row.dims));
        self.for_each(n, false, |this, i| {
            let index = this.int(Int::Mul, i, size);
            let to = this.set(Word::Address, Value::Address { base: made.first, index, offset: 0 });
            this.copy_elems(row.first, to, size, row.elem);
        });
    }

    fn concat(&mut self, out: Var, first: &Atom, other: &Atom) {
        if self.join_beside(out, first, other) {
            return;
        }
        let (a, b) = (self.array(first), self.array(other));
        let (Some(n), Some(m)) = (a.dims.first().copied(), b.dims.first().copied()) else { return };
        let some = self.set(Word::Int, Value::CompareInt(Compare::Ne, n, Operand::Int(0)));
        let mut dims = vec![self.int(Int::Add, n, m)];
        for (x, y) in a.dims.iter().zip(&b.dims).skip(1) {
            dims.push(self.set(Word::Int, Value::Select(some, *x, *y)));
        }
        if dims.len() > 1 {
            // Rows of one array without rows agree with every size.
            let more = self.set(Word::Int, Value::CompareInt(Compare::Ne, m, Operand::Int(0)));
            let both = self.set(Word::Int, Value::Int(Int::And, some, more));
            let rows = |dims: &[Operand]| dims.get(1..).unwrap_or_default().to_vec();
            let check = self.apart(|this| this.check_rows(n, &rows(&a.dims), &rows(&b.dims)));
            self.emit(Stmt::If { cond: both, then: check, otherwise: Vec::new() });
        }
        let made = self.new_array(out, dims);
        let size = self.product(Some(&a.dims));
        self.copy_elems(a.first, made.first, size, a.elem);
        let to = self.set(Word::Address, Value::Address { base: made.first, index: size, offset: 0 });
        let more = self.product(Some(&b.dims));
        self.copy_elems(b.first, to, more, b.elem);
    }

    /// The same elements in other axes: a view.
    fn reshaped(&mut self, out: Var, op: ArrayOp, array: &Atom, like: Option<&Atom>) {
        let array = self.array(array);
        let dims = match (op, array.dims.as_slice(), like.map(|like| self.array(like).dims)) {
            (ArrayOp::Flatten, [n, m, rest @ ..], _) => {
                let rows = self.int(Int::Mul, *n, *m);
                self.with_rows(rows, rest)
            }
            (ArrayOp::Ravel, dims, _) => vec![self.product(Some(dims))],
            (ArrayOp::Reshape, _, Some(dims)) => dims,
            (ArrayOp::UnflattenLike, [_, rest @ ..], Some(like)) => {
                like.iter().take(2).chain(rest).copied().collect()
            }
            (_, dims, _) => dims.to_vec(),
        };
        self.places.insert(
            out,
            Place::Array(ArrayPlace { object: None, first: array.first, dims, elem: array.elem }),
        );
    }

    fn slice(&mut self, out: Var, array: &Atom, from: &Atom, to: &Atom) {
        let array = self.array(array);
        let (from, to) = (self.word(from), self.word(to));
        let Some(size) = array.dims.first().copied() else { return };
        let below = self.set(Word::Int, Value::CompareInt(Compare::Lt, from, Operand::Int(0)));
        let crossed = self.set(Word::Int, Value::CompareInt(Compare::Lt, to, from));
        let above = self.set(Word::Int, Value::CompareInt(Compare::Gt, to, size));
        let wrong = self.set(Word::Int, Value::Int(Int::Or, below, crossed));
        let wrong = self.set(Word::Int, Value::Int(Int::Or, wrong, above));
        self.fail_if(wrong, Failure::Slice, vec![from, to, size]);
        let rows = self.int(Int::Sub, to, from);
        let rest = array.dims.get(1..).unwrap_or_default().to_vec();
        let stride = self.product(Some(&rest));
        let index = self.int(Int::Mul, from, stride);
        let first = self.set(Word::Address, Value::Address { base: array.first, index, offset: 0 });
        let dims = self.with_rows(rows, &rest);
        self.places.insert(out, Place::Array(ArrayPlace { object: None, first, dims, elem: array.elem }));
    }

    fn reversed(&mut self, out: Var, array: &Atom) {
        let array = self.array(array);
        let Some(rows) = array.dims.first().copied() else { return };
        let made = self.new_array(out, array.dims.clone());
        let last = self.int(Int::Sub, rows, Operand::Int(1));
        self.copy_rows((&array, &made), rows, |this, i| this.int(Int::Sub, last, i));
    }

    fn transposed(&mut self, out: Var, array: &Atom, like: Option<&Atom>) {
        let array = self.array(array);
        let [n, m, rest @ ..] = array.dims.as_slice() else { return };
        let (n, m) = (*n, *m);
        let row: Vec<Operand> = std::iter::once(n).chain(rest.iter().copied()).collect();
        let mut dims = self.with_rows(m, &row);
        if let Some(like) = like {
            // Where there are no elements; an array without rows may also stand for zeros.
            let like = self.array(like).dims;
            let count = self.product(Some(&like));
            let none = self.set(Word::Int, Value::CompareInt(Compare::Eq, count, Operand::Int(0)));
            for (size, like) in dims.iter_mut().zip(like) {
                *size = self.set(Word::Int, Value::Select(none, like, *size));
            }
        }
        let made = self.new_array(out, dims);
        let size = self.product(Some(rest));
        let elem = array.elem;
        let kind = kind(Ty::Scalar(elem));
        self.for_each(m, false, |this, j| {
            this.for_each(n, kind == Kind::Plain, |this, i| {
                let from = this.int(Int::Mul, i, m);
                let from = this.int(Int::Add, from, j);
                let to = this.int(Int::Mul, j, n);
                let to = this.int(Int::Add, to, i);
                if rest.is_empty() {
                    let value = this.load(array.first, from, elem);
                    this.emit_retain(value, kind);
                    this.put_at(made.first, to, value);
                    return;
                }
                let from = this.int(Int::Mul, from, size);
                let from =
                    this.set(Word::Address, Value::Address { base: array.first, index: from, offset: 0 });
                let to = this.int(Int::Mul, to, size);
                let to = this.set(Word::Address, Value::Address { base: made.first, index: to, offset: 0 });
                this.copy_elems(from, to, size, elem);
            });
        });
    }

    /// A checked place.
    pub(super) fn checked_place(&mut self, places: Operand, i: Operand, size: Operand) -> Operand {
        let place = self.load(places, i, Elem::Int);
        let outside = self.set(Word::Int, Value::OutOfRange(place, size));
        self.fail_if(outside, Failure::Index, vec![place, size]);
        place
    }

    fn gather(&mut self, out: Var, array: &Atom, places: &Atom) {
        let (array, places) = (self.array(array), self.array(places));
        let (Some(size), Some(count)) = (array.dims.first().copied(), places.dims.first().copied()) else {
            return;
        };
        let dims = self.with_rows(count, array.dims.get(1..).unwrap_or_default());
        let made = self.new_array(out, dims);
        self.copy_rows((&array, &made), count, |this, i| this.checked_place(places.first, i, size));
    }

    /// Counts, then copies.
    fn filter(&mut self, out: Var, array: &Atom, mask: &Atom) {
        let (array, mask) = (self.array(array), self.array(mask));
        let Some(size) = mask.dims.first().copied() else { return };
        let count = self.made.fresh(Word::Int);
        self.emit(Stmt::Set(count, Value::Copy(Operand::Int(0))));
        self.for_each(size, false, |this, i| {
            let keep = this.load(mask.first, i, Elem::Bool);
            let next = this.int(Int::Add, Operand::Local(count), keep);
            this.emit(Stmt::Set(count, Value::Copy(next)));
        });
        let total = self.set(Word::Int, Value::Copy(Operand::Local(count)));
        let row_dims = array.dims.get(1..).unwrap_or_default().to_vec();
        let dims = self.with_rows(total, &row_dims);
        let made = self.new_array(out, dims);
        self.emit(Stmt::Set(count, Value::Copy(Operand::Int(0))));
        let stride = self.product(Some(&row_dims));
        self.for_each(size, false, |this, i| {
            let keep = this.load(mask.first, i, Elem::Bool);
            let then = this.apart(|this| {
                let from = this.int(Int::Mul, i, stride);
                let from =
                    this.set(Word::Address, Value::Address { base: array.first, index: from, offset: 0 });
                let to = this.int(Int::Mul, Operand::Local(count), stride);
                let to = this.set(Word::Address, Value::Address { base: made.first, index: to, offset: 0 });
                this.copy_elems(from, to, stride, array.elem);
                let next = this.int(Int::Add, Operand::Local(count), Operand::Int(1));
                this.emit(Stmt::Set(count, Value::Copy(next)));
            });
            this.emit(Stmt::If { cond: keep, then, otherwise: Vec::new() });
        });
    }

    fn sort(&mut self, out: Var, op: ArrayOp, array: &Atom) {
        let array = self.array(array);
        let made = self.new_array(out, array.dims.clone());
        let call = match (op, array.elem) {
            (ArrayOp::Sort, Elem::Real) => Runtime::SortReal,
            (ArrayOp::Sort, Elem::Text) => Runtime::SortText,
            (ArrayOp::Sort, _) => Runtime::SortInt,
            (_, Elem::Real) => Runtime::ArgSortReal,
            (_, Elem::Text) => Runtime::ArgSortText,
            (_, _) => Runtime::ArgSortInt,
        };
        let size = self.product(Some(&array.dims));
        let site = Operand::Int(i64::from(self.site(Failure::Memory)));
        self.emit(Stmt::Runtime { call, args: vec![array.first, size, made.first, site], out: None });
    }
}

#[cfg(test)]
mod tests;
