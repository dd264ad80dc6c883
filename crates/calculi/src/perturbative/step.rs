//! Single steps of Figure 3 on terms of the strict grammar, in any order: `→` is closed under all contexts. With these
//! the conjectures are tested; [`super::reduce`] has the efficient strategy.

use super::reduce::{delta, literal_numbers};
use super::subst::{push_constant, push_lambda, substitute};
use super::syntax::{Half, Kind, Term, app, deep, inj, lam, proj, push, sum, zero};

/// What one redex becomes, and the rule's name.
pub fn contract(redex: &Term) -> Option<(&'static str, Term)> {
    match redex.kind() {
        Kind::App(s, n) => match s.kind() {
            Kind::Lam(x, body) => Some(("β", substitute(&body, &x, &n))),
            Kind::Const(c) => {
                let numbers = literal_numbers(c.shape(), &super::canon::distribute(&n))?;
                Some(("δ", delta(c, &numbers)))
            }
            _ => None,
        },
        Kind::Push(s) => match s.kind() {
            Kind::Lam(x, body) => Some(("T", push_lambda(&x, &body))),
            Kind::Const(c) => Some(("T", push_constant(c))),
            _ => None,
        },
        Kind::Proj(k, s) => match s.kind() {
            Kind::Inj(l, inner) => Some(("×", if k == l { inner } else { zero() })),
            _ => None,
        },
        _ => None,
    }
}

/// What is missing from Figure 3, as an experiment: `π₁(T s (ι₂N)) → 0`, the derivative along the perturbation zero. In a
/// differential λ-category the two are equal (axiom D2), and Theorem 5.6 stays true with this rule.
pub fn contract_or_vanish(redex: &Term) -> Option<(&'static str, Term)> {
    contract(redex).or_else(|| {
        let Kind::Proj(Half::First, pushed) = redex.kind() else { return None };
        let Kind::App(function, n) = pushed.kind() else { return None };
        let along_zero = |part: &Term| matches!(part.kind(), Kind::Inj(Half::Second, _));
        (matches!(function.kind(), Kind::Push(_)) && super::canon::distribute(&n).iter().all(along_zero))
            .then(|| ("π₁T0", zero()))
    })
}

/// A set of rules.
pub type Rules = fn(&Term) -> Option<(&'static str, Term)>;

/// How many redexes of Figure 3 a term has, in the strict grammar.
pub fn redexes(term: &Term) -> usize {
    redexes_by(contract, term)
}

/// How many redexes of these rules a term has.
pub fn redexes_by(rules: Rules, term: &Term) -> usize {
    deep(|| {
        let own = usize::from(rules(term).is_some());
        let redexes = |term: &Term| redexes_by(rules, term);
        own + match term.kind() {
            Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => 0,
            Kind::Lam(_, s) | Kind::Push(s) | Kind::Inj(_, s) | Kind::Proj(_, s) | Kind::Same(s) => {
                redexes(&s)
            }
            Kind::App(s, n) => redexes(&s) + redexes(&n),
            Kind::Sum(parts) => parts.iter().map(redexes).sum::<usize>(),
        }
    })
}

/// Reduces the redex number `index`, counted from the outside and the left. The term must be in the strict grammar;
/// [`super::canon::whole`] brings the result into it.
pub fn step(term: &Term, index: usize) -> Option<(&'static str, Term)> {
    step_by(contract, term, index)
}

/// The same with these rules.
pub fn step_by(rules: Rules, term: &Term, index: usize) -> Option<(&'static str, Term)> {
    let mut index = index;
    let mut rule = None;
    let reduced = at(rules, term, &mut index, &mut rule);
    rule.map(|rule| (rule, reduced))
}

fn at(rules: Rules, term: &Term, index: &mut usize, rule: &mut Option<&'static str>) -> Term {
    if rule.is_some() {
        return term.clone();
    }
    if let Some((name, to)) = rules(term) {
        if *index == 0 {
            *rule = Some(name);
            return to;
        }
        *index -= 1;
    }
    deep(|| match term.kind() {
        Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => term.clone(),
        Kind::Lam(x, s) => lam(&x, at(rules, &s, index, rule)),
        Kind::App(s, n) => {
            let s = at(rules, &s, index, rule);
            app(s, at(rules, &n, index, rule))
        }
        Kind::Push(s) => push(at(rules, &s, index, rule)),
        Kind::Inj(k, s) => inj(k, at(rules, &s, index, rule)),
        Kind::Proj(k, s) => proj(k, at(rules, &s, index, rule)),
        Kind::Sum(parts) => sum(parts.iter().map(|part| at(rules, part, index, rule)).collect::<Vec<_>>()),
        Kind::Same(s) => at(rules, &s, index, rule),
    })
}

/// What else is missing from Figure 3, as an experiment: surjective pairing, `ι₁(π₁s) + ι₂(π₂s) = s` (Remark 3.3), applied to
/// a normal form as often as possible. The two summands may stand under the same λ, `T`, ι, π and operands.
pub fn surjective(term: &Term) -> Term {
    let mut parts: Vec<Term> =
        super::canon::distribute(term).iter().map(|part| deep(|| inside(part))).collect();
    while let Some((first, second, whole)) = two_halves(&parts) {
        parts = parts
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != second)
            .map(|(at, part)| if at == first { whole.clone() } else { part.clone() })
            .collect();
    }
    sum(parts)
}

/// The same within the operands of a simple term.
fn inside(term: &Term) -> Term {
    match term.kind() {
        Kind::Lam(x, s) => lam(&x, deep(|| inside(&s))),
        Kind::App(s, n) => app(deep(|| inside(&s)), surjective(&n)),
        Kind::Push(s) => push(deep(|| inside(&s))),
        Kind::Inj(k, s) => inj(k, deep(|| inside(&s))),
        Kind::Proj(k, s) => proj(k, deep(|| inside(&s))),
        _ => term.clone(),
    }
}

/// Two summands that are the halves of one.
fn two_halves(parts: &[Term]) -> Option<(usize, usize, Term)> {
    let texts: Vec<String> = parts.iter().map(super::canon::canonical).collect();
    parts.iter().enumerate().find_map(|(first, part)| {
        spine(part).into_iter().find_map(|(whole, other)| {
            let text = super::canon::canonical(&other);
            let second = (0..texts.len()).find(|at| *at != first && texts.get(*at) == Some(&text));
            second.map(|second| (first, second, whole))
        })
    })
}

/// For each `ι₁(π₁s)` in a linear place of a simple term: the term with `s` there, and with `ι₂(π₂s)` there.
fn spine(term: &Term) -> Vec<(Term, Term)> {
    let below = |s: &Term, make: &dyn Fn(Term) -> Term| -> Vec<(Term, Term)> {
        deep(|| spine(s)).into_iter().map(|(whole, other)| (make(whole), make(other))).collect()
    };
    match term.kind() {
        Kind::Lam(x, s) => below(&s, &|s| lam(&x, s)),
        Kind::App(s, n) => below(&s, &|s| app(s, n.clone())),
        Kind::Push(s) => below(&s, &push),
        Kind::Proj(k, s) => below(&s, &|s| proj(k, s)),
        Kind::Inj(k, s) => {
            let mut found = below(&s, &|s| inj(k, s));
            if let (Half::First, Kind::Proj(Half::First, s)) = (k, s.kind()) {
                found.push((s.clone(), inj(Half::Second, proj(Half::Second, s))));
            }
            found
        }
        _ => Vec::new(),
    }
}
