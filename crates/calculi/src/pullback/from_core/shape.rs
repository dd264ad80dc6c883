//! What a term of DPPL stands for in the core: its shape says how a result is read back, and which parts a known array,
//! a tuple or a gradient has.

use super::{Result, outside};
use crate::kit::ground::Ground;
use crate::kit::simple::Ty;
use crate::pullback::reduce::numbers;
use crate::pullback::syntax::{Kind, Pat, Term, Type, Var};
use std::rc::Rc;
use wengert_base::Span;

/// How a term is to be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A number, or a function of such a type.
    Value(Ty),
    /// An element of σ*, which stands for a vector of σ.
    Dual(Rc<Shape>),
    /// A tuple, nested to the left.
    Tuple(Vec<Shape>),
    /// An array of known length: the tuple of its elements.
    Array(Vec<Shape>),
    /// A function whose result has that shape.
    Fun(Rc<Shape>),
}

impl Shape {
    /// The shape of all terms of a type without arrays.
    pub(super) fn of(ty: &Ty) -> Shape {
        match ty {
            Ty::Tuple(items) if items.len() >= 2 => Shape::Tuple(items.iter().map(Shape::of).collect()),
            Ty::Dual(of) => Shape::Dual(Rc::new(Shape::of(of))),
            Ty::Real
            | Ty::Int
            | Ty::Bool
            | Ty::String
            | Ty::Tuple(_)
            | Ty::Array(_)
            | Ty::Fun(..)
            | Ty::Data(..) => Shape::Value(ty.clone()),
        }
    }

    pub(super) fn real() -> Shape {
        Shape::Value(Ty::Real)
    }

    /// The shapes of the components of a tuple or an array.
    pub(super) fn parts(&self) -> Option<&[Shape]> {
        match self {
            Shape::Tuple(parts) | Shape::Array(parts) => Some(parts),
            Shape::Value(_) | Shape::Dual(_) | Shape::Fun(_) => None,
        }
    }

    /// Whether the term holds an element of σ*.
    pub(super) fn has_dual(&self) -> bool {
        match self {
            Shape::Value(_) => false,
            Shape::Dual(_) => true,
            Shape::Tuple(parts) | Shape::Array(parts) => parts.iter().any(Shape::has_dual),
            Shape::Fun(result) => result.has_dual(),
        }
    }

    /// n, if the terms are those of Rⁿ.
    pub(super) fn width(&self) -> Option<usize> {
        match self {
            Shape::Value(ty) => (*ty == Ty::Real).then_some(1),
            Shape::Tuple(parts) | Shape::Array(parts) => parts.iter().map(Shape::width).sum(),
            Shape::Dual(_) | Shape::Fun(_) => None,
        }
    }

    /// The type of such terms.
    pub(super) fn ty(&self, span: Span) -> Result<Type> {
        match self {
            Shape::Value(ty) => translate_type(ty, span),
            Shape::Dual(of) => Ok(Type::dual(of.ty(span)?)),
            Shape::Tuple(parts) | Shape::Array(parts) => {
                let parts: Result<Vec<Type>> = parts.iter().map(|part| part.ty(span)).collect();
                Ok(parts?.into_iter().reduce(Type::product).unwrap_or_else(Type::real))
            }
            Shape::Fun(_) => outside(span, "function that gives derivatives as an argument"),
        }
    }

    /// The terms at the numbers of a term of Rⁿ, from left to right.
    pub(super) fn leaves(&self, term: &Term) -> Vec<Term> {
        match self.parts() {
            None => vec![term.clone()],
            Some(parts) => {
                let each = parts.iter().enumerate();
                each.flat_map(|(i, part)| part.leaves(&component(term, i, parts.len()))).collect()
            }
        }
    }

    /// A term of Rⁿ from the terms at its numbers.
    pub(super) fn rebuild(&self, leaves: &mut dyn Iterator<Item = Term>) -> Term {
        match self.parts() {
            None => leaves.next().unwrap_or_else(|| Term::real(0.0)),
            Some(parts) => tuple(parts.iter().map(|part| part.rebuild(leaves)).collect()),
        }
    }
}

/// A tuple, nested to the left.
pub(super) fn tuple(parts: Vec<Term>) -> Term {
    parts.into_iter().reduce(Term::pair).unwrap_or_else(|| Term::real(0.0))
}

/// Component `index` of a tuple of `count`, nested to the left; of a pair at once.
pub(super) fn component(of: &Term, index: usize, count: usize) -> Term {
    let down = if index == 0 { count.saturating_sub(1) } else { count.saturating_sub(1 + index) };
    let spine = (0..down).fold(of.clone(), |term, _| term.project(1));
    if index == 0 { spine } else { spine.project(2) }
}

/// The type without arrays in DPPL.
pub(super) fn translate_type(ty: &Ty, span: Span) -> Result<Type> {
    crate::pullback::subst::deep(|| match ty {
        Ty::Real => Ok(Type::real()),
        Ty::Tuple(items) if items.len() >= 2 => {
            let items: Result<Vec<Type>> = items.iter().map(|ty| translate_type(ty, span)).collect();
            Ok(items?.into_iter().reduce(Type::product).unwrap_or_else(Type::real))
        }
        Ty::Fun(a, b) => Ok(Type::function(translate_type(a, span)?, translate_type(b, span)?)),
        Ty::Dual(a) => Ok(Type::dual(translate_type(a, span)?)),
        Ty::Tuple(_) => outside(span, "unit type `()`"),
        Ty::Int => outside(span, "integers, except those that are known before the reduction"),
        Ty::Bool => outside(span, "truth values, except those that are known before the reduction"),
        Ty::String => outside(span, "text"),
        Ty::Array(_) => outside(span, "arrays whose length is not known before the reduction"),
        Ty::Data(..) => outside(span, "data types"),
    })
}

/// Whether the type has a translation by itself, without knowing more about its terms.
pub(super) fn is_plain(ty: &Ty) -> bool {
    match ty {
        Ty::Real => true,
        Ty::Tuple(items) => items.len() >= 2 && items.iter().all(is_plain),
        Ty::Fun(a, b) => is_plain(a) && is_plain(b),
        Ty::Dual(a) => is_plain(a),
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Data(..) => false,
    }
}

/// 0 for numbers, 1 for functions of these, 2 for functions of such functions.
pub(super) fn order(ty: &Ty) -> u32 {
    match ty {
        Ty::Real | Ty::Int | Ty::Bool | Ty::String => 0,
        Ty::Tuple(items) | Ty::Data(_, items) => items.iter().map(order).max().unwrap_or(0),
        Ty::Array(of) | Ty::Dual(of) => order(of),
        Ty::Fun(a, b) => (order(a) + 1).max(order(b)),
    }
}

/// The result of a translated program.
pub(crate) fn ground(end: &Term, shape: &Shape) -> Ground {
    let text = || crate::pullback::reduce::ground(end);
    match shape {
        Shape::Tuple(parts) | Shape::Array(parts) if shape.has_dual() || has_function(shape) => {
            let each = parts.iter().enumerate();
            let parts = each.map(|(i, part)| ground(&component(end, i, parts.len()), part)).collect();
            if matches!(shape, Shape::Tuple(_)) { Ground::Tuple(parts) } else { Ground::Array(parts) }
        }
        Shape::Dual(of) => {
            let vector = match end.kind() {
                Kind::DualConst(vector) => numbers(vector),
                Kind::Zero => of.width().map(|n| vec![0.0; n]),
                _ => None,
            };
            vector.and_then(|vector| shaped(of, &mut vector.into_iter())).unwrap_or_else(text)
        }
        Shape::Value(_) | Shape::Tuple(_) | Shape::Array(_) | Shape::Fun(_) => {
            let read = |numbers: Vec<f64>| shaped(shape, &mut numbers.into_iter());
            numbers(end).and_then(read).unwrap_or_else(text)
        }
    }
}

fn has_function(shape: &Shape) -> bool {
    match shape {
        Shape::Value(ty) => *ty != Ty::Real,
        Shape::Fun(_) => true,
        Shape::Dual(_) => false,
        Shape::Tuple(parts) | Shape::Array(parts) => parts.iter().any(has_function),
    }
}

fn shaped(shape: &Shape, numbers: &mut dyn Iterator<Item = f64>) -> Option<Ground> {
    let mut all =
        |parts: &[Shape]| parts.iter().map(|part| shaped(part, numbers)).collect::<Option<Vec<_>>>();
    match shape {
        Shape::Value(Ty::Real) => numbers.next().map(Ground::Real),
        Shape::Tuple(parts) => all(parts).map(Ground::Tuple),
        Shape::Array(parts) => all(parts).map(Ground::Array),
        Shape::Value(_) | Shape::Dual(_) | Shape::Fun(_) => None,
    }
}

/// The translation of a program into the differential λ-calculus, where σ* is σ ⇒ R: functionals on Rⁿ are applied to the
/// unit vectors.
pub(crate) fn applied(term: Term, shape: &Shape) -> Term {
    if !shape.has_dual() {
        return term;
    }
    let whole = Var::named("g", term.ty().clone());
    let image = match shape {
        Shape::Dual(of) => {
            let Some(n) = of.width() else { return term };
            let unit = |i: usize| {
                let mut numbers = (0..n).map(|j| Term::real(if i == j { 1.0 } else { 0.0 }));
                Term::app(Term::var(whole.clone()), of.rebuild(&mut numbers))
            };
            of.rebuild(&mut (0..n).map(unit))
        }
        Shape::Tuple(parts) | Shape::Array(parts) => {
            let each = parts.iter().enumerate();
            let of = |i: usize| component(&Term::var(whole.clone()), i, parts.len());
            tuple(each.map(|(i, part)| applied(of(i), part)).collect())
        }
        Shape::Value(_) | Shape::Fun(_) => return term,
    };
    Term::app(Term::lam(Pat::var(whole), image), term)
}

/// How the result of [`applied`] is to be read: functionals have become vectors.
pub(crate) fn read(shape: &Shape) -> Shape {
    match shape {
        Shape::Dual(of) => (**of).clone(),
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(read).collect()),
        Shape::Array(parts) => Shape::Array(parts.iter().map(read).collect()),
        Shape::Value(_) | Shape::Fun(_) => shape.clone(),
    }
}
