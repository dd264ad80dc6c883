//! Derivative operators: the wrapper of a translation around the function to differentiate.
//!
//! The paper's main expression is closed. Definitions around it become part of it ("`e` will often start with a nested collection of
//! let-bound auxiliary functions"), and what is only known as a value becomes an argument, as `dt` does in Figure 15: its
//! reals are paired with `Zero`. So a derivative may stand inside of a function that is itself differentiated. If what is
//! differentiated has shaded constructs, for it takes a derivative itself, these are written out first (`unshade`).

use super::super::syntax::{E, Expr, Kind, Pat, Poly, Ty, grow, make};
use super::super::translate::{Mode, dual_type};
use super::super::{each, errors, forward, monadic, naive, print, resolve, staged, tower, unshade};
use super::{Around, Method, Translated, Translator};
use crate::kit::simple::{self, Derive, Term};
use make::{app, pair, var};
use resolve::children;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};

/// The highest order of `taylor`: the terms of a tower grow with its square.
const MAX_ORDER: usize = 12;

/// A function to differentiate.
struct Main {
    e: E,
    s: Ty,
    t: Ty,
    /// Variables of it whose values are given from outside.
    given: Vec<(Name, Ty)>,
}

impl Main {
    /// Whether it is `ℝᵃ → ℝ`, and closed: the case of sections 3 to 9.
    fn is_scalar(&self) -> bool {
        self.given.is_empty() && self.s.real_arity().is_some() && self.t == Ty::Real
    }
}

impl Translator<'_> {
    pub(super) fn derive(&mut self, derive: Derive, args: &[Term], term: &Term) -> Translated<E> {
        let [f, x] = args else { return Err(self.outside("the pullback of a 1-form", term.span)) };
        let reverse = match derive {
            Derive::Grad | Derive::ValueAndGrad | Derive::Vjp => true,
            Derive::Derivative | Derive::Jvp => false,
            Derive::Pullback => return Err(self.outside("the pullback of a 1-form", term.span)),
        };
        let point = self.term(x)?;
        let main = self.main(f)?;
        let derivative = if reverse { self.reverse(&main, term.span)? } else { forward_map(&main)? };
        let Main { e, t, .. } = main;
        let one = make::real(1.0);
        let p = self.unused("p");
        let at = |value| make::bind(Pat::Var(p), point, value);
        Ok(match derive {
            Derive::Grad | Derive::Derivative => at(app(derivative, pair(var(p), one))),
            Derive::ValueAndGrad => at(pair(app(e, var(p)), app(derivative, pair(var(p), one)))),
            Derive::Jvp => at(pair(app(e, make::fst(var(p))), app(derivative, var(p)))),
            Derive::Vjp | Derive::Pullback => {
                let dt = self.unused("dt");
                let map = Kind::Lam(Pat::Var(dt), Some(t), app(derivative, pair(var(p), var(dt))));
                at(pair(app(e, var(p)), Expr::new(map)))
            }
        })
    }

    /// The function to differentiate.
    fn main(&mut self, f: &Term) -> Translated<Main> {
        let simple::Ty::Fun(s, t) = &f.ty else { return Err(self.outside("this derivative", f.span)) };
        let (s, t) = (self.ty(s, f.span)?, self.ty(t, f.span)?);
        if !s.is_first_order() || !t.is_first_order() {
            return Err(errors::main_expression(f.span, &print::ty(&Ty::fun(s, t))));
        }
        let function = self.term(f)?;
        let (mut e, given) = self.closed(function, f.span)?;
        if unshade::is_shaded(&e) {
            e = unshade::unshade(&e)?;
        }
        Ok(Main { e, s, t, given })
    }

    /// `linearize f x`: the value, and `ℱ{e}` at the point.
    pub(super) fn linearize(&mut self, f: &Term, x: &Term) -> Translated<E> {
        let point = self.term(x)?;
        let main = self.main(f)?;
        let (p, ds) = (self.unused("p"), self.unused("ds"));
        let tangent = app(forward_map(&main)?, pair(var(p), var(ds)));
        let map = Expr::new(Kind::Lam(Pat::Var(ds), Some(main.s), tangent));
        Ok(make::bind(Pat::Var(p), point, pair(app(main.e, var(p)), map)))
    }

    /// `taylor n f x`: the tower of section 10.4 along 1, as an array. Constants are the towers `(x, 0, …, 0)`.
    pub(super) fn taylor(&mut self, order: i64, f: &Term, x: &Term, span: Span) -> Translated<E> {
        let order = usize::try_from(order).ok().filter(|order| (1..=MAX_ORDER).contains(order));
        let order = order.ok_or_else(|| {
            self.outside(&format!("a tower whose order is not between 1 and {MAX_ORDER}"), span)
        })?;
        let point = self.term(x)?;
        let Main { e, s, given, .. } = self.main(f)?;
        let p = self.unused("p");
        let mut tower = tower::wrapper(&e, &s, order)?;
        for (variable, ty) in &given {
            let zeros = |x| make::tuple(std::iter::once(x).chain(vec![make::real(0.0); order]).collect());
            let dual = |ty: &Ty| Ok(dual_type(ty, &Mode::Tower(order)));
            let constant = each::map(ty, &|ty: &Ty| Ok(ty.clone()), &dual, &zeros)?;
            tower = make::bind(Pat::Var(*variable), app(constant, var(*variable)), tower);
        }
        let names: Vec<Name> = (0..=order).map(|_| self.unused("d")).collect();
        let array = self.array(names.iter().map(|name| var(*name)).collect());
        let derivatives = app(tower, pair(var(p), make::real(1.0)));
        let pattern = Pat::tuple(names.into_iter().map(Pat::Var).collect());
        Ok(make::bind(Pat::Var(p), point, make::bind(pattern, derivatives, array)))
    }

    /// The reverse derivative, a term `S × δT → δS`.
    fn reverse(&mut self, main: &Main, span: Span) -> Translated<E> {
        let Main { e, s, t, given } = main;
        match self.method {
            Method::Monadic if main.is_scalar() => monadic::wrapper(e, s),
            Method::Monadic => monadic::open_wrapper(e, s, t, given),
            Method::Naive | Method::Staged | Method::Forward if !main.is_scalar() => {
                Err(self.outside("a function that is not `ℝᵃ → ℝ` in this translation", span))
            }
            Method::Naive => naive::wrapper(e, s),
            Method::Staged => staged::wrapper(e, s),
            Method::Forward => self.forward_plan(e, s),
        }
    }

    /// The Forward Plan of section 3.2: one call of `ℱ` for each direction, `λ(s, dt). dt ⊗ (ℱ{e} (s, onehot 1), …)`.
    fn forward_plan(&mut self, e: &E, s: &Ty) -> Translated<E> {
        let (p, dt, f) = (self.unused("s"), self.unused("dt"), self.unused("f"));
        let count = i64::try_from(s.real_arity().unwrap_or(0)).unwrap_or(i64::MAX);
        let direction = |i| app(make::poly(Poly::OneHot, s), make::int(i));
        let columns = (1..=count).map(|i| app(var(f), pair(var(p), direction(i)))).collect();
        let gradient = super::super::translate::shaped_term(s, columns);
        let scaled = app(make::poly(Poly::Scale, s), pair(var(dt), gradient));
        let body = make::bind(Pat::Var(f), forward::wrapper(e, s)?, scaled);
        Ok(make::lam(Pat::pair(Pat::Var(p), Pat::Var(dt)), body))
    }

    /// A function with the definitions around it that it uses, and the variables whose values it needs.
    fn closed(&self, mut e: E, span: Span) -> Translated<(E, Vec<(Name, Ty)>)> {
        let mut free = free_variables(&e);
        let mut given: Vec<(Name, Ty)> = Vec::new();
        for around in self.context.iter().rev() {
            let (Around::Let(name, ..) | Around::LetRec(name, ..) | Around::Argument(name, _)) = around;
            if !free.remove(name) {
                continue;
            }
            match around {
                Around::Let(name, ty, _) | Around::Argument(name, ty) if ty.is_first_order() => {
                    given.push((*name, ty.clone()));
                }
                Around::Let(name, _, value) => {
                    free.extend(free_variables(value));
                    e = make::bind(Pat::Var(*name), Rc::clone(value), e);
                }
                Around::LetRec(name, ty, value) => {
                    free.extend(free_variables(value));
                    free.remove(name);
                    e = Expr::new(Kind::LetRec(*name, Some(ty.clone()), Rc::clone(value), e));
                }
                Around::Argument(name, _) => return Err(errors::open(span, name.as_str())),
            }
        }
        Ok((e, given))
    }
}

/// The forward derivative, a term `S × δS → δT`.
fn forward_map(main: &Main) -> Result<E, Diagnostic> {
    let Main { e, s, t, given } = main;
    if main.is_scalar() { forward::wrapper(e, s) } else { forward::open_wrapper(e, s, t, given) }
}

/// The free variables of a term.
fn free_variables(e: &E) -> FxHashSet<Name> {
    let mut scope = Scope::default();
    scope.term(e);
    scope.free
}

#[derive(Default)]
struct Scope {
    /// How many binders of the name are around.
    bound: FxHashMap<Name, usize>,
    free: FxHashSet<Name>,
}

impl Scope {
    fn term(&mut self, e: &E) {
        match &e.kind {
            Kind::Var(name, _) => {
                if self.bound.get(name).is_none_or(|count| *count == 0) {
                    self.free.insert(*name);
                }
            }
            Kind::Lam(pat, _, body) => self.under(pat, body),
            Kind::Let(pat, value, body) | Kind::Do(pat, value, body) => {
                grow(|| self.term(value));
                self.under(pat, body);
            }
            Kind::LetRec(name, _, value, body) => {
                self.under(&Pat::Var(*name), value);
                self.under(&Pat::Var(*name), body);
            }
            Kind::Case(scrutinee, p, a, q, b) => {
                grow(|| self.term(scrutinee));
                self.under(p, a);
                self.under(q, b);
            }
            Kind::App(..) | Kind::Pair(..) | Kind::Fst(_) | Kind::Snd(_) | Kind::Inl(_) | Kind::Inr(_) => {
                self.all(e);
            }
            Kind::Roll(..) | Kind::Unroll(_) | Kind::Ann(..) | Kind::Pure(_) => self.all(e),
            Kind::Const(_) | Kind::Opaque(_) => {}
        }
    }

    fn all(&mut self, e: &E) {
        for child in children(e) {
            grow(|| self.term(child));
        }
    }

    fn under(&mut self, pat: &Pat, e: &E) {
        pat.each(&mut |name| *self.bound.entry(name).or_default() += 1);
        grow(|| self.term(e));
        pat.each(&mut |name| *self.bound.entry(name).or_default() -= 1);
    }
}
