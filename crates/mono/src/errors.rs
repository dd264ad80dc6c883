//! Diagnostics of the bridge from the core: `E0982` and `E0983`. All its wording is here.

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Name, Span};

/// The kinds of diagnostics made here.
pub const CODES: &[Code] = &[
    Code { code: "E0982", title: "a program is too large for a calculus" },
    Code { code: "E0983", title: "a type has infinitely many parts" },
];

/// How the message of a program that is too large begins.
const TOO_LARGE: &str = "the program is too large to be traced: ";

/// Why a program has no simple types that can be worked with, if that is the error: without a word of calculi.
pub fn reason(error: &Diagnostic) -> Option<&str> {
    let is_own = CODES.iter().any(|code| code.code == error.code);
    is_own.then(|| error.message.strip_prefix(TOO_LARGE).unwrap_or(&error.message))
}

/// The program has no end of instances, or a great many.
pub fn too_large(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0982", span, format!("{TOO_LARGE}{what}"))
        .note("a calculus is simply typed: each polymorphic definition is copied for each type at which it is used")
        .help("trace a smaller expression, or use definitions at fewer types")
}

/// A data type whose fields hold it at ever larger arguments.
pub fn irregular_data(span: Span, name: Name) -> Diagnostic {
    let shown = name.as_str().rsplit('.').next().unwrap_or_default();
    Diagnostic::error("E0983", span, format!("`{shown}` has infinitely many types as parts"))
        .note("it holds itself at larger and larger arguments, and a calculus has only simple types")
        .help("trace an expression that does not use it; `wengert eval` can compute with it")
}

/// A definition that needs itself and is no function; the checker accepts none.
pub fn recursive_value(span: Span, name: Name) -> Diagnostic {
    internal(span, format!("`{name}` is defined by itself and is not a function"))
}

/// A definition that the program lacks.
pub fn unknown_definition(span: Span, name: Name) -> Diagnostic {
    internal(span, format!("there is no definition `{name}`"))
}

/// Something that the checker has excluded. Its code is not in the list: no program can be shown that gives it.
fn internal(span: Span, what: String) -> Diagnostic {
    Diagnostic::error("E0899", span, format!("internal error: {what}"))
        .note("this is a bug in wengert, not in your program")
        .help("please report it together with the program")
}
