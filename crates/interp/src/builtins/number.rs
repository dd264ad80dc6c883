//! Arithmetic on `Int`s and `Real`s, and functions of real numbers.

use super::{int, misplaced};
use crate::arith;
use crate::builtins::compare;
use crate::compile::instr::Compare;
use crate::errors;
use crate::step::{Context, Failure};
use crate::value::Value;
use wengert_prim::{Prim, RealOp};

/// Calls a primitive of these chapters.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, b, _]: [Value; 3]) -> Result<Value, Failure> {
    match prim {
        Prim::Add => binary(cx, RealOp::Add, &a, &b, i64::wrapping_add),
        Prim::Sub => binary(cx, RealOp::Sub, &a, &b, i64::wrapping_sub),
        Prim::Mul => binary(cx, RealOp::Mul, &a, &b, i64::wrapping_mul),
        Prim::Div => match (&a, &b) {
            (Value::Int(x), Value::Int(y)) => divide(*x, *y, "/", i64::wrapping_div),
            (a, b) => arith::real2(cx, RealOp::Div, a, b),
        },
        Prim::Neg => unary(cx, RealOp::Neg, &a, i64::wrapping_neg),
        Prim::Abs => unary(cx, RealOp::Abs, &a, i64::wrapping_abs),
        Prim::Sign => unary(cx, RealOp::Sign, &a, i64::signum),
        Prim::Min => binary(cx, RealOp::Min, &a, &b, i64::min),
        Prim::Max => binary(cx, RealOp::Max, &a, &b, i64::max),
        Prim::Power => power(cx, &a, int(&b)?),
        Prim::Eq => compare::compare(cx, Compare::Eq, &a, &b).map(Value::Bool),
        Prim::Ne => compare::compare(cx, Compare::Ne, &a, &b).map(Value::Bool),
        Prim::Lt => compare::compare(cx, Compare::Lt, &a, &b).map(Value::Bool),
        Prim::Le => compare::compare(cx, Compare::Le, &a, &b).map(Value::Bool),
        Prim::Gt => compare::compare(cx, Compare::Gt, &a, &b).map(Value::Bool),
        Prim::Ge => compare::compare(cx, Compare::Ge, &a, &b).map(Value::Bool),
        Prim::Pow => arith::real2(cx, RealOp::Pow, &a, &b),
        Prim::Atan2 => arith::real2(cx, RealOp::Atan2, &a, &b),
        Prim::Hypot => arith::real2(cx, RealOp::Hypot, &a, &b),
        Prim::Polygamma => match int(&a)? {
            0 => arith::real1(cx, RealOp::Digamma, &b),
            n => {
                let order = u32::try_from(n).map_err(|_| errors::polygamma(n))?;
                arith::real1(cx, RealOp::Polygamma(order), &b)
            }
        },
        Prim::Real => Ok(Value::Real(int(&a)? as f64)),
        Prim::Floor => to_int("floor", &a, f64::floor),
        Prim::Ceil => to_int("ceil", &a, f64::ceil),
        Prim::Round => to_int("round", &a, f64::round),
        Prim::Truncate => to_int("truncate", &a, f64::trunc),
        Prim::IsNan => Ok(Value::Bool(arith::observe(&a)?.is_nan())),
        Prim::Rem => divide(int(&a)?, int(&b)?, "%", i64::wrapping_rem),
        Prim::DivFloor => divide(int(&a)?, int(&b)?, "div", div_floor),
        Prim::ModFloor => divide(int(&a)?, int(&b)?, "mod", mod_floor),
        Prim::BitAnd => Ok(Value::Int(int(&a)? & int(&b)?)),
        Prim::BitOr => Ok(Value::Int(int(&a)? | int(&b)?)),
        Prim::BitXor => Ok(Value::Int(int(&a)? ^ int(&b)?)),
        Prim::ShiftLeft => shift(int(&a)?, int(&b)?, |x, bits| x.wrapping_shl(bits)),
        Prim::ShiftRight => shift(int(&a)?, int(&b)?, |x, bits| (x as u64).wrapping_shr(bits) as i64),
        other => function_of_one_real(cx, other, &a),
    }
}

fn function_of_one_real(cx: &mut Context, prim: Prim, a: &Value) -> Result<Value, Failure> {
    match crate::compile::lower::function_of_one_real(prim) {
        Some(op) => arith::real1(cx, op, a),
        None => Err(misplaced(prim)),
    }
}

fn unary(cx: &mut Context, op: RealOp, a: &Value, on_int: impl Fn(i64) -> i64) -> Result<Value, Failure> {
    match a {
        Value::Int(x) => Ok(Value::Int(on_int(*x))),
        a => arith::real1(cx, op, a),
    }
}

fn binary(
    cx: &mut Context,
    op: RealOp,
    a: &Value,
    b: &Value,
    on_int: impl Fn(i64, i64) -> i64,
) -> Result<Value, Failure> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Int(on_int(*x, *y))),
        (a, b) => arith::real2(cx, op, a, b),
    }
}

fn power(cx: &mut Context, base: &Value, exponent: i64) -> Result<Value, Failure> {
    match base {
        Value::Int(base) => {
            let mut exponent =
                u64::try_from(exponent).map_err(|_| errors::negative_power(*base, exponent))?;
            let (mut square, mut result) = (*base, 1_i64);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    result = result.wrapping_mul(square);
                }
                square = square.wrapping_mul(square);
                exponent >>= 1;
            }
            Ok(Value::Int(result))
        }
        base => arith::real1(cx, RealOp::PowInt(exponent), base),
    }
}

fn divide(x: i64, y: i64, name: &str, operation: impl Fn(i64, i64) -> i64) -> Result<Value, Failure> {
    if y != 0 {
        return Ok(Value::Int(operation(x, y)));
    }
    Err(errors::division_by_zero(name, x))
}

fn div_floor(x: i64, y: i64) -> i64 {
    let quotient = x.wrapping_div(y);
    if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

fn mod_floor(x: i64, y: i64) -> i64 {
    let rest = x.wrapping_rem(y);
    if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
}

fn shift(x: i64, bits: i64, operation: impl Fn(i64, u32) -> i64) -> Result<Value, Failure> {
    match u32::try_from(bits) {
        Ok(bits @ 0..=63) => Ok(Value::Int(operation(x, bits))),
        _ => Err(errors::shift(bits)),
    }
}

fn to_int(function: &str, x: &Value, rounding: impl Fn(f64) -> f64) -> Result<Value, Failure> {
    let x = arith::observe(x)?;
    let rounded = rounding(x);
    // -2^63 is an `Int`, 2^63 is not.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&rounded) {
        Ok(Value::Int(rounded as i64))
    } else {
        Err(errors::not_an_int(function, x))
    }
}
