//! `taylor n f x`: runs `f` on the series `x + t` up to order `n`; the coefficient of order `k`, times `k!`, is the
//! derivative of order `k`.

use super::call1_then;
use crate::builtins::array;
use crate::builtins::int;
use crate::errors;
use crate::series;
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Tag, Value};

/// `taylor n f x`
pub(crate) fn taylor(cx: &mut Context, order: &Value, func: Value, x: &Value) -> Result<Step, Failure> {
    let n = int(order)?;
    // An operation on series costs the square of the order: more than this never ends.
    const MOST: i64 = 1 << 24;
    let order = usize::try_from(n).ok().filter(|_| n <= MOST).ok_or_else(|| errors::taylor_order(n))?;
    cx.reserve((order * size_of::<Value>()) as u64)?;
    let tag = cx.fresh_tag();
    let arg = series::input(tag, x, order);
    call1_then(func, arg, Coefficients { tag, order })
}

struct Coefficients {
    tag: Tag,
    order: usize,
}

impl Resume for Coefficients {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        let derivatives = series::coefficients(cx, self.tag, &value, self.order)?;
        array::from_values(derivatives.into_iter()).map(Step::Done)
    }
}
