//! Types of array operations.

use super::{Types, Typing, one};
use crate::op::{ArrayOp, Atom, Lie};
use crate::ty::{Elem, Ty};

/// An array of integers with one axis: places, sizes.
const INTS: Ty = Ty::Array(Elem::Int, 1);
const BOOLS: Ty = Ty::Array(Elem::Bool, 1);

impl Typing<'_> {
    pub(crate) fn array(&self, op: ArrayOp, args: &[Atom]) -> Types {
        match op {
            ArrayOp::Literal => {
                let first = args.first().ok_or("an array literal has a row at least")?;
                let row = self.atom(first)?;
                self.all(args, &vec![row; args.len()])?;
                one(self.array_of(row)?)
            }
            ArrayOp::Empty(elem, rank) => {
                self.count(args, 0)?;
                if rank == 0 {
                    Err("an array has at least one axis".into())
                } else {
                    one(Ty::Array(elem, rank))
                }
            }
            ArrayOp::Length(axis) => {
                let [xs] = self.known(args)?;
                if axis >= self.array_type(xs)?.rank() {
                    return Err(format!("{} has no axis {axis}", self.name(xs)));
                }
                one(Ty::INT)
            }
            ArrayOp::Index => {
                let (xs, indices) = args.split_first().ok_or("an array is missing")?;
                one(self.selected(xs, indices)?)
            }
            ArrayOp::Set => one(self.replaced(args)?),
            ArrayOp::AddAt => one(self.reals(self.replaced(args)?)?),
            ArrayOp::Add => {
                let [xs, ys] = self.known(args)?;
                let ty = self.reals(self.array_type(xs)?)?;
                self.expect(ys, ty).and(one(ty))
            }
            ArrayOp::Zeros => {
                let [xs] = self.known(args)?;
                one(self.reals(self.atom(xs)?)?)
            }
            ArrayOp::Iota => self.all(args, &[Ty::INT]).and(one(INTS)),
            ArrayOp::Replicate => {
                let [count, row] = self.known(args)?;
                self.expect(count, Ty::INT)?;
                one(self.array_of(self.atom(row)?)?)
            }
            ArrayOp::Concat => {
                let [xs, ys] = self.known(args)?;
                let ty = self.array_type(xs)?;
                self.expect(ys, ty).and(one(ty))
            }
            ArrayOp::Flatten | ArrayOp::Transpose | ArrayOp::UnflattenLike => self.two_axes(op, args),
            ArrayOp::Slice => {
                let [xs, from, to] = self.known(args)?;
                self.expect(from, Ty::INT)?;
                self.expect(to, Ty::INT)?;
                one(self.array_type(xs)?)
            }
            ArrayOp::Reverse => {
                let [xs] = self.known(args)?;
                one(self.array_type(xs)?)
            }
            ArrayOp::Gather => {
                let [xs, places] = self.known(args)?;
                self.expect(places, INTS)?;
                one(self.array_type(xs)?)
            }
            ArrayOp::ScatterAdd => {
                let [xs, places, rows] = self.known(args)?;
                let ty = self.numbers(self.array_type(xs)?)?;
                self.expect(places, INTS)?;
                self.expect(rows, ty).and(one(ty))
            }
            ArrayOp::Filter => {
                let [xs, keep] = self.known(args)?;
                self.expect(keep, BOOLS)?;
                one(self.array_type(xs)?)
            }
            ArrayOp::Sum | ArrayOp::Product | ArrayOp::Maximum | ArrayOp::Minimum => {
                let [xs] = self.known(args)?;
                one(Ty::Scalar(self.numbers(self.vector(xs)?)?.elem()))
            }
            ArrayOp::ArgMax | ArrayOp::ArgMin => {
                let [xs] = self.known(args)?;
                self.numbers(self.vector(xs)?).and(one(Ty::INT))
            }
            ArrayOp::Dot => {
                let [xs, ys] = self.known(args)?;
                let ty = self.numbers(self.vector(xs)?)?;
                self.expect(ys, ty).and(one(Ty::Scalar(ty.elem())))
            }
            ArrayOp::MatVec | ArrayOp::MatMul => {
                let [left, right] = self.known(args)?;
                let elem = self.numbers(self.atom(left)?)?.elem();
                self.expect(left, Ty::Array(elem, 2))?;
                let rank = if op == ArrayOp::MatVec { 1 } else { 2 };
                self.expect(right, Ty::Array(elem, rank)).and(one(Ty::Array(elem, rank)))
            }
            ArrayOp::AddProduct(lie) => one(self.added_product(lie, args)?),
            ArrayOp::Sort | ArrayOp::ArgSort => {
                let [xs] = self.known(args)?;
                let ty = self.vector(xs)?;
                if !matches!(ty.elem(), Elem::Real | Elem::Int | Elem::Text) {
                    return Err(format!("{} is not sorted", self.show(ty)));
                }
                one(if op == ArrayOp::Sort { ty } else { INTS })
            }
            ArrayOp::Ravel => {
                let [xs] = self.known(args)?;
                one(Ty::Array(self.array_type(xs)?.elem(), 1))
            }
            ArrayOp::Reshape => {
                let [xs, like] = self.known(args)?;
                let (elem, shape) = (self.vector(xs)?.elem(), self.array_type(like)?);
                one(Ty::Array(elem, shape.rank()))
            }
        }
    }

    /// Exactly so many operands.
    fn known<'t, const N: usize>(&self, args: &'t [Atom]) -> Result<[&'t Atom; N], String> {
        self.count(args, N)?;
        args.iter().collect::<Vec<_>>().try_into().map_err(|_| "operands are missing".into())
    }

    fn array_type(&self, xs: &Atom) -> Result<Ty, String> {
        match self.atom(xs)? {
            Ty::Scalar(_) => Err(format!("{} is no array", self.name(xs))),
            ty @ Ty::Array(..) => Ok(ty),
        }
    }

    fn vector(&self, xs: &Atom) -> Result<Ty, String> {
        match self.atom(xs)? {
            ty @ Ty::Array(_, 1) => Ok(ty),
            Ty::Scalar(_) | Ty::Array(..) => Err(format!("{} is no array with one axis", self.name(xs))),
        }
    }

    fn numbers(&self, ty: Ty) -> Result<Ty, String> {
        if matches!(ty.elem(), Elem::Real | Elem::Int) {
            return Ok(ty);
        }
        Err(format!("{} does not hold numbers", self.show(ty)))
    }

    fn reals(&self, ty: Ty) -> Result<Ty, String> {
        if ty.elem() == Elem::Real { Ok(ty) } else { Err(format!("{} does not hold reals", self.show(ty))) }
    }

    /// What these indices select.
    fn selected(&self, xs: &Atom, indices: &[Atom]) -> Result<Ty, String> {
        let ty = self.array_type(xs)?;
        if indices.is_empty() {
            return Err("an index is missing".into());
        }
        indices.iter().try_for_each(|index| self.expect(index, Ty::INT))?;
        ty.at(indices.len()).ok_or_else(|| format!("{} has fewer axes than there are indices", self.name(xs)))
    }

    /// Array, indices, and what comes there: the type of the array.
    fn replaced(&self, args: &[Atom]) -> Result<Ty, String> {
        let [xs, indices @ .., row] = args else { return Err("operands are missing".into()) };
        self.expect(row, self.selected(xs, indices)?)?;
        self.array_type(xs)
    }

    /// Array, indices, and factors two by two: the type of the array.
    fn added_product(&self, lie: Lie, args: &[Atom]) -> Result<Ty, String> {
        let (xs, rest) = args.split_first().ok_or("an array is missing")?;
        let is_index = |atom: &&Atom| self.atom(atom).is_ok_and(|ty| ty == Ty::INT);
        let count = rest.iter().take_while(is_index).count();
        let (indices, factors) = rest.split_at(count);
        let ty = self.reals(self.array_type(xs)?)?;
        let place = if indices.is_empty() { ty } else { self.selected(xs, indices)? };
        let [first, second, ..] = factors else { return Err("factors are missing".into()) };
        let ranks = [self.array_type(first)?.rank(), self.array_type(second)?.rank()];
        let rank = match ranks {
            [2, 2] => 2,
            [2, 1] if !lie.second => 1,
            [1, 1] if !lie.first && !lie.second => 2,
            _ => return Err(format!("{} and {} are no factors", self.name(first), self.name(second))),
        };
        if factors.len() > 4 {
            return Err("there are more than two pairs of factors".into());
        }
        if place != Ty::Array(Elem::Real, rank) || factors.len() % 2 == 1 {
            return Err(format!("{} is no place for such products", self.name(xs)));
        }
        for (factor, rank) in factors.iter().zip(ranks.into_iter().cycle()) {
            self.expect(factor, Ty::Array(Elem::Real, rank))?;
        }
        Ok(ty)
    }

    fn two_axes(&self, op: ArrayOp, args: &[Atom]) -> Types {
        let like = match (op, args) {
            (ArrayOp::UnflattenLike, _) => {
                let [_, like] = self.known(args)?;
                like
            }
            (ArrayOp::Transpose, [rows, like]) => {
                self.expect(like, self.array_type(rows)?)?;
                like
            }
            (_, _) => {
                let [rows] = self.known(args)?;
                rows
            }
        };
        let ty = self.array_type(like)?;
        if ty.rank() < 2 {
            return Err(format!("{} has one axis", self.name(like)));
        }
        match (op, args.first()) {
            (ArrayOp::Flatten, _) => one(Ty::Array(ty.elem(), ty.rank() - 1)),
            (ArrayOp::UnflattenLike, Some(flat)) => one(self.array_of(self.array_type(flat)?)?),
            _ => one(ty),
        }
    }
}
