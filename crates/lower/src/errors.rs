//! Diagnostics of the lowering. A program that was checked has none of these, but for a limit on axes.

use wengert_base::{Diagnostic, Name, Span};

/// A variable that nothing binds.
pub(crate) fn unbound(span: Span, name: Name) -> Diagnostic {
    internal(span, &format!("`{name}` is not bound"))
}

/// A call of what is no function.
pub(crate) fn not_a_function(span: Span) -> Diagnostic {
    internal(span, "what is called is not a function")
}

/// Something that the checker has excluded. Its code is in no list: no program can be shown that gives it.
pub(crate) fn internal(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0899", span, format!("internal error: {what}"))
        .note("this is a bug in wengert, not in your program")
        .help("please report it together with the program")
}
