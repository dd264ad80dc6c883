//! The transposes of branches and loops.
//!
//! A branch gives back the sums of all variables that some of its blocks add to. A loop runs the other way round:
//!
//! ```text
//! loop i, state a, row x of xs:           loop backwards i, state ā, row w̄ of w̄s, sum c̄:
//!   a, w = f(c, a, x)                       c̄ += …;  ā, x̄ = …
//! ```
//!
//! What was carried in is carried out; rows of outputs are rows of inputs, and the other way round. A sum of cotangents of
//! a variable from around the loop is an accumulator (or carried, if it is no real and no array of reals). Where an input
//! has a sum already, the cotangents of its rows are added there.

use super::live::{Live, Lives};
use super::{Place, Transposer, is_real};
use crate::Code;
use crate::again::Primal;
use crate::forward::choose;
use crate::linear::{Arm, Branch, Carried, Choice, Lin, LinBlock, LinLoop, Ref, loop_captured, uses};
use indexmap::IndexSet;
use wengert_base::Name;
use wengert_ir::op::{Atom, Loop, Mode, Op, Var};
use wengert_ir::program::VarInfo;
use wengert_ir::ty::{Elem, Ty};

/// What takes part in the transpose of a loop.
struct Plan<'a> {
    parts: &'a LinLoop,
    /// What is carried and has a cotangent.
    carried: Vec<&'a Carried>,
    /// Outputs with a cotangent, and which result of the body their rows are.
    outputs: Vec<(Var, usize)>,
    /// What comes from around the loop and gets a cotangent: reals and arrays of reals.
    sums: Vec<Var>,
    /// The same, of other types.
    summed: Vec<Var>,
    /// Inputs that get a cotangent, made of those of their rows.
    inputs: Vec<(Var, Ref)>,
    /// Rows of other inputs: where their cotangents are added.
    rows: Vec<(Var, Place)>,
}

/// Whether a block uses a variable in one statement only: as an operand once, or in arms of a branch.
fn is_used_once(var: Var, block: &LinBlock) -> bool {
    let mut found = block.results.iter().flatten().filter(|of| of.base() == var).count();
    for lin in &block.stmts {
        let mut here = 0;
        uses(lin, &mut |of| here += usize::from(of.base() == var));
        found += if matches!(lin, Lin::Branch(_)) { here.min(1) } else { here };
    }
    found == 1
}

/// The variables that the arms of a branch give, each in its order, if they do nothing else: all of them the same, each once.
fn orders(branch: &Branch) -> Option<Vec<Vec<Var>>> {
    let order = |arm: &Arm| {
        let plain = arm.block.stmts.is_empty() && arm.block.results.len() == branch.outs.len();
        let results = arm.block.results.iter().zip(&branch.outs).filter(|(_, out)| out.is_some());
        let of = |(of, _): (&Option<Ref>, &Option<Var>)| match of {
            Some(Ref::Var(var)) => Some(*var),
            _ => None,
        };
        results.map(of).collect::<Option<Vec<Var>>>().filter(|_| plain)
    };
    let orders = branch.arms.iter().map(order).collect::<Option<Vec<Vec<Var>>>>()?;
    let sorted = |order: &Vec<Var>| {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted
    };
    let first = sorted(orders.first()?);
    let once = first.windows(2).all(|pair| pair.first() != pair.last());
    (once && branch.besides.is_empty() && orders.iter().all(|order| sorted(order) == first)).then_some(orders)
}

impl<'c> Transposer<'_, 'c> {
    pub(super) fn branch(&mut self, branch: &Branch) {
        let Branch { on, arms, outs, .. } = branch;
        let weights: Vec<Option<Atom>> = outs.iter().map(|out| self.take((*out)?)).collect();
        if weights.iter().all(Option::is_none) {
            return;
        }
        let weighted: Live =
            outs.iter().zip(&weights).filter_map(|(out, weight)| weight.as_ref().and(*out)).collect();
        let touched = self.touched(branch, &weighted);
        if touched.is_empty() {
            return;
        }
        let mut blocks = Vec::new();
        for arm in arms {
            let (env, bars) = (self.env.begin(), self.bars.begin());
            let parts = self.parts.begin();
            self.code.b.open();
            for param in &arm.params {
                let VarInfo { name, ty } = self.info(*param);
                let there = self.code.b.param(name, ty);
                self.env.insert(*param, there);
            }
            for (var, atom) in &arm.binds {
                let atom = self.primal(atom);
                self.env.insert(*var, atom);
            }
            let (code, mut primal) = self.primal_part();
            primal.compute_again(code, &arm.again);
            let live = self.code.ad.live_in_arm(&arm.block, outs, &weighted);
            self.take_apart(&arm.block, &live);
            self.choose_sums(&arm.block);
            let weights = weights.iter().cloned();
            let weighed =
                arm.block.results.iter().zip(weights).filter_map(|(of, weight)| of.as_ref().zip(weight));
            self.block(&arm.block, weighed.collect());
            let mut results = Vec::new();
            for var in &touched {
                results.push(self.bar_or_zero(*var));
            }
            blocks.push(self.code.b.close(results));
            self.env.end(env);
            self.bars.end(bars);
            self.parts = parts;
        }
        let on = match on {
            Choice::If(cond) => Choice::If(self.primal(cond)),
            Choice::Match(value) => Choice::Match(self.primal(value)),
        };
        let named: Vec<(Name, Ty)> = touched.iter().map(|var| self.barred(*var)).collect();
        let sums = self.code.b.named(&named, choose(on, blocks));
        self.bars.extend(touched.iter().copied().zip(sums));
        touched.into_iter().for_each(|var| self.add_parts(var));
    }

    /// The sum so far of what an arm only takes apart is taken apart: what is added to a part is added there, however deep.
    fn take_apart(&mut self, arm: &LinBlock, live: &[Var]) {
        for lin in &arm.stmts {
            let Lin::Fields { of: Ref::Var(var), data, ctor, outs, like } = lin else { continue };
            let direct = !self.rows.contains_key(var) && !self.accumulators.contains(var);
            if self.code.ad.exact || !direct || !live.contains(var) || !is_used_once(*var, arm) {
                continue;
            }
            let Some(func) = self.code.ad.fields_function(*data, *ctor) else { continue };
            let Some(sum) = self.bars.remove(var) else { continue };
            let types = self.code.ad.field_tangents(*data, *ctor);
            let args: Vec<Atom> = [sum].into_iter().chain(self.primals(like)).collect();
            let sums = self.code.b.call(func, args, &types);
            for (out, sum) in outs.iter().zip(sums) {
                self.bars.insert(*out, sum);
            }
        }
    }

    /// The sums so far of data of which a branch only says which is which become those of what it gives: it goes on from there.
    ///
    /// ```text
    /// near, far = if c { left, right } else { right, left }        near_bar, far_bar = if c { left_bar, right_bar } else { right_bar, left_bar }
    /// ```
    fn choose_sums(&mut self, block: &LinBlock) {
        let exact = self.code.ad.exact;
        for lin in block.stmts.iter().filter(|_| !exact) {
            let Lin::Branch(branch) = lin else { continue };
            let (Choice::If(cond), Some(orders)) = (&branch.on, orders(branch)) else { continue };
            let all: Vec<Var> = orders.first().into_iter().flatten().copied().collect();
            let direct = |var: &Var| !self.rows.contains_key(var) && !self.accumulators.contains(var);
            let is_data = |var: &Var| matches!(self.info(*var).ty, Ty::Scalar(Elem::Data(_)));
            let fine = |var: &Var| direct(var) && is_data(var) && is_used_once(*var, block);
            if !all.iter().all(fine) || !all.iter().any(|var| self.bars.contains_key(var)) {
                continue;
            }
            let mut blocks = Vec::new();
            for order in &orders {
                self.code.b.open();
                let sums = order.iter().map(|var| self.bar_or_zero(*var)).collect();
                blocks.push(self.code.b.close(sums));
            }
            let on = Choice::If(self.primal(cond));
            let outs: Vec<Var> = branch.outs.iter().flatten().copied().collect();
            let named: Vec<(Name, Ty)> = outs.iter().map(|out| self.barred(*out)).collect();
            let sums = self.code.b.named(&named, choose(on, blocks));
            all.iter().for_each(|var| {
                self.bars.remove(var);
            });
            self.bars.extend(outs.into_iter().zip(sums));
        }
    }

    /// What the arms of a branch add to, and what gets a cotangent besides.
    fn touched(&mut self, branch: &Branch, weighted: &Live) -> Vec<Var> {
        let mut touched: IndexSet<Var> = IndexSet::new();
        for arm in &branch.arms {
            let found = self.code.ad.live_in_arm(&arm.block, &branch.outs, weighted);
            touched.extend(found.iter().map(|var| self.summed_in(*var)));
        }
        touched.extend(branch.besides.iter().map(|var| self.summed_in(*var)));
        touched.into_iter().collect()
    }

    pub(super) fn repeat(&mut self, parts: &LinLoop) {
        let (carried_live, inside) =
            self.code.ad.live_loop(parts, &|var| self.bars.contains_key(&var) || self.parts.has(var));
        let carried: Vec<&Carried> =
            parts.carried.iter().zip(&carried_live).filter(|(_, live)| **live).map(|(c, _)| c).collect();
        let outputs: Vec<(Var, usize)> =
            parts.outputs.iter().filter(|(out, _)| self.has_bar(*out)).copied().collect();
        if carried.is_empty() && outputs.is_empty() {
            return;
        }
        let captured = loop_captured(parts).into_iter().filter(|var| inside.contains(var));
        let mut captured: IndexSet<Var> = captured.map(|var| self.summed_in(var)).collect();
        // Rows of an array whose sum is there already are added to that.
        let (mut inputs, mut rows) = (Vec::new(), Vec::new());
        for (row, of) in parts.inputs.iter().filter(|(row, _)| inside.contains(row)) {
            let place = self.place(of);
            let known = captured.contains(&place.var) || self.has_bar(place.var);
            if known && is_real(self.info(place.var).ty) {
                captured.insert(place.var);
                rows.push((*row, place));
            } else {
                inputs.push((*row, of.clone()));
            }
        }
        let (sums, summed) = captured.into_iter().partition(|var| is_real(self.info(*var).ty));
        self.write_loop(Plan { parts, carried, outputs, sums, summed, inputs, rows });
    }

    /// What comes into the loop: carried cotangents and sums that are no reals, sums, rows.
    fn loop_inputs(&mut self, plan: &Plan<'_>) -> (Vec<Atom>, Vec<Atom>, Vec<Atom>) {
        let (mut init, mut accs) = (Vec::new(), Vec::new());
        for part in &plan.carried {
            init.push(self.bar_or_zero(part.out));
        }
        plan.parts.carried.iter().for_each(|part| {
            self.take(part.out);
        });
        for var in &plan.summed {
            init.push(self.bar_or_zero(*var));
        }
        for var in &plan.sums {
            accs.push(self.bar_or_zero(*var));
        }
        let mut arrays: Vec<Atom> = plan.parts.rows.iter().map(|row| self.primal(&row.array)).collect();
        arrays.extend(plan.outputs.iter().filter_map(|(out, _)| self.take(*out)));
        (init, accs, arrays)
    }

    fn write_loop(&mut self, plan: Plan<'_>) {
        let (init, accs, arrays) = self.loop_inputs(&plan);
        let len = match arrays.first() {
            Some(rows) => self.code.length(rows),
            None => self.primal(&plan.parts.len),
        };
        let (env, bars) = (self.env.begin(), std::mem::take(&mut self.bars));
        let parts = self.parts.begin();
        let outer = (self.rows.clone(), self.accumulators.clone());
        self.code.b.open();
        let index = self.code.b.param("i".into(), Ty::INT);
        for (row, Place { var, mut indices }) in plan.rows.iter().cloned() {
            indices.push(index.clone());
            self.rows.insert(row, Place { var, indices });
        }
        self.accumulators.extend(&plan.sums);
        self.env.extend(plan.parts.index.map(|var| (var, index)));
        let mut states = Vec::new();
        for part in &plan.carried {
            let (name, ty) = self.barred(part.param);
            states.push(self.code.b.param(name, ty));
        }
        for var in plan.summed.iter().chain(&plan.sums) {
            let (name, ty) = self.barred(*var);
            let sum = self.code.b.param(name, ty);
            self.bars.insert(*var, sum);
        }
        let (code, mut primal) = self.primal_part();
        primal.open_rows(code, plan.parts);
        let mut weights = Vec::new();
        for (out, result) in &plan.outputs {
            let (name, ty) = self.barred(*out);
            weights.push((*result, self.code.b.param(name, ty.at(1).unwrap_or(ty))));
        }
        // Rows of outputs are used after the loop, what is carried in the next iteration.
        weights.extend(plan.carried.iter().map(|part| part.result).zip(states.iter().cloned()));
        let weighed = weights.into_iter().filter_map(|(result, weight)| {
            let of = plan.parts.body.results.get(result)?.as_ref();
            of.map(|of| (of, weight))
        });
        self.block(&plan.parts.body, weighed.collect());
        let results = self.iteration_results(&plan, &states);
        // Where nothing but sums of data goes through the loop, it does not matter which summand is first, and it can become part of the loop
        // forward. Rules of the user's own may fail, the last first.
        let unchanged = results.iter().zip(&states).all(|(result, state)| result == state);
        let only_sums =
            unchanged && !plan.summed.is_empty() && !self.code.ad.exact && !self.code.ad.has_rules;
        let body = self.code.b.close(results);
        self.env.end(env);
        (self.bars, self.parts) = (bars, parts);
        (self.rows, self.accumulators) = outer;
        let mode = if init.is_empty() { Mode::Each } else { Mode::Sequence };
        let backward = plan.parts.backward == only_sums;
        let op = Loop { mode, backward, len, inputs: arrays, init, accs, body };
        self.loop_results(&plan, Op::Loop(Box::new(op)));
    }

    /// What an iteration gives: carried cotangents, sums, rows.
    fn iteration_results(&mut self, plan: &Plan<'_>, states: &[Atom]) -> Vec<Atom> {
        let mut results = Vec::new();
        for (part, state) in plan.carried.iter().zip(states) {
            let keeps_shape = self.likes.root(part.param) != part.param;
            results.push(if keeps_shape && !self.has_bar(part.param) {
                let ty = self.info(part.param).ty;
                self.code.zero(Some(state), ty)
            } else {
                self.bar_or_zero(part.param)
            });
        }
        let rows = plan.inputs.iter().map(|(row, _)| *row);
        for var in plan.summed.iter().chain(&plan.sums).copied().chain(rows) {
            results.push(self.bar_or_zero(var));
        }
        results
    }

    /// Appends the loop, and adds what it gives.
    fn loop_results(&mut self, plan: &Plan<'_>, op: Op) {
        let sums: Vec<Var> = plan.summed.iter().chain(&plan.sums).copied().collect();
        let mut named = Vec::new();
        for var in plan.carried.iter().map(|part| part.param).chain(sums.iter().copied()) {
            named.push(self.barred(var));
        }
        for (row, of) in &plan.inputs {
            let (_, ty) = self.barred(*row);
            let (name, _) = self.barred(of.base());
            named.push((name, ty.array_of().unwrap_or(ty)));
        }
        let mut found = self.code.b.named(&named, op).into_iter();
        let starts: Vec<Atom> = found.by_ref().take(plan.carried.len()).collect();
        for var in sums {
            self.bars.extend(found.next().map(|sum| (var, sum)));
        }
        for (_, of) in &plan.inputs {
            if let Some(sum) = found.next() {
                self.add(of, sum, false);
            }
        }
        for (part, start) in plan.carried.iter().zip(starts) {
            if let Some(of) = part.init.linear() {
                self.add(of, start, false);
            }
        }
    }

    /// Where code is written to, and what the variables of the primal part are there.
    fn primal_part(&mut self) -> (&mut Code<'c>, Primal<'_>) {
        let Transposer { code, env, source, likes, .. } = self;
        (code, Primal { env, source: Some(*source), likes })
    }
}
