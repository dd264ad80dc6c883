//! Functions of which derivatives are asked, or that ask for some, are copied for the functions that they are given, where it is known
//! which these are.
//!
//! ```text
//! f = Function::square(a)     y = apply_twice(f, x)     becomes     y = apply_twice'(a, x)
//! func apply_twice'(a, x) { f = Function::square(a) … }
//! ```
//!
//! A function value that is one of several in the whole program is one only there. So the derivative of a function that is given to an
//! operator, of which the program has several as data, is not the derivative of all that any operator is given. What closures capture is known
//! where it is the same function in all of them ([`captured`]).
//! All this is so only where no function varies but by what it captured.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed neither calls nor is differentiated")]

mod captured;

use crate::dce::drop_functions;
use crate::inline::callees;
use crate::simplify;
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::program::{FuncId, Linear, LinearId};
use wengert_ir::ty::{Data, Role, Table};
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// So many copies at most, and so many statements in all of them.
const COPIES: usize = 96;
const STATEMENTS: usize = 6000;

/// For each parameter the closure that is given, if it is known.
type Pattern = Vec<Option<(DataId, u32)>>;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let asking = asking(program);
    if asking.is_empty() {
        return;
    }
    if program.data.iter().any(|(_, data)| matches!(data.role, Role::Tangent(_))) {
        return;
    }
    let is_closure = |(id, data): (DataId, &Data)| (data.role == Role::Closure).then_some(id);
    let closures: FxHashSet<DataId> = program.data.iter().filter_map(is_closure).collect();
    captured::run(program, &closures);
    let mut todo: Vec<FuncId> = program.funcs.ids().collect();
    let mut pass = Given {
        program,
        asking,
        closures,
        copies: FxHashMap::default(),
        linears: FxHashMap::default(),
        size: 0,
        fresh: Vec::new(),
    };
    while let Some(id) = todo.pop() {
        let mut func = pass.program.funcs.at(id).clone();
        let mut body = std::mem::take(&mut func.body);
        let mut sites =
            Sites { made: FxHashMap::default(), residuals: FxHashMap::default(), applied: applied(&body) };
        pass.block(&mut func, &mut body, &mut sites);
        func.body = body;
        *pass.program.funcs.at_mut(id) = func;
        todo.append(&mut pass.fresh);
    }
    if !pass.linears.is_empty() {
        drop_linears(pass.program);
    }
}

/// The functions that ask for derivatives, themselves or through others.
fn asking(program: &Program) -> FxHashSet<FuncId> {
    let mut asking: FxHashSet<FuncId> = FxHashSet::default();
    let mut callers: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
    let mut todo = Vec::new();
    for (id, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| match &stmt.op {
            Op::Call { func, .. } => callers.entry(*func).or_default().push(id),
            Op::Jvp { .. } | Op::Linearize { .. } | Op::Taylor { .. } => todo.push(id),
            _ => {}
        });
    }
    while let Some(id) = todo.pop() {
        if asking.insert(id) {
            todo.extend(callers.get(&id).into_iter().flatten());
        }
    }
    asking
}

/// The residuals with which nothing is done but to apply what is linear.
fn applied(body: &Block) -> FxHashSet<Var> {
    let mut times: FxHashMap<Var, usize> = FxHashMap::default();
    body.for_each_stmt(&mut |stmt| {
        if let Op::Forward { residual, .. } | Op::Backward { residual, .. } = &stmt.op {
            residual.var().into_iter().for_each(|var| *times.entry(var).or_default() += 1);
        }
    });
    if times.is_empty() {
        return FxHashSet::default();
    }
    let uses = count_uses(body);
    times.into_iter().filter(|(var, times)| uses.get(var) == Some(times)).map(|(var, _)| var).collect()
}

struct Given<'p> {
    program: &'p mut Program,
    asking: FxHashSet<FuncId>,
    closures: FxHashSet<DataId>,
    copies: FxHashMap<(FuncId, Pattern), FuncId>,
    linears: FxHashMap<(LinearId, Pattern), LinearId>,
    /// How much was copied.
    size: usize,
    /// Copies that are still to be looked at.
    fresh: Vec<FuncId>,
}

/// What is known in a function.
struct Sites {
    /// Closures, and what they captured.
    made: FxHashMap<Var, (DataId, u32, Vec<Atom>)>,
    /// Residuals of linearizations of copies.
    residuals: FxHashMap<Var, LinearId>,
    /// Residuals with which nothing is done but to apply what is linear.
    applied: FxHashSet<Var>,
}

impl Sites {
    fn pattern(&self, args: &[Atom], may: impl Fn(usize) -> bool) -> Pattern {
        let known = |(place, arg): (usize, &Atom)| {
            let (data, ctor, _) = self.made.get(&arg.var()?).filter(|_| may(place))?;
            Some((*data, *ctor))
        };
        args.iter().enumerate().map(known).collect()
    }

    /// The operands for a copy: instead of a closure what it captured.
    fn spread(&self, args: &mut Vec<Atom>, pattern: &Pattern) {
        let given = std::mem::take(args);
        for (arg, known) in given.into_iter().zip(pattern) {
            match arg.var().and_then(|var| self.made.get(&var)).filter(|_| known.is_some()) {
                Some((_, _, fields)) => args.extend(fields.iter().cloned()),
                None => args.push(arg),
            }
        }
    }
}

impl Given<'_> {
    fn block(&mut self, func: &mut Func, place: &mut Block, sites: &mut Sites) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &mut place.stmts {
                self.stmt(func, stmt, sites);
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(func, inner, sites));
            }
        });
    }

    fn stmt(&mut self, func: &mut Func, stmt: &mut Stmt, sites: &mut Sites) {
        match &mut stmt.op {
            Op::Make { data, ctor, fields } if self.closures.contains(data) => {
                let made = (*data, *ctor, fields.clone());
                sites.made.extend(stmt.outs.iter().map(|out| (*out, made.clone())));
            }
            Op::Call { func: callee, args, .. } if self.asking.contains(callee) => {
                let pattern = sites.pattern(args, |_| true);
                if let Some(copy) = self.copy(*callee, &pattern) {
                    *callee = copy;
                    sites.spread(args, &pattern);
                }
            }
            Op::Taylor { func: callee, captured, .. } => {
                let mut pattern = sites.pattern(captured, |_| true);
                pattern.push(None);
                if let Some(copy) = self.copy(*callee, &pattern) {
                    *callee = copy;
                    sites.spread(captured, &pattern);
                }
            }
            Op::Jvp { func: callee, args, tangents } => {
                let fixed = |place: usize| matches!(tangents.get(place), Some(None));
                let pattern = sites.pattern(args, fixed);
                if let Some(copy) = self.copy(*callee, &pattern) {
                    *callee = copy;
                    *tangents = self.instead(&pattern, tangents, None);
                    sites.spread(args, &pattern);
                }
            }
            Op::Linearize { linear, args } => {
                let Some(residual) = stmt.outs.last().copied() else { return };
                if !sites.applied.contains(&residual) {
                    return;
                }
                let active = &self.program.linears.at(*linear).active;
                let pattern = sites.pattern(args, |place| active.get(place) == Some(&false));
                if let Some(copy) = self.linear(*linear, &pattern) {
                    let data = self.program.linears.at(copy).residual;
                    func.vars.at_mut(residual).ty = Ty::Scalar(Elem::Data(data));
                    sites.residuals.insert(residual, copy);
                    *linear = copy;
                    sites.spread(args, &pattern);
                }
            }
            Op::Forward { linear, residual, .. } | Op::Backward { linear, residual, .. } => {
                if let Some(copy) = residual.var().and_then(|var| sites.residuals.get(&var)) {
                    *linear = *copy;
                }
            }
            _ => {}
        }
    }

    /// For what a closure captured the same instead of what there is for the closure.
    fn instead<T: Clone>(&self, pattern: &Pattern, all: &[T], each: T) -> Vec<T> {
        let mut out = Vec::with_capacity(all.len());
        for (one, known) in all.iter().zip(pattern) {
            match known {
                Some((data, ctor)) => {
                    let ctor = self.program.data.at(*data).ctors.get(*ctor as usize);
                    out.extend(vec![each.clone(); ctor.map_or(0, |ctor| ctor.fields.len())]);
                }
                None => out.push(one.clone()),
            }
        }
        out
    }

    /// The copy of a function for what is given.
    fn copy(&mut self, id: FuncId, pattern: &Pattern) -> Option<FuncId> {
        if pattern.iter().all(Option::is_none) {
            return None;
        }
        let key = (id, pattern.clone());
        if let Some(copy) = self.copies.get(&key) {
            return Some(*copy);
        }
        let mut func = self.program.funcs.get(id)?.clone();
        let size = func.body.size();
        if self.copies.len() >= COPIES || self.size + size > STATEMENTS {
            return None;
        }
        self.size += size;
        let mut made = Vec::new();
        for (param, known) in std::mem::take(&mut func.body.params).into_iter().zip(pattern) {
            let Some((data, ctor)) = *known else {
                func.body.params.push(param);
                continue;
            };
            let name = func.vars.at(param).name;
            let types = self.program.data.at(data).ctors.get(ctor as usize)?.fields.clone();
            let fields: Vec<Var> = types.into_iter().map(|ty| func.fresh(name, ty)).collect();
            func.body.params.extend(&fields);
            let fields = fields.into_iter().map(Atom::Var).collect();
            made.push(Stmt { outs: vec![param], op: Op::Make { data, ctor, fields }, span: func.span });
        }
        func.body.stmts.splice(0..0, made);
        simplify::function_in_order(&mut func);
        let asks = self.asking.contains(&id);
        let copy = self.program.funcs.push(func);
        if asks {
            self.asking.insert(copy);
        }
        self.fresh.push(copy);
        self.copies.insert(key, copy);
        Some(copy)
    }

    /// The linearization of the copy of a function for what is given.
    fn linear(&mut self, id: LinearId, pattern: &Pattern) -> Option<LinearId> {
        let key = (id, pattern.clone());
        if let Some(copy) = self.linears.get(&key) {
            return Some(*copy);
        }
        let Linear { func, active, residual } = self.program.linears.get(id)?.clone();
        let func = self.copy(func, pattern)?;
        let active = self.instead(pattern, &active, false);
        let data = self.program.data.at(residual).clone();
        let residual = self.program.data.push(data);
        let copy = self.program.linears.push(Linear { func, active, residual });
        self.linears.insert(key, copy);
        Some(copy)
    }
}

/// Leaves out the linearizations that no function asks for which is still needed.
fn drop_linears(program: &mut Program) {
    let mut used: FxHashSet<LinearId> = FxHashSet::default();
    let mut reached: FxHashSet<FuncId> = FxHashSet::default();
    let mut todo: Vec<FuncId> = program.entries.values().copied().collect();
    while let Some(id) = todo.pop() {
        if !reached.insert(id) {
            continue;
        }
        let Some(func) = program.funcs.get(id) else { continue };
        todo.extend(callees(&func.body));
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } =
                &stmt.op
                && used.insert(*linear)
            {
                todo.extend(program.linears.get(*linear).map(|linear| linear.func));
            }
        });
    }
    if used.len() == program.linears.len() {
        return;
    }
    let mut numbers: FxHashMap<LinearId, LinearId> = FxHashMap::default();
    let mut kept = Table::default();
    for (id, linear) in program.linears.iter().filter(|(id, _)| used.contains(id)) {
        numbers.insert(id, kept.push(linear.clone()));
    }
    program.linears = kept;
    // What is not reached asks for nothing any more.
    drop_functions(program);
    for (_, func) in program.funcs.iter_mut() {
        renumber(&mut func.body, &numbers);
    }
}

fn renumber(block: &mut Block, numbers: &FxHashMap<LinearId, LinearId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut block.stmts {
            if let Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } =
                &mut stmt.op
                && let Some(number) = numbers.get(linear)
            {
                *linear = *number;
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| renumber(inner, numbers));
        }
    });
}
