//! Loops that add to elements of arrays near to their own place, as the derivative of what looks at neighbors does.
//!
//! Parts of such a loop that are not neighbors add to different elements. So all may add to the array itself: first every second
//! part, then the others. They need no arrays of their own, and nothing is put together afterwards.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no index near to a place")]

use super::reads;
use crate::forms::{DEEP, Form, once};
use crate::loops::walk::every;
use crate::loops::{Local, Operand, Stmt, Value};
use std::collections::BTreeMap;

/// How far from its own place an iteration may add. Parts have at least twice as many iterations.
pub(crate) const REACH: i64 = 8;

/// Whether all that a body does with an array is to read and write elements near to the place of the iteration.
pub(super) fn is_near(body: &[Stmt], index: Local, first: Local) -> bool {
    let values = once(body);
    let far = |place: Operand| {
        let form = Form::of(&values, place, DEEP);
        (form.terms == BTreeMap::from_iter([(index, 1)])).then_some(form.places)
    };
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
        let far = far(place).and_then(|far| far.checked_add(i64::from(offset)));
        near &= uses == 1
            && base == Operand::Local(first)
            && far.is_some_and(|far| (-REACH..=REACH).contains(&far));
    });
    near
}
