//! Code that changes no counts of references but those of objects of its own.
//!
//! A reference is *fresh* if the code has made the object, was given it for good, or has read it out of such an object. A count
//! may change only if the reference is fresh; and only fresh references are stored and given to functions for good. By that alone,
//! whatever can be reached from what is fresh is the code's own: others cannot have reached it, for that would have changed a count.
//! What is stored where others see it, they see when the loop is done.

use crate::loops::walk::every;
use crate::loops::{Func, Kind, Local, Operand, Program, Runtime, Stmt, Value, Word};
use rustc_hash::FxHashSet;
use wengert_ir::program::FuncId;
use wengert_ir::ty::Table;

/// Which functions change no counts but those of their own objects.
pub(super) struct Quiet {
    funcs: Table<FuncId, bool>,
    /// For each function, which parameters are references that it is given for good.
    owned: Table<FuncId, Vec<bool>>,
}

impl Quiet {
    /// Looks through a program. What calls each other is quiet if nothing of it says otherwise.
    pub(super) fn of(program: &Program) -> Quiet {
        let mut quiet = Quiet { funcs: Table::default(), owned: Table::default() };
        for (_, func) in program.funcs.iter() {
            let owned =
                |param: &Local| func.locals.get(*param) == Some(&Word::Ref) && !func.borrowed.contains(param);
            quiet.funcs.push(true);
            quiet.owned.push(func.params.iter().map(owned).collect());
        }
        loop {
            let mut changed = false;
            for (id, func) in program.funcs.iter() {
                if quiet.calls(id) && !quiet.of_function(func) {
                    *quiet.funcs.at_mut(id) = false;
                    changed = true;
                }
            }
            if !changed {
                return quiet;
            }
        }
    }

    fn calls(&self, func: FuncId) -> bool {
        self.funcs.get(func).copied().unwrap_or(false)
    }

    fn of_function(&self, func: &Func) -> bool {
        let foreign = func.borrowed.iter().copied().collect();
        let inside: FxHashSet<Local> = func.locals.iter().map(|(local, _)| local).collect();
        Walk::new(self, func, foreign, &inside).quiet(&func.body)
    }

    /// Whether the body of a loop is quiet, of which these variables are its own.
    pub(super) fn is_quiet(&self, func: &Func, body: &[Stmt], inside: &FxHashSet<Local>) -> bool {
        Walk::new(self, func, FxHashSet::default(), inside).quiet(body)
    }
}

struct Walk<'q> {
    quiet: &'q Quiet,
    func: &'q Func,
    /// References and addresses that are not fresh.
    foreign: FxHashSet<Local>,
    /// Variables of the code; all others are not fresh.
    inside: &'q FxHashSet<Local>,
}

impl<'q> Walk<'q> {
    fn new(
        quiet: &'q Quiet,
        func: &'q Func,
        foreign: FxHashSet<Local>,
        inside: &'q FxHashSet<Local>,
    ) -> Walk<'q> {
        Walk { quiet, func, foreign, inside }
    }

    fn is_fresh(&self, operand: Operand) -> bool {
        match operand {
            Operand::Local(local) => self.inside.contains(&local) && !self.foreign.contains(&local),
            Operand::Real(_) | Operand::Int(_) | Operand::Text(_) => true,
        }
    }

    fn is_word(&self, local: Local, words: &[Word]) -> bool {
        self.func.locals.get(local).is_some_and(|word| words.contains(word))
    }

    /// Whether the code is.
    fn quiet(mut self, body: &[Stmt]) -> bool {
        // What is not fresh is found until no more is.
        loop {
            let before = self.foreign.len();
            every(body, &mut |stmt| self.foreign.extend(self.made_foreign(stmt)));
            if self.foreign.len() == before {
                break;
            }
        }
        let mut quiet = true;
        every(body, &mut |stmt| quiet &= self.allows(stmt));
        quiet
    }

    /// The variable that a statement makes lead to what is not fresh.
    fn made_foreign(&self, stmt: &Stmt) -> Option<Local> {
        if let Stmt::Runtime { call: Runtime::CopyWords, args, .. } = stmt
            && let [from, Operand::Local(to), ..] = args.as_slice()
        {
            // If these are references, they are counted where they are copied to.
            return (!self.is_fresh(*from)).then_some(*to);
        }
        let Stmt::Set(local, value) = stmt else { return None };
        if !self.is_word(*local, &[Word::Ref, Word::Address]) {
            return None;
        }
        let fresh = match value {
            Value::Copy(from) => self.is_fresh(*from),
            Value::Select(_, a, b) => self.is_fresh(*a) && self.is_fresh(*b),
            Value::Load { base, .. } | Value::Address { base, .. } => self.is_fresh(*base),
            Value::Alloc(..) => true,
            Value::Real(..)
            | Value::Int(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Tag(..)
            | Value::Unique(..) => false,
        };
        (!fresh).then_some(*local)
    }

    fn allows(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Retain(object, kind) | Stmt::Release(object, kind) | Stmt::Free(object, kind) => {
                *kind == Kind::Plain || self.is_fresh(*object)
            }
            Stmt::Store { value: Operand::Local(value), .. } => {
                !self.is_word(*value, &[Word::Ref]) || self.is_fresh(Operand::Local(*value))
            }
            Stmt::Call { func, args, outs: _ } => {
                let owned = self.quiet.owned.get(*func).map_or(&[][..], Vec::as_slice);
                let fresh = args.iter().zip(owned).all(|(arg, owned)| !owned || self.is_fresh(*arg));
                fresh && self.quiet.calls(*func)
            }
            // Sorted texts are counted once more each.
            Stmt::Runtime { call, .. } => !matches!(call, Runtime::SortText | Runtime::ArgSortText),
            Stmt::Parallel { .. } => false,
            Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Fail(..) => true,
        }
    }
}
