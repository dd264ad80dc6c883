//! What stands instead of a size, or of an array that is kept for one: what is equal to it and there anyway.

use super::Sizes;
use crate::linear::Linear;
use crate::numbers;
use crate::simplify::FEW;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::{Atom, Elem, Ty, Var};

/// So many of the lengths of loops before one are looked at.
const NEAR: usize = 16;

impl Sizes<'_> {
    /// Zeros in the shape of an array, made otherwise: a list of them if they are few, or like an array that need not be kept for that.
    pub(super) fn zeros(&self, like: Var) -> Option<Op> {
        let other = || Some(Op::Array(ArrayOp::Zeros, vec![Atom::Var(self.same_size(like)?)]));
        self.few_zeros(like).or_else(other)
    }

    /// For an array that is kept, one of the same size that need not be kept for that.
    fn same_size(&self, kept: Var) -> Option<Var> {
        let shape = self.shape(&Atom::Var(kept));
        // What is said of rows need not be so if there are none.
        let is_so = |(axis, size): (usize, &Option<Linear>)| {
            size.as_ref().is_some_and(|size| axis == 0 || self.is_also_zero(size, &shape, axis))
        };
        if !self.kept.contains(&kept) || !shape.iter().enumerate().all(is_so) {
            return None;
        }
        let fits = |var: &&Var| {
            self.func.ty(**var) == self.func.ty(kept)
                && !self.kept.contains(*var)
                && self.shape(&Atom::Var(**var)) == shape
        };
        self.scope.iter().filter(fits).min().copied()
    }

    /// Zeros in the shape of an array, if it is known to have few elements: a list of them.
    fn few_zeros(&self, like: Var) -> Option<Op> {
        let shape = self.shape(&Atom::Var(like));
        let [Some(size)] = shape.as_slice() else { return None };
        let Some(Atom::Int(count)) = size.atom() else { return None };
        let count = usize::try_from(count).ok().filter(|count| (1..=FEW).contains(count))?;
        (self.func.ty(like) == Ty::Array(Elem::Real, 1))
            .then(|| Op::Array(ArrayOp::Literal, vec![Atom::Real(0.0); count]))
    }

    /// What else the number of iterations of a loop is called: the same as that of a loop before it.
    pub(super) fn name_of_length(&mut self, len: &Atom, value: &Linear) -> Option<Atom> {
        if let Some(atom) = value.atom() {
            return atom.var().is_none_or(|var| self.scope.contains(&var)).then_some(atom);
        }
        let is_same =
            |var: &&Var| self.scope.contains(*var) && self.value(&Atom::Var(**var)).as_ref() == Some(value);
        let known = self.lengths.iter().rev().take(NEAR).rev().find(is_same).copied();
        if known.is_none() {
            self.lengths.extend(len.var());
        }
        known.map(Atom::Var)
    }

    /// Whether a comparison of integers holds, if that is known; else numbers stand for operands that are numbers.
    pub(super) fn compare(&self, compare: Compare, a: &mut Atom, b: &mut Atom) -> Option<Atom> {
        // Of reals, one need not be equal to itself.
        if self.func.type_of(a) != Ty::INT {
            return None;
        }
        let (x, y) = (self.value(a)?, self.value(b)?);
        if x == y && matches!(compare, Compare::Eq | Compare::Ne) {
            return Some(Atom::Bool(compare == Compare::Eq));
        }
        // Where something was found in an array, it is not empty.
        let is_zero = |form: &Linear| form.atom() == Some(Atom::Int(0));
        let found = |form: &Linear| self.found.iter().any(|(_, size)| size == form);
        if (is_zero(&x) && found(&y) || is_zero(&y) && found(&x))
            && matches!(compare, Compare::Eq | Compare::Ne)
        {
            return Some(Atom::Bool(compare == Compare::Ne));
        }
        if let (Some(x @ Atom::Int(_)), Some(y @ Atom::Int(_))) = (x.atom(), y.atom()) {
            let known = numbers::comparison(compare, &x, &y);
            (*a, *b) = (x, y);
            return known;
        }
        None
    }

    /// Whether a condition holds, from what is known since it was computed.
    pub(super) fn holds(&self, cond: &Atom) -> Option<Atom> {
        let (compare, a, b) = self.compared.get(&cond.var()?)?;
        self.compare(*compare, &mut a.clone(), &mut b.clone())
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
