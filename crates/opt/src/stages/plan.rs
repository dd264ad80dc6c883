//! Which statements of a loop go to which of the loops that it becomes.
//!
//! Statements that only compute numbers are *soft*, all others are *stiff*, and so is what goes from one iteration to the next, with all that stands between. Costly
//! functions go to the earliest of the even stages at which all that they need is there, what is stiff to the earliest of the odd ones. What else is soft goes to an even
//! stage if what needs it leaves time for that. Even stages without costly functions are no stages.

use crate::facts::{Quiet, is_costly};
use crate::stands::stands_alone;
use crate::walk::{added, count_uses, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// Loops with more statements stay as they are.
const MOST: usize = 200;
/// So many iterations at least.
const SHORT: i64 = 8;
/// A loop becomes so many at most, and so many arrays of numbers are kept for others of them.
const STAGES: usize = 4;
const ARRAYS: usize = 3;

/// Into which loops a loop is taken apart.
pub(super) struct Plan {
    /// Of each statement the loop in which it is.
    pub(super) stmts: Vec<usize>,
    /// Of what is carried and of accumulators.
    pub(super) carried: Vec<usize>,
    /// Of each row that is given.
    pub(super) rows: Vec<usize>,
    /// What one of them computes and later ones need.
    pub(super) given: Vec<(Var, usize)>,
    /// Arrays with rows that several of them need: it pays only while these stay near.
    pub(super) shared: Vec<Atom>,
    /// How many they are.
    pub(super) count: usize,
}

impl Plan {
    /// Whether it may pay to take a loop apart.
    pub(super) fn may_pay(parts: &Loop) -> bool {
        let arrays =
            !parts.inputs.is_empty() || parts.body.results.len() > parts.init.len() + parts.accs.len();
        let short = matches!(parts.len, Atom::Int(..SHORT));
        let stmts = &parts.body.stmts;
        let fits = parts.mode != Mode::Reduce && arrays && !short && stmts.len() <= MOST;
        fits && stmts.iter().any(|stmt| is_costly(&stmt.op))
    }

    /// What to do with a loop, if it pays.
    pub(super) fn of(func: &Func, parts: &Loop, quiet: Quiet<'_>, sums: bool) -> Option<Plan> {
        if !Plan::may_pay(parts) {
            return None;
        }
        let graph = Graph::of(func, parts, quiet, sums);
        let groups = graph.groups()?;
        graph.plan(func, parts, quiet, &groups)
    }
}

/// What needs what: statements, and after them what is carried.
struct Graph {
    needs: Vec<Vec<usize>>,
    stiff: Vec<bool>,
    /// Which are costly functions that are soft.
    costly: Vec<bool>,
    /// Which are sums, of numbers or at the index of the iteration.
    sums: Vec<bool>,
    /// What goes around from one iteration to the next together.
    around: Vec<usize>,
    /// Which of them makes a variable.
    made: FxHashMap<Var, usize>,
}

impl Graph {
    fn of(func: &Func, parts: &Loop, quiet: Quiet<'_>, reorder: bool) -> Graph {
        let (body, count) = (&parts.body, parts.init.len() + parts.accs.len());
        let first = body.stmts.len();
        let uses = count_uses(body);
        let mut made: FxHashMap<Var, usize> = FxHashMap::default();
        for (at, stmt) in body.stmts.iter().enumerate() {
            made.extend(stmt.outs.iter().map(|out| (*out, at)));
        }
        let mut sums = vec![false; first];
        let mut soft: Vec<bool> = body.stmts.iter().map(|stmt| is_soft(func, stmt, quiet)).collect();
        for (at, param) in body.params.iter().skip(1).take(count).enumerate() {
            let adder = (reorder && func.ty(*param) == Ty::REAL).then(|| adds(parts, at, &uses)).flatten();
            let adder = adder.or_else(|| adds_there(parts, at, &uses, quiet));
            if let Some(adder) = adder.and_then(|out| made.get(&out)) {
                soft.get_mut(*adder).into_iter().for_each(|soft| *soft = true);
                soft.push(true);
                sums.push(true);
            } else {
                made.insert(*param, first + at);
                soft.push(false);
                sums.push(false);
            }
        }
        let makers = |vars: &mut dyn Iterator<Item = Var>| {
            let all: FxHashSet<usize> = vars.filter_map(|var| made.get(&var).copied()).collect();
            all.into_iter().collect::<Vec<usize>>()
        };
        let needed = |(at, stmt): (usize, &Stmt)| {
            let mut all = makers(&mut mentioned(&stmt.op));
            all.extend(looked_at_before(body, at, quiet));
            all
        };
        let mut needs: Vec<Vec<usize>> = body.stmts.iter().enumerate().map(needed).collect();
        needs.extend(body.results.iter().take(count).map(|result| makers(&mut result.var().into_iter())));
        let around = around(&needs);
        let alone = |node: usize| around.iter().filter(|other| **other == node).count() == 1;
        let stiff: Vec<bool> = (soft.iter().zip(&around)).map(|(soft, of)| !soft || !alone(*of)).collect();
        let functions = body.stmts.iter().map(|stmt| is_costly(&stmt.op)).chain(std::iter::repeat(false));
        let costly = stiff.iter().zip(functions).map(|(stiff, costly)| !stiff && costly).collect();
        Graph { needs, stiff, costly, sums, around, made }
    }

    /// The earliest stage of each.
    fn earliest(&self) -> Option<Vec<usize>> {
        let even = |node: usize| self.costly.get(node) == Some(&true);
        let odd = |node: usize| self.stiff.get(node) == Some(&true);
        let mut stages: Vec<usize> = self.stiff.iter().map(|stiff| usize::from(*stiff)).collect();
        loop {
            let mut changed = false;
            for node in 0..stages.len() {
                let around = *self.around.get(node)?;
                let others =
                    self.needs.get(node)?.iter().filter(|need| self.around.get(**need) != Some(&around));
                let there = others.filter_map(|need| stages.get(*need)).max().copied().unwrap_or(0);
                let wrong = if there % 2 == 1 { even(node) } else { odd(node) };
                let stage = there + usize::from(wrong);
                if stage > 2 * STAGES {
                    return None;
                }
                for (other, of) in stages.iter_mut().zip(&self.around) {
                    if *of == around && *other < stage {
                        *other = stage;
                        changed = true;
                    }
                }
            }
            if !changed {
                return Some(stages);
            }
        }
    }

    /// The stage of each.
    fn stages(&self) -> Option<Vec<usize>> {
        let mut stages = self.earliest()?;
        for node in (0..stages.len()).rev() {
            if self.stiff.get(node)? | self.costly.get(node)? {
                continue;
            }
            let first = *stages.get(node)?;
            let needs = |(needs, sum): &(&Vec<usize>, &bool)| !**sum && needs.contains(&node);
            let users = self.needs.iter().zip(&self.sums).zip(&stages).filter(|(user, _)| needs(user));
            let until = users.map(|(_, stage)| *stage).min();
            // What needs next to nothing is computed where it is needed.
            let few = self.needs.get(node)?.len() < 2;
            let soft = until.filter(|_| few).unwrap_or(first + first % 2);
            if let Some(stage) = stages.get_mut(node).filter(|_| until.is_none_or(|until| soft <= until)) {
                *stage = soft;
            }
        }
        // A sum is where it is added to.
        for (node, _) in self.sums.iter().enumerate().filter(|(_, sum)| **sum) {
            let adder = self.needs.get(node)?.first().and_then(|adder| stages.get(*adder)).copied();
            if let (Some(stage), Some(adder)) = (stages.get_mut(node), adder) {
                *stage = adder;
            }
        }
        Some(stages)
    }

    /// The loop of each, if they are several.
    fn groups(&self) -> Option<Vec<usize>> {
        let stages = self.stages()?;
        let costly =
            |stage: usize| stages.iter().zip(&self.costly).any(|(of, costly)| *of == stage && *costly);
        let (mut groups, mut count, mut soft) = (Vec::new(), 0, true);
        for stage in 0..=*stages.iter().max()? {
            if stages.contains(&stage) && (soft || costly(stage)) {
                count += 1;
                soft = costly(stage);
            }
            groups.push(count.max(1) - 1);
        }
        let several = (2..=STAGES).contains(&count) && (0..groups.len()).any(costly);
        several.then(|| stages.iter().filter_map(|stage| groups.get(*stage).copied()).collect())
    }

    fn plan(&self, func: &Func, parts: &Loop, quiet: Quiet<'_>, groups: &[usize]) -> Option<Plan> {
        let body = &parts.body;
        let (stmts, carried) = groups.split_at_checked(body.stmts.len())?;
        let last = *groups.iter().max()?;
        let at = |var: Var| self.made.get(&var).and_then(|node| groups.get(*node)).copied();
        let mut given: Vec<(Var, usize)> = Vec::new();
        let mut rows_of: FxHashMap<Var, usize> = FxHashMap::default();
        let mut shared: FxHashSet<Var> = FxHashSet::default();
        let rows: FxHashSet<Var> = body
            .params
            .iter()
            .skip(1 + carried.len())
            .copied()
            .filter(|row| func.ty(*row).rank() > 0)
            .collect();
        let used = (body.stmts.iter().zip(stmts))
            .flat_map(|(stmt, group)| mentioned(&stmt.op).map(move |var| (var, *group)));
        let ends =
            body.results.iter().zip(carried).filter_map(|(result, group)| Some((result.var()?, *group)));
        for (var, group) in used.chain(ends) {
            if let Some(maker) = at(var).filter(|maker| *maker < group)
                && !given.contains(&(var, maker))
            {
                given.push((var, maker));
            }
            if rows.contains(&var) && *rows_of.entry(var).or_insert(group) != group {
                shared.insert(var);
            }
        }
        let numbers = given.iter().all(|(var, _)| matches!(func.ty(*var), Ty::REAL | Ty::INT | Ty::BOOL));
        let outputs = body.results.get(carried.len()..)?;
        let new = given.iter().filter(|(var, _)| !outputs.contains(&Atom::Var(*var))).count();
        let fails: FxHashSet<usize> = (body.stmts.iter().zip(stmts))
            .filter(|(stmt, _)| !quiet.stmt(stmt))
            .map(|(_, group)| *group)
            .collect();
        let inputs = body.params.iter().skip(1 + carried.len()).zip(&parts.inputs);
        let fine = numbers && new <= ARRAYS && fails.len() <= 1;
        fine.then(|| Plan {
            stmts: stmts.to_vec(),
            carried: carried.to_vec(),
            rows: outputs.iter().map(|row| row.var().and_then(at).unwrap_or(last)).collect(),
            given,
            shared: inputs.filter(|(row, _)| shared.contains(row)).map(|(_, input)| input.clone()).collect(),
            count: last + 1,
        })
    }
}

/// Numbers of what needs itself, in the next iteration, are the same.
fn around(needs: &[Vec<usize>]) -> Vec<usize> {
    let reach = |edges: &[Vec<usize>], from: usize| {
        let (mut open, mut seen) = (vec![from], FxHashSet::default());
        while let Some(node) = open.pop() {
            let new = edges.get(node).into_iter().flatten().filter(|next| seen.insert(**next));
            open.extend(new.copied().collect::<Vec<_>>());
        }
        seen
    };
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (node, all) in needs.iter().enumerate() {
        for need in all {
            users.get_mut(*need).into_iter().for_each(|users| users.push(node));
        }
    }
    let mut numbers: Vec<usize> = (0..needs.len()).collect();
    for node in 0..needs.len() {
        if numbers.get(node) != Some(&node) {
            continue;
        }
        let before = reach(needs, node);
        if before.contains(&node) {
            for other in reach(&users, node).intersection(&before) {
                numbers.get_mut(*other).into_iter().for_each(|number| *number = node);
            }
        }
    }
    numbers
}

/// What a statement comes after that relies on sizes: all before it that may look at them.
fn looked_at_before(body: &Block, at: usize, quiet: Quiet<'_>) -> Vec<usize> {
    if body.stmts.get(at).is_none_or(stands_alone) {
        return Vec::new();
    }
    let before = body.stmts.iter().enumerate().take(at);
    before.filter(|(_, stmt)| !quiet.stmt(stmt)).map(|(at, _)| at).collect()
}

/// Whether a statement only computes numbers, or reads them, and does not fail.
fn is_soft(func: &Func, stmt: &Stmt, quiet: Quiet<'_>) -> bool {
    let kind = matches!(
        stmt.op,
        Op::Copy(_)
            | Op::Real(..)
            | Op::Int(..)
            | Op::Compare(..)
            | Op::Convert(..)
            | Op::Not(_)
            | Op::Select { .. }
            | Op::Array(ArrayOp::Index | ArrayOp::Length(_), _)
    );
    let number = |out: &Var| matches!(func.ty(*out), Ty::REAL | Ty::INT | Ty::BOOL);
    kind && stmt.outs.iter().all(number) && quiet.stmt(stmt)
}

/// What adds to a sum that is asked for only in the end.
fn adds(parts: &Loop, at: usize, uses: &FxHashMap<Var, usize>) -> Option<Var> {
    let (stmt, _) = added(&parts.body, at)?;
    let out = *stmt.outs.first()?;
    let param = parts.body.params.get(1 + at)?;
    (uses.get(param) == Some(&1) && uses.get(&out) == Some(&1)).then_some(out)
}

/// What adds to an array at the index of the iteration only.
fn adds_there(parts: &Loop, at: usize, uses: &FxHashMap<Var, usize>, quiet: Quiet<'_>) -> Option<Var> {
    let param = *parts.body.params.get(1 + at)?;
    let index = *parts.body.params.first()?;
    let out = parts.body.results.get(at)?.var()?;
    let stmt = parts.body.stmts.iter().find(|stmt| stmt.outs == [out])?;
    let Op::Array(ArrayOp::AddAt, args) = &stmt.op else { return None };
    let there = matches!(args.as_slice(), [Atom::Var(array), Atom::Var(place), _] if *array == param && *place == index);
    let once = uses.get(&param) == Some(&1) && uses.get(&out) == Some(&1);
    (there && once && quiet.stmt(stmt)).then_some(out)
}
