//! Core programs without derivatives: what they evaluate to, and how they fail.

use expect_test::{Expect, expect};
use wengert_core::parse::parse;
use wengert_interp::{Interp, Limits, show::show};

/// Shows the value of `main.main`, or the failure.
fn run_with(text: &str, limits: Limits) -> String {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut interp = Interp::new(&program, limits);
    match interp.eval_global("main.main".into(), &[], Vec::new()) {
        Ok(value) => show(&value),
        Err(error) => format!("{} {}", error.code, error.message),
    }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&run_with(text, Limits::default()));
}

const LIST: &str = "type main.List a = Nil | Cons a (main.List a)\n";

#[test]
fn arithmetic_and_lets() {
    check(
        "def main.main : Real = let x%0 : Real = #* @Real 3.0 2.0 in #+ @Real x%0 (#exp 0.0)",
        expect![["7.0"]],
    );
    check("def main.main : (Int, Int) = (#+ @Int 2 3, #mod (#negate @Int 7) 3)", expect![["(5, 2)"]]);
}

#[test]
fn recursion_a_million_deep() {
    check(
        "def main.count : Int -> Int = \\(n%0 : Int) ->
           if #== @Int n%0 0 then 0 else #+ @Int 1 (main.count (#- @Int n%0 1))
         def main.main : Int = main.count 1000000",
        expect![["1000000"]],
    );
}

#[test]
fn tail_calls_need_no_memory() {
    let limits = Limits { max_memory: 1 << 20, ..Limits::default() };
    let text = "def main.go : Int -> Int -> Int = \\(n%0 : Int) -> \\(acc%1 : Int) ->
           if #== @Int n%0 0 then acc%1 else main.go (#- @Int n%0 1) (#+ @Int acc%1 n%0)
         def main.main : Int = main.go 1000000 0";
    assert_eq!(run_with(text, limits), "500000500000");
}

#[test]
fn a_number_is_an_int_or_a_real_as_its_use_demands() {
    check(
        &format!(
            "{LIST}def main.sum_list : forall a. Num a => main.List a -> a = \\(xs%0 : main.List a) ->
               match xs%0 with
               | main.List::Nil#0 @a -> 0~a
               | main.List::Cons#1 @a (x%1 : a) (rest%2 : main.List a) -> #+ @a x%1 (main.sum_list @a rest%2)
               end
             def main.main : (Real, Int, Real) =
               (main.sum_list @Real (main.List::Cons#1 @Real 1.5 (main.List::Nil#0 @Real)),
                main.sum_list @Int (main.List::Cons#1 @Int 2 (main.List::Nil#0 @Int)),
                main.sum_list @Real (main.List::Nil#0 @Real))"
        ),
        expect![["(1.5, 2, 0.0)"]],
    );
    check(
        "def main.main : (Real, Int) =
           let f%0 : forall a. Num a => a -> a = \\(x%1 : a) -> #+ @a x%1 1~a in (f%0 @Real 1.0, f%0 @Int 1)",
        expect![["(2.0, 2)"]],
    );
}

#[test]
fn functions_of_a_recursive_group_find_each_other_and_what_they_capture() {
    check(
        "def main.main : (Bool, Int) = let k%0 : Int = 7 in
           let rec even%1 : Int -> Bool = \\(n%2 : Int) -> if #== @Int n%2 0 then true else odd%3 (#- @Int n%2 1)
           and odd%3 : Int -> Bool = \\(n%4 : Int) -> if #== @Int n%4 0 then #== @Int k%0 0 else even%1 (#- @Int n%4 1)
           in (even%1 100000, #length @Int @[3] (#map @Int @Bool @[3] even%1 (#iota @[3] k%0)))",
        expect![["(true, 7)"]],
    );
}

#[test]
fn a_definition_that_needs_its_own_value_is_an_error() {
    check(
        "def main.main : Int = main.other
         def main.other : Int = #+ @Int main.main 1",
        expect![["E0714 the value of `main.main` is needed to compute the value of `main.main`"]],
    );
}

#[test]
fn a_shared_array_is_copied_before_it_is_changed() {
    check(
        "def main.main : ([]Int, []Int, []Int) = let xs%0 : []Int = #iota @[3] 3 in
           let ys%1 : []Int = #set @Int @[3] xs%0 0 9 in (xs%0, ys%1, #set @Int @[3] ys%1 1 8)",
        expect![["([0, 1, 2], [9, 1, 2], [9, 8, 2])"]],
    );
}

#[test]
fn patterns_are_tried_in_order_and_look_inside() {
    check(
        &format!(
            "{LIST}def main.f : main.List (Int, Bool) -> Int = \\(xs%0 : main.List (Int, Bool)) ->
               match xs%0 with
               | main.List::Cons#1 @(Int, Bool) (1, _) _ -> 10
               | main.List::Cons#1 @(Int, Bool) ((n%1 : Int), true) (main.List::Nil#0 @(Int, Bool)) -> n%1
               | main.List::Cons#1 @(Int, Bool) _ _ -> 30
               | main.List::Nil#0 @(Int, Bool) -> 40
               end
             def main.one : (Int, Bool) -> main.List (Int, Bool) = \\(p%0 : (Int, Bool)) ->
               main.List::Cons#1 @(Int, Bool) p%0 (main.List::Nil#0 @(Int, Bool))
             def main.main : (Int, Int, Int, Int) =
               (main.f (main.one (1, false)), main.f (main.one (5, true)), main.f (main.one (5, false)),
                main.f (main.List::Nil#0 @(Int, Bool)))"
        ),
        expect![["(10, 5, 30, 40)"]],
    );
}
