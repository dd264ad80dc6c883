//! Results of reductions as plain data, for printing, JSON and comparison between calculi.

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Ground {
    /// A real number.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Text.
    String(String),
    /// A tuple; unit is the empty one.
    Tuple(Vec<Ground>),
    /// An array, or a Church list.
    Array(Vec<Ground>),
    /// A constructor with its fields.
    Ctor(String, Vec<Ground>),
    /// A function or another value without ground form, in the calculus's notation.
    Term(String),
}
