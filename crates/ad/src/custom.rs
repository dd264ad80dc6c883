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
use crate::{BEYOND, Code, Key};
use wengert_base::Name;
use wengert_ir::op::{Atom, Custom, Op, Rule, Stmt, Var};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Elem, Role, Ty};

impl Scope<'_> {
    /// Appends a function with a rule to the primal part, with what its derivative needs, and gives its linear part.
    pub(crate) fn custom(&mut self, code: &mut Code<'_>, stmt: &Stmt, parts: &Custom) -> Vec<Lin> {
        code.b.push(stmt.clone());
        let Custom { captured, point, .. } = parts;
        let mut lins = Vec::new();
        let mut summands: Vec<Vec<Option<Var>>> = Vec::new();
        if self.mask(captured).contains(&true) {
            let (lin, outs) = self.by_captured(code, stmt, parts);
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
        let args: Vec<Atom> = captured.iter().chain(point).cloned().collect();
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
        if !code.ad.is_linear(&key, stmt.outs.len(), captured.len() + point.len()) {
            code.fail(&[], BEYOND);
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
    let call = LinCall { key, residual, shapes, checkpoint: false, args, outs };
    (Lin::Call(Box::new(call)), own)
}

impl Code<'_> {
    /// The tangents that a `custom_jvp` rule gives, at surface tangents made of these.
    pub(crate) fn rule_tangents(
        &mut self,
        rule: FuncId,
        args: Vec<Atom>,
        point: &[Atom],
        tangents: Vec<Option<Atom>>,
        values: &[Atom],
    ) -> Vec<Option<Atom>> {
        let mut args = args;
        for (x, tangent) in point.iter().zip(tangents) {
            let ty = self.b.type_of(x);
            args.push(self.outward(x, tangent, ty));
        }
        let types = self.ad.program.funcs.at(rule).results.clone();
        let mut results = self.b.call(rule, args, &types);
        let surface = results.split_off(values.len());
        let operator: Name = "custom_jvp".into();
        let mut found = Vec::new();
        for (value, t) in values.iter().zip(surface) {
            let ty: Ty = self.b.type_of(value);
            found.push(self.inward(operator, value, &t, ty));
        }
        found
    }

    /// Cotangents through a function that is a value: from those of the results to those of the point.
    pub(crate) fn pull_back(&mut self, apply: FuncId, back: Atom, weights: Vec<Atom>) -> Vec<Atom> {
        let types = self.ad.program.funcs.at(apply).results.clone();
        let args: Vec<Atom> = std::iter::once(back).chain(weights).collect();
        self.b.named(
            &types.iter().map(|ty| (Name::new("x_bar"), *ty)).collect::<Vec<_>>(),
            Op::Call { func: apply, args, checkpoint: false },
        )
    }
}
