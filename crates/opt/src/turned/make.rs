//! The loops turned inside out.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not turned")]

use super::is_real;
use super::plan::is_plain;
use crate::asked::{int, push};
use crate::collect::facts::Facts;
use crate::walk::mentioned;
use rustc_hash::FxHashSet;
use wengert_base::{Name, Span};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};

/// So far from each other may those elements lie that iterations read or add to.
const APART: i64 = 4;
/// An array of reals.
pub(super) const REALS: Ty = Ty::Array(Elem::Real, 1);

/// What stands for the loop, and what it gives; nothing, if it cannot be turned.
pub(super) fn made(
    from: &Func,
    facts: &Facts<'_>,
    func: &mut Func,
    stmt: &Stmt,
    size: i64,
) -> Option<(Vec<Stmt>, Vec<Atom>)> {
    let Op::Loop(parts) = &stmt.op else { return None };
    let index = *parts.body.params.first()?;
    let mut maker = Maker {
        from,
        facts,
        func,
        span: stmt.span,
        copier: Copier::new(from),
        index,
        backward: parts.backward,
        first: Atom::Int(0),
        len: Atom::Int(0),
        varying: FxHashSet::default(),
        near: vec![index],
        cheap: Vec::new(),
        arrays: Vec::new(),
        rows: Vec::new(),
        accs: Vec::new(),
        sums: Vec::new(),
        scalars: Vec::new(),
        is_inside: false,
    };
    maker.varying.insert(index);
    maker.blocks(parts, stmt, size)
}

/// What a loop carries, or adds up, in a number.
pub(super) struct Scalar {
    pub(super) param: Var,
    pub(super) result: Atom,
    pub(super) is_acc: bool,
    /// What it is so far.
    pub(super) value: Atom,
    /// Whether a loop has gone on with it.
    pub(super) is_done: bool,
}

pub(super) struct Maker<'m> {
    pub(super) from: &'m Func,
    pub(super) facts: &'m Facts<'m>,
    pub(super) func: &'m mut Func,
    pub(super) span: Span,
    /// What is the same in all iterations; of the rest what it is in the loop that is made last.
    pub(super) copier: Copier<'m>,
    /// The index of the loop, and whether it goes from the last to the first.
    pub(super) index: Var,
    pub(super) backward: bool,
    /// The first iteration that is done, and how many are.
    pub(super) first: Atom,
    pub(super) len: Atom,
    /// What depends on the index.
    pub(super) varying: FxHashSet<Var>,
    /// What depends on nothing else, and how it is computed: anew wherever it is needed.
    pub(super) near: Vec<Var>,
    pub(super) cheap: Vec<Stmt>,
    /// Arrays of what numbers are in each iteration, and of what rows are.
    pub(super) arrays: Vec<(Var, Atom)>,
    pub(super) rows: Vec<(Var, Atom)>,
    /// What arrays to which is added are called.
    pub(super) accs: Vec<(Var, Atom)>,
    /// Sums that are elements of arrays: what adds to them, what it adds, and what they were before.
    pub(super) sums: Vec<(Var, Atom, Var)>,
    pub(super) scalars: Vec<Scalar>,
    /// Whether one is in a loop inside.
    pub(super) is_inside: bool,
}

impl Maker<'_> {
    pub(super) fn array(&self, var: Var) -> Option<Atom> {
        self.arrays.iter().rev().find(|(other, _)| *other == var).map(|(_, array)| array.clone())
    }

    pub(super) fn acc(&self, var: Var) -> Option<Atom> {
        self.accs.iter().rev().find(|(other, _)| *other == var).map(|(_, array)| array.clone())
    }

    pub(super) fn push(&mut self, out: &mut Vec<Stmt>, name: &str, ty: Ty, op: Op) -> Atom {
        push(self.func, (out, self.span), (name, ty), op)
    }

    /// A fresh parameter, as one of the loop is.
    pub(super) fn param(&mut self, block: &mut Block, name: Name, ty: Ty) -> Atom {
        let var = self.func.fresh(name, ty);
        block.params.push(var);
        Atom::Var(var)
    }

    /// The loop over blocks of iterations.
    fn blocks(&mut self, parts: &Loop, stmt: &Stmt, size: i64) -> Option<(Vec<Stmt>, Vec<Atom>)> {
        let mut made = Vec::new();
        let span = self.span;
        let more = int(self.func, (&mut made, span), IntOp::Add, parts.len.clone(), Atom::Int(size - 1));
        let count = self.push(&mut made, "blocks", Ty::INT, Op::Int(IntOp::Div, vec![more, Atom::Int(size)]));
        let carried = parts.init.len() + parts.accs.len();
        let mut accs = parts.accs.clone();
        for result in parts.body.results.get(carried..)? {
            if !is_real(self.from, result) {
                return None;
            }
            // Nothing changes when something is added to that, not the sign of a zero either.
            let op = Op::Array(ArrayOp::Replicate, vec![parts.len.clone(), Atom::Real(-0.0)]);
            accs.push(self.push(&mut made, "made", REALS, op));
        }
        let mut body = Block::default();
        let block = self.param(&mut body, Name::new("b"), Ty::INT);
        let first = Op::Int(IntOp::Mul, vec![block, Atom::Int(size)]);
        self.first = self.push(&mut body.stmts, "first", Ty::INT, first);
        let rest = int(self.func, (&mut body.stmts, span), IntOp::Sub, parts.len.clone(), self.first.clone());
        self.len = self.push(&mut body.stmts, "m", Ty::INT, Op::Int(IntOp::Min, vec![rest, Atom::Int(size)]));
        self.enter(parts, &mut body)?;
        let given: Vec<Atom> = accs
            .iter()
            .skip(parts.accs.len())
            .map(|_| self.param(&mut body, Name::new("made"), REALS))
            .collect();
        let wanted: Vec<Atom> = parts.body.results.iter().skip(carried).cloned().collect();
        let mut out = std::mem::take(&mut body.stmts);
        self.level(&parts.body, &wanted, &mut out)?;
        body.results = self.ends(parts)?;
        for (result, made) in wanted.iter().zip(given) {
            let made = self.stored(result, made, &mut out)?;
            body.results.push(made);
        }
        body.stmts = out;
        let outs: Vec<Var> =
            stmt.outs.iter().map(|out| self.func.vars.push(*self.from.vars.at(*out))).collect();
        let results = outs.iter().copied().map(Atom::Var).collect();
        let whole = Loop {
            mode: parts.mode,
            backward: parts.backward,
            len: count,
            inputs: Vec::new(),
            init: parts.init.clone(),
            accs,
            body,
        };
        made.push(Stmt { outs, op: Op::Loop(Box::new(whole)), span });
        Some((made, results))
    }

    /// What the loop carries, and what it adds to, after a piece.
    fn ends(&self, parts: &Loop) -> Option<Vec<Atom>> {
        let carried = parts.init.len() + parts.accs.len();
        let end = |(param, result): (&Var, &Atom)| match self
            .scalars
            .iter()
            .find(|scalar| scalar.param == *param)
        {
            Some(scalar) => {
                let is_there = scalar.is_done || scalar.result == Atom::Var(scalar.param);
                is_there.then(|| scalar.value.clone())
            }
            None => self.acc(result.var()?),
        };
        parts.body.params.iter().skip(1).zip(parts.body.results.iter().take(carried)).map(end).collect()
    }

    /// The parameters of the loop in that over blocks.
    fn enter(&mut self, parts: &Loop, body: &mut Block) -> Option<()> {
        let count = parts.init.len();
        for (at, start) in parts.init.iter().chain(&parts.accs).enumerate() {
            let param = *parts.body.params.get(1 + at)?;
            self.varying.insert(param);
            let info = *self.from.vars.at(param);
            let value = self.param(body, info.name, info.ty);
            match self.from.type_of(start).rank() {
                0 => {
                    let result = parts.body.results.get(at)?.clone();
                    self.scalars.push(Scalar { param, result, is_acc: at >= count, value, is_done: false });
                }
                _ if at < count => return None,
                _ => self.accs.push((param, value)),
            }
        }
        let rows = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
        for (row, input) in rows.zip(&parts.inputs) {
            if self.from.ty(*row).rank() > 0 {
                return None;
            }
            let op = Op::Array(ArrayOp::Index, vec![input.clone(), Atom::Var(self.index)]);
            self.varying.insert(*row);
            self.near.push(*row);
            self.cheap.push(Stmt { outs: vec![*row], op, span: self.span });
        }
        Some(())
    }

    /// Puts what iterations give in its place.
    fn stored(&mut self, result: &Atom, made: Atom, out: &mut Vec<Stmt>) -> Option<Atom> {
        let row = self.array_of(result, out)?;
        let mut body = Block::default();
        let index = self.param(&mut body, Name::new("i"), Ty::INT);
        let acc = self.param(&mut body, Name::new("made"), REALS);
        let x = self.param(&mut body, Name::new("x"), Ty::REAL);
        let span = self.span;
        let place = int(self.func, (&mut body.stmts, span), IntOp::Add, self.first.clone(), index);
        let all = self.push(&mut body.stmts, "made", REALS, Op::Array(ArrayOp::AddAt, vec![acc, place, x]));
        body.results.push(all);
        let whole = Loop {
            mode: Mode::Each,
            backward: false,
            len: self.len.clone(),
            inputs: vec![row],
            init: Vec::new(),
            accs: vec![made],
            body,
        };
        Some(self.push(out, "made", REALS, Op::Loop(Box::new(whole))))
    }

    fn is_varying(&self, stmt: &Stmt) -> bool {
        mentioned(&stmt.op).any(|var| self.varying.contains(&var))
    }

    /// Does what a block does, for all iterations. Of the results those that are wanted are made arrays.
    pub(super) fn level(&mut self, block: &Block, wanted: &[Atom], out: &mut Vec<Stmt>) -> Option<()> {
        let mut pending: Vec<&Stmt> = Vec::new();
        for (at, stmt) in block.stmts.iter().enumerate() {
            if !self.is_varying(stmt) {
                let copy = self.copier.stmt(self.func, stmt);
                out.push(copy);
                continue;
            }
            self.varying.extend(&stmt.outs);
            match &stmt.op {
                Op::Loop(inner) => {
                    let rest = block.stmts.get(at..).unwrap_or_default();
                    let mut later: FxHashSet<Var> =
                        rest.iter().flat_map(|stmt| mentioned(&stmt.op)).collect();
                    later.extend(block.results.iter().filter_map(Atom::var));
                    self.flush(&mut pending, &later, &inner.init, out)?;
                    self.inner(stmt, inner, out)?;
                }
                op if is_plain(op) => {
                    let side_by_side = self.fits(stmt)?;
                    if side_by_side && self.is_near(op) {
                        self.near.extend(&stmt.outs);
                        self.cheap.push(stmt.clone());
                    } else {
                        pending.push(stmt);
                    }
                }
                _ => return None,
            }
        }
        let later: FxHashSet<Var> = wanted.iter().filter_map(Atom::var).collect();
        self.flush(&mut pending, &later, wanted, out)
    }

    /// Whether it is cheap, and depends on nothing but the index.
    fn is_near(&self, op: &Op) -> bool {
        let near = |var: &Var| !self.varying.contains(var) || self.near.contains(var);
        matches!(op, Op::Copy(_) | Op::Int(..) | Op::Array(ArrayOp::Index | ArrayOp::Length(_), _))
            && op.operand_vars().iter().all(near)
    }

    /// Whether what is read, or added to, lies side by side. In the loops inside nothing else is read; once in an iteration it may be.
    fn fits(&self, stmt: &Stmt) -> Option<bool> {
        let places = match &stmt.op {
            Op::Array(ArrayOp::Index, args) => {
                let (array, places) = args.split_first()?;
                let known = array.var().is_none_or(|var| !self.varying.contains(&var));
                (known && places.len() == usize::from(self.from.type_of(array).rank())).then_some(places)?
            }
            Op::Array(ArrayOp::AddAt, args) => {
                let ([array, places @ ..], added) = args.split_last().map(|(last, rest)| (rest, last))?
                else {
                    return None;
                };
                let whole = places.len() == usize::from(self.from.type_of(array).rank());
                (whole && is_real(self.from, added)).then_some(places)?
            }
            Op::Array(ArrayOp::Length(_), _) => return None,
            _ => {
                let scalar = |var: &Var| self.from.ty(*var).rank() == 0;
                return stmt.op.operand_vars().iter().all(scalar).then_some(true);
            }
        };
        let (last, before) = places.split_last()?;
        let step = self.step(last)?;
        let fits = (0..=APART).contains(&step) && before.iter().all(|place| self.step(place) == Some(0));
        let once = !self.is_inside && matches!(stmt.op, Op::Array(ArrayOp::Index, _));
        (fits || once).then_some(fits)
    }

    /// How far a place is from that of the iteration before.
    fn step(&self, place: &Atom) -> Option<i64> {
        let form = self.facts.value(place)?;
        let (terms, _) = form.parts();
        let other = |(var, _): &&(Var, i64)| *var != self.index && self.varying.contains(var);
        if terms.iter().any(|term| other(&term)) {
            return None;
        }
        Some(terms.iter().find(|(var, _)| *var == self.index).map_or(0, |(_, times)| *times))
    }

    /// An array of what a number is in each iteration.
    pub(super) fn array_of(&mut self, atom: &Atom, out: &mut Vec<Stmt>) -> Option<Atom> {
        match atom.var().filter(|var| self.varying.contains(var)) {
            Some(var) => self.array(var),
            None => {
                let args = vec![self.len.clone(), self.copier.atom(atom)];
                Some(self.push(out, "same", REALS, Op::Array(ArrayOp::Replicate, args)))
            }
        }
    }
}
