//! What the parameters of the entry are called.
//!
//! As those of the lambda that it is. Where the user wrote none, as in `grad (\theta -> …)`, that is one of the library, or one made of a call
//! with too few arguments; then as those of the lambda of the user's that is given them: `theta`.

#![expect(clippy::wildcard_enum_match_arm, reason = "the terms that give a name are named")]

use crate::context::Lower;
use crate::tree::{Kind, LamId, Node, Type, VarId};
use wengert_base::{Name, Span};

/// So many functions of the library give a parameter to each other.
const DEEP: usize = 16;

impl Lower<'_> {
    /// The names of so many parameters.
    pub(crate) fn parameter_names(&self, count: usize) -> Vec<Name> {
        let mut node = self.tree.root.as_ref();
        while let Kind::Let(_, _, body) | Kind::LetRec(_, body) = &node.kind {
            node = body;
        }
        let params = self.lambda(node).map(|lam| self.tree.lams.at(lam).params.clone()).unwrap_or_default();
        let named = (0..params.len()).map(|place| self.name_of(node, place, DEEP));
        let named = named.map(|name| name.unwrap_or_else(|| Name::new("x")));
        named.chain(std::iter::repeat(Name::new("x"))).take(count).collect()
    }

    /// The lambda that a term is.
    fn lambda(&self, node: &Node) -> Option<LamId> {
        match &node.kind {
            Kind::Lam(lam) => Some(*lam),
            Kind::Var(var) => self.tree.vars.at(*var).known,
            _ => None,
        }
    }

    /// What the user calls the parameter of a function in this place.
    fn name_of(&self, function: &Node, place: usize, deep: usize) -> Option<Name> {
        let lambda = self.tree.lams.at(self.lambda(function)?);
        let param = *lambda.params.get(place)?;
        let own = self.tree.vars.at(param);
        let is_users = !self.is_made(lambda.span, lambda.body.span);
        if is_users || matches!(own.ty, Type::Tuple(_)) || deep == 0 {
            return Some(own.name);
        }
        Some(self.name_inside(param, &lambda.body, deep - 1).unwrap_or(own.name))
    }

    /// Whether the user wrote no lambda here: what is made of a call stands where its body does.
    fn is_made(&self, lambda: Span, body: Span) -> bool {
        lambda == body || lambda.is_nowhere() || (self.is_library)(lambda.source)
    }

    /// What the first function of the user's that is given a variable calls it.
    fn name_inside(&self, param: VarId, body: &Node, deep: usize) -> Option<Name> {
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
            if let Some(name) = given.and_then(|(function, place)| self.name_of(function, place, deep)) {
                return Some(name);
            }
            todo.extend(node.children().into_iter().rev());
        }
        None
    }
}
