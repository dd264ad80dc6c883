//! The kernels of `bench/kernels`: our programs beside the same by hand in C++, in one run.
//!
//! `hand.cpp` is compiled by the system's compiler, then each kernel is measured in turn by hand, in machine code and through
//! C. What they give must agree. The [`page`] gets the table, [`latency`] is the time until a program of many lines runs.

mod latency;
mod page;
pub(crate) mod threads;

use crate::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use wengert_driver::prepared::Runs;
use wengert_driver::{Engine, Options};

/// A kernel: the name of its file, how large it is measured, and what it is.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) what: &'static str,
}

/// In the order of the page.
pub(crate) const KERNELS: [Kernel; 17] = [
    Kernel { name: "chain", size: 1_000_000, what: "exp, log, tanh, sin of each element, added up" },
    Kernel { name: "logsumexp", size: 1_000_000, what: "of rows of 1000" },
    Kernel { name: "squares", size: 1_000_000, what: "sum of squares" },
    Kernel { name: "dot", size: 1_000_000, what: "inner product" },
    Kernel { name: "saxpy", size: 1_000_000, what: "a multiple of a vector plus a vector" },
    Kernel { name: "matmul", size: 256, what: "matrix product" },
    Kernel { name: "lstm", size: 1024, what: "32 steps of a layer" },
    Kernel { name: "reprojection", size: 100_000, what: "many small gradients" },
    Kernel { name: "nbody", size: 512, what: "all pairs of bodies" },
    Kernel { name: "branch", size: 1_000_000, what: "a loop over one number, with a branch" },
    Kernel { name: "newton", size: 10_000, what: "a loop until it converges" },
    Kernel { name: "recursion", size: 1_000_000, what: "calls a million deep" },
    Kernel { name: "tree", size: 100_000, what: "a recursive sum over a tree" },
    Kernel { name: "list", size: 1_000_000, what: "a fold over a linked list" },
    Kernel { name: "closures", size: 100_000, what: "an array of functions, composed" },
    Kernel { name: "hvp", size: 1_000_000, what: "Rosenbrock's function; Hessian times vector" },
    Kernel { name: "net", size: 256, what: "a small net; Hessian times vector" },
];

/// Those of long arrays once more, so short that a core's own cache holds all that is read and written: what they cost when they do not
/// wait for memory.
pub(crate) const SHORT: [Kernel; 6] = [
    Kernel { name: "chain", size: 10_000, what: "" },
    Kernel { name: "logsumexp", size: 10_000, what: "" },
    Kernel { name: "squares", size: 10_000, what: "" },
    Kernel { name: "saxpy", size: 10_000, what: "" },
    Kernel { name: "reprojection", size: 1_000, what: "" },
    Kernel { name: "hvp", size: 10_000, what: "" },
];

/// What is called of each.
const FUNCTIONS: [&str; 2] = ["primal", "gradient"];

/// Who is measured: the name on the page, and the engine unless it is C++.
pub(crate) const TOOLS: [(&str, Option<Engine>); 3] =
    [("C++", None), ("wengert-c", Some(Engine::C)), ("wengert", Some(Engine::Native))];

/// What a function took and gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Time {
    /// Nanoseconds, the least of the medians of all rounds.
    pub(crate) median: f64,
    /// Milliseconds until it could be called.
    pub(crate) compile: Option<f64>,
    /// A few numbers in which every number of the result shows.
    result: Vec<f64>,
}

/// The times of a kernel, by tool and function. Nothing where there is no compiler.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) times: [[Option<Time>; 2]; 3],
    /// What went wrong.
    pub(crate) complaints: Vec<String>,
}

/// Everything that was measured.
pub(crate) struct Measured {
    pub(crate) rows: Vec<(&'static Kernel, Row)>,
    /// The [`SHORT`] ones.
    pub(crate) short: Vec<(&'static Kernel, Row)>,
    pub(crate) latency: latency::Latency,
    /// The compiler of `hand.cpp`, or why there is none.
    pub(crate) compiler: Result<String, String>,
}

/// How it is measured.
pub(crate) struct Plan {
    /// Where the programs and the page are.
    pub(crate) folder: PathBuf,
    /// The kernels; all, if none is named.
    pub(crate) names: Vec<String>,
    /// How often each is measured: the tools take turns.
    pub(crate) rounds: usize,
    /// How long each function is repeated in each round.
    pub(crate) seconds: f64,
    /// What our evaluations may use.
    pub(crate) memory: u64,
}

/// Measures the kernels, prints a line for each function, and writes the page unless only some kernels were asked for.
/// Whether all agree.
pub(crate) fn measure(plan: &Plan) -> io::Result<bool> {
    let binary = std::env::temp_dir().join(format!("wengert-kernels-{}", std::process::id()));
    let compiler = compile_by_hand(&plan.folder.join("hand.cpp"), &binary);
    let mut output = io::stdout().lock();
    if let Err(missing) = &compiler {
        writeln!(output, "{missing}")?;
    }
    let chosen =
        |kernel: &&Kernel| plan.names.is_empty() || plan.names.iter().any(|name| name == kernel.name);
    let mut all = |kernels: &'static [Kernel]| {
        let mut rows = Vec::new();
        for kernel in kernels.iter().filter(chosen) {
            let row = row(kernel, plan, compiler.is_ok().then_some(binary.as_path()));
            write!(output, "{}", page::lines(kernel, &row))?;
            output.flush()?;
            rows.push((kernel, row));
        }
        Ok::<_, io::Error>(rows)
    };
    let (rows, short) = (all(&KERNELS)?, all(&SHORT)?);
    if compiler.is_ok() {
        std::fs::remove_file(&binary)?;
    }
    let agree = rows.iter().chain(&short).all(|(_, row)| row.complaints.is_empty());
    if plan.names.is_empty() {
        let latency = latency::measure(plan.rounds.max(3)).map_err(io::Error::other)?;
        page::write(&plan.folder, &Measured { rows, short, latency, compiler })?;
    }
    Ok(agree)
}

/// Compiles a C++ file; the compiler's name and options, or what is missing.
fn compile_by_hand(source: &Path, binary: &Path) -> Result<String, String> {
    let named = std::env::var("CXX").ok().filter(|named| !named.is_empty());
    let candidates =
        named.map_or_else(|| ["c++", "g++", "clang++"].map(String::from).to_vec(), |one| vec![one]);
    for compiler in candidates {
        let options = ["-std=c++17", "-O3", "-march=native", "-pthread"];
        let Ok(ran) = Command::new(&compiler).args(options).arg(source).arg("-o").arg(binary).output() else {
            continue;
        };
        if !ran.status.success() {
            return Err(format!(
                "{compiler} does not compile hand.cpp: {}",
                String::from_utf8_lossy(&ran.stderr)
            ));
        }
        return Ok(format!("{} {}", page::first_line(&compiler, &["--version"]), options.join(" ")));
    }
    Err("There is no C++ compiler (c++, g++ or clang++, or what CXX names): nothing is measured by hand."
        .into())
}

/// Measures a kernel by all tools, taking turns.
fn row(kernel: &Kernel, plan: &Plan, binary: Option<&Path>) -> Row {
    let mut row = Row::default();
    for _ in 0..plan.rounds {
        for (place, (name, engine)) in TOOLS.iter().enumerate() {
            let times = match (engine, binary) {
                (None, None) => continue,
                (None, Some(binary)) => by_hand(binary, kernel, plan),
                (Some(engine), _) if engine.require().is_err() => continue,
                (Some(engine), _) => by_us(&options(*engine, plan), kernel, plan),
            };
            let Some(known) = row.times.get_mut(place) else { continue };
            match times {
                Ok(times) => known.iter_mut().zip(times).for_each(|(known, time)| known.merge(time)),
                Err(error) => row.complaints.push(format!("{name}: {}", error.trim())),
            }
        }
    }
    for (function, what) in FUNCTIONS.iter().enumerate() {
        let results = row.times.iter().zip(TOOLS).filter_map(|(times, (name, _))| {
            times.get(function).and_then(Option::as_ref).map(|time| (name, &time.result))
        });
        let mut results = results;
        let Some((first, expected)) = results.next() else { continue };
        let wrong = results.filter(|(_, result)| !agree(expected, result));
        let wrong = wrong
            .map(|(name, result)| format!("{what}: {first} gives {expected:?}, {name} gives {result:?}"));
        row.complaints.extend(wrong.collect::<Vec<_>>());
    }
    row.complaints.dedup();
    row
}

/// Keeps the shorter of two times.
trait Merge {
    fn merge(&mut self, other: Time);
}

impl Merge for Option<Time> {
    fn merge(&mut self, other: Time) {
        match self {
            // What was compiled first was compiled anew.
            Some(known) => known.median = known.median.min(other.median),
            None => *self = Some(other),
        }
    }
}

/// Whether results are the same but for rounding: sums of a million numbers differ with their order.
fn agree(expected: &[f64], other: &[f64]) -> bool {
    let size = expected.iter().fold(1.0f64, |size, number| size.max(number.abs()).min(1e6));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-8 * a.abs().max(b.abs()).max(1e-3 * size);
    expected.len() == other.len() && expected.iter().zip(other).all(near)
}

fn by_hand(binary: &Path, kernel: &Kernel, plan: &Plan) -> Result<[Time; 2], String> {
    let arguments = [kernel.name.to_string(), kernel.size.to_string(), "3".into(), plan.seconds.to_string()];
    let ran = Command::new(binary).args(arguments).output().map_err(|error| error.to_string())?;
    if !ran.status.success() {
        return Err(format!("{}: {}", ran.status, String::from_utf8_lossy(&ran.stderr)));
    }
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let time = |function: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(function));
        let numbers: Option<Vec<f64>> =
            line.map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect());
        match numbers.as_deref() {
            Some([median, result @ ..]) => {
                Ok(Time { median: *median, compile: None, result: result.to_vec() })
            }
            _ => Err(format!("`{text}` lacks `{function}`")),
        }
    };
    let [primal, gradient] = FUNCTIONS;
    Ok([time(primal)?, time(gradient)?])
}

fn options(engine: Engine, plan: &Plan) -> Options {
    Options { engine, max_memory: Some(plan.memory), ..Options::default() }
}

fn by_us(options: &Options, kernel: &Kernel, plan: &Plan) -> Result<[Time; 2], String> {
    let mut suite = Suite::new(plan.folder.clone(), options.clone());
    let runs = Runs { count: 3, time: Duration::from_secs_f64(plan.seconds) };
    let size = json!([kernel.size]).to_string();
    let mut time = |function: &str| {
        // As by hand: a call that does not count, then those that do.
        let warm = suite.evaluate(kernel.name, function, &size, Runs { count: 1, time: Duration::ZERO })?;
        let outcome = suite.evaluate(kernel.name, function, &size, runs)?;
        Ok::<_, String>(Time {
            median: median(&outcome.evaluations).as_nanos() as f64,
            compile: warm.compilation.map(|time| time.as_secs_f64() * 1e3),
            result: numbers(&outcome)?,
        })
    };
    let [primal, gradient] = FUNCTIONS;
    Ok([time(primal)?, time(gradient)?])
}

pub(super) fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// All numbers of an output.
fn numbers(outcome: &Outcome) -> Result<Vec<f64>, String> {
    let value: Value = serde_json::from_str(&outcome.output).map_err(|error| error.to_string())?;
    let all = value.as_array().cloned().unwrap_or_else(|| vec![value]);
    Ok(all.iter().filter_map(Value::as_f64).collect())
}

#[cfg(test)]
mod tests;
