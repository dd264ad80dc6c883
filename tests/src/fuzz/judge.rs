//! What every target demands of messages: they are of a listed kind, none is an internal error, they say something, they
//! lie inside the text between characters, and they can be shown.

use wengert_base::{Diagnostic, SourceMap, Span};
use wengert_driver::render::{Style, json, text};

/// Holds diagnostics against that.
pub(super) fn diagnostics(sources: &SourceMap, diagnostics: &[Diagnostic]) -> Result<(), String> {
    for diagnostic in diagnostics {
        let wrong = |what: &str| Err(format!("a message {what}: {diagnostic:?}"));
        if diagnostic.message.trim().is_empty() {
            return wrong("is empty");
        }
        if diagnostic.message.contains("internal error") {
            return wrong("is an internal error");
        }
        if !wengert_driver::all_codes().iter().any(|code| code.code == diagnostic.code) {
            return wrong("is of no listed kind");
        }
        let mut labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
        if !labels.all(|label| is_inside(sources, label.span)) {
            return wrong("lies outside of the text");
        }
    }
    let shown = text::render(sources, diagnostics, Style::Plain);
    text::render(sources, diagnostics, Style::Colored);
    json::render(sources, diagnostics);
    match diagnostics.first() {
        Some(_) if !shown.contains("[E") => Err(format!("a message is shown without its code: {shown}")),
        Some(_) | None => Ok(()),
    }
}

fn is_inside(sources: &SourceMap, span: Span) -> bool {
    if span.is_nowhere() {
        return true;
    }
    let Some(file) = sources.get(span.source) else { return false };
    let (start, end) = (span.start as usize, span.end as usize);
    start <= end && file.text.is_char_boundary(start) && file.text.is_char_boundary(end)
}
