//! Terms between inference and the core: shaped like the core's, but with types that still contain metas, with number
//! literals whose type is not decided, and with instantiations of recursive groups that are known only at the end.
//! `finish` turns them into the core.

use crate::ty::{Arg, Len, RigidId, Ty};
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_core::{CtorRef, Lit, Var};
use wengert_prim::Prim;

/// A recursive group or a polymorphic `let`, whose parameters are known once it is generalized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupId(pub(crate) u32);

/// A term with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
}

/// How an occurrence instantiates what it refers to.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    /// It is monomorphic.
    None,
    /// With these arguments for the parameters of a local group.
    Local(GroupId, Rc<[Arg]>),
    /// With these arguments for the parameters of a finished definition or primitive.
    Args(Rc<[Arg]>),
    /// With the parameters of the group itself: an occurrence inside a recursive group.
    Own(GroupId),
}

/// See `wengert_core::TermKind`.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Local {
        var: Var,
        inst: Inst,
    },
    Global {
        name: Name,
        inst: Inst,
    },
    Lit(Lit),
    /// Digits without a point, at a type that is a number.
    Number {
        value: u64,
        negative: bool,
        ty: Ty,
    },
    Lam {
        param: Var,
        ty: Ty,
        body: Box<Node>,
    },
    App(Box<Node>, Box<Node>),
    /// A `let` of a monomorphic variable.
    Bind {
        var: Var,
        ty: Ty,
        value: Box<Node>,
        body: Box<Node>,
    },
    /// A generalized `let`.
    Let {
        var: Var,
        group: GroupId,
        ty: Ty,
        value: Box<Node>,
        body: Box<Node>,
    },
    LetRec {
        group: GroupId,
        bindings: Vec<(Var, Ty, Node)>,
        body: Box<Node>,
    },
    If(Box<[Node; 3]>),
    Tuple(Vec<Node>),
    Proj(Box<Node>, u32),
    Record(Vec<(Name, Node)>),
    Field(Box<Node>, Name),
    Update(Box<Node>, Vec<(Name, Node)>),
    Ctor {
        ctor: CtorRef,
        args: Rc<[Ty]>,
        fields: Vec<Node>,
    },
    Match {
        scrutinee: Box<Node>,
        ty: Ty,
        arms: Vec<ArmNode>,
        role: MatchRole,
    },
    /// `len` is the size of the type, which may be less than what is known from the items.
    Array {
        elem: Ty,
        len: Len,
        items: Vec<Node>,
    },
    Prim {
        prim: Prim,
        inst: Rc<[Arg]>,
        args: Vec<Node>,
    },
    CheckSize {
        array: Box<Node>,
        axis: u32,
        expected: Box<Node>,
        name: Name,
    },
    /// An error was reported here; the definition is not elaborated.
    Error,
}

/// An arm of a match.
#[derive(Clone, Debug)]
pub(crate) struct ArmNode {
    pub(crate) pattern: Pat,
    pub(crate) pattern_span: Span,
    pub(crate) body: Node,
}

/// Where a match comes from, for messages about what it misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchRole {
    /// `match … with`
    Match,
    /// `let pattern = …`
    Let,
    /// A parameter of a function.
    Param,
}

/// See `wengert_core::Pattern`.
#[derive(Clone, Debug)]
pub(crate) enum Pat {
    Wildcard,
    Bind(Var, Ty),
    Lit(Lit),
    Number { value: u64, negative: bool, ty: Ty },
    Tuple(Vec<Pat>),
    Record(Vec<(Name, Pat)>),
    Ctor { ctor: CtorRef, args: Rc<[Ty]>, fields: Vec<Pat> },
    As(Box<Pat>, Var, Ty),
}

/// What is known of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Its scheme's parameters, once generalized.
    pub(crate) params: Rc<[RigidId]>,
    /// Those that `specialize` left; nothing before it ran.
    pub(crate) kept: Option<Rc<[RigidId]>>,
    /// How its uses outside of the group instantiate the parameters.
    pub(crate) uses: Vec<Rc<[Arg]>>,
    /// The group in whose values it stands: the parameters of that are in scope here.
    pub(crate) parent: Option<GroupId>,
}

impl Node {
    pub(crate) fn new(kind: NodeKind, span: Span) -> Node {
        Node { kind, span }
    }

    pub(crate) fn error(span: Span) -> Node {
        Node::new(NodeKind::Error, span)
    }

    pub(crate) fn app(func: Node, arg: Node, span: Span) -> Node {
        Node::new(NodeKind::App(Box::new(func), Box::new(arg)), span)
    }

    pub(crate) fn lam(param: Var, ty: Ty, body: Node, span: Span) -> Node {
        Node::new(NodeKind::Lam { param, ty, body: Box::new(body) }, span)
    }

    pub(crate) fn local(var: Var, span: Span) -> Node {
        Node::new(NodeKind::Local { var, inst: Inst::None }, span)
    }

    pub(crate) fn bind(var: Var, ty: Ty, value: Node, body: Node, span: Span) -> Node {
        Node::new(NodeKind::Bind { var, ty, value: Box::new(value), body: Box::new(body) }, span)
    }

    /// Whether evaluating it twice, later, or not at all makes no difference.
    pub(crate) fn is_atom(&self) -> bool {
        match &self.kind {
            NodeKind::Local { inst: Inst::None, .. }
            | NodeKind::Lit(_)
            | NodeKind::Number { .. }
            | NodeKind::Lam { .. }
            | NodeKind::Error => true,
            NodeKind::Local { .. }
            | NodeKind::Global { .. }
            | NodeKind::App(..)
            | NodeKind::Bind { .. }
            | NodeKind::Let { .. }
            | NodeKind::LetRec { .. }
            | NodeKind::If(_)
            | NodeKind::Tuple(_)
            | NodeKind::Proj(..)
            | NodeKind::Record(_)
            | NodeKind::Field(..)
            | NodeKind::Update(..)
            | NodeKind::Ctor { .. }
            | NodeKind::Match { .. }
            | NodeKind::Array { .. }
            | NodeKind::Prim { .. }
            | NodeKind::CheckSize { .. } => false,
        }
    }
}
