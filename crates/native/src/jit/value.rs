//! Expressions on integers, memory and truth values.

use super::body::Body;
use super::{flags, fused, machine, masked, real, zeros};
use crate::loops::{Int, Kind, Operand, Round, Value as Expr, Word};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use wengert_ir::op::Compare;
use wengert_prim::RealOp;

/// The value of an expression for a variable of this word.
pub(super) fn value(body: &mut Body<'_, '_, '_>, value: &Expr, word: Word) -> Value {
    match value {
        Expr::Copy(x) => body.operand(*x),
        Expr::Real(op, args) => {
            let mut args: Vec<Operand> = args.clone();
            // A constant is read from memory by the operation itself only where it comes second.
            if matches!(
                (op, args.as_slice()),
                (RealOp::Add | RealOp::Mul | RealOp::MulZero, [Operand::Real(_), _])
            ) {
                args.reverse();
            }
            let values: Vec<Value> = args.iter().map(|arg| body.operand(*arg)).collect();
            let op = if body.plain { zeros::plain(*op) } else { *op };
            fused::sum(body, op, &args, &values)
                .or_else(|| masked::apply(body, op, &values))
                .unwrap_or_else(|| real::apply(body, op, &values))
        }
        Expr::Int(op, a, b) => integer(body, *op, *a, *b),
        Expr::CompareReal(compare, a, b) => {
            let (a, b) = (body.operand(*a), body.operand(*b));
            let flag = body.builder.ins().fcmp(float_condition(*compare), a, b);
            body.builder.ins().uextend(types::I64, flag)
        }
        Expr::CompareInt(compare, a, b) => integer_test(body, condition(*compare), *a, *b),
        Expr::OutOfRange(index, size) => integer_test(body, IntCC::UnsignedGreaterThanOrEqual, *index, *size),
        Expr::Select(cond, then, otherwise) => {
            let [cond, then, otherwise] = [cond, then, otherwise].map(|operand| body.operand(*operand));
            masked::select(body, cond, then, otherwise)
        }
        Expr::IntToReal(x) => {
            let x = body.operand(*x);
            body.builder.ins().fcvt_from_sint(types::F64, x)
        }
        Expr::RealToInt(x) => {
            let x = body.operand(*x);
            body.builder.ins().fcvt_to_sint_sat(types::I64, x)
        }
        Expr::Round(round, x) => {
            let x = body.operand(*x);
            rounded(body, *round, x)
        }
        Expr::Bits(x) => {
            let x = body.operand(*x);
            body.builder.ins().bitcast(types::I64, cranelift_codegen::ir::MemFlagsData::new(), x)
        }
        Expr::Load { base, index, offset } => {
            let (address, offset) = body.address(*base, *index, *offset);
            body.builder.ins().load(machine(word), flags(), address, offset)
        }
        Expr::Address { base, index, offset } => {
            let (address, offset) = body.address(*base, *index, *offset);
            if offset == 0 { address } else { body.builder.ins().iadd_imm_s(address, i64::from(offset)) }
        }
        Expr::Tag(object, is_object) => tag(body, *object, *is_object),
        Expr::Unique(object, kind) => unique(body, *object, *kind),
        Expr::Alloc(words, site, ctor) => body.alloc(*words, *site, *ctor),
    }
}

fn integer_test(body: &mut Body<'_, '_, '_>, condition: IntCC, a: Operand, b: Operand) -> Value {
    let (a, b) = (body.operand(a), body.operand(b));
    let flag = body.builder.ins().icmp(condition, a, b);
    body.builder.ins().uextend(types::I64, flag)
}

pub(super) fn condition(compare: Compare) -> IntCC {
    match compare {
        Compare::Eq => IntCC::Equal,
        Compare::Ne => IntCC::NotEqual,
        Compare::Lt => IntCC::SignedLessThan,
        Compare::Le => IntCC::SignedLessThanOrEqual,
        Compare::Gt => IntCC::SignedGreaterThan,
        Compare::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}

/// With NaN all are false but the second.
pub(super) fn float_condition(compare: Compare) -> FloatCC {
    match compare {
        Compare::Eq => FloatCC::Equal,
        Compare::Ne => FloatCC::NotEqual,
        Compare::Lt => FloatCC::LessThan,
        Compare::Le => FloatCC::LessThanOrEqual,
        Compare::Gt => FloatCC::GreaterThan,
        Compare::Ge => FloatCC::GreaterThanOrEqual,
    }
}

fn integer(body: &mut Body<'_, '_, '_>, op: Int, a: Operand, b: Operand) -> Value {
    let (a, b) = (body.operand(a), body.operand(b));
    integer_of(body, op, a, b)
}

/// An operation on integers.
pub(super) fn integer_of(body: &mut Body<'_, '_, '_>, op: Int, a: Value, b: Value) -> Value {
    match op {
        Int::Add => body.builder.ins().iadd(a, b),
        Int::Sub => body.builder.ins().isub(a, b),
        Int::Mul => body.builder.ins().imul(a, b),
        Int::And => body.builder.ins().band(a, b),
        Int::Or => body.builder.ins().bor(a, b),
        Int::Xor => body.builder.ins().bxor(a, b),
        Int::ShiftLeft => body.builder.ins().ishl(a, b),
        Int::ShiftRight => body.builder.ins().ushr(a, b),
        Int::Min => body.builder.ins().smin(a, b),
        Int::Max => body.builder.ins().smax(a, b),
        Int::Div | Int::Rem => {
            // The machine traps on the smallest integer divided by -1; divided by 1 and negated it is right.
            let minus = body.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let one = body.builder.ins().iconst(types::I64, 1);
            let divisor = body.builder.ins().select(minus, one, b);
            if op == Int::Rem {
                return body.builder.ins().srem(a, divisor);
            }
            let quotient = body.builder.ins().sdiv(a, divisor);
            let negated = body.builder.ins().ineg(quotient);
            body.builder.ins().select(minus, negated, quotient)
        }
    }
}

pub(super) fn rounded(body: &mut Body<'_, '_, '_>, round: Round, x: Value) -> Value {
    match round {
        Round::Floor => body.builder.ins().floor(x),
        Round::Ceil => body.builder.ins().ceil(x),
        Round::Truncate => body.builder.ins().trunc(x),
        Round::Nearest => {
            // Halves away from zero: the integer part, and one more if the rest is at least a half. The rest is exact.
            let whole = body.builder.ins().trunc(x);
            let rest = body.builder.ins().fsub(x, whole);
            let size = body.builder.ins().fabs(rest);
            let half = body.builder.ins().f64const(0.5);
            let more = body.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, size, half);
            let one = body.builder.ins().f64const(1.0);
            let signed = body.builder.ins().fcopysign(one, x);
            let next = body.builder.ins().fadd(whole, signed);
            body.builder.ins().select(more, next, whole)
        }
    }
}

fn tag(body: &mut Body<'_, '_, '_>, object: Operand, is_object: bool) -> Value {
    let object = body.operand(object);
    if is_object {
        return constructor(body, object);
    }
    let (inside, after) = (body.builder.create_block(), body.builder.create_block());
    body.builder.append_block_param(after, types::I64);
    let odd = body.builder.ins().band_imm_s(object, 1);
    let number = body.builder.ins().ushr_imm_s(object, 1);
    body.builder.ins().brif(odd, after, &[number.into()], inside, &[]);
    body.enter(inside);
    let stored = constructor(body, object);
    body.builder.ins().jump(after, &[stored.into()]);
    body.enter(after);
    body.builder.block_params(after).first().copied().unwrap_or(number)
}

/// The upper half of the word before an object.
fn constructor(body: &mut Body<'_, '_, '_>, object: Value) -> Value {
    let upper = if cfg!(target_endian = "little") { -4 } else { -8 };
    body.builder.ins().uload32(flags(), object, upper)
}

fn unique(body: &mut Body<'_, '_, '_>, object: Operand, kind: Kind) -> Value {
    let object = body.operand(object);
    if !matches!(kind, Kind::Data(_)) {
        let count = body.count(object);
        let flag = body.builder.ins().icmp_imm_s(IntCC::Equal, count, 1);
        return body.builder.ins().uextend(types::I64, flag);
    }
    let (inside, after) = (body.builder.create_block(), body.builder.create_block());
    body.builder.append_block_param(after, types::I64);
    let odd = body.builder.ins().band_imm_s(object, 1);
    let no = body.builder.ins().iconst(types::I64, 0);
    body.builder.ins().brif(odd, after, &[no.into()], inside, &[]);
    body.enter(inside);
    let count = body.count(object);
    let flag = body.builder.ins().icmp_imm_s(IntCC::Equal, count, 1);
    let flag = body.builder.ins().uextend(types::I64, flag);
    body.builder.ins().jump(after, &[flag.into()]);
    body.enter(after);
    body.builder.block_params(after).first().copied().unwrap_or(no)
}
