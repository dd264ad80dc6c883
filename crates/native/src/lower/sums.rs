//! Which carried values of a loop are sums: iterations add something to them that does not depend on them.
//!
//! Such iterations need each other only because of the order in which numbers are added. Accumulators are sums by what
//! they are; a carried number is one if its only use is to have something added to it, maybe in branches and inner loops.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed does not add")]

use super::{ArrayPlace, Lower, Operand};
use crate::loops::{Join, Local, Sum};
use wengert_ir::op::{IntOp, Loop, Op};
use wengert_ir::{Atom, Block, Elem, Stmt, Ty, Var};
use wengert_prim::RealOp;

impl Lower<'_> {
    /// What the iterations of a loop add to, if that is all that they have in common.
    pub(super) fn sums(&mut self, parts: &Loop, params: &[Var], locals: &[Local]) -> Vec<Sum> {
        let mut sums = Vec::with_capacity(params.len());
        for (place, (param, local)) in params.iter().zip(locals).enumerate() {
            let end = parts.body.results.get(place);
            let join = match end {
                _ if place >= parts.init.len() => Some(Join::Add),
                Some(end) => JOINS.into_iter().find(|join| Joining(*join).makes(&parts.body, *param, end)),
                None => None,
            };
            let sum = match (self.func.ty(*param), join) {
                (Ty::Scalar(Elem::Real | Elem::Int), Some(join)) => Some(Sum::Word(*local, join)),
                (Ty::Array(Elem::Real, _), Some(Join::Add)) => self.array_sum(*param),
                (Ty::Scalar(_) | Ty::Array(..), _) => None,
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

/// How numbers may be joined one by one.
const JOINS: [Join; 3] = [Join::Add, Join::Max, Join::Min];

/// Looking for numbers that are joined in this way.
#[derive(Clone, Copy)]
struct Joining(Join);

impl Joining {
    /// Whether all that a block does with a number is to join others to it, so that it becomes `end`.
    fn makes(self, block: &Block, start: Var, end: &Atom) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            // What it was before is looked at no more than what it is.
            let (mut current, mut before) = (start, Vec::new());
            for stmt in &block.stmts {
                if before.iter().any(|var| mentions(stmt, *var)) {
                    return false;
                }
                if !mentions(stmt, current) {
                    continue;
                }
                match self.next(stmt, current) {
                    Some(next) => before.push(std::mem::replace(&mut current, next)),
                    None => return false,
                }
            }
            let is_current = |atom: &&Atom| atom.var() == Some(current);
            let given_before =
                block.results.iter().any(|atom| atom.var().is_some_and(|var| before.contains(&var)));
            is_current(&end) && !given_before && block.results.iter().filter(is_current).count() == 1
        })
    }

    /// The number after a statement that joins another one to it.
    fn next(self, stmt: &Stmt, current: Var) -> Option<Var> {
        let is_current = |atom: &Atom| atom.var() == Some(current);
        match &stmt.op {
            Op::Real(RealOp::Sub, args) | Op::Int(IntOp::Sub, args) if self.0 == Join::Add => {
                let [left, right] = args.as_slice() else { return None };
                stmt.outs.first().copied().filter(|_| is_current(left) && !is_current(right))
            }
            Op::Real(RealOp::Add | RealOp::Max | RealOp::Min, args)
            | Op::Int(IntOp::Add | IntOp::Max | IntOp::Min, args) => {
                let once = args.iter().filter(|arg| is_current(arg)).count() == 1;
                stmt.outs.first().copied().filter(|_| once && join(&stmt.op) == Some(self.0))
            }
            Op::If { cond, then, otherwise } => {
                (!is_current(cond)).then(|| self.through(stmt, &[then, otherwise], current)).flatten()
            }
            Op::Match { on, arms } => {
                let arms: Vec<&Block> = arms.iter().collect();
                (!is_current(on)).then(|| self.through(stmt, &arms, current)).flatten()
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
                (!elsewhere && self.makes(&parts.body, param, end)).then_some(*stmt.outs.get(place)?)
            }
            _ => None,
        }
    }

    /// The result of branches each of which ends with the number, others joined to it or not.
    fn through(self, stmt: &Stmt, branches: &[&Block], current: Var) -> Option<Var> {
        let makes = |branch: &Block, place: usize| {
            branch.results.get(place).is_some_and(|end| self.makes(branch, current, end))
        };
        let place = (0..stmt.outs.len()).find(|place| branches.iter().all(|branch| makes(branch, *place)))?;
        stmt.outs.get(place).copied()
    }
}

fn mentions(stmt: &Stmt, var: Var) -> bool {
    let mut found = false;
    stmt.op.for_each_atom(&mut |atom| found |= atom.var() == Some(var));
    found || stmt.op.blocks().into_iter().any(|block| block.free_vars().contains(&var))
}

/// How an operation joins two numbers.
fn join(op: &Op) -> Option<Join> {
    match op {
        Op::Real(RealOp::Add, _) | Op::Int(IntOp::Add, _) => Some(Join::Add),
        Op::Real(RealOp::Max, _) | Op::Int(IntOp::Max, _) => Some(Join::Max),
        Op::Real(RealOp::Min, _) | Op::Int(IntOp::Min, _) => Some(Join::Min),
        _ => None,
    }
}
