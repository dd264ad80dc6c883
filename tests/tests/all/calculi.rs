//! The calculi on programs of the whole language: the bridge from the core, traces, and what the command prints.

use std::path::{Path, PathBuf};
use wengert_driver::Session;
use wengert_mono::{simple_check, simple_show};
use wengert_tests::project;

fn bridged(text: &str, file: Option<&Path>) -> String {
    let mut session = Session::new();
    match session.simple(text, file) {
        Ok((program, _)) => {
            let errors = simple_check::check(&program);
            let shown = simple_show::show(&program);
            assert!(errors.is_empty(), "{text}\n{shown}\n{errors:#?}");
            shown
        }
        Err(errors) => errors.iter().map(|error| format!("{}: {}", error.code, error.message)).collect(),
    }
}

#[test]
fn expressions_become_simple_terms() {
    let texts = [
        r"grad (\x -> x ^ 3) 2.0",
        r"let f (x, y) = x * y + sin x in value_and_grad f (1, 3)",
        r"let id x = x in (id 1, id 2.0, id grad (\x -> square x) 3)",
        r"map (grad sin) [1.0, 2.0]",
        r"{y = 1.0, x = 2}.y",
        r"{only = 1.0}.only",
        r"jvp (\g -> g (g 1.0)) (sin, cos)",
        r"let rec even n = if n == 0 then true else odd (n - 1) and odd n = if n == 0 then false else even (n - 1) in even 10",
        r"match (1, 2.0, true) with | (0, x, _) -> x | (_, 1.0, true) -> 3.0 | (n, x, _) -> x + real n",
        r"let r = {a = 1.0, b = 2.0} in {r with a = 3.0}",
        r"pullback sin to_dual 1.0",
        r"let xs = [1.0, 2.0] in mean xs + pi",
        r"grad (\(x, y) -> if x > 0 then x * y else 0) (1, 2)",
    ];
    let shown: Vec<String> =
        texts.iter().map(|text| format!("{text}\n  {}\n", bridged(text, None))).collect();
    expect_test::expect![[r#"
        grad (\x -> x ^ 3) 2.0
          grad (\x -> ^ x 3) 2.0
        let f (x, y) = x * y + sin x in value_and_grad f (1, 3)
          let f = \p -> let x = p.0 in let y = p.1 in + (* x y) (sin x) in value_and_grad f (1.0, 3.0)
        let id x = x in (id 1, id 2.0, id grad (\x -> square x) 3)
          let id = \x -> x in let id2 = \x2 -> x2 in let id3 = \x3 -> x3 in (id3 1, id2 2.0, id (\f -> \x4 -> grad f x4) (\x5 -> let x6 = x5 in * x6 x6) 3.0)
        map (grad sin) [1.0, 2.0]
          map (\x -> grad (\x2 -> sin x2) x) [1.0, 2.0]
        {y = 1.0, x = 2}.y
          (2, 1.0).1
        {only = 1.0}.only
          1.0
        jvp (\g -> g (g 1.0)) (sin, cos)
          jvp (\g -> g (g 1.0)) (\x -> sin x, \x2 -> cos x2)
        let rec even n = if n == 0 then true else odd (n - 1) and odd n = if n == 0 then false else even (n - 1) in even 10
          let rec even = \n -> if == n 0 then true else odd (- n 1) and odd = \n2 -> if == n2 0 then false else even (- n2 1) in even 10
        match (1, 2.0, true) with | (0, x, _) -> x | (_, 1.0, true) -> 3.0 | (n, x, _) -> x + real n
          let it = (1, 2.0, true) in let arm = \n -> \x -> + x (real n) in if == it.0 0 then let x2 = it.1 in x2 else if == it.1 1.0 then if it.2 then 3.0 else arm it.0 it.1 else arm it.0 it.1
        let r = {a = 1.0, b = 2.0} in {r with a = 3.0}
          let r = (1.0, 2.0) in (3.0, r.1)
        pullback sin to_dual 1.0
          pullback (\x -> sin x) (\x2 -> to_dual x2) 1.0
        let xs = [1.0, 2.0] in mean xs + pi
          let xs = [1.0, 2.0] in + (let xs2 = xs in / (sum xs2) (real (length xs2))) 3.141592653589793
        grad (\(x, y) -> if x > 0 then x * y else 0) (1, 2)
          grad (\p -> let x = p.0 in let y = p.1 in if > x 0.0 then * x y else 0.0) (1.0, 2.0)
    "#]]
    .assert_eq(&shown.concat());
}

#[test]
fn definitions_are_copied_for_each_type_and_recursion_stays_explicit() {
    let folder = tempfile(
        "definitions.wg",
        r#"
type List a = Nil | Cons a (List a)
def total f xs = match xs with | Nil -> 0 | Cons x rest -> f x + total f rest
def norm xs = total (\x -> x * x) xs
def twice f x = f (f x)
def unused = fail "never"
def last_two xs = match xs with | Cons x (Cons y Nil) -> (x, y) | Cons _ rest -> last_two rest | Nil -> (0, 0)
"#,
    );
    let texts = [
        "norm (Cons 1.0 (Cons 2.0 Nil))",
        "(norm (Cons 1 Nil), grad norm (Cons 1.0 Nil))",
        "twice (twice sin) 1.0",
        "last_two (Cons 1.0 Nil)",
    ];
    let shown: Vec<String> =
        texts.iter().map(|text| format!("{text}\n  {}\n", bridged(text, Some(&folder)))).collect();
    expect_test::expect![[r#"
        norm (Cons 1.0 (Cons 2.0 Nil))
          let rec total = \f -> \xs -> case xs of | Nil -> 0.0 | Cons x rest -> + (f x) (total f rest) in let xs2 = Cons 1.0 (Cons 2.0 Nil) in total (\x2 -> * x2 x2) xs2
        (norm (Cons 1 Nil), grad norm (Cons 1.0 Nil))
          let rec total = \f -> \xs -> case xs of | Nil -> 0 | Cons x rest -> + (f x) (total f rest) in let rec total2 = \f2 -> \xs2 -> case xs2 of | Nil -> 0.0 | Cons x2 rest2 -> + (f2 x2) (total2 f2 rest2) in (let xs3 = Cons 1 Nil in total (\x3 -> * x3 x3) xs3, grad (\xs4 -> total2 (\x4 -> * x4 x4) xs4) (Cons 1.0 Nil))
        twice (twice sin) 1.0
          let twice = \f -> \x -> f (f x) in twice (twice (\x2 -> sin x2)) 1.0
        last_two (Cons 1.0 Nil)
          let rec last_two = \xs -> let arm = \rest -> last_two rest in case xs of | Nil -> (0.0, 0.0) | Cons x rest2 -> (case rest2 of | Nil -> arm rest2 | Cons y part -> (case part of | Nil -> (x, y) | Cons part2 part3 -> arm rest2)) in last_two (Cons 1.0 Nil)
    "#]]
    .assert_eq(&shown.concat());
}

#[test]
fn programs_that_no_simple_type_can_hold_are_refused() {
    let folder =
        tempfile("nested.wg", "type Nest a = End | More a (Nest (a, a))\ndef one : Nest Int = More 1 End\n");
    assert_eq!(bridged("one", Some(&folder)), "E0983: `Nest` has infinitely many types as parts");
}

#[test]
fn the_bridge_takes_every_example_and_gives_well_typed_programs() {
    let mut taken = 0;
    for file in project::files("examples", "wg") {
        if project::read(&file).contains("\ndef main") {
            let shown = bridged("main", Some(&file));
            assert!(!shown.starts_with('E'), "{}: {shown}", file.display());
            taken += 1;
        }
    }
    assert!(taken >= 5, "only {taken} examples have a `main`");
}

/// A file with that text, in the folder that cargo keeps for tests.
fn tempfile(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("cargo's folder for tests can be written");
    path
}
