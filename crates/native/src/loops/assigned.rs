//! The variables that a walk knows to be assigned, of which what a branch has added can be taken back: to copy the set for each branch
//! would take time as there are branches and variables.

use super::Local;
use rustc_hash::FxHashSet;

/// See the module.
#[derive(Default)]
pub(crate) struct Assigned {
    known: FxHashSet<Local>,
    /// The same, in the order in which they were added.
    order: Vec<Local>,
}

impl Assigned {
    pub(crate) fn add(&mut self, local: Local) {
        if self.known.insert(local) {
            self.order.push(local);
        }
    }

    pub(crate) fn has(&self, local: Local) -> bool {
        self.known.contains(&local)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.order.len()
    }

    /// Takes those back that were added when there were so many; gives them, in their order.
    pub(crate) fn take_back(&mut self, count: usize) -> Vec<Local> {
        let since = self.order.split_off(count);
        for local in &since {
            self.known.remove(local);
        }
        since
    }

    /// All of them, in their order.
    pub(crate) fn into_order(self) -> Vec<Local> {
        self.order
    }
}

impl Extend<Local> for Assigned {
    fn extend<I: IntoIterator<Item = Local>>(&mut self, locals: I) {
        locals.into_iter().for_each(|local| self.add(local));
    }
}
