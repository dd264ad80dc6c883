//! Where the time goes, by lines of the source.
//!
//! The program is compiled so that it keeps storing in one word which expression of the source it is working on; it runs
//! again and again, while a thread looks at that word many times a second.

use crate::cost::Calls;
use crate::engine::{Options, limits};
use crate::errors;
use crate::json::guess::Numbers;
use crate::native::{self, Machine};
use crate::session::{Call, Input, Session};
use crate::watch::Watch;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, SourceMap, Span};
use wengert_core::{Def, Program, Type};
use wengert_engine::{Passes, Rows};
use wengert_interp::{Interp, Value};

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The function itself.
    Primal,
    /// Its value and directional derivative.
    Jvp,
    /// Its pullback, and of its value what that needs.
    Vjp,
}

/// A line of the source and its share of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The file.
    pub file: String,
    /// From 1.
    pub number: u32,
    /// What it says.
    pub text: String,
    /// Between 0 and 1.
    pub share: f64,
}

/// Between two looks.
const INTERVAL: Duration = Duration::from_micros(50);

impl Session {
    /// Runs the definition `entry` of a file, or a derivative of it, at the arguments in `input` for about so long; gives the lines
    /// where it was seen, those with the largest shares first. Time that belongs to no line is left out.
    pub fn profile(
        &mut self,
        file: &Path,
        entry: &str,
        input: &Input,
        part: Part,
        time: Duration,
        options: &Options,
    ) -> Result<Vec<Line>, Vec<Diagnostic>> {
        let call = self.call(file, entry, Some(input), Numbers::Real)?;
        options.in_time()?;
        let seen = self.sampled(&call, entry, part, time, options).map_err(|error| {
            if let Some(why) = native::of_its_types(&error) {
                return vec![errors::no_machine_code(error.primary.span, &why)];
            }
            let beyond = wengert_engine::LEFT.iter().any(|text| error.message.contains(text));
            vec![if beyond || native::is_for_interpreter(&error) {
                errors::only_interpreted(call.def.span, entry)
            } else {
                error
            }]
        })?;
        Ok(lines(&seen, self.sources()))
    }

    /// How often each span was seen.
    fn sampled(
        &mut self,
        call: &Call,
        entry: &str,
        part: Part,
        time: Duration,
        options: &Options,
    ) -> Result<Vec<(Span, u64)>, Diagnostic> {
        let calls = Calls::of(call);
        if part != Part::Primal {
            calls.require_derivatives(call, entry)?;
        }
        let [primal, jvp, vjp] = calls.defs();
        let mut program = call.program.clone();
        program.defs.extend([&primal, &jvp, &vjp].map(|def| (def.name, Arc::clone(def))));
        let library = self.modules.library_sources();
        let memory = limits(options).max_memory;
        let mut interp = Interp::new(&program, limits(options));
        let watch = Watch::new(options);
        let watching = watch.start();
        let mut run = |def: &Def, arg: Value, to: &Type, time: Duration| {
            // It lives as long as the process, like the code that knows its address.
            let mark: &'static AtomicI64 = Box::leak(Box::default());
            let explain = |error| watching.explain(error);
            let mut rows = native::rows_of(std::slice::from_ref(&arg));
            let mut passes = Passes::default();
            loop {
                let (stop, how) = ((memory, &watch.stop), (mark, &passes));
                let mut made = Machine::marked(&program, (def.name, &[]), (&library, rows), stop, how);
                let seen = match &mut made {
                    Ok(made) => sample(made, mark, &arg, (&program, &mut interp), to, time),
                    Err(error) => Err(error.clone()),
                };
                match (made, seen) {
                    (Ok(made), Err(error)) if made.0.is_uneven(&error) => rows = Rows::Ragged,
                    // From now on numbers know what they vary by.
                    (_, Err(error)) if !passes.tagged && native::is_for_tags(&error) => {
                        passes = Passes { ordered: true, tagged: true, ..passes };
                    }
                    (_, seen) => return seen.map_err(explain),
                }
            }
        };
        let (point, result) = (&calls.point_type, &calls.result);
        let (seen, _) = match part {
            Part::Primal => run(&primal, calls.point.clone(), result, time)?,
            Part::Jvp => {
                let both = Type::Tuple(vec![result.clone(), result.clone()]);
                run(&jvp, calls.along_ones(), &both, time)?
            }
            Part::Vjp => {
                let (_, value) = run(&primal, calls.point.clone(), result, Duration::ZERO)?;
                run(&vjp, calls.with_ones_of(&value), point, time)?
            }
        };
        Ok(seen)
    }
}

/// Calls a function for about so long, at least once; how often each span was seen, and the result as the function's.
fn sample(
    (machine, spans): &mut (Machine, Vec<Span>),
    mark: &'static AtomicI64,
    arg: &Value,
    (program, interp): (&Program, &mut Interp),
    to: &Type,
    time: Duration,
) -> Result<(Vec<(Span, u64)>, Value), Diagnostic> {
    let args = machine.flattened(0, arg, program, interp);
    let over = AtomicBool::new(false);
    let begin = Instant::now();
    let (counts, result) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
            while !over.load(Ordering::Relaxed) {
                *counts.entry(mark.load(Ordering::Relaxed)).or_default() += 1;
                std::thread::sleep(INTERVAL);
            }
            counts
        });
        let result = machine.run(&args, &mut |_| {
            // Between calls it is nowhere.
            mark.store(0, Ordering::Relaxed);
            begin.elapsed() >= time
        });
        over.store(true, Ordering::Relaxed);
        (watcher.join(), result)
    });
    let counts = counts.map_err(|_| errors::internal(Span::NOWHERE, "the profiler panicked"))?;
    let seen = counts.into_iter().filter_map(|(number, count)| {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((*spans.get(index)?, count))
    });
    let value = machine.value(&result?, to, program, interp);
    Ok((seen.collect(), value))
}

/// The lines of these spans, those seen most often first.
fn lines(seen: &[(Span, u64)], sources: &SourceMap) -> Vec<Line> {
    let mut by_line: BTreeMap<(String, u32), (String, u64)> = BTreeMap::new();
    for (span, count) in seen {
        let Some(file) = sources.get(span.source) else { continue };
        let (number, _) = file.line_col(span.start);
        let index = (number as usize).saturating_sub(1);
        let text = || file.text.lines().nth(index).unwrap_or_default().trim().to_string();
        let line = by_line.entry((file.name.to_string(), number)).or_insert_with(|| (text(), 0));
        line.1 += count;
    }
    let total: u64 = by_line.values().map(|(_, count)| count).sum();
    let mut lines: Vec<Line> = by_line
        .into_iter()
        .map(|((file, number), (text, count))| {
            let share = count as f64 / total.max(1) as f64;
            Line { file, number, text, share }
        })
        .collect();
    lines.sort_by(|a, b| b.share.total_cmp(&a.share));
    lines
}
