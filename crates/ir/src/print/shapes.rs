//! What is shown otherwise than it is computed, because a person writes it so:
//!
//! ```text
//! t + t                                                   2.0 * t
//! select(c, true, d)     select(c, d, false)              c || d       c && d
//! select(x <= y, 1.0, select(y < x, 0.0, NaN))            [x <= y]
//! add_product(zeros, x, y)                                outer(x, y)
//! ```
//!
//! `[x <= y]` is Iverson's bracket: 1 where it holds and 0 where it does not. At NaN it is NaN, as slopes of `max` and `relu` are there.

#![expect(clippy::wildcard_enum_match_arm, reason = "the others are shown as they are computed")]

use super::places::same;
use crate::op::{ArrayOp, Atom, Compare, Op, Stmt, Var};
use crate::program::Func;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_prim::RealOp;

/// How an operation is shown.
pub(super) enum Shape<'a> {
    /// Two times a number.
    Twice(&'a Atom),
    /// One of two holds, both being there already.
    Or(&'a Atom, &'a Atom),
    /// Both hold.
    And(&'a Atom, &'a Atom),
    /// 1 if the comparison holds, 0 if not.
    Bracket(Compare, &'a Atom, &'a Atom),
}

impl<'a> Shape<'a> {
    fn operands(&self) -> [&'a Atom; 2] {
        match self {
            Shape::Twice(x) => [x, &Atom::Unit],
            Shape::Or(x, y) | Shape::And(x, y) | Shape::Bracket(_, x, y) => [x, y],
        }
    }
}

/// What a function's operations are shown as.
#[derive(Default)]
pub(super) struct Shapes<'a> {
    /// The comparisons and choices by their names: those of which brackets are made.
    made: FxHashMap<Var, &'a Op>,
    /// Arrays of zeros, by the number and the zeros that they are made of.
    zeros: FxHashMap<Var, [Option<Var>; 2]>,
    /// Sizes of arrays.
    sizes: FxHashSet<Var>,
    /// Whether this is for people.
    on: bool,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(func: &'a Func) -> Shapes<'a> {
        let (mut made, mut zeros) = (FxHashMap::default(), FxHashMap::default());
        let mut sizes = FxHashSet::default();
        func.body.for_each_stmt(&mut |stmt| match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Compare(..) | Op::Select { .. }, [out]) => {
                made.insert(*out, &stmt.op);
            }
            (Op::Array(ArrayOp::Length(_), _), [out]) => {
                sizes.insert(*out);
            }
            (Op::Array(ArrayOp::Zeros, _), [out]) => {
                zeros.insert(*out, [None; 2]);
            }
            (Op::Array(ArrayOp::Replicate, args), [out]) => match args.as_slice() {
                [count, Atom::Real(zero)] if zero.to_bits() == ZERO => {
                    zeros.insert(*out, [count.var(), None]);
                }
                [count, Atom::Var(row)] if zeros.contains_key(row) => {
                    zeros.insert(*out, [count.var(), Some(*row)]);
                }
                _ => {}
            },
            _ => {}
        });
        Shapes { made, zeros, sizes, on: true }
    }

    /// Whether an array is zeros, to which only something is added of their size.
    pub(super) fn is_zeros(&self, array: &Atom) -> bool {
        array.var().is_some_and(|array| self.zeros.contains_key(&array))
    }

    /// The zeros to which an operation adds products, which are not shown.
    fn hidden(&self, op: &Op) -> Option<Var> {
        let Op::Array(ArrayOp::AddProduct(_), args) = op else { return None };
        let array = args.first().filter(|array| args.len() % 2 == 1 && self.is_zeros(array))?;
        array.var()
    }

    /// What is shown in place of the operation, if it is not the operation.
    pub(super) fn of<'b>(&self, op: &'b Op) -> Option<Shape<'b>>
    where
        'a: 'b,
    {
        match op {
            _ if !self.on => None,
            Op::Real(RealOp::Add, args) => same(args).map(Shape::Twice),
            Op::Select { cond, then: Atom::Bool(true), otherwise } => Some(Shape::Or(cond, otherwise)),
            Op::Select { cond, then, otherwise: Atom::Bool(false) } => Some(Shape::And(cond, then)),
            Op::Select { cond, then: Atom::Real(first), otherwise } => {
                let Op::Select { cond: other, then: Atom::Real(second), otherwise: Atom::Real(none) } =
                    self.made(otherwise)?
                else {
                    return None;
                };
                let (Op::Compare(op, x, y), Op::Compare(opposite, z, w)) =
                    (self.made(cond)?, self.made(other)?)
                else {
                    return None;
                };
                let all = none.is_nan() && is_opposite((*op, x, y), (*opposite, z, w));
                match (first.to_bits(), second.to_bits()) {
                    (ONE, ZERO) if all => Some(Shape::Bracket(*op, x, y)),
                    (ZERO, ONE) if all => Some(Shape::Bracket(*opposite, z, w)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn made(&self, atom: &Atom) -> Option<&'a Op> {
        self.made.get(&atom.var()?).copied()
    }

    /// The variables that are seen where the operation is shown.
    pub(super) fn operands(&self, op: &Op) -> Vec<Var> {
        let mut operands = Vec::new();
        if let (Some(_), Op::Array(_, args)) = (self.hidden(op), op) {
            return args.iter().skip(1).filter_map(Atom::var).collect();
        }
        match self.of(op) {
            Some(shape) => operands.extend(shape.operands().into_iter().filter_map(Atom::var)),
            None => op.for_each_atom(&mut |atom| operands.extend(atom.var())),
        }
        operands
    }

    /// How often each variable is seen, and what is seen nowhere because it is only a part of a bracket, or zeros.
    pub(super) fn uses(&self, func: &'a Func) -> (FxHashMap<Var, usize>, Vec<(Var, &'a Op)>) {
        let (mut stmts, mut uses, mut parts) = (Vec::new(), FxHashMap::default(), FxHashSet::default());
        let count = |uses: &mut FxHashMap<Var, usize>, var: Var| *uses.entry(var).or_default() += 1;
        func.body.results.iter().filter_map(Atom::var).for_each(|var| count(&mut uses, var));
        func.body.for_each_stmt(&mut |stmt: &'a Stmt| {
            let results = stmt.op.blocks().into_iter().flat_map(|block| &block.results);
            results.filter_map(Atom::var).for_each(|var| count(&mut uses, var));
            if let Some(Shape::Bracket(..)) = self.of(&stmt.op) {
                self.parts(&stmt.op, &mut parts);
            }
            let mut hidden = self.hidden(&stmt.op);
            while let Some(array) = hidden {
                parts.insert(array);
                let [count, row] = self.zeros.get(&array).copied().unwrap_or_default();
                parts.extend(count.filter(|count| self.sizes.contains(count)));
                hidden = row;
            }
            stmts.push(stmt);
        });
        let mut gone = Vec::new();
        // What uses something comes after it.
        for stmt in stmts.into_iter().rev() {
            match stmt.outs.as_slice() {
                [out] if parts.contains(out) && !uses.contains_key(out) => gone.push((*out, &stmt.op)),
                _ => self.operands(&stmt.op).into_iter().for_each(|var| count(&mut uses, var)),
            }
        }
        (uses, gone)
    }

    /// The comparisons and the choice of which a bracket is made.
    fn parts(&self, bracket: &Op, parts: &mut FxHashSet<Var>) {
        let Op::Select { cond, then: _, otherwise } = bracket else { return };
        parts.extend([cond, otherwise].into_iter().filter_map(Atom::var));
        if let Some(Op::Select { cond, .. }) = self.made(otherwise) {
            parts.extend(cond.var());
        }
    }
}

const ONE: u64 = 1.0_f64.to_bits();
const ZERO: u64 = 0.0_f64.to_bits();

/// Whether of two comparisons exactly one holds, if none of the numbers is NaN.
fn is_opposite((op, x, y): (Compare, &Atom, &Atom), (opposite, z, w): (Compare, &Atom, &Atom)) -> bool {
    if matches!(op, Compare::Eq | Compare::Ne) {
        return false;
    }
    let plain = op.opposite();
    (opposite, z, w) == (plain, x, y) || (opposite, z, w) == (plain.turned(), y, x)
}
