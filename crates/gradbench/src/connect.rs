//! The intermediary: connects an eval with a tool, as GradBench's own command does, and notes a line for each evaluation.
//!
//! ```text
//! {"tool":"wengert","eval":"lse","function":"gradient","size":"n=2500","valid":true,"runs":9040,"median":20500,"least":20100}
//! ```
//!
//! Times are in nanoseconds. `valid` is what the eval said of the output; without a word it is missing.

use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A line of shell that is running, and its two ends.
struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Side {
    fn start(line: &str) -> io::Result<Side> {
        let mut child =
            Command::new("sh").arg("-c").arg(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("a program without input or output"));
        };
        Ok(Side { child, input, output: BufReader::new(output) })
    }

    /// The next line; empty at the end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        self.input.write_all(line.as_bytes())?;
        self.input.flush()
    }
}

/// Runs an eval with a tool, both given as lines of shell, and appends what was measured to a file, under the tool's name, with
/// a label before the sizes. The number of evaluations that failed or were not valid.
pub(crate) fn connect((name, label): (&str, &str), eval: &str, tool: &str, log: &Path) -> io::Result<usize> {
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    let (mut eval, mut tool) = (Side::start(eval)?, Side::start(tool)?);
    let mut bad = 0;
    let mut last: Option<Value> = None;
    loop {
        let message = eval.line()?;
        if message.is_empty() {
            break;
        }
        tool.tell(&message)?;
        let response = tool.line()?;
        if response.is_empty() {
            bad += 1;
            note(&mut log, last.take(), "the tool ended")?;
            break;
        }
        let message: Value = serde_json::from_str(&message).unwrap_or_default();
        match text(&message, "kind") {
            "evaluate" => {
                note(&mut log, last.take(), "")?;
                let measured = measured((name, label), &message, &response);
                bad += usize::from(measured.get("error").is_some());
                last = Some(measured);
            }
            "analysis" => {
                if let (Some(measured), Some(valid)) = (&mut last, message.get("valid")) {
                    bad += usize::from(*valid != Value::Bool(true));
                    if let Some(fields) = measured.as_object_mut() {
                        fields.insert("valid".into(), valid.clone());
                    }
                }
            }
            "define" if !response.contains("\"success\": true") && !response.contains("\"success\":true") => {
                bad += 1;
                writeln!(io::stderr(), "{name}: {}", response.trim_end())?;
            }
            _ => {}
        }
        // An eval that has heard enough ends.
        if eval.tell(&response).is_err() {
            break;
        }
    }
    note(&mut log, last.take(), "")?;
    drop((eval.input, tool.input));
    eval.child.wait()?;
    tool.child.wait()?;
    Ok(bad)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// What a response says of the time of an evaluation.
fn measured((tool, label): (&str, &str), message: &Value, response: &str) -> Value {
    let response: Value = serde_json::from_str(response).unwrap_or_default();
    let mut line = json!({
        "tool": tool,
        "eval": text(message, "module"),
        "function": text(message, "function"),
        "size": format!("{label}{}", text(message, "description")),
    });
    let Some(fields) = line.as_object_mut() else { return line };
    if response.get("success") != Some(&Value::Bool(true)) {
        let error = response.get("error").and_then(Value::as_str).unwrap_or("it failed");
        fields.insert("error".into(), error.into());
        return line;
    }
    let timings = response.get("timings").and_then(Value::as_array).into_iter().flatten();
    let mut times: Vec<u64> = timings
        .filter(|timing| text(timing, "name") == "evaluate")
        .filter_map(|timing| timing.get("nanoseconds").and_then(Value::as_u64))
        .collect();
    times.sort_unstable();
    fields.insert("runs".into(), times.len().into());
    for (name, time) in [("median", times.get(times.len() / 2)), ("least", times.first())] {
        if let Some(time) = time {
            fields.insert(name.into(), (*time).into());
        }
    }
    line
}

/// Appends a measurement, if there is one.
fn note(log: &mut impl Write, line: Option<Value>, error: &str) -> io::Result<()> {
    let Some(mut line) = line else { return Ok(()) };
    if let (Some(fields), false) = (line.as_object_mut(), error.is_empty()) {
        fields.insert("error".into(), error.into());
    }
    writeln!(log, "{line}")?;
    writeln!(io::stderr(), "{line}")
}
