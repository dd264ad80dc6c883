//! Derivative operators as pushforwards, and linear functionals.
//!
//! A gradient is the tuple of `π₁ (T f ⟨e, x⟩)` for the unit vectors `e`: the calculus is forward mode, so that takes as many
//! pushforwards as `x` has numbers. An element of `Dual σ` is a function `σ → R`.
//!
//! `T` of a function of Church lists would be the tangent of a fold, not a list of tangents. So functions of arrays, and
//! into arrays, are made functions of tuples first, which needs arrays of known length.

use super::super::syntax::{
    Half, Term, Var, app, deep, derivative, inj, lam, num, op, pair, proj, push, sum, var, zero,
};
use super::known::{Known, is_known};
use super::{Translation, component, outside, tuple};
use crate::kit::simple::{self, Derive, Program, TermKind, Ty};
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

/// A function with its point, both free of arrays.
struct Plain {
    function: Term,
    point: Term,
    from: Ty,
    to: Ty,
    /// What the point and the result were made from.
    point_shape: Known,
    result_shape: Known,
}

impl Translation {
    pub(super) fn derive(
        &mut self,
        operator: Derive,
        args: &[simple::Term],
        term: &simple::Term,
    ) -> Result<Known, Diagnostic> {
        let (Some(f), Some(x)) = (args.first(), args.last()) else {
            return Err(outside("this derivative", term.span));
        };
        let made = |made: Term| Ok(Known::Term(made, term.ty.clone()));
        let at = self.value(x)?;
        match operator {
            Derive::Jvp => {
                let (x, direction) = self.halves(&at, &x.ty, x.span)?;
                let plain = self.plain(f, x, term.span)?;
                let direction = self.flat(&direction, term.span)?;
                let pushed = app(push(plain.function), pair(direction, plain.point));
                let half = |half| plain.result_shape.like(&proj(half, pushed.clone()), &plain.to);
                let (value, tangent) = (half(Half::Second), half(Half::First));
                self.pair_of(value, tangent, term)
            }
            Derive::Derivative => {
                let plain = self.plain(f, at, term.span)?;
                if !is_known(&term.ty) {
                    return made(app(app(derivative(), plain.function), plain.point));
                }
                let pushed = app(push(plain.function), pair(num(1.0), plain.point));
                Ok(plain.result_shape.like(&proj(Half::First, pushed), &plain.to))
            }
            Derive::Grad | Derive::ValueAndGrad => {
                let plain = self.plain(f, at, term.span)?;
                let (g, y) = (Var::fresh("f"), Var::fresh("x"));
                let gradient = partials(&plain.from, &|unit| pushed(&var(&g), unit, &var(&y)))
                    .ok_or_else(|| no_gradient(x.span))?;
                let applied = |body: Term| {
                    app(app(lam(&g, lam(&y, body)), plain.function.clone()), plain.point.clone())
                };
                if operator == Derive::Grad {
                    return Ok(plain.point_shape.like(&applied(gradient), &plain.from));
                }
                let both = applied(pair(app(var(&g), var(&y)), gradient));
                if !is_known(&term.ty) {
                    return made(both);
                }
                let gradient = plain.point_shape.like(&proj(Half::Second, both.clone()), &plain.from);
                Ok(Known::Tuple(vec![Known::Term(proj(Half::First, both), Ty::Real), gradient]))
            }
            Derive::Vjp | Derive::Pullback if is_known(&f.ty) => {
                Err(outside("a cotangent of arrays", term.span))
            }
            Derive::Vjp => made(self.vjp(f, at, x.span, term.span)?),
            Derive::Pullback => {
                let form = args.get(1).map(|form| self.term(form)).transpose()?.unwrap_or_else(zero);
                made(self.pulled_back(f, form, at, term.span)?)
            }
        }
    }

    /// `⟨f x, λc. …⟩`, of which the function multiplies a cotangent with the partial derivatives.
    fn vjp(&mut self, f: &simple::Term, at: Known, x: Span, span: Span) -> Result<Term, Diagnostic> {
        let plain = self.plain(f, at, span)?;
        let (g, y, c) = (Var::fresh("f"), Var::fresh("x"), Var::fresh("c"));
        let pulled = partials(&plain.from, &|unit| {
            inner(&plain.to, &var(&c), &pushed(&var(&g), unit, &var(&y))).unwrap_or_else(zero)
        });
        let pulled = pulled.ok_or_else(|| no_gradient(x))?;
        inner(&plain.to, &var(&c), &var(&c)).ok_or_else(|| no_gradient(f.span))?;
        let both = pair(app(var(&g), var(&y)), lam(&c, pulled));
        Ok(app(app(lam(&g, lam(&y, both)), plain.function), plain.point))
    }

    /// `λv. w (f x) (π₁ (T f ⟨v, x⟩))`, the pullback of a 1-form.
    fn pulled_back(
        &mut self,
        f: &simple::Term,
        form: Term,
        at: Known,
        span: Span,
    ) -> Result<Term, Diagnostic> {
        let plain = self.plain(f, at, span)?;
        let (g, w, y, v) = (Var::fresh("f"), Var::fresh("w"), Var::fresh("x"), Var::fresh("v"));
        let functional = app(var(&w), app(var(&g), var(&y)));
        let body = lam(&v, app(functional, pushed(&var(&g), var(&v), &var(&y))));
        let operator = lam(&g, lam(&w, lam(&y, body)));
        Ok(app(app(app(operator, plain.function), form), plain.point))
    }

    /// A pair as the program has it.
    fn pair_of(&mut self, a: Known, b: Known, term: &simple::Term) -> Result<Known, Diagnostic> {
        if is_known(&term.ty) {
            return Ok(Known::Tuple(vec![a, b]));
        }
        let (a, b) = (self.term_of(&a, term.span)?, self.term_of(&b, term.span)?);
        Ok(Known::Term(pair(a, b), term.ty.clone()))
    }

    fn halves(&mut self, both: &Known, ty: &Ty, span: Span) -> Result<(Known, Known), Diagnostic> {
        let Ty::Tuple(types) = ty else { return Err(outside("this derivative", span)) };
        let (Some(a), Some(b)) = (types.first(), types.get(1)) else {
            return Err(outside("this derivative", span));
        };
        match both {
            Known::Tuple(items) => match items.as_slice() {
                [x, t] => Ok((x.clone(), t.clone())),
                _ => Err(outside("this derivative", span)),
            },
            other => {
                let both = self.term_of(other, span)?;
                let half = |half, ty: &Ty| Known::Term(proj(half, both.clone()), ty.clone());
                Ok((half(Half::First, a), half(Half::Second, b)))
            }
        }
    }

    /// A function at a point, without arrays.
    fn plain(&mut self, f: &simple::Term, point: Known, span: Span) -> Result<Plain, Diagnostic> {
        let Ty::Fun(from, to) = &f.ty else { return Err(outside("this derivative", span)) };
        let (from, to) = (from.as_ref().clone(), to.as_ref().clone());
        if !is_known(&from) && !is_known(&to) {
            let (function, at) = (self.term(f)?, self.term_of(&point, span)?);
            let result_shape = Known::Term(zero(), to.clone());
            return Ok(Plain { function, point: at, point_shape: point, from, to, result_shape });
        }
        let flat_from = point.flat_type().ok_or_else(|| unknown_length(span))?;
        let t = Var::fresh("t");
        let at = self.flat(&point, span)?;
        let rebuilt = point.like(&var(&t), &flat_from);
        let result = self.call(f, vec![rebuilt], &to)?;
        let flat_to = result.flat_type().ok_or_else(|| unknown_length(f.span))?;
        let function = lam(&t, self.flat(&result, f.span)?);
        Ok(Plain {
            function,
            point: at,
            from: flat_from,
            to: flat_to,
            point_shape: point,
            result_shape: result,
        })
    }

    /// A value as nested tuples.
    fn flat(&mut self, value: &Known, span: Span) -> Result<Term, Diagnostic> {
        match value {
            Known::Tuple(items) | Known::Array(items) => {
                let items: Result<Vec<Term>, Diagnostic> =
                    items.iter().map(|item| self.flat(item, span)).collect();
                Ok(tuple(items?))
            }
            other => self.term_of(other, span),
        }
    }

    /// Sums, multiples and inner products of tangents, and linear functionals.
    pub(super) fn vector_operation(
        &mut self,
        prim: Prim,
        args: &[simple::Term],
        term: &simple::Term,
    ) -> Result<Option<Term>, Diagnostic> {
        let no = || outside(&format!("`{}` at this type", prim.info().name), term.span);
        if args.iter().any(|arg| is_known(&arg.ty)) {
            return Ok(None);
        }
        let ty = args.last().map_or(&term.ty, |last| &last.ty);
        Ok(Some(match (prim, args) {
            (Prim::VecZero, [_]) => zero(),
            (Prim::VecAdd, [a, b]) => sum([self.term(a)?, self.term(b)?]),
            (Prim::VecScale, [r, a]) => scaled(ty, &self.term(r)?, &self.term(a)?).ok_or_else(no)?,
            (Prim::VecInner, [a, b]) => inner(ty, &self.term(a)?, &self.term(b)?).ok_or_else(no)?,
            (Prim::ApplyDual, [d, a]) => app(self.term(d)?, self.term(a)?),
            (Prim::ToDual, [a]) => {
                let (c, v) = (Var::fresh("c"), Var::fresh("v"));
                let product = inner(ty, &var(&c), &var(&v)).ok_or_else(no)?;
                app(lam(&c, lam(&v, product)), self.term(a)?)
            }
            (Prim::FromDual, [d]) => {
                let g = Var::fresh("g");
                let vector = partials(&term.ty, &|unit| app(var(&g), unit)).ok_or_else(no)?;
                app(lam(&g, vector), self.term(d)?)
            }
            (Prim::Linearize, [f, x]) => {
                let (g, y, t) = (Var::fresh("f"), Var::fresh("x"), Var::fresh("t"));
                let map = lam(&t, pushed(&var(&g), var(&t), &var(&y)));
                let both = lam(&g, lam(&y, pair(app(var(&g), var(&y)), map)));
                app(app(both, self.term(f)?), self.term(x)?)
            }
            _ => return Ok(None),
        }))
    }
}

/// A gradient as a formula to be differentiated.
pub struct Formula {
    /// The function at its variables.
    pub body: Term,
    /// One for each number in the point.
    pub variables: Vec<Var>,
    /// The numbers of the point.
    pub point: Vec<Term>,
    shape: Known,
}

impl Formula {
    /// The gradient with these partial derivatives.
    pub fn gradient(&self, partials: Vec<Term>) -> Option<Term> {
        let gradient = self.shape.with_numbers(&mut partials.into_iter())?;
        Translation::default().term_of(&gradient, Span::NOWHERE).ok()
    }
}

/// The formula of a program that is a gradient or a derivative of one number by numbers.
pub fn formula(program: &Program) -> Result<Option<Formula>, Diagnostic> {
    let TermKind::Derive(Derive::Grad | Derive::Derivative, args) = &program.term.kind else {
        return Ok(None);
    };
    let [f, x] = args.as_slice() else { return Ok(None) };
    let mut translation = Translation::default();
    let at = translation.value(x)?;
    let plain = translation.plain(f, at, program.term.span)?;
    let mut point = Vec::new();
    if plain.to != Ty::Real || !Known::Term(plain.point.clone(), plain.from.clone()).numbers(&mut point) {
        return Ok(None);
    }
    let variables: Vec<Var> = point.iter().map(|_| Var::fresh("x")).collect();
    let argument = Known::Term(zero(), plain.from).with_numbers(&mut variables.iter().map(var));
    let Some(Known::Term(argument, _)) = argument else { return Ok(None) };
    Ok(Some(Formula { body: app(plain.function, argument), variables, point, shape: plain.point_shape }))
}

fn no_gradient(span: Span) -> Diagnostic {
    outside("a gradient with respect to other than numbers", span)
}

fn unknown_length(span: Span) -> Diagnostic {
    outside("a derivative of arrays whose lengths are not known", span)
}

/// `π₁ (T f ⟨v, x⟩)`
fn pushed(f: &Term, v: Term, x: &Term) -> Term {
    proj(Half::First, app(push(f.clone()), pair(v, x.clone())))
}

/// Functionals among the results of a program become the vectors that they multiply with.
pub(super) fn ended(value: Known) -> Known {
    match value {
        Known::Term(term, ty) => {
            let read = ended_at(&term, &ty);
            Known::Term(read.unwrap_or(term), ty)
        }
        Known::Tuple(items) => Known::Tuple(items.into_iter().map(ended).collect()),
        Known::Array(items) => Known::Array(items.into_iter().map(ended).collect()),
        Known::Int(_) | Known::Bool(_) | Known::Condition(_) | Known::Function(..) => value,
    }
}

fn ended_at(term: &Term, ty: &Ty) -> Option<Term> {
    match ty {
        Ty::Dual(of) => {
            let g = Var::fresh("g");
            let vector = partials(of, &|unit| app(var(&g), unit))?;
            Some(app(lam(&g, vector), term.clone()))
        }
        Ty::Tuple(types) => {
            let part = |at| component(term, at, types.len());
            let ends: Vec<Option<Term>> =
                types.iter().enumerate().map(|(at, ty)| ended_at(&part(at), ty)).collect();
            if ends.iter().all(Option::is_none) {
                return None;
            }
            let parts = ends.into_iter().enumerate().map(|(at, end)| end.unwrap_or_else(|| part(at)));
            Some(tuple(parts.collect()))
        }
        Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) => None,
    }
}

impl Known {
    /// The type of the value as nested tuples.
    fn flat_type(&self) -> Option<Ty> {
        match self {
            Known::Term(_, ty) => (!is_known(ty)).then(|| ty.clone()),
            Known::Tuple(items) | Known::Array(items) => {
                Some(Ty::Tuple(items.iter().map(Known::flat_type).collect::<Option<_>>()?))
            }
            Known::Int(_) | Known::Bool(_) | Known::Condition(_) | Known::Function(..) => None,
        }
    }

    /// The value of this structure that a term of nested tuples stands for.
    fn like(&self, term: &Term, ty: &Ty) -> Known {
        let parts = |items: &[Known]| {
            let types: &[Ty] = if let Ty::Tuple(types) = ty { types } else { &[] };
            let parts = items.iter().zip(types).enumerate();
            parts.map(|(at, (item, ty))| item.like(&component(term, at, items.len()), ty)).collect()
        };
        match self {
            Known::Tuple(items) => Known::Tuple(parts(items)),
            Known::Array(items) => Known::Array(parts(items)),
            Known::Term(..) | Known::Int(_) | Known::Bool(_) | Known::Condition(_) | Known::Function(..) => {
                Known::Term(term.clone(), ty.clone())
            }
        }
    }
}

/// A value of a type of numbers, from what stands at each unit vector.
fn partials(ty: &Ty, at: &dyn Fn(Term) -> Term) -> Option<Term> {
    let mut numbers = unit_vectors(ty)?.into_iter().map(at);
    Some(like(ty, &mut numbers))
}

/// The unit vectors of a type of numbers, in the order of its numbers.
fn unit_vectors(ty: &Ty) -> Option<Vec<Term>> {
    match ty {
        Ty::Real => Some(vec![num(1.0)]),
        Ty::Tuple(items) => {
            let mut all = Vec::new();
            for (index, item) in items.iter().enumerate() {
                for unit in deep(|| unit_vectors(item))? {
                    let own = if index + 1 == items.len() { unit } else { inj(Half::First, unit) };
                    all.push((0..index).fold(own, |unit, _| inj(Half::Second, unit)));
                }
            }
            Some(all)
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => None,
    }
}

/// A value of a type of numbers with these numbers.
fn like(ty: &Ty, numbers: &mut dyn Iterator<Item = Term>) -> Term {
    match ty {
        Ty::Tuple(items) => {
            let items = items.iter().map(|item| like(item, numbers)).collect();
            tuple(items)
        }
        Ty::Real
        | Ty::Int
        | Ty::Bool
        | Ty::String
        | Ty::Array(_)
        | Ty::Fun(..)
        | Ty::Data(..)
        | Ty::Dual(_) => numbers.next().unwrap_or_else(zero),
    }
}

/// The inner product of two values of a type of numbers.
fn inner(ty: &Ty, a: &Term, b: &Term) -> Option<Term> {
    match ty {
        Ty::Real => Some(op(RealOp::Mul, &[a.clone(), b.clone()])),
        Ty::Tuple(items) => {
            let part = |of: &Term, at| component(of, at, items.len());
            let products = items.iter().enumerate().map(|(at, ty)| inner(ty, &part(a, at), &part(b, at)));
            Some(sum(products.collect::<Option<Vec<_>>>()?))
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => None,
    }
}

/// A multiple of a value of a type of numbers, or of functions into them.
fn scaled(ty: &Ty, r: &Term, a: &Term) -> Option<Term> {
    match ty {
        Ty::Real => Some(op(RealOp::Mul, &[r.clone(), a.clone()])),
        Ty::Tuple(items) => {
            let parts =
                items.iter().enumerate().map(|(at, ty)| scaled(ty, r, &component(a, at, items.len())));
            Some(tuple(parts.collect::<Option<Vec<_>>>()?))
        }
        Ty::Fun(_, to) => {
            let x = Var::fresh("x");
            Some(lam(&x, scaled(to, r, &app(a.clone(), var(&x)))?))
        }
        Ty::Dual(_) => {
            let v = Var::fresh("v");
            Some(lam(&v, op(RealOp::Mul, &[r.clone(), app(a.clone(), var(&v))])))
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Data(..) => None,
    }
}
