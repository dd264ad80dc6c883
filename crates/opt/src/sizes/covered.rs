//! Integers that are places: if a loop has read something at each of them, another loop finds something there, too.
//!
//! ```text
//! each i < n, k in ks { x = xs[k] … }
//! each j < n, k2 in ks { y = xs[k2] … }             xs[k2] is there
//! ```

use super::Sizes;
use crate::linear::Linear;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Loop, Op};
use wengert_ir::{Atom, Block, Stmt, Ty, Var};

/// So many of what was read before are looked at.
const NEAR: usize = 64;

/// Integers at each of which something was there.
pub(super) struct Covered {
    /// The array of the integers.
    places: Var,
    /// The array in which something was there, if there was one index, and how long it was, if that has a name.
    array: Option<Atom>,
    size: Option<Linear>,
}

impl Sizes<'_> {
    /// What the rows of a loop are elements of, if they are integers.
    pub(super) fn note_elements(&mut self, parts: &Loop, carried: usize) {
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            if let (Atom::Var(input), Ty::INT) = (input, self.func.ty(*param)) {
                self.element_of.insert(*param, *input);
            }
        }
    }

    /// What is read of an array of integers is one of them.
    pub(super) fn note_element(&mut self, stmt: &Stmt) {
        if let (Op::Array(ArrayOp::Index, args), [out]) = (&stmt.op, stmt.outs.as_slice())
            && let [Atom::Var(array), _] = args.as_slice()
            && self.func.ty(*out) == Ty::INT
        {
            self.element_of.insert(*out, *array);
        }
    }

    /// At the end of a loop's body, what it has shown of all elements of the arrays that it goes through.
    pub(super) fn covers(&self, parts: &Loop, body: &Block, (found, read): (usize, usize)) -> Vec<Covered> {
        let inner: FxHashSet<Var> =
            body.params.iter().chain(body.stmts.iter().flat_map(|stmt| &stmt.outs)).copied().collect();
        let is_outside = |var: Var| self.scope.contains(&var) && !inner.contains(&var);
        let rows = 1 + parts.init.len() + parts.accs.len();
        let of_row = |var: Var| {
            let place = body.params.iter().skip(rows).position(|row| *row == var)?;
            parts.inputs.get(place).and_then(Atom::var).filter(|_| self.func.ty(var) == Ty::INT)
        };
        let mut all = Vec::new();
        for (array, indices) in self.read.iter().skip(read) {
            if let [Atom::Var(index)] = indices.as_slice()
                && let Some(places) = of_row(*index)
                && array.var().is_none_or(is_outside)
            {
                all.push(Covered { places, array: Some(array.clone()), size: None });
            }
        }
        for (index, size) in self.found.iter().skip(found) {
            if let Some(Atom::Var(index)) = index.atom()
                && let Some(places) = of_row(index)
                && size.vars().all(is_outside)
            {
                all.push(Covered { places, array: None, size: Some(size.clone()) });
            }
        }
        all
    }

    /// Whether a loop before has found something at every such place.
    pub(super) fn is_covered(&self, index: &Atom, array: Option<&Atom>, size: Option<&Linear>) -> bool {
        let Some(places) = index.var().and_then(|var| self.element_of.get(&var)) else { return false };
        self.covered.iter().rev().take(NEAR).any(|known| {
            let same_array = known.array.is_some() && known.array.as_ref() == array;
            known.places == *places && (same_array || (known.size.is_some() && known.size.as_ref() == size))
        })
    }
}
