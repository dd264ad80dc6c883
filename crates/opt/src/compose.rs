//! What one recursive function makes and another at once takes apart is not made: one function does both.
//!
//! ```text
//! func back(t, w) { match t { Leaf(x) { a = w * x  d = Leaf'(a) … d } Node(l, r) { p = back(l, w)  q = back(r, w)  d = Node'(p, q) … d } } }
//! func surface(t, d) { match t { Leaf(x) { match d { Leaf'(a) { Leaf(a) } … } } Node(l, r) { match d { Node'(p, q) { … surface(l, p) … } } } } }
//! d = back(t, w)   e = surface(t, d)
//!                                                 becomes
//! func back(t, w) { match t { Leaf(x) { a = w * x  e = Leaf(a) … e } Node(l, r) { p = back(l, w)  q = back(r, w)  e = Node(p, q) … e } } }
//! e = back(t, w)
//! ```
//!
//! The body of the new function is that of the first, and at each end of it that of the second. There it is known what has been made,
//! and where the first calls itself for what the second calls itself with, the new function calls itself. If calls of the first are left
//! then, there is no new function.
//!
//! The second is called where the first was, so that either nothing in between fails, or not the second. What the compiler itself
//! says cannot be (a failure without a place in the source) does not fail.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed calls nothing")]

use crate::cases::{fails_instead, returns};
use crate::facts::{is_quiet, is_safe, total};
use crate::simplify;
use crate::stands::{Made, stands_alone};
use crate::walk::{count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::Op;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;
use wengert_ir::{Atom, Block, Builder, Elem, Func, Program, Stmt, Ty, Var};

/// Functions with more statements than this are left.
const LARGE: usize = 300;
/// So many pairs of functions are tried in a program.
const PAIRS: usize = 16;
/// The first has at most so many ends.
const ENDS: usize = 12;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let recursive: FxHashSet<FuncId> = program
        .funcs
        .iter()
        .filter(|(id, func)| calls(&func.body, *id) > 0 && func.body.size() <= LARGE)
        .map(|(id, _)| id)
        .collect();
    if recursive.len() < 2 {
        return;
    }
    let mut tried = Vec::new();
    while tried.len() < PAIRS
        && let Some(pair) = find(program, &recursive, &tried)
    {
        pair.join(program);
        tried.push(pair);
    }
}

/// How many calls of a function there are.
fn calls(block: &Block, id: FuncId) -> usize {
    let mut count = 0;
    block.for_each_stmt(&mut |stmt| {
        count += usize::from(matches!(&stmt.op, Op::Call { func, .. } if *func == id));
    });
    count
}

/// A function that makes data, and one that takes it.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    maker: FuncId,
    taker: FuncId,
    /// Which result of the maker it is, and which parameter of the taker.
    made: usize,
    taken: usize,
    /// For each parameter of the taker, the one of the maker that is given the same.
    same: Vec<Option<usize>>,
}

/// A pair that has not been tried.
fn find(program: &Program, recursive: &FxHashSet<FuncId>, tried: &[Pair]) -> Option<Pair> {
    program.funcs.iter().find_map(|(id, func)| {
        let uses = count_uses(&func.body);
        let mut found = None;
        each_block(&func.body, &mut |block| {
            for (at, first) in block.stmts.iter().enumerate() {
                let Op::Call { func: maker, args, checkpoint: false } = &first.op else { continue };
                if found.is_some() || *maker == id || !recursive.contains(maker) {
                    continue;
                }
                let seen = |stmt: &Stmt| Pair::of(func, &uses, (*maker, first, args), stmt);
                let pair = block.stmts.iter().skip(at + 1).find_map(seen).filter(|pair| {
                    recursive.contains(&pair.taker)
                        && pair.taker != id
                        && pair.taker != pair.maker
                        && !tried.contains(pair)
                });
                found = pair;
            }
        });
        found
    })
}

/// Looks at a block and those inside of it.
fn each_block<'b>(block: &'b Block, see: &mut dyn FnMut(&'b Block)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        see(block);
        for stmt in &block.stmts {
            stmt.op.blocks().into_iter().for_each(|inner| each_block(inner, see));
        }
    });
}

impl Pair {
    /// If a statement takes what the first makes, and nobody else does.
    fn of(
        func: &Func,
        uses: &FxHashMap<Var, usize>,
        (maker, first, given): (FuncId, &Stmt, &[Atom]),
        stmt: &Stmt,
    ) -> Option<Pair> {
        let Op::Call { func: taker, args, checkpoint: false } = &stmt.op else { return None };
        let one = |out: &Var| {
            let is_data = matches!(func.ty(*out), Ty::Scalar(Elem::Data(_)));
            let taken = args.iter().position(|arg| arg.var() == Some(*out));
            taken.filter(|_| is_data && uses.get(out) == Some(&1))
        };
        let (made, taken) =
            first.outs.iter().enumerate().find_map(|(made, out)| one(out).map(|taken| (made, taken)))?;
        let same = args
            .iter()
            .map(|arg| arg.var().and_then(|_| given.iter().position(|other| other == arg)))
            .collect();
        Some(Pair { maker, taker: *taker, made, taken, same })
    }

    /// Makes the function that does both, and calls it, if that is possible.
    fn join(&self, program: &mut Program) {
        let total = total(program);
        let id = FuncId::new(program.funcs.len());
        let harmless: FxHashSet<FuncId> = [self.maker, self.taker]
            .into_iter()
            .filter(|id| is_harmless(*id, program.funcs.at(*id), &total))
            .collect();
        let calls_of = Calls { pair: self, id, total: &total, harmless: &harmless };
        let mut made = self.both(program);
        simplify::function(&mut made);
        let mut body = std::mem::take(&mut made.body);
        open(&mut made, &mut body);
        sweep(&mut body, &total);
        made.body = body;
        calls_of.join_in(&mut made);
        if calls(&made.body, self.maker) > 0 || calls(&made.body, id) == 0 {
            return;
        }
        program.funcs.push(made);
        for other in program.funcs.ids().filter(|other| ![id, self.maker, self.taker].contains(other)) {
            if calls(&program.funcs.at(other).body, self.maker) > 0 {
                calls_of.join_in(program.funcs.at_mut(other));
            }
        }
    }

    /// The parameters of the taker that the new function has besides those of the maker.
    fn others(&self) -> impl Iterator<Item = usize> {
        let others = self.same.iter().enumerate();
        others.filter(|(place, same)| *place != self.taken && same.is_none()).map(|(place, _)| place)
    }

    /// One after the other.
    fn both(&self, program: &Program) -> Func {
        let (maker, taker) = (program.funcs.at(self.maker), program.funcs.at(self.taker));
        let mut b = Builder::new(maker.name);
        b.set_func_span(maker.span);
        let mut param = |func: &Func, var: &Var| {
            let info = *func.vars.at(*var);
            b.param(info.name, info.ty)
        };
        let given: Vec<Atom> = maker.body.params.iter().map(|var| param(maker, var)).collect();
        let mut others: FxHashMap<usize, Atom> = FxHashMap::default();
        for place in self.others() {
            others.extend(taker.body.params.get(place).map(|var| (place, param(taker, var))));
        }
        let results = b.inline_func(maker, &given);
        let args = (self.same.iter().enumerate())
            .map(|(place, same)| same.and_then(|same| given.get(same)).or(others.get(&place)).cloned())
            .collect();
        let mut func = b.finish(results);
        let mut body = std::mem::take(&mut func.body);
        let mut end = End { taker, args, left: ENDS };
        let mut all = end.push(&mut func, &mut body, self.made);
        body.results.remove(self.made);
        all.append(&mut body.results);
        body.results = all;
        func.results = body.results.iter().map(|atom| func.type_of(atom)).collect();
        func.body = body;
        func
    }
}

/// The taker at the ends of the maker.
struct End<'p> {
    taker: &'p Func,
    /// What it is given; nothing is what the maker has made.
    args: Vec<Option<Atom>>,
    /// So many ends may be yet.
    left: usize,
}

impl End<'_> {
    /// Puts the taker at the ends of a block, of which this result is what it takes, and then no result any more. What the taker gives is
    /// none yet.
    fn push(&mut self, func: &mut Func, block: &mut Block, made: usize) -> Vec<Atom> {
        let result = block.results.get(made).cloned().unwrap_or(Atom::Unit);
        let last = block.stmts.last_mut().filter(|last| matches!(last.op, Op::If { .. } | Op::Match { .. }));
        let place =
            last.as_ref().and_then(|last| last.outs.iter().position(|out| result.var() == Some(*out)));
        let once = block.results.iter().filter(|other| **other == result).count() == 1;
        let (Some(last), Some(place), true) = (last, place, once) else {
            return self.copy(func, block, result);
        };
        let ends = last.op.blocks().into_iter().filter(|inner| returns(inner)).count();
        if ends > self.left {
            return self.copy(func, block, result);
        }
        self.left -= ends;
        let given: Vec<Var> = (self.taker.results.iter())
            .zip(&self.taker.body.results)
            .map(|(ty, result)| {
                let name = result.var().map_or("d".into(), |var| self.taker.vars.at(var).name);
                func.fresh(name, *ty)
            })
            .collect();
        last.outs.remove(place);
        last.outs.extend(&given);
        let outs = last.outs.clone();
        for inner in last.op.blocks_mut() {
            if returns(inner) {
                let all = self.push(func, inner, place);
                inner.results.remove(place);
                inner.results.extend(all);
            } else {
                fails_instead(func, inner, &outs);
            }
        }
        given.into_iter().map(Atom::Var).collect()
    }

    fn copy(&self, func: &mut Func, block: &mut Block, made: Atom) -> Vec<Atom> {
        let mut copier = Copier::new(self.taker);
        for (param, arg) in self.taker.body.params.iter().zip(&self.args) {
            copier.set(*param, arg.clone().unwrap_or_else(|| made.clone()));
        }
        for stmt in &self.taker.body.stmts {
            block.stmts.push(copier.stmt(func, stmt));
        }
        self.taker.body.results.iter().map(|result| copier.atom(result)).collect()
    }
}

/// Of a match with one arm that returns, and others that cannot be, what is done in that arm stands after the match.
fn open(func: &mut Func, block: &mut Block) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| open(func, inner));
            out.append(&mut opened(func, stmt));
        }
        block.stmts = out;
    });
}

fn opened(func: &mut Func, stmt: Stmt) -> Vec<Stmt> {
    let Stmt { outs, op: Op::Match { on, mut arms }, span } = stmt else { return vec![stmt] };
    let cannot_be = |arm: &Block| {
        let end = arm.stmts.iter().position(|stmt| stmt.op.never_returns());
        let before = arm.stmts.get(..end.unwrap_or(0)).unwrap_or_default();
        let fails = end.and_then(|end| arm.stmts.get(end)).is_some_and(|stmt| stmt.span.is_nowhere());
        fails && before.iter().all(|stmt| matches!(stmt.op, Op::Make { .. } | Op::Copy(_)))
    };
    let mut going = arms.iter().enumerate().filter(|(_, arm)| returns(arm));
    let (only, others) = (going.next().map(|(place, _)| place), going.count());
    let fine = arms.iter().all(|arm| returns(arm) || cannot_be(arm));
    let Some(arm) =
        only.filter(|_| others == 0 && fine && arms.len() > 1).and_then(|only| arms.get_mut(only))
    else {
        return vec![Stmt { outs, op: Op::Match { on, arms }, span }];
    };
    let fields = arm.params.clone();
    let fresh = |var: &Var| {
        let info = *func.vars.at(*var);
        func.vars.push(info)
    };
    let params: Vec<Var> = fields.iter().map(fresh).collect();
    let results = params.iter().copied().map(Atom::Var).collect();
    let Block { params: _, stmts, results: given } =
        std::mem::replace(arm, Block { params, stmts: Vec::new(), results });
    for arm in arms.iter_mut().filter(|arm| !returns(arm)) {
        fails_instead(func, arm, &fields);
    }
    let first = Stmt { outs: fields, op: Op::Match { on, arms }, span };
    let copy = |(out, atom)| Stmt { outs: vec![out], op: Op::Copy(atom), span };
    std::iter::once(first).chain(stmts).chain(outs.into_iter().zip(given).map(copy)).collect()
}

/// Whether a function fails nowhere, but for what cannot be, and for want of memory.
fn is_harmless(id: FuncId, func: &Func, total: &FxHashSet<FuncId>) -> bool {
    let made = Made::of(&func.body);
    func.body.all_stmts(&mut |stmt| match &stmt.op {
        Op::Call { func, .. } if *func == id => true,
        Op::Fail { .. } => stmt.span.is_nowhere(),
        Op::If { .. } | Op::Match { .. } => true,
        op => is_safe(op, total) && made.stands(stmt, &|_| false),
    })
}

/// Whether nothing in a statement fails, but for what cannot be.
fn cannot_fail(stmt: &Stmt, total: &FxHashSet<FuncId>) -> bool {
    let fine = |stmt: &Stmt| match &stmt.op {
        Op::Fail { .. } => stmt.span.is_nowhere(),
        Op::If { .. } | Op::Match { .. } => true,
        op => is_safe(op, total),
    };
    fine(stmt) && stmt.op.blocks().into_iter().all(|block| block.all_stmts(&mut |stmt| fine(stmt)))
}

/// Leaves out what is not used and cannot fail.
fn sweep(block: &mut Block, total: &FxHashSet<FuncId>) {
    loop {
        let uses = count_uses(block);
        let before = block.size();
        drop_unused(block, &uses, total);
        if block.size() == before {
            return;
        }
    }
}

fn drop_unused(block: &mut Block, uses: &FxHashMap<Var, usize>, total: &FxHashSet<FuncId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        block.stmts.retain_mut(|stmt| {
            stmt.op.blocks_mut().into_iter().for_each(|inner| drop_unused(inner, uses, total));
            let unused = stmt.outs.iter().all(|out| !uses.contains_key(out));
            !(unused && !stmt.op.never_returns() && cannot_fail(stmt, total))
        });
    });
}

/// A call for two: where the second is, and what is to be done before the call.
struct Joined {
    second: usize,
    before: Vec<usize>,
    call: Stmt,
}

/// Calls of both functions, to become calls of the new one.
struct Calls<'a> {
    pair: &'a Pair,
    id: FuncId,
    total: &'a FxHashSet<FuncId>,
    /// Which of the two do not fail.
    harmless: &'a FxHashSet<FuncId>,
}

impl Calls<'_> {
    fn join_in(&self, func: &mut Func) {
        let uses = count_uses(&func.body);
        let mut body = std::mem::take(&mut func.body);
        self.block(func, &mut body, &uses);
        func.body = body;
    }

    fn block(&self, func: &Func, block: &mut Block, uses: &FxHashMap<Var, usize>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for at in 0..block.stmts.len() {
                if let Some(Joined { second, before, call }) = self.at(func, &block.stmts, at, uses) {
                    block.stmts.remove(second);
                    // From the last, so that places stay what they are.
                    let moved = before.iter().rev().map(|place| block.stmts.remove(*place));
                    let mut moved: Vec<Stmt> = moved.collect();
                    moved.reverse();
                    moved.push(call);
                    block.stmts.splice(at..=at, moved);
                }
            }
            for stmt in &mut block.stmts {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(func, inner, uses));
            }
        });
    }

    /// The call in place of the one there and of the one that takes what that makes.
    fn at(&self, func: &Func, stmts: &[Stmt], at: usize, uses: &FxHashMap<Var, usize>) -> Option<Joined> {
        let first = stmts.get(at)?;
        let Op::Call { func: maker, args: given, checkpoint: false } = &first.op else { return None };
        if *maker != self.pair.maker {
            return None;
        }
        let fits = |stmt: &Stmt| {
            let pair = Pair::of(func, uses, (*maker, first, given), stmt)?;
            let alike = self.pair.same.iter().zip(&pair.same).all(|(wanted, is)| {
                wanted.is_none_or(|wanted| is.is_some_and(|is| given.get(is) == given.get(wanted)))
            });
            let whole =
                (pair.taker, pair.made, pair.taken) == (self.pair.taker, self.pair.made, self.pair.taken);
            (alike && whole).then_some(())
        };
        let second = (at + 1..stmts.len()).find(|second| stmts.get(*second).and_then(fits).is_some())?;
        let Stmt { outs, op: Op::Call { args, .. }, span } = stmts.get(second)? else { return None };
        let between = stmts.get(at + 1..second)?;
        let others: Vec<Atom> = self.pair.others().filter_map(|place| args.get(place)).cloned().collect();
        let quiet = between.iter().all(|stmt| self.is_quiet(stmt));
        if !quiet && !self.harmless.contains(&self.pair.taker) {
            return None;
        }
        let before = self.needed(stmts, (at, second), &others)?;
        // What fails in between may look at sizes.
        let stands = |place: &usize| stmts.get(*place).is_some_and(stands_alone);
        if !quiet && !before.iter().all(stands) {
            return None;
        }
        let rest = first.outs.iter().enumerate().filter(|(place, _)| *place != self.pair.made);
        let outs = outs.iter().copied().chain(rest.map(|(_, out)| *out)).collect();
        let args = given.iter().cloned().chain(others).collect();
        let op = Op::Call { func: self.id, args, checkpoint: false };
        let span = if first.span.is_nowhere() { *span } else { first.span };
        Some(Joined { second, before, call: Stmt { outs, op, span } })
    }

    /// The statements between two places that make these operands, in order; nothing, if they cannot be done before.
    fn needed(&self, stmts: &[Stmt], (at, second): (usize, usize), of: &[Atom]) -> Option<Vec<usize>> {
        let mut needed = Vec::new();
        let mut todo: Vec<Var> = of.iter().filter_map(Atom::var).collect();
        while let Some(var) = todo.pop() {
            let Some(place) =
                (at..second).find(|place| stmts.get(*place).is_some_and(|stmt| stmt.outs.contains(&var)))
            else {
                continue;
            };
            let stmt = stmts.get(place)?;
            if place == at || !cannot_fail(stmt, self.total) {
                return None;
            }
            if !needed.contains(&place) {
                needed.push(place);
                todo.extend(mentioned(&stmt.op));
            }
        }
        needed.sort_unstable();
        Some(needed)
    }

    /// Whether nothing in a statement fails.
    fn is_quiet(&self, stmt: &Stmt) -> bool {
        let both = self.harmless.len() == 2;
        match &stmt.op {
            Op::Call { func, .. } if *func == self.id => both,
            Op::Call { func, .. } if self.harmless.contains(func) => true,
            op => is_quiet(op, self.total),
        }
    }
}
