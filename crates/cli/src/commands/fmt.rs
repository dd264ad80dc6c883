//! `wengert fmt`: the one layout.
//!
//! A file is replaced only if its text changes, and then as a whole: the new text goes to a file beside it, which
//! takes the old one's permissions and then its name. A crash or a full disk leaves the old file as it was.

use crate::output::{AT_FAULT, FINE, print_text, report};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use wengert_base::{Diagnostic, SourceMap, Span};
use wengert_driver::errors;
use wengert_driver::files::{MAX_PROGRAM_BYTES, read_text};
use wengert_driver::render::Style;

/// Formats files in place, or lists those that would change.
pub(crate) fn fmt(files: &[PathBuf], check: bool, style: Style) -> io::Result<u8> {
    let mut sources = SourceMap::new();
    let mut status = FINE;
    for file in files {
        let outcome = match file.as_os_str() == "-" {
            true => format_stdin(&mut sources, check),
            false => format_file(&mut sources, file, check),
        };
        match outcome {
            Ok(Outcome::Same) => {}
            Ok(Outcome::Different) if check => {
                print_text(&format!("{}\n", file.display()))?;
                status = AT_FAULT;
            }
            Ok(Outcome::Different) => {}
            Ok(Outcome::Text(text)) => print_text(&text)?,
            Err(diagnostics) => {
                report(&sources, &diagnostics, style)?;
                status = AT_FAULT;
            }
        }
    }
    Ok(status)
}

enum Outcome {
    Same,
    Different,
    Text(String),
}

fn format_file(sources: &mut SourceMap, file: &Path, check: bool) -> Result<Outcome, Vec<Diagnostic>> {
    let text = read_text(file, Span::NOWHERE, MAX_PROGRAM_BYTES).map_err(|error| vec![error])?;
    let formatted = format_text(sources, &file.display().to_string(), &text)?;
    if formatted == text {
        return Ok(Outcome::Same);
    }
    if !check {
        replace(file, &formatted)
            .map_err(|error| vec![errors::unwritable(&file.display().to_string(), &error)])?;
    }
    Ok(Outcome::Different)
}

fn format_stdin(sources: &mut SourceMap, check: bool) -> Result<Outcome, Vec<Diagnostic>> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| vec![errors::unreadable(Span::NOWHERE, "<stdin>", &error)])?;
    let formatted = format_text(sources, "<stdin>", &text)?;
    Ok(match check {
        true if formatted == text => Outcome::Same,
        true => Outcome::Different,
        false => Outcome::Text(formatted),
    })
}

fn format_text(sources: &mut SourceMap, name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
    let source = sources.add(name, text);
    wengert_driver::format(text, source)
}

/// Puts `text` in the place of the file, at once or not at all.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let target = file.canonicalize()?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let write = || {
        let mut out = fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        out.write_all(text.as_bytes())?;
        out.set_permissions(fs::metadata(&target)?.permissions())?;
        out.sync_all()?;
        fs::rename(&beside, &target)
    };
    let result = write();
    if result.is_err() {
        // The old file is untouched; that the new one may stay behind is not worth a second message.
        let _ = fs::remove_file(&beside);
    }
    result
}
