//! Arrays of which only the size is wanted need not be made.
//!
//! That its size can be one is required of it:
//!
//! ```text
//! t = iota(n)                        t = max(n, 0)   t2 = min(t, MOST)   require n == t2, count iota
//! s = for i < n, … { … }   becomes   s = for i < n, … { … }
//! ```
//!
//! How often a `while` has gone round is asked of an array that it gives anyway:
//!
//! ```text
//! x, as, bs = while … { … }
//! n = length(as)   s = each i < n, b in bs { … }    becomes    n = length(bs)   s = each i < n, b in bs { … }
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
        let (mut counts, mut rounds) = (false, false);
        func.body.for_each_stmt(&mut |stmt| {
            counts |= name(&stmt.op).is_some();
            rounds |= columns(stmt).len() > 1;
        });
        if counts || rounds {
            let mut body = std::mem::take(&mut func.body);
            let uses = count_uses(&body);
            let instead = others(&body, &uses);
            block(func, &mut body, &uses, &instead);
            func.body = body;
        }
    }
}

/// The arrays that a `while` gives: of its rounds, so that they are equally long.
fn columns(stmt: &Stmt) -> &[Var] {
    let Op::While(parts) = &stmt.op else { return &[] };
    stmt.outs.get(parts.init.len()..).unwrap_or_default()
}

/// Of which arrays to ask for the length, instead of these: of some that somebody wants to see.
fn others(body: &Block, uses: &FxHashMap<Var, usize>) -> FxHashMap<Var, Var> {
    let mut asked: FxHashMap<Var, usize> = FxHashMap::default();
    body.for_each_stmt(&mut |stmt| {
        if let Op::Array(ArrayOp::Length(0), args) = &stmt.op {
            args.iter().filter_map(Atom::var).for_each(|var| *asked.entry(var).or_default() += 1);
        }
    });
    let mut instead: FxHashMap<Var, Var> = FxHashMap::default();
    body.for_each_stmt(&mut |stmt| {
        let columns = columns(stmt);
        let is_seen =
            |var: &&Var| uses.get(*var).copied().unwrap_or(0) > asked.get(*var).copied().unwrap_or(0);
        if let Some(seen) = columns.iter().find(is_seen).or(columns.first()) {
            let others = columns.iter().filter(|var| asked.contains_key(*var));
            instead.extend(others.map(|var| (*var, *seen)));
        }
    });
    instead
}

/// The function whose only demand is on a count that comes first.
fn name(op: &Op) -> Option<&'static str> {
    matches!(op, Op::Array(ArrayOp::Iota, _)).then_some("iota")
}

fn block(func: &mut Func, place: &mut Block, uses: &FxHashMap<Var, usize>, instead: &FxHashMap<Var, Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            for inner in stmt.op.blocks_mut() {
                block(func, inner, uses, instead);
            }
            if let Op::Array(ArrayOp::Length(0), args) = &mut stmt.op
                && let [Atom::Var(array)] = args.as_mut_slice()
            {
                *array = instead.get(array).copied().unwrap_or(*array);
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
