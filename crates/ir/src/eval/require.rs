//! Requirements: what it means that two integers differ.

use super::scalar::mistyped;
use super::value::Value;
use crate::op::Requirement;
use crate::program::Program;
use crate::ty::DataId;
use wengert_base::Name;
use wengert_fault::Fault;

/// Fails if the two operands differ.
pub(super) fn require(program: &Program, what: Requirement, args: &[Value]) -> Result<(), Fault> {
    match args {
        [Value::Int(left), Value::Int(right)] if left == right => Ok(()),
        [Value::Int(left), Value::Int(right)] => Err(broken(program, what, *left, *right)),
        _ => Err(mistyped("integers")),
    }
}

/// What a requirement says when its two sides differ: for every engine.
pub fn broken(program: &Program, what: Requirement, left: i64, right: i64) -> Fault {
    // Sizes come from arrays: they are not negative.
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let counted =
        |n: i64, one: &str, many: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
    match what {
        Requirement::SameSize(function) => Fault::Sizes { function, first: size(left), second: size(right) },
        Requirement::ProductSize(function) => {
            Fault::ProductSizes { function, columns: size(left), rows: size(right) }
        }
        Requirement::NamedSize(name, axis) => {
            Fault::NamedSize { name, expected: left, found: size(right), axis }
        }
        // What is one array outside has one size: the second cannot be.
        Requirement::Rows | Requirement::Beside => {
            Fault::Ragged { first: (0, left.to_string()), second: (1, right.to_string()) }
        }
        Requirement::Count(function) if left < 0 => Fault::NegativeCount { function, count: left },
        Requirement::Count(function) => Fault::TooLarge { function, count: left },
        Requirement::Shape(operation) => {
            let [point, tangent] =
                [left, right].map(|n| format!("an array of {}", counted(n, "element", "elements")));
            shapes(operation, point, tangent)
        }
        Requirement::SameCtor(operation, data) => {
            let [point, tangent] = [left, right].map(|ctor| constructor(program, data, size(ctor)));
            shapes(operation, point, tangent)
        }
        Requirement::Reals(operation) => {
            let [holds, given] = [left, right].map(|n| counted(n, "`Real`", "`Real`s"));
            let (point, tangent) = (format!("a value that holds {holds}"), format!("an array of {given}"));
            Fault::Shapes { operation, point, tangent }
        }
    }
}

/// That a tangent does not belong to a point; where a rule of the user's gave it, the rule is to blame.
fn shapes(operation: Name, point: String, tangent: String) -> Fault {
    if ["custom_jvp", "custom_vjp"].contains(&operation.as_str()) {
        return Fault::RuleResult { operation, expected: point, found: tangent };
    }
    Fault::Shapes { operation, point, tangent }
}

/// ``a `Cons` ``
fn constructor(program: &Program, data: DataId, ctor: usize) -> String {
    match program.data.get(data).and_then(|data| data.ctors.get(ctor)) {
        Some(ctor) => format!("a `{}`", ctor.name),
        None => "another constructor".into(),
    }
}
