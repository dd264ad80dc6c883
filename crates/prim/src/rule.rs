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
//! zero, whatever the coefficient, and a coefficient that is exactly zero lets nothing through, so that both modes find
//! the same zeros. See [`crate::RealOp::MulZero`] and [`crate::RealOp::DivZero`].

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

impl Expr {
    /// Its value at plain arguments.
    pub fn eval(&self, args: &[f64], out: f64) -> f64 {
        match self {
            Expr::In(i) => args.get(*i).copied().unwrap_or(f64::NAN),
            Expr::Out => out,
            Expr::Const(value) => *value,
            Expr::Op(op, operands) => match operands.as_slice() {
                [a] => op.eval1(a.eval(args, out)),
                [a, b] => op.eval2(a.eval(args, out), b.eval(args, out)),
                _ => f64::NAN,
            },
            Expr::If(test, then, otherwise) => {
                if test.holds(args, out) {
                    then.eval(args, out)
                } else {
                    otherwise.eval(args, out)
                }
            }
        }
    }
}

impl Test {
    /// Whether it holds at plain arguments.
    pub fn holds(&self, args: &[f64], out: f64) -> bool {
        match self {
            Test::Eq(a, b) => a.eval(args, out) == b.eval(args, out),
            Test::Lt(a, b) => a.eval(args, out) < b.eval(args, out),
            Test::Le(a, b) => a.eval(args, out) <= b.eval(args, out),
            Test::Or(a, b) => a.holds(args, out) || b.holds(args, out),
        }
    }
}

impl Rule {
    /// The terms and the divisor that apply at plain arguments.
    pub fn select(&self, args: &[f64], out: f64) -> (&[Term], Option<&Expr>) {
        let mut rule = self;
        loop {
            match rule {
                Rule::Linear { terms, divisor } => return (terms, divisor.as_ref()),
                Rule::Case(test, then, otherwise) => {
                    rule = if test.holds(args, out) { then } else { otherwise };
                }
            }
        }
    }

    /// The tangent of the result at plain arguments, given theirs.
    pub fn tangent(&self, args: &[f64], out: f64, tangents: &[f64]) -> f64 {
        let (terms, divisor) = self.select(args, out);
        let sum = terms.iter().fold(0.0, |sum, term| {
            let tangent = tangents.get(term.arg).copied().unwrap_or(0.0);
            let summand = match &term.coef {
                Some(coef) if tangent != 0.0 => RealOp::MulZero.eval2(tangent, coef.eval(args, out)),
                Some(_) | None => tangent,
            };
            if term.negative { sum - summand } else { sum + summand }
        });
        divisor.map_or(sum, |divisor| RealOp::DivZero.eval2(sum, divisor.eval(args, out)))
    }

    /// The partial derivative with respect to argument `arg` at plain arguments.
    pub fn partial(&self, args: &[f64], out: f64, arg: usize) -> f64 {
        let direction: Vec<f64> = (0..args.len()).map(|i| if i == arg { 1.0 } else { 0.0 }).collect();
        self.tangent(args, out, &direction)
    }
}
