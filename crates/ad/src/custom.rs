//! Functions with rules of their own.
//!
//! The value is always that of the function. The rule says what the *argument* contributes to the tangent; what the
//! function has captured contributes by the function's own derivative, and both are added.
//!
//! ```text
//! custom_jvp f rule x       forward: y' = tangent of rule(x, x')            reverse: the rule is linear in x'; its linear part
//! custom_vjp f rule x       reverse: x̄ += back ȳ, where y, back = rule x   forward: back is linear; its transpose
//! ```
//!
//! A linear function is its own linear part: to transpose one, it is linearized at zero.

use crate::arrays::Scope;
use crate::linear::{Arg, Lin, LinCall, LinPullback, Ref};
use crate::{Ad, Code, Key, deep};
use wengert_base::Name;
use wengert_ir::op::{Atom, Block, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Elem, Role, Ty};

impl Scope<'_> {
    /// Appends a function with a rule to the primal part, with what its derivative needs, and gives its linear part.
    pub(crate) fn custom(&mut self, code: &mut Code<'_>, stmt: &Stmt, parts: &Custom) -> Vec<Lin> {
        if let Some(delay) = code.ad.delay(parts) {
            let counts = code.passed(stmt, parts, delay);
            let both = stmt.outs.iter().zip(&parts.point).filter(|(out, _)| self.active.contains(out));
            return both
                .map(|(out, x)| Lin::Sum {
                    out: *out,
                    parts: self.of(x).filter(|_| counts).into_iter().collect(),
                })
                .collect();
        }
        code.b.push(stmt.clone());
        let Custom { captured, point, rule_captured, .. } = parts;
        let mut lins = Vec::new();
        let mut summands: Vec<Vec<Option<Var>>> = Vec::new();
        if self.mask(captured).contains(&true) {
            let (lin, outs) = self.by_captured(code, stmt, parts);
            lins.push(lin);
            summands.push(outs);
        }
        let mask = self.mask(rule_captured);
        let given: Vec<(bool, Option<Ref>)> =
            mask.into_iter().zip(rule_captured).map(|(varies, x)| (varies, self.of(x))).collect();
        if let Some((lin, outs)) = code.mixed_part(stmt, parts, &given) {
            lins.push(lin);
            summands.push(outs);
        }
        if self.mask(point).contains(&true) {
            let (lin, outs) = self.by_point(code, stmt, parts);
            lins.push(lin);
            summands.push(outs);
        }
        self.summed(stmt, &summands, &mut lins);
        lins
    }

    /// The linear part alone, as if what is captured did not vary.
    pub(crate) fn custom_point(&mut self, code: &mut Code<'_>, stmt: &Stmt, parts: &Custom) -> Vec<Lin> {
        let (lin, outs) = self.by_point(code, stmt, parts);
        let mut lins = vec![lin];
        self.summed(stmt, &[outs], &mut lins);
        lins
    }

    fn by_point(&mut self, code: &mut Code<'_>, stmt: &Stmt, parts: &Custom) -> (Lin, Vec<Option<Var>>) {
        let Custom { rule, rule_captured, point, .. } = parts;
        match rule {
            Rule::Jvp(rule) => self.by_tangents(code, stmt, *rule, rule_captured, point),
            Rule::Vjp(rule, apply) => self.by_cotangents(code, stmt, (*rule, *apply), rule_captured, point),
        }
    }

    fn by_captured(&mut self, code: &mut Code<'_>, stmt: &Stmt, parts: &Custom) -> (Lin, Vec<Option<Var>>) {
        let Custom { func, captured, point, .. } = parts;
        let args: Vec<Atom> = captured.iter().cloned().chain(code.still(point)).collect();
        let mut key: Key = (*func, self.mask(captured));
        key.1.resize(args.len(), false);
        let linear = captured.iter().map(|arg| self.of(arg));
        let linear: Vec<Option<Ref>> = linear.chain(point.iter().map(|_| None)).collect();
        called(code, key, &args, &linear, stmt, 0)
    }

    fn summed(&self, stmt: &Stmt, summands: &[Vec<Option<Var>>], lins: &mut Vec<Lin>) {
        for (i, out) in stmt.outs.iter().enumerate().filter(|(_, out)| self.active.contains(out)) {
            let parts =
                summands.iter().filter_map(|outs| outs.get(i).copied().flatten()).map(Ref::Var).collect();
            lins.push(Lin::Sum { out: *out, parts });
        }
    }

    /// The rule maps point and tangent to value and tangent.
    fn by_tangents(
        &mut self,
        code: &mut Code<'_>,
        stmt: &Stmt,
        rule: FuncId,
        captured: &[Atom],
        point: &[Atom],
    ) -> (Lin, Vec<Option<Var>>) {
        let mut args: Vec<Atom> = captured.iter().chain(point).cloned().collect();
        let mut key: Key = (rule, vec![false; args.len()]);
        let mut linear: Vec<Option<Ref>> = vec![None; args.len()];
        for x in point {
            let ty = code.b.type_of(x);
            args.push(code.outward(x, None, ty));
            let of = self.of(x);
            key.1.push(of.is_some());
            linear.push(of);
        }
        let fixed = captured.len() + point.len();
        if !code.ad.is_linear(&key, stmt.outs.len(), fixed) {
            code.watch(&key, &args, stmt.outs.len(), fixed);
        }
        called(code, key, &args, &linear, stmt, stmt.outs.len())
    }

    /// The rule maps the point to the value and a function from cotangents to cotangents.
    fn by_cotangents(
        &mut self,
        code: &mut Code<'_>,
        stmt: &Stmt,
        (rule, apply): (FuncId, FuncId),
        captured: &[Atom],
        point: &[Atom],
    ) -> (Lin, Vec<Option<Var>>) {
        let args: Vec<Atom> = captured.iter().chain(point).cloned().collect();
        let types = code.ad.program.funcs.at(rule).results.clone();
        let back = code.b.call(rule, args, &types).pop().unwrap_or(Atom::Unit);
        let mut outs = Vec::new();
        for out in &stmt.outs {
            let VarInfo { name, ty } = *code.b.func().vars.at(*out);
            outs.push(self.active.contains(out).then(|| code.b.fresh(name, ty)));
        }
        let lin = LinPullback {
            apply,
            forward: None,
            back,
            points: point.iter().map(|x| (x.clone(), self.of(x))).collect(),
            values: stmt.outs.iter().copied().map(Atom::Var).collect(),
            outs: outs.clone(),
        };
        (Lin::Pullback(Box::new(lin)), outs)
    }
}

/// The call of a primal part beside a statement. Its results from `first` on stand for the statement's; their variables
/// are given.
fn called(
    code: &mut Code<'_>,
    key: Key,
    args: &[Atom],
    linear: &[Option<Ref>],
    stmt: &Stmt,
    first: usize,
) -> (Lin, Vec<Option<Var>>) {
    let linearized = code.ad.linearize(&key);
    let (values, residual) = linearized.call(code, args);
    let mut outs = Vec::new();
    for (value, active) in values.iter().zip(&linearized.results) {
        let (name, ty) = (code.b.name_of(value).unwrap_or("t".into()), code.b.type_of(value));
        outs.push(active.then(|| code.b.fresh(name, ty)));
    }
    // Tangents that a rule gives must belong to the values.
    for (out, tangent) in stmt.outs.iter().zip(values.iter().skip(first)).filter(|_| first > 0) {
        let ty = code.b.func().ty(*out);
        let declared = match ty.elem() {
            Elem::Data(data) => code.ad.program.data.at(data).role == Role::Declared,
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => ty.rank() > 0,
        };
        if declared {
            code.inward("custom_jvp".into(), &Atom::Var(*out), tangent, ty);
        }
    }
    let args = linear.iter().map(|of| of.clone().map_or(Arg::Zero(Atom::Unit), Arg::Linear)).collect();
    let own = outs.get(first..first + stmt.outs.len()).unwrap_or_default().to_vec();
    let shapes = vec![false; residual.len()];
    let call = LinCall { key, residual, shapes, checkpoint: false, seeds: true, args, outs };
    (Lin::Call(Box::new(call)), own)
}

impl Ad {
    /// Calls functions with rules as they are where the point is no variable: it cannot vary.
    pub(crate) fn leave_idle_rules_out(&mut self) {
        for id in self.program.funcs.ids() {
            let of = self.program.funcs.at(id);
            if !of.body.all_stmts(&mut |stmt| idle(stmt).is_none()) {
                let mut func = of.clone();
                without_idle_rules(&mut func.body);
                *self.program.funcs.at_mut(id) = func;
            }
        }
    }
}

/// The call in place of a function with a rule whose point cannot vary.
fn idle(stmt: &Stmt) -> Option<Op> {
    let Op::Custom(parts) = &stmt.op else { return None };
    let Custom { func, captured, point, .. } = parts.as_ref();
    let args = captured.iter().chain(point).cloned().collect();
    let call = Op::Call { func: *func, args, checkpoint: false };
    point.iter().all(|x| x.var().is_none()).then_some(call)
}

fn without_idle_rules(block: &mut Block) {
    deep(|| {
        for stmt in &mut block.stmts {
            if let Some(call) = idle(stmt) {
                stmt.op = call;
            }
            stmt.op.blocks_mut().into_iter().for_each(without_idle_rules);
        }
    });
}

impl Code<'_> {
    /// The tangents that a `custom_jvp` rule gives, at surface tangents made of these; zeros if these are zero.
    pub(crate) fn rule_tangents(
        &mut self,
        rule: FuncId,
        args: &[Atom],
        point: &[Atom],
        tangents: &[Option<Atom>],
        values: &[Atom],
    ) -> Vec<Option<Atom>> {
        let given: Vec<Atom> = tangents.iter().flatten().cloned().collect();
        if given.is_empty() {
            return vec![None; values.len()];
        }
        let varies = self.have_tangents(values);
        let fixed: Vec<Atom> = args.iter().chain(point).chain(values).cloned().collect();
        let (first, last) = (args.len(), args.len() + point.len());
        let places: Vec<usize> =
            (last..fixed.len()).zip(&varies).filter(|(_, v)| **v).map(|(i, _)| i).collect();
        let types = self.ad.program.funcs.at(rule).results.clone();
        let name = self.ad.program.funcs.at(rule).name;
        let found = self.guarded(name.as_str(), &fixed, &given, &places, |code, fixed, given| {
            let (point, values) = fixed.get(first..).unwrap_or_default().split_at(last - first);
            let mut given = given.iter();
            let mut args = fixed.get(..last).unwrap_or_default().to_vec();
            for (x, tangent) in point.iter().zip(tangents) {
                let tangent = tangent.as_ref().and_then(|_| given.next());
                let ty = code.b.type_of(x);
                args.push(code.outward(x, tangent.cloned(), ty));
            }
            let surface = code.b.call(rule, args, &types).split_off(values.len());
            let mut found = Vec::new();
            for (value, t) in values.iter().zip(surface) {
                let ty: Ty = code.b.type_of(value);
                found.extend(code.inward("custom_jvp".into(), value, &t, ty));
            }
            found
        });
        spread(&varies, found)
    }

    /// Cotangents of the point through a function that is a value, from cotangents of the results; zeros if these are zero.
    pub(crate) fn pull_back(
        &mut self,
        apply: FuncId,
        back: &Atom,
        values: &[Atom],
        bars: &[Option<Atom>],
        points: &[Atom],
    ) -> Vec<Option<Atom>> {
        let given: Vec<Atom> = bars.iter().flatten().cloned().collect();
        let varies = self.have_tangents(points);
        let fixed: Vec<Atom> = std::iter::once(back).chain(values).chain(points).cloned().collect();
        let first = 1 + values.len();
        let places: Vec<usize> =
            (first..fixed.len()).zip(&varies).filter(|(_, v)| **v).map(|(i, _)| i).collect();
        let types = self.ad.program.funcs.at(apply).results.clone();
        let named: Vec<(Name, Ty)> = types.iter().map(|ty| (Name::new("x_bar"), *ty)).collect();
        let name = self.ad.program.funcs.at(apply).name;
        let found = self.guarded(name.as_str(), &fixed, &given, &places, |code, fixed, given| {
            let (values, points) = fixed.get(1..).unwrap_or_default().split_at(first - 1);
            let mut given = given.iter();
            let mut args = fixed.get(..1).unwrap_or_default().to_vec();
            for (value, bar) in values.iter().zip(bars) {
                let bar = bar.as_ref().and_then(|_| given.next());
                let ty = code.b.type_of(value);
                args.push(code.outward(value, bar.cloned(), ty));
            }
            let surface = code.b.named(&named, Op::Call { func: apply, args, checkpoint: false });
            let mut found = Vec::new();
            for (point, bar) in points.iter().zip(surface) {
                let ty = code.b.type_of(point);
                found.extend(code.inward("custom_vjp".into(), point, &bar, ty));
            }
            found
        });
        spread(&varies, found)
    }

    /// The same of a function that was made.
    pub(crate) fn pull_inside(
        &mut self,
        apply: FuncId,
        back: &Atom,
        values: &[Atom],
        bars: &[Option<Atom>],
    ) -> Vec<Option<Atom>> {
        let mut args = vec![back.clone()];
        for (value, bar) in values.iter().zip(bars) {
            let ty = self.b.type_of(value);
            args.push(match bar {
                Some(bar) => bar.clone(),
                None => self.zero(Some(value), ty),
            });
        }
        let types = self.ad.program.funcs.at(apply).results.clone();
        self.b.call(apply, args, &types).into_iter().map(Some).collect()
    }

    pub(crate) fn have_tangents(&mut self, atoms: &[Atom]) -> Vec<bool> {
        let types: Vec<Ty> = atoms.iter().map(|atom| self.b.type_of(atom)).collect();
        types.into_iter().map(|ty| self.ad.tangent(ty).is_some()).collect()
    }
}

/// Tangents where there are such.
fn spread(varies: &[bool], found: Vec<Atom>) -> Vec<Option<Atom>> {
    let mut found = found.into_iter();
    varies.iter().map(|varies| if *varies { found.next() } else { None }).collect()
}
