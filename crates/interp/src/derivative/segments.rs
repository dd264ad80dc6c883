//! Long loops inside a checkpoint. When a checkpoint is run again, its tape must not hold all steps of a long loop at
//! once: the loop is split into segments, each a checkpoint of its own, and the segments again when they are run. With
//! `n` steps in segments of a 16th there are about `log₁₆ (n / 4096)` levels; each step is run once for each level, and
//! at most 4096 steps and 16 states for each level are held at any time.

use super::closures;
use crate::builtins::array::array;
use crate::builtins::{loops, rearrange};
use crate::perturb::{self, Mode};
use crate::step::{Context, Failure, Resume, Step};
use crate::value::Value;
use smallvec::smallvec;
use wengert_prim::Prim;

/// Loops of at most this many steps are recorded.
const RECORDED_STEPS: usize = 4096;
/// Segments that a longer loop is split into.
const SEGMENTS: usize = 16;

/// Whether the loop over these values is on the tape of a checkpoint that is run again.
fn is_rematerialized(parts: &[&Value]) -> bool {
    let together = Value::tuple(parts.iter().copied().cloned());
    match perturb::largest_tag(&together) {
        Some((_, Mode::Reverse(tape))) => tape.remat.get(),
        Some((_, Mode::Forward | Mode::Series(_))) | None => false,
    }
}

/// `iterate times func state` in segments, if it should be.
pub(crate) fn iterate(
    cx: &mut Context,
    times: usize,
    func: &Value,
    state: &Value,
) -> Result<Option<Step>, Failure> {
    if times <= RECORDED_STEPS || !is_rematerialized(&[func, state]) {
        return Ok(None);
    }
    let segments =
        Segments { work: Work::Iterate { func: func.clone(), left: times }, size: segment_size(times) };
    Box::new(segments).next(cx, state.clone()).map(Some)
}

/// `fold func state items` in segments, if it should be.
pub(crate) fn fold(
    cx: &mut Context,
    func: &Value,
    state: &Value,
    items: &Value,
) -> Result<Option<Step>, Failure> {
    let length = array(items)?.len();
    if length <= RECORDED_STEPS || !is_rematerialized(&[func, state, items]) {
        return Ok(None);
    }
    let work = Work::Fold { func: func.clone(), items: items.clone(), at: 0 };
    Box::new(Segments { work, size: segment_size(length) }).next(cx, state.clone()).map(Some)
}

/// `while_loop condition func state` in segments, if it should be: it is run without the tape first, to count.
pub(crate) fn while_loop(
    cx: &mut Context,
    condition: &Value,
    func: &Value,
    state: &Value,
) -> Result<Option<Step>, Failure> {
    let together = Value::tuple([condition.clone(), func.clone(), state.clone()]);
    let Some((tag, Mode::Reverse(tape))) = perturb::largest_tag(&together) else { return Ok(None) };
    if !tape.remat.get() {
        return Ok(None);
    }
    cx.work(1)?;
    let strip = |value: &Value| perturb::strip(tag, value);
    let after = (func.clone(), state.clone());
    loops::count_rounds(strip(condition), strip(func), strip(state), after).map(Some)
}

fn segment_size(steps: usize) -> usize {
    steps.div_ceil(SEGMENTS)
}

enum Work {
    Iterate { func: Value, left: usize },
    Fold { func: Value, items: Value, at: usize },
}

struct Segments {
    work: Work,
    size: usize,
}

impl Segments {
    fn next(mut self: Box<Self>, cx: &mut Context, state: Value) -> Result<Step, Failure> {
        let segment = match &mut self.work {
            Work::Iterate { left: 0, .. } => return Ok(Step::Done(state)),
            Work::Iterate { func, left } => {
                let steps = self.size.min(*left);
                *left -= steps;
                let iterate = closures::primitive(Prim::Iterate, &[0, 1, 2]);
                closures::partial(iterate, [Value::Int(steps as i64), func.clone()])
            }
            Work::Fold { func, items, at } => {
                let whole = array(items)?;
                let end = whole.len().min(*at + self.size);
                if *at == end {
                    return Ok(Step::Done(state));
                }
                let items = rearrange::rearranged(cx, whole, *at..end)?;
                *at = end;
                let fold = closures::primitive(Prim::Fold, &[0, 2, 1]);
                closures::partial(fold, [func.clone(), items])
            }
        };
        let checkpoint = closures::primitive(Prim::Checkpoint, &[0, 1]);
        Ok(Step::Call { func: checkpoint, args: smallvec![segment, state], then: Some(self) })
    }
}

impl Resume for Segments {
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure> {
        self.next(cx, value)
    }
}

/// Goes on after the rounds of a `while_loop` are counted.
pub(crate) fn after_counting(
    cx: &mut Context,
    rounds: usize,
    func: Value,
    state: Value,
) -> Result<Step, Failure> {
    match iterate(cx, rounds, &func, &state)? {
        Some(step) => Ok(step),
        None => loops::iterate(rounds, func, state),
    }
}
