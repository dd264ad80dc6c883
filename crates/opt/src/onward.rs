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
//!
//! So does one that keeps what only the loop backward asks for, if it fails before that could ([`together`]).

mod together;

use crate::facts::{Quiet, total};
use crate::sizes::{boxes, in_range_there};
use crate::stands::stands_alone;
use crate::walk::{Names, count_uses, row_of};
use rustc_hash::FxHashMap;
use wengert_ir::op::{Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// How many statements after a loop that looks whether elements are there are looked at.
const NEAR: usize = 24;

/// See the module. Whether a loop has become part of another one.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut joined = false;
    for (_, func) in program.funcs.iter_mut() {
        let loops = |stmt: &Stmt| matches!(stmt.op, Op::Loop(_));
        if func.body.all_stmts(&mut |stmt| !loops(stmt)) {
            continue;
        }
        let there = in_range_there(func, &boxes);
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        joined |= in_block(func, &mut body, &uses, Quiet { total: &total, inside: &there });
        func.body = body;
    }
    joined
}

fn in_block(func: &mut Func, place: &mut Block, uses: &FxHashMap<Var, usize>, quiet: Quiet<'_>) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let (mut turned, mut joined) = (false, together::run(func, place, uses, quiet));
        // What one loop made for another is used as often as the other used it.
        let more = joined.then(|| count_uses(place));
        let uses = more.as_ref().unwrap_or(uses);
        for stmt in &mut place.stmts {
            if let Op::Loop(parts) = &mut stmt.op
                && parts.backward
                && parts.mode == Mode::Each
                && quiet.block(&parts.body)
            {
                parts.backward = false;
                turned = true;
            }
            for inner in stmt.op.blocks_mut() {
                joined |= in_block(func, inner, uses, quiet);
            }
        }
        turned && join(place, quiet) || joined
    })
}

/// Makes loops that only look whether elements are there part of what comes later. Whether there are any.
fn join(place: &mut Block, quiet: Quiet<'_>) -> bool {
    let (mut at, mut joined) = (0, false);
    while at < place.stmts.len() {
        match user(&place.stmts, at, quiet) {
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
fn user(stmts: &[Stmt], at: usize, quiet: Quiet<'_>) -> Option<usize> {
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
            && quiet.block(&parts.body)
        {
            return Some(place);
        }
        // What is looked for there may be what this one relies on.
        if !quiet.stmt(stmt) || !stands_alone(stmt) {
            return None;
        }
    }
    None
}

/// Each iteration of the second loop begins with that of the first.
fn put_before(first: Stmt, second: &mut Stmt) {
    let (Op::Loop(looks), Op::Loop(parts)) = (first.op, &mut second.op) else { return };
    let Block { params, stmts, .. } = looks.body;
    let mut names = Names::default();
    if let (Some(old), Some(new)) = (params.first(), parts.body.params.first()) {
        names.set(*old, Atom::Var(*new));
    }
    for (param, input) in params.iter().skip(1).zip(looks.inputs) {
        names.set(*param, Atom::Var(row_of(parts, input, *param)));
    }
    let mut moved = Block { stmts, ..Block::default() };
    names.replace_inside(&mut moved);
    moved.stmts.append(&mut parts.body.stmts);
    parts.body.stmts = moved.stmts;
}
