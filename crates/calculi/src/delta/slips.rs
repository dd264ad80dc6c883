//! The slips of the paper, each with what goes wrong as it is printed; see `docs/slips.md`.

use super::examples::{QUATERNION, checked, evaluate};
use super::syntax::{Builtin, E, Pat, make};
use super::value::DeltaNode;
use super::{monadic, parse, print, types};
use wengert_base::{Name, SourceId};

/// The code of the mistake in a term.
fn mistake(text: &str) -> &'static str {
    let parsed = parse::parse(SourceId(0), text).unwrap_or_else(|error| panic!("{error:?}"));
    types::check(&parsed).unwrap_err().code
}

#[test]
fn figure_14_needs_var_around_the_identifier() {
    let printed = "λ(x, u1). do { dy ← deltaLet (Scale (cos x) u1); pure (sin x, dy) }";
    assert_eq!(mistake(&format!("(({printed}) : ℝ × Delta → M (ℝ × Delta))")), "E0967");
    let ours = "λ(x, u1). do { dy ← deltaLet (Scale (cos x) u1); pure (sin x, Var dy) }";
    checked(&format!("(({ours}) : ℝ × Delta → M (ℝ × Delta))"));
}

#[test]
fn figure_11_applies_a_computation_where_a_function_is_needed() {
    let (e, _) = checked("λx. x × x");
    let translated = print::term(&monadic::translate(&e).unwrap());
    assert_eq!(mistake(&format!("runDelta 2 (({translated}) (3.0, Var 1))")), "E0967");
    checked(&format!("runDelta 2 (do {{ f ← {translated}; f (3.0, Var 1) }})"));
}

#[test]
fn figure_15_binds_one_name_and_uses_another() {
    assert_eq!(mistake("λdt. let t0 = initZeros_{ℝ} dt in (2.0, dt0)"), "E0966");
    checked("λdt. let dt0 = initZeros_{ℝ} dt in (2.0, dt0)");
}

/// The number of bindings of Figure 12 for a text of the program.
fn bindings(text: &str) -> usize {
    let (e, _) = checked(text);
    let f = Name::new("f");
    let point =
        "((1.1, Var 1), (2.2, Var 2), (3.3, Var 3), (4.4, Var 4)), (5.5, Var 5), (6.6, Var 6), (7.7, Var 7)";
    let point = parse::parse(SourceId(0), &format!("({point})")).unwrap();
    let main = make::monadic(Pat::Var(f), monadic::translate(&e).unwrap(), make::app(make::var(f), point));
    let run: E = make::apps(make::builtin(Builtin::RunDelta), [make::int(8), main]);
    let mut rest = evaluate(&run).0.delta().unwrap().clone();
    let mut count = 0;
    while let DeltaNode::Let(_, _, body) = &*rest.clone() {
        rest = body.clone();
        count += 1;
    }
    count
}

#[test]
fn figure_12_names_its_constants_and_figure_9_does_not() {
    assert_eq!(bindings(QUATERNION), 40);
    assert_eq!(bindings(&QUATERNION.replace("real 2", "2.0")), 38);
}
