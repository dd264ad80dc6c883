//! From a simple program to a term of the calculus.
//!
//! Tuples are nested pairs, `let` is a redex, arrays are Church lists (folded, summed, mapped over), `if` is one of the
//! conditional constants at every number of its type, and derivative operators are pushforwards: along each unit vector
//! for a gradient. What the calculus has no term for (recursion, data types, integers, texts, cotangents) is refused.

use super::print;
use super::syntax::{
    Compare, Const, Half, Kind, Term, Var, app, church_list, constant, deep, derivative, inj, lam, num, op,
    pair, proj, push, sum, var, zero,
};
use crate::kit::errors;
use crate::kit::ground::Ground;
use crate::kit::simple::{self, Derive, Program, TermKind, Ty};
use rustc_hash::FxHashMap;
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

type Translated = Result<Term, Diagnostic>;

/// The term of a program, and the program's type, which [`ground`] needs.
pub fn translate(program: &Program) -> Result<(Term, Ty), Diagnostic> {
    let mut translation = Translation { vars: FxHashMap::default() };
    Ok((translation.term(&program.term)?, program.term.ty.clone()))
}

struct Translation {
    vars: FxHashMap<u32, Var>,
}

fn outside(construct: &str, takers: &[&str], span: Span) -> Diagnostic {
    errors::outside("perturbative", construct, takers, span)
}

impl Translation {
    fn term(&mut self, term: &simple::Term) -> Translated {
        deep(|| self.node(term))
    }

    fn bind(&mut self, x: simple::Var) -> Var {
        let fresh = Var::fresh(x.name.as_str());
        self.vars.insert(x.id, fresh.clone());
        fresh
    }

    fn terms(&mut self, terms: &[simple::Term]) -> Result<Vec<Term>, Diagnostic> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn node(&mut self, term: &simple::Term) -> Translated {
        let span = term.span;
        Ok(match &term.kind {
            TermKind::Var(x) => match self.vars.get(&x.id) {
                Some(x) => var(x),
                None => return Err(errors::unknown_definition(span, x.name)),
            },
            TermKind::Real(r) => num(*r),
            TermKind::Lam(x, _, body) => {
                let x = self.bind(*x);
                lam(&x, self.term(body)?)
            }
            TermKind::App(s, n) => app(self.term(s)?, self.term(n)?),
            TermKind::Let(x, _, value, body) => {
                let value = self.term(value)?;
                let x = self.bind(*x);
                app(lam(&x, self.term(body)?), value)
            }
            TermKind::If(cond, then, otherwise) => {
                let (then_term, otherwise_term) = (self.term(then)?, self.term(otherwise)?);
                return self.choose(cond, (then_term, otherwise_term), &term.ty);
            }
            TermKind::Tuple(items) => tuple(self.terms(items)?),
            TermKind::Proj(tuple, index, count) => component(&self.term(tuple)?, *index, *count),
            TermKind::Prim(prim, args) => return self.primitive(*prim, args, span),
            TermKind::Derive(operator, args) => return self.derive(*operator, args, span),
            TermKind::Array(items) => church_list(self.terms(items)?),
            TermKind::Int(_) => return Err(outside("an integer", &["delta"], span)),
            TermKind::Bool(_) => return Err(outside("a truth value outside of `if`", &["delta"], span)),
            TermKind::String(_) => return Err(outside("a text", &["delta"], span)),
            TermKind::LetRec(..) => return Err(outside("recursion", &["delta"], span)),
            TermKind::Ctor(..) => return Err(outside("a constructor", &["delta"], span)),
            TermKind::Case(..) => return Err(outside("a match", &["delta"], span)),
        })
    }

    fn primitive(&mut self, prim: Prim, args: &[simple::Term], span: Span) -> Translated {
        let name = prim.info().name;
        if let (Prim::Power, [base, simple::Term { kind: TermKind::Int(n), .. }]) = (prim, args)
            && base.ty == Ty::Real
        {
            return Ok(op(RealOp::PowInt(*n), &[self.term(base)?]));
        }
        if let (Prim::Real, [simple::Term { kind: TermKind::Int(n), .. }]) = (prim, args) {
            return Ok(num(*n as f64));
        }
        match (prim, args) {
            (Prim::Fold, [f, start, list]) => {
                // From the left by a fold from the right: of functions.
                let (f, start, list) = (self.term(f)?, self.term(start)?, self.term(list)?);
                let (a, k, b, same) = (Var::fresh("a"), Var::fresh("k"), Var::fresh("b"), Var::fresh("b"));
                let next = app(var(&k), app(app(f, var(&b)), var(&a)));
                let step = lam(&a, lam(&k, lam(&b, next)));
                return Ok(app(app(app(list, step), lam(&same, var(&same))), start));
            }
            (Prim::Map, [f, list]) => {
                let (f, list) = (self.term(f)?, self.term(list)?);
                let (c, a) = (Var::fresh("f"), Var::fresh("a"));
                return Ok(lam(&c, app(list, lam(&a, app(var(&c), app(f, var(&a)))))));
            }
            _ if name == "sum" && matches!(args, [list] if list.ty == Ty::Array(Ty::Real.into())) => {
                let list = self.terms(args)?;
                let (a, b) = (Var::fresh("a"), Var::fresh("b"));
                let plus = lam(&a, lam(&b, sum([var(&a), var(&b)])));
                return Ok(app(app(list.into_iter().fold(zero(), |_, list| list), plus), zero()));
            }
            _ => {}
        }
        let operation = RealOp::SAMPLES.iter().find(|op| op.name() == name && op.arity() == args.len());
        match operation {
            Some(f) if args.iter().all(|arg| arg.ty == Ty::Real) => Ok(op(*f, &self.terms(args)?)),
            Some(_) | None => Err(outside(&format!("`{name}` here"), &["delta"], span)),
        }
    }

    /// `if cond then … else …` at a type.
    fn choose(&mut self, cond: &simple::Term, branches: (Term, Term), ty: &Ty) -> Translated {
        let (then, otherwise) = branches;
        match &cond.kind {
            TermKind::Bool(true) => return Ok(then),
            TermKind::Bool(false) => return Ok(otherwise),
            // `a && b` and `a || b` are conditionals.
            TermKind::If(outer, inner_then, inner_otherwise) => {
                let then_case = self.choose(inner_then, (then.clone(), otherwise.clone()), ty)?;
                let otherwise_case = self.choose(inner_otherwise, (then, otherwise), ty)?;
                return self.choose(outer, (then_case, otherwise_case), ty);
            }
            TermKind::Prim(Prim::Not, args) => {
                if let [inner] = args.as_slice() {
                    return self.choose(inner, (otherwise, then), ty);
                }
            }
            TermKind::Prim(prim, args) => {
                if let [a, b] = args.as_slice()
                    && a.ty == Ty::Real
                    && let Some((compare, swap, negate)) = comparison(*prim)
                {
                    let (a, b) = (self.term(a)?, self.term(b)?);
                    let numbers = if swap { pair(b, a) } else { pair(a, b) };
                    let (then, otherwise) = if negate { (otherwise, then) } else { (then, otherwise) };
                    return choose_at(ty, compare, &numbers, &then, &otherwise)
                        .ok_or_else(|| outside("a conditional of this type", &["delta"], cond.span));
                }
            }
            _ => {}
        }
        Err(outside("a condition other than a comparison of reals", &["delta"], cond.span))
    }

    fn derive(&mut self, operator: Derive, args: &[simple::Term], span: Span) -> Translated {
        let [function, point] = args else {
            return Err(outside("a pullback of cotangents", &["pullback", "negation", "delta"], span));
        };
        let at_ty = &point.ty;
        let (f, x) = (self.term(function)?, self.term(point)?);
        Ok(match operator {
            Derive::Derivative => app(app(derivative(), f), x),
            Derive::Jvp => {
                let swapped = pair(proj(Half::Second, x.clone()), proj(Half::First, x));
                let pushed = app(push(f), swapped);
                pair(proj(Half::Second, pushed.clone()), proj(Half::First, pushed))
            }
            Derive::Grad | Derive::ValueAndGrad => {
                let Some(units) = unit_vectors(at_ty) else {
                    let what = "a gradient with respect to other than tuples of reals";
                    return Err(outside(what, &["negation", "delta"], span));
                };
                let (g, at) = (Var::fresh("f"), Var::fresh("x"));
                let mut partials =
                    units.into_iter().map(|unit| proj(Half::First, app(push(var(&g)), pair(unit, var(&at)))));
                let gradient = like(at_ty, &mut partials);
                let body = match operator {
                    Derive::ValueAndGrad => pair(app(var(&g), var(&at)), gradient),
                    Derive::Grad | Derive::Derivative | Derive::Jvp | Derive::Vjp | Derive::Pullback => {
                        gradient
                    }
                };
                app(app(lam(&g, lam(&at, body)), f), x)
            }
            Derive::Vjp | Derive::Pullback => {
                return Err(outside("a pullback of cotangents", &["pullback", "negation", "delta"], span));
            }
        })
    }
}

/// The constant for a comparison, whether its arguments change places, and whether its branches do.
fn comparison(prim: Prim) -> Option<(Compare, bool, bool)> {
    match prim.info().name {
        "==" => Some((Compare::Eq, false, false)),
        "!=" => Some((Compare::Eq, false, true)),
        "<" => Some((Compare::Lt, false, false)),
        "<=" => Some((Compare::Le, false, false)),
        ">" => Some((Compare::Lt, true, false)),
        ">=" => Some((Compare::Le, true, false)),
        _ => None,
    }
}

fn choose_at(ty: &Ty, compare: Compare, numbers: &Term, then: &Term, otherwise: &Term) -> Option<Term> {
    deep(|| match ty {
        Ty::Real => {
            let choice = pair(numbers.clone(), pair(then.clone(), otherwise.clone()));
            Some(app(constant(Const::Choose(compare)), choice))
        }
        Ty::Tuple(items) => {
            let chosen = items.iter().enumerate().map(|(index, item)| {
                let part = |of: &Term| component(of, index, items.len());
                choose_at(item, compare, numbers, &part(then), &part(otherwise))
            });
            Some(tuple(chosen.collect::<Option<Vec<_>>>()?))
        }
        Ty::Fun(_, to) => {
            let x = Var::fresh("x");
            let at = |f: &Term| app(f.clone(), var(&x));
            Some(lam(&x, choose_at(to, compare, numbers, &at(then), &at(otherwise))?))
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Data(..) | Ty::Dual(_) => None,
    })
}

/// `⟨a, ⟨b, …⟩⟩`; the empty tuple is `0`.
fn tuple(items: Vec<Term>) -> Term {
    let mut items = items.into_iter().rev();
    let Some(last) = items.next() else { return zero() };
    items.fold(last, |rest, item| pair(item, rest))
}

fn component(of: &Term, index: usize, count: usize) -> Term {
    let rest = (0..index).fold(of.clone(), |rest, _| proj(Half::Second, rest));
    if index + 1 == count { rest } else { proj(Half::First, rest) }
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
fn like(ty: &Ty, numbers: &mut impl Iterator<Item = Term>) -> Term {
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

/// A normal form as a value of the type that the program has.
pub fn ground(term: &Term, ty: &Ty) -> Ground {
    read(term, ty).unwrap_or_else(|| Ground::Term(print::term(term)))
}

fn read(term: &Term, ty: &Ty) -> Option<Ground> {
    deep(|| match ty {
        Ty::Real => match super::reduce::ground(term) {
            Ground::Real(r) => Some(Ground::Real(r)),
            _ => None,
        },
        Ty::Tuple(items) => {
            let (mut rest, mut values) = (term.clone(), Vec::new());
            for (index, item) in items.iter().enumerate() {
                if index + 1 == items.len() {
                    values.push(read(&rest, item)?);
                    break;
                }
                let (first, second) = normal_halves(&rest)?;
                values.push(read(&first, item)?);
                rest = second;
            }
            Some(Ground::Tuple(values))
        }
        Ty::Array(elem) => {
            let mut at = match term.kind() {
                Kind::Lam(_, s) => match s.kind() {
                    Kind::Lam(_, s) => s,
                    _ => return None,
                },
                _ => return None,
            };
            let mut values = Vec::new();
            while let Kind::App(step, rest) = at.kind() {
                let Kind::App(_, item) = step.kind() else { return None };
                values.push(read(&item, elem)?);
                at = rest;
            }
            Some(Ground::Array(values))
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => None,
    })
}

fn normal_halves(term: &Term) -> Option<(Term, Term)> {
    let (mut first, mut second) = (zero(), zero());
    let parts = match term.kind() {
        Kind::Sum(parts) => parts.to_vec(),
        _ => vec![term.clone()],
    };
    for part in parts {
        match part.kind() {
            Kind::Inj(Half::First, s) => first = s,
            Kind::Inj(Half::Second, s) => second = s,
            _ => return None,
        }
    }
    Some((first, second))
}
