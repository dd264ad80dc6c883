//! Derivatives of Taylor series of functions whose rule has captured what varies along the series: by that and the point.
//!
//! ```text
//! y' of order k = custom (\x -> what the rule gives along the series) (\(x, dx) -> (_, order k of the rule's tangent at x, dx along c)) x
//! ```
//!
//! In the rule of that the point does not move along the series: what it does is in what the rule gives.

use super::Mixed;
use crate::{Code, Key};
use wengert_ir::op::{Atom, Custom, Op, Rule};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;

impl Code<'_> {
    /// Tangents of the values, of several orders or long series, with what they vary by where the point does: from those that the rule
    /// gives along the series.
    pub(crate) fn mixed_series(
        &mut self,
        values: &[Atom],
        parts: &Custom,
        (captured, tangents): (&[bool], &[Atom]),
        orders: usize,
        mut found: Vec<Atom>,
    ) -> Vec<Atom> {
        let Some(mixed) = Mixed::of(self, values, parts, captured) else { return found };
        if !self.ad.is_long() {
            let own = values.iter().zip(&mixed.tangents).filter(|(_, own)| own.is_some());
            let own: Vec<Atom> = own.map(|(value, _)| value.clone()).collect();
            for (tangent, value) in found.iter_mut().zip(own.iter().cycle()) {
                let ty = self.b.type_of(value);
                *tangent = self.whole(value, tangent.clone(), ty);
            }
        }
        let types: Vec<Ty> = found.iter().map(|tangent| self.b.type_of(tangent)).collect();
        let func = self.itself(&types, &mixed.point);
        let rule = Rule::Jvp(self.series_rule(&mixed, tangents, orders));
        let mut rule_captured: Vec<Atom> = parts.rule_captured.iter().chain(tangents).cloned().collect();
        rule_captured.extend(self.order.clone());
        let op = Custom { func, captured: found, rule, rule_captured, point: parts.point.clone() };
        self.b.typed(&types, Op::Custom(Box::new(op)))
    }

    /// As [`Code::forward_rule`], of several orders.
    fn series_rule(&mut self, mixed: &Mixed, tangents: &[Atom], orders: usize) -> FuncId {
        let types: Vec<Ty> = tangents.iter().map(|t| self.b.type_of(t)).collect();
        let span = self.b.span();
        let key = self.short(|code| mixed.key(code.ad));
        let mut code = Code::new(self.ad, "mixed");
        code.b.set_func_span(span);
        code.b.set_span(span);
        let mut args = code.field_params("c", &mixed.captured);
        let tangents = code.field_params("t", &types);
        code.order = code.ad.is_long().then(|| code.b.param("n".into(), Ty::INT));
        args.extend(code.field_params("x", &mixed.point));
        args.extend(code.field_params("dx", &mixed.point));
        let (values, series) = code.rows_of_series(&key, args, tangents, orders);
        let mut results = Vec::new();
        for row in series {
            for ((value, tangent), own) in
                values.iter().zip(row).zip(mixed.tangents.repeat(2)).skip(mixed.tangents.len())
            {
                let ty = code.b.type_of(value);
                match (own, tangent) {
                    (None, _) => {}
                    (Some(_), Some(tangent)) => results.push(tangent),
                    (Some(_), None) => results.push(code.zero(Some(value), ty)),
                }
            }
        }
        let made = code.finish(results.iter().chain(&results).cloned().collect());
        self.short(|code| code.ad.mixed_rule(made, mixed))
    }

    /// Values of a function and, of each order, tangents of those that vary.
    pub(crate) fn rows_of_series(
        &mut self,
        key: &Key,
        args: Vec<Atom>,
        tangents: Vec<Atom>,
        orders: usize,
    ) -> (Vec<Atom>, Vec<Vec<Option<Atom>>>) {
        if self.ad.is_long() {
            let found = self.long_call(key, args, tangents);
            return (found.values, vec![found.series]);
        }
        let func = self.ad.series_function(key, orders, orders);
        let types = self.ad.jvp_results(key, orders);
        let varies = self.ad.varying_results(key.0, &key.1);
        let mut values = self.b.call(func, args.into_iter().chain(tangents).collect::<Vec<Atom>>(), &types);
        let mut found = values.split_off(varies.len()).into_iter();
        let row = |_| varies.iter().map(|varies| if *varies { found.next() } else { None }).collect();
        let rows = (0..orders).map(row).collect();
        (values, rows)
    }
}
