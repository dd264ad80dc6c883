//! What the printer does not show as a statement of its own: the limit of a number that must not be negative.

use crate::op::{Atom, Block, IntOp, Op, Stmt, Var};
use crate::program::Func;
use crate::visit::deep;
use rustc_hash::{FxHashMap, FxHashSet};

/// Numbers or zero, which nothing uses but what comes after it and requires that they are the numbers: `require n >= 0` says both.
pub(super) fn limits(func: &Func) -> FxHashSet<Var> {
    let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
    let mut found = Vec::new();
    blocks(&func.body, &mut |block| {
        let mut used =
            |atom: &Atom| atom.var().into_iter().for_each(|var| *uses.entry(var).or_default() += 1);
        block.stmts.iter().for_each(|stmt| stmt.op.for_each_atom(&mut |atom| used(atom)));
        block.results.iter().for_each(used);
        found.extend(
            block.stmts.iter().zip(block.stmts.iter().skip(1)).filter_map(|(stmt, next)| limit(stmt, next)),
        );
    });
    found.into_iter().filter(|var| uses.get(var) == Some(&1)).collect()
}

fn limit(stmt: &Stmt, next: &Stmt) -> Option<Var> {
    let (Op::Int(IntOp::Max, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return None };
    let ([number, Atom::Int(0)], Op::Require { what: _, left, right }) = (args.as_slice(), &next.op) else {
        return None;
    };
    (left == number && right.var() == Some(*out)).then_some(*out)
}

fn blocks(block: &Block, look: &mut impl FnMut(&Block)) {
    deep(|| {
        look(block);
        for stmt in &block.stmts {
            stmt.op.blocks().into_iter().for_each(|inner| blocks(inner, look));
        }
    });
}
