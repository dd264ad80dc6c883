//! Two loops over the same indices whose iterations are independent become one, if the second needs nothing of the first but
//! rows at its own index: arrays are gone through once, and rows that both make or use are there. So do two loops that add something up
//! for each element of one array. And two whose iterations wait for each other, where the second takes rows of the first: those need not be kept.
//!
//! ```text
//! ys = each i < n, x in xs { y = sin(x) yield y }
//! zs = each i < n, x in xs, y in ys { z = x * y yield z }     ys, zs = each i < n, x in xs { y = sin(x) z = x * y yield y, z }
//! ```
//!
//! ```text
//! z, ys = for i < n, x = a { y = sin(x) yield y, y }
//! l = for i < n, r = nil, y in ys { c = Cons(y, r) yield c }   z, l = for i < n, x = a, r = nil { y = sin(x) c = Cons(y, r) yield y, c }
//! ```
//!
//! Failures come in the order of the iterations then, so that only one of the two may have any, and nothing in between.

use crate::facts::{Quiet, is_safe, is_total, total};
use crate::fuse::Sum;
use crate::sizes::{boxes, in_range};
use crate::stands::Made;
use crate::walk::{Names, count_uses, mentioned, row_of};
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// How many statements after a loop are looked at.
const NEAR: usize = 24;

/// How many statements iterations that add something up may have together: with more of them there are not enough registers.
const SMALL: usize = 48;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let (total, boxes) = (total(program), boxes(program));
    for (_, func) in program.funcs.iter_mut() {
        let inside = in_range(func, &boxes);
        let mut body = std::mem::take(&mut func.body);
        let made = Made::of(&body);
        block(func, &mut body, (Quiet { total: &total, inside: &inside }, &made));
        func.body = body;
    }
}

fn block(func: &mut Func, place: &mut Block, known: (Quiet<'_>, &Made)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut at = 0;
        while at < place.stmts.len() {
            // What was joined may be joined to more.
            if let Some((second, simple)) = partner(&place.stmts, at, known) {
                let second = place.stmts.remove(second);
                for from in simple {
                    let stmt = place.stmts.remove(from);
                    place.stmts.insert(at, stmt);
                    at += 1;
                }
                if let Some(first) = place.stmts.get_mut(at) {
                    join(first, second);
                }
            } else if let Some((sum, array)) = sum_beside(func, &place.stmts, at) {
                let mut stmt = place.stmts.remove(sum);
                at -= usize::from(sum < at);
                if let Some(first) = place.stmts.get_mut(at) {
                    as_loop(func, &mut stmt, array, first);
                    join(first, stmt);
                }
            } else {
                at += 1;
            }
        }
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                block(func, inner, known);
            }
        }
    });
}

/// What iterations of a loop have to do with each other.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Nothing, and they add to nothing.
    Independent,
    /// They add to numbers, at which nothing else looks, and do no loops of their own.
    Adding,
    /// They wait for each other.
    Waiting,
}

/// Loops of which two can become one.
fn kind(stmt: &Stmt) -> Option<(Kind, &Loop)> {
    let Op::Loop(parts) = &stmt.op else { return None };
    let kind = match parts.mode {
        _ if !parts.accs.is_empty() => return None,
        Mode::Each if parts.init.is_empty() => Kind::Independent,
        Mode::Sequence if !parts.init.is_empty() => {
            let carried = parts.body.params.iter().skip(1).take(parts.init.len()).zip(&parts.body.results);
            if !carried.into_iter().all(|(before, after)| adds(&parts.body, *before, after)) {
                Kind::Waiting
            } else if only_adds(parts) {
                Kind::Adding
            } else {
                return None;
            }
        }
        Mode::Each | Mode::Sequence | Mode::Reduce => return None,
    };
    Some((kind, parts))
}

/// Whether a number is another one to which something was added.
fn adds(body: &Block, before: Var, after: &Atom) -> bool {
    body.stmts.iter().any(|stmt| {
        let ends = stmt.outs.iter().any(|out| *after == Atom::Var(*out));
        ends && matches!(&stmt.op, Op::Real(RealOp::Add, args) if args.contains(&Atom::Var(before)))
    })
}

/// Whether nothing looks at the sums of a loop on the way, and it is simple.
fn only_adds(parts: &Loop) -> bool {
    let sums = parts.body.params.iter().skip(1).take(parts.init.len());
    let uses = count_uses(&parts.body);
    let ends: FxHashSet<Var> =
        parts.body.results.iter().take(parts.init.len()).filter_map(Atom::var).collect();
    parts.body.stmts.iter().all(|stmt| stmt.op.blocks().is_empty())
        && sums.chain(&ends).all(|var| uses.get(var) == Some(&1))
        && ends.len() == parts.init.len()
}

/// The loop after `at` that can be done together with the one at `at`, and what comes in between but can be done before.
fn partner(stmts: &[Stmt], at: usize, (known, made): (Quiet<'_>, &Made)) -> Option<(usize, Vec<usize>)> {
    let stmt = stmts.get(at)?;
    let (own, first) = kind(stmt)?;
    let first_total = known.block(&first.body);
    let mut between: FxHashSet<Var> = FxHashSet::default();
    let mut quiet = true;
    // What fails in between may look whether arrays are as long as the second loop needs them.
    let as_long = |input: &Atom| first.inputs.contains(input) || is_row_of(stmt, first, input);
    let stands = |stmt: &Stmt, quiet: bool| quiet || made.stands(stmt, &as_long);
    let mut simple = Vec::new();
    for (place, stmt_there) in stmts.iter().enumerate().skip(at + 1).take(NEAR) {
        let second =
            kind(stmt_there).filter(|(kind, second)| *kind == own && gains(own, stmt, first, second));
        if let Some((_, second)) = second
            && second.len == first.len
            && (is_total(&second.body, known.total) || quiet && (first_total || known.block(&second.body)))
            && fits(stmt, first.init.len(), second, &between)
            && stands(stmt_there, quiet)
        {
            return Some((place, simple));
        }
        let is_known =
            !mentioned(&stmt_there.op).any(|var| stmt.outs.contains(&var) || between.contains(&var));
        let is_simple = own != Kind::Independent
            && (is_safe(&stmt_there.op, known.total) || quiet && known.alone(stmt_there))
            && stmt_there.op.blocks().is_empty()
            && stands(stmt_there, quiet);
        // What fails here fails before the first loop, too, if that cannot.
        let is_check = first_total && quiet && matches!(stmt_there.op, Op::Require { .. });
        let is_simple = is_known && (is_simple || is_check);
        if is_simple {
            simple.push(place);
            continue;
        }
        between.extend(&stmt_there.outs);
        quiet = quiet && known.stmt(stmt_there);
    }
    None
}

/// Whether an array has a row for each iteration of a loop, from that.
fn is_row_of(stmt: &Stmt, parts: &Loop, array: &Atom) -> bool {
    let mut made = stmt.outs.iter().skip(parts.init.len());
    array.var().is_some_and(|array| made.any(|out| *out == array))
}

/// A sum of the elements of an array near a loop that adds something up for each of them, before it or after it, and that array.
fn sum_beside(func: &Func, stmts: &[Stmt], at: usize) -> Option<(usize, Var)> {
    let stmt = stmts.get(at)?;
    let (kind, parts) = kind(stmt)?;
    if kind != Kind::Adding || parts.backward || parts.body.stmts.len() >= SMALL {
        return None;
    }
    let summed = |stmt: &Stmt| {
        let Op::Array(ArrayOp::Sum, args) = &stmt.op else { return None };
        let array = args.first()?;
        (parts.inputs.contains(array) && func.ty(array.var()?) == Ty::Array(Elem::Real, 1))
            .then(|| array.var())?
    };
    let waited_for = |place: usize| {
        let outs = stmts.get(place).map_or(&[][..], |stmt| &stmt.outs);
        stmts.iter().take(at + 1).skip(place).any(|stmt| mentioned(&stmt.op).any(|var| outs.contains(&var)))
    };
    let near = stmts.iter().enumerate().take(at + NEAR).skip(at.saturating_sub(NEAR));
    near.filter_map(|(place, stmt)| Some((place, summed(stmt)?)))
        .find(|(place, _)| *place > at || !waited_for(*place))
}

/// Makes a sum of an array that a loop goes through a loop that is as long.
fn as_loop(func: &mut Func, sum: &mut Stmt, array: Var, beside: &Stmt) {
    if let (Op::Loop(parts), [out]) = (&beside.op, sum.outs.as_slice()) {
        sum.op = Sum::new(func, array, *out, sum.span).through(array, parts.len.clone());
    }
}

/// Whether it is a gain that two loops of a kind, which go the same way, become one.
fn gains(kind: Kind, stmt: &Stmt, first: &Loop, second: &Loop) -> bool {
    let takes = |input: &Atom| input.var().is_some_and(|var| stmt.outs.contains(&var));
    let same_way = first.backward == second.backward;
    match kind {
        Kind::Independent => true,
        Kind::Adding => {
            let small = first.body.stmts.len() + second.body.stmts.len() <= SMALL;
            let mut inputs = second.inputs.iter();
            same_way && small && inputs.any(|input| first.inputs.contains(input) || takes(input))
        }
        Kind::Waiting => same_way && second.inputs.iter().any(takes),
    }
}

/// Whether the second loop needs nothing that comes in between, and of the first one, which carries so many values, only rows.
fn fits(first: &Stmt, carried: usize, second: &Loop, between: &FxHashSet<Var>) -> bool {
    let mut captured = second.body.free_vars();
    captured.extend(second.init.iter().filter_map(Atom::var));
    let inputs = second.inputs.iter().filter_map(Atom::var);
    captured.extend(inputs.clone().filter(|input| first.outs.iter().take(carried).any(|out| out == input)));
    let mut all = inputs.chain(captured.iter().copied()).chain(second.len.var());
    all.all(|var| !between.contains(&var)) && captured.iter().all(|var| !first.outs.contains(var))
}

/// Puts the second loop into the first.
fn join(first: &mut Stmt, second: Stmt) {
    let (Op::Loop(parts), Op::Loop(more)) = (&mut first.op, second.op) else { return };
    let Block { params, stmts, results } = more.body;
    let (carried, others) = (parts.init.len(), more.init.len());
    let mut names = Names::default();
    if let (Some(old), Some(new)) = (params.first(), parts.body.params.first()) {
        names.set(*old, Atom::Var(*new));
    }
    for (param, input) in params.iter().skip(1 + others).zip(more.inputs) {
        let made = first.outs.iter().position(|out| input.var() == Some(*out));
        let row = match made.and_then(|place| parts.body.results.get(place)) {
            Some(result) => result.clone(),
            None => Atom::Var(row_of(parts, input, *param)),
        };
        names.set(*param, row);
    }
    // What the second one carries comes after what the first one does.
    let between = 1 + carried..1 + carried;
    parts.body.params.splice(between, params.iter().skip(1).take(others).copied());
    parts.init.extend(more.init);
    let mut rest = Block { params: Vec::new(), stmts, results };
    names.replace_inside(&mut rest);
    parts.body.stmts.extend(rest.stmts);
    let mut results = rest.results;
    let rows = results.split_off(others.min(results.len()));
    parts.body.results.splice(carried..carried, results);
    parts.body.results.extend(rows);
    let mut outs = second.outs;
    let rows = outs.split_off(others.min(outs.len()));
    first.outs.splice(carried..carried, outs);
    first.outs.extend(rows);
}

#[cfg(test)]
mod tests;
