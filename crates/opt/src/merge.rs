//! Two loops over the same indices whose iterations are independent become one, if the second needs nothing of the first but
//! rows at its own index: arrays are gone through once, and rows that both make or use are there.
//!
//! ```text
//! ys = each i < n, x in xs { y = sin(x) yield y }
//! zs = each i < n, x in xs, y in ys { z = x * y yield z }     ys, zs = each i < n, x in xs { y = sin(x) z = x * y yield y, z }
//! ```
//!
//! Failures come in the order of the iterations then, so that only one of the two may have any, and nothing in between.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is no loop is not joined")]

use crate::facts::{is_safe, is_total, total};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Program, Stmt, Var};

/// How many statements after a loop are looked at.
const NEAR: usize = 24;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        block(&mut func.body, &total);
    }
}

fn block(place: &mut Block, total: &FxHashSet<FuncId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut at = 0;
        while at < place.stmts.len() {
            // What was joined may be joined to more.
            match partner(&place.stmts, at, total) {
                Some(second) => {
                    let second = place.stmts.remove(second);
                    if let Some(first) = place.stmts.get_mut(at) {
                        join(first, second);
                    }
                }
                None => at += 1,
            }
        }
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                block(inner, total);
            }
        }
    });
}

/// A loop whose iterations are independent and add to nothing.
fn independent(stmt: &Stmt) -> Option<&Loop> {
    match &stmt.op {
        Op::Loop(parts) if parts.mode == Mode::Each && parts.init.is_empty() && parts.accs.is_empty() => {
            Some(parts)
        }
        _ => None,
    }
}

/// The loop after `at` that can be done together with the one at `at`.
fn partner(stmts: &[Stmt], at: usize, total: &FxHashSet<FuncId>) -> Option<usize> {
    let stmt = stmts.get(at)?;
    let first = independent(stmt)?;
    let first_total = is_total(&first.body, total);
    let mut between: FxHashSet<Var> = FxHashSet::default();
    let mut quiet = true;
    for (place, stmt_there) in stmts.iter().enumerate().skip(at + 1).take(NEAR) {
        if let Some(second) = independent(stmt_there)
            && second.len == first.len
            && (is_total(&second.body, total) || (first_total && quiet))
            && fits(stmt, second, &between)
        {
            return Some(place);
        }
        between.extend(&stmt_there.outs);
        quiet = quiet
            && is_safe(&stmt_there.op, total)
            && stmt_there.op.blocks().into_iter().all(|inner| is_total(inner, total));
    }
    None
}

/// Whether the second loop needs nothing that comes in between, and of the first one only rows.
fn fits(first: &Stmt, second: &Loop, between: &FxHashSet<Var>) -> bool {
    let captured = second.body.free_vars();
    let inputs = second.inputs.iter().filter_map(Atom::var);
    let mut all = inputs.chain(captured.iter().copied()).chain(second.len.var());
    all.all(|var| !between.contains(&var)) && captured.iter().all(|var| !first.outs.contains(var))
}

/// Puts the second loop into the first.
fn join(first: &mut Stmt, second: Stmt) {
    let (Op::Loop(parts), Op::Loop(more)) = (&mut first.op, second.op) else { return };
    let Block { params, stmts, results } = more.body;
    let mut known: FxHashMap<Var, Atom> = FxHashMap::default();
    if let (Some(old), Some(new)) = (params.first(), parts.body.params.first()) {
        known.insert(*old, Atom::Var(*new));
    }
    for (param, input) in params.iter().skip(1).zip(more.inputs) {
        let made = first.outs.iter().position(|out| input.var() == Some(*out));
        let there = parts.inputs.iter().position(|other| *other == input);
        if let Some(result) = made.and_then(|place| parts.body.results.get(place)) {
            known.insert(*param, result.clone());
        } else if let Some(row) = there.and_then(|place| parts.body.params.get(place + 1)) {
            known.insert(*param, Atom::Var(*row));
        } else {
            parts.inputs.push(input);
            parts.body.params.push(*param);
        }
    }
    let mut rest = Block { params: Vec::new(), stmts, results };
    rest.for_each_atom_mut(&mut |atom| {
        if let Some(better) = atom.var().and_then(|var| known.get(&var)) {
            *atom = better.clone();
        }
    });
    parts.body.stmts.extend(rest.stmts);
    parts.body.results.extend(rest.results);
    first.outs.extend(second.outs);
}
