//! Products of matrices and vectors stay products.
//!
//! ```text
//! c = matmul a b           c' = a' b + a b'            transpose: ā += c̄ bᵀ;  b̄ += aᵀ c̄
//! y = matvec a x           y' = a' x + a x'            transpose: ā += ȳ xᵀ;  x̄ += aᵀ ȳ
//! ```
//!
//! All of these are one operation, which adds products of factors that lie one way or the other to what is there
//! ([`ArrayOp::AddProduct`]); and its derivative is another, or, if it is of more than two products, loops ([`grouped`]). The sums are
//! made in the order in which the products of single numbers would make them.

mod grouped;

use crate::Code;
use crate::arrays::Scope;
use crate::forward::Writer;
use crate::linear::{Arg, Lin, LinProduct, Ref};
use crate::transpose::{Place, Transposer};
use grouped::Group;
use wengert_ir::op::{ArrayOp, Atom, Lie, Stmt, Var};
use wengert_ir::ty::{Elem, Ty};

impl Scope<'_> {
    /// Appends a product to the primal part and gives its linear part; `None` if the operation is none.
    pub(crate) fn product(
        &mut self,
        code: &mut Code<'_>,
        stmt: &Stmt,
        out: Var,
        op: ArrayOp,
        args: &[Atom],
    ) -> Option<Vec<Lin>> {
        let (lie, sum, indices, factors) = code.product_parts(op, args)?;
        code.b.push(stmt.clone());
        let plain = matches!(op, ArrayOp::MatVec | ArrayOp::MatMul);
        let (mut pairs, mut groups, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for (group, pair) in factors.chunks(2).enumerate() {
            let [x, y] = pair else { continue };
            if let Some(of) = self.of(x) {
                pairs.push((Arg::Linear(of), Arg::Fixed(y.clone())));
                groups.push(group);
                sizes.push(if plain { Vec::new() } else { self.sizes(code, x) });
            }
            if let Some(of) = self.of(y) {
                pairs.push((Arg::Fixed(x.clone()), Arg::Linear(of)));
                groups.push(group);
                sizes.push(self.sizes(code, y));
            }
        }
        // Of a sum that does not vary the shape is needed only if it is not that of the product.
        let sum = sum.map(|sum| self.arg(&sum));
        let sum = sum.filter(|sum| sum.linear().is_some() || !indices.is_empty());
        Some(vec![Lin::Product(Box::new(LinProduct { out, lie, sum, indices, pairs, groups, sizes }))])
    }

    /// The sizes of an array with a tangent that has no place in another one; nothing where no transpose asks for them.
    fn sizes(&mut self, code: &mut Code<'_>, array: &Atom) -> Vec<Atom> {
        if !self.places || !matches!(self.of(array), Some(Ref::Var(_))) {
            return Vec::new();
        }
        let axes = 0..code.b.type_of(array).rank();
        axes.map(|axis| code.b.called("n").array(ArrayOp::Length(axis), [array.clone()])).collect()
    }
}

/// How the factors of products lie, what they are added to, at which indices, and the factors, two by two.
type Parts = (Lie, Option<Atom>, Vec<Atom>, Vec<Atom>);

impl Code<'_> {
    /// The parts of products; `None` if the operation is none.
    pub(crate) fn product_parts(&self, op: ArrayOp, args: &[Atom]) -> Option<Parts> {
        match (op, args) {
            (ArrayOp::MatVec | ArrayOp::MatMul, factors) => {
                let plain = Lie { first: false, second: false, backward: false };
                Some((plain, None, Vec::new(), factors.to_vec()))
            }
            (ArrayOp::AddProduct(lie), args) => {
                let (sum, indices, factors) = self.b.func().product(args)?;
                Some((lie, Some(sum.clone()), indices.to_vec(), factors.to_vec()))
            }
            (_, _) => None,
        }
    }

    /// Zeros of the shape of a product.
    fn zero_product(&mut self, lie: Lie, x: &Atom, y: &Atom) -> Atom {
        let (rank_x, rank_y) = (self.b.type_of(x).rank(), self.b.type_of(y).rank());
        let mut size =
            |array: &Atom, axis: u8| self.b.called("n").array(ArrayOp::Length(axis), [array.clone()]);
        let rows = size(x, u8::from(lie.first));
        if (rank_x, rank_y) == (2, 1) {
            return self.zeros_of(&[rows]);
        }
        let columns = size(y, u8::from(rank_y == 2 && !lie.second));
        self.zeros_of(&[rows, columns])
    }

    /// Zeros of these sizes.
    fn zeros_of(&mut self, sizes: &[Atom]) -> Atom {
        let row =
            |zeros, size: &Atom| self.b.called("zeros").array(ArrayOp::Replicate, [size.clone(), zeros]);
        sizes.iter().rev().fold(Atom::Real(0.0), row)
    }
}

impl Writer<'_, '_> {
    /// The tangent of a product: products with the tangents of the factors.
    pub(crate) fn product(&mut self, product: &LinProduct) {
        let LinProduct { out, lie, sum, indices, pairs, groups, sizes: _ } = product;
        let there = |this: &Self, arg: &Arg| arg.linear().is_none_or(|of| this.dots.contains_key(&of.base()));
        let mut factors: Vec<Group> = Vec::new();
        let mut last = None;
        for ((x, y), group) in pairs.iter().zip(groups) {
            if there(self, x) && there(self, y) {
                let pair = (self.arg(x), self.arg(y));
                match factors.last_mut().filter(|_| last == Some(group)) {
                    Some(same) => same.push(pair),
                    None => factors.push(vec![pair]),
                }
                last = Some(group);
            }
        }
        let old = match sum {
            Some(arg @ Arg::Linear(of)) if self.dots.contains_key(&of.base()) => Some(self.arg(arg)),
            _ => None,
        };
        let (name, _) = self.dotted(*out);
        let tangent = match (factors.as_slice(), old, sum) {
            ([], None, _) => return,
            ([], Some(old), _) => old,
            ([..], Some(old), _) => self.added(name, *lie, old, indices, &factors),
            ([..], None, Some(sum)) => {
                let zeros = self.arg(sum);
                self.added(name, *lie, zeros, indices, &factors)
            }
            // The result itself, where it is at hand, has the shape.
            ([..], None, None) if self.source.is_none() => {
                let ty = self.info(*out).ty;
                let zeros = self.code.zero(Some(&Atom::Var(*out)), ty);
                self.added(name, *lie, zeros, indices, &factors)
            }
            ([group, ..], None, None) => {
                let Some((x, y)) = group.first() else { return };
                let zeros = self.code.zero_product(*lie, x, y);
                self.added(name, *lie, zeros, indices, &factors)
            }
        };
        self.dots.insert(*out, tangent);
    }

    fn added(
        &mut self,
        name: wengert_base::Name,
        lie: Lie,
        sum: Atom,
        indices: &[Atom],
        groups: &[Group],
    ) -> Atom {
        let indices: Vec<Atom> = indices.iter().map(|index| self.primal(index)).collect();
        if groups.iter().map(Vec::len).sum::<usize>() > 2 {
            return self.code.add_groups(name, lie, &sum, &indices, groups);
        }
        let factors = groups.iter().flatten().flat_map(|(x, y)| [x.clone(), y.clone()]);
        let args: Vec<Atom> = std::iter::once(sum).chain(indices).chain(factors).collect();
        self.code.b.called(name).array(ArrayOp::AddProduct(lie), args)
    }
}

impl Transposer<'_, '_> {
    /// The cotangents of the factors: products with the cotangent of the sum.
    pub(crate) fn product(&mut self, product: &LinProduct) {
        let LinProduct { out, lie, sum, indices, pairs, groups: _, sizes } = product;
        let Some(whole) = self.take(*out) else { return };
        let mut bar = whole.clone();
        if !indices.is_empty() {
            let args: Vec<Atom> = std::iter::once(whole.clone()).chain(self.primals(indices)).collect();
            bar = self.code.b.array(ArrayOp::Index, args);
        }
        for ((x, y), sizes) in pairs.iter().zip(sizes).rev() {
            self.factor(*lie, &bar, (x, y), sizes);
        }
        if let Some(Arg::Linear(of)) = sum {
            self.add(of, whole, false);
        }
    }

    /// What a pair of factors, one of which varies, adds to the cotangent of that one.
    fn factor(&mut self, lie: Lie, bar: &Atom, (x, y): (&Arg, &Arg), sizes: &[Atom]) {
        let Lie { first, second, backward } = lie;
        let lie = |first, second| Lie { first, second, backward: !backward };
        match (x, y) {
            (Arg::Linear(of), Arg::Fixed(y)) => {
                let y = self.primal(y);
                let matrix = self.code.b.type_of(&y).rank() == 2;
                // Two vectors: the other one is a row, which counts as a column here.
                let outer = self.code.b.type_of(bar).rank() == 2 && !matrix;
                match (outer, matrix, first) {
                    (true, _, _) => self.add_product(of, lie(false, false), (bar, &y), sizes),
                    (false, true, false) => self.add_product(of, lie(false, !second), (bar, &y), sizes),
                    (false, true, true) => self.add_product(of, lie(second, true), (&y, bar), sizes),
                    (false, false, false) => self.add_product(of, lie(false, false), (bar, &y), sizes),
                    (false, false, true) => self.add_product(of, lie(false, false), (&y, bar), sizes),
                }
            }
            (Arg::Fixed(x), Arg::Linear(of)) => {
                let x = self.primal(x);
                let matrix = self.code.b.type_of(&x).rank() == 2;
                match (matrix, second) {
                    (false, _) => self.add_product(of, lie(true, false), (bar, &x), sizes),
                    (true, false) => self.add_product(of, lie(!first, false), (&x, bar), sizes),
                    (true, true) => self.add_product(of, lie(true, first), (bar, &x), sizes),
                }
            }
            (_, _) => {}
        }
    }

    fn add_product(&mut self, of: &Ref, lie: Lie, (x, y): (&Atom, &Atom), sizes: &[Atom]) {
        let place = self.place(of);
        let is_there = [place.var, self.likes.root(place.var)].iter().any(|var| self.env.contains_key(var));
        let known = self.has_bar(place.var) || is_there || !place.indices.is_empty();
        let sizes = self.primals(sizes);
        let sum = match (known, sizes.is_empty()) {
            (true, _) => self.bar_or_zero(place.var),
            (false, true) => self.code.zero_product(lie, x, y),
            (false, false) => self.code.zeros_of(&sizes),
        };
        debug_assert!(matches!(self.code.b.type_of(&sum), Ty::Array(Elem::Real, _)));
        let Place { var, indices } = place;
        let (name, _) = self.barred(var);
        let args: Vec<Atom> = std::iter::once(sum).chain(indices).chain([x.clone(), y.clone()]).collect();
        let sum = self.code.b.called(name).array(ArrayOp::AddProduct(lie), args);
        self.bars.insert(var, sum);
    }
}
