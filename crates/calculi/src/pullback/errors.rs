//! Diagnostics of the pullback calculus and the differential λ-calculus: one function for each kind of mistake, all
//! wording here.

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

macro_rules! codes {
    ($($constant:ident $code:literal $title:literal;)*) => {
        $(const $constant: &str = $code;)*

        /// The kinds of diagnostics that this calculus makes.
        pub const CODES: &[Code] = &[$(Code { code: $code, title: $title }),*];
    };
}

codes! {
    UNKNOWN_CHARACTER "E0901" "pullback calculus: a character without meaning";
    EXPECTED "E0902" "pullback calculus: something else was expected";
    UNKNOWN_VARIABLE "E0903" "pullback calculus: an unknown variable";
    TYPE_MISMATCH "E0904" "pullback calculus: a term of another type than needed";
    LONE_OPERATOR "E0905" "pullback calculus: an operator without its `·`";
    NOT_LINEAR "E0906" "pullback calculus: a dual map along a function that is not linear";
    TOO_DEEP "E0907" "pullback calculus: nesting that is too deep";
    UNKNOWN_FUNCTION "E0908" "pullback calculus: `J` of something that is no function symbol";
    INFINITE_TYPE "E0909" "pullback calculus: a term that would need an infinite type";
    FOREIGN_OPERATOR "E0910" "an operator of the other calculus of the pullback paper";
    BAD_DEFINITION "E0911" "pullback calculus: a definition that is not of real numbers only";
    REPEATED_VARIABLE "E0912" "pullback calculus: a pattern that names a variable twice";
    BAD_NUMBER "E0913" "pullback calculus: a malformed number";
    LARGE_TYPE "E0914" "pullback calculus: a type that is too large";
    OUTSIDE "E0917" "a program outside the fragment of the pullback calculus";
    STUCK "E0918" "a program whose reduction in the pullback calculus ends at a pullback";
}

pub(crate) fn unknown_character(span: Span, c: char) -> Diagnostic {
    Diagnostic::error(UNKNOWN_CHARACTER, span, format!("the character `{c}` has no meaning in this calculus"))
        .help("a term is built from variables, numbers, λ, Ω, J, ⟨ , ⟩, π1, π2, `+`, `·` and `*`; in ASCII `\\`, `Omega`, `<`, `>`, `pi1`, `@`")
}

pub(crate) fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED, span, format!("expected {what}, found {found}"))
}

pub(crate) fn unknown_variable(span: Span, name: &str, similar: Option<&str>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(UNKNOWN_VARIABLE, span, format!("the variable `{name}` is not bound here"));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None => {
            diagnostic.help(format!("a free variable is declared in front of the term: `{{{name} : R}} ⊢ …`"))
        }
    }
}

pub(crate) fn type_mismatch(span: Span, expected: &str, found: &str, why: &str) -> Diagnostic {
    Diagnostic::error(
        TYPE_MISMATCH,
        span,
        format!("this term has type `{found}`, but `{expected}` is needed"),
    )
    .label(format!("has type `{found}`"))
    .note(why.to_string())
}

pub(crate) fn lone_operator(span: Span, operator: &str, shape: &str) -> Diagnostic {
    Diagnostic::error(LONE_OPERATOR, span, format!("`{operator}` must be followed by `·` and a term"))
        .help(format!("write `{shape}` (in ASCII `@` for `·`)"))
}

pub(crate) fn not_linear(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(NOT_LINEAR, span, format!("`{name}` is not in a linear position of this function"))
        .label(format!("not linear in `{name}`"))
        .note("a dual map (λx.S)*·S' needs x ∈ lin(S) (Figure 2): x in function position, under projections, in all components of a pair, and not in an argument")
        .help("the pullback (Ω λx.P)·S takes any function; it gives the dual along the Jacobian")
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(TOO_DEEP, span, "this term is nested more than 2000 levels deep")
        .help("name parts of it with `let x = t; y = u in s`; a series may have up to 2000 lets")
}

pub(crate) fn unknown_function(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(UNKNOWN_FUNCTION, span, format!("`{name}` is not a function symbol, so `J {name}` has no meaning"))
        .help("function symbols are the primitives (`add`, `mult`, `pow2`, `sin`, …) and what a header defines: `fun g⟨x,y⟩ = ⟨add(x,1), mult(x,y)⟩;`")
}

pub(crate) fn infinite_type(span: Span) -> Diagnostic {
    Diagnostic::error(INFINITE_TYPE, span, "this term would need a type that contains itself")
        .help("the calculus is simply typed: a function cannot be applied to itself")
}

pub(crate) fn large_type(span: Span) -> Diagnostic {
    Diagnostic::error(LARGE_TYPE, span, "this term has a part whose type is too large to be written")
        .note("each pair of a name with itself doubles the type: ⟨x, x⟩, a pair of these, and so on")
        .help("use vectors of fewer components; types may have up to 100000 parts")
}

pub(crate) fn foreign_operator(span: Span, operator: &str, calculus: &str, instead: &str) -> Diagnostic {
    Diagnostic::error(FOREIGN_OPERATOR, span, format!("`{operator}` belongs to the {calculus}"))
        .help(instead.to_string())
}

pub(crate) fn bad_definition(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(BAD_DEFINITION, span, format!("a function symbol cannot be defined with {found}"))
        .help("the body of `fun` is made of its parameters, numbers, tuples and function symbols; anything else is a `let` with a λ")
}

pub(crate) fn repeated_variable(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(REPEATED_VARIABLE, span, format!("`{name}` occurs twice in this pattern"))
        .help("give the components different names")
}

pub(crate) fn bad_number(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error(BAD_NUMBER, span, format!("`{text}` is not a number"))
        .help("numbers are written `2`, `-1.5` or `3.0e-8`")
}

pub(crate) fn outside(span: Span, what: &str, others: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(OUTSIDE, span, format!("the pullback calculus has no {what}"))
        .note("it has real numbers, pairs, functions, the primitives on reals, `let`, arrays of known length, and pullbacks");
    if others.is_empty() { diagnostic } else { diagnostic.help(others.to_string()) }
}

pub(crate) fn not_a_number(span: Span, place: &str) -> Diagnostic {
    Diagnostic::error(OUTSIDE, span, format!("the pullback calculus has no number for the derivative that is {place}"))
        .note("a derivative is an element of σ*, from which no term leads back to σ; sums, multiples and components of it are elements of such types too")
        .help("a derivative may be used like a number if it is that of a function of primitives only, and stands there itself; or use `--in delta`")
}

pub(crate) fn no_symbol(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(OUTSIDE, span, format!("the pullback calculus has no `{name}` of this function"))
        .note("the value of a derivative as a number is `(J f · t) x`, for which the function must be a straight-line program on vectors")
        .help("`grad`, `derivative` and `pullback` take any function where their result is not used like a number")
}

pub(crate) fn nested(span: Span) -> Diagnostic {
    Diagnostic::error(OUTSIDE, span, "the pullback calculus has no derivatives of derivatives")
        .note("a derivative inside a function that is differentiated is an element of σ*, on which DPPL has no constant 1-forms, and no reduction differentiates `J f · t` at a point (value 2 of remark 3.6)")
        .help("`--in perturbative` and `--in delta` have derivatives of derivatives")
}

pub(crate) fn stuck(span: Span, name: Option<&str>) -> Diagnostic {
    let (message, label) = match name {
        Some(name) => (
            format!("the pullback calculus cannot differentiate this call of `{name}`, a function that is not known here"),
            format!("`{name}` is a parameter"),
        ),
        None => (
            "the pullback calculus cannot differentiate a call in this program, of a function that is not known there".into(),
            "it is the parameter of a function".into(),
        ),
    };
    Diagnostic::error(STUCK, span, message)
        .label(label)
        .note("the function with that parameter is differentiated before it has an argument (reduction 18), and no reduction has the derivative of an unknown function: value 1 of remark 3.6. A function of a pair, `\\(f, x) -> f x`, is differentiated where it is applied (19b)")
        .help("`--in differential` and `--in perturbative` differentiate such functions")
}
