//! Limits of an evaluation, and what is counted.

use super::value::live_bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wengert_fault::{Fault, MOST_ELEMENTS};

/// How much an evaluation may use. Without further ado memory is limited to [`Limits::DEFAULT_MEMORY`] and nothing else.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Steps: statements, and elements that array operations work on.
    pub max_steps: Option<u64>,
    /// Bytes of values and stack.
    pub max_memory: u64,
    /// Wall-clock time of one call.
    pub timeout: Option<Duration>,
    /// Not 0 when another thread wants the evaluation to stop.
    pub interrupt: Option<Arc<AtomicU64>>,
}

impl Limits {
    /// 4 GiB.
    pub const DEFAULT_MEMORY: u64 = 4 << 30;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_steps: None, max_memory: Limits::DEFAULT_MEMORY, timeout: None, interrupt: None }
    }
}

/// What an evaluation has used.
#[derive(Debug)]
pub(super) struct Meter {
    /// Floating-point operations, weighted by their costs.
    pub(super) flops: u64,
    steps: u64,
    /// Limits are looked at again when `steps` gets here.
    next_check: u64,
    steps_at_start: u64,
    bytes_at_start: u64,
    /// Bytes of the stacks, as of the last check.
    pub(super) stack_bytes: u64,
    deadline: Option<Instant>,
    limits: Limits,
    /// How many indices come after the one that was out of range.
    pub(super) indices_after: usize,
}

/// How many steps pass between two looks at the limits.
const STEPS_BETWEEN_CHECKS: u64 = 4096;

impl Meter {
    pub(super) fn new(limits: Limits) -> Meter {
        Meter {
            flops: 0,
            steps: 0,
            next_check: 0,
            steps_at_start: 0,
            bytes_at_start: 0,
            stack_bytes: 0,
            deadline: None,
            limits,
            indices_after: 0,
        }
    }

    /// Begins a call: time, steps and memory count from here.
    pub(super) fn start(&mut self) {
        self.steps_at_start = self.steps;
        self.bytes_at_start = live_bytes();
        self.stack_bytes = 0;
        self.indices_after = 0;
        self.deadline = self.limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.schedule_check();
    }

    /// Steps so far, all calls together.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts steps, and stops where a limit says so.
    #[inline]
    pub(super) fn work(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps += steps as u64;
        if self.steps >= self.next_check { self.check() } else { Ok(()) }
    }

    /// Asks for bytes before they are allocated.
    pub(super) fn reserve(&mut self, bytes: u64) -> Result<(), Fault> {
        if self.used_bytes().saturating_add(bytes) > self.limits.max_memory {
            return Err(Fault::Memory { limit: self.limits.max_memory });
        }
        Ok(())
    }

    /// A count of elements that will be stored.
    pub(super) fn storable(&mut self, function: &str, count: i64) -> Result<usize, Fault> {
        let function = function.into();
        let size = usize::try_from(count).map_err(|_| Fault::NegativeCount { function, count })?;
        if count > MOST_ELEMENTS {
            return Err(Fault::TooLarge { function, count });
        }
        let bytes = (size as u64).saturating_mul(size_of::<f64>() as u64);
        self.reserve(bytes)?;
        Ok(size)
    }

    fn used_bytes(&self) -> u64 {
        live_bytes().saturating_sub(self.bytes_at_start) + self.stack_bytes
    }

    fn check(&mut self) -> Result<(), Fault> {
        let steps = self.steps - self.steps_at_start;
        if let Some(limit) = self.limits.max_steps
            && steps >= limit
        {
            return Err(Fault::Steps { limit });
        }
        if self.used_bytes() > self.limits.max_memory {
            return Err(Fault::Memory { limit: self.limits.max_memory });
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Fault::Time { limit: self.limits.timeout.unwrap_or_default() });
        }
        if self.limits.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed) != 0) {
            return Err(Fault::Interrupted);
        }
        self.schedule_check();
        Ok(())
    }

    fn schedule_check(&mut self) {
        let last = self.limits.max_steps.map_or(u64::MAX, |max| self.steps_at_start.saturating_add(max));
        self.next_check = (self.steps + STEPS_BETWEEN_CHECKS).min(last);
    }
}
