//! The one layout, on ordinary and on strange input.

use crate::picture::{self, FILE};
use expect_test::{Expect, expect};
use wengert_syntax::format;

/// Formats, and checks that formatting again changes nothing.
fn check(text: &str, expected: Expect) {
    let once =
        format(text, FILE).unwrap_or_else(|problems| panic!("{}", picture::diagnostics(text, &problems)));
    expected.assert_eq(&once);
    let twice =
        format(&once, FILE).unwrap_or_else(|problems| panic!("{}", picture::diagnostics(&once, &problems)));
    assert_eq!(once, twice, "formatting twice is formatting once");
}

#[test]
fn the_contract() {
    check(
        "-- a comment runs to the end of the line
def sigmoid (x : Real) : Real = 1 / (1 + exp (-x))

def f (x, y) =                           -- types may be left out: inference is Hindley–Milner
  let a = x + 1
  let b = 2 * x + y ^ 2                  -- `in` may be left out before the next `let`
  in (a * b) ^ 2
def main = grad f (1, 3)                 -- (660.0, 528.0)
type Shape = Circle Real|Rect Real Real
type List a = Nil | Cons a (List a)      -- recursive, parameterised

def area s = match s with | Circle r -> 3.14 * r^2 | Rect w h -> w*h
def sum_list xs = match xs with Nil -> 0.0 | Cons x rest -> x + sum_list rest
",
        expect![[r#"
            -- a comment runs to the end of the line
            def sigmoid (x : Real) : Real = 1 / (1 + exp (-x))

            def f (x, y) =  -- types may be left out: inference is Hindley–Milner
              let a = x + 1
              let b = 2 * x + y ^ 2  -- `in` may be left out before the next `let`
              in (a * b) ^ 2

            def main = grad f (1, 3)  -- (660.0, 528.0)
            type Shape = Circle Real | Rect Real Real
            type List a = Nil | Cons a (List a)  -- recursive, parameterised

            def area s = match s with | Circle r -> 3.14 * r ^ 2 | Rect w h -> w * h
            def sum_list xs = match xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest
        "#]],
    );
}

#[test]
fn long_things_are_broken() {
    check(
        "def choose a b c = if a_rather_long_condition a b c then the_first_alternative_of_two a b else if b then c else the_second_alternative_of_two b c
def pipe xs = xs |> map (\\x -> x * 2.0 + a_rather_long_name) |> filter (\\x -> x > 0.0) |> fold (\\a b -> a + b) 0.0
def call x = some_function_with_a_long_name (first_argument x x x) (second_argument x x x) [third, argument] x
def hang n = build n (\\i -> let x = real i let y = x * x in if x > y then a_long_name_for_a_function x y z else 0.0)
def sum_of x = a_long_operand * another_long_operand + a_third_operand * the_fourth_operand - a_fifth_operand / x
def matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
def numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]
def record = {position = (0.0, 0.0, 0.0), velocity = (1.0, 1.0, 1.0), mass = 1.0, charge = -1.0, name = \"electron\"}
def update r = {r with position = add r.position (scale dt r.velocity), velocity = add r.velocity (scale dt r.force)}
def tree t = match t with | Leaf -> 0.0 | Node left x right -> match left with | Leaf -> x | Node _ y _ -> x + y + tree right
type Expression = Constant Real | Variable String | Sum Expression Expression | Product Expression Expression
alias State = {position : (Real, Real, Real), velocity : (Real, Real, Real), mass : Real, charge : Real | rest}
def rec_group n = let rec even n = if n == 0 then true else odd (n - 1) and odd n = if n == 0 then false else even (n - 1) in even n
def annotated (f : (Real, Real, Real) -> Real) (x : (Real, Real, Real)) (y : (Real, Real, Real)) : (Real, Real) = (f x, f y)
",
        expect![[r#"
            def choose a b c =
              if a_rather_long_condition a b c then the_first_alternative_of_two a b
              else if b then c
              else the_second_alternative_of_two b c

            def pipe xs =
              xs
              |> map (\x -> x * 2.0 + a_rather_long_name)
              |> filter (\x -> x > 0.0)
              |> fold (\a b -> a + b) 0.0

            def call x =
              some_function_with_a_long_name (first_argument x x x) (second_argument x x x) [third, argument] x

            def hang n =
              build n (\i ->
                let x = real i
                let y = x * x
                in if x > y then a_long_name_for_a_function x y z else 0.0)

            def sum_of x =
              a_long_operand * another_long_operand + a_third_operand * the_fourth_operand - a_fifth_operand / x

            def matrix = [
              [1.0, 0.0, 0.0, 0.0],
              [0.0, 1.0, 0.0, 0.0],
              [0.0, 0.0, 1.0, 0.0],
              [0.0, 0.0, 0.0, 1.0],
              [0.0, 0.0, 0.0, 1.0]
            ]

            def numbers = [
              1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
              28, 29, 30, 31, 32
            ]

            def record = {
              position = (0.0, 0.0, 0.0),
              velocity = (1.0, 1.0, 1.0),
              mass = 1.0,
              charge = -1.0,
              name = "electron"
            }

            def update r = {r with
              position = add r.position (scale dt r.velocity),
              velocity = add r.velocity (scale dt r.force)
            }

            def tree t =
              match t with
              | Leaf -> 0.0
              | Node left x right ->
                match left with
                | Leaf -> x
                | Node _ y _ -> x + y + tree right

            type Expression =
              | Constant Real
              | Variable String
              | Sum Expression Expression
              | Product Expression Expression

            alias State =
              {position : (Real, Real, Real), velocity : (Real, Real, Real), mass : Real, charge : Real | rest}

            def rec_group n =
              let rec even n = if n == 0 then true else odd (n - 1)
              and odd n = if n == 0 then false else even (n - 1)
              in even n

            def annotated
                (f : (Real, Real, Real) -> Real)
                (x : (Real, Real, Real))
                (y : (Real, Real, Real)) : (Real, Real) = (f x, f y)
        "#]],
    );
}

#[test]
fn comments_stay_where_they_are() {
    check(
        "-- head

-- of f
def f x = -- after equals
  -- before let
  let a = -- a
    1 in -- b
  -- before second

  let b = [1, -- one
    2 -- two
    , 3 -- three
    -- last
    ]
  -- before in
  in -- after in
  match (x) -- scrutinee
  with -- with
  -- first arm
  | A -- A
    -> 1 -- to 1
  -- second
  | B -> (-- open
    a + -- plus
    b) -- close
-- end of f

-- tail",
        expect![[r#"
            -- head

            -- of f
            def f x =  -- after equals
              -- before let
              let a =  -- a
                1
              -- b
              -- before second

              let b = [
                1,  -- one
                2,  -- two
                3  -- three
                -- last
              ]
              -- before in
              in  -- after in
                match (x)  -- scrutinee
                with  -- with
                -- first arm
                | A  -- A
                -> 1  -- to 1
                -- second
                | B ->
                  (  -- open
                   a
                     +  -- plus
                     b)  -- close
            -- end of f

            -- tail
        "#]],
    );
}

#[test]
fn strange_input() {
    check("", expect![[""]]);
    check("\n\n  \n", expect![[""]]);
    check(
        "   -- only\n\n\n\n   -- comments",
        expect![[r#"
        -- only

        -- comments
    "#]],
    );
    check(
        "\u{feff}def x = 1",
        expect![[r#"
        def x = 1
    "#]],
    );
    check(
        "def x = 1\r\n\r\n\r\n-- c  \r\ndef y =\r\n  2\r\n",
        expect![[r#"
        def x = 1

        -- c
        def y = 2
    "#]],
    );
    check(
        "def π2 = 2 × π def f = λx → ∇ g x ∧ (x ≤ 1_000.50e+3 ∨ ¬ (a ≠ −1))",
        expect![[r#"
        def π2 = 2 × π
        def f = λx → ∇ g x ∧ (x ≤ 1_000.50e+3 ∨ ¬ (a ≠ −1))
    "#]],
    );
}

#[test]
fn what_is_wrong_is_reported_and_nothing_is_formatted() {
    assert!(format("def x = ", FILE).is_err());
}
