//! What the command writes: values to standard output, messages to standard error.
//!
//! A reader that closes the pipe early (`wengert doc | head`) has all it wants, so that is a quiet end and not an error.

use crate::args::When;
use crate::deadline::Timed;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;
use wengert_base::{Diagnostic, SourceMap};
use wengert_driver::render::{Style, text};

/// All went well.
pub(crate) const FINE: u8 = 0;
/// The user's program is at fault.
pub(crate) const AT_FAULT: u8 = 1;
/// The command was used wrongly.
pub(crate) const USAGE: u8 = 2;
/// The user pressed Ctrl-C; 128 and the number of the signal, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// The style of standard error.
pub(crate) fn error_style(when: When) -> Style {
    if is_colored(when, &io::stderr()) { Style::Colored } else { Style::Plain }
}

/// Whether a stream gets colors.
pub(crate) fn is_colored(when: When, stream: &impl IsTerminal) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            let wanted = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
            stream.is_terminal()
                && wanted("NO_COLOR")
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Writes to standard output through a buffer.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    print_within(None, write)
}

/// The same as long as there is time, if that is limited; after it, an error says so.
pub(crate) fn print_within(
    left: Option<Duration>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(Timed::new(io::stdout().lock(), left));
    let written = write(&mut out).and_then(|()| out.flush());
    if written.is_err() {
        // Else what is left would be written when the buffer goes.
        drop(out.into_parts());
    }
    written
}

/// Writes a text to standard output.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    print(|out| out.write_all(text.as_bytes()))
}

/// Writes diagnostics to standard error.
pub(crate) fn report(sources: &SourceMap, diagnostics: &[Diagnostic], style: Style) -> io::Result<()> {
    let mut err = io::stderr().lock();
    err.write_all(text::render(sources, diagnostics, style).as_bytes())?;
    err.flush()
}

/// Erases the line that says how long it has taken, if there may be one.
pub(crate) fn ends_progress() {
    let mut err = io::stderr();
    if err.is_terminal() {
        // Without a terminal to write to there is no line, and no harm.
        let _ = write!(err, "\r\u{1b}[K").and_then(|()| err.flush());
    }
}

/// Writes a remark to standard error.
pub(crate) fn note(text: &str) -> io::Result<()> {
    writeln!(io::stderr().lock(), "note: {text}")
}

/// The exit status of a command that ended with this result.
pub(crate) fn exit_code(result: io::Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(FINE),
        Err(error) => {
            // If standard error is gone too, there is nobody left to tell.
            let _ = writeln!(io::stderr(), "wengert: cannot write: {error}");
            ExitCode::from(USAGE)
        }
    }
}
