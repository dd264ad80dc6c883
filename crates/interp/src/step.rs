//! How built-in functions that call back into the program take part in the machine without recursion: they are state
//! machines. A step either is done or asks for a call and says how to go on with its result.

use crate::errors;
use crate::value::{Tag, Value, live_bytes};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to do next.
pub enum Step {
    /// The result is there.
    Done(Value),
    /// Call a function; `then` goes on with the result, and without it the call's result is the result.
    Call {
        /// The function.
        func: Value,
        /// Its arguments, at least one.
        args: SmallVec<[Value; 2]>,
        /// How to go on.
        then: Option<Box<dyn Resume>>,
    },
    /// Do one thing, and go on with its result.
    Chain {
        /// What is done first.
        first: Box<Step>,
        /// How to go on.
        then: Box<dyn Resume>,
    },
}

impl Step {
    /// This step, and what to do with its result.
    pub fn and_then(self, then: impl Resume + 'static) -> Step {
        Step::Chain { first: Box::new(self), then: Box::new(then) }
    }
}

/// The rest of a built-in function, waiting for the result of a call. Held on the machine's explicit stack.
pub trait Resume {
    /// Goes on with the result. A loop returns itself as `then` of the next [`Step::Call`].
    fn resume(self: Box<Self>, cx: &mut Context, value: Value) -> Result<Step, Failure>;

    /// Bytes this frame holds, for the memory limit.
    fn bytes(&self) -> usize {
        64
    }
}

/// How much an evaluation may use. Without further ado memory is limited to [`Limits::DEFAULT_MEMORY`] and nothing else.
#[derive(Clone)]
pub struct Limits {
    /// Steps: instructions of the code, and elements that built-in functions work on.
    pub max_steps: Option<u64>,
    /// Bytes of values, tapes and stack.
    pub max_memory: u64,
    /// Wall-clock time of one evaluation.
    pub timeout: Option<Duration>,
    /// When that time began to count; with the evaluation, if there is nothing here.
    pub begun: Option<Instant>,
    /// Set by another thread to stop the evaluation.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Called now and then with the number of steps so far.
    pub progress: Option<Rc<dyn Fn(u64)>>,
}

impl Limits {
    /// 4 GiB.
    pub const DEFAULT_MEMORY: u64 = 4 << 30;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_steps: None,
            max_memory: Limits::DEFAULT_MEMORY,
            timeout: None,
            begun: None,
            interrupt: None,
            progress: None,
        }
    }
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("max_steps", &self.max_steps)
            .field("max_memory", &self.max_memory)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What all built-in functions share during one evaluation.
#[derive(Debug)]
pub struct Context {
    /// Floating-point operations so far, weighted by the costs in `wengert_prim`.
    pub flops: u64,
    /// The last tag handed out.
    last_tag: u64,
    /// Steps so far.
    pub(crate) steps: u64,
    /// Limits are looked at again when `steps` gets here.
    pub(crate) next_check: u64,
    /// Bytes of the machine's stacks, as of the last check.
    pub(crate) stack_bytes: u64,
    limits: Limits,
    /// [`live_bytes`] when the evaluation began.
    bytes_at_start: u64,
    /// When it must be over.
    deadline: Option<Instant>,
    steps_at_start: u64,
}

/// How many steps pass between two looks at the limits.
const STEPS_BETWEEN_CHECKS: u64 = 4096;

impl Context {
    /// A fresh context without limits but on memory.
    pub fn new() -> Context {
        Context::with_limits(Limits::default())
    }

    /// A fresh context.
    pub fn with_limits(limits: Limits) -> Context {
        let mut context = Context {
            flops: 0,
            last_tag: 0,
            steps: 0,
            next_check: 0,
            stack_bytes: 0,
            limits,
            bytes_at_start: live_bytes(),
            deadline: None,
            steps_at_start: 0,
        };
        context.start();
        context
    }

    /// Begins an evaluation: time and memory count from here.
    pub(crate) fn start(&mut self) {
        self.steps_at_start = self.steps;
        self.bytes_at_start = live_bytes();
        let begin = self.limits.begun.unwrap_or_else(Instant::now);
        self.deadline = self.limits.timeout.and_then(|timeout| begin.checked_add(timeout));
        self.stack_bytes = 0;
        self.schedule_check();
    }

    /// Other limits, from the next evaluation on.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// A tag larger than all before.
    pub fn fresh_tag(&mut self) -> Tag {
        self.last_tag += 1;
        Tag(self.last_tag)
    }

    /// Counts `steps` steps of a built-in function, and stops it where a limit says so.
    pub fn work(&mut self, steps: u64) -> Result<(), Failure> {
        self.steps += steps;
        if self.steps >= self.next_check { self.check() } else { Ok(()) }
    }

    /// Asks for `bytes` more before they are allocated.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Failure> {
        let used = self.used_bytes();
        if used.saturating_add(bytes) > self.limits.max_memory {
            return Err(errors::memory_limit(self.limits.max_memory));
        }
        Ok(())
    }

    /// Bytes in use by this evaluation.
    fn used_bytes(&self) -> u64 {
        live_bytes().saturating_sub(self.bytes_at_start) + self.stack_bytes
    }

    /// Looks at all limits.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        let steps = self.steps - self.steps_at_start;
        if let Some(max) = self.limits.max_steps
            && steps >= max
        {
            return Err(errors::step_limit(max));
        }
        if self.used_bytes() > self.limits.max_memory {
            return Err(errors::memory_limit(self.limits.max_memory));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(errors::timeout(self.limits.timeout.unwrap_or_default()));
        }
        if self.limits.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(errors::interrupted());
        }
        if let Some(progress) = &self.limits.progress {
            progress(steps);
        }
        self.schedule_check();
        Ok(())
    }

    fn schedule_check(&mut self) {
        let last = self.limits.max_steps.map_or(u64::MAX, |max| self.steps_at_start.saturating_add(max));
        self.next_check = (self.steps + STEPS_BETWEEN_CHECKS).min(last);
    }
}

impl Default for Context {
    fn default() -> Context {
        Context::new()
    }
}

/// Why evaluation stopped; the machine adds where, and makes a diagnostic of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub Box<FailureText>);

/// The words of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureText {
    /// The kind of diagnostic.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}
