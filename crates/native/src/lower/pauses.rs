//! Which functions look whether the program is to stop, though they are not recursive.
//!
//! Loops and recursion look now and then. But a few dozen functions, each of which calls the one before three times, are more
//! calls than anybody has time for. So calls are counted, from below: a function of which a call is too many calls looks.

use rustc_hash::FxHashSet;
use wengert_ir::Program;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;

/// So many calls take no time that a person notices.
const MOST: u64 = 1 << 14;

/// The functions that look. `callees` has those that each function calls, once for each call; recursive functions look anyway.
pub(super) fn pausing(
    program: &Program,
    callees: &[Vec<FuncId>],
    is_recursive: &dyn Fn(FuncId) -> bool,
) -> FxHashSet<FuncId> {
    let mut found = FxHashSet::default();
    // Calls between two looks; `None` for functions whose callees are not counted yet.
    let mut calls: Vec<Option<u64>> = vec![None; callees.len()];
    let counted = |calls: &[Option<u64>], id: FuncId| {
        if is_recursive(id) { Some(0) } else { calls.get(id.index()).copied().flatten() }
    };
    let mut todo: Vec<FuncId> = program.funcs.ids().collect();
    while let Some(id) = todo.pop() {
        if counted(&calls, id).is_some() {
            continue;
        }
        let called = callees.get(id.index()).map_or(&[][..], Vec::as_slice);
        let unknown: Vec<FuncId> =
            called.iter().copied().filter(|callee| counted(&calls, *callee).is_none()).collect();
        if !unknown.is_empty() {
            todo.push(id);
            todo.extend(unknown);
            continue;
        }
        let count = called.iter().filter_map(|callee| counted(&calls, *callee)).fold(1, u64::saturating_add);
        if count > MOST {
            found.insert(id);
        }
        if let Some(calls) = calls.get_mut(id.index()) {
            *calls = Some(if count > MOST { 0 } else { count });
        }
    }
    found
}
