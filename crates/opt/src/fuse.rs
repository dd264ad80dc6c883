//! A loop that makes arrays for one other loop only becomes part of that loop, and the arrays are never made; a sum of such an
//! array becomes a loop, and that of all elements of its rows loops in a loop ([`flattened`]).
//!
//! ```text
//! ys = each i < n, x in xs { y = x * x yield y }
//! zs = each i < n, y in ys { z = y + 1.0 yield z }        zs = each i < n, x in xs { y = x * x z = y + 1.0 yield z }
//! ```
//!
//! A product of matrices is made all the same: as one operation it takes a fraction of the time ([`products`]).
//!
//! Failures come in the order of the iterations then, so that only one of the two may have any; what goes through data may go on for as long
//! as it likes if neither fails. Iterations that neither fail nor add to anything go forward: nobody can tell.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not joined")]

mod flattened;
mod parted;
mod shifted;

use crate::facts::{Quiet, is_sure, sure, total};
use crate::products;
use crate::sizes::{boxes, in_range};
use crate::stands::Made;
use crate::walk::{Names, count_uses, row_of};
pub(crate) use flattened::Sum;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, FuncId, Program, Stmt, Var};
use wengert_prim::RealOp;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    each(program, false);
}

/// A loop that only adds up what another makes becomes part of that one also if something else uses what that one makes, too: then
/// the rest comes out of the sum's loop. Numbers are added up in vectors or they would keep the other loop from it, so this
/// is for where they need not be to the last bit what they are elsewhere.
pub(crate) fn sums(program: &mut Program) {
    each(program, true);
}

fn each(program: &mut Program, sums: bool) {
    let (total, sure) = (total(program), sure(program));
    let boxes = boxes(program);
    for (_, func) in program.funcs.iter_mut() {
        let inside = in_range(func, &boxes);
        let mut uses = count_uses(&func.body);
        let mut body = std::mem::take(&mut func.body);
        let (quiet, sizes) = (Quiet { total: &total, inside: &inside }, Made::of(&body));
        let there = Fuse { uses: &uses, quiet, sure: &sure, sizes: &sizes, sums };
        if !sums && parted::run(&there, func, &mut body) {
            uses = count_uses(&body);
        }
        let there = Fuse { uses: &uses, quiet, sure: &sure, sizes: &sizes, sums };
        if !sums && shifted::run(&there, func, &mut body) {
            uses = count_uses(&body);
        }
        Fuse { uses: &uses, quiet, sure: &sure, sizes: &sizes, sums }.block(func, &mut body);
        func.body = body;
    }
}

/// What is known of a function.
struct Fuse<'a> {
    /// How often variables are used.
    uses: &'a FxHashMap<Var, usize>,
    quiet: Quiet<'a>,
    /// Functions that do not fail, whether or not they end.
    sure: &'a FxHashSet<FuncId>,
    sizes: &'a Made,
    /// Whether it is about sums of what is used elsewhere, too.
    sums: bool,
}

impl Fuse<'_> {
    fn block(&self, func: &mut Func, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &mut place.stmts {
                for inner in stmt.op.blocks_mut() {
                    self.block(func, inner);
                }
                if let Op::Loop(parts) = &mut stmt.op
                    && parts.mode == Mode::Each
                    && parts.accs.is_empty()
                {
                    parts.backward &= !self.quiet.block(&parts.body);
                }
            }
            flattened::nested(func, place, self.uses);
            let (mut at, mut joined) = (0, false);
            while at < place.stmts.len() {
                let maker = if self.sums {
                    self.summed(&place.stmts, at)
                } else {
                    self.maker(func, &place.stmts, at).map(|maker| (maker, Vec::new()))
                };
                if let Some((maker, kept)) = maker {
                    let made = place.stmts.remove(maker);
                    at -= 1;
                    if let Some(stmt) = place.stmts.get_mut(at) {
                        join(func, made, stmt, &kept);
                    }
                    // What was joined may have a maker of its own.
                    joined = true;
                } else {
                    // What one made for the other inside of them now is in one block, and used as often as the other used it.
                    let inside = place.stmts.get_mut(at).filter(|_| joined).map(|stmt| stmt.op.blocks_mut());
                    for inner in inside.into_iter().flatten() {
                        let uses = count_uses(inner);
                        Fuse { uses: &uses, ..*self }.block(func, inner);
                    }
                    (at, joined) = (at + 1, false);
                }
            }
        });
    }

    /// Whether a statement does not fail, nor anything in its blocks.
    fn is_sure(&self, stmt: &Stmt) -> bool {
        let alone = |stmt: &Stmt| self.quiet.alone(stmt) || is_sure(&stmt.op, self.sure);
        alone(stmt) && stmt.op.blocks().iter().all(|inner| inner.all_stmts(&mut |stmt| alone(stmt)))
    }

    /// Whether what fails in a loop fails alike if its iterations go in the order of another one's.
    fn fails_alike(&self, made: &Loop, user: &Stmt) -> bool {
        let backward = matches!(&user.op, Op::Loop(parts) if parts.backward);
        let bound: FxHashSet<Var> =
            made.body.stmts.iter().flat_map(|stmt| &stmt.outs).chain(&made.body.params).copied().collect();
        let is_alike = |stmt: &Stmt| match &stmt.op {
            Op::Require { .. } => stmt.op.operand_vars().iter().all(|var| !bound.contains(var)),
            _ => self.quiet.stmt(stmt),
        };
        backward == made.backward || made.body.stmts.iter().all(is_alike)
    }

    /// The statement before `at` that makes arrays for that one only, if the two can be joined.
    fn maker(&self, func: &Func, stmts: &[Stmt], at: usize) -> Option<usize> {
        let user = stmts.get(at)?;
        let (inputs, len): (Vec<&Atom>, Option<&Atom>) = match &user.op {
            Op::Loop(parts) if parts.mode != Mode::Reduce => {
                (parts.inputs.iter().collect(), Some(&parts.len))
            }
            Op::Array(ArrayOp::Sum, args) => (args.iter().collect(), None),
            _ => return None,
        };
        for input in inputs {
            let Some(var) = input.var() else { continue };
            let Some(place) = stmts.iter().take(at).position(|stmt| stmt.outs.contains(&var)) else {
                continue;
            };
            let Some(maker) = stmts.get(place) else { continue };
            let Stmt { outs, op: Op::Loop(made), .. } = maker else { continue };
            let alone = made.mode == Mode::Each && made.accs.is_empty() && made.init.is_empty();
            let same = len.is_none_or(|len| *len == made.len);
            let only = outs.iter().all(|out| self.uses.get(out) == Some(&1) && is_input(user, *out));
            let between = stmts.get(place + 1..at).unwrap_or_default();
            // Where the maker fails it may look at sizes that others need.
            let is_given = |input: &Atom| input.var().is_some_and(|input| outs.contains(&input));
            let is_quiet = |stmt: &Stmt| self.quiet.stmt(stmt) && self.sizes.stands(stmt, &is_given);
            let order = self.quiet.block(&made.body)
                || (self.is_sure(maker)
                    && stmts.get(place + 1..=at).unwrap_or_default().iter().all(|stmt| self.is_sure(stmt)))
                || (between.iter().all(is_quiet) && is_quiet(user) && self.fails_alike(made, user));
            if alone && same && only && order && !products::is_of_matrices(func, maker) {
                return Some(place);
            }
        }
        None
    }
}

impl Fuse<'_> {
    /// The statement before `at` that makes arrays of which that one adds one up that nothing else uses; and the places of those that
    /// something else uses.
    fn summed(&self, stmts: &[Stmt], at: usize) -> Option<(usize, Vec<usize>)> {
        let user = stmts.get(at)?;
        let Op::Loop(parts) = &user.op else { return None };
        if !only_adds(parts) {
            return None;
        }
        let place = parts.inputs.iter().find_map(|input| {
            let var = input.var().filter(|var| self.uses.get(var) == Some(&1))?;
            stmts.iter().take(at).position(|stmt| stmt.outs.contains(&var))
        })?;
        let Stmt { outs, op: Op::Loop(made), .. } = stmts.get(place)? else { return None };
        let alone = made.mode == Mode::Each && made.accs.is_empty() && made.init.is_empty();
        let total = self.quiet.block(&made.body);
        let between = stmts.get(place + 1..at).unwrap_or_default();
        let unused = |stmt: &Stmt| {
            let mut used = false;
            let mut look = |atom: &Atom| used |= atom.var().is_some_and(|var| outs.contains(&var));
            stmt.op.for_each_atom(&mut look);
            for block in stmt.op.blocks() {
                block.results.iter().for_each(&mut look);
                block.for_each_stmt(&mut |stmt| {
                    stmt.op.for_each_atom(&mut look);
                    stmt.op.blocks().iter().flat_map(|inner| &inner.results).for_each(&mut look);
                });
            }
            !used
        };
        let kept = |(place, out): (usize, &Var)| {
            let only = self.uses.get(out) == Some(&1) && is_input(user, *out);
            (!only).then_some(place)
        };
        let kept: Vec<usize> = outs.iter().enumerate().filter_map(kept).collect();
        (alone && total && parts.len == made.len && !kept.is_empty() && between.iter().all(unused))
            .then_some((place, kept))
    }
}

/// Whether a loop does nothing but add up rows, in as many sums.
fn only_adds(parts: &Loop) -> bool {
    let (count, body) = (parts.init.len(), &parts.body);
    let carried: Vec<Var> = body.params.iter().skip(1).take(count).copied().collect();
    let adds = |(before, after): (&Var, &Atom)| {
        body.stmts.iter().any(|stmt| {
            matches!(&stmt.op, Op::Real(RealOp::Add, args) if args.contains(&Atom::Var(*before)))
                && stmt.outs.iter().any(|out| *after == Atom::Var(*out))
        })
    };
    parts.mode == Mode::Sequence
        && parts.accs.is_empty()
        && count > 0
        && body.results.len() == count
        && body.stmts.len() == count
        && carried.iter().zip(&body.results).all(adds)
}

fn is_input(user: &Stmt, var: Var) -> bool {
    match &user.op {
        Op::Loop(parts) => parts.inputs.iter().any(|input| input.var() == Some(var)),
        Op::Array(_, args) => args.first().and_then(Atom::var) == Some(var),
        _ => false,
    }
}

/// Puts the loop `made` into the statement that uses what it makes; `kept_outs` are the places of what that gives from then on.
pub(crate) fn join(func: &mut Func, made: Stmt, user: &mut Stmt, kept_outs: &[usize]) {
    let Op::Loop(maker) = made.op else { return };
    if let (Op::Array(ArrayOp::Sum, args), [sum]) = (&user.op, &*user.outs)
        && let [Atom::Var(array)] = **args
    {
        user.op = Sum::new(func, array, *sum, user.span).through(array, maker.len.clone());
    }
    user.outs.extend(kept_outs.iter().filter_map(|place| made.outs.get(*place)));
    let Op::Loop(parts) = &mut user.op else { return };
    let Loop { inputs, body, .. } = *maker;
    let Block { params, mut stmts, mut results } = body;
    // The rows of what the maker made are its results.
    let mut rows = parts.body.params.split_off(1 + parts.init.len() + parts.accs.len());
    let mut taken: Vec<(Var, usize)> = Vec::new();
    for (row, input) in rows.drain(..).zip(std::mem::take(&mut parts.inputs)) {
        match made.outs.iter().position(|out| input.var() == Some(*out)) {
            Some(place) => taken.push((row, place)),
            None => {
                parts.inputs.push(input);
                parts.body.params.push(row);
            }
        }
    }
    let mut names = Names::default();
    if let (Some(old), Some(new)) = (params.first(), parts.body.params.first()) {
        names.set(*old, Atom::Var(*new));
    }
    for (param, input) in params.iter().skip(1).zip(inputs) {
        names.set(*param, Atom::Var(row_of(parts, input, *param)));
    }
    // A result of the maker may be one of its own parameters.
    results.iter_mut().for_each(|result| names.replace(result));
    for (row, place) in taken {
        names.set(row, results.get(place).cloned().unwrap_or(Atom::Unit));
    }
    parts.body.results.extend(kept_outs.iter().filter_map(|place| results.get(*place).cloned()));
    stmts.append(&mut parts.body.stmts);
    parts.body.stmts = stmts;
    names.replace_inside(&mut parts.body);
}
