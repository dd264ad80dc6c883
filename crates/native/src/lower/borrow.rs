//! Which parameters are borrowed, and which functions may call themselves.
//!
//! A parameter is borrowed if its function never gives it away: not into data, not as a result, not to an operation or
//! a function that takes it over. Functions are looked at again until nothing changes, starting from "all are borrowed". In a
//! call of itself at its end (a loop) a function must pass on what it borrowed itself, for nothing could be released after
//! the call.
//!
//! The tape of a recursive function is its own: it takes it apart as it goes, and frees each piece while it is at hand.

#![expect(clippy::wildcard_enum_match_arm, reason = "only branches have calls at their ends")]

use super::{Kind, Passing, cursor, kind, uses};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::op::Op;
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Id, Role, Table};
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Ty, Var};

/// How the parameters of each function are passed.
pub(super) fn modes(program: &Program) -> Table<FuncId, Vec<Passing>> {
    let mut modes = Table::default();
    let recursive = recursive(program);
    for (id, func) in program.funcs.iter() {
        let mode = |param: &Var| match func.ty(*param) {
            Ty::Scalar(Elem::Data(data)) if recursive.contains_key(&id) && is_tape(program, data) => {
                Passing::Owned
            }
            Ty::Scalar(_) | Ty::Array(..) => Passing::Borrowed,
        };
        modes.push(func.body.params.iter().map(mode).collect());
    }
    loop {
        let mut changed = false;
        for (id, func) in program.funcs.iter() {
            let given = given_away(id, func, &modes);
            for (place, param) in func.body.params.iter().enumerate() {
                if let Some(mode) = modes.at_mut(id).get_mut(place)
                    && *mode == Passing::Borrowed
                    && kind(func.ty(*param)) != Kind::Plain
                    && given.contains(param)
                {
                    *mode = Passing::Owned;
                    changed = true;
                }
            }
        }
        if !changed {
            return modes;
        }
    }
}

/// Whether values of a data type are what a derivative has kept.
pub(super) fn is_tape(program: &Program, data: DataId) -> bool {
    program.data.get(data).is_some_and(|data| data.role == Role::Residual)
}

/// The parameters that a function gives away.
fn given_away(id: FuncId, func: &Func, modes: &Table<FuncId, Vec<Passing>>) -> FxHashSet<Var> {
    let mut given = FxHashSet::default();
    let owned = |callee: FuncId, place: usize| {
        modes.get(callee).and_then(|modes| modes.get(place)) == Some(&Passing::Owned)
    };
    let results = |block: &Block, given: &mut FxHashSet<Var>| {
        given.extend(block.results.iter().filter_map(Atom::var));
    };
    results(&func.body, &mut given);
    func.body.for_each_stmt(&mut |stmt| {
        let callee = if let Op::Call { func, .. } = &stmt.op { Some(*func) } else { None };
        let takes = || uses::takes(&stmt.op, &|place| callee.is_some_and(|callee| owned(callee, place)));
        given.extend(cursor::taken(func, &stmt.op).unwrap_or_else(takes));
        stmt.op.blocks().into_iter().for_each(|block| results(block, &mut given));
    });
    for_each_tail_call(id, &func.body, &mut |_, args| {
        for (param, arg) in func.body.params.iter().zip(args) {
            if arg.var() != Some(*param) {
                given.insert(*param);
            }
        }
    });
    given
}

/// The calls of `id` whose results are the results of its body, and the branches that they end, by address.
pub(super) fn tail_calls(id: FuncId, body: &Block) -> FxHashSet<*const Op> {
    let mut found = FxHashSet::default();
    for_each_tail_call(id, body, &mut |call, _| {
        found.insert(std::ptr::from_ref(call));
    });
    if !found.is_empty() {
        branches_at_end(body, &mut found);
    }
    found
}

/// The branches at the ends of a block, and of those.
fn branches_at_end(block: &Block, found: &mut FxHashSet<*const Op>) {
    let Some(last) = block.stmts.last() else { return };
    if let Op::If { .. } | Op::Match { .. } = &last.op {
        found.insert(std::ptr::from_ref(&last.op));
        for inner in last.op.blocks() {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || branches_at_end(inner, found));
        }
    }
}

/// Looks at the calls of `id` whose results are the results of `block`, with their arguments.
fn for_each_tail_call<'b>(id: FuncId, block: &'b Block, see: &mut dyn FnMut(&'b Op, &'b [Atom])) {
    let Some(last) = block.stmts.last() else { return };
    if !last.outs.iter().map(|out| Some(*out)).eq(block.results.iter().map(Atom::var)) {
        return;
    }
    match &last.op {
        Op::Call { func, args, checkpoint: _ } if *func == id => see(&last.op, args),
        Op::If { .. } | Op::Match { .. } => {
            for inner in last.op.blocks() {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || for_each_tail_call(id, inner, see));
            }
        }
        _ => {}
    }
}

/// Functions of which a call can lead to a call, each with the place of the first such call: there recursion fails that is too deep.
pub(super) fn recursive(program: &Program) -> FxHashMap<FuncId, Span> {
    let callees = callees(program);
    let mut found = FxHashMap::default();
    for id in program.funcs.ids() {
        let reached = reached(&callees, id);
        if reached.contains(&id) {
            let callers =
                program.funcs.iter().filter(|(caller, _)| *caller != id && reached.contains(caller));
            let own = program.funcs.get(id).into_iter();
            let span = own.chain(callers.map(|(_, func)| func)).find_map(|func| first_call(func, id));
            found.insert(id, span.unwrap_or(Span::NOWHERE));
        }
    }
    found
}

/// Where a function calls another one first.
fn first_call(func: &Func, callee: FuncId) -> Option<Span> {
    let mut found = None;
    func.body.for_each_stmt(&mut |stmt| {
        if found.is_none() && matches!(&stmt.op, Op::Call { func, .. } if *func == callee) {
            found = Some(stmt.span);
        }
    });
    found
}

/// What each function calls, once for each call.
pub(super) fn callees(program: &Program) -> Vec<Vec<FuncId>> {
    let called = |(_, func): (FuncId, &Func)| {
        let mut found = Vec::new();
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Call { func, .. } = &stmt.op {
                found.push(*func);
            }
        });
        found
    };
    program.funcs.iter().map(called).collect()
}

/// What calls of a function can lead to.
fn reached(callees: &[Vec<FuncId>], from: FuncId) -> FxHashSet<FuncId> {
    let of = |id: FuncId| callees.get(id.index()).map_or(&[][..], Vec::as_slice);
    let mut seen = FxHashSet::default();
    let mut todo: Vec<FuncId> = of(from).to_vec();
    while let Some(id) = todo.pop() {
        if seen.insert(id) {
            todo.extend(of(id));
        }
    }
    seen
}
