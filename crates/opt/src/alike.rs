//! A branch whose sides do the same is no branch, nor is one that gives what has no elements on one side, where the other side gives that
//! too.
//!
//! ```text
//! y = if c { a = f(x) yield a } else { b = f(x) yield b }                                 becomes   y = f(x)
//! none = n == 0
//! m = if none { a = each i < n { … } yield a } else { b = each j < n { … } yield b }      becomes   m = each j < n { … }
//! ```
//!
//! So the tangent of a function goes back in the same way wherever it called itself, and Jacobians need not ask whether there is anything
//! to vary.

use crate::facts::{is_quiet, total};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Alike { func, total: &total, compared: FxHashMap::default() };
        pass.block(&mut body);
        func.body = body;
    }
}

struct Alike<'p> {
    func: &'p Func,
    total: &'p FxHashSet<FuncId>,
    /// Whether a number is zero, or whether it is not.
    compared: FxHashMap<Var, (Compare, Var)>,
}

impl Alike<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                if let (Op::Compare(op, Atom::Var(n), Atom::Int(0)), [out]) = (&stmt.op, stmt.outs.as_slice())
                {
                    self.compared.insert(*out, (*op, *n));
                }
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                if let Op::If { cond, then, otherwise } = &stmt.op
                    && let Some(first) = self.chosen(cond, then, otherwise, &stmt.outs)
                    && let Op::If { then, otherwise, .. } = &mut stmt.op
                {
                    let side = std::mem::take(if first { then } else { otherwise });
                    out.extend(side.stmts);
                    let given = stmt.outs.iter().zip(side.results);
                    let span = stmt.span;
                    out.extend(given.map(|(var, atom)| Stmt { outs: vec![*var], op: Op::Copy(atom), span }));
                    continue;
                }
                out.push(stmt);
            }
            place.stmts = out;
        });
    }

    /// The side of a branch that stands for both: whether it is the first.
    fn chosen(&self, cond: &Atom, then: &Block, otherwise: &Block, outs: &[Var]) -> Option<bool> {
        if outs.is_empty() || then.results.len() != outs.len() || otherwise.results.len() != outs.len() {
            return None;
        }
        if alike(then, otherwise, &mut FxHashMap::default(), self.total) {
            return Some(true);
        }
        let (op, n) = self.compared.get(&cond.var()?)?;
        let (none, some, first) = match op {
            Compare::Eq => (then, otherwise, false),
            Compare::Ne => (otherwise, then, true),
            Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => return None,
        };
        // Both sides are asked about an `n` that is zero, with which loops so long do nothing.
        let idle = |op: &Op| matches!(op, Op::Loop(parts) if parts.len == Atom::Var(*n));
        let quiet =
            |block: &Block| block.stmts.iter().all(|stmt| idle(&stmt.op) || is_quiet(&stmt.op, self.total));
        let matrix = outs.iter().all(|out| self.func.ty(*out).rank() <= 2);
        let empty = |block: &Block| block.results.iter().all(|result| has_rows(block, result, *n));
        (matrix && quiet(none) && quiet(some) && empty(none) && empty(some)).then_some(first)
    }
}

/// Whether a result of a block is what a loop gives that runs so many times, or the transpose of that: of no rows there is nothing else.
fn has_rows(block: &Block, result: &Atom, n: Var) -> bool {
    let made = |atom: &Atom| {
        let var = atom.var()?;
        block.stmts.iter().find_map(|stmt| {
            let place = stmt.outs.iter().position(|out| *out == var)?;
            Some((stmt, place))
        })
    };
    match made(result) {
        Some((Stmt { op: Op::Array(ArrayOp::Transpose, args), .. }, _)) => {
            args.len() == 1 && args.first().is_some_and(|rows| has_rows(block, rows, n))
        }
        Some((Stmt { op: Op::Loop(parts), .. }, place)) => {
            parts.len == Atom::Var(n) && place >= parts.init.len() + parts.accs.len()
        }
        _ => false,
    }
}

/// Whether two blocks do the same, where the second calls some things otherwise. What may fail must fail at the same place.
pub(crate) fn alike(
    a: &Block,
    b: &Block,
    names: &mut FxHashMap<Var, Var>,
    total: &FxHashSet<FuncId>,
) -> bool {
    alike_in(a, b, names, Some(total))
}

/// The same; where nothing is said of functions, in whatever places.
fn alike_in(
    a: &Block,
    b: &Block,
    names: &mut FxHashMap<Var, Var>,
    total: Option<&FxHashSet<FuncId>>,
) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        if a.params.len() != b.params.len()
            || a.stmts.len() != b.stmts.len()
            || a.results.len() != b.results.len()
        {
            return false;
        }
        names.extend(b.params.iter().copied().zip(a.params.iter().copied()));
        for (left, right) in a.stmts.iter().zip(&b.stmts) {
            let place = left.span == right.span
                || total.is_none_or(|total| matches!(left.op, Op::Call { .. }) || is_quiet(&left.op, total));
            if !place || left.outs.len() != right.outs.len() || !same(&left.op, &right.op, names, total) {
                return false;
            }
            names.extend(right.outs.iter().copied().zip(left.outs.iter().copied()));
        }
        a.results.iter().zip(&b.results).all(|(x, y)| is_one(x, y, names))
    })
}

/// Whether two operations do the same, where the second is done after the first: what may fail has failed in that.
pub(crate) fn is_again(a: &Op, b: &Op) -> bool {
    same(a, b, &mut FxHashMap::default(), None)
}

fn same(a: &Op, b: &Op, names: &mut FxHashMap<Var, Var>, total: Option<&FxHashSet<FuncId>>) -> bool {
    let (mut left, mut right) = (a.clone(), b.clone());
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (op, atoms) in [(&mut left, &mut first), (&mut right, &mut second)] {
        op.for_each_atom_mut(&mut |atom| atoms.push(std::mem::replace(atom, Atom::Unit)));
        op.blocks_mut().into_iter().for_each(|block| *block = Block::default());
    }
    let blocks = a.blocks().into_iter().zip(b.blocks());
    left == right
        && first.len() == second.len()
        && first.iter().zip(&second).all(|(x, y)| is_one(x, y, names))
        && blocks.into_iter().all(|(x, y)| alike_in(x, y, names, total))
}

fn is_one(x: &Atom, y: &Atom, names: &FxHashMap<Var, Var>) -> bool {
    match (x, y) {
        (Atom::Real(x), Atom::Real(y)) => x.to_bits() == y.to_bits(),
        (Atom::Var(x), Atom::Var(y)) => names.get(y).unwrap_or(y) == x,
        (x, y) => x == y,
    }
}
