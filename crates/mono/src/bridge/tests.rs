//! Facts about the bridge, on programs in the text form of the core; whole-language programs are in the project's tests.

use super::bridge;
use crate::simple::{Program, Ty};
use crate::{simple_check, simple_show};
use wengert_base::Name;
use wengert_core::{parse, verify};

fn bridged(text: &str) -> Result<Program, String> {
    let core = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Err(errors) = verify(&core) {
        panic!("{errors:?}\n{text}");
    }
    bridge(&core, Name::new("it")).map_err(|errors| errors.into_iter().map(|error| error.message).collect())
}

fn shown(text: &str) -> String {
    let program = bridged(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simple_check::check(&program), Vec::<String>::new(), "{}", simple_show::show(&program));
    simple_show::show(&program)
}

#[test]
fn arrays_may_be_in_arrays_but_not_hundreds_of_times() {
    let text = |axes: usize| {
        let ty = format!("{}Real", "[]".repeat(axes));
        format!("def it : {ty} -> {ty} = \\(x%0 : {ty}) -> x%0")
    };
    assert!(bridged(&text(128)).is_ok());
    let error = bridged(&text(129)).err();
    assert_eq!(
        error.as_deref(),
        Some("the program is too large to be traced: one of its arrays has hundreds of axes")
    );
}

#[test]
fn literals_and_arithmetic_take_the_type_of_the_instance() {
    let text = "def m.one : forall a. Num a => a -> a = \\(x%0 : a) -> #+ @a x%0 1~a\n\
                def it : (Int, Real) = (m.one @Int 2, m.one @Real 2.0)";
    assert_eq!(shown(text), "(let x = 2 in + x 1, let x2 = 2.0 in + x2 1.0)");
}

#[test]
fn only_what_is_used_appears_and_functions_used_twice_stay_shared() {
    let text = "def m.f : Real -> Real = \\(x%0 : Real) -> #sin x%0\n\
                def m.g : Real -> Real = \\(x%0 : Real) -> #cos x%0\n\
                def it : Real = m.f (m.f 1.0)";
    assert_eq!(shown(text), "let f = \\x -> sin x in f (f 1.0)");
}

#[test]
fn mutual_recursion_is_one_group() {
    let text = "def m.a : Int -> Int = \\(x%0 : Int) -> m.b x%0\n\
                def m.b : Int -> Int = \\(x%0 : Int) -> m.a (m.c x%0)\n\
                def m.c : Int -> Int = \\(x%0 : Int) -> x%0\n\
                def it : Int = m.a 1";
    assert_eq!(shown(text), "let rec a = \\x -> b x and b = \\x2 -> a (let x3 = x2 in x3) in a 1");
}

#[test]
fn a_polymorphic_recursive_group_is_copied_for_each_type() {
    let text = "def it : (Int, Real) = let rec f%0 : forall a. a -> a = \\(x%1 : a) -> g%2 @a x%1 \
                and g%2 : forall a. a -> a = \\(x%3 : a) -> f%0 @a x%3 in (f%0 @Int 1, g%2 @Real 1.0)";
    assert_eq!(
        shown(text),
        "let rec f = \\x -> g x and g = \\x2 -> f x2 in let rec f2 = \\x3 -> g2 x3 and g2 = \\x4 -> f2 x4 in \
         (f2 1, g 1.0)"
    );
}

#[test]
fn long_chains_of_definitions_do_not_nest_without_end() {
    let mut text = String::from("def m.f0 : Real -> Real = \\(x%0 : Real) -> #sin x%0\n");
    for n in 1..1500 {
        text.push_str(&format!("def m.f{n} : Real -> Real = \\(x%0 : Real) -> #sin (m.f{} x%0)\n", n - 1));
    }
    text.push_str("def it : Real = m.f1499 1.0");
    let program = bridged(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simple_check::check(&program), Vec::<String>::new());
    let mut text = String::from("def m.f0 : forall a. a -> Int = \\(x%0 : a) -> 1\n");
    for n in 1..40 {
        text.push_str(&format!(
            "def m.f{n} : forall a. a -> Int = \\(x%0 : a) -> m.f{} @(a, a) (x%0, x%0)\n",
            n - 1
        ));
    }
    text.push_str("def it : Int = m.f39 @Int 1");
    assert_eq!(
        bridged(&text).err().as_deref(),
        Some("the program is too large to be traced: one of its types has thousands of parts")
    );
}

#[test]
fn the_checker_of_simple_programs_notices_what_is_wrong() {
    let program =
        bridged("def it : Real -> Real = \\(x%0 : Real) -> #sin x%0").unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = program.clone();
    wrong.term.ty = Ty::Real;
    assert_eq!(simple_check::check(&wrong).len(), 1);
    let crate::simple::TermKind::Lam(var, _, body) = program.term.kind.clone() else { panic!() };
    let open = Program { term: body.as_ref().clone(), data: program.data.clone() };
    assert_eq!(simple_check::check(&open), ["x%1 is not in scope"]);
    let mut wrong = program;
    wrong.term.kind = crate::simple::TermKind::Lam(var, Ty::Int, body);
    assert!(!simple_check::check(&wrong).is_empty());
}
