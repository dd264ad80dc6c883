//! What stays small, and what is a number: a product of a sine and a cosine meets no infinity.

use super::{DEEP, Made};
use wengert_ir::Atom;
use wengert_ir::op::{Compare, Op};
use wengert_prim::RealOp;

/// What is no larger than this is finite, also after a product or two.
const LARGE: f64 = 1e200;
/// Powers up to this one are looked at.
const POWER: i64 = 16;

impl Made {
    /// How large `b` is at most, if `a` is 0.
    pub(super) fn bound(&self, a: &Atom, b: &Atom, depth: u32) -> Option<f64> {
        let depth = depth.checked_sub(1)?;
        if a == b {
            return Some(0.0);
        }
        if let Some((size, numbers)) = self.bracket(b) {
            return numbers.iter().all(|number| self.is_number(a, number, depth)).then_some(size);
        }
        let of = |x: &Atom| self.bound(a, x, depth);
        let size = match self.of(b) {
            None => {
                let Atom::Real(c) = b else { return None };
                Some(c.abs()).filter(|size| size.is_finite())?
            }
            Some((RealOp::Sin | RealOp::Cos, [x])) => {
                self.is_finite_where_zero(a, x, depth).then_some(1.0)?
            }
            Some((RealOp::Tanh | RealOp::Erf | RealOp::Sigmoid | RealOp::Sign, [x])) => {
                self.is_number(a, x, depth).then_some(1.0)?
            }
            Some((RealOp::Atan, [x])) => self.is_number(a, x, depth).then_some(2.0)?,
            Some((RealOp::Neg | RealOp::Abs | RealOp::Relu, [x])) => of(x)?,
            Some((RealOp::Exp, [x])) => of(x)?.exp(),
            Some((RealOp::PowInt(n @ 1..=POWER), [x])) => {
                (0..n).try_fold(1.0, |size, _| Some(size * of(x)?))?
            }
            Some((RealOp::Div, [x, Atom::Real(c)])) if c.is_normal() => of(x)? / c.abs(),
            Some((RealOp::Add | RealOp::Sub | RealOp::Min | RealOp::Max, [x, y])) => of(x)? + of(y)?,
            Some((RealOp::Mul | RealOp::MulZero, [x, y])) => of(x)? * of(y)?,
            Some(_) => return None,
        };
        (size <= LARGE).then_some(size)
    }

    /// Whether `x` is not NaN, if `a` is 0.
    fn is_number(&self, a: &Atom, x: &Atom, depth: u32) -> bool {
        if self.tells_number(a, x, DEEP) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let of = |x: &Atom| self.is_number(a, x, depth);
        match self.of(x) {
            None => matches!(x, Atom::Real(c) if !c.is_nan()),
            Some((RealOp::Neg | RealOp::Abs | RealOp::Relu | RealOp::Exp | RealOp::Sign, [x])) => of(x),
            Some((RealOp::Tanh | RealOp::Atan | RealOp::Erf | RealOp::Sigmoid, [x])) => of(x),
            Some((RealOp::Min | RealOp::Max, [x, y])) => of(x) && of(y),
            Some((RealOp::Add | RealOp::Sub, [x, Atom::Real(c)] | [Atom::Real(c), x])) => {
                c.is_finite() && of(x)
            }
            Some((RealOp::Mul, [x, Atom::Real(c)] | [Atom::Real(c), x])) => c.is_normal() && of(x),
            Some((RealOp::Add, [x, y])) if x == y => of(x),
            Some((RealOp::Div, [x, Atom::Real(c)])) => c.is_normal() && of(x),
            Some((RealOp::Sin | RealOp::Cos, [x])) => self.is_finite_where_zero(a, x, depth),
            Some(_) => false,
        }
    }

    /// Whether `a` is NaN if `x` is.
    fn tells_number(&self, a: &Atom, x: &Atom, depth: u32) -> bool {
        if a == x {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let told = |from: &Atom| self.tells_number(from, x, depth);
        if let Some((_, numbers)) = self.bracket(a) {
            return numbers.into_iter().any(told);
        }
        match self.of(a) {
            Some((
                RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div | RealOp::Min | RealOp::Max,
                args,
            )) => args.iter().any(told),
            Some((RealOp::Neg | RealOp::Abs | RealOp::Sign | RealOp::Relu | RealOp::Sqrt, [y])) => told(y),
            Some((RealOp::Exp | RealOp::Log | RealOp::Sin | RealOp::Cos | RealOp::Tan, [y])) => told(y),
            Some((RealOp::Tanh | RealOp::Atan | RealOp::Erf | RealOp::Sigmoid, [y])) => told(y),
            Some((RealOp::PowInt(n), [y])) => n != 0 && told(y),
            _ => false,
        }
    }

    /// The slope of `max`, `relu` and the like, as a choice between two numbers: the larger one's size, and what is compared. It is NaN where one
    /// of these is, and nowhere else.
    fn bracket(&self, atom: &Atom) -> Option<(f64, [&Atom; 2])> {
        let (cond, Atom::Real(first), otherwise) = self.choice(atom)? else { return None };
        let (other, Atom::Real(second), Atom::Real(none)) = self.choice(otherwise)? else { return None };
        let ((op, x, y), (opposite, z, w)) = (self.comparison(cond)?, self.comparison(other)?);
        let plain = op.opposite();
        let all = (opposite, z, w) == (plain, x, y) || (opposite, z, w) == (plain.turned(), y, x);
        let ordered = !matches!(op, Compare::Eq | Compare::Ne);
        (all && ordered && none.is_nan()).then(|| (first.abs().max(second.abs()), [x, y]))
    }

    fn choice(&self, atom: &Atom) -> Option<(&Atom, &Atom, &Atom)> {
        let Op::Select { cond, then, otherwise } = self.choices.get(&atom.var()?)? else { return None };
        Some((cond, then, otherwise))
    }

    fn comparison(&self, atom: &Atom) -> Option<(Compare, &Atom, &Atom)> {
        let Op::Compare(op, x, y) = self.choices.get(&atom.var()?)? else { return None };
        Some((*op, x, y))
    }
}
