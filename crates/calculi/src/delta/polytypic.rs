//! Polytypic functions (the table of Figure 1, and Figure 15): what each does at each first-order type.
//!
//! [`definition`] writes ⊗, ⊕, ⊙ and zip as λ-terms, in the way that section 2 does for ⊗; it is what the translations apply
//! to when the function occurs in their source ([`super::each`] has the functions of one argument). [`apply`] computes all of them directly, and a test compares the two. On
//! values of different shapes, which no displacement of a value has, ⊕ keeps the first and ⊙ is 0.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "three of the functions come here, and values have the type"
)]

use super::syntax::{Builtin, Compare, Const, E, Expr, IntOp, Kind, LeafOp, Pat, Poly, Ty, grow, make};
use super::translate::{Mode, dual_type};
use super::value::{DeltaMap, DeltaNode, Value};
use make::{app, builtin, case, lam, leaf_op, pair, real_op, var};
use std::rc::Rc;
use wengert_base::Name;
use wengert_prim::RealOp;

/// ⊗, ⊕, ⊙ or zip at a type, as a closed term.
pub(crate) fn definition(poly: Poly, ty: &Ty) -> E {
    let mut writer = Writer { poly, next: 0, recursive: Vec::new() };
    let (x, y) = (writer.name("x"), writer.name("y"));
    let body = writer.at(ty, var(x), var(y));
    let first = if poly == Poly::Scale { Ty::Real } else { ty.clone() };
    let annotation = Some(Ty::prod(first, ty.clone()));
    Expr::new(Kind::Lam(Pat::pair(Pat::Var(x), Pat::Var(y)), annotation, body))
}

struct Writer {
    poly: Poly,
    next: u32,
    /// For each `μX`: `X`, the function for it, and the closed type.
    recursive: Vec<(Name, Name, Ty)>,
}

impl Writer {
    fn name(&mut self, base: &str) -> Name {
        self.next += 1;
        Name::new(&format!("{base}{}", self.next))
    }

    /// `x op y` at a type; for ⊗, `x` is the factor.
    fn at(&mut self, ty: &Ty, x: E, y: E) -> E {
        grow(|| match ty {
            Ty::Real if self.poly == Poly::Add => real_op(RealOp::Add, vec![x, y]),
            Ty::Real if self.poly == Poly::Zip => pair(x, y),
            Ty::Real => real_op(RealOp::Mul, vec![x, y]),
            Ty::Prod(a, b) => self.product(a, b, x, y),
            Ty::Sum(a, b) => self.sum(a, b, x, y),
            Ty::Vector(a) => self.vector(a, x, y),
            Ty::Rec(name, body) => self.recursion(*name, body, x, y),
            Ty::Var(name) => {
                let function = self.recursive.iter().rev().find(|(bound, _, _)| bound == name);
                let function = function.map_or_else(|| make::constant(Const::Unit), |(_, f, _)| var(*f));
                app(function, pair(x, y))
            }
            Ty::Int
            | Ty::String
            | Ty::Unit
            | Ty::Fun(..)
            | Ty::Monad(_)
            | Ty::Delta
            | Ty::DeltaMap
            | Ty::Meta(_) => match self.poly {
                Poly::Dot => make::real(0.0),
                Poly::Scale => y,
                _ => x,
            },
        })
    }

    fn product(&mut self, a: &Ty, b: &Ty, x: E, y: E) -> E {
        let (y1, y2) = (self.name("y"), self.name("y"));
        let bind_y = |body| make::bind(Pat::pair(Pat::Var(y1), Pat::Var(y2)), y, body);
        if self.poly == Poly::Scale {
            let left = self.at(a, Rc::clone(&x), var(y1));
            return bind_y(pair(left, self.at(b, x, var(y2))));
        }
        let (x1, x2) = (self.name("x"), self.name("x"));
        let left = self.at(a, var(x1), var(y1));
        let right = self.at(b, var(x2), var(y2));
        let joined =
            if self.poly == Poly::Dot { real_op(RealOp::Add, vec![left, right]) } else { pair(left, right) };
        make::bind(Pat::pair(Pat::Var(x1), Pat::Var(x2)), x, bind_y(joined))
    }

    fn sum(&mut self, a: &Ty, b: &Ty, x: E, y: E) -> E {
        let (y1, y2) = (self.name("y"), self.name("y"));
        let injected = |dot: bool, left: bool, e: E| match (dot, left) {
            (true, _) => e,
            (false, true) => Expr::new(Kind::Inl(e)),
            (false, false) => Expr::new(Kind::Inr(e)),
        };
        let dot = self.poly == Poly::Dot;
        if self.poly == Poly::Scale {
            let left = injected(false, true, self.at(a, Rc::clone(&x), var(y1)));
            let right = injected(false, false, self.at(b, x, var(y2)));
            return case(y, Pat::Var(y1), left, Pat::Var(y2), right);
        }
        let (x1, x2) = (self.name("x"), self.name("x"));
        let [never, unused] = ["never", "x"].map(|base| self.name(base));
        let poly = self.poly;
        let other = |left, name| match poly {
            Poly::Dot => make::real(0.0),
            // No displacement has another constructor.
            Poly::Zip => super::each::never(never, unused),
            _ => injected(false, left, var(name)),
        };
        let both = injected(dot, true, self.at(a, var(x1), var(y1)));
        let left = case(Rc::clone(&y), Pat::Var(y1), both, Pat::Wild, other(true, x1));
        let both = injected(dot, false, self.at(b, var(x2), var(y2)));
        let right = case(y, Pat::Wild, other(false, x2), Pat::Var(y2), both);
        case(x, Pat::Var(x1), left, Pat::Var(x2), right)
    }

    fn vector(&mut self, a: &Ty, x: E, y: E) -> E {
        let (xs, ys, i) = (self.name("xs"), self.name("ys"), self.name("i"));
        let element = |v| app(builtin(Builtin::Index), pair(var(v), var(i)));
        let length = app(builtin(Builtin::Length), var(ys));
        let body = match self.poly {
            Poly::Scale => {
                let scaled = self.at(a, var(xs), element(ys));
                app(builtin(Builtin::Build), pair(length, lam(Pat::Var(i), scaled)))
            }
            Poly::Dot => {
                let go = self.name("go");
                let next = leaf_op(LeafOp::Int(IntOp::Add), vec![var(i), make::int(1)]);
                let rest = app(var(go), next);
                let summand = self.at(a, element(xs), element(ys));
                let inside = leaf_op(LeafOp::CompareInt(Compare::Lt), vec![var(i), length]);
                let sum = real_op(RealOp::Add, vec![summand, rest]);
                let loops = lam(Pat::Var(i), make::choice(inside, sum, make::real(0.0)));
                Expr::new(Kind::LetRec(go, None, loops, app(var(go), make::int(0))))
            }
            _ => {
                let added = self.at(a, element(xs), element(ys));
                app(builtin(Builtin::Build), pair(length, lam(Pat::Var(i), added)))
            }
        };
        make::bind(Pat::Var(xs), x, make::bind(Pat::Var(ys), y, body))
    }

    fn recursion(&mut self, name: Name, body: &Ty, x: E, y: E) -> E {
        let (go, a, b) = (self.name("go"), self.name("x"), self.name("y"));
        let open = Ty::Rec(name, Rc::new(body.clone()));
        let closed =
            self.recursive.iter().rev().fold(open, |ty, (bound, _, by)| Ty::instantiate(&ty, *bound, by));
        self.recursive.push((name, go, closed.clone()));
        let unrolled = |v| Expr::new(Kind::Unroll(var(v)));
        let scale = self.poly == Poly::Scale;
        let inner = self.at(body, if scale { var(a) } else { unrolled(a) }, unrolled(b));
        self.recursive.pop();
        let dot = self.poly == Poly::Dot;
        let rolled = if self.poly == Poly::Zip { dual_type(&closed, &Mode::Forward) } else { closed.clone() };
        let inner = if dot { inner } else { Expr::new(Kind::Roll(rolled.clone(), inner)) };
        let parameter = Ty::prod(if scale { Ty::Real } else { closed.clone() }, closed);
        let result = if dot { Ty::Real } else { rolled };
        let function = Kind::Lam(Pat::pair(Pat::Var(a), Pat::Var(b)), Some(parameter.clone()), inner);
        let call = app(var(go), pair(x, y));
        Expr::new(Kind::LetRec(go, Some(Ty::fun(parameter, result)), Expr::new(function), call))
    }
}

/// A polytypic function applied to its argument, and how many reals it computed; `None` if the argument does not have
/// the type.
pub(crate) fn apply(poly: Poly, ty: &Ty, argument: &Value) -> Option<(Value, u64)> {
    let lenient = matches!(poly, Poly::Add | Poly::Dot);
    let mut work = Work { reals: 0, next: 0, lenient };
    let value = match poly {
        Poly::Scale => {
            let (factor, v) = argument.halves()?;
            let factor = factor.real()?;
            work.map(ty, v, &mut |work, x| {
                work.reals += 1;
                Some(Value::Real(factor * x.real()?))
            })?
        }
        Poly::Add => {
            let (a, b) = argument.halves()?;
            work.zip(ty, a, b, &mut |x, y| Value::Real(x + y))?
        }
        Poly::Dot => {
            let (a, b) = argument.halves()?;
            let mut sum = 0.0;
            work.zip(ty, a, b, &mut |x, y| {
                sum += x * y;
                Value::Unit
            })?;
            Value::Real(sum)
        }
        Poly::Primal => work.map(ty, argument, &mut |_, x| Some(x.halves()?.0.clone()))?,
        Poly::Delta => work.map(ty, argument, &mut |_, x| Some(x.halves()?.1.clone()))?,
        Poly::OneHot => {
            let at = argument.int()?;
            return Some((onehot(ty, at, &mut 0)?, ty.real_arity()? as u64));
        }
        Poly::Zero => zero(ty)?,
        Poly::Zip => {
            let (a, b) = argument.halves()?;
            work.zip(ty, a, b, &mut |x, y| Value::pair(Value::Real(x), Value::Real(y)))?
        }
        Poly::InitVars => {
            let (v, last) = argument.halves()?;
            work.next = last.int()?;
            let dual = work.map(ty, v, &mut |work, x| {
                work.next += 1;
                Some(Value::pair(x.clone(), Value::Delta(Rc::new(DeltaNode::Var(work.next)))))
            })?;
            Value::pair(dual, Value::Int(work.next))
        }
        Poly::InitZeros => {
            let zero = Rc::new(DeltaNode::Zero);
            work.map(ty, argument, &mut |_, x| Some(Value::pair(x.clone(), Value::Delta(Rc::clone(&zero)))))?
        }
        Poly::Lookup => {
            let (map, dual) = argument.halves()?;
            let Value::Map(map) = map else { return None };
            work.map(ty, dual, &mut |_, x| found(map, x))?
        }
    };
    Some((value, work.reals))
}

/// What a map says about the variable of a dual number.
fn found(map: &DeltaMap, dual: &Value) -> Option<Value> {
    let DeltaNode::Var(id) = &**dual.halves()?.1.delta()? else { return None };
    Some(Value::Real(map.get(id).copied().unwrap_or(0.0)))
}

/// The value `onehot i` and, for `i = 0`, zero, of a product of reals.
fn onehot(ty: &Ty, at: i64, seen: &mut i64) -> Option<Value> {
    match ty {
        Ty::Real => {
            *seen += 1;
            Some(Value::Real(if *seen == at { 1.0 } else { 0.0 }))
        }
        Ty::Prod(a, b) => grow(|| {
            let left = onehot(a, at, seen)?;
            Some(Value::pair(left, onehot(b, at, seen)?))
        }),
        _ => None,
    }
}

/// `zero_A`: where a type has no smallest value, none exists without an argument (section 6: "what if S = S₁ + S₂?").
pub(crate) fn zero(ty: &Ty) -> Option<Value> {
    match ty {
        Ty::Real => Some(Value::Real(0.0)),
        Ty::Int => Some(Value::Int(0)),
        Ty::String => Some(Value::Str("".into())),
        Ty::Unit => Some(Value::Unit),
        Ty::Prod(a, b) => grow(|| Some(Value::pair(zero(a)?, zero(b)?))),
        Ty::Sum(..) | Ty::Fun(..) | Ty::Vector(_) | Ty::Monad(_) | Ty::Delta => None,
        Ty::DeltaMap | Ty::Rec(..) | Ty::Var(_) | Ty::Meta(_) => None,
    }
}

struct Work {
    reals: u64,
    next: i64,
    /// Whether sums with different constructors can be joined.
    lenient: bool,
}

type OnReal<'a> = &'a mut dyn FnMut(&mut Work, &Value) -> Option<Value>;

impl Work {
    /// `v` with the values at the real leaves of `ty`, from left to right, replaced by `f`.
    fn map(&mut self, ty: &Ty, v: &Value, f: OnReal<'_>) -> Option<Value> {
        grow(|| match (ty, v) {
            (Ty::Real, v) => f(self, v),
            (Ty::Prod(a, b), Value::Pair(cell)) => {
                let left = self.map(a, &cell.a, f)?;
                Some(Value::pair(left, self.map(b, &cell.b, f)?))
            }
            (Ty::Sum(a, _), Value::Inl(cell)) => Some(Value::inl(self.map(a, &cell.a, f)?)),
            (Ty::Sum(_, b), Value::Inr(cell)) => Some(Value::inr(self.map(b, &cell.a, f)?)),
            (Ty::Rec(..), Value::Roll(cell, rolled)) => {
                Some(Value::roll(self.map(&ty.unrolled()?, &cell.a, f)?, Rc::clone(rolled)))
            }
            (Ty::Vector(a), Value::Vector(values)) => {
                let mapped: Option<Vec<Value>> = values.iter().map(|v| self.map(a, v, f)).collect();
                Some(Value::Vector(Rc::new(mapped?)))
            }
            (Ty::Int | Ty::String | Ty::Unit, v) => Some(v.clone()),
            _ => None,
        })
    }

    /// Two values of one type, joined at the reals; the rest is that of the first.
    fn zip(&mut self, ty: &Ty, x: &Value, y: &Value, f: &mut dyn FnMut(f64, f64) -> Value) -> Option<Value> {
        grow(|| match (ty, x, y) {
            (Ty::Real, Value::Real(x), Value::Real(y)) => {
                self.reals += 1;
                Some(f(*x, *y))
            }
            (Ty::Prod(a, b), Value::Pair(x), Value::Pair(y)) => {
                let left = self.zip(a, &x.a, &y.a, f)?;
                Some(Value::pair(left, self.zip(b, &x.b, &y.b, f)?))
            }
            (Ty::Sum(a, _), Value::Inl(x), Value::Inl(y)) => Some(Value::inl(self.zip(a, &x.a, &y.a, f)?)),
            (Ty::Sum(_, b), Value::Inr(x), Value::Inr(y)) => Some(Value::inr(self.zip(b, &x.a, &y.a, f)?)),
            (Ty::Rec(..), Value::Roll(x, rolled), Value::Roll(y, _)) => {
                Some(Value::roll(self.zip(&ty.unrolled()?, &x.a, &y.a, f)?, Rc::clone(rolled)))
            }
            (Ty::Vector(a), Value::Vector(xs), Value::Vector(ys)) if xs.len() == ys.len() => {
                let joined: Option<Vec<Value>> =
                    xs.iter().zip(&**ys).map(|(x, y)| self.zip(a, x, y, f)).collect();
                Some(Value::Vector(Rc::new(joined?)))
            }
            (Ty::Int | Ty::String | Ty::Unit, x, _) => Some(x.clone()),
            (Ty::Sum(..), Value::Inl(_), Value::Inr(_)) | (Ty::Sum(..), Value::Inr(_), Value::Inl(_)) => {
                self.lenient.then(|| x.clone())
            }
            _ => None,
        })
    }
}
