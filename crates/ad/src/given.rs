//! Derivatives with respect to functions: of what applies function values whose tangents are functions of the user's.
//!
//! A function that applies function values consists of one match on its first parameter. It is additive in that: the tangent of `f x` is
//! the tangent with `f` as it is, and `h x` if `h` is given as the tangent of `f`:
//!
//! ```text
//! jvp_apply(f, x, f', x') = match f' { …, Given(h) { jvp_apply(f, x, x') + apply(h, x) }  Sum(a, b) { … } }
//! ```
//!
//! So is all that is made of it by derivatives, if it is a function of `f` still. Reverse mode takes it apart: into a primal part, and
//! what runs backwards and does not know `f` any more. Where a derivative with respect to functions may be made of that, such a function
//! keeps its arguments instead of a residual, as a checkpoint does, and is run again; that is a function of `f`:
//!
//! ```text
//! again_apply(f, x, w) = let y, tape = primal_apply(f, x) in back_apply(tape, w)
//! jvp_again_apply(f, x, w, f', x', w') = match f' { …, Given(h) { jvp_again_apply(f, x, w, x', w') + again_apply(h, x, w) } … }
//! ```
//!
//! A function that is given as a tangent does not vary where the one in whose place it stands did: parameters of such functions that are
//! tangents of `f` are zero for it, and cotangents of `f` get nothing from it.

#![expect(clippy::wildcard_enum_match_arm, reason = "requests and calls are named, the others are neither")]

use crate::requests::callees;
use crate::transpose::Variant;
use crate::types::ZERO;
use crate::unmade::Reached;
use crate::{Ad, BEYOND, Code, Key, deep};
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Atom, Op, Stmt};
use wengert_ir::program::{Func, FuncId, LinearId, VarInfo};
use wengert_ir::ty::{DataId, Elem, Ty};

/// A function that is additive in its first parameter, a function value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Application {
    /// The parameters that say how the function value varies.
    varying: Vec<usize>,
    /// The results that do, or that are the same for all function values.
    results: Vec<usize>,
    /// The parameters to which results are added.
    seeds: Vec<usize>,
    /// Whether a parameter is the cotangent of a function that it gives. What a function that is given as a tangent gives has a
    /// cotangent of its own.
    of_functions: bool,
}

impl Application {
    /// Whether a result is the same for all function values, or says how they vary.
    pub(crate) fn is_same(&self, result: usize) -> bool {
        self.results.contains(&result)
    }
}

impl Ad {
    /// Finds the functions that apply function values, in reverse mode, where a derivative with respect to functions may be made of that.
    pub(crate) fn find_applications(&mut self) {
        if self.given.is_empty() {
            return;
        }
        let inside = self.maps_in_functions_of_functions();
        let mut asked: Vec<FuncId> =
            inside.into_iter().map(|linear| self.program.linears.at(linear).func).collect();
        loop {
            let mut found = self.reachable(asked.clone());
            found.retain(|id| self.applies(*id).is_some());
            let before = asked.len();
            for id in found {
                self.applications.insert(id, Application::default());
                asked.extend(self.at_given.get(&id).filter(|given| !asked.contains(given)));
            }
            if asked.len() == before {
                return;
            }
        }
    }

    /// The linear maps that may be made where a derivative with respect to functions is asked.
    pub(crate) fn maps_in_functions_of_functions(&self) -> Vec<LinearId> {
        if self.given.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for id in self.reachable(self.with_respect_to_functions()) {
            self.program.funcs.at(id).body.for_each_stmt(&mut |stmt| {
                if let Op::Linearize { linear, .. } = &stmt.op {
                    found.push(*linear);
                }
            });
        }
        found
    }

    /// The functions of which a derivative with respect to functions is asked.
    fn with_respect_to_functions(&self) -> Vec<FuncId> {
        let mut found = Vec::new();
        for (id, func) in self.program.funcs.iter() {
            func.body.for_each_stmt(&mut |stmt| match &stmt.op {
                Op::Jvp { func: of, args, tangents } => {
                    let varying = args.iter().zip(tangents).filter(|(_, tangent)| tangent.is_some());
                    let mut types = varying.map(|(arg, _)| func.type_of(arg));
                    found.extend(types.any(|ty| self.holds_given(ty)).then_some(*of));
                }
                // A rule may give functions as tangents of what it stands for, which its caller goes on with.
                Op::Custom(_) if stmt.outs.iter().any(|out| self.holds_given(func.ty(*out))) => {
                    found.push(id);
                }
                _ => {}
            });
        }
        found
    }

    /// Whether a value is or holds a function whose tangent may be a function of the user's.
    pub(crate) fn holds_given(&self, ty: Ty) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![ty]);
        while let Some(next) = todo.pop() {
            let Elem::Data(data) = next.elem() else { continue };
            if self.given.contains(&data) {
                return true;
            }
            if seen.insert(data) {
                todo.extend(self.program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
            }
        }
        false
    }

    /// Whether tangents of functions are added up that are no tangents at the same function, and there are tangents of such.
    pub(crate) fn makes_tangents_of_sums(&self, reached: &Reached) -> bool {
        let tangent = |data: DataId| self.tangents.get(&data).copied().flatten();
        let count = |data: DataId| self.program.data.at(data).ctors.len();
        let is_made = |data: DataId| (0..count(data)).any(|ctor| reached.is_made(data, ctor));
        self.program.data.ids().filter(|data| self.given.contains(data)).any(|function| {
            let Some(sums) = tangent(function) else { return false };
            let again = tangent(sums).filter(|again| *again != sums);
            again.is_some_and(is_made) && reached.is_made(sums, count(sums).saturating_sub(1))
        })
    }

    /// Whether a function, or one that it calls, has to do with function values whose tangents may be functions of the user's.
    pub(crate) fn meets_given(&self, func: FuncId) -> bool {
        let holds = |id: &FuncId| {
            let vars: Vec<Ty> = self.program.funcs.at(*id).vars.iter().map(|(_, info)| info.ty).collect();
            vars.into_iter().any(|ty| self.holds_given(ty))
        };
        !self.given.is_empty() && self.reachable(vec![func]).iter().any(holds)
    }

    /// These functions, and all that they call or ask derivatives of, in the order of their numbers.
    pub(crate) fn reachable(&self, from: Vec<FuncId>) -> Vec<FuncId> {
        let (mut seen, mut todo) = (from.iter().copied().collect::<FxHashSet<_>>(), from);
        while let Some(next) = todo.pop() {
            self.program.funcs.at(next).body.for_each_stmt(&mut |stmt| {
                let asked = match &stmt.op {
                    Op::Linearize { linear, .. }
                    | Op::Forward { linear, .. }
                    | Op::Backward { linear, .. } => Some(self.program.linears.at(*linear).func),
                    _ => None,
                };
                todo.extend(callees(&stmt.op).into_iter().chain(asked).filter(|func| seen.insert(*func)));
            });
        }
        let mut all: Vec<FuncId> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// The type of the function values that a function applies, if their tangents may be functions of the user's.
    pub(crate) fn applies(&self, func: FuncId) -> Option<DataId> {
        let apart = self.applications.contains_key(&func);
        let func = self.program.funcs.at(func);
        let first = *func.body.params.first()?;
        let Ty::Scalar(Elem::Data(data)) = func.ty(first) else { return None };
        let matches = || match func.body.stmts.as_slice() {
            [Stmt { op: Op::Match { on, .. }, .. }] => on.var() == Some(first),
            _ => false,
        };
        (self.given.contains(&data) && (apart || matches())).then_some(data)
    }

    /// The same, if these function values vary.
    pub(crate) fn applied(&self, key: &Key) -> Option<DataId> {
        if key.1.first() == Some(&true) { self.applies(key.0) } else { None }
    }

    /// Whether reverse mode runs a function again instead of keeping what it needs of it.
    pub(crate) fn is_run_again(&self, func: FuncId) -> bool {
        self.applications.contains_key(&func)
    }

    /// A function that calls this one, if reverse mode is to run it again.
    pub(crate) fn by_call(&mut self, func: FuncId) -> FuncId {
        if !self.is_run_again(func) {
            return func;
        }
        let of = self.program.funcs.at(func);
        let (name, results, span) = (of.name, of.results.clone(), of.span);
        let params: Vec<VarInfo> = of.body.params.iter().map(|var| *of.vars.at(*var)).collect();
        let mut code = Code::new(self, name.as_str());
        code.b.set_func_span(span);
        code.b.set_span(span);
        let args: Vec<Atom> = params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
        let found = code.b.call(func, args, &results);
        let made = code.finish(found);
        self.program.funcs.push(made)
    }

    /// Notes that value and tangents of a function that is additive are additive too.
    pub(crate) fn note_derived(&mut self, id: FuncId) {
        let Some(derived) = self.derived.get(&id).cloned() else { return };
        let (func, active) = &derived.key;
        let Some(of) = self.applications.get(func).cloned() else { return };
        let reach = self.varying_results(*func, active);
        let mut made = of.clone();
        made.varying.extend(derived.tangents_of(&|param| param == 0 || of.varying.contains(&param)));
        made.seeds.extend(derived.tangents_of(&|param| of.seeds.contains(&param)));
        let more = places(&reach, derived.orders, &|result| of.results.contains(&result));
        made.results.extend(more);
        self.applications.insert(id, made);
    }

    /// Notes the same of the transpose that runs it again: its parameters are those of the function, cotangents, and sums so far.
    pub(crate) fn note_again(&mut self, id: FuncId, variant: &Variant) {
        let Variant { key, weighted, seeded, .. } = variant;
        let Some(of) = self.applications.get(&key.0).cloned() else { return };
        let mut made = Application { varying: of.varying.clone(), ..Application::default() };
        let mut next = key.1.len();
        let reach = self.varying_results(key.0, &key.1);
        let varying = reach.iter().enumerate().filter(|(_, active)| **active);
        for ((result, _), _) in varying.zip(weighted).filter(|(_, weighted)| **weighted) {
            if of.results.contains(&result) {
                made.varying.push(next);
            }
            next += 1;
        }
        made.seeds = (next..).zip(seeded.iter().filter(|seeded| **seeded)).map(|(place, _)| place).collect();
        let live = self.live_params(key, weighted);
        let params = key.1.iter().enumerate().filter(|(_, active)| **active);
        let params = params.zip(live).filter(|(_, live)| *live).map(|((param, _), _)| param);
        // The cotangent of a sum so far is that of the result, whatever the function value is.
        let of_function =
            |param: &usize| *param == 0 || of.varying.contains(param) || of.seeds.contains(param);
        made.of_functions = of.of_functions || self.weighs_functions(variant);
        made.results = params.enumerate().filter(|(_, param)| of_function(param)).map(|(i, _)| i).collect();
        self.applications.insert(id, made);
        self.again_of.insert(id, variant.clone());
    }

    /// Whether cotangents that a transpose is given are of functions whose tangents may be functions of the user's.
    fn weighs_functions(&mut self, Variant { key, weighted, .. }: &Variant) -> bool {
        let reach = self.varying_results(key.0, &key.1);
        let types = self.program.funcs.at(key.0).results.clone();
        let varying = types.into_iter().zip(reach).filter(|(_, active)| *active);
        varying.zip(weighted).any(|((ty, _), weighted)| *weighted && self.holds_given(ty))
    }

    /// Value and tangent of a function that applies function values: their tangent may be a function, which is applied as well.
    pub(crate) fn jvp_of_apply(&mut self, key: &Key, data: DataId) -> Func {
        let itself = self.jvp_itself(key, 1, 1);
        let (name, params) = (itself.name, itself.body.params.clone());
        let params: Vec<VarInfo> = params.iter().map(|var| *itself.vars.at(*var)).collect();
        let results = self.jvp_results(key, 1);
        let func = self.program.funcs.at(key.0);
        let count = func.body.params.len();
        let captured = self.program.funcs.push(itself);
        self.derived.insert(captured, Derived::jvp(key));
        self.note_derived(captured);
        let tangent = self.whole_tangent(data).unwrap_or(data);
        let ctors = self.program.data.at(tangent).ctors.clone();
        let mut code = Code::new(self, name.as_str());
        let atoms: Vec<Atom> =
            params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
        let (args, tangents) = atoms.split_at(count);
        let mut rest = key.clone();
        if let Some(first) = rest.1.first_mut() {
            *first = false;
        }
        let on = tangents.first().cloned().unwrap_or(Atom::Unit);
        let mut arms = Vec::new();
        for (i, ctor) in ctors.iter().enumerate() {
            code.b.open();
            let fields = code.field_params("t", &ctor.fields);
            let rest_tangents = tangents.get(1..).unwrap_or_default();
            let given = match (i + 2).checked_sub(ctors.len()) {
                Some(0) if code.ad.is_recording(key.0) => {
                    code.recorded_given(key, &fields, args, rest_tangents)
                }
                Some(1) if code.ad.is_recording(key.0) => code.recorded_sum(key),
                Some(0) => code.apply_given(key, &rest, &fields, args, rest_tangents),
                Some(1) => code.apply_sum(key, &rest, &fields, args, rest_tangents),
                _ => code.b.call(captured, atoms.clone(), &results),
            };
            arms.push(code.b.close(given));
        }
        let found = code.b.typed(&results, Op::Match { on, arms });
        code.finish(found)
    }

    /// How a function is additive in the function values that it applies, if it is: as written by the user, or a derivative that is a
    /// function of them still.
    pub(crate) fn application(&self, func: FuncId) -> Option<Application> {
        if let Some(known) = self.applications.get(&func) {
            return Some(known.clone());
        }
        let varying = self.tangents_of_first(func);
        let is_application = match self.derived.get(&func) {
            Some(derived) => self.application(derived.key.0).is_some(),
            None => self.sources.contains(&func),
        };
        is_application.then_some(Application { varying, ..Application::default() })
    }

    /// The same function for the function values that are given as tangents, ready to be differentiated.
    fn applying_given(&mut self, func: FuncId) -> Option<FuncId> {
        if let Some(copy) = self.at_given.get(&func) {
            return Some(*copy);
        }
        if let Some(variant) = self.again_of.get(&func).cloned() {
            let copy = self.ready_at_given(variant.key.0)?;
            let key = (copy, variant.key.1.clone());
            if !self.varies_alike(&key, &variant.key)
                || self.live_params(&key, &variant.weighted)
                    != self.live_params(&variant.key, &variant.weighted)
            {
                return None;
            }
            return Some(if copy == variant.key.0 {
                func
            } else {
                self.backward_function(&Variant { key, ..variant })
            });
        }
        let Some(derived) = self.derived.get(&func).cloned() else { return Some(func) };
        let of = derived.key.0;
        let copy = self.ready_at_given(of)?;
        let key = (copy, derived.key.1.clone());
        if copy == of {
            return Some(func);
        }
        self.varies_alike(&key, &derived.key).then(|| self.made_of(Derived { key, ..derived }))
    }

    /// The function with such tangents.
    fn made_of(&mut self, derived: Derived) -> FuncId {
        let Derived { key, given, orders, is_long } = derived;
        if is_long {
            self.with_series(false, |ad| ad.long_function(&key))
        } else {
            self.with_long(false, |ad| ad.series_function(&key, given, orders))
        }
    }

    /// Whether the same results of two functions vary.
    fn varies_alike(&mut self, (a, active): &Key, (b, other): &Key) -> bool {
        self.varying_results(*a, active) == self.varying_results(*b, other)
    }

    /// The same, if it asks for no derivatives or they can be made.
    pub(crate) fn ready_at_given(&mut self, func: FuncId) -> Option<FuncId> {
        let copy = self.applying_given(func)?;
        if !self.is_ready(copy) {
            deep(|| self.expand(copy));
        }
        self.is_ready(copy).then_some(copy)
    }

    /// The parameters of a function that are tangents of its first one.
    fn tangents_of_first(&self, func: FuncId) -> Vec<usize> {
        let Some(derived) = self.derived.get(&func) else { return Vec::new() };
        let mut places = self.tangents_of_first(derived.key.0);
        let more = derived.tangents_of(&|param| param == 0 || places.contains(&param));
        places.extend(more);
        places
    }
}

/// What a function with tangents is made of.
#[derive(Clone, Debug)]
pub(crate) struct Derived {
    pub(crate) key: Key,
    /// Up to which order there are tangents of arguments.
    pub(crate) given: usize,
    /// The same of results.
    pub(crate) orders: usize,
    /// Whether they are long series.
    pub(crate) is_long: bool,
}

impl Derived {
    /// Of value and tangent.
    pub(crate) fn jvp(key: &Key) -> Derived {
        Derived { key: key.clone(), given: 1, orders: 1, is_long: false }
    }

    /// The parameters that are tangents of such parameters.
    fn tangents_of(&self, such: &dyn Fn(usize) -> bool) -> Vec<usize> {
        places(&self.key.1, self.given, such)
    }
}

/// The places of tangents, of each order, of such parameters or results: they stand after all of these.
fn places(varies: &[bool], orders: usize, such: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let varying: Vec<usize> =
        varies.iter().enumerate().filter(|(_, varies)| **varies).map(|(i, _)| i).collect();
    let each = varying.len();
    let all = varying.iter().copied().cycle().take(each * orders).enumerate();
    all.filter(|(_, of)| such(*of)).map(|(place, _)| varies.len() + place).collect()
}

impl Code<'_> {
    /// A function value whose tangent is a function: that is applied too, at arguments that do not vary.
    fn apply_given(
        &mut self,
        key: &Key,
        rest: &Key,
        fields: &[Atom],
        args: &[Atom],
        tangents: &[Atom],
    ) -> Vec<Atom> {
        let values = self.ad.program.funcs.at(key.0).results.clone();
        let (found, dots) = self.call_jvp(rest, args, tangents);
        let mut other: Vec<Atom> = fields.iter().chain(args.iter().skip(1)).cloned().collect();
        let application = self.ad.application(key.0);
        let additive = application.as_ref().filter(|application| !application.of_functions);
        // What is made here may be differentiated: then nothing is left to be asked for.
        let there =
            additive.and_then(|_| self.ad.ready_at_given(key.0).or_else(|| self.ad.applying_given(key.0)));
        let (Some(application), Some(there)) = (application, there) else {
            let types = self.ad.jvp_results(key, 1);
            return self.fail(&types, BEYOND);
        };
        self.without_tangents(&application, &mut other);
        let Application { results, .. } = application;
        let surface = self.b.call(there, other, &values);
        let mut all = found.clone();
        for (place, (((value, t), dot), ty)) in found.iter().zip(surface).zip(dots).zip(&values).enumerate() {
            let t = if results.contains(&place) && self.ad.tangent(*ty).is_some() {
                dot.is_none().then(|| self.zero(Some(value), *ty))
            } else {
                self.inward("jvp".into(), value, &t, *ty)
            };
            all.extend(self.sum_if_any(dot, t));
        }
        all
    }

    /// Puts zeros in place of the arguments that say how the function value varies, and of sums so far.
    pub(crate) fn without_tangents(&mut self, application: &Application, args: &mut [Atom]) {
        for place in application.varying.iter().chain(&application.seeds) {
            if let Some(arg) = args.get_mut(*place) {
                *arg = self.nothing(arg);
            }
        }
    }

    /// The zero in the place of a tangent or cotangent.
    fn nothing(&mut self, tangent: &Atom) -> Atom {
        match self.b.type_of(tangent) {
            Ty::Scalar(Elem::Data(data)) => self.b.make(data, ZERO, []),
            Ty::Scalar(_) => Atom::Real(0.0),
            Ty::Array(Elem::Real, _) => self.b.called("zeros").array(ArrayOp::Zeros, [tangent.clone()]),
            Ty::Array(elem, rank) => {
                let len = self.length(tangent);
                let ty = Ty::of_rank(elem, rank);
                let mut body = self.open_rows(&[("row", ty.at(1).unwrap_or(Ty::REAL))]);
                let row = body.pop().unwrap_or(Atom::Unit);
                let none = self.nothing(&row);
                let body = self.b.close(vec![none]);
                self.each(len, vec![tangent.clone()], Vec::new(), body, &[("zeros".into(), ty)]).remove(0)
            }
        }
    }

    /// A function value whose tangent is a sum: the second part counts at arguments that do not vary.
    fn apply_sum(
        &mut self,
        key: &Key,
        rest: &Key,
        fields: &[Atom],
        args: &[Atom],
        tangents: &[Atom],
    ) -> Vec<Atom> {
        let only: Key = (rest.0, (0..rest.1.len()).map(|i| i == 0).collect());
        let first: Vec<Atom> = fields.iter().take(1).chain(tangents).cloned().collect();
        let (mut all, dots) = self.call_jvp(key, args, &first);
        let (_, more) = self.call_jvp(&only, args, fields.get(1..).unwrap_or_default());
        for (dot, more) in dots.into_iter().zip(more) {
            all.extend(self.sum_if_any(dot, more));
        }
        all
    }

    fn sum_if_any(&mut self, a: Option<Atom>, b: Option<Atom>) -> Option<Atom> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.sum(a, b)),
            (a, b) => a.or(b),
        }
    }
}
