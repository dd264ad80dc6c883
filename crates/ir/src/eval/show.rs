//! Values as text, for tests and messages to developers: constructors are numbers, for a value does not know its type.
//!
//! `[[1.0, 2.0], [3.0, 4.0]]`, `1(2.0, 0())`

use super::value::{Array, Value};
use std::fmt;
use wengert_base::real;

/// What is left to print.
enum Part {
    Text(&'static str),
    Value(Value),
}

impl fmt::Display for Value {
    /// A work list instead of recursion, as lists are deep.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut todo = vec![Part::Value(self.clone())];
        while let Some(part) = todo.pop() {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Value(value) => match &value {
                    Value::Real(x) => f.write_str(&real::show(*x))?,
                    Value::Int(n) => write!(f, "{n}")?,
                    Value::Bool(truth) => write!(f, "{truth}")?,
                    Value::Text(text) => write!(f, "{:?}", text.as_str())?,
                    Value::Unit => f.write_str("()")?,
                    Value::Data(node) => {
                        write!(f, "{}(", node.ctor)?;
                        list(&mut todo, node.fields().iter().cloned(), ")");
                    }
                    Value::Array(array) => {
                        f.write_str("[")?;
                        list(&mut todo, rows(array), "]");
                    }
                },
            }
        }
        Ok(())
    }
}

fn rows(array: &Array) -> impl Iterator<Item = Value> + '_ {
    (0..array.rows()).map(|i| array.row(i).unwrap_or(Value::Unit))
}

fn list(todo: &mut Vec<Part>, items: impl Iterator<Item = Value>, close: &'static str) {
    let mut parts = Vec::new();
    for (i, item) in items.enumerate() {
        if i > 0 {
            parts.push(Part::Text(", "));
        }
        parts.push(Part::Value(item));
    }
    parts.push(Part::Text(close));
    todo.extend(parts.into_iter().rev());
}
