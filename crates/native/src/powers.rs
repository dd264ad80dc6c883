//! Powers with whole exponents written out, for kernels and for a compiler that makes vector code: the runtime's function computes one at a time.
//!
//! ```text
//! y = power(x, n)                 s = |n|    p = pow(abs(x), n)    q = if n is odd and x below zero then -p else p
//!                       becomes   y = if s <= 32 then x · x · …, or 1 divided by it, else q
//! ```
//!
//! As the C back end's runtime does it: small powers are products, as everywhere.

use crate::forms::{DEEP, Form, once};
use crate::live;
use crate::loops::walk::{every, is_straight, map_parts, parts_mut, renamed, writes};
use crate::loops::{Func, Int, Local, Operand, Program, Runtime, Stmt, Value, Word};
use crate::straight;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;
use wengert_prim::RealOp;

/// Powers up to here are products, as in `wengert_prim`, and have so many bits.
const MULTIPLIED_OUT: i64 = 32;
const BITS: u32 = 6;
/// Functions with more powers would be too much for the compiler that makes vector code of them.
const MANY: usize = 8;
/// From one iteration to the next, exponents that are looked at before change by no more.
const FAR: u64 = 64;

/// Loops of a program whose exponents are all small, as only running tells, multiply: [`Split`]. If `fixed`, only those whose exponents are the same in
/// all iterations.
pub(crate) fn split(program: &mut Program, fixed: bool) {
    for (_, func) in program.funcs.iter_mut() {
        let known = adding(func);
        if !known.is_empty() {
            let body = std::mem::take(&mut func.body);
            func.body = Split { func, known: &known, fixed }.stmts(body, &mut 0);
        }
    }
}

/// Writes out what stands in innermost loops of a program whose iterations are independent but for what they add up.
pub(crate) fn straighten(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let known = adding(func);
        let mut count = 0;
        every(&func.body, &mut |stmt| count += usize::from(power(stmt).is_some()));
        if !known.is_empty() && count <= MANY {
            write_out(func, &mut |number| known.contains_key(&number));
        }
    }
}

/// Innermost loops with powers whose iterations are independent but for what they add up, by how many loops begin before; and these sums.
fn adding(func: &Func) -> FxHashMap<usize, FxHashSet<Local>> {
    let (mut sums, mut number, mut any) = (FxHashMap::default(), 0, false);
    every(&func.body, &mut |stmt| any |= power(stmt).is_some());
    if !any {
        // Most functions have none, and what is read after loops takes a while to find.
        return sums;
    }
    let has_power = |body: &[Stmt]| body.iter().any(|stmt| power(stmt).is_some());
    let is_straight = |stmt: &Stmt| is_straight(stmt) || power(stmt).is_some();
    let known = live::after_loops(func, &|body| has_power(body) && body.iter().all(is_straight));
    if !known.is_empty() {
        every(&func.body, &mut |stmt| {
            let Stmt::For { body, .. } = stmt else { return };
            let after = known.get(&std::ptr::from_ref(stmt));
            sums.extend(after.and_then(|after| Some((number, straight::sums(body, after)?))));
            number += 1;
        });
    }
    sums
}

/// Writes out what stands directly in loops that are picked, by how many loops begin before. Whether there was any.
pub(crate) fn write_out(func: &mut Func, pick: &mut dyn FnMut(usize) -> bool) -> bool {
    let mut body = std::mem::take(&mut func.body);
    let any = Walk { func, pick, before: 0 }.stmts(&mut body);
    func.body = body;
    any
}

struct Walk<'w> {
    func: &'w mut Func,
    pick: &'w mut dyn FnMut(usize) -> bool,
    /// How many loops have begun.
    before: usize,
}

impl Walk<'_> {
    fn stmts(&mut self, all: &mut [Stmt]) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut any = false;
            for stmt in all {
                let number = self.before;
                self.before += usize::from(matches!(stmt, Stmt::For { .. }));
                if let Stmt::For { body, .. } = stmt
                    && body.iter().any(|stmt| power(stmt).is_some())
                    && (self.pick)(number)
                {
                    any = true;
                    *body = std::mem::take(body).into_iter().flat_map(|stmt| self.written(stmt)).collect();
                }
                for part in parts_mut(stmt) {
                    any |= self.stmts(part);
                }
            }
            any
        })
    }

    fn written(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Some((base, exponent, out)) = power(&stmt) else { return vec![stmt] };
        let mut writer = Writer { func: self.func, made: Vec::new() };
        writer.power(base, exponent, out);
        writer.made
    }
}

/// If it is a power: of what, with which exponent, and what it is called.
fn power(stmt: &Stmt) -> Option<(Operand, Operand, Local)> {
    let Stmt::Runtime { call: Runtime::Power, args, out } = stmt else { return None };
    let [base, exponent] = args.as_slice() else { return None };
    Some((*base, *exponent, (*out)?))
}

/// Makes of loops three:
///
/// ```text
/// for i in 0..n { y = power(x, i + k) … }      becomes      if k or k + n - 1 is not between -32 and 32
///                                                                { for i in 0..n { y = power(x, i + k) … } }
///                                                           else if k or k + n - 1 is negative
///                                                                { for i in 0..n { y = 1 / (x · x · …) … } }
///                                                           else { for i in 0..n { y = x · x · … } }
/// ```
///
/// Vector code divides whether what comes of it is needed or not, and that takes longer than all the products.
struct Split<'s> {
    func: &'s mut Func,
    known: &'s FxHashMap<usize, FxHashSet<Local>>,
    /// Whether exponents must be the same in all iterations.
    fixed: bool,
}

impl Split<'_> {
    fn stmts(&mut self, all: Vec<Stmt>, before: &mut usize) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(all.len());
            for stmt in all {
                let number = *before;
                *before += usize::from(matches!(stmt, Stmt::For { .. }));
                let split = self.known.get(&number).filter(|_| matches!(stmt, Stmt::For { .. }));
                match split.and_then(|sums| self.split(&stmt, sums, &mut made)) {
                    Some(multiplied) => made.push(multiplied),
                    None => made.push(map_parts(stmt, &mut |inner| self.stmts(inner, before))),
                }
            }
            made
        })
    }

    /// The loops, if exponents are sums of the index and of what does not change.
    fn split(&mut self, stmt: &Stmt, sums: &FxHashSet<Local>, made: &mut Vec<Stmt>) -> Option<Stmt> {
        let Stmt::For { index, len, body, .. } = stmt else { return None };
        let assigned: FxHashSet<Local> = body.iter().flat_map(writes).collect();
        let values = once(body);
        let mut forms: Vec<Form> = Vec::new();
        for (_, exponent, _) in body.iter().filter_map(power) {
            let form = Form::of(&values, exponent, DEEP);
            let fixed = form.terms.keys().all(|local| local == index || !assigned.contains(local));
            let near = form.terms.get(index).is_none_or(|step| !self.fixed && step.unsigned_abs() <= FAR);
            (fixed && near).then_some(())?;
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        let mut writer = Writer { func: self.func, made: Vec::new() };
        let (mut is_large, mut is_negative, mut fixed) = (Operand::Int(0), Operand::Int(0), Vec::new());
        for form in forms {
            // What lies between the first and the last iteration is no larger than these.
            let first = form.written(Some(*index), &mut |op, a, b| writer.int(Value::Int(op, a, b)));
            let mut ends = vec![first];
            if let Some(step) = form.terms.get(index) {
                let more = writer.int(Value::Int(Int::Sub, *len, Operand::Int(1)));
                let more = writer.int(Value::Int(Int::Mul, more, Operand::Int(*step)));
                ends.push(writer.int(Value::Int(Int::Add, first, more)));
            } else {
                fixed.push((form, writer.exponent(first)));
            }
            for end in ends {
                is_large = writer.or_large(is_large, end);
                is_negative = writer.or_negative(is_negative, end);
            }
        }
        made.append(&mut writer.made);
        let own = assigned.into_iter().chain([*index]).filter(|local| !sums.contains(local)).collect();
        let products = Products { stmt, values: &values, fixed: &fixed, own };
        let divided = products.made(self.func, true)?;
        let multiplied = products.made(self.func, false)?;
        let small = Stmt::If { cond: is_negative, then: vec![divided], otherwise: vec![multiplied] };
        Some(Stmt::If { cond: is_large, then: vec![stmt.clone()], otherwise: vec![small] })
    }
}

/// A loop whose exponents are no larger than products are long.
struct Products<'s> {
    stmt: &'s Stmt,
    values: &'s FxHashMap<Local, Value>,
    /// What is known of exponents that are the same in all iterations.
    fixed: &'s [(Form, Exponent)],
    /// What each copy of the loop has of its own.
    own: Vec<Local>,
}

impl Products<'_> {
    /// The loop with products instead of powers, whose exponents can be negative or not.
    fn made(&self, func: &mut Func, negative: bool) -> Option<Stmt> {
        let Stmt::For { index, len, backward, independent, sums, body } = self.stmt else { return None };
        let names: FxHashMap<Local, Local> =
            self.own.iter().map(|local| (*local, func.another(*local))).collect();
        let name = |local: Local| names.get(&local).copied().unwrap_or(local);
        let mut writer = Writer { func, made: Vec::new() };
        for (before, stmt) in body.iter().zip(renamed(body, &mut |local| name(local))) {
            let (Some((_, form, _)), Some((base, exponent, out))) = (power(before), power(&stmt)) else {
                writer.made.push(stmt);
                continue;
            };
            let form = Form::of(self.values, form, DEEP);
            let small = match self.fixed.iter().find(|(known, _)| *known == form) {
                Some((_, exponent)) => writer.small(base, exponent, negative),
                None => {
                    let exponent = writer.exponent(exponent);
                    writer.small(base, &exponent, negative)
                }
            };
            writer.made.push(Stmt::Set(out, small));
        }
        let (index, body, sums) = (name(*index), writer.made, sums.clone());
        Some(Stmt::For { index, len: *len, backward: *backward, independent: *independent, sums, body })
    }
}

/// What is known of an exponent: its sign, its size, and which bits of that are set.
struct Exponent {
    is_negative: Operand,
    size: Operand,
    bits: Vec<Operand>,
}

struct Writer<'w> {
    func: &'w mut Func,
    made: Vec<Stmt>,
}

impl Writer<'_> {
    fn set(&mut self, word: Word, value: Value) -> Operand {
        let local = self.func.fresh(word);
        self.made.push(Stmt::Set(local, value));
        Operand::Local(local)
    }

    fn int(&mut self, value: Value) -> Operand {
        self.set(Word::Int, value)
    }

    fn real(&mut self, op: RealOp, args: Vec<Operand>) -> Operand {
        self.set(Word::Real, Value::Real(op, args))
    }

    fn exponent(&mut self, exponent: Operand) -> Exponent {
        let is_negative = self.int(Value::CompareInt(Compare::Lt, exponent, Operand::Int(0)));
        let minus = self.int(Value::Int(Int::Sub, Operand::Int(0), exponent));
        let size = self.int(Value::Select(is_negative, minus, exponent));
        let bits = (0..BITS).map(|bit| {
            let found = self.int(Value::Int(Int::And, size, Operand::Int(1 << bit)));
            self.int(Value::CompareInt(Compare::Ne, found, Operand::Int(0)))
        });
        let bits = bits.collect();
        Exponent { is_negative, size, bits }
    }

    /// The power, if the exponent is not larger than products are long: by repeated squaring from the lowest bit, as `wengert_prim` multiplies.
    /// Divided by, if it can be negative.
    fn small(&mut self, base: Operand, exponent: &Exponent, negative: bool) -> Value {
        let (mut power, mut square) = (Operand::Real(1.0), base);
        for (place, is_set) in exponent.bits.iter().enumerate() {
            let mut more = base;
            if place > 0 {
                square = self.real(RealOp::Mul, vec![square, square]);
                more = self.real(RealOp::Mul, vec![power, square]);
            }
            power = self.set(Word::Real, Value::Select(*is_set, more, power));
        }
        if !negative {
            return Value::Copy(power);
        }
        let inverse = self.real(RealOp::Div, vec![Operand::Real(1.0), power]);
        Value::Select(exponent.is_negative, inverse, power)
    }

    fn or(&mut self, holds: Operand, other: Operand) -> Operand {
        if holds == Operand::Int(0) { other } else { self.int(Value::Int(Int::Or, holds, other)) }
    }

    /// Whether something holds, or an exponent is larger than products are long.
    fn or_large(&mut self, holds: Operand, exponent: Operand) -> Operand {
        let place = self.int(Value::Int(Int::Add, exponent, Operand::Int(MULTIPLIED_OUT)));
        let is_large = self.int(Value::OutOfRange(place, Operand::Int(2 * MULTIPLIED_OUT + 1)));
        self.or(holds, is_large)
    }

    /// Whether something holds, or an exponent is negative.
    fn or_negative(&mut self, holds: Operand, exponent: Operand) -> Operand {
        let is_negative = self.int(Value::CompareInt(Compare::Lt, exponent, Operand::Int(0)));
        self.or(holds, is_negative)
    }

    fn power(&mut self, base: Operand, exponent: Operand, out: Local) {
        let (zero, one) = (Operand::Real(0.0), Operand::Real(1.0));
        let known = self.exponent(exponent);
        let (small, size) = (self.small(base, &known, true), known.size);
        let (x, n) = (self.real(RealOp::Abs, vec![base]), self.set(Word::Real, Value::IntToReal(exponent)));
        let large = self.real(RealOp::Pow, vec![x, n]);
        // Of a negative zero only what it divides says that it is one.
        let inverse = self.real(RealOp::Div, vec![one, base]);
        let is_below = self.int(Value::CompareReal(Compare::Lt, base, zero));
        let divides_below = self.int(Value::CompareReal(Compare::Lt, inverse, zero));
        let is_below = self.int(Value::Int(Int::Or, is_below, divides_below));
        let is_odd = self.int(Value::Int(Int::And, exponent, Operand::Int(1)));
        let turns = self.int(Value::Int(Int::And, is_odd, is_below));
        let turned = self.real(RealOp::Neg, vec![large]);
        let large = self.set(Word::Real, Value::Select(turns, turned, large));
        let small = self.set(Word::Real, small);
        // The size of the smallest integer is negative.
        let is_size = self.int(Value::CompareInt(Compare::Ge, size, Operand::Int(0)));
        let is_small = self.int(Value::CompareInt(Compare::Le, size, Operand::Int(MULTIPLIED_OUT)));
        let is_small = self.int(Value::Int(Int::And, is_size, is_small));
        self.made.push(Stmt::Set(out, Value::Select(is_small, small, large)));
    }
}

#[cfg(test)]
mod tests;
