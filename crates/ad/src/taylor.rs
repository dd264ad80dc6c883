//! Taylor coefficients of a function of one real, by repeated forward mode.
//!
//! ```text
//! taylor 2 f x          [f(x), f'(x), f''(x)]          where f' is the tangent of f along 1, and f'' that of f'
//! ```
//!
//! The size of the code grows exponentially with the order, so that it is bounded ([`MAX_ORDER`]); arithmetic on series
//! would be polynomial. The derivatives are those of the interpreter's series up to rounding, not to the last bit. An order
//! that is not known chooses among the arrays of all orders.

use crate::{Ad, BEYOND, Code, Key};
use wengert_ir::op::{ArrayOp, Atom, Compare, Op};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Elem, Ty};

/// The largest order.
const MAX_ORDER: usize = 5;

const SERIES: Ty = Ty::Array(Elem::Real, 1);

/// The array of derivatives up to an order.
pub(crate) fn taylor(code: &mut Code<'_>, func: FuncId, captured: &[Atom], order: &Atom, at: &Atom) -> Atom {
    let args: Vec<Atom> = captured.iter().chain([at]).cloned().collect();
    if let Atom::Int(order) = order {
        return match usize::try_from(*order).ok().filter(|order| *order <= MAX_ORDER) {
            Some(order) => series(code, func, &args, order),
            None => code.fail(&[SERIES], BEYOND).remove(0),
        };
    }
    choose(code, func, &args, order, 0)
}

/// The array for the order, which is `least` or more.
fn choose(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: &Atom, least: usize) -> Atom {
    if least > MAX_ORDER {
        return code.fail(&[SERIES], BEYOND).remove(0);
    }
    let cond = code.b.compare(Compare::Eq, order.clone(), Atom::Int(least as i64));
    code.b.open();
    let array = series(code, func, args, least);
    let then = code.b.close(vec![array]);
    code.b.open();
    let array = choose(code, func, args, order, least + 1);
    let otherwise = code.b.close(vec![array]);
    code.b.called("series").typed1(SERIES, Op::If { cond, then, otherwise })
}

fn series(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: usize) -> Atom {
    let mut rows = Vec::new();
    let mut func = func;
    for k in 0..=order {
        if k > 0 {
            func = code.ad.derivative_function(func);
        }
        rows.extend(code.b.call(func, args, &[Ty::REAL]));
    }
    code.b.called("series").array(ArrayOp::Literal, rows)
}

impl Ad {
    /// The derivative of a function of captured values and a real, to a real.
    fn derivative_function(&mut self, func: FuncId) -> FuncId {
        if let Some(known) = self.derivatives.get(&func) {
            return *known;
        }
        let source = self.program.funcs.at(func);
        let (name, params) = (source.name, source.body.params.clone());
        let params: Vec<VarInfo> = params.iter().map(|var| *source.vars.at(*var)).collect();
        let mut key: Key = (func, vec![false; params.len()]);
        if let Some(last) = key.1.last_mut() {
            *last = true;
        }
        let varies = self.varying_results(func, &key.1).contains(&true);
        let jvp = if varies { Some(self.jvp_function(&key)) } else { None };
        let mut code = Code::new(self, &format!("derivative_{name}"));
        let mut args: Vec<Atom> =
            params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
        let result = match jvp {
            Some(jvp) => {
                args.push(Atom::Real(1.0));
                code.b.call(jvp, args, &[Ty::REAL, Ty::REAL]).pop().unwrap_or(Atom::Real(0.0))
            }
            None => Atom::Real(0.0),
        };
        let made = code.finish(vec![result]);
        let id = self.program.funcs.push(made);
        self.derivatives.insert(func, id);
        id
    }
}
