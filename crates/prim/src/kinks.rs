//! The values used where a derivative does not exist: one table for all modes and engines, and the page about it.
//!
//! Beside the table two rules hold everywhere. A branch that is not taken contributes nothing. And zeros are strong: a
//! tangent or cotangent that is exactly zero contributes exactly zero, even through an infinite partial derivative.

use crate::{Prim, RealOp};

/// What a row of the table is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// An operation on reals: tested here against its rule.
    Op(RealOp),
    /// Another primitive: tested through the interpreter.
    Prim(Prim),
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kink {
    /// What it is about.
    pub subject: Subject,
    /// The point: one number for each argument (for a function of arrays, the elements).
    pub at: &'static [f64],
    /// The value there.
    pub value: f64,
    /// The partial derivatives used, one for each number of the point.
    pub partials: &'static [f64],
    /// Why.
    pub why: &'static str,
}

const fn op(op: RealOp, at: &'static [f64], value: f64, partials: &'static [f64], why: &'static str) -> Kink {
    Kink { subject: Subject::Op(op), at, value, partials, why }
}

const fn prim(
    prim: Prim,
    at: &'static [f64],
    value: f64,
    partials: &'static [f64],
    why: &'static str,
) -> Kink {
    Kink { subject: Subject::Prim(prim), at, value, partials, why }
}

const INF: f64 = f64::INFINITY;
const SYMMETRIC: &str = "the mean of the slopes left and right";
const FIRST: &str = "the first argument at ties";
const JUMP: &str = "constant beside its jumps";
const ONE_SIDED: &str = "the limit from inside the domain";

/// The table.
pub const KINKS: &[Kink] = &[
    op(RealOp::Abs, &[0.0], 0.0, &[0.0], SYMMETRIC),
    op(RealOp::Sign, &[0.0], 0.0, &[0.0], JUMP),
    op(RealOp::Relu, &[0.0], 0.0, &[0.0], "the slope on the left, as in common practice"),
    op(RealOp::Min, &[1.0, 1.0], 1.0, &[1.0, 0.0], FIRST),
    op(RealOp::Max, &[1.0, 1.0], 1.0, &[1.0, 0.0], FIRST),
    prim(Prim::Minimum, &[1.0, 1.0], 1.0, &[1.0, 0.0], "the first element at ties"),
    prim(Prim::Maximum, &[1.0, 1.0], 1.0, &[1.0, 0.0], "the first element at ties"),
    prim(Prim::Floor, &[2.0], 2.0, &[0.0], JUMP),
    prim(Prim::Ceil, &[2.0], 2.0, &[0.0], JUMP),
    prim(Prim::Round, &[2.5], 3.0, &[0.0], JUMP),
    prim(Prim::Truncate, &[2.0], 2.0, &[0.0], JUMP),
    op(RealOp::Sqrt, &[0.0], 0.0, &[INF], ONE_SIDED),
    op(
        RealOp::Sqrt,
        &[-0.0],
        -0.0,
        &[INF],
        "as at 0; without `--strict` with the sign of the zero in compiled code",
    ),
    op(RealOp::Cbrt, &[0.0], 0.0, &[INF], "the limit from both sides"),
    op(RealOp::Asin, &[1.0], std::f64::consts::FRAC_PI_2, &[INF], ONE_SIDED),
    op(RealOp::Asin, &[-1.0], -std::f64::consts::FRAC_PI_2, &[INF], ONE_SIDED),
    op(RealOp::Acos, &[1.0], 0.0, &[-INF], ONE_SIDED),
    op(RealOp::Acos, &[-1.0], std::f64::consts::PI, &[-INF], ONE_SIDED),
    op(RealOp::Acosh, &[1.0], 0.0, &[INF], ONE_SIDED),
    op(RealOp::Atanh, &[1.0], INF, &[INF], ONE_SIDED),
    op(RealOp::Log, &[0.0], -INF, &[INF], ONE_SIDED),
    op(RealOp::Log1p, &[-1.0], -INF, &[INF], ONE_SIDED),
    op(RealOp::Hypot, &[0.0, 0.0], 0.0, &[0.0, 0.0], "the mean over all directions"),
    op(RealOp::Atan2, &[0.0, 0.0], 0.0, &[0.0, 0.0], "the mean over all directions"),
    op(RealOp::PowInt(0), &[0.0], 1.0, &[0.0], "`x ^ 0` is 1 everywhere"),
    op(RealOp::PowInt(2), &[0.0], 0.0, &[0.0], "smooth; the rule has no logarithm"),
    op(RealOp::PowInt(-1), &[0.0], INF, &[-INF], "the limit from the right"),
    op(RealOp::Pow, &[0.0, 2.0], 0.0, &[0.0, 0.0], "smooth in the base; `0 ** y` is 0 for `y > 0`"),
    op(RealOp::Pow, &[0.0, 1.0], 0.0, &[1.0, 0.0], "as for `x`"),
    op(RealOp::Pow, &[0.0, 0.5], 0.0, &[INF, 0.0], "as for `sqrt x`"),
    op(RealOp::Pow, &[0.0, 0.0], 1.0, &[0.0, -INF], "`x ** 0` is 1 everywhere; `0 ** y` falls from 1 to 0"),
    op(
        RealOp::MulZero,
        &[0.0, INF],
        0.0,
        &[INF, 0.0],
        "a zero tangent stays zero through an infinite factor",
    ),
    op(RealOp::DivZero, &[0.0, 0.0], 0.0, &[INF, 0.0], "a zero tangent stays zero through a zero divisor"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn the_rules_give_the_values_of_the_table() {
        let mut tested = 0;
        for kink in KINKS {
            let Subject::Op(op) = kink.subject else { continue };
            let out = op.eval(kink.at);
            assert_eq!(out.to_bits(), kink.value.to_bits(), "value of {kink:?} is {out}");
            assert_eq!(kink.partials.len(), op.arity(), "{kink:?}");
            for (arg, expected) in kink.partials.iter().enumerate() {
                let partial = rules::rule(op).partial(kink.at, out, arg);
                assert_eq!(partial, *expected, "partial {arg} of {kink:?}");
            }
            tested += 1;
        }
        assert!(tested > 20);
    }

    #[test]
    fn choices_between_numbers_have_no_slope_at_nan() {
        for op in [RealOp::Abs, RealOp::Min, RealOp::Max, RealOp::Relu] {
            for nan in 0..op.arity() {
                let at: Vec<f64> =
                    (0..op.arity()).map(|arg| if arg == nan { f64::NAN } else { 1.0 }).collect();
                let out = op.eval(&at);
                assert!(out.is_nan(), "{op:?}");
                for arg in 0..op.arity() {
                    assert!(rules::rule(op).partial(&at, out, arg).is_nan(), "partial {arg} of {op:?}");
                }
            }
        }
    }

    #[test]
    fn every_choice_between_arguments_has_a_row() {
        for op in [RealOp::Abs, RealOp::Sign, RealOp::Min, RealOp::Max, RealOp::Relu, RealOp::Hypot] {
            assert!(KINKS.iter().any(|kink| kink.subject == Subject::Op(op)), "{op:?}");
        }
    }
}
