//! Functionals: `to_dual` and `from_dual`. (`apply_dual` is in [`crate::sweep`].)

use crate::builtins::mistyped;
use crate::step::Failure;
use crate::value::Value;
use std::rc::Rc;

/// `to_dual v`
pub(crate) fn to_dual(vector: Value) -> Value {
    Value::Dual(Rc::new([vector].into_iter().collect()))
}

/// `from_dual d`: the vector; of a functional on a first-order type.
pub(crate) fn from_dual(functional: &Value) -> Result<Value, Failure> {
    let Value::Dual(inner) = functional else { return Err(mistyped("a functional")) };
    inner.get(0).cloned().ok_or_else(|| mistyped("a functional"))
}
