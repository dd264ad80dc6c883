//! Arithmetic, noted on the tape: the terms and the divisor of the rule in `wengert_prim` that applies.
//!
//! What is a number that varies already, with nothing done to it (`x + 0`), is not noted: it has the slot of that number, unless the rule
//! distinguishes cases. The entries: [`super::entries`].

use super::entries::{
    APART, COEF_A, COEF_B, DIVISOR, NEGATIVE_A, NEGATIVE_B, TERM_A, TERM_B, nothing, slot_and_state,
};
use super::{Helper, Record, State, state_types};
use crate::scalar;
use crate::{Ad, Code};
use wengert_base::Name;
use wengert_ir::op::{Atom, Compare, Convert, IntOp, Op, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{DataId, Ty};
use wengert_prim::{RealOp, Rule, Term, rules};

/// A term of a rule, with its operand's slot.
struct Part {
    slot: Atom,
    negative: bool,
    coef: Option<Atom>,
}

impl Part {
    fn is_plain(&self) -> bool {
        !self.negative && self.coef.is_none()
    }

    fn flags(&self, term: i64, negative: i64, coef: i64) -> i64 {
        let if_so = |holds: bool, flag: i64| if holds { flag } else { 0 };
        term | if_so(self.negative, negative) | if_so(self.coef.is_some(), coef)
    }
}

impl Ad {
    /// The function that notes a product or a quotient in which zeros are strong: one that does not vary wins, and nothing is noted.
    fn strong_function(&mut self, tape: DataId, op: RealOp) -> FuncId {
        let product = op == RealOp::MulZero;
        let results = slot_and_state(tape);
        self.recording_helper(Helper::Strong(tape, product), results.clone(), |ad| {
            let mut code = Code::new(ad, if product { "product" } else { "quotient" });
            let state = code.state_params(tape);
            let mut param = |name: &str, ty| code.b.param(name.into(), ty);
            let (x, a) = (param("x", Ty::REAL), param("a", Ty::INT));
            let (y, b) = (param("y", Ty::REAL), param("b", Ty::INT));
            let z = param("z", Ty::REAL);
            let mut wins = |x: &Atom, slot: &Atom| {
                let both = vec![code.is_zero(x), code.none_of(slot)];
                code.all_of(both)
            };
            let mut cond = wins(&x, &a);
            if product {
                let second = wins(&y, &b);
                cond = code.b.called("zero").select(cond, Atom::Bool(true), second);
            }
            let then = nothing(&state);
            code.b.open();
            let (flags, coefs) = if product {
                (TERM_A | COEF_A | TERM_B | COEF_B, [y, x])
            } else {
                (TERM_A | TERM_B | NEGATIVE_B | COEF_B | DIVISOR, [z, y])
            };
            let func = code.ad.entry_function(tape, flags);
            let args: Vec<Atom> = state.atoms().into_iter().chain([a, b]).chain(coefs).collect();
            let found = code.b.call(func, args, &results);
            let otherwise = code.b.close(found);
            let found = code.b.typed(&results, Op::If { cond, then, otherwise });
            code.finish(found)
        })
    }
}

impl Record<'_, '_> {
    pub(super) fn arithmetic(&mut self, out: Var, op: RealOp, args: &[Atom]) {
        let slots: Vec<Option<Atom>> = args.iter().map(|arg| self.slots_of(arg)).collect();
        if let (RealOp::MulZero | RealOp::DivZero, [x, y]) = (op, args) {
            let func = self.code.ad.strong_function(self.tape, op);
            let mut slots = slots.into_iter().map(|slot| slot.unwrap_or(Atom::Int(0)));
            let mut slot = || slots.next().unwrap_or(Atom::Int(0));
            let args = vec![x.clone(), slot(), y.clone(), slot(), Atom::Var(out)];
            let slot = self.call_noting(out, func, args);
            self.note(out, Some(slot));
            return;
        }
        let rule = rules::lookup(op);
        let case = matches!(*rule, Rule::Case(..));
        let slot = self.rule(&rule, args, &slots, out, case);
        self.note(out, slot);
    }

    /// The slot that one of two sides gives, each of which may note something.
    fn choose(
        &mut self,
        cond: Atom,
        out: Var,
        then: impl FnOnce(&mut Self) -> Option<Atom>,
        otherwise: impl FnOnce(&mut Self) -> Option<Atom>,
    ) -> Atom {
        let before = self.state.clone();
        self.code.b.open();
        let slot = then(self).unwrap_or(Atom::Int(0));
        let then = self.code.b.close(std::iter::once(slot).chain(self.state.atoms()).collect());
        self.state = before.clone();
        self.code.b.open();
        let slot = otherwise(self).unwrap_or(Atom::Int(0));
        let otherwise = self.code.b.close(std::iter::once(slot).chain(self.state.atoms()).collect());
        self.noted(out, Op::If { cond, then, otherwise })
    }

    /// Appends an operation that gives the slot of a variable, tape and count.
    fn noted(&mut self, out: Var, op: Op) -> Atom {
        let [tape, count] = state_types(self.tape);
        let name = super::slot_name(self.code.name(out));
        let outs: [(Name, Ty); 3] = [(name, Ty::INT), ("tape".into(), tape), ("n".into(), count)];
        let mut found = self.code.b.named(&outs, op);
        self.state = State::split_off(&mut found);
        found.pop().unwrap_or(Atom::Unit)
    }

    fn rule(
        &mut self,
        rule: &Rule,
        args: &[Atom],
        slots: &[Option<Atom>],
        out: Var,
        apart: bool,
    ) -> Option<Atom> {
        match rule {
            Rule::Linear { terms, divisor } => {
                let value = Atom::Var(out);
                let mut parts = Vec::new();
                for Term { arg, coef, negative } in terms {
                    let Some(Some(slot)) = slots.get(*arg).cloned() else { continue };
                    let coef = coef.as_ref().map(|coef| scalar::value(self.code, coef, args, &value));
                    parts.push(Part { slot, negative: *negative, coef });
                }
                let divisor = divisor.as_ref().filter(|_| !parts.is_empty());
                let divisor = divisor.map(|divisor| scalar::value(self.code, divisor, args, &value));
                self.entry(out, &parts, divisor, apart)
            }
            Rule::Case(test, then, otherwise) => {
                let cond = scalar::test(self.code, test, args, &Atom::Var(out));
                Some(self.choose(
                    cond,
                    out,
                    |this| this.rule(then, args, slots, out, apart),
                    |this| this.rule(otherwise, args, slots, out, apart),
                ))
            }
        }
    }

    /// Notes terms and divisor; gives the slot.
    fn entry(&mut self, out: Var, parts: &[Part], divisor: Option<Atom>, apart: bool) -> Option<Atom> {
        if self.marks.is_some() {
            return self.any_of(parts.iter().map(|part| part.slot.clone()));
        }
        let apart = if apart { APART } else { 0 };
        match (parts, divisor) {
            ([], _) => None,
            ([part], None) if part.is_plain() && apart == 0 => Some(part.slot.clone()),
            (parts, divisor) => {
                let mut flags = apart | if divisor.is_some() { DIVISOR } else { 0 };
                let places = [(TERM_A, NEGATIVE_A, COEF_A), (TERM_B, NEGATIVE_B, COEF_B)];
                for (part, (term, negative, coef)) in parts.iter().zip(places) {
                    flags |= part.flags(term, negative, coef);
                }
                let slots = parts.iter().map(|part| part.slot.clone());
                let coefs = parts.iter().filter_map(|part| part.coef.clone());
                let args = slots.chain(coefs).chain(divisor).collect();
                let func = self.code.ad.entry_function(self.tape, flags);
                Some(self.call_noting(out, func, args))
            }
        }
    }

    fn call_noting(&mut self, out: Var, func: FuncId, args: Vec<Atom>) -> Atom {
        let args = self.state.atoms().into_iter().chain(args).collect();
        self.noted(out, Op::Call { func, args, checkpoint: false })
    }

    /// The slot of the sum of two numbers with these slots.
    pub(super) fn sum_slot(&mut self, out: Var, a: Atom, b: Atom) -> Atom {
        if self.watches() {
            return self.watched_sum(a, b);
        }
        let part = |slot| Part { slot, negative: false, coef: None };
        self.entry(out, &[part(a), part(b)], None, false).unwrap_or(Atom::Int(0))
    }

    fn scaled(&mut self, out: Var, x: &Atom, coef: Atom) -> Option<Atom> {
        let slot = self.slots_of(x)?;
        self.entry(out, &[Part { slot, negative: false, coef: Some(coef) }], None, false)
    }

    /// `x ^ n`: as that of a power whose exponent is known.
    pub(super) fn power(&mut self, out: Var, base: &Atom, exponent: &Atom) {
        let Some(slot) = self.slots_of(base) else { return };
        let one = self.code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(1));
        let found = self.choose(
            one,
            out,
            |_| Some(slot),
            |this| {
                let none = this.code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(0));
                Some(this.choose(
                    none,
                    out,
                    |_| None,
                    |this| {
                        let coef = this.power_slope(base, exponent, out);
                        this.scaled(out, base, coef)
                    },
                ))
            },
        );
        self.note(out, Some(found));
    }

    /// `2 x` as `x + x` for squares, `n x ^ (n - 1)` else.
    fn power_slope(&mut self, base: &Atom, exponent: &Atom, out: Var) -> Atom {
        let code = &mut *self.code;
        let square = code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(2));
        code.b.open();
        let double = code.b.real(RealOp::Add, [base.clone(), base.clone()]);
        let then = code.b.close(vec![double]);
        code.b.open();
        let factor = code.b.convert(Convert::IntToReal, exponent.clone());
        let least = code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(i64::MIN));
        code.b.open();
        let quotient = code.b.real(RealOp::Div, [Atom::Var(out), base.clone()]);
        let at_least = code.b.close(vec![quotient]);
        code.b.open();
        let less = code.b.int(IntOp::Sub, [exponent.clone(), Atom::Int(1)]);
        let power = code.b.typed1(Ty::REAL, Op::Power { base: base.clone(), exponent: less });
        let above = code.b.close(vec![power]);
        let power = code.b.typed1(Ty::REAL, Op::If { cond: least, then: at_least, otherwise: above });
        let slope = code.b.real(RealOp::Mul, [factor, power]);
        let otherwise = code.b.close(vec![slope]);
        code.b.called("slope").typed1(Ty::REAL, Op::If { cond: square, then, otherwise })
    }

    pub(super) fn polygamma(&mut self, out: Var, order: &Atom, x: &Atom) {
        let next = self.code.b.int(IntOp::Add, [order.clone(), Atom::Int(1)]);
        let op = Op::Polygamma { order: next, x: x.clone() };
        let coef = self.code.b.called("slope").typed1(Ty::REAL, op);
        let slot = self.scaled(out, x, coef);
        self.note(out, slot);
    }
}
