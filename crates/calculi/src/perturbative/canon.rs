//! When two terms are the same (`≡`, section 4): up to the names of bound variables, the order of summands, and the sugar
//! for sums in linear places; numbers in one place of a bag count as their sum.

use super::syntax::{Half, Kind, Term, Var, app, deep, inj, lam, num, proj, push, var};
use std::collections::BTreeMap;

/// The summands of a term, simple ones of Λs in the strict sense: with simple terms in all linear places.
pub fn distribute(term: &Term) -> Vec<Term> {
    deep(|| match term.kind() {
        Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => vec![term.clone()],
        Kind::Lam(x, s) => distribute(&s).into_iter().map(|s| lam(&x, s)).collect(),
        Kind::App(s, n) => {
            let n = whole(&n);
            distribute(&s).into_iter().map(|s| app(s, n.clone())).collect()
        }
        Kind::Push(s) => distribute(&s).into_iter().map(push).collect(),
        Kind::Inj(k, s) => distribute(&s).into_iter().map(|s| inj(k, s)).collect(),
        Kind::Proj(k, s) => distribute(&s).into_iter().map(|s| proj(k, s)).collect(),
        Kind::Sum(parts) => parts.iter().flat_map(distribute).collect(),
        Kind::Same(s) => distribute(&s),
    })
}

/// How many nodes the summands have in all, without making them: sharing and sugar can hide any number.
pub fn written_size(term: &Term) -> u64 {
    written(term, &mut rustc_hash::FxHashMap::default()).1
}

/// How many summands, and how many nodes these have in all.
fn written(
    term: &Term,
    known: &mut rustc_hash::FxHashMap<*const super::syntax::Node, (u64, u64)>,
) -> (u64, u64) {
    if let Some(found) = known.get(&std::rc::Rc::as_ptr(term)) {
        return *found;
    }
    let one_more = |(count, size): (u64, u64)| (count, size.saturating_add(count));
    let result = deep(|| match term.kind() {
        Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => (1, 1),
        Kind::Lam(_, s) | Kind::Push(s) | Kind::Inj(_, s) | Kind::Proj(_, s) => one_more(written(&s, known)),
        Kind::App(s, n) => {
            let ((count, size), (_, each)) = (one_more(written(&s, known)), written(&n, known));
            (count, size.saturating_add(count.saturating_mul(each)))
        }
        Kind::Sum(parts) => parts.iter().fold((0_u64, 0_u64), |(count, size), part| {
            let (more, nodes) = written(part, known);
            (count.saturating_add(more), size.saturating_add(nodes))
        }),
        Kind::Same(s) => written(&s, known),
    });
    known.insert(std::rc::Rc::as_ptr(term), result);
    result
}

/// The same as one term.
pub fn whole(term: &Term) -> Term {
    let parts = distribute(term);
    match parts.as_slice() {
        [only] => only.clone(),
        _ => super::syntax::sum(parts),
    }
}

/// A text that two terms have in common if and only if they are the same.
pub fn canonical(term: &Term) -> String {
    bag(&distribute(term), &mut Vec::new())
}

fn bag(parts: &[Term], bound: &mut Vec<Var>) -> String {
    // What stands around a number, and the sum of the numbers there.
    let mut numbers: BTreeMap<String, f64> = BTreeMap::new();
    let mut all = Vec::new();
    for part in parts {
        let mut place = String::new();
        if let Some(r) = number_within(part, &mut place) {
            *numbers.entry(place).or_default() += r;
        } else {
            all.push(simple(part, bound));
        }
    }
    all.extend(
        numbers.into_iter().filter(|(_, r)| *r != 0.0).map(|(place, r)| format!("{place}{}", num_text(r))),
    );
    all.sort();
    format!("{{{}}}", all.join(" + "))
}

fn num_text(r: f64) -> String {
    wengert_base::real::show(r)
}

/// A number below abstractions and injections.
fn number_within(term: &Term, place: &mut String) -> Option<f64> {
    deep(|| match term.kind() {
        Kind::Num(r) => Some(r),
        Kind::Lam(_, s) => {
            place.push('λ');
            number_within(&s, place)
        }
        Kind::Inj(k, s) => {
            place.push(if k == Half::First { '1' } else { '2' });
            number_within(&s, place)
        }
        Kind::Same(s) => number_within(&s, place),
        Kind::Var(_) | Kind::Const(_) | Kind::App(..) | Kind::Push(_) | Kind::Proj(..) | Kind::Sum(_) => None,
    })
}

fn simple(term: &Term, bound: &mut Vec<Var>) -> String {
    deep(|| match term.kind() {
        Kind::Var(x) => match bound.iter().rev().position(|y| *y == x) {
            Some(index) => format!("#{index}"),
            None => format!("{}%{}", x.name, x.id),
        },
        Kind::Num(r) => num_text(r),
        Kind::Const(c) => super::print::constant(c),
        Kind::Lam(x, s) => {
            bound.push(x);
            let body = simple(&s, bound);
            bound.pop();
            format!("λ{body}")
        }
        Kind::App(s, n) => format!("({} {})", simple(&s, bound), bag(&distribute(&n), bound)),
        Kind::Push(s) => format!("T{}", simple(&s, bound)),
        Kind::Inj(Half::First, s) => format!("ι1{}", simple(&s, bound)),
        Kind::Inj(Half::Second, s) => format!("ι2{}", simple(&s, bound)),
        Kind::Proj(Half::First, s) => format!("π1{}", simple(&s, bound)),
        Kind::Proj(Half::Second, s) => format!("π2{}", simple(&s, bound)),
        Kind::Sum(parts) => bag(&parts, bound),
        Kind::Same(s) => simple(&s, bound),
    })
}

/// A copy in which every binder is a new variable and nothing is shared.
pub fn copy(term: &Term) -> Term {
    deep(|| match term.kind() {
        Kind::Var(x) => var(&x),
        Kind::Num(r) => num(r),
        Kind::Const(c) => super::syntax::constant(c),
        Kind::Lam(x, s) => {
            let fresh = x.renamed();
            lam(&fresh, copy(&super::subst::substitute(&s, &x, &var(&fresh))))
        }
        Kind::App(s, n) => app(copy(&s), copy(&n)),
        Kind::Push(s) => push(copy(&s)),
        Kind::Inj(k, s) => inj(k, copy(&s)),
        Kind::Proj(k, s) => proj(k, copy(&s)),
        Kind::Sum(parts) => super::syntax::sum(parts.iter().map(copy).collect::<Vec<_>>()),
        Kind::Same(s) => copy(&s),
    })
}
