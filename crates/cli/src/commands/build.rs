//! `build`: a library for C programs.

use crate::interrupt;
use crate::output::{AT_FAULT, FINE, print_text, report};
use std::io;
use std::path::Path;
use std::time::Duration;
use wengert_driver::render::Style;
use wengert_driver::{Build, Options, Session};

/// `wengert build FILE`
pub(crate) fn build(
    file: &Path,
    what: &Build,
    folder: &Path,
    timeout: Option<Duration>,
    style: Style,
) -> io::Result<u8> {
    let options = Options { timeout, interrupt: interrupt::flag(), ..Options::default() };
    let mut session = Session::new();
    match session.build(file, what, folder, &options) {
        Ok(built) => {
            let text: String = built.files.iter().map(|file| format!("{}\n", file.display())).collect();
            print_text(&text)?;
            Ok(FINE)
        }
        Err(diagnostics) => {
            report(session.sources(), &diagnostics, style)?;
            Ok(AT_FAULT)
        }
    }
}
