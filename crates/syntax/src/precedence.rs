//! How strongly operators bind: the one table that the parser and the printer share.

use crate::ast::BinOp;

/// Where a chain of equal operators is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// `(a - b) - c`
    Left,
    /// `a ^ (b ^ c)`
    Right,
    /// `a < b < c` is an error.
    Neither,
}

/// Any expression.
pub(crate) const LOWEST: u8 = 0;
/// An operand of `-e`, which binds more strongly than `*` and less than `^`.
pub(crate) const NEGATION: u8 = 9;
/// `^` and `**`.
pub(crate) const POWER: u8 = 10;
/// `f x`
pub(crate) const APPLICATION: u8 = 11;
/// `r.x`, `xs[i]` and atoms.
pub(crate) const POSTFIX: u8 = 12;

/// The strength of `op` and how its chains group.
pub(crate) fn binding(op: BinOp) -> (u8, Side) {
    match op {
        BinOp::Pipe => (1, Side::Left),
        BinOp::Compose => (2, Side::Left),
        BinOp::Or => (3, Side::Right),
        BinOp::And => (4, Side::Right),
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => (5, Side::Neither),
        BinOp::Append => (6, Side::Right),
        BinOp::Add | BinOp::Sub => (7, Side::Left),
        BinOp::Mul | BinOp::Div | BinOp::Rem => (8, Side::Left),
        BinOp::Power | BinOp::RealPower => (POWER, Side::Right),
    }
}
