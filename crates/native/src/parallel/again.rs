//! What a part of a loop needs, and is a sum of what else it needs, the part computes again: so it is known there what it is, as that
//! `m` is `n - 2` where a loop in the part goes to `n`.

use super::Known;
use crate::loops::walk::every;
use crate::loops::{Func, Int, Local, Operand, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sums of integers in a function that are assigned once, of what is.
pub(super) fn sums(func: &Func, body: &[Stmt], sets: &FxHashMap<Local, usize>) -> FxHashMap<Local, Value> {
    let once = |local: &Local| sets.get(local) == Some(&1);
    let mut sums = FxHashMap::default();
    every(body, &mut |stmt| {
        if let Stmt::Set(local, value @ Value::Int(Int::Add | Int::Sub, a, b)) = stmt
            && func.locals.get(*local) == Some(&Word::Int)
            && [Some(*local), a.local(), b.local()].iter().flatten().all(once)
        {
            sums.insert(*local, value.clone());
        }
    });
    sums
}

/// Takes out of what is captured what is a sum of the rest, and gives the statements that make it.
pub(super) fn computed(known: &Known, captured: &mut Vec<Local>) -> Vec<Stmt> {
    let all: FxHashSet<Local> = captured.iter().copied().collect();
    let mut made = Vec::new();
    let mut kept = Vec::with_capacity(captured.len());
    // What is assigned later has the larger number, as a rule; what does not follow it stays captured.
    let mut there: FxHashSet<Local> = FxHashSet::default();
    for local in captured.drain(..) {
        let sum = known.sums.get(&local).filter(|sum| {
            let Value::Int(_, a, b) = sum else { return false };
            let fits = |operand: &Operand| {
                operand.local().is_none_or(|other| all.contains(&other) && there.contains(&other))
            };
            fits(a) && fits(b)
        });
        match sum {
            Some(sum) => made.push(Stmt::Set(local, sum.clone())),
            None => kept.push(local),
        }
        there.insert(local);
    }
    *captured = kept;
    made
}
