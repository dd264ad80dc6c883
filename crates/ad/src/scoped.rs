//! What variables are called, by scopes: what happens in a scope is undone where it ends.
//!
//! Blocks nest, and there are many; so nothing is copied when one begins. Inside of scopes every change is noted, and undone from
//! the last to the first.

use rustc_hash::FxHashMap;
use wengert_ir::op::{Atom, Var};

/// A map from variables.
#[derive(Debug, Default)]
pub(crate) struct Scoped {
    map: FxHashMap<Var, Atom>,
    /// What was there before each change inside of scopes.
    changes: Vec<(Var, Option<Atom>)>,
    scopes: usize,
}

/// Where a scope began.
#[must_use]
pub(crate) struct Begin(usize);

impl Scoped {
    /// A scope begins.
    pub(crate) fn begin(&mut self) -> Begin {
        self.scopes += 1;
        Begin(self.changes.len())
    }

    /// The scope that has begun last ends: all is as it was.
    pub(crate) fn end(&mut self, Begin(begin): Begin) {
        self.scopes -= 1;
        for (var, before) in self.changes.drain(begin..).rev() {
            match before {
                Some(atom) => self.map.insert(var, atom),
                None => self.map.remove(&var),
            };
        }
    }

    pub(crate) fn get(&self, var: &Var) -> Option<&Atom> {
        self.map.get(var)
    }

    pub(crate) fn contains_key(&self, var: &Var) -> bool {
        self.map.contains_key(var)
    }

    pub(crate) fn insert(&mut self, var: Var, atom: Atom) {
        let before = self.map.insert(var, atom);
        self.note(var, before);
    }

    pub(crate) fn remove(&mut self, var: &Var) -> Option<Atom> {
        let before = self.map.remove(var);
        if before.is_some() {
            self.note(*var, before.clone());
        }
        before
    }

    fn note(&mut self, var: Var, before: Option<Atom>) {
        if self.scopes > 0 {
            self.changes.push((var, before));
        }
    }
}

impl Extend<(Var, Atom)> for Scoped {
    fn extend<I: IntoIterator<Item = (Var, Atom)>>(&mut self, items: I) {
        items.into_iter().for_each(|(var, atom)| self.insert(var, atom));
    }
}

impl FromIterator<(Var, Atom)> for Scoped {
    fn from_iter<I: IntoIterator<Item = (Var, Atom)>>(items: I) -> Scoped {
        Scoped { map: items.into_iter().collect(), ..Scoped::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_ir::ty::Id;

    #[test]
    fn what_happens_in_a_scope_is_undone() {
        let [a, b, c] = [0, 1, 2].map(Var::new);
        let mut all: Scoped = [(a, Atom::Int(1)), (b, Atom::Int(2))].into_iter().collect();
        let outer = all.begin();
        all.insert(a, Atom::Int(3));
        let inner = all.begin();
        assert_eq!(all.remove(&a), Some(Atom::Int(3)));
        all.insert(c, Atom::Int(4));
        all.insert(c, Atom::Int(5));
        assert_eq!(all.remove(&b), Some(Atom::Int(2)));
        all.end(inner);
        assert_eq!(
            [a, b, c].map(|var| all.get(&var).cloned()),
            [Some(Atom::Int(3)), Some(Atom::Int(2)), None]
        );
        all.end(outer);
        assert_eq!(
            [a, b, c].map(|var| all.get(&var).cloned()),
            [Some(Atom::Int(1)), Some(Atom::Int(2)), None]
        );
    }
}
