//! Numbers that are added to one end of zeros are these numbers, and the rest of the zeros beside them. So the part of an array comes
//! back to its place when a derivative runs backwards.
//!
//! ```text
//! zs = zeros(ws)                                                        zs = [0.0]
//! ys = each i < n, a += zs, x in xs { b = a with [i] += x yield b }     ys = concat(xs, zs)
//! ```
//!
//! Only where `xs` is a part of an array: what a loop makes is better added where it is made.

use crate::sizes::Shape;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Elem, Func, Stmt, Ty, Var};

/// So many zeros beside them at most.
const MOST: i64 = 8;

/// What is known of the arrays of a block.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    zeros: FxHashSet<Var>,
    parts: FxHashSet<Var>,
}

impl Arrays {
    /// Notes what a statement makes.
    pub(super) fn note(&mut self, stmt: &Stmt) {
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        match (op, args.as_slice()) {
            (ArrayOp::Zeros, _) => self.zeros.insert(*out),
            (ArrayOp::Replicate, [_, Atom::Real(x)]) if *x == 0.0 => self.zeros.insert(*out),
            (ArrayOp::Slice, _) => self.parts.insert(*out),
            (_, _) => false,
        };
    }
}

/// See the module. Gives the statement that makes the zeros beside.
pub(super) fn beside(
    func: &mut Func,
    stmt: &mut Stmt,
    arrays: &Arrays,
    shapes: &FxHashMap<Var, Shape>,
) -> Option<Stmt> {
    let Op::Loop(parts) = &stmt.op else { return None };
    let [Atom::Var(zeros)] = parts.accs.as_slice() else { return None };
    let [Atom::Var(numbers)] = parts.inputs.as_slice() else { return None };
    let only = parts.mode == Mode::Each && parts.init.is_empty();
    let flat = func.ty(*zeros) == Ty::Array(Elem::Real, 1);
    if !only || !flat || !arrays.zeros.contains(zeros) || !arrays.parts.contains(numbers) {
        return None;
    }
    let from = added_from(parts)?;
    let size = |array: &Var| shapes.get(array)?.first()?.clone();
    let Atom::Int(rest) = size(zeros)?.minus(&size(numbers)?).atom()? else { return None };
    if !(1..=MOST).contains(&rest) || (from != 0 && from != rest) {
        return None;
    }
    let name = func.vars.at(*zeros).name;
    let made = func.vars.push(VarInfo { name, ty: Ty::Array(Elem::Real, 1) });
    let some = usize::try_from(rest).ok()?;
    let literal = Op::Array(ArrayOp::Literal, vec![Atom::Real(0.0); some]);
    let mut both = vec![Atom::Var(*numbers), Atom::Var(made)];
    if from != 0 {
        both.reverse();
    }
    stmt.op = Op::Array(ArrayOp::Concat, both);
    Some(Stmt { outs: vec![made], op: literal, span: stmt.span })
}

/// From which place on a loop adds its rows to its accumulator, if it does nothing else.
fn added_from(parts: &Loop) -> Option<i64> {
    let ([index, sum, row], [Atom::Var(end)]) = (parts.body.params.as_slice(), parts.body.results.as_slice())
    else {
        return None;
    };
    let (index, [before @ .., last]) = (Atom::Var(*index), parts.body.stmts.as_slice()) else { return None };
    let (from, place) = match before {
        [] => (0, index),
        [Stmt { outs, op: Op::Int(IntOp::Add, args), .. }] => match (outs.as_slice(), args.as_slice()) {
            ([place], [Atom::Int(from), i] | [i, Atom::Int(from)]) if *i == index => {
                (*from, Atom::Var(*place))
            }
            (_, _) => return None,
        },
        _ => return None,
    };
    let expected = [Atom::Var(*sum), place, Atom::Var(*row)];
    let adds = matches!(&last.op, Op::Array(ArrayOp::AddAt, args) if **args == expected);
    (adds && last.outs.as_slice() == [*end]).then_some(from)
}
