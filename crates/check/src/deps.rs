//! Which definitions depend on which: the free variables of each, and the groups of definitions that depend on each other,
//! in an order in which every group comes after those it uses (Tarjan's algorithm, with an explicit stack).

use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_syntax::ast::{Binding, Def, Expr, ExprKind, Pattern, PatternKind, Target};

use crate::infer::Infer;
use crate::scope::ascii_name;

/// Strongly connected groups of indices of `defs`, dependencies first; `true` for those that are recursive.
pub(crate) fn groups(defs: &[&Def]) -> Vec<(Vec<usize>, bool)> {
    let mut index_of: FxHashMap<Name, usize> = FxHashMap::default();
    for (index, def) in defs.iter().enumerate() {
        index_of.entry(def.name.name).or_insert(index);
    }
    let uses: Vec<Vec<usize>> = defs
        .iter()
        .map(|def| {
            let mut walk =
                Walk { index_of: &index_of, bound: FxHashMap::default(), found: FxHashSet::default() };
            walk.scoped(&def.params, |walk| walk.expr(&def.body));
            let mut found: Vec<usize> = walk.found.into_iter().collect();
            found.sort_unstable();
            found
        })
        .collect();
    let groups = components(&uses);
    let recursive = |group: &[usize]| {
        group.len() > 1 || group.iter().any(|index| uses.get(*index).is_some_and(|uses| uses.contains(index)))
    };
    groups.into_iter().map(|group| (recursive(&group), group)).map(|(r, g)| (g, r)).collect()
}

/// Collects the definitions that an expression mentions and does not bind itself.
struct Walk<'w> {
    index_of: &'w FxHashMap<Name, usize>,
    bound: FxHashMap<Name, usize>,
    found: FxHashSet<usize>,
}

impl Walk<'_> {
    fn name(&mut self, name: Name) {
        if self.bound.get(&name).is_some_and(|count| *count > 0) {
            return;
        }
        if let Some(index) = self.index_of.get(&name).or_else(|| self.index_of.get(&ascii_name(name))) {
            self.found.insert(*index);
        }
    }

    /// Runs `inside` with the variables of `patterns` bound.
    fn scoped(&mut self, patterns: &[Pattern], inside: impl FnOnce(&mut Self)) {
        let mut vars = Vec::new();
        patterns.iter().for_each(|pattern| Infer::variables_of(pattern, &mut vars));
        let names: Vec<Name> = vars.into_iter().map(|(name, _)| name).collect();
        self.with_names(&names, inside);
    }

    fn with_names(&mut self, names: &[Name], inside: impl FnOnce(&mut Self)) {
        names.iter().for_each(|name| *self.bound.entry(*name).or_default() += 1);
        inside(self);
        for name in names {
            if let Some(count) = self.bound.get_mut(name) {
                *count -= 1;
            }
        }
    }

    fn binding_value(&mut self, binding: &Binding) {
        match &binding.target {
            Target::Function { params, .. } => self.scoped(params, |walk| walk.expr(&binding.value)),
            Target::Pattern(_) => self.expr(&binding.value),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.kind(&expr.kind));
    }

    fn kind(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Var(name) => self.name(*name),
            ExprKind::Ctor(_) | ExprKind::Lit(_) | ExprKind::Op(_) | ExprKind::Error => {}
            ExprKind::Lambda { params, body } => self.scoped(params, |walk| walk.expr(body)),
            ExprKind::App { func, args } => {
                self.expr(func);
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Binary { lhs, rhs, .. } => {
                self.expr(lhs);
                self.expr(rhs);
            }
            ExprKind::Neg(inner) | ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Annot { expr, .. } => self.expr(expr),
            ExprKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Match { scrutinee, arms } => {
                self.expr(scrutinee);
                for arm in arms {
                    self.scoped(std::slice::from_ref(&arm.pattern), |walk| walk.expr(&arm.body));
                }
            }
            ExprKind::Let { binding, body } => {
                self.binding_value(binding);
                self.with_names(&bound_by(&binding.target), |walk| walk.expr(body));
            }
            ExprKind::LetRec { bindings, body } => {
                let names: Vec<Name> =
                    bindings.iter().flat_map(|binding| bound_by(&binding.target)).collect();
                self.with_names(&names, |walk| {
                    bindings.iter().for_each(|binding| walk.binding_value(binding));
                    walk.expr(body);
                });
            }
            ExprKind::Tuple(items) | ExprKind::Array(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Record(fields) => fields.iter().for_each(|(_, value)| self.expr(value)),
            ExprKind::Update { base, fields } => {
                self.expr(base);
                fields.iter().for_each(|(_, value)| self.expr(value));
            }
            ExprKind::Field { base, .. } => self.expr(base),
            ExprKind::Index { base, indices } => {
                self.expr(base);
                indices.iter().for_each(|index| self.expr(index));
            }
        }
    }
}

fn bound_by(target: &Target) -> Vec<Name> {
    match target {
        Target::Function { name, .. } => vec![name.name],
        Target::Pattern(pattern) => {
            let mut vars = Vec::new();
            if !matches!(pattern.kind, PatternKind::Wildcard) {
                Infer::variables_of(pattern, &mut vars);
            }
            vars.into_iter().map(|(name, _)| name).collect()
        }
    }
}

/// The strongly connected components of a graph, each after those it points to.
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search { edges, nodes: vec![Node::default(); edges.len()], ..Search::default() };
    for root in 0..edges.len() {
        search.from(root);
    }
    search.result
}

/// What the search knows of a node.
#[derive(Clone, Copy, Default)]
struct Node {
    /// When it was found; nothing before.
    order: Option<usize>,
    /// The earliest node on the stack that is reachable from it.
    low: usize,
    on_stack: bool,
}

/// A depth-first search.
#[derive(Default)]
struct Search<'e> {
    edges: &'e [Vec<usize>],
    nodes: Vec<Node>,
    /// Nodes whose component is not complete.
    stack: Vec<usize>,
    found: usize,
    result: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn node(&self, at: usize) -> Node {
        self.nodes.get(at).copied().unwrap_or_default()
    }

    fn update(&mut self, at: usize, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(at) {
            change(node);
        }
    }

    /// Visits what is reachable from `root` and was not visited. The work list holds nodes with their next edge.
    fn from(&mut self, root: usize) {
        if self.node(root).order.is_some() {
            return;
        }
        self.enter(root);
        let mut work = vec![(root, 0)];
        while let Some((node, edge)) = work.pop() {
            let Some(target) = self.edges.get(node).and_then(|targets| targets.get(edge)).copied() else {
                self.complete(node);
                if let Some((parent, _)) = work.last() {
                    let low = self.node(node).low;
                    self.update(*parent, |parent| parent.low = parent.low.min(low));
                }
                continue;
            };
            work.push((node, edge + 1));
            match self.node(target) {
                Node { order: None, .. } => {
                    self.enter(target);
                    work.push((target, 0));
                }
                Node { order: Some(order), on_stack: true, .. } => {
                    self.update(node, |node| node.low = node.low.min(order));
                }
                Node { on_stack: false, .. } => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        let order = self.found;
        self.found += 1;
        self.stack.push(node);
        self.update(node, |node| *node = Node { order: Some(order), low: order, on_stack: true });
    }

    /// All edges of a node are seen: if it reaches nothing earlier, what is above it on the stack is its component.
    fn complete(&mut self, node: usize) {
        let Node { order, low, .. } = self.node(node);
        if order != Some(low) {
            return;
        }
        let mut group = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.update(member, |member| member.on_stack = false);
            group.push(member);
            if member == node {
                break;
            }
        }
        group.sort_unstable();
        self.result.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_come_after_what_they_use() {
        // 0 -> 1 -> 2 -> 1, 3 -> 0
        let found = components(&[vec![1], vec![2], vec![1], vec![0]]);
        assert_eq!(found, vec![vec![1, 2], vec![0], vec![3]]);
        // Two cycles joined by one edge, and a node that points to itself.
        let found = components(&[vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![5]]);
        assert_eq!(found, vec![vec![3, 4], vec![0, 1, 2], vec![5]]);
    }
}
