//! Functions with rules of their own in Taylor series: `y' = rule(x, x')` is a differential equation as the rules of arithmetic are
//! ([`crate::series`]), so the rule runs on series of one order less.
//!
//! ```text
//! custom_jvp f rule x       x = Σ xₖ tᵏ;  x' = Σ (k + 1) xₖ₊₁ tᵏ;  v = tangent of rule(x, x');  yₖ₊₁ = vₖ / (k + 1)
//! custom_vjp f rule x       the same, where v is the transpose of what the rule gives, at x'
//! ```
//!
//! What the function itself has captured must not vary where the point does; the interpreter refuses that. Where what the rule has captured varies along the
//! series, and the series is differentiated in turn: [`crate::mixed`].

use super::Jvp;
use crate::{BEYOND, Code, Key};
use wengert_ir::op::{Atom, Custom, Op, Rule, Stmt};
use wengert_ir::ty::Ty;
use wengert_prim::RealOp;

/// A function with a rule, where it is called.
struct Ruled<'a> {
    parts: &'a Custom,
    /// Which of what the rule has captured varies, and which of the point.
    captured: Vec<bool>,
    point: Vec<bool>,
    /// How many tangents of each there are.
    orders: usize,
}

/// What the rule is given, in the function that runs it.
struct Given<'a> {
    captured: &'a [Atom],
    point: &'a [Atom],
    values: &'a [Atom],
    /// Tangents of what is captured, of one order after the other.
    inner: &'a [Atom],
    /// The same of the point.
    tangents: &'a [Atom],
}

/// Values with their tangents of each order.
struct Found {
    values: Vec<Atom>,
    varies: Vec<bool>,
    /// Those that vary, one order after the other.
    tangents: Vec<Atom>,
}

impl Found {
    /// The tangent of a value, of an order from 1.
    fn tangent(&self, i: usize, order: usize) -> Option<Atom> {
        if self.varies.get(i) != Some(&true) {
            return None;
        }
        let count = |varies: &[bool]| varies.iter().filter(|varies| **varies).count();
        let place = (order - 1) * count(&self.varies) + count(self.varies.get(..i)?);
        self.tangents.get(place).cloned()
    }
}

impl Jvp<'_, '_> {
    /// Which of what a function with a rule has captured varies: if the point does too, the interpreter refuses that.
    pub(crate) fn varying_captured(&mut self, parts: &Custom) -> Vec<bool> {
        let own = self.scope.mask(&parts.captured);
        if own.contains(&true) && self.scope.mask(&parts.point).contains(&true) {
            self.code.fail(&[], BEYOND);
        }
        own
    }

    /// A rule that is run for functions, or gives some, has no series: the interpreter says so. Whether that is so here.
    pub(crate) fn refuses_functions(&mut self, stmt: &Stmt, parts: &Custom) -> bool {
        if !self.scope.mask(&parts.point).contains(&true) {
            return false;
        }
        let outs = stmt.outs.iter().copied().map(Atom::Var);
        let mut all = parts.point.iter().cloned().chain(outs).map(|atom| self.code.b.type_of(&atom));
        let refuses = !all.all(|ty| self.code.ad.is_first_order(ty));
        if refuses {
            self.code.fail(&[], BEYOND);
        }
        refuses
    }

    /// A function with a rule, with the tangents of its results of each order.
    pub(super) fn custom_series(&mut self, stmt: &Stmt, parts: &Custom) {
        self.code.b.push(stmt.clone());
        let (captured, point) = (self.scope.mask(&parts.rule_captured), self.scope.mask(&parts.point));
        let own = self.varying_captured(parts);
        // Where what is captured varies, so does the derivative by it with the point.
        let is_mixed = self.code.ad.is_inside && captured.contains(&true);
        if !point.contains(&true) && !is_mixed && !own.contains(&true) {
            return;
        }
        if self.refuses_functions(stmt, parts) {
            return;
        }
        let orders = self.dots.len();
        let ruled = Ruled { parts, captured, point, orders };
        let values: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let varies = self.code.have_tangents(&values);
        let inner = self.tangents_or_zeros(&varying(&parts.rule_captured, &ruled.captured));
        let tangents = self.tangents_or_zeros(&varying(&parts.point, &ruled.point));
        let found = if ruled.point.contains(&true) {
            self.code.series_by_rule(&ruled, &values, &inner, &tangents)
        } else {
            let tangents = self.tangents_or_zeros(&varying(&parts.captured, &own));
            self.code.series_by_function(&values, parts, (&own, tangents), orders)
        };
        let found = self.code.mixed_series(&values, parts, (&ruled.captured, &inner), orders, found);
        let mut found = found.into_iter();
        for dots in &mut self.dots {
            for (out, _) in stmt.outs.iter().zip(&varies).filter(|(_, varies)| **varies) {
                dots.extend(found.next().map(|tangent| (*out, tangent)));
            }
        }
    }
}

impl Code<'_> {
    /// The same where the point does not vary: by what the function has captured. By the point derivatives are what the rule says.
    pub(crate) fn series_by_function(
        &mut self,
        values: &[Atom],
        parts: &Custom,
        (own, tangents): (&[bool], Vec<Atom>),
        orders: usize,
    ) -> Vec<Atom> {
        let varies = self.have_tangents(values);
        let mut rows = vec![vec![None; values.len()]; orders];
        if own.contains(&true) {
            let types: Vec<Ty> = parts.point.iter().map(|x| self.b.type_of(x)).collect();
            let point = self.b.typed(&types, Op::StopGradient(parts.point.clone()));
            let key = (parts.func, own.iter().copied().chain(point.iter().map(|_| false)).collect());
            let args = parts.captured.iter().cloned().chain(point).collect();
            rows = self.rows_of_series(&key, args, tangents, orders).1;
        }
        let mut found = Vec::new();
        for row in rows {
            for ((value, tangent), _) in values.iter().zip(row).zip(&varies).filter(|(_, varies)| **varies) {
                let ty = self.b.type_of(value);
                found.push(match tangent {
                    Some(tangent) => tangent,
                    None => self.zero(Some(value), ty),
                });
            }
        }
        found
    }

    /// The tangents of the values that have such, of one order after the other.
    fn series_by_rule(
        &mut self,
        ruled: &Ruled<'_>,
        values: &[Atom],
        inner: &[Atom],
        tangents: &[Atom],
    ) -> Vec<Atom> {
        let parts = ruled.parts;
        let varies = self.have_tangents(values);
        let args = parts.rule_captured.iter().chain(&parts.point);
        let fixed: Vec<Atom> = args.chain(values).chain(inner).cloned().collect();
        let first = parts.rule_captured.len() + parts.point.len();
        let places: Vec<usize> =
            (first..).zip(&varies).filter(|(_, varies)| **varies).map(|(place, _)| place).collect();
        let places = places.repeat(ruled.orders);
        let func = match parts.rule {
            Rule::Jvp(rule) | Rule::Vjp(rule, _) => rule,
        };
        let name = self.ad.program.funcs.at(func).name;
        self.guarded(name.as_str(), &fixed, tangents, &places, |code, fixed, tangents| {
            let (captured, rest) = fixed.split_at(parts.rule_captured.len());
            let (point, rest) = rest.split_at(parts.point.len());
            let (values, inner) = rest.split_at(values.len());
            code.velocities(ruled, &Given { captured, point, values, inner, tangents })
        })
    }
}

/// Those atoms that vary.
pub(super) fn varying(atoms: &[Atom], varies: &[bool]) -> Vec<Atom> {
    atoms.iter().zip(varies).filter(|(_, varies)| **varies).map(|(atom, _)| atom.clone()).collect()
}

impl Code<'_> {
    /// The tangents of the values, of one order after the other.
    fn velocities(&mut self, ruled: &Ruled<'_>, given: &Given<'_>) -> Vec<Atom> {
        let (surface, operator) = match ruled.parts.rule {
            Rule::Jvp(rule) => (self.by_rule(ruled, given, rule), "custom_jvp"),
            Rule::Vjp(rule, apply) => (self.by_transpose(ruled, given, rule, apply), "custom_vjp"),
        };
        let mut found = Vec::new();
        for order in 0..ruled.orders {
            for (i, value) in given.values.iter().enumerate() {
                let ty = self.b.type_of(value);
                if self.ad.tangent(ty).is_none() {
                    continue;
                }
                let velocity = match (order, surface.values.get(i)) {
                    (0, Some(velocity)) => self.inward(operator.into(), value, velocity, ty),
                    _ => surface.tangent(i, order),
                };
                found.push(match velocity {
                    Some(velocity) => self.scaled(&velocity, RealOp::DivZero, order + 1),
                    None => self.zero(Some(value), ty),
                });
            }
        }
        found
    }

    /// The tangent that the rule gives, as the user sees it, and its own tangents.
    fn by_rule(&mut self, ruled: &Ruled<'_>, given: &Given<'_>, rule: wengert_ir::FuncId) -> Found {
        let mut args: Vec<Atom> = given.captured.iter().chain(given.point).cloned().collect();
        let (first, rest) = self.slopes(ruled, given);
        args.extend(first);
        let mask = ruled.captured.iter().chain(&ruled.point).chain(&ruled.point);
        let mut tangents = Vec::new();
        for order in 1..ruled.orders {
            tangents.extend(ruled.below(given, order));
            tangents.extend(rest.get(order - 1).into_iter().flatten().cloned());
        }
        let mut found = self.run(&(rule, mask.copied().collect()), args, tangents, ruled.orders - 1);
        let values = given.values.len().min(found.values.len());
        // Of the value nothing is needed.
        let skipped = found.varies.iter().take(values).filter(|varies| **varies).count();
        let each = found.varies.iter().filter(|varies| **varies).count();
        let kept = found.tangents.iter().enumerate().filter(|(i, _)| i % each.max(1) >= skipped);
        found.tangents = kept.map(|(_, tangent)| tangent.clone()).collect();
        found.values.drain(..values);
        found.varies.drain(..values);
        found
    }

    /// The same, from the rule's function from cotangents to cotangents.
    fn by_transpose(
        &mut self,
        ruled: &Ruled<'_>,
        given: &Given<'_>,
        rule: wengert_ir::FuncId,
        apply: wengert_ir::FuncId,
    ) -> Found {
        let args = given.captured.iter().chain(given.point).cloned().collect();
        let mask = ruled.captured.iter().chain(&ruled.point).copied().collect();
        let tangents = (1..ruled.orders).flat_map(|order| ruled.below(given, order)).collect();
        let mut found = self.run(&(rule, mask), args, tangents, ruled.orders - 1);
        let last = found.values.len().saturating_sub(1);
        let backs: Vec<Atom> = (1..ruled.orders).filter_map(|order| found.tangent(last, order)).collect();
        let mut args: Vec<Atom> =
            found.values.pop().into_iter().chain(given.values.iter().cloned()).collect();
        let mut mask: Vec<bool> = args.iter().map(|_| false).collect();
        if let Some(first) = mask.first_mut() {
            *first = !backs.is_empty();
        }
        let (first, rest) = self.slopes(ruled, given);
        args.extend(first);
        mask.extend(&ruled.point);
        let mut backs = backs.into_iter();
        let tangents = rest.into_iter().flat_map(|slopes| backs.next().into_iter().chain(slopes)).collect();
        let transposed = self.ad.transposed(apply);
        self.run(&(transposed, mask), args, tangents, ruled.orders - 1)
    }

    /// The derivative of the point: its value as the user sees it, and its tangents, of each order those that vary.
    fn slopes(&mut self, ruled: &Ruled<'_>, given: &Given<'_>) -> (Vec<Atom>, Vec<Vec<Atom>>) {
        let count = ruled.point.iter().filter(|varies| **varies).count();
        let mut orders = given.tangents.chunks(count.max(1));
        let mut first = orders.next().unwrap_or_default().iter();
        let mut surface = Vec::new();
        for (x, varies) in given.point.iter().zip(&ruled.point) {
            let ty: Ty = self.b.type_of(x);
            let tangent = if *varies { first.next().cloned() } else { None };
            surface.push(self.outward(x, tangent, ty));
        }
        let mut rest = Vec::new();
        for (k, tangents) in orders.enumerate() {
            rest.push(tangents.iter().map(|t| self.scaled(t, RealOp::Mul, k + 2)).collect());
        }
        (surface, rest)
    }

    /// A function on series.
    fn run(&mut self, key: &Key, args: Vec<Atom>, tangents: Vec<Atom>, orders: usize) -> Found {
        let func = self.ad.series_function(key, orders, orders);
        let types = self.ad.jvp_results(key, orders);
        let varies = self.ad.varying_results(key.0, &key.1);
        let args: Vec<Atom> = args.into_iter().chain(tangents).collect();
        let mut values = self.b.call(func, args, &types);
        let tangents = values.split_off(varies.len());
        Found { values, varies, tangents }
    }
}

impl Ruled<'_> {
    /// Tangents of what is captured and of the point, of an order from 1.
    fn below(&self, given: &Given<'_>, order: usize) -> Vec<Atom> {
        let of = |varies: &[bool], tangents: &[Atom]| {
            let count = varies.iter().filter(|varies| **varies).count();
            tangents.iter().skip((order - 1) * count).take(count).cloned().collect::<Vec<Atom>>()
        };
        let mut found = of(&self.captured, given.inner);
        found.extend(of(&self.point, given.tangents));
        found
    }
}
