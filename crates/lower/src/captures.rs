//! What each lambda needs from around it.
//!
//! A variable that a `let` binds to a lambda is not needed itself: whoever needs it needs what that lambda needs, and
//! makes the function from that, or calls its code. So a recursive function does not capture itself, and a group of
//! functions that call each other only what the whole group has from outside.

use crate::tree::{Kind, LamId, Node, Tree, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Fills in the captures of all lambdas.
pub(crate) fn find(tree: &mut Tree) {
    let mut free: FxHashMap<LamId, BTreeSet<VarId>> = FxHashMap::default();
    let ids: Vec<LamId> = tree.lams.ids().collect();
    // A lambda is entered in the table before those inside it: going backwards, what is inside is known.
    for lam in ids.iter().rev().copied() {
        let lambda = tree.lams.at(lam);
        let mut found = BTreeSet::new();
        let body = Rc::clone(&lambda.body);
        let mut bound: BTreeSet<VarId> = lambda.params.iter().copied().collect();
        mentioned(tree, &body, &free, &mut found, &mut bound);
        free.insert(lam, found.difference(&bound).copied().collect());
    }
    for lam in ids {
        let mut needed = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut todo: Vec<VarId> = free.get(&lam).into_iter().flatten().copied().collect();
        while let Some(var) = todo.pop() {
            match tree.vars.at(var).known {
                None => {
                    needed.insert(var);
                }
                Some(known) => {
                    if seen.insert(known) {
                        todo.extend(free.get(&known).into_iter().flatten().copied());
                    }
                }
            }
        }
        tree.lams.at_mut(lam).captures = needed.into_iter().collect();
    }
}

/// The variables that occur in a term, and those that it binds; variables are unique, so the difference is what is free.
fn mentioned(
    tree: &Tree,
    node: &Node,
    free: &FxHashMap<LamId, BTreeSet<VarId>>,
    found: &mut BTreeSet<VarId>,
    bound: &mut BTreeSet<VarId>,
) {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        match &node.kind {
            Kind::Var(var) => {
                found.insert(*var);
            }
            Kind::Lam(lam) => found.extend(free.get(lam).into_iter().flatten().copied()),
            Kind::Let(var, ..) => {
                bound.insert(*var);
            }
            Kind::LetRec(vars, _) => {
                for var in vars {
                    bound.insert(*var);
                    let lam = tree.vars.at(*var).known;
                    found.extend(lam.and_then(|lam| free.get(&lam)).into_iter().flatten().copied());
                }
            }
            Kind::Case(_, arms) => bound.extend(arms.iter().flat_map(|(vars, _)| vars)),
            Kind::Real(_)
            | Kind::Int(_)
            | Kind::Bool(_)
            | Kind::Text(_)
            | Kind::App(..)
            | Kind::If(..)
            | Kind::Tuple(_)
            | Kind::Proj(..)
            | Kind::Prim(..)
            | Kind::Derive(..)
            | Kind::Ctor(..)
            | Kind::Array(_)
            | Kind::CheckSize { .. } => {}
        }
        stack.extend(node.children());
    }
}
