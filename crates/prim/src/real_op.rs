//! Operations on real numbers: value, cost, and (in `rules`) derivative.

/// An operation on 64-bit reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the name is the operation; `RealOp::doc` describes each")]
pub enum RealOp {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    /// `MulZero(t, c)`: `t·c`, but exactly zero if `t` is. Scales the tangent or cotangent `t`.
    MulZero,
    /// `DivZero(t, d)`: `t/d`, but exactly zero if `t` is. Divides the tangent or cotangent `t`.
    DivZero,
    Exp,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    Sqrt,
    Cbrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Abs,
    Sign,
    Min,
    Max,
    /// `PowInt(n)`: `x ^ n`.
    PowInt(i64),
    /// `x ** y`
    Pow,
    Hypot,
    Gamma,
    Lgamma,
    Digamma,
    /// `Polygamma(n)`, the `n`-th derivative of digamma, `n ≥ 1`.
    Polygamma(u32),
    Erf,
    Erfc,
    Relu,
    Sigmoid,
    Softplus,
}
