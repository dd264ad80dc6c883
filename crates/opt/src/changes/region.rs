//! What makes an array from one that a loop carries becomes what changes that.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed makes no array, and may look at one")]

use super::there::{Leaf, Read, There};
use crate::facts::{is_costly, is_quiet};
use crate::said::{comparisons, conjunction};
use crate::stands::stands_alone;
use crate::walk::{Names, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, FuncId, Stmt, Ty, Var};

/// What is known of a function: what makes conditions and places, and how often variables are used.
pub(super) type Known<'k> = (&'k FxHashMap<Var, Op>, &'k FxHashMap<Var, usize>);

/// The statements of a body that changes the array instead of making it.
pub(super) struct Conversion {
    pub(super) stmts: Vec<Stmt>,
    /// The sizes that loops make it in.
    pub(super) sizes: Vec<Size>,
    /// Rows that are set: so many axes down.
    pub(super) rows: Vec<(usize, Var)>,
}

/// A size in which a loop makes the array along an axis: so many iterations, and what the loop made.
pub(super) struct Size {
    pub(super) axis: usize,
    pub(super) len: Atom,
    pub(super) array: Var,
}

/// A loop that changes the array, around where one is.
struct Level {
    index: Var,
    len: Atom,
    /// The version of the array before it.
    before: Var,
    /// What is read there.
    reads: Vec<Stmt>,
}

/// The body of a loop, on the way.
pub(super) struct Region<'r> {
    func: &'r mut Func,
    known: Known<'r>,
    total: &'r FxHashSet<FuncId>,
    array: Var,
    rank: usize,
    /// Rows of the array, and the array, by the indices at which they were in it; elements likewise.
    views: FxHashMap<Var, Vec<Atom>>,
    elements: FxHashMap<Var, Vec<Atom>>,
    early: bool,
    /// Whether the array is changed already.
    after: bool,
    /// What is bound inside of what makes the array.
    inside: FxHashSet<Var>,
    /// What depends on the row where one is.
    with_rows: FxHashSet<Var>,
    /// The loops around, the first of which is the one that hands the array on.
    levels: Vec<Level>,
    /// What holds where one is.
    holds: Vec<(Compare, Atom, Atom)>,
    leaves: Vec<Leaf>,
    reads: Vec<Read>,
    sizes: Vec<Size>,
    rows: Vec<(usize, Var)>,
    /// Whether iterations of some loop leave all as it was from some index on, or up to one.
    pays: bool,
}

/// Where one is: the indices of what is made, and the version of the array that is there.
type Here<'h> = (&'h [Atom], Var);

impl<'r> Region<'r> {
    pub(super) fn new(
        func: &'r mut Func,
        known: Known<'r>,
        total: &'r FxHashSet<FuncId>,
        (array, rank): (Var, usize),
        early: bool,
    ) -> Region<'r> {
        Region {
            func,
            known,
            total,
            array,
            rank,
            views: FxHashMap::from_iter([(array, Vec::new())]),
            elements: FxHashMap::default(),
            early,
            after: false,
            inside: FxHashSet::default(),
            with_rows: FxHashSet::default(),
            levels: Vec::new(),
            holds: Vec::new(),
            leaves: Vec::new(),
            reads: Vec::new(),
            sizes: Vec::new(),
            rows: Vec::new(),
            pays: false,
        }
    }

    /// What the body of a loop becomes that makes the array anew; nothing if it must stay, or nothing is won.
    pub(super) fn convert(mut self, parts: &Loop, place: usize) -> Option<Conversion> {
        let (body, result) = (&parts.body, parts.body.results.get(place)?);
        let index = *body.params.first()?;
        self.levels.push(Level { index, len: parts.len.clone(), before: self.array, reads: Vec::new() });
        let at = body.stmts.iter().position(|stmt| result.var().is_some_and(|var| stmt.outs == [var]))?;
        let mut stmts = body.stmts.get(..at)?.to_vec();
        // Rows that are taken before: what is read of them is read of the array.
        for stmt in stmts.iter().filter(|_| self.early) {
            if let (Op::Array(ArrayOp::Index, args), [out]) = (&stmt.op, stmt.outs.as_slice())
                && args.first() == Some(&Atom::Var(self.array))
                && args.len() <= self.rank
            {
                self.views.insert(*out, args.get(1..)?.to_vec());
            }
        }
        let maker = body.stmts.get(at)?;
        let version = self.maker(maker, (&[], self.array), &mut stmts)?;
        // What was made has its name as before.
        let given = maker.outs.first().copied()?;
        stmts.push(Stmt { outs: maker.outs.clone(), op: Op::Copy(Atom::Var(version)), span: maker.span });
        self.after = true;
        for stmt in body.stmts.get(at + 1..)? {
            self.plain(stmt, (&[], given), &mut stmts)?;
        }
        if body.results.iter().any(|result| result.var().is_some_and(|var| self.views.contains_key(&var))) {
            return None;
        }
        let there = There { made: self.known.0, inside: &self.inside, leaves: &self.leaves };
        let fine = self.pays && !self.leaves.is_empty() && self.reads.iter().all(|read| there.is(read));
        fine.then_some(Conversion { stmts, sizes: self.sizes, rows: self.rows })
    }

    /// Whether a statement looks at the array as it was.
    fn mentions(&self, stmt: &Stmt) -> bool {
        mentioned(&stmt.op).any(|var| self.views.contains_key(&var))
    }

    /// A block that makes what stands at some indices: the statements that change it, and the version of the array then.
    fn block(&mut self, block: &Block, result: &Atom, here: Here<'_>) -> Option<(Vec<Stmt>, Var)> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let var = result.var();
            let makes = |stmt: &Stmt| var.is_some_and(|var| stmt.outs == [var]);
            let at = block.stmts.iter().position(makes).unwrap_or(block.stmts.len());
            let mut out = Vec::new();
            for stmt in block.stmts.get(..at)? {
                self.plain(stmt, here, &mut out)?;
            }
            self.inside.extend(block.stmts.iter().flat_map(|stmt| &stmt.outs));
            let version = match block.stmts.get(at) {
                Some(stmt) => self.maker(stmt, here, &mut out)?,
                None => self.leaf(result, here, &mut out)?,
            };
            for stmt in block.stmts.get(at + 1..).unwrap_or_default() {
                if self.mentions(stmt) {
                    return None;
                }
                out.push(stmt.clone());
            }
            Some((out, version))
        })
    }

    /// The statement that makes what stands at some indices.
    fn maker(&mut self, stmt: &Stmt, here: Here<'_>, out: &mut Vec<Stmt>) -> Option<Var> {
        let (place, current) = here;
        let made = stmt.outs.first().copied()?;
        let once = self.known.1.get(&made) == Some(&1) || place.is_empty();
        match &stmt.op {
            Op::If { cond, then, otherwise } if once && stmt.outs.len() == 1 => {
                let mut sides = Vec::new();
                for (side, holds) in [(then, true), (otherwise, false)] {
                    let said = self.said(cond, holds);
                    let count = self.holds.len();
                    self.holds.extend(said);
                    let (stmts, version) = self.block(side, side.results.first()?, here)?;
                    self.holds.truncate(count);
                    sides.push(Block { params: Vec::new(), stmts, results: vec![Atom::Var(version)] });
                }
                let (otherwise, then) = (sides.pop()?, sides.pop()?);
                let is_left = |side: &Block| side.stmts.is_empty() && side.results == [Atom::Var(current)];
                for (other, holds) in [(&then, false), (&otherwise, true)] {
                    if is_left(other) {
                        self.pays |= self.bounds(cond, holds, place)?;
                    }
                }
                Some(self.push(Op::If { cond: cond.clone(), then, otherwise }, stmt.span, out))
            }
            Op::Loop(parts) if once && place.len() < self.rank && is_plain(parts, stmt) => {
                self.rows_of(parts, stmt, here, out)
            }
            _ if place.is_empty() => None,
            _ => {
                self.plain(stmt, here, out)?;
                self.leaf(&Atom::Var(made), here, out)
            }
        }
    }

    /// What a condition says of integers: a number that is none is not equal to itself.
    fn said(&self, cond: &Atom, holds: bool) -> Vec<(Compare, Atom, Atom)> {
        let mut said = comparisons(cond, holds, self.known.0);
        said.retain(|(_, a, b)| [a, b].iter().all(|side| self.func.type_of(side) == Ty::INT));
        said
    }

    /// Whether a condition says from where on something is done at these indices, or up to where. For elements it must say nothing else, but for what is the
    /// same in all of them: nothing is won where each is asked.
    fn bounds(&self, cond: &Atom, holds: bool, place: &[Atom]) -> Option<bool> {
        let said = self.said(cond, holds);
        let there = There { made: self.known.0, inside: &self.inside, leaves: &self.leaves };
        let bound =
            |(compare, a, b): &&(Compare, Atom, Atom)| *compare != Compare::Ne && there.compares(place, a, b);
        let bounds = said.iter().filter(bound).count();
        let moves = said.iter().filter(|(_, a, b)| there.moves(place, a, b)).count();
        let of_elements = place.len() == self.rank;
        let whole = conjunction(cond, holds, self.known.0).is_some_and(|all| all.len() == said.len());
        (!of_elements || whole && bounds == 1 && moves == 1 && said.len() <= 2).then_some(bounds > 0)
    }

    /// A loop that makes rows, or elements.
    fn rows_of(&mut self, parts: &Loop, stmt: &Stmt, here: Here<'_>, out: &mut Vec<Stmt>) -> Option<Var> {
        let (place, current) = here;
        let [index, rows @ ..] = parts.body.params.as_slice() else { return None };
        if !self.is_size(&parts.len, place.len()) {
            self.sizes.push(Size { axis: place.len(), len: parts.len.clone(), array: *stmt.outs.first()? });
        }
        let deeper: Vec<Atom> = place.iter().cloned().chain([Atom::Var(*index)]).collect();
        self.inside.extend(&parts.body.params);
        if deeper.len() < self.rank {
            self.with_rows.extend(&parts.body.params);
        }
        let version = self.func.fresh(self.func.vars.at(self.array).name, self.func.ty(self.array));
        let (mut inputs, mut params) = (Vec::new(), vec![*index, version]);
        let mut begin = Vec::new();
        for (row, input) in rows.iter().zip(&parts.inputs) {
            let Some(view) = input.var().and_then(|var| self.views.get(&var)) else {
                inputs.push(input.clone());
                params.push(*row);
                continue;
            };
            let of: Vec<Atom> = view.iter().cloned().chain([Atom::Var(*index)]).collect();
            if of.len() < self.rank {
                self.views.insert(*row, of);
            } else {
                begin.push(Stmt { outs: vec![*row], op: read_of(version, &of), span: stmt.span });
                if of.iter().filter_map(Atom::var).any(|var| self.with_rows.contains(&var)) {
                    self.with_rows.insert(*row);
                }
                self.elements.insert(*row, of.clone());
                self.reads(&of, &deeper);
            }
        }
        self.levels.push(Level { index: *index, len: parts.len.clone(), before: current, reads: Vec::new() });
        let (stmts, end) = self.block(&parts.body, parts.body.results.first()?, (&deeper, version))?;
        let mut before = self.levels.pop()?.reads;
        begin.retain(|read| is_used(read, &stmts));
        let stmts: Vec<Stmt> = begin.into_iter().chain(stmts).collect();
        let mut body = Block { params, stmts, results: vec![Atom::Var(end)] };
        let around = self.invariant(&mut body, version);
        let looped = Loop {
            mode: Mode::Sequence,
            backward: false,
            len: parts.len.clone(),
            inputs,
            init: vec![Atom::Var(current)],
            accs: Vec::new(),
            body,
        };
        let looped = Op::Loop(Box::new(looped));
        let Some(cond) = around else {
            out.append(&mut before);
            return Some(self.push(looped, stmt.span, out));
        };
        let end = self.push(looped, stmt.span, &mut before);
        let then = Block { params: Vec::new(), stmts: before, results: vec![Atom::Var(end)] };
        let otherwise = Block { results: vec![Atom::Var(current)], ..Block::default() };
        Some(self.push(Op::If { cond, then, otherwise }, stmt.span, out))
    }

    /// Of a loop that changes something where two conditions hold, one of them the same in all iterations: that one, which need not be asked inside.
    fn invariant(&self, body: &mut Block, version: Var) -> Option<Atom> {
        let (last, before) = body.stmts.split_last_mut()?;
        let Stmt { outs, op: Op::If { cond, otherwise, .. }, .. } = last else { return None };
        let left = otherwise.stmts.is_empty() && otherwise.results == [Atom::Var(version)];
        let ends = body.results.first().and_then(Atom::var) == outs.first().copied();
        let quiet = |stmt: &Stmt| is_quiet(&stmt.op, self.total) && stands_alone(stmt);
        if !left || !ends || !before.iter().all(quiet) {
            return None;
        }
        let Some(Op::Select { cond: a, then: b, otherwise: Atom::Bool(false) }) =
            self.known.0.get(&cond.var()?)
        else {
            return None;
        };
        let here = |atom: &Atom| {
            atom.var().is_some_and(|var| {
                body.params.contains(&var) || before.iter().any(|stmt| stmt.outs.contains(&var))
            })
        };
        let (fixed, moves) = match (here(a), here(b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return None,
        };
        *cond = moves.clone();
        Some(fixed.clone())
    }

    /// Whether a number is the size of the array along an axis because it was asked for that.
    fn is_size(&self, len: &Atom, axis: usize) -> bool {
        let Some(Op::Array(ArrayOp::Length(own), args)) = len.var().and_then(|var| self.known.0.get(&var))
        else {
            return false;
        };
        let of = args.first().and_then(Atom::var).and_then(|var| self.views.get(&var));
        of.is_some_and(|of| of.len() + usize::from(*own) == axis)
    }

    /// What stands at some indices is this.
    fn leaf(&mut self, result: &Atom, here: Here<'_>, out: &mut Vec<Stmt>) -> Option<Var> {
        let (place, current) = here;
        let of = result.var().and_then(|var| self.views.get(&var).or_else(|| self.elements.get(&var)));
        if of.is_some_and(|of| of == place) {
            // It is there, and need not be read for this.
            let once = |var: &Var| self.known.1.get(var) == Some(&1);
            out.retain(|stmt| !stmt.outs.iter().any(|out| Some(*out) == result.var() && once(out)));
            return Some(current);
        }
        if place.is_empty() {
            return None;
        }
        let span = out.last().map_or(Span::NOWHERE, |stmt| stmt.span);
        let value = match result.var().filter(|var| self.views.contains_key(var)) {
            Some(var) => self.whole(var, here, span, out)?,
            None => result.clone(),
        };
        if place.len() < self.rank {
            self.rows.push((place.len(), value.var()?));
        }
        self.leaves.push(Leaf { place: place.to_vec(), holds: self.holds.clone() });
        let args = [Atom::Var(current)].into_iter().chain(place.iter().cloned()).chain([value]).collect();
        Some(self.push(Op::Array(ArrayOp::Set, args), span, out))
    }

    /// A statement that does something else, and looks at the array as it was.
    fn plain(&mut self, stmt: &Stmt, here: Here<'_>, out: &mut Vec<Stmt>) -> Option<()> {
        let view = |this: &Self, atom: Option<&Atom>| this.views.get(&atom?.var()?).cloned();
        let ((place, current), after) = (here, self.after);
        let by_row = self.changes_with_rows(stmt);
        if by_row {
            self.with_rows.extend(&stmt.outs);
        }
        match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Array(ArrayOp::Index, args), [read]) if let Some(of) = view(self, args.first()) => {
                let of: Vec<Atom> = of.into_iter().chain(args.iter().skip(1).cloned()).collect();
                let (op, span) = (read_of(current, &of), stmt.span);
                if of.len() == self.rank {
                    self.reads(&of, place);
                    match self.level(&of).filter(|_| !of.starts_with(place) && !after) {
                        Some(level) => {
                            level.reads.push(Stmt {
                                outs: vec![*read],
                                op: read_of(level.before, &of),
                                span,
                            });
                        }
                        None => out.push(Stmt { outs: vec![*read], op, span }),
                    }
                    self.elements.insert(*read, of);
                } else {
                    // That it is there is still to be seen.
                    if !place.starts_with(&of) {
                        let looked_at = self.func.fresh(self.func.vars.at(*read).name, self.func.ty(*read));
                        out.push(Stmt { outs: vec![looked_at], op, span });
                    }
                    self.views.insert(*read, of);
                }
            }
            (Op::Array(ArrayOp::Length(axis), args), _) if let Some(of) = view(self, args.first()) => {
                let axis = axis.checked_add(u8::try_from(of.len()).ok()?)?;
                let op = Op::Array(ArrayOp::Length(axis), vec![Atom::Var(current)]);
                out.push(Stmt { outs: stmt.outs.clone(), op, span: stmt.span });
            }
            _ => {
                // In the loop around this one it is computed once for all.
                if place.len() > 1 && is_costly(&stmt.op) && !by_row {
                    return None;
                }
                let mut stmt = stmt.clone();
                for var in stmt.op.operand_vars() {
                    if self.views.contains_key(&var) {
                        let row = self.whole(var, here, stmt.span, out)?;
                        Names::from_iter([(var, row)]).replace_in(&mut stmt.op);
                    }
                }
                for block in stmt.op.blocks_mut() {
                    self.inside_of(block, here)?;
                }
                out.push(stmt);
            }
        }
        Some(())
    }

    /// The outermost loop before which an element can be read that nothing changes: where its indices are known. They are those of loops, and must be known to
    /// be there.
    fn level(&mut self, place: &[Atom]) -> Option<&mut Level> {
        let mut first = 1;
        for (axis, index) in place.iter().enumerate() {
            let at = self.levels.iter().position(|level| index.var() == Some(level.index))?;
            let (level, of_axis) = (self.levels.get(at)?, self.levels.get(axis + 1)?);
            if level.len != of_axis.len {
                return None;
            }
            first = first.max(at + 1);
        }
        self.levels.get_mut(first)
    }

    /// Whether a statement depends on the row where it is done, and not only on the column.
    fn changes_with_rows(&self, stmt: &Stmt) -> bool {
        let changes = |var: &Var| self.with_rows.contains(var);
        let of_row = |of: &Vec<Atom>| of.iter().filter_map(Atom::var).any(|var| changes(&var));
        mentioned(&stmt.op).any(|var| changes(&var) || self.views.get(&var).is_some_and(of_row))
    }

    /// A block of such a statement.
    fn inside_of(&mut self, block: &mut Block, here: Here<'_>) -> Option<()> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::new();
            for stmt in std::mem::take(&mut block.stmts) {
                self.plain(&stmt, here, &mut out)?;
            }
            for result in &mut block.results {
                if let Some(var) = result.var().filter(|var| self.views.contains_key(var)) {
                    *result = self.whole(var, here, Span::NOWHERE, &mut out)?;
                }
            }
            block.stmts = out;
            Some(())
        })
    }

    /// A row of the array, read where one is.
    fn whole(
        &mut self,
        view: Var,
        (place, current): Here<'_>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<Atom> {
        let of = self.views.get(&view).filter(|of| !of.is_empty())?.clone();
        let row = self.func.fresh(self.func.vars.at(view).name, self.func.ty(view));
        out.push(Stmt { outs: vec![row], op: read_of(current, &of), span });
        self.reads(&of, place);
        Some(Atom::Var(row))
    }

    /// Notes that something is looked at.
    fn reads(&mut self, of: &[Atom], place: &[Atom]) {
        let at = (!self.after).then(|| place.to_vec());
        self.reads.push(Read { place: of.to_vec(), at });
    }

    /// Appends what gives a version of the array.
    fn push(&mut self, op: Op, span: Span, out: &mut Vec<Stmt>) -> Var {
        let version = self.func.fresh(self.func.vars.at(self.array).name, self.func.ty(self.array));
        out.push(Stmt { outs: vec![version], op, span });
        version
    }
}

/// Reads what stands at some indices of a version of the array.
fn read_of(version: Var, place: &[Atom]) -> Op {
    Op::Array(ArrayOp::Index, [Atom::Var(version)].into_iter().chain(place.iter().cloned()).collect())
}

/// Whether what a statement gives is used by others.
fn is_used(read: &Stmt, stmts: &[Stmt]) -> bool {
    let used = |stmt: &Stmt| mentioned(&stmt.op).any(|var| read.outs.contains(&var));
    stmts.iter().any(used)
}

/// Whether a loop makes one array and does nothing else.
fn is_plain(parts: &Loop, stmt: &Stmt) -> bool {
    let alone = parts.init.is_empty() && parts.accs.is_empty() && stmt.outs.len() == 1;
    alone && parts.mode == Mode::Each && !parts.backward
}
