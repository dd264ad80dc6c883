//! From a core program to DPPL: reals, tuples, functions, `let`, the primitives on reals, and derivatives as pullbacks.
//!
//! `grad f x` is `((Ω λy.f y)·Ω[1]) x`, of type σ*: a dual constant `r*`, read back as the vector r. Since DPPL cannot turn an
//! element of σ* into one of σ, derivatives stand where the program ends: under `let` and in tuples, not inside other
//! expressions.

use super::errors;
use super::func::Func;
use super::reduce::numbers;
use super::subst::deep;
use super::syntax::{Kind, Pat, Term, Type, Var};
use crate::kit::ground::Ground;
use crate::kit::simple::{self, Derive, Program, TermKind, Ty};
use rustc_hash::FxHashMap;
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

/// A program in DPPL.
pub(crate) struct Translated {
    pub(crate) term: Term,
    pub(crate) shape: Shape,
}

/// How the result is to be read.
pub(crate) enum Shape {
    /// A value of that type.
    Value(Ty),
    /// An element of σ* as one of σ.
    Dual(Ty),
    /// A tuple, nested to the left.
    Tuple(Vec<Shape>),
}

type Result<T> = std::result::Result<T, Diagnostic>;

const OTHERS: &str =
    "try `--in negation`, `--in perturbative` or `--in delta`; `explain` says what each of them takes";

/// Translates, or says which construct has no counterpart.
pub(crate) fn translate(program: &Program) -> Result<Translated> {
    let (term, shape) = Translation { vars: FxHashMap::default() }.end(&program.term)?;
    Ok(Translated { term, shape })
}

struct Translation {
    vars: FxHashMap<u32, Var>,
}

impl Translation {
    fn bind(&mut self, var: simple::Var, ty: &Ty, span: Span) -> Result<Var> {
        let bound = Var::named(var.name.as_str(), translate_type(ty, span)?);
        self.vars.insert(var.id, bound.clone());
        Ok(bound)
    }

    /// Where the program ends.
    fn end(&mut self, term: &simple::Term) -> Result<(Term, Shape)> {
        deep(|| match &term.kind {
            TermKind::Let(var, ty, value, body) => {
                let value = self.term(value)?;
                let var = self.bind(*var, ty, term.span)?;
                let (body, shape) = self.end(body)?;
                Ok((Term::let_in(var, value, body), shape))
            }
            TermKind::Tuple(items) if items.len() >= 2 => {
                let mut parts = Vec::new();
                let mut shapes = Vec::new();
                for item in items {
                    let (part, shape) = self.end(item)?;
                    parts.push(part);
                    shapes.push(shape);
                }
                Ok((tuple(parts), Shape::Tuple(shapes)))
            }
            TermKind::Derive(derive, args) => self.derive(*derive, args, term.span),
            _ => Ok((self.term(term)?, Shape::Value(term.ty.clone()))),
        })
    }

    fn derive(&mut self, derive: Derive, args: &[simple::Term], span: Span) -> Result<(Term, Shape)> {
        let name = match derive {
            Derive::Grad => "grad",
            Derive::ValueAndGrad => "value_and_grad",
            Derive::Derivative => "derivative",
            Derive::Pullback => "pullback",
            Derive::Jvp => return Err(errors::outside(span, "forward derivatives: `jvp`", OTHERS)),
            Derive::Vjp => {
                let help = "`pullback f w x` or `grad f x` are its reverse mode; or use another calculus";
                return Err(errors::outside(span, "functions from cotangents: `vjp`", help));
            }
        };
        let (Some(f), Some(x)) = (args.first(), args.last()) else {
            return Err(errors::outside(span, &format!("unapplied `{name}`"), OTHERS));
        };
        let Ty::Fun(from, to) = &f.ty else {
            return Err(errors::outside(span, &format!("`{name}` of something that is no function"), OTHERS));
        };
        let form = match args {
            [_, form, _] => self.term(form)?,
            _ if **to == Ty::Real => {
                Term::lam(Pat::var(Var::named("x", Type::real())), Term::dual_const(Term::real(1.0)))
            }
            _ => {
                return Err(errors::outside(
                    span,
                    &format!("`{name}` of a function into several numbers"),
                    OTHERS,
                ));
            }
        };
        let (function, at) = (self.term(f)?, self.term(x)?);
        let (pat, body) = match function.kind() {
            Kind::Lam(pat, body) => (pat.clone(), body.clone()),
            _ => {
                let y = Var::named("y", translate_type(from, span)?);
                (Pat::var(y.clone()), Term::app(function.clone(), Term::var(y)))
            }
        };
        let gradient = Term::app(Term::pull(pat, body, form), at.clone());
        let shape = Shape::Dual((**from).clone());
        Ok(match derive {
            Derive::ValueAndGrad => {
                let value = Term::app(function, at);
                (Term::pair(value, gradient), Shape::Tuple(vec![Shape::Value((**to).clone()), shape]))
            }
            Derive::Grad | Derive::Derivative | Derive::Pullback | Derive::Jvp | Derive::Vjp => {
                (gradient, shape)
            }
        })
    }

    fn term(&mut self, term: &simple::Term) -> Result<Term> {
        let outside = |what: &str| Err(errors::outside(term.span, what, OTHERS));
        deep(|| match &term.kind {
            TermKind::Var(var) => match self.vars.get(&var.id) {
                Some(var) => Ok(Term::var(var.clone())),
                None => outside("variable that is bound outside the program"),
            },
            TermKind::Real(x) => Ok(Term::real(*x)),
            TermKind::Lam(var, ty, body) => {
                let var = self.bind(*var, ty, term.span)?;
                Ok(Term::lam(Pat::var(var), self.term(body)?))
            }
            TermKind::App(f, a) => Ok(Term::app(self.term(f)?, self.term(a)?)),
            TermKind::Let(var, ty, value, body) => {
                let value = self.term(value)?;
                let var = self.bind(*var, ty, term.span)?;
                Ok(Term::let_in(var, value, self.term(body)?))
            }
            TermKind::Tuple(items) if items.len() >= 2 => {
                let parts: Result<Vec<Term>> = items.iter().map(|item| self.term(item)).collect();
                Ok(tuple(parts?))
            }
            TermKind::Tuple(_) => outside("unit value `()`"),
            TermKind::Proj(of, index, count) => {
                let of = self.term(of)?;
                Ok(component(&of, *index, *count))
            }
            TermKind::Prim(prim, args) => self.prim(*prim, args, term),
            TermKind::Derive(..) => outside("derivative inside another expression, since σ* is not σ"),
            TermKind::Int(_) => outside("integers"),
            TermKind::Bool(_) | TermKind::If(..) => outside("truth values and `if`"),
            TermKind::String(_) => outside("text"),
            TermKind::LetRec(..) => outside("recursion"),
            TermKind::Ctor(..) | TermKind::Case(..) => outside("data types and `match`"),
            TermKind::Array(_) => outside("arrays"),
        })
    }

    fn prim(&mut self, prim: Prim, args: &[simple::Term], term: &simple::Term) -> Result<Term> {
        let name = prim.info().name;
        if let ("^", [base, exponent]) = (name, args)
            && let (Ty::Real, TermKind::Int(n)) = (&base.ty, &exponent.kind)
        {
            return Ok(Term::fun(Func::Prim(RealOp::PowInt(*n)), self.term(base)?));
        }
        let real = args.iter().all(|arg| arg.ty == Ty::Real) && term.ty == Ty::Real;
        let op = RealOp::SAMPLES.iter().find(|op| op.name() == name && op.arity() == args.len());
        match op.filter(|op| real && !matches!(op, RealOp::PowInt(_) | RealOp::Polygamma(_))) {
            Some(op) => {
                let parts: Result<Vec<Term>> = args.iter().map(|arg| self.term(arg)).collect();
                Ok(Term::fun(Func::Prim(*op), tuple(parts?)))
            }
            None => Err(errors::outside(term.span, &format!("`{name}` at these types"), OTHERS)),
        }
    }
}

fn tuple(parts: Vec<Term>) -> Term {
    parts.into_iter().reduce(Term::pair).unwrap_or_else(|| Term::real(0.0))
}

/// Component `index` of a tuple of `count`, nested to the left.
fn component(of: &Term, index: usize, count: usize) -> Term {
    let down = if index == 0 { count.saturating_sub(1) } else { count.saturating_sub(1 + index) };
    let spine = (0..down).fold(of.clone(), |term, _| Term::proj(1, term));
    if index == 0 { spine } else { Term::proj(2, spine) }
}

fn translate_type(ty: &Ty, span: Span) -> Result<Type> {
    let outside = |what: &str| Err(errors::outside(span, what, OTHERS));
    deep(|| match ty {
        Ty::Real => Ok(Type::real()),
        Ty::Tuple(items) if items.len() >= 2 => {
            let items: Result<Vec<Type>> = items.iter().map(|ty| translate_type(ty, span)).collect();
            Ok(items?.into_iter().reduce(Type::product).unwrap_or_else(Type::real))
        }
        Ty::Fun(a, b) => Ok(Type::function(translate_type(a, span)?, translate_type(b, span)?)),
        Ty::Dual(a) => Ok(Type::dual(translate_type(a, span)?)),
        Ty::Tuple(_) => outside("unit type `()`"),
        Ty::Int => outside("integers"),
        Ty::Bool => outside("truth values"),
        Ty::String => outside("text"),
        Ty::Array(_) => outside("arrays"),
        Ty::Data(..) => outside("data types"),
    })
}

/// The result of a translated program.
pub(crate) fn ground(end: &Term, shape: &Shape) -> Ground {
    let text = || super::reduce::ground(end);
    match shape {
        Shape::Tuple(shapes) => {
            let count = shapes.len();
            Ground::Tuple(
                shapes.iter().enumerate().map(|(i, shape)| ground(&part(end, i, count), shape)).collect(),
            )
        }
        Shape::Value(ty) | Shape::Dual(ty) => {
            let vector = match (shape, end.kind()) {
                (Shape::Dual(_), Kind::DualConst(vector)) => numbers(vector),
                (Shape::Dual(_), Kind::Zero) => width(ty).map(|n| vec![0.0; n]),
                _ => numbers(end),
            };
            vector.and_then(|vector| shaped(ty, &mut vector.into_iter())).unwrap_or_else(text)
        }
    }
}

/// A component of a value that is a tuple.
fn part(tuple: &Term, index: usize, count: usize) -> Term {
    let down = if index == 0 { count.saturating_sub(1) } else { count.saturating_sub(1 + index) };
    let spine = (0..down).fold(tuple.clone(), |term, _| term.project(1));
    if index == 0 { spine } else { spine.project(2) }
}

fn width(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Real => Some(1),
        Ty::Tuple(items) => items.iter().map(width).sum(),
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => None,
    }
}

fn shaped(ty: &Ty, numbers: &mut dyn Iterator<Item = f64>) -> Option<Ground> {
    match ty {
        Ty::Real => numbers.next().map(Ground::Real),
        Ty::Tuple(items) => {
            let items: Option<Vec<Ground>> = items.iter().map(|ty| shaped(ty, numbers)).collect();
            items.map(Ground::Tuple)
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => None,
    }
}

/// The translation of a program into the differential λ-calculus, where σ* is σ ⇒ R: functionals on Rⁿ are applied to the
/// unit vectors.
pub(crate) fn applied(term: Term, shape: &Shape) -> Term {
    let Shape::Dual(ty) = shape else {
        let Shape::Tuple(shapes) = shape else { return term };
        let whole = Var::named("p", term.ty().clone());
        let count = shapes.len();
        let parts = shapes
            .iter()
            .enumerate()
            .map(|(i, shape)| applied(component(&Term::var(whole.clone()), i, count), shape));
        return Term::app(Term::lam(Pat::var(whole.clone()), tuple(parts.collect())), term);
    };
    let Some(n) = width(ty) else { return term };
    let functional = Var::named("g", term.ty().clone());
    let units = (0..n).map(|i| {
        let mut numbers: Vec<f64> = (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
        numbers.reverse();
        Term::app(Term::var(functional.clone()), unit(ty, &mut numbers))
    });
    Term::app(Term::lam(Pat::var(functional.clone()), tuple(units.collect())), term)
}

/// The numbers, last first, in the shape of the type.
fn unit(ty: &Ty, numbers: &mut Vec<f64>) -> Term {
    match ty {
        Ty::Tuple(items) => tuple(items.iter().map(|ty| unit(ty, numbers)).collect()),
        Ty::Real
        | Ty::Int
        | Ty::Bool
        | Ty::String
        | Ty::Array(_)
        | Ty::Fun(..)
        | Ty::Data(..)
        | Ty::Dual(_) => Term::real(numbers.pop().unwrap_or(0.0)),
    }
}
