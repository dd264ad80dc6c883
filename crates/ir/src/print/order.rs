//! In which order the text defines variables, so that names have their numbers in that order, and what it does not show.

use super::heads::Heads;
use super::places;
use crate::op::{Atom, Block, Op, Stmt, Var};
use crate::program::Func;
use crate::visit::deep;
use rustc_hash::FxHashSet;

/// Which variables the text defines, and how.
pub(super) struct Defined<'p, 'a> {
    is_shown: &'p dyn Fn(Var) -> bool,
    heads: &'p Heads<'a>,
    in_place: bool,
    /// Those that were seen, in the order in which the text defines them.
    order: Vec<Var>,
}

impl<'p, 'a> Defined<'p, 'a> {
    /// The variables of a block.
    pub(super) fn of(
        block: &Block,
        is_shown: &'p dyn Fn(Var) -> bool,
        heads: &'p Heads<'a>,
        in_place: bool,
    ) -> Vec<Var> {
        let mut defined = Defined { is_shown, heads, in_place, order: Vec::new() };
        defined.block(block);
        defined.order
    }

    fn block(&mut self, block: &Block) {
        self.order.extend(&block.params);
        self.rest(block, 0);
    }

    /// A block from this statement on.
    fn rest(&mut self, block: &Block, from: usize) {
        deep(|| {
            for (at, stmt) in block.stmts.iter().enumerate().skip(from) {
                let is_end = self.in_place && at + 1 == block.stmts.len() && places::is_end(block);
                self.order.extend(stmt.outs.iter().filter(|out| !is_end && (self.is_shown)(**out)));
                self.blocks(&stmt.op);
            }
        });
    }

    fn blocks(&mut self, op: &Op) {
        if let Op::While(parts) = op
            && let Some(head) = self.heads.of(parts)
        {
            self.order.extend(&parts.body.params);
            self.order.extend(head.fields().filter(|field| (self.is_shown)(**field)));
            let (body, from) = head.body;
            return self.rest(body, from);
        }
        let rest =
            if let Op::Match { arms, .. } = op { otherwise(arms).filter(|_| self.in_place) } else { None };
        let hidden = |block: &Block| rest.is_some_and(|rest| only_failure(block) == only_failure(rest));
        op.blocks().into_iter().filter(|block| !hidden(block)).for_each(|block| self.block(block));
    }
}

/// The results of operations, and fields of data, of which nothing is made.
pub(super) fn unused(func: &Func) -> FxHashSet<Var> {
    let (mut bound, mut used) = (Vec::new(), FxHashSet::default());
    used.extend(func.body.results.iter().filter_map(Atom::var));
    func.body.for_each_stmt(&mut |stmt| {
        bound.extend(&stmt.outs);
        if let Op::Match { on: _, arms } = &stmt.op {
            bound.extend(arms.iter().flat_map(|arm| &arm.params));
        }
        stmt.op.for_each_atom(&mut |atom| used.extend(atom.var()));
        used.extend(stmt.op.blocks().into_iter().flat_map(|block| &block.results).filter_map(Atom::var));
    });
    bound.retain(|var| !used.contains(var));
    bound.into_iter().collect()
}

/// The message of a block that does nothing but fail.
pub(super) fn only_failure(block: &Block) -> Option<&Atom> {
    match block.stmts.as_slice() {
        [Stmt { op: Op::Fail { message: message @ Atom::Text(_) }, .. }] => Some(message),
        _ => None,
    }
}

/// One of several arms that fail with one message: for people they are shown once, in the end.
pub(super) fn otherwise(arms: &[Block]) -> Option<&Block> {
    let mut seen: Vec<&Atom> = Vec::new();
    arms.iter().find(|arm| {
        only_failure(arm).is_some_and(|message| {
            let again = seen.contains(&message);
            seen.push(message);
            again
        })
    })
}
