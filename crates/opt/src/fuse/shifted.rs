//! A loop that makes arrays for another one, which reads each of them at one place that is not its own index, becomes part of it, too.
//!
//! ```text
//! ys = each i < n, x in xs { y = x * x yield y }          zs = each k < m {
//! zs = each k < m {                                         j = k + 1
//!   j = k + 1                                  becomes      x = xs[j]  y = x * x
//!   y = ys[j]                                               z = y + 1.0
//!   z = y + 1.0 yield z }                                   yield z }
//! ```
//!
//! All that is read there must be known to be there. So it is where only a part of the iterations is wanted, as in sums over pairs.

use super::Fuse;
use crate::walk::Names;
use rustc_hash::FxHashSet;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};

/// Joins the loops of a block. Whether there were any.
pub(super) fn run(fuse: &Fuse<'_>, func: &mut Func, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let (mut at, mut changed) = (0, false);
        while let Some(stmt) = place.stmts.get_mut(at) {
            for inner in stmt.op.blocks_mut() {
                changed |= run(fuse, func, inner);
            }
            match reader(fuse, func, &place.stmts, at) {
                Some((user, index)) => {
                    let made = place.stmts.remove(at);
                    if let Some(stmt) = place.stmts.get_mut(user - 1) {
                        join(func, &made, stmt, index);
                    }
                    changed = true;
                }
                None => at += 1,
            }
        }
        changed
    })
}

/// The loop that reads all that the one at `at` makes, and at which place it does so.
fn reader(fuse: &Fuse<'_>, func: &Func, stmts: &[Stmt], at: usize) -> Option<(usize, Var)> {
    let Stmt { outs, op: Op::Loop(made), .. } = stmts.get(at)? else { return None };
    let numbers = made.body.results.iter().all(|result| func.type_of(result).rank() == 0);
    let alone = made.mode == Mode::Each && made.accs.is_empty() && made.init.is_empty() && numbers;
    if !alone || outs.is_empty() || !fuse.quiet.block(&made.body) {
        return None;
    }
    let all: usize = outs.iter().filter_map(|out| fuse.uses.get(out)).sum();
    let mine: FxHashSet<Var> = outs.iter().copied().collect();
    let (user, parts) = stmts.iter().enumerate().skip(at + 1).find_map(|(user, stmt)| match &stmt.op {
        Op::Loop(parts) if parts.mode != Mode::Reduce => {
            parts.body.stmts.iter().any(|stmt| read(stmt, &mine).is_some()).then_some((user, parts))
        }
        _ => None,
    })?;
    let reads: Vec<(Var, Var)> = parts.body.stmts.iter().filter_map(|stmt| read(stmt, &mine)).collect();
    let (_, index) = *reads.first()?;
    let there = |(out, place): &(Var, Var)| *place == index && fuse.quiet.inside.contains(out);
    // With its own index it goes through rows.
    let shifted = parts.body.params.first() != Some(&index);
    (shifted && reads.len() == all && reads.iter().all(there)).then_some((user, index))
}

/// What is read of these arrays, and where.
fn read(stmt: &Stmt, arrays: &FxHashSet<Var>) -> Option<(Var, Var)> {
    let (Op::Array(ArrayOp::Index, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return None };
    let [array, place] = args.as_slice() else { return None };
    arrays.contains(&array.var()?).then_some((*out, place.var()?))
}

/// Puts what makes the elements where the first of them is read.
fn join(func: &mut Func, made: &Stmt, stmt: &mut Stmt, index: Var) {
    let (Op::Loop(making), Op::Loop(parts)) = (&made.op, &mut stmt.op) else { return };
    let mine: FxHashSet<Var> = made.outs.iter().copied().collect();
    let mut names = Names::default();
    let mut results: Option<Vec<Atom>> = None;
    let mut out = Vec::with_capacity(parts.body.stmts.len() + making.body.stmts.len());
    for mut stmt in std::mem::take(&mut parts.body.stmts) {
        if let Some((element, _)) = read(&stmt, &mine) {
            let results = results.get_or_insert_with(|| {
                let mut copier = Copier::within();
                let (own, rows) = making.body.params.split_at(1);
                own.iter().for_each(|own| copier.set(*own, Atom::Var(index)));
                for (row, input) in rows.iter().zip(&making.inputs) {
                    let row = copier.bind(func, *row);
                    let op = Op::Array(ArrayOp::Index, vec![input.clone(), Atom::Var(index)]);
                    out.push(Stmt { outs: vec![row], op, span: made.span });
                }
                out.extend(making.body.stmts.iter().map(|stmt| copier.stmt(func, stmt)).collect::<Vec<_>>());
                making.body.results.iter().map(|result| copier.atom(result)).collect()
            });
            let array = match &stmt.op {
                Op::Array(_, args) => args.first().and_then(Atom::var),
                _ => None,
            };
            let place = made.outs.iter().position(|out| Some(*out) == array);
            if let Some(result) = place.and_then(|place| results.get(place)) {
                names.set(element, result.clone());
            }
            continue;
        }
        names.replace_in(&mut stmt.op);
        stmt.op.blocks_mut().into_iter().for_each(|inner| names.replace_inside(inner));
        out.push(stmt);
    }
    parts.body.stmts = out;
    parts.body.results.iter_mut().for_each(|result| names.replace(result));
}
