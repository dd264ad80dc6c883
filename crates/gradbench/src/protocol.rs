//! Messages and responses: a JSON object on a line each.
//!
//! ```text
//! {"id": 1, "kind": "define", "module": "lse"}
//! {"id": 1, "success": true}
//! {"id": 2, "kind": "evaluate", "module": "lse", "function": "gradient", "input": {"x": [0.0, 0.0], "min_runs": 2}}
//! {"id": 2, "success": true, "output": [0.5, 0.5], "timings": [{"name": "evaluate", "nanoseconds": 180}, …]}
//! ```
//!
//! Whatever the message, there is one response, with its `id` (`null` if it has none). A failure says `"success": false` and
//! why. The `input` is not taken apart here, only `min_runs` and `min_seconds` are taken out of it.

use crate::suite::{Outcome, Suite};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;
use wengert_driver::prepared::Runs;

/// An object whose values are still text.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Responds to a message.
pub(crate) fn answer(line: &[u8], suite: &mut Suite, out: &mut dyn Write) -> io::Result<()> {
    let message = std::str::from_utf8(line).map_err(|error| error.to_string());
    let message = message.and_then(|line| {
        serde_json::from_str::<Fields<'_>>(line).map_err(|error| format!("not a message: {error}"))
    });
    let message = match message {
        Ok(message) => message,
        Err(error) => return refuse(out, "null", &error),
    };
    let id = message.get("id").map_or("null", |id| id.get());
    match text(&message, "kind").as_deref() {
        Some("start") => writeln!(out, "{{\"id\":{id},\"tool\":\"wengert\",\"config\":{}}}", suite.config()),
        Some("define") => define(&message, id, suite, out),
        Some("evaluate") => evaluate(&message, id, suite, out),
        _ => writeln!(out, "{{\"id\":{id}}}"),
    }
}

fn define(message: &Fields<'_>, id: &str, suite: &mut Suite, out: &mut dyn Write) -> io::Result<()> {
    let Some(module) = text(message, "module") else {
        return refuse(out, id, "the message does not say which `module`");
    };
    match suite.define(&module) {
        Ok(time) => {
            let check = timing("check", time);
            writeln!(out, "{{\"id\":{id},\"success\":true,\"timings\":[{check}]}}")
        }
        Err(error) => refuse(out, id, &error),
    }
}

fn evaluate(message: &Fields<'_>, id: &str, suite: &mut Suite, out: &mut dyn Write) -> io::Result<()> {
    let (Some(module), Some(function), Some(input)) =
        (text(message, "module"), text(message, "function"), message.get("input"))
    else {
        return refuse(out, id, "the message lacks one of `module`, `function` and `input`");
    };
    let outcome = argument(input.get())
        .and_then(|(argument, runs)| suite.evaluate(&module, &function, &argument, runs));
    match outcome {
        Err(error) => refuse(out, id, &error),
        Ok(Outcome { output, preparation, evaluations, .. }) => {
            write!(out, "{{\"id\":{id},\"success\":true,\"output\":{output},\"timings\":[")?;
            for (name, time) in preparation {
                write!(out, "{},", timing(name, time))?;
            }
            for (place, time) in evaluations.into_iter().enumerate() {
                let comma = if place == 0 { "" } else { "," };
                write!(out, "{comma}{}", timing("evaluate", time))?;
            }
            writeln!(out, "]}}")
        }
    }
}

/// The input as an array of one argument, without what says how often to run. A field's name begins with a small letter in
/// Wengert, whatever it does in the input.
fn argument(input: &str) -> Result<(String, Runs), String> {
    let mut runs = Runs { count: 1, time: Duration::ZERO };
    let Ok(mut fields) = serde_json::from_str::<Fields<'_>>(input) else {
        return Ok((format!("[{input}]"), runs));
    };
    if let Some(count) = fields.remove("min_runs") {
        let count = number(count, "min_runs")?;
        runs.count = if count < 1.0 { 1 } else { count.ceil() as u64 };
    }
    if let Some(seconds) = fields.remove("min_seconds") {
        let seconds = number(seconds, "min_seconds")?;
        runs.time =
            Duration::try_from_secs_f64(seconds).map_err(|error| format!("`min_seconds`: {error}"))?;
    }
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("{}:{}", quoted(&small_initial(&name)), value.get()))
        .collect();
    Ok((format!("[{{{}}}]", fields.join(",")), runs))
}

fn number(value: &RawValue, name: &str) -> Result<f64, String> {
    serde_json::from_str(value.get()).map_err(|_| format!("`{name}` is not a number"))
}

fn small_initial(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A field that is a text.
fn text(message: &Fields<'_>, name: &str) -> Option<String> {
    message.get(name).and_then(|value| serde_json::from_str(value.get()).ok())
}

fn timing(name: &str, time: Duration) -> String {
    format!("{{\"name\":\"{name}\",\"nanoseconds\":{}}}", time.as_nanos())
}

fn refuse(out: &mut dyn Write, id: &str, error: &str) -> io::Result<()> {
    writeln!(out, "{{\"id\":{id},\"success\":false,\"error\":{}}}", quoted(error))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
