//! Random well-typed terms, type first: a type and the variables in scope decide what may come next.

use super::syntax::{Symbol, Tm, Ty, Var, add, app, fun, lam, mul, num, pair, sub, sub_pair, var};
use arbitrary::{Result, Unstructured};
use wengert_prim::RealOp;

/// Smooth everywhere, with values that stay moderate.
const UNARY: [RealOp; 6] =
    [RealOp::Sin, RealOp::Cos, RealOp::Tanh, RealOp::Sigmoid, RealOp::Atan, RealOp::Neg];

/// What may be generated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Grammar (25), with the sugar `f(G, …)`.
    Ground,
    /// Λ(𝓕)
    Ordinary,
    /// Λ⊥(𝓕)
    Negation,
}

pub(crate) fn ty(u: &mut Unstructured<'_>, language: Language, depth: u32) -> Result<Ty> {
    let forms = if depth == 0 || language == Language::Ground { 0 } else { 3 };
    Ok(match u.int_in_range(0..=forms)? {
        1 => Ty::prod(ty(u, language, depth - 1)?, ty(u, language, depth - 1)?),
        2 => Ty::fun(ty(u, language, depth - 1)?, ty(u, language, depth - 1)?),
        3 if language == Language::Negation => Ty::Neg(u.int_in_range(1..=2)?),
        _ => Ty::Real,
    })
}

fn numeral(u: &mut Unstructured<'_>) -> Result<Tm> {
    Ok(num(f64::from(u.int_in_range(-8..=8i32)?) / 4.0))
}

/// A term `Γ ⊢ t : A` with free variables from `scope`.
pub(crate) fn term(
    u: &mut Unstructured<'_>,
    language: Language,
    scope: &mut Vec<Var>,
    a: &Ty,
    fuel: u32,
) -> Result<Tm> {
    let fitting: Vec<Var> = scope.iter().filter(|x| x.ty == *a).cloned().collect();
    if !fitting.is_empty() && (fuel == 0 || u.ratio(1, 4)?) {
        return Ok(var(u.choose(&fitting)?));
    }
    if fuel > 0 && u.ratio(2, 5)? {
        return eliminated(u, language, scope, a, fuel - 1);
    }
    match a {
        Ty::Real => real(u, language, scope, fuel),
        Ty::Prod(b, c) => {
            let fuel = fuel.saturating_sub(1);
            if a.dimension().is_some() && fuel > 0 && language != Language::Ordinary && u.ratio(1, 3)? {
                return Ok(add(term(u, language, scope, a, fuel)?, term(u, language, scope, a, fuel)?));
            }
            Ok(pair(term(u, language, scope, b, fuel)?, term(u, language, scope, c, fuel)?))
        }
        Ty::Fun(b, c) => {
            let x = Var::exponential("f", (**b).clone());
            let body = bound(u, language, scope, std::slice::from_ref(&x), c, fuel.saturating_sub(1))?;
            Ok(lam(&x, body))
        }
        Ty::Neg(d) => {
            let z = Var::linear("a");
            Ok(lam(&z, linear(u, scope, &z, &Ty::euclid(*d), fuel.saturating_sub(1))?))
        }
    }
}

fn bound(
    u: &mut Unstructured<'_>,
    language: Language,
    scope: &mut Vec<Var>,
    xs: &[Var],
    a: &Ty,
    fuel: u32,
) -> Result<Tm> {
    let height = scope.len();
    scope.extend(xs.iter().cloned());
    let body = term(u, language, scope, a, fuel);
    scope.truncate(height);
    body
}

/// An application or an explicit substitution.
fn eliminated(
    u: &mut Unstructured<'_>,
    language: Language,
    scope: &mut Vec<Var>,
    a: &Ty,
    fuel: u32,
) -> Result<Tm> {
    let forms = if language == Language::Ground { 0 } else { 3 };
    match u.int_in_range(0..=forms)? {
        1 => {
            let b = ty(u, language, 1)?;
            let f = term(u, language, scope, &Ty::fun(b.clone(), a.clone()), fuel)?;
            Ok(app(f, term(u, language, scope, &b, fuel)?))
        }
        2 => {
            let (b, c) = (ty(u, language, 1)?, ty(u, language, 1)?);
            let value = term(u, language, scope, &Ty::prod(b.clone(), c.clone()), fuel)?;
            let (x, y) = (Var::exponential("p", b), Var::exponential("q", c));
            let body = bound(u, language, scope, &[x.clone(), y.clone()], a, fuel)?;
            Ok(sub_pair(body, &x, &y, value))
        }
        3 if language == Language::Negation && a.dimension().is_some() => {
            let d = a.dimension().unwrap_or(1);
            let f = term(u, language, scope, &Ty::Neg(d), fuel)?;
            Ok(app(f, term(u, language, scope, &Ty::Real, fuel)?))
        }
        _ => {
            let b = ty(u, language, 2)?;
            let value = term(u, language, scope, &b, fuel)?;
            let x = Var::exponential("z", b);
            let body = bound(u, language, scope, std::slice::from_ref(&x), a, fuel)?;
            Ok(sub(body, &x, value))
        }
    }
}

fn real(u: &mut Unstructured<'_>, language: Language, scope: &mut Vec<Var>, fuel: u32) -> Result<Tm> {
    if fuel == 0 {
        return numeral(u);
    }
    let mut part = |u: &mut Unstructured<'_>| term(u, language, scope, &Ty::Real, fuel - 1);
    Ok(match u.int_in_range(0..=5u32)? {
        0 => numeral(u)?,
        1 | 2 => add(part(u)?, part(u)?),
        3 => mul(part(u)?, part(u)?),
        4 => fun(Symbol::Op(RealOp::Sub), vec![part(u)?, part(u)?]),
        _ => {
            let f = *u.choose(&UNARY)?;
            fun(Symbol::Op(f), vec![part(u)?])
        }
    })
}

/// A term `Γ ⊢_z t : R^d`.
fn linear(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, z: &Var, a: &Ty, fuel: u32) -> Result<Tm> {
    let negations: Vec<Var> =
        scope.iter().filter(|x| matches!(&x.ty, Ty::Neg(d) if Ty::euclid(*d) == *a)).cloned().collect();
    if fuel > 0 {
        match u.int_in_range(0..=5u32)? {
            0 => return Ok(add(linear(u, scope, z, a, fuel - 1)?, linear(u, scope, z, a, fuel - 1)?)),
            1 => {
                let f = Ty::Neg(a.dimension().unwrap_or(1));
                let f = term(u, Language::Negation, scope, &f, fuel - 1)?;
                return Ok(app(f, linear(u, scope, z, &Ty::Real, fuel - 1)?));
            }
            2 => {
                let w = Var::linear("b");
                let inner = linear(u, scope, z, &Ty::Real, fuel - 1)?;
                return Ok(sub(linear(u, scope, &w, a, fuel - 1)?, &w, inner));
            }
            3 if !negations.is_empty() => {
                let f = u.choose(&negations)?.clone();
                return Ok(app(var(&f), linear(u, scope, z, &Ty::Real, fuel - 1)?));
            }
            _ => {}
        }
    }
    match a {
        Ty::Prod(b, c) => {
            let fuel = fuel.saturating_sub(1);
            Ok(pair(linear(u, scope, z, b, fuel)?, linear(u, scope, z, c, fuel)?))
        }
        Ty::Real | Ty::Fun(..) | Ty::Neg(_) => Ok(match u.int_in_range(0..=3u32)? {
            0 => num(0.0),
            1 if fuel > 0 => {
                let factor = term(u, Language::Negation, scope, &Ty::Real, fuel - 1)?;
                mul(factor, linear(u, scope, z, &Ty::Real, fuel - 1)?)
            }
            _ => var(z),
        }),
    }
}
