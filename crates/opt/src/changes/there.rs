//! Whether what is read of an array that is changed is there as it was.

use crate::linear::Linear;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Compare, IntOp, Op};
use wengert_ir::{Atom, Var};

/// Sums are looked through so deep.
const DEEP: usize = 6;
/// Numbers up to this one can be added to the index of an element.
const SMALL: u64 = 1 << 20;

/// Where something is changed: the indices, and what holds there.
pub(super) struct Leaf {
    pub(super) place: Vec<Atom>,
    pub(super) holds: Vec<(Compare, Atom, Atom)>,
}

/// What is looked at, and for which change it is; nothing if that is after all of them.
pub(super) struct Read {
    pub(super) place: Vec<Atom>,
    pub(super) at: Option<Vec<Atom>>,
}

/// What is known for this.
pub(super) struct There<'t> {
    /// What makes conditions and places.
    pub(super) made: &'t FxHashMap<Var, Op>,
    /// What is bound in the loops that change the array: another one in each iteration.
    pub(super) inside: &'t FxHashSet<Var>,
    pub(super) leaves: &'t [Leaf],
}

impl There<'_> {
    /// Whether what is read was not changed yet: it is what stands where the change is to be, or nothing changes it.
    pub(super) fn is(&self, read: &Read) -> bool {
        read.at.as_ref().is_some_and(|at| read.place.starts_with(at))
            || self.leaves.iter().all(|leaf| self.is_left(&read.place, leaf))
    }

    /// Whether what must hold for a change does not hold at a place, in whatever iteration.
    fn is_left(&self, place: &[Atom], leaf: &Leaf) -> bool {
        let at = |var: Var| leaf.place.iter().position(|index| index.var() == Some(var));
        let moved = |atom: &Atom| -> Option<Linear> {
            let (terms, constant) = self.value(atom, DEEP).parts();
            let mut sum = Linear::constant(constant);
            for (var, times) in terms {
                let value = match at(var) {
                    Some(axis) => self.value(place.get(axis)?, DEEP),
                    None if self.inside.contains(&var) => return None,
                    None => Linear::of(var),
                };
                sum = sum.plus(&value.times(times));
            }
            Some(sum)
        };
        // An index of what is there and a small number is as large as it seems to be.
        let near = |sum: &Linear| {
            let (terms, constant) = sum.parts();
            match terms.as_slice() {
                [(var, 1)] if constant.unsigned_abs() < SMALL => Some(*var),
                _ => None,
            }
        };
        let indices: Vec<Var> = place.iter().filter_map(|index| near(&self.value(index, DEEP))).collect();
        let is_near = |sum: &Linear| near(sum).is_some_and(|var| indices.contains(&var));
        leaf.holds.iter().any(|(compare, a, b)| {
            let (Some(a), Some(b)) = (moved(a), moved(b)) else { return false };
            let difference = a.minus(&b).atom();
            match difference {
                // The same number.
                Some(Atom::Int(0)) => matches!(compare, Compare::Lt | Compare::Gt | Compare::Ne),
                Some(Atom::Int(n)) if is_near(&a) && is_near(&b) => match compare {
                    Compare::Lt | Compare::Le => n > 0,
                    Compare::Gt | Compare::Ge => n < 0,
                    Compare::Eq => true,
                    Compare::Ne => false,
                },
                _ => false,
            }
        })
    }

    /// Whether a comparison is one of the last index with something that is the same in all iterations.
    pub(super) fn compares(&self, place: &[Atom], a: &Atom, b: &Atom) -> bool {
        let (terms, _) = self.value(a, DEEP).minus(&self.value(b, DEEP)).parts();
        let last = place.last().and_then(Atom::var);
        let is_index = |(var, times): &(Var, i64)| Some(*var) == last && times.unsigned_abs() == 1;
        terms.iter().any(is_index)
            && terms.iter().all(|term| is_index(term) || !self.inside.contains(&term.0))
    }

    /// Whether a comparison is another one for each last index.
    pub(super) fn moves(&self, place: &[Atom], a: &Atom, b: &Atom) -> bool {
        let (terms, _) = self.value(a, DEEP).minus(&self.value(b, DEEP)).parts();
        terms.iter().any(|(var, _)| Some(*var) == place.last().and_then(Atom::var))
    }

    fn value(&self, atom: &Atom, depth: usize) -> Linear {
        if let Atom::Int(n) = atom {
            return Linear::constant(*n);
        }
        let Some(var) = atom.var() else { return Linear::constant(0) };
        let Some(deeper) = depth.checked_sub(1) else { return Linear::of(var) };
        match self.made.get(&var) {
            Some(Op::Copy(x)) => self.value(x, deeper),
            Some(Op::Int(op @ (IntOp::Add | IntOp::Sub), args)) if let [a, b] = args.as_slice() => {
                let (a, b) = (self.value(a, deeper), self.value(b, deeper));
                if *op == IntOp::Add { a.plus(&b) } else { a.minus(&b) }
            }
            _ => Linear::of(var),
        }
    }
}
