//! λ-terms that do something to each real of a value of a first-order type: the polytypic functions of Figures 6 and 15,
//! written out as section 2 writes ⊗.

use super::syntax::{Builtin, Const, E, Expr, IntOp, Kind, LeafOp, Pat, Poly, Ty, grow, make};
use make::{app, builtin, leaf_op, pair, var};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name};

/// A translation of types.
type OnType<'a> = &'a dyn Fn(&Ty) -> Result<Ty, Diagnostic>;

/// `λ(x : from{A}). …` of type `to{A}`, with `leaf` at each real.
pub(super) fn map(ty: &Ty, from: OnType<'_>, to: OnType<'_>, leaf: &dyn Fn(E) -> E) -> Result<E, Diagnostic> {
    let mut walk = Walk { next: 0, recursive: Vec::new(), from, to };
    let x = walk.name("x");
    let body = walk.map(ty, var(x), leaf)?;
    Ok(Expr::new(Kind::Lam(Pat::Var(x), Some(from(ty)?), body)))
}

/// `λ((x, n) : A × ℤ). …` of type `to{A} × ℤ`: `leaf` gets each real and its number, which starts at `n + 1`.
pub(super) fn number(ty: &Ty, to: OnType<'_>, leaf: &dyn Fn(E, E) -> E) -> Result<E, Diagnostic> {
    let same = |ty: &Ty| Ok(ty.clone());
    let mut walk = Walk { next: 0, recursive: Vec::new(), from: &same, to };
    let (x, n) = (walk.name("x"), walk.name("n"));
    let body = walk.number(ty, var(x), var(n), leaf)?;
    let annotation = Some(Ty::prod(ty.clone(), Ty::Int));
    Ok(Expr::new(Kind::Lam(Pat::pair(Pat::Var(x), Pat::Var(n)), annotation, body)))
}

/// `onehot` or `zero` at a product of reals, `zero` at leaves too.
pub(super) fn unit(ty: &Ty, poly: Poly) -> Option<E> {
    let i = Name::new("i");
    let mut seen = 0;
    let e = units(ty, poly, i, &mut seen)?;
    Some(if poly == Poly::OneHot { make::lam(Pat::Var(i), e) } else { e })
}

fn units(ty: &Ty, poly: Poly, i: Name, seen: &mut i64) -> Option<E> {
    match ty {
        Ty::Real if poly == Poly::OneHot => {
            *seen += 1;
            let test =
                leaf_op(LeafOp::CompareInt(super::syntax::Compare::Eq), vec![var(i), make::int(*seen)]);
            Some(make::choice(test, make::real(1.0), make::real(0.0)))
        }
        Ty::Real => Some(make::real(0.0)),
        Ty::Prod(a, b) => grow(|| {
            let left = units(a, poly, i, seen)?;
            Some(pair(left, units(b, poly, i, seen)?))
        }),
        Ty::Int if poly == Poly::Zero => Some(make::int(0)),
        Ty::String if poly == Poly::Zero => Some(make::constant(Const::Str("".into()))),
        Ty::Unit if poly == Poly::Zero => Some(make::constant(Const::Unit)),
        Ty::Int | Ty::String | Ty::Unit | Ty::Sum(..) | Ty::Fun(..) | Ty::Vector(_) | Ty::Monad(_) => None,
        Ty::Delta | Ty::DeltaMap | Ty::Rec(..) | Ty::Var(_) | Ty::Meta(_) => None,
    }
}

/// A term of any type that is never evaluated: a function that does not return, applied.
pub(super) fn never(go: Name, x: Name) -> E {
    let call = || app(var(go), var(x));
    let function = make::lam(Pat::Var(x), call());
    Expr::new(Kind::LetRec(go, None, function, app(var(go), make::constant(Const::Unit))))
}

struct Walk<'a> {
    next: u32,
    /// For each `μX`: `X`, the function for it, and the closed type.
    recursive: Vec<(Name, Name, Ty)>,
    from: OnType<'a>,
    to: OnType<'a>,
}

impl Walk<'_> {
    fn name(&mut self, base: &str) -> Name {
        self.next += 1;
        Name::new(&format!("{base}{}", self.next))
    }

    fn function(&self, name: Name) -> E {
        let function = self.recursive.iter().rev().find(|(bound, _, _)| *bound == name);
        function.map_or_else(|| make::constant(Const::Unit), |(_, f, _)| var(*f))
    }

    fn closed(&self, name: Name, body: &Rc<Ty>) -> Ty {
        let open = Ty::Rec(name, Rc::clone(body));
        self.recursive.iter().rev().fold(open, |ty, (bound, _, by)| Ty::instantiate(&ty, *bound, by))
    }

    fn map(&mut self, ty: &Ty, x: E, leaf: &dyn Fn(E) -> E) -> Result<E, Diagnostic> {
        grow(|| {
            Ok(match ty {
                Ty::Real => leaf(x),
                Ty::Prod(a, b) => {
                    let (left, right) = (self.name("a"), self.name("b"));
                    let both = pair(self.map(a, var(left), leaf)?, self.map(b, var(right), leaf)?);
                    make::bind(Pat::pair(Pat::Var(left), Pat::Var(right)), x, both)
                }
                Ty::Sum(a, b) => {
                    let (left, right) = (self.name("a"), self.name("b"));
                    let inl = Expr::new(Kind::Inl(self.map(a, var(left), leaf)?));
                    let inr = Expr::new(Kind::Inr(self.map(b, var(right), leaf)?));
                    make::case(x, Pat::Var(left), inl, Pat::Var(right), inr)
                }
                Ty::Vector(a) => {
                    let (xs, i) = (self.name("xs"), self.name("i"));
                    let element = app(builtin(Builtin::Index), pair(var(xs), var(i)));
                    let function = make::lam(Pat::Var(i), self.map(a, element, leaf)?);
                    let length = app(builtin(Builtin::Length), var(xs));
                    make::bind(Pat::Var(xs), x, app(builtin(Builtin::Build), pair(length, function)))
                }
                Ty::Rec(name, body) => {
                    let (go, r) = (self.name("go"), self.name("r"));
                    let closed = self.closed(*name, body);
                    let (from, to) = ((self.from)(&closed)?, (self.to)(&closed)?);
                    self.recursive.push((*name, go, closed));
                    let inner = self.map(body, Expr::new(Kind::Unroll(var(r))), leaf)?;
                    self.recursive.pop();
                    let inner = Expr::new(Kind::Roll(to.clone(), inner));
                    let function = Expr::new(Kind::Lam(Pat::Var(r), Some(from.clone()), inner));
                    Expr::new(Kind::LetRec(go, Some(Ty::fun(from, to)), function, app(var(go), x)))
                }
                Ty::Var(name) => app(self.function(*name), x),
                Ty::Int | Ty::String | Ty::Unit => x,
                Ty::Fun(..) | Ty::Monad(_) | Ty::Delta | Ty::DeltaMap | Ty::Meta(_) => x,
            })
        })
    }

    fn number(&mut self, ty: &Ty, x: E, n: E, leaf: &dyn Fn(E, E) -> E) -> Result<E, Diagnostic> {
        grow(|| {
            Ok(match ty {
                Ty::Real => {
                    let next = self.name("n");
                    let more = leaf_op(LeafOp::Int(IntOp::Add), vec![n, make::int(1)]);
                    make::bind(Pat::Var(next), more, pair(leaf(x, var(next)), var(next)))
                }
                Ty::Prod(a, b) => {
                    let (left, right) = (self.name("a"), self.name("b"));
                    let (da, db) = (self.name("a"), self.name("b"));
                    let (n1, n2) = (self.name("n"), self.name("n"));
                    let first = self.number(a, var(left), n, leaf)?;
                    let second = self.number(b, var(right), var(n1), leaf)?;
                    let result = pair(pair(var(da), var(db)), var(n2));
                    let result = make::bind(Pat::pair(Pat::Var(db), Pat::Var(n2)), second, result);
                    let result = make::bind(Pat::pair(Pat::Var(da), Pat::Var(n1)), first, result);
                    make::bind(Pat::pair(Pat::Var(left), Pat::Var(right)), x, result)
                }
                Ty::Sum(a, b) => {
                    let mut arm = |ty: &Ty, injection: fn(E) -> Kind| -> Result<(Pat, E), Diagnostic> {
                        let (content, dual, last) = (self.name("a"), self.name("a"), self.name("n"));
                        let inner = self.number(ty, var(content), Rc::clone(&n), leaf)?;
                        let result = pair(Expr::new(injection(var(dual))), var(last));
                        let bound = Pat::pair(Pat::Var(dual), Pat::Var(last));
                        Ok((Pat::Var(content), make::bind(bound, inner, result)))
                    };
                    let ((p, left), (q, right)) = (arm(a, Kind::Inl)?, arm(b, Kind::Inr)?);
                    make::case(x, p, left, q, right)
                }
                Ty::Vector(a) => self.number_vector(a, x, n, leaf)?,
                Ty::Rec(name, body) => {
                    let (go, r, m) = (self.name("go"), self.name("r"), self.name("n"));
                    let (dual, last) = (self.name("a"), self.name("n"));
                    let closed = self.closed(*name, body);
                    let (from, to) = ((self.from)(&closed)?, (self.to)(&closed)?);
                    self.recursive.push((*name, go, closed));
                    let inner = self.number(body, Expr::new(Kind::Unroll(var(r))), var(m), leaf)?;
                    self.recursive.pop();
                    let result = pair(Expr::new(Kind::Roll(to.clone(), var(dual))), var(last));
                    let inner = make::bind(Pat::pair(Pat::Var(dual), Pat::Var(last)), inner, result);
                    let (from, to) = (Ty::prod(from, Ty::Int), Ty::prod(to, Ty::Int));
                    let parameter = Pat::pair(Pat::Var(r), Pat::Var(m));
                    let function = Expr::new(Kind::Lam(parameter, Some(from.clone()), inner));
                    Expr::new(Kind::LetRec(go, Some(Ty::fun(from, to)), function, app(var(go), pair(x, n))))
                }
                Ty::Var(name) => app(self.function(*name), pair(x, n)),
                Ty::Int | Ty::String | Ty::Unit => pair(x, n),
                Ty::Fun(..) | Ty::Monad(_) | Ty::Delta | Ty::DeltaMap | Ty::Meta(_) => pair(x, n),
            })
        })
    }

    /// The elements one after the other, by halves; each half is a function of the index.
    fn number_vector(&mut self, ty: &Ty, x: E, n: E, leaf: &dyn Fn(E, E) -> E) -> Result<E, Diagnostic> {
        let [xs, go, from, to, m] = ["xs", "go", "from", "to", "n"].map(|base| self.name(base));
        let [dual, half, low, high, i] = ["a", "half", "low", "high", "i"].map(|base| self.name(base));
        let (n1, n2) = (self.name("n"), self.name("n"));
        let call = |a: E, b: E, n: Name| app(var(go), pair(pair(a, b), var(n)));
        let below = |a: E, b: E| leaf_op(LeafOp::CompareInt(super::syntax::Compare::Lt), vec![a, b]);
        let int = |op, a: E, b: E| leaf_op(LeafOp::Int(op), vec![a, b]);
        let element = app(builtin(Builtin::Index), pair(var(xs), var(from)));
        let one = self.number(ty, element, var(m), leaf)?;
        let one = make::bind(
            Pat::pair(Pat::Var(dual), Pat::Var(n1)),
            one,
            pair(make::lam(Pat::Wild, var(dual)), var(n1)),
        );
        let pick = make::choice(below(var(i), var(half)), app(var(low), var(i)), app(var(high), var(i)));
        let both = pair(make::lam(Pat::Var(i), pick), var(n2));
        let second = call(var(half), var(to), n1);
        let both = make::bind(Pat::pair(Pat::Var(high), Pat::Var(n2)), second, both);
        let both = make::bind(Pat::pair(Pat::Var(low), Pat::Var(n1)), call(var(from), var(half), m), both);
        let middle = int(IntOp::Div, int(IntOp::Add, var(from), var(to)), make::int(2));
        let both = make::bind(Pat::Var(half), middle, both);
        let single = below(int(IntOp::Sub, var(to), var(from)), make::int(2));
        let parameter = Pat::pair(Pat::pair(Pat::Var(from), Pat::Var(to)), Pat::Var(m));
        let function = make::lam(parameter, make::choice(single, one, both));
        let length = || app(builtin(Builtin::Length), var(xs));
        let (first, at, last) = (self.name("n"), self.name("at"), self.name("n"));
        let run = make::bind(
            Pat::pair(Pat::Var(at), Pat::Var(last)),
            call(make::int(0), length(), first),
            pair(app(builtin(Builtin::Build), pair(length(), var(at))), var(last)),
        );
        let unused = make::lam(Pat::Wild, never(self.name("never"), self.name("x")));
        let none = pair(app(builtin(Builtin::Build), pair(make::int(0), unused)), var(first));
        let body = make::choice(below(make::int(0), length()), run, none);
        let body = Expr::new(Kind::LetRec(go, None, function, body));
        Ok(make::bind(Pat::Var(xs), x, make::bind(Pat::Var(first), n, body)))
    }
}
