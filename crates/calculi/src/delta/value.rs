//! Values, environments, and the `Delta` data type of Figures 7 and 10.
//!
//! Everything is shared and immutable, but for the map of `eval`, which is used linearly and so updated in place
//! (section 7.3). Values can be deeper than the stack: [`Cell`], [`DeltaNode`] and [`EnvNode`] drop with care.

use super::syntax::{Const, E, Pat, Ty, grow};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::Name;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Real(f64),
    Int(i64),
    Str(Rc<str>),
    Unit,
    /// Both components.
    Pair(Rc<Cell>),
    /// The content is the first component.
    Inl(Rc<Cell>),
    Inr(Rc<Cell>),
    /// With the recursive type.
    Roll(Rc<Cell>, Rc<Ty>),
    Vector(Rc<Vec<Value>>),
    Closure(Rc<Closure>),
    /// A function of the calculus with its first arguments.
    Function(Rc<Const>, Rc<Vec<Value>>),
    Delta(Delta),
    Map(Rc<DeltaMap>),
    /// A computation in `M` that has not run.
    Computation(Rc<Computation>),
}

/// Two values, or one and unit.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) a: Value,
    pub(crate) b: Value,
}

impl Drop for Cell {
    fn drop(&mut self) {
        let both = (std::mem::replace(&mut self.a, Value::Unit), std::mem::replace(&mut self.b, Value::Unit));
        grow(|| drop(both));
    }
}

/// `λp. body` with its environment; a recursive function is bound under its own name inside.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) pat: Pat,
    pub(crate) ty: Option<Ty>,
    pub(crate) body: E,
    pub(crate) env: Env,
    pub(crate) recursive: Option<Name>,
}

/// A suspended computation.
#[derive(Debug)]
pub(crate) enum Computation {
    /// `pure v`
    Pure(Value),
    /// `do { p ← e; rest }`
    Do(Pat, E, E, Env),
    /// `deltaLet u`
    DeltaLet(Delta),
    /// `sequence v`
    Sequence(Rc<Vec<Value>>),
}

impl Value {
    pub(crate) fn pair(a: Value, b: Value) -> Value {
        Value::Pair(Rc::new(Cell { a, b }))
    }

    pub(crate) fn inl(a: Value) -> Value {
        Value::Inl(Rc::new(Cell { a, b: Value::Unit }))
    }

    pub(crate) fn inr(a: Value) -> Value {
        Value::Inr(Rc::new(Cell { a, b: Value::Unit }))
    }

    pub(crate) fn roll(a: Value, ty: Rc<Ty>) -> Value {
        Value::Roll(Rc::new(Cell { a, b: Value::Unit }), ty)
    }

    pub(crate) fn truth(b: bool) -> Value {
        if b { Value::inl(Value::Unit) } else { Value::inr(Value::Unit) }
    }

    pub(crate) fn real(&self) -> Option<f64> {
        if let Value::Real(x) = self { Some(*x) } else { None }
    }

    pub(crate) fn int(&self) -> Option<i64> {
        if let Value::Int(n) = self { Some(*n) } else { None }
    }

    pub(crate) fn halves(&self) -> Option<(&Value, &Value)> {
        if let Value::Pair(cell) = self { Some((&cell.a, &cell.b)) } else { None }
    }

    pub(crate) fn delta(&self) -> Option<&Delta> {
        if let Value::Delta(u) = self { Some(u) } else { None }
    }
}

/// A shared delta.
pub(crate) type Delta = Rc<DeltaNode>;

/// `Delta` of Figures 7 and 10 together: `OneHot` is used by `𝒟⃖²` only, `Var` and `Let` by `𝒟⃖` only.
#[derive(Debug)]
pub(crate) enum DeltaNode {
    Zero,
    OneHot(i64),
    Scale(f64, Delta),
    Add(Delta, Delta),
    Var(i64),
    Let(i64, Delta, Delta),
}

impl Drop for DeltaNode {
    fn drop(&mut self) {
        let take = |u: &mut Delta| ZERO.with(|zero| std::mem::replace(u, Rc::clone(zero)));
        let children = match self {
            DeltaNode::Zero | DeltaNode::OneHot(_) | DeltaNode::Var(_) => return,
            DeltaNode::Scale(_, a) => (take(a), None),
            DeltaNode::Add(a, b) | DeltaNode::Let(_, a, b) => (take(a), Some(take(b))),
        };
        grow(|| drop(children));
    }
}

thread_local! {
    /// One `Zero` for all.
    static ZERO: Delta = Rc::new(DeltaNode::Zero);
}

/// `DeltaMap` of Figure 10.
pub(crate) type DeltaMap = FxHashMap<i64, f64>;

/// `DeltaState` of Figure 10: the supply of identifiers, and the bindings, the oldest first.
#[derive(Debug)]
pub(crate) struct DeltaState {
    pub(crate) next: i64,
    pub(crate) binds: Vec<(i64, Delta)>,
}

/// The values of the variables in scope: a list with jump pointers, so that the variable of a level is found in
/// logarithmic time and extending shares everything (Myers' applicative stack).
#[derive(Clone, Debug, Default)]
pub(crate) struct Env(Option<Rc<EnvNode>>);

#[derive(Debug)]
struct EnvNode {
    value: Value,
    /// Entries below this one.
    level: u32,
    next: Env,
    jump: Env,
}

impl Drop for EnvNode {
    fn drop(&mut self) {
        let parts = (std::mem::replace(&mut self.value, Value::Unit), self.next.0.take(), self.jump.0.take());
        grow(|| drop(parts));
    }
}

impl Env {
    /// How many variables there are.
    pub(crate) fn depth(&self) -> u32 {
        self.0.as_ref().map_or(0, |node| node.level + 1)
    }

    /// With one more variable.
    pub(crate) fn with(&self, value: Value) -> Env {
        let level = self.depth();
        let jump = match &self.0 {
            Some(node) => {
                let (near, far) = (node.jump.depth(), node.jump.0.as_ref().map_or(0, |n| n.jump.depth()));
                let balanced = self.depth() - near == near - far && near > 0;
                if balanced {
                    node.jump.0.as_ref().map_or_else(Env::default, |n| n.jump.clone())
                } else {
                    self.clone()
                }
            }
            None => Env::default(),
        };
        Env(Some(Rc::new(EnvNode { value, level, next: self.clone(), jump })))
    }

    /// The variable of a level.
    pub(crate) fn get(&self, level: u32) -> Option<&Value> {
        let mut env = self;
        loop {
            let node = env.0.as_ref()?;
            if node.level == level {
                return Some(&node.value);
            }
            if node.level < level {
                return None;
            }
            env = if node.jump.depth() > level { &node.jump } else { &node.next };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Env, Value};

    #[test]
    fn every_level_is_found() {
        let mut env = Env::default();
        for n in 0..1000 {
            env = env.with(Value::Int(n));
            for level in 0..=n {
                let found = env.get(u32::try_from(level).unwrap()).and_then(Value::int);
                assert_eq!(found, Some(level));
            }
        }
    }

    #[test]
    fn deep_environments_drop() {
        let mut env = Env::default();
        for n in 0..200_000 {
            env = env.with(Value::Int(n));
        }
        assert_eq!(env.depth(), 200_000);
    }
}
