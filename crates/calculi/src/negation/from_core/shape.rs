//! Where the terms of the calculus are in values of the core: for results, and for the numbers that a derivative is about.

use super::super::errors;
use super::super::syntax::{self, Kind, Tm, Ty, Var, var};
use super::{Binding, Meaning, Translate, Translator, type_of};
use crate::kit::simple;
use wengert_base::Span;

/// Where the terms of the calculus are in a value of the core.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A term of a type of the calculus.
    Unit(simple::Ty),
    /// A tuple.
    Tuple(Vec<Shape>),
    /// An array.
    Array(Vec<Shape>),
    /// An integer, known already.
    Int(i64),
    /// A truth value, known already.
    Bool(bool),
}

impl<'p> Translator<'p> {
    /// The terms of the calculus in a result, from left to right.
    pub(super) fn output(
        &mut self,
        meaning: &Meaning<'p>,
        ty: &simple::Ty,
        span: Span,
        units: &mut Vec<Tm>,
    ) -> Translate<Shape> {
        match (meaning, ty) {
            (Meaning::Tuple(parts), simple::Ty::Tuple(types)) => {
                let parts =
                    parts.iter().zip(types).map(|(part, ty)| self.output(part, ty, span, &mut *units));
                Ok(Shape::Tuple(parts.collect::<Translate<_>>()?))
            }
            (Meaning::Array(items), simple::Ty::Array(item)) => {
                let items = items.iter().map(|part| self.output(part, item, span, &mut *units));
                Ok(Shape::Array(items.collect::<Translate<_>>()?))
            }
            (Meaning::Int(n), _) => Ok(Shape::Int(*n)),
            (Meaning::Bool(b), _) => Ok(Shape::Bool(*b)),
            _ => {
                let unit = self.quoted(meaning.clone(), ty, span)?;
                units.push(unit);
                Ok(Shape::Unit(ty.clone()))
            }
        }
    }

    /// The parts of a term of a product type, taken apart by a pending binding.
    pub(super) fn halves(&mut self, tm: Tm, a: &Ty, b: &Ty, names: [&str; 2]) -> (Tm, Tm) {
        if let Kind::Pair(t, u) = &tm.kind {
            return (t.clone(), u.clone());
        }
        let [first, second] = names;
        let (x, y) = (Var::exponential(first, a.clone()), Var::exponential(second, b.clone()));
        self.pending.push(Binding::Two(x.clone(), y.clone(), tm));
        (var(&x), var(&y))
    }

    /// The reals in a value, from left to right, and its shape.
    pub(super) fn reals(
        &mut self,
        meaning: &Meaning<'p>,
        ty: &simple::Ty,
        span: Span,
        out: &mut Vec<Tm>,
    ) -> Translate<Shape> {
        match (meaning, ty) {
            (Meaning::Term(tm), simple::Ty::Real) => {
                out.push(tm.clone());
                Ok(Shape::Unit(simple::Ty::Real))
            }
            (Meaning::Term(tm), simple::Ty::Tuple(types)) => {
                let (mut rest, mut shapes) = (tm.clone(), Vec::with_capacity(types.len()));
                for (i, ty) in types.iter().enumerate() {
                    let own = type_of(&simple::Ty::Tuple(types.get(i..).unwrap_or_default().to_vec()));
                    let part = match own {
                        Some(Ty::Prod(a, b)) if i + 1 < types.len() => {
                            let (part, others) = self.halves(rest, &a, &b, ["p", "r"]);
                            rest = others;
                            part
                        }
                        _ => rest.clone(),
                    };
                    shapes.push(self.reals(&Meaning::Term(part), ty, span, out)?);
                }
                Ok(Shape::Tuple(shapes))
            }
            (Meaning::Tuple(parts), simple::Ty::Tuple(types)) => {
                let parts = parts.iter().zip(types).map(|(part, ty)| self.reals(part, ty, span, &mut *out));
                Ok(Shape::Tuple(parts.collect::<Translate<_>>()?))
            }
            (Meaning::Array(items), simple::Ty::Array(item)) => {
                let items = items.iter().map(|part| self.reals(part, item, span, &mut *out));
                Ok(Shape::Array(items.collect::<Translate<_>>()?))
            }
            (Meaning::Int(n), _) => Ok(Shape::Int(*n)),
            (Meaning::Bool(b), _) => Ok(Shape::Bool(*b)),
            (_, ty) => Err(errors::not_differentiable(span, &format!("this is or holds {}", ty_kind(ty)))),
        }
    }
}

/// A value of that shape with these reals.
pub(super) fn rebuilt<'p>(shape: &Shape, reals: &mut dyn Iterator<Item = Tm>) -> Meaning<'p> {
    let mut all = |parts: &[Shape]| parts.iter().map(|part| rebuilt(part, &mut *reals)).collect();
    match shape {
        Shape::Tuple(parts) => Meaning::Tuple(all(parts)),
        Shape::Array(items) => Meaning::Array(all(items)),
        Shape::Int(n) => Meaning::Int(*n),
        Shape::Bool(b) => Meaning::Bool(*b),
        Shape::Unit(_) => Meaning::Term(reals.next().unwrap_or_else(|| syntax::num(0.0))),
    }
}

fn ty_kind(ty: &simple::Ty) -> String {
    match ty {
        simple::Ty::Fun(..) => "a function".into(),
        simple::Ty::Data(name, _) => format!("a `{name}`"),
        simple::Ty::Dual(_) => "a functional".into(),
        simple::Ty::String => "text".into(),
        simple::Ty::Real | simple::Ty::Int | simple::Ty::Bool => "a value of another kind".into(),
        simple::Ty::Tuple(_) | simple::Ty::Array(_) => "a value of another kind".into(),
    }
}
