//! The terms that surface programs become.

use super::Loader;
use crate::{Interfaces, check_expr};
use expect_test::{Expect, expect};
use std::sync::Arc;
use wengert_base::SourceId;

fn check(text: &str, expected: Expect) {
    let loaded = Loader::default().load("main", text);
    assert_eq!(super::render(&loaded), "");
    expected.assert_eq(&wengert_core::print::print(&loaded.checked.program));
}

/// The type of a lone expression, or the codes of its errors.
fn expression(text: &str) -> String {
    let opened = Loader::default().load("main", "def double x = x + x\ntype Box a = Box a").checked.interface;
    let parsed = wengert_syntax::parse_expr(SourceId(9), text);
    let env = Interfaces { prelude: None, opened: vec![Arc::clone(&opened)] };
    match check_expr(&parsed.expr, &env) {
        Ok(def) => def.scheme.to_string(),
        Err(errors) => errors.iter().map(|error| error.code).collect::<Vec<_>>().join(" "),
    }
}

#[test]
fn operators_and_partial_applications() {
    check(
        "def pipe xs = iota 3 |> map (\\x -> x * xs)
def partial f = map (f 1)
def section = fold (+)
def logic a b = a && not b || false
def both = sin >> cos
type T = A Int Real
def ctor = A 1
",
        expect![[r#"
            type main.T = A Int Real

            def main.pipe : Int -> [3]Int =
              \(xs%0 : Int) ->
                let piped%1 : [3]Int = #iota @[3] 3 in #map @Int @Int @[3] (\(x%2 : Int) -> #* @Int x%2 xs%0) piped%1

            def main.partial : forall a b c [n]. Num a => (a -> b -> c) -> [n]b -> [n]c =
              \(f%0 : a -> b -> c) -> let arg%1 : b -> c = f%0 1~a in \(x%2 : [n]b) -> #map @b @c @[n] arg%1 x%2

            def main.section : forall a [n]. Num a => a -> [n]a -> a =
              \(x%2 : a) -> \(x%3 : [n]a) -> #fold @a @a @[n] (\(x%0 : a) -> \(x%1 : a) -> #+ @a x%0 x%1) x%2 x%3

            def main.logic : Bool -> Bool -> Bool =
              \(a%0 : Bool) -> \(b%1 : Bool) -> if if a%0 then #not b%1 else false then true else false

            def main.both : Real -> Real =
              let f%2 : Real -> Real = \(x%0 : Real) -> #sin x%0 in
              let g%3 : Real -> Real = \(x%1 : Real) -> #cos x%1 in \(x%4 : Real) -> g%3 (f%2 x%4)

            def main.ctor : Real -> main.T = \(x%0 : Real) -> main.T::A#0 1 x%0
        "#]],
    );
}

#[test]
fn sizes_are_checked_on_entry_and_on_a_result_that_types_do_not_settle() {
    check(
        "def settled (xs : [n]Real) : [n]Real = map sin xs
def entry (xs : [n]Real) (ys : [n]Real) = length xs
def result (xs : [n]Int) : [n]Int = filter (\\x -> x > 0) xs
",
        expect![[r#"
            def main.settled : forall [n]. [n]Real -> [n]Real =
              \(xs%0 : [n]Real) -> #map @Real @Real @[n] (\(x%2 : Real) -> #sin x%2) xs%0

            def main.entry : forall [n]. [n]Real -> [n]Real -> Int =
              \(xs%0 : [n]Real) ->
                \(ys%1 : [n]Real) ->
                  let n%2 : Int = #length @Real @[n] xs%0 in
                  let `_`%3 : [n]Real = check_size `n` 0 n%2 ys%1 in #length @Real @[n] xs%0

            def main.result : forall [n]. [n]Int -> [n]Int =
              \(xs%0 : [n]Int) ->
                let n%1 : Int = #length @Int @[n] xs%0 in
                let result%3 : [n]Int = #filter @Int @[n] (\(x%2 : Int) -> #> @Int x%2 0) xs%0 in
                let `_`%4 : [n]Int = check_size `n` 0 n%1 result%3 in result%3
        "#]],
    );
}

#[test]
fn local_polymorphism() {
    check(
        "def once = let two = 2 in two + 1.5
def twice = let id x = x in (id 1.5, id true)
",
        expect![[r#"
            def main.once : Real = let two%0 : Real = 2.0 in #+ @Real two%0 1.5

            def main.twice : (Real, Bool) =
              let id%1 : forall a. a -> a = \(x%0 : a) -> x%0 in (id%1 @Real 1.5, id%1 @Bool true)
        "#]],
    );
}

#[test]
fn a_lone_expression_sees_what_is_opened_and_defaults_to_int() {
    assert_eq!(expression("1 + 2"), "Int");
    assert_eq!(expression("double 1.5"), "Real");
    assert_eq!(expression("main.double 1"), "Int");
    assert_eq!(expression("Box [1]"), "Box ([1]Int)");
    assert_eq!(expression("\\x -> x"), "a -> a");
    assert_eq!(expression("doubel 1 + \"a\""), "E0201");
}
