//! Functions that run once in a call of a large program: machine code of them is made with less care.
//!
//! To make machine code of a large program takes longer than to run what has no loops. What is worth the care is what runs again
//! and again: loops, recursion, and what those call. Of a function that is huge even so, the care would take minutes: the time
//! to find registers grows faster than what they are found for.

use crate::loops::walk::{every, parts};
use crate::loops::{Func, Operand, Program, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::program::FuncId;

/// Programs with so many statements are large.
const LARGE: usize = 1_500;
/// Functions with so many statements are made with less care whatever they do.
const HUGE: usize = 24_000;
/// Loops with so many iterations count as none.
const FEW: i64 = 16;

/// These functions; none, if the program is not large.
pub(super) fn once(program: &Program) -> FxHashSet<FuncId> {
    let sizes: FxHashMap<FuncId, usize> = program.funcs.iter().map(|(id, func)| (id, size(func))).collect();
    if sizes.values().sum::<usize>() < LARGE {
        return FxHashSet::default();
    }
    let mut todo: Vec<FuncId> = Vec::new();
    let mut loops: FxHashSet<FuncId> = FxHashSet::default();
    for (id, func) in program.funcs.iter() {
        if func.recursive.is_some() || func.part.is_some() {
            todo.push(id);
        }
        if look(&func.body, false, &mut todo) {
            loops.insert(id);
        }
    }
    let mut again: FxHashSet<FuncId> = FxHashSet::default();
    while let Some(id) = todo.pop() {
        if again.insert(id)
            && let Some(func) = program.funcs.get(id)
        {
            look(&func.body, true, &mut todo);
        }
    }
    let is_huge = |id: &FuncId| sizes.get(id).is_some_and(|size| *size >= HUGE);
    program.funcs.ids().filter(|id| is_huge(id) || (!again.contains(id) && !loops.contains(id))).collect()
}

fn size(func: &Func) -> usize {
    let mut size = 0;
    every(&func.body, &mut |_| size += 1);
    size
}

/// Whether there are loops; notes the functions that they call, or all that are called.
fn look(stmts: &[Stmt], inside: bool, called: &mut Vec<FuncId>) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut found = false;
        for stmt in stmts {
            let is_loop = match stmt {
                Stmt::For { len: Operand::Int(len), .. } => *len > FEW,
                Stmt::For { .. } | Stmt::While { .. } => true,
                Stmt::Call { func, .. } => {
                    called.extend(inside.then_some(*func));
                    false
                }
                Stmt::Parallel { part, .. } => {
                    called.push(*part);
                    true
                }
                Stmt::Set(..)
                | Stmt::Store { .. }
                | Stmt::If { .. }
                | Stmt::Switch { .. }
                | Stmt::Runtime { .. }
                | Stmt::Retain(..)
                | Stmt::Release(..)
                | Stmt::Free(..)
                | Stmt::Fail(..) => false,
            };
            found |= is_loop;
            for part in parts(stmt) {
                found |= look(part, inside || is_loop, called);
            }
        }
        found
    })
}
