//! What the program knows before it runs: integers, truth values, how long an array is. A value is known in so far as its
//! type says so: numbers and functions of numbers are terms of the calculus.

use super::super::syntax::{Compare, Term, church_list, pair};
use super::{Translation, outside, tuple};
use crate::kit::simple::{self, TermKind, Ty};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};
use wengert_prim::Prim;

/// A value.
#[derive(Clone)]
pub(super) enum Known {
    /// A term of the calculus; if it is of an array type, a Church list of a length that is not known.
    Term(Term, Ty),
    Int(i64),
    Bool(bool),
    /// A truth value that depends on reals.
    Condition(Rc<Condition>),
    Tuple(Vec<Known>),
    Array(Vec<Known>),
    /// A function whose parameter or result is such a value: written out where it is called.
    Function(Rc<simple::Term>, Rc<FxHashMap<u32, Known>>),
}

/// A truth value by comparisons of reals.
pub(super) enum Condition {
    /// Known.
    Is(bool),
    /// What it is if the comparison of the two numbers holds, and if it does not.
    Test(Compare, Term, Rc<Condition>, Rc<Condition>),
}

impl Known {
    /// A truth value by comparisons.
    pub(super) fn condition(&self) -> Option<Rc<Condition>> {
        match self {
            Known::Bool(b) => Some(Rc::new(Condition::Is(*b))),
            Known::Condition(condition) => Some(condition.clone()),
            Known::Term(..) | Known::Int(_) | Known::Tuple(_) | Known::Array(_) | Known::Function(..) => None,
        }
    }
}

impl Known {
    /// Appends the numbers that the value is made of; whether it is made of numbers only.
    pub(super) fn numbers(&self, found: &mut Vec<Term>) -> bool {
        match self {
            Known::Term(term, ty) => numbers_at(term, ty, found),
            Known::Tuple(items) | Known::Array(items) => items.iter().all(|item| item.numbers(found)),
            Known::Int(_) | Known::Bool(_) | Known::Condition(_) | Known::Function(..) => false,
        }
    }

    /// The value with other numbers.
    pub(super) fn with_numbers(&self, numbers: &mut dyn Iterator<Item = Term>) -> Option<Known> {
        let mut all =
            |items: &[Known]| items.iter().map(|item| item.with_numbers(numbers)).collect::<Option<Vec<_>>>();
        Some(match self {
            Known::Term(_, ty) => Known::Term(made_of(ty, numbers)?, ty.clone()),
            Known::Tuple(items) => Known::Tuple(all(items)?),
            Known::Array(items) => Known::Array(all(items)?),
            Known::Int(_) | Known::Bool(_) | Known::Condition(_) | Known::Function(..) => return None,
        })
    }
}

fn numbers_at(term: &Term, ty: &Ty, found: &mut Vec<Term>) -> bool {
    match ty {
        Ty::Real => {
            found.push(term.clone());
            true
        }
        Ty::Tuple(types) => {
            let part = |at| super::component(term, at, types.len());
            types.iter().enumerate().all(|(at, ty)| numbers_at(&part(at), ty, found))
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => false,
    }
}

fn made_of(ty: &Ty, numbers: &mut dyn Iterator<Item = Term>) -> Option<Term> {
    match ty {
        Ty::Real => numbers.next(),
        Ty::Tuple(types) => {
            Some(tuple(types.iter().map(|ty| made_of(ty, numbers)).collect::<Option<Vec<_>>>()?))
        }
        Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => None,
    }
}

fn negated(condition: &Condition) -> Rc<Condition> {
    Rc::new(match condition {
        Condition::Is(b) => Condition::Is(!b),
        Condition::Test(compare, numbers, holds, fails) => {
            Condition::Test(*compare, numbers.clone(), negated(holds), negated(fails))
        }
    })
}

/// Whether values of the type have parts that must be known.
pub(super) fn is_known(ty: &Ty) -> bool {
    match ty {
        Ty::Int | Ty::Bool | Ty::Array(_) => true,
        Ty::Tuple(items) => items.iter().any(is_known),
        Ty::Fun(..) => function_of_known(ty),
        Ty::Real | Ty::String | Ty::Data(..) | Ty::Dual(_) => false,
    }
}

/// Whether it is a type of functions of such values.
pub(super) fn function_of_known(ty: &Ty) -> bool {
    match ty {
        Ty::Fun(from, to) => is_known(from) || is_known(to),
        Ty::Real
        | Ty::Int
        | Ty::Bool
        | Ty::String
        | Ty::Tuple(_)
        | Ty::Array(_)
        | Ty::Data(..)
        | Ty::Dual(_) => false,
    }
}

impl Translation {
    /// A value as a term of the calculus.
    pub(super) fn term_of(&mut self, value: &Known, span: Span) -> Result<Term, Diagnostic> {
        let all = |this: &mut Self, items: &[Known]| -> Result<Vec<Term>, Diagnostic> {
            items.iter().map(|item| this.term_of(item, span)).collect()
        };
        match value {
            Known::Term(term, ty) => match ty {
                Ty::Int => Err(outside("an integer", span)),
                Ty::Bool => Err(outside("a truth value outside of `if`", span)),
                Ty::String => Err(outside("a text", span)),
                Ty::Real | Ty::Tuple(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Data(..) | Ty::Dual(_) => {
                    Ok(term.clone())
                }
            },
            Known::Int(_) => Err(outside("an integer", span)),
            Known::Bool(_) | Known::Condition(_) => Err(outside("a truth value outside of `if`", span)),
            Known::Tuple(items) => Ok(tuple(all(self, items)?)),
            Known::Array(items) => Ok(church_list(all(self, items)?)),
            Known::Function(written, values) => {
                let around = std::mem::replace(&mut self.values, values.as_ref().clone());
                let made = self.abstraction(written, span);
                self.values = around;
                made
            }
        }
    }

    /// A function of lists as an abstraction: its parameter is a list of unknown length.
    fn abstraction(&mut self, written: &simple::Term, span: Span) -> Result<Term, Diagnostic> {
        let TermKind::Lam(x, from, body) = &written.kind else { return Err(outside("this function", span)) };
        if matches!(from, Ty::Int | Ty::Bool) {
            return Err(outside(
                "a function of integers or truth values that is used as a value",
                written.span,
            ));
        }
        let x = self.parameter(*x, from);
        Ok(super::lam(&x, self.term(body)?))
    }

    /// Operations on integers and truth values that are known.
    pub(super) fn arithmetic(
        &mut self,
        prim: Prim,
        args: &[simple::Term],
    ) -> Result<Option<Known>, Diagnostic> {
        match (prim, args) {
            (Prim::Real, [n]) => {
                return Ok(match self.value(n)? {
                    Known::Int(n) => Some(Known::Term(super::num(n as f64), Ty::Real)),
                    _ => None,
                });
            }
            (Prim::Not, [b]) => {
                return Ok(match self.value(b)? {
                    Known::Bool(b) => Some(Known::Bool(!b)),
                    Known::Condition(condition) => Some(Known::Condition(negated(&condition))),
                    _ => None,
                });
            }
            (_, [a, b]) if a.ty == Ty::Real && super::comparison(prim).is_some() => {
                let (compare, swap, negate) = super::comparison(prim).unwrap_or((Compare::Eq, false, false));
                let (a, b) = (self.term(a)?, self.term(b)?);
                let numbers = if swap { pair(b, a) } else { pair(a, b) };
                let is = |b: bool| Rc::new(Condition::Is(b));
                return Ok(Some(Known::Condition(Rc::new(Condition::Test(
                    compare,
                    numbers,
                    is(!negate),
                    is(negate),
                )))));
            }
            _ => {}
        }
        if args.is_empty() || args.iter().any(|arg| arg.ty != Ty::Int) {
            return Ok(None);
        }
        let mut numbers = Vec::new();
        for arg in args {
            let Known::Int(n) = self.value(arg)? else { return Ok(None) };
            numbers.push(n);
        }
        Ok(integer(prim, &numbers))
    }
}

fn integer(prim: Prim, numbers: &[i64]) -> Option<Known> {
    if let [a] = numbers {
        return match prim {
            Prim::Neg => Some(Known::Int(a.wrapping_neg())),
            Prim::Abs => Some(Known::Int(a.wrapping_abs())),
            _ => None,
        };
    }
    let [a, b] = numbers else { return None };
    Some(match prim {
        Prim::Add => Known::Int(a.wrapping_add(*b)),
        Prim::Sub => Known::Int(a.wrapping_sub(*b)),
        Prim::Mul => Known::Int(a.wrapping_mul(*b)),
        Prim::Div => Known::Int(a.checked_div(*b)?),
        Prim::Rem => Known::Int(a.checked_rem(*b)?),
        Prim::ModFloor => Known::Int(a.checked_rem(*b)?.checked_add(*b)?.checked_rem(*b)?),
        Prim::Min => Known::Int(*a.min(b)),
        Prim::Max => Known::Int(*a.max(b)),
        Prim::Eq => Known::Bool(a == b),
        Prim::Ne => Known::Bool(a != b),
        Prim::Lt => Known::Bool(a < b),
        Prim::Le => Known::Bool(a <= b),
        Prim::Gt => Known::Bool(a > b),
        Prim::Ge => Known::Bool(a >= b),
        _ => return None,
    })
}
