//! Arithmetic on reals that may be perturbed.
//!
//! An operation on plain numbers is just computed (and counted). Otherwise the largest tag among the operands is taken;
//! the operation is applied to the parts without that tag, which may be perturbed under smaller tags, and the
//! perturbations under the tag are combined by the operation's rule from `wengert_prim`:
//!
//! * forward: the tangent `(Σ ± cᵢ·ẋᵢ) / d`, computed with this same arithmetic at smaller tags. Absent tangents are
//!   skipped, with their coefficients; a tangent that comes out as exactly 0 is dropped, which makes the result plain.
//! * reverse: an entry on the tape that holds the coefficients (see [`crate::tape`]).
//! * Taylor: coefficient series (see [`crate::series`]).
//!
//! Tests in rules look at the innermost primal values. Derivative code multiplies tangents by `MulZero`, for which an
//! exactly zero tangent or coefficient gives zero at every level, so zeros are strong.

mod flat;

use crate::errors;
use crate::series;
use crate::step::{Context, Failure};
use crate::tape::{Tape, TapeTerm};
use crate::value::{Active, Perturbation, Tag, Value};
use smallvec::SmallVec;
use std::rc::Rc;
use wengert_prim::cost::test_cost;
use wengert_prim::{Expr, RealOp, Rule, Term, Test, rules};

/// Stack that a level of nested perturbations may need, and how much is added when it runs out.
const RED_ZONE: usize = 128 * 1024;
const STACK_STEP: usize = 2 * 1024 * 1024;

/// Operands and results of one operation: at most two.
pub(crate) type Operands = SmallVec<[Value; 2]>;

/// An operation on one real.
pub(crate) fn real1(cx: &mut Context, op: RealOp, x: &Value) -> Result<Value, Failure> {
    if let Value::Real(x) = x {
        cx.flops += op.cost();
        return Ok(Value::Real(op.eval1(*x)));
    }
    perturbed(cx, op, std::slice::from_ref(x))
}

/// An operation on two reals.
pub(crate) fn real2(cx: &mut Context, op: RealOp, x: &Value, y: &Value) -> Result<Value, Failure> {
    if let (Value::Real(x), Value::Real(y)) = (x, y) {
        cx.flops += op.cost();
        return Ok(Value::Real(op.eval2(*x, *y)));
    }
    flat::real2(cx, op, x, y).unwrap_or_else(|| perturbed(cx, op, &[x.clone(), y.clone()]))
}

/// An operation on reals.
pub(crate) fn real(cx: &mut Context, op: RealOp, args: &[Value]) -> Result<Value, Failure> {
    match args {
        [x] => real1(cx, op, x),
        [x, y] => real2(cx, op, x, y),
        _ => Err(errors::internal("a real operation has one or two operands")),
    }
}

/// What a sum of numbers is that begins with 0, from the same without it: never -0.
pub(crate) fn begun_with_zero(sum: Value) -> Value {
    if primal(&sum).to_bits() != (-0.0_f64).to_bits() {
        return sum;
    }
    let Value::Active(active) = sum else { return Value::Real(0.0) };
    let primal = begun_with_zero(active.primal.clone());
    Value::Active(Rc::new(Active::new(active.tag, primal, active.perturbation.clone())))
}

/// The innermost number; NaN for what is not a real.
pub(crate) fn primal(value: &Value) -> f64 {
    let mut value = value;
    loop {
        match value {
            Value::Real(x) => return *x,
            Value::Active(active) => value = &active.primal,
            Value::Int(_)
            | Value::Bool(_)
            | Value::String(_)
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Data(_)
            | Value::Array(_)
            | Value::Fun(_)
            | Value::Dual(_)
            | Value::Cotangent(_) => return f64::NAN,
        }
    }
}

/// The innermost number, to be looked at by a comparison or a conversion: which a custom rule may not do with a tangent.
pub(crate) fn observe(value: &Value) -> Result<f64, Failure> {
    let mut inner = value;
    while let Value::Active(active) = inner {
        // A tangent that a custom rule got, or something made of one.
        if let Perturbation::Reverse { tape, slot } = &active.perturbation
            && tape.is_linear(*slot)
        {
            return Err(errors::nonlinear_rule(tape.rule_name(), "it compares or rounds a tangent"));
        }
        inner = &active.primal;
    }
    Ok(primal(inner))
}

/// Whether this is the plain number 0.
pub(crate) fn is_exact_zero(value: &Value) -> bool {
    matches!(value, Value::Real(x) if *x == 0.0)
}

/// Whether it is zero whatever the inputs of tapes are, as `0 * x` is.
pub(crate) fn stays_zero(value: &Value) -> bool {
    let Value::Active(active) = value else { return is_exact_zero(value) };
    match &active.perturbation {
        Perturbation::Reverse { tape, slot } => {
            tape.lets_nothing_through(*slot) && stays_zero(&active.primal)
        }
        Perturbation::Forward(_) | Perturbation::Series(_) => false,
    }
}

/// The perturbation under `tag`, which is not smaller than the tags in `value`.
pub(crate) fn under(value: &Value, tag: Tag) -> Option<&Rc<Active>> {
    match value {
        Value::Active(active) if active.tag == tag => Some(active),
        Value::Real(_)
        | Value::Active(_)
        | Value::Int(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Tuple(_)
        | Value::Record(_)
        | Value::Data(_)
        | Value::Array(_)
        | Value::Fun(_)
        | Value::Dual(_)
        | Value::Cotangent(_) => None,
    }
}

/// The part of `value` without `tag`, which is not smaller than the tags in it.
pub(crate) fn without(value: &Value, tag: Tag) -> Value {
    under(value, tag).map_or_else(|| value.clone(), |active| active.primal.clone())
}

/// The slot on the tape of that tag, the largest tag in the value.
pub(crate) fn slot_under(value: &Value, tag: Tag) -> Option<u32> {
    match &under(value, tag)?.perturbation {
        Perturbation::Reverse { slot, .. } => Some(*slot),
        Perturbation::Forward(_) | Perturbation::Series(_) => None,
    }
}

/// The tangent under `tag`, the largest tag in the value.
fn tangent_under(value: &Value, tag: Tag) -> Option<Value> {
    match &under(value, tag)?.perturbation {
        Perturbation::Forward(tangent) => Some(tangent.clone()),
        Perturbation::Reverse { .. } | Perturbation::Series(_) => None,
    }
}

fn perturbed(cx: &mut Context, op: RealOp, args: &[Value]) -> Result<Value, Failure> {
    match (op, args) {
        (RealOp::PowInt(0), _) => return Ok(Value::Real(1.0)),
        (RealOp::PowInt(1), [x]) => return Ok(x.clone()),
        (RealOp::MulZero | RealOp::DivZero, [t, _]) if is_exact_zero(t) => return Ok(Value::Real(0.0)),
        (RealOp::MulZero, [_, c]) if is_exact_zero(c) => return Ok(Value::Real(0.0)),
        (_, _) => {}
    }
    let tag = args.iter().filter_map(|arg| if let Value::Active(a) = arg { Some(a.tag) } else { None }).max();
    let Some(tag) = tag else { return Err(errors::internal("a real operation got something else")) };
    // Derivatives of derivatives of one operation may be very many operations.
    cx.work(1)?;
    stacker::maybe_grow(RED_ZONE, STACK_STEP, || {
        let primals: Operands = args.iter().map(|arg| without(arg, tag)).collect();
        let perturbation = args.iter().find_map(|arg| under(arg, tag)).map(|active| &active.perturbation);
        match perturbation {
            Some(Perturbation::Forward(_)) => forward(cx, op, args, &primals, tag),
            Some(Perturbation::Reverse { tape, .. }) => {
                let tape = Rc::clone(tape);
                reverse(cx, op, args, &primals, &tape)
            }
            Some(Perturbation::Series(_)) => series::real(cx, op, args, tag),
            None => Err(errors::internal("no operand has the largest tag")),
        }
    })
}

fn forward(
    cx: &mut Context,
    op: RealOp,
    args: &[Value],
    primals: &[Value],
    tag: Tag,
) -> Result<Value, Failure> {
    let out = real(cx, op, primals)?;
    let tangents: SmallVec<[Option<Value>; 2]> = args.iter().map(|arg| tangent_under(arg, tag)).collect();
    let tangent = tangent(cx, op, primals, &out, &tangents)?;
    Ok(with_tangent(tag, out, tangent))
}

/// A real with this primal and tangent; plain if the tangent is exactly zero.
pub(crate) fn with_tangent(tag: Tag, primal: Value, tangent: Option<Value>) -> Value {
    match tangent {
        Some(tangent) if !is_exact_zero(&tangent) => {
            Value::Active(Rc::new(Active::new(tag, primal, Perturbation::Forward(tangent))))
        }
        Some(_) | None => primal,
    }
}

/// The tangent of `out = op(primals)`, given the tangents of the operands (`None` for zero).
fn tangent(
    cx: &mut Context,
    op: RealOp,
    primals: &[Value],
    out: &Value,
    tangents: &[Option<Value>],
) -> Result<Option<Value>, Failure> {
    let rule = rules::lookup(op);
    let env = Env::new(primals, out);
    let (terms, divisor) = select(cx, &rule, &env);
    let is_case = matches!(*rule, Rule::Case(..));
    // Positive terms first, so that no negation is needed where a subtraction does.
    let mut sum: Option<Value> = None;
    for negative in [false, true] {
        for term in terms.iter().filter(|term| term.negative == negative) {
            let Some(Some(tangent)) = tangents.get(term.arg) else { continue };
            let summand = match &term.coef {
                Some(coef) => {
                    let coef = env.eval(cx, coef)?;
                    real2(cx, RealOp::MulZero, tangent, &coef)?
                }
                // What one of several cases hands on is a number of its own: on a tape, too, it gets its sum before the tangent does.
                None if is_case && matches!(tangent, Value::Active(_)) => {
                    real2(cx, RealOp::MulZero, tangent, &Value::Real(1.0))?
                }
                None => tangent.clone(),
            };
            sum = Some(match (sum, negative) {
                (None, false) => summand,
                (None, true) => real1(cx, RealOp::Neg, &summand)?,
                (Some(sum), false) => real2(cx, RealOp::Add, &sum, &summand)?,
                (Some(sum), true) => real2(cx, RealOp::Sub, &sum, &summand)?,
            });
        }
    }
    match (sum, divisor) {
        (Some(sum), Some(divisor)) => {
            let divisor = env.eval(cx, divisor)?;
            Ok(Some(real2(cx, RealOp::DivZero, &sum, &divisor)?))
        }
        (sum, _) => Ok(sum),
    }
}

fn reverse(
    cx: &mut Context,
    op: RealOp,
    args: &[Value],
    primals: &[Value],
    tape: &Rc<Tape>,
) -> Result<Value, Failure> {
    let slots: SmallVec<[Option<u32>; 2]> = args.iter().map(|arg| slot_under(arg, tape.tag())).collect();
    let linear = linearity(op, primals, &slots, tape)?;
    let out = real(cx, op, primals)?;
    let rule = rules::lookup(op);
    let env = Env::new(primals, &out);
    let (terms, divisor) = select(cx, &rule, &env);
    let mut recorded: SmallVec<[TapeTerm; 2]> = SmallVec::new();
    for term in terms {
        let Some(Some(slot)) = slots.get(term.arg) else { continue };
        let coef = term.coef.as_ref().map(|coef| env.eval(cx, coef)).transpose()?;
        recorded.push(TapeTerm { slot: *slot, negative: term.negative, coef });
    }
    if recorded.is_empty() {
        return Ok(out);
    }
    let divisor = divisor.map(|divisor| env.eval(cx, divisor)).transpose()?;
    let slot = match *rule {
        Rule::Linear { .. } => tape.record(recorded, divisor, linear)?,
        Rule::Case(..) => tape.record_apart(recorded, divisor, linear)?,
    };
    Ok(active_real(tape, out, slot))
}

/// A real on a tape.
fn active_real(tape: &Rc<Tape>, primal: Value, slot: u32) -> Value {
    let perturbation = Perturbation::Reverse { tape: Rc::clone(tape), slot };
    Value::Active(Rc::new(Active::new(tape.tag(), primal, perturbation)))
}

/// Whether the result is linear in tangents that a custom rule got; a failure if it depends on them in another way.
fn linearity(op: RealOp, primals: &[Value], slots: &[Option<u32>], tape: &Tape) -> Result<bool, Failure> {
    if !tape.has_linear() {
        return Ok(false);
    }
    let is_linear = |i: usize| slots.get(i).copied().flatten().is_some_and(|slot| tape.is_linear(slot));
    if !is_linear(0) && !is_linear(1) {
        return Ok(false);
    }
    // An operand that is not a tangent may be added only if it is zero, and stays so.
    let is_zero = |i: usize| {
        let slot = slots.get(i).copied().flatten();
        slot.is_none_or(|slot| tape.lets_nothing_through(slot)) && primals.get(i).is_some_and(stays_zero)
    };
    let fine = if matches!(op, RealOp::Add | RealOp::Sub) {
        (is_linear(0) || is_zero(0)) && (is_linear(1) || is_zero(1))
    } else if matches!(op, RealOp::Mul | RealOp::MulZero) {
        is_linear(0) != is_linear(1)
    } else if matches!(op, RealOp::Div | RealOp::DivZero) {
        is_linear(0) && !is_linear(1)
    } else {
        op == RealOp::Neg
    };
    if fine {
        return Ok(true);
    }
    let what = if matches!(op, RealOp::Add | RealOp::Sub) {
        "it adds a tangent and something else".to_owned()
    } else if matches!(op, RealOp::Mul | RealOp::MulZero) {
        "it multiplies tangents with each other".to_owned()
    } else {
        format!("it applies `{}` to a tangent", op.name())
    };
    Err(errors::nonlinear_rule(tape.rule_name(), &what))
}

/// What the expressions of a rule are about.
struct Env<'a> {
    args: &'a [Value],
    out: &'a Value,
    /// The innermost numbers, for tests.
    plain_args: SmallVec<[f64; 2]>,
    plain_out: f64,
}

impl<'a> Env<'a> {
    fn new(args: &'a [Value], out: &'a Value) -> Env<'a> {
        Env { args, out, plain_args: args.iter().map(primal).collect(), plain_out: primal(out) }
    }

    fn test(&self, cx: &mut Context, test: &Test) -> bool {
        cx.flops += test_cost(test);
        test.holds(&self.plain_args, self.plain_out)
    }

    fn eval(&self, cx: &mut Context, expr: &Expr) -> Result<Value, Failure> {
        match expr {
            Expr::In(i) => Ok(self.args.get(*i).cloned().unwrap_or(Value::Real(f64::NAN))),
            Expr::Out => Ok(self.out.clone()),
            Expr::Const(value) => Ok(Value::Real(*value)),
            Expr::Op(op, operands) => match operands.as_slice() {
                [a] => {
                    let a = self.eval(cx, a)?;
                    real1(cx, *op, &a)
                }
                [a, b] => {
                    let (a, b) = (self.eval(cx, a)?, self.eval(cx, b)?);
                    real2(cx, *op, &a, &b)
                }
                _ => Err(errors::internal("a real operation has one or two operands")),
            },
            Expr::If(test, then, otherwise) => {
                let chosen = if self.test(cx, test) { then } else { otherwise };
                self.eval(cx, chosen)
            }
        }
    }
}

/// The terms and the divisor of the case that applies.
fn select<'r>(cx: &mut Context, rule: &'r Rule, env: &Env<'_>) -> (&'r [Term], Option<&'r Expr>) {
    let mut rule = rule;
    loop {
        match rule {
            Rule::Linear { terms, divisor } => return (terms, divisor.as_ref()),
            Rule::Case(test, then, otherwise) => {
                rule = if env.test(cx, test) { then } else { otherwise };
            }
        }
    }
}

#[cfg(test)]
mod tests;
