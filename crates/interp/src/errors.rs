//! Everything that can go wrong while a program runs, each kind worded in one place.

use crate::step::Failure;
use std::time::Duration;
use wengert_base::Name;
use wengert_base::codes::Code;

const INDEX: &str = "E0701";
const DIVISION: &str = "E0702";
const SIZES: &str = "E0703";
const RAGGED: &str = "E0704";
const EMPTY: &str = "E0705";
const RANGE: &str = "E0706";
const NEGATIVE_POWER: &str = "E0707";
const SHIFT: &str = "E0708";
const NOT_AN_INT: &str = "E0709";
const SIZE_ARGUMENT: &str = "E0710";
const NAMED_SIZE: &str = "E0711";
const FAILED: &str = "E0712";
const NO_MATCH: &str = "E0713";
const CYCLIC: &str = "E0714";
const STEPS: &str = "E0715";
const MEMORY: &str = "E0716";
const TIME: &str = "E0717";
const INTERRUPTED: &str = "E0718";
const TAYLOR_ORDER: &str = "E0719";
const SHAPES: &str = "E0720";
const NONLINEAR_RULE: &str = "E0721";
const RULE_RESULT: &str = "E0722";
const DUAL_TANGENT: &str = "E0723";
const TAYLOR_MODE: &str = "E0724";
const POLYGAMMA: &str = "E0725";
const INTERNAL: &str = "E0799";

/// All kinds, with titles.
pub const CODES: &[Code] = &[
    Code { code: INDEX, title: "index out of range" },
    Code { code: DIVISION, title: "division of an Int by zero" },
    Code { code: SIZES, title: "arrays of different sizes" },
    Code { code: RAGGED, title: "rows of different sizes" },
    Code { code: EMPTY, title: "no element in an empty array" },
    Code { code: RANGE, title: "slice out of range" },
    Code { code: NEGATIVE_POWER, title: "negative power of an Int" },
    Code { code: SHIFT, title: "shift out of range" },
    Code { code: NOT_AN_INT, title: "no Int near this Real" },
    Code { code: SIZE_ARGUMENT, title: "a count that cannot be" },
    Code { code: NAMED_SIZE, title: "array of another size than its type says" },
    Code { code: FAILED, title: "the program called `fail`" },
    Code { code: NO_MATCH, title: "no pattern matches" },
    Code { code: CYCLIC, title: "a definition needs its own value" },
    Code { code: STEPS, title: "step limit reached" },
    Code { code: MEMORY, title: "memory limit reached" },
    Code { code: TIME, title: "time limit reached" },
    Code { code: INTERRUPTED, title: "interrupted" },
    Code { code: TAYLOR_ORDER, title: "an order of a Taylor series that cannot be" },
    Code { code: SHAPES, title: "point and tangent of different shapes" },
    Code { code: NONLINEAR_RULE, title: "a custom rule that is not linear" },
    Code { code: RULE_RESULT, title: "a custom rule's result of the wrong shape" },
    Code { code: DUAL_TANGENT, title: "the derivative of a functional on functions" },
    Code { code: TAYLOR_MODE, title: "not supported inside taylor" },
    Code { code: POLYGAMMA, title: "negative order of polygamma" },
    Code { code: INTERNAL, title: "internal error" },
];

/// `element`, `elements`
fn elements(n: usize) -> String {
    if n == 1 { "1 element".into() } else { format!("{n} elements") }
}

/// `xs[i]` with a wrong `i`.
pub(crate) fn index(index: i64, size: usize) -> Failure {
    let failure =
        Failure::new(INDEX, format!("index {index} is out of range: the array has {}", elements(size)));
    match size {
        0 => failure.help("check `length xs > 0` first"),
        _ if index < 0 => failure.help("indices count from 0; the last element is `xs[length xs - 1]`"),
        1 => failure.help("indices count from 0: the only one is 0"),
        _ => failure.help(format!("indices go from 0 to {}", size - 1)),
    }
}

/// `a / 0` and its like; `call` is the expression with its numbers.
pub(crate) fn division_by_zero(call: &str) -> Failure {
    Failure::new(DIVISION, format!("`{call}`: an `Int` cannot be divided by zero"))
        .help("test the divisor first, or convert with `real`: division of `Real`s gives `Infinity` or `NaN`")
}

/// Two arrays that should be equally long.
pub(crate) fn sizes(function: &str, first: usize, second: usize) -> Failure {
    Failure::new(
        SIZES,
        format!(
            "`{function}` needs arrays of the same size, but one has {} and the other {}",
            elements(first),
            elements(second)
        ),
    )
    .help("use `slice` to cut the longer one, or `concat` to extend the shorter one")
}

/// Two matrices, or a matrix and a vector, that do not fit.
pub(crate) fn product_sizes(function: &str, columns: usize, rows: usize) -> Failure {
    Failure::new(
        SIZES,
        format!(
            "`{function}`: the rows of the first argument have {}, but the second has {rows}",
            elements(columns)
        ),
    )
    .help(
        "the number of columns of the first must be the size of the second; perhaps a `transpose` is missing",
    )
}

/// Rows of different sizes: two rows that disagree, with their sizes.
pub(crate) fn ragged(first: (usize, &str), second: (usize, &str)) -> Failure {
    let ((i, expected), (j, found)) = (first, second);
    let sizes = format!("row {i} has size {expected}, row {j} has size {found}");
    Failure::new(RAGGED, format!("the rows of an array of arrays must agree: {sizes}"))
        .help("for rows of different lengths use a list, or an array of a data type that holds an array")
}

/// `maximum []`
pub(crate) fn empty(function: &str) -> Failure {
    Failure::new(EMPTY, format!("`{function}` of an empty array")).help(format!(
        "check `length xs > 0` first: an empty array has no {}",
        if function.ends_with("imum") { function } else { "such element" }
    ))
}

/// A slice that is not inside its array.
pub(crate) fn slice(from: i64, to: i64, size: usize) -> Failure {
    let failure = Failure::new(RANGE, format!("`slice xs {from} {to}`: the array has {}", elements(size)));
    failure.help(format!("`slice xs i j` needs `0 <= i <= j <= {size}`; it gives the elements from `i` up to but not including `j`"))
}

/// `2 ^ -1` on `Int`s.
pub(crate) fn negative_power(base: i64, exponent: i64) -> Failure {
    Failure::new(NEGATIVE_POWER, format!("`{base} ^ ({exponent})`: a negative power of an `Int` is no `Int`"))
        .help("convert the base with `real` to get a `Real`")
}

/// A shift by too much.
pub(crate) fn shift(bits: i64) -> Failure {
    Failure::new(SHIFT, format!("a shift by {bits} bits")).help("an `Int` has 64 bits: shift by 0 to 63")
}

/// `floor` of something too large.
pub(crate) fn not_an_int(function: &str, x: f64) -> Failure {
    let shown = wengert_base::real::show(x);
    let why = if x.is_nan() { "is not a number" } else { "is outside the range of `Int`" };
    Failure::new(NOT_AN_INT, format!("`{function} {shown}`: {shown} {why}"))
        .help("test with `is_nan`, or bound the argument with `clamp` first")
}

/// `build (-1) f`
pub(crate) fn negative_count(function: &str, count: i64) -> Failure {
    Failure::new(
        SIZE_ARGUMENT,
        format!("`{function}` cannot be given a negative count, and this one is {count}"),
    )
    .help("a count of 0 gives the empty case; `max 0 n` is never negative")
}

/// `iota` of something huge.
pub(crate) fn too_large(function: &str, count: i64) -> Failure {
    Failure::new(SIZE_ARGUMENT, format!("`{function}` of {count} elements does not fit into memory"))
        .help("use `iterate` or `fold` to go through the numbers without storing them")
}

/// A failed check of a size that the user named in a type.
pub(crate) fn named_size(name: Name, expected: i64, found: usize, axis: u32) -> Failure {
    let which = match axis {
        0 => "this array".to_owned(),
        1 => "the rows of this array".to_owned(),
        n => format!("this array along axis {n}"),
    };
    let said =
        if name.as_str() == expected.to_string() { name.to_string() } else { format!("{name} = {expected}") };
    Failure::new(NAMED_SIZE, format!("{which} should have size {said}, but has {found}"))
        .help("the size comes from a type annotation; leave it out as `[]` if any size will do")
}

/// `fail "…"`
pub(crate) fn failed(message: &str) -> Failure {
    Failure::new(FAILED, message.to_owned()).note("the program stopped itself with `fail`")
}

/// Nothing matched: only a program that was not checked gets here, or one that compares `NaN`.
pub(crate) fn no_match(value: &str) -> Failure {
    Failure::new(NO_MATCH, format!("no pattern matches {value}"))
        .help("add an arm `| _ -> …` for all other cases")
}

/// `def x = x`
pub(crate) fn cyclic(name: Name) -> Failure {
    Failure::new(CYCLIC, format!("the value of `{name}` is needed to compute the value of `{name}`"))
        .help("make it a function, or break the cycle")
}

/// `--max-steps`
pub(crate) fn step_limit(limit: u64) -> Failure {
    Failure::new(STEPS, format!("stopped after {limit} steps"))
        .help("raise the limit with `--max-steps`, or look for a loop without end")
}

fn bytes_text(bytes: u64) -> String {
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

/// `--max-memory`
pub(crate) fn memory_limit(limit: u64, wanted: Option<u64>) -> Failure {
    let message = match wanted {
        Some(bytes) => {
            format!("{} more would go beyond the memory limit of {}", bytes_text(bytes), bytes_text(limit))
        }
        None => format!("the program uses more than the memory limit of {}", bytes_text(limit)),
    };
    Failure::new(MEMORY, message)
        .help("raise the limit with `--max-memory`; for long loops under reverse mode, wrap the loop in `checkpoint`")
}

/// `--timeout`
pub(crate) fn timeout(limit: Duration) -> Failure {
    Failure::new(TIME, format!("stopped after {} s", limit.as_secs_f64()))
        .help("raise the limit with `--timeout`")
}

/// Control-C.
pub(crate) fn interrupted() -> Failure {
    Failure::new(INTERRUPTED, "interrupted")
}

/// `taylor (-1) f x`
pub(crate) fn taylor_order(order: i64) -> Failure {
    Failure::new(TAYLOR_ORDER, format!("`taylor` of order {order}"))
        .help("the order is the highest derivative that is wanted: 0 or more, and small enough to store")
}

/// A tangent that does not belong to its point.
pub(crate) fn shapes(operation: &str, point: &str, tangent: &str) -> Failure {
    Failure::new(SHAPES, format!("`{operation}`: the point is {point}, but the tangent is {tangent}"))
        .help("a tangent has the constructors and array sizes of its point; `zero x` is a tangent at `x`")
}

/// A rule that does something else with its tangent than adding and scaling.
pub(crate) fn nonlinear_rule(operation: &str, what: &str) -> Failure {
    Failure::new(NONLINEAR_RULE, format!("the rule of `{operation}` is not linear: {what}"))
        .help("a rule may add tangents and multiply them by numbers that do not depend on them, nothing else")
}

/// A rule whose result does not have the shape of the function's.
pub(crate) fn rule_result(operation: &str, expected: &str, found: &str) -> Failure {
    Failure::new(RULE_RESULT, format!("the rule of `{operation}` gave {found} where {expected} was expected"))
        .help("the rule's tangent (or cotangent) must have the constructors and array sizes of the value it belongs to")
}

/// Tangents of functionals on functions that cannot be represented.
pub(crate) fn dual_tangent() -> Failure {
    Failure::new(DUAL_TANGENT, "the derivative of a functional on functions is needed at a point that varies")
        .help("apply the functional with `apply_dual` inside the function that is differentiated")
}

/// Whether only recording stands in the way, and forward mode would do.
pub(crate) fn is_limit_of_recording(failure: &Failure) -> bool {
    matches!(failure.0.code, DUAL_TANGENT | TAYLOR_MODE)
}

/// Something that `taylor` cannot go through.
pub(crate) fn taylor_mode(what: &str) -> Failure {
    Failure::new(TAYLOR_MODE, format!("{what} cannot be used inside `taylor`"))
        .help("nest `derivative` instead: it goes through everything, at a higher price")
}

/// `polygamma (-1) x`
pub(crate) fn polygamma(order: i64) -> Failure {
    Failure::new(
        POLYGAMMA,
        format!("`polygamma {order}`: the order must be 0 or more, and at most {}", u32::MAX),
    )
    .help("`polygamma n` is the derivative of order `n` of `digamma`; `polygamma 0` is `digamma` itself")
}

/// A value that the types exclude: only a core program that was not verified gets here.
pub(crate) fn internal(what: &str) -> Failure {
    Failure::new(INTERNAL, format!("internal error: {what}"))
        .help("this is a mistake in the interpreter, not in your program; please report it")
}
