//! The last step for a definition: every meta is decided by now, so the typed term becomes a term of the core. Number
//! literals find out what they are, and matches are checked for what they miss.

use crate::errors::patterns;
use crate::exhaustive::check_match;
use crate::infer::Infer;
use crate::ty::{Arg, Len, Rest, RigidId, RigidKind, RowTy, Ty};
use crate::typed::{ArmNode, GroupId, Inst, MatchRole, Node, NodeKind, Pat};
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::{
    Arm, Binder, Kind, Lit, Param, Pattern, RecBinding, Row, Scheme, Size, Term, TermKind, Type, TypeArg, Var,
};

impl Infer<'_> {
    /// The scheme of a member of the definitions' own group.
    pub(crate) fn finished_scheme(&mut self, ty: &Ty) -> Scheme {
        let ty = self.core_type(ty);
        Scheme { params: self.core_params(&self.group_params(self.own_group)), ty }
    }

    fn core_params(&self, ids: &[RigidId]) -> Vec<Param> {
        let rigids = ids.iter().filter_map(|id| self.store.rigids.get(id.0 as usize));
        rigids
            .map(|rigid| Param {
                name: rigid.name.unwrap_or_else(|| Name::new("_")),
                kind: match rigid.kind {
                    RigidKind::Type(preds) => Kind::Type(preds.simplified()),
                    RigidKind::Row => Kind::Row,
                    RigidKind::Size => Kind::Size,
                },
            })
            .collect()
    }

    fn rigid_name(&self, id: RigidId) -> Name {
        self.store.rigids.get(id.0 as usize).and_then(|rigid| rigid.name).unwrap_or_else(|| Name::new("_"))
    }

    /// A type of the core.
    pub(crate) fn core_type(&mut self, ty: &Ty) -> Type {
        if !self.store.descend() {
            self.store.ascend();
            self.report_exhausted();
            return Type::unit();
        }
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match self.store.shallow(ty) {
            Ty::Real => Type::Real,
            Ty::Int => Type::Int,
            Ty::Bool => Type::Bool,
            Ty::String => Type::String,
            Ty::Tuple(items) => Type::Tuple(items.iter().map(|item| self.core_type(item)).collect()),
            Ty::Record(row) => Type::Record(self.core_row(&row)),
            Ty::Array(len, elem) => Type::array(self.core_size(len), self.core_type(&elem)),
            Ty::Fun(from, to) => Type::fun(self.core_type(&from), self.core_type(&to)),
            Ty::Data(name, args) => Type::Data(name, args.iter().map(|arg| self.core_type(arg)).collect()),
            Ty::Dual(inner) => Type::Dual(Arc::new(self.core_type(&inner))),
            Ty::Rigid(id) => Type::Var(self.rigid_name(id)),
            Ty::Meta(_) | Ty::Error => Type::unit(),
        });
        self.store.ascend();
        result
    }

    fn core_row(&mut self, row: &RowTy) -> Row {
        let flat = self.store.flat_row(row);
        let fields = flat.fields.iter().map(|(name, ty)| (*name, self.core_type(ty))).collect();
        let rest = match flat.rest {
            Rest::Rigid(id) => Some(self.rigid_name(id)),
            Rest::Closed | Rest::Meta(_) | Rest::Error => None,
        };
        Row { fields, rest }
    }

    fn core_size(&self, len: Len) -> Size {
        match self.store.shallow_size(len) {
            Len::Const(n) => Size::Const(n),
            Len::Rigid(id) => Size::Var(self.rigid_name(id)),
            Len::Unknown | Len::Meta(_) => Size::Unknown,
        }
    }

    fn core_arg(&mut self, arg: &Arg) -> TypeArg {
        match arg {
            Arg::Type(ty) => TypeArg::Type(self.core_type(ty)),
            Arg::Row(row) => TypeArg::Row(self.core_row(row)),
            Arg::Size(len) => TypeArg::Size(self.core_size(*len)),
        }
    }

    fn kept_params(&self, group: GroupId) -> Rc<[RigidId]> {
        match self.groups.get(group.0 as usize) {
            Some(found) => Rc::clone(found.kept.as_ref().unwrap_or(&found.params)),
            None => Rc::default(),
        }
    }

    fn core_inst(&mut self, inst: &Inst) -> Vec<TypeArg> {
        match inst {
            Inst::None => Vec::new(),
            Inst::Args(args) => args.iter().map(|arg| self.core_arg(arg)).collect(),
            Inst::Local(group, args) => {
                let (all, kept) = (self.group_params(*group), self.kept_params(*group));
                let wanted = all.iter().zip(args.iter()).filter(|(id, _)| kept.contains(id));
                wanted.map(|(_, arg)| self.core_arg(arg)).collect()
            }
            Inst::Own(group) => {
                let kept = self.kept_params(*group);
                kept.iter()
                    .map(|id| match self.store.rigids.get(id.0 as usize).map(|rigid| rigid.kind) {
                        Some(RigidKind::Row) => TypeArg::Row(self.core_row(&RowTy {
                            fields: std::collections::BTreeMap::new(),
                            rest: Rest::Rigid(*id),
                        })),
                        Some(RigidKind::Size) => TypeArg::Size(self.core_size(Len::Rigid(*id))),
                        Some(RigidKind::Type(_)) | None => TypeArg::Type(self.core_type(&Ty::Rigid(*id))),
                    })
                    .collect()
            }
        }
    }

    fn binder(&mut self, var: Var, ty: &Ty) -> Binder {
        Binder { var, ty: self.core_type(ty) }
    }

    fn shared(&mut self, node: Node) -> Arc<Term> {
        Arc::new(self.term(node))
    }

    fn terms(&mut self, nodes: Vec<Node>) -> Vec<Term> {
        nodes.into_iter().map(|node| self.term(node)).collect()
    }

    fn fields(&mut self, fields: Vec<(Name, Node)>) -> Vec<(Name, Term)> {
        fields.into_iter().map(|(name, node)| (name, self.term(node))).collect()
    }

    /// The term of the core.
    pub(crate) fn term(&mut self, node: Node) -> Term {
        let span = node.span;
        let kind = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.term_kind(node.kind, span));
        Term { kind, span }
    }

    fn term_kind(&mut self, kind: NodeKind, span: Span) -> TermKind {
        match kind {
            NodeKind::Local { var, inst } => TermKind::Var { var, args: self.core_inst(&inst) },
            NodeKind::Global { name, inst } => TermKind::Global { name, args: self.core_inst(&inst) },
            NodeKind::Lit(lit) => TermKind::Lit(lit),
            NodeKind::Number { value, negative, ty } => TermKind::Lit(self.number(value, negative, &ty)),
            NodeKind::Lam { param, ty, body } => {
                TermKind::Lam { param: self.binder(param, &ty), body: self.shared(*body) }
            }
            NodeKind::App(func, arg) => TermKind::App { func: self.shared(*func), arg: self.shared(*arg) },
            NodeKind::Bind { var, ty, value, body } => TermKind::Let {
                var,
                scheme: Scheme::mono(self.core_type(&ty)),
                value: self.shared(*value),
                body: self.shared(*body),
            },
            NodeKind::Let { var, group, ty, value, body } => TermKind::Let {
                var,
                scheme: self.local_scheme(group, &ty),
                value: self.shared(*value),
                body: self.shared(*body),
            },
            NodeKind::LetRec { group, bindings, body } => {
                let bindings = bindings
                    .into_iter()
                    .map(|(var, ty, value)| RecBinding {
                        var,
                        scheme: self.local_scheme(group, &ty),
                        value: self.term(value),
                    })
                    .collect();
                TermKind::LetRec { bindings, body: self.shared(*body) }
            }
            NodeKind::If(parts) => {
                let [cond, then, otherwise] = *parts;
                TermKind::If {
                    cond: self.shared(cond),
                    then: self.shared(then),
                    otherwise: self.shared(otherwise),
                }
            }
            NodeKind::Tuple(items) => TermKind::Tuple(self.terms(items)),
            NodeKind::Proj(tuple, index) => TermKind::Proj { tuple: self.shared(*tuple), index },
            NodeKind::Record(fields) => TermKind::Record(self.fields(fields)),
            NodeKind::Field(record, field) => TermKind::Field { record: self.shared(*record), field },
            NodeKind::Update(record, fields) => {
                TermKind::Update { record: self.shared(*record), fields: self.fields(fields) }
            }
            NodeKind::Ctor { ctor, args, fields } => TermKind::Ctor {
                ctor,
                args: args.iter().map(|arg| self.core_type(arg)).collect(),
                fields: self.terms(fields),
            },
            NodeKind::Match { scrutinee, ty, arms, role } => {
                self.match_term(*scrutinee, &ty, arms, role, span)
            }
            NodeKind::Array { elem, len, items } => self.array_term(&elem, len, items, span),
            NodeKind::Prim { prim, inst, args } => TermKind::Prim {
                prim,
                type_args: inst.iter().map(|arg| self.core_arg(arg)).collect(),
                args: self.terms(args),
            },
            NodeKind::CheckSize { array, axis, expected, name } => TermKind::CheckSize {
                array: self.shared(*array),
                axis,
                expected: self.shared(*expected),
                name,
            },
            NodeKind::Error => {
                self.failed = true;
                TermKind::Tuple(Vec::new())
            }
        }
    }

    /// An array literal. Where its size must be forgotten (`if c then [] else [x]`) it goes through a variable of the weaker
    /// type, since the type of the literal itself tells its size.
    fn array_term(&mut self, elem: &Ty, len: Len, items: Vec<Node>, span: Span) -> TermKind {
        let size = self.core_size(len);
        let exact = size == Size::Const(items.len() as u64);
        let elem = self.core_type(elem);
        let kind = TermKind::Array { elem: elem.clone(), items: self.terms(items) };
        if exact {
            return kind;
        }
        let var = self.temp("literal");
        TermKind::Let {
            var,
            scheme: Scheme::mono(Type::array(Size::Unknown, elem)),
            value: Arc::new(Term { kind, span }),
            body: Arc::new(Term { kind: TermKind::Var { var, args: Vec::new() }, span }),
        }
    }

    fn local_scheme(&mut self, group: GroupId, ty: &Ty) -> Scheme {
        let ty = self.core_type(ty);
        Scheme { params: self.core_params(&self.kept_params(group)), ty }
    }

    /// A number without a point, now that its type is known.
    fn number(&mut self, value: u64, negative: bool, ty: &Ty) -> Lit {
        let ty = self.store.shallow(ty);
        if matches!(ty, Ty::Real) {
            let value = value as f64;
            return Lit::Real(if negative { -value } else { value });
        }
        // The parser lets 2^63 pass only after a minus.
        let int = if negative {
            0i64.wrapping_sub_unsigned(value)
        } else {
            i64::try_from(value).unwrap_or(i64::MAX)
        };
        match ty {
            Ty::Rigid(id) => Lit::Num(int, self.rigid_name(id)),
            Ty::Int
            | Ty::Real
            | Ty::Bool
            | Ty::String
            | Ty::Tuple(_)
            | Ty::Record(_)
            | Ty::Array(..)
            | Ty::Fun(..)
            | Ty::Data(..)
            | Ty::Dual(_)
            | Ty::Meta(_)
            | Ty::Error => Lit::Int(int),
        }
    }

    fn core_pattern(&mut self, pattern: Pat) -> Pattern {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match pattern {
            Pat::Wildcard => Pattern::Wildcard,
            Pat::Bind(var, ty) => Pattern::Bind(self.binder(var, &ty)),
            Pat::Lit(lit) => Pattern::Lit(lit),
            Pat::Number { value, negative, ty } => Pattern::Lit(self.number(value, negative, &ty)),
            Pat::Tuple(items) => {
                Pattern::Tuple(items.into_iter().map(|item| self.core_pattern(item)).collect())
            }
            Pat::Record(fields) => Pattern::Record(
                fields.into_iter().map(|(name, item)| (name, self.core_pattern(item))).collect(),
            ),
            Pat::Ctor { ctor, args, fields } => Pattern::Ctor {
                ctor,
                args: args.iter().map(|arg| self.core_type(arg)).collect(),
                fields: fields.into_iter().map(|field| self.core_pattern(field)).collect(),
            },
            Pat::As(inner, var, ty) => {
                let inner = Box::new(self.core_pattern(*inner));
                Pattern::As(inner, self.binder(var, &ty))
            }
        })
    }

    fn match_term(
        &mut self,
        scrutinee: Node,
        ty: &Ty,
        arms: Vec<ArmNode>,
        role: MatchRole,
        span: Span,
    ) -> TermKind {
        let scrutinee_span = scrutinee.span;
        let scrutinee = self.shared(scrutinee);
        let spans: Vec<Span> = arms.iter().map(|arm| arm.pattern_span).collect();
        let mut bodies = Vec::with_capacity(arms.len());
        let mut pats = Vec::with_capacity(arms.len());
        for arm in arms {
            pats.push(self.core_pattern(arm.pattern));
            bodies.push(self.term(arm.body));
        }
        let ty = self.core_type(ty);
        if !self.failed {
            let globals = self.globals;
            let report = check_match(&pats, &ty, &|name| {
                globals.known_types.get(&name).map(|info| Arc::clone(&info.data))
            });
            if !report.missing.is_empty() {
                let first = spans.first().copied().unwrap_or(span);
                self.report(match role {
                    MatchRole::Match => patterns::not_exhaustive(scrutinee_span, &report.missing),
                    MatchRole::Let => patterns::refutable(first, "`let`", &report.missing),
                    MatchRole::Param => patterns::refutable(first, "parameter", &report.missing),
                });
            }
            for index in report.redundant {
                if let Some(span) = spans.get(index) {
                    self.report(patterns::redundant(*span));
                }
            }
        }
        let arms = pats.into_iter().zip(bodies).map(|(pattern, body)| Arm { pattern, body }).collect();
        TermKind::Match { scrutinee, arms }
    }
}
