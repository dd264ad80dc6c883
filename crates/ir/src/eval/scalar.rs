//! Operations on scalars and texts, as the interpreter computes them.

use super::limits::Meter;
use super::value::{Text, Value};
use crate::op::{Compare, Convert, IntOp, TextOp};
use crate::words::escaped;
use std::rc::Rc;
use wengert_base::real;
use wengert_fault::Fault;
use wengert_prim::RealOp;

/// An operation on reals.
pub(super) fn real_op(meter: &mut Meter, op: RealOp, args: &[Value]) -> Result<Value, Fault> {
    meter.flops += op.cost();
    match args {
        [Value::Real(x)] => Ok(Value::Real(op.eval1(*x))),
        [Value::Real(x), Value::Real(y)] => Ok(Value::Real(op.eval2(*x, *y))),
        _ => Err(mistyped("reals")),
    }
}

/// `polygamma n x`
pub(super) fn polygamma(meter: &mut Meter, order: i64, x: Value) -> Result<Value, Fault> {
    let op = match order {
        0 => RealOp::Digamma,
        n => RealOp::Polygamma(u32::try_from(n).map_err(|_| Fault::Polygamma { order })?),
    };
    real_op(meter, op, &[x])
}

/// An operation on integers.
pub(super) fn int_op(op: IntOp, args: &[Value]) -> Result<Value, Fault> {
    let (x, y) = match args {
        [Value::Int(x)] => (*x, 0),
        [Value::Int(x), Value::Int(y)] => (*x, *y),
        _ => return Err(mistyped("integers")),
    };
    let divided = |function: &str, quotient: fn(i64, i64) -> i64| match y {
        0 => Err(Fault::Division { function: function.into(), dividend: x }),
        y => Ok(quotient(x, y)),
    };
    let shifted = |by: fn(i64, u32) -> i64| match u32::try_from(y) {
        Ok(bits @ 0..=63) => Ok(by(x, bits)),
        _ => Err(Fault::Shift { bits: y }),
    };
    Ok(Value::Int(match op {
        IntOp::Add => x.wrapping_add(y),
        IntOp::Sub => x.wrapping_sub(y),
        IntOp::Mul => x.wrapping_mul(y),
        IntOp::Div => divided("/", i64::wrapping_div)?,
        IntOp::Rem => divided("%", i64::wrapping_rem)?,
        IntOp::DivFloor => divided("div", div_floor)?,
        IntOp::ModFloor => divided("mod", mod_floor)?,
        IntOp::Neg => x.wrapping_neg(),
        IntOp::Abs => x.wrapping_abs(),
        IntOp::Sign => x.signum(),
        IntOp::Min => x.min(y),
        IntOp::Max => x.max(y),
        IntOp::Power => power(x, y)?,
        IntOp::BitAnd => x & y,
        IntOp::BitOr => x | y,
        IntOp::BitXor => x ^ y,
        IntOp::ShiftLeft => shifted(i64::wrapping_shl)?,
        IntOp::ShiftRight => shifted(|x, bits| (x as u64).wrapping_shr(bits) as i64)?,
    }))
}

fn div_floor(x: i64, y: i64) -> i64 {
    let quotient = x.wrapping_div(y);
    if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

fn mod_floor(x: i64, y: i64) -> i64 {
    let rest = x.wrapping_rem(y);
    if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
}

fn power(base: i64, exponent: i64) -> Result<i64, Fault> {
    let mut rest = u64::try_from(exponent).map_err(|_| Fault::NegativePower { base, exponent })?;
    let (mut square, mut result) = (base, 1_i64);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    Ok(result)
}

/// A comparison of two of a kind.
#[inline]
pub(super) fn ordered<T: PartialOrd>(op: Compare, x: T, y: T) -> Value {
    Value::Bool(op.holds(&x, &y))
}

/// A comparison.
pub(super) fn compare(op: Compare, x: &Value, y: &Value) -> Result<Value, Fault> {
    match (x, y) {
        (Value::Real(x), Value::Real(y)) => Ok(ordered(op, x, y)),
        (Value::Int(x), Value::Int(y)) => Ok(ordered(op, x, y)),
        (Value::Bool(x), Value::Bool(y)) => Ok(ordered(op, x, y)),
        (Value::Text(x), Value::Text(y)) => Ok(ordered(op, x.as_str(), y.as_str())),
        _ => Err(mistyped("two scalars of one type")),
    }
}

/// A conversion.
pub(super) fn convert(op: Convert, x: &Value) -> Result<Value, Fault> {
    match (op, x) {
        (Convert::IntToReal, Value::Int(n)) => Ok(Value::Real(*n as f64)),
        (Convert::Floor, Value::Real(x)) => to_int("floor", *x, f64::floor),
        (Convert::Ceil, Value::Real(x)) => to_int("ceil", *x, f64::ceil),
        (Convert::Round, Value::Real(x)) => to_int("round", *x, f64::round),
        (Convert::Truncate, Value::Real(x)) => to_int("truncate", *x, f64::trunc),
        (Convert::IsNan, Value::Real(x)) => Ok(Value::Bool(x.is_nan())),
        _ => Err(mistyped("a number")),
    }
}

fn to_int(function: &str, x: f64, rounding: impl Fn(f64) -> f64) -> Result<Value, Fault> {
    let rounded = rounding(x);
    // -2^63 is an `Int`, 2^63 is not.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&rounded) {
        Ok(Value::Int(rounded as i64))
    } else {
        Err(Fault::NotAnInt { function: function.into(), x })
    }
}

/// An operation on texts.
pub(super) fn text_op(meter: &mut Meter, op: TextOp, args: &mut [Value]) -> Result<Value, Fault> {
    match (op, args) {
        (TextOp::Append, [a, Value::Text(b)]) => {
            let Value::Text(first) = std::mem::replace(a, Value::Unit) else {
                return Err(mistyped("a text"));
            };
            append(meter, first, b.as_str())
        }
        (TextOp::Length, [Value::Text(text)]) => {
            meter.work(text.as_str().len() / 64)?;
            Ok(Value::Int(text.as_str().chars().count() as i64))
        }
        (TextOp::ShowReal, [Value::Real(x)]) => Ok(Value::text(real::show(*x))),
        (TextOp::ShowInt, [Value::Int(n)]) => Ok(Value::text(n.to_string())),
        (TextOp::ShowText, [Value::Text(shown)]) => {
            meter.reserve(2 * shown.as_str().len() as u64)?;
            Ok(Value::text(format!("\"{}\"", escaped(shown.as_str(), '"'))))
        }
        _ => Err(mistyped("what the operation shows")),
    }
}

/// `a ++ b`; appends in place if nobody else has `a`.
fn append(meter: &mut Meter, mut first: Rc<Text>, more: &str) -> Result<Value, Fault> {
    meter.reserve(2 * (first.as_str().len() + more.len()) as u64)?;
    meter.work(more.len() / 64)?;
    if let Some(unique) = Rc::get_mut(&mut first) {
        unique.push_str(more);
        return Ok(Value::Text(first));
    }
    let mut joined = String::with_capacity(first.as_str().len() + more.len());
    joined.push_str(first.as_str());
    joined.push_str(more);
    Ok(Value::text(joined))
}

/// An operation got something that its type excludes: the program was not verified.
pub(super) fn mistyped(expected: &str) -> Fault {
    Fault::internal(format!("{expected} expected"))
}
