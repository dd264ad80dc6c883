//! Diagnostics for people and for tools: as text with the source line underlined ([`text`]), or as JSON ([`json`]).
//!
//! Crates make plain [`Diagnostic`]s; only this module knows what they look like. Messages come in the order in which
//! they stand in the source, and at most [`LIMIT`] of them: after a broken line the hundredth consequence helps no one.

pub mod excerpt;
pub mod json;
pub mod text;

use wengert_base::Diagnostic;

/// So many diagnostics are shown at once.
pub const LIMIT: usize = 20;

/// Whether text is for a terminal that shows colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No escape sequences.
    #[default]
    Plain,
    /// Colors by escape sequences.
    Colored,
}

/// In source order; what stands nowhere comes last.
fn in_source_order(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut ordered: Vec<&Diagnostic> = diagnostics.iter().collect();
    ordered.sort_by_key(|diagnostic| diagnostic.primary.span);
    ordered
}
