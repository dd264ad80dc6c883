//! The words of the text form, for printer and parser: names of operations, reserved words, which names need quotes.
//!
//! Arithmetic is written alike on reals and integers (`x + y`, `min(x, y)`): the operands tell which is meant.

use crate::op::{ArrayOp, Compare, Convert, IntOp, Lie, TextOp};
use wengert_prim::RealOp;

/// Words that are no names unless in back-quotes.
pub(crate) const RESERVED: &[&str] = &[
    "if",
    "else",
    "match",
    "each",
    "for",
    "reduce",
    "while",
    "do",
    "backward",
    "forward",
    "linearize",
    "jvp",
    "custom",
    "taylor",
    "checkpoint",
    "require",
    "with",
    "empty",
    "yield",
    "return",
    "true",
    "false",
    "NaN",
    "Infinity",
];

/// Types that are no data types.
pub(crate) const TYPES: &[&str] = &["Real", "Int", "Bool", "Text", "Unit"];

/// An operation that is written as a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Word {
    /// On reals.
    Real(RealOp),
    /// On integers.
    Int(IntOp),
    /// On either.
    Number(RealOp, IntOp),
    /// `power(x, 3)`: with a literal exponent that counts as not known.
    Power,
    /// `polygamma(n, x)`, `polygamma[3](x)`
    Polygamma,
    /// A conversion.
    Convert(Convert),
    /// `not(c)`
    Not,
    /// `select(c, x, y)`
    Select,
    /// An operation on texts.
    Text(TextOp),
    /// `show(x)`: the operand tells what is shown.
    Show,
    /// `fail("…")`
    Fail,
    Whole,
    /// `stop_gradient(x, y)`
    StopGradient,
    /// `length(xs)`, `length(xs, 1)`
    Length,
    /// An array operation.
    Array(ArrayOp),
}

/// Operations that are written between their operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Infix {
    /// On reals or integers; `+` on arrays too.
    Number(RealOp, IntOp),
    /// A comparison.
    Compare(Compare),
    /// `x % y`
    Rem,
    /// `x ** y`
    Pow,
    /// `x ^ n`
    Power,
    /// `a ++ b`
    Append,
}

/// All infix symbols, longer ones before their prefixes.
pub(crate) const INFIX: &[(&str, Infix)] = &[
    ("++", Infix::Append),
    ("**", Infix::Pow),
    ("==", Infix::Compare(Compare::Eq)),
    ("!=", Infix::Compare(Compare::Ne)),
    ("<=", Infix::Compare(Compare::Le)),
    (">=", Infix::Compare(Compare::Ge)),
    ("<", Infix::Compare(Compare::Lt)),
    (">", Infix::Compare(Compare::Gt)),
    ("+", Infix::Number(RealOp::Add, IntOp::Add)),
    ("-", Infix::Number(RealOp::Sub, IntOp::Sub)),
    ("*", Infix::Number(RealOp::Mul, IntOp::Mul)),
    ("/", Infix::Number(RealOp::Div, IntOp::Div)),
    ("%", Infix::Rem),
    ("^", Infix::Power),
];

/// The word for a comparison.
/// The word for an operation on integers, and whether it stands between its operands.
pub(crate) fn int(op: IntOp) -> (&'static str, bool) {
    match op {
        IntOp::Add => ("+", true),
        IntOp::Sub => ("-", true),
        IntOp::Mul => ("*", true),
        IntOp::Div => ("/", true),
        IntOp::Rem => ("%", true),
        IntOp::Power => ("^", true),
        IntOp::DivFloor => ("div", false),
        IntOp::ModFloor => ("mod", false),
        IntOp::Neg => ("negate", false),
        IntOp::Abs => ("abs", false),
        IntOp::Sign => ("sign", false),
        IntOp::Min => ("min", false),
        IntOp::Max => ("max", false),
        IntOp::BitAnd => ("bit_and", false),
        IntOp::BitOr => ("bit_or", false),
        IntOp::BitXor => ("bit_xor", false),
        IntOp::ShiftLeft => ("shift_left", false),
        IntOp::ShiftRight => ("shift_right", false),
    }
}

/// The word for a conversion.
pub(crate) fn convert(op: Convert) -> &'static str {
    match op {
        Convert::IntToReal => "real",
        Convert::Floor => "floor",
        Convert::Ceil => "ceil",
        Convert::Round => "round",
        Convert::Truncate => "truncate",
        Convert::IsNan => "is_nan",
    }
}

/// The word for an operation on texts.
pub(crate) fn text(op: TextOp) -> &'static str {
    match op {
        TextOp::Append => "++",
        TextOp::Length => "string_length",
        TextOp::ShowReal | TextOp::ShowInt | TextOp::ShowText => "show",
    }
}

/// Array operations that are written as functions of their operands and nothing else.
const ARRAY: &[(&str, ArrayOp)] = &[
    ("set", ArrayOp::Set),
    ("add_at", ArrayOp::AddAt),
    ("zeros", ArrayOp::Zeros),
    ("iota", ArrayOp::Iota),
    ("replicate", ArrayOp::Replicate),
    ("concat", ArrayOp::Concat),
    ("flatten", ArrayOp::Flatten),
    ("unflatten_like", ArrayOp::UnflattenLike),
    ("slice", ArrayOp::Slice),
    ("reverse", ArrayOp::Reverse),
    ("transpose", ArrayOp::Transpose),
    ("gather", ArrayOp::Gather),
    ("scatter_add", ArrayOp::ScatterAdd),
    ("filter", ArrayOp::Filter),
    ("sum", ArrayOp::Sum),
    ("product", ArrayOp::Product),
    ("maximum", ArrayOp::Maximum),
    ("minimum", ArrayOp::Minimum),
    ("argmax", ArrayOp::ArgMax),
    ("argmin", ArrayOp::ArgMin),
    ("dot", ArrayOp::Dot),
    ("matvec", ArrayOp::MatVec),
    ("matmul", ArrayOp::MatMul),
    ("add_product", lying(false, false, false)),
    ("add_product_tn", lying(true, false, false)),
    ("add_product_nt", lying(false, true, false)),
    ("add_product_tt", lying(true, true, false)),
    ("add_product_backward", lying(false, false, true)),
    ("add_product_tn_backward", lying(true, false, true)),
    ("add_product_nt_backward", lying(false, true, true)),
    ("add_product_tt_backward", lying(true, true, true)),
    ("sort", ArrayOp::Sort),
    ("argsort", ArrayOp::ArgSort),
    ("ravel", ArrayOp::Ravel),
    ("reshape", ArrayOp::Reshape),
];

const fn lying(first: bool, second: bool, backward: bool) -> ArrayOp {
    ArrayOp::AddProduct(Lie { first, second, backward })
}

/// The word for an array operation, if it is written as a function of its operands.
pub(crate) fn array(op: ArrayOp) -> Option<&'static str> {
    ARRAY.iter().find(|(_, other)| *other == op).map(|(word, _)| *word)
}

/// The operation of that word.
pub(crate) fn word(text: &str) -> Option<Word> {
    Some(match text {
        "negate" => Word::Number(RealOp::Neg, IntOp::Neg),
        "abs" => Word::Number(RealOp::Abs, IntOp::Abs),
        "sign" => Word::Number(RealOp::Sign, IntOp::Sign),
        "min" => Word::Number(RealOp::Min, IntOp::Min),
        "max" => Word::Number(RealOp::Max, IntOp::Max),
        "div" => Word::Int(IntOp::DivFloor),
        "mod" => Word::Int(IntOp::ModFloor),
        "bit_and" => Word::Int(IntOp::BitAnd),
        "bit_or" => Word::Int(IntOp::BitOr),
        "bit_xor" => Word::Int(IntOp::BitXor),
        "shift_left" => Word::Int(IntOp::ShiftLeft),
        "shift_right" => Word::Int(IntOp::ShiftRight),
        "power" => Word::Power,
        "polygamma" => Word::Polygamma,
        "real" => Word::Convert(Convert::IntToReal),
        "floor" => Word::Convert(Convert::Floor),
        "ceil" => Word::Convert(Convert::Ceil),
        "round" => Word::Convert(Convert::Round),
        "truncate" => Word::Convert(Convert::Truncate),
        "is_nan" => Word::Convert(Convert::IsNan),
        "not" => Word::Not,
        "select" => Word::Select,
        "string_length" => Word::Text(TextOp::Length),
        "show" => Word::Show,
        "fail" => Word::Fail,
        "whole" => Word::Whole,
        "stop_gradient" => Word::StopGradient,
        "length" => Word::Length,
        _ => {
            let array = ARRAY.iter().find(|(word, _)| *word == text).map(|(_, op)| Word::Array(*op));
            let real = || RealOp::SAMPLES.iter().find(|op| op.name() == text && is_named(**op));
            return array.or_else(|| real().map(|op| Word::Real(*op)));
        }
    })
}

/// Whether an operation on reals is written as a function of its operands.
pub(crate) fn is_named(op: RealOp) -> bool {
    op.name().starts_with(char::is_alphabetic) && !matches!(op, RealOp::Polygamma(_))
}

/// Whether a character may stand in a name without quotes.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'' | '.')
}

/// Whether a name needs no quotes, reserved or not.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name != "_" && name.chars().all(is_name_char)
}

/// A name, in quotes where it needs them; `taken` says which plain names mean something else.
pub(crate) fn quoted(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if is_plain(name) && !RESERVED.contains(&name) && !taken(name) {
        return name.to_owned();
    }
    format!("`{}`", escaped(name, '`'))
}

/// Text between quotes, with escapes.
pub(crate) fn escaped(text: &str, quote: char) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
