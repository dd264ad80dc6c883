//! Products of matrices that are added to an array, for long series: by Cauchy's formula, with products of matrices of coefficients.
//!
//! For that the coefficients come first, `x[k]` is the array of all coefficients of order `k`, and last again afterwards.

use crate::Code;
use crate::jvp::Jvp;
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Lie, Op};
use wengert_ir::ty::Ty;

/// A factor: the value, and all coefficients if it varies.
type Factor = (Atom, Option<Atom>);

impl Jvp<'_, '_> {
    /// The series of `sum` with products added at a place.
    pub(super) fn long_products(&mut self, op: ArrayOp, args: &[Atom]) -> Option<Atom> {
        let (lie, sum, indices, factors) = self.code.product_parts(op, args)?;
        let sum = sum?;
        let rank = self.code.b.type_of(&sum).rank();
        let series = self.tangent_or_zero(0, &sum);
        let rows = self.code.coefficients_first(series, rank);
        let mut all: Vec<Factor> = Vec::new();
        for factor in factors {
            let series = self.tangent(0, &factor).map(|series| {
                let rank = self.code.b.type_of(&factor).rank();
                let rows = self.code.coefficients_first(series, rank);
                let first = self.code.b.array(ArrayOp::Literal, [factor.clone()]);
                self.code.b.array(ArrayOp::Concat, [first, rows])
            });
            all.push((factor, series));
        }
        let n = self.code.order();
        let found = self.code.carrying(n, vec![rows], |code, i, state| {
            let k = code.next(&i);
            let mut sum = state.first().map(|rows| code.coefficient(rows, &i)).unwrap_or(Atom::Unit);
            for pair in all.chunks(2) {
                if let [x, y] = pair {
                    sum = code.added(lie, sum, &indices, (x, y), &k);
                }
            }
            let set: Vec<Atom> = state.into_iter().chain([i, sum]).collect();
            vec![code.b.array(ArrayOp::Set, set)]
        });
        Some(self.code.coefficients_last(found.into_iter().next()?, rank))
    }
}

impl Code<'_> {
    /// With the products added that make coefficient `k` of a product.
    fn added(&mut self, lie: Lie, sum: Atom, indices: &[Atom], (x, y): (&Factor, &Factor), k: &Atom) -> Atom {
        let add = |code: &mut Self, sum: Atom, a: Atom, b: Atom| {
            let args: Vec<Atom> = [sum].into_iter().chain(indices.iter().cloned()).chain([a, b]).collect();
            code.b.array(ArrayOp::AddProduct(lie), args)
        };
        match (x, y) {
            ((_, None), (_, None)) => sum,
            ((_, Some(xs)), (b, None)) => {
                let a = self.coefficient(xs, k);
                add(self, sum, a, b.clone())
            }
            ((a, None), (_, Some(ys))) => {
                let b = self.coefficient(ys, k);
                add(self, sum, a.clone(), b)
            }
            ((_, Some(xs)), (_, Some(ys))) => {
                let count = self.next(k);
                let found = self.carrying(count, vec![sum], |code, i, state| {
                    let other = code.b.int(IntOp::Sub, [k.clone(), i.clone()]);
                    let [a, b] = [(xs, &i), (ys, &other)].map(|(all, place)| code.coefficient(all, place));
                    let sum = state.into_iter().next().unwrap_or(Atom::Unit);
                    if !code.ad.is_cube() {
                        return vec![add(code, sum, a, b)];
                    }
                    // Of several infinitesimals those products that are products of these.
                    let common = code.b.int(IntOp::BitAnd, [i.clone(), k.clone()]);
                    let cond = code.b.compare(Compare::Eq, common, i);
                    let ty = code.b.type_of(&sum);
                    code.b.open();
                    let more = add(code, sum.clone(), a, b);
                    let then = code.b.close(vec![more]);
                    let otherwise = Block { results: vec![sum], ..Block::default() };
                    vec![code.b.called("sum").typed1(ty, Op::If { cond, then, otherwise })]
                });
                found.into_iter().next().unwrap_or(Atom::Unit)
            }
        }
    }

    /// The series of an array with so many axes: with the axis of coefficients as the first one instead of the last one.
    fn coefficients_first(&mut self, series: Atom, rank: u8) -> Atom {
        let rows = if rank > 1 {
            self.of_rows(series, |code, row| code.coefficients_first(row, rank - 1))
        } else {
            series
        };
        self.b.array(ArrayOp::Transpose, [rows])
    }

    /// And back.
    fn coefficients_last(&mut self, series: Atom, rank: u8) -> Atom {
        let rows = self.b.array(ArrayOp::Transpose, [series]);
        if rank > 1 { self.of_rows(rows, |code, row| code.coefficients_last(row, rank - 1)) } else { rows }
    }

    /// An array of arrays, with each row another one of as many axes.
    fn of_rows(&mut self, rows: Atom, row: impl FnOnce(&mut Self, Atom) -> Atom) -> Atom {
        let ty = self.b.type_of(&rows);
        let len = self.length(&rows);
        let mut params = self.open_rows(&[("row", ty.at(1).unwrap_or(Ty::REAL))]);
        let made = row(self, params.pop().unwrap_or(Atom::Unit));
        let body = self.b.close(vec![made]);
        self.each(len, vec![rows], Vec::new(), body, &[("rows".into(), ty)]).remove(0)
    }
}
