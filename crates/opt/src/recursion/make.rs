//! The loops of a function that calls itself.

#![expect(clippy::wildcard_enum_match_arm, reason = "ways part at branches only")]

use super::plan::{Path, Plan, Way, after, args, call, goes_on, inner, question};
use wengert_base::Name;
use wengert_ir::build::{Builder, Copier};
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op, While};
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};

/// What is done where the function would end, on the way down, and where it would call, at the end of that.
const OVER: &str = "the loop is over";
const GOES_ON: &str = "the loop goes on";

/// A part of the loops: makes code of a block of the function for the ways on from there.
type Part<'p, 'f> = &'p mut dyn FnMut(&mut Make<'f>, &'f Block, &'f Way) -> Vec<Atom>;

/// The loops under construction.
struct Make<'f> {
    func: &'f Func,
    plan: &'f Plan<'f>,
    b: Builder,
    /// What the function's variables are in the part that is being made.
    copier: Copier<'f>,
}

/// The function as loops, before which something is done `first`; `None` if there is nothing to fill a row with.
pub(super) fn make<'f>(func: &'f Func, plan: &'f Plan<'f>, first: &[Stmt]) -> Option<Func> {
    let rows = Rows::of(func, plan)?;
    let mut make = Make { func, plan, b: Builder::new(func.name), copier: Copier::new(func) };
    make.b.set_func_span(func.span);
    let span = plan.paths.first().and_then(call).map_or(func.span, |stmt| stmt.span);
    make.b.set_span(span);
    let given = make.params(&func.body.params);
    make.bind(&func.body.params, &given);
    make.copy(first, &[]);
    let (ends, arrays) = make.down(&given, &rows);
    let results = if plan.at_end { ends } else { make.up((&given, ends), &rows, arrays) };
    Some(make.b.finish(results))
}

impl<'f> Make<'f> {
    /// Parameters of the open block, called as variables of the function.
    fn params(&mut self, vars: &[Var]) -> Vec<Atom> {
        vars.iter()
            .map(|var| {
                let info = *self.func.vars.at(*var);
                self.b.param(info.name, info.ty)
            })
            .collect()
    }

    fn bind(&mut self, vars: &[Var], atoms: &[Atom]) {
        vars.iter().zip(atoms).for_each(|(var, atom)| self.copier.set(*var, atom.clone()));
    }

    /// Copies statements; gives what operands are then.
    fn copy(&mut self, stmts: &[Stmt], results: &[Atom]) -> Vec<Atom> {
        let block = Block { params: Vec::new(), stmts: stmts.to_vec(), results: results.to_vec() };
        self.b.inline(&mut self.copier, &block, &[])
    }

    /// A block whose parameters stand for these variables of the function.
    fn block(&mut self, params: &[Var], make: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block {
        self.b.open();
        let given = self.params(params);
        self.bind(params, &given);
        let results = make(self);
        self.b.close(results)
    }

    /// Results of these types of what is never done.
    fn never(&mut self, types: &[Ty], why: &str) -> Vec<Atom> {
        self.b.typed(types, Op::Fail { message: Atom::Text(why.into()) })
    }

    /// A branch as `block` has it, whose blocks `part` makes, with results of these types.
    fn branch(
        &mut self,
        block: &'f Block,
        (at, arms): (usize, &'f [Way]),
        types: &[Ty],
        part: Part<'_, 'f>,
    ) -> Vec<Atom> {
        let Some(stmt) = block.stmts.get(at) else { return Vec::new() };
        let blocks: Vec<Block> = inner(block, at)
            .into_iter()
            .zip(arms)
            .map(|(arm, way)| {
                self.block(&arm.params, |make| {
                    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || part(make, arm, way))
                })
            })
            .collect();
        let op = match &stmt.op {
            Op::If { cond, .. } => {
                let mut blocks = blocks.into_iter();
                let (then, otherwise) =
                    (blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default());
                Op::If { cond: self.copier.atom(cond), then, otherwise }
            }
            Op::Match { on, .. } => Op::Match { on: self.copier.atom(on), arms: blocks },
            other => other.clone(),
        };
        self.b.typed(types, op)
    }

    /// The way down, and what the function gives at its end; the arrays of what is kept on it.
    fn down(&mut self, given: &[Atom], rows: &Rows) -> (Vec<Atom>, Vec<Atom>) {
        let (func, plan) = (self.func, self.plan);
        let varying: Vec<Var> = only(&plan.varying, &func.body.params);
        let cond = self.block(&varying, |make| vec![make.ask(&func.body, &plan.way)]);
        let named: Vec<(Name, Ty)> =
            varying.iter().map(|var| (func.vars.at(*var).name, func.ty(*var))).collect();
        let types: Vec<Ty> = named.iter().chain(&rows.types).map(|(_, ty)| *ty).collect();
        let mut calls = 0;
        let body = self.block(&varying, |make| make.round(&func.body, &plan.way, (rows, &types), &mut calls));
        let plural = |(name, ty): &(Name, Ty)| (Name::new(&format!("{name}s")), ty.array_of().unwrap_or(*ty));
        let outs: Vec<(Name, Ty)> = named.iter().copied().chain(rows.types.iter().map(plural)).collect();
        let init = only(&plan.varying, given);
        let mut last = self.b.named(&outs, Op::While(Box::new(While { init, cond, body })));
        let arrays = last.split_off(varying.len().min(last.len()));
        self.bind(&varying, &last);
        (self.end(&func.body, &plan.way), arrays)
    }

    /// Whether there is a further call.
    fn ask(&mut self, block: &'f Block, way: &'f Way) -> Atom {
        let (Way::Branch(at, arms), None) = (way, goes_on(way)) else {
            return Atom::Bool(goes_on(way) == Some(true));
        };
        self.copy(&question(block, *at, arms), &[]);
        let answers: Vec<Option<bool>> = arms.iter().map(goes_on).collect();
        if let Some(Op::If { cond, .. }) = block.stmts.get(*at).map(|stmt| &stmt.op) {
            let cond = self.copier.atom(cond);
            match answers.as_slice() {
                [Some(true), Some(false)] => return cond,
                [Some(false), Some(true)] => return self.b.typed1(Ty::BOOL, Op::Not(cond)),
                _ => {}
            }
        }
        let part: Part<'_, 'f> = &mut |make, arm, way| vec![make.ask(arm, way)];
        self.branch(block, (*at, arms), &[Ty::BOOL], part).pop().unwrap_or(Atom::Bool(false))
    }

    /// A round of the way down: what is done before a call, up to its arguments, and what is kept.
    fn round(&mut self, block: &'f Block, way: &'f Way, to: (&Rows, &[Ty]), calls: &mut usize) -> Vec<Atom> {
        match way {
            Way::End => self.never(to.1, OVER),
            Way::Call(at) => {
                let path = self.plan.paths.get(*calls).map(args).unwrap_or_default();
                let row = to.0.values.get(*calls).map(Vec::as_slice).unwrap_or_default();
                *calls += 1;
                let results: Vec<Atom> =
                    only(&self.plan.varying, path).into_iter().chain(row.iter().cloned()).collect();
                self.copy(before(block, *at), &results)
            }
            Way::Branch(at, arms) => {
                self.copy(before(block, *at), &[]);
                let is_if = block.stmts.get(*at).is_some_and(|stmt| matches!(stmt.op, Op::If { .. }));
                let mut going =
                    inner(block, *at).into_iter().zip(arms).filter(|(_, way)| goes_on(way) != Some(false));
                if let (true, Some((arm, way)), None) = (is_if, going.next(), going.next()) {
                    return self.round(arm, way, to, calls);
                }
                self.branch(block, (*at, arms), to.1, &mut |make, arm, way| make.round(arm, way, to, calls))
            }
        }
    }

    /// What the function gives where it does not call itself.
    fn end(&mut self, block: &'f Block, way: &'f Way) -> Vec<Atom> {
        let types =
            |results: &[Atom]| -> Vec<Ty> { results.iter().map(|atom| self.func.type_of(atom)).collect() };
        match way {
            Way::End => self.b.inline(&mut self.copier, &Block { params: Vec::new(), ..block.clone() }, &[]),
            Way::Call(_) => {
                let types = types(&block.results);
                self.never(&types, GOES_ON)
            }
            Way::Branch(at, arms) => {
                let Some(stmt) = block.stmts.get(*at) else { return Vec::new() };
                self.copy(before(block, *at), &[]);
                let mut ending =
                    inner(block, *at).into_iter().zip(arms).filter(|(_, way)| goes_on(way) != Some(true));
                let given = match (ending.next(), ending.next()) {
                    (Some((arm, way)), None) if arm.params.is_empty() || !uses_params(arm) => {
                        self.end(arm, way)
                    }
                    _ => {
                        let outs: Vec<Ty> = stmt.outs.iter().map(|out| self.func.ty(*out)).collect();
                        self.branch(block, (*at, arms), &outs, &mut |make, arm, way| make.end(arm, way))
                    }
                };
                self.bind(&stmt.outs, &given);
                self.copy(after(block, *at), &block.results)
            }
        }
    }

    /// The way up: what is done after each call, from the innermost.
    fn up(&mut self, (given, ends): (&[Atom], Vec<Atom>), rows: &Rows, arrays: Vec<Atom>) -> Vec<Atom> {
        let (func, plan) = (self.func, self.plan);
        let outs = plan.paths.first().and_then(call).map(|stmt| stmt.outs.as_slice()).unwrap_or_default();
        let named: Vec<(Name, Ty)> =
            outs.iter().map(|out| (func.vars.at(*out).name, func.ty(*out))).collect();
        self.bind(&func.body.params, given);
        let len = match arrays.first() {
            Some(array) => self.b.array(ArrayOp::Length(0), [array.clone()]),
            None => Atom::Int(0),
        };
        self.b.open();
        self.b.param("i".into(), Ty::INT);
        let results: Vec<Atom> = named.iter().map(|(name, ty)| self.b.param(*name, *ty)).collect();
        let row: Vec<Atom> = rows.types.iter().map(|(name, ty)| self.b.param(*name, *ty)).collect();
        let results = self.after_any(0, &results, rows, &row);
        let body = self.b.close(results);
        let parts = Loop {
            mode: Mode::Sequence,
            backward: true,
            len,
            inputs: arrays,
            init: ends,
            accs: Vec::new(),
            body,
        };
        self.b.named(&named, Op::Loop(Box::new(parts)))
    }

    /// What is done after one of the calls from this one on, which the row tells.
    fn after_any(&mut self, which: usize, results: &[Atom], rows: &Rows, row: &[Atom]) -> Vec<Atom> {
        let plan = self.plan;
        let Some(path) = plan.paths.get(which) else { return Vec::new() };
        let Some(tag) = row.first().filter(|_| which + 1 < plan.paths.len()).cloned() else {
            return self.after_call(path, results, (rows, which, row));
        };
        let cond = self.b.compare(Compare::Eq, tag, Atom::Int(which as i64));
        let then = self.block(&[], |make| make.after_call(path, results, (rows, which, row)));
        let otherwise = self.block(&[], |make| {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || make.after_any(which + 1, results, rows, row))
        });
        self.b.if_else(cond, then, otherwise)
    }

    fn after_call(
        &mut self,
        path: &Path<'f>,
        results: &[Atom],
        (rows, which, row): (&Rows, usize, &[Atom]),
    ) -> Vec<Atom> {
        for (var, place) in rows.places.get(which).into_iter().flatten() {
            if let Some(value) = row.get(*place) {
                self.copier.set(*var, value.clone());
            }
        }
        let mut results = results.to_vec();
        for (block, at) in path.iter().rev() {
            let outs = block.stmts.get(*at).map(|stmt| stmt.outs.as_slice()).unwrap_or_default();
            self.bind(outs, &results);
            results = self.copy(after(block, *at), &block.results);
        }
        results
    }
}

/// What a round of the way down keeps for the way up.
struct Rows {
    /// Names and types of the rows. Where there are several calls the first row says which it was.
    types: Vec<(Name, Ty)>,
    /// For each call the row: what is kept, and what fills the places that others use.
    values: Vec<Vec<Atom>>,
    /// For each call, where in the row what is kept is.
    places: Vec<Vec<(Var, usize)>>,
}

impl Rows {
    fn of(func: &Func, plan: &Plan<'_>) -> Option<Rows> {
        let mut rows = Rows { types: Vec::new(), values: Vec::new(), places: Vec::new() };
        if plan.at_end {
            return Some(rows);
        }
        let several = plan.paths.len() > 1;
        if several {
            rows.types.push(("call".into(), Ty::INT));
        }
        for kept in &plan.kept {
            let mut places: Vec<(Var, usize)> = Vec::new();
            for var in kept {
                let info = *func.vars.at(*var);
                let is_free = |place: &usize| places.iter().all(|(_, taken)| taken != place);
                let free = (usize::from(several)..rows.types.len()).find(|place| {
                    is_free(place) && rows.types.get(*place).is_some_and(|(_, ty)| *ty == info.ty)
                });
                let place = free.unwrap_or_else(|| {
                    rows.types.push((info.name, info.ty));
                    rows.types.len() - 1
                });
                places.push((*var, place));
            }
            rows.places.push(places);
        }
        if rows.types.is_empty() {
            rows.types.push(("unit".into(), Ty::Scalar(Elem::Unit)));
        }
        for (which, places) in rows.places.iter().enumerate() {
            let value = |place: usize, ty: Ty| match places.iter().find(|(_, taken)| *taken == place) {
                Some((var, _)) => Some(Atom::Var(*var)),
                None if several && place == 0 => Some(Atom::Int(which as i64)),
                None => filler(func, ty),
            };
            let row = rows.types.iter().enumerate().map(|(place, (_, ty))| value(place, *ty));
            rows.values.push(row.collect::<Option<_>>()?);
        }
        Some(rows)
    }
}

/// A value of a type that is never looked at: of data there is one only if the function is given one.
fn filler(func: &Func, ty: Ty) -> Option<Atom> {
    match ty {
        Ty::Scalar(Elem::Real) => Some(Atom::Real(0.0)),
        Ty::Scalar(Elem::Int) => Some(Atom::Int(0)),
        Ty::Scalar(Elem::Bool) => Some(Atom::Bool(false)),
        Ty::Scalar(Elem::Text) => Some(Atom::Text("".into())),
        Ty::Scalar(Elem::Unit) => Some(Atom::Unit),
        Ty::Scalar(Elem::Data(_)) => {
            func.body.params.iter().find(|param| func.ty(**param) == ty).copied().map(Atom::Var)
        }
        Ty::Array(..) => None,
    }
}

fn before(block: &Block, at: usize) -> &[Stmt] {
    block.stmts.get(..at).unwrap_or_default()
}

fn uses_params(block: &Block) -> bool {
    let open = Block { params: Vec::new(), ..block.clone() };
    let free = open.free_vars();
    block.params.iter().any(|param| free.contains(param))
}

/// Those that are marked.
fn only<T: Clone>(marks: &[bool], all: &[T]) -> Vec<T> {
    all.iter().zip(marks).filter(|(_, marked)| **marked).map(|(one, _)| one.clone()).collect()
}
