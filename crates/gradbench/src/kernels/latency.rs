//! How long it takes until a program of 1,000 lines runs: from the text to the checked program, and from there to machine code.
//!
//! The program has many small functions that call each other: numbers with branches, arrays, records, sums and loops in turn.

use super::median;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use wengert_base::SourceMap;
use wengert_driver::json::parse::Document;
use wengert_driver::render::{Style, text};
use wengert_driver::{Engine, Options, Session};

/// Medians over fresh sessions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latency {
    pub(crate) lines: usize,
    /// Reading and checking, the library's modules that it needs included.
    pub(crate) check: Duration,
    /// Machine code of the function that calls all others.
    pub(crate) primal: Duration,
    /// Machine code of its gradient.
    pub(crate) gradient: Duration,
}

/// Measures in as many sessions.
pub(crate) fn measure(rounds: usize) -> Result<Latency, String> {
    let program = program(1_000);
    let folder = std::env::temp_dir().join(format!("wengert-latency-{}", std::process::id()));
    let file = folder.join("lines.wg");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    std::fs::write(&file, &program).map_err(|error| error.to_string())?;
    let mut times: [Vec<Duration>; 3] = Default::default();
    let options = Options { engine: Engine::Native, ..Options::default() };
    let document = Document::parse(SourceMap::default().add("input", "[0.5]"), "[0.5]")
        .map_err(|error| error.message.clone())?;
    for _ in 0..rounds {
        let mut session = Session::new();
        let begin = Instant::now();
        let has_errors = session.check_file(&file).has_errors();
        let check = begin.elapsed();
        let mut took = vec![check];
        for entry in ["primal", "gradient"] {
            let begin = Instant::now();
            let prepared = session.prepare(&file, entry, &document, &options);
            prepared.map_err(|errors| text::render(session.sources(), &errors, Style::Plain))?;
            took.push(begin.elapsed());
        }
        if has_errors {
            return Err("the program of many lines is not right".into());
        }
        times.iter_mut().zip(took).for_each(|(times, time)| times.push(time));
    }
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    let [check, primal, gradient] = times.map(|times| median(&times));
    Ok(Latency { lines: program.lines().count(), check, primal, gradient })
}

/// A program of that many lines, of which each function is needed.
pub(crate) fn program(lines: usize) -> String {
    let mut program = String::from("type Shape = Disk Real | Box Real Real\n\ndef f0 x = x * 0.5 + 0.1\n");
    let mut count = 0;
    while program.lines().count() + 8 < lines {
        let before = format!("f{count}");
        count += 1;
        let _ = match count % 4 {
            0 => writeln!(
                program,
                "\ndef f{count} x =\n  let y = {before} x\n  let area = if y > 0.5 then y * x - 0.25 else sin y + x\n  \
                 in 0.5 * area + 0.1 * y"
            ),
            1 => writeln!(
                program,
                "\ndef f{count} x =\n  let xs = build 8 (\\i -> real i * x)\n  let ys = map (\\y -> y * y + 0.{count}) xs\n  \
                 in 0.001 * sum ys + {before} x"
            ),
            2 => writeln!(
                program,
                "\ndef f{count} x =\n  let point = {{x = x, y = {before} x}}\n  let moved = {{point with x = point.y * 0.5}}\n  \
                 in tanh (moved.x + moved.y)"
            ),
            _ => writeln!(
                program,
                "\ndef f{count} x =\n  match if x > 0.3 then Disk ({before} x) else Box x ({before} x) with\n  \
                 | Disk r -> 0.3 * r * r + 0.1\n  | Box a b -> iterate 3 (\\y -> 0.5 * y + a) b"
            ),
        };
    }
    let _ = writeln!(
        program,
        "\ndef primal (x : Real) : Real = f{count} x\n\ndef gradient (x : Real) = grad primal x"
    );
    program
}
