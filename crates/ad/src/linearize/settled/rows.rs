//! Rows of an array that a loop gives, read once after the loop instead of element by element inside of it.
//!
//! ```text
//! ys = for i < n, ys = xs {                 every iteration of both loops reads from row k, into which none of them writes:
//!   yield for j < m, zs = ys { … zs[k, j] … yield zs with [i, j] = … }
//! }
//! row = ys[k]                               what they read of it again is row[j]
//! ```
//!
//! To keep the row takes as long as one of the loops, to keep what is read takes as long as both. So a row is read once before a loop that reads
//! it of an array that a loop around carries: else all of the array would be kept. The row must surely be there.

use super::super::Linearize;
use super::{Form, Settled};
use crate::like::Likes;
use crate::linear::LinBlock;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use wengert_ir::op::{ArrayOp, Atom, Op, Stmt, Var};
use wengert_ir::program::VarInfo;

/// Rows that are read after a loop.
#[derive(Default)]
pub(super) struct Rows {
    /// Arrays of which elements or rows are surely there before the loop: the earliest array of that shape, and the place.
    there: Vec<(Var, Vec<Atom>)>,
    read: RefCell<Vec<Row>>,
}

/// A row of an array.
struct Row {
    row: Var,
    array: Var,
    place: Vec<Atom>,
    /// Whether the array is there before the loop.
    before: bool,
}

impl Rows {
    /// Nothing is read yet, after these statements.
    pub(super) fn after(stmts: &[Stmt], likes: &Likes) -> Rows {
        let looked = stmts.iter().filter_map(|stmt| {
            let (args, last) = match &stmt.op {
                Op::Array(ArrayOp::Index, args) => (args, args.len()),
                Op::Array(ArrayOp::Set | ArrayOp::AddAt, args) => (args, args.len().checked_sub(1)?),
                _ => return None,
            };
            Some((likes.root(args.first()?.var()?), args.get(1..last)?.to_vec()))
        });
        Rows { there: looked.collect(), read: RefCell::default() }
    }
}

impl Linearize<'_, '_> {
    /// An operation that reads of a row of what a loop around gives, instead of one that reads of that, if the row lies at one place for
    /// more loops than it has axes.
    pub(super) fn row_instead(&mut self, level: usize, op: &Op) -> Option<Op> {
        self.row_at(level, op, false)
    }

    /// The same of an array that a loop around carries.
    pub(super) fn row_before(&mut self, op: &Op) -> Option<Op> {
        let level = self.carried_around(op)?;
        self.row_at(level, op, true)
    }

    /// Whether it is less to keep what is read of an array that a loop around carries, or of a row of it, than to keep that, though it is read
    /// in loops inside.
    pub(super) fn is_less(&self, stmt: &Stmt) -> bool {
        let Op::Array(ArrayOp::Index, args) = &stmt.op else { return false };
        let Some(array) = args.first().and_then(Atom::var).map(|array| self.array_of(array)) else {
            return false;
        };
        let Some(level) = self.carried_by(array) else { return false };
        let rank = |var: &Var| usize::from(self.code.b.func().ty(*var).rank());
        let read = stmt.outs.iter().map(rank).max().unwrap_or(0);
        self.around.len() - level + read < rank(&array)
    }

    /// The array of which a loop around gives an iteration this row.
    fn array_of(&self, mut row: Var) -> Var {
        for settled in self.around.iter().rev() {
            let input = settled.inputs.iter().find(|(input, _)| *input == row);
            row = input.map_or(row, |(_, array)| *array);
        }
        row
    }

    /// The outermost loop before which the array is there of which something is read, if a loop around that carries the array.
    fn carried_around(&self, op: &Op) -> Option<usize> {
        let Op::Array(ArrayOp::Index, args) = op else { return None };
        self.carried_by(args.first()?.var()?)
    }

    fn carried_by(&self, array: Var) -> Option<usize> {
        let level = self.around.iter().position(|settled| !settled.bound.contains(&array))?;
        let mut around = self.around.get(..level)?.iter();
        let carries =
            |settled: &Settled| settled.versions.contains_key(&array) || settled.carried.contains(&array);
        around.any(|settled| carries(settled)).then_some(level)
    }

    fn row_at(&mut self, level: usize, op: &Op, before: bool) -> Option<Op> {
        let Op::Array(ArrayOp::Index, args) = op else { return None };
        let (array, places) = args.split_first()?;
        let array = array.var()?;
        let settled = self.around.get(level)?;
        let is_fixed = |place: &&Atom| place.var().is_none_or(|var| !settled.bound.contains(&var));
        let count = places.iter().take_while(is_fixed).count();
        let (place, rest) = places.split_at_checked(count)?;
        let axes = usize::from(self.code.b.func().ty(array).rank()).checked_sub(count)?;
        let worth = before || self.around.len() - level > axes;
        if place.is_empty() || !worth || !self.is_there(level, array, place) {
            return None;
        }
        let row = self.row_of(level, array, place, before)?;
        if rest.is_empty() {
            return Some(Op::Copy(Atom::Var(row)));
        }
        let args = [Atom::Var(row)].into_iter().chain(rest.iter().cloned());
        Some(Op::Array(ArrayOp::Index, args.collect()))
    }

    /// Whether there is such a place in the array that a loop gives.
    fn is_there(&self, level: usize, array: Var, place: &[Atom]) -> bool {
        let root = self.likes.root(array);
        let around = self.around.iter().take(level + 1);
        let looked = around.flat_map(|settled| &settled.rows.there);
        let known = |axis: usize, at: &Atom| {
            let size = u8::try_from(axis).ok().and_then(|axis| self.facts.length(root, axis));
            let (Some(size), Some(at)) = (size, self.facts.form(at)) else { return false };
            let zero = Form::default();
            self.facts.is_at_least(size, &at, 1, &[]) && self.facts.is_at_least(&at, &zero, 0, &[])
        };
        let mut looked = looked.filter(|(other, _)| *other == root);
        looked.any(|(_, other)| other.starts_with(place))
            || place.iter().enumerate().all(|(axis, at)| known(axis, at))
    }

    fn row_of(&mut self, level: usize, array: Var, place: &[Atom], before: bool) -> Option<Var> {
        let rows = self.around.get(level)?;
        let known = |row: &&Row| row.array == array && row.place == place;
        if let Some(row) = rows.rows.read.borrow().iter().find(known) {
            return Some(row.row);
        }
        let VarInfo { name, ty } = *self.code.b.func().vars.at(array);
        let row = self.code.b.fresh(name, ty.at(place.len())?);
        self.around.get(level)?.rows.read.borrow_mut().push(Row {
            row,
            array,
            place: place.to_vec(),
            before,
        });
        Some(row)
    }

    /// Reads the rows that linear code and what is done again before it mention: before the loop, or of what that gives.
    pub(in super::super) fn read_rows(
        &mut self,
        settled: &Settled,
        before: bool,
        linear: &LinBlock,
        again: &[Stmt],
    ) {
        let needed: FxHashSet<Var> = again.iter().flat_map(|stmt| crate::again::needs(&stmt.op)).collect();
        for row in settled.rows.read.borrow().iter().filter(|row| row.before == before) {
            if self.mentions(linear).contains(&row.row) || needed.contains(&row.row) {
                let args = [Atom::Var(row.array)].into_iter().chain(row.place.iter().cloned());
                let op = Op::Array(ArrayOp::Index, args.collect());
                self.code.b.push(Stmt { outs: vec![row.row], op, span: self.code.b.span() });
            }
        }
    }
}
