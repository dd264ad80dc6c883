//! Cursors: data that a loop walks through without taking it apart.
//!
//! ```text
//! while total = 0.0, cell = list { is Cons? } do match cell { Cons(x, rest) { yield total + x, rest } }
//! ```
//!
//! What is carried is a piece of what was carried before, and so a piece of what the loop began with, which somebody else keeps
//! as long as the loop runs. So no reference is counted on the way; only where the loop ends is there one of its own.

#![expect(clippy::wildcard_enum_match_arm, reason = "a piece comes out of a match, or a branch")]

use super::uses::Vars;
use super::{Lower, Operand, Stmt, Value, kind, word};
use crate::loops::Local;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::{Atom, Block, Elem, Func, Ty, Var};

/// Where a variable of a body comes from.
enum Source<'b> {
    /// It is a field of what is matched on.
    Field(Var),
    /// It is one of these, after a branch.
    One(Vec<&'b Atom>),
}

/// Where the variables come from that may be pieces of others.
#[derive(Default)]
struct Sources<'b>(FxHashMap<Var, Source<'b>>);

impl<'b> Sources<'b> {
    fn block(&mut self, block: &'b Block) {
        for stmt in &block.stmts {
            match &stmt.op {
                Op::Match { on: Atom::Var(on), arms } => {
                    for arm in arms {
                        self.0.extend(arm.params.iter().map(|field| (*field, Source::Field(*on))));
                    }
                }
                Op::If { .. } => {}
                _ => continue,
            }
            let returning = |block: &&Block| !block.stmts.iter().any(|stmt| stmt.op.never_returns());
            let blocks: Vec<&Block> = stmt.op.blocks().into_iter().filter(returning).collect();
            for (place, out) in stmt.outs.iter().enumerate() {
                let given = blocks.iter().filter_map(|block| block.results.get(place)).collect();
                self.0.insert(*out, Source::One(given));
            }
            for block in blocks {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.block(block));
            }
        }
    }

    /// Whether an operand is a piece of `whole`; adds the results of branches on the way.
    fn is_piece(&self, atom: &Atom, whole: Var, on_the_way: &mut FxHashSet<Var>) -> bool {
        let Some(var) = atom.var() else { return false };
        if var == whole {
            return true;
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match self.0.get(&var) {
            Some(Source::Field(of)) => self.is_piece(&Atom::Var(*of), whole, on_the_way),
            Some(Source::One(all)) => {
                on_the_way.insert(var);
                !all.is_empty() && all.iter().all(|atom| self.is_piece(atom, whole, on_the_way))
            }
            None => false,
        })
    }
}

/// If what is carried as `param` is each time a piece of what it was, ending as `end`: the results of branches that it
/// comes through.
pub(super) fn cursor(func: &Func, body: &Block, param: Var, end: &Atom) -> Option<FxHashSet<Var>> {
    if !matches!(func.ty(param), Ty::Scalar(Elem::Data(_))) {
        return None;
    }
    let mut sources = Sources::default();
    sources.block(body);
    let mut on_the_way = FxHashSet::default();
    sources.is_piece(end, param, &mut on_the_way).then_some(on_the_way)
}

/// What a loop takes over of what it begins with: not what it only walks through.
pub(super) fn taken(func: &Func, op: &Op) -> Option<Vec<Var>> {
    let (init, accs, params, body) = match op {
        Op::Loop(parts) => (&parts.init, parts.accs.as_slice(), parts.body.params.get(1..), &parts.body),
        Op::While(parts) => (&parts.init, &[][..], Some(parts.body.params.as_slice()), &parts.body),
        _ => return None,
    };
    let mut taken: Vec<Var> = accs.iter().filter_map(Atom::var).collect();
    for ((atom, param), end) in init.iter().zip(params.unwrap_or_default()).zip(&body.results) {
        if cursor(func, body, *param, end).is_none() {
            taken.extend(atom.var());
        }
    }
    Some(taken)
}

impl Lower<'_> {
    /// Begins to walk through what somebody else keeps, if the loop does only that.
    pub(super) fn start_cursor(
        &mut self,
        atom: &Atom,
        param: Var,
        (body, end): (&Block, &Atom),
        dying: &Vars,
    ) -> Option<Local> {
        let var = atom.var().filter(|var| !dying.contains(var))?;
        let on_the_way = cursor(self.func, body, param, end)?;
        self.on_the_way.extend(on_the_way);
        let value = self.word(&Atom::Var(var));
        let local = self.made.fresh(word(self.func.ty(param)));
        self.emit(Stmt::Set(local, Value::Copy(value)));
        self.borrowed.insert(local);
        Some(local)
    }

    /// Where a walk ends, as a reference of its own.
    pub(super) fn end_cursor(&mut self, local: Local, ty: Ty) -> Local {
        if !self.borrowed.contains(&local) {
            return local;
        }
        let own = self.made.fresh(word(ty));
        self.emit(Stmt::Set(own, Value::Copy(Operand::Local(local))));
        self.emit(Stmt::Retain(Operand::Local(own), kind(ty)));
        own
    }
}
