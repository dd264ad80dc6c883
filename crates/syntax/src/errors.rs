//! Diagnostics about text and grammar: one function for each kind of mistake, all wording here.
//!
//! This file has the list of codes and the mistakes in single tokens; `grammar` has what is missing or misplaced in
//! the grammar, `slips` what users of other languages write.

mod grammar;
mod slips;

pub(crate) use grammar::*;
pub(crate) use slips::*;

use wengert_base::codes::Code;
use wengert_base::{Diagnostic, Span};

macro_rules! codes {
    ($($constant:ident $code:literal $title:literal;)*) => {
        $(const $constant: &str = $code;)*

        /// The kinds of diagnostics that this crate makes.
        pub const CODES: &[Code] = &[$(Code { code: $code, title: $title }),*];
    };
}

codes! {
    UNKNOWN_CHARACTER "E0101" "a character that has no meaning here";
    CONFUSABLE_CHARACTER "E0102" "a character that only looks like another";
    UNTERMINATED_STRING "E0103" "a string without its closing quote";
    BAD_ESCAPE "E0104" "an unknown escape in a string";
    MALFORMED_NUMBER "E0105" "a malformed number";
    NUMBER_TOO_LARGE "E0106" "a number that is too large";
    FOREIGN_COMMENT "E0107" "a comment in the style of another language";
    FOREIGN_OPERATOR "E0108" "an operator of another language";
    WRONG_QUOTES "E0109" "other quotes than double ones";
    EXPECTED_EXPRESSION "E0110" "an expression is missing";
    EXPECTED_PATTERN "E0111" "a pattern is missing or malformed";
    EXPECTED_TYPE "E0112" "a type is missing or malformed";
    EXPECTED_TOKEN "E0113" "something else was expected";
    UNCLOSED "E0114" "a bracket that is never closed";
    UNMATCHED "E0115" "a closing bracket that closes nothing, or the wrong one";
    EXPECTED_ITEM "E0116" "no definition where one should begin";
    FOREIGN_ITEM "E0117" "a definition in the style of another language";
    MISSING_EQUALS "E0118" "a definition without `=`";
    MISSING_BODY "E0119" "a `let` or a definition without a body";
    MISSING_ELSE "E0120" "an `if` without `else`";
    MATCH_ARMS "E0121" "a malformed `match`";
    EQUALS_IN_EXPRESSION "E0122" "`=` inside an expression";
    CHAINED_COMPARISON "E0123" "a chain of comparisons";
    FOREIGN_FUNCTION "E0124" "an anonymous function in the style of another language";
    ARGUMENT_PARENTHESES "E0125" "an argument that needs parentheses";
    LITERAL_APPLIED "E0126" "a literal used as a function";
    STATEMENT "E0127" "a statement where there are only expressions";
    WRONG_CASE "E0128" "a name with the wrong kind of first letter";
    SELECTION "E0129" "a malformed selection";
    TUPLE_OF_ONE "E0130" "a tuple with one element";
    OPERATOR_SECTION "E0131" "an operator with only one operand";
    TOO_DEEP "E0132" "nesting that is too deep";
    SEPARATOR "E0133" "a missing or wrong separator";
    RECORD_FIELD "E0134" "a malformed field of a record";
    WORD_OPERATOR "E0135" "a word used as an operator";
    BAD_SIZE "E0136" "a malformed array size";
    EXPECTED_NAME "E0137" "a name is missing";
    IMPORT_FORM "E0138" "a malformed import";
}

/// For a mistake of our own: not in the list of kinds, because no text is known to cause it.
const INTERNAL: &str = "E0100";

pub(crate) fn unknown_character(span: Span, c: char) -> Diagnostic {
    let message = if c.is_control() {
        format!("the character U+{:04X} has no meaning here", u32::from(c))
    } else {
        format!("the character `{c}` has no meaning here")
    };
    let diagnostic = Diagnostic::error(UNKNOWN_CHARACTER, span, message);
    let help = match c {
        '!' => "logical not is the function `not`, as in `not done`; inequality is written `!=`",
        '$' => "an argument in parentheses, `f (g x)`, or `x |> g |> f` does what `$` does elsewhere",
        '?' => "a choice is written `if c then a else b`",
        '`' => "an operator stands between its operands, a function before its arguments: `div a b`",
        '√' => "the square root is the function `sqrt`",
        '∑' => "a sum is written `sum xs`",
        '∏' => "a product is written `product xs`",
        '∞' => "infinity is written `1.0 / 0.0`",
        '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' => "a power is written `x ^ 2`",
        '←' => "a name is bound by `let x = e in …`",
        '∈' => "a type is given as `(x : Real)`",
        '~' => "negation is written `-x`, logical not `not x`",
        '′' => "a prime in a name is written with `'`; the derivative of `f` is `derivative f`",
        _ => return diagnostic.help("remove it, or put it in a string or a comment"),
    };
    diagnostic.help(help)
}

pub(crate) fn confusable_character(span: Span, c: char, ours: &str) -> Diagnostic {
    let message = format!("`{c}` (U+{:04X}) looks like `{ours}` but is another character", u32::from(c));
    Diagnostic::error(CONFUSABLE_CHARACTER, span, message).help(format!("write `{ours}`"))
}

pub(crate) fn invisible_character(span: Span, c: char) -> Diagnostic {
    let message = format!("an invisible character, U+{:04X}, stands here", u32::from(c));
    Diagnostic::error(CONFUSABLE_CHARACTER, span, message)
        .help("remove it, or replace it by an ordinary space")
}

pub(crate) fn unterminated_string(span: Span) -> Diagnostic {
    Diagnostic::error(UNTERMINATED_STRING, span, "this string has no closing quote on its line")
        .help("end it with `\"`; a line break inside a string is written `\\n`")
}

pub(crate) fn bad_escape(span: Span, c: char) -> Diagnostic {
    let known =
        "the escapes are `\\n`, `\\t`, `\\\\`, `\\\"` and `\\u{…}`; a backslash itself is written `\\\\`";
    Diagnostic::error(BAD_ESCAPE, span, format!("`\\{}` is not an escape", c.escape_debug())).help(known)
}

pub(crate) fn bad_unicode_escape(span: Span) -> Diagnostic {
    Diagnostic::error(BAD_ESCAPE, span, "this is not the number of a character")
        .help("write up to six hexadecimal digits in braces, as in `\\u{3bb}` for `λ`")
}

pub(crate) fn malformed_number(span: Span, problem: &str, repaired: &str) -> Diagnostic {
    Diagnostic::error(MALFORMED_NUMBER, span, "this number is not written as numbers are written here")
        .label(problem)
        .help(format!("write `{repaired}`"))
}

pub(crate) fn number_with_suffix(span: Span, digits: &str, suffix: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(MALFORMED_NUMBER, span, format!("`{digits}{suffix}` is not a number"));
    if digits == "0" && suffix.starts_with(['x', 'X', 'b', 'B', 'o', 'O']) {
        return diagnostic.help("numbers are written in decimal");
    }
    diagnostic.help(format!("a product is written with `*`: `{digits} * {suffix}`"))
}

pub(crate) fn int_too_large(span: Span, digits: &str) -> Diagnostic {
    Diagnostic::error(NUMBER_TOO_LARGE, span, "this number is too large for an `Int`")
        .label("the largest `Int` is 9223372036854775807")
        .help(format!("for a `Real`, write a point: `{digits}.0`"))
}

pub(crate) fn real_too_large(span: Span) -> Diagnostic {
    Diagnostic::error(NUMBER_TOO_LARGE, span, "this number is too large for a `Real`")
        .label("the largest `Real` is about 1.8e308")
        .help("infinity is written `1.0 / 0.0`")
}

pub(crate) fn nested_too_deeply(span: Span) -> Diagnostic {
    let limit = crate::parser::MAX_DEPTH;
    Diagnostic::error(TOO_DEEP, span, format!("this is nested more than {limit} levels deep"))
        .note("every bracket, operator, `let`, `if` and function counts as a level")
        .help("give inner parts names with `def`")
}

pub(crate) fn formatter_changed_program(span: Span) -> Diagnostic {
    Diagnostic::error(INTERNAL, span, "formatting would change this program, so nothing was changed")
        .note("this is a mistake in the formatter, not in the program")
        .help("please report it together with the file")
}
