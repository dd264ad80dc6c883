//! Loops that add to elements of which none gets anything from two iterations, though they are not at the iteration's own place: the derivative of
//! what looks at pairs, or at every second number. Iterations need not wait for each other then.
//!
//! ```text
//! for i in 0..n {                                        for i in 0..n independent {
//!     check 2 i  g[2 i] += a                                 check 2 i  check 2 i + 1
//!     check 2 i + 1  g[2 i + 1] += b          becomes        s = g[2 i] + a  t = g[2 i + 1] + b
//! }                                                          g[2 i] = s  g[2 i + 1] = t
//!                                                        }
//! ```
//!
//! All is stored at the end of the body, so that checks come before, and what is read for all of it. Each element gets what it got: no bit changes.

use crate::loops::walk::{every, is_straight, map_parts};
use crate::loops::{Local, Program, Stmt, Sum};
use crate::neighbors::{Known, Update, additions};

/// Into a place an index goes less often, so that no iteration comes around to the place of another one.
const WIDE: u64 = 1 << 16;

/// Finds such loops in a program.
pub(crate) fn free(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut found = false;
        every(&func.body, &mut |stmt| found |= adds(stmt));
        if found {
            let known = Known::of(func);
            let body = std::mem::take(&mut func.body);
            func.body = stmts(&known, body);
        }
    }
}

/// Whether a loop may be one of those.
fn adds(stmt: &Stmt) -> bool {
    let Stmt::For { independent: false, sums, body, .. } = stmt else { return false };
    !sums.is_empty()
        && sums.iter().all(|sum| matches!(sum, Sum::Array { .. } | Sum::Near(_)))
        && body.iter().all(is_straight)
}

fn stmts(known: &Known, body: Vec<Stmt>) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let one = |stmt| {
            let stmt = map_parts(stmt, &mut |inner| stmts(known, inner));
            if is_free(known, &stmt) { freed(stmt) } else { stmt }
        };
        body.into_iter().map(one).collect()
    })
}

/// Whether no element gets anything from two iterations of a loop.
fn is_free(known: &Known, stmt: &Stmt) -> bool {
    let Stmt::For { index, body, .. } = stmt else { return false };
    let Some(updates) = adds(stmt).then(|| additions(known, stmt, false)).flatten() else { return false };
    let stores = body.iter().filter(|stmt| matches!(stmt, Stmt::Store { .. })).count();
    let places = || updates.iter().enumerate();
    // What is stored besides is made by each iteration for itself, and may be read.
    stores == updates.len()
        && stores > 0
        && places().all(|(at, one)| places().skip(at).all(|(_, other)| never_meet(*index, one, other)))
}

/// Whether two iterations never add to one element so, or the same iteration twice.
fn never_meet(index: Local, one: &Update, other: &Update) -> bool {
    if one.object != other.object {
        return true;
    }
    let Some(step) = one.whole.terms.get(&index).filter(|step| step.unsigned_abs() < WIDE) else {
        return false;
    };
    let far = one.whole.places.wrapping_sub(other.whole.places);
    std::ptr::eq(one, other)
        || one.whole.terms == other.whole.terms && far.checked_rem(*step).is_some_and(|rest| rest != 0)
}

/// The loop with all that is stored at the end.
fn freed(stmt: Stmt) -> Stmt {
    let Stmt::For { index, len, backward, sums, body, .. } = stmt else { return stmt };
    let (stores, mut first): (Vec<Stmt>, Vec<Stmt>) =
        body.into_iter().partition(|stmt| matches!(stmt, Stmt::Store { .. }));
    first.extend(stores);
    Stmt::For { index, len, backward, independent: true, sums, body: first }
}

#[cfg(test)]
mod tests;
