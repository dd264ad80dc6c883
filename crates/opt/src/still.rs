//! A sum over rows of tangents goes past the rows that are zero: they are found once, before the loop that makes many such sums.
//!
//! ```text
//!                                             places = the indices of rows of ts that are not zero
//! each j < m, p in ps {                       each j < m, p in ps {
//!   s = for i < n, s = 0.0, t in ts {           s = for k < length(places), s = 0.0, i in places {
//!     a = for …, x in t, y in p { …     becomes     t = ts[i]
//!     s2 = s + a                                    a = for …, x in t, y in p { …
//!     yield s2                                      s2 = s + a
//!   }                                               yield s2
//! ```
//!
//! Zeros are strong: what is multiplied with a zero tangent is zero, and so is what is added then. In a Jacobian each direction moves
//! few of the rows. Looking at all of them takes as long as one of the many sums; where a row is so short that its sum is no loop,
//! nothing is looked at. What may fail in such a sum must fail for the first row if it does for any, and the first row is gone
//! through then. Sums have the same bits: they begin with 0, to which a zero of either sign adds nothing.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not known to be zero")]

use crate::facts::{is_safe, is_total, total};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Sums of fewer rows are as fast as looking.
const FEW: i64 = 8;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Still { func, total: &total, depths: FxHashMap::default(), waiting: Vec::new() };
        pass.depths.extend(body.params.iter().map(|param| (*param, 0)));
        pass.block(&mut body, 0);
        func.body = body;
    }
}

struct Still<'p> {
    func: &'p mut Func,
    total: &'p FxHashSet<FuncId>,
    /// In how many loops variables are bound.
    depths: FxHashMap<Var, usize>,
    /// What waits to be put before the loop around it that is in so many loops.
    waiting: Vec<(usize, Places)>,
}

/// The places of the rows of an array that are not zero.
struct Places {
    array: Atom,
    /// Whether the first place is among them in any case.
    first: bool,
    places: Var,
    count: Var,
    stmts: Vec<Stmt>,
}

impl Still<'_> {
    fn block(&mut self, place: &mut Block, depth: usize) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.depths.extend(place.params.iter().map(|param| (*param, depth)));
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                self.depths.extend(stmt.outs.iter().map(|var| (*var, depth)));
                let is_loop = matches!(stmt.op, Op::Loop(_) | Op::While(_));
                let inner = depth + usize::from(is_loop);
                stmt.op.blocks_mut().into_iter().for_each(|block| self.block(block, inner));
                if is_loop {
                    for (_, places) in self.waiting.extract_if(.., |(before, _)| *before == depth) {
                        out.extend(places.stmts);
                    }
                    self.sum(&mut stmt, depth);
                }
                out.push(stmt);
            }
            place.stmts = out;
        });
    }

    fn depth(&self, atom: &Atom) -> usize {
        atom.var().and_then(|var| self.depths.get(&var)).copied().unwrap_or(0)
    }

    /// Changes a sum inside of another loop, if it goes through rows that may be zero.
    fn sum(&mut self, stmt: &mut Stmt, depth: usize) {
        let span = stmt.span;
        let Op::Loop(parts) = &mut stmt.op else { return };
        let sums = parts.mode == Mode::Sequence
            && parts.body.results.len() == parts.init.len() + parts.accs.len()
            && !parts.body.results.is_empty()
            && !matches!(parts.len, Atom::Int(n) if n < FEW)
            && parts.init.iter().chain(&parts.accs).all(|start| !is_minus_zero(start));
        if !sums || parts.body.stmts.iter().all(|stmt| stmt.op.blocks().is_empty()) {
            return;
        }
        let Some(first) = fails_at_once(parts, self.total) else { return };
        let rows = parts.body.params.iter().skip(1 + parts.body.results.len());
        let found = rows.zip(&parts.inputs).find(|(row, input)| {
            let fits = matches!(self.func.ty(**row), Ty::Array(Elem::Real, _)) && self.depth(input) < depth;
            fits && holds_loop(&parts.body, **row) && adds_nothing(parts, **row)
        });
        let Some((row, array)) = found.map(|(row, input)| (*row, input.clone())) else { return };
        let (places, count) = self.places(row, array, first, span);
        self.only(parts, places, count, span);
    }

    /// The places of rows that are not zero, which are found before the loop after the array: it may not be known there that there are
    /// as many rows as iterations.
    fn places(&mut self, row: Var, array: Atom, first: bool, span: Span) -> (Var, Var) {
        let before = self.depth(&array);
        let same =
            |(depth, made): &&(usize, Places)| *depth == before && made.array == array && made.first == first;
        if let Some((_, made)) = self.waiting.iter().find(same) {
            return (made.places, made.count);
        }
        let (index, row) = (self.fresh("i", Ty::INT), self.fresh("row", self.func.ty(row)));
        let mut body = Block { params: vec![index, row], ..Block::default() };
        let index = Atom::Var(index);
        let start = if first {
            let is_first = self.fresh("first", Ty::BOOL);
            let op = Op::Compare(Compare::Eq, index.clone(), Atom::Int(0));
            body.stmts.push(Stmt { outs: vec![is_first], op, span });
            Atom::Var(is_first)
        } else {
            Atom::Bool(false)
        };
        let moves = self.moves(row, start, span, &mut body.stmts);
        body.results = vec![index, Atom::Var(moves)];
        let ints = Ty::Array(Elem::Int, 1);
        let (all, which) = (self.fresh("all", ints), self.fresh("moves", Ty::Array(Elem::Bool, 1)));
        let (places, count) = (self.fresh("places", ints), self.fresh("count", Ty::INT));
        let len = self.fresh("n", Ty::INT);
        let look = Loop {
            mode: Mode::Each,
            backward: false,
            len: Atom::Var(len),
            inputs: vec![array.clone()],
            init: Vec::new(),
            accs: Vec::new(),
            body,
        };
        let filter = Op::Array(ArrayOp::Filter, vec![Atom::Var(all), Atom::Var(which)]);
        let length = |array| Op::Array(ArrayOp::Length(0), vec![array]);
        let stmts = vec![
            Stmt { outs: vec![len], op: length(array.clone()), span },
            Stmt { outs: vec![all, which], op: Op::Loop(Box::new(look)), span },
            Stmt { outs: vec![places], op: filter, span },
            Stmt { outs: vec![count], op: length(Atom::Var(places)), span },
        ];
        self.waiting.push((before, Places { array, first, places, count, stmts }));
        (places, count)
    }

    /// Whether a number in an array is not zero, or it was so `before`.
    fn moves(&mut self, array: Var, before: Atom, span: Span, out: &mut Vec<Stmt>) -> Var {
        let ty = self.func.ty(array);
        let len = self.fresh("n", Ty::INT);
        out.push(Stmt { outs: vec![len], op: Op::Array(ArrayOp::Length(0), vec![Atom::Var(array)]), span });
        let row = Ty::of_rank(Elem::Real, ty.rank().saturating_sub(1));
        let params = [("j", Ty::INT), ("moves", Ty::BOOL), ("x", row)];
        let [index, so_far, row] = params.map(|(name, ty)| self.fresh(name, ty));
        let mut body = Block { params: vec![index, so_far, row], ..Block::default() };
        let result = if self.func.ty(row).rank() > 0 {
            self.moves(row, Atom::Var(so_far), span, &mut body.stmts)
        } else {
            let (moves, result) = (self.fresh("moves", Ty::BOOL), self.fresh("moves", Ty::BOOL));
            let op = Op::Compare(Compare::Ne, Atom::Var(row), Atom::Real(0.0));
            body.stmts.push(Stmt { outs: vec![moves], op, span });
            let op =
                Op::Select { cond: Atom::Var(so_far), then: Atom::Bool(true), otherwise: Atom::Var(moves) };
            body.stmts.push(Stmt { outs: vec![result], op, span });
            result
        };
        body.results = vec![Atom::Var(result)];
        let found = self.fresh("moves", Ty::BOOL);
        let op = Op::Loop(Box::new(Loop {
            mode: Mode::Sequence,
            backward: false,
            len: Atom::Var(len),
            inputs: vec![Atom::Var(array)],
            init: vec![before],
            accs: Vec::new(),
            body,
        }));
        out.push(Stmt { outs: vec![found], op, span });
        found
    }

    /// Lets a loop go through these places only.
    fn only(&mut self, parts: &mut Loop, places: Var, count: Var, span: Span) {
        let carried = 1 + parts.init.len() + parts.accs.len();
        let rows = parts.body.params.split_off(carried.min(parts.body.params.len()));
        let Some(index) = parts.body.params.first_mut() else { return };
        let place = std::mem::replace(index, self.func.vars.push(VarInfo { name: "k".into(), ty: Ty::INT }));
        parts.body.params.push(place);
        let read = rows.into_iter().zip(parts.inputs.drain(..)).map(|(row, input)| {
            let op = Op::Array(ArrayOp::Index, vec![input, Atom::Var(place)]);
            Stmt { outs: vec![row], op, span }
        });
        let read: Vec<Stmt> = read.collect();
        parts.body.stmts.splice(..0, read);
        parts.inputs = vec![Atom::Var(places)];
        parts.len = Atom::Var(count);
    }

    fn fresh(&mut self, name: impl Into<Name>, ty: Ty) -> Var {
        self.func.vars.push(VarInfo { name: name.into(), ty })
    }
}

/// Whether the first iteration of a loop fails if any does, and if there is something that may fail at all.
pub(crate) fn fails_at_once(parts: &Loop, total: &FxHashSet<FuncId>) -> Option<bool> {
    let mut inside: FxHashSet<Var> = parts.body.params.iter().copied().collect();
    // What changes, but not in shape: rows of one array have one.
    let carried = 1 + parts.init.len() + parts.accs.len();
    let mut shaped: FxHashSet<Var> = parts.body.params.iter().skip(carried).copied().collect();
    let mut may = false;
    for stmt in &parts.body.stmts {
        let fixed = |atom: &Atom| atom.var().is_none_or(|var| !inside.contains(&var));
        let has_shape = |atom: &Atom| fixed(atom) || atom.var().is_some_and(|var| shaped.contains(&var));
        let (mut same, mut row, mut size) = (false, false, false);
        match &stmt.op {
            Op::Require { left, right, .. } => same = fixed(left) && fixed(right),
            Op::Array(ArrayOp::Index, args) => {
                let (array, indices) = args.split_first()?;
                row = has_shape(array);
                same = row && indices.iter().all(fixed);
            }
            Op::Array(ArrayOp::Dot, args) => same = args.iter().all(has_shape),
            Op::Array(ArrayOp::Length(_), args) => size = args.iter().all(has_shape),
            _ => {}
        }
        let safe = is_safe(&stmt.op, total);
        if !(safe || same) || !stmt.op.blocks().into_iter().all(|block| is_total(block, total)) {
            return None;
        }
        may |= !safe;
        if row {
            shaped.extend(&stmt.outs);
        }
        if !size {
            inside.extend(&stmt.outs);
        }
    }
    Some(may)
}

fn is_zero(atom: &Atom) -> bool {
    matches!(atom, Atom::Real(x) if *x == 0.0)
}

/// Whether it is a constant with which zero gives zero.
fn is_finite(atom: &Atom) -> bool {
    matches!(atom, Atom::Real(x) if x.is_finite())
}

fn is_minus_zero(atom: &Atom) -> bool {
    // What is no constant may be -0.
    !matches!(atom, Atom::Real(x) if *x != 0.0 || x.is_sign_positive())
}

/// Whether a loop inside of a body uses a row of it, or a row of that.
fn holds_loop(body: &Block, row: Var) -> bool {
    let mut parts_of: FxHashSet<Var> = FxHashSet::from_iter([row]);
    let mut found = false;
    body.for_each_stmt(&mut |stmt| match &stmt.op {
        Op::Array(ArrayOp::Index, args)
            if args.first().and_then(Atom::var).is_some_and(|var| parts_of.contains(&var)) =>
        {
            parts_of.extend(&stmt.outs);
        }
        Op::Loop(parts) => {
            found |= parts.inputs.iter().filter_map(Atom::var).any(|var| parts_of.contains(&var));
        }
        _ => {}
    });
    found
}

/// Whether an iteration adds zero to all that the loop carries if this row is zero.
fn adds_nothing(parts: &Loop, row: Var) -> bool {
    let mut zeros: FxHashSet<Var> = FxHashSet::from_iter([row]);
    vanish(&parts.body, &mut zeros);
    let zero = |atom: &Atom| is_zero(atom) || atom.var().is_some_and(|var| zeros.contains(&var));
    parts.body.params.iter().skip(1).zip(&parts.body.results).all(|(before, after)| {
        let before = Atom::Var(*before);
        let adds = |stmt: &Stmt| {
            let is_it = stmt.outs.first().is_some_and(|out| *after == Atom::Var(*out));
            is_it
                && match &stmt.op {
                    Op::Real(RealOp::Add, args) => match args.as_slice() {
                        [x, y] => (*x == before && zero(y)) || (*y == before && zero(x)),
                        _ => false,
                    },
                    _ => false,
                }
        };
        *after == before || parts.body.stmts.iter().any(adds)
    })
}

/// Adds to the variables that are zero what is zero because of them.
pub(crate) fn vanish(block: &Block, zeros: &mut FxHashSet<Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &block.stmts {
            let found = vanishing(stmt, zeros);
            zeros.extend(found);
        }
    });
}

/// The results of a statement that are zero.
pub(crate) fn vanishing(stmt: &Stmt, zeros: &mut FxHashSet<Var>) -> Vec<Var> {
    let zero = |zeros: &FxHashSet<Var>, atom: &Atom| {
        is_zero(atom) || atom.var().is_some_and(|var| zeros.contains(&var))
    };
    let first = |args: &[Atom]| args.first().is_some_and(|atom| zero(zeros, atom));
    let all = |args: &[Atom]| args.iter().all(|atom| zero(zeros, atom));
    let vanishes = match &stmt.op {
        Op::Copy(x) => zero(zeros, x),
        Op::Select { cond: _, then, otherwise } => zero(zeros, then) && zero(zeros, otherwise),
        Op::Real(op, args) => match op {
            RealOp::MulZero => args.iter().any(|atom| zero(zeros, atom)),
            RealOp::DivZero => first(args),
            RealOp::Neg | RealOp::Add | RealOp::Sub => all(args),
            RealOp::Mul => match args.as_slice() {
                [x, y] => (zero(zeros, x) && is_finite(y)) || (zero(zeros, y) && is_finite(x)),
                _ => false,
            },
            RealOp::Div => first(args) && args.last().is_some_and(|by| is_finite(by) && !is_zero(by)),
            _ => false,
        },
        Op::Array(op, args) => match op {
            ArrayOp::Index | ArrayOp::Slice | ArrayOp::Reverse | ArrayOp::Transpose => first(args),
            ArrayOp::Flatten | ArrayOp::Ravel | ArrayOp::Reshape | ArrayOp::Zeros => first(args),
            ArrayOp::Add | ArrayOp::Literal => all(args),
            _ => false,
        },
        Op::If { .. } | Op::Match { .. } => {
            let blocks = stmt.op.blocks();
            blocks.iter().for_each(|block| vanish(block, zeros));
            let of = |place: usize| {
                blocks.iter().all(|block| block.results.get(place).is_some_and(|atom| zero(zeros, atom)))
            };
            return (0..).zip(&stmt.outs).filter(|(place, _)| of(*place)).map(|(_, out)| *out).collect();
        }
        Op::Loop(parts) => return turns(stmt, parts, zeros),
        _ => false,
    };
    if vanishes { stmt.outs.clone() } else { Vec::new() }
}

/// The results of a loop that are zero: what it carries is, if it begins and goes on so.
fn turns(stmt: &Stmt, parts: &Loop, zeros: &mut FxHashSet<Var>) -> Vec<Var> {
    let zero = |zeros: &FxHashSet<Var>, atom: &Atom| {
        is_zero(atom) || atom.var().is_some_and(|var| zeros.contains(&var))
    };
    let given: Vec<&Atom> = parts.init.iter().chain(&parts.accs).collect();
    let mut holds: Vec<bool> = given.iter().map(|atom| zero(zeros, atom)).collect();
    loop {
        let mut inside = zeros.clone();
        let params = parts.body.params.iter().skip(1);
        let carried = params.clone().zip(&holds).filter(|(_, holds)| **holds).map(|(param, _)| *param);
        inside.extend(carried);
        let rows = params.skip(given.len()).zip(&parts.inputs).filter(|(_, input)| zero(zeros, input));
        let rows: Vec<Var> = rows.map(|(row, _)| *row).collect();
        inside.extend(rows);
        vanish(&parts.body, &mut inside);
        let after: Vec<bool> = parts.body.results.iter().map(|atom| zero(&inside, atom)).collect();
        let still: Vec<bool> = holds.iter().zip(&after).map(|(before, after)| *before && *after).collect();
        if still == holds {
            let outputs = after.iter().skip(given.len());
            let results = holds.iter().chain(outputs);
            return stmt.outs.iter().zip(results).filter(|(_, zero)| **zero).map(|(out, _)| *out).collect();
        }
        holds = still;
    }
}
