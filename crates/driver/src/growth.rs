//! The papers' claims about cost, measured: steps and sizes of reductions against the size n of the program, for families
//! of programs, in each calculus, with the growth order that fits the counts.
//!
//! A series ends where the calculus refuses the program, meets a limit, or takes long, so a calculus that blows up gives a
//! short series and not a long wait.

use crate::session::Session;
use std::fmt::Write;
use std::time::{Duration, Instant};
use wengert_calculi::kit::fit::{Growth, fit};
use wengert_calculi::kit::json;
use wengert_calculi::kit::svg::{Series, plot};
use wengert_calculi::kit::system::System;
use wengert_calculi::kit::trace::Limits;

/// A family of programs.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub what: &'static str,
    /// The sizes that are tried.
    sizes: &'static [usize],
    program: fn(usize) -> String,
}

/// The families that are measured.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "doubling",
        what: "n nested lets, each twice the one before",
        sizes: &SMALL,
        program: doubling,
    },
    Family {
        name: "product",
        what: "the product of n functions of one number",
        sizes: &SIZES,
        program: product,
    },
    Family {
        name: "network",
        what: "a recurrent network over a list of n numbers",
        sizes: &SIZES,
        program: network,
    },
    Family {
        name: "composition",
        what: "a fold over n numbers that builds a function",
        sizes: &SMALL,
        program: composition,
    },
];

const SIZES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Where some calculus is exponential.
const SMALL: [usize; 7] = [2, 4, 6, 8, 10, 12, 14];
/// A series ends after a program that takes longer.
const PATIENCE: Duration = Duration::from_millis(400);
/// No program may take more steps or a larger term.
const LIMITS: Limits = Limits { steps: 300_000, size: 200_000, recorded: 0 };
/// A series ends after a program whose last term is longer than this, in bytes.
const LONG: usize = 200_000;

fn doubling(n: usize) -> String {
    let lets: String = (1..=n).map(|i| format!("let x{i} = x{} + x{} in ", i - 1, i - 1)).collect();
    format!("grad (\\x0 -> {lets}x{n}) 1.0")
}

fn product(n: usize) -> String {
    let factors: Vec<&str> = ["sin x", "cos x", "exp x"].into_iter().cycle().take(n).collect();
    format!("grad (\\x -> {}) 0.5", factors.join(" * "))
}

fn network(n: usize) -> String {
    let inputs: Vec<String> = (0..n).map(|i| format!("0.{}", i % 9 + 1)).collect();
    format!("grad (\\(w, u) -> fold (\\h x -> tanh (w * h + u * x)) 0.0 [{}]) (0.5, 0.25)", inputs.join(", "))
}

fn composition(n: usize) -> String {
    let inputs: Vec<String> = (0..n).map(|i| format!("0.{}", i % 9 + 1)).collect();
    format!("grad (\\x -> (fold (\\k a -> \\y -> k (sin (a * y))) (\\y -> y) [{}]) x) 0.5", inputs.join(", "))
}

/// What was counted for one family in one calculus.
pub struct Measured {
    /// The family.
    pub family: &'static str,
    /// The calculus.
    pub calculus: &'static str,
    /// For each n that was reached.
    pub points: Vec<Point>,
    /// Why there are no more points, if the last size was not reached.
    pub ended: Option<String>,
}

/// One program in one calculus.
pub struct Point {
    /// The size of the program.
    pub n: usize,
    /// Counts by name: `steps`, `max_size`, and what else the calculus counts.
    pub counts: Vec<(&'static str, u64)>,
    /// How long it took.
    pub time: Duration,
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

    /// The growth order of a count.
    pub fn order(&self, name: &str) -> Option<Growth> {
        fit(&self.series(name))
    }
}

/// Measures everything.
pub fn measure(systems: &[&'static dyn System]) -> Vec<Measured> {
    let mut all = Vec::new();
    for family in FAMILIES {
        for system in systems {
            all.push(series(family, *system));
        }
    }
    all
}

fn series(family: &Family, system: &'static dyn System) -> Measured {
    let mut measured =
        Measured { family: family.name, calculus: system.name(), points: Vec::new(), ended: None };
    for &n in family.sizes {
        let mut session = Session::new();
        let program = match session.simple(&(family.program)(n), None) {
            Ok((program, _)) => program,
            Err(errors) => {
                measured.ended = errors.first().map(|error| error.message.clone());
                break;
            }
        };
        let start = Instant::now();
        let trace = match system.trace(&program, &LIMITS) {
            Ok(trace) => trace,
            Err(errors) => {
                measured.ended = errors.first().map(|error| error.message.clone());
                break;
            }
        };
        let time = start.elapsed();
        if trace.stopped.is_some() {
            measured.ended = Some(format!("stopped at a limit for n = {n}"));
            break;
        }
        let mut counts = vec![("steps", trace.counts.steps), ("max_size", trace.counts.max_size)];
        counts.extend(trace.counts.more.iter().map(|(name, count)| (*name, *count)));
        measured.points.push(Point { n, counts, time });
        if time > PATIENCE || trace.end.len() > LONG {
            measured.ended = Some(format!("n = {n} took long"));
            break;
        }
    }
    measured
}

/// The measurements as a table for people.
pub fn table(all: &[Measured]) -> String {
    let mut out = String::new();
    for family in FAMILIES {
        let sizes: Vec<String> = family.sizes.iter().map(|n| format!("{n:>7}")).collect();
        let _ = writeln!(out, "{}: {}", family.name, family.what);
        let _ = writeln!(out, "  {:12} {:32} {:8} {}", "", "n", "", sizes.join(" "));
        for measured in all.iter().filter(|measured| measured.family == family.name) {
            for name in measured.names() {
                let order = measured.order(name).map_or_else(|| "?".into(), |order| order.to_string());
                let counts: Vec<String> =
                    measured.series(name).iter().map(|(_, count)| format!("{count:>7}")).collect();
                let _ = writeln!(out, "  {:12} {name:32} {order:8} {}", measured.calculus, counts.join(" "));
            }
            if let Some(ended) = &measured.ended {
                let _ = writeln!(out, "  {:12} ended: {ended}", measured.calculus);
            }
        }
        out.push('\n');
    }
    out
}

/// The measurements as JSON.
pub fn to_json(all: &[Measured]) -> String {
    let mut rows = Vec::new();
    for measured in all {
        let mut row = String::from("{\"program\": ");
        json::string(&mut row, measured.family);
        row.push_str(", \"calculus\": ");
        json::string(&mut row, measured.calculus);
        let points: Vec<String> = measured.points.iter().map(point_json).collect();
        let _ = write!(row, ", \"points\": [{}], \"orders\": {{", points.join(", "));
        for (index, name) in measured.names().into_iter().enumerate() {
            row.push_str(if index == 0 { "" } else { ", " });
            json::string(&mut row, name);
            row.push_str(": ");
            match measured.order(name) {
                Some(order) => json::string(&mut row, &order.to_string()),
                None => row.push_str("null"),
            }
        }
        row.push_str("}, \"ended\": ");
        match &measured.ended {
            Some(ended) => json::string(&mut row, ended),
            None => row.push_str("null"),
        }
        row.push('}');
        rows.push(row);
    }
    format!("[{}]\n", rows.join(",\n "))
}

fn point_json(point: &Point) -> String {
    let mut out = format!("{{\"n\": {}, \"seconds\": {}", point.n, point.time.as_secs_f64());
    for (name, count) in &point.counts {
        out.push_str(", ");
        json::string(&mut out, name);
        let _ = write!(out, ": {count}");
    }
    out.push('}');
    out
}

/// A plot of the steps for each family: name and SVG text.
pub fn plots(all: &[Measured]) -> Vec<(&'static str, String)> {
    let of = |family: &Family| {
        let series: Vec<Series> = all
            .iter()
            .filter(|measured| measured.family == family.name && !measured.points.is_empty())
            .map(|measured| Series { name: measured.calculus.to_string(), points: measured.series("steps") })
            .collect();
        (family.name, plot(family.what, "n", "steps", &series))
    };
    FAMILIES.iter().map(of).collect()
}
