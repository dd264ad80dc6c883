//! Which elements that are read or updated are there for sure: their indices are in range.
//!
//! ```text
//! m = n - 1                          n = length(xs)
//! each i < m { … xs[i + 1] … }       i + 1 is at most m, which is less than n
//! ```

use super::{Boxes, PATIENCE, Sizes};
use crate::linear::Linear;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, IntOp, Loop, Op};
use wengert_ir::{Atom, Func, Stmt, Var};

/// So many of what was there before are looked at.
const NEAR: usize = 64;

/// The results of reads and updates of elements that cannot fail: their indices are in range; of arrays that are made with a
/// size that is not negative; and what is left of a division by how often a loop around goes, which is not 0 there.
pub(crate) fn in_range(func: &mut Func, boxes: &Boxes) -> FxHashSet<Var> {
    places(func, boxes, false)
}

/// The same, and those that cannot fail where they stand because one before them would have.
pub(crate) fn in_range_there(func: &mut Func, boxes: &Boxes) -> FxHashSet<Var> {
    places(func, boxes, true)
}

fn places(func: &mut Func, boxes: &Boxes, by_others: bool) -> FxHashSet<Var> {
    let is_checked = |stmt: &Stmt| {
        matches!(
            stmt.op,
            Op::Int(IntOp::Div | IntOp::Rem | IntOp::DivFloor | IntOp::ModFloor, _)
                | Op::Array(
                    ArrayOp::Index
                        | ArrayOp::Set
                        | ArrayOp::AddAt
                        | ArrayOp::Replicate
                        | ArrayOp::Iota
                        | ArrayOp::Literal
                        | ArrayOp::Slice
                        | ArrayOp::Gather
                        | ArrayOp::MatVec,
                    _
                )
        )
    };
    if func.body.all_stmts(&mut |stmt| !is_checked(stmt)) {
        return FxHashSet::default();
    }
    let mut body = std::mem::take(&mut func.body);
    let mut sizes = Sizes::new(func, boxes, PATIENCE * body.size() + 1000);
    sizes.by_others = by_others;
    sizes.block(&mut body, false);
    let inside = sizes.inside;
    func.body = body;
    inside
}

impl Sizes<'_> {
    /// Notes whether an element that is read or updated is there. A body may be gone through with more assumed before: the last
    /// time counts.
    pub(super) fn note_range(&mut self, stmt: &Stmt) {
        if let (Op::Int(IntOp::Div | IntOp::Rem | IntOp::DivFloor | IntOp::ModFloor, args), [out]) =
            (&stmt.op, stmt.outs.as_slice())
        {
            let fits = args.get(1).is_some_and(|by| self.is_some(by));
            self.is_inside(*out, fits);
            return;
        }
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        let [array, rest @ ..] = args.as_slice() else { return };
        if let Some(fits) = self.fits(*op, args) {
            self.is_inside(*out, fits);
            return;
        }
        let indices = match (op, rest) {
            (ArrayOp::Index, indices) => indices,
            (ArrayOp::Set | ArrayOp::AddAt, [indices @ .., row]) if self.func.type_of(row).rank() == 0 => {
                indices
            }
            (_, _) => return,
        };
        let shape = self.shape(array);
        let like = self.like(array);
        let alone = (indices.len() == 1).then_some(&like);
        let places: Vec<Option<(Linear, Linear)>> =
            indices.iter().zip(&shape).map(|(index, size)| self.value(index).zip(size.clone())).collect();
        let is_there = |(place, index): (&Option<(Linear, Linear)>, &Atom)| {
            let place = place.as_ref();
            place.is_some_and(|(index, size)| self.is_place(index, size) || self.was_place(index, size))
                || self.is_covered(index, alone, place.map(|(_, size)| size))
        };
        let path = self.path(array, indices);
        let read = |(other, found): &(Atom, Vec<Atom>)| *other == path.0 && found.starts_with(&path.1);
        let fits = places.iter().zip(indices).all(is_there) || self.read.iter().rev().take(NEAR).any(read);
        self.is_inside(*out, fits);
        if self.by_others {
            self.found.extend(places.into_iter().flatten());
            if path.0 != like {
                self.read.push((like, indices.to_vec()));
            }
            self.read.push(path.clone());
        }
        if *op == ArrayOp::Index && self.func.ty(*out).rank() > 0 {
            self.row_of.insert(*out, path);
        }
    }

    /// Notes whether something cannot fail.
    fn is_inside(&mut self, out: Var, fits: bool) {
        if fits {
            self.inside.insert(out);
        } else {
            self.inside.remove(&out);
        }
    }

    /// Whether what makes an array, or a part of one, cannot fail.
    fn fits(&mut self, op: ArrayOp, args: &[Atom]) -> Option<bool> {
        let (array, rest) = args.split_first()?;
        match op {
            ArrayOp::Literal => Some(self.are_alike(args)),
            // As many as there are of something else.
            ArrayOp::Replicate | ArrayOp::Iota => {
                Some(self.value(array).is_some_and(|size| self.is_natural(&size)))
            }
            ArrayOp::Slice => Some(self.is_part(array, rest)),
            ArrayOp::Gather => Some(self.was_gathered(array, rest)),
            ArrayOp::MatVec => Some(self.are_factors(array, rest)),
            _ => None,
        }
    }

    /// An element of an array, which may be a row, as one of an array that is none.
    fn path(&self, array: &Atom, indices: &[Atom]) -> (Atom, Vec<Atom>) {
        let like = self.like(array);
        match like.var().and_then(|row| self.row_of.get(&row)) {
            Some((whole, before)) => (whole.clone(), [before, indices].concat()),
            None => (like, indices.to_vec()),
        }
    }

    /// Notes of which arrays the rows of a loop are the rows.
    pub(super) fn note_row_of(&mut self, parts: &Loop, carried: usize) {
        let Some(index) = parts.body.params.first() else { return };
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            if self.func.ty(*param).rank() > 0 {
                let path = self.path(input, &[Atom::Var(*index)]);
                self.row_of.insert(*param, path);
            }
        }
    }

    /// The array that has the shape of another one, as it was made like it.
    fn like(&self, array: &Atom) -> Atom {
        let other = array.var().and_then(|var| self.alike.get(&var));
        other.map_or_else(|| array.clone(), |other| Atom::Var(*other))
    }

    /// Notes arrays that are made in the shape of others.
    pub(super) fn note_like(&mut self, stmt: &Stmt) {
        if let (Op::Array(ArrayOp::Zeros | ArrayOp::Set | ArrayOp::AddAt, args), [out]) =
            (&stmt.op, stmt.outs.as_slice())
            && let Some(first) = args.first()
            && let Atom::Var(like) = self.like(first)
        {
            self.alike.insert(*out, like);
        }
    }

    /// What a loop only adds to keeps its shape, by whatever name.
    pub(super) fn note_added<'v>(&mut self, accs: &[Atom], names: impl Iterator<Item = &'v Var>) {
        for (start, name) in accs.iter().zip(names) {
            if let Atom::Var(like) = self.like(start) {
                self.alike.insert(*name, like);
            }
        }
    }

    /// Whether rows are numbers, or arrays of one shape.
    fn are_alike(&self, rows: &[Atom]) -> bool {
        let mut shapes = rows.iter().map(|row| self.shape(row));
        let Some(first) = shapes.next() else { return false };
        let known = first
            .iter()
            .all(|size| size.as_ref().is_some_and(|size| matches!(size.atom(), Some(Atom::Int(1..)))));
        let rank = rows.first().map(|row| self.func.type_of(row).rank());
        known && rank.map(usize::from) == Some(first.len()) && shapes.all(|shape| shape == first)
    }

    /// Whether a loop that goes so often has an iteration: we are in it.
    fn is_some(&self, count: &Atom) -> bool {
        self.value(count).is_some_and(|count| self.is_count_around(&count))
    }

    /// The same of a sum.
    pub(super) fn is_count_around(&self, count: &Linear) -> bool {
        self.limits.iter().any(|(index, limit)| self.scope.contains(index) && count == limit)
    }

    /// Whether an array has a part from one place to another one.
    fn is_part(&self, array: &Atom, places: &[Atom]) -> bool {
        let [from, to] = places else { return false };
        let size = self.shape(array).into_iter().next().flatten();
        let (Some(from), Some(to), Some(size)) = (self.value(from), self.value(to), size) else {
            return false;
        };
        let after = |place: &Linear| place.minus(&Linear::constant(-1));
        self.is_place(&from, &after(&to)) && self.is_place(&to, &after(&size))
    }

    /// Whether elements at these places were chosen before among as many. They were now.
    fn was_gathered(&mut self, array: &Atom, places: &[Atom]) -> bool {
        let size = self.shape(array).into_iter().next().flatten();
        let (Some(size), [places]) = (size, places) else { return false };
        let gathered = (places.clone(), size);
        let before = self.gathered.contains(&gathered);
        if self.by_others && !before {
            self.gathered.push(gathered);
        }
        before
    }

    /// Whether a matrix has as many columns as a vector has elements.
    fn are_factors(&self, matrix: &Atom, vector: &[Atom]) -> bool {
        let [vector] = vector else { return false };
        match (self.shape(matrix).as_slice(), self.shape(vector).as_slice()) {
            ([_, Some(columns)], [Some(size)]) => columns == size,
            _ => false,
        }
    }

    /// Whether something at this index, or behind it, was there before in an array of this size.
    fn was_place(&self, index: &Linear, size: &Linear) -> bool {
        let before = |found: &Linear| {
            found == index || self.is_natural(index) && self.is_natural(&self.settle(found.minus(index)))
        };
        self.found.iter().rev().take(NEAR).any(|(found, other)| other == size && before(found))
    }

    /// Whether an index is neither negative nor beyond the size.
    fn is_place(&self, index: &Linear, size: &Linear) -> bool {
        if !self.is_not_negative(index) {
            return false;
        }
        // The largest that it can be; of what is taken from it, nothing is known but that it is not negative.
        let (terms, _) = index.parts();
        let added = || terms.iter().filter(|(_, times)| *times > 0);
        let at_most = |top: Linear, var: Var| match self.limits.get(&var) {
            Some(limit) => top.replace(var, &limit.minus(&Linear::constant(1))),
            None => top,
        };
        let top = added().fold(index.clone(), |top, (var, _)| at_most(top, *var));
        let is_below = |index: &Linear| {
            self.is_not_negative(&self.settle(size.minus(index).minus(&Linear::constant(1))))
        };
        // One limit may be of what is left by another one: `k < n - i`.
        is_below(&top) || is_below(index) || added().any(|(var, _)| is_below(&at_most(index.clone(), *var)))
    }
}
