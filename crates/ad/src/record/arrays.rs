//! Array operations that record. Most move elements about, and do the same with slots; sums and products are noted term by term, in the
//! order in which they are computed.
//!
//! ```text
//! zs = concat xs ys        zsˢ = concat xsˢ ysˢ
//! m = maximum xs           mˢ = xsˢ[argmax xs]
//! s = sum xs               for x in xsˢ { sˢ, tape, n = two(tape, n, sˢ, x) }
//! ```
//!
//! Products of matrices, `product` and `dot` are loops here already ([`crate::expand`]).

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that vary are named")]

use super::{Record, State, state_types};
use crate::BEYOND;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, Loop, Mode, Op, Stmt, Var};
use wengert_ir::ty::Ty;

impl Record<'_, '_> {
    pub(super) fn array(&mut self, stmt: &Stmt, out: Var, op: ArrayOp, args: &[Atom]) {
        self.code.b.push(stmt.clone());
        let slots = match (op, args) {
            (ArrayOp::Sum, [xs]) => {
                let slots = self.slots_or_none(xs);
                self.total(out, &slots)
            }
            (ArrayOp::Add, [xs, ys]) => {
                let ty = self.code.b.type_of(xs);
                let (x, y) = (self.slots_or_none(xs), self.slots_or_none(ys));
                self.sum_of_arrays(out, (&x, &y), ty)
            }
            (ArrayOp::AddAt, [xs, indices @ .., x]) => {
                let ty = self.code.b.type_of(x);
                let (xs, x) = (self.slots_or_none(xs), self.slots_or_none(x));
                self.added_at(out, &xs, indices, &x, ty)
            }
            (ArrayOp::ScatterAdd, [xs, places, rows]) => {
                let ty = self.code.b.type_of(rows);
                let (xs, rows) = (self.slots_or_none(xs), self.slots_or_none(rows));
                self.scattered(out, &xs, places, &rows, ty)
            }
            (_, _) => match self.moves(op, args) {
                Some((op, args)) => self.moved(op, args),
                None if self.marks.is_some() => {
                    self.surely(out);
                    return;
                }
                None => {
                    self.code.fail(&[], BEYOND);
                    return;
                }
            },
        };
        self.note(out, Some(slots));
    }

    /// Whether an operation only moves elements about.
    pub(super) fn moves_only(&self, op: ArrayOp) -> bool {
        !matches!(
            op,
            ArrayOp::Sum
                | ArrayOp::Add
                | ArrayOp::AddAt
                | ArrayOp::ScatterAdd
                | ArrayOp::MatVec
                | ArrayOp::MatMul
                | ArrayOp::Product
                | ArrayOp::Dot
        )
    }

    /// What is done with slots where an operation moves elements about.
    fn moves(&mut self, op: ArrayOp, args: &[Atom]) -> Option<(ArrayOp, Vec<Atom>)> {
        let (xs, rest) = args.split_first()?;
        let op_of_slots = match op {
            ArrayOp::Sort => ArrayOp::Gather,
            ArrayOp::Maximum | ArrayOp::Minimum => ArrayOp::Index,
            other => other,
        };
        let place = |this: &mut Self, op: ArrayOp| this.code.b.called("places").array(op, [xs.clone()]);
        let args = match (op, rest) {
            (ArrayOp::Literal | ArrayOp::Concat | ArrayOp::Flatten | ArrayOp::Reverse, _)
            | (ArrayOp::Transpose | ArrayOp::Ravel, _) => {
                args.iter().map(|arg| self.slots_or_none(arg)).collect()
            }
            (ArrayOp::Index | ArrayOp::UnflattenLike | ArrayOp::Slice | ArrayOp::Gather, _)
            | (ArrayOp::Filter | ArrayOp::Reshape, _) => {
                std::iter::once(self.slots_or_none(xs)).chain(rest.iter().cloned()).collect()
            }
            (ArrayOp::Replicate, [row]) => vec![xs.clone(), self.slots_or_none(row)],
            (ArrayOp::Set, [indices @ .., x]) => {
                let ends = [self.slots_or_none(xs), self.slots_or_none(x)];
                let [xs, x] = ends;
                std::iter::once(xs).chain(indices.iter().cloned()).chain([x]).collect()
            }
            (ArrayOp::Sort, _) => {
                let places = place(self, ArrayOp::ArgSort);
                vec![self.slots_or_none(xs), places]
            }
            (ArrayOp::Maximum, _) => {
                let place = place(self, ArrayOp::ArgMax);
                vec![self.slots_or_none(xs), place]
            }
            (ArrayOp::Minimum, _) => {
                let place = place(self, ArrayOp::ArgMin);
                vec![self.slots_or_none(xs), place]
            }
            (_, _) => return None,
        };
        Some((op_of_slots, args))
    }

    fn moved(&mut self, op: ArrayOp, args: Vec<Atom>) -> Atom {
        self.code.b.called("slots").array(op, args)
    }

    /// The slot of the sum of numbers with these slots: the first one begins.
    fn total(&mut self, out: Var, slots: &Atom) -> Atom {
        let first = Atom::Int(if self.watches() { super::watch::ZERO } else { 0 });
        self.rows(&[(slots, Ty::INT)], Some((&first, Ty::INT)), None, |this, rows, total| {
            let row = rows.first().cloned().unwrap_or(Atom::Int(0));
            (Some(this.sum_slot(out, total, row)), None)
        })
    }

    /// The slots of the sum of two arrays of this type, or of rows and elements of such; one without rows adds nothing.
    pub(super) fn sum_of_arrays(&mut self, out: Var, (x, y): (&Atom, &Atom), ty: Ty) -> Atom {
        let Some(row) = ty.at(1) else { return self.sum_slot(out, x.clone(), y.clone()) };
        let (Some(own), Some(own_row)) = (self.code.ad.slots(ty), self.code.ad.slots(row)) else {
            return x.clone();
        };
        let empty = |this: &mut Self, array: &Atom| {
            let len = this.code.length(array);
            this.code.b.compare(Compare::Eq, len, Atom::Int(0))
        };
        let no_first = empty(self, x);
        let without = |array: &Atom, state: &State| {
            let results = std::iter::once(array.clone()).chain(state.atoms()).collect();
            Block { results, ..Block::default() }
        };
        let before = self.state.clone();
        let then = without(y, &before);
        self.code.b.open();
        let no_second = empty(self, y);
        let only_first = without(x, &before);
        self.code.b.open();
        let sum = self.rows(&[(x, own_row), (y, own_row)], None, Some(own), |this, rows, _| match rows {
            [x, y] => (None, Some(this.sum_of_arrays(out, (x, y), row))),
            _ => (None, None),
        });
        let both = self.code.b.close(std::iter::once(sum).chain(self.state.atoms()).collect());
        let op = Op::If { cond: no_second, then: only_first, otherwise: both };
        let sum = self.with_state(("slots".into(), own), op);
        let otherwise = self.code.b.close(std::iter::once(sum).chain(self.state.atoms()).collect());
        self.with_state(("slots".into(), own), Op::If { cond: no_first, then, otherwise })
    }

    fn added_at(&mut self, out: Var, xs: &Atom, indices: &[Atom], x: &Atom, ty: Ty) -> Atom {
        let mut all = vec![xs.clone()];
        all.extend(indices.iter().cloned());
        let old = self.moved(ArrayOp::Index, all.clone());
        all.push(self.sum_of_arrays(out, (&old, x), ty));
        self.moved(ArrayOp::Set, all)
    }

    fn scattered(&mut self, out: Var, xs: &Atom, places: &Atom, rows: &Atom, ty: Ty) -> Atom {
        let (Some(row), Some(own)) = (ty.at(1), self.code.ad.slots(ty)) else { return xs.clone() };
        let own_row = own.at(1).unwrap_or(Ty::INT);
        let target = self.code.b.type_of(xs);
        let inputs = [(places, Ty::INT), (rows, own_row)];
        self.rows(&inputs, Some((xs, target)), None, |this, found, xs| match found {
            [place, x] => (Some(this.added_at(out, &xs, std::slice::from_ref(place), x, row)), None),
            _ => (Some(xs), None),
        })
    }

    /// Appends an operation that gives something, tape and count.
    pub(super) fn with_state(&mut self, out: (Name, Ty), op: Op) -> Atom {
        let [tape, count] = state_types(self.tape);
        let mut found = self.code.b.named(&[out, ("tape".into(), tape), ("n".into(), count)], op);
        self.state = State::split_off(&mut found);
        found.pop().unwrap_or(Atom::Unit)
    }

    /// A loop over rows that notes, and carries one value or gives an array of this type.
    fn rows(
        &mut self,
        inputs: &[(&Atom, Ty)],
        kept: Option<(&Atom, Ty)>,
        array: Option<Ty>,
        step: impl FnOnce(&mut Self, &[Atom], Atom) -> (Option<Atom>, Option<Atom>),
    ) -> Atom {
        let len = inputs.first().map_or(Atom::Int(0), |(array, _)| self.code.length(array));
        let [of_tape, of_count] = state_types(self.tape);
        let mut params: Vec<(&str, Ty)> = kept.iter().map(|(_, ty)| ("total", *ty)).collect();
        params.extend([("tape", of_tape), ("n", of_count)]);
        params.extend(inputs.iter().map(|(_, ty)| ("row", *ty)));
        let mut init: Vec<Atom> = kept.iter().map(|(atom, _)| (*atom).clone()).collect();
        init.extend(self.state.atoms());
        let params = self.code.open_rows(&params);
        let (carried, rows) = params.split_at_checked(init.len()).unwrap_or_default();
        let mut carried = carried.to_vec();
        self.state = State::split_off(&mut carried);
        let (next, row) = step(self, rows, carried.pop().unwrap_or(Atom::Unit));
        let results = next.into_iter().chain(self.state.atoms()).chain(row).collect();
        let body = self.code.b.close(results);
        let mut outs: Vec<(Name, Ty)> = kept.iter().map(|(_, ty)| ("total".into(), *ty)).collect();
        outs.extend([("tape".into(), of_tape), ("n".into(), of_count)]);
        outs.extend(array.map(|ty| ("slots".into(), ty)));
        let inputs = inputs.iter().map(|(array, _)| (*array).clone()).collect();
        let mode = Mode::Sequence;
        let parts = Loop { mode, backward: false, len, inputs, init, accs: Vec::new(), body };
        let mut found = self.code.b.named(&outs, Op::Loop(Box::new(parts)));
        let given = array.and_then(|_| found.pop());
        self.state = State::split_off(&mut found);
        given.or_else(|| found.pop()).unwrap_or(Atom::Unit)
    }
}
