//! Reverse mode: `vjp`, `linearize` and `pullback`. The function is run on slots of a fresh tape; what the tape holds
//! then is the linear map.

use super::{call1_then, closures, dual, pair};
use crate::note;
use crate::perturb;
use crate::step::{Context, Failure, Resume, Step};
use crate::sweep;
use crate::tape::{Linearization, Tape};
use crate::value::{Fun, Value};
use crate::vector;
use crate::walk::{self, FunAction, Mapper};
use smallvec::smallvec;
use std::rc::Rc;

/// What is made of a recorded run.
enum Purpose {
    /// `vjp`: value, and the map from cotangents to cotangents.
    Vjp,
    /// `linearize`: value, and the map from tangents to tangents; the function, for results that hold functions.
    Linearize(Value),
    /// `pullback` of this form; the function, for results that hold functions.
    Pullback { func: Value, form: Value },
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
///
/// Where functions are in the point or the result, the functional is by definition
/// `t ↦ apply_dual (form (f x)) (snd (jvp f (x, t)))`: it runs `f` again whenever it is applied.
pub(crate) fn pullback(cx: &mut Context, func: Value, form: Value, x: Value) -> Result<Step, Failure> {
    if is_first_order(&x) {
        return record(cx, func.clone(), x, Purpose::Pullback { func, form });
    }
    call1_then(func.clone(), x.clone(), AfterValue { func, form, x })
}

/// The value of a function whose point or result holds functions is there, for the form.
struct AfterValue {
    func: Value,
    form: Value,
    x: Value,
}

impl Resume for AfterValue {
    fn resume(self: Box<Self>, _: &mut Context, y: Value) -> Result<Step, Failure> {
        let AfterValue { func, form, x } = *self;
        call1_then(form, y, AfterForm { func, x })
    }
}

/// The form has given the functional on the result.
struct AfterForm {
    func: Value,
    x: Value,
}

impl Resume for AfterForm {
    fn resume(self: Box<Self>, cx: &mut Context, dual: Value) -> Result<Step, Failure> {
        let AfterForm { func, x } = *self;
        let functional = closures::partial(closures::functional(), [dual, func, x.clone()]);
        if !is_first_order(&x) {
            return Ok(Step::Done(dual::to_dual(functional)));
        }
        // Linear in the tangent: its gradient is the same everywhere, so take it at zero.
        let zero = vector::zero(&x)?;
        Ok(record(cx, functional, zero, Purpose::Vjp)?.and_then(AfterTangents))
    }
}

/// The map from the cotangents of a functional's value is there, which give its vector.
struct AfterTangents;

impl Resume for AfterTangents {
    fn resume(self: Box<Self>, _: &mut Context, value: Value) -> Result<Step, Failure> {
        let (_, map) = pair(&value)?;
        call1_then(map, Value::Real(1.0), Vector)
    }
}

/// The vector of a functional is there.
struct Vector;

impl Resume for Vector {
    fn resume(self: Box<Self>, _: &mut Context, vector: Value) -> Result<Step, Failure> {
        Ok(Step::Done(dual::to_dual(vector)))
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
            Purpose::Pullback { func, form } if !is_first_order(&value) => {
                return call1_then(form, value, AfterForm { func, x });
            }
            Purpose::Pullback { form, .. } => return call1_then(form, value, PullBack { tape, x, y }),
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

/// A function on a tape, applied.
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
}

/// Whether there is no function in it, and no functional on functions.
pub(crate) fn is_first_order(value: &Value) -> bool {
    let mut functions = Functions { found: false };
    // Looking cannot fail.
    walk::map(value, &mut functions).is_ok() && !functions.found
}
