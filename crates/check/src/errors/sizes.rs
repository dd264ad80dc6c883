//! E05xx: sizes of arrays.

use super::{E0501, E0502, E0503, E0504, E0505};
use wengert_base::{Diagnostic, Name, Span};

pub(crate) fn contradiction(span: Span, a: u64, b: u64) -> Diagnostic {
    Diagnostic::error(E0501, span, format!("an array of size {a} is needed, but this has size {b}"))
        .label(format!("has size {b}, not {a}"))
        .help("arrays that are used together need the same size; `slice` shortens one")
}

pub(crate) fn size_in_declaration(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0502, span, format!("size `{name}` is not known in a declaration"))
        .label("not bound")
        .help("write a number, or `[]` for any size")
}

pub(crate) fn size_only_in_result(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error(E0503, span, format!("no argument determines the size `{name}` of the result"))
        .label("occurs only in the result")
        .help(format!(
            "write `[]` for a size that only the running program knows, or add a parameter `({name} : Int)`"
        ))
}

pub(crate) fn index_outside(index: &str, len: u64, span: Span, array: Span) -> Diagnostic {
    let message = format!(
        "index {index} is outside of an array of {len} {}",
        if len == 1 { "element" } else { "elements" }
    );
    let diagnostic = Diagnostic::error(E0504, span, message)
        .label("outside")
        .also(array, format!("this array has size {len}"));
    if len == 0 {
        diagnostic.help("an empty array has no elements")
    } else {
        diagnostic.help(format!("indices go from 0 to {}", len - 1))
    }
}

pub(crate) fn variable_of_two_kinds(name: Name, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error(
        E0505,
        span,
        format!("`{name}` cannot be a type, a size and the rest of a record at once"),
    )
    .label("another kind of thing here")
    .also(before, "first used here")
    .help("use different names")
}
