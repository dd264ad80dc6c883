//! `--timeout` for all of a command, from reading the program to the text of its result.
//!
//! What runs stops by itself when the time is up, and says where it was. What comes before and after it, and what takes long to
//! stop, does not look at the clock: a thread does, says the same a moment later, and ends the process.

use crate::output::{AT_FAULT, ends_progress, report};
use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use wengert_base::SourceMap;
use wengert_driver::Options;
use wengert_driver::render::Style;

/// So long after the time is up others may say it, who know more.
const GRACE: Duration = Duration::from_millis(500);

/// The limit, as long as this lives.
pub(crate) struct Deadline(Option<(Sender<()>, Instant)>);

impl Deadline {
    /// Begins to look at the clock, if there is a limit.
    pub(crate) fn start(options: &Options, style: Style) -> Deadline {
        let Some((limit, error)) = options.timeout.zip(options.too_late()) else { return Deadline(None) };
        let spent = options.begun.map_or(Duration::ZERO, |begun: Instant| begun.elapsed());
        let rest = limit.saturating_sub(spent);
        let (alive, over) = channel();
        let end = Instant::now().checked_add(rest);
        std::thread::spawn(move || {
            if let Err(RecvTimeoutError::Timeout) = over.recv_timeout(rest.saturating_add(GRACE)) {
                ends_progress();
                // If standard error is gone, there is nobody left to tell.
                let _ = report(&SourceMap::new(), &[error], style);
                std::process::exit(i32::from(AT_FAULT));
            }
        });
        // A time that is too far away to be named never comes.
        Deadline(end.map(|end| (alive, end)))
    }

    /// From here on the command may take its time: whoever reads what it writes may be slow. Gives the time that is left, if there
    /// is a limit.
    pub(crate) fn finish(self) -> Option<Duration> {
        self.0.map(|(_, end)| end.saturating_duration_since(Instant::now()))
    }
}

/// What writes only as long as there is time. That in which its reader keeps it waiting is not counted.
pub(crate) struct Timed<W> {
    to: W,
    left: Option<Duration>,
    since: Instant,
}

impl<W: Write> Timed<W> {
    /// Begins to count.
    pub(crate) fn new(to: W, left: Option<Duration>) -> Timed<W> {
        Timed { to, left, since: Instant::now() }
    }
}

impl<W: Write> Write for Timed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(self.since.elapsed()).ok_or(ErrorKind::TimedOut)?;
        }
        let written = self.to.write(bytes);
        self.since = Instant::now();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_when_the_time_is_up() {
        let mut to = Vec::new();
        assert!(Timed::new(&mut to, None).write_all(b"a").is_ok());
        assert!(Timed::new(&mut to, Some(Duration::MAX)).write_all(b"b").is_ok());
        let late = Timed::new(&mut to, Some(Duration::ZERO)).write_all(b"c");
        assert_eq!(late.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
        assert_eq!(to, b"ab");
    }
}
