//! Functions: parameters, results, and the checks of array sizes that annotations ask for.
//!
//! A size named in parameter annotations is bound, on entry, to the length of the first array it measures; every
//! further array in the parameters that it measures is checked on entry, and so is every constant size. An annotated result is
//! checked only if the body was accepted on the assumption that some sizes agree: otherwise types have settled it, and
//! the body's last call stays a tail call. A result size that no parameter measures may be the name of an `Int`
//! parameter, as in `def ones (n : Int) : [n]Real`.

use super::{Infer, Why};
use crate::errors::sizes;
use crate::ty::{Arg, Len, SizeId, SizeState, Store, Ty};
use crate::typed::{ArmNode, MatchRole, Node, NodeKind, Pat};
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_core::{Lit, Var};
use wengert_prim::Prim;
use wengert_syntax::ast::{self, Expr, Pattern, PatternKind};

/// The value of a named size while running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeValue {
    id: SizeId,
    var: Var,
    used: bool,
}

/// An array whose size along `axis` is written as `len`.
#[derive(Clone, Debug)]
struct Place {
    array: Node,
    ty: Ty,
    axis: u32,
    len: Len,
}

/// A parameter: its variable, its type, and the pattern if it is more than a variable.
struct Param {
    var: Var,
    ty: Ty,
    pattern: Option<Pat>,
    span: Span,
}

impl Infer<'_> {
    /// `\params -> body`, with an annotated result or a wanted type. `name` is what is being defined.
    pub(crate) fn function(
        &mut self,
        params: &[Pattern],
        result: Option<&ast::Type>,
        body: &Expr,
        want: Option<(&Ty, &Why)>,
        name: Option<Name>,
        span: Span,
    ) -> (Node, Ty) {
        let mark = self.mark();
        let size_mark = self.size_values.len();
        self.distinct_variables(params);
        let mut wanted = want.map(|(ty, _)| ty.clone());
        let mut slots = Vec::with_capacity(params.len());
        let mut places = Vec::new();
        for param in params {
            let ty = match wanted.map(|ty| self.store.shallow(&ty)) {
                Some(Ty::Fun(from, to)) => {
                    wanted = Some((*to).clone());
                    (*from).clone()
                }
                Some(_) | None => {
                    wanted = None;
                    self.store.fresh()
                }
            };
            slots.push(self.param(param, ty, &mut places));
        }
        self.declare_sizes(&places);
        let (node, ty) = match (result, want) {
            (Some(result), _) => self.annotated_body(result, body, name, &slots),
            (None, Some((_, why))) => match wanted {
                Some(wanted) => (self.check(body, &wanted, &why.inside_lambda()), wanted),
                None => self.infer(body),
            },
            (None, None) => self.infer(body),
        };
        let node = self.with_patterns(&slots, node);
        let node = self.with_size_checks(&places, size_mark, node);
        self.size_values.truncate(size_mark);
        self.leave(mark);
        slots.into_iter().rev().fold((node, ty), |(node, ty), slot| {
            (Node::lam(slot.var, slot.ty.clone(), node, span), Ty::fun(slot.ty, ty))
        })
    }

    fn param(&mut self, param: &Pattern, ty: Ty, places: &mut Vec<Place>) -> Param {
        let start = self.annotated.len();
        let pattern = self.pattern(param, &ty, param.span);
        let (var, pattern) = match pattern {
            Pat::Bind(var, _) => (var, None),
            other @ (Pat::Wildcard
            | Pat::Lit(_)
            | Pat::Number { .. }
            | Pat::Tuple(_)
            | Pat::Record(_)
            | Pat::Ctor { .. }
            | Pat::As(..)) => (self.temp("p"), Some(other)),
        };
        let log: Vec<(Span, Ty)> = self.annotated.drain(start..).collect();
        if !log.is_empty() {
            self.places_of_pattern(param, Node::local(var, param.span), &log, places);
        }
        Param { var, ty, pattern, span: param.span }
    }

    fn annotated_body(
        &mut self,
        result: &ast::Type,
        body: &Expr,
        name: Option<Name>,
        slots: &[Param],
    ) -> (Node, Ty) {
        let ty = self.annotation(result);
        self.sizes_of_result(&ty, result.span, slots);
        let before = std::mem::replace(&mut self.store.assumed_size, false);
        let node = self.check(body, &ty, &Why::Result { name, span: result.span });
        let assumed = std::mem::replace(&mut self.store.assumed_size, before);
        self.store.assumed_size |= assumed;
        let node = if assumed { self.check_sizes_of_value(node, &ty, result.span) } else { node };
        (node, ty)
    }

    fn with_patterns(&mut self, slots: &[Param], body: Node) -> Node {
        slots.iter().rev().fold(body, |body, slot| match &slot.pattern {
            None => body,
            Some(pattern) => {
                let span = body.span;
                let arm = ArmNode { pattern: pattern.clone(), pattern_span: slot.span, body };
                let scrutinee = Box::new(Node::local(slot.var, slot.span));
                let kind = NodeKind::Match {
                    scrutinee,
                    ty: slot.ty.clone(),
                    arms: vec![arm],
                    role: MatchRole::Param,
                };
                Node::new(kind, span)
            }
        })
    }

    /// Finds the annotated arrays inside a parameter that sits at `at`.
    fn places_of_pattern(&self, pattern: &Pattern, at: Node, log: &[(Span, Ty)], places: &mut Vec<Place>) {
        let span = pattern.span;
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match &pattern.kind {
            PatternKind::Paren(inner) => self.places_of_pattern(inner, at, log, places),
            PatternKind::As { pattern, .. } => self.places_of_pattern(pattern, at, log, places),
            PatternKind::Annot { pattern: inner, .. } => {
                if let Some((_, ty)) = log.iter().find(|(place, _)| *place == span) {
                    places_of_type(&self.store, ty, &at, places);
                }
                self.places_of_pattern(inner, at, log, places);
            }
            PatternKind::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    let part = Node::new(NodeKind::Proj(Box::new(at.clone()), index as u32), item.span);
                    self.places_of_pattern(item, part, log, places);
                }
            }
            PatternKind::Record(fields) => {
                for (field, inner) in fields {
                    if let Some(inner) = inner {
                        let part = Node::new(NodeKind::Field(Box::new(at.clone()), field.name), inner.span);
                        self.places_of_pattern(inner, part, log, places);
                    }
                }
            }
            PatternKind::Wildcard
            | PatternKind::Var(_)
            | PatternKind::Lit { .. }
            | PatternKind::Ctor { .. }
            | PatternKind::Error => {}
        });
    }

    /// Gives every named size that the parameters measure a variable, unless it has one from outside.
    fn declare_sizes(&mut self, places: &[Place]) {
        for place in places {
            if let Len::Meta(id) = place.len
                && self.size_value(id).is_none()
            {
                let name = self.size_name(place.len);
                let var = self.new_var(name);
                self.size_values.push(SizeValue { id, var, used: false });
            }
        }
    }

    fn size_value(&self, id: SizeId) -> Option<usize> {
        self.size_values.iter().position(|value| value.id == id)
    }

    fn size_name(&self, len: Len) -> Name {
        match len {
            Len::Const(n) => Name::new(&n.to_string()),
            Len::Meta(id) => match self.store.sizes.get(id.0 as usize) {
                Some(SizeState::Open { user: Some(user), .. }) => user.name,
                Some(SizeState::Open { user: None, .. } | SizeState::Soft { .. } | SizeState::Bound(_))
                | None => Name::new("n"),
            },
            Len::Rigid(_) | Len::Unknown => Name::new("n"),
        }
    }

    /// Sizes that occur only in the result are values of `Int` parameters, or a mistake.
    fn sizes_of_result(&mut self, ty: &Ty, span: Span, slots: &[Param]) {
        let mut places = Vec::new();
        places_of_type(&self.store, ty, &Node::error(span), &mut places);
        for place in places {
            let Len::Meta(id) = place.len else { continue };
            if self.size_value(id).is_some() || !self.owns_size(id) {
                continue;
            }
            let name = self.size_name(place.len);
            let param = slots.iter().find(|slot| slot.pattern.is_none() && slot.var.name == name);
            match param {
                Some(slot) if self.store.unify(&slot.ty, &Ty::Int).is_ok() => {
                    let var = slot.var;
                    self.size_values.push(SizeValue { id, var, used: false });
                }
                Some(_) | None if self.measured_in_params(id, slots) => {}
                Some(_) | None => {
                    let span = self.frames.last().and_then(|frame| {
                        let own = frame.vars.iter().find(|(var, _)| var.name == name);
                        own.map(|(var, _)| var.span)
                    });
                    if let Some(span) = span {
                        self.report(sizes::size_only_in_result(name, span));
                    }
                }
            }
        }
    }

    /// Whether the innermost definition or local function is the one that introduced a size.
    fn owns_size(&self, id: SizeId) -> bool {
        let vars = self.frames.last().map(|frame| frame.vars.as_slice()).unwrap_or_default();
        vars.iter().any(|(_, arg)| matches!(arg, Arg::Size(Len::Meta(own)) if *own == id))
    }

    /// Whether a size occurs in the type of a parameter, even where no value measures it (`f : [n]Real -> Real`).
    fn measured_in_params(&self, id: SizeId, slots: &[Param]) -> bool {
        slots.iter().any(|slot| mentions_size(&self.store, &slot.ty, id))
    }

    /// Wraps the checks on entry around the body of a function.
    fn with_size_checks(&mut self, places: &[Place], size_mark: usize, body: Node) -> Node {
        let mut binders: Vec<(Var, Node)> = Vec::new();
        let mut checks: Vec<(Place, Node)> = Vec::new();
        for (at, place) in places.iter().enumerate() {
            let span = place.array.span;
            match place.len {
                Len::Const(n) => {
                    let expected =
                        Node::new(NodeKind::Lit(Lit::Int(i64::try_from(n).unwrap_or(i64::MAX))), span);
                    checks.push((place.clone(), expected));
                }
                Len::Meta(id) => {
                    let Some(index) = self.size_value(id) else { continue };
                    let Some(value) = self.size_values.get_mut(index) else { continue };
                    let same = || places.iter().enumerate().filter(|(_, other)| other.len == place.len);
                    // The outermost axis is the cheapest to measure, and is known even when there are no rows.
                    let best = same().min_by_key(|(_, other)| other.axis).map(|(best, _)| best);
                    if index < size_mark {
                        value.used = true;
                        checks.push((place.clone(), Node::local(value.var, span)));
                    } else if (value.used || same().count() > 1) && best == Some(at) {
                        let var = value.var;
                        binders.push((var, self.length_along(place.array.clone(), &place.ty, place.axis)));
                    } else if best != Some(at) {
                        checks.push((place.clone(), Node::local(value.var, span)));
                    }
                }
                Len::Rigid(_) | Len::Unknown => {}
            }
        }
        let body = checks
            .into_iter()
            .rev()
            .fold(body, |body, (place, expected)| self.checked(place, expected, body));
        binders.into_iter().rev().fold(body, |body, (var, length)| {
            let span = body.span;
            Node::bind(var, Ty::Int, length, body, span)
        })
    }

    /// `let _ = check in body`
    fn checked(&mut self, place: Place, expected: Node, body: Node) -> Node {
        let (span, name) = (place.array.span, self.size_name(place.len));
        let array = Box::new(place.array);
        let kind = NodeKind::CheckSize { array, axis: place.axis, expected: Box::new(expected), name };
        let unused = self.temp("_");
        let outer = body.span;
        Node::bind(unused, place.ty, Node::new(kind, span), body, outer)
    }

    /// The number of elements of an array along an axis; of no rows, 0.
    fn length_along(&mut self, array: Node, ty: &Ty, axis: u32) -> Node {
        let span = array.span;
        let Ty::Array(len, elem) = self.store.shallow(ty) else { return Node::error(span) };
        let inst = self.array_args(Prim::Length, &elem, len);
        let length = NodeKind::Prim { prim: Prim::Length, inst, args: vec![array.clone()] };
        let length = Node::new(length, span);
        if axis == 0 {
            return length;
        }
        let zero = || Node::new(NodeKind::Lit(Lit::Int(0)), span);
        let inst = Rc::from([Arg::Type(Ty::Int)]);
        let empty = Node::new(NodeKind::Prim { prim: Prim::Eq, inst, args: vec![length, zero()] }, span);
        let inst = self.array_args(Prim::Index, &elem, len);
        let row = Node::new(NodeKind::Prim { prim: Prim::Index, inst, args: vec![array, zero()] }, span);
        let inner = self.length_along(row, &elem, axis - 1);
        Node::new(NodeKind::If(Box::new([empty, zero(), inner])), span)
    }

    /// Checks, while running, the sizes that an annotation gives a value.
    pub(crate) fn check_sizes_of_value(&mut self, node: Node, ty: &Ty, span: Span) -> Node {
        let result = self.temp("result");
        let outer = node.span;
        let mut places = Vec::new();
        places_of_type(&self.store, ty, &Node::local(result, span), &mut places);
        let mut checks = Vec::new();
        for place in places {
            match place.len {
                Len::Const(n) => {
                    let expected =
                        Node::new(NodeKind::Lit(Lit::Int(i64::try_from(n).unwrap_or(i64::MAX))), span);
                    checks.push((place, expected));
                }
                Len::Meta(id) => {
                    if let Some(value) = self.size_values.iter_mut().find(|value| value.id == id) {
                        value.used = true;
                        let expected = Node::local(value.var, span);
                        checks.push((place, expected));
                    }
                }
                Len::Rigid(_) | Len::Unknown => {}
            }
        }
        if checks.is_empty() {
            return node;
        }
        let body = Node::local(result, outer);
        let body = checks
            .into_iter()
            .rev()
            .fold(body, |body, (place, expected)| self.checked(place, expected, body));
        Node::bind(result, ty.clone(), node, body, outer)
    }

    /// Reports a variable that occurs twice in the parameters of one function.
    fn distinct_variables(&mut self, params: &[Pattern]) {
        let mut seen: Vec<(Name, Span)> = Vec::new();
        params.iter().for_each(|param| Infer::variables_of(param, &mut seen));
        self.report_repeated(&seen);
    }
}

/// Finds the arrays inside a value of an annotated type that sits at `at`; functions and data types are opaque.
fn places_of_type(store: &Store<'_>, ty: &Ty, at: &Node, places: &mut Vec<Place>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match store.shallow(ty) {
        whole @ Ty::Array(..) => {
            let mut axis = 0;
            let mut rest = whole.clone();
            while let Ty::Array(len, elem) = rest {
                let len = store.shallow_size(len);
                places.push(Place { array: at.clone(), ty: whole.clone(), axis, len });
                axis += 1;
                rest = store.shallow(&elem);
            }
        }
        Ty::Tuple(items) => {
            for (index, item) in items.iter().enumerate() {
                let part = Node::new(NodeKind::Proj(Box::new(at.clone()), index as u32), at.span);
                places_of_type(store, item, &part, places);
            }
        }
        Ty::Record(row) => {
            for (name, item) in &store.flat_row(&row).fields {
                let part = Node::new(NodeKind::Field(Box::new(at.clone()), *name), at.span);
                places_of_type(store, item, &part, places);
            }
        }
        Ty::Real
        | Ty::Int
        | Ty::Bool
        | Ty::String
        | Ty::Fun(..)
        | Ty::Data(..)
        | Ty::Dual(_)
        | Ty::Meta(_)
        | Ty::Rigid(_)
        | Ty::Error => {}
    });
}

fn mentions_size(store: &Store<'_>, ty: &Ty, id: SizeId) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match store.shallow(ty) {
        Ty::Array(len, elem) => store.shallow_size(len) == Len::Meta(id) || mentions_size(store, &elem, id),
        Ty::Tuple(items) | Ty::Data(_, items) => items.iter().any(|item| mentions_size(store, item, id)),
        Ty::Record(row) => store.flat_row(&row).fields.values().any(|item| mentions_size(store, item, id)),
        Ty::Fun(from, to) => mentions_size(store, &from, id) || mentions_size(store, &to, id),
        Ty::Dual(inner) => mentions_size(store, &inner, id),
        Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Meta(_) | Ty::Rigid(_) | Ty::Error => false,
    })
}
