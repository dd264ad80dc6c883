//! The functions on blocks of numbers.
//!
//! A loop of fixed length whose body has neither branches nor calls: the compiler makes it vector code for whatever
//! the function that this is inlined into may use. Arguments that are not for the main path are looked for after each
//! chunk and put right one by one.

use crate::function::{Angle, Function, Gamma, Rare};
use crate::huge;
use crate::machine::{Machine, Plain};
use crate::{error, exp, gamma, inverse, log, power, trig};
use wengert_prim::RealOp;

/// So many numbers at a time: one of the widest vectors. Of several in a row, processors do one before the last is finished, and
/// short blocks are no more work than they are long.
const CHUNK: usize = 8;

/// Each number replaced by a value. A macro, since a closure would not be sure to be inlined, and alone would be compiled
/// without the features of the function around it.
macro_rules! each {
    ($data:ident, $x:ident, $value:expr) => {{
        let (whole, rest) = $data.as_chunks_mut::<CHUNK>();
        let mut padded = [1.0; CHUNK];
        copy(&mut padded, rest);
        let last = (!rest.is_empty()).then_some(&mut padded);
        for chunk in whole.iter_mut().chain(last) {
            for place in chunk.iter_mut() {
                let $x = *place;
                *place = $value;
            }
        }
        copy(rest, &padded);
    }};
}

/// The same where arguments may be rare.
macro_rules! each_but_rare {
    ($data:ident, $rare:expr, $x:ident, $value:expr) => {{
        let (whole, rest) = $data.as_chunks_mut::<CHUNK>();
        let mut padded = [1.0; CHUNK];
        copy(&mut padded, rest);
        let last = (!rest.is_empty()).then_some(&mut padded);
        for chunk in whole.iter_mut().chain(last) {
            let before = *chunk;
            for place in chunk.iter_mut() {
                let $x = *place;
                *place = $value;
            }
            let rare = before.iter().fold(false, |rare, x| rare | is_rare(Plain::<FUSED>, $rare, *x));
            if rare {
                put_right::<FUSED>($rare, &before, chunk);
            }
        }
        copy(rest, &padded);
    }};
}

/// Each number replaced by a value for it and another one.
macro_rules! pairs {
    ($data:ident, $second:ident, $x:ident, $y:ident, $value:expr) => {{
        let (whole, rest) = $data.as_chunks_mut::<CHUNK>();
        let (others, other) = $second.as_chunks::<CHUNK>();
        let (mut padded, mut beside) = ([1.0; CHUNK], [1.0; CHUNK]);
        copy(&mut padded, rest);
        copy(&mut beside, other);
        let last = (!rest.is_empty()).then_some((&mut padded, &beside));
        for (chunk, other) in whole.iter_mut().zip(others).chain(last) {
            // Copies, which are seen to be apart.
            let (mut first, second) = (*chunk, *other);
            for (place, $y) in first.iter_mut().zip(&second) {
                let ($x, $y) = (*place, *$y);
                *place = $value;
            }
            *chunk = first;
        }
        copy(rest, &padded);
    }};
}

/// As many numbers as there are in both.
#[inline(always)]
fn copy(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Applies a function of one argument to each number. `FUSED` says whether there is a fused multiply-add; to be inlined
/// into a function with the processor features to be used.
#[inline(always)]
pub fn unary<const FUSED: bool>(function: Function, data: &mut [f64]) {
    let m = Plain::<FUSED>;
    match function {
        Function::Exp => each!(data, x, exp::exp(m, x)),
        Function::Exp2 => each!(data, x, exp::exp2(m, x)),
        Function::Expm1 => each!(data, x, exp::expm1(m, x)),
        Function::Log => each!(data, x, log::log(m, x)),
        Function::Log2 => each!(data, x, log::log2(m, x)),
        Function::Log10 => each!(data, x, log::log10(m, x)),
        Function::Log1p => each!(data, x, log::log1p(m, x)),
        Function::Cbrt => each!(data, x, power::cbrt(m, x)),
        Function::Asin => each!(data, x, inverse::asin(m, x)),
        Function::Acos => each!(data, x, inverse::acos(m, x)),
        Function::Atan => each!(data, x, inverse::atan(m, x)),
        Function::Sinh => each!(data, x, exp::sinh(m, x)),
        Function::Cosh => each!(data, x, exp::cosh(m, x)),
        Function::Tanh => each!(data, x, exp::tanh(m, x)),
        Function::Asinh => each!(data, x, log::asinh(m, x)),
        Function::Acosh => each!(data, x, log::acosh(m, x)),
        Function::Atanh => each!(data, x, log::atanh(m, x)),
        Function::Sigmoid => each!(data, x, exp::sigmoid(m, x)),
        Function::Softplus => each!(data, x, exp::softplus(m, x)),
        Function::Erf => each!(data, x, error::erf(m, x)),
        Function::Erfc => each!(data, x, error::erfc(m, x)),
        Function::Sqrt => each!(data, x, m.sqrt(x)),
        Function::Sin => each_but_rare!(data, Rare::Angle(Angle::Sin), x, trig::sin(m, x)),
        Function::Cos => each_but_rare!(data, Rare::Angle(Angle::Cos), x, trig::cos(m, x)),
        Function::Tan => each_but_rare!(data, Rare::Angle(Angle::Tan), x, trig::tan(m, x)),
        Function::Lgamma => each_but_rare!(data, Rare::Gamma(Gamma::Lgamma), x, gamma::lgamma(m, x)),
        Function::Digamma => each_but_rare!(data, Rare::Gamma(Gamma::Digamma), x, gamma::digamma(m, x)),
        // These have two arguments.
        Function::Pow | Function::Atan2 | Function::Hypot => data.fill(f64::NAN),
    }
}

/// Applies a function of two arguments to each pair of numbers: the first in `data`, where the result goes.
#[inline(always)]
pub fn binary<const FUSED: bool>(function: Function, data: &mut [f64], second: &[f64]) {
    let m = Plain::<FUSED>;
    if function == Function::Pow {
        pairs!(data, second, x, y, power::pow(m, x, y));
    } else if function == Function::Atan2 {
        pairs!(data, second, x, y, inverse::atan2(m, x, y));
    } else if function == Function::Hypot {
        pairs!(data, second, x, y, power::hypot(m, x, y));
    } else {
        // The others have one argument.
        data.fill(f64::NAN);
    }
}

/// The value for one argument, or two; the same bits as [`unary`] and [`binary`] give.
#[inline(always)]
pub fn scalar<const FUSED: bool>(function: Function, x: f64, y: f64) -> f64 {
    let m = Plain::<FUSED>;
    match function.rare() {
        None => function.main_path(m, x, y),
        Some(Rare::Angle(angle)) if trig::near(m, x) => near(m, angle, x),
        Some(rare) if is_rare(m, rare, x) => slow::<FUSED>(rare, x),
        Some(Rare::Angle(_)) => function.main_path(m, x, y),
        Some(Rare::Gamma(function)) => {
            let ends = gamma::ends(function);
            let number = ends.iter().position(|end| x < *end).unwrap_or(ends.len());
            gamma::piece(m, function, number, x)
        }
    }
}

/// Whether an argument is not for the main path.
#[inline(always)]
pub(crate) fn is_rare<M: Machine>(m: M, function: Rare, x: M::Real) -> M::Mask {
    match function {
        Rare::Angle(_) => trig::rare(m, x),
        Rare::Gamma(_) => gamma::rare(m, x),
    }
}

/// The value for an argument that needs no reduction.
#[inline(always)]
pub(crate) fn near<M: Machine>(m: M, function: Angle, x: M::Real) -> M::Real {
    match function {
        Angle::Sin => trig::sin_near(m, x),
        Angle::Cos => trig::cos_near(m, x),
        Angle::Tan => trig::tan_near(m, x),
    }
}

#[cold]
#[inline(never)]
fn put_right<const FUSED: bool>(rare: Rare, before: &[f64; CHUNK], after: &mut [f64; CHUNK]) {
    for (x, y) in before.iter().zip(after) {
        if is_rare(Plain::<FUSED>, rare, *x) {
            *y = slow::<FUSED>(rare, *x);
        }
    }
}

/// The value for an argument that is not for the main path.
#[inline(never)]
fn slow<const FUSED: bool>(rare: Rare, x: f64) -> f64 {
    let m = Plain::<FUSED>;
    match rare {
        Rare::Angle(Angle::Sin) => trig::sin_reduced(m, huge::reduce::<FUSED>(x)),
        Rare::Angle(Angle::Cos) => trig::cos_reduced(m, huge::reduce::<FUSED>(x)),
        Rare::Angle(Angle::Tan) => trig::tan_reduced(m, huge::reduce::<FUSED>(x)),
        Rare::Gamma(Gamma::Lgamma) => RealOp::Lgamma.eval1(x),
        Rare::Gamma(Gamma::Digamma) => reflected::<FUSED>(x),
    }
}

/// `digamma` of what is not positive, as the C text has it: `digamma (1 - x) - π / tan πx`; NaN at the poles.
fn reflected<const FUSED: bool>(x: f64) -> f64 {
    let offset = x - x.round();
    if offset == 0.0 {
        return f64::NAN;
    }
    let tangent = scalar::<FUSED>(Function::Tan, std::f64::consts::PI * offset, 0.0);
    scalar::<FUSED>(Function::Digamma, 1.0 - x, 0.0) - std::f64::consts::PI / tangent
}
