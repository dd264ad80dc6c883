//! What is added at one place of an array twice, one time after the other, is added at once.
//!
//! ```text
//! ys = xs with [i] += a
//! zs = ys with [i] += b          becomes          s = a + b   zs = xs with [i] += s
//! ```
//!
//! and zero is not added. So it is in the derivative of what reads an element once and uses it several times. Numbers are added up in another order: it is for
//! where they need not be to the last bit what they are elsewhere.

use crate::facts::{is_quiet, total};
use crate::sizes::{boxes, in_range_there};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Func, FuncId, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let adds = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::AddAt, _));
        if func.body.all_stmts(&mut |stmt| !adds(stmt)) {
            continue;
        }
        let there = in_range_there(func, &boxes);
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        changed |= Updates { func, uses, total: &total, there }.block(&mut body);
        func.body = body;
    }
    changed
}

struct Updates<'p> {
    func: &'p mut Func,
    uses: FxHashMap<Var, usize>,
    total: &'p FxHashSet<FuncId>,
    /// What is updated at places that are there.
    there: FxHashSet<Var>,
}

impl Updates<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            // Where the last update stands, as long as nothing after it fails.
            let mut last: Option<usize> = None;
            for mut stmt in std::mem::take(&mut place.stmts) {
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                if let Some(at) = last
                    && let Some(once) = self.at_once(out.get(at), &stmt)
                {
                    out.remove(at);
                    out.extend(once.sum);
                    stmt.op = once.update;
                    changed = true;
                }
                if let Some(same) = self.adds_nothing(&stmt) {
                    stmt.op = Op::Copy(same);
                    changed = true;
                }
                if self.number_added(&stmt).is_some() {
                    last = Some(out.len());
                } else if !is_quiet(&stmt.op, self.total) {
                    last = None;
                }
                out.push(stmt);
            }
            place.stmts = out;
            changed
        })
    }

    /// An update of a number in an array: the array, the indices, and what is added.
    fn number_added<'s>(&self, stmt: &'s Stmt) -> Option<(&'s Atom, &'s [Atom], &'s Atom)> {
        let Op::Array(ArrayOp::AddAt, args) = &stmt.op else { return None };
        let [array, place @ .., added] = args.as_slice() else { return None };
        (self.func.type_of(added) == Ty::REAL).then_some((array, place, added))
    }

    /// The array to which zero is added at a place that is there.
    fn adds_nothing(&self, stmt: &Stmt) -> Option<Atom> {
        let (array, _, added) = self.number_added(stmt)?;
        let there = stmt.outs.iter().all(|out| self.there.contains(out));
        (there && *added == Atom::Real(0.0)).then(|| array.clone())
    }

    /// Two updates as one, if the first is needed for nothing but the second, which adds at the same place.
    fn at_once(&mut self, first: Option<&Stmt>, second: &Stmt) -> Option<Once> {
        let first = first?;
        let (array, place, one) = self.number_added(first)?;
        let (updated, same, other) = self.number_added(second)?;
        let updated = updated.var()?;
        if first.outs.as_slice() != [updated] || self.uses.get(&updated) != Some(&1) || place != same {
            return None;
        }
        let (added, sum) = match (one, other) {
            (Atom::Real(0.0), x) | (x, Atom::Real(0.0)) => (x.clone(), None),
            (one, other) => {
                let var = self.func.fresh(Name::new("sum"), Ty::REAL);
                let op = Op::Real(RealOp::Add, vec![one.clone(), other.clone()]);
                (Atom::Var(var), Some(Stmt { outs: vec![var], op, span: second.span }))
            }
        };
        let args = [array.clone()].into_iter().chain(place.iter().cloned()).chain([added]);
        Some(Once { sum, update: Op::Array(ArrayOp::AddAt, args.collect()) })
    }
}

/// Two updates as one.
struct Once {
    sum: Option<Stmt>,
    update: Op,
}
