//! The delta calculus on generated programs of the whole language, derivatives of derivatives included: the value and the
//! derivatives in both modes are those of the interpreter, and what it does not take it refuses with a message that says so.
//!
//! `WENGERT_PROPERTY_CASES` sets how many programs are generated; `WENGERT_PROPERTY_SEED` chooses others.

use arbitrary::Unstructured;
use std::path::Path;
use std::time::Duration;
use wengert_calculi::kit::ground::Ground;
use wengert_calculi::kit::trace::Limits;
use wengert_driver::{Options, Session, show};
use wengert_gen::{Config, GenValue, Program, gen_program, gen_value, minimize};
use wengert_tests::parallel;

/// Programs of each kind in the normal run.
const DEFAULT_CASES: u64 = 250;

const LIMITS: Limits = Limits { steps: 600_000, size: 2_000_000, recorded: 0 };

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let seed = seed ^ setting("WENGERT_PROPERTY_SEED", 0).rotate_left(32);
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 12_000).map(|_| next()).collect()
}

struct Case {
    program: Program,
    point: GenValue,
}

fn case(seed: u64, config: &Config) -> Case {
    let bytes = bytes(seed);
    let (for_input, for_program) = bytes.split_at(128);
    let program = gen_program(&mut Unstructured::new(for_program), config).expect("there are bytes");
    let point = gen_value(&mut Unstructured::new(for_input), &program.arg_type, program.decls());
    Case { program, point: point.expect("there are bytes").expect("entries take first-order values") }
}

/// What became of a program.
#[derive(PartialEq)]
enum Outcome {
    Same,
    /// Outside of the calculus: the primitive, or the construct.
    Refused(String),
    /// A limit, or numbers that are not finite.
    Skipped,
    Wrong(String),
}

/// Value, forward and reverse derivative, as arrays of numbers.
fn question(case: &Case) -> String {
    let mut step = 0.0;
    let tangent = case.point.map_reals(&mut |_| {
        step += 1.0;
        f64::sin(step * 1.7) + 0.25
    });
    format!(
        "let x = {}\nlet t = {}\nlet (y, y_dot) = jvp entry (x, t)\nlet (_, back) = vjp entry x\n\
         in (ravel y, ravel y_dot, ravel (back y))",
        case.point.text(),
        tangent.text()
    )
}

fn numbers(shown: &str) -> Option<Vec<f64>> {
    let pieces = shown.split(|c: char| "()[], ".contains(c)).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.parse().ok()).collect()
}

fn flat(value: &Ground, out: &mut Vec<f64>) {
    match value {
        Ground::Real(r) => out.push(*r),
        Ground::Tuple(items) | Ground::Array(items) => items.iter().for_each(|item| flat(item, out)),
        other => panic!("{other:?}"),
    }
}

fn judged(case: &Case, name: &str) -> Outcome {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, case.program.text()).expect("cargo's folder for tests can be written");
    let text = question(case);
    let mut session = Session::new();
    let options = Options {
        max_steps: Some(5_000_000),
        max_memory: Some(1 << 29),
        timeout: Some(Duration::from_secs(10)),
        ..Options::default()
    };
    let expected = match session.eval(&text, Some(&file), &options) {
        Ok(evaluated) => numbers(&show(&evaluated.value)).expect("the value is made of numbers"),
        Err(_) => return Outcome::Skipped,
    };
    let system = wengert_calculi::system("delta").expect("it is one of the calculi");
    let (program, _) = match session.simple(&text, Some(&file)) {
        Ok(program) => program,
        // A type that contains itself at other types.
        Err(errors) if errors.iter().all(|error| error.code == "E0983") => return Outcome::Skipped,
        Err(errors) => return Outcome::Wrong(format!("{errors:?}")),
    };
    let trace = match system.trace(&program, &LIMITS) {
        Ok(trace) => trace,
        Err(errors) => {
            let message = errors.iter().map(|error| format!("{}: {}", error.code, error.message)).collect();
            let refusal = ["E0973", "E0974", "E0978"];
            let expected = errors.iter().all(|error| refusal.contains(&error.code));
            return if expected { Outcome::Refused(message) } else { Outcome::Wrong(message) };
        }
    };
    let Some(result) = trace.result.filter(|_| trace.stopped.is_none()) else { return Outcome::Skipped };
    let mut found = Vec::new();
    flat(&result, &mut found);
    let wild = |x: &f64| !x.is_finite() || x.abs() > 1e9;
    if expected.iter().any(wild) {
        return Outcome::Skipped;
    }
    let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    let same = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-6 * scale;
    if expected.len() == found.len() && expected.iter().zip(&found).all(same) {
        Outcome::Same
    } else {
        Outcome::Wrong(format!("expected {expected:?}\nfound    {found:?}"))
    }
}

/// Runs all cases; at least `least` percent must have been compared.
fn agree(config: &Config, kind: &str, least: usize) {
    let seeds: Vec<u64> = (0..setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES)).collect();
    let outcomes = parallel::map(&seeds, |seed| judged(&case(*seed, config), &format!("{kind}{seed}.wg")));
    let wrong: Vec<u64> =
        (0..).zip(&outcomes).filter(|(_, o)| matches!(o, Outcome::Wrong(_))).map(|(i, _)| i).collect();
    if let Some(seed) = wrong.first() {
        let Case { program, point } = case(*seed, config);
        let name = format!("{kind}-smaller.wg");
        let at = |program: Program| Case { program, point: point.clone() };
        let smaller = minimize(program, |p| matches!(judged(&at(p.clone()), &name), Outcome::Wrong(_)));
        let smaller = at(smaller);
        let Outcome::Wrong(why) = judged(&smaller, &name) else { panic!("seed {seed} fails at random") };
        panic!("{why}\n{}\nwith\n{}\nseeds {wrong:?}", question(&smaller), smaller.program.text());
    }
    let same = outcomes.iter().filter(|outcome| **outcome == Outcome::Same).count();
    let mut refused: Vec<&str> = outcomes
        .iter()
        .filter_map(|outcome| if let Outcome::Refused(why) = outcome { Some(why.as_str()) } else { None })
        .collect();
    let count = refused.len();
    refused.sort_unstable();
    refused.dedup();
    println!("{kind}: {same} the same, {count} refused, of {}: {refused:#?}", seeds.len());
    assert!(same * 100 >= least * seeds.len(), "only {same} of {} agree; refused: {refused:#?}", seeds.len());
}

#[test]
fn smooth_programs_have_the_derivatives_of_the_interpreter() {
    agree(&Config::smooth(), "smooth", 30);
}

#[test]
fn programs_of_every_kind_have_the_derivatives_of_the_interpreter() {
    agree(&Config::default(), "any", 30);
}
