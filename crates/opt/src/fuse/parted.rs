//! A loop that makes arrays for several loops, without much that they share, is one loop for each.
//!
//! ```text
//! as, bs = each i < n, x in xs, y in ys {            as = each i < n, y in ys { a = mul_zero(t, y) yield a }
//!   a = mul_zero(t, y)                               bs = each i < n, x in xs { b = mul_zero(t, x) yield b }
//!   b = mul_zero(t, x)                    becomes
//!   yield a, b
//! }
//! us = for i < n, us += us0, a in as { … }           us = for i < n, us += us0, a in as { … }
//! vs = for i < n, vs += vs0, b in bs { … }           vs = for i < n, vs += vs0, b in bs { … }
//! ```
//!
//! Each then becomes part of the loop for which it makes the array. So it is in derivatives of products of parts of arrays, which are added to
//! one array after the other. What stays apart is joined again by `merge`.

use super::Fuse;
use rustc_hash::FxHashSet;
use wengert_ir::build::Copier;
use wengert_ir::op::{Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};
use wengert_prim::RealOp;

/// So many cheap operations may be done in both loops.
const SHARED: usize = 2;

/// Parts the loops of a block. Whether there were any: then what they read is used more often than before.
pub(super) fn run(fuse: &Fuse<'_>, func: &mut Func, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let (mut at, mut changed) = (0, false);
        while let Some(stmt) = place.stmts.get_mut(at) {
            for inner in stmt.op.blocks_mut() {
                changed |= run(fuse, func, inner);
            }
            while let Some(apart) = parted(fuse, &place.stmts, at)
                && let Some(other) = place.stmts.get_mut(at).and_then(|stmt| take(func, stmt, &apart))
            {
                place.stmts.insert(at + 1, other);
                changed = true;
            }
            at += 1;
        }
        changed
    })
}

/// The places of outputs of the loop at `at` that are made for one loop alone, if others are made for another one.
fn parted(fuse: &Fuse<'_>, stmts: &[Stmt], at: usize) -> Option<Vec<usize>> {
    let Stmt { outs, op: Op::Loop(made), .. } = stmts.get(at)? else { return None };
    let alone = made.mode == Mode::Each && made.accs.is_empty() && made.init.is_empty() && outs.len() > 1;
    if !alone || !fuse.quiet.block(&made.body) {
        return None;
    }
    let takes = |stmt: &Stmt, out: Var| match &stmt.op {
        Op::Loop(parts) => {
            let wanted = parts.mode != Mode::Reduce && parts.len == made.len;
            wanted && parts.inputs.contains(&Atom::Var(out))
        }
        _ => false,
    };
    let user = |out: &Var| {
        let once = fuse.uses.get(out) == Some(&1);
        once.then(|| stmts.iter().skip(at + 1).position(|stmt| takes(stmt, *out)))?
    };
    let users: Vec<Option<usize>> = outs.iter().map(user).collect();
    let (mine, others): (Vec<usize>, Vec<usize>) = {
        let first = users.iter().flatten().next().copied()?;
        (0..outs.len()).partition(|place| users.get(*place) == Some(&Some(first)))
    };
    (!others.is_empty() && share_little(&made.body, &mine, &others)).then_some(mine)
}

/// Whether what some results of a body need and what the others need have little in common.
fn share_little(body: &Block, some: &[usize], others: &[usize]) -> bool {
    let (some, others) = (needed(body, some), needed(body, others));
    let shared = |stmt: &&Stmt| {
        stmt.outs.iter().any(|out| some.contains(out)) && stmt.outs.iter().any(|out| others.contains(out))
    };
    let is_cheap = |stmt: &Stmt| match &stmt.op {
        Op::Real(op, _) => {
            matches!(op, RealOp::Add | RealOp::Sub | RealOp::Neg | RealOp::Mul | RealOp::MulZero)
        }
        _ => false,
    };
    let both: Vec<&Stmt> = body.stmts.iter().filter(shared).collect();
    both.len() <= SHARED && both.into_iter().all(is_cheap)
}

/// The variables that some results of a body are computed of.
fn needed(body: &Block, results: &[usize]) -> FxHashSet<Var> {
    let results = results.iter().filter_map(|place| body.results.get(*place));
    let mut needed: FxHashSet<Var> = results.filter_map(Atom::var).collect();
    for stmt in body.stmts.iter().rev() {
        if stmt.outs.iter().any(|out| needed.contains(out)) {
            needed.extend(crate::walk::mentioned(&stmt.op));
        }
    }
    needed
}

/// Takes outputs out of a loop, and gives the loop that makes them.
fn take(func: &mut Func, stmt: &mut Stmt, apart: &[usize]) -> Option<Stmt> {
    let mut op = Copier::within().op(func, &stmt.op);
    let (Op::Loop(parts), Op::Loop(taken)) = (&mut stmt.op, &mut op) else { return None };
    let stays: Vec<bool> = (0..stmt.outs.len()).map(|place| !apart.contains(&place)).collect();
    let outs = split(&mut stmt.outs, &stays);
    split(&mut parts.body.results, &stays);
    taken.body.results = split(&mut taken.body.results, &stays);
    for parts in [parts, taken] {
        without_unneeded(parts);
    }
    Some(Stmt { outs, op, span: stmt.span })
}

/// Takes out what does not stay.
fn split<T>(items: &mut Vec<T>, stays: &[bool]) -> Vec<T> {
    let (kept, taken): (Vec<_>, Vec<_>) =
        std::mem::take(items).into_iter().zip(stays).partition(|(_, stays)| **stays);
    *items = kept.into_iter().map(|(item, _)| item).collect();
    taken.into_iter().map(|(item, _)| item).collect()
}

/// Drops what a loop computes for none of its results; nothing of it fails.
fn without_unneeded(parts: &mut Loop) {
    let all: Vec<usize> = (0..parts.body.results.len()).collect();
    let needed = needed(&parts.body, &all);
    parts.body.stmts.retain(|stmt| stmt.outs.iter().any(|out| needed.contains(out)));
    let index = parts.body.params.first().copied();
    let wanted = |param: &Var| Some(*param) == index || needed.contains(param);
    let used: Vec<bool> = parts.body.params.iter().map(wanted).collect();
    split(&mut parts.body.params, &used);
    split(&mut parts.inputs, used.get(1..).unwrap_or_default());
}
