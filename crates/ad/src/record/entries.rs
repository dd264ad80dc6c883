//! The entries of a tape, and the functions that note them.
//!
//! ```text
//! Tape = Start | One flags a c rest                   ż = ± c · ȧ
//!              | Two flags a b c e rest               ż = ± c · ȧ ± e · ḃ
//!              | Quotient flags a b c e d rest        ż = (± c · ȧ ± e · ḃ) / d
//! ```
//!
//! The flags say which coefficients and signs are there, and of a quotient whether the second term is. What does not vary has no term,
//! and what is nothing but a number that varies already has the slot of that, unless it is noted apart.
//!
//! On a tape that nothing is differentiated of, the signs are in the coefficients, all of which are there, and there are no flags.

use super::{Helper, State, state_types};
use crate::{Ad, Code};
use wengert_ir::op::{Atom, Block, Compare, IntOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_prim::RealOp;

pub(super) const TERM_A: i64 = 1;
pub(super) const NEGATIVE_A: i64 = 1 << 1;
pub(super) const COEF_A: i64 = 1 << 2;
pub(super) const TERM_B: i64 = 1 << 3;
pub(super) const NEGATIVE_B: i64 = 1 << 4;
pub(super) const COEF_B: i64 = 1 << 5;
pub(super) const DIVISOR: i64 = 1 << 6;
/// Noted in any case.
pub(super) const APART: i64 = 1 << 7;
/// The bits of the second term, moved to those of the first.
const SECOND: i64 = 3;

/// The constructors of a tape.
pub(super) const START: u32 = 0;
pub(super) const ONE: u32 = 1;
pub(super) const TWO: u32 = 2;
pub(super) const QUOTIENT: u32 = 3;
/// The first of those that need the program to run ([`super::custom`]).
pub(super) const NODES: u32 = 4;

/// A term of an entry: its slot, and its coefficient where it has one.
type Term = (Atom, Option<Atom>);

impl Ad {
    /// The type of tapes without nodes.
    pub(super) fn plain_tape(&mut self) -> DataId {
        let known = if self.is_inside { self.recorded.plain_tape } else { self.recorded.last_tape };
        if let Some(known) = known {
            return known;
        }
        let tape = self.new_tape();
        let place = if self.is_inside { &mut self.recorded.plain_tape } else { &mut self.recorded.last_tape };
        *place = Some(tape);
        tape
    }

    pub(super) fn new_tape(&mut self) -> DataId {
        let data = Data { name: "Tape".into(), role: Role::Residual, ctors: Vec::new() };
        let tape = self.program.data.push(data);
        let own = Ty::Scalar(Elem::Data(tape));
        let flags = if self.is_inside { 1 } else { 0 };
        if !self.is_inside {
            self.recorded.last.insert(tape);
        }
        let ctor = |name: &str, ints: usize, reals: usize| {
            let fields = [vec![Ty::INT; flags + ints], vec![Ty::REAL; reals], vec![own]].concat();
            Ctor { name: name.into(), fields }
        };
        self.program.data.at_mut(tape).ctors = vec![
            Ctor { name: "Start".into(), fields: Vec::new() },
            ctor("One", 1, 1),
            ctor("Two", 2, 2),
            ctor("Quotient", 2, 3),
        ];
        tape
    }

    /// Whether nothing is differentiated of a tape.
    pub(super) fn is_last(&self, tape: DataId) -> bool {
        self.recorded.last.contains(&tape)
    }

    /// The function that notes an entry: from the tape, the slots of the terms and the coefficients and the divisor that the flags say.
    pub(super) fn entry_function(&mut self, tape: DataId, flags: i64) -> FuncId {
        let results = slot_and_state(tape);
        self.recording_helper(Helper::Entry(tape, flags), results.clone(), |ad| {
            let has = |flag: i64| flags & flag != 0;
            let name = if has(DIVISOR) {
                "quotient"
            } else if has(TERM_B) {
                "two"
            } else {
                "one"
            };
            let mut code = Code::new(ad, name);
            let state = code.state_params(tape);
            let a = code.b.param("a".into(), Ty::INT);
            let b = has(TERM_B).then(|| code.b.param("b".into(), Ty::INT));
            let mut real = |name: &str, flag| has(flag).then(|| code.b.param(name.into(), Ty::REAL));
            let (c, e, d) = (real("c", COEF_A), real("e", COEF_B), real("d", DIVISOR));
            if code.ad.is_no_tape(tape) {
                let slot = match b {
                    Some(b) => code.either(a, b),
                    None => a,
                };
                return code.finish(std::iter::once(slot).chain(state.atoms()).collect());
            }
            let mut entries = Entries { code: &mut code, tape, state, flags, divisor: d };
            let found = match b {
                None => entries.if_varies(&a.clone(), |_| None, |this| this.alone((a, c), false)),
                Some(b) => {
                    let (first, second) = ((a.clone(), c), (b.clone(), e));
                    let only_second = second.clone();
                    let without = |this: &mut Entries<'_, '_>| {
                        Some(this.if_varies(&b, |_| None, |this| this.alone(only_second, true)))
                    };
                    let (other, other_first) = (b.clone(), first.clone());
                    let with = |this: &mut Entries<'_, '_>| {
                        let alone = |this: &mut Entries<'_, '_>| Some(this.alone(other_first, false));
                        this.if_varies(&other, alone, |this| this.pushed(flags, first, Some(second)))
                    };
                    entries.if_varies(&a, without, with)
                }
            };
            code.finish(found)
        })
    }
}

/// Writes what notes an entry.
struct Entries<'e, 'c> {
    code: &'e mut Code<'c>,
    tape: DataId,
    state: State,
    flags: i64,
    divisor: Option<Atom>,
}

impl Entries<'_, '_> {
    /// What is done if a slot is that of something that varies, and if it is not; if that is nothing, nothing is noted.
    fn if_varies(
        &mut self,
        slot: &Atom,
        none: impl FnOnce(&mut Self) -> Option<Vec<Atom>>,
        some: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let cond = self.code.none_of(slot);
        self.code.b.open();
        let found = none(self).unwrap_or_else(|| self.unchanged(Atom::Int(0)));
        let then = self.code.b.close(found);
        self.code.b.open();
        let found = some(self);
        let otherwise = self.code.b.close(found);
        self.code.b.typed(&slot_and_state(self.tape), Op::If { cond, then, otherwise })
    }

    /// A slot, and nothing noted.
    fn unchanged(&self, slot: Atom) -> Vec<Atom> {
        std::iter::once(slot).chain(self.state.atoms()).collect()
    }

    /// One of the terms without the other, which may be nothing but the number itself.
    fn alone(&mut self, term: Term, second: bool) -> Vec<Atom> {
        let own = if second { self.flags >> SECOND } else { self.flags };
        let own = own & (TERM_A | NEGATIVE_A | COEF_A);
        let rest = self.flags & (DIVISOR | APART);
        if own == TERM_A && rest == 0 {
            return self.unchanged(term.0);
        }
        self.pushed(own | rest, term, None)
    }

    /// An entry on top of the tape: its slot, tape and count.
    fn pushed(&mut self, flags: i64, first: Term, second: Option<Term>) -> Vec<Atom> {
        let is_last = self.code.ad.is_last(self.tape);
        let ctor = match (&self.divisor, &second) {
            (Some(_), _) => QUOTIENT,
            (None, Some(_)) => TWO,
            (None, None) => ONE,
        };
        let mut fields = Vec::new();
        fields.extend((!is_last).then_some(Atom::Int(flags)));
        let (mut slots, mut coefs) = (vec![first.0], vec![(first.1, NEGATIVE_A)]);
        if ctor != ONE {
            let (slot, coef) = second.unwrap_or((Atom::Int(0), None));
            slots.push(slot);
            coefs.push((coef, NEGATIVE_B));
        }
        fields.extend(slots);
        for (coef, negative) in coefs {
            fields.push(match coef {
                _ if is_last => self.signed(coef, flags & negative != 0),
                Some(coef) => coef,
                None => Atom::Real(0.0),
            });
        }
        fields.extend(self.divisor.clone());
        let [list, count] = self.state.atoms();
        fields.push(list);
        let list = self.code.b.called("tape").make(self.tape, ctor, fields);
        let op = Op::Int(IntOp::Add, vec![count.clone(), Atom::Int(1)]);
        let next = self.code.b.called("n").typed1(Ty::INT, op);
        vec![count, list, next]
    }

    /// A coefficient with its sign.
    fn signed(&mut self, coef: Option<Atom>, negative: bool) -> Atom {
        match (coef, negative) {
            (None, false) => Atom::Real(1.0),
            (None, true) => Atom::Real(-1.0),
            (Some(coef), false) => coef,
            (Some(coef), true) => self.code.b.real(RealOp::Neg, [coef]),
        }
    }
}

/// The results of what notes something: the slot of that, tape and count.
pub(super) fn slot_and_state(tape: DataId) -> Vec<Ty> {
    std::iter::once(Ty::INT).chain(state_types(tape)).collect()
}

/// Nothing varies, and nothing is noted.
pub(super) fn nothing(state: &State) -> Block {
    Block { results: std::iter::once(Atom::Int(0)).chain(state.atoms()).collect(), ..Block::default() }
}

impl Code<'_> {
    pub(super) fn none_of(&mut self, slot: &Atom) -> Atom {
        self.b.compare(Compare::Eq, slot.clone(), Atom::Int(0))
    }
}
