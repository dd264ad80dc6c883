//! The transposes of array operations: what moved an element there moves its cotangent back.
//!
//! ```text
//! zs = concat xs ys      x̄s += slice z̄s 0 n;  ȳs += slice z̄s n m
//! zs = set xs i v        v̄ += z̄s[i];  x̄s += set z̄s i 0.0
//! zs = gather xs ps      backwards over (z̄, p): z̄ added to x̄s at p
//! s = sum xs             s̄ added to every element of x̄s
//! ```

use super::{Place, Transposer};
use crate::linear::{Arg, Ref};
use wengert_ir::op::{ArrayOp, Atom, IntOp, Loop, Mode, Op};
use wengert_ir::ty::{Elem, Ty};

impl Transposer<'_, '_> {
    pub(super) fn array(&mut self, op: ArrayOp, args: &[Arg], extra: &[Atom], bar: Atom) {
        match (op, args) {
            (ArrayOp::Index, [Arg::Linear(of), indices @ ..]) => self.index(of, indices, bar),
            (ArrayOp::Set, [xs, indices @ .., row]) => self.set(xs, indices, row, bar),
            (ArrayOp::AddAt, [xs, indices @ .., row]) => {
                if let Arg::Linear(of) = row {
                    let args = self.with_indices(bar.clone(), indices);
                    let part = self.code.b.array(ArrayOp::Index, args);
                    self.add(of, part, false);
                }
                self.add_arg(xs, bar);
            }
            (ArrayOp::Literal, rows) => {
                for (i, row) in rows.iter().enumerate().rev() {
                    if let Arg::Linear(of) = row {
                        let part = self.index_of(&bar, Atom::Int(i as i64));
                        self.add(of, part, false);
                    }
                }
            }
            (ArrayOp::Add, [xs, ys]) => {
                self.add_arg(xs, bar.clone());
                self.add_arg(ys, bar);
            }
            (ArrayOp::Concat, [xs, ys]) => self.concat(xs, ys, extra, &bar),
            (ArrayOp::Flatten, [Arg::Linear(of)]) => {
                let like = self.point(of);
                let back = self.code.b.array(ArrayOp::UnflattenLike, [bar, like]);
                self.add(of, back, false);
            }
            (ArrayOp::UnflattenLike, [Arg::Linear(of), ..]) => {
                let back = self.code.b.array(ArrayOp::Flatten, [bar]);
                self.add(of, back, false);
            }
            (ArrayOp::Reverse, [Arg::Linear(of)]) => {
                let back = self.code.b.array(op, [bar]);
                self.add(of, back, false);
            }
            (ArrayOp::Transpose, [Arg::Linear(of), ..]) => {
                // Rows without elements are no rows in the cotangent.
                let like = self.point(of);
                let back = self.code.b.array(op, [bar, like]);
                self.add(of, back, false);
            }
            (ArrayOp::Ravel, [Arg::Linear(of)]) => {
                let like = self.point(of);
                let back = self.code.b.array(ArrayOp::Reshape, [bar, like]);
                self.add(of, back, false);
            }
            (ArrayOp::Reshape, [Arg::Linear(of), ..]) => {
                let back = self.code.b.array(ArrayOp::Ravel, [bar]);
                self.add(of, back, false);
            }
            (ArrayOp::Slice, [Arg::Linear(of), Arg::Fixed(from), _]) => {
                let from = self.primal(from);
                self.scatter(of, bar, Places::From(from));
            }
            (ArrayOp::Gather, [Arg::Linear(of), Arg::Fixed(places)]) => {
                let places = self.primal(places);
                self.scatter(of, bar, Places::At(places));
            }
            (ArrayOp::ScatterAdd, [xs, Arg::Fixed(places), rows]) => {
                if let Arg::Linear(of) = rows {
                    let places = self.primal(places);
                    let part = self.code.b.array(ArrayOp::Gather, [bar.clone(), places]);
                    self.add(of, part, false);
                }
                self.add_arg(xs, bar);
            }
            (ArrayOp::Replicate, [_, Arg::Linear(of)]) => self.total(of, bar),
            (ArrayOp::Sum, [Arg::Linear(of)]) => self.spread(of, &bar),
            (_, _) => {}
        }
    }

    fn add_arg(&mut self, arg: &Arg, bar: Atom) {
        if let Arg::Linear(of) = arg {
            self.add(of, bar, false);
        }
    }

    /// The point of an operand that is an array.
    fn point(&mut self, of: &Ref) -> Atom {
        self.shape(&Arg::Linear(of.clone()))
    }

    fn with_indices(&mut self, array: Atom, indices: &[Arg]) -> Vec<Atom> {
        let mut args = vec![array];
        for index in indices {
            if let Arg::Fixed(index) = index {
                args.push(self.primal(index));
            }
        }
        args
    }

    fn index_of(&mut self, array: &Atom, index: Atom) -> Atom {
        self.code.b.array(ArrayOp::Index, [array.clone(), index])
    }

    /// An element that is no place: of an array of data.
    fn index(&mut self, of: &Ref, indices: &[Arg], bar: Atom) {
        let Place { var, indices: outer } = self.place(of);
        if !outer.is_empty() {
            return;
        }
        let sum = self.bar_or_zero(var);
        let args = self.with_indices(sum.clone(), indices);
        let old = self.code.b.array(ArrayOp::Index, args);
        let new = self.code.sum(old, bar);
        let mut args = self.with_indices(sum, indices);
        args.push(new);
        let (name, _) = self.barred(var);
        let sum = self.code.b.called(name).array(ArrayOp::Set, args);
        self.bars.insert(var, sum);
    }

    fn set(&mut self, xs: &Arg, indices: &[Arg], row: &Arg, bar: Atom) {
        let args = self.with_indices(bar.clone(), indices);
        let part = self.code.b.array(ArrayOp::Index, args);
        if let Arg::Linear(of) = row {
            self.add(of, part.clone(), false);
        }
        if let Arg::Linear(of) = xs {
            let ty = self.code.b.type_of(&part);
            let zero = match ty {
                Ty::Scalar(Elem::Data(tangent)) => self.code.b.make(tangent, crate::types::ZERO, []),
                Ty::Scalar(_) => Atom::Real(0.0),
                Ty::Array(Elem::Real, _) => self.code.b.array(ArrayOp::Zeros, [part]),
                Ty::Array(..) => {
                    let point = self.shape(row);
                    let ty = self.code.b.type_of(&point);
                    self.code.zero(Some(&point), ty)
                }
            };
            let mut args = self.with_indices(bar, indices);
            args.push(zero);
            let rest = self.code.b.array(ArrayOp::Set, args);
            self.add(of, rest, false);
        }
    }

    fn concat(&mut self, xs: &Arg, ys: &Arg, extra: &[Atom], bar: &Atom) {
        let Some(n) = extra.first().map(|n| self.primal(n)) else { return };
        if let Arg::Linear(of) = xs {
            let part = self.code.b.array(ArrayOp::Slice, [bar.clone(), Atom::Int(0), n.clone()]);
            self.add(of, part, false);
        }
        if let Arg::Linear(of) = ys {
            let m = self.code.length(bar);
            let part = self.code.b.array(ArrayOp::Slice, [bar.clone(), n, m]);
            self.add(of, part, false);
        }
    }

    /// Adds rows at places.
    fn scatter(&mut self, of: &Ref, rows: Atom, places: Places) {
        let place = self.place(of);
        let ty = self.code.b.type_of(&rows);
        let row = ty.at(1).unwrap_or(Ty::REAL);
        let len = self.code.length(&rows);
        let mut inputs = vec![rows];
        inputs.extend(if let Places::At(places) = &places { Some(places.clone()) } else { None });
        self.summing(
            &place.clone(),
            len,
            inputs,
            &[("z", row), ("place", Ty::INT)],
            |this, acc, index, params| {
                let (part, at) = (params.first().cloned().unwrap_or(Atom::Unit), params.get(1).cloned());
                let at = match (places, at) {
                    (Places::From(from), _) => this.code.b.called("place").int(IntOp::Add, [from, index]),
                    (Places::At(_), at) => at.unwrap_or(Atom::Unit),
                };
                let indices: Vec<Atom> = place.indices.iter().cloned().chain([at]).collect();
                this.added(acc, indices, part)
            },
        );
    }

    /// Adds all rows to one.
    fn total(&mut self, of: &Ref, rows: Atom) {
        let place = self.place(of);
        let row = self.code.b.type_of(&rows).at(1).unwrap_or(Ty::REAL);
        let len = self.code.length(&rows);
        self.summing(&place.clone(), len, vec![rows], &[("z", row)], |this, acc, _, params| {
            let part = params.first().cloned().unwrap_or(Atom::Unit);
            this.added(acc, place.indices.clone(), part)
        });
    }

    /// Adds one real to all elements.
    fn spread(&mut self, of: &Ref, bar: &Atom) {
        let place = self.place(of);
        let point = self.point(of);
        let len = self.code.length(&point);
        if place.indices.is_empty() && !self.has_bar(place.var) {
            let all = self.code.b.array(ArrayOp::Replicate, [len, bar.clone()]);
            return self.add_at(place, all, false);
        }
        self.summing(&place.clone(), len, Vec::new(), &[], |this, acc, index, _| {
            let indices: Vec<Atom> = place.indices.iter().cloned().chain([index]).collect();
            this.added(acc, indices, bar.clone())
        });
    }

    /// A sum with something added.
    fn added(&mut self, sum: Atom, indices: Vec<Atom>, part: Atom) -> Atom {
        if indices.is_empty() {
            return self.code.sum(sum, part);
        }
        let real = self.code.b.type_of(&sum).elem() == Elem::Real;
        let at = |last: Atom| -> Vec<Atom> {
            std::iter::once(sum.clone()).chain(indices.clone()).chain([last]).collect()
        };
        if real {
            return self.code.b.called("sum").array(ArrayOp::AddAt, at(part));
        }
        let args: Vec<Atom> = std::iter::once(sum.clone()).chain(indices.clone()).collect();
        let old = self.code.b.array(ArrayOp::Index, args);
        let new = self.code.sum(old, part);
        self.code.b.called("sum").array(ArrayOp::Set, at(new))
    }

    /// A loop, from the last to the first, that adds to the sum so far of a variable. `step` gets the sum, the index and a
    /// row of each input.
    fn summing(
        &mut self,
        place: &Place,
        len: Atom,
        inputs: Vec<Atom>,
        rows: &[(&str, Ty)],
        step: impl FnOnce(&mut Self, Atom, Atom, Vec<Atom>) -> Atom,
    ) {
        let sum = self.bar_or_zero(place.var);
        let (name, ty) = self.barred(place.var);
        self.code.b.open();
        let index = self.code.b.param("i".into(), Ty::INT);
        let acc = self.code.b.param(name, ty);
        let params =
            rows.iter().take(inputs.len()).map(|(name, ty)| self.code.b.param((*name).into(), *ty)).collect();
        let new = step(self, acc, index, params);
        let body = self.code.b.close(vec![new]);
        let (mode, init, accs) = if ty.elem() == Elem::Real {
            (Mode::Each, Vec::new(), vec![sum])
        } else {
            (Mode::Sequence, vec![sum], Vec::new())
        };
        let parts = Loop { mode, backward: true, len, inputs, init, accs, body };
        let sums = self.code.b.named(&[(name, ty)], Op::Loop(Box::new(parts)));
        self.bars.extend(sums.into_iter().next().map(|sum| (place.var, sum)));
    }
}

/// Where rows go.
enum Places {
    /// To consecutive places from this one on.
    From(Atom),
    /// To these places.
    At(Atom),
}
