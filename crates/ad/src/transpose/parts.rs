//! Sums of cotangents of arrays that are known only at some places yet, of which the rest comes later.
//!
//! ```text
//! ys = xs with [i] = a;  b = xs[j]          x̄s is zero but b̄ at j, until ȳs adds what it has at all other places
//! ```
//!
//! An array of zeros to which something is added at one place, and then added to another one, takes as long as the array is; what is noted
//! here until the rest is there, and then added to that in place, takes as long as an element. So it is wherever an array is updated in
//! a loop and elements of the array before are used: an exchange of two elements takes the same time whatever the size of the array.
//! It makes sums in another order than a tape does, which is kept where derivatives are to be exact.

#![expect(clippy::wildcard_enum_match_arm, reason = "what hands on a whole array is named")]

use super::{Transposer, is_real};
use crate::deep;
use crate::linear::{Arg, Lin, LinBlock, Ref};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Var};
use wengert_prim::RealOp;

/// See the module.
#[derive(Default)]
pub(super) struct Parts {
    /// What is to be added to variables whose sum is not there yet: where, and what.
    noted: FxHashMap<Var, Vec<(Vec<Atom>, Atom)>>,
    /// What gets the cotangent of an array of its size as a whole, somewhere in the block.
    whole: FxHashSet<Var>,
}

impl Parts {
    pub(super) fn has(&self, var: Var) -> bool {
        self.noted.contains_key(&var)
    }

    /// A block inside begins, in which nothing is noted yet: gives what is to be put back after it.
    pub(super) fn begin(&mut self) -> Parts {
        std::mem::take(self)
    }

    pub(super) fn expect(&mut self, whole: FxHashSet<Var>) {
        self.whole = whole;
    }
}

impl Transposer<'_, '_> {
    /// Finds what gets the cotangent of a whole array in a block; gives what was found for the block around.
    pub(super) fn expect_whole(&mut self, block: &LinBlock) -> FxHashSet<Var> {
        let mut whole = FxHashSet::default();
        if !self.code.ad.exact {
            handed_on(block, &mut whole);
        }
        std::mem::replace(&mut self.parts.whole, whole)
    }

    /// Whether a cotangent is noted until there is a sum to which it can be added.
    pub(super) fn is_part(&self, var: Var, indices: &[Atom]) -> bool {
        !indices.is_empty()
            && self.parts.whole.contains(&var)
            && !self.bars.contains_key(&var)
            && is_real(self.info(var).ty)
    }

    pub(super) fn note_part(&mut self, var: Var, indices: Vec<Atom>, cotangent: Atom, negative: bool) {
        let part = if negative { self.code.real(RealOp::Neg, vec![cotangent]) } else { cotangent };
        self.parts.noted.entry(var).or_default().push((indices, part));
    }

    /// Adds what was noted to the sum, which is there now.
    pub(super) fn add_parts(&mut self, var: Var) {
        let parts = self.parts.noted.remove(&var).unwrap_or_default();
        parts.into_iter().for_each(|(indices, part)| self.add_at(super::Place { var, indices }, part, false));
    }

    /// Makes a sum of what was noted, if something was.
    pub(super) fn gather_parts(&mut self, var: Var) {
        if self.parts.has(var) {
            let zero = self.zero(var);
            self.bars.insert(var, zero);
            self.add_parts(var);
        }
    }
}

/// Arrays that a block gives or hands on as wholes, with changes at single places or none.
fn handed_on(block: &LinBlock, into: &mut FxHashSet<Var>) {
    let results = block.results.iter().flatten();
    into.extend(results.filter_map(|of| if let Ref::Var(var) = of { Some(*var) } else { None }));
    let mut add = |of: Option<&Ref>| {
        if let Some(Ref::Var(var)) = of {
            into.insert(*var);
        }
    };
    for lin in &block.stmts {
        match lin {
            Lin::Array { op: ArrayOp::Set | ArrayOp::AddAt, args, .. } => {
                add(args.first().and_then(Arg::linear))
            }
            Lin::Loop(parts) => parts.carried.iter().for_each(|part| add(part.init.linear())),
            _ => {}
        }
    }
    for lin in &block.stmts {
        if let Lin::Branch(branch) = lin {
            branch.arms.iter().for_each(|arm| deep(|| handed_on(&arm.block, into)));
        }
    }
}
