//! Short loops inside of a long one: they carry arrays, and add to arrays.

use super::is_real;
use super::make::{Maker, REALS};
use super::plan::sum;
use wengert_ir::op::{Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Stmt, Ty, Var};

/// What a loop begins with.
#[derive(Default)]
struct Begun {
    init: Vec<Atom>,
    accs: Vec<Atom>,
    /// The parameters for both.
    carried: Vec<Var>,
    added: Vec<Var>,
    /// Of what it carries or adds to, in order, which is added to; and what is wanted of the body for the rest.
    kinds: Vec<bool>,
    wanted: Vec<Atom>,
}

impl Maker<'_> {
    /// A loop inside, for all iterations of the long one.
    pub(super) fn inner(&mut self, stmt: &Stmt, parts: &Loop, out: &mut Vec<Stmt>) -> Option<()> {
        let fixed = parts.len.var().is_none_or(|len| !self.varying.contains(&len));
        if !fixed || parts.mode == Mode::Reduce || stmt.outs.len() != parts.body.results.len() {
            return None;
        }
        let marks = (self.cheap.len(), self.arrays.len(), self.accs.len(), self.sums.len(), self.rows.len());
        let Begun { init, accs, carried, added, kinds, mut wanted } = self.begin(parts, out)?;
        let index = self.copier.bind(self.func, *parts.body.params.first()?);
        let mut body = Block { params: vec![index], ..Block::default() };
        body.params.extend(carried.into_iter().chain(added));
        let inputs = self.taken(parts, &mut body)?;
        let rows: Vec<Atom> = parts.body.results.iter().skip(kinds.len()).cloned().collect();
        rows.iter().all(|row| is_real(self.from, row)).then_some(())?;
        wanted.extend(rows.iter().cloned());
        let mut stmts = Vec::new();
        let around = std::mem::replace(&mut self.is_inside, true);
        self.level(&parts.body, &wanted, &mut stmts)?;
        self.is_inside = around;
        let (mut carried, mut added) = (Vec::new(), Vec::new());
        for (result, is_added) in parts.body.results.iter().zip(&kinds) {
            if *is_added {
                added.push(self.acc(result.var()?)?);
            } else {
                carried.push(self.array_of(result, &mut stmts)?);
            }
        }
        let rows: Option<Vec<Atom>> = rows.iter().map(|row| self.array_of(row, &mut stmts)).collect();
        body.results.extend(carried.into_iter().chain(added).chain(rows?));
        body.stmts = stmts;
        self.leave(marks);
        let outs = self.given(stmt, &kinds);
        let (mode, backward, len) = (parts.mode, parts.backward, self.copier.atom(&parts.len));
        let whole = Loop { mode, backward, len, inputs, init, accs, body };
        out.push(Stmt { outs, op: Op::Loop(Box::new(whole)), span: stmt.span });
        Some(())
    }

    /// What it carries and adds to: a sum is an array to which is added.
    fn begin(&mut self, parts: &Loop, out: &mut Vec<Stmt>) -> Option<Begun> {
        let mut begun = Begun::default();
        for (at, start) in parts.init.iter().chain(&parts.accs).enumerate() {
            let (param, result) = (*parts.body.params.get(1 + at)?, parts.body.results.get(at)?);
            let name = self.from.vars.at(param).name;
            let is_acc = at >= parts.init.len();
            let tracked = start.var().and_then(|var| self.acc(var)).filter(|_| is_acc);
            self.varying.insert(param);
            let sums = sum(parts, at);
            let ty = if tracked.is_some() { self.from.ty(param) } else { REALS };
            let var = self.func.fresh(name, ty);
            let is_added = tracked.is_some() || sums.is_some();
            begun.kinds.push(is_added);
            let array = match (tracked, sums) {
                (Some(array), _) => array,
                (None, _) if !is_real(self.from, start) || is_acc && !is_added => return None,
                (None, sums) => {
                    if let Some((adds, more)) = sums {
                        self.sums.push((*adds.outs.first()?, more.clone(), param));
                    }
                    self.array_of(start, out)?
                }
            };
            if is_added {
                self.accs.push((param, Atom::Var(var)));
                begun.accs.push(array);
                begun.added.push(var);
            } else {
                self.arrays.push((param, Atom::Var(var)));
                begun.init.push(array);
                begun.carried.push(var);
                begun.wanted.push(result.clone());
            }
        }
        Some(begun)
    }

    /// The arrays that it goes through: those that it went through, and rows of what another one gives.
    fn taken(&mut self, parts: &Loop, body: &mut Block) -> Option<Vec<Atom>> {
        let mut inputs = Vec::new();
        let params = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
        for (param, input) in params.zip(&parts.inputs) {
            let rows = input.var().and_then(|var| self.rows.iter().rev().find(|(other, _)| *other == var));
            if let Some((_, rows)) = rows.cloned() {
                let row = self.param(body, self.from.vars.at(*param).name, REALS);
                self.varying.insert(*param);
                self.arrays.push((*param, row));
                inputs.push(rows);
            } else {
                let fixed = input.var().is_none_or(|var| !self.varying.contains(&var));
                inputs.push(fixed.then(|| self.copier.atom(input))?);
                let row = self.copier.bind(self.func, *param);
                body.params.push(row);
            }
        }
        Some(inputs)
    }

    /// Forgets what was known inside of a loop.
    fn leave(&mut self, (cheap, arrays, accs, sums, rows): (usize, usize, usize, usize, usize)) {
        self.cheap.truncate(cheap);
        self.arrays.truncate(arrays);
        self.accs.truncate(accs);
        self.sums.truncate(sums);
        self.rows.truncate(rows);
    }

    /// What a loop inside gives: carried arrays, arrays to which was added, rows.
    fn given(&mut self, stmt: &Stmt, kinds: &[bool]) -> Vec<Var> {
        let (mut carried, mut added, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (at, out) in stmt.outs.iter().enumerate() {
            let info = *self.from.vars.at(*out);
            let is_number = info.ty.rank() == 0;
            let is_row = at >= kinds.len();
            let ty = match (is_row, is_number) {
                (true, _) => Ty::Array(Elem::Real, 2),
                (false, true) => REALS,
                (false, false) => info.ty,
            };
            let var = self.func.fresh(info.name, ty);
            if is_row {
                rows.push(var);
                self.rows.push((*out, Atom::Var(var)));
                continue;
            }
            let known = if is_number { &mut self.arrays } else { &mut self.accs };
            known.push((*out, Atom::Var(var)));
            let is_added = kinds.get(at).copied().unwrap_or(false);
            if is_added { &mut added } else { &mut carried }.push(var);
        }
        carried.into_iter().chain(added).chain(rows).collect()
    }
}
