//! Reverse mode: `vjp`, `linearize` and `pullback`. The function is run on slots of a fresh tape; what the tape holds
//! then is the linear map.

use super::{call1_then, closures, dual};
use crate::errors;
use crate::note;
use crate::perturb;
use crate::step::{Context, Failure, Resume, Step};
use crate::sweep;
use crate::tape::{Linearization, Tape};
use crate::value::{Cotangent, Fun, Value};
use crate::walk::{self, FunAction, Mapper};
use smallvec::smallvec;
use std::rc::Rc;

/// What is made of a recorded run.
enum Purpose {
    /// `vjp`: value, and the map from cotangents to cotangents.
    Vjp,
    /// `linearize`: value, and the map from tangents to tangents; the function, for results that hold functions.
    Linearize(Value),
    /// `pullback` of this form.
    Pullback(Value),
}

/// `vjp f x`
pub(crate) fn vjp(cx: &mut Context, func: Value, x: Value) -> Result<Step, Failure> {
    record(cx, func, x, Purpose::Vjp)
}

/// `linearize f x`
pub(crate) fn linearize(cx: &mut Context, func: Value, x: Value) -> Result<Step, Failure> {
    if !is_first_order(&x) {
        // A tape holds numbers. For a point that holds functions the tangent map runs the function again.
        let map = tangent_map(&func, &x);
        return call1_then(func, x, WithMap { map });
    }
    record(cx, func.clone(), x, Purpose::Linearize(func))
}

/// `pullback f form x`
pub(crate) fn pullback(cx: &mut Context, func: Value, form: Value, x: Value) -> Result<Step, Failure> {
    if is_first_order(&x) {
        return record(cx, func, x, Purpose::Pullback(form));
    }
    let deferral = Deferral { func: func.clone(), form: form.clone(), x: x.clone() };
    let tape = Tape::new(cx.fresh_tag());
    let arg = perturb::reverse_input(cx, &tape, &x)?;
    let recorded = call1_then(func, arg, Recorded { tape, x, purpose: Purpose::Pullback(form) })?;
    Ok(recorded.and_then(deferral))
}

/// A `pullback` at a point that holds functions. What the function does with these may be nothing that a tape can hold
/// (it applies one of several arguments inside a `grad`, or inside a `taylor`). Then the functional is by definition
/// `t ↦ apply_dual (form (func x)) (snd (jvp func (x, t)))`, and `func` runs again whenever it is applied.
struct Deferral {
    func: Value,
    form: Value,
    x: Value,
}

impl Resume for Deferral {
    fn resume(self: Box<Self>, _: &mut Context, dual: Value) -> Result<Step, Failure> {
        Ok(Step::Done(dual))
    }

    fn other_way(&self, failure: &Failure) -> Option<Step> {
        if !errors::is_limit_of_recording(failure) {
            return None;
        }
        let Deferral { func, form, x } = self;
        let then = DeferredValue { func: func.clone(), form: form.clone(), x: x.clone() };
        call1_then(func.clone(), x.clone(), then).ok()
    }
}

/// The value of the function is there, for the form.
struct DeferredValue {
    func: Value,
    form: Value,
    x: Value,
}

impl Resume for DeferredValue {
    fn resume(self: Box<Self>, _: &mut Context, y: Value) -> Result<Step, Failure> {
        let DeferredValue { func, form, x } = *self;
        call1_then(form, y, DeferredForm { func, x })
    }
}

/// The form has given the functional on the result.
struct DeferredForm {
    func: Value,
    x: Value,
}

impl Resume for DeferredForm {
    fn resume(self: Box<Self>, _: &mut Context, dual: Value) -> Result<Step, Failure> {
        let DeferredForm { func, x } = *self;
        Ok(Step::Done(dual::to_dual(closures::partial(closures::deferred(), [dual, func, x]))))
    }
}

fn record(cx: &mut Context, func: Value, x: Value, purpose: Purpose) -> Result<Step, Failure> {
    let tape = Tape::new(cx.fresh_tag());
    let arg = perturb::reverse_input(cx, &tape, &x)?;
    call1_then(func, arg, Recorded { tape, x, purpose })
}

/// The run is recorded.
struct Recorded {
    tape: Rc<Tape>,
    x: Value,
    purpose: Purpose,
}

impl Resume for Recorded {
    fn resume(self: Box<Self>, cx: &mut Context, y: Value) -> Result<Step, Failure> {
        let Recorded { tape, x, purpose } = *self;
        let value = perturb::strip(tape.tag(), &y);
        let transposed = match purpose {
            Purpose::Pullback(form) => return call1_then(form, value, PullBack { tape, x, y }),
            Purpose::Linearize(func) if !is_first_order(&value) => {
                return Ok(Step::Done(Value::tuple([value, tangent_map(&func, &x)])));
            }
            Purpose::Linearize(_) => false,
            Purpose::Vjp => true,
        };
        let map = sweep::linearization(cx, &tape, &x, &y)?;
        Ok(Step::Done(Value::tuple([value, Value::Fun(Rc::new(Fun::Linear { map, transposed }))])))
    }
}

/// The form was applied to the result of `pullback`'s function.
struct PullBack {
    tape: Rc<Tape>,
    x: Value,
    y: Value,
}

impl Resume for PullBack {
    fn resume(self: Box<Self>, cx: &mut Context, dual: Value) -> Result<Step, Failure> {
        sweep::pull_back(cx, &self.tape, &self.x, &self.y, &dual)
    }
}

/// `\t -> snd (jvp func (x, t))`
fn tangent_map(func: &Value, x: &Value) -> Value {
    closures::partial(closures::tangent(), [func.clone(), x.clone()])
}

/// Pairs the result with a map.
struct WithMap {
    map: Value,
}

impl Resume for WithMap {
    fn resume(self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        Ok(Step::Done(Value::tuple([value, self.map])))
    }
}

/// A linear map applied to a tangent, or its transpose to a cotangent.
pub(crate) fn apply_linear(
    cx: &mut Context,
    map: &Rc<Linearization>,
    transposed: bool,
    arg: Value,
) -> Result<Step, Failure> {
    sweep::apply_linear(cx, map, transposed, &arg)
}

/// A function input on a tape, applied.
pub(crate) fn noted_function(tape: Rc<Tape>, slot: u32, primal: Value, arg: Value) -> Result<Step, Failure> {
    let noted = Noted { tape, slot, point: arg.clone() };
    Ok(Step::Call { func: primal, args: smallvec![arg], then: Some(Box::new(noted)) })
}

struct Noted {
    tape: Rc<Tape>,
    slot: u32,
    point: Value,
}

impl Resume for Noted {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        note::note_application(cx, &self.tape, self.slot, &self.point, &value).map(Step::Done)
    }
}

/// Finds out whether a value holds a function.
struct Functions {
    found: bool,
}

impl Mapper for Functions {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, _value: &Value) -> Result<Option<Value>, Failure> {
        Ok(None)
    }

    fn function(&mut self, _fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        self.found = true;
        Ok(FunAction::Keep)
    }

    fn cotangent(&mut self, _cotangent: &Rc<Cotangent>) -> Result<FunAction, Failure> {
        self.found = true;
        Ok(FunAction::Keep)
    }
}

/// Whether there is no function in it, and no functional on functions.
pub(crate) fn is_first_order(value: &Value) -> bool {
    let mut functions = Functions { found: false };
    // Looking cannot fail.
    walk::map(value, &mut functions).is_ok() && !functions.found
}
