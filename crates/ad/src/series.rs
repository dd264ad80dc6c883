//! Arithmetic on truncated power series, written out: a real that varies is `x₀ + x₁ t + … + xₙ tⁿ`, each coefficient a variable
//! of its own (those from order 1 on are its tangents), so that the code of an operation grows with the square of the order.
//!
//! ```text
//! z = x * y        z₂ = x₀ y₂ + x₁ y₁ + x₂ y₀
//! z = exp x        z₂ = (z₁ x₁ + z₀ (2 x₂)) / 2            from its rule, z' = z x'
//! ```
//!
//! Sums and products are made coefficient by coefficient; every other operation `z = op(x, y)` is solved as the differential
//! equation that its rule is: with `z' = (Σ ± cᵢ xᵢ') / d`, the coefficient `k` of `z` needs those of `c`, `d` and `z` below `k`. What
//! of `c` and `d` does not depend on `z` is made once, one order lower; the rest order by order ([`Online`]).
//! What is done in which order is as in the interpreter, operation by operation, for the derivatives of what is written here. A
//! coefficient that is zero for sure is `None`.
//!
//! Cases of a rule depend on the coefficients of order 0. Where one is met that is not decided, all is written out
//! in both branches ([`Powers::solve`]).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "sums and quotients are named, what else needs no rule is a product"
)]

use crate::decisions::{Decisions, Undecided};
use crate::{BEYOND, Code};
use wengert_ir::Ty;
use wengert_ir::op::{Atom, Block, Compare, Convert, IntOp, Op};
use wengert_prim::{Expr, RealOp, Rule, Test, rules};

/// The coefficients from order 0 on.
pub(crate) type Series = Vec<Option<Atom>>;

/// What gives a series.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Arithmetic.
    Real(RealOp),
    /// `x ^ n` with an exponent that running tells.
    Power(Atom),
    /// `polygamma n x` with an order that running tells.
    Polygamma(Atom),
}

/// An expression of a rule that is known order by order, as the result is.
enum Online {
    /// It does not depend on the result.
    Known(Series),
    /// It is the result.
    Out,
    /// An operation that needs no rule, as far as it is known.
    Op(RealOp, Vec<Online>, Series),
    /// Any other operation, made anew for each order.
    Again(Expr),
}

/// A summand of a rule: `± coef · x'`.
struct Summand {
    negative: bool,
    coef: Option<Online>,
    /// The coefficients of `x'`.
    slopes: Series,
}

/// What the expressions of a rule are about: the operands, their values, and the result's.
struct Env<'e> {
    args: &'e [Series],
    values: Vec<Atom>,
    out: Atom,
}

/// Writes the code of an operation on series.
struct Powers<'a, 'c> {
    code: &'a mut Code<'c>,
    decisions: Decisions,
}

/// The coefficients from order 1 on of the result of an operation, whose value is `out`.
pub(crate) fn coefficients(
    code: &mut Code<'_>,
    operation: &Operation,
    args: &[Series],
    out: &Atom,
    orders: usize,
) -> Series {
    let mut powers = Powers { code, decisions: Decisions::default() };
    let args: Vec<Series> = args.iter().map(|arg| truncated(arg, orders)).collect();
    match (operation, args.as_slice()) {
        (Operation::Real(op), _) => powers.solve(*op, &args, out, orders),
        (Operation::Power(exponent), [base]) => powers.power(exponent, base, out, orders),
        (Operation::Polygamma(order), [x]) => {
            powers.polygamma(order, 0, x, Some(out.clone()), orders).split_off(1)
        }
        (_, _) => vec![None; orders],
    }
}

/// The first coefficients, up to an order.
fn truncated(series: &[Option<Atom>], order: usize) -> Series {
    let mut series: Series = series.iter().take(order + 1).cloned().collect();
    series.resize(order + 1, None);
    series
}

fn coefficient(series: &[Option<Atom>], k: usize) -> Option<Atom> {
    series.get(k).cloned().flatten()
}

/// The value of a series.
fn value(series: &[Option<Atom>]) -> Atom {
    coefficient(series, 0).unwrap_or(Atom::Real(0.0))
}

fn is_constant(series: &[Option<Atom>]) -> bool {
    series.iter().skip(1).all(Option::is_none)
}

/// Whether an expression of a rule depends on the result.
pub(crate) fn mentions_out(expr: &Expr) -> bool {
    match expr {
        Expr::Out => true,
        Expr::In(_) | Expr::Const(_) => false,
        Expr::Op(_, operands) => operands.iter().any(mentions_out),
        Expr::If(_, then, otherwise) => mentions_out(then) || mentions_out(otherwise),
    }
}

impl Powers<'_, '_> {
    /// The coefficients from order 1 on.
    fn solve(&mut self, op: RealOp, args: &[Series], out: &Atom, orders: usize) -> Series {
        wengert_ir::stop::check();
        if self.code.ad.is_full() {
            self.code.fail(&[], BEYOND);
            return vec![None; orders];
        }
        self.decisions.begin();
        match self.operation(op, args, Some(out.clone()), orders) {
            Ok(series) => series.into_iter().skip(1).collect(),
            Err(Undecided(cond)) => {
                let [then, otherwise] = [true, false].map(|decision| {
                    self.decisions.push(decision);
                    self.code.b.open();
                    let series = self.solve(op, args, out, orders);
                    let block = self.code.b.close(Vec::new());
                    self.decisions.pop();
                    (series, block)
                });
                self.choose(cond, then, otherwise)
            }
        }
    }

    /// What one of two blocks gives, of which the results are told beside them.
    fn choose(
        &mut self,
        cond: Atom,
        (some, mut then): (Series, Block),
        (other, mut otherwise): (Series, Block),
    ) -> Series {
        let there = |(a, b): &(&Option<Atom>, &Option<Atom>)| a.is_some() || b.is_some();
        let zero = |atom: &Option<Atom>| atom.clone().unwrap_or(Atom::Real(0.0));
        let pairs = some.iter().zip(&other).filter(there);
        let (a, b): (Vec<Atom>, Vec<Atom>) = pairs.map(|(a, b)| (zero(a), zero(b))).unzip();
        let mut found = if then.stmts.is_empty() && otherwise.stmts.is_empty() {
            let chosen: Vec<Atom> =
                a.into_iter().zip(b).map(|(a, b)| self.code.b.select(cond.clone(), a, b)).collect();
            chosen.into_iter()
        } else {
            (then.results, otherwise.results) = (a, b);
            let types = vec![Ty::REAL; then.results.len()];
            self.code.b.typed(&types, Op::If { cond, then, otherwise }).into_iter()
        };
        some.iter().zip(&other).map(|pair| if there(&pair) { found.next() } else { None }).collect()
    }

    /// Arithmetic on numbers. Where it is done on a tape, a product with 1 is a number of its own.
    fn real(&mut self, op: RealOp, operands: Vec<Atom>) -> Atom {
        let known = operands.iter().all(|atom| matches!(atom, Atom::Real(_)));
        if self.code.ad.exact && !known && operands.contains(&Atom::Real(1.0)) {
            return self.code.b.called("t").real(op, operands);
        }
        self.code.real(op, operands)
    }

    /// Arithmetic on series, up to an order; its value, if it is known.
    fn operation(
        &mut self,
        op: RealOp,
        args: &[Series],
        out: Option<Atom>,
        order: usize,
    ) -> Result<Series, Undecided> {
        if let (RealOp::PowInt(1), [x]) = (op, args) {
            return Ok(truncated(x, order));
        }
        let values: Vec<Atom> = args.iter().map(|arg| value(arg)).collect();
        let out = out.unwrap_or_else(|| self.real(op, values.clone()));
        if args.iter().all(|arg| is_constant(arg)) {
            return Ok(truncated(&[Some(out)], order));
        }
        if !is_direct(op) {
            return self.by_rule(op, &Env { args, values, out }, order);
        }
        let mut found = vec![Some(out)];
        for k in 1..=order {
            let next = self.direct(op, args, &found, k);
            found.push(next);
        }
        Ok(found)
    }

    fn by_rule(&mut self, op: RealOp, env: &Env<'_>, order: usize) -> Result<Series, Undecided> {
        let rule = rules::lookup(op);
        let mut rule: &Rule = &rule;
        let (terms, divisor) = loop {
            match rule {
                Rule::Linear { terms, divisor } => break (terms, divisor),
                Rule::Case(test, then, otherwise) => {
                    rule = if self.decide(test, env)? { then } else { otherwise };
                }
            }
        };
        let below = order.saturating_sub(1);
        let mut summands = Vec::new();
        for term in terms {
            let slopes = env.args.get(term.arg).map_or_else(Vec::new, |arg| self.derivative(arg));
            if slopes.iter().all(Option::is_none) {
                continue;
            }
            let coef = match &term.coef {
                Some(coef) => Some(self.online(env, coef, below)?),
                None => None,
            };
            summands.push(Summand { negative: term.negative, coef, slopes });
        }
        let divisor = match divisor.as_ref().filter(|_| !summands.is_empty()) {
            Some(divisor) => Some(self.online(env, divisor, below)?),
            None => None,
        };
        self.solution(env, summands, divisor, order)
    }

    /// The series whose derivative has these summands over this divisor.
    fn solution(
        &mut self,
        env: &Env<'_>,
        mut summands: Vec<Summand>,
        mut divisor: Option<Online>,
        order: usize,
    ) -> Result<Series, Undecided> {
        let mut found = vec![Some(env.out.clone())];
        let mut quotient: Series = Vec::new();
        for k in 0..order {
            let mut sum = None;
            for Summand { negative, coef, slopes } in &mut summands {
                let summand = match coef {
                    Some(coef) => {
                        let coef = self.up_to(env, coef, &found, k)?;
                        let mut inner = None;
                        for i in 0..=k {
                            let product = self.product(coefficient(slopes, i), coefficient(&coef, k - i));
                            inner = self.sum(inner, false, product);
                        }
                        inner
                    }
                    None => coefficient(slopes, k),
                };
                sum = self.sum(sum, *negative, summand);
            }
            if let Some(divisor) = &mut divisor {
                let divisor = self.up_to(env, divisor, &found, k)?;
                for j in 1..=k {
                    let product = self.product(coefficient(&divisor, j), coefficient(&quotient, k - j));
                    sum = self.sum(sum, true, product);
                }
                sum = sum.map(|sum| self.real(RealOp::DivZero, vec![sum, value(&divisor)]));
            }
            quotient.push(sum.clone());
            found.push(sum.map(|sum| self.real(RealOp::DivZero, vec![sum, Atom::Real(k as f64 + 1.0)])));
        }
        Ok(found)
    }

    /// Whether a case applies.
    fn decide(&mut self, test: &Test, env: &Env<'_>) -> Result<bool, Undecided> {
        self.decisions.decide(self.code, test, &env.values, &env.out)
    }

    /// The series of an expression, given that of the result as far as the expression needs it.
    fn series(
        &mut self,
        env: &Env<'_>,
        expr: &Expr,
        out: &[Option<Atom>],
        order: usize,
    ) -> Result<Series, Undecided> {
        match expr {
            Expr::In(i) => Ok(truncated(env.args.get(*i).map_or(&[], Vec::as_slice), order)),
            Expr::Out => Ok(truncated(out, order)),
            Expr::Const(value) => Ok(truncated(&[Some(Atom::Real(*value))], order)),
            Expr::Op(op, operands) => {
                let operands: Vec<Series> = operands
                    .iter()
                    .map(|operand| self.series(env, operand, out, order))
                    .collect::<Result<_, _>>()?;
                self.operation(*op, &operands, None, order)
            }
            Expr::If(test, then, otherwise) => {
                let chosen = if self.decide(test, env)? { then } else { otherwise };
                self.series(env, chosen, out, order)
            }
        }
    }

    /// Prepares an expression; the parts that do not depend on the result are made up to `order`.
    fn online(&mut self, env: &Env<'_>, expr: &Expr, order: usize) -> Result<Online, Undecided> {
        if !mentions_out(expr) {
            return self.series(env, expr, &[], order).map(Online::Known);
        }
        match expr {
            Expr::In(_) | Expr::Const(_) => self.series(env, expr, &[], order).map(Online::Known),
            Expr::Out => Ok(Online::Out),
            Expr::Op(op, _) if !is_direct(*op) => Ok(Online::Again(expr.clone())),
            Expr::Op(op, operands) => {
                let operands: Vec<Online> = operands
                    .iter()
                    .map(|operand| self.online(env, operand, order))
                    .collect::<Result<_, _>>()?;
                Ok(Online::Op(*op, operands, Vec::new()))
            }
            Expr::If(test, then, otherwise) => {
                let chosen = if self.decide(test, env)? { then } else { otherwise };
                self.online(env, chosen, order)
            }
        }
    }

    /// The coefficients up to order `k`, when those of the result up to `k` are there.
    fn up_to(
        &mut self,
        env: &Env<'_>,
        online: &mut Online,
        out: &[Option<Atom>],
        k: usize,
    ) -> Result<Series, Undecided> {
        match online {
            Online::Known(series) => Ok(truncated(series, k)),
            Online::Out => Ok(truncated(out, k)),
            Online::Again(expr) => self.series(env, expr, out, k),
            Online::Op(op, operands, known) => {
                let operands: Vec<Series> = operands
                    .iter_mut()
                    .map(|operand| self.up_to(env, operand, out, k))
                    .collect::<Result<_, _>>()?;
                while known.len() <= k {
                    let next = match known.len() {
                        0 => {
                            let values = operands.iter().map(|operand| value(operand)).collect();
                            Some(self.real(*op, values))
                        }
                        k => self.direct(*op, &operands, known, k),
                    };
                    known.push(next);
                }
                Ok(truncated(known, k))
            }
        }
    }

    /// Coefficient `k`, 1 or more, of a sum, a product or a quotient, of which those below are there.
    fn direct(&mut self, op: RealOp, args: &[Series], found: &[Option<Atom>], k: usize) -> Option<Atom> {
        let x = args.first().map_or(&[][..], Vec::as_slice);
        let y = args.get(1).map_or(x, Vec::as_slice);
        match op {
            RealOp::Add | RealOp::Sub => self.sum(coefficient(x, k), op == RealOp::Sub, coefficient(y, k)),
            RealOp::Neg => self.sum(None, true, coefficient(x, k)),
            RealOp::Div | RealOp::DivZero => {
                let rest = self.convolution(y, found, k, 1);
                let sum = self.sum(coefficient(x, k), true, rest)?;
                Some(self.real(RealOp::DivZero, vec![sum, value(y)]))
            }
            _ => self.convolution(x, y, k, 0),
        }
    }

    /// `Σ aᵢ b₍ₖ₋ᵢ₎` for `i` from `from` to `k`.
    fn convolution(&mut self, a: &[Option<Atom>], b: &[Option<Atom>], k: usize, from: usize) -> Option<Atom> {
        let mut sum = None;
        for i in from..=k {
            let (x, y) = (coefficient(a, i), coefficient(b, k - i));
            let (tangent, factor) = if i == 0 { (y, x) } else { (x, y) };
            let product = self.product(tangent, factor);
            sum = self.sum(sum, false, product);
        }
        sum
    }

    /// The derivative of a series, one order lower.
    fn derivative(&mut self, series: &[Option<Atom>]) -> Series {
        let mut slopes = Vec::new();
        for (k, coef) in series.iter().enumerate().skip(1) {
            slopes.push(match coef {
                Some(coef) if k > 1 => Some(self.real(RealOp::Mul, vec![coef.clone(), Atom::Real(k as f64)])),
                coef => coef.clone(),
            });
        }
        slopes
    }

    /// A product, in which zeros are strong.
    fn product(&mut self, tangent: Option<Atom>, factor: Option<Atom>) -> Option<Atom> {
        let (tangent, factor) = (tangent?, factor?);
        self.code.ad.written += 1;
        let product = self.real(RealOp::MulZero, vec![tangent, factor]);
        (product != Atom::Real(0.0)).then_some(product)
    }

    fn sum(&mut self, a: Option<Atom>, negative: bool, b: Option<Atom>) -> Option<Atom> {
        match (a, b) {
            (a, None) => a,
            (None, Some(b)) if negative && self.code.ad.exact => {
                Some(self.real(RealOp::Sub, vec![Atom::Real(0.0), b]))
            }
            (None, Some(b)) if negative => Some(self.real(RealOp::Neg, vec![b])),
            (None, Some(b)) => Some(b),
            (Some(a), Some(b)) => {
                let op = if negative { RealOp::Sub } else { RealOp::Add };
                Some(self.real(op, vec![a, b]))
            }
        }
    }
}

/// What running tells: exponents and orders.
impl Powers<'_, '_> {
    /// `x ^ n`, as that of which the exponent is known: 1, `x` itself, a square, or another power.
    fn power(&mut self, exponent: &Atom, base: &Series, out: &Atom, orders: usize) -> Series {
        // Of the lowest exponents there are none below.
        let least = Atom::Int(i64::MIN.saturating_add(orders as i64));
        let cond = self.code.b.compare(Compare::Lt, exponent.clone(), least);
        self.code.b.open();
        self.code.fail(&[], BEYOND);
        let then = self.code.b.close(Vec::new());
        self.code.b.typed(&[], Op::If { cond, then, otherwise: Block::default() });
        let none = self.code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(0));
        let one = self.code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(1));
        let itself: Series = base.iter().skip(1).cloned().collect();
        self.code.b.open();
        let others = self.higher_power(exponent, base, out, orders).split_off(1);
        let others = (others, self.code.b.close(Vec::new()));
        self.code.b.open();
        let others = self.choose(one, (itself, Block::default()), others);
        let others = (others, self.code.b.close(Vec::new()));
        self.choose(none, (vec![None; orders], Block::default()), others)
    }

    /// Squares and other powers, whose derivative is `n x ^ (n - 1)`.
    fn higher_power(&mut self, exponent: &Atom, base: &[Option<Atom>], out: &Atom, orders: usize) -> Series {
        let mut found = vec![Some(out.clone())];
        if orders == 0 || is_constant(base) || self.code.ad.is_full() {
            return truncated(&found, orders);
        }
        let cond = self.code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(2));
        self.code.b.open();
        let square = (1..=orders).map(|k| self.convolution(base, base, k, 0)).collect();
        let square = (square, self.code.b.close(Vec::new()));
        self.code.b.open();
        let slopes = self.derivative(base);
        let less = self.code.b.int(IntOp::Sub, [exponent.clone(), Atom::Int(1)]);
        let op = Op::Power { base: value(base), exponent: less.clone() };
        let below = self.code.b.typed1(Ty::REAL, op);
        let base = truncated(base, orders - 1);
        let below = self.higher_power(&less, &base, &below, orders - 1);
        let factor = self.code.b.convert(Convert::IntToReal, exponent.clone());
        let slope = self.real(RealOp::Mul, vec![factor.clone(), value(&below)]);
        let mut coef = vec![Some(slope)];
        let factor = truncated(&[Some(factor)], orders - 1);
        coef.extend((1..orders).map(|k| self.convolution(&factor, &below, k, 0)));
        let other = self.rule_of_one(coef, slopes, out, orders).split_off(1);
        let other = (other, self.code.b.close(Vec::new()));
        found.extend(self.choose(cond, square, other));
        found
    }

    /// `polygamma (n + more) x`, whose derivative is `polygamma (n + more + 1) x`.
    fn polygamma(
        &mut self,
        order: &Atom,
        more: i64,
        x: &[Option<Atom>],
        out: Option<Atom>,
        orders: usize,
    ) -> Series {
        let out = out.unwrap_or_else(|| {
            let order = self.code.b.int(IntOp::Add, [order.clone(), Atom::Int(more)]);
            self.code.b.typed1(Ty::REAL, Op::Polygamma { order, x: value(x) })
        });
        if orders == 0 || is_constant(x) {
            return truncated(&[Some(out)], orders);
        }
        let slopes = self.derivative(x);
        let coef = self.polygamma(order, more + 1, &truncated(x, orders - 1), None, orders - 1);
        self.rule_of_one(coef, slopes, &out, orders)
    }

    /// The series of what has the derivative `coef · x'`.
    fn rule_of_one(&mut self, coef: Series, slopes: Series, out: &Atom, orders: usize) -> Series {
        let env = Env { args: &[], values: Vec::new(), out: out.clone() };
        let summand = Summand { negative: false, coef: Some(Online::Known(coef)), slopes };
        // There are no cases here.
        self.solution(&env, vec![summand], None, orders).unwrap_or_else(|_| vec![None; orders + 1])
    }
}

/// Whether the coefficients need no rule.
pub(crate) fn is_direct(op: RealOp) -> bool {
    let sums = matches!(op, RealOp::Add | RealOp::Sub | RealOp::Neg);
    let quotients = matches!(op, RealOp::Div | RealOp::DivZero);
    sums || quotients || matches!(op, RealOp::Mul | RealOp::MulZero | RealOp::PowInt(2))
}
