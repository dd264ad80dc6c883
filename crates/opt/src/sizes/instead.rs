//! What stands instead of a size, or of an array that is kept for one: what is equal to it and there anyway.

use super::Sizes;
use wengert_ir::op::{Compare, Op};
use wengert_ir::{Atom, Var};

impl Sizes<'_> {
    /// For an array that is kept, one of the same size that need not be kept for that.
    pub(super) fn same_size(&self, kept: Var) -> Option<Var> {
        let shape = self.shape(&Atom::Var(kept));
        // What is said of rows need not be so if there are none.
        if !self.kept.contains(&kept) || !matches!(shape.as_slice(), [Some(_)]) {
            return None;
        }
        let fits = |var: &&Var| {
            self.func.ty(**var) == self.func.ty(kept)
                && !self.kept.contains(*var)
                && self.shape(&Atom::Var(**var)) == shape
        };
        self.scope.iter().filter(fits).min().copied()
    }

    /// Whether a comparison of integers holds, if that is known; else numbers stand for operands that are numbers.
    pub(super) fn compare(&self, compare: Compare, a: &mut Atom, b: &mut Atom) -> Option<Atom> {
        let (x, y) = (self.value(a)?, self.value(b)?);
        if x == y && matches!(compare, Compare::Eq | Compare::Ne) {
            return Some(Atom::Bool(compare == Compare::Eq));
        }
        if let (Some(x @ Atom::Int(_)), Some(y @ Atom::Int(_))) = (x.atom(), y.atom()) {
            (*a, *b) = (x, y);
        }
        None
    }

    /// An integer that is another one, or a number.
    pub(super) fn rename(&self, op: &mut Op, out: Var) {
        let Some(value) = self.value(&Atom::Var(out)) else { return };
        match value.atom() {
            Some(Atom::Var(var)) if var != out && self.scope.contains(&var) => *op = Op::Copy(Atom::Var(var)),
            Some(Atom::Int(n)) => *op = Op::Copy(Atom::Int(n)),
            _ => {}
        }
    }
}
