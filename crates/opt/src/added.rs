//! What only some sides of a branch add to a sum is chosen first, and then added, so that what goes through the branch is no sum.
//!
//! ```text
//! s = for i < n, s = 0.0, … {                          s = for i < n, s = 0.0, … {
//!   y, b = if c { yield 1.0, s } else {                  y, t = if c { yield 1.0, -0.0 } else {
//!     d = s + x  yield x, d                  becomes       yield x, x
//!   }                                                    }  b = s + t
//!   yield b                                              yield b
//! }                                                    }
//! ```
//!
//! -0.0 is what changes no number that it is added to, not even a zero, so every bit stays (where a side adds several terms, they are
//! added up first, as in [`addends`](crate::addends)). Then the branch is one between numbers, which is a choice, and the loop a sum: both
//! are ready for vectors. So it is only where nothing in the loop stands against them: where a branch stays a branch, the
//! side that adds nothing would wait for the sum.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no arithmetic")]

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// So many operations, whichever side is taken, are worth it.
const FEW: usize = 24;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        if has_sums(&body) {
            let uses = count_uses(&body);
            changed |= Added { func, uses }.block(&mut body);
        }
        func.body = body;
    }
    changed
}

/// Whether there is a loop with a branch.
fn has_sums(body: &Block) -> bool {
    !body
        .all_stmts(&mut |stmt| !matches!(&stmt.op, Op::Loop(parts) if branches(&parts.body).next().is_some()))
}

fn branches(body: &Block) -> impl Iterator<Item = &Stmt> {
    body.stmts.iter().filter(|stmt| matches!(stmt.op, Op::If { .. }))
}

struct Added<'f> {
    func: &'f mut Func,
    uses: FxHashMap<Var, usize>,
}

impl Added<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            for stmt in &mut place.stmts {
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                let Op::Loop(parts) = &mut stmt.op else { continue };
                let fits = parts.mode != Mode::Reduce
                    && branches(&parts.body).next().is_some()
                    && parts
                        .body
                        .stmts
                        .iter()
                        .all(|stmt| is_simple(stmt) || adds_at_index(stmt, &parts.body));
                if fits {
                    for at in 0..parts.init.len() + parts.accs.len() {
                        changed |= self.sum(&mut parts.body, at);
                    }
                }
            }
            changed
        })
    }

    /// The sum that a body hands on at a place, if all steps of it are known.
    fn sum(&mut self, body: &mut Block, at: usize) -> bool {
        let Some(sum) = body.params.get(1 + at).copied().filter(|sum| self.func.ty(*sum) == Ty::REAL) else {
            return false;
        };
        let Some(end) = body.results.get(at).and_then(Atom::var) else { return false };
        let Some(steps) = self.steps(body, sum, end) else { return false };
        for (place, side, before) in steps.into_iter().rev() {
            let Some(stmt) = body.stmts.get_mut(place) else { continue };
            let Some(after) = stmt.outs.get(side).copied() else { continue };
            let Op::If { cond: _, then, otherwise } = &mut stmt.op else { continue };
            for side_block in [then, otherwise] {
                self.give_what_is_added(side_block, side, before);
            }
            let more = self.func.fresh(Name::new("more"), Ty::REAL);
            if let Some(out) = stmt.outs.get_mut(side) {
                *out = more;
            }
            let span = stmt.span;
            let op = Op::Real(RealOp::Add, vec![Atom::Var(before), Atom::Var(more)]);
            body.stmts.insert(place + 1, Stmt { outs: vec![after], op, span });
        }
        true
    }

    /// The branches on the way of a sum through a body, which of their results it is, and what it was before. There is one at least.
    fn steps(&self, body: &Block, sum: Var, end: Var) -> Option<Vec<(usize, usize, Var)>> {
        let (mut steps, mut current) = (Vec::new(), sum);
        for (place, stmt) in body.stmts.iter().enumerate() {
            if let Some((next, _)) = step(stmt, current) {
                if self.uses.get(&current) != Some(&1) {
                    return None;
                }
                current = next;
            } else if let Op::If { cond: _, then, otherwise } = &stmt.op {
                let goes = |at: &usize| {
                    Some(self.ends(then, *at, current)? + self.ends(otherwise, *at, current)?)
                        .filter(|ends| Some(ends) == self.uses.get(&current))
                };
                let Some(at) = (0..stmt.outs.len()).find(|at| goes(at).is_some()) else { continue };
                steps.push((place, at, current));
                current = *stmt.outs.get(at)?;
            }
        }
        (current == end && !steps.is_empty() && self.uses.get(&end) == Some(&1)).then_some(steps)
    }

    /// How often the sum is used on a side to which it comes: if that gives it at a place with what is added to it, and nothing else.
    fn ends(&self, side: &Block, at: usize, sum: Var) -> Option<usize> {
        self.way(side, side.results.get(at)?.var()?, sum)
    }

    fn way(&self, side: &Block, given: Var, sum: Var) -> Option<usize> {
        if given == sum {
            return Some(1);
        }
        let stmt = side.stmts.iter().find(|stmt| stmt.outs.contains(&given))?;
        if self.uses.get(&given) != Some(&1) {
            return None;
        }
        match &stmt.op {
            Op::Real(RealOp::Add | RealOp::Sub, args) => {
                let [a, b] = args.as_slice() else { return None };
                let is_sum = matches!(stmt.op, Op::Real(RealOp::Add, _));
                let on_the_left = a.var().and_then(|a| self.way(side, a, sum));
                on_the_left.or_else(|| b.var().filter(|_| is_sum).and_then(|b| self.way(side, b, sum)))
            }
            Op::If { cond: _, then, otherwise } => {
                let at = stmt.outs.iter().position(|out| *out == given)?;
                Some(self.ends(then, at, sum)? + self.ends(otherwise, at, sum)?)
            }
            _ => None,
        }
    }

    /// Gives at a place what is added to the sum.
    fn give_what_is_added(&mut self, side: &mut Block, at: usize, sum: Var) {
        let Some(given) = side.results.get(at).and_then(Atom::var) else { return };
        let more = self.added(side, given, sum).unwrap_or(Atom::Real(-0.0));
        if let Some(result) = side.results.get_mut(at) {
            *result = more;
        }
    }

    /// What is added to the sum until it is a variable; nothing, if it is the sum.
    fn added(&mut self, side: &mut Block, given: Var, sum: Var) -> Option<Atom> {
        if given == sum {
            return None;
        }
        let place = side.stmts.iter().position(|stmt| stmt.outs.contains(&given))?;
        let op = side.stmts.get(place)?.op.clone();
        if let Op::Real(op, args) = op {
            let [a, b] = <[Atom; 2]>::try_from(args).ok()?;
            let left = a.var().filter(|a| self.way(side, *a, sum).is_some());
            let (before, term) = match left {
                Some(before) => (before, b),
                None => (b.var()?, a),
            };
            let made = match (self.added(side, before, sum), op) {
                (Some(more), op) => Op::Real(op, vec![more, term]),
                (None, RealOp::Sub) => Op::Real(RealOp::Neg, vec![term]),
                (None, _) => Op::Copy(term),
            };
            // What came before may have become shorter.
            let stmt = side.stmts.iter_mut().find(|stmt| stmt.outs.contains(&given))?;
            stmt.op = made;
        } else if let Some(stmt) = side.stmts.get_mut(place)
            && let Op::If { cond: _, then, otherwise } = &mut stmt.op
        {
            let at = stmt.outs.iter().position(|out| *out == given)?;
            self.give_what_is_added(then, at, sum);
            self.give_what_is_added(otherwise, at, sum);
        }
        Some(Atom::Var(given))
    }
}

/// What a statement makes of a sum, if it adds to it something else, or takes that away.
fn step(stmt: &Stmt, sum: Var) -> Option<(Var, Atom)> {
    let (Op::Real(op @ (RealOp::Add | RealOp::Sub), args), [next]) = (&stmt.op, stmt.outs.as_slice()) else {
        return None;
    };
    let sum = Atom::Var(sum);
    match args.as_slice() {
        [a, b] if *a == sum && *b != sum => Some((*next, b.clone())),
        [a, b] if *op == RealOp::Add && *b == sum && *a != sum => Some((*next, a.clone())),
        _ => None,
    }
}

/// Whether a statement of a loop is arithmetic, reads an element, or is a branch between such numbers.
fn is_simple(stmt: &Stmt) -> bool {
    match &stmt.op {
        Op::Array(op, _) => matches!(op, ArrayOp::Index),
        Op::If { cond: _, then, otherwise } => {
            let count = then.size() + otherwise.size();
            count <= FEW && [then, otherwise].into_iter().all(|side| side.stmts.iter().all(is_chosen))
        }
        _ => is_chosen(stmt),
    }
}

/// Whether a statement of a loop adds to an element of an array that only this iteration adds to: its own.
fn adds_at_index(stmt: &Stmt, body: &Block) -> bool {
    let is_index = |atom: &Atom| atom.var().is_some_and(|var| body.params.first() == Some(&var));
    matches!(&stmt.op, Op::Array(ArrayOp::AddAt, args) if args.len() == 3 && args.get(1).is_some_and(is_index))
}

/// Whether a statement can be done on a side that is not taken.
fn is_chosen(stmt: &Stmt) -> bool {
    match &stmt.op {
        Op::Real(op, _) => !matches!(
            op,
            RealOp::Pow | RealOp::Gamma | RealOp::Lgamma | RealOp::Digamma | RealOp::Polygamma(_)
        ),
        Op::Compare(..) | Op::Not(_) | Op::Select { .. } | Op::Copy(_) => true,
        Op::If { cond: _, then, otherwise } => {
            [then, otherwise].into_iter().all(|side| side.stmts.iter().all(is_chosen))
        }
        _ => false,
    }
}
