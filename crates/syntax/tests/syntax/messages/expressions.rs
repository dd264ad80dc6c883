//! Messages about expressions: brackets, operands, branches, definitions inside, functions, fields.

use super::check;
use expect_test::expect;

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
