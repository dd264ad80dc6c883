//! Variables: which binder each belongs to, as a level that [`super::reduce`] finds in its environment in logarithmic
//! time; and the sizes and names of terms.

use super::syntax::{E, Expr, Kind, Pat, grow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::Name;

/// The direct subterms.
pub(crate) fn children(e: &Expr) -> smallvec::SmallVec<[&E; 3]> {
    match &e.kind {
        Kind::Var(..) | Kind::Const(_) | Kind::Opaque(_) => smallvec::smallvec![],
        Kind::Lam(_, _, a) | Kind::Fst(a) | Kind::Snd(a) | Kind::Inl(a) | Kind::Inr(a) => {
            smallvec::smallvec![a]
        }
        Kind::Roll(_, a) | Kind::Unroll(a) | Kind::Ann(a, _) | Kind::Pure(a) => smallvec::smallvec![a],
        Kind::App(a, b) | Kind::Let(_, a, b) | Kind::LetRec(_, _, a, b) => smallvec::smallvec![a, b],
        Kind::Pair(a, b) | Kind::Do(_, a, b) => smallvec::smallvec![a, b],
        Kind::Case(a, _, b, _, c) => smallvec::smallvec![a, b, c],
    }
}

/// Nodes of a term, shared parts counted once.
pub(crate) fn size(e: &E) -> u64 {
    let mut seen = FxHashSet::default();
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        if seen.insert(Rc::as_ptr(e)) {
            open.extend(children(e));
        }
    }
    seen.len() as u64
}

/// Calls `f` with each name that occurs in a term, binders included.
pub(crate) fn each_name(e: &E, f: &mut dyn FnMut(Name)) {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match &e.kind {
            Kind::Var(name, _) | Kind::LetRec(name, ..) => f(*name),
            Kind::Lam(pat, ..) | Kind::Let(pat, ..) | Kind::Do(pat, ..) => pat.each(f),
            Kind::Case(_, p, _, q, _) => {
                p.each(f);
                q.each(f);
            }
            Kind::App(..) | Kind::Pair(..) | Kind::Fst(_) | Kind::Snd(_) | Kind::Inl(_) | Kind::Inr(_) => {}
            Kind::Roll(..)
            | Kind::Unroll(_)
            | Kind::Ann(..)
            | Kind::Const(_)
            | Kind::Pure(_)
            | Kind::Opaque(_) => {}
        }
        open.extend(children(e));
    }
}

/// The term with the level of each variable; a free variable keeps `u32::MAX`.
pub(crate) fn resolve(e: &E) -> E {
    Scope { levels: FxHashMap::default(), depth: 0 }.term(e)
}

struct Scope {
    levels: FxHashMap<Name, Vec<u32>>,
    depth: u32,
}

impl Scope {
    fn bind(&mut self, name: Name) {
        self.levels.entry(name).or_default().push(self.depth);
        self.depth += 1;
    }

    fn unbind(&mut self, name: Name) {
        self.levels.entry(name).or_default().pop();
        self.depth -= 1;
    }

    fn under(&mut self, pat: &Pat, e: &E) -> E {
        pat.each(&mut |name| self.bind(name));
        let e = self.term(e);
        pat.each(&mut |name| self.unbind(name));
        e
    }

    fn term(&mut self, e: &E) -> E {
        grow(|| self.node(e))
    }

    fn node(&mut self, e: &E) -> E {
        let kind = match &e.kind {
            Kind::Var(name, _) => {
                Kind::Var(*name, self.levels.get(name).and_then(|l| l.last()).copied().unwrap_or(u32::MAX))
            }
            Kind::Const(_) | Kind::Opaque(_) => return Rc::clone(e),
            Kind::Lam(pat, ty, body) => Kind::Lam(pat.clone(), ty.clone(), self.under(pat, body)),
            Kind::App(a, b) => Kind::App(self.term(a), self.term(b)),
            Kind::Let(pat, a, b) => Kind::Let(pat.clone(), self.term(a), self.under(pat, b)),
            Kind::LetRec(name, ty, a, b) => {
                self.bind(*name);
                let (a, b) = (self.term(a), self.term(b));
                self.unbind(*name);
                Kind::LetRec(*name, ty.clone(), a, b)
            }
            Kind::Pair(a, b) => Kind::Pair(self.term(a), self.term(b)),
            Kind::Fst(a) => Kind::Fst(self.term(a)),
            Kind::Snd(a) => Kind::Snd(self.term(a)),
            Kind::Inl(a) => Kind::Inl(self.term(a)),
            Kind::Inr(a) => Kind::Inr(self.term(a)),
            Kind::Case(a, p, b, q, c) => {
                Kind::Case(self.term(a), p.clone(), self.under(p, b), q.clone(), self.under(q, c))
            }
            Kind::Roll(ty, a) => Kind::Roll(ty.clone(), self.term(a)),
            Kind::Unroll(a) => Kind::Unroll(self.term(a)),
            Kind::Ann(a, ty) => Kind::Ann(self.term(a), ty.clone()),
            Kind::Pure(a) => Kind::Pure(self.term(a)),
            Kind::Do(pat, a, b) => Kind::Do(pat.clone(), self.term(a), self.under(pat, b)),
        };
        Expr::at(kind, e.span)
    }
}
