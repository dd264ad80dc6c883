//! Copies of functions that ask for their own derivatives, one for each set of function values that they may be given.
//!
//! ```text
//! apply(f, x) = match f { lambda(a) { … }  tangent_of(g, dg) { derivative of apply at (g, x) along dg } }
//!
//! apply(f, x) = match f { tangent_of(g, dg) { derivative of apply_2 … } }      where f is a tangent of a lambda
//! apply_2(f, x) = match f { lambda(a) { … } }                                  what that asks for
//! ```
//!
//! A copy has no code for function values that it is never given. Where values nest as deep as running makes them, copies
//! still ask for their own derivatives: see [`crate::levels`].

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that name functions are named")]

use crate::flow::{Flow, Sites};
use crate::requests::callees;
use crate::{Ad, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Atom, Block, Op, Rule, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Program};
use wengert_ir::ty::{Elem, Ty};

/// So many copies are made; what would need more is as if it were given everything.
const COPIES: usize = 200;

/// A function and what its parameters can be.
type Copied = (FuncId, Vec<Sites>);

impl Ad {
    /// Puts copies in the place of functions that ask for their own derivatives.
    pub(crate) fn specialize(&mut self) {
        let flow = crate::flow::find(&self.program);
        self.given = flow.given.keys().copied().collect();
        let own = asking_for_themselves(&self.program);
        if own.is_empty() {
            return;
        }
        let mut work = Specialize {
            program: &mut self.program,
            flow: &flow,
            own,
            copies: FxHashMap::default(),
            todo: Vec::new(),
        };
        for id in work.program.funcs.ids() {
            if !work.own.contains(&id) {
                work.rewrite(id, id, &[]);
            }
        }
        for linear in work.program.linears.ids() {
            let func = work.program.linears.at(linear).func;
            if work.own.contains(&func) {
                let sites = flow.linear_args.get(&linear).cloned().unwrap_or_default();
                work.program.linears.at_mut(linear).func = work.copy(func, sites);
            }
        }
        for id in work.program.entries.values().copied().collect::<Vec<_>>() {
            if work.own.contains(&id) {
                work.rewrite(id, id, &[]);
            }
        }
        let mut at_given = FxHashMap::default();
        let mut known: FxHashSet<FuncId> = FxHashSet::default();
        loop {
            while let Some((id, (of, sites))) = work.todo.pop() {
                work.rewrite(id, of, &sites);
            }
            // What applies functions that are given as tangents.
            let mut copies: Vec<(Copied, FuncId)> =
                work.copies.iter().map(|(k, id)| (k.clone(), *id)).collect();
            copies.sort_by_key(|(_, id)| *id);
            copies.retain(|(_, id)| known.insert(*id));
            if copies.is_empty() {
                break;
            }
            for ((of, mut sites), id) in copies {
                let first = work.program.funcs.at(of).param_types().first().copied();
                let Some(Ty::Scalar(Elem::Data(data))) = first else { continue };
                if let (Some(given), Some(first)) = (flow.given.get(&data), sites.first_mut()) {
                    *first = given.clone();
                    at_given.insert(id, work.copy(of, sites));
                }
            }
        }
        self.at_given = at_given;
    }
}

struct Specialize<'a> {
    program: &'a mut Program,
    flow: &'a Flow,
    /// Functions that ask for their own derivatives.
    own: FxHashSet<FuncId>,
    copies: FxHashMap<Copied, FuncId>,
    todo: Vec<(FuncId, Copied)>,
}

impl Specialize<'_> {
    /// The copy of a function for these values.
    fn copy(&mut self, func: FuncId, mut sites: Vec<Sites>) -> FuncId {
        if !self.own.contains(&func) {
            return func;
        }
        if self.copies.len() > COPIES {
            let params = self.program.funcs.at(func).body.params.clone();
            sites = params.iter().map(|param| self.flow.of(func, &Atom::Var(*param))).collect();
        }
        let key = (func, sites);
        if let Some(known) = self.copies.get(&key) {
            return *known;
        }
        let copy = self.program.funcs.at(func).clone();
        let id = self.program.funcs.push(copy);
        self.copies.insert(key.clone(), id);
        self.todo.push((id, key));
        id
    }

    /// Lets a copy of a function use copies, knowing what its parameters are.
    fn rewrite(&mut self, id: FuncId, of: FuncId, sites: &[Sites]) {
        let mut func = self.program.funcs.at(id).clone();
        let mut body = std::mem::take(&mut func.body);
        let local = body.params.iter().copied().zip(sites.iter().cloned()).collect();
        let mut rewrite = Rewrite { work: self, of, local, func };
        rewrite.block(&mut body);
        let mut func = rewrite.func;
        func.body = body;
        *self.program.funcs.at_mut(id) = func;
    }
}

struct Rewrite<'w, 'a> {
    work: &'w mut Specialize<'a>,
    /// The function whose copy it is: its variables are known.
    of: FuncId,
    /// What is known better here.
    local: FxHashMap<Var, Sites>,
    func: Func,
}

impl Rewrite<'_, '_> {
    fn sites(&self, atom: &Atom) -> Sites {
        match atom.var().and_then(|var| self.local.get(&var)) {
            Some(known) => known.clone(),
            None => self.work.flow.of(self.of, atom),
        }
    }

    fn all(&self, atoms: &[Atom]) -> Vec<Sites> {
        atoms.iter().map(|atom| self.sites(atom)).collect()
    }

    fn block(&mut self, block: &mut Block) {
        deep(|| {
            for stmt in &mut block.stmts {
                self.stmt(stmt);
            }
        });
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.op {
            Op::Copy(x) => {
                let sites = self.sites(x);
                self.know(&stmt.outs, vec![sites]);
            }
            Op::Match { on, arms } if self.work.flow.is_relevant(self.func.type_of(on)) => {
                let on = self.sites(on);
                let mut found = vec![Sites::new(); stmt.outs.len()];
                for (ctor, arm) in arms.iter_mut().enumerate() {
                    let made = |site: &usize| {
                        self.work.flow.sites.get(*site).is_some_and(|site| site.ctor == ctor as u32)
                    };
                    if !on.is_empty() && !on.iter().any(made) {
                        self.never(&stmt.outs, arm, stmt.span);
                        continue;
                    }
                    let fields = self.work.flow.fields(&on, ctor as u32, arm.params.len());
                    let params = arm.params.clone();
                    self.know(&params, fields);
                    self.block(arm);
                    let results = self.all(&arm.results);
                    found.iter_mut().zip(results).for_each(|(found, sites)| found.extend(sites));
                }
                self.know(&stmt.outs, found);
            }
            Op::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
                let mut found = self.all(&then.results);
                let other = self.all(&otherwise.results);
                found.iter_mut().zip(other).for_each(|(found, sites)| found.extend(sites));
                self.know(&stmt.outs, found);
            }
            Op::Call { func, args, .. } => {
                let sites = self.all(args);
                *func = self.work.copy(*func, sites);
            }
            Op::Jvp { func, args, .. } => {
                let sites = self.all(args);
                *func = self.work.copy(*func, sites);
            }
            Op::Taylor { func, captured, .. } => {
                let mut sites = self.all(captured);
                sites.push(Sites::new());
                *func = self.work.copy(*func, sites);
            }
            Op::Custom(parts) => {
                let sites = self.all(&parts.captured.iter().chain(&parts.point).cloned().collect::<Vec<_>>());
                parts.func = self.work.copy(parts.func, sites);
                parts.rule = match parts.rule {
                    Rule::Jvp(rule) => Rule::Jvp(self.any(rule)),
                    Rule::Vjp(rule, apply) => Rule::Vjp(self.any(rule), self.any(apply)),
                };
            }
            op => op.blocks_mut().into_iter().for_each(|inner| self.block(inner)),
        }
    }

    /// The copy of a function for all that it is ever given.
    fn any(&mut self, func: FuncId) -> FuncId {
        let params = self.work.program.funcs.at(func).body.params.clone();
        let sites = params.iter().map(|param| self.work.flow.of(func, &Atom::Var(*param))).collect();
        self.work.copy(func, sites)
    }

    /// Notes what variables are, where it is more than nothing.
    fn know(&mut self, vars: &[Var], sites: Vec<Sites>) {
        for (var, sites) in vars.iter().zip(sites) {
            if !sites.is_empty() {
                self.local.insert(*var, sites);
            }
        }
    }

    /// A block that is never taken.
    fn never(&mut self, outs: &[Var], arm: &mut Block, span: wengert_base::Span) {
        let mut results = Vec::new();
        for out in outs {
            let info = *self.func.vars.at(*out);
            results.push(self.func.fresh(info.name, info.ty));
        }
        let op = Op::Fail { message: Atom::Text("a function value that there is not".into()) };
        arm.stmts = vec![Stmt { outs: results.clone(), op, span }];
        arm.results = results.into_iter().map(Atom::Var).collect();
    }
}

/// The functions that ask, by way of others perhaps, for derivatives of functions that need themselves.
fn asking_for_themselves(program: &Program) -> FxHashSet<FuncId> {
    let mut edges: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
    let mut asks: Vec<(FuncId, FuncId)> = Vec::new();
    for (id, func) in program.funcs.iter() {
        let all = edges.entry(id).or_default();
        func.body.for_each_stmt(&mut |stmt| {
            let asked = match &stmt.op {
                Op::Jvp { func, .. } | Op::Taylor { func, .. } => Some(*func),
                Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } => {
                    Some(program.linears.at(*linear).func)
                }
                _ => None,
            };
            asks.extend(asked.map(|asked| (id, asked)));
            all.extend(callees(&stmt.op).into_iter().chain(asked));
        });
    }
    let reach = |from: FuncId| -> FxHashSet<FuncId> {
        let (mut seen, mut todo) = (FxHashSet::from_iter([from]), vec![from]);
        while let Some(next) = todo.pop() {
            let callees = edges.get(&next).into_iter().flatten().copied();
            todo.extend(callees.filter(|callee| seen.insert(*callee)));
        }
        seen
    };
    let mut own = FxHashSet::default();
    for (id, asked) in asks {
        let below = reach(asked);
        if below.contains(&id) {
            // All that lies on a way back.
            own.extend(below.iter().copied().filter(|func| reach(*func).contains(&id)));
        }
    }
    own
}
