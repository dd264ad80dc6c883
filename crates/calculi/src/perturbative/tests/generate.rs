//! Well-typed terms for the tests, made from their types.

use crate::perturbative::syntax::{
    Const, Half, Term, Var, app, constant, inj, lam, num, op, pair, proj, push, sum, var, zero,
};
use crate::perturbative::types::Written;
use arbitrary::{Result, Unstructured};
use std::cell::Cell;
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

thread_local!(static PURE: Cell<bool> = const { Cell::new(false) });

/// Makes terms of the paper's grammar only, without numbers and primitive functions, for the time of `f`.
pub(super) fn purely<R>(f: impl FnOnce() -> R) -> R {
    PURE.set(true);
    let result = f();
    PURE.set(false);
    result
}

fn base() -> Written {
    if PURE.get() { Written::Atom("α".into()) } else { Written::Real }
}

/// A type.
pub(super) fn ty(u: &mut Unstructured<'_>, depth: u32) -> Result<Written> {
    if depth == 0 || u.ratio(1, 2)? {
        return Ok(base());
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
            // A variable at an argument; a redex, or what will be one.
            let functions: Vec<(Var, Written)> = context
                .iter()
                .filter_map(|(x, own)| match own {
                    Written::Fun(from, to) if **to == *wanted => Some((x.clone(), from.as_ref().clone())),
                    Written::Fun(..) | Written::Real | Written::Atom(_) | Written::Prod(..) => None,
                })
                .collect();
            if !functions.is_empty() && u.ratio(2, 3)? {
                let (f, from) = u.choose(&functions)?;
                return Ok(app(var(f), term(u, context, from, less)?));
            }
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
        Written::Atom(_) => leaf(u, context, wanted),
        Written::Real => {
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
        Written::Atom(_) => zero(),
        Written::Real => num(f64::from(u.int_in_range(-3..=3)?)),
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

/// All terms of the paper's grammar of that type and size, in which only terms of a few types are parts and a bag has one
/// simple term or none.
pub(super) fn all(context: &mut Context, wanted: &Written, size: usize, parts: &[Written]) -> Vec<Term> {
    let Some(rest) = size.checked_sub(1) else { return Vec::new() };
    if rest == 0 {
        let mut found: Vec<Term> =
            context.iter().filter(|(_, ty)| ty == wanted).map(|(x, _)| var(x)).collect();
        found.push(zero());
        return found;
    }
    let mut found = Vec::new();
    match wanted {
        Written::Fun(from, to) => {
            let x = Var::fresh("x");
            context.push((x.clone(), from.as_ref().clone()));
            found.extend(all(context, to, rest, parts).into_iter().map(|body| lam(&x, body)));
            context.pop();
            if let (Written::Prod(a, a2), Written::Prod(b, b2)) = (from.as_ref(), to.as_ref())
                && a == a2
                && b == b2
            {
                found.extend(all(context, &fun(a, b), rest, parts).into_iter().map(push));
            }
        }
        Written::Prod(a, b) => {
            let first = all(context, a, rest, parts).into_iter().map(|part| inj(Half::First, part));
            found.extend(first);
            let second = all(context, b, rest, parts).into_iter().map(|part| inj(Half::Second, part));
            found.extend(second);
        }
        Written::Real | Written::Atom(_) => {}
    }
    for other in parts {
        for (half, whole) in [(Half::First, prod(wanted, other)), (Half::Second, prod(other, wanted))] {
            if parts.contains(&whole) {
                found.extend(all(context, &whole, rest, parts).into_iter().map(|whole| proj(half, whole)));
            }
        }
        let function = fun(other, wanted);
        if !parts.contains(&function) {
            continue;
        }
        for left in 1..rest {
            let functions = all(context, &function, left, parts);
            if functions.is_empty() {
                continue;
            }
            let arguments = all(context, other, rest - left, parts);
            for function in &functions {
                found.extend(arguments.iter().map(|argument| app(function.clone(), argument.clone())));
            }
        }
    }
    found
}
