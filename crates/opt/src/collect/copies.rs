//! Copies of the bodies of loops that add to arrays, in which there are no arrays but only what is added at the places that are asked for.

use super::plan::Plan;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// One of the arrays, and one of the places to which iterations add.
pub(super) type Place = (usize, usize);

/// A copy in the making.
pub(super) struct Copies<'c, 's> {
    pub(super) plan: &'c Plan<'s>,
    pub(super) copier: Copier<'c>,
    /// The places that are asked for.
    pub(super) wanted: &'c [Place],
    /// What is known already, and not computed.
    pub(super) there: &'c FxHashSet<Var>,
    /// What has been added at these places so far, for each name of an array.
    added: FxHashMap<Var, Vec<Atom>>,
}

impl<'c, 's> Copies<'c, 's> {
    pub(super) fn new(
        from: &'c Func,
        plan: &'c Plan<'s>,
        wanted: &'c [Place],
        there: &'c FxHashSet<Var>,
    ) -> Copies<'c, 's> {
        Copies { plan, copier: Copier::new(from), wanted, there, added: FxHashMap::default() }
    }

    /// What is added at the places, up to this version of an array.
    pub(super) fn added(&self, array: &Atom) -> Vec<Atom> {
        let known = array.var().and_then(|var| self.added.get(&var));
        known.cloned().unwrap_or_else(|| vec![Atom::Real(0.0); self.wanted.len()])
    }

    /// Appends a copy of these statements.
    pub(super) fn stmts(&mut self, into: &mut Func, stmts: &[Stmt], out: &mut Vec<Stmt>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                self.stmt(into, stmt, out);
            }
        });
    }

    fn stmt(&mut self, into: &mut Func, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let first = stmt.outs.first();
        if let Some(place) = first.and_then(|out| self.plan.updates.get(out)).copied() {
            return self.update(into, stmt, place, out);
        }
        let is_tracked = |var: &Var| self.plan.tracked.contains_key(var);
        if let Op::If { cond, then, otherwise } = &stmt.op
            && stmt.outs.iter().any(is_tracked)
        {
            let cond = self.copier.atom(cond);
            let then = self.side(into, stmt, then);
            let otherwise = self.side(into, stmt, otherwise);
            let mut outs = Vec::new();
            for var in &stmt.outs {
                if self.plan.tracked.contains_key(var) {
                    let sums: Vec<Var> =
                        self.wanted.iter().map(|_| into.fresh(Name::new("sum"), Ty::REAL)).collect();
                    outs.extend(&sums);
                    self.added.insert(*var, sums.into_iter().map(Atom::Var).collect());
                } else {
                    outs.push(self.copier.bind(into, *var));
                }
            }
            out.push(Stmt { outs, op: Op::If { cond, then, otherwise }, span: stmt.span });
            return;
        }
        if first.is_none() || !stmt.outs.iter().all(|var| self.there.contains(var)) {
            let stmt = self.copier.stmt(into, stmt);
            out.push(stmt);
        }
    }

    /// A side of a branch, with what is added there instead of arrays.
    fn side(&mut self, into: &mut Func, stmt: &Stmt, side: &Block) -> Block {
        let mut stmts = Vec::new();
        self.stmts(into, &side.stmts, &mut stmts);
        let mut results = Vec::new();
        for (var, result) in stmt.outs.iter().zip(&side.results) {
            if self.plan.tracked.contains_key(var) {
                results.extend(self.added(result));
            } else {
                results.push(self.copier.atom(result));
            }
        }
        Block { params: Vec::new(), stmts, results }
    }

    fn update(&mut self, into: &mut Func, stmt: &Stmt, place: Place, out: &mut Vec<Stmt>) {
        let (Op::Array(ArrayOp::AddAt, args), [var]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        let (Some(array), Some(more)) = (args.first(), args.last()) else { return };
        let more = self.copier.atom(more);
        let mut sums = self.added(array);
        for (sum, wanted) in sums.iter_mut().zip(self.wanted) {
            if *wanted == place {
                *sum = plus(into, sum.clone(), more.clone(), stmt, out);
            }
        }
        self.added.insert(*var, sums);
    }
}

/// A sum, if it is one.
pub(super) fn plus(into: &mut Func, a: Atom, b: Atom, like: &Stmt, out: &mut Vec<Stmt>) -> Atom {
    match (a, b) {
        (Atom::Real(0.0), x) | (x, Atom::Real(0.0)) => x,
        (a, b) => {
            let sum = into.fresh(Name::new("sum"), Ty::REAL);
            out.push(Stmt { outs: vec![sum], op: Op::Real(RealOp::Add, vec![a, b]), span: like.span });
            Atom::Var(sum)
        }
    }
}

/// A block without what nobody needs; nothing in it fails.
pub(crate) fn prune(block: &mut Block) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut needed: FxHashSet<Var> = block.results.iter().filter_map(Atom::var).collect();
        let mut kept = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts).into_iter().rev() {
            if !stmt.outs.iter().any(|out| needed.contains(out)) {
                continue;
            }
            if let Op::If { cond: _, then, otherwise } = &mut stmt.op {
                for side in [then, otherwise] {
                    let mut outs = stmt.outs.iter();
                    side.results.retain(|_| outs.next().is_none_or(|out| needed.contains(out)));
                    prune(side);
                }
                stmt.outs.retain(|out| needed.contains(out));
            }
            needed.extend(crate::walk::mentioned(&stmt.op));
            kept.push(stmt);
        }
        kept.reverse();
        block.stmts = kept;
    });
}

/// Reads elements of rows from the array of the rows.
pub(super) fn from_arrays(block: &mut Block, rows: &mut FxHashMap<Var, Vec<Atom>>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut block.stmts {
            if let (Op::Array(ArrayOp::Index, args), [out]) = (&mut stmt.op, stmt.outs.as_slice()) {
                let row = args.first().and_then(Atom::var).and_then(|row| rows.get(&row));
                if let Some(row) = row {
                    args.splice(..1, row.iter().cloned());
                }
                rows.insert(*out, args.clone());
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| from_arrays(inner, rows));
        }
    });
}
