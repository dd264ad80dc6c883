//! Arrays of arrays whose rows are seen to differ in size from iteration to iteration. To make such an array fails, unless its rows happen
//! to agree, so it is made although only its rows are used, or nothing of it.
//!
//! ```text
//! rows = each k < n { row = iota(k) yield row }
//! ```
//!
//! What is not seen is taken to agree.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed tells nothing of sizes")]

use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};

/// The results of loops that are such arrays.
pub(crate) fn uneven(func: &Func) -> FxHashSet<Var> {
    let mut look = Look { func, bound: FxHashMap::default(), loops: Vec::new(), known: FxHashMap::default() };
    look.note(&func.body);
    let mut found = FxHashSet::default();
    for (stmt, parts, within) in std::mem::take(&mut look.loops) {
        if parts.mode == Mode::Reduce || matches!(parts.len, Atom::Int(0 | 1)) {
            continue;
        }
        look.known.clear();
        let carried = parts.init.len() + parts.accs.len();
        for (out, row) in stmt.outs.iter().zip(&parts.body.results).skip(carried) {
            if func.ty(*out).rank() > 1 && look.array(row, &within).contains(&Size::Varies) {
                found.insert(*out);
            }
        }
    }
    found
}

/// How a number is in the iterations of a loop.
#[derive(Clone, Debug, PartialEq)]
enum Size {
    /// As far as one sees the same; it may be known which.
    Same(Option<i64>),
    /// Another one.
    Varies,
}

const UNKNOWN: Size = Size::Same(None);

/// What binds a variable.
#[derive(Clone, Copy)]
enum Source<'f> {
    Stmt(&'f Stmt, usize),
    /// The index of a loop.
    Index,
    /// A row of an input of a loop.
    Row(&'f Atom),
    /// What is not followed.
    Other,
}

struct Look<'f> {
    func: &'f Func,
    /// Variables by what binds them, numbered in the order in which they are bound.
    bound: FxHashMap<Var, (usize, Source<'f>)>,
    /// Loops, with the numbers of what is bound inside.
    loops: Vec<(&'f Stmt, &'f Loop, Range<usize>)>,
    /// Sizes of arrays in the loop that is looked at.
    known: FxHashMap<Var, Vec<Size>>,
}

impl<'f> Look<'f> {
    fn bind(&mut self, var: Var, source: Source<'f>) {
        let number = self.bound.len();
        self.bound.insert(var, (number, source));
    }

    fn note(&mut self, block: &'f Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                for (place, out) in stmt.outs.iter().enumerate() {
                    self.bind(*out, Source::Stmt(stmt, place));
                }
                let from = self.bound.len();
                for inner in stmt.op.blocks() {
                    inner.params.iter().for_each(|param| self.bind(*param, Source::Other));
                }
                if let Op::Loop(parts) = &stmt.op {
                    let rows = parts.body.params.len().saturating_sub(parts.inputs.len());
                    for (place, param) in parts.body.params.iter().enumerate() {
                        let row = place.checked_sub(rows).and_then(|place| parts.inputs.get(place));
                        let source = match row {
                            Some(input) => Source::Row(input),
                            None if place == 0 => Source::Index,
                            None => Source::Other,
                        };
                        self.bound.entry(*param).and_modify(|bound| bound.1 = source);
                    }
                }
                stmt.op.blocks().into_iter().for_each(|inner| self.note(inner));
                if let Op::Loop(parts) = &stmt.op {
                    self.loops.push((stmt, parts, from..self.bound.len()));
                }
            }
        });
    }

    /// What binds a variable in the loop.
    fn inside(&self, atom: &Atom, within: &Range<usize>) -> Option<Source<'f>> {
        let (number, source) = self.bound.get(&atom.var()?)?;
        within.contains(number).then_some(*source)
    }

    fn number(&mut self, atom: &Atom, within: &Range<usize>) -> Size {
        if let Atom::Int(n) = atom {
            return Size::Same(Some(*n));
        }
        let Some(source) = self.inside(atom, within) else { return UNKNOWN };
        let (stmt, place) = match source {
            Source::Index | Source::Row(_) => return Size::Varies,
            Source::Other => return UNKNOWN,
            Source::Stmt(stmt, place) => (stmt, place),
        };
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match &stmt.op {
            Op::Copy(of) | Op::Convert(_, of) => self.number(of, within),
            Op::Int(_, args) | Op::Real(_, args) => self.any(args, within),
            Op::Select { cond, then, otherwise } if self.inside(cond, within).is_some() => {
                let then = self.number(then, within);
                either(then, self.number(otherwise, within))
            }
            Op::Array(ArrayOp::Length(axis), args) => {
                let sizes = args.first().map(|array| self.array(array, within)).unwrap_or_default();
                sizes.get(usize::from(*axis)).cloned().unwrap_or(UNKNOWN)
            }
            Op::Array(ArrayOp::Index, args) => self.any(args.get(1..).unwrap_or_default(), within),
            _ => {
                let chosen = self.results(stmt, place, within);
                let numbers: Vec<Size> = chosen.into_iter().map(|atom| self.number(atom, within)).collect();
                numbers.into_iter().reduce(either).unwrap_or(UNKNOWN)
            }
        })
    }

    /// Whether one of these numbers varies.
    fn any(&mut self, atoms: &[Atom], within: &Range<usize>) -> Size {
        if atoms.iter().any(|atom| self.number(atom, within) == Size::Varies) {
            Size::Varies
        } else {
            UNKNOWN
        }
    }

    /// What a branch gives, if which way it goes is decided in the loop.
    fn results(&self, stmt: &'f Stmt, place: usize, within: &Range<usize>) -> Vec<&'f Atom> {
        match &stmt.op {
            Op::If { cond: on, .. } | Op::Match { on, .. } if self.inside(on, within).is_some() => {
                stmt.op.blocks().into_iter().filter_map(|inner| inner.results.get(place)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The sizes of an array along its axes.
    fn array(&mut self, atom: &Atom, within: &Range<usize>) -> Vec<Size> {
        let Some(var) = atom.var() else { return Vec::new() };
        if let Some(known) = self.known.get(&var) {
            return known.clone();
        }
        let rank = usize::from(self.func.ty(var).rank());
        let mut sizes = match self.inside(atom, within) {
            Some(Source::Stmt(stmt, place)) => {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.made(stmt, place, within))
            }
            Some(Source::Row(input)) => self.rest(input, within),
            Some(Source::Index | Source::Other) | None => Vec::new(),
        };
        sizes.resize(rank, UNKNOWN);
        self.known.insert(var, sizes.clone());
        sizes
    }

    /// The sizes of the rows of an array.
    fn rest(&mut self, atom: &Atom, within: &Range<usize>) -> Vec<Size> {
        self.array(atom, within).into_iter().skip(1).collect()
    }

    /// The sizes of what a statement makes, the last ones missing if nothing is known of them.
    fn made(&mut self, stmt: &'f Stmt, place: usize, within: &Range<usize>) -> Vec<Size> {
        match &stmt.op {
            Op::Copy(of) => self.array(of, within),
            Op::Loop(parts) => {
                if place < parts.init.len() + parts.accs.len() {
                    return Vec::new();
                }
                let mut sizes = vec![self.number(&parts.len, within)];
                if let Some(row) = parts.body.results.get(place) {
                    sizes.extend(self.array(row, within));
                }
                sizes
            }
            Op::Array(op, args) => self.array_op(*op, args, within),
            _ => {
                let chosen = self.results(stmt, place, within);
                let all: Vec<Vec<Size>> = chosen.into_iter().map(|atom| self.array(atom, within)).collect();
                let both =
                    |a: Vec<Size>, b: Vec<Size>| a.into_iter().zip(b).map(|(a, b)| either(a, b)).collect();
                all.into_iter().reduce(both).unwrap_or_default()
            }
        }
    }

    fn array_op(&mut self, op: ArrayOp, args: &[Atom], within: &Range<usize>) -> Vec<Size> {
        let mut sizes = Vec::new();
        match (op, args) {
            (ArrayOp::Literal, [first, ..]) => {
                sizes.push(Size::Same(i64::try_from(args.len()).ok()));
                sizes.extend(self.array(first, within));
            }
            (ArrayOp::Iota, [count]) => sizes.push(self.number(count, within)),
            (ArrayOp::Replicate, [count, row]) => {
                sizes.push(self.number(count, within));
                sizes.extend(self.array(row, within));
            }
            (ArrayOp::Filter, [of, ..]) => {
                sizes.push(Size::Varies);
                sizes.extend(self.rest(of, within));
            }
            (ArrayOp::Concat, [first, ..]) => {
                let any = args.iter().any(|part| self.array(part, within).first() == Some(&Size::Varies));
                sizes.push(if any { Size::Varies } else { UNKNOWN });
                sizes.extend(self.rest(first, within));
            }
            (ArrayOp::Slice, [of, from, to]) => {
                // Of a window that moves nobody sees whether its size changes.
                let (from, to) = (self.number(from, within), self.number(to, within));
                let one = (from == Size::Varies) != (to == Size::Varies);
                sizes.push(if one { Size::Varies } else { UNKNOWN });
                sizes.extend(self.rest(of, within));
            }
            (ArrayOp::Gather, [of, places]) => {
                sizes.extend(self.array(places, within));
                sizes.extend(self.rest(of, within));
            }
            (
                ArrayOp::Add
                | ArrayOp::Zeros
                | ArrayOp::Reverse
                | ArrayOp::Set
                | ArrayOp::AddAt
                | ArrayOp::Sort
                | ArrayOp::ArgSort,
                [of, ..],
            ) => sizes = self.array(of, within),
            (_, _) => {}
        }
        sizes
    }
}

/// Of two numbers the one that a branch gives.
fn either(a: Size, b: Size) -> Size {
    match (a, b) {
        (Size::Same(Some(a)), Size::Same(Some(b))) if a == b => Size::Same(Some(a)),
        (Size::Varies, _) | (_, Size::Varies) | (Size::Same(Some(_)), Size::Same(Some(_))) => Size::Varies,
        (Size::Same(_), Size::Same(_)) => UNKNOWN,
    }
}
