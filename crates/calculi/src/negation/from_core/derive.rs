//! Derivatives in programs as terms of the calculus.
//!
//! A gradient that is the whole program is the term of Corollary 16, with a variable `x′` for each number and a read-back.
//! Anywhere else a reverse derivative is `D⃖_n` with the injections `ι_i : R^⊥n` for the `x′`, as section 3 has it, and
//! `vjp f x` is then the pair of value and element of `R^⊥n` itself. `jvp` is `D⃗` of section 2.3, which extends to
//! functions without a change. `D⃖` does not take `R^⊥`, so that inside of a function that is differentiated a reverse
//! derivative is taken forward, one `D⃗` for each number.
//!
//! Variables of functions are replaced by what they are bound to, since they are transformed with the function that uses
//! them; variables of numbers are constants, `⟨y, λa.0⟩`.

use super::super::errors;
use super::super::syntax::{self, Kind, Tm, Ty, Var, add, app, lam, mul, num, op, pair, sub, sub_pair, var};
use super::super::transform::{self, Mode};
use super::shape::{Shape, rebuilt};
use super::{Binding, Gradient, Meaning, Translate, Translator, type_of};
use crate::kit::simple::{self, Derive, TermKind};
use std::rc::Rc;
use wengert_base::Span;
use wengert_prim::RealOp;

/// The map from cotangents of a function's result to those of its argument.
pub(super) struct Pull {
    rows: Rows,
    result: simple::Ty,
    point: Shape,
    argument: simple::Ty,
}

/// The linear map, by the numbers of the result.
enum Rows {
    /// An element of `R^⊥n` for each.
    Negations(Vec<Tm>, usize),
    /// The derivative by each number of the argument, for each number of the result.
    Jacobian(Vec<Vec<Tm>>),
}

/// A function at variables.
struct Abstracted {
    variables: Vec<Var>,
    /// The tuple of the reals in the result.
    body: Tm,
    result: Shape,
    width: usize,
}

impl Gradient {
    /// `z′ 1[⟨z, z′⟩ := D⃖(body)[x := ⟨x, λa.x′a⟩]][x := r]` of Corollary 16, or `⟨z, z′ 1⟩[…]`.
    pub fn term(&self) -> Option<Tm> {
        self.dual(Mode::Reverse(1), |i, x| {
            let tag = self.tags.get(i).map(transform::eta_expanded);
            pair(x, tag.unwrap_or_else(|| num(0.0)))
        })
    }

    /// The same with the injections into `R^n` for the tags.
    pub fn term_with_injections(&self) -> Option<Tm> {
        let n = self.variables.len();
        self.dual(Mode::Reverse(n), |i, x| pair(x, transform::injection(i, n)))
    }

    /// `D⃗(body)` at the point and the unit tangent number `direction`: the derivative, or `⟨value, derivative⟩`.
    pub fn term_forward(&self, direction: usize) -> Option<Tm> {
        self.dual(Mode::Forward, |i, x| pair(x, num(if i == direction { 1.0 } else { 0.0 })))
    }

    /// The transformed body with a seed for each variable, at the point.
    fn dual(&self, mode: Mode, seed: impl Fn(usize, Tm) -> Tm) -> Option<Tm> {
        let primals: Vec<Var> =
            self.variables.iter().map(|x| Var::exponential(x.name.clone(), Ty::Real)).collect();
        let seeds = primals.iter().enumerate().map(|(i, x)| seed(i, var(x)));
        let seeds: Vec<(Var, Tm)> =
            self.variables.iter().cloned().zip(seeds).chain(constants_of(&self.constants, mode)).collect();
        let inner = transform::seeded(&self.body, &seeds, mode)?;
        let (z, second) = (Var::exponential("z", Ty::Real), Var::exponential("z'", mode.second()));
        let slope = match mode {
            Mode::Reverse(_) => app(var(&second), num(1.0)),
            Mode::Forward => var(&second),
        };
        let used = if self.with_value { pair(var(&z), slope) } else { slope };
        let open = sub_pair(used, &z, &second, inner);
        let term = primals.iter().zip(&self.at).fold(open, |tm, (x, r)| sub(tm, x, r.clone()));
        Some(syntax::renew(&needed(term, self.around.clone())))
    }
}

impl<'p> Translator<'p> {
    /// The program as a gradient, if it is one, after some `let`s.
    pub(super) fn gradient_of(&mut self, program: &'p simple::Term) -> Translate<Option<Gradient>> {
        let mut tail = program;
        while let TermKind::Let(_, _, _, body) = &tail.kind {
            tail = body;
        }
        let TermKind::Derive(derive, args) = &tail.kind else { return Ok(None) };
        let [f, point] = args.as_slice() else { return Ok(None) };
        let to_real = matches!(&f.ty, simple::Ty::Fun(_, result) if **result == simple::Ty::Real);
        let with_value = match derive {
            Derive::Grad => false,
            Derive::Derivative if to_real => false,
            Derive::ValueAndGrad => true,
            Derive::Derivative | Derive::Jvp | Derive::Vjp | Derive::Pullback => return Ok(None),
        };
        let mut term = program;
        while let TermKind::Let(x, ty, value, body) = &term.kind {
            if matches!(value.kind, TermKind::Lam(..)) {
                self.lambdas.insert(*x, value);
            }
            let meaning = self.meaning(value)?;
            let meaning = self.sharable(x.name.as_str(), meaning, ty);
            self.env.insert(*x, meaning);
            term = body;
        }
        self.gradient(f, point, with_value).map(Some)
    }

    fn gradient(
        &mut self,
        f: &'p simple::Term,
        point: &'p simple::Term,
        with_value: bool,
    ) -> Translate<Gradient> {
        let (shape, at) = self.point(point)?;
        let Abstracted { variables, body, .. } = self.abstracted(f, &shape, &point.ty)?;
        let (body, constants) = self.closing(body, &variables, f.span)?;
        let tags = transform::tags(&variables, 1);
        let around = std::mem::take(&mut self.pending);
        let gradient = Gradient { body, variables, tags, shape, with_value, at, constants, around };
        match gradient.term() {
            Some(_) => Ok(gradient),
            None => Err(errors::outside_fragment(f.span, "derivative of this derivative")),
        }
    }

    /// The numbers of a point, and its shape.
    fn point(&mut self, point: &'p simple::Term) -> Translate<(Shape, Vec<Tm>)> {
        let meaning = self.meaning(point)?;
        let mut at = Vec::new();
        let shape = self.reals(&meaning, &point.ty, point.span, &mut at)?;
        if at.is_empty() {
            return Err(errors::not_differentiable(point.span, "there is no real number in this"));
        }
        Ok((shape, at))
    }

    /// The function at fresh variables, one for each number of its argument.
    fn abstracted(
        &mut self,
        f: &'p simple::Term,
        point: &Shape,
        argument: &simple::Ty,
    ) -> Translate<Abstracted> {
        let simple::Ty::Fun(_, result) = &f.ty else {
            return Err(errors::outside_fragment(f.span, "such a function"));
        };
        let variables = self.variables_for(f, point);
        let outer = std::mem::take(&mut self.pending);
        self.level += 1;
        let made = self.body_at(f, point, &variables, argument, result);
        self.level -= 1;
        let own = std::mem::replace(&mut self.pending, outer);
        let (shape, leaves) = made?;
        let width = leaves.len();
        Ok(Abstracted { variables, body: super::within(syntax::tuple(leaves), own), result: shape, width })
    }

    fn body_at(
        &mut self,
        f: &'p simple::Term,
        point: &Shape,
        variables: &[Var],
        argument: &simple::Ty,
        result: &simple::Ty,
    ) -> Translate<(Shape, Vec<Tm>)> {
        let at = rebuilt(point, &mut variables.iter().map(var));
        let meaning = if let TermKind::Lam(x, _, body) = &f.kind {
            self.env.insert(*x, at);
            self.meaning(body)?
        } else {
            let f_meaning = self.meaning(f)?;
            self.apply(f_meaning, at, argument, f.span)?
        };
        let mut leaves = Vec::new();
        let shape = self.reals(&meaning, result, f.span, &mut leaves)?;
        Ok((shape, leaves))
    }

    /// The body with the definitions of the functions that it uses, and the other variables in it.
    fn closing(&self, body: Tm, variables: &[Var], span: Span) -> Translate<(Tm, Vec<Var>)> {
        let mut body = body;
        loop {
            let mut outer: Vec<Var> =
                syntax::free_vars(&body).into_iter().filter(|x| !variables.contains(x)).collect();
            outer.sort_by_key(|x| std::cmp::Reverse(x.id));
            let Some(x) = outer.iter().find(|x| holds_function(&x.ty)) else { return Ok((body, outer)) };
            let Some(definition) = self.definitions.get(&x.id) else {
                let what = format!("derivative of a function that uses the function argument `{}`", x.name);
                return Err(errors::outside_fragment(span, &what));
            };
            let own = x.renewed();
            let renamed = syntax::map_vars(&body, &mut |y| (y == x).then(|| var(&own)));
            body = sub(renamed, &own, syntax::renew(definition));
        }
    }

    fn transformed(&self, body: &Tm, seeds: Vec<(Var, Tm)>, mode: Mode, span: Span) -> Translate<Tm> {
        transform::seeded(body, &seeds, mode)
            .ok_or_else(|| errors::outside_fragment(span, "derivative of this derivative"))
    }

    /// A derivative inside of a program.
    pub(super) fn derivative(
        &mut self,
        derive: Derive,
        args: &'p [simple::Term],
        term: &'p simple::Term,
    ) -> Translate<Meaning<'p>> {
        let [f, point] = args else { return Err(errors::outside_fragment(term.span, "1-forms")) };
        match derive {
            Derive::Jvp => self.pushed(f, point),
            Derive::Derivative => self.slope(f, point),
            Derive::Grad => {
                let (_, pull) = self.reverse(f, point)?;
                self.pulled(&pull, Meaning::Term(num(1.0)), term.span)
            }
            Derive::ValueAndGrad => {
                let (value, pull) = self.reverse(f, point)?;
                let gradient = self.pulled(&pull, Meaning::Term(num(1.0)), term.span)?;
                Ok(Meaning::Tuple(vec![value, gradient]))
            }
            Derive::Vjp => {
                let (value, pull) = self.reverse(f, point)?;
                Ok(Meaning::Tuple(vec![value, Meaning::Pull(Rc::new(pull))]))
            }
            Derive::Pullback => Err(errors::outside_fragment(term.span, "1-forms")),
        }
    }

    /// `jvp f (x, t)`
    fn pushed(&mut self, f: &'p simple::Term, point: &'p simple::Term) -> Translate<Meaning<'p>> {
        let (shape, mut at) = self.point(point)?;
        let (Shape::Tuple(halves), simple::Ty::Tuple(types)) = (&shape, &point.ty) else {
            return Err(errors::outside_fragment(point.span, "such a point"));
        };
        let (Some(half), Some(ty)) = (halves.first(), types.first()) else {
            return Err(errors::outside_fragment(point.span, "such a point"));
        };
        let tangents = at.split_off(at.len() / 2);
        let (values, slopes, result) = self.forward(f, half, ty, &at, &tangents)?;
        let half = |reals: Vec<Tm>| rebuilt(&result, &mut reals.into_iter());
        Ok(Meaning::Tuple(vec![half(values), half(slopes)]))
    }

    /// `derivative f x`, forward.
    fn slope(&mut self, f: &'p simple::Term, point: &'p simple::Term) -> Translate<Meaning<'p>> {
        let (shape, at) = self.point(point)?;
        let (_, slopes, result) = self.forward(f, &shape, &point.ty, &at, &[num(1.0)])?;
        Ok(rebuilt(&result, &mut slopes.into_iter()))
    }

    /// `D⃗(f)` at a point and a tangent: the numbers of the value and of its tangent.
    fn forward(
        &mut self,
        f: &'p simple::Term,
        shape: &Shape,
        ty: &simple::Ty,
        at: &[Tm],
        tangents: &[Tm],
    ) -> Translate<(Vec<Tm>, Vec<Tm>, Shape)> {
        let Abstracted { variables, body, result, width } = self.abstracted(f, shape, ty)?;
        let (body, constants) = self.closing(body, &variables, f.span)?;
        let mode = Mode::Forward;
        let seeds = at.iter().zip(tangents).map(|(x, t)| pair(x.clone(), t.clone()));
        let seeds = variables.iter().cloned().zip(seeds).chain(constants_of(&constants, mode)).collect();
        let image = self.transformed(&body, seeds, mode, f.span)?;
        let (values, slopes) = self.dual_parts(image, width, &Ty::Real);
        Ok((values, slopes, result))
    }

    /// Value and linear map of a function at a point.
    fn reverse(&mut self, f: &'p simple::Term, point: &'p simple::Term) -> Translate<(Meaning<'p>, Pull)> {
        let (shape, at) = self.point(point)?;
        let simple::Ty::Fun(_, result_type) = &f.ty else {
            return Err(errors::outside_fragment(f.span, "such a function"));
        };
        let n = at.len();
        let (values, rows, result) = if self.level > 0 {
            let point = self.reals_named(at);
            let mut columns = Vec::with_capacity(n);
            let (mut values, mut result) = (Vec::new(), Shape::Tuple(Vec::new()));
            for i in 0..n {
                let direction: Vec<Tm> = (0..n).map(|j| num(if i == j { 1.0 } else { 0.0 })).collect();
                let column;
                (values, column, result) = self.forward(f, &shape, &type_of_point(f), &point, &direction)?;
                columns.push(column);
            }
            let row = |j: usize| columns.iter().filter_map(|column| column.get(j).cloned()).collect();
            let rows = (0..values.len()).map(row).collect();
            (values, Rows::Jacobian(rows), result)
        } else {
            let Abstracted { variables, body, result, width } = self.abstracted(f, &shape, &point.ty)?;
            let (body, constants) = self.closing(body, &variables, f.span)?;
            let mode = Mode::Reverse(n);
            let seeds = at.iter().enumerate().map(|(i, x)| pair(x.clone(), transform::injection(i, n)));
            let seeds = variables.iter().cloned().zip(seeds).chain(constants_of(&constants, mode)).collect();
            let image = self.transformed(&body, seeds, mode, f.span)?;
            let (values, negations) = self.dual_parts(image, width, &Ty::Neg(n));
            (values, Rows::Negations(negations, n), result)
        };
        let value = rebuilt(&result, &mut values.into_iter());
        let (result, argument) = ((**result_type).clone(), type_of_point(f));
        Ok((value, Pull { rows, result, point: shape, argument }))
    }

    fn reals_named(&mut self, reals: Vec<Tm>) -> Vec<Tm> {
        reals.into_iter().map(|tm| self.named("x", Ty::Real, tm)).collect()
    }

    /// A tuple of `⟨y, y′⟩`, taken apart.
    fn dual_parts(&mut self, image: Tm, width: usize, second: &Ty) -> (Vec<Tm>, Vec<Tm>) {
        let one = Ty::prod(Ty::Real, second.clone());
        let (mut values, mut seconds, mut rest) = (Vec::new(), Vec::new(), image);
        for i in 0..width {
            let mut this = rest.clone();
            if i + 1 < width {
                let others = (i + 2..width).fold(one.clone(), |ty, _| Ty::prod(one.clone(), ty));
                (this, rest) = self.halves(rest, &one, &others, ["w", "r"]);
            }
            let (y, y2) = self.halves(this, &Ty::Real, second, ["z", "z'"]);
            values.push(y);
            seconds.push(y2);
        }
        (values, seconds)
    }

    /// The linear map at a cotangent: the sum over the numbers of the result.
    pub(super) fn pulled(
        &mut self,
        pull: &Pull,
        cotangent: Meaning<'p>,
        span: Span,
    ) -> Translate<Meaning<'p>> {
        let mut weights = Vec::new();
        let cotangent = self.sharable("c", cotangent, &pull.result);
        self.reals(&cotangent, &pull.result, span, &mut weights)?;
        let entries = match &pull.rows {
            Rows::Negations(negations, n) => {
                let sum = negations.iter().zip(&weights).map(|(f, w)| app(f.clone(), w.clone())).reduce(add);
                let mut rest = sum.unwrap_or_else(|| transform::zeros(*n));
                let mut entries = Vec::with_capacity(*n);
                for left in (1..*n).rev() {
                    let first;
                    (first, rest) = self.halves(rest, &Ty::Real, &Ty::euclid(left), ["g", "r"]);
                    entries.push(first);
                }
                entries.push(rest);
                entries
            }
            Rows::Jacobian(rows) => {
                let n = rows.first().map_or(0, Vec::len);
                let is_one = |w: &Tm| matches!(w.kind, Kind::Num(1.0));
                let product = |w: &Tm, slope: &Tm| {
                    if is_one(w) { slope.clone() } else { mul(w.clone(), slope.clone()) }
                };
                let entry = |i: usize| {
                    let products = rows.iter().zip(&weights);
                    let products = products.filter_map(|(row, w)| Some(product(w, row.get(i)?)));
                    products.reduce(|t, u| op(RealOp::Add, vec![t, u])).unwrap_or_else(|| num(0.0))
                };
                (0..n).map(entry).collect()
            }
        };
        Ok(rebuilt(&pull.point, &mut entries.into_iter()))
    }

    /// The linear map as a function of the calculus.
    pub(super) fn pull_as_term(&mut self, pull: &Pull, span: Span) -> Translate<Tm> {
        let ty = type_of(&pull.result).ok_or_else(|| super::outside_type(&pull.result, span))?;
        let c = Var::exponential("c", ty);
        let body = self.scope(|this| {
            let made = this.pulled(pull, Meaning::Term(var(&c)), span)?;
            this.quoted(made, &pull.argument, span)
        })?;
        Ok(lam(&c, body))
    }

    /// A fresh variable for each number of a point, named after the parameters of the function.
    fn variables_for(&self, f: &simple::Term, point: &Shape) -> Vec<Var> {
        let function = if let TermKind::Var(x) = &f.kind { self.lambdas.get(x).copied() } else { Some(f) };
        let mut names = Vec::new();
        match function.map(|function| &function.kind) {
            Some(TermKind::Lam(x, _, body)) => names_of(point, x.name.as_str(), Some((*x, body)), &mut names),
            _ => names_of(point, "x", None, &mut names),
        }
        names.into_iter().map(|name| Var::exponential(name, Ty::Real)).collect()
    }
}

/// Names for the numbers of a parameter: those that its pattern gives, or its own with a number.
fn names_of(
    shape: &Shape,
    name: &str,
    taken_apart: Option<(simple::Var, &simple::Term)>,
    out: &mut Vec<String>,
) {
    let (Shape::Tuple(parts) | Shape::Array(parts)) = shape else {
        if matches!(shape, Shape::Unit(_)) {
            out.push(name.to_owned());
        }
        return;
    };
    let mut given: Vec<Option<String>> = vec![None; parts.len()];
    if let Some((param, mut body)) = taken_apart {
        while let TermKind::Let(x, _, value, rest) = &body.kind
            && let TermKind::Proj(tuple, index, _) = &value.kind
            && tuple.kind == TermKind::Var(param)
        {
            if let Some(place) = given.get_mut(*index) {
                *place = Some(x.name.as_str().to_owned());
            }
            body = rest;
        }
    }
    for (i, (part, given)) in parts.iter().zip(given).enumerate() {
        names_of(part, &given.unwrap_or_else(|| format!("{name}{}", i + 1)), None, out);
    }
}

/// The term under the pending bindings; definitions of functions that it does not use are left out.
fn needed(tm: Tm, pending: Vec<Binding>) -> Tm {
    pending.into_iter().rev().fold(tm, |tm, binding| match &binding {
        Binding::One(x, _) if holds_function(&x.ty) && syntax::occurrences(&tm, x) == 0 => tm,
        Binding::One(..) | Binding::Two(..) => super::within(tm, vec![binding]),
    })
}

fn constants_of(constants: &[Var], mode: Mode) -> impl Iterator<Item = (Var, Tm)> {
    constants.iter().map(move |x| (x.clone(), transform::constant(&var(x), &x.ty, mode)))
}

fn holds_function(ty: &Ty) -> bool {
    match ty {
        Ty::Real => false,
        Ty::Fun(..) | Ty::Neg(_) => true,
        Ty::Prod(a, b) => holds_function(a) || holds_function(b),
    }
}

fn type_of_point(f: &simple::Term) -> simple::Ty {
    if let simple::Ty::Fun(a, _) = &f.ty { (**a).clone() } else { f.ty.clone() }
}
