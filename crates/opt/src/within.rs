//! A loop that does something only from some index on, or only before one, goes through those iterations alone.
//!
//! ```text
//! for k < n, a = a0 {                                   for k < n, a = a0 {
//!   b = for i < n, c = a {                                first = k + 1   m = n - first
//!     yield if i > k { … } else { yield c }    becomes    b = for j < m, c = a { i = j + first  … }
//!   }                                                     yield b
//!   yield b                                             }
//! }
//! ```
//!
//! So one writes what goes through a triangle of a matrix, and sums over pairs. Nothing else is done, and what is done is done in the same order; but a derivative
//! keeps something of those iterations only, and no branch. The bound must be known to lie between none and all of the iterations, as the index of a loop
//! around that has as many does, or the place after it; when all derivatives are made it may be anything ([`window`]).

mod window;

use crate::facts::{is_safe, total};
use crate::said::{comparisons, tells};
use crate::walk::{Names, added};
use crate::{cse, dce};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    narrow(program, false);
}

/// The same of sums, too, to which nothing is added elsewhere: where no more derivatives are made, which would keep rows of different sizes.
pub(crate) fn with_sums(program: &mut Program) {
    if narrow(program, true) {
        cse::run(program);
        dce::run(program);
    }
}

/// Whether conditions have become bounds.
fn narrow(program: &mut Program, sums: bool) -> bool {
    let total = total(program);
    let mut opened = false;
    for (_, func) in program.funcs.iter_mut() {
        let branches = |stmt: &Stmt| matches!(stmt.op, Op::If { .. });
        if func.body.all_stmts(&mut |stmt| !branches(stmt)) {
            continue;
        }
        let mut body = std::mem::take(&mut func.body);
        let (around, made) = (Vec::new(), FxHashMap::default());
        let mut pass = Within { func, sums, total: &total, around, made, opened: false };
        pass.block(&mut body);
        opened |= pass.opened;
        func.body = body;
    }
    opened
}

struct Within<'p> {
    func: &'p mut Func,
    /// Whether sums are looked at.
    sums: bool,
    /// Functions that always return.
    total: &'p FxHashSet<FuncId>,
    /// The indices of loops around, and how many there are of each.
    around: Vec<(Var, Atom)>,
    /// What makes conditions and places.
    made: FxHashMap<Var, Op>,
    /// Whether a condition has become a bound.
    opened: bool,
}

/// The iterations in which something is done. `next` says whether the place after the index of a loop around is meant.
#[derive(Clone, Copy)]
enum Part {
    From { index: Var, next: bool },
    Before { index: Var, next: bool },
    At(Var),
}

/// The branch of a loop's body on one side of which nothing is done.
struct Branch {
    /// Where it stands.
    at: usize,
    /// On which side something is done.
    side: bool,
    /// The iterations in which that may be.
    part: Part,
    /// Whether nothing else is asked.
    alone: bool,
}

impl Within<'_> {
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                self.note(&stmt);
                let index = if let Op::Loop(parts) = &stmt.op {
                    parts.body.params.first().map(|index| (*index, parts.len.clone()))
                } else {
                    None
                };
                let depth = self.around.len();
                self.around.extend(index);
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                self.around.truncate(depth);
                if let Op::Loop(parts) = &mut stmt.op {
                    let branch = self.branch(parts);
                    if let Some(window) =
                        self.window(parts).filter(|_| !branch.as_ref().is_some_and(|only| only.alone))
                    {
                        self.open(parts, window, &mut out, stmt.span);
                    } else if let Some(branch) = branch {
                        self.narrow(parts, &branch, &mut out, stmt.span);
                    }
                }
                out.push(stmt);
            }
            block.stmts = out;
        });
    }

    fn note(&mut self, stmt: &Stmt) {
        if let ([out], true) = (stmt.outs.as_slice(), tells(&stmt.op)) {
            self.made.insert(*out, stmt.op.clone());
        }
    }

    /// The branch in a loop, if the loop does nothing but that, and gives nothing for each iteration: where it stands, and on which side something is done.
    fn only_branch(&self, parts: &Loop) -> Option<(usize, bool)> {
        let Loop { mode, init, accs, body, .. } = parts;
        let (_, carried) = body.params.split_first()?;
        let carried = carried.get(..init.len() + accs.len())?;
        if *mode == Mode::Reduce || body.results.len() != carried.len() {
            return None;
        }
        let at = body.stmts.iter().position(|stmt| matches!(stmt.op, Op::If { .. }))?;
        let quiet = |stmt: &Stmt| stmt.op.blocks().is_empty() && is_safe(&stmt.op, self.total);
        if !body.stmts.iter().enumerate().all(|(place, stmt)| place == at || quiet(stmt)) {
            return None;
        }
        let Stmt { outs, op: Op::If { then, otherwise, .. }, .. } = body.stmts.get(at)? else { return None };
        let first: Vec<&Atom> = init.iter().chain(accs).collect();
        let idle = |side: &Block| {
            let given = |result: &Atom| outs.iter().position(|out| result.var() == Some(*out));
            let end = |result: &Atom| {
                given(result).map_or(Some(result.clone()), |place| side.results.get(place).cloned())
            };
            let same = |(at, (result, param)): (usize, (&Atom, &Var))| {
                // A sum that began with 0 is never -0, to which something would be added by adding 0.
                let sums = self.sums && first.get(at) == Some(&&Atom::Real(0.0));
                let added = added(body, at).filter(|_| sums);
                end(result).and_then(|end| end.var()) == Some(*param)
                    || added.is_some_and(|(_, more)| end(more) == Some(Atom::Real(0.0)))
            };
            side.stmts.is_empty() && body.results.iter().zip(carried).enumerate().all(same)
        };
        match (idle(then), idle(otherwise)) {
            (false, true) => Some((at, true)),
            (true, false) => Some((at, false)),
            (_, _) => None,
        }
    }

    /// That branch, if it is clear in which iterations something is done.
    fn branch(&self, parts: &Loop) -> Option<Branch> {
        let Loop { len, body, .. } = parts;
        let (at, side) = self.only_branch(parts)?;
        let Op::If { cond, .. } = &body.stmts.get(at)?.op else { return None };
        let index = body.params.first()?;
        let said = comparisons(cond, side, &self.made);
        let part = said.iter().find_map(|said| self.part(*index, len, said))?;
        let alone = said.len() == 1 && self.is_comparison(cond);
        Some(Branch { at, side, part, alone })
    }

    /// Whether a condition is a comparison, or the negation of one.
    fn is_comparison(&self, cond: &Atom) -> bool {
        match cond.var().and_then(|var| self.made.get(&var)) {
            Some(Op::Compare(..)) => true,
            Some(Op::Not(inner)) => {
                matches!(inner.var().and_then(|var| self.made.get(&var)), Some(Op::Compare(..)))
            }
            _ => false,
        }
    }

    /// In which iterations a comparison holds, if it is one of the index.
    fn part(&self, index: Var, len: &Atom, (compare, left, right): &(Compare, Atom, Atom)) -> Option<Part> {
        let (compare, bound) = match (left.var(), right.var()) {
            (Some(var), _) if var == index => (*compare, right),
            (_, Some(var)) if var == index => (compare.turned(), left),
            (_, _) => return None,
        };
        let (other, more) = self.place(bound)?;
        let known = other != index && self.around.contains(&(other, len.clone()));
        let next = |more: i64| match more {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        let from = |more| Some(Part::From { index: other, next: next(more)? });
        let before = |more| Some(Part::Before { index: other, next: next(more)? });
        match compare {
            _ if !known => None,
            Compare::Ge => from(more),
            Compare::Gt => from(more + 1),
            Compare::Lt => before(more),
            Compare::Le => before(more + 1),
            Compare::Eq if more == 0 => Some(Part::At(other)),
            Compare::Eq | Compare::Ne => None,
        }
    }

    /// A place as a variable and a small number more than that.
    fn place(&self, bound: &Atom) -> Option<(Var, i64)> {
        let var = bound.var()?;
        let (base, more) = match self.made.get(&var) {
            Some(Op::Int(IntOp::Add, args)) => match args.as_slice() {
                [base, Atom::Int(more)] | [Atom::Int(more), base] => (base.var()?, *more),
                _ => (var, 0),
            },
            Some(Op::Int(IntOp::Sub, args)) => match args.as_slice() {
                [base, Atom::Int(less)] => (base.var()?, less.checked_neg()?),
                _ => (var, 0),
            },
            _ => (var, 0),
        };
        (-1..=1).contains(&more).then_some((base, more))
    }

    /// Lets a loop go through these iterations only.
    fn narrow(&mut self, parts: &mut Loop, branch: &Branch, out: &mut Vec<Stmt>, span: Span) {
        let (first, len) = match branch.part {
            Part::At(index) => (Some(Atom::Var(index)), Atom::Int(1)),
            Part::Before { index, next } => (None, self.bound(index, next, out, span)),
            Part::From { index, next } => {
                let first = self.bound(index, next, out, span);
                let len = self.int(IntOp::Sub, vec![parts.len.clone(), first.clone()], out, span);
                (Some(first), len)
            }
        };
        if branch.alone {
            without(&mut parts.body, branch.at, branch.side);
        }
        self.shift(parts, first, len, span);
    }

    /// Lets a loop go through so many iterations from the first one on.
    fn shift(&mut self, parts: &mut Loop, first: Option<Atom>, len: Atom, span: Span) {
        parts.len = len;
        let body = &mut parts.body;
        let mut begin = Vec::new();
        if let (Some(first), Some(index)) = (first, body.params.first_mut()) {
            let moved = self.func.fresh(self.func.vars.at(*index).name, Ty::INT);
            let op = Op::Int(IntOp::Add, vec![Atom::Var(moved), first]);
            begin.push(Stmt { outs: vec![std::mem::replace(index, moved)], op, span });
        }
        let index = begin.first().map(|stmt: &Stmt| &stmt.outs).unwrap_or(&body.params).first().copied();
        // There are more rows than iterations.
        let rows = body.params.split_off(1 + parts.init.len() + parts.accs.len());
        for (row, array) in rows.into_iter().zip(std::mem::take(&mut parts.inputs)) {
            let args = [array].into_iter().chain(index.map(Atom::Var)).collect();
            begin.push(Stmt { outs: vec![row], op: Op::Array(ArrayOp::Index, args), span });
        }
        body.stmts.splice(0..0, begin);
    }

    /// The index of a loop around, or the place after it.
    fn bound(&mut self, index: Var, next: bool, out: &mut Vec<Stmt>, span: Span) -> Atom {
        if next {
            self.int(IntOp::Add, vec![Atom::Var(index), Atom::Int(1)], out, span)
        } else {
            Atom::Var(index)
        }
    }

    fn int(&mut self, op: IntOp, args: Vec<Atom>, out: &mut Vec<Stmt>, span: Span) -> Atom {
        let var = self.func.fresh("t".into(), Ty::INT);
        out.push(Stmt { outs: vec![var], op: Op::Int(op, args), span });
        Atom::Var(var)
    }
}

/// Puts the side on which something is done in the place of the branch.
fn without(body: &mut Block, at: usize, taken: bool) {
    let mut rest = body.stmts.split_off(at).into_iter();
    // There is one there.
    let Some(Stmt { outs, op: Op::If { then, otherwise, .. }, .. }) = rest.next() else { return };
    let side = if taken { then } else { otherwise };
    let names: Names = outs.into_iter().zip(side.results).collect();
    body.results.iter_mut().for_each(|result| names.replace(result));
    body.stmts.extend(side.stmts);
    body.stmts.extend(rest.map(|mut stmt| {
        names.replace_in(&mut stmt.op);
        stmt
    }));
}
