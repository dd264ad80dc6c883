//! What a loop keeps for one that goes backward, iteration by iteration, need not be kept: the second does nothing that could fail where
//! the first has not failed, so that both are one loop.
//!
//! ```text
//! js, ts = each i < n, x in xs {
//!   j = floor(x)  a = ys[j]  t = 2.0 * a
//!   yield j, t                                            s = each i < n, s += zeros(ys), x in xs {
//! }                                                         j = floor(x)  a = ys[j]  t = 2.0 * a
//! s = each backward i < n, s += zeros(ys), j in js, t in ts {     becomes
//!   b = ys[j]  u = b * t                                    b = ys[j]  u = b * t
//!   yield s with [j] += u                                   yield s with [j] += u
//! }                                                       }
//! ```
//!
//! It is the order of the first one that stays, so that it may fail, which fusing others does not allow. An operation of the second cannot
//! fail if the first has done the same in the same iteration. What the first one adds up beside, as the value of a function beside its
//! gradient, the two add up together. Loops that compute functions stay apart: the first one does so in vectors, which the additions of the
//! second would keep it from.

use crate::facts::{Quiet, is_costly};
use crate::fuse::join;
use crate::walk::{Names, mentioned};
use rustc_hash::FxHashMap;
use wengert_ir::op::{Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};
use wengert_prim::RealOp;

/// See the module: in one block. Whether there are such loops.
pub(super) fn run(
    func: &mut Func,
    place: &mut Block,
    uses: &FxHashMap<Var, usize>,
    quiet: Quiet<'_>,
) -> bool {
    let (mut at, mut joined) = (0, false);
    while at < place.stmts.len() {
        let Some(maker) = maker(func, &place.stmts, at, uses, quiet) else {
            at += 1;
            continue;
        };
        let mut made = place.stmts.remove(maker);
        at -= 1;
        let Some(user) = place.stmts.get_mut(at) else { continue };
        let sums = take_sums(&mut made);
        if let Op::Loop(parts) = &mut user.op {
            parts.backward = false;
        }
        join(func, made, user, &[]);
        add_sums(user, sums);
        joined = true;
    }
    joined
}

/// What a loop adds up: what it begins with, the sum before and after an iteration, and in the end.
struct SumOf {
    init: Atom,
    before: Var,
    after: Atom,
    total: Var,
}

/// Whether a loop makes rows, and nothing else but sums beside them.
fn only_adds_up(made: &Loop, uses: &FxHashMap<Var, usize>) -> bool {
    let count = made.init.len();
    let once = |var: &Var| uses.get(var) == Some(&1);
    let adds = |(before, after): (&Var, &Atom)| {
        let sum = |stmt: &Stmt| {
            matches!(&stmt.op, Op::Real(RealOp::Add, args) if args.contains(&Atom::Var(*before)))
                && stmt.outs.iter().all(|out| *after == Atom::Var(*out) && once(out))
        };
        once(before) && made.body.stmts.iter().any(sum)
    };
    let carried = made.body.params.iter().skip(1).take(count);
    (made.mode == Mode::Each || made.mode == Mode::Sequence) && carried.zip(&made.body.results).all(adds)
}

/// The sums of such a loop, which makes rows only from then on.
fn take_sums(made: &mut Stmt) -> Vec<SumOf> {
    let Op::Loop(parts) = &mut made.op else { return Vec::new() };
    let count = parts.init.len();
    parts.mode = Mode::Each;
    let before = parts.body.params.drain(1..1 + count);
    let after = parts.body.results.drain(..count);
    let totals = made.outs.drain(..count);
    let all = parts.init.drain(..).zip(before).zip(after.zip(totals));
    all.map(|((init, before), (after, total))| SumOf { init, before, after, total }).collect()
}

/// Another loop adds them up, too.
fn add_sums(user: &mut Stmt, sums: Vec<SumOf>) {
    let Op::Loop(parts) = &mut user.op else { return };
    for SumOf { init, before, after, total } in sums {
        let place = parts.accs.len();
        parts.accs.push(init);
        parts.body.params.insert(1 + place, before);
        parts.body.results.insert(place, after);
        user.outs.insert(place, total);
    }
}

/// The loop before the one at `at` that makes rows for that one only, if they can be one.
fn maker(
    func: &Func,
    stmts: &[Stmt],
    at: usize,
    uses: &FxHashMap<Var, usize>,
    quiet: Quiet<'_>,
) -> Option<usize> {
    let user = stmts.get(at)?;
    let Op::Loop(parts) = &user.op else { return None };
    if parts.mode != Mode::Each || parts.accs.is_empty() {
        return None;
    }
    // An array of rows is made, for that fails where they differ in size.
    let is_given = |out: &Var| {
        uses.get(out) == Some(&1) && parts.inputs.contains(&Atom::Var(*out)) && func.ty(*out).rank() == 1
    };
    let made_for_it = |stmt: &Stmt| {
        let Op::Loop(made) = &stmt.op else { return false };
        let mut rows = stmt.outs.iter().skip(made.init.len()).peekable();
        let alone = made.accs.is_empty() && !made.backward && made.len == parts.len;
        alone && only_adds_up(made, uses) && rows.peek().is_some() && rows.all(is_given)
    };
    let place = stmts.iter().take(at).rposition(made_for_it)?;
    let (maker, between) = (stmts.get(place)?, stmts.get(place + 1..at).unwrap_or_default());
    let Op::Loop(made) = &maker.op else { return None };
    let totals = maker.outs.get(..made.init.len()).unwrap_or_default();
    let knows_none = |stmt: &Stmt| mentioned(&stmt.op).all(|var| !totals.contains(&var));
    let between_fine = between.iter().all(|stmt| quiet.stmt(stmt) && knows_none(stmt));
    let cheap = [made, parts].into_iter().all(|parts| parts.body.all_stmts(&mut |stmt| !is_costly(&stmt.op)));
    let fine = between_fine && knows_none(user) && cheap;
    (fine && fails_as_before((made, &maker.outs), parts, quiet)).then_some(place)
}

/// Whether all that may fail in an iteration of a loop has been done in the same one of the loop before, which gives `outs`.
fn fails_as_before((made, outs): (&Loop, &[Var]), parts: &Loop, quiet: Quiet<'_>) -> bool {
    let mut names = Names::default();
    let row_of = |input: &Atom| {
        if let Some(place) = outs.iter().position(|out| *input == Atom::Var(*out)) {
            return made.body.results.get(place).cloned();
        }
        let place = made.inputs.iter().position(|other| other == input)?;
        made.body.params.get(1 + made.init.len() + place).copied().map(Atom::Var)
    };
    if let (Some(index), Some(known)) = (parts.body.params.first(), made.body.params.first()) {
        names.set(*index, Atom::Var(*known));
    }
    for (param, input) in parts.body.params.iter().skip(1 + parts.accs.len()).zip(&parts.inputs) {
        row_of(input).into_iter().for_each(|row| names.set(*param, row));
    }
    parts.body.stmts.iter().all(|stmt| {
        let mut op = stmt.op.clone();
        names.replace_in(&mut op);
        let same = made.body.stmts.iter().find(|known| known.op == op && known.outs.len() == stmt.outs.len());
        if let Some(known) = same {
            for (out, known) in stmt.outs.iter().zip(&known.outs) {
                names.set(*out, Atom::Var(*known));
            }
        }
        same.is_some() || quiet.stmt(stmt)
    })
}
