//! The chapter `docs/perturbative.md`: what it displays is made here. `UPDATE_EXPECT=1` writes it anew.
//!
//! A line `<!-- NAME argument -->` is followed by a block that its name and argument determine.

use super::conjectures::{SIZE, by_product_rule, by_pushforward, exhaustive, steps};
use super::theorems::read;
use crate::kit::trace::Limits;
use crate::perturbative::reduce::{Order, reduce};
use crate::perturbative::step::{Rules, contract, contract_or_vanish};
use crate::perturbative::{examples, print, quiet};
use std::path::Path;

fn block(name: &str, argument: &str) -> String {
    let text = match name {
        "steps" => displayed(argument, Order::BodyFirst, &|_| true),
        "steps-without-projections" => displayed(argument, Order::BodyFirst, &|rule| rule != "×"),
        "normal-body-first" => normal(argument, Order::BodyFirst),
        "normal-outermost" => normal(argument, Order::Outermost),
        "product" => {
            let mut table = String::from("  n   T   product rule\n");
            for n in [1, 2, 4, 8, 16, 32, 64] {
                table.push_str(&format!("{n:3} {:5} {:7}\n", by_pushforward(n).0, by_product_rule(n).0));
            }
            table
        }
        "confluence" => {
            let mut table = String::from(
                "rules                        terms   reductions   two normal forms   up to surjective pairing\n",
            );
            for (name, rules) in
                [("Figure 3", contract as Rules), ("and π1 (T s (ι2 N)) → 0", contract_or_vanish)]
            {
                let found = exhaustive(SIZE, rules);
                table.push_str(&format!(
                    "{name:27} {:6} {:12} {:18} {:26}\n",
                    found.terms, found.ended, found.apart, found.unpaired
                ));
            }
            table
        }
        "lets" => {
            let mut table = String::from("  n   body first   outermost\n");
            for n in 1..=3 {
                let count = |order| {
                    let (x, lets) = examples::nested_lets(n);
                    steps(&examples::pushed_at(&x, lets, 1.0), order).0
                };
                table.push_str(&format!(
                    "{n:3} {:8} {:14}\n",
                    count(Order::BodyFirst),
                    count(Order::Outermost)
                ));
            }
            table
        }
        other => panic!("no block `{other}`"),
    };
    format!("```text\n{}\n```\n", text.trim_end())
}

fn displayed(text: &str, order: Order, shown: &dyn Fn(&str) -> bool) -> String {
    let limits = Limits { recorded: 1_000, ..Limits::default() };
    let trace = reduce(&read(text), order, &limits);
    let mut out = format!("    {}\n", trace.start);
    for step in trace.steps.iter().filter(|step| shown(step.rule)) {
        out.push_str(&format!("→{}  {}\n", step.rule, step.after));
    }
    if trace.steps.last().is_some_and(|step| !shown(step.rule)) {
        out.push_str(&format!("→…  {}\n", trace.end));
    }
    out
}

fn normal(text: &str, order: Order) -> String {
    let term = read(text);
    reduce(&term, order, &quiet());
    print::term(&term)
}

#[test]
fn the_chapter_shows_what_the_program_computes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/perturbative.md");
    let chapter = std::fs::read_to_string(&path).unwrap_or_default();
    let mut out = String::new();
    let mut lines = chapter.lines().peekable();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(order) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) else {
            continue;
        };
        let (name, argument) = order.split_once(' ').unwrap_or((order, ""));
        out.push_str(&block(name, argument));
        blocks += 1;
        if lines.next_if(|line| line.starts_with("```")).is_some() {
            let _old: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        }
    }
    assert!(blocks >= 6, "only {blocks} blocks");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &out).unwrap();
    } else {
        assert_eq!(out, chapter, "run with UPDATE_EXPECT=1");
    }
}
