//! Reading text files: the only place where this library touches the file system.

use crate::errors;
use std::io::Read;
use std::path::Path;
use wengert_base::{Diagnostic, Span};

/// Larger programs are refused: positions are 32 bits, and a file of this size is a mistake.
pub const MAX_PROGRAM_BYTES: u64 = 64 << 20;

/// Larger inputs are refused: positions are 32 bits.
pub const MAX_INPUT_BYTES: u64 = 1 << 30;

/// The text of the file at `path`, without a byte order mark. `span` is the import that asks for it, if one does: of
/// what is no regular file, as a pipe, nothing is read then.
pub fn read_text(path: &Path, span: Span, limit: u64) -> Result<String, Diagnostic> {
    let shown = path.display().to_string();
    // The user may name a pipe, and wait for it. A program may not make anybody wait.
    if !span.is_nowhere() && std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(errors::no_regular_file(span, &shown));
    }
    let file = std::fs::File::open(path).map_err(|error| errors::unreadable(span, &shown, &error))?;
    text_of(file, &shown, span, limit)
}

/// The text on standard input.
pub fn read_stdin(limit: u64) -> Result<String, Diagnostic> {
    text_of(std::io::stdin().lock(), STDIN, Span::NOWHERE, limit)
}

/// What messages call standard input.
pub const STDIN: &str = "<stdin>";

fn text_of(from: impl Read, shown: &str, span: Span, limit: u64) -> Result<String, Diagnostic> {
    let mut bytes = Vec::new();
    // The length that the system states is a hint only: for a pipe or a device there is none.
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| errors::unreadable(span, shown, &error))?;
    if bytes.len() as u64 > limit {
        return Err(errors::too_large(span, shown, limit));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| errors::not_utf8(span, shown, error.utf8_error().valid_up_to()))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    })
}
