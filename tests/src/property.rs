//! Properties of generated programs: each runs over `WENGERT_PROPERTY_CASES` programs (a few hundred if it is not set), the
//! same ones every time; `WENGERT_PROPERTY_SEED` chooses others. A program that fails is made smaller before it is shown.

use crate::parallel;
use arbitrary::Unstructured;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wengert_driver::scope::Scope;
use wengert_driver::{Options, Session, show};
use wengert_gen::{Config, GenType, GenValue, Program, gen_program, gen_program_of, gen_value, minimize};

/// Programs for each property, where nothing else is asked for.
const DEFAULT_CASES: u64 = 500;

/// So long a case is made smaller.
const LONGEST: Duration = Duration::from_secs(120);

/// A program and a place to try it.
pub struct Case {
    /// Where it comes from.
    pub seed: u64,
    /// The program.
    pub program: Program,
    /// An argument of the entry.
    pub point: GenValue,
    /// A tangent at `point`.
    pub tangent: GenValue,
}

/// What a check says that did not fail.
#[derive(PartialEq)]
pub enum Verdict {
    /// The property was put to the test.
    Tested,
    /// It could not be: a number was infinite, or a limit was reached.
    Skipped,
}

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = (seed ^ setting("WENGERT_PROPERTY_SEED", 0).rotate_left(32))
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 30_000).map(|_| next()).collect()
}

/// The case with that seed; the entry's type is left to chance unless it is given.
pub fn case(seed: u64, config: &Config, entry: Option<(GenType, GenType)>) -> Case {
    let bytes = bytes(seed);
    // Inputs have bytes of their own: programs use up all they get.
    let (for_input, for_program) = bytes.split_at(128);
    let mut u = Unstructured::new(for_program);
    let program = match entry {
        Some((arg, result)) => gen_program_of(&mut u, config, arg, result),
        None => gen_program(&mut u, config),
    };
    let program = program.expect("generators do not run out of bytes");
    let mut u = Unstructured::new(for_input);
    let point = gen_value(&mut u, &program.arg_type, program.decls());
    let point = point.expect("generators do not run out of bytes").expect("entries take first-order values");
    let mut step = 0.0;
    let tangent = point.map_reals(&mut |_| {
        step += 1.0;
        f64::sin(step * 1.7) + 0.25
    });
    Case { seed, program, point, tangent }
}

/// The smallest case found that `fails`, which `case` does: its program and then its point are made smaller, edit by edit.
pub fn smallest(case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    let begin = Instant::now();
    let safely = |case: &Case| {
        begin.elapsed() < LONGEST && catch_unwind(AssertUnwindSafe(|| fails(case))).unwrap_or(true)
    };
    let Case { seed, program, point, tangent } = case;
    let at = |program: &Program, point: &GenValue, tangent: &GenValue| Case {
        seed,
        program: program.clone(),
        point: point.clone(),
        tangent: tangent.clone(),
    };
    let program = minimize(program, |smaller| safely(&at(smaller, &point, &tangent)));
    let (mut point, mut tangent) = (point, tangent);
    let simple = GenValue::simplest(&program.arg_type, program.decls());
    // The simplest of all, or numbers that are easier to read.
    for other in [simple.clone(), point.map_reals(&mut |x| (2.0 * x).round() / 2.0 + 0.5)] {
        let pairs = [(&other, &other), (&other, &tangent), (&point, &other)];
        let found = pairs.into_iter().find(|(own, along)| safely(&at(&program, own, along)));
        if let Some((own, along)) = found.map(|(own, along)| (own.clone(), along.clone())) {
            (point, tangent) = (own, along);
        }
    }
    Case { seed, program, point, tangent }
}

/// Runs a property over many programs, and fails with the smallest failing one that it can find.
pub fn property(
    config: &Config,
    entry: Option<(GenType, GenType)>,
    share: u64,
    check: impl Fn(&Case) -> Result<Verdict, String> + Sync,
) {
    let safely = |case: &Case| {
        catch_unwind(AssertUnwindSafe(|| check(case))).unwrap_or_else(|_| Err("a panic".to_string()))
    };
    let tested = AtomicUsize::new(0);
    let seeds: Vec<u64> = (0..setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES).div_ceil(share)).collect();
    let failures = parallel::map(&seeds, |seed| {
        let case = case(*seed, config, entry.clone());
        match safely(&case) {
            Ok(Verdict::Tested) => {
                tested.fetch_add(1, Ordering::Relaxed);
                None
            }
            Ok(Verdict::Skipped) => None,
            Err(_) => Some(*seed),
        }
    });
    let failed: Vec<u64> = failures.into_iter().flatten().collect();
    if let Some(seed) = failed.first() {
        let smallest = smallest(case(*seed, config, entry), |case| safely(case).is_err());
        let why = safely(&smallest).err().unwrap_or_default();
        panic!(
            "{why}\nat {}\nalong {}\nin\n{}\n{} of {} programs fail, with the seeds {failed:?}",
            smallest.point.text(),
            smallest.tangent.text(),
            smallest.program.text(),
            failed.len(),
            seeds.len(),
        );
    }
    let tested = tested.into_inner();
    assert!(tested * 2 >= seeds.len(), "only {tested} of {} programs were put to the test", seeds.len());
}

/// A program that has been checked.
pub struct Loaded {
    session: Session,
    scope: Scope,
}

/// Limits far above what any generated program should need.
pub fn limits() -> Options {
    Options {
        max_steps: Some(20_000_000),
        max_memory: Some(1 << 30),
        timeout: Some(Duration::from_secs(20)),
        ..Options::default()
    }
}

/// Checks a program, with a few definitions added.
pub fn load(case: &Case, more: &str) -> Result<Loaded, String> {
    let mut session = Session::new();
    let text = format!("{}\n{more}", case.program.text());
    let report = session.check_text("generated.wg", &text, Path::new("."));
    if report.has_errors() {
        return Err(complaints(&report.diagnostics));
    }
    let scope = Scope::of_file(&report.modules);
    Ok(Loaded { session, scope })
}

/// Diagnostics in one line each.
pub fn complaints(diagnostics: &[wengert_base::Diagnostic]) -> String {
    let lines = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    lines.map(|diagnostic| format!("{}: {}\n", diagnostic.code, diagnostic.message)).collect()
}

impl Loaded {
    /// The value of an expression, as printed; nothing if a limit was reached.
    pub fn eval(&mut self, text: &str) -> Result<Option<String>, String> {
        match self.session.eval_in(&self.scope, "property.wg", text, &limits()) {
            Ok(evaluated) => Ok(Some(show(&evaluated.value))),
            Err(diagnostics) => {
                let limit = |code: &str| matches!(code, "E0715" | "E0716" | "E0717");
                if diagnostics.iter().any(|diagnostic| limit(diagnostic.code)) {
                    return Ok(None);
                }
                Err(format!("{text}\n{}", complaints(&diagnostics)))
            }
        }
    }

    /// The numbers in a tuple of arrays of `Real`s; nothing if one of them is not finite or beyond `bound`.
    pub fn numbers(&mut self, text: &str, bound: f64) -> Result<Option<Vec<Vec<f64>>>, String> {
        let Some(shown) = self.eval(text)? else { return Ok(None) };
        let groups = shown.split('[').skip(1).map(|group| group.split(']').next().unwrap_or(""));
        let number =
            |text: &str| text.trim().parse::<f64>().map_err(|_| format!("`{shown}` is no tuple of arrays"));
        let groups: Vec<Vec<f64>> = groups
            .map(|group| group.split(',').filter(|item| !item.trim().is_empty()).map(number).collect())
            .collect::<Result<_, _>>()?;
        let fine = groups.iter().flatten().all(|x| x.is_finite() && x.abs() <= bound);
        Ok(fine.then_some(groups))
    }
}
