//! Of a unit vector of which only elements are read, each element is a choice, and the vector is not made.
//!
//! ```text
//! each j < n {                                           each j < n {
//!   zeros = zeros(xs)                                      at = j == 0
//!   e = zeros with [j] = 1.0                    becomes    y = select(at, s, 0.0)
//!   x = e[0]                                               yield y
//!   y = mul_zero(x, s)                                   }
//!   yield y
//! }
//! ```
//!
//! So the columns of a Jacobian read where the function reads at known places. What is read must be there for sure,
//! and read once for each index of the loop.

use crate::sizes::{Boxes, in_range_there};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether there was something to do.
pub(crate) fn run(func: &mut Func, boxes: &Boxes) -> bool {
    let (units, reads) = units(&func.body);
    if units.is_empty() {
        return false;
    }
    let mut inside = in_range_there(func, boxes);
    inside.retain(|out| reads.contains(out));
    let mut body = std::mem::take(&mut func.body);
    let mut pass = Units { func, units, inside, choices: FxHashMap::default() };
    pass.keep_read(&body);
    let changed = !pass.units.is_empty();
    if changed {
        pass.block(&mut body);
    }
    func.body = body;
    changed
}

/// Vectors that are zero but for the element at the index of a loop, by that index and that element; and what is read of them in that
/// loop, but not in a loop inside of it: there reading is cheaper than choosing.
fn units(body: &Block) -> (FxHashMap<Var, (Atom, f64)>, FxHashSet<Var>) {
    let (mut units, mut reads) = (FxHashMap::default(), FxHashSet::default());
    body.for_each_stmt(&mut |stmt| {
        let Op::Loop(parts) = &stmt.op else { return };
        let Some(index) = parts.body.params.first().copied() else { return };
        let mut zeros: FxHashSet<Var> = FxHashSet::default();
        for stmt in &parts.body.stmts {
            let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { continue };
            match (op, args.as_slice()) {
                (ArrayOp::Zeros, _) => {
                    zeros.insert(*out);
                }
                (ArrayOp::Set, [Atom::Var(array), Atom::Var(place), Atom::Real(x)])
                    if *place == index && zeros.contains(array) =>
                {
                    units.insert(*out, (Atom::Var(index), *x));
                }
                (ArrayOp::Index, [Atom::Var(array), _]) if units.contains_key(array) => {
                    reads.insert(*out);
                }
                (_, _) => {}
            }
        }
    });
    (units, reads)
}

struct Units<'f> {
    func: &'f mut Func,
    units: FxHashMap<Var, (Atom, f64)>,
    /// Results of reads of elements that are there, and not in loops inside.
    inside: FxHashSet<Var>,
    /// Elements that were one, where a condition holds, and else zero.
    choices: FxHashMap<Var, Atom>,
}

impl Units<'_> {
    /// The unit vector of which a statement reads an element that is a number and there for sure, and the place.
    fn read<'s>(&self, stmt: &'s Stmt) -> Option<(Var, &'s Atom)> {
        let (Op::Array(ArrayOp::Index, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return None };
        let [Atom::Var(array), place] = args.as_slice() else { return None };
        let fine = self.inside.contains(out) && self.func.ty(*out) == Ty::REAL;
        (fine && self.units.contains_key(array)).then_some((*array, place))
    }

    /// Keeps those of which nothing else is asked.
    fn keep_read(&mut self, body: &Block) {
        let uses = count_uses(body);
        let mut reads: FxHashMap<Var, usize> = FxHashMap::default();
        body.for_each_stmt(&mut |stmt| {
            if let Some((array, _)) = self.read(stmt) {
                *reads.entry(array).or_default() += 1;
            }
        });
        self.units.retain(|unit, _| reads.contains_key(unit) && reads.get(unit) == uses.get(unit));
    }

    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut stmts = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                if let Some((array, place)) = self.read(&stmt)
                    && let Some((index, x)) = self.units.get(&array).cloned()
                {
                    let at = self.func.vars.push(VarInfo { name: Name::new("at"), ty: Ty::BOOL });
                    let op = Op::Compare(Compare::Eq, index, place.clone());
                    stmts.push(Stmt { outs: vec![at], op, span: stmt.span });
                    if x.to_bits() == 1.0_f64.to_bits() {
                        self.choices.extend(stmt.outs.iter().map(|out| (*out, Atom::Var(at))));
                    }
                    stmt.op =
                        Op::Select { cond: Atom::Var(at), then: Atom::Real(x), otherwise: Atom::Real(0.0) };
                } else if let Some(chosen) = self.chosen(&stmt.op) {
                    stmt.op = chosen;
                }
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                stmts.push(stmt);
            }
            block.stmts = stmts;
        });
    }

    /// The product of an element and something is that or zero.
    fn chosen(&self, op: &Op) -> Option<Op> {
        let Op::Real(RealOp::MulZero, args) = op else { return None };
        let [x, y] = args.as_slice() else { return None };
        let choice = |atom: &Atom| self.choices.get(&atom.var()?).cloned();
        let (cond, then) = choice(x).map(|cond| (cond, y)).or_else(|| Some((choice(y)?, x)))?;
        Some(Op::Select { cond, then: then.clone(), otherwise: Atom::Real(0.0) })
    }
}
