//! Taylor coefficients of a function of one real: the function on power series ([`crate::series`]), at `x + t`; the coefficient of
//! order `k`, times `k!`, is the derivative of order `k`.
//!
//! The size of this code grows with the square of the order; beyond some order ([`MAX_ORDER`]) coefficients are in arrays
//! ([`crate::long`]). An order that is not known chooses among a few, of which the first coefficients are taken, and that.

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that are looked for are named")]

use crate::{Ad, BEYOND, Code, Key, ORDER};
use wengert_ir::op::{ArrayOp, Atom, Compare, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

/// The largest order to which each coefficient is a variable.
const MAX_ORDER: usize = 24;

/// The largest orders of such code that is made for an order that is not known.
const STEPS: [usize; 3] = [2, 6, 12];

/// Up to this order there is such code where numbers need not be exact.
const STEPS_TO: usize = 6;

/// The largest order for which there is code of its own if it is not known and there are rules.
const MAX_RULES: usize = 5;

/// So many statements times the square of the order are written out.
const SHORT: usize = 60_000;

/// Up to this order powers are written out of which base and exponent may vary.
const POWERS: usize = 6;

/// More is only written out as long as there is no more than one part, of so many, of all that may be made.
const LEFT: usize = 2;

/// The largest order to which coefficients are in arrays; what takes so many takes hours.
const MOST_LONG: i64 = 1 << 20;

const SERIES: Ty = Ty::Array(Elem::Real, 1);

/// The array of derivatives up to an order.
pub(crate) fn taylor(code: &mut Code<'_>, func: FuncId, captured: &[Atom], order: &Atom, at: &Atom) -> Atom {
    let args: Vec<Atom> = captured.iter().chain([at]).cloned().collect();
    let known = if let Atom::Int(order) = order { Some(*order) } else { None };
    match known {
        Some(order) => match usize::try_from(order) {
            Ok(order) if order <= MAX_ORDER && code.ad.is_short(func, order) => {
                expansion(code, func, &args, order)
            }
            Ok(_) => long(code, func, &args, &Atom::Int(order)),
            Err(_) => code.fail(&[SERIES], ORDER).remove(0),
        },
        // Whether a rule is run depends on which coefficients there are.
        None if code.ad.has_rules(func) => choose(code, func, &args, order, 0),
        None => {
            let cond = code.b.compare(Compare::Lt, order.clone(), Atom::Int(0));
            code.b.open();
            let array = code.fail(&[SERIES], ORDER);
            let then = code.b.close(array);
            code.b.open();
            let steps: Vec<usize> = STEPS
                .into_iter()
                .filter(|most| code.ad.is_short(func, *most) && (code.ad.exact || *most <= STEPS_TO))
                .collect();
            let array = step(code, func, &args, order, &steps);
            let otherwise = code.b.close(vec![array]);
            code.b.called("series").typed1(SERIES, Op::If { cond, then, otherwise })
        }
    }
}

/// Value and derivatives, from the function on series.
fn expansion(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: usize) -> Atom {
    let mut key: Key = (func, vec![false; args.len()]);
    if let Some(last) = key.1.last_mut() {
        *last = true;
    }
    let varies = code.ad.varying_results(func, &key.1).contains(&true);
    if order == 1 && varies && code.ad.has_rules(func) && code.ad.refuses_series(&key) {
        return code.fail(&[SERIES], BEYOND).remove(0);
    }
    let mut rows = if order == 0 || !varies {
        code.b.call(func, args, &[Ty::REAL])
    } else {
        let types = code.ad.jvp_results(&key, order);
        let series = code.ad.series_function(&key, 1, order);
        let args: Vec<Atom> = args.iter().cloned().chain([Atom::Real(1.0)]).collect();
        code.b.call(series, args, &types)
    };
    let mut factorial = 1.0;
    for (k, row) in rows.iter_mut().enumerate().skip(2) {
        factorial *= k as f64;
        *row = code.real(RealOp::Mul, vec![row.clone(), Atom::Real(factorial)]);
    }
    rows.resize(order + 1, Atom::Real(0.0));
    code.b.called("series").array(ArrayOp::Literal, rows)
}

/// The array for an order that is not known: of code for one of these orders, the first that is large enough.
fn step(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: &Atom, steps: &[usize]) -> Atom {
    let Some((most, others)) = steps.split_first() else { return long(code, func, args, order) };
    let cond = code.b.compare(Compare::Le, order.clone(), Atom::Int(*most as i64));
    code.b.open();
    let array = expansion(code, func, args, *most);
    let count = code.b.int(wengert_ir::op::IntOp::Add, [order.clone(), Atom::Int(1)]);
    let array = code.b.called("series").array(ArrayOp::Slice, [array, Atom::Int(0), count]);
    let then = code.b.close(vec![array]);
    code.b.open();
    let array = step(code, func, args, order, others);
    let otherwise = code.b.close(vec![array]);
    code.b.called("series").typed1(SERIES, Op::If { cond, then, otherwise })
}

/// The array for an order that is not known and not 0; none if it is negative.
fn long_or_none(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: &Atom) -> Atom {
    let cond = code.b.compare(Compare::Lt, order.clone(), Atom::Int(0));
    code.b.open();
    let array = code.fail(&[SERIES], ORDER);
    let then = code.b.close(array);
    code.b.open();
    let array = long(code, func, args, order);
    let otherwise = code.b.close(vec![array]);
    code.b.called("series").typed1(SERIES, Op::If { cond, then, otherwise })
}

/// The array for any order of 1 or more that can be stored. Where numbers must be exact there are no such series of functions whose tangents
/// may be functions of the user's.
fn long(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: &Atom) -> Atom {
    if code.ad.exact && code.ad.meets_given(func) {
        return code.fail(&[SERIES], BEYOND).remove(0);
    }
    let cond = code.b.compare(Compare::Lt, Atom::Int(MOST_LONG), order.clone());
    code.b.open();
    let array = code.fail(&[SERIES], ORDER);
    let then = code.b.close(array);
    code.b.open();
    let array = crate::long::expansion(code, func, args, order);
    let otherwise = code.b.close(vec![array]);
    code.b.called("series").typed1(SERIES, Op::If { cond, then, otherwise })
}

/// The array for the order, which is `least` or more, by code for each order.
fn choose(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: &Atom, least: usize) -> Atom {
    if least > MAX_RULES {
        return long_or_none(code, func, args, order);
    }
    let cond = code.b.compare(Compare::Eq, order.clone(), Atom::Int(least as i64));
    code.b.open();
    let array = expansion(code, func, args, least);
    let then = code.b.close(vec![array]);
    code.b.open();
    let array = choose(code, func, args, order, least + 1);
    let otherwise = code.b.close(vec![array]);
    code.b.called("series").typed1(SERIES, Op::If { cond, then, otherwise })
}

impl Ad {
    /// Whether the code is short enough that has a variable for each coefficient up to an order.
    fn is_short(&self, func: FuncId, order: usize) -> bool {
        let mut size = 0;
        self.all_called(func, &mut |_, stmt| {
            size += match &stmt.op {
                // Each order has cases inside of the cases of the one before.
                Op::Real(RealOp::Pow, args)
                    if order > POWERS && args.iter().all(|arg| arg.var().is_some()) =>
                {
                    SHORT
                }
                _ => 1,
            };
            true
        });
        // Where numbers must be exact, cotangents are added up in the order of single coefficients.
        let most = if self.exact { 2 * SHORT } else { SHORT };
        self.has_rules(func) || (order * order * size <= most && !self.is_full_at(LEFT))
    }

    /// Whether a function, or one that it calls, has a rule of its own.
    fn has_rules(&self, func: FuncId) -> bool {
        self.reaches(func, &|op| matches!(op, Op::Custom(_)))
    }

    /// Whether a function cannot be made for series, because what functions with rules have captured varies; to order 1 that would not be
    /// noticed.
    fn refuses_series(&mut self, key: &Key) -> bool {
        let series = self.series_function(key, 1, 2);
        self.reaches(series, &crate::requests::is_beyond)
    }
}
