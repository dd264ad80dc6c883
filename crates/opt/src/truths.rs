//! A branch that gives truth values, and computes little for them, is a choice between truth values: so is what `&&` and `||` say of
//! numbers. So it is with one that gives integers, if it takes next to nothing. Then a derivative need not keep them, and a loop may know
//! them for most of its iterations.
//!
//! ```text
//! c = if p { yield true } else { q = i == m  yield q }       becomes      q = i == m   c = select(p, true, q)
//! l = if p { yield k } else { j = i - 1  yield j }           becomes      j = i - 1    l = select(p, k, j)
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "cheap operations are named")]

use crate::choices::chosen as both;
use wengert_ir::op::{ArrayOp, IntOp, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// Sides with more statements stay.
const MOST: usize = 10;
/// The same where an integer comes out.
const FEW: usize = 2;

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
    let Op::If { then, otherwise, .. } = &stmt.op else { return Err(stmt) };
    let is = |ty: Ty| move |out: &Var| func.ty(*out) == ty;
    let most = if stmt.outs.iter().all(is(Ty::BOOL)) { MOST } else { FEW };
    let fine = |side: &Block| side.results.len() == stmt.outs.len() && is_cheap(func, side, most);
    let numbers = stmt.outs.iter().all(|out| is(Ty::BOOL)(out) || is(Ty::INT)(out));
    if stmt.outs.is_empty() || !numbers || !fine(then) || !fine(otherwise) {
        return Err(stmt);
    }
    Ok(both(stmt))
}

/// Whether a side does nothing but little with integers and truth values, and compares reals, which cannot fail.
fn is_cheap(func: &Func, side: &Block, most: usize) -> bool {
    let is_number = |atom: &Atom| matches!(func.type_of(atom), Ty::INT | Ty::BOOL);
    let is_cheap = |stmt: &Stmt| match &stmt.op {
        Op::Copy(x) | Op::Not(x) => is_number(x),
        Op::Compare(_, a, b) => [a, b].into_iter().all(|x| is_number(x) || func.type_of(x) == Ty::REAL),
        Op::Select { then, otherwise, .. } => is_number(then) && is_number(otherwise),
        Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Neg | IntOp::Min | IntOp::Max, _)
        | Op::Array(ArrayOp::Length(_), _) => true,
        _ => false,
    };
    side.stmts.len() <= most && side.stmts.iter().all(is_cheap)
}
