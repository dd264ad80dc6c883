//! A loop that only asks for what is the same in each iteration asks for it once, if it runs at all.
//!
//! ```text
//! each i < n { require a == b  x = xs[0] }          becomes          c = n > 0   if c { require a == b  x = xs[0] }
//! ```
//!
//! This is done in the end: as long as it is a loop, what holds in it is known in other loops that run as often.

use rustc_hash::FxHashSet;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Loop, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body);
        func.body = body;
    }
}

fn block(func: &mut Func, place: &mut Block) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner));
            if let Op::Loop(parts) = &mut stmt.op
                && stmt.outs.is_empty()
                && only_checks(parts)
            {
                let cond = func.fresh(Name::new("c"), Ty::BOOL);
                let some = Op::Compare(Compare::Gt, parts.len.clone(), Atom::Int(0));
                out.push(Stmt { outs: vec![cond], op: some, span: stmt.span });
                let then = Block { stmts: std::mem::take(&mut parts.body.stmts), ..Block::default() };
                stmt.op = Op::If { cond: Atom::Var(cond), then, otherwise: Block::default() };
            }
            out.push(stmt);
        }
        place.stmts = out;
    });
}

/// Whether a loop does nothing but what may fail, and nothing in it changes.
fn only_checks(parts: &Loop) -> bool {
    let changing: FxHashSet<Var> = parts.body.params.iter().copied().collect();
    let asks = |op: &Op| {
        matches!(op, Op::Require { .. } | Op::Array(ArrayOp::Index | ArrayOp::Length(_), _) | Op::Int(..))
    };
    let fixed =
        |stmt: &Stmt| asks(&stmt.op) && stmt.op.operand_vars().iter().all(|var| !changing.contains(var));
    parts.body.stmts.iter().all(fixed)
}
