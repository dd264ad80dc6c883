//! Single steps of Figure 3 on terms of the strict grammar, in any order: `→` is closed under all contexts. With these
//! the conjectures are tested; [`super::reduce`] has the efficient strategy.

use super::reduce::{delta, literal_numbers};
use super::subst::{push_constant, push_lambda, substitute};
use super::syntax::{Kind, Term, app, deep, inj, lam, proj, push, sum, zero};

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

/// How many redexes a term has, in the strict grammar.
pub fn redexes(term: &Term) -> usize {
    deep(|| {
        let own = usize::from(contract(term).is_some());
        own + match term.kind() {
            Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => 0,
            Kind::Lam(_, s) | Kind::Push(s) | Kind::Inj(_, s) | Kind::Proj(_, s) | Kind::Same(s) => {
                redexes(&s)
            }
            Kind::App(s, n) => redexes(&s) + redexes(&n),
            Kind::Sum(parts) => parts.iter().map(redexes).sum(),
        }
    })
}

/// Reduces the redex number `index`, counted from the outside and the left. The term must be in the strict grammar;
/// [`super::canon::whole`] brings the result into it.
pub fn step(term: &Term, index: usize) -> Option<(&'static str, Term)> {
    let mut index = index;
    let mut rule = None;
    let reduced = at(term, &mut index, &mut rule);
    rule.map(|rule| (rule, reduced))
}

fn at(term: &Term, index: &mut usize, rule: &mut Option<&'static str>) -> Term {
    if rule.is_some() {
        return term.clone();
    }
    if let Some((name, to)) = contract(term) {
        if *index == 0 {
            *rule = Some(name);
            return to;
        }
        *index -= 1;
    }
    deep(|| match term.kind() {
        Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => term.clone(),
        Kind::Lam(x, s) => lam(&x, at(&s, index, rule)),
        Kind::App(s, n) => {
            let s = at(&s, index, rule);
            app(s, at(&n, index, rule))
        }
        Kind::Push(s) => push(at(&s, index, rule)),
        Kind::Inj(k, s) => inj(k, at(&s, index, rule)),
        Kind::Proj(k, s) => proj(k, at(&s, index, rule)),
        Kind::Sum(parts) => sum(parts.iter().map(|part| at(part, index, rule)).collect::<Vec<_>>()),
        Kind::Same(s) => at(&s, index, rule),
    })
}
