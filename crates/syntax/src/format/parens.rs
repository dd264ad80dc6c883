//! Where a tree needs parentheses to be read back as it is.
//!
//! There are two reasons: an operator that binds too weakly for its place, and a form without a closing sign
//! (`\x -> e`, `match`, …) that would take what follows for a part of itself. Parsed trees have their own
//! parentheses; this is for trees made by programs.

use crate::ast::{Expr, ExprKind};
use crate::precedence::{APPLICATION, LOWEST, NEGATION, POSTFIX, POWER, binding};

/// What stands to the right of an expression and could be taken for a part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// Nothing.
    Nothing,
    /// `|`: an open `match` would take the next arm.
    Arm,
    /// An operator: any open form would take it.
    Operator,
}

/// The place of an expression: how strongly it must bind, and what follows it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) least: u8,
    pub(super) follow: Follow,
}

pub(super) const ANYWHERE: Place = Place { least: LOWEST, follow: Follow::Nothing };
pub(super) const CLOSED: Place = Place { least: POSTFIX, follow: Follow::Nothing };

/// How strongly the form of an expression binds. Forms that are open on the right count as operands.
fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Binary { op, .. } => binding(*op).0,
        ExprKind::Neg(_) => NEGATION,
        ExprKind::App { .. } => APPLICATION,
        ExprKind::Lambda { .. }
        | ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::Let { .. }
        | ExprKind::LetRec { .. } => POWER,
        ExprKind::Var(_)
        | ExprKind::Ctor(_)
        | ExprKind::Lit(_)
        | ExprKind::Op(_)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Record(_)
        | ExprKind::Update { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Annot { .. }
        | ExprKind::Paren(_)
        | ExprKind::Error => POSTFIX,
    }
}

/// Whether the form extends as far to the right as possible.
fn is_open(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Lambda { .. }
            | ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::Let { .. }
            | ExprKind::LetRec { .. }
    )
}

/// The last part of an expression that is written without a closing sign behind it.
pub(super) fn right_part(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Binary { rhs, .. } => Some(rhs),
        ExprKind::Neg(inner) => Some(inner),
        ExprKind::Lambda { body, .. } | ExprKind::Let { body, .. } | ExprKind::LetRec { body, .. } => {
            Some(body)
        }
        ExprKind::If { otherwise, .. } => Some(otherwise),
        ExprKind::Match { arms, .. } => arms.last().map(|arm| &arm.body),
        ExprKind::Var(_)
        | ExprKind::Ctor(_)
        | ExprKind::Lit(_)
        | ExprKind::Op(_)
        | ExprKind::App { .. }
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Record(_)
        | ExprKind::Update { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Annot { .. }
        | ExprKind::Paren(_)
        | ExprKind::Error => None,
    }
}

/// Whether what follows the expression would be taken for a part of it.
fn takes_what_follows(expr: &Expr, follow: Follow) -> bool {
    let mut parts = std::iter::successors(Some(expr), |part| right_part(part));
    match follow {
        Follow::Nothing => false,
        Follow::Arm => parts.any(|part| matches!(part.kind, ExprKind::Match { .. })),
        Follow::Operator => parts.any(is_open),
    }
}

/// Whether a tree without text needs parentheses around the expression at its place.
pub(super) fn needs_parens(expr: &Expr, place: Place) -> bool {
    // A minus begins an operand wherever one may stand, but not the left one of `^`.
    let strength = if matches!(expr.kind, ExprKind::Neg(_)) { POWER } else { strength(expr) };
    let weak = strength < place.least;
    weak || takes_what_follows(expr, place.follow)
}
