//! Where the order of iterations does not matter, a loop goes onward.
//!
//! ```text
//! each backward i < n, s += 0.0, x in xs { … }          becomes          each i < n, s += 0.0, x in xs { … }
//! ```
//!
//! Derivatives run backward, but sums are the same in any order but for rounding: it is for where numbers need not be to the last bit what they
//! are elsewhere. What may fail keeps its order. A loop before it that only looks whether elements are there becomes part of it then:
//!
//! ```text
//! each i < n, k in ks { x = xs[k] }
//! each backward i < n, s += zeros(xs), k in ks { x = xs[k] … }          becomes          each i < n, s += zeros(xs), k in ks { x = xs[k] … }
//! ```

use crate::facts::{is_safe, is_total_inside, total};
use crate::sizes::{boxes, in_range_there};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Program, Stmt, Var};

/// How many statements after a loop that looks whether elements are there are looked at.
const NEAR: usize = 24;

/// See the module. Whether a loop has become part of another one.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut joined = false;
    for (_, func) in program.funcs.iter_mut() {
        let backward = |stmt: &Stmt| matches!(&stmt.op, Op::Loop(parts) if parts.backward);
        if func.body.all_stmts(&mut |stmt| !backward(stmt)) {
            continue;
        }
        let there = in_range_there(func, &boxes);
        let known = Known { total: &total, there: &there };
        joined |= known.block(&mut func.body);
    }
    joined
}

/// What is known of a function.
#[derive(Clone, Copy)]
struct Known<'a> {
    /// Functions that always return.
    total: &'a FxHashSet<FuncId>,
    /// Reads and updates of elements that are there.
    there: &'a FxHashSet<Var>,
}

impl Known<'_> {
    fn block(self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let (mut turned, mut joined) = (false, false);
            for stmt in &mut place.stmts {
                if let Op::Loop(parts) = &mut stmt.op
                    && parts.backward
                    && parts.mode == Mode::Each
                    && self.is_quiet(&parts.body)
                {
                    parts.backward = false;
                    turned = true;
                }
                for inner in stmt.op.blocks_mut() {
                    joined |= self.block(inner);
                }
            }
            turned && self.join(place) || joined
        })
    }

    /// Whether nothing in a block fails.
    fn is_quiet(self, block: &Block) -> bool {
        is_total_inside(block, self.total, self.there)
    }

    /// Makes loops that only look whether elements are there part of what comes later. Whether there are any.
    fn join(self, place: &mut Block) -> bool {
        let (mut at, mut joined) = (0, false);
        while at < place.stmts.len() {
            match self.user(&place.stmts, at) {
                Some(user) => {
                    let first = place.stmts.remove(at);
                    if let Some(second) = place.stmts.get_mut(user - 1) {
                        put_before(first, second);
                    }
                    joined = true;
                }
                None => at += 1,
            }
        }
        joined
    }

    /// The loop that goes through the same iterations as the one at `at`, which only looks whether elements are there, if nothing else
    /// fails before.
    fn user(self, stmts: &[Stmt], at: usize) -> Option<usize> {
        let first = stmts.get(at).filter(|stmt| stmt.outs.is_empty())?;
        let Op::Loop(looks) = &first.op else { return None };
        if looks.mode != Mode::Each || looks.backward || !looks.accs.is_empty() {
            return None;
        }
        for (place, stmt) in stmts.iter().enumerate().skip(at + 1).take(NEAR) {
            if let Op::Loop(parts) = &stmt.op
                && parts.mode == Mode::Each
                && !parts.backward
                && parts.len == looks.len
                && looks.inputs.iter().all(|input| parts.inputs.contains(input))
                && self.is_quiet(&parts.body)
            {
                return Some(place);
            }
            let is_there = stmt.outs.first().is_some_and(|out| self.there.contains(out));
            let is_quiet = is_safe(&stmt.op, self.total) || is_there;
            if !is_quiet || !stmt.op.blocks().into_iter().all(|inner| self.is_quiet(inner)) {
                return None;
            }
        }
        None
    }
}

/// Each iteration of the second loop begins with that of the first.
fn put_before(first: Stmt, second: &mut Stmt) {
    let (Op::Loop(looks), Op::Loop(parts)) = (first.op, &mut second.op) else { return };
    let Block { params, stmts, .. } = looks.body;
    let rows = 1 + parts.init.len() + parts.accs.len();
    let row_of = |input: &Atom| {
        let place = parts.inputs.iter().position(|other| other == input)?;
        parts.body.params.get(rows + place)
    };
    let of_rows = params.iter().skip(1).zip(&looks.inputs).map(|(param, input)| (param, row_of(input)));
    let index = params.first().map(|param| (param, parts.body.params.first()));
    let known: FxHashMap<Var, Var> =
        index.into_iter().chain(of_rows).filter_map(|(old, new)| Some((*old, *new?))).collect();
    let mut moved = Block { stmts, ..Block::default() };
    moved.for_each_atom_mut(&mut |atom| {
        if let Some(new) = atom.var().and_then(|var| known.get(&var)) {
            *atom = Atom::Var(*new);
        }
    });
    moved.stmts.append(&mut parts.body.stmts);
    parts.body.stmts = moved.stmts;
}
