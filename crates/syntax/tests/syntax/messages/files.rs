//! Messages about files and what is typed at a prompt; and that each has a code of its own.

use super::check_files;
use crate::picture::{self, FILE};
use expect_test::expect;
use wengert_syntax::{is_incomplete, parse_input};

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
        let problems = picture::diagnostics(text, &parsed.diagnostics);
        match parsed.input {
            wengert_syntax::Input::Nothing => format!("{problems}nothing"),
            wengert_syntax::Input::Expr(expr) => format!("{problems}{}", picture::expr(&expr)),
            wengert_syntax::Input::Items(items) => {
                let span = wengert_base::Span::new(FILE, 0, 0);
                let module = wengert_syntax::ast::Module { items, span };
                format!("{problems}{}", picture::module(&module).trim_end())
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
