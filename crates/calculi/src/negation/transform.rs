//! Table 3: the reverse gradient `D⃖_d` on types and terms; section 2.3's forward `D⃗`; and the terms of Theorem 15 and
//! Corollary 16 around them.

use super::syntax::{
    Kind, Symbol, Tm, Ty, Var, add, app, deep, fun, lam, map_vars, mk, mul, num, op, pair, sub, sub_pair, var,
};
use super::types::type_of;
use std::rc::Rc;
use wengert_prim::{Expr, RealOp, Rule, rules};

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
        (Some(coef), false) if is_plain(coef) => expression(coef, f, xs).unwrap_or_else(opaque),
        (Some(_), _) => opaque(),
    }
}

/// Whether a coefficient is short enough to be written out.
fn is_plain(coef: &Expr) -> bool {
    let leaf = |e: &Expr| matches!(e, Expr::In(_) | Expr::Const(_));
    match coef {
        Expr::Out | Expr::In(_) => true,
        Expr::Op(RealOp::Mul | RealOp::Add, operands) => operands
            .iter()
            .all(|e| leaf(e) || matches!(e, Expr::Op(RealOp::PowInt(_), of) if of.iter().all(leaf))),
        Expr::Op(_, operands) => matches!(operands.as_slice(), [Expr::In(_)]),
        Expr::Const(_) | Expr::If(..) => false,
    }
}

/// A coefficient of a derivative rule of `f` at the variables `xs`.
fn expression(e: &Expr, f: Symbol, xs: &[Tm]) -> Option<Tm> {
    deep(|| match e {
        Expr::In(j) => xs.get(*j).cloned(),
        Expr::Out => Some(fun(f, xs.to_vec())),
        Expr::Const(r) => Some(num(*r)),
        Expr::Op(inner, operands) => {
            let operands: Option<Vec<Tm>> = operands.iter().map(|e| expression(e, f, xs)).collect();
            Some(op(*inner, operands?))
        }
        Expr::If(..) => None,
    })
}

/// `∂f/∂i` written out in symbols of 𝓕 where its rule has no cases: what is needed to differentiate it again.
fn written_out(f: RealOp, i: usize, xs: &[Tm]) -> Option<Tm> {
    let rule = rules::lookup(f);
    let (terms, divisor) = match &*rule {
        Rule::Linear { terms, divisor } => (terms, divisor),
        // Its case is for large arguments only, where this one gives the same.
        Rule::Case(_, _, usual) if f == RealOp::Tanh => match &**usual {
            Rule::Linear { terms, divisor } => (terms, divisor),
            Rule::Case(..) => return None,
        },
        Rule::Case(..) => return None,
    };
    let Some(term) = terms.iter().find(|term| term.arg == i) else { return Some(num(0.0)) };
    let coef = match &term.coef {
        Some(coef) => expression(coef, Symbol::Op(f), xs)?,
        None => num(1.0),
    };
    let signed = if term.negative { op(RealOp::Neg, vec![coef]) } else { coef };
    match divisor {
        Some(divisor) => Some(op(RealOp::Div, vec![signed, expression(divisor, Symbol::Op(f), xs)?])),
        None => Some(signed),
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
pub(crate) enum Mode {
    /// `D⃖_d`
    Reverse(usize),
    /// `D⃗`
    Forward,
}

impl Mode {
    fn ty(self, ty: &Ty) -> Option<Ty> {
        match self {
            Mode::Reverse(d) => reverse_type(ty, d),
            Mode::Forward => forward_type(ty),
        }
    }

    /// The type of the second half of `D(R)`.
    pub(crate) fn second(self) -> Ty {
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
    if let Some(Symbol::Partial(of, i)) = f {
        let ys: Vec<Var> = args.iter().map(|_| Var::exponential("y", Ty::Real)).collect();
        let written = written_out(of, i, &ys.iter().map(var).collect::<Vec<_>>())?;
        let bound = ys.iter().zip(args).fold(written, |tm, (y, arg)| sub(tm, y, arg.clone()));
        return transform(&bound, mode);
    }
    let names = ["w", "v"];
    let fresh = |i: usize| {
        let name = names.get(i).copied().unwrap_or("u");
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

/// `D(t)[x := seed]…` for the transformation of that mode. The `x` are renewed, since the seeds speak of the old ones.
pub(crate) fn seeded(tm: &Tm, seeds: &[(Var, Tm)], mode: Mode) -> Option<Tm> {
    let image = transform(tm, mode)?;
    let renewed = |(x, _): &(Var, Tm)| Some((x.id, Var::exponential(x.name.clone(), mode.ty(&x.ty)?)));
    let names: rustc_hash::FxHashMap<u64, Var> = seeds.iter().map(renewed).collect::<Option<_>>()?;
    let image = map_vars(&image, &mut |x| names.get(&x.id).map(var));
    let bind = |tm, (x, seed): &(Var, Tm)| Some(sub(tm, names.get(&x.id)?, seed.clone()));
    seeds.iter().try_fold(image, bind)
}

/// `λa. x′ a`
pub(crate) fn eta_expanded(tag: &Var) -> Tm {
    let a = Var::linear("a");
    lam(&a, app(var(tag), var(&a)))
}

/// A value of a first-order type as one that does not depend on the variables: `⟨y, λa.0⟩`, or `⟨y, 0⟩`.
pub(crate) fn constant(tm: &Tm, ty: &Ty, mode: Mode) -> Tm {
    match ty {
        Ty::Prod(a, b) => deep(|| {
            let (x, y) = (Var::exponential("y", (**a).clone()), Var::exponential("y'", (**b).clone()));
            let parts = pair(constant(&var(&x), a, mode), constant(&var(&y), b, mode));
            sub_pair(parts, &x, &y, tm.clone())
        }),
        Ty::Real | Ty::Fun(..) | Ty::Neg(_) => pair(tm.clone(), mode.zero()),
    }
}

/// `D⃖_d(t)[x := ⟨x, λa.x′a⟩]` of Theorem 15, where `x` becomes a fresh variable of type R, which is given back.
pub fn tagged(tm: &Tm, xs: &[Var], tags: &[Var], d: usize) -> Option<(Tm, Vec<Var>)> {
    let primals: Vec<Var> = xs.iter().map(|x| Var::exponential(x.name.clone(), Ty::Real)).collect();
    let seeds = primals.iter().zip(tags).map(|(primal, tag)| pair(var(primal), eta_expanded(tag)));
    let seeds: Vec<(Var, Tm)> = xs.iter().cloned().zip(seeds).collect();
    Some((seeded(tm, &seeds, Mode::Reverse(d))?, primals))
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

/// A gradient, and how many operations it took to read it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadBack {
    /// One number for each tag.
    pub gradient: Vec<f64>,
    /// Entries written, summands visited, numbers added.
    pub operations: u64,
}

/// The read-back that the paper asks for after Corollary 16: the gradient from the tagged sum `Σ xⱼ′ gⱼ`, each summand
/// written to its place, so that it is linear in the number of variables and summands. `None` if the term is no such sum.
pub fn read_back(sum: &Tm, tags: &[Var]) -> Option<ReadBack> {
    let places: rustc_hash::FxHashMap<u64, usize> = tags.iter().enumerate().map(|(i, x)| (x.id, i)).collect();
    let (mut gradient, mut operations) = (vec![0.0; tags.len()], tags.len() as u64);
    let mut waiting: Vec<&Rc<_>> = vec![sum];
    while let Some(summand) = waiting.pop() {
        operations += 1;
        match &summand.kind {
            Kind::Add(t, u) => waiting.extend([t, u]),
            Kind::Num(0.0) => {}
            Kind::App(x, g) => {
                let (Kind::Var(x), Kind::Num(g)) = (&x.kind, &g.kind) else { return None };
                operations += 1;
                *gradient.get_mut(*places.get(&x.id)?)? += g;
            }
            Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::Pair(..) => return None,
            Kind::Sub(..) | Kind::SubPair(..) | Kind::Fun(..) => return None,
        }
    }
    Some(ReadBack { gradient, operations })
}
