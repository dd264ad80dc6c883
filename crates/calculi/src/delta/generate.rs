//! Random well-typed terms of the source language, type first: what is generated for a type has it.
//!
//! Primitives are smooth and bounded where that matters, so that finite differences can judge; divisions have positive
//! divisors.

#![expect(clippy::wildcard_enum_match_arm, reason = "types that have no terms of their own are alike")]

use super::syntax::{Compare, Const, E, Expr, IntOp, Kind, LeafOp, Pat, Ty, make};
use arbitrary::{Result, Unstructured};
use make::{app, leaf_op, pair, real_op, var};
use std::rc::Rc;
use wengert_base::Name;
use wengert_prim::RealOp;

/// A product of reals.
pub(super) fn vector_type(u: &mut Unstructured<'_>) -> Result<Ty> {
    let count = u.int_in_range(1..=4)?;
    let mut ty = Ty::Real;
    for _ in 1..count {
        ty = if u.arbitrary()? { Ty::prod(Ty::Real, ty) } else { Ty::prod(ty, Ty::Real) };
    }
    Ok(ty)
}

/// A first-order type.
pub(super) fn data_type(u: &mut Unstructured<'_>, depth: u32) -> Result<Ty> {
    if depth == 0 {
        return Ok(if u.ratio(3, 4)? {
            Ty::Real
        } else {
            u.choose(&[Ty::Int, Ty::String, Ty::Unit])?.clone()
        });
    }
    Ok(match u.int_in_range(0..=7)? {
        0 | 1 => Ty::Real,
        2..=4 => Ty::prod(data_type(u, depth - 1)?, data_type(u, depth - 1)?),
        5 => Ty::sum(data_type(u, depth - 1)?, data_type(u, depth - 1)?),
        6 => Ty::Vector(Rc::new(data_type(u, depth - 1)?)),
        _ => {
            let name = Name::new("L");
            Ty::Rec(name, Rc::new(Ty::sum(Ty::Unit, Ty::prod(data_type(u, depth - 1)?, Ty::Var(name)))))
        }
    })
}

/// A real number of modest size.
pub(super) fn real(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(f64::from(u.int_in_range(-200i32..=200)?) / 64.0 + 0.0078)
}

/// A value of a first-order type as a term; values made with the same `shape` have the same constructors and lengths.
pub(super) fn value(u: &mut Unstructured<'_>, ty: &Ty, shape: u64) -> Result<E> {
    Ok(match ty {
        Ty::Real => make::real(real(u)?),
        Ty::Int => make::int(i64::try_from(shape % 5).unwrap()),
        Ty::String => make::constant(Const::Str("leaf".into())),
        Ty::Prod(a, b) => pair(value(u, a, shape / 2)?, value(u, b, shape / 3)?),
        Ty::Sum(a, _) if shape.is_multiple_of(2) => Expr::new(Kind::Inl(value(u, a, shape / 2)?)),
        Ty::Sum(_, b) => Expr::new(Kind::Inr(value(u, b, shape / 2)?)),
        Ty::Vector(a) => {
            let element = value(u, a, shape / 2)?;
            let count = make::int(i64::try_from(shape % 3).unwrap() + 1);
            app(make::builtin(super::syntax::Builtin::Build), pair(count, make::lam(Pat::Wild, element)))
        }
        Ty::Rec(..) => Expr::new(Kind::Roll(ty.clone(), value(u, &ty.unrolled().unwrap(), shape / 2)?)),
        Ty::Unit | Ty::Fun(..) | Ty::Monad(_) | Ty::Delta | Ty::DeltaMap | Ty::Var(_) | Ty::Meta(_) => {
            make::constant(Const::Unit)
        }
    })
}

/// Generates terms.
pub(super) struct Terms<'u, 'b> {
    pub(super) u: &'u mut Unstructured<'b>,
    env: Vec<(Name, Ty)>,
    next: u32,
}

/// A closed term of type `s → t`.
pub(super) fn main_expression(u: &mut Unstructured<'_>, s: &Ty, t: &Ty, fuel: u32) -> Result<E> {
    let mut terms = Terms { u, env: Vec::new(), next: 0 };
    let wrapped = terms.u.ratio(1, 3)?;
    if wrapped {
        // "e will often start with a nested collection of let-bound auxiliary functions"
        let ty = Ty::fun(Ty::Real, Ty::Real);
        let value = terms.term(&ty, fuel / 3)?;
        let name = terms.bind(&ty);
        let body = terms.term(&Ty::fun(s.clone(), t.clone()), fuel)?;
        return Ok(make::bind(Pat::Var(name), value, body));
    }
    terms.lambda(s, t, fuel)
}

impl Terms<'_, '_> {
    fn name(&mut self) -> Name {
        self.next += 1;
        // Names that the translations use themselves, too.
        let base = ["x", "y", "f", "u1", "z", "s", "ds1", "dt"][self.next as usize % 8];
        Name::new(&format!("{base}{}", if self.next < 8 { String::new() } else { self.next.to_string() }))
    }

    fn bind(&mut self, ty: &Ty) -> Name {
        let name = self.name();
        self.env.push((name, ty.clone()));
        name
    }

    /// A term with a variable of type `ty` in scope.
    fn under(&mut self, ty: &Ty, result: &Ty, fuel: u32) -> Result<(Name, E)> {
        let name = self.bind(ty);
        let body = self.term(result, fuel)?;
        self.env.pop();
        Ok((name, body))
    }

    fn lambda(&mut self, a: &Ty, b: &Ty, fuel: u32) -> Result<E> {
        let (name, body) = self.under(a, b, fuel)?;
        Ok(Expr::new(Kind::Lam(Pat::Var(name), Some(a.clone()), body)))
    }

    /// A type for something on the way.
    fn detour(&mut self) -> Result<Ty> {
        Ok(match self.u.int_in_range(0..=6)? {
            0 | 1 => Ty::Real,
            2 => Ty::prod(Ty::Real, Ty::Real),
            3 => Ty::sum(Ty::Real, Ty::prod(Ty::Int, Ty::Real)),
            4 => Ty::fun(Ty::Real, Ty::Real),
            5 => Ty::Vector(Rc::new(Ty::Real)),
            _ => Ty::fun(Ty::fun(Ty::Real, Ty::Real), Ty::Real),
        })
    }

    pub(super) fn term(&mut self, ty: &Ty, fuel: u32) -> Result<E> {
        if fuel == 0 {
            return self.leaf(ty);
        }
        let fuel = fuel - 1;
        match self.u.int_in_range(0..=11)? {
            0 => {
                let bound = self.detour()?;
                let value = self.term(&bound, fuel / 2)?;
                let (name, body) = self.under(&bound, ty, fuel)?;
                Ok(make::bind(Pat::Var(name), value, body))
            }
            1 => {
                let a = self.detour()?;
                let function = self.term(&Ty::fun(a.clone(), ty.clone()), fuel / 2)?;
                Ok(app(function, self.term(&a, fuel / 2)?))
            }
            2 => {
                let other = self.detour()?;
                let first: bool = self.u.arbitrary()?;
                let (a, b) = if first { (ty, &other) } else { (&other, ty) };
                let tuple = self.term(&Ty::prod(a.clone(), b.clone()), fuel / 2)?;
                Ok(if first { make::fst(tuple) } else { make::snd(tuple) })
            }
            3 => {
                let (a, b) = (self.detour()?, Ty::Real);
                let scrutinee = self.term(&Ty::sum(a.clone(), b.clone()), fuel / 2)?;
                let (x, left) = self.under(&a, ty, fuel / 2)?;
                let (y, right) = self.under(&b, ty, fuel / 2)?;
                Ok(make::case(scrutinee, Pat::Var(x), left, Pat::Var(y), right))
            }
            4 => {
                let op = if self.u.arbitrary()? {
                    LeafOp::CompareReal(Compare::Lt)
                } else {
                    LeafOp::CompareInt(Compare::Le)
                };
                let operand = if op == LeafOp::CompareReal(Compare::Lt) { Ty::Real } else { Ty::Int };
                let test = leaf_op(op, vec![self.term(&operand, fuel / 4)?, self.term(&operand, fuel / 4)?]);
                Ok(make::choice(test, self.term(ty, fuel / 2)?, self.term(ty, fuel / 2)?))
            }
            5 => self.recursion(ty, fuel),
            6 => {
                let vector = self.term(&Ty::Vector(Rc::new(ty.clone())), fuel / 2)?;
                Ok(app(make::builtin(super::syntax::Builtin::Index), pair(vector, make::int(0))))
            }
            _ => self.introduction(ty, fuel),
        }
    }

    /// `letrec go = λ(acc, n). if n < 1 then acc else go (e, n - 1) in go (e, k)`
    fn recursion(&mut self, ty: &Ty, fuel: u32) -> Result<E> {
        let start = self.term(ty, fuel / 3)?;
        let (go, n) = (self.name(), self.name());
        let (acc, next) = self.under(ty, ty, fuel / 3)?;
        let count = self.u.int_in_range(0..=3)?;
        let fewer = leaf_op(LeafOp::Int(IntOp::Sub), vec![var(n), make::int(1)]);
        let test = leaf_op(LeafOp::CompareInt(Compare::Lt), vec![var(n), make::int(1)]);
        let body = make::choice(test, var(acc), app(var(go), pair(next, fewer)));
        let annotation = Some(Ty::prod(ty.clone(), Ty::Int));
        let function = Expr::new(Kind::Lam(Pat::pair(Pat::Var(acc), Pat::Var(n)), annotation, body));
        Ok(Expr::new(Kind::LetRec(go, None, function, app(var(go), pair(start, make::int(count))))))
    }

    /// A variable of the type, or the smallest term of it.
    fn leaf(&mut self, ty: &Ty) -> Result<E> {
        let mut seen = std::collections::HashSet::new();
        let visible: Vec<Name> = self
            .env
            .iter()
            .rev()
            .filter(|(name, _)| seen.insert(*name))
            .filter(|(_, other)| other == ty)
            .map(|(name, _)| *name)
            .collect();
        if !visible.is_empty() && self.u.ratio(9, 10)? {
            return Ok(var(*self.u.choose(&visible)?));
        }
        Ok(match ty {
            Ty::Fun(a, b) => {
                let name = self.bind(a);
                let body = self.leaf(b)?;
                self.env.pop();
                Expr::new(Kind::Lam(Pat::Var(name), Some((**a).clone()), body))
            }
            Ty::Prod(a, b) => pair(self.leaf(a)?, self.leaf(b)?),
            Ty::Sum(a, _) if self.u.arbitrary()? => Expr::new(Kind::Inl(self.leaf(a)?)),
            Ty::Sum(_, b) => Expr::new(Kind::Inr(self.leaf(b)?)),
            Ty::Vector(a) => {
                let element = self.leaf(a)?;
                app(
                    make::builtin(super::syntax::Builtin::Build),
                    pair(make::int(2), make::lam(Pat::Wild, element)),
                )
            }
            _ => value(self.u, ty, 0)?,
        })
    }

    /// A term that makes a value of the type, or computes it by a primitive.
    fn introduction(&mut self, ty: &Ty, fuel: u32) -> Result<E> {
        Ok(match ty {
            Ty::Real => self.arithmetic(fuel)?,
            Ty::Int if self.u.arbitrary()? => leaf_op(LeafOp::Floor, vec![self.term(&Ty::Real, fuel / 2)?]),
            Ty::Fun(a, b) => self.lambda(a, b, fuel)?,
            Ty::Prod(a, b) => pair(self.term(a, fuel / 2)?, self.term(b, fuel / 2)?),
            Ty::Sum(a, _) if self.u.arbitrary()? => Expr::new(Kind::Inl(self.term(a, fuel)?)),
            Ty::Sum(_, b) => Expr::new(Kind::Inr(self.term(b, fuel)?)),
            Ty::Vector(a) => {
                let (i, element) = self.under(&Ty::Int, a, fuel / 2)?;
                app(
                    make::builtin(super::syntax::Builtin::Build),
                    pair(make::int(2), make::lam(Pat::Var(i), element)),
                )
            }
            Ty::Rec(..) => {
                let content = self.term(&ty.unrolled().unwrap(), fuel / 2)?;
                Expr::new(Kind::Roll(ty.clone(), content))
            }
            _ => self.leaf(ty)?,
        })
    }

    fn arithmetic(&mut self, fuel: u32) -> Result<E> {
        let unary = [
            RealOp::Sin,
            RealOp::Cos,
            RealOp::Tanh,
            RealOp::Sigmoid,
            RealOp::Atan,
            RealOp::Neg,
            RealOp::PowInt(2),
        ];
        Ok(match self.u.int_in_range(0..=8)? {
            0 | 1 => {
                real_op(RealOp::Mul, vec![self.term(&Ty::Real, fuel / 2)?, self.term(&Ty::Real, fuel / 2)?])
            }
            2 => real_op(RealOp::Add, vec![self.term(&Ty::Real, fuel / 2)?, self.term(&Ty::Real, fuel / 2)?]),
            3 => real_op(RealOp::Sub, vec![self.term(&Ty::Real, fuel / 2)?, self.term(&Ty::Real, fuel / 2)?]),
            4 | 5 => real_op(*self.u.choose(&unary)?, vec![self.term(&Ty::Real, fuel)?]),
            6 => {
                let square = real_op(RealOp::PowInt(2), vec![self.term(&Ty::Real, fuel / 2)?]);
                let divisor = real_op(RealOp::Add, vec![make::real(1.0), square]);
                real_op(RealOp::Div, vec![self.term(&Ty::Real, fuel / 2)?, divisor])
            }
            7 => leaf_op(LeafOp::ToReal, vec![self.term(&Ty::Int, fuel / 2)?]),
            _ => {
                let square = real_op(RealOp::PowInt(2), vec![self.term(&Ty::Real, fuel / 2)?]);
                let inside = real_op(RealOp::Add, vec![make::real(1.5), square]);
                real_op(if self.u.arbitrary()? { RealOp::Log } else { RealOp::Sqrt }, vec![inside])
            }
        })
    }
}
