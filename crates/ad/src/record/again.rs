//! The slots of a value once more, on top of the tape: the tangents that a rule is given are other numbers than the point, and what
//! the rule does with them adds up before it goes to the point.
//!
//! ```text
//! again(slot, tape, n) = one(tape, n, slot)        again([…]) = each of them, one after the other
//! ```

use super::entries::{APART, TERM_A};
use super::slots::{first, pair};
use super::{Helper, Record, State, state_types};
use crate::{Ad, Code};
use wengert_ir::op::{Atom, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Data, DataId, Elem, Ty};

impl Record<'_, '_> {
    /// Slots of tangents of numbers with these slots.
    pub(super) fn marked(&mut self, slots: Atom, ty: Ty) -> Atom {
        if self.marks.is_some() || !self.code.ad.is_first_order(ty) {
            return slots;
        }
        let (slots, state) = self.code.again(&slots, ty, self.tape, &self.state);
        self.state = state;
        slots
    }
}

impl Code<'_> {
    fn again(&mut self, slots: &Atom, ty: Ty, tape: DataId, state: &State) -> (Atom, State) {
        let Some(own) = self.ad.slots(ty) else { return (slots.clone(), state.clone()) };
        let [of_tape, of_count] = state_types(tape);
        match ty {
            Ty::Scalar(of) => {
                let func = match of {
                    Elem::Data(data) => self.ad.again_function(data, own, tape),
                    Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => {
                        self.ad.entry_function(tape, TERM_A | APART)
                    }
                };
                let args: Vec<Atom> = state.atoms().into_iter().chain([slots.clone()]).collect();
                let outs = [("slots".into(), own), ("tape".into(), of_tape), ("n".into(), of_count)];
                let mut found = self.b.named(&outs, Op::Call { func, args, checkpoint: false });
                let state = State::split_off(&mut found);
                (first(found), state)
            }
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), own.at(1)) else {
                    return (slots.clone(), state.clone());
                };
                let step = |code: &mut Self, rows: &[Atom], kept: Vec<Atom>| match (rows, kept.as_slice()) {
                    ([slots], [tape_now, count]) => {
                        let state = State { tape: tape_now.clone(), count: count.clone() };
                        let (slots, state) = code.again(slots, row, tape, &state);
                        (state.atoms().to_vec(), Some(slots))
                    }
                    _ => (kept, None),
                };
                let [tape_now, count] = state.atoms();
                let (kept, slots) = self.carry(&[(slots, own)], &[&tape_now, &count], Some(own), step);
                let (tape, count) = pair(kept);
                (slots.unwrap_or(Atom::Unit), State { tape, count })
            }
        }
    }
}

impl Ad {
    fn again_function(&mut self, data: DataId, own: Ty, tape: DataId) -> FuncId {
        self.whole_slots(data);
        let [of_tape, of_count] = state_types(tape);
        let types = [own, of_tape, of_count];
        self.recording_helper(Helper::Again(data, tape), types.to_vec(), |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("again_{name}"));
            let start = code.state_params(tape);
            let given = code.b.param("slots".into(), own);
            let Elem::Data(slots) = own.elem() else {
                let results = std::iter::once(given).chain(start.atoms()).collect();
                return code.finish(results);
            };
            code.b.open();
            let mut arms = vec![code.b.close(std::iter::once(given.clone()).chain(start.atoms()).collect())];
            for (i, ctor) in ctors.iter().enumerate() {
                code.b.open();
                let (mut parts, mut state) = (Vec::new(), start.clone());
                for (param, ty) in code.slot_params("slot", ctor) {
                    let (slots, next) = code.again(&param, ty, tape, &state);
                    parts.push(slots);
                    state = next;
                }
                let made = code.b.make(slots, i as u32 + 1, parts);
                arms.push(code.b.close(std::iter::once(made).chain(state.atoms()).collect()));
            }
            let found = code.b.typed(&types, Op::Match { on: given, arms });
            code.finish(found)
        })
    }
}
