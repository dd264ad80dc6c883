//! What is not linear, for tangents of several orders: arithmetic by [`crate::series`], products of matrices by Cauchy's formula.

use super::Jvp;
use crate::linear::{Arg, Lin, LinProduct};
use crate::series::{Operation, Series, coefficients};
use wengert_ir::op::{ArrayOp, Atom, Op, Stmt, Var};

impl Jvp<'_, '_> {
    /// Whether an operation is not linear.
    pub(super) fn is_arithmetic(&self, op: &Op) -> bool {
        let products = matches!(op, Op::Array(ArrayOp::MatVec | ArrayOp::MatMul | ArrayOp::AddProduct(_), _));
        products || matches!(op, Op::Real(..) | Op::Power { .. } | Op::Polygamma { .. })
    }

    /// Such an operation, with the tangents of its result.
    pub(super) fn arithmetic(&mut self, stmt: &Stmt, outs: &[Var]) {
        self.code.b.push(stmt.clone());
        let Some(out) = outs.first() else { return };
        let (operation, args) = match &stmt.op {
            Op::Real(op, args) => (Operation::Real(*op), args.as_slice()),
            Op::Power { base, exponent } => (Operation::Power(exponent.clone()), std::slice::from_ref(base)),
            Op::Polygamma { order, x } => (Operation::Polygamma(order.clone()), std::slice::from_ref(x)),
            Op::Array(op, args) => return self.products(*out, *op, args),
            _ => return,
        };
        let args: Vec<Series> = args.iter().map(|arg| self.series(arg)).collect();
        let found = coefficients(self.code, &operation, &args, &Atom::Var(*out), self.dots.len());
        for (dots, tangent) in self.dots.iter_mut().zip(found) {
            dots.extend(tangent.map(|tangent| (*out, tangent)));
        }
    }

    /// An operand with its tangents.
    fn series(&mut self, atom: &Atom) -> Series {
        let tangents = (0..self.dots.len()).map(|order| self.tangent(order, atom));
        let tangents: Vec<Option<Atom>> = tangents.collect();
        std::iter::once(Some(atom.clone())).chain(tangents).collect()
    }

    /// The tangents of products: of each order the products of what makes that order together.
    fn products(&mut self, out: Var, op: ArrayOp, args: &[Atom]) {
        let Some((lie, sum, indices, factors)) = self.code.product_parts(op, args) else { return };
        let factors: Vec<Series> = factors.iter().map(|factor| self.series(factor)).collect();
        for order in 0..self.dots.len() {
            let k = order + 1;
            let (mut pairs, mut groups) = (Vec::new(), Vec::new());
            for (group, pair) in factors.chunks(2).enumerate() {
                let [x, y] = pair else { continue };
                let reversed = y.iter().take(k + 1).rev();
                for (a, b) in x.iter().zip(reversed) {
                    if let (Some(a), Some(b)) = (a, b) {
                        pairs.push((Arg::Fixed(a.clone()), Arg::Fixed(b.clone())));
                        groups.push(group);
                    }
                }
            }
            let sum = sum.as_ref().map(|sum| self.scope.arg(sum));
            let sum = sum.filter(|sum| sum.linear().is_some() || !indices.is_empty());
            // Nobody transposes it.
            let (indices, sizes) = (indices.clone(), Vec::new());
            let product = LinProduct { out, lie, sum, indices, pairs, groups, sizes };
            self.write_at(order, &[Lin::Product(Box::new(product))]);
        }
    }
}
