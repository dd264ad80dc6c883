//! Table 1: the sequents `Γ ⊢ t : A` and `Γ ⊢_z t : R^d`, where the one linear variable `z` occurs linearly in `t`.
//!
//! Variables carry their types, so Γ is not needed, and the rules are directed by the term and by whether there is a
//! `z`. `0` is linear in any `z`; a sum and a pair have `z` in both parts or in none; a product has it on the right.

use super::print::ty as show;
use super::syntax::{Kind, Symbol, Tm, Ty, Var, deep};
use wengert_prim::RealOp;

/// Why a term has no type.
#[derive(Clone, Debug)]
pub struct TypeError {
    /// The subterm at fault.
    pub at: Tm,
    /// Whether it is about linearity.
    pub linearity: bool,
    /// What is wrong.
    pub message: String,
}

type Typed = Result<Ty, TypeError>;

fn wrong(at: &Tm, message: String) -> Typed {
    Err(TypeError { at: at.clone(), linearity: false, message })
}

fn not_linear(at: &Tm, message: String) -> Typed {
    Err(TypeError { at: at.clone(), linearity: true, message })
}

/// The type of a term: `Γ ⊢ t : A`.
pub fn infer(tm: &Tm) -> Typed {
    judge(tm, None)
}

/// `Γ ⊢_(z) t : A`
pub fn judge(tm: &Tm, z: Option<&Var>) -> Typed {
    let ty = deep(|| rule(tm, z))?;
    match z {
        Some(z) if ty.dimension().is_none() => {
            not_linear(tm, format!("a term linear in `{}` has a type R^d, and this is {}", z.name, show(&ty)))
        }
        Some(_) | None => Ok(ty),
    }
}

fn rule(tm: &Tm, z: Option<&Var>) -> Typed {
    match &tm.kind {
        Kind::Var(x) => variable(tm, x, z),
        Kind::Num(r) => match z {
            Some(z) if *r != 0.0 => {
                not_linear(tm, format!("a numeral other than 0 is not linear in `{}`", z.name))
            }
            Some(_) | None => Ok(Ty::Real),
        },
        Kind::Lam(x, body) => {
            no_linear(tm, z, "an abstraction")?;
            if !x.linear {
                return Ok(Ty::fun(x.ty.clone(), judge(body, None)?));
            }
            let found = judge(body, Some(x))?;
            found
                .dimension()
                .map_or_else(|| wrong(body, "expected a type R^d".to_owned()), |d| Ok(Ty::Neg(d)))
        }
        Kind::App(t, u) => application(t, u, z),
        Kind::Pair(t, u) => Ok(Ty::prod(judge(t, z)?, judge(u, z)?)),
        Kind::SubPair(t, x, y, u) => {
            expect(u, None, &Ty::prod(x.ty.clone(), y.ty.clone()))?;
            judge(t, z)
        }
        Kind::Sub(t, x, u) if x.linear => {
            expect(u, z, &Ty::Real)?;
            judge(t, Some(x))
        }
        Kind::Sub(t, x, u) => {
            expect(u, None, &x.ty)?;
            judge(t, z)
        }
        Kind::Add(t, u) => {
            let ty = judge(t, z)?;
            if ty.dimension().is_none() {
                return wrong(t, format!("sums are of type R^d, and this is {}", show(&ty)));
            }
            expect(u, z, &ty)
        }
        Kind::Fun(Symbol::Op(RealOp::Mul), args) => match args.as_slice() {
            [t, u] => {
                expect(t, None, &Ty::Real)?;
                expect(u, z, &Ty::Real)
            }
            _ => wrong(tm, "a product has two factors".to_owned()),
        },
        Kind::Fun(_, args) => {
            no_linear(tm, z, "a function symbol")?;
            args.iter().try_for_each(|arg| expect(arg, None, &Ty::Real).map(drop))?;
            Ok(Ty::Real)
        }
    }
}

fn variable(tm: &Tm, x: &Var, z: Option<&Var>) -> Typed {
    match z {
        None if x.linear => not_linear(tm, format!("the linear variable `{}` may not stand here", x.name)),
        Some(z) if z != x => {
            not_linear(tm, format!("this does not depend on the linear variable `{}`, and is not 0", z.name))
        }
        None | Some(_) => Ok(x.ty.clone()),
    }
}

fn application(t: &Tm, u: &Tm, z: Option<&Var>) -> Typed {
    match judge(t, None)? {
        Ty::Neg(d) => {
            expect(u, z, &Ty::Real)?;
            Ok(Ty::euclid(d))
        }
        Ty::Fun(a, b) => {
            no_linear(u, z, "the argument of an ordinary function")?;
            expect(u, None, &a)?;
            Ok((*b).clone())
        }
        found @ (Ty::Real | Ty::Prod(..)) => {
            wrong(t, format!("expected a function, and this is {}", show(&found)))
        }
    }
}

fn expect(tm: &Tm, z: Option<&Var>, expected: &Ty) -> Typed {
    let found = judge(tm, z)?;
    if found == *expected {
        Ok(found)
    } else {
        wrong(tm, format!("expected {}, and this is {}", show(expected), show(&found)))
    }
}

fn no_linear(tm: &Tm, z: Option<&Var>, what: &str) -> Result<(), TypeError> {
    match z {
        Some(z) => not_linear(tm, format!("{what} is not linear in `{}`", z.name)).map(drop),
        None => Ok(()),
    }
}

/// The type of a subterm of a well-typed term, without checking.
pub fn type_of(tm: &Tm) -> Ty {
    let mut tm = tm;
    let mut results = 0usize;
    loop {
        match &tm.kind {
            Kind::Sub(t, ..) | Kind::SubPair(t, ..) => tm = t,
            Kind::Add(t, _) => tm = t,
            Kind::App(t, _) => (tm, results) = (t, results + 1),
            Kind::Lam(_, t) if results > 0 => (tm, results) = (t, results - 1),
            Kind::Var(x) => return (0..results).fold(x.ty.clone(), |ty, _| result(ty)),
            Kind::Num(_) | Kind::Fun(..) => return Ty::Real,
            Kind::Lam(x, t) => {
                let body = deep(|| type_of(t));
                return if x.linear {
                    Ty::Neg(body.dimension().unwrap_or(1))
                } else {
                    Ty::fun(x.ty.clone(), body)
                };
            }
            Kind::Pair(t, u) => return deep(|| Ty::prod(type_of(t), type_of(u))),
        }
    }
}

fn result(ty: Ty) -> Ty {
    match ty {
        Ty::Fun(_, b) => (*b).clone(),
        Ty::Neg(d) => Ty::euclid(d),
        Ty::Real | Ty::Prod(..) => ty,
    }
}
