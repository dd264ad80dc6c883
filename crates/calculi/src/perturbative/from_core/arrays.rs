//! Arrays as Church lists. `fold` and `map` take a list of any length; the other operations need one of known length, and
//! are written out element by element.

use super::super::syntax::{Term, Var, app, lam, num, op, sum, var, zero};
use super::known::{Known, is_known};
use super::{Translation, outside};
use crate::kit::simple::{self, Ty};
use wengert_base::{Diagnostic, Span};
use wengert_prim::{Prim, RealOp};

/// Elements of an array that is written out, at most.
const LONGEST: i64 = 10_000;

type Operation = Result<Option<Known>, Diagnostic>;

impl Translation {
    /// The elements of an array of known length.
    fn elements(&mut self, array: &simple::Term) -> Result<Vec<Known>, Diagnostic> {
        match self.value(array)? {
            Known::Array(items) => Ok(items),
            _ => Err(outside("this operation on an array whose length is not known", array.span)),
        }
    }

    fn size(&mut self, n: &simple::Term) -> Result<i64, Diagnostic> {
        match self.value(n)? {
            Known::Int(n) if (0..=LONGEST).contains(&n) => Ok(n),
            Known::Int(_) => Err(outside(&format!("an array of more than {LONGEST} elements"), n.span)),
            _ => Err(outside("a size that is not known before the program runs", n.span)),
        }
    }

    fn place(&mut self, index: &simple::Term, items: &[Known]) -> Result<usize, Diagnostic> {
        match self.value(index)? {
            Known::Int(at) if usize::try_from(at).is_ok_and(|at| at <= items.len()) => {
                Ok(usize::try_from(at).unwrap_or_default())
            }
            Known::Int(_) => Err(outside("an index outside of the array", index.span)),
            _ => Err(outside("an index that is not known before the program runs", index.span)),
        }
    }

    pub(super) fn array_operation(
        &mut self,
        prim: Prim,
        args: &[simple::Term],
        term: &simple::Term,
    ) -> Operation {
        let kinds = [Self::loops, Self::made, Self::parts, Self::joined_arrays];
        for kind in kinds {
            let value = kind(self, prim, args, term)?;
            if value.is_some() {
                return Ok(value);
            }
        }
        Ok(None)
    }

    /// Operations that apply a function to one element after the other.
    fn loops(&mut self, prim: Prim, args: &[simple::Term], term: &simple::Term) -> Operation {
        Ok(Some(match (prim, args) {
            (Prim::Fold | Prim::Reduce, [f, start, list]) => {
                return self.fold(f, start, list, term).map(Some);
            }
            (Prim::Map, [f, list]) => return self.map(f, list, term).map(Some),
            (Prim::Sum | Prim::Product, [list]) if term.ty == Ty::Real => {
                let list = self.term(list)?;
                let (a, b) = (Var::fresh("a"), Var::fresh("b"));
                let (joined, neutral) = match prim {
                    Prim::Sum => (sum([var(&a), var(&b)]), zero()),
                    _ => (op(RealOp::Mul, &[var(&a), var(&b)]), num(1.0)),
                };
                Known::Term(app(app(list, lam(&a, lam(&b, joined))), neutral), Ty::Real)
            }
            (Prim::Scan, [f, start, list]) => {
                let mut state = self.value(start)?;
                let mut states = Vec::new();
                for item in self.elements(list)? {
                    state = self.call(f, vec![state, item], &start.ty)?;
                    states.push(state.clone());
                }
                Known::Array(states)
            }
            (Prim::Iterate, [n, f, start]) => {
                let mut state = self.value(start)?;
                for _ in 0..self.size(n)? {
                    state = self.call(f, vec![state], &term.ty)?;
                }
                state
            }
            _ => return Ok(None),
        }))
    }

    /// Arrays that are made, and values that are taken apart into arrays.
    fn made(&mut self, prim: Prim, args: &[simple::Term], term: &simple::Term) -> Operation {
        Ok(Some(match (prim, args) {
            (Prim::Build, [n, f]) => {
                let Ty::Array(item) = &term.ty else { return Ok(None) };
                let mut items = Vec::new();
                for at in 0..self.size(n)? {
                    items.push(self.call(f, vec![Known::Int(at)], item)?);
                }
                Known::Array(items)
            }
            (Prim::Iota, [n]) => Known::Array((0..self.size(n)?).map(Known::Int).collect()),
            (Prim::Replicate, [n, value]) => {
                let (n, value) = (self.size(n)?, self.value(value)?);
                Known::Array((0..n).map(|_| value.clone()).collect())
            }
            (Prim::VecZero, [of]) if is_known(&of.ty) => {
                match self.value(of)?.with_numbers(&mut std::iter::repeat_with(zero)) {
                    Some(value) => value,
                    None => return Ok(None),
                }
            }
            (Prim::Ravel, [of]) => {
                let value = self.value(of)?;
                let mut numbers = Vec::new();
                if !value.numbers(&mut numbers) {
                    return Ok(None);
                }
                Known::Array(numbers.into_iter().map(|number| Known::Term(number, Ty::Real)).collect())
            }
            (Prim::Unravel, [like, numbers]) => {
                let value = self.value(like)?;
                let mut terms = Vec::new();
                for number in self.elements(numbers)? {
                    terms.push(self.term_of(&number, term.span)?);
                }
                match value.with_numbers(&mut terms.into_iter()) {
                    Some(value) => value,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Parts of an array.
    fn parts(&mut self, prim: Prim, args: &[simple::Term], _: &simple::Term) -> Operation {
        Ok(Some(match (prim, args) {
            (Prim::Length, [array]) => {
                Known::Int(i64::try_from(self.elements(array)?.len()).unwrap_or(i64::MAX))
            }
            (Prim::Index, [array, index]) => {
                let items = self.elements(array)?;
                let at = self.place(index, &items)?;
                match items.into_iter().nth(at) {
                    Some(item) => item,
                    None => return Err(outside("an index outside of the array", index.span)),
                }
            }
            (Prim::Reverse, [array]) => Known::Array(self.elements(array)?.into_iter().rev().collect()),
            (Prim::Slice, [array, from, to]) => {
                let items = self.elements(array)?;
                let (from, to) = (self.place(from, &items)?, self.place(to, &items)?);
                Known::Array(items.into_iter().take(to).skip(from).collect())
            }
            (Prim::SetIndex, [array, index, value]) => {
                let mut items = self.elements(array)?;
                let (at, value) = (self.place(index, &items)?, self.value(value)?);
                match items.get_mut(at) {
                    Some(item) => *item = value,
                    None => return Err(outside("an index outside of the array", index.span)),
                }
                Known::Array(items)
            }
            _ => return Ok(None),
        }))
    }

    /// Operations on several arrays.
    fn joined_arrays(&mut self, prim: Prim, args: &[simple::Term], term: &simple::Term) -> Operation {
        Ok(Some(match (prim, args) {
            (Prim::Concat, [a, b]) => {
                let mut items = self.elements(a)?;
                items.extend(self.elements(b)?);
                Known::Array(items)
            }
            (Prim::Zip, [a, b]) => {
                let Ty::Array(item) = &term.ty else { return Ok(None) };
                let mut pairs = Vec::new();
                for (a, b) in self.paired(a, b)? {
                    pairs.push(self.joined(vec![a, b], item, term.span)?);
                }
                Known::Array(pairs)
            }
            (Prim::Map2, [f, a, b]) => {
                let Ty::Array(item) = &term.ty else { return Ok(None) };
                let mut items = Vec::new();
                for (a, b) in self.paired(a, b)? {
                    items.push(self.call(f, vec![a, b], item)?);
                }
                Known::Array(items)
            }
            (Prim::Dot, [a, b]) if term.ty == Ty::Real => {
                let mut products = Vec::new();
                for (x, y) in self.paired(a, b)? {
                    products.push(op(RealOp::Mul, &[self.term_of(&x, a.span)?, self.term_of(&y, b.span)?]));
                }
                Known::Term(sum(products), Ty::Real)
            }
            (Prim::Transpose, [rows]) => {
                let mut all = Vec::new();
                for row in self.elements(rows)? {
                    let Known::Array(items) = row else { return Ok(None) };
                    all.push(items);
                }
                let columns = all.first().map_or(0, Vec::len);
                let column = |at: usize| all.iter().filter_map(|row| row.get(at).cloned()).collect();
                Known::Array((0..columns).map(|at| Known::Array(column(at))).collect())
            }
            _ => return Ok(None),
        }))
    }

    /// Elements of two arrays.
    fn paired(&mut self, a: &simple::Term, b: &simple::Term) -> Result<Vec<(Known, Known)>, Diagnostic> {
        let (x, y) = (self.elements(a)?, self.elements(b)?);
        if x.len() != y.len() {
            return Err(outside("an operation on arrays of different lengths", b.span));
        }
        Ok(x.into_iter().zip(y).collect())
    }

    /// A tuple of values.
    fn joined(&mut self, items: Vec<Known>, ty: &Ty, span: Span) -> Result<Known, Diagnostic> {
        if is_known(ty) {
            return Ok(Known::Tuple(items));
        }
        let items = items.iter().map(|item| self.term_of(item, span)).collect::<Result<_, _>>()?;
        Ok(Known::Term(super::tuple(items), ty.clone()))
    }

    fn fold(
        &mut self,
        f: &simple::Term,
        start: &simple::Term,
        list: &simple::Term,
        term: &simple::Term,
    ) -> Result<Known, Diagnostic> {
        if super::known::function_of_known(&f.ty) {
            let mut state = self.value(start)?;
            for item in self.elements(list)? {
                state = self.call(f, vec![state, item], &term.ty)?;
            }
            return Ok(state);
        }
        // From the left by a fold from the right: of functions.
        let (f, start, list) = (self.term(f)?, self.term(start)?, self.term(list)?);
        let (a, k, b, same) = (Var::fresh("a"), Var::fresh("k"), Var::fresh("b"), Var::fresh("b"));
        let next = app(var(&k), app(app(f, var(&b)), var(&a)));
        let step = lam(&a, lam(&k, lam(&b, next)));
        let folded: Term = app(app(app(list, step), lam(&same, var(&same))), start);
        Ok(Known::Term(folded, term.ty.clone()))
    }

    fn map(
        &mut self,
        f: &simple::Term,
        list: &simple::Term,
        term: &simple::Term,
    ) -> Result<Known, Diagnostic> {
        let Ty::Array(item) = &term.ty else { return Err(outside("`map` here", term.span)) };
        match self.value(list)? {
            Known::Array(items) => {
                if super::known::function_of_known(&f.ty) {
                    let items = items.into_iter().map(|value| self.call(f, vec![value], item));
                    return Ok(Known::Array(items.collect::<Result<_, _>>()?));
                }
                let f = self.term(f)?;
                let mut mapped = Vec::new();
                for value in items {
                    let value = self.term_of(&value, list.span)?;
                    mapped.push(Known::Term(app(f.clone(), value), item.as_ref().clone()));
                }
                Ok(Known::Array(mapped))
            }
            list_value => {
                let (f, list) = (self.term(f)?, self.term_of(&list_value, list.span)?);
                let (c, a) = (Var::fresh("f"), Var::fresh("a"));
                let mapped = lam(&c, app(list, lam(&a, app(var(&c), app(f, var(&a))))));
                Ok(Known::Term(mapped, term.ty.clone()))
            }
        }
    }
}
