//! Coefficients of several infinitesimals, `e² = 0` of each: what is needed where a function that is differentiated is differentiated once
//! more, and only running tells how often.
//!
//! ```text
//! x + x₁ e₁ + x₂ e₂ + x₃ e₁ e₂        x, [x₁, x₂, x₃]
//! ```
//!
//! Of `k` infinitesimals there are 2ᵏ coefficients; that of order 0 is the number itself, the others are the array beside it, whose length
//! `n` is 2ᵏ - 1. The places of the infinitesimals in a product are the bits of the coefficient's place. So the first half is the value
//! without the last infinitesimal, the second half is the tangent along it; and an operation is
//!
//! ```text
//! func cube_sin(n, z, x, xs) = lower half: cube_sin(n / 2, z, x, lower xs);  upper half: upper xs · cos(x, lower xs)
//! ```
//!
//! by its rule, in which the operations are such functions again: so all is computed as forward mode in forward mode does, in its order.
//! Where a tangent is zero, so is what it contributes. With one more infinitesimal ([`super::entry`]), a function is the same function of
//! longer arrays: however deep derivatives are nested, the code is that of one.

use super::SERIES;
use super::family_of;
use super::solve::Primitive;
use crate::{Ad, Code, scalar};
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::Ty;
use wengert_prim::{Expr, RealOp, Rule, rules};

/// A number with its coefficients, if it varies.
#[derive(Clone)]
struct Num {
    value: Atom,
    series: Option<Atom>,
}

/// A tangent, and whether it is zero, if something asked.
type Tangent = (Num, Option<Atom>);

impl Num {
    fn constant(value: Atom) -> Num {
        Num { value, series: None }
    }
}

impl Ad {
    /// The function for an operation of which these arguments vary, as for one infinitesimal; it calls itself.
    pub(super) fn make_cube_primitive(&mut self, own: FuncId, of: Primitive, varying: &[bool]) -> Func {
        let name = match of {
            Primitive::Real(op) => op.name().to_string(),
            Primitive::Power => "power".to_string(),
            Primitive::Polygamma => "polygamma".to_string(),
        };
        let mut code = Code::new(self, &format!("cube_{name}"));
        let n = code.b.param("n".into(), Ty::INT);
        let number = match of {
            Primitive::Real(_) => None,
            Primitive::Power | Primitive::Polygamma => Some(code.b.param("m".into(), Ty::INT)),
        };
        let out = code.b.param("z".into(), Ty::REAL);
        let xs: Vec<Atom> = varying.iter().map(|_| code.b.param("x".into(), Ty::REAL)).collect();
        let series: Vec<Option<Atom>> =
            varying.iter().map(|varies| varies.then(|| code.b.param("xs".into(), SERIES))).collect();
        let cond = code.b.compare(Compare::Eq, n.clone(), Atom::Int(1));
        let whole = Whole { own, of, number, out, xs, series };
        code.b.open();
        let single = whole.single(&mut code);
        let then = code.b.close(vec![single]);
        code.b.open();
        let halves = whole.halves(&mut code, &n);
        let otherwise = code.b.close(vec![halves]);
        let found = code.b.called("zs").typed1(SERIES, Op::If { cond, then, otherwise });
        code.finish(vec![found])
    }
}

/// What an operation is given.
struct Whole {
    own: FuncId,
    of: Primitive,
    number: Option<Atom>,
    out: Atom,
    xs: Vec<Atom>,
    series: Vec<Option<Atom>>,
}

impl Whole {
    /// Of one infinitesimal: the tangent.
    fn single(&self, code: &mut Code<'_>) -> Atom {
        let mut tangents = Vec::new();
        for series in &self.series {
            let tangent = series.as_ref().map(|series| code.coefficient(series, &Atom::Int(0)));
            tangents.push(tangent.map(|tangent| (Num::constant(tangent), None)));
        }
        let args = self.xs.iter().cloned().map(Num::constant).collect();
        let out = Num::constant(self.out.clone());
        let tangent = Rules { code, order: None, args, out, tangents }.tangent(self.of, self.number.as_ref());
        code.b.array(ArrayOp::Literal, [tangent.value])
    }

    /// Of several: the value without the last one, and the tangent along it.
    fn halves(&self, code: &mut Code<'_>, n: &Atom) -> Atom {
        let below = code.b.called("n").int(IntOp::Div, [n.clone(), Atom::Int(2)]);
        let after = code.next(&below);
        let (mut args, mut tangents, mut zeros, mut lower) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (x, series) in self.xs.iter().zip(&self.series) {
            let mut low = None;
            let mut tangent = None;
            if let Some(series) = series {
                let first =
                    code.b.called("xs").array(ArrayOp::Slice, [series.clone(), Atom::Int(0), below.clone()]);
                lower.push(first.clone());
                low = Some(first);
                let value = code.coefficient(series, &below);
                let rest =
                    code.b.called("ts").array(ArrayOp::Slice, [series.clone(), after.clone(), n.clone()]);
                let zero = code.no_tangent(&value, &rest);
                zeros.push(zero.clone());
                tangent = Some((Num { value, series: Some(rest) }, Some(zero)));
            }
            args.push(Num { value: x.clone(), series: low });
            tangents.push(tangent);
        }
        let mut own = vec![below.clone()];
        own.extend(self.number.clone());
        own.push(self.out.clone());
        own.extend(self.xs.iter().cloned());
        own.extend(lower);
        let first = code.b.called("zs").call(self.own, own, &[SERIES]).remove(0);
        let out = Num { value: self.out.clone(), series: Some(first.clone()) };
        let none = code.all_of(zeros);
        let mut rules = Rules { code, order: Some(below), args, out, tangents };
        let tangent = rules.choose(
            none,
            |_| Num::constant(Atom::Real(0.0)),
            |rules| rules.tangent(self.of, self.number.as_ref()),
        );
        let rest = rules.series(&tangent);
        let middle = code.b.array(ArrayOp::Literal, [tangent.value]);
        let upper = code.b.array(ArrayOp::Concat, rest.map_or(vec![], |rest| vec![middle, rest]));
        code.b.called("zs").array(ArrayOp::Concat, [first, upper])
    }
}

impl Code<'_> {
    /// Whether a tangent is zero, with all its coefficients.
    fn no_tangent(&mut self, value: &Atom, series: &Atom) -> Atom {
        // Both ask by functions for that: a zero that varies with something else is none.
        let cond = self.is_zero(value);
        self.b.open();
        let zero = self.is_zero(series);
        let then = self.b.close(vec![zero]);
        self.b.open();
        let otherwise = self.b.close(vec![Atom::Bool(false)]);
        self.b.called("zero").typed1(Ty::BOOL, Op::If { cond, then, otherwise })
    }

    /// The coefficients of what is done with each of them alone: sums, and products and quotients with what does not vary.
    pub(super) fn each_coefficient(
        &mut self,
        op: RealOp,
        order: &Atom,
        args: &[(Atom, Option<Atom>)],
    ) -> Option<Atom> {
        let (op, sides): (RealOp, Vec<Option<Atom>>) = match (op, args) {
            (RealOp::Sub, [_, (_, Some(only))]) if args.iter().any(|(_, series)| series.is_none()) => {
                (RealOp::Neg, vec![Some(only.clone())])
            }
            (RealOp::Neg | RealOp::Sub, _) => (op, args.iter().map(|(_, series)| series.clone()).collect()),
            (RealOp::Mul | RealOp::MulZero, [(_, Some(series)), (factor, None)])
            | (RealOp::Mul | RealOp::MulZero, [(factor, None), (_, Some(series))]) => {
                return Some(self.scaled_series(RealOp::MulZero, order, series, factor));
            }
            (RealOp::Div | RealOp::DivZero, [(_, Some(series)), (divisor, None)]) => {
                return Some(self.scaled_series(RealOp::DivZero, order, series, divisor));
            }
            (_, _) => return None,
        };
        let inputs: Vec<Atom> = sides.into_iter().flatten().collect();
        let names = [("x", Ty::REAL), ("y", Ty::REAL)];
        let rows = self.open_rows(names.get(..inputs.len()).unwrap_or(&names));
        let made = self.b.real(op, rows);
        let body = self.b.close(vec![made]);
        Some(self.each(order.clone(), inputs, Vec::new(), body, &[("zs".into(), SERIES)]).remove(0))
    }

    fn scaled_series(&mut self, op: RealOp, order: &Atom, series: &Atom, by: &Atom) -> Atom {
        let mut rows = self.open_rows(&[("x", Ty::REAL)]);
        rows.push(by.clone());
        let made = self.real(op, rows);
        let body = self.b.close(vec![made]);
        let inputs = vec![series.clone()];
        self.each(order.clone(), inputs, Vec::new(), body, &[("zs".into(), SERIES)]).remove(0)
    }
}

/// Writes down the tangent of an operation: by its rule, on numbers with coefficients of the infinitesimals before.
struct Rules<'a, 'c> {
    code: &'a mut Code<'c>,
    /// How many coefficients those have; `None` if there are none.
    order: Option<Atom>,
    args: Vec<Num>,
    out: Num,
    /// Of the operands that vary.
    tangents: Vec<Option<Tangent>>,
}

impl Rules<'_, '_> {
    fn tangent(&mut self, of: Primitive, number: Option<&Atom>) -> Num {
        match (of, number) {
            (Primitive::Real(op), _) => self.rule(&rules::lookup(op)),
            (Primitive::Power, Some(exponent)) => self.power(of, exponent),
            (Primitive::Polygamma | Primitive::Power, number) => {
                let number = number.cloned().unwrap_or(Atom::Int(0));
                let next = self.code.b.int(IntOp::Add, [number, Atom::Int(1)]);
                let slope = self.member(of, next);
                self.times_tangent(slope)
            }
        }
    }

    /// As for a power whose exponent is known: a first power is what it is of, and the slope of a square is a sum.
    fn power(&mut self, of: Primitive, exponent: &Atom) -> Num {
        let is = |rules: &mut Self, n: i64| rules.code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(n));
        let none = is(self, 0);
        self.choose(
            none,
            |_| Num::constant(Atom::Real(0.0)),
            |rules| {
                let first = is(rules, 1);
                rules.choose(
                    first,
                    |rules| rules.rule(&rules::lookup(RealOp::PowInt(1))),
                    |rules| {
                        let square = is(rules, 2);
                        rules.choose(
                            square,
                            |rules| rules.rule(&rules::lookup(RealOp::PowInt(2))),
                            |rules| {
                                let next = rules.code.b.int(IntOp::Sub, [exponent.clone(), Atom::Int(1)]);
                                let power = rules.member(of, next);
                                let factor = rules.code.as_real(exponent);
                                let slope = rules.real(RealOp::Mul, vec![Num::constant(factor), power]);
                                rules.times_tangent(slope)
                            },
                        )
                    },
                )
            },
        )
    }

    /// One of a kind, of the operand.
    fn member(&mut self, of: Primitive, number: Atom) -> Num {
        let Some(x) = self.args.first().cloned() else { return Num::constant(Atom::Real(0.0)) };
        let value = self.code.member(of, &number, &x.value);
        let series = self.series_of(of, Some(number), &[x], &value);
        Num { value, series }
    }

    /// A slope times the tangent of the operand.
    fn times_tangent(&mut self, slope: Num) -> Num {
        match self.tangents.first().cloned().flatten() {
            Some((tangent, _)) => self.real(RealOp::MulZero, vec![tangent, slope]),
            None => Num::constant(Atom::Real(0.0)),
        }
    }

    fn rule(&mut self, rule: &Rule) -> Num {
        let (terms, divisor) = match rule {
            Rule::Linear { terms, divisor } => (terms, divisor),
            Rule::Case(test, then, otherwise) => {
                let (values, out) = self.values();
                let cond = scalar::test(self.code, test, &values, &out);
                return self.choose(cond, |rules| rules.rule(then), |rules| rules.rule(otherwise));
            }
        };
        let several = self.tangents.iter().flatten().count() > 1;
        let mut sum: Option<Num> = None;
        for term in terms {
            let Some((tangent, zero)) = self.tangents.get(term.arg).cloned().flatten() else { continue };
            let summand = match (&term.coef, zero) {
                (None, _) => tangent,
                (Some(coef), Some(zero)) if several => self.choose(
                    zero,
                    |_| Num::constant(Atom::Real(0.0)),
                    |rules| {
                        let coef = rules.expr(coef);
                        rules.real(RealOp::MulZero, vec![tangent, coef])
                    },
                ),
                (Some(coef), _) => {
                    let coef = self.expr(coef);
                    self.real(RealOp::MulZero, vec![tangent, coef])
                }
            };
            sum = Some(match (sum, term.negative) {
                (None, false) => summand,
                (None, true) => self.real(RealOp::Neg, vec![summand]),
                (Some(sum), false) => self.real(RealOp::Add, vec![sum, summand]),
                (Some(sum), true) => self.real(RealOp::Sub, vec![sum, summand]),
            });
        }
        match (sum, divisor) {
            (None, _) => Num::constant(Atom::Real(0.0)),
            (Some(sum), None) => sum,
            (Some(sum), Some(divisor)) => {
                let divisor = self.expr(divisor);
                self.real(RealOp::DivZero, vec![sum, divisor])
            }
        }
    }

    fn values(&self) -> (Vec<Atom>, Atom) {
        (self.args.iter().map(|arg| arg.value.clone()).collect(), self.out.value.clone())
    }

    fn expr(&mut self, expr: &Expr) -> Num {
        match expr {
            Expr::In(i) => self.args.get(*i).cloned().unwrap_or(Num::constant(Atom::Real(f64::NAN))),
            Expr::Out => self.out.clone(),
            Expr::Const(value) => Num::constant(Atom::Real(*value)),
            Expr::Op(op, operands) => {
                let operands = operands.iter().map(|operand| self.expr(operand)).collect();
                self.real(*op, operands)
            }
            Expr::If(test, then, otherwise) => {
                let (values, out) = self.values();
                let cond = scalar::test(self.code, test, &values, &out);
                self.choose(cond, |rules| rules.expr(then), |rules| rules.expr(otherwise))
            }
        }
    }

    /// Arithmetic.
    fn real(&mut self, op: RealOp, args: Vec<Num>) -> Num {
        if let (RealOp::PowInt(1), [x]) = (op, args.as_slice()) {
            return x.clone();
        }
        let value = self.code.real(op, args.iter().map(|arg| arg.value.clone()).collect());
        let (of, number) = family_of(op);
        let series = self.series_of(of, number, &args, &value);
        Num { value, series }
    }

    fn series_of(&mut self, of: Primitive, number: Option<Atom>, args: &[Num], value: &Atom) -> Option<Atom> {
        let order = self.order.clone()?;
        let args: Vec<(Atom, Option<Atom>)> =
            args.iter().map(|arg| (arg.value.clone(), arg.series.clone())).collect();
        self.code.series_at(&order, of, number, &args, value)
    }

    /// The coefficients of a number, zeros if it does not vary.
    fn series(&mut self, number: &Num) -> Option<Atom> {
        let order = self.order.clone()?;
        let zeros = |rules: &mut Self| {
            rules.code.b.called("zeros").array(ArrayOp::Replicate, [order, Atom::Real(0.0)])
        };
        Some(number.series.clone().unwrap_or_else(|| zeros(self)))
    }

    /// One of two numbers.
    fn choose(
        &mut self,
        cond: Atom,
        then: impl FnOnce(&mut Self) -> Num,
        otherwise: impl FnOnce(&mut Self) -> Num,
    ) -> Num {
        self.code.b.open();
        let number = then(self);
        let series = self.series(&number);
        let then = self.code.b.close(std::iter::once(number.value).chain(series).collect());
        self.code.b.open();
        let number = otherwise(self);
        let series = self.series(&number);
        let otherwise = self.code.b.close(std::iter::once(number.value).chain(series).collect());
        let types = if self.order.is_some() { vec![Ty::REAL, SERIES] } else { vec![Ty::REAL] };
        let mut found = self.code.b.typed(&types, Op::If { cond, then, otherwise }).into_iter();
        Num { value: found.next().unwrap_or(Atom::Real(0.0)), series: found.next() }
    }
}
