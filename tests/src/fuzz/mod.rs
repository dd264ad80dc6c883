//! Fuzz targets: the parser with its formatter, the checker, the interpreter.
//!
//! [`fuzz`] makes inputs from a seed, one after the other, and holds each against what the target promises: no panic, no
//! hang, no overflow of a small stack, messages that lie inside the text, and what the target's own module lists. A
//! failing input is made small, written to a file, and shown.
//!
//! What kills the process (an overflow of the stack) or hangs it cannot be made small here, so the input
//! being tried is in a file before it is tried, and `watch` ends a process that takes too long over it.

pub mod checker;
pub mod interp;
mod judge;
mod minimize;
pub mod parser;
mod random;
mod source;

pub use random::Random;
pub use source::Corpus;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The stack on which inputs are tried: what a thread of a program that embeds the library would have.
const STACK: usize = 2 << 20;

/// The exit status of a process that hung.
pub const HUNG: i32 = 3;

/// What is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The parser and the formatter.
    Parser,
    /// The checker, elaboration and verification.
    Checker,
    /// The interpreter, derivatives and JSON included.
    Interp,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 3] = [Target::Parser, Target::Checker, Target::Interp];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Parser => "parser",
            Target::Checker => "checker",
            Target::Interp => "interp",
        }
    }

    /// The target of that name.
    pub fn by_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// How long one input may take.
    fn patience(self) -> Duration {
        match self {
            Target::Parser | Target::Checker => Duration::from_secs(10),
            Target::Interp => Duration::from_secs(20),
        }
    }

    fn input(self, corpus: &Corpus, random: &mut Random) -> String {
        match self {
            Target::Parser => parser::input(corpus, random),
            Target::Checker => checker::input(corpus, random),
            Target::Interp => interp::input(corpus, random),
        }
    }

    /// Holds one input against the promises of the target.
    pub fn check(self, input: &str) -> Result<(), String> {
        match self {
            Target::Parser => parser::check(input),
            Target::Checker => checker::check(input),
            Target::Interp => interp::check(input),
        }
    }
}

/// The file that holds the input being tried.
pub fn current_file(target: Target) -> PathBuf {
    let folder = crate::command::build_folder().join("wengert-fuzz");
    // If the folder cannot be made, writing the input will say so.
    let _ = std::fs::create_dir_all(&folder);
    folder.join(format!("{}.wg", target.name()))
}

/// Tries inputs for `time`; gives how many, or a description of the first failure.
pub fn fuzz(target: Target, time: Duration, seed: u64) -> Result<u64, String> {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || fuzz_here(target, time, seed));
    let worker = worker.map_err(|error| format!("cannot start a thread: {error}"))?;
    worker.join().unwrap_or_else(|_| Err("the fuzzer itself panicked".into()))
}

/// Tries one input, on a stack of the same size.
pub fn try_one(target: Target, input: String) -> Result<(), String> {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || target.check(&input));
    let worker = worker.map_err(|error| format!("cannot start a thread: {error}"))?;
    worker.join().unwrap_or_else(|_| Err("it panicked".into()))
}

fn fuzz_here(target: Target, time: Duration, seed: u64) -> Result<u64, String> {
    let corpus = Corpus::of_the_project();
    let panics = record_panics();
    let watched = watch(target);
    let file = current_file(target);
    let mut random = Random::new(seed);
    let start = Instant::now();
    let mut tried = 0;
    while start.elapsed() < time {
        let input = target.input(&corpus, &mut random);
        std::fs::write(&file, &input).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        set(&watched, Some(Instant::now()));
        let outcome = attempt(target, &input, &panics);
        set(&watched, None);
        if let Err(complaint) = outcome {
            return Err(report(target, seed, &input, &complaint, &panics));
        }
        tried += 1;
    }
    Ok(tried)
}

/// Tries one input; a panic is a complaint that begins with the place of the panic.
fn attempt(target: Target, input: &str, panics: &Mutex<String>) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(|| target.check(input))) {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("panic at {}", panics.lock().unwrap_or_else(|e| e.into_inner()))),
    }
}

/// Makes the input small and says everything about it. Two failures are the same if their first words are.
fn report(target: Target, seed: u64, input: &str, complaint: &str, panics: &Mutex<String>) -> String {
    let kind = |text: &str| text.split(['\n', ':']).next().unwrap_or_default().to_string();
    let wanted = kind(complaint);
    let start = Instant::now();
    let small = minimize::minimize(input, &mut |text| {
        start.elapsed() < Duration::from_secs(60)
            && attempt(target, text, panics).is_err_and(|complaint| kind(&complaint) == wanted)
    });
    let file = current_file(target).with_extension("failed.wg");
    let saved = std::fs::write(&file, &small).map_or_else(|e| e.to_string(), |()| file.display().to_string());
    let complaint = attempt(target, &small, panics).err().unwrap_or_else(|| complaint.to_string());
    format!("{} fails (seed {seed}, saved as {saved})\n{complaint}\n--- input\n{small}\n---", target.name())
}

/// Panics are expected to be reported by us, with the input; their own text goes to this string.
fn record_panics() -> Arc<Mutex<String>> {
    let last = Arc::new(Mutex::new(String::new()));
    let hook = Arc::clone(&last);
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(mut last) = hook.lock() {
            *last = info.to_string();
        }
    }));
    last
}

type Watched = Arc<Mutex<Option<Instant>>>;

fn set(watched: &Watched, value: Option<Instant>) {
    *watched.lock().unwrap_or_else(|e| e.into_inner()) = value;
}

/// Ends the process with [`HUNG`] when one input takes too long.
fn watch(target: Target) -> Watched {
    let watched: Watched = Arc::default();
    let seen = Arc::clone(&watched);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let started = *seen.lock().unwrap_or_else(|e| e.into_inner());
            if started.is_some_and(|since| since.elapsed() > target.patience()) {
                std::process::exit(HUNG);
            }
        }
    });
    watched
}
