//! Loops that add to neighbors become loops that collect what neighbors give: the derivative of what looks at neighbors.
//!
//! ```text
//! zs = zeros(xs)                                                       zs2 = each j < n {
//! zs2 = each i < m, a += zs, y in ys {                                   b = if j < m { y = ys[j] t = y * 3.0 yield t } else { yield 0.0 }
//!   t = y * 3.0   b = a with [i] += t                   becomes          p = j < 1
//!   j = i + 1     c = b with [j] += y                                    c = if p { yield 0.0 } else { i = j - 1 y = ys[i] yield y }
//!   yield c }                                                            s = b + c yield s }
//! ```
//!
//! So it is for places that are some fixed number of places away, also around the end (`(i + 1) % n`), and along two axes. Iterations share
//! nothing then, nothing has to be zero before, and what lies between the edges becomes vectors. What takes more than a few operations is made
//! once, into an array, and read from there. To elements that stay, as the weights of a filter, the loop goes on adding. Numbers are added up in another order: it is for where they need not be to the last bit what they
//! are elsewhere. Nothing may fail: what is not known to be there is asked for before, and if it is not, the loop runs as it was.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays as it is")]

pub(crate) mod copies;
mod cost;
pub(crate) mod facts;
mod make;
mod plan;
mod shared;

use crate::facts::total;
use crate::sizes::{boxes, decide, walk};
use crate::walk::count_uses;
use facts::Facts;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let adds = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::AddAt, _));
        if func.body.all_stmts(&mut |stmt| !adds(stmt)) {
            continue;
        }
        let before = func.body.clone();
        name_sizes(func);
        let shapes = walk(func, &boxes, false);
        let from = func.clone();
        let facts = Facts::new(&from, &from.body, &shapes, &total);
        let (uses, shared) = (count_uses(&from.body), shared::shared(&from.body));
        let mut body = std::mem::take(&mut func.body);
        let scope = body.params.iter().copied().collect();
        let mut pass =
            Collect { from: &from, facts: &facts, uses: &uses, shared: &shared, scope, changed: false };
        pass.block(func, &mut body);
        changed |= pass.changed;
        func.body = if pass.changed { body } else { before };
        if pass.changed {
            decide(func, &boxes);
        }
    }
    changed
}

/// Asks for the sizes of arrays to which loops add, and of those that these read, so that they have names: what is not needed of that is left
/// out again.
fn name_sizes(func: &mut Func) {
    let (mut starts, mut read): (FxHashSet<Var>, FxHashSet<Var>) = Default::default();
    func.body.for_each_stmt(&mut |stmt| {
        let Op::Loop(parts) = &stmt.op else { return };
        if parts.accs.is_empty() {
            return;
        }
        starts.extend(parts.accs.iter().filter_map(Atom::var));
        parts.body.for_each_stmt(&mut |stmt| {
            if let Op::Array(ArrayOp::Index, args) = &stmt.op {
                read.extend(args.first().and_then(Atom::var));
            }
        });
    });
    starts.retain(|start| matches!(func.ty(*start), Ty::Array(Elem::Real, 1 | 2)));
    if starts.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut func.body);
    name_sizes_in(func, &mut body, &(starts, read));
    func.body = body;
}

fn name_sizes_in(func: &mut Func, place: &mut Block, named: &(FxHashSet<Var>, FxHashSet<Var>)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let ((starts, read), span) = (named, func.span);
        let mut out = Vec::with_capacity(place.stmts.len());
        for param in place.params.iter().filter(|param| read.contains(param)) {
            lengths(func, &Atom::Var(*param), span, &mut out);
        }
        for mut stmt in std::mem::take(&mut place.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| name_sizes_in(func, inner, named));
            let zeros = match (&stmt.op, stmt.outs.as_slice()) {
                (Op::Array(ArrayOp::Zeros, args), [out]) if starts.contains(out) => args.first().cloned(),
                _ => None,
            };
            let (read, span) =
                (stmt.outs.iter().copied().filter(|out| read.contains(out)).collect::<Vec<Var>>(), stmt.span);
            // The size of zeros is that of what they are made like: then they need not be made for it.
            zeros.into_iter().for_each(|like| lengths(func, &like, span, &mut out));
            out.push(stmt);
            read.into_iter().for_each(|read| lengths(func, &Atom::Var(read), span, &mut out));
        }
        place.stmts = out;
    });
}

/// Asks for the sizes of an array.
fn lengths(func: &mut Func, array: &Atom, span: Span, out: &mut Vec<Stmt>) {
    for axis in 0..func.type_of(array).rank() {
        let size = func.fresh(Name::new("n"), Ty::INT);
        let op = Op::Array(ArrayOp::Length(axis), vec![array.clone()]);
        out.push(Stmt { outs: vec![size], op, span });
    }
}

struct Collect<'f> {
    /// The function as it was.
    from: &'f Func,
    facts: &'f Facts<'f>,
    uses: &'f FxHashMap<Var, usize>,
    /// What may only be added to.
    shared: &'f FxHashSet<Var>,
    /// What can be mentioned here.
    scope: FxHashSet<Var>,
    changed: bool,
}

impl Collect<'_> {
    fn block(&mut self, func: &mut Func, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                if let Some(made) = self.collected(func, &out, &stmt) {
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

    /// What stands for a loop that adds to neighbors.
    fn collected(&self, func: &mut Func, before: &[Stmt], stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Op::Loop(parts) = &stmt.op else { return None };
        if parts.mode != Mode::Each || parts.body.size() > plan::MOST {
            return None;
        }
        let mut kept = plan::with_cells(self.from, self.facts, parts);
        let mut plan = plan::Plan::of(self.from, self.facts, stmt, &kept)?;
        let more = self.not_collected(before, &plan);
        if !more.is_empty() {
            kept.extend(more);
            plan = plan::Plan::of(self.from, self.facts, stmt, &kept)?;
        }
        let known = plan.needed.iter().all(|form| form.vars().all(|var| self.scope.contains(&var)));
        if !known {
            return None;
        }
        let starts: Vec<Start> = plan.accs.iter().map(|acc| self.start(before, &acc.start)).collect();
        Some(make::Maker::new(self.from, func, (&plan, starts), (&self.scope, stmt)).made())
    }

    /// The accumulators that the loop still adds to: what they are before may not be read, or is more than what is added to.
    fn not_collected(&self, before: &[Stmt], plan: &plan::Plan<'_>) -> FxHashSet<usize> {
        let fits = |acc: &plan::Acc| {
            matches!(self.start(before, &acc.start), Start::Zeros(_))
                || acc.is_covered(&plan.lens) && self.is_read(&acc.start)
        };
        plan.accs.iter().filter(|acc| !fits(acc)).map(|acc| acc.at).collect()
    }

    /// Whether what is in an array may be read.
    fn is_read(&self, array: &Atom) -> bool {
        array.var().is_none_or(|var| !self.shared.contains(&var))
    }

    /// What an accumulator is before the loop.
    fn start(&self, before: &[Stmt], start: &Atom) -> Start {
        let made = start.var().filter(|var| self.uses.get(var) == Some(&1));
        let made = made.and_then(|var| before.iter().rfind(|stmt| stmt.outs.as_slice() == [var]));
        match made.map(|stmt| &stmt.op) {
            Some(Op::Array(ArrayOp::Zeros, args)) => args.first().cloned().map_or(Start::Array, Start::Zeros),
            Some(Op::Array(ArrayOp::Replicate, args))
                if args.get(1) == Some(&Atom::Real(0.0))
                    && self.from.type_of(start) == Ty::Array(Elem::Real, 1) =>
            {
                Start::Zeros(start.clone())
            }
            _ => Start::Array,
        }
    }
}

/// What an accumulator is before the loop.
enum Start {
    /// Zeros in the shape of this array, made for it.
    Zeros(Atom),
    /// Something else.
    Array,
}
