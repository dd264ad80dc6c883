//! Which carried values of a loop are sums: iterations add something to them that does not depend on them.
//!
//! Such iterations need each other only because of the order in which numbers are added. Accumulators are sums by what
//! they are; a carried number is one if its only use is to have something added to it, maybe in branches and inner loops.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed does not add")]

use super::{ArrayPlace, Lower, Operand};
use crate::loops::{Local, Sum};
use wengert_ir::op::{IntOp, Loop, Op};
use wengert_ir::{Atom, Block, Elem, Stmt, Ty, Var};
use wengert_prim::RealOp;

impl Lower<'_> {
    /// What the iterations of a loop add to, if that is all that they have in common.
    pub(super) fn sums(&mut self, parts: &Loop, params: &[Var], locals: &[Local]) -> Vec<Sum> {
        let mut sums = Vec::with_capacity(params.len());
        for (place, (param, local)) in params.iter().zip(locals).enumerate() {
            let end = parts.body.results.get(place);
            let added = place >= parts.init.len() || end.is_some_and(|end| adds(&parts.body, *param, end));
            let sum = match self.func.ty(*param) {
                Ty::Scalar(Elem::Real | Elem::Int) if added => Some(Sum::Word(*local)),
                Ty::Array(Elem::Real, _) if added => self.array_sum(*param),
                Ty::Scalar(_) | Ty::Array(..) => None,
            };
            let Some(sum) = sum else { return Vec::new() };
            sums.push(sum);
        }
        sums
    }

    /// An accumulator that is updated in place.
    fn array_sum(&mut self, param: Var) -> Option<Sum> {
        let ArrayPlace { object, first, dims, .. } = self.stable_place(param)?;
        let Operand::Local(first) = first else { return None };
        let size = self.product(Some(&dims));
        Some(Sum::Array { object, first, size })
    }
}

/// Whether all that a block does with a number is to add to it, so that it becomes `end`.
fn adds(block: &Block, start: Var, end: &Atom) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut current = start;
        for stmt in &block.stmts {
            if !mentions(stmt, current) {
                continue;
            }
            match added(stmt, current) {
                Some(next) => current = next,
                None => return false,
            }
        }
        let is_current = |atom: &&Atom| atom.var() == Some(current);
        is_current(&end) && block.results.iter().filter(is_current).count() == 1
    })
}

fn mentions(stmt: &Stmt, var: Var) -> bool {
    let mut found = false;
    stmt.op.for_each_atom(&mut |atom| found |= atom.var() == Some(var));
    found || stmt.op.blocks().into_iter().any(|block| block.free_vars().contains(&var))
}

/// The number after a statement that adds to it.
fn added(stmt: &Stmt, current: Var) -> Option<Var> {
    let is_current = |atom: &Atom| atom.var() == Some(current);
    match &stmt.op {
        Op::Real(RealOp::Add, args) | Op::Int(IntOp::Add, args) => {
            let once = args.iter().filter(|arg| is_current(arg)).count() == 1;
            stmt.outs.first().copied().filter(|_| once)
        }
        Op::Real(RealOp::Sub, args) | Op::Int(IntOp::Sub, args) => {
            let [left, right] = args.as_slice() else { return None };
            stmt.outs.first().copied().filter(|_| is_current(left) && !is_current(right))
        }
        Op::If { cond, then, otherwise } => {
            (!is_current(cond)).then(|| through(stmt, &[then, otherwise], current)).flatten()
        }
        Op::Match { on, arms } => {
            let arms: Vec<&Block> = arms.iter().collect();
            (!is_current(on)).then(|| through(stmt, &arms, current)).flatten()
        }
        Op::Loop(parts) => {
            let carried: Vec<&Atom> = parts.init.iter().chain(&parts.accs).collect();
            let mut places =
                (0..carried.len()).filter(|place| carried.get(*place).is_some_and(|a| is_current(a)));
            let place = places.next()?;
            let elsewhere = places.next().is_some()
                || is_current(&parts.len)
                || parts.inputs.iter().any(is_current)
                || parts.body.free_vars().contains(&current);
            let (param, end) = (*parts.body.params.get(place + 1)?, parts.body.results.get(place)?);
            (!elsewhere && adds(&parts.body, param, end)).then_some(*stmt.outs.get(place)?)
        }
        _ => None,
    }
}

/// The result of branches each of which ends with the number or a sum of it and something.
fn through(stmt: &Stmt, branches: &[&Block], current: Var) -> Option<Var> {
    let place = (0..stmt.outs.len()).find(|place| {
        branches.iter().all(|branch| branch.results.get(*place).is_some_and(|end| adds(branch, current, end)))
    })?;
    stmt.outs.get(place).copied()
}
