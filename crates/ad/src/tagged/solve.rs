//! Operations on series as differential equations: `z = op(x, y)` has `z' = (Σ ± cᵢ·xᵢ') / d`, so `k zₖ` is the coefficient of order `k - 1` of
//! that, which needs `z` only below `k`.
//!
//! Coefficient expressions that do not mention the result are computed once, those that do order by order.

use super::numbers::{Number, Operand};
use super::rules::Point;
use super::work::Work;
use crate::series::{is_direct, mentions_out};
use std::borrow::Cow;
use wengert_ir::op::{Atom, Compare, Convert, IntOp};
use wengert_ir::ty::Ty;
use wengert_prim::{Expr, RealOp, Rule, Term as RuleTerm, rules};

/// A coefficient expression that is known order by order, as the result is.
enum Online<'r> {
    Known(Atom),
    Out,
    /// An operation that needs no rule, with the place of what is known of it among what is carried.
    Op(RealOp, Vec<Online<'r>>, usize),
    /// Any other operation: computed anew for each order.
    Again(&'r Expr),
}

/// A term of a rule.
struct Summand<'r> {
    negative: bool,
    coef: Option<Online<'r>>,
    derivative: Atom,
    /// Whether it is not zero.
    counts: Atom,
}

/// What is solved.
struct Equation<'a> {
    xs: &'a [Atom],
    order: &'a Atom,
    /// One less.
    below: Atom,
    point: Point<'a>,
}

impl Work<'_> {
    /// An operation on numbers without the tag.
    pub(super) fn of_primals(&mut self, of: Number, which: Option<&Atom>, primals: &[Atom]) -> Atom {
        let operand = |primal: &Atom| Operand { primal: primal.clone(), varies: None };
        let operands: Vec<Operand> = primals.iter().map(operand).collect();
        self.inside(of, which, &operands)
    }

    /// All coefficients of the result, from its first, with that in its place.
    pub(super) fn solved(
        &mut self,
        of: Number,
        which: Option<&Atom>,
        order: &Atom,
        (xs, first, begun): (&[Atom], &Atom, Atom),
    ) -> Atom {
        let mut operands = Vec::new();
        for series in xs {
            let primal = self.coefficient(series, &Atom::Int(0));
            operands.push(Operand { primal, varies: None });
        }
        let below = self.b.int(IntOp::Sub, [order.clone(), Atom::Int(1)]);
        let point = Point { operands: &operands, out: first.clone() };
        let equation = Equation { xs, order, below, point };
        match of {
            Number::Real(op) => {
                let rule: Cow<'static, Rule> = rules::lookup(op);
                self.solved_by(&equation, &rule, &begun)
            }
            Number::Power | Number::Polygamma => self.solved_by_slope(&equation, (of, which), &begun),
        }
    }

    fn solved_by(&mut self, equation: &Equation<'_>, rule: &Rule, begun: &Atom) -> Atom {
        match rule {
            Rule::Case(test, then, otherwise) => {
                let cond = self.test(&equation.point, test);
                self.choose_series(
                    cond,
                    |work| work.solved_by(equation, then, begun),
                    |work| work.solved_by(equation, otherwise, begun),
                )
            }
            Rule::Linear { terms, divisor } => {
                let mut carried = Vec::new();
                let mut summands = Vec::new();
                for term in terms {
                    summands.push(self.summand(equation, term, &mut carried));
                }
                let always = Atom::Bool(true);
                let divisor =
                    divisor.as_ref().map(|divisor| self.online(equation, divisor, &always, &mut carried));
                self.solve(equation, &summands, divisor.as_ref(), (begun.clone(), carried))
            }
        }
    }

    /// The slope of a power or a polygamma function does not mention the result.
    fn solved_by_slope(
        &mut self,
        equation: &Equation<'_>,
        (of, which): (Number, Option<&Atom>),
        begun: &Atom,
    ) -> Atom {
        let n = which.cloned().unwrap_or(Atom::Int(0));
        let zero = self.b.compare(Compare::Eq, n.clone(), Atom::Int(0));
        let constant = if of == Number::Power { zero } else { Atom::Bool(false) };
        self.choose_series(
            constant,
            |_| begun.clone(),
            |work| {
                let x = equation.xs.first().cloned().unwrap_or(Atom::Unit);
                let derivative = work.derivative_of(&x, equation.order);
                let xs = std::slice::from_ref(&x);
                let slope = if of == Number::Polygamma {
                    let next = work.one_more(&n);
                    work.operation(of, Some(&next), &equation.below, xs)
                } else {
                    let before = work.b.int(IntOp::Sub, [n.clone(), Atom::Int(1)]);
                    let power = work.operation(of, Some(&before), &equation.below, xs);
                    let factor = work.b.convert(Convert::IntToReal, n.clone());
                    let factor = work.plain(factor);
                    let zeros = work.zeros(equation.order.clone());
                    let factor = work.with_coefficient(&zeros, &Atom::Int(0), factor);
                    work.operation(Number::Real(RealOp::Mul), None, &equation.below, &[factor, power])
                };
                let coef = Some(Online::Known(slope));
                let summand = Summand { negative: false, coef, derivative, counts: Atom::Bool(true) };
                work.solve(equation, &[summand], None, (begun.clone(), Vec::new()))
            },
        )
    }

    fn summand<'r>(
        &mut self,
        equation: &Equation<'_>,
        term: &'r RuleTerm,
        carried: &mut Vec<Atom>,
    ) -> Summand<'r> {
        let series = equation.xs.get(term.arg).cloned().unwrap_or(Atom::Unit);
        let derivative = self.derivative_of(&series, equation.order);
        let zero = self.all_zero(&derivative, equation.order.clone(), 0);
        let counts = self.b.typed1(Ty::BOOL, wengert_ir::Op::Not(zero));
        let coef = term.coef.as_ref().map(|coef| self.online(equation, coef, &counts, carried));
        Summand { negative: term.negative, coef, derivative, counts }
    }

    /// The derivative of a series, one order lower.
    fn derivative_of(&mut self, series: &Atom, order: &Atom) -> Atom {
        let zeros = self.zeros(order.clone());
        let found = self.carrying(order.clone(), Vec::new(), vec![zeros], &[], |work, i, carried, _| {
            let k = work.one_more(&i);
            let x = work.coefficient(series, &k);
            let zero = work.is_zero(&x);
            let first = work.b.compare(Compare::Eq, k.clone(), Atom::Int(1));
            let same = work.b.select(zero, Atom::Bool(true), first);
            let found = work.choose_number(
                same,
                |_| x.clone(),
                |work| {
                    let factor = work.b.convert(Convert::IntToReal, k);
                    let factor = work.plain(factor);
                    work.real(RealOp::Mul, &[x.clone(), factor])
                },
            );
            let all = carried.first().cloned().unwrap_or(Atom::Unit);
            (vec![work.with_coefficient(&all, &i, found)], Vec::new())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// Prepares an expression, if it counts; parts that do not mention the result are computed.
    fn online<'r>(
        &mut self,
        equation: &Equation<'_>,
        expr: &'r Expr,
        counts: &Atom,
        carried: &mut Vec<Atom>,
    ) -> Online<'r> {
        if !mentions_out(expr) {
            let zeros = self.zeros(equation.order.clone());
            return Online::Known(self.choose_series(
                counts.clone(),
                |work| work.expansion(equation, expr, None, &equation.below),
                |_| zeros,
            ));
        }
        match expr {
            Expr::Out => Online::Out,
            Expr::Op(op, operands) if is_direct(*op) => {
                let operands =
                    operands.iter().map(|operand| self.online(equation, operand, counts, carried)).collect();
                let zeros = self.zeros(equation.order.clone());
                carried.push(zeros);
                Online::Op(*op, operands, carried.len() - 1)
            }
            Expr::Op(..) | Expr::If(..) | Expr::In(_) | Expr::Const(_) => Online::Again(expr),
        }
    }

    /// The series of an expression up to an order, given that of the result as far as it needs that.
    fn expansion(&mut self, equation: &Equation<'_>, expr: &Expr, out: Option<&Atom>, order: &Atom) -> Atom {
        match expr {
            Expr::In(i) => equation.xs.get(*i).cloned().unwrap_or(Atom::Unit),
            Expr::Out => out.cloned().unwrap_or(Atom::Unit),
            Expr::Const(value) => {
                let count = self.one_more(order);
                let zeros = self.zeros(count);
                let value = self.plain(Atom::Real(*value));
                self.with_coefficient(&zeros, &Atom::Int(0), value)
            }
            Expr::Op(op, operands) => {
                let xs: Vec<Atom> =
                    operands.iter().map(|operand| self.expansion(equation, operand, out, order)).collect();
                self.operation_on_series(*op, order, &xs)
            }
            Expr::If(test, then, otherwise) => {
                let cond = self.test(&equation.point, test);
                self.choose_series(
                    cond,
                    |work| work.expansion(equation, then, out, order),
                    |work| work.expansion(equation, otherwise, out, order),
                )
            }
        }
    }

    /// The coefficients up to order `k`, when those of the result up to that are known.
    fn up_to(
        &mut self,
        equation: &Equation<'_>,
        online: &Online<'_>,
        (result, k): (&Atom, &Atom),
        known: &mut Vec<Atom>,
    ) -> Atom {
        match online {
            Online::Known(series) => series.clone(),
            Online::Out => result.clone(),
            Online::Again(expr) => self.expansion(equation, expr, Some(result), k),
            Online::Op(op, operands, place) => {
                let mut xs = Vec::new();
                for operand in operands {
                    xs.push(self.up_to(equation, operand, (result, k), known));
                }
                let so_far = known.get(*place).cloned().unwrap_or(Atom::Unit);
                let first = self.b.compare(Compare::Eq, k.clone(), Atom::Int(0));
                let next = self.choose_number(
                    first,
                    |work| {
                        let primals: Vec<Atom> =
                            xs.iter().map(|series| work.coefficient(series, &Atom::Int(0))).collect();
                        work.real(*op, &primals)
                    },
                    |work| work.direct(*op, &xs, &so_far, k),
                );
                let series = self.with_coefficient(&so_far, k, next);
                if let Some(place) = known.get_mut(*place) {
                    *place = series.clone();
                }
                series
            }
        }
    }

    /// Order by order.
    fn solve(
        &mut self,
        equation: &Equation<'_>,
        summands: &[Summand<'_>],
        divisor: Option<&Online<'_>>,
        (begun, carried): (Atom, Vec<Atom>),
    ) -> Atom {
        let quotient = self.zeros(equation.order.clone());
        let init = [begun, quotient].into_iter().chain(carried).collect();
        let order = equation.order.clone();
        let found = self.carrying(order, Vec::new(), init, &[], |work, k, carried, _| {
            let [result, quotient, known @ ..] = carried else { return (Vec::new(), Vec::new()) };
            let mut known = known.to_vec();
            let mut sum = work.plain(Atom::Real(0.0));
            for summand in summands {
                sum = work.with_summand(equation, summand, (&sum, result, &k), &mut known);
            }
            if let Some(divisor) = divisor {
                let divisor = work.up_to(equation, divisor, (result, &k), &mut known);
                sum = work.without_products(&sum, &divisor, quotient, &k);
            }
            let next = work.one_more(&k);
            let quotient = work.with_coefficient(quotient, &k, sum.clone());
            let factor = work.b.convert(Convert::IntToReal, next.clone());
            let factor = work.plain(factor);
            let coef = work.divided(&sum, &factor);
            let result = work.with_coefficient(result, &next, coef);
            ([result, quotient].into_iter().chain(known).collect(), Vec::new())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A sum with a summand, if that counts.
    fn with_summand(
        &mut self,
        equation: &Equation<'_>,
        summand: &Summand<'_>,
        (sum, result, k): (&Atom, &Atom, &Atom),
        known: &mut Vec<Atom>,
    ) -> Atom {
        let series = self.series_ty();
        let types: Vec<Ty> = [self.to.num()].into_iter().chain(known.iter().map(|_| series)).collect();
        let before = known.clone();
        let mut found = self.choose(
            summand.counts.clone(),
            &types,
            |work| {
                let mut known = before.clone();
                let found = match &summand.coef {
                    Some(coef) => {
                        let coef = work.up_to(equation, coef, (result, k), &mut known);
                        work.tangent_convolution(&summand.derivative, &coef, k)
                    }
                    None => work.coefficient(&summand.derivative, k),
                };
                let found = if summand.negative { work.negated(&found) } else { found };
                [work.plus(sum, &found)].into_iter().chain(known).collect()
            },
            |_| [sum.clone()].into_iter().chain(before.clone()).collect(),
        );
        *known = found.split_off(1.min(found.len()));
        found.pop().unwrap_or(Atom::Unit)
    }

    /// What is left of a sum without the products of the divisor with the quotient so far, divided.
    fn without_products(&mut self, sum: &Atom, divisor: &Atom, quotient: &Atom, k: &Atom) -> Atom {
        let init = vec![sum.clone()];
        let found = self.carrying(k.clone(), Vec::new(), init, &[], |work, i, carried, _| {
            let j = work.one_more(&i);
            let rest = work.b.int(IntOp::Sub, [k.clone(), j.clone()]);
            let (d, q) = (work.coefficient(divisor, &j), work.coefficient(quotient, &rest));
            let [none, nothing] = [&d, &q].map(|x| work.is_zero(x));
            let skips = work.b.select(none, Atom::Bool(true), nothing);
            let product = work.choose_number(
                skips,
                |work| work.plain(Atom::Real(0.0)),
                |work| work.real(RealOp::Mul, &[d.clone(), q.clone()]),
            );
            let product = work.negated(&product);
            let sum = carried.first().cloned().unwrap_or(Atom::Unit);
            (vec![work.plus(&sum, &product)], Vec::new())
        });
        let sum = found.into_iter().next().unwrap_or(Atom::Unit);
        let first = self.coefficient(divisor, &Atom::Int(0));
        self.divided(&sum, &first)
    }
}
