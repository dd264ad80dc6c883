//! The messages: what was expected, what was found, and what to do. One mistake gives one message.

mod support;

use expect_test::{Expect, expect};
use support::FILE;
use wengert_syntax::{is_incomplete, parse, parse_expr, parse_input};

/// The messages for each of some expressions.
fn check(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        let parsed = parse_expr(FILE, text);
        assert!(!parsed.diagnostics.is_empty(), "{text} has no mistake");
        out += &format!("## {}\n{}", text.escape_debug(), support::diagnostics(text, &parsed.diagnostics));
    }
    expected.assert_eq(&out);
}

/// The messages for each of some files.
fn check_files(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        let parsed = parse(FILE, text);
        assert!(!parsed.diagnostics.is_empty(), "{text} has no mistake");
        let messages = support::diagnostics(text, &parsed.diagnostics);
        let count = parsed.module.items.len();
        out += &format!("## {} ({count} items)\n{messages}", text.escape_debug());
    }
    expected.assert_eq(&out);
}

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
fn brackets() {
    check(
        &["(a, b", "[1, 2)", "{x = 1", "a)", "f (a, (b, c)", "(a]", "[(a, b]", "xs[i"],
        expect![[r#"
        ## (a, b
        E0114 ``: expected `)` to close `(`, found the end of the text
          here: `)` was expected here
          `(`: this `(` is never closed
        ## [1, 2)
        E0115 `)`: `[` is closed by `)`
          here: `]` was expected here
          `[`: this is the opening `[`
        ## {x = 1
        E0114 ``: expected `}` to close `{`, found the end of the text
          here: `}` was expected here
          `{`: this `{` is never closed
        ## a)
        E0115 `)`: `)` closes nothing
          help: remove it, or open the bracket
        ## f (a, (b, c)
        E0114 ``: expected `)` to close `(`, found the end of the text
          here: `)` was expected here
          `(`: this `(` is never closed
        ## (a]
        E0115 `]`: `(` is closed by `]`
          here: `)` was expected here
          `(`: this is the opening `(`
        ## [(a, b]
        E0114 `]`: expected `)` to close `(`, found `]`
          here: `)` was expected here
          `(`: this `(` is never closed
        ## xs[i
        E0114 ``: expected `]` to close `[`, found the end of the text
          here: `]` was expected here
          `[`: this `[` is never closed
    "#]],
    );
}

#[test]
fn missing_operands() {
    check(
        &[
            "1 +",
            "* 2",
            "(+ 1)",
            "(1 +)",
            "a * / b",
            "f (, b)",
            "(a,)",
            "_",
            "xs[]",
            "let",
            "\\ -> 1",
            "\\x ->",
            "\\x, y -> x",
            "\\x : Real -> x",
            "λx. x",
        ],
        expect![[r#"
            ## 1 +
            E0110 ``: expected an expression after `+`, found the end of the text
              `+`: the operator is here
            ## * 2
            E0110 `*`: expected an expression, found `*`
            ## (+ 1)
            E0131 `+`: `+` has no left operand
              help: write a function, `\x -> x + …`; `(+)` is the operator itself
            ## (1 +)
            E0131 `+`: `+` has no right operand
              help: write a function, `\x -> … + x`; `(+)` is the operator itself
            ## a * / b
            E0110 `/`: expected an expression after `*`, found `/`
              `*`: the operator is here
            ## f (, b)
            E0110 `,`: expected an expression, found `,`
            ## (a,)
            E0130 `(a,)`: a tuple has no or at least two elements
              help: remove the comma: `(e)` is `e`
            ## _
            E0110 `_`: `_` is a pattern, not a value
              help: a function that ignores its argument is written `\_ -> e`
            ## xs[]
            E0110 `]`: the index is missing
              help: write `xs[i]`; to apply it to an empty array, write a space: `xs []`
            ## let
            E0111 ``: expected a pattern, found the end of the text
              help: a pattern is a name, `_`, a literal, a constructor with patterns, a tuple or a record of patterns
            ## \\ -> 1
            E0111 `->`: expected a parameter after `\`, found `->`
              help: a function is written `\x -> e`; one that ignores its argument `\_ -> e`
            ## \\x ->
            E0110 ``: expected an expression, found the end of the text
            ## \\x, y -> x
            E0133 `,`: parameters are separated by spaces
              help: write `f x y`, or `f (x, y)` for one parameter that is a tuple
            ## \\x : Real -> x
            E0125 `:`: a parameter with a type needs parentheses
              help: write `\(x : Real) -> e`
            ## λx. x
            E0113 `.`: expected `->` after the parameters of the function, found `.`
              here: `->` was expected here
        "#]],
    );
}

#[test]
fn if_and_match() {
    check(
        &[
            "if a then b",
            "if a b else c",
            "if x = 3 then 1 else 2",
            "if a: b else: c",
            "if a then b elif c then d else e",
            "match x with",
            "match x of | A -> 1",
            "match x | A -> 1",
            "match x with A => 1 | B => 2",
            "match x with | A | B -> 1",
            "match x with | n when n > 0 -> 1 | _ -> 2",
            "match x with | n if n > 0 -> 1",
            "match x with A -> 1 B -> 2",
            "case x of A -> 1",
            "match x with | f a -> 1",
            "match x with | [a] -> 1",
            "match x with | -a -> 1",
        ],
        expect![[r###"
            ## if a then b
            E0120 ``: expected `else`, found the end of the text
              here: `else` was expected here
              `if`: the `if` begins here
              help: every `if` has a value in both cases: `if c then a else b`
            ## if a b else c
            E0113 `else`: expected `then` after the condition of `if`, found the keyword `else`
              here: `then` was expected here
            ## if x = 3 then 1 else 2
            E0122 `=`: `=` cannot stand inside an expression
              help: equality is written `==`; nothing is ever assigned anew
            ## if a: b else: c
            E0113 `:`: expected `then` after the condition of `if`, found `:`
              here: `then` was expected here
            E0110 `:`: expected an expression, found `:`
            ## if a then b elif c then d else e
            E0108 `elif`: `elif` is not a keyword
              help: write `else if`
            ## match x with
            E0121 ``: expected an arm, found the end of the text
              `match`: the `match` begins here
              help: write `| pattern -> result` for each case
            ## match x of | A -> 1
            E0121 `of`: a `match` has `with`, not `of`
              help: write `match e with | p -> a`
            ## match x | A -> 1
            E0113 `|`: expected `with` after the value to be matched, found `|`
              here: `with` was expected here
            ## match x with A => 1 | B => 2
            E0108 `=>`: the arrow is written `->`, not `=>`
              help: write `->` (or `→`); "at least" is written `>=`
            E0108 `=>`: the arrow is written `->`, not `=>`
              help: write `->` (or `→`); "at least" is written `>=`
            ## match x with | A | B -> 1
            E0121 `|`: an arm has one pattern
              help: write an arm for each: `| A -> … | … -> …`
            ## match x with | n when n > 0 -> 1 | _ -> 2
            E0121 `when`: an arm cannot have a condition after `when`
              help: decide in the result: `| p -> if c then a else b`
            ## match x with | n if n > 0 -> 1
            E0121 `if`: an arm cannot have a condition after `if`
              help: decide in the result: `| p -> if c then a else b`
            ## match x with A -> 1 B -> 2
            E0124 `->`: `->` cannot follow an expression
              help: each arm of a `match` begins with `|`, and a function with `\`
            ## case x of A -> 1
            E0121 `case`: `case … of` is not an expression here
              help: write `match e with | p -> a | q -> b`
            ## match x with | f a -> 1
            E0111 `f`: `f` is not a constructor and takes no arguments
              help: constructors begin with a capital letter; a tuple of patterns is written `(x, y)`
            ## match x with | [a] -> 1
            E0111 `[`: there are no patterns for arrays
              help: match a name, then use `xs[i]` and `length xs`
            ## match x with | -a -> 1
            E0111 `a`: in a pattern, `-` stands only before a number, not the name `a`
        "###]],
    );
}

#[test]
fn lets() {
    check(
        &[
            "let x = 1",
            "let x = 1\n f x",
            "let x = 1\nx + 2",
            "let x 1 in x",
            "let x == 1 in x",
            "let a, b = p in a",
            "let a = 1 and b = 2 in a",
            "let a = 1; let b = 2 in a",
            "let a = 1\n    b = 2\nin a + b",
            "let if = 1 in x",
        ],
        expect![[r#"
            ## let x = 1
            E0119 ``: expected `in` after this binding, found the end of the text
              here: `in` was expected here
              `let`: the `let` begins here
              note: line breaks do not end an expression: without `in`, all that follows belongs to the binding
              help: write `let x = e in body`
            ## let x = 1\n f x
            E0119 ``: expected `in` after this binding, found the name `f`
              here: `in` was expected here
              `let`: the `let` begins here
              help: write `in` before the expression that uses the binding
            ## let x = 1\nx + 2
            E0119 ``: expected `in` after this binding, found the name `x`
              here: `in` was expected here
              `let`: the `let` begins here
              help: write `in` before the expression that uses the binding
            ## let x 1 in x
            E0118 `in`: expected `=` in this binding, found the keyword `in`
              here: `=` was expected here
            ## let x == 1 in x
            E0118 `==`: expected `=` in this binding, found `==`
              here: `=` was expected here
            ## let a, b = p in a
            E0125 `,`: a tuple of patterns needs parentheses
              help: write `let (x, y) = …`
            ## let a = 1 and b = 2 in a
            E0127 `and`: `and` joins bindings only after `let rec`
              help: write another `let`
            ## let a = 1; let b = 2 in a
            E0127 `;`: `;` has no meaning here
              note: there are no statements: bindings are joined by `let x = e in …`
              help: remove it; after the binding of a `let`, write `in` in its place
            ## let a = 1\n    b = 2\nin a + b
            E0119 ``: the binding of `b` does not begin with `let`
              help: each binding has a `let` of its own; `in` stands before the body
            ## let if = 1 in x
            E0137 `if`: expected the name of what is bound, found the keyword `if`
              note: keywords cannot be names
        "#]],
    );
}

#[test]
fn functions_of_others() {
    check(
        &[
            "fun x -> x",
            "fn x => x",
            "lambda x: x + 1",
            "map (fn (x, y) -> x) xs",
            "x -> x + 1",
            "(x, y) => x",
            "f \\x -> x",
            "f if a then b else c",
            "a < b < c",
            "[1 2 3]",
            "[x | x <- xs]",
            "[2 * x for x in xs]",
            "[f x for x in xs]",
            "2 (x)",
            "\"a\" x",
            "[1; 2]",
            "f; g",
            "let y = 1; y + x",
            "c ? a : b",
        ],
        expect![[r###"
            ## fun x -> x
            E0124 `fun`: `fun` does not begin a function
              help: a function is written `\x y -> e` (or `λx y → e`)
            ## fn x => x
            E0124 `fn`: `fn` does not begin a function
              help: a function is written `\x y -> e` (or `λx y → e`)
            ## lambda x: x + 1
            E0124 `lambda`: `lambda` does not begin a function
              help: a function is written `\x y -> e` (or `λx y → e`)
            ## map (fn (x, y) -> x) xs
            E0124 `fn`: `fn` does not begin a function
              help: a function is written `\x y -> e` (or `λx y → e`)
            ## x -> x + 1
            E0124 `->`: `->` cannot follow an expression
              help: a function is written `\x -> e`; "at least" is written `>=`
            ## (x, y) => x
            E0124 `=>`: `=>` cannot follow an expression
              help: a function is written `\x -> e`; "at least" is written `>=`
            ## f \\x -> x
            E0125 `\`: a function as an argument needs parentheses
              help: write `f (\x -> e)`
            ## f if a then b else c
            E0125 `if`: an `if` as an argument needs parentheses
              help: write `f (if c then a else b)`
            ## a < b < c
            E0123 `<`: comparisons cannot be chained
              help: write `a < b && b < …`
            ## [1 2 3]
            E0126 `1`: a number is not a function
              here: this stands where a function would
              `2`: and this where its argument would
              help: separate elements by commas: `1, 2, 3`
            ## [x | x <- xs]
            E0133 `|`: expected `,` or `]` between the elements, found `|`
              help: an array is made from another by `map (\x -> …) xs`, or by `build n (\i -> …)`
            ## [2 * x for x in xs]
            E0133 `in`: expected `,` or `]` between the elements, found the keyword `in`
              help: an array is made from another by `map (\x -> …) xs`, or by `build n (\i -> …)`
            ## [f x for x in xs]
            E0133 `in`: expected `,` or `]` between the elements, found the keyword `in`
              help: an array is made from another by `map (\x -> …) xs`, or by `build n (\i -> …)`
            ## 2 (x)
            E0126 `2`: a number is not a function
              here: this stands where a function would
              `(x)`: and this where its argument would
              help: a product is written `2 * (x)`
            ## \"a\" x
            E0126 `"a"`: a literal is not a function
              here: this stands where a function would
              `x`: and this where its argument would
              help: an operator or a comma is missing between the two
            ## [1; 2]
            E0133 `;`: elements are separated by commas, not by `;`
              help: write `,`
            ## f; g
            E0127 `;`: `;` has no meaning here
              note: there are no statements: bindings are joined by `let x = e in …`
              help: remove it; after the binding of a `let`, write `in` in its place
            ## let y = 1; y + x
            E0127 `;`: `;` has no meaning here
              note: there are no statements: bindings are joined by `let x = e in …`
              help: remove it; after the binding of a `let`, write `in` in its place
            ## c ? a : b
            E0101 `?`: the character `?` has no meaning here
              help: a choice is written `if c then a else b`
        "###]],
    );
}

#[test]
fn selections_and_records() {
    check(
        &[
            "f . g",
            "r. x",
            "t.0",
            "r.x.Field",
            "List.map f",
            "r.type",
            "{x : 1}",
            "{x}",
            "{x = 1 y = 2}",
            "{x = 1; y = 2}",
            "{\"x\": 1}",
            "{r with}",
            "{r with x 1}",
            "{f r}",
            "a : Int",
            "f (x : Int, y) z : Int",
        ],
        expect![[r###"
            ## f . g
            E0129 `.`: no space may stand around the point of a selection
              help: write `r.x`; the composition of functions is written `f >> g` (first `f`, then `g`)
            ## r. x
            E0129 `.`: no space may stand around the point of a selection
              help: write `r.x`; the composition of functions is written `f >> g` (first `f`, then `g`)
            ## t.0
            E0129 `0`: `.0` does not select from a tuple
              help: take a tuple apart with a pattern: `let (a, b) = t in …`
            ## r.x.Field
            E0128 `Field`: fields begin with a small letter, not as `Field` does
              help: `m.Ctor` names a constructor of the module `m`
            ## List.map f
            E0128 `List`: `List` is a constructor, which has no fields
              help: modules have small letters: `list.…`
            ## r.type
            E0129 `type`: expected a field after the point, found the keyword `type`
              note: keywords cannot be names of fields
            ## {x : 1}
            E0134 `:`: a field gets its value with `=`
              help: write `{x = 1.0}`
            ## {x}
            E0134 `x`: the field `x` has no value
              help: write `x = x` to give it the value of the variable `x`
            ## {x = 1 y = 2}
            E0122 `=`: `=` cannot stand inside an expression
              help: a comma is missing before this field; equality is written `==`
            ## {x = 1; y = 2}
            E0133 `;`: elements are separated by commas, not by `;`
              help: write `,`
            ## {\"x\": 1}
            E0134 `"x"`: the names of fields have no quotes
              help: write `{x = 1.0}`
            ## {r with}
            E0137 `}`: expected the name of a field to be changed, found `}`
            ## {r with x 1}
            E0113 `1`: expected `=` between the field and its value, found the number `1`
              here: `=` was expected here
            ## {f r}
            E0113 `}`: expected `with` or `=` in a record, found `}`
              here: `with` was expected here
            ## a : Int
            E0113 `:`: the expression before this ends, but `:` follows
              help: a type annotation is written in parentheses: `(e : t)`
            ## f (x : Int, y) z : Int
            E0113 `:`: the expression before this ends, but `:` follows
              help: a type annotation is written in parentheses: `(e : t)`
        "###]],
    );
}

#[test]
fn files() {
    check_files(
        &[
            "def f x\ndef g = 2",
            "def f x -> x",
            "def f(x):\n    return x",
            "def f(x): return x + 1\ndef g = 2",
            "def f =\ndef g = ",
            "def F x = x",
            "def f x = )\ndef g = 1",
            "f x = x\ng y = y",
            "let x = 1\nlet y = 2 in y\ndef z = 1",
            "data Shape = Circle Real | Square Real\ndef z = 1",
            "val x = 3\nfun f x = x\nconst y = 4",
            "def rec f x = f x",
            "type shape = Circle",
            "type Shape = circle Real",
            "type P = {x : Real}",
            "type T =",
            "type List A = Nil",
            "alias point = Real",
            "alias P = {x = Real}",
            "open Foo\ndef x = 1",
            "from math import sin\ndef x = 1",
            "import List",
            "import a.b\ndef x = 1",
            "import",
            "def f x = y\n  where y = x\ndef g = 1",
            "def f x = return x",
            "def f x = y where y = x",
            "def f x = a or b",
            "def f (x : [Real]) = x",
            "def f (x : [n+1]Real) = x",
            "def f (x : [n]) = x",
            "def f (x : a b) = x",
            "def f (x : ) = x",
            "def f (x : 'a) = x",
            "def f x = x;\ndef g = 1;",
            "x + 1\ndef g = 1",
            "def f x, y = x",
            "def f = let x = 1\ndef g = 2",
            "def f = (1, 2\ndef g = 2",
            "def f = if a then b\ndef g = [1, 2\ndef h = match x with\ndef i = 1 +\ndef j = 2",
            "def match = 1",
            "def f = match x with | A -> 1\n  | B -> \ndef g = 1",
            "def f : Real => Real = g",
            "def f = 1 def",
            "}\ndef f = 1",
            "def f = in x\ndef g = else 2",
        ],
        expect![[r###"
            ## def f x\ndef g = 2 (2 items)
            E0118 ``: expected `=` before the body of this definition, found the keyword `def`
              here: `=` was expected here
            ## def f x -> x (1 items)
            E0118 `->`: expected `=` before the body of this definition, found `->`
              here: `=` was expected here
            ## def f(x):\n    return x (1 items)
            E0118 `:`: expected `=` before the body of this definition, found `:`
              here: `=` was expected here
            ## def f(x): return x + 1\ndef g = 2 (2 items)
            E0118 `:`: expected `=` before the body of this definition, found `:`
              here: `=` was expected here
            ## def f =\ndef g =  (2 items)
            E0119 ``: this definition has no body
              here: an expression was expected here
            E0119 ``: this definition has no body
              here: an expression was expected here
            ## def F x = x (1 items)
            E0128 `F`: the name of a definition begins with a small letter, not as `F` does
              note: capital letters begin types and constructors
              help: call it `f`
            ## def f x = )\ndef g = 1 (2 items)
            E0110 `)`: expected an expression, found `)`
            ## f x = x\ng y = y (2 items)
            E0117 `f`: the definition of `f` does not begin with `def`
              help: write `def f … = …`
            E0117 `g`: the definition of `g` does not begin with `def`
              help: write `def g … = …`
            ## let x = 1\nlet y = 2 in y\ndef z = 1 (3 items)
            E0117 `let`: a definition at top level begins with `def`, not with `let`
              help: write `def`
            E0117 `let`: a definition at top level begins with `def`, not with `let`
              help: write `def`
            ## data Shape = Circle Real | Square Real\ndef z = 1 (2 items)
            E0117 `data`: `data` does not begin a definition
              help: a data type is written `type Shape = Circle Real | Rect Real Real`
            ## val x = 3\nfun f x = x\nconst y = 4 (3 items)
            E0117 `val`: `val` does not begin a definition
              help: write `def`, as in `def f x = x + 1`
            E0117 `fun`: `fun` does not begin a definition
              help: write `def`, as in `def f x = x + 1`
            E0117 `const`: `const` does not begin a definition
              help: write `def`, as in `def f x = x + 1`
            ## def rec f x = f x (1 items)
            E0117 `rec`: `rec` belongs to `let`; a `def` may always refer to itself
              help: remove the word
            ## type shape = Circle (1 items)
            E0128 `shape`: the name of a type begins with a capital letter, not as `shape` does
              help: call it `Shape`
            ## type Shape = circle Real (1 items)
            E0128 `circle`: the name of a constructor begins with a capital letter, not as `circle` does
              help: call it `Circle`
            ## type P = {x : Real} (1 items)
            E0137 `{`: a `type` has constructors, and none begins here
              help: for another name of a type, write `alias P = …`
            ## type T = (1 items)
            E0137 ``: expected the name of a constructor, found the end of the text
            ## type List A = Nil (1 items)
            E0128 `A`: the name of a type parameter begins with a small letter, not as `A` does
              note: capital letters begin types and constructors
              help: call it `a`
            ## alias point = Real (1 items)
            E0128 `point`: the name of an alias begins with a capital letter, not as `point` does
              help: call it `Point`
            ## alias P = {x = Real} (1 items)
            E0134 `=`: in a type, a field gets its type with `:`
              help: write `{x : Real}`
            ## open Foo\ndef x = 1 (1 items)
            E0117 `open`: `open` does not begin a definition
              help: write `import linalg`, `import linalg as la` or `import linalg (solve)`
            ## from math import sin\ndef x = 1 (2 items)
            E0117 `from`: `from` does not begin a definition
              help: write `import linalg`, `import linalg as la` or `import linalg (solve)`
            ## import List (1 items)
            E0128 `List`: the name of a module begins with a small letter, not as `List` does
              note: capital letters begin types and constructors
              help: call it `list`
            ## import a.b\ndef x = 1 (2 items)
            E0138 `.`: a module of the library has a simple name
              help: import it as `import linalg`, and a file as `import "dir/file.wg"`
            ## import (1 items)
            E0137 ``: expected the name of a module, found the end of the text
            ## def f x = y\n  where y = x\ndef g = 1 (2 items)
            E0127 `where`: there is no `where`
              help: bind names before they are used: `let y = … in body`
            ## def f x = return x (1 items)
            E0127 `return`: there is no `return`
              note: the value of a function is the value of its body
              help: remove the word
            ## def f x = y where y = x (1 items)
            E0127 `where`: there is no `where`
              help: bind names before they are used: `let y = … in body`
            ## def f x = a or b (1 items)
            E0135 `or`: `or` is not an operator
              help: logical or is written `||` (or `∨`)
            ## def f (x : [Real]) = x (1 items)
            E0112 `Real`: the brackets of an array type hold its size, not its elements
              help: write `[]Real`, or `[n]Real` to name the size
            ## def f (x : [n+1]Real) = x (1 items)
            E0136 `+`: expected `]` after the size, found `+`
              `[`: the size begins here
              help: a size is a number, a name, or left out: `[3]Real`, `[n]Real`, `[]Real`
            ## def f (x : [n]) = x (1 items)
            E0112 `)`: the type of the elements is missing
              help: it follows the size: `[n]Real`, or `[]Real` for any size
            ## def f (x : a b) = x (1 items)
            E0112 `b`: the type variable `a` takes no arguments
              help: named types begin with a capital letter
            ## def f (x : ) = x (1 items)
            E0112 `)`: expected a type, found `)`
            ## def f (x : \'a) = x (1 items)
            E0109 `'`: a quote cannot stand here
              help: strings are written `"text"`, and type variables without a quote: `a`
            ## def f x = x;\ndef g = 1; (2 items)
            E0127 `;`: `;` has no meaning here
              note: there are no statements: bindings are joined by `let x = e in …`
              help: remove it; after the binding of a `let`, write `in` in its place
            E0127 `;`: `;` has no meaning here
              note: there are no statements: bindings are joined by `let x = e in …`
              help: remove it; after the binding of a `let`, write `in` in its place
            ## x + 1\ndef g = 1 (1 items)
            E0116 `x`: expected a definition, found the name `x`
              help: a file consists of `def`, `type`, `alias` and `import`; to compute something, write `def main = …`
            ## def f x, y = x (1 items)
            E0133 `,`: parameters are separated by spaces
              help: write `f x y`, or `f (x, y)` for one parameter that is a tuple
            ## def f = let x = 1\ndef g = 2 (2 items)
            E0119 ``: expected `in` after this binding, found the keyword `def`
              here: `in` was expected here
              `let`: the `let` begins here
              note: line breaks do not end an expression: without `in`, all that follows belongs to the binding
              help: write `let x = e in body`
            ## def f = (1, 2\ndef g = 2 (2 items)
            E0114 ``: expected `)` to close `(`, found the keyword `def`
              here: `)` was expected here
              `(`: this `(` is never closed
            ## def f = if a then b\ndef g = [1, 2\ndef h = match x with\ndef i = 1 +\ndef j = 2 (5 items)
            E0120 ``: expected `else`, found the keyword `def`
              here: `else` was expected here
              `if`: the `if` begins here
              help: every `if` has a value in both cases: `if c then a else b`
            E0114 ``: expected `]` to close `[`, found the keyword `def`
              here: `]` was expected here
              `[`: this `[` is never closed
            E0121 ``: expected an arm, found the keyword `def`
              `match`: the `match` begins here
              help: write `| pattern -> result` for each case
            E0110 ``: expected an expression after `+`, found the keyword `def`
              `+`: the operator is here
            ## def match = 1 (1 items)
            E0137 `match`: expected the name of a definition, found the keyword `match`
              note: keywords cannot be names
            ## def f = match x with | A -> 1\n  | B -> \ndef g = 1 (2 items)
            E0110 ``: expected an expression, found the keyword `def`
            ## def f : Real => Real = g (1 items)
            E0108 `=>`: the arrow is written `->`, not `=>`
              help: write `->` (or `→`); "at least" is written `>=`
            ## def f = 1 def (2 items)
            E0137 ``: expected the name of a definition, found the end of the text
            ## }\ndef f = 1 (1 items)
            E0115 `}`: `}` closes nothing
              help: remove it, or open the bracket
            ## def f = in x\ndef g = else 2 (2 items)
            E0110 `in`: expected an expression, found the keyword `in`
            E0110 `else`: expected an expression, found the keyword `else`
              help: an `if` has the form `if c then a else b`
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
    assert!(parsed.diagnostics.is_empty(), "{}", support::diagnostics(text, &parsed.diagnostics));
}

#[test]
fn every_kind_of_message_has_a_distinct_code() {
    let codes: Vec<&str> = wengert_syntax::errors::CODES.iter().map(|code| code.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted, codes);
    assert!(codes.iter().all(|code| code.starts_with("E01")));
}

#[test]
fn input_that_is_not_finished() {
    for text in [
        "1 +",
        "f (",
        "[1,",
        "let x =",
        "let x = 1 in",
        "let x",
        "match x with",
        "match x with | A ->",
        "if a then b",
        "if",
        "\\x ->",
        "def f x =",
        "def",
        "type T =",
        "{x = 1,",
        "(a, b",
        "x |>",
        "def f = (\n",
        "let rec f x = 1 and",
        "import",
    ] {
        assert!(is_incomplete(text), "{text}");
    }
    for text in [
        "",
        "1",
        "f x",
        "let x = 1",
        "let rec f x = f x",
        "def f x = x",
        "1 + )",
        "\"abc",
        "match x with | A -> 1",
        "a b)",
        "-- c",
    ] {
        assert!(!is_incomplete(text), "{text}");
    }
}

#[test]
fn what_is_typed_at_a_prompt() {
    let show = |text: &str| {
        let parsed = parse_input(FILE, text);
        let problems = support::diagnostics(text, &parsed.diagnostics);
        match parsed.input {
            wengert_syntax::Input::Nothing => format!("{problems}nothing"),
            wengert_syntax::Input::Expr(expr) => format!("{problems}{}", support::expr(&expr)),
            wengert_syntax::Input::Items(items) => {
                let span = wengert_base::Span::new(FILE, 0, 0);
                let module = wengert_syntax::ast::Module { items, span };
                format!("{problems}{}", support::module(&module).trim_end())
            }
        }
    };
    let texts = [
        "",
        "-- c",
        "1 + 2",
        "let x = 1",
        "let x = 1 let f y = y",
        "let x = 1 in x",
        "let rec f x = g x and g x = f x",
        "let (a, b) = p",
        "let x = 1 let y = 2 in x",
        "def f x = x import linalg",
        "1 def",
        "let x : Real = 1",
        "a or b",
    ];
    let out: String = texts.iter().map(|text| format!("{text} => {}\n", show(text))).collect();
    expect![[r#"
         => nothing
        -- c => nothing
        1 + 2 => (+ 1 2)
        let x = 1 => def x = 1
        let x = 1 let f y = y => def x = 1
        def f y = y
        let x = 1 in x => (let [x = 1] x)
        let rec f x = g x and g x = f x => def f x = (@ g x)
        def g x = (@ f x)
        let (a, b) = p => E0137 `(a, b)`: only a name can be defined here, not a pattern
          help: define the whole, or write `let … in …`

        let x = 1 let y = 2 in x => (let [x = 1] (let [y = 2] x))
        def f x = x import linalg => def f x = x
        import linalg
        1 def => E0116 `def`: `def` cannot follow an expression
          help: inside an expression, names are bound by `let x = e in …`
        1
        let x : Real = 1 => def x : Real = 1
        a or b => (@ a or b)
    "#]]
    .assert_eq(&out);
}
