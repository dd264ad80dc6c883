//! Mixed derivatives of functions with rules: by what was captured, and by the point.
//!
//! In `y = custom_jvp f rule x` the function and the rule may have captured some `c` that varies. Then `y` varies with `c` as the
//! function does, and with `x` as the rule says. So what is the derivative by `c` varies with `x` as the rule's tangent does with `c`:
//! it is a function with a rule again. Of that rule only tangents are looked at.
//!
//! ```text
//! forward     y' = custom (\x -> ∂f/∂c · c')  (\(x, dx) -> (_, ∂(rule's tangent at x, dx)/∂c · c'))  x
//! reverse     c̄ += custom (\x -> 0)           (\(x, dx) -> (_, the same transposed, at ȳ))           x
//! ```
//!
//! In `∂f/∂c` the point does not vary. That holds for derivatives of such functions, too. All of this is for derivatives of derivatives: programs
//! that ask for none have nothing of it.

mod series;

use crate::linear::{Lin, LinPullback, Ref};
use crate::requests::callees;
use crate::transpose::Variant;
use crate::types::dotted;
use crate::{Ad, Code, Key, record, velocity};
use rustc_hash::FxHashSet;
use wengert_base::Name;
use wengert_ir::op::{Atom, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};

/// What the rule of a mixed derivative is made of.
#[derive(Clone)]
pub(crate) struct Mixed {
    /// The rule, and of what it has captured what varies.
    rule: (Rule, Vec<bool>),
    /// The types of what the rule has captured.
    captured: Vec<Ty>,
    /// The types of the point.
    point: Vec<Ty>,
    /// The types of tangents of the values, of those that have such.
    tangents: Vec<Option<Ty>>,
}

impl Ad {
    /// Finds whether a derivative may be differentiated: code that asks for one is part of what another is asked of. Gives the
    /// functions that are part of such.
    pub(crate) fn find_nesting(&mut self) -> FxHashSet<FuncId> {
        let all: FxHashSet<FuncId> = self.program.funcs.ids().collect();
        let seen = self.part_of_asked(&all);
        let mut inside = self.part_of_asked(&seen);
        self.nests = !inside.is_empty();
        let mut outer = 0;
        while !inside.is_empty() && outer <= velocity::MOST {
            outer += 1;
            inside = self.part_of_asked(&inside);
        }
        self.later_on.outer = if inside.is_empty() { outer } else { 0 };
        self.later_on.in_series = self.part_of_series();
        self.is_inside = self.nests;
        if self.nests { seen } else { FxHashSet::default() }
    }

    /// The functions that are part of those of which series are asked.
    fn part_of_series(&self) -> FxHashSet<FuncId> {
        let mut asked = Vec::new();
        for (_, func) in self.program.funcs.iter() {
            func.body.for_each_stmt(&mut |stmt| {
                if let Op::Taylor { func, .. } = &stmt.op {
                    asked.push(*func);
                }
            });
        }
        self.reachable(asked).into_iter().collect()
    }

    /// The functions that are part of those of which these ask for a derivative: what applies functions that are given as tangents is, too.
    fn part_of_asked(&self, by: &FxHashSet<FuncId>) -> FxHashSet<FuncId> {
        let mut todo: Vec<FuncId> = Vec::new();
        for (_, func) in self.program.funcs.iter().filter(|(id, _)| by.contains(id)) {
            func.body.for_each_stmt(&mut |stmt| todo.extend(self.asked_of(&stmt.op)));
        }
        let mut seen: FxHashSet<FuncId> = todo.iter().copied().collect();
        while let Some(id) = todo.pop() {
            todo.extend(self.at_given.get(&id).copied().filter(|given| seen.insert(*given)));
            self.program.funcs.at(id).body.for_each_stmt(&mut |stmt| {
                todo.extend(callees(&stmt.op).into_iter().filter(|callee| seen.insert(*callee)));
            });
        }
        seen
    }

    /// Makes what is asked for inside of functions that are differentiated, first. What is made after that is not differentiated, unless a
    /// function asks for its own derivative.
    pub(crate) fn expand_inside(&mut self, inside: &FxHashSet<FuncId>) {
        if !self.is_inside {
            return;
        }
        self.later = self.program.funcs.ids().filter(|func| !inside.contains(func)).collect();
        self.expand_entries();
        let later = std::mem::take(&mut self.later);
        self.progress.retain(|func, _| !later.contains(func));
        self.is_inside = !inside.iter().all(|func| self.is_ready(*func));
    }

    /// The function of which an operation asks for a derivative.
    fn asked_of(&self, op: &Op) -> Option<FuncId> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others are no requests")]
        match op {
            Op::Jvp { func, .. } | Op::Taylor { func, .. } => Some(*func),
            Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } => {
                Some(self.program.linears.at(*linear).func)
            }
            _ => None,
        }
    }

    /// A rule as one from tangents to tangents.
    pub(crate) fn tangent_rule(&mut self, rule: Rule) -> FuncId {
        let (rule, apply) = match rule {
            Rule::Jvp(rule) => return rule,
            Rule::Vjp(rule, apply) => (rule, apply),
        };
        if let Some(known) = self.tangent_rules.get(&(rule, apply)) {
            return *known;
        }
        let transposed = self.transposed(apply);
        let func = self.program.funcs.at(rule);
        let (name, params, results, span) = (func.name, func.param_types(), func.results.clone(), func.span);
        let point = self.program.funcs.at(apply).results.clone();
        let mut code = Code::new(self, &format!("tangent_{name}"));
        code.b.set_func_span(span);
        code.b.set_span(span);
        let args = code.field_params("x", &params);
        let tangents = code.field_params("t", &point);
        let mut values = code.b.call(rule, args, &results);
        let back = values.pop().unwrap_or(Atom::Unit);
        let types: Vec<Ty> = values.iter().map(|value| code.b.type_of(value)).collect();
        let given: Vec<Atom> = std::iter::once(back).chain(values.iter().cloned()).chain(tangents).collect();
        let found = code.b.call(transposed, given, &types);
        values.extend(found);
        let mut made = code.finish(values);
        made.results = types.iter().chain(&types).copied().collect();
        let id = self.program.funcs.push(made);
        self.tangent_rules.insert((rule, apply), id);
        id
    }
}

impl Ad {
    /// Whether a rule that was made is linear in these tangents: as the rule is that it was made of. A transpose always is.
    pub(crate) fn is_mixed_linear(&mut self, (func, active): &Key, tangents: usize) -> Option<bool> {
        if self.tangent_rules.values().any(|made| made == func) {
            return Some(true);
        }
        let of = *self.mixed_rules.get(func)?;
        let of_params = self.program.funcs.at(of).body.params.len();
        let count = self.program.funcs.at(of).results.len() / 2;
        // Both end with the tangents of the point.
        let skipped = active.len().saturating_sub(of_params);
        let mask: Vec<bool> = active.iter().skip(skipped).copied().collect();
        Some(self.is_linear(&(of, mask), count, tangents.saturating_sub(skipped)))
    }
}

impl Mixed {
    /// What there is to know of a statement; nothing if the derivative by what is captured does not vary with the point.
    fn of(code: &mut Code<'_>, values: &[Atom], parts: &Custom, captured: &[bool]) -> Option<Mixed> {
        if !code.ad.is_inside || !captured.contains(&true) {
            return None;
        }
        let types = |atoms: &[Atom]| atoms.iter().map(|atom| code.b.type_of(atom)).collect();
        let (own, point): (Vec<Ty>, Vec<Ty>) = (types(&parts.rule_captured), types(&parts.point));
        let values: Vec<Ty> = types(values);
        let tangents = values.into_iter().map(|ty| code.ad.tangent(ty)).collect();
        let mixed = Mixed { rule: (parts.rule, captured.to_vec()), captured: own, point, tangents };
        mixed.reach(code.ad).contains(&true).then_some(mixed)
    }

    /// Of which values the rule's tangents vary with what it has captured.
    fn reach(&self, ad: &mut Ad) -> Vec<bool> {
        let (rule, captured) = &self.rule;
        let mut active = captured.clone();
        active.resize(self.captured.len() + self.point.len(), false);
        let reach = match rule {
            Rule::Jvp(rule) => {
                active.resize(active.len() + self.point.len(), false);
                ad.varying_results(*rule, &active).split_off(self.tangents.len())
            }
            Rule::Vjp(rule, _) => {
                let back = ad.varying_results(*rule, &active).last() == Some(&true);
                vec![back; self.tangents.len()]
            }
        };
        reach.into_iter().zip(&self.tangents).map(|(varies, ty)| varies && ty.is_some()).collect()
    }

    /// The rule, from tangents to tangents, with what varies.
    fn key(&self, ad: &mut Ad) -> Key {
        let mut key: Key = (ad.tangent_rule(self.rule.0), self.rule.1.clone());
        key.1.resize(self.captured.len() + 2 * self.point.len(), false);
        key
    }

    /// Those of what the rule has captured that vary.
    fn varying<'a, T>(&'a self, all: &'a [T]) -> impl Iterator<Item = &'a T> {
        all.iter().zip(&self.rule.1).filter(|(_, varies)| **varies).map(|(one, _)| one)
    }
}

impl Code<'_> {
    /// Points that do not vary, where what is made of them may be differentiated.
    pub(crate) fn still(&mut self, point: &[Atom]) -> Vec<Atom> {
        if !self.ad.is_inside || point.is_empty() {
            return point.to_vec();
        }
        let types: Vec<Ty> = point.iter().map(|x| self.b.type_of(x)).collect();
        self.b.typed(&types, Op::StopGradient(point.to_vec()))
    }

    /// Tangents of the values by what was captured, which vary with the point: from those that do not, `found`, and the tangents of
    /// what the rule has captured, of those that vary.
    pub(crate) fn mixed_tangents(
        &mut self,
        values: &[Atom],
        parts: &Custom,
        (captured, tangents): (&[bool], &[Atom]),
        found: Vec<Option<Atom>>,
    ) -> Vec<Option<Atom>> {
        match Mixed::of(self, values, parts, captured) {
            Some(mixed) => self.mixed_at(&mixed, values, parts, tangents, found),
            None => found,
        }
    }

    fn mixed_at(
        &mut self,
        mixed: &Mixed,
        values: &[Atom],
        parts: &Custom,
        tangents: &[Atom],
        mut found: Vec<Option<Atom>>,
    ) -> Vec<Option<Atom>> {
        let reach = mixed.reach(self.ad);
        found.resize(values.len(), None);
        let (mut named, mut still, mut which) = (Vec::new(), Vec::new(), Vec::new());
        for (((value, own), ty), varies) in values.iter().zip(&found).zip(&mixed.tangents).zip(reach) {
            let Some(ty) = ty.filter(|_| own.is_some() || varies) else {
                which.push(false);
                continue;
            };
            which.push(true);
            let name = self.b.name_of(value).unwrap_or("y".into());
            named.push((dotted(name), ty));
            let at = self.b.type_of(value);
            let own = match own {
                Some(own) => own.clone(),
                None => self.zero(Some(value), at),
            };
            still.push(self.whole(value, own, at));
        }
        let types: Vec<Ty> = named.iter().map(|(_, ty)| *ty).collect();
        let func = self.itself(&types, &mixed.point);
        let rule = self.forward_rule(mixed, tangents, &which);
        let rule_captured = parts.rule_captured.iter().chain(tangents).cloned().collect();
        let point = parts.point.clone();
        let op = Custom { func, captured: still, rule: Rule::Jvp(rule), rule_captured, point };
        let mut made = self.b.named(&named, Op::Custom(Box::new(op))).into_iter();
        which.into_iter().map(|there| if there { made.next() } else { None }).collect()
    }

    /// A tangent without parts that are zero and have no shape. On a tape they have no places either, and this is about to vary.
    fn whole(&mut self, point: &Atom, tangent: Atom, ty: Ty) -> Atom {
        let is_data = matches!(ty.elem(), Elem::Data(_));
        if !is_data || !self.ad.exact || !self.ad.is_first_order(ty) {
            return tangent;
        }
        let surface = self.outward(point, Some(tangent.clone()), ty);
        self.inward("jvp".into(), point, &surface, ty).unwrap_or(tangent)
    }

    /// The function that gives the first of its arguments.
    pub(crate) fn itself(&mut self, first: &[Ty], others: &[Ty]) -> FuncId {
        let mut code = Code::new(self.ad, "itself");
        let given = code.field_params("t", first);
        code.field_params("x", others);
        let made = code.finish(given);
        self.ad.program.funcs.push(made)
    }

    /// From what the rule has captured, tangents of that, the point and a tangent of it, to the tangents of the rule's tangents;
    /// these twice, because of the values nothing is needed.
    fn forward_rule(&mut self, mixed: &Mixed, tangents: &[Atom], which: &[bool]) -> FuncId {
        let types: Vec<Ty> = tangents.iter().map(|t| self.b.type_of(t)).collect();
        let span = self.b.span();
        let mut code = Code::new(self.ad, "mixed");
        code.b.set_func_span(span);
        code.b.set_span(span);
        let mut args = code.field_params("c", &mixed.captured);
        let tangents = code.field_params("t", &types);
        args.extend(code.field_params("x", &mixed.point));
        args.extend(code.field_params("dx", &mixed.point));
        let key = mixed.key(code.ad);
        let (values, dots) = code.call_jvp(&key, &args, &tangents);
        let mut results = Vec::new();
        let skipped = mixed.tangents.len();
        for ((value, dot), _) in values.iter().zip(dots).skip(skipped).zip(which).filter(|(_, which)| **which)
        {
            let ty = code.b.type_of(value);
            results.push(match dot {
                Some(dot) => dot,
                None => code.zero(Some(value), ty),
            });
        }
        let made = code.finish(results.iter().chain(&results).cloned().collect());
        self.ad.mixed_rule(made, mixed)
    }

    /// The same as a part of linear code, and what it gives: for each value that varies so, a summand of its tangent.
    pub(crate) fn mixed_part(
        &mut self,
        stmt: &Stmt,
        parts: &Custom,
        captured: &[(bool, Option<Ref>)],
    ) -> Option<(Lin, Vec<Option<Var>>)> {
        let values: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let mask: Vec<bool> = captured.iter().map(|(varies, _)| *varies).collect();
        let map = self.mixed_map(&values, parts, &mask)?;
        let mut outs = Vec::new();
        for (out, varies) in stmt.outs.iter().zip(&map.reach) {
            let (name, ty) = (self.name(*out), self.b.func().ty(*out));
            outs.push(varies.then(|| self.b.fresh(name, ty)));
        }
        let points = parts.rule_captured.iter().zip(captured).filter(|(_, (varies, _))| *varies);
        let lin = LinPullback {
            apply: map.backward,
            forward: Some(map.forward),
            back: map.back,
            points: points.map(|(x, (_, of))| (x.clone(), of.clone())).collect(),
            values: map.values,
            outs: outs.iter().flatten().copied().map(Some).collect(),
        };
        Some((Lin::Pullback(Box::new(lin)), outs))
    }

    /// What is captured and the point as one value, and the functions that take it.
    pub(crate) fn mixed_map(
        &mut self,
        values: &[Atom],
        parts: &Custom,
        captured: &[bool],
    ) -> Option<MixedMap> {
        let mixed = Mixed::of(self, values, parts, captured)?;
        let reach = mixed.reach(self.ad);
        let (data, backward, forward) = self.ad.mixed_functions(&mixed, self.b.span());
        let fields: Vec<Atom> = parts.rule_captured.iter().chain(&parts.point).cloned().collect();
        let back = self.b.called("back").make(data, 0, fields);
        let values = values.iter().zip(&reach).filter(|(_, varies)| **varies);
        let values = values.map(|(value, _)| value.clone()).collect();
        Some(MixedMap { back, backward, forward, values, reach })
    }
}

/// The derivative by what a rule has captured as a linear map.
pub(crate) struct MixedMap {
    /// What the functions need.
    pub(crate) back: Atom,
    /// From that and cotangents of the values to cotangents of what is captured and varies.
    pub(crate) backward: FuncId,
    /// From that, the values and tangents of what is captured to those of the values.
    pub(crate) forward: FuncId,
    /// The values that vary with the point.
    pub(crate) values: Vec<Atom>,
    /// Which of all those are.
    pub(crate) reach: Vec<bool>,
}

impl Ad {
    fn mixed_functions(&mut self, mixed: &Mixed, span: wengert_base::Span) -> (DataId, FuncId, FuncId) {
        if let Some(known) = self.mixed.get(&mixed.rule) {
            return *known;
        }
        let fields: Vec<Ty> = mixed.captured.iter().chain(&mixed.point).copied().collect();
        let (Rule::Jvp(rule) | Rule::Vjp(rule, _)) = mixed.rule.0;
        let name = Name::new(&format!("{}_back", self.program.funcs.at(rule).name));
        let data = Data { name, role: Role::Residual, ctors: vec![Ctor { name, fields }] };
        let data = self.program.data.push(data);
        let reach = mixed.reach(self);
        let tangents = mixed.tangents.iter().zip(&reach).filter(|(_, varies)| **varies);
        let results = tangents.filter_map(|(ty, _)| *ty).collect();
        let varying: Vec<Ty> = mixed.varying(&mixed.captured).copied().collect();
        let bars = varying.iter().filter_map(|ty| self.tangent(*ty)).collect();
        let (backward, forward) = (self.reserve(bars), self.reserve(results));
        let made = (data, backward, forward);
        self.mixed.insert(mixed.rule.clone(), made);
        self.pending.push((mixed.clone(), span));
        made
    }

    /// Makes the functions that were asked for. That takes other functions' derivatives, so it waits until the one is done that asked.
    pub(crate) fn make_mixed(&mut self) {
        while let Some((mixed, span)) = self.pending.pop() {
            let Some((data, backward, forward)) = self.mixed.get(&mixed.rule).copied() else { continue };
            let made = self.mixed_backward(&mixed, data, span);
            *self.program.funcs.at_mut(backward) = made;
            let made = self.mixed_forward(&mixed, data, span);
            *self.program.funcs.at_mut(forward) = made;
        }
    }

    fn mixed_rule(&mut self, made: Func, mixed: &Mixed) -> FuncId {
        let id = self.program.funcs.push(made);
        let of = mixed.key(self).0;
        self.mixed_rules.insert(id, of);
        id
    }

    fn mixed_backward(&mut self, mixed: &Mixed, data: DataId, span: wengert_base::Span) -> Func {
        let reach = mixed.reach(self);
        let mut code = Code::new(self, "mixed_back");
        code.b.set_func_span(span);
        code.b.set_span(span);
        let on = code.b.param("back".into(), Ty::Scalar(Elem::Data(data)));
        let types = mixed.tangents.iter().zip(&reach).filter(|(_, varies)| **varies);
        let types: Vec<Ty> = types.filter_map(|(ty, _)| *ty).collect();
        let weights = code.field_params("w", &types);
        code.b.open();
        let captured = code.field_params("c", &mixed.captured);
        let point = code.field_params("x", &mixed.point);
        let (func, given) = code.no_cotangents(mixed, &captured);
        let rule = Rule::Jvp(code.backward_rule(mixed, &types, &reach));
        let rule_captured = captured.iter().chain(&weights).cloned().collect();
        let results = code.ad.program.funcs.at(func).results.clone();
        let named: Vec<(Name, Ty)> = results.into_iter().map(|ty| ("c_bar".into(), ty)).collect();
        let op = Custom { func, captured: given, rule, rule_captured, point };
        let found = code.b.named(&named, Op::Custom(Box::new(op)));
        let arm = code.b.close(found);
        let results = code.b.named(&named, Op::Match { on, arms: vec![arm] });
        code.finish(results)
    }

    fn mixed_forward(&mut self, mixed: &Mixed, data: DataId, span: wengert_base::Span) -> Func {
        let reach = mixed.reach(self);
        let mut code = Code::new(self, "mixed_forward");
        code.b.set_func_span(span);
        code.b.set_span(span);
        let on = code.b.param("back".into(), Ty::Scalar(Elem::Data(data)));
        let (mut values, mut types) = (Vec::new(), Vec::new());
        let key = mixed.key(code.ad);
        let results = code.ad.program.funcs.at(key.0).results.clone();
        for ((ty, tangent), varies) in results.iter().zip(&mixed.tangents).zip(&reach) {
            // What does not vary is not looked at.
            values.push(if *varies { code.b.param("y".into(), *ty) } else { Atom::Unit });
            types.extend(tangent.filter(|_| *varies));
        }
        let mut tangents = Vec::new();
        for ty in mixed.varying(&mixed.captured) {
            let tangent = code.ad.tangent(*ty).unwrap_or(*ty);
            tangents.push(code.b.param("t".into(), tangent));
        }
        code.b.open();
        let rule_captured = code.field_params("c", &mixed.captured);
        let point = code.field_params("x", &mixed.point);
        // Of the parts, function and rule are not looked at.
        let (func, captured) = (key.0, Vec::new());
        let parts = Custom { func, captured, rule: Rule::Jvp(func), rule_captured, point };
        let found = code.mixed_at(mixed, &values, &parts, &tangents, Vec::new());
        let found: Vec<Atom> = found.into_iter().flatten().collect();
        let arm = code.b.close(found);
        let results = code.b.typed(&types, Op::Match { on, arms: vec![arm] });
        code.finish(results)
    }
}

impl Code<'_> {
    /// A function that gives zero cotangents of what is captured, and what it needs to that end.
    fn no_cotangents(&mut self, mixed: &Mixed, captured: &[Atom]) -> (FuncId, Vec<Atom>) {
        let varying: Vec<Atom> = mixed.varying(captured).cloned().collect();
        let types: Vec<Ty> = varying.iter().map(|c| self.b.type_of(c)).collect();
        let mut code = Code::new(self.ad, "no_cotangents");
        let params = code.field_params("c", &types);
        code.field_params("x", &mixed.point);
        let mut zeros = Vec::new();
        for (param, ty) in params.iter().zip(types) {
            let zero = code.zero(Some(param), ty);
            zeros.push(code.whole(param, zero, ty));
        }
        let made = code.finish(zeros);
        (self.ad.program.funcs.push(made), varying)
    }

    /// From what the rule has captured, cotangents of the values, the point and a tangent of it, to cotangents of what is captured;
    /// these twice.
    fn backward_rule(&mut self, mixed: &Mixed, weights: &[Ty], reach: &[bool]) -> FuncId {
        let span = self.b.span();
        let mut code = Code::new(self.ad, "mixed");
        code.b.set_func_span(span);
        code.b.set_span(span);
        let mut args = code.field_params("c", &mixed.captured);
        let weights = code.field_params("w", weights);
        args.extend(code.field_params("x", &mixed.point));
        args.extend(code.field_params("dx", &mixed.point));
        let key = mixed.key(code.ad);
        let results = code.ad.program.funcs.at(key.0).results.clone();
        let all = results.iter().chain(mixed.captured.iter()).copied().collect::<Vec<Ty>>();
        let exact = code.ad.exact && all.into_iter().all(|ty| code.ad.is_first_order(ty));
        let bars = if exact {
            code.bars_on_tape(&key, &args, &weights, reach)
        } else {
            code.bars_by_parts(&key, &args, &weights, reach)
        };
        let made = code.finish(bars.iter().chain(&bars).cloned().collect());
        self.ad.mixed_rule(made, mixed)
    }

    /// Cotangents of what is captured: the rule is recorded, and its tape runs backward.
    fn bars_on_tape(&mut self, key: &Key, args: &[Atom], weights: &[Atom], reach: &[bool]) -> Vec<Atom> {
        let results = self.ad.program.funcs.at(key.0).results.clone();
        let values = self.b.call(key.0, args.to_vec(), &results);
        let mut given = weights.iter();
        let mut surface = Vec::new();
        let places = reach.iter().map(|_| &false).chain(reach);
        for ((value, ty), weighted) in values.iter().zip(&results).zip(places) {
            let weight = if *weighted { given.next().cloned() } else { None };
            surface.push(self.outward(value, weight, *ty));
        }
        let found = record::transpose(self, key, args, &surface);
        let mut bars = Vec::new();
        for ((arg, found), _) in args.iter().zip(found).zip(&key.1).filter(|(_, varies)| **varies) {
            let ty = self.b.type_of(arg);
            let bar = found.and_then(|found| self.inward("custom_vjp".into(), arg, &found, ty));
            bars.push(match bar {
                Some(bar) => bar,
                None => self.zero(Some(arg), ty),
            });
        }
        bars
    }

    /// The same, with the rule linearized and transposed.
    fn bars_by_parts(&mut self, key: &Key, args: &[Atom], weights: &[Atom], reach: &[bool]) -> Vec<Atom> {
        let varies = self.ad.varying_results(key.0, &key.1);
        let places = reach.iter().map(|_| &false).chain(reach);
        let weighted: Vec<bool> =
            varies.iter().zip(places).filter(|(varies, _)| **varies).map(|(_, place)| *place).collect();
        let live = self.ad.live_params(key, &weighted);
        let mut found = Vec::new();
        if live.contains(&true) {
            let seeded = vec![false; live.len()];
            let variant = Variant { key: key.clone(), weighted, seeded, checkpoint: true };
            let func = self.ad.backward_function(&variant);
            let types = self.ad.program.funcs.at(func).results.clone();
            // Of a rule from cotangents to cotangents only its back says what varies: a tangent may have a weight and not vary.
            let wanted = varies.iter().skip(reach.len()).zip(reach);
            let wanted = wanted.filter(|(_, place)| **place).map(|(varies, _)| *varies);
            let weights = weights.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(weight, _)| weight);
            let given: Vec<Atom> = args.iter().chain(weights).cloned().collect();
            found = self.b.call(func, given, &types);
        }
        let (mut live, mut found) = (live.into_iter(), found.into_iter());
        let mut bars = Vec::new();
        for (arg, _) in args.iter().zip(&key.1).filter(|(_, varies)| **varies) {
            let bar = if live.next() == Some(true) { found.next() } else { None };
            let ty = self.b.type_of(arg);
            bars.push(match bar {
                Some(bar) => bar,
                None => self.zero(Some(arg), ty),
            });
        }
        bars
    }
}
