//! The differential λ-calculus of Ehrhard and Regnier, extended with numbers, function symbols and pairs (5.1, appendix D),
//! and the translation (−)ₜ of the pullback calculus into it.
//!
//! ```text
//! s, t ::= x | λx.s | s T | D s·t | πᵢ(s) | ⟨s,t⟩ | r | f(T) | D f·t        S, T ::= 0 | s | s + T
//! ```
//!
//! `D (λx.s)·t` reduces to `λx. ∂s/∂x·t`, where the *differential substitution* `derive` replaces one linear occurrence of x by t,
//! in every way: a sum with as many summands as there are ways, which is symbolic differentiation with its expression
//! swell. Reduction goes to the full normal form, also under λ. `D f·t` and `J f·t` are one constructor, printed `J f · t`.

use super::from_core::{self, Functionals};
use super::print::{Notation, print_marked, print_type};
use super::reduce::{ground, numbers};
use super::subst::{Subst, deep};
use super::syntax::{Binder, Kind, Pat, Term, TypeKind, Var, each_child, live_nodes};
use super::types::Language;
use crate::kit::simple::Program;
use crate::kit::system::{Rule, System};
use crate::kit::trace::{Counts, Limits, Step, Stopped, Trace};
use rustc_hash::FxHashMap;
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, SourceId};

/// The extended differential λ-calculus.
pub struct Differential;

const PLACE: &str = "section 5.1 and appendix D";

const RULES: &[Rule] = &[
    Rule { name: "β", place: PLACE, what: "(λx.s) T → s[T/x]" },
    Rule {
        name: "D", place: PLACE, what: "D (λx.s)·t → λx. ∂s/∂x·t, the differential substitution"
    },
    Rule { name: "π", place: PLACE, what: "projection of a pair" },
    Rule { name: "f", place: PLACE, what: "function symbol at a vector" },
    Rule { name: "Df", place: PLACE, what: "derivative of a function symbol at a vector along a vector" },
    Rule { name: "+", place: PLACE, what: "sum of numbers" },
    Rule { name: "≡0", place: PLACE, what: "0 in a sum or in a linear position" },
    Rule { name: "≡+", place: PLACE, what: "a sum in a linear position is a sum of terms" },
];

/// (−)ₜ of 5.1 and appendix D.
pub(crate) fn translate(term: &Term) -> Term {
    Translation { vars: FxHashMap::default(), done: FxHashMap::default() }.term(term)
}

/// σₜ: `(σ*)ₜ = σₜ ⇒ R`.
pub(crate) fn translate_type(ty: &super::syntax::Type) -> super::syntax::Type {
    use super::syntax::Type;
    deep(|| match ty.kind() {
        TypeKind::Real => Type::real(),
        TypeKind::Product(a, b) => Type::product(translate_type(a), translate_type(b)),
        TypeKind::Function(a, b) => Type::function(translate_type(a), translate_type(b)),
        TypeKind::Dual(a) => Type::function(translate_type(a), Type::real()),
    })
}

struct Translation {
    /// Variables keep their names and get translated types.
    vars: FxHashMap<u32, Var>,
    done: FxHashMap<*const (), (Term, Term)>,
}

impl Translation {
    fn var(&mut self, var: &Var) -> Var {
        let ty = translate_type(var.ty());
        if ty == *var.ty() {
            return var.clone();
        }
        self.vars.entry(var.id()).or_insert_with(|| Var::named(var.name(), ty)).clone()
    }

    fn pat(&mut self, pat: &Pat) -> Pat {
        super::subst::mirror(pat, &mut |var| self.var(var))
    }

    fn term(&mut self, term: &Term) -> Term {
        if let Some((_, done)) = self.done.get(&term.ptr()) {
            return done.clone();
        }
        let result = deep(|| self.bare(term));
        self.done.insert(term.ptr(), (term.clone(), result.clone()));
        result
    }

    fn bare(&mut self, term: &Term) -> Term {
        match term.kind() {
            Kind::Zero => Term::zero(translate_type(term.ty())),
            Kind::Var(var) => Term::var(self.var(var)),
            Kind::Real(_) => term.clone(),
            Kind::Lam(pat, body) => Term::lam(self.pat(pat), self.term(body)),
            Kind::App(f, a) => Term::app(self.term(f), self.term(a)),
            Kind::Let(var, value, body) => {
                Term::app(Term::lam(Pat::var(self.var(var)), self.term(body)), self.term(value))
            }
            Kind::Proj(i, a) => Term::proj(*i, self.term(a)),
            Kind::Pair(a, b) => Term::pair(self.term(a), self.term(b)),
            Kind::Fun(f, a) => Term::fun(f.clone(), self.term(a)),
            Kind::Jac(f, a) => Term::jac(f.clone(), self.term(a)),
            Kind::Sum(a, b) => Term::sum(self.term(a), self.term(b)),
            Kind::Diff(f, a) => Term::diff(self.term(f), self.term(a)),
            Kind::DualConst(vector) => dual_const(vector),
            Kind::DualMap(pat, body, s) => {
                let (pat, body, s) = (self.pat(pat), self.term(body), self.term(s));
                let v = Var::fresh("v", pat.ty().clone());
                let at = Term::app(Term::lam(pat, body), Term::var(v.clone()));
                Term::lam(Pat::var(v), Term::app(s, at))
            }
            Kind::Pull(pat, body, s) => {
                let (pat, body, s) = (self.pat(pat), self.term(body), self.term(s));
                let (x, v) = (Var::fresh("x", pat.ty().clone()), Var::fresh("v", pat.ty().clone()));
                let function = Term::lam(pat, body);
                let at = Term::var(x.clone());
                let along = Term::app(Term::diff(function.clone(), Term::var(v.clone())), at.clone());
                let form = Term::app(Term::app(s, Term::app(function, at)), along);
                Term::lam(Pat::var(x), Term::lam(Pat::var(v), form))
            }
        }
    }
}

/// `(r*)ₜ = λv. Σ fᵢ(πᵢ v)` with `fᵢ = rᵢ × −`.
fn dual_const(vector: &Term) -> Term {
    let v = Var::fresh("v", vector.ty().clone());
    let mut tuple = Term::var(v.clone());
    let mut entries = Vec::new();
    let mut terms = numbers(vector).unwrap_or_default();
    while let Some(r) = terms.pop() {
        let last = if terms.is_empty() { tuple.clone() } else { tuple.project(2) };
        entries.push(Term::fun(super::func::Func::Scale(r), last));
        tuple = tuple.project(1);
    }
    let sum = entries.into_iter().reduce(|sum, entry| Term::sum(entry, sum));
    Term::lam(Pat::var(v), sum.unwrap_or_else(|| Term::real(0.0)))
}

/// ∂term/∂x · along, with x a variable of the pattern: the differential substitution of appendix D.
pub(crate) fn derive(term: &Term, x: &Var, along: &Term) -> Term {
    if !term.mentions(&|id| id == x.id()) {
        return Term::zero(term.ty().clone());
    }
    deep(|| match term.kind() {
        Kind::Var(_) => along.clone(),
        Kind::Lam(pat, body) => {
            let (pat, body) = apart(pat, body, along);
            let inner = derive(&body, x, along);
            if inner.is_zero() { Term::zero(term.ty().clone()) } else { Term::lam(pat, inner) }
        }
        Kind::App(f, a) => {
            let first = derive(f, x, along);
            let second = derive(a, x, along);
            let first = if first.is_zero() { first } else { Term::app(first, a.clone()) };
            if second.is_zero() {
                return if first.is_zero() { Term::zero(term.ty().clone()) } else { first };
            }
            plus(first, Term::app(Term::diff(f.clone(), second), a.clone()))
        }
        Kind::Proj(i, a) => derive(a, x, along).project(*i),
        Kind::Pair(a, b) => Term::pair(derive(a, x, along), derive(b, x, along)),
        Kind::Fun(f, a) => Term::app(Term::jac(f.clone(), derive(a, x, along)), a.clone()),
        Kind::Jac(f, a) => Term::jac(f.clone(), derive(a, x, along)),
        Kind::Sum(a, b) => plus(derive(a, x, along), derive(b, x, along)),
        Kind::Diff(f, a) => {
            let (df, da) = (derive(f, x, along), derive(a, x, along));
            let first = if df.is_zero() { df } else { Term::diff(df, a.clone()) };
            let second = if da.is_zero() { da } else { Term::diff(f.clone(), da) };
            plus(first, second)
        }
        Kind::Zero
        | Kind::Real(_)
        | Kind::Let(..)
        | Kind::DualMap(..)
        | Kind::DualConst(_)
        | Kind::Pull(..) => Term::zero(term.ty().clone()),
    })
}

/// ∂term/∂⟨x,y,…⟩ · along, for a pattern: the sum over its variables, since a tuple's derivative is that of its parts.
fn derive_pat(pat: &Pat, body: &Term, along: &Term) -> Term {
    let start = Term::zero(body.ty().clone());
    pat.vars().iter().rev().fold(start, |sum, var| {
        let component = pat.component(along, var.id());
        component.map_or(sum.clone(), |component| plus(sum, derive(body, var, &component)))
    })
}

fn plus(a: Term, b: Term) -> Term {
    match (a.is_zero(), b.is_zero()) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => Term::sum(a, b),
    }
}

fn apart(pat: &Pat, body: &Term, value: &Term) -> (Pat, Term) {
    if !value.mentions_pat(pat) {
        return (pat.clone(), body.clone());
    }
    let renamed = super::subst::mirror(pat, &mut |var| var.renamed());
    let body = Subst::pat(pat, &renamed.term(), body).apply(body);
    (renamed, body)
}

/// Reduction to normal form, leftmost outermost, with counts.
pub(crate) struct Normalizer<'a> {
    limits: &'a Limits,
    counts: Counts,
    base: u64,
    flops: u64,
    largest: u64,
    /// Terms known to be normal, by address.
    normal: FxHashMap<*const (), Term>,
    /// The limit that was met. From then on nothing reduces, so that what is left is the term after the last step.
    stopped: Option<Stopped>,
}

impl<'a> Normalizer<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Normalizer<'a> {
        Normalizer {
            limits,
            counts: Counts::default(),
            base: live_nodes(),
            flops: 0,
            largest: 0,
            normal: FxHashMap::default(),
            stopped: None,
        }
    }

    fn note(&mut self, rule: &'static str, reduct: &Term) {
        self.counts.step(rule);
        self.largest = self.largest.max(reduct.size());
        let size = live_nodes().saturating_sub(self.base);
        self.counts.size(size);
        if self.counts.steps >= self.limits.steps {
            self.stopped = Some(Stopped::Steps);
        } else if size > self.limits.size || reduct.size() > self.limits.size {
            self.stopped = Some(Stopped::Size);
        }
    }

    /// The normal form, if it is reached within the limits.
    #[cfg(test)]
    pub(crate) fn normalize(&mut self, term: &Term) -> Result<Term, Stopped> {
        let end = self.normal_form(term);
        self.stopped.map_or(Ok(end), Err)
    }

    /// The normal form, or the term that the last step within the limits gave.
    fn normal_form(&mut self, term: &Term) -> Term {
        if self.stopped.is_some() || self.normal.contains_key(&term.ptr()) {
            return term.clone();
        }
        let head = self.normalize_head(term);
        let normal = deep(|| self.parts(&head, true));
        self.normal.insert(normal.ptr(), normal.clone());
        normal
    }

    /// Normalizes the parts: those that decide whether the term is a redex, and then all.
    fn parts(&mut self, term: &Term, all: bool) -> Term {
        match term.kind() {
            Kind::Lam(pat, body) if all => Term::lam(pat.clone(), self.normal_form(body)),
            Kind::App(f, a) if all => Term::app(self.normal_form(f), self.normal_form(a)),
            Kind::Proj(i, a) if all => Term::proj(*i, self.normal_form(a)),
            Kind::App(f, a) if matches!(f.kind(), Kind::Jac(..)) => {
                Term::app(self.normal_form(f), self.normal_form(a))
            }
            Kind::App(f, a) => {
                let f = self.normalize_head(f);
                let a = if matches!(f.kind(), Kind::Jac(..)) { self.normal_form(a) } else { a.clone() };
                Term::app(f, a)
            }
            Kind::Proj(i, a) if !all => Term::proj(*i, self.normalize_head(a)),
            Kind::Pair(a, b) if all => Term::pair(self.normal_form(a), self.normal_form(b)),
            Kind::Fun(f, a) if !all => Term::fun(f.clone(), self.normal_form(a)),
            Kind::Jac(f, a) if !all => Term::jac(f.clone(), self.normal_form(a)),
            Kind::Sum(a, b) if !all => Term::sum(self.normal_form(a), self.normal_form(b)),
            Kind::Diff(f, a) if all => Term::diff(self.normal_form(f), self.normal_form(a)),
            Kind::Diff(f, a) => Term::diff(self.normalize_head(f), a.clone()),
            _ => term.clone(),
        }
    }

    /// Reduces until the outermost constructor is settled.
    fn normalize_head(&mut self, term: &Term) -> Term {
        let mut term = term.clone();
        while self.stopped.is_none() {
            term = deep(|| self.parts(&term, false));
            // A part may have met a limit.
            let found = if self.stopped.is_none() { self.contract(&term) } else { None };
            let Some((rule, reduct)) = found else { break };
            self.note(rule, &reduct);
            term = reduct;
        }
        term
    }

    /// The reduct of a redex.
    fn contract(&mut self, term: &Term) -> Option<(&'static str, Term)> {
        let zero = || Some(("≡0", Term::zero(term.ty().clone())));
        match term.kind() {
            Kind::App(f, a) => match f.kind() {
                Kind::Lam(pat, body) => Some(("β", Subst::pat(pat, a, body).apply(body))),
                Kind::Zero => zero(),
                Kind::Sum(f, g) => {
                    Some(("≡+", Term::sum(Term::app(f.clone(), a.clone()), Term::app(g.clone(), a.clone()))))
                }
                Kind::Jac(f, along) => {
                    let (at, along) = numbers(a).zip(numbers(along))?;
                    self.flops += 2 * f.cost();
                    Some(("Df", Term::vector(&f.tangent(&at, &along))))
                }
                _ => None,
            },
            Kind::Let(var, value, body) => Some(("β", Subst::var(var, value).apply(body))),
            Kind::Proj(i, a) => match a.kind() {
                Kind::Pair(..) => Some(("π", a.project(*i))),
                Kind::Zero => zero(),
                Kind::Sum(a, b) => {
                    Some(("≡+", Term::sum(Term::proj(*i, a.clone()), Term::proj(*i, b.clone()))))
                }
                _ => None,
            },
            Kind::Fun(f, a) => {
                let at = numbers(a)?;
                self.flops += f.cost();
                Some(("f", Term::vector(&f.eval(&at))))
            }
            Kind::Jac(f, a) => match a.kind() {
                Kind::Zero => zero(),
                Kind::Sum(a, b) => {
                    Some(("≡+", Term::sum(Term::jac(f.clone(), a.clone()), Term::jac(f.clone(), b.clone()))))
                }
                _ => None,
            },
            Kind::Sum(a, b) if a.is_zero() => Some(("≡0", b.clone())),
            Kind::Sum(a, b) if b.is_zero() => Some(("≡0", a.clone())),
            Kind::Sum(a, b) => {
                numbers(a).zip(numbers(b))?;
                Some(("+", super::transpose::add(a, b, &mut self.flops)))
            }
            Kind::Diff(f, a) => match f.kind() {
                Kind::Lam(pat, body) => {
                    let (pat, body) = apart(pat, body, a);
                    Some(("D", Term::lam(pat.clone(), derive_pat(&pat, &body, a))))
                }
                Kind::Zero => zero(),
                Kind::Sum(f, g) => Some((
                    "≡+",
                    Term::sum(Term::diff(f.clone(), a.clone()), Term::diff(g.clone(), a.clone())),
                )),
                _ => None,
            },
            _ => None,
        }
    }

    /// The counts so far.
    pub(crate) fn counts(mut self) -> Counts {
        self.counts.more.insert("arithmetic operations", self.flops);
        self.counts.more.insert("largest reduct as a tree", self.largest);
        self.counts
    }
}

/// One leftmost outermost step on the whole term, for traces.
fn step(term: &Term, normalizer: &mut Normalizer<'_>) -> Option<(&'static str, Term, Term, Term)> {
    if let Some((rule, reduct)) = normalizer.contract(term) {
        return Some((rule, term.clone(), reduct.clone(), reduct));
    }
    let mut children = Vec::new();
    each_child(term.kind(), |_: Binder<'_>, child| children.push(child.clone()));
    children.iter().enumerate().find_map(|(i, child)| {
        let (rule, redex, reduct, changed) = deep(|| step(child, normalizer))?;
        Some((rule, redex, reduct, replace(term, i, changed)))
    })
}

fn replace(term: &Term, index: usize, new: Term) -> Term {
    let pick = |i: usize, old: &Term| if i == index { new.clone() } else { old.clone() };
    match term.kind() {
        Kind::Lam(pat, _) => Term::lam(pat.clone(), new),
        Kind::App(a, b) => Term::app(pick(0, a), pick(1, b)),
        Kind::Proj(i, _) => Term::proj(*i, new),
        Kind::Pair(a, b) => Term::pair(pick(0, a), pick(1, b)),
        Kind::Fun(f, _) => Term::fun(f.clone(), new),
        Kind::Jac(f, _) => Term::jac(f.clone(), new),
        Kind::Sum(a, b) => Term::sum(pick(0, a), pick(1, b)),
        Kind::Diff(a, b) => Term::diff(pick(0, a), pick(1, b)),
        Kind::Zero
        | Kind::Var(_)
        | Kind::Real(_)
        | Kind::Let(..)
        | Kind::DualMap(..)
        | Kind::DualConst(_)
        | Kind::Pull(..) => term.clone(),
    }
}

/// Reduces with a trace: the first steps one by one, the rest at once.
pub(crate) fn trace(start: &Term, limits: &Limits) -> (Trace, Term) {
    let mut normalizer = Normalizer::new(limits);
    let show = |term: &Term| print_marked(term, None, Notation::Paper).0;
    let (mut steps, mut term) = (Vec::new(), start.clone());
    let mut text = 0;
    while normalizer.stopped.is_none() && (steps.len() as u64) < limits.recorded && text < (8 << 20) {
        let Some((rule, redex, reduct, after)) = step(&term, &mut normalizer) else { break };
        let (before, range) = print_marked(&term, Some(redex.ptr()), Notation::Paper);
        let printed = show(&after);
        text += before.len() + printed.len();
        steps.push(Step { rule, before, redex: range, after: printed });
        term = after;
        normalizer.note(rule, &reduct);
    }
    term = normalizer.normal_form(&term);
    let stopped = normalizer.stopped;
    let result = stopped.is_none().then(|| ground(&term));
    let counts = normalizer.counts();
    (Trace { start: show(start), steps, end: show(&term), result, counts, stopped, note: None }, term)
}

impl System for Differential {
    fn name(&self) -> &'static str {
        "differential"
    }

    fn about(&self) -> &'static str {
        "Ehrhard and Regnier's differential λ-calculus with numbers and pairs, into which the pullback calculus translates: symbolic differentiation"
    }

    fn check(&self, source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
        super::read(source, text, Language::Differential).map(|term| print_type(term.ty()))
    }

    fn reduce(&self, source: SourceId, text: &str, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let term = super::read(source, text, Language::Differential)?;
        Ok(trace(&translate(&term), limits).0)
    }

    fn translate(
        &self,
        source: SourceId,
        text: &str,
    ) -> Result<Vec<(&'static str, String)>, Vec<Diagnostic>> {
        let term = super::read(source, text, Language::Differential)?;
        let limits = Limits { recorded: 0, ..Limits::default() };
        Ok(vec![("the normal form", trace(&translate(&term), &limits).0.end)])
    }

    fn trace(&self, program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let translated = from_core::translate(program, Functionals::Named).map_err(|error| vec![error])?;
        let term = from_core::applied(translate(&translated.term), &translated.shape);
        let (mut trace, end) = trace(&term, limits);
        if trace.stopped.is_none() {
            trace.result = Some(from_core::ground(&end, &from_core::read(&translated.shape)));
        }
        Ok(trace)
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn codes(&self) -> &'static [Code] {
        &[]
    }
}
