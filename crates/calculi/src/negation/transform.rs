//! Table 3: the reverse gradient `D⃖_d` on types and terms; section 2.3's forward `D⃗`; and the terms of Theorem 15 and
//! Corollary 16 around them.

use super::syntax::{
    Kind, Symbol, Tm, Ty, Var, add, app, deep, fun, lam, mk, mul, num, op, pair, sub, sub_pair, var,
};
use super::types::type_of;
use std::rc::Rc;
use wengert_prim::{Expr, Rule, rules};

/// `∂f/∂i` at the variables `xs`, in 𝓕′: a numeral, one of the variables, a symbol at some of them, or a symbol of its own.
/// Read off the one table of derivative rules.
pub fn partial(f: Symbol, i: usize, xs: &[Tm]) -> Tm {
    let opaque = || match f {
        Symbol::Op(op) => fun(Symbol::Partial(op, i), xs.to_vec()),
        Symbol::Partial(..) => num(f64::NAN),
    };
    let Symbol::Op(operation) = f else { return opaque() };
    let rule = rules::lookup(operation);
    let Rule::Linear { terms, divisor: None } = &*rule else { return opaque() };
    let Some(term) = terms.iter().find(|term| term.arg == i) else { return num(0.0) };
    match (&term.coef, term.negative) {
        (None, negative) => num(if negative { -1.0 } else { 1.0 }),
        (Some(Expr::Out), false) => fun(f, xs.to_vec()),
        (Some(Expr::In(j)), false) => xs.get(*j).cloned().unwrap_or_else(opaque),
        (Some(Expr::Op(inner, operands)), false) => match operands.as_slice() {
            [Expr::In(j)] => xs.get(*j).map_or_else(opaque, |x| op(*inner, vec![x.clone()])),
            _ => opaque(),
        },
        (Some(_), _) => opaque(),
    }
}

/// `D⃖_d(A)`, Table 3a; `None` where the type has an `R^⊥`.
pub fn reverse_type(ty: &Ty, d: usize) -> Option<Ty> {
    deep(|| match ty {
        Ty::Real => Some(Ty::prod(Ty::Real, Ty::Neg(d))),
        Ty::Prod(a, b) => Some(Ty::prod(reverse_type(a, d)?, reverse_type(b, d)?)),
        Ty::Fun(a, b) => Some(Ty::fun(reverse_type(a, d)?, reverse_type(b, d)?)),
        Ty::Neg(_) => None,
    })
}

/// `D⃗(A)`, section 2.3, extended to arrows.
pub fn forward_type(ty: &Ty) -> Option<Ty> {
    deep(|| match ty {
        Ty::Real => Some(Ty::prod(Ty::Real, Ty::Real)),
        Ty::Prod(a, b) => Some(Ty::prod(forward_type(a)?, forward_type(b)?)),
        Ty::Fun(a, b) => Some(Ty::fun(forward_type(a)?, forward_type(b)?)),
        Ty::Neg(_) => None,
    })
}

/// Which transformation, as far as they differ.
#[derive(Clone, Copy)]
enum Mode {
    Reverse(usize),
    Forward,
}

impl Mode {
    fn ty(self, ty: &Ty) -> Option<Ty> {
        match self {
            Mode::Reverse(d) => reverse_type(ty, d),
            Mode::Forward => forward_type(ty),
        }
    }

    fn second(self) -> Ty {
        match self {
            Mode::Reverse(d) => Ty::Neg(d),
            Mode::Forward => Ty::Real,
        }
    }

    fn zero(self) -> Tm {
        match self {
            Mode::Reverse(d) => lam(&Var::linear("a"), zeros(d)),
            Mode::Forward => num(0.0),
        }
    }

    /// The second half of the image of `f(x₁, …)`, from `(xᵢ′, ∂f/∂i)`; `None` for the partials 1 of a sum.
    fn combine(self, parts: &[(Var, Option<Tm>)]) -> Tm {
        let a = Var::linear("a");
        let summand = |(x, partial): &(Var, Option<Tm>)| match (self, partial) {
            (Mode::Reverse(_), None) => app(var(x), var(&a)),
            (Mode::Reverse(_), Some(partial)) => app(var(x), mul(partial.clone(), var(&a))),
            (Mode::Forward, None) => var(x),
            (Mode::Forward, Some(partial)) => mul(partial.clone(), var(x)),
        };
        let sum = parts.iter().map(summand).reduce(add).unwrap_or_else(|| num(0.0));
        match self {
            Mode::Reverse(_) => lam(&a, sum),
            Mode::Forward => sum,
        }
    }
}

/// `0` of type `R^d`.
pub fn zeros(d: usize) -> Tm {
    super::syntax::tuple((0..d.max(1)).map(|_| num(0.0)).collect())
}

/// `D⃖_d(t)`, Table 3b; `None` outside Λ(𝓕). A variable keeps its identity and changes its type.
pub fn reverse(tm: &Tm, d: usize) -> Option<Tm> {
    transform(tm, Mode::Reverse(d))
}

/// `D⃗(t)`, section 2.3.
pub fn forward(tm: &Tm) -> Option<Tm> {
    transform(tm, Mode::Forward)
}

fn transform(tm: &Tm, mode: Mode) -> Option<Tm> {
    let image = |x: &Var| if x.linear { None } else { Some(x.at(mode.ty(&x.ty)?)) };
    deep(|| match &tm.kind {
        Kind::Var(x) => Some(var(&image(x)?)),
        Kind::Num(_) => Some(pair(tm.clone(), mode.zero())),
        Kind::Lam(x, t) => Some(lam(&image(x)?, transform(t, mode)?)),
        Kind::App(t, u) => Some(app(transform(t, mode)?, transform(u, mode)?)),
        Kind::Pair(t, u) => Some(pair(transform(t, mode)?, transform(u, mode)?)),
        Kind::Sub(t, x, u) => Some(sub(transform(t, mode)?, &image(x)?, transform(u, mode)?)),
        Kind::SubPair(t, x, y, u) => {
            Some(sub_pair(transform(t, mode)?, &image(x)?, &image(y)?, transform(u, mode)?))
        }
        Kind::Add(t, u) => match type_of(tm) {
            Ty::Prod(a, b) => transform(&componentwise(t, u, &a, &b), mode),
            Ty::Real | Ty::Fun(..) | Ty::Neg(_) => lift(None, &[t.clone(), u.clone()], mode),
        },
        Kind::Fun(f, args) => lift(Some(*f), args, mode),
    })
}

/// A sum of pairs, part by part: Table 3 gives `D⃖(t + u)` at type R only, while Table 1 has sums of type `R^d`.
fn componentwise(t: &Tm, u: &Tm, a: &Ty, b: &Ty) -> Tm {
    let part = |name: &str, ty: &Ty| Var::exponential(name, ty.clone());
    let (x, xs, y, ys) = (part("x", a), part("xs", b), part("y", a), part("ys", b));
    let sum = pair(add(var(&x), var(&y)), add(var(&xs), var(&ys)));
    sub_pair(sub_pair(sum, &x, &xs, t.clone()), &y, &ys, u.clone())
}

/// `⟨f(x), …⟩[⟨x₁, x₁′⟩ := D(t₁)]…`; without a symbol it is the sum.
fn lift(f: Option<Symbol>, args: &[Tm], mode: Mode) -> Option<Tm> {
    if matches!(f, Some(Symbol::Partial(..))) {
        return None;
    }
    let names = ["x", "y"];
    let fresh = |i: usize| {
        let name = names.get(i).copied().unwrap_or("z");
        (Var::exponential(name, Ty::Real), Var::exponential(format!("{name}'"), mode.second()))
    };
    let vars: Vec<(Var, Var)> = (0..args.len()).map(fresh).collect();
    let xs: Vec<Tm> = vars.iter().map(|(x, _)| var(x)).collect();
    let partial_of = |i: usize| f.map(|f| partial(f, i, &xs));
    let parts: Vec<(Var, Option<Tm>)> =
        vars.iter().enumerate().map(|(i, (_, x))| (x.clone(), partial_of(i))).collect();
    let value = match f {
        Some(f) => fun(f, xs.clone()),
        None => mk(Kind::Add(xs.first()?.clone(), xs.get(1)?.clone())),
    };
    vars.iter().zip(args).try_fold(pair(value, mode.combine(&parts)), |tm, ((x, y), arg)| {
        Some(sub_pair(tm, x, y, transform(arg, mode)?))
    })
}

/// The tags of Theorem 15: for each variable `x` a fresh `x′` of type `R^⊥d`.
pub fn tags(xs: &[Var], d: usize) -> Vec<Var> {
    xs.iter().map(|x| Var::exponential(format!("{}'", x.name), Ty::Neg(d))).collect()
}

/// `D⃖_d(t)[x := ⟨x, λa.x′a⟩]` of Theorem 15, where `x` becomes a fresh variable of type R, which is given back.
pub fn tagged(tm: &Tm, xs: &[Var], tags: &[Var], d: usize) -> Option<(Tm, Vec<Var>)> {
    let primals: Vec<Var> = xs.iter().map(|x| Var::exponential(x.name.clone(), Ty::Real)).collect();
    let mut result = reverse(tm, d)?;
    for ((x, primal), tag) in xs.iter().zip(&primals).zip(tags) {
        let a = Var::linear("a");
        let seed = pair(var(primal), lam(&a, app(var(tag), var(&a))));
        result = sub(result, &x.at(reverse_type(&x.ty, d)?), seed);
    }
    Some((result, primals))
}

/// Corollary 16: `z′ 1[⟨z, z′⟩ := D⃖(t)[x := ⟨x, λa.x′a⟩]][x := r]`.
pub fn gradient_term(tm: &Tm, xs: &[Var], tags: &[Var], at: &[f64], d: usize) -> Option<Tm> {
    at_point(tm, xs, tags, at, d, |_, second| app(second, num(1.0)))
}

/// As [`gradient_term`], together with the value: `⟨z, z′ 1⟩[…]`.
pub fn value_and_gradient_term(tm: &Tm, xs: &[Var], tags: &[Var], at: &[f64], d: usize) -> Option<Tm> {
    at_point(tm, xs, tags, at, d, |first, second| pair(first, app(second, num(1.0))))
}

fn at_point(
    tm: &Tm,
    xs: &[Var],
    tags: &[Var],
    at: &[f64],
    d: usize,
    use_of: impl FnOnce(Tm, Tm) -> Tm,
) -> Option<Tm> {
    let (inner, primals) = tagged(tm, xs, tags, d)?;
    let (z, second) = (Var::exponential("z", Ty::Real), Var::exponential("z'", Ty::Neg(d)));
    let used = sub_pair(use_of(var(&z), var(&second)), &z, &second, inner);
    Some(primals.iter().zip(at).fold(used, |tm, (x, r)| sub(tm, x, num(*r))))
}

/// The injection `λa.⟨0, …, a, …, 0⟩` into component `i` of `R^n`, after Corollary 16.
pub fn injection(i: usize, n: usize) -> Tm {
    let a = Var::linear("a");
    lam(&a, super::syntax::tuple((0..n).map(|j| if i == j { var(&a) } else { num(0.0) }).collect()))
}

/// The paper's own way to the tuple, after Corollary 16: injections for the tags, quadratic in their number.
pub fn with_injections(tm: &Tm, tags: &[Var]) -> Tm {
    tags.iter().enumerate().fold(tm.clone(), |tm, (i, tag)| sub(tm, tag, injection(i, tags.len())))
}

/// The read-back that the paper asks for after Corollary 16: the gradient from the tagged sum `Σ xⱼ′ gⱼ`, each summand
/// written to its place, so that it is linear in the number of variables and summands. `None` if the term is no such sum.
pub fn read_back(sum: &Tm, tags: &[Var]) -> Option<Vec<f64>> {
    let places: rustc_hash::FxHashMap<u64, usize> = tags.iter().enumerate().map(|(i, x)| (x.id, i)).collect();
    let mut gradient = vec![0.0; tags.len()];
    let mut waiting: Vec<&Rc<_>> = vec![sum];
    while let Some(summand) = waiting.pop() {
        match &summand.kind {
            Kind::Add(t, u) => waiting.extend([t, u]),
            Kind::Num(0.0) => {}
            Kind::App(x, g) => {
                let (Kind::Var(x), Kind::Num(g)) = (&x.kind, &g.kind) else { return None };
                *gradient.get_mut(*places.get(&x.id)?)? += g;
            }
            Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::Pair(..) => return None,
            Kind::Sub(..) | Kind::SubPair(..) | Kind::Fun(..) => return None,
        }
    }
    Some(gradient)
}
