//! Powers with a small whole exponent are products, or a reciprocal:
//!
//! ```text
//! a = x ** 1.0  b = x ** 2.0  c = x ** 3.0  d = x ** -1.0     becomes     b = x ^ 2  c = x ^ 3  d = 1.0 / x
//! ```
//!
//! with `x` for `a`. Users write them, and they are slopes of others: that of `x ** 3.0` is `3.0 * x ** 2.0`. All edges are the same, but
//! products round in every step, so the pass is for where numbers need not be to the last bit those of the interpreter.

use wengert_ir::op::Op;
use wengert_ir::{Atom, Block, Program};
use wengert_prim::RealOp;

/// Up to here products round no more than powers may: by two and a half units in the last place.
const LARGEST: f64 = 4.0;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        changed |= block(&mut func.body);
    }
    changed
}

fn block(place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                changed |= block(inner);
            }
            if let Some(op) = multiplied_out(&stmt.op) {
                stmt.op = op;
                changed = true;
            }
        }
        changed
    })
}

/// What computes the same with products.
fn multiplied_out(op: &Op) -> Option<Op> {
    let Op::Real(RealOp::Pow, args) = op else { return None };
    let [base, Atom::Real(exponent)] = args.as_slice() else { return None };
    let reciprocal = || Op::Real(RealOp::Div, vec![Atom::Real(1.0), base.clone()]);
    let power = |n| Op::Real(RealOp::PowInt(n), vec![base.clone()]);
    match *exponent {
        -1.0 => Some(reciprocal()),
        1.0 => Some(Op::Copy(base.clone())),
        n if n.fract() == 0.0 && (2.0..=LARGEST).contains(&n) => Some(power(n as i64)),
        _ => None,
    }
}
