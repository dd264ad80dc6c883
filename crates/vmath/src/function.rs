//! The functions there are.

use crate::machine::Machine;
use crate::{error, exp, gamma, inverse, log, power, trig};
use wengert_prim::RealOp;

macro_rules! functions {
    ($($function:ident $name:ident $arity:literal $doc:literal;)*) => {
        /// A function of one or two reals.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Function {
            $(#[doc = $doc] $function,)*
        }

        impl Function {
            /// All of them.
            pub const ALL: &'static [Function] = &[$(Function::$function),*];

            /// Its name in the C text, behind `wg_`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$function => stringify!($name),)*
                }
            }

            /// What it is, in a few words.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Function::$function => $doc,)*
                }
            }

            /// How many arguments it takes: 1 or 2.
            pub fn arity(self) -> usize {
                match self {
                    $(Function::$function => $arity,)*
                }
            }

        }
    };
}

functions! {
    Exp exp 1 "The exponential.";
    Exp2 exp2 1 "The power of 2.";
    Expm1 expm1 1 "The exponential less 1.";
    Log log 1 "The natural logarithm.";
    Log2 log2 1 "The logarithm with base 2.";
    Log10 log10 1 "The logarithm with base 10.";
    Log1p log1p 1 "The natural logarithm of the number and 1.";
    Sqrt sqrt 1 "The square root.";
    Cbrt cbrt 1 "The cube root.";
    Sin sin 1 "The sine.";
    Cos cos 1 "The cosine.";
    Tan tan 1 "The tangent.";
    Asin asin 1 "The inverse sine.";
    Acos acos 1 "The inverse cosine.";
    Atan atan 1 "The inverse tangent.";
    Sinh sinh 1 "The hyperbolic sine.";
    Cosh cosh 1 "The hyperbolic cosine.";
    Tanh tanh 1 "The hyperbolic tangent.";
    Asinh asinh 1 "The inverse hyperbolic sine.";
    Acosh acosh 1 "The inverse hyperbolic cosine.";
    Atanh atanh 1 "The inverse hyperbolic tangent.";
    Sigmoid sigmoid 1 "The logistic function 1 / (1 + exp (-x)).";
    Softplus softplus 1 "log (1 + exp x).";
    Erf erf 1 "The error function.";
    Erfc erfc 1 "One less the error function.";
    Lgamma lgamma 1 "The logarithm of the absolute value of the gamma function.";
    Digamma digamma 1 "The derivative of lgamma.";
    Pow pow 2 "The power of a real with a real exponent.";
    Atan2 atan2 2 "The angle of the point whose second coordinate is given first.";
    Hypot hypot 2 "The distance from the origin.";
}

/// Functions that have a path of their own for rare arguments, by what these are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rare {
    /// Huge numbers.
    Angle(Angle),
    /// Zero and negative numbers.
    Gamma(Gamma),
}

/// Functions of angles.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Angle {
    Sin,
    Cos,
    Tan,
}

/// The logarithm of the gamma function and its derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gamma {
    Lgamma,
    Digamma,
}

impl Function {
    /// Its value for all arguments but rare ones; a function of one argument is given any second one.
    #[inline(always)]
    pub(crate) fn main_path<M: Machine>(self, m: M, x: M::Real, y: M::Real) -> M::Real {
        match self {
            Function::Exp => exp::exp(m, x),
            Function::Exp2 => exp::exp2(m, x),
            Function::Expm1 => exp::expm1(m, x),
            Function::Log => log::log(m, x),
            Function::Log2 => log::log2(m, x),
            Function::Log10 => log::log10(m, x),
            Function::Log1p => log::log1p(m, x),
            Function::Sqrt => m.sqrt(x),
            Function::Cbrt => power::cbrt(m, x),
            Function::Sin => trig::sin(m, x),
            Function::Cos => trig::cos(m, x),
            Function::Tan => trig::tan(m, x),
            Function::Asin => inverse::asin(m, x),
            Function::Acos => inverse::acos(m, x),
            Function::Atan => inverse::atan(m, x),
            Function::Sinh => exp::sinh(m, x),
            Function::Cosh => exp::cosh(m, x),
            Function::Tanh => exp::tanh(m, x),
            Function::Asinh => log::asinh(m, x),
            Function::Acosh => log::acosh(m, x),
            Function::Atanh => log::atanh(m, x),
            Function::Sigmoid => exp::sigmoid(m, x),
            Function::Softplus => exp::softplus(m, x),
            Function::Erf => error::erf(m, x),
            Function::Erfc => error::erfc(m, x),
            Function::Lgamma => gamma::lgamma(m, x),
            Function::Digamma => gamma::digamma(m, x),
            Function::Pow => power::pow(m, x, y),
            Function::Atan2 => inverse::atan2(m, x, y),
            Function::Hypot => power::hypot(m, x, y),
        }
    }

    pub(crate) fn rare(self) -> Option<Rare> {
        match self.name() {
            "sin" => Some(Rare::Angle(Angle::Sin)),
            "cos" => Some(Rare::Angle(Angle::Cos)),
            "tan" => Some(Rare::Angle(Angle::Tan)),
            "lgamma" => Some(Rare::Gamma(Gamma::Lgamma)),
            "digamma" => Some(Rare::Gamma(Gamma::Digamma)),
            _ => None,
        }
    }

    /// Whether some arguments, rare ones, are not for the main path.
    pub fn has_rare_arguments(self) -> bool {
        self.rare().is_some()
    }
}

/// The function that an operation of the language is, where there is one.
pub fn function_of(op: RealOp) -> Option<Function> {
    OPERATIONS.iter().find(|(known, _)| *known == op).map(|(_, function)| *function)
}

const OPERATIONS: &[(RealOp, Function)] = &[
    (RealOp::Exp, Function::Exp),
    (RealOp::Expm1, Function::Expm1),
    (RealOp::Log, Function::Log),
    (RealOp::Log2, Function::Log2),
    (RealOp::Log10, Function::Log10),
    (RealOp::Log1p, Function::Log1p),
    (RealOp::Sqrt, Function::Sqrt),
    (RealOp::Cbrt, Function::Cbrt),
    (RealOp::Sin, Function::Sin),
    (RealOp::Cos, Function::Cos),
    (RealOp::Tan, Function::Tan),
    (RealOp::Asin, Function::Asin),
    (RealOp::Acos, Function::Acos),
    (RealOp::Atan, Function::Atan),
    (RealOp::Sinh, Function::Sinh),
    (RealOp::Cosh, Function::Cosh),
    (RealOp::Tanh, Function::Tanh),
    (RealOp::Asinh, Function::Asinh),
    (RealOp::Acosh, Function::Acosh),
    (RealOp::Atanh, Function::Atanh),
    (RealOp::Sigmoid, Function::Sigmoid),
    (RealOp::Softplus, Function::Softplus),
    (RealOp::Erf, Function::Erf),
    (RealOp::Erfc, Function::Erfc),
    (RealOp::Lgamma, Function::Lgamma),
    (RealOp::Digamma, Function::Digamma),
    (RealOp::Pow, Function::Pow),
    (RealOp::Atan2, Function::Atan2),
    (RealOp::Hypot, Function::Hypot),
];
