//! `let`, `let rec`, and groups of top-level definitions: what is inferred one level up and then generalized.
//!
//! A plain variable or function is generalized; variables inside a destructuring pattern are not.

use super::{Infer, Local, Why};
use crate::errors::names;
use crate::ty::Ty;
use crate::typed::{ArmNode, GroupId, MatchRole, Node, NodeKind, Pat};
use wengert_base::{Name, Span};
use wengert_core::Var;
use wengert_syntax::ast::{Binding, Def, Expr, ExprKind, Pattern, PatternKind, Target};

type Wanted<'w> = Option<(&'w Ty, &'w Why)>;

impl Infer<'_> {
    /// `let binding in body`
    pub(crate) fn let_in(
        &mut self,
        binding: &Binding,
        body: &Expr,
        want: Wanted<'_>,
        span: Span,
    ) -> (Node, Ty) {
        let name = match &binding.target {
            Target::Function { name, .. } => Some(name.name),
            Target::Pattern(pattern) => variable_pattern(pattern),
        };
        match (name, &binding.target) {
            (Some(name), _) => self.let_variable(name, binding, body, want, span),
            (None, Target::Pattern(pattern)) => self.let_pattern(pattern, binding, body, want, span),
            (None, Target::Function { name, .. }) => self.let_variable(name.name, binding, body, want, span),
        }
    }

    fn let_variable(
        &mut self,
        name: Name,
        binding: &Binding,
        body: &Expr,
        want: Wanted<'_>,
        span: Span,
    ) -> (Node, Ty) {
        let group = self.new_group();
        let outer = self.open_group(group);
        let params = match &binding.target {
            Target::Function { params, .. } => params.as_slice(),
            Target::Pattern(_) => &[],
        };
        self.push_frame();
        self.being_bound.push(name);
        let (value, ty) = self.function(
            params,
            binding.result.as_ref(),
            &binding.value,
            None,
            Some(name),
            binding.value.span,
        );
        self.being_bound.pop();
        self.pop_frame();
        self.close_group(group, outer, std::slice::from_ref(&ty));
        let var = self.new_var(name);
        let mark = self.mark();
        let mono = self.group_params(group).is_empty();
        let local = if mono {
            Local::Mono { var, ty: ty.clone() }
        } else {
            Local::Poly { var, group, ty: ty.clone() }
        };
        self.enter(name, local);
        let (body, result) = self.scope_body(body, want);
        self.leave(mark);
        if mono {
            return (Node::bind(var, ty, value, body, span), result);
        }
        self.ended.push(group);
        let kind = NodeKind::Let { var, group, ty, value: Box::new(value), body: Box::new(body) };
        (Node::new(kind, span), result)
    }

    fn let_pattern(
        &mut self,
        pattern: &Pattern,
        binding: &Binding,
        body: &Expr,
        want: Wanted<'_>,
        span: Span,
    ) -> (Node, Ty) {
        let (value, ty) =
            self.function(&[], binding.result.as_ref(), &binding.value, None, None, binding.value.span);
        let mark = self.mark();
        let mut seen = Vec::new();
        Infer::variables_of(pattern, &mut seen);
        self.report_repeated(&seen);
        let bound = self.pattern(pattern, &ty, binding.value.span);
        self.annotated.clear();
        let (body, result) = self.scope_body(body, want);
        self.leave(mark);
        if let Pat::Bind(var, ty) = bound {
            return (Node::bind(var, ty, value, body, span), result);
        }
        let arm = ArmNode { pattern: bound, pattern_span: pattern.span, body };
        let kind = NodeKind::Match { scrutinee: Box::new(value), ty, arms: vec![arm], role: MatchRole::Let };
        (Node::new(kind, span), result)
    }

    /// `let rec … and … in body`
    pub(crate) fn let_rec(
        &mut self,
        bindings: &[Binding],
        body: &Expr,
        want: Wanted<'_>,
        span: Span,
    ) -> (Node, Ty) {
        let group = self.new_group();
        let outer = self.open_group(group);
        let mark = self.mark();
        let mut members: Vec<(Name, Span, Var, Ty)> = Vec::new();
        for binding in bindings {
            let (name, place) = match &binding.target {
                Target::Function { name, .. } => (name.name, name.span),
                Target::Pattern(pattern) => {
                    let named = variable_pattern(pattern);
                    let is_function = named.is_some() && is_lambda(&binding.value);
                    if !is_function {
                        self.report(names::recursion_needs_function(named, pattern.span));
                    }
                    (named.unwrap_or_else(|| Name::new("_")), pattern.span)
                }
            };
            let ty = self.store.fresh();
            let var = self.new_var(name);
            self.enter(name, Local::Rec { var, group, ty: ty.clone() });
            members.push((name, place, var, ty));
        }
        self.report_repeated(&members.iter().map(|(name, span, ..)| (*name, *span)).collect::<Vec<_>>());
        let mut values = Vec::with_capacity(bindings.len());
        for (binding, (name, _, var, ty)) in bindings.iter().zip(&members) {
            let params = match &binding.target {
                Target::Function { params, .. } => params.as_slice(),
                Target::Pattern(_) => &[],
            };
            self.push_frame();
            let result = binding.result.as_ref();
            let (node, got) =
                self.function(params, result, &binding.value, None, Some(*name), binding.value.span);
            self.pop_frame();
            self.demand(&binding.value, ty, &got, &Why::Recursion(*name));
            values.push((*var, ty.clone(), node));
        }
        self.leave(mark);
        let types: Vec<Ty> = members.iter().map(|(.., ty)| ty.clone()).collect();
        self.close_group(group, outer, &types);
        for (name, _, var, ty) in members {
            self.enter(name, Local::Poly { var, group, ty });
        }
        let (body, result) = self.scope_body(body, want);
        self.leave(mark);
        self.ended.push(group);
        (Node::new(NodeKind::LetRec { group, bindings: values, body: Box::new(body) }, span), result)
    }

    fn scope_body(&mut self, body: &Expr, want: Wanted<'_>) -> (Node, Ty) {
        match want {
            Some((ty, why)) => (self.check(body, ty, why), ty.clone()),
            None => self.infer(body),
        }
    }

    /// Starts inferring the values of a group; gives what [`Infer::close_group`] needs.
    fn open_group(&mut self, group: GroupId) -> Option<GroupId> {
        self.store.level += 1;
        self.scope.replace(group)
    }

    fn close_group(&mut self, group: GroupId, outer: Option<GroupId>, types: &[Ty]) {
        self.scope = outer;
        self.store.level -= 1;
        self.generalize(group, types);
    }

    /// The bodies and types of top-level definitions that depend on each other.
    pub(crate) fn definitions(&mut self, defs: &[&Def]) -> Vec<(Node, Ty)> {
        let group = self.own_group;
        let outer = self.open_group(group);
        let types: Vec<Ty> = defs.iter().map(|_| self.store.fresh()).collect();
        for (def, ty) in defs.iter().zip(&types) {
            self.own.insert(def.name.name, ty.clone());
        }
        let mut nodes = Vec::with_capacity(defs.len());
        for (def, ty) in defs.iter().zip(&types) {
            self.push_frame();
            self.current_span = def.name.span;
            let name = Some(def.name.name);
            let (node, got) =
                self.function(&def.params, def.result.as_ref(), &def.body, None, name, def.span);
            self.pop_frame();
            self.demand(&def.body, ty, &got, &Why::Recursion(def.name.name));
            nodes.push(node);
        }
        if defs.iter().all(|def| def.params.is_empty() && !is_lambda(&def.body)) {
            self.decide_differentiated();
        }
        self.close_group(group, outer, &types);
        nodes.into_iter().zip(types).collect()
    }

    /// One expression. Numbers that nothing decides become `Int` instead of staying general.
    pub(crate) fn expression(&mut self, expr: &Expr) -> (Node, Ty) {
        let group = self.own_group;
        self.current_span = expr.span;
        let outer = self.open_group(group);
        self.push_frame();
        let (node, ty) = self.infer(expr);
        self.pop_frame();
        self.decide_differentiated();
        self.store.level -= 1;
        self.default_numbers();
        self.store.level += 1;
        self.close_group(group, outer, std::slice::from_ref(&ty));
        (node, ty)
    }

    /// Reports names that occur twice.
    pub(crate) fn report_repeated(&mut self, seen: &[(Name, Span)]) {
        for (index, (name, span)) in seen.iter().enumerate() {
            let before = seen.iter().take(index).find(|(other, _)| other == name);
            if let Some((_, before)) = before {
                self.report(names::repeated_variable(*name, *span, *before));
            }
        }
    }
}

/// The variable that a pattern is, without annotation.
fn variable_pattern(pattern: &Pattern) -> Option<Name> {
    match &pattern.kind {
        PatternKind::Var(name) => Some(*name),
        PatternKind::Paren(inner) => variable_pattern(inner),
        PatternKind::Wildcard
        | PatternKind::Annot { .. }
        | PatternKind::Lit { .. }
        | PatternKind::Ctor { .. }
        | PatternKind::Tuple(_)
        | PatternKind::Record(_)
        | PatternKind::As { .. }
        | PatternKind::Error => None,
    }
}

/// Whether an expression is a function whatever happens.
pub(crate) fn is_lambda(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Lambda { .. } => true,
        ExprKind::Paren(inner) => is_lambda(inner),
        ExprKind::Annot { expr, .. } => is_lambda(expr),
        ExprKind::Var(_)
        | ExprKind::Ctor(_)
        | ExprKind::Lit(_)
        | ExprKind::Op(_)
        | ExprKind::App { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Neg(_)
        | ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::Let { .. }
        | ExprKind::LetRec { .. }
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Record(_)
        | ExprKind::Update { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Error => false,
    }
}
