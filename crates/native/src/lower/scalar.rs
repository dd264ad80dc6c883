//! Operations on numbers, truth values and texts, with the checks that may fail.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function takes the operations that the one before it leaves"
)]

use super::{Lower, Operand, Place, Stmt, Value, Word};
use crate::loops::{Failure, Int, Round, Runtime};
use wengert_base::Name;
use wengert_ir::op::{Compare, Convert, IntOp, Requirement, TextOp};
use wengert_ir::{Atom, Elem, Op, Ty, Var};
use wengert_prim::RealOp;

impl Lower<'_> {
    /// An operation whose operands and results are scalars.
    pub(super) fn scalar(&mut self, outs: &[Var], op: &Op) {
        match (op, outs.first()) {
            (Op::Fail { message }, _) => {
                let message = self.word(message);
                self.fail(Failure::User, vec![message]);
            }
            (Op::Require { what, left, right }, _) => self.require(*what, left, right),
            (Op::Real(op, args), Some(out)) => {
                let args = self.words(args);
                self.bind(*out, real(*op, args));
            }
            (Op::Power { base, exponent }, Some(out)) => {
                let args = vec![self.word(base), self.word(exponent)];
                self.runtime(*out, Runtime::Power, args);
            }
            (Op::Polygamma { order, x }, Some(out)) => {
                let (order, x) = (self.word(order), self.word(x));
                let outside = self.set(Word::Int, Value::OutOfRange(order, Operand::Int(1 << 32)));
                self.fail_if(outside, Failure::Polygamma, vec![order]);
                self.runtime(*out, Runtime::Polygamma, vec![order, x]);
            }
            (Op::Int(op, args), Some(out)) => {
                let args = self.words(args);
                let a = args.first().copied().unwrap_or(Operand::Int(0));
                let b = args.get(1).copied().unwrap_or(Operand::Int(0));
                self.integer(*out, *op, a, b);
            }
            (Op::Compare(compare, a, b), Some(out)) => self.compare(*out, *compare, a, b),
            (Op::Convert(convert, x), Some(out)) => {
                let x = self.word(x);
                self.convert(*out, *convert, x);
            }
            (Op::Not(x), Some(out)) => {
                let x = self.word(x);
                self.bind(*out, Value::CompareInt(Compare::Eq, x, Operand::Int(0)));
            }
            (Op::Text(op, args), Some(out)) => self.text_op(*out, text_call(*op), args),
            // The verifier excludes other operations and results.
            (_, _) => self.fail(Failure::Internal, Vec::new()),
        }
    }

    pub(super) fn fail(&mut self, failure: Failure, numbers: Vec<Operand>) {
        let site = self.site(failure);
        self.emit(Stmt::Fail(site, numbers));
    }

    /// Binds a variable to what the runtime gives.
    pub(super) fn runtime(&mut self, out: Var, call: Runtime, args: Vec<Operand>) {
        let local = self.made.fresh(super::word(self.func.ty(out)));
        self.emit(Stmt::Runtime { call, args, out: Some(local) });
        self.bind_owned(out, local);
    }

    fn require(&mut self, what: Requirement, left: &Atom, right: &Atom) {
        let (left, right) = (self.word(left), self.word(right));
        if what == Requirement::Beside {
            return self.call_alike(left, right);
        }
        let differ = self.set(Word::Int, Value::CompareInt(Compare::Ne, left, right));
        self.fail_if(differ, Failure::Required(what), vec![left, right]);
    }

    /// Sizes of arrays that are the second are the first, which is the same.
    fn call_alike(&mut self, first: Operand, second: Operand) {
        let arrays = self.places.values_mut().filter_map(|place| match place {
            Place::Array(array) => Some(array),
            _ => None,
        });
        for size in arrays.flat_map(|array| &mut array.dims).filter(|size| **size == second) {
            *size = first;
        }
    }

    fn integer(&mut self, out: Var, op: IntOp, a: Operand, b: Operand) {
        let simple = match op {
            IntOp::Add => Some(Int::Add),
            IntOp::Sub => Some(Int::Sub),
            IntOp::Mul => Some(Int::Mul),
            IntOp::Min => Some(Int::Min),
            IntOp::Max => Some(Int::Max),
            IntOp::BitAnd => Some(Int::And),
            IntOp::BitOr => Some(Int::Or),
            IntOp::BitXor => Some(Int::Xor),
            IntOp::Div
            | IntOp::Rem
            | IntOp::DivFloor
            | IntOp::ModFloor
            | IntOp::Neg
            | IntOp::Abs
            | IntOp::Sign
            | IntOp::Power
            | IntOp::ShiftLeft
            | IntOp::ShiftRight => None,
        };
        if let Some(simple) = simple {
            self.bind(out, Value::Int(simple, a, b));
            return;
        }
        match op {
            IntOp::Neg => self.bind(out, Value::Int(Int::Sub, Operand::Int(0), a)),
            IntOp::Abs => {
                let negated = self.set(Word::Int, Value::Int(Int::Sub, Operand::Int(0), a));
                // The smallest integer is its own negation, and is larger than no other.
                let negative = self.set(Word::Int, Value::CompareInt(Compare::Lt, a, Operand::Int(0)));
                self.bind(out, Value::Select(negative, negated, a));
            }
            IntOp::Sign => {
                let low = self.set(Word::Int, Value::Int(Int::Max, a, Operand::Int(-1)));
                self.bind(out, Value::Int(Int::Min, low, Operand::Int(1)));
            }
            IntOp::Power => {
                let negative = self.set(Word::Int, Value::CompareInt(Compare::Lt, b, Operand::Int(0)));
                self.fail_if(negative, Failure::NegativePower, vec![a, b]);
                self.runtime(out, Runtime::IntPower, vec![a, b]);
            }
            IntOp::ShiftLeft | IntOp::ShiftRight => {
                let outside = self.set(Word::Int, Value::OutOfRange(b, Operand::Int(64)));
                self.fail_if(outside, Failure::Shift, vec![b]);
                let shift = if op == IntOp::ShiftLeft { Int::ShiftLeft } else { Int::ShiftRight };
                self.bind(out, Value::Int(shift, a, b));
            }
            _ => self.division(out, op, a, b),
        }
    }

    fn division(&mut self, out: Var, op: IntOp, a: Operand, b: Operand) {
        let name = match op {
            IntOp::Div => "/",
            IntOp::Rem => "%",
            IntOp::DivFloor => "div",
            _ => "mod",
        };
        if !matches!(b, Operand::Int(n) if n != 0) {
            let zero = self.set(Word::Int, Value::CompareInt(Compare::Eq, b, Operand::Int(0)));
            self.fail_if(zero, Failure::Division(Name::new(name)), vec![a, b]);
        }
        match op {
            IntOp::Div => return self.bind(out, Value::Int(Int::Div, a, b)),
            IntOp::Rem => return self.bind(out, Value::Int(Int::Rem, a, b)),
            // What is left of a power of two is in the lowest bits, of what is negative too.
            IntOp::ModFloor if let Some(bits) = below_power_of_two(b) => {
                return self.bind(out, Value::Int(Int::And, a, Operand::Int(bits)));
            }
            _ => {}
        }
        // Rounded down: one less than towards zero where there is a rest and the signs differ.
        let rest = self.set(Word::Int, Value::Int(Int::Rem, a, b));
        let inexact = self.set(Word::Int, Value::CompareInt(Compare::Ne, rest, Operand::Int(0)));
        let signs = self.set(Word::Int, Value::Int(Int::Xor, a, b));
        let differ = self.set(Word::Int, Value::CompareInt(Compare::Lt, signs, Operand::Int(0)));
        let down = self.set(Word::Int, Value::Int(Int::And, inexact, differ));
        if op == IntOp::DivFloor {
            let quotient = self.set(Word::Int, Value::Int(Int::Div, a, b));
            self.bind(out, Value::Int(Int::Sub, quotient, down));
        } else {
            let more = self.set(Word::Int, Value::Select(down, b, Operand::Int(0)));
            self.bind(out, Value::Int(Int::Add, rest, more));
        }
    }

    fn compare(&mut self, out: Var, compare: Compare, a: &Atom, b: &Atom) {
        let ty = self.ty(a);
        let (a, b) = (self.word(a), self.word(b));
        let value = match ty {
            Ty::Scalar(Elem::Real) => Value::CompareReal(compare, a, b),
            Ty::Scalar(Elem::Text) => {
                let order = self.made.fresh(Word::Int);
                self.emit(Stmt::Runtime { call: Runtime::TextCompare, args: vec![a, b], out: Some(order) });
                Value::CompareInt(compare, Operand::Local(order), Operand::Int(0))
            }
            Ty::Scalar(_) | Ty::Array(..) => Value::CompareInt(compare, a, b),
        };
        self.bind(out, value);
    }

    fn convert(&mut self, out: Var, convert: Convert, x: Operand) {
        let (round, function) = match convert {
            Convert::IntToReal => return self.bind(out, Value::IntToReal(x)),
            Convert::IsNan => return self.bind(out, Value::CompareReal(Compare::Ne, x, x)),
            Convert::Floor => (Round::Floor, "floor"),
            Convert::Ceil => (Round::Ceil, "ceil"),
            Convert::Round => (Round::Nearest, "round"),
            Convert::Truncate => (Round::Truncate, "truncate"),
        };
        // -2^63 is an integer, 2^63 is not.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        let rounded = self.set(Word::Real, Value::Round(round, x));
        let above = self.set(Word::Int, Value::CompareReal(Compare::Ge, rounded, Operand::Real(-LIMIT)));
        let below = self.set(Word::Int, Value::CompareReal(Compare::Lt, rounded, Operand::Real(LIMIT)));
        let fits = self.set(Word::Int, Value::Int(Int::And, above, below));
        let outside = self.set(Word::Int, Value::CompareInt(Compare::Eq, fits, Operand::Int(0)));
        let site = self.site(Failure::NotAnInt(Name::new(function)));
        let failing = self.apart(|this| {
            let bits = this.set(Word::Int, Value::Bits(x));
            this.emit(Stmt::Fail(site, vec![bits]));
        });
        self.emit(Stmt::If { cond: outside, then: failing, otherwise: Vec::new() });
        self.bind(out, Value::RealToInt(rounded));
    }

    pub(super) fn text_op(&mut self, out: Var, call: Runtime, args: &[Atom]) {
        let mut words = self.words(args);
        if call.makes_text() {
            let site = self.site(Failure::Memory);
            words.push(Operand::Int(i64::from(site)));
        }
        self.runtime(out, call, words);
    }
}

/// What is left of a positive power of two without its bit.
fn below_power_of_two(by: Operand) -> Option<i64> {
    match by {
        Operand::Int(by @ 1..) if by & (by - 1) == 0 => Some(by - 1),
        _ => None,
    }
}

/// An operation on reals. A number divided by a power of two is the product with its reciprocal, to the last bit, and sooner there.
fn real(op: RealOp, args: Vec<Operand>) -> Value {
    if let (RealOp::Div, [x, Operand::Real(by)]) = (op, args.as_slice())
        && let Some(reciprocal) = exact_reciprocal(*by)
    {
        return Value::Real(RealOp::Mul, vec![*x, Operand::Real(reciprocal)]);
    }
    Value::Real(op, args)
}

/// The reciprocal of a power of two, unless it is so large or small that one of both has fewer bits.
fn exact_reciprocal(by: f64) -> Option<f64> {
    let mantissa = by.to_bits() & ((1 << 52) - 1);
    let reciprocal = by.recip();
    (mantissa == 0 && by.is_normal() && reciprocal.is_normal()).then_some(reciprocal)
}

/// What the runtime does for an operation on texts.
fn text_call(op: TextOp) -> Runtime {
    match op {
        TextOp::Append => Runtime::TextAppend,
        TextOp::Length => Runtime::TextLength,
        TextOp::ShowReal => Runtime::ShowReal,
        TextOp::ShowInt => Runtime::ShowInt,
        TextOp::ShowText => Runtime::ShowText,
    }
}
