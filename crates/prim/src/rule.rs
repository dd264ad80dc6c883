//! The shape of a derivative rule, as data, so that one statement serves forward mode, reverse mode, Taylor mode, the
//! compiler and the calculi alike.
//!
//! For `z = op(x₀, x₁)` a rule gives the tangent of `z` as a linear form in the tangents of the arguments,
//!
//! ```text
//! ż = (Σᵢ ± cᵢ·ẋᵢ) / d
//! ```
//!
//! with coefficients `cᵢ` and a common divisor `d` that are expressions over the arguments and the result. Forward mode
//! evaluates it; reverse mode reads it backwards: `s = z̄ / d`, then `x̄ᵢ += ± cᵢ·s`. With the divisor apart, division
//! costs 4 operations forward and 6 backward in all, which the cost promise needs.
//!
//! Zeros are strong everywhere in derivative code: a tangent or cotangent that is exactly zero contributes exactly
//! zero, whatever the coefficient. See [`crate::RealOp::MulZero`] and [`crate::RealOp::DivZero`].

use crate::RealOp;

/// A scalar expression over the arguments and the result of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// Argument `i`.
    In(usize),
    /// The result.
    Out,
    /// A constant.
    Const(f64),
    /// An operation.
    Op(RealOp, Vec<Expr>),
    /// One of two expressions; only the chosen one is evaluated.
    If(Test, Box<Expr>, Box<Expr>),
}

/// A comparison of the primal values of two expressions; false if either is NaN, except `Ne`.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `a == b`
    Eq(Box<Expr>, Box<Expr>),
    /// `a < b`
    Lt(Box<Expr>, Box<Expr>),
    /// `a <= b`
    Le(Box<Expr>, Box<Expr>),
    /// Either holds.
    Or(Box<Test>, Box<Test>),
}

/// One summand `± c·ẋᵢ`.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Which argument's tangent.
    pub arg: usize,
    /// Whether the summand is subtracted.
    pub negative: bool,
    /// The coefficient, `None` for 1.
    pub coef: Option<Expr>,
}

/// The derivative rule of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// `ż = (Σ terms) / divisor`; no terms means that the derivative is zero.
    Linear {
        /// At most one for each argument.
        terms: Vec<Term>,
        /// The common divisor, `None` for 1.
        divisor: Option<Expr>,
    },
    /// The rule of one of two cases.
    Case(Test, Box<Rule>, Box<Rule>),
}
