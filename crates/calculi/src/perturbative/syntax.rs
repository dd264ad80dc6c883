//! Terms of the perturbative λ-calculus (section 4), as shared graphs.
//!
//! ```text
//! M, N ::= 0 | s | s + N          s, t ::= x | λx.s | s N | T s | ι_k s | π_k s
//! ```
//!
//! to which numbers `r` and constants (primitive functions) are added. The paper abbreviates `λx.(s + t)` for `λx.s + λx.t`,
//! and likewise for `T`, `ι_k`, `π_k` and operators of applications: these are *equal* terms. So a [`Term`] may have
//! a sum in such a place, and stands for what the abbreviation means; [`super::canon`] writes it out and compares.
//! A pair `⟨M, N⟩` is `ι₁M + ι₂N`, and the number zero is the empty sum.
//!
//! A node may be shared, and a reduction step replaces it in place, for all that share it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wengert_base::Span;
use wengert_prim::RealOp;

/// A variable, told apart by its number.
#[derive(Clone, Debug)]
pub struct Var {
    /// As the user wrote it.
    pub name: Rc<str>,
    /// Unique.
    pub id: u32,
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.id == other.id
    }
}

impl Var {
    /// A variable that is no other one.
    pub fn fresh(name: &str) -> Var {
        Var { name: Rc::from(name), id: next_id() }
    }

    /// Another variable of the same name.
    pub fn renamed(&self) -> Var {
        Var { name: self.name.clone(), id: next_id() }
    }
}

fn next_id() -> u32 {
    thread_local!(static NEXT: Cell<u32> = const { Cell::new(0) });
    NEXT.with(|next| {
        let id = next.get();
        next.set(id.wrapping_add(1));
        id
    })
}

/// Which half of a product: the paper's `k`. In `T σ = σ × σ` the first is the perturbation, the second the primal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Half {
    /// `ι₁`, `π₁`
    First,
    /// `ι₂`, `π₂`
    Second,
}

/// What a conditional constant compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compare {
    /// `a = b`
    Eq,
    /// `a < b`
    Lt,
    /// `a ≤ b`
    Le,
}

/// A primitive function, a constant of the calculus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Const {
    /// `R → R` or `R × R → R`.
    Op(RealOp),
    /// `(R × R) × (R × R) → R`: of `⟨⟨a, b⟩, ⟨c, d⟩⟩` it is `c` if the comparison of `a` and `b` holds, else `d`.
    /// Derivative rules with cases need it.
    Choose(Compare),
}

/// The shape of a constant's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `R`
    Real,
    /// `R × R`
    Pair,
    /// `(R × R) × (R × R)`
    Pairs,
}

impl Const {
    /// What it is applied to.
    pub fn shape(self) -> Shape {
        match self {
            Const::Op(op) if op.arity() == 1 => Shape::Real,
            Const::Op(_) => Shape::Pair,
            Const::Choose(_) => Shape::Pairs,
        }
    }

    /// Its value at numbers, in the order of the text.
    pub fn eval(self, args: &[f64]) -> f64 {
        match (self, args) {
            (Const::Op(op), _) => op.eval(args),
            (Const::Choose(compare), [a, b, then, otherwise]) => {
                if compare.holds(*a, *b) {
                    *then
                } else {
                    *otherwise
                }
            }
            (Const::Choose(_), _) => f64::NAN,
        }
    }
}

impl Compare {
    /// Whether it holds.
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
        }
    }
}

/// A term.
pub type Term = Rc<Node>;

/// How far a node has been reduced, so that no part is visited twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Not at all.
    Raw,
    /// Its head is normal.
    Head,
    /// It is normal.
    Normal,
}

/// A node of the graph.
#[derive(Debug)]
pub struct Node {
    kind: RefCell<Kind>,
    /// The free variables in order, those of the term before it was reduced: a reduction only loses some.
    free: Option<Rc<[u32]>>,
    pub(super) state: Cell<State>,
    /// Where it stands in the text.
    pub span: Span,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `x`
    Var(Var),
    /// A number other than zero.
    Num(f64),
    /// A primitive function.
    Const(Const),
    /// `λx. s`
    Lam(Var, Term),
    /// `s N`
    App(Term, Term),
    /// `T s`
    Push(Term),
    /// `ι_k s`
    Inj(Half, Term),
    /// `π_k s`
    Proj(Half, Term),
    /// A bag; `0` is the empty one.
    Sum(Rc<[Term]>),
    /// The same as another node.
    Same(Term),
}

thread_local!(static LIVE: Cell<u64> = const { Cell::new(0) });

/// How many nodes there are, shared ones counted once.
pub(super) fn live_nodes() -> u64 {
    LIVE.with(Cell::get)
}

impl Node {
    /// What it is, never [`Kind::Same`].
    pub fn kind(&self) -> Kind {
        let mut kind = self.kind.borrow().clone();
        while let Kind::Same(other) = kind {
            kind = other.kind.borrow().clone();
        }
        kind
    }

    /// Replaces it in place.
    pub(super) fn set(&self, kind: Kind) {
        let old = self.kind.replace(kind);
        release(old);
    }

    /// Whether the variable may occur free.
    pub fn mentions(&self, var: &Var) -> bool {
        self.free.as_ref().is_some_and(|free| free.binary_search(&var.id).is_ok())
    }

    /// Whether no variable occurs free.
    pub fn is_closed(&self) -> bool {
        self.free.is_none()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        LIVE.with(|live| live.set(live.get().saturating_sub(1)));
        release(self.kind.replace(Kind::Num(1.0)));
    }
}

/// Drops parts without recursion, so that deep terms do not overflow the stack.
fn release(kind: Kind) {
    let mut work = Vec::new();
    take_parts(kind, &mut work);
    while let Some(term) = work.pop() {
        if let Ok(node) = Rc::try_unwrap(term) {
            take_parts(node.kind.replace(Kind::Num(1.0)), &mut work);
        }
    }
}

fn take_parts(kind: Kind, work: &mut Vec<Term>) {
    match kind {
        Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => {}
        Kind::Lam(_, s) | Kind::Push(s) | Kind::Inj(_, s) | Kind::Proj(_, s) | Kind::Same(s) => work.push(s),
        Kind::App(s, n) => work.extend([s, n]),
        Kind::Sum(parts) => work.extend(parts.iter().cloned()),
    }
}

/// The union of sets of free variables; shares one of them if it is the union.
fn union(a: &Option<Rc<[u32]>>, b: &Option<Rc<[u32]>>) -> Option<Rc<[u32]>> {
    let (Some(x), Some(y)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
    if Rc::ptr_eq(x, y) {
        return a.clone();
    }
    let within = |small: &[u32], large: &[u32]| small.iter().all(|id| large.binary_search(id).is_ok());
    if x.len() >= y.len() && within(y, x) {
        return a.clone();
    }
    if within(x, y) {
        return b.clone();
    }
    let mut all: Vec<u32> = x.iter().chain(y.iter()).copied().collect();
    all.sort_unstable();
    all.dedup();
    Some(all.into())
}

/// A node.
pub fn node(kind: Kind, span: Span) -> Term {
    let free = match &kind {
        Kind::Var(var) => Some(Rc::from([var.id])),
        Kind::Num(_) | Kind::Const(_) => None,
        Kind::Lam(var, s) => match &s.free {
            Some(free) if free.binary_search(&var.id).is_ok() => {
                let rest: Vec<u32> = free.iter().copied().filter(|id| *id != var.id).collect();
                (!rest.is_empty()).then(|| rest.into())
            }
            other => other.clone(),
        },
        Kind::App(s, n) => union(&s.free, &n.free),
        Kind::Push(s) | Kind::Inj(_, s) | Kind::Proj(_, s) | Kind::Same(s) => s.free.clone(),
        Kind::Sum(parts) => parts.iter().fold(None, |free, part| union(&free, &part.free)),
    };
    LIVE.with(|live| live.set(live.get() + 1));
    Rc::new(Node { kind: RefCell::new(kind), free, state: Cell::new(State::Raw), span })
}

fn made(kind: Kind) -> Term {
    node(kind, Span::NOWHERE)
}

/// `x`
pub fn var(x: &Var) -> Term {
    made(Kind::Var(x.clone()))
}

/// A number; zero is the empty sum.
pub fn num(r: f64) -> Term {
    made(number_kind(r))
}

/// A number as a kind.
pub fn number_kind(r: f64) -> Kind {
    if r == 0.0 { Kind::Sum(Rc::from([])) } else { Kind::Num(r) }
}

/// `0`
pub fn zero() -> Term {
    num(0.0)
}

/// A constant.
pub fn constant(c: Const) -> Term {
    made(Kind::Const(c))
}

/// `λx. s`
pub fn lam(x: &Var, s: Term) -> Term {
    made(Kind::Lam(x.clone(), s))
}

/// `s N`
pub fn app(s: Term, n: Term) -> Term {
    made(Kind::App(s, n))
}

/// `T s`
pub fn push(s: Term) -> Term {
    made(Kind::Push(s))
}

/// `ι_k s`
pub fn inj(k: Half, s: Term) -> Term {
    made(Kind::Inj(k, s))
}

/// `π_k s`
pub fn proj(k: Half, s: Term) -> Term {
    made(Kind::Proj(k, s))
}

/// The union of bags.
pub fn sum(parts: impl IntoIterator<Item = Term>) -> Term {
    made(Kind::Sum(parts.into_iter().collect()))
}

/// `⟨M, N⟩ = ι₁M + ι₂N`
pub fn pair(m: Term, n: Term) -> Term {
    sum([inj(Half::First, m), inj(Half::Second, n)])
}

/// An operation at its arguments; sums and differences are sums of the calculus.
pub fn op(op: RealOp, args: &[Term]) -> Term {
    match (op, args) {
        (RealOp::Add, [a, b]) => sum([a.clone(), b.clone()]),
        (RealOp::Sub, [a, b]) => sum([a.clone(), app(constant(Const::Op(RealOp::Neg)), b.clone())]),
        (_, [a, b]) => app(constant(Const::Op(op)), pair(a.clone(), b.clone())),
        (_, _) => app(constant(Const::Op(op)), sum(args.iter().cloned())),
    }
}

/// `D = λf.λx. π₁(T f ⟨1, x⟩)`, the derivative by way of the pushforward.
pub fn derivative() -> Term {
    let (f, x) = (Var::fresh("f"), Var::fresh("x"));
    let pushed = app(push(var(&f)), pair(num(1.0), var(&x)));
    lam(&f, lam(&x, proj(Half::First, pushed)))
}

/// `[a₁, …, a_n] = λf.λz. f a₁ (… (f a_n z))`
pub fn church_list(items: Vec<Term>) -> Term {
    let (f, z) = (Var::fresh("f"), Var::fresh("z"));
    let folded = items.into_iter().rev().fold(var(&z), |rest, item| app(app(var(&f), item), rest));
    lam(&f, lam(&z, folded))
}

/// How many nodes it has, shared ones counted once.
pub fn size(term: &Term) -> u64 {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut work = vec![term.clone()];
    let mut count = 0;
    while let Some(term) = work.pop() {
        if seen.insert(Rc::as_ptr(&term)) {
            let inner = term.kind.borrow().clone();
            if !matches!(inner, Kind::Same(_)) {
                count += 1;
            }
            take_parts(inner, &mut work);
        }
    }
    count
}

/// Runs `f` with enough stack for a deep term.
pub(super) fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}
