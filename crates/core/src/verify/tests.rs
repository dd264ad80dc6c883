//! One accepted program that uses everything, and a violation for each rule.

use super::*;
use crate::parse::{parse, parse_term};

const GOOD: &str = "
type m.List a = Nil | Cons a (m.List a)
type m.Box a = Box (a -> a)

def m.sum : forall a. Num a => m.List a -> a =
  \\(xs%0 : m.List a) ->
    match xs%0 with
    | m.List::Nil#0 @a -> 0~a
    | m.List::Cons#1 @a (x%1 : a) (rest%2 : m.List a) -> #+ @a x%1 (m.sum @a rest%2)
    end

def m.get : forall a {r}. {x : a | r} -> (a, {x : a | r}) =
  \\(r%0 : {x : a | r}) -> (r%0.x, {r%0 with x = r%0.x})

def m.main : Real =
  let id%0 : forall b. b -> b = \\(y%1 : b) -> y%1 in
  let rec even%2 : Int -> Bool = \\(n%3 : Int) -> if #== @Int n%3 0 then true else odd%4 (#- @Int n%3 1)
  and odd%4 : Int -> Bool = \\(n%5 : Int) -> even%2 n%5 in
  let xs%6 : forall [n]. [3]Real = #build @Real @[3] 3 (\\(i%7 : Int) -> #real i%7) in
  let ys%8 : [2]Real = if even%2 4 then [1.0, 2.0 : Real] else #concat @Real @[3] @[] (xs%6 @[2]) [: Real] in
  let g%9 : Bool = #!= @Bool true (id%0 @Bool false) in
  (m.get @Real @row {y : Int} {x = #sum @Real @[2] (check_size `n` 0 2 ys%8), y = 1})!0

def m.nested : forall a. (Data a, Smooth a) => (a -> Real) -> a -> a =
  \\(f%0 : a -> Real) -> \\(x%1 : a) ->
    match #vjp @a @Real f%0 x%1 with
    | (_, ((back%2 : Real -> a) as whole%3 : Real -> a)) -> back%2 1.0
    end
";

/// What is wrong with [`GOOD`] and these definitions.
fn errors(more: &str) -> String {
    let context = parse(GOOD).unwrap();
    let module = parse(more).unwrap_or_else(|error| panic!("{error}"));
    let errors = verify_module(&module, &context).expect_err(more);
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_program_that_uses_everything_is_accepted() {
    assert_eq!(verify(&parse(GOOD).unwrap()), Ok(()));
}

#[test]
fn instantiations_must_fit_the_scheme() {
    assert_eq!(
        errors("def f : Real = m.sum m.x"),
        "in `f`: `m.sum` takes 1 type arguments, not 0\nin `f`: there is no definition `m.x`"
    );
    assert_eq!(
        errors("def f : m.List Bool -> Bool = m.sum @Bool"),
        "in `f`: `m.sum` needs Num a, which `Bool` is not"
    );
    assert_eq!(
        errors("def f : forall b. Data b => m.List b -> b = m.sum @b"),
        "in `f`: `m.sum` needs Num a, which `b` is not"
    );
    assert_eq!(errors("def f : Int = m.sum @[3]"), "in `f`: `m.sum`: `[3]` is of another kind than `a`");
    assert_eq!(
        errors("def f : forall a. Num a => a -> a = \\(x%0 : a) -> #floor (f @Real 1.0)"),
        "in `f`: `f` is instantiated differently inside its own recursive group"
    );
    assert_eq!(
        errors("def f : Int = let rec g%0 : forall a. a -> Int = \\(x%1 : a) -> g%0 @Int 1 in g%0 @Int 2"),
        "in `f`: `g` is instantiated differently inside its own recursive group"
    );
}

#[test]
fn predicates_look_through_data_types_and_functions() {
    for (ty, data, smooth) in [
        ("m.List Real", true, true),
        ("m.List (m.List Int)", true, false),
        ("m.Box Real", false, true),
        ("(Int, String)", true, false),
        ("Real -> Int", false, false),
        ("[]Dual Real", true, true),
        ("{x : Int, y : Real -> Real}", false, true),
    ] {
        let context = parse(GOOD).unwrap();
        let accepts = |pred: &str| {
            let text = format!(
                "def p : forall a. {pred} a => a -> Int = \\(x%0 : a) -> 1\ndef f : {ty} -> Int = p @({ty})"
            );
            verify_module(&parse(&text).unwrap(), &context).is_ok()
        };
        assert_eq!((accepts("Data"), accepts("Smooth")), (data, smooth), "{ty}");
        assert_eq!(accepts("Tangent"), data, "{ty}");
    }
    let open =
        "def f : forall {r}. {x : Int | r} -> Bool = \\(r%0 : {x : Int | r}) -> #== @{x : Int | r} r%0 r%0";
    assert_eq!(errors(open), "in `f`: `==` needs Data a, which `{x : Int | r}` is not");
    let nested =
        "type Nest a = End | More a (Nest (a, a))\ndef f : Nest Int -> Real = #ravel @(Nest (Int -> Int))";
    assert!(errors(nested).contains("needs Tangent a"), "{}", errors(nested));
}

#[test]
fn variables_are_in_scope_and_binders_distinct() {
    assert_eq!(errors("def f : Int = x%0"), "in `f`: `x%0` is not in scope");
    assert_eq!(errors("def f : Int -> Int = \\(x%0 : Int) -> y%0"), "in `f`: `y%0` is bound as `x`");
    assert_eq!(
        errors("def f : (Int -> Int, Int -> Int) = (\\(x%0 : Int) -> x%0, \\(x%0 : Int) -> x%0)"),
        "in `f`: two binders have the number of `x%0`"
    );
    assert_eq!(
        errors("def f : (Int, Int) = (let x%0 : Int = 1 in x%0, x%0)"),
        "in `f`: `x%0` is not in scope"
    );
    assert_eq!(
        errors("def f : a -> Int = \\(x%0 : Real) -> 1"),
        "in `f`: the type variable `a` is not in scope\nin `f`: the value of this binding has type `Real -> Int` where `a -> Int` is needed"
    );
    assert_eq!(
        errors("def f : forall a. a -> Int = let x%1 : forall a. Int = 1 in \\(x%0 : a) -> 1"),
        "in `f`: the type variable `a` is bound twice"
    );
}

#[test]
fn terms_have_the_types_their_places_need() {
    let cases = [
        ("Int", "1.0", "the value of this binding has type `Real` where `Int` is needed"),
        ("Int", "1 2", "`Int` is not a function"),
        ("Real", "#floor 1", "an argument of `floor` has type `Int` where `Real` is needed"),
        ("Real", "#sin", "`sin` takes 1 arguments, not 0"),
        ("Int", "if 1 then 2 else 3", "the condition has type `Int` where `Bool` is needed"),
        ("Int", "if true then 2 else \"\"", "the branches have types `Int` and `String`"),
        ("Int", "(1, 2)!2", "`(Int, Int)` has no component 2"),
        ("Int", "{x = 1}.y", "`{x : Int}` has no field `y`"),
        ("Int", "{{x = 1} with x = 1.0}.x", "the new field has type `Real` where `Int` is needed"),
        ("{x : Int}", "{x = 1, x = 2}", "the field `x` stands twice"),
        ("m.List Int", "m.List::Nil#1 @Int", "constructor 1 of `m.List` is not `Nil`"),
        ("m.List Int", "m.List::Cons#1 @Int 1", "`Cons` has 2 fields, not 1"),
        ("m.List", "m.List::Nil#0", "`m.List` takes 1 arguments, not 0"),
        ("Int", "match 1 with end", "a match has no arm"),
        ("Int", "match 1 with | true -> 1 end", "this literal pattern has type `Bool` where `Int` is needed"),
        ("Int", "match 1 with | (_, _) -> 1 end", "a pattern for 2 components meets `Int`"),
        ("Int", "match 1 with | 1 -> 1 | _ -> true end", "the arms have types `Int` and `Bool`"),
        ("[2]Int", "[1 : Int]", "the value of this binding has type `[1]Int` where `[2]Int` is needed"),
        ("[]Int", "#iota @[2] 3", "`iota` of 3 elements has the size [2]"),
        ("[2]Int", "check_size `3` 0 3 (#iota @[] 3)", "has type `[3]Int` where `[2]Int` is needed"),
        ("Int", "3~a", "the type variable `a` is not in scope"),
        ("Int", "let rec f%0 : Int = 1 in 1", "`f` is recursive but not a lambda"),
        ("Int", "(1,)", "a tuple has one component"),
    ];
    for (ty, term, wanted) in cases {
        let found = errors(&format!("def f : {ty} = {term}"));
        assert!(found.contains(wanted), "{term}: {found}");
    }
}

#[test]
fn declarations_are_checked() {
    assert_eq!(
        errors("type T a = A b | A"),
        "in `T`: the type variable `b` is not in scope\nin `T`: two constructors are called `A`"
    );
    assert_eq!(
        errors("type T a a ="),
        "in `T`: a data type needs a constructor\nin `T`: the type variable `a` is bound twice"
    );
    assert_eq!(errors("type T = A (m.List)"), "in `T`: `m.List` takes 1 arguments, not 0");
}

#[test]
fn the_type_of_an_open_term_comes_from_its_environment() {
    let program = parse(GOOD).unwrap();
    let empty = Program::default();
    let ty = crate::parse::parse_type("m.List Real").unwrap();
    let env = Env::new(&program, &empty).with_local(Var { name: Name::new("xs"), id: 7 }, Scheme::mono(ty));
    let term = parse_term("\\(k%1 : Int) -> (m.sum @Real xs%7, k%1)").unwrap();
    assert_eq!(type_of(&term, &env).unwrap().to_string(), "Int -> (Real, Int)");
    let wrong = parse_term("m.sum @Int xs%7").unwrap();
    assert!(type_of(&wrong, &env).unwrap_err().message.contains("`List Real` where `List Int`"));
}

#[test]
fn deep_terms_do_not_overflow_the_stack() {
    let depth = 3000;
    let text = format!("def f : Real = {}1.0{}", "#sin (".repeat(depth), ")".repeat(depth));
    assert_eq!(verify(&parse(&text).unwrap()), Ok(()));
}
