//! What can go wrong while a program runs: data, so that the interpreter and every engine say the same in the same words.
//!
//! [`Fault`] has a variant for each way to fail, with the numbers of the case; code, message, notes and help follow from
//! it in `words`. An engine keeps a small number and a few integers, and makes the fault of them when it stops.
//!
//! ```
//! use wengert_fault::Fault;
//! let fault = Fault::Index { index: 3, size: 3 };
//! assert_eq!(fault.code(), "E0701");
//! assert_eq!(fault.message(), "index 3 is out of range: the array has 3 elements");
//! assert_eq!(fault.help().as_deref(), Some("indices go from 0 to 2"));
//! ```

mod codes;
mod words;

pub use codes::CODES;

/// More elements than that fit into the memory of no machine, whatever the limit is.
pub const MOST_ELEMENTS: i64 = 1 << 43;

use std::time::Duration;
use wengert_base::{Diagnostic, Name, Span};

/// Why a program stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// `xs[i]` with a wrong `i`.
    Index {
        /// The index.
        index: i64,
        /// The size of the array.
        size: usize,
    },
    /// A division of an integer by zero.
    Division {
        /// `/`, `%`, `div` or `mod`.
        function: Name,
        /// What was divided.
        dividend: i64,
    },
    /// Two arrays that should be equally long.
    Sizes {
        /// What needs them so.
        function: Name,
        /// The size of the first.
        first: usize,
        /// The size of the second.
        second: usize,
    },
    /// Two matrices, or a matrix and a vector, that do not fit.
    ProductSizes {
        /// The product.
        function: Name,
        /// How long the rows of the first are.
        columns: usize,
        /// The size of the second.
        rows: usize,
    },
    /// Rows of different sizes.
    Ragged {
        /// A row and its size: `3`, `3 x 2`.
        first: (usize, String),
        /// Another row and its size.
        second: (usize, String),
    },
    /// `maximum []` and its like.
    Empty {
        /// Which function.
        function: Name,
    },
    /// A slice that is not inside its array.
    Slice {
        /// Where it begins.
        from: i64,
        /// Where it ends.
        to: i64,
        /// The size of the array.
        size: usize,
    },
    /// `2 ^ -1` on integers.
    NegativePower {
        /// The base.
        base: i64,
        /// The exponent.
        exponent: i64,
    },
    /// A shift by too much.
    Shift {
        /// By how much.
        bits: i64,
    },
    /// `floor` of something too large.
    NotAnInt {
        /// Which rounding.
        function: Name,
        /// Of what.
        x: f64,
    },
    /// `build (-1) f`
    NegativeCount {
        /// What was given the count.
        function: Name,
        /// The count.
        count: i64,
    },
    /// `iota` of something huge.
    TooLarge {
        /// What was given the count.
        function: Name,
        /// The count.
        count: i64,
    },
    /// A failed check of a size that the user named in a type.
    NamedSize {
        /// The name, or the number as it is written.
        name: Name,
        /// What it stands for.
        expected: i64,
        /// The size that was found.
        found: usize,
        /// Along which axis.
        axis: u32,
    },
    /// `fail "…"`
    Failed {
        /// The user's message.
        message: String,
    },
    /// No pattern matches: only a program that was not checked gets here, or one that compares `NaN`.
    NoMatch {
        /// The value, as far as it is shown.
        value: String,
    },
    /// `def x = x`
    Cyclic {
        /// The definition.
        name: Name,
    },
    /// `--max-steps`
    Steps {
        /// The limit.
        limit: u64,
    },
    /// `--max-memory`
    Memory {
        /// The limit, in bytes.
        limit: u64,
    },
    /// `--timeout`
    Time {
        /// The limit.
        limit: Duration,
    },
    /// Control-C.
    Interrupted,
    /// `taylor (-1) f x`
    TaylorOrder {
        /// The order.
        order: i64,
    },
    /// A tangent that does not belong to its point.
    Shapes {
        /// What needed it.
        operation: Name,
        /// The point, as it is described.
        point: String,
        /// The tangent, as it is described.
        tangent: String,
    },
    /// A rule that does something else with its tangent than adding and scaling.
    NonlinearRule {
        /// Whose rule.
        operation: Name,
        /// What it does.
        what: String,
    },
    /// A rule whose result does not have the shape of the function's.
    RuleResult {
        /// Whose rule.
        operation: Name,
        /// What should be.
        expected: String,
        /// What is.
        found: String,
    },
    /// Tangents of functionals on functions that cannot be represented.
    DualTangent,
    /// Something that `taylor` cannot go through.
    TaylorMode {
        /// What.
        what: String,
    },
    /// `polygamma (-1) x`
    Polygamma {
        /// The order.
        order: i64,
    },
    /// Something that the types exclude: only a program that was not verified gets here.
    Internal {
        /// What.
        what: String,
    },
}

impl Fault {
    /// An internal fault.
    pub fn internal(what: impl Into<String>) -> Fault {
        Fault::Internal { what: what.into() }
    }

    /// The fault as a diagnostic at that place.
    pub fn diagnostic(&self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code(), span, self.message());
        diagnostic.notes = self.notes();
        diagnostic.help = self.help();
        diagnostic
    }
}
