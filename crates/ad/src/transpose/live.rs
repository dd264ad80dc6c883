//! What gets a cotangent: which variables linear code adds to, given which of its results have cotangents.
//!
//! ```text
//! z' = c · x';  w' = d · y'        z̄ there, w̄ not:  x is live, y is not
//! ```

use crate::linear::{Arg, Lin, LinBlock, LinCall, LinLoop, Ref, captured};
use crate::{Ad, Key, deep};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_ir::op::Var;

/// Variables with a cotangent.
pub(crate) type Live = FxHashSet<Var>;

impl Ad {
    /// Which of the parameters that vary get a cotangent, if these of the results that vary have one.
    pub(crate) fn live_params(&mut self, key: &Key, weighted: &[bool]) -> Vec<bool> {
        let entry = (key.clone(), weighted.to_vec());
        if let Some(known) = self.lives.get(&entry) {
            return known.clone();
        }
        let none = vec![false; key.1.iter().filter(|active| **active).count()];
        self.lives.insert(entry.clone(), none.clone());
        if let Some(unsettled) = &mut self.unsettled_lives {
            unsettled.push(entry);
            return none;
        }
        self.unsettled_lives = Some(Vec::new());
        let mut entries = vec![entry.clone()];
        loop {
            let mut changed = false;
            for entry in entries.clone() {
                let found = self.live_once(&entry.0, &entry.1);
                let old = self.lives.insert(entry, found.clone());
                changed |= old.as_ref() != Some(&found);
            }
            let new = self.unsettled_lives.as_mut().map(std::mem::take).unwrap_or_default();
            if !changed && new.is_empty() {
                break;
            }
            entries.extend(new);
        }
        self.unsettled_lives = None;
        self.lives.get(&entry).cloned().unwrap_or(none)
    }

    fn live_once(&mut self, key: &Key, weighted: &[bool]) -> Vec<bool> {
        wengert_ir::stop::check();
        let linearized = self.linearize(key);
        let mut live = Live::default();
        for ((of, _), _) in linearized.varying().zip(weighted).filter(|(_, weighted)| **weighted) {
            live.extend(of.map(Ref::base));
        }
        self.live(&linearized.block, &mut live);
        let params = linearized.func.body.params.iter().zip(&key.1).filter(|(_, active)| **active);
        params.map(|(param, _)| live.contains(param)).collect()
    }
}

/// What is known of functions that linear code calls.
pub(crate) trait Lives {
    /// Which of the arguments of a call that vary get a cotangent, if these of its results that vary have one.
    fn params_of(&mut self, call: &LinCall, weighted: &[bool]) -> Vec<bool>;

    /// Whether anything is known.
    fn knows_functions(&self) -> bool;

    /// Whether that will not change: what functions add to may not be settled yet.
    fn is_settled(&self) -> bool;

    /// Adds what a block adds to, backwards.
    fn live(&mut self, block: &LinBlock, live: &mut Live) {
        deep(|| block.stmts.iter().rev().for_each(|lin| self.live_in(lin, live)));
    }

    fn live_in(&mut self, lin: &Lin, live: &mut Live) {
        let add = |live: &mut Live, args: &[Arg]| {
            live.extend(args.iter().filter_map(Arg::linear).map(Ref::base));
        };
        match lin {
            Lin::Form { out, terms, .. } => {
                if live.contains(out) {
                    live.extend(terms.iter().map(|term| term.of.base()));
                }
            }
            Lin::Array { out, args, .. } | Lin::Make { out, fields: args, .. } => {
                if live.contains(out) {
                    add(live, args);
                }
            }
            Lin::Fields { of, outs, .. } => {
                if outs.iter().any(|out| live.contains(out)) {
                    live.insert(of.base());
                }
            }
            Lin::Branch(branch) => {
                let mut found = Live::default();
                for arm in &branch.arms {
                    found.extend(self.live_in_arm(&arm.block, &branch.outs, live).iter());
                }
                if branch.outs.iter().flatten().any(|out| live.contains(out)) {
                    live.extend(&branch.besides);
                }
                live.extend(found);
            }
            Lin::Loop(parts) => {
                let (carried, inside) = self.live_loop(parts, &|var| live.contains(&var));
                live.extend(crate::linear::loop_captured(parts).iter().filter(|var| inside.contains(*var)));
                live.extend(
                    parts.inputs.iter().filter(|(row, _)| inside.contains(row)).map(|(_, of)| of.base()),
                );
                for (parts, live_here) in parts.carried.iter().zip(carried) {
                    live.extend(parts.init.linear().filter(|_| live_here).map(Ref::base));
                }
            }
            Lin::Call(call) => self.live_call(call, live),
            Lin::Product(product) => {
                if live.contains(&product.out) {
                    live.extend(product.linear().map(Ref::base));
                }
            }
            Lin::Sum { out, parts } => {
                if live.contains(out) {
                    live.extend(parts.iter().map(Ref::base));
                }
            }
            Lin::Pullback(pullback) => {
                if self.knows_functions() && pullback.outs.iter().flatten().any(|out| live.contains(out)) {
                    live.extend(pullback.points.iter().filter_map(|(_, of)| of.as_ref()).map(Ref::base));
                }
            }
        }
    }

    /// Adds the arguments of a call.
    fn live_call(&mut self, call: &LinCall, live: &mut Live) {
        let weighted: Vec<bool> = call.outs.iter().flatten().map(|out| live.contains(out)).collect();
        if weighted.contains(&true) {
            let params = self.params_of(call, &weighted);
            let args = call.args.iter().filter_map(Arg::linear).zip(params);
            live.extend(args.filter(|(_, live)| *live).map(|(of, _)| of.base()));
        }
    }

    /// What the block of a branch adds to of what is bound around it, if these of the branch's results have cotangents. Branches nest:
    /// each is looked through once.
    fn live_in_arm(&mut self, block: &LinBlock, outs: &[Option<Var>], live: &Live) -> Rc<[Var]> {
        let weighted: Vec<bool> = outs.iter().map(|out| out.is_some_and(|out| live.contains(&out))).collect();
        let noted = self.knows_functions();
        if let Some(known) = block.live.borrow().get(&weighted).filter(|_| noted) {
            return Rc::clone(known);
        }
        let results = block.results.iter().zip(&weighted).filter(|(_, weighted)| **weighted);
        let mut inside: Live = results.filter_map(|(of, _)| of.as_ref().map(Ref::base)).collect();
        self.live(block, &mut inside);
        let found = captured(block).iter().copied().filter(|var| inside.contains(var)).collect();
        if noted && self.is_settled() {
            block.live.borrow_mut().insert(weighted, Rc::clone(&found));
        }
        found
    }

    /// Which carried values have a cotangent, and what the body adds to.
    fn live_loop(&mut self, parts: &LinLoop, after: &dyn Fn(Var) -> bool) -> (Vec<bool>, Live) {
        let mut carried: Vec<bool> = parts.carried.iter().map(|carried| after(carried.out)).collect();
        let outputs: Vec<usize> =
            parts.outputs.iter().filter(|(out, _)| after(*out)).map(|(_, result)| *result).collect();
        loop {
            let mut inside = Live::default();
            let results = parts.carried.iter().zip(&carried).filter(|(_, live)| **live);
            for result in results.map(|(carried, _)| carried.result).chain(outputs.iter().copied()) {
                if let Some(Some(of)) = parts.body.results.get(result) {
                    inside.insert(of.base());
                }
            }
            self.live(&parts.body, &mut inside);
            let before = carried.clone();
            for (parts, live) in parts.carried.iter().zip(&mut carried) {
                *live |= inside.contains(&parts.param);
            }
            if carried == before {
                return (carried, inside);
            }
        }
    }
}

impl Lives for Ad {
    fn params_of(&mut self, call: &LinCall, weighted: &[bool]) -> Vec<bool> {
        self.live_params(&call.key, weighted)
    }

    fn knows_functions(&self) -> bool {
        true
    }

    fn is_settled(&self) -> bool {
        self.unsettled_lives.is_none()
    }
}

/// Nothing is known of functions, so that what only they add to is not said to get anything.
pub(crate) struct Unknown;

impl Lives for Unknown {
    fn params_of(&mut self, _: &LinCall, _: &[bool]) -> Vec<bool> {
        Vec::new()
    }

    fn knows_functions(&self) -> bool {
        false
    }

    fn is_settled(&self) -> bool {
        true
    }
}

impl Unknown {
    /// Whether a variable surely gets a cotangent, if this result of a block has one.
    pub(crate) fn gets(block: &LinBlock, result: usize, var: Var) -> bool {
        let mut live: Live = block.results.get(result).into_iter().flatten().map(Ref::base).collect();
        Unknown.live(block, &mut live);
        live.contains(&var)
    }
}
