//! A loop that hands an array on, and leaves much of it as it was, changes the rest in place: once, before derivatives are made.
//!
//! ```text
//! u = for k < n, m = a {                                        u = for k < n, m = a {
//!   t = each i < n, r in m {                                      t = for i < n, m2 = m {
//!     y = if i <= k { yield r }                                     m3 = if i <= k { yield m2 }
//!     else {                                                        else {
//!       z = each j < n, x in r { … yield x - f * m[k, j] }  becomes   z = for j < n, m4 = m2 {
//!       yield z }                                                       m5 = m4 with [i, j] = m4[i, j] - f * m4[k, j]
//!     yield y }                                                         yield m5 }
//!   yield t }                                                         yield z }
//!                                                                   yield m3 }
//!                                                                 yield t }
//! ```
//!
//! So one writes elimination without assignments. Nothing is copied then, the iterations that leave all as it was are not gone through ([`within`](crate::within)),
//! and a derivative keeps of each step what the step changes, not all of the array.
//!
//! What is read of the array must be there still: the element that is changed itself, or one that is left as it is in all iterations, as the row `k` above
//! ([`region`]). The array must have the shape that it is made in; where that is not known, a branch asks before the loop.

mod region;
mod there;

use self::region::{Conversion, Region, Size};
use crate::asked;
use crate::facts::total;
use crate::linear::Linear;
use crate::said;
use crate::sizes::{Shape, boxes, walk};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        if func.body.all_stmts(&mut |stmt| places(func, stmt).is_empty()) {
            continue;
        }
        let shapes = walk(func, &boxes, false);
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        let mut made = FxHashMap::default();
        body.for_each_stmt(&mut |stmt| {
            if let ([out], true) = (stmt.outs.as_slice(), said::tells(&stmt.op)) {
                made.insert(*out, stmt.op.clone());
            }
        });
        let mut pass = Changes { func, shapes, uses, made, total: &total, changed: false };
        pass.block(&mut body);
        changed |= pass.changed;
        func.body = body;
    }
    changed
}

/// At which places a loop hands on arrays of numbers that a loop or branch in it makes.
fn places(func: &Func, stmt: &Stmt) -> Vec<usize> {
    let Op::Loop(parts) = &stmt.op else { return Vec::new() };
    let makes = |place: &usize| {
        let is_array = matches!(stmt.outs.get(*place).map(|out| func.ty(*out)), Some(Ty::Array(elem, _)) if is_plain(elem));
        let result = parts.body.results.get(*place).and_then(Atom::var);
        let maker = |stmt: &Stmt| {
            result.is_some_and(|var| stmt.outs.contains(&var))
                && matches!(stmt.op, Op::Loop(_) | Op::If { .. })
        };
        is_array && parts.mode == Mode::Sequence && parts.body.stmts.iter().any(maker)
    };
    (0..parts.init.len()).filter(makes).collect()
}

fn is_plain(elem: Elem) -> bool {
    matches!(elem, Elem::Real | Elem::Int | Elem::Bool)
}

struct Changes<'p> {
    func: &'p mut Func,
    /// What is known of the shapes of arrays.
    shapes: FxHashMap<Var, Shape>,
    uses: FxHashMap<Var, usize>,
    /// What makes conditions and places.
    made: FxHashMap<Var, Op>,
    /// Functions that always return.
    total: &'p FxHashSet<wengert_ir::FuncId>,
    changed: bool,
}

impl Changes<'_> {
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                for place in places(self.func, &stmt) {
                    self.at(place, &mut stmt, &mut out);
                }
                out.push(stmt);
            }
            block.stmts = out;
        });
    }

    /// Lets a loop change what it hands on at this place, if it can.
    fn at(&mut self, place: usize, stmt: &mut Stmt, out: &mut Vec<Stmt>) {
        let Op::Loop(parts) = &stmt.op else { return };
        let Some(conversion) =
            [true, false].into_iter().find_map(|early| self.converted(parts, place, early))
        else {
            return;
        };
        let Some(asked) = self.asked(parts, place, &conversion) else { return };
        self.changed = true;
        let mut changed = parts.clone();
        changed.body.stmts = conversion.stmts;
        let span = stmt.span;
        let Some(holds) = self.holds(&asked, parts.init.get(place), (out, span)) else {
            stmt.op = Op::Loop(changed);
            return;
        };
        let mut copier = Copier::within();
        let as_it_was = copier.stmt(self.func, stmt);
        let outs: Vec<Var> =
            stmt.outs.iter().map(|out| self.func.vars.push(*self.func.vars.at(*out))).collect();
        let in_place = Stmt { outs, op: Op::Loop(changed), span };
        let side = |stmt: Stmt| {
            let results = stmt.outs.iter().copied().map(Atom::Var).collect();
            Block { params: Vec::new(), stmts: vec![stmt], results }
        };
        stmt.op = Op::If { cond: holds, then: side(in_place), otherwise: side(as_it_was) };
    }

    /// The body of a loop that changes what it hands on at a place. If `early`, rows that it takes before the array is made are read where they are used.
    fn converted(&mut self, parts: &Loop, place: usize, early: bool) -> Option<Conversion> {
        let array = *parts.body.params.get(1 + place)?;
        let rank = usize::from(self.func.ty(array).rank());
        let region = Region::new(&mut *self.func, (&self.made, &self.uses), self.total, (array, rank), early);
        region.convert(parts, place)
    }

    /// Along which axes the array must be asked for its size, for it to have the shape in which the body makes it; nothing if that cannot be.
    fn asked(&self, parts: &Loop, place: usize, made: &Conversion) -> Option<Vec<(usize, Atom)>> {
        let inside = parts.body.bound_vars();
        let known = |var: Option<Var>, axis: usize| self.shapes.get(&var?)?.get(axis)?.as_ref();
        let array = parts.body.params.get(1 + place).copied();
        let start = parts.init.get(place)?.var();
        let fits = |axis: usize, size: Option<&Linear>| {
            size.is_some() && (size == known(array, axis) || size == known(start, axis))
        };
        let rank = usize::from(self.func.ty(array?).rank());
        let row_fits = |(depth, row): &(usize, Var)| {
            (*depth..rank).all(|axis| fits(axis, known(Some(*row), axis - depth)))
        };
        if !made.rows.iter().all(row_fits) {
            return None;
        }
        let mut asked: Vec<(usize, Atom)> = Vec::new();
        for Size { axis, len, array } in &made.sizes {
            if fits(*axis, known(Some(*array), 0)) {
                continue;
            }
            if len.var().is_some_and(|var| inside.contains(&var)) {
                return None;
            }
            match asked.iter().find(|(other, _)| other == axis) {
                Some((_, other)) if other == len => {}
                Some(_) => return None,
                None => asked.push((*axis, len.clone())),
            }
        }
        Some(asked)
    }

    /// What is asked before the loop, if something is.
    fn holds(
        &mut self,
        asked: &[(usize, Atom)],
        start: Option<&Atom>,
        (out, span): asked::Out<'_>,
    ) -> Option<Atom> {
        let start = start?;
        let mut all = Atom::Bool(true);
        for (axis, len) in asked {
            let op = Op::Array(ArrayOp::Length(u8::try_from(*axis).ok()?), vec![start.clone()]);
            let size = asked::push(self.func, (&mut *out, span), ("n", Ty::INT), op);
            let op = Op::Compare(Compare::Eq, size, len.clone());
            let same = asked::push(self.func, (&mut *out, span), ("same", Ty::BOOL), op);
            all = asked::both(self.func, (&mut *out, span), all, same);
        }
        (all != Atom::Bool(true)).then_some(all)
    }
}
