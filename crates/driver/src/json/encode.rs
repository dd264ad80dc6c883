//! Values to JSON text, on an explicit stack.

use std::io::{self, Write};
use wengert_base::real;
use wengert_interp::value::{Array, Value};

/// Writes `value`; functions and functionals, which have no JSON form, as the string that `eval` prints.
pub fn write(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    let mut stack = vec![Task::Value(value)];
    while let Some(task) = stack.pop() {
        match task {
            Task::Text(text) => out.write_all(text.as_bytes())?,
            Task::Value(value) => write_value(out, value, &mut stack)?,
            Task::Items { names, items, next } => {
                let Some(item) = items.get(next) else { continue };
                if next > 0 {
                    out.write_all(b", ")?;
                }
                if let Some(name) = names.get(next) {
                    write_string(out, name.as_str())?;
                    out.write_all(b": ")?;
                }
                stack.push(Task::Items { names, items, next: next + 1 });
                stack.push(Task::Value(item));
            }
        }
    }
    Ok(())
}

/// The JSON text of `value`.
pub fn to_string(value: &Value) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail, and everything written is UTF-8.
    let _ = write(&mut out, value);
    String::from_utf8(out).unwrap_or_default()
}

enum Task<'a> {
    Text(&'static str),
    Value(&'a Value),
    Items { names: &'a [wengert_base::Name], items: &'a [Value], next: usize },
}

fn write_value<'a>(out: &mut dyn Write, value: &'a Value, stack: &mut Vec<Task<'a>>) -> io::Result<()> {
    match value {
        Value::Real(x) => write_real(out, *x),
        Value::Active(active) => {
            stack.push(Task::Value(&active.primal));
            Ok(())
        }
        Value::Int(n) => write!(out, "{n}"),
        Value::Bool(b) => write!(out, "{b}"),
        Value::String(text) => write_string(out, text.as_str()),
        Value::Tuple(fields) => open(out, stack, "[", &[], fields.as_slice(), "]"),
        Value::Record(record) => open(out, stack, "{", &record.names, record.fields.as_slice(), "}"),
        Value::Data(data) => {
            out.write_all(b"{\"tag\": ")?;
            write_string(out, data.ctor.name.as_str())?;
            open(out, stack, ", \"fields\": [", &[], data.fields.as_slice(), "]}")
        }
        Value::Array(array) => match array.as_ref() {
            Array::Reals(items) => write_numbers(out, items.as_slice(), |out, x| write_real(out, *x)),
            Array::Ints(items) => write_numbers(out, items.as_slice(), |out, n| write!(out, "{n}")),
            Array::Values(items) => open(out, stack, "[", &[], items.as_slice(), "]"),
        },
        Value::Fun(_) | Value::Dual(_) | Value::Cotangent(_) => {
            write_string(out, &wengert_interp::show::show(value))
        }
    }
}

fn open<'a>(
    out: &mut dyn Write,
    stack: &mut Vec<Task<'a>>,
    before: &str,
    names: &'a [wengert_base::Name],
    items: &'a [Value],
    after: &'static str,
) -> io::Result<()> {
    stack.push(Task::Text(after));
    stack.push(Task::Items { names, items, next: 0 });
    out.write_all(before.as_bytes())
}

fn write_numbers<T>(
    out: &mut dyn Write,
    items: &[T],
    write: impl Fn(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.write_all(b", ")?;
        }
        write(out, item)?;
    }
    out.write_all(b"]")
}

fn write_real(out: &mut dyn Write, x: f64) -> io::Result<()> {
    match x.is_finite() {
        true => out.write_all(real::show(x).as_bytes()),
        false => write!(out, "\"{}\"", real::show(x)),
    }
}

fn write_string(out: &mut dyn Write, text: &str) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}
