//! A long loop around short ones is turned inside out: in each iteration of the short ones it does what all of its own do, for some hundreds of
//! them at once.
//!
//! ```text
//! ys = each i < n {                                              each b < blocks {                      // of a thousand iterations
//!   s = for j < k, s2 = 0.0, w in ws {                             s = for j < k, s2 += zeros(m), w in ws {
//!     p = i + j                                                      s3 = each i < m, s4 += s2 {
//!     x = xs[p]                                   becomes              x = xs[b * 1000 + i + j]
//!     t = w * x                                                        t = w * x
//!     s3 = s2 + t                                                      s5 = s4 with [i] += t
//!     yield s3 }                                                       yield s5 }
//!   y = exp(s)                                                       yield s3 }
//!   yield y }                                                      each i < m { y = exp(s[i]) … } }
//! ```
//!
//! So it is in convolutions and their derivatives, and where one computes the same long recurrence for many numbers. What goes through the
//! short loops is as good as never long enough for vectors, or each step waits for the one before; what goes through the long one reads what lies
//! side by side. What passes from one short loop to another is kept in arrays that are short enough to stay near.
//!
//! That is worth it for a few iterations already where the loops inside go down columns, one element of each row.
//!
//! Nothing may fail: what is not known to be there is asked for before, and if it is not, or if the loop is short, or the loops inside are long and are
//! vectors themselves, it runs as it was. Each sum in an iteration keeps its order; what all iterations add to is added to in another one.

mod inner;
mod last;
mod make;
mod plan;
mod segment;
mod smooth;

use crate::asked;
use crate::choices::beside_loops;
use crate::collect::facts::Facts;
use crate::facts::total;
use crate::linear::Linear;
use crate::sizes::{boxes, walk};
use crate::walk::holds_loops;
use rustc_hash::FxHashSet;
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let around = |stmt: &Stmt| matches!(&stmt.op, Op::Loop(parts) if holds_loops(parts));
        if func.body.all_stmts(&mut |stmt| !around(stmt)) {
            continue;
        }
        let mut made = func.clone();
        let mut body = std::mem::take(&mut made.body);
        beside_loops(&made, &mut body);
        made.body = body;
        if made.body.all_stmts(&mut |stmt| !plan::is_candidate(stmt)) {
            continue;
        }
        name_sizes(&mut made);
        last::added_last(&mut made);
        let shapes = walk(&mut made, &boxes, false);
        let from = made.clone();
        let facts = Facts::new(&from, &from.body, &shapes, &total);
        let mut body = std::mem::take(&mut made.body);
        let scope = body.params.iter().copied().collect();
        let mut pass = Turned { from: &from, facts: &facts, scope, changed: false };
        pass.block(&mut made, &mut body);
        if pass.changed {
            made.body = body;
            *func = made;
            changed = true;
        }
    }
    changed
}

/// Asks for those sizes of the arrays that a function is given for which it does not ask, so that they have names: what is not needed of that is
/// left out again.
fn name_sizes(func: &mut Func) {
    let mut sizes = Vec::new();
    for array in func.body.params.clone() {
        for axis in 0..func.ty(array).rank() {
            let op = Op::Array(ArrayOp::Length(axis), vec![Atom::Var(array)]);
            if func.body.stmts.iter().all(|stmt| stmt.op != op) {
                let size = func.fresh(Name::new("n"), Ty::INT);
                sizes.push(Stmt { outs: vec![size], op, span: Span::NOWHERE });
            }
        }
    }
    func.body.stmts.splice(0..0, sizes);
}

struct Turned<'f> {
    /// The function as it was.
    from: &'f Func,
    facts: &'f Facts<'f>,
    /// What can be mentioned here.
    scope: FxHashSet<Var>,
    changed: bool,
}

impl Turned<'_> {
    fn block(&mut self, func: &mut Func, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                if let Some(made) = self.turned(func, &stmt) {
                    self.changed = true;
                    self.scope.extend(made.iter().flat_map(|stmt| &stmt.outs));
                    out.extend(made);
                    continue;
                }
                for inner in stmt.op.blocks_mut() {
                    self.scope.extend(&inner.params);
                    self.block(func, inner);
                }
                self.scope.extend(&stmt.outs);
                out.push(stmt);
            }
            for var in place.params.iter().chain(out.iter().flat_map(|stmt| &stmt.outs)) {
                self.scope.remove(var);
            }
            place.stmts = out;
        });
    }

    /// What stands for a long loop around short ones.
    fn turned(&self, func: &mut Func, stmt: &Stmt) -> Option<Vec<Stmt>> {
        if !plan::is_candidate(stmt) {
            return None;
        }
        let (smooth, sure) = smooth::smoothed(self.from, self.facts, stmt)?;
        let Op::Loop(parts) = &smooth.op else { return None };
        let mut plan = plan::Plan::of(self.from, self.facts, parts)?;
        plan.wanted.extend(sure);
        let known = |form: &Linear| form.vars().all(|var| self.scope.contains(&var));
        if !plan.needed.iter().chain(&plan.wanted).all(known) {
            return None;
        }
        let (then, outs) = make::made(self.from, self.facts, func, &smooth, plan.size)?;
        let then = Block { params: Vec::new(), stmts: then, results: outs };
        let mut whole = stmt.clone();
        whole.outs = stmt.outs.iter().map(|out| func.vars.push(*self.from.vars.at(*out))).collect();
        let results = whole.outs.iter().copied().map(Atom::Var).collect();
        let otherwise = Block { params: Vec::new(), stmts: vec![whole], results };
        let mut stmts = Vec::new();
        let forms: Vec<Linear> = plan.wanted.into_iter().chain(plan.needed).collect();
        let cond = asked::not_negative(func, (&mut stmts, stmt.span), &forms);
        stmts.push(Stmt { outs: stmt.outs.clone(), op: Op::If { cond, then, otherwise }, span: stmt.span });
        Some(stmts)
    }
}

/// Whether it is a real number.
fn is_real(func: &Func, atom: &Atom) -> bool {
    func.type_of(atom) == Ty::REAL
}
