//! E04xx: patterns.

use super::{E0401, E0402, E0403, E0404, E0405, E0406, E0407};
use wengert_base::{Diagnostic, Name, Span};

fn list(missing: &[String]) -> String {
    if missing.iter().any(|case| case == "_") {
        return "all other values".to_owned();
    }
    missing.iter().map(|case| format!("`{case}`")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn not_exhaustive(scrutinee: Span, missing: &[String]) -> Diagnostic {
    let help = match missing.first() {
        Some(first) if first != "_" => {
            format!("add an arm `| {first} -> …`, or `| _ -> …` for everything else")
        }
        Some(_) | None => "add an arm `| _ -> …` for everything else".to_owned(),
    };
    let all = missing.iter().any(|case| case == "_");
    let what = if all { "every value".to_owned() } else { list(missing) };
    Diagnostic::error(E0401, scrutinee, format!("this `match` does not cover {what}"))
        .label("may be a value that no arm matches")
        .help(help)
}

pub(crate) fn redundant(span: Span) -> Diagnostic {
    Diagnostic::warning(E0402, span, "this arm is never used: the arms above match everything that it does")
        .label("never reached")
        .help("remove it, or move it up")
}

pub(crate) fn refutable(span: Span, place: &str, missing: &[String]) -> Diagnostic {
    Diagnostic::error(
        E0403,
        span,
        format!("a pattern in a {place} must always match, but this one misses {}", list(missing)),
    )
    .label("can fail")
    .help("use `match … with`, with an arm for every case")
}

pub(crate) fn ctor_arguments(
    name: Name,
    wanted: usize,
    given: usize,
    span: Span,
    declared: Span,
) -> Diagnostic {
    let fields = if wanted == 1 { "1 field".to_owned() } else { format!("{wanted} fields") };
    let patterns = if given == 1 { "1 pattern".to_owned() } else { format!("{given} patterns") };
    let shape = format!("{name}{}", " _".repeat(wanted));
    Diagnostic::error(
        E0404,
        span,
        format!("constructor `{name}` has {fields}, but this pattern has {patterns} for them"),
    )
    .label(format!("`{shape}` is what it looks like"))
    .also(declared, "the type is declared here")
}

pub(crate) fn wrong_type(span: Span, matched: Span, want: &str, got: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(E0405, span, format!("this pattern matches {got}, but the value is {want}"))
            .label(format!("matches {got}"));
    if matched == span { diagnostic } else { diagnostic.also(matched, format!("this is {want}")) }
}

pub(crate) fn tuple_length(
    span: Span,
    matched: Span,
    given: usize,
    wanted: usize,
    shown: &str,
) -> Diagnostic {
    let message = format!("this pattern has {given} parts, but the tuple has {wanted}");
    let diagnostic = Diagnostic::error(E0406, span, message).label(format!("{given} parts"));
    if matched == span { diagnostic } else { diagnostic.also(matched, format!("this is {shown}")) }
}

pub(crate) fn no_such_field(
    field: Name,
    span: Span,
    matched: Span,
    shown: &str,
    similar: Option<Name>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(E0407, span, format!("the record has no field `{field}`"))
        .label("not found")
        .also(matched, format!("this is {shown}"));
    match similar {
        Some(similar) => diagnostic.help(format!("perhaps `{similar}` is meant")),
        None => diagnostic,
    }
}
