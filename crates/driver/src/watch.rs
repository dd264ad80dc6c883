//! Stopping machine code from outside: it looks at one word, which a thread sets when the time is up or the user asks.

use crate::engine::Options;
use crate::native;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, Span};
use wengert_fault::Fault;

/// How often the thread looks.
const INTERVAL: Duration = Duration::from_millis(10);

/// What may stop a run.
pub(crate) struct Watch {
    /// Not 0 when the run is to stop.
    pub(crate) stop: Arc<AtomicU64>,
    interrupt: Arc<AtomicBool>,
    timeout: Option<Duration>,
    begun: Option<Instant>,
}

/// A run that is watched; the thread ends with it.
pub(crate) struct Watching {
    done: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
    timeout: Option<Duration>,
}

impl Watch {
    pub(crate) fn new(options: &Options) -> Watch {
        let (interrupt, timeout, begun) = (options.interrupt.clone(), options.timeout, options.begun);
        Watch { stop: Arc::default(), interrupt, timeout, begun }
    }

    /// Compiles something while watching.
    pub(crate) fn compiling<R>(&self, work: impl FnOnce() -> Result<R, Diagnostic>) -> Result<R, Diagnostic> {
        let watching = self.start();
        native::stoppable(&self.stop, work).map_err(|error| watching.explain(error))
    }

    /// Starts to watch.
    pub(crate) fn start(&self) -> Watching {
        self.stop.store(0, Ordering::Relaxed);
        let done = Arc::new(AtomicBool::new(false));
        let (stop, interrupt, timeout) = (self.stop.clone(), self.interrupt.clone(), self.timeout);
        let over = done.clone();
        let begin = self.begun.unwrap_or_else(Instant::now);
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let late = timeout.is_some_and(|timeout| begin.elapsed() > timeout);
                if late || interrupt.load(Ordering::Relaxed) {
                    stop.store(1, Ordering::Relaxed);
                }
                std::thread::sleep(INTERVAL);
            }
        });
        Watching { done, interrupt: self.interrupt.clone(), timeout }
    }
}

impl Watching {
    /// What is said of a run that was stopped: the time is up, unless the user asked.
    pub(crate) fn explain(&self, error: Diagnostic) -> Diagnostic {
        match self.timeout {
            Some(limit)
                if error.code == Fault::Interrupted.code() && !self.interrupt.load(Ordering::Relaxed) =>
            {
                Fault::Time { limit }.diagnostic(Span::NOWHERE)
            }
            _ => error,
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
