//! The trees that generators make and the shrinker works on: surface expressions that still know their types.
//!
//! A [`Node`] has a type, a [`Form`] (which construct it is) and children; each child says which names are bound in it.
//! That is all the shrinker needs to know, whatever the form: a subtree may stand anywhere its type and its free names
//! allow. `lower` turns a node into the surface tree.

use crate::ty::GenType;
use crate::value::GenValue;
use std::collections::BTreeSet;
use wengert_base::Name;
use wengert_syntax::ast::BinOp;

/// An expression with its type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) ty: GenType,
    pub(crate) form: Form,
    pub(crate) children: Vec<Child>,
}

/// A subexpression and the names that are bound in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Child {
    pub(crate) binders: Vec<Bound>,
    pub(crate) node: Node,
}

/// A name in scope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) name: Name,
    pub(crate) what: What,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A value.
    Value(GenType),
    /// A polymorphic function.
    Poly(Template),
    /// The function under definition may be called here, with a smaller argument.
    SelfCall,
}

/// Polymorphic local functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Template {
    /// `\y -> y`
    Identity,
    /// `\y z -> y`
    Constant,
    /// `\f y -> f (f y)`
    Twice,
    /// `\f y -> f y`
    Apply,
    /// `\y -> (y, y)`
    Double,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GenPat {
    Wildcard,
    Var(Name, GenType),
    Lit(GenValue),
    Tuple(Vec<GenPat>),
    Record(Vec<(Name, GenPat)>),
    Ctor(Name, Vec<GenPat>),
}

impl GenPat {
    /// The variables that it binds.
    pub(crate) fn binders(&self) -> Vec<Bound> {
        match self {
            GenPat::Wildcard | GenPat::Lit(_) => Vec::new(),
            GenPat::Var(name, ty) => vec![Bound::value(*name, ty.clone())],
            GenPat::Tuple(items) | GenPat::Ctor(_, items) => items.iter().flat_map(GenPat::binders).collect(),
            GenPat::Record(fields) => fields.iter().flat_map(|(_, field)| field.binders()).collect(),
        }
    }
}

/// Which derivative operator, and how it is applied. In all of them the first child is the body of the function, in
/// which the parameter is bound, and the second one the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    /// `derivative f x`
    Derivative,
    /// `grad f x`
    Grad,
    /// `grad_fwd f x`
    GradForward,
    /// `snd (jvp f (x, t))`, the tangent `t` being the third child.
    Jvp,
    /// `let (_, back) = vjp f x in back ct`, the cotangent `ct` being the third child.
    Vjp,
    /// `let (_, lin) = linearize f x in lin t`
    Linearize,
    /// `let p = x in snd (jvp f (p, scale 0.5 p))`: for points whose structure a tangent must share.
    JvpAlong,
    /// `jacfwd f x`
    JacForward,
    /// `jacrev f x`
    JacReverse,
    /// `(taylor n f x)[n]`
    Taylor(u32),
    /// `apply_dual (pullback f (\y -> to_dual ct) x) t`, the third and fourth child being `ct` and `t`.
    Pullback,
    /// `checkpoint f x`
    Checkpoint,
}

/// Which construct a node is. Children in the order given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// A variable.
    Var(Name),
    /// A literal of a scalar type.
    Lit(GenValue),
    /// A `Real` written without a point.
    Whole(u32),
    /// Components.
    Tuple,
    /// Fields, named.
    Record(Vec<Name>),
    /// Elements; an empty array is annotated.
    Array,
    /// Fields.
    Ctor(Name),
    /// `e.x`
    Field(Name),
    /// `{e with x = e'}`
    Update(Name),
    /// `xs[3]`
    Index(u64),
    /// `f e …`, `f` being a library function or a definition.
    Call(Name),
    /// `f 3 e …`, `f` being a definition that recurs as often as its first argument says.
    FuelCall(Name, u32),
    /// `f e`
    Apply,
    /// `e |> f`
    Pipe,
    /// `f >> g`
    Compose,
    /// `a + b`
    Binary(BinOp),
    /// `-e`
    Neg,
    /// `e ^ 2`
    Power(u32),
    /// `(e : t)`
    Annotated,
    /// `\p -> e`; whether the parameter is annotated.
    Lambda(GenPat, bool),
    /// `let p = e in body`
    Let(GenPat),
    /// `let f p = e in body`
    LetFun(Name, GenPat),
    /// `let f … = … in body`, polymorphic.
    LetPoly(Name, Template),
    /// A call of a polymorphic function.
    PolyCall(Name),
    /// `if c then a else b`
    If,
    /// `match e with | p -> a …`: scrutinee, then arms.
    Match(Vec<GenPat>),
    /// `match xs with …` in a function that calls itself on parts of its parameter `xs`: arms.
    StructMatch(Name, GenType, Vec<GenPat>),
    /// `if n <= 0 then a else b`, where `b` may call the function itself with `n - 1`.
    FuelIf(Name),
    /// `f (n - 1) e …` or, on a part of its parameter, `f rest e …`.
    SelfCall { func: Name, fuel: Name, minus_one: bool },
    /// `build 3 (\i -> e)`
    Build(u64, Name),
    /// `map (\p -> e) xs`: body, array.
    Map(GenPat),
    /// `map2 (\x y -> e) xs ys`: body, arrays.
    Map2(GenPat, GenPat),
    /// `fold (\acc x -> e) z xs`: body, start, array.
    Fold(Name, Name),
    /// `scan (\acc x -> e) z xs`
    Scan(Name, Name),
    /// `reduce (\a b -> e) z xs`
    Reduce(Name, Name),
    /// `iterate 3 (\p -> e) x`: body, start.
    Iterate(u32, GenPat),
    /// `snd (while_loop (\(k, _) -> k < 3) (\(k, p) -> (k + 1, e)) (0, x))`: body, start.
    While(u32, Name, GenPat),
    /// `snd (while_loop (\(k, p) -> k < 3 && c) (\(k, p) -> (k + 1, e)) (0, x))`: condition, body, start.
    WhileCond(u32, Name, GenPat),
    /// `let rec go k p = if k <= 0 then p else go (k - 1) e in go 3 x`: body, start.
    Loop { count: u32, go: Name, fuel: Name, state: Name },
    /// A derivative; the type of the parameter, which is annotated.
    Derive(Operator, GenPat, GenType),
    /// `snd (jvp (\g -> e) (\x -> a, \x -> b))`: `e`, in which the function `g` on `Real`s is bound, then `a` and `b`.
    DeriveFun { g: Name, x: Name },
    /// `custom_jvp sin (\(x, t) -> (sin x, cos x * t)) e` and, with `vjp`, `custom_vjp cos …`: rules that are right.
    CustomRule { vjp: bool },
    /// `custom_jvp f (jvp f) x` or `custom_vjp f (vjp f) x`, `f` being `\p -> e`: `e`, then `x`. Or a rule that says three times as much.
    OwnRule { vjp: bool, wrong: bool, param: GenPat, from: GenType },
}

impl Bound {
    /// A variable.
    pub(crate) fn value(name: Name, ty: GenType) -> Bound {
        Bound { name, what: What::Value(ty) }
    }
}

impl Child {
    /// A child in which nothing new is bound.
    pub(crate) fn plain(node: Node) -> Child {
        Child { binders: Vec::new(), node }
    }
}

impl Node {
    /// A node whose children bind nothing.
    pub(crate) fn new(ty: GenType, form: Form, children: Vec<Node>) -> Node {
        Node { ty, form, children: children.into_iter().map(Child::plain).collect() }
    }

    /// A node with these children.
    pub(crate) fn binding(ty: GenType, form: Form, children: Vec<Child>) -> Node {
        Node { ty, form, children }
    }

    /// How many nodes there are, and a little for what is not the simplest leaf: what shrinking makes smaller.
    pub(crate) fn weight(&self) -> u64 {
        let own = if let Form::Lit(value) = &self.form {
            1 + u64::from(!value.is_simplest())
        } else if let Form::Whole(_) = self.form {
            1
        } else if let Form::Iterate(n, _)
        | Form::While(n, ..)
        | Form::WhileCond(n, ..)
        | Form::Loop { count: n, .. }
        | Form::FuelCall(_, n) = &self.form
        {
            10 + u64::from(*n)
        } else if self.children.is_empty() {
            3
        } else {
            10
        };
        own + self.children.iter().map(|child| child.node.weight()).sum::<u64>()
    }

    /// An estimate of how many operations it takes; `call` gives that of definitions.
    pub(crate) fn cost(&self, call: &dyn Fn(Name) -> u64) -> u64 {
        let children: u64 =
            self.children.iter().fold(0, |sum: u64, child| sum.saturating_add(child.node.cost(call)));
        let slow = [Operator::GradForward, Operator::JacForward, Operator::JacReverse];
        let times = if let Form::Build(n, _) = &self.form {
            *n
        } else if let Form::Iterate(n, _)
        | Form::While(n, ..)
        | Form::WhileCond(n, ..)
        | Form::Loop { count: n, .. } = &self.form
        {
            u64::from(*n)
        } else if let Form::Derive(operator, ..) = &self.form {
            if let Operator::Taylor(order) = operator {
                12 * u64::from(*order)
            } else if slow.contains(operator) {
                12
            } else {
                4
            }
        } else if let Form::Map(_)
        | Form::Map2(..)
        | Form::Fold(..)
        | Form::Scan(..)
        | Form::Reduce(..)
        | Form::OwnRule { .. }
        | Form::DeriveFun { .. } = &self.form
        {
            4
        } else if let Form::LetPoly(..) | Form::PolyCall(_) | Form::LetFun(..) = &self.form {
            2
        } else {
            1
        };
        let own = if let Form::Call(name) | Form::FuelCall(name, _) = self.form { call(name) } else { 1 };
        children.saturating_mul(times.max(1)).saturating_add(own)
    }

    /// Names that are used but not bound inside, library functions and definitions excepted.
    pub(crate) fn free_names(&self) -> BTreeSet<Name> {
        let mut free = BTreeSet::new();
        self.collect_free(&mut free);
        free
    }

    /// Adds the free names.
    fn collect_free(&self, free: &mut BTreeSet<Name>) {
        if let Form::Var(name) | Form::PolyCall(name) | Form::StructMatch(name, ..) | Form::FuelIf(name) =
            &self.form
        {
            free.insert(*name);
        }
        if let Form::SelfCall { func, fuel, .. } = &self.form {
            free.extend([*func, *fuel]);
        }
        for child in &self.children {
            if child.binders.is_empty() {
                child.node.collect_free(free);
                continue;
            }
            let mut inner = child.node.free_names();
            child.binders.iter().for_each(|bound| {
                inner.remove(&bound.name);
            });
            free.append(&mut inner);
        }
    }

    /// Whether a `Real` in the value may depend on one of `names`, other than by control flow. What a name is bound to in
    /// one child is taken to depend on them if another child does.
    pub(crate) fn depends_on(&self, names: &BTreeSet<Name>) -> bool {
        if !self.ty.any(&|part| matches!(part, GenType::Real | GenType::Data(..) | GenType::Fun(..))) {
            return false;
        }
        if let Form::Var(name) = self.form {
            return names.contains(&name);
        }
        let (binding, plain): (Vec<&Child>, Vec<&Child>) =
            self.children.iter().partition(|child| !child.binders.is_empty());
        let mut depends = plain.iter().any(|child| child.node.depends_on(names));
        let mut reached = depends && binding.is_empty();
        for child in binding {
            let mut inner = names.clone();
            for bound in &child.binders {
                if depends {
                    inner.insert(bound.name);
                } else {
                    inner.remove(&bound.name);
                }
            }
            reached = child.node.depends_on(&inner);
            depends |= reached;
        }
        reached
    }

    /// Definitions that are called.
    pub(crate) fn calls(&self, called: &mut BTreeSet<Name>) {
        if let Form::Call(name) | Form::FuelCall(name, _) | Form::SelfCall { func: name, .. } = self.form {
            called.insert(name);
        }
        self.children.iter().for_each(|child| child.node.calls(called));
    }

    /// Calls `visit` with every node.
    pub(crate) fn visit<'n>(&'n self, visit: &mut dyn FnMut(&'n Node)) {
        visit(self);
        self.children.iter().for_each(|child| child.node.visit(visit));
    }
}
