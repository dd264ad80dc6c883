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
//! their indices can be. Loops inside of loops hand such an array on to those around: what is settled in all of them, as the row of a step
//! of elimination and the factors before, is that of the one array that the outermost one gives.
//!
//! The array in the end must be kept for it, which takes a copy if it is updated later on. That is no more than what made it, if it was
//! made where the loop stands; else only what would be kept as a whole is read there instead.

#![expect(clippy::wildcard_enum_match_arm, reason = "what hands on an array, or makes one, is named")]

use super::Linearize;
use crate::linear::{Lin, LinBlock, LinLoop};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_ir::op::{ArrayOp, Atom, Block, IntOp, Loop, Op, Stmt, Var};
use wengert_ir::ty::Id;

/// Numbers in sums are at most so large: no sum of a few of them and of places in arrays is too large for an integer.
const LARGEST: i64 = 1 << 31;

/// A sum of integers, each a number of times, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Form {
    terms: BTreeMap<usize, (Var, i64)>,
    constant: i64,
}

impl Form {
    fn constant(constant: i64) -> Form {
        Form { constant, ..Form::default() }
    }

    fn var(var: Var) -> Form {
        Form { terms: BTreeMap::from([(var.index(), (var, 1))]), constant: 0 }
    }

    /// The sum of this and so many times another; `None` where numbers are too large.
    fn plus(mut self, other: &Form, times: i64) -> Option<Form> {
        let add = |sum: i64, x: i64| {
            let sum = sum.checked_add(x.checked_mul(times)?)?;
            (-LARGEST..=LARGEST).contains(&sum).then_some(sum)
        };
        self.constant = add(self.constant, other.constant)?;
        for (key, (var, count)) in &other.terms {
            let own = self.terms.entry(*key).or_insert((*var, 0));
            own.1 = add(own.1, *count)?;
            if own.1 == 0 {
                self.terms.remove(key);
            }
        }
        Some(self)
    }

    fn take(&mut self, var: Var) -> i64 {
        self.terms.remove(&var.index()).map_or(0, |(_, count)| count)
    }
}

/// What is known of the integers of a function.
#[derive(Default)]
pub(super) struct Facts {
    forms: FxHashMap<Var, Form>,
    /// Indices of loops, with how many iterations there are, and how many loops come before: those inside come later.
    limits: FxHashMap<Var, (Form, usize)>,
}

impl Facts {
    pub(super) fn of(body: &Block) -> Facts {
        let mut facts = Facts::default();
        facts.block(body);
        facts
    }

    fn form(&self, atom: &Atom) -> Option<Form> {
        match atom {
            Atom::Int(n) => (-LARGEST..=LARGEST).contains(n).then(|| Form::constant(*n)),
            Atom::Var(var) => Some(self.forms.get(var).cloned().unwrap_or_else(|| Form::var(*var))),
            Atom::Real(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => None,
        }
    }

    fn repeat(&mut self, len: &Atom, body: &Block) {
        if let (Some(index), Some(len)) = (body.params.first(), self.form(len)) {
            self.limits.insert(*index, (len, self.limits.len()));
        }
        self.block(body);
    }

    fn block(&mut self, block: &Block) {
        crate::deep(|| {
            for stmt in &block.stmts {
                let form = match &stmt.op {
                    Op::Copy(x) => self.form(x),
                    Op::Int(op, args) => self.sum(*op, args),
                    Op::Loop(parts) => {
                        self.repeat(&parts.len, &parts.body);
                        None
                    }
                    op => {
                        op.blocks().into_iter().for_each(|inner| self.block(inner));
                        None
                    }
                };
                if let ([out], Some(form)) = (stmt.outs.as_slice(), form) {
                    self.forms.insert(*out, form);
                }
            }
        });
    }

    fn sum(&self, op: IntOp, args: &[Atom]) -> Option<Form> {
        match (op, args) {
            (IntOp::Add, [x, y]) => self.form(x)?.plus(&self.form(y)?, 1),
            (IntOp::Sub, [x, y]) => self.form(x)?.plus(&self.form(y)?, -1),
            (IntOp::Neg, [x]) => Form::default().plus(&self.form(x)?, -1),
            (_, _) => None,
        }
    }

    /// Whether one sum is at least as large as another one with a number added.
    fn is_at_least(&self, large: &Form, small: &Form, more: i64) -> bool {
        let innermost = |form: &Form| {
            let indices = form.terms.values();
            let known = indices.filter_map(|(var, _)| Some((*var, self.limits.get(var)?)));
            known.max_by_key(|(_, (_, before))| *before).map(|(var, (limit, _))| (var, limit.clone()))
        };
        let least = || {
            let mut difference = large.clone().plus(small, -1)?;
            while let Some((index, limit)) = innermost(&difference) {
                let count = difference.take(index);
                if count < 0 {
                    difference = difference.plus(&limit, count)?.plus(&Form::constant(1), -count)?;
                }
            }
            difference.terms.is_empty().then_some(difference.constant)
        };
        least().is_some_and(|least| least >= more)
    }
}

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
    /// Whether it was made where the loop stands.
    fresh: bool,
}

/// What a loop carries of which something is settled.
pub(super) struct Settled {
    facts: Rc<Facts>,
    finals: Vec<Final>,
    /// What is carried, and what it becomes in an iteration: which of these it is, and whether it is what the iteration gives.
    versions: FxHashMap<Var, (usize, bool)>,
}

impl Settled {
    /// The array of which an operation may read instead, with what is known of it.
    fn instead(&self, op: &Op) -> Option<&Final> {
        let Op::Array(op @ (ArrayOp::Index | ArrayOp::Slice), args) = op else { return None };
        let (array, places) = args.split_first()?;
        let (which, given) = *self.versions.get(&array.var()?)?;
        let known = self.finals.get(which)?;
        let forms: Option<Vec<Form>> = places.iter().map(|place| self.facts.form(place)).collect();
        let forms = forms?;
        let over = |along: &Along, from: &Form, behind: &Form| {
            let mut writes = if given { along.next.iter() } else { along.places.iter() };
            let mut before = writes.clone();
            along.rise && writes.all(|write| self.facts.is_at_least(write, behind, 0))
                || along.fall && before.all(|write| self.facts.is_at_least(from, write, 1))
        };
        let is_over = match (op, forms.as_slice()) {
            (ArrayOp::Slice, [from, to]) => known
                .axes
                .first()
                .is_some_and(|along| along.as_ref().is_some_and(|along| over(along, from, to))),
            (ArrayOp::Index, places) => known.axes.iter().zip(places).any(|(along, at)| {
                let behind = at.clone().plus(&Form::constant(1), 1);
                along.as_ref().zip(behind).is_some_and(|(along, behind)| over(along, at, &behind))
            }),
            (_, _) => false,
        };
        is_over.then_some(known)
    }

    /// Lets statements in linear code that do something again read of the array in the end. Whether there are any.
    pub(super) fn in_linear(&self, block: &mut LinBlock) -> bool {
        let mut changed = false;
        if self.finals.is_empty() {
            return changed;
        }
        crate::deep(|| {
            for lin in &mut block.stmts {
                match lin {
                    Lin::Loop(parts) => {
                        let LinLoop { again, body, .. } = &mut **parts;
                        changed |= self.in_stmts(again, &|_| true);
                        changed |= self.in_linear(body);
                    }
                    Lin::Branch(branch) => {
                        for arm in &mut branch.arms {
                            changed |= self.in_stmts(&mut arm.again, &|_| true);
                            changed |= self.in_linear(&mut arm.block);
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

    fn in_stmts(&self, stmts: &mut [Stmt], may: &dyn Fn((&Stmt, &Final)) -> bool) -> bool {
        let mut changed = false;
        for stmt in stmts {
            let known = self.instead(&stmt.op).filter(|known| may((stmt, known)));
            let array = known.map(|known| Atom::Var(known.array));
            if let (Some(array), Op::Array(_, args)) = (array, &mut stmt.op)
                && let Some(first) = args.first_mut()
            {
                *first = array;
                changed = true;
            }
        }
        changed
    }
}

impl Linearize<'_, '_> {
    /// What is settled of what a loop carries.
    pub(super) fn settled(&self, stmt: &Stmt, parts: &Loop) -> Settled {
        let facts = Rc::clone(&self.facts);
        let mut settled = Settled { facts, finals: Vec::new(), versions: FxHashMap::default() };
        let (func, body) = (self.code.b.func(), &parts.body);
        let states = body.params.iter().skip(1).zip(&stmt.outs).zip(parts.init.iter().zip(&body.results));
        let arrays = states.filter(|((param, _), _)| func.ty(**param).rank() > 0);
        let arrays: Vec<_> = arrays.collect();
        let Some(index) = body.params.first().filter(|_| !arrays.is_empty()) else { return settled };
        let own = Own { facts: &self.facts, index: *index, backward: parts.backward, bound: bound(body) };
        let mut made = FxHashMap::default();
        note_made(body, &mut made);
        for ((param, out), (init, result)) in arrays {
            let mut walk = Writes { made: &made, places: Vec::new(), versions: vec![*param] };
            if !walk.follow(result, *param) {
                continue;
            }
            let Writes { places, versions, .. } = walk;
            let count = places.iter().map(Vec::len).min().unwrap_or(1);
            let axes = (0..count).map(|axis| own.along(places.iter().map(|place| place.get(axis))));
            let (axes, fresh) = (axes.collect(), self.is_fresh(init));
            let which = settled.finals.len();
            let given = |version: Var| result.var() == Some(version) && version != *param;
            settled.versions.extend(versions.into_iter().map(|version| (version, (which, given(version)))));
            settled.finals.push(Final { array: *out, axes, fresh });
        }
        settled
    }

    /// Whether what an operation reads of an array is settled, in the loop that hands it on and in those around that do, and in the end it is
    /// that of an array that was made where the outermost of these stands.
    pub(super) fn is_settled(&self, op: &Op) -> bool {
        let (mut op, mut fresh) = (op.clone(), false);
        for settled in self.around.iter().rev() {
            if let Some(known) = settled.instead(&op)
                && let Op::Array(_, args) = &mut op
                && let Some(first) = args.first_mut()
            {
                *first = Atom::Var(known.array);
                fresh = known.fresh;
            }
        }
        fresh
    }

    /// The body as it is to be done again, where it may read of arrays in the end.
    pub(super) fn done_again(&self, settled: &Settled, body: &Block) -> Option<Block> {
        if settled.finals.is_empty() {
            return None;
        }
        let func = self.code.b.func();
        let may = |(stmt, known): (&Stmt, &Final)| {
            let rank = stmt.outs.iter().map(|out| func.ty(*out).rank()).max().unwrap_or(0);
            known.fresh && func.ty(known.array).rank() <= rank + 1 || self.is_settled(&stmt.op)
        };
        let mut other = body.clone();
        settled.in_stmts(&mut other.stmts, &may).then_some(other)
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
    bound: FxHashSet<Var>,
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
            for (var, count) in rest.terms.into_values().filter(|(var, _)| self.bound.contains(var)) {
                // What an index inside adds to the first place of the iteration, or takes from the last one.
                self.facts.limits.get(&var)?;
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

/// What is bound in a block.
fn bound(body: &Block) -> FxHashSet<Var> {
    let mut all: FxHashSet<Var> = body.params.iter().copied().collect();
    body.for_each_stmt(&mut |stmt| {
        all.extend(&stmt.outs);
        all.extend(stmt.op.blocks().into_iter().flat_map(|inner| &inner.params));
    });
    all
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
    made: &'b FxHashMap<Var, &'b Stmt>,
    /// Where elements or rows are written.
    places: Vec<Vec<Atom>>,
    versions: Vec<Var>,
}

impl<'b> Writes<'b> {
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
                    self.places.push(places.to_vec());
                    array
                }
                Op::If { .. } | Op::Match { .. } => {
                    let arms = stmt.op.blocks().into_iter();
                    return arms.filter(|arm| !ends(arm)).all(|arm| {
                        arm.results.get(at).is_some_and(|result| crate::deep(|| self.follow(result, start)))
                    });
                }
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

/// Whether a block fails.
fn ends(block: &Block) -> bool {
    block.stmts.last().is_some_and(|stmt| stmt.op.never_returns())
}
