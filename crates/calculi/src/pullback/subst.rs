//! Capture-free substitution (3.1.3) on shared terms: every shared node is rewritten once, subterms without the variables
//! are kept as they are, and the tuple `⟨y,z₁,…⟩` of a pattern is replaced as a whole. And equality up to renaming.

#[cfg(test)]
use super::syntax::{Binder, each_child};
use super::syntax::{Kind, Pat, PatKind, Term, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Runs `f` on a stack that is large enough for recursion along a term.
pub(crate) fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}

/// A substitution.
pub(crate) struct Subst {
    map: FxHashMap<u32, Term>,
    /// Tuples of patterns by address.
    tuples: FxHashMap<*const (), Term>,
    /// Variables free in what is substituted; `None` for perhaps all.
    free: Option<FxHashSet<u32>>,
    done: FxHashMap<*const (), Term>,
}

impl Subst {
    /// `[value/var]`
    pub(crate) fn var(var: &Var, value: &Term) -> Subst {
        Subst::of(FxHashMap::from_iter([(var.id(), value.clone())]))
    }

    /// `[value/pat]` in `scope`: only for variables that are free there.
    pub(crate) fn pat(pat: &Pat, value: &Term, scope: &Term) -> Subst {
        let mut map = FxHashMap::default();
        match scope.few_free() {
            Some(free) => {
                for id in free {
                    if let Some(component) = pat.component(value, *id) {
                        map.insert(*id, component);
                    }
                }
            }
            None => {
                let mut stack = vec![(pat.clone(), value.clone())];
                while let Some((pat, value)) = stack.pop() {
                    match pat.kind() {
                        PatKind::Var(var) => {
                            map.insert(var.id(), value);
                        }
                        PatKind::Pair(a, b) => {
                            stack.push((a.clone(), value.project(1)));
                            stack.push((b.clone(), value.project(2)));
                        }
                    }
                }
            }
        }
        let mut subst = Subst::of(map);
        if matches!(pat.kind(), PatKind::Pair(..)) {
            subst.tuples.insert(pat.term().ptr(), value.clone());
        }
        subst
    }

    fn of(map: FxHashMap<u32, Term>) -> Subst {
        let free = map.values().try_fold(FxHashSet::default(), |mut free, term| {
            free.extend(term.few_free()?);
            Some(free)
        });
        Subst { map, tuples: FxHashMap::default(), free, done: FxHashMap::default() }
    }

    /// The substitution of nothing, for [`Subst::and`].
    pub(crate) fn nothing() -> Subst {
        Subst::of(FxHashMap::default())
    }

    /// Adds `[value/var]`, for a variable that no term before has mentioned.
    pub(crate) fn and(&mut self, var: &Var, value: Term) {
        match (&mut self.free, value.few_free()) {
            (Some(free), Some(more)) => free.extend(more),
            (free, _) => *free = None,
        }
        self.map.insert(var.id(), value);
    }

    /// The term after the substitution.
    pub(crate) fn apply(&mut self, term: &Term) -> Term {
        if term.few_free().is_some_and(|free| !free.iter().any(|id| self.map.contains_key(id))) {
            return term.clone();
        }
        if let Some(tuple) = self.tuples.get(&term.ptr()) {
            return tuple.clone();
        }
        if let Some(done) = self.done.get(&term.ptr()) {
            return done.clone();
        }
        let result = deep(|| self.rewrite(term));
        self.done.insert(term.ptr(), result.clone());
        result
    }

    fn rewrite(&mut self, term: &Term) -> Term {
        match term.kind() {
            Kind::Zero | Kind::Real(_) => term.clone(),
            Kind::Var(var) => self.map.get(&var.id()).unwrap_or(term).clone(),
            Kind::Lam(pat, body) => {
                let (pat, body) = self.under(pat, body);
                Term::lam(pat, body)
            }
            Kind::App(a, b) => Term::app(self.apply(a), self.apply(b)),
            Kind::Let(var, value, body) => {
                let value = self.apply(value);
                let (pat, body) = self.under(&Pat::var(var.clone()), body);
                match pat.kind() {
                    PatKind::Var(var) => Term::let_in(var.clone(), value, body),
                    PatKind::Pair(..) => Term::app(Term::lam(pat, body), value),
                }
            }
            Kind::Proj(i, a) => self.apply(a).project(*i),
            Kind::Pair(a, b) => Term::pair(self.apply(a), self.apply(b)),
            Kind::Fun(f, a) => Term::fun(f.clone(), self.apply(a)),
            Kind::Jac(f, a) => Term::jac(f.clone(), self.apply(a)),
            Kind::DualConst(a) => Term::dual_const(self.apply(a)),
            Kind::DualMap(pat, body, s) => {
                let s = self.apply(s);
                let (pat, body) = self.under(pat, body);
                Term::dual_map(pat, body, s)
            }
            Kind::Pull(pat, body, s) => {
                let s = self.apply(s);
                let (pat, body) = self.under(pat, body);
                Term::pull(pat, body, s)
            }
            Kind::Sum(a, b) => Term::sum(self.apply(a), self.apply(b)),
            Kind::Diff(a, b) => Term::diff(self.apply(a), self.apply(b)),
        }
    }

    /// Goes under a binder: its variables are not substituted, and are renamed where they would capture.
    fn under(&mut self, pat: &Pat, body: &Term) -> (Pat, Term) {
        let captures = match &self.free {
            Some(free) => !free.is_empty() && pat.vars().iter().any(|var| free.contains(&var.id())),
            None => true,
        };
        let shadows = self.map.keys().any(|id| pat.binds(*id));
        if !captures && !shadows {
            return (pat.clone(), self.apply(body));
        }
        let mut map = self.map.clone();
        map.retain(|id, _| !pat.binds(*id));
        let mut new_pat = pat.clone();
        if captures {
            let mut renaming = FxHashMap::default();
            new_pat = mirror(pat, &mut |var| {
                let renamed = var.renamed();
                renaming.insert(var.id(), Term::var(renamed.clone()));
                renamed
            });
            map.extend(renaming);
        }
        let body = Subst::of(map).apply(body);
        (new_pat, body)
    }
}

/// The same pattern with other variables.
pub(crate) fn mirror(pat: &Pat, rename: &mut dyn FnMut(&Var) -> Var) -> Pat {
    let (mut spine, mut pat) = (Vec::new(), pat.clone());
    while let PatKind::Pair(first, second) = pat.kind() {
        spine.push(second.clone());
        pat = first.clone();
    }
    let mut result = match pat.kind() {
        PatKind::Var(var) => Pat::var(rename(var)),
        PatKind::Pair(..) => pat,
    };
    while let Some(second) = spine.pop() {
        result = Pat::pair(result, deep(|| mirror(&second, rename)));
    }
    result
}

/// Whether the terms are equal up to the names of bound variables; sums are compared as written.
#[cfg(test)]
pub(crate) fn alpha_equal(a: &Term, b: &Term) -> bool {
    equal(a, b, &mut FxHashMap::default())
}

#[cfg(test)]
fn equal(a: &Term, b: &Term, names: &mut FxHashMap<u32, u32>) -> bool {
    deep(|| match (a.kind(), b.kind()) {
        (Kind::Var(x), Kind::Var(y)) => names.get(&x.id()).copied().unwrap_or(x.id()) == y.id(),
        (Kind::Real(x), Kind::Real(y)) => x.to_bits() == y.to_bits(),
        (Kind::Proj(i, _), Kind::Proj(j, _)) if i != j => false,
        (Kind::Fun(f, _), Kind::Fun(g, _)) | (Kind::Jac(f, _), Kind::Jac(g, _)) if f != g => false,
        (x, y) if std::mem::discriminant(x) != std::mem::discriminant(y) => false,
        (x, y) => {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            each_child(x, |binder, child| left.push((binder, child)));
            each_child(y, |binder, child| right.push((binder, child)));
            left.len() == right.len()
                && left.iter().zip(&right).all(|((p, s), (q, t))| {
                    let before = names.clone();
                    let same = bind(*p, *q, names) && equal(s, t, names);
                    *names = before;
                    same
                })
        }
    })
}

#[cfg(test)]
fn bind(a: Binder<'_>, b: Binder<'_>, names: &mut FxHashMap<u32, u32>) -> bool {
    match (a, b) {
        (Binder::None, Binder::None) => true,
        (Binder::Var(x), Binder::Var(y)) => {
            names.insert(x.id(), y.id());
            x.ty() == y.ty()
        }
        (Binder::Pat(p), Binder::Pat(q)) => {
            let (xs, ys) = (p.vars(), q.vars());
            names.extend(xs.iter().map(Var::id).zip(ys.iter().map(Var::id)));
            xs.len() == ys.len() && p.ty() == q.ty()
        }
        _ => false,
    }
}
