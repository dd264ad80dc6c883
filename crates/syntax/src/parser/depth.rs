//! Bounds the depth of finished trees. Recursion in the parser is bounded anyway, but chains (`a + b + c + …`,
//! `f.x.y.z`) make deep trees without recursion. Everything here works with an explicit stack.

use super::{MAX_DEPTH, Parser};
use crate::ast::{Expr, ExprKind};
use crate::errors;

impl Parser<'_> {
    /// Replaces what lies deeper than [`MAX_DEPTH`] by holes and reports it.
    pub(super) fn limit_depth(&mut self, root: &mut Expr) {
        let mut too_deep = None;
        let mut pending = vec![(root, 0)];
        while let Some((expr, depth)) = pending.pop() {
            if depth < MAX_DEPTH {
                pending.extend(children(expr).into_iter().map(|child| (child, depth + 1)));
                continue;
            }
            let span = expr.span;
            if !matches!(expr.kind, ExprKind::Error) && too_deep.is_none() {
                too_deep = Some(span);
            }
            dismantle(expr);
        }
        if let Some(span) = too_deep
            && !self.quiet
        {
            self.diagnostics.push(errors::nested_too_deeply(span));
        }
    }
}

/// Drops an expression of any depth without recursion.
fn dismantle(expr: &mut Expr) {
    let mut pending = vec![std::mem::replace(&mut expr.kind, ExprKind::Error)];
    while let Some(kind) = pending.pop() {
        let mut taken = Expr { kind, span: expr.span };
        for child in children(&mut taken) {
            pending.push(std::mem::replace(&mut child.kind, ExprKind::Error));
        }
    }
}

/// The direct parts of an expression that are expressions.
fn children(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Var(_) | ExprKind::Ctor(_) | ExprKind::Lit(_) | ExprKind::Op(_) | ExprKind::Error => {
            Vec::new()
        }
        ExprKind::Lambda { body, .. } => vec![body],
        ExprKind::App { func, args } => std::iter::once(&mut **func).chain(args).collect(),
        ExprKind::Binary { lhs, rhs, .. } => vec![lhs, rhs],
        ExprKind::Neg(inner) | ExprKind::Paren(inner) => vec![inner],
        ExprKind::If { cond, then, otherwise } => vec![cond, then, otherwise],
        ExprKind::Match { scrutinee, arms } => {
            std::iter::once(&mut **scrutinee).chain(arms.iter_mut().map(|arm| &mut arm.body)).collect()
        }
        ExprKind::Let { binding, body } => vec![&mut binding.value, body],
        ExprKind::LetRec { bindings, body } => {
            bindings.iter_mut().map(|binding| &mut binding.value).chain([&mut **body]).collect()
        }
        ExprKind::Tuple(elements) | ExprKind::Array(elements) => elements.iter_mut().collect(),
        ExprKind::Record(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
        ExprKind::Update { base, fields } => {
            std::iter::once(&mut **base).chain(fields.iter_mut().map(|(_, value)| value)).collect()
        }
        ExprKind::Field { base, .. } => vec![base],
        ExprKind::Index { base, indices } => std::iter::once(&mut **base).chain(indices).collect(),
        ExprKind::Annot { expr, .. } => vec![expr],
    }
}
