//! Functions that ask for their own derivatives.
//!
//! The function that applies function values is one: among the values may be the tangent of a function, and to apply that is
//! to differentiate the application. What order of derivative is needed only running tells. So there are copies of such a
//! function, and of all that takes part:
//!
//! ```text
//! apply_2 asks for the derivative of apply_1, which asks for that of apply_0, which fails if it would have to ask
//! ```
//!
//! The last of them asks for derivatives of itself all the same, where it can: as deep as running says ([`entries`]), by functions of
//! numbers with as many tangents. These take longer, so there are copies before.
//!
//! A residual may have to be of one type at all levels, where it is part of a value; then only [`BEYOND`] is left.

#![expect(clippy::wildcard_enum_match_arm, reason = "calls and requests are named, the others stay")]

mod entries;
mod units;

use crate::{Ad, BEYOND, deep};
use entries::Asked;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Atom, Block, Op, Rule, Var};
use wengert_ir::program::{Func, FuncId, Linear, LinearId};
use wengert_ir::ty::{Data, Elem, Ty};

/// How often a function may ask for its own derivative, each time for that of a copy, if nothing comes after that.
const LEVELS: usize = 5;

/// The same if something does, and where it asks in reverse mode for more than some numbers.
const LEVELS_BEFORE: [usize; 2] = [1, 2];

impl Ad {
    /// A copy of a function, that may ask for its own derivative as often as there are copies for.
    pub(crate) fn at_levels(&mut self, func: FuncId) -> FuncId {
        let [few, some] = LEVELS_BEFORE;
        let levels = match self.asked_beyond(func) {
            _ if !self.has_entries(func) => LEVELS,
            Asked::Everything => few,
            Asked::Slowly => some,
            Asked::NotAll => LEVELS,
        };
        let copy = self.at_level(func, levels - 1);
        self.make_entries();
        deep(|| self.expand(copy));
        copy
    }

    /// A copy of a function that may ask for derivatives of what is not ready so many times more.
    pub(crate) fn at_level(&mut self, func: FuncId, level: usize) -> FuncId {
        if self.is_ready(func) {
            return func;
        }
        if let Some(known) = self.levels.get(&(func, level)) {
            return *known;
        }
        let mut copy = self.program.funcs.at(func).clone();
        let id = self.program.funcs.push(copy.clone());
        self.levels.insert((func, level), id);
        // What calls it calls it.
        self.levels.insert((id, level), id);
        self.sources.insert(id);
        if let Some(known) = self.applications.get(&func).cloned() {
            self.applications.insert(id, known);
        }
        let own = if level > 0 { self.own_linears(&mut copy, level - 1) } else { FxHashMap::default() };
        if level == 0 && self.has_entries(func) {
            copy = self.with_entries(&copy);
        }
        self.redirect(&mut copy.body, level, &own);
        *self.program.funcs.at_mut(id) = copy;
        if let Some(given) = self.at_given.get(&func).copied() {
            // What it is for functions that are given as tangents has a copy too.
            let given = self.at_level(given, level);
            self.at_given.insert(id, given);
        }
        id
    }

    /// New linearizations for those of a function that are not ready and whose residuals stay inside; by the variables of
    /// the residuals.
    fn own_linears(&mut self, func: &mut Func, below: usize) -> FxHashMap<Var, LinearId> {
        let mut found: Vec<(Var, LinearId)> = Vec::new();
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Linearize { linear, .. } = &stmt.op {
                found.extend(stmt.outs.last().map(|residual| (*residual, *linear)));
            }
        });
        let escaped = escaped(func);
        let mut own = FxHashMap::default();
        for (residual, linear) in found {
            let Linear { func: asked, active, residual: data } = self.program.linears.at(linear).clone();
            if escaped.contains(&residual) || self.is_ready(asked) {
                continue;
            }
            let copy = self.at_level(asked, below);
            let data = Data { ctors: Vec::new(), ..self.program.data.at(data).clone() };
            let data = self.program.data.push(data);
            let apart = self.apart.contains(&linear);
            let linear = self.program.linears.push(Linear { func: copy, active, residual: data });
            self.apart.extend(apart.then_some(linear));
            self.residuals.insert(data, linear);
            func.vars.at_mut(residual).ty = Ty::Scalar(Elem::Data(data));
            own.insert(residual, linear);
        }
        own
    }

    fn redirect(&mut self, block: &mut Block, level: usize, own: &FxHashMap<Var, LinearId>) {
        deep(|| {
            for stmt in &mut block.stmts {
                match &mut stmt.op {
                    Op::Call { func, .. } => *func = self.at_level(*func, level),
                    Op::Custom(parts) => {
                        parts.func = self.at_level(parts.func, level);
                        parts.rule = match parts.rule {
                            Rule::Jvp(rule) => Rule::Jvp(self.at_level(rule, level)),
                            Rule::Vjp(rule, apply) => {
                                Rule::Vjp(self.at_level(rule, level), self.at_level(apply, level))
                            }
                        };
                    }
                    Op::Jvp { func, .. } if !self.is_ready(*func) => match level.checked_sub(1) {
                        Some(below) => *func = self.at_level(*func, below),
                        None => stmt.op = Op::Fail { message: Atom::Text(BEYOND.into()) },
                    },
                    Op::Linearize { linear, .. }
                        if stmt.outs.last().is_some_and(|var| own.contains_key(var)) =>
                    {
                        let known = stmt.outs.last().and_then(|var| own.get(var));
                        *linear = known.copied().unwrap_or(*linear);
                    }
                    Op::Forward { linear, residual, .. } | Op::Backward { linear, residual, .. }
                        if residual.var().is_some_and(|var| own.contains_key(&var)) =>
                    {
                        let known = residual.var().and_then(|var| own.get(&var).copied());
                        *linear = known.unwrap_or(*linear);
                    }
                    Op::Linearize { linear, .. }
                    | Op::Forward { linear, .. }
                    | Op::Backward { linear, .. } => {
                        let func = self.program.linears.at(*linear).func;
                        if !self.is_ready(func) {
                            stmt.op = Op::Fail { message: Atom::Text(BEYOND.into()) };
                        }
                    }
                    Op::Taylor { func, .. } if !self.is_ready(*func) => {
                        stmt.op = Op::Fail { message: Atom::Text(BEYOND.into()) };
                    }
                    other => {
                        other.blocks_mut().into_iter().for_each(|inner| self.redirect(inner, level, own))
                    }
                }
            }
        });
    }
}

/// What is looked at by others than those that apply linear maps, or given back.
pub(crate) fn escaped(func: &Func) -> FxHashSet<Var> {
    let mut escaped: FxHashSet<Var> = FxHashSet::default();
    let mut results: Vec<&Atom> = func.body.results.iter().collect();
    func.body.for_each_stmt(&mut |stmt| {
        results.extend(stmt.op.blocks().into_iter().flat_map(|inner| &inner.results));
        match &stmt.op {
            Op::Linearize { args: rest, .. }
            | Op::Forward { tangents: rest, .. }
            | Op::Backward { cotangents: rest, .. } => escaped.extend(rest.iter().filter_map(Atom::var)),
            op => op.for_each_atom(&mut |atom| escaped.extend(atom.var())),
        }
    });
    escaped.extend(results.into_iter().filter_map(Atom::var));
    escaped
}
