//! Loops that add to elements of arrays near to their own place, as the derivative of what looks at neighbors does.
//!
//! Parts of such a loop that are not neighbors add to different elements. So all may add to the array itself: first every second
//! part, then the others. They need no arrays of their own, and nothing is put together afterwards.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no index near to a place")]

use super::reads;
use crate::loops::walk::{every, writes};
use crate::loops::{Int, Local, Operand, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// How far from its own place an iteration may add. Parts have at least twice as many iterations.
pub(crate) const REACH: i64 = 8;
/// Longer chains of sums of indices are no neighbors.
const DEEP: usize = 8;

/// Whether all that a body does with an array is to read and write elements near to the place of the iteration.
pub(super) fn is_near(body: &[Stmt], index: Local, first: Local) -> bool {
    let places = Places::of(body, index);
    let mut near = true;
    every(body, &mut |stmt| {
        let mut uses = 0;
        reads(stmt, &mut |local| uses += usize::from(local == first));
        let (base, place, offset) = match stmt {
            Stmt::Set(_, Value::Load { base, index, offset }) | Stmt::Store { base, index, offset, .. } => {
                (*base, *index, *offset)
            }
            _ => return near &= uses == 0,
        };
        if uses == 0 {
            return;
        }
        let far = places.far(place, DEEP).and_then(|far| far.checked_add(i64::from(offset)));
        near &= uses == 1
            && base == Operand::Local(first)
            && far.is_some_and(|far| (-REACH..=REACH).contains(&far));
    });
    near
}

/// What is known of indices.
struct Places<'s> {
    index: Local,
    values: FxHashMap<Local, &'s Value>,
}

impl<'s> Places<'s> {
    fn of(body: &'s [Stmt], index: Local) -> Places<'s> {
        let mut values = FxHashMap::default();
        let (mut once, mut twice) = (FxHashSet::default(), FxHashSet::default());
        every(body, &mut |stmt| {
            for local in writes(stmt) {
                if !once.insert(local) {
                    twice.insert(local);
                }
            }
        });
        collect(body, &mut values);
        values.retain(|local, _| !twice.contains(local) && *local != index);
        Places { index, values }
    }

    /// How far an index is from the place of the iteration, if that is known.
    fn far(&self, place: Operand, depth: usize) -> Option<i64> {
        let Operand::Local(local) = place else { return None };
        if local == self.index {
            return Some(0);
        }
        let next = depth.checked_sub(1)?;
        match self.values.get(&local)? {
            Value::Copy(of) => self.far(*of, next),
            Value::Int(Int::Add, of, Operand::Int(n)) | Value::Int(Int::Add, Operand::Int(n), of) => {
                self.far(*of, next)?.checked_add(*n)
            }
            Value::Int(Int::Sub, of, Operand::Int(n)) => self.far(*of, next)?.checked_sub(*n),
            _ => None,
        }
    }
}

/// What variables are assigned.
fn collect<'s>(stmts: &'s [Stmt], values: &mut FxHashMap<Local, &'s Value>) {
    for stmt in stmts {
        match stmt {
            Stmt::Set(local, value) => {
                values.insert(*local, value);
            }
            Stmt::If { then, otherwise, .. } => {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                    collect(then, values);
                    collect(otherwise, values);
                });
            }
            _ => {}
        }
    }
}
