//! Inference of one group of definitions that depend on each other: walks the surface tree once, finds types by
//! unification, and builds the elaborated term as it goes.
//!
//! Expressions are either *inferred* or *checked* against a type that the context demands; the latter carries a
//! [`Why`], so that a clash is reported at the smallest expression that causes it together with the reason for the
//! demand. After an error the walk goes on with [`Ty::Error`], which agrees with everything.

pub(crate) mod annotation;
pub(crate) mod apply;
pub(crate) mod binding;
pub(crate) mod explain;
pub(crate) mod expr;
pub(crate) mod function;
pub(crate) mod generalize;
pub(crate) mod operator;
pub(crate) mod pattern;
pub(crate) mod record;

use crate::scope::Globals;
use crate::ty::{
    Arg, Len, Preds, Rest, RigidId, RigidKind, RowTy, SizeMode, Source, Store, Subst, Ty, from_core,
};
use crate::typed::{Group, GroupId, Inst, Node, NodeKind};
use annotation::Frame;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Kind, Scheme, Var};
use wengert_syntax::ast;

/// Why an expression must have a type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Why {
    /// `(e : t)`
    Annotation(Span),
    /// The type after the parameters of a definition.
    Result { name: Option<Name>, span: Span },
    /// Argument `index` (from 0) of a function.
    Argument { callee: Option<Name>, index: usize, callee_span: Span, recursive: bool },
    /// The body of a lambda that is argument `index` of a function.
    LambdaBody { callee: Option<Name>, index: usize, callee_span: Span },
    /// An operand; `other` is the left operand if this is the right one.
    Operand { op: ast::BinOp, other: Option<Span> },
    /// The operand of a unary minus.
    Negated,
    /// The `else` branch must be like the `then` branch.
    Branch(Span),
    /// An arm must be like the first one.
    Arm(Span),
    /// An element must be like the first one.
    Element(Span),
    /// The condition of an `if`.
    Condition,
    /// The index of `xs[i]`.
    Index,
    /// The new value of a field.
    Update(Name),
    /// An earlier use of a function in its own recursive group.
    Recursion(Name),
}

impl Why {
    /// The reason for the body of a lambda, from that for the lambda.
    fn inside_lambda(&self) -> Why {
        match *self {
            Why::Argument { callee, index, callee_span, .. } => {
                Why::LambdaBody { callee, index, callee_span }
            }
            Why::Annotation(_)
            | Why::Result { .. }
            | Why::LambdaBody { .. }
            | Why::Operand { .. }
            | Why::Negated
            | Why::Branch(_)
            | Why::Arm(_)
            | Why::Element(_)
            | Why::Condition
            | Why::Index
            | Why::Update(_)
            | Why::Recursion(_) => *self,
        }
    }

    fn size_mode(&self) -> SizeMode {
        match self {
            Why::Element(_) => SizeMode::Strict,
            Why::Argument { recursive: true, .. } => SizeMode::Loose,
            Why::Argument { .. }
            | Why::LambdaBody { .. }
            | Why::Annotation(_)
            | Why::Result { .. }
            | Why::Operand { .. }
            | Why::Negated
            | Why::Branch(_)
            | Why::Arm(_)
            | Why::Condition
            | Why::Index
            | Why::Update(_)
            | Why::Recursion(_) => SizeMode::Join,
        }
    }
}

/// A local variable in scope.
#[derive(Clone, Debug)]
pub(crate) enum Local {
    Mono {
        var: Var,
        ty: Ty,
    },
    Poly {
        var: Var,
        group: GroupId,
        ty: Ty,
    },
    /// A function inside its own recursive group.
    Rec {
        var: Var,
        group: GroupId,
        ty: Ty,
    },
}

/// The state of the walk.
pub(crate) struct Infer<'a> {
    pub(crate) globals: &'a Globals,
    pub(crate) store: Store<'a>,
    locals: FxHashMap<Name, Vec<Local>>,
    trail: Vec<Name>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) next_owner: u32,
    pub(crate) groups: Vec<Group>,
    /// The group whose values are being inferred.
    pub(crate) scope: Option<GroupId>,
    /// Local groups in the order in which their scopes ended.
    pub(crate) ended: Vec<GroupId>,
    /// The definitions of the group, while they are monomorphic.
    pub(crate) own: FxHashMap<Name, Ty>,
    pub(crate) own_group: GroupId,
    next_var: u32,
    /// Variables that hold the values of named sizes while running.
    pub(crate) size_values: Vec<function::SizeValue>,
    /// Annotated patterns and their types, in the order in which they were met.
    pub(crate) annotated: Vec<(Span, Ty)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) failed: bool,
    pub(crate) exhausted: bool,
    /// The definition that is being inferred.
    pub(crate) current_span: Span,
    /// The names whose values, in a plain `let`, are being inferred: there they are not defined yet.
    pub(crate) being_bound: Vec<Name>,
    /// What the functions give that are differentiated.
    pub(crate) differentiated: Vec<Ty>,
}

impl<'a> Infer<'a> {
    pub(crate) fn new(globals: &'a Globals) -> Infer<'a> {
        Infer {
            globals,
            store: Store::new(&globals.known_types),
            locals: FxHashMap::default(),
            trail: Vec::new(),
            frames: Vec::new(),
            next_owner: 0,
            groups: vec![Group::default()],
            scope: None,
            ended: Vec::new(),
            own: FxHashMap::default(),
            own_group: GroupId(0),
            next_var: 0,
            size_values: Vec::new(),
            annotated: Vec::new(),
            diagnostics: Vec::new(),
            failed: false,
            exhausted: false,
            current_span: Span::NOWHERE,
            being_bound: Vec::new(),
            differentiated: Vec::new(),
        }
    }

    /// Reports an error. Once types have become too large nothing else about them means much.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.failed |= diagnostic.is_error();
        if !self.exhausted {
            self.diagnostics.push(diagnostic);
        }
    }

    /// A variable that nothing else is called.
    pub(crate) fn new_var(&mut self, name: Name) -> Var {
        self.next_var += 1;
        Var { name, id: self.next_var - 1 }
    }

    /// A variable that the elaboration needs.
    pub(crate) fn temp(&mut self, hint: &str) -> Var {
        self.new_var(Name::new(hint))
    }

    /// Brings a local variable into scope until [`Infer::leave`].
    pub(crate) fn enter(&mut self, name: Name, local: Local) {
        self.locals.entry(name).or_default().push(local);
        self.trail.push(name);
    }

    /// Brings a monomorphic local variable into scope.
    pub(crate) fn enter_mono(&mut self, name: Name, ty: Ty) -> Var {
        let var = self.new_var(name);
        self.enter(name, Local::Mono { var, ty });
        var
    }

    /// What [`Infer::leave`] goes back to.
    pub(crate) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes out of scope what came in since `mark`.
    pub(crate) fn leave(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some(name) = self.trail.pop()
                && let Some(stack) = self.locals.get_mut(&name)
            {
                stack.pop();
            }
        }
    }

    pub(crate) fn local(&self, name: Name) -> Option<Local> {
        self.locals.get(&name).and_then(|stack| stack.last()).cloned()
    }

    /// Names of all local variables in scope.
    pub(crate) fn local_names(&self) -> impl Iterator<Item = Name> + '_ {
        self.trail.iter().copied()
    }

    /// A new group, inside the one whose values are being inferred.
    pub(crate) fn new_group(&mut self) -> GroupId {
        self.groups.push(Group { parent: self.scope, ..Group::default() });
        GroupId(self.groups.len() as u32 - 1)
    }

    pub(crate) fn group_params(&self, group: GroupId) -> Rc<[RigidId]> {
        self.groups.get(group.0 as usize).map(|g| Rc::clone(&g.params)).unwrap_or_default()
    }

    /// An occurrence of a local variable.
    pub(crate) fn use_local(&mut self, local: &Local, span: Span) -> (Node, Ty) {
        match local {
            Local::Mono { var, ty } => (Node::local(*var, span), ty.clone()),
            Local::Rec { var, group, ty } => {
                (Node::new(NodeKind::Local { var: *var, inst: Inst::Own(*group) }, span), ty.clone())
            }
            Local::Poly { var, group, ty } => {
                let params = self.group_params(*group);
                let args = self.fresh_args(&params, Source::Function(var.name), span);
                let ty = self.store.substitute(ty, &params, &args);
                if let Some(group) = self.groups.get_mut(group.0 as usize) {
                    group.uses.push(Rc::clone(&args));
                }
                (Node::new(NodeKind::Local { var: *var, inst: Inst::Local(*group, args) }, span), ty)
            }
        }
    }

    fn fresh_args(&mut self, params: &[RigidId], source: Source, span: Span) -> Rc<[Arg]> {
        let kinds: Vec<RigidKind> = params
            .iter()
            .filter_map(|id| self.store.rigids.get(id.0 as usize))
            .map(|rigid| rigid.kind)
            .collect();
        let mut args = Vec::with_capacity(kinds.len());
        for kind in kinds {
            args.push(match kind {
                RigidKind::Type(preds) => {
                    let origin = self.store.origin(source, span);
                    let mut fresh = Preds::default();
                    preds.iter().for_each(|(pred, _)| fresh.add(pred, origin));
                    Arg::Type(self.store.fresh_with(fresh, None))
                }
                RigidKind::Row => {
                    let rest = self.store.fresh_row(None);
                    Arg::Row(RowTy { fields: BTreeMap::new(), rest })
                }
                RigidKind::Size => Arg::Size(self.store.fresh_size(None)),
            });
        }
        args.into()
    }

    /// A scheme of the core with fresh metas for its parameters. `known` fixes some of them.
    pub(crate) fn instantiate(
        &mut self,
        scheme: &Scheme,
        source: Source,
        span: Span,
        known: Option<(Name, Len)>,
    ) -> (Ty, Rc<[Arg]>) {
        let mut subst = Subst::default();
        let mut args = Vec::with_capacity(scheme.params.len());
        let origin = self.store.origin(source, span);
        for param in &scheme.params {
            let arg = match &param.kind {
                Kind::Type(demands) => {
                    let mut preds = Preds::default();
                    demands.iter().for_each(|pred| preds.add(*pred, origin));
                    Arg::Type(if preds.force_real() { Ty::Real } else { self.store.fresh_with(preds, None) })
                }
                Kind::Row => Arg::Row(RowTy { fields: BTreeMap::new(), rest: self.store.fresh_row(None) }),
                Kind::Size => Arg::Size(match known {
                    Some((name, len)) if name == param.name => len,
                    Some(_) | None => self.store.fresh_size(None),
                }),
            };
            subst.insert(param.name, arg.clone());
            args.push(arg);
        }
        (from_core(&scheme.ty, &subst), args.into())
    }

    /// A record type with one field and an open rest.
    pub(crate) fn open_record(&mut self, field: Name, ty: Ty) -> Ty {
        let rest = self.store.fresh_row(None);
        Ty::Record(Rc::new(RowTy { fields: BTreeMap::from([(field, ty)]), rest }))
    }

    /// A record type.
    pub(crate) fn record(fields: BTreeMap<Name, Ty>) -> Ty {
        Ty::Record(Rc::new(RowTy { fields, rest: Rest::Closed }))
    }
}
