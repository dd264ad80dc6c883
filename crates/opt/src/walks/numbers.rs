//! Loops that go from one number to another are counted.
//!
//! ```text
//! m, ys = while n = 5 { n != 0 } do n { y = f(n)  t = n - 1  yield t, y }        ys = each i < 5 { n = 5 - i  y = f(n)  yield y }
//! ```
//!
//! So a recursion over a known number is a loop of so many iterations, and its derivative keeps no units to count. It is the same where
//! one number or the other is known only when the program runs, if then it is sure that the loop ends and how often it goes on:
//!
//! ```text
//! i, s = while i = 0, s = 0.0 { i < n } do i, s { … t = i + 1  yield t, … }        m = max(n, 0)  s = for i < m, s = 0.0 { … }
//! ```
//!
//! Where it may begin anywhere, as in the rows of a sparse matrix, it may be past the end in the beginning, and never come there. If it reads an array at
//! the number, it fails where there is no such element: then it is counted as often as there are elements, and once more.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not counted")]

use super::Natural;
use wengert_base::Span;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Mode, Op, While};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// So many iterations at most: room for what they give is made at once.
const MOST: i64 = 0xFFFF;

/// A loop that counts in one of the values that it carries.
pub(super) struct Count {
    carried: usize,
    start: Atom,
    step: i64,
    times: Times,
}

/// How often.
enum Times {
    Known(i64),
    /// As much as one number is more than another, if it is more. The difference is no larger than an integer can be.
    More {
        than: Atom,
        is: Atom,
        /// Whether one more time.
        and_once: bool,
    },
    /// As much as one number is more than another, but no more often than an array that is read there has elements from there on, and once.
    /// Where the one is less, this is how often if it goes on until they are equal, and else not at all.
    Within {
        than: Atom,
        is: Atom,
        array: Atom,
        equal: bool,
    },
}

impl Times {
    /// That number, after the statements that it takes.
    fn len(&self, func: &mut Func, out: &mut Vec<Stmt>, span: Span) -> Atom {
        let mut bind = |ty: Ty, op: Op| {
            let var = func.fresh("n".into(), ty);
            out.push(Stmt { outs: vec![var], op, span });
            Atom::Var(var)
        };
        let int = |op: IntOp, a: &Atom, b: &Atom| Op::Int(op, vec![a.clone(), b.clone()]);
        match self {
            Times::Known(times) => Atom::Int(*times),
            Times::More { than, is, and_once } => {
                let is =
                    if *and_once { bind(Ty::INT, int(IntOp::Add, is, &Atom::Int(1))) } else { is.clone() };
                let larger = bind(Ty::INT, int(IntOp::Max, &is, than));
                bind(Ty::INT, int(IntOp::Sub, &larger, than))
            }
            Times::Within { than, is, array, equal } => {
                let larger = if *equal { is.clone() } else { bind(Ty::INT, int(IntOp::Max, is, than)) };
                let more = bind(Ty::INT, int(IntOp::Sub, &larger, than));
                let size = bind(Ty::INT, Op::Array(ArrayOp::Length(0), vec![array.clone()]));
                let from = bind(Ty::INT, int(IntOp::Max, than, &Atom::Int(0)));
                let size = bind(Ty::INT, int(IntOp::Max, &size, &from));
                let left = bind(Ty::INT, int(IntOp::Sub, &size, &from));
                let most = bind(Ty::INT, int(IntOp::Add, &left, &Atom::Int(1)));
                let least = bind(Ty::INT, int(IntOp::Min, &more, &most));
                // It is so much more that an integer does not say it, or less, and equal only after all integers.
                let never = bind(Ty::BOOL, Op::Compare(Compare::Lt, more, Atom::Int(0)));
                bind(Ty::INT, Op::Select { cond: never, then: most, otherwise: least })
            }
        }
    }
}

/// How often a loop goes on, if a number that it carries tells that beforehand.
pub(super) fn count(parts: &While, natural: &Natural) -> Option<Count> {
    let (op, x, y) = condition(&parts.cond)?;
    let is_carried = |atom: &Atom| parts.cond.params.iter().position(|param| *atom == Atom::Var(*param));
    let (op, carried, limit) = match (is_carried(x), is_carried(y)) {
        (Some(carried), None) => (op, carried, y),
        (None, Some(carried)) => (op.turned(), carried, x),
        (_, _) => return None,
    };
    let (start, step) = (parts.init.get(carried)?.clone(), step(&parts.body, carried)?);
    let times = match (&start, limit) {
        (Atom::Int(start), Atom::Int(limit)) => {
            let times = times(op, *start, step, *limit).filter(|times| (0..=MOST).contains(times))?;
            start.checked_add(step.checked_mul(times)?)?;
            Times::Known(times)
        }
        // Room for what such a loop gives of each iteration would be made at once, and nobody knows how much.
        (start, limit) if parts.body.results.len() == parts.init.len() => {
            until(op, start, step, limit, natural)
                .or_else(|| within(op, (start, step, limit), &parts.body, carried))?
        }
        (_, _) => return None,
    };
    Some(Count { carried, start, step, times })
}

/// What a condition compares.
fn condition(cond: &Block) -> Option<(Compare, &Atom, &Atom)> {
    let (compare, not) = match cond.stmts.as_slice() {
        [compare] => (compare, None),
        [compare, not] => (compare, Some(not)),
        _ => return None,
    };
    let (Op::Compare(op, x, y), [holds]) = (&compare.op, compare.outs.as_slice()) else { return None };
    let (op, out) = match not {
        None => (*op, holds),
        // Integers are compared: of two comparisons one holds.
        Some(Stmt { op: Op::Not(of), outs, .. }) if *of == Atom::Var(*holds) => {
            (op.opposite(), outs.first()?)
        }
        Some(_) => return None,
    };
    (cond.results == [Atom::Var(*out)]).then_some((op, x, y))
}

/// How often, where one number or the other is not known.
fn until(op: Compare, start: &Atom, step: i64, limit: &Atom, natural: &Natural) -> Option<Times> {
    let is_natural = |atom: &Atom| match atom {
        Atom::Int(n) => (0..=MOST).contains(n),
        atom => atom.var().is_some_and(|var| natural.counts.contains(&var)),
    };
    let is_one_less = |atom: &Atom| atom.var().is_some_and(|var| natural.before.contains(&var));
    // From the smaller to the larger.
    let (op, low, high) = match step {
        1 => (op, start, limit),
        -1 => (op.turned(), limit, start),
        _ => return None,
    };
    if !is_natural(low) {
        return None;
    }
    let more = |and_once| Times::More { than: low.clone(), is: high.clone(), and_once };
    match op {
        Compare::Lt => Some(more(false)),
        // It never ends if it is past the end in the beginning.
        Compare::Ne if *low == Atom::Int(0) && is_natural(high) => Some(more(false)),
        // Nor if there is no larger number.
        Compare::Le if is_natural(high) || is_one_less(high) => Some(more(true)),
        Compare::Le => match low {
            Atom::Int(low @ 1..) => {
                Some(Times::More { than: Atom::Int(low - 1), is: high.clone(), and_once: false })
            }
            _ => None,
        },
        _ => None,
    }
}

/// How often, where nothing is known of the numbers, but an array is read at the one that the loop carries.
fn within(
    op: Compare,
    (start, step, limit): (&Atom, i64, &Atom),
    body: &Block,
    carried: usize,
) -> Option<Times> {
    let number = Atom::Var(*body.params.get(carried)?);
    let bound = body.bound_vars();
    let read = |stmt: &Stmt| match &stmt.op {
        Op::Array(ArrayOp::Index, args) => match args.as_slice() {
            [Atom::Var(array), place, ..] if *place == number && !bound.contains(array) => {
                Some(Atom::Var(*array))
            }
            _ => None,
        },
        _ => None,
    };
    if step != 1 || !matches!(op, Compare::Lt | Compare::Ne) {
        return None;
    }
    let array = body.stmts.iter().find_map(read)?;
    Some(Times::Within { than: start.clone(), is: limit.clone(), array, equal: op == Compare::Ne })
}

/// What an iteration adds to a number that it carries.
fn step(body: &Block, carried: usize) -> Option<i64> {
    let param = *body.params.get(carried)?;
    added(body, body.results.get(carried)?, param)
}

/// What a block adds to a number; on both sides of a branch the same.
fn added(block: &Block, next: &Atom, param: Var) -> Option<i64> {
    let next = next.var()?;
    let stmt = block.stmts.iter().find(|stmt| stmt.outs.contains(&next))?;
    if let Op::If { cond: _, then, otherwise } = &stmt.op {
        let place = stmt.outs.iter().position(|out| *out == next)?;
        let side = |side: &Block| {
            let next = side.results.get(place)?;
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || added(side, next, param))
        };
        return side(then).filter(|step| side(otherwise) == Some(*step));
    }
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
    let Count { carried, start, step, times } = count;
    let index = func.fresh("i".into(), Ty::INT);
    let number = params.remove(*carried);
    stmts.splice(0..0, numbers(func, (number, index), (start, *step), span));
    params.insert(0, index);
    results.remove(*carried);
    init.remove(*carried);
    let len = times.len(func, out, span);
    let mut int = |op: IntOp, a: &Atom, b: &Atom| {
        let var = func.fresh("n".into(), Ty::INT);
        out.push(Stmt { outs: vec![var], op: Op::Int(op, vec![a.clone(), b.clone()]), span });
        Atom::Var(var)
    };
    let end = match (&len, start) {
        (Atom::Int(times), Atom::Int(start)) => Atom::Int(start + step * times),
        (len, start) => int(if *step > 0 { IntOp::Add } else { IntOp::Sub }, start, len),
    };
    out.push(Stmt { outs: vec![outs.remove(*carried)], op: Op::Copy(end), span });
    let parts = Loop {
        mode: if init.is_empty() { Mode::Each } else { Mode::Sequence },
        backward: false,
        len,
        inputs: Vec::new(),
        init,
        accs: Vec::new(),
        body: Block { params, stmts, results },
    };
    out.push(Stmt { outs, op: Op::Loop(Box::new(parts)), span });
}

/// The number that belongs to an index.
fn numbers(
    func: &mut Func,
    (number, index): (Var, Var),
    (start, step): (&Atom, i64),
    span: Span,
) -> Vec<Stmt> {
    let (start, index) = (start.clone(), Atom::Var(index));
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
