//! Functions with rules of their own: the value is the function's, at what is without the largest tag in the point; the rule gives the tangent
//! under that.
//!
//! ```text
//! ruled(x) = let t = the largest tag in x, y = ruled(without t x), (_, y') = rule(without t x, tangent t x) in y + y' under t
//! ```

use super::functions::Rewrite;
use super::walks::{Walk, Way};
use super::work::Work;
use super::{Helper, Tagged};
use crate::BEYOND;
use wengert_ir::Builder;
use wengert_ir::op::{Atom, Compare, Custom, Rule, Stmt};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;

/// What a function with a rule is given.
struct Ruled {
    func: FuncId,
    rule: Rule,
    captured: Vec<Atom>,
    rule_captured: Vec<Atom>,
    point: Vec<Atom>,
    /// The types of the point, and of the results, in the program.
    types: Vec<Ty>,
    results: Vec<Ty>,
}

impl Rewrite<'_, '_> {
    /// What a function with a rule gives.
    pub(super) fn custom(&mut self, parts: &Custom, stmt: &Stmt) -> Vec<Atom> {
        let results = self.types(&stmt.outs);
        let func = self.work.to.ruled_function(parts);
        let mut args = self.atoms(&parts.captured);
        args.extend(self.atoms(&parts.rule_captured));
        args.extend(self.atoms(&parts.point));
        self.work.call_touching(func, true, args, &results)
    }
}

impl Tagged {
    fn ruled_function(&mut self, parts: &Custom) -> FuncId {
        let rule = match parts.rule {
            Rule::Jvp(rule) | Rule::Vjp(rule, _) => rule,
        };
        let helper = Helper::Ruled(parts.func, rule);
        if let Some(known) = self.helpers.get(&helper) {
            return *known;
        }
        let func = self.program.funcs.at(parts.func);
        let (name, results, params) = (func.name, func.results.clone(), func.param_types());
        let id = self.reserve(name.as_str());
        self.helpers.insert(helper, id);
        let (captured, types) = params.split_at_checked(parts.captured.len()).unwrap_or_default();
        let of_rule = self.program.funcs.at(rule).param_types();
        let rule_captured = of_rule.get(..parts.rule_captured.len()).unwrap_or_default();
        let all = [captured, rule_captured, types].map(|types| self.tys(types));
        let mut work = Work::new(self, Builder::new(name));
        work.state_params();
        let [captured, rule_captured, point] =
            all.map(|types| types.into_iter().map(|ty| work.b.param("x".into(), ty)).collect::<Vec<Atom>>());
        let (func, rule) = (parts.func, parts.rule);
        let ruled = Ruled { func, rule, captured, rule_captured, point, types: types.to_vec(), results };
        let found = work.ruled(&ruled, id);
        let made = work.finish(found);
        *self.program.funcs.at_mut(id) = made;
        id
    }
}

impl Work<'_> {
    fn ruled(&mut self, ruled: &Ruled, own: FuncId) -> Vec<Atom> {
        let mut way = Way { given: Vec::new(), carried: vec![Atom::Int(-1), Atom::Bool(false)] };
        for (x, ty) in ruled.point.iter().zip(&ruled.types) {
            self.walk(Walk::Largest, *ty, &mut way, std::slice::from_ref(x));
        }
        let [tag, noted] = <[Atom; 2]>::try_from(way.carried).unwrap_or([const { Atom::Unit }; 2]);
        let constant = self.b.compare(Compare::Lt, tag.clone(), Atom::Int(0));
        let types = self.to.tys(&ruled.results);
        self.choose(
            constant,
            &types,
            |work| {
                let args = ruled.captured.iter().chain(&ruled.point).cloned().collect();
                work.call_source(ruled.func, args, &ruled.results)
            },
            |work| {
                work.choose(
                    noted,
                    &types,
                    |work| work.fail(&types, BEYOND),
                    |work| match ruled.rule {
                        Rule::Jvp(rule) => work.by_rule(ruled, rule, own, &tag),
                        Rule::Vjp(..) => work.fail(&types, BEYOND),
                    },
                )
            },
        )
    }

    /// Calls what a function of the program is here.
    fn call_source(&mut self, func: FuncId, args: Vec<Atom>, results: &[Ty]) -> Vec<Atom> {
        let (own, touches) = (self.to.func(func), self.to.touching.contains(&func));
        self.call_touching(own, touches, args, results)
    }

    /// Value, and the tangent that the rule gives.
    fn by_rule(&mut self, ruled: &Ruled, rule: FuncId, own: FuncId, tag: &Atom) -> Vec<Atom> {
        let Ruled { captured, rule_captured, point, types, results, .. } = ruled;
        let given = std::slice::from_ref(tag);
        let parts = |work: &mut Self, walk: Walk| -> Vec<Atom> {
            let each = point.iter().zip(types);
            each.map(|(x, ty)| work.walked(walk, *ty, given, std::slice::from_ref(x))).collect()
        };
        let inside = parts(self, Walk::Without);
        let tangents = parts(self, Walk::Tangent);
        let args = captured.iter().chain(rule_captured).chain(&inside).cloned().collect();
        let values = self.call_touching(own, true, args, results);
        let args = rule_captured.iter().chain(&inside).chain(&tangents).cloned().collect();
        let found = self.call_source(rule, args, &results.repeat(2));
        let mut all = Vec::new();
        for ((value, tangent), ty) in values.iter().zip(found.iter().skip(results.len())).zip(results) {
            all.push(self.walked(Walk::Rule, *ty, given, &[value.clone(), tangent.clone()]));
        }
        all
    }
}
