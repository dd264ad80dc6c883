//! Well-typed terms for the tests, made from their types.

use crate::perturbative::syntax::{
    Const, Half, Term, Var, app, constant, inj, lam, num, op, pair, proj, push, sum, var, zero,
};
use crate::perturbative::types::Written;
use arbitrary::{Result, Unstructured};
use std::rc::Rc;
use wengert_prim::RealOp;

/// Variables with their types.
pub(super) type Context = Vec<(Var, Written)>;

pub(super) fn prod(a: &Written, b: &Written) -> Written {
    Written::Prod(Rc::new(a.clone()), Rc::new(b.clone()))
}

pub(super) fn fun(a: &Written, b: &Written) -> Written {
    Written::Fun(Rc::new(a.clone()), Rc::new(b.clone()))
}

/// `T σ`
pub(super) fn tangent(a: &Written) -> Written {
    prod(a, a)
}

/// A type.
pub(super) fn ty(u: &mut Unstructured<'_>, depth: u32) -> Result<Written> {
    if depth == 0 || u.ratio(1, 2)? {
        return Ok(Written::Real);
    }
    let (a, b) = (ty(u, depth - 1)?, ty(u, depth - 1)?);
    Ok(if u.ratio(2, 3)? { fun(&a, &b) } else { prod(&a, &b) })
}

/// A term of that type in that context. Whole numbers stay whole.
pub(super) fn term(
    u: &mut Unstructured<'_>,
    context: &mut Context,
    wanted: &Written,
    fuel: u32,
) -> Result<Term> {
    let Some(less) = fuel.checked_sub(1) else { return leaf(u, context, wanted) };
    match u.int_in_range(0..=11)? {
        0 => leaf(u, context, wanted),
        1 => Ok(sum([term(u, context, wanted, less / 2)?, term(u, context, wanted, less / 2)?])),
        2 | 3 => {
            // A redex, or what will be one.
            let from = ty(u, 2)?;
            let argument = term(u, context, &from, less / 2)?;
            Ok(app(term(u, context, &fun(&from, wanted), less)?, argument))
        }
        4 => {
            let other = ty(u, 1)?;
            let (half, whole) = if u.arbitrary()? {
                (Half::First, prod(wanted, &other))
            } else {
                (Half::Second, prod(&other, wanted))
            };
            Ok(proj(half, term(u, context, &whole, less)?))
        }
        5..=7 => {
            let from = ty(u, 1)?;
            let function = push(term(u, context, &fun(&from, wanted), less)?);
            let argument = term(u, context, &tangent(&from), less / 2)?;
            let half = if u.arbitrary()? { Half::First } else { Half::Second };
            Ok(proj(half, app(function, argument)))
        }
        _ => constructed(u, context, wanted, less),
    }
}

fn constructed(u: &mut Unstructured<'_>, context: &mut Context, wanted: &Written, fuel: u32) -> Result<Term> {
    match wanted {
        Written::Real | Written::Atom(_) => {
            let a = term(u, context, wanted, fuel / 2)?;
            if u.ratio(1, 4)? {
                return Ok(op(RealOp::Neg, &[a]));
            }
            let b = term(u, context, wanted, fuel / 2)?;
            Ok(op(RealOp::Mul, &[a, b]))
        }
        Written::Prod(a, b) => match u.int_in_range(0..=3)? {
            0 => Ok(inj(Half::First, term(u, context, a, fuel)?)),
            1 => Ok(inj(Half::Second, term(u, context, b, fuel)?)),
            _ => Ok(pair(term(u, context, a, fuel / 2)?, term(u, context, b, fuel / 2)?)),
        },
        Written::Fun(a, b) => {
            if let (Written::Prod(from, same_from), Written::Prod(to, same_to)) = (a.as_ref(), b.as_ref())
                && from == same_from
                && to == same_to
                && u.arbitrary()?
            {
                return Ok(push(term(u, context, &fun(from, to), fuel)?));
            }
            let x = Var::fresh("x");
            context.push((x.clone(), a.as_ref().clone()));
            let body = term(u, context, b, fuel);
            context.pop();
            Ok(lam(&x, body?))
        }
    }
}

fn leaf(u: &mut Unstructured<'_>, context: &mut Context, wanted: &Written) -> Result<Term> {
    let fitting: Vec<Var> = context.iter().filter(|(_, ty)| ty == wanted).map(|(x, _)| x.clone()).collect();
    if !fitting.is_empty() && u.ratio(4, 5)? {
        return Ok(var(u.choose(&fitting)?));
    }
    Ok(match wanted {
        Written::Real | Written::Atom(_) => num(f64::from(u.int_in_range(-3..=3)?)),
        Written::Prod(a, b) if u.ratio(3, 4)? => pair(leaf(u, context, a)?, leaf(u, context, b)?),
        Written::Fun(a, b) if u.ratio(3, 4)? => {
            if **a == prod(&Written::Real, &Written::Real) && **b == Written::Real {
                return Ok(constant(Const::Op(RealOp::Mul)));
            }
            let x = Var::fresh("x");
            context.push((x.clone(), a.as_ref().clone()));
            let body = leaf(u, context, b);
            context.pop();
            lam(&x, body?)
        }
        Written::Prod(..) | Written::Fun(..) => zero(),
    })
}
