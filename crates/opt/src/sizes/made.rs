//! Shapes of the arrays that operations without blocks make.

#![expect(clippy::wildcard_enum_match_arm, reason = "of what is not listed no size is known")]

use super::{Shape, Sizes, agreed};
use crate::facts::{Keeps, keeps};
use crate::linear::Linear;
use wengert_ir::op::ArrayOp;
use wengert_ir::{Atom, Ty};

impl Sizes<'_> {
    /// An array has so many rows.
    pub(super) fn as_long(&mut self, array: &Atom, len: Option<&Linear>) {
        let (Some(var), Some(len)) = (array.var(), len) else { return };
        let mut shape = self.shape(array);
        match shape.first_mut() {
            Some(Some(known)) => {
                let known = known.clone();
                self.learn(&known, len);
            }
            Some(unknown) => {
                *unknown = Some(len.clone());
                self.note(var, shape);
            }
            None => {}
        }
    }

    /// The shape of an array that an operation makes.
    pub(super) fn array(&self, op: ArrayOp, args: &[Atom], ty: Ty) -> Shape {
        let shape = |place: usize| args.get(place).map(|arg| self.shape(arg)).unwrap_or_default();
        let size = |place: usize| args.get(place).and_then(|arg| self.value(arg));
        let mut found: Shape = match op {
            // The boxes in an array may hold arrays of any size.
            _ if op != ArrayOp::Index && self.axes(ty) > usize::from(ty.rank()) => Shape::new(),
            ArrayOp::Literal => {
                let count = i64::try_from(args.len()).ok().map(Linear::constant);
                [count].into_iter().chain(shape(0)).collect()
            }
            // Elements stand in the place of others in rows of the same size.
            _ if let Some(kept) = keeps(op) => match kept {
                Keeps::Rows if args.len() < 2 + usize::from(ty.rank()) => {
                    shape(0).into_iter().take(1).collect()
                }
                Keeps::Rows | Keeps::Sizes => shape(0),
            },
            ArrayOp::Add => agreed(shape(0), shape(1)),
            ArrayOp::Iota => vec![size(0)],
            ArrayOp::Replicate => [size(0)].into_iter().chain(shape(1)).collect(),
            ArrayOp::Index => shape(0).into_iter().skip(args.len().saturating_sub(1)).collect(),
            ArrayOp::Slice => {
                let count = size(2).zip(size(1)).map(|(to, from)| to.minus(&from));
                [count].into_iter().chain(shape(0).into_iter().skip(1)).collect()
            }
            ArrayOp::Concat => {
                let (a, b) = (shape(0), shape(1));
                let count = a.first().cloned().flatten().zip(b.first().cloned().flatten());
                let rows = agreed(a, b).into_iter().skip(1);
                [count.map(|(a, b)| a.plus(&b))].into_iter().chain(rows).collect()
            }
            ArrayOp::Gather => shape(1).into_iter().take(1).chain(shape(0).into_iter().skip(1)).collect(),
            ArrayOp::MatVec => shape(0).into_iter().take(1).collect(),
            // If there are rows, there are as many columns as in the other matrix: it may have no rows, and no columns then.
            ArrayOp::MatMul => {
                let other = shape(1);
                let columns = other.get(1).cloned().flatten();
                let columns = columns.filter(|columns| self.is_also_zero(columns, &other, 1));
                shape(0).into_iter().take(1).chain([columns]).collect()
            }
            ArrayOp::Reshape => shape(1),
            ArrayOp::Ravel if self.func.type_of(args.first().unwrap_or(&Atom::Unit)).rank() == 1 => shape(0),
            _ => Shape::new(),
        };
        found.resize(self.axes(ty), None);
        found.into_iter().map(|size| size.filter(Linear::is_small)).collect()
    }
}
