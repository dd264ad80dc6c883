//! What can be wrong with a term of the perturbative λ-calculus: `E0921` to `E0939`. All wording is here.

use crate::kit::errors::takers;
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

/// The kinds.
pub const CODES: &[Code] = &[
    Code { code: "E0921", title: "text that is no term of the perturbative calculus" },
    Code { code: "E0922", title: "term of the perturbative calculus too deeply nested" },
    Code { code: "E0923", title: "variable of the perturbative calculus without declaration" },
    Code { code: "E0924", title: "ill-typed term of the perturbative calculus" },
    Code { code: "E0925", title: "term of the perturbative calculus of infinite type" },
    Code { code: "E0926", title: "a program outside the fragment of the perturbative calculus" },
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

/// A construct of a program that the calculus has no term for.
pub(super) fn outside(span: Span, construct: &str) -> Diagnostic {
    Diagnostic::error("E0926", span, format!("{construct} is outside of the perturbative calculus"))
        .note(why_outside(construct))
        .help(takers(&["delta"]))
}

fn why_outside(construct: &str) -> &'static str {
    let about = |words: &[&str]| words.iter().any(|word| construct.contains(word));
    if about(&["recursion"]) {
        "Figure 1 of the paper has no fixed points; section 6 conjectures that each reduction ends, which recursion would refute. `fold` over an array of known length is a Church list"
    } else if about(&["truth value", "condition"]) {
        "a condition compares real numbers and stands in an `if`, which becomes the function `choose_lt` of both branches"
    } else if about(&["text", "constructor", "match"]) {
        "its types are R, products and functions (Figure 1 of the paper)"
    } else if about(&["integer", "exponent", "index", "size", "length"]) {
        "its numbers are real; integers are known before the reduction: literals, sizes, indices and exponents"
    } else if about(&["cotangent", "derivative", "gradient"]) {
        "`T` is forward mode: a gradient is one pushforward for each number of the argument, so there have to be numbers, and it has to be known how many"
    } else {
        "it has real numbers, pairs, functions, the primitives on reals, comparisons of reals in `if`, arrays of known length, and T"
    }
}
