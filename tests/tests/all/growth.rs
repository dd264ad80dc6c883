//! The papers' claims about cost, as growth orders of what is counted, and the book's plots.
//!
//! Times are measured by the command too, but nothing here depends on them.

use std::sync::OnceLock;
use wengert_calculi::systems;
use wengert_driver::growth::{FAMILIES, Measured, Wanted, measure, plots, table, ways};
use wengert_tests::command::wengert;
use wengert_tests::expected::compare_file;
use wengert_tests::project;

/// Everything, counted once for all tests.
fn counted() -> &'static [Measured] {
    static COUNTED: OnceLock<Vec<Measured>> = OnceLock::new();
    COUNTED.get_or_init(|| measure(systems(), Wanted { family: None, calculus: None, times: false }))
}

fn found(family: &str, way: &str) -> &'static Measured {
    let same = |measured: &&Measured| measured.family.name == family && measured.way.name() == way;
    counted().iter().find(same).unwrap_or_else(|| panic!("there is no {way} in {family}"))
}

/// An order, `exponential` for any base.
fn order(family: &str, way: &str, count: &str) -> String {
    match found(family, way).order(count).map(|order| order.to_string()) {
        None => "?".into(),
        Some(order) if order.ends_with('ⁿ') => "exponential".into(),
        Some(order) => order,
    }
}

/// What a paper says, and what is counted: family, way, count, order.
type Claim = (&'static str, &'static str, &'static str, &'static str);

fn check(claims: &[Claim]) {
    let wrong: Vec<String> = claims
        .iter()
        .map(|(family, way, count, claimed)| (family, way, count, claimed, order(family, way, count)))
        .filter(|(_, _, _, claimed, order)| *claimed != order)
        .map(|(family, way, count, claimed, order)| {
            format!("{family}, {way}, {count}: {order}, not {claimed}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_final_delta_translation_is_linear_where_the_earlier_ones_are_not() {
    check(&[
        // Section 7: eval₂ unfolds what is shared.
        ("doubling", "delta D2", "steps", "exponential"),
        ("doubling", "delta", "steps", "n"),
        ("doubling", "delta", "max_size", "n"),
        ("doubling", "delta", "cells", "n"),
        // Section 6: each number carries its whole gradient.
        ("inputs", "delta D1", "numeric operations", "n²"),
        ("inputs", "delta D1", "max_size", "n²"),
        ("inputs", "delta", "numeric operations", "n"),
        // Section 3.2: the Forward Plan runs once for each input.
        ("inputs", "delta forward", "numeric operations", "n²"),
        // Section 7.4: linear in the program's run. What is not linear in n is a decision on the index of an array, or
        // on the component of a tuple, that the program without derivative makes as well.
        ("product", "delta", "steps", "n"),
        ("inputs", "delta", "delta bindings", "n"),
        ("network", "delta", "delta bindings", "n"),
        ("network", "delta", "numeric operations", "n"),
        ("squares", "delta", "delta bindings", "n"),
        ("squares", "delta D2", "steps", "exponential"),
        ("composition", "delta", "delta bindings", "n"),
    ]);
    let ratio = |family: &str, a: &str, b: &str| {
        let pairs: Vec<f64> = found(family, a)
            .series("steps")
            .iter()
            .zip(found(family, b).series("steps"))
            .map(|(a, b)| a.1 / b.1)
            .collect();
        pairs.iter().copied().fold(0.0, f64::max)
    };
    // A constant factor above the forward derivative of one input, which follows the program step by step.
    for family in ["doubling", "product", "composition"] {
        assert!(ratio(family, "delta", "delta forward") < 6.0, "{family}");
    }
}

#[test]
fn the_pushforward_is_linear_where_the_product_rule_is_quadratic() {
    check(&[
        ("product", "perturbative", "steps", "n"),
        ("product", "perturbative", "max_size", "n"),
        ("product", "perturbative product rule", "steps", "n²"),
        ("network", "perturbative", "steps", "n"),
        ("squares", "perturbative", "steps", "n"),
        ("network", "perturbative product rule", "steps", "n²"),
        ("composition", "perturbative", "steps", "n"),
        ("doubling", "perturbative", "steps", "n"),
        ("doubling", "perturbative product rule", "steps", "exponential"),
    ]);
    // Outside in, T works through a redex more than twice at each level: the third program is too large.
    assert!(found("doubling", "perturbative T first").points.len() <= 3);
}

#[test]
fn linear_factoring_makes_reverse_mode_linear() {
    check(&[
        ("doubling", "negation", "steps", "n"),
        ("product", "negation", "steps", "n"),
        ("network", "negation", "steps", "n"),
        ("squares", "negation", "steps", "n"),
        ("squares", "negation no factoring", "steps", "exponential"),
        ("composition", "negation", "steps", "n"),
        ("inputs", "negation", "steps", "n"),
        ("doubling", "negation no factoring", "steps", "exponential"),
        ("inputs", "negation forward", "steps", "n²"),
        ("inputs", "negation injections", "steps", "n²"),
    ]);
    // Section 6.2: the body of the loop before the loop.
    let steps = |way: &str| found("network", way).series("steps").last().map_or(0.0, |point| point.1);
    assert!(steps("negation bodies first") < 0.9 * steps("negation"));
}

#[test]
fn the_differential_calculus_swells_where_the_pullback_calculus_does_not() {
    check(&[
        ("doubling", "differential", "steps", "exponential"),
        ("doubling", "differential", "max_size", "exponential"),
        ("doubling", "pullback", "steps", "n"),
        ("doubling", "pullback", "max_size", "n"),
        ("product", "differential", "max_size", "n²"),
        ("product", "pullback", "max_size", "n"),
        ("inputs", "pullback", "steps", "n"),
        ("network", "differential", "steps", "n²"),
        ("network", "pullback", "steps", "n"),
        // But beside a function it does.
        ("squares", "pullback", "steps", "exponential"),
        ("squares", "pullback", "max_size", "exponential"),
    ]);
}

#[test]
fn every_way_takes_every_family() {
    let refused: Vec<String> = counted()
        .iter()
        .filter_map(|measured| {
            let ended = measured.ended.as_ref().filter(|ended| ended.refused)?;
            Some(format!("{}, {}: {}", measured.family.name, measured.way.name(), ended.why))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert_eq!(counted().len(), FAMILIES.len() * ways(systems()).len());
}

#[test]
fn the_table_fits_the_screen() {
    let table = table::table(counted(), table::Shown { everything: true });
    let long: Vec<&str> = table.lines().filter(|line| line.chars().count() > 120).collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn the_books_plots_are_those_of_the_command() {
    let complaints: Vec<String> = plots(counted())
        .iter()
        .filter_map(|(name, drawing)| {
            compare_file(&project::root().join("docs/pictures").join(name), drawing).err()
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_command_measures_times_and_prints_json() {
    let ran = wengert(&["calculus", "growth", "--family", "doubling", "--in", "delta", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let rows = rows.as_array().expect("an array of rows");
    let names: Vec<_> = rows.iter().map(|row| (row.get("calculus"), row.get("variant"))).collect();
    assert!(
        names.len() > 3 && names.iter().all(|(calculus, _)| calculus.is_some_and(|name| name == "delta"))
    );
    for row in rows {
        let points = row.get("points").and_then(|points| points.as_array()).expect("points");
        assert!(points.len() > 4, "{row}");
        assert!(
            points.iter().all(|point| point.get("seconds").is_some_and(|time| time.as_f64() > Some(0.0)))
        );
        assert!(row.pointer("/orders/steps").is_some_and(serde_json::Value::is_string), "{row}");
    }
    let refused = wengert(&["calculus", "delta", "--counts"]);
    assert_eq!(refused.status, 2);
}
