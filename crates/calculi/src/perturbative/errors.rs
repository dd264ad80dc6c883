//! What can be wrong with a term of the perturbative λ-calculus: `E0921` to `E0939`. All wording is here.

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

/// The kinds.
pub const CODES: &[Code] = &[
    Code { code: "E0921", title: "text that is no term of the perturbative calculus" },
    Code { code: "E0922", title: "term of the perturbative calculus too deeply nested" },
    Code { code: "E0923", title: "variable of the perturbative calculus without declaration" },
    Code { code: "E0924", title: "ill-typed term of the perturbative calculus" },
    Code { code: "E0925", title: "term of the perturbative calculus of infinite type" },
];

pub(super) fn syntax(span: Span, found: &str, expected: &str) -> Diagnostic {
    Diagnostic::error("E0921", span, format!("this is no term: found {found}, expected {expected}"))
        .label(format!("expected {expected}"))
        .help("terms are x, 1.5, 0, λx. s, s N, T s, ι1 s, π1 s, s + N, ⟨M, N⟩, x · y, x^2, sin x, D f x, [a, b]")
}

pub(super) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0922", span, format!("this term is nested more than {limit} levels deep"))
        .help("write it with fewer nested parts")
}

pub(super) fn unbound(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0923", span, format!("the variable `{name}` is not bound here"))
        .help(format!("bind it with `λ{name}.`, or declare it before the term: `{name} : R ⊢ …`"))
}

pub(super) fn mismatch(span: Span, expected: &str, found: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0924", span, format!("this term has type {found}, but {why} has type {expected}"))
        .label(format!("has type {found}"))
        .help("Figure 1 of the paper has the typing rules; `T σ` is `σ × σ`, the perturbation first")
}

pub(super) fn infinite(span: Span) -> Diagnostic {
    Diagnostic::error("E0925", span, "a part of this term would have a type that contains itself")
        .help("the calculus is simply typed: a function cannot be applied to itself")
}
