//! Operators: most are primitives; `&&` and `||` become conditionals, `|>` an application that evaluates its left side
//! first, `>>` a lambda.

use super::apply::{Operand, Primitive, spine_with};
use super::{Infer, Why};
use crate::ty::{Source, Ty};
use crate::typed::{Node, NodeKind};
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_core::Lit;
use wengert_core::sig::signature;
use wengert_syntax::ast::{BinOp, Expr};

impl Infer<'_> {
    pub(crate) fn binary(
        &mut self,
        op: BinOp,
        op_span: Span,
        lhs: &Expr,
        rhs: &Expr,
        span: Span,
    ) -> (Node, Ty) {
        match op {
            BinOp::Pipe => self.pipe(lhs, rhs, span),
            BinOp::Compose => self.compose(lhs, rhs, span),
            BinOp::And | BinOp::Or => {
                let left = self.check(lhs, &Ty::Bool, &Why::Operand { op, other: None });
                let right = self.check(rhs, &Ty::Bool, &Why::Operand { op, other: Some(lhs.span) });
                (short_circuit(op, left, right, span), Ty::Bool)
            }
            BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::Append
            | BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::Power
            | BinOp::RealPower => self.arithmetic(op, op_span, lhs, rhs, span),
        }
    }

    fn arithmetic(&mut self, op: BinOp, op_span: Span, lhs: &Expr, rhs: &Expr, span: Span) -> (Node, Ty) {
        let Some(prim) = op.prim() else { return (Node::error(span), Ty::Error) };
        let source = Source::Function(Name::new(op.text()));
        let (ty, inst) = self.instantiate(&signature(prim).scheme, source, op_span, None);
        let Ty::Fun(left, rest) = ty else { return (Node::error(span), Ty::Error) };
        let Ty::Fun(right, result) = (*rest).clone() else { return (Node::error(span), Ty::Error) };
        let before = self.diagnostics.len();
        let lhs_node = self.check(lhs, &left, &Why::Operand { op, other: None });
        // One wrong operand may make the other look wrong.
        let right = if self.diagnostics.len() > before { Rc::new(Ty::Error) } else { right };
        let rhs_node = self.check(rhs, &right, &Why::Operand { op, other: Some(lhs.span) });
        (Node::new(NodeKind::Prim { prim, inst, args: vec![lhs_node, rhs_node] }, span), (*result).clone())
    }

    /// `x |> f`: `x` is evaluated first, then `f`, then the application.
    fn pipe(&mut self, lhs: &Expr, rhs: &Expr, span: Span) -> (Node, Ty) {
        let (value, ty) = self.infer(lhs);
        if value.is_atom() {
            let (head, args) = spine_with(rhs, Operand::Ready(value, ty, lhs));
            return self.apply(head, args, span);
        }
        let var = self.temp("piped");
        let ready = Operand::Ready(Node::local(var, lhs.span), ty.clone(), lhs);
        let (head, args) = spine_with(rhs, ready);
        let (body, result) = self.apply(head, args, span);
        (Node::bind(var, ty, value, body, span), result)
    }

    /// `f >> g`: both are evaluated once, then the lambda that applies them.
    fn compose(&mut self, lhs: &Expr, rhs: &Expr, span: Span) -> (Node, Ty) {
        let (from, middle, to) = (self.store.fresh(), self.store.fresh(), self.store.fresh());
        let first_ty = Ty::fun(from.clone(), middle.clone());
        let second_ty = Ty::fun(middle, to.clone());
        let first = self.check(lhs, &first_ty, &Why::Operand { op: BinOp::Compose, other: None });
        let second = self.check(rhs, &second_ty, &Why::Operand { op: BinOp::Compose, other: Some(lhs.span) });
        let (f, g, x) = (self.temp("f"), self.temp("g"), self.temp("x"));
        let inner = Node::app(Node::local(f, lhs.span), Node::local(x, span), span);
        let body = Node::app(Node::local(g, rhs.span), inner, span);
        let lambda = Node::lam(x, from.clone(), body, span);
        let node = Node::bind(g, second_ty, second, lambda, span);
        (Node::bind(f, first_ty, first, node, span), Ty::fun(from, to))
    }

    /// An operator in parentheses.
    pub(crate) fn operator_function(&mut self, op: BinOp, span: Span) -> (Node, Ty) {
        if let Some(prim) = op.prim() {
            return self.prim_function(prim, span);
        }
        let (x, y) = (self.temp("x"), self.temp("y"));
        let local = |var| Node::local(var, span);
        match op {
            BinOp::Pipe => {
                let (from, to) = (self.store.fresh(), self.store.fresh());
                let function = Ty::fun(from.clone(), to.clone());
                let body = Node::app(local(y), local(x), span);
                let inner = Node::lam(y, function.clone(), body, span);
                (Node::lam(x, from.clone(), inner, span), Ty::fun(from, Ty::fun(function, to)))
            }
            BinOp::Compose => {
                let (from, middle, to) = (self.store.fresh(), self.store.fresh(), self.store.fresh());
                let first = Ty::fun(from.clone(), middle.clone());
                let second = Ty::fun(middle, to.clone());
                let z = self.temp("z");
                let body = Node::app(local(y), Node::app(local(x), local(z), span), span);
                let body = Node::lam(z, from.clone(), body, span);
                let body = Node::lam(y, second.clone(), body, span);
                let ty = Ty::fun(first.clone(), Ty::fun(second, Ty::fun(from, to)));
                (Node::lam(x, first, body, span), ty)
            }
            BinOp::And
            | BinOp::Or
            | BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::Append
            | BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::Power
            | BinOp::RealPower => {
                let body = short_circuit(op, local(x), local(y), span);
                let inner = Node::lam(y, Ty::Bool, body, span);
                let ty = Ty::fun(Ty::Bool, Ty::fun(Ty::Bool, Ty::Bool));
                (Node::lam(x, Ty::Bool, inner, span), ty)
            }
        }
    }
}

fn short_circuit(op: BinOp, left: Node, right: Node, span: Span) -> Node {
    let constant = |value| Node::new(NodeKind::Lit(Lit::Bool(value)), span);
    let parts = if op == BinOp::And { [left, right, constant(false)] } else { [left, constant(true), right] };
    Node::new(NodeKind::If(Box::new(parts)), span)
}
