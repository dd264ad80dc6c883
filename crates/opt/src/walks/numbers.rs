//! Loops that go from one number to another are counted.
//!
//! ```text
//! m, ys = while n = 5 { n != 0 } do n { y = f(n)  t = n - 1  yield t, y }        ys = each i < 5 { n = 5 - i  y = f(n)  yield y }
//! ```
//!
//! So a recursion over a known number is a loop of so many iterations, and its derivative keeps no units to count.

use wengert_base::Span;
use wengert_ir::op::{Compare, IntOp, Loop, Mode, Op, While};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// So many iterations at most: room for what they give is made at once.
const MOST: i64 = 0xFFFF;

/// A loop that counts in one of the values that it carries.
pub(super) struct Count {
    carried: usize,
    start: i64,
    step: i64,
    times: i64,
}

/// How often a loop goes on, if a number that it carries tells that beforehand.
pub(super) fn count(parts: &While) -> Option<Count> {
    let [Stmt { op: Op::Compare(op, x, y), outs, .. }] = parts.cond.stmts.as_slice() else { return None };
    if parts.cond.results.iter().ne(outs.iter().copied().map(Atom::Var).collect::<Vec<_>>().iter()) {
        return None;
    }
    let (op, asked, limit) = match (x, y) {
        (Atom::Var(var), Atom::Int(limit)) => (*op, *var, *limit),
        (Atom::Int(limit), Atom::Var(var)) => (op.turned(), *var, *limit),
        _ => return None,
    };
    let carried = parts.cond.params.iter().position(|param| *param == asked)?;
    let Atom::Int(start) = *parts.init.get(carried)? else { return None };
    let step = step(&parts.body, carried)?;
    let times = times(op, start, step, limit).filter(|times| (0..=MOST).contains(times))?;
    start.checked_add(step.checked_mul(times)?)?;
    Some(Count { carried, start, step, times })
}

/// What an iteration adds to a number that it carries.
fn step(body: &Block, carried: usize) -> Option<i64> {
    let param = *body.params.get(carried)?;
    let next = body.results.get(carried)?.var()?;
    let stmt = body.stmts.iter().find(|stmt| stmt.outs == [next])?;
    let Op::Int(op, args) = &stmt.op else { return None };
    match (op, args.as_slice()) {
        (IntOp::Add, [Atom::Var(var), Atom::Int(step)] | [Atom::Int(step), Atom::Var(var)])
            if *var == param =>
        {
            Some(*step)
        }
        (IntOp::Sub, [Atom::Var(var), Atom::Int(step)]) if *var == param => step.checked_neg(),
        _ => None,
    }
}

/// How often a comparison with a limit holds of a number to which a step is added each time.
fn times(op: Compare, start: i64, step: i64, limit: i64) -> Option<i64> {
    // How far it is, in the direction in which the number goes.
    let far = limit.checked_sub(start)?.checked_mul(step.signum())?;
    let size = step.checked_abs().filter(|size| *size > 0)?;
    let up = |far: i64| if far > 0 { (far - 1) / size + 1 } else { 0 };
    match (op, step > 0) {
        (Compare::Ne, _) => (far >= 0 && far % size == 0).then(|| far / size),
        (Compare::Eq, _) => Some(i64::from(far == 0)),
        (Compare::Lt, true) | (Compare::Gt, false) => Some(up(far)),
        (Compare::Le, true) | (Compare::Ge, false) => Some(up(far.checked_add(1)?)),
        // Away from the limit: at once, or without end.
        (Compare::Lt, false) | (Compare::Gt, true) => (far >= 0).then_some(0),
        (Compare::Le, false) | (Compare::Ge, true) => (far > 0).then_some(0),
    }
}

/// Puts the counted loop to the others.
pub(super) fn counted(func: &mut Func, out: &mut Vec<Stmt>, stmt: Stmt, count: &Count) {
    let Stmt { mut outs, op: Op::While(parts), span } = stmt else { return };
    let While { mut init, cond: _, body } = *parts;
    let Block { mut params, mut stmts, mut results } = body;
    let Count { carried, start, step, times } = *count;
    let index = func.fresh("i".into(), Ty::INT);
    let number = params.remove(carried);
    stmts.splice(0..0, numbers(func, (number, index), (start, step), span));
    params.insert(0, index);
    results.remove(carried);
    init.remove(carried);
    let end = Atom::Int(start + step * times);
    out.push(Stmt { outs: vec![outs.remove(carried)], op: Op::Copy(end), span });
    let parts = Loop {
        mode: if init.is_empty() { Mode::Each } else { Mode::Sequence },
        backward: false,
        len: Atom::Int(times),
        inputs: Vec::new(),
        init,
        accs: Vec::new(),
        body: Block { params, stmts, results },
    };
    out.push(Stmt { outs, op: Op::Loop(Box::new(parts)), span });
}

/// The number that belongs to an index.
fn numbers(func: &mut Func, (number, index): (Var, Var), (start, step): (i64, i64), span: Span) -> Vec<Stmt> {
    let (start, index) = (Atom::Int(start), Atom::Var(index));
    let op = match step {
        1 => Op::Int(IntOp::Add, vec![start, index]),
        -1 => Op::Int(IntOp::Sub, vec![start, index]),
        _ => {
            let way = func.fresh("t".into(), Ty::INT);
            let product =
                Stmt { outs: vec![way], op: Op::Int(IntOp::Mul, vec![index, Atom::Int(step)]), span };
            let sum = Op::Int(IntOp::Add, vec![start, Atom::Var(way)]);
            return vec![product, Stmt { outs: vec![number], op: sum, span }];
        }
    };
    vec![Stmt { outs: vec![number], op, span }]
}
