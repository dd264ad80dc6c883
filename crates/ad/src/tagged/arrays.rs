//! What is done with arrays of numbers: what moves them about stays; sums, products and what looks at numbers go through them one by one.
//!
//! What can fail is asked of the innermost numbers first, so that it fails as it always does.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations that look at elements are named, the others stay"
)]

use super::functions::Rewrite;
use super::work::Work;
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op, Var};
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

/// Whether an operation computes with the elements.
pub(super) fn computes(op: ArrayOp) -> bool {
    matches!(
        op,
        ArrayOp::Add
            | ArrayOp::AddAt
            | ArrayOp::ScatterAdd
            | ArrayOp::Sum
            | ArrayOp::Product
            | ArrayOp::Dot
            | ArrayOp::MatVec
            | ArrayOp::MatMul
    )
}

/// Whether it looks at them.
fn looks(op: ArrayOp) -> bool {
    matches!(
        op,
        ArrayOp::Maximum
            | ArrayOp::Minimum
            | ArrayOp::ArgMax
            | ArrayOp::ArgMin
            | ArrayOp::Sort
            | ArrayOp::ArgSort
            | ArrayOp::Zeros
    )
}

/// What an operation on arrays gives.
pub(super) fn array(own: &mut Rewrite<'_, '_>, op: ArrayOp, args: &[Atom], outs: &[Var]) -> Vec<Atom> {
    let of_reals = args.first().is_some_and(|xs| own.source.type_of(xs).elem() == Elem::Real);
    let types: Vec<Ty> = args.iter().map(|arg| own.source.type_of(arg)).collect();
    let given = own.atoms(args);
    let work = &mut own.work;
    if of_reals && computes(op) {
        return vec![work.computed(op, &given, &types)];
    }
    if of_reals && looks(op) {
        return vec![work.looked_at(op, &given, &types)];
    }
    let op = match op {
        ArrayOp::Empty(Elem::Real, rank) => ArrayOp::Empty(Elem::Data(work.to.number), rank),
        ArrayOp::Empty(Elem::Data(data), rank) => ArrayOp::Empty(Elem::Data(work.to.data(data)), rank),
        other => other,
    };
    let types: Vec<Ty> = outs.iter().map(|out| own.source.ty(*out)).collect();
    let types = own.work.to.tys(&types);
    own.work.b.typed(&types, Op::Array(op, given))
}

impl Work<'_> {
    /// The innermost numbers of arrays.
    fn values(&mut self, args: &[Atom], types: &[Ty]) -> Vec<Atom> {
        let mut all = Vec::new();
        for (arg, ty) in args.iter().zip(types) {
            all.push(if ty.elem() == Elem::Real { self.lowered(arg, *ty) } else { arg.clone() });
        }
        all
    }

    fn looked_at(&mut self, op: ArrayOp, args: &[Atom], types: &[Ty]) -> Atom {
        if op != ArrayOp::Zeros {
            self.look(args, types);
        }
        let values = self.values(args, types);
        let Some(xs) = args.first() else { return Atom::Unit };
        match op {
            ArrayOp::ArgMax | ArrayOp::ArgMin | ArrayOp::ArgSort => self.b.array(op, values),
            ArrayOp::Maximum | ArrayOp::Minimum => {
                // That of nothing fails.
                self.b.array(op, values.clone());
                let place = if op == ArrayOp::Maximum { ArrayOp::ArgMax } else { ArrayOp::ArgMin };
                let place = self.b.array(place, values);
                self.b.array(ArrayOp::Index, [xs.clone(), place])
            }
            ArrayOp::Sort => {
                let places = self.b.array(ArrayOp::ArgSort, values);
                self.b.array(ArrayOp::Gather, [xs.clone(), places])
            }
            _ => {
                let zeros = self.b.array(ArrayOp::Zeros, values);
                let ty = types.first().copied().unwrap_or(Ty::REAL);
                self.lifted(&zeros, ty)
            }
        }
    }

    /// Fails if a rule looks at tangents so.
    fn look(&mut self, args: &[Atom], types: &[Ty]) {
        let given = args.first().zip(types.first()).filter(|_| self.to.has_marks);
        let Some((xs, Ty::Array(_, 1))) = given else { return };
        let len = self.length(xs);
        self.carrying(len, vec![xs.clone()], Vec::new(), &[], |work, _, _, rows| {
            for x in rows {
                work.observed(x);
            }
            (Vec::new(), Vec::new())
        });
    }

    fn computed(&mut self, op: ArrayOp, args: &[Atom], types: &[Ty]) -> Atom {
        match (op, args, types) {
            (ArrayOp::Sum, [xs], _) => self.total(RealOp::Add, 0.0, xs),
            (ArrayOp::Product, [xs], _) => self.total(RealOp::Mul, 1.0, xs),
            (ArrayOp::Add, [xs, ys], [ty, ..]) => self.added_unless_empty(xs, ys, *ty),
            (ArrayOp::AddAt, [xs, places @ .., more], [.., ty]) => {
                let at: Vec<Atom> = [xs].into_iter().chain(places).cloned().collect();
                let old = self.b.array(ArrayOp::Index, at.clone());
                let sum = self.added(&old, more, *ty);
                self.b.array(ArrayOp::Set, at.into_iter().chain([sum]).collect::<Vec<Atom>>())
            }
            (ArrayOp::Dot, [xs, ys], _) => {
                let values = self.values(args, types);
                self.b.array(op, values);
                self.dot(xs, ys)
            }
            (ArrayOp::MatVec, [rows, x], _) => {
                let values = self.values(args, types);
                let shape = self.b.array(op, values);
                let len = self.length(&shape);
                let num = self.to.num();
                self.products(len, rows, num, |work, row| work.dot(row, x))
            }
            (ArrayOp::MatMul, [left, right], _) => {
                let values = self.values(args, types);
                let shape = self.b.array(op, values);
                let len = self.length(&shape);
                let columns = self.b.called("columns").array(ArrayOp::Transpose, [right.clone()]);
                let num = self.to.num();
                self.products(len, left, Ty::Array(num.elem(), 1), |work, row| {
                    let width = work.length(&columns);
                    work.products(width, &columns, num, |work, column| work.dot(row, column))
                })
            }
            (ArrayOp::ScatterAdd, [xs, places, rows], [ty, ..]) => {
                let values = self.values(args, types);
                self.b.array(op, values);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let len = self.length(places);
                let inputs = vec![places.clone(), rows.clone()];
                let found = self.carrying(len, inputs, vec![xs.clone()], &[], |work, _, carried, given| {
                    let ([xs], [place, more]) = (carried, given) else { return (Vec::new(), Vec::new()) };
                    let old = work.b.array(ArrayOp::Index, [xs.clone(), place.clone()]);
                    let sum = work.added(&old, more, row);
                    let all = [xs.clone(), place.clone(), sum];
                    (vec![work.b.array(ArrayOp::Set, all)], Vec::new())
                });
                found.into_iter().next().unwrap_or(Atom::Unit)
            }
            _ => Atom::Unit,
        }
    }

    /// The first element with all others, one after the other.
    fn total(&mut self, op: RealOp, neutral: f64, xs: &Atom) -> Atom {
        let len = self.length(xs);
        let none = self.b.compare(Compare::Eq, len.clone(), Atom::Int(0));
        self.choose_number(
            none,
            |work| work.plain(Atom::Real(neutral)),
            |work| {
                let first = work.b.called("first").array(ArrayOp::Index, [xs.clone(), Atom::Int(0)]);
                let rest = work.b.int(IntOp::Sub, [len.clone(), Atom::Int(1)]);
                let found = work.carrying(rest, Vec::new(), vec![first], &[], |work, i, carried, _| {
                    let next = work.one_more(&i);
                    let x = work.b.array(ArrayOp::Index, [xs.clone(), next]);
                    let args: Vec<Atom> = carried.iter().cloned().chain([x]).collect();
                    (vec![work.real(op, &args)], Vec::new())
                });
                found.into_iter().next().unwrap_or(Atom::Unit)
            },
        )
    }

    /// The first product, and all others added to it.
    fn dot(&mut self, xs: &Atom, ys: &Atom) -> Atom {
        let len = self.length(xs);
        let none = self.b.compare(Compare::Eq, len.clone(), Atom::Int(0));
        let product = |work: &mut Work<'_>, i: &Atom| {
            let both = [xs, ys].map(|array| work.b.array(ArrayOp::Index, [array.clone(), i.clone()]));
            work.real(RealOp::Mul, &both)
        };
        self.choose_number(
            none,
            |work| work.plain(Atom::Real(0.0)),
            |work| {
                let first = product(work, &Atom::Int(0));
                let rest = work.b.int(IntOp::Sub, [len.clone(), Atom::Int(1)]);
                let found = work.carrying(rest, Vec::new(), vec![first], &[], |work, i, carried, _| {
                    let next = work.one_more(&i);
                    let more = product(work, &next);
                    let args: Vec<Atom> = carried.iter().cloned().chain([more]).collect();
                    (vec![work.real(RealOp::Add, &args)], Vec::new())
                });
                found.into_iter().next().unwrap_or(Atom::Unit)
            },
        )
    }

    /// Something of each row, of a type.
    fn products(
        &mut self,
        len: Atom,
        rows: &Atom,
        ty: Ty,
        product: impl FnOnce(&mut Self, &Atom) -> Atom,
    ) -> Atom {
        let found = self.carrying(len, vec![rows.clone()], Vec::new(), &[ty], |work, _, _, rows| {
            let made = rows.first().map(|row| product(work, row));
            (Vec::new(), made.into_iter().collect())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The sum of two arrays of numbers; one without rows counts as zero.
    fn added_unless_empty(&mut self, xs: &Atom, ys: &Atom, ty: Ty) -> Atom {
        let out = self.to.ty(ty);
        let [none, no_more] = [xs, ys].map(|array| {
            let len = self.length(array);
            self.b.compare(Compare::Eq, len, Atom::Int(0))
        });
        let found = self.choose(
            none,
            &[out],
            |_| vec![ys.clone()],
            |work| work.choose(no_more, &[out], |_| vec![xs.clone()], |work| vec![work.added(xs, ys, ty)]),
        );
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The sum of two numbers, or of arrays of them.
    fn added(&mut self, x: &Atom, y: &Atom, ty: Ty) -> Atom {
        let Some(row) = ty.at(1) else { return self.real(RealOp::Add, &[x.clone(), y.clone()]) };
        let len = self.length(x);
        let out = self.to.ty(row);
        let inputs = vec![x.clone(), y.clone()];
        let found = self.carrying(len, inputs, Vec::new(), &[out], |work, _, _, rows| {
            let made = match rows {
                [x, y] => work.added(x, y, row),
                _ => Atom::Unit,
            };
            (Vec::new(), vec![made])
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }
}
