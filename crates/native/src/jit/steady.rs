//! Where the values of variables are known, so that the code generator need not keep track of them from block to block,
//! which takes it time and memory that grow with the square of a function.
//!
//! A list of statements is the scope of what it is the first to assign, as in the source of most languages; the condition and the
//! body of a `while` are in the scope of what is done before the condition. What branches assign, if it is read after them, belongs to the
//! scope around them. A variable that is read in its scope only has, after the last statement of the scope that assigns it or has
//! an assignment inside, one value until the scope ends.

use crate::loops::walk::{operands, parts, writes};
use crate::loops::{Func, Local, Operand, Stmt};
use rustc_hash::FxHashMap;

/// What is known of the variables of a function.
#[derive(Default)]
pub(super) struct Steady {
    /// Those that are assigned at one place.
    once: Vec<bool>,
    /// Those that are read at one place.
    read_once: Vec<bool>,
    /// The others by the statement after which they do not change.
    after: FxHashMap<*const Stmt, Vec<Local>>,
}

impl Steady {
    pub(super) fn of(func: &Func) -> Steady {
        let unseen = Variable { place: Place::Nowhere, strays: false, last: None, reads: 0 };
        let mut scopes = Scopes { vars: vec![unseen; func.locals.len()], around: Vec::new() };
        func.params.iter().for_each(|param| scopes.assign(*param));
        let mut open = Vec::new();
        scopes.stmts(&func.body, &mut open);
        func.results.iter().for_each(|result| scopes.read(*result));
        let mut steady = Steady {
            once: vec![false; func.locals.len()],
            read_once: scopes.vars.iter().map(|var| var.reads == 1).collect(),
            after: FxHashMap::default(),
        };
        for (local, found) in func.locals.ids().zip(&scopes.vars) {
            match found.last {
                _ if found.strays => {}
                Some((stmt, true)) => steady.after.entry(stmt).or_default().push(local),
                Some((_, false)) => {}
                None => {
                    if let Some(once) = steady.once.get_mut(local.0 as usize) {
                        *once = true;
                    }
                }
            }
        }
        steady
    }

    /// Whether the variable is assigned at one place, and read only where that place is always behind.
    pub(super) fn once(&self, local: Local) -> bool {
        self.once.get(local.0 as usize) == Some(&true)
    }

    /// Whether the variable is read at one place.
    pub(super) fn is_read_once(&self, local: Local) -> bool {
        self.read_once.get(local.0 as usize) == Some(&true)
    }

    /// The variables that do not change after the statement, as long as they are read.
    pub(super) fn after(&self, stmt: &Stmt) -> &[Local] {
        self.after.get(&std::ptr::from_ref(stmt)).map_or(&[], Vec::as_slice)
    }
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Not assigned so far.
    Nowhere,
    /// In its scope, which so many others are around.
    Inside(usize),
    /// After a statement in whose branches it was assigned, in a scope that so many others are around.
    After(*const Stmt, usize),
    /// Its scope has ended.
    Outside,
}

#[derive(Clone, Copy)]
struct Variable {
    place: Place,
    /// Whether it is read or assigned elsewhere than in its scope.
    strays: bool,
    /// The statement of its scope that assigns it, or has an assignment inside, if there is another assignment; and whether it is
    /// read after that.
    last: Option<(*const Stmt, bool)>,
    /// At how many places it is read.
    reads: usize,
}

struct Scopes {
    vars: Vec<Variable>,
    /// The statements around the place, one of each scope.
    around: Vec<*const Stmt>,
}

impl Scopes {
    fn read(&mut self, local: Local) {
        let Some(var) = self.vars.get_mut(local.0 as usize) else { return };
        var.reads += 1;
        match var.place {
            Place::Inside(_) => {
                if let Some((_, read)) = &mut var.last {
                    *read = true;
                }
            }
            Place::After(stmt, depth) => {
                var.place = Place::Inside(depth);
                var.last = Some((stmt, true));
            }
            Place::Nowhere | Place::Outside => var.strays = true,
        }
    }

    fn assign(&mut self, local: Local) {
        let here = self.around.len().saturating_sub(1);
        let Some(var) = self.vars.get_mut(local.0 as usize) else { return };
        match var.place {
            Place::Nowhere => var.place = Place::Inside(here),
            Place::Inside(depth) | Place::After(_, depth) => {
                var.place = Place::Inside(depth);
                var.last = self.around.get(depth).map(|stmt| (*stmt, false));
            }
            Place::Outside => var.strays = true,
        }
    }

    /// Goes through statements; what they assign is added to `open`.
    fn stmts(&mut self, stmts: &[Stmt], open: &mut Vec<Local>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                self.around.push(stmt);
                self.stmt(stmt, open);
                self.around.pop();
            }
        });
    }

    fn stmt(&mut self, stmt: &Stmt, open: &mut Vec<Local>) {
        let mut inside = Vec::new();
        if let Stmt::While { head, cond: _, body } = stmt {
            self.stmts(head, &mut inside);
            self.operands(stmt);
            self.stmts(body, &mut inside);
            self.close(&inside, None);
            return;
        }
        self.operands(stmt);
        let is_loop = matches!(stmt, Stmt::For { .. });
        if is_loop {
            // The index is nothing after the loop.
            self.around.push(stmt);
            inside = writes(stmt);
            inside.iter().for_each(|local| self.assign(*local));
            self.around.pop();
        } else {
            let written = writes(stmt);
            written.iter().for_each(|local| self.assign(*local));
            open.extend(written);
        }
        for part in parts(stmt) {
            self.stmts(part, &mut inside);
            self.close(&inside, (!is_loop).then_some(stmt));
            open.extend(inside.drain(..).filter(|_| !is_loop));
        }
    }

    fn operands(&mut self, stmt: &Stmt) {
        for operand in operands(stmt) {
            if let Operand::Local(local) = operand {
                self.read(local);
            }
        }
    }

    /// A scope ends: that of a branch of a statement, or of what is done again and again.
    fn close(&mut self, locals: &[Local], branch: Option<&Stmt>) {
        let depth = self.around.len();
        for local in locals {
            let Some(var) = self.vars.get_mut(local.0 as usize) else { continue };
            if let Place::Inside(of) | Place::After(_, of) = var.place
                && of >= depth
            {
                let outer = |stmt| Place::After(std::ptr::from_ref(stmt), depth.saturating_sub(1));
                var.place = branch.map_or(Place::Outside, outer);
            }
        }
    }
}
