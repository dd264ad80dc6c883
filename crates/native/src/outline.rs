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

use crate::loops::walk::{every, map_parts, parts, reads, renamed, writes};
use crate::loops::{Func, Local, Operand, Program, Stmt, Sum};
use rustc_hash::{FxHashMap, FxHashSet};
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
        let body = std::mem::take(&mut func.body);
        let uses = Counts::of(func, &body);
        let mut cut = Cut { func, uses, whole, first, pieces };
        let body = cut.stmts(body);
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

/// How often variables are read and assigned.
#[derive(Default)]
struct Counts {
    reads: FxHashMap<Local, usize>,
    sets: FxHashMap<Local, usize>,
}

impl Counts {
    fn of(func: &Func, body: &[Stmt]) -> Counts {
        let mut counts = Counts::in_stmts(body);
        func.results.iter().for_each(|result| *counts.reads.entry(*result).or_default() += 1);
        func.params.iter().for_each(|param| *counts.sets.entry(*param).or_default() += 1);
        counts
    }

    fn in_stmts(stmts: &[Stmt]) -> Counts {
        let mut counts = Counts::default();
        every(stmts, &mut |stmt| counts.add(stmt));
        counts
    }

    fn add(&mut self, stmt: &Stmt) {
        reads(stmt).chain(read_by_sums(stmt)).for_each(|local| *self.reads.entry(local).or_default() += 1);
        writes(stmt).into_iter().for_each(|local| *self.sets.entry(local).or_default() += 1);
    }

    #[expect(clippy::iter_over_hash_type, reason = "each variable is counted for itself")]
    fn subtract(&mut self, less: &Counts) {
        for (all, less) in [(&mut self.reads, &less.reads), (&mut self.sets, &less.sets)] {
            for (local, count) in less {
                if let Some(all) = all.get_mut(local) {
                    *all = all.saturating_sub(*count);
                }
            }
        }
    }
}

/// What a loop says of what its iterations add to.
fn read_by_sums(stmt: &Stmt) -> Vec<Local> {
    let Stmt::For { sums, .. } = stmt else { return Vec::new() };
    let of = |sum: &Sum| match sum {
        Sum::Word(local, _) | Sum::Near(local) => vec![*local],
        Sum::Array { object, first, size } => {
            object.iter().copied().chain([*first]).chain(size.local()).collect()
        }
    };
    sums.iter().flat_map(of).collect()
}

/// A function that is cut.
struct Cut<'f> {
    func: &'f mut Func,
    /// Of what is left of it.
    uses: Counts,
    /// What it weighed.
    whole: usize,
    /// The number of the first piece.
    first: usize,
    pieces: Vec<Func>,
}

impl Cut<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            stmts.into_iter().map(|stmt| self.stmt(stmt)).collect()
        })
    }

    fn stmt(&mut self, stmt: Stmt) -> Stmt {
        let is_loop = match &stmt {
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
            return if parts(&stmt).is_empty() {
                stmt
            } else {
                map_parts(stmt, &mut |inner| self.stmts(inner))
            };
        }
        let own = weight(std::slice::from_ref(&stmt));
        if own < LIGHT {
            return stmt;
        }
        let stmt = if own > HEAVY { map_parts(stmt, &mut |inner| self.stmts(inner)) } else { stmt };
        // What is nearly all of the function is that function.
        if 2 * own > self.whole { stmt } else { self.piece(stmt) }
    }

    /// The call of a piece that is this loop; the loop, if it has to do with too many variables.
    fn piece(&mut self, stmt: Stmt) -> Stmt {
        let inside = Counts::in_stmts(std::slice::from_ref(&stmt));
        let outside = |all: &FxHashMap<Local, usize>, here: &FxHashMap<Local, usize>, local: &Local| {
            all.get(local).copied().unwrap_or(0) > here.get(local).copied().unwrap_or(0)
        };
        let set_outside = |local: &Local| outside(&self.uses.sets, &inside.sets, local);
        let mut outs: Vec<Local> = inside.sets.keys().copied().collect();
        outs.retain(|local| outside(&self.uses.reads, &inside.reads, local));
        // If the loop has no iteration, what was there before is there after it.
        let given: FxHashSet<Local> = inside.reads.keys().chain(&outs).copied().collect();
        let mut given: Vec<Local> = given.into_iter().filter(set_outside).collect();
        if given.len() + outs.len() > MOST {
            return stmt;
        }
        given.sort_unstable();
        outs.sort_unstable();
        let piece = self.func_of(&stmt, &given, &outs);
        let func = FuncId::new(self.first + self.pieces.len());
        self.pieces.push(piece);
        let call = Stmt::Call { func, args: given.into_iter().map(Operand::Local).collect(), outs };
        self.uses.subtract(&inside);
        self.uses.add(&call);
        call
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
