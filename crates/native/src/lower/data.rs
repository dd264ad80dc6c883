//! Making data and taking it apart.
//!
//! A match on data that dies there takes its fields over: if nobody else refers to it, they are moved out and it is freed,
//! else each field that is used is referred to once more. Other matches borrow the fields.

use super::control::{Joined, only_fails};
use super::uses::{self, Vars};
use super::{Int, Kind, Lower, Operand, Stmt, Value, Word, kind, word};
use crate::loops::Failure;
use wengert_ir::{Atom, Block, Op, Var};

/// Words before the fields: the count.
const HEADER: i32 = 1;

impl<'a> Lower<'a> {
    /// A constructor.
    pub(super) fn make(&mut self, out: Var, ctor: u32, fields: &[Atom], dying: &mut Vars) {
        let thin = self.thin(self.func.ty(out));
        if let (true, [field]) = (thin.is_some_and(|thin| thin.ctor == ctor), fields) {
            let value = self.consume(field, dying);
            return self.own(out, value);
        }
        let number = thin.map_or(ctor, |thin| thin.number(ctor));
        if fields.is_empty() {
            self.bind(out, Value::Copy(Operand::Int(2 * i64::from(number) + 1)));
            return;
        }
        let words = HEADER as i64 + fields.len() as i64;
        let site = self.site(Failure::Memory);
        let made = Value::Alloc(Operand::Int(words), site, Some(number));
        let object = self.set(Word::Ref, made);
        for (offset, field) in (HEADER..).zip(fields) {
            let value = self.consume(field, dying);
            self.store(object, offset, value);
        }
        self.bind_word(out, object);
    }

    /// A word at a known place.
    pub(super) fn store(&mut self, base: Operand, offset: i32, value: Operand) {
        self.emit(Stmt::Store { base, index: Operand::Int(0), offset, value });
    }

    /// Case analysis.
    pub(super) fn match_data(
        &mut self,
        op: &Op,
        outs: &[Var],
        (on, arms): (&Atom, &'a [Block]),
        dying: &mut Vars,
    ) {
        let object = self.word(on);
        let results = self.joined(outs);
        let mut mine = std::mem::take(dying);
        let scrutinee = on.var();
        let used_again = |var: Var| arms.iter().any(|arm| self.free.of(arm).contains(&var));
        let owned = scrutinee.is_some_and(|var| mine.contains(&var));
        let taken = owned && !scrutinee.is_some_and(used_again);
        if taken && let Some(var) = scrutinee {
            mine.remove(&var);
        }
        let data_kind = kind(self.ty(on));
        let thin = self.thin(self.ty(on));
        let cases: Vec<Vec<Stmt>> = (0..)
            .zip(arms)
            .map(|(ctor, arm)| {
                let is_thin = thin.is_some_and(|thin| thin.ctor == ctor);
                let mine = mine.clone();
                self.apart(|this| match (only_fails(arm), is_thin) {
                    (true, _) => this.arm(arm, mine, &results),
                    (false, true) => {
                        let mut mine = mine;
                        let last = uses::last_uses(arm, &this.views, &this.free);
                        let is_used = |var| last.contains_key(&var);
                        mine.extend(this.thin_field((on, object), arm, is_used, (owned, taken)));
                        this.arm(arm, mine, &results);
                    }
                    (false, false) => {
                        this.arm_of_object((object, data_kind), arm, mine, &results, (owned, taken))
                    }
                })
            })
            .collect();
        match <[Vec<Stmt>; 1]>::try_from(cases) {
            Ok([only]) => self.code.extend(only),
            Err(cases) => {
                let on = match thin {
                    Some(thin) => self.thin_tag(object, thin, arms.len()),
                    None => self.tag(object, arms),
                };
                self.emit(Stmt::Switch { on, cases });
            }
        }
        self.bind_joined(op, outs, &results);
    }

    /// The arm of a constructor whose values are objects: its fields come out of the object.
    fn arm_of_object(
        &mut self,
        (object, data_kind): (Operand, Kind),
        arm: &'a Block,
        mut mine: Vars,
        results: &[Joined],
        (owned, taken): (bool, bool),
    ) {
        let last = uses::last_uses(arm, &self.views, &self.free);
        let counted = self.fields(object, arm, &last.keys().copied().collect());
        let (used, unused): (Vec<Field>, Vec<Field>) =
            counted.into_iter().partition(|field| last.contains_key(&field.var));
        if owned && !arm.params.is_empty() {
            if taken {
                self.take_apart(object, data_kind, &used, &unused);
            } else {
                used.iter().for_each(|field| self.emit(Stmt::Retain(field.word, field.kind)));
            }
            mine.extend(used.iter().map(|field| field.var));
        }
        self.arm(arm, mine, results);
    }

    /// The number of the constructor. Where one or none is no object, or one or none is an object, there is less to look at.
    fn tag(&mut self, object: Operand, arms: &[Block]) -> Operand {
        let mut with_fields = arms.iter().enumerate().filter(|(_, arm)| !arm.params.is_empty());
        let (first, others) = (with_fields.next(), with_fields.count());
        let without = arms.len() - others - usize::from(first.is_some());
        if without == 0 {
            return self.set(Word::Int, Value::Tag(object, true));
        }
        if others > 0 {
            return self.set(Word::Int, Value::Tag(object, false));
        }
        let bits = self.set(Word::Int, Value::Copy(object));
        let Some((ctor, _)) = first else {
            return self.set(Word::Int, Value::Int(Int::ShiftRight, bits, Operand::Int(1)));
        };
        let is_number = self.set(Word::Int, Value::Int(Int::And, bits, Operand::Int(1)));
        let which = match arms.iter().position(|arm| arm.params.is_empty()) {
            Some(only) if without == 1 => Operand::Int(only as i64),
            _ => self.set(Word::Int, Value::Int(Int::ShiftRight, bits, Operand::Int(1))),
        };
        self.set(Word::Int, Value::Select(is_number, which, Operand::Int(ctor as i64)))
    }

    /// Binds the fields; gives those that refer to something.
    fn fields(&mut self, object: Operand, arm: &Block, used: &Vars) -> Vec<Field> {
        let mut counted = Vec::new();
        for (offset, var) in (HEADER..).zip(&arm.params) {
            let ty = self.func.ty(*var);
            let kind = kind(ty);
            if kind == Kind::Plain && !used.contains(var) {
                continue;
            }
            let local = self.made.fresh(word(ty));
            let load = Value::Load { base: object, index: Operand::Int(0), offset };
            self.emit(Stmt::Set(local, load));
            self.bind_owned(*var, local);
            if kind != Kind::Plain {
                counted.push(Field { var: *var, word: Operand::Local(local), kind });
            }
        }
        counted
    }

    /// Takes the fields out of data that dies.
    fn take_apart(&mut self, object: Operand, kind: Kind, used: &[Field], unused: &[Field]) {
        let cond = self.set(Word::Int, Value::Unique(object, kind));
        let then = self.apart(|this| {
            unused.iter().for_each(|field| this.emit(Stmt::Release(field.word, field.kind)));
            this.emit(Stmt::Free(object, kind));
        });
        let otherwise = self.apart(|this| {
            used.iter().for_each(|field| this.emit(Stmt::Retain(field.word, field.kind)));
            this.emit(Stmt::Release(object, kind));
        });
        self.emit(Stmt::If { cond, then, otherwise });
    }
}

/// A field that refers to something.
struct Field {
    var: Var,
    word: Operand,
    kind: Kind,
}
