//! Large functions in pieces: the loops of a function that is very large become functions of their own.
//!
//! ```text
//! func f(…) { … for i in 0..n { y[i] = sin(x[i]) } … }        func f(…) { … f_loop(n, x, y) … }
//!                                                             func f_loop(n, x, y) { for i in 0..n { y[i] = sin(x[i]) } }
//! ```
//!
//! To find registers for the variables of a function takes time that grows faster than the function, and a program is often one
//! function: what is called once is put where it is called. Pieces are bounded, so that the time grows as the program. A piece
//! is given what its loop reads and gives what is read after it; it runs as its loop did.

use crate::live::{self, Around};
use crate::loops::walk::{every, parts_mut, renamed, writes};
use crate::loops::{Func, Local, Operand, Program, Stmt};
use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Id, Table};

/// Functions and loops that weigh more are cut.
const HEAVY: usize = 6_000;
/// What a loop weighs besides its statements: it is compiled for vectors and for what they leave.
const LOOP: usize = 24;
/// Loops that weigh less stay where they are.
const LIGHT: usize = LOOP + 4;
/// So many iterations are no loop worth a call.
const FEW: i64 = 16;
/// So many variables are passed at most.
const MOST: usize = 64;

/// Cuts the large functions of a program.
pub(crate) fn outline(program: &mut Program) {
    let first = program.funcs.len();
    let mut pieces = Vec::new();
    for (_, func) in program.funcs.iter_mut() {
        // A recursive function looks at the stack for itself and those that it calls: they must be small.
        let whole = weight(&func.body);
        if whole <= HEAVY || func.recursive.is_some() {
            continue;
        }
        let around = live::around_loops(func);
        let mut body = std::mem::take(&mut func.body);
        let sets = sets(func, &body);
        let mut cut = Cut { func, around, sets, whole, first, pieces };
        cut.stmts(&mut body);
        pieces = cut.pieces;
        func.body = body;
    }
    for piece in pieces {
        program.funcs.push(piece);
    }
}

/// How much it is to compile statements.
fn weight(stmts: &[Stmt]) -> usize {
    let mut weight = 0;
    every(stmts, &mut |stmt| {
        weight += 1;
        if matches!(stmt, Stmt::For { .. } | Stmt::While { .. }) {
            weight += LOOP;
        }
    });
    weight
}

/// How often variables are assigned in statements.
fn sets_in(stmts: &[Stmt]) -> FxHashMap<Local, usize> {
    let mut sets = FxHashMap::default();
    every(stmts, &mut |stmt| {
        writes(stmt).into_iter().for_each(|local| *sets.entry(local).or_default() += 1);
    });
    sets
}

/// The same in a function.
fn sets(func: &Func, body: &[Stmt]) -> FxHashMap<Local, usize> {
    let mut sets = sets_in(body);
    func.params.iter().for_each(|param| *sets.entry(*param).or_default() += 1);
    sets
}

/// A function that is cut.
struct Cut<'f> {
    func: &'f mut Func,
    /// What its loops have to do with what is around them, by their addresses.
    around: FxHashMap<*const Stmt, Around>,
    /// How often variables are assigned in what is left of it.
    sets: FxHashMap<Local, usize>,
    /// What it weighed.
    whole: usize,
    /// The number of the first piece.
    first: usize,
    pieces: Vec<Func>,
}

impl Cut<'_> {
    fn stmts(&mut self, stmts: &mut [Stmt]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
        });
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        let is_loop = match stmt {
            Stmt::For { len: Operand::Int(len), .. } => *len > FEW,
            Stmt::For { .. } | Stmt::While { .. } => true,
            Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => false,
        };
        if !is_loop {
            parts_mut(stmt).into_iter().for_each(|inner| self.stmts(inner));
            return;
        }
        let own = weight(std::slice::from_ref(stmt));
        if own < LIGHT {
            return;
        }
        if own > HEAVY {
            parts_mut(stmt).into_iter().for_each(|inner| self.stmts(inner));
        }
        // What is nearly all of the function is that function.
        if 2 * own <= self.whole {
            self.piece(stmt);
        }
    }

    /// Makes a loop the call of a piece, unless it has to do with too many variables.
    fn piece(&mut self, stmt: &mut Stmt) {
        let Some(Around { needs, gives: outs }) = self.around.remove(&std::ptr::from_ref(&*stmt)) else {
            return;
        };
        let inside = sets_in(std::slice::from_ref(stmt));
        let set_outside = |local: &Local| self.sets.get(local) > inside.get(local);
        // If the loop has no iteration, what was there before is there after it.
        let mut given: Vec<Local> = needs.into_iter().chain(outs.iter().copied()).collect();
        given.sort_unstable();
        given.dedup();
        given.retain(set_outside);
        if given.len() + outs.len() > MOST {
            return;
        }
        let piece = self.func_of(stmt, &given, &outs);
        let func = FuncId::new(self.first + self.pieces.len());
        self.pieces.push(piece);
        *stmt = Stmt::Call { func, args: given.into_iter().map(Operand::Local).collect(), outs };
        self.replaced(&inside, stmt);
    }

    /// Counts what a call assigns, instead of what the loop did that it stands for.
    #[expect(clippy::iter_over_hash_type, reason = "each variable is counted for itself")]
    fn replaced(&mut self, inside: &FxHashMap<Local, usize>, call: &Stmt) {
        for (local, count) in inside {
            if let Some(all) = self.sets.get_mut(local) {
                *all = all.saturating_sub(*count);
            }
        }
        writes(call).into_iter().for_each(|local| *self.sets.entry(local).or_default() += 1);
    }

    fn func_of(&self, stmt: &Stmt, given: &[Local], outs: &[Local]) -> Func {
        let mut piece = Func {
            name: Name::new(&format!("{}_loop", self.func.name)),
            params: Vec::new(),
            results: Vec::new(),
            locals: Table::default(),
            body: Vec::new(),
            recursive: None,
            pauses: false,
            passing: Vec::new(),
            borrowed: Vec::new(),
            span: self.func.span,
            origins: FxHashMap::default(),
            part: None,
            shared: self.func.shared,
        };
        let mut names: FxHashMap<Local, Local> = FxHashMap::default();
        let mut name = |local: Local| {
            *names.entry(local).or_insert_with(|| piece.locals.push(*self.func.locals.at(local)))
        };
        let params = given.iter().map(|local| name(*local)).collect();
        let results = outs.iter().map(|local| name(*local)).collect();
        let body = renamed(std::slice::from_ref(stmt), &mut name);
        Func { params, results, body, ..piece }
    }
}

#[cfg(test)]
mod tests;
