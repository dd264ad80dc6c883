//! Which elements that are read or updated are there for sure: their indices are in range.
//!
//! ```text
//! m = n - 1                          n = length(xs)
//! each i < m { … xs[i + 1] … }       i + 1 is at most m, which is less than n
//! ```

use super::{Boxes, PATIENCE, Sizes};
use crate::linear::Linear;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Func, Stmt, Var};

/// So many of what was there before are looked at.
const NEAR: usize = 64;

/// The results of reads and updates of elements that cannot fail: their indices are in range; and of arrays that are made with a
/// size that is not negative.
pub(crate) fn in_range(func: &mut Func, boxes: &Boxes) -> FxHashSet<Var> {
    places(func, boxes, false)
}

/// The same, and those that cannot fail where they stand because one before them would have.
pub(crate) fn in_range_there(func: &mut Func, boxes: &Boxes) -> FxHashSet<Var> {
    places(func, boxes, true)
}

fn places(func: &mut Func, boxes: &Boxes, by_others: bool) -> FxHashSet<Var> {
    let is_checked = |stmt: &Stmt| {
        matches!(
            stmt.op,
            Op::Array(ArrayOp::Index | ArrayOp::Set | ArrayOp::AddAt | ArrayOp::Replicate | ArrayOp::Iota, _)
        )
    };
    if func.body.all_stmts(&mut |stmt| !is_checked(stmt)) {
        return FxHashSet::default();
    }
    let mut body = std::mem::take(&mut func.body);
    let mut sizes = Sizes::new(func, boxes, PATIENCE * body.size() + 1000);
    sizes.by_others = by_others;
    sizes.block(&mut body, false);
    let inside = sizes.inside;
    func.body = body;
    inside
}

impl Sizes<'_> {
    /// Notes whether an element that is read or updated is there. A body may be gone through with more assumed before: the last
    /// time counts.
    pub(super) fn note_range(&mut self, stmt: &Stmt) {
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        let [array, rest @ ..] = args.as_slice() else { return };
        if matches!(op, ArrayOp::Replicate | ArrayOp::Iota) {
            // As many as there are of something else.
            if self.value(array).is_some_and(|size| self.is_natural(&size)) {
                self.inside.insert(*out);
            } else {
                self.inside.remove(out);
            }
            return;
        }
        let indices = match (op, rest) {
            (ArrayOp::Index, indices) => indices,
            (ArrayOp::Set | ArrayOp::AddAt, [indices @ .., row]) if self.func.type_of(row).rank() == 0 => {
                indices
            }
            (_, _) => return,
        };
        let shape = self.shape(array);
        let places: Vec<Option<(Linear, Linear)>> =
            indices.iter().zip(shape).map(|(index, size)| self.value(index).zip(size)).collect();
        let is_there = |place: &Option<(Linear, Linear)>| {
            place
                .as_ref()
                .is_some_and(|(index, size)| self.is_place(index, size) || self.was_place(index, size))
        };
        if places.iter().all(is_there) {
            self.inside.insert(*out);
        } else {
            self.inside.remove(out);
        }
        if self.by_others {
            self.found.extend(places.into_iter().flatten());
        }
    }

    /// Whether something at this index, or behind it, was there before in an array of this size.
    fn was_place(&self, index: &Linear, size: &Linear) -> bool {
        let before = |found: &Linear| {
            found == index || self.is_natural(index) && self.is_natural(&self.settle(found.minus(index)))
        };
        self.found.iter().rev().take(NEAR).any(|(found, other)| other == size && before(found))
    }

    /// Whether an index is neither negative nor beyond the size.
    fn is_place(&self, index: &Linear, size: &Linear) -> bool {
        if !self.is_natural(index) {
            return false;
        }
        // The largest that it can be.
        let mut top = index.clone();
        for var in index.vars() {
            if let Some(limit) = self.limits.get(&var) {
                top = top.replace(var, &limit.minus(&Linear::constant(1)));
            }
        }
        self.is_natural(&self.settle(size.minus(&top).minus(&Linear::constant(1))))
    }
}
