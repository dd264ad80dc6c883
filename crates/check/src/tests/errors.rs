//! What is said about mistakes, and about none that follow from others.

use super::errors_of;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&errors_of(text));
}

#[test]
fn unknown_names() {
    check(
        "def a = lenght [1]
def b = foldl (+) 0 [1]
def c = frobnicate 1
def d = Som 1
def e (x : Float) = x
def f (x : Intt) = x
def g = linalg.solve 1
def h (x : m.T) = x
def i = a + b + c
",
        expect![[r#"
            E0201 `lenght` is not defined
              at 1:9 `lenght` not found
              help: perhaps `length` is meant
            E0201 `foldl` is not defined
              at 2:9 `foldl` not found
              help: perhaps `fold` is meant
            E0201 `frobnicate` is not defined
              at 3:9 `frobnicate` not found
              help: define it with `def` or `let`, or import the module that defines it
            E0202 there is no constructor `Som`
              at 4:9 `Som` not found
              help: constructors come from `type` declarations; variables begin with a lower-case letter
            E0203 there is no type `Float`
              at 5:12 `Float` not found
              help: perhaps `Real` is meant
            E0203 there is no type `Intt`
              at 6:12 `Intt` not found
              help: perhaps `Int` is meant
            E0204 no imported module is called `linalg`
              at 7:9 `linalg` not imported
              help: if `linalg` is a module of the library, write `import linalg` at the top
            E0204 no imported module is called `m`
              at 8:12 `m` not imported
              help: if `m` is a module of the library, write `import m` at the top
        "#]],
    );
}

#[test]
fn modules() {
    check(
        "import linalg as la
import linalg (solv, det)
import list as la
def a = la.solvee
def b = la
def c = la.Foo
def d (x : la.Foo) = x
",
        expect![[r#"
            E0206 module `linalg` has nothing called `solv`
              at 2:16 `solv` not found
              help: perhaps `solve` is meant
            E0218 two imports are called `la`
              at 3:16 `la` again here
              and 1:1 `import linalg as la` first used here
              help: give one of them another name after `as`
            E0205 module `la` has no definition `solvee`
              at 4:12 `solvee` not found
            E0219 `la` is a module, not a value
              at 5:9 `la` a module
              help: name something in it: `la.…`
            E0205 module `la` has no constructor `Foo`
              at 6:12 `Foo` not found
            E0205 module `list` has no type `Foo`
              at 7:15 `Foo` not found
        "#]],
    );
}

#[test]
fn ambiguous_names() {
    check(
        "import list
import option
def a = map_list 1
",
        expect![[r#"
            E0201 `map_list` is not defined
              at 3:9 `map_list` not found
              help: define it with `def` or `let`, or import the module that defines it
        "#]],
    );
}

#[test]
fn declarations() {
    check(
        "def a = 1
def a = 2
def b x x = x
def c = match (1, 2) with | (y, y) -> y
type T a a = A b | A Int
type T = B
type Real = C
alias L = [3]L2
alias L2 = {x : L}
alias P a = (a, a)
def d (x : P) = x
def e (x : T Int) = x
def f (x : Real Int) = x
def g (x : Dual) = x
def h = {x = 1, x = 2}
def i (r : {x : Int, x : Int}) = r
type S = S ([n]Real) {x : Int | r}
def j (x : n) (y : [n]Real) = x
",
        expect![[r#"
            E0208 `a` is defined twice
              at 2:5 `a` again here
              and 1:5 `a` first defined here
              help: rename one of them; definitions at top level may be in any order, so neither hides the other
            E0209 `x` is bound twice
              at 3:9 `x` again here
              and 3:7 `x` first bound here
              help: give one of them another name, or write `_` for what is not needed
            E0213 type parameter `a` is given twice
              at 5:10 `a` again here
              and 5:8 `a` first given here
            E0214 type variable `b` is not a parameter of the declaration
              at 5:16 `b` not bound
              help: add it after the name of the type: `type T b = …`
            E0210 constructor `A` is declared twice
              at 5:20 `A` again here
              and 5:14 `A` first declared here
            E0211 type `T` is declared twice
              at 6:6 `T` again here
              and 5:6 `T` first declared here
            E0220 the type `Real` is built in
              at 7:6 `Real` cannot be declared again
              help: give the type another name
            E0215 alias `L2` stands for a type that mentions itself
              at 8:14 `L2` mentioned here
              help: an alias is only another way of writing a type; a recursive type is declared with `type`
            E0327 type `P` takes 1 argument, but 0 are given
              at 11:12 `P` needs 1 argument
              and 10:7 `P` declared here
            E0327 type `T` takes 2 arguments, but 1 is given
              at 12:12 `T Int` needs 2 arguments
              and 5:6 `T` declared here
            E0327 type `Real` takes 0 arguments, but 1 is given
              at 13:12 `Real Int` needs 0 arguments
            E0327 type `Dual` takes 1 argument, but 0 are given
              at 14:12 `Dual` needs 1 argument
            E0212 field `x` is given twice
              at 15:17 `x` again here
              and 15:10 `x` first given here
            E0212 field `x` is given twice
              at 16:22 `x` again here
              and 16:13 `x` first given here
            E0502 size `n` is not known in a declaration
              at 17:14 `n` not bound
              help: write a number, or `[]` for any size
            E0214 the rest `r` of a record cannot be left open in a declaration
              at 17:33 `r` not bound
              help: list all fields of the record
            E0505 `n` cannot be a type, a size and the rest of a record at once
              at 18:21 `n` another kind of thing here
              and 18:12 `n` first used here
              help: use different names
        "#]],
    );
}

#[test]
fn recursive_values() {
    check(
        "def x = x + 1
def y = z
def z = y
def f = let rec g = 1 and (a, b) = 2 in g
def h = let rec k x = k in k
",
        expect![[r#"
            E0216 the value of `x` is needed to compute it
              at 1:5 `x` not a function
              help: only functions can be recursive: give it a parameter, or compute the value without itself
            E0216 the value of `y` is needed to compute it, through `z`
              at 2:5 `y` not a function
              help: only functions can be recursive: give it a parameter, or compute the value without itself
            E0216 the value of `z` is needed to compute it, through `y`
              at 3:5 `z` not a function
              help: only functions can be recursive: give it a parameter, or compute the value without itself
            E0217 `let rec` defines functions, but `g` is not one
              at 4:17 `g` not a function
              help: give it a parameter, or use `let` without `rec`
            E0217 `let rec` defines functions, but this pattern is not one
              at 4:27 `(a, b)` not a function
              help: give it a parameter, or use `let` without `rec`
            E0312 this expression would have an infinite type
              at 5:23 `k` `a` would have to be `b -> a`
              note: a value cannot be a part of itself, nor a function its own argument
              help: is an argument missing or one too many, or a function applied to itself?
        "#]],
    );
}

#[test]
fn mismatches() {
    check(
        "def half (x : Real) : Real = x / 2
def ann (n : Int) = (n : Real)
def res (n : Int) : Real = n
def arg (n : Int) = half n
def arg2 = half \"a\"
def opd (n : Int) = n + 1.5
def opd2 = 1.5 + \"a\"
def br c = if c then 1.5 else \"a\"
def ar s = match s with | true -> 1.5 | false -> \"a\"
def el = [1.5, \"a\"]
def cond = if 1 then 2 else 3
def idx xs = xs[1.5]
def nofun = 1.5 2
def many = half 1 2
def few x = 1 + half
def few2 : Real = atan2 1
def inf x = x x
def inf2 f = f f
def pow x = x ^ 2.5
def pow2 (n : Int) = n ** 2
def strings = \"a\" + \"b\"
def tuples = (1, 2) + (3, 4)
def arrays = [1, 2] + [3, 4]
def ord = (1, 2) < (3, 4)
def eqf = sin == cos
def upd r = {r with x = 1.5} |> \\s -> s.x ++ \"a\"
",
        expect![[r#"
            E0301 the annotation says `Real`, but this is `Int`
              at 2:22 `n` this is `Int`
              and 2:26 `Real` the annotation
              help: convert it: `real n`
            E0302 `res` should give `Real`, but this is `Int`
              at 3:28 `n` this is `Int`
              and 3:21 `Real` the result is annotated here
              help: convert it: `real n`
            E0303 argument 1 of `half` should be `Real`, but this is `Int`
              at 4:26 `n` this is `Int`
              and 4:21 `half` `half` wants `Real` here
              help: convert it: `real n`
            E0303 argument 1 of `half` should be `Real`, but this is `String`
              at 5:17 `"a"` this is `String`
              and 5:12 `half` `half` wants `Real` here
            E0304 the right side of `+` should be `Int`, but this is `Real`
              at 6:25 `1.5` this is `Real`
              and 6:21 `n` the left side is `Int`
              help: convert one of them: `real (…)` makes a `Real` of an `Int`, `floor (…)` and `round (…)` an `Int` of a `Real`
            E0304 the right side of `+` should be `Real`, but this is `String`
              at 7:18 `"a"` this is `String`
              and 7:12 `1.5` the left side is `Real`
            E0305 the branches of this `if` have different types
              at 8:31 `"a"` this is `String`
              and 8:22 `1.5` this is `Real`
            E0306 the arms of this `match` have different types
              at 9:50 `"a"` this is `String`
              and 9:35 `1.5` the first arm is `Real`
            E0307 the elements of this array have different types
              at 10:16 `"a"` this is `String`
              and 10:11 `1.5` the first element is `Real`
            E0308 the condition of an `if` should be `Bool`, but this is a number
              at 11:15 `1` this is a number
              help: compare it with something, for example `x > 0`
            E0309 an index should be `Int`, but this is `Real`
              at 12:17 `1.5` this is `Real`
              help: convert it: `floor (…)` rounds down, `round (…)` to the nearest
            E0311 `half` takes 1 argument, but 2 are given
              at 14:19 `2` one too many
              and 14:12 `half` after 1 argument this is `Real`
              help: leave it out, or join arguments into a tuple if that is what the function takes
            E0313 `+` works on `Int` and `Real`, not on `Real -> Real`
              at 15:17 `half` `Real -> Real` is not a number
              and 15:15 `+` needs a number
              help: `half` needs 1 more argument
            E0302 `few2` should give `Real`, but this is `Real -> Real`
              at 16:19 `atan2 1` this is `Real -> Real`
              and 16:12 `Real` the result is annotated here
              help: `atan2` needs 1 more argument
            E0312 this expression would have an infinite type
              at 17:15 `x` `a` would have to be `a -> b`
              note: a value cannot be a part of itself, nor a function its own argument
              help: is an argument missing or one too many, or a function applied to itself?
            E0312 this expression would have an infinite type
              at 18:16 `f` `a` would have to be `a -> b`
              note: a value cannot be a part of itself, nor a function its own argument
              help: is an argument missing or one too many, or a function applied to itself?
            E0324 the exponent of `^` is an `Int`, but this is a `Real`
              at 19:17 `2.5` this is `Real`
              help: use `**` for powers with a `Real` exponent: `x ** y`
            E0325 `**` works on `Real`s, but this is an `Int`
              at 20:22 `n` this is `Int`
              help: use `^` for powers with an `Int` exponent, or convert with `real`
            E0313 `+` works on `Int` and `Real`, not on `String`
              at 21:15 `"a"` `String` is not a number
              and 21:19 `+` needs a number
              help: join texts with `++`
            E0313 `+` works on `Int` and `Real`, not on `(a, b)`
              at 22:14 `(1, 2)` `(a, b)` is not a number
              and 22:21 `+` needs a number
              help: `add` adds tuples, records and arrays
            E0313 `+` works on `Int` and `Real`, not on `[2]a`
              at 23:14 `[1, 2]` `[2]a` is not a number
              and 23:21 `+` needs a number
              help: `map2 (+) xs ys` or `add xs ys` adds arrays; `concat xs ys` joins them
            E0314 `<` works on `Int`, `Real` and `String`, not on `(a, b)`
              at 24:11 `(1, 2)` `(a, b)` has no order
              and 24:18 `<` needs an order
              help: compare a number that you compute from it
            E0315 values of type `Real -> Real` cannot be compared: they hold functions
              at 25:11 `sin` holds a function
              and 25:15 `==` needs first-order values
              help: apply the function first, and use its result
            E0303 argument 1 of the function should be `{x : String | r}`, but this is `{x : Real | s}`
              at 26:13 `{r with x = 1.5}` this is `{x : Real | s}`
              and 26:33 `\s -> s.x ++ "a"` the function wants `{x : String | r}` here
            E0126 a number is not a function
              at 13:13 `1.5` this stands where a function would
              and 13:17 `2` and this where its argument would
              help: a product is written `1.5 * 2`
        "#]],
    );
}

#[test]
fn records() {
    check(
        "def p = {x = 1.0, why = 2.0}
def a = p.z
def b = p.wy
def c = (1, 2).x
def d = {p with x = \"a\"}
def e {x, q} = x
def f = e p
def g = match p with | {x, q} -> x
def h = (1.5)[0]
def i = [[1.5]][0, 0, 0]
",
        expect![[r#"
            E0316 this record has no field `z`
              at 2:11 `z` not found
              and 2:9 `p` this is `{why : Real, x : Real}`
            E0316 this record has no field `wy`
              at 3:11 `wy` not found
              and 3:9 `p` this is `{why : Real, x : Real}`
              help: perhaps `why` is meant
            E0317 only records have fields, but this is `(a, b)`
              at 4:9 `(1, 2)` not a record
              and 4:16 `x` field `x` is asked for here
              help: take a tuple apart with `let (a, b) = …`, a declared type with `match`
            E0319 field `x` is `Real` in this record, but the new value is `String`
              at 5:21 `"a"` this is `String`
              note: an update keeps the types of the fields
            E0303 argument 1 of `e` should be `{q : a, x : Real | r}`, but this is `{why : Real, x : Real}`
              at 7:11 `p` this is `{why : Real, x : Real}`
              and 7:9 `e` `e` wants `{q : a, x : Real | r}` here
              help: add the field `q`
            E0407 the record has no field `q`
              at 8:28 `q` not found
              and 8:15 `p` this is `{why : Real, x : Real}`
            E0318 only arrays can be indexed, but this is `Real`
              at 9:9 `(1.5)` not an array
              help: to apply a function to an array, put a space before the bracket: `f [x]`
            E0318 after 2 indices this is `Real`, which cannot be indexed further
              at 10:9 `[[1.5]]` not an array
              help: to apply a function to an array, put a space before the bracket: `f [x]`
        "#]],
    );
}

#[test]
fn general_annotations() {
    check(
        "def f (x : a) : a = sin x
def g (x : a) (y : b) : a = y
def h (x : a) : a = \"a\"
def i = 99999999999999999999 + 9223372036854775808
def j = \"a\" ++ 1
def k (x : Int) = match x with | \"a\" -> 1 | _ -> 2
",
        expect![[r#"
            E0320 type variable `a` stands for any type, but here it must be `Real`
              at 1:21 `sin x` needs `a` to be `Real`
              and 1:12 `a` `a` is written here
              and 1:17 `a` the result is annotated here
              help: write `Real` instead of `a`, or leave the annotation out
            E0320 type variable `a` stands for any type, but here it must be `Real`
              at 1:25 `x` needs `a` to be `Real`
              and 1:12 `a` `a` is written here
              and 1:21 `sin` as argument 1 of `sin`
              help: write `Real` instead of `a`, or leave the annotation out
            E0321 type variables `a` and `b` would have to be the same type
              at 2:29 `y` makes them equal
              and 2:12 `a` `a` is written here
              and 2:20 `b` `b` is written here
              and 2:25 `a` the result is annotated here
              help: use one name for both
            E0320 type variable `a` stands for any type, but here it must be `String`
              at 3:21 `"a"` needs `a` to be `String`
              and 3:12 `a` `a` is written here
              and 3:17 `a` the result is annotated here
              help: write `String` instead of `a`, or leave the annotation out
            E0304 the right side of `++` should be `String`, but this is a number
              at 5:16 `1` this is a number
            E0405 this pattern matches `String`, but the value is `Int`
              at 6:34 `"a"` matches `String`
              and 6:25 `x` this is `Int`
            E0106 this number is too large for an `Int`
              at 4:9 `99999999999999999999` the largest `Int` is 9223372036854775807
              help: for a `Real`, write a point: `99999999999999999999.0`
            E0106 this number is too large for an `Int`
              at 4:32 `9223372036854775808` the largest `Int` is 9223372036854775807
              help: for a `Real`, write a point: `9223372036854775808.0`
        "#]],
    );
}

#[test]
fn patterns() {
    check(
        "type List a = Nil | Cons a (List a)
def a xs = match xs with | Nil -> 0
def b xs = match xs with | Cons x Nil -> x | Nil -> 1
def c xs = match xs with | _ -> 1 | Nil -> 2
def d (Cons x r) = x
def e xs = let Cons x _ = xs in x
def f xs = match xs with | Cons x -> x | Nil -> 0
def g (x : Int) = match x with | Nil -> 0 | _ -> 1
def h t = match (t : (Int, Int)) with | (a, b, c) -> a
def i (n : Int) = match n with | 0 -> 1 | 1 -> 2
def j x = match x with | 1.5 -> 1 | _ -> \"a\"
",
        expect![[r#"
            E0401 this `match` does not cover `Cons _ _`
              at 2:18 `xs` may be a value that no arm matches
              help: add an arm `| Cons _ _ -> …`, or `| _ -> …` for everything else
            E0401 this `match` does not cover `Cons _ (Cons _ _)`
              at 3:18 `xs` may be a value that no arm matches
              help: add an arm `| Cons _ (Cons _ _) -> …`, or `| _ -> …` for everything else
            E0402 this arm is never used: the arms above match everything that it does
              at 4:37 `Nil` never reached
              help: remove it, or move it up
            E0403 a pattern in a parameter must always match, but this one misses `Nil`
              at 5:7 `(Cons x r)` can fail
              help: use `match … with`, with an arm for every case
            E0403 a pattern in a `let` must always match, but this one misses `Nil`
              at 6:16 `Cons x _` can fail
              help: use `match … with`, with an arm for every case
            E0404 constructor `Cons` has 2 fields, but this pattern has 1 pattern for them
              at 7:28 `Cons x` `Cons _ _` is what it looks like
              and 1:6 `List` the type is declared here
            E0405 this pattern matches `List a`, but the value is `Int`
              at 8:34 `Nil` matches `List a`
              and 8:25 `x` this is `Int`
            E0406 this pattern has 3 parts, but the tuple has 2
              at 9:41 `(a, b, c)` 3 parts
              and 9:17 `(t : (Int, Int))` this is `(Int, Int)`
            E0401 this `match` does not cover every value
              at 10:25 `n` may be a value that no arm matches
              help: add an arm `| _ -> …` for everything else
            E0306 the arms of this `match` have different types
              at 11:42 `"a"` this is `String`
              and 11:33 `1` the first arm is a number
        "#]],
    );
}

#[test]
fn sizes() {
    check(
        "def a = dot [1, 2] [1, 2, 3]
def b (xs : [3]Real) = xs
def c = b [1, 2]
def d = [[1, 2], [3]]
def e = [1, 2, 3][3]
def f = [1, 2, 3][-1]
def g (k : Real) : [n]Real = build 3 (\\_ -> k)
def h (xs : [n]Real) (ys : [n]Real) = dot xs ys
def i = h [1] [1, 2]
def j = matmul [[1, 2]] [[1, 2]]
def k = map2 (+) (iota 3) (iota 4)
def l : [2]Int = iota 3
def m = [][0]
",
        expect![[r#"
            E0501 an array of size 2 is needed, but this has size 3
              at 1:20 `[1, 2, 3]` has size 3, not 2
              and 1:9 `dot` as argument 2 of `dot`
              help: arrays that are used together need the same size; `slice` shortens one
            E0501 an array of size 3 is needed, but this has size 2
              at 3:11 `[1, 2]` has size 2, not 3
              and 3:9 `b` as argument 1 of `b`
              help: arrays that are used together need the same size; `slice` shortens one
            E0501 an array of size 2 is needed, but this has size 1
              at 4:18 `[3]` has size 1, not 2
              help: arrays that are used together need the same size; `slice` shortens one
            E0504 index 3 is outside of an array of 3 elements
              at 5:19 `3` outside
              and 5:9 `[1, 2, 3]` this array has size 3
              help: indices go from 0 to 2
            E0504 index -1 is outside of an array of 3 elements
              at 6:19 `-1` outside
              and 6:9 `[1, 2, 3]` this array has size 3
              help: indices go from 0 to 2
            E0503 no argument determines the size `n` of the result
              at 7:21 `n` occurs only in the result
              help: write `[]` for a size that only the running program knows, or add a parameter `(n : Int)`
            E0501 an array of size 1 is needed, but this has size 2
              at 9:15 `[1, 2]` has size 2, not 1
              and 9:9 `h` as argument 2 of `h`
              help: arrays that are used together need the same size; `slice` shortens one
            E0501 an array of size 2 is needed, but this has size 1
              at 10:25 `[[1, 2]]` has size 1, not 2
              and 10:9 `matmul` as argument 2 of `matmul`
              help: arrays that are used together need the same size; `slice` shortens one
            E0501 an array of size 3 is needed, but this has size 4
              at 11:28 `iota 4` has size 4, not 3
              and 11:9 `map2` as argument 3 of `map2`
              help: arrays that are used together need the same size; `slice` shortens one
            E0501 an array of size 2 is needed, but this has size 3
              at 12:18 `iota 3` has size 3, not 2
              and 12:9 `[2]Int` the result is annotated here
              help: arrays that are used together need the same size; `slice` shortens one
            E0504 index 0 is outside of an array of 0 elements
              at 13:12 `0` outside
              and 13:9 `[]` this array has size 0
              help: an empty array has no elements
        "#]],
    );
}

#[test]
fn derivatives() {
    check(
        "def a (n : Int) = grad (\\m -> real m) n
def b = grad (\\(x, y) -> (x * y, x)) (1.0, 2.0)
def c f x ct = vjp f x ct
def d = jvp sin 1.0 1.0
def e = jvp sin 1.0
def f = derivative (\\(x, y) -> x * y) (1, 2)
def g = grad (\\x y -> x * y) 1 2
def h = grad (\\(x, y) -> x * y) 1 2
def i = jacfwd (\\(x, y) -> [x, y]) (1, 2)
def j = grad 1.0 sin
def k = grad (\\g -> g 1.0) sin
def l = vjp (\\x -> \\y -> x * y) 1.0
def m = custom_jvp sin (\\x -> cos x)
def n = grad (\\b -> if b then 1.0 else 2.0) true
def o = hessian (\\x -> x) [1.0]
def p = derivative (\\n -> n % 2) 3
def q = linearize (\\s -> s ++ \"a\") \"b\"
def r = to_dual sin
",
        expect![[r#"
            E0601 `grad` cannot differentiate with respect to `Int`, which holds no `Real`
              at 1:25 `\m -> real m` the input is `Int`
              and 1:19 `grad` differentiates here
              note: derivatives exist in the directions of real numbers; integers, truth values and texts cannot change a little
              help: make the input a `Real`, for example with `real`
            E0602 `grad` needs a function whose result is `Real`, but this one gives `(a, a)`
              at 2:15 `\(x, y) -> (x * y, x)` gives `(a, a)`
              and 2:9 `grad` a gradient has one number to follow
              help: use `jacrev` or `jacfwd` for arrays, `vjp` or `jvp` for any result, or add the parts up
            E0603 `vjp` takes a function and a point; the cotangent goes to the function that it gives
              at 3:24 `ct` one argument too many
              and 3:16 `vjp` `vjp f x` is a pair: the value, and the map from cotangents of the result to those of `x`
              help: write `let (y, pull) = vjp f x in pull ct`
            E0604 `jvp` takes the point and the tangent as one pair
              at 4:21 `1.0` not a pair
              and 4:9 `jvp` `jvp f` maps (point, tangent) to (value, tangent)
              help: write `jvp f (x, t)`
            E0604 `jvp` takes the point and the tangent as one pair
              at 5:17 `1.0` not a pair
              and 5:9 `jvp` `jvp f` maps (point, tangent) to (value, tangent)
              help: write `jvp f (x, t)`
            E0606 `derivative` needs a function of one `Real`, but this one takes `(a, a)`
              at 6:21 `\(x, y) -> x * y` takes `(a, a)`
              and 6:9 `derivative` differentiates with respect to one number
              help: use `grad` for a function of several numbers, or `jvp` for a derivative in one direction
            E0608 `grad` takes 2 arguments, a function and a point, but 3 are given
              at 7:32 `2` one too many
              and 7:9 `grad` takes the whole point at once
              help: join the parts of the point into one tuple: `grad f (x, y)`, where `f` is `\(x, y) -> …`
            E0608 `grad` takes 2 arguments, a function and a point, but 3 are given
              at 8:35 `2` one too many
              and 8:9 `grad` takes the whole point at once
              help: join the parts of the point into one tuple: `grad f (x, y)`, where `f` is `\(x, y) -> …`
            E0607 `jacfwd` needs a function of an array of `Real`s, but this one takes `(a, a)`
              at 9:17 `\(x, y) -> [x, y]` takes `(a, a)`
              and 9:9 `jacfwd` differentiates with respect to an array
              help: collect the inputs in an array, or use `grad`, `jvp` or `vjp`, which work on tuples and records too
            E0609 `grad` differentiates a function, but this is `Real`
              at 10:14 `1.0` not a function
              and 10:9 `grad` needs a function first, then the point
              help: write `grad (\x -> …)`, or swap the arguments
            E0605 `grad` works on types without functions, but this is `Real -> a`
              at 11:15 `\g -> g 1.0` holds a function
              and 11:9 `grad` differentiates here
              help: for functions as inputs or results use `jvp` or `pullback`, which work at every type
            E0605 `vjp` works on types without functions, but this is `Real -> Real`
              at 12:14 `\x -> \y -> x * y` holds a function
              and 12:9 `vjp` differentiates here
              help: for functions as inputs or results use `jvp` or `pullback`, which work at every type
            E0610 the rule of `custom_jvp` should be `(Real, Real) -> (Real, Real)`, but this is `Real -> Real`
              at 13:25 `\x -> cos x` this is `Real -> Real`
              and 13:9 `custom_jvp` its rule goes from (point, tangent) to (value, tangent of the value)
            E0601 `grad` cannot differentiate with respect to `Bool`, which holds no `Real`
              at 14:15 `\b -> if b then 1.0 else 2.0` the input is `Bool`
              and 14:9 `grad` differentiates here
              note: derivatives exist in the directions of real numbers; integers, truth values and texts cannot change a little
              help: make the input a `Real`, for example with `real`
            E0602 `hessian` needs a function whose result is `Real`, but this one gives `[]Real`
              at 15:18 `\x -> x` gives `[]Real`
              and 15:9 `hessian` a gradient has one number to follow
              help: use `jacrev` or `jacfwd` for arrays, `vjp` or `jvp` for any result, or add the parts up
            E0606 `derivative` needs a function of one `Real`, but this one takes `Int`
              at 16:21 `\n -> n % 2` takes `Int`
              and 16:9 `derivative` differentiates with respect to one number
              help: use `grad` for a function of several numbers, or `jvp` for a derivative in one direction
            E0601 `linearize` cannot differentiate with respect to `String`, which holds no `Real`
              at 17:20 `\s -> s ++ "a"` the input is `String`
              and 17:9 `linearize` differentiates here
              note: derivatives exist in the directions of real numbers; integers, truth values and texts cannot change a little
              help: make the input a `Real`, for example with `real`
            E0315 `to_dual` needs a type without functions, but this is `Real -> Real`
              at 18:17 `sin` holds a function
              and 18:9 `to_dual` needs first-order values
              help: apply the function first, and use its result
        "#]],
    );
}

#[test]
fn errors_do_not_cascade() {
    check(
        "type T = A Missing
def f (x : T) = x + 1
def g = f (A 1) + undefined_thing 3
def h = g + g \"a\"
def i = match A 1 with | A x -> x | B -> 2
def j = h.foo[1] 2
",
        expect![[r#"
            E0203 there is no type `Missing`
              at 1:12 `Missing` not found
            E0313 `+` works on `Int` and `Real`, not on `T`
              at 2:17 `x` `T` is not a number
              and 2:19 `+` needs a number
              help: `add` adds tuples, records and arrays
            E0201 `undefined_thing` is not defined
              at 3:19 `undefined_thing` not found
              help: define it with `def` or `let`, or import the module that defines it
            E0202 there is no constructor `B`
              at 5:37 `B` not found
              help: constructors come from `type` declarations; variables begin with a lower-case letter
        "#]],
    );
}

#[test]
fn types_that_explode_are_refused() {
    let mut text = String::from("def f x =\n  let p0 = (x, x)\n");
    for i in 1..40 {
        text.push_str(&format!("  let p{i} = (p{}, p{})\n", i - 1, i - 1));
    }
    text.push_str("  in p39\n");
    check(
        &text,
        expect![[r#"
        E0323 the types in this definition become too large to work with
          at 1:5 `f` in here
          note: types can double in size with every `let` that uses the one before twice
          help: split the definition, and give its parts annotations or data types
    "#]],
    );
}
