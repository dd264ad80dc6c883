//! What does not change in a loop is computed before it, if it cannot fail: the loop may have no iteration. If it has one for sure,
//! what it checks first is checked before it too; and so is what both sides of a branch check first.
//!
//! ```text
//! c = n == 0                                             a = xs[0]
//! y = if c {                                             y = if c {
//!   a = xs[0]                                              yield a
//!   yield a                                   becomes    } else {
//! } else {                                                 t = for i < n, s = 0.0 { yield a … }
//!   t = for i < n, s = 0.0 { b = xs[0] yield b … }         yield t
//!   yield t                                              }
//! }
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is neither moved nor moves anything")]

mod costly;

use crate::alike::alike;
use crate::facts::{is_quiet, is_safe, total};
use crate::sizes::{boxes, in_range_there};
use crate::stands::Made;
use crate::walk::{Names, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let (total, boxes) = (total(program), boxes(program));
    for (_, func) in program.funcs.iter_mut() {
        let there = if may_run_for_sure(func) { in_range_there(func, &boxes) } else { FxHashSet::default() };
        let mut body = std::mem::take(&mut func.body);
        let (compared, made) = (FxHashMap::default(), Made::of(&body));
        Hoist { total: &total, func, there, made, compared, some: Vec::new() }.block(&mut body);
        func.body = body;
    }
}

/// Whether something says of a loop that it has an iteration.
fn may_run_for_sure(func: &Func) -> bool {
    let says = |stmt: &Stmt| match &stmt.op {
        Op::Loop(parts) => matches!(parts.len, Atom::Int(_)),
        Op::Compare(Compare::Eq | Compare::Ne, a, b) => a == &Atom::Int(0) || b == &Atom::Int(0),
        _ => false,
    };
    !func.body.all_stmts(&mut |stmt| !says(stmt))
}

struct Hoist<'p> {
    total: &'p FxHashSet<FuncId>,
    func: &'p Func,
    /// Reads and updates of what is there.
    there: FxHashSet<Var>,
    made: Made,
    /// Comparisons.
    compared: FxHashMap<Var, (Compare, Atom, Atom)>,
    /// Numbers of iterations that are not 0 here.
    some: Vec<Atom>,
}

impl Hoist<'_> {
    /// Goes through a block from the innermost loops out, so that what leaves one may leave the next.
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                self.inside(&mut stmt.op);
                match &mut stmt.op {
                    Op::Loop(parts) => {
                        let runs = self.is_some(&parts.len);
                        // What is known in it may be known of loops with an iteration only.
                        self.leave(&mut parts.body, (runs, runs), &mut out);
                        if costly::is_worth_it(&parts.len) {
                            costly::leave_branches(self.func, self.total, &mut parts.body, &mut out);
                        }
                    }
                    Op::While(parts) => {
                        self.leave(&mut parts.cond, (true, false), &mut out);
                        // Its condition may have looked at sizes.
                        self.leave(&mut parts.body, (false, false), &mut out);
                        costly::leave_branches(self.func, self.total, &mut parts.body, &mut out);
                    }
                    Op::If { cond: _, then, otherwise } => {
                        while let Some(first) = self.first_of_both(then, otherwise) {
                            out.extend(first);
                        }
                    }
                    Op::Compare(compare, a, b) => {
                        self.compared
                            .extend(stmt.outs.iter().map(|out| (*out, (*compare, a.clone(), b.clone()))));
                    }
                    _ => {}
                }
                out.push(stmt);
            }
            place.stmts = out;
        });
    }

    /// Goes through the blocks inside of an operation.
    fn inside(&mut self, op: &mut Op) {
        let mark = self.some.len();
        match op {
            Op::If { cond, then, otherwise } => {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    self.some.extend(self.not_zero(cond, holds));
                    self.block(side);
                    self.some.truncate(mark);
                }
            }
            Op::Loop(parts) => {
                // Whoever is in it knows that it has an iteration.
                self.some.push(parts.len.clone());
                self.block(&mut parts.body);
            }
            op => op.blocks_mut().into_iter().for_each(|inner| self.block(inner)),
        }
        self.some.truncate(mark);
    }

    /// The number that is not 0 where a condition holds, or where it does not.
    fn not_zero(&self, cond: &Atom, holds: bool) -> Option<Atom> {
        let (compare, a, b) = self.compared.get(&cond.var()?)?;
        let says = matches!((compare, holds), (Compare::Eq, false) | (Compare::Ne, true));
        match (a, b) {
            (number @ Atom::Var(_), Atom::Int(0)) | (Atom::Int(0), number @ Atom::Var(_)) if says => {
                Some(number.clone())
            }
            _ => None,
        }
    }

    fn is_some(&self, len: &Atom) -> bool {
        matches!(len, Atom::Int(1..)) || self.some.contains(len)
    }

    /// Moves statements out of a body; if it runs for sure, those too that check something before all else. What is done after something that
    /// stays and may fail must not need what that checks; nor may anything, if it is not known before the body what is known in it (`same`).
    fn leave(&self, body: &mut Block, (same, runs): (bool, bool), out: &mut Vec<Stmt>) {
        let mut inside: FxHashSet<Var> = body.params.iter().copied().collect();
        let mut stay = Vec::with_capacity(body.stmts.len());
        let (mut first, mut same) = (runs, same);
        for stmt in std::mem::take(&mut body.stmts) {
            let stands = || same || self.made.stands(&stmt, &|_| false);
            let moves = (is_moved(&stmt.op, self.total) || self.is_sum(&stmt)) && stands();
            if (moves || first && self.is_check(&stmt))
                && mentioned(&stmt.op).all(|var| !inside.contains(&var))
            {
                out.push(stmt);
            } else {
                let passes = self.passes(&stmt);
                (first, same) = (first && passes, same && passes);
                inside.extend(&stmt.outs);
                stay.push(stmt);
            }
        }
        body.stmts = stay;
    }

    /// Whether a statement is a loop that gives numbers and cannot fail.
    fn is_sum(&self, stmt: &Stmt) -> bool {
        let is_number = |var: &Var| self.func.ty(*var).rank() == 0;
        matches!(stmt.op, Op::Loop(_)) && stmt.outs.iter().all(is_number) && is_quiet(&stmt.op, self.total)
    }

    /// Whether a statement does not fail and comes to an end.
    fn passes(&self, stmt: &Stmt) -> bool {
        let there = !stmt.outs.is_empty() && stmt.outs.iter().all(|out| self.there.contains(out));
        there || is_quiet(&stmt.op, self.total)
    }

    /// Whether a statement gives a number or nothing, and fails if something is not as it should be.
    fn is_check(&self, stmt: &Stmt) -> bool {
        let is_number = |var: &Var| self.func.ty(*var).rank() == 0;
        match &stmt.op {
            Op::Require { .. } => true,
            Op::Array(ArrayOp::Index, _) => stmt.outs.iter().all(is_number),
            Op::Loop(parts) => {
                let checks =
                    |stmt: &Stmt| matches!(stmt.op, Op::Require { .. }) || is_quiet(&stmt.op, self.total);
                stmt.outs.is_empty() && parts.body.stmts.iter().all(checks)
            }
            _ => false,
        }
    }

    /// What both sides check before they do anything else that may fail, in the same place of the source, and the numbers that it needs.
    /// It leaves them.
    fn first_of_both(&self, then: &mut Block, otherwise: &mut Block) -> Option<Vec<Stmt>> {
        let (here, there) = (self.first_check(then)?, self.first_check(otherwise)?);
        let only = |side: &Block, places: &[usize]| {
            let stmts = places.iter().filter_map(|place| side.stmts.get(*place)).cloned().collect();
            Block { stmts, ..Block::default() }
        };
        let (first, same) = (only(then, &here), only(otherwise, &there));
        if !alike(&first, &same, &mut FxHashMap::default(), self.total) {
            return None;
        }
        for (side, places) in [(then, &here), (&mut *otherwise, &there)] {
            let mut place = 0..;
            side.stmts.retain(|_| place.next().is_some_and(|place| !places.contains(&place)));
        }
        let outs =
            |block: &Block| block.stmts.iter().flat_map(|stmt| stmt.outs.clone()).collect::<Vec<Var>>();
        let names: Names = outs(&same).into_iter().zip(outs(&first).into_iter().map(Atom::Var)).collect();
        names.replace_inside(otherwise);
        Some(first.stmts)
    }

    /// Where the first statement of a side stands that may fail, if it is a check, after what makes the numbers that it needs.
    fn first_check(&self, side: &Block) -> Option<Vec<usize>> {
        let place = side.stmts.iter().position(|stmt| !self.passes(stmt))?;
        let (before, rest) = side.stmts.split_at(place);
        let check = rest.first().filter(|stmt| self.is_check(stmt))?;
        let mut places = vec![place];
        let mut used: FxHashSet<Var> = mentioned(&check.op).collect();
        for (place, stmt) in before.iter().enumerate().rev() {
            if stmt.outs.iter().any(|out| used.contains(out)) {
                if !is_moved(&stmt.op, self.total) {
                    return None;
                }
                used.extend(mentioned(&stmt.op));
                places.push(place);
            }
        }
        places.reverse();
        Some(places)
    }
}

/// Whether an operation is worth moving. Fresh arrays are not: the body may update them in place.
fn is_moved(op: &Op, total: &FxHashSet<FuncId>) -> bool {
    let fresh = matches!(
        op,
        Op::Array(
            ArrayOp::Zeros | ArrayOp::Replicate | ArrayOp::Iota | ArrayOp::Literal | ArrayOp::Empty(..),
            _
        )
    );
    let simple = op.blocks().is_empty() && !matches!(op, Op::Copy(_) | Op::Call { .. } | Op::Make { .. });
    simple && !fresh && is_safe(op, total)
}
