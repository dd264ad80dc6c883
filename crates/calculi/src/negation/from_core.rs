//! From programs of the core to Λ(𝓕): reals with their operations, functions, tuples as nested pairs, `let` as explicit
//! substitution, folds over arrays as Church lists (section 6.1), and derivatives as the terms of sections 2.3 and 5.2.
//!
//! What holds no real number is known before any reduction starts, because nothing in the calculus decides anything by a
//! number: lengths of arrays, integers, truth values. The translation computes those (module `known`), as the paper
//! writes `[a₁; …; a_n]` for a list whose `n` is known. What it makes of a term is a [`Meaning`]: a term of the calculus, or
//! an array, tuple, integer or function that is known and holds such terms. Functions with parameters that the calculus
//! has no type for are expanded where they are applied.
//!
//! A term in an array may be used several times, so what is computed is bound to a variable first. Such bindings are
//! *pending* until the next binder around them closes its scope, see [`Translator::scope`].

mod derive;
mod known;
mod shape;

use super::errors;
use super::syntax::{self, Kind, Tm, Ty, Var, app, lam, sub, sub_pair, var};
use crate::kit::simple::{self, Program, TermKind};
use derive::Pull;
use rustc_hash::FxHashMap;
pub use shape::Shape;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};

/// A program in the calculus.
pub enum Translated {
    /// A term to be reduced, with the shape of its result in the core.
    Value(Tm, Shape),
    /// A gradient to be taken.
    Gradient(Box<Gradient>),
}

/// `grad f x`
pub struct Gradient {
    /// `f` at the variables: the term that is transformed.
    pub body: Tm,
    /// One for each number of the point, from left to right.
    pub variables: Vec<Var>,
    /// `x′` for each of them.
    pub tags: Vec<Var>,
    /// The shape of the point.
    pub shape: Shape,
    /// Whether the value is asked for too.
    pub with_value: bool,
    /// The point.
    at: Vec<Tm>,
    /// The other variables in the body, which are constants here.
    constants: Vec<Var>,
    /// What is bound around all of it.
    around: Vec<Binding>,
}

/// What the translation makes of a term.
#[derive(Clone)]
enum Meaning<'p> {
    Term(Tm),
    Tuple(Vec<Meaning<'p>>),
    Array(Vec<Meaning<'p>>),
    Int(i64),
    Bool(bool),
    /// A function that is expanded where it is applied.
    Closure(Rc<Closure<'p>>),
    /// The second half of `vjp f x`.
    Pull(Rc<Pull>),
}

struct Closure<'p> {
    param: simple::Var,
    body: &'p simple::Term,
    env: FxHashMap<simple::Var, Meaning<'p>>,
}

type Translate<T> = Result<T, Diagnostic>;

/// What a pending explicit substitution binds.
#[derive(Clone)]
enum Binding {
    One(Var, Tm),
    Two(Var, Var, Tm),
}

struct Translator<'p> {
    env: FxHashMap<simple::Var, Meaning<'p>>,
    pending: Vec<Binding>,
    /// What variables are bound to that stand for a term.
    definitions: FxHashMap<u64, Tm>,
    /// The functions that variables of the core are bound to, for the names of their parameters.
    lambdas: FxHashMap<simple::Var, &'p simple::Term>,
    /// Whether the program holds derivatives: functions that do are expanded, so that what they differentiate is known.
    differentiates: bool,
    /// How many derivatives we are in.
    level: u32,
    /// How many terms have been translated: expansion of functions can take for ever.
    work: u64,
}

/// More terms than this are refused.
const MOST_WORK: u64 = 2_000_000;

/// Translates a program.
pub fn translate(program: &Program) -> Translate<Translated> {
    let mut translator = Translator {
        env: FxHashMap::default(),
        pending: Vec::new(),
        definitions: FxHashMap::default(),
        lambdas: FxHashMap::default(),
        differentiates: known::holds_derivative(&program.term),
        level: 0,
        work: 0,
    };
    if let Some(gradient) = translator.gradient_of(&program.term)? {
        return Ok(Translated::Gradient(Box::new(gradient)));
    }
    let pending = std::mem::take(&mut translator.pending);
    let meaning = translator.meaning(&program.term)?;
    let (mut units, span) = (Vec::new(), program.term.span);
    let shape = translator.output(&meaning, &program.term.ty, span, &mut units)?;
    if units.is_empty() {
        return Err(errors::outside_fragment(span, "result without a real number"));
    }
    let inner = std::mem::replace(&mut translator.pending, pending);
    let tm = within(within(syntax::tuple(units), inner), translator.pending);
    Ok(Translated::Value(syntax::renew(&tm), shape))
}

/// The term with explicit substitutions around it, the last one innermost.
fn within(tm: Tm, bindings: Vec<Binding>) -> Tm {
    bindings.into_iter().rev().fold(tm, |tm, binding| match binding {
        Binding::One(x, u) => sub(tm, &x, u),
        Binding::Two(x, y, u) => sub_pair(tm, &x, &y, u),
    })
}

/// The type in the calculus, if it has one.
pub fn type_of(ty: &simple::Ty) -> Option<Ty> {
    match ty {
        simple::Ty::Real => Some(Ty::Real),
        simple::Ty::Fun(a, b) => syntax::deep(|| Some(Ty::fun(type_of(a)?, type_of(b)?))),
        simple::Ty::Tuple(parts) => {
            let parts: Option<Vec<Ty>> = parts.iter().map(type_of).collect();
            parts?.into_iter().rev().reduce(|rest, part| Ty::prod(part, rest))
        }
        simple::Ty::Int | simple::Ty::Bool | simple::Ty::String | simple::Ty::Array(_) => None,
        simple::Ty::Data(..) | simple::Ty::Dual(_) => None,
    }
}

fn is_atom(tm: &Tm) -> bool {
    matches!(tm.kind, Kind::Var(_) | Kind::Num(_))
}

impl<'p> Translator<'p> {
    /// Runs `inside`, and gives the term that it makes with the bindings that it left pending around it.
    fn scope(&mut self, inside: impl FnOnce(&mut Self) -> Translate<Tm>) -> Translate<Tm> {
        let outer = std::mem::take(&mut self.pending);
        let made = inside(self);
        let own = std::mem::replace(&mut self.pending, outer);
        Ok(within(made?, own))
    }

    /// A term of the calculus bound to a variable, unless it is one.
    fn named(&mut self, name: &str, ty: Ty, tm: Tm) -> Tm {
        if is_atom(&tm) {
            return tm;
        }
        let x = Var::exponential(name, ty);
        self.definitions.insert(x.id, tm.clone());
        self.pending.push(Binding::One(x.clone(), tm));
        var(&x)
    }

    /// A meaning that can be used several times.
    fn sharable(&mut self, name: &str, meaning: Meaning<'p>, ty: &simple::Ty) -> Meaning<'p> {
        let all = |this: &mut Self, parts: Vec<Meaning<'p>>, ty: &dyn Fn(usize) -> simple::Ty| {
            parts
                .into_iter()
                .enumerate()
                .map(|(i, part)| this.sharable(name, part, &ty(i)))
                .collect::<Vec<_>>()
        };
        match (meaning, ty) {
            (Meaning::Term(tm), ty) => match type_of(ty) {
                Some(ty) => Meaning::Term(self.named(name, ty, tm)),
                None => Meaning::Term(tm),
            },
            (Meaning::Tuple(parts), simple::Ty::Tuple(types)) => {
                let part = |i: usize| types.get(i).cloned().unwrap_or(simple::Ty::Real);
                Meaning::Tuple(all(self, parts, &part))
            }
            (Meaning::Array(items), simple::Ty::Array(item)) => {
                Meaning::Array(all(self, items, &|_| (**item).clone()))
            }
            (meaning, _) => meaning,
        }
    }

    fn term(&mut self, term: &'p simple::Term) -> Translate<Tm> {
        let meaning = self.meaning(term)?;
        self.quoted(meaning, &term.ty, term.span)
    }

    /// A meaning as a term of the calculus.
    fn quoted(&mut self, meaning: Meaning<'p>, ty: &simple::Ty, span: Span) -> Translate<Tm> {
        match (meaning, ty) {
            (Meaning::Term(tm), _) => Ok(tm),
            (Meaning::Tuple(parts), simple::Ty::Tuple(types)) if !parts.is_empty() => {
                let parts = parts.into_iter().zip(types).map(|(part, ty)| self.quoted(part, ty, span));
                Ok(syntax::tuple(parts.collect::<Translate<Vec<Tm>>>()?))
            }
            (Meaning::Closure(closure), simple::Ty::Fun(a, b)) => {
                let ty = type_of(a).ok_or_else(|| outside_type(a, span))?;
                let x = Var::exponential(closure.param.name.as_str(), ty);
                let body = self.scope(|this| {
                    let result = this.applied(&closure, Meaning::Term(var(&x)))?;
                    this.quoted(result, b, span)
                })?;
                Ok(lam(&x, body))
            }
            (Meaning::Pull(pull), _) => self.pull_as_term(&pull, span),
            (Meaning::Tuple(_) | Meaning::Array(_) | Meaning::Int(_) | Meaning::Bool(_), ty) => {
                Err(outside_type(ty, span))
            }
            (Meaning::Closure(_), ty) => Err(outside_type(ty, span)),
        }
    }

    /// The body of a function that is expanded, at an argument.
    fn applied(&mut self, closure: &Closure<'p>, argument: Meaning<'p>) -> Translate<Meaning<'p>> {
        let mut env = closure.env.clone();
        env.insert(closure.param, argument);
        let outer = std::mem::replace(&mut self.env, env);
        let made = self.meaning(closure.body);
        self.env = outer;
        made
    }

    fn apply(
        &mut self,
        f: Meaning<'p>,
        argument: Meaning<'p>,
        ty: &simple::Ty,
        span: Span,
    ) -> Translate<Meaning<'p>> {
        match f {
            Meaning::Closure(closure) => {
                let argument = self.sharable(closure.param.name.as_str(), argument, ty);
                self.applied(&closure, argument)
            }
            Meaning::Pull(pull) => self.pulled(&pull, argument, span),
            Meaning::Term(f) => Ok(Meaning::Term(app(f, self.quoted(argument, ty, span)?))),
            Meaning::Tuple(_) | Meaning::Array(_) | Meaning::Int(_) | Meaning::Bool(_) => {
                Err(errors::outside_fragment(span, "such an application"))
            }
        }
    }

    fn meaning(&mut self, term: &'p simple::Term) -> Translate<Meaning<'p>> {
        self.work += 1;
        if self.work > MOST_WORK {
            return Err(errors::outside_fragment(term.span, "program as large as this one becomes"));
        }
        syntax::deep(|| self.former(term))
    }

    fn former(&mut self, term: &'p simple::Term) -> Translate<Meaning<'p>> {
        let outside = |what: &str| Err(errors::outside_fragment(term.span, what));
        match &term.kind {
            TermKind::Var(x) => match self.env.get(x) {
                Some(meaning) => Ok(meaning.clone()),
                None => Err(errors::unbound(term.span, x.name.as_str())),
            },
            TermKind::Real(r) => Ok(Meaning::Term(syntax::num(*r))),
            TermKind::Int(n) => Ok(Meaning::Int(*n)),
            TermKind::Bool(b) => Ok(Meaning::Bool(*b)),
            TermKind::Lam(x, ty, body) => self.function(*x, ty, body, &term.ty),
            TermKind::App(f, u) => {
                let (f, argument) = (self.meaning(f)?, self.meaning(u)?);
                self.apply(f, argument, &u.ty, term.span)
            }
            TermKind::Let(x, ty, value, body) => self.bound(*x, ty, value, body),
            TermKind::Tuple(parts) => self.tuple(parts, &term.ty),
            TermKind::Proj(tuple, index, width) => self.component(tuple, *index, *width),
            TermKind::Prim(prim, args) => self.primitive(*prim, args, term),
            TermKind::Derive(derive, args) => self.derivative(*derive, args, term),
            TermKind::Array(items) => {
                let items: Translate<Vec<_>> = items.iter().map(|item| self.meaning(item)).collect();
                items.map(Meaning::Array)
            }
            TermKind::If(condition, then, otherwise) => match self.meaning(condition)? {
                Meaning::Bool(true) => self.meaning(then),
                Meaning::Bool(false) => self.meaning(otherwise),
                Meaning::Term(_) | Meaning::Tuple(_) | Meaning::Array(_) | Meaning::Int(_) => {
                    outside("`if` on a real number")
                }
                Meaning::Closure(_) | Meaning::Pull(_) => outside("`if` on a function"),
            },
            TermKind::String(_) => outside("text"),
            TermKind::LetRec(..) => outside("recursion"),
            TermKind::Ctor(..) | TermKind::Case(..) => outside("data types"),
        }
    }

    fn function(
        &mut self,
        param: simple::Var,
        ty: &simple::Ty,
        body: &'p simple::Term,
        whole: &simple::Ty,
    ) -> Translate<Meaning<'p>> {
        match (type_of(ty), type_of(whole)) {
            (Some(ty), Some(_)) if !(self.differentiates && known::holds_derivative(body)) => {
                let x = Var::exponential(param.name.as_str(), ty);
                self.env.insert(param, Meaning::Term(var(&x)));
                let body = self.scope(|this| this.term(body))?;
                Ok(Meaning::Term(lam(&x, body)))
            }
            _ => {
                let mut env = FxHashMap::default();
                known::captured(body, &mut |x| {
                    if let Some(meaning) = self.env.get(&x) {
                        env.insert(x, meaning.clone());
                    }
                });
                Ok(Meaning::Closure(Rc::new(Closure { param, body, env })))
            }
        }
    }

    /// `let`: an explicit substitution, if the value is a term of the calculus.
    fn bound(
        &mut self,
        x: simple::Var,
        ty: &'p simple::Ty,
        value: &'p simple::Term,
        body: &'p simple::Term,
    ) -> Translate<Meaning<'p>> {
        if let Some((names, tuple, rest)) = taken_apart(x, value, body)
            && let Some(whole) = type_of(&tuple.ty)
            && let Meaning::Term(tm) = self.meaning(tuple)?
        {
            let bindings = self.parts(&names, whole, tm);
            return self.under(bindings, rest);
        }
        let meaning = self.meaning(value)?;
        if matches!(value.kind, TermKind::Lam(..)) {
            self.lambdas.insert(x, value);
        }
        let (Meaning::Term(tm), Some(own)) = (&meaning, type_of(ty)) else {
            let meaning = self.sharable(x.name.as_str(), meaning, ty);
            self.env.insert(x, meaning);
            return self.meaning(body);
        };
        if is_atom(tm) && matches!(value.kind, TermKind::Proj(..)) {
            self.env.insert(x, meaning);
            return self.meaning(body);
        }
        let variable = Var::exponential(x.name.as_str(), own);
        self.env.insert(x, Meaning::Term(var(&variable)));
        self.definitions.insert(variable.id, tm.clone());
        let binding = Binding::One(variable, tm.clone());
        self.under(vec![binding], body)
    }

    /// `[⟨y, z⟩ := r][⟨x, r⟩ := tuple]`, where `let x = t.0 in let y = t.1 in let z = t.2 in …` is written.
    fn parts(&mut self, names: &[simple::Var], whole: Ty, tuple: Tm) -> Vec<Binding> {
        let (mut bindings, mut rest, mut ty) = (Vec::new(), tuple, whole);
        for (i, name) in names.iter().enumerate() {
            let Ty::Prod(a, b) = &ty else { break };
            let x = Var::exponential(name.name.as_str(), (**a).clone());
            self.env.insert(*name, Meaning::Term(var(&x)));
            let last = names.get(i + 1).filter(|_| i + 2 == names.len());
            let y = Var::exponential(last.map_or("r", |y| y.name.as_str()), (**b).clone());
            bindings.push(Binding::Two(x, y.clone(), std::mem::replace(&mut rest, var(&y))));
            if let Some(last) = last {
                self.env.insert(*last, Meaning::Term(var(&y)));
                break;
            }
            ty = (**b).clone();
        }
        bindings
    }

    /// The body of a `let` under its bindings: around it, or pending if the body is no term of the calculus.
    fn under(&mut self, bindings: Vec<Binding>, body: &'p simple::Term) -> Translate<Meaning<'p>> {
        if type_of(&body.ty).is_none() {
            self.pending.extend(bindings);
            return self.meaning(body);
        }
        let body = self.scope(|this| this.term(body))?;
        Ok(Meaning::Term(within(body, bindings)))
    }

    fn tuple(&mut self, parts: &'p [simple::Term], ty: &simple::Ty) -> Translate<Meaning<'p>> {
        let meanings: Translate<Vec<Meaning<'p>>> = parts.iter().map(|part| self.meaning(part)).collect();
        if type_of(ty).is_none() {
            return Ok(Meaning::Tuple(meanings?));
        }
        let terms = meanings?.into_iter().zip(parts).map(|(m, part)| self.quoted(m, &part.ty, part.span));
        Ok(Meaning::Term(syntax::tuple(terms.collect::<Translate<_>>()?)))
    }

    fn component(&mut self, tuple: &'p simple::Term, index: usize, width: usize) -> Translate<Meaning<'p>> {
        match self.meaning(tuple)? {
            Meaning::Tuple(parts) => match parts.into_iter().nth(index) {
                Some(part) => Ok(part),
                None => Err(errors::outside_fragment(tuple.span, "such a component")),
            },
            Meaning::Term(tm) => match type_of(&tuple.ty) {
                Some(ty) => Ok(Meaning::Term(projection(tm, &ty, index, width))),
                None => Err(outside_type(&tuple.ty, tuple.span)),
            },
            Meaning::Array(_) | Meaning::Int(_) | Meaning::Bool(_) => {
                Err(outside_type(&tuple.ty, tuple.span))
            }
            Meaning::Closure(_) | Meaning::Pull(_) => Err(outside_type(&tuple.ty, tuple.span)),
        }
    }
}

/// `let x₁ = t.0 in … let x_n = t.(n−1) in rest` for a variable `t`: the names, `t` and `rest`.
fn taken_apart<'p>(
    x: simple::Var,
    value: &'p simple::Term,
    body: &'p simple::Term,
) -> Option<(Vec<simple::Var>, &'p simple::Term, &'p simple::Term)> {
    let TermKind::Proj(tuple, 0, width) = &value.kind else { return None };
    let TermKind::Var(t) = &tuple.kind else { return None };
    let (mut names, mut rest) = (vec![x], body);
    while names.len() < *width {
        let TermKind::Let(y, _, part, inner) = &rest.kind else { return None };
        let TermKind::Proj(again, index, _) = &part.kind else { return None };
        if again.kind != TermKind::Var(*t) || *index != names.len() {
            return None;
        }
        names.push(*y);
        rest = inner;
    }
    Some((names, tuple, rest))
}

/// The message for a type that the calculus does not have.
fn outside_type(ty: &simple::Ty, span: Span) -> Diagnostic {
    let what = match ty {
        simple::Ty::Int => "integers that are not known before the reduction",
        simple::Ty::Bool => "truth values that are not known before the reduction",
        simple::Ty::String => "text",
        simple::Ty::Array(_) => "arrays as arguments or results of functions that are themselves arguments",
        simple::Ty::Data(..) => "data types",
        simple::Ty::Dual(_) => "type Dual",
        simple::Ty::Tuple(parts) if parts.is_empty() => "unit value",
        simple::Ty::Tuple(parts) => {
            return match parts.iter().find(|part| type_of(part).is_none()) {
                Some(part) => outside_type(part, span),
                None => errors::outside_fragment(span, "such tuples"),
            };
        }
        simple::Ty::Fun(a, b) => return outside_type(if type_of(a).is_none() { a } else { b }, span),
        simple::Ty::Real => "such numbers",
    };
    errors::outside_fragment(span, what)
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
