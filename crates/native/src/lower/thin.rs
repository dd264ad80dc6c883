//! Constructors that are no object of their own. Of a tape like `Leaf(Int) | Inner(f_tape)`, `Inner tape` is the tape itself.
//! `Leaf` has another number than any constructor of an `f_tape`, so that they are told apart.
//!
//! That is so inside of a program only. Data that is known outside looks as [`crate::loops`] says.

use super::uses::Vars;
use super::{Lower, Operand, Stmt, Value, Word, borrow, kind};
use crate::loops::Int;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;
use wengert_ir::ty::{Ctor, Data};
use wengert_ir::{Atom, Block, DataId, Elem, Program, Ty, Var};

/// A data type with such a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thin {
    /// Which it is.
    pub(super) ctor: u32,
    /// What it holds.
    pub(super) inside: DataId,
    /// So many numbers are those of the constructors inside. The others of this type have the next ones.
    below: u32,
    /// Of the constructors inside, and of the others: whether all are objects.
    objects: (bool, bool),
    /// Whether none of the others is an object.
    others_are_numbers: bool,
}

/// The data types with such a constructor.
pub(super) fn thin(program: &Program) -> FxHashMap<DataId, Thin> {
    let outside = known_outside(program);
    let candidates: FxHashMap<DataId, (u32, DataId)> = program
        .data
        .iter()
        .filter(|(id, _)| !outside.contains(id) && borrow::is_tape(program, *id))
        .filter_map(|(id, data)| Some((id, only_field(data)?)))
        .collect();
    let mut found = FxHashMap::default();
    for id in program.data.ids() {
        settle(program, &candidates, id, &mut Vec::new(), &mut found);
    }
    found
}

/// Decides for a data type, after those inside of it.
fn settle(
    program: &Program,
    candidates: &FxHashMap<DataId, (u32, DataId)>,
    id: DataId,
    around: &mut Vec<DataId>,
    found: &mut FxHashMap<DataId, Thin>,
) {
    const DEEP: usize = 64;
    let Some((ctor, inside)) = candidates.get(&id).copied() else { return };
    if found.contains_key(&id) || around.contains(&id) || around.len() > DEEP {
        return;
    }
    around.push(id);
    settle(program, candidates, inside, around, found);
    around.pop();
    // What holds itself is an object somewhere.
    let mut innermost = inside;
    while let Some(thin) = found.get(&innermost) {
        innermost = thin.inside;
    }
    if innermost == id {
        return;
    }
    let is_object = |ctor: &Ctor| !ctor.fields.is_empty();
    let others = |id: DataId, but: Option<u32>| {
        let ctors = program.data.get(id).map(|data| data.ctors.as_slice()).unwrap_or_default();
        (0..).zip(ctors).filter(move |(place, _)| Some(*place) != but).map(|(_, ctor)| ctor)
    };
    let within = found.get(&inside).copied();
    let own = others(inside, within.map(|thin| thin.ctor)).count();
    let below = within.map_or(0, |thin| thin.below) + u32::try_from(own).unwrap_or(u32::MAX);
    let inner = within.is_none_or(|thin| thin.objects == (true, true))
        && others(inside, within.map(|thin| thin.ctor)).all(is_object);
    let outer = others(id, Some(ctor)).all(is_object);
    let others_are_numbers = !others(id, Some(ctor)).any(is_object);
    found.insert(id, Thin { ctor, inside, below, objects: (inner, outer), others_are_numbers });
}

/// The constructor with one field, of a data type, if there is one such.
fn only_field(data: &Data) -> Option<(u32, DataId)> {
    let mut found = (0..).zip(&data.ctors).filter_map(|(place, ctor)| match ctor.fields.as_slice() {
        [Ty::Scalar(Elem::Data(inside))] => Some((place, *inside)),
        _ => None,
    });
    found.next().filter(|_| found.next().is_none())
}

impl Thin {
    /// The number of one of the other constructors.
    pub(super) fn number(&self, ctor: u32) -> u32 {
        self.below + if ctor < self.ctor { ctor } else { ctor.saturating_sub(1) }
    }
}

/// The constructors of a data type by their numbers.
pub(super) fn numbered<'p>(
    program: &'p Program,
    thin: &FxHashMap<DataId, Thin>,
    id: DataId,
) -> Vec<&'p Ctor> {
    let mut around = Vec::new();
    let mut innermost = id;
    while let Some(thin) = thin.get(&innermost) {
        around.push((innermost, thin.ctor));
        innermost = thin.inside;
    }
    let of = |id: DataId| program.data.get(id).into_iter().flat_map(|data| &data.ctors);
    let mut all: Vec<&Ctor> = of(innermost).collect();
    for (id, but) in around.into_iter().rev() {
        all.extend((0..).zip(of(id)).filter(|(place, _)| *place != but).map(|(_, ctor)| ctor));
    }
    all
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
    pub(super) fn thin(&self, ty: Ty) -> Option<Thin> {
        let Ty::Scalar(Elem::Data(data)) = ty else { return None };
        self.shared.thin.get(&data).copied()
    }

    /// Which constructor a value of such a type is.
    pub(super) fn thin_tag(&mut self, object: Operand, thin: Thin, ctors: usize) -> Operand {
        let held = Operand::Int(i64::from(thin.ctor));
        let below = Operand::Int(i64::from(thin.below));
        let (is_held, number) = if thin.objects.0 && thin.others_are_numbers {
            let bits = self.set(Word::Int, Value::Copy(object));
            let is_number = self.set(Word::Int, Value::Int(Int::And, bits, Operand::Int(1)));
            let is_held = self.set(Word::Int, Value::CompareInt(Compare::Eq, is_number, Operand::Int(0)));
            (is_held, self.set(Word::Int, Value::Int(Int::ShiftRight, bits, Operand::Int(1))))
        } else {
            let all_objects = thin.objects == (true, true);
            let number = self.set(Word::Int, Value::Tag(object, all_objects));
            (self.set(Word::Int, Value::CompareInt(Compare::Lt, number, below)), number)
        };
        let other = if ctors == 2 {
            Operand::Int(1 - i64::from(thin.ctor))
        } else {
            let place = self.set(Word::Int, Value::Int(Int::Sub, number, below));
            let after = self.set(Word::Int, Value::CompareInt(Compare::Ge, place, held));
            self.set(Word::Int, Value::Int(Int::Add, place, after))
        };
        self.set(Word::Int, Value::Select(is_held, held, other))
    }

    /// Binds the field of the constructor, which is the value itself; whether the arm owns it.
    pub(super) fn thin_field(
        &mut self,
        (on, object): (&Atom, Operand),
        arm: &'a Block,
        last: impl Fn(Var) -> bool,
        (owned, taken): (bool, bool),
    ) -> Vars {
        let mut mine = Vars::new();
        let Some(field) = arm.params.first().copied() else { return mine };
        let kind = kind(self.ty(on));
        let local = self.made.fresh(Word::Ref);
        self.emit(Stmt::Set(local, Value::Copy(object)));
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
