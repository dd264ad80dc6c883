//! Derivative requests become calls.
//!
//! ```text
//! y, t = jvp f (x, x')                y, t = jvp_f(x, x')
//! y, r = linearize map (x, k)         y, a, c = primal_f(x, k);  r = F_map(a, c, x)
//! g = backward map r (w)              g = match r { F_map(a, c, x) { back_f(a, c, w) } }
//! ```
//!
//! A function is gone through after the functions that it asks to be differentiated, and all that they call: so what is
//! differentiated never asks for derivatives itself. At the end what derivatives looked at, and nothing else does, goes:
//! custom rules become plain calls, and what was to be constant is so.

#![expect(clippy::wildcard_enum_match_arm, reason = "requests are named, the others are no requests")]

use crate::linearize::Linearized;
use crate::record;
use crate::transpose::Variant;
use crate::{Ad, BEYOND, Code, Key, deep, tidy};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir::op::{Atom, Block, Custom, Op, Rule, Stmt};
use wengert_ir::program::{Func, FuncId, LinearId};
use wengert_ir::ty::{Ctor, Ty};

/// How many statements a program has.
pub(crate) fn size_of(program: &wengert_ir::Program) -> usize {
    program.funcs.iter().map(|(_, func)| func.body.size()).sum()
}

/// How far the expansion of a function's requests is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Functions that it needs are being expanded.
    Begun,
    /// It has no requests any more.
    Done,
}

/// No more derivatives are made when there are so many functions, or statements in those that were made.
const MOST: usize = 40_000;
/// See [`MOST`].
const MOST_STATEMENTS: usize = 160_000;
/// Nor when there are so many statements, and so many times as many as in the program: code that grows with the order of derivatives so that making it
/// takes longer than anybody wants to wait.
const GROWN: usize = 40_000;
/// See [`GROWN`].
const GROWTH: usize = 500;

/// What a first-class linear map is made of.
pub(crate) struct Wrapped {
    key: Key,
    linearized: Rc<Linearized>,
    /// The types of the residual's fields: the residual, then points of the arguments, then of the results.
    fields: Vec<Ty>,
    /// For each parameter that varies its type, and where its point stands among the fields, if it is needed.
    params: Vec<(Ty, Option<usize>)>,
    /// The same for each result.
    results: Vec<(Ty, Option<usize>)>,
}

/// The functions that an operation without requests may call.
pub(crate) fn callees(op: &Op) -> Vec<FuncId> {
    match op {
        Op::Call { func, .. } | Op::Jvp { func, .. } | Op::Taylor { func, .. } => vec![*func],
        Op::Custom(parts) => match parts.rule {
            Rule::Jvp(rule) => vec![parts.func, rule],
            Rule::Vjp(rule, apply) => vec![parts.func, rule, apply],
        },
        _ => Vec::new(),
    }
}

pub(crate) fn is_request(op: &Op) -> bool {
    matches!(
        op,
        Op::Jvp { .. } | Op::Linearize { .. } | Op::Forward { .. } | Op::Backward { .. } | Op::Taylor { .. }
    )
}

/// Whether it stands for a derivative that is not made.
pub(crate) fn is_beyond(op: &Op) -> bool {
    matches!(op, Op::Fail { message: Atom::Text(text) } if **text == *BEYOND)
}

/// Whether every run of a function comes to a derivative that is not made, as far as is seen without looking into branches and loops.
pub(crate) fn ends_beyond(program: &wengert_ir::Program, func: FuncId) -> bool {
    let (mut seen, mut todo) = (FxHashSet::from_iter([func]), vec![func]);
    while let Some(next) = todo.pop() {
        for stmt in &program.funcs.at(next).body.stmts {
            if is_beyond(&stmt.op) {
                return true;
            }
            if let Op::Call { func, .. } = stmt.op {
                todo.extend(seen.insert(func).then_some(func));
            }
        }
    }
    false
}

impl Ad {
    /// Whether derivatives that the program asks for are not made.
    pub(crate) fn has_beyond(&self) -> bool {
        self.program.entries.values().any(|entry| self.reaches(*entry, &is_beyond))
    }

    /// Expands all requests of the program.
    pub(crate) fn expand_requests(&mut self) {
        self.expand_entries();
        // What is made calls functions too, copies of others among them, that ask for derivatives.
        let mut tried = FxHashSet::default();
        while let Some(id) = self.asking().filter(|id| tried.insert(*id)) {
            self.progress.remove(&id);
            self.expand(id);
        }
        self.make_mixed();
        self.drop_requests();
        for id in self.program.funcs.ids() {
            let mut func = self.program.funcs.at(id).clone();
            let mut changed = false;
            finish_block(&mut func.body, &mut changed);
            if changed {
                *self.program.funcs.at_mut(id) = tidy::tidy(func, &self.program);
            }
        }
        self.program.linears = wengert_ir::ty::Table::default();
    }

    pub(crate) fn expand_entries(&mut self) {
        for id in self.program.entries.values().copied().collect::<Vec<_>>() {
            self.expand(id);
        }
    }

    pub(crate) fn expand(&mut self, id: FuncId) {
        if self.progress.contains_key(&id) {
            return;
        }
        wengert_ir::stop::check();
        self.progress.insert(id, Progress::Begun);
        let func = self.program.funcs.at(id).clone();
        let mut needed = Vec::new();
        let mut requests = false;
        func.body.for_each_stmt(&mut |stmt| {
            requests |= is_request(&stmt.op);
            needed.extend(callees(&stmt.op));
            if let Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } =
                &stmt.op
            {
                needed.push(self.program.linears.at(*linear).func);
            }
        });
        deep(|| needed.into_iter().for_each(|func| self.expand(func)));
        if requests && !self.later.contains(&id) {
            let mut code = Code::like(self, &func, func.name.as_str());
            let results = code.replaced(&func.body, &mut |code, stmt| {
                is_request(&stmt.op).then(|| request(code, &stmt.op))
            });
            let made = code.finish(results);
            *self.program.funcs.at_mut(id) = made;
        }
        self.progress.insert(id, Progress::Done);
    }

    /// Whether so much was made that no more is.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full_at(1)
    }

    /// The same of a part, one of so many, of the most that is made.
    pub(crate) fn is_full_at(&self, part: usize) -> bool {
        let written = self.written.saturating_mul(part);
        self.program.funcs.len() > MOST / part
            || written > MOST_STATEMENTS
            || (written > GROWN && written / GROWTH > self.given_size)
    }

    /// A function that can be reached and still asks for a derivative.
    fn asking(&self) -> Option<FuncId> {
        let mut todo: Vec<FuncId> = self.program.entries.values().copied().collect();
        let mut seen: FxHashSet<FuncId> = todo.iter().copied().collect();
        while let Some(id) = todo.pop() {
            let mut asks = false;
            self.program.funcs.at(id).body.for_each_stmt(&mut |stmt| {
                asks |= is_request(&stmt.op);
                todo.extend(callees(&stmt.op).into_iter().filter(|callee| seen.insert(*callee)));
            });
            if asks {
                return Some(id);
            }
        }
        None
    }

    /// Functions that nobody calls any more ask for nothing.
    fn drop_requests(&mut self) {
        for id in self.program.funcs.ids() {
            let mut asks = false;
            self.program.funcs.at(id).body.for_each_stmt(&mut |stmt| asks |= is_request(&stmt.op));
            if asks {
                let mut func = self.program.funcs.at(id).clone();
                func.body.stmts.clear();
                let (results, name) = (func.results.clone(), func.name);
                let mut code = Code::like(self, &func, name.as_str());
                let none = code.fail(&results, "a function that nobody calls");
                *self.program.funcs.at_mut(id) = code.finish(none);
            }
        }
    }

    /// Whether a function, and all that it calls, is without requests.
    pub(crate) fn is_ready(&self, func: FuncId) -> bool {
        !self.reaches(func, &is_request)
    }

    /// Whether a function, or what it calls, has such an operation.
    pub(crate) fn reaches(&self, func: FuncId, such: &dyn Fn(&Op) -> bool) -> bool {
        !self.all_called(func, &mut |_, stmt| !such(&stmt.op))
    }

    /// Whether something holds of all statements of a function and of those that it calls, each of which is looked at once, as long as it
    /// holds.
    pub(crate) fn all_called(&self, func: FuncId, holds: &mut dyn FnMut(&Func, &Stmt) -> bool) -> bool {
        let (mut seen, mut todo) = (FxHashSet::from_iter([func]), vec![func]);
        while let Some(func) = todo.pop().map(|id| self.program.funcs.at(id)) {
            let all = func.body.all_stmts(&mut |stmt| {
                todo.extend(callees(&stmt.op).into_iter().filter(|callee| seen.insert(*callee)));
                holds(func, stmt)
            });
            if !all {
                return false;
            }
        }
        true
    }

    /// Makes the type of the residual of a linear map, unless it is being made: what it holds may hold such residuals in turn.
    pub(crate) fn make_residual(&mut self, id: LinearId) {
        if self.under_way.contains(&self.program.linears.at(id).residual) {
            return;
        }
        if self.is_recorded(id) {
            self.recording(id);
        } else {
            self.wrapped(id);
        }
    }

    pub(crate) fn wrapped(&mut self, id: LinearId) -> Rc<Wrapped> {
        if let Some(known) = self.wrapped.get(&id) {
            return Rc::clone(known);
        }
        let linear = self.program.linears.at(id).clone();
        self.under_way.insert(linear.residual);
        let types = self.program.funcs.at(linear.func).param_types();
        let varies: Vec<bool> = types
            .iter()
            .zip(&linear.active)
            .map(|(ty, active)| *active && self.tangent(*ty).is_some())
            .collect();
        let func = self.by_call(linear.func);
        let key: Key = self.with_marks((func, varies));
        let linearized = self.linearize(&key);
        let mut fields = linearized.residual_types();
        let mut point = |ty: Ty, known: Option<usize>| {
            if ty == Ty::REAL {
                return (ty, None);
            }
            let place = known.unwrap_or_else(|| {
                fields.push(ty);
                fields.len() - 1
            });
            (ty, Some(place))
        };
        let mut params = Vec::new();
        for ((var, ty), active) in linearized.func.body.params.iter().zip(&types).zip(&linear.active) {
            if *active {
                let known = linearized.residual.iter().position(|kept| kept == var);
                params.push(point(*ty, known.filter(|_| linearized.tape.is_none())));
            }
        }
        let results = linearized.func.results.iter().map(|ty| point(*ty, None)).collect();
        let name = self.program.data.at(linear.residual).name;
        self.program.data.at_mut(linear.residual).ctors = vec![Ctor { name, fields: fields.clone() }];
        self.under_way.remove(&linear.residual);
        let wrapped = Rc::new(Wrapped { key, linearized, fields, params, results });
        self.wrapped.insert(id, Rc::clone(&wrapped));
        wrapped
    }
}

/// The results of a request.
fn request(code: &mut Code<'_>, op: &Op) -> Vec<Atom> {
    let func = match op {
        Op::Jvp { func, .. } | Op::Taylor { func, .. } => *func,
        Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } => {
            code.ad.program.linears.at(*linear).func
        }
        _ => return Vec::new(),
    };
    if code.ad.is_full() {
        let types = wengert_ir::types_of(&code.ad.program, &code.b.func().vars, op).unwrap_or_default();
        return code.fail(&types, BEYOND);
    }
    if let (Op::Jvp { args, tangents, .. }, false) = (op, code.ad.is_ready(func)) {
        let copy = code.ad.at_levels(func);
        if code.ad.is_ready(copy) {
            let made = jvp(code, copy, args, tangents);
            code.ad.make_mixed();
            return made;
        }
    }
    if let (Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. }, false) =
        (op, code.ad.is_ready(func))
    {
        let copy = code.ad.at_levels(func);
        if code.ad.is_ready(copy) {
            code.ad.program.linears.at_mut(*linear).func = copy;
            return request(code, op);
        }
    }
    if !code.ad.is_ready(func) {
        let types = wengert_ir::types_of(&code.ad.program, &code.b.func().vars, op).unwrap_or_default();
        return code.fail(&types, BEYOND);
    }
    let made = expanded(code, op);
    code.ad.make_mixed();
    made
}

fn expanded(code: &mut Code<'_>, op: &Op) -> Vec<Atom> {
    match op {
        Op::Jvp { func, args, tangents } => jvp(code, *func, args, tangents),
        Op::Linearize { linear, args } if code.ad.is_recorded(*linear) => {
            record::linearize(code, *linear, args)
        }
        Op::Backward { linear, residual, cotangents } if code.ad.is_recorded(*linear) => {
            record::backward(code, *linear, residual, cotangents)
        }
        Op::Linearize { linear, args } => linearize(code, *linear, args),
        Op::Forward { linear, residual, tangents } => forward(code, *linear, residual, tangents),
        Op::Backward { linear, residual, cotangents } => backward(code, *linear, residual, cotangents),
        Op::Taylor { func, captured, order, at } => {
            vec![crate::taylor::taylor(code, *func, captured, order, at)]
        }
        _ => Vec::new(),
    }
}

fn jvp(code: &mut Code<'_>, func: FuncId, args: &[Atom], tangents: &[Option<Atom>]) -> Vec<Atom> {
    let types = code.ad.program.funcs.at(func).param_types();
    let (mut active, mut given) = (Vec::new(), Vec::new());
    for ((arg, tangent), ty) in args.iter().zip(tangents).zip(&types) {
        let inner = tangent.as_ref().and_then(|t| {
            // For a closure the tangent itself may be given.
            let is_tangent = code.b.type_of(t) != *ty;
            if is_tangent { Some(t.clone()) } else { code.inward("jvp".into(), arg, t, *ty) }
        });
        active.push(inner.is_some());
        given.extend(inner);
    }
    let key: Key = (func, active);
    let (jvp, reach) = if key.1.contains(&true) {
        (code.ad.jvp_function(&key), code.ad.varying_results(func, &key.1))
    } else {
        (func, vec![false; code.ad.program.funcs.at(func).results.len()])
    };
    let named = names_of(code, func);
    let results: Vec<Ty> = code.ad.program.funcs.at(func).results.clone();
    let mut outs = named.clone();
    for ((name, ty), active) in named.iter().zip(&reach) {
        if *active {
            outs.push((crate::types::dotted(*name), code.ad.tangent(*ty).unwrap_or(*ty)));
        }
    }
    let args = args.iter().cloned().chain(given).collect();
    let mut values = code.b.named(&outs, Op::Call { func: jvp, args, checkpoint: false });
    let mut found = values.split_off(results.len()).into_iter();
    let mut surface = Vec::new();
    for ((value, ty), active) in values.iter().zip(&results).zip(reach) {
        let tangent = if active { found.next() } else { None };
        surface.push(code.outward(value, tangent, *ty));
    }
    values.into_iter().chain(surface).collect()
}

/// Names and types of the results of a function.
fn names_of(code: &Code<'_>, func: FuncId) -> Vec<(Name, Ty)> {
    let func: &Func = code.ad.program.funcs.at(func);
    let named = func.body.results.iter().zip(&func.results);
    named.map(|(atom, ty)| (atom.var().map_or("result".into(), |var| func.vars.at(var).name), *ty)).collect()
}

fn linearize(code: &mut Code<'_>, linear: LinearId, args: &[Atom]) -> Vec<Atom> {
    let wrapped = code.ad.wrapped(linear);
    let (values, residual) = wrapped.linearized.call(code, args);
    let mut fields = residual;
    let data = code.ad.program.linears.at(linear).residual;
    let active = code.ad.program.linears.at(linear).active.clone();
    let points = args.iter().zip(&active).filter(|(_, active)| **active).map(|(arg, _)| arg);
    for (point, (_, place)) in points.chain(&values).zip(wrapped.params.iter().chain(&wrapped.results)) {
        if *place == Some(fields.len()) {
            fields.push(point.clone());
        }
    }
    let residual = code.b.called("residual").make(data, 0, fields);
    values.into_iter().chain([residual]).collect()
}

/// Opens a residual: its fields.
fn open(code: &mut Code<'_>, wrapped: &Wrapped) -> Vec<Atom> {
    code.b.open();
    let kept: Vec<Name> =
        wrapped.linearized.residual.iter().map(|var| wrapped.linearized.vars.at(*var).name).collect();
    let name = |i: usize| match (wrapped.linearized.tape, kept.get(i)) {
        (None, Some(name)) => *name,
        (Some(_), _) if i == 0 => "tape".into(),
        (_, _) => "point".into(),
    };
    wrapped.fields.iter().enumerate().map(|(i, ty)| code.b.param(name(i), *ty)).collect()
}

/// Closes what `open` opened.
fn close(code: &mut Code<'_>, residual: &Atom, results: Vec<Atom>) -> Vec<Atom> {
    let named: Vec<(Name, Ty)> = results
        .iter()
        .map(|atom| (code.b.name_of(atom).unwrap_or("result".into()), code.b.type_of(atom)))
        .collect();
    let arm = code.b.close(results);
    code.b.named(&named, Op::Match { on: residual.clone(), arms: vec![arm] })
}

/// The point at this place among the fields; a real needs none.
fn point(fields: &[Atom], place: Option<usize>) -> Atom {
    place.and_then(|i| fields.get(i)).cloned().unwrap_or(Atom::Real(0.0))
}

fn forward(code: &mut Code<'_>, linear: LinearId, residual: &Atom, tangents: &[Atom]) -> Vec<Atom> {
    let wrapped = code.ad.wrapped(linear);
    let fields = open(code, &wrapped);
    let mut args: Vec<Atom> =
        fields.iter().take(wrapped.linearized.residual_types().len()).cloned().collect();
    for ((ty, place), t) in wrapped.params.iter().zip(tangents) {
        let point = point(&fields, *place);
        args.extend(code.inward("linearize".into(), &point, t, *ty));
    }
    let mut found = Vec::new();
    if wrapped.key.1.contains(&true) {
        let func = code.ad.forward_function(&wrapped.key, false);
        let types = code.ad.program.funcs.at(func).results.clone();
        found = code.b.call(func, args, &types);
    }
    let mut found = found.into_iter();
    let mut results = Vec::new();
    for ((ty, place), active) in wrapped.results.iter().zip(&wrapped.linearized.results) {
        let point = point(&fields, *place);
        let tangent = if *active { found.next() } else { None };
        results.push(code.outward(&point, tangent, *ty));
    }
    close(code, residual, results)
}

fn backward(code: &mut Code<'_>, linear: LinearId, residual: &Atom, cotangents: &[Atom]) -> Vec<Atom> {
    let wrapped = code.ad.wrapped(linear);
    let fields = open(code, &wrapped);
    let mut args: Vec<Atom> =
        fields.iter().take(wrapped.linearized.residual_types().len()).cloned().collect();
    for (((ty, place), active), t) in wrapped.results.iter().zip(&wrapped.linearized.results).zip(cotangents)
    {
        let point = point(&fields, *place);
        let inner = code.inward("vjp".into(), &point, t, *ty);
        args.extend(inner.filter(|_| *active));
    }
    let varying = wrapped.key.1.iter().filter(|active| **active).count();
    let weighted = vec![true; wrapped.linearized.results.iter().filter(|active| **active).count()];
    let (mut live, mut found) = (vec![false; varying], Vec::new());
    if !weighted.is_empty() {
        live = code.ad.live_params(&wrapped.key, &weighted);
        let seeded = vec![false; varying];
        let variant = Variant { key: wrapped.key.clone(), weighted, seeded, checkpoint: false };
        let func = code.ad.backward_function(&variant);
        let types = code.ad.program.funcs.at(func).results.clone();
        found = code.b.call(func, args, &types);
    }
    let (mut live, mut found) = (live.into_iter(), found.into_iter());
    let mut results = Vec::new();
    for (ty, place) in &wrapped.params {
        let point = point(&fields, *place);
        let varies = code.ad.tangent(*ty).is_some();
        let cotangent = if varies && live.next() == Some(true) { found.next() } else { None };
        results.push(code.outward(&point, cotangent, *ty));
    }
    close(code, residual, results)
}

/// Takes away what only derivatives look at.
fn finish_block(block: &mut Block, changed: &mut bool) {
    deep(|| {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| finish_block(inner, changed));
            match stmt.op {
                Op::StopGradient(args) => {
                    *changed = true;
                    for (out, arg) in stmt.outs.into_iter().zip(args) {
                        stmts.push(Stmt { outs: vec![out], op: Op::Copy(arg), span: stmt.span });
                    }
                }
                Op::Custom(parts) => {
                    *changed = true;
                    let Custom { func, captured, point, .. } = *parts;
                    let args = captured.into_iter().chain(point).collect();
                    stmts.push(Stmt { op: Op::Call { func, args, checkpoint: false }, ..stmt });
                }
                op => stmts.push(Stmt { op, ..stmt }),
            }
        }
        block.stmts = stmts;
    });
}
