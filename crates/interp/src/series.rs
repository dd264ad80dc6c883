//! Taylor mode: arithmetic on truncated power series, at a cost that is polynomial in the order.
//!
//! A real under a Taylor tag stands for `x₀ + x₁ t + x₂ t² + … + xₙ tⁿ`, with coefficients that are reals with smaller tags.
//! Sums are made coefficient by coefficient, products and quotients by Cauchy's formula. Every other operation
//! `z = op(x, y)` is solved as the differential equation that its derivative rule is,
//!
//! ```text
//! z' = (Σ ± cᵢ·xᵢ') / d,      so      k zₖ = [tᵏ⁻¹] (Σ ± cᵢ·xᵢ') / d
//! ```
//!
//! where the coefficient of order `k-1` needs `z` only up to order `k-1`. Coefficient expressions `c` and `d` that do not
//! mention the result are series computed once (by these same formulas, one order lower); those that do are computed
//! along, order by order ([`Online`]). Nothing is computed twice, so `n` orders of `tanh` or `gamma` cost `O(n³)`.
//!
//! The coefficients of order 1 and above are tangents: where one is exactly 0, its products are.

use crate::arith::{self, is_exact_zero};
use crate::errors;
use crate::perturb::{self, active};
use crate::step::{Context, Failure};
use crate::value::{Fields, Fun, Perturbation, Tag, Value};
use crate::walk::{self, FunAction, Mapper, Zipper};
use std::rc::Rc;
use wengert_prim::cost::test_cost;
use wengert_prim::{Expr, RealOp, Rule, Term, Test, rules};

/// Coefficients of orders 0, 1, ….
type Series = Vec<Value>;

const ZERO: Value = Value::Real(0.0);

/// `x + t` up to `order`: the argument of the function whose Taylor series is wanted.
pub(crate) fn input(tag: Tag, x: &Value, order: usize) -> Value {
    if order == 0 {
        return x.clone();
    }
    let coefs = std::iter::once(Value::Real(1.0)).chain(std::iter::repeat_n(ZERO, order - 1));
    active(tag, x.clone(), Perturbation::Series(Rc::new(coefs.collect())))
}

/// The value and the derivatives up to `order` of a result under a Taylor tag.
pub(crate) fn coefficients(
    cx: &mut Context,
    tag: Tag,
    y: &Value,
    order: usize,
) -> Result<Vec<Value>, Failure> {
    let mut series = series_of(y, tag, order);
    // The factorial, in factors that are finite: a large one times a small coefficient need not overflow.
    let mut factors = vec![1.0_f64];
    for (k, coef) in series.iter_mut().enumerate().skip(1) {
        match factors.last_mut() {
            Some(last) if (*last * k as f64).is_finite() => *last *= k as f64,
            Some(_) | None => factors.push(k as f64),
        }
        if k > 1 && !is_exact_zero(coef) {
            for factor in &factors {
                *coef = arith::real2(cx, RealOp::Mul, coef, &Value::Real(*factor))?;
            }
        }
    }
    Ok(series)
}

/// The coefficients of order 1 and above under `tag`, the largest tag in the value.
fn coefs_under(value: &Value, tag: Tag) -> Option<&Fields> {
    match &arith::under(value, tag)?.perturbation {
        Perturbation::Series(coefs) => Some(coefs),
        Perturbation::Forward(_) | Perturbation::Reverse { .. } => None,
    }
}

/// The coefficients up to `order`, zeros where the value has none.
fn series_of(value: &Value, tag: Tag, order: usize) -> Series {
    let coefs = coefs_under(value, tag).into_iter().flat_map(Fields::as_slice);
    let mut series: Series =
        std::iter::once(arith::without(value, tag)).chain(coefs.take(order).cloned()).collect();
    series.resize(order + 1, ZERO);
    series
}

/// The value with these coefficients; plain if all but the first are exactly 0.
fn from_series(tag: Tag, series: Series) -> Value {
    let mut coefs = series.into_iter();
    let primal = coefs.next().unwrap_or(ZERO);
    if coefs.as_slice().iter().all(is_exact_zero) {
        return primal;
    }
    active(tag, primal, Perturbation::Series(Rc::new(coefs.collect())))
}

/// An operation on reals of which at least one is a series under `tag`, the largest tag in them.
pub(crate) fn real(cx: &mut Context, op: RealOp, args: &[Value], tag: Tag) -> Result<Value, Failure> {
    let order = args.iter().filter_map(|arg| coefs_under(arg, tag)).map(Fields::len).min().unwrap_or(0);
    let args: Vec<Series> = args.iter().map(|arg| series_of(arg, tag, order)).collect();
    let result = operation(cx, op, &args, order)?;
    Ok(from_series(tag, result))
}

/// `op` on series, up to `order`.
fn operation(cx: &mut Context, op: RealOp, args: &[Series], order: usize) -> Result<Series, Failure> {
    cx.work(order as u64 + 1)?;
    let primals: Vec<Value> = args.iter().map(|arg| coefficient(arg, 0)).collect();
    let is_constant = args.iter().all(|arg| arg.iter().skip(1).take(order).all(is_exact_zero));
    if is_constant {
        let mut result = vec![arith::real(cx, op, &primals)?];
        result.resize(order + 1, ZERO);
        return Ok(result);
    }
    if let Some(op) = Direct::of(op) {
        let first = arith::real(cx, op.real_op(), &primals)?;
        let mut result = vec![first];
        for k in 1..=order {
            let next = op.coefficient(cx, args, &result, k)?;
            result.push(next);
        }
        return Ok(result);
    }
    match (op, args) {
        (RealOp::PowInt(1), [x]) => Ok(truncated(x, order)),
        (_, _) => stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let first = arith::real(cx, op, &primals)?;
            by_rule(cx, op, args, first, order)
        }),
    }
}

fn coefficient(series: &[Value], k: usize) -> Value {
    series.get(k).cloned().unwrap_or(ZERO)
}

fn truncated(series: &[Value], order: usize) -> Series {
    let mut series: Series = series.iter().take(order + 1).cloned().collect();
    series.resize(order + 1, ZERO);
    series
}

/// The operations that need no rule.
#[derive(Clone, Copy)]
enum Direct {
    Sum,
    Difference,
    Negation,
    Product,
    ZeroProduct,
    Square,
    Quotient,
    ZeroQuotient,
}

impl Direct {
    const ALL: [Direct; 8] = [
        Direct::Sum,
        Direct::Difference,
        Direct::Negation,
        Direct::Product,
        Direct::ZeroProduct,
        Direct::Square,
        Direct::Quotient,
        Direct::ZeroQuotient,
    ];

    fn of(op: RealOp) -> Option<Direct> {
        Direct::ALL.into_iter().find(|direct| direct.real_op() == op)
    }

    fn real_op(self) -> RealOp {
        match self {
            Direct::Sum => RealOp::Add,
            Direct::Difference => RealOp::Sub,
            Direct::Negation => RealOp::Neg,
            Direct::Product => RealOp::Mul,
            Direct::ZeroProduct => RealOp::MulZero,
            Direct::Square => RealOp::PowInt(2),
            Direct::Quotient => RealOp::Div,
            Direct::ZeroQuotient => RealOp::DivZero,
        }
    }

    /// Coefficient `k`, from those of the arguments up to `k` and those of the result below `k`.
    fn coefficient(
        self,
        cx: &mut Context,
        args: &[Series],
        result: &[Value],
        k: usize,
    ) -> Result<Value, Failure> {
        if k == 0 {
            let primals: Vec<Value> = args.iter().map(|arg| coefficient(arg, 0)).collect();
            return arith::real(cx, self.real_op(), &primals);
        }
        let x = args.first().map_or(&[][..], Vec::as_slice);
        let y = args.get(1).map_or(&[][..], Vec::as_slice);
        match self {
            Direct::Sum => plus(cx, coefficient(x, k), coefficient(y, k)),
            Direct::Difference => {
                let y = negated(cx, coefficient(y, k))?;
                plus(cx, coefficient(x, k), y)
            }
            Direct::Negation => negated(cx, coefficient(x, k)),
            Direct::Product | Direct::ZeroProduct => convolution(cx, x, y, k, 0),
            Direct::Square => convolution(cx, x, x, k, 0),
            Direct::Quotient | Direct::ZeroQuotient => {
                let rest = convolution(cx, y, result, k, 1)?;
                let rest = negated(cx, rest)?;
                let sum = plus(cx, coefficient(x, k), rest)?;
                divided(cx, sum, &coefficient(y, 0))
            }
        }
    }
}

fn plus(cx: &mut Context, a: Value, b: Value) -> Result<Value, Failure> {
    match (is_exact_zero(&a), is_exact_zero(&b)) {
        (true, _) => Ok(b),
        (_, true) => Ok(a),
        (false, false) => arith::real2(cx, RealOp::Add, &a, &b),
    }
}

fn negated(cx: &mut Context, a: Value) -> Result<Value, Failure> {
    if is_exact_zero(&a) { Ok(a) } else { arith::real1(cx, RealOp::Neg, &a) }
}

fn divided(cx: &mut Context, a: Value, d: &Value) -> Result<Value, Failure> {
    if is_exact_zero(&a) { Ok(a) } else { arith::real2(cx, RealOp::DivZero, &a, d) }
}

/// `Σ aᵢ b₍ₖ₋ᵢ₎` for `i` from `from` to `k`. Coefficients of order 1 and above are tangents, those of order 0 factors.
fn convolution(cx: &mut Context, a: &[Value], b: &[Value], k: usize, from: usize) -> Result<Value, Failure> {
    let mut sum = ZERO;
    for i in from..=k {
        let (Some(x), Some(y)) = (a.get(i), b.get(k - i)) else { continue };
        let (tangent, factor, factor_order) = if i == 0 { (y, x, 0) } else { (x, y, k - i) };
        if is_exact_zero(tangent) || (factor_order > 0 && is_exact_zero(factor)) {
            continue;
        }
        let product = arith::real2(cx, RealOp::MulZero, tangent, factor)?;
        sum = plus(cx, sum, product)?;
    }
    Ok(sum)
}

/// A coefficient expression that is known order by order, as the result is.
enum Online {
    /// It does not depend on the result.
    Known(Series),
    /// It is the result.
    Out,
    /// An operation that needs no rule.
    Op(Direct, Vec<Online>, Series),
    /// Any other operation: computed anew for each order.
    Again(Expr),
}

/// What coefficient expressions are about.
struct Env<'a> {
    args: &'a [Series],
    plain_args: Vec<f64>,
    plain_out: f64,
}

impl Env<'_> {
    fn test(&self, cx: &mut Context, test: &Test) -> bool {
        cx.flops += test_cost(test);
        test.holds(&self.plain_args, self.plain_out)
    }

    /// The series of an expression, given that of the result as far as the expression needs it.
    fn series(&self, cx: &mut Context, expr: &Expr, out: &[Value], order: usize) -> Result<Series, Failure> {
        match expr {
            Expr::In(i) => Ok(self.args.get(*i).map_or_else(Vec::new, |arg| truncated(arg, order))),
            Expr::Out => Ok(truncated(out, order)),
            Expr::Const(value) => Ok(truncated(&[Value::Real(*value)], order)),
            Expr::Op(op, operands) => {
                let operands: Vec<Series> = operands
                    .iter()
                    .map(|operand| self.series(cx, operand, out, order))
                    .collect::<Result<_, _>>()?;
                operation(cx, *op, &operands, order)
            }
            Expr::If(test, then, otherwise) => {
                let chosen = if self.test(cx, test) { then } else { otherwise };
                self.series(cx, chosen, out, order)
            }
        }
    }

    /// Prepares an expression; the parts that do not depend on the result are computed up to `order`.
    fn online(&self, cx: &mut Context, expr: &Expr, order: usize) -> Result<Online, Failure> {
        if !mentions_out(expr) {
            return self.series(cx, expr, &[], order).map(Online::Known);
        }
        match expr {
            Expr::In(_) | Expr::Const(_) => self.series(cx, expr, &[], order).map(Online::Known),
            Expr::Out => Ok(Online::Out),
            Expr::Op(op, operands) => {
                let Some(op) = Direct::of(*op) else { return Ok(Online::Again(expr.clone())) };
                let operands: Vec<Online> = operands
                    .iter()
                    .map(|operand| self.online(cx, operand, order))
                    .collect::<Result<_, _>>()?;
                Ok(Online::Op(op, operands, Vec::new()))
            }
            Expr::If(test, then, otherwise) => {
                let chosen = if self.test(cx, test) { then } else { otherwise };
                self.online(cx, chosen, order)
            }
        }
    }

    /// The coefficients of `online` up to order `k`, when those of the result up to `k` are known.
    fn up_to(
        &self,
        cx: &mut Context,
        online: &mut Online,
        out: &[Value],
        k: usize,
    ) -> Result<Series, Failure> {
        match online {
            Online::Known(series) => Ok(truncated(series, k)),
            Online::Out => Ok(truncated(out, k)),
            Online::Again(expr) => self.series(cx, expr, out, k),
            Online::Op(op, operands, known) => {
                let operands: Vec<Series> = operands
                    .iter_mut()
                    .map(|operand| self.up_to(cx, operand, out, k))
                    .collect::<Result<_, _>>()?;
                while known.len() <= k {
                    let next = op.coefficient(cx, &operands, known, known.len())?;
                    known.push(next);
                }
                Ok(truncated(known, k))
            }
        }
    }
}

fn mentions_out(expr: &Expr) -> bool {
    match expr {
        Expr::Out => true,
        Expr::In(_) | Expr::Const(_) => false,
        Expr::Op(_, operands) => operands.iter().any(mentions_out),
        Expr::If(_, then, otherwise) => mentions_out(then) || mentions_out(otherwise),
    }
}

/// Solves the rule of `op` as a differential equation; `first` is the coefficient of order 0.
fn by_rule(
    cx: &mut Context,
    op: RealOp,
    args: &[Series],
    first: Value,
    order: usize,
) -> Result<Series, Failure> {
    let plain = |series: &Series| series.first().map_or(f64::NAN, arith::primal);
    let env = Env { args, plain_args: args.iter().map(plain).collect(), plain_out: arith::primal(&first) };
    let rule = rules::lookup(op);
    let (terms, divisor) = select(cx, &env, &rule);
    let below = order.saturating_sub(1);
    let mut summands = Vec::new();
    for term in terms {
        let derivative = derivative(cx, args.get(term.arg).map_or(&[], Vec::as_slice))?;
        if derivative.iter().all(is_exact_zero) {
            continue;
        }
        let coef = term.coef.as_ref().map(|coef| env.online(cx, coef, below)).transpose()?;
        summands.push((term.negative, coef, derivative));
    }
    let mut divisor = divisor.map(|divisor| env.online(cx, divisor, below)).transpose()?;
    let mut result = vec![first];
    let mut quotient: Series = Vec::with_capacity(order);
    for k in 0..order {
        cx.work(k as u64 + 1)?;
        let mut sum = ZERO;
        for (negative, coef, derivative) in &mut summands {
            let summand = match coef {
                Some(coef) => {
                    let coef = env.up_to(cx, coef, &result, k)?;
                    tangent_convolution(cx, derivative, &coef, k)?
                }
                None => coefficient(derivative, k),
            };
            let summand = if *negative { negated(cx, summand)? } else { summand };
            sum = plus(cx, sum, summand)?;
        }
        if let Some(divisor) = &mut divisor {
            let divisor = env.up_to(cx, divisor, &result, k)?;
            for j in 1..=k {
                let product = both_tangents(cx, &coefficient(&divisor, j), &coefficient(&quotient, k - j))?;
                let product = negated(cx, product)?;
                sum = plus(cx, sum, product)?;
            }
            sum = divided(cx, sum, &coefficient(&divisor, 0))?;
        }
        quotient.push(sum.clone());
        result.push(divided(cx, sum, &Value::Real(k as f64 + 1.0))?);
    }
    Ok(result)
}

/// `Σ tᵢ c₍ₖ₋ᵢ₎` where the `t` are tangents at every order.
fn tangent_convolution(cx: &mut Context, t: &[Value], c: &[Value], k: usize) -> Result<Value, Failure> {
    let mut sum = ZERO;
    for i in 0..=k {
        let (Some(tangent), Some(factor)) = (t.get(i), c.get(k - i)) else { continue };
        if is_exact_zero(tangent) || (k > i && is_exact_zero(factor)) {
            continue;
        }
        let product = arith::real2(cx, RealOp::MulZero, tangent, factor)?;
        sum = plus(cx, sum, product)?;
    }
    Ok(sum)
}

/// The product of two tangents: zero where one is, also where that varies with something else, as a plain zero would be.
fn both_tangents(cx: &mut Context, a: &Value, b: &Value) -> Result<Value, Failure> {
    if is_exact_zero(a) || is_exact_zero(b) { Ok(ZERO) } else { arith::real2(cx, RealOp::MulZero, a, b) }
}

/// The derivative of a series: one order lower.
fn derivative(cx: &mut Context, series: &[Value]) -> Result<Series, Failure> {
    let times = |cx: &mut Context, (k, coef): (usize, &Value)| {
        if k == 1 || is_exact_zero(coef) {
            Ok(coef.clone())
        } else {
            arith::real2(cx, RealOp::Mul, coef, &Value::Real(k as f64))
        }
    };
    series.iter().enumerate().skip(1).map(|entry| times(cx, entry)).collect()
}

/// The terms and the divisor of the case that applies.
fn select<'r>(cx: &mut Context, env: &Env<'_>, rule: &'r Rule) -> (&'r [Term], Option<&'r Expr>) {
    let mut rule = rule;
    loop {
        match rule {
            Rule::Linear { terms, divisor } => return (terms, divisor.as_ref()),
            Rule::Case(test, then, otherwise) => rule = if env.test(cx, test) { then } else { otherwise },
        }
    }
}

// Custom rules.

struct Differentiate<'a> {
    cx: &'a mut Context,
    tag: Tag,
    /// Whether the derivative is wanted, or the value with one order less.
    derivative: bool,
}

impl Mapper for Differentiate<'_> {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let order = coefs_under(value, self.tag).map_or(0, Fields::len);
        let series = series_of(value, self.tag, order);
        if self.derivative {
            let series = derivative(self.cx, &series)?;
            return Ok(Some(from_series(self.tag, series)));
        }
        Ok(Some(from_series(self.tag, truncated(&series, order.saturating_sub(1)))))
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        let func = Value::Fun(Rc::clone(fun));
        if perturb::mentions(self.tag, &func) {
            return Err(errors::taylor_mode("a custom rule for a function that is given a function"));
        }
        if !self.derivative {
            return Ok(FunAction::Keep);
        }
        // A function that is zero everywhere: the tangent under a tag that does not occur.
        let tag = self.cx.fresh_tag();
        Ok(FunAction::Replace(Value::Fun(Rc::new(Fun::TangentOf { tag, func }))))
    }
}

/// A value under a Taylor tag with one order less, and its derivative: point and tangent for a custom rule.
pub(crate) fn differentiate(cx: &mut Context, tag: Tag, x: &Value) -> Result<(Value, Value), Failure> {
    let lower = walk::map(x, &mut Differentiate { cx, tag, derivative: false })?;
    let derivative = walk::map(x, &mut Differentiate { cx, tag, derivative: true })?;
    Ok((lower, derivative))
}

struct Integrate<'a> {
    cx: &'a mut Context,
    tag: Tag,
    order: usize,
}

impl Integrate<'_> {
    /// What varies under a tag larger than that of the series, because the rule has captured it, does so around the series.
    fn around(&mut self, y: &Value, velocity: &Value, larger: Tag) -> Result<Value, Failure> {
        if arith::slot_under(velocity, larger).is_some() {
            return Err(errors::taylor_mode(
                "a custom rule that has captured what `grad` or `vjp` inside of it differentiates by",
            ));
        }
        let without = |value: &Value| arith::without(value, larger);
        let primal = self.reals(&without(y), &without(velocity))?;
        let perturbation =
            |value: &Value| arith::under(value, larger).map(|found| found.perturbation.clone());
        let perturbed = match (perturbation(y), perturbation(velocity)) {
            (None, None) => return Ok(primal),
            (Some(Perturbation::Reverse { tape, slot }), _) => Perturbation::Reverse { tape, slot },
            (own, Some(Perturbation::Forward(tangent))) => {
                let own = if let Some(Perturbation::Forward(own)) = own { own } else { ZERO };
                Perturbation::Forward(self.reals(&own, &tangent)?)
            }
            (Some(Perturbation::Forward(own)), _) => Perturbation::Forward(self.reals(&own, &ZERO)?),
            (own, rates) => {
                let order = own.iter().chain(&rates).map(order_of).max().unwrap_or(0);
                let [own, rates] =
                    [y, velocity].map(|value| series_of(value, larger, order).into_iter().skip(1));
                let coefs: Result<Series, Failure> =
                    own.zip(rates).map(|(own, rate)| self.reals(&own, &rate)).collect();
                Perturbation::Series(Rc::new(coefs?.into_iter().collect()))
            }
        };
        Ok(active(larger, primal, perturbed))
    }
}

/// How many coefficients there are beside the first.
fn order_of(perturbation: &Perturbation) -> usize {
    match perturbation {
        Perturbation::Series(coefs) => coefs.as_slice().len(),
        Perturbation::Forward(_) | Perturbation::Reverse { .. } => 0,
    }
}

/// The largest tag of a real.
fn tag_of(value: &Value) -> Option<Tag> {
    if let Value::Active(active) = value { Some(active.tag) } else { None }
}

impl Zipper for Integrate<'_> {
    fn reals(&mut self, y: &Value, velocity: &Value) -> Result<Value, Failure> {
        let larger = [y, velocity].into_iter().filter_map(tag_of).max().filter(|tag| *tag > self.tag);
        if let Some(larger) = larger {
            return self.around(y, velocity, larger);
        }
        let mut series = series_of(y, self.tag, self.order);
        let velocities = series_of(velocity, self.tag, self.order).into_iter().take(self.order);
        for ((k, coef), own) in velocities.enumerate().zip(series.iter_mut().skip(1)) {
            let coef = divided(self.cx, coef, &Value::Real(k as f64 + 1.0))?;
            // The value varies too, by what its rule has captured, where that is differentiated by the point around the series.
            *own = plus(self.cx, std::mem::replace(own, ZERO), coef)?;
        }
        Ok(from_series(self.tag, series))
    }

    fn functions(&mut self, y: &Value, velocity: &Value) -> Result<Value, Failure> {
        if perturb::mentions(self.tag, y) || !is_zero_function(velocity) {
            return Err(errors::taylor_mode("a custom rule that gives a function"));
        }
        Ok(y.clone())
    }

    fn mismatch(&self, y: &Value, velocity: &Value) -> Failure {
        errors::rule_result("custom_jvp", &walk::describe(y), &walk::describe(velocity))
    }

    fn work(&mut self, steps: usize) -> Result<(), Failure> {
        self.cx.work(steps as u64)
    }
}

/// Whether it is the tangent of a function that does not vary; of other functions only calls tell. The same of cotangents.
fn is_zero_function(velocity: &Value) -> bool {
    let is_still = |fun: &Fun| matches!(fun, Fun::TangentOf { tag, func } if !perturb::mentions(*tag, func));
    matches!(velocity, Value::Fun(fun) if is_still(fun))
        || matches!(velocity, Value::Cotangent(cotangent) if cotangent.pairs.is_empty())
}

/// The value `y` with the derivative that a custom rule gave, which has one order less than the result, `order`.
pub(crate) fn integrate(
    cx: &mut Context,
    tag: Tag,
    order: usize,
    y: &Value,
    velocity: &Value,
) -> Result<Value, Failure> {
    walk::zip(y, velocity, &mut Integrate { cx, tag, order })
}
