//! The slots of what a checkpoint is given, on the tape of its own, and the way back.
//!
//! A number that is given twice is one number there too. So beside the cells of a tape with nodes there are *places*: for each slot the
//! one that it has on the other tape, 0 if it has none; and for slot 0 the next one that is free.
//!
//! ```text
//! moved(slot, places) = if slot == 0 { 0 } else { if places[slot] == 0 { places[slot] = places[0];  places[0] += 1 };  places[slot] }
//! returned(slot, cells, places, own) = if places[slot] != 0 { cells[slot] += own[places[slot]];  places[slot] = 0 }
//! ```

use super::Helper;
use super::slots::{CELLS, CONSTANT, first, pair};
use crate::{Ad, Code};
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Ty};

/// The type of places.
pub(super) const PLACES: Ty = Ty::Array(Elem::Int, 1);

impl Code<'_> {
    /// The slots on another tape of what has these, and the places then.
    pub(super) fn moved(&mut self, slots: &Atom, ty: Ty, places: &Atom) -> (Atom, Atom) {
        let Some(own) = self.ad.slots(ty) else { return (Atom::Unit, places.clone()) };
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.moved_function(data, own);
                pair(self.b.call(func, [slots.clone(), places.clone()], &[own, PLACES]))
            }
            Ty::Scalar(_) => self.moved_slot(slots, places),
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), own.at(1)) else {
                    return (Atom::Unit, places.clone());
                };
                let step = |code: &mut Self, rows: &[Atom], kept: Vec<Atom>| match (rows, kept.as_slice()) {
                    ([slots], [places]) => {
                        let (slots, places) = code.moved(slots, row, places);
                        (vec![places], Some(slots))
                    }
                    _ => (kept, None),
                };
                let (places, slots) = self.carry(&[(slots, own)], &[places], Some(own), step);
                (slots.unwrap_or(Atom::Unit), first(places))
            }
        }
    }

    fn moved_slot(&mut self, slot: &Atom, places: &Atom) -> (Atom, Atom) {
        let none = self.b.compare(Compare::Eq, slot.clone(), Atom::Int(0));
        let then = Block { results: vec![Atom::Int(0), places.clone()], ..Block::default() };
        self.b.open();
        let known = self.b.called("place").array(ArrayOp::Index, [places.clone(), slot.clone()]);
        let is_new = self.b.compare(Compare::Eq, known.clone(), Atom::Int(0));
        self.b.open();
        let place = self.b.called("place").array(ArrayOp::Index, [places.clone(), Atom::Int(0)]);
        let next = self.b.int(IntOp::Add, [place.clone(), Atom::Int(1)]);
        let set = self.b.called("places").array(ArrayOp::Set, [places.clone(), slot.clone(), place.clone()]);
        let set = self.b.called("places").array(ArrayOp::Set, [set, Atom::Int(0), next]);
        let fresh = self.b.close(vec![place, set]);
        let old = Block { results: vec![known, places.clone()], ..Block::default() };
        let types = [Ty::INT, PLACES];
        let found = self.b.typed(&types, Op::If { cond: is_new, then: fresh, otherwise: old });
        let otherwise = self.b.close(found);
        pair(self.b.typed(&types, Op::If { cond: none, then, otherwise }))
    }

    /// Cells and places after what the other tape's cells hold was added at these slots.
    pub(super) fn returned(
        &mut self,
        slots: &Atom,
        ty: Ty,
        (cells, places): (&Atom, &Atom),
        from: &Atom,
    ) -> (Atom, Atom) {
        let Some(own) = self.ad.slots(ty) else { return (cells.clone(), places.clone()) };
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.returned_function(data, own);
                let args = [slots.clone(), cells.clone(), places.clone(), from.clone()];
                pair(self.b.call(func, args, &[CELLS, PLACES]))
            }
            Ty::Scalar(_) => self.returned_slot(slots, (cells, places), from),
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), own.at(1)) else {
                    return (cells.clone(), places.clone());
                };
                let step = |code: &mut Self, rows: &[Atom], kept: Vec<Atom>| match (rows, kept.as_slice()) {
                    ([slots], [cells, places]) => {
                        let (cells, places) = code.returned(slots, row, (cells, places), from);
                        (vec![cells, places], None)
                    }
                    _ => (kept, None),
                };
                pair(self.carry(&[(slots, own)], &[cells, places], None, step).0)
            }
        }
    }

    fn returned_slot(&mut self, slot: &Atom, (cells, places): (&Atom, &Atom), from: &Atom) -> (Atom, Atom) {
        let unchanged = || Block { results: vec![cells.clone(), places.clone()], ..Block::default() };
        let types = [CELLS, PLACES];
        let none = self.b.compare(Compare::Eq, slot.clone(), Atom::Int(0));
        self.b.open();
        let place = self.b.called("place").array(ArrayOp::Index, [places.clone(), slot.clone()]);
        let is_done = self.b.compare(Compare::Eq, place.clone(), Atom::Int(0));
        self.b.open();
        let given = self.b.array(ArrayOp::Index, [from.clone(), place]);
        let added = self.add_to_cell(cells, slot, &given, None);
        let args = [places.clone(), slot.clone(), Atom::Int(0)];
        let places = self.b.called("places").array(ArrayOp::Set, args);
        let otherwise = self.b.close(vec![added, places]);
        let found = self.b.typed(&types, Op::If { cond: is_done, then: unchanged(), otherwise });
        let otherwise = self.b.close(found);
        pair(self.b.typed(&types, Op::If { cond: none, then: unchanged(), otherwise }))
    }
}

impl Ad {
    fn moved_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.whole_slots(data);
        self.recording_helper(Helper::Moved(data), vec![own, PLACES], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("moved_{name}"));
            let given = code.b.param("slots".into(), own);
            let start = code.b.param("places".into(), PLACES);
            let Elem::Data(slots) = own.elem() else { return code.finish(vec![given, start]) };
            code.b.open();
            let constant = code.b.make(slots, CONSTANT, []);
            let mut arms = vec![code.b.close(vec![constant, start.clone()])];
            for (i, ctor) in ctors.iter().enumerate() {
                code.b.open();
                let (mut parts, mut places) = (Vec::new(), start.clone());
                for (param, ty) in code.slot_params("slot", ctor) {
                    let (slots, next) = code.moved(&param, ty, &places);
                    parts.push(slots);
                    places = next;
                }
                let made = code.b.make(slots, i as u32 + 1, parts);
                arms.push(code.b.close(vec![made, places]));
            }
            let found = code.b.typed(&[own, PLACES], Op::Match { on: given, arms });
            code.finish(found)
        })
    }

    fn returned_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.whole_slots(data);
        self.recording_helper(Helper::Returned(data), vec![CELLS, PLACES], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("returned_{name}"));
            let slots = code.b.param("slots".into(), own);
            let cells = code.b.param("cells".into(), CELLS);
            let places = code.b.param("places".into(), PLACES);
            let from = code.b.param("from".into(), CELLS);
            let mut arms = vec![Block { results: vec![cells.clone(), places.clone()], ..Block::default() }];
            for ctor in &ctors {
                code.b.open();
                let (mut cells, mut places) = (cells.clone(), places.clone());
                for (param, ty) in code.slot_params("slot", ctor) {
                    (cells, places) = code.returned(&param, ty, (&cells, &places), &from);
                }
                arms.push(code.b.close(vec![cells, places]));
            }
            let found = code.b.typed(&[CELLS, PLACES], Op::Match { on: slots, arms });
            code.finish(found)
        })
    }
}

impl Code<'_> {
    /// Parameters for the slots of a constructor's fields that have any; with the types of the fields.
    pub(super) fn slot_params(&mut self, name: &str, ctor: &Ctor) -> Vec<(Atom, Ty)> {
        let mut params = Vec::new();
        for ty in &ctor.fields {
            if let Some(own) = self.ad.slots(*ty) {
                params.push((self.b.param(name.into(), own), *ty));
            }
        }
        params
    }
}
