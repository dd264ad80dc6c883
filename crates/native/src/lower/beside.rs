//! What a loop makes for one end of a longer array is made there: a few numbers beside it, and nothing is copied.
//!
//! ```text
//! ys = each i < n { … yield y }      the object of ys has room for a few numbers before its elements
//! zs = slice(ys, 0, m)               a view of it, as ever
//! one = [1.0]
//! ws = concat(one, zs)               1.0 goes into the room; ws is a view that begins there
//! ```
//!
//! So shifted arrays cost as much as those that are not. The room is as large as a vector, so that the elements lie as well as those of
//! others. It holds what is beside them on one side, for one array: that is why the others must be copies.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed may give an array away")]

use super::{ArrayPlace, Lower, Operand, Place, Value, Word, kind};
use crate::loops::{Int, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};

/// Words of room.
pub(super) const ROOM: i64 = 8;

/// Where room is needed, and for what.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// Arrays that have room: before their elements, after them.
    pub(super) room: FxHashMap<Var, [bool; 2]>,
    /// The longer arrays, and the array that has the room: whether it is before its elements.
    pub(super) joined: FxHashMap<Var, (Var, bool)>,
}

/// Looks through a function.
pub(super) fn find(func: &Func) -> Beside {
    let mut beside = Beside::default();
    let some = |stmt: &Stmt| !matches!(stmt.op, Op::Array(ArrayOp::Concat, _));
    if func.body.all_stmts(&mut |stmt| some(stmt)) {
        return beside;
    }
    let mut given = FxHashSet::default();
    note_given(&func.body, &mut given);
    in_block(func, &func.body, &given, &mut beside);
    beside
}

fn in_block(func: &Func, block: &Block, given: &FxHashSet<Var>, beside: &mut Beside) {
    let mut made: FxHashMap<Var, &Stmt> = FxHashMap::default();
    for stmt in &block.stmts {
        if let (Op::Array(ArrayOp::Concat, args), [out]) = (&stmt.op, stmt.outs.as_slice())
            && let Some((array, before)) = found(func, args, &made)
            && !given.contains(&array)
            && !block.results.contains(&Atom::Var(*out))
            && let room = beside.room.entry(array).or_default()
            && let Some(side) = room.get_mut(usize::from(!before))
            && !*side
        {
            *side = true;
            beside.joined.insert(*out, (array, before));
        }
        made.extend(stmt.outs.iter().map(|out| (*out, stmt)));
        for inner in stmt.op.blocks() {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || in_block(func, inner, given, beside));
        }
    }
}

/// The array that can have what it is joined with beside it, and whether that is before it.
fn found(func: &Func, args: &[Atom], made: &FxHashMap<Var, &Stmt>) -> Option<(Var, bool)> {
    let [first, second] = args else { return None };
    for (few, part, before) in [(first, second, true), (second, first, false)] {
        let (Some(few), Some(part)) = (few.var(), part.var()) else { continue };
        let is_few = made.get(&few).is_some_and(
            |stmt| matches!(&stmt.op, Op::Array(ArrayOp::Literal, rows) if rows.len() <= ROOM as usize),
        );
        let plain = matches!(func.ty(part), Ty::Array(elem, 1) if kind(Ty::Scalar(elem)) == Kind::Plain && elem != Elem::Unit);
        if !is_few || !plain {
            continue;
        }
        let (array, limits) = match made.get(&part).map(|stmt| &stmt.op) {
            Some(Op::Array(ArrayOp::Slice, args)) => match args.as_slice() {
                [Atom::Var(array), from, to] => (*array, Some((from, to))),
                _ => continue,
            },
            _ => (part, None),
        };
        let Some(Stmt { outs, op: Op::Loop(parts), .. }) = made.get(&array) else { continue };
        let output = outs.iter().position(|out| *out == array)? >= parts.init.len() + parts.accs.len();
        let ends =
            limits.is_none_or(|(from, to)| if before { *from == Atom::Int(0) } else { *to == parts.len });
        if output && ends {
            return Some((array, before));
        }
    }
    None
}

/// Arrays that are given away, or that others may know: by results of blocks, and by operations that do more than read elements.
fn note_given(block: &Block, given: &mut FxHashSet<Var>) {
    given.extend(block.results.iter().filter_map(Atom::var));
    block.for_each_stmt(&mut |stmt| {
        let read = match &stmt.op {
            Op::Array(
                ArrayOp::Slice | ArrayOp::Concat | ArrayOp::Length(_) | ArrayOp::Index | ArrayOp::Zeros,
                args,
            ) => args.as_slice(),
            Op::Loop(parts) => parts.inputs.as_slice(),
            _ => &[],
        };
        stmt.op.for_each_atom(&mut |atom| {
            if !read.iter().any(|other| std::ptr::eq(other, atom)) {
                given.extend(atom.var());
            }
        });
        for inner in stmt.op.blocks() {
            given.extend(inner.results.iter().filter_map(Atom::var));
        }
    });
}

impl Lower<'_> {
    /// An array with room beside it, if it needs that.
    pub(super) fn with_room(&mut self, out: Var, dims: &[Operand]) -> Option<ArrayPlace> {
        let [before, after] = *self.beside.room.get(&out)?;
        let [size] = dims else { return None };
        let elem = self.func.ty(out).elem();
        let rooms = ROOM * (i64::from(before) + i64::from(after));
        let all = self.int(Int::Add, *size, Operand::Int(rooms));
        let object = self.alloc_array(&[all]);
        let Operand::Local(local) = object else { return None };
        // After the counter and the size.
        let offset = 2 + if before { ROOM as i32 } else { 0 };
        let first = self.set(Word::Address, Value::Address { base: object, index: Operand::Int(0), offset });
        let place = ArrayPlace { object: Some(local), first, dims: dims.to_vec(), elem };
        self.places.insert(out, Place::Array(place.clone()));
        Some(place)
    }

    /// Joins a few numbers and what has room for them. Gives whether that was so.
    pub(super) fn join_beside(&mut self, out: Var, first: &Atom, other: &Atom) -> bool {
        let Some((array, before)) = self.beside.joined.get(&out).copied() else { return false };
        let owner = self.array(&Atom::Var(array));
        let (a, b) = (self.array(first), self.array(other));
        let ([n], [m]) = (a.dims.as_slice(), b.dims.as_slice()) else { return false };
        if owner.object.is_none() || self.destinations.contains_key(&out) {
            return false;
        }
        let size = self.int(Int::Add, *n, *m);
        let (few, count, start, to) = if before {
            let Operand::Int(count) = n else { return false };
            let offset = -i32::try_from(*count).unwrap_or(0);
            let start = Value::Address { base: b.first, index: Operand::Int(0), offset };
            let start = self.set(Word::Address, start);
            (a.first, *count, start, start)
        } else {
            let Operand::Int(count) = m else { return false };
            let to = self.set(Word::Address, Value::Address { base: a.first, index: *n, offset: 0 });
            (b.first, *count, a.first, to)
        };
        for i in 0..count {
            let value = self.load(few, Operand::Int(i), a.elem);
            self.put_at(to, Operand::Int(i), value);
        }
        let place = ArrayPlace { object: None, first: start, dims: vec![size], elem: a.elem };
        self.places.insert(out, Place::Array(place));
        true
    }
}
