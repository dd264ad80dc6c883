//! Sums of more than two products of matrices and vectors, as loops.
//!
//! `AddProduct` adds up the products of its pairs of factors from left to right, term by term. The tangent of two pairs is up to four, and
//! is the sum of two sums:
//!
//! ```text
//! z += x y + u v           z' += (x' y + x y') + (u' v + u v')
//! ```
//!
//! What does not fit adds nothing, as in `AddProduct`.

use crate::Code;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Compare, Lie, Loop, Mode, Op};
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

/// Pairs of factors.
pub(super) type Group = Vec<(Atom, Atom)>;

/// Which ranks factors have.
#[derive(Clone, Copy, PartialEq)]
enum Ranks {
    /// Two matrices.
    Matrices,
    /// A matrix and a vector.
    MatrixVector,
    /// A column and a row.
    Vectors,
}

/// Something that is added to at indices.
struct Target<'a> {
    name: Name,
    lie: Lie,
    sum: &'a Atom,
    indices: &'a [Atom],
}

impl Code<'_> {
    /// `sum` with the products of the factors added at a place: those of a group together first.
    pub(super) fn add_groups(
        &mut self,
        name: Name,
        lie: Lie,
        sum: &Atom,
        indices: &[Atom],
        groups: &[Group],
    ) -> Atom {
        let Some((x, y)) = groups.iter().flatten().next() else { return sum.clone() };
        let ranks = match (self.b.type_of(x).rank(), self.b.type_of(y).rank()) {
            (1, _) => Ranks::Vectors,
            (_, 1) => Ranks::MatrixVector,
            (_, _) => Ranks::Matrices,
        };
        let [n, m, _, width] = self.sizes_of(lie, ranks, x, y);
        let mut fits = self.is_there(sum, indices);
        let place = [n.clone()].into_iter().chain((ranks != Ranks::MatrixVector).then(|| width.clone()));
        for (axis, size) in (indices.len()..).zip(place) {
            let own = self.size_along(sum, axis);
            self.and_equal(&mut fits, own, size);
        }
        for (x, y) in groups.iter().flatten() {
            let own = self.sizes_of(lie, ranks, x, y);
            for (own, size) in own.into_iter().zip([&n, &m, &m, &width]) {
                self.and_equal(&mut fits, own, size.clone());
            }
        }
        let target = Target { name, lie, sum, indices };
        let Some(fits) = fits else { return self.with_groups(&target, ranks, [n, m, width], groups) };
        self.b.open();
        let added = self.with_groups(&target, ranks, [n, m, width], groups);
        let then = self.b.close(vec![added]);
        self.b.open();
        let otherwise = self.b.close(vec![sum.clone()]);
        let ty = self.b.type_of(sum);
        self.b.named(&[(name, ty)], Op::If { cond: fits, then, otherwise }).remove(0)
    }

    fn size_along(&mut self, array: &Atom, axis: usize) -> Atom {
        let axis = u8::try_from(axis).unwrap_or(u8::MAX);
        self.b.called("n").array(ArrayOp::Length(axis), [array.clone()])
    }

    /// Rows and columns of both factors.
    fn sizes_of(&mut self, lie: Lie, ranks: Ranks, x: &Atom, y: &Atom) -> [Atom; 4] {
        let (first, second) = (usize::from(lie.first), usize::from(lie.second));
        let one = Atom::Int(1);
        let [n, m] = match ranks {
            Ranks::Vectors => [self.size_along(x, 0), one.clone()],
            Ranks::Matrices | Ranks::MatrixVector => [first, 1 - first].map(|axis| self.size_along(x, axis)),
        };
        let [rows, width] = match ranks {
            Ranks::Vectors => [one, self.size_along(y, 0)],
            Ranks::MatrixVector => [self.size_along(y, 0), one],
            Ranks::Matrices => [second, 1 - second].map(|axis| self.size_along(y, axis)),
        };
        [n, m, rows, width]
    }

    fn and_equal(&mut self, fits: &mut Option<Atom>, a: Atom, b: Atom) {
        if a != b {
            let equal = self.b.compare(Compare::Eq, a, b);
            self.both(fits, equal);
        }
    }

    fn both(&mut self, fits: &mut Option<Atom>, more: Atom) {
        *fits = Some(match fits.take() {
            Some(fits) => self.b.select(fits, more, Atom::Bool(false)),
            None => more,
        });
    }

    /// Whether there is such a place in an array.
    fn is_there(&mut self, array: &Atom, indices: &[Atom]) -> Option<Atom> {
        let mut there = None;
        for (axis, index) in indices.iter().enumerate() {
            let size = self.size_along(array, axis);
            for cond in [(Compare::Ge, Atom::Int(0)), (Compare::Lt, size)] {
                let inside = self.b.compare(cond.0, index.clone(), cond.1);
                self.both(&mut there, inside);
            }
        }
        there
    }

    fn with_groups(
        &mut self,
        target: &Target<'_>,
        ranks: Ranks,
        [n, m, width]: [Atom; 3],
        groups: &[Group],
    ) -> Atom {
        let Target { name, lie, sum, indices } = *target;
        let at = |array: &Atom, indices: &[Atom]| -> Vec<Atom> {
            std::iter::once(array).chain(indices).cloned().collect()
        };
        let old = match indices {
            [] => sum.clone(),
            indices => self.b.array(ArrayOp::Index, at(sum, indices)),
        };
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let row = if ranks == Ranks::MatrixVector {
            let start = self.b.array(ArrayOp::Index, at(&old, std::slice::from_ref(&i)));
            self.element(lie, ranks, m, groups, start, [i, Atom::Int(0)])
        } else {
            self.b.open();
            let j = self.b.param("j".into(), Ty::INT);
            let start = self.b.array(ArrayOp::Index, at(&old, &[i.clone(), j.clone()]));
            let element = self.element(lie, ranks, m, groups, start, [i, j]);
            let body = self.b.close(vec![element]);
            self.each(width, Vec::new(), Vec::new(), body, &[("row".into(), Ty::Array(Elem::Real, 1))])
                .remove(0)
        };
        let ty = self.b.type_of(&old);
        let body = self.b.close(vec![row]);
        let new = self.each(n, Vec::new(), Vec::new(), body, &[(name, ty)]).remove(0);
        if indices.is_empty() {
            return new;
        }
        let args = at(sum, indices).into_iter().chain([new]).collect::<Vec<_>>();
        self.b.called(name).array(ArrayOp::Set, args)
    }

    /// One element of the sum, which was `start`.
    fn element(
        &mut self,
        lie: Lie,
        ranks: Ranks,
        m: Atom,
        groups: &[Group],
        start: Atom,
        [i, j]: [Atom; 2],
    ) -> Atom {
        if ranks == Ranks::Vectors {
            let term = self.term(lie, ranks, groups, [&i, &Atom::Int(0), &j]);
            return self.b.real(RealOp::Add, [start, term]);
        }
        self.b.open();
        let l = self.b.param("l".into(), Ty::INT);
        let total = self.b.param("total".into(), Ty::REAL);
        let term = self.term(lie, ranks, groups, [&i, &l, &j]);
        let next = self.b.called("total").real(RealOp::Add, [total, term]);
        let body = self.b.close(vec![next]);
        let parts = Loop {
            mode: Mode::Sequence,
            backward: lie.backward,
            len: m,
            inputs: Vec::new(),
            init: vec![start],
            accs: Vec::new(),
            body,
        };
        self.b.named(&[("total".into(), Ty::REAL)], Op::Loop(Box::new(parts))).remove(0)
    }

    /// The sum of the sums of the groups.
    fn term(&mut self, lie: Lie, ranks: Ranks, groups: &[Group], [i, l, j]: [&Atom; 3]) -> Atom {
        let mut sums = Vec::new();
        for group in groups {
            let mut products = Vec::new();
            for (x, y) in group {
                let in_x = match ranks {
                    Ranks::Vectors => vec![i],
                    Ranks::Matrices | Ranks::MatrixVector if lie.first => vec![l, i],
                    Ranks::Matrices | Ranks::MatrixVector => vec![i, l],
                };
                let in_y = match ranks {
                    Ranks::Vectors => vec![j],
                    Ranks::MatrixVector => vec![l],
                    Ranks::Matrices if lie.second => vec![j, l],
                    Ranks::Matrices => vec![l, j],
                };
                let factors = [(x, in_x), (y, in_y)].map(|(array, indices)| {
                    let args: Vec<Atom> = std::iter::once(array).chain(indices).cloned().collect();
                    self.b.array(ArrayOp::Index, args)
                });
                products.push(self.b.real(RealOp::MulZero, factors));
            }
            sums.extend(self.total(products));
        }
        self.total(sums).unwrap_or(Atom::Real(0.0))
    }

    fn total(&mut self, summands: Vec<Atom>) -> Option<Atom> {
        summands.into_iter().reduce(|a, b| self.b.real(RealOp::Add, [a, b]))
    }
}
