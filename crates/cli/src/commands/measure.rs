//! `bench` and `profile`: what measures programs.

use super::run::{begun, read_input};
use crate::args::{LimitArgs, MeasuredWith};
use crate::deadline::Deadline;
use crate::output::{AT_FAULT, FINE, USAGE, note, print_text, report};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Duration;
use wengert_driver::bench::Bench;
use wengert_driver::prepared::Runs;
use wengert_driver::profile::{Line, Part};
use wengert_driver::render::Style;
use wengert_driver::{Engine, Options, Session, json};

/// What to measure.
pub(crate) struct Measured<'a> {
    pub(crate) file: &'a Path,
    pub(crate) entry: &'a str,
    pub(crate) input: &'a str,
    pub(crate) limits: &'a LimitArgs,
    pub(crate) json: bool,
}

/// `wengert bench FILE`
pub(crate) fn bench(what: &Measured<'_>, runs: Runs, with: MeasuredWith, style: Style) -> io::Result<u8> {
    let engine = Engine::from(with.engine);
    let mut session = Session::new();
    if let Err(error) = engine.require() {
        report(session.sources(), &[error], style)?;
        return Ok(USAGE);
    }
    let input = read_input(what.input)?;
    let options = Options { engine, strict: with.strict, ..begun(what.limits) };
    let deadline = Deadline::start(&options, style);
    let measured = session.bench(what.file, what.entry, &input, runs, &options);
    deadline.finish();
    match measured {
        Ok(bench) => {
            if let [first, ..] = bench.interpreted.as_slice() {
                let parts = bench.interpreted.join(" and ");
                let verb = if bench.interpreted.len() == 1 { "is" } else { "are" };
                note(&format!(
                    "{parts} {verb} measured in the interpreter: the engine `{}` cannot run `{first}`, {}",
                    engine.name(),
                    bench.why
                ))?;
            }
            let engine = if bench.interpreted.contains(&"primal") { Engine::Interp } else { engine };
            let text = if what.json { as_json(&bench, engine) } else { as_text(&bench, engine) };
            print_text(&text)?;
            Ok(FINE)
        }
        Err(diagnostics) => {
            report(session.sources(), &diagnostics, style)?;
            Ok(AT_FAULT)
        }
    }
}

fn as_json(bench: &Bench, engine: Engine) -> String {
    let nanoseconds =
        |time: Option<Duration>| time.map_or("null".to_string(), |time| time.as_nanos().to_string());
    format!(
        "{{\"engine\": \"{}\", \"compile_ms\": {:.3}, \"primal_ns\": {}, \"jvp_ns\": {}, \"vjp_ns\": {}, \"runs\": {}, \
         \"peak_bytes\": {}, \"interpreted\": [{}]}}\n",
        engine.name(),
        bench.compile.as_secs_f64() * 1e3,
        nanoseconds(Some(bench.primal)),
        nanoseconds(bench.jvp),
        nanoseconds(bench.vjp),
        bench.runs,
        bench.peak_bytes.map_or("null".to_string(), |bytes| bytes.to_string()),
        bench.interpreted.iter().map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(", "),
    )
}

fn as_text(bench: &Bench, engine: Engine) -> String {
    let mut rows = vec![
        ("engine".to_string(), engine.name().to_string()),
        ("compile".to_string(), shown(bench.compile)),
        ("primal".to_string(), shown(bench.primal)),
    ];
    let mut derivative = |name: &str, time: Option<Duration>| {
        let Some(time) = time else { return };
        let ratio = time.as_secs_f64() / bench.primal.as_secs_f64().max(1e-9);
        rows.push((name.to_string(), format!("{} ({ratio:.2} × primal)", shown(time))));
    };
    derivative("jvp", bench.jvp);
    derivative("vjp", bench.vjp);
    rows.push(("runs".to_string(), bench.runs.to_string()));
    rows.extend(
        bench.peak_bytes.map(|bytes| ("memory".to_string(), format!("{:.1} MB", bytes as f64 / 1e6))),
    );
    rows.iter().map(|(name, value)| format!("{name:<8} {value}\n")).collect()
}

/// A time in a unit that suits it.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// `wengert profile FILE`
pub(crate) fn profile(what: &Measured<'_>, part: Part, time: Duration, style: Style) -> io::Result<u8> {
    let mut session = Session::new();
    let input = read_input(what.input)?;
    let options = begun(what.limits);
    let deadline = Deadline::start(&options, style);
    let seen = session.profile(what.file, what.entry, &input, part, time, &options);
    deadline.finish();
    match seen {
        Ok(lines) => {
            let text = if what.json { lines_as_json(&lines) } else { lines_as_text(&lines) };
            print_text(&text)?;
            Ok(FINE)
        }
        Err(diagnostics) => {
            report(session.sources(), &diagnostics, style)?;
            Ok(AT_FAULT)
        }
    }
}

fn lines_as_text(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "it ended too soon to be seen anywhere\n".to_string();
    }
    let mut text = String::new();
    for Line { file, number, text: source, share } in lines {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:>5.1} %  {file}:{number:<4} {source}", share * 100.0);
    }
    text
}

fn lines_as_json(lines: &[Line]) -> String {
    let quoted = |text: &str| json::encode::to_string(&wengert_driver::Value::string(text));
    let line = |Line { file, number, text, share }: &Line| {
        let (file, text) = (quoted(file), quoted(text));
        format!("{{\"file\": {file}, \"line\": {number}, \"share\": {share:.4}, \"text\": {text}}}")
    };
    format!("[{}]\n", lines.iter().map(line).collect::<Vec<_>>().join(",\n "))
}
