//! E06xx: derivatives.

use super::{E0601, E0602, E0603, E0604, E0605, E0606, E0607, E0608, E0609, E0610};
use wengert_base::{Diagnostic, Name, Span};

pub(crate) fn nothing_to_differentiate(
    operator: Name,
    demanded: Span,
    span: Span,
    shown: &str,
) -> Diagnostic {
    let message = format!("`{operator}` cannot differentiate with respect to {shown}, which holds no `Real`");
    let diagnostic = Diagnostic::error(E0601, span, message).label(format!("the input is {shown}"));
    let diagnostic =
        if demanded == span { diagnostic } else { diagnostic.also(demanded, "differentiates here") };
    diagnostic
        .note("derivatives exist in the directions of real numbers; integers, truth values and texts cannot change a little")
        .help("make the input a `Real`, for example with `real`")
}

pub(crate) fn result_not_real(
    operator: Name,
    operator_span: Span,
    span: Span,
    shown: &str,
    is_function: bool,
) -> Diagnostic {
    let message = format!("`{operator}` needs a function whose result is `Real`, but this one gives {shown}");
    let diagnostic = Diagnostic::error(E0602, span, message)
        .label(format!("gives {shown}"))
        .also(operator_span, "a gradient has one number to follow");
    if is_function {
        diagnostic.help("if the function takes several arguments, let it take one tuple: `\\(x, y) -> …`")
    } else {
        diagnostic
            .help("use `jacrev` or `jacfwd` for arrays, `vjp` or `jvp` for any result, or add the parts up")
    }
}

pub(crate) fn vjp_gives_a_pair(span: Span, last: Span) -> Diagnostic {
    Diagnostic::error(
        E0603,
        last,
        "`vjp` takes a function and a point; the cotangent goes to the function that it gives",
    )
    .label("one argument too many")
    .also(span, "`vjp f x` is a pair: the value, and the map from cotangents of the result to those of `x`")
    .help("write `let (y, pull) = vjp f x in pull ct`")
}

pub(crate) fn jvp_takes_a_pair(span: Span, at: Span) -> Diagnostic {
    Diagnostic::error(E0604, at, "`jvp` takes the point and the tangent as one pair")
        .label("not a pair")
        .also(span, "`jvp f` maps (point, tangent) to (value, tangent)")
        .help("write `jvp f (x, t)`")
}

pub(crate) fn not_first_order(operator: Name, demanded: Span, span: Span, shown: &str) -> Diagnostic {
    let message = format!("`{operator}` works on types without functions, but this is {shown}");
    let diagnostic = Diagnostic::error(E0605, span, message).label("holds a function");
    let diagnostic =
        if demanded == span { diagnostic } else { diagnostic.also(demanded, "differentiates here") };
    diagnostic.help("for functions as inputs or results use `jvp` or `pullback`, which work at every type")
}

pub(crate) fn input_not_real(operator: Name, operator_span: Span, span: Span, shown: &str) -> Diagnostic {
    let message = format!("`{operator}` needs a function of one `Real`, but this one takes {shown}");
    Diagnostic::error(E0606, span, message)
        .label(format!("takes {shown}"))
        .also(operator_span, "differentiates with respect to one number")
        .help("use `grad` for a function of several numbers, or `jvp` for a derivative in one direction")
}

pub(crate) fn input_not_array(operator: Name, operator_span: Span, span: Span, shown: &str) -> Diagnostic {
    let message = format!("`{operator}` needs a function of an array of `Real`s, but this one takes {shown}");
    Diagnostic::error(E0607, span, message)
        .label(format!("takes {shown}"))
        .also(operator_span, "differentiates with respect to an array")
        .help("collect the inputs in an array, or use `grad`, `jvp` or `vjp`, which work on tuples and records too")
}

pub(crate) fn point_in_pieces(
    operator: Name,
    extra: Span,
    operator_span: Span,
    takes: usize,
    given: usize,
) -> Diagnostic {
    Diagnostic::error(
        E0608,
        extra,
        format!("`{operator}` takes {takes} arguments, a function and a point, but {given} are given"),
    )
    .label("one too many")
    .also(operator_span, "takes the whole point at once")
    .help(format!(
        "join the parts of the point into one tuple: `{operator} f (x, y)`, where `f` is `\\(x, y) -> …`"
    ))
}

pub(crate) fn not_a_function(operator: Name, operator_span: Span, span: Span, shown: &str) -> Diagnostic {
    Diagnostic::error(E0609, span, format!("`{operator}` differentiates a function, but this is {shown}"))
        .label("not a function")
        .also(operator_span, "needs a function first, then the point")
        .help(format!("write `{operator} (\\x -> …)`, or swap the arguments"))
}

pub(crate) fn arguments_in_a_tuple(operator: Name, operator_span: Span, span: Span) -> Diagnostic {
    let message = format!("`{operator}` takes its arguments one after the other, not as a tuple");
    Diagnostic::error(E0609, span, message)
        .label("a tuple")
        .also(operator_span, "takes a function first, then the point")
        .help(format!("write `{operator} f x`, without parentheses and comma"))
}

pub(crate) fn rule_of_wrong_type(
    operator: Name,
    operator_span: Span,
    span: Span,
    want: &str,
    got: &str,
) -> Diagnostic {
    let shape = match operator.as_str() {
        "custom_jvp" => "from (point, tangent) to (value, tangent of the value)",
        _ => "from a point to the value and the map from cotangents of the value to those of the point",
    };
    Diagnostic::error(E0610, span, format!("the rule of `{operator}` should be {want}, but this is {got}"))
        .label(format!("this is {got}"))
        .also(operator_span, format!("its rule goes {shape}"))
}
