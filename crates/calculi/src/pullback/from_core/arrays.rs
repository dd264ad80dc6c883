//! Arrays whose length is known before the reduction, and what else is known then.
//!
//! `fold f z [a₁, …, aₙ]` is the Church list `λ⟨f,d⟩. f⟨…f⟨d,a₁⟩…,aₙ⟩` at `⟨f,z⟩`, example 3.2 with pairs for curried arguments:
//! in DPPL a curried list whose result is a function would stop at value 1 of remark 3.6, since reduction 18 looks at
//! `λd. …` without knowing d. Everything else on arrays says which element stands where.

use super::shape::order;
use super::{Functionals, Piece, Result, Shape, Translation, outside};
use crate::kit::simple;
use crate::pullback::errors;
use crate::pullback::func::Func;
use crate::pullback::syntax::{Pat, Term, Type, Var};
use std::rc::Rc;
use wengert_base::Span;
use wengert_prim::{Prim, RealOp};

/// Elements at most.
const MAX_LENGTH: i64 = 10_000;

/// Primitives on integers and truth values that are known.
pub(super) fn known(prim: Prim, args: &[Piece]) -> Option<Piece> {
    Some(match (prim, args) {
        (Prim::Real, [Piece::Int(n)]) => Piece::Term(Term::real(*n as f64), Shape::real()),
        (Prim::Neg, [Piece::Int(n)]) => Piece::Int(n.wrapping_neg()),
        (Prim::Abs, [Piece::Int(n)]) => Piece::Int(n.wrapping_abs()),
        (Prim::Sign, [Piece::Int(n)]) => Piece::Int(n.signum()),
        (Prim::Not, [Piece::Bool(b)]) => Piece::Bool(!b),
        (_, [Piece::Int(a), Piece::Int(b)]) => match prim {
            Prim::Add => Piece::Int(a.wrapping_add(*b)),
            Prim::Sub => Piece::Int(a.wrapping_sub(*b)),
            Prim::Mul => Piece::Int(a.wrapping_mul(*b)),
            Prim::Div => Piece::Int(a.checked_div(*b)?),
            Prim::Rem => Piece::Int(a.checked_rem(*b)?),
            Prim::ModFloor => Piece::Int(a.checked_rem_euclid(*b).filter(|_| *b > 0)?),
            Prim::DivFloor => Piece::Int(a.checked_div_euclid(*b).filter(|_| *b > 0)?),
            Prim::Power => Piece::Int(u32::try_from(*b).ok().map(|b| a.wrapping_pow(b))?),
            Prim::BitAnd => Piece::Int(a & b),
            Prim::BitOr => Piece::Int(a | b),
            Prim::BitXor => Piece::Int(a ^ b),
            Prim::Min => Piece::Int(*a.min(b)),
            Prim::Max => Piece::Int(*a.max(b)),
            Prim::Eq => Piece::Bool(a == b),
            Prim::Ne => Piece::Bool(a != b),
            Prim::Lt => Piece::Bool(a < b),
            Prim::Le => Piece::Bool(a <= b),
            Prim::Gt => Piece::Bool(a > b),
            Prim::Ge => Piece::Bool(a >= b),
            _ => return None,
        },
        _ => return None,
    })
}

impl Translation {
    /// A primitive on arrays; `None` if it is none.
    pub(super) fn array_prim(
        &mut self,
        prim: Prim,
        args: &[simple::Term],
        term: &simple::Term,
    ) -> Result<Option<Piece>> {
        let span = term.span;
        Ok(Some(match (prim, args) {
            (Prim::Fold | Prim::Reduce, [f, start, array]) => {
                let unknown =
                    self.functionals == Functionals::Named || order(&start.ty).max(order(&array.ty)) == 0;
                let (f, start) = (self.piece(f)?, self.piece(start)?);
                let items = self.items(array)?;
                self.fold(f, start, items, unknown, span)?
            }
            (Prim::Scan, [f, start, array]) => self.scan(f, start, array, span)?,
            (Prim::Sum, [array]) => self.total(RealOp::Add, 0.0, array, span)?,
            (Prim::Product, [array]) => self.total(RealOp::Mul, 1.0, array, span)?,
            (Prim::Map, [f, array]) => {
                let (f, items) = (self.shared_function(f)?, self.items(array)?);
                self.each(items.into_iter().map(|item| vec![item]), &f, span)?
            }
            (Prim::Map2, [f, xs, ys]) => {
                let (f, xs, ys) = (self.shared_function(f)?, self.items(xs)?, self.items(ys)?);
                self.each(xs.into_iter().zip(ys).map(|(x, y)| vec![x, y]), &f, span)?
            }
            (Prim::Zip, [xs, ys]) => {
                let pairs = self.items(xs)?.into_iter().zip(self.items(ys)?);
                array(pairs.map(|(x, y)| Piece::Tuple(Rc::new(vec![x, y]))).collect())
            }
            (Prim::Build, [n, f]) => {
                let (n, f) = (self.length(n)?, self.piece(f)?);
                self.each((0..n).map(|i| vec![Piece::Int(i)]), &f, span)?
            }
            (Prim::Iota, [n]) => array((0..self.length(n)?).map(Piece::Int).collect()),
            (Prim::Replicate, [n, x]) => {
                let (n, x) = (self.length(n)?, self.piece(x)?);
                let x = self.settled(any_var(), x, term)?;
                array((0..n).map(|_| x.clone()).collect())
            }
            (Prim::Length, [xs]) => Piece::Int(i64::try_from(self.items(xs)?.len()).unwrap_or(i64::MAX)),
            (Prim::Index, [xs, i]) => {
                let items = self.items(xs)?;
                let Piece::Int(i) = self.piece(i)? else {
                    return outside(i.span, "index that is not known before the reduction");
                };
                match usize::try_from(i).ok().and_then(|i| items.get(i).cloned()) {
                    Some(item) => item,
                    None => return outside(span, "element outside of the array"),
                }
            }
            (Prim::Reverse, [xs]) => array(self.items(xs)?.into_iter().rev().collect()),
            (Prim::Concat, [xs, ys]) => {
                let first = self.items(xs)?;
                array(first.into_iter().chain(self.items(ys)?).collect())
            }
            (Prim::SetIndex, [xs, i, x]) => {
                let (mut items, i, x) = (self.items(xs)?, self.piece(i)?, self.piece(x)?);
                let Piece::Int(at) = i else {
                    return outside(span, "index that is not known before the reduction");
                };
                match usize::try_from(at).ok().and_then(|at| items.get_mut(at)) {
                    Some(item) => *item = x,
                    None => return outside(span, "element outside of the array"),
                }
                array(items)
            }
            (Prim::Iterate, [n, f, x]) => {
                let (n, f, mut x) = (self.length(n)?, self.shared_function(f)?, self.piece(x)?);
                for _ in 0..n {
                    x = self.call(f.clone(), x, span)?;
                }
                x
            }
            (Prim::Dot, [xs, ys]) => self.dot(xs, ys, span)?,
            _ => return Ok(None),
        }))
    }

    /// The elements of an array that is known, each of which may stand in several places.
    fn items(&mut self, term: &simple::Term) -> Result<Vec<Piece>> {
        let piece = self.piece(term)?;
        match self.settled(any_var(), piece, term)? {
            Piece::Array(items) => Ok(items.as_ref().clone()),
            Piece::Term(array, shape) => {
                let (elements, count) = match &shape {
                    Shape::Array(parts) => (true, parts.len()),
                    Shape::Dual(of) => match of.as_ref() {
                        Shape::Array(parts) => (true, parts.len()),
                        _ => (false, 0),
                    },
                    _ => (false, 0),
                };
                if !elements {
                    return outside(term.span, "arrays whose length is not known before the reduction");
                }
                let whole = Piece::Term(array, shape);
                (0..count).map(|i| self.part(whole.clone(), i, term.span)).collect()
            }
            Piece::Int(_) | Piece::Bool(_) | Piece::Tuple(_) | Piece::Function(_) => {
                outside(term.span, "arrays whose length is not known before the reduction")
            }
        }
    }

    fn length(&mut self, term: &simple::Term) -> Result<i64> {
        match self.piece(term)? {
            Piece::Int(n) if (0..=MAX_LENGTH).contains(&n) => Ok(n),
            Piece::Int(_) => outside(term.span, "arrays of such a length"),
            _ => outside(term.span, "arrays whose length is not known before the reduction"),
        }
    }

    /// A function that is named once if it has a type of DPPL.
    fn shared_function(&mut self, f: &simple::Term) -> Result<Piece> {
        let piece = self.piece(f)?;
        let var = simple::Var { name: wengert_base::Name::new("f"), ..any_var() };
        self.settled(var, piece, f)
    }

    /// `[f x₁, …, f xₙ]`
    fn each(&mut self, args: impl Iterator<Item = Vec<Piece>>, f: &Piece, span: Span) -> Result<Piece> {
        let mut results = Vec::new();
        for args in args {
            let mut result = f.clone();
            for arg in args {
                result = self.call(result, arg, span)?;
            }
            results.push(result);
        }
        Ok(array(results))
    }

    /// `fold f start items`; state and items may be `unknown` before the reduction.
    fn fold(
        &mut self,
        f: Piece,
        start: Piece,
        items: Vec<Piece>,
        unknown: bool,
        span: Span,
    ) -> Result<Piece> {
        let is_term = |item: &Piece| matches!(item, Piece::Term(..) | Piece::Tuple(_) | Piece::Array(_));
        if !unknown || !items.iter().all(is_term) {
            // Integers and functions are known: each step is what it is for its element.
            let mut state = start;
            for item in items {
                let partial = self.call(f.clone(), state, span)?;
                state = self.call(partial, item, span)?;
            }
            return Ok(state);
        }
        if items.is_empty() {
            return Ok(start);
        }
        let (start, state) = self.term_of(start, span)?;
        let (terms, shapes) = self.terms_of(&items, span)?;
        let Some(item) = shapes.first().cloned() else { return outside(span, "empty arrays as values") };
        if shapes.iter().any(|shape| *shape != item) {
            return outside(span, "arrays whose elements have different lengths");
        }
        let (step, result) = self.function(f, &[state.clone(), item], span)?;
        if *step.ty() != Type::function(Type::product(state.ty(span)?, terms_type(&terms)), state.ty(span)?) {
            let from_number = matches!(&result, Shape::Fun(result) if result.has_dual() != state.has_dual());
            return match from_number {
                true => Err(errors::not_a_number(span, "the state of a fold of numbers")),
                false => outside(span, "fold whose state changes its length"),
            };
        }
        Ok(Piece::Term(Term::app(church_list(&terms, step.ty(), start.ty()), Term::pair(step, start)), state))
    }

    fn scan(
        &mut self,
        f: &simple::Term,
        start: &simple::Term,
        xs: &simple::Term,
        span: Span,
    ) -> Result<Piece> {
        let (f, mut state) = (self.shared_function(f)?, self.piece(start)?);
        let mut results = Vec::new();
        for item in self.items(xs)? {
            let partial = self.call(f.clone(), state, span)?;
            let next = self.call(partial, item, span)?;
            state =
                self.settled(simple::Var { name: wengert_base::Name::new("s"), ..any_var() }, next, xs)?;
            results.push(state.clone());
        }
        Ok(array(results))
    }

    /// `sum` and `product`: a Church list at `λ⟨x,y⟩. x + y` and 0, as in example 3.2.
    fn total(&mut self, op: RealOp, neutral: f64, xs: &simple::Term, span: Span) -> Result<Piece> {
        let items = self.items(xs)?;
        if items.iter().all(|item| matches!(item, Piece::Int(_)))
            && xs.ty != simple::Ty::Array(simple::Ty::Real.into())
        {
            let prim = if op == RealOp::Add { Prim::Add } else { Prim::Mul };
            let start = Piece::Int(if op == RealOp::Add { 0 } else { 1 });
            let whole = items.into_iter().try_fold(start, |total, item| known(prim, &[total, item]));
            return whole.map_or_else(|| outside(span, "sums of such integers"), Ok);
        }
        let mut terms = Vec::new();
        for item in items {
            match self.term_of(item, span)? {
                (term, shape) if shape == Shape::real() => terms.push(Ok(term)),
                (term, shape @ Shape::Dual(_)) => terms.push(Err((term, shape))),
                _ => return outside(span, "sums and products of anything but numbers"),
            }
        }
        if terms.iter().any(std::result::Result::is_err) {
            if op != RealOp::Add {
                return Err(errors::not_a_number(span, "a factor of `product`"));
            }
            let mut sum: Option<(Term, Shape)> = None;
            for term in terms {
                let Err((term, shape)) = term else {
                    return Err(errors::not_a_number(span, "a summand next to numbers"));
                };
                sum = Some(match sum {
                    Some((sum, shape)) => (Term::sum(sum, term), shape),
                    None => (term, shape),
                });
            }
            return sum
                .map_or_else(|| outside(span, "empty arrays as values"), |(t, s)| Ok(Piece::Term(t, s)));
        }
        let terms: Vec<Term> = terms.into_iter().filter_map(std::result::Result::ok).collect();
        Ok(Piece::Term(folded(op, neutral, &terms), Shape::real()))
    }

    fn dot(&mut self, xs: &simple::Term, ys: &simple::Term, span: Span) -> Result<Piece> {
        let (xs, ys) = (self.items(xs)?, self.items(ys)?);
        let mut products = Vec::new();
        for (x, y) in xs.into_iter().zip(ys) {
            match (self.term_of(x, span)?, self.term_of(y, span)?) {
                ((x, a), (y, b)) if a == Shape::real() && b == a => {
                    products.push(Term::fun(Func::Prim(RealOp::Mul), Term::pair(x, y)));
                }
                _ => return outside(span, "`dot` of anything but numbers"),
            }
        }
        Ok(Piece::Term(folded(RealOp::Add, 0.0, &products), Shape::real()))
    }
}

/// A variable for what has no name.
fn any_var() -> simple::Var {
    simple::Var { name: wengert_base::Name::new("a"), id: u32::MAX }
}

fn array(items: Vec<Piece>) -> Piece {
    Piece::Array(Rc::new(items))
}

fn terms_type(terms: &[Term]) -> Type {
    terms.first().map_or_else(Type::real, |term| term.ty().clone())
}

/// Numbers joined by an operation, through a Church list.
fn folded(op: RealOp, neutral: f64, terms: &[Term]) -> Term {
    let pat = |name: &str| Pat::var(Var::named(name, Type::real()));
    let pat = Pat::pair(pat("x"), pat("y"));
    let step = Term::lam(pat.clone(), Term::fun(Func::Prim(op), pat.term()));
    let start = Term::real(neutral);
    Term::app(church_list(terms, step.ty(), start.ty()), Term::pair(step, start))
}

/// `[a₁, …, aₙ]` as `λ⟨f,d⟩. f⟨…f⟨d,a₁⟩…,aₙ⟩`.
fn church_list(items: &[Term], step: &Type, state: &Type) -> Term {
    let (f, d) = (Var::named("f", step.clone()), Var::named("d", state.clone()));
    let at = |state: Term, item: &Term| Term::app(Term::var(f.clone()), Term::pair(state, item.clone()));
    let body = items.iter().fold(Term::var(d.clone()), at);
    Term::lam(Pat::pair(Pat::var(f.clone()), Pat::var(d)), body)
}
