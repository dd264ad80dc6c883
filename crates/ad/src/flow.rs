//! Which functions a function value can be, where it matters: where applying one means to differentiate.
//!
//! The tangent of a function value is a function value again, so that the function that applies values asks for its own
//! derivative, and what order of derivative is needed depends on what the values are. Here is found out what they can be:
//! for each variable the *sites* that may have made its value (a constructor applied at some place), and for each site
//! the same of its fields. Flow of data through the whole program, without regard to the order of calls:
//!
//! ```text
//! d = jvp make(x; 1.0)         d is made here: tangent_of(f, ..) with f made by `lambda` in `make`
//! y = apply(d, 2.0)            apply at tangent_of: asks for the derivative of apply at `lambda`, which asks for none
//! ```
//!
//! [`crate::specialize`] makes the copies. It is also found which function values are given as tangents.

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that pass values on are named")]

use crate::deep;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use wengert_ir::op::{Atom, Block, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::{FuncId, LinearId, Program};
use wengert_ir::ty::{DataId, Elem, Role, Ty};

/// Sites that may have made a value.
pub(crate) type Sites = BTreeSet<usize>;

/// A place where a constructor is applied.
pub(crate) struct Site {
    pub(crate) data: DataId,
    pub(crate) ctor: u32,
    pub(crate) fields: Vec<Sites>,
}

/// Where a site is: at this variable of a function; derivatives make values of several types and constructors at one.
type Place = (FuncId, Var, DataId, u32);

/// What is known of the values of a program.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) sites: Vec<Site>,
    places: FxHashMap<Place, usize>,
    values: FxHashMap<(FuncId, Var), Sites>,
    /// Types that hold function values which derivative operators take or give.
    relevant: FxHashSet<DataId>,
    /// Those of the function values themselves.
    closures: FxHashSet<DataId>,
    /// By type, the function values that are given as tangents.
    pub(crate) given: BTreeMap<DataId, Sites>,
    /// What the arguments of linearizations can be.
    pub(crate) linear_args: FxHashMap<LinearId, Vec<Sites>>,
    changed: bool,
}

/// The flow of values of types whose tangents the program declares.
pub(crate) fn find(program: &Program) -> Flow {
    let mut flow = Flow::default();
    for (_, data) in program.data.iter() {
        if let Role::Tangent(of) = data.role
            && program.data.at(of).role == Role::Closure
        {
            flow.closures.insert(of);
        }
    }
    if flow.closures.is_empty() {
        return flow;
    }
    flow.relevant = holders(program, &flow.closures);
    loop {
        flow.changed = false;
        for (id, func) in program.funcs.iter() {
            flow.block(program, id, &func.body);
            flow.results_of_given(program, id);
        }
        if !flow.changed {
            return flow;
        }
    }
}

/// The types that hold values of these types.
fn holders(program: &Program, closures: &FxHashSet<DataId>) -> FxHashSet<DataId> {
    let mut found = closures.clone();
    loop {
        let before = found.len();
        for (id, data) in program.data.iter() {
            let mut fields = data.ctors.iter().flat_map(|ctor| &ctor.fields);
            let holds = |ty: &Ty| matches!(ty.elem(), Elem::Data(inner) if found.contains(&inner));
            if !matches!(data.role, Role::Tangent(_) | Role::Residual) && fields.any(holds) {
                found.insert(id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl Flow {
    /// The sites of an operand.
    pub(crate) fn of(&self, func: FuncId, atom: &Atom) -> Sites {
        atom.var().and_then(|var| self.values.get(&(func, var))).cloned().unwrap_or_default()
    }

    pub(crate) fn is_relevant(&self, ty: Ty) -> bool {
        matches!(ty.elem(), Elem::Data(data) if self.relevant.contains(&data))
    }

    fn add(&mut self, func: FuncId, var: Var, sites: &Sites) {
        if !sites.is_empty() {
            let known = self.values.entry((func, var)).or_default();
            let before = known.len();
            known.extend(sites);
            self.changed |= known.len() != before;
        }
    }

    fn add_all(&mut self, func: FuncId, vars: &[Var], sites: &[Sites]) {
        vars.iter().zip(sites).for_each(|(var, sites)| self.add(func, *var, sites));
    }

    fn all_of(&self, func: FuncId, atoms: &[Atom]) -> Vec<Sites> {
        atoms.iter().map(|atom| self.of(func, atom)).collect()
    }

    fn site(&mut self, program: &Program, place: Place) -> usize {
        if let Some(known) = self.places.get(&place) {
            return *known;
        }
        let (_, _, data, ctor) = place;
        let fields = program.data.at(data).ctors.get(ctor as usize).map_or(0, |ctor| ctor.fields.len());
        self.sites.push(Site { data, ctor, fields: vec![Sites::new(); fields] });
        self.places.insert(place, self.sites.len() - 1);
        self.sites.len() - 1
    }

    fn fill(&mut self, site: usize, field: usize, sites: &Sites) {
        if let Some(known) = self.sites.get_mut(site).and_then(|site| site.fields.get_mut(field)) {
            let before = known.len();
            known.extend(sites);
            self.changed |= known.len() != before;
        }
    }

    /// The sites of the fields of a constructor of a value.
    pub(crate) fn fields(&self, sites: &Sites, ctor: u32, count: usize) -> Vec<Sites> {
        let mut found = vec![Sites::new(); count];
        for site in sites.iter().filter_map(|site| self.sites.get(*site)).filter(|site| site.ctor == ctor) {
            found.iter_mut().zip(&site.fields).for_each(|(found, field)| found.extend(field));
        }
        found
    }

    /// All function values that a value is or holds, by type.
    fn functions(&self, sites: &Sites) -> BTreeMap<DataId, Sites> {
        let mut found: BTreeMap<DataId, Sites> = BTreeMap::new();
        let (mut seen, mut todo) = (sites.clone(), Vec::from_iter(sites.iter().copied()));
        while let Some(next) = todo.pop() {
            let Some(site) = self.sites.get(next) else { continue };
            if self.closures.contains(&site.data) {
                found.entry(site.data).or_default().insert(next);
                continue;
            }
            let fields = site.fields.iter().flatten().copied();
            todo.extend(fields.filter(|field| seen.insert(*field)));
        }
        found
    }

    /// A value is given as a tangent: so are the functions in it.
    fn give(&mut self, sites: &Sites) {
        for (data, sites) in self.functions(sites) {
            let known = self.given.entry(data).or_default();
            let before = known.len();
            known.extend(sites);
            self.changed |= known.len() != before;
        }
    }

    /// What functions give that are given as tangents is a tangent too: so are the functions in it.
    fn results_of_given(&mut self, program: &Program, id: FuncId) {
        let func = program.funcs.at(id);
        let [Stmt { op: Op::Match { on, arms }, .. }] = func.body.stmts.as_slice() else { return };
        let (Elem::Data(data), true) =
            (func.type_of(on).elem(), on.var() == func.body.params.first().copied())
        else {
            return;
        };
        let given = self.given.get(&data).cloned().unwrap_or_default();
        let ctors: BTreeSet<u32> =
            given.iter().filter_map(|site| self.sites.get(*site)).map(|site| site.ctor).collect();
        for (ctor, arm) in arms.iter().enumerate() {
            if ctors.contains(&(ctor as u32)) {
                for sites in self.all_of(id, &arm.results) {
                    self.give(&sites);
                }
            }
        }
    }

    /// The surface tangent of a value of this type, made at this place.
    fn surface(&mut self, program: &Program, (func, var): (FuncId, Var), sites: &Sites, ty: Ty) -> Sites {
        let Elem::Data(data) = ty.elem() else { return Sites::new() };
        if !self.relevant.contains(&data) || sites.is_empty() {
            return Sites::new();
        }
        for (closure, functions) in self.functions(sites) {
            let last = (program.data.at(closure).ctors.len() as u32).saturating_sub(1);
            let site = self.site(program, (func, var, closure, last));
            self.fill(site, 0, &functions);
        }
        // What holds functions holds their tangents then.
        let (mut seen, mut todo) = (FxHashSet::from_iter([data]), vec![data]);
        while let Some(next) = todo.pop() {
            if self.closures.contains(&next) {
                continue;
            }
            for (ctor, shape) in program.data.at(next).ctors.iter().enumerate() {
                let site = self.site(program, (func, var, next, ctor as u32));
                for (field, ty) in shape.fields.iter().enumerate() {
                    if let Elem::Data(inner) = ty.elem()
                        && self.relevant.contains(&inner)
                    {
                        let there = self.made_at(program, func, var, inner);
                        self.fill(site, field, &there);
                        if seen.insert(inner) {
                            todo.push(inner);
                        }
                    }
                }
            }
        }
        self.made_at(program, func, var, data)
    }

    /// The sites of a type at a place.
    fn made_at(&mut self, program: &Program, func: FuncId, var: Var, data: DataId) -> Sites {
        let count = program.data.at(data).ctors.len() as u32;
        let first = if self.closures.contains(&data) { count.saturating_sub(1) } else { 0 };
        (first..count).map(|ctor| self.site(program, (func, var, data, ctor))).collect()
    }

    fn surfaces(&mut self, program: &Program, func: FuncId, outs: &[Var], values: &[Sites]) -> Vec<Sites> {
        let types: Vec<Ty> = outs.iter().map(|out| program.funcs.at(func).ty(*out)).collect();
        let all = outs.iter().zip(values).zip(types);
        all.map(|((out, sites), ty)| self.surface(program, (func, *out), sites, ty)).collect()
    }

    fn block(&mut self, program: &Program, func: FuncId, block: &Block) {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(program, func, stmt)));
    }

    /// The arguments go into a function; what comes out.
    fn call(&mut self, program: &Program, callee: FuncId, args: &[Sites]) -> Vec<Sites> {
        let body = &program.funcs.at(callee).body;
        self.add_all(callee, &body.params, args);
        self.all_of(callee, &body.results)
    }

    fn stmt(&mut self, program: &Program, func: FuncId, stmt: &Stmt) {
        let outs = stmt.outs.as_slice();
        if let Op::Match { on, arms } = &stmt.op
            && let Elem::Data(data) = program.funcs.at(func).type_of(on).elem()
            && self.closures.contains(&data)
        {
            self.functions_apart(program, func, outs, (on, data), arms);
            return;
        }
        for inner in stmt.op.blocks() {
            self.block(program, func, inner);
        }
        match &stmt.op {
            Op::Make { data, ctor, fields } if self.relevant.contains(data) => {
                let Some(out) = outs.first() else { return };
                let site = self.site(program, (func, *out, *data, *ctor));
                for (i, field) in fields.iter().enumerate() {
                    let sites = self.of(func, field);
                    self.fill(site, i, &sites);
                }
                self.add(func, *out, &Sites::from([site]));
            }
            Op::Match { .. } | Op::If { .. } | Op::Loop(_) | Op::While(_) => {
                self.control(func, stmt);
            }
            Op::StopGradient(args) => {
                let args = self.all_of(func, args);
                self.add_all(func, outs, &args);
            }
            Op::Call { func: callee, args, .. } => {
                let args = self.all_of(func, args);
                let results = self.call(program, *callee, &args);
                self.add_all(func, outs, &results);
            }
            Op::Custom(parts) => self.custom(program, func, outs, parts),
            Op::Jvp { .. }
            | Op::Linearize { .. }
            | Op::Forward { .. }
            | Op::Backward { .. }
            | Op::Taylor { .. } => {
                self.request(program, func, outs, &stmt.op);
            }
            // Whatever is made of values may be any of them.
            op => {
                let mut sites = Sites::new();
                op.for_each_atom(&mut |atom| sites.extend(self.of(func, atom)));
                outs.iter().for_each(|out| self.add(func, *out, &sites));
            }
        }
    }

    /// What is done for each function that a function value can be, and for no other. For those that are given as tangents it is done
    /// too, but what that gives is no result of this.
    fn functions_apart(
        &mut self,
        program: &Program,
        func: FuncId,
        outs: &[Var],
        (on, data): (&Atom, DataId),
        arms: &[Block],
    ) {
        let here = self.of(func, on);
        let given = self.given.get(&data).cloned().unwrap_or_default();
        for (ctor, arm) in arms.iter().enumerate() {
            let ctor = ctor as u32;
            let [is_here, is_given] = [&here, &given].map(|sites| {
                sites.iter().any(|site| self.sites.get(*site).is_some_and(|site| site.ctor == ctor))
            });
            if !is_here && !is_given {
                continue;
            }
            for sites in [&here, &given] {
                let fields = self.fields(sites, ctor, arm.params.len());
                self.add_all(func, &arm.params, &fields);
            }
            self.block(program, func, arm);
            if is_here {
                let results = self.all_of(func, &arm.results);
                self.add_all(func, outs, &results);
            }
        }
    }

    /// Branches and loops.
    fn control(&mut self, func: FuncId, stmt: &Stmt) {
        let outs = stmt.outs.as_slice();
        match &stmt.op {
            Op::Match { on, arms } => {
                let on = self.of(func, on);
                for (ctor, arm) in arms.iter().enumerate() {
                    let fields = self.fields(&on, ctor as u32, arm.params.len());
                    self.add_all(func, &arm.params, &fields);
                    let results = self.all_of(func, &arm.results);
                    self.add_all(func, outs, &results);
                }
            }
            Op::If { then, otherwise, .. } => {
                for arm in [then, otherwise] {
                    let results = self.all_of(func, &arm.results);
                    self.add_all(func, outs, &results);
                }
            }
            Op::Loop(parts) => {
                let given: Vec<Atom> =
                    parts.init.iter().chain(&parts.accs).chain(&parts.inputs).cloned().collect();
                let given = self.all_of(func, &given);
                let results = self.all_of(func, &parts.body.results);
                let params = parts.body.params.get(1..).unwrap_or_default();
                let carried = parts.init.len() + parts.accs.len();
                self.add_all(func, params, &given);
                self.add_all(func, params, results.get(..carried).unwrap_or_default());
                self.add_all(func, outs, given.get(..carried).unwrap_or_default());
                self.add_all(func, outs, &results);
            }
            Op::While(parts) => {
                let given = self.all_of(func, &parts.init);
                let results = self.all_of(func, &parts.body.results);
                let kept = results.get(..given.len()).unwrap_or_default();
                for sites in [given.as_slice(), kept] {
                    self.add_all(func, &parts.body.params, sites);
                    self.add_all(func, &parts.cond.params, sites);
                    self.add_all(func, outs, sites);
                }
                self.add_all(func, outs, &results);
            }
            _ => {}
        }
    }

    fn request(&mut self, program: &Program, func: FuncId, outs: &[Var], op: &Op) {
        match op {
            Op::Jvp { func: callee, args, tangents } => {
                let types = program.funcs.at(*callee).param_types();
                for (tangent, ty) in tangents.iter().zip(types) {
                    let Some(tangent) = tangent else { continue };
                    if program.funcs.at(func).type_of(tangent) == ty {
                        let sites = self.of(func, tangent);
                        self.give(&sites);
                    }
                }
                let args = self.all_of(func, args);
                let mut results = self.call(program, *callee, &args);
                let (_, there) = outs.split_at_checked(results.len()).unwrap_or((outs, &[]));
                let tangents = self.surfaces(program, func, there, &results);
                results.extend(tangents);
                self.add_all(func, outs, &results);
            }
            Op::Linearize { linear, args } => {
                let args = self.all_of(func, args);
                let known = self.linear_args.entry(*linear).or_default();
                known.resize(args.len(), Sites::new());
                known.iter_mut().zip(&args).for_each(|(known, sites)| known.extend(sites));
                let results = self.call(program, program.linears.at(*linear).func, &args);
                self.add_all(func, outs, &results);
            }
            Op::Forward { linear, tangents, .. } => {
                for tangent in self.all_of(func, tangents) {
                    self.give(&tangent);
                }
                let callee = program.linears.at(*linear).func;
                let results = self.all_of(callee, &program.funcs.at(callee).body.results);
                let tangents = self.surfaces(program, func, outs, &results);
                self.add_all(func, outs, &tangents);
            }
            Op::Backward { linear, cotangents, .. } => {
                for cotangent in self.all_of(func, cotangents) {
                    self.give(&cotangent);
                }
                let linear = program.linears.at(*linear);
                let params = program.funcs.at(linear.func).body.params.iter().zip(&linear.active);
                let params: Vec<Atom> =
                    params.filter(|(_, active)| **active).map(|(param, _)| Atom::Var(*param)).collect();
                let points = self.all_of(linear.func, &params);
                let cotangents = self.surfaces(program, func, outs, &points);
                self.add_all(func, outs, &cotangents);
            }
            Op::Taylor { func: callee, captured, .. } => {
                let args = self.all_of(func, captured);
                self.call(program, *callee, &args);
            }
            _ => {}
        }
    }

    fn custom(&mut self, program: &Program, func: FuncId, outs: &[Var], parts: &Custom) {
        let Custom { func: callee, captured, rule, rule_captured, point } = parts;
        let point = self.all_of(func, point);
        let mut args = self.all_of(func, captured);
        args.extend(point.iter().cloned());
        let values = self.call(program, *callee, &args);
        self.add_all(func, outs, &values);
        let mut args = self.all_of(func, rule_captured);
        args.extend(point.iter().cloned());
        // Tangents of the point and of the results are made here.
        match rule {
            Rule::Jvp(rule) => {
                let params: Vec<Var> =
                    program.funcs.at(*rule).body.params.iter().skip(args.len()).copied().collect();
                let tangents = self.surfaces(program, *rule, &params, &point);
                args.extend(tangents);
                for tangent in self.call(program, *rule, &args).into_iter().skip(values.len()) {
                    self.give(&tangent);
                }
            }
            Rule::Vjp(rule, apply) => {
                let back = self.call(program, *rule, &args).pop().unwrap_or_default();
                let params: Vec<Var> = program.funcs.at(*apply).body.params.iter().skip(1).copied().collect();
                let weights = self.surfaces(program, *apply, &params, &values);
                let args: Vec<Sites> = std::iter::once(back).chain(weights).collect();
                for cotangent in self.call(program, *apply, &args) {
                    self.give(&cotangent);
                }
            }
        }
    }
}
