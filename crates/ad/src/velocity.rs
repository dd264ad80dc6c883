//! Mixed derivatives of functions with rules ([`crate::mixed`]) to the last bit, as the interpreter computes them. There, what a rule has
//! captured varies while the rule runs on a tangent that varies, and each use of it is added up where it stands:
//!
//! ```text
//! y = custom f rule x            v = velocity x;  dy = tangent of rule(still x, v);  y = f(still x) with dy
//! ```
//!
//! A *velocity* is zero, and its derivative by the point is 1; so is what a rule makes of it, which is linear. A value *with* another one
//! is that value and varies with both. Both are functions with rules that have captured nothing. What is captured varies in `f` and in the
//! rule, which are differentiated as other code is.
//!
//! Where derivatives are differentiated more than once, there is such a tangent for each derivative that may follow, and the point varies
//! in the rule with those that follow that one. So *when* they count is counted down as derivatives are made:
//!
//! ```text
//! y₀ = f(still x)       y₁ = y₀ with rule(still x, velocity x that counts last)       y₂ = y₁ with rule(x then still, velocity x)
//! ```
//!
//! A rule with an infinite slope makes something else of zero; then the derivative is made otherwise. So it is in series, along which `f`
//! must not vary, as only a function with a rule tells.

use crate::{Ad, Code, Key};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{Atom, Compare, Custom, Op, Rule, Stmt};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};

/// How often derivatives may be differentiated for that.
pub(crate) const MOST: usize = 3;

/// What there is to know of derivatives that are differentiated.
#[derive(Default)]
pub(crate) struct Later {
    /// How often they are at most; 0 if that may be often.
    pub(crate) outer: usize,
    /// The functions of which series are asked, and all that these call.
    pub(crate) in_series: FxHashSet<FuncId>,
    /// Rules of what counts with a later derivative than the next.
    delays: FxHashMap<FuncId, Delay>,
}

/// When a point counts: so many derivatives from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    /// The point, which does not vary before.
    Still(usize),
    /// A zero that varies only then, as the point does.
    Velocity(usize),
}

/// What a function with a rule is made of, as functions without: from what is captured, the point that does not vary, and of the rule a
/// tangent.
pub(crate) struct Beside {
    /// The function, and what varies.
    pub(crate) func: Key,
    pub(crate) args: Vec<Atom>,
    /// The rule, which gives values and tangents, and what varies.
    pub(crate) rule: Key,
    /// What it is given, for each derivative that may follow; the last one first.
    pub(crate) rule_args: Vec<Vec<Atom>>,
}

impl Ad {
    /// When the point of a function with a rule counts, if not at once.
    pub(crate) fn delay(&self, parts: &Custom) -> Option<Delay> {
        match parts.rule {
            Rule::Jvp(rule) => self.later_on.delays.get(&rule).copied(),
            Rule::Vjp(..) => None,
        }
    }
}

impl Code<'_> {
    /// The parts of a function with a rule whose mixed derivatives are wanted to the last bit.
    pub(crate) fn beside(
        &mut self,
        parts: &Custom,
        values: &[Ty],
        (captured, rule_captured): (Vec<bool>, Vec<bool>),
    ) -> Option<Beside> {
        let varies = captured.contains(&true) || rule_captured.contains(&true);
        if !self.ad.exact || !self.ad.is_inside || !varies {
            return None;
        }
        let found = self.beside_varying(parts, values, (captured, rule_captured));
        // What was captured adds up apart then.
        self.ad.is_inexact |= found.is_none();
        found
    }

    fn beside_varying(
        &mut self,
        parts: &Custom,
        values: &[Ty],
        (captured, rule_captured): (Vec<bool>, Vec<bool>),
    ) -> Option<Beside> {
        if self.ad.later_on.outer == 0 {
            return None;
        }
        if !self.ad.sources.contains(&parts.func) || self.ad.later_on.in_series.contains(&parts.func) {
            return None;
        }
        let point: Vec<Ty> = parts.point.iter().map(|atom| self.b.type_of(atom)).collect();
        if !point.into_iter().chain(values.iter().copied()).all(|ty| self.ad.is_first_order(ty)) {
            return None;
        }
        let rule = self.ad.tangent_rule(parts.rule);
        let fixed = parts.rule_captured.len() + parts.point.len();
        let mut tangents = vec![false; fixed];
        tangents.resize(fixed + parts.point.len(), true);
        if !self.ad.is_linear(&(rule, tangents), values.len(), fixed) {
            return None;
        }
        let still = self.still(&parts.point);
        let (mut func, mut rule): (Key, Key) = ((parts.func, captured), (rule, rule_captured));
        func.1.resize(parts.captured.len() + still.len(), false);
        rule.1.resize(fixed + parts.point.len(), false);
        let args = parts.captured.iter().chain(&still).cloned().collect();
        let mut rule_args = Vec::new();
        for left in (0..self.ad.later_on.outer).rev() {
            let here = if left + 1 == self.ad.later_on.outer {
                still.clone()
            } else {
                self.delayed(&parts.point, Delay::Still(left + 1))
            };
            let velocity = self.delayed(&parts.point, Delay::Velocity(left));
            rule_args.push(parts.rule_captured.iter().chain(&here).chain(&velocity).cloned().collect());
        }
        Some(Beside { func, args, rule, rule_args })
    }

    /// A point, or zeros that vary as it does, from some derivative on.
    fn delayed(&mut self, point: &[Atom], delay: Delay) -> Vec<Atom> {
        let types: Vec<Ty> = point.iter().map(|x| self.b.type_of(x)).collect();
        let func = match delay {
            Delay::Still(_) => self.itself(&types, &[]),
            Delay::Velocity(_) => {
                let mut code = Code::new(self.ad, "zero_velocity");
                let params = code.field_params("x", &types);
                let zeros = params.iter().zip(&types).map(|(x, ty)| code.outward(x, None, *ty)).collect();
                let made = code.finish(zeros);
                self.ad.program.funcs.push(made)
            }
        };
        let rule = self.second(&types, &types);
        self.ad.later_on.delays.insert(rule, delay);
        let (captured, rule_captured) = (Vec::new(), Vec::new());
        let op = Custom { func, captured, rule: Rule::Jvp(rule), rule_captured, point: point.to_vec() };
        self.b.called("v").typed(&types, Op::Custom(Box::new(op)))
    }

    /// Appends what is left of a point that counts later, after a derivative; whether it counts in that.
    pub(crate) fn passed(&mut self, stmt: &Stmt, parts: &Custom, delay: Delay) -> bool {
        let later = match delay {
            Delay::Velocity(0) => {
                let op = Op::Call { func: parts.func, args: parts.point.clone(), checkpoint: false };
                self.b.push(Stmt { op, ..stmt.clone() });
                return true;
            }
            Delay::Still(0 | 1) => parts.point.clone(),
            Delay::Still(left) => self.delayed(&parts.point, Delay::Still(left - 1)),
            Delay::Velocity(left) => self.delayed(&parts.point, Delay::Velocity(left - 1)),
        };
        for (out, value) in stmt.outs.iter().zip(later) {
            self.b.push(Stmt { outs: vec![*out], op: Op::Copy(value), span: stmt.span });
        }
        false
    }

    /// The values, which vary besides as the others do.
    pub(crate) fn with_others(&mut self, values: &[Atom], others: &[Atom]) -> Vec<Atom> {
        let [types, more] =
            [values, others].map(|atoms| atoms.iter().map(|atom| self.b.type_of(atom)).collect::<Vec<Ty>>());
        let named: Vec<(Name, Ty)> = values
            .iter()
            .zip(&types)
            .map(|(value, ty)| (self.b.name_of(value).unwrap_or("y".into()), *ty))
            .collect();
        let func = self.itself(&types, &more);
        let rule = self.second(&more, &more);
        let (captured, point) = (values.to_vec(), others.to_vec());
        let op = Custom { func, captured, rule: Rule::Jvp(rule), rule_captured: Vec::new(), point };
        self.b.named(&named, Op::Custom(Box::new(op)))
    }

    /// The rule that gives the tangents that it is given; these twice, because of the values nothing is needed.
    fn second(&mut self, point: &[Ty], tangents: &[Ty]) -> FuncId {
        let mut code = Code::new(self.ad, "tangent");
        code.field_params("x", point);
        let given = code.field_params("dx", tangents);
        let made = code.finish(given.iter().chain(&given).cloned().collect());
        self.ad.program.funcs.push(made)
    }

    /// Whether these numbers, and those in these arrays, are zero. It is no question whether they vary.
    pub(crate) fn are_zero(&mut self, atoms: &[Atom]) -> Atom {
        let mut zeros = Vec::new();
        for atom in atoms {
            let ty = self.b.type_of(atom);
            if ty.elem() == Elem::Real {
                zeros.push(self.is_zero_now(atom, ty));
            }
        }
        self.all_of(zeros)
    }

    fn is_zero_now(&mut self, x: &Atom, ty: Ty) -> Atom {
        match ty.at(1) {
            None => self.b.called("zero").compare(Compare::Eq, x.clone(), Atom::Real(0.0)),
            Some(row) => self.all_rows(x, |code, x| code.is_zero_now(x, row)),
        }
    }
}
