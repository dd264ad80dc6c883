//! What operations give whose operands are known, or are such that they change nothing.

use wengert_ir::Atom;
use wengert_ir::op::{Compare, IntOp};
use wengert_prim::RealOp;

/// What an operation on real numbers gives that are known.
pub(crate) fn real(op: RealOp, args: &[Atom]) -> Option<Atom> {
    match (op, args) {
        (op, [Atom::Real(x)]) => Some(Atom::Real(op.eval1(*x))),
        (op, [Atom::Real(x), Atom::Real(y)]) => Some(Atom::Real(op.eval2(*x, *y))),
        (RealOp::MulZero, [Atom::Real(0.0), _] | [_, Atom::Real(0.0)]) => Some(Atom::Real(0.0)),
        (RealOp::DivZero, [Atom::Real(0.0), _]) => Some(Atom::Real(0.0)),
        (RealOp::PowInt(0), [_]) | (RealOp::Pow, [_, Atom::Real(0.0)]) => Some(Atom::Real(1.0)),
        _ => None,
    }
}

/// The operand that an operation gives as it is. Derivatives do not see the operation then: what uses its result adds to the
/// cotangent of the operand, one after the other, and not to one of its own first.
pub(crate) fn handed_on(op: RealOp, args: &[Atom]) -> Option<Atom> {
    match (op, args) {
        (RealOp::Mul | RealOp::Div | RealOp::DivZero | RealOp::MulZero, [x, Atom::Real(1.0)]) => {
            Some(x.clone())
        }
        (RealOp::Mul | RealOp::MulZero, [Atom::Real(1.0), x]) => Some(x.clone()),
        (RealOp::Sub, [x, Atom::Real(zero)]) if zero.to_bits() == 0 => Some(x.clone()),
        (RealOp::PowInt(1), [x]) => Some(x.clone()),
        _ => None,
    }
}

/// What an operation on integers gives that are known.
pub(crate) fn integer(op: IntOp, args: &[Atom]) -> Option<Atom> {
    let known = match (op, args) {
        (IntOp::Add, [x, Atom::Int(0)] | [Atom::Int(0), x])
        | (IntOp::Sub, [x, Atom::Int(0)])
        | (IntOp::Mul, [x, Atom::Int(1)] | [Atom::Int(1), x]) => return Some(x.clone()),
        (IntOp::Mul, [_, Atom::Int(0)] | [Atom::Int(0), _]) => 0,
        (IntOp::Add, [Atom::Int(a), Atom::Int(b)]) => a.wrapping_add(*b),
        (IntOp::Sub, [Atom::Int(a), Atom::Int(b)]) => a.wrapping_sub(*b),
        (IntOp::Mul, [Atom::Int(a), Atom::Int(b)]) => a.wrapping_mul(*b),
        (IntOp::Min, [Atom::Int(a), Atom::Int(b)]) => *a.min(b),
        (IntOp::Max, [Atom::Int(a), Atom::Int(b)]) => *a.max(b),
        (IntOp::BitAnd, [Atom::Int(a), Atom::Int(b)]) => a & b,
        (IntOp::Neg, [Atom::Int(a)]) => a.wrapping_neg(),
        (IntOp::Rem, [Atom::Int(a), Atom::Int(b)]) => a.checked_rem(*b)?,
        (IntOp::Div, [Atom::Int(a), Atom::Int(b)]) => a.checked_div(*b)?,
        _ => return None,
    };
    Some(Atom::Int(known))
}

/// What a comparison of known numbers or truth values gives.
pub(crate) fn comparison(compare: Compare, a: &Atom, b: &Atom) -> Option<Atom> {
    let holds = match (a, b) {
        (Atom::Int(a), Atom::Int(b)) => compare.holds(a, b),
        (Atom::Real(a), Atom::Real(b)) => compare.holds(a, b),
        (Atom::Bool(a), Atom::Bool(b)) => compare.holds(a, b),
        _ => return None,
    };
    Some(Atom::Bool(holds))
}
