//! All calculi agree: on generated programs of the fragment that they have in common, and on programs chosen by hand, each
//! calculus that takes a program gives the value and the gradient that the interpreter gives, and finite differences.
//! Forward and reverse derivatives of different calculi satisfy Lemma 1 of the delta paper,
//! `dt · F(s, ds) = R(s, dt) · ds`. What a calculus does not take, it refuses with the message for that.
//!
//! `WENGERT_PROPERTY_CASES` sets how many programs are generated; `WENGERT_PROPERTY_SEED` chooses others. A program that
//! fails is made smaller before it is shown.

#![expect(clippy::indexing_slicing, reason = "a wrong index is a failed test")]

mod by_hand;
mod generate;

use arbitrary::Unstructured;
use generate::{Program, Type, program};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use wengert_calculi::kit::ground::Ground;
use wengert_calculi::kit::system::System;
use wengert_calculi::kit::trace::Limits;
use wengert_calculi::systems;
use wengert_driver::{Options, Session, show};
use wengert_gen::{Config, gen_program, gen_value};
use wengert_tests::parallel;

/// Programs in the normal run.
const DEFAULT_CASES: u64 = 300;

/// Reductions are stopped where a calculus blows up, which some do as their papers say.
const LIMITS: Limits = Limits { steps: 300_000, size: 300_000, recorded: 0 };

/// The codes with which a calculus may refuse a program: it is outside of the calculus.
fn refusals(calculus: &str) -> &'static [&'static str] {
    match calculus {
        "pullback" => &["E0917", "E0918"],
        "differential" => &["E0917"],
        "negation" => &["E0947", "E0948", "E0949"],
        "delta" => &["E0973", "E0974", "E0978", "E0979"],
        _ => &["E0926"],
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What a calculus does with an expression.
#[derive(Clone, Debug)]
enum Answer {
    Numbers(Vec<f64>),
    Refused,
    /// At a limit.
    Stopped,
}

/// What is wrong with a program.
#[derive(Debug)]
enum Wrong {
    /// The checker refuses it: a mistake of the generator, or of making it smaller.
    IllFormed(String),
    /// The calculi do not agree.
    Disagreement(String),
}

/// All numbers in a value as it is printed.
fn numbers(shown: &str) -> Option<Vec<f64>> {
    let pieces = shown.split(|c: char| "()[], ".contains(c)).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.parse().ok()).collect()
}

fn flat(value: &Ground, out: &mut Vec<f64>) -> Result<(), String> {
    match value {
        Ground::Real(r) => out.push(*r),
        Ground::Int(n) => out.push(*n as f64),
        Ground::Tuple(items) | Ground::Array(items) => {
            items.iter().try_for_each(|item| flat(item, out))?;
        }
        Ground::Bool(_) | Ground::String(_) | Ground::Ctor(..) | Ground::Term(_) => {
            return Err(format!("{value:?}"));
        }
    }
    Ok(())
}

fn complaints(errors: &[wengert_base::Diagnostic]) -> String {
    errors.iter().map(|error| format!("{}: {}\n", error.code, error.message)).collect()
}

/// The numbers of an expression by the interpreter.
fn interpreted(session: &mut Session, text: &str) -> Result<Vec<f64>, Wrong> {
    let options = Options { timeout: Some(Duration::from_secs(20)), ..Options::default() };
    let value = session.eval(text, None, &options);
    let value = value.map_err(|errors| Wrong::IllFormed(format!("{text}\n{}", complaints(&errors))))?;
    let shown = show(&value.value);
    numbers(&shown).ok_or_else(|| Wrong::IllFormed(format!("{text}\nhas the value {shown}")))
}

/// What a calculus makes of an expression. Refusals with another message than they should have are errors.
fn answer(session: &mut Session, system: &dyn System, text: &str) -> Result<Answer, Wrong> {
    let program = session.simple(text, None);
    let (program, _) =
        program.map_err(|errors| Wrong::IllFormed(format!("{text}\n{}", complaints(&errors))))?;
    let wrong = |what: &str| Wrong::Disagreement(format!("{}: {what}\n{text}", system.name()));
    match system.trace(&program, &LIMITS) {
        Err(errors) => {
            let fits = |error: &wengert_base::Diagnostic| refusals(system.name()).contains(&error.code);
            if !errors.is_empty() && errors.iter().all(fits) {
                return Ok(Answer::Refused);
            }
            Err(wrong(&format!("refused with {}", complaints(&errors))))
        }
        Ok(trace) if trace.stopped.is_some() => Ok(Answer::Stopped),
        Ok(trace) => {
            let result = trace.result.ok_or_else(|| wrong("no result"))?;
            let mut out = Vec::new();
            match flat(&result, &mut out) {
                Ok(()) => Ok(Answer::Numbers(out)),
                Err(found) => Err(wrong(&format!("no numbers: {found}"))),
            }
        }
    }
}

/// Whether all numbers are the same up to `tolerance`, relative to the largest of them and to 1.
fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let scale = a.iter().chain(b).fold(1.0_f64, |scale, x| scale.max(x.abs()));
    let same =
        |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * scale;
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// How many programs each calculus took, refused, and was stopped at.
#[derive(Default, Debug)]
struct Shares(BTreeMap<&'static str, [usize; 3]>);

impl Shares {
    fn note(&mut self, calculus: &'static str, answer: &Answer) {
        let counts = self.0.entry(calculus).or_default();
        match answer {
            Answer::Numbers(_) => counts[0] += 1,
            Answer::Refused => counts[1] += 1,
            Answer::Stopped => counts[2] += 1,
        }
    }

    fn add(&mut self, other: &Shares) {
        for (calculus, counts) in &other.0 {
            let own = self.0.entry(calculus).or_default();
            own.iter_mut().zip(counts).for_each(|(own, count)| *own += count);
        }
    }

    /// Asserts that no calculus took a smaller share of the programs than the one given.
    fn assert(&self, least: impl Fn(&str) -> f64) {
        for system in systems() {
            let name = system.name();
            assert!(self.of(name) >= least(name), "{name} took too few: {self:?}");
        }
    }

    /// The share of programs that a calculus took.
    fn of(&self, calculus: &str) -> f64 {
        let counts = self.0.get(calculus).copied().unwrap_or_default();
        counts[0] as f64 / counts.iter().sum::<usize>().max(1) as f64
    }
}

/// Compares one expression in all calculi with the interpreter.
fn compared(session: &mut Session, text: &str, shares: &mut Shares) -> Result<Vec<f64>, Wrong> {
    let expected = interpreted(session, text)?;
    for system in systems() {
        let answer = answer(session, *system, text)?;
        shares.note(system.name(), &answer);
        if let Answer::Numbers(found) = answer
            && !close(&found, &expected, 1e-9)
        {
            return Err(Wrong::Disagreement(format!(
                "{}: {found:?} instead of {expected:?}\n{text}",
                system.name()
            )));
        }
    }
    Ok(expected)
}

/// The gradient by differences of the values at nearby points, and how far two step lengths differ.
fn differences(session: &mut Session, case: &Program) -> Result<Vec<(f64, f64)>, Wrong> {
    const STEP: f64 = 1e-3;
    let mut calls = Vec::new();
    for index in 0..case.point.len() {
        for shift in [STEP, -STEP, STEP / 2.0, -STEP / 2.0] {
            let mut point = case.point.clone();
            point[index] += shift;
            calls.push(format!("f {}", case.at(&point)));
        }
    }
    let values = interpreted(session, &case.with(&format!("[{}]", calls.join(", "))))?;
    let quotients = values.chunks(4).map(|v| {
        let (coarse, fine) = ((v[0] - v[1]) / (2.0 * STEP), (v[2] - v[3]) / STEP);
        // Richardson's extrapolation.
        ((4.0 * fine - coarse) / 3.0, (fine - coarse).abs())
    });
    Ok(quotients.collect())
}

/// Values and gradients of a program with one result, in all calculi.
fn gradients(case: &Program, shares: &mut Shares) -> Result<(), Wrong> {
    let mut session = Session::new();
    let at = case.at(&case.point);
    compared(&mut session, &case.with(&format!("f {at}")), &mut Shares::default())?;
    let gradient = compared(&mut session, &case.with(&format!("grad f {at}")), shares)?;
    compared(&mut session, &case.with(&format!("value_and_grad f {at}")), &mut Shares::default())?;
    if case.from == Type::Real {
        compared(&mut session, &case.with(&format!("derivative f {at}")), &mut Shares::default())?;
    }
    if case.function.has_kinks() {
        return Ok(());
    }
    for (index, (quotient, doubt)) in differences(&mut session, case)?.into_iter().enumerate() {
        let slope = gradient[index];
        if (slope - quotient).abs() > 1e-5 * (1.0 + slope.abs()) + doubt {
            return Err(Wrong::Disagreement(format!(
                "the gradient's number {index} is {slope}, the difference quotient {quotient}\n{}",
                case.with(&format!("grad f {at}"))
            )));
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Forward and reverse derivatives in all calculi, and Lemma 1 between any two of them.
fn transposed(case: &Program, forward: &mut Shares, reverse: &mut Shares) -> Result<(), Wrong> {
    let mut session = Session::new();
    let (s, ds, dt) = (case.at(&case.point), case.at(&case.tangent), case.result(&case.cotangent));
    let pushed = case.with(&format!("jvp f ({s}, {ds})"));
    let names: Vec<String> = (0..case.cotangent.len()).map(|i| format!("r{i}")).collect();
    let products: Vec<String> = names
        .iter()
        .zip(&case.cotangent)
        .map(|(name, number)| format!("{} * {name}", generate::number(*number)))
        .collect();
    // The same as one number, for calculi that only have gradients.
    let pulled = [
        case.with(&format!("let (_, back) = vjp f {s} in back {dt}")),
        case.with(&format!(
            "let w = \\{} -> let {} = f p in {} in grad w {s}",
            generate::parameter("p", &case.from),
            generate::names_of(&case.to, &mut names.iter().cloned()),
            products.join(" + ")
        )),
    ];
    let mut forwards = Vec::new();
    for system in systems() {
        let answer = answer(&mut session, *system, &pushed)?;
        forward.note(system.name(), &answer);
        if let Answer::Numbers(found) = answer {
            // The value and its tangent.
            forwards.push((system.name(), found[found.len() / 2..].to_vec()));
        }
    }
    let mut reverses = Vec::new();
    for system in systems() {
        let mut best = Answer::Refused;
        for text in &pulled {
            let answer = answer(&mut session, *system, text)?;
            if let Answer::Numbers(found) = &answer {
                reverses.push((system.name(), found.clone()));
                best = answer;
            }
        }
        reverse.note(system.name(), &best);
    }
    for (one, tangent) in &forwards {
        for (other, cotangent) in &reverses {
            let (left, right) = (dot(&case.cotangent, tangent), dot(cotangent, &case.tangent));
            let scale = tangent.iter().chain(cotangent).fold(1.0_f64, |scale, x| scale.max(x.abs()));
            if (left - right).abs() > 1e-8 * scale || tangent.len() != case.cotangent.len() {
                return Err(Wrong::Disagreement(format!(
                    "dt·F is {left} by {one}, R·ds is {right} by {other}\n{pushed}\n{}",
                    pulled[1]
                )));
            }
        }
    }
    Ok(())
}

/// Makes a program smaller as long as it shows a disagreement.
fn minimized(mut case: Program, fails: &dyn Fn(&Program) -> Option<String>) -> (Program, String) {
    let mut why = fails(&case).unwrap_or_default();
    let mut tries = 0;
    'smaller: loop {
        for function in case.function.smaller() {
            tries += 1;
            if tries > 3_000 {
                break 'smaller;
            }
            if function.size() < case.function.size() || function.text().len() < case.function.text().len() {
                let less = Program { function, ..case.clone() };
                if let Some(found) = fails(&less) {
                    (case, why) = (less, found);
                    continue 'smaller;
                }
            }
        }
        break;
    }
    (case, why)
}

/// Runs a check on generated programs, all cores at once, and shows the first failure, made smaller.
fn property<R: Send>(
    wanted: impl Fn(&Program) -> bool + Sync,
    check: impl Fn(&Program) -> Result<R, Wrong> + Sync,
) -> Vec<R> {
    let first = setting("WENGERT_PROPERTY_SEED", 0).wrapping_mul(1_000_003);
    let count = setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES);
    let cases: Vec<Program> =
        (0..).map(|n| program(first.wrapping_add(n))).filter(&wanted).take(count as usize).collect();
    let results = parallel::map(&cases, &check);
    let failed = results.iter().filter(|result| result.is_err()).count();
    let mut out = Vec::new();
    for (case, result) in cases.iter().zip(results) {
        match result {
            Ok(found) => out.push(found),
            Err(Wrong::IllFormed(why)) => panic!("the generator made an ill-formed program\n{why}"),
            Err(Wrong::Disagreement(_)) => {
                let fails = |case: &Program| match check(case) {
                    Err(Wrong::Disagreement(why)) => Some(why),
                    Ok(_) | Err(Wrong::IllFormed(_)) => None,
                };
                let (_, why) = minimized(case.clone(), &fails);
                panic!("{why}\n{failed} of {count} programs fail");
            }
        }
    }
    out
}

/// The least share of programs of the common fragment that a calculus takes.
fn common(calculus: &str) -> f64 {
    if calculus == "differential" { 0.9 } else { 0.995 }
}

/// The sums of shares.
fn total(all: impl IntoIterator<Item = Shares>) -> Shares {
    all.into_iter().fold(Shares::default(), |mut sum, shares| {
        sum.add(&shares);
        sum
    })
}

#[test]
fn values_and_gradients_agree_without_lists() {
    let shares = property(
        |case| case.to == Type::Real && !case.function.has_lists(),
        |case| {
            let mut shares = Shares::default();
            gradients(case, &mut shares).map(|()| shares)
        },
    );
    total(shares).assert(common);
}

#[test]
fn values_and_gradients_agree_with_lists() {
    let shares = property(
        |case| case.to == Type::Real && case.function.has_lists(),
        |case| {
            let mut shares = Shares::default();
            gradients(case, &mut shares).map(|()| shares)
        },
    );
    total(shares).assert(common);
}

#[test]
fn forward_and_reverse_are_transposes_across_calculi() {
    let both = property(
        |_| true,
        |case| {
            let (mut forward, mut reverse) = (Shares::default(), Shares::default());
            transposed(case, &mut forward, &mut reverse).map(|()| (forward, reverse))
        },
    );
    let (forward, reverse): (Vec<Shares>, Vec<Shares>) = both.into_iter().unzip();
    total(forward).assert(|_| 0.9);
    total(reverse).assert(common);
}

#[test]
fn programs_chosen_by_hand_have_their_derivatives() {
    let cases = by_hand::cases();
    assert!(cases.len() >= 60);
    parallel::check_all("programs", &cases, |case| {
        let mut session = Session::new();
        let mut shares = Shares::default();
        let found = match compared(&mut session, &case.text, &mut shares) {
            Ok(found) => found,
            Err(Wrong::IllFormed(why) | Wrong::Disagreement(why)) => return Err(why),
        };
        if !close(&found, &case.numbers, 1e-12) {
            return Err(format!("{found:?} instead of {:?}\n{}", case.numbers, case.text));
        }
        let takers: Vec<&str> =
            shares.0.iter().filter(|(_, counts)| counts[0] > 0).map(|(calculus, _)| *calculus).collect();
        if takers.len() < case.takers {
            return Err(format!("taken only by {takers:?}\n{}", case.text));
        }
        Ok(())
    });
}

/// What a calculus may not do with any program of the language: fail, or give another value than the interpreter. These
/// programs use everything, so that most are outside of most calculi.
#[test]
fn programs_of_the_whole_language_are_taken_or_refused() {
    let config = Config {
        max_depth: 6,
        max_definitions: 3,
        max_derivatives: 1,
        strings: false,
        taylor: false,
        ..Config::default()
    };
    let seeds: Vec<u64> = (0..setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES)).collect();
    let results = parallel::map(&seeds, |seed| whole_language(*seed, &config));
    let mut shares = Shares::default();
    let mut complaints = Vec::new();
    for result in results {
        match result {
            Ok(found) => shares.add(&found),
            Err(Wrong::IllFormed(why) | Wrong::Disagreement(why)) => complaints.push(why),
        }
    }
    assert!(complaints.is_empty(), "{} programs fail\n{}", complaints.len(), complaints.join("\n\n"));
    let least = |calculus: &str| match calculus {
        "delta" => 0.3,
        "perturbative" => 0.05,
        _ => 0.01,
    };
    shares.assert(least);
}

fn whole_language(seed: u64, config: &Config) -> Result<Shares, Wrong> {
    let mut random = generate::Random::new(seed);
    let bytes: Vec<u8> = (0..6_000).map(|_| random.below(256) as u8).collect();
    let mut u = Unstructured::new(&bytes);
    let program = gen_program(&mut u, config).expect("generators do not run out of bytes");
    let point = gen_value(&mut u, &program.arg_type, program.decls());
    let point = point.expect("generators do not run out of bytes").expect("entries take first-order values");
    let text = format!("entry {}", point.text());
    let mut session = Session::new();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("agreement{seed}.wg"));
    std::fs::write(&path, program.text()).expect("cargo's folder for tests can be written");
    let found = session.simple(&text, Some(&path));
    let value = session.eval(&text, Some(&path), &Options::default());
    std::fs::remove_file(&path).expect("it was written");
    let mut shares = Shares::default();
    let whole = |what: &str| format!("{what}\n{text}\n{}", program.text());
    let simple = match found {
        Ok((simple, _)) => simple,
        Err(errors) if errors.iter().all(|error| ["E0982", "E0983"].contains(&error.code)) => {
            return Ok(shares);
        }
        Err(errors) => return Err(Wrong::IllFormed(whole(&complaints(&errors)))),
    };
    let expected = value.ok().and_then(|value| numbers(&show(&value.value)));
    for system in systems() {
        match system.trace(&simple, &LIMITS) {
            Err(errors) => {
                let fits = |error: &wengert_base::Diagnostic| refusals(system.name()).contains(&error.code);
                if errors.is_empty() || !errors.iter().all(fits) {
                    let what = format!("{}: {}", system.name(), complaints(&errors));
                    return Err(Wrong::Disagreement(whole(&what)));
                }
                shares.note(system.name(), &Answer::Refused);
            }
            Ok(trace) if trace.stopped.is_some() => shares.note(system.name(), &Answer::Stopped),
            Ok(trace) => {
                let mut out = Vec::new();
                if let (Some(expected), Some(result)) = (&expected, &trace.result) {
                    let read = flat(result, &mut out);
                    if read.is_err() || !close(&out, expected, 1e-7) {
                        let found = read.err().unwrap_or_else(|| format!("{out:?}"));
                        let what = format!("{}: {found} instead of {expected:?}", system.name());
                        return Err(Wrong::Disagreement(whole(&what)));
                    }
                }
                shares.note(system.name(), &Answer::Numbers(out));
            }
        }
    }
    Ok(shares)
}
