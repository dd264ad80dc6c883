//! Every evaluator gives the same answers about generated programs: see `wengert_tests::differential`.
//!
//! `WENGERT_DIFFERENTIAL_CASES` asks for more programs, from the one with the number `WENGERT_DIFFERENTIAL_FROM` on;
//! `WENGERT_DIFFERENTIAL_SECONDS` says when to begin no more.

use wengert_driver::{Engine, Input, Options};
use wengert_gen::{Config, GenType};
use wengert_ir::eval::{Evaluator, Limits, Value};
use wengert_ir::{Block, Op};
use wengert_prim::RealOp;
use wengert_tests::differential::{
    Answer, Asked, Findings, Question, Way, cases, compare, compare_c, text_of, ways, ways_in_turn,
};
use wengert_tests::property::setting;

/// The first program.
fn from() -> u64 {
    setting("WENGERT_DIFFERENTIAL_FROM", 0)
}

fn require_none(findings: &Findings) {
    let texts: Vec<&str> = findings.reports.iter().map(|report| report.text.as_str()).collect();
    assert!(texts.is_empty(), "{} programs\n{}", findings.failed, texts.join("\n"));
}

#[test]
fn every_engine_gives_the_same() {
    let configs = [Config::default(), Config::smooth(), Config::wide()];
    let mut found: [Option<Findings>; 3] = [None, None, None];
    let seeds: Vec<u64> = (from()..from() + cases(15)).collect();
    for some in seeds.chunks(AT_ONCE) {
        for (config, found) in configs.iter().zip(&mut found) {
            let ways = if seeds.len() > FEW { ways_in_turn } else { ways };
            let new = compare(config, None, some.iter().copied(), ways);
            *found = Some(match found.take() {
                Some(old) => old.and(new),
                None => new,
            });
        }
    }
    for findings in found.iter().flatten() {
        println!("{} programs, {} answers compared", findings.tried, findings.compared);
        require_none(findings);
        assert!(findings.compared > 16, "programs were put to the test");
    }
}

/// So many programs are evaluated in all ways, each.
const FEW: usize = 1000;

/// So many programs of one kind, then of the others.
const AT_ONCE: usize = 500;

#[test]
fn the_c_compiler_gives_the_same() {
    if Engine::C.require().is_ok() {
        let findings = compare_c(&Config::wide(), from()..from() + cases(24).div_ceil(3));
        println!("{} programs, {} answers of C compared", findings.tried, findings.compared);
        require_none(&findings);
    }
}

/// What generated programs must have in them: a word of their text (with single spaces), and in how many of a thousand at least.
const CONSTRUCTS: &[(&str, &str, usize)] = &[
    ("a derivative with respect to several functions", "jvp (\\((g", 316),
    ("a derivative that is applied to itself", "(d", 220),
    ("a functional on functions", "apply_dual", 130),
    ("matrices of short rows", "sin (real (", 100),
    ("recursion over numbers", "<= 0 then", 271),
    ("local recursion", "let rec", 144),
    ("recursion over data", "= match xs", 100),
    ("lists", "Cons v", 50),
    ("trees", "Node v", 50),
    ("a loop that data ends", "&& ", 210),
    ("a loop", "while_loop", 261),
    ("an iteration", "iterate", 142),
    ("checkpoints", "checkpoint", 60),
    ("rules for forward mode", "custom_jvp", 134),
    ("rules for reverse mode", "custom_vjp", 123),
    ("folds", "fold (", 268),
    ("scans", "scan (", 61),
    ("reductions", "reduce (", 181),
    ("scattering", "scatter_add", 25),
    ("gathering", "gather", 74),
    ("sorting", "sort", 26),
    ("filters", "filter", 177),
    ("nested arrays", "transpose", 5),
    ("products of matrices", "matmul", 6),
    ("products with vectors", "matvec", 72),
    ("remainders", " % ", 139),
    ("failures", "fail \"", 232),
    ("places that may not be there", "index ", 341),
    ("arrays of different sizes in elements", "(\\(row", 90),
    ("texts", "++", 22),
    ("records", "with x =", 61),
    ("matches", "match", 405),
    ("functions in data", "List (Real -> Real)", 6),
    ("Taylor series", "taylor", 22),
    ("Jacobian matrices", "jacrev", 32),
    ("linearizations", "linearize", 59),
];

#[test]
fn generated_programs_have_everything_in_them() {
    let texts: Vec<String> = (0..1000).map(|seed| text_of(&Config::wide(), seed)).collect();
    let mut lacking = Vec::new();
    for (what, word, least) in CONSTRUCTS {
        let count = texts.iter().filter(|text| text.contains(word)).count();
        println!("{count:4} {what}");
        if count < *least {
            lacking.push(format!("{what}: {count} of 1000 programs instead of {least}"));
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

/// A pass of the optimizer that is wrong: it takes the sine for the cosine.
fn confuse(block: &mut Block) {
    for stmt in &mut block.stmts {
        stmt.op.blocks_mut().into_iter().for_each(confuse);
        if let Op::Real(op @ RealOp::Sin, _) = &mut stmt.op {
            *op = RealOp::Cos;
        }
    }
}

/// What the evaluator of the IR gives after that pass.
fn wrongly(asked: &mut Asked, question: &Question) -> Answer {
    let input = asked.input(question);
    let json = Input::Text(input.clone());
    let unit = asked.session.unit_in(&asked.scope, question.name, &json, &Options::default());
    let mut unit = unit.map_err(|_| "it is not compiled".to_string())?;
    unit.program.funcs.iter_mut().for_each(|(_, func)| confuse(&mut func.body));
    let numbers = input.trim_matches(['[', ']']).split(", ");
    let args = numbers.filter_map(|number| number.parse().ok().map(Value::Real)).collect();
    let results = Evaluator::new(&unit.program, Limits::default()).call(unit.entry.func, args);
    let results = results.map_err(|failure| failure.fault.message())?;
    let shown: Vec<String> = results.iter().map(Value::to_string).collect();
    Ok(if let [one] = shown.as_slice() { one.clone() } else { format!("({})", shown.join(", ")) })
}

#[test]
fn a_wrong_pass_is_found_and_shown_by_a_small_program() {
    let real = Some((GenType::Real, GenType::Real));
    let wrong = |_: u64| vec![Way::otherwise("wrong", wrongly)];
    let findings = compare(&Config::smooth(), real, 0..30, wrong);
    assert!(findings.failed > 2, "{} programs have a sine", findings.failed);
    assert!(!findings.reports.is_empty());
    for report in &findings.reports {
        let text = report.case.program.text();
        assert!(text.lines().count() < 8 && text.len() < 300, "this is not small:\n{text}");
        assert!(text.contains("sin") || text.contains("cos"), "{text}");
        assert!(report.text.contains("wengert run case.wg --entry"), "{}", report.text);
    }
}
