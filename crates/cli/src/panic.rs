//! A crash of the program itself is a bug, and says so.

use std::io::Write;

/// The exit status of a crash.
const CRASHED: i32 = 101;

/// From here on a panic prints a request for a report and ends the program.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let what = info.payload_as_str().unwrap_or("unknown reason");
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let mut err = std::io::stderr();
        // Nothing can be done if standard error is closed.
        let _ = writeln!(err, "wengert crashed: {what}{place}");
        let _ = writeln!(err, "This is a bug in wengert {}, not in your program.", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(err, "Please report it together with the program and the command you ran.");
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            let _ = writeln!(err, "{}", std::backtrace::Backtrace::force_capture());
        }
        std::process::exit(CRASHED);
    }));
}
