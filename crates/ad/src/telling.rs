//! Functions that may give back a number that they were given: where sums must be those of a tape, a copy of such a function tells.
//!
//! ```text
//! func f(n, x) -> Real { c = n == 0  y = if c { yield x } else { … }  return y }
//!
//! func f(n, x) -> (Real, Bool) { …  return y, c }        y is x if c
//! ```
//!
//! [`crate::handed`] calls the copy instead.

use crate::handed::Walk;
use crate::{Ad, Code, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;
use wengert_ir::op::{Atom, Block, Op, Var};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::Ty;

/// Which results may be which parameters.
pub(crate) type Pairs = Rc<[(usize, usize)]>;

impl Ad {
    /// The copy of a function that tells which results are which parameters, if there are such.
    pub(crate) fn telling(&mut self, func: FuncId) -> Option<(FuncId, Pairs)> {
        if let Some(known) = self.told.get(&func) {
            return known.clone();
        }
        if !self.is_plain(func) {
            return None;
        }
        let involved: Vec<FuncId> = self.involved(func).into_iter().filter(|id| self.is_plain(*id)).collect();
        let mut found: FxHashMap<FuncId, BTreeSet<(usize, usize)>> = FxHashMap::default();
        loop {
            let mut changed = false;
            for id in &involved {
                let mut may = May { ad: self, known: &found, params: FxHashMap::default() };
                let pairs = may.func(self.program.funcs.at(*id));
                changed |= found.get(id).map_or(!pairs.is_empty(), |old| *old != pairs);
                found.insert(*id, pairs);
            }
            if !changed {
                break;
            }
        }
        for id in &involved {
            let pairs: Pairs = found.get(id).into_iter().flatten().copied().collect();
            let told = (!pairs.is_empty()).then(|| {
                let mut results = self.program.funcs.at(*id).results.clone();
                results.extend(pairs.iter().map(|_| Ty::BOOL));
                (self.reserve(results), pairs)
            });
            if let Some((copy, _)) = &told {
                self.told.insert(*copy, told.clone());
            }
            self.told.insert(*id, told);
        }
        for id in involved {
            if let Some((copy, pairs)) = self.told.get(&id).cloned().flatten() {
                let made = self.make_telling(id, &pairs);
                *self.program.funcs.at_mut(copy) = made;
            }
        }
        self.told.get(&func).cloned().flatten()
    }

    /// A function and what it calls, but what is special, and what is known.
    fn involved(&self, func: FuncId) -> Vec<FuncId> {
        let (mut seen, mut next) = (vec![func], 0);
        while let Some(id) = seen.get(next).copied() {
            next += 1;
            let mut calls = Vec::new();
            self.program.funcs.at(id).body.for_each_stmt(&mut |stmt| {
                if let Op::Call { func, checkpoint: false, .. } = &stmt.op {
                    calls.push(*func);
                }
            });
            for id in calls {
                if !self.told.contains_key(&id) && !seen.contains(&id) {
                    seen.push(id);
                }
            }
        }
        seen
    }

    /// Whether a function may have a copy that tells.
    fn is_plain(&self, id: FuncId) -> bool {
        let special = self.guards.contains_key(&id)
            || self.linear_helpers.contains_key(&id)
            || self.at_given.contains_key(&id)
            || self.derived.contains_key(&id);
        let func = self.program.funcs.at(id);
        !special && func.body.params.iter().all(|param| !self.tells_given(func.ty(*param)))
    }

    fn make_telling(&mut self, id: FuncId, pairs: &Pairs) -> Func {
        let func = self.program.funcs.at(id).clone();
        let mut code = Code::like(self, &func, func.name.as_str());
        let results = Walk::told(&mut code, &func, pairs);
        let mut made = code.b.finish(results);
        made.span = func.span;
        made
    }
}

/// Which parameters variables may be.
struct May<'a> {
    ad: &'a Ad,
    known: &'a FxHashMap<FuncId, BTreeSet<(usize, usize)>>,
    params: FxHashMap<Var, FxHashSet<usize>>,
}

impl May<'_> {
    fn func(&mut self, func: &Func) -> BTreeSet<(usize, usize)> {
        for (place, param) in func.body.params.iter().enumerate() {
            if func.ty(*param) == Ty::REAL {
                self.params.insert(*param, [place].into_iter().collect());
            }
        }
        self.block(&func.body);
        let results = func.body.results.iter().enumerate();
        results
            .flat_map(|(result, atom)| self.of(atom).into_iter().map(move |param| (result, param)))
            .collect()
    }

    fn of(&self, atom: &Atom) -> FxHashSet<usize> {
        atom.var().and_then(|var| self.params.get(&var)).cloned().unwrap_or_default()
    }

    fn add(&mut self, out: Var, atom: &Atom) {
        let found = self.of(atom);
        if !found.is_empty() {
            self.params.entry(out).or_default().extend(found);
        }
    }

    fn block(&mut self, block: &Block) {
        deep(|| {
            for stmt in &block.stmts {
                stmt.op.blocks().into_iter().for_each(|inner| self.block(inner));
                match (&stmt.op, stmt.outs.as_slice()) {
                    (Op::If { .. } | Op::Match { .. }, outs) => {
                        for inner in stmt.op.blocks() {
                            outs.iter().zip(&inner.results).for_each(|(out, atom)| self.add(*out, atom));
                        }
                    }
                    (Op::Copy(x), [out]) => self.add(*out, x),
                    (Op::Select { then, otherwise, .. }, [out]) => {
                        self.add(*out, then);
                        self.add(*out, otherwise);
                    }
                    (Op::Call { func, args, checkpoint: false }, outs) if self.ad.is_plain(*func) => {
                        let told = self.ad.told.get(func).cloned().flatten();
                        let old = told.iter().flat_map(|(_, pairs)| pairs.iter().copied());
                        let new = self.known.get(func).into_iter().flatten().copied();
                        for (result, param) in old.chain(new) {
                            if let (Some(out), Some(arg)) = (outs.get(result), args.get(param)) {
                                self.add(*out, arg);
                            }
                        }
                    }
                    (_, _) => {}
                }
            }
        });
    }
}
