//! Derivatives. `grad f x` is `((Ω λy.f y)·Ω[1]) x`, of type σ*: a dual constant `r*`, read back as the vector r.
//!
//! No term leads from R* back to R, but many lead from R* to R*. So what is linear in a derivative stays one: sums, multiples
//! by a number (a pullback along `λu. mult(u,c)`, at 0), components (a dual map along an injection), tuples, functions that give one.
//! Numbers become functionals likewise, `to_dual c` is the pullback of `[1]` along `λu. mult(u,c)`, and so `vjp` has a term.
//! In any other place, and for `jvp`, a derivative is `(J f · t) x`, with the function as a symbol of F (`straight`); that ends
//! with f: DPPL has no rule that differentiates `J f · t` at a point (value 2 of remark 3.6).

use super::shape::{component, tuple};
use super::{OTHERS, Piece, Result, Shape, Translation, around, outside};
use crate::kit::simple::{self, Derive, Ty};
use crate::pullback::errors;
use crate::pullback::func::Func;
use crate::pullback::straight;
use crate::pullback::subst::mirror;
use crate::pullback::syntax::{Kind, Pat, Term, Type, Var};
use std::rc::Rc;
use wengert_base::Span;
use wengert_prim::{Prim, RealOp};

fn name_of(derive: Derive) -> &'static str {
    match derive {
        Derive::Grad => "grad",
        Derive::ValueAndGrad => "value_and_grad",
        Derive::Derivative => "derivative",
        Derive::Jvp => "jvp",
        Derive::Vjp => "vjp",
        Derive::Pullback => "pullback",
    }
}

/// `Ω[r]` on vectors of the type.
fn constant_form(ty: &Type, dual: Term) -> Term {
    Term::lam(Pat::var(Var::named("x", ty.clone())), dual)
}

fn multiply(a: Term, b: Term) -> Term {
    Term::fun(Func::Prim(RealOp::Mul), Term::pair(a, b))
}

impl Translation {
    pub(super) fn derive(&mut self, derive: Derive, args: &[simple::Term], span: Span) -> Result<Piece> {
        let name = name_of(derive);
        let (Some(f), Some(x)) = (args.first(), args.last()) else {
            return outside(span, &format!("unapplied `{name}`"));
        };
        let Ty::Fun(_, to) = &f.ty else {
            return outside(span, &format!("`{name}` of something that is no function"));
        };
        let several = derive == Derive::Derivative && **to != Ty::Real;
        let nested = self.inside > 0 && (self.forward || several || derive == Derive::Jvp);
        if nested {
            return Err(errors::nested(span));
        }
        let symbol = f.clone();
        let (f, x) = (self.piece(f)?, self.piece(x)?);
        if self.forward || several || derive == Derive::Jvp {
            return self.by_symbol(derive, f, x, &symbol, span);
        }
        let (at, from) = self.term_of(x, span)?;
        let at = match derive {
            Derive::ValueAndGrad | Derive::Vjp => self.named_point(at),
            Derive::Grad | Derive::Derivative | Derive::Pullback | Derive::Jvp => at,
        };
        self.inside += 1;
        let function = self.function(f, std::slice::from_ref(&from), span);
        self.inside -= 1;
        let (function, result) = function?;
        let Shape::Fun(result) = result else { return outside(span, "function of this kind") };
        if from.has_dual() || result.has_dual() {
            return Err(errors::nested(span));
        }
        let shape = Shape::Dual(Rc::new(from));
        let Kind::Lam(pat, body) = function.kind() else { return outside(span, "function of this kind") };
        let pulled = |form: Term| Term::app(Term::pull(pat.clone(), body.clone(), form), at.clone());
        let ones = || -> Result<Term> {
            match *result == Shape::real() {
                true => Ok(constant_form(body.ty(), Term::dual_const(Term::real(1.0)))),
                false => Err(errors::outside(
                    span,
                    &format!("`{name}` of a function into several numbers"),
                    OTHERS,
                )),
            }
        };
        let value = || Piece::Term(Term::app(function.clone(), at.clone()), (*result).clone());
        let pair = |back: Piece| Piece::Tuple(Rc::new(vec![value(), back]));
        Ok(match derive {
            Derive::Grad | Derive::Derivative => Piece::Term(pulled(ones()?), shape),
            Derive::ValueAndGrad => pair(Piece::Term(pulled(ones()?), shape)),
            Derive::Pullback => Piece::Term(pulled(self.form(args.get(1), &result, span)?), shape),
            Derive::Vjp => {
                let w = Var::named("w", result.ty(span)?);
                let (lets, dual) =
                    self.block(|here| here.functional(&Term::var(w.clone()), &result, span))?;
                let back = Term::lam(Pat::var(w), around(lets, pulled(constant_form(body.ty(), dual))));
                pair(Piece::Term(back, Shape::Fun(Rc::new(shape))))
            }
            Derive::Jvp => return outside(span, "`jvp` of this kind"),
        })
    }

    /// The point of a derivative, which may stand in several places: under a name if it is to be computed.
    fn named_point(&mut self, at: Term) -> Term {
        if crate::pullback::reduce::numbers(&at).is_some() { at } else { self.named("x", at) }
    }

    /// The 1-form of `pullback f w x`.
    fn form(&mut self, form: Option<&simple::Term>, on: &Rc<Shape>, span: Span) -> Result<Term> {
        let Some(form) = form else { return outside(span, "unapplied `pullback`") };
        let form = self.piece(form)?;
        let (form, to) = self.function(form, std::slice::from_ref(on.as_ref()), span)?;
        match to {
            Shape::Fun(to) if *to == Shape::Dual(on.clone()) => Ok(form),
            _ => outside(span, "1-form of this kind"),
        }
    }

    /// The derivative as numbers: `(J f · t) x` with the function as a symbol f.
    fn by_symbol(
        &mut self,
        derive: Derive,
        f: Piece,
        x: Piece,
        written: &simple::Term,
        span: Span,
    ) -> Result<Piece> {
        let name = name_of(derive);
        let (x, along) = match derive {
            Derive::Jvp => (self.part(x.clone(), 0, span)?, Some(self.part(x, 1, span)?)),
            Derive::Grad | Derive::ValueAndGrad | Derive::Derivative => (x, None),
            Derive::Vjp | Derive::Pullback => {
                return Err(errors::not_a_number(span, &format!("the result of `{name}`")));
            }
        };
        let (at, from) = self.term_of(x, span)?;
        let at = self.named_point(at);
        let (function, result) =
            self.with_forward(false, |here| here.function(f, std::slice::from_ref(&from), span))?;
        let (Kind::Lam(pat, body), Shape::Fun(result)) = (function.kind(), result) else {
            return outside(span, "function of this kind");
        };
        let title = match &written.kind {
            simple::TermKind::Var(var) => var.name.to_string(),
            _ => "f".to_string(),
        };
        let (Some(symbol), Some(width)) = (straight::symbol(&title, pat, body, &self.known), from.width())
        else {
            return Err(errors::no_symbol(span, name));
        };
        let point = tuple(from.leaves(&at));
        let image = |flat: Term, shape: &Shape| {
            let count = shape.width().unwrap_or(1);
            shape.rebuild(&mut (0..count).map(|i| component(&flat, i, count)))
        };
        let value = image(Term::fun(symbol.clone(), point.clone()), &result);
        let column = |along: Term| Term::app(Term::jac(symbol.clone(), along), point.clone());
        let unit = |i: usize| tuple((0..width).map(|j| Term::real(if i == j { 1.0 } else { 0.0 })).collect());
        let gradient = || from.rebuild(&mut (0..width).map(|i| column(unit(i))));
        let pair = |a: Piece, b: Piece| Piece::Tuple(Rc::new(vec![a, b]));
        Ok(match (derive, along) {
            (Derive::Jvp, Some(along)) => {
                let (along, _) = self.term_of(along, span)?;
                let tangent = self.named("t", column(tuple(from.leaves(&along))));
                let tangent = Piece::Term(image(tangent, &result), (*result).clone());
                pair(Piece::Term(value, (*result).clone()), tangent)
            }
            (Derive::Derivative, _) if *result != Shape::real() => {
                let tangent = self.named("t", column(unit(0)));
                Piece::Term(image(tangent, &result), (*result).clone())
            }
            (Derive::ValueAndGrad, _) => {
                pair(Piece::Term(value, (*result).clone()), Piece::Term(gradient(), from.clone()))
            }
            _ => Piece::Term(gradient(), from.clone()),
        })
    }

    /// `u ↦ ⟨v, u⟩` for a vector v of that shape.
    fn functional(&mut self, v: &Term, shape: &Shape, span: Span) -> Result<Term> {
        if shape.width().is_none() {
            return outside(span, "`to_dual` of anything but numbers");
        }
        if crate::pullback::reduce::numbers(v).is_some() {
            return Ok(Term::dual_const(v.clone()));
        }
        let v = self.named("w", v.clone());
        let (pat, u) = vector_pattern(shape, span)?;
        let products = shape.leaves(&u).into_iter().zip(shape.leaves(&v)).map(|(u, v)| multiply(u, v));
        let one = constant_form(&Type::real(), Term::dual_const(Term::real(1.0)));
        Ok(Term::app(Term::pull(pat, sum_of(products), one), origin(shape)))
    }

    /// The functional along `u ↦ f(u)`, number by number.
    fn along(&mut self, dual: Term, of: &Shape, f: &dyn Fn(Term) -> Term, span: Span) -> Result<Term> {
        if of.width().is_none() {
            return outside(span, "multiples of derivatives at types that hold functions");
        }
        let dual = self.named("g", dual);
        let (pat, u) = vector_pattern(of, span)?;
        let body = of.rebuild(&mut of.leaves(&u).into_iter().map(f));
        let form = constant_form(&of.ty(span)?, dual);
        Ok(Term::app(Term::pull(pat, body, form), origin(of)))
    }

    /// A component of a functional: the same along the injection.
    pub(super) fn part_of_dual(
        &mut self,
        dual: &Term,
        of: &Shape,
        index: usize,
        span: Span,
    ) -> Result<Piece> {
        let Some((parts, part)) = of.parts().and_then(|parts| Some((parts, parts.get(index)?))) else {
            return outside(span, "component of what is no tuple");
        };
        let v = Var::named("u", part.ty(span)?);
        let zeros: Result<Vec<Term>> = parts
            .iter()
            .enumerate()
            .map(|(i, other)| Ok(if i == index { Term::var(v.clone()) } else { Term::zero(other.ty(span)?) }))
            .collect();
        let dual = self.named("g", dual.clone());
        let map = Term::dual_map(Pat::var(v), tuple(zeros?), dual);
        Ok(Piece::Term(map, Shape::Dual(Rc::new(part.clone()))))
    }

    /// Arithmetic that is linear in derivatives; `None` if it is not.
    pub(super) fn linear_prim(
        &mut self,
        op: RealOp,
        args: &[(&simple::Term, Term, Shape)],
        span: Span,
    ) -> Result<Option<Piece>> {
        let real = Shape::real();
        let dual = Shape::Dual(Rc::new(Shape::real()));
        let negate = |u: Term| Term::fun(Func::Prim(RealOp::Neg), u);
        let result = match (op, args) {
            (RealOp::Neg, [(_, d, _)]) => self.along(d.clone(), &real, &negate, span)?,
            (RealOp::Add | RealOp::Sub, [(_, a, s), (_, b, t)]) => {
                let a = if s.has_dual() { a.clone() } else { self.functional(a, s, span)? };
                let b = if t.has_dual() { b.clone() } else { self.functional(b, t, span)? };
                let b = if op == RealOp::Sub { self.along(b, &real, &negate, span)? } else { b };
                Term::sum(a, b)
            }
            (RealOp::Mul, [(_, c, s), (_, d, _)]) if !s.has_dual() => {
                let c = self.named("c", c.clone());
                self.along(d.clone(), &real, &|u| multiply(u, c.clone()), span)?
            }
            (RealOp::Mul | RealOp::Div, [(_, d, _), (_, c, t)]) if !t.has_dual() => {
                let c = self.named("c", c.clone());
                let by = |u: Term| Term::fun(Func::Prim(op), Term::pair(u, c.clone()));
                self.along(d.clone(), &real, &by, span)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Piece::Term(result, dual)))
    }

    /// Primitives on functionals and tangents.
    pub(super) fn dual_prim(
        &mut self,
        prim: Prim,
        args: &[simple::Term],
        span: Span,
    ) -> Result<Option<Piece>> {
        Ok(Some(match (prim, args) {
            (Prim::ToDual, [v]) => {
                let (v, shape) = self.value(v)?;
                if shape.has_dual() {
                    Piece::Term(v, shape)
                } else {
                    Piece::Term(self.functional(&v, &shape, span)?, Shape::Dual(Rc::new(shape)))
                }
            }
            (Prim::FromDual, [d]) => {
                if self.forward {
                    return Err(errors::not_a_number(span, "the vector of a functional"));
                }
                self.piece(d)?
            }
            (Prim::VecAdd, [a, b]) => match (self.value(a)?, self.value(b)?) {
                ((a, s @ Shape::Dual(_)), (b, t)) if s == t => Piece::Term(Term::sum(a, b), s),
                ((a, s), (b, t)) if s == t && s.width().is_some() => {
                    let (a, b) = (self.named("a", a), self.named("b", b));
                    let sums = s.leaves(&a).into_iter().zip(s.leaves(&b));
                    let add = |(a, b)| Term::fun(Func::Prim(RealOp::Add), Term::pair(a, b));
                    Piece::Term(s.rebuild(&mut sums.map(add)), s)
                }
                _ => return outside(span, "`add` of these"),
            },
            (Prim::VecInner, [a, b]) => match (self.value(a)?, self.value(b)?) {
                ((a, s), (b, t)) if s == t && s.width().is_some() => {
                    let (a, b) = (self.named("a", a), self.named("b", b));
                    let products = s.leaves(&a).into_iter().zip(s.leaves(&b));
                    Piece::Term(sum_of(products.map(|(a, b)| multiply(a, b))), Shape::real())
                }
                _ => return outside(span, "`inner` of these"),
            },
            (Prim::Checkpoint, [f, x]) => {
                let (f, x) = (self.piece(f)?, self.piece(x)?);
                self.call(f, x, span)?
            }
            (Prim::VecScale, [c, v]) => match (self.value(c)?, self.value(v)?) {
                ((c, s), (d, Shape::Dual(of))) if s == Shape::real() => {
                    let c = self.named("c", c);
                    let multiple = self.along(d, &of, &|u| multiply(u, c.clone()), span)?;
                    Piece::Term(multiple, Shape::Dual(of))
                }
                ((c, s), (v, of)) if s == Shape::real() && of.width().is_some() => {
                    let (c, v) = (self.named("c", c), self.named("b", v));
                    let all = of.leaves(&v).into_iter().map(|v| multiply(c.clone(), v));
                    Piece::Term(of.rebuild(&mut all.collect::<Vec<_>>().into_iter()), of)
                }
                _ => return outside(span, "`scale` of these"),
            },
            _ => return Ok(None),
        }))
    }
}

/// A pattern with a variable for each number, and its tuple.
fn vector_pattern(shape: &Shape, span: Span) -> Result<(Pat, Term)> {
    let whole = Pat::var(Var::named("u", shape.ty(span)?));
    let pat = match shape.width() {
        Some(1) | None => whole,
        Some(_) => split(shape),
    };
    let pat = mirror(&pat, &mut |var| var.renamed());
    let term = pat.term();
    Ok((pat, term))
}

fn split(shape: &Shape) -> Pat {
    let parts = shape.parts().unwrap_or_default().iter().map(split);
    parts.reduce(Pat::pair).unwrap_or_else(|| Pat::var(Var::named("u", Type::real())))
}

fn sum_of(terms: impl Iterator<Item = Term>) -> Term {
    let sum = terms.reduce(|a, b| Term::fun(Func::Prim(RealOp::Add), Term::pair(a, b)));
    sum.unwrap_or_else(|| Term::real(0.0))
}

/// The vector 0.
fn origin(shape: &Shape) -> Term {
    shape.rebuild(&mut std::iter::repeat_with(|| Term::real(0.0)))
}
