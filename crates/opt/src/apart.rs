//! What each iteration of a loop adds to one and the same element of an array is summed apart, and added once.
//!
//! ```text
//! zs = ys with [k] += 1.0                                       zs, m = each i < n, a += ys, m += 0.0, x in xs {
//! zs2 = each i < n, a += zs, x in xs {                            b = a with [i] += x
//!   b = a with [i] += x                               becomes     m2 = m - x
//!   y = -x                                                        yield b, m2
//!   c = b with [k] += y                                         }
//!   yield c }                                                   sum = 1.0 + m   zs2 = zs with [k] += sum
//! ```
//!
//! Where the loop may have no iteration, and then the element need not be there, a branch asks. Then the other updates may be rows. So it is in the derivative of what takes the largest element from all of them. Numbers are added up in another
//! order: it is for where they need not be to the last bit what they are elsewhere.

use crate::sizes::{boxes, in_range_there};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// To so many elements at most a loop adds, and to no others, of which each is summed apart.
const ELEMENTS: usize = 16;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    in_all(program, false)
}

/// Sums apart all that loops add to a few elements, and to no others of an array, which are always the same. Whether something has changed.
pub(crate) fn cells(program: &mut Program) -> bool {
    in_all(program, true)
}

fn in_all(program: &mut Program, cells: bool) -> bool {
    let boxes = boxes(program);
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let adds = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::AddAt, _));
        if func.body.all_stmts(&mut |stmt| !adds(stmt)) {
            continue;
        }
        let there = in_range_there(func, &boxes);
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        let (begun, rows, mut once) = (FxHashSet::default(), FxHashSet::default(), FxHashMap::default());
        changed |= Apart { func, uses, there, begun, rows, once: &mut once, cells }.block(&mut body);
        func.body = body;
        // One that need not be there tells nothing of another one any more when a branch asks.
        while !once.is_empty() {
            let there = in_range_there(func, &boxes);
            let (sure, asked): (FxHashMap<Var, Atom>, _) =
                once.drain().partition(|(total, _)| there.contains(total));
            if asked.is_empty() {
                break;
            }
            let mut body = std::mem::take(&mut func.body);
            if_any(func, &mut body, &asked);
            func.body = body;
            once = sure;
        }
    }
    changed
}

/// Adds what a loop has summed only if that had an iteration, where else the element need not be there.
fn if_any(func: &mut Func, place: &mut Block, once: &FxHashMap<Var, Atom>) {
    if once.is_empty() {
        return;
    }
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| if_any(func, inner, once));
            if let ([total], Op::Array(ArrayOp::AddAt, args)) = (stmt.outs.as_slice(), &stmt.op)
                && let (Some(len), Some(before)) = (once.get(total), args.first().cloned())
            {
                let name = func.vars.at(*total).name;
                let (some, added) =
                    (func.fresh(Name::new("some"), Ty::BOOL), func.fresh(name, func.ty(*total)));
                let ask = Op::Compare(Compare::Gt, len.clone(), Atom::Int(0));
                out.push(Stmt { outs: vec![some], op: ask, span: stmt.span });
                let update = Stmt { outs: vec![added], op: stmt.op, span: stmt.span };
                let then = Block { stmts: vec![update], results: vec![Atom::Var(added)], ..Block::default() };
                let otherwise = Block { results: vec![before], ..Block::default() };
                stmt.op = Op::If { cond: Atom::Var(some), then, otherwise };
            }
            out.push(stmt);
        }
        place.stmts = out;
    });
}

struct Apart<'p> {
    func: &'p mut Func,
    uses: FxHashMap<Var, usize>,
    /// What is updated at places that are there.
    there: FxHashSet<Var>,
    /// What loops around this place have added up so far in an array that was zeros before them.
    begun: FxHashSet<Var>,
    /// What they have added up in rows of zeros.
    rows: FxHashSet<Var>,
    /// What is added after loops, and how many iterations these have.
    once: &'p mut FxHashMap<Var, Atom>,
    /// Whether this is about accumulators of which no other elements change.
    cells: bool,
}

/// An update of an element that is always the same: where it stands in the body, the place, and what is added.
struct Update {
    at: usize,
    place: Vec<Atom>,
    added: Atom,
}

impl Apart<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                if let Op::Loop(parts) = &stmt.op {
                    self.begun.extend(self.may_be_rows(parts, &out));
                    let rows = (0..parts.accs.len()).filter(|at| self.is_row(parts, *at, &out));
                    let params = rows.filter_map(|at| parts.body.params.get(1 + parts.init.len() + at));
                    let params: Vec<Var> = params.copied().collect();
                    self.rows.extend(params);
                }
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                let mut after = Vec::new();
                if let Op::Loop(parts) = &mut stmt.op {
                    after = if self.cells {
                        self.cells_of(parts, &mut stmt.outs, stmt.span)
                    } else {
                        self.sums_of(parts, &mut stmt.outs, stmt.span, &mut out)
                    };
                }
                changed |= !after.is_empty();
                out.push(stmt);
                out.extend(after);
            }
            place.stmts = out;
            changed
        })
    }

    /// Sums apart what is added to one element of each accumulator of which others change too; gives the updates after the loop.
    fn sums_of(
        &mut self,
        parts: &mut Loop,
        outs: &mut Vec<Var>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Vec<Stmt> {
        let mut after = Vec::new();
        let all = self.may_be_rows(parts, out).is_some();
        for at in 0..parts.accs.len() {
            if !all && !self.is_row(parts, at, out) {
                continue;
            }
            let place = parts.init.len() + at;
            if let Some(update) = self.update(parts, place) {
                let last = self.summed(parts, outs, place, update, span);
                after.extend(self.begin_without(parts, outs, at, out));
                after.extend(last);
            }
        }
        after
    }

    /// Sums apart all that is added to accumulators of which no other elements change; gives the updates after the loop.
    fn cells_of(&mut self, parts: &mut Loop, outs: &mut Vec<Var>, span: Span) -> Vec<Stmt> {
        let mut after = Vec::new();
        let mut gone = 0;
        for at in 0..parts.accs.len() {
            let cells = self.all_fixed(parts, outs, at - gone, span);
            gone += usize::from(!cells.is_empty());
            after.extend(cells);
        }
        after
    }

    /// If a loop adds to one array only, which is zeros before, but for an element: what has been added up so far. Else the other updates
    /// stay updates, and machine code knows what to do with all of them together.
    fn may_be_rows(&self, parts: &Loop, before: &[Stmt]) -> Option<Var> {
        let params = parts.body.params.iter().skip(1 + parts.init.len());
        let mut arrays = parts.accs.iter().zip(params).filter(|(acc, _)| self.func.type_of(acc).rank() > 0);
        let (Some((Atom::Var(array), param)), None) = (arrays.next(), arrays.next()) else { return None };
        let made = |var: Var| before.iter().rfind(|stmt| stmt.outs == [var]).map(|stmt| &stmt.op);
        let added_to = |op: &Op| {
            if let Op::Array(ArrayOp::AddAt, args) = op { args.first().and_then(Atom::var) } else { None }
        };
        let from = made(*array).and_then(added_to).unwrap_or(*array);
        let zeros = self.begun.contains(&from) || matches!(made(from), Some(Op::Array(ArrayOp::Zeros, _)));
        zeros.then_some(*param)
    }

    /// Whether an accumulator is a row of zeros that was made for the loop, or for one around it. Whatever else it adds to, such a row is
    /// better made, and not updated.
    fn is_row(&self, parts: &Loop, at: usize, before: &[Stmt]) -> bool {
        let Some(row) = parts.accs.get(at).and_then(Atom::var) else { return false };
        let made = before.iter().rfind(|stmt| stmt.outs == [row]).map(|stmt| &stmt.op);
        let zeros = |args: &[Atom]| args.last() == Some(&Atom::Real(0.0));
        self.rows.contains(&row) || matches!(made, Some(Op::Array(ArrayOp::Replicate, args)) if zeros(args))
    }

    /// Sums apart all that is added to an accumulator, if that is only added to a few elements that are always the same: then the loop has
    /// no such accumulator any more. Gives the updates after the loop.
    fn all_fixed(&mut self, parts: &mut Loop, outs: &mut Vec<Var>, at: usize, span: Span) -> Vec<Stmt> {
        let place = parts.init.len() + at;
        let fixed = |(updates, others): &(Vec<Update>, usize)| {
            (1..=ELEMENTS).contains(&updates.len()) && *others == 0
        };
        let (Some((updates, _)), Some(start)) =
            (self.updates(parts, place).filter(fixed), parts.accs.get(at).cloned())
        else {
            return Vec::new();
        };
        let updates = self.once_each(&mut parts.body, updates, span);
        let mut after = Vec::new();
        // Of several the last one stands where it stood until those before have moved.
        for update in updates.into_iter().rev() {
            after.extend(self.summed(parts, outs, place, update, span));
        }
        parts.accs.remove(at);
        parts.body.results.remove(place);
        let mut handed_on = FxHashSet::from_iter([parts.body.params.remove(1 + place)]);
        parts.body.stmts.retain(|stmt| {
            let is_it = matches!(&stmt.op, Op::Copy(Atom::Var(var)) if handed_on.contains(var));
            handed_on.extend(stmt.outs.iter().filter(|_| is_it));
            !is_it
        });
        after.push(Stmt { outs: vec![outs.remove(place)], op: Op::Copy(start), span });
        after.reverse();
        after
    }

    /// What is added to one place several times is added where it was last.
    fn once_each(&mut self, body: &mut Block, updates: Vec<Update>, span: Span) -> Vec<Update> {
        let mut kept: Vec<Update> = Vec::with_capacity(updates.len());
        let mut moved = 0;
        for mut update in updates {
            update.at += moved;
            let same = kept.iter().position(|before| before.place == update.place);
            if let Some(before) = same.map(|same| kept.remove(same))
                && let Some(Stmt { op, .. }) = body.stmts.get_mut(before.at)
                && let Op::Array(_, args) = &*op
                && let Some(array) = args.first().cloned()
            {
                *op = Op::Copy(array);
                let both = self.func.fresh(Name::new("both"), Ty::REAL);
                let sum = Op::Real(RealOp::Add, vec![before.added, update.added]);
                body.stmts.insert(update.at, Stmt { outs: vec![both], op: sum, span });
                (moved, update.at) = (moved + 1, update.at + 1);
                update.added = Atom::Var(both);
            }
            kept.push(update);
        }
        kept
    }

    /// The update of an accumulator at a place that is the same in all iterations, if there is another one besides.
    fn update(&self, parts: &Loop, place: usize) -> Option<Update> {
        let (fixed, others) = self.updates(parts, place)?;
        let more = fixed.len() + others > 1;
        fixed.into_iter().next().filter(|_| more)
    }

    /// The updates of an accumulator at places that are the same in all iterations, and how many others there are.
    fn updates(&self, parts: &Loop, place: usize) -> Option<(Vec<Update>, usize)> {
        if parts.mode == Mode::Reduce {
            return None;
        }
        let mut current = *parts.body.params.get(1 + place)?;
        let end = parts.body.results.get(place)?.var()?;
        let mut inside: FxHashSet<Var> = parts.body.params.iter().copied().collect();
        parts.body.stmts.iter().for_each(|stmt| inside.extend(&stmt.outs));
        let is_fixed = |index: &Atom| index.var().is_none_or(|var| !inside.contains(&var));
        let (mut found, mut others) = (Vec::new(), 0);
        for (at, stmt) in parts.body.stmts.iter().enumerate() {
            let Op::Array(ArrayOp::AddAt, args) = &stmt.op else { continue };
            let ([array, place @ .., added], [out]) = (args.as_slice(), stmt.outs.as_slice()) else {
                continue;
            };
            if array.var() != Some(current) || self.uses.get(&current) != Some(&1) {
                continue;
            }
            current = *out;
            let number = self.func.type_of(added) == Ty::REAL && self.there.contains(out);
            if number && place.iter().all(is_fixed) {
                found.push(Update { at, place: place.to_vec(), added: added.clone() });
            } else {
                others += 1;
            }
        }
        (current == end && self.uses.get(&end) == Some(&1)).then_some((found, others))
    }

    /// Sums apart what is added there; gives the update after the loop.
    fn summed(
        &mut self,
        parts: &mut Loop,
        outs: &mut Vec<Var>,
        place: usize,
        update: Update,
        span: Span,
    ) -> Option<Stmt> {
        let total = *outs.get(place)?;
        let stmt = parts.body.stmts.get_mut(update.at)?;
        let Op::Array(_, args) = &stmt.op else { return None };
        stmt.op = Op::Copy(args.first()?.clone());
        let [before, sum, all] = [(); 3].map(|()| self.func.fresh(Name::new("sum"), Ty::REAL));
        let add = Op::Real(RealOp::Add, vec![Atom::Var(before), update.added]);
        parts.body.stmts.insert(update.at + 1, Stmt { outs: vec![sum], op: add, span });
        let end = parts.init.len() + parts.accs.len();
        parts.accs.push(Atom::Real(0.0));
        parts.body.params.insert(1 + end, before);
        parts.body.results.insert(end, Atom::Var(sum));
        let given = self.given(outs, place)?;
        outs.insert(end, all);
        self.once.insert(total, parts.len.clone());
        let args = [Atom::Var(given)].into_iter().chain(update.place).chain([Atom::Var(all)]);
        Some(Stmt { outs: vec![total], op: Op::Array(ArrayOp::AddAt, args.collect()), span })
    }

    /// A new name for what a loop gives.
    fn given(&mut self, outs: &mut [Var], place: usize) -> Option<Var> {
        let out = outs.get_mut(place)?;
        let info = self.func.vars.at(*out);
        let (name, ty) = (info.name, info.ty);
        *out = self.func.fresh(name, ty);
        Some(*out)
    }

    /// What was added to an accumulator at a place that is there, before the loop, is added after it.
    fn begin_without(
        &mut self,
        parts: &mut Loop,
        outs: &mut [Var],
        at: usize,
        out: &mut Vec<Stmt>,
    ) -> Option<Stmt> {
        let var = parts.accs.get(at)?.var()?;
        let from = out.iter().rposition(|stmt| stmt.outs == [var])?;
        let Stmt { op: Op::Array(ArrayOp::AddAt, args), span, .. } = out.get(from)? else { return None };
        let ([array, place @ .., added], span) = (args.as_slice(), *span) else { return None };
        let number = self.func.type_of(added) == Ty::REAL && self.there.contains(&var);
        if !number || self.uses.get(&var) != Some(&1) {
            return None;
        }
        let (array, rest): (Atom, Vec<Atom>) =
            (array.clone(), place.iter().chain([added]).cloned().collect());
        let slot = parts.init.len() + at;
        let next = *outs.get(slot)?;
        let given = self.given(outs, slot)?;
        *parts.accs.get_mut(at)? = array;
        out.remove(from);
        let args = [Atom::Var(given)].into_iter().chain(rest);
        Some(Stmt { outs: vec![next], op: Op::Array(ArrayOp::AddAt, args.collect()), span })
    }
}
