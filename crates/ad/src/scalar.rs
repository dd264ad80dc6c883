//! The derivative of an operation on reals, from the rule in `wengert_prim`: what stands in the linear part is always one
//! form `ż = (Σ ± cᵢ ẋᵢ) / d`; this module computes the coefficients, in the primal part.
//!
//! ```text
//! z = x * y        z' = y x' + x y'
//! z = sin x        c = cos x;  z' = c x'
//! z = max x y      p = y <= x;  c = select p 1.0 0.0;  …        z' = c x' + d y'
//! ```
//!
//! Where a rule distinguishes cases, the coefficients do: by a `select` if they are there already, by an `if` if not.
//! Only what belongs to operands that vary is computed.

#![expect(clippy::wildcard_enum_match_arm, reason = "numbers are named, the others are operands")]

use crate::Code;
use crate::linear::{Ref, Term};
use wengert_base::Name;
use wengert_ir::op::{Atom, Compare, Op};
use wengert_prim::{Expr, RealOp, Rule, Test, rules};

/// What is known of the derivative: for each operand that varies its coefficient, and the divisor.
struct Slope {
    /// By operand; `None` where it contributes nothing.
    terms: Vec<Option<Factor>>,
    divisor: Option<Atom>,
}

/// `± coef`, without `coef` ± 1.
#[derive(Clone, PartialEq)]
struct Factor {
    negative: bool,
    coef: Option<Atom>,
}

/// Terms and divisor of the tangent of `out = op(args)`; `of` says which operands vary.
pub(crate) fn form(
    code: &mut Code<'_>,
    op: RealOp,
    args: &[Atom],
    out: &Atom,
    of: &[Option<Ref>],
) -> (Vec<Term>, Option<Atom>) {
    let whole = rules::lookup(op);
    let possible = possible(op, args, &whole, code.ad.exact);
    let rule = possible.as_ref().unwrap_or(&whole);
    let active: Vec<bool> = of.iter().map(Option::is_some).collect();
    let mut slope = Point { code, args, out, active: &active }.rule(rule);
    if matches!(op, RealOp::Min | RealOp::Max) {
        rest_of_one(code, &mut slope.terms);
    }
    let terms: Vec<Term> = order(rule, args.len())
        .into_iter()
        .filter_map(|i| {
            let factor = slope.terms.get(i)?.clone()?;
            let of = of.get(i)?.clone()?;
            Some(Term { of, negative: factor.negative, coef: factor.coef })
        })
        .collect();
    let divisor = slope.divisor.filter(|_| !terms.is_empty());
    (terms, divisor)
}

/// Of a choice between two numbers both slopes are one of 0 and 1, or NaN, and their sum is 1: of the two only one need be kept.
fn rest_of_one(code: &mut Code<'_>, terms: &mut [Option<Factor>]) {
    if let [Some(one), Some(other)] = terms
        && let (Some(Atom::Var(slope)), Some(Atom::Var(_))) = (&one.coef, &other.coef)
        && !one.negative
        && !other.negative
    {
        let rest = code.b.called("slope").real(RealOp::Sub, [Atom::Real(1.0), Atom::Var(*slope)]);
        other.coef = Some(rest);
    }
}

/// The rule of a power in fewer cases. If the base is a positive number, its logarithm is finite, so that nothing is special where the
/// result is 0 or infinite. And if the exponent is a number, the slope that is right there is right everywhere: it is one power, dearer
/// than a quotient, and rounded otherwise; but cases cost more in a loop, and there would be as many as there are orders.
fn possible(op: RealOp, args: &[Atom], rule: &Rule, exact: bool) -> Option<Rule> {
    let (RealOp::Pow, Rule::Case(_, lost, general)) = (op, rule) else { return None };
    match args {
        [Atom::Real(base), _] if *base > 0.0 && base.is_finite() => Some((**general).clone()),
        [_, Atom::Real(exponent)] if !exact && has_one_less(*exponent) => Some((**lost).clone()),
        _ => None,
    }
}

/// Whether an exponent and the one less are alike, so that powers of negative numbers are: the one is whole if the other is, and odd
/// if the other is even.
fn has_one_less(exponent: f64) -> bool {
    const WHOLE_FROM: f64 = 9_007_199_254_740_992.0;
    let whole = |x: f64| x.fract() == 0.0;
    exponent.abs() < WHOLE_FROM && whole(exponent) == whole(exponent - 1.0)
}

/// An expression of the rule of `out = op(args)`.
pub(crate) fn value(code: &mut Code<'_>, expr: &Expr, args: &[Atom], out: &Atom) -> Atom {
    Point { code, args, out, active: &[] }.expr(expr)
}

/// A test of the rule of `out = op(args)`.
pub(crate) fn test(code: &mut Code<'_>, test: &Test, args: &[Atom], out: &Atom) -> Atom {
    Point { code, args, out, active: &[] }.test(test)
}

/// The order of the terms in the rule.
fn order(rule: &Rule, arity: usize) -> Vec<usize> {
    let mut rule = rule;
    loop {
        match rule {
            Rule::Linear { terms, .. } => {
                let mut order: Vec<usize> = terms.iter().map(|term| term.arg).collect();
                order.extend((0..arity).filter(|i| terms.iter().all(|term| term.arg != *i)));
                return order;
            }
            Rule::Case(_, then, _) => rule = then,
        }
    }
}

struct Point<'a, 'c> {
    code: &'a mut Code<'c>,
    args: &'a [Atom],
    out: &'a Atom,
    active: &'a [bool],
}

impl Point<'_, '_> {
    fn rule(&mut self, rule: &Rule) -> Slope {
        match rule {
            Rule::Linear { terms, divisor } => {
                let mut slope = Slope { terms: vec![None; self.args.len()], divisor: None };
                let mut any = false;
                for term in terms.iter().filter(|term| self.active.get(term.arg) == Some(&true)) {
                    any = true;
                    let coef = term.coef.as_ref().map(|coef| self.expr(coef));
                    if let Some(place) = slope.terms.get_mut(term.arg) {
                        *place = Some(Factor { negative: term.negative, coef });
                    }
                }
                slope.divisor = divisor.as_ref().filter(|_| any).map(|divisor| self.expr(divisor));
                slope
            }
            Rule::Case(test, then, otherwise) => self.cases(test, then, otherwise),
        }
    }

    fn cases(&mut self, test: &Test, then: &Rule, otherwise: &Rule) -> Slope {
        let cond = self.test(test);
        self.code.b.open();
        let a = self.rule(then);
        let then_block = self.code.b.close(Vec::new());
        self.code.b.open();
        let b = self.rule(otherwise);
        let else_block = self.code.b.close(Vec::new());
        let (mut terms, mut divisor, sides) = differences(a, b);
        if sides.is_empty() {
            return Slope { terms, divisor };
        }
        let (mut blocks, mut values) = ([then_block, else_block], [Vec::new(), Vec::new()]);
        let mut negative = Vec::new();
        for (_, x, y) in &sides {
            let both = x.negative && y.negative;
            negative.push(both);
            for (side, factor) in [x, y].into_iter().enumerate() {
                let coef = factor.coef.clone().unwrap_or(Atom::Real(1.0));
                let value = match coef {
                    coef if both || !factor.negative => coef,
                    Atom::Real(x) => Atom::Real(-x),
                    coef => {
                        self.code.b.open();
                        let value = self.code.b.real(RealOp::Neg, [coef]);
                        let block = self.code.b.close(Vec::new());
                        if let Some(target) = blocks.get_mut(side) {
                            target.stmts.extend(block.stmts);
                        }
                        value
                    }
                };
                if let Some(values) = values.get_mut(side) {
                    values.push(value);
                }
            }
        }
        let pure = blocks.iter().all(|block| block.stmts.is_empty());
        let [mut then_block, mut else_block] = blocks;
        let [then_values, else_values] = values;
        let chosen: Vec<Atom> = if pure {
            let pairs = then_values.into_iter().zip(else_values);
            pairs.map(|(x, y)| self.code.b.called("slope").select(cond.clone(), x, y)).collect()
        } else {
            then_block.results = then_values;
            else_block.results = else_values;
            self.code.b.called("slope").if_else(cond, then_block, else_block)
        };
        for (((place, _, _), negative), value) in sides.into_iter().zip(negative).zip(chosen) {
            match place.and_then(|i| terms.get_mut(i)) {
                Some(place) => *place = Some(Factor { negative, coef: Some(value) }),
                None => divisor = Some(value),
            }
        }
        Slope { terms, divisor }
    }

    fn test(&mut self, test: &Test) -> Atom {
        let (op, a, b) = match test {
            Test::Eq(a, b) => (Compare::Eq, a, b),
            Test::Lt(a, b) => (Compare::Lt, a, b),
            Test::Le(a, b) => (Compare::Le, a, b),
            Test::Or(a, b) => {
                let (a, b) = (self.test(a), self.test(b));
                return self.code.b.select(a, Atom::Bool(true), b);
            }
        };
        let (a, b) = (self.expr(a), self.expr(b));
        self.code.b.compare(op, a, b)
    }

    fn expr(&mut self, expr: &Expr) -> Atom {
        match expr {
            Expr::In(i) => self.args.get(*i).cloned().unwrap_or(Atom::Real(f64::NAN)),
            Expr::Out => self.out.clone(),
            Expr::Const(value) => Atom::Real(*value),
            Expr::Op(op, operands) => {
                let operands: Vec<Atom> = operands.iter().map(|operand| self.expr(operand)).collect();
                self.code.real(*op, operands)
            }
            Expr::If(test, then, otherwise) => {
                let cond = self.test(test);
                self.code.b.open();
                let value = self.expr(then);
                let then = self.code.b.close(vec![value]);
                self.code.b.open();
                let value = self.expr(otherwise);
                let otherwise = self.code.b.close(vec![value]);
                let op = Op::If { cond, then, otherwise };
                self.code.b.called("slope").typed1(wengert_ir::Ty::REAL, op)
            }
        }
    }
}

/// A place that differs (an operand, or the divisor), and what it is on both sides.
type Side = (Option<usize>, Factor, Factor);

/// What is the same on both sides of a case, and what differs.
fn differences(a: Slope, b: Slope) -> (Vec<Option<Factor>>, Option<Atom>, Vec<Side>) {
    let mut terms: Vec<Option<Factor>> = Vec::new();
    let mut sides: Vec<Side> = Vec::new();
    for (i, (x, y)) in a.terms.into_iter().zip(b.terms).enumerate() {
        if x == y {
            terms.push(x);
            continue;
        }
        let nothing = |other: &Factor| Factor { negative: other.negative, coef: Some(Atom::Real(0.0)) };
        let x = x.or_else(|| y.as_ref().map(nothing));
        let y = y.or_else(|| x.as_ref().map(nothing));
        terms.push(None);
        if let (Some(x), Some(y)) = (x, y) {
            sides.push((Some(i), x, y));
        }
    }
    if a.divisor != b.divisor {
        let of = |divisor| Factor { negative: false, coef: divisor };
        sides.push((None, of(a.divisor.clone()), of(b.divisor)));
    }
    (terms, a.divisor, sides)
}

impl Code<'_> {
    /// Arithmetic on reals, done at once where the operands are known. A factor of 1 multiplies nothing.
    pub(crate) fn real(&mut self, op: RealOp, operands: Vec<Atom>) -> Atom {
        self.real_called("t".into(), op, operands)
    }

    /// The same, with a name for the result.
    pub(crate) fn real_called(&mut self, name: Name, op: RealOp, operands: Vec<Atom>) -> Atom {
        let numbers: Option<Vec<f64>> =
            operands.iter().map(|atom| if let Atom::Real(x) = atom { Some(*x) } else { None }).collect();
        if let Some(numbers) = numbers {
            return Atom::Real(op.eval(&numbers));
        }
        match (op, operands.as_slice()) {
            // That may be -0, which a strong zero never is.
            (RealOp::MulZero, [x, Atom::Real(1.0)] | [Atom::Real(1.0), x]) if !self.ad.exact => x.clone(),
            (RealOp::DivZero, [x, Atom::Real(1.0)]) if !self.ad.exact => x.clone(),
            (RealOp::MulZero, [zero @ Atom::Real(0.0), _] | [_, zero @ Atom::Real(0.0)]) => zero.clone(),
            (RealOp::DivZero, [zero @ Atom::Real(0.0), _]) => zero.clone(),
            (_, _) => self.b.called(name).real(op, operands),
        }
    }
}
