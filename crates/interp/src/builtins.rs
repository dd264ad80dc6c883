//! The built-in functions, by chapter. Each takes its arguments by value, so that it can update in place what nobody
//! else has, and gives a [`Step`]: those that call functions of the program are state machines.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each module names its own primitives, and the types that the checker lets through"
)]

use crate::compile::instr::NumType;
use crate::derivative;
use crate::errors;
use crate::step::{Context, Failure, Step};
use crate::value::Value;
use wengert_prim::{Group, Prim};

pub(crate) mod array;
pub(crate) mod compare;
pub(crate) mod linear;
pub(crate) mod loops;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod rearrange;
pub(crate) mod reduce;
pub(crate) mod text;

/// Calls a primitive with all its arguments; places beyond its arity are ignored.
pub(crate) fn call(cx: &mut Context, prim: Prim, num: NumType, args: [Value; 3]) -> Result<Step, Failure> {
    match prim.info().group {
        Group::Number | Group::Real | Group::Int => number::call(cx, prim, args).map(Step::Done),
        Group::Misc => text::call(cx, prim, args).map(Step::Done),
        Group::Array => array_call(cx, prim, num, args),
        Group::Loop => loops::call(cx, prim, args),
        Group::Derivative => derivative::call(cx, prim, args),
        Group::Vector => derivative::vector_call(cx, prim, args).map(Step::Done),
    }
}

fn array_call(cx: &mut Context, prim: Prim, num: NumType, args: [Value; 3]) -> Result<Step, Failure> {
    match prim {
        Prim::Build | Prim::Map | Prim::Map2 | Prim::Fold | Prim::Reduce | Prim::Scan | Prim::Filter => {
            loops::call(cx, prim, args)
        }
        Prim::Sum
        | Prim::Product
        | Prim::Maximum
        | Prim::Minimum
        | Prim::ArgMax
        | Prim::ArgMin
        | Prim::ScatterAdd => reduce::call(cx, prim, num, args).map(Step::Done),
        Prim::Dot | Prim::MatVec | Prim::MatMul => linear::call(cx, prim, num, args).map(Step::Done),
        Prim::Sort | Prim::ArgSort => order::call(cx, prim, args).map(Step::Done),
        Prim::Length | Prim::Index | Prim::Iota | Prim::Replicate | Prim::SetIndex => {
            array::call(cx, prim, args).map(Step::Done)
        }
        _ => rearrange::call(cx, prim, args).map(Step::Done),
    }
}

/// The `Int` that the type promises.
pub(crate) fn int(value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Int(n) => Ok(*n),
        _ => Err(mistyped("an Int")),
    }
}

/// A primitive got something that its type excludes.
pub(crate) fn mistyped(expected: &str) -> Failure {
    errors::internal(&format!("{expected} was expected"))
}

/// A primitive came to a chapter that does not have it.
pub(crate) fn misplaced(prim: Prim) -> Failure {
    errors::internal(&format!("`{}` is in the wrong chapter", prim.info().name))
}
