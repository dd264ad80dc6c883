//! What stands instead of a size, or of an array that is kept for one: what is equal to it and there anyway.

use super::Sizes;
use crate::linear::Linear;
use crate::numbers;
use crate::simplify::FEW;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::{Atom, Block, Elem, Ty, Var};

/// Numbers of places that are this far apart, with an index, do not wrap.
const SMALL: u64 = 1 << 32;
/// So many of the lengths of loops before one are looked at.
const NEAR: usize = 16;

impl Sizes<'_> {
    /// Zeros in the shape of an array, made otherwise: a list of them if they are few, or like an array that need not be kept for that.
    pub(super) fn zeros(&self, like: Var) -> Option<Op> {
        let other = || Some(Op::Array(ArrayOp::Zeros, vec![Atom::Var(self.same_size(like)?)]));
        self.few_zeros(like).or_else(other)
    }

    /// For an array that is kept, one of the same size that need not be kept for that, or is kept for something else.
    fn same_size(&self, kept: Var) -> Option<Var> {
        let shape = self.shape(&Atom::Var(kept));
        // What is said of rows need not be so if there are none.
        let is_so = |(axis, size): (usize, &Option<Linear>)| {
            size.as_ref().is_some_and(|size| axis == 0 || self.is_also_zero(size, &shape, axis))
        };
        if !self.kept.contains(&kept) || !shape.iter().enumerate().all(is_so) {
            return None;
        }
        let fits =
            |var: &&Var| self.func.ty(**var) == self.func.ty(kept) && self.shape(&Atom::Var(**var)) == shape;
        let there = self.scope.iter().filter(|var| !self.kept.contains(*var)).filter(fits).min();
        let asked = || self.scope.iter().filter(|var| self.asked.contains(*var)).filter(fits).min();
        there.or_else(|| if self.asked.contains(&kept) { None } else { asked() }).copied()
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
        let by_sign = self.by_sign(compare, &x, &y).or_else(|| self.by_sign(compare.turned(), &y, &x));
        by_sign.or_else(|| self.decided(compare, &x, &y)).map(Atom::Bool)
    }

    /// Whether what is not negative compares so with a number.
    fn by_sign(&self, compare: Compare, natural: &Linear, number: &Linear) -> Option<bool> {
        let Some(Atom::Int(number)) = number.atom() else { return None };
        let decided = match compare {
            Compare::Lt | Compare::Ge => number <= 0,
            Compare::Eq | Compare::Ne | Compare::Le | Compare::Gt => number < 0,
        };
        (decided && self.is_natural(natural))
            .then_some(matches!(compare, Compare::Ge | Compare::Ne | Compare::Gt))
    }

    /// Whether a comparison of sums of indices always holds, or never does, by what indices can be.
    fn decided(&self, compare: Compare, x: &Linear, y: &Linear) -> Option<bool> {
        let is_index = |var: Var| self.limits.contains_key(&var);
        if !x.vars().chain(y.vars()).any(is_index) || !self.is_small(x) || !self.is_small(y) {
            return None;
        }
        let one = Linear::constant(1);
        let least = |form: &Linear| self.is_natural(form) || self.is_natural(&self.least(form));
        let (above, below) = (self.settle(x.minus(y)), self.settle(y.minus(x)));
        let (not_below, not_above) = (least(&above), least(&below));
        let (is_above, is_below) = (least(&above.minus(&one)), least(&below.minus(&one)));
        let decided = |holds: bool, fails: bool| (holds || fails).then_some(holds);
        match compare {
            Compare::Eq => decided(false, is_above || is_below),
            Compare::Ne => decided(is_above || is_below, false),
            Compare::Lt => decided(is_below, not_below),
            Compare::Le => decided(not_above, is_above),
            Compare::Gt => decided(is_above, not_above),
            Compare::Ge => decided(not_below, is_below),
        }
    }

    /// Whether a sum does not wrap: one of indices of loops and of a small number, or what is left of how many iterations such a loop has.
    fn is_small(&self, form: &Linear) -> bool {
        let (terms, constant) = form.parts();
        let counts = |var: Var| self.limits.values().any(|limit| limit.atom() == Some(Atom::Var(var)));
        let is_index = |(var, times): &(Var, i64)| times.abs() == 1 && self.limits.contains_key(var);
        let is_left = || matches!(terms.as_slice(), [(var, 1)] if counts(*var)) && constant <= 0;
        let few = constant.unsigned_abs() < SMALL && terms.len() <= FEW;
        few && (terms.iter().all(is_index) || is_left())
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

/// What a block asks for more of than its size, if there are zeros in the shape of something.
pub(super) fn asked(block: &Block) -> FxHashSet<Var> {
    let mut asked = FxHashSet::default();
    if block.all_stmts(&mut |stmt| !matches!(stmt.op, Op::Array(ArrayOp::Zeros, _))) {
        return asked;
    }
    asked.extend(block.results.iter().filter_map(Atom::var));
    block.for_each_stmt(&mut |stmt| {
        if !matches!(stmt.op, Op::Array(ArrayOp::Zeros | ArrayOp::Length(_), _)) {
            asked.extend(stmt.op.operand_vars());
        }
        let given = stmt.op.blocks().into_iter().flat_map(|inner| &inner.results);
        asked.extend(given.filter_map(Atom::var));
    });
    asked
}
