//! Loops with functions that have rare arguments, and loops that add.
//!
//! The sine of a huge number takes a path of its own, which no vector takes. A loop that writes to an array of its own calls
//! the main path only and notes whether an argument was not for it; then it runs again, with the whole functions.
//!
//! Where numbers need not be to the last bit those of the interpreter, a sum may be made in any order, and so in vectors.

use super::Body;
use crate::text::{Expr, Level};
use rustc_hash::{FxHashMap, FxHashSet};
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

fn for_each_set<'s>(stmts: &'s [Stmt], see: &mut dyn FnMut(Local, &'s Value)) {
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

/// Whether these statements leave an operand as it is.
fn is_fixed(operand: Operand, stmts: &[Stmt]) -> bool {
    let sets = |stmt: &Stmt| matches!(stmt, Stmt::Set(local, _) if Operand::Local(*local) == operand);
    !stmts.iter().any(sets)
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
                return Root::Param;
            }
            match self.values.get(&local) {
                Some(Value::Alloc(_)) => return Root::New(local),
                Some(
                    Value::Address { base: Operand::Local(base), .. } | Value::Copy(Operand::Local(base)),
                ) => {
                    local = *base;
                }
                _ => return Root::Unknown,
            }
        }
    }

    /// Whether an innermost loop calls functions with rare arguments and could run twice: it reads nothing that it writes.
    pub(super) fn can_run_again(&self, stmts: &[Stmt]) -> bool {
        let (mut rare, mut loads) = (false, Vec::new());
        for_each_set(stmts, &mut |_, value| match value {
            Value::Real(op, _) => rare |= has_rare_arguments(*op),
            Value::Load { base, .. } => loads.push(self.root(*base)),
            _ => {}
        });
        let mut own = rare && !loads.contains(&Root::Unknown);
        for_each_store(stmts, &mut |base| {
            let root = self.root(base);
            own &= matches!(root, Root::New(_)) && !loads.contains(&root);
        });
        own
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

    /// Whether a variable is a sum that the loop around may make in any order.
    pub(super) fn is_summed(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.sums.contains(&local))
    }

    /// The variables that a loop only adds to, if that is all it does beside computing; `skipped` are checks that are not
    /// made in it.
    pub(super) fn sums(&self, stmts: &[Stmt], index: Local) -> Vec<Local> {
        let mut sums = Vec::new();
        let mut reads: FxHashMap<Local, usize> = FxHashMap::default();
        let mut inside: FxHashMap<Local, &Value> = FxHashMap::default();
        for stmt in stmts {
            let Stmt::Set(local, value) = stmt else {
                if self.skipped.contains(&std::ptr::from_ref(stmt)) {
                    continue;
                }
                return Vec::new();
            };
            crate::scopes::for_each_operand(value, &mut |operand| {
                if let Operand::Local(read) = operand {
                    *reads.entry(*read).or_default() += 1;
                }
            });
            if let Value::Load { index: place, .. } = value
                && *place != Operand::Local(index)
                && !is_fixed(*place, stmts)
            {
                return Vec::new();
            }
            if self.assigned_once(*local) {
                inside.insert(*local, value);
                continue;
            }
            let added = if let Value::Copy(Operand::Local(copied)) = value {
                inside.get(copied)
            } else {
                Some(&value)
            };
            let adds = matches!(added, Some(Value::Real(RealOp::Add, args))
                if args.iter().filter(|arg| **arg == Operand::Local(*local)).count() == 1);
            if !adds || sums.contains(local) {
                return Vec::new();
            }
            sums.push(*local);
        }
        sums.retain(|sum| self.word(*sum) == wengert_native::loops::Word::Real);
        if sums.iter().all(|sum| reads.get(sum) == Some(&1)) { sums } else { Vec::new() }
    }
}
