//! Short loops in loops are their iterations: once, before derivatives are made.
//!
//! ```text
//! ys = each i < n {                                        ys = each i < n {
//!   s = for k < 2, t = 0.0 {                                 j0 = i + 0   x0 = xs[j0]   t0 = 0.0 + x0
//!     j = i + k   x = xs[j]   t2 = t + x        becomes      j1 = i + 1   x1 = xs[j1]   t1 = t0 + x1
//!     yield t2 }                                             yield t1 }
//!   yield s }
//! ```
//!
//! What an iteration of the loop around reads and adds is then seen: filters and small vectors, written as sums over a few places, are what they
//! are written out. Short arrays are there for such loops alone; where one goes elsewhere, the loop that makes it stays.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed is no loop, and may ask for anything"
)]

use crate::unroll::{is_of_most, iterations};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// So many iterations at most, the neighbors of a cell, and it; and so many statements in all of them together.
const ITERATIONS: i64 = 9;
const STATEMENTS: usize = 160;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        changed |= block(func, &mut body, false);
        func.body = body;
    }
    changed
}

fn block(func: &mut Func, place: &mut Block, is_in_loop: bool) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for stmt in &mut place.stmts {
            let is_loop = matches!(stmt.op, Op::Loop(_) | Op::While(_));
            for inner in stmt.op.blocks_mut() {
                changed |= block(func, inner, is_in_loop || is_loop);
            }
        }
        if !is_in_loop {
            return changed;
        }
        let chosen = chosen(func, place);
        if chosen.is_empty() {
            return changed;
        }
        let mut out = Vec::with_capacity(place.stmts.len());
        for (at, stmt) in std::mem::take(&mut place.stmts).into_iter().enumerate() {
            match &stmt.op {
                Op::Loop(parts) if chosen.contains(&at) => iterations(func, parts, &stmt, &mut out),
                _ => out.push(stmt),
            }
        }
        place.stmts = out;
        true
    })
}

/// Which statements are such loops: those that are short, less those that make arrays for others.
fn chosen(func: &Func, place: &Block) -> FxHashSet<usize> {
    let short = |(at, stmt): (usize, &Stmt)| match &stmt.op {
        Op::Loop(parts) if is_short(func, parts) => Some(at),
        _ => None,
    };
    let mut chosen: FxHashSet<usize> = place.stmts.iter().enumerate().filter_map(short).collect();
    loop {
        let made = place.stmts.iter().enumerate().filter(|(at, _)| chosen.contains(at));
        let arrays = made.flat_map(|(at, stmt)| stmt.outs.iter().map(move |out| (*out, at)));
        let arrays: FxHashMap<Var, usize> = arrays.filter(|(out, _)| func.ty(*out).rank() > 0).collect();
        let gone = escaping(place, &arrays, &chosen);
        if gone.is_empty() {
            return chosen;
        }
        chosen.retain(|at| !gone.contains(at));
    }
}

/// A short loop whose carried values and rows are numbers, and in which there is no other loop.
pub(crate) fn is_short(func: &Func, parts: &Loop) -> bool {
    let is_number = |atom: &Atom| matches!(func.type_of(atom), Ty::Scalar(_));
    let numbers = parts.init.iter().chain(&parts.body.results).all(is_number);
    let loops = |stmt: &Stmt| matches!(stmt.op, Op::Loop(_) | Op::While(_) | Op::Call { .. });
    parts.accs.is_empty()
        && numbers
        && parts.body.all_stmts(&mut |stmt| !loops(stmt))
        && is_of_most(func, parts, (ITERATIONS, STATEMENTS))
}

/// The loops that make arrays of which more is asked than elements at places that are known once all is unrolled.
fn escaping(place: &Block, arrays: &FxHashMap<Var, usize>, chosen: &FxHashSet<usize>) -> FxHashSet<usize> {
    let mut gone = FxHashSet::default();
    if arrays.is_empty() {
        return gone;
    }
    let made_by = |atom: &Atom| atom.var().and_then(|var| arrays.get(&var)).copied();
    gone.extend(place.results.iter().filter_map(made_by));
    for (at, stmt) in place.stmts.iter().enumerate() {
        match &stmt.op {
            Op::Array(ArrayOp::Length(_), _) => {}
            Op::Array(ArrayOp::Index, args) if is_known(args.get(1..), &[]) => {}
            Op::Loop(parts) if chosen.contains(&at) => {
                let index: Vec<Var> = parts.body.params.first().copied().into_iter().collect();
                parts.body.for_each_stmt(&mut |inner| match &inner.op {
                    Op::Array(ArrayOp::Length(_), _) => {}
                    Op::Array(ArrayOp::Index, args) if is_known(args.get(1..), &index) => {}
                    op => {
                        gone.extend(op.operand_vars().iter().filter_map(|var| arrays.get(var)));
                        let given = op.blocks().into_iter().flat_map(|block| &block.results);
                        gone.extend(given.filter_map(made_by));
                    }
                });
            }
            op => {
                gone.extend(op.operand_vars().iter().filter_map(|var| arrays.get(var)));
                let inner = op.blocks().into_iter().flat_map(Block::free_vars);
                gone.extend(inner.filter_map(|var| arrays.get(&var)));
            }
        }
    }
    gone
}

/// Whether these are numbers, or the index of a loop that is unrolled.
fn is_known(places: Option<&[Atom]>, index: &[Var]) -> bool {
    let known = |place: &Atom| match place {
        Atom::Int(_) => true,
        place => place.var().is_some_and(|var| index.contains(&var)),
    };
    places.is_some_and(|places| places.iter().all(known))
}
