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
//! A rule with an infinite slope makes something else of zero; then the derivative is made otherwise. So it is where there are third
//! derivatives, in which the point varies in the rule, and series, along which `f` must not vary, as only a function with a rule tells.

use crate::{Code, Key};
use wengert_base::Name;
use wengert_ir::op::{Atom, Compare, Custom, Op, Rule};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};

/// What a function with a rule is made of, as functions without: from what is captured, the point that does not vary, and of the rule a
/// tangent.
pub(crate) struct Beside {
    /// The function, and what varies.
    pub(crate) func: Key,
    pub(crate) args: Vec<Atom>,
    /// The rule, which gives values and tangents, and what varies.
    pub(crate) rule: Key,
    pub(crate) rule_args: Vec<Atom>,
}

impl Code<'_> {
    /// The parts of a function with a rule whose mixed derivatives are wanted to the last bit.
    pub(crate) fn beside(
        &mut self,
        parts: &Custom,
        values: &[Ty],
        (captured, rule_captured): (Vec<bool>, Vec<bool>),
    ) -> Option<Beside> {
        if !self.ad.exact || !self.ad.is_inside || !self.ad.nests_once || !rule_captured.contains(&true) {
            return None;
        }
        let atoms = parts.captured.iter().chain(&parts.rule_captured).chain(&parts.point);
        let types: Vec<Ty> = atoms.map(|atom| self.b.type_of(atom)).chain(values.iter().copied()).collect();
        if !types.into_iter().all(|ty| self.ad.is_first_order(ty)) {
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
        let velocity = self.velocity(&parts.point);
        let (mut func, mut rule): (Key, Key) = ((parts.func, captured), (rule, rule_captured));
        func.1.resize(parts.captured.len() + still.len(), false);
        rule.1.resize(fixed + velocity.len(), false);
        let args = parts.captured.iter().chain(&still).cloned().collect();
        let rule_args = parts.rule_captured.iter().chain(&still).chain(&velocity).cloned().collect();
        Some(Beside { func, args, rule, rule_args })
    }

    /// Zeros that vary as the point does.
    fn velocity(&mut self, point: &[Atom]) -> Vec<Atom> {
        let types: Vec<Ty> = point.iter().map(|x| self.b.type_of(x)).collect();
        let mut code = Code::new(self.ad, "zero_velocity");
        let params = code.field_params("x", &types);
        let zeros = params.iter().zip(&types).map(|(x, ty)| code.outward(x, None, *ty)).collect();
        let made = code.finish(zeros);
        let func = self.ad.program.funcs.push(made);
        let rule = self.second(&types, &types);
        let (captured, rule_captured) = (Vec::new(), Vec::new());
        let op = Custom { func, captured, rule: Rule::Jvp(rule), rule_captured, point: point.to_vec() };
        self.b.called("v").typed(&types, Op::Custom(Box::new(op)))
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
