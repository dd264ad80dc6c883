//! From programs of the core to Λ(𝓕): reals with their operations, functions, tuples as nested pairs, `let` as explicit
//! substitution, and folds over arrays of known elements as Church lists (section 6.1). `grad f x` becomes the term of
//! Corollary 16.

use super::errors;
use super::examples::church_list;
use super::syntax::{self, Tm, Ty, Var, app, lam, pair, sub, sub_pair, var};
use crate::kit::simple::{self, Derive, Program, TermKind};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

/// A program in the calculus.
pub enum Translated {
    /// A term to be reduced, with the type of its result in the core.
    Value(Tm, simple::Ty),
    /// A gradient to be taken.
    Gradient(Box<Gradient>),
}

/// `grad f x`
pub struct Gradient {
    /// `f` at the variables.
    pub body: Tm,
    /// The variables, one for each real in `x`, from left to right.
    pub variables: Vec<Var>,
    /// `x`
    pub point: Tm,
    /// The type of `x`.
    pub shape: simple::Ty,
    /// Whether the value is asked for too.
    pub with_value: bool,
}

type Translate<T> = Result<T, Diagnostic>;

/// Translates a program.
pub fn translate(program: &Program) -> Translate<Translated> {
    let mut translator = Translator { vars: FxHashMap::default() };
    let mut prefix = Vec::new();
    let mut term = &program.term;
    while let TermKind::Let(x, ty, value, body) = &term.kind
        && holds_derivative(body)
    {
        let value = translator.term(value)?;
        prefix.push((translator.bind(*x, ty, term.span)?, value));
        term = body;
    }
    if let TermKind::Derive(derive, args) = &term.kind {
        let gradient = translator.gradient(*derive, args, term.span)?;
        let within = |tm: Tm| prefix.iter().rev().fold(tm, |tm, (x, u)| sub(tm, x, u.clone()));
        let renewed = |tm: Tm| syntax::renew(&within(tm));
        return Ok(Translated::Gradient(Box::new(Gradient {
            body: renewed(gradient.body),
            point: renewed(gradient.point),
            ..gradient
        })));
    }
    let tm = translator.term(&program.term)?;
    Ok(Translated::Value(tm, program.term.ty.clone()))
}

/// Whether the body of a chain of lets is a derivative.
fn holds_derivative(term: &simple::Term) -> bool {
    let mut term = term;
    while let TermKind::Let(_, _, _, body) = &term.kind {
        term = body;
    }
    matches!(term.kind, TermKind::Derive(..))
}

struct Translator {
    vars: FxHashMap<simple::Var, Var>,
}

impl Translator {
    fn bind(&mut self, x: simple::Var, ty: &simple::Ty, span: Span) -> Translate<Var> {
        let var = Var::exponential(x.name.as_str(), type_of(ty, span)?);
        self.vars.insert(x, var.clone());
        Ok(var)
    }

    fn gradient(&mut self, derive: Derive, args: &[simple::Term], span: Span) -> Translate<Gradient> {
        let with_value = match derive {
            Derive::Grad | Derive::Derivative => false,
            Derive::ValueAndGrad => true,
            Derive::Jvp => return Err(errors::outside_fragment(span, "`jvp`")),
            Derive::Vjp => return Err(errors::outside_fragment(span, "`vjp`")),
            Derive::Pullback => return Err(errors::outside_fragment(span, "`pullback`")),
        };
        let [f, x] = args else {
            return Err(errors::outside_fragment(span, "unsaturated derivative operators"));
        };
        if !matches!(&f.ty, simple::Ty::Fun(_, result) if **result == simple::Ty::Real) {
            return Err(errors::not_differentiable(f.span, "a function with other results"));
        }
        let mut variables = Vec::new();
        let argument = variables_of(&x.ty, &mut variables)
            .ok_or_else(|| errors::not_differentiable(x.span, "a function of something other than Reals"))?;
        let body = app(self.term(f)?, argument);
        Ok(Gradient { body, variables, point: self.term(x)?, shape: x.ty.clone(), with_value })
    }

    fn term(&mut self, term: &simple::Term) -> Translate<Tm> {
        syntax::deep(|| self.former(term))
    }

    fn former(&mut self, term: &simple::Term) -> Translate<Tm> {
        let outside = |what: &str| Err(errors::outside_fragment(term.span, what));
        match &term.kind {
            TermKind::Var(x) => match self.vars.get(x) {
                Some(x) => Ok(var(x)),
                None => Err(errors::unbound(term.span, x.name.as_str())),
            },
            TermKind::Real(r) => Ok(syntax::num(*r)),
            TermKind::Lam(x, ty, body) => {
                let x = self.bind(*x, ty, term.span)?;
                Ok(lam(&x, self.term(body)?))
            }
            TermKind::App(f, u) => Ok(app(self.term(f)?, self.term(u)?)),
            TermKind::Let(x, ty, value, body) => {
                let value = self.term(value)?;
                let x = self.bind(*x, ty, term.span)?;
                Ok(sub(self.term(body)?, &x, value))
            }
            TermKind::Tuple(parts) if parts.is_empty() => outside("unit value"),
            TermKind::Tuple(parts) => {
                let parts: Translate<Vec<Tm>> = parts.iter().map(|part| self.term(part)).collect();
                Ok(syntax::tuple(parts?))
            }
            TermKind::Proj(tuple, index, width) => {
                let ty = type_of(&tuple.ty, tuple.span)?;
                Ok(projection(self.term(tuple)?, &ty, *index, *width))
            }
            TermKind::Prim(prim, args) => self.primitive(*prim, args, term.span),
            TermKind::Int(_) => outside("integers"),
            TermKind::Bool(_) | TermKind::If(..) => outside("truth values and `if`"),
            TermKind::String(_) => outside("text"),
            TermKind::LetRec(..) => outside("recursion"),
            TermKind::Derive(..) => outside("derivative operators inside other terms"),
            TermKind::Ctor(..) | TermKind::Case(..) => outside("data types"),
            TermKind::Array(_) => outside("arrays other than as the argument of fold, sum and product"),
        }
    }

    fn primitive(&mut self, prim: Prim, args: &[simple::Term], span: Span) -> Translate<Tm> {
        let name = prim.info().name;
        match (prim, args) {
            (Prim::Power, [x, n]) if x.ty == simple::Ty::Real => {
                let TermKind::Int(n) = n.kind else {
                    return Err(errors::outside_fragment(
                        n.span,
                        "powers with an exponent that is no literal",
                    ));
                };
                Ok(syntax::op(RealOp::PowInt(n), vec![self.term(x)?]))
            }
            (Prim::Polygamma, [n, x]) => {
                let index = if let TermKind::Int(index) = n.kind { u32::try_from(index).ok() } else { None };
                let operation = match index {
                    Some(0) => RealOp::Digamma,
                    Some(index) => RealOp::Polygamma(index),
                    None => return Err(errors::outside_fragment(n.span, "`polygamma` at such an index")),
                };
                Ok(syntax::op(operation, vec![self.term(x)?]))
            }
            (Prim::Fold, [f, start, array]) => self.fold(f, start, array),
            (Prim::Sum, [array]) => self.fold_with(RealOp::Add, 0.0, array),
            (Prim::Product, [array]) => self.fold_with(RealOp::Mul, 1.0, array),
            _ => {
                let real = args.iter().all(|arg| arg.ty == simple::Ty::Real);
                let found = RealOp::SAMPLES.iter().find(|op| op.name() == name && op.arity() == args.len());
                match found.filter(|_| real) {
                    Some(operation) => {
                        let args: Translate<Vec<Tm>> = args.iter().map(|arg| self.term(arg)).collect();
                        Ok(syntax::op(*operation, args?))
                    }
                    None => Err(errors::outside_fragment(span, &format!("`{name}`"))),
                }
            }
        }
    }

    fn items(&mut self, array: &simple::Term) -> Translate<Vec<Tm>> {
        let TermKind::Array(items) = &array.kind else {
            return Err(errors::outside_fragment(array.span, "arrays other than literals"));
        };
        items.iter().map(|item| self.term(item)).collect()
    }

    /// `fold f z [a₁, …, a_n]` is the Church list `[a_n; …; a₁]` at `λa.λh. f h a` and `z`: the one folds from the left,
    /// the other from the right.
    fn fold(&mut self, f: &simple::Term, start: &simple::Term, array: &simple::Term) -> Translate<Tm> {
        let result = type_of(&start.ty, start.span)?;
        let simple::Ty::Array(element) = &array.ty else {
            return Err(errors::outside_fragment(array.span, "arrays other than literals"));
        };
        let element = type_of(element, array.span)?;
        let mut items = self.items(array)?;
        items.reverse();
        let (a, h) = (Var::exponential("a", element.clone()), Var::exponential("h", result.clone()));
        let function_type = Ty::fun(result.clone(), Ty::fun(element.clone(), result.clone()));
        let g = Var::exponential("g", function_type);
        let step = lam(&a, lam(&h, app(app(var(&g), var(&h)), var(&a))));
        let list = church_list(items, &element, &result);
        Ok(sub(app(app(list, step), self.term(start)?), &g, self.term(f)?))
    }

    fn fold_with(&mut self, operation: RealOp, neutral: f64, array: &simple::Term) -> Translate<Tm> {
        if array.ty != simple::Ty::Array(Rc::new(simple::Ty::Real)) {
            return Err(errors::outside_fragment(array.span, "arrays of anything but Reals here"));
        }
        let mut items = self.items(array)?;
        items.reverse();
        let (a, h) = (Var::exponential("a", Ty::Real), Var::exponential("h", Ty::Real));
        let step = lam(&a, lam(&h, syntax::op(operation, vec![var(&h), var(&a)])));
        Ok(app(app(church_list(items, &Ty::Real, &Ty::Real), step), syntax::num(neutral)))
    }
}

/// A type of the core, if the calculus has it.
pub fn type_of(ty: &simple::Ty, span: Span) -> Translate<Ty> {
    let outside = |what: &str| Err(errors::outside_fragment(span, what));
    match ty {
        simple::Ty::Real => Ok(Ty::Real),
        simple::Ty::Fun(a, b) => Ok(Ty::fun(type_of(a, span)?, type_of(b, span)?)),
        simple::Ty::Tuple(parts) => {
            let parts: Translate<Vec<Ty>> = parts.iter().map(|part| type_of(part, span)).collect();
            match parts?.into_iter().rev().reduce(|rest, part| Ty::prod(part, rest)) {
                Some(ty) => Ok(ty),
                None => outside("unit type"),
            }
        }
        simple::Ty::Int => outside("integers"),
        simple::Ty::Bool => outside("truth values"),
        simple::Ty::String => outside("text"),
        simple::Ty::Array(_) => outside("arrays other than as the argument of fold, sum and product"),
        simple::Ty::Data(..) => outside("data types"),
        simple::Ty::Dual(_) => outside("type Dual"),
    }
}

/// Component `index` of `width`, by substitutions of pairs.
fn projection(tuple: Tm, ty: &Ty, index: usize, width: usize) -> Tm {
    let (mut tm, mut ty) = (tuple, ty.clone());
    for level in 0..=index {
        let Ty::Prod(a, b) = ty else { break };
        if level + 1 == width {
            break;
        }
        let (x, y) = (Var::exponential("x", (*a).clone()), Var::exponential("y", (*b).clone()));
        if level == index {
            return sub_pair(var(&x), &x, &y, tm);
        }
        tm = sub_pair(var(&y), &x, &y, tm);
        ty = (*b).clone();
    }
    tm
}

/// A fresh variable for each real of a type made of reals and tuples, and the tuple of them.
fn variables_of(ty: &simple::Ty, variables: &mut Vec<Var>) -> Option<Tm> {
    match ty {
        simple::Ty::Real => {
            let x = Var::exponential(format!("x{}", variables.len() + 1), Ty::Real);
            variables.push(x.clone());
            Some(var(&x))
        }
        simple::Ty::Tuple(parts) if !parts.is_empty() => {
            let parts: Option<Vec<Tm>> = parts.iter().map(|part| variables_of(part, variables)).collect();
            parts?.into_iter().rev().reduce(|rest, part| pair(part, rest))
        }
        simple::Ty::Tuple(_) | simple::Ty::Int | simple::Ty::Bool | simple::Ty::String => None,
        simple::Ty::Array(_) | simple::Ty::Fun(..) | simple::Ty::Data(..) | simple::Ty::Dual(_) => None,
    }
}
