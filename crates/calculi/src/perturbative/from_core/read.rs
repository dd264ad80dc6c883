//! What a normal form says, by the type of the program.

use super::super::print;
use super::super::reduce::LARGEST_VALUE;
use super::super::syntax::{Half, Kind, Term, deep, zero};
use crate::kit::ground::Ground;
use crate::kit::simple::Ty;

/// A normal form as a value of the type that the program has.
pub fn ground(term: &Term, ty: &Ty) -> Ground {
    read(term, ty, &mut LARGEST_VALUE.clone()).unwrap_or_else(|| Ground::Term(print::term(term)))
}

fn read(term: &Term, ty: &Ty, left: &mut usize) -> Option<Ground> {
    *left = left.checked_sub(1)?;
    deep(|| match ty {
        Ty::Real => match super::super::reduce::ground(term) {
            Ground::Real(r) => Some(Ground::Real(r)),
            _ => None,
        },
        Ty::Tuple(items) => {
            let (mut rest, mut values) = (term.clone(), Vec::new());
            for (index, item) in items.iter().enumerate() {
                if index + 1 == items.len() {
                    values.push(read(&rest, item, left)?);
                    break;
                }
                let (first, second) = normal_halves(&rest)?;
                values.push(read(&first, item, left)?);
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
                values.push(read(&item, elem, left)?);
                at = rest;
            }
            Some(Ground::Array(values))
        }
        Ty::Dual(of) => read(term, of, left),
        Ty::Int | Ty::Bool | Ty::String | Ty::Fun(..) | Ty::Data(..) => None,
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
