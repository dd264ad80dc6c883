//! Zeros are strong: what is multiplied with a zero tangent or cotangent, or is the tangent that is multiplied with a zero, need
//! not be computed. Where a loop computes nothing but a factor, the other factor is looked at before.
//!
//! ```text
//! s = for i < n, … { … }              skip = w == 0.0
//! t = mul_zero(s, w)          becomes t = if skip { yield 0.0 } else { s = for i < n, … { … } … }
//! ```
//!
//! So a tangent map takes no time for the weights that are zero. The pass comes after all others: what is in a branch is in
//! their way.

use crate::facts::{is_safe, is_total, total};
use crate::walk::{count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Loops over fewer elements are as fast as looking.
const FEW: i64 = 8;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        block(func, &mut body, &uses, &total);
        func.body = body;
    }
}

fn block(func: &mut Func, place: &mut Block, uses: &FxHashMap<Var, usize>, total: &FxHashSet<FuncId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut place.stmts {
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner, uses, total));
        }
        // Loops that compute one number for one use, by that number.
        let once = |stmt: &Stmt| match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Loop(parts), [out]) => {
                let long = !matches!(parts.len, Atom::Int(n) if n < FEW);
                let fine = func.ty(*out) == Ty::REAL && uses.get(out) == Some(&1) && long;
                (fine && is_safe(&stmt.op, total) && is_total(&parts.body, total)).then_some(*out)
            }
            (_, _) => None,
        };
        let loops: FxHashSet<Var> = place.stmts.iter().filter_map(once).collect();
        if loops.is_empty() {
            return;
        }
        let used = products(place, &loops);
        let mut waiting: Vec<Stmt> = Vec::new();
        let mut out = Vec::with_capacity(place.stmts.len());
        for stmt in std::mem::take(&mut place.stmts) {
            if matches!(stmt.outs.as_slice(), [var] if used.contains(var)) {
                waiting.push(stmt);
                continue;
            }
            let made = factors(&stmt.op).and_then(|pair| {
                pair.into_iter().find_map(|(x, other)| {
                    let place = waiting.iter().position(|made| made.outs.first().copied() == x.var())?;
                    Some((place, other.clone()))
                })
            });
            match made {
                Some((place, other)) => unless_zero(func, waiting.remove(place), &other, stmt, &mut out),
                None => {
                    // What may update an array in place must not come before somebody who reads it.
                    let taken =
                        if waiting.is_empty() { FxHashSet::default() } else { arrays(func, &stmt.op) };
                    if !taken.is_empty() && !only_reads(&stmt.op) {
                        out.extend(
                            waiting.extract_if(.., |made| !arrays(func, &made.op).is_disjoint(&taken)),
                        );
                    }
                    out.push(stmt);
                }
            }
        }
        out.extend(waiting);
        place.stmts = out;
    });
}

/// The arrays that an operation mentions, its blocks included.
fn arrays(func: &Func, op: &Op) -> FxHashSet<Var> {
    mentioned(op).filter(|var| func.ty(*var).rank() > 0).collect()
}

/// Whether an operation on arrays surely changes none in place.
fn only_reads(op: &Op) -> bool {
    matches!(op, Op::Array(ArrayOp::Index | ArrayOp::Length(_), _))
}

/// The two factors of a strong product, each with the other.
fn factors(op: &Op) -> Option<[(&Atom, &Atom); 2]> {
    let Op::Real(RealOp::MulZero, args) = op else { return None };
    let [x, y] = args.as_slice() else { return None };
    Some([(x, y), (y, x)])
}

/// Which of these loops are the first factor of a strong product in the same block, whose other factor is none of them.
fn products(place: &Block, loops: &FxHashSet<Var>) -> FxHashSet<Var> {
    let is_one = |atom: &Atom| atom.var().is_some_and(|var| loops.contains(&var));
    let used = |stmt: &Stmt| {
        let pair = factors(&stmt.op)?;
        let (x, _) =
            pair.into_iter().find(|(x, other)| is_one(x) && !is_one(other) && other.var().is_some())?;
        x.var()
    };
    place.stmts.iter().filter_map(used).collect()
}

/// The product where the other factor is looked at first.
fn unless_zero(func: &mut Func, made: Stmt, other: &Atom, product: Stmt, out: &mut Vec<Stmt>) {
    let span = product.span;
    let Some(result) = product.outs.first().copied() else { return };
    let zero = func.vars.push(VarInfo { name: Name::new("skip"), ty: Ty::BOOL });
    let inner = func.vars.push(VarInfo { name: func.vars.at(result).name, ty: Ty::REAL });
    let compare = Op::Compare(Compare::Eq, other.clone(), Atom::Real(0.0));
    out.push(Stmt { outs: vec![zero], op: compare, span });
    let then = Block { params: Vec::new(), stmts: Vec::new(), results: vec![Atom::Real(0.0)] };
    let product = Stmt { outs: vec![inner], op: product.op, span };
    let otherwise = Block { params: Vec::new(), stmts: vec![made, product], results: vec![Atom::Var(inner)] };
    let op = Op::If { cond: Atom::Var(zero), then, otherwise };
    out.push(Stmt { outs: vec![result], op, span });
}
