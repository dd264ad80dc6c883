//! Messages about characters, texts, numbers, and comments, operators and words of other languages.

use super::check;
use crate::picture::{self, FILE};
use expect_test::expect;
use wengert_syntax::parse;

#[test]
fn characters() {
    check(
        &[
            "1 $ 2",
            "!x",
            "x² + 1",
            "a – b",
            "f\u{a0}x",
            "f\u{200b}x",
            "xⁿ + ⁱ",
            "√ 2 ∑ xs",
            "\u{0}\u{1} x",
            "r.x′",
        ],
        expect![[r#"
            ## 1 $ 2
            E0101 `$`: the character `$` has no meaning here
              help: an argument in parentheses, `f (g x)`, or `x |> g |> f` does what `$` does elsewhere
            ## !x
            E0101 `!`: the character `!` has no meaning here
              help: logical not is the function `not`, as in `not done`; inequality is written `!=`
            ## x² + 1
            E0101 `²`: the character `²` has no meaning here
              help: a power is written `x ^ 2`
            ## a – b
            E0102 `–`: `–` (U+2013) looks like `-` but is another character
              help: write `-`
            ## f\u{a0}x
            E0102 `\u{a0}`: an invisible character, U+00A0, stands here
              help: remove it, or replace it by an ordinary space
            ## f\u{200b}x
            E0102 `\u{200b}`: an invisible character, U+200B, stands here
              help: remove it, or replace it by an ordinary space
            ## xⁿ + ⁱ
            E0101 `ⁿ`: the character `ⁿ` has no meaning here
              help: remove it, or put it in a string or a comment
            E0101 `ⁱ`: the character `ⁱ` has no meaning here
              help: remove it, or put it in a string or a comment
            ## √ 2 ∑ xs
            E0101 `√`: the character `√` has no meaning here
              help: the square root is the function `sqrt`
            E0101 `∑`: the character `∑` has no meaning here
              help: a sum is written `sum xs`
            ## \0\u{1} x
            E0101 `\u{0}`: the character U+0000 has no meaning here
              help: remove it, or put it in a string or a comment
            ## r.x′
            E0101 `′`: the character `′` has no meaning here
              help: a prime in a name is written with `'`; the derivative of `f` is `derivative f`
        "#]],
    );
}

#[test]
fn strings() {
    check(
        &["\"abc", "\"a\\q b\"", "\"\\u{110000}\"", "f 'abc'", "“abc”", "f 'a"],
        expect![[r###"
            ## \"abc
            E0103 `"abc`: this string has no closing quote on its line
              help: end it with `"`; a line break inside a string is written `\n`
            ## \"a\\q b\"
            E0104 `\q`: `\q` is not an escape
              help: the escapes are `\n`, `\t`, `\\`, `\"` and `\u{…}`; a backslash itself is written `\\`
            ## \"\\u{110000}\"
            E0104 `\u{110000}`: this is not the number of a character
              help: write up to six hexadecimal digits in braces, as in `\u{3bb}` for `λ`
            ## f \'abc\'
            E0109 `'abc'`: a string has double quotes
              help: write `"text"`
            ## “abc”
            E0102 `“abc”`: `“` (U+201C) looks like `"` but is another character
              help: write `"`
            ## f \'a
            E0109 `'`: a quote cannot stand here
              help: strings are written `"text"`, and type variables without a quote: `a`
        "###]],
    );
}

#[test]
fn numbers() {
    check(
        &[
            ".5 + x",
            "5. + x",
            "1e + 2",
            "2x",
            "0xFF",
            "1__0",
            "1_",
            "99999999999999999999",
            "9223372036854775808",
            "1e999",
            "x.5",
        ],
        expect![[r#"
            ## .5 + x
            E0105 `.5`: this number is not written as numbers are written here
              here: a number begins with a digit: write a zero before the point
              help: write `0.5`
            ## 5. + x
            E0105 `5.`: this number is not written as numbers are written here
              here: a digit must follow the point: write a zero after it
              help: write `5.0`
            ## 1e + 2
            E0105 `1e`: this number is not written as numbers are written here
              here: digits must follow the `e` of an exponent
              help: write `1`
            ## 2x
            E0105 `2x`: `2x` is not a number
              help: a product is written with `*`: `2 * x`
            ## 0xFF
            E0105 `0xFF`: `0xFF` is not a number
              help: numbers are written in decimal
            ## 1__0
            E0105 `1__0`: this number is not written as numbers are written here
              here: `_` may stand only between two digits
              help: write `10`
            ## 1_
            E0105 `1_`: this number is not written as numbers are written here
              here: `_` may stand only between two digits
              help: write `1`
            ## 99999999999999999999
            E0106 `99999999999999999999`: this number is too large for an `Int`
              here: the largest `Int` is 9223372036854775807
              help: for a `Real`, write a point: `99999999999999999999.0`
            ## 9223372036854775808
            E0106 `9223372036854775808`: this number is too large for an `Int`
              here: the largest `Int` is 9223372036854775807
              help: for a `Real`, write a point: `9223372036854775808.0`
            ## 1e999
            E0106 `1e999`: this number is too large for a `Real`
              here: the largest `Real` is about 1.8e308
              help: infinity is written `1.0 / 0.0`
            ## x.5
            E0129 `5`: `.5` does not select from a tuple
              help: take a tuple apart with a pattern: `let (a, b) = t in …`
        "#]],
    );
}

#[test]
fn comments_of_others() {
    check(
        &["x # comment", "x // comment", "(7 // 2)", "/* a */ x", "{- a -} x", "(* a *) x"],
        expect![[r#"
        ## x # comment
        E0107 `# comment`: `#` does not begin a comment
          help: write `--`, which comments out the rest of the line
        ## x // comment
        E0107 `// comment`: `//` does not begin a comment
          help: write `--`; for the quotient of two `Int`s, `a / b` or `div a b`
        ## (7 // 2)
        E0107 `//`: `//` does not begin a comment
          help: write `--`; for the quotient of two `Int`s, `a / b` or `div a b`
        ## /* a */ x
        E0107 `/* a */`: `/*` does not begin a comment
          help: write `--` at the beginning of each line of the comment
        ## {- a -} x
        E0107 `{- a -}`: `{-` does not begin a comment
          help: write `--` at the beginning of each line of the comment
        ## (* a *) x
        E0107 `(* a *)`: `(*` does not begin a comment
          help: write `--` at the beginning of each line of the comment
    "#]],
    );
}

#[test]
fn operators_of_others() {
    check(
        &[
            "a /= b",
            "a <> b",
            "a === b",
            "a and b or c",
            "a & b",
            "x := 1",
            "a +. b",
            "f <| x",
            "f << g",
            "xs[0..2]",
            "x += 1",
            "a ∘ b",
            "a => b",
            "x++",
            "x++ + 1",
            "not (a = b)",
            "Cons x :: xs",
            "a @ b",
        ],
        expect![[r###"
            ## a /= b
            E0108 `/=`: `/=` is not an operator here
              help: inequality is written `!=` (or `≠`)
            ## a <> b
            E0108 `<>`: `<>` is not an operator here
              help: inequality is written `!=` (or `≠`); strings are joined by `++`
            ## a === b
            E0108 `===`: `===` is not an operator here
              help: equality is written `==`
            ## a and b or c
            E0135 `and`: `and` is not an operator
              help: logical and is written `&&` (or `∧`)
            ## a & b
            E0108 `&`: `&` is not an operator here
              help: logical and is written `&&` (or `∧`)
            ## x := 1
            E0108 `:=`: `:=` is not an operator here
              help: a definition is written with `=`; nothing is ever assigned anew
            ## a +. b
            E0108 `+.`: `+.` is not an operator here
              help: the same operators serve `Int` and `Real`: write `+`
            ## f <| x
            E0108 `<|`: `<|` is not an operator here
              help: `f <| x` is written `f (x)`, or `x |> f`
            ## f << g
            E0108 `<<`: `<<` is not an operator here
              help: `f << g` is written `g >> f`
            ## xs[0..2]
            E0108 `..`: `..` is not an operator here
              help: there are no ranges: `iota n` is the array of 0, 1, …, n - 1; see also `slice`
            ## x += 1
            E0108 `+=`: `+=` is not an operator here
              help: nothing is ever assigned anew: bind a new name with `let`
            ## a ∘ b
            E0108 `∘`: `∘` is not an operator here
              help: `f ∘ g` is written `g >> f`
            ## a => b
            E0124 `=>`: `=>` cannot follow an expression
              help: a function is written `\x -> e`; "at least" is written `>=`
            ## x++
            E0110 ``: expected an expression after `++`, found the end of the text
              `++`: the operator is here
              help: `++` joins two strings; to count up, bind a new name: `let y = x + 1 in …`
            ## x++ + 1
            E0110 `+`: expected an expression after `++`, found `+`
              `++`: the operator is here
              help: `++` joins two strings; to count up, bind a new name: `let y = x + 1 in …`
            ## not (a = b)
            E0122 `=`: `=` cannot stand inside an expression
              help: equality is written `==`; nothing is ever assigned anew
            ## Cons x :: xs
            E0108 `::`: `::` is not an operator here
              help: a type annotation has one colon; a list is built with its constructor, `Cons x rest`
            ## a @ b
            E0108 `@`: `@` is not an operator here
              help: the product of matrices is `matmul a b`; `p as x` names a pattern
        "###]],
    );
}

#[test]
fn words_of_other_languages_are_ordinary_names() {
    let text = "def or a b = a || b
def return x = x
def case of = of
def fun lambda = lambda (or true) (return 1) (lambda of : Real)
def where elif = if elif then elif elif elif else where elif
def f data val = data
data val
def g use = f
use use
";
    let parsed = parse(FILE, text);
    assert!(parsed.diagnostics.is_empty(), "{}", picture::diagnostics(text, &parsed.diagnostics));
}
