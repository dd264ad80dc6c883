//! Loops without branches, for a compiler that makes vector code of loops but of no branches in them: both sides of a choice are
//! computed ([`choices`]).
//!
//! Only where iterations are independent but for what they add up; elsewhere a branch, which is foreseen, costs less.

use crate::choices;
use crate::live;
use crate::loops::assigned::Assigned;
use crate::loops::walk::{is_failure, operands, parts_mut};
use crate::loops::{Func, Local, Operand, Program, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_prim::RealOp;

/// So often what is handed on is copied at most before it is.
const COPIES: usize = 3;

/// See the module.
pub(crate) fn straighten(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        straighten_loops(func, &|body| choices::is_convertible(body) || choices::pays(body), &mut |_| true);
    }
}

/// Writes loops of a function so whose bodies are worth it, and which are picked: by how many loops begin before. Whether there were any.
pub(crate) fn straighten_loops(
    func: &mut Func,
    is_worth: &dyn Fn(&[Stmt]) -> bool,
    pick: &mut dyn FnMut(usize) -> bool,
) -> bool {
    let known = live::after_loops(func, &|body| branches(body) && is_worth(body));
    if known.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut func.body);
    let mut walk = Walk { func, known, pick, before: 0, any: false };
    walk.stmts(&mut body);
    let any = walk.any;
    func.body = body;
    any
}

/// Whether there is a choice in a body.
fn branches(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| matches!(stmt, Stmt::If { then, .. } if !is_failure(then)))
}

struct Walk<'w> {
    func: &'w mut Func,
    /// Loops by their addresses, and what they assign that is read after them.
    known: FxHashMap<*const Stmt, FxHashSet<Local>>,
    pick: &'w mut dyn FnMut(usize) -> bool,
    /// How many loops have begun.
    before: usize,
    any: bool,
}

impl Walk<'_> {
    fn stmts(&mut self, all: &mut [Stmt]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in all {
                let after = self.known.get(&std::ptr::from_ref(&*stmt));
                let number = self.before;
                self.before += usize::from(matches!(stmt, Stmt::For { .. }));
                match (stmt, after) {
                    (Stmt::For { body, .. }, Some(after))
                        if only_adds(body, after) && (self.pick)(number) =>
                    {
                        *body = straight(self.func, body, after);
                        self.any = true;
                    }
                    (stmt, _) => parts_mut(stmt).into_iter().for_each(|part| self.stmts(part)),
                }
            }
        });
    }
}

/// The body without choices.
fn straight(func: &mut Func, body: &[Stmt], after: &FxHashSet<Local>) -> Vec<Stmt> {
    let (made, words) = choices::convert(func, body, after);
    for (word, like) in words.added() {
        let local = func.locals.push(word);
        if let Some(origin) = func.origins.get(&like).copied() {
            func.origins.insert(local, origin);
        }
    }
    made
}

/// Whether what a body hands on, to its next iteration or to what comes after, are sums to which it adds.
fn only_adds(body: &[Stmt], after: &FxHashSet<Local>) -> bool {
    sums(body, after).is_some()
}

/// What a body hands on, to its next iteration or to what comes after, if these are sums to which it adds.
pub(crate) fn sums(body: &[Stmt], after: &FxHashSet<Local>) -> Option<FxHashSet<Local>> {
    let (mut assigned, mut values) = (Assigned::default(), FxHashMap::default());
    let mut early: FxHashSet<Local> = after.clone();
    for stmt in body {
        note(stmt, &mut assigned, &mut early);
        if let Stmt::Set(local, value) = stmt {
            values.insert(*local, value);
        }
    }
    early.retain(|local| assigned.has(*local));
    early.iter().all(|sum| adds(*sum, &values)).then_some(early)
}

/// Notes what a statement assigns, and what it reads that was not assigned before.
fn note(stmt: &Stmt, assigned: &mut Assigned, early: &mut FxHashSet<Local>) {
    early.extend(operands(stmt).into_iter().filter_map(Operand::local).filter(|local| !assigned.has(*local)));
    match stmt {
        Stmt::Set(local, _) => assigned.add(*local),
        Stmt::If { then, otherwise, .. } => {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                let count = assigned.count();
                then.iter().for_each(|stmt| note(stmt, assigned, early));
                let one = assigned.take_back(count);
                otherwise.iter().for_each(|stmt| note(stmt, assigned, early));
                assigned.extend(one);
            });
        }
        Stmt::Runtime { out, .. } => out.iter().for_each(|out| assigned.add(*out)),
        // A body that can be written without choices has no others.
        Stmt::Store { .. }
        | Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => {}
    }
}

/// Whether the new value of a variable is its old one with something added.
fn adds(sum: Local, values: &FxHashMap<Local, &Value>) -> bool {
    let mut value = values.get(&sum).copied();
    for _ in 0..COPIES {
        if let Some(Value::Copy(Operand::Local(made))) = value {
            value = values.get(made).copied();
        }
    }
    matches!(value, Some(Value::Real(RealOp::Add | RealOp::Sub, args)) if args.contains(&Operand::Local(sum)))
}
