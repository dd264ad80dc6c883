//! Loops with functions that have rare arguments.
//!
//! The sine of a huge number takes a path of its own, which no vector takes. A loop that writes to an array of its own calls
//! the main path only and notes whether an argument was not for it; then it runs again, with the whole functions.

use super::Body;
use crate::text::{Expr, Level};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_native::Reads;
use wengert_native::loops::{Func, Local, Operand, Stmt, Value};
use wengert_prim::RealOp;

/// Whether the function has a main path and another one.
pub(super) fn has_rare_arguments(op: RealOp) -> bool {
    wengert_vmath::function_of(op).is_some_and(|function| function.has_rare_arguments())
}

/// What the variables are that are assigned once.
pub(super) fn values(func: &Func) -> FxHashMap<Local, &Value> {
    let (mut values, mut twice) = (FxHashMap::default(), FxHashSet::default());
    for_each_set(&func.body, &mut |local, value| {
        if values.insert(local, value).is_some() {
            twice.insert(local);
        }
    });
    values.retain(|local, _| !twice.contains(local) && !func.params.contains(local));
    values
}

pub(super) fn for_each_set<'s>(stmts: &'s [Stmt], see: &mut dyn FnMut(Local, &'s Value)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            match stmt {
                Stmt::Set(local, value) => see(*local, value),
                Stmt::If { cond: _, then, otherwise } => {
                    for_each_set(then, see);
                    for_each_set(otherwise, see);
                }
                Stmt::Switch { on: _, cases } => cases.iter().for_each(|case| for_each_set(case, see)),
                Stmt::For { body, .. } => for_each_set(body, see),
                Stmt::While { head, cond: _, body } => {
                    for_each_set(head, see);
                    for_each_set(body, see);
                }
                Stmt::Store { .. }
                | Stmt::Parallel { .. }
                | Stmt::Call { .. }
                | Stmt::Runtime { .. }
                | Stmt::Retain(..)
                | Stmt::Release(..)
                | Stmt::Free(..)
                | Stmt::Fail(..) => {}
            }
        }
    });
}

fn for_each_store(stmts: &[Stmt], see: &mut dyn FnMut(Operand)) {
    for stmt in stmts {
        if let Stmt::Store { base, .. } = stmt {
            see(*base);
        } else if let Stmt::If { cond: _, then, otherwise } = stmt {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                for_each_store(then, see);
                for_each_store(otherwise, see);
            });
        }
    }
}

/// What an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// An object that was made here.
    New(Local),
    /// A parameter.
    Param,
    /// Anything.
    Unknown,
}

impl Body<'_, '_> {
    fn root(&self, operand: Operand) -> Root {
        let Operand::Local(mut local) = operand else { return Root::Unknown };
        loop {
            if self.func.params.contains(&local) && self.assigned_once(local) {
                // What a part of a loop is given may have been made for the loop.
                let own = self.func.part.is_some() && self.is_own(local);
                return if own { Root::New(local) } else { Root::Param };
            }
            match self.values.get(&local) {
                Some(Value::Alloc(..)) => return Root::New(local),
                Some(
                    Value::Address { base: Operand::Local(base), .. } | Value::Copy(Operand::Local(base)),
                ) => {
                    local = *base;
                }
                _ => return Root::Unknown,
            }
        }
    }

    /// Whether all stores of the loop with this index are to objects that were made here, from which nothing is loaded.
    pub(super) fn are_apart(&self, index: Local, loads: &[Operand], stores: &[Operand]) -> bool {
        if loads.iter().all(|base| self.only_reads(index, *base)) {
            return true;
        }
        let loads: Vec<Root> = loads.iter().map(|base| self.root(*base)).collect();
        let apart = |base: &Operand| {
            let root = self.root(*base);
            matches!(root, Root::New(_)) && !loads.contains(&root) && !loads.contains(&Root::Unknown)
        };
        stores.iter().all(apart)
    }

    /// Whether the loop with this index never stores into what an address leads to.
    fn only_reads(&self, index: Local, base: Operand) -> bool {
        self.reads.get_or_init(|| Reads::of(self.func)).only(index, base)
    }

    /// Whether it calls a function with rare arguments.
    pub(super) fn has_rare(&self, stmts: &[Stmt]) -> bool {
        let mut rare = false;
        for_each_set(stmts, &mut |_, value| {
            rare |= matches!(value, Value::Real(op, _) if has_rare_arguments(*op));
        });
        rare
    }

    /// Whether an innermost loop calls functions with rare arguments and could run twice: it reads nothing that it writes.
    pub(super) fn can_run_again(&self, index: Local, stmts: &[Stmt]) -> bool {
        let (mut rare, mut loads, mut stores) = (false, Vec::new(), Vec::new());
        for_each_set(stmts, &mut |_, value| {
            if let Value::Real(op, _) = value {
                rare |= has_rare_arguments(*op);
            } else if let Value::Load { base, .. } = value {
                loads.push(*base);
            }
        });
        for_each_store(stmts, &mut |base| stores.push(base));
        rare && self.are_apart(index, &loads, &stores)
    }

    /// A call of the main path of a function, with a note of whether that was right.
    pub(super) fn main_path(&mut self, op: RealOp, arg: &Expr) -> Expr {
        self.unit.needs_functions();
        let is_name =
            arg.level == Level::Primary && arg.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let arg = if is_name {
            arg.text.clone()
        } else {
            let name = self.unit.temporary();
            self.put(&format!("const double {name} = {};", arg.text));
            name
        };
        let note = self.rare.clone().unwrap_or_default();
        self.put(&format!("{note} |= wg_{}_rare({arg});", op.name()));
        Expr::primary(format!("wg_{}_main({arg})", op.name()))
    }
}
