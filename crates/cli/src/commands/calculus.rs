//! `trace` and `calculus`: reductions in the calculi.

use crate::args::{GrowthArgs, TraceArgs, Verb};
use crate::output::{AT_FAULT, FINE, USAGE, print_text, report};
use std::fmt::Write;
use std::io;
use std::path::Path;
use wengert_base::Diagnostic;
use wengert_driver::calculi::kit::trace::{Limits, Stopped, Trace, WORK};
use wengert_driver::calculi::kit::{errors, json, show, system::System};
use wengert_driver::calculi::systems;
use wengert_driver::render::Style;

use wengert_driver::growth::{
    self, Wanted,
    table::{self, Shown},
};
use wengert_driver::{Session, calculus as driver};

/// An expression, and whose definitions are in scope.
pub(crate) struct Expression<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: Option<&'a Path>,
}

/// What may be colored.
#[derive(Clone, Copy)]
pub(crate) struct Looks {
    /// Messages.
    pub(crate) errors: Style,
    /// Terms.
    pub(crate) colored: bool,
}

/// How many steps a person is shown who does not say how many.
const SHOWN: usize = 200;
/// Characters to a line of a list.
const LINE: usize = 110;

/// `wengert trace EXPR --in NAME`
pub(crate) fn trace(
    expression: &Expression<'_>,
    calculus: &str,
    args: &TraceArgs,
    svg: Option<&Path>,
    looks: Looks,
) -> io::Result<u8> {
    let mut session = Session::new();
    let system = match driver::find(calculus) {
        Ok(system) => system,
        Err(error) => return fail(&session, &[error], USAGE, looks),
    };
    let rules = match driver::rules(system, &args.rules) {
        Ok(rules) => rules,
        Err(error) => return fail(&session, &[error], USAGE, looks),
    };
    let args = &TraceArgs { rules, ..args.clone() };
    let limits = limits(args);
    match session.trace(expression.text, expression.file, system, &limits) {
        Err(errors) => fail(&session, &errors, AT_FAULT, looks),
        Ok((trace, warnings)) => {
            report(session.sources(), &warnings, looks.errors)?;
            let drawn = svg
                .map(|svg| session.draw(expression.text, expression.file, system, &limits, svg))
                .transpose();
            if let Err(errors) = drawn {
                return fail(&session, &errors, AT_FAULT, looks);
            }
            finish(&session, system, &trace, &limits, args, looks, |options| show::show(&trace, options))
        }
    }
}

/// `wengert calculus NAME WHAT FILE`
pub(crate) fn calculus(
    name: Option<&str>,
    verb: Option<Verb>,
    file: Option<&Path>,
    args: &TraceArgs,
    looks: Looks,
) -> io::Result<u8> {
    let mut session = Session::new();
    let Some(name) = name else {
        print_text(&list())?;
        return Ok(FINE);
    };
    let system = match driver::find(name) {
        Ok(system) => system,
        Err(error) => return fail(&session, &[error], USAGE, looks),
    };
    let (Some(verb), Some(file)) = (verb, file) else {
        print_text(&rules(system))?;
        return Ok(FINE);
    };
    let result = match verb {
        Verb::Check => session.with_text(file, |source, text| system.check(source, text)).map(|ty| ty + "\n"),
        Verb::Translate => session
            .with_text(file, |source, text| system.translate(source, text))
            .map(|terms| translations(&terms)),
        Verb::Step | Verb::Reduce => return reduce(&mut session, system, verb, file, args, looks),
    };
    match result {
        Err(errors) => fail(&session, &errors, AT_FAULT, looks),
        Ok(text) => {
            print_text(&text)?;
            Ok(FINE)
        }
    }
}

/// `wengert calculus growth`
pub(crate) fn growth(args: &GrowthArgs, as_json: bool, looks: Looks) -> io::Result<u8> {
    let session = Session::new();
    if let Some(Err(error)) = args.calculus.as_deref().map(driver::find) {
        return fail(&session, &[error], USAGE, looks);
    }
    let wanted =
        Wanted { family: args.family.as_deref(), calculus: args.calculus.as_deref(), times: !args.counts };
    let measured = growth::measure(systems(), wanted);
    if let Some(folder) = &args.svg {
        for (name, drawing) in growth::plots(&measured) {
            let path = folder.join(name);
            if let Err(error) = std::fs::write(&path, drawing) {
                let error = wengert_driver::errors::unwritable(&path.display().to_string(), &error);
                return fail(&session, &[error], AT_FAULT, looks);
            }
        }
    }
    print_text(&match as_json {
        true => table::to_json(&measured),
        false => table::table(&measured, Shown { everything: args.all }),
    })?;
    Ok(FINE)
}

/// `step` and `reduce`.
fn reduce(
    session: &mut Session,
    system: &'static dyn System,
    verb: Verb,
    file: &Path,
    args: &TraceArgs,
    looks: Looks,
) -> io::Result<u8> {
    let stepping = verb == Verb::Step;
    let rules = match driver::rules(system, &args.rules) {
        Ok(rules) => rules,
        Err(error) => return fail(session, &[error], USAGE, looks),
    };
    let args = &TraceArgs { rules, ..args.clone() };
    let mut limits = limits(args);
    if stepping {
        limits.steps = args.steps.unwrap_or(1) as u64;
        limits.recorded = limits.steps;
    }
    match session.with_text(file, |source, text| system.reduce(source, text, &limits)) {
        Err(errors) => fail(session, &errors, AT_FAULT, looks),
        Ok(mut trace) => {
            if stepping && trace.stopped == Some(Stopped::Steps) {
                // That is what was asked for.
                trace.stopped = None;
            }
            let steps_wanted = stepping || args.steps.is_some() || !args.rules.is_empty();
            finish(session, system, &trace, &limits, args, looks, |options| match (stepping, steps_wanted) {
                (true, _) => show::steps(&trace, options),
                (false, true) => show::show(&trace, options),
                (false, false) => show::outcome(&trace, options),
            })
        }
    }
}

/// Prints a trace; one that met a limit is an error.
fn finish(
    session: &Session,
    system: &dyn System,
    trace: &Trace,
    limits: &Limits,
    args: &TraceArgs,
    looks: Looks,
    show: impl FnOnce(&show::Options) -> String,
) -> io::Result<u8> {
    let options = show::Options {
        colored: looks.colored,
        width: args.width.max(20),
        steps: Some(args.steps.unwrap_or(SHOWN)),
        rules: args.rules.clone(),
    };
    let text = match args.json {
        true => {
            let mut shown = trace.clone();
            shown.steps.truncate(args.steps.unwrap_or(usize::MAX));
            json::trace(system.name(), &shown, &|rule| options.keeps(rule)) + "\n"
        }
        false => show(&options),
    };
    print_text(&text)?;
    match trace.stopped {
        None => Ok(FINE),
        Some(stopped) => {
            let limit = match stopped {
                Stopped::Steps => limits.steps,
                Stopped::Size => limits.size,
                Stopped::Work => WORK,
            };
            fail(session, &[errors::stopped(stopped, limit)], AT_FAULT, looks)
        }
    }
}

fn fail(session: &Session, diagnostics: &[Diagnostic], status: u8, looks: Looks) -> io::Result<u8> {
    report(session.sources(), diagnostics, looks.errors)?;
    Ok(status)
}

fn limits(args: &TraceArgs) -> Limits {
    let recorded = match (&args.steps, args.rules.is_empty()) {
        (Some(steps), true) => *steps as u64,
        (None, true) if !args.json => SHOWN as u64,
        (Some(_) | None, _) => Limits::default().recorded,
    };
    Limits { steps: args.max_steps, size: args.max_size, recorded }
}

/// The calculi.
fn list() -> String {
    let width = systems().iter().map(|system| system.name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for system in systems() {
        entry(&mut out, system.name(), width, system.about());
    }
    out.push_str("\n`wengert calculus NAME` lists the rules of one, `wengert calculus growth` compares what they cost.\n");
    out
}

/// The rules of a calculus, and its variants.
fn rules(system: &dyn System) -> String {
    let columns = |text: fn(&wengert_driver::calculi::kit::system::Rule) -> &'static str| {
        system.rules().iter().map(|rule| text(rule).chars().count()).max().unwrap_or(0)
    };
    let (names, places) = (columns(|rule| rule.name), columns(|rule| rule.place));
    let mut out = String::new();
    entry(&mut out, system.name(), 0, system.about());
    out.push('\n');
    for rule in system.rules() {
        let _ = writeln!(out, "{:names$}  {:places$}  {}", rule.name, rule.place, rule.what);
    }
    let variants = system.variants();
    let width = variants.iter().map(|variant| variant.name.chars().count()).max().unwrap_or(0);
    if !variants.is_empty() {
        out.push_str("\nother ways to compute, which `wengert calculus growth` compares:\n");
    }
    for variant in variants {
        entry(&mut out, variant.name, width, variant.what);
    }
    out
}

/// A name and what it is, broken into lines.
fn entry(out: &mut String, name: &str, width: usize, what: &str) {
    let width = width.max(name.chars().count());
    let mut line = format!("{name:width$} ");
    for word in what.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > LINE {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(width + 1);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(out, "{line}");
}

fn translations(terms: &[(&'static str, String)]) -> String {
    terms.iter().map(|(title, term)| format!("{title}:\n{term}\n")).collect::<Vec<_>>().join("\n")
}
