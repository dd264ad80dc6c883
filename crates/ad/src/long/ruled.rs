//! Functions with rules of their own, where there are several infinitesimals: of the last one the rule gives the tangent, as a function of
//! numbers with the coefficients of those before; without it they are what they are with one less.
//!
//! ```text
//! func cube_rule(x, y, xs, n) = lower half: cube_rule(x, y, lower xs, n / 2);  upper half: rule(x, tangent) at lower and upper xs
//! ```
//!
//! Of rules that have captured nothing that varies; of others: [`super::captured`].

use super::halves::Halves;
use crate::jvp::Jvp;
use crate::{BEYOND, Code};
use wengert_ir::op::{Atom, Compare, Custom, IntOp, Op, Rule, Stmt};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;

/// A function with a rule, and which values of its point vary.
pub(super) struct Ruled {
    pub(super) own: FuncId,
    pub(super) rule: Rule,
    /// How many values the rule has captured.
    pub(super) captured: usize,
    pub(super) point: Vec<bool>,
    /// The types of the coefficients of the results.
    pub(super) results: Vec<Ty>,
}

/// What its function is given.
pub(super) struct Given<'a> {
    /// What the rule has captured.
    pub(super) captured: &'a [Atom],
    /// What of that varies, and with which coefficients.
    pub(super) inner: (&'a [bool], &'a [Atom]),
    pub(super) point: &'a [Atom],
    pub(super) values: &'a [Atom],
}

impl Jvp<'_, '_> {
    /// A function with a rule, with the coefficients of its results.
    pub(super) fn custom_in_cube(&mut self, stmt: &Stmt, parts: &Custom) {
        let point = self.scope.mask(&parts.point);
        let outs: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let types: Vec<Ty> = parts.point.iter().chain(&outs).map(|atom| self.code.b.type_of(atom)).collect();
        if !types.into_iter().all(|ty| self.code.ad.is_first_order(ty)) {
            self.code.fail(&[], BEYOND);
            return;
        }
        let captured = [&parts.captured, &parts.rule_captured].map(|atoms| self.scope.mask(atoms));
        if captured.concat().contains(&true) {
            return self.custom_with_captured(stmt, parts);
        }
        if !point.contains(&true) {
            return;
        }
        let varying = parts.point.iter().zip(&point).filter(|(_, varies)| **varies);
        let tangents: Vec<Atom> = varying.map(|(x, _)| self.tangent_or_zero(0, x)).collect();
        let given = [parts.rule_captured.as_slice(), &parts.point, &outs, &tangents].concat();
        let func = self.code.function_by_rule(parts, &point, &given);
        let order = self.code.order();
        self.note_made(stmt, func, given.into_iter().chain([order]).collect());
    }

    /// The coefficients of what a statement gives, made by a function of these.
    pub(super) fn note_made(&mut self, stmt: &Stmt, func: FuncId, args: Vec<Atom>) {
        let results = self.code.ad.program.funcs.at(func).results.clone();
        let mut found = self.code.b.call(func, args, &results).into_iter();
        for out in &stmt.outs {
            let ty = self.code.b.func().ty(*out);
            if self.code.ad.tangent(ty).is_some() {
                let series = found.next();
                self.note(*out, series);
            }
        }
    }
}

impl Code<'_> {
    /// The function that makes the coefficients of the results; it is made where it is called.
    fn function_by_rule(&mut self, parts: &Custom, point: &[bool], args: &[Atom]) -> FuncId {
        let types: Vec<Ty> = args.iter().map(|arg| self.b.type_of(arg)).collect();
        let first = parts.rule_captured.len() + point.len();
        let varying = point.iter().filter(|varies| **varies).count();
        let values = types.get(first..types.len().saturating_sub(varying)).unwrap_or_default();
        let results: Vec<Ty> = values.iter().filter_map(|ty| self.ad.tangent(*ty)).collect();
        let own = self.ad.reserve(results.clone());
        let (captured, rule) = (parts.rule_captured.len(), parts.rule);
        let ruled = Ruled { own, rule, captured, point: point.to_vec(), results };
        let mut code = Code::new(self.ad, "cube_rule");
        let params: Vec<Atom> = types.iter().map(|ty| code.b.param("x".into(), *ty)).collect();
        let n = code.b.param("n".into(), Ty::INT);
        let found = code.coefficients_by_rule(&ruled, &params, &n);
        let made = code.finish(found);
        *self.ad.program.funcs.at_mut(own) = made;
        own
    }

    fn coefficients_by_rule(&mut self, ruled: &Ruled, params: &[Atom], n: &Atom) -> Vec<Atom> {
        let (captured, rest) = params.split_at(ruled.captured);
        let (point, rest) = rest.split_at(ruled.point.len());
        let varying = ruled.point.iter().filter(|varies| **varies).count();
        let (values, series) = rest.split_at(rest.len() - varying);
        let below = self.b.called("n").int(IntOp::Div, [n.clone(), Atom::Int(2)]);
        let mut halves = Vec::new();
        let mut rest = series.iter();
        for (x, _) in point.iter().zip(&ruled.point).filter(|(_, varies)| **varies) {
            let ty = self.b.type_of(x);
            if let Some(series) = rest.next() {
                halves.push(self.at_order(below.clone(), |code| code.halves(x, series, ty)));
            }
        }
        let none = vec![false; captured.len()];
        let given = Given { captured, inner: (&none, &[]), point, values };
        let cond = self.b.compare(Compare::Eq, below.clone(), Atom::Int(0));
        self.b.open();
        let single = self.at_order(Atom::Int(0), |code| code.next_coefficients(ruled, &given, &halves, None));
        let then = self.b.close(single);
        self.b.open();
        let lower: Vec<Atom> = halves.iter().map(|half| half.lower.clone()).collect();
        let args = [captured, point, values, &lower, std::slice::from_ref(&below)].concat();
        let lower = self.b.call(ruled.own, args, &ruled.results);
        let several =
            self.at_order(below.clone(), |code| code.next_coefficients(ruled, &given, &halves, Some(lower)));
        let otherwise = self.b.close(several);
        self.b.typed(&ruled.results, Op::If { cond, then, otherwise })
    }

    /// The coefficients of the results with one more infinitesimal; `lower` are those without it, if there are any.
    fn next_coefficients(
        &mut self,
        ruled: &Ruled,
        given: &Given<'_>,
        halves: &[Halves],
        lower: Option<Vec<Atom>>,
    ) -> Vec<Atom> {
        let mut zeros = Vec::new();
        let varying = given.point.iter().zip(&ruled.point).filter(|(_, varies)| **varies);
        for ((x, _), half) in varying.zip(halves) {
            let ty = self.b.type_of(x);
            zeros.push(self.is_zero_tangent(x, &half.tangent, ty));
            if lower.is_some() {
                zeros.push(self.is_zero(&half.upper));
            }
        }
        let cond = self.all_of(zeros);
        let types: Vec<Ty> = given.values.iter().map(|value| self.b.type_of(value)).collect();
        let has: Vec<Ty> = types.iter().copied().filter(|ty| self.ad.tangent(*ty).is_some()).collect();
        let own: Vec<Ty> = has.iter().filter_map(|ty| self.ad.tangent(*ty)).collect();
        let all: Vec<Ty> = has.iter().chain(&own).copied().collect();
        self.b.open();
        let mut none = Vec::new();
        for (value, ty) in given.values.iter().zip(&types).filter(|(_, ty)| has.contains(*ty)) {
            none.push(self.short(|code| code.outward(value, None, *ty)));
        }
        for (value, ty) in given.values.iter().zip(&types).filter(|(_, ty)| has.contains(*ty)) {
            none.push(self.zero(Some(value), *ty));
        }
        let then = self.b.close(none);
        self.b.open();
        let (mut tangents, mut uppers) = (Vec::new(), Vec::new());
        let found = self.rule_in_cube(ruled, given, halves, lower.is_some());
        for ((value, ty), (tangent, upper)) in given.values.iter().zip(&types).zip(found) {
            if has.contains(ty) {
                self.short(|code| code.inward("custom_jvp".into(), value, &tangent, *ty));
                let upper = upper.unwrap_or_else(|| self.zero(Some(value), *ty));
                tangents.push(tangent);
                uppers.push(upper);
            }
        }
        let otherwise = self.b.close(tangents.into_iter().chain(uppers).collect());
        let mut tangents = self.b.typed(&all, Op::If { cond, then, otherwise });
        let uppers = tangents.split_off(has.len());
        let values = given.values.iter().zip(&types).filter(|(_, ty)| has.contains(*ty));
        let mut made = Vec::new();
        for (i, ((value, ty), (t, upper))) in values.zip(tangents.iter().zip(&uppers)).enumerate() {
            let lower = lower.as_ref().and_then(|lower| lower.get(i));
            made.push(self.widened(value, lower, Some((t, Some(upper))), *ty));
        }
        made
    }

    /// The tangents that the rule gives, as the user sees them, with their coefficients.
    pub(super) fn rule_in_cube(
        &mut self,
        ruled: &Ruled,
        given: &Given<'_>,
        halves: &[Halves],
        varies: bool,
    ) -> Vec<(Atom, Option<Atom>)> {
        let mut rest = halves.iter();
        let mut slopes = Vec::new();
        for (x, active) in given.point.iter().zip(&ruled.point) {
            let ty = self.b.type_of(x);
            slopes.push(match if *active { rest.next() } else { None } {
                Some(half) => half.tangent.clone(),
                None => self.short(|code| code.outward(x, None, ty)),
            });
        }
        let mask = |active: &[bool]| active.iter().map(|active| *active && varies).collect::<Vec<bool>>();
        let lower = halves.iter().map(|half| half.lower.clone()).filter(|_| varies);
        let upper = halves.iter().map(|half| half.upper.clone()).filter(|_| varies);
        let point = mask(&ruled.point);
        let args: Vec<Atom> = given.captured.iter().chain(given.point).cloned().collect();
        let (inner, inner_series) = given.inner;
        let lower = inner_series.iter().cloned().chain(lower);
        let mut active = inner.to_vec();
        active.extend(&point);
        let found = match ruled.rule {
            Rule::Jvp(rule) => {
                active.extend(&point);
                let args = args.into_iter().chain(slopes).collect();
                self.long_call(&(rule, active), args, lower.chain(upper).collect())
            }
            Rule::Vjp(rule, apply) => {
                let mut found = self.long_call(&(rule, active), args, lower.collect());
                let back = found.series.pop().flatten();
                let mut active = vec![back.is_some()];
                active.extend(given.values.iter().map(|_| false));
                active.extend(&point);
                let args = found.values.pop().into_iter();
                let args = args.chain(given.values.iter().cloned()).chain(slopes).collect();
                let transposed = self.ad.with_long(false, |ad| ad.transposed(apply));
                self.long_call(&(transposed, active), args, back.into_iter().chain(upper).collect())
            }
        };
        let skipped = found.values.len().saturating_sub(given.values.len());
        found.values.into_iter().zip(found.series).skip(skipped).collect()
    }
}
