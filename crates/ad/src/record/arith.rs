//! Arithmetic, noted on the tape: the terms and the divisor of the rule in `wengert_prim` that applies.
//!
//! ```text
//! Tape = Start | One flags a c rest                   ż = ± c · ȧ
//!              | Two flags a b c e d rest             ż = (± c · ȧ ± e · ḃ) / d
//! ```
//!
//! The flags say which terms, coefficients and signs, and whether the divisor, are there. What is a number that varies already, with
//! nothing done to it (`x + 0`), is not noted: it has the slot of that number, unless the rule distinguishes cases.

use super::{Helper, Record, State, state_types};
use crate::scalar;
use crate::{Ad, Code};
use wengert_base::Name;
use wengert_ir::op::{Atom, Block, Compare, Convert, IntOp, Op, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_prim::{RealOp, Rule, Term, rules};

pub(super) const TERM_A: i64 = 1;
pub(super) const NEGATIVE_A: i64 = 1 << 1;
pub(super) const COEF_A: i64 = 1 << 2;
pub(super) const TERM_B: i64 = 1 << 3;
pub(super) const NEGATIVE_B: i64 = 1 << 4;
pub(super) const COEF_B: i64 = 1 << 5;
pub(super) const DIVISOR: i64 = 1 << 6;
/// Noted in any case.
pub(super) const APART: i64 = 1 << 7;

/// The constructors of a tape.
pub(super) const START: u32 = 0;
pub(super) const ONE: u32 = 1;
pub(super) const TWO: u32 = 2;

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

    fn coef(&self) -> Atom {
        self.coef.clone().unwrap_or(Atom::Real(0.0))
    }
}

impl Ad {
    /// The type of tapes without nodes.
    pub(super) fn plain_tape(&mut self) -> DataId {
        if let Some(known) = self.recorded.plain_tape {
            return known;
        }
        let tape = self.new_tape();
        self.recorded.plain_tape = Some(tape);
        tape
    }

    pub(super) fn new_tape(&mut self) -> DataId {
        let data = Data { name: "Tape".into(), role: Role::Residual, ctors: Vec::new() };
        let tape = self.program.data.push(data);
        let own = Ty::Scalar(Elem::Data(tape));
        let ctor = |name: &str, fields: Vec<Ty>| Ctor { name: name.into(), fields };
        let (int, real) = (Ty::INT, Ty::REAL);
        self.program.data.at_mut(tape).ctors = vec![
            ctor("Start", Vec::new()),
            ctor("One", vec![int, int, real, own]),
            ctor("Two", vec![int, int, int, real, real, real, own]),
        ];
        tape
    }

    /// The function that notes one term.
    pub(super) fn one_function(&mut self, tape: DataId) -> FuncId {
        let results = slot_and_state(tape);
        self.recording_helper(Helper::One(tape), results.clone(), |ad| {
            let mut code = Code::new(ad, "one");
            let state = code.state_params(tape);
            let [flags, a] = ["flags", "a"].map(|name| code.b.param(name.into(), Ty::INT));
            let c = code.b.param("c".into(), Ty::REAL);
            let none = code.none_of(&a);
            let then = nothing(&state);
            code.b.open();
            let fields = [flags, a, c, state.tape.clone()];
            let pushed = code.pushed(tape, ONE, fields, &state);
            let otherwise = code.b.close(pushed);
            let found = code.b.typed(&results, Op::If { cond: none, then, otherwise });
            code.finish(found)
        })
    }

    /// The function that notes two terms, or that of them which varies.
    fn two_function(&mut self, tape: DataId) -> FuncId {
        let results = slot_and_state(tape);
        self.recording_helper(Helper::Two(tape), results.clone(), |ad| {
            let mut code = Code::new(ad, "two");
            let state = code.state_params(tape);
            let [flags, a, b] = ["flags", "a", "b"].map(|name| code.b.param(name.into(), Ty::INT));
            let reals = ["c", "e", "d"].map(|name| code.b.param(name.into(), Ty::REAL));
            if code.ad.is_no_tape(tape) {
                let slot = code.either(a, b);
                return code.finish(std::iter::once(slot).chain(state.atoms()).collect());
            }
            let entry = |code: &mut Code<'_>, keep: i64| {
                let flags = code
                    .b
                    .called("flags")
                    .typed1(Ty::INT, Op::Int(IntOp::BitAnd, vec![flags.clone(), Atom::Int(keep)]));
                let [c, e, d] = reals.clone();
                code.pushed(tape, TWO, [flags, a.clone(), b.clone(), c, e, d, state.tape.clone()], &state)
            };
            let first = TERM_A | NEGATIVE_A | COEF_A;
            let second = TERM_B | NEGATIVE_B | COEF_B;
            // One of them alone, which may be nothing but the number itself.
            let alone = |code: &mut Code<'_>, slot: &Atom, done: i64, gone: i64| {
                let op = Op::Int(IntOp::BitAnd, vec![flags.clone(), Atom::Int(done | DIVISOR | APART)]);
                let done = code.b.typed1(Ty::INT, op);
                let cond = code.b.compare(Compare::Eq, done, Atom::Int(0));
                let results = std::iter::once(slot.clone()).chain(state.atoms()).collect();
                let then = Block { results, ..Block::default() };
                code.b.open();
                let pushed = entry(code, !gone);
                let otherwise = code.b.close(pushed);
                code.b.typed(&slot_and_state(tape), Op::If { cond, then, otherwise })
            };
            let cond = code.none_of(&a);
            code.b.open();
            let none = code.none_of(&b);
            let then = nothing(&state);
            code.b.open();
            let found = alone(&mut code, &b, NEGATIVE_B | COEF_B, first);
            let otherwise = code.b.close(found);
            let found = code.b.typed(&results, Op::If { cond: none, then, otherwise });
            let without_first = code.b.close(found);
            code.b.open();
            let none = code.none_of(&b);
            code.b.open();
            let found = alone(&mut code, &a, NEGATIVE_A | COEF_A, second);
            let then = code.b.close(found);
            code.b.open();
            let found = entry(&mut code, -1);
            let otherwise = code.b.close(found);
            let found = code.b.typed(&results, Op::If { cond: none, then, otherwise });
            let with_first = code.b.close(found);
            let op = Op::If { cond, then: without_first, otherwise: with_first };
            let found = code.b.typed(&results, op);
            code.finish(found)
        })
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
            let two = code.ad.two_function(tape);
            let (flags, c, e, d) = if product {
                (TERM_A | COEF_A | TERM_B | COEF_B, y, x, Atom::Real(1.0))
            } else {
                (TERM_A | TERM_B | NEGATIVE_B | COEF_B | DIVISOR, Atom::Real(0.0), z, y)
            };
            let [list, count] = state.atoms();
            let args = [list, count, Atom::Int(flags), a, b, c, e, d];
            let found = code.b.call(two, args, &results);
            let otherwise = code.b.close(found);
            let found = code.b.typed(&results, Op::If { cond, then, otherwise });
            code.finish(found)
        })
    }
}

/// The results of what notes something: the slot of that, tape and count.
fn slot_and_state(tape: DataId) -> Vec<Ty> {
    std::iter::once(Ty::INT).chain(state_types(tape)).collect()
}

/// Nothing varies, and nothing is noted.
fn nothing(state: &State) -> Block {
    Block { results: std::iter::once(Atom::Int(0)).chain(state.atoms()).collect(), ..Block::default() }
}

impl Code<'_> {
    pub(super) fn none_of(&mut self, slot: &Atom) -> Atom {
        self.b.compare(Compare::Eq, slot.clone(), Atom::Int(0))
    }

    /// An entry on top of a tape: its slot, tape and count.
    fn pushed<const N: usize>(
        &mut self,
        tape: DataId,
        ctor: u32,
        fields: [Atom; N],
        state: &State,
    ) -> Vec<Atom> {
        let tape = self.b.called("tape").make(tape, ctor, fields);
        let op = Op::Int(IntOp::Add, vec![state.count.clone(), Atom::Int(1)]);
        let count = self.b.called("n").typed1(Ty::INT, op);
        vec![state.count.clone(), tape, count]
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
            ([part], None) => {
                let flags = part.flags(TERM_A, NEGATIVE_A, COEF_A) | apart;
                let args = vec![Atom::Int(flags), part.slot.clone(), part.coef()];
                let func = self.code.ad.one_function(self.tape);
                Some(self.call_noting(out, func, args))
            }
            ([first, rest @ ..], divisor) => {
                let mut flags = first.flags(TERM_A, NEGATIVE_A, COEF_A) | apart;
                flags |= if divisor.is_some() { DIVISOR } else { 0 };
                let mut second = (Atom::Int(0), Atom::Real(0.0));
                if let Some(part) = rest.first() {
                    flags |= part.flags(TERM_B, NEGATIVE_B, COEF_B);
                    second = (part.slot.clone(), part.coef());
                }
                let divisor = divisor.unwrap_or(Atom::Real(1.0));
                let args =
                    vec![Atom::Int(flags), first.slot.clone(), second.0, first.coef(), second.1, divisor];
                let func = self.code.ad.two_function(self.tape);
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
