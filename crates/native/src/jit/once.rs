//! Functions that run once in a call of a large program: machine code of them is made with less care.
//!
//! To make machine code of a large program takes longer than to run what has no loops. What is worth the care is what runs again
//! and again: loops, recursion, and what those call.

use crate::loops::walk::{every, parts};
use crate::loops::{Operand, Program, Stmt};
use rustc_hash::FxHashSet;
use wengert_ir::program::FuncId;

/// Programs with so many statements are large.
const LARGE: usize = 1_500;
/// Loops with so many iterations count as none.
const FEW: i64 = 16;

/// These functions; none, if the program is not large.
pub(super) fn once(program: &Program) -> FxHashSet<FuncId> {
    let mut size = 0;
    program.funcs.iter().for_each(|(_, func)| every(&func.body, &mut |_| size += 1));
    if size < LARGE {
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
    program.funcs.ids().filter(|id| !again.contains(id) && !loops.contains(id)).collect()
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
