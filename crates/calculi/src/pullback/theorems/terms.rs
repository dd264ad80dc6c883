//! Random well-typed terms, and programs that differentiate one.

use crate::pullback::denotation::{Env, environment};
use crate::pullback::func::Func;
use crate::pullback::syntax::{Kind, Pat, Term, Type, TypeKind, Var};
use arbitrary::{Result, Unstructured};
use wengert_prim::RealOp;

fn any_type(u: &mut Unstructured<'_>, depth: u32) -> Result<Type> {
    Ok(match u.int_in_range(0..=if depth == 0 { 1 } else { 6 })? {
        0..=2 => Type::real(),
        3 | 4 => Type::product(any_type(u, depth - 1)?, Type::real()),
        _ => Type::function(any_type(u, depth - 1)?, any_type(u, depth - 1)?),
    })
}

fn unary(u: &mut Unstructured<'_>) -> Result<Func> {
    let ops = [RealOp::Sin, RealOp::Cos, RealOp::Tanh, RealOp::PowInt(2), RealOp::Neg];
    Ok(Func::Prim(*u.choose(&ops)?))
}

fn binary(u: &mut Unstructured<'_>) -> Result<Func> {
    Ok(Func::Prim(*u.choose(&[RealOp::Add, RealOp::Mul, RealOp::Sub])?))
}

/// A term of the type with free variables from the scope.
fn any_term(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type, depth: u32) -> Result<Term> {
    let fitting: Vec<Var> = scope.iter().filter(|var| var.ty() == ty).cloned().collect();
    if !fitting.is_empty() && (depth == 0 || u.ratio(2, 5)?) {
        return Ok(Term::var(u.choose(&fitting)?.clone()));
    }
    if depth == 0 {
        return small(u, scope, ty);
    }
    match u.int_in_range(0..=9)? {
        0 => {
            let arg = any_type(u, 1)?;
            let x = Var::named("x", arg.clone());
            let value = any_term(u, scope, &arg, depth - 1)?;
            scope.push(x.clone());
            let body = any_term(u, scope, ty, depth - 1)?;
            scope.pop();
            Ok(if u.arbitrary()? {
                Term::let_in(x, value, body)
            } else {
                Term::app(Term::lam(Pat::var(x), body), value)
            })
        }
        1 => {
            let other = any_type(u, 1)?;
            let (a, b) = (any_term(u, scope, ty, depth - 1)?, any_term(u, scope, &other, depth - 1)?);
            Ok(if u.arbitrary()? { Term::proj(1, Term::pair(a, b)) } else { Term::proj(2, Term::pair(b, a)) })
        }
        2 => Ok(Term::sum(any_term(u, scope, ty, depth - 1)?, any_term(u, scope, ty, depth - 1)?)),
        3 | 4 => {
            let functions: Vec<Var> = scope
                .iter()
                .filter(|var| matches!(var.ty().kind(), TypeKind::Function(_, b) if b == ty))
                .cloned()
                .collect();
            if functions.is_empty() {
                return small_or_built(u, scope, ty, depth);
            }
            let f = u.choose(&functions)?.clone();
            let TypeKind::Function(a, _) = f.ty().kind() else { return small(u, scope, ty) };
            let arg = any_term(u, scope, &a.clone(), depth - 1)?;
            Ok(Term::app(Term::var(f), arg))
        }
        _ => small_or_built(u, scope, ty, depth),
    }
}

fn small(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type) -> Result<Term> {
    Ok(match ty.kind() {
        TypeKind::Real => Term::real(f64::from(u.int_in_range(-4i8..=4)?) / 2.0),
        TypeKind::Product(a, b) => Term::pair(small(u, scope, a)?, small(u, scope, b)?),
        TypeKind::Function(a, b) => {
            let x = Var::named("x", a.clone());
            scope.push(x.clone());
            let body = any_term(u, scope, b, 0)?;
            scope.pop();
            Term::lam(Pat::var(x), body)
        }
        TypeKind::Dual(a) => match a.width() {
            Some(n) => {
                let numbers: Result<Vec<f64>> =
                    (0..n).map(|_| Ok(f64::from(u.int_in_range(-3i8..=3)?))).collect();
                Term::dual_const(Term::vector(&numbers?))
            }
            None => Term::zero(ty.clone()),
        },
    })
}

fn small_or_built(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type, depth: u32) -> Result<Term> {
    match ty.kind() {
        TypeKind::Real => match u.int_in_range(0..=5)? {
            0 => small(u, scope, ty),
            1 | 2 => Ok(Term::fun(unary(u)?, any_term(u, scope, ty, depth - 1)?)),
            3 => {
                // (J f·s) t
                let (along, at) = (any_term(u, scope, ty, depth - 1)?, any_term(u, scope, ty, depth - 1)?);
                Ok(Term::app(Term::jac(unary(u)?, along), at))
            }
            _ => {
                let pair = Term::pair(any_term(u, scope, ty, depth - 1)?, any_term(u, scope, ty, depth - 1)?);
                Ok(Term::fun(binary(u)?, pair))
            }
        },
        TypeKind::Product(a, b) => {
            Ok(Term::pair(any_term(u, scope, a, depth - 1)?, any_term(u, scope, b, depth - 1)?))
        }
        TypeKind::Function(a, b) => {
            let x = Var::named("x", a.clone());
            scope.push(x.clone());
            let body = any_term(u, scope, b, depth - 1)?;
            scope.pop();
            Ok(Term::lam(Pat::var(x), body))
        }
        TypeKind::Dual(a) => any_dual(u, scope, a, depth),
    }
}

/// A functional on the type: a pullback at a point, or a dual map along a linear function.
fn any_dual(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type, depth: u32) -> Result<Term> {
    if u.ratio(1, 4)? {
        return small(u, scope, &Type::dual(ty.clone()));
    }
    let result = any_type(u, 1)?;
    let x = Var::named("y", ty.clone());
    if u.ratio(1, 3)? {
        let functional = small(u, scope, &Type::dual(Type::real()))?;
        return Ok(match linear_to_real(&Term::var(x.clone()), ty) {
            Some(body) => Term::dual_map(Pat::var(x), body, functional),
            None => Term::zero(Type::dual(ty.clone())),
        });
    }
    scope.push(x.clone());
    let body = any_term(u, scope, &result, depth - 1)?;
    scope.pop();
    let form = any_term(u, scope, &Type::omega(result), depth - 1)?;
    let at = any_term(u, scope, ty, depth - 1)?;
    Ok(Term::app(Term::pull(Pat::var(x), body, form), at))
}

fn linear_to_real(x: &Term, ty: &Type) -> Option<Term> {
    match ty.kind() {
        TypeKind::Real => Some(x.clone()),
        TypeKind::Product(a, _) => linear_to_real(&Term::proj(1, x.clone()), a),
        TypeKind::Function(..) | TypeKind::Dual(_) => None,
    }
}

/// Values 1 and 2 of remark 3.6: a chain of dual maps that ends in a pullback at a point.
pub(super) fn stuck(term: &Term) -> bool {
    match term.kind() {
        Kind::DualMap(_, _, s) => stuck(s),
        Kind::App(f, _) => matches!(f.kind(), Kind::Pull(..)),
        _ => false,
    }
}

/// A program `((Ω λy.P)·ω) P'` with its parts.
pub(crate) struct Sample {
    pub(crate) term: Term,
    pub(super) y: Var,
    pub(super) body: Term,
    pub(super) at: Term,
    pub(super) omega: Var,
    pub(super) env: Env,
}

pub(crate) fn any_pullback(u: &mut Unstructured<'_>, first_order: bool) -> Result<Sample> {
    let reals = |u: &mut Unstructured<'_>| Ok(Type::reals(u.int_in_range(1..=3)?));
    let (from, to) = if first_order { (reals(u)?, reals(u)?) } else { (any_type(u, 2)?, any_type(u, 2)?) };
    let (y, omega) = (Var::named("y", from.clone()), Var::named("ω", Type::omega(to.clone())));
    let c = Var::named("c", Type::real());
    let mut scope = if first_order { Vec::new() } else { vec![c.clone()] };
    let at = any_term(u, &mut scope, &from, 2)?;
    scope.push(y.clone());
    let body = any_term(u, &mut scope, &to, 5)?;
    let form = Term::var(omega.clone());
    let term = Term::app(Term::pull(Pat::var(y.clone()), body.clone(), form), at.clone());
    let env = environment(&[omega.clone(), c]);
    Ok(Sample { term, y, body, at, omega, env })
}
