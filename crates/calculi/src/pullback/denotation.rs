//! The model of section 4 in smooth functions, to judge reductions by: types are vector spaces of numbers and functions,
//! `(λx.S₁)*·S₂` is composition, `(Ω λx.P)·S` is `λx v. S (P x) (D[P]⟨v,x⟩)` (appendix C).
//!
//! D[f]⟨v,x⟩ is the ε-part of `f (x + εv)` with a fresh ε, ε² = 0, at any type: `f + εg` is `λa. f a + ε (g a)`. Numbers may carry
//! several ε, the newest outermost. Nothing here is shared with the reducer but the table of primitives.

use super::func::{Func, Instr};
use super::syntax::{Kind, Pat, PatKind, Term, Type, TypeKind, Var};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;
use wengert_prim::{Expr, RealOp, Rule, Test, rules};

/// A number with infinitesimal parts.
#[derive(Clone, Debug)]
pub(super) enum Num {
    Plain(f64),
    /// a + b·ε
    Eps(u32, Rc<Num>, Rc<Num>),
}

/// A value.
#[derive(Clone)]
pub(super) enum Val {
    Num(Num),
    Pair(Rc<Val>, Rc<Val>),
    Fun(Rc<dyn Fn(&Val) -> Val>),
}

pub(super) type Env = Rc<FxHashMap<u32, Val>>;

impl Num {
    fn tag(&self) -> Option<u32> {
        match self {
            Num::Plain(_) => None,
            Num::Eps(tag, ..) => Some(*tag),
        }
    }

    fn split(&self, tag: u32) -> (Num, Num) {
        match self {
            Num::Eps(own, a, b) if *own == tag => ((**a).clone(), (**b).clone()),
            Num::Eps(..) | Num::Plain(_) => (self.clone(), Num::Plain(0.0)),
        }
    }

    pub(super) fn plain(&self) -> f64 {
        match self {
            Num::Plain(x) => *x,
            Num::Eps(_, a, _) => a.plain(),
        }
    }

    fn part(&self, tag: u32) -> Num {
        match self {
            Num::Eps(own, _, b) if *own == tag => (**b).clone(),
            Num::Eps(own, a, b) if *own > tag => Num::Eps(*own, Rc::new(a.part(tag)), Rc::new(b.part(tag))),
            Num::Eps(..) | Num::Plain(_) => Num::Plain(0.0),
        }
    }
}

/// An operation on numbers with infinitesimals.
fn apply(op: RealOp, args: &[Num]) -> Num {
    let Some(tag) = args.iter().filter_map(Num::tag).max() else {
        let plain: Vec<f64> = args.iter().map(Num::plain).collect();
        return Num::Plain(op.eval(&plain));
    };
    let (primal, tangents): (Vec<Num>, Vec<Num>) = args.iter().map(|arg| arg.split(tag)).unzip();
    let out = apply(op, &primal);
    let rule = rules::lookup(op);
    let mut rule: &Rule = &rule;
    let tangent = loop {
        match rule {
            Rule::Case(test, then, otherwise) => {
                rule = if holds(test, &primal, &out) { then } else { otherwise }
            }
            Rule::Linear { terms, divisor } => {
                let sum = terms.iter().fold(Num::Plain(0.0), |sum, term| {
                    let mut summand = tangents[term.arg].clone();
                    if let Some(coef) = &term.coef {
                        summand = apply(RealOp::Mul, &[summand, expr(coef, &primal, &out)]);
                    }
                    apply(if term.negative { RealOp::Sub } else { RealOp::Add }, &[sum, summand])
                });
                break match divisor {
                    Some(divisor) => apply(RealOp::Div, &[sum, expr(divisor, &primal, &out)]),
                    None => sum,
                };
            }
        }
    };
    Num::Eps(tag, Rc::new(out), Rc::new(tangent))
}

fn expr(e: &Expr, args: &[Num], out: &Num) -> Num {
    match e {
        Expr::In(i) => args[*i].clone(),
        Expr::Out => out.clone(),
        Expr::Const(x) => Num::Plain(*x),
        Expr::Op(op, operands) => {
            let operands: Vec<Num> = operands.iter().map(|e| expr(e, args, out)).collect();
            apply(*op, &operands)
        }
        Expr::If(test, a, b) => expr(if holds(test, args, out) { a } else { b }, args, out),
    }
}

fn holds(test: &Test, args: &[Num], out: &Num) -> bool {
    let plain = |e: &Expr| expr(e, args, out).plain();
    match test {
        Test::Eq(a, b) => plain(a) == plain(b),
        Test::Lt(a, b) => plain(a) < plain(b),
        Test::Le(a, b) => plain(a) <= plain(b),
        Test::Or(a, b) => holds(a, args, out) || holds(b, args, out),
    }
}

fn call(f: &Func, args: &[Num]) -> Vec<Num> {
    match f {
        Func::Prim(op) => vec![apply(*op, args)],
        Func::Scale(r) => vec![apply(RealOp::Mul, &[Num::Plain(*r), args[0].clone()])],
        Func::Defined(def) => {
            let mut values: Vec<Num> = Vec::new();
            for instr in &def.code {
                values.push(match instr {
                    Instr::Input(k) => args[*k].clone(),
                    Instr::Const(x) => Num::Plain(*x),
                    Instr::Op(op, operands) => {
                        let operands: Vec<Num> = operands.iter().map(|i| values[*i].clone()).collect();
                        apply(*op, &operands)
                    }
                });
            }
            def.outputs.iter().map(|i| values[*i].clone()).collect()
        }
    }
}

impl Val {
    pub(super) fn apply(&self, arg: &Val) -> Val {
        match self {
            Val::Fun(f) => f(arg),
            Val::Num(_) | Val::Pair(..) => panic!("a function is needed"),
        }
    }

    fn component(&self, index: u8) -> Val {
        match self {
            Val::Pair(a, b) => if index == 1 { a } else { b }.as_ref().clone(),
            Val::Num(_) | Val::Fun(_) => panic!("a pair is needed"),
        }
    }

    pub(super) fn leaves(&self, out: &mut Vec<Num>) {
        match self {
            Val::Num(x) => out.push(x.clone()),
            Val::Pair(a, b) => {
                a.leaves(out);
                b.leaves(out);
            }
            Val::Fun(_) => panic!("a vector is needed"),
        }
    }

    fn part(&self, tag: u32) -> Val {
        match self {
            Val::Num(x) => Val::Num(x.part(tag)),
            Val::Pair(a, b) => Val::Pair(Rc::new(a.part(tag)), Rc::new(b.part(tag))),
            Val::Fun(f) => {
                let f = f.clone();
                Val::Fun(Rc::new(move |a| f(a).part(tag)))
            }
        }
    }
}

/// a + k·b, at any type.
fn plus(a: &Val, b: &Val, k: &Num) -> Val {
    match (a, b) {
        (Val::Num(x), Val::Num(y)) => {
            Val::Num(apply(RealOp::Add, &[x.clone(), apply(RealOp::Mul, &[k.clone(), y.clone()])]))
        }
        (Val::Pair(a1, a2), Val::Pair(b1, b2)) => {
            Val::Pair(Rc::new(plus(a1, b1, k)), Rc::new(plus(a2, b2, k)))
        }
        (Val::Fun(f), Val::Fun(g)) => {
            let (f, g, k) = (f.clone(), g.clone(), k.clone());
            Val::Fun(Rc::new(move |x| plus(&f(x), &g(x), &k)))
        }
        _ => panic!("values of different types"),
    }
}

/// D[f]⟨v,x⟩
pub(super) fn differential(f: &dyn Fn(&Val) -> Val, v: &Val, x: &Val) -> Val {
    thread_local!(static NEXT: Cell<u32> = const { Cell::new(0) });
    let tag = NEXT.with(|next| next.replace(next.get() + 1));
    let eps = Num::Eps(tag, Rc::new(Num::Plain(0.0)), Rc::new(Num::Plain(1.0)));
    f(&plus(x, v, &eps)).part(tag)
}

pub(super) fn zero(ty: &Type) -> Val {
    match ty.kind() {
        TypeKind::Real => Val::Num(Num::Plain(0.0)),
        TypeKind::Product(a, b) => Val::Pair(Rc::new(zero(a)), Rc::new(zero(b))),
        TypeKind::Function(_, b) => {
            let b = zero(b);
            Val::Fun(Rc::new(move |_| b.clone()))
        }
        TypeKind::Dual(_) => Val::Fun(Rc::new(|_| Val::Num(Num::Plain(0.0)))),
    }
}

fn vector(numbers: Vec<Num>) -> Val {
    let all = numbers.into_iter().map(Val::Num);
    all.reduce(|a, b| Val::Pair(Rc::new(a), Rc::new(b))).expect("a vector has entries")
}

fn bind(env: &Env, pat: &Pat, value: &Val) -> Env {
    let mut inner = (**env).clone();
    let mut stack = vec![(pat.clone(), value.clone())];
    while let Some((pat, value)) = stack.pop() {
        match pat.kind() {
            PatKind::Var(var) => {
                inner.insert(var.id(), value);
            }
            PatKind::Pair(a, b) => {
                stack.push((b.clone(), value.component(2)));
                stack.push((a.clone(), value.component(1)));
            }
        }
    }
    Rc::new(inner)
}

/// ⟦term⟧env
pub(super) fn eval(term: &Term, env: &Env) -> Val {
    let leaves = |term: &Term| {
        let mut out = Vec::new();
        eval(term, env).leaves(&mut out);
        out
    };
    let function = |pat: &Pat, body: &Term| {
        let (pat, body, env) = (pat.clone(), body.clone(), env.clone());
        move |x: &Val| eval(&body, &bind(&env, &pat, x))
    };
    match term.kind() {
        Kind::Zero => zero(term.ty()),
        Kind::Var(var) => env[&var.id()].clone(),
        Kind::Real(x) => Val::Num(Num::Plain(*x)),
        Kind::Lam(pat, body) => Val::Fun(Rc::new(function(pat, body))),
        Kind::App(f, a) => eval(f, env).apply(&eval(a, env)),
        Kind::Let(var, value, body) => eval(body, &bind(env, &Pat::var(var.clone()), &eval(value, env))),
        Kind::Proj(i, a) => eval(a, env).component(*i),
        Kind::Pair(a, b) => Val::Pair(Rc::new(eval(a, env)), Rc::new(eval(b, env))),
        Kind::Fun(f, a) => vector(call(f, &leaves(a))),
        Kind::Jac(f, a) => {
            let (f, along) = (f.clone(), eval(a, env));
            Val::Fun(Rc::new(move |x| {
                let f = |x: &Val| {
                    let mut args = Vec::new();
                    x.leaves(&mut args);
                    vector(call(&f, &args))
                };
                differential(&f, &along, x)
            }))
        }
        Kind::DualConst(r) => {
            let r = leaves(r);
            Val::Fun(Rc::new(move |v| {
                let mut v_leaves = Vec::new();
                v.leaves(&mut v_leaves);
                Val::Num(r.iter().zip(v_leaves).fold(Num::Plain(0.0), |sum, (r, v)| {
                    apply(RealOp::Add, &[sum, apply(RealOp::Mul, &[r.clone(), v])])
                }))
            }))
        }
        Kind::DualMap(pat, body, s) => {
            let (f, s) = (function(pat, body), eval(s, env));
            Val::Fun(Rc::new(move |v| s.apply(&f(v))))
        }
        Kind::Pull(pat, body, s) => {
            let (f, s) = (Rc::new(function(pat, body)), eval(s, env));
            Val::Fun(Rc::new(move |x| {
                let (f, s, x) = (f.clone(), s.apply(&f(x)), x.clone());
                Val::Fun(Rc::new(move |v| s.apply(&differential(&*f, v, &x))))
            }))
        }
        Kind::Sum(a, b) => plus(&eval(a, env), &eval(b, env), &Num::Plain(1.0)),
        Kind::Diff(f, a) => {
            let (f, v) = (eval(f, env), eval(a, env));
            Val::Fun(Rc::new(move |x| differential(&|x| f.apply(x), &v, x)))
        }
    }
}

/// An element of the type, the same for the same seed; functions are smooth, functionals linear.
pub(super) fn sample(ty: &Type, seed: u32) -> Val {
    let number = f64::from((seed.wrapping_mul(2_654_435_761) >> 8) % 1000) / 700.0 - 0.6;
    match ty.kind() {
        TypeKind::Real => Val::Num(Num::Plain(number)),
        TypeKind::Product(a, b) => Val::Pair(
            Rc::new(sample(a, seed.wrapping_mul(3) + 1)),
            Rc::new(sample(b, seed.wrapping_mul(5) + 2)),
        ),
        TypeKind::Function(a, b) => {
            let (a, base, slope) = (a.clone(), sample(b, seed + 11), sample(b, seed + 17));
            Val::Fun(Rc::new(move |x| {
                let x = apply(RealOp::Sin, &[functional(&a, x, seed + 5)]);
                plus(&base, &slope, &x)
            }))
        }
        TypeKind::Dual(a) => {
            let a = a.clone();
            Val::Fun(Rc::new(move |v| Val::Num(functional(&a, v, seed + 7))))
        }
    }
}

/// A linear functional.
fn functional(ty: &Type, v: &Val, seed: u32) -> Num {
    let Val::Num(weight) = sample(&Type::real(), seed) else { panic!("a number") };
    match (ty.kind(), v) {
        (TypeKind::Real, Val::Num(x)) => apply(RealOp::Mul, &[weight, x.clone()]),
        (TypeKind::Product(a, b), Val::Pair(x, y)) => {
            apply(RealOp::Add, &[functional(a, x, seed + 1), functional(b, y, seed + 2)])
        }
        (TypeKind::Function(a, b), Val::Fun(f)) => functional(b, &f(&sample(a, seed + 3)), seed + 4),
        (TypeKind::Dual(a), Val::Fun(f)) => functional(&Type::real(), &f(&sample(a, seed + 3)), seed + 4),
        _ => panic!("a value of another type"),
    }
}

/// Whether the values agree at some samples.
pub(super) fn close(ty: &Type, a: &Val, b: &Val, seed: u32) -> bool {
    match (ty.kind(), a, b) {
        (TypeKind::Real, Val::Num(x), Val::Num(y)) => {
            let (x, y) = (x.plain(), y.plain());
            x == y
                || (x - y).abs() <= 1e-7 * (1.0 + x.abs().max(y.abs()))
                || (x.is_nan() && y.is_nan())
                || x.abs().max(y.abs()) > 1e9
        }
        (TypeKind::Product(s, t), Val::Pair(a1, a2), Val::Pair(b1, b2)) => {
            close(s, a1, b1, seed) && close(t, a2, b2, seed)
        }
        (TypeKind::Function(s, t), Val::Fun(f), Val::Fun(g)) => {
            let x = sample(s, seed + 23);
            close(t, &f(&x), &g(&x), seed + 29)
        }
        (TypeKind::Dual(s), Val::Fun(f), Val::Fun(g)) => {
            let v = sample(s, seed + 31);
            close(&Type::real(), &f(&v), &g(&v), seed)
        }
        _ => false,
    }
}

/// Samples for these free variables.
pub(super) fn environment(vars: &[Var]) -> Env {
    Rc::new(vars.iter().enumerate().map(|(i, var)| (var.id(), sample(var.ty(), i as u32 * 13 + 3))).collect())
}
