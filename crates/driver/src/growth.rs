//! The papers' claims about cost, measured: steps, sizes and times of reductions against the size n of the program, for
//! families of programs, in each calculus and in each way that its paper compares with its own, with the growth order
//! that fits.
//!
//! Steps and sizes are the same every time; times are not, so they can be left out. A series ends where the calculus
//! refuses the program or meets a limit, so a calculus that blows up gives a short series and not a long wait; the
//! limits are counts too, so that a series ends at the same n every time.

pub mod table;

use crate::session::Session;
use std::time::{Duration, Instant};
use wengert_base::Diagnostic;
use wengert_calculi::kit::fit::{Growth, fit};
use wengert_calculi::kit::plot::{Series, plot};
use wengert_calculi::kit::simple::Program;
use wengert_calculi::kit::system::{System, Variant};
use wengert_calculi::kit::trace::{Limits, Stopped, Trace};

/// A family of programs.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub what: &'static str,
    /// The sizes that are tried.
    pub sizes: &'static [usize],
    program: fn(usize) -> String,
}

impl Family {
    /// The program of size `n`.
    pub fn program(&self, n: usize) -> String {
        (self.program)(n)
    }
}

/// The families that are measured.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "doubling",
        what: "n nested lets, each twice the one before",
        sizes: &DENSE,
        program: doubling,
    },
    Family {
        name: "product",
        what: "the product of n functions of one number",
        sizes: &SIZES,
        program: product,
    },
    Family { name: "inputs", what: "a sum of n products, of n numbers", sizes: &INPUTS, program: inputs },
    Family {
        name: "network",
        what: "a recurrent network over a list of n numbers",
        sizes: &LENGTHS,
        program: network,
    },
    Family {
        name: "squares",
        what: "a fold over n numbers that uses its state twice",
        sizes: &SHORT,
        program: squares,
    },
    Family {
        name: "composition",
        what: "a fold over n numbers that builds a function",
        sizes: &FUNCTIONS,
        program: composition,
    },
];

/// From two inputs on, they are a pair.
const INPUTS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
const SIZES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const LENGTHS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Where some calculus is exponential, a few more small ones.
const DENSE: [usize; 10] = [2, 4, 6, 8, 10, 12, 16, 32, 64, 128];
/// Where some calculus is exponential.
const SHORT: [usize; 8] = [2, 4, 6, 8, 10, 12, 14, 32];
/// Where some calculus is cubic.
const FUNCTIONS: [usize; 9] = [2, 4, 6, 8, 10, 12, 16, 24, 32];
/// No program may take more steps or a larger term.
pub const LIMITS: Limits = Limits { steps: 300_000, size: 200_000, recorded: 0 };
/// A series ends after a program whose last term is longer than this, in bytes.
const LONG: usize = 1_000_000;
/// A series ends after a program that takes longer; none should.
const PATIENCE: Duration = Duration::from_secs(10);
/// A program is run again, to know its time better, until it has run so often or so long.
const RUNS: usize = 5;
const LONG_ENOUGH: Duration = Duration::from_millis(40);

fn doubling(n: usize) -> String {
    let lets: String = (1..=n).map(|i| format!("let x{i} = x{} + x{} in ", i - 1, i - 1)).collect();
    format!("grad (\\x0 -> {lets}x{n}) 1.0")
}

fn product(n: usize) -> String {
    let factors: Vec<&str> = ["sin x", "cos x", "exp x"].into_iter().cycle().take(n).collect();
    format!("grad (\\x -> {}) 0.5", factors.join(" * "))
}

fn inputs(n: usize) -> String {
    let names: Vec<String> = (1..=n).map(|i| format!("x{i}")).collect();
    let products: Vec<String> = (1..=n).map(|i| format!("x{i} * x{}", i % n + 1)).collect();
    let point: Vec<String> = (0..n).map(|i| format!("0.{}", i % 9 + 1)).collect();
    format!("grad (\\{} -> {}) {}", paired(&names), products.join(" + "), paired(&point))
}

/// Pairs of pairs, so that no item lies deep.
fn paired(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        _ => {
            let (left, right) = items.split_at(items.len() / 2);
            format!("({}, {})", paired(left), paired(right))
        }
    }
}

fn network(n: usize) -> String {
    format!("grad (\\(w, u) -> fold (\\h x -> tanh (w * h + u * x)) 0.0 [{}]) (0.5, 0.25)", numbers(n))
}

fn squares(n: usize) -> String {
    format!("grad (\\w -> fold (\\h x -> w * h * h + x) 0.0 [{}]) 0.5", numbers(n))
}

fn composition(n: usize) -> String {
    format!("grad (\\x -> (fold (\\k a -> \\y -> k (sin (a * y))) (\\y -> y) [{}]) x) 0.5", numbers(n))
}

fn numbers(n: usize) -> String {
    (0..n).map(|i| format!("0.{}", i % 9 + 1)).collect::<Vec<_>>().join(", ")
}

/// A way to compute: a calculus, or one of its variants.
#[derive(Clone, Copy)]
pub struct Way {
    /// The calculus.
    pub system: &'static dyn System,
    /// The variant, if it is not the calculus's own way.
    pub variant: Option<&'static Variant>,
}

impl Way {
    /// `delta`, `delta D1`
    pub fn name(&self) -> String {
        match self.variant {
            None => self.system.name().to_string(),
            Some(variant) => format!("{} {}", self.system.name(), variant.name),
        }
    }

    fn trace(&self, program: &Program) -> Result<Trace, Vec<Diagnostic>> {
        match self.variant {
            None => self.system.trace(program, &LIMITS),
            Some(variant) => (variant.trace)(program, &LIMITS),
        }
    }
}

/// Every way of every calculus.
pub fn ways(systems: &[&'static dyn System]) -> Vec<Way> {
    let own = |system: &'static dyn System| {
        let variants = system.variants().iter().map(move |variant| Way { system, variant: Some(variant) });
        std::iter::once(Way { system, variant: None }).chain(variants)
    };
    systems.iter().copied().flat_map(own).collect()
}

/// What was counted for one family in one way.
pub struct Measured {
    /// The family.
    pub family: &'static Family,
    /// The way.
    pub way: Way,
    /// Its place among all ways, whatever is left out.
    pub look: usize,
    /// For each n that was reached.
    pub points: Vec<Point>,
    /// Why there are no more points, if the last size was not reached.
    pub ended: Option<Ended>,
}

/// Where and why a series ended.
pub struct Ended {
    /// The first size that was not reached.
    pub n: usize,
    /// Why.
    pub why: String,
    /// Whether the calculus has no such programs.
    pub refused: bool,
}

/// One program in one calculus.
pub struct Point {
    /// The size of the program.
    pub n: usize,
    /// Counts by name: `steps`, `max_size`, and what else the calculus counts.
    pub counts: Vec<(&'static str, u64)>,
    /// How long it took, the median of some runs; if times are wanted.
    pub time: Option<Duration>,
}

impl Measured {
    /// The names of all counts.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (name, _) in self.points.iter().flat_map(|point| &point.counts) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    }

    /// The series of a count.
    pub fn series(&self, name: &str) -> Vec<(f64, f64)> {
        let find =
            |point: &Point| point.counts.iter().find(|(other, _)| *other == name).map(|(_, count)| *count);
        self.points.iter().filter_map(|point| Some((point.n as f64, find(point)? as f64))).collect()
    }

    /// The series of times, in seconds.
    pub fn times(&self) -> Vec<(f64, f64)> {
        self.points.iter().filter_map(|point| Some((point.n as f64, point.time?.as_secs_f64()))).collect()
    }

    /// The growth order of a count.
    pub fn order(&self, name: &str) -> Option<Growth> {
        fit(&self.series(name))
    }
}

/// What to measure.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Only this family.
    pub family: Option<&'a str>,
    /// Only this calculus.
    pub calculus: Option<&'a str>,
    /// Times too.
    pub times: bool,
}

/// Measures what is wanted. Without times, families are measured side by side.
pub fn measure(systems: &[&'static dyn System], wanted: Wanted<'_>) -> Vec<Measured> {
    let ways: Vec<(usize, Way)> = ways(systems)
        .into_iter()
        .enumerate()
        .filter(|(_, way)| wanted.calculus.is_none_or(|name| name == way.system.name()))
        .collect();
    let families: Vec<&'static Family> =
        FAMILIES.iter().filter(|family| wanted.family.is_none_or(|name| name == family.name)).collect();
    let one = |family: &'static Family| measure_family(family, &ways, wanted.times);
    if wanted.times {
        return families.into_iter().flat_map(one).collect();
    }
    std::thread::scope(|scope| {
        let running: Vec<_> = families.into_iter().map(|family| scope.spawn(move || one(family))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn measure_family(family: &'static Family, ways: &[(usize, Way)], times: bool) -> Vec<Measured> {
    let mut session = Session::new();
    let programs: Vec<(usize, Result<Program, Vec<Diagnostic>>)> = family
        .sizes
        .iter()
        .map(|n| (*n, session.simple(&family.program(*n), None).map(|(program, _)| program)))
        .collect();
    ways.iter()
        .map(|(look, way)| {
            let mut measured = Measured { family, way: *way, look: *look, points: Vec::new(), ended: None };
            for (n, program) in &programs {
                let counted = match program {
                    Ok(program) => point(*n, *way, program, times),
                    Err(errors) => Err(refused(*n, errors)),
                };
                match counted {
                    Ok(point) => measured.points.push(point),
                    Err(ended) => {
                        measured.ended = Some(ended);
                        break;
                    }
                }
            }
            measured
        })
        .collect()
}

fn refused(n: usize, errors: &[Diagnostic]) -> Ended {
    Ended { n, why: errors.first().map(|error| error.message.clone()).unwrap_or_default(), refused: true }
}

/// Runs one program.
fn point(n: usize, way: Way, program: &Program, times: bool) -> Result<Point, Ended> {
    let start = Instant::now();
    let trace = way.trace(program).map_err(|errors| refused(n, &errors))?;
    let first = start.elapsed();
    let why = match trace.stopped {
        Some(Stopped::Steps) => Some(format!("more than {} steps", LIMITS.steps)),
        Some(Stopped::Size) => Some(format!("a term of more than {} nodes", LIMITS.size)),
        Some(Stopped::Work) => Some("too many steps on large terms".to_string()),
        None if trace.end.len() > LONG => Some(format!("a last term of more than {LONG} bytes")),
        None if first > PATIENCE => Some(format!("more than {} seconds", PATIENCE.as_secs())),
        None => None,
    };
    if let Some(why) = why {
        return Err(Ended { n, why, refused: false });
    }
    let mut counts = vec![("steps", trace.counts.steps), ("max_size", trace.counts.max_size)];
    counts.extend(trace.counts.more.iter().map(|(name, count)| (*name, *count)));
    let time = times.then(|| median(first, || way.trace(program).is_ok()));
    Ok(Point { n, counts, time })
}

/// The median of the time of the first run and of some more.
fn median(first: Duration, run: impl Fn() -> bool) -> Duration {
    let mut all = vec![first];
    while all.len() < RUNS && all.iter().sum::<Duration>() < LONG_ENOUGH {
        let start = Instant::now();
        if !run() {
            break;
        }
        all.push(start.elapsed());
    }
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or(first)
}

/// Plots for each family: the name of a file and SVG text.
pub fn plots(all: &[Measured]) -> Vec<(String, String)> {
    let mut plots = Vec::new();
    let families = FAMILIES.iter().filter(|family| all.iter().any(|other| other.family.name == family.name));
    for family in families {
        let of = |axis: &str, points: &dyn Fn(&Measured) -> Vec<(f64, f64)>| {
            let series: Vec<Series> = all
                .iter()
                .filter(|measured| measured.family.name == family.name && !measured.points.is_empty())
                .map(|measured| Series {
                    name: legend(measured, fit(&points(measured))),
                    points: points(measured),
                    look: measured.look,
                })
                .collect();
            plot(&format!("{}: {}", family.name, family.what), "n", axis, &series)
        };
        plots.push((format!("{}-steps.svg", family.name), of("steps", &|m| m.series("steps"))));
        plots.push((
            format!("{}-size.svg", family.name),
            of("nodes of the largest term", &|m| m.series("max_size")),
        ));
        if all.iter().any(|measured| !measured.times().is_empty()) {
            let milliseconds =
                |m: &Measured| m.times().into_iter().map(|(n, time)| (n, 1000.0 * time)).collect();
            plots.push((format!("{}-time.svg", family.name), of("time in ms", &milliseconds)));
        }
    }
    plots
}

/// `delta D1: 2ⁿ, to n = 12`
fn legend(measured: &Measured, order: Option<Growth>) -> String {
    let mut text = measured.way.name();
    if let Some(order) = order {
        text.push_str(&format!(": {order}"));
    }
    if let (Some(last), Some(_)) = (measured.points.last(), &measured.ended) {
        text.push_str(&format!(", to n = {}", last.n));
    }
    text
}
