//! What a condition says of integers on the sides of a branch on it.

use crate::linear::Linear;
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::{Atom, Var};

/// What a condition says is looked for so deep in it.
const DEEP: usize = 8;

/// Whether an operation makes conditions, or the integers that they compare.
pub(crate) fn tells(op: &Op) -> bool {
    matches!(
        op,
        Op::Copy(_)
            | Op::Not(_)
            | Op::Select { .. }
            | Op::Compare(..)
            | Op::Int(..)
            | Op::Array(ArrayOp::Length(_), _)
    )
}

/// The comparisons that hold where a condition holds, or where it does not, by what conditions are made of.
pub(crate) fn comparisons(cond: &Atom, holds: bool, made: &FxHashMap<Var, Op>) -> Vec<(Compare, Atom, Atom)> {
    let mut said = Vec::new();
    say(cond, holds, made, DEEP, &mut said);
    said
}

/// The same, if nothing else is needed for it to hold, or not to.
pub(crate) fn conjunction(
    cond: &Atom,
    holds: bool,
    made: &FxHashMap<Var, Op>,
) -> Option<Vec<(Compare, Atom, Atom)>> {
    let mut said = Vec::new();
    say(cond, holds, made, DEEP, &mut said).then_some(said)
}

/// Whether that is all.
fn say(
    cond: &Atom,
    holds: bool,
    made: &FxHashMap<Var, Op>,
    depth: usize,
    said: &mut Vec<(Compare, Atom, Atom)>,
) -> bool {
    let Some(op) = cond.var().and_then(|cond| made.get(&cond)) else { return false };
    let Some(depth) = depth.checked_sub(1) else { return false };
    let mut also = |cond: &Atom, holds: bool| say(cond, holds, made, depth, said);
    match (op, holds) {
        (Op::Copy(x), _) => also(x, holds),
        (Op::Not(x), _) => also(x, !holds),
        (Op::Select { cond, then: Atom::Bool(true), otherwise }, false) => {
            also(cond, false) & also(otherwise, false)
        }
        (Op::Select { cond, then, otherwise: Atom::Bool(false) }, true) => {
            also(cond, true) & also(then, true)
        }
        (Op::Select { cond, then: Atom::Bool(false), otherwise }, true) => {
            also(cond, false) & also(otherwise, true)
        }
        (Op::Compare(compare, a, b), _) => {
            said.push((if holds { *compare } else { compare.opposite() }, a.clone(), b.clone()));
            true
        }
        _ => false,
    }
}

/// What is not negative where a difference of integers compares so with zero; `is_known` says what is known not to be negative.
pub(crate) fn not_negative(
    compare: Compare,
    more: &Linear,
    is_known: impl Fn(&Linear) -> bool,
) -> Vec<Linear> {
    let (one, less) = (Linear::constant(1), more.times(-1));
    match compare {
        Compare::Lt => vec![less.minus(&one)],
        Compare::Le => vec![less],
        Compare::Gt => vec![more.minus(&one)],
        Compare::Ge => vec![more.clone()],
        Compare::Eq => vec![more.clone(), less],
        Compare::Ne if is_known(more) => vec![more.minus(&one)],
        Compare::Ne if is_known(&less) => vec![less.minus(&one)],
        Compare::Ne => Vec::new(),
    }
}
