//! Everything that can go wrong while a program runs, as the interpreter says it. The words are `wengert_fault`'s, which
//! every engine uses.

use crate::step::{Failure, FailureText};
use std::time::Duration;
use wengert_base::Name;
use wengert_fault::Fault;

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        let text = FailureText {
            code: fault.code(),
            message: fault.message(),
            notes: fault.notes(),
            help: fault.help(),
        };
        Failure(Box::new(text))
    }
}

/// `xs[i]` with a wrong `i`.
pub(crate) fn index(index: i64, size: usize) -> Failure {
    Fault::Index { index, size }.into()
}

/// `a / 0` and its like.
pub(crate) fn division_by_zero(function: &str, dividend: i64) -> Failure {
    Fault::Division { function: function.into(), dividend }.into()
}

/// Two arrays that should be equally long.
pub(crate) fn sizes(function: &str, first: usize, second: usize) -> Failure {
    Fault::Sizes { function: function.into(), first, second }.into()
}

/// Two matrices, or a matrix and a vector, that do not fit.
pub(crate) fn product_sizes(function: &str, columns: usize, rows: usize) -> Failure {
    Fault::ProductSizes { function: function.into(), columns, rows }.into()
}

/// Rows of different sizes: two rows that disagree, with their sizes.
pub(crate) fn ragged(first: (usize, &str), second: (usize, &str)) -> Failure {
    let [first, second] = [first, second].map(|(row, size)| (row, size.to_owned()));
    Fault::Ragged { first, second }.into()
}

/// `maximum []`
pub(crate) fn empty(function: &str) -> Failure {
    Fault::Empty { function: function.into() }.into()
}

/// A slice that is not inside its array.
pub(crate) fn slice(from: i64, to: i64, size: usize) -> Failure {
    Fault::Slice { from, to, size }.into()
}

/// `2 ^ -1` on `Int`s.
pub(crate) fn negative_power(base: i64, exponent: i64) -> Failure {
    Fault::NegativePower { base, exponent }.into()
}

/// A shift by too much.
pub(crate) fn shift(bits: i64) -> Failure {
    Fault::Shift { bits }.into()
}

/// `floor` of something too large.
pub(crate) fn not_an_int(function: &str, x: f64) -> Failure {
    Fault::NotAnInt { function: function.into(), x }.into()
}

/// `build (-1) f`
pub(crate) fn negative_count(function: &str, count: i64) -> Failure {
    Fault::NegativeCount { function: function.into(), count }.into()
}

/// `iota` of something huge.
pub(crate) fn too_large(function: &str, count: i64) -> Failure {
    Fault::TooLarge { function: function.into(), count }.into()
}

/// A failed check of a size that the user named in a type.
pub(crate) fn named_size(name: Name, expected: i64, found: usize, axis: u32) -> Failure {
    Fault::NamedSize { name, expected, found, axis }.into()
}

/// `fail "…"`
pub(crate) fn failed(message: &str) -> Failure {
    Fault::Failed { message: message.to_owned() }.into()
}

/// Nothing matched: only a program that was not checked gets here, or one that compares `NaN`.
pub(crate) fn no_match(value: &str) -> Failure {
    Fault::NoMatch { value: value.to_owned() }.into()
}

/// `def x = x`
pub(crate) fn cyclic(name: Name) -> Failure {
    Fault::Cyclic { name }.into()
}

/// `--max-steps`
pub(crate) fn step_limit(limit: u64) -> Failure {
    Fault::Steps { limit }.into()
}

/// `--max-memory`
pub(crate) fn memory_limit(limit: u64) -> Failure {
    Fault::Memory { limit }.into()
}

/// `--timeout`
pub(crate) fn timeout(limit: Duration) -> Failure {
    Fault::Time { limit }.into()
}

/// Control-C.
pub(crate) fn interrupted() -> Failure {
    Fault::Interrupted.into()
}

/// `taylor (-1) f x`
pub(crate) fn taylor_order(order: i64) -> Failure {
    Fault::TaylorOrder { order }.into()
}

/// A tangent that does not belong to its point.
pub(crate) fn shapes(operation: &str, point: &str, tangent: &str) -> Failure {
    let (point, tangent) = (point.to_owned(), tangent.to_owned());
    Fault::Shapes { operation: operation.into(), point, tangent }.into()
}

/// A rule that does something else with its tangent than adding and scaling.
pub(crate) fn nonlinear_rule(operation: &str, what: &str) -> Failure {
    Fault::NonlinearRule { operation: operation.into(), what: what.to_owned() }.into()
}

/// A rule whose result does not have the shape of the function's.
pub(crate) fn rule_result(operation: &str, expected: &str, found: &str) -> Failure {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    Fault::RuleResult { operation: operation.into(), expected, found }.into()
}

/// Tangents of functionals on functions that cannot be represented.
pub(crate) fn dual_tangent() -> Failure {
    Fault::DualTangent.into()
}

/// Something that `taylor` cannot go through.
pub(crate) fn taylor_mode(what: &str) -> Failure {
    Fault::TaylorMode { what: what.to_owned() }.into()
}

/// `polygamma (-1) x`
pub(crate) fn polygamma(order: i64) -> Failure {
    Fault::Polygamma { order }.into()
}

/// A value that the types exclude: only a core program that was not verified gets here.
pub(crate) fn internal(what: &str) -> Failure {
    Fault::internal(what).into()
}
