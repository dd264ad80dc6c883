//! A branch that gives a truth value, and computes little for it, is a choice between truth values: so is what `&&` and `||` say of
//! integers. Then a derivative need not keep it, and a loop may know it for most of its iterations.
//!
//! ```text
//! c = if p { yield true } else { q = i == m  yield q }       becomes      q = i == m   c = select(p, true, q)
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "cheap operations are named")]

use wengert_ir::op::{ArrayOp, IntOp, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty};

/// Sides with more statements stay.
const MOST: usize = 10;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body);
        func.body = body;
    }
}

fn block(func: &Func, place: &mut Block) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner));
            match chosen(func, stmt) {
                Ok(stmts) => out.extend(stmts),
                Err(stmt) => out.push(stmt),
            }
        }
        place.stmts = out;
    });
}

/// What stands for a branch; or the branch, if it stays.
fn chosen(func: &Func, stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
    let is_truth = matches!(stmt.outs.as_slice(), [out] if func.ty(*out) == Ty::BOOL);
    match stmt {
        Stmt { outs, op: Op::If { cond, then, otherwise }, span }
            if is_truth && is_cheap(func, &then) && is_cheap(func, &otherwise) =>
        {
            let (one, other) = (then.results.first().cloned(), otherwise.results.first().cloned());
            let mut stmts: Vec<Stmt> = then.stmts.into_iter().chain(otherwise.stmts).collect();
            let (Some(then), Some(otherwise)) = (one, other) else { return Ok(stmts) };
            stmts.push(Stmt { outs, op: Op::Select { cond, then, otherwise }, span });
            Ok(stmts)
        }
        stmt => Err(stmt),
    }
}

/// Whether a side does nothing but little with integers and truth values, which cannot fail.
fn is_cheap(func: &Func, side: &Block) -> bool {
    let is_number = |atom: &Atom| matches!(func.type_of(atom), Ty::INT | Ty::BOOL);
    let is_cheap = |stmt: &Stmt| match &stmt.op {
        Op::Copy(x) | Op::Not(x) => is_number(x),
        Op::Compare(_, a, b) => is_number(a) && is_number(b),
        Op::Select { then, otherwise, .. } => is_number(then) && is_number(otherwise),
        Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Neg | IntOp::Min | IntOp::Max, _)
        | Op::Array(ArrayOp::Length(_), _) => true,
        _ => false,
    };
    side.stmts.len() <= MOST && side.stmts.iter().all(is_cheap)
}
