//! What the primitive functions and those of Figures 8 and 10 do to values.

#![expect(clippy::wildcard_enum_match_arm, reason = "typing excludes all other values")]

use super::errors;
use super::names;
use super::polytypic;
use super::reduce::Machine;
use super::syntax::{Builtin, Compare, Const, IntOp, LeafOp, grow};
use super::value::{Computation, Delta, DeltaMap, DeltaNode, Value};
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};

/// The largest array.
const LONGEST: i64 = 10_000_000;

/// What an application comes to: a value, or work for the machine.
pub(super) enum Outcome {
    Value(Value),
    RunDelta(i64, Value),
    Eval(f64, Delta, Rc<DeltaMap>),
    Eval2(f64, Delta, Vec<f64>, Value),
    Build(Value, usize),
}

/// How many arguments a function takes, one after the other.
fn arity(constant: &Const) -> usize {
    match constant {
        Const::Fun(Builtin::Scale | Builtin::Add | Builtin::RunDelta | Builtin::LookupOrZero) => 2,
        Const::Fun(Builtin::Let | Builtin::Eval | Builtin::Eval2) => 3,
        Const::Fun(Builtin::Zero | Builtin::EmptyMap) => 0,
        Const::Fun(Builtin::OneHot | Builtin::Var | Builtin::DeltaLet) => 1,
        Const::Fun(Builtin::Build | Builtin::Index | Builtin::Length | Builtin::Sequence) => 1,
        Const::Fun(Builtin::Fail) => 1,
        Const::RealOp(_) | Const::Leaf(_) | Const::Overloaded(_) | Const::Poly(..) => 1,
        Const::Real(_) | Const::Int(_) | Const::Str(_) | Const::Unit => 0,
    }
}

/// The rule by which a function takes one more argument than `given`, if that is a step.
pub(super) fn rule(constant: &Const, given: usize) -> Option<&'static str> {
    if given + 1 < arity(constant) {
        return None;
    }
    match constant {
        Const::RealOp(_) | Const::Leaf(_) | Const::Overloaded(_) => Some("op"),
        Const::Poly(poly, _) => Some(names::poly(*poly)),
        Const::Fun(Builtin::LookupOrZero) => Some("lookupOrZero"),
        Const::Fun(Builtin::Build) => Some("build"),
        Const::Fun(Builtin::Index) => Some("index"),
        Const::Fun(Builtin::Length) => Some("length"),
        // Constructors make values, the others are steps of their own.
        Const::Fun(_) | Const::Real(_) | Const::Int(_) | Const::Str(_) | Const::Unit => None,
    }
}

/// A function with the arguments `args` applied to one more.
pub(super) fn apply(
    machine: &mut Machine,
    constant: &Rc<Const>,
    args: &Rc<Vec<Value>>,
    argument: Value,
    span: Span,
) -> Result<Outcome, Diagnostic> {
    if args.len() + 1 < arity(constant) {
        machine.cells += 1;
        let mut args = (**args).clone();
        args.push(argument);
        return Ok(Outcome::Value(Value::Function(Rc::clone(constant), Rc::new(args))));
    }
    let wrong = |what: &str| errors::shape(span, what);
    let value = match &**constant {
        Const::RealOp(op) => {
            machine.operations += op.cost();
            let result = match (&argument, op.arity()) {
                (Value::Real(x), 1) => op.eval1(*x),
                (Value::Pair(cell), 2) => match (&cell.a, &cell.b) {
                    (Value::Real(x), Value::Real(y)) => op.eval2(*x, *y),
                    _ => return Err(wrong(op.name())),
                },
                _ => return Err(wrong(op.name())),
            };
            Value::Real(result)
        }
        Const::Leaf(op) => leaf(*op, &argument, span)?,
        Const::Poly(poly, Some(ty)) => {
            let name = names::poly(*poly);
            let (value, reals) = polytypic::apply(*poly, ty, &argument).ok_or_else(|| wrong(name))?;
            machine.operations += reals;
            machine.cells += reals;
            value
        }
        Const::Fun(builtin) => return function(machine, *builtin, args, argument, span),
        Const::Poly(_, None) | Const::Overloaded(_) => return Err(wrong("an operator")),
        Const::Real(_) | Const::Int(_) | Const::Str(_) | Const::Unit => return Err(wrong("a literal")),
    };
    Ok(Outcome::Value(value))
}

fn leaf(op: LeafOp, argument: &Value, span: Span) -> Result<Value, Diagnostic> {
    let wrong = || errors::shape(span, &names::leaf(op));
    let compare = |compare: Compare, order: Option<std::cmp::Ordering>| {
        Value::truth(match compare {
            Compare::Eq => order.is_some_and(|o| o.is_eq()),
            Compare::Ne => !order.is_some_and(|o| o.is_eq()),
            Compare::Lt => order.is_some_and(|o| o.is_lt()),
            Compare::Le => order.is_some_and(|o| o.is_le()),
        })
    };
    Ok(match (op, argument, argument.halves()) {
        (LeafOp::Int(IntOp::Neg), Value::Int(n), _) => Value::Int(n.wrapping_neg()),
        (LeafOp::ToReal, Value::Int(n), _) => Value::Real(*n as f64),
        (LeafOp::Floor, Value::Real(x), _) => Value::Int(x.floor() as i64),
        (LeafOp::Int(op), _, Some((Value::Int(a), Value::Int(b)))) => Value::Int(match op {
            IntOp::Add => a.wrapping_add(*b),
            IntOp::Sub => a.wrapping_sub(*b),
            IntOp::Mul => a.wrapping_mul(*b),
            IntOp::Div | IntOp::Rem if *b == 0 => return Err(errors::division(span)),
            IntOp::Div => a.wrapping_div(*b),
            IntOp::Rem => a.wrapping_rem(*b),
            IntOp::Neg => return Err(wrong()),
        }),
        (LeafOp::CompareReal(c), _, Some((Value::Real(a), Value::Real(b)))) => compare(c, a.partial_cmp(b)),
        (LeafOp::CompareInt(c), _, Some((Value::Int(a), Value::Int(b)))) => compare(c, Some(a.cmp(b))),
        (LeafOp::CompareString(c), _, Some((Value::Str(a), Value::Str(b)))) => compare(c, Some(a.cmp(b))),
        (LeafOp::Append, _, Some((Value::Str(a), Value::Str(b)))) => Value::Str(format!("{a}{b}").into()),
        _ => return Err(wrong()),
    })
}

fn function(
    machine: &mut Machine,
    builtin: Builtin,
    args: &[Value],
    argument: Value,
    span: Span,
) -> Result<Outcome, Diagnostic> {
    let wrong = || errors::shape(span, names::builtin(builtin));
    let delta = |machine: &mut Machine, node| {
        machine.cells += 1;
        Ok(Outcome::Value(Value::Delta(Rc::new(node))))
    };
    let u = |value: &Value| value.delta().map(Rc::clone).ok_or_else(wrong);
    match (builtin, args, &argument) {
        (Builtin::OneHot, [], Value::Int(i)) => delta(machine, DeltaNode::OneHot(*i)),
        (Builtin::Var, [], Value::Int(i)) => delta(machine, DeltaNode::Var(*i)),
        (Builtin::Scale, [Value::Real(x)], v) => delta(machine, DeltaNode::Scale(*x, u(v)?)),
        (Builtin::Add, [a], b) => delta(machine, DeltaNode::Add(u(a)?, u(b)?)),
        (Builtin::Let, [Value::Int(id), a], b) => delta(machine, DeltaNode::Let(*id, u(a)?, u(b)?)),
        (Builtin::DeltaLet, [], v) => {
            machine.cells += 1;
            Ok(Outcome::Value(Value::Computation(Rc::new(Computation::DeltaLet(u(v)?)))))
        }
        (Builtin::Sequence, [], Value::Vector(items)) => {
            machine.cells += 1;
            Ok(Outcome::Value(Value::Computation(Rc::new(Computation::Sequence(Rc::clone(items))))))
        }
        (Builtin::RunDelta, [Value::Int(first)], _) => Ok(Outcome::RunDelta(*first, argument)),
        (Builtin::Eval, [Value::Real(x), v], Value::Map(map)) => Ok(Outcome::Eval(*x, u(v)?, Rc::clone(map))),
        (Builtin::Eval2, [Value::Real(x), v], shape) => {
            let mut vector = Vec::new();
            reals(shape, &mut vector).ok_or_else(wrong)?;
            Ok(Outcome::Eval2(*x, u(v)?, vector, shape.clone()))
        }
        (Builtin::LookupOrZero, [Value::Int(id)], Value::Map(map)) => {
            Ok(Outcome::Value(Value::Real(map.get(id).copied().unwrap_or(0.0))))
        }
        (Builtin::Length, [], Value::Vector(items)) => {
            Ok(Outcome::Value(Value::Int(i64::try_from(items.len()).unwrap_or(i64::MAX))))
        }
        (Builtin::Index, [], _) => match argument.halves() {
            Some((Value::Vector(items), Value::Int(at))) => {
                let item = usize::try_from(*at).ok().and_then(|at| items.get(at));
                Ok(Outcome::Value(item.ok_or_else(|| errors::index(span, *at, items.len()))?.clone()))
            }
            _ => Err(wrong()),
        },
        (Builtin::Fail, [], Value::Str(text)) => Err(errors::failure(span, text)),
        (Builtin::Build, [], _) => match argument.halves() {
            Some((Value::Int(count), f)) => {
                let size = usize::try_from(*count).ok().filter(|_| *count <= LONGEST);
                Ok(Outcome::Build(f.clone(), size.ok_or_else(|| errors::size(span, *count))?))
            }
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// The reals of a product of reals.
fn reals(value: &Value, out: &mut Vec<f64>) -> Option<()> {
    match value {
        Value::Real(x) => {
            out.push(*x);
            Some(())
        }
        Value::Pair(cell) => grow(|| {
            reals(&cell.a, out)?;
            reals(&cell.b, out)
        }),
        _ => None,
    }
}

/// A product of reals of the shape of another, with these reals.
pub(super) fn fill(shape: &Value, reals: &mut dyn Iterator<Item = f64>) -> Option<Value> {
    match shape {
        Value::Pair(cell) => grow(|| {
            let left = fill(&cell.a, reals)?;
            Some(Value::pair(left, fill(&cell.b, reals)?))
        }),
        _ => reals.next().map(Value::Real),
    }
}
