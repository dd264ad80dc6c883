//! The paper's examples, and families of terms for its claims.

use super::syntax::{Const, Term, Var, app, constant, lam, num, op, pair, sum, var};
use wengert_prim::RealOp;

/// Section 2: `T(λx. x² + 1)(3 + ε) = 10 + 6ε`.
pub const SQUARE_PLUS_ONE: &str = "T (λx. x·x + 1) (ι2 3 + ε)";

/// Section 2: `D(λx. x · D(λy. x) 2) 1`, which is 0; perturbation confusion makes it 1.
pub const CONFUSION: &str = "D (λx. x · D (λy. x) 2) 1";

/// The derivative of the sum of a Church list by its first element, at 7: 1.
pub const CHURCH_SUM: &str = "D (λa. [a, -1, 4] (λx. λy. x + y) 0) 7";

/// Two orders of reduction give `λy. λa. λx. ⟨M, y a⟩` and `λy. λa. λx. ⟨M + M, y a⟩` with `M = π1 (T y (ι2 a))`.
pub const NOT_CONFLUENT: &str = "λy. λa. T (λx. (λu. u a) y)";

/// Section 2: `f₁(x) · (f₂(x) · (… · f_n(x)))` of free variable `x`, where `f_i` is `sin` of a multiple of `x`; `f_i` in
/// order, and their product.
pub fn product(n: usize) -> (Var, Vec<Term>, Term) {
    let x = Var::fresh("x");
    let factors: Vec<Term> =
        (1..=n).map(|i| op(RealOp::Sin, &[op(RealOp::Mul, &[num(i as f64), var(&x)])])).collect();
    let all = multiplied(factors.clone());
    (x, factors, all)
}

fn multiplied(factors: Vec<Term>) -> Term {
    let mut factors = factors.into_iter().rev();
    let last = factors.next().unwrap_or_else(|| num(1.0));
    factors.fold(last, |rest, factor| op(RealOp::Mul, &[factor, rest]))
}

/// The derivative of [`product`] by the product rule of section 2, `f₁′·f₂·…·f_n + … + f₁·f₂·…·f_n′`, evaluated naively:
/// every occurrence of an `f_i(x)` is a term of its own.
pub fn product_rule(n: usize, point: f64) -> Term {
    let factor = |i: usize, primed: bool| {
        let scaled = op(RealOp::Mul, &[num(i as f64), num(point)]);
        if primed {
            op(RealOp::Mul, &[num(i as f64), op(RealOp::Cos, &[scaled])])
        } else {
            op(RealOp::Sin, &[scaled])
        }
    };
    sum((1..=n)
        .map(|primed| multiplied((1..=n).map(|i| factor(i, i == primed)).collect()))
        .collect::<Vec<_>>())
}

/// `T(λx. body)⟨1, point⟩`
pub fn pushed_at(x: &Var, body: Term, point: f64) -> Term {
    app(super::syntax::push(lam(x, body)), pair(num(1.0), num(point)))
}

/// `let x₁ = x₀·x₀ in … let x_n = x_{n−1}·x_{n−1} in x_n`, of free variable `x₀`, as redexes `(λx_i. …) (…)`.
pub fn nested_lets(n: usize) -> (Var, Term) {
    let xs: Vec<Var> = (0..=n).map(|_| Var::fresh("x")).collect();
    let mut body = xs.last().map_or_else(|| num(0.0), var);
    for (bound, before) in xs.iter().skip(1).zip(&xs).rev() {
        body = app(lam(bound, body), op(RealOp::Mul, &[var(before), var(before)]));
    }
    (xs.first().cloned().unwrap_or_else(|| Var::fresh("x")), body)
}

/// `sin (sin (… x))` of free variable `x`.
pub fn nested_sines(n: usize) -> (Var, Term) {
    let x = Var::fresh("x");
    let body = (0..n).fold(var(&x), |inner, _| app(constant(Const::Op(RealOp::Sin)), inner));
    (x, body)
}
