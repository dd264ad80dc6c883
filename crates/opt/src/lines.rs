//! What each iteration of a loop adds to the elements of its own row of zeros is a row that it gives. What all of them add to one and the
//! same row besides is summed apart, and added once.
//!
//! ```text
//! for k < n … {                                  for k < n … {
//!   a = zeros(x)                                   m = length(x, 1)   l = replicate(m, 0.0)
//!   b = each i < n, c += a, ys in yss {            s, b = each i < n, l2 += l, ys in yss {
//!     d = each j < m, e += c, y in ys {              r = replicate(m, 0.0)
//!       f = e with [i, j] += y          becomes      r2, l3 = each j < m, r3 += r, l4 += l2, y in ys {
//!       g = f with [k, j] += y                         r4 = r3 with [j] += y
//!       yield g                                        l5 = l4 with [j] += y
//!     }                                                yield r4, l5
//!     yield d                                        }
//!   }                                                yield l3, r2
//! }                                                }
//!                                                  b2 = b with [k] += s
//!                                                }
//! ```
//!
//! So it is in what goes backward through a step of elimination, or of shortest paths. Then nothing is filled with zeros first, and rows that may be
//! the same one are not written in one loop. The array must have as many rows as the loop has iterations; where that is not known, a branch asks. The row that is the same in
//! all of them must be there also if there is none: it is the index of a loop around this one that has as many iterations. Whether a column
//! is there is looked at where it was. Numbers are added up in another order.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed neither adds to an array nor hands one on"
)]

use crate::facts::{Lengths, along};
use crate::sizes::{boxes, walk};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};

/// The array, and a row of it.
const MATRIX: Ty = Ty::Array(Elem::Real, 2);
const ROW: Ty = Ty::Array(Elem::Real, 1);

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let boxes = boxes(program);
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let adds = |stmt: &Stmt| matches!(&stmt.op, Op::Array(ArrayOp::AddAt, args) if args.len() == 4);
        if func.body.all_stmts(&mut |stmt| !adds(stmt)) {
            continue;
        }
        let shapes = walk(func, &boxes, false);
        let (lengths, widths) = (Lengths::defined(along(&shapes, 0)), along(&shapes, 1));
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        changed |= Lines { func, uses, lengths, widths, around: Vec::new(), left: FxHashSet::default() }
            .block(&mut body);
        func.body = body;
    }
    changed
}

struct Lines<'p> {
    func: &'p mut Func,
    uses: FxHashMap<Var, usize>,
    lengths: Lengths,
    widths: FxHashMap<Var, Atom>,
    /// Loops around this place: the index, and how many iterations there are.
    around: Vec<(Var, Atom)>,
    /// Accumulators that stay.
    left: FxHashSet<Var>,
}

/// What is known of an accumulator that can be rows.
struct Plan {
    at: usize,
    start: Var,
    /// How often the loop inside runs that goes through its columns.
    width: Option<Atom>,
    /// Whether it is known that it has as many rows as there are iterations, and as many columns.
    known: [bool; 2],
    /// The array in the shape of which it is.
    like: Atom,
    /// The row to which all iterations add.
    common: Option<Atom>,
}

/// What is added to an accumulator.
struct Found {
    /// The index of the loop.
    index: Atom,
    /// Whether something is added to its row.
    own: bool,
    /// Loops inside: the index, and how many iterations there are.
    inside: Vec<(Atom, Atom)>,
    /// How many there are of one that goes through the columns of its row.
    width: Option<Atom>,
    /// Columns that are no indices of such loops.
    columns: Vec<Atom>,
    /// Other rows.
    others: Vec<Atom>,
}

impl Found {
    /// Nothing yet, for a loop with this index.
    fn of(index: Atom) -> Found {
        Found { index, own: false, inside: Vec::new(), width: None, columns: Vec::new(), others: Vec::new() }
    }
}

/// The two rows as far as they are computed.
#[derive(Clone, Copy)]
struct Rows {
    own: Var,
    common: Option<Var>,
}

impl Lines<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                let mark = self.around.len();
                let after = self.known(&mut stmt, &mut out);
                changed |= after.is_some() || self.unknown(&mut stmt, &mut out);
                if let Op::Loop(parts) = &stmt.op {
                    self.around.extend(parts.body.params.first().map(|index| (*index, parts.len.clone())));
                }
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                self.around.truncate(mark);
                out.push(stmt);
                out.extend(after.into_iter().flatten());
            }
            place.stmts = out;
            changed
        })
    }

    /// Makes rows of accumulators that have as many as there are iterations. Gives what is added in the end, if there was one.
    fn known(&mut self, stmt: &mut Stmt, before: &mut Vec<Stmt>) -> Option<Vec<Stmt>> {
        let Op::Loop(parts) = &mut stmt.op else { return None };
        let (mut after, mut at) = (None, 0);
        while at < parts.accs.len() {
            match self.plan(parts, at, before).filter(|plan| plan.known == [true; 2]) {
                Some(plan) => {
                    let last = self.change(parts, &mut stmt.outs, plan, stmt.span, before);
                    after.get_or_insert_with(Vec::new).extend(last);
                }
                None => at += 1,
            }
        }
        after
    }

    /// Makes rows of an accumulator of which only running tells whether it has as many. Else the loop is what it was.
    fn unknown(&mut self, stmt: &mut Stmt, before: &mut Vec<Stmt>) -> bool {
        let Op::Loop(parts) = &stmt.op else { return false };
        let Some(plan) = (0..parts.accs.len()).find_map(|at| self.plan(parts, at, before)) else {
            return false;
        };
        let (start, span) = (plan.start, stmt.span);
        let Some(made) = before.iter().position(|stmt| stmt.outs == [start]) else { return false };
        let zeros = before.remove(made);
        let same = self.fits(&plan, &parts.len, span, before);
        let mut changed = Copier::within().stmt(self.func, stmt);
        let mut then =
            Block { results: changed.outs.iter().map(|out| Atom::Var(*out)).collect(), ..Block::default() };
        let mut stmts = Vec::new();
        if let Op::Loop(parts) = &mut changed.op {
            let last = self.change(parts, &mut changed.outs, plan, span, &mut stmts);
            then.stmts = stmts.into_iter().chain([changed]).chain(last).collect();
        }
        let kept = Copier::within().stmt(self.func, stmt);
        let results = kept.outs.iter().map(|out| Atom::Var(*out)).collect();
        let otherwise = Block { params: Vec::new(), stmts: vec![zeros, kept], results };
        self.left.insert(start);
        stmt.op = Op::If { cond: same, then, otherwise };
        true
    }

    /// Asks whether an array has as many rows and columns as there are iterations.
    fn fits(&mut self, plan: &Plan, len: &Atom, span: Span, before: &mut Vec<Stmt>) -> Atom {
        let mut fits = Atom::Bool(true);
        for (axis, (known, count)) in
            [0, 1].into_iter().zip(plan.known.iter().zip([Some(len), plan.width.as_ref()]))
        {
            let Some(count) = count.filter(|_| !known) else { continue };
            let [size, same, both] = [Ty::INT, Ty::BOOL, Ty::BOOL].map(|ty| self.func.fresh("n".into(), ty));
            let length = Op::Array(ArrayOp::Length(axis), vec![plan.like.clone()]);
            let equal = Op::Compare(Compare::Eq, Atom::Var(size), count.clone());
            let and = Op::Select { cond: Atom::Var(same), then: fits, otherwise: Atom::Bool(false) };
            let made = [(size, length), (same, equal), (both, and)];
            before.extend(made.map(|(out, op)| Stmt { outs: vec![out], op, span }));
            fits = Atom::Var(both);
        }
        fits
    }

    /// Whether an accumulator is zeros before, as many rows as there are iterations, and nothing is done with it but that elements of the
    /// iteration's own row are added to, and of one other row.
    fn plan(&self, parts: &Loop, at: usize, before: &[Stmt]) -> Option<Plan> {
        let (start, place) = (parts.accs.get(at)?.var()?, parts.init.len() + at);
        let made = before.iter().rfind(|stmt| stmt.outs == [start])?;
        let Op::Array(ArrayOp::Zeros, like) = &made.op else { return None };
        let like = like.first()?.clone();
        let once = self.uses.get(&start) == Some(&1) && !self.left.contains(&start);
        if self.func.ty(start) != MATRIX || !once || parts.mode == Mode::Reduce {
            return None;
        }
        let index = Atom::Var(*parts.body.params.first()?);
        let param = *parts.body.params.get(1 + place)?;
        let mut found = Found::of(index);
        let end = follow(&parts.body, param, &mut found)?;
        let common = found.others.first().cloned();
        let width = found.width.filter(|width| is_from_outside(&parts.body, width));
        let wide = width.is_none() || width.as_ref() == self.widths.get(&start);
        let known = [self.lengths.is(start, &parts.len), wide];
        let there = |row: &Atom| {
            self.around.iter().any(|(index, len)| *row == Atom::Var(*index) && *len == parts.len)
        };
        // What moves otherwise is added to neighbors: these collect what they get.
        let still = found.columns.iter().all(|column| is_from_outside(&parts.body, column));
        let fine = still && found.own && found.others.len() <= 1 && common.iter().all(there);
        (fine && place_of(&parts.body, end) == Some(place)).then_some(Plan {
            at,
            start,
            like,
            width,
            known,
            common,
        })
    }

    /// Makes rows of an accumulator. Gives what is added in the end.
    fn change(
        &mut self,
        parts: &mut Loop,
        outs: &mut Vec<Var>,
        plan: Plan,
        span: Span,
        before: &mut Vec<Stmt>,
    ) -> Option<Stmt> {
        let place = parts.init.len() + plan.at;
        let index = Atom::Var(*parts.body.params.first()?);
        let width = plan.width.clone().unwrap_or_else(|| {
            let width = self.func.fresh("n".into(), Ty::INT);
            let op = Op::Array(ArrayOp::Length(1), vec![plan.like.clone()]);
            before.push(Stmt { outs: vec![width], op, span });
            Atom::Var(width)
        });
        let param = *parts.body.params.get(1 + place)?;
        let name = self.func.vars.at(param).name;
        let zeros = |func: &mut Func| {
            let row = func.fresh(name, ROW);
            let op = Op::Array(ArrayOp::Replicate, vec![width.clone(), Atom::Real(0.0)]);
            (row, Stmt { outs: vec![row], op, span })
        };
        let (own, made) = zeros(self.func);
        let common = plan.common.is_some().then(|| {
            let (row, made) = zeros(self.func);
            before.push(made);
            (row, self.func.fresh(name, ROW))
        });
        let rows = Rows { own, common: common.map(|(_, inside)| inside) };
        let rows = self.rewrite(&mut parts.body, param, rows, &index);
        parts.body.stmts.insert(0, made);
        // The array is what the rows are, and no accumulator.
        parts.accs.remove(plan.at);
        parts.body.params.remove(1 + place);
        parts.body.results.remove(place);
        parts.body.results.push(Atom::Var(rows.own));
        let all = outs.remove(place);
        outs.push(all);
        let ((row, inside), end, common) = (common?, rows.common?, plan.common?);
        let slot = parts.init.len() + parts.accs.len();
        parts.accs.push(Atom::Var(row));
        parts.body.params.insert(1 + slot, inside);
        parts.body.results.insert(slot, Atom::Var(end));
        let sum = self.func.fresh(name, ROW);
        let name = self.func.vars.at(all).name;
        let given = self.func.fresh(name, MATRIX);
        outs.pop();
        outs.push(given);
        outs.insert(slot, sum);
        let args = vec![Atom::Var(given), common, Atom::Var(sum)];
        Some(Stmt { outs: vec![all], op: Op::Array(ArrayOp::AddAt, args), span })
    }

    /// Adds to the rows what a block adds to the array. Gives the rows in the end.
    fn rewrite(&mut self, block: &mut Block, start: Var, mut rows: Rows, index: &Atom) -> Rows {
        let mut current = start;
        for stmt in &mut block.stmts {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match &mut stmt.op {
                Op::Array(ArrayOp::AddAt, args) if args.first() == Some(&Atom::Var(current)) => {
                    let [_, first, column, added] = args.as_slice() else { return };
                    let own = first == index;
                    let row = if own { rows.own } else { rows.common.unwrap_or(rows.own) };
                    let sum = self.row_like(current);
                    *args = vec![Atom::Var(row), column.clone(), added.clone()];
                    current = stmt.outs.first().copied().unwrap_or(current);
                    stmt.outs = vec![sum];
                    if own {
                        rows.own = sum;
                    } else {
                        rows.common = Some(sum);
                    }
                }
                Op::Loop(parts) => {
                    let Some(at) = parts.accs.iter().position(|acc| *acc == Atom::Var(current)) else {
                        return;
                    };
                    (current, rows) = self.loop_in(parts, &mut stmt.outs, at, rows, index);
                }
                Op::If { cond: _, then, otherwise } => {
                    let Some(place) = end_of(then, current) else { return };
                    let ends = [then, otherwise].map(|side| {
                        let ends = self.rewrite(side, current, rows, index);
                        if let Some(result) = side.results.get_mut(place) {
                            *result = Atom::Var(ends.own);
                        }
                        side.results.extend(ends.common.map(Atom::Var));
                        ends
                    });
                    let own = self.row_like(current);
                    let common = ends.iter().find_map(|ends| ends.common).map(|_| self.row_like(current));
                    if let Some(out) = stmt.outs.get_mut(place) {
                        current = std::mem::replace(out, own);
                    }
                    stmt.outs.extend(common);
                    rows = Rows { own, common };
                }
                _ => {}
            });
        }
        rows
    }

    /// The same of a loop, with the array as this one of its accumulators. Gives the array and the rows in the end.
    fn loop_in(
        &mut self,
        parts: &mut Loop,
        outs: &mut Vec<Var>,
        at: usize,
        rows: Rows,
        index: &Atom,
    ) -> (Var, Rows) {
        let (place, slot) = (parts.init.len() + at, parts.init.len() + parts.accs.len());
        let param = parts.body.params.get(1 + place).copied().unwrap_or(rows.own);
        let fresh = |lines: &mut Self| Rows {
            own: lines.row_like(param),
            common: rows.common.map(|_| lines.row_like(param)),
        };
        let (inside, after) = (fresh(self), fresh(self));
        let ends = self.rewrite(&mut parts.body, param, inside, index);
        let put = |list: &mut [Atom], at: usize, var: Var| {
            if let Some(atom) = list.get_mut(at) {
                *atom = Atom::Var(var);
            }
        };
        put(&mut parts.accs, at, rows.own);
        put(&mut parts.body.results, place, ends.own);
        if let Some(param) = parts.body.params.get_mut(1 + place) {
            *param = inside.own;
        }
        let mut end = param;
        if let Some(out) = outs.get_mut(place) {
            end = std::mem::replace(out, after.own);
        }
        if let (Some(row), Some(inside), Some(last), Some(after)) =
            (rows.common, inside.common, ends.common, after.common)
        {
            parts.accs.push(Atom::Var(row));
            parts.body.params.insert(1 + slot, inside);
            parts.body.results.insert(slot, Atom::Var(last));
            outs.insert(slot, after);
        }
        (end, after)
    }

    fn row_like(&mut self, array: Var) -> Var {
        let name = self.func.vars.at(array).name;
        self.func.fresh(name, ROW)
    }
}

/// Follows an array through a block in which elements of it are added to, and nothing else is done with it. Gives what it is in the end.
fn follow(block: &Block, start: Var, found: &mut Found) -> Option<Var> {
    let mut seen = FxHashSet::from_iter([start]);
    let mut current = start;
    for stmt in &block.stmts {
        let here = Atom::Var(current);
        let is_seen = |atom: &Atom| atom.var().is_some_and(|var| seen.contains(&var));
        let mut direct = 0;
        stmt.op.for_each_atom(&mut |atom| direct += usize::from(is_seen(atom)));
        let free: Vec<Var> = stmt.op.blocks().into_iter().flat_map(Block::free_vars).collect();
        let within = free.iter().any(|var| seen.contains(var));
        let only_now = free.iter().all(|var| *var == current || !seen.contains(var));
        current = match &stmt.op {
            _ if direct == 0 && !within => continue,
            Op::Array(ArrayOp::AddAt, args) if direct == 1 && args.first() == Some(&here) => {
                let ([_, first, column, _], [out]) = (args.as_slice(), stmt.outs.as_slice()) else {
                    return None;
                };
                let through = found.inside.iter().find(|(index, _)| index == column);
                if through.is_none() {
                    found.columns.push(column.clone());
                }
                if *first == found.index {
                    found.own = true;
                    found.width = found.width.take().or_else(|| through.map(|(_, len)| len.clone()));
                } else if !found.others.contains(first) {
                    found.others.push(first.clone());
                }
                *out
            }
            Op::Loop(parts) if direct == 1 && !within && parts.mode != Mode::Reduce => {
                let at = parts.accs.iter().position(|acc| *acc == here)?;
                let place = parts.init.len() + at;
                let param = *parts.body.params.get(1 + place)?;
                found.inside.push((Atom::Var(*parts.body.params.first()?), parts.len.clone()));
                let end =
                    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || follow(&parts.body, param, found))?;
                (place_of(&parts.body, end) == Some(place)).then_some(())?;
                *stmt.outs.get(place)?
            }
            Op::If { cond: _, then, otherwise } if direct == 0 && only_now => {
                let mut side = |side: &Block| {
                    let end =
                        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || follow(side, current, found))?;
                    place_of(side, end)
                };
                let place = side(then)?;
                (side(otherwise)? == place).then_some(())?;
                *stmt.outs.get(place)?
            }
            _ => return None,
        };
        seen.insert(current);
    }
    let results = block.results.iter().filter(|atom| atom.var().is_some_and(|var| seen.contains(&var)));
    (results.count() == 1).then_some(current)
}

/// Where a block gives a variable.
fn place_of(block: &Block, end: Var) -> Option<usize> {
    block.results.iter().position(|atom| *atom == Atom::Var(end))
}

/// Where a block gives the array that comes in as this variable, as [`follow`] has found before.
fn end_of(block: &Block, start: Var) -> Option<usize> {
    let mut found = Found::of(Atom::Unit);
    place_of(block, follow(block, start, &mut found)?)
}

/// Whether a number is known before a block.
fn is_from_outside(block: &Block, number: &Atom) -> bool {
    let Some(var) = number.var() else { return true };
    let binds = |block: &Block| block.params.contains(&var);
    let mut fine = !binds(block);
    block.for_each_stmt(&mut |stmt| {
        fine &= !stmt.outs.contains(&var) && !stmt.op.blocks().into_iter().any(binds);
    });
    fine
}
