//! Numbers that are read of an array, and used in loops inside of the block where they are read, have a cotangent of their own.
//!
//! ```text
//! f = xs[i]                                         f̄ is summed up in a number, and added to x̄s at i after the loop
//! ys = for j < n, ys = xs { … f … }
//! ```
//!
//! Elsewhere an element is a place in its array, to whose cotangent is added at once. But where the array is handed on, as here, that
//! comes later, and a loop would have an array of zeros for what it adds to one element. It makes sums in another order than a tape does, which is
//! kept where derivatives are to be exact.

use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Atom, Block, Op, Var};

/// The variables that loops mention which are bound outside of them.
pub(super) fn used_deeper(body: &Block) -> FxHashSet<Var> {
    let mut walk = Walk::default();
    walk.block(body);
    walk.found
}

#[derive(Default)]
struct Walk {
    /// In how many loops variables are bound.
    depths: FxHashMap<Var, usize>,
    depth: usize,
    found: FxHashSet<Var>,
}

impl Walk {
    fn atom(&mut self, atom: &Atom) {
        if let Some(var) = atom.var()
            && self.depths.get(&var).is_some_and(|depth| *depth < self.depth)
        {
            self.found.insert(var);
        }
    }

    fn block(&mut self, block: &Block) {
        crate::deep(|| {
            self.depths.extend(block.params.iter().map(|param| (*param, self.depth)));
            for stmt in &block.stmts {
                stmt.op.for_each_atom(&mut |atom| self.atom(atom));
                let repeats = matches!(stmt.op, Op::Loop(_) | Op::While(_));
                self.depth += usize::from(repeats);
                stmt.op.blocks().into_iter().for_each(|inner| self.block(inner));
                self.depth -= usize::from(repeats);
                self.depths.extend(stmt.outs.iter().map(|out| (*out, self.depth)));
            }
            block.results.iter().for_each(|atom| self.atom(atom));
        });
    }
}
