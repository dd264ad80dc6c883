//! Functions with rules of their own: the value is the function's, at what is without the largest tag in the point; the rule gives the tangent
//! under that.
//!
//! ```text
//! ruled(x) = let t = the largest tag in x, y = ruled(without t x), (_, y') = rule(without t x, tangent t x) in y + y' under t
//! ```
//!
//! In reverse mode the tangent is a slot, and y' what the rule notes about it ([`marks`](super::marks)), or a node of the tape that applies
//! a pullback later ([`nodes`](super::nodes)); of a series it is the derivative, and y' that of the value. A pullback is transposed where a
//! tangent is needed.

use super::functions::Rewrite;
use super::nodes::{Largest, Runs};
use super::walks::{Walk, Way};
use super::work::Work;
use super::{Helper, NEVER, Tagged};
use crate::UNSEEN;
use wengert_ir::Builder;
use wengert_ir::op::{Atom, Compare, Custom, Rule, Stmt};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;

/// What a function with a rule is given.
#[derive(Clone)]
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

impl Ruled {
    /// The function that is the rule.
    fn rule_func(&self) -> FuncId {
        match self.rule {
            Rule::Jvp(rule) | Rule::Vjp(rule, _) => rule,
        }
    }
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
        let largest = self.largest(&ruled.point, &ruled.types);
        let constant = self.b.compare(Compare::Lt, largest.tag.clone(), Atom::Int(0));
        let types = self.to.tys(&ruled.results);
        self.choose(
            constant,
            &types,
            |work| {
                let args = ruled.captured.iter().chain(&ruled.point).cloned().collect();
                work.call_source(ruled.func, args, &ruled.results)
            },
            |work| work.varying(ruled, own, &largest),
        )
    }

    /// Calls what a function of the program is here.
    pub(super) fn call_source(&mut self, func: FuncId, args: Vec<Atom>, results: &[Ty]) -> Vec<Atom> {
        let (own, touches) = (self.to.func(func), self.to.touching.contains(&func));
        self.call_touching(own, touches, args, results)
    }

    /// The value first, then what the rule adds to it.
    fn varying(&mut self, ruled: &Ruled, own: FuncId, largest: &Largest) -> Vec<Atom> {
        let Ruled { captured, rule_captured, point, types, results, .. } = ruled;
        let Largest { tag, mode, .. } = largest;
        let given = std::slice::from_ref(tag);
        let is_series = self.b.compare(Compare::Eq, mode.clone(), Atom::Int(Walk::SERIES_MODE));
        let is_noted = self.b.compare(Compare::Eq, mode.clone(), Atom::Int(Walk::NOTED_MODE));
        if self.to.has_series {
            self.refuse_captured(ruled, tag, &is_series);
        }
        let inside = self.walked_all(Walk::Without, types, given, &[point]);
        let args = captured.iter().chain(rule_captured).chain(&inside).cloned().collect();
        let values = self.call_touching(own, true, args, results);
        let all = self.to.tys(results);
        let way = Value { largest, inside: &inside, values: &values };
        self.choose(
            is_series,
            &all,
            |work| if work.to.has_series { work.in_series(ruled, &way) } else { work.fail(&all, NEVER) },
            |work| {
                let ruled = &work.unmoved(ruled, tag);
                work.choose(
                    is_noted,
                    &all,
                    |work| {
                        if work.to.goes_back { work.noted_rule(ruled, &way) } else { work.fail(&all, NEVER) }
                    },
                    |work| work.along(ruled, &way),
                )
            },
        )
    }

    /// What the rule has captured does not move here: that it does is in the value. Else products of tangents would be asked for, which
    /// a tape refuses.
    fn unmoved(&mut self, ruled: &Ruled, tag: &Atom) -> Ruled {
        let of_rule = self.to.program.funcs.at(ruled.rule_func()).param_types();
        let captured = of_rule.get(..ruled.rule_captured.len()).unwrap_or_default().to_vec();
        let given = std::slice::from_ref(tag);
        let rule_captured = self.walked_all(Walk::Without, &captured, given, &[&ruled.rule_captured]);
        Ruled { rule_captured, ..ruled.clone() }
    }

    /// Series know nothing of what the function has captured.
    fn refuse_captured(&mut self, ruled: &Ruled, tag: &Atom, is_series: &Atom) {
        let captured = self.to.program.funcs.at(ruled.func).param_types();
        let captured = captured.get(..ruled.captured.len()).unwrap_or_default().to_vec();
        self.choose(
            is_series.clone(),
            &[],
            |work| {
                let mut way = Way { given: vec![tag.clone()], carried: vec![Atom::Bool(false)] };
                work.walk_all(Walk::Mentions, &captured, &mut way, &[&ruled.captured]);
                let found = way.carried.into_iter().next().unwrap_or(Atom::Bool(true));
                work.choose(found, &[], |work| work.fail(&[], UNSEEN), |_| Vec::new())
            },
            |_| Vec::new(),
        );
    }

    /// What a rule gives, at a point, for tangents.
    fn call_rule(&mut self, ruled: &Ruled, rule: FuncId, point: &[Atom], tangents: &[Atom]) -> Vec<Atom> {
        let args = ruled.rule_captured.iter().chain(point).chain(tangents).cloned().collect();
        let types = self.to.program.funcs.at(rule).results.clone();
        let found = self.call_source(rule, args, &types);
        found.into_iter().skip(ruled.results.len()).collect()
    }

    /// Value and tangent.
    fn along(&mut self, ruled: &Ruled, value: &Value<'_>) -> Vec<Atom> {
        let given = std::slice::from_ref(&value.largest.tag);
        let tangents = self.walked_all(Walk::Tangent, &ruled.types, given, &[&ruled.point]);
        let found = match ruled.rule {
            Rule::Jvp(rule) => self.call_rule(ruled, rule, value.inside, &tangents),
            Rule::Vjp(rule, apply) => {
                let pullback = self.call_rule(ruled, rule, value.inside, &[]);
                self.turned_around(ruled, (apply, &pullback), value, &tangents)
            }
        };
        self.walked_all(Walk::Rule, &ruled.results, given, &[value.values, &found])
    }

    /// The pullback transposed.
    fn turned_around(
        &mut self,
        ruled: &Ruled,
        (apply, pullback): (FuncId, &[Atom]),
        value: &Value<'_>,
        tangents: &[Atom],
    ) -> Vec<Atom> {
        let given = std::slice::from_ref(&value.largest.tag);
        let shape = self.walked_all(Walk::Without, &ruled.results, given, &[value.values]);
        self.transposed(apply, pullback, (&ruled.types, &ruled.results), (&shape, tangents))
    }

    /// Value and derivative, as series.
    fn in_series(&mut self, ruled: &Ruled, value: &Value<'_>) -> Vec<Atom> {
        let Largest { tag, at: order, .. } = value.largest;
        let given = std::slice::from_ref(tag);
        let [shorter, velocity] = [Walk::Shorter, Walk::Velocity]
            .map(|walk| self.walked_all(walk, &ruled.types, given, &[&ruled.point]));
        let found = match ruled.rule {
            Rule::Jvp(rule) => self.call_rule(ruled, rule, &shorter, &velocity),
            Rule::Vjp(rule, apply) => {
                let pullback = self.call_rule(ruled, rule, &shorter, &[]);
                self.turned_around(ruled, (apply, &pullback), value, &velocity)
            }
        };
        let given = [tag.clone(), order.clone()];
        self.walked_all(Walk::Integral, &ruled.results, &given, &[value.values, &found])
    }

    /// Value and slots.
    fn noted_rule(&mut self, ruled: &Ruled, value: &Value<'_>) -> Vec<Atom> {
        match ruled.rule {
            Rule::Jvp(rule) => self.noted_jvp(ruled, rule, value),
            Rule::Vjp(rule, apply) => self.noted_vjp(ruled, (rule, apply), value),
        }
    }

    fn noted_jvp(&mut self, ruled: &Ruled, rule: FuncId, value: &Value<'_>) -> Vec<Atom> {
        let Largest { tag, at, .. } = value.largest;
        let of_rule = self.to.program.funcs.at(rule).param_types();
        let captured = of_rule.get(..ruled.rule_captured.len()).unwrap_or_default();
        let types: Vec<Ty> = captured.iter().chain(&ruled.types).copied().collect();
        let all: Vec<Atom> = ruled.rule_captured.iter().chain(value.inside).cloned().collect();
        let others = self.largest(&all, &types);
        let nested = self.b.compare(Compare::Ge, others.tag.clone(), Atom::Int(0));
        let given = [tag.clone(), at.clone(), nested];
        let found = self.with_marks([tag, at], &others.tag, |work| {
            let tangents = work.walked_all(Walk::Marked, &ruled.types, &given, &[&ruled.point]);
            work.call_rule(ruled, rule, value.inside, &tangents)
        });
        self.walked_all(Walk::Linear, &ruled.results, &given[..2], &[value.values, &found])
    }

    /// A node of the tape, unless the pullback has captured what varies under a larger tag.
    fn noted_vjp(&mut self, ruled: &Ruled, (rule, apply): (FuncId, FuncId), value: &Value<'_>) -> Vec<Atom> {
        let Largest { tag, at, .. } = value.largest;
        let given = std::slice::from_ref(tag);
        let pullback = self.call_rule(ruled, rule, value.inside, &[]);
        let of_pullback = self.to.program.funcs.at(rule).results.clone();
        let of_pullback = of_pullback.get(ruled.results.len()..).unwrap_or_default();
        let types: Vec<Ty> = of_pullback.iter().chain(&ruled.results).copied().collect();
        let all: Vec<Atom> = pullback.iter().chain(value.values).cloned().collect();
        let other = self.largest(&all, &types);
        let larger = self.b.compare(Compare::Gt, other.tag.clone(), tag.clone());
        let results = self.to.tys(&ruled.results);
        self.choose(
            larger,
            &results,
            |work| {
                let given = [tag.clone(), at.clone(), Atom::Bool(true)];
                let found = work.with_marks([tag, at], &other.tag, |work| {
                    let tangents = work.walked_all(Walk::Marked, &ruled.types, &given, &[&ruled.point]);
                    work.turned_around(ruled, (apply, &pullback), value, &tangents)
                });
                work.walked_all(Walk::Linear, &ruled.results, &given[..2], &[value.values, &found])
            },
            |work| {
                work.refuse_marked(tag, &ruled.point, &ruled.types);
                let kept = work.walked_all(Walk::Without, of_pullback, given, &[&pullback]);
                let point = work.walked_all(Walk::Bare, &ruled.types, given, &[&ruled.point]);
                let kept = kept.into_iter().chain(point).collect();
                work.push_node(Runs::Pullback(rule, apply), (tag, at), kept, value.values)
            },
        )
    }
}

/// What is known where a rule is called: the point without the largest tag in it, and the value there.
struct Value<'a> {
    largest: &'a Largest,
    inside: &'a [Atom],
    values: &'a [Atom],
}
