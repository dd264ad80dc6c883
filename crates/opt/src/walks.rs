//! Two loops that walk through the same data: the second goes as often as the first did, so that it is counted, and needs not look
//! at the data if the first has collected what it needs of it.
//!
//! ```text
//! y, xs = while l = list { is Cons? } do match l { Cons(x, r) { … yield r, …, x } }
//! z = while l = list, c = d { is Cons? } do match l { Cons(x, r) { … yield r, g(x, c) } }     z = for i < length(xs), c = d, x in xs { … yield g(x, c) }
//! ```
//!
//! So the pullback of a function of a list has the length of that, and what is as long as it can lie in arrays. Loops that go from one
//! number to another are counted too ([`numbers`]).

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed tells nothing of numbers")]

mod numbers;

use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op, While};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        let natural = Natural::of(&body);
        block(func, &mut body, (&uses, &natural));
        func.body = body;
    }
}

/// Numbers that are not negative, and those that are one less than such.
#[derive(Default)]
struct Natural {
    counts: FxHashSet<Var>,
    before: FxHashSet<Var>,
}

impl Natural {
    /// Those of a function: sizes, and indices of loops. They are bound before they are used.
    fn of(body: &Block) -> Natural {
        let mut found = Natural::default();
        body.for_each_stmt(&mut |stmt| match &stmt.op {
            Op::Array(ArrayOp::Length(_), _) => found.counts.extend(&stmt.outs),
            Op::Loop(parts) => found.counts.extend(parts.body.params.first()),
            Op::Int(IntOp::Sub, args) => {
                if let [Atom::Var(count), Atom::Int(1)] = args.as_slice()
                    && found.counts.contains(count)
                {
                    found.before.extend(&stmt.outs);
                }
            }
            _ => {}
        });
        found
    }
}

/// How a loop walks through data, from an operand on to what is in one of the fields of a constructor, as long as it is of that one.
#[derive(Clone, Copy)]
struct Walk {
    /// Which of the carried values is the data.
    carried: usize,
    /// The statement of the body that matches on it, and the result that is what to go on with.
    take: usize,
    rest: usize,
    ctor: usize,
    /// The field that is the rest.
    field: usize,
}

fn block(func: &mut Func, place: &mut Block, (uses, natural): (&FxHashMap<Var, usize>, &Natural)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            for inner in stmt.op.blocks_mut() {
                block(func, inner, (uses, natural));
            }
            let number = if let Op::While(parts) = &stmt.op { numbers::count(parts, natural) } else { None };
            if let Some(count) = number {
                numbers::counted(func, &mut out, stmt, &count);
            } else if let Some(plan) = counted(func, &out, &stmt, uses) {
                count(func, &mut out, stmt, plan);
            } else {
                out.push(stmt);
            }
        }
        place.stmts = out;
    });
}

/// How a loop can be counted.
struct Counted {
    walk: Walk,
    /// What it has walked to at the end.
    end: Atom,
    /// How often the other loop goes.
    times: Times,
    /// The arrays in which it collects the fields that are needed.
    fields: Vec<(Var, Var)>,
}

/// How often a loop goes.
#[derive(Clone, Copy)]
enum Times {
    /// As this array is long, which it collects.
    Length(Var),
    /// As it counts.
    Count(Var),
}

/// Whether a loop walks as one of those before it, which has collected all that the loop needs.
fn counted(func: &Func, before: &[Stmt], stmt: &Stmt, uses: &FxHashMap<Var, usize>) -> Option<Counted> {
    let Op::While(parts) = &stmt.op else { return None };
    (0..parts.init.len()).find_map(|carried| {
        let walk = walk(parts, carried, uses)?;
        let first = parts.init.get(carried)?;
        before.iter().find_map(|earlier| {
            let Op::While(other) = &earlier.op else { return None };
            let place = other.init.iter().position(|init| init == first)?;
            let there = self::walk(other, place, uses)?;
            if (there.ctor, there.field) != (walk.ctor, walk.field) {
                return None;
            }
            let times = times(earlier, other)?;
            let fields = needed(parts, &walk, uses)
                .into_iter()
                .map(|(field, param)| collected(earlier, other, &there, field).map(|array| (param, array)));
            let fields: Vec<(Var, Var)> = fields.collect::<Option<_>>()?;
            let scalars = parts.body.results.iter().all(|result| func.type_of(result).rank() == 0);
            let end = Atom::Var(*earlier.outs.get(place)?);
            scalars.then_some(Counted { walk, end, times, fields })
        })
    })
}

/// How often a loop goes, if it tells.
fn times(stmt: &Stmt, parts: &While) -> Option<Times> {
    if let Some(array) = stmt.outs.get(parts.init.len()) {
        return Some(Times::Length(*array));
    }
    let counts = |(first, (param, next)): (&Atom, (&Var, &Atom))| {
        let is_next = |stmt: &Stmt| {
            matches!(&stmt.op, Op::Int(IntOp::Add, args) if args.as_slice() == [Atom::Var(*param), Atom::Int(1)])
                && stmt.outs.first().copied() == next.var()
        };
        *first == Atom::Int(0) && parts.body.stmts.iter().any(is_next)
    };
    let steps = parts.body.params.iter().zip(&parts.body.results);
    let place = parts.init.iter().zip(steps).position(counts)?;
    stmt.outs.get(place).copied().map(Times::Count)
}

/// How a loop walks through the data that it carries in one place.
fn walk(parts: &While, carried: usize, uses: &FxHashMap<Var, usize>) -> Option<Walk> {
    let once = |var: &Var| uses.get(var) == Some(&1);
    let asked = parts.cond.params.get(carried)?;
    let [Stmt { op: Op::Match { on, arms }, outs, .. }] = parts.cond.stmts.as_slice() else { return None };
    let asks = *on == Atom::Var(*asked)
        && parts.cond.results.iter().cloned().eq(outs.iter().copied().map(Atom::Var));
    let answers = arms.iter().map(|arm| match (arm.stmts.as_slice(), arm.results.as_slice()) {
        ([], [Atom::Bool(answer)]) => Some(*answer),
        _ => None,
    });
    let answers: Vec<bool> = answers.collect::<Option<_>>()?;
    let ctor = answers.iter().position(|answer| *answer)?;
    let only = answers.iter().filter(|answer| **answer).count() == 1;
    let param = parts.body.params.get(carried).copied().filter(once)?;
    let is_match = |stmt: &Stmt| matches!(&stmt.op, Op::Match { on, .. } if *on == Atom::Var(param));
    let take = parts.body.stmts.iter().position(is_match)?;
    let stmt = parts.body.stmts.get(take)?;
    let Op::Match { arms, .. } = &stmt.op else { return None };
    let next = parts.body.results.get(carried)?.var().filter(once)?;
    let rest = stmt.outs.iter().position(|out| *out == next)?;
    let arm = arms.get(ctor)?;
    let tail = arm.results.get(rest)?.var()?;
    let field = arm.params.iter().position(|param| *param == tail)?;
    (asks && only).then_some(Walk { carried, take, rest, ctor, field })
}

/// The statement that takes the data apart, and what it does with what it finds.
fn taken<'a>(parts: &'a While, walk: &Walk) -> Option<(&'a Stmt, &'a Block)> {
    let stmt = parts.body.stmts.get(walk.take)?;
    let Op::Match { arms, .. } = &stmt.op else { return None };
    Some((stmt, arms.get(walk.ctor)?))
}

/// The fields that a loop needs besides that with which it goes on, and what it calls them.
fn needed(parts: &While, walk: &Walk, uses: &FxHashMap<Var, usize>) -> Vec<(usize, Var)> {
    let Some((_, arm)) = taken(parts, walk) else { return Vec::new() };
    let fewest = |field| usize::from(field == walk.field);
    let params = arm.params.iter().copied().enumerate();
    params.filter(|(field, param)| uses.get(param).is_some_and(|uses| *uses > fewest(*field))).collect()
}

/// The array in which a loop collects a field of what it walks through.
fn collected(stmt: &Stmt, parts: &While, walk: &Walk, field: usize) -> Option<Var> {
    let (take, arm) = taken(parts, walk)?;
    let param = arm.params.get(field)?;
    let carried = parts.init.len();
    let rows = parts.body.results.iter().zip(&stmt.outs).skip(carried);
    let mut found = rows.filter(|(row, _)| {
        let given = take.outs.iter().zip(&arm.results).find(|(out, _)| row.var() == Some(**out));
        given.is_some_and(|(_, result)| *result == Atom::Var(*param))
    });
    found.next().map(|(_, array)| *array)
}

/// Puts a counted loop to the others.
fn count(func: &mut Func, out: &mut Vec<Stmt>, stmt: Stmt, plan: Counted) {
    let Stmt { mut outs, op: Op::While(parts), span } = stmt else { return };
    let Counted { walk, end, times, fields } = plan;
    let While { mut init, cond: _, body } = *parts;
    let Block { mut params, mut stmts, mut results } = body;
    let took = stmts.remove(walk.take);
    let Op::Match { mut arms, .. } = took.op else { return };
    let mut arm = arms.swap_remove(walk.ctor);
    arm.results.remove(walk.rest);
    let mut given = took.outs;
    given.remove(walk.rest);
    let copies = given.into_iter().zip(arm.results);
    let copies = copies.map(|(var, atom)| Stmt { outs: vec![var], op: Op::Copy(atom), span });
    let inside: Vec<Stmt> = arm.stmts.into_iter().chain(copies).collect();
    stmts.splice(walk.take..walk.take, inside);
    params.remove(walk.carried);
    params.insert(0, func.fresh("i".into(), Ty::INT));
    params.extend(fields.iter().map(|(param, _)| *param));
    results.remove(walk.carried);
    init.remove(walk.carried);
    out.push(Stmt { outs: vec![outs.remove(walk.carried)], op: Op::Copy(end), span });
    let len = match times {
        Times::Length(array) => length(func, out, array, span),
        Times::Count(count) => Atom::Var(count),
    };
    let parts = Loop {
        mode: if init.is_empty() { Mode::Each } else { Mode::Sequence },
        backward: false,
        len,
        inputs: fields.into_iter().map(|(_, array)| Atom::Var(array)).collect(),
        init,
        accs: Vec::new(),
        body: Block { params, stmts, results },
    };
    out.push(Stmt { outs, op: Op::Loop(Box::new(parts)), span });
}

/// The length of an array.
fn length(func: &mut Func, out: &mut Vec<Stmt>, array: Var, span: wengert_base::Span) -> Atom {
    let op = Op::Array(ArrayOp::Length(0), vec![Atom::Var(array)]);
    let known = out.iter().find(|stmt| stmt.op == op).and_then(|stmt| stmt.outs.first().copied());
    Atom::Var(known.unwrap_or_else(|| {
        let len = func.fresh("n".into(), Ty::INT);
        out.push(Stmt { outs: vec![len], op, span });
        len
    }))
}

#[cfg(test)]
mod tests;
