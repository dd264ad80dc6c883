//! What is added at one place of an array twice, one time after the other, is added at once.
//!
//! ```text
//! ys = xs with [i] += a
//! zs = ys with [i] += b          becomes          s = a + b   zs = xs with [i] += s
//! ```
//!
//! and zero is not added. What a loop adds to a row of zeros that was the row before is not taken out. What is added to an element that was set is added before; what is set where it was read is there already. So it is if something is added at other places between them and the place is surely there. So it is in the derivative of what reads an element once and uses it several times. Numbers are added up in another order: it is for
//! where they need not be to the last bit what they are elsewhere.

use crate::facts::{is_quiet, total};
use crate::sizes::{boxes, in_range_there};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, FuncId, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// So many updates are looked through for one at the same place.
const FAR: usize = 8;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let adds = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::AddAt, _));
        if func.body.all_stmts(&mut |stmt| !adds(stmt)) {
            continue;
        }
        let there = in_range_there(func, &boxes);
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        changed |= Updates { func, uses, total: &total, there }.block(&mut body);
        func.body = body;
    }
    changed
}

struct Updates<'p> {
    func: &'p mut Func,
    uses: FxHashMap<Var, usize>,
    total: &'p FxHashSet<FuncId>,
    /// What is updated at places that are there.
    there: FxHashSet<Var>,
}

impl Updates<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            // Where the last update stands, as long as nothing after it fails.
            let mut last: Option<usize> = None;
            for mut stmt in std::mem::take(&mut place.stmts) {
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                let after = self.puts_back(&mut out, &mut stmt);
                changed |= !after.is_empty();
                last = last.filter(|_| after.is_empty());
                if let Some(at) = last
                    && let Some(once) = self.at_once(out.get(at), &stmt)
                {
                    out.remove(at);
                    out.extend(once.sum);
                    stmt.op = once.update;
                    changed = true;
                }
                changed |= self.taken_along(&mut out, &mut stmt, &mut last);
                if let Some(same) = self.adds_nothing(&stmt).or_else(|| self.sets_nothing(&out, &stmt)) {
                    stmt.op = Op::Copy(same);
                    changed = true;
                }
                if self.number_put(&stmt).is_some() {
                    last = Some(out.len());
                } else if !is_quiet(&stmt.op, self.total) {
                    last = None;
                }
                out.push(stmt);
                out.extend(after);
            }
            place.stmts = out;
            changed
        })
    }

    /// An update of a number in an array: the array, the indices, and what is added.
    fn number_added<'s>(&self, stmt: &'s Stmt) -> Option<(&'s Atom, &'s [Atom], &'s Atom)> {
        let (op, array, place, added) = self.number_put(stmt)?;
        (op == ArrayOp::AddAt).then_some((array, place, added))
    }

    /// The same, or that a number is set: the operation, too.
    fn number_put<'s>(&self, stmt: &'s Stmt) -> Option<(ArrayOp, &'s Atom, &'s [Atom], &'s Atom)> {
        let Op::Array(op @ (ArrayOp::AddAt | ArrayOp::Set), args) = &stmt.op else { return None };
        let [array, place @ .., put] = args.as_slice() else { return None };
        (self.func.type_of(put) == Ty::REAL).then_some((*op, array, place, put))
    }

    /// The array to which zero is added at a place that is there.
    fn adds_nothing(&self, stmt: &Stmt) -> Option<Atom> {
        let (array, _, added) = self.number_added(stmt)?;
        let there = stmt.outs.iter().all(|out| self.there.contains(out));
        (there && *added == Atom::Real(0.0)).then(|| array.clone())
    }

    /// The array in which an element is set to what was read there.
    fn sets_nothing(&self, before: &[Stmt], stmt: &Stmt) -> Option<Atom> {
        let (op, array, place, Atom::Var(put)) = self.number_put(stmt)? else { return None };
        let Op::Array(ArrayOp::Index, read) = &before.iter().rfind(|stmt| stmt.outs.as_slice() == [*put])?.op
        else {
            return None;
        };
        let (from, there) = read.split_first()?;
        (op == ArrayOp::Set && from == array && there == place).then(|| array.clone())
    }

    /// Lets a loop that adds to a row of zeros what was in its place before, element by element, leave the row as it was.
    ///
    /// ```text
    /// row = xs[i]   ys = xs with [i] = zeros(row)   zs = each j < n, a += ys, x in row { b = a with [i, j] += x yield b }        zs = xs
    /// ```
    fn puts_back(&self, before: &mut Vec<Stmt>, stmt: &mut Stmt) -> Vec<Stmt> {
        let Op::Loop(parts) = &mut stmt.op else { return Vec::new() };
        let mut after = Vec::new();
        for at in (0..parts.accs.len()).rev() {
            let Some((array, update)) = self.put_back(before, parts, at) else { continue };
            let place = parts.init.len() + at;
            parts.body.stmts.remove(update);
            parts.body.params.remove(1 + place);
            parts.body.results.remove(place);
            // The row was read at the place where it is set, so this does not fail.
            let start = parts.accs.remove(at);
            before.retain(|stmt| stmt.outs.first().is_none_or(|out| Atom::Var(*out) != start));
            let out = stmt.outs.remove(place);
            after.push(Stmt { outs: vec![out], op: Op::Copy(array), span: stmt.span });
        }
        after
    }

    /// The array of which such a loop puts a row back, and which statement does it.
    fn put_back(&self, before: &[Stmt], parts: &Loop, at: usize) -> Option<(Atom, usize)> {
        let made = |atom: &Atom| {
            let var = atom.var()?;
            before.iter().rfind(|stmt| stmt.outs.as_slice() == [var]).map(|stmt| &stmt.op)
        };
        let once = |atom: &Atom| atom.var().is_some_and(|var| self.uses.get(&var) == Some(&1));
        let start = parts.accs.get(at).filter(|start| once(start) && parts.mode != Mode::Reduce)?;
        let Op::Array(ArrayOp::Set, args) = made(start)? else { return None };
        let [array, place @ .., zeros] = args.as_slice() else { return None };
        let Op::Array(ArrayOp::Zeros, like) = made(zeros)? else { return None };
        let row = like.first()?;
        let Op::Array(ArrayOp::Index, read) = made(row)? else { return None };
        let (from, there) = read.split_first()?;
        let same = from == array && there == place && self.func.type_of(row) == Ty::Array(Elem::Real, 1);
        let input = parts.inputs.iter().position(|input| input == row).filter(|_| same)?;
        let (count, params) = (parts.init.len() + parts.accs.len(), &parts.body.params);
        let (index, sum) = (params.first()?, Atom::Var(*params.get(1 + parts.init.len() + at)?));
        let (element, result) =
            (params.get(1 + count + input)?, parts.body.results.get(parts.init.len() + at)?);
        let update = parts.body.stmts.iter().position(|stmt| {
            let Some((to, [place_in @ .., last], added)) = self.number_added(stmt) else { return false };
            let here = place_in == place && *last == Atom::Var(*index);
            here && *to == sum
                && *added == Atom::Var(*element)
                && stmt.outs.first().map(|out| Atom::Var(*out)).as_ref() == Some(result)
        })?;
        (once(&sum) && once(result)).then(|| (array.clone(), update))
    }

    /// Adds what was added at the same place before, or to what was set there, if there were only other updates between to which something is added.
    fn taken_along(&mut self, out: &mut Vec<Stmt>, stmt: &mut Stmt, last: &mut Option<usize>) -> bool {
        let Some((Atom::Var(updated), place, more)) = self.number_added(stmt) else { return false };
        let (mut current, place, more) = (*updated, place.to_vec(), more.clone());
        let mut after: Option<usize> = None;
        for _ in 0..FAR {
            if self.uses.get(&current) != Some(&1) {
                return false;
            }
            let Some(at) = out.iter().rposition(|stmt| stmt.outs.as_slice() == [current]) else {
                return false;
            };
            let Some((op, Atom::Var(array), other, added)) =
                out.get(at).and_then(|stmt| self.number_put(stmt))
            else {
                return false;
            };
            let (array, added, same) = (*array, added.clone(), other == place);
            if op == ArrayOp::Set {
                return same && self.added_before(out, stmt, (at, last));
            }
            let Some(next) = after.filter(|_| same && self.there.contains(&current)) else {
                (after, current) = (Some(at), array);
                continue;
            };
            if let Some(Op::Array(ArrayOp::AddAt, args)) = out.get_mut(next).map(|stmt| &mut stmt.op)
                && let Some(first) = args.first_mut()
            {
                *first = Atom::Var(array);
            }
            let sum = self.func.fresh(Name::new("sum"), Ty::REAL);
            let op = Op::Real(RealOp::Add, vec![added, more]);
            if let Op::Array(ArrayOp::AddAt, args) = &mut stmt.op
                && let Some(added) = args.last_mut()
            {
                *added = Atom::Var(sum);
            }
            out.remove(at);
            out.push(Stmt { outs: vec![sum], op, span: stmt.span });
            *last = last.map(|last| last.saturating_sub(usize::from(last > at)));
            return true;
        }
        false
    }

    /// What is added is added to what was set there, as long as nothing is computed between that it takes. The statement hands on the array.
    fn added_before(
        &mut self,
        out: &mut Vec<Stmt>,
        stmt: &mut Stmt,
        (at, last): (usize, &mut Option<usize>),
    ) -> bool {
        let Op::Array(_, args) = &stmt.op else { return false };
        let (Some(array), Some(more)) = (args.first().cloned(), args.last().cloned()) else { return false };
        let later = out.iter().skip(at).flat_map(|stmt| &stmt.outs);
        if later.copied().any(|var| more == Atom::Var(var)) {
            return false;
        }
        let Some(Op::Array(ArrayOp::Set, args)) = out.get_mut(at).map(|stmt| &mut stmt.op) else {
            return false;
        };
        let Some(set) = args.last_mut() else { return false };
        if *set == Atom::Real(0.0) {
            *set = more;
        } else {
            let sum = self.func.fresh(Name::new("sum"), Ty::REAL);
            let op = Op::Real(RealOp::Add, vec![std::mem::replace(set, Atom::Var(sum)), more]);
            out.insert(at, Stmt { outs: vec![sum], op, span: stmt.span });
            *last = last.map(|last| last + usize::from(last >= at));
        }
        let (before, from) = out.split_at_mut(at);
        if let Some(set) = from.first_mut()
            && let Some(same) = self.sets_nothing(before, set)
        {
            set.op = Op::Copy(same);
        }
        stmt.op = Op::Copy(array);
        true
    }

    /// Two updates as one, if the first is needed for nothing but the second, which adds at the same place.
    fn at_once(&mut self, first: Option<&Stmt>, second: &Stmt) -> Option<Once> {
        let first = first?;
        let (op, array, place, one) = self.number_put(first)?;
        let (updated, same, other) = self.number_added(second)?;
        let updated = updated.var()?;
        if first.outs.as_slice() != [updated] || self.uses.get(&updated) != Some(&1) || place != same {
            return None;
        }
        let (added, sum) = match (one, other) {
            (Atom::Real(0.0), x) | (x, Atom::Real(0.0)) => (x.clone(), None),
            (one, other) => {
                let var = self.func.fresh(Name::new("sum"), Ty::REAL);
                let op = Op::Real(RealOp::Add, vec![one.clone(), other.clone()]);
                (Atom::Var(var), Some(Stmt { outs: vec![var], op, span: second.span }))
            }
        };
        let args = [array.clone()].into_iter().chain(place.iter().cloned()).chain([added]);
        Some(Once { sum, update: Op::Array(op, args.collect()) })
    }
}

/// Two updates as one.
struct Once {
    sum: Option<Stmt>,
    update: Op,
}
