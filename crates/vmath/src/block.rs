//! The functions on blocks of numbers.
//!
//! A loop of fixed length whose body has neither branches nor calls: the compiler makes it vector code for whatever
//! the function that this is inlined into may use. Arguments that are not for the main path are looked for after each
//! chunk and put right one by one.

use crate::function::{Function, Rare};
use crate::huge;
use crate::machine::Plain;
use crate::trig;

/// So many numbers at a time.
const CHUNK: usize = 64;

/// Each function of one argument without rare arguments.
macro_rules! plain_unary {
    ($with:ident) => {
        $with!(Exp Exp2 Expm1 Log Log2 Log10 Log1p Sqrt Cbrt Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Sigmoid
            Softplus)
    };
}

/// Applies a function of one argument to each number. `FUSED` says whether there is a fused multiply-add; to be inlined
/// into a function with the processor features to be used.
#[inline(always)]
pub fn unary<const FUSED: bool>(function: Function, data: &mut [f64]) {
    let m = Plain::<FUSED>;
    macro_rules! each {
        ($($f:ident)*) => {
            match function {
                $(Function::$f => chunks(data, |x| Function::$f.main_path(m, x, x)),)*
                Function::Sin => with_rare::<FUSED>(data, Rare::Sin, |x| trig::sin(m, x)),
                Function::Cos => with_rare::<FUSED>(data, Rare::Cos, |x| trig::cos(m, x)),
                Function::Tan => with_rare::<FUSED>(data, Rare::Tan, |x| trig::tan(m, x)),
                Function::Pow | Function::Atan2 | Function::Hypot => data.fill(f64::NAN),
            }
        };
    }
    plain_unary!(each);
}

/// Applies a function of two arguments to each pair of numbers: the first in `data`, where the result goes.
#[inline(always)]
pub fn binary<const FUSED: bool>(function: Function, data: &mut [f64], second: &[f64]) {
    let m = Plain::<FUSED>;
    macro_rules! none {
        ($($f:ident)*) => {
            match function {
                Function::Pow => pairs(data, second, |x, y| Function::Pow.main_path(m, x, y)),
                Function::Atan2 => pairs(data, second, |x, y| Function::Atan2.main_path(m, x, y)),
                Function::Hypot => pairs(data, second, |x, y| Function::Hypot.main_path(m, x, y)),
                Function::Sin | Function::Cos | Function::Tan $(| Function::$f)* => data.fill(f64::NAN),
            }
        };
    }
    plain_unary!(none);
}

/// The value for one argument, or two; the same bits as [`unary`] and [`binary`] give.
pub fn scalar<const FUSED: bool>(function: Function, x: f64, y: f64) -> f64 {
    match function.rare() {
        Some(rare) if trig::rare(Plain::<FUSED>, x) => slow::<FUSED>(rare, x),
        _ => function.main_path(Plain::<FUSED>, x, y),
    }
}

#[inline(always)]
fn chunks(data: &mut [f64], f: impl Fn(f64) -> f64) {
    let (whole, rest) = data.as_chunks_mut::<CHUNK>();
    for chunk in whole {
        one_chunk(chunk, &f);
    }
    if !rest.is_empty() {
        let mut padded = [1.0; CHUNK];
        for (to, from) in padded.iter_mut().zip(&*rest) {
            *to = *from;
        }
        one_chunk(&mut padded, &f);
        for (to, from) in rest.iter_mut().zip(&padded) {
            *to = *from;
        }
    }
}

#[inline(always)]
fn one_chunk(chunk: &mut [f64; CHUNK], f: impl Fn(f64) -> f64) {
    for x in chunk.iter_mut() {
        *x = f(*x);
    }
}

#[inline(always)]
fn with_rare<const FUSED: bool>(data: &mut [f64], rare: Rare, f: impl Fn(f64) -> f64) {
    for chunk in data.chunks_mut(CHUNK) {
        let mut before = [1.0; CHUNK];
        for (to, from) in before.iter_mut().zip(&*chunk) {
            *to = *from;
        }
        let mut after = before;
        one_chunk(&mut after, &f);
        let found = before.iter().fold(false, |found, x| found | trig::rare(Plain::<FUSED>, *x));
        if found {
            put_right::<FUSED>(rare, &before, &mut after);
        }
        for (to, from) in chunk.iter_mut().zip(&after) {
            *to = *from;
        }
    }
}

#[cold]
#[inline(never)]
fn put_right<const FUSED: bool>(rare: Rare, before: &[f64; CHUNK], after: &mut [f64; CHUNK]) {
    for (x, y) in before.iter().zip(after) {
        if trig::rare(Plain::<FUSED>, *x) {
            *y = slow::<FUSED>(rare, *x);
        }
    }
}

/// The value for an argument that is not for the main path.
fn slow<const FUSED: bool>(rare: Rare, x: f64) -> f64 {
    let m = Plain::<FUSED>;
    let reduced = huge::reduce::<FUSED>(x);
    match rare {
        Rare::Sin => trig::sin_reduced(m, reduced),
        Rare::Cos => trig::cos_reduced(m, reduced),
        Rare::Tan => trig::tan_reduced(m, reduced),
    }
}

#[inline(always)]
fn pairs(data: &mut [f64], second: &[f64], f: impl Fn(f64, f64) -> f64) {
    for (chunk, other) in data.chunks_mut(CHUNK).zip(second.chunks(CHUNK)) {
        let (mut x, mut y) = ([1.0; CHUNK], [1.0; CHUNK]);
        for (to, from) in x.iter_mut().zip(&*chunk) {
            *to = *from;
        }
        for (to, from) in y.iter_mut().zip(other) {
            *to = *from;
        }
        for (x, y) in x.iter_mut().zip(&y) {
            *x = f(*x, *y);
        }
        for (to, from) in chunk.iter_mut().zip(&x) {
            *to = *from;
        }
    }
}
