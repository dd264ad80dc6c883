//! Expressions: [`Infer::infer`] finds the type, [`Infer::check`] works towards a given one.

use super::{Infer, Why};
use crate::errors::{names, sizes, types};
use crate::module::Declared;
use crate::scope::{Found, Value};
use crate::suggest;
use crate::ty::{Arg, Len, SizeMode, Source, Ty};
use crate::typed::{ArmNode, Inst, MatchRole, Node, NodeKind};
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::{Lit, Pred};
use wengert_prim::Prim;
use wengert_syntax::ast::{Arm, Expr, ExprKind, Literal, Pattern};

impl Infer<'_> {
    /// The elaborated expression and its type.
    pub(crate) fn infer(&mut self, expr: &Expr) -> (Node, Ty) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.infer_kind(expr))
    }

    fn infer_kind(&mut self, expr: &Expr) -> (Node, Ty) {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Var(name) => self.variable_use(*name, span),
            ExprKind::Ctor(_) | ExprKind::App { .. } => self.application(expr),
            ExprKind::Lit(lit) => self.literal(lit, false, span),
            ExprKind::Op(op) => self.operator_function(*op, span),
            ExprKind::Lambda { params, body } => self.lambda(params, body, None, span),
            ExprKind::Binary { op, op_span, lhs, rhs } => self.binary(*op, *op_span, lhs, rhs, span),
            ExprKind::Neg(inner) => self.negation(inner, span),
            ExprKind::If { cond, then, otherwise } => {
                let cond = self.check(cond, &Ty::Bool, &Why::Condition);
                let (yes, ty) = self.infer(then);
                let no = self.check(otherwise, &ty, &Why::Branch(then.span));
                (Node::new(NodeKind::If(Box::new([cond, yes, no])), span), ty)
            }
            ExprKind::Match { scrutinee, arms } => {
                let want = self.store.fresh();
                let node = self.match_arms(scrutinee, arms, &want, None, span);
                (node, want)
            }
            ExprKind::Let { binding, body } => self.let_in(binding, body, None, span),
            ExprKind::LetRec { bindings, body } => self.let_rec(bindings, body, None, span),
            ExprKind::Tuple(items) => {
                let (nodes, types): (Vec<Node>, Vec<Ty>) = items.iter().map(|item| self.infer(item)).unzip();
                (Node::new(NodeKind::Tuple(nodes), span), Ty::Tuple(types.into()))
            }
            ExprKind::Array(items) => {
                let elem = self.store.fresh();
                let len = self.store.soft_size(items.len() as u64);
                let node = self.array(items, len, &elem, None, span);
                (node, Ty::array(len, elem))
            }
            ExprKind::Record(fields) => self.record_literal(fields, span),
            ExprKind::Update { base, fields } => self.record_update(base, fields, span),
            ExprKind::Field { base, field } => self.field(base, *field, span),
            ExprKind::Index { base, indices } => self.index(base, indices, span),
            ExprKind::Annot { expr: inner, ty } => {
                let wanted = self.annotation(ty);
                let before = std::mem::replace(&mut self.store.assumed_size, false);
                let node = self.check(inner, &wanted, &Why::Annotation(ty.span));
                let assumed = std::mem::replace(&mut self.store.assumed_size, before);
                self.store.assumed_size |= assumed;
                let node = if assumed { self.check_sizes_of_value(node, &wanted, ty.span) } else { node };
                (node, wanted)
            }
            ExprKind::Paren(inner) => self.infer(inner),
            ExprKind::Error => {
                self.failed = true;
                (Node::error(span), Ty::Error)
            }
        }
    }

    /// The elaborated expression, which must have type `want`.
    pub(crate) fn check(&mut self, expr: &Expr, want: &Ty, why: &Why) -> Node {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.check_kind(expr, want, why))
    }

    fn check_kind(&mut self, expr: &Expr, want: &Ty, why: &Why) -> Node {
        let span = expr.span;
        let known = self.store.shallow(want);
        match (&expr.kind, &known) {
            (ExprKind::Paren(inner), _) => self.check(inner, want, why),
            // What a derivative operator is given is explained as a whole.
            (ExprKind::Lambda { params, body }, Ty::Fun(..)) if !self.is_differentiated(why) => {
                let (node, got) = self.lambda(params, body, Some((&known, why)), span);
                self.demand(expr, &known, &got, why);
                node
            }
            (ExprKind::If { cond, then, otherwise }, _) if !matches!(known, Ty::Meta(_)) => {
                let cond = self.check(cond, &Ty::Bool, &Why::Condition);
                let then = self.check(then, want, why);
                let otherwise = self.check(otherwise, want, why);
                Node::new(NodeKind::If(Box::new([cond, then, otherwise])), span)
            }
            (ExprKind::Match { scrutinee, arms }, _) if !matches!(known, Ty::Meta(_)) => {
                self.match_arms(scrutinee, arms, want, Some(why), span)
            }
            (ExprKind::Let { binding, body }, _) => self.let_in(binding, body, Some((want, why)), span).0,
            (ExprKind::LetRec { bindings, body }, _) => {
                self.let_rec(bindings, body, Some((want, why)), span).0
            }
            (ExprKind::Tuple(items), Ty::Tuple(wants)) if items.len() == wants.len() => {
                let wants = Rc::clone(wants);
                let nodes =
                    items.iter().zip(wants.iter()).map(|(item, want)| self.check(item, want, why)).collect();
                Node::new(NodeKind::Tuple(nodes), span)
            }
            (ExprKind::Array(items), Ty::Array(len, elem)) => {
                let own = self.store.soft_size(items.len() as u64);
                let node = self.array(items, own, elem, Some(why), span);
                self.store.size_mode = why.size_mode();
                let unified = self.store.unify_sizes(*len, own);
                self.store.size_mode = SizeMode::Join;
                if let Err(clash) = unified {
                    let got = Ty::array(own, (**elem).clone());
                    self.explain(expr, &known, &got, why, clash);
                }
                node
            }
            _ => {
                let (node, got) = self.infer(expr);
                self.demand(expr, want, &got, why);
                node
            }
        }
    }

    /// Unifies, and explains a clash.
    pub(crate) fn demand(&mut self, expr: &Expr, want: &Ty, got: &Ty, why: &Why) {
        self.store.size_mode = why.size_mode();
        let unified = self.store.unify(want, got);
        self.store.size_mode = SizeMode::Join;
        if let Err(clash) = unified {
            self.explain(expr, want, got, why, clash);
        }
    }

    fn array(&mut self, items: &[Expr], len: Len, elem: &Ty, why: Option<&Why>, span: Span) -> Node {
        let mut nodes = Vec::with_capacity(items.len());
        let mut first: Option<Span> = None;
        for item in items {
            let reason = match (first, why) {
                (None, Some(why)) => *why,
                (Some(first), _) => Why::Element(first),
                (None, None) => Why::Element(item.span),
            };
            nodes.push(self.check(item, elem, &reason));
            first.get_or_insert(item.span);
        }
        Node::new(NodeKind::Array { elem: elem.clone(), len, items: nodes }, span)
    }

    /// A literal; `negative` when a minus stands before it.
    pub(crate) fn literal(&mut self, lit: &Literal, negative: bool, span: Span) -> (Node, Ty) {
        match lit {
            Literal::Number(value) => {
                let ty = self.store.fresh_pred(Pred::Num, Source::Literal, span);
                (Node::new(NodeKind::Number { value: *value, negative, ty: ty.clone() }, span), ty)
            }
            Literal::Real(value) => {
                let value = if negative { -value } else { *value };
                (Node::new(NodeKind::Lit(Lit::Real(value)), span), Ty::Real)
            }
            Literal::String(text) => {
                (Node::new(NodeKind::Lit(Lit::String(Arc::from(text.as_str()))), span), Ty::String)
            }
            Literal::Bool(value) => (Node::new(NodeKind::Lit(Lit::Bool(*value)), span), Ty::Bool),
        }
    }

    fn negation(&mut self, inner: &Expr, span: Span) -> (Node, Ty) {
        if let ExprKind::Lit(lit @ (Literal::Number(_) | Literal::Real(_))) = &inner.kind {
            return self.literal(lit, true, span);
        }
        let origin = Source::Function(Name::new("-"));
        let ty = self.store.fresh_pred(Pred::Num, origin, span);
        let node = self.check(inner, &ty, &Why::Negated);
        let inst = Rc::from([Arg::Type(ty.clone())]);
        (Node::new(NodeKind::Prim { prim: Prim::Neg, inst, args: vec![node] }, span), ty)
    }

    fn variable_use(&mut self, name: Name, span: Span) -> (Node, Ty) {
        if let Some(local) = self.local(name) {
            return self.use_local(&local, span);
        }
        match self.global(name, span) {
            Some(Value::Prim(prim)) => self.prim_function(prim, span),
            Some(value) => self.use_global(&value, name, span),
            None => (Node::error(span), Ty::Error),
        }
    }

    /// What a name means at top level; reports if nothing.
    pub(crate) fn global(&mut self, name: Name, span: Span) -> Option<Value> {
        match self.globals.value(name) {
            Found::One(value) => Some(value),
            Found::Ambiguous(places) => {
                self.report(names::ambiguous("name", name, span, &places));
                None
            }
            Found::Excused => {
                self.failed = true;
                None
            }
            Found::Nothing => {
                if self.globals.module(name).is_some() {
                    self.report(names::module_as_value(name, span));
                } else {
                    let known: Vec<Name> = self.local_names().chain(self.globals.value_names()).collect();
                    let hint = suggest::value(name, known.into_iter());
                    let library = (self.globals.elsewhere)(Declared::Value, name);
                    self.report(match self.being_bound.contains(&name) {
                        true => names::recursion_without_rec(name, span),
                        false => names::unknown_name(name, span, hint, library),
                    });
                }
                None
            }
        }
    }

    /// An occurrence of a definition that is not a primitive.
    pub(crate) fn use_global(&mut self, value: &Value, name: Name, span: Span) -> (Node, Ty) {
        match value {
            Value::Own(name) => {
                let qualified = self.globals.qualify(*name);
                let Some(ty) = self.own.get(name).cloned() else {
                    // Only a definition whose own group failed is not there.
                    self.failed = true;
                    return (Node::error(span), Ty::Error);
                };
                let inst = Inst::Own(self.own_group);
                (Node::new(NodeKind::Global { name: qualified, inst }, span), ty)
            }
            Value::Done(info) => match &info.scheme {
                Some(scheme) => {
                    let (ty, args) = self.instantiate(scheme, Source::Function(name), span, None);
                    let inst = Inst::Args(args);
                    (Node::new(NodeKind::Global { name: info.qualified, inst }, span), ty)
                }
                None => {
                    self.failed = true;
                    (Node::error(span), Ty::Error)
                }
            },
            Value::Prim(prim) => self.prim_function(*prim, span),
        }
    }

    fn lambda(
        &mut self,
        params: &[Pattern],
        body: &Expr,
        want: Option<(&Ty, &Why)>,
        span: Span,
    ) -> (Node, Ty) {
        self.function(params, None, body, want, None, span)
    }

    /// All arms, each of type `want`. Without a reason the first arm is what the others must be like.
    fn match_arms(
        &mut self,
        scrutinee: &Expr,
        arms: &[Arm],
        want: &Ty,
        why: Option<&Why>,
        span: Span,
    ) -> Node {
        let (node, ty) = self.infer(scrutinee);
        let mut nodes = Vec::with_capacity(arms.len());
        let mut first: Option<Span> = None;
        for arm in arms {
            let mark = self.mark();
            let pattern = self.pattern(&arm.pattern, &ty, scrutinee.span);
            let reason = match (why, first) {
                (Some(why), _) => *why,
                (None, Some(first)) => Why::Arm(first),
                (None, None) => Why::Arm(arm.body.span),
            };
            let body = self.check(&arm.body, want, &reason);
            first.get_or_insert(arm.body.span);
            self.leave(mark);
            nodes.push(ArmNode { pattern, pattern_span: arm.pattern.span, body });
        }
        let kind = NodeKind::Match { scrutinee: Box::new(node), ty, arms: nodes, role: MatchRole::Match };
        Node::new(kind, span)
    }

    /// `xs[i, j]`: one `index` for each.
    fn index(&mut self, base: &Expr, indices: &[Expr], span: Span) -> (Node, Ty) {
        let (mut node, mut ty) = self.infer(base);
        for (axis, index) in indices.iter().enumerate() {
            let elem = self.store.fresh();
            let len = self.store.fresh_size(None);
            let array = Ty::array(len, elem.clone());
            if self.store.unify(&array, &ty).is_err() {
                let shown = self.show(&ty);
                self.report(types::not_an_array(base.span, &shown, axis));
                self.check(index, &Ty::Int, &Why::Index);
                return (Node::error(span), Ty::Error);
            }
            let position = self.check(index, &Ty::Int, &Why::Index);
            if let (Some(len), NodeKind::Number { value, negative, .. }) =
                (self.store.constant_size(len), &position.kind)
                && (*negative && *value > 0 || *value >= len)
            {
                let shown = if *negative { format!("-{value}") } else { value.to_string() };
                self.report(sizes::index_outside(&shown, len, index.span, base.span));
            }
            let inst = self.array_args(Prim::Index, &elem, len);
            node = Node::new(NodeKind::Prim { prim: Prim::Index, inst, args: vec![node, position] }, span);
            ty = elem;
        }
        (node, ty)
    }

    /// The arguments of a primitive whose signature has one type and one size parameter, in the signature's order.
    pub(crate) fn array_args(&self, prim: Prim, elem: &Ty, len: Len) -> Rc<[Arg]> {
        let params = &wengert_core::sig::signature(prim).scheme.params;
        let arg = |param: &wengert_core::Param| match param.kind {
            wengert_core::Kind::Size => Arg::Size(len),
            wengert_core::Kind::Type(_) | wengert_core::Kind::Row => Arg::Type(elem.clone()),
        };
        params.iter().map(arg).collect()
    }
}
