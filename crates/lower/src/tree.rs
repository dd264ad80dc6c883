//! The program between flow analysis and code: terms whose function types say which functions flow there.
//!
//! A lambda has all its parameters at once, `\x y -> …`, and calls have all their arguments at once. Each function type
//! carries a [`Flow`]: the number of a class of functions, see [`crate::flow`]. Two types that can meet carry the same
//! classes, so a value has one representation wherever it goes.

use indexmap::IndexSet;
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_ir::ty::{Id, Table};
use wengert_mono::simple::{Head, Shown};
use wengert_prim::Prim;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u32);
        impl Id for $name {
            #[expect(clippy::cast_possible_truncation, reason = "tables have fewer than 2^32 entries: each takes memory")]
            fn new(index: usize) -> $name {
                $name(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A variable, unique in the program.
    VarId;
    /// A lambda.
    LamId;
    /// A call of a derivative operator.
    SiteId;
    /// A data type at its arguments.
    DataIx;
    /// A class of functions.
    Flow;
}

/// A type that knows which functions its function types stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Real,
    Int,
    Bool,
    Text,
    Tuple(Rc<[Type]>),
    Array(Rc<Type>),
    Fun(Rc<Type>, Flow, Rc<Type>),
    Data(DataIx),
    /// A linear functional on a first-order type, kept as the vector of that type whose inner product it is. A functional on
    /// a type with functions is a [`Type::Fun`].
    Dual(Rc<Type>),
}

impl Type {
    /// The type of the empty tuple.
    pub(crate) fn unit() -> Type {
        Type::Tuple(Rc::from([]))
    }

    /// Component `index` of a tuple type.
    pub(crate) fn component(&self, index: usize) -> Type {
        match self {
            Type::Tuple(items) => items.get(index).cloned().unwrap_or_else(Type::unit),
            Type::Real
            | Type::Int
            | Type::Bool
            | Type::Text
            | Type::Array(_)
            | Type::Fun(..)
            | Type::Data(_)
            | Type::Dual(_) => Type::unit(),
        }
    }

    /// The type of the elements of an array type.
    pub(crate) fn elem(&self) -> Type {
        match self {
            Type::Array(elem) => elem.as_ref().clone(),
            Type::Real
            | Type::Int
            | Type::Bool
            | Type::Text
            | Type::Tuple(_)
            | Type::Fun(..)
            | Type::Data(_)
            | Type::Dual(_) => Type::unit(),
        }
    }

    /// Parameter, class and result of a function type.
    pub(crate) fn fun(&self) -> Option<(&Type, Flow, &Type)> {
        match self {
            Type::Fun(from, flow, to) => Some((from, *flow, to)),
            Type::Real
            | Type::Int
            | Type::Bool
            | Type::Text
            | Type::Tuple(_)
            | Type::Array(_)
            | Type::Data(_)
            | Type::Dual(_) => None,
        }
    }

    /// The result type of a function after `count` arguments.
    pub(crate) fn result(&self, count: usize) -> Type {
        let mut ty = self;
        for _ in 0..count {
            if let Some((_, _, to)) = ty.fun() {
                ty = to;
            }
        }
        ty.clone()
    }
}

/// A term.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

impl Node {
    /// The terms that it is made of, in order. Bodies of lambdas stand in their table.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Var(_) | Kind::Real(_) | Kind::Int(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Lam(_) => {
                Vec::new()
            }
            Kind::App(func, args) => std::iter::once(&**func).chain(args).collect(),
            Kind::Let(_, a, b) | Kind::CheckSize { array: a, expected: b, .. } => vec![a, b],
            Kind::LetRec(_, of) | Kind::Proj(of, _) => vec![of],
            Kind::If(cond, then, otherwise) => vec![cond, then, otherwise],
            Kind::Tuple(items)
            | Kind::Prim(_, items)
            | Kind::Derive(_, _, items)
            | Kind::Ctor(_, items)
            | Kind::Array(items) => items.iter().collect(),
            Kind::Case(on, arms) => std::iter::once(&**on).chain(arms.iter().map(|(_, body)| body)).collect(),
        }
    }
}

/// What a term is.
#[derive(Debug)]
pub(crate) enum Kind {
    Var(VarId),
    Real(f64),
    Int(i64),
    Bool(bool),
    Text(Arc<str>),
    Lam(LamId),
    App(Box<Node>, Vec<Node>),
    Let(VarId, Box<Node>, Box<Node>),
    /// Functions that call each other: the lambdas know their variables, see [`VarInfo::known`].
    LetRec(Vec<VarId>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    Tuple(Vec<Node>),
    Proj(Box<Node>, usize),
    Prim(Prim, Vec<Node>),
    Derive(Operator, SiteId, Vec<Node>),
    Ctor(u32, Vec<Node>),
    Case(Box<Node>, Vec<(Vec<VarId>, Node)>),
    Array(Vec<Node>),
    /// The array, a variable, if its size along the axis is the expected one, which the user calls so.
    CheckSize {
        array: Box<Node>,
        axis: u32,
        expected: Box<Node>,
        name: Name,
    },
}

/// Derivative operators whose results may hold functions made by them, or that are defined by such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Grad,
    ValueAndGrad,
    Derivative,
    Jvp,
    Vjp,
    Linearize,
    Pullback,
}

/// What is known of a variable.
#[derive(Clone, Debug)]
pub(crate) struct VarInfo {
    pub(crate) name: Name,
    pub(crate) ty: Type,
    /// The lambda that it is bound to by a `let`: it is never passed around at run time, but made where it is needed.
    pub(crate) known: Option<LamId>,
    /// How it is shown, if names of fields are.
    pub(crate) shown: Option<Shown>,
}

/// A lambda with all its parameters.
#[derive(Debug)]
pub(crate) struct Lambda {
    pub(crate) name: Name,
    pub(crate) params: Vec<VarId>,
    pub(crate) body: Rc<Node>,
    pub(crate) span: Span,
    /// The variables that it needs from around it, see [`crate::captures`].
    pub(crate) captures: Vec<VarId>,
}

/// A call of a derivative operator.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The lambda that it stands in.
    pub(crate) within: Option<LamId>,
    /// The type of the differentiated function.
    pub(crate) func: Type,
    /// For `pullback`, the type of the functional that the form gives.
    pub(crate) functional: Type,
}

/// A function that can be in a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Elem {
    /// A lambda with so many arguments given already.
    Lam(LamId, u32),
    /// The function from cotangents to cotangents that a `vjp` gives.
    Back(SiteId),
    /// The function from tangents to tangents that a `linearize` gives.
    Forward(SiteId),
    /// `\t -> snd (jvp f (x, t))`, which a `linearize` gives where functions are in the point or the result.
    TangentMap(SiteId),
    /// `\t -> apply_dual d (snd (jvp f (x, t)))`, which a `pullback` gives at a point that holds functions.
    Functional(SiteId),
}

/// A class of functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// The functions in it, in the order in which they were found.
    pub(crate) elems: IndexSet<Elem>,
    /// Whether derivative operators take or give functions of this class, so that a function in it may be a tangent.
    pub(crate) active: bool,
    /// Whether it must be one value.
    pub(crate) boxed: bool,
}

/// A data type at its arguments.
#[derive(Clone, Debug)]
pub(crate) struct DataInfo {
    pub(crate) name: Name,
    pub(crate) ctors: Vec<(Name, Vec<Type>)>,
    /// Of the [uniform](wengert_mono::simple::Uniform) type, of which values each constructor is.
    pub(crate) heads: Vec<Head>,
}

/// A program with its flows.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: Rc<Node>,
    pub(crate) vars: Table<VarId, VarInfo>,
    pub(crate) lams: Table<LamId, Lambda>,
    pub(crate) sites: Table<SiteId, Site>,
    pub(crate) data: Table<DataIx, DataInfo>,
    /// How the fields of the constructors of types that hold records are shown.
    pub(crate) shown_data: Vec<Vec<Vec<Shown>>>,
    pub(crate) flows: crate::flow::Flows,
}

impl Drop for Tree {
    /// Takes the terms apart without recursion: `let`s may be nested very deeply.
    fn drop(&mut self) {
        let mut shared: Vec<Rc<Node>> = self.lams.iter_mut().map(|(_, lam)| emptied(&mut lam.body)).collect();
        shared.push(emptied(&mut self.root));
        let mut stack: Vec<Node> = shared.into_iter().filter_map(|node| Rc::try_unwrap(node).ok()).collect();
        while let Some(node) = stack.pop() {
            match node.kind {
                Kind::Var(_)
                | Kind::Real(_)
                | Kind::Int(_)
                | Kind::Bool(_)
                | Kind::Text(_)
                | Kind::Lam(_) => {}
                Kind::App(func, args) => {
                    stack.push(*func);
                    stack.extend(args);
                }
                Kind::Let(_, a, b) | Kind::CheckSize { array: a, expected: b, .. } => stack.extend([*a, *b]),
                Kind::LetRec(_, body) | Kind::Proj(body, _) => stack.push(*body),
                Kind::If(cond, then, otherwise) => stack.extend([*cond, *then, *otherwise]),
                Kind::Tuple(items)
                | Kind::Prim(_, items)
                | Kind::Derive(_, _, items)
                | Kind::Ctor(_, items)
                | Kind::Array(items) => stack.extend(items),
                Kind::Case(scrutinee, arms) => {
                    stack.push(*scrutinee);
                    stack.extend(arms.into_iter().map(|(_, body)| body));
                }
            }
        }
    }
}

/// What was there; an empty tuple is there now.
fn emptied(place: &mut Rc<Node>) -> Rc<Node> {
    let nothing = Node { kind: Kind::Tuple(Vec::new()), ty: Type::unit(), span: Span::NOWHERE };
    std::mem::replace(place, Rc::new(nothing))
}
