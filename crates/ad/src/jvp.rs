//! Forward mode: value and tangent side by side.
//!
//! ```text
//! def f(x, y) = let a = sin x in a * y
//! def jvp_f(x, y, x', y') = let a = sin x in let c = cos x in let a' = x' c in (a y, a' y + y' a)
//! ```
//!
//! Each operation stays, followed by the linear part that its rule gives, written down at once. Branches give the tangents
//! of what they give; loops carry the tangents of what they carry; nothing is kept for later.
//!
//! For Taylor series ([`crate::series`]) there is a tangent of each order: what is linear is done for each, arithmetic for all together.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations with blocks and calls are named, the others have a rule"
)]

mod beside;
mod orders;
mod repeat;
mod rules;

use crate::arrays::Scope;
use crate::forward::Writer;
use crate::given::Derived;
use crate::like::Likes;
use crate::linear::Lin;
use crate::scoped::{Begin, Scoped};
use crate::types::dotted;
use crate::{Ad, BEYOND, Code, Key, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{Atom, Block, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::{Func, FuncId, VarInfo};
use wengert_ir::ty::Ty;

impl Ad {
    /// Value and tangent of a function: from its arguments and the tangents of those that vary, to its results and the
    /// tangents of those that do.
    pub(crate) fn jvp_function(&mut self, key: &Key) -> FuncId {
        if let Some(known) = self.jvps.get(key) {
            return *known;
        }
        let results = self.jvp_results(key, 1);
        let id = self.reserve(results);
        self.jvps.insert(key.clone(), id);
        self.derived.insert(id, Derived::jvp(key));
        if self.series_of_guard(id, key, 1, 1) {
            return id;
        }
        if let Some(made) = self.jvp_of_entry(key) {
            *self.program.funcs.at_mut(id) = made;
            return id;
        }
        let applied = self.applied(key);
        if applied.is_none() {
            self.note_derived(id);
        }
        let made = match applied {
            Some(data) => self.jvp_of_apply(key, data),
            None => self.jvp_itself(key, 1, 1),
        };
        *self.program.funcs.at_mut(id) = made;
        id
    }

    /// Value of a function and its tangents up to an order, as [`Ad::jvp_function`] for order 1. Of arguments there are tangents up to
    /// the order `given`.
    pub(crate) fn series_function(&mut self, key: &Key, given: usize, orders: usize) -> FuncId {
        if orders == 1 {
            return self.jvp_function(key);
        }
        if let Some(known) = self.series.get(&(key.clone(), given, orders)) {
            return *known;
        }
        let results = self.jvp_results(key, orders);
        let id = self.reserve(results);
        self.series.insert((key.clone(), given, orders), id);
        self.note_series(id, key, given, orders);
        if !self.exact {
            self.derived.insert(id, Derived { key: key.clone(), given, orders, is_long: false });
            self.note_derived(id);
        }
        if self.series_of_guard(id, key, given, orders) {
            return id;
        }
        let made = self.jvp_itself(key, given, orders);
        *self.program.funcs.at_mut(id) = made;
        id
    }

    pub(crate) fn jvp_results(&mut self, key: &Key, orders: usize) -> Vec<Ty> {
        let reach = self.varying_results(key.0, &key.1);
        let mut results = self.program.funcs.at(key.0).results.clone();
        let mut tangents = Vec::new();
        for (ty, active) in results.iter().zip(reach) {
            tangents.extend(self.tangent(*ty).filter(|_| active));
        }
        (0..orders).for_each(|_| results.extend(&tangents));
        results
    }

    pub(crate) fn jvp_itself(&mut self, key: &Key, given: usize, orders: usize) -> Func {
        let prepared = self.prepare(key);
        let func = &prepared.func;
        let reach = self.varying_results(key.0, &key.1);
        let what = match orders {
            1 if self.is_cube() => "cube",
            1 => "jvp",
            _ => "series",
        };
        let mut code = Code::like(self, func, &format!("{what}_{}", func.name));
        let mut dots: Vec<Scoped> = (0..orders).map(|_| Scoped::default()).collect();
        for dots in dots.iter_mut().take(given) {
            for (param, active) in func.body.params.iter().zip(&key.1) {
                if *active {
                    let (name, ty) = code.tangent_of(*param);
                    dots.insert(*param, code.b.param(name, ty));
                }
            }
        }
        code.order = code.ad.is_long().then(|| code.b.param("n".into(), Ty::INT));
        if code.ad.is_full() {
            let types = code.ad.jvp_results(key, orders);
            let none = code.fail(&types, BEYOND);
            return code.finish(none);
        }
        let scope = Scope {
            active: &prepared.active,
            same: FxHashMap::default(),
            places: false,
            apart: FxHashSet::default(),
        };
        let mut jvp = Jvp { code: &mut code, scope, dots };
        jvp.block(&func.body);
        let varying = func.body.results.iter().zip(&reach).filter(|(_, active)| **active);
        let varying: Vec<Atom> = varying.map(|(atom, _)| atom.clone()).collect();
        let tangents = jvp.tangents_or_zeros(&varying);
        let results = func.body.results.iter().cloned().chain(tangents).collect();
        code.finish(results)
    }

    /// The tangents alone, from arguments and tangents.
    pub(crate) fn tangent_function(&mut self, key: &Key) -> FuncId {
        let jvp = self.jvp_function(key);
        let (params, values) = {
            let func = self.program.funcs.at(jvp);
            let params: Vec<VarInfo> = func.body.params.iter().map(|var| *func.vars.at(*var)).collect();
            (params, func.results.clone())
        };
        let func = self.program.funcs.at(key.0);
        let (name, count) = (func.name, func.results.len());
        let mut code = Code::new(self, &format!("tangent_{name}"));
        let args: Vec<Atom> = params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
        let mut results = code.b.call(jvp, args, &values);
        let tangents = results.split_off(count);
        let func = code.finish(tangents);
        self.program.funcs.push(func)
    }
}

impl Code<'_> {
    /// Value and tangents of a function; what does not vary has none.
    pub(crate) fn call_jvp(
        &mut self,
        key: &Key,
        args: &[Atom],
        tangents: &[Atom],
    ) -> (Vec<Atom>, Vec<Option<Atom>>) {
        let results = self.ad.program.funcs.at(key.0).results.clone();
        if !key.1.contains(&true) {
            let values = self.b.call(key.0, args, &results);
            let none = values.iter().map(|_| None).collect();
            return (values, none);
        }
        let (jvp, reach) = (self.ad.jvp_function(key), self.ad.varying_results(key.0, &key.1));
        let types = self.ad.jvp_results(key, 1);
        let args: Vec<Atom> = args.iter().chain(tangents).cloned().collect();
        let mut values = self.b.call(jvp, args, &types);
        let mut dots = values.split_off(results.len()).into_iter();
        let dots = reach.into_iter().map(|active| if active { dots.next() } else { None }).collect();
        (values, dots)
    }

    /// Name and type of the tangent of a variable.
    pub(crate) fn tangent_of(&mut self, var: Var) -> (Name, Ty) {
        let VarInfo { name, ty } = *self.b.func().vars.at(var);
        (dotted(name), self.ad.tangent(ty).unwrap_or(ty))
    }
}

pub(crate) struct Jvp<'a, 'c> {
    pub(crate) code: &'a mut Code<'c>,
    pub(crate) scope: Scope<'a>,
    /// Tangents, of each order; what varies and is not here has the tangent zero.
    pub(crate) dots: Vec<Scoped>,
}

impl Jvp<'_, '_> {
    fn block(&mut self, block: &Block) {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt)));
    }

    /// The tangent of an operand of an order (from 0), if it is not zero.
    pub(crate) fn tangent(&mut self, order: usize, atom: &Atom) -> Option<Atom> {
        let of = self.scope.of(atom)?;
        self.dots.get(order)?.get(&of.base()).cloned()
    }

    pub(crate) fn tangent_or_zero(&mut self, order: usize, atom: &Atom) -> Atom {
        match self.tangent(order, atom) {
            Some(tangent) => tangent,
            None => {
                let ty = self.code.b.type_of(atom);
                self.code.zero(Some(atom), ty)
            }
        }
    }

    /// Those of order 1, then those of order 2, ….
    fn tangents_or_zeros(&mut self, atoms: &[Atom]) -> Vec<Atom> {
        let mut tangents = Vec::new();
        for order in 0..self.dots.len() {
            tangents.extend(atoms.iter().map(|atom| self.tangent_or_zero(order, atom)));
        }
        tangents
    }

    /// Writes down linear code, for each order.
    fn write(&mut self, lins: &[Lin]) {
        for order in 0..self.dots.len() {
            self.write_at(order, lins);
        }
    }

    fn write_at(&mut self, order: usize, lins: &[Lin]) {
        let Some(dots) = self.dots.get_mut(order).map(std::mem::take) else { return };
        let likes = Likes::default();
        let mut writer =
            Writer { code: self.code, env: Scoped::default(), dots, source: None, likes: &likes };
        lins.iter().for_each(|lin| writer.lin(lin));
        let dots = writer.dots;
        if let Some(place) = self.dots.get_mut(order) {
            *place = dots;
        }
    }

    /// Which of these vary, each with its place.
    fn varying<T: Copy>(&self, vars: &[Var], items: &[T]) -> Vec<(Var, T)> {
        let all = vars.iter().copied().zip(items.iter().copied());
        all.filter(|(var, _)| self.scope.active.contains(var)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.code.b.set_span(stmt.span);
        if crate::requests::is_request(&stmt.op) {
            // There is none in what is differentiated.
            self.code.fail(&[], BEYOND);
        }
        let outs: Vec<Var> =
            stmt.outs.iter().copied().filter(|out| self.scope.active.contains(out)).collect();
        if outs.is_empty() {
            if !self.tests_zero(stmt) {
                self.code.b.push(stmt.clone());
            }
            return;
        }
        match &stmt.op {
            op if self.code.ad.is_long() && Self::is_for_long(op) => self.long(stmt, &outs),
            Op::Select { cond, then, otherwise } => {
                self.code.b.push(stmt.clone());
                for order in 0..self.dots.len() {
                    let then = self.tangent_or_zero(order, then);
                    let otherwise = self.tangent_or_zero(order, otherwise);
                    let op = Op::Select { cond: cond.clone(), then, otherwise };
                    self.define(order, &outs, op);
                }
            }
            Op::If { cond, then, otherwise } => {
                let then = self.arm(stmt, then, &[]);
                let otherwise = self.arm(stmt, otherwise, &[]);
                self.replace(stmt, &outs, Op::If { cond: cond.clone(), then, otherwise });
            }
            Op::Match { on, arms } => self.match_on(stmt, &outs, on, arms),
            Op::Call { func, args, .. } if self.code.ad.linear_helpers.contains_key(func) => {
                let lins = self.scope.helper(self.code, stmt, *func, args);
                self.write(&lins);
            }
            Op::Call { func, args, checkpoint } => self.call(stmt, *func, args, *checkpoint),
            Op::Custom(parts) if self.code.ad.is_long() => self.custom_long(stmt, parts),
            Op::Custom(parts) if self.dots.len() > 1 => self.custom_series(stmt, parts),
            Op::Custom(parts) => self.custom(stmt, parts),
            op if self.dots.len() > 1 && self.is_arithmetic(op) => self.arithmetic(stmt, &outs),
            Op::Loop(parts) => self.repeat(stmt, parts),
            Op::While(parts) => self.while_loop(stmt, parts),
            _ => {
                let lins = self.scope.straight(self.code, stmt);
                self.write(&lins);
            }
        }
    }

    /// A call: of the function that gives tangents too.
    fn call(&mut self, stmt: &Stmt, func: FuncId, args: &[Atom], checkpoint: bool) {
        if let (true, Some(entry)) = (self.code.ad.is_cube(), self.code.ad.entry_of(func).cloned()) {
            return self.call_entry(stmt, &entry, args);
        }
        let key: Key = (func, self.scope.mask(args));
        let jvp = if self.code.ad.is_long() {
            self.code.ad.long_function(&key)
        } else {
            self.code.ad.series_function(&key, self.dots.len(), self.dots.len())
        };
        let varying: Vec<Atom> =
            args.iter().zip(&key.1).filter(|(_, active)| **active).map(|(arg, _)| arg.clone()).collect();
        let mut args: Vec<Atom> = args.iter().cloned().chain(self.tangents_or_zeros(&varying)).collect();
        args.extend(self.code.order.clone());
        // As in the interpreter, where a checkpoint notes nothing for what it is given with tangents.
        let checkpoint = checkpoint && !self.code.ad.exact;
        let op = Op::Call { func: jvp, args, checkpoint };
        // The callee knows best which results vary.
        let reach = self.code.ad.varying_results(key.0, &key.1);
        let outs: Vec<Var> =
            stmt.outs.iter().zip(reach).filter(|(_, active)| *active).map(|(out, _)| *out).collect();
        self.replace(stmt, &outs, op);
    }

    /// A question whether a number is zero and nothing else: its tangents must be zero too.
    fn tests_zero(&mut self, stmt: &Stmt) -> bool {
        let Some(x) = self.code.ad.exact_zero_of(stmt) else { return false };
        let tangents = (0..self.dots.len()).filter_map(|order| self.tangent(order, x));
        let all: Vec<Atom> = std::iter::once(x.clone()).chain(tangents).collect();
        let zeros = all.iter().map(|x| self.code.is_zero(x)).collect();
        let zero = self.code.all_of(zeros);
        self.code.b.push(Stmt { outs: stmt.outs.clone(), op: Op::Copy(zero), span: stmt.span });
        true
    }

    /// A function with a rule: what is captured contributes by the function, the point by the rule.
    fn custom(&mut self, stmt: &Stmt, parts: &Custom) {
        if let Some(delay) = self.code.ad.delay(parts) {
            if self.code.passed(stmt, parts, delay) {
                let found = parts.point.iter().map(|x| self.tangent(0, x)).collect();
                self.add_tangents(stmt, found);
            }
            return;
        }
        let by_captured = self.by_captures(stmt, parts);
        if self.scope.mask(&parts.point).contains(&true) {
            match parts.rule {
                Rule::Vjp(..) => {
                    let lins = self.scope.custom_point(self.code, stmt, parts);
                    self.write(&lins);
                }
                Rule::Jvp(rule) => {
                    let tangents: Vec<Option<Atom>> =
                        parts.point.iter().map(|x| self.tangent(0, x)).collect();
                    let values: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
                    let Custom { rule_captured, point, .. } = parts;
                    let found = self.code.rule_tangents(rule, rule_captured, point, &tangents, &values);
                    self.add_tangents(stmt, found);
                }
            }
        }
        self.add_tangents(stmt, by_captured);
    }

    /// The tangents by what a function with a rule has captured, as if the point did not vary.
    fn by_captured(&mut self, stmt: &Stmt, parts: &Custom) -> Vec<Option<Atom>> {
        let found = self.by_captured_alone(parts);
        let values: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let mask = self.scope.mask(&parts.rule_captured);
        let varying = parts.rule_captured.iter().zip(&mask).filter(|(_, active)| **active);
        let varying: Vec<Atom> = varying.map(|(arg, _)| arg.clone()).collect();
        let tangents = self.tangents_or_zeros(&varying);
        self.code.mixed_tangents(&values, parts, (&mask, &tangents), found)
    }

    fn by_captured_alone(&mut self, parts: &Custom) -> Vec<Option<Atom>> {
        let mut mask = self.scope.mask(&parts.captured);
        if !mask.contains(&true) {
            return Vec::new();
        }
        let varying = parts.captured.iter().zip(&mask).filter(|(_, active)| **active);
        let varying: Vec<Atom> = varying.map(|(arg, _)| arg.clone()).collect();
        let tangents = self.tangents_or_zeros(&varying);
        let args: Vec<Atom> = parts.captured.iter().cloned().chain(self.code.still(&parts.point)).collect();
        mask.resize(args.len(), false);
        self.code.call_jvp(&(parts.func, mask), &args, &tangents).1
    }

    /// Adds to the tangents of what a statement gives.
    fn add_tangents(&mut self, stmt: &Stmt, more: Vec<Option<Atom>>) {
        for (out, tangent) in stmt.outs.iter().zip(more) {
            let Some(tangent) = tangent else { continue };
            let Some(dots) = self.dots.first_mut() else { continue };
            let sum = match dots.remove(out) {
                Some(other) => self.code.sum(other, tangent),
                None => tangent,
            };
            dots.insert(*out, sum);
        }
    }

    /// Appends an operation that gives the tangents of these, of an order.
    fn define(&mut self, order: usize, outs: &[Var], op: Op) {
        let named: Vec<(Name, Ty)> = outs.iter().map(|out| self.code.tangent_of(*out)).collect();
        let tangents = self.code.b.named(&named, op);
        if let Some(dots) = self.dots.get_mut(order) {
            dots.extend(outs.iter().copied().zip(tangents));
        }
    }

    /// Variables for tangents that a statement gives.
    fn fresh(&mut self, vars: &[Var]) -> Vec<Var> {
        let mut fresh = Vec::new();
        for dots in &mut self.dots {
            for var in vars {
                let (name, ty) = self.code.tangent_of(*var);
                let tangent = self.code.b.fresh(name, ty);
                dots.insert(*var, Atom::Var(tangent));
                fresh.push(tangent);
            }
        }
        fresh
    }

    /// Appends an operation in place of a statement: it gives the tangents of `outs` after what the statement gave.
    fn replace(&mut self, stmt: &Stmt, outs: &[Var], op: Op) {
        let tangents = self.fresh(outs);
        let outs = stmt.outs.iter().copied().chain(tangents).collect();
        self.code.b.push(Stmt { outs, op, span: stmt.span });
    }

    /// A block begins.
    fn begin(&mut self) -> Vec<Begin> {
        self.dots.iter_mut().map(Scoped::begin).collect()
    }

    /// It ends: tangents of what is inside are no longer there.
    fn end(&mut self, begins: Vec<Begin>) {
        self.dots.iter_mut().zip(begins).for_each(|(dots, begin)| dots.end(begin));
    }

    /// A block of a branch, which gives tangents too; `begin` is linear code to start with.
    fn arm(&mut self, stmt: &Stmt, block: &Block, begin: &[Lin]) -> Block {
        let dots = self.begin();
        self.code.b.open();
        self.write(begin);
        self.block(block);
        let mut results = block.results.clone();
        let (varying, _): (Vec<Atom>, Vec<Var>) = self.pairs(&block.results, &stmt.outs).into_iter().unzip();
        results.extend(self.tangents_or_zeros(&varying));
        let made = self.code.b.close(results);
        self.end(dots);
        Block { params: block.params.clone(), ..made }
    }

    /// Results with the variables that they become, where these vary.
    fn pairs(&self, results: &[Atom], outs: &[Var]) -> Vec<(Atom, Var)> {
        let all = results.iter().cloned().zip(outs.iter().copied());
        all.filter(|(_, out)| self.scope.active.contains(out)).collect()
    }

    fn match_on(&mut self, stmt: &Stmt, outs: &[Var], on: &Atom, arms: &[Block]) {
        let of = self.scope.of(on).filter(|of| self.dots.iter().any(|dots| dots.contains_key(&of.base())));
        let mut blocks = Vec::new();
        for (ctor, arm) in arms.iter().enumerate() {
            let mut begin = Vec::new();
            if let (Some(of), wengert_ir::Elem::Data(data)) = (&of, self.code.b.type_of(on).elem()) {
                let types = self.code.ad.fields(data, ctor as u32);
                let varying: Vec<Var> = arm
                    .params
                    .iter()
                    .zip(&types)
                    .filter(|(_, (_, tangent))| tangent.is_some())
                    .map(|(param, _)| *param)
                    .collect();
                let like = varying
                    .iter()
                    .filter(|var| self.code.b.func().ty(**var).rank() > 0)
                    .map(|var| Atom::Var(*var))
                    .collect();
                if !varying.is_empty() {
                    begin.push(Lin::Fields { of: of.clone(), data, ctor: ctor as u32, outs: varying, like });
                }
            }
            blocks.push(self.arm(stmt, arm, &begin));
        }
        self.replace(stmt, outs, Op::Match { on: on.clone(), arms: blocks });
    }
}
