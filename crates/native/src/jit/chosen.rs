//! Branches in loops that do little with integers: both sides are done, and then one is taken, as what an integer of a loop says is mostly
//! not to be foreseen, and a branch that was not takes longer than some sums.
//!
//! ```text
//! if odd { x = 3·x + 1 } else { x = x / 2 }
//! ```

use super::body::Body;
use crate::loops::{Func, Int, Local, Operand, Stmt, Value as Expr, Word};
use cranelift_codegen::ir::{InstBuilder, Value};

/// So much may be done on both sides together, in sums.
const LITTLE: u32 = 5;

/// A branch done so, if it is one of those.
pub(super) fn both(body: &mut Body<'_, '_, '_>, cond: Operand, then: &[Stmt], otherwise: &[Stmt]) -> bool {
    let little = cost(body.func, then)
        .zip(cost(body.func, otherwise))
        .is_some_and(|(a, b)| (1..=LITTLE).contains(&(a + b)));
    if body.loops() == 0 || !little {
        return false;
    }
    let mut assigned: Vec<Local> = Vec::new();
    for stmt in then.iter().chain(otherwise) {
        if let Stmt::Set(local, _) = stmt
            && !body.steady.once(*local)
            && !assigned.contains(local)
        {
            assigned.push(*local);
        }
    }
    let flag = body.operand(cond);
    let before = values(body, &assigned);
    then.iter().for_each(|stmt| body.stmt(stmt));
    let yes = values(body, &assigned);
    assigned.iter().zip(before).for_each(|(local, value)| body.assign(*local, value));
    otherwise.iter().for_each(|stmt| body.stmt(stmt));
    let no = values(body, &assigned);
    for (local, (yes, no)) in assigned.iter().zip(yes.into_iter().zip(no)) {
        let value = body.builder.ins().select(flag, yes, no);
        body.assign(*local, value);
    }
    true
}

fn values(body: &mut Body<'_, '_, '_>, locals: &[Local]) -> Vec<Value> {
    locals.iter().map(|local| body.read(*local)).collect()
}

/// What statements cost that do nothing but arithmetic on integers, which cannot fail.
fn cost(func: &Func, stmts: &[Stmt]) -> Option<u32> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Set(local, value) if func.locals.get(*local) == Some(&Word::Int) => match value {
            Expr::Copy(_) => Some(0),
            Expr::Int(Int::Div | Int::Rem, _, Operand::Int(n)) => {
                (n.unsigned_abs().is_power_of_two() && *n > 0).then_some(2)
            }
            Expr::Int(Int::Div | Int::Rem, ..) => None,
            Expr::Int(..) | Expr::CompareInt(..) | Expr::OutOfRange(..) | Expr::Select(..) => Some(1),
            Expr::Real(..)
            | Expr::CompareReal(..)
            | Expr::IntToReal(_)
            | Expr::RealToInt(_)
            | Expr::Round(..)
            | Expr::Bits(_)
            | Expr::Load { .. }
            | Expr::Address { .. }
            | Expr::Tag(..)
            | Expr::Unique(..)
            | Expr::Alloc(..) => None,
        },
        Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => None,
    };
    stmts.iter().map(one).sum()
}
