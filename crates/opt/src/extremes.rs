//! The largest or smallest of what a loop makes is found in that loop, if nothing else is done with it.
//!
//! ```text
//! xs = each i < n { … yield x }                        m = for i < n, a = -Infinity { … yield max(a, x) }
//! m = maximum(xs)                          becomes
//! ```
//!
//! Of no elements there is none: where the loop may have no iteration, a branch asks. Inside of a loop that runs as often it has one. It is right to the last bit, but
//! done where loops are turned inside out next: which of equal elements comes first does not matter any more.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed finds nothing")]

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Compare, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        if func.body.all_stmts(&mut |stmt| extreme(stmt).is_none()) {
            continue;
        }
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        let mut pass = Extremes { func, uses, around: Vec::new(), changed: false };
        pass.block(&mut body);
        changed |= pass.changed;
        func.body = body;
    }
    changed
}

/// What is larger, or smaller, than what, and of which array the extreme one is to be found.
fn extreme(stmt: &Stmt) -> Option<(RealOp, f64, Var)> {
    match &stmt.op {
        Op::Array(ArrayOp::Maximum, args) => Some((RealOp::Max, f64::NEG_INFINITY, args.first()?.var()?)),
        Op::Array(ArrayOp::Minimum, args) => Some((RealOp::Min, f64::INFINITY, args.first()?.var()?)),
        _ => None,
    }
}

struct Extremes<'f> {
    func: &'f mut Func,
    uses: FxHashMap<Var, usize>,
    /// How often the loops around run.
    around: Vec<Atom>,
    changed: bool,
}

impl Extremes<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut at = 0;
            while let Some(stmt) = place.stmts.get_mut(at) {
                let depth = self.around.len();
                if let Op::Loop(parts) = &stmt.op {
                    self.around.push(parts.len.clone());
                }
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                self.around.truncate(depth);
                if self.found(place, at).is_none() {
                    at += 1;
                }
            }
        });
    }

    /// Finds it in the loop, if there is one. Then the statement is gone, or another one.
    fn found(&mut self, place: &mut Block, at: usize) -> Option<()> {
        let stmt = place.stmts.get(at)?;
        let ((op, first, array), span) = (extreme(stmt)?, stmt.span);
        let out = *stmt.outs.first().filter(|out| self.func.ty(**out) == Ty::REAL)?;
        if self.uses.get(&array) != Some(&1) {
            return None;
        }
        let maker = place.stmts.iter_mut().take(at).find(|maker| maker.outs.contains(&array))?;
        let Op::Loop(parts) = &mut maker.op else { return None };
        let row = maker.outs.iter().position(|out| *out == array)?;
        let alone = parts.mode == Mode::Each && parts.accs.is_empty() && !parts.backward;
        if !alone || self.func.type_of(parts.body.results.get(row)?) != Ty::REAL {
            return None;
        }
        let runs = matches!(parts.len, Atom::Int(1..)) || self.around.contains(&parts.len);
        let mut number = |name: &str| self.func.fresh(name.into(), Ty::REAL);
        let (before, after) = (number("most"), number("most"));
        let most = if runs { out } else { number("most") };
        let element = parts.body.results.remove(row);
        let args = vec![Atom::Var(before), element];
        parts.body.stmts.push(Stmt { outs: vec![after], op: Op::Real(op, args), span });
        parts.body.results.insert(0, Atom::Var(after));
        parts.body.params.insert(1, before);
        parts.init.push(Atom::Real(first));
        parts.mode = Mode::Sequence;
        maker.outs.remove(row);
        maker.outs.insert(0, most);
        let len = parts.len.clone();
        self.changed = true;
        if runs {
            place.stmts.remove(at);
            return Some(());
        }
        let some = self.func.fresh("some".into(), Ty::BOOL);
        let op = Op::Compare(Compare::Gt, len, Atom::Int(0));
        let asked = Stmt { outs: vec![some], op, span };
        let branch = self.branch(Atom::Var(some), Atom::Var(most), place.stmts.get(at)?)?;
        place.stmts.splice(at..=at, [asked, branch]);
        Some(())
    }

    /// What was found, or the failure to find something.
    fn branch(&mut self, cond: Atom, most: Atom, stmt: &Stmt) -> Option<Stmt> {
        let Op::Array(op, _) = &stmt.op else { return None };
        let nothing = self.func.fresh("none".into(), Ty::REAL.array_of()?);
        let none = self.func.fresh("most".into(), Ty::REAL);
        let (params, span) = (Vec::new(), stmt.span);
        let stmts = vec![
            Stmt { outs: vec![nothing], op: Op::Array(ArrayOp::Empty(Elem::Real, 1), vec![]), span },
            Stmt { outs: vec![none], op: Op::Array(*op, vec![Atom::Var(nothing)]), span },
        ];
        let then = Block { params: params.clone(), stmts: Vec::new(), results: vec![most] };
        let otherwise = Block { params, stmts, results: vec![Atom::Var(none)] };
        Some(Stmt { outs: stmt.outs.clone(), op: Op::If { cond, then, otherwise }, span })
    }
}
