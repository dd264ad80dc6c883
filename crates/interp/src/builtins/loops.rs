//! Functions that call functions of the program again and again: state machines that keep their box from one call to
//! the next.

use super::array::{Builder, array, count, storable_count};
use super::{int, misplaced, mistyped};
use crate::derivative::segments;
use crate::errors;
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Array, Value};
use smallvec::smallvec;
use std::rc::Rc;
use wengert_prim::Prim;

/// Calls a primitive of this module.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, b, c]: [Value; 3]) -> Result<Step, Failure> {
    match prim {
        Prim::Build => {
            let size = storable_count(cx, "build", int(&a)?)?;
            let out = Builder::new(cx, size)?;
            Box::new(Build { func: b, size, out }).next()
        }
        Prim::Map => {
            let items = array(&b)?.clone();
            let out = Builder::new(cx, items.len())?;
            Box::new(Map { func: a, items, out }).next()
        }
        Prim::Map2 => {
            let (xs, ys) = (array(&b)?.clone(), array(&c)?.clone());
            if xs.len() != ys.len() {
                return Err(errors::sizes("map2", xs.len(), ys.len()));
            }
            let out = Builder::new(cx, xs.len())?;
            Box::new(Map2 { func: a, xs, ys, out }).next()
        }
        Prim::Filter => {
            let items = array(&b)?.clone();
            let out = Builder::new(cx, 0)?;
            Box::new(Filter { func: a, items, at: 0, out }).next()
        }
        Prim::Fold | Prim::Reduce => {
            if let Some(step) = segments::fold(cx, &a, &b, &c)? {
                return Ok(step);
            }
            fold(a, b, &c)
        }
        Prim::Scan => {
            let items = array(&c)?.clone();
            let out = Builder::new(cx, items.len())?;
            Box::new(Scan { func: a, items, at: 0, out }).next(b)
        }
        Prim::Iterate => {
            let times = count("iterate", int(&a)?)?;
            if let Some(step) = segments::iterate(cx, times, &b, &c)? {
                return Ok(step);
            }
            iterate(times, b, c)
        }
        Prim::WhileLoop => {
            if let Some(step) = segments::while_loop(cx, &a, &b, &c)? {
                return Ok(step);
            }
            Box::new(While { condition: a, func: b, state: None, rounds: 0, after: None }).test(c)
        }
        other => Err(misplaced(other)),
    }
}

/// `func` applied to `state` that many times, one after the other.
pub(crate) fn iterate(times: usize, func: Value, state: Value) -> Result<Step, Failure> {
    Box::new(Iterate { func, left: times }).next(state)
}

/// `fold func state items`
pub(crate) fn fold(func: Value, state: Value, items: &Value) -> Result<Step, Failure> {
    Box::new(Fold { func, items: array(items)?.clone(), at: 0 }).next(state)
}

/// Runs `while_loop condition func state` to count how often `func` is applied, and then applies the function in `after`
/// as often to the state there.
pub(crate) fn count_rounds(
    condition: Value,
    func: Value,
    state: Value,
    after: (Value, Value),
) -> Result<Step, Failure> {
    Box::new(While { condition, func, state: None, rounds: 0, after: Some(after) }).test(state)
}

fn call1(func: &Value, arg: Value, then: Box<dyn Resume>) -> Result<Step, Failure> {
    Ok(Step::Call { func: func.clone(), args: smallvec![arg], then: Some(then) })
}

fn call2(func: &Value, a: Value, b: Value, then: Box<dyn Resume>) -> Result<Step, Failure> {
    Ok(Step::Call { func: func.clone(), args: smallvec![a, b], then: Some(then) })
}

fn item(items: &Array, i: usize) -> Value {
    items.get(i).unwrap_or(Value::Bool(false))
}

struct Build {
    func: Value,
    size: usize,
    out: Builder,
}

impl Build {
    fn next(self: Box<Self>) -> Result<Step, Failure> {
        if self.out.len() == self.size {
            return Ok(Step::Done(self.out.finish()?));
        }
        let (func, i) = (self.func.clone(), self.out.len() as i64);
        call1(&func, Value::Int(i), self)
    }
}

impl Resume for Build {
    fn resume(mut self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        self.out.push(value);
        self.next()
    }

    fn bytes(&self) -> usize {
        size_of::<Build>() + self.out.bytes()
    }
}

struct Map {
    func: Value,
    items: Rc<Array>,
    out: Builder,
}

impl Map {
    fn next(self: Box<Self>) -> Result<Step, Failure> {
        let i = self.out.len();
        if i == self.items.len() {
            return Ok(Step::Done(self.out.finish()?));
        }
        let (func, arg) = (self.func.clone(), item(&self.items, i));
        call1(&func, arg, self)
    }
}

impl Resume for Map {
    fn resume(mut self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        self.out.push(value);
        self.next()
    }

    fn bytes(&self) -> usize {
        size_of::<Map>() + self.out.bytes()
    }
}

struct Map2 {
    func: Value,
    xs: Rc<Array>,
    ys: Rc<Array>,
    out: Builder,
}

impl Map2 {
    fn next(self: Box<Self>) -> Result<Step, Failure> {
        let i = self.out.len();
        if i == self.xs.len() {
            return Ok(Step::Done(self.out.finish()?));
        }
        let (func, x, y) = (self.func.clone(), item(&self.xs, i), item(&self.ys, i));
        call2(&func, x, y, self)
    }
}

impl Resume for Map2 {
    fn resume(mut self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        self.out.push(value);
        self.next()
    }

    fn bytes(&self) -> usize {
        size_of::<Map2>() + self.out.bytes()
    }
}

struct Filter {
    func: Value,
    items: Rc<Array>,
    at: usize,
    out: Builder,
}

impl Filter {
    fn next(self: Box<Self>) -> Result<Step, Failure> {
        if self.at == self.items.len() {
            return Ok(Step::Done(self.out.finish()?));
        }
        let (func, arg) = (self.func.clone(), item(&self.items, self.at));
        call1(&func, arg, self)
    }
}

impl Resume for Filter {
    fn resume(mut self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        match value {
            Value::Bool(true) => {
                let keep = item(&self.items, self.at);
                self.out.push(keep);
            }
            Value::Bool(false) => {}
            _ => return Err(mistyped("a Bool")),
        }
        self.at += 1;
        self.next()
    }

    fn bytes(&self) -> usize {
        size_of::<Filter>() + self.out.bytes()
    }
}

struct Fold {
    func: Value,
    items: Rc<Array>,
    at: usize,
}

impl Fold {
    fn next(mut self: Box<Self>, state: Value) -> Result<Step, Failure> {
        if self.at == self.items.len() {
            return Ok(Step::Done(state));
        }
        let (func, arg) = (self.func.clone(), item(&self.items, self.at));
        self.at += 1;
        call2(&func, state, arg, self)
    }
}

impl Resume for Fold {
    fn resume(self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        self.next(value)
    }
}

struct Scan {
    func: Value,
    items: Rc<Array>,
    at: usize,
    out: Builder,
}

impl Scan {
    fn next(mut self: Box<Self>, state: Value) -> Result<Step, Failure> {
        if self.at == self.items.len() {
            return Ok(Step::Done(self.out.finish()?));
        }
        let (func, arg) = (self.func.clone(), item(&self.items, self.at));
        self.at += 1;
        call2(&func, state, arg, self)
    }
}

impl Resume for Scan {
    fn resume(mut self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        self.out.push(value.clone());
        self.next(value)
    }

    fn bytes(&self) -> usize {
        size_of::<Scan>() + self.out.bytes()
    }
}

struct Iterate {
    func: Value,
    left: usize,
}

impl Iterate {
    fn next(mut self: Box<Self>, state: Value) -> Result<Step, Failure> {
        if self.left == 0 {
            return Ok(Step::Done(state));
        }
        self.left -= 1;
        let func = self.func.clone();
        call1(&func, state, self)
    }
}

impl Resume for Iterate {
    fn resume(self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        self.next(value)
    }
}

struct While {
    condition: Value,
    func: Value,
    /// The state while the condition is tested on it.
    state: Option<Value>,
    rounds: usize,
    /// If it only counts: the function and the state to go on with.
    after: Option<(Value, Value)>,
}

impl While {
    fn test(mut self: Box<Self>, state: Value) -> Result<Step, Failure> {
        self.state = Some(state.clone());
        let condition = self.condition.clone();
        call1(&condition, state, self)
    }
}

impl Resume for While {
    fn resume(mut self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let Some(state) = self.state.take() else { return self.test(value) };
        match value {
            Value::Bool(true) => {
                self.rounds += 1;
                let func = self.func.clone();
                call1(&func, state, self)
            }
            Value::Bool(false) => match self.after {
                None => Ok(Step::Done(state)),
                Some((func, state)) => segments::after_counting(cx, self.rounds, func, state),
            },
            _ => Err(mistyped("a Bool")),
        }
    }
}
