//! `checkpoint f x`: in reverse mode the function is run without its perturbations, and a node of the tape remembers it
//! with its argument; when the tape runs backward, it runs the function again on a tape of its own. Perturbations that
//! `f` has captured count as further inputs.

use super::{call1, call1_then};
use crate::note;
use crate::perturb::{self, Mode};
use crate::step::{Context, Failure, Resume, Step};
use crate::tape::{Abstraction, Tape};
use crate::value::Value;
use std::rc::Rc;

/// Calls `func` at `x`, remembering no steps.
pub(crate) fn checkpoint(cx: &mut Context, func: Value, x: Value) -> Result<Step, Failure> {
    let together = Value::tuple([func.clone(), x.clone()]);
    match perturb::largest_tag(&together) {
        Some((tag, Mode::Reverse(tape))) => {
            let call = Abstraction::of(cx, &tape, &together)?;
            let (func, x) = (perturb::strip(tag, &func), perturb::strip(tag, &x));
            call1_then(func, x, Note { tape, call })
        }
        Some((_, Mode::Forward | Mode::Series(_))) | None => call1(func, x),
    }
}

struct Note {
    tape: Rc<Tape>,
    call: Abstraction,
}

impl Resume for Note {
    fn resume(self: Box<Self>, cx: &mut Context, y: Value) -> Result<Step, Failure> {
        note::note_checkpoint(cx, &self.tape, self.call, &y).map(Step::Done)
    }
}
