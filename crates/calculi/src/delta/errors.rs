//! Diagnostics of the delta calculus: one function for each kind of mistake, all wording here.

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

macro_rules! codes {
    ($($constant:ident $code:literal $title:literal;)*) => {
        $(const $constant: &str = $code;)*

        /// The kinds of diagnostics that this calculus makes.
        pub(crate) const CODES: &[Code] = &[$(Code { code: $code, title: $title }),*];
    };
}

codes! {
    UNKNOWN_CHARACTER "E0961" "delta calculus: a character that has no meaning";
    EXPECTED "E0962" "delta calculus: something else was expected";
    LITERAL "E0963" "delta calculus: a malformed literal";
    TOO_DEEP "E0964" "delta calculus: nesting that is too deep";
    RESERVED "E0965" "delta calculus: a name that cannot be bound";
    UNBOUND "E0966" "delta calculus: an unbound variable";
    MISMATCH "E0967" "delta calculus: two types that differ";
    INFINITE "E0968" "delta calculus: a type that would contain itself";
    OVERLOADED "E0969" "delta calculus: arithmetic or a comparison at a type that has none";
    SUBSCRIPT "E0970" "delta calculus: a polytypic function that needs its type";
    LARGE_TYPE "E0971" "delta calculus: a type that is too large";
    RECURSION "E0972" "delta calculus: a recursive definition that is no function";
    MAIN "E0973" "delta calculus: no main expression";
    FRAGMENT "E0974" "delta calculus: a construct outside the calculus";
    INDEX "E0975" "delta calculus: an index outside an array";
    DIVISION "E0976" "delta calculus: an integer divided by zero";
    SHAPE "E0977" "delta calculus: values of different shapes";
    OPEN "E0978" "delta calculus: a derivative of a function that is not known";
    FAILURE "E0979" "delta calculus: the program stopped itself";
}

pub(crate) fn unknown_character(span: Span, c: char) -> Diagnostic {
    Diagnostic::error(
        UNKNOWN_CHARACTER,
        span,
        format!("the character `{c}` has no meaning in the delta calculus"),
    )
}

pub(crate) fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    let found = if found.is_empty() { "the end of the text".to_string() } else { format!("`{found}`") };
    Diagnostic::error(EXPECTED, span, format!("expected {what}, found {found}"))
}

pub(crate) fn literal(span: Span, text: &str, why: &str) -> Diagnostic {
    Diagnostic::error(LITERAL, span, format!("`{text}` is no literal: {why}")).help(
        "reals have a point or an exponent, as in `1.0`; integers have neither; texts stand in double quotes",
    )
}

pub(crate) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(TOO_DEEP, span, format!("terms are nested more than {limit} deep"))
        .help("bind parts of the term with `let`, or compute it with `letrec`")
}

pub(crate) fn power_too_large(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(LARGE_TYPE, span, format!("a product of more than {limit} types"))
        .help("`Vector A` holds as many values as one likes")
}

pub(crate) fn reserved(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(RESERVED, span, format!("`{name}` is a primitive of the calculus and cannot be bound"))
        .help("choose another name for the variable")
}

pub(crate) fn unbound(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(UNBOUND, span, format!("there is no variable `{name}` here"))
        .help("terms are closed: bind it with `λ` or `let`")
}

pub(crate) fn mismatch(span: Span, expected: &str, found: &str, why: &str) -> Diagnostic {
    Diagnostic::error(
        MISMATCH,
        span,
        format!("expected a term of type `{expected}`, but this one has type `{found}`"),
    )
    .note(why.to_string())
}

pub(crate) fn infinite(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        INFINITE,
        span,
        format!("the type of this term would have to be a part of itself, `{ty}`"),
    )
    .help("recursion is written `letrec`, recursive types `μX. A`")
}

pub(crate) fn overloaded(span: Span, sign: &str, ty: &str) -> Diagnostic {
    Diagnostic::error(OVERLOADED, span, format!("`{sign}` does not work on values of type `{ty}`")).help(
        "arithmetic works on `ℝ` and `ℤ`; comparisons on `String` too; `⊕` and `⊗` work on products and sums",
    )
}

pub(crate) fn subscript(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(SUBSCRIPT, span, format!("`{name}` needs its type here"))
        .help(format!("write the type after it, as in `{name}_{{ℝ × ℝ}}`"))
}

pub(crate) fn not_first_order(span: Span, name: &str, ty: &str) -> Diagnostic {
    Diagnostic::error(SUBSCRIPT, span, format!("`{name}` does not exist at the type `{ty}`"))
        .help("polytypic functions exist at types made of reals, leaves, products, sums, arrays and `μ`")
}

pub(crate) fn large_type(span: Span) -> Diagnostic {
    Diagnostic::error(LARGE_TYPE, span, "the type of this term is too large to be worked with")
        .help("`Vector A` holds as many values as one likes")
}

pub(crate) fn recursion(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(RECURSION, span, format!("`letrec` defines functions only: `{name}` must be a `λ`"))
}

pub(crate) fn main_expression(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        MAIN,
        span,
        format!("this term of type `{ty}` is no main expression, so it has no derivative"),
    )
    .note("a main expression is a function `S → T` whose argument and result are data without functions")
}

pub(crate) fn fragment(span: Span, what: &str, takers: &str) -> Diagnostic {
    Diagnostic::error(FRAGMENT, span, format!("the delta calculus has no {what}")).help(takers.to_string())
}

/// A construct of the language that the calculus has no term for.
pub(crate) fn outside(span: Span, construct: &str, takers: &[&str]) -> Diagnostic {
    Diagnostic::error(FRAGMENT, span, format!("{construct} is outside of the delta calculus"))
        .help(crate::kit::errors::takers(takers))
}

pub(crate) fn index(span: Span, index: i64, length: usize) -> Diagnostic {
    Diagnostic::error(INDEX, span, format!("index {index} is outside an array of length {length}"))
}

pub(crate) fn size(span: Span, size: i64) -> Diagnostic {
    Diagnostic::error(INDEX, span, format!("an array cannot have {size} elements"))
}

pub(crate) fn division(span: Span) -> Diagnostic {
    Diagnostic::error(DIVISION, span, "an integer is divided by zero")
}

pub(crate) fn shape(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(SHAPE, span, format!("{what} got values of different shapes"))
        .note("a displacement has the constructors and array lengths of the value that it displaces")
}

pub(crate) fn open(span: Span, name: &str) -> Diagnostic {
    let message = format!(
        "the function to differentiate uses `{name}`, a function that is known only when the program runs"
    );
    Diagnostic::error(OPEN, span, message)
        .note("a translation needs the text of what it differentiates; a definition is written out where it is used, but a \
               recursive one is not")
}

pub(crate) fn failure(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error(FAILURE, span, format!("the program failed: {text}"))
}
