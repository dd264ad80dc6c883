//! How the result of an operation varies under a tag: by its rule, in the interpreter's order.

use super::numbers::{Number, Operand};
use super::tapes::Term;
use super::work::{NOTED, Work};
use std::borrow::Cow;
use wengert_ir::op::{Atom, Compare, Convert, IntOp, Op};
use wengert_ir::ty::Ty;
use wengert_prim::{Expr, RealOp, Rule, Term as RuleTerm, Test, rules};

/// What the expressions of a rule are about.
pub(super) struct Point<'a> {
    pub(super) operands: &'a [Operand],
    pub(super) out: Atom,
}

/// What comes out of one of the cases of a rule.
type Case<'a> = dyn FnMut(&mut Work<'_>, &[RuleTerm], Option<&Expr>) -> Atom + 'a;

impl Work<'_> {
    /// Value and tangent.
    pub(super) fn forward(
        &mut self,
        of: Number,
        which: Option<&Atom>,
        tag: &Atom,
        operands: &[Operand],
    ) -> Atom {
        let out = self.inside(of, which, operands);
        let point = Point { operands, out: out.clone() };
        let tangent = match of {
            Number::Real(op) => {
                let rule: Cow<'static, Rule> = rules::lookup(op);
                self.by_cases(&rule, &point, &mut |work, terms, divisor| work.tangent(&point, terms, divisor))
            }
            Number::Power | Number::Polygamma => {
                let slope = self.slope(of, which, operands);
                let tangent = operands.first().and_then(|operand| operand.varies.clone());
                self.real(RealOp::MulZero, &[tangent.unwrap_or(Atom::Unit), slope])
            }
        };
        self.with_tangent(tag, &out, &tangent)
    }

    /// Value and slot.
    pub(super) fn reverse(
        &mut self,
        of: Number,
        which: Option<&Atom>,
        (tag, at): (&Atom, &Atom),
        operands: &[Operand],
    ) -> Atom {
        if !self.to.goes_back {
            let num = self.to.num();
            return self.never(num);
        }
        let (operands, mark) = self.linearity(of, operands);
        let (operands, mark) = (operands.as_slice(), mark.as_ref());
        let out = self.inside(of, which, operands);
        let point = Point { operands, out: out.clone() };
        match of {
            Number::Real(op) => {
                let rule: Cow<'static, Rule> = rules::lookup(op);
                let is_case = matches!(*rule, Rule::Case(..));
                self.by_cases(&rule, &point, &mut |work, terms, divisor| {
                    let mut noted = Vec::new();
                    for term in terms {
                        let slot = operands.get(term.arg).and_then(|operand| operand.varies.clone());
                        let Some(slot) = slot else { continue };
                        let coef = term.coef.as_ref().map(|coef| work.expr(&point, coef));
                        noted.push(Term { slot, negative: term.negative, coef });
                    }
                    if noted.is_empty() {
                        return point.out.clone();
                    }
                    let divisor = divisor.map(|divisor| work.expr(&point, divisor));
                    work.noted(&point.out, (tag, at), (noted, divisor, mark), is_case)
                })
            }
            Number::Power | Number::Polygamma => {
                let slope = self.slope(of, which, operands);
                let slot = operands.first().and_then(|operand| operand.varies.clone());
                let term = Term { slot: slot.unwrap_or(Atom::Unit), negative: false, coef: Some(slope) };
                self.noted(&out, (tag, at), (vec![term], None, mark), false)
            }
        }
    }

    /// A number in the slot that an entry on the tape makes.
    fn noted(
        &mut self,
        out: &Atom,
        (tag, at): (&Atom, &Atom),
        (terms, divisor, mark): (Vec<Term>, Option<Atom>, Option<&Atom>),
        apart: bool,
    ) -> Atom {
        let number = self.to.number;
        let slot = match (terms.as_slice(), &divisor, apart) {
            ([Term { slot, negative: false, coef: None }], None, false) => slot.clone(),
            (_, _, _) => self.note(at, terms, divisor),
        };
        let slot = self.marked_if(mark, slot);
        self.b.make(number, NOTED, [tag.clone(), out.clone(), at.clone(), slot])
    }

    /// The slope of a power, or of a polygamma function.
    fn slope(&mut self, of: Number, which: Option<&Atom>, operands: &[Operand]) -> Atom {
        let n = which.cloned().unwrap_or(Atom::Int(0));
        let x = operands.first().map_or(Atom::Unit, |operand| operand.primal.clone());
        if of == Number::Polygamma {
            let next = self.one_more(&n);
            return self.numbered(of, next, &x);
        }
        let two = self.b.compare(Compare::Eq, n.clone(), Atom::Int(2));
        self.choose_number(
            two,
            |work| work.real(RealOp::Add, &[x.clone(), x.clone()]),
            |work| {
                let before = work.b.int(IntOp::Sub, [n.clone(), Atom::Int(1)]);
                let power = work.numbered(of, before, &x);
                let factor = work.b.convert(Convert::IntToReal, n.clone());
                let factor = work.plain(factor);
                work.real(RealOp::Mul, &[factor, power])
            },
        )
    }

    /// The cases of a rule; what is in common is a number.
    fn by_cases(&mut self, rule: &Rule, point: &Point<'_>, case: &mut Case<'_>) -> Atom {
        match rule {
            Rule::Linear { terms, divisor } => case(self, terms, divisor.as_ref()),
            Rule::Case(test, then, otherwise) => {
                let cond = self.test(point, test);
                let before = self.state();
                self.b.open();
                let found = self.by_cases(then, point, case);
                let then = self.close_side(found);
                self.set_state(before.clone());
                self.b.open();
                let found = self.by_cases(otherwise, point, case);
                let otherwise = self.close_side(found);
                self.set_state(before);
                let num = self.to.num();
                let types: Vec<Ty> = self.state_types().into_iter().chain([num]).collect();
                let found = self.b.typed(&types, Op::If { cond, then, otherwise });
                self.take_state(found).into_iter().next().unwrap_or(Atom::Unit)
            }
        }
    }

    /// The tangent in one case; none if nothing of it varies.
    fn tangent(&mut self, point: &Point<'_>, terms: &[RuleTerm], divisor: Option<&Expr>) -> Atom {
        let mut sum: Option<Atom> = None;
        for negative in [false, true] {
            for term in terms.iter().filter(|term| term.negative == negative) {
                let tangent = point.operands.get(term.arg).and_then(|operand| operand.varies.clone());
                let Some(tangent) = tangent else { continue };
                let summand = match &term.coef {
                    Some(coef) => {
                        let coef = self.expr(point, coef);
                        self.real(RealOp::MulZero, &[tangent, coef])
                    }
                    None => tangent,
                };
                sum = Some(match (sum, negative) {
                    (None, false) => summand,
                    (None, true) => self.real(RealOp::Neg, &[summand]),
                    (Some(sum), false) => self.real(RealOp::Add, &[sum, summand]),
                    (Some(sum), true) => self.real(RealOp::Sub, &[sum, summand]),
                });
            }
        }
        match (sum, divisor) {
            (Some(sum), Some(divisor)) => {
                let divisor = self.expr(point, divisor);
                self.real(RealOp::DivZero, &[sum, divisor])
            }
            (Some(sum), None) => sum,
            (None, _) => self.none(),
        }
    }

    fn expr(&mut self, point: &Point<'_>, expr: &Expr) -> Atom {
        match expr {
            Expr::In(i) => match point.operands.get(*i) {
                Some(operand) => operand.primal.clone(),
                None => self.plain(Atom::Real(f64::NAN)),
            },
            Expr::Out => point.out.clone(),
            Expr::Const(value) => self.plain(Atom::Real(*value)),
            Expr::Op(op, operands) => {
                let args: Vec<Atom> = operands.iter().map(|operand| self.expr(point, operand)).collect();
                self.real(*op, &args)
            }
            Expr::If(test, then, otherwise) => {
                let cond = self.test(point, test);
                self.choose_number(cond, |work| work.expr(point, then), |work| work.expr(point, otherwise))
            }
        }
    }

    /// Whether a test holds of the innermost numbers.
    pub(super) fn test(&mut self, point: &Point<'_>, test: &Test) -> Atom {
        let (op, left, right) = match test {
            Test::Eq(left, right) => (Compare::Eq, left, right),
            Test::Lt(left, right) => (Compare::Lt, left, right),
            Test::Le(left, right) => (Compare::Le, left, right),
            Test::Or(left, right) => {
                let [left, right] = [left, right].map(|side| self.test(point, side));
                return self.b.select(left, Atom::Bool(true), right);
            }
        };
        let [left, right] = [left, right].map(|side| self.innermost(point, side));
        self.b.compare(op, left, right)
    }

    /// What an expression is of the innermost numbers.
    fn innermost(&mut self, point: &Point<'_>, expr: &Expr) -> Atom {
        match expr {
            Expr::In(i) => match point.operands.get(*i) {
                Some(operand) => self.value(&operand.primal),
                None => Atom::Real(f64::NAN),
            },
            Expr::Out => self.value(&point.out),
            Expr::Const(value) => Atom::Real(*value),
            Expr::Op(op, operands) => {
                let args: Vec<Atom> = operands.iter().map(|operand| self.innermost(point, operand)).collect();
                self.b.real(*op, args)
            }
            Expr::If(test, then, otherwise) => {
                let cond = self.test(point, test);
                let [then, otherwise] = [then, otherwise].map(|side| self.innermost(point, side));
                self.b.select(cond, then, otherwise)
            }
        }
    }
}
