//! The words of faults: message, notes, help. All wording of run-time errors is here.

use crate::Fault;
use std::borrow::Cow;
use wengert_base::{Name, real};

impl Fault {
    /// What is wrong.
    pub fn message(&self) -> String {
        match self {
            Fault::Index { index, size } => {
                format!("index {index} is out of range: the array has {}", elements(*size))
            }
            Fault::Division { function, dividend } => {
                format!("`{}`: an `Int` cannot be divided by zero", division(*function, *dividend))
            }
            Fault::Sizes { function, first, second } => {
                let (first, second) = (elements(*first), elements(*second));
                format!(
                    "`{function}` needs arrays of the same size, but one has {first} and the other {second}"
                )
            }
            Fault::ProductSizes { function, columns, rows } => {
                let columns = elements(*columns);
                format!(
                    "`{function}`: the rows of the first argument have {columns}, but the second has {rows}"
                )
            }
            Fault::Ragged { first: (i, expected), second: (j, found) } => {
                let sizes = format!("row {i} has size {expected}, row {j} has size {found}");
                format!("the rows of an array of arrays must agree: {sizes}")
            }
            Fault::Empty { function } => format!("`{function}` of an empty array"),
            Fault::Slice { from, to, size } => {
                format!("`slice xs {from} {to}`: the array has {}", elements(*size))
            }
            Fault::NegativePower { base, exponent } => {
                format!("`{base} ^ ({exponent})`: a negative power of an `Int` is no `Int`")
            }
            Fault::Shift { bits } => format!("a shift by {bits} bits"),
            Fault::NotAnInt { function, x } => {
                let shown = real::show(*x);
                let why = if x.is_nan() { "is not a number" } else { "is outside the range of `Int`" };
                format!("`{function} {shown}`: {shown} {why}")
            }
            Fault::NegativeCount { function, count } => {
                format!("`{function}` cannot be given a negative count, and this one is {count}")
            }
            Fault::TooLarge { function, count } => {
                format!("`{function}` of {count} elements does not fit into memory")
            }
            Fault::NamedSize { name, expected, found, axis } => named_size(*name, *expected, *found, *axis),
            Fault::Failed { message } => message.clone(),
            Fault::NoMatch { value } => format!("no pattern matches {value}"),
            Fault::Cyclic { name } => {
                format!("the value of `{name}` is needed to compute the value of `{name}`")
            }
            Fault::Steps { limit } => format!("stopped after {limit} steps"),
            Fault::Memory { limit } => {
                format!("the program uses more than the memory limit of {}", bytes(*limit))
            }
            Fault::Time { limit } => format!("stopped after {} s", limit.as_secs_f64()),
            Fault::Interrupted => "interrupted".into(),
            Fault::TaylorOrder { order } => format!("`taylor` of order {order}"),
            Fault::Shapes { operation, point, tangent } => {
                format!("`{operation}`: the point is {point}, but the tangent is {tangent}")
            }
            Fault::NonlinearRule { operation, what } => {
                format!("the rule of `{operation}` is not linear: {what}")
            }
            Fault::RuleResult { operation, expected, found } => {
                format!("the rule of `{operation}` gave {found} where {expected} was expected")
            }
            Fault::DualTangent => {
                "the derivative of a functional on functions is needed at a point that varies".into()
            }
            Fault::TaylorMode { what } => format!("{what} cannot be used inside `taylor`"),
            Fault::Polygamma { order } => {
                format!("`polygamma {order}`: the order must be 0 or more, and at most {}", u32::MAX)
            }
            Fault::Internal { what } => format!("internal error: {what}"),
        }
    }

    /// Facts that help to understand.
    pub fn notes(&self) -> Vec<String> {
        if matches!(self, Fault::Failed { .. }) {
            return vec!["the program stopped itself with `fail`".into()];
        }
        Vec::new()
    }

    /// What to do.
    pub fn help(&self) -> Option<String> {
        let help: Cow<'static, str> = match self {
            Fault::Index { index, size } => index_help(*index, *size),
            Fault::Division { .. } => {
                "test the divisor first, or convert with `real`: division of `Real`s gives `Infinity` or `NaN`".into()
            }
            Fault::Sizes { .. } => {
                "use `slice` to cut the longer one, or `concat` to extend the shorter one".into()
            }
            Fault::ProductSizes { .. } => {
                "the number of columns of the first must be the size of the second; perhaps a `transpose` is missing".into()
            }
            Fault::Ragged { .. } => {
                "for rows of different lengths use a list, or an array of a data type that holds an array".into()
            }
            Fault::Empty { function } => {
                let name = function.as_str();
                let missing = if name.ends_with("imum") { name } else { "such element" };
                format!("check `length xs > 0` first: an empty array has no {missing}").into()
            }
            Fault::Slice { size, .. } => {
                format!("`slice xs i j` needs `0 <= i <= j <= {size}`; it gives the elements from `i` up to but not including `j`")
                    .into()
            }
            Fault::NegativePower { .. } => "convert the base with `real` to get a `Real`".into(),
            Fault::Shift { .. } => "an `Int` has 64 bits: shift by 0 to 63".into(),
            Fault::NotAnInt { .. } => "test with `is_nan`, or bound the argument with `clamp` first".into(),
            Fault::NegativeCount { .. } => {
                "a count of 0 gives the empty case; `max 0 n` is never negative".into()
            }
            Fault::TooLarge { .. } => {
                "use `iterate` or `fold` to go through the numbers without storing them".into()
            }
            Fault::NamedSize { .. } => {
                "the size comes from a type annotation; leave it out as `[]` if any size will do".into()
            }
            Fault::NoMatch { .. } => "add an arm `| _ -> …` for all other cases".into(),
            Fault::Cyclic { .. } => "make it a function, or break the cycle".into(),
            Fault::Steps { .. } => "raise the limit with `--max-steps`, or look for a loop without end".into(),
            Fault::Memory { .. } => {
                "raise the limit with `--max-memory`; for long loops under reverse mode, wrap the loop in `checkpoint`".into()
            }
            Fault::Time { .. } => "raise the limit with `--timeout`".into(),
            Fault::Failed { .. } | Fault::Interrupted => return None,
            Fault::TaylorOrder { .. } => {
                "the order is the highest derivative that is wanted: 0 or more, and small enough to store".into()
            }
            Fault::Shapes { .. } => {
                "a tangent has the constructors and array sizes of its point; `zero x` is a tangent at `x`".into()
            }
            Fault::NonlinearRule { .. } => {
                "a rule may add tangents and multiply them by numbers that do not depend on them, nothing else".into()
            }
            Fault::RuleResult { .. } => {
                "the rule's tangent (or cotangent) must have the constructors and array sizes of the value it belongs to".into()
            }
            Fault::DualTangent => {
                "apply the functional with `apply_dual` inside the function that is differentiated".into()
            }
            Fault::TaylorMode { .. } => {
                "nest `derivative` instead: it goes through everything, at a higher price".into()
            }
            Fault::Polygamma { .. } => {
                "`polygamma n` is the derivative of order `n` of `digamma`; `polygamma 0` is `digamma` itself".into()
            }
            Fault::Internal { .. } => {
                "this is a mistake in the interpreter, not in your program; please report it".into()
            }
        };
        Some(help.into_owned())
    }
}

/// `1 element`, `3 elements`
fn elements(n: usize) -> String {
    if n == 1 { "1 element".into() } else { format!("{n} elements") }
}

/// The expression with its numbers: `7 / 0`, `div 7 0`.
fn division(function: Name, dividend: i64) -> String {
    let is_operator = !function.as_str().starts_with(char::is_alphabetic);
    if is_operator { format!("{dividend} {function} 0") } else { format!("{function} {dividend} 0") }
}

fn index_help(index: i64, size: usize) -> Cow<'static, str> {
    match size {
        0 => "check `length xs > 0` first".into(),
        _ if index < 0 => "indices count from 0; the last element is `xs[length xs - 1]`".into(),
        1 => "indices count from 0: the only one is 0".into(),
        _ => format!("indices go from 0 to {}", size - 1).into(),
    }
}

fn named_size(name: Name, expected: i64, found: usize, axis: u32) -> String {
    let which = match axis {
        0 => "this array".to_owned(),
        1 => "the rows of this array".to_owned(),
        n => format!("this array along axis {n}"),
    };
    let said =
        if name.as_str() == expected.to_string() { name.to_string() } else { format!("{name} = {expected}") };
    format!("{which} should have size {said}, but has {found}")
}

fn bytes(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    if bytes >= GIB && bytes.is_multiple_of(GIB) {
        format!("{} GiB", bytes / GIB)
    } else if bytes >= MIB {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{bytes} bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CODES;

    #[test]
    fn codes_are_listed_once_and_in_order() {
        let codes: Vec<&str> = CODES.iter().map(|code| code.code).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
    }

    #[test]
    fn faults_are_worded() {
        let index = |index, size| Fault::Index { index, size }.help().expect("there is help");
        assert_eq!(index(0, 0), "check `length xs > 0` first");
        assert_eq!(index(-1, 2), "indices count from 0; the last element is `xs[length xs - 1]`");
        assert_eq!(index(1, 1), "indices count from 0: the only one is 0");
        assert_eq!(index(5, 5), "indices go from 0 to 4");
        let divided = |function: &str| Fault::Division { function: function.into(), dividend: 7 }.message();
        assert_eq!(divided("/"), "`7 / 0`: an `Int` cannot be divided by zero");
        assert_eq!(divided("mod"), "`mod 7 0`: an `Int` cannot be divided by zero");
        assert_eq!(
            Fault::Memory { limit: 4 << 30 }.message(),
            "the program uses more than the memory limit of 4 GiB"
        );
        let named =
            |name: &str, axis| Fault::NamedSize { name: name.into(), expected: 3, found: 2, axis }.message();
        assert_eq!(named("3", 0), "this array should have size 3, but has 2");
        assert_eq!(named("n", 2), "this array along axis 2 should have size n = 3, but has 2");
        assert_eq!(
            Fault::Failed { message: "no".into() }.notes(),
            ["the program stopped itself with `fail`"]
        );
    }
}
