//! What the grammar demands and the text does not have.

use super::*;

pub(crate) fn expected_token(span: Span, expected: &str, purpose: &str, found: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_TOKEN, span, format!("expected `{expected}` {purpose}, found {found}"))
        .label(format!("`{expected}` was expected here"))
}

pub(crate) fn expected_expression(span: Span, found: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(EXPECTED_EXPRESSION, span, format!("expected an expression, found {found}"));
    match found {
        "the keyword `else`" => diagnostic.help("an `if` has the form `if c then a else b`"),
        "the keyword `with`" => diagnostic.help("a match has the form `match e with | p -> a`"),
        "the keyword `rec`" => diagnostic.help("`rec` follows `let`; a `def` may always refer to itself"),
        _ => diagnostic,
    }
}

pub(crate) fn expected_operand(
    span: Span,
    operator: &str,
    found: &str,
    op_span: Span,
    in_parens: bool,
) -> Diagnostic {
    if in_parens {
        return Diagnostic::error(OPERATOR_SECTION, op_span, format!("`{operator}` has no right operand"))
            .help(format!(
                "write a function, `\\x -> … {operator} x`; `({operator})` is the operator itself"
            ));
    }
    let message = format!("expected an expression after `{operator}`, found {found}");
    let diagnostic =
        Diagnostic::error(EXPECTED_EXPRESSION, span, message).also(op_span, "the operator is here");
    match operator {
        "++" => diagnostic.help("`++` joins two strings; to count up, bind a new name: `let y = x + 1 in …`"),
        _ => diagnostic,
    }
}

pub(crate) fn operator_section(span: Span, operator: &str) -> Diagnostic {
    Diagnostic::error(OPERATOR_SECTION, span, format!("`{operator}` has no left operand"))
        .help(format!("write a function, `\\x -> x {operator} …`; `({operator})` is the operator itself"))
}

pub(crate) fn expected_pattern(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_PATTERN, span, format!("expected a pattern, found {found}")).help(
        "a pattern is a name, `_`, a literal, a constructor with patterns, a tuple or a record of patterns",
    )
}

pub(crate) fn minus_in_pattern(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(
        EXPECTED_PATTERN,
        span,
        format!("in a pattern, `-` stands only before a number, not {found}"),
    )
}

pub(crate) fn array_pattern(span: Span) -> Diagnostic {
    Diagnostic::error(EXPECTED_PATTERN, span, "there are no patterns for arrays")
        .help("match a name, then use `xs[i]` and `length xs`")
}

pub(crate) fn small_constructor(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_PATTERN, span, format!("`{name}` is not a constructor and takes no arguments"))
        .help("constructors begin with a capital letter; a tuple of patterns is written `(x, y)`")
}

pub(crate) fn expected_type(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_TYPE, span, format!("expected a type, found {found}"))
}

pub(crate) fn array_type_without_element(span: Span) -> Diagnostic {
    Diagnostic::error(EXPECTED_TYPE, span, "the type of the elements is missing")
        .help("it follows the size: `[n]Real`, or `[]Real` for any size")
}

pub(crate) fn list_type(span: Span, element: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_TYPE, span, "the brackets of an array type hold its size, not its elements")
        .help(format!("write `[]{element}`, or `[n]{element}` to name the size"))
}

pub(crate) fn type_variable_applied(span: Span, variable: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_TYPE, span, format!("the type variable `{variable}` takes no arguments"))
        .help("named types begin with a capital letter")
}

pub(crate) fn bad_size(span: Span, found: &str, opening: Span) -> Diagnostic {
    Diagnostic::error(BAD_SIZE, span, format!("expected `]` after the size, found {found}"))
        .also(opening, "the size begins here")
        .help("a size is a number, a name, or left out: `[3]Real`, `[n]Real`, `[]Real`")
}

pub(crate) fn expected_name(span: Span, what: &str, found: &str, keyword: bool) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(EXPECTED_NAME, span, format!("expected the name of {what}, found {found}"));
    if keyword { diagnostic.note("keywords cannot be names") } else { diagnostic }
}

pub(crate) fn needs_small_letter(span: Span, what: &str, name: &str) -> Diagnostic {
    let mut letters = name.chars();
    let first: String = letters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    Diagnostic::error(
        WRONG_CASE,
        span,
        format!("the name of {what} begins with a small letter, not as `{name}` does"),
    )
    .note("capital letters begin types and constructors")
    .help(format!("call it `{first}{}`", letters.as_str()))
}

pub(crate) fn needs_capital_letter(span: Span, what: &str, name: &str) -> Diagnostic {
    let mut letters = name.chars();
    let first: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    Diagnostic::error(
        WRONG_CASE,
        span,
        format!("the name of {what} begins with a capital letter, not as `{name}` does"),
    )
    .help(format!("call it `{first}{}`", letters.as_str()))
}

pub(crate) fn capital_module(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(WRONG_CASE, span, format!("`{name}` is a constructor, which has no fields"))
        .help(format!("modules have small letters: `{}.…`", name.to_lowercase()))
}

pub(crate) fn capital_field(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(WRONG_CASE, span, format!("fields begin with a small letter, not as `{name}` does"))
        .help("`m.Ctor` names a constructor of the module `m`")
}

const NO_COMPREHENSION: &str =
    "an array is made from another by `map (\\x -> …) xs`, or by `build n (\\i -> …)`";

pub(crate) fn expected_comma(span: Span, closing: &str, what: &str, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        SEPARATOR,
        span,
        format!("expected `,` or `{closing}` between {what}, found {found}"),
    );
    match (closing, found) {
        (_, "`:`") => diagnostic.help("a type annotation has parentheses of its own: `(e : t)`"),
        ("]", "`|`" | "the keyword `in`") => diagnostic.help(NO_COMPREHENSION),
        _ => diagnostic,
    }
}

pub(crate) fn unclosed(span: Span, closing: &str, found: &str, opening: Span, bracket: &str) -> Diagnostic {
    Diagnostic::error(UNCLOSED, span, format!("expected `{closing}` to close `{bracket}`, found {found}"))
        .label(format!("`{closing}` was expected here"))
        .also(opening, format!("this `{bracket}` is never closed"))
}

pub(crate) fn wrong_closing(
    span: Span,
    closing: &str,
    found: &str,
    opening: Span,
    bracket: &str,
) -> Diagnostic {
    Diagnostic::error(UNMATCHED, span, format!("`{bracket}` is closed by {found}"))
        .label(format!("`{closing}` was expected here"))
        .also(opening, format!("this is the opening `{bracket}`"))
}

pub(crate) fn unmatched_closing(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(UNMATCHED, span, format!("{found} closes nothing"))
        .help("remove it, or open the bracket")
}

pub(crate) fn expected_item(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_ITEM, span, format!("expected a definition, found {found}")).help(
        "a file consists of `def`, `type`, `alias` and `import`; to compute something, write `def main = …`",
    )
}

pub(crate) fn item_in_expression(span: Span, keyword: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_ITEM, span, format!("`{keyword}` cannot follow an expression"))
        .help("inside an expression, names are bound by `let x = e in …`")
}

pub(crate) fn unexpected_after_expression(span: Span, found: &str, token: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        EXPECTED_TOKEN,
        span,
        format!("the expression before this ends, but {found} follows"),
    );
    match token {
        "," => diagnostic.help("a tuple is written in parentheses: `(a, b)`"),
        ":" => diagnostic.help("a type annotation is written in parentheses: `(e : t)`"),
        "in" => diagnostic.help("there is no `let` that this `in` could belong to"),
        "then" | "else" => diagnostic.help("there is no `if` that this could belong to"),
        "with" => diagnostic.help("there is no `match` that this could belong to"),
        "|" => diagnostic.help("there is no `match` that this arm could belong to; logical or is `||`"),
        "as" => diagnostic.help("`as` belongs to patterns and imports"),
        _ => diagnostic,
    }
}

pub(crate) fn arm_without_bar(span: Span, found: &str) -> Diagnostic {
    let text = format!("the arm before this ends, but {found} follows");
    Diagnostic::error(EXPECTED_TOKEN, span, text)
        .help("arms of a `match` begin with `|`, and nothing stands between them: `| p -> a | q -> b`")
}

pub(crate) fn expected_equals(span: Span, place: &str, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(MISSING_EQUALS, span, format!("expected `=` {place}, found {found}"))
        .label("`=` was expected here");
    match found {
        "`,`" => diagnostic.help("parameters are separated by spaces, or form one tuple: `f (x, y)`"),
        _ => diagnostic,
    }
}

pub(crate) fn def_without_body(span: Span) -> Diagnostic {
    Diagnostic::error(MISSING_BODY, span, "this definition has no body")
        .label("an expression was expected here")
}

pub(crate) fn let_without_body(span: Span, found: &str, let_span: Span, continues: bool) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(MISSING_BODY, span, format!("expected `in` after this binding, found {found}"))
            .label("`in` was expected here")
            .also(let_span, "the `let` begins here");
    if continues {
        return diagnostic.help("write `in` before the expression that uses the binding");
    }
    diagnostic
        .note("line breaks do not end an expression: without `in`, all that follows belongs to the binding")
        .help("write `let x = e in body`")
}

pub(crate) fn if_without_else(span: Span, found: &str, if_span: Span) -> Diagnostic {
    Diagnostic::error(MISSING_ELSE, span, format!("expected `else`, found {found}"))
        .label("`else` was expected here")
        .also(if_span, "the `if` begins here")
        .help("every `if` has a value in both cases: `if c then a else b`")
}

pub(crate) fn match_without_arms(span: Span, found: &str, match_span: Span) -> Diagnostic {
    Diagnostic::error(MATCH_ARMS, span, format!("expected an arm, found {found}"))
        .also(match_span, "the `match` begins here")
        .help("write `| pattern -> result` for each case")
}

pub(crate) fn lambda_without_params(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_PATTERN, span, format!("expected a parameter after `\\`, found {found}"))
        .help("a function is written `\\x -> e`; one that ignores its argument `\\_ -> e`")
}

pub(crate) fn chained_comparison(span: Span, operator: &str, first: &str, middle: &str) -> Diagnostic {
    Diagnostic::error(CHAINED_COMPARISON, span, "comparisons cannot be chained")
        .help(format!("write `{first} && {middle} {operator} …`"))
}

pub(crate) fn argument_needs_parentheses(span: Span, keyword: &str) -> Diagnostic {
    let (what, form) = match keyword {
        "\\" => ("a function", "f (\\x -> e)"),
        "if" => ("an `if`", "f (if c then a else b)"),
        _ => ("a `match`", "f (match e with | p -> a)"),
    };
    Diagnostic::error(ARGUMENT_PARENTHESES, span, format!("{what} as an argument needs parentheses"))
        .help(format!("write `{form}`"))
}

pub(crate) fn annotation_needs_parentheses(span: Span) -> Diagnostic {
    Diagnostic::error(ARGUMENT_PARENTHESES, span, "a parameter with a type needs parentheses")
        .help("write `\\(x : Real) -> e`")
}

pub(crate) fn tuple_needs_parentheses(span: Span) -> Diagnostic {
    Diagnostic::error(ARGUMENT_PARENTHESES, span, "a tuple of patterns needs parentheses")
        .help("write `let (x, y) = …`")
}

pub(crate) fn literal_applied(
    span: Span,
    argument: Span,
    elements: &[&str],
    is_number: bool,
    in_array: bool,
) -> Diagnostic {
    let what = if is_number { "a number" } else { "a literal" };
    let diagnostic = Diagnostic::error(LITERAL_APPLIED, span, format!("{what} is not a function"))
        .label("this stands where a function would")
        .also(argument, "and this where its argument would");
    if in_array && elements.contains(&"for") {
        return diagnostic.help(NO_COMPREHENSION);
    }
    if in_array {
        return diagnostic.help(format!("separate elements by commas: `{}`", elements.join(", ")));
    }
    match elements {
        [first, operator @ ("⊕" | "⊗" | "⊙"), rest @ ..] => diagnostic.help(format!(
            "`{operator}` is the name of a function, and stands before its arguments: `{operator} {first} {}`",
            rest.first().unwrap_or(&"x")
        )),
        [first, second, ..] if is_number => {
            diagnostic.help(format!("a product is written `{first} * {second}`"))
        }
        _ => diagnostic.help("an operator or a comma is missing between the two"),
    }
}

pub(crate) fn space_around_point(span: Span) -> Diagnostic {
    Diagnostic::error(SELECTION, span, "no space may stand around the point of a selection")
        .help("write `r.x`; the composition of functions is written `f >> g` (first `f`, then `g`)")
}

pub(crate) fn expected_field(span: Span, found: &str, keyword: bool) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(SELECTION, span, format!("expected a field after the point, found {found}"));
    if keyword { diagnostic.note("keywords cannot be names of fields") } else { diagnostic }
}

pub(crate) fn tuple_position(span: Span, position: u64) -> Diagnostic {
    Diagnostic::error(SELECTION, span, format!("`.{position}` does not select from a tuple"))
        .help("take a tuple apart with a pattern: `let (a, b) = t in …`")
}

pub(crate) fn empty_index(span: Span, array: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_EXPRESSION, span, "the index is missing")
        .help(format!("write `{array}[i]`; to apply it to an empty array, write a space: `{array} []`"))
}

pub(crate) fn underscore_in_expression(span: Span) -> Diagnostic {
    Diagnostic::error(EXPECTED_EXPRESSION, span, "`_` is a pattern, not a value")
        .help("a function that ignores its argument is written `\\_ -> e`")
}

pub(crate) fn tuple_of_one(span: Span) -> Diagnostic {
    Diagnostic::error(TUPLE_OF_ONE, span, "a tuple has no or at least two elements")
        .help("remove the comma: `(e)` is `e`")
}

pub(crate) fn field_without_value(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(RECORD_FIELD, span, format!("the field `{name}` has no value"))
        .help(format!("write `{name} = {name}` to give it the value of the variable `{name}`"))
}

pub(crate) fn colon_in_record(span: Span) -> Diagnostic {
    Diagnostic::error(RECORD_FIELD, span, "a field gets its value with `=`").help("write `{x = 1.0}`")
}

pub(crate) fn equals_in_record_type(span: Span) -> Diagnostic {
    Diagnostic::error(RECORD_FIELD, span, "in a type, a field gets its type with `:`")
        .help("write `{x : Real}`")
}

pub(crate) fn type_needs_constructor(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(EXPECTED_NAME, span, "a `type` has constructors, and none begins here")
        .help(format!("for another name of a type, write `alias {name} = …`"))
}

pub(crate) fn pattern_at_top_level(span: Span) -> Diagnostic {
    Diagnostic::error(EXPECTED_NAME, span, "only a name can be defined here, not a pattern")
        .help("define the whole, or write `let … in …`")
}

pub(crate) fn import_path(span: Span) -> Diagnostic {
    Diagnostic::error(IMPORT_FORM, span, "a module of the library has a simple name")
        .help("import it as `import linalg`, and a file as `import \"dir/file.wg\"`")
}
