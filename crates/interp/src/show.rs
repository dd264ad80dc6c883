//! How values are printed: the contract's notation. A work list instead of recursion, as lists are deep.

use crate::derivative::reverse;
use crate::step::{Context, Failure};
use crate::value::{Array, Value};
use wengert_base::real;
use wengert_base::text::quote;

/// How much of a value is shown inside a message.
pub const IN_MESSAGES: usize = 60;

/// What is left to print.
enum Part {
    /// Text.
    Text(&'static str),
    /// A name.
    Name(&'static str),
    /// A value; `argument` says that a compound one needs parentheses.
    Value { value: Value, argument: bool },
}

/// The longest text of a value: a shared value may be small in memory and endless on paper.
const LONGEST: usize = 1 << 28;

/// The whole value (but no more than 256 MiB of it).
pub fn show(value: &Value) -> String {
    show_bounded(value, LONGEST)
}

/// The value as far as about `limit` characters, then `…`.
pub fn show_bounded(value: &Value, limit: usize) -> String {
    write(value, limit, |_| Ok(())).unwrap_or_default()
}

/// The whole value, within the limits of the evaluation.
pub(crate) fn show_within(cx: &mut Context, value: &Value) -> Result<String, Failure> {
    let mut shown = 0;
    write(value, usize::MAX, |length| {
        cx.reserve(2 * (length - shown) as u64)?;
        shown = length;
        cx.work(1)
    })
}

fn write(
    value: &Value,
    limit: usize,
    mut check: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut out = String::new();
    let mut todo = vec![Part::Value { value: value.clone(), argument: false }];
    while let Some(part) = todo.pop() {
        if out.len() > limit {
            let mut end = limit;
            while !out.is_char_boundary(end) {
                end -= 1;
            }
            out.truncate(end);
            out.push('…');
            return Ok(out);
        }
        match part {
            Part::Text(text) | Part::Name(text) => out.push_str(text),
            Part::Value { value, argument } => show_value(&mut out, &mut todo, &value, argument, limit),
        }
        check(out.len())?;
    }
    Ok(out)
}

fn show_value(out: &mut String, todo: &mut Vec<Part>, value: &Value, argument: bool, limit: usize) {
    match value {
        Value::Real(x) => number(out, &real::show(*x), argument),
        Value::Active(active) => {
            todo.push(Part::Value { value: active.primal.clone(), argument });
        }
        Value::Int(n) => number(out, &n.to_string(), argument),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::String(text) => out.push_str(&quote(text.as_str())),
        Value::Tuple(items) => {
            let items = items.as_slice().iter().cloned();
            sequence(todo, "(", items.map(|item| vec![plain(item)]), ")");
        }
        Value::Record(record) => {
            let fields = record.names.iter().zip(record.fields.as_slice());
            let fields = fields.map(|(name, value)| {
                vec![Part::Name(name.as_str()), Part::Text(" = "), plain(value.clone())]
            });
            sequence(todo, "{", fields, "}");
        }
        Value::Data(data) => {
            let parentheses = argument && !data.fields.is_empty();
            if parentheses {
                out.push('(');
                todo.push(Part::Text(")"));
            }
            out.push_str(data.ctor.name.as_str());
            for field in data.fields.as_slice().iter().rev() {
                todo.push(Part::Value { value: field.clone(), argument: true });
                todo.push(Part::Text(" "));
            }
        }
        Value::Array(array) => show_array(out, todo, array, limit),
        Value::Fun(_) => out.push_str("<function>"),
        Value::Dual(cotangent) => match cotangent.get(0) {
            Some(inner) if reverse::is_first_order(inner) => {
                todo.push(Part::Text(">"));
                todo.push(plain(inner.clone()));
                todo.push(Part::Text("<dual "));
            }
            _ => out.push_str("<dual>"),
        },
        Value::Cotangent(_) => out.push_str("<dual>"),
    }
}

fn plain(value: Value) -> Part {
    Part::Value { value, argument: false }
}

fn number(out: &mut String, text: &str, argument: bool) {
    if argument && text.starts_with('-') {
        out.push('(');
        out.push_str(text);
        out.push(')');
    } else {
        out.push_str(text);
    }
}

/// Flat arrays are printed at once; others are put on the work list, but not much more than will be shown.
fn show_array(out: &mut String, todo: &mut Vec<Part>, array: &Array, limit: usize) {
    match array {
        Array::Reals(items) => flat(out, items.as_slice().iter().map(|x| real::show(*x)), limit),
        Array::Ints(items) => flat(out, items.as_slice().iter().map(i64::to_string), limit),
        Array::Values(items) => {
            let items = items.as_slice().iter().take(limit.saturating_add(1)).cloned();
            sequence(todo, "[", items.map(|item| vec![plain(item)]), "]");
        }
    }
}

fn flat(out: &mut String, items: impl Iterator<Item = String>, limit: usize) {
    out.push('[');
    for (i, item) in items.enumerate() {
        if out.len() > limit {
            break;
        }
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&item);
    }
    out.push(']');
}

/// Puts `open`, the items with commas between them, and `close` on the work list.
fn sequence(
    todo: &mut Vec<Part>,
    open: &'static str,
    items: impl Iterator<Item = Vec<Part>>,
    close: &'static str,
) {
    let mut parts = vec![Part::Text(open)];
    for (i, item) in items.enumerate() {
        if i > 0 {
            parts.push(Part::Text(", "));
        }
        parts.extend(item);
    }
    parts.push(Part::Text(close));
    todo.extend(parts.into_iter().rev());
}
