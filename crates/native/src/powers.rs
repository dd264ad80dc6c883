//! Powers with whole exponents written out, for kernels and for a compiler that makes vector code: the runtime's function computes one at a time.
//!
//! ```text
//! y = power(x, n)                 s = |n|    p = pow(abs(x), n)    q = if n is odd and x below zero then -p else p
//!                       becomes   y = if s <= 32 then x · x · …, or 1 divided by it, else q
//! ```
//!
//! As the C back end's runtime does it: small powers are products, as everywhere.

use crate::live;
use crate::loops::walk::{is_straight, parts, parts_mut};
use crate::loops::{Func, Int, Local, Operand, Program, Runtime, Stmt, Value, Word};
use crate::straight;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;
use wengert_prim::RealOp;

/// Powers up to here are products, as in `wengert_prim`, and have so many bits.
const MULTIPLIED_OUT: i64 = 32;
const BITS: u32 = 6;

/// Writes out what stands in innermost loops of a program whose iterations are independent but for what they add up.
pub(crate) fn straighten(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let has_power = |body: &[Stmt]| body.iter().any(|stmt| power(stmt).is_some());
        let is_straight = |stmt: &Stmt| is_straight(stmt) || power(stmt).is_some();
        let known = live::after_loops(func, &|body| has_power(body) && body.iter().all(is_straight));
        if !known.is_empty() {
            let mut picked = Vec::new();
            adding(&func.body, &known, &mut picked);
            write_out(func, &mut |number| picked.get(number) == Some(&true));
        }
    }
}

/// Of each loop, in their order, whether it is known and its iterations do no more than add up.
fn adding(stmts: &[Stmt], known: &FxHashMap<*const Stmt, FxHashSet<Local>>, picked: &mut Vec<bool>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            if let Stmt::For { body, .. } = stmt {
                let after = known.get(&std::ptr::from_ref(stmt));
                picked.push(after.is_some_and(|after| straight::only_adds(body, after)));
            }
            parts(stmt).into_iter().for_each(|part| adding(part, known, picked));
        }
    });
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

    fn power(&mut self, base: Operand, exponent: Operand, out: Local) {
        let (zero, one) = (Operand::Real(0.0), Operand::Real(1.0));
        let is_negative = self.int(Value::CompareInt(Compare::Lt, exponent, Operand::Int(0)));
        let minus = self.int(Value::Int(Int::Sub, Operand::Int(0), exponent));
        let size = self.int(Value::Select(is_negative, minus, exponent));
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
        let small = self.multiplied_out(base, size);
        let inverse = self.real(RealOp::Div, vec![one, small]);
        let small = self.set(Word::Real, Value::Select(is_negative, inverse, small));
        // The size of the smallest integer is negative.
        let is_size = self.int(Value::CompareInt(Compare::Ge, size, Operand::Int(0)));
        let is_small = self.int(Value::CompareInt(Compare::Le, size, Operand::Int(MULTIPLIED_OUT)));
        let is_small = self.int(Value::Int(Int::And, is_size, is_small));
        self.made.push(Stmt::Set(out, Value::Select(is_small, small, large)));
    }

    /// By repeated squaring from the lowest bit, as `wengert_prim` multiplies.
    fn multiplied_out(&mut self, base: Operand, size: Operand) -> Operand {
        let (mut power, mut square) = (Operand::Real(1.0), base);
        for bit in 0..BITS {
            let found = self.int(Value::Int(Int::And, size, Operand::Int(1 << bit)));
            let is_set = self.int(Value::CompareInt(Compare::Ne, found, Operand::Int(0)));
            let more = self.real(RealOp::Mul, vec![power, square]);
            power = self.set(Word::Real, Value::Select(is_set, more, power));
            if bit + 1 < BITS {
                square = self.real(RealOp::Mul, vec![square, square]);
            }
        }
        power
    }
}
