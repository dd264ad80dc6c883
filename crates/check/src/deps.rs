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
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; edges.len()];
    let mut low = vec![UNSEEN; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut result, mut counter) = (Vec::new(), Vec::new(), 0);
    let get = |list: &[usize], at: usize| list.get(at).copied().unwrap_or(UNSEEN);
    let put = |list: &mut [usize], at: usize, value: usize| {
        if let Some(slot) = list.get_mut(at) {
            *slot = value;
        }
    };
    let flag = |list: &mut [bool], at: usize, value: bool| {
        if let Some(slot) = list.get_mut(at) {
            *slot = value;
        }
    };
    for root in 0..edges.len() {
        if get(&order, root) != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, edge)) = work.pop() {
            if edge == 0 {
                put(&mut order, node, counter);
                put(&mut low, node, counter);
                counter += 1;
                stack.push(node);
                flag(&mut on_stack, node, true);
            }
            match edges.get(node).and_then(|targets| targets.get(edge)).copied() {
                Some(target) => {
                    work.push((node, edge + 1));
                    if get(&order, target) == UNSEEN {
                        work.push((target, 0));
                    } else if on_stack.get(target).copied().unwrap_or(false) {
                        let lowest = get(&low, node).min(get(&order, target));
                        put(&mut low, node, lowest);
                    }
                }
                None => {
                    if get(&low, node) == get(&order, node) {
                        let mut group = Vec::new();
                        while let Some(member) = stack.pop() {
                            flag(&mut on_stack, member, false);
                            group.push(member);
                            if member == node {
                                break;
                            }
                        }
                        group.sort_unstable();
                        result.push(group);
                    }
                    if let Some((parent, _)) = work.last() {
                        let lowest = get(&low, *parent).min(get(&low, node));
                        put(&mut low, *parent, lowest);
                    }
                }
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_come_after_what_they_use() {
        // 0 -> 1 -> 2 -> 1, 3 -> 0
        let found = components(&[vec![1], vec![2], vec![1], vec![0]]);
        assert_eq!(found, vec![vec![1, 2], vec![0], vec![3]]);
    }
}
