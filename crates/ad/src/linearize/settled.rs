//! What a loop reads of an array that it carries, at places that it does not write any more, is that of the array in the end.
//!
//! ```text
//! row = for i < n, row = zeros(b) {
//!   known = slice(row, 0, i)                 no iteration from here on writes before i:
//!   yield row with [i] = … known …           known is slice(row, 0, i) of what the loop gives
//! }
//! ```
//!
//! So neither `known` nor `row` need be kept for each iteration, where linear code mentions them: it reads the one array that is there
//! in the end. For that, along one of the axes, all iterations must write at places that rise (or fall) from one to the next, or stay, and what
//! is read must lie on the side where they were. Both are sums of integers ([`Form`]), of which loops around and inside tell how large
//! their indices can be, and conditions what else they are. So is what lies where no iteration writes: in the step of Gauss and Jordan that
//! goes through all rows but the `k`-th, that one. Loops inside of loops hand such an array on to those around: what is settled in all of
//! them, as the row of a step of elimination and the factors before, is that of the one array that the outermost one gives.
//!
//! The array in the end must be kept for it, which takes a copy if it is updated later on. That is no more than what made it, if it was
//! made where the loop stands; else only what would be kept as a whole is read there instead, and rows that lie at one place for
//! more loops than they have axes ([`rows`]).

#![expect(clippy::wildcard_enum_match_arm, reason = "what hands on an array, or makes one, is named")]

mod integers;
mod rows;

use super::Linearize;
use crate::linear::{Choice, Lin, LinBlock, LinLoop};
use integers::Form;
pub(super) use integers::{Facts, Said};
use rows::Rows;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Op, Stmt, Var};

/// Where iterations write along an axis.
struct Along {
    /// For each write the first place of the iteration, or the last one if they fall.
    places: Vec<Form>,
    /// The same of the next iteration.
    next: Vec<Form>,
    /// Whether they never fall from one iteration to the next, or never rise.
    rise: bool,
    fall: bool,
}

/// An array that a loop carries, as it is in the end.
struct Final {
    array: Var,
    /// For each axis along which all writes have a place, if something is known of these.
    axes: Vec<Option<Along>>,
    /// All that is written, with the places.
    writes: Vec<Write>,
    /// Whether it was made where the loop stands.
    fresh: bool,
}

/// Where an element or a row is written.
struct Write {
    places: Vec<Option<Form>>,
    /// What conditions say there.
    said: Vec<Said>,
}

/// What a loop carries of which something is settled.
pub(super) struct Settled {
    facts: Rc<Facts>,
    finals: Vec<Final>,
    /// What is carried, and what it becomes in an iteration: which of these it is, and whether it is what the iteration gives.
    versions: FxHashMap<Var, (usize, bool)>,
    /// What is bound in the loop.
    bound: FxHashSet<Var>,
    /// What it carries.
    carried: Vec<Var>,
    /// The rows that it is given, and of which array.
    inputs: Vec<(Var, Var)>,
    /// Rows of what it gives that are read once, after it.
    rows: Rows,
}

impl Settled {
    /// What the loop carries.
    pub(super) fn carried(&self) -> &[Var] {
        &self.carried
    }

    /// The array of which an operation may read instead, with what is known of it, where this is said.
    fn instead(&self, op: &Op, said: &[Said]) -> Option<&Final> {
        let Op::Array(op @ (ArrayOp::Index | ArrayOp::Slice), args) = op else { return None };
        let (array, places) = args.split_first()?;
        let (which, given) = *self.versions.get(&array.var()?)?;
        let known = self.finals.get(which)?;
        let forms: Option<Vec<Form>> = places.iter().map(|place| self.facts.form(place)).collect();
        let forms = forms?;
        let is_over = self.is_over(*op, &forms, (known, given), said) || self.is_apart(*op, &forms, known);
        is_over.then_some(known)
    }

    /// Whether no iteration writes there any more.
    fn is_over(&self, op: ArrayOp, forms: &[Form], (known, given): (&Final, bool), said: &[Said]) -> bool {
        let over = |along: &Along, from: &Form, behind: &Form| {
            let mut writes = if given { along.next.iter() } else { along.places.iter() };
            let mut before = writes.clone();
            along.rise && writes.all(|write| self.facts.is_at_least(write, behind, 0, said))
                || along.fall && before.all(|write| self.facts.is_at_least(from, write, 1, said))
        };
        match (op, forms) {
            (ArrayOp::Slice, [from, to]) => known
                .axes
                .first()
                .is_some_and(|along| along.as_ref().is_some_and(|along| over(along, from, to))),
            (ArrayOp::Index, places) => known.axes.iter().zip(places).any(|(along, at)| {
                let behind = at.clone().plus(&Form::constant(1), 1);
                along.as_ref().zip(behind).is_some_and(|(along, behind)| over(along, at, &behind))
            }),
            (_, _) => false,
        }
    }

    /// Whether no iteration writes there at all.
    fn is_apart(&self, op: ArrayOp, forms: &[Form], known: &Final) -> bool {
        let is_fixed = |form: &Form| form.terms().all(|(var, _)| !self.bound.contains(&var));
        let facts = &self.facts;
        known.writes.iter().all(|Write { places, said }| match (op, forms) {
            (ArrayOp::Slice, [from, to]) => places.first().and_then(Option::as_ref).is_some_and(|write| {
                is_fixed(from)
                    && is_fixed(to)
                    && (facts.is_at_least(write, to, 0, said) || facts.is_at_least(from, write, 1, said))
            }),
            (ArrayOp::Index, forms) => places.iter().zip(forms).any(|(write, at)| {
                let write = write.as_ref().filter(|_| is_fixed(at));
                write.is_some_and(|write| facts.differ(write, at, said))
            }),
            (_, _) => false,
        })
    }

    /// Lets statements in linear code that do something again read of the array in the end. Whether there are any.
    pub(super) fn in_linear(&self, block: &mut LinBlock, said: &mut Vec<Said>) -> bool {
        let mut changed = false;
        if self.finals.is_empty() {
            return changed;
        }
        crate::deep(|| {
            for lin in &mut block.stmts {
                match lin {
                    Lin::Loop(parts) => {
                        let LinLoop { again, body, .. } = &mut **parts;
                        changed |= self.in_stmts(again, said);
                        changed |= self.in_linear(body, said);
                    }
                    Lin::Branch(branch) => {
                        let cond = if let Choice::If(cond) = &branch.on { Some(cond.clone()) } else { None };
                        for (arm, holds) in branch.arms.iter_mut().zip([true, false]) {
                            let before = said.len();
                            said.extend(cond.iter().flat_map(|cond| self.facts.said(cond, holds)));
                            changed |= self.in_stmts(&mut arm.again, said);
                            changed |= self.in_linear(&mut arm.block, said);
                            said.truncate(before);
                        }
                    }
                    _ => {}
                }
            }
        });
        if changed {
            block.forget_mentioned();
        }
        changed
    }

    fn in_stmts(&self, stmts: &mut [Stmt], said: &[Said]) -> bool {
        let mut changed = false;
        for stmt in stmts {
            let array = self.instead(&stmt.op, said).map(|known| known.array);
            changed |= array.is_some_and(|array| read_of(&mut stmt.op, array));
        }
        changed
    }
}

/// The body of a loop as it is to be done again.
pub(super) struct DoneAgain {
    pub(super) block: Block,
    /// What is not: it is less than the array that it takes.
    pub(super) kept: FxHashSet<Var>,
}

/// Lets an operation read of another array.
fn read_of(op: &mut Op, array: Var) -> bool {
    let Op::Array(_, args) = op else { return false };
    args.first_mut().is_some_and(|first| {
        *first = Atom::Var(array);
        true
    })
}

impl Linearize<'_, '_> {
    /// What is settled of what a loop carries.
    pub(super) fn settled(&self, stmt: &Stmt, parts: &Loop) -> Settled {
        let (func, body) = (self.code.b.func(), &parts.body);
        let carried = parts.init.len() + parts.accs.len();
        let states = body.params.iter().skip(1).take(carried);
        let rows = body.params.iter().skip(1 + carried).zip(&parts.inputs);
        let mut settled = Settled {
            facts: Rc::clone(&self.facts),
            finals: Vec::new(),
            versions: FxHashMap::default(),
            bound: body.bound_vars(),
            carried: states.copied().collect(),
            inputs: rows.filter_map(|(row, array)| Some((*row, array.var()?))).collect(),
            rows: Rows::after(self.code.b.so_far(), self.likes),
        };
        let states = body.params.iter().skip(1).zip(&stmt.outs).zip(parts.init.iter().zip(&body.results));
        let arrays = states.filter(|((param, _), _)| func.ty(**param).rank() > 0);
        let arrays: Vec<_> = arrays.collect();
        let Some(index) = body.params.first().filter(|_| !arrays.is_empty()) else { return settled };
        let own = Own { facts: &self.facts, index: *index, backward: parts.backward, bound: &settled.bound };
        let mut made = FxHashMap::default();
        note_made(body, &mut made);
        for ((param, out), (init, result)) in arrays {
            let mut walk = Writes::new(&self.facts, &made, *param);
            if !walk.follow(result, *param) {
                continue;
            }
            let Writes { places, versions, .. } = walk;
            let count = places.iter().map(|(place, _)| place.len()).min().unwrap_or(1);
            let axes = (0..count).map(|axis| own.along(places.iter().map(|(place, _)| place.get(axis))));
            let (axes, fresh) = (axes.collect(), self.is_fresh(init));
            let writes = places.iter().map(|(places, said)| Write {
                places: places.iter().map(|place| self.facts.form(place)).collect(),
                said: said.clone(),
            });
            let writes = writes.collect();
            let which = settled.finals.len();
            let given = |version: Var| result.var() == Some(version) && version != *param;
            settled.versions.extend(versions.into_iter().map(|version| (version, (which, given(version)))));
            settled.finals.push(Final { array: *out, axes, writes, fresh });
        }
        settled
    }

    /// What an operation reads instead, if what it reads of an array is settled in the loop that hands it on, or in those around that do, too: of the
    /// array in the end, if that was made where the outermost of these loops stands, or of a row of it.
    fn settled_as(&mut self, op: &Op) -> Option<Op> {
        let (mut op, mut levels) = (op.clone(), Vec::new());
        for (level, settled) in self.around.iter().enumerate().rev() {
            if let Some(known) = settled.instead(&op, &self.said) {
                read_of(&mut op, known.array);
                levels.push((level, op.clone(), known.fresh));
            }
        }
        match levels.last() {
            Some((_, op, true)) => return Some(op.clone()),
            Some(_) => {}
            None => return self.row_before(&op),
        }
        levels.iter().rev().find_map(|(level, op, _)| self.row_instead(*level, op))
    }

    /// The body of a loop as it is to be done again, where it may read of arrays in the end.
    pub(super) fn done_again(&mut self, settled: &Settled, body: &Block) -> Option<DoneAgain> {
        let carries = |settled: &Rc<Settled>| !settled.carried.is_empty();
        if !self.around.iter().any(carries) {
            return None;
        }
        let (mut other, mut kept) = (body.clone(), FxHashSet::default());
        for stmt in &mut other.stmts {
            let func = self.code.b.func();
            let rank = stmt.outs.iter().map(|out| func.ty(*out).rank()).max().unwrap_or(0);
            let small = |known: &&Final| known.fresh && func.ty(known.array).rank() <= rank + 1;
            let own = settled.instead(&stmt.op, &self.said).filter(small).map(|known| known.array);
            match (self.settled_as(&stmt.op), own) {
                (Some(op), _) => stmt.op = op,
                (None, Some(array)) => {
                    read_of(&mut stmt.op, array);
                }
                (None, None) if self.is_less(stmt) => kept.extend(&stmt.outs),
                (None, None) => {}
            }
        }
        Some(DoneAgain { block: other, kept })
    }

    /// A block of a branch as it is to be done again, where it may read numbers of arrays in the end, and what these are.
    pub(super) fn done_again_in_arm(&mut self, block: &Block) -> Option<(Block, FxHashSet<Var>)> {
        if self.around.iter().all(|settled| settled.finals.is_empty()) {
            return None;
        }
        let (mut other, mut read) = (block.clone(), FxHashSet::default());
        for stmt in &mut other.stmts {
            let numbers = stmt.outs.iter().all(|out| self.code.b.func().ty(*out).rank() == 0);
            if let Some(op) = self.settled_as(&stmt.op).filter(|_| numbers) {
                stmt.op = op;
                read.extend(&stmt.outs);
            }
        }
        (!read.is_empty()).then_some((other, read))
    }

    /// Whether an array was made in the block that is being written, with what may have been written into it since; or by the caller of
    /// a function that nothing else calls.
    fn is_fresh(&self, atom: &Atom) -> bool {
        let mut atom = atom;
        loop {
            let Some(var) = atom.var() else { return false };
            let made = self.code.b.so_far().iter().rev().find(|stmt| stmt.outs.contains(&var));
            let Some(stmt) = made else { return self.code.b.params().contains(&var) && !self.is_called() };
            atom = match &stmt.op {
                Op::Copy(x) => x,
                Op::Array(ArrayOp::Set | ArrayOp::AddAt | ArrayOp::ScatterAdd, args) => match args.first() {
                    Some(array) => array,
                    None => return false,
                },
                Op::Array(op, _) => return makes(*op),
                Op::Loop(parts) => {
                    let place = stmt.outs.iter().position(|out| *out == var);
                    match place.and_then(|place| parts.init.iter().chain(&parts.accs).nth(place)) {
                        Some(init) => init,
                        None => return true,
                    }
                }
                _ => return false,
            };
        }
    }

    /// Whether some function calls this one.
    fn is_called(&self) -> bool {
        let calls = |stmt: &Stmt| crate::requests::callees(&stmt.op).into_iter().any(|func| func == self.of);
        let is_call = |stmt: &Stmt| matches!(stmt.op, Op::Call { .. }) && calls(stmt);
        let mut funcs = self.code.ad.program.funcs.iter();
        funcs.any(|(_, func)| !func.body.all_stmts(&mut |stmt| !is_call(stmt)))
    }
}

/// Whether an operation makes an array of its own, in a time that goes with its size.
fn makes(op: ArrayOp) -> bool {
    match op {
        ArrayOp::Zeros
        | ArrayOp::Iota
        | ArrayOp::Replicate
        | ArrayOp::Literal
        | ArrayOp::Concat
        | ArrayOp::Reverse
        | ArrayOp::Transpose
        | ArrayOp::Gather
        | ArrayOp::Filter
        | ArrayOp::Sort
        | ArrayOp::ArgSort
        | ArrayOp::Add
        | ArrayOp::MatVec
        | ArrayOp::MatMul => true,
        ArrayOp::Empty(..)
        | ArrayOp::Length(_)
        | ArrayOp::Index
        | ArrayOp::Set
        | ArrayOp::AddAt
        | ArrayOp::AddProduct(_)
        | ArrayOp::ScatterAdd
        | ArrayOp::Flatten
        | ArrayOp::UnflattenLike
        | ArrayOp::Slice
        | ArrayOp::Sum
        | ArrayOp::Product
        | ArrayOp::Maximum
        | ArrayOp::Minimum
        | ArrayOp::ArgMax
        | ArrayOp::ArgMin
        | ArrayOp::Dot
        | ArrayOp::Ravel
        | ArrayOp::Reshape => false,
    }
}

/// A loop as it is seen from inside.
struct Own<'f> {
    facts: &'f Facts,
    index: Var,
    backward: bool,
    /// What is bound in it.
    bound: &'f FxHashSet<Var>,
}

impl Own<'_> {
    /// Where iterations write along an axis, if places there all rise or all fall.
    fn along<'p>(&self, writes: impl Iterator<Item = Option<&'p Atom>>) -> Option<Along> {
        let mut along = Along { places: Vec::new(), next: Vec::new(), rise: true, fall: true };
        for write in writes {
            let mut place = self.facts.form(write?)?;
            let mut rest = place.clone();
            let slope = rest.take(self.index);
            let slope = if self.backward { -slope } else { slope };
            along.rise &= slope >= 0;
            along.fall &= slope <= 0;
            for (var, count) in rest.terms().filter(|(var, _)| self.bound.contains(var)) {
                // What an index inside adds to the first place of the iteration, or takes from the last one.
                self.facts.limit(var)?;
                along.rise &= count > 0;
                along.fall &= count < 0;
                place.take(var);
            }
            along.next.push(place.clone().plus(&Form::constant(slope), 1)?);
            along.places.push(place);
        }
        (along.rise || along.fall).then_some(along)
    }
}

/// The statements that bind variables, in all blocks.
fn note_made<'b>(block: &'b Block, made: &mut FxHashMap<Var, &'b Stmt>) {
    crate::deep(|| {
        for stmt in &block.stmts {
            made.extend(stmt.outs.iter().map(|out| (*out, stmt)));
            stmt.op.blocks().into_iter().for_each(|inner| note_made(inner, made));
        }
    });
}

/// The way from an array at the end of an iteration back to the one at its beginning.
struct Writes<'b> {
    facts: &'b Facts,
    made: &'b FxHashMap<Var, &'b Stmt>,
    /// Where elements or rows are written, and what conditions say there.
    places: Vec<(Vec<Atom>, Vec<Said>)>,
    versions: Vec<Var>,
    /// What conditions say here.
    said: Vec<Said>,
}

impl<'b> Writes<'b> {
    fn new(facts: &'b Facts, made: &'b FxHashMap<Var, &'b Stmt>, start: Var) -> Writes<'b> {
        Writes { facts, made, places: Vec::new(), versions: vec![start], said: Vec::new() }
    }

    /// Whether an array is another one but for what is written.
    fn follow(&mut self, atom: &'b Atom, start: Var) -> bool {
        let mut atom = atom;
        loop {
            let Some(var) = atom.var() else { return false };
            if var == start {
                return true;
            }
            self.versions.push(var);
            let Some(stmt) = self.made.get(&var).copied() else { return false };
            let Some(at) = stmt.outs.iter().position(|out| *out == var) else { return false };
            atom = match &stmt.op {
                Op::Copy(x) => x,
                Op::Array(ArrayOp::Set | ArrayOp::AddAt, args) => {
                    let [array, places @ .., _] = args.as_slice() else { return false };
                    self.places.push((places.to_vec(), self.said.clone()));
                    array
                }
                Op::If { .. } | Op::Match { .. } => return self.follow_branch(stmt, at, start),
                Op::Loop(parts) => {
                    let inits = parts.init.iter().chain(&parts.accs);
                    let around = inits.zip(parts.body.params.iter().skip(1)).zip(&parts.body.results);
                    let Some(((init, param), result)) = around.into_iter().nth(at) else { return false };
                    self.versions.push(*param);
                    if !crate::deep(|| self.follow(result, *param)) {
                        return false;
                    }
                    init
                }
                _ => return false,
            };
        }
    }
}

impl<'b> Writes<'b> {
    fn follow_branch(&mut self, stmt: &'b Stmt, at: usize, start: Var) -> bool {
        let cond = if let Op::If { cond, .. } = &stmt.op { Some(cond) } else { None };
        let mut arms = stmt.op.blocks().into_iter().enumerate().filter(|(_, arm)| !ends(arm));
        arms.all(|(arm, block)| {
            let before = self.said.len();
            self.said.extend(cond.iter().flat_map(|cond| self.facts.said(cond, arm == 0)));
            let result = block.results.get(at);
            let follows = result.is_some_and(|result| crate::deep(|| self.follow(result, start)));
            self.said.truncate(before);
            follows
        })
    }
}

/// Whether a block fails.
fn ends(block: &Block) -> bool {
    block.stmts.last().is_some_and(|stmt| stmt.op.never_returns())
}
