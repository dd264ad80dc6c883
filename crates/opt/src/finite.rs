//! A product in which a zero wins over an infinity is an ordinary one, where each factor is finite if the other is zero.
//!
//! ```text
//! a = x * x   b = cos(a)   c = mul_zero(b, x)          becomes          c = b * x
//! ```
//!
//! If `b` is 0, then `a` is finite, or `b` would be no number, and so `x` is; and if `x` is 0, then `b` is 1. If `2.0 * x` or `3.0 - 2.0 * x` is 0, then
//! `x` is 0 or 1.5, and the other one is finite. And the sine and the cosine of a number are at most 1 (`bounds`). The sign of a zero may differ: it is for where numbers need not be to
//! the last bit what they are elsewhere.
//!
//! And `div_zero(x, x)`, which is 0 where `x` is 0 and else 1, is 1 in a sum with the logarithm of `x`: where `x` is 0, that is infinite. Only
//! at infinity such a sum is another one: infinite, and not NaN.

mod bounds;

use rustc_hash::FxHashMap;
use wengert_ir::op::Op;
use wengert_ir::{Atom, Block, Program, Stmt, Var};
use wengert_prim::RealOp;

/// So deep into expressions one looks.
const DEEP: u32 = 6;
/// Constants between this and its reciprocal change no number so much that it matters.
const SMALL: f64 = 1e-100;
/// What is made of numbers up to this one, as deep as one looks, is finite.
const LARGE: f64 = 1e3;

/// See the module. Whether something is not needed any more.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut made = Made::default();
        func.body.for_each_stmt(&mut |stmt| match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Real(op, args), [out]) => {
                made.reals.insert(*out, (*op, args.clone()));
            }
            (Op::Select { .. } | Op::Compare(..), [out]) => {
                made.choices.insert(*out, stmt.op.clone());
            }
            _ => {}
        });
        changed |= block(&made, &mut func.body);
    }
    changed
}

fn block(made: &Made, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for stmt in &mut place.stmts {
            plain(made, stmt);
            changed |= beside_logarithm(made, stmt);
            for inner in stmt.op.blocks_mut() {
                changed |= block(made, inner);
            }
        }
        changed
    })
}

/// `log(x) + div_zero(x, x)`
fn beside_logarithm(made: &Made, stmt: &mut Stmt) -> bool {
    let Op::Real(RealOp::Add | RealOp::Sub, args) = &mut stmt.op else { return false };
    let [a, b] = args.as_mut_slice() else { return false };
    let is_one = |one: &Atom, other: &Atom| match made.of(one) {
        Some((RealOp::DivZero, [x, y])) => x == y && made.has_logarithm(other, x, DEEP),
        _ => false,
    };
    if is_one(a, b) {
        *a = Atom::Real(1.0);
    } else if is_one(b, a) {
        *b = Atom::Real(1.0);
    } else {
        return false;
    }
    true
}

/// `mul_zero(a, b)`
fn plain(made: &Made, stmt: &mut Stmt) {
    let Op::Real(op @ RealOp::MulZero, args) = &mut stmt.op else { return };
    let [a, b] = args.as_slice() else { return };
    if made.is_finite_where_zero(a, b, DEEP) && made.is_finite_where_zero(b, a, DEEP) {
        *op = RealOp::Mul;
    }
}

/// How large a number can be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    /// Finite.
    Finite,
    /// And its multiples are, too: its square is finite.
    Root,
}

/// A number that is not large.
#[derive(Clone, Copy)]
struct Near<'a> {
    root: &'a Atom,
    /// Whether it is 0.
    is_zero: bool,
}

#[derive(Default)]
struct Made {
    reals: FxHashMap<Var, (RealOp, Vec<Atom>)>,
    /// Choices and comparisons.
    choices: FxHashMap<Var, Op>,
}

fn is_moderate(c: f64) -> bool {
    (SMALL..=1.0 / SMALL).contains(&c.abs())
}

impl Made {
    fn of(&self, atom: &Atom) -> Option<(RealOp, &[Atom])> {
        let (op, args) = self.reals.get(&atom.var()?)?;
        Some((*op, args))
    }

    /// Whether a sum is infinite or no number where `x` is 0, because the logarithm of `x` is in it.
    fn has_logarithm(&self, sum: &Atom, x: &Atom, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.of(sum) {
            Some((RealOp::Log, [of])) => of == x,
            Some((RealOp::Neg | RealOp::Add | RealOp::Sub, terms)) => {
                terms.iter().any(|term| self.has_logarithm(term, x, depth))
            }
            Some((RealOp::Mul, [y, Atom::Real(c)] | [Atom::Real(c), y])) if is_moderate(*c) => {
                self.has_logarithm(y, x, depth)
            }
            _ => false,
        }
    }

    /// Whether `b` is finite, if `a` is 0.
    fn is_finite_where_zero(&self, a: &Atom, b: &Atom, depth: u32) -> bool {
        let of_root = |root: &Atom| self.is_moderate(Near { root, is_zero: false }, b, depth);
        if self.zero_tells(a, b, Size::Finite, depth)
            || self.is_moderate(Near { root: a, is_zero: true }, b, depth)
            || self.root(a).is_some_and(of_root)
            || self.bound(a, b, depth).is_some()
            || self.are_parts(a, b)
        {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.of(b) {
            Some((RealOp::Neg | RealOp::Abs | RealOp::Sign | RealOp::Sin | RealOp::Cos, [x])) => {
                self.is_finite_where_zero(a, x, depth)
            }
            Some((RealOp::Tanh | RealOp::Atan | RealOp::Erf | RealOp::Sigmoid, [x])) => {
                self.is_finite_where_zero(a, x, depth)
            }
            Some((RealOp::Add, [x, y])) if x == y => self.zero_tells(a, x, Size::Root, depth),
            Some((RealOp::Mul, [x, Atom::Real(c)] | [Atom::Real(c), x])) if is_moderate(*c) => {
                self.zero_tells(a, x, Size::Root, depth)
            }
            _ => false,
        }
    }

    /// Whether both are constants divided by the same number: only where that is infinite, one is 0.
    fn are_parts(&self, a: &Atom, b: &Atom) -> bool {
        match (self.of(a), self.of(b)) {
            (Some((RealOp::Div, [Atom::Real(c), x])), Some((RealOp::Div, [Atom::Real(d), y]))) => {
                x == y && is_moderate(*c) && is_moderate(*d)
            }
            _ => false,
        }
    }

    /// What is no larger than a constant that is not large, if `a`, which is made of nothing else, is 0: `x` of `3.0 - 2.0 * x`.
    fn root<'a>(&'a self, a: &'a Atom) -> Option<&'a Atom> {
        let sum = match self.of(a)? {
            (RealOp::Add | RealOp::Sub, [x, Atom::Real(c)] | [Atom::Real(c), x]) => {
                (c.abs() <= LARGE).then_some(x)?
            }
            _ => a,
        };
        match self.of(sum) {
            Some((RealOp::Mul, [x, Atom::Real(c)] | [Atom::Real(c), x])) if is_moderate(*c) => {
                (c.abs() >= 1.0 || sum == a).then_some(x)
            }
            Some((RealOp::Mul | RealOp::Add, [x, y])) if x == y => Some(x),
            Some((RealOp::PowInt(2), [x])) => Some(x),
            _ => (sum != a).then_some(sum),
        }
    }

    /// Whether `b` is computed of nothing but what is there, numbers that are not large, and what stays so.
    fn is_moderate(&self, near: Near<'_>, b: &Atom, depth: u32) -> bool {
        if near.root == b {
            return true;
        }
        if let Atom::Real(c) = b {
            return c.abs() <= LARGE;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let args = match self.of(b) {
            Some((
                RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::MulZero | RealOp::Neg | RealOp::Abs,
                args,
            )) => args,
            Some((
                RealOp::Min | RealOp::Max | RealOp::Sign | RealOp::Sin | RealOp::Cos | RealOp::Tanh,
                args,
            )) => args,
            Some((RealOp::Atan | RealOp::Erf | RealOp::Sigmoid | RealOp::PowInt(2), args)) => args,
            // The root of what is negative is no number.
            Some((RealOp::Sqrt, args))
                if args.iter().all(|arg| self.is_a_sum_of_squares(near, arg, depth)) =>
            {
                args
            }
            Some((RealOp::Exp | RealOp::Cosh | RealOp::Sinh, [x])) => return near.is_zero && x == near.root,
            _ => return false,
        };
        args.iter().all(|arg| self.is_moderate(near, arg, depth))
    }

    /// Whether a number cannot be negative, as one sees.
    fn is_a_sum_of_squares(&self, near: Near<'_>, atom: &Atom, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.of(atom) {
            _ if near.is_zero && near.root == atom => true,
            Some((RealOp::Mul, [x, y])) if x == y => true,
            Some((RealOp::PowInt(2) | RealOp::Abs | RealOp::Exp, _)) => true,
            Some((RealOp::Add, terms)) => {
                terms.iter().all(|term| self.is_a_sum_of_squares(near, term, depth))
            }
            Some(_) => false,
            None => matches!(atom, Atom::Real(c) if *c >= 0.0),
        }
    }

    /// Whether `a` can only be 0 if `x` has this size.
    fn zero_tells(&self, a: &Atom, x: &Atom, size: Size, depth: u32) -> bool {
        if a == x {
            return true;
        }
        let Some(inner) = depth.checked_sub(1) else { return false };
        match self.of(a) {
            // Only of what is near to 0.
            Some((RealOp::Neg | RealOp::Sign | RealOp::Abs | RealOp::Tanh | RealOp::Atan, [y])) => {
                self.zero_tells(y, x, size, inner)
            }
            Some((RealOp::Add, [y, z])) if y == z => self.zero_tells(y, x, size, inner),
            Some((RealOp::Mul, [y, Atom::Real(c)] | [Atom::Real(c), y])) if is_moderate(*c) && y == x => true,
            _ => self.tells(a, x, size, depth),
        }
    }

    /// Whether `a` can only be finite if `x` has this size.
    fn tells(&self, a: &Atom, x: &Atom, size: Size, depth: u32) -> bool {
        if a == x {
            return size == Size::Finite;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.of(a) {
            Some((RealOp::Mul, [y, z])) if y == z && y == x => true,
            Some((RealOp::Add | RealOp::Sub | RealOp::Mul, args)) => {
                args.iter().any(|arg| self.tells(arg, x, size, depth))
            }
            // The divisor may be infinite.
            Some((RealOp::Div, [y, _])) => self.tells(y, x, size, depth),
            Some((RealOp::PowInt(2), [y])) => y == x || self.tells(y, x, size, depth),
            Some((RealOp::Neg | RealOp::Abs | RealOp::Sqrt, [y])) => self.tells(y, x, size, depth),
            Some((RealOp::Sin | RealOp::Cos | RealOp::Tan | RealOp::Sinh | RealOp::Cosh, [y])) => {
                self.tells(y, x, size, depth)
            }
            // Of what is infinite, waves are no numbers.
            Some((RealOp::Exp | RealOp::Sigmoid | RealOp::Tanh | RealOp::Atan | RealOp::Erf, [y])) => {
                matches!(self.of(y), Some((RealOp::Sin | RealOp::Cos, _))) && self.tells(y, x, size, depth)
            }
            _ => false,
        }
    }
}
