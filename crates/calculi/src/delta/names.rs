//! The names of primitive and polytypic functions, for the parser and the printer alike.

#![expect(clippy::wildcard_enum_match_arm, reason = "all other operations have their own name")]

use super::syntax::{Builtin, Compare, Const, IntOp, LeafOp, Overloaded, Poly};
use wengert_prim::RealOp;

/// Words that are neither variables nor functions.
pub(super) const KEYWORDS: &[&str] = &[
    "let", "letrec", "in", "case", "of", "inl", "inr", "fst", "snd", "pure", "do", "if", "then", "else",
    "roll", "unroll", "true", "false", "Vector", "M", "Delta", "DeltaMap", "DeltaId", "String", "Infinity",
    "NaN",
];

const BUILTINS: &[(&str, Builtin)] = &[
    ("Zero", Builtin::Zero),
    ("OneHot", Builtin::OneHot),
    ("Scale", Builtin::Scale),
    ("Add", Builtin::Add),
    ("Var", Builtin::Var),
    ("Let", Builtin::Let),
    ("deltaLet", Builtin::DeltaLet),
    ("runDelta", Builtin::RunDelta),
    ("eval", Builtin::Eval),
    ("eval₂", Builtin::Eval2),
    ("eval2", Builtin::Eval2),
    ("emptyMap", Builtin::EmptyMap),
    ("lookupOrZero", Builtin::LookupOrZero),
    ("build", Builtin::Build),
    ("index", Builtin::Index),
    ("length", Builtin::Length),
    ("sequence", Builtin::Sequence),
    ("fail", Builtin::Fail),
];

const LEAVES: &[(&str, LeafOp)] = &[
    ("real", LeafOp::ToReal),
    ("floor", LeafOp::Floor),
    ("append", LeafOp::Append),
    ("negateZ", LeafOp::Int(IntOp::Neg)),
];

const POLYS: &[(&str, Poly)] = &[
    ("⊗", Poly::Scale),
    ("⊕", Poly::Add),
    ("⊙", Poly::Dot),
    ("primal", Poly::Primal),
    ("onehot", Poly::OneHot),
    ("zero", Poly::Zero),
    ("delta", Poly::Delta),
    ("zip", Poly::Zip),
    ("initVars", Poly::InitVars),
    ("initZeros", Poly::InitZeros),
    ("lookup", Poly::Lookup),
];

/// The function called `word`, a polytypic one without its type.
pub(super) fn constant(word: &str) -> Option<Const> {
    if word == "negate" {
        return Some(Const::Overloaded(Overloaded::Neg));
    }
    if let Some((_, builtin)) = BUILTINS.iter().find(|(name, _)| *name == word) {
        return Some(Const::Fun(*builtin));
    }
    if let Some((_, leaf)) = LEAVES.iter().find(|(name, _)| *name == word) {
        return Some(Const::Leaf(*leaf));
    }
    if let Some((_, poly)) = POLYS.iter().find(|(name, _)| *name == word) {
        return Some(Const::Poly(*poly, None));
    }
    if let Some(order) = word.strip_prefix("polygamma").and_then(|digits| digits.parse().ok()) {
        return Some(Const::RealOp(RealOp::Polygamma(order)));
    }
    let named = |op: &&RealOp| op.name() == word && !matches!(op, RealOp::PowInt(_) | RealOp::Polygamma(_));
    RealOp::SAMPLES.iter().find(named).filter(|op| infix(**op).is_none()).map(|op| Const::RealOp(*op))
}

/// Whether a variable cannot have this name.
pub(super) fn is_reserved(word: &str) -> bool {
    let spelled = ["otimes", "oplus", "odot", "mu", "R", "Z", "N"];
    KEYWORDS.contains(&word) || spelled.contains(&word) || constant(word).is_some()
}

/// The sign of a primitive that stands between its operands, and how tightly it binds.
pub(super) fn infix(op: RealOp) -> Option<(&'static str, u8)> {
    if op == RealOp::Add {
        Some(("+", 2))
    } else if op == RealOp::Sub {
        Some(("-", 2))
    } else if op == RealOp::Mul {
        Some(("×", 3))
    } else if op == RealOp::Div {
        Some(("/", 3))
    } else {
        None
    }
}

pub(super) fn builtin(builtin: Builtin) -> &'static str {
    BUILTINS.iter().find(|(_, other)| *other == builtin).map_or("?", |(name, _)| name)
}

pub(super) fn poly(poly: Poly) -> &'static str {
    POLYS.iter().find(|(_, other)| *other == poly).map_or("?", |(name, _)| name)
}

/// A function on reals that is written before its argument.
pub(super) fn real_op(op: RealOp) -> String {
    match op {
        RealOp::Polygamma(order) => format!("polygamma{order}"),
        RealOp::PowInt(n) => format!("(^ {n})"),
        other => match infix(other) {
            Some((sign, _)) => format!("({sign}ℝ)"),
            None => other.name().to_string(),
        },
    }
}

/// The sign and the strength of a primitive on leaves that stands between its operands.
pub(super) fn leaf_infix(op: LeafOp) -> Option<(String, u8)> {
    match op {
        LeafOp::Int(IntOp::Add) => Some(("+ℤ".into(), 2)),
        LeafOp::Int(IntOp::Sub) => Some(("-ℤ".into(), 2)),
        LeafOp::Int(IntOp::Mul) => Some(("×ℤ".into(), 3)),
        LeafOp::Int(IntOp::Div) => Some(("/ℤ".into(), 3)),
        LeafOp::Int(IntOp::Rem) => Some(("%ℤ".into(), 3)),
        LeafOp::Int(IntOp::Neg) | LeafOp::ToReal | LeafOp::Floor => None,
        LeafOp::CompareReal(compare) => Some((format!("{}ℝ", compare.sign()), 1)),
        LeafOp::CompareInt(compare) => Some((format!("{}ℤ", compare.sign()), 1)),
        LeafOp::CompareString(compare) => Some((format!("{}_S", compare.sign()), 1)),
        LeafOp::Append => Some(("++".into(), 2)),
    }
}

/// A function on leaves that is written before its argument.
pub(super) fn leaf(op: LeafOp) -> String {
    if let Some((sign, _)) = leaf_infix(op) {
        return format!("({sign})");
    }
    LEAVES.iter().find(|(_, other)| *other == op).map_or("?", |(name, _)| name).to_string()
}

/// What stands between two operands.
pub(super) enum Infix {
    Const(Const),
    Poly(Poly),
}

/// What a sign between two terms means, with the type written after it if there is one, and its strength.
pub(super) fn operator(sign: &str, typed: Option<char>) -> Option<(Infix, u8)> {
    let arithmetic = |overloaded, real, int, strength| {
        let constant = match typed {
            Some('Z') => Const::Leaf(LeafOp::Int(int)),
            Some('R') => Const::RealOp(real),
            _ => Const::Overloaded(overloaded),
        };
        Some((Infix::Const(constant), strength))
    };
    let comparison = |compare| {
        let constant = match typed {
            Some('Z') => Const::Leaf(LeafOp::CompareInt(compare)),
            Some('R') => Const::Leaf(LeafOp::CompareReal(compare)),
            Some('S') => Const::Leaf(LeafOp::CompareString(compare)),
            _ => Const::Overloaded(Overloaded::Compare(compare)),
        };
        Some((Infix::Const(constant), 1))
    };
    match sign {
        "+" => arithmetic(Overloaded::Add, RealOp::Add, IntOp::Add, 2),
        "-" => arithmetic(Overloaded::Sub, RealOp::Sub, IntOp::Sub, 2),
        "×" => arithmetic(Overloaded::Mul, RealOp::Mul, IntOp::Mul, 3),
        "/" => arithmetic(Overloaded::Div, RealOp::Div, IntOp::Div, 3),
        "%" => Some((Infix::Const(Const::Leaf(LeafOp::Int(IntOp::Rem))), 3)),
        "++" => Some((Infix::Const(Const::Leaf(LeafOp::Append)), 2)),
        "==" => comparison(Compare::Eq),
        "≠" => comparison(Compare::Ne),
        "<" => comparison(Compare::Lt),
        "≤" => comparison(Compare::Le),
        "⊗" => Some((Infix::Poly(Poly::Scale), 3)),
        "⊙" => Some((Infix::Poly(Poly::Dot), 3)),
        "⊕" => Some((Infix::Poly(Poly::Add), 2)),
        _ => None,
    }
}
