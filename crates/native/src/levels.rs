//! Small functions that call themselves have some levels of their calls in themselves.
//!
//! ```text
//! f(o) { switch constructor(o) { 0 { r = … } 1 { a = f(o[1])  b = f(o[2])  r = a + b } } }
//!
//! f(o) { switch constructor(o) { 0 { r = … } 1 { p = o[1]  switch constructor(p) { 0 { a = … } 1 { … f(p[1]) … } }  … } } }
//! ```
//!
//! Each call looks how much of the stack is left and whether the program is to stop, and moves what it is given; of a small function
//! that is most of its work. Of recursion that branches most calls are those of the last levels, and those become part of what calls
//! them: the leaves of a tree are looked at without a call.
//!
//! What is computed stays the same, and so does its order. The stack is looked at once in so many levels, which take as much of it as
//! before; a failure has the place that it had.

use crate::loops::walk::{every, map_parts, renamed, writes};
use crate::loops::{Func, Local, Operand, Program, Stmt, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Id;

/// So many levels at most.
const LEVELS: usize = 3;
/// A function has at most so many statements then.
const MOST: usize = 120;

/// Puts calls that small functions make of themselves into them.
pub(crate) fn unroll(program: &mut Program) {
    for (id, func) in program.funcs.iter_mut() {
        if func.recursive.is_none() || func.part.is_some() {
            continue;
        }
        let once = func.clone();
        let (size, calls) = (size(&once.body), calls(&once.body, id));
        let (mut now, mut open) = (size, calls);
        for _ in 1..LEVELS {
            now += open * size;
            open *= calls;
            if open == 0 || now > MOST {
                break;
            }
            let body = std::mem::take(&mut func.body);
            let mut level = Level { id, once: &once, func, assigned: FxHashMap::default() };
            level.note(&body);
            func.body = level.stmts(body);
        }
    }
}

/// How many statements there are.
fn size(stmts: &[Stmt]) -> usize {
    let mut count = 0;
    every(stmts, &mut |_| count += 1);
    count
}

/// How many calls of a function there are.
fn calls(stmts: &[Stmt], id: FuncId) -> usize {
    let mut count = 0;
    every(stmts, &mut |stmt| count += usize::from(matches!(stmt, Stmt::Call { func, .. } if *func == id)));
    count
}

/// One more level in a function.
struct Level<'a> {
    id: FuncId,
    /// The function as it was.
    once: &'a Func,
    func: &'a mut Func,
    /// How often variables are assigned.
    assigned: FxHashMap<Local, usize>,
}

impl Level<'_> {
    fn note(&mut self, body: &[Stmt]) {
        self.func.params.iter().for_each(|param| *self.assigned.entry(*param).or_default() += 1);
        every(body, &mut |stmt| {
            writes(stmt).into_iter().for_each(|local| *self.assigned.entry(local).or_default() += 1);
        });
    }

    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(stmts.len());
            for stmt in stmts {
                if let Stmt::Call { func, args, outs } = &stmt
                    && *func == self.id
                {
                    self.call(args, outs, &mut made);
                } else {
                    made.push(map_parts(stmt, &mut |inner| self.stmts(inner)));
                }
            }
            made
        })
    }

    /// The body in place of a call.
    fn call(&mut self, args: &[Operand], outs: &[Local], made: &mut Vec<Stmt>) {
        let mut own: FxHashSet<Local> = FxHashSet::default();
        every(&self.once.body, &mut |stmt| own.extend(writes(stmt)));
        let mut names: FxHashMap<Local, Local> = FxHashMap::default();
        for (param, arg) in self.once.params.iter().zip(args) {
            // What neither changes is the same variable.
            let same = arg.local().filter(|local| {
                self.assigned.get(local) == Some(&1) && !own.contains(param) && !outs.contains(local)
            });
            let name = same.unwrap_or_else(|| {
                let fresh = self.fresh(*param);
                made.push(Stmt::Set(fresh, Value::Copy(*arg)));
                fresh
            });
            names.insert(*param, name);
        }
        for (result, out) in self.once.results.iter().zip(outs) {
            // A parameter may be what is given back, and nothing else.
            if !names.contains_key(result) && own.contains(result) {
                names.insert(*result, *out);
            }
        }
        let body = renamed(&self.once.body, &mut |local| match names.get(&local) {
            Some(name) => *name,
            None => {
                let fresh = self.fresh(local);
                names.insert(local, fresh);
                fresh
            }
        });
        made.extend(body);
        for (result, out) in self.once.results.iter().zip(outs) {
            if let Some(name) = names.get(result).filter(|name| *name != out) {
                made.push(Stmt::Set(*out, Value::Copy(Operand::Local(*name))));
            }
        }
    }

    /// A variable like one of the function.
    fn fresh(&mut self, local: Local) -> Local {
        let fresh = Local::new(self.func.locals.len());
        if let Some(word) = self.once.locals.get(local).copied() {
            self.func.locals.push(word);
        }
        if let Some(origin) = self.once.origins.get(&local).copied() {
            self.func.origins.insert(fresh, origin);
        }
        fresh
    }
}

#[cfg(test)]
mod tests;
