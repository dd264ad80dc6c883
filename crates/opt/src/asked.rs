//! What is asked before a loop: whether sums of sizes are not negative.

use crate::linear::Linear;
use wengert_base::{Name, Span};
use wengert_ir::op::{Compare, IntOp, Op};
use wengert_ir::{Atom, Func, Stmt, Ty};

/// Where statements are appended, and their place in the source.
pub(crate) type Out<'o> = (&'o mut Vec<Stmt>, Span);

/// Appends an operation.
pub(crate) fn push(func: &mut Func, (out, span): Out<'_>, (name, ty): (&str, Ty), op: Op) -> Atom {
    let var = func.fresh(Name::new(name), ty);
    out.push(Stmt { outs: vec![var], op, span });
    Atom::Var(var)
}

/// A sum, difference or product of integers.
pub(crate) fn int(func: &mut Func, out: Out<'_>, op: IntOp, a: Atom, b: Atom) -> Atom {
    match (op, &b) {
        (IntOp::Add | IntOp::Sub, Atom::Int(0)) => a,
        (IntOp::Sub, Atom::Int(by)) if (-i64::MAX..0).contains(by) => {
            int(func, out, IntOp::Add, a, Atom::Int(-by))
        }
        _ => push(func, out, ("i", Ty::INT), Op::Int(op, vec![a, b])),
    }
}

/// The integer that a sum is.
pub(crate) fn number(func: &mut Func, (out, span): Out<'_>, form: &Linear) -> Atom {
    let (mut terms, constant) = form.parts();
    terms.sort_by_key(|(_, times)| *times < 0);
    let mut sum = Atom::Int(constant);
    for (var, times) in terms {
        let factor = Atom::Int(times.wrapping_abs());
        let term = match times {
            1 | -1 => Atom::Var(var),
            _ => int(func, (&mut *out, span), IntOp::Mul, Atom::Var(var), factor),
        };
        let op = if times < 0 { IntOp::Sub } else { IntOp::Add };
        sum = match (op, &sum) {
            (IntOp::Add, Atom::Int(0)) => term,
            (op, _) => int(func, (&mut *out, span), op, sum, term),
        };
    }
    sum
}

/// Whether none of these is negative: of those that are numbers apart, only the least is asked for.
pub(crate) fn not_negative(func: &mut Func, (out, span): Out<'_>, forms: &[Linear]) -> Atom {
    let mut all = Atom::Bool(true);
    for (at, form) in forms.iter().enumerate() {
        let less = |(other, than): (usize, &Linear)| match than.minus(form).atom() {
            Some(Atom::Int(by)) => by < 0 || by == 0 && other < at,
            _ => false,
        };
        if forms.iter().enumerate().any(less) {
            continue;
        }
        // `n - 5 >= 0` is what one would write as `n >= 5`.
        let (_, constant) = form.parts();
        let (form, least) = match constant.checked_neg() {
            Some(least @ 1..) => (form.plus(&Linear::constant(least)), least),
            _ => (form.clone(), 0),
        };
        let number = number(func, (&mut *out, span), &form);
        let op = Op::Compare(Compare::Ge, number, Atom::Int(least));
        let holds = push(func, (&mut *out, span), ("c", Ty::BOOL), op);
        all = both(func, (&mut *out, span), all, holds);
    }
    all
}

/// Whether both hold.
pub(crate) fn both(func: &mut Func, out: Out<'_>, a: Atom, b: Atom) -> Atom {
    match (a, b) {
        (Atom::Bool(true), x) | (x, Atom::Bool(true)) => x,
        (cond, then) => {
            push(func, out, ("c", Ty::BOOL), Op::Select { cond, then, otherwise: Atom::Bool(false) })
        }
    }
}
