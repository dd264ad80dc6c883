//! Of several numbers of which a loop takes the smallest, or the largest, the one for which the next iteration waits is compared last.
//!
//! ```text
//! for …, left = … { a = min(up, left)  b = min(corner, a)  t = x + b  yield t }
//!                                                       becomes      { a = min(corner, up)  b = min(a, left)  t = x + b  yield t }
//! ```
//!
//! The order stays, so that the first of equal ones is the same: the result is, to the last bit.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no loop")]

use crate::walk::{count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::Op;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Of so many numbers at most.
const MOST: usize = 8;
/// Loops that hand on more are not looked at.
const CARRIED: usize = 64;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        changed |= block(func, &uses, &mut body);
        func.body = body;
    }
    changed
}

fn block(func: &mut Func, uses: &FxHashMap<Var, usize>, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                changed |= block(func, uses, inner);
            }
            let (first, carried, body) = match &mut stmt.op {
                Op::Loop(parts) => (1, parts.init.len(), &mut parts.body),
                Op::While(parts) => (0, parts.init.len(), &mut parts.body),
                _ => continue,
            };
            if (1..=CARRIED).contains(&carried) && body.stmts.iter().any(|stmt| extreme(stmt).is_some()) {
                let late = late(body, first, carried);
                changed |= !late.is_empty() && Chains { func, uses, late: &late }.rewrite(body);
            }
        }
        changed
    })
}

/// How many operations after the beginning of an iteration what it needs of the one before is there: of what needs nothing of it, nothing.
fn late(body: &Block, first: usize, carried: usize) -> FxHashMap<Var, u32> {
    let params = body.params.iter().skip(first).take(carried);
    let mut of: FxHashMap<Var, u64> = params.clone().copied().zip((0..).map(|at: u32| 1 << at)).collect();
    for stmt in &body.stmts {
        let needs = mentioned(&stmt.op).filter_map(|var| of.get(&var)).fold(0, |all, more| all | more);
        of.extend(stmt.outs.iter().map(|out| (*out, needs)));
    }
    let result = |atom: &Atom| atom.var().and_then(|var| of.get(&var)).copied().unwrap_or(0);
    let next: Vec<u64> = body.results.iter().take(carried).map(result).collect();
    // What it becomes after any number of iterations.
    let becomes = |at: usize| {
        let (mut all, mut more) = (0, next.get(at).copied().unwrap_or(0));
        while all != more {
            all = more;
            let parts = next.iter().enumerate().filter(|(at, _)| all >> at & 1 == 1);
            more = parts.fold(all, |all, (_, more)| all | more);
        }
        all
    };
    let waited_for = params.enumerate().filter(|(at, _)| becomes(*at) >> at & 1 == 1);
    let mut late: FxHashMap<Var, u32> = waited_for.map(|(_, param)| (*param, 0)).collect();
    for stmt in &body.stmts {
        if let Some(last) = mentioned(&stmt.op).filter_map(|var| late.get(&var)).max().copied() {
            late.extend(stmt.outs.iter().map(|out| (*out, last + 1)));
        }
    }
    late
}

/// What a statement takes the smaller or larger of.
fn extreme(stmt: &Stmt) -> Option<(RealOp, &Atom, &Atom, Var)> {
    let (Op::Real(op @ (RealOp::Min | RealOp::Max), args), [out]) = (&stmt.op, stmt.outs.as_slice()) else {
        return None;
    };
    let [a, b] = args.as_slice() else { return None };
    Some((*op, a, b, *out))
}

struct Chains<'f> {
    func: &'f mut Func,
    uses: &'f FxHashMap<Var, usize>,
    late: &'f FxHashMap<Var, u32>,
}

impl Chains<'_> {
    fn rewrite(&mut self, body: &mut Block) -> bool {
        let made: FxHashMap<Var, &Stmt> =
            body.stmts.iter().filter_map(|stmt| Some((extreme(stmt)?.3, stmt))).collect();
        let mut inside: FxHashSet<Var> = FxHashSet::default();
        let mut instead: FxHashMap<Var, Vec<Stmt>> = FxHashMap::default();
        for stmt in body.stmts.iter().rev() {
            let Some((op, .., out)) = extreme(stmt).filter(|(.., out)| !inside.contains(out)) else {
                continue;
            };
            let (mut of, mut parts) = (Vec::new(), FxHashSet::default());
            self.gather(op, stmt, &made, &mut of, &mut parts);
            if (3..=MOST).contains(&of.len())
                && let Some(stmts) = self.compared(op, &of, out, stmt.span)
            {
                inside.extend(parts);
                instead.insert(out, stmts);
            }
        }
        let mut stmts = Vec::with_capacity(body.stmts.len());
        for stmt in std::mem::take(&mut body.stmts) {
            match extreme(&stmt).map(|(.., out)| out) {
                Some(out) if inside.contains(&out) => {}
                Some(out) => stmts.extend(instead.remove(&out).unwrap_or_else(|| vec![stmt])),
                None => stmts.push(stmt),
            }
        }
        body.stmts = stmts;
        !inside.is_empty()
    }

    /// What a statement takes the smallest or largest of, in order, and the variables that only lead to it.
    fn gather(
        &self,
        op: RealOp,
        stmt: &Stmt,
        made: &FxHashMap<Var, &Stmt>,
        of: &mut Vec<Atom>,
        parts: &mut FxHashSet<Var>,
    ) {
        let Some((_, a, b, _)) = extreme(stmt) else { return };
        for side in [a, b] {
            let inner =
                side.var().filter(|var| self.uses.get(var) == Some(&1)).and_then(|var| made.get(&var));
            match inner.filter(|inner| extreme(inner).is_some_and(|(other, ..)| other == op)) {
                Some(inner) if of.len() < MOST => {
                    parts.extend(&inner.outs);
                    self.gather(op, inner, made, of, parts);
                }
                _ => of.push(side.clone()),
            }
        }
    }

    /// The comparisons after which the result is there first, if it is there before that.
    fn compared(&mut self, op: RealOp, of: &[Atom], out: Var, span: Span) -> Option<Vec<Stmt>> {
        let lates: Vec<Option<u32>> =
            of.iter().map(|atom| atom.var().and_then(|var| self.late.get(&var)).copied()).collect();
        let best = soonest(&lates);
        let is = self.late.get(&out).copied()?;
        if best.get(&(0, of.len()))?.0? >= is {
            return None;
        }
        let mut stmts = Vec::new();
        let result = self.part((op, span), of, &best, (0, of.len()), &mut stmts)?;
        let last = stmts.last_mut()?;
        (Atom::Var(*last.outs.first()?) == result).then_some(())?;
        last.outs = vec![out];
        Some(stmts)
    }

    fn part(
        &mut self,
        (op, span): (RealOp, Span),
        of: &[Atom],
        best: &Soonest,
        (from, to): (usize, usize),
        stmts: &mut Vec<Stmt>,
    ) -> Option<Atom> {
        if to - from == 1 {
            return of.get(from).cloned();
        }
        let between = best.get(&(from, to))?.1;
        let args = vec![
            self.part((op, span), of, best, (from, between), stmts)?,
            self.part((op, span), of, best, (between, to), stmts)?,
        ];
        let name = if op == RealOp::Min { "least" } else { "most" };
        let out = self.func.fresh(Name::new(name), Ty::REAL);
        stmts.push(Stmt { outs: vec![out], op: Op::Real(op, args), span });
        Some(Atom::Var(out))
    }
}

/// Of some that stand beside each other: when the smallest of them is there, and where they are best parted for that.
type Soonest = FxHashMap<(usize, usize), (Option<u32>, usize)>;

fn soonest(lates: &[Option<u32>]) -> Soonest {
    let mut best: Soonest = lates.iter().enumerate().map(|(at, late)| ((at, at + 1), (*late, at))).collect();
    for width in 2..=lates.len() {
        for from in 0..=lates.len() - width {
            let to = from + width;
            let when = |between: usize| {
                let side = |part| best.get(&part).and_then(|(late, _)| *late);
                side((from, between)).max(side((between, to))).map(|late| late + 1)
            };
            // Parted before the last one where that is as good: so one writes it.
            if let Some(between) = (from + 1..to).rev().min_by_key(|between| when(*between)) {
                let late = when(between);
                best.insert((from, to), (late, between));
            }
        }
    }
    best
}
