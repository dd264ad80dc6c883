//! What users of other languages write.

use super::*;

pub(crate) fn foreign_comment(span: Span, spelling: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(FOREIGN_COMMENT, span, format!("`{spelling}` does not begin a comment"));
    match spelling {
        "//" => diagnostic.help("write `--`; for the quotient of two `Int`s, `a / b` or `div a b`"),
        "#" => diagnostic.help("write `--`, which comments out the rest of the line"),
        _ => diagnostic.help("write `--` at the beginning of each line of the comment"),
    }
}

pub(crate) fn foreign_operator(span: Span, spelling: &str, help: &str) -> Diagnostic {
    Diagnostic::error(FOREIGN_OPERATOR, span, format!("`{spelling}` is not an operator here")).help(help)
}

pub(crate) fn wrong_quotes(span: Span) -> Diagnostic {
    Diagnostic::error(WRONG_QUOTES, span, "a string has double quotes").help("write `\"text\"`")
}

pub(crate) fn stray_quote(span: Span) -> Diagnostic {
    Diagnostic::error(WRONG_QUOTES, span, "a quote cannot stand here")
        .help("strings are written `\"text\"`, and type variables without a quote: `a`")
}

pub(crate) fn word_operator(span: Span, word: &str, operator: &str) -> Diagnostic {
    let sign = if word == "and" { '∧' } else { '∨' };
    Diagnostic::error(WORD_OPERATOR, span, format!("`{word}` is not an operator"))
        .help(format!("logical {word} is written `{operator}` (or `{sign}`)"))
}

pub(crate) fn fat_arrow(span: Span) -> Diagnostic {
    Diagnostic::error(FOREIGN_OPERATOR, span, "the arrow is written `->`, not `=>`")
        .help("write `->` (or `→`); \"at least\" is written `>=`")
}

pub(crate) fn foreign_lambda(span: Span, word: &str) -> Diagnostic {
    Diagnostic::error(FOREIGN_FUNCTION, span, format!("`{word}` does not begin a function"))
        .help("a function is written `\\x y -> e` (or `λx y → e`)")
}

pub(crate) fn arrow_in_expression(span: Span, spelling: &str, in_arms: bool) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(FOREIGN_FUNCTION, span, format!("`{spelling}` cannot follow an expression"));
    if in_arms {
        return diagnostic.help("each arm of a `match` begins with `|`, and a function with `\\`");
    }
    diagnostic.help("a function is written `\\x -> e`; \"at least\" is written `>=`")
}

pub(crate) fn comma_between_params(span: Span) -> Diagnostic {
    Diagnostic::error(SEPARATOR, span, "parameters are separated by spaces")
        .help("write `f x y`, or `f (x, y)` for one parameter that is a tuple")
}

pub(crate) fn semicolon(span: Span) -> Diagnostic {
    Diagnostic::error(STATEMENT, span, "`;` has no meaning here")
        .note("there are no statements: bindings are joined by `let x = e in …`")
        .help("remove it; after the binding of a `let`, write `in` in its place")
}

pub(crate) fn semicolon_in_list(span: Span) -> Diagnostic {
    Diagnostic::error(SEPARATOR, span, "elements are separated by commas, not by `;`").help("write `,`")
}

pub(crate) fn return_statement(span: Span) -> Diagnostic {
    Diagnostic::error(STATEMENT, span, "there is no `return`")
        .note("the value of a function is the value of its body")
        .help("remove the word")
}

pub(crate) fn where_clause(span: Span) -> Diagnostic {
    Diagnostic::error(STATEMENT, span, "there is no `where`")
        .help("bind names before they are used: `let y = … in body`")
}

pub(crate) fn elif(span: Span, word: &str) -> Diagnostic {
    Diagnostic::error(FOREIGN_OPERATOR, span, format!("`{word}` is not a keyword")).help("write `else if`")
}

pub(crate) fn case_of(span: Span, word: &str) -> Diagnostic {
    Diagnostic::error(MATCH_ARMS, span, format!("`{word} … of` is not an expression here"))
        .help("write `match e with | p -> a | q -> b`")
}

pub(crate) fn match_of(span: Span) -> Diagnostic {
    Diagnostic::error(MATCH_ARMS, span, "a `match` has `with`, not `of`")
        .help("write `match e with | p -> a`")
}

pub(crate) fn or_pattern(span: Span, pattern: &str) -> Diagnostic {
    Diagnostic::error(MATCH_ARMS, span, "an arm has one pattern")
        .help(format!("write an arm for each: `| {pattern} -> … | … -> …`"))
}

pub(crate) fn guard(span: Span, word: &str) -> Diagnostic {
    Diagnostic::error(MATCH_ARMS, span, format!("an arm cannot have a condition after `{word}`"))
        .help("decide in the result: `| p -> if c then a else b`")
}

pub(crate) fn equals_in_expression(span: Span, defined: Option<&str>, in_record: bool) -> Diagnostic {
    let diagnostic = Diagnostic::error(EQUALS_IN_EXPRESSION, span, "`=` cannot stand inside an expression");
    match defined {
        _ if in_record => diagnostic.help("a comma is missing before this field; equality is written `==`"),
        Some(name) => diagnostic
            .note("line breaks do not end an expression")
            .help(format!("to bind `{name}`, write `let {name} … = …`, or `def {name} … = …` at top level")),
        None => diagnostic.help("equality is written `==`; nothing is ever assigned anew"),
    }
}

pub(crate) fn and_without_rec(span: Span) -> Diagnostic {
    Diagnostic::error(STATEMENT, span, "`and` joins bindings only after `let rec`")
        .help("write another `let`")
}

pub(crate) fn let_at_top_level(span: Span) -> Diagnostic {
    Diagnostic::error(FOREIGN_ITEM, span, "a definition at top level begins with `def`, not with `let`")
        .help("write `def`")
}

pub(crate) fn foreign_item(span: Span, word: &str, ours: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(FOREIGN_ITEM, span, format!("`{word}` does not begin a definition"));
    match ours {
        "type" => diagnostic.help("a data type is written `type Shape = Circle Real | Rect Real Real`"),
        "alias" => diagnostic.help("a record type gets a name by `alias Point = {x : Real, y : Real}`"),
        "import" => {
            diagnostic.help("write `import linalg`, `import linalg as la` or `import linalg (solve)`")
        }
        _ => diagnostic.help("write `def`, as in `def f x = x + 1`"),
    }
}

pub(crate) fn missing_def(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(FOREIGN_ITEM, span, format!("the definition of `{name}` does not begin with `def`"))
        .help(format!("write `def {name} … = …`"))
}

pub(crate) fn def_rec(span: Span) -> Diagnostic {
    Diagnostic::error(FOREIGN_ITEM, span, "`rec` belongs to `let`; a `def` may always refer to itself")
        .help("remove the word")
}

pub(crate) fn missing_let(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(MISSING_BODY, span, format!("the binding of `{name}` does not begin with `let`"))
        .help("each binding has a `let` of its own; `in` stands before the body")
}

pub(crate) fn quoted_field(span: Span) -> Diagnostic {
    Diagnostic::error(RECORD_FIELD, span, "the names of fields have no quotes").help("write `{x = 1.0}`")
}
