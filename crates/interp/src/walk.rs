//! Going through values, for everything that treats their leaves one by one: lifting, stripping, renaming, adding.
//!
//! A value may be deep (a list of a million cells), shared (a tree whose two branches are one, sixty times over), and may
//! hide reals in what functions have captured. So the walks use an explicit stack; a walk that allows it treats a shared
//! part once; and a part in which nothing changes is returned as it was, not copied.

use crate::derivative::dual::in_one_form;
use crate::step::{Context, Failure};
use crate::tape::{Linearization, Tape};
use crate::value::{Array, Buffer, Cotangent, Data, Fields, Fun, Perturbation, Record, Tag, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// What a walk does at the leaves.
pub(crate) trait Mapper {
    /// Whether equal parts may get equal results. If not, a part that occurs twice is treated twice.
    const SHARES: bool;
    /// Whether reals without perturbation, too, are looked at.
    const LOOKS_AT_PLAIN: bool;

    /// Whether a tape may note what is made of reals: then parts for which it does get results of their own all the same.
    const NOTES: bool = false;

    /// What becomes of a real; `None` if it stays.
    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure>;

    /// What becomes of a function.
    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure>;

    /// Told of each part that is entered, to count work.
    fn enter(&mut self, _children: usize) -> Result<(), Failure> {
        Ok(())
    }
}

/// What becomes of a function.
pub(crate) enum FunAction {
    /// It stays.
    Keep,
    /// This takes its place.
    Replace(Value),
    /// The walk goes on in what it holds.
    Descend,
    /// The walk goes on in its primal function, which takes its place, inside of this.
    Primal(Wrapper),
}

/// What goes around the primal function of a perturbed one.
pub(crate) enum Wrapper {
    /// Nothing.
    None,
    /// `Fun::Reverse`
    Reverse(Rc<Tape>, u32),
    /// `Fun::Forward` with this tangent.
    Forward(Tag, Value),
}

enum Task {
    Visit(Value),
    Build { original: Value, children: usize, noted: usize },
    Wrap { original: Value, wrapper: Wrapper },
}

/// The value with each leaf replaced as the mapper says, leaves taken from left to right.
pub(crate) fn map<M: Mapper>(root: &Value, mapper: &mut M) -> Result<Value, Failure> {
    let mut tasks = vec![Task::Visit(root.clone())];
    let mut results: Vec<Value> = Vec::new();
    let mut memo = Memo::default();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(value) => visit(value, mapper, &mut memo, &mut tasks, &mut results)?,
            Task::Build { original, children, noted } => {
                let children = results.split_off(results.len().saturating_sub(children));
                let result = rebuild_changed(&original, children, &mut memo);
                if M::SHARES && memo.noted == noted {
                    memo.insert(original, &result);
                }
                results.push(result);
            }
            Task::Wrap { original, wrapper } => {
                let primal = results.pop().unwrap_or(Value::Bool(false));
                let result = match wrapper {
                    Wrapper::None => primal,
                    Wrapper::Reverse(tape, slot) => Value::Fun(Rc::new(Fun::Reverse { tape, slot, primal })),
                    Wrapper::Forward(tag, tangent) => {
                        Value::Fun(Rc::new(Fun::Forward { tag, primal, tangent }))
                    }
                };
                if M::SHARES {
                    memo.insert(original, &result);
                }
                results.push(result);
            }
        }
    }
    Ok(results.pop().unwrap_or(Value::Bool(false)))
}

fn visit<M: Mapper>(
    value: Value,
    mapper: &mut M,
    memo: &mut Memo,
    tasks: &mut Vec<Task>,
    results: &mut Vec<Value>,
) -> Result<(), Failure> {
    if M::SHARES
        && let Some(result) = memo.get(&value)
    {
        results.push(result);
        return Ok(());
    }
    let action = match &value {
        Value::Int(_) | Value::Bool(_) | Value::String(_) => FunAction::Keep,
        Value::Real(_) if !M::LOOKS_AT_PLAIN => FunAction::Keep,
        Value::Real(_) | Value::Active(_) => mapper.real(&value)?.map_or(FunAction::Keep, FunAction::Replace),
        Value::Fun(fun) => mapper.function(fun)?,
        Value::Array(array) => match &**array {
            Array::Ints(_) => FunAction::Keep,
            Array::Reals(_) if !M::LOOKS_AT_PLAIN => FunAction::Keep,
            Array::Reals(_) | Array::Values(_) => FunAction::Descend,
        },
        Value::Tuple(_) | Value::Record(_) | Value::Data(_) | Value::Dual(_) | Value::Cotangent(_) => {
            FunAction::Descend
        }
    };
    match action {
        FunAction::Keep => results.push(value),
        FunAction::Replace(result) => {
            if M::NOTES && is_on_tape(&result) {
                memo.noted += 1;
            } else if M::SHARES {
                memo.insert(value, &result);
            }
            results.push(result);
        }
        FunAction::Descend => {
            let children = children(&value);
            mapper.enter(children.len())?;
            tasks.push(Task::Build { original: value, children: children.len(), noted: memo.noted });
            tasks.extend(children.into_iter().rev().map(Task::Visit));
        }
        FunAction::Primal(wrapper) => {
            let primal = primal_function(&value);
            tasks.push(Task::Wrap { original: value, wrapper });
            tasks.push(Task::Visit(primal));
        }
    }
    Ok(())
}

fn primal_function(value: &Value) -> Value {
    if let Value::Fun(fun) = value
        && let Fun::Forward { primal, .. } | Fun::Reverse { primal, .. } = &**fun
    {
        return primal.clone();
    }
    value.clone()
}

/// Results for shared parts. The originals are kept, so that no address is used twice.
#[derive(Default)]
struct Memo {
    results: FxHashMap<usize, (Value, Value)>,
    captured: FxHashMap<usize, (Rc<Fields>, Rc<Fields>)>,
    /// How many reals were made that a tape has noted.
    noted: usize,
}

impl Memo {
    fn get(&self, value: &Value) -> Option<Value> {
        if self.results.is_empty() {
            return None;
        }
        let (address, _) = identity(value)?;
        self.results.get(&address).map(|(_, result)| result.clone())
    }

    fn insert(&mut self, original: Value, result: &Value) {
        // One count is `original` itself.
        if let Some((address, count)) = identity(&original)
            && count > 2
        {
            self.results.insert(address, (original, result.clone()));
        }
    }
}

/// Address and number of holders of what is on the heap.
fn identity(value: &Value) -> Option<(usize, usize)> {
    fn of<T>(rc: &Rc<T>) -> Option<(usize, usize)> {
        Some((Rc::as_ptr(rc).cast::<()>() as usize, Rc::strong_count(rc)))
    }
    match value {
        Value::Real(_) | Value::Int(_) | Value::Bool(_) => None,
        Value::String(rc) => of(rc),
        Value::Active(rc) => of(rc),
        Value::Tuple(rc) | Value::Dual(rc) => of(rc),
        Value::Record(rc) => of(rc),
        Value::Data(rc) => of(rc),
        Value::Array(rc) => of(rc),
        Value::Fun(rc) => of(rc),
        Value::Cotangent(rc) => of(rc),
    }
}

/// Whether a tape has noted a number, or some part of it.
fn is_on_tape(value: &Value) -> bool {
    let mut todo: SmallVec<[&Value; 4]> = SmallVec::new();
    todo.push(value);
    while let Some(next) = todo.pop() {
        let Value::Active(active) = next else { continue };
        todo.push(&active.primal);
        match &active.perturbation {
            Perturbation::Reverse { .. } => return true,
            Perturbation::Forward(tangent) => todo.push(tangent),
            Perturbation::Series(coefs) => todo.extend(coefs.as_slice()),
        }
    }
    false
}

/// Whether the two are the same without looking inside.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (_, _) => identity(a).is_some_and(|(a, _)| identity(b).is_some_and(|(b, _)| a == b)),
    }
}

/// What a value holds, from left to right; nothing for leaves.
pub(crate) fn children(value: &Value) -> SmallVec<[Value; 2]> {
    match value {
        Value::Real(_) | Value::Active(_) | Value::Int(_) | Value::Bool(_) | Value::String(_) => {
            SmallVec::new()
        }
        Value::Tuple(fields) | Value::Dual(fields) => fields.as_slice().iter().cloned().collect(),
        Value::Record(record) => record.fields.as_slice().iter().cloned().collect(),
        Value::Data(data) => data.fields.as_slice().iter().cloned().collect(),
        Value::Cotangent(cotangent) => cotangent.pairs.as_slice().iter().cloned().collect(),
        Value::Array(array) => elements(array).collect(),
        Value::Fun(fun) => match &**fun {
            Fun::Closure { captured, .. } => captured.as_slice().iter().cloned().collect(),
            Fun::Partial { func, args } => std::iter::once(func).chain(args.as_slice()).cloned().collect(),
            Fun::Forward { primal, tangent, .. } => [primal, tangent].into_iter().cloned().collect(),
            Fun::Reverse { primal, .. } => std::iter::once(primal).cloned().collect(),
            Fun::TangentOf { func, .. } => std::iter::once(func).cloned().collect(),
            Fun::Linear { map, .. } => {
                let mut values: SmallVec<[Value; 2]> = SmallVec::new();
                values.extend([map.input.clone(), map.output.value.clone()]);
                values.extend(map.tape.values());
                values
            }
        },
    }
}

/// The elements of an array.
pub(crate) fn elements(array: &Array) -> Box<dyn ExactSizeIterator<Item = Value> + '_> {
    match array {
        Array::Reals(reals) => Box::new(reals.as_slice().iter().map(|x| Value::Real(*x))),
        Array::Ints(ints) => Box::new(ints.as_slice().iter().map(|n| Value::Int(*n))),
        Array::Values(values) => Box::new(values.as_slice().iter().cloned()),
    }
}

/// An array of these, flat if they are plain numbers.
pub(crate) fn array(values: impl IntoIterator<Item = Value>) -> Value {
    let values: SmallVec<[Value; 2]> = values.into_iter().collect();
    let reals: Option<Vec<f64>> =
        values.iter().map(|value| if let Value::Real(x) = value { Some(*x) } else { None }).collect();
    let ints =
        || values.iter().map(|value| if let Value::Int(n) = value { Some(*n) } else { None }).collect();
    let array = if values.is_empty() {
        Array::Values(Fields::default())
    } else if let Some(reals) = reals {
        Array::Reals(Buffer::new(reals))
    } else if let Some(ints) = ints() {
        Array::Ints(Buffer::new(ints))
    } else {
        Array::Values(Fields::new(values))
    };
    Value::Array(Rc::new(array))
}

fn rebuild_changed(original: &Value, parts: Vec<Value>, memo: &mut Memo) -> Value {
    let unchanged = children(original).iter().zip(&parts).all(|(old, new)| is_same(old, new));
    if unchanged { original.clone() } else { rebuild_shared(original, parts, memo) }
}

/// As [`rebuild`], but functions of one recursive group go on sharing what they captured.
fn rebuild_shared(original: &Value, parts: Vec<Value>, memo: &mut Memo) -> Value {
    let Value::Fun(fun) = original else { return rebuild(original, parts) };
    let Fun::Closure { code, captured } = &**fun else { return rebuild(original, parts) };
    let address = Rc::as_ptr(captured) as usize;
    let fresh = || (Rc::clone(captured), Rc::new(parts.into_iter().collect()));
    let (_, mapped) = memo.captured.entry(address).or_insert_with(fresh);
    Value::Fun(Rc::new(Fun::Closure { code: Rc::clone(code), captured: Rc::clone(mapped) }))
}

/// A value like `original` that holds `parts`, as many as [`children`] gives.
pub(crate) fn rebuild(original: &Value, parts: Vec<Value>) -> Value {
    match original {
        Value::Real(_) | Value::Active(_) | Value::Int(_) | Value::Bool(_) | Value::String(_) => {
            original.clone()
        }
        Value::Tuple(_) => Value::Tuple(Rc::new(parts.into_iter().collect())),
        Value::Dual(_) => Value::Dual(Rc::new(parts.into_iter().collect())),
        Value::Record(record) => Value::Record(Rc::new(Record {
            names: Rc::clone(&record.names),
            fields: parts.into_iter().collect(),
        })),
        Value::Data(data) => {
            Value::Data(Rc::new(Data { ctor: Rc::clone(&data.ctor), fields: parts.into_iter().collect() }))
        }
        Value::Cotangent(_) => Value::Cotangent(Rc::new(Cotangent { pairs: parts.into_iter().collect() })),
        Value::Array(_) if parts.is_empty() => original.clone(),
        Value::Array(_) => array(parts),
        Value::Fun(fun) => Value::Fun(Rc::new(rebuild_function(fun, parts))),
    }
}

fn rebuild_function(fun: &Fun, parts: Vec<Value>) -> Fun {
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or(Value::Bool(false));
    match fun {
        Fun::Closure { code, .. } => {
            Fun::Closure { code: Rc::clone(code), captured: Rc::new(parts.collect()) }
        }
        Fun::Partial { .. } => Fun::Partial { func: next(), args: parts.collect() },
        Fun::Forward { tag, .. } => Fun::Forward { tag: *tag, primal: next(), tangent: next() },
        Fun::Reverse { tape, slot, .. } => {
            Fun::Reverse { tape: Rc::clone(tape), slot: *slot, primal: next() }
        }
        Fun::TangentOf { tag, .. } => Fun::TangentOf { tag: *tag, func: next() },
        Fun::Linear { map, transposed } => {
            let input = next();
            let output = map.output.with_value(next());
            let tape = map.tape.with_values(parts.collect());
            Fun::Linear { map: Rc::new(Linearization { tape, input, output }), transposed: *transposed }
        }
    }
}

/// What [`zip`] does where two values have leaves.
pub(crate) trait Zipper {
    /// Whether a tape may note what is made of reals: then parts for which it does get results of their own, and others one result if they
    /// are one in memory.
    const NOTES: bool = false;

    /// Two reals.
    fn reals(&mut self, x: &Value, t: &Value) -> Result<Value, Failure>;
    /// Two functions, or two cotangents of functions.
    fn functions(&mut self, x: &Value, t: &Value) -> Result<Value, Failure>;
    /// They do not fit.
    fn mismatch(&self, x: &Value, t: &Value) -> Failure;
    /// Counts work.
    fn work(&mut self, steps: usize) -> Result<(), Failure>;
}

enum ZipTask {
    Visit(Value, Value),
    Build { first: Value, second: Value, children: usize, noted: usize },
}

/// Joins two values of one shape leaf by leaf, from left to right. Leaves that are not reals are taken from the first.
pub(crate) fn zip<Z: Zipper>(x: &Value, t: &Value, zipper: &mut Z) -> Result<Value, Failure> {
    let mut tasks = vec![ZipTask::Visit(x.clone(), t.clone())];
    let mut results: Vec<Value> = Vec::new();
    let mut memo: FxHashMap<(usize, usize), (Value, Value, Value)> = FxHashMap::default();
    let mut noted = 0;
    while let Some(task) = tasks.pop() {
        match task {
            ZipTask::Visit(x, t) => {
                if let (Some((a, _)), Some((b, _))) = (identity(&x), identity(&t))
                    && let Some((_, _, result)) = memo.get(&(a, b))
                {
                    results.push(result.clone());
                    continue;
                }
                let (x, t) = in_one_form(&x, &t).unwrap_or((x, t));
                match relation(&x, &t) {
                    Relation::Reals => {
                        let result = zipper.reals(&x, &t)?;
                        noted += usize::from(Z::NOTES && is_on_tape(&result));
                        results.push(result);
                    }
                    Relation::Functions => results.push(zipper.functions(&x, &t)?),
                    Relation::Carried => results.push(x),
                    Relation::Mismatch => return Err(zipper.mismatch(&x, &t)),
                    Relation::Parts => {
                        let (xs, ts) = (children(&x), children(&t));
                        zipper.work(xs.len())?;
                        tasks.push(ZipTask::Build { first: x, second: t, children: xs.len(), noted });
                        tasks.extend(xs.into_iter().zip(ts).rev().map(|(x, t)| ZipTask::Visit(x, t)));
                    }
                }
            }
            ZipTask::Build { first, second, children, noted: before } => {
                let parts = results.split_off(results.len().saturating_sub(children));
                let result = rebuild(&first, parts);
                if let (Some((a, m)), Some((b, n))) = (identity(&first), identity(&second))
                    && noted == before
                    && m > 2
                    && n > 2
                {
                    memo.insert((a, b), (first, second, result.clone()));
                }
                results.push(result);
            }
        }
    }
    Ok(results.pop().unwrap_or(Value::Bool(false)))
}

/// Calls `visit` with each pair of reals (and of functions) in two values of one shape, from left to right.
pub(crate) fn pairs(
    cx: &mut Context,
    x: &Value,
    t: &Value,
    mismatch: &dyn Fn(&Value, &Value) -> Failure,
    visit: &mut dyn FnMut(&mut Context, &Value, &Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut stack = vec![(x.clone(), t.clone())];
    while let Some((x, t)) = stack.pop() {
        let (x, t) = in_one_form(&x, &t).unwrap_or((x, t));
        match relation(&x, &t) {
            Relation::Reals | Relation::Functions => visit(cx, &x, &t)?,
            Relation::Carried => {}
            Relation::Mismatch => return Err(mismatch(&x, &t)),
            Relation::Parts => {
                let (xs, ts) = (children(&x), children(&t));
                cx.work(xs.len() as u64)?;
                stack.extend(xs.into_iter().zip(ts).rev());
            }
        }
    }
    Ok(())
}

enum Relation {
    Reals,
    Functions,
    /// Leaves without tangents: integers, texts.
    Carried,
    /// Of one shape; the parts are to be looked at.
    Parts,
    Mismatch,
}

fn relation(x: &Value, t: &Value) -> Relation {
    let parts = |fits: bool| if fits { Relation::Parts } else { Relation::Mismatch };
    match (x, t) {
        (Value::Real(_) | Value::Active(_), Value::Real(_) | Value::Active(_)) => Relation::Reals,
        (Value::Int(_), Value::Int(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::String(_), Value::String(_)) => Relation::Carried,
        (Value::Fun(_) | Value::Cotangent(_), Value::Fun(_) | Value::Cotangent(_)) => Relation::Functions,
        (Value::Tuple(x), Value::Tuple(t)) => parts(x.len() == t.len()),
        (Value::Dual(_), Value::Dual(_)) => Relation::Parts,
        (Value::Record(x), Value::Record(t)) => parts(x.names == t.names),
        (Value::Data(x), Value::Data(t)) => {
            parts(x.ctor.index == t.ctor.index && x.fields.len() == t.fields.len())
        }
        (Value::Array(x), Value::Array(t)) => match (&**x, &**t) {
            (Array::Ints(x), Array::Ints(t)) if x.as_slice().len() == t.as_slice().len() => Relation::Carried,
            (x, t) => parts(elements(x).len() == elements(t).len()),
        },
        (
            Value::Real(_)
            | Value::Active(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::String(_)
            | Value::Tuple(_)
            | Value::Dual(_)
            | Value::Record(_)
            | Value::Data(_)
            | Value::Array(_)
            | Value::Fun(_)
            | Value::Cotangent(_),
            _,
        ) => Relation::Mismatch,
    }
}

/// What a value is, in a few words, for messages about shapes.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Real(_) | Value::Active(_) => "a `Real`".into(),
        Value::Int(n) => format!("the `Int` {n}"),
        Value::Bool(b) => format!("the `Bool` {b}"),
        Value::String(_) => "a `String`".into(),
        Value::Tuple(fields) if fields.is_empty() => "`()`".into(),
        Value::Tuple(fields) => format!("a tuple of {} components", fields.len()),
        Value::Record(_) => "a record".into(),
        Value::Data(data) => format!("a `{}`", data.ctor.name),
        Value::Array(array) => match elements(array).len() {
            1 => "an array of 1 element".into(),
            n => format!("an array of {n} elements"),
        },
        Value::Fun(_) => "a function".into(),
        Value::Dual(_) | Value::Cotangent(_) => "a `Dual`".into(),
    }
}
