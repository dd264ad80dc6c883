//! From a simple program to a term of the calculus.
//!
//! | program | term |
//! |---|---|
//! | tuples, `let`, functions | nested pairs, redexes, abstractions |
//! | arrays | Church lists; `fold` and `map` apply them |
//! | `if a < b then … else …` | a conditional constant at every number of its type |
//! | `derivative f x`, `jvp`, `linearize` | pushforwards, `π₁ (T f ⟨1, x⟩)` |
//! | `grad`, `vjp`, `pullback` | one pushforward along each unit vector: forward mode cannot do better |
//!
//! The calculus has no integers and no truth values. Those that the program knows before it runs (exponents, sizes, literal
//! indices, comparisons of them) are computed here; a function of such values is written out where it is called, and so is
//! `build` with a known size. [`known`] has these values, [`arrays`] the operations on lists, [`derive`](mod@derive) the
//! derivative operators. What the calculus has no term for (recursion, data types, texts, integers that depend on reals)
//! is refused.

mod arrays;
mod derive;
mod known;
mod read;

use super::errors;
use super::syntax::{
    Compare, Const, Half, Term, Var, app, constant, deep, lam, num, op, pair, proj, var, zero,
};
use crate::kit::errors as kit;
use crate::kit::simple::{self, Program, TermKind, Ty};
use known::{Condition, Known};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

pub use derive::{Formula, formula};
pub use read::ground;

type Translated = Result<Term, Diagnostic>;

/// Calls that are written out at most.
const MAX_CALLS: u32 = 100_000;

/// The term of a program, and the program's type, which [`ground`] needs.
pub fn translate(program: &Program) -> Result<(Term, Ty), Diagnostic> {
    let mut translation = Translation::default();
    let value = translation.value(&program.term)?;
    let ended = derive::ended(value);
    Ok((translation.term_of(&ended, program.term.span)?, program.term.ty.clone()))
}

#[derive(Default)]
struct Translation {
    /// What variables stand for.
    values: FxHashMap<u32, Known>,
    calls: u32,
}

fn outside(construct: &str, span: Span) -> Diagnostic {
    errors::outside(span, construct)
}

impl Translation {
    /// A term whose value is the calculus's.
    fn term(&mut self, term: &simple::Term) -> Translated {
        let value = self.value(term)?;
        self.term_of(&value, term.span)
    }

    fn bind(&mut self, x: simple::Var, value: Known) {
        self.values.insert(x.id, value);
    }

    /// A parameter.
    fn parameter(&mut self, x: simple::Var, ty: &Ty) -> Var {
        let fresh = Var::fresh(x.name.as_str());
        self.bind(x, Known::Term(var(&fresh), ty.clone()));
        fresh
    }

    fn terms(&mut self, terms: &[simple::Term]) -> Result<Vec<Term>, Diagnostic> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    /// What a term is, as far as that is known.
    fn value(&mut self, term: &simple::Term) -> Result<Known, Diagnostic> {
        deep(|| self.node(term))
    }

    fn node(&mut self, term: &simple::Term) -> Result<Known, Diagnostic> {
        let span = term.span;
        let plain = |made: Term| Known::Term(made, term.ty.clone());
        Ok(match &term.kind {
            TermKind::Var(x) => match self.values.get(&x.id) {
                Some(known) => known.clone(),
                None => return Err(kit::unknown_definition(span, x.name)),
            },
            TermKind::Real(r) => plain(num(*r)),
            TermKind::Int(n) => Known::Int(*n),
            TermKind::Bool(b) => Known::Bool(*b),
            TermKind::Lam(x, from, body) => {
                if known::function_of_known(&term.ty) {
                    return Ok(Known::Function(Rc::new(term.clone()), Rc::new(self.values.clone())));
                }
                let x = self.parameter(*x, from);
                plain(lam(&x, self.term(body)?))
            }
            TermKind::App(s, n) => {
                if known::function_of_known(&s.ty) {
                    let argument = self.value(n)?;
                    return self.call(s, vec![argument], &term.ty);
                }
                plain(app(self.term(s)?, self.term(n)?))
            }
            TermKind::Let(x, ty, value, body) => return self.bound(*x, ty, value, body),
            TermKind::If(cond, then, otherwise) => return self.conditional(cond, then, otherwise, &term.ty),
            TermKind::Tuple(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                if known::is_known(&term.ty) {
                    return Ok(Known::Tuple(items));
                }
                let items = items.iter().map(|item| self.term_of(item, span)).collect::<Result<_, _>>()?;
                plain(tuple(items))
            }
            TermKind::Proj(of, index, count) => match self.value(of)? {
                Known::Tuple(items) => match items.into_iter().nth(*index) {
                    Some(item) => item,
                    None => return Err(outside("a component", span)),
                },
                of => plain(component(&self.term_of(&of, span)?, *index, *count)),
            },
            TermKind::Prim(prim, args) => return self.primitive(*prim, args, term),
            TermKind::Derive(operator, args) => return self.derive(*operator, args, term),
            TermKind::Array(items) => {
                Known::Array(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?)
            }
            TermKind::String(_) => return Err(outside("a text", span)),
            TermKind::LetRec(..) => return Err(outside("recursion", span)),
            TermKind::Ctor(..) => return Err(outside("a constructor", span)),
            TermKind::Case(..) => return Err(outside("a match", span)),
        })
    }

    /// `let x = value in body`: a redex, or the value in the place of `x` if it has parts that must be known.
    fn bound(
        &mut self,
        x: simple::Var,
        ty: &Ty,
        value: &simple::Term,
        body: &simple::Term,
    ) -> Result<Known, Diagnostic> {
        let value = self.value(value)?;
        match value {
            Known::Term(value, _) if !known::is_known(&body.ty) && !known::is_known(ty) => {
                let x = self.parameter(x, ty);
                Ok(Known::Term(app(lam(&x, self.term(body)?), value), body.ty.clone()))
            }
            value => {
                self.bind(x, value);
                self.value(body)
            }
        }
    }

    fn conditional(
        &mut self,
        cond: &simple::Term,
        then: &simple::Term,
        otherwise: &simple::Term,
        ty: &Ty,
    ) -> Result<Known, Diagnostic> {
        let condition = match self.value(cond)? {
            Known::Bool(holds) => return self.value(if holds { then } else { otherwise }),
            Known::Condition(condition) => condition,
            _ => return Err(outside("a condition other than a comparison of reals", cond.span)),
        };
        let branches = (self.value(then)?, self.value(otherwise)?);
        self.choose(&condition, &branches, ty, cond.span)
    }

    /// A function at values, written out where it is known.
    fn call(&mut self, func: &simple::Term, mut args: Vec<Known>, ty: &Ty) -> Result<Known, Diagnostic> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err(outside("a program that is this large when it is written out", func.span));
        }
        if args.is_empty() {
            return self.value(func);
        }
        deep(|| match &func.kind {
            TermKind::Lam(x, _, body) => {
                let first = args.remove(0);
                self.bind(*x, first);
                self.call(body, args, ty)
            }
            TermKind::App(inner, arg) => {
                args.insert(0, self.value(arg)?);
                self.call(inner, args, ty)
            }
            TermKind::Let(x, _, value, body) => {
                let value = self.value(value)?;
                self.bind(*x, value);
                self.call(body, args, ty)
            }
            _ => match self.value(func)? {
                Known::Function(written, values) => {
                    let around = std::mem::replace(&mut self.values, values.as_ref().clone());
                    let result = self.call(&written, args, ty);
                    self.values = around;
                    result
                }
                function => {
                    let function = self.term_of(&function, func.span)?;
                    let args =
                        args.iter().map(|arg| self.term_of(arg, func.span)).collect::<Result<Vec<_>, _>>()?;
                    Ok(Known::Term(args.into_iter().fold(function, app), ty.clone()))
                }
            },
        })
    }

    fn primitive(
        &mut self,
        prim: Prim,
        args: &[simple::Term],
        term: &simple::Term,
    ) -> Result<Known, Diagnostic> {
        if let Some(value) = self.arithmetic(prim, args)? {
            return Ok(value);
        }
        if let Some(value) = self.array_operation(prim, args, term)? {
            return Ok(value);
        }
        let name = prim.info().name;
        let plain = |made: Term| Ok(Known::Term(made, term.ty.clone()));
        if let Some(linear) = self.vector_operation(prim, args, term)? {
            return plain(linear);
        }
        match (prim, args) {
            (Prim::Power, [base, exponent]) if base.ty == Ty::Real => {
                let base = self.term(base)?;
                return match self.value(exponent)? {
                    Known::Int(n) => plain(op(RealOp::PowInt(n), &[base])),
                    _ => Err(outside("an exponent that is not known before the program runs", exponent.span)),
                };
            }
            (Prim::Polygamma, [order, x]) => {
                let x = self.term(x)?;
                return match self.value(order)? {
                    Known::Int(0) => plain(op(RealOp::Digamma, &[x])),
                    Known::Int(n) if u32::try_from(n).is_ok() => {
                        plain(op(RealOp::Polygamma(u32::try_from(n).unwrap_or(1)), &[x]))
                    }
                    _ => Err(outside("`polygamma` of this order", order.span)),
                };
            }
            (Prim::Checkpoint, [f, x]) => return plain(app(self.term(f)?, self.term(x)?)),
            _ => {}
        }
        let operation = RealOp::SAMPLES.iter().find(|op| op.name() == name && op.arity() == args.len());
        match operation {
            Some(f) if args.iter().all(|arg| arg.ty == Ty::Real) && term.ty == Ty::Real => {
                plain(op(*f, &self.terms(args)?))
            }
            Some(_) | None => Err(outside(&format!("`{name}` here"), term.span)),
        }
    }

    /// `if condition then … else …` at a type.
    fn choose(
        &mut self,
        condition: &Condition,
        branches: &(Known, Known),
        ty: &Ty,
        span: Span,
    ) -> Result<Known, Diagnostic> {
        deep(|| match condition {
            Condition::Is(true) => Ok(branches.0.clone()),
            Condition::Is(false) => Ok(branches.1.clone()),
            Condition::Test(compare, numbers, holds, fails) => {
                let holds = self.choose(holds, branches, ty, span)?;
                let fails = self.choose(fails, branches, ty, span)?;
                choose_known(ty, *compare, numbers, &holds, &fails)
                    .ok_or_else(|| outside("a conditional of this type", span))
            }
        })
    }
}

/// The constant for a comparison, whether its arguments change places, and whether its branches do.
fn comparison(prim: Prim) -> Option<(Compare, bool, bool)> {
    match prim {
        Prim::Eq => Some((Compare::Eq, false, false)),
        Prim::Ne => Some((Compare::Eq, false, true)),
        Prim::Lt => Some((Compare::Lt, false, false)),
        Prim::Le => Some((Compare::Le, false, false)),
        Prim::Gt => Some((Compare::Lt, true, false)),
        Prim::Ge => Some((Compare::Le, true, false)),
        _ => None,
    }
}

fn choose_known(ty: &Ty, compare: Compare, numbers: &Term, then: &Known, otherwise: &Known) -> Option<Known> {
    let each = |a: &[Known], b: &[Known], types: &dyn Fn(usize) -> Option<Ty>| -> Option<Vec<Known>> {
        (a.len() == b.len()).then_some(())?;
        let chosen = a.iter().zip(b).enumerate();
        chosen.map(|(at, (a, b))| choose_known(&types(at)?, compare, numbers, a, b)).collect()
    };
    match (then, otherwise, ty) {
        (Known::Term(a, _), Known::Term(b, _), _) => {
            Some(Known::Term(choose_at(ty, compare, numbers, a, b)?, ty.clone()))
        }
        (Known::Tuple(a), Known::Tuple(b), Ty::Tuple(types)) => {
            Some(Known::Tuple(each(a, b, &|at| types.get(at).cloned())?))
        }
        (Known::Array(a), Known::Array(b), Ty::Array(item)) => {
            Some(Known::Array(each(a, b, &|_| Some(item.as_ref().clone()))?))
        }
        (Known::Int(a), Known::Int(b), _) if a == b => Some(Known::Int(*a)),
        (Known::Bool(_) | Known::Condition(_), Known::Bool(_) | Known::Condition(_), _) => {
            let test = Condition::Test(compare, numbers.clone(), then.condition()?, otherwise.condition()?);
            Some(Known::Condition(Rc::new(test)))
        }
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
