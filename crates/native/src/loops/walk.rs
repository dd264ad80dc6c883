//! What statements read and write, and statements with other variables.

use super::{Func, Int, Local, Operand, Stmt, Sum, Value};
use rustc_hash::FxHashMap;

/// The statements directly inside of a statement.
pub(crate) fn parts(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Switch { cases, .. } => cases.iter().map(Vec::as_slice).collect(),
        Stmt::For { body, .. } => vec![body],
        Stmt::While { head, body, .. } => vec![head, body],
        Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => Vec::new(),
    }
}

/// The statements directly inside of a statement, to be changed.
pub(crate) fn parts_mut(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Switch { cases, .. } => cases.iter_mut().collect(),
        Stmt::For { body, .. } => vec![body],
        Stmt::While { head, body, .. } => vec![head, body],
        Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => Vec::new(),
    }
}

/// The statement with the statements directly inside of it changed.
pub(crate) fn map_parts(mut stmt: Stmt, change: &mut dyn FnMut(Vec<Stmt>) -> Vec<Stmt>) -> Stmt {
    for part in parts_mut(&mut stmt) {
        *part = change(std::mem::take(part));
    }
    stmt
}

/// Whether statements do nothing but fail.
pub(crate) fn is_failure(stmts: &[Stmt]) -> bool {
    stmts.split_last().is_some_and(|(last, before)| {
        matches!(last, Stmt::Fail(..)) && before.iter().all(|stmt| matches!(stmt, Stmt::Set(..)))
    })
}

/// For each case the first that does the same, of those that do nothing but fail; of any other, itself.
pub fn alike(cases: &[Vec<Stmt>]) -> Vec<usize> {
    let mut failing: Vec<(usize, &Stmt)> = Vec::new();
    let mut first = Vec::with_capacity(cases.len());
    for (number, case) in cases.iter().enumerate() {
        let [only @ Stmt::Fail(..)] = case.as_slice() else {
            first.push(number);
            continue;
        };
        let known = failing.iter().find(|(_, other)| *other == only).map(|(first, _)| *first);
        if known.is_none() {
            failing.push((number, only));
        }
        first.push(known.unwrap_or(number));
    }
    first
}

/// Whether a statement assigns, stores or checks.
pub(crate) fn is_straight(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Set(..) | Stmt::Store { .. } => true,
        Stmt::If { then, otherwise, .. } => otherwise.is_empty() && is_failure(then),
        Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => false,
    }
}

/// What a statement itself reads.
pub(crate) fn operands(stmt: &Stmt) -> Vec<Operand> {
    match stmt {
        Stmt::Set(_, value) => operands_of(value),
        Stmt::Store { base, index, value, .. } => vec![*base, *index, *value],
        Stmt::If { cond, .. } | Stmt::While { cond, .. } => vec![*cond],
        Stmt::Switch { on, .. } => vec![*on],
        Stmt::For { len, .. } => vec![*len],
        Stmt::Parallel { len, work, captured, sums, .. } => {
            let mut all = vec![*len, *work];
            all.extend(captured.iter().map(|local| Operand::Local(*local)));
            for sum in sums {
                match sum {
                    Sum::Word(local, _) | Sum::Near(local) => all.push(Operand::Local(*local)),
                    Sum::Array { object: _, first, size } => all.extend([Operand::Local(*first), *size]),
                }
            }
            all
        }
        Stmt::Call { args, .. } | Stmt::Runtime { args, .. } => args.clone(),
        Stmt::Retain(object, _) | Stmt::Release(object, _) | Stmt::Free(object, _) => vec![*object],
        Stmt::Fail(_, numbers) => numbers.clone(),
    }
}

/// What an expression reads.
pub(crate) fn operands_of(value: &Value) -> Vec<Operand> {
    match value {
        Value::Real(_, args) => args.clone(),
        Value::Int(_, a, b)
        | Value::CompareReal(_, a, b)
        | Value::CompareInt(_, a, b)
        | Value::OutOfRange(a, b) => vec![*a, *b],
        Value::Select(a, b, c) => vec![*a, *b, *c],
        Value::Copy(a)
        | Value::IntToReal(a)
        | Value::RealToInt(a)
        | Value::Round(_, a)
        | Value::Bits(a)
        | Value::Tag(a, _)
        | Value::Unique(a, _)
        | Value::Alloc(a, _, _) => vec![*a],
        Value::Load { base, index, .. } | Value::Address { base, index, .. } => vec![*base, *index],
    }
}

/// The variables that a statement itself assigns.
pub(crate) fn writes(stmt: &Stmt) -> Vec<Local> {
    match stmt {
        Stmt::Set(local, _) | Stmt::For { index: local, .. } => vec![*local],
        Stmt::Call { outs, .. } => outs.clone(),
        Stmt::Runtime { out, .. } => out.iter().copied().collect(),
        Stmt::Parallel { sums, .. } => {
            let word = |sum: &Sum| if let Sum::Word(local, _) = sum { Some(*local) } else { None };
            sums.iter().filter_map(word).collect()
        }
        Stmt::Store { .. }
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::While { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => Vec::new(),
    }
}

/// Looks at each statement, and those inside of it after it.
pub fn every<'s>(stmts: &'s [Stmt], see: &mut dyn FnMut(&'s Stmt)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            see(stmt);
            parts(stmt).into_iter().for_each(|part| every(part, see));
        }
    });
}

/// Counts each reading of a variable.
pub(crate) fn every_read(stmts: &[Stmt], count: &mut dyn FnMut(Local)) {
    every(stmts, &mut |stmt| {
        reads(stmt).for_each(&mut *count);
    });
}

/// Whether a statement, or one in it, reads or writes one of these.
pub(crate) fn mentions(stmt: &Stmt, locals: &[Local]) -> bool {
    let mut found = false;
    every(std::slice::from_ref(stmt), &mut |stmt| {
        found |= writes(stmt).into_iter().chain(reads(stmt)).any(|local| locals.contains(&local));
    });
    found
}

/// The variables that a statement itself reads.
pub(crate) fn reads(stmt: &Stmt) -> impl Iterator<Item = Local> {
    operands(stmt).into_iter().filter_map(Operand::local)
}

/// How often variables of a function are read and assigned.
#[derive(Default)]
pub(crate) struct Uses {
    pub(crate) reads: FxHashMap<Local, usize>,
    pub(crate) sets: FxHashMap<Local, usize>,
}

impl Uses {
    /// Of a function with this body. Results are read, parameters assigned.
    pub(crate) fn of(func: &Func, body: &[Stmt]) -> Uses {
        let mut uses = Uses::default();
        func.results.iter().for_each(|result| *uses.reads.entry(*result).or_default() += 1);
        func.params.iter().for_each(|param| *uses.sets.entry(*param).or_default() += 1);
        every(body, &mut |stmt| {
            reads(stmt).for_each(|local| *uses.reads.entry(local).or_default() += 1);
            writes(stmt).into_iter().for_each(|local| *uses.sets.entry(local).or_default() += 1);
        });
        uses
    }
}

/// Changes what a statement reads, that excepted which statements inside of it read.
pub(crate) fn each_operand(stmt: &mut Stmt, change: &mut dyn FnMut(&mut Operand)) {
    match stmt {
        Stmt::Set(_, value) => match value {
            Value::Real(_, args) => args.iter_mut().for_each(change),
            Value::Int(_, a, b)
            | Value::CompareReal(_, a, b)
            | Value::CompareInt(_, a, b)
            | Value::OutOfRange(a, b)
            | Value::Load { base: a, index: b, .. }
            | Value::Address { base: a, index: b, .. } => [a, b].into_iter().for_each(change),
            Value::Select(cond, a, b) => [cond, a, b].into_iter().for_each(change),
            Value::Copy(a)
            | Value::IntToReal(a)
            | Value::RealToInt(a)
            | Value::Round(_, a)
            | Value::Bits(a)
            | Value::Tag(a, _)
            | Value::Unique(a, _)
            | Value::Alloc(a, ..) => change(a),
        },
        Stmt::Store { base, index, offset: _, value } => [base, index, value].into_iter().for_each(change),
        Stmt::If { cond: on, .. } | Stmt::Switch { on, .. } | Stmt::While { cond: on, .. } => change(on),
        Stmt::For { len, sums, .. } => {
            change(len);
            sizes_of(sums).for_each(change);
        }
        Stmt::Parallel { len, work, sums, .. } => {
            [len, work].into_iter().for_each(&mut *change);
            sizes_of(sums).for_each(change);
        }
        Stmt::Call { args, .. } | Stmt::Runtime { args, .. } | Stmt::Fail(_, args) => {
            args.iter_mut().for_each(change);
        }
        Stmt::Retain(object, _) | Stmt::Release(object, _) | Stmt::Free(object, _) => change(object),
    }
}

fn sizes_of(sums: &mut [Sum]) -> impl Iterator<Item = &mut Operand> {
    sums.iter_mut().filter_map(|sum| match sum {
        Sum::Array { size, .. } => Some(size),
        Sum::Word(..) | Sum::Near(_) => None,
    })
}

/// Statements with other variables.
pub(crate) fn renamed(stmts: &[Stmt], name: &mut dyn FnMut(Local) -> Local) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        stmts.iter().map(|stmt| Renaming { name }.stmt(stmt)).collect()
    })
}

struct Renaming<'n> {
    name: &'n mut dyn FnMut(Local) -> Local,
}

impl Renaming<'_> {
    fn local(&mut self, local: Local) -> Local {
        (self.name)(local)
    }

    fn locals(&mut self, locals: &[Local]) -> Vec<Local> {
        locals.iter().map(|local| self.local(*local)).collect()
    }

    fn operand(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Local(local) => Operand::Local(self.local(local)),
            Operand::Real(_) | Operand::Int(_) | Operand::Text(_) => operand,
        }
    }

    fn operands(&mut self, operands: &[Operand]) -> Vec<Operand> {
        operands.iter().map(|operand| self.operand(*operand)).collect()
    }

    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        renamed(stmts, self.name)
    }

    fn sum(&mut self, sum: &Sum) -> Sum {
        match sum {
            Sum::Word(local, join) => Sum::Word(self.local(*local), *join),
            Sum::Near(first) => Sum::Near(self.local(*first)),
            Sum::Array { object, first, size } => Sum::Array {
                object: object.map(|object| self.local(object)),
                first: self.local(*first),
                size: self.operand(*size),
            },
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Set(local, value) => Stmt::Set(self.local(*local), self.value(value)),
            Stmt::Store { base, index, offset, value } => Stmt::Store {
                base: self.operand(*base),
                index: self.operand(*index),
                offset: *offset,
                value: self.operand(*value),
            },
            Stmt::If { cond, then, otherwise } => Stmt::If {
                cond: self.operand(*cond),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            Stmt::Switch { on, cases } => Stmt::Switch {
                on: self.operand(*on),
                cases: cases.iter().map(|case| self.block(case)).collect(),
            },
            Stmt::For { index, len, backward, independent, sums, body } => Stmt::For {
                index: self.local(*index),
                len: self.operand(*len),
                backward: *backward,
                independent: *independent,
                sums: sums.iter().map(|sum| self.sum(sum)).collect(),
                body: self.block(body),
            },
            Stmt::Parallel { part, len, backward, work, captured, sums } => Stmt::Parallel {
                part: *part,
                len: self.operand(*len),
                backward: *backward,
                work: self.operand(*work),
                captured: self.locals(captured),
                sums: sums.iter().map(|sum| self.sum(sum)).collect(),
            },
            Stmt::While { head, cond, body } => {
                Stmt::While { head: self.block(head), cond: self.operand(*cond), body: self.block(body) }
            }
            Stmt::Call { func, args, outs } => {
                Stmt::Call { func: *func, args: self.operands(args), outs: self.locals(outs) }
            }
            Stmt::Runtime { call, args, out } => {
                Stmt::Runtime { call: *call, args: self.operands(args), out: out.map(|out| self.local(out)) }
            }
            Stmt::Retain(object, kind) => Stmt::Retain(self.operand(*object), *kind),
            Stmt::Release(object, kind) => Stmt::Release(self.operand(*object), *kind),
            Stmt::Free(object, kind) => Stmt::Free(self.operand(*object), *kind),
            Stmt::Fail(site, numbers) => Stmt::Fail(*site, self.operands(numbers)),
        }
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Copy(a) => Value::Copy(self.operand(*a)),
            Value::Real(op, args) => Value::Real(*op, self.operands(args)),
            Value::Int(op, a, b) => Value::Int(*op, self.operand(*a), self.operand(*b)),
            Value::CompareReal(op, a, b) => Value::CompareReal(*op, self.operand(*a), self.operand(*b)),
            Value::CompareInt(op, a, b) => Value::CompareInt(*op, self.operand(*a), self.operand(*b)),
            Value::OutOfRange(a, b) => Value::OutOfRange(self.operand(*a), self.operand(*b)),
            Value::Select(cond, a, b) => {
                Value::Select(self.operand(*cond), self.operand(*a), self.operand(*b))
            }
            Value::IntToReal(a) => Value::IntToReal(self.operand(*a)),
            Value::RealToInt(a) => Value::RealToInt(self.operand(*a)),
            Value::Round(round, a) => Value::Round(*round, self.operand(*a)),
            Value::Bits(a) => Value::Bits(self.operand(*a)),
            Value::Load { base, index, offset } => {
                Value::Load { base: self.operand(*base), index: self.operand(*index), offset: *offset }
            }
            Value::Address { base, index, offset } => {
                Value::Address { base: self.operand(*base), index: self.operand(*index), offset: *offset }
            }
            Value::Tag(a, object) => Value::Tag(self.operand(*a), *object),
            Value::Unique(a, kind) => Value::Unique(self.operand(*a), *kind),
            Value::Alloc(a, site, ctor) => Value::Alloc(self.operand(*a), *site, *ctor),
        }
    }
}

/// The numbers that are the rest of something, but no more than a constant, which is not small: how many iterations the pieces of a long loop
/// have.
pub(crate) fn pieces(stmts: &[Stmt]) -> FxHashMap<Local, i64> {
    const SOME: i64 = 64;
    let mut found = FxHashMap::default();
    every(stmts, &mut |stmt| {
        if let Stmt::Set(local, Value::Int(Int::Min, _, Operand::Int(most @ SOME..))) = stmt {
            found.insert(*local, *most);
        }
    });
    found
}
