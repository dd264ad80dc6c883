//! Constructors that are no object of their own. Of a tape like `Then | Else f_tape`, where an `f_tape` is always an object,
//! `Else tape` is the tape itself: `Then` is an odd number, so that they are told apart.
//!
//! That is so inside of a program only. Data that is known outside looks as [`crate::loops`] says.

use super::uses::Vars;
use super::{Lower, Operand, Stmt, Value, Word, borrow, kind};
use crate::loops::{Int, Local};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::ty::Data;
use wengert_ir::{Atom, Block, DataId, Elem, Program, Ty, Var};

/// The data types with such a constructor: which it is, and the type that it holds.
pub(super) fn thin(program: &Program) -> FxHashMap<DataId, (u32, DataId)> {
    let outside = known_outside(program);
    let candidates: FxHashMap<DataId, (u32, DataId)> = program
        .data
        .iter()
        .filter(|(id, _)| !outside.contains(id) && borrow::is_tape(program, *id))
        .filter_map(|(id, data)| Some((id, only_field(data)?)))
        .collect();
    let is_object = |data: DataId| {
        let all =
            program.data.get(data).is_some_and(|data| data.ctors.iter().all(|ctor| !ctor.fields.is_empty()));
        all && !candidates.contains_key(&data)
    };
    candidates.iter().filter(|(_, (_, inside))| is_object(*inside)).map(|(id, held)| (*id, *held)).collect()
}

/// The constructor with fields, if there is one such, and it has one field of a data type.
fn only_field(data: &Data) -> Option<(u32, DataId)> {
    let mut full = (0..).zip(&data.ctors).filter(|(_, ctor)| !ctor.fields.is_empty());
    match (full.next(), full.next()) {
        (Some((place, ctor)), None) => match ctor.fields.as_slice() {
            [Ty::Scalar(Elem::Data(inside))] => Some((place, *inside)),
            _ => None,
        },
        (_, _) => None,
    }
}

/// The data types that entries take and give.
fn known_outside(program: &Program) -> FxHashSet<DataId> {
    let mut known = FxHashSet::default();
    let mut todo: Vec<Ty> = Vec::new();
    for func in program.entries.values().filter_map(|id| program.funcs.get(*id)) {
        todo.extend(&func.results);
        todo.extend(func.param_types());
    }
    while let Some(ty) = todo.pop() {
        if let Elem::Data(data) = ty.elem()
            && known.insert(data)
        {
            let ctors = program.data.get(data).map(|data| data.ctors.as_slice()).unwrap_or_default();
            todo.extend(ctors.iter().flat_map(|ctor| &ctor.fields));
        }
    }
    known
}

impl<'a> Lower<'a> {
    /// The constructor that is its field, if a type has one.
    pub(super) fn thin_ctor(&self, ty: Ty) -> Option<u32> {
        let Ty::Scalar(Elem::Data(data)) = ty else { return None };
        self.shared.thin.get(&data).map(|(ctor, _)| *ctor)
    }

    /// The number of the constructor of a value of such a type.
    pub(super) fn thin_tag(&mut self, object: Operand, ctor: u32) -> Operand {
        let bits = self.set(Word::Int, Value::Copy(object));
        let number = self.set(Word::Int, Value::Int(Int::And, bits, Operand::Int(1)));
        let which = self.set(Word::Int, Value::Int(Int::ShiftRight, bits, Operand::Int(1)));
        self.set(Word::Int, Value::Select(number, which, Operand::Int(i64::from(ctor))))
    }

    /// Binds the field of the constructor, which is the value itself; whether the arm owns it.
    pub(super) fn thin_field(
        &mut self,
        (on, object): (&Atom, Local),
        arm: &'a Block,
        last: impl Fn(Var) -> bool,
        (owned, taken): (bool, bool),
    ) -> Vars {
        let mut mine = Vars::new();
        let Some(field) = arm.params.first().copied() else { return mine };
        let kind = kind(self.ty(on));
        let local = self.made.fresh(Word::Ref);
        self.emit(Stmt::Set(local, Value::Copy(Operand::Local(object))));
        self.bind_owned(field, local);
        match (last(field), owned, taken) {
            (true, true, true) => {
                mine.insert(field);
            }
            (true, true, false) => {
                self.emit(Stmt::Retain(Operand::Local(local), kind));
                mine.insert(field);
            }
            (false, true, true) => self.emit(Stmt::Release(Operand::Local(local), kind)),
            (_, false, _) | (false, true, false) => {}
        }
        mine
    }
}
