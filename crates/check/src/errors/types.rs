//! E03xx: types.

use super::{
    E0301, E0302, E0303, E0304, E0305, E0306, E0307, E0308, E0309, E0310, E0311, E0312, E0313, E0314, E0315,
    E0316, E0317, E0318, E0319, E0320, E0321, E0323, E0324, E0325, E0326, E0327, E0328, Mismatch,
};
use crate::infer::explain::function_name;
use wengert_base::{Diagnostic, Name, Span};

/// The frame of all mismatches: the label at the expression tells its type.
fn mismatch(code: &'static str, found: Mismatch, message: String) -> Diagnostic {
    let diagnostic = Diagnostic::error(code, found.span, message).label(format!("this is {}", found.got));
    match found.advice {
        Some(advice) => diagnostic.help(advice),
        None => diagnostic,
    }
}

pub(crate) fn annotation(found: Mismatch, annotated: Span) -> Diagnostic {
    let message = format!("the annotation says {}, but this is {}", found.want, found.got);
    mismatch(E0301, found, message).also(annotated, "the annotation")
}

pub(crate) fn result(found: Mismatch, name: Option<Name>, annotated: Span) -> Diagnostic {
    let whose = name.map_or_else(|| "the function".to_owned(), |name| format!("`{name}`"));
    let message = format!("{whose} should give {}, but this is {}", found.want, found.got);
    mismatch(E0302, found, message).also(annotated, "the result is annotated here")
}

pub(crate) fn argument(found: Mismatch, callee: Option<Name>, index: usize, callee_span: Span) -> Diagnostic {
    let function = function_name(callee);
    let message =
        format!("argument {} of {function} should be {}, but this is {}", index + 1, found.want, found.got);
    let label = format!("{function} wants {} here", found.want);
    mismatch(E0303, found, message).also(callee_span, label)
}

pub(crate) fn operand(found: Mismatch, op: &str, other: Option<Span>) -> Diagnostic {
    let message = match other {
        Some(_) => format!("the right side of `{op}` should be {}, but this is {}", found.want, found.got),
        None => format!("`{op}` needs {}, but this is {}", found.want, found.got),
    };
    let want = found.want.clone();
    let diagnostic = mismatch(E0304, found, message);
    match other {
        Some(other) if matches!(op, "+" | "-" | "*" | "/" | "==" | "!=" | "<" | "<=" | ">" | ">=") => {
            diagnostic.also(other, format!("the left side is {want}"))
        }
        Some(_) | None => diagnostic,
    }
}

pub(crate) fn branches(found: Mismatch, then: Span) -> Diagnostic {
    let message = "the branches of this `if` have different types".to_owned();
    let label = format!("this is {}", found.want);
    mismatch(E0305, found, message).also(then, label)
}

pub(crate) fn arms(found: Mismatch, first: Span) -> Diagnostic {
    let message = "the arms of this `match` have different types".to_owned();
    let label = format!("the first arm is {}", found.want);
    mismatch(E0306, found, message).also(first, label)
}

pub(crate) fn elements(found: Mismatch, first: Span) -> Diagnostic {
    let message = "the elements of this array have different types".to_owned();
    let label = format!("the first element is {}", found.want);
    mismatch(E0307, found, message).also(first, label)
}

pub(crate) fn condition(found: Mismatch) -> Diagnostic {
    let message = format!("the condition of an `if` should be `Bool`, but this is {}", found.got);
    let advice =
        found.advice.clone().unwrap_or_else(|| "compare it with something, for example `x > 0`".to_owned());
    mismatch(E0308, found, message).help(advice)
}

pub(crate) fn index(found: Mismatch) -> Diagnostic {
    let message = format!("an index should be `Int`, but this is {}", found.got);
    mismatch(E0309, found, message)
}

pub(crate) fn not_a_function(callee: Option<Name>, span: Span, shown: &str) -> Diagnostic {
    let what = callee.map_or_else(|| "this".to_owned(), |name| format!("`{name}`"));
    Diagnostic::error(E0310, span, format!("{what} is not a function, but it is given an argument"))
        .label(format!("this is {shown}"))
        .help("a space between two expressions applies the first to the second; is an operator or a comma missing?")
}

/// `x ⊕ y`
pub(crate) fn symbol_between(
    callee: Option<Name>,
    span: Span,
    shown: &str,
    symbol: Name,
    argument: Span,
) -> Diagnostic {
    let left = callee.map_or_else(|| "x".to_owned(), |name| name.to_string());
    not_a_function(callee, span, shown).also(argument, "so this is its argument").help(format!(
        "`{symbol}` is the name of a function, and stands before its arguments: `{symbol} {left} y`"
    ))
}

/// `xs [0]`
pub(crate) fn index_after_a_space(
    callee: Option<Name>,
    span: Span,
    shown: &str,
    argument: Span,
) -> Diagnostic {
    let what = callee.map_or_else(|| "this".to_owned(), |name| format!("`{name}`"));
    let array = callee.map_or_else(|| "xs".to_owned(), |name| name.to_string());
    Diagnostic::error(E0310, span, format!("{what} is an array, not a function"))
        .label(format!("this is {shown}"))
        .also(argument, "with the space, this is an array and an argument")
        .help(format!("an element is written without the space: `{array}[0]`"))
}

pub(crate) fn too_many_arguments(
    callee: Option<Name>,
    takes: usize,
    given: usize,
    extra: Span,
    callee_span: Span,
    shown: &str,
) -> Diagnostic {
    let count = if takes == 1 { "1 argument".to_owned() } else { format!("{takes} arguments") };
    let given = if given == 1 { "1 is given".to_owned() } else { format!("{given} are given") };
    let advice = if takes == 0 {
        "leave the arguments out"
    } else {
        "leave it out, or join arguments into a tuple if that is what the function takes"
    };
    Diagnostic::error(E0311, extra, format!("{} takes {count}, but {given}", function_name(callee)))
        .label("one too many")
        .also(callee_span, format!("after {count} this is {shown}"))
        .help(advice)
}

/// A lambda whose body does not give what the function that takes it wants.
pub(crate) fn lambda_body(
    found: Mismatch,
    callee: Option<Name>,
    index: usize,
    callee_span: Span,
) -> Diagnostic {
    let function = function_name(callee);
    let message = format!(
        "the function given to {function} as argument {} should give {}, but this is {}",
        index + 1,
        found.want,
        found.got
    );
    let label = format!("{function} wants a function that gives {}", found.want);
    mismatch(E0303, found, message).also(callee_span, label)
}

pub(crate) fn infinite_type(found: &Mismatch) -> Diagnostic {
    Diagnostic::error(E0312, found.span, "this expression would have an infinite type")
        .label(format!("{} would have to be {}", found.want, found.got))
        .note("a value cannot be a part of itself, nor a function its own argument")
        .help("is an argument missing or one too many, or a function applied to itself?")
}

pub(crate) fn not_a_number(
    function: Name,
    demanded: Span,
    span: Span,
    shown: &str,
    advice: Option<String>,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(E0313, span, format!("`{function}` works on `Int` and `Real`, not on {shown}"))
            .label(format!("{shown} is not a number"));
    let diagnostic = if demanded == span { diagnostic } else { diagnostic.also(demanded, "needs a number") };
    match advice {
        Some(advice) => diagnostic.help(advice),
        None => diagnostic,
    }
}

pub(crate) fn not_ordered(function: Name, demanded: Span, span: Span, shown: &str) -> Diagnostic {
    let message = format!("`{function}` works on `Int`, `Real` and `String`, not on {shown}");
    let diagnostic = Diagnostic::error(E0314, span, message).label(format!("{shown} has no order"));
    let diagnostic = if demanded == span { diagnostic } else { diagnostic.also(demanded, "needs an order") };
    diagnostic.help("compare a number that you compute from it")
}

pub(crate) fn not_first_order(function: Name, demanded: Span, span: Span, shown: &str) -> Diagnostic {
    let message = match function.as_str() {
        "==" | "!=" => format!("values of type {shown} cannot be compared: they hold functions"),
        _ => format!("`{function}` needs a type without functions, but this is {shown}"),
    };
    let diagnostic = Diagnostic::error(E0315, span, message).label("holds a function");
    let diagnostic =
        if demanded == span { diagnostic } else { diagnostic.also(demanded, "needs first-order values") };
    diagnostic.help("apply the function first, and use its result")
}

pub(crate) fn no_such_field(
    field: Name,
    span: Span,
    record: Span,
    shown: &str,
    similar: Option<Name>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(E0316, span, format!("this record has no field `{field}`"))
        .label("not found")
        .also(record, format!("this is {shown}"));
    match similar {
        Some(similar) => diagnostic.help(format!("perhaps `{similar}` is meant")),
        None => diagnostic,
    }
}

/// `is_function` says whether the name after the point is that of a function.
pub(crate) fn not_a_record(
    field: Name,
    span: Span,
    record: Span,
    shown: &str,
    is_function: bool,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(E0317, record, format!("only records have fields, but this is {shown}"))
            .label("not a record")
            .also(span, format!("field `{field}` is asked for here"));
    if is_function {
        return diagnostic.help(format!(
            "`{field}` is a function, not a method: it stands before its arguments, `{field} …`"
        ));
    }
    diagnostic.help("take a tuple apart with `let (a, b) = …`, a declared type with `match`")
}

pub(crate) fn not_an_array(span: Span, shown: &str, axis: usize) -> Diagnostic {
    let message = match axis {
        0 => format!("only arrays can be indexed, but this is {shown}"),
        1 => format!("after 1 index this is {shown}, which cannot be indexed further"),
        _ => format!("after {axis} indices this is {shown}, which cannot be indexed further"),
    };
    Diagnostic::error(E0318, span, message)
        .label("not an array")
        .help("to apply a function to an array, put a space before the bracket: `f [x]`")
}

pub(crate) fn update(found: Mismatch, field: Name) -> Diagnostic {
    let message =
        format!("field `{field}` is {} in this record, but the new value is {}", found.want, found.got);
    mismatch(E0319, found, message).note("an update keeps the types of the fields")
}

pub(crate) fn annotation_too_general(name: Name, declared: Span, span: Span, shown: &str) -> Diagnostic {
    Diagnostic::error(
        E0320,
        span,
        format!("type variable `{name}` stands for any type, but here it must be {shown}"),
    )
    .label(format!("needs `{name}` to be {shown}"))
    .also(declared, format!("`{name}` is written here"))
    .help(format!("write {shown} instead of `{name}`, or leave the annotation out"))
}

pub(crate) fn variables_must_agree(x: Name, x_span: Span, y: Name, y_span: Span, span: Span) -> Diagnostic {
    Diagnostic::error(E0321, span, format!("type variables `{x}` and `{y}` would have to be the same type"))
        .label("makes them equal")
        .also(x_span, format!("`{x}` is written here"))
        .also(y_span, format!("`{y}` is written here"))
        .help("use one name for both")
}

pub(crate) fn type_too_large(span: Span) -> Diagnostic {
    Diagnostic::error(E0323, span, "this type becomes too large when its aliases are expanded")
        .label("too large")
        .help("declare some of the aliases as data types")
}

pub(crate) fn inference_too_large(span: Span) -> Diagnostic {
    Diagnostic::error(E0323, span, "the types in this definition become too large to work with")
        .label("in here")
        .note("types can double in size with every `let` that uses the one before twice")
        .help("split the definition, and give its parts annotations or data types")
}

pub(crate) fn real_exponent(span: Span) -> Diagnostic {
    Diagnostic::error(E0324, span, "the exponent of `^` is an `Int`, but this is a `Real`")
        .label("this is `Real`")
        .help("use `**` for powers with a `Real` exponent: `x ** y`")
}

pub(crate) fn int_power(span: Span) -> Diagnostic {
    Diagnostic::error(E0325, span, "`**` works on `Real`s, but this is an `Int`")
        .label("this is `Int`")
        .help("use `^` for powers with an `Int` exponent, or convert with `real`")
}

pub(crate) fn number_where_other(literal: Span, span: Span, shown: &str) -> Diagnostic {
    let message = format!("a number stands where {shown} is needed");
    if literal == span {
        return Diagnostic::error(E0326, span, message).label(format!("should be {shown}"));
    }
    let around = span.source == literal.source && span.start <= literal.start && literal.end <= span.end;
    let other =
        if around { format!("{shown} is needed in here") } else { format!("{shown} comes from here") };
    Diagnostic::error(E0326, literal, message).label("this is a number").also(span, other)
}

pub(crate) fn type_arguments(
    name: Name,
    wanted: usize,
    given: usize,
    span: Span,
    declared: Option<Span>,
) -> Diagnostic {
    let count = if wanted == 1 { "1 argument".to_owned() } else { format!("{wanted} arguments") };
    let message =
        format!("type `{name}` takes {count}, but {given} {} given", if given == 1 { "is" } else { "are" });
    let diagnostic = Diagnostic::error(E0327, span, message).label(format!("needs {count}"));
    match declared {
        Some(place) => diagnostic.also(place, "declared here"),
        None => diagnostic,
    }
}

pub(crate) fn recursion(found: Mismatch, name: Name) -> Diagnostic {
    let message = format!(
        "`{name}` is used as {} in its own definition, but it is defined as {}",
        found.want, found.got
    );
    Diagnostic::error(E0328, found.span, message)
        .label(format!("this makes it {}", found.got))
        .help("inside its own definition a function has one type; check the arguments of the recursive calls")
}
