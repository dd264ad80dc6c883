//! What the translation computes: integers, truth values, and arrays of known length. An array is the list of its elements; a
//! fold over it is written as the Church list of section 6.1, if element and result have types of the calculus, and is
//! unfolded otherwise.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the primitives looked for are listed, the others are refused"
)]

use super::super::errors;
use super::super::examples::church_list;
use super::super::syntax::{Tm, Ty, Var, add, app, lam, mul, num, op, sub, var};
use super::shape::{Shape, rebuilt};
use super::{Meaning, Translate, Translator, type_of};
use crate::kit::simple::{self, Term, TermKind};
use wengert_base::Span;
use wengert_prim::{Prim, RealOp};

/// Arrays may be so long.
const LONGEST: i64 = 100_000;

/// The variables in a term.
pub(super) fn captured(term: &Term, note: &mut dyn FnMut(simple::Var)) {
    let mut waiting = vec![term];
    while let Some(term) = waiting.pop() {
        if let TermKind::Var(x) = term.kind {
            note(x);
        }
        waiting.extend(term.children());
    }
}

/// Whether there is a derivative in a term.
pub(super) fn holds_derivative(term: &Term) -> bool {
    let mut waiting = vec![term];
    while let Some(term) = waiting.pop() {
        if matches!(term.kind, TermKind::Derive(..)) {
            return true;
        }
        waiting.extend(term.children());
    }
    false
}

/// The type of an array's elements.
fn item(ty: &simple::Ty) -> simple::Ty {
    match ty {
        simple::Ty::Array(item) => (**item).clone(),
        ty => ty.clone(),
    }
}

/// The argument and the result of a function type.
fn arrow(ty: &simple::Ty) -> (simple::Ty, simple::Ty) {
    match ty {
        simple::Ty::Fun(a, b) => ((**a).clone(), (**b).clone()),
        ty => (ty.clone(), ty.clone()),
    }
}

impl<'p> Translator<'p> {
    /// A saturated primitive.
    pub(super) fn primitive(&mut self, prim: Prim, args: &'p [Term], term: &Term) -> Translate<Meaning<'p>> {
        let span = term.span;
        if let Some(made) = self.on_reals(prim, args)? {
            return Ok(Meaning::Term(made));
        }
        match (prim, args) {
            (Prim::Fold | Prim::Reduce, [f, start, array]) => return self.fold(f, start, array, span),
            (Prim::Dot, [xs, ys]) if item(&xs.ty) == simple::Ty::Real => {
                let (xs, ys) = (self.items(xs)?, self.items(ys)?);
                return self.inner_product(xs, ys, span);
            }
            _ => {}
        }
        let mut meanings = Vec::with_capacity(args.len());
        for arg in args {
            meanings.push(self.meaning(arg)?);
        }
        if let Some(made) = on_integers(prim, &meanings) {
            return Ok(made);
        }
        let decides = [Prim::Eq, Prim::Ne, Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge].contains(&prim);
        let refused = || {
            let name = prim.info().name;
            let what = if decides {
                format!("truth values of reals, as `{name}` gives")
            } else {
                format!("`{name}` here")
            };
            Err(errors::outside_fragment(span, &what))
        };
        let types: Vec<simple::Ty> = args.iter().map(|arg| arg.ty.clone()).collect();
        if let Some(made) = self.on_arrays(prim, &meanings, &types, span)? {
            return Ok(made);
        }
        match self.on_vectors(prim, &meanings, &types, span)? {
            Some(made) => Ok(made),
            None => refused(),
        }
    }

    /// Operations on real numbers, which the calculus has itself.
    fn on_reals(&mut self, prim: Prim, args: &'p [Term]) -> Translate<Option<Tm>> {
        let literal = |n: &Term| if let TermKind::Int(n) = n.kind { Some(n) } else { None };
        let (operation, operands) = match (prim, args) {
            (Prim::Power, [x, n]) if x.ty == simple::Ty::Real => {
                let known = literal(n).map(Meaning::Int);
                let Meaning::Int(n) = known.map_or_else(|| self.meaning(n), Ok)? else {
                    return Ok(None);
                };
                (RealOp::PowInt(n), vec![x])
            }
            (Prim::Polygamma, [n, x]) => match self.meaning(n)? {
                Meaning::Int(0) => (RealOp::Digamma, vec![x]),
                Meaning::Int(n) => match u32::try_from(n) {
                    Ok(n) => (RealOp::Polygamma(n), vec![x]),
                    Err(_) => return Ok(None),
                },
                _ => return Ok(None),
            },
            _ => {
                let name = prim.info().name;
                let all_real = args.iter().all(|arg| arg.ty == simple::Ty::Real);
                let same = |op: &&RealOp| op.name() == name && op.arity() == args.len();
                match RealOp::SAMPLES.iter().find(same).filter(|_| all_real) {
                    Some(operation) => (*operation, args.iter().collect()),
                    None => return Ok(None),
                }
            }
        };
        let operands: Translate<Vec<Tm>> = operands.into_iter().map(|arg| self.term(arg)).collect();
        Ok(Some(op(operation, operands?)))
    }

    fn items(&mut self, array: &'p Term) -> Translate<Vec<Meaning<'p>>> {
        match self.meaning(array)? {
            Meaning::Array(items) => Ok(items),
            _ => Err(errors::outside_fragment(array.span, "arrays of unknown length")),
        }
    }

    /// `fold f z [a₁, …, a_n]` is the Church list `[a_n; …; a₁]` at `λa.λh. f h a` and `z`: the one folds from the left,
    /// the other from the right.
    fn fold(&mut self, f: &'p Term, start: &'p Term, array: &'p Term, span: Span) -> Translate<Meaning<'p>> {
        let items = self.items(array)?;
        let element_type = item(&array.ty);
        let (Some(result), Some(element)) = (type_of(&start.ty), type_of(&element_type)) else {
            let f_meaning = self.meaning(f)?;
            let mut result = self.meaning(start)?;
            let partial = arrow(&f.ty).1;
            for element in items {
                let step = self.apply(f_meaning.clone(), result, &start.ty, span)?;
                result = self.apply(step, element, &arrow(&partial).0, span)?;
            }
            return Ok(result);
        };
        let mut elements: Vec<Tm> = Vec::with_capacity(items.len());
        for element in items {
            elements.push(self.quoted(element, &element_type, span)?);
        }
        elements.reverse();
        let list = church_list(elements, &element, &result);
        if let TermKind::Lam(h, _, inner) = &f.kind
            && let TermKind::Lam(a, _, body) = &inner.kind
        {
            let h_variable = Var::exponential(h.name.as_str(), result.clone());
            let a_variable = Var::exponential(a.name.as_str(), element);
            self.env.insert(*h, Meaning::Term(var(&h_variable)));
            self.env.insert(*a, Meaning::Term(var(&a_variable)));
            let body = self.scope(|this| this.term(body))?;
            let step = lam(&a_variable, lam(&h_variable, body));
            return Ok(Meaning::Term(app(app(list, step), self.term(start)?)));
        }
        let (a, h) = (Var::exponential("a", element.clone()), Var::exponential("h", result.clone()));
        let g = Var::exponential("g", Ty::fun(result.clone(), Ty::fun(element, result)));
        let step = lam(&a, lam(&h, app(app(var(&g), var(&h)), var(&a))));
        let f_term = self.term(f)?;
        Ok(Meaning::Term(sub(app(app(list, step), self.term(start)?), &g, f_term)))
    }

    /// The Church list of reals at `λa.λh. op(h, a)`.
    fn folded(&mut self, operation: RealOp, start: Tm, items: Vec<Meaning<'p>>, span: Span) -> Translate<Tm> {
        let elements = items.into_iter().rev().map(|item| self.quoted(item, &simple::Ty::Real, span));
        let elements = elements.collect::<Translate<Vec<Tm>>>()?;
        let (a, h) = (Var::exponential("a", Ty::Real), Var::exponential("h", Ty::Real));
        let step = lam(&a, lam(&h, op(operation, vec![var(&h), var(&a)])));
        Ok(app(app(church_list(elements, &Ty::Real, &Ty::Real), step), start))
    }

    fn inner_product(
        &mut self,
        xs: Vec<Meaning<'p>>,
        ys: Vec<Meaning<'p>>,
        span: Span,
    ) -> Translate<Meaning<'p>> {
        let mut products = Vec::with_capacity(xs.len());
        for (x, y) in xs.into_iter().zip(ys) {
            let (x, y) = (self.quoted(x, &simple::Ty::Real, span)?, self.quoted(y, &simple::Ty::Real, span)?);
            products.push(Meaning::Term(mul(x, y)));
        }
        self.folded(RealOp::Add, num(0.0), products, span).map(Meaning::Term)
    }

    fn call(
        &mut self,
        f: &Meaning<'p>,
        ty: &simple::Ty,
        args: Vec<Meaning<'p>>,
        span: Span,
    ) -> Translate<Meaning<'p>> {
        let (mut result, mut ty) = (f.clone(), ty.clone());
        for arg in args {
            let (a, b) = arrow(&ty);
            result = self.apply(result, arg, &a, span)?;
            ty = b;
        }
        Ok(result)
    }

    /// A function that is used several times: bound, if it is a term.
    fn shared(&mut self, f: &Meaning<'p>, ty: &simple::Ty) -> Meaning<'p> {
        self.sharable("g", f.clone(), ty)
    }

    fn on_arrays(
        &mut self,
        prim: Prim,
        args: &[Meaning<'p>],
        types: &[simple::Ty],
        span: Span,
    ) -> Translate<Option<Meaning<'p>>> {
        use Meaning::{Array, Int};
        if let Some(made) = rearranged(prim, args) {
            return Ok(Some(made));
        }
        let ty = |i: usize| types.get(i).cloned().unwrap_or(simple::Ty::Real);
        Ok(Some(match (prim, args) {
            (Prim::Build, [Int(n), f]) if (0..=LONGEST).contains(n) => {
                let f = self.shared(f, &ty(1));
                let items = (0..*n).map(|i| self.call(&f, &ty(1), vec![Int(i)], span));
                Array(items.collect::<Translate<_>>()?)
            }
            (Prim::Replicate, [Int(n), value]) if (0..=LONGEST).contains(n) => {
                let value = self.sharable("v", value.clone(), &ty(1));
                Array((0..*n).map(|_| value.clone()).collect())
            }
            (Prim::Map, [f, Array(items)]) => {
                let f = self.shared(f, &ty(0));
                let items = items.iter().map(|item| self.call(&f, &ty(0), vec![item.clone()], span));
                Array(items.collect::<Translate<_>>()?)
            }
            (Prim::Map2, [f, Array(xs), Array(ys)]) if xs.len() == ys.len() => {
                let f = self.shared(f, &ty(0));
                let pairs = xs.iter().zip(ys);
                let items = pairs.map(|(x, y)| self.call(&f, &ty(0), vec![x.clone(), y.clone()], span));
                Array(items.collect::<Translate<_>>()?)
            }
            (Prim::Scan, [f, start, Array(items)]) => self.scanned(f, start, items, types, span)?,
            (Prim::Filter, [f, Array(items)]) => return self.filtered(f, items, types, span),
            // The calculus has no tape that could be kept short.
            (Prim::Checkpoint, [f, x]) => self.call(f, &ty(0), vec![x.clone()], span)?,
            (Prim::Iterate, [Int(n), f, start]) if *n <= LONGEST => {
                let f = self.shared(f, &ty(1));
                let mut at = start.clone();
                for _ in 0..*n {
                    at = self.call(&f, &ty(1), vec![at], span)?;
                }
                at
            }
            _ => return self.aggregates(prim, args, types, span),
        }))
    }

    fn scanned(
        &mut self,
        f: &Meaning<'p>,
        start: &Meaning<'p>,
        items: &[Meaning<'p>],
        types: &[simple::Ty],
        span: Span,
    ) -> Translate<Meaning<'p>> {
        let ty = |i: usize| types.get(i).cloned().unwrap_or(simple::Ty::Real);
        let f = self.shared(f, &ty(0));
        let (mut at, mut all) = (start.clone(), Vec::with_capacity(items.len()));
        for item in items {
            let next = self.call(&f, &ty(0), vec![at, item.clone()], span)?;
            at = self.sharable("h", next, &ty(1));
            all.push(at.clone());
        }
        Ok(Meaning::Array(all))
    }

    /// The elements for which a known truth value is true.
    fn filtered(
        &mut self,
        f: &Meaning<'p>,
        items: &[Meaning<'p>],
        types: &[simple::Ty],
        span: Span,
    ) -> Translate<Option<Meaning<'p>>> {
        let ty = |i: usize| types.get(i).cloned().unwrap_or(simple::Ty::Real);
        let mut kept = Vec::new();
        for element in items {
            let element = self.sharable("v", element.clone(), &item(&ty(1)));
            match self.call(f, &ty(0), vec![element.clone()], span)? {
                Meaning::Bool(true) => kept.push(element),
                Meaning::Bool(false) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(Meaning::Array(kept)))
    }

    fn aggregates(
        &mut self,
        prim: Prim,
        args: &[Meaning<'p>],
        types: &[simple::Ty],
        span: Span,
    ) -> Translate<Option<Meaning<'p>>> {
        use Meaning::{Array, Int};
        let integers = types.first().map(item) == Some(simple::Ty::Int);
        let (Some(Array(items)), true) = (args.first(), !integers) else {
            let numbers = |items: &[Meaning<'p>]| {
                items.iter().map(|n| if let Int(n) = n { Some(*n) } else { None }).collect::<Option<Vec<_>>>()
            };
            let Some(Array(items)) = args.first() else { return Ok(None) };
            return Ok(match (prim, numbers(items)) {
                (Prim::Sum, Some(all)) => Some(Int(all.iter().fold(0, |sum, n| sum.wrapping_add(*n)))),
                (Prim::Product, Some(all)) => Some(Int(all.iter().fold(1, |sum, n| sum.wrapping_mul(*n)))),
                _ => None,
            });
        };
        let extreme = match prim {
            Prim::Sum => return self.folded(RealOp::Add, num(0.0), items.clone(), span).map(term),
            Prim::Product => return self.folded(RealOp::Mul, num(1.0), items.clone(), span).map(term),
            Prim::Maximum => RealOp::Max,
            Prim::Minimum => RealOp::Min,
            Prim::MatVec => {
                let (Some(Array(xs)), rows) = (args.get(1), items) else { return Ok(None) };
                let real = simple::Ty::Array(std::rc::Rc::new(simple::Ty::Real));
                let Array(xs) = self.sharable("v", Array(xs.clone()), &real) else { return Ok(None) };
                return self.products(rows, &[xs], span).map(|columns| {
                    let one = |row: Vec<Meaning<'p>>| row.into_iter().next();
                    Some(Array(columns.into_iter().filter_map(one).collect()))
                });
            }
            Prim::MatMul => {
                let own = types.first().cloned().unwrap_or(simple::Ty::Real);
                let rows = self.sharable("v", Array(items.clone()), &own);
                let Some(columns) = args.get(1).and_then(|m| columns_of(m)) else { return Ok(None) };
                let columns = self.sharable("v", Array(columns.into_iter().map(Array).collect()), &own);
                let (Array(rows), Array(columns)) = (rows, columns) else { return Ok(None) };
                let columns: Vec<Vec<Meaning<'p>>> = columns
                    .into_iter()
                    .filter_map(|m| if let Array(m) = m { Some(m) } else { None })
                    .collect();
                let rows = self.products(&rows, &columns, span)?;
                return Ok(Some(Array(rows.into_iter().map(Array).collect())));
            }
            _ => return Ok(None),
        };
        let Some((first, rest)) = items.split_first() else { return Ok(None) };
        let start = self.quoted(first.clone(), &simple::Ty::Real, span)?;
        self.folded(extreme, start, rest.to_vec(), span).map(term)
    }

    /// Each row times each column.
    fn products(
        &mut self,
        rows: &[Meaning<'p>],
        columns: &[Vec<Meaning<'p>>],
        span: Span,
    ) -> Translate<Vec<Vec<Meaning<'p>>>> {
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let Meaning::Array(row) = row else { continue };
            let products = columns.iter().map(|column| self.inner_product(row.clone(), column.clone(), span));
            out.push(products.collect::<Translate<Vec<_>>>()?);
        }
        Ok(out)
    }

    /// The operations on all values that are made of numbers.
    fn on_vectors(
        &mut self,
        prim: Prim,
        args: &[Meaning<'p>],
        types: &[simple::Ty],
        span: Span,
    ) -> Translate<Option<Meaning<'p>>> {
        let known = [Prim::VecZero, Prim::VecAdd, Prim::VecScale, Prim::VecInner, Prim::Ravel, Prim::Unravel];
        if !known.contains(&prim) {
            return Ok(None);
        }
        let mut reals = Vec::with_capacity(args.len());
        let mut shapes = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(types) {
            let mut own = Vec::new();
            shapes.push(self.reals(arg, ty, span, &mut own)?);
            reals.push(own);
        }
        let of =
            |shape: Option<&Shape>, reals: Vec<Tm>| shape.map(|shape| rebuilt(shape, &mut reals.into_iter()));
        Ok(match (prim, reals.as_slice()) {
            (Prim::VecZero, [xs]) => of(shapes.first(), xs.iter().map(|_| num(0.0)).collect()),
            (Prim::VecAdd, [xs, ys]) => {
                let sums = xs.iter().zip(ys).map(|(x, y)| add(x.clone(), y.clone())).collect();
                of(shapes.first(), sums)
            }
            (Prim::VecScale, [factor, xs]) => {
                let factor = factor.first().cloned().unwrap_or_else(|| num(1.0));
                let factor = self.named("k", Ty::Real, factor);
                of(shapes.get(1), xs.iter().map(|x| mul(factor.clone(), x.clone())).collect())
            }
            (Prim::VecInner, [xs, ys]) => {
                let meanings = |xs: &[Tm]| xs.iter().cloned().map(Meaning::Term).collect();
                Some(self.inner_product(meanings(xs), meanings(ys), span)?)
            }
            (Prim::Ravel, [xs]) => Some(Meaning::Array(xs.iter().cloned().map(Meaning::Term).collect())),
            (Prim::Unravel, [old, new]) if old.len() == new.len() => of(shapes.first(), new.clone()),
            _ => None,
        })
    }
}

fn term<'p>(tm: Tm) -> Option<Meaning<'p>> {
    Some(Meaning::Term(tm))
}

/// Primitives on integers and truth values.
fn on_integers<'p>(prim: Prim, args: &[Meaning<'p>]) -> Option<Meaning<'p>> {
    use Meaning::{Bool, Int, Term};
    Some(match (prim, args) {
        (Prim::Add, [Int(a), Int(b)]) => Int(a.wrapping_add(*b)),
        (Prim::Sub, [Int(a), Int(b)]) => Int(a.wrapping_sub(*b)),
        (Prim::Mul, [Int(a), Int(b)]) => Int(a.wrapping_mul(*b)),
        (Prim::Div, [Int(a), Int(b)]) => Int(a.checked_div(*b)?),
        (Prim::Rem, [Int(a), Int(b)]) => Int(a.checked_rem(*b)?),
        (Prim::DivFloor, [Int(a), Int(b)]) if *b > 0 => Int(a.div_euclid(*b)),
        (Prim::ModFloor, [Int(a), Int(b)]) if *b > 0 => Int(a.rem_euclid(*b)),
        (Prim::Neg, [Int(a)]) => Int(a.wrapping_neg()),
        (Prim::Power, [Int(a), Int(n)]) => Int(a.wrapping_pow(u32::try_from(*n).ok()?)),
        (Prim::Sign, [Int(a)]) => Int(a.signum()),
        (Prim::Abs, [Int(a)]) => Int(a.wrapping_abs()),
        (Prim::Min, [Int(a), Int(b)]) => Int(*a.min(b)),
        (Prim::Max, [Int(a), Int(b)]) => Int(*a.max(b)),
        (Prim::Real, [Int(a)]) => Term(num(*a as f64)),
        (Prim::Eq, [Int(a), Int(b)]) => Bool(a == b),
        (Prim::Ne, [Int(a), Int(b)]) => Bool(a != b),
        (Prim::Lt, [Int(a), Int(b)]) => Bool(a < b),
        (Prim::Le, [Int(a), Int(b)]) => Bool(a <= b),
        (Prim::Gt, [Int(a), Int(b)]) => Bool(a > b),
        (Prim::Ge, [Int(a), Int(b)]) => Bool(a >= b),
        (Prim::Eq, [Bool(a), Bool(b)]) => Bool(a == b),
        (Prim::Not, [Bool(a)]) => Bool(!a),
        _ => return None,
    })
}

/// Primitives that only move elements.
fn rearranged<'p>(prim: Prim, args: &[Meaning<'p>]) -> Option<Meaning<'p>> {
    use Meaning::{Array, Int, Tuple};
    let place = |i: &i64, items: &[Meaning<'p>]| usize::try_from(*i).ok().filter(|i| *i < items.len());
    Some(match (prim, args) {
        (Prim::Length, [Array(items)]) => Int(i64::try_from(items.len()).ok()?),
        (Prim::Index, [Array(items), Int(i)]) => items.get(place(i, items)?)?.clone(),
        (Prim::SetIndex, [Array(items), Int(i), value]) => {
            let mut items = items.clone();
            let i = place(i, &items)?;
            *items.get_mut(i)? = value.clone();
            Array(items)
        }
        (Prim::Iota, [Int(n)]) if *n <= LONGEST => Array((0..*n).map(Int).collect()),
        (Prim::Zip, [Array(xs), Array(ys)]) if xs.len() == ys.len() => {
            Array(xs.iter().zip(ys).map(|(x, y)| Tuple(vec![x.clone(), y.clone()])).collect())
        }
        (Prim::Unzip, [Array(pairs)]) => {
            let half = |i: usize| {
                let part = |pair: &Meaning<'p>| match pair {
                    Tuple(parts) => parts.get(i).cloned(),
                    _ => None,
                };
                pairs.iter().map(part).collect::<Option<Vec<_>>>().map(Array)
            };
            Tuple(vec![half(0)?, half(1)?])
        }
        (Prim::Concat, [Array(xs), Array(ys)]) => Array(xs.iter().chain(ys).cloned().collect()),
        (Prim::Flatten, [Array(rows)]) => {
            let row = |row: &Meaning<'p>| if let Array(row) = row { Some(row.clone()) } else { None };
            Array(rows.iter().map(row).collect::<Option<Vec<_>>>()?.concat())
        }
        (Prim::Slice, [Array(items), Int(i), Int(j)]) => {
            let (i, j) = (usize::try_from(*i).ok()?, usize::try_from(*j).ok()?);
            Array(items.get(i..j)?.to_vec())
        }
        (Prim::Reverse, [Array(items)]) => Array(items.iter().rev().cloned().collect()),
        (Prim::Gather, [Array(items), Array(places)]) => {
            let at = |i: &Meaning<'p>| match i {
                Int(i) => items.get(place(i, items)?).cloned(),
                _ => None,
            };
            Array(places.iter().map(at).collect::<Option<_>>()?)
        }
        (Prim::Transpose, [rows]) => Array(columns_of(rows)?.into_iter().map(Array).collect()),
        _ => return None,
    })
}

/// The columns of an array of arrays.
fn columns_of<'p>(rows: &Meaning<'p>) -> Option<Vec<Vec<Meaning<'p>>>> {
    let Meaning::Array(rows) = rows else { return None };
    let mut columns: Vec<Vec<Meaning<'p>>> = Vec::new();
    for row in rows {
        let Meaning::Array(row) = row else { return None };
        columns.resize_with(columns.len().max(row.len()), Vec::new);
        for (column, entry) in columns.iter_mut().zip(row) {
            column.push(entry.clone());
        }
    }
    Some(columns)
}
