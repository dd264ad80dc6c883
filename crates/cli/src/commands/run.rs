//! `eval`, `run` and `cost`: what evaluates programs.

use crate::args::{How, LimitArgs};
use crate::deadline::Deadline;
use crate::interrupt;
use crate::output::{AT_FAULT, FINE, INTERRUPTED, USAGE, print_text, print_within, report};
use crate::progress::Progress;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wengert_base::Diagnostic;
use wengert_driver::render::Style;
use wengert_driver::{Engine, Evaluated, Input, Options, Session, json};

/// `wengert eval EXPR`
pub(crate) fn eval(text: &str, file: Option<&Path>, how: &How, style: Style) -> io::Result<u8> {
    if let Some(stage) = how.emit {
        return emit(how, style, |session, options| session.emit(text, file, stage.into(), options));
    }
    evaluate(how, style, |session, options| session.eval(text, file, options))
}

/// `wengert run FILE`
pub(crate) fn run(file: &Path, entry: &str, input: Option<&str>, how: &How, style: Style) -> io::Result<u8> {
    let input = input.map(read_input).transpose()?;
    if let Some(stage) = how.emit {
        return emit(how, style, |session, options| {
            session.emit_entry(file, entry, input.as_ref(), stage.into(), options)
        });
    }
    evaluate(how, style, |session, options| session.run(file, entry, input.as_ref(), options))
}

/// `wengert cost FILE`
pub(crate) fn cost(
    file: &Path,
    entry: &str,
    input: &str,
    limits: &LimitArgs,
    style: Style,
) -> io::Result<u8> {
    let input = read_input(input)?;
    let options = begun(limits);
    let mut session = Session::new();
    let (progress, deadline) = (Progress::start(&options), Deadline::start(&options, style));
    let result = session.cost(file, entry, &input, &options);
    progress.finish();
    deadline.finish();
    match result {
        Ok(cost) => {
            let text =
                format!("{{\"primal\": {}, \"jvp\": {}, \"vjp\": {}}}\n", cost.primal, cost.jvp, cost.vjp);
            print_text(&text)?;
            Ok(FINE)
        }
        Err(diagnostics) => fail(&session, &diagnostics, &options, style),
    }
}

impl How {
    fn options(&self) -> Options {
        let (engine, strict, without) = (self.engine.into(), self.strict, self.without.clone());
        Options { engine, strict, without, cache: true, ..begun(&self.limits) }
    }
}

/// So long the user waits, at most, to be told the calls that led to a failure of machine code.
const RETRACE: Duration = Duration::from_secs(1);

/// What the evaluator may use.
pub(crate) fn options(limits: &LimitArgs) -> Options {
    Options {
        max_steps: limits.max_steps,
        max_memory: limits.max_memory,
        timeout: limits.timeout,
        interrupt: interrupt::flag(),
        threads: limits.threads,
        short_loops: limits.short_loops,
        retrace: Some(RETRACE),
        ..Options::default()
    }
}

/// The same for a command that begins now and has that time for everything.
pub(crate) fn begun(limits: &LimitArgs) -> Options {
    Options { begun: Some(Instant::now()), ..options(limits) }
}

fn evaluate(
    how: &How,
    style: Style,
    run: impl FnOnce(&mut Session, &Options) -> Result<Evaluated, Vec<Diagnostic>>,
) -> io::Result<u8> {
    let mut session = Session::new();
    if let Err(error) = Engine::from(how.engine).require() {
        report(session.sources(), &[error], style)?;
        return Ok(USAGE);
    }
    let options = how.options();
    let (progress, deadline) = (Progress::start(&options), Deadline::start(&options, style));
    let result = run(&mut session, &options);
    let as_text = result.as_ref().ok().filter(|_| !how.json);
    let text = as_text.map(|evaluated| wengert_driver::show(&evaluated.value));
    progress.finish();
    let left = deadline.finish();
    let evaluated = match result {
        Ok(evaluated) => evaluated,
        Err(diagnostics) => return fail(&session, &diagnostics, &options, style),
    };
    report(session.sources(), &evaluated.warnings, style)?;
    let printed = match text {
        Some(text) => print_text(&format!("{text}\n")),
        // A value may be small in memory and endless on paper, so this is never whole in memory.
        None => print_within(left, |out| {
            json::encode::write(out, &evaluated.value)?;
            out.write_all(b"\n")
        }),
    };
    match (printed, options.too_late()) {
        (Err(error), Some(late)) if error.kind() == io::ErrorKind::TimedOut => {
            fail(&session, &[late], &options, style)
        }
        (printed, _) => printed.map(|()| FINE),
    }
}

fn emit(
    how: &How,
    style: Style,
    make: impl FnOnce(&mut Session, &Options) -> Result<String, Vec<Diagnostic>>,
) -> io::Result<u8> {
    let mut session = Session::new();
    let options = how.options();
    let deadline = Deadline::start(&options, style);
    let made = make(&mut session, &options);
    deadline.finish();
    match made {
        Ok(text) => {
            print_text(&text)?;
            Ok(FINE)
        }
        Err(diagnostics) => fail(&session, &diagnostics, &options, style),
    }
}

fn fail(session: &Session, diagnostics: &[Diagnostic], options: &Options, style: Style) -> io::Result<u8> {
    report(session.sources(), diagnostics, style)?;
    Ok(if options.interrupt.load(Ordering::SeqCst) { INTERRUPTED } else { AT_FAULT })
}

/// `JSON`, `@FILE` or `@-`.
pub(crate) fn read_input(text: &str) -> io::Result<Input> {
    match text.strip_prefix('@') {
        None => Ok(Input::Text(text.to_string())),
        Some("-") => {
            let mut text = String::new();
            match io::Read::read_to_string(&mut io::stdin().lock(), &mut text) {
                Ok(_) => Ok(Input::Text(text)),
                // What is not text is not JSON either: the reader of JSON words that.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    Ok(Input::Text("\u{fffd}".into()))
                }
                Err(error) => Err(error),
            }
        }
        Some(path) => Ok(Input::File(PathBuf::from(path))),
    }
}
