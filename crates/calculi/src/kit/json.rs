//! Traces as JSON text: `{"calculus": …, "steps": [{"rule": …, "term": …}, …], "result": …, "counts": {…}}`.
//!
//! `term` is the term after the step; `start` is the term before the first. Values are written as everywhere in the
//! program: `"NaN"` and the infinities are strings, a constructor is `{"tag": …, "fields": […]}`; what is no value is its
//! text. The last term of a reduction that was stopped is folded if it is long: nobody asked for it.

use super::ground::Ground;
use super::show::middle;
use super::trace::{Stopped, Trace};
use std::borrow::Cow;
use std::fmt::Write;
use wengert_base::real;

/// The last term of a reduction that was stopped is written as it is up to so many bytes,
const LONG: usize = 10_000;
/// and else with so many characters.
const SHOWN: usize = 1_000;

/// A trace of `calculus`.
pub fn trace(calculus: &str, trace: &Trace, keep: &dyn Fn(&str) -> bool) -> String {
    let mut out = String::from("{\"calculus\": ");
    string(&mut out, calculus);
    out.push_str(", \"start\": ");
    string(&mut out, &trace.start);
    out.push_str(", \"steps\": [");
    let mut first = true;
    for step in trace.steps.iter().filter(|step| keep(step.rule)) {
        if !std::mem::take(&mut first) {
            out.push_str(", ");
        }
        out.push_str("{\"rule\": ");
        string(&mut out, step.rule);
        out.push_str(", \"term\": ");
        string(&mut out, &step.after);
        out.push('}');
    }
    out.push_str("], \"end\": ");
    string(&mut out, &last(trace));
    out.push_str(", \"result\": ");
    match &trace.result {
        Some(result) => value(&mut out, result),
        None => out.push_str("null"),
    }
    let counts = &trace.counts;
    let _ = write!(
        out,
        ", \"counts\": {{\"steps\": {}, \"max_size\": {}, \"rules\": ",
        counts.steps, counts.max_size
    );
    numbers(&mut out, counts.by_rule.iter());
    for (name, count) in &counts.more {
        out.push_str(", ");
        string(&mut out, name);
        let _ = write!(out, ": {count}");
    }
    out.push_str("}, \"stopped\": ");
    out.push_str(match trace.stopped {
        None => "null",
        Some(Stopped::Steps) => "\"steps\"",
        Some(Stopped::Size) => "\"size\"",
        Some(Stopped::Work) => "\"work\"",
    });
    if let Some(note) = &trace.note {
        out.push_str(", \"note\": ");
        string(&mut out, note);
    }
    out.push('}');
    out
}

/// The last term; of a reduction that met a limit with a long one, its beginning and its end.
fn last(trace: &Trace) -> Cow<'_, str> {
    match trace.stopped {
        Some(_) if trace.end.len() > LONG => Cow::Owned(middle(&trace.end, SHOWN)),
        Some(_) | None => Cow::Borrowed(&trace.end),
    }
}

fn numbers<'a>(out: &mut String, entries: impl Iterator<Item = (&'a &'static str, &'a u64)>) {
    out.push('{');
    for (index, (name, count)) in entries.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        string(out, name);
        let _ = write!(out, ": {count}");
    }
    out.push('}');
}

/// A value.
pub fn value(out: &mut String, ground: &Ground) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ground {
        Ground::Real(x) if x.is_finite() => out.push_str(&real::show(*x)),
        Ground::Real(x) => string(out, &real::show(*x)),
        Ground::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Ground::Bool(b) => {
            let _ = write!(out, "{b}");
        }
        Ground::String(text) | Ground::Term(text) => string(out, text),
        Ground::Tuple(items) | Ground::Array(items) => list(out, items),
        Ground::Ctor(name, fields) => {
            out.push_str("{\"tag\": ");
            string(out, name);
            out.push_str(", \"fields\": ");
            list(out, fields);
            out.push('}');
        }
    });
}

fn list(out: &mut String, items: &[Ground]) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        value(out, item);
    }
    out.push(']');
}

/// A text in quotes.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
