//! What an iteration adds to a sum in several steps is added up first, and added once. So a compiler sees a sum, and the next iteration
//! waits for one addition.
//!
//! ```text
//! s = for i < n, s = 0.0, … { a = s + x  b = a - y  yield b }      becomes      { t = x - y  b = s + t  yield b }
//! ```
//!
//! Numbers are added up in another order: it is for where they need not be to the last bit what they are elsewhere.

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::op::{Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        changed |= block(func, &uses, &mut body);
        func.body = body;
    }
    changed
}

fn block(func: &mut Func, uses: &FxHashMap<Var, usize>, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                changed |= block(func, uses, inner);
            }
            let Op::Loop(parts) = &mut stmt.op else { continue };
            if parts.mode == Mode::Reduce {
                continue;
            }
            for at in 0..parts.init.len() + parts.accs.len() {
                changed |= at_once(func, uses, &mut parts.body, at);
            }
        }
        changed
    })
}

/// Adds up what a body adds to the number that it hands on at a place.
fn at_once(func: &mut Func, uses: &FxHashMap<Var, usize>, body: &mut Block, at: usize) -> bool {
    let Some(sum) = body.params.get(1 + at).copied().filter(|sum| func.ty(*sum) == Ty::REAL) else {
        return false;
    };
    let Some(end) = body.results.get(at).and_then(Atom::var) else { return false };
    // The steps, and where they stand.
    let (mut steps, mut current): (Vec<(usize, bool, Atom)>, Var) = (Vec::new(), sum);
    for (place, stmt) in body.stmts.iter().enumerate() {
        if let Some((next, less, term)) = step(stmt, current)
            && uses.get(&current) == Some(&1)
        {
            steps.push((place, less, term));
            current = next;
        }
    }
    if current != end || steps.len() < 2 || uses.get(&end) != Some(&1) {
        return false;
    }
    let Some((last, ..)) = steps.last().cloned() else { return false };
    let span = body.stmts.get(last).map_or(wengert_base::Span::NOWHERE, |stmt| stmt.span);
    // What is added comes before what is taken away.
    let takes = steps.iter().all(|(_, less, _)| *less);
    let mut order: Vec<&(usize, bool, Atom)> = steps.iter().filter(|(_, less, _)| takes || !less).collect();
    order.extend(steps.iter().filter(|(_, less, _)| !takes && *less));
    let mut more: Option<Atom> = None;
    let mut made = Vec::new();
    for (_, less, term) in order {
        let Some(before) = more.take() else {
            more = Some(term.clone());
            continue;
        };
        let both = func.fresh(Name::new("sum"), Ty::REAL);
        let op = if *less && !takes { RealOp::Sub } else { RealOp::Add };
        made.push(Stmt { outs: vec![both], op: Op::Real(op, vec![before, term.clone()]), span });
        more = Some(Atom::Var(both));
    }
    let op = if takes { RealOp::Sub } else { RealOp::Add };
    let args = [Some(Atom::Var(sum)), more].into_iter().flatten().collect();
    made.push(Stmt { outs: vec![end], op: Op::Real(op, args), span });
    let mut stmts = Vec::with_capacity(body.stmts.len());
    for (place, stmt) in std::mem::take(&mut body.stmts).into_iter().enumerate() {
        if place == last {
            stmts.append(&mut made);
        } else if steps.iter().all(|(step, ..)| *step != place) {
            stmts.push(stmt);
        }
    }
    body.stmts = stmts;
    true
}

/// What a statement makes of a sum, if it adds to it something else, or takes that away.
pub(crate) fn step(stmt: &Stmt, sum: Var) -> Option<(Var, bool, Atom)> {
    let (Op::Real(op @ (RealOp::Add | RealOp::Sub), args), [next]) = (&stmt.op, stmt.outs.as_slice()) else {
        return None;
    };
    let (sum, less) = (Atom::Var(sum), *op == RealOp::Sub);
    match args.as_slice() {
        [a, b] if *a == sum && *b != sum => Some((*next, less, b.clone())),
        [a, b] if !less && *b == sum && *a != sum => Some((*next, less, a.clone())),
        _ => None,
    }
}
