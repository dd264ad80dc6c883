//! A short loop whose number of iterations is known becomes its iterations, one after the other.
//!
//! ```text
//! s = for i < 2, s = 0.0, x in xs { y = f(i, x)  t = s + y  yield t }
//!                      becomes   x = xs[0]  y = f(0, x)  t = 0.0 + y   x2 = xs[1]  y2 = f(1, x2)  t2 = t + y2
//! ```
//!
//! This is for code that is about to be simplified: where an index is known, so is much of what depends on it.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no loop that ends")]

use rustc_hash::FxHashSet;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// So many iterations at most, and so many statements in all of them together.
const ITERATIONS: i64 = 4;
const STATEMENTS: usize = 96;

/// Unrolls loops through a short list of numbers that say what is to be done: of an array of functions each is called by its name.
pub(crate) fn choices(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut lists = FxHashSet::default();
        func.body.for_each_stmt(&mut |stmt| {
            if matches!(&stmt.op, Op::Array(ArrayOp::Literal, args) if args.iter().all(|arg| matches!(arg, Atom::Int(_))))
            {
                lists.extend(&stmt.outs);
            }
        });
        if !lists.is_empty() {
            let mut body = std::mem::take(&mut func.body);
            through_lists(func, &mut body, &lists);
            func.body = body;
        }
    }
}

fn through_lists(func: &mut Func, block: &mut Block, lists: &FxHashSet<Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| through_lists(func, inner, lists));
            match &stmt.op {
                Op::Loop(parts) if is_short(func, parts) && chooses(parts, lists) => {
                    iterations(func, parts, &stmt, &mut out);
                }
                _ => out.push(stmt),
            }
        }
        block.stmts = out;
    });
}

/// Whether what is done in an iteration depends on an element of such a list.
fn chooses(parts: &Loop, lists: &FxHashSet<Var>) -> bool {
    let rows = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
    let known =
        rows.zip(&parts.inputs).filter(|(_, input)| input.var().is_some_and(|var| lists.contains(&var)));
    let known: FxHashSet<Var> = known.map(|(row, _)| *row).collect();
    let compares = |stmt: &Stmt| match &stmt.op {
        Op::Compare(_, Atom::Var(x), Atom::Int(_)) => known.contains(x),
        _ => false,
    };
    !parts.body.all_stmts(&mut |stmt| !compares(stmt))
}

/// Unrolls the loops of a block, not those inside of them. Whether there were any.
pub(crate) fn block(func: &mut Func, block: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &stmt.op {
                Op::Loop(parts) if is_short(func, parts) => {
                    iterations(func, parts, &stmt, &mut out);
                    changed = true;
                    continue;
                }
                _ => {}
            }
            for inner in stmt.op.blocks_mut() {
                changed |= self::block(func, inner);
            }
            out.push(stmt);
        }
        block.stmts = out;
        changed
    })
}

/// Rows of what the loop gives must be numbers, or of one size whatever the index: rows of different sizes fail otherwise than
/// those of a literal.
pub(crate) fn is_short(func: &Func, parts: &Loop) -> bool {
    is_of_most(func, parts, (ITERATIONS, STATEMENTS))
}

/// The same with so many iterations at most.
pub(crate) fn is_of_most(func: &Func, parts: &Loop, (iterations, statements): (i64, usize)) -> bool {
    let Atom::Int(len) = parts.len else { return false };
    if !(1..=iterations).contains(&len) {
        return false;
    }
    let rows = parts.body.results.iter().skip(parts.init.len() + parts.accs.len());
    let size = usize::try_from(len).ok().and_then(|len| parts.body.size().checked_mul(len));
    parts.mode != Mode::Reduce
        && size.is_some_and(|size| size <= statements)
        && rows.into_iter().all(|row| func.type_of(row).rank() == 0 || is_of_one_size(func, &parts.body, row))
}

/// Whether an array has the shape of zeros that look like something outside of the body, or is a list of numbers.
fn is_of_one_size(func: &Func, body: &Block, row: &Atom) -> bool {
    let Some(var) = row.var() else { return false };
    let made = body.stmts.iter().find(|stmt| stmt.outs.contains(&var)).map(|stmt| &stmt.op);
    let Some(Op::Array(op, args)) = made else { return false };
    let Some(first) = args.first() else { return false };
    match op {
        ArrayOp::Zeros => {
            let inside = |like: Var| {
                body.params.contains(&like) || body.stmts.iter().any(|stmt| stmt.outs.contains(&like))
            };
            first.var().is_some_and(|like| !inside(like))
        }
        ArrayOp::Literal => func.type_of(first).rank() == 0,
        ArrayOp::Set | ArrayOp::AddAt => {
            let is_number = |atom: &Atom| func.type_of(atom).rank() == 0;
            args.last().is_some_and(is_number) && first != row && is_of_one_size(func, body, first)
        }
        _ => false,
    }
}

/// Its iterations.
pub(crate) fn iterations(func: &mut Func, parts: &Loop, stmt: &Stmt, out: &mut Vec<Stmt>) {
    let Atom::Int(len) = parts.len else { return };
    let mut carried: Vec<Atom> = parts.init.iter().chain(&parts.accs).cloned().collect();
    let mut rows: Vec<Vec<Atom>> = Vec::new();
    let forward = 0..len;
    let order: Vec<i64> = if parts.backward { forward.rev().collect() } else { forward.collect() };
    for index in order {
        let mut copier = Copier::within();
        let (first, read) = parts.body.params.split_at(1 + carried.len());
        for (param, atom) in first.iter().zip([Atom::Int(index)].iter().chain(&carried)) {
            copier.set(*param, atom.clone());
        }
        for (param, input) in read.iter().zip(&parts.inputs) {
            let row = copier.bind(func, *param);
            let op = Op::Array(ArrayOp::Index, vec![input.clone(), Atom::Int(index)]);
            out.push(Stmt { outs: vec![row], op, span: stmt.span });
        }
        for inner in &parts.body.stmts {
            out.push(copier.stmt(func, inner));
        }
        let mut results = parts.body.results.iter().map(|atom| copier.atom(atom));
        carried = results.by_ref().take(carried.len()).collect();
        rows.push(results.collect());
    }
    if parts.backward {
        rows.reverse();
    }
    let (last, outputs) = stmt.outs.split_at(carried.len());
    for (var, atom) in last.iter().zip(carried) {
        out.push(Stmt { outs: vec![*var], op: Op::Copy(atom), span: stmt.span });
    }
    for (place, var) in outputs.iter().enumerate() {
        let items = rows.iter().filter_map(|row| row.get(place).cloned()).collect();
        out.push(Stmt { outs: vec![*var], op: Op::Array(ArrayOp::Literal, items), span: stmt.span });
    }
}
