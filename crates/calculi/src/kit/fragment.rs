//! Which calculus can take which construct of the language, as one table, and the message about what one cannot take.
//!
//! A calculus's translation from the core asks nothing here: it translates what it has terms for, and says [`outside`] of
//! the rest. The table serves the `help` of that message; a test tries a program for each row in each calculus, so that it
//! stays true.

use super::errors;
use super::simple::Derive;
use super::simple_show::name_of;
use wengert_base::{Diagnostic, Span};
use wengert_prim::table::Group;
use wengert_prim::{Prim, RealOp};

/// The names of the four calculi.
pub const CALCULI: [&str; 4] = ["pullback", "perturbative", "negation", "delta"];

/// What a program may hold that not every calculus can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Construct {
    /// A built-in function.
    Prim(Prim),
    /// A derivative operator.
    Derive(Derive),
    /// A derivative operator inside of what another one differentiates.
    Nested(Derive),
    /// A whole number.
    Int,
    /// A text.
    Text,
    /// A truth value, or `if`.
    Conditional,
    /// A constructor or a match of a data type that does not hold itself.
    Data,
    /// The same of one that does.
    RecursiveData,
    /// A function that calls itself.
    Recursion,
    /// An array, as a list of its elements.
    Array,
    /// A function with a function in its tangent: differentiating by a function.
    FunctionInput,
    /// The type of linear functionals.
    Dual,
}

impl Construct {
    /// What the user calls it.
    pub fn name(self) -> String {
        match self {
            Construct::Prim(prim) => format!("`{}`", prim.info().name),
            Construct::Derive(operator) => format!("`{}`", name_of(operator)),
            Construct::Nested(operator) => format!("a nested `{}`", name_of(operator)),
            Construct::Int => "a whole number".into(),
            Construct::Text => "a text".into(),
            Construct::Conditional => "`if`".into(),
            Construct::Data => "a data type".into(),
            Construct::RecursiveData => "a recursive data type".into(),
            Construct::Recursion => "a recursive function".into(),
            Construct::Array => "an array".into(),
            Construct::FunctionInput => "a derivative by a function".into(),
            Construct::Dual => "a linear functional".into(),
        }
    }
}

/// The calculi that can take a construct.
pub fn takers(construct: Construct) -> &'static [&'static str] {
    const ALL: &[&str] = &CALCULI;
    const DELTA: &[&str] = &["delta"];
    match construct {
        Construct::Prim(prim) => match prim.info().group {
            Group::Number if is_real_arithmetic(prim) => ALL,
            Group::Number => DELTA,
            Group::Real if RealOp::SAMPLES.iter().any(|op| op_name(*op) == prim.info().name) => ALL,
            Group::Real => DELTA,
            Group::Array if matches!(prim, Prim::Fold | Prim::Map | Prim::Sum) => ALL,
            Group::Array if matches!(prim, Prim::Index | Prim::Build) => DELTA,
            Group::Array => &[],
            Group::Int | Group::Misc | Group::Loop | Group::Derivative | Group::Vector => &[],
        },
        Construct::Derive(Derive::Grad | Derive::ValueAndGrad) => ALL,
        Construct::Derive(Derive::Vjp) => &["pullback", "negation", "delta"],
        Construct::Derive(Derive::Derivative | Derive::Jvp) => &["perturbative", "delta"],
        Construct::Derive(Derive::Pullback) | Construct::Dual => &["pullback"],
        Construct::Nested(_) => &["perturbative"],
        Construct::Array => ALL,
        Construct::FunctionInput => &["pullback", "perturbative"],
        Construct::Int
        | Construct::Text
        | Construct::Conditional
        | Construct::Data
        | Construct::RecursiveData
        | Construct::Recursion => DELTA,
    }
}

fn is_real_arithmetic(prim: Prim) -> bool {
    matches!(prim, Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Neg | Prim::Power)
}

/// The surface name of the primitive that an operation computes.
fn op_name(op: RealOp) -> String {
    format!("{op:?}").to_lowercase()
}

/// The message that `calculus` cannot take a construct, and which others could.
pub fn outside(calculus: &str, construct: Construct, span: Span) -> Diagnostic {
    let others: Vec<&str> = takers(construct).iter().copied().filter(|name| *name != calculus).collect();
    errors::outside(calculus, &construct.name(), &others, span)
}

/// The message that one argument of a call must be of another form: `what` says it.
pub fn not_of_form(calculus: &str, what: &str, span: Span) -> Diagnostic {
    errors::outside(calculus, what, &[], span)
}
