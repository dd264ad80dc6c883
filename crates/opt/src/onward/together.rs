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
//! gradient, the two add up together. So do loops around loops, which then keep what is for one iteration only. Loops that compute functions stay
//! apart if the second adds to arrays: the first one does so in vectors, which the additions would keep it from.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed has no names, or has not been done")]

use crate::facts::{Quiet, is_costly};
use crate::fuse::join;
use crate::stands::Made;
use crate::walk::{Names, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op};
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
        at = put_after(&mut place.stmts, (maker, at - 1), made.outs.iter().copied().collect());
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

/// Puts what comes before the loop at the second place, and needs what the one gave that was at the first, after it. Gives where that loop is then.
fn put_after(stmts: &mut [Stmt], (first, user): (usize, usize), mut given: FxHashSet<Var>) -> usize {
    let mut moved = 0;
    for at in first..user {
        let needs = |stmt: &Stmt| mentioned(&stmt.op).any(|var| given.contains(&var));
        let at = at - moved;
        if let Some(outs) = stmts.get(at).filter(|stmt| needs(stmt)).map(|stmt| stmt.outs.clone()) {
            given.extend(outs);
            if let Some(between) = stmts.get_mut(at..=user) {
                between.rotate_left(1);
            }
            moved += 1;
        }
    }
    user - moved
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
    if parts.mode != Mode::Each {
        return None;
    }
    let is_given = |out: &Var| uses.get(out) == Some(&1) && parts.inputs.contains(&Atom::Var(*out));
    let made_for_it = |stmt: &Stmt| {
        let Op::Loop(made) = &stmt.op else { return false };
        let count = made.init.len();
        let mut rows = stmt.outs.iter().skip(count).zip(made.body.results.iter().skip(count)).peekable();
        let alone = made.accs.is_empty() && !made.backward && made.len == parts.len;
        // An array of rows fails where they differ in size.
        let fits = |(out, row): (&Var, &Atom)| is_given(out) && is_of_one_size(func, made, row);
        alone && only_adds_up(made, uses) && rows.peek().is_some() && rows.all(fits)
    };
    let place = stmts.iter().take(at).rposition(made_for_it)?;
    let (maker, between) = (stmts.get(place)?, stmts.get(place + 1..at).unwrap_or_default());
    let Op::Loop(made) = &maker.op else { return None };
    // The sums, and what is computed of them, come after both.
    let mut totals: FxHashSet<Var> = maker.outs.iter().take(made.init.len()).copied().collect();
    let knows = |stmt: &Stmt, totals: &FxHashSet<Var>| mentioned(&stmt.op).any(|var| totals.contains(&var));
    for stmt in between {
        if knows(stmt, &totals) {
            totals.extend(&stmt.outs);
        }
    }
    // Where the maker fails it may look at sizes that others need.
    let given = |input: &Atom| {
        made.inputs.contains(input) || input.var().is_some_and(|var| maker.outs.contains(&var))
    };
    let sure = quiet.block(&made.body);
    let stands = |stmt: &Stmt| sure || Made::default().stands(stmt, &given);
    let between_fine = between.iter().all(|stmt| quiet.stmt(stmt) && stands(stmt)) && stands(user);
    let fine = between_fine && !knows(user, &totals) && stay_vectors(made, parts);
    (fine && fails_as_before((made, &maker.outs), parts, quiet)).then_some(place)
}

/// Whether a row is a number, or an array that is as long in each iteration, made by a loop in this one.
fn is_of_one_size(func: &Func, made: &Loop, row: &Atom) -> bool {
    match func.type_of(row).rank() {
        0 => true,
        1 => {
            let maker =
                made.body.stmts.iter().find(|stmt| row.var().is_some_and(|row| stmt.outs.contains(&row)));
            let Some(Op::Loop(inner)) = maker.map(|stmt| &stmt.op) else { return false };
            let inside = made.body.params.iter().chain(made.body.stmts.iter().flat_map(|stmt| &stmt.outs));
            inner.len.var().is_none_or(|len| inside.into_iter().all(|var| *var != len))
        }
        _ => false,
    }
}

/// Whether what is made in vectors stays so. Additions to elements of arrays would keep functions from it, and additions to elements that other
/// iterations add to sums; and loops around two loops and more are turned, or multiply matrices, which they do apart.
fn stay_vectors(made: &Loop, parts: &Loop) -> bool {
    let both = [made, parts];
    let cheap = |parts: &Loop| parts.body.all_stmts(&mut |stmt| !is_costly(&stmt.op));
    if both.into_iter().all(|parts| depth(&parts.body) == 1) {
        return adds_near(parts);
    }
    both.into_iter().all(|parts| depth(&parts.body) == 0)
        && (parts.accs.is_empty() || both.into_iter().all(cheap))
}

/// How many loops are in one another.
fn depth(block: &Block) -> usize {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let inside = |stmt: &Stmt| {
            let most = stmt.op.blocks().into_iter().map(depth).max().unwrap_or(0);
            most + usize::from(matches!(stmt.op, Op::Loop(_) | Op::While(_)))
        };
        block.stmts.iter().map(inside).max().unwrap_or(0)
    })
}

/// Whether the iterations of a loop, and of those in it, add to elements at their own index, or some number of places away, only.
fn adds_near(parts: &Loop) -> bool {
    parts
        .body
        .params
        .first()
        .is_some_and(|index| adds_near_to(*index, &parts.body, &mut FxHashSet::default()))
}

fn adds_near_to(index: Var, block: &Block, near: &mut FxHashSet<Var>) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        block.stmts.iter().all(|stmt| {
            if let (Op::Int(IntOp::Add | IntOp::Sub, args), [out]) = (&stmt.op, stmt.outs.as_slice())
                && let [Atom::Var(var), Atom::Int(_)] = args.as_slice()
                && *var == index
            {
                near.insert(*out);
            }
            match &stmt.op {
                Op::Array(ArrayOp::AddAt, args) => match args.as_slice() {
                    [_, place, _] => place.var().is_some_and(|var| var == index || near.contains(&var)),
                    _ => false,
                },
                Op::Loop(inner) => adds_near(inner),
                op => op.blocks().into_iter().all(|inner| adds_near_to(index, inner, near)),
            }
        })
    })
}

/// Whether all that may fail in an iteration of a loop has been done in the same one of the loop before, which gives `outs`.
fn fails_as_before(before: (&Loop, &[Var]), parts: &Loop, quiet: Quiet<'_>) -> bool {
    let mut done = Done { names: Names::default(), quiet };
    done.rows(before, parts);
    done.block(&before.0.body, &parts.body)
}

/// What has been done before.
struct Done<'q> {
    /// How what is computed here was called there.
    names: Names,
    quiet: Quiet<'q>,
}

impl Done<'_> {
    fn called(&self, atom: &Atom) -> Atom {
        let mut atom = atom.clone();
        self.names.replace(&mut atom);
        atom
    }

    /// The index and the rows of a loop are those of another one, or what that gives.
    fn rows(&mut self, (made, outs): (&Loop, &[Var]), parts: &Loop) {
        if let (Some(index), Some(known)) = (parts.body.params.first(), made.body.params.first()) {
            self.names.set(*index, Atom::Var(*known));
        }
        let carried = parts.init.len() + parts.accs.len();
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            let input = self.called(input);
            let row = match outs.iter().position(|out| input == Atom::Var(*out)) {
                Some(place) => made.body.results.get(place).cloned(),
                None => made.inputs.iter().position(|other| *other == input).and_then(|place| {
                    let place = 1 + made.init.len() + made.accs.len() + place;
                    made.body.params.get(place).copied().map(Atom::Var)
                }),
            };
            row.into_iter().for_each(|row| self.names.set(*param, row));
        }
    }

    /// Whether all that may fail in a block has been done in the other one. What was done is called as it was there, also if it does not fail.
    fn block(&mut self, known: &Block, block: &Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            block.stmts.iter().all(|stmt| self.stmt(known, stmt) || self.quiet.stmt(stmt))
        })
    }

    fn stmt(&mut self, known: &Block, stmt: &Stmt) -> bool {
        match &stmt.op {
            Op::Loop(parts) => known.stmts.iter().any(|before| match &before.op {
                Op::Loop(made) if made.len == self.called(&parts.len) && made.mode != Mode::Reduce => {
                    self.rows((made, &before.outs), parts);
                    self.block(&made.body, &parts.body)
                }
                _ => false,
            }),
            Op::If { cond, then, otherwise } => known.stmts.iter().any(|before| match &before.op {
                Op::If { cond: asked, then: made, otherwise: other } if *asked == self.called(cond) => {
                    self.block(made, then) && self.block(other, otherwise)
                }
                _ => false,
            }),
            op if op.blocks().is_empty() => {
                let mut op = op.clone();
                self.names.replace_in(&mut op);
                let same =
                    known.stmts.iter().find(|known| known.op == op && known.outs.len() == stmt.outs.len());
                if let Some(known) = same {
                    for (out, known) in stmt.outs.iter().zip(&known.outs) {
                        self.names.set(*out, Atom::Var(*known));
                    }
                }
                same.is_some()
            }
            _ => false,
        }
    }
}
