//! How a loop is written before it is turned inside out.
//!
//! ```text
//! each i < n, row in rows {                       each i < n {
//!   m = for j < k { x = row[0]  … }                 x = rows[i, 0]
//!   some = k > 0                       becomes      m = for j < k { … }            // if k > 0
//!   y = if some { yield m } else { fail }           y = m
//!   yield y }                                       yield y }
//! ```
//!
//! Rows of which only elements are read are these elements, read where they do not change any more. Of a branch that goes the same way in all
//! iterations one side is taken, if that makes nothing: what is to hold for that is asked before.

use super::plan;
use crate::collect::facts::Facts;
use crate::linear::Linear;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Compare, Loop, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};

/// A loop written so, and what must not be negative for it to be the same and to pay.
pub(super) fn smoothed(func: &Func, facts: &Facts<'_>, stmt: &Stmt) -> Option<(Stmt, Vec<Linear>)> {
    let Op::Loop(parts) = &stmt.op else { return None };
    let (mut parts, mut asked) = (parts.clone(), Vec::new());
    for stmt in std::mem::take(&mut parts.body.stmts) {
        match sure(facts, &stmt) {
            Some((results, forms)) => {
                asked.extend(forms);
                let copies = stmt.outs.iter().zip(results).map(|(out, result)| Stmt {
                    outs: vec![*out],
                    op: Op::Copy(result.clone()),
                    span: stmt.span,
                });
                parts.body.stmts.extend(copies);
            }
            None => parts.body.stmts.push(stmt),
        }
    }
    let read = elements(func, &mut parts);
    lift(&mut parts.body, &read);
    if !read.is_empty() {
        asked.push(facts.value(&parts.len)?.minus(&Linear::constant(plan::LONG)));
    }
    Some((Stmt { outs: stmt.outs.clone(), op: Op::Loop(parts), span: stmt.span }, asked))
}

/// Whether one side of a branch makes nothing.
pub(super) fn has_side(stmt: &Stmt) -> bool {
    matches!(&stmt.op, Op::If { then, otherwise, .. } if then.stmts.is_empty() || otherwise.stmts.is_empty())
}

/// What a branch gives if it goes to the side that makes nothing, and what must not be negative for that.
fn sure<'s>(facts: &Facts<'_>, stmt: &'s Stmt) -> Option<(&'s [Atom], Vec<Linear>)> {
    let Op::If { cond, then, otherwise } = &stmt.op else { return None };
    let (side, holds) = if then.stmts.is_empty() { (then, true) } else { (otherwise, false) };
    side.stmts.is_empty().then_some(())?;
    let one = Linear::constant(1);
    let forms = facts.said(cond, holds)?.into_iter().map(|(compare, a, b)| match compare {
        Compare::Gt => Some(a.minus(&b).minus(&one)),
        Compare::Ge => Some(a.minus(&b)),
        Compare::Lt => Some(b.minus(&a).minus(&one)),
        Compare::Le => Some(b.minus(&a)),
        Compare::Eq | Compare::Ne => None,
    });
    Some((&side.results, forms.collect::<Option<_>>()?))
}

/// Reads elements of arrays instead of elements of their rows, where nothing else is asked of the rows. Which they are.
fn elements(func: &Func, parts: &mut Loop) -> FxHashSet<Var> {
    let mut read = FxHashSet::default();
    let Some(index) = parts.body.params.first().copied() else { return read };
    let first = 1 + parts.init.len() + parts.accs.len();
    let rows: Vec<(Var, Atom)> =
        parts.body.params.iter().copied().skip(first).zip(parts.inputs.iter().cloned()).collect();
    for (row, array) in rows {
        if func.ty(row).rank() == 0 || !only_elements(func, &parts.body, row) {
            continue;
        }
        replace(&mut parts.body, row, &[array, Atom::Var(index)], &mut read);
        if let Some(at) = parts.body.params.iter().position(|param| *param == row) {
            parts.body.params.remove(at);
            parts.inputs.remove(at - first);
        }
    }
    read
}

/// Reads elements of a row where they are: at a place in an array.
fn replace(block: &mut Block, row: Var, place: &[Atom], read: &mut FxHashSet<Var>) {
    for stmt in &mut block.stmts {
        if let Op::Array(ArrayOp::Index, args) = &mut stmt.op
            && args.first() == Some(&Atom::Var(row))
        {
            args.splice(0..1, place.iter().cloned());
            read.extend(&stmt.outs);
        }
        stmt.op.blocks_mut().into_iter().for_each(|inner| replace(inner, row, place, read));
    }
}

/// Whether nothing is asked of a row but elements.
fn only_elements(func: &Func, body: &Block, row: Var) -> bool {
    let is_row = |atom: &Atom| *atom == Atom::Var(row);
    let gives = |block: &Block| block.results.iter().any(is_row);
    !gives(body)
        && body.all_stmts(&mut |stmt| {
            let places = usize::from(func.ty(row).rank());
            let element = matches!(&stmt.op, Op::Array(ArrayOp::Index, args) if args.len() == 1 + places);
            (element || !stmt.op.operand_vars().contains(&row)) && !stmt.op.blocks().into_iter().any(gives)
        })
}

/// Reads such elements before the loops inside in which they do not change.
fn lift(body: &mut Block, read: &FxHashSet<Var>) {
    for mut stmt in std::mem::take(&mut body.stmts) {
        if let Op::Loop(inner) = &mut stmt.op {
            let made = inner.body.stmts.iter().flat_map(|stmt| &stmt.outs);
            let own: FxHashSet<Var> = inner.body.params.iter().chain(made).copied().collect();
            let steady = |stmt: &Stmt| {
                stmt.outs.iter().all(|out| read.contains(out))
                    && stmt.op.operand_vars().iter().all(|var| !own.contains(var))
            };
            let (before, inside) = std::mem::take(&mut inner.body.stmts).into_iter().partition(steady);
            inner.body.stmts = inside;
            body.stmts.extend::<Vec<Stmt>>(before);
        }
        body.stmts.push(stmt);
    }
}
