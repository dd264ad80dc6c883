//! An independent interpretation, for Theorem 5.6: smooth functions of numbers with infinitesimals.
//!
//! A number is a polynomial in generators `e` with `e² = 0`. A smooth function extends to these, at every type: `T f`
//! takes `⟨x′, x⟩` to the coefficients of `f(x + x′e)`, with an `e` that occurs nowhere else. At function types they are
//! found when the function is applied, again with a new `e`; this is what keeps perturbations apart.

use crate::perturbative::syntax::{Const, Half, Kind, Shape, Term, Var};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_prim::{Expr, RealOp, Rule, Test, rules};

/// A polynomial: coefficients by products of generators, each product in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Number(BTreeMap<Vec<u32>, f64>);

type Function = Rc<dyn Fn(Value) -> Value>;

/// An element of the interpretation of a type.
#[derive(Clone)]
pub(super) enum Value {
    /// Zero, of every type.
    Zero,
    Number(Number),
    Pair(Rc<Value>, Rc<Value>),
    Function(Function),
}

/// Values of variables.
pub(super) type Env = Option<Rc<Bound>>;

/// One of them, and the others.
pub(super) struct Bound(Var, Value, Env);

impl Number {
    pub(super) fn plain(r: f64) -> Number {
        Number(BTreeMap::from([(Vec::new(), r)]))
    }

    pub(super) fn standard(&self) -> f64 {
        self.0.get(&Vec::new()).copied().unwrap_or(0.0)
    }

    fn plus(&self, other: &Number) -> Number {
        let mut sum = self.0.clone();
        for (product, r) in &other.0 {
            *sum.entry(product.clone()).or_default() += r;
        }
        Number(sum)
    }

    fn times_generator(&self, e: u32) -> Number {
        let without = self.0.iter().filter(|(product, _)| !product.contains(&e));
        Number(
            without
                .map(|(product, r)| {
                    let mut product = product.clone();
                    product.push(e);
                    product.sort_unstable();
                    (product, *r)
                })
                .collect(),
        )
    }

    /// `a` and `b` of `a + b·e`.
    fn split(&self, e: u32) -> (Number, Number) {
        let (mut a, mut b) = (Number::default(), Number::default());
        for (product, r) in &self.0 {
            if product.contains(&e) {
                b.0.insert(product.iter().copied().filter(|f| *f != e).collect(), *r);
            } else {
                a.0.insert(product.clone(), *r);
            }
        }
        (a, b)
    }

    fn last_generator(&self) -> Option<u32> {
        self.0.keys().filter_map(|product| product.last().copied()).max()
    }
}

fn fresh() -> u32 {
    thread_local!(static NEXT: Cell<u32> = const { Cell::new(0) });
    NEXT.with(|next| next.replace(next.get() + 1))
}

/// The extension of an operation, by its derivative along one generator after the other.
fn operate(f: RealOp, args: &[Number]) -> Number {
    let Some(e) = args.iter().filter_map(Number::last_generator).max() else {
        let plain: Vec<f64> = args.iter().map(Number::standard).collect();
        return Number::plain(f.eval(&plain));
    };
    let (at, along): (Vec<Number>, Vec<Number>) = args.iter().map(|arg| arg.split(e)).unzip();
    let out = operate(f, &at);
    let slope = derivative(&rules::lookup(f), &at, &out, &along);
    out.plus(&slope.times_generator(e))
}

fn derivative(rule: &Rule, at: &[Number], out: &Number, along: &[Number]) -> Number {
    match rule {
        Rule::Linear { terms, divisor } => {
            let mut total = Number::default();
            for term in terms {
                let mut summand = along[term.arg].clone();
                if let Some(coef) = &term.coef {
                    summand = operate(RealOp::Mul, &[summand, expression(coef, at, out)]);
                }
                if term.negative {
                    summand = operate(RealOp::Neg, &[summand]);
                }
                total = total.plus(&summand);
            }
            match divisor {
                Some(divisor) => operate(RealOp::Div, &[total, expression(divisor, at, out)]),
                None => total,
            }
        }
        Rule::Case(test, then, otherwise) => {
            derivative(if holds(test, at, out) { then } else { otherwise }, at, out, along)
        }
    }
}

fn expression(expr: &Expr, at: &[Number], out: &Number) -> Number {
    match expr {
        Expr::In(i) => at[*i].clone(),
        Expr::Out => out.clone(),
        Expr::Const(r) => Number::plain(*r),
        Expr::Op(f, args) => {
            operate(*f, &args.iter().map(|arg| expression(arg, at, out)).collect::<Vec<_>>())
        }
        Expr::If(test, then, otherwise) => {
            expression(if holds(test, at, out) { then } else { otherwise }, at, out)
        }
    }
}

fn holds(test: &Test, at: &[Number], out: &Number) -> bool {
    let standard = |expr: &Expr| expression(expr, at, out).standard();
    match test {
        Test::Eq(a, b) => standard(a) == standard(b),
        Test::Lt(a, b) => standard(a) < standard(b),
        Test::Le(a, b) => standard(a) <= standard(b),
        Test::Or(a, b) => holds(a, at, out) || holds(b, at, out),
    }
}

impl Value {
    /// One half of an element of a product.
    pub(super) fn half(&self, k: Half) -> Value {
        match (self, k) {
            (Value::Pair(a, _), Half::First) => a.as_ref().clone(),
            (Value::Pair(_, b), Half::Second) => b.as_ref().clone(),
            _ => Value::Zero,
        }
    }

    pub(super) fn number(&self) -> Number {
        match self {
            Value::Number(r) => r.clone(),
            _ => Number::default(),
        }
    }

    fn apply(&self, argument: Value) -> Value {
        match self {
            Value::Function(f) => f(argument),
            _ => Value::Zero,
        }
    }

    fn plus(&self, other: &Value) -> Value {
        match (self, other) {
            (Value::Zero, value) | (value, Value::Zero) => value.clone(),
            (Value::Number(a), Value::Number(b)) => Value::Number(a.plus(b)),
            (Value::Function(f), Value::Function(g)) => {
                let (f, g) = (f.clone(), g.clone());
                Value::Function(Rc::new(move |x| f(x.clone()).plus(&g(x))))
            }
            _ => {
                let half = |k| Rc::new(self.half(k).plus(&other.half(k)));
                Value::Pair(half(Half::First), half(Half::Second))
            }
        }
    }

    /// `e` times the value.
    fn infinitesimal(&self, e: u32) -> Value {
        match self {
            Value::Zero => Value::Zero,
            Value::Number(r) => Value::Number(r.times_generator(e)),
            Value::Pair(a, b) => Value::Pair(Rc::new(a.infinitesimal(e)), Rc::new(b.infinitesimal(e))),
            Value::Function(f) => {
                let f = f.clone();
                Value::Function(Rc::new(move |x| f(x).infinitesimal(e)))
            }
        }
    }
}

/// The coefficient of `e` in `curve(e)`.
fn velocity(curve: Rc<dyn Fn(u32) -> Value>) -> Value {
    let e = fresh();
    match curve(e) {
        Value::Zero => Value::Zero,
        Value::Number(r) => Value::Number(r.split(e).1),
        Value::Pair(..) => {
            let half = |k: Half| {
                let curve = curve.clone();
                Rc::new(velocity(Rc::new(move |e| curve(e).half(k))))
            };
            Value::Pair(half(Half::First), half(Half::Second))
        }
        Value::Function(_) => Value::Function(Rc::new(move |x| {
            let curve = curve.clone();
            velocity(Rc::new(move |e| curve(e).apply(x.clone())))
        })),
    }
}

fn pushforward(f: Value) -> Value {
    Value::Function(Rc::new(move |z| {
        let (along, at) = (z.half(Half::First), z.half(Half::Second));
        let primal = f.apply(at.clone());
        let f = f.clone();
        let perturbation = velocity(Rc::new(move |e| f.apply(at.plus(&along.infinitesimal(e)))));
        Value::Pair(Rc::new(perturbation), Rc::new(primal))
    }))
}

fn primitive(c: Const) -> Value {
    Value::Function(Rc::new(move |argument| {
        let two = |v: &Value| [v.half(Half::First), v.half(Half::Second)];
        match (c, c.shape()) {
            (Const::Op(f), Shape::Real) => Value::Number(operate(f, &[argument.number()])),
            (Const::Op(f), _) => Value::Number(operate(f, &two(&argument).map(|v| v.number()))),
            (Const::Choose(compare), _) => {
                let [compared, branches] = two(&argument);
                let [a, b] = two(&compared).map(|v| v.number().standard());
                branches.half(if compare.holds(a, b) { Half::First } else { Half::Second })
            }
        }
    }))
}

/// The denotation of a term.
pub(super) fn denotation(term: &Term, env: &Env) -> Value {
    match term.kind() {
        Kind::Var(x) => {
            let mut at = env;
            while let Some(bound) = at {
                if bound.0 == x {
                    return bound.1.clone();
                }
                at = &bound.2;
            }
            Value::Zero
        }
        Kind::Num(r) => Value::Number(Number::plain(r)),
        Kind::Const(c) => primitive(c),
        Kind::Lam(x, s) => {
            let env = env.clone();
            Value::Function(Rc::new(move |value| {
                denotation(&s, &Some(Rc::new(Bound(x.clone(), value, env.clone()))))
            }))
        }
        Kind::App(s, n) => denotation(&s, env).apply(denotation(&n, env)),
        Kind::Push(s) => pushforward(denotation(&s, env)),
        Kind::Inj(Half::First, s) => Value::Pair(Rc::new(denotation(&s, env)), Rc::new(Value::Zero)),
        Kind::Inj(Half::Second, s) => Value::Pair(Rc::new(Value::Zero), Rc::new(denotation(&s, env))),
        Kind::Proj(k, s) => denotation(&s, env).half(k),
        Kind::Sum(parts) => parts.iter().fold(Value::Zero, |sum, part| sum.plus(&denotation(part, env))),
        Kind::Same(s) => denotation(&s, env),
    }
}
