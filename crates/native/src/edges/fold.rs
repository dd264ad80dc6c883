//! What follows for a body from what is known of some of its variables.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays")]

use crate::loops::walk::{every, every_read, map_parts, writes};
use crate::loops::{Int, Local, Operand, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;

/// What is known of a variable where the loop is between its edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    /// The number that it is.
    Number(i64),
    /// The difference of two, of which the first is not negative.
    Difference(Operand, Operand),
}

/// So often at most one thing follows from another.
const ROUNDS: usize = 8;

/// The body with what is known, and without what nobody needs then.
/// `own` are variables of the body alone.
pub(super) fn fold(body: Vec<Stmt>, known: FxHashMap<Local, Known>, own: &FxHashSet<Local>) -> Vec<Stmt> {
    if known.is_empty() {
        return body;
    }
    let whole = |known: &Known| if let Known::Difference(whole, _) = known { whole.local() } else { None };
    let natural = known.values().filter_map(whole).collect();
    let (mut folder, mut body) = (Folder { natural, known, own, xors: FxHashMap::default() }, body);
    for _ in 0..ROUNDS {
        folder.learn(&body);
        let next = folder.stmts(body.clone());
        let settled = next == body;
        body = next;
        if settled {
            break;
        }
    }
    clean(body, own)
}

struct Folder<'o> {
    own: &'o FxHashSet<Local>,
    known: FxHashMap<Local, Known>,
    /// Numbers that are not negative, which are divided by positive ones.
    natural: FxHashSet<Local>,
    /// What is negative if only one of two numbers is.
    xors: FxHashMap<Local, Operand>,
}

impl Folder<'_> {
    /// Notes which variables are numbers.
    fn learn(&mut self, body: &[Stmt]) {
        let (mut sets, mut numbers): (FxHashMap<Local, usize>, Vec<(Local, i64)>) = Default::default();
        every(body, &mut |stmt| {
            writes(stmt).into_iter().for_each(|local| *sets.entry(local).or_default() += 1);
            if let Stmt::Set(local, Value::Copy(Operand::Int(n))) = stmt {
                numbers.push((*local, *n));
            }
            if let Stmt::Set(local, Value::Int(Int::Xor, a, _)) = stmt {
                self.xors.insert(*local, *a);
            }
        });
        for (local, n) in numbers {
            if sets.get(&local) == Some(&1) && self.own.contains(&local) {
                self.known.entry(local).or_insert(Known::Number(n));
            }
        }
    }

    fn stmts(&self, body: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(body.len());
            for stmt in body {
                match stmt {
                    Stmt::If { cond, then, otherwise } => match self.number(cond) {
                        Some(0) => made.extend(self.stmts(otherwise)),
                        Some(_) => made.extend(self.stmts(then)),
                        None => made.push(Stmt::If {
                            cond,
                            then: self.stmts(then),
                            otherwise: self.stmts(otherwise),
                        }),
                    },
                    Stmt::Set(local, value) => made.push(Stmt::Set(local, self.value(local, value))),
                    // What else holds statements holds what is to be changed.
                    stmt => made.push(map_parts(stmt, &mut |inner| self.stmts(inner))),
                }
            }
            made
        })
    }

    fn number(&self, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Int(n) => Some(n),
            Operand::Local(local) => match self.known.get(&local) {
                Some(Known::Number(n)) => Some(*n),
                Some(Known::Difference(..)) | None => None,
            },
            Operand::Real(_) | Operand::Text(_) => None,
        }
    }

    fn value(&self, local: Local, value: Value) -> Value {
        match self.known.get(&local) {
            Some(Known::Number(n)) => return Value::Copy(Operand::Int(*n)),
            Some(Known::Difference(a, b)) => return Value::Int(Int::Sub, *a, *b),
            None => {}
        }
        let made = match &value {
            Value::Copy(a) => self.number(*a).map(Operand::Int),
            Value::Int(op, a, b) => self.int(*op, *a, *b),
            Value::CompareInt(compare, a, b) => match (self.number(*a), self.number(*b)) {
                (Some(a), Some(b)) => Some(Operand::Int(i64::from(compare.holds(&a, &b)))),
                (None, Some(0)) if *compare == Compare::Lt && self.is_natural(*a) => Some(Operand::Int(0)),
                (_, _) => None,
            },
            Value::Select(cond, a, b) => self.number(*cond).map(|cond| if cond == 0 { *b } else { *a }),
            Value::Real(..)
            | Value::CompareReal(..)
            | Value::OutOfRange(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Load { .. }
            | Value::Address { .. }
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => None,
        };
        made.map_or(value, Value::Copy)
    }

    fn int(&self, op: Int, a: Operand, b: Operand) -> Option<Operand> {
        let (x, y) = (self.number(a), self.number(b));
        let number = |n: i64| Some(Operand::Int(n));
        match (op, x, y) {
            (Int::And, Some(0), _) | (Int::And, _, Some(0)) => number(0),
            (Int::And, Some(x), Some(y)) => number(x & y),
            (Int::Or, Some(x), Some(y)) => number(x | y),
            (Int::Xor, Some(x), Some(y)) => number(x ^ y),
            (Int::Add | Int::Or | Int::Xor, Some(0), _) => Some(b),
            (Int::Add | Int::Sub | Int::Or | Int::Xor, _, Some(0)) => Some(a),
            (_, _, _) => None,
        }
    }

    /// Whether something is what is not negative, with the bits of what is positive changed.
    fn is_natural(&self, operand: Operand) -> bool {
        let of = operand.local().and_then(|local| self.xors.get(&local));
        of.and_then(|of| of.local()).is_some_and(|rest| self.natural.contains(&rest))
    }
}

/// Without what is assigned and never read.
fn clean(mut body: Vec<Stmt>, own: &FxHashSet<Local>) -> Vec<Stmt> {
    loop {
        let mut read: FxHashSet<Local> = FxHashSet::default();
        every_read(&body, &mut |local| {
            read.insert(local);
        });
        let mut dropped = false;
        body = without(body, &mut |stmt| {
            let unread = matches!(stmt, Stmt::Set(local, value)
                if own.contains(local) && !read.contains(local) && !matches!(value, Value::Alloc(..)));
            dropped |= unread;
            unread
        });
        if !dropped {
            return body;
        }
    }
}

fn without(body: Vec<Stmt>, drop: &mut dyn FnMut(&Stmt) -> bool) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let kept: Vec<Stmt> = body.into_iter().filter(|stmt| !drop(stmt)).collect();
        kept.into_iter().map(|stmt| map_parts(stmt, &mut |inner| without(inner, drop))).collect()
    })
}
