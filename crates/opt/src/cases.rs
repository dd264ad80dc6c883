//! A match on what branches have made becomes part of the branches, and what they made for it is not made.
//!
//! ```text
//! d = if p { a = Disk(x) yield a } else { b = Box(x, y) yield b }
//! z = match d { Disk(r) { yield r } Box(u, v) { w = u * v yield w } }    z = if p { yield x } else { w = x * y yield w }
//! ```
//!
//! No arm is copied: no two branches may make the same constructor. The branches go to the place of the match, as in
//! [`crate::branches`]; what else they give, they still give.

use crate::branches::may_move;
use crate::facts::total;
use crate::walk::{Names, count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// How many statements after the branches are looked at.
const NEAR: usize = 24;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let mut cases = Cases { uses: count_uses(&func.body), total: &total };
        let mut body = std::mem::take(&mut func.body);
        cases.block(func, &mut body);
        func.body = body;
    }
}

/// Branches and the match on what they make.
struct Found {
    /// Which statement matches.
    second: usize,
    /// Which result it matches on.
    place: usize,
}

struct Cases<'a> {
    /// How often variables are used, at least.
    uses: FxHashMap<Var, usize>,
    total: &'a FxHashSet<FuncId>,
}

impl Cases<'_> {
    fn block(&mut self, func: &mut Func, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut at = 0;
            while at < block.stmts.len() {
                match self.find(&block.stmts, at) {
                    Some(Found { second, place }) => {
                        let first = block.stmts.remove(at);
                        if let Some(second) = block.stmts.get_mut(second - 1) {
                            self.join(func, first, place, second);
                        }
                    }
                    None => at += 1,
                }
            }
            for stmt in &mut block.stmts {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(func, inner));
            }
        });
    }

    fn of(&self, var: Var) -> usize {
        self.uses.get(&var).copied().unwrap_or(0)
    }

    fn find(&self, stmts: &[Stmt], at: usize) -> Option<Found> {
        let first = stmts.get(at)?;
        if !matches!(first.op, Op::If { .. } | Op::Match { .. }) {
            return None;
        }
        let matched = |stmt: &Stmt| {
            let Op::Match { on, arms } = &stmt.op else { return None };
            let place = first.outs.iter().position(|out| on.var() == Some(*out))?;
            (first.outs.get(place).is_some_and(|on| self.of(*on) == 1) && !arms.is_empty()).then_some(place)
        };
        let near =
            (at + 1..stmts.len().min(at + NEAR)).filter_map(|second| Some((second, stmts.get(second)?)));
        let (second, place) =
            near.map(|(second, stmt)| (second, matched(stmt))).find(|(_, found)| found.is_some())?;
        let place = place?;
        let mut made = FxHashSet::default();
        for block in first.op.blocks() {
            if returns(block) && !made.insert(constructor(block, place)?.1) {
                return None;
            }
        }
        let between = stmts.get(at + 1..second)?;
        let wanted = |stmt: &Stmt| mentioned(&stmt.op).any(|var| first.outs.contains(&var));
        let fine = !between.iter().any(wanted) && may_move(first, between, self.total);
        fine.then_some(Found { second, place })
    }

    /// Puts the arms of the second into the blocks of the first, and that in the place of the second.
    fn join(&mut self, func: &mut Func, first: Stmt, place: usize, second: &mut Stmt) {
        let Stmt { outs: made, op: mut branches, span } = first;
        let Op::Match { on: _, arms } = &mut second.op else { return };
        let others = made.iter().enumerate().filter(|(out, _)| *out != place).map(|(_, out)| *out);
        let outs: Vec<Var> = second.outs.iter().copied().chain(others.clone()).collect();
        for block in branches.blocks_mut() {
            let Some((maker, ctor)) = returns(block).then(|| constructor(block, place)).flatten() else {
                fails_instead(func, block, &outs);
                continue;
            };
            let Some(mut arm) = arms.get_mut(ctor as usize).map(std::mem::take) else { continue };
            let given: Vec<(Var, Atom)> = made.iter().copied().zip(block.results.clone()).collect();
            let names: Names = given.into_iter().chain(self.opened(block, maker, &arm.params)).collect();
            names.replace_inside(&mut arm);
            block.stmts.append(&mut arm.stmts);
            let kept = others.clone().filter_map(|out| names.get(out).cloned());
            block.results = arm.results.into_iter().chain(kept).collect();
        }
        *second = Stmt { outs, op: branches, span };
    }

    /// What the parameters of an arm are where this statement of a block makes the data, which goes if nobody else uses it.
    fn opened(&mut self, block: &mut Block, maker: usize, params: &[Var]) -> Vec<(Var, Atom)> {
        let Some(Stmt { outs, op: Op::Make { fields, .. }, .. }) = block.stmts.get(maker) else {
            return Vec::new();
        };
        let is_only_for_this = outs.iter().all(|out| self.of(*out) == 1);
        let fields = fields.clone();
        if is_only_for_this {
            block.stmts.remove(maker);
        }
        for (param, field) in params.iter().zip(&fields) {
            let more = self.of(*param);
            if let Some(field) = field.var() {
                *self.uses.entry(field).or_default() += more;
            }
        }
        params.iter().copied().zip(fields).collect()
    }
}

/// Whether a block comes to its end.
pub(crate) fn returns(block: &Block) -> bool {
    !block.stmts.iter().any(|stmt| stmt.op.never_returns())
}

/// A block that fails is said to give what it would have to give now.
pub(crate) fn fails_instead(func: &mut Func, block: &mut Block, outs: &[Var]) {
    if let Some(end) = block.stmts.iter().position(|stmt| stmt.op.never_returns()) {
        block.stmts.truncate(end + 1);
    }
    let given: Vec<Var> = outs
        .iter()
        .map(|out| {
            let info = *func.vars.at(*out);
            func.vars.push(info)
        })
        .collect();
    block.results = given.iter().map(|var| Atom::Var(*var)).collect();
    if let Some(last) = block.stmts.last_mut() {
        last.outs = given;
    }
}

/// The statement that makes this result of a block, and the constructor.
fn constructor(block: &Block, place: usize) -> Option<(usize, u32)> {
    let var = block.results.get(place)?.var()?;
    let maker = block.stmts.iter().position(|stmt| stmt.outs.contains(&var))?;
    let Op::Make { data: _, ctor, fields: _ } = block.stmts.get(maker)?.op else { return None };
    Some((maker, ctor))
}
