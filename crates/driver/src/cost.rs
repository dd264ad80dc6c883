//! The cost of a function and of its derivatives, counted.
//!
//! For an entry `f` and arguments `x` three programs are run: `f x` itself, `jvp f (x, t)`, and `vjp f x` with its result
//! applied to a cotangent `w`. Several arguments are taken as one tuple. Tangent and cotangent are 1 everywhere: exact
//! zeros would be skipped and make derivatives look cheaper than they are. The calls are built as core terms, so that what is
//! counted is what a program that calls the operators executes.

use crate::engine::Evaluator;
use crate::errors;
use crate::json::decode::DataTypes;
use crate::session::Call;
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Binder, Def, Program, Scheme, Term, TermKind, Type, TypeArg, Var};
use wengert_interp::value::{Array, Buffer, Data, Fields, Record, Value};
use wengert_prim::Prim;

/// Counted floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Of the function.
    pub primal: u64,
    /// Of its value and directional derivative.
    pub jvp: u64,
    /// Of its value and pullback.
    pub vjp: u64,
}

/// Counts the operations of a call and of its derivatives.
pub(crate) fn count(call: &Call, entry: &str, evaluator: &mut Evaluator) -> Result<Cost, Diagnostic> {
    let calls = Calls::of(call);
    calls.require_derivatives(call, entry)?;
    let [primal, jvp, vjp] = calls.defs();
    let names = [primal.name, jvp.name, vjp.name];
    let defs = [primal, jvp, vjp].into_iter().map(|def| (def.name, def)).collect();
    evaluator.add(&Program { types: DataTypes::default(), defs });
    let mut run = |name: Name, arg: Value| evaluator.call(name, &[], vec![arg]);
    let (value, primal) = run(names[0], calls.point.clone())?;
    let (_, jvp) = run(names[1], calls.along_ones())?;
    let (_, vjp) = run(names[2], calls.with_ones_of(&value))?;
    Ok(Cost { primal, jvp, vjp })
}

/// A call and its derivatives as definitions of one argument.
pub(crate) struct Calls {
    primal: Def,
    /// The type of its arguments, taken as one.
    pub(crate) point_type: Type,
    /// The type of its result.
    pub(crate) result: Type,
    /// The arguments, taken as one.
    pub(crate) point: Value,
}

impl Calls {
    pub(crate) fn of(call: &Call) -> Calls {
        let arguments = &call.arguments;
        let point_type = match arguments.types.as_slice() {
            [single] => single.clone(),
            several => Type::Tuple(several.to_vec()),
        };
        let point = match arguments.values.as_slice() {
            [single] => single.clone(),
            several => Value::Tuple(Rc::new(several.iter().cloned().collect())),
        };
        Calls { primal: primal(call, &point_type), point_type, result: arguments.result.clone(), point }
    }

    /// An error unless the operators are defined at these types.
    pub(crate) fn require_derivatives(&self, call: &Call, entry: &str) -> Result<(), Diagnostic> {
        require(call, entry, &self.point_type, &self.result)
    }

    /// The function, which takes the point; its `jvp`, which takes the point and a tangent; its `vjp`, which takes the point and a
    /// cotangent.
    pub(crate) fn defs(&self) -> [Arc<Def>; 3] {
        let (point, result) = (&self.point_type, &self.result);
        [self.primal.clone(), jvp(point, result), vjp(point, result)].map(Arc::new)
    }

    /// The argument of `jvp`: all ones as the tangent.
    pub(crate) fn along_ones(&self) -> Value {
        pair(self.point.clone(), ones(&self.point))
    }

    /// The argument of `vjp`: all ones as the cotangent of this result.
    pub(crate) fn with_ones_of(&self, value: &Value) -> Value {
        pair(self.point.clone(), ones(value))
    }
}

const PRIMAL: &str = "<cost>.primal";
const JVP: &str = "<cost>.jvp";
const VJP: &str = "<cost>.vjp";

/// An error unless the operators are defined at these types.
fn require(call: &Call, entry: &str, point: &Type, result: &Type) -> Result<(), Diagnostic> {
    let types = &call.program.types;
    let shown = call.def.scheme.to_string();
    let refuse = |why: &str| Err(errors::no_cost(call.def.span, entry, &shown, why));
    if call.arguments.values.is_empty() {
        return refuse("it is applied to nothing");
    }
    if holds(result, types, Kind::Function) {
        return refuse(&format!("its result is a `{result}`, which is not first-order"));
    }
    if !holds(point, types, Kind::Real) {
        return refuse("its arguments hold no `Real`, so there is nothing to differentiate");
    }
    Ok(())
}

/// Whether a type holds a `Real`; types that are declared hold none.
pub(crate) fn holds_a_real(ty: &Type) -> bool {
    holds(ty, &DataTypes::default(), Kind::Real)
}

/// What to look for in a type.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Real,
    Function,
}

/// Whether a type holds what is looked for, in declared types too.
fn holds(ty: &Type, types: &DataTypes, kind: Kind) -> bool {
    let mut seen: FxHashSet<Name> = FxHashSet::default();
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match ty {
            Type::Real if kind == Kind::Real => return true,
            Type::Fun(..) | Type::Dual(_) if kind == Kind::Function => return true,
            Type::Real
            | Type::Int
            | Type::Bool
            | Type::String
            | Type::Var(_)
            | Type::Fun(..)
            | Type::Dual(_) => {}
            Type::Tuple(items) => open.extend(items),
            Type::Record(row) => open.extend(row.fields.values()),
            Type::Array(_, elem) => open.push(elem),
            Type::Data(name, args) => {
                open.extend(args);
                if seen.insert(*name)
                    && let Some(data) = types.get(name)
                {
                    open.extend(data.ctors.iter().flat_map(|ctor| &ctor.fields));
                }
            }
        }
    }
    false
}

fn term(kind: TermKind) -> Term {
    Term { kind, span: Span::NOWHERE }
}

fn app(func: Term, arg: Term) -> Term {
    term(TermKind::App { func: Arc::new(func), arg: Arc::new(arg) })
}

fn component(tuple: Term, index: u32) -> Term {
    term(TermKind::Proj { tuple: Arc::new(tuple), index })
}

/// `def name = \p : from -> body p`
fn function(name: &str, from: Type, to: Type, body: impl FnOnce(Term) -> Term) -> Def {
    let var = Var { name: Name::new("p"), id: 0 };
    let body = body(term(TermKind::Var { var, args: Vec::new() }));
    let scheme = Scheme::mono(Type::fun(from.clone(), to));
    let param = Binder { var, ty: from };
    let body = term(TermKind::Lam { param, body: Arc::new(body) });
    Def { name: Name::new(name), scheme, body, span: Span::NOWHERE }
}

/// `\p -> f p`, or `\p -> f p.0 p.1 …` if there are several arguments.
fn primal(call: &Call, point: &Type) -> Def {
    let arguments = &call.arguments;
    let f = term(TermKind::Global { name: call.def.name, args: arguments.type_args.clone() });
    function(PRIMAL, point.clone(), arguments.result.clone(), |p| match arguments.types.len() {
        1 => app(f, p),
        several => (0..several as u32).fold(f, |f, index| app(f, component(p.clone(), index))),
    })
}

/// `\p -> jvp primal p`
fn jvp(point: &Type, result: &Type) -> Def {
    let twice = |ty: &Type| Type::Tuple(vec![ty.clone(), ty.clone()]);
    function(JVP, twice(point), twice(result), |p| operator(Prim::Jvp, point, result, p))
}

/// `\p -> (vjp primal p.0).1 p.1`
fn vjp(point: &Type, result: &Type) -> Def {
    let from = Type::Tuple(vec![point.clone(), result.clone()]);
    function(VJP, from, point.clone(), |p| {
        let both = operator(Prim::Vjp, point, result, component(p.clone(), 0));
        app(component(both, 1), component(p, 1))
    })
}

fn operator(prim: Prim, point: &Type, result: &Type, arg: Term) -> Term {
    let f = term(TermKind::Global { name: Name::new(PRIMAL), args: Vec::new() });
    let type_args = vec![TypeArg::Type(point.clone()), TypeArg::Type(result.clone())];
    term(TermKind::Prim { prim, type_args, args: vec![f, arg] })
}

fn pair(a: Value, b: Value) -> Value {
    Value::Tuple(Rc::new([a, b].into_iter().collect()))
}

/// The value with every `Real` replaced by 1, on an explicit stack: values may be nested deeply.
fn ones(value: &Value) -> Value {
    enum Task<'a> {
        Visit(&'a Value),
        Build(&'a Value, usize),
    }
    let mut tasks = vec![Task::Visit(value)];
    let mut done: Vec<Value> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(value) => match children(value) {
                Some(children) => {
                    tasks.push(Task::Build(value, children.len()));
                    tasks.extend(children.iter().rev().map(Task::Visit));
                }
                None => done.push(leaf_of_ones(value)),
            },
            Task::Build(value, count) => {
                let fields: Fields = done.split_off(done.len().saturating_sub(count)).into_iter().collect();
                done.push(with_children(value, fields));
            }
        }
    }
    done.pop().unwrap_or(Value::Bool(false))
}

fn children(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Tuple(fields) => Some(fields.as_slice()),
        Value::Record(record) => Some(record.fields.as_slice()),
        Value::Data(data) => Some(data.fields.as_slice()),
        Value::Array(array) => match array.as_ref() {
            Array::Values(items) => Some(items.as_slice()),
            Array::Reals(_) | Array::Ints(_) => None,
        },
        Value::Real(_)
        | Value::Active(_)
        | Value::Int(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Fun(_)
        | Value::Dual(_)
        | Value::Cotangent(_) => None,
    }
}

fn with_children(value: &Value, fields: Fields) -> Value {
    match value {
        Value::Record(record) => Value::Record(Rc::new(Record { names: record.names.clone(), fields })),
        Value::Data(data) => Value::Data(Rc::new(Data { ctor: data.ctor.clone(), fields })),
        Value::Array(_) => Value::Array(Rc::new(Array::Values(fields))),
        Value::Tuple(_)
        | Value::Real(_)
        | Value::Active(_)
        | Value::Int(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Fun(_)
        | Value::Dual(_)
        | Value::Cotangent(_) => Value::Tuple(Rc::new(fields)),
    }
}

fn leaf_of_ones(value: &Value) -> Value {
    match value {
        Value::Real(_) | Value::Active(_) => Value::Real(1.0),
        Value::Array(array) => match array.as_ref() {
            Array::Reals(items) => {
                Value::Array(Rc::new(Array::Reals(Buffer::new(vec![1.0; items.as_slice().len()]))))
            }
            Array::Ints(_) | Array::Values(_) => value.clone(),
        },
        Value::Int(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Tuple(_)
        | Value::Record(_)
        | Value::Data(_)
        | Value::Fun(_)
        | Value::Dual(_)
        | Value::Cotangent(_) => value.clone(),
    }
}
