//! What becomes simpler because something is zero, or is never -0: sums with zeros, and strong zeros.

use super::{Simplifier, better};
use crate::numbers;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Stmt, Var};
use wengert_prim::RealOp;

impl Simplifier {
    /// A sum or difference with a strong zero is the other number. The sign of a derivative that is zero counts only where numbers must be
    /// exact.
    pub(super) fn without_strong_zero(&self, op: &Op) -> Option<Atom> {
        let Op::Real(op @ (RealOp::Add | RealOp::Sub), args) = op else { return None };
        let [x, y] = args.as_slice() else { return None };
        let is_strong = |atom: &Atom| atom.var().is_some_and(|var| self.strong_zeros.contains(&var));
        let may_be = |atom: &Atom| !self.exact || self.is_never_minus_zero(atom);
        match (op, is_strong(x), is_strong(y)) {
            (RealOp::Sub, _, true) => Some(x.clone()),
            (_, _, true) if may_be(x) => Some(x.clone()),
            (RealOp::Add, true, _) if may_be(y) => Some(y.clone()),
            (_, _, _) => None,
        }
    }

    /// The operand that an operation gives as it is.
    pub(super) fn neutral(&self, op: RealOp, args: &[Atom]) -> Option<Atom> {
        if self.in_order {
            return None;
        }
        let handed_on = numbers::handed_on(op, args).filter(|x| self.may_be_plain(op, x));
        handed_on.or_else(|| self.without_zero(op, args))
    }

    /// Whether an operation may be done to a number as if zeros were not strong in it: a strong zero is never -0.
    fn may_be_plain(&self, op: RealOp, x: &Atom) -> bool {
        let is_strong = matches!(op, RealOp::MulZero | RealOp::DivZero);
        !self.exact || !is_strong || self.is_never_minus_zero(x)
    }

    /// A simpler operation that gives the same.
    pub(super) fn better(&self, op: &Op) -> Option<Op> {
        if let Op::Real(strong @ (RealOp::MulZero | RealOp::DivZero), args) = op
            && let [x, Atom::Real(c)] | [Atom::Real(c), x] = args.as_slice()
            && *c > 0.0
            && !self.may_be_plain(*strong, x)
        {
            let is_neutral = *c == 1.0 && args.last() != Some(x) && !self.in_order;
            return is_neutral.then(|| Op::Real(RealOp::Add, vec![x.clone(), Atom::Real(0.0)]));
        }
        better(op)
    }

    /// A sum with zero is the other summand, unless that is -0.
    fn without_zero(&self, op: RealOp, args: &[Atom]) -> Option<Atom> {
        let (RealOp::Add, [x, y]) = (op, args) else { return None };
        let is_zero = |atom: &Atom| matches!(atom, Atom::Real(zero) if *zero == 0.0);
        let known = |atom: &Atom| self.is_never_minus_zero(atom);
        match (is_zero(x) && known(y), is_zero(y) && known(x)) {
            (true, _) => Some(y.clone()),
            (false, true) => Some(x.clone()),
            (false, false) => None,
        }
    }

    fn is_never_minus_zero(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(var) => self.never_minus_zero.contains(var),
            Atom::Real(x) => *x != 0.0 || x.is_sign_positive(),
            Atom::Int(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => false,
        }
    }

    pub(super) fn gives_no_minus_zero(&self, op: RealOp, args: &[Atom]) -> bool {
        match (op, args) {
            (RealOp::Abs | RealOp::Exp | RealOp::Cosh, _) => true,
            (RealOp::Mul, [x, y]) => x == y,
            (RealOp::PowInt(n), [_]) => n > 0 && n % 2 == 0,
            // The sum of numbers that cancel is 0, and so is 0 - 0.
            (RealOp::Add, [x, y]) => self.is_never_minus_zero(x) || self.is_never_minus_zero(y),
            (RealOp::Sub | RealOp::Sqrt, [x, ..]) => self.is_never_minus_zero(x),
            // Nothing that is not zero becomes zero.
            (RealOp::MulZero, [_, Atom::Real(c)] | [Atom::Real(c), _]) => c.abs() >= 1.0,
            _ => false,
        }
    }

    /// What a loop adds up from a number that is not -0 never is.
    pub(super) fn note_sums(&mut self, stmt: &Stmt) {
        if let Op::Array(ArrayOp::Sum | ArrayOp::Dot, _) = &stmt.op {
            self.never_minus_zero.extend(&stmt.outs);
        }
        let Op::Loop(parts) = &stmt.op else { return };
        let starts = parts.init.iter().chain(&parts.accs);
        for (place, start) in starts.enumerate() {
            if let (Some(param), Some(Atom::Var(result))) =
                (parts.body.params.get(place + 1), parts.body.results.get(place))
                && self.is_never_minus_zero(start)
                && adds_to(&parts.body, *result, *param)
            {
                self.never_minus_zero.insert(*param);
                self.never_minus_zero.extend(stmt.outs.get(place));
            }
        }
    }
}

/// Whether a variable is another one, or that with something added to it, as the statements of a block say.
fn adds_to(block: &Block, sum: Var, to: Var) -> bool {
    let mut sums = FxHashSet::from_iter([to]);
    for stmt in &block.stmts {
        if let (Op::Real(RealOp::Add, args), [out]) = (&stmt.op, stmt.outs.as_slice())
            && args.iter().filter_map(Atom::var).any(|arg| sums.contains(&arg))
        {
            sums.insert(*out);
        }
    }
    sums.contains(&sum)
}
