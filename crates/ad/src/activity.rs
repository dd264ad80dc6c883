//! What varies: which variables of a function depend, differentiably, on parameters that do.
//!
//! ```text
//! def f(x, n) = let k = floor x in let a = x * real k in (a, k)         x varies:  a does, k and n do not
//! ```
//!
//! A variable varies if its operation passes on variation from some operand ([`passes`]) and its type has tangents. Loops
//! are gone through until nothing new is found. Which results of a function vary depends on which arguments do; for
//! recursive functions the answer is the least one that is consistent, found by going through all that are involved
//! until nothing changes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations with blocks are named, the others go through `flat`"
)]

use crate::types::Helper;
use crate::{Ad, Key, arrays, deep};
use rustc_hash::FxHashSet;
use wengert_ir::op::{Atom, Block, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId};
use wengert_prim::RealOp;

impl Ad {
    /// Which results of a function vary if these parameters do.
    pub(crate) fn varying_results(&mut self, func: FuncId, active: &[bool]) -> Vec<bool> {
        let func = self.within(func);
        if let Some(found) = self.varying_results_of_entry(func, active) {
            return found;
        }
        let key: Key = (func, active.to_vec());
        if let Some(known) = self.reach.get(&key) {
            return known.clone();
        }
        if self.again_of.contains_key(&func) && active.first() == Some(&true) {
            // Functions that are given as tangents may vary where this one does not.
            let results = self.program.funcs.at(func).results.clone();
            return results.into_iter().map(|ty| self.tangent(ty).is_some()).collect();
        }
        let none = vec![false; self.program.funcs.at(func).results.len()];
        self.reach.insert(key.clone(), none.clone());
        if let Some(unsettled) = &mut self.unsettled {
            unsettled.push(key);
            return none;
        }
        self.unsettled = Some(Vec::new());
        let mut keys = vec![key.clone()];
        loop {
            let mut changed = false;
            for (func, active) in keys.clone() {
                wengert_ir::stop::check();
                let func_body = self.program.funcs.at(func).clone();
                let found = self.varying(&func_body, &active);
                let results: Vec<bool> =
                    func_body.body.results.iter().map(|atom| varies(&found, atom)).collect();
                let old = self.reach.insert((func, active), results.clone());
                changed |= old.as_ref() != Some(&results);
            }
            let new = self.unsettled.as_mut().map(std::mem::take).unwrap_or_default();
            if !changed && new.is_empty() {
                break;
            }
            keys.extend(new);
        }
        self.unsettled = None;
        self.reach.get(&key).cloned().unwrap_or(none)
    }

    /// Which variables of a function vary if these parameters do.
    pub(crate) fn varying(&mut self, func: &Func, active: &[bool]) -> FxHashSet<Var> {
        let mut flow = Flow { ad: self, func, found: FxHashSet::default() };
        for (param, active) in func.body.params.iter().zip(active) {
            flow.mark(*param, *active);
        }
        flow.block(&func.body);
        flow.found
    }
}

/// Whether the operand is a variable that varies.
pub(crate) fn varies(found: &FxHashSet<Var>, atom: &Atom) -> bool {
    atom.var().is_some_and(|var| found.contains(&var))
}

struct Flow<'a> {
    ad: &'a mut Ad,
    func: &'a Func,
    found: FxHashSet<Var>,
}

impl Flow<'_> {
    fn mark(&mut self, var: Var, active: bool) {
        if active && self.ad.tangent(self.func.ty(var)).is_some() {
            self.found.insert(var);
        }
    }

    fn of(&self, atom: &Atom) -> bool {
        varies(&self.found, atom)
    }

    fn any<'t>(&self, atoms: impl IntoIterator<Item = &'t Atom>) -> bool {
        atoms.into_iter().any(|atom| self.of(atom))
    }

    fn block(&mut self, block: &Block) {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt)));
    }

    fn mark_all(&mut self, outs: &[Var], active: impl IntoIterator<Item = bool>) {
        outs.iter().zip(active).for_each(|(out, active)| self.mark(*out, active));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let Stmt { outs, op, .. } = stmt;
        match op {
            Op::Match { on, arms } => {
                let active = self.of(on);
                // The function in whose place one is given may vary where this one does not.
                if self.may_be_given(on) && (active || !self.found.is_empty()) {
                    self.mark_all(outs, outs.iter().map(|_| true));
                }
                for arm in arms {
                    self.mark_all(&arm.params, arm.params.iter().map(|_| active));
                    self.block(arm);
                    let results: Vec<bool> = arm.results.iter().map(|atom| self.of(atom)).collect();
                    self.mark_all(outs, results);
                }
            }
            Op::If { then, otherwise, .. } => {
                for arm in [then, otherwise] {
                    self.block(arm);
                    let results: Vec<bool> = arm.results.iter().map(|atom| self.of(atom)).collect();
                    self.mark_all(outs, results);
                }
            }
            Op::Call { func, args, .. } => {
                let active: Vec<bool> = args.iter().map(|arg| self.of(arg)).collect();
                if let Some(helper) = self.ad.linear_helpers.get(func) {
                    // Of the fields that are given for their shapes it does not depend.
                    let of_first = matches!(helper, Helper::Fields(..));
                    let active =
                        if of_first { active.first() == Some(&true) } else { active.contains(&true) };
                    self.mark_all(outs, outs.iter().map(|_| active));
                } else if active.contains(&true) {
                    let results = self.ad.varying_results(*func, &active);
                    self.mark_all(outs, results);
                }
            }
            Op::Loop(parts) => {
                let kept: Vec<&Atom> = parts.init.iter().chain(&parts.accs).collect();
                let rows = kept.iter().copied().chain(&parts.inputs);
                let params: Vec<bool> = rows.map(|atom| self.of(atom)).collect();
                self.mark_all(parts.body.params.get(1..).unwrap_or_default(), params);
                self.rounds(&parts.body, 1, kept.len(), outs);
            }
            Op::While(parts) => {
                let params: Vec<bool> = parts.init.iter().map(|atom| self.of(atom)).collect();
                self.mark_all(&parts.body.params, params);
                self.rounds(&parts.body, 0, parts.init.len(), outs);
            }
            flat => {
                let active = self.flat(flat);
                self.mark_all(outs, outs.iter().map(|_| active));
            }
        }
    }

    /// Whether it is a function value whose tangent may be a function of the user's, or tells which it was: then anything may
    /// vary.
    fn may_be_given(&self, on: &Atom) -> bool {
        self.ad.tells_given(self.func.type_of(on))
    }

    /// A body of a loop, `kept` of whose results come back as its parameters from `first` on, until nothing is new.
    fn rounds(&mut self, body: &Block, first: usize, kept: usize, outs: &[Var]) {
        loop {
            let before = self.found.len();
            self.block(body);
            let results: Vec<bool> = body.results.iter().map(|atom| self.of(atom)).collect();
            let params = body.params.get(first..).unwrap_or_default();
            self.mark_all(params.get(..kept).unwrap_or_default(), results.iter().copied());
            if self.found.len() == before {
                let params: Vec<bool> =
                    params.iter().take(kept).map(|var| self.found.contains(var)).collect();
                self.mark_all(outs, params);
                self.mark_all(outs, results);
                return;
            }
        }
    }

    /// Whether an operation without blocks passes variation on.
    fn flat(&self, op: &Op) -> bool {
        match op {
            Op::Copy(x) | Op::Power { base: x, .. } | Op::Polygamma { x, .. } => self.of(x),
            Op::Real(op, args) => passes(*op) && self.any(args),
            Op::Select { then, otherwise, .. } => self.any([then, otherwise]),
            Op::Make { fields, .. } => self.any(fields),
            Op::Array(op, args) => {
                args.iter().enumerate().any(|(i, arg)| arrays::is_linear(*op, i, args.len()) && self.of(arg))
            }
            Op::Custom(parts) => {
                self.any(parts.captured.iter().chain(&parts.point))
                    || (self.ad.nests && self.any(&parts.rule_captured))
            }
            Op::Int(..)
            | Op::Compare(..)
            | Op::Convert(..)
            | Op::Not(_)
            | Op::Text(..)
            | Op::Fail { .. }
            | Op::Require { .. }
            | Op::Whole(_)
            | Op::StopGradient(_) => false,
            // These are handled above, or are gone before a function is differentiated.
            Op::Match { .. }
            | Op::If { .. }
            | Op::Call { .. }
            | Op::Loop(_)
            | Op::While(_)
            | Op::Jvp { .. }
            | Op::Linearize { .. }
            | Op::Forward { .. }
            | Op::Backward { .. }
            | Op::Taylor { .. } => false,
        }
    }
}

/// Whether the derivative of an operation on reals is not zero everywhere.
fn passes(op: RealOp) -> bool {
    !matches!(op, RealOp::Sign | RealOp::PowInt(0))
}
