//! Administrative reduction (3.2, appendix B): a pullback term becomes a let series of elementary terms.
//!
//! ```text
//! E ::= 0 | z₁+z₂ | z | λx.L | z₁ z₂ | πᵢ z | ⟨z₁,z₂⟩ | r | f(z) | J f·z | (λx.L)*·z | (Ω λx.L)·z | r*
//! L ::= let z = E in L | let z = E in z
//! ```
//!
//! [`step`] finds the one A-context with its A-redex and contracts it, for traces. [`all`] does all steps at once, with
//! the same counts in linear time. Two readings are fixed here, both used by the paper's own examples:
//! `let x₁ = L` with `L ≡ let … in z` is the series of L with its last variable in the place of x₁; and the tuple of an
//! enclosing pattern, `⟨x,y⟩` under `λ⟨x,y⟩`, is a variable. A `let` of the source, and so `(λx.s) t`, which is one by
//! 3.1.3, is joined to the series (`A-let`): read as an application it would need reduction 19b, and be stuck (value 1)
//! where s applies x to something of y.

use super::subst::{Subst, deep};
use super::syntax::{Kind, Pat, PatKind, Term, Var, is_pattern};
use rustc_hash::FxHashSet;

/// `(λx.s) t` as the `let` that it is by 3.1.3.
fn as_let(term: &Term) -> Option<Term> {
    let Kind::App(function, value) = term.kind() else { return None };
    let Kind::Lam(pat, body) = function.kind() else { return None };
    Some(match pat.kind() {
        PatKind::Var(var) => Term::let_in(var.clone(), value.clone(), body.clone()),
        PatKind::Pair(..) => {
            let var = Var::fresh("p", pat.ty().clone());
            let body = Subst::pat(pat, &Term::var(var.clone()), body).apply(body);
            Term::let_in(var, value.clone(), body)
        }
    })
}

fn rule(term: &Term) -> &'static str {
    match term.kind() {
        Kind::Zero => "A-0",
        Kind::Sum(..) => "A-+",
        Kind::Var(_) => "A-x",
        Kind::Lam(..) => "A-λ",
        Kind::App(..) | Kind::Diff(..) => "A-app",
        Kind::Proj(..) => "A-π",
        Kind::Pair(..) => "A-pair",
        Kind::Real(_) => "A-r",
        Kind::Fun(..) => "A-f",
        Kind::Jac(..) => "A-J",
        Kind::DualMap(..) => "A-dual",
        Kind::Pull(..) => "A-Ω",
        Kind::DualConst(_) => "A-r*",
        Kind::Let(..) => "A-let",
    }
}

/// One step; `None` on a let series.
pub(crate) fn step(term: &Term, pats: &[Pat]) -> Option<(&'static str, Term)> {
    if term.is_series() {
        return None;
    }
    if let Some(sugar) = as_let(term) {
        return if sugar.is_series() { Some(("A-let", sugar)) } else { deep(|| step(&sugar, pats)) };
    }
    deep(|| match term.kind() {
        Kind::Pair(..) if is_tuple_of(term, pats) => Some(("A-x", single(term.clone()))),
        Kind::Zero | Kind::Var(_) | Kind::Real(_) | Kind::DualConst(_) => {
            Some((rule(term), single(term.clone())))
        }
        Kind::Lam(pat, body) => Some(match step(body, &with(pats, pat)) {
            Some((rule, body)) => (rule, Term::lam(pat.clone(), body)),
            None => ("A-λ", single(term.clone())),
        }),
        Kind::App(a, b) => Some(binary(term, a, b, pats, &Term::app)),
        Kind::Sum(a, b) => Some(binary(term, a, b, pats, &Term::sum)),
        Kind::Pair(a, b) => Some(binary(term, a, b, pats, &Term::pair)),
        Kind::Diff(a, b) => Some(binary(term, a, b, pats, &Term::diff)),
        Kind::Proj(i, a) => Some(unary(term, a, pats, &|a| Term::proj(*i, a))),
        Kind::Fun(f, a) => Some(unary(term, a, pats, &|a| Term::fun(f.clone(), a))),
        Kind::Jac(f, a) => Some(unary(term, a, pats, &|a| Term::jac(f.clone(), a))),
        Kind::DualMap(pat, body, s) => Some(match step(body, &with(pats, pat)) {
            Some((rule, body)) => (rule, Term::dual_map(pat.clone(), body, s.clone())),
            None => unary(term, s, pats, &|s| Term::dual_map(pat.clone(), body.clone(), s)),
        }),
        Kind::Pull(pat, body, s) => Some(match step(body, &with(pats, pat)) {
            Some((rule, body)) => (rule, Term::pull(pat.clone(), body, s.clone())),
            None => unary(term, s, pats, &|s| Term::pull(pat.clone(), body.clone(), s)),
        }),
        Kind::Let(var, value, body) => Some(match step(value, pats) {
            Some((rule, value)) => (rule, Term::let_in(var.clone(), value, body.clone())),
            None => match step(body, pats) {
                Some((rule, body)) => (rule, Term::let_in(var.clone(), value.clone(), body)),
                None => {
                    let mut series = Series::default();
                    let renamed = series.bind(value, var);
                    let last = series.append(&Subst::var(var, &Term::var(renamed)).apply(body));
                    ("A-let", series.finish(last))
                }
            },
        }),
    })
}

fn unary(term: &Term, a: &Term, pats: &[Pat], rebuild: &dyn Fn(Term) -> Term) -> (&'static str, Term) {
    match step(a, pats) {
        Some((rule, a)) => (rule, rebuild(a)),
        None => {
            let mut series = Series::default();
            let a = series.append(a);
            let last = series.push(rebuild(Term::var(a)));
            (rule(term), series.finish(last))
        }
    }
}

fn binary(
    term: &Term,
    a: &Term,
    b: &Term,
    pats: &[Pat],
    rebuild: &dyn Fn(Term, Term) -> Term,
) -> (&'static str, Term) {
    if let Some((rule, a)) = step(a, pats) {
        return (rule, rebuild(a, b.clone()));
    }
    if let Some((rule, b)) = step(b, pats) {
        return (rule, rebuild(a.clone(), b));
    }
    let mut series = Series::default();
    let (a, b) = (series.append(a), series.append(b));
    let last = series.push(rebuild(Term::var(a), Term::var(b)));
    (rule(term), series.finish(last))
}

/// All steps at once; `count` is told each rule.
pub(crate) fn all(term: &Term, pat: &Pat, count: &mut dyn FnMut(&'static str)) -> Term {
    let mut pats = with(&[], pat);
    if term.is_series() {
        return term.clone();
    }
    to_series(term, &mut pats, count)
}

/// The steps on P of `(Ω λpat.P)·S`: as long as P is not elementary, as [`step`] takes them.
pub(crate) fn of_pullback(term: &Term, pat: &Pat, count: &mut dyn FnMut(&'static str)) -> Term {
    let body = inside(term, &mut with(&[], pat), count);
    if body.is_elementary() { body } else { all(&body, pat, count) }
}

/// The steps inside a term that is elementary when its body is a let series.
fn inside(term: &Term, pats: &mut Vec<Pat>, count: &mut dyn FnMut(&'static str)) -> Term {
    let named = |s: &Term| matches!(s.kind(), Kind::Var(_));
    match term.kind() {
        Kind::Lam(pat, body) => Term::lam(pat.clone(), scoped(pat, body, pats, count)),
        Kind::DualMap(pat, body, s) if named(s) => {
            Term::dual_map(pat.clone(), scoped(pat, body, pats, count), s.clone())
        }
        Kind::Pull(pat, body, s) if named(s) => {
            Term::pull(pat.clone(), scoped(pat, body, pats, count), s.clone())
        }
        _ => term.clone(),
    }
}

/// The steps inside the value of a `let`, which may be a series then.
fn inside_value(term: &Term, pats: &mut Vec<Pat>, count: &mut dyn FnMut(&'static str)) -> Term {
    let Kind::Let(var, value, body) = term.kind() else { return term.clone() };
    Term::let_in(var.clone(), inside(value, pats, count), body.clone())
}

fn to_series(term: &Term, pats: &mut Vec<Pat>, count: &mut dyn FnMut(&'static str)) -> Term {
    if term.is_series() {
        return term.clone();
    }
    let mut series = Series::default();
    let last = flatten(term, &mut series, pats, count);
    series.finish(last)
}

fn scoped(pat: &Pat, body: &Term, pats: &mut Vec<Pat>, count: &mut dyn FnMut(&'static str)) -> Term {
    let depth = pats.len();
    *pats = with(pats, pat);
    let body = to_series(body, pats, count);
    pats.truncate(depth);
    body
}

fn flatten(term: &Term, out: &mut Series, pats: &mut Vec<Pat>, count: &mut dyn FnMut(&'static str)) -> Var {
    if term.is_series() {
        return out.append(term);
    }
    if matches!(term.kind(), Kind::Pair(..)) && is_tuple_of(term, pats) {
        count("A-x");
        return out.push(term.clone());
    }
    if let Some(sugar) = as_let(term) {
        if sugar.is_series() {
            count("A-let");
        }
        return deep(|| flatten(&sugar, out, pats, count));
    }
    if matches!(term.kind(), Kind::Let(..)) {
        let reduced = deep(|| inside_value(term, pats, count));
        if reduced.is_series() {
            return out.append(&reduced);
        }
        return deep(|| flatten_let(&reduced, out, pats, count));
    }
    let elementary = deep(|| match term.kind() {
        Kind::Zero | Kind::Var(_) | Kind::Real(_) | Kind::DualConst(_) => term.clone(),
        Kind::Lam(pat, body) => Term::lam(pat.clone(), scoped(pat, body, pats, count)),
        Kind::App(a, b) => Term::app(part(a, out, pats, count), part(b, out, pats, count)),
        Kind::Sum(a, b) => Term::sum(part(a, out, pats, count), part(b, out, pats, count)),
        Kind::Pair(a, b) => Term::pair(part(a, out, pats, count), part(b, out, pats, count)),
        Kind::Diff(a, b) => Term::diff(part(a, out, pats, count), part(b, out, pats, count)),
        Kind::Proj(i, a) => Term::proj(*i, part(a, out, pats, count)),
        Kind::Fun(f, a) => Term::fun(f.clone(), part(a, out, pats, count)),
        Kind::Jac(f, a) => Term::jac(f.clone(), part(a, out, pats, count)),
        Kind::DualMap(pat, body, s) => {
            let body = scoped(pat, body, pats, count);
            Term::dual_map(pat.clone(), body, part(s, out, pats, count))
        }
        Kind::Pull(pat, body, s) => {
            let body = scoped(pat, body, pats, count);
            Term::pull(pat.clone(), body, part(s, out, pats, count))
        }
        Kind::Let(..) => term.clone(),
    });
    count(rule(term));
    out.push(elementary)
}

/// A `let` that is no series: that of its value, and that of its body.
fn flatten_let(
    term: &Term,
    out: &mut Series,
    pats: &mut Vec<Pat>,
    count: &mut dyn FnMut(&'static str),
) -> Var {
    let Kind::Let(var, value, body) = term.kind() else { return out.push(term.clone()) };
    let value = to_series(value, pats, count);
    count("A-let");
    let renamed = out.bind(&value, var);
    let body = if renamed == *var { body.clone() } else { Subst::var(var, &Term::var(renamed)).apply(body) };
    flatten(&body, out, pats, count)
}

fn part(term: &Term, out: &mut Series, pats: &mut Vec<Pat>, count: &mut dyn FnMut(&'static str)) -> Term {
    Term::var(flatten(term, out, pats, count))
}

/// The patterns in scope that are tuples.
fn with(pats: &[Pat], pat: &Pat) -> Vec<Pat> {
    let mut pats = pats.to_vec();
    if matches!(pat.kind(), PatKind::Pair(..)) {
        pats.push(pat.clone());
    }
    pats
}

fn is_tuple_of(term: &Term, pats: &[Pat]) -> bool {
    pats.iter().any(|pat| pat.ty() == term.ty() && is_pattern(pat, term))
}

fn single(elementary: Term) -> Term {
    let mut series = Series::default();
    let last = series.push(elementary);
    series.finish(last)
}

/// A let series being built.
#[derive(Default)]
struct Series {
    lets: Vec<(Var, Term)>,
    bound: FxHashSet<u32>,
}

impl Series {
    fn add(&mut self, var: Var, elementary: Term) -> Var {
        self.bound.insert(var.id());
        self.lets.push((var.clone(), elementary));
        var
    }

    fn push(&mut self, elementary: Term) -> Var {
        let var = Var::fresh("z", elementary.ty().clone());
        self.add(var, elementary)
    }

    /// Appends a series and gives its last variable; a variable that is bound here already is renamed.
    fn append(&mut self, series: &Term) -> Var {
        self.extend(series, None)
    }

    /// Appends a series whose last variable becomes `last`; gives the variable that stands for it.
    fn bind(&mut self, series: &Term, last: &Var) -> Var {
        self.extend(series, Some(last))
    }

    fn extend(&mut self, series: &Term, last: Option<&Var>) -> Var {
        let mut term = series.clone();
        loop {
            let (var, value, rest) = match term.kind() {
                Kind::Let(var, value, rest) => (var.clone(), value.clone(), rest.clone()),
                _ => return self.push(term.clone()),
            };
            let ends = matches!(rest.kind(), Kind::Var(z) if *z == var);
            let wanted = last.filter(|_| ends).unwrap_or(&var).clone();
            let taken = self.bound.contains(&wanted.id()) || series.mentions(&|id| id == wanted.id());
            let name = if taken { wanted.renamed() } else { wanted };
            self.add(name.clone(), value);
            if ends {
                return name;
            }
            term = if name == var { rest } else { Subst::var(&var, &Term::var(name)).apply(&rest) };
        }
    }

    fn finish(self, last: Var) -> Term {
        let end = Term::var(last);
        self.lets.into_iter().rev().fold(end, |body, (var, value)| Term::let_in(var, value, body))
    }
}
