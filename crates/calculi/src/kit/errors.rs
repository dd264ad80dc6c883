//! Diagnostics of what the calculi share: `E0981` to `E0999`. All wording of the bridge and of limits is
//! here.

use super::trace::Stopped;
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Name, Span};

/// The kinds of diagnostics made here.
pub const CODES: &[Code] = &[
    Code { code: "E0981", title: "a construct is outside of the calculus" },
    Code { code: "E0982", title: "a program is too large for a calculus" },
    Code { code: "E0983", title: "a type has infinitely many parts" },
    Code { code: "E0984", title: "a reduction was stopped at a limit" },
];

/// A construct that the calculus has no term for; `takers` can take it.
pub fn outside(calculus: &str, construct: &str, takers: &[&str], span: Span) -> Diagnostic {
    Diagnostic::error("E0981", span, format!("{construct} is outside of the {calculus} calculus"))
        .help(self::takers(takers))
}

/// What to do about a program that a calculus cannot take.
pub fn takers(takers: &[&str]) -> String {
    match takers {
        [] => "no calculus can take it; `wengert eval` computes with the whole language".into(),
        [one] => format!("`{one}` can take this program: `--in {one}`"),
        [first, ..] => {
            let all: Vec<String> = takers.iter().map(|name| format!("`{name}`")).collect();
            format!("{} can take this program: `--in {first}`", all.join(" and "))
        }
    }
}

/// The program has no end of instances, or a great many.
pub fn too_large(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0982", span, format!("the program is too large to be traced: {what}"))
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

/// A reduction that met a limit.
pub fn stopped(stopped: Stopped, limit: u64) -> Diagnostic {
    let (message, option) = match stopped {
        Stopped::Steps => (format!("the reduction was stopped after {limit} steps"), "--max-steps"),
        Stopped::Size => {
            (format!("the reduction was stopped at a term of more than {limit} nodes"), "--max-size")
        }
    };
    Diagnostic::error("E0984", Span::NOWHERE, message)
        .note("it may have no end, or just be long")
        .help(format!("`{option} N` sets another limit"))
}
