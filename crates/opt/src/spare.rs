//! What an array is made for that nobody looks at: that its size can be one. Only that is required of it, and it is not made.
//!
//! ```text
//! t = iota(n)                        t = max(n, 0)   t2 = min(t, MOST)   require n == t2, count iota
//! s = for i < n, … { … }   becomes   s = for i < n, … { … }
//! ```

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, IntOp, Op, Requirement};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, MOST_ELEMENTS, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut some = false;
        func.body.for_each_stmt(&mut |stmt| some |= name(&stmt.op).is_some());
        if some {
            let mut body = std::mem::take(&mut func.body);
            let uses = count_uses(&body);
            block(func, &mut body, &uses);
            func.body = body;
        }
    }
}

/// The function whose only demand is on a count that comes first.
fn name(op: &Op) -> Option<&'static str> {
    matches!(op, Op::Array(ArrayOp::Iota, _)).then_some("iota")
}

fn block(func: &mut Func, place: &mut Block, uses: &FxHashMap<Var, usize>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            for inner in stmt.op.blocks_mut() {
                block(func, inner, uses);
            }
            let unused = stmt.outs.iter().all(|made| !uses.contains_key(made));
            match (name(&stmt.op), stmt.op.operand_vars().first()) {
                (Some(function), Some(count)) if unused => require(func, function, *count, &stmt, &mut out),
                _ => out.push(stmt),
            }
        }
        place.stmts = out;
    });
}

/// Fails as the function does: if so many elements cannot be.
fn require(func: &mut Func, function: &str, count: Var, stmt: &Stmt, out: &mut Vec<Stmt>) {
    let mut int = |op, a, b| {
        let var = func.vars.push(VarInfo { name: Name::new("t"), ty: Ty::INT });
        out.push(Stmt {
            outs: vec![var],
            op: Op::Int(op, vec![Atom::Var(a), Atom::Int(b)]),
            span: stmt.span,
        });
        var
    };
    let not_negative = int(IntOp::Max, count, 0);
    let nearest = int(IntOp::Min, not_negative, MOST_ELEMENTS);
    let op = Op::Require {
        what: Requirement::Count(Name::new(function)),
        left: Atom::Var(count),
        right: Atom::Var(nearest),
    };
    out.push(Stmt { outs: Vec::new(), op, span: stmt.span });
}
