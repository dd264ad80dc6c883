//! What the parameters of the entry are called.
//!
//! As those of the lambda that it is. Where the user wrote none, as in `grad (\theta -> …)`, that is one of the library, or one made of a call
//! with too few arguments; then as those of the lambda of the user's that is given them: `theta`.

#![expect(clippy::wildcard_enum_match_arm, reason = "the terms that give a name are named")]

use crate::context::Lower;
use crate::tree::{Kind, LamId, Node, VarId};
use wengert_base::Span;

/// So many functions of the library give a parameter to each other.
const DEEP: usize = 16;

impl Lower<'_> {
    /// The term without what it defines around it.
    fn root(&self) -> &Node {
        let mut node = self.tree.root.as_ref();
        while let Kind::Let(_, _, body) | Kind::LetRec(_, body) = &node.kind {
            node = body;
        }
        node
    }

    /// The parameters of the term, or those of the user's that they become.
    pub(crate) fn parameter_vars(&self) -> Vec<VarId> {
        let root = self.root();
        let params = self.lambda(root).map(|lam| self.tree.lams.at(lam).params.clone()).unwrap_or_default();
        (0..params.len()).filter_map(|place| self.users(root, place, DEEP)).collect()
    }

    /// The lambda that a term is.
    fn lambda(&self, node: &Node) -> Option<LamId> {
        match &node.kind {
            Kind::Lam(lam) => Some(*lam),
            Kind::Var(var) => self.tree.vars.at(*var).known,
            _ => None,
        }
    }

    /// The parameter of a function in this place, or of the function of the user's to which that gives it.
    fn users(&self, function: &Node, place: usize, deep: usize) -> Option<VarId> {
        let lambda = self.tree.lams.at(self.lambda(function)?);
        let param = *lambda.params.get(place)?;
        let is_users = !self.is_made(lambda.span, lambda.body.span);
        if is_users || deep == 0 {
            return Some(param);
        }
        Some(self.given(param, &lambda.body, deep - 1).unwrap_or(param))
    }

    /// Whether the user wrote no lambda here: what is made of a call stands where its body does.
    fn is_made(&self, lambda: Span, body: Span) -> bool {
        lambda == body || lambda.is_nowhere() || (self.is_library)(lambda.source)
    }

    /// The parameter of the first function that is given a variable.
    fn given(&self, param: VarId, body: &Node, deep: usize) -> Option<VarId> {
        let is_param = |node: &Node| matches!(&node.kind, Kind::Var(var) if *var == param);
        let mut todo = vec![body];
        while let Some(node) = todo.pop() {
            let given = match &node.kind {
                Kind::App(function, args) => args.iter().position(is_param).map(|place| (&**function, place)),
                Kind::Derive(_, _, args) => args.split_first().and_then(|(function, args)| {
                    let is_point = |node: &Node| match &node.kind {
                        Kind::Tuple(items) => items.first().is_some_and(is_param),
                        _ => is_param(node),
                    };
                    args.iter().any(is_point).then_some((function, 0))
                }),
                _ => None,
            };
            if let Some(var) = given.and_then(|(function, place)| self.users(function, place, deep)) {
                return Some(var);
            }
            todo.extend(node.children().into_iter().rev());
        }
        None
    }
}
