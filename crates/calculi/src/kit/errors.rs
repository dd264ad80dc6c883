//! Diagnostics of what the calculi share: `E0984`. All wording of limits is
//! here.

use super::trace::Stopped;
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

pub use wengert_mono::errors::unknown_definition;

/// The kinds of diagnostics made here.
pub const CODES: &[Code] = &[Code { code: "E0984", title: "a reduction was stopped at a limit" }];

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

/// A reduction that met a limit.
pub fn stopped(stopped: Stopped, limit: u64) -> Diagnostic {
    let (message, help) = match stopped {
        Stopped::Steps => (format!("after {limit} steps"), "`--max-steps N` sets another limit"),
        Stopped::Size => {
            (format!("at a term of more than {limit} nodes"), "`--max-size N` sets another limit")
        }
        Stopped::Work => (
            format!("when its steps had looked through {limit} nodes"),
            "reduce a smaller term, or a part of this one",
        ),
    };
    Diagnostic::error("E0984", Span::NOWHERE, format!("the reduction was stopped {message}"))
        .note("it may have no end, or just be long")
        .help(help)
}
