//! Dual numbers without names, as section 2 warns of them: `T f` calls `f` with overloaded primitives. Perturbations of
//! nested pushforwards are all the same `ε`, and get confused; the calculus does not use this.

use super::syntax::{Const, Half, Kind, Term, Var, deep};
use std::rc::Rc;

/// A value of the evaluator.
#[derive(Clone, Debug)]
pub enum Value {
    /// `x + x′ε`
    Dual(f64, f64),
    /// `⟨a, b⟩`
    Pair(Rc<Value>, Rc<Value>),
    /// A function with the values of its variables.
    Closure(Var, Term, Env),
    /// A primitive function.
    Const(Const),
    /// `T f`
    Pushed(Rc<Value>),
}

/// The values of variables, innermost first.
pub type Env = Option<Rc<Bound>>;

/// One variable of an environment.
#[derive(Debug)]
pub struct Bound {
    x: Var,
    value: Value,
    rest: Env,
}

/// Parts of terms that are evaluated at most. Values and environments are no deeper, so that they are dropped by recursion.
const MOST_WORK: u64 = 30_000;

/// Parts of a value that are written at most: a pair of a pair with itself, and so on, has many.
const MOST_TEXT: u64 = 10_000;

/// The value of a closed term, see [`evaluate`].
pub fn value(term: &Term) -> Option<Value> {
    evaluate(term, &None, &mut MOST_WORK.clone())
}

impl Value {
    /// As text: `x + x′ε` for a number; `None` if it would be long.
    pub fn text(&self) -> Option<String> {
        self.written(&mut MOST_TEXT.clone())
    }

    fn written(&self, left: &mut u64) -> Option<String> {
        *left = left.checked_sub(1)?;
        deep(|| {
            Some(match self {
                Value::Dual(x, 0.0) => super::print::number(*x),
                Value::Dual(x, dx) => {
                    format!("{} + {}ε", super::print::number(*x), super::print::number(*dx))
                }
                Value::Pair(a, b) => format!("⟨{}, {}⟩", a.written(left)?, b.written(left)?),
                Value::Closure(..) | Value::Const(_) | Value::Pushed(_) => "a function".into(),
            })
        })
    }
}

/// The value of a term; `None` where the naive method has none: sums of functions and pushforwards at other types than
/// numbers and pairs of them; and where it takes long.
fn evaluate(term: &Term, env: &Env, left: &mut u64) -> Option<Value> {
    *left = left.checked_sub(1)?;
    deep(|| match term.kind() {
        Kind::Var(x) => {
            let mut at = env.as_ref();
            while let Some(bound) = at {
                if bound.x == x {
                    return Some(bound.value.clone());
                }
                at = bound.rest.as_ref();
            }
            None
        }
        Kind::Num(r) => Some(Value::Dual(r, 0.0)),
        Kind::Const(c) => Some(Value::Const(c)),
        Kind::Lam(x, s) => Some(Value::Closure(x, s, env.clone())),
        Kind::App(s, n) => {
            let function = evaluate(&s, env, left)?;
            let argument = evaluate(&n, env, left)?;
            apply(&function, argument, left)
        }
        Kind::Push(s) => Some(Value::Pushed(Rc::new(evaluate(&s, env, left)?))),
        Kind::Inj(k, s) => {
            let (this, other) = (Rc::new(evaluate(&s, env, left)?), Rc::new(Value::Dual(0.0, 0.0)));
            Some(match k {
                Half::First => Value::Pair(this, other),
                Half::Second => Value::Pair(other, this),
            })
        }
        Kind::Proj(k, s) => match (evaluate(&s, env, left)?, k) {
            (Value::Pair(a, _), Half::First) => Some(a.as_ref().clone()),
            (Value::Pair(_, b), Half::Second) => Some(b.as_ref().clone()),
            (Value::Dual(..), _) => Some(Value::Dual(0.0, 0.0)),
            (Value::Closure(..) | Value::Const(_) | Value::Pushed(_), _) => None,
        },
        Kind::Sum(parts) => {
            let mut parts = parts.iter().map(|part| evaluate(part, env, left));
            let Some(first) = parts.next() else { return Some(Value::Dual(0.0, 0.0)) };
            parts.try_fold(first?, |total, part| add(&total, &part?))
        }
        Kind::Same(s) => evaluate(&s, env, left),
    })
}

fn add(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Dual(x, dx), Value::Dual(y, dy)) => Some(Value::Dual(x + y, dx + dy)),
        (Value::Pair(a1, a2), Value::Pair(b1, b2)) => {
            Some(Value::Pair(add(a1, b1)?.into(), add(a2, b2)?.into()))
        }
        (Value::Dual(0.0, 0.0), other) | (other, Value::Dual(0.0, 0.0)) => Some(other.clone()),
        (Value::Dual(..) | Value::Pair(..) | Value::Closure(..) | Value::Const(_) | Value::Pushed(_), _) => {
            None
        }
    }
}

fn apply(function: &Value, argument: Value, left: &mut u64) -> Option<Value> {
    match function {
        Value::Closure(x, body, env) => {
            let env = Some(Rc::new(Bound { x: x.clone(), value: argument, rest: env.clone() }));
            evaluate(body, &env, left)
        }
        Value::Const(c) => {
            let mut numbers = Vec::new();
            leaves(&argument, &mut numbers)?;
            let (primals, tangents): (Vec<f64>, Vec<f64>) = numbers.into_iter().unzip();
            let out = c.eval(&primals);
            Some(match c {
                Const::Op(op) => {
                    Value::Dual(out, wengert_prim::rules::lookup(*op).tangent(&primals, out, &tangents))
                }
                Const::Choose(compare) => {
                    let (a, b) = (primals.first()?, primals.get(1)?);
                    Value::Dual(out, *tangents.get(if compare.holds(*a, *b) { 2 } else { 3 })?)
                }
            })
        }
        Value::Pushed(f) => {
            let Value::Pair(perturbation, primal) = argument else { return None };
            // `x + x′ε`, whatever perturbation x itself has: this is the confusion.
            let result = apply(f, combined(&primal, &perturbation, left)?, left)?;
            Some(Value::Pair(
                part(&result, Half::First, left)?.into(),
                part(&result, Half::Second, left)?.into(),
            ))
        }
        Value::Dual(..) | Value::Pair(..) => None,
    }
}

fn leaves(value: &Value, out: &mut Vec<(f64, f64)>) -> Option<()> {
    match value {
        Value::Dual(x, dx) => out.push((*x, *dx)),
        Value::Pair(a, b) => {
            leaves(a, out)?;
            leaves(b, out)?;
        }
        Value::Closure(..) | Value::Const(_) | Value::Pushed(_) => return None,
    }
    Some(())
}

fn combined(primal: &Value, perturbation: &Value, left: &mut u64) -> Option<Value> {
    *left = left.checked_sub(1)?;
    match (primal, perturbation) {
        (Value::Dual(x, dx), Value::Dual(t, _)) => Some(Value::Dual(*x, dx + t)),
        (Value::Pair(a, b), Value::Pair(s, t)) => {
            Some(Value::Pair(combined(a, s, left)?.into(), combined(b, t, left)?.into()))
        }
        (Value::Dual(..) | Value::Pair(..) | Value::Closure(..) | Value::Const(_) | Value::Pushed(_), _) => {
            None
        }
    }
}

/// `E` of section 2, and the primal.
fn part(value: &Value, half: Half, left: &mut u64) -> Option<Value> {
    *left = left.checked_sub(1)?;
    match value {
        Value::Dual(x, dx) => Some(Value::Dual(if half == Half::First { *dx } else { *x }, 0.0)),
        Value::Pair(a, b) => Some(Value::Pair(part(a, half, left)?.into(), part(b, half, left)?.into())),
        Value::Closure(..) | Value::Const(_) | Value::Pushed(_) => None,
    }
}
