//! Questions whether something is zero and nothing else, asked while a tape notes what is done: what varies is not, whatever its value.

use super::slots::CONSTANT;
use super::{Helper, Record};
use crate::{Ad, Code};
use wengert_ir::op::{Atom, Op, Stmt};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};

impl Record<'_, '_> {
    /// A question whether something is zero and nothing else: it is not, if it varies here.
    pub(super) fn tests_zero(&mut self, stmt: &Stmt) -> bool {
        let Some(x) = self.code.ad.exact_zero_of(stmt) else { return false };
        let (Some(slots), [out]) = (self.slots_of(x), stmt.outs.as_slice()) else { return false };
        let zero = self.code.is_zero(x);
        let ty = self.code.b.type_of(x);
        let none = self.code.none_in(&slots, ty);
        let both = self.code.all_of(vec![zero, none]);
        self.code.b.push(Stmt { outs: vec![*out], op: Op::Copy(both), span: stmt.span });
        true
    }
}

impl Ad {
    fn none_function(&mut self, ty: Ty) -> Option<FuncId> {
        let own = self.slots(ty)?;
        if let Ty::Scalar(Elem::Data(data)) = ty {
            self.whole_slots(data);
        }
        Some(self.recording_helper(Helper::None(ty), vec![Ty::BOOL], |ad| {
            let mut code = Code::new(ad, "none");
            let slots = code.b.param("slots".into(), own);
            let none = match (ty, own) {
                (Ty::Scalar(Elem::Data(data)), Ty::Scalar(Elem::Data(own))) => {
                    let ctors = code.ad.program.data.at(own).ctors.clone();
                    let all = code.ad.all_ctor(data).map(|(_, all)| all as usize);
                    let mut arms = Vec::new();
                    for (i, made) in ctors.iter().enumerate() {
                        code.b.open();
                        let params = code.field_params("slot", &made.fields);
                        let types = match i.checked_sub(CONSTANT as usize + 1) {
                            Some(ctor) => code.ad.types_with_slots(data, ctor as u32),
                            None => Vec::new(),
                        };
                        let none =
                            params.iter().zip(types).map(|(slots, ty)| code.none_in(slots, ty)).collect();
                        let none = if all == Some(i) { Atom::Bool(false) } else { code.all_of(none) };
                        arms.push(code.b.close(vec![none]));
                    }
                    code.b.called("none").typed1(Ty::BOOL, Op::Match { on: slots, arms })
                }
                _ => code.all_rows(&slots, |code, row| match ty.at(1) {
                    Some(ty) => code.none_in(row, ty),
                    None => Atom::Bool(true),
                }),
            };
            code.finish(vec![none])
        }))
    }
}

impl Code<'_> {
    /// Whether the slots of a value of a type are those of what does not vary.
    fn none_in(&mut self, slots: &Atom, ty: Ty) -> Atom {
        if let Ty::Scalar(Elem::Real) = ty {
            return self.none_of(slots);
        }
        match self.ad.none_function(ty) {
            Some(func) => self.b.called("none").call(func, [slots.clone()], &[Ty::BOOL]).remove(0),
            None => Atom::Bool(true),
        }
    }
}
