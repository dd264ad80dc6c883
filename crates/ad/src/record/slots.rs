//! Types of slots, and what is done with the slots of a whole value.
//!
//! ```text
//! List = Nil | Cons Real List          List_slots = Constant | Nil_slots | Cons_slots Int List_slots
//! ```
//!
//! `Constant` stands for a value that does not vary at all, and `All`, the last constructor, which there is where there are
//! [marks](super::marks), for one all of whose numbers do. For data there are functions that are made once ([`Helper`]).

use super::{Helper, slot_name};
use crate::types::ZERO;
use crate::{Ad, Code};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Block, IntOp, Loop, Mode, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_prim::RealOp;

/// The constructor of the slots of a value that does not vary.
pub(super) const CONSTANT: u32 = 0;

impl Ad {
    /// The type of the slots of values of a type, if they hold reals.
    pub(crate) fn slots(&mut self, ty: Ty) -> Option<Ty> {
        match ty.elem() {
            Elem::Real => Some(Ty::of_rank(Elem::Int, ty.rank())),
            Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => None,
            Elem::Data(data) => self.slots_data(data).map(|slots| Ty::of_rank(Elem::Data(slots), ty.rank())),
        }
    }

    /// The type of the slots of a data type. Its constructors, but for the first, are made when code needs them, for the same reason
    /// as those of [tangents](crate::types).
    pub(super) fn slots_data(&mut self, data: DataId) -> Option<DataId> {
        if let Some(known) = self.recorded.slots.get(&data) {
            return *known;
        }
        self.complete(data);
        // Tangents hold reals, though their constructors may not be there yet.
        if !self.holds(data, &|data| matches!(self.program.data.at(data).role, Role::Tangent(_))) {
            self.recorded.slots.insert(data, None);
            return None;
        }
        let name = slot_name(self.program.data.at(data).name);
        let ctors = vec![Ctor { name: "Constant".into(), fields: Vec::new() }];
        let slots = self.program.data.push(Data { name, role: Role::Residual, ctors });
        self.recorded.slots.insert(data, Some(slots));
        Some(slots)
    }

    /// The same, with all its constructors.
    pub(super) fn whole_slots(&mut self, data: DataId) -> Option<DataId> {
        let slots = self.slots_data(data)?;
        if self.recorded.whole.insert(slots) {
            self.fill(data);
            for Ctor { name, fields } in self.program.data.at(data).ctors.clone() {
                let fields = fields.into_iter().filter_map(|ty| self.slots(ty)).collect();
                self.program.data.at_mut(slots).ctors.push(Ctor { name: slot_name(name), fields });
            }
            if !self.exact {
                let all = Ctor { name: "All".into(), fields: Vec::new() };
                self.program.data.at_mut(slots).ctors.push(all);
            }
        }
        Some(slots)
    }

    /// The type of the slots of a data type, and the constructor of those of a value all of whose numbers vary.
    pub(super) fn all_ctor(&mut self, data: DataId) -> Option<(DataId, u32)> {
        let slots = self.whole_slots(data)?;
        let count = self.program.data.at(slots).ctors.len() as u32;
        (!self.exact).then(|| (slots, count.saturating_sub(1)))
    }

    /// The types of the fields of a constructor, each with that of its slots.
    fn slotted_fields(&mut self, data: DataId, ctor: u32) -> Vec<(Ty, Option<Ty>)> {
        self.fill(data);
        let fields = self.program.data.at(data).ctors.get(ctor as usize);
        let fields = fields.map(|ctor| ctor.fields.clone()).unwrap_or_default();
        fields.into_iter().map(|ty| (ty, self.slots(ty))).collect()
    }

    /// The types of those fields of a constructor that have slots.
    pub(super) fn types_with_slots(&mut self, data: DataId, ctor: u32) -> Vec<Ty> {
        let fields = self.slotted_fields(data, ctor);
        fields.into_iter().filter(|(_, own)| own.is_some()).map(|(ty, _)| ty).collect()
    }

    /// A function for recording that is made once.
    pub(super) fn recording_helper(
        &mut self,
        helper: Helper,
        results: Vec<Ty>,
        make: impl FnOnce(&mut Ad) -> Func,
    ) -> FuncId {
        if let Some(known) = self.recorded.helpers.get(&helper) {
            return *known;
        }
        let id = self.reserve(results);
        self.recorded.helpers.insert(helper, id);
        let func = make(self);
        *self.program.funcs.at_mut(id) = func;
        id
    }

    fn fields_of_slots(&mut self, data: DataId, ctor: u32) -> Option<FuncId> {
        let fields = self.slotted_fields(data, ctor);
        let slots = self.whole_slots(data)?;
        let all = self.all_ctor(data);
        let results: Vec<Ty> = fields.iter().filter_map(|(_, slots)| *slots).collect();
        Some(self.recording_helper(Helper::Fields(data, ctor), results.clone(), |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(slots).clone();
            let shown = ctors.get(ctor as usize + 1).map_or(name, |ctor| ctor.name);
            let mut code = Code::new(ad, &format!("fields_{shown}"));
            let whole = code.b.param("slots".into(), Ty::Scalar(Elem::Data(slots)));
            let mut points = Vec::new();
            for (ty, own) in &fields {
                if own.is_some() {
                    let point = (ty.rank() > 0).then(|| code.b.param("like".into(), *ty));
                    points.push((point.unwrap_or(Atom::Unit), *ty));
                }
            }
            let mut arms = Vec::new();
            for (i, made) in ctors.iter().enumerate() {
                code.b.open();
                let params = code.field_params("slot", &made.fields);
                let given = if i == ctor as usize + 1 {
                    params
                } else if i == CONSTANT as usize {
                    points.iter().map(|(point, ty)| code.no_slots(point, *ty)).collect()
                } else if all.is_some_and(|(_, all)| i == all as usize) {
                    points.iter().map(|(point, ty)| code.marks(point, *ty)).collect()
                } else {
                    code.fail(&results, "slots belong to another constructor")
                };
                arms.push(code.b.close(given));
            }
            let fields = code.b.typed(&results, Op::Match { on: whole, arms });
            code.finish(fields)
        }))
    }
}

impl Code<'_> {
    /// The slots of a value of this type that does not vary; an array is needed for its shape.
    pub(super) fn no_slots(&mut self, point: &Atom, ty: Ty) -> Atom {
        match ty {
            Ty::Scalar(Elem::Data(data)) => match self.ad.slots_data(data) {
                Some(slots) => self.b.called("slots").make(slots, CONSTANT, []),
                None => Atom::Unit,
            },
            Ty::Scalar(_) => Atom::Int(0),
            Ty::Array(Elem::Real, 1) => {
                let len = self.length(point);
                self.b.called("slots").array(ArrayOp::Replicate, [len, Atom::Int(0)])
            }
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), self.ad.slots(ty)) else { return Atom::Unit };
                let len = self.length(point);
                let rows = self.open_rows(&[("row", row)]);
                let slots = rows.first().map_or(Atom::Unit, |x| self.no_slots(x, row));
                let body = self.b.close(vec![slots]);
                self.each(len, vec![point.clone()], Vec::new(), body, &[("slots".into(), own)]).remove(0)
            }
        }
    }

    /// The slots of the fields of a constructor, from those of the whole; `fields` are its fields.
    pub(super) fn slots_of_fields(
        &mut self,
        slots: &Atom,
        data: DataId,
        ctor: u32,
        fields: &[Atom],
    ) -> Vec<Option<Atom>> {
        let types = self.ad.slotted_fields(data, ctor);
        let results: Vec<Ty> = types.iter().filter_map(|(_, own)| *own).collect();
        let func = if results.is_empty() { None } else { self.ad.fields_of_slots(data, ctor) };
        let Some(func) = func else { return vec![None; fields.len()] };
        let like = fields.iter().zip(&types).filter(|(_, (ty, own))| own.is_some() && ty.rank() > 0);
        let args: Vec<Atom> = std::iter::once(slots).chain(like.map(|(field, _)| field)).cloned().collect();
        let mut found = self.b.called("slot").call(func, args, &results).into_iter();
        types.iter().map(|(_, own)| own.and_then(|_| found.next())).collect()
    }

    /// A loop from the first row to the last that carries values and gives a row too, perhaps.
    pub(super) fn carry(
        &mut self,
        inputs: &[(&Atom, Ty)],
        carried: &[&Atom],
        row: Option<Ty>,
        step: impl FnOnce(&mut Self, &[Atom], Vec<Atom>) -> (Vec<Atom>, Option<Atom>),
    ) -> (Vec<Atom>, Option<Atom>) {
        let len = inputs.first().map_or(Atom::Int(0), |(array, _)| self.length(array));
        let mut params: Vec<(&str, Ty)> = carried.iter().map(|atom| ("kept", self.b.type_of(atom))).collect();
        let mut outs: Vec<(Name, Ty)> = params.iter().map(|(name, ty)| ((*name).into(), *ty)).collect();
        params.extend(inputs.iter().map(|(_, ty)| ("row", *ty)));
        let mut kept = self.open_rows(&params);
        let rows = kept.split_off(carried.len());
        let (mut results, given) = step(self, &rows, kept);
        results.extend(given);
        let body = self.b.close(results);
        outs.extend(row.and_then(Ty::array_of).map(|ty| ("slots".into(), ty)));
        let inputs = inputs.iter().map(|(array, _)| (*array).clone()).collect();
        let (mode, init) = (Mode::Sequence, carried.iter().map(|atom| (*atom).clone()).collect());
        let parts = Loop { mode, backward: false, len, inputs, init, accs: Vec::new(), body };
        let mut found = self.b.named(&outs, Op::Loop(Box::new(parts)));
        let rows = found.split_off(carried.len()).pop();
        (found, rows)
    }

    /// Fresh slots for a value, from `count` on; gives how many there are then.
    pub(super) fn number(&mut self, value: &Atom, ty: Ty, count: &Atom) -> (Atom, Atom) {
        let Some(own) = self.ad.slots(ty) else { return (Atom::Unit, count.clone()) };
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.number_function(data, own);
                let found = self.b.call(func, [value.clone(), count.clone()], &[own, Ty::INT]);
                pair(found)
            }
            Ty::Scalar(_) => {
                let next = self
                    .b
                    .called("n")
                    .typed1(Ty::INT, Op::Int(IntOp::Add, vec![count.clone(), Atom::Int(1)]));
                (count.clone(), next)
            }
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), own.at(1)) else {
                    return (Atom::Unit, count.clone());
                };
                let step = |code: &mut Self, rows: &[Atom], kept: Vec<Atom>| match (rows, kept.as_slice()) {
                    ([x], [count]) => {
                        let (slots, count) = code.number(x, row, count);
                        (vec![count], Some(slots))
                    }
                    _ => (kept, None),
                };
                let (count, slots) = self.carry(&[(value, row)], &[count], Some(own), step);
                (slots.unwrap_or(Atom::Unit), first(count))
            }
        }
    }

    /// Cells with a tangent at a point of type `ty` added at its slots.
    pub(super) fn seed(&mut self, slots: &Atom, tangent: &Atom, ty: Ty, cells: &Atom) -> Atom {
        let (Some(own), Some(of_tangent)) = (self.ad.slots(ty), self.ad.tangent(ty)) else {
            return cells.clone();
        };
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.seed_function(data, own, of_tangent);
                let args = [slots.clone(), tangent.clone(), cells.clone()];
                self.b.called("cells").call(func, args, &[CELLS]).remove(0)
            }
            Ty::Scalar(_) => self.add_to_cell(cells, slots, tangent, None),
            Ty::Array(..) => {
                let (Some(row), Some(own), Some(of_tangent)) = (ty.at(1), own.at(1), of_tangent.at(1)) else {
                    return cells.clone();
                };
                let inputs = [(slots, own), (tangent, of_tangent)];
                let step = |code: &mut Self, rows: &[Atom], kept: Vec<Atom>| match (rows, kept.as_slice()) {
                    ([slots, tangent], [cells]) => (vec![code.seed(slots, tangent, row, cells)], None),
                    _ => (kept, None),
                };
                first(self.carry(&inputs, &[cells], None, step).0)
            }
        }
    }

    /// Cells with what `from` has at `others` added at `slots`.
    pub(super) fn feed(&mut self, slots: &Atom, others: &Atom, ty: Ty, cells: &Atom, from: &Atom) -> Atom {
        let Some(own) = self.ad.slots(ty) else { return cells.clone() };
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.feed_function(data, own);
                let args = [slots.clone(), others.clone(), cells.clone(), from.clone()];
                self.b.called("cells").call(func, args, &[CELLS]).remove(0)
            }
            Ty::Scalar(_) => {
                let given = self.b.array(ArrayOp::Index, [from.clone(), others.clone()]);
                self.add_to_cell(cells, slots, &given, None)
            }
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), own.at(1)) else { return cells.clone() };
                let inputs = [(slots, own), (others, own)];
                let step = |code: &mut Self, rows: &[Atom], kept: Vec<Atom>| match (rows, kept.as_slice()) {
                    ([slots, others], [cells]) => (vec![code.feed(slots, others, row, cells, from)], None),
                    _ => (kept, None),
                };
                first(self.carry(&inputs, &[cells], None, step).0)
            }
        }
    }

    /// A value with what the cells have in place of its reals.
    pub(super) fn collect(&mut self, point: &Atom, slots: &Atom, ty: Ty, cells: &Atom) -> Atom {
        let Some(own) = self.ad.slots(ty) else { return point.clone() };
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.collect_function(data, own);
                let args = [point.clone(), slots.clone(), cells.clone()];
                self.b.called("x_bar").call(func, args, &[ty]).remove(0)
            }
            Ty::Scalar(_) => self.b.called("x_bar").array(ArrayOp::Index, [cells.clone(), slots.clone()]),
            Ty::Array(..) => {
                let (Some(row), Some(own)) = (ty.at(1), own.at(1)) else { return point.clone() };
                let len = self.length(slots);
                let rows = self.open_rows(&[("x", row), ("slots", own)]);
                let found = match rows.as_slice() {
                    [x, slots] => self.collect(x, slots, row, cells),
                    _ => Atom::Unit,
                };
                let body = self.b.close(vec![found]);
                let inputs = vec![point.clone(), slots.clone()];
                self.each(len, inputs, Vec::new(), body, &[("x_bar".into(), ty)]).remove(0)
            }
        }
    }

    /// Cells with a number added (or subtracted, if that holds) at a slot; what is nothing but zero adds nothing.
    pub(super) fn add_to_cell(
        &mut self,
        cells: &Atom,
        slot: &Atom,
        number: &Atom,
        negative: Option<&Atom>,
    ) -> Atom {
        let cond = self.is_zero(number);
        let then = Block { results: vec![cells.clone()], ..Block::default() };
        self.b.open();
        let old = self.b.called("old").array(ArrayOp::Index, [cells.clone(), slot.clone()]);
        let new = match negative {
            None => self.b.called("new").real(RealOp::Add, [old, number.clone()]),
            Some(negative) => {
                let mut sides = Vec::new();
                for op in [RealOp::Sub, RealOp::Add] {
                    self.b.open();
                    let new = self.b.called("new").real(op, [old.clone(), number.clone()]);
                    sides.push(self.b.close(vec![new]));
                }
                let [then, otherwise] = <[Block; 2]>::try_from(sides).unwrap_or_default();
                let op = Op::If { cond: negative.clone(), then, otherwise };
                self.b.called("new").typed1(Ty::REAL, op)
            }
        };
        let cells = self.b.called("cells").array(ArrayOp::Set, [cells.clone(), slot.clone(), new]);
        let otherwise = self.b.close(vec![cells]);
        self.b.called("cells").typed1(CELLS, Op::If { cond, then, otherwise })
    }

    /// A case analysis of slots beside one of what they belong to: `of` gives the results where the constructor is the same one,
    /// from the fields' slots; `constant` is the result where nothing varies, if that can be.
    fn match_slots(
        &mut self,
        slots: &Atom,
        ctor: u32,
        results: &[Ty],
        constant: Option<&Atom>,
        of: impl FnOnce(&mut Self, Vec<Atom>) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let Elem::Data(data) = self.b.type_of(slots).elem() else { return Vec::new() };
        let ctors = self.ad.program.data.at(data).ctors.clone();
        let mut of = Some(of);
        let mut arms = Vec::new();
        for (i, made) in ctors.iter().enumerate() {
            self.b.open();
            let params = self.field_params("slot", &made.fields);
            let given = if let (true, Some(constant)) = (i == CONSTANT as usize, constant) {
                vec![constant.clone()]
            } else if i == ctor as usize + 1
                && let Some(of) = of.take()
            {
                of(self, params)
            } else {
                self.fail(results, "slots belong to another constructor")
            };
            arms.push(self.b.close(given));
        }
        self.b.typed(results, Op::Match { on: slots.clone(), arms })
    }
}

/// The type of cells.
pub(super) const CELLS: Ty = Ty::Array(Elem::Real, 1);

pub(super) fn first(found: Vec<Atom>) -> Atom {
    found.into_iter().next().unwrap_or(Atom::Unit)
}

pub(super) fn pair(found: Vec<Atom>) -> (Atom, Atom) {
    let mut found = found.into_iter();
    (found.next().unwrap_or(Atom::Unit), found.next().unwrap_or(Atom::Unit))
}

impl Ad {
    fn number_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.whole_slots(data);
        self.recording_helper(Helper::Number(data), vec![own, Ty::INT], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("number_{name}"));
            let value = code.b.param("x".into(), Ty::Scalar(Elem::Data(data)));
            let start = code.b.param("n".into(), Ty::INT);
            let mut arms = Vec::new();
            for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let xs = code.field_params("x", fields);
                let (mut parts, mut count) = (Vec::new(), start.clone());
                for (x, ty) in xs.iter().zip(fields) {
                    if code.ad.slots(*ty).is_some() {
                        let (slots, next) = code.number(x, *ty, &count);
                        parts.push(slots);
                        count = next;
                    }
                }
                let made = match own.elem() {
                    Elem::Data(slots) => code.b.make(slots, i as u32 + 1, parts),
                    Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => Atom::Unit,
                };
                arms.push(code.b.close(vec![made, count]));
            }
            let found = code.b.typed(&[own, Ty::INT], Op::Match { on: value, arms });
            code.finish(found)
        })
    }

    fn seed_function(&mut self, data: DataId, own: Ty, of_tangent: Ty) -> FuncId {
        self.whole_tangent(data);
        self.whole_slots(data);
        self.recording_helper(Helper::Seed(data), vec![CELLS], |ad| {
            let Data { name, .. } = *ad.program.data.at(data);
            let name = format!("seed_{name}");
            let tangents = match of_tangent.elem() {
                Elem::Data(tangent) => ad.program.data.at(tangent).ctors.clone(),
                Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => Vec::new(),
            };
            let mut code = Code::new(ad, &name);
            let slots = code.b.param("slots".into(), own);
            let tangent = code.b.param("t".into(), of_tangent);
            let cells = code.b.param("cells".into(), CELLS);
            let mut arms = Vec::new();
            for (i, made) in tangents.iter().enumerate() {
                code.b.open();
                let ts = code.field_params("t", &made.fields);
                let given = match i.checked_sub(ZERO as usize + 1) {
                    None => vec![cells.clone()],
                    Some(ctor) => code.seed_fields(&slots, data, ctor as u32, &ts, &cells),
                };
                arms.push(code.b.close(given));
            }
            let found = code.b.typed(&[CELLS], Op::Match { on: tangent, arms });
            code.finish(found)
        })
    }

    fn feed_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.whole_slots(data);
        self.recording_helper(Helper::Feed(data), vec![CELLS], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("feed_{name}"));
            let slots = code.b.param("slots".into(), own);
            let others = code.b.param("others".into(), own);
            let cells = code.b.param("cells".into(), CELLS);
            let from = code.b.param("from".into(), CELLS);
            code.b.open();
            let mut arms = vec![code.b.close(vec![cells.clone()])];
            for (i, ctor) in ctors.iter().enumerate() {
                code.b.open();
                let theirs = code.slot_params("other", ctor);
                let given = code.match_slots(&slots, i as u32, &[CELLS], Some(&cells), |code, own| {
                    let mut cells = cells.clone();
                    for (slot, (other, ty)) in own.iter().zip(&theirs) {
                        cells = code.feed(slot, other, *ty, &cells, &from);
                    }
                    vec![cells]
                });
                arms.push(code.b.close(given));
            }
            let found = code.b.typed(&[CELLS], Op::Match { on: others, arms });
            code.finish(found)
        })
    }

    fn collect_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.whole_slots(data);
        let result = Ty::Scalar(Elem::Data(data));
        self.recording_helper(Helper::Collect(data), vec![result], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("collect_{name}"));
            let point = code.b.param("x".into(), result);
            let slots = code.b.param("slots".into(), own);
            let cells = code.b.param("cells".into(), CELLS);
            let mut arms = Vec::new();
            for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let xs = code.field_params("x", fields);
                let given = code.match_slots(&slots, i as u32, &[result], None, |code, own| {
                    let mut own = own.into_iter();
                    let mut parts = Vec::new();
                    for (x, ty) in xs.iter().zip(fields) {
                        let slots = if code.ad.slots(*ty).is_some() { own.next() } else { None };
                        parts.push(slots.map_or(x.clone(), |slots| code.collect(x, &slots, *ty, &cells)));
                    }
                    vec![code.b.make(data, i as u32, parts)]
                });
                arms.push(code.b.close(given));
            }
            let found = code.b.typed(&[result], Op::Match { on: point, arms });
            code.finish(found)
        })
    }
}

impl Code<'_> {
    /// Cells with the tangents of the fields of a constructor added at their slots.
    fn seed_fields(
        &mut self,
        slots: &Atom,
        data: DataId,
        ctor: u32,
        tangents: &[Atom],
        cells: &Atom,
    ) -> Vec<Atom> {
        let fields = self.ad.fields(data, ctor);
        self.match_slots(slots, ctor, &[CELLS], Some(cells), |code, own| {
            let (mut own, mut tangents) = (own.iter(), tangents.iter());
            let mut cells = cells.clone();
            for (ty, tangent) in fields {
                let tangent = tangent.and_then(|_| tangents.next());
                let slots = if code.ad.slots(ty).is_some() { own.next() } else { None };
                if let (Some(slots), Some(tangent)) = (slots, tangent) {
                    cells = code.seed(slots, tangent, ty, &cells);
                }
            }
            vec![cells]
        })
    }
}
