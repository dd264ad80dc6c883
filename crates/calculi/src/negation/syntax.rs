//! Section 4, grammar (5)–(6): types, annotated variables, values and terms of Λ⊥(𝓕), Church style.
//!
//! ```text
//! A, B ::= R | A × B | A → B | R^⊥d
//! v    ::= x | r | λx.t | ⟨v, v⟩
//! t, u ::= v | t u | ⟨t, u⟩ | t[⟨x, y⟩ := u] | t[x := u] | t + u | f(t₁, …, t_k)
//! ```
//!
//! A variable carries its annotation, exponential `x^{!A}` or linear `x^R`, because rule (17) asks for types. Every
//! binder of a term has an `id` of its own (Barendregt's convention), so that substitution contexts move without
//! capture; copying a value renews its binders. Nodes are shared and know their size. No function here recurses on the
//! machine's stack without growing it, and dropping is iterative: terms may be a hundred thousand nodes deep.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::rc::Rc;
use wengert_prim::{RealOp, rules};

/// Runs `f` with enough stack.
pub(crate) fn deep<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}

/// The parts of the largest type of a term that is substituted.
pub const LARGEST_TYPE: usize = 10_000;

/// A simple type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `R`
    Real,
    /// `A × B`
    Prod(Rc<Ty>, Rc<Ty>),
    /// `A → B`
    Fun(Rc<Ty>, Rc<Ty>),
    /// `R^⊥d`: linear maps from `R` to `R^d`.
    Neg(usize),
}

impl Ty {
    /// `A × B`
    pub fn prod(a: Ty, b: Ty) -> Ty {
        Ty::Prod(Rc::new(a), Rc::new(b))
    }

    /// `A → B`
    pub fn fun(a: Ty, b: Ty) -> Ty {
        Ty::Fun(Rc::new(a), Rc::new(b))
    }

    /// The Euclidean type `R^d = R × (⋯ × R)`, for `d ≥ 1`.
    pub fn euclid(d: usize) -> Ty {
        (1..d.max(1)).fold(Ty::Real, |rest, _| Ty::prod(Ty::Real, rest))
    }

    /// Whether it has at most [`LARGEST_TYPE`] parts: `t[x := ⟨y, y⟩][y := ⟨z, z⟩]…` doubles the type at each place.
    pub fn is_small(&self) -> bool {
        let (mut waiting, mut left) = (vec![self], LARGEST_TYPE);
        while let Some(ty) = waiting.pop() {
            if left == 0 {
                return false;
            }
            left -= 1;
            match ty {
                Ty::Prod(a, b) | Ty::Fun(a, b) => waiting.extend([&**a, &**b]),
                Ty::Real | Ty::Neg(_) => {}
            }
        }
        true
    }

    /// `d` if this is `R^d`.
    pub fn dimension(&self) -> Option<usize> {
        let (mut ty, mut d) = (self, 1);
        loop {
            match ty {
                Ty::Real => return Some(d),
                Ty::Prod(a, b) if **a == Ty::Real => (ty, d) = (b, d + 1),
                Ty::Prod(..) | Ty::Fun(..) | Ty::Neg(_) => return None,
            }
        }
    }
}

/// What a variable is.
#[derive(Debug)]
pub struct VarData {
    /// Makes it unique.
    pub id: u64,
    /// What the user calls it.
    pub name: Rc<str>,
    /// `x^R` rather than `x^{!A}`.
    pub linear: bool,
    /// The annotation.
    pub ty: Ty,
}

/// An annotated variable; two are the same if their `id`s are.
#[derive(Clone, Debug)]
pub struct Var(Rc<VarData>);

impl std::ops::Deref for Var {
    type Target = VarData;

    fn deref(&self) -> &VarData {
        &self.0
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.id == other.id
    }
}

impl Eq for Var {}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

impl Var {
    /// A new exponential variable `x^{!A}`.
    pub fn exponential(name: impl Into<Rc<str>>, ty: Ty) -> Var {
        Var::fresh(name.into(), false, ty)
    }

    /// A new linear variable `a^R`.
    pub fn linear(name: impl Into<Rc<str>>) -> Var {
        Var::fresh(name.into(), true, Ty::Real)
    }

    fn fresh(name: Rc<str>, linear: bool, ty: Ty) -> Var {
        let id = NEXT.with(|next| next.replace(next.get() + 1));
        Var(Rc::new(VarData { id, name, linear, ty }))
    }

    /// A new variable with the same name and annotation.
    pub fn renewed(&self) -> Var {
        Var::fresh(self.name.clone(), self.linear, self.ty.clone())
    }

    /// The same variable, annotated with another type: what the transformations make of `x`.
    pub fn at(&self, ty: Ty) -> Var {
        Var(Rc::new(VarData { id: self.id, name: self.name.clone(), linear: self.linear, ty }))
    }
}

/// A function symbol of 𝓕 or 𝓕′.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// An operation from the one table of primitives (never `+`, which is a term former).
    Op(RealOp),
    /// `∂f/∂i`, counted from 0, where it is no single operation.
    Partial(RealOp, usize),
}

impl Symbol {
    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Symbol::Op(op) | Symbol::Partial(op, _) => op.arity(),
        }
    }

    /// `⟦f⟧(args)`
    pub fn eval(self, args: &[f64]) -> f64 {
        match self {
            Symbol::Op(op) => op.eval(args),
            Symbol::Partial(op, i) => rules::lookup(op).partial(args, op.eval(args), i),
        }
    }
}

/// A term, shared.
pub type Tm = Rc<Node>;

/// A term with what is known about it.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// `|t|`: symbols, binders not counted apart.
    pub size: u64,
    /// Whether it is a value of grammar (5).
    pub is_value: bool,
}

/// The formers of terms.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `x`
    Var(Var),
    /// A numeral.
    Num(f64),
    /// `λx.t`
    Lam(Var, Tm),
    /// `t u`
    App(Tm, Tm),
    /// `⟨t, u⟩`
    Pair(Tm, Tm),
    /// `t[x := u]`
    Sub(Tm, Var, Tm),
    /// `t[⟨x, y⟩ := u]`
    SubPair(Tm, Var, Var, Tm),
    /// `t + u`
    Add(Tm, Tm),
    /// `f(t₁, …, t_k)`; `t·u` is the symbol of multiplication.
    Fun(Symbol, Vec<Tm>),
}

impl Kind {
    /// The immediate subterms, from left to right as written.
    pub fn children(&self) -> Vec<&Tm> {
        match self {
            Kind::Var(_) | Kind::Num(_) => Vec::new(),
            Kind::Lam(_, body) => vec![body],
            Kind::App(t, u) | Kind::Pair(t, u) | Kind::Add(t, u) => vec![t, u],
            Kind::Sub(t, _, u) | Kind::SubPair(t, _, _, u) => vec![t, u],
            Kind::Fun(_, args) => args.iter().collect(),
        }
    }

    /// The same former with other subterms, of which there must be as many as [`Kind::children`] gives.
    pub fn with_children(&self, children: Vec<Tm>) -> Kind {
        let mut next = children.into_iter();
        let mut take = || next.next().unwrap_or_else(|| num(0.0));
        match self {
            Kind::Var(_) | Kind::Num(_) => self.clone(),
            Kind::Lam(x, _) => Kind::Lam(x.clone(), take()),
            Kind::App(..) => Kind::App(take(), take()),
            Kind::Pair(..) => Kind::Pair(take(), take()),
            Kind::Add(..) => Kind::Add(take(), take()),
            Kind::Sub(_, x, _) => Kind::Sub(take(), x.clone(), take()),
            Kind::SubPair(_, x, y, _) => Kind::SubPair(take(), x.clone(), y.clone(), take()),
            Kind::Fun(f, args) => Kind::Fun(*f, args.iter().map(|_| take()).collect()),
        }
    }

    /// The variables that it binds in its first subterm.
    pub fn binders(&self) -> Vec<&Var> {
        match self {
            Kind::Lam(x, _) | Kind::Sub(_, x, _) => vec![x],
            Kind::SubPair(_, x, y, _) => vec![x, y],
            Kind::Var(_) | Kind::Num(_) | Kind::App(..) | Kind::Pair(..) | Kind::Add(..) | Kind::Fun(..) => {
                Vec::new()
            }
        }
    }
}

/// The term of that kind.
pub fn mk(kind: Kind) -> Tm {
    let size = kind.children().iter().fold(1u64, |sum, child| sum.saturating_add(child.size));
    let is_value = match &kind {
        Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) => true,
        Kind::Pair(t, u) => t.is_value && u.is_value,
        Kind::App(..) | Kind::Sub(..) | Kind::SubPair(..) | Kind::Add(..) | Kind::Fun(..) => false,
    };
    Rc::new(Node { kind, size, is_value })
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut waiting = vec![std::mem::replace(&mut self.kind, Kind::Num(0.0))];
        while let Some(kind) = waiting.pop() {
            let mut release = |tm: Tm| {
                if let Some(mut node) = Rc::into_inner(tm) {
                    waiting.push(std::mem::replace(&mut node.kind, Kind::Num(0.0)));
                }
            };
            match kind {
                Kind::Var(_) | Kind::Num(_) => {}
                Kind::Lam(_, t) => release(t),
                Kind::App(t, u) | Kind::Pair(t, u) | Kind::Add(t, u) => {
                    release(t);
                    release(u);
                }
                Kind::Sub(t, _, u) | Kind::SubPair(t, _, _, u) => {
                    release(t);
                    release(u);
                }
                Kind::Fun(_, args) => args.into_iter().for_each(release),
            }
        }
    }
}

/// `x`
pub fn var(x: &Var) -> Tm {
    mk(Kind::Var(x.clone()))
}

/// A numeral.
pub fn num(r: f64) -> Tm {
    mk(Kind::Num(r))
}

/// `λx.t`
pub fn lam(x: &Var, body: Tm) -> Tm {
    mk(Kind::Lam(x.clone(), body))
}

/// `t u`
pub fn app(t: Tm, u: Tm) -> Tm {
    mk(Kind::App(t, u))
}

/// `⟨t, u⟩`
pub fn pair(t: Tm, u: Tm) -> Tm {
    mk(Kind::Pair(t, u))
}

/// `⟨t₁, …, t_n⟩ = ⟨t₁, ⟨…, t_n⟩⟩`; one component is itself, none is 0.
pub fn tuple(components: Vec<Tm>) -> Tm {
    components.into_iter().rev().reduce(|rest, t| pair(t, rest)).unwrap_or_else(|| num(0.0))
}

/// `t[x := u]`
pub fn sub(t: Tm, x: &Var, u: Tm) -> Tm {
    mk(Kind::Sub(t, x.clone(), u))
}

/// `t[⟨x, y⟩ := u]`
pub fn sub_pair(t: Tm, x: &Var, y: &Var, u: Tm) -> Tm {
    mk(Kind::SubPair(t, x.clone(), y.clone(), u))
}

/// `t + u`
pub fn add(t: Tm, u: Tm) -> Tm {
    mk(Kind::Add(t, u))
}

/// `f(args)`
pub fn fun(f: Symbol, args: Vec<Tm>) -> Tm {
    mk(Kind::Fun(f, args))
}

/// `op(args)`, with `+` as the term former.
pub fn op(op: RealOp, args: Vec<Tm>) -> Tm {
    match (op, args.as_slice()) {
        (RealOp::Add, [t, u]) => add(t.clone(), u.clone()),
        _ => fun(Symbol::Op(op), args),
    }
}

/// `t · u`
pub fn mul(t: Tm, u: Tm) -> Tm {
    op(RealOp::Mul, vec![t, u])
}

/// Free variables in order of first occurrence.
pub fn free_vars(tm: &Tm) -> Vec<Var> {
    fn go(tm: &Tm, bound: &mut FxHashSet<u64>, seen: &mut FxHashSet<u64>, out: &mut Vec<Var>) {
        deep(|| {
            if let Kind::Var(x) = &tm.kind
                && !bound.contains(&x.id)
                && seen.insert(x.id)
            {
                out.push(x.clone());
            }
            let binders: Vec<u64> = tm.kind.binders().iter().map(|x| x.id).collect();
            let new: Vec<u64> = binders.into_iter().filter(|id| bound.insert(*id)).collect();
            let children = tm.kind.children();
            let (scope, rest) = children.split_at(children.len().min(1));
            scope.iter().for_each(|child| go(child, bound, seen, out));
            for id in new {
                bound.remove(&id);
            }
            rest.iter().for_each(|child| go(child, bound, seen, out));
        });
    }
    let mut out = Vec::new();
    go(tm, &mut FxHashSet::default(), &mut FxHashSet::default(), &mut out);
    out
}

/// The nodes of a term, those that are shared counted once.
pub fn distinct_nodes(tm: &Tm) -> u64 {
    let (mut seen, mut waiting) = (FxHashSet::default(), vec![tm]);
    while let Some(tm) = waiting.pop() {
        if seen.insert(Rc::as_ptr(tm)) {
            waiting.extend(tm.kind.children());
        }
    }
    seen.len() as u64
}

/// How often `x` occurs free; ids are unique, so any occurrence is a free one where `x` is in scope.
pub fn occurrences(tm: &Tm, x: &Var) -> u64 {
    let (mut count, mut waiting) = (0, vec![tm]);
    while let Some(tm) = waiting.pop() {
        if matches!(&tm.kind, Kind::Var(y) if y == x) {
            count += 1;
        }
        waiting.extend(tm.kind.children());
    }
    count
}

/// Replaces variables by terms, one after the other occurrence by occurrence; `image` is asked at each.
pub fn map_vars(tm: &Tm, image: &mut dyn FnMut(&Var) -> Option<Tm>) -> Tm {
    deep(|| {
        if let Kind::Var(x) = &tm.kind {
            return image(x).unwrap_or_else(|| tm.clone());
        }
        let old = tm.kind.children();
        let new: Vec<Tm> = old.iter().map(|child| map_vars(child, image)).collect();
        if old.iter().zip(&new).all(|(a, b)| Rc::ptr_eq(a, b)) {
            tm.clone()
        } else {
            mk(tm.kind.with_children(new))
        }
    })
}

/// The term with all its binders renewed.
pub fn renew(tm: &Tm) -> Tm {
    fn go(tm: &Tm, names: &mut FxHashMap<u64, Var>) -> Tm {
        deep(|| {
            for x in tm.kind.binders() {
                names.insert(x.id, x.renewed());
            }
            let new = |x: &Var, names: &FxHashMap<u64, Var>| names.get(&x.id).unwrap_or(x).clone();
            match &tm.kind {
                Kind::Var(x) => names.get(&x.id).map_or_else(|| tm.clone(), var),
                Kind::Num(_) => tm.clone(),
                Kind::Lam(x, t) => {
                    let t = go(t, names);
                    lam(&new(x, names), t)
                }
                Kind::Sub(t, x, u) => {
                    let (t, u) = (go(t, names), go(u, names));
                    sub(t, &new(x, names), u)
                }
                Kind::SubPair(t, x, y, u) => {
                    let (t, u) = (go(t, names), go(u, names));
                    sub_pair(t, &new(x, names), &new(y, names), u)
                }
                Kind::App(..) | Kind::Pair(..) | Kind::Add(..) | Kind::Fun(..) => {
                    let children = tm.kind.children().into_iter().map(|child| go(child, names)).collect();
                    mk(tm.kind.with_children(children))
                }
            }
        })
    }
    go(tm, &mut FxHashMap::default())
}

/// Whether two terms are equal up to names of bound variables.
pub fn alpha_eq(a: &Tm, b: &Tm) -> bool {
    fn go(a: &Tm, b: &Tm, names: &mut FxHashMap<u64, u64>) -> bool {
        deep(|| {
            let same_former = match (&a.kind, &b.kind) {
                (Kind::Var(x), Kind::Var(y)) => return names.get(&x.id).copied().unwrap_or(x.id) == y.id,
                (Kind::Num(r), Kind::Num(q)) => return r == q || (r.is_nan() && q.is_nan()),
                (Kind::Fun(f, s), Kind::Fun(g, t)) => f == g && s.len() == t.len(),
                (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
            };
            let (xs, ys) = (a.kind.binders(), b.kind.binders());
            let same_binders = xs.iter().zip(&ys).all(|(x, y)| x.linear == y.linear && x.ty == y.ty);
            if !same_former || !same_binders {
                return false;
            }
            names.extend(xs.iter().zip(&ys).map(|(x, y)| (x.id, y.id)));
            a.kind.children().iter().zip(b.kind.children()).all(|(a, b)| go(a, b, names))
        })
    }
    go(a, b, &mut FxHashMap::default())
}
