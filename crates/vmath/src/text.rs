//! The functions as C text.
//!
//! Each function is traced (see `tracer`), and what its result does not need is left out. The main paths are
//! `static inline` functions without a branch or a call, which the system's compiler makes vector code of inside a loop.
//! Truth values are written where they are used.

use crate::block;
use crate::coefficients::TWO_OVER_PI_BITS;
use crate::function::{Angle, Function, Gamma, Rare};
use crate::gamma;
use crate::tracer::{Node, Record, Tracer};
use crate::trig::{self, Reduced};
use std::cell::RefCell;
use std::fmt::Write as _;

/// Flags for the C compiler. Without the first the text does not keep its promises: the compiler must not contract
/// products and sums on its own. The others let it make vector code: it need not think of `errno` and traps.
pub const C_FLAGS: &[&str] = &["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"];

const PRELUDE: &str = include_str!("prelude.c.txt");
const HUGE: &str = include_str!("huge.c.txt");
const LGAMMA_SLOW: &str = "\
static WG_COLD double wg_lgamma_slow(double a0) { return __builtin_lgamma(a0); }
";
const DIGAMMA_SLOW: &str = "\
static inline double wg_digamma(double a0);
static WG_COLD double wg_digamma_slow(double a0) {
    double pi = 0x1.921fb54442d18p1, offset = a0 - __builtin_round(a0);
    if (offset == 0.0) return __builtin_nan(\"\");
    double tangent = wg_tan(pi * offset);
    return wg_digamma(1.0 - a0) - pi / tangent;
}
";

/// The whole text: for each [`Function`] `f` a `static inline double wg_f`, right for all arguments.
///
/// For those with rare arguments ([`Function::has_rare_arguments`]) there are besides `wg_f_main`, without branches, and
/// `wg_f_rare`, which says whether an argument is not for it. A loop that is to be vector code calls the former,
/// collects with `|` what the latter says, and if that is not 0 in the end, runs again with `wg_f`. One number at a time
/// angles that need no reduction (`wg_f_near`) take a shorter way to the same bits, and `lgamma` and `digamma` compute
/// only the piece that the argument is in. The bits are those of the kernels, except for `lgamma` of negative numbers,
/// which is the C library's.
pub fn c_source() -> String {
    let words: String = TWO_OVER_PI_BITS.iter().map(|word| format!("    {word:#018x}ull,\n")).collect();
    let mut text = String::from(PRELUDE);
    text.push_str(&HUGE.replace("@TABLE@\n", &words));
    for function in Function::ALL {
        define(&mut text, *function);
    }
    text
}

/// The functions that make one function.
fn define(text: &mut String, function: Function) {
    let name = function.name();
    let _ = writeln!(text, "\n/* {} */", function.doc());
    let params = if function.arity() == 2 { "double a0, double a1" } else { "double a0" };
    let main = traced(|m| {
        let (x, y) = (m.parameter(0), m.parameter(u32::from(function.arity() == 2)));
        function.main_path(m, x, y).number
    });
    let Some(rare) = function.rare() else {
        body(text, &format!("double wg_{name}({params})"), &main);
        return;
    };
    body(text, &format!("double wg_{name}_main({params})"), &main);
    let condition = traced(|m| block::is_rare(m, rare, m.parameter(0)));
    body(text, &format!("int wg_{name}_rare({params})"), &condition);
    match rare {
        Rare::Angle(angle) => define_angle(text, name, angle),
        Rare::Gamma(function) => define_gamma(text, name, function),
    }
}

/// The other functions that make a function of angles.
fn define_angle(text: &mut String, name: &str, angle: Angle) {
    let near = traced(|m| trig::near(m, m.parameter(0)));
    body(text, &format!("int wg_{name}_near(double a0)"), &near);
    let small = traced(|m| block::near(m, angle, m.parameter(0)).number);
    body(text, &format!("double wg_{name}_small(double a0)"), &small);
    let reduced = traced(|m| {
        let given = Reduced { n: m.word_parameter(0), r: m.parameter(1), low: m.parameter(2) };
        match angle {
            Angle::Sin => trig::sin_reduced(m, given).number,
            Angle::Cos => trig::cos_reduced(m, given).number,
            Angle::Tan => trig::tan_reduced(m, given).number,
        }
    });
    body(text, &format!("double wg_{name}_reduced(uint64_t a0, double a1, double a2)"), &reduced);
    let _ = write!(
        text,
        "static WG_COLD double wg_{name}_huge(double a0) {{\n    double r, low;\n    uint64_t n = \
         wg_reduce_huge(a0, &r, &low);\n    return wg_{name}_reduced(n, r, low);\n}}\n\
         static inline double wg_{name}(double a0) {{\n    if (wg_{name}_near(a0)) return wg_{name}_small(a0);\n    \
         if (wg_{name}_rare(a0)) return wg_{name}_huge(a0);\n    return wg_{name}_main(a0);\n}}\n"
    );
}

/// The other functions that make `lgamma` or `digamma`: one for each piece of the positive numbers, and one for the rest.
fn define_gamma(text: &mut String, name: &str, function: Gamma) {
    let ends = gamma::ends(function);
    for number in 0..=ends.len() {
        let piece = traced(|m| gamma::piece(m, function, number, m.parameter(0)).number);
        body(text, &format!("double wg_{name}_piece_{number}(double a0)"), &piece);
    }
    text.push_str(match function {
        Gamma::Lgamma => LGAMMA_SLOW,
        Gamma::Digamma => DIGAMMA_SLOW,
    });
    let _ = writeln!(
        text,
        "static inline double wg_{name}(double a0) {{\n    if (wg_{name}_rare(a0)) return wg_{name}_slow(a0);"
    );
    for (number, end) in ends.iter().enumerate() {
        let _ = writeln!(text, "    if (a0 < {}) return wg_{name}_piece_{number}(a0);", constant(*end));
    }
    let _ = writeln!(text, "    return wg_{name}_piece_{}(a0);\n}}", ends.len());
}

/// What was written down, and the number of the result.
struct Trace {
    nodes: Vec<Node>,
    result: usize,
}

fn traced(build: impl Fn(Tracer<'_>) -> usize) -> Trace {
    let record = RefCell::new(Record::default());
    let result = build(Tracer(&record));
    Trace { nodes: record.into_inner().nodes, result }
}

/// A C function that does what was written down.
fn body(text: &mut String, head: &str, trace: &Trace) {
    let needed = needed(trace);
    let _ = writeln!(text, "WG_MATH {head} {{");
    for (number, (node, _)) in trace.nodes.iter().zip(&needed).enumerate().filter(|(_, (_, needed))| **needed)
    {
        let kind = match kind(*node) {
            Kind::Real => "double",
            Kind::Word => "uint64_t",
            Kind::InPlace => continue,
        };
        let _ = writeln!(text, "    {kind} t{number} = {};", operation(trace, *node));
    }
    let _ = writeln!(text, "    return {};\n}}", operand(trace, trace.result));
}

/// Which operations the result needs.
fn needed(trace: &Trace) -> Vec<bool> {
    let mut needed = vec![false; trace.nodes.len()];
    if let Some(result) = needed.get_mut(trace.result) {
        *result = true;
    }
    for (number, node) in trace.nodes.iter().enumerate().rev() {
        if needed.get(number) != Some(&true) {
            continue;
        }
        let operands = match *node {
            Node::Real(_) | Node::Word(_) | Node::Constant(_) | Node::Bits(_) => [None; 3],
            Node::Unary(_, a) | Node::Shift(_, a, _) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Ternary(_, a, b, c) => [Some(a), Some(b), Some(c)],
        };
        for operand in operands.into_iter().flatten() {
            if let Some(place) = needed.get_mut(operand) {
                *place = true;
            }
        }
    }
    needed
}

enum Kind {
    Real,
    Word,
    /// Written where it is used.
    InPlace,
}

fn kind(node: Node) -> Kind {
    match node {
        Node::Real(_) | Node::Word(_) | Node::Constant(_) | Node::Bits(_) => Kind::InPlace,
        Node::Shift(..) => Kind::Word,
        Node::Unary(name, _) | Node::Binary(name, ..) | Node::Ternary(name, ..) => {
            if name.starts_with('m') {
                Kind::InPlace
            } else if name.starts_with("w") && !name.starts_with("wg_") || name == "wg_bits" {
                Kind::Word
            } else {
                Kind::Real
            }
        }
    }
}

/// How an operation is used.
fn operand(trace: &Trace, number: usize) -> String {
    let Some(node) = trace.nodes.get(number) else { return String::new() };
    match kind(*node) {
        Kind::InPlace => operation(trace, *node),
        Kind::Real | Kind::Word => format!("t{number}"),
    }
}

/// An operation.
fn operation(trace: &Trace, node: Node) -> String {
    let at = |number: usize| operand(trace, number);
    match node {
        Node::Real(place) | Node::Word(place) => format!("a{place}"),
        Node::Constant(bits) => constant(f64::from_bits(bits)),
        Node::Bits(bits) => format!("{bits:#x}ull"),
        Node::Unary("-", a) => format!("-{}", at(a)),
        Node::Unary("m!", a) => format!("!{}", at(a)),
        Node::Unary("m!=", a) => format!("({} != 0)", at(a)),
        Node::Unary(name, a) => format!("{name}({})", at(a)),
        Node::Binary("__builtin_copysign", a, b) => format!("__builtin_copysign({}, {})", at(a), at(b)),
        Node::Binary(name, a, b) => match name.strip_prefix('m') {
            Some(sign) => format!("({} {sign} {})", at(a), at(b)),
            None => format!("{} {} {}", at(a), name.trim_start_matches('w'), at(b)),
        },
        Node::Ternary("select", mask, a, b) => format!("{} ? {} : {}", at(mask), at(a), at(b)),
        Node::Ternary(name, a, b, c) => format!("{name}({}, {}, {})", at(a), at(b), at(c)),
        Node::Shift(sign, a, by) => format!("{} {sign} {by}", at(a)),
    }
}

/// A double, exactly.
fn constant(x: f64) -> String {
    if x.is_nan() {
        return "__builtin_nan(\"\")".to_string();
    }
    let sign = if x.is_sign_negative() { "-" } else { "" };
    let bits = x.to_bits();
    let fraction = bits & 0x000f_ffff_ffff_ffff;
    let text = match (bits >> 52) & 0x7ff {
        0 if fraction == 0 => "0.0".to_string(),
        0 => format!("0x0.{fraction:013x}p-1022"),
        0x7ff => "__builtin_inf()".to_string(),
        exponent => {
            let digits = format!("{fraction:013x}");
            let digits = digits.trim_end_matches('0');
            let point = if digits.is_empty() { "" } else { "." };
            format!("0x1{point}{digits}p{}", i64::try_from(exponent).unwrap_or(0) - 1023)
        }
    };
    format!("{sign}{text}")
}
