//! Application. The whole spine `f a b c` is handled at once, so that primitives and constructors become saturated
//! terms: what is missing is supplied by a lambda (after the given arguments were evaluated), what is too much is
//! applied to the result.

use super::pattern::CtorUse;
use super::{Infer, Local, Why};
use crate::errors::{derivatives, types};
use crate::scope::{Value, is_symbol_of_a_function};
use crate::ty::{Arg, Len, Source, Ty};
use crate::typed::{Node, NodeKind};
use crate::unify::Clash;
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_core::Pred;
use wengert_core::sig::signature;
use wengert_prim::Prim;
use wengert_syntax::ast::{BinOp, Expr, ExprKind, Literal, Path};

/// An argument: still to be inferred, or already so (the left side of `|>`).
pub(crate) enum Operand<'e> {
    Expr(&'e Expr),
    Ready(Node, Ty, &'e Expr),
}

impl<'e> Operand<'e> {
    fn expr(&self) -> &'e Expr {
        match self {
            Operand::Expr(expr) | Operand::Ready(_, _, expr) => expr,
        }
    }
}

/// The function of a spine.
#[derive(Clone, Copy)]
pub(crate) struct Callee {
    pub(crate) name: Option<Name>,
    pub(crate) span: Span,
    /// Whether the name means what the library or the language calls so.
    pub(crate) library: bool,
    /// Whether this is a function inside its own recursive group.
    pub(crate) recursive: bool,
}

impl Infer<'_> {
    /// An application or a constructor.
    pub(crate) fn application(&mut self, expr: &Expr) -> (Node, Ty) {
        let (head, args) = spine(expr);
        let args = args.into_iter().map(Operand::Expr).collect();
        self.apply(head, args, expr.span)
    }

    /// `head args`
    pub(crate) fn apply(&mut self, head: &Expr, args: Vec<Operand<'_>>, span: Span) -> (Node, Ty) {
        let own = matches!(&head.kind, ExprKind::Var(name) if self.is_recursive(*name));
        let callee =
            |name: Option<Name>, library: bool| Callee { name, span: head.span, library, recursive: own };
        match &head.kind {
            ExprKind::Var(name) if self.local(*name).is_none() => match self.global(*name, head.span) {
                Some(Value::Prim(prim)) => self.apply_prim(prim, args, callee(Some(*name), true), span),
                Some(value) => {
                    let library =
                        !matches!(&value, Value::Own(_)) && !self.globals.own_values.contains_key(name);
                    let (node, ty) = self.use_global(&value, *name, head.span);
                    self.apply_to(node, ty, args, callee(Some(*name), library))
                }
                None => self.apply_to(Node::error(head.span), Ty::Error, args, callee(None, false)),
            },
            ExprKind::Ctor(path) => self.apply_ctor(path, args, callee(Some(path.name.name), false), span),
            ExprKind::Op(op) => match op.prim() {
                Some(prim) => self.apply_prim(prim, args, callee(Some(Name::new(op.text())), true), span),
                None => {
                    let (node, ty) = self.infer(head);
                    self.apply_to(node, ty, args, callee(None, false))
                }
            },
            ExprKind::Field { base, field } if self.qualifier(base).is_some() => {
                let (node, ty) = self.infer(head);
                self.apply_to(node, ty, args, callee(Some(field.name), true))
            }
            ExprKind::Var(name) => {
                let (node, ty) = self.infer(head);
                self.apply_to(node, ty, args, callee(Some(*name), false))
            }
            // The parser has already said what is wrong with `2 x`.
            ExprKind::Lit(_) => self.apply_to(Node::error(head.span), Ty::Error, args, callee(None, false)),
            ExprKind::Lambda { .. }
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
            | ExprKind::Annot { .. }
            | ExprKind::Paren(_)
            | ExprKind::Error => {
                let (node, ty) = self.infer(head);
                self.apply_to(node, ty, args, callee(None, false))
            }
        }
    }

    /// Whether a name is a function that is being inferred.
    fn is_recursive(&self, name: Name) -> bool {
        match self.local(name) {
            Some(local) => matches!(local, Local::Rec { .. }),
            None => self.own.contains_key(&name),
        }
    }

    /// An argument against the type that its function wants.
    fn argument(&mut self, arg: Operand<'_>, want: &Ty, index: usize, callee: Callee) -> Node {
        let Callee { name, span, recursive, .. } = callee;
        let why = Why::Argument { callee: name, index, callee_span: span, recursive };
        let node = match arg {
            Operand::Expr(expr) => self.check(expr, want, &why),
            Operand::Ready(node, got, expr) => {
                self.demand(expr, want, &got, &why);
                node
            }
        };
        if index == 0
            && self.is_differentiated(&why)
            && let Ty::Fun(_, result) = self.store.shallow(want)
        {
            self.differentiated.push((*result).clone());
        }
        node
    }

    /// What a differentiated function gives, and nothing decides but that it is a number, is a `Real`: the derivative of
    /// `\x -> 20` is the real number zero, not the integer.
    pub(crate) fn decide_differentiated(&mut self) {
        for mut ty in std::mem::take(&mut self.differentiated) {
            while let Ty::Fun(_, result) = self.store.shallow(&ty) {
                ty = (*result).clone();
            }
            if let Ty::Meta(id) = self.store.shallow(&ty)
                && self.store.preds_of(id).has(Pred::Num)
            {
                // A variable that is only known to be a number can be a `Real`.
                drop(self.store.unify(&ty, &Ty::Real));
            }
        }
    }

    /// Applies a function value to arguments one by one.
    fn apply_to(&mut self, node: Node, ty: Ty, args: Vec<Operand<'_>>, callee: Callee) -> (Node, Ty) {
        self.apply_rest(node, ty, args, 0, callee)
    }

    /// As [`Infer::apply_to`], after `done` arguments.
    fn apply_rest(
        &mut self,
        mut node: Node,
        mut ty: Ty,
        args: Vec<Operand<'_>>,
        done: usize,
        callee: Callee,
    ) -> (Node, Ty) {
        let total = done + args.len();
        if let (Some(name), Some(extra)) = (callee.name, args.get(2))
            && callee.library
            && takes_a_point(name)
        {
            let extra = extra.expr().span;
            self.report(derivatives::point_in_pieces(name, extra, callee.span, 2, total));
            ty = Ty::Error;
        }
        let before = self.diagnostics.len();
        let mut args = args.into_iter().enumerate();
        while let Some((offset, arg)) = args.next() {
            let index = done + offset;
            // One wrong argument may make all others look wrong.
            if self.diagnostics.len() > before {
                ty = Ty::Error;
            }
            let Some((from, to)) = self.as_function(&ty, index, total, arg.expr(), callee) else {
                self.argument(arg, &Ty::Error, index, callee);
                args.for_each(|(offset, arg)| drop(self.argument(arg, &Ty::Error, done + offset, callee)));
                return (Node::error(callee.span), Ty::Error);
            };
            let span = callee.span.to(arg.expr().span);
            let arg = self.argument(arg, &from, index, callee);
            node = Node::app(node, arg, span);
            ty = to;
        }
        (node, ty)
    }

    /// The argument and result of what is applied to `arg`, after `taken` of `given` arguments; reports if it is no function.
    fn as_function(
        &mut self,
        ty: &Ty,
        taken: usize,
        given: usize,
        arg: &Expr,
        callee: Callee,
    ) -> Option<(Ty, Ty)> {
        let known = self.store.shallow(ty);
        if let Ty::Fun(from, to) = &known {
            return Some(((**from).clone(), (**to).clone()));
        }
        if matches!(known, Ty::Error) {
            return Some((Ty::Error, Ty::Error));
        }
        let (from, to) = (self.store.fresh(), self.store.fresh());
        let function = Ty::fun(from.clone(), to.clone());
        let Err(clash) = self.store.unify(&known, &function) else { return Some((from, to)) };
        let unknown = matches!(known, Ty::Meta(_));
        let explained = if unknown && taken == 0 { self.explain_common(&clash, callee.span) } else { None };
        let symbol = if let ExprKind::Var(name) = &arg.kind { Some(*name) } else { None }
            .filter(|name| taken == 0 && is_symbol_of_a_function(*name));
        match (explained, symbol) {
            (Some(diagnostic), _) => self.report(diagnostic),
            (None, Some(symbol)) => {
                let shown = self.show(&known);
                self.report(types::symbol_between(callee.name, callee.span, &shown, symbol, arg.span));
            }
            (None, None) if matches!((&known, &arg.kind), (Ty::Array(..), ExprKind::Array(_))) => {
                let shown = self.show(&known);
                self.report(types::index_after_a_space(callee.name, callee.span, &shown, arg.span));
            }
            (None, None) => {
                let is_number = unknown && matches!(clash, Clash::Pred { pred: Pred::Num, .. });
                let shown = if is_number { "a number".to_owned() } else { self.show(&known) };
                self.report_not_a_function(shown, taken, given, arg.span, callee);
            }
        }
        None
    }

    fn report_not_a_function(
        &mut self,
        shown: String,
        taken: usize,
        given: usize,
        extra: Span,
        callee: Callee,
    ) {
        if taken == 0 {
            self.report(types::not_a_function(callee.name, callee.span, &shown));
        } else {
            self.report(types::too_many_arguments(callee.name, taken, given, extra, callee.span, &shown));
        }
    }

    /// A primitive without arguments.
    pub(crate) fn prim_function(&mut self, prim: Prim, span: Span) -> (Node, Ty) {
        let name = Some(Name::new(prim.info().name));
        self.apply_prim(prim, Vec::new(), Callee { name, span, library: true, recursive: false }, span)
    }

    /// A primitive applied to any number of arguments.
    pub(crate) fn apply_prim(
        &mut self,
        prim: Prim,
        mut args: Vec<Operand<'_>>,
        callee: Callee,
        span: Span,
    ) -> (Node, Ty) {
        if args.len() == 3 && matches!(prim, Prim::Jvp | Prim::Vjp) {
            return self.separate_tangent(prim, args, callee);
        }
        let sig = signature(prim);
        let arity = prim.info().arity;
        let rest = if args.len() > arity { args.split_off(arity) } else { Vec::new() };
        let mut nodes = Vec::with_capacity(arity);
        let mut args = args.into_iter().enumerate();
        let known = match sig.size_arg {
            // The size comes first in every signature that has one, so this keeps the order of evaluation.
            Some((0, name)) => match args.next() {
                Some((index, arg)) => {
                    let literal = literal_size(arg.expr());
                    let node = self.argument(arg, &Ty::Int, index, callee);
                    let len = match literal {
                        Some(len) => self.store.soft_size(len),
                        None => self.length_of(&node),
                    };
                    nodes.push((node, Ty::Int));
                    Some((name, len))
                }
                None => Some((name, Len::Unknown)),
            },
            Some((_, name)) => Some((name, Len::Unknown)),
            None => None,
        };
        let source = Source::Function(callee.name.unwrap_or_else(|| Name::new(prim.info().name)));
        let (mut ty, inst) = self.instantiate(&sig.scheme, source, callee.span, known);
        for _ in &nodes {
            ty = result_of(ty);
        }
        let before = self.diagnostics.len();
        for (index, arg) in args {
            let Ty::Fun(from, to) = ty else { break };
            let from = if self.diagnostics.len() > before { Rc::new(Ty::Error) } else { from };
            nodes.push((self.argument(arg, &from, index, callee), (*from).clone()));
            ty = (*to).clone();
        }
        let partial = nodes.len() < arity;
        let (node, ty) = self.saturate(nodes, arity, ty, span, |args| NodeKind::Prim { prim, inst, args });
        // After a wrong argument nobody knows whether more were meant to follow.
        let ty = if partial && self.diagnostics.len() > before { Ty::Error } else { ty };
        self.apply_rest(node, ty, rest, arity, callee)
    }

    /// `jvp f x t` and `vjp f x ct`: the arguments as other systems take them.
    fn separate_tangent(&mut self, prim: Prim, args: Vec<Operand<'_>>, callee: Callee) -> (Node, Ty) {
        let last = args.last().map_or(callee.span, |arg| arg.expr().span);
        self.report(if prim == Prim::Jvp {
            derivatives::jvp_takes_a_pair(callee.span, last)
        } else {
            derivatives::vjp_gives_a_pair(callee.span, last)
        });
        for arg in args {
            if let Operand::Expr(expr) = arg {
                self.infer(expr);
            }
        }
        (Node::error(callee.span), Ty::Error)
    }

    /// Builds something that needs `arity` arguments from those given; `ty` is the type after these.
    fn saturate(
        &mut self,
        given: Vec<(Node, Ty)>,
        arity: usize,
        ty: Ty,
        span: Span,
        build: impl FnOnce(Vec<Node>) -> NodeKind,
    ) -> (Node, Ty) {
        if given.len() >= arity {
            return (Node::new(build(given.into_iter().map(|(node, _)| node).collect()), span), ty);
        }
        let missing = arity - given.len();
        let mut bound = Vec::new();
        let mut all = Vec::with_capacity(arity);
        for (node, ty) in given {
            if node.is_atom() {
                all.push(node);
            } else {
                let var = self.temp("arg");
                all.push(Node::local(var, node.span));
                bound.push((var, ty, node));
            }
        }
        let mut params = Vec::with_capacity(missing);
        let mut rest = ty.clone();
        for _ in 0..missing {
            let Ty::Fun(from, to) = self.store.shallow(&rest) else { break };
            let var = self.temp("x");
            all.push(Node::local(var, span));
            params.push((var, (*from).clone()));
            rest = (*to).clone();
        }
        let body = Node::new(build(all), span);
        let lambda = params.into_iter().rev().fold(body, |body, (var, ty)| Node::lam(var, ty, body, span));
        let node = bound
            .into_iter()
            .rev()
            .fold(lambda, |body, (var, ty, value)| Node::bind(var, ty, value, body, span));
        (node, ty)
    }

    /// A constructor applied to any number of arguments.
    fn apply_ctor(&mut self, path: &Path, args: Vec<Operand<'_>>, callee: Callee, span: Span) -> (Node, Ty) {
        let resolved = self.resolve_ctor(path);
        let Some(CtorUse { ctor, args: type_args, fields, result }) =
            resolved.and_then(|info| self.instantiate_ctor(&info))
        else {
            self.failed = true;
            return self.apply_to(Node::error(span), Ty::Error, args, callee);
        };
        let given = args.len();
        if given > fields.len() {
            let extra = args.get(fields.len()).map_or(span, |arg| arg.expr().span);
            let shown = self.show(&result);
            self.report(types::too_many_arguments(
                callee.name,
                fields.len(),
                given,
                extra,
                callee.span,
                &shown,
            ));
            args.into_iter().for_each(|arg| drop(self.argument(arg, &Ty::Error, 0, callee)));
            return (Node::error(span), result);
        }
        let arity = fields.len();
        let mut nodes = Vec::with_capacity(arity);
        for (index, (arg, field)) in args.into_iter().zip(&fields).enumerate() {
            nodes.push((self.argument(arg, field, index, callee), field.clone()));
        }
        let rest = fields.into_iter().skip(nodes.len()).rev().fold(result, |to, from| Ty::fun(from, to));
        self.saturate(nodes, arity, rest, span, |fields| NodeKind::Ctor { ctor, args: type_args, fields })
    }

    /// The size that an `Int` stands for when it is the `length` of an array.
    fn length_of(&self, node: &Node) -> Len {
        let NodeKind::Prim { prim: Prim::Length, inst, .. } = &node.kind else { return Len::Unknown };
        let size = inst.iter().find_map(|arg| match arg {
            Arg::Size(len) => Some(self.store.shallow_size(*len)),
            Arg::Type(_) | Arg::Row(_) => None,
        });
        size.unwrap_or(Len::Unknown)
    }
}

/// A head and its arguments; parentheses around a head that is itself an application do not matter.
fn spine(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    let mut head = expr;
    let mut groups: Vec<&[Expr]> = Vec::new();
    loop {
        if let ExprKind::App { func, args } = &head.kind {
            groups.push(args);
            head = func;
        } else if let ExprKind::Paren(inner) = &head.kind
            && matches!(inner.kind, ExprKind::App { .. } | ExprKind::Paren(_) | ExprKind::Op(_))
        {
            head = inner;
        } else {
            break;
        }
    }
    (head, groups.into_iter().rev().flatten().collect())
}

/// A spine whose arguments get one more.
pub(crate) fn spine_with<'e>(expr: &'e Expr, last: Operand<'e>) -> (&'e Expr, Vec<Operand<'e>>) {
    let (head, args) = spine(expr);
    (head, args.into_iter().map(Operand::Expr).chain([last]).collect())
}

fn literal_size(expr: &Expr) -> Option<u64> {
    let mut expr = expr;
    while let ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    if let ExprKind::Lit(Literal::Number(value)) = &expr.kind { Some(*value) } else { None }
}

fn result_of(ty: Ty) -> Ty {
    if let Ty::Fun(_, to) = ty { Rc::unwrap_or_clone(to) } else { ty }
}

/// Library functions whose result, after a function and a point, is never a function.
fn takes_a_point(name: Name) -> bool {
    matches!(crate::scope::ascii_name(name).as_str(), "grad" | "value_and_grad" | "grad_fwd" | "hessian")
}

/// Library functions that take a function and the point at which its gradient is wanted.
pub(crate) fn is_gradient(name: Name) -> bool {
    matches!(
        crate::scope::ascii_name(name).as_str(),
        "grad" | "value_and_grad" | "grad_fwd" | "derivative" | "hessian" | "jacfwd" | "jacrev"
    )
}

/// The primitive behind an operator.
pub(crate) trait Primitive {
    /// Nothing for operators that are not strict functions of their operands.
    fn prim(self) -> Option<Prim>;
}

impl Primitive for BinOp {
    fn prim(self) -> Option<Prim> {
        Some(match self {
            BinOp::Pipe | BinOp::Compose | BinOp::Or | BinOp::And => return None,
            BinOp::Eq => Prim::Eq,
            BinOp::Ne => Prim::Ne,
            BinOp::Lt => Prim::Lt,
            BinOp::Le => Prim::Le,
            BinOp::Gt => Prim::Gt,
            BinOp::Ge => Prim::Ge,
            BinOp::Append => Prim::Append,
            BinOp::Add => Prim::Add,
            BinOp::Sub => Prim::Sub,
            BinOp::Mul => Prim::Mul,
            BinOp::Div => Prim::Div,
            BinOp::Rem => Prim::Rem,
            BinOp::Power => Prim::Power,
            BinOp::RealPower => Prim::Pow,
        })
    }
}
