//! Terms and types of Figure 1, the shaded constructs (those that appear only in the output of a translation) included.
//!
//! One type of terms serves source and targets: a translation is a function from terms to terms, its result prints, is
//! type-checked and runs like any other term. What the paper calls shorthand and what we add to its figure:
//!
//! * patterns in λ, `let`, `case` and `do` are kept (the paper: "shorthand for usages of fst and snd"); binding a pair
//!   pattern counts as the projections that it stands for;
//! * `(e₁, …, eₙ)` is nested to the right;
//! * the unit type `1` is a leaf type, truth values are `1 + 1` (footnote 2) with `true = inl ()`;
//! * `letrec`, `roll`, `unroll` and `μX. A` are section 10.3, `Vector` with `build`, `index` and `length` section 10.2.
//!
//! Variables carry their level, the number of binders between the root and theirs; [`super::resolve`] sets it, and only
//! [`super::reduce`] reads it.

use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_prim::RealOp;

/// Runs `f` on a stack that suffices for one more level of recursion.
pub(crate) fn grow<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}

/// Types of Figure 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    /// `ℝ`
    Real,
    /// `ℤ`; `ℕ` and `DeltaId` are names for it.
    Int,
    /// `String`
    String,
    /// `1`
    Unit,
    /// `A × B`
    Prod(Rc<Ty>, Rc<Ty>),
    /// `A + B`
    Sum(Rc<Ty>, Rc<Ty>),
    /// `A → B`
    Fun(Rc<Ty>, Rc<Ty>),
    /// `Vector A`
    Vector(Rc<Ty>),
    /// `M A`
    Monad(Rc<Ty>),
    /// `Delta`
    Delta,
    /// `DeltaMap`
    DeltaMap,
    /// `μX. A`
    Rec(Name, Rc<Ty>),
    /// `X` under its `μ`
    Var(Name),
    /// Not known yet, in [`super::types`] only.
    Meta(u32),
}

impl Ty {
    pub(crate) fn prod(a: Ty, b: Ty) -> Ty {
        Ty::Prod(Rc::new(a), Rc::new(b))
    }

    pub(crate) fn sum(a: Ty, b: Ty) -> Ty {
        Ty::Sum(Rc::new(a), Rc::new(b))
    }

    pub(crate) fn fun(a: Ty, b: Ty) -> Ty {
        Ty::Fun(Rc::new(a), Rc::new(b))
    }

    pub(crate) fn monad(a: Ty) -> Ty {
        Ty::Monad(Rc::new(a))
    }

    /// `1 + 1`
    pub(crate) fn truth() -> Ty {
        Ty::sum(Ty::Unit, Ty::Unit)
    }

    /// `A₁ × (A₂ × …)`, unit for none.
    pub(crate) fn tuple(types: Vec<Ty>) -> Ty {
        let mut types = types.into_iter().rev();
        let Some(last) = types.next() else { return Ty::Unit };
        types.fold(last, |rest, ty| Ty::prod(ty, rest))
    }

    /// `body` with `name` replaced by the closed type `by`.
    pub(crate) fn instantiate(body: &Ty, name: Name, by: &Ty) -> Ty {
        let again = |ty: &Rc<Ty>| Rc::new(grow(|| Ty::instantiate(ty, name, by)));
        match body {
            Ty::Var(other) if *other == name => by.clone(),
            Ty::Rec(other, _) if *other == name => body.clone(),
            Ty::Rec(other, inner) => Ty::Rec(*other, again(inner)),
            Ty::Prod(a, b) => Ty::Prod(again(a), again(b)),
            Ty::Sum(a, b) => Ty::Sum(again(a), again(b)),
            Ty::Fun(a, b) => Ty::Fun(again(a), again(b)),
            Ty::Vector(a) => Ty::Vector(again(a)),
            Ty::Monad(a) => Ty::Monad(again(a)),
            Ty::Real
            | Ty::Int
            | Ty::String
            | Ty::Unit
            | Ty::Delta
            | Ty::DeltaMap
            | Ty::Var(_)
            | Ty::Meta(_) => body.clone(),
        }
    }

    /// The content of a recursive type: `A` with `μX. A` for `X`.
    pub(crate) fn unrolled(&self) -> Option<Ty> {
        let Ty::Rec(name, body) = self else { return None };
        Some(Ty::instantiate(body, *name, self))
    }

    /// Whether values of it are data without functions, computations or deltas: what S and T of section 11 may be.
    pub(crate) fn is_first_order(&self) -> bool {
        match self {
            Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Var(_) => true,
            Ty::Prod(a, b) | Ty::Sum(a, b) => grow(|| a.is_first_order() && b.is_first_order()),
            Ty::Vector(a) | Ty::Rec(_, a) => grow(|| a.is_first_order()),
            Ty::Fun(..) | Ty::Monad(_) | Ty::Delta | Ty::DeltaMap | Ty::Meta(_) => false,
        }
    }

    /// How many reals it has if it is a (nested) product of reals only, the `ℝᵃ` of sections 3 to 7.
    pub(crate) fn real_arity(&self) -> Option<usize> {
        match self {
            Ty::Real => Some(1),
            Ty::Prod(a, b) => grow(|| Some(a.real_arity()? + b.real_arity()?)),
            Ty::Int | Ty::String | Ty::Unit | Ty::Sum(..) | Ty::Fun(..) | Ty::Vector(_) | Ty::Monad(_) => {
                None
            }
            Ty::Delta | Ty::DeltaMap | Ty::Rec(..) | Ty::Var(_) | Ty::Meta(_) => None,
        }
    }

    /// Nodes of it, at most `budget`.
    pub(crate) fn weight(&self, budget: usize) -> usize {
        let mut left = budget;
        let mut open = vec![self];
        while let Some(ty) = open.pop() {
            if left == 0 {
                break;
            }
            left -= 1;
            match ty {
                Ty::Prod(a, b) | Ty::Sum(a, b) | Ty::Fun(a, b) => open.extend([&**a, &**b]),
                Ty::Vector(a) | Ty::Monad(a) | Ty::Rec(_, a) => open.push(a),
                Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Delta => {}
                Ty::DeltaMap | Ty::Var(_) | Ty::Meta(_) => {}
            }
        }
        budget - left
    }
}

/// A shared term.
pub(crate) type E = Rc<Expr>;

/// A term with the place it came from.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it stands.
    pub(crate) span: Span,
}

/// Terms of Figure 1.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `x`, with its level once resolved.
    Var(Name, u32),
    /// `λp. e`, `λ(p : A). e`
    Lam(Pat, Option<Ty>, E),
    /// `e₁ e₂`
    App(E, E),
    /// `let p = e₁ in e₂`
    Let(Pat, E, E),
    /// `letrec f = λp. e₁ in e₂`; the bound term is a [`Kind::Lam`].
    LetRec(Name, Option<Ty>, E, E),
    /// `(e₁, e₂)`
    Pair(E, E),
    /// `fst e`
    Fst(E),
    /// `snd e`
    Snd(E),
    /// `inl e`
    Inl(E),
    /// `inr e`
    Inr(E),
    /// `case e of inl p → e₁, inr q → e₂`
    Case(E, Pat, E, Pat, E),
    /// `roll_{μX. A} e`
    Roll(Ty, E),
    /// `unroll e`
    Unroll(E),
    /// `(e : A)`
    Ann(E, Ty),
    /// Literals, primitive and polytypic functions.
    Const(Const),
    /// `pure e`
    Pure(E),
    /// `do { p ← e₁; e₂ }`; more statements are nested in `e₂`.
    Do(Pat, E, E),
    /// Part of a machine state that is no term, in traces only: its text.
    Opaque(Rc<str>),
}

/// What a binder binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pat {
    /// `x`
    Var(Name),
    /// `_`
    Wild,
    /// `(p, q)`
    Pair(Rc<Pat>, Rc<Pat>),
}

impl Pat {
    /// Calls `f` with each variable, from left to right.
    pub(crate) fn each(&self, f: &mut dyn FnMut(Name)) {
        match self {
            Pat::Var(name) => f(*name),
            Pat::Wild => {}
            Pat::Pair(a, b) => grow(|| {
                a.each(f);
                b.each(f);
            }),
        }
    }

    pub(crate) fn pair(a: Pat, b: Pat) -> Pat {
        Pat::Pair(Rc::new(a), Rc::new(b))
    }

    /// `(p₁, (p₂, …))`, `_` for none.
    pub(crate) fn tuple(patterns: Vec<Pat>) -> Pat {
        let mut patterns = patterns.into_iter().rev();
        let Some(last) = patterns.next() else { return Pat::Wild };
        patterns.fold(last, |rest, pattern| Pat::pair(pattern, rest))
    }
}

/// Literals and named functions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Const {
    /// `r`
    Real(f64),
    /// An integer, a leaf literal.
    Int(i64),
    /// Text, a leaf literal.
    Str(Rc<str>),
    /// `()`
    Unit,
    /// A primitive function on reals.
    RealOp(RealOp),
    /// A primitive function on leaves, or between leaves and reals.
    Leaf(LeafOp),
    /// Arithmetic or a comparison at a type that [`super::types`] has to find, in parsed terms only.
    Overloaded(Overloaded),
    /// A polytypic function at its type; `None` before [`super::types`] has found it.
    Poly(Poly, Option<Ty>),
    /// What the translations use, and arrays.
    Fun(Builtin),
}

/// Primitive functions with leaf types on a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LeafOp {
    /// `+ℤ` and its kin.
    Int(IntOp),
    /// A comparison of reals.
    CompareReal(Compare),
    /// A comparison of integers.
    CompareInt(Compare),
    /// A comparison of texts.
    CompareString(Compare),
    /// `ℤ → ℝ`
    ToReal,
    /// `ℝ → ℤ`: rounded down.
    Floor,
    /// `String × String → String`
    Append,
}

/// Arithmetic on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Neg,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
}

impl Compare {
    /// Its sign.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "≠",
            Compare::Lt => "<",
            Compare::Le => "≤",
        }
    }
}

/// Signs that mean several primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Overloaded {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Compare(Compare),
}

impl Overloaded {
    /// Its sign.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Overloaded::Add => "+",
            Overloaded::Sub | Overloaded::Neg => "-",
            Overloaded::Mul => "×",
            Overloaded::Div => "/",
            Overloaded::Compare(compare) => compare.sign(),
        }
    }
}

/// Polytypic functions: the table of Figure 1, Figures 5, 6 and 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Poly {
    /// `⊗ : ℝ × δA → δA` (section 2)
    Scale,
    /// `⊕ : δA × δA → δA` (section 5.1)
    Add,
    /// `⊙ : δA × δA → ℝ` (section 11.2)
    Dot,
    /// `primal : 𝒟⃗{A} → A` (section 4.1)
    Primal,
    /// `onehot : ℕ → δA` (Figure 6)
    OneHot,
    /// `zero : δA` (Figure 5)
    Zero,
    /// `delta : 𝒟⃗{A} → δA` (Figure 15)
    Delta,
    /// `zip : A × δA → 𝒟⃗{A}` (Figure 15)
    Zip,
    /// `initVars : A × DeltaId → 𝒟⃖{A} × DeltaId` (Figure 15)
    InitVars,
    /// `initZeros : A → 𝒟⃖{A}` (Figure 15)
    InitZeros,
    /// `lookup : DeltaMap × 𝒟⃖{A} → δA` (Figure 15)
    Lookup,
}

/// Functions of Figures 7, 8, 9 and 10, and of section 10.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Builtin {
    /// `Zero : Delta`
    Zero,
    /// `OneHot : ℕ → Delta`
    OneHot,
    /// `Scale : ℝ → Delta → Delta`
    Scale,
    /// `Add : Delta → Delta → Delta`
    Add,
    /// `Var : DeltaId → Delta`
    Var,
    /// `Let : DeltaId → Delta → Delta → Delta`
    Let,
    /// `deltaLet : Delta → M DeltaId`
    DeltaLet,
    /// `runDelta : DeltaId → M (ℝ × Delta) → Delta`
    RunDelta,
    /// `eval : ℝ → Delta → DeltaMap → DeltaMap`
    Eval,
    /// `eval₂ : ℝ → Delta → ℝᵃ ⊸ ℝᵃ`, where `ℝᵃ` is any product of reals
    Eval2,
    /// `emptyMap : DeltaMap`
    EmptyMap,
    /// `lookupOrZero : DeltaId → DeltaMap → ℝ`
    LookupOrZero,
    /// `build : ℕ × (ℕ → A) → Vector A`
    Build,
    /// `index : Vector A × ℕ → A`, counted from 0
    Index,
    /// `length : Vector A → ℕ`
    Length,
    /// `sequence : Vector (M A) → M (Vector A)`
    Sequence,
    /// `fail : String → A`: there is no value, and the text says why.
    Fail,
}

impl Expr {
    /// A term that stands nowhere.
    pub(crate) fn new(kind: Kind) -> E {
        Rc::new(Expr { kind, span: Span::NOWHERE })
    }

    /// A term that stands at `span`.
    pub(crate) fn at(kind: Kind, span: Span) -> E {
        Rc::new(Expr { kind, span })
    }
}

impl Drop for Expr {
    /// Terms may be deeper than the stack.
    fn drop(&mut self) {
        let kind = std::mem::replace(&mut self.kind, Kind::Const(Const::Unit));
        let leaf = matches!(kind, Kind::Const(_) | Kind::Var(..) | Kind::Opaque(_));
        if !leaf {
            grow(|| drop(kind));
        }
    }
}

/// Short forms for building terms.
pub(crate) mod make {
    use super::{Builtin, Const, E, Expr, Kind, LeafOp, Pat, Poly, Ty};
    use wengert_base::Name;
    use wengert_prim::RealOp;

    pub(crate) fn var(name: Name) -> E {
        Expr::new(Kind::Var(name, u32::MAX))
    }

    pub(crate) fn constant(constant: Const) -> E {
        Expr::new(Kind::Const(constant))
    }

    pub(crate) fn real(x: f64) -> E {
        constant(Const::Real(x))
    }

    pub(crate) fn int(n: i64) -> E {
        constant(Const::Int(n))
    }

    pub(crate) fn builtin(builtin: Builtin) -> E {
        constant(Const::Fun(builtin))
    }

    pub(crate) fn poly(poly: Poly, ty: &Ty) -> E {
        constant(Const::Poly(poly, Some(ty.clone())))
    }

    pub(crate) fn app(f: E, x: E) -> E {
        Expr::new(Kind::App(f, x))
    }

    pub(crate) fn apps(f: E, args: impl IntoIterator<Item = E>) -> E {
        args.into_iter().fold(f, app)
    }

    pub(crate) fn pair(a: E, b: E) -> E {
        Expr::new(Kind::Pair(a, b))
    }

    pub(crate) fn tuple(terms: Vec<E>) -> E {
        let mut terms = terms.into_iter().rev();
        let Some(last) = terms.next() else { return constant(Const::Unit) };
        terms.fold(last, |rest, term| pair(term, rest))
    }

    pub(crate) fn lam(pat: Pat, body: E) -> E {
        Expr::new(Kind::Lam(pat, None, body))
    }

    pub(crate) fn bind(pat: Pat, value: E, body: E) -> E {
        Expr::new(Kind::Let(pat, value, body))
    }

    pub(crate) fn monadic(pat: Pat, value: E, rest: E) -> E {
        Expr::new(Kind::Do(pat, value, rest))
    }

    pub(crate) fn pure(e: E) -> E {
        Expr::new(Kind::Pure(e))
    }

    pub(crate) fn fst(e: E) -> E {
        Expr::new(Kind::Fst(e))
    }

    pub(crate) fn snd(e: E) -> E {
        Expr::new(Kind::Snd(e))
    }

    pub(crate) fn case(e: E, p: Pat, left: E, q: Pat, right: E) -> E {
        Expr::new(Kind::Case(e, p, left, q, right))
    }

    /// `if c then a else b`
    pub(crate) fn choice(c: E, a: E, b: E) -> E {
        case(c, Pat::Wild, a, Pat::Wild, b)
    }

    pub(crate) fn real_op(op: RealOp, args: Vec<E>) -> E {
        app(constant(Const::RealOp(op)), tuple(args))
    }

    pub(crate) fn leaf_op(op: LeafOp, args: Vec<E>) -> E {
        app(constant(Const::Leaf(op)), tuple(args))
    }
}

/// Variables of the translations that occur nowhere in the source term, so that neither captures the other.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    taken: rustc_hash::FxHashSet<Name>,
}

impl Fresh {
    /// A supply for translating `e`.
    pub(crate) fn avoiding(e: &E) -> Fresh {
        let mut taken = rustc_hash::FxHashSet::default();
        super::resolve::each_name(e, &mut |name| {
            taken.insert(name);
        });
        Fresh { taken }
    }

    /// `base`, or `base` with primes; the same for the same `base`.
    pub(crate) fn name(&self, base: &str) -> Name {
        let mut text = base.to_string();
        while self.taken.contains(&Name::new(&text)) {
            text.push('\'');
        }
        Name::new(&text)
    }

    /// As [`Fresh::name`], never given again.
    pub(crate) fn once(&mut self, base: &str) -> Name {
        let name = self.name(base);
        self.taken.insert(name);
        name
    }
}
