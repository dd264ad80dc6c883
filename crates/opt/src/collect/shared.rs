//! Which arrays the iterations of a loop around share: its accumulators, and what they are once something is added. They may only be added
//! to, so a loop that reads what was there before cannot stand for one that adds to them.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed has no blocks")]

use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Loop, Op, While};
use wengert_ir::{Atom, Block, Stmt, Var};

/// The arrays that are shared somewhere in the block. Where it is not known, an array is taken to be one.
pub(super) fn shared(block: &Block) -> FxHashSet<Var> {
    let mut walk = Walk(FxHashSet::default());
    walk.block(block);
    walk.0
}

struct Walk(FxHashSet<Var>);

impl Walk {
    fn is_shared(&self, atom: &Atom) -> bool {
        atom.var().is_some_and(|var| self.0.contains(&var))
    }

    fn block(&mut self, block: &Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            block.stmts.iter().for_each(|stmt| self.stmt(stmt));
        });
    }

    /// What a loop begins with is shared inside and after it, if it is shared before.
    fn carried<'a>(&mut self, from: impl Iterator<Item = &'a Atom>, inside: &[Var], outs: &[Var]) {
        for (at, from) in from.enumerate() {
            if self.is_shared(from) {
                self.0.extend(inside.get(at).into_iter().chain(outs.get(at)));
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.op {
            Op::Loop(parts) => {
                let Loop { init, accs, body, .. } = &**parts;
                let inside = body.params.get(1..).unwrap_or_default();
                self.0.extend(inside.iter().skip(init.len()).take(accs.len()));
                self.carried(init.iter().chain(accs), inside, &stmt.outs);
                self.block(body);
            }
            Op::While(parts) => {
                let While { init, cond, body } = &**parts;
                self.carried(init.iter(), &cond.params, &stmt.outs);
                self.carried(init.iter(), &body.params, &stmt.outs);
                self.block(cond);
                self.block(body);
            }
            Op::If { .. } | Op::Match { .. } => {
                stmt.op.blocks().into_iter().for_each(|block| self.block(block));
                for (at, out) in stmt.outs.iter().enumerate() {
                    let given =
                        |block: &&Block| block.results.get(at).is_some_and(|atom| self.is_shared(atom));
                    if stmt.op.blocks().iter().any(given) {
                        self.0.insert(*out);
                    }
                }
            }
            Op::Array(ArrayOp::Zeros | ArrayOp::Length(_), _) => {}
            _ => {
                if stmt.op.operand_vars().iter().any(|var| self.0.contains(var)) {
                    self.0.extend(&stmt.outs);
                }
            }
        }
    }
}
