//! Arrays of tapes that die with the loop that goes through them: each element is the body's own, which takes it apart and
//! frees it, instead of all together when the loop is done. Then they are still in the cache, and nobody looks for them
//! again.
//!
//! An array that somebody else has too keeps its elements: they are referred to once more.

use super::uses::{Vars, with_sources};
use super::{Kind, Lower, Operand, Place, Stmt, Value, Word, kind};
use crate::loops::Local;
use wengert_ir::op::Loop;
use wengert_ir::{Atom, Block, Elem, Ty, Var};

/// An array that a loop takes its elements out of.
pub(super) struct Drained {
    /// The parameter for its elements.
    pub(super) row: Var,
    object: Local,
    kind: Kind,
    elem: Elem,
    first: Operand,
    size: Operand,
    /// Whether nobody else has the array.
    unique: Option<Operand>,
}

impl Lower<'_> {
    /// The arrays of tapes that die with a loop; it takes them over.
    pub(super) fn drained(&self, parts: &Loop, dying: &mut Vars) -> Vec<Drained> {
        let rows = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
        let mut found = Vec::new();
        for (row, input) in rows.zip(&parts.inputs) {
            let Some(var) = input.var().filter(|var| dying.contains(var)) else { continue };
            let ty = self.func.ty(var);
            let (Ty::Array(elem @ Elem::Data(data), 1), Place::Array(array)) = (ty, self.place(var)) else {
                continue;
            };
            let (Some(object), Some(size)) = (array.object, array.dims.first().copied()) else { continue };
            if self.shared.tapes.contains(&data) && self.mentions(parts, var) == 1 {
                dying.remove(&var);
                let (kind, first, unique) = (kind(ty), array.first, None);
                found.push(Drained { row: *row, object, kind, elem, first, size, unique });
            }
        }
        found
    }

    /// How often a loop mentions a variable or a view of it.
    fn mentions(&self, parts: &Loop, var: Var) -> usize {
        let operands = parts.inputs.iter().chain(&parts.init).chain(&parts.accs).filter_map(Atom::var);
        let all = operands.chain(Block::free_vars(&parts.body));
        all.filter(|other| with_sources(*other, &self.views).any(|source| source == var)).count()
    }

    /// Before the loop.
    pub(super) fn start_draining(&mut self, drained: &mut [Drained]) {
        for array in drained {
            let object = Operand::Local(array.object);
            let unique = self.set(Word::Int, Value::Unique(object, array.kind));
            array.unique = Some(unique);
            let elem_kind = kind(Ty::Scalar(array.elem));
            let otherwise = self.apart(|this| {
                this.for_each(array.size, false, |this, i| {
                    let value = this.load(array.first, i, array.elem);
                    this.emit(Stmt::Retain(value, elem_kind));
                });
            });
            self.emit(Stmt::If { cond: unique, then: Vec::new(), otherwise });
        }
    }

    /// After the loop: the array has no elements any more.
    pub(super) fn end_draining(&mut self, drained: Vec<Drained>) {
        for Drained { object, kind, unique, .. } in drained {
            let Some(cond) = unique else { continue };
            let object = Operand::Local(object);
            let (then, otherwise) = (vec![Stmt::Free(object, kind)], vec![Stmt::Release(object, kind)]);
            self.emit(Stmt::If { cond, then, otherwise });
        }
    }
}
