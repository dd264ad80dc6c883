//! A sign of life on long evaluations: after a second, a line on the terminal with the time spent so far.
//!
//! Only if standard error is a terminal. The line is erased before anything else is written.

use crate::output::ends_progress;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wengert_driver::Options;

/// So long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line changes.
const BEAT: Duration = Duration::from_millis(200);

/// The line, as long as this lives.
pub(crate) struct Progress {
    shown_by: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to count the time.
    pub(crate) fn start(options: &Options) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { shown_by: None };
        }
        let (sender, receiver) = channel();
        let steps = options.steps.clone();
        let thread =
            std::thread::spawn(move || show(&receiver, &|| steps.load(std::sync::atomic::Ordering::Relaxed)));
        Progress { shown_by: Some((sender, thread)) }
    }

    /// Erases the line.
    pub(crate) fn finish(self) {
        if let Some((sender, thread)) = self.shown_by {
            drop(sender);
            // The thread only writes to the terminal; if it died, there is no line.
            let _ = thread.join();
        }
    }
}

fn show(finished: &Receiver<()>, steps: &dyn Fn() -> u64) {
    let start = Instant::now();
    let mut pause = PATIENCE;
    let mut shown = false;
    while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(pause) {
        let line = status(start.elapsed(), steps());
        // Without a terminal to write to there is no line, and no harm.
        let _ = write!(io::stderr(), "\r\u{1b}[K{line}");
        let _ = io::stderr().flush();
        shown = true;
        pause = BEAT;
    }
    if shown {
        ends_progress();
    }
}

/// `running: 3 s, 120 million steps (Ctrl-C stops)`
fn status(elapsed: Duration, steps: u64) -> String {
    let steps = match steps {
        0 => String::new(),
        1..1_000_000 => format!(", {steps} steps"),
        _ => format!(", {} million steps", steps / 1_000_000),
    };
    format!("running: {} s{steps} (Ctrl-C stops)", elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_long_and_how_much() {
        assert_eq!(status(Duration::from_millis(1200), 0), "running: 1 s (Ctrl-C stops)");
        assert_eq!(
            status(Duration::from_secs(70), 2_500_000),
            "running: 70 s, 2 million steps (Ctrl-C stops)"
        );
    }
}
