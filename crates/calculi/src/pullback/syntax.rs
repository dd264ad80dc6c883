//! Types and terms of the pullback calculus (Mak and Ong, Figures 1 and 2), as shared trees.
//!
//! Simple terms S and pullback terms P are one type here: by 3.1.1 a sum in a linear position *is* a sum of terms, so
//! that sums may stand there too. Every binder knows its type, so that every node knows its own. A binder is a pattern:
//! `λ⟨x,y⟩.S` (3.1.3) is kept as written, and reduction 8 only has to put a variable on top of a shared pattern.
//!
//! Nodes cache their type, their size as a tree, their free variables (up to a few), and whether they are elementary or
//! a let series. Trees may be 10⁵ deep to the left: comparing and dropping them uses no recursion.

use super::func::Func;
pub(crate) use super::pattern::{Pat, PatKind, Var};
pub(crate) use super::ty::{Type, TypeKind};
use smallvec::SmallVec;
use std::cell::Cell;
use std::rc::Rc;

/// A term.
#[derive(Clone, Debug)]
pub(crate) struct Term(Rc<Node>);

#[derive(Debug)]
struct Node {
    kind: Kind,
    ty: Type,
    size: u64,
    /// Free variables in order, or `None` if there are more than [`MANY`] (then: perhaps all).
    free: Option<Free>,
    flags: Flags,
    /// Known to be a value.
    value: Cell<bool>,
}

type Free = SmallVec<[u32; 4]>;

/// How many free variables a node remembers.
const MANY: usize = 24;

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// Known to be a value.
    value: bool,
    /// E of 3.2.
    elementary: bool,
    /// L of 3.2.
    series: bool,
    /// A variable, or a tuple of variables.
    tuple: bool,
}

/// Figure 1, and `D s · t` of 5.1.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// 0 at any type.
    Zero,
    /// `x`
    Var(Var),
    /// `λx.S`
    Lam(Pat, Term),
    /// `S P`
    App(Term, Term),
    /// `let x = t in s`, which is `(λx.s) t`.
    Let(Var, Term, Term),
    /// `π₁(S)`, `π₂(S)`
    Proj(u8, Term),
    /// `⟨S,S⟩`
    Pair(Term, Term),
    /// A real number.
    Real(f64),
    /// `f(P)`
    Fun(Func, Term),
    /// `J f · S`; in the differential λ-calculus `D f · t`.
    Jac(Func, Term),
    /// `(λx.S)* · S`
    DualMap(Pat, Term, Term),
    /// `r*`, with a tuple of numbers.
    DualConst(Term),
    /// `(Ω λx.P) · S`
    Pull(Pat, Term, Term),
    /// `S + P`
    Sum(Term, Term),
    /// `D s · t` of the differential λ-calculus.
    Diff(Term, Term),
}

thread_local!(static LIVE: Cell<u64> = const { Cell::new(0) });

/// How many term nodes exist in this thread.
pub(crate) fn live_nodes() -> u64 {
    LIVE.with(Cell::get)
}

impl Term {
    fn make(kind: Kind, ty: Type) -> Term {
        LIVE.with(|live| live.set(live.get() + 1));
        let (mut size, mut free) = (1u64, Some(Free::new()));
        each_child(&kind, |binder, child| {
            size = size.saturating_add(child.0.size);
            free = union(free.take(), child.0.free.as_ref(), binder);
        });
        if let Kind::Var(var) = &kind {
            free = Some(SmallVec::from_slice(&[var.id()]));
        }
        let flags = flags(&kind);
        let value = Cell::new(flags.value);
        Term(Rc::new(Node { kind, ty, size, free, flags, value }))
    }

    pub(crate) fn zero(ty: Type) -> Term {
        Term::make(Kind::Zero, ty)
    }

    pub(crate) fn var(var: Var) -> Term {
        let ty = var.ty().clone();
        Term::make(Kind::Var(var), ty)
    }

    pub(crate) fn real(x: f64) -> Term {
        Term::make(Kind::Real(x), Type::real())
    }

    pub(crate) fn lam(pat: Pat, body: Term) -> Term {
        let ty = Type::function(pat.ty().clone(), body.ty().clone());
        Term::make(Kind::Lam(pat, body), ty)
    }

    pub(crate) fn app(func: Term, arg: Term) -> Term {
        let ty = func.ty().result();
        Term::make(Kind::App(func, arg), ty)
    }

    pub(crate) fn let_in(var: Var, value: Term, body: Term) -> Term {
        let ty = body.ty().clone();
        Term::make(Kind::Let(var, value, body), ty)
    }

    pub(crate) fn proj(index: u8, tuple: Term) -> Term {
        let (a, b) = tuple.ty().parts();
        Term::make(Kind::Proj(index, tuple), if index == 1 { a } else { b })
    }

    pub(crate) fn pair(a: Term, b: Term) -> Term {
        let ty = Type::product(a.ty().clone(), b.ty().clone());
        Term::make(Kind::Pair(a, b), ty)
    }

    pub(crate) fn fun(func: Func, arg: Term) -> Term {
        let ty = Type::reals(func.outputs());
        Term::make(Kind::Fun(func, arg), ty)
    }

    pub(crate) fn jac(func: Func, along: Term) -> Term {
        let ty = Type::function(Type::reals(func.inputs()), Type::reals(func.outputs()));
        Term::make(Kind::Jac(func, along), ty)
    }

    pub(crate) fn dual_map(pat: Pat, body: Term, dual: Term) -> Term {
        let ty = Type::dual(pat.ty().clone());
        Term::make(Kind::DualMap(pat, body, dual), ty)
    }

    pub(crate) fn dual_const(vector: Term) -> Term {
        let ty = Type::dual(vector.ty().clone());
        Term::make(Kind::DualConst(vector), ty)
    }

    pub(crate) fn pull(pat: Pat, body: Term, form: Term) -> Term {
        let ty = Type::omega(pat.ty().clone());
        Term::make(Kind::Pull(pat, body, form), ty)
    }

    pub(crate) fn sum(a: Term, b: Term) -> Term {
        let ty = a.ty().clone();
        Term::make(Kind::Sum(a, b), ty)
    }

    pub(crate) fn diff(func: Term, along: Term) -> Term {
        let ty = func.ty().clone();
        Term::make(Kind::Diff(func, along), ty)
    }

    /// A column vector.
    pub(crate) fn vector(numbers: &[f64]) -> Term {
        let mut numbers = numbers.iter();
        let first = Term::real(numbers.next().copied().unwrap_or(0.0));
        numbers.fold(first, |tuple, x| Term::pair(tuple, Term::real(*x)))
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.0.ty
    }

    /// Nodes of the term written out as a tree.
    pub(crate) fn size(&self) -> u64 {
        self.0.size
    }

    pub(crate) fn ptr(&self) -> *const () {
        Rc::as_ptr(&self.0).cast()
    }

    /// Known to be a value; a term that is not may still turn out to be one.
    pub(crate) fn is_value(&self) -> bool {
        self.0.value.get()
    }

    /// Notes that it is a value, so that nobody looks for a redex in it again.
    pub(crate) fn found_value(&self) {
        self.0.value.set(true);
    }

    pub(crate) fn is_elementary(&self) -> bool {
        self.0.flags.elementary
    }

    pub(crate) fn is_series(&self) -> bool {
        self.0.flags.series
    }

    pub(crate) fn is_zero(&self) -> bool {
        matches!(self.kind(), Kind::Zero)
    }

    /// The same node at another address, to find it again in a larger term.
    pub(crate) fn copy(&self) -> Term {
        Term::make(self.kind().clone(), self.ty().clone())
    }

    /// Its free variables, if they are few.
    pub(crate) fn few_free(&self) -> Option<&[u32]> {
        self.0.free.as_deref()
    }

    /// `πᵢ`, computed at once on pairs and zeros: what the sugar `λ⟨x,y⟩` leaves out.
    pub(crate) fn project(&self, index: u8) -> Term {
        match self.kind() {
            Kind::Pair(a, b) => if index == 1 { a } else { b }.clone(),
            Kind::Zero => {
                let (a, b) = self.ty().parts();
                Term::zero(if index == 1 { a } else { b })
            }
            _ => Term::proj(index, self.clone()),
        }
    }

    /// Whether a free variable of the term satisfies `test`.
    pub(crate) fn mentions(&self, test: &dyn Fn(u32) -> bool) -> bool {
        if let Some(free) = self.few_free() {
            return free.iter().any(|id| test(*id));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![self.clone()];
        while let Some(term) = stack.pop() {
            match term.few_free() {
                Some(free) if free.iter().any(|id| test(*id)) => return true,
                Some(_) => {}
                None => each_child(term.kind(), |_, child| {
                    if seen.insert(child.ptr()) {
                        stack.push(child.clone());
                    }
                }),
            }
        }
        false
    }

    /// Whether a variable of `pat` is free in the term.
    pub(crate) fn mentions_pat(&self, pat: &Pat) -> bool {
        match self.few_free() {
            Some(free) => free.iter().any(|id| pat.binds(*id)),
            None => {
                let ids: rustc_hash::FxHashSet<u32> = pat.vars().iter().map(Var::id).collect();
                self.mentions(&|id| ids.contains(&id))
            }
        }
    }

    /// Nodes, shared ones counted once.
    pub(crate) fn shared_size(&self) -> u64 {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![self.clone()];
        seen.insert(self.ptr());
        while let Some(term) = stack.pop() {
            each_child(term.kind(), |_, child| {
                if seen.insert(child.ptr()) {
                    stack.push(child.clone());
                }
            });
        }
        seen.len() as u64
    }
}

/// Calls `visit` with each child and what is bound in it.
pub(crate) fn each_child<'a>(kind: &'a Kind, mut visit: impl FnMut(Binder<'a>, &'a Term)) {
    match kind {
        Kind::Zero | Kind::Var(_) | Kind::Real(_) => {}
        Kind::Lam(pat, body) => visit(Binder::Pat(pat), body),
        Kind::App(a, b) | Kind::Pair(a, b) | Kind::Sum(a, b) | Kind::Diff(a, b) => {
            visit(Binder::None, a);
            visit(Binder::None, b);
        }
        Kind::Let(var, value, body) => {
            visit(Binder::None, value);
            visit(Binder::Var(var), body);
        }
        Kind::Proj(_, a) | Kind::Fun(_, a) | Kind::Jac(_, a) | Kind::DualConst(a) => visit(Binder::None, a),
        Kind::DualMap(pat, body, s) | Kind::Pull(pat, body, s) => {
            visit(Binder::Pat(pat), body);
            visit(Binder::None, s);
        }
    }
}

/// What is bound in a child.
#[derive(Clone, Copy)]
pub(crate) enum Binder<'a> {
    /// Nothing.
    None,
    /// A variable.
    Var(&'a Var),
    /// A pattern.
    Pat(&'a Pat),
}

fn union(a: Option<Free>, b: Option<&Free>, binder: Binder<'_>) -> Option<Free> {
    let (mut all, b) = (a?, b?);
    let bound = |id: u32| match binder {
        Binder::None => false,
        Binder::Var(var) => var.id() == id,
        Binder::Pat(pat) => pat.binds(id),
    };
    for id in b {
        if let Err(place) = all.binary_search(id)
            && !bound(*id)
        {
            if all.len() == MANY {
                return None;
            }
            all.insert(place, *id);
        }
    }
    Some(all)
}

fn flags(kind: &Kind) -> Flags {
    let is_var = |term: &Term| matches!(term.kind(), Kind::Var(_));
    let elementary = Flags { elementary: true, ..Flags::default() };
    match kind {
        Kind::Zero | Kind::Real(_) | Kind::DualConst(_) => Flags { value: true, ..elementary },
        Kind::Var(_) => Flags { value: true, tuple: true, ..elementary },
        Kind::Lam(_, body) => Flags { value: true, elementary: body.is_series(), ..Flags::default() },
        Kind::Let(var, value, body) => {
            let last = matches!(body.kind(), Kind::Var(z) if z == var);
            Flags { series: value.is_elementary() && (last || body.is_series()), ..Flags::default() }
        }
        Kind::Pair(a, b) => {
            let tuple = a.0.flags.tuple && b.0.flags.tuple;
            Flags { value: a.is_value() && b.is_value(), elementary: tuple, tuple, series: false }
        }
        Kind::App(a, b) | Kind::Sum(a, b) => Flags { elementary: is_var(a) && is_var(b), ..Flags::default() },
        Kind::Proj(_, a) | Kind::Fun(_, a) | Kind::Jac(_, a) => {
            Flags { elementary: is_var(a), ..Flags::default() }
        }
        Kind::DualMap(_, body, s) => Flags { elementary: body.is_series() && is_var(s), ..Flags::default() },
        Kind::Pull(pat, body, s) => {
            let split = body.is_elementary() || paired(pat, body).is_some();
            Flags {
                elementary: body.is_series() && is_var(s),
                value: split && s.is_value(),
                ..Flags::default()
            }
        }
        Kind::Diff(..) => Flags::default(),
    }
}

/// E, if the term is `⟨y,E⟩` for the pattern y.
pub(crate) fn paired<'a>(pat: &Pat, body: &'a Term) -> Option<&'a Term> {
    match body.kind() {
        Kind::Pair(first, second) if second.is_elementary() && is_pattern(pat, first) => Some(second),
        _ => None,
    }
}

/// Whether the term is the pattern's own tuple.
pub(crate) fn is_pattern(pat: &Pat, term: &Term) -> bool {
    let mut stack = vec![(pat.clone(), term.clone())];
    while let Some((pat, term)) = stack.pop() {
        if pat.known_term().is_some_and(|own| own.ptr() == term.ptr()) {
            continue;
        }
        match (pat.kind(), term.kind()) {
            (PatKind::Var(x), Kind::Var(y)) if x == y => {}
            (PatKind::Pair(p, q), Kind::Pair(s, t)) => {
                stack.push((p.clone(), s.clone()));
                stack.push((q.clone(), t.clone()));
            }
            _ => return false,
        }
    }
    true
}

impl Drop for Node {
    fn drop(&mut self) {
        LIVE.with(|live| live.set(live.get().saturating_sub(1)));
        let mut stack = vec![std::mem::replace(&mut self.kind, Kind::Zero)];
        while let Some(kind) = stack.pop() {
            let mut take = |term: Term| {
                if let Some(mut node) = Rc::into_inner(term.0) {
                    stack.push(std::mem::replace(&mut node.kind, Kind::Zero));
                }
            };
            match kind {
                Kind::Zero | Kind::Var(_) | Kind::Real(_) => {}
                Kind::Lam(_, a)
                | Kind::Proj(_, a)
                | Kind::Fun(_, a)
                | Kind::Jac(_, a)
                | Kind::DualConst(a) => take(a),
                Kind::App(a, b)
                | Kind::Let(_, a, b)
                | Kind::Pair(a, b)
                | Kind::DualMap(_, a, b)
                | Kind::Pull(_, a, b)
                | Kind::Sum(a, b)
                | Kind::Diff(a, b) => {
                    take(a);
                    take(b);
                }
            }
        }
    }
}
