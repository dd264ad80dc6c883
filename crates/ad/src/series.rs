//! Arithmetic on truncated power series, written out: a real that varies is `x₀ + x₁ t + … + xₙ tⁿ`, each coefficient a variable
//! of its own (those from order 1 on are its tangents), so that the code of an operation grows with the square of the order.
//!
//! ```text
//! z = x * y        z₂ = x₀ y₂ + x₁ y₁ + x₂ y₀
//! z = exp x        z₂ = (z₁ x₁ + z₀ (2 x₂)) / 2            from its rule, z' = z x'
//! ```
//!
//! Sums and products are made coefficient by coefficient; every other operation `z = op(x, y)` is solved as the differential
//! equation that its rule is: with `z' = (Σ ± cᵢ xᵢ') / d`, the coefficient `k` of `z` needs those of `c`, `d` and `z` below `k`. The
//! expressions `c` and `d` are [`Node`]s as the operation itself, whose coefficients are computed when somebody asks for them.
//! What is added up in which order is as in the interpreter. A coefficient that is zero for sure is `None`.
//!
//! Cases of a rule depend on the coefficients of order 0. Where one is met that is not decided, all is written out
//! in both branches ([`Powers::solve`]).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "sums and quotients are named, what else needs no rule is a product"
)]

use crate::{BEYOND, Code, scalar};
use std::rc::Rc;
use wengert_ir::Ty;
use wengert_ir::op::{Atom, Compare, Convert, IntOp, Op};
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

/// A summand of a rule: whether it is subtracted, the coefficient, and the operand.
type Summand = (bool, Option<usize>, usize);

enum Kind {
    /// It is there.
    Given,
    /// Sums, products and quotients.
    Direct(RealOp, Vec<usize>),
    /// The solution of a rule, and the divisor.
    Rule(Rc<Vec<Summand>>, Option<usize>),
}

/// A series under way.
struct Node {
    kind: Kind,
    coefs: Series,
    /// Of a rule with a divisor: the coefficients of the derivative.
    quotient: Series,
    /// The coefficients of its derivative, as far as they were asked for.
    slopes: Series,
}

/// A comparison.
type Question = (Compare, Atom, Atom);

/// A case that is not decided: its condition.
struct Undecided(Atom);

/// Writes the code of an operation on series.
pub(crate) struct Powers<'a, 'c> {
    code: &'a mut Code<'c>,
    /// The operation, its operands, and its value.
    operation: &'a Operation,
    args: &'a [Series],
    out: &'a Atom,
    orders: usize,
    /// How the cases were decided that are met one after the other.
    decided: Vec<bool>,
    /// Those that were met so far.
    asked: Vec<(Question, bool)>,
    nodes: Vec<Node>,
}

/// The coefficients from order 1 on of the result of an operation, whose value is `out`.
pub(crate) fn coefficients(
    code: &mut Code<'_>,
    operation: &Operation,
    args: &[Series],
    out: &Atom,
    orders: usize,
) -> Series {
    let (decided, asked, nodes) = (Vec::new(), Vec::new(), Vec::new());
    Powers { code, operation, args, out, orders, decided, asked, nodes }.solve()
}

impl Powers<'_, '_> {
    fn solve(&mut self) -> Series {
        wengert_ir::stop::check();
        if self.code.ad.is_full() {
            self.code.fail(&[], BEYOND);
            return vec![None; self.orders];
        }
        self.nodes.clear();
        self.asked.clear();
        match self.root() {
            Ok(root) => (1..=self.orders).map(|k| self.coef(root, k)).collect(),
            Err(Undecided(cond)) => self.branch(cond),
        }
    }

    /// The result of one of both branches of a case.
    fn branch(&mut self, cond: Atom) -> Series {
        let [then, otherwise] = [true, false].map(|decision| {
            self.decided.push(decision);
            self.code.b.open();
            let series = self.solve();
            let block = self.code.b.close(Vec::new());
            self.decided.pop();
            (series, block)
        });
        let ((some, mut then), (other, mut otherwise)) = (then, otherwise);
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

    fn root(&mut self) -> Result<usize, Undecided> {
        let args: Vec<usize> =
            self.args.iter().map(|series| self.push(Kind::Given, series.clone())).collect();
        let (orders, out) = (self.orders, Some(self.out.clone()));
        match self.operation.clone() {
            Operation::Real(op) => self.real(op, args, out, orders),
            Operation::Power(exponent) => Ok(self.power(&exponent, 0, &args, out, orders)),
            Operation::Polygamma(order) => Ok(self.polygamma(&order, 0, &args, out, orders)),
        }
    }

    fn push(&mut self, kind: Kind, coefs: Series) -> usize {
        self.nodes.push(Node { kind, coefs, quotient: Vec::new(), slopes: Vec::new() });
        self.nodes.len() - 1
    }

    fn constant(&mut self, value: Atom) -> usize {
        self.push(Kind::Given, vec![Some(value)])
    }

    /// The value of a series.
    fn value(&mut self, node: usize) -> Atom {
        self.coef(node, 0).unwrap_or(Atom::Real(0.0))
    }

    fn is_constant(&self, node: usize) -> bool {
        let given =
            |node: &Node| matches!(node.kind, Kind::Given) && node.coefs.iter().skip(1).all(Option::is_none);
        self.nodes.get(node).is_some_and(given)
    }

    /// Arithmetic, up to an order; its value, if it is known.
    fn real(
        &mut self,
        op: RealOp,
        args: Vec<usize>,
        out: Option<Atom>,
        order: usize,
    ) -> Result<usize, Undecided> {
        if let (RealOp::PowInt(1), [x]) = (op, args.as_slice()) {
            return Ok(*x);
        }
        let values: Vec<Atom> = args.iter().map(|arg| self.value(*arg)).collect();
        let out = out.unwrap_or_else(|| self.code.real(op, values.clone()));
        if order == 0 || args.iter().all(|arg| self.is_constant(*arg)) {
            return Ok(self.constant(out));
        }
        if is_direct(op) {
            return Ok(self.push(Kind::Direct(op, args), vec![Some(out)]));
        }
        // The node is there before its rule, which may mention it.
        let node = self.push(Kind::Rule(Rc::default(), None), vec![Some(out.clone())]);
        let rule = rules::lookup(op);
        let mut rule: &Rule = &rule;
        let (terms, divisor) = loop {
            match rule {
                Rule::Linear { terms, divisor } => break (terms, divisor),
                Rule::Case(test, then, otherwise) => {
                    rule = if self.decide(test, &values, &out)? { then } else { otherwise };
                }
            }
        };
        let mut summands = Vec::new();
        for term in terms {
            let Some(arg) = args.get(term.arg).copied().filter(|arg| !self.is_constant(*arg)) else {
                continue;
            };
            let coef = match &term.coef {
                Some(coef) => Some(self.expr(coef, &args, node, order - 1)?),
                None => None,
            };
            summands.push((term.negative, coef, arg));
        }
        let divisor = match divisor.as_ref().filter(|_| !summands.is_empty()) {
            Some(divisor) => Some(self.expr(divisor, &args, node, order - 1)?),
            None => None,
        };
        self.set(node, Kind::Rule(Rc::new(summands), divisor));
        Ok(node)
    }

    fn set(&mut self, node: usize, kind: Kind) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.kind = kind;
        }
    }

    /// Whether a case applies. What is asked once more has the answer that it had.
    fn decide(&mut self, test: &Test, values: &[Atom], out: &Atom) -> Result<bool, Undecided> {
        let (op, a, b) = match test {
            Test::Eq(a, b) => (Compare::Eq, a, b),
            Test::Lt(a, b) => (Compare::Lt, a, b),
            Test::Le(a, b) => (Compare::Le, a, b),
            Test::Or(a, b) => return Ok(self.decide(a, values, out)? || self.decide(b, values, out)?),
        };
        let [a, b] = [a, b].map(|side| scalar::value(self.code, side, values, out));
        if let (Atom::Real(_), Atom::Real(_)) = (&a, &b) {
            return Ok(test.holds(&known(values), known(std::slice::from_ref(out)).remove(0)));
        }
        let question = (op, a, b);
        if let Some((_, answer)) = self.asked.iter().find(|(asked, _)| *asked == question) {
            return Ok(*answer);
        }
        match self.decided.get(self.asked.len()) {
            Some(answer) => {
                self.asked.push((question, *answer));
                Ok(*answer)
            }
            None => Err(Undecided(self.code.b.compare(op, question.1, question.2))),
        }
    }

    /// An expression of a rule.
    fn expr(&mut self, expr: &Expr, args: &[usize], out: usize, order: usize) -> Result<usize, Undecided> {
        match expr {
            Expr::In(i) => Ok(args.get(*i).copied().unwrap_or(out)),
            Expr::Out => Ok(out),
            Expr::Const(value) => Ok(self.constant(Atom::Real(*value))),
            Expr::Op(op, operands) => {
                let operands: Vec<usize> = operands
                    .iter()
                    .map(|operand| self.expr(operand, args, out, order))
                    .collect::<Result<_, _>>()?;
                self.real(*op, operands, None, order)
            }
            Expr::If(test, then, otherwise) => {
                let values: Vec<Atom> = args.iter().map(|arg| self.value(*arg)).collect();
                let value = self.value(out);
                let chosen = if self.decide(test, &values, &value)? { then } else { otherwise };
                self.expr(chosen, args, out, order)
            }
        }
    }

    /// `x ^ (n - less)`, whose derivative is `(n - less) x ^ (n - less - 1)`; that is 0 for the exponent 0 whatever `x` is.
    fn power(
        &mut self,
        exponent: &Atom,
        less: i64,
        args: &[usize],
        out: Option<Atom>,
        order: usize,
    ) -> usize {
        let Some(base) = args.first().copied() else { return self.constant(Atom::Real(f64::NAN)) };
        let own = match less {
            0 => exponent.clone(),
            _ => self.code.b.int(IntOp::Sub, [exponent.clone(), Atom::Int(less)]),
        };
        let value = out.unwrap_or_else(|| {
            let base = self.value(base);
            self.code.b.typed1(Ty::REAL, Op::Power { base, exponent: own.clone() })
        });
        if order == 0 {
            return self.constant(value);
        }
        let factor = self.code.b.convert(Convert::IntToReal, own);
        let factor = self.constant(factor);
        let power = self.power(exponent, less + 1, args, None, order - 1);
        let both = [factor, power].map(|node| self.value(node)).to_vec();
        let slope = self.code.real(RealOp::MulZero, both);
        let coef = self.push(Kind::Direct(RealOp::MulZero, vec![factor, power]), vec![Some(slope)]);
        self.push(Kind::Rule(Rc::new(vec![(false, Some(coef), base)]), None), vec![Some(value)])
    }

    /// `polygamma (n + more) x`, whose derivative is `polygamma (n + more + 1) x`.
    fn polygamma(
        &mut self,
        order: &Atom,
        more: i64,
        args: &[usize],
        out: Option<Atom>,
        orders: usize,
    ) -> usize {
        let Some(x) = args.first().copied() else { return self.constant(Atom::Real(f64::NAN)) };
        let value = out.unwrap_or_else(|| {
            let order = self.code.b.int(IntOp::Add, [order.clone(), Atom::Int(more)]);
            let x = self.value(x);
            self.code.b.typed1(Ty::REAL, Op::Polygamma { order, x })
        });
        if orders == 0 {
            return self.constant(value);
        }
        let coef = self.polygamma(order, more + 1, args, None, orders - 1);
        self.push(Kind::Rule(Rc::new(vec![(false, Some(coef), x)]), None), vec![Some(value)])
    }

    /// A coefficient; those below are there, or are computed.
    fn coef(&mut self, node: usize, k: usize) -> Option<Atom> {
        loop {
            let known = self.nodes.get(node)?;
            if let Some(coef) = known.coefs.get(k) {
                return coef.clone();
            }
            let next = known.coefs.len();
            let coef = match &known.kind {
                Kind::Given => return None,
                Kind::Direct(op, args) => {
                    let (op, args) = (*op, args.clone());
                    self.direct(op, &args, node, next)
                }
                Kind::Rule(summands, divisor) => {
                    let (summands, divisor) = (Rc::clone(summands), *divisor);
                    self.solved(&summands, divisor, node, next)
                }
            };
            if let Some(node) = self.nodes.get_mut(node) {
                node.coefs.push(coef);
            }
        }
    }

    /// Coefficient `k`, 1 or more, of a sum, a product or a quotient.
    fn direct(&mut self, op: RealOp, args: &[usize], own: usize, k: usize) -> Option<Atom> {
        let x = args.first().copied()?;
        let y = args.get(1).copied().unwrap_or(x);
        match op {
            RealOp::Add | RealOp::Sub => {
                let (a, b) = (self.coef(x, k), self.coef(y, k));
                self.sum(a, op == RealOp::Sub, b)
            }
            RealOp::Neg => {
                let a = self.coef(x, k);
                self.sum(None, true, a)
            }
            RealOp::Div | RealOp::DivZero => {
                let rest = self.convolution(y, own, k, 1);
                let a = self.coef(x, k);
                let sum = self.sum(a, true, rest)?;
                let divisor = self.value(y);
                Some(self.code.real(RealOp::DivZero, vec![sum, divisor]))
            }
            _ => self.convolution(x, y, k, 0),
        }
    }

    /// `Σ aᵢ b₍ₖ₋ᵢ₎` for `i` from `from` to `k`.
    fn convolution(&mut self, a: usize, b: usize, k: usize, from: usize) -> Option<Atom> {
        let mut sum = None;
        for i in from..=k {
            let (x, y) = (self.coef(a, i), self.coef(b, k - i));
            let (tangent, factor) = if i == 0 { (y, x) } else { (x, y) };
            let product = self.product(tangent, factor);
            sum = self.sum(sum, false, product);
        }
        sum
    }

    /// Coefficient `k`, 1 or more, of what solves a rule.
    fn solved(&mut self, summands: &[Summand], divisor: Option<usize>, own: usize, k: usize) -> Option<Atom> {
        let below = k - 1;
        let mut sum = None;
        for (negative, coef, arg) in summands {
            let summand = match coef {
                Some(coef) => {
                    let mut inner = None;
                    for i in 0..=below {
                        let (tangent, factor) = (self.slope(*arg, i), self.coef(*coef, below - i));
                        let product = self.product(tangent, factor);
                        inner = self.sum(inner, false, product);
                    }
                    inner
                }
                None => self.slope(*arg, below),
            };
            sum = self.sum(sum, *negative, summand);
        }
        if let Some(divisor) = divisor {
            for i in 1..=below {
                let quotient = self.nodes.get(own).and_then(|node| node.quotient.get(below - i)?.clone());
                let tangent = self.coef(divisor, i);
                let product = self.product(tangent, quotient);
                sum = self.sum(sum, true, product);
            }
            if let Some(found) = sum {
                let divisor = self.value(divisor);
                sum = Some(self.code.real(RealOp::DivZero, vec![found, divisor]));
            }
        }
        if let Some(node) = self.nodes.get_mut(own) {
            node.quotient.push(sum.clone());
        }
        let k = Atom::Real(k as f64);
        sum.map(|sum| self.code.real(RealOp::DivZero, vec![sum, k]))
    }

    /// Coefficient `k` of the derivative of a series.
    fn slope(&mut self, node: usize, k: usize) -> Option<Atom> {
        loop {
            let slopes = &self.nodes.get(node)?.slopes;
            if let Some(slope) = slopes.get(k) {
                return slope.clone();
            }
            let next = slopes.len() + 1;
            let coef = self.coef(node, next);
            let slope = match next {
                1 => coef,
                _ => coef.map(|coef| self.code.real(RealOp::Mul, vec![coef, Atom::Real(next as f64)])),
            };
            if let Some(node) = self.nodes.get_mut(node) {
                node.slopes.push(slope);
            }
        }
    }

    /// A product, in which zeros are strong.
    fn product(&mut self, tangent: Option<Atom>, factor: Option<Atom>) -> Option<Atom> {
        let (tangent, factor) = (tangent?, factor?);
        self.code.ad.written += 1;
        let product = self.code.real(RealOp::MulZero, vec![tangent, factor]);
        (product != Atom::Real(0.0)).then_some(product)
    }

    fn sum(&mut self, a: Option<Atom>, negative: bool, b: Option<Atom>) -> Option<Atom> {
        match (a, b) {
            (a, None) => a,
            (None, Some(b)) if negative => Some(self.code.real(RealOp::Neg, vec![b])),
            (None, Some(b)) => Some(b),
            (Some(a), Some(b)) => {
                let op = if negative { RealOp::Sub } else { RealOp::Add };
                Some(self.code.real(op, vec![a, b]))
            }
        }
    }
}

/// Numbers, where they are known.
fn known(atoms: &[Atom]) -> Vec<f64> {
    atoms.iter().map(|atom| if let Atom::Real(value) = atom { *value } else { f64::NAN }).collect()
}

/// Whether the coefficients need no rule.
fn is_direct(op: RealOp) -> bool {
    let sums = matches!(op, RealOp::Add | RealOp::Sub | RealOp::Neg);
    let quotients = matches!(op, RealOp::Div | RealOp::DivZero);
    sums || quotients || matches!(op, RealOp::Mul | RealOp::MulZero | RealOp::PowInt(2))
}
