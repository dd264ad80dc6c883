//! Operations on real numbers: value, cost, and (in [`crate::rules`]) derivative.
//!
//! Values come from the `pxfm` crate, not from the platform's library, so that a program prints the same digits
//! everywhere; what that lacks is in [`crate::special`]. The cost of an operation is how many floating-point
//! operations it counts as: 1 for arithmetic and selection, 4 for an elementary function.

use crate::special;

/// An operation on 64-bit reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the name is the operation; `RealOp::doc` describes each")]
pub enum RealOp {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    /// `MulZero(t, c)`: `t·c`, but exactly zero if either is. Scales the tangent or cotangent `t`.
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

/// What [`RealOp::cost`] charges for an elementary function.
pub const ELEMENTARY_COST: u64 = 4;

impl RealOp {
    /// Every operation, the parametric ones at a choice of parameters: for tests and tables.
    pub const SAMPLES: &'static [RealOp] = &[
        RealOp::Add,
        RealOp::Sub,
        RealOp::Mul,
        RealOp::Div,
        RealOp::Neg,
        RealOp::MulZero,
        RealOp::DivZero,
        RealOp::Exp,
        RealOp::Expm1,
        RealOp::Log,
        RealOp::Log1p,
        RealOp::Log2,
        RealOp::Log10,
        RealOp::Sqrt,
        RealOp::Cbrt,
        RealOp::Sin,
        RealOp::Cos,
        RealOp::Tan,
        RealOp::Asin,
        RealOp::Acos,
        RealOp::Atan,
        RealOp::Atan2,
        RealOp::Sinh,
        RealOp::Cosh,
        RealOp::Tanh,
        RealOp::Asinh,
        RealOp::Acosh,
        RealOp::Atanh,
        RealOp::Abs,
        RealOp::Sign,
        RealOp::Min,
        RealOp::Max,
        RealOp::PowInt(0),
        RealOp::PowInt(1),
        RealOp::PowInt(2),
        RealOp::PowInt(3),
        RealOp::PowInt(-1),
        RealOp::PowInt(-2),
        RealOp::PowInt(33),
        RealOp::PowInt(-40),
        RealOp::Pow,
        RealOp::Hypot,
        RealOp::Gamma,
        RealOp::Lgamma,
        RealOp::Digamma,
        RealOp::Polygamma(1),
        RealOp::Polygamma(2),
        RealOp::Polygamma(5),
        RealOp::Erf,
        RealOp::Erfc,
        RealOp::Relu,
        RealOp::Sigmoid,
        RealOp::Softplus,
    ];

    /// How many kinds of operations there are; [`RealOp::ordinal`] is below it.
    pub const KINDS: usize = 44;

    /// A small number for the kind of operation, the same for all parameters.
    pub fn ordinal(self) -> usize {
        match self {
            RealOp::Add => 0,
            RealOp::Sub => 1,
            RealOp::Mul => 2,
            RealOp::Div => 3,
            RealOp::Neg => 4,
            RealOp::MulZero => 5,
            RealOp::DivZero => 6,
            RealOp::Exp => 7,
            RealOp::Expm1 => 8,
            RealOp::Log => 9,
            RealOp::Log1p => 10,
            RealOp::Log2 => 11,
            RealOp::Log10 => 12,
            RealOp::Sqrt => 13,
            RealOp::Cbrt => 14,
            RealOp::Sin => 15,
            RealOp::Cos => 16,
            RealOp::Tan => 17,
            RealOp::Asin => 18,
            RealOp::Acos => 19,
            RealOp::Atan => 20,
            RealOp::Atan2 => 21,
            RealOp::Sinh => 22,
            RealOp::Cosh => 23,
            RealOp::Tanh => 24,
            RealOp::Asinh => 25,
            RealOp::Acosh => 26,
            RealOp::Atanh => 27,
            RealOp::Abs => 28,
            RealOp::Sign => 29,
            RealOp::Min => 30,
            RealOp::Max => 31,
            RealOp::PowInt(_) => 32,
            RealOp::Pow => 33,
            RealOp::Hypot => 34,
            RealOp::Gamma => 35,
            RealOp::Lgamma => 36,
            RealOp::Digamma => 37,
            RealOp::Polygamma(_) => 38,
            RealOp::Erf => 39,
            RealOp::Erfc => 40,
            RealOp::Relu => 41,
            RealOp::Sigmoid => 42,
            RealOp::Softplus => 43,
        }
    }

    /// How many arguments it takes: 1 or 2.
    pub fn arity(self) -> usize {
        match self {
            RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div => 2,
            RealOp::MulZero | RealOp::DivZero => 2,
            RealOp::Atan2 | RealOp::Min | RealOp::Max | RealOp::Pow | RealOp::Hypot => 2,
            RealOp::Neg | RealOp::Exp | RealOp::Expm1 | RealOp::Log | RealOp::Log1p => 1,
            RealOp::Log2 | RealOp::Log10 | RealOp::Sqrt | RealOp::Cbrt => 1,
            RealOp::Sin | RealOp::Cos | RealOp::Tan | RealOp::Asin | RealOp::Acos | RealOp::Atan => 1,
            RealOp::Sinh | RealOp::Cosh | RealOp::Tanh => 1,
            RealOp::Asinh | RealOp::Acosh | RealOp::Atanh => 1,
            RealOp::Abs | RealOp::Sign | RealOp::PowInt(_) | RealOp::Relu => 1,
            RealOp::Gamma | RealOp::Lgamma | RealOp::Digamma | RealOp::Polygamma(_) => 1,
            RealOp::Erf | RealOp::Erfc | RealOp::Sigmoid | RealOp::Softplus => 1,
        }
    }

    /// The name a user knows it by; the two operations of derivative code have names of their own.
    pub fn name(self) -> &'static str {
        match self {
            RealOp::Add => "+",
            RealOp::Sub => "-",
            RealOp::Mul => "*",
            RealOp::Div => "/",
            RealOp::Neg => "negate",
            RealOp::MulZero => "mul_zero",
            RealOp::DivZero => "div_zero",
            RealOp::Exp => "exp",
            RealOp::Expm1 => "expm1",
            RealOp::Log => "log",
            RealOp::Log1p => "log1p",
            RealOp::Log2 => "log2",
            RealOp::Log10 => "log10",
            RealOp::Sqrt => "sqrt",
            RealOp::Cbrt => "cbrt",
            RealOp::Sin => "sin",
            RealOp::Cos => "cos",
            RealOp::Tan => "tan",
            RealOp::Asin => "asin",
            RealOp::Acos => "acos",
            RealOp::Atan => "atan",
            RealOp::Atan2 => "atan2",
            RealOp::Sinh => "sinh",
            RealOp::Cosh => "cosh",
            RealOp::Tanh => "tanh",
            RealOp::Asinh => "asinh",
            RealOp::Acosh => "acosh",
            RealOp::Atanh => "atanh",
            RealOp::Abs => "abs",
            RealOp::Sign => "sign",
            RealOp::Min => "min",
            RealOp::Max => "max",
            RealOp::PowInt(_) => "^",
            RealOp::Pow => "**",
            RealOp::Hypot => "hypot",
            RealOp::Gamma => "gamma",
            RealOp::Lgamma => "lgamma",
            RealOp::Digamma => "digamma",
            RealOp::Polygamma(_) => "polygamma",
            RealOp::Erf => "erf",
            RealOp::Erfc => "erfc",
            RealOp::Relu => "relu",
            RealOp::Sigmoid => "sigmoid",
            RealOp::Softplus => "softplus",
        }
    }

    /// What it computes, in one sentence of Markdown.
    pub fn doc(self) -> &'static str {
        let of_primitive = || crate::Prim::by_name(self.name()).map(|prim| prim.info().doc);
        let derivative_code = if self == RealOp::MulZero {
            "`t * c`, but exactly zero if either is; scales a tangent or cotangent."
        } else {
            "`t / d`, but exactly zero if `t` is; divides a tangent or cotangent."
        };
        of_primitive().unwrap_or(derivative_code)
    }

    /// Whether the result is certainly no number if an operand is none; of products and quotients with strong zeros that is said as if
    /// they were plain ones.
    pub fn hands_on_nan(self) -> bool {
        let power = matches!(self, RealOp::PowInt(n) if n != 0);
        power
            || matches!(
                self,
                RealOp::Add
                    | RealOp::Sub
                    | RealOp::Mul
                    | RealOp::Div
                    | RealOp::Neg
                    | RealOp::Abs
                    | RealOp::Sqrt
                    | RealOp::MulZero
                    | RealOp::DivZero
                    | RealOp::Exp
                    | RealOp::Log
                    | RealOp::Sin
                    | RealOp::Cos
            )
    }

    /// How many floating-point operations it counts as.
    pub fn cost(self) -> u64 {
        match self {
            RealOp::PowInt(0 | 1) => 0,
            RealOp::PowInt(2) => 1,
            RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div | RealOp::Neg => 1,
            RealOp::MulZero | RealOp::DivZero => 1,
            RealOp::Abs | RealOp::Sign | RealOp::Min | RealOp::Max | RealOp::Relu => 1,
            RealOp::Exp | RealOp::Expm1 | RealOp::Log | RealOp::Log1p => ELEMENTARY_COST,
            RealOp::Log2 | RealOp::Log10 | RealOp::Sqrt | RealOp::Cbrt => ELEMENTARY_COST,
            RealOp::Sin | RealOp::Cos | RealOp::Tan => ELEMENTARY_COST,
            RealOp::Asin | RealOp::Acos | RealOp::Atan | RealOp::Atan2 => ELEMENTARY_COST,
            RealOp::Sinh | RealOp::Cosh | RealOp::Tanh => ELEMENTARY_COST,
            RealOp::Asinh | RealOp::Acosh | RealOp::Atanh => ELEMENTARY_COST,
            RealOp::PowInt(_) | RealOp::Pow | RealOp::Hypot => ELEMENTARY_COST,
            RealOp::Gamma | RealOp::Lgamma => ELEMENTARY_COST,
            RealOp::Digamma | RealOp::Polygamma(_) => ELEMENTARY_COST,
            RealOp::Erf | RealOp::Erfc | RealOp::Sigmoid | RealOp::Softplus => ELEMENTARY_COST,
        }
    }

    /// Its value; NaN if the number of arguments is not [`RealOp::arity`].
    pub fn eval(self, args: &[f64]) -> f64 {
        match args {
            [x] => self.eval1(*x),
            [x, y] => self.eval2(*x, *y),
            _ => f64::NAN,
        }
    }

    /// The value of an operation of one argument; NaN for the others.
    pub fn eval1(self, x: f64) -> f64 {
        match self {
            RealOp::Neg => -x,
            RealOp::Exp => pxfm::f_exp(x),
            RealOp::Expm1 => pxfm::f_expm1(x),
            RealOp::Log => pxfm::f_log(x),
            RealOp::Log1p => pxfm::f_log1p(x),
            RealOp::Log2 => pxfm::f_log2(x),
            RealOp::Log10 => pxfm::f_log10(x),
            RealOp::Sqrt => x.sqrt(),
            RealOp::Cbrt => pxfm::f_cbrt(x),
            RealOp::Sin => pxfm::f_sin(x),
            RealOp::Cos => pxfm::f_cos(x),
            RealOp::Tan => pxfm::f_tan(x),
            RealOp::Asin => pxfm::f_asin(x),
            RealOp::Acos => pxfm::f_acos(x),
            RealOp::Atan => pxfm::f_atan(x),
            RealOp::Sinh => special::sinh(x),
            RealOp::Cosh => pxfm::f_cosh(x),
            RealOp::Tanh => pxfm::f_tanh(x),
            RealOp::Asinh => pxfm::f_asinh(x),
            RealOp::Acosh => pxfm::f_acosh(x),
            RealOp::Atanh => pxfm::f_atanh(x),
            RealOp::Abs => x.abs(),
            RealOp::Sign => special::sign(x),
            RealOp::PowInt(n) => special::pow_int(x, n),
            RealOp::Gamma => pxfm::f_tgamma(x),
            RealOp::Lgamma => special::lgamma(x),
            RealOp::Digamma => special::digamma(x),
            RealOp::Polygamma(n) => special::polygamma(n, x),
            RealOp::Erf => pxfm::f_erf(x),
            RealOp::Erfc => pxfm::f_erfc(x),
            RealOp::Relu => special::relu(x),
            RealOp::Sigmoid => special::sigmoid(x),
            RealOp::Softplus => special::softplus(x),
            RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div => f64::NAN,
            RealOp::MulZero | RealOp::DivZero | RealOp::Min | RealOp::Max => f64::NAN,
            RealOp::Atan2 | RealOp::Pow | RealOp::Hypot => f64::NAN,
        }
    }

    /// The value of an operation of two arguments; NaN for the others.
    pub fn eval2(self, x: f64, y: f64) -> f64 {
        match self {
            RealOp::Add => x + y,
            RealOp::Sub => x - y,
            RealOp::Mul => x * y,
            RealOp::Div => x / y,
            RealOp::MulZero => special::mul_zero(x, y),
            RealOp::DivZero => special::div_zero(x, y),
            RealOp::Atan2 => special::atan2(x, y),
            RealOp::Min => special::min(x, y),
            RealOp::Max => special::max(x, y),
            RealOp::Pow => special::pow(x, y),
            RealOp::Hypot => pxfm::f_hypot(x, y),
            RealOp::Neg | RealOp::Exp | RealOp::Expm1 | RealOp::Log | RealOp::Log1p => f64::NAN,
            RealOp::Log2 | RealOp::Log10 | RealOp::Sqrt | RealOp::Cbrt => f64::NAN,
            RealOp::Sin | RealOp::Cos | RealOp::Tan => f64::NAN,
            RealOp::Asin | RealOp::Acos | RealOp::Atan => f64::NAN,
            RealOp::Sinh | RealOp::Cosh | RealOp::Tanh => f64::NAN,
            RealOp::Asinh | RealOp::Acosh | RealOp::Atanh => f64::NAN,
            RealOp::Abs | RealOp::Sign | RealOp::PowInt(_) | RealOp::Relu => f64::NAN,
            RealOp::Gamma | RealOp::Lgamma | RealOp::Digamma | RealOp::Polygamma(_) => f64::NAN,
            RealOp::Erf | RealOp::Erfc | RealOp::Sigmoid | RealOp::Softplus => f64::NAN,
        }
    }
}
