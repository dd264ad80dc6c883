//! What can be wrong with a term of the linear substitution calculus, and with a program that is to become one.

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

/// The kinds.
pub const CODES: &[Code] = &[
    Code { code: "E0941", title: "text that is no term of the linear substitution calculus" },
    Code { code: "E0942", title: "term of the linear substitution calculus too deeply nested" },
    Code { code: "E0943", title: "variable of the linear substitution calculus without declaration" },
    Code { code: "E0944", title: "function symbol that the linear substitution calculus does not have" },
    Code { code: "E0945", title: "ill-typed term of the linear substitution calculus" },
    Code { code: "E0946", title: "linear variable used otherwise than linearly" },
    Code { code: "E0947", title: "translation of a term outside its domain" },
    Code { code: "E0948", title: "construct outside the linear substitution calculus" },
    Code {
        code: "E0949",
        title: "derivative by something other than numbers in the linear substitution calculus",
    },
];

pub(crate) fn syntax(span: Span, found: &str, expected: &str) -> Diagnostic {
    Diagnostic::error("E0941", span, format!("this is no term: found {found}, expected {expected}"))
        .label(format!("expected {expected}"))
        .help("terms are x, 1.5, λx:!A. t, λa:R. t, t u, ⟨t, u⟩, t[x := u], t[⟨x, y⟩ := u], t + u, f(t, …)")
}

pub(crate) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0942", span, format!("this term is nested more than {limit} levels deep"))
        .help("write it with fewer nested parts")
}

pub(crate) fn unbound(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0943", span, format!("the variable `{name}` is not bound here"))
        .help(format!("declare free variables before the term: `{name} : !R ⊢ …`"))
}

pub(crate) fn unknown_symbol(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0944", span, format!("there is no function symbol `{name}`"))
        .help("function symbols are the operations on reals: sin, exp, sigmoid, pow, …; `∂1_f` is a partial derivative")
}

pub(crate) fn arity(span: Span, name: &str, expected: usize, found: usize) -> Diagnostic {
    let s = if expected == 1 { "" } else { "s" };
    Diagnostic::error("E0944", span, format!("`{name}` takes {expected} argument{s}, here are {found}"))
        .help("write as many arguments in the parentheses")
}

pub(crate) fn ill_typed(span: Span, message: String) -> Diagnostic {
    Diagnostic::error("E0945", span, message).help("Table 1 of the paper has the typing rules")
}

pub(crate) fn large_type(span: Span) -> Diagnostic {
    let limit = super::syntax::LARGEST_TYPE;
    ill_typed(span, format!("this has a type of more than {limit} parts"))
        .note("each pair of a variable with itself doubles the type")
}

pub(crate) fn not_linear(span: Span, message: String) -> Diagnostic {
    Diagnostic::error("E0946", span, message).help(
        "a linear variable stands alone, in both parts of a sum or pair, right of `·`, or in the argument of an R^⊥",
    )
}

pub(crate) fn outside_domain(span: Span, message: String) -> Diagnostic {
    Diagnostic::error("E0947", span, message)
        .help("D⃖ takes terms of Λ(𝓕): without R^⊥ and linear variables; bp takes ground terms, grammar (25)")
}

pub(crate) fn outside_fragment(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0948", span, format!("the linear substitution calculus has no {what}"))
        .note("it has reals with their operations, functions, tuples, let, derivatives, and arrays of known length")
        .help("`delta` takes sums, integers, recursion and arrays of any length")
}

pub(crate) fn not_differentiable(span: Span, found: &str) -> Diagnostic {
    let message =
        format!("{found}, and the linear substitution calculus differentiates by real numbers only");
    Diagnostic::error("E0949", span, message)
        .help("differentiate a function whose argument and result are made of Reals, tuples and arrays")
}

pub(crate) fn no_gradient(span: Span) -> Diagnostic {
    Diagnostic::error("E0949", span, "this program is no gradient")
        .help("write `grad f x` or `value_and_grad f x`, after any `let`s")
}
