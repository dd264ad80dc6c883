//! Table 2d: structural equivalence, rules (18)–(22), as rewritings of a term at its root in either direction, and an
//! invariant of it.

use super::syntax::{
    self, Kind, Symbol, Tm, Var, app, deep, lam, map_vars, occurrences, pair, sub, sub_pair, var,
};
use wengert_prim::RealOp;

/// A rule of Table 2d.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the number is the rule; `equivalents` shows each")]
pub enum Law {
    E18,
    E19,
    E20,
    E21,
    E22,
}

/// The substitution at the root: body, variables, substituted term.
fn substitution(tm: &Tm) -> Option<(&Tm, Vec<Var>, &Tm)> {
    match &tm.kind {
        Kind::Sub(t, x, u) => Some((t, vec![x.clone()], u)),
        Kind::SubPair(t, x, y, u) => Some((t, vec![x.clone(), y.clone()], u)),
        Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::App(..) | Kind::Pair(..) => None,
        Kind::Add(..) | Kind::Fun(..) => None,
    }
}

fn substitute(tm: Tm, xs: &[Var], u: &Tm) -> Tm {
    match xs {
        [x, y] => sub_pair(tm, x, y, u.clone()),
        [x] => sub(tm, x, u.clone()),
        _ => tm,
    }
}

fn free_of(tm: &Tm, xs: &[Var]) -> bool {
    xs.iter().all(|x| occurrences(tm, x) == 0)
}

/// The former `□` of (21) and (22): application, sum, product or pair.
fn square(tm: &Tm) -> Option<(&Tm, &Tm)> {
    match &tm.kind {
        Kind::App(s, t) | Kind::Add(s, t) | Kind::Pair(s, t) => Some((s, t)),
        Kind::Fun(Symbol::Op(RealOp::Mul), args) => match args.as_slice() {
            [s, t] => Some((s, t)),
            _ => None,
        },
        Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::Sub(..) | Kind::SubPair(..) | Kind::Fun(..) => {
            None
        }
    }
}

/// The terms that one application of a law at the root makes, in both directions. Of the many ways to split occurrences
/// in (20) the one that renames the first occurrence is taken.
pub fn equivalents(tm: &Tm) -> Vec<(Law, Tm)> {
    let mut out = Vec::new();
    if let Some((body, outer, w)) = substitution(tm) {
        if let Some((t, inner, u)) = substitution(body) {
            // (18) and, from left to right, (19)
            if free_of(u, &outer) {
                out.push((Law::E18, substitute(substitute(t.clone(), &outer, w), &inner, u)));
            }
            if free_of(t, &outer) {
                out.push((Law::E19, substitute(t.clone(), &inner, &substitute(u.clone(), &outer, w))));
            }
        }
        if let Some((u, inner, w)) = substitution(w) {
            out.push((Law::E19, substitute(substitute(body.clone(), &outer, u), &inner, w)));
        }
        if let Some((s, t)) = square(body) {
            let former = |s: Tm, t: Tm| syntax::mk(body.kind.with_children(vec![s, t]));
            if free_of(t, &outer) {
                out.push((Law::E21, former(substitute(s.clone(), &outer, w), t.clone())));
            }
            if free_of(s, &outer) {
                out.push((Law::E22, former(s.clone(), substitute(t.clone(), &outer, w))));
            }
        }
        if let Kind::Sub(t, x, u) = &tm.kind
            && !x.linear
        {
            let y = x.renewed();
            let mut first = true;
            let split = map_vars(t, &mut |z| (z == x && std::mem::take(&mut first)).then(|| var(&y)));
            out.push((Law::E20, sub(sub(split, x, u.clone()), &y, syntax::renew(u))));
        }
    }
    if let Some((s, t)) = square(tm) {
        let former = |s: &Tm, t: &Tm| syntax::mk(tm.kind.with_children(vec![s.clone(), t.clone()]));
        if let Some((s, xs, u)) = substitution(s) {
            out.push((Law::E21, substitute(former(s, t), &xs, u)));
        }
        if let Some((t, xs, u)) = substitution(t) {
            out.push((Law::E22, substitute(former(s, t), &xs, u)));
        }
    }
    out
}

/// The term with all its substitutions carried out (pairs taken apart only where they are pairs): the same for
/// structurally equivalent terms, and for terms that (8)–(11) relate. Exponential in the worst case; for small terms.
pub fn unfold(tm: &Tm) -> Tm {
    deep(|| match &tm.kind {
        Kind::Var(_) | Kind::Num(_) => tm.clone(),
        Kind::Lam(x, t) => lam(x, unfold(t)),
        Kind::Sub(t, x, u) => {
            let (t, u) = (unfold(t), unfold(u));
            map_vars(&t, &mut |y| (y == x).then(|| syntax::renew(&u)))
        }
        Kind::SubPair(t, x, y, u) => {
            let (t, u) = (unfold(t), unfold(u));
            let part = |first: bool| {
                if let Kind::Pair(a, b) = &u.kind {
                    return syntax::renew(if first { a } else { b });
                }
                let (x, y) = (x.renewed(), y.renewed());
                sub_pair(var(if first { &x } else { &y }), &x, &y, syntax::renew(&u))
            };
            map_vars(&t, &mut |z| (z == x || z == y).then(|| part(z == x)))
        }
        Kind::App(t, u) => app(unfold(t), unfold(u)),
        Kind::Pair(t, u) => pair(unfold(t), unfold(u)),
        Kind::Add(..) | Kind::Fun(..) => {
            let children = tm.kind.children().into_iter().map(unfold).collect();
            syntax::mk(tm.kind.with_children(children))
        }
    })
}
