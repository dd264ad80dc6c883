//! Programs in, derivative programs out: what is made should read as if a person had written it.

mod kept;
mod loops;
mod operations;
mod recursion;

use expect_test::Expect;
use std::collections::BTreeSet;
use wengert_ir::verify::verify;
use wengert_ir::{Program, parse, print};

/// The program with its derivatives made, checked before and after, and once more after having been read back.
fn made(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    if let Err(errors) = verify(&program) {
        panic!("before: {errors:#?}");
    }
    let made = wengert_ad::differentiate(program);
    if let Err(errors) = verify(&made) {
        panic!("{}\nafter: {errors:#?}", print(&made));
    }
    parse(&print(&made)).unwrap_or_else(|error| panic!("{}\nread back: {error}", print(&made)))
}

/// What was added to the program, as text.
#[track_caller]
fn check(text: &str, expected: &Expect) {
    let before: BTreeSet<String> = declarations(&print(&parse(text).expect("it is read"))).collect();
    let after = print(&made(text));
    let new: Vec<String> = declarations(&after).filter(|part| !before.contains(part)).collect();
    expected.assert_eq(&format!("{}\n", new.join("\n\n")));
}

fn declarations(text: &str) -> impl Iterator<Item = String> {
    let parts: Vec<String> = text.split("\n\n").map(|part| part.trim_end().to_owned()).collect();
    parts.into_iter().filter(|part| !part.starts_with("entry"))
}
