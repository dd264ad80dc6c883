//! What the derivative of an operation costs by its rule: the cost promise of the language, operation by operation.
//!
//! Let `z = op(x, y)` cost `p`. *Forward*, a tangent costs the coefficients, a multiplication for each term that has one,
//! the additions between terms (or a negation if the only term is negative) and a division if there is a divisor.
//! *Reverse*, a cotangent costs the coefficients, the division, and for each term the multiplication and the addition to
//! what has accumulated. Both include `p`, since derivative code computes the value too.
//!
//! A rule whose only term is the plain argument (`x ^ 1`) costs nothing: the result is the argument itself. The promise
//! is `jvp ≤ 4 p` and `vjp ≤ 6 p`; as it holds for each operation, it holds for every program made of them.

use crate::{Expr, RealOp, Rule, Term, Test, rules};

/// The promised bound for value and tangent, as a multiple of the cost of the value.
pub const JVP_FACTOR: u64 = 4;

/// The promised bound for value and cotangents.
pub const VJP_FACTOR: u64 = 6;

/// Cost of value and tangent, in the most expensive case of the rule.
pub fn jvp_cost(op: RealOp) -> u64 {
    worst_case(&rules::rule(op), &|terms, divisor| op.cost() + forward(terms, divisor))
}

/// Cost of value and cotangents of all arguments, in the most expensive case of the rule.
pub fn vjp_cost(op: RealOp) -> u64 {
    worst_case(&rules::rule(op), &|terms, divisor| op.cost() + reverse(terms, divisor))
}

/// Cost of an expression, in its most expensive case.
pub fn expr_cost(expr: &Expr) -> u64 {
    match expr {
        Expr::In(_) | Expr::Out | Expr::Const(_) => 0,
        Expr::Op(op, operands) => op.cost() + operands.iter().map(expr_cost).sum::<u64>(),
        Expr::If(test, then, otherwise) => test_cost(test) + expr_cost(then).max(expr_cost(otherwise)),
    }
}

/// Cost of a test: of what it compares; comparing is free.
pub fn test_cost(test: &Test) -> u64 {
    match test {
        Test::Eq(a, b) | Test::Lt(a, b) | Test::Le(a, b) => expr_cost(a) + expr_cost(b),
        Test::Or(a, b) => test_cost(a) + test_cost(b),
    }
}

fn worst_case(rule: &Rule, cost: &dyn Fn(&[Term], Option<&Expr>) -> u64) -> u64 {
    match rule {
        Rule::Linear { terms, divisor } => cost(terms, divisor.as_ref()),
        Rule::Case(test, then, otherwise) => {
            test_cost(test) + worst_case(then, cost).max(worst_case(otherwise, cost))
        }
    }
}

/// Whether the tangent of the result is that of the one argument.
fn is_identity(terms: &[Term], divisor: Option<&Expr>) -> bool {
    matches!(terms, [Term { negative: false, coef: None, .. }]) && divisor.is_none()
}

fn coefficients(terms: &[Term]) -> u64 {
    terms.iter().filter_map(|term| term.coef.as_ref()).map(|coef| expr_cost(coef) + 1).sum()
}

fn division(divisor: Option<&Expr>) -> u64 {
    divisor.map_or(0, |divisor| expr_cost(divisor) + 1)
}

fn forward(terms: &[Term], divisor: Option<&Expr>) -> u64 {
    let all_negative = !terms.is_empty() && terms.iter().all(|term| term.negative);
    let additions = (terms.len() as u64).saturating_sub(1) + u64::from(all_negative);
    coefficients(terms) + additions + division(divisor)
}

fn reverse(terms: &[Term], divisor: Option<&Expr>) -> u64 {
    if is_identity(terms, divisor) {
        return 0;
    }
    coefficients(terms) + terms.len() as u64 + division(divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_derivative_keeps_the_cost_promise() {
        let broken: Vec<String> = RealOp::SAMPLES
            .iter()
            .map(|op| (op, op.cost(), jvp_cost(*op), vjp_cost(*op)))
            .filter(|(_, p, jvp, vjp)| *jvp > JVP_FACTOR * p || *vjp > VJP_FACTOR * p)
            .map(|(op, p, jvp, vjp)| format!("{op:?}: primal {p}, jvp {jvp}, vjp {vjp}"))
            .collect();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn costs_of_some_derivatives() {
        assert_eq!((RealOp::Mul.cost(), jvp_cost(RealOp::Mul), vjp_cost(RealOp::Mul)), (1, 4, 5));
        assert_eq!((RealOp::Div.cost(), jvp_cost(RealOp::Div), vjp_cost(RealOp::Div)), (1, 4, 5));
        assert_eq!((RealOp::Exp.cost(), jvp_cost(RealOp::Exp), vjp_cost(RealOp::Exp)), (4, 5, 6));
        assert_eq!(jvp_cost(RealOp::PowInt(0)), 0);
        assert_eq!(vjp_cost(RealOp::PowInt(1)), 0);
    }
}
