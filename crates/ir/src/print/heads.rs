//! How people see a loop that goes on as long as a condition holds: with the condition in its head, and what is taken apart for it taken
//! apart there.
//!
//! ```text
//! while l = xs { is it a Cons? } do m { match m { Nil() { fail } Cons(x, r) { … yield r, x } } }
//! while m = xs, m is Cons(x, r) { … yield r, x }
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no branch")]

use super::order::only_failure;
use super::places::{Places, is_end};
use crate::op::{Atom, Block, Op, Stmt, Var, While};
use crate::program::Func;
use crate::ty::{DataId, Elem, Id, Ty};
use crate::visit::deep;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is asked before each iteration.
pub(super) enum Test<'a> {
    /// Whether a value is of this constructor: the value as the iteration knows it, and the fields.
    Is { on: Atom, ctor: (DataId, usize), fields: &'a [Var] },
    /// Whether this holds.
    Holds(&'a Atom),
    /// Whether what this gives holds.
    Gives(&'a Op),
}

/// What is shown of a loop.
pub(super) struct Head<'a> {
    pub(super) tests: Vec<Test<'a>>,
    /// The block of which the iteration is shown, from this statement on.
    pub(super) body: (&'a Block, usize),
}

/// Loops that are shown so, by the first value that they carry as the iteration knows it.
#[derive(Default)]
pub(super) struct Heads<'a> {
    loops: FxHashMap<Var, Head<'a>>,
    /// What has the name of another variable.
    same: Vec<(Var, Var)>,
}

impl<'a> Heads<'a> {
    /// The loops of a function.
    pub(super) fn new(func: &'a Func, places: &Places<'a>) -> Heads<'a> {
        let mut heads = Heads::default();
        func.body.for_each_stmt(&mut |stmt: &'a Stmt| {
            if let Op::While(parts) = &stmt.op
                && let Some(first) = parts.body.params.first()
                && let Some((head, same)) = head(func, places, parts)
            {
                heads.loops.insert(*first, head);
                heads.same.extend(same);
            }
        });
        heads
    }

    /// Gives what is the same its name.
    pub(super) fn name(&self, names: &mut [String]) {
        for (var, shown) in &self.same {
            let shown = names.get(shown.index()).cloned().unwrap_or_default();
            if let Some(name) = names.get_mut(var.index()) {
                *name = shown;
            }
        }
    }

    pub(super) fn of(&self, parts: &While) -> Option<&Head<'a>> {
        self.loops.get(parts.body.params.first()?)
    }

    /// What only a condition uses is used.
    pub(super) fn use_both(&self, unused: &mut FxHashSet<Var>) {
        for (var, shown) in &self.same {
            if !unused.contains(var) {
                unused.remove(shown);
            }
        }
    }
}

impl Head<'_> {
    /// What is taken apart in the head.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Var> {
        self.tests.iter().flat_map(|test| match test {
            Test::Is { fields, .. } => *fields,
            Test::Holds(_) | Test::Gives(_) => &[],
        })
    }
}

fn head<'a>(func: &Func, places: &Places<'a>, parts: &'a While) -> Option<(Head<'a>, Vec<(Var, Var)>)> {
    let mut made = Making { func, places, tests: Vec::new(), same: FxHashMap::default() };
    let pairs = parts.cond.params.iter().copied().zip(parts.body.params.iter().copied());
    made.same.extend(pairs);
    made.condition(&parts.cond)?;
    let body = made.body(&parts.body);
    let Making { tests, same, .. } = made;
    Some((Head { tests, body }, same.into_iter().collect()))
}

struct Making<'a, 'p> {
    func: &'p Func,
    places: &'p Places<'a>,
    tests: Vec<Test<'a>>,
    /// The variables of the iteration that are those of the condition.
    same: FxHashMap<Var, Var>,
}

impl<'a> Making<'a, '_> {
    /// The tests that a condition consists of, if it is nothing else.
    fn condition(&mut self, block: &'a Block) -> Option<()> {
        let (last, before) = match block.stmts.split_last() {
            Some((last, before)) if is_end(block) => (Some(last), before),
            _ => (None, block.stmts.as_slice()),
        };
        let [result] = block.results.as_slice() else { return None };
        if !before.iter().all(|stmt| self.is_hidden(stmt)) {
            return None;
        }
        let Some(last) = last else {
            if *result != Atom::Bool(true) || self.tests.is_empty() {
                self.tests.push(Test::Holds(result));
            }
            return Some(());
        };
        if last.op.blocks().is_empty() {
            self.tests.push(Test::Gives(&last.op));
            return Some(());
        }
        let mut open = last.op.blocks().into_iter().enumerate().filter(|(_, block)| !is_false(block));
        let ((at, arm), None) = (open.next()?, open.next()) else { return None };
        match &last.op {
            Op::Match { on, .. } => {
                let Ty::Scalar(Elem::Data(data)) = self.func.type_of(on) else { return None };
                self.tests.push(Test::Is { on: on.clone(), ctor: (data, at), fields: &arm.params });
            }
            Op::If { cond, .. } if at == 0 => self.tests.push(Test::Holds(cond)),
            _ => return None,
        }
        deep(|| self.condition(arm))
    }

    fn is_hidden(&self, stmt: &Stmt) -> bool {
        stmt.outs.iter().any(|out| self.places.contains_key(out))
    }

    /// What is left of an iteration without what takes apart what is known to be of a constructor.
    fn body(&mut self, block: &'a Block) -> (&'a Block, usize) {
        let (mut block, mut from) = (block, 0);
        let mut tests = std::mem::take(&mut self.tests);
        for test in &mut tests {
            let Test::Is { on, ctor: (_, ctor), fields } = test else { continue };
            if let Some(shown) = on.var().and_then(|var| self.same.get(&var)) {
                *on = Atom::Var(*shown);
            }
            let mut shown = block.stmts.iter().enumerate().skip(from);
            let first = shown.find(|(_, stmt)| !self.is_hidden(stmt));
            let Some((at, Stmt { op: Op::Match { on: taken, arms }, outs, .. })) = first else { continue };
            let others = arms.iter().enumerate().filter(|(at, _)| at != ctor);
            let alone = others.into_iter().all(|(_, arm)| only_failure(arm).is_some());
            let Some(arm) = arms.get(*ctor).filter(|_| taken == on && alone) else { continue };
            if at + 1 == block.stmts.len() && is_end(block) && at == from {
                (block, from) = (arm, 0);
            } else if let Some(same) = only_fields(outs, arm) {
                self.same.extend(same);
                from = at + 1;
            } else {
                continue;
            }
            self.same.extend(fields.iter().copied().zip(arm.params.iter().copied()));
            *fields = &arm.params;
        }
        self.tests = tests;
        (block, from)
    }
}

fn is_false(block: &Block) -> bool {
    block.stmts.is_empty() && block.results == [Atom::Bool(false)]
}

/// The results of an arm that gives some of its fields, and nothing else.
fn only_fields(outs: &[Var], arm: &Block) -> Option<Vec<(Var, Var)>> {
    let field = |(out, result): (&Var, &Atom)| {
        Some((*out, result.var().filter(|result| arm.params.contains(result))?))
    };
    let all: Option<Vec<(Var, Var)>> = outs.iter().zip(&arm.results).map(field).collect();
    all.filter(|_| arm.stmts.is_empty())
}
