//! What loops only read: addresses that never lead into an object to which the same loop stores.

use super::Origins;
use crate::loops::walk::{every, parts};
use crate::loops::{Func, Local, Operand, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// For the index of each innermost loop, the addresses of which it is known.
#[derive(Debug, Default)]
pub struct Reads(FxHashMap<Local, FxHashSet<Local>>);

impl Reads {
    /// Looks through a function.
    pub fn of(func: &Func) -> Reads {
        let mut reads = Reads::default();
        reads.stmts(&func.body, &Origins::of(func), &mut 0);
        reads
    }

    /// Whether the loop with this index never stores into what an address leads to.
    pub fn only(&self, index: Local, base: Operand) -> bool {
        base.local().is_some_and(|base| self.0.get(&index).is_some_and(|bases| bases.contains(&base)))
    }

    /// Statements are numbered as where they are looked through for addresses.
    fn stmts(&mut self, stmts: &[Stmt], origins: &Origins, number: &mut usize) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                *number += 1;
                if let Stmt::For { index, body, .. } = stmt
                    && let Some(bases) = only_read(body, origins, *number)
                {
                    // A loop may stand in several places.
                    self.0
                        .entry(*index)
                        .and_modify(|known| known.retain(|base| bases.contains(base)))
                        .or_insert(bases);
                }
                parts(stmt).into_iter().for_each(|part| self.stmts(part, origins, number));
            }
        });
    }
}

/// The addresses of which a loop without others inside only reads.
fn only_read(body: &[Stmt], origins: &Origins, number: usize) -> Option<FxHashSet<Local>> {
    let (mut loads, mut stores, mut innermost) = (FxHashSet::default(), Vec::new(), true);
    every(body, &mut |stmt| match stmt {
        Stmt::Set(_, Value::Load { base: Operand::Local(base), .. }) => {
            loads.insert(*base);
        }
        Stmt::Store { base, .. } => {
            if !stores.contains(base) {
                stores.push(*base);
            }
        }
        Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. } => innermost = false,
        Stmt::Set(..)
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => {}
    });
    let differs =
        |load: &Local| stores.iter().all(|store| origins.differ(Operand::Local(*load), *store, number));
    innermost.then(|| {
        loads.retain(differs);
        loads
    })
}
