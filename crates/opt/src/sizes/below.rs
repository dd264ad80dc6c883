//! Arrays of indices: what a loop finds in each iteration, as where the least element of a row is, a later loop knows for an index.
//!
//! ```text
//! places = each i < n { … k = argmin(xs) yield k }          k < length(xs)
//! each j < n, k in places { … ys[k] … }                     is there, if ys is as long
//! ```

use super::Sizes;
use crate::linear::Linear;
use rustc_hash::FxHashSet;
use wengert_ir::op::Loop;
use wengert_ir::{Atom, Block, Var};

impl Sizes<'_> {
    /// Notes of rows of arrays of indices what they are below. What was noted when the loop was gone through with more assumed is forgotten.
    pub(super) fn begin_places(&mut self, parts: &Loop, carried: usize) {
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            self.natural.remove(param);
            self.limits.remove(param);
            self.below.remove(param);
            self.note_place(*param, input);
        }
    }

    /// What is read of an array of indices, or is a row of one.
    pub(super) fn note_place(&mut self, out: Var, array: &Atom) {
        let Some(limit) = array.var().and_then(|array| self.below.get(&array)).cloned() else { return };
        if self.func.ty(out).rank() == 0 {
            self.natural.insert(out);
            self.limits.insert(out, limit);
        } else {
            self.below.insert(out, limit);
        }
    }

    /// What rows that a body gives are below, as far as it is known outside.
    pub(super) fn end_places(&self, body: &Block, carried: usize) -> Vec<Option<Linear>> {
        let mut inner: FxHashSet<Var> = body.params.iter().copied().collect();
        inner.extend(body.stmts.iter().flat_map(|stmt| &stmt.outs));
        let limit = |row: &Atom| {
            let row = row.var()?;
            let index = self.limits.get(&row).filter(|_| self.natural.contains(&row));
            let limit = index.or_else(|| self.below.get(&row))?;
            limit.vars().all(|var| !inner.contains(&var)).then(|| limit.clone())
        };
        body.results.iter().skip(carried).map(limit).collect()
    }
}
